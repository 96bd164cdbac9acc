//! Admission plugins: what they change, and whom they refuse, in the server's words.

use kubeshape_objects::access::Identity;
use kubeshape_objects::store::Store;
use kubeshape_objects::{Api, Documents, Moment, Plugin, Reply, Request};
use kubeshape_smd::managed::Time;
use serde_json::{Value, json};

pub(crate) const PODS: &str = "/api/v1/namespaces/default/pods";
const CLAIMS: &str = "/api/v1/namespaces/default/persistentvolumeclaims";
const CLASSES: &str = "/apis/scheduling.k8s.io/v1/priorityclasses";
const STORAGE: &str = "/apis/storage.k8s.io/v1/storageclasses";
const RANGES: &str = "/api/v1/namespaces/default/limitranges";

pub(crate) struct Server {
    api: Api,
    pub(crate) store: Store,
    /// The user of requests; `None` for the administrator.
    pub(crate) user: Option<Identity>,
}

impl Server {
    pub(crate) fn with(plugins: &[Plugin]) -> Server {
        let release = kubeshape_builtin::BuiltInDocuments::newest().api();
        let groups = [
            "certificates.k8s.io",
            "coordination.k8s.io",
            "networking.k8s.io",
            "node.k8s.io",
            "policy",
            "resource.k8s.io",
            "scheduling.k8s.io",
            "storage.k8s.io",
        ];
        let paths = groups.iter().map(|group| format!("apis/{group}/v1")).chain(["api/v1".to_owned()]);
        let documents = paths.map(|path| {
            let document = release.openapi_v3(&path).unwrap().into();
            (path, document)
        });
        let api = Api::default().with_documents(Documents::new(documents)).with_plugins(plugins.iter().copied());
        Server { api, store: Store::default(), user: None }
    }

    pub(crate) fn send(&mut self, method: &str, path: &str, body: &Value) -> Reply {
        self.send_as(method, path, "", "application/json", body)
    }

    pub(crate) fn send_query(&mut self, method: &str, path: &str, query: &str, body: &Value) -> Reply {
        self.send_as(method, path, query, "application/json", body)
    }

    fn send_as(&mut self, method: &str, path: &str, query: &str, content_type: &str, body: &Value) -> Reply {
        let second = self.store.revision() % 60;
        let now = Time::parse(&format!("2026-01-02T03:04:{second:02}Z")).unwrap();
        let (body, uid) = (body.to_string(), format!("00000000-0000-4000-8000-{:012}", self.store.revision()));
        let identity = self.user.as_ref();
        let request =
            Request { method, path, query, content_type, body: body.as_bytes(), identity, ..Request::default() };
        let moment = Moment { now, uid: &uid, ..Moment::default() };
        self.api.answer(&mut self.store, &request, &moment).unwrap()
    }

    /// Sends a merge patch.
    pub(crate) fn patch(&mut self, path: &str, body: &Value) -> Reply {
        self.send_as("PATCH", path, "", "application/merge-patch+json", body)
    }

    /// Returns the stored object.
    pub(crate) fn create(&mut self, path: &str, body: &Value) -> Value {
        let reply = self.send("POST", path, body);
        assert_eq!(reply.code, 201, "{}", reply.text());
        serde_json::from_slice(&reply.body).unwrap()
    }

    /// Returns the reason of a refusal, without `NAME is forbidden: `.
    pub(crate) fn refused(&mut self, method: &str, path: &str, body: &Value) -> String {
        let reply = self.send(method, path, body);
        assert_eq!(reply.code, 403, "{}", reply.text());
        let status: Value = serde_json::from_slice(&reply.body).unwrap();
        let message = status["message"].as_str().unwrap();
        message.split_once(" is forbidden: ").unwrap().1.to_owned()
    }
}

pub(crate) fn pod(name: &str, spec: &Value) -> Value {
    let mut pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
        "spec": {"containers": [{"name": "main", "image": "a"}]}});
    pod["spec"].as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
    pod
}

pub(crate) fn claim(name: &str, size: &str, spec: &Value) -> Value {
    let mut claim = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}});
    claim["spec"].as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
    claim
}

fn priority(name: &str, value: i64, more: &Value) -> Value {
    let mut class = json!({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name},
        "value": value});
    class.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    class
}

