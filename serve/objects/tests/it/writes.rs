//! Rules of writes that upstream's integration tests check: owners of fields, sizes, strict validation and statuses.

use crate::common::{ALL, Server as Custom};
use kubeshape_objects::store::Store;
use kubeshape_objects::{Api, Documents, Moment, Request};
use kubeshape_registry::Time;
use serde_json::{Value, json};

const APPS: &str = "/apis/apps/v1/namespaces/default";
const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const FLOWS: &str = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas";
const JSON: &str = "application/json";
const YAML: &str = "application/yaml";
const MERGE: &str = "application/merge-patch+json";
const PATCH: &str = "application/json-patch+json";
const APPLY: &str = "application/apply-patch+yaml";

struct Server {
    api: Api,
    store: Store,
    requests: i64,
}

impl Server {
    fn new() -> Server {
        let release = kubeshape_builtin::BuiltInDocuments::newest().api();
        let paths = ["api/v1", "apis/apps/v1", "apis/flowcontrol.apiserver.k8s.io/v1"];
        let documents = paths.map(|path| (path, release.openapi_v3(path).unwrap().into()));
        let api = Api::default().with_documents(Documents::new(documents));
        Server { api, store: Store::default(), requests: 0 }
    }

    /// Returns the code, the body and the warnings.
    fn send(&mut self, method: &str, target: &str, content_type: &str, body: &str) -> (u16, Value, Vec<String>) {
        self.requests += 1;
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let request = Request { method, path, query, content_type, body: body.as_bytes(), ..Request::default() };
        let uid = format!("00000000-0000-4000-8000-{:012}", self.requests);
        let moment = Moment { now: Time(1_700_000_000 + self.requests), uid: &uid, ..Moment::default() };
        let reply = self.api.answer(&mut self.store, &request, &moment).unwrap();
        (reply.code, serde_json::from_slice(&reply.body).unwrap_or_default(), reply.warnings)
    }

    fn done(&mut self, method: &str, target: &str, content_type: &str, body: &Value) -> Value {
        let (code, object, _) = self.send(method, target, content_type, &body.to_string());
        assert!(code < 300, "{code} {object}");
        object
    }
}

fn workload(kind: &str) -> Value {
    let template = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    json!({"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "a", "labels": {"a": "b"}},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template}})
}

fn owned(object: &Value, at: usize) -> &Value {
    &object["metadata"]["managedFields"][at]["fieldsV1"]
}

#[test]
fn who_creates_an_object_does_not_own_the_structs_that_go_always_prints() {
    let mut server = Server::new();
    let created = server.done("POST", &format!("{APPS}/deployments"), JSON, &workload("Deployment"));
    let spec = &owned(&created, 0)["f:spec"];
    assert_eq!(spec["f:strategy"]["."], Value::Null);
    assert_eq!(spec["f:strategy"]["f:rollingUpdate"]["."], json!({}));
    let template = &spec["f:template"];
    assert_eq!(
        (&template["."], &template["f:metadata"]["."], &template["f:spec"]["."]),
        (&Value::Null, &Value::Null, &Value::Null)
    );
    assert_eq!(template["f:metadata"]["f:labels"]["."], json!({}));
    assert_eq!(template["f:spec"]["f:containers"]["."], Value::Null);
    assert_eq!(template["f:spec"]["f:containers"]["k:{\"name\":\"c\"}"]["."], json!({}));
}

#[test]
fn who_creates_a_daemon_set_owns_the_count_of_its_templates() {
    let mut server = Server::new();
    let created = server.done("POST", &format!("{APPS}/daemonsets"), JSON, &workload("DaemonSet"));
    let count = "deprecated.daemonset.template.generation";
    assert_eq!(created["metadata"]["annotations"], json!({ count: "1" }));
    assert_eq!(owned(&created, 0)["f:metadata"]["f:annotations"], json!({".": {}, format!("f:{count}"): {}}));
}

#[test]
fn a_status_does_not_own_what_it_does_not_change() {
    let mut server = Server::new();
    server.done("POST", &format!("{APPS}/deployments"), JSON, &workload("Deployment"));
    let status = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a", "labels": {"x": "y"},
        "annotations": {"x": "y"}}, "status": {"replicas": 1}});
    let after = server.done("PATCH", &format!("{APPS}/deployments/a/status?fieldManager=m"), APPLY, &status);
    assert_eq!(after["metadata"]["labels"], json!({"a": "b"}));
    assert_eq!(after["metadata"]["annotations"], json!({"x": "y"}));
    let fields = json!({"f:metadata": {"f:annotations": {"f:x": {}}}, "f:status": {"f:replicas": {}}});
    assert_eq!(owned(&after, 0), &fields);

    let flow = json!({"apiVersion": "flowcontrol.apiserver.k8s.io/v1", "kind": "FlowSchema", "metadata": {"name": "f"},
        "spec": {"priorityLevelConfiguration": {"name": "p"}}});
    server.done("PATCH", &format!("{FLOWS}/f?fieldManager=m"), APPLY, &flow);
    let status = json!({"apiVersion": "flowcontrol.apiserver.k8s.io/v1", "kind": "FlowSchema", "metadata": {"name": "f",
        "labels": {"x": "y"}}, "status": {"conditions": [{"type": "T", "status": "True"}]}});
    let after = server.done("PATCH", &format!("{FLOWS}/f/status?fieldManager=n"), APPLY, &status);
    assert_eq!(
        (&after["metadata"]["labels"], &after["metadata"]["managedFields"][1]["manager"]),
        (&Value::Null, &json!("n"))
    );
    assert_eq!(owned(&after, 1)["f:metadata"], Value::Null);
}

