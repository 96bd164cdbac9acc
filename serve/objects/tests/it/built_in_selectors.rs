//! Field selectors of built-in kinds: each has a list of its own, and its own words for other fields.

use kubeshape_objects::store::Store;
use kubeshape_objects::{Api, Documents, Moment, Request};
use kubeshape_registry::{Object, Registry, Release, Settings};
use serde_json::{Value, json};

struct Server {
    api: Api,
    store: Store,
}

impl Server {
    fn of(minor: u8) -> Server {
        let release = Release::new(minor).unwrap();
        let api = kubeshape_builtin::BuiltInDocuments::try_from(release).unwrap().api();
        let documents =
            api.openapi_v3_of(|_| true).into_iter().map(|(path, document)| (path.to_owned(), document.into()));
        let documents = Documents::new(documents.collect::<Vec<_>>());
        let api = Api::new(Registry::new(Settings::of(release))).with_documents(documents);
        Server { api, store: Store::default() }
    }

    fn load(&mut self, object: Value) {
        let object = Object::from(object);
        let uid = object.name().to_owned();
        let moment = Moment { uid: &uid, ..Moment::default() };
        self.api.load(&mut self.store, &object, &moment).unwrap_or_else(|status| panic!("{}", status.message));
    }

    /// The names of the objects that are selected, or the message.
    fn selected(&mut self, path: &str, selector: &str) -> Vec<String> {
        let query = format!("fieldSelector={}", selector.replace('=', "%3D"));
        let request = Request { method: "GET", path, query: &query, ..Request::default() };
        let reply = self.api.answer(&mut self.store, &request, &Moment::default()).unwrap();
        let reply: Value = serde_json::from_slice(&reply.body).unwrap();
        match reply["items"].as_array() {
            Some(items) => items.iter().map(|item| item["metadata"]["name"].as_str().unwrap().to_owned()).collect(),
            None => vec![reply["message"].as_str().unwrap().to_owned()],
        }
    }
}

fn pod(name: &str, spec: &Value, status: &Value) -> Value {
    let mut pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
        "spec": {"containers": [{"name": "c", "image": "i"}]}, "status": status});
    pod["spec"].as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
    pod
}

#[test]
fn pods_are_selected_by_node_phase_and_network() {
    let mut server = Server::of(37);
    server.load(pod(
        "a",
        &json!({"nodeName": "n1"}),
        &json!({"phase": "Running", "podIP": "10.0.0.1", "podIPs": [{"ip": "10.0.0.1"}]}),
    ));
    server.load(pod("b", &json!({"nodeName": "n2", "hostNetwork": true}), &json!({"phase": "Failed"})));
    server.load(pod("c", &json!({}), &json!({"phase": "Pending"})));
    for (selector, expected) in [
        ("spec.nodeName=n1", &["a"][..]),
        // What old clients send.
        ("spec.host=n1", &["a"]),
        ("spec.nodeName=", &["c"]),
        ("status.phase!=Failed", &["a", "c"]),
        ("status.phase=Pending", &["c"]),
        ("spec.hostNetwork=true", &["b"]),
        ("spec.hostNetwork=false,metadata.name!=a", &["c"]),
        ("status.podIP=10.0.0.1", &["a"]),
        ("spec.restartPolicy=Always,spec.schedulerName=default-scheduler,metadata.namespace=default", &["a", "b", "c"]),
        ("spec.containers=c", &["field label not supported: spec.containers"]),
    ] {
        assert_eq!(server.selected("/api/v1/namespaces/default/pods", selector), expected, "{selector}");
    }
}

#[test]
fn other_kinds_have_their_own_fields_and_words() {
    let mut server = Server::of(37);
    let meta = |name: &str| json!({"name": name});
    let event = |name: &str, source: Value| {
        json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": name, "namespace": "default"}, "type": "Warning", "reason": "Failed",
            "involvedObject": {"kind": "Pod", "name": "a", "namespace": "default"}, "source": source,
            "reportingComponent": "kubelet", "firstTimestamp": "2020-01-01T00:00:00Z", "lastTimestamp": "2020-01-01T00:00:00Z"})
    };
    server.load(event("e1", json!({"component": "scheduler"})));
    server.load(event("e2", json!({})));
    server.load(json!({"apiVersion": "v1", "kind": "Secret", "metadata": meta("s"), "type": "Opaque"}));
    server.load(json!({"apiVersion": "v1", "kind": "Node", "metadata": meta("n"), "spec": {"unschedulable": true}}));
    server.load(json!({"apiVersion": "v1", "kind": "Node", "metadata": meta("m")}));
    server.load(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta("c")}));
    for (path, selector, expected) in [
        ("/api/v1/events", "involvedObject.kind=Pod,involvedObject.name=a,type=Warning,source=scheduler", &["e1"][..]),
        ("/api/v1/events", "source=kubelet", &["e2"]),
        ("/apis/events.k8s.io/v1/events", "source=kubelet", &["field label not supported: source"]),
        ("/api/v1/secrets", "type=Opaque", &["s"]),
        ("/api/v1/secrets", "type!=Opaque", &[]),
        ("/api/v1/nodes", "spec.unschedulable=false", &["m"]),
        ("/api/v1/nodes", "metadata.namespace=default", &["field label not supported: metadata.namespace"]),
        ("/api/v1/configmaps", "metadata.name=c,metadata.namespace=default", &["c"]),
        (
            "/api/v1/configmaps",
            "data.a=b",
            &[r#""data.a" is not a known field selector: only "metadata.name", "metadata.namespace""#],
        ),
        (
            "/apis/apps/v1/deployments",
            "status.replicas=1",
            &[r#""status.replicas" is not a known field selector: only "metadata.name", "metadata.namespace""#],
        ),
        ("/apis/batch/v1/jobs", "status.successful=1", &[]),
        ("/apis/batch/v1/jobs", "status.failed=1", &[r#"field label "status.failed" not supported for Job"#]),
        ("/apis/resource.k8s.io/v1/resourceslices", "spec.pool.name=a", &[]),
    ] {
        assert_eq!(server.selected(path, selector), expected, "{path} {selector}");
    }
    let refused = "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: spec.pool.name";
    assert_eq!(Server::of(36).selected("/apis/resource.k8s.io/v1/resourceslices", "spec.pool.name=a"), [refused]);
}