#[test]
fn pods_get_the_priority_of_their_class() {
    let mut server = Server::with(&[Plugin::Priority]);
    let spec = &server.create(PODS, &pod("plain", &json!({})))["spec"];
    assert_eq!((&spec["priority"], &spec["preemptionPolicy"]), (&json!(0), &json!("PreemptLowerPriority")));
    let named = json!({"priorityClassName": "high"});
    assert_eq!(server.refused("POST", PODS, &pod("high", &named)), "no PriorityClass with name high was found");
    server.create(CLASSES, &priority("high", 1000, &json!({"preemptionPolicy": "Never"})));
    let high = server.create(PODS, &pod("high", &named));
    assert_eq!((&high["spec"]["priority"], &high["spec"]["preemptionPolicy"]), (&json!(1000), &json!("Never")));
    let other = json!({"priorityClassName": "high", "priority": 5});
    assert_eq!(
        server.refused("POST", PODS, &pod("other", &other)),
        "the integer value of priority (5) must not be provided in pod spec; priority admission controller computed \
         1000 from the given PriorityClass name"
    );
    let other = json!({"priorityClassName": "high", "preemptionPolicy": "PreemptLowerPriority"});
    assert_eq!(
        server.refused("POST", PODS, &pod("other", &other)),
        "the string value of PreemptionPolicy (PreemptLowerPriority) must not be provided in pod spec; priority \
         admission controller computed Never from the given PriorityClass name"
    );
    // An update without the priority keeps it.
    let mut sent = high;
    sent["spec"].as_object_mut().unwrap().retain(|key, _| key != "priority" && key != "preemptionPolicy");
    sent["metadata"]["labels"] = json!({"a": "b"});
    assert_eq!(server.send("PUT", &format!("{PODS}/high"), &sent).code, 200);
}

#[test]
fn one_priority_class_is_the_default() {
    let mut server = Server::with(&[Plugin::Priority]);
    let default = json!({"globalDefault": true});
    let first = server.create(CLASSES, &priority("first", 10, &default));
    assert_eq!(
        server.refused("POST", CLASSES, &priority("second", 20, &default)),
        "PriorityClass first is already marked as default. Only one default can exist"
    );
    assert_eq!(server.send("PUT", &format!("{CLASSES}/first"), &first).code, 200);
    let spec = &server.create(PODS, &pod("plain", &json!({})))["spec"];
    assert_eq!((&spec["priority"], &spec["priorityClassName"]), (&json!(10), &json!("first")));
}

#[test]
fn pods_tolerate_nodes_that_fail_for_a_while() {
    let mut server = Server::with(&[Plugin::DefaultTolerationSeconds]);
    let keys = |pod: &Value| {
        let all = pod["spec"]["tolerations"].as_array().cloned().unwrap_or_default();
        all.iter().map(|of| (of["key"].clone(), of["tolerationSeconds"].clone())).collect::<Vec<_>>()
    };
    let (not_ready, unreachable) = (json!("node.kubernetes.io/not-ready"), json!("node.kubernetes.io/unreachable"));
    let both = vec![(not_ready.clone(), json!(300)), (unreachable.clone(), json!(300))];
    assert_eq!(keys(&server.create(PODS, &pod("a", &json!({})))), both);
    let own = json!({"tolerations": [{"key": not_ready, "operator": "Exists", "tolerationSeconds": 5, "effect": "NoExecute"}]});
    let expected = vec![(not_ready, json!(5)), (unreachable, json!(300))];
    assert_eq!(keys(&server.create(PODS, &pod("b", &own))), expected);
    let all = json!({"tolerations": [{"operator": "Exists"}]});
    assert_eq!(keys(&server.create(PODS, &pod("c", &all))).len(), 1);
}

#[test]
fn claims_and_ingresses_get_the_newest_default_class() {
    let mut server = Server::with(&[Plugin::DefaultStorageClass, Plugin::DefaultIngressClass]);
    assert_eq!(server.create(CLAIMS, &claim("none", "1Gi", &json!({})))["spec"]["storageClassName"], json!(null));
    for (name, key) in [("old", "beta.kubernetes.io"), ("new", "kubernetes.io"), ("other", "example.com")] {
        let annotations = json!({format!("storageclass.{key}/is-default-class"): "true"});
        let class = json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "provisioner": "x",
            "metadata": {"name": name, "annotations": annotations}});
        server.create(STORAGE, &class);
    }
    assert_eq!(server.create(CLAIMS, &claim("some", "1Gi", &json!({})))["spec"]["storageClassName"], json!("new"));
    let empty = claim("empty", "1Gi", &json!({"storageClassName": ""}));
    assert_eq!(server.create(CLAIMS, &empty)["spec"]["storageClassName"], json!(""));
    let class = json!({"apiVersion": "networking.k8s.io/v1", "kind": "IngressClass", "spec": {"controller": "a.b/c"},
        "metadata": {"name": "web", "annotations": {"ingressclass.kubernetes.io/is-default-class": "true"}}});
    server.create("/apis/networking.k8s.io/v1/ingressclasses", &class);
    let ingress = json!({"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": {"name": "a"},
        "spec": {"defaultBackend": {"service": {"name": "a", "port": {"number": 80}}}}});
    let path = "/apis/networking.k8s.io/v1/namespaces/default/ingresses";
    assert_eq!(server.create(path, &ingress)["spec"]["ingressClassName"], json!("web"));
}

