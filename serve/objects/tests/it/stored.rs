//! Objects that were stored before their definition changed: they are read as the definition says now, and stay stored
//! as they were.

use kubeshape_objects::store::{Key, Saved, Store, Stored};
use kubeshape_objects::{Api, Documents, Moment, Outcome, Reply, Request};
use kubeshape_smd::managed::Time;
use serde_json::{Value, json};
use std::sync::Arc;

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const TABS: &str = "/apis/example.com/v1/namespaces/default/tabs";
const PAGES: &str = "/apis/example.com/v2/namespaces/default/tabs";

/// A server with a definition, and what it stores.
struct Server {
    api: Api,
    store: Store,
}

impl Server {
    fn new(properties: &Value) -> Server {
        let release = kubeshape_builtin::BuiltInDocuments::newest().api();
        let path = "apis/apiextensions.k8s.io/v1";
        let documents = [(path, release.openapi_v3(path).expect("a document").into())];
        let mut server =
            Server { api: Api::default().with_documents(Documents::new(documents)), store: Store::default() };
        let created = server.send("POST", DEFINITIONS, "application/json", &definition(properties, properties));
        assert_eq!(created.code, 201, "{}", created.text());
        server
    }

    fn send(&mut self, method: &str, target: &str, content_type: &str, body: &Value) -> Reply {
        let before = self.store.revision();
        let now = Time::parse("2026-01-02T03:04:05Z").expect("a time");
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let request = Request { method, path, query, content_type, body: body.as_bytes(), ..Request::default() };
        let uid = format!("00000000-0000-4000-8000-{before:012}");
        let moment = Moment { now, uid: &uid, random: before, ..Moment::default() };
        let reply = self.api.answer(&mut self.store, &request, &moment).expect("it is served");
        if let Some(settled) = self.api.settle(&mut self.store, before, now) {
            self.api = settled.api;
        }
        reply
    }

    /// Gives the schema of the versions other properties.
    fn define(&mut self, v1: &Value, v2: &Value) {
        let spec = json!({"spec": definition(v1, v2)["spec"]});
        let path = format!("{DEFINITIONS}/tabs.example.com");
        let patched = self.send("PATCH", &path, "application/merge-patch+json", &spec);
        assert_eq!(patched.code, 200, "{}", patched.text());
    }

    fn get(&mut self, target: &str) -> Value {
        serde_json::from_slice(&self.send("GET", target, "", &Value::Null).body).expect("JSON")
    }

    fn create(&mut self, name: &str, spec: &Value) {
        let tab = json!({"apiVersion": "example.com/v1", "kind": "Tab", "metadata": {"name": name}, "spec": spec});
        assert_eq!(self.send("POST", TABS, "application/json", &tab).code, 201);
    }

    /// Returns the `spec` of an object, as it is stored.
    fn stored(&self, name: &str) -> Value {
        let key = Key::new(&"tabs.example.com".into(), "default", name);
        let stored: Value = serde_json::from_str(self.store.get(&key).expect("it is stored").text()).expect("JSON");
        stored["spec"].clone()
    }

    /// What a watch from the beginning tells.
    fn watched(&self, query: &str) -> Vec<Value> {
        let query = format!("watch=1{query}");
        let request = Request { path: TABS, query: &query, ..Request::default() };
        let Some(Outcome::Watch(mut watch)) = self.api.prepare(&self.store, &request, &Moment::default()) else {
            panic!("a watch");
        };
        let events = watch.next(&self.store, Time(0)).expect("events");
        serde_json::Deserializer::from_slice(&events).into_iter().map(|event| event.expect("JSON")).collect()
    }
}

fn definition(v1: &Value, v2: &Value) -> Value {
    // What all versions have alike is one to the server, and it wants fields of selectors beside their schemas.
    let mut other = v2.clone();
    other["two"] = json!({"type": "integer"});
    let selectable = |storage: bool| json!([{"jsonPath": if storage { ".spec.size" } else { ".spec.two" }}]);
    let version = |name: &str, storage: bool, properties: &Value| {
        json!({"name": name, "served": true, "storage": storage, "selectableFields": selectable(storage),
            "additionalPrinterColumns": [{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}],
            "subresources": {"scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}},
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object", "properties": properties}}}}})
    };
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "tabs.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced", "names": {"plural": "tabs", "kind": "Tab"},
            "versions": [version("v1", true, v1), version("v2", false, &other)]},
    })
}