#[test]
fn an_update_of_the_status_needs_the_current_revision() {
    let mut server = Custom::new();
    let mut object = server.create("a", "{}");
    server.send("PATCH", &format!("{ALL}/a"), MERGE, r#"{"spec":{"color":"red"}}"#);
    object["status"] = json!({"replicas": 1});
    let (code, conflict) = server.send("PUT", &format!("{ALL}/a/status"), JSON, &object.to_string());
    assert_eq!((code, &conflict["reason"]), (409, &json!("Conflict")));
    object["metadata"]["resourceVersion"] = server.get(&format!("{ALL}/a")).1["metadata"]["resourceVersion"].clone();
    assert_eq!(server.send("PUT", &format!("{ALL}/a/status"), JSON, &object.to_string()).0, 200);
}

#[test]
fn an_empty_list_of_owners_resets_them() {
    let mut server = Server::new();
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "v"}});
    let mut object = server.done("PATCH", &format!("{MAPS}/a?fieldManager=m"), APPLY, &map);
    object["metadata"]["managedFields"] = json!([]);
    object["metadata"]["labels"] = json!({"a": "b"});
    let after = server.done("PUT", &format!("{MAPS}/a"), JSON, &object);
    assert_eq!(after["metadata"]["managedFields"], Value::Null);
    let patched = server.done("PATCH", &format!("{MAPS}/a"), MERGE, &json!({"data": {"k": "w"}}));
    assert_eq!(patched["metadata"]["managedFields"], Value::Null);
}

#[test]
fn an_apply_of_what_the_server_sets_changes_nothing() {
    let mut server = Server::new();
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "creationTimestamp": null,
        "resourceVersion": null}, "data": {"k": "v"}});
    let target = format!("{MAPS}/a?fieldManager=m");
    let first = server.done("PATCH", &target, APPLY, &map);
    assert_eq!(server.done("PATCH", &target, APPLY, &map), first);
}

#[test]
fn an_object_that_is_too_large_with_its_owners_is_written_without_them() {
    let mut server = Server::new();
    let key = |n: usize| (format!("{}-{n}", "k".repeat(70)), json!("v"));
    let data: serde_json::Map<String, Value> = (0..9999).map(key).collect();
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data});
    let created = server.done("POST", MAPS, JSON, &map);
    assert_eq!(created["metadata"]["managedFields"], Value::Null);
    // An apply needs the owners.
    let applied = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
    let (code, status, _) = server.send("PATCH", &format!("{MAPS}/a?fieldManager=m"), APPLY, &applied.to_string());
    assert_eq!((code, &status["message"]), (500, &json!("etcdserver: request is too large")));
}

#[test]
fn findings_of_strict_validation_have_the_order_of_the_document() {
    let mut server = Server::new();
    let map = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","name":"b","odd":{"x":1,"x":2}},"data":{},
        "more":1,"more":2,"data":{}}"#;
    let expected = "strict decoding error: duplicate field \"metadata.name\", unknown field \"metadata.odd\", \
                    unknown field \"more\", duplicate field \"data\"";
    let (code, status, _) = server.send("POST", &format!("{MAPS}?fieldValidation=Strict"), JSON, map);
    let message = status["message"].as_str().unwrap();
    assert!(code == 400 && message.ends_with(expected), "{message}");
    // Go's YAML reader finds all duplicates before the unknown fields; each is a warning of its own.
    let yaml = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  name: b\n  odd: 1\n  odd: 2\n";
    let expected = [
        "line 5: key \"name\" already set in map",
        "line 7: key \"odd\" already set in map",
        "unknown field \"metadata.odd\"",
    ];
    assert_eq!(server.send("POST", MAPS, YAML, yaml).2, expected);
    let yaml = "\n{apiVersion: v1, kind: ConfigMap, metadata: {name: b},\ndata: {k: a,\nk: b}}\n";
    let warnings = server.send("PATCH", &format!("{MAPS}/b?fieldManager=m"), APPLY, yaml).2;
    assert_eq!(warnings, ["line 4: key \"k\" already set in map"]);
}

