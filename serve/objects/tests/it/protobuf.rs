//! Objects of built-in kinds in protobuf: what typed clients in Go send and ask for.

use kubeshape_objects::store::Store;
use kubeshape_objects::{Api, Documents, Moment, Outcome, Reply, Request, json_to_protobuf, protobuf_to_json};
use kubeshape_schema::Release;
use serde_json::{Value, json};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
/// As typed clients ask.
const EITHER: &str = "application/vnd.kubernetes.protobuf,application/json";

#[test]
fn a_release_has_its_own_fields() {
    let object = json!({"kind": "CSINode", "apiVersion": "storage.k8s.io/v1", "metadata": {"name": "a"},
        "spec": {"drivers": null}, "status": {"storageHealth": [{"name": "b"}]}});
    let sent = |release| json_to_protobuf("storage.k8s.io/v1", "CSINode", object.to_string().as_bytes(), release);
    let sent = |minor| sent(Release::nearest(minor)).expect("protobuf");
    let read = |body: &[u8], minor| -> Value {
        let json = protobuf_to_json(body, Release::nearest(minor)).expect("protobuf").expect("JSON");
        serde_json::from_slice(&json).expect("JSON")
    };
    assert_eq!(read(&sent(37), 37)["status"]["storageHealth"][0]["name"], "b");
    // A server of 1.36 does not know the field of a newer client, and does not write it.
    let mut without = object.clone();
    without.as_object_mut().expect("an object").remove("status");
    assert_eq!(read(&sent(37), 36), without);
    assert!(sent(36).len() < sent(37).len());
    // Go's zero value of a struct is written, so a newer reader finds an empty status.
    assert_eq!(read(&sent(36), 37)["status"], json!({}));
}

struct Core {
    api: Api,
    store: Store,
}

impl Core {
    fn new() -> Core {
        let release = kubeshape_builtin::BuiltInDocuments::newest().api();
        let documents = ["apis/apiextensions.k8s.io/v1", "api/v1", "apis/apps/v1"]
            .map(|path| (path, release.openapi_v3(path).expect("a document").into()));
        Core { api: Api::default().with_documents(Documents::new(documents)), store: Store::default() }
    }

    fn ask(&mut self, method: &str, target: &str, accept: &str, body: &[u8]) -> Reply {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let request = Request { method, path, query, accept, body, content_type: PROTOBUF, ..Request::default() };
        self.api.answer(&mut self.store, &request, &Moment::default()).expect("it is served")
    }

    fn create(&mut self, name: &str) -> Reply {
        let map = json!({"metadata": {"name": name}, "data": {"b": "2", "a": "1"}});
        let body = json_to_protobuf("v1", "ConfigMap", map.to_string().as_bytes(), Release::NEWEST).expect("protobuf");
        self.ask("POST", MAPS, EITHER, &body)
    }
}

fn read(body: &[u8]) -> Value {
    serde_json::from_slice(&protobuf_to_json(body, Release::NEWEST).expect("protobuf").expect("JSON")).expect("JSON")
}