fn integers(names: &[&str]) -> Value {
    names.iter().map(|name| ((*name).to_owned(), json!({"type": "integer"}))).collect::<serde_json::Map<_, _>>().into()
}

#[test]
fn a_default_that_is_added_is_read_and_not_stored() {
    let fields = integers(&["size", "replicas", "old"]);
    let mut server = Server::new(&fields);
    server.create("a", &json!({"old": 1}));
    let revision = server.get(&format!("{TABS}/a"))["metadata"]["resourceVersion"].clone();
    let mut with_default = fields.clone();
    with_default["size"]["default"] = json!(3);
    server.define(&with_default, &fields);

    let read = json!({"old": 1, "size": 3});
    let one = server.get(&format!("{TABS}/a"));
    assert_eq!((&one["spec"], &one["metadata"]["resourceVersion"]), (&read, &revision));
    assert_eq!(server.get(TABS)["items"][0]["spec"], read);
    assert_eq!(server.watched("")[0]["object"]["spec"], read);
    // The defaults are those of the version in which it is stored, also for readers of others.
    assert_eq!(server.get(&format!("{PAGES}/a"))["spec"], read);
    assert_eq!(server.stored("a"), json!({"old": 1}));
    // Selectors and columns see what is read.
    assert_eq!(server.get(&format!("{TABS}?fieldSelector=spec.size%3D3"))["items"].as_array().map(Vec::len), Some(1));
    assert_eq!(server.watched("&fieldSelector=spec.size%3D3").len(), 1);
    let table = "application/json;as=Table;g=meta.k8s.io;v=v1";
    let request = Request { path: TABS, accept: table, ..Request::default() };
    let reply = server.api.answer(&mut server.store, &request, &Moment::default()).expect("it is served");
    let rows: Value = serde_json::from_slice(&reply.body).expect("JSON");
    assert_eq!(rows["rows"][0]["cells"], json!(["a", 3]));

    // Who sends back what was read changes what is stored.
    let updated = server.send("PUT", &format!("{TABS}/a"), "application/json", &one);
    assert_eq!(updated.code, 200, "{}", updated.text());
    assert_eq!(server.stored("a"), read);
    let again: Value = serde_json::from_slice(&updated.body).expect("JSON");
    assert_ne!(again["metadata"]["resourceVersion"], revision);
    let unchanged = server.send("PUT", &format!("{TABS}/a"), "application/json", &again);
    assert_eq!(serde_json::from_slice::<Value>(&unchanged.body).expect("JSON"), again);
}

#[test]
fn a_field_that_comes_back_has_its_value_again() {
    let fields = integers(&["size", "replicas", "old"]);
    let mut server = Server::new(&fields);
    server.create("a", &json!({"old": 1, "size": 2}));
    server.create("b", &json!({"old": 7}));
    let fewer = integers(&["size", "replicas"]);
    server.define(&fewer, &fewer);
    assert_eq!(server.get(&format!("{TABS}/a"))["spec"], json!({"size": 2}));
    assert_eq!(server.get(TABS)["items"][1]["spec"], json!({}));
    assert_eq!(server.watched("")[0]["object"]["spec"], json!({"size": 2}));
    assert_eq!(server.stored("a"), json!({"old": 1, "size": 2}));
    // A patch stores what it read: the field is lost with it.
    let patch = json!({"spec": {"size": 5}});
    let patched = server.send("PATCH", &format!("{TABS}/a"), "application/merge-patch+json", &patch);
    assert_eq!(patched.code, 200, "{}", patched.text());
    server.define(&fields, &fields);
    assert_eq!(server.get(&format!("{TABS}/a"))["spec"], json!({"size": 5}));
    assert_eq!(server.get(&format!("{TABS}/b"))["spec"], json!({"old": 7}));
}

#[test]
fn applies_and_scales_begin_with_what_is_read() {
    let fields = integers(&["size", "replicas", "old"]);
    let mut server = Server::new(&fields);
    server.create("a", &json!({"old": 1}));
    let mut now = integers(&["size", "replicas"]);
    now["size"]["default"] = json!(3);
    server.define(&now, &now);
    let apply =
        json!({"apiVersion": "example.com/v1", "kind": "Tab", "metadata": {"name": "a"}, "spec": {"replicas": 2}});
    let applied = server.send("PATCH", &format!("{TABS}/a?fieldManager=m"), "application/apply-patch+yaml", &apply);
    assert_eq!(applied.code, 200, "{}", applied.text());
    assert_eq!(server.stored("a"), json!({"replicas": 2, "size": 3}));
    let scale = json!({"spec": {"replicas": 4}});
    let scaled = server.send("PATCH", &format!("{TABS}/a/scale"), "application/merge-patch+json", &scale);
    assert_eq!(scaled.code, 200, "{}", scaled.text());
    assert_eq!(server.get(&format!("{TABS}/a"))["spec"], json!({"replicas": 4, "size": 3}));
}

