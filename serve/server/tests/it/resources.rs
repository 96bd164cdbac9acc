//! Objects over HTTP.

use crate::common::{endpoints, snapshot};
use axum::body::Body;
use flate2::read::MultiGzDecoder;
use http::{Request, StatusCode};
use http_body_util::BodyExt;
use kubeshape_objects::{Api, store::Store};
use kubeshape_registry::Registry;
use kubeshape_schema::Release;
use kubeshape_server::http::Http;
use kubeshape_server::{Emulation, Endpoints, Objects};
use serde_json::{Value, json};
use std::io::Read;
use std::sync::Arc;
use std::time::Duration;
use tower::Service;

const COUNTERS: &str = r"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: counters.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: counters, kind: Counter}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {count: {type: integer, default: 0}, note: {type: string}}}}
";
pub(crate) const ALL: &str = "/apis/example.com/v1/namespaces/default/counters";

pub(crate) fn served() -> (Http, Arc<Objects>) {
    served_from(Store::default())
}

pub(crate) fn served_from(store: Store) -> (Http, Arc<Objects>) {
    let (endpoints, objects) = with_objects(store);
    (Http::new(endpoints), objects)
}

pub(crate) fn with_objects(store: Store) -> (Endpoints, Arc<Objects>) {
    let mut registry = Registry::default();
    registry.set_input("c", kubeshape_input::read("c.yaml", COUNTERS.as_bytes(), kubeshape_input::Limits::default()));
    let objects = Arc::new(Objects::new(Api::new(registry), store));
    (Endpoints { objects: Some(Arc::clone(&objects)), ..endpoints(snapshot(0), false) }, objects)
}

pub(crate) async fn send(
    http: &Http,
    method: &str,
    target: &str,
    media: &str,
    body: String,
) -> (StatusCode, http::HeaderMap, Value) {
    let request = Request::builder().method(method).uri(target).header("Content-Type", media);
    let request = request.body(Body::from(body)).expect("a request");
    let response = http.clone().call(request).await.expect("an answer");
    let (head, body) = response.into_parts();
    let body = body.collect().await.expect("a body").to_bytes();
    (head.status, head.headers, serde_json::from_slice(&body).unwrap_or(Value::Null))
}

pub(crate) async fn create(http: &Http, name: &str) -> Value {
    let body = json!({"apiVersion": "example.com/v1", "kind": "Counter", "metadata": {"name": name}}).to_string();
    let (code, _, object) = send(http, "POST", ALL, "application/json", body).await;
    assert_eq!(code, StatusCode::CREATED, "{object}");
    object
}