#[test]
fn volumes_are_protected_and_new_nodes_are_tainted() {
    let mut server = Server::with(&[Plugin::StorageObjectInUseProtection, Plugin::TaintNodesByCondition]);
    let stored = server.create(CLAIMS, &claim("a", "1Gi", &json!({})));
    assert_eq!(stored["metadata"]["finalizers"], json!(["kubernetes.io/pvc-protection"]));
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}});
    let taint = json!([{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]);
    assert_eq!(server.create("/api/v1/nodes", &node)["spec"]["taints"], taint);
}

#[test]
fn bound_claims_grow_if_their_class_allows_it() {
    let mut server = Server::with(&[Plugin::PersistentVolumeClaimResize]);
    for (name, allows) in [("fixed", false), ("grows", true)] {
        let class = json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "provisioner": "x",
            "metadata": {"name": name}, "allowVolumeExpansion": allows});
        server.create(STORAGE, &class);
        server.create(CLAIMS, &claim(name, "1Gi", &json!({"storageClassName": name, "volumeName": "v"})));
    }
    let grow = |server: &mut Server, name: &str| {
        let mut sent: Value =
            serde_json::from_slice(&server.send("GET", &format!("{CLAIMS}/{name}"), &json!({})).body).unwrap();
        sent["spec"]["resources"]["requests"]["storage"] = json!("2Gi");
        sent
    };
    for name in ["fixed", "grows"] {
        let mut sent = grow(&mut server, name);
        sent["spec"]["resources"]["requests"]["storage"] = json!("1Gi");
        sent["status"] = json!({"phase": "Bound"});
        assert_eq!(server.send("PUT", &format!("{CLAIMS}/{name}/status"), &sent).code, 200);
    }
    let sent = grow(&mut server, "fixed");
    assert_eq!(
        server.refused("PUT", &format!("{CLAIMS}/fixed"), &sent),
        "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize"
    );
    let sent = grow(&mut server, "grows");
    assert_eq!(server.send("PUT", &format!("{CLAIMS}/grows"), &sent).code, 200);
}

#[test]
fn pods_follow_their_runtime_class() {
    let mut server = Server::with(&[Plugin::RuntimeClass]);
    let named = json!({"runtimeClassName": "vm", "nodeSelector": {"disk": "ssd"},
        "tolerations": [{"key": "vm", "operator": "Equal", "value": "a"}]});
    assert_eq!(server.refused("POST", PODS, &pod("a", &named)), "pod rejected: RuntimeClass \"vm\" not found");
    let class = json!({"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "vm"},
        "handler": "vm", "overhead": {"podFixed": {"cpu": "250m"}},
        "scheduling": {"nodeSelector": {"vm": "yes"}, "tolerations": [{"key": "vm", "operator": "Exists"}]}});
    server.create("/apis/node.k8s.io/v1/runtimeclasses", &class);
    let spec = &server.create(PODS, &pod("a", &named))["spec"];
    assert_eq!(spec["overhead"], json!({"cpu": "250m"}));
    assert_eq!(spec["nodeSelector"], json!({"disk": "ssd", "vm": "yes"}));
    assert_eq!(spec["tolerations"], json!([{"key": "vm", "operator": "Exists"}]));
    let mut other = named.clone();
    other["nodeSelector"] = json!({"vm": "no"});
    assert_eq!(
        server.refused("POST", PODS, &pod("b", &other)),
        "conflict: runtimeClass.scheduling.nodeSelector[vm] = yes; pod.spec.nodeSelector[vm] = no"
    );
    let overhead = json!({"overhead": {"cpu": "1"}});
    assert_eq!(
        server.refused("POST", PODS, &pod("c", &overhead)),
        "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
    );
    let many: Vec<Value> = (0..1001).map(|i| json!({"key": format!("k{i}"), "operator": "Exists"})).collect();
    let many = pod("d", &json!({"runtimeClassName": "vm", "tolerations": many}));
    assert_eq!(
        server.refused("POST", PODS, &many),
        "a Pod and its RuntimeClass have at most 1000 tolerations together"
    );
}