#[test]
fn a_scale_that_makes_an_object_lets_it_have_defaults() {
    let mut fields = integers(&["size", "replicas"]);
    fields["size"]["default"] = json!(3);
    let mut server = Server::new(&fields);
    let tab = json!({"apiVersion": "example.com/v1", "kind": "Tab", "metadata": {"name": "a"}});
    assert_eq!(server.send("POST", TABS, "application/json", &tab).code, 201);
    let scale = json!({"spec": {"replicas": 4}});
    let scaled = server.send("PATCH", &format!("{TABS}/a/scale"), "application/merge-patch+json", &scale);
    assert_eq!(scaled.code, 200, "{}", scaled.text());
    assert_eq!(server.get(&format!("{TABS}/a"))["spec"], json!({"replicas": 4, "size": 3}));
}

#[test]
fn malformed_metadata_is_dropped_and_a_generation_counts_from_one() {
    let mut server = Server::new(&integers(&["size"]));
    let text = r#"{"apiVersion":"example.com/v1","kind":"Tab","metadata":{"labels":{"a":1},"name":"a","namespace":"default","resourceVersion":"9"},"spec":{"size":1}}"#;
    let key = Key::new(&"tabs.example.com".into(), "default", "a");
    let mut objects: Vec<_> = server.store.objects().map(|(key, object)| (key.clone(), Arc::clone(object))).collect();
    objects.push((key, Arc::new(Stored::new(9, format!("{text}\n").into()))));
    server.store =
        Store::restore(kubeshape_objects::store::Limits::default(), Saved { revision: 9, objects, ..Saved::default() });
    let read = server.get(&format!("{TABS}/a"));
    assert_eq!(read["metadata"].get("labels"), None, "{read}");
    assert_eq!(read["metadata"]["generation"], 1);
    assert_eq!(read["spec"], json!({"size": 1}));
}

#[test]
fn what_is_known_of_a_written_object_is_what_reading_finds() {
    let mut fields = integers(&["size", "replicas", "old"]);
    fields["size"]["default"] = json!(3);
    let mut server = Server::new(&fields);
    server.create("a", &json!({"old": 1, "none": 1}));
    server.create("b", &json!({"size": null}));
    let patch = json!({"spec": {"replicas": 2}});
    server.send("PATCH", &format!("{TABS}/b"), "application/merge-patch+json", &patch);
    server.send("PATCH", &format!("{PAGES}/a"), "application/merge-patch+json", &json!({"spec": {"size": null}}));
    let list = server.get(TABS);
    // Nothing is known of the objects of a store that comes back.
    let objects = server.store.objects().map(|(key, object)| (key.clone(), Arc::new(Stored::clone(object)))).collect();
    let saved = Saved { revision: server.store.revision(), objects, ..Saved::default() };
    server.store = Store::restore(kubeshape_objects::store::Limits::default(), saved);
    assert_eq!(server.get(TABS), list);
}

#[test]
fn a_watch_is_served_until_its_definition_changes() {
    let fields = integers(&["size"]);
    let mut server = Server::new(&fields);
    let request = Request { path: TABS, query: "watch=1", ..Request::default() };
    let Some(Outcome::Watch(watch)) = server.api.prepare(&server.store, &request, &Moment::default()) else {
        panic!("a watch");
    };
    assert!(watch.is_served(&server.api));
    // Labels of a definition change nothing.
    let path = format!("{DEFINITIONS}/tabs.example.com");
    let labels = json!({"metadata": {"labels": {"a": "b"}}});
    assert_eq!(server.send("PATCH", &path, "application/merge-patch+json", &labels).code, 200);
    assert!(watch.is_served(&server.api));
    server.define(&integers(&["size", "more"]), &fields);
    assert!(!watch.is_served(&server.api));
}

/// Properties whose list has items with a default of `bytes` bytes.
fn multiplied(bytes: usize) -> Value {
    let text = json!({"type": "string", "default": "x".repeat(bytes)});
    json!({"size": {"type": "integer"}, "list": {"type": "array", "items": {"type": "object", "properties": {"text": text}}}})
}