#[test]
fn operations_of_a_json_patch_are_validated_strictly() {
    let mut server = Server::new();
    server.done("POST", MAPS, JSON, &json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}));
    let patch = "\n\t\t[{\"op\": \"add\", \"path\": \"/data\", \"value\": {}, \"odd\": 1},\n\
                 {\"op\": \"add\", \"path\": \"/x\", \"path\": \"/odd\", \"value\": 1}]\n\t";
    let (code, status, _) = server.send("PATCH", &format!("{MAPS}/a?fieldValidation=Strict"), PATCH, patch);
    let expected = "strict decoding error: json patch unknown field \"[0].odd\", \
                    json patch duplicate field \"[1].path\", unknown field \"odd\"";
    let message = status["message"].as_str().unwrap();
    assert!(code == 422 && message.ends_with(expected), "{message}");
}

#[test]
fn findings_below_a_long_path_are_bounded() {
    let mut server = Server::new();
    server.done("POST", MAPS, JSON, &json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}));
    let items = [r#"{"a":1,"a":2}"#; 1000].join(",");
    let name = "n".repeat(1000);
    let value = (0..100).fold(format!("[{items}]"), |value, _| format!(r#"{{"{name}":{value}}}"#));
    let patch = format!(r#"[{{"op":"add","path":"/odd","value":{value}}}]"#);
    let (code, status, _) = server.send("PATCH", &format!("{MAPS}/a?fieldValidation=Strict"), PATCH, &patch);
    let message = status["message"].as_str().unwrap();
    assert!(code == 422 && message.contains(&format!("{name}[0].a")), "{code} {message:.300}");
    assert!(message.len() < 6 << 20, "{}", message.len());
}

#[test]
fn a_patch_to_a_value_of_the_wrong_type_is_invalid() {
    let mut server = Server::new();
    server.done("POST", MAPS, JSON, &json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}));
    for media in [MERGE, "application/strategic-merge-patch+json"] {
        let (code, status, _) = server.send("PATCH", &format!("{MAPS}/a"), media, r#"{"data":{"k":["v"]}}"#);
        assert_eq!((code, &status["reason"]), (422, &json!("Invalid")), "{media}");
        assert_eq!(status["details"]["causes"][0]["field"], json!("patch"));
    }
}

#[test]
fn the_core_group_may_be_written_before_the_slash() {
    let mut server = Server::new();
    let map = json!({"apiVersion": "/v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
    assert_eq!(server.done("POST", MAPS, JSON, &map)["apiVersion"], json!("v1"));
}

#[test]
fn a_deletion_of_dependents_that_waits_is_accepted() {
    let mut server = Server::new();
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "finalizers": ["x.y/z"]}});
    server.done("POST", MAPS, JSON, &map);
    let options =
        |orphan: bool| json!({"kind": "DeleteOptions", "apiVersion": "v1", "orphanDependents": orphan}).to_string();
    assert_eq!(server.send("DELETE", &format!("{MAPS}/a"), JSON, &options(false)).0, 202);
    server.done("POST", MAPS, JSON, &json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}}));
    let (code, object, _) = server.send("DELETE", &format!("{MAPS}/b"), JSON, &options(true));
    assert_eq!((code, &object["metadata"]["finalizers"]), (200, &json!(["orphan"])));
}

#[test]
fn an_applied_null_is_refused_by_the_schema() {
    let mut server = Custom::new();
    let apply = |server: &mut Custom, spec: &str| {
        let body =
            format!(r#"{{"apiVersion":"example.com/v1","kind":"Widget","metadata":{{"name":"a"}},"spec":{spec}}}"#);
        server.send("PATCH", &format!("{ALL}/a?fieldManager=m"), APPLY, &body)
    };
    assert_eq!(apply(&mut server, r#"{"color":"red","list":["a"]}"#).0, 201);
    let (code, status) = apply(&mut server, r#"{"color":"red","list":null}"#);
    let message = status["message"].as_str().unwrap();
    assert!(code == 422 && message.contains("spec.list in body must be of type array"), "{message}");
    // A default takes the place of a null.
    let (code, object) = apply(&mut server, r#"{"color":"red","replicas":null}"#);
    assert_eq!((code, &object["spec"]["replicas"]), (200, &json!(1)), "{object}");
}

#[test]
fn a_scale_in_cbor_needs_the_feature() {
    let mut server = Custom::new();
    server.create("a", "{}");
    let (code, status) = server.send("PUT", &format!("{ALL}/a/scale"), "application/cbor", "{}");
    assert_eq!((code, &status["reason"]), (415, &json!("UnsupportedMediaType")));
}