#[test]
fn limit_ranges_complete_and_bound_containers() {
    let mut server = Server::with(&[Plugin::LimitRanger]);
    let range = |name: &str, limits: Value| json!({"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": name}, "spec": {"limits": limits}});
    let container = json!([{"type": "Container", "default": {"cpu": "500m"}, "defaultRequest": {"cpu": "100m"},
        "max": {"cpu": "1"}, "min": {"cpu": "50m"}, "maxLimitRequestRatio": {"cpu": "5"}}]);
    server.create(RANGES, &range("containers", container));
    let stored = server.create(PODS, &pod("a", &json!({})));
    let resources = &stored["spec"]["containers"][0]["resources"];
    assert_eq!(resources, &json!({"limits": {"cpu": "500m"}, "requests": {"cpu": "100m"}}));
    assert_eq!(
        stored["metadata"]["annotations"],
        json!({"kubernetes.io/limit-ranger": "LimitRanger plugin set: cpu request for container main; cpu limit for \
            container main"})
    );
    let with = |requests: &str, limits: &str| {
        let resources = json!({"requests": {"cpu": requests}, "limits": {"cpu": limits}});
        json!({"containers": [{"name": "main", "image": "a", "resources": resources}]})
    };
    let mut why = |requests: &str, limits: &str| server.refused("POST", PODS, &pod("b", &with(requests, limits)));
    assert_eq!(why("500m", "2"), "maximum cpu usage per Container is 1, but limit is 2");
    assert_eq!(why("10m", "20m"), "minimum cpu usage per Container is 50m, but request is 10m");
    assert_eq!(why("100m", "1"), "cpu max limit to request ratio per Container is 5, but provided ratio is 10.000000");
    assert_eq!(
        why("10m", "2"),
        "[minimum cpu usage per Container is 50m, but request is 10m, maximum cpu usage per Container is 1, but limit is \
         2, cpu max limit to request ratio per Container is 5, but provided ratio is 200.000000]"
    );
    let pods = json!([{"type": "Pod", "max": {"cpu": "1500m"}},
        {"type": "PersistentVolumeClaim", "min": {"storage": "1Gi"}, "max": {"storage": "5Gi"}}]);
    server.create(RANGES, &range("pods", pods));
    let two = json!({"containers": [with("500m", "800m")["containers"][0],
        {"name": "other", "image": "a", "resources": {"requests": {"cpu": "500m"}, "limits": {"cpu": "800m"}}}]});
    assert_eq!(server.refused("POST", PODS, &pod("c", &two)), "maximum cpu usage per Pod is 1500m, but limit is 1600m");
    assert_eq!(
        server.refused("POST", CLAIMS, &claim("d", "10Gi", &json!({}))),
        "maximum storage usage per PersistentVolumeClaim is 5Gi, but request is 10Gi"
    );
    server.create(CLAIMS, &claim("e", "2Gi", &json!({})));
}

#[test]
fn without_plugins_nothing_is_added() {
    let mut server = Server::with(&[]);
    let spec = &server.create(PODS, &pod("plain", &json!({"priorityClassName": "unknown"})))["spec"];
    assert_eq!((&spec["priority"], &spec["tolerations"]), (&Value::Null, &Value::Null));
}

#[test]
fn the_number_of_classes_that_a_request_reads_is_bounded() {
    let mut server = Server::with(&[Plugin::Priority]);
    for i in 0..=1000 {
        server.create(CLASSES, &priority(&format!("c{i}"), i, &json!({})));
    }
    let reply = server.send("POST", PODS, &pod("plain", &json!({})));
    assert_eq!(reply.code, 500);
    assert!(reply.text().contains("admission looks at no more than 1000 objects of the kind PriorityClass"));
    // A Pod with a class reads only that one.
    server.create(PODS, &pod("named", &json!({"priorityClassName": "c7"})));
}

#[test]
fn what_limit_ranges_make_of_a_pod_is_bounded() {
    let mut server = Server::with(&[Plugin::LimitRanger]);
    let range = |name: &str, limit: Value| json!({"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": name}, "spec": {"limits": [limit]}});
    let containers: Vec<Value> = (0..1500).map(|i| json!({"name": format!("c{i}"), "image": "a"})).collect();
    let pod = pod("many", &json!({"containers": containers}));
    server.create(RANGES, &range("ratio", json!({"type": "Container", "maxLimitRequestRatio": {"cpu": "5"}})));
    let why = server.refused("POST", PODS, &pod);
    assert_eq!(why.matches("no request is specified").count(), 1001);
    let resources: serde_json::Map<String, Value> =
        (0..100).map(|i| (format!("example.com/r{i}"), json!("1"))).collect();
    server.create(RANGES, &range("defaults", json!({"type": "Container", "default": resources})));
    let reply = server.send("POST", PODS, &pod);
    assert_eq!(reply.code, 500);
    assert!(reply.text().contains("a LimitRange sets more than 100000 resources of a Pod"), "{}", reply.text());
}
