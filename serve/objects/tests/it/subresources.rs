//! Subresources of built-in kinds: bindings and evictions of Pods, approvals of certificate requests, server-side apply
//! on scales; and roles that grant too much.

use kubeshape_objects::access::{Authorization, Identity};
use kubeshape_objects::store::Store;
use kubeshape_objects::{Api, Documents, Moment, Request};
use kubeshape_registry::Time;
use serde_json::{Value, json};

const PODS: &str = "/api/v1/namespaces/default/pods";
const BUDGETS: &str = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";

struct Server {
    api: Api,
    store: Store,
    identity: Option<Identity>,
}

impl Server {
    fn new() -> Server {
        let release = kubeshape_builtin::BuiltInDocuments::newest().api();
        let paths = [
            "api/v1",
            "apis/apps/v1",
            "apis/policy/v1",
            "apis/certificates.k8s.io/v1",
            "apis/rbac.authorization.k8s.io/v1",
        ];
        let documents = paths.map(|path| (path, release.openapi_v3(path).unwrap().into()));
        let api = Api::default().with_documents(Documents::new(documents));
        Server { api, store: Store::default(), identity: None }
    }

    fn send(&mut self, method: &str, target: &str, body: &Value) -> (u16, Value) {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let text = if body.is_null() { String::new() } else { body.to_string() };
        let content_type = match method {
            "PATCH" if query.contains("fieldManager") => "application/apply-patch+yaml",
            "PATCH" => "application/merge-patch+json",
            _ => "application/json",
        };
        let identity = self.identity.as_ref();
        let body = text.as_bytes();
        let request = Request { method, path, query, content_type, body, identity, ..Request::default() };
        let uid = format!("00000000-0000-4000-8000-{:012}", self.store.revision());
        let now = Time::parse("2026-01-02T03:04:05Z").unwrap();
        let moment = Moment { now, uid: &uid, ..Moment::default() };
        let reply = self.api.answer(&mut self.store, &request, &moment).unwrap();
        (reply.code, serde_json::from_slice(&reply.body).unwrap_or_default())
    }

    fn created(&mut self, target: &str, body: &Value) -> Value {
        let (code, object) = self.send("POST", target, body);
        assert_eq!(code, 201, "{object}");
        object
    }

    fn pod(&mut self, name: &str) {
        let spec = json!({"containers": [{"name": "c", "image": "i"}]});
        self.created(PODS, &json!({"metadata": {"name": name, "labels": {"app": "x"}}, "spec": spec}));
    }

    fn status(&mut self, target: &str, status: &Value) {
        let (code, object) = self.send("PATCH", &format!("{target}/status"), &json!({ "status": status }));
        assert_eq!(code, 200, "{object}");
    }

    fn message(&mut self, target: &str, body: &Value) -> (u16, String) {
        let (code, answer) = self.send("POST", target, body);
        (code, answer["message"].as_str().unwrap_or_default().to_owned())
    }
}

fn binding(name: &str, target: &Value) -> Value {
    json!({"metadata": {"name": name, "annotations": {"a": "1"}}, "target": target})
}

#[test]
fn a_pod_is_bound_once() {
    let mut server = Server::new();
    server.pod("a");
    let path = format!("{PODS}/a/binding");
    let (code, message) = server.message(&path, &binding("b", &json!({"name": "n"})));
    assert_eq!((code, &*message), (400, "name in URL does not match name in Binding object"));
    let (code, message) = server.message(&path, &binding("a", &json!({"kind": "Pod"})));
    let expected =
        r#"[target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>", target.name: Required value]"#;
    assert_eq!((code, &*message), (500, expected));
    let (code, answer) = server.send("POST", &format!("{path}?dryRun=All"), &binding("a", &json!({"name": "n"})));
    let done = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201});
    assert_eq!((code, &answer), (201, &done));
    assert!(server.send("GET", &format!("{PODS}/a"), &Value::Null).1["spec"]["nodeName"].is_null());
    server.created(&path, &binding("a", &json!({"kind": "Node", "name": "n"})));
    let (_, pod) = server.send("GET", &format!("{PODS}/a"), &Value::Null);
    assert_eq!((&pod["spec"]["nodeName"], &pod["metadata"]["annotations"]["a"]), (&json!("n"), &json!("1")));
    let condition = json!([{"type": "PodScheduled", "status": "True", "lastProbeTime": null,
        "lastTransitionTime": "2026-01-02T03:04:05Z"}]);
    assert_eq!(pod["status"]["conditions"], condition);
    let (code, message) = server.message(&path, &binding("a", &json!({"name": "m"})));
    let expected = r#"Operation cannot be fulfilled on pods/binding "a": pod a is already assigned to node "n""#;
    assert_eq!((code, &*message), (409, expected));
    assert_eq!(server.message(&format!("{PODS}/gone/binding"), &binding("gone", &json!({"name": "n"}))).0, 404);
}