#[test]
fn defaults_do_not_multiply_without_a_bound() {
    let mut server = Server::new(&multiplied(100_000));
    let list = vec![json!({}); 100_000];
    let tab = json!({"apiVersion": "example.com/v1", "kind": "Tab", "metadata": {"name": "a"}, "spec": {"list": list}});
    let words = "the defaults of the schema add more than 8388608 bytes to the object";
    let created = server.send("POST", TABS, "application/json", &tab);
    assert_eq!(created.code, 400, "{}", created.text());
    assert!(created.text().contains(words), "{}", created.text());
    let target = format!("{TABS}/a?fieldManager=m");
    let applied = server.send("PATCH", &target, "application/apply-patch+yaml", &tab);
    assert_eq!(applied.code, 400, "{}", applied.text());
    assert!(applied.text().contains(words), "{}", applied.text());
}

#[test]
fn defaults_below_defaults_do_not_multiply_without_a_bound() {
    let items = || vec![json!({}); 1000];
    let level = |below: Value| {
        let items_schema = json!({"type": "object", "properties": {"list": below}});
        json!({"type": "array", "items": items_schema, "default": items()})
    };
    let nested = level(level(level(level(json!({"type": "array", "items": {"type": "object"}, "default": items()})))));
    let mut server = Server::new(&json!({"size": {"type": "integer"}, "list": nested}));
    let tab = json!({"apiVersion": "example.com/v1", "kind": "Tab", "metadata": {"name": "a"}, "spec": {}});
    let created = server.send("POST", TABS, "application/json", &tab);
    assert_eq!(created.code, 400, "{}", created.text());
    assert!(created.text().contains("add more than"), "{}", created.text());
}

#[test]
fn a_late_default_does_not_make_reads_explode() {
    let mut server = Server::new(&multiplied(1));
    server.create("small", &json!({"list": [{"text": ""}]}));
    server.create("large", &json!({"list": vec![json!({"text": null}); 10]}));
    for at in 0..20 {
        server.create(&format!("many-{at:02}"), &json!({"list": vec![json!({}); 50]}));
    }
    // Patches of the definition keep what is stored.
    let late = |bytes: usize| {
        let mut properties = multiplied(1);
        properties["late"] = json!({"type": "string", "default": "y".repeat(bytes)});
        properties
    };
    server.define(&late(400_000), &late(400_000));
    let read = server.send("GET", &format!("{TABS}/many-01"), "", &Value::Null);
    assert_eq!(read.code, 200);
    assert!(read.body.len() > 400_000);
    let mut properties = late(1);
    properties["list"]["items"]["properties"]["more"] = json!({"type": "string", "default": "z".repeat(400_000)});
    server.define(&properties, &properties);
    let read = server.send("GET", &format!("{TABS}/many-01"), "", &Value::Null);
    assert_eq!(read.code, 500, "{}", read.body.len());
    assert!(read.text().contains("add more than 8388608 bytes"), "{}", read.text());
    assert_eq!(server.send("GET", &format!("{TABS}/small"), "", &Value::Null).code, 200);
    properties["list"]["items"]["properties"]["more"] = json!({"type": "string", "default": "z".repeat(100_000)});
    server.define(&properties, &properties);
    assert_eq!(server.send("GET", &format!("{TABS}/many-01"), "", &Value::Null).code, 200);
    let listed = server.send("GET", TABS, "", &Value::Null);
    assert_eq!(listed.code, 500, "{}", listed.body.len());
    assert!(listed.text().contains("request fewer objects with the parameter limit"), "{}", listed.text());
    assert_eq!(server.send("GET", &format!("{TABS}?limit=5"), "", &Value::Null).code, 200);
    server.define(&multiplied(1), &multiplied(1));
    assert_eq!(server.send("GET", TABS, "", &Value::Null).code, 200);
}

#[test]
fn the_size_is_checked_before_the_rules() {
    let pattern = json!({"type": "array", "items": {"type": "string", "pattern": "^a+$"}});
    let mut server = Server::new(&json!({"size": {"type": "integer"}, "list": pattern}));
    let list = vec!["b".repeat(100); 20_000];
    let tab = json!({"apiVersion": "example.com/v1", "kind": "Tab", "metadata": {"name": "a"}, "spec": {"list": list}});
    let created = server.send("POST", TABS, "application/json", &tab);
    assert_eq!(created.code, 500, "{}", created.body.len());
    assert!(created.text().contains("etcdserver: request is too large"), "{}", created.text());
}
