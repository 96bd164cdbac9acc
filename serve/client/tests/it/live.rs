//! Live objects of a server.

use crate::server::Server;
use kubeshape_client::{Client, Limits, WantedObjects};

const GROUPS: &str = r#"{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[
  {"metadata":{"name":"apps"},"versions":[{"version":"v1","resources":[
    {"resource":"deployments","singularResource":"deployment","scope":"Namespaced","responseKind":{"kind":"Deployment"},
     "shortNames":["deploy"],"verbs":["list","patch"]},
    {"resource":"reviews","singularResource":"review","scope":"Cluster","responseKind":{"kind":"Review"},"verbs":["create"]}]}]}]}"#;
const CORE: &str = r#"{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[
  {"metadata":{},"versions":[{"version":"v1","resources":[
    {"resource":"nodes","singularResource":"node","scope":"Cluster","responseKind":{"kind":"Node"},"verbs":["list","patch"]}]}]}]}"#;

fn server() -> Server {
    let server = Server::default();
    server.ok("/apis", GROUPS).ok("/api", CORE).ok("/version", r#"{"major":"1","minor":"36","gitVersion":"v1.36.3"}"#);
    let web = r#"{"kind":"DeploymentList","items":[{"metadata":{"name":"web","namespace":"shop"},"spec":{}}]}"#;
    server.ok("/apis/apps/v1/deployments?limit=250", web);
    server.ok("/apis/apps/v1/namespaces/shop/deployments?limit=250", web);
    server.ok("/api/v1/nodes?limit=250", r#"{"items":[{"metadata":{"name":"n"}}]}"#);
    server
}

async fn paths(wanted: WantedObjects) -> Vec<String> {
    let server = server();
    let live = Client::new(&server, Limits::default()).live(&wanted).await.expect("discovery");
    assert_eq!(live.failures, []);
    live.objects.into_iter().map(|object| object.path).collect()
}

#[tokio::test]
async fn everything_that_can_be_patched_is_listed() {
    let web = "/apis/apps/v1/namespaces/shop/deployments/web".to_owned();
    let mut all = paths(WantedObjects::default()).await;
    all.sort();
    assert_eq!(all, ["/api/v1/nodes/n".to_owned(), web.clone()]);
    let resources = vec!["deploy".to_owned()];
    assert_eq!(paths(WantedObjects { resources, ..WantedObjects::default() }).await, std::slice::from_ref(&web));
    let namespace = Some("shop".to_owned());
    assert_eq!(paths(WantedObjects { namespace, ..WantedObjects::default() }).await, [web]);
}

#[tokio::test]
async fn items_get_their_kind_and_refused_lists_are_named() {
    let server = server();
    server.forget("/api/v1/nodes?limit=250");
    let live = Client::new(&server, Limits::default()).live(&WantedObjects::default()).await.expect("discovery");
    let object: serde_json::Value = serde_json::from_slice(&live.objects[0].bytes).expect("JSON");
    assert_eq!((object["apiVersion"].as_str(), object["kind"].as_str()), (Some("apps/v1"), Some("Deployment")));
    assert_eq!(live.failures.iter().map(|error| error.path.as_str()).collect::<Vec<_>>(), ["/api/v1/nodes"]);
}