fn eviction(name: &str) -> Value {
    json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}})
}

#[test]
fn budgets_decide_about_evictions() {
    let mut server = Server::new();
    let budget =
        json!({"metadata": {"name": "b"}, "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "x"}}}});
    server.created(BUDGETS, &budget);
    // A pending Pod is evicted, whatever budgets say.
    server.pod("pending");
    server.created(&format!("{PODS}/pending/eviction"), &eviction("pending"));
    assert_eq!(server.send("GET", &format!("{PODS}/pending"), &Value::Null).0, 404);
    server.pod("a");
    let ready = json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]});
    server.status(&format!("{PODS}/a"), &ready);
    let path = format!("{PODS}/a/eviction");
    let (code, answer) = server.send("POST", &path, &eviction("a"));
    assert_eq!((code, &answer["details"]["retryAfterSeconds"]), (429, &json!(10)));
    let cause = "The disruption budget b is still being processed by the server.";
    assert_eq!(answer["details"]["causes"][0], json!({"reason": "DisruptionBudget", "message": cause}));
    let none = json!({"observedGeneration": 1, "disruptionsAllowed": 0, "currentHealthy": 1, "desiredHealthy": 1,
        "expectedPods": 1});
    server.status(&format!("{BUDGETS}/b"), &none);
    let (code, answer) = server.send("POST", &path, &eviction("a"));
    assert_eq!(
        (code, &answer["message"]),
        (429, &json!("Cannot evict pod as it would violate the pod's disruption budget."))
    );
    assert_eq!(
        answer["details"]["causes"][0]["message"],
        "The disruption budget b needs 1 healthy pods and has 1 currently"
    );
    server.status(&format!("{BUDGETS}/b"), &json!({"disruptionsAllowed": 1, "currentHealthy": 2}));
    server.created(&path, &eviction("a"));
    assert_eq!(server.send("GET", &format!("{PODS}/a"), &Value::Null).0, 404);
    let (_, budget) = server.send("GET", &format!("{BUDGETS}/b"), &Value::Null);
    assert_eq!(budget["status"]["disruptionsAllowed"], 0);
    assert_eq!(budget["status"]["disruptedPods"], json!({"a": "2026-01-02T03:04:05Z"}));
    assert_eq!(budget["status"]["conditions"][0]["reason"], "InsufficientPods");
    // A second budget for the same Pod.
    let second = json!({"metadata": {"name": "c"}, "spec": {"selector": {}}});
    server.created(BUDGETS, &second);
    server.pod("d");
    server.status(&format!("{PODS}/d"), &ready);
    let (code, message) = server.message(&format!("{PODS}/d/eviction"), &eviction("d"));
    assert_eq!(code, 500);
    assert!(message.starts_with("This pod has more than one PodDisruptionBudget"), "{message}");
    let mut other = eviction("d");
    other["deleteOptions"] = json!({"preconditions": {"uid": "x"}});
    server.send("DELETE", BUDGETS, &Value::Null);
    let (code, message) = server.message(&format!("{PODS}/d/eviction"), &other);
    assert_eq!(code, 409);
    assert!(message.contains("the UID in the precondition (x) does not match the UID in record"), "{message}");
}

#[test]
fn certificates_are_approved_through_their_subresource() {
    use base64::Engine as _;
    let mut server = Server::new();
    let all = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
    let request = "-----BEGIN CERTIFICATE REQUEST-----\nMA==\n-----END CERTIFICATE REQUEST-----\n";
    let request = base64::engine::general_purpose::STANDARD.encode(request);
    let spec = json!({"request": request, "signerName": "example.com/x", "usages": ["client auth"]});
    let mut csr = server.created(all, &json!({"metadata": {"name": "c"}, "spec": spec}));
    let approved = json!([{"type": "Approved", "status": "True", "reason": "ByTest"}]);
    csr["status"] = json!({ "conditions": approved });
    let (code, refused) = server.send("PUT", &format!("{all}/c/status"), &csr);
    assert_eq!(code, 422, "{refused}");
    csr["spec"]["signerName"] = "example.com/other".into();
    csr["status"]["certificate"] = "Cg==".into();
    let (code, answer) = server.send("PUT", &format!("{all}/c/approval"), &csr);
    assert_eq!(code, 200, "{answer}");
    assert_eq!(answer["spec"]["signerName"], "example.com/x");
    assert!(answer["status"]["certificate"].is_null());
    let now = "2026-01-02T03:04:05Z";
    let expected = json!([{"type": "Approved", "status": "True", "reason": "ByTest", "lastUpdateTime": now,
        "lastTransitionTime": now}]);
    assert_eq!(answer["status"]["conditions"], expected);
    let (code, answer) = server.send("PATCH", &format!("{all}/c/approval"), &json!({"status": {"conditions": []}}));
    assert_eq!(code, 422);
    assert!(answer["message"].as_str().unwrap().contains("updates may not remove a condition"), "{answer}");
}

