//! Updates that create: kinds whose objects clients may write without asking whether they exist.

use crate::plugins::Server;
use serde_json::{Value, json};

#[test]
fn an_update_creates_an_object_of_some_kinds() {
    let mut server = Server::with(&[]);
    let path = "/api/v1/namespaces/default/endpoints/a";
    let endpoints = json!({"apiVersion": "v1", "kind": "Endpoints", "metadata": {"name": "a"}});
    let patched = server.patch(path, &endpoints);
    assert_eq!(patched.code, 404, "{}", patched.text());
    let created = server.send("PUT", path, &endpoints);
    assert_eq!(created.code, 201, "{}", created.text());
    let created: Value = serde_json::from_slice(&created.body).unwrap();
    assert_eq!(created["metadata"]["namespace"], json!("default"));
    assert!(created["metadata"]["uid"].is_string());
    assert_eq!(server.send("PUT", path, &endpoints).code, 200);
}

#[test]
fn an_update_of_other_kinds_needs_the_object() {
    let mut server = Server::with(&[]);
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
    let refused = server.send("PUT", "/api/v1/namespaces/default/configmaps/a", &map);
    assert_eq!(refused.code, 404, "{}", refused.text());
}
