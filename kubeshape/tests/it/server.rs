//! The API server for tests.

use http::Request;
use http_body_util::{BodyExt, Full};
use kubeshape::test::Server;
use serde_json::{Value, json};
use std::time::{Duration, SystemTime};
use tower::ServiceExt;

const TABS: &str = "/apis/example.com/v1/namespaces/default/tabs";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

fn definition() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "tabs.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced", "names": {"plural": "tabs", "kind": "Tab"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "properties": {"size": {"type": "integer", "minimum": 1}}}}}],
        },
    })
}

fn tab(name: &str) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Tab", "metadata": {"name": name}})
}

async fn send(server: &Server, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
    let text = body.map(Value::to_string).unwrap_or_default();
    let request = Request::builder().method(method).uri(path).header("content-type", "application/json");
    let response = server.service().oneshot(request.body(Full::from(text)).unwrap()).await.unwrap();
    let code = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (code, serde_json::from_slice(&body).unwrap_or(Value::Null))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_definition_is_published_and_its_objects_are_served() {
    let server = Server::new();
    assert_eq!(send(&server, "GET", TABS, None).await.0, 404);
    assert_eq!(send(&server, "POST", DEFINITIONS, Some(&definition())).await.0, 201);
    let (code, created) = send(&server, "POST", TABS, Some(&tab("a"))).await;
    assert_eq!((code, &created["metadata"]["generation"]), (201, &json!(1)));
    let (_, resources) = send(&server, "GET", "/apis/example.com/v1", None).await;
    assert_eq!(resources["resources"][0]["name"], "tabs");
    let (code, document) = send(&server, "GET", "/openapi/v3/apis/example.com/v1", None).await;
    assert_eq!((code, &document["openapi"]), (200, &json!("3.0.0")));
    let (_, core) = send(&server, "GET", "/api/v1", None).await;
    let names = core["resources"].as_array().unwrap().iter();
    assert!(names.clone().any(|resource| resource["name"] == "configmaps"));

    let mut wrong = tab("b");
    wrong["size"] = 0.into();
    let (code, status) = send(&server, "POST", TABS, Some(&wrong)).await;
    assert_eq!((code, &status["reason"]), (422, &json!("Invalid")));
    assert_eq!(send(&server, "DELETE", &format!("{DEFINITIONS}/tabs.example.com"), None).await.0, 200);
    assert_eq!(send(&server, "GET", TABS, None).await.0, 404);
    assert_eq!(send(&server, "GET", "/openapi/v3/apis/example.com/v1", None).await.0, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watch_reports_changes_of_others() {
    let server = Server::new();
    server.load("definition.json", definition().to_string()).unwrap();
    let request = Request::get(format!("{TABS}?watch=1")).body(Full::<bytes::Bytes>::default()).unwrap();
    let mut events = server.service().oneshot(request).await.unwrap().into_body();
    let other = server.clone();
    let written = tokio::spawn(async move { send(&other, "POST", TABS, Some(&tab("a"))).await });
    let event = events.frame().await.unwrap().unwrap().into_data().unwrap();
    let event: Value = serde_json::from_slice(&event).unwrap();
    assert_eq!((&event["type"], &event["object"]["metadata"]["name"]), (&json!("ADDED"), &json!("a")));
    assert_eq!(written.await.unwrap().0, 201);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watch_ends_when_its_definition_changes() {
    let server = Server::new();
    server.load("definition.json", definition().to_string()).unwrap();
    server.load("a.json", tab("a").to_string()).unwrap();
    let request = Request::get(format!("{TABS}?watch=1")).body(Full::<bytes::Bytes>::default()).unwrap();
    let mut events = server.service().oneshot(request).await.unwrap().into_body();
    assert!(events.frame().await.is_some(), "the object that is there");
    let mut changed = definition();
    changed["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["size"]["default"] = json!(7);
    let path = format!("{DEFINITIONS}/tabs.example.com");
    let (_, stored) = send(&server, "GET", &path, None).await;
    changed["metadata"]["resourceVersion"] = stored["metadata"]["resourceVersion"].clone();
    assert_eq!(send(&server, "PUT", &path, Some(&changed)).await.0, 200);
    let end = tokio::time::timeout(Duration::from_secs(30), events.frame()).await.expect("the watch ends");
    assert!(end.is_none(), "{end:?}");
    assert_eq!(send(&server, "GET", &format!("{TABS}/a"), None).await.1["size"], 7);
}

#[tokio::test(flavor = "multi_thread")]
async fn extensions_can_be_enabled() {
    for (server, on) in [(Server::new(), false), (Server::builder().extensions(true).start(), true)] {
        let request = Request::get("/api/v1/configmaps").header("accept", "text/csv");
        let response = server.service().oneshot(request.body(Full::<bytes::Bytes>::default()).unwrap()).await.unwrap();
        assert_eq!(response.status().as_u16(), if on { 200 } else { 406 });
        assert_eq!(send(&server, "GET", "/apis/meta.k8s.io/v1", None).await.0, if on { 200 } else { 404 });
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_test_sets_times_and_revisions() {
    let server = Server::new();
    server.load("definition.json", definition().to_string()).unwrap();
    server.set_time(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000));
    server.advance_revision(4711);
    let (_, created) = send(&server, "POST", TABS, Some(&tab("a"))).await;
    assert_eq!(created["metadata"]["creationTimestamp"], "2001-09-09T01:46:40Z");
    assert_eq!(created["metadata"]["resourceVersion"], "4712");
    server.advance_revision(1);
    let (_, created) = send(&server, "POST", TABS, Some(&tab("b"))).await;
    assert_eq!(created["metadata"]["resourceVersion"], "4713");
}

#[test]
fn refusals_have_their_location() {
    let server = Server::new();
    let text =
        format!("{}\n---\napiVersion: example.com/v1\nkind: Tab\nmetadata: {{name: a}}\nsize: 0\n", definition());
    let error = server.load("objects.yaml", text).unwrap_err().to_string();
    assert!(error.starts_with("objects.yaml:3:1: KS8101 "), "{error}");
    assert!(error.contains("should be greater than or equal to 1"), "{error}");
}