#[test]
fn objects_are_created_read_and_listed_in_protobuf() {
    let mut core = Core::new();
    let created = core.create("a");
    assert_eq!((created.code, &*created.content_type()), (201, PROTOBUF), "{}", created.text());
    let object = read(&created.body);
    assert_eq!((&object["kind"], &object["data"]["a"]), (&json!("ConfigMap"), &json!("1")));
    assert!(object["metadata"]["managedFields"][0]["fieldsV1"]["f:data"].is_object(), "{object}");
    core.create("b");

    let got = core.ask("GET", &format!("{MAPS}/a"), EITHER, b"");
    assert_eq!(got.body, created.body);
    let json: Value =
        serde_json::from_slice(&core.ask("GET", &format!("{MAPS}/a"), "application/json", b"").body).unwrap();
    assert_eq!(read(&got.body), json);

    let list = core.ask("GET", MAPS, PROTOBUF, b"");
    assert_eq!((list.code, &*list.content_type()), (200, PROTOBUF));
    assert!(list.body.starts_with(b"k8s\0\x0a\x13\x0a\x02v1\x12\x0dConfigMapList\x12"), "{:?}", list.body);
    // Items are the messages that stand in objects of their own.
    let message = &got.body[b"k8s\0\x0a\x0f\x0a\x02v1\x12\x09ConfigMap".len()..];
    let (length, message) = (usize::from(message[1] & 0x7f) | usize::from(message[2]) << 7, &message[3..]);
    assert!(memchr_of(&list.body, &message[..length]), "the list has the object");

    let deleted = core.ask("DELETE", MAPS, PROTOBUF, b"");
    assert!(deleted.body.starts_with(b"k8s\0"), "{:?}", deleted.body);
    let none = core.ask("GET", &format!("{MAPS}/a"), PROTOBUF, b"");
    assert_eq!(none.code, 404);
    assert!(none.body.starts_with(b"k8s\0"), "{:?}", none.body);
}

fn memchr_of(body: &[u8], part: &[u8]) -> bool {
    body.windows(part.len()).any(|window| window == part)
}

#[test]
fn a_watch_tells_objects_in_protobuf() {
    let mut core = Core::new();
    let created = core.create("a");
    let request = Request { path: MAPS, query: "watch=1", accept: PROTOBUF, ..Request::default() };
    let Some(Outcome::Watch(mut watch)) = core.api.prepare(&core.store, &request, &Moment::default()) else {
        panic!("a watch");
    };
    assert_eq!(watch.content_type(), "application/vnd.kubernetes.protobuf;stream=watch");
    let events = watch.next(&core.store, kubeshape_registry::Time(0)).expect("events");
    let (length, event) = events.split_at(4);
    assert_eq!(u32::from_be_bytes(length.try_into().unwrap()) as usize, event.len());
    assert!(event.starts_with(b"\x0a\x05ADDED\x12"), "{event:?}");
    assert!(event.ends_with(&created.body), "{event:?}");
}