#[test]
fn replicas_are_applied_through_the_scale() {
    let mut server = Server::new();
    let all = "/apis/apps/v1/namespaces/default/deployments";
    let template = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let spec = json!({"replicas": 1, "selector": {"matchLabels": {"a": "b"}}, "template": template});
    server.created(all, &json!({"metadata": {"name": "d"}, "spec": spec}));
    let scale =
        json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "d"}, "spec": {"replicas": 3}});
    let (code, answer) = server.send("PATCH", &format!("{all}/d/scale?fieldManager=me"), &scale);
    assert_eq!(code, 409, "{answer}");
    let (code, answer) = server.send("PATCH", &format!("{all}/d/scale?fieldManager=me&force=true"), &scale);
    assert_eq!((code, &answer["spec"]["replicas"]), (200, &json!(3)), "{answer}");
    let (_, object) = server.send("GET", &format!("{all}/d"), &Value::Null);
    assert_eq!(object["spec"]["replicas"], 3);
    let entries = object["metadata"]["managedFields"].as_array().unwrap();
    let own = entries.iter().find(|entry| entry["manager"] == "me").unwrap();
    assert_eq!(own["fieldsV1"], json!({"f:spec": {"f:replicas": {}}}));
    assert_eq!((&own["apiVersion"], &own["subresource"]), (&json!("apps/v1"), &json!("scale")));
}