#[tokio::test]
async fn an_object_is_created_read_and_deleted() {
    let (http, objects) = served();
    let made = create(&http, "a").await;
    let (code, headers, found) = send(&http, "GET", &format!("{ALL}/a"), "", String::new()).await;
    assert_eq!((code, &found), (StatusCode::OK, &made));
    assert_eq!(headers["content-type"], "application/json");
    assert_eq!(headers["cache-control"], "no-cache, private");
    let body = json!({"apiVersion": "example.com/v1", "kind": "Counter", "metadata": {"name": "b"}, "x": "\"é\""});
    let (_, headers, _) = send(&http, "POST", ALL, "application/json", body.to_string()).await;
    assert_eq!(headers["warning"], r#"299 - "unknown field \"x\"""#);
    let (code, ..) = send(&http, "DELETE", &format!("{ALL}/a"), "", String::new()).await;
    assert_eq!(code, StatusCode::OK);
    assert_eq!(send(&http, "GET", &format!("{ALL}/a"), "", String::new()).await.0, StatusCode::NOT_FOUND);
    assert_eq!(objects.store().len(), 1);
    // Paths that are not served are answered as before.
    assert_eq!(send(&http, "GET", "/apis/example.com/v1/namespaces/default/none", "", String::new()).await.0, 404);
    assert_eq!(send(&http, "GET", "/apis/apps/v1", "", String::new()).await.0, StatusCode::OK);
}

/// Each of many clients increments one counter: it reads, adds, and writes until there is no conflict.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn writers_of_one_object_never_lose_each_others_writes() {
    const CLIENTS: i64 = 8;
    const TIMES: i64 = 20;
    let (http, objects) = served();
    create(&http, "a").await;
    let before = objects.store().revision();
    let target = format!("{ALL}/a");
    let clients = (0..CLIENTS).map(|client| {
        let (http, target) = (http.clone(), target.clone());
        tokio::spawn(async move {
            for n in 0..TIMES {
                loop {
                    let (_, _, mut object) = send(&http, "GET", &target, "", String::new()).await;
                    object["count"] = json!(object["count"].as_i64().expect("a count") + 1);
                    object["note"] = json!(format!("{client} {n}"));
                    match send(&http, "PUT", &target, "application/json", object.to_string()).await.0 {
                        StatusCode::OK => break,
                        StatusCode::CONFLICT => {}
                        other => panic!("{other}"),
                    }
                }
                // A patch that names no revision never conflicts.
                let patch = json!({"metadata": {"labels": {format!("c{client}"): n.to_string()}}}).to_string();
                let (code, ..) = send(&http, "PATCH", &target, "application/merge-patch+json", patch).await;
                assert_eq!(code, StatusCode::OK);
            }
        })
    });
    for client in clients.collect::<Vec<_>>() {
        client.await.expect("no panic");
    }
    let (_, _, object) = send(&http, "GET", &target, "", String::new()).await;
    assert_eq!(object["count"], CLIENTS * TIMES);
    for client in 0..CLIENTS {
        assert_eq!(object["metadata"]["labels"][format!("c{client}")], (TIMES - 1).to_string());
    }
    assert_eq!(objects.store().revision(), before + (2 * CLIENTS * TIMES).cast_unsigned());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watch_sees_changes_immediately_and_ends_when_the_server_stops() {
    let (http, objects) = served();
    create(&http, "a").await;
    let request = Request::builder().uri(format!("{ALL}?watch=true")).body(Body::empty()).expect("a request");
    let response = http.clone().call(request).await.expect("an answer");
    assert_eq!(response.status(), StatusCode::OK);
    let mut body = response.into_body();
    let mut next = async || {
        let frame = tokio::time::timeout(Duration::from_secs(10), body.frame()).await.expect("in time");
        let text = frame?.expect("a frame").into_data().expect("data");
        Some(serde_json::from_slice::<Value>(&text).expect("an event"))
    };
    assert_eq!(next().await.expect("an event")["object"]["metadata"]["name"], "a");
    create(&http, "b").await;
    let told = next().await.expect("an event");
    assert_eq!((&told["type"], &told["object"]["metadata"]["name"]), (&json!("ADDED"), &json!("b")));
    objects.stop();
    assert!(next().await.is_none());
}

#[tokio::test]
async fn a_watch_lasts_as_long_as_the_client_wants() {
    let (http, _) = served();
    let target = format!("{ALL}?watch=true&timeoutSeconds=1");
    let began = std::time::Instant::now();
    let (code, ..) = send(&http, "GET", &target, "", String::new()).await;
    assert_eq!(code, StatusCode::OK);
    assert!(began.elapsed() >= Duration::from_millis(900));
}

/// The whole answer to a watch of a second, and the `Content-Encoding`.
async fn watched(http: &Http, query: &str) -> (String, Vec<u8>) {
    let uri = format!("{ALL}?watch=true&timeoutSeconds=1&{query}");
    let request = Request::builder().uri(uri).header("Accept-Encoding", "gzip").body(Body::empty()).expect("a request");
    let response = http.clone().call(request).await.expect("an answer");
    let encoding = response.headers().get("content-encoding").map(|value| value.to_str().expect("ASCII").to_owned());
    (encoding.unwrap_or_default(), response.into_body().collect().await.expect("a body").to_bytes().to_vec())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watch_in_place_of_a_list_is_compressed_since_1_37() {
    const LIST: &str =
        "sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&resourceVersion=";
    let (endpoints, _objects) = with_objects(Store::default());
    let of = |minor| Emulation::new(Release::of_minor(minor), &[]).ok();
    let [old, new] = [36, 37].map(|minor| Http::new(Endpoints { emulation: of(minor), ..endpoints.clone() }));
    create(&new, "a").await;
    let later = tokio::spawn({
        let new = new.clone();
        async move {
            tokio::time::sleep(Duration::from_millis(300)).await;
            create(&new, "b").await;
        }
    });
    let (encoding, body) = watched(&new, LIST).await;
    later.await.expect("no panic");
    assert_eq!(encoding, "gzip");
    let mut text = String::new();
    MultiGzDecoder::new(&*body).read_to_string(&mut text).expect("gzip");
    let events: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("an event")).collect();
    let types: Vec<&str> = events.iter().filter_map(|event| event["type"].as_str()).collect();
    assert_eq!(types, ["ADDED", "BOOKMARK", "ADDED"]);
    // Events that are sent together are a member of their own, so that clients can read them at once.
    let mut first = String::new();
    flate2::bufread::GzDecoder::new(&*body).read_to_string(&mut first).expect("gzip");
    assert_eq!(first.lines().count(), 2);
    // Other watches are plain, and all of them were before.
    for (http, query) in [(&new, "sendInitialEvents=false"), (&new, "allowWatchBookmarks=true"), (&old, LIST)] {
        let (encoding, body) = watched(http, query).await;
        assert_eq!(encoding, "", "{query}");
        assert!(body.starts_with(b"{\"type\":\"ADDED\""), "{query}");
    }
}

#[tokio::test]
async fn dependents_go_with_the_request_that_deletes_their_owner() {
    let (http, _) = served();
    create(&http, "owner").await;
    let (_, _, owner) = send(&http, "GET", &format!("{ALL}/owner"), "", String::new()).await;
    let reference =
        json!({"apiVersion": "example.com/v1", "kind": "Counter", "name": "owner", "uid": owner["metadata"]["uid"]});
    let dependent = json!({"apiVersion": "example.com/v1", "kind": "Counter",
        "metadata": {"name": "dependent", "ownerReferences": [reference]}});
    let (code, ..) = send(&http, "POST", ALL, "application/json", dependent.to_string()).await;
    assert_eq!(code, StatusCode::CREATED);
    let (code, ..) = send(&http, "DELETE", &format!("{ALL}/owner"), "", String::new()).await;
    assert_eq!(code, StatusCode::OK);
    let (code, ..) = send(&http, "GET", &format!("{ALL}/dependent"), "", String::new()).await;
    assert_eq!(code, StatusCode::NOT_FOUND);
}

/// More dependents than a deletion waits for go soon after it, and others write meanwhile.
#[tokio::test]
async fn many_dependents_go_in_portions() {
    let (http, _) = served();
    create(&http, "owner").await;
    let (_, _, owner) = send(&http, "GET", &format!("{ALL}/owner"), "", String::new()).await;
    let reference =
        json!({"apiVersion": "example.com/v1", "kind": "Counter", "name": "owner", "uid": owner["metadata"]["uid"]});
    for n in 0..1_500 {
        let dependent = json!({"apiVersion": "example.com/v1", "kind": "Counter",
            "metadata": {"name": format!("dependent-{n}"), "ownerReferences": [reference]}});
        let (code, ..) = send(&http, "POST", ALL, "application/json", dependent.to_string()).await;
        assert_eq!(code, StatusCode::CREATED);
    }
    let (code, ..) = send(&http, "DELETE", &format!("{ALL}/owner"), "", String::new()).await;
    assert_eq!(code, StatusCode::OK);
    let mut written = 0;
    loop {
        create(&http, &format!("other-{written}")).await;
        written += 1;
        let (_, _, all) = send(&http, "GET", ALL, "", String::new()).await;
        let names = all["items"].as_array().into_iter().flatten().filter_map(|item| item["metadata"]["name"].as_str());
        let left = names.filter(|name| name.starts_with("dependent-")).count();
        if left == 0 {
            break;
        }
        assert!(written < 10_000, "{left} objects are left");
    }
}
