//! CustomResourceDefinitions as objects.

use kubeshape_objects::store::Store;
use kubeshape_objects::{Api, Documents, Moment, Reply, Request};
use kubeshape_smd::managed::Time;
use serde_json::{Value, json};

const PATH: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// A server of definitions, and what it stores.
struct Server {
    api: Api,
    store: Store,
}

impl Server {
    fn new() -> Server {
        let release = kubeshape_builtin::Release::newest().api();
        let documents = ["apis/apiextensions.k8s.io/v1", "api/v1", "apis/apps/v1"]
            .map(|path| (path, release.openapi_v3(path).expect("a document").into()));
        Server { api: Api::default().with_documents(Documents::new(documents)), store: Store::default() }
    }

    fn send(&mut self, method: &str, path: &str, content_type: &str, body: &str) -> Reply {
        let before = self.store.revision();
        let now = Time::parse("2026-01-02T03:04:05Z").expect("a time");
        let request = Request { method, path, content_type, body: body.as_bytes(), ..Request::default() };
        let uid = format!("00000000-0000-4000-8000-{before:012}");
        let moment = Moment { now, uid: &uid, random: before };
        let reply = self.api.answer(&mut self.store, &request, &moment).expect("it is served");
        if let Some(settled) = self.api.settle(&mut self.store, before, now) {
            self.api = settled.api;
        }
        reply
    }

    fn get(&mut self, path: &str) -> Value {
        serde_json::from_slice(&self.send("GET", path, "", "").body).expect("JSON")
    }
}

fn tabs() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "tabs.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced", "names": {"plural": "tabs", "kind": "Tab", "shortNames": ["t"]},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "properties": {"size": {"type": "integer", "default": 1}}}}}],
        },
    })
}

#[test]
fn a_definition_is_established_and_served() {
    let mut server = Server::new();
    let created = server.send("POST", PATH, "application/json", &tabs().to_string());
    assert_eq!(created.code, 201);
    let owned = |object: &Value| object["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"].clone();
    let first: Value = serde_json::from_slice(&created.body).expect("JSON");
    println!("{}", owned(&first));
    let later = server.get(&format!("{PATH}/tabs.example.com"));
    println!("{}", later["metadata"]["managedFields"]);
    panic!();
}