#[test]
fn nobody_grants_what_he_lacks() {
    let mut server = Server::new();
    let cluster_roles = format!("{RBAC}/clusterroles");
    let role = |name: &str, rules: Value| json!({"metadata": {"name": name}, "rules": rules});
    let rbac = json!([{"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["*"], "verbs": ["create", "update"]},
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]);
    server.created(&cluster_roles, &role("some", rbac));
    server.created(
        &cluster_roles,
        &role("secrets", json!([{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "list"]}])),
    );
    let bind = |name: &str, role: &str| {
        json!({"metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "jane"}]})
    };
    let bindings = format!("{RBAC}/clusterrolebindings");
    server.created(&bindings, &bind("first", "some"));
    server.api = server.api.clone().with_authorization(Authorization::Rbac);
    server.identity = Some(Identity::new("jane", []));
    let less = role("less", json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]));
    server.created(&cluster_roles, &less);
    let more = role("more", json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}]));
    let (code, message) = server.message(&cluster_roles, &more);
    let expected = concat!(
        r#"clusterroles.rbac.authorization.k8s.io "more" is forbidden: user "jane" (groups=["system:authenticated"]) is "#,
        "attempting to grant RBAC permissions not currently held:\n",
        r#"{APIGroups:[""], Resources:["pods"], Verbs:["list"]}"#,
    );
    assert_eq!((code, &*message), (403, expected));
    let (code, message) = server.message(&bindings, &bind("second", "secrets"));
    assert_eq!(code, 403);
    assert!(message.ends_with(r#"{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}"#), "{message}");
    let (code, message) = server.message(&bindings, &bind("second", "gone"));
    assert_eq!((code, &*message), (404, r#"clusterroles.rbac.authorization.k8s.io "gone" not found"#));
    server.created(&bindings, &bind("third", "less"));
    let mut aggregated = role("whole", json!([]));
    aggregated["aggregationRule"] = json!({"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]});
    let (code, message) = server.message(&cluster_roles, &aggregated);
    assert_eq!(code, 403);
    assert!(message.ends_with("must have cluster-admin privileges to use the aggregationRule"), "{message}");
    // With `bind` and `escalate`, the user may.
    server.identity = None;
    let verbs = json!([{"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["clusterroles"], "verbs": ["bind", "escalate"]}]);
    server.created(&cluster_roles, &role("verbs", verbs));
    server.created(&bindings, &bind("fourth", "verbs"));
    server.identity = Some(Identity::new("jane", []));
    server.created(&cluster_roles, &more);
    server.created(&bindings, &bind("second", "secrets"));
}

#[test]
fn watches_see_the_condition_before_an_evicted_pod_goes() {
    let mut server = Server::new();
    server.pod("a");
    let before = server.store.revision();
    server.created(&format!("{PODS}/a/eviction"), &eviction("a"));
    let watch = |server: &mut Server| {
        let query = format!("watch=true&resourceVersion={before}");
        let request = Request { path: PODS, query: &query, ..Request::default() };
        let reply = server.api.answer(&mut server.store, &request, &Moment::default()).unwrap();
        let event = |line: &str| {
            let event: Value = serde_json::from_str(line).unwrap();
            let conditions = event["object"]["status"]["conditions"].as_array().cloned().unwrap_or_default();
            let disrupted = conditions.into_iter().find(|condition| condition["type"] == "DisruptionTarget");
            (event["type"].as_str().unwrap().to_owned(), disrupted.map(|condition| condition["reason"].clone()))
        };
        reply.text().lines().map(event).collect::<Vec<_>>()
    };
    let reason = Some(json!("EvictionByEvictionAPI"));
    let expected = [("MODIFIED".to_owned(), reason.clone()), ("DELETED".to_owned(), reason.clone())];
    assert_eq!(watch(&mut server), expected);
    // A Pod with a finalizer gets the condition once, and then it is marked.
    let before = server.store.revision();
    server.pod("b");
    server.send("PATCH", &format!("{PODS}/b"), &json!({"metadata": {"finalizers": ["example.com/wait"]}}));
    let revision = server.store.revision();
    server.created(&format!("{PODS}/b/eviction"), &eviction("b"));
    assert_eq!(server.store.revision(), revision + 2);
    server.created(&format!("{PODS}/b/eviction"), &eviction("b"));
    assert_eq!(server.store.revision(), revision + 2);
    // A dry run changes nothing.
    server.pod("c");
    let revision = server.store.revision();
    server.created(&format!("{PODS}/c/eviction?dryRun=All"), &eviction("c"));
    assert_eq!(server.store.revision(), revision);
    assert!(before < revision);
}

#[test]
fn ephemeral_containers_are_added_to_a_pod_that_runs() {
    let mut server = Server::new();
    server.pod("a");
    let path = format!("{PODS}/a/ephemeralcontainers");
    let container = |name: &str, image: &str| json!({"name": name, "image": image});
    let with = |containers: Value| json!({"metadata": {"name": "a"}, "spec": {"ephemeralContainers": containers}});
    let names = |pod: &Value| {
        let all = pod["spec"]["ephemeralContainers"].as_array().cloned().unwrap_or_default();
        all.iter().map(|of| of["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let (code, pod) = server.send("GET", &path, &Value::Null);
    assert_eq!((code, names(&pod)), (200, Vec::new()));
    let (code, pod) = server.send("PUT", &path, &with(json!([container("x", "i")])));
    assert_eq!((code, names(&pod)), (200, vec!["x".to_owned()]), "{pod}");
    // Defaults are set, and nothing else changes.
    assert_eq!(pod["spec"]["ephemeralContainers"][0]["imagePullPolicy"], json!("Always"));
    assert_eq!(pod["spec"]["containers"][0]["name"], json!("c"));
    let sent = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"nodeName": "n",
        "ephemeralContainers": [container("x", "i"), container("y", "j")]}});
    let (code, pod) = server.send("PATCH", &path, &sent);
    assert_eq!((code, names(&pod)), (200, vec!["x".to_owned(), "y".to_owned()]), "{pod}");
    assert_eq!((&pod["metadata"]["labels"], &pod["spec"]["nodeName"]), (&json!({"app": "x"}), &Value::Null));
    for (containers, why) in [
        (
            json!([container("x", "i")]),
            "spec.ephemeralContainers: Forbidden: existing ephemeral containers \"y\" may not be removed\n",
        ),
        (
            json!([container("x", "k"), container("y", "j")]),
            "spec.ephemeralContainers: Forbidden: existing ephemeral containers \"x\" may not be changed\n",
        ),
        (
            json!([container("x", "i"), container("y", "j"), container("c", "k")]),
            "spec.ephemeralContainers[2].name: Duplicate value: \"c\"",
        ),
    ] {
        let (code, status) = server.send("PUT", &path, &with(containers));
        assert_eq!((code, status["message"].as_str().unwrap()), (422, &*format!("Pod \"a\" is invalid: {why}")));
    }
    assert_eq!(server.send("POST", &path, &with(json!([]))).0, 405);
}

#[test]
fn a_resize_changes_only_amounts_of_cpu_and_memory() {
    let mut server = Server::new();
    let spec = json!({"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]});
    server.created(PODS, &json!({"metadata": {"name": "a"}, "spec": spec}));
    let path = format!("{PODS}/a/resize");
    let container = |members: Value| {
        let mut container = json!({"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}});
        container.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        json!({"metadata": {"name": "a", "labels": {"a": "b"}}, "spec": {"nodeName": "n", "containers": [container]}})
    };
    let requests = |amounts: Value| container(json!({"image": "k", "resources": {"requests": amounts}}));
    let (code, pod) = server.send("PUT", &path, &requests(json!({"cpu": "2", "memory": "1Gi"})));
    assert_eq!(code, 200, "{pod}");
    let after = &pod["spec"]["containers"][0];
    assert_eq!(after["resources"]["requests"], json!({"cpu": "2", "memory": "1Gi"}));
    // Everything else stays, and the specification has a new generation.
    assert_eq!((&after["image"], &pod["spec"]["nodeName"]), (&json!("i"), &Value::Null));
    assert_eq!((&pod["metadata"]["labels"], &pod["metadata"]["generation"]), (&Value::Null, &json!(2)));
    let two = json!([{"name": "c", "image": "i"}, {"name": "d", "image": "i"}]);
    let renamed = json!([{"name": "d", "image": "i", "resources": {"requests": {"cpu": "2", "memory": "1Gi"}}}]);
    let of = |containers: Value| json!({"metadata": {"name": "a"}, "spec": {"containers": containers}});
    for (sent, why) in [
        (
            requests(json!({"cpu": "2"})),
            "spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed",
        ),
        (
            requests(json!({"cpu": "2", "memory": "1Gi", "ephemeral-storage": "1Gi"})),
            "spec: Forbidden: only cpu and memory resources are mutable",
        ),
        (of(two), "spec.containers: Forbidden: containers may not be added or removed on resize"),
        (of(renamed), "spec.containers[0].name: Forbidden: containers may not be renamed or reordered on resize"),
    ] {
        let (code, status) = server.send("PUT", &path, &sent);
        let message = status["message"].as_str().unwrap();
        assert!(code == 422 && message.contains(why), "{code} {message}");
    }
    let limits = json!({"requests": {"cpu": "2", "memory": "1Gi"}, "limits": {"cpu": "2", "memory": "1Gi"}});
    let (_, status) = server.send("PUT", &path, &container(json!({"resources": limits})));
    let why = "spec: Invalid value: \"Burstable\": Pod QOS Class may not change as a result of resizing";
    assert_eq!(status["message"].as_str().unwrap(), format!("Pod \"a\" is invalid: {why}"));
    assert_eq!(server.send("POST", &path, &requests(json!({}))).0, 405);
}

#[test]
fn only_who_may_create_creates_by_an_apply() {
    let mut server = Server::new();
    let role = |verbs: Value| json!({"metadata": {"name": "r"}, "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": verbs}]});
    server.created(&format!("{RBAC}/clusterroles"), &role(json!(["patch"])));
    let group = "rbac.authorization.k8s.io";
    let binding = json!({"metadata": {"name": "b"},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "r"},
        "subjects": [{"kind": "User", "apiGroup": group, "name": "ada"}]});
    server.created(&format!("{RBAC}/clusterrolebindings"), &binding);
    server.api = server.api.clone().with_authorization(Authorization::Rbac);
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"},
        "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let target = format!("{PODS}/a?fieldManager=m");
    server.identity = Some(Identity::new("ada", []));
    let (code, status) = server.send("PATCH", &target, &pod);
    let why = "User \"ada\" cannot create resource \"pods\" in API group \"\" in the namespace \"default\"";
    assert_eq!((code, status["message"].as_str().unwrap()), (403, &*format!("pods \"a\" is forbidden: {why}")));
    server.identity = None;
    server.send(
        "PATCH",
        &format!("{RBAC}/clusterroles/r"),
        &json!({"rules": role(json!(["patch", "create"]))["rules"]}),
    );
    server.identity = Some(Identity::new("ada", []));
    assert_eq!(server.send("PATCH", &target, &pod).0, 201);
}