#[test]
fn scales_are_read_and_written_in_protobuf() {
    let mut core = Core::new();
    let body = json!({"metadata": {"name": "web"}, "spec": {"replicas": 2, "selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}}});
    let body =
        json_to_protobuf("apps/v1", "Deployment", body.to_string().as_bytes(), Release::NEWEST).expect("protobuf");
    let path = "/apis/apps/v1/namespaces/default/deployments";
    let created = core.ask("POST", path, EITHER, &body);
    assert_eq!(created.code, 201, "{}", created.text());
    let scale = format!("{path}/web/scale");
    let mut found = read(&core.ask("GET", &scale, EITHER, b"").body);
    assert_eq!((&found["kind"], &found["apiVersion"]), (&json!("Scale"), &json!("autoscaling/v1")));
    assert_eq!(found["spec"]["replicas"], 2);
    found["spec"]["replicas"] = json!(5);
    let body =
        json_to_protobuf("autoscaling/v1", "Scale", found.to_string().as_bytes(), Release::NEWEST).expect("protobuf");
    let written = core.ask("PUT", &scale, EITHER, &body);
    assert_eq!(written.code, 200, "{}", written.text());
    assert_eq!(read(&written.body)["spec"]["replicas"], 5);
    assert_eq!(read(&core.ask("GET", &format!("{path}/web"), EITHER, b"").body)["spec"]["replicas"], 5);
}

#[test]
fn definitions_are_read_and_written_in_protobuf() {
    let mut core = Core::new();
    let definition = json!({
        "metadata": {"name": "tabs.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced", "names": {"plural": "tabs", "kind": "Tab"}, "versions": [
            {"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                "size": {"type": "integer", "default": 1, "enum": [1, 2]},
                "any": {"type": "object", "additionalProperties": {"type": "string"}}}}}}]}});
    let write = |definition: &Value| {
        let text = definition.to_string();
        json_to_protobuf("apiextensions.k8s.io/v1", "CustomResourceDefinition", text.as_bytes(), Release::NEWEST)
            .expect("protobuf")
    };
    let created = core.ask("POST", DEFINITIONS, EITHER, &write(&definition));
    assert_eq!((created.code, &*created.content_type()), (201, PROTOBUF), "{}", created.text());
    let mut found = read(&core.ask("GET", &format!("{DEFINITIONS}/tabs.example.com"), PROTOBUF, b"").body);
    let text = core.ask("GET", &format!("{DEFINITIONS}/tabs.example.com"), "application/json", b"");
    assert_eq!(found, serde_json::from_slice::<Value>(&text.body).expect("JSON"));
    let properties = "/spec/versions/0/schema/openAPIV3Schema/properties";
    assert_eq!(found.pointer(properties), definition.pointer(properties));

    found["spec"]["names"]["shortNames"] = json!(["t"]);
    let updated = core.ask("PUT", &format!("{DEFINITIONS}/tabs.example.com"), EITHER, &write(&found));
    assert_eq!(updated.code, 200, "{}", updated.text());
    assert_eq!(read(&updated.body)["spec"]["names"]["shortNames"], json!(["t"]));
    // What the server refuses in JSON, it refuses in protobuf.
    found["metadata"]["resourceVersion"] = read(&updated.body)["metadata"]["resourceVersion"].clone();
    found["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["size"]["default"] = json!("x");
    let refused = core.ask("PUT", &format!("{DEFINITIONS}/tabs.example.com"), "application/json", &write(&found));
    assert_eq!(refused.code, 422, "{}", refused.text());

    let list = core.ask("GET", DEFINITIONS, PROTOBUF, b"");
    assert_eq!((list.code, &*list.content_type()), (200, PROTOBUF));
    assert!(memchr_of(&list.body, b"CustomResourceDefinitionList"), "{:?}", list.body);
    let request = Request { path: DEFINITIONS, query: "watch=1", accept: PROTOBUF, ..Request::default() };
    let Some(Outcome::Watch(mut watch)) = core.api.prepare(&core.store, &request, &Moment::default()) else {
        panic!("a watch");
    };
    let events = watch.next(&core.store, kubeshape_registry::Time(0)).expect("events");
    assert!(events.ends_with(&updated.body), "{events:?}");
}

#[test]
fn custom_resources_and_tables_have_no_protobuf() {
    let mut core = Core::new();
    let definition = json!({
        "metadata": {"name": "tabs.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced", "names": {"plural": "tabs", "kind": "Tab"}, "versions": [
            {"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}]}});
    let body = json_to_protobuf(
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        definition.to_string().as_bytes(),
        Release::NEWEST,
    );
    assert_eq!(core.ask("POST", DEFINITIONS, EITHER, &body.expect("protobuf")).code, 201);
    let settled = core.api.settle(&mut core.store, 0, kubeshape_registry::Time(0)).expect("a new definition");
    core.api = settled.api;
    let path = "/apis/example.com/v1/namespaces/default/tabs";
    assert_eq!(core.ask("GET", path, PROTOBUF, b"").code, 406);
    assert_eq!(core.ask("GET", path, EITHER, b"").content_type(), "application/json");
    assert_eq!(core.ask("POST", path, EITHER, b"k8s\0").code, 415);
    for alternates in [false, true] {
        let request = Request {
            path: MAPS,
            accept: "application/vnd.kubernetes.protobuf;as=Table;g=meta.k8s.io;v=v1",
            alternates,
            ..Request::default()
        };
        let reply = core.api.answer(&mut core.store, &request, &Moment::default()).expect("it is served");
        assert_eq!(reply.code, 406, "a table has no protobuf");
        let request = Request { accept: PROTOBUF, ..request };
        let reply = core.api.answer(&mut core.store, &request, &Moment::default()).expect("it is served");
        assert_eq!((reply.code, &*reply.content_type()), (200, PROTOBUF));
    }
}
