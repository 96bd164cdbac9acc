//! Clients of objects that are many, slow, greedy or confused, or that conflict.

use crate::resources::{ALL, create, send, served, served_from};
use axum::body::Body;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt;
use kubeshape_objects::store::{Limits, Store};
use kubeshape_server::http::Http;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tower::Service;

const PATIENCE: Duration = Duration::from_mins(1);

async fn watch(http: &Http, query: &str) -> Body {
    let target = format!("{ALL}?watch=true{query}");
    let request = Request::builder().uri(target).body(Body::empty()).expect("a request");
    let response = http.clone().call(request).await.expect("an answer");
    assert_eq!(response.status(), StatusCode::OK);
    response.into_body()
}

/// Returns the next events of a watch; `None` at its end.
async fn events(body: &mut Body) -> Option<Vec<Value>> {
    let mut text = Vec::new();
    // An event can come in several frames.
    while !text.ends_with(b"\n") {
        let frame = tokio::time::timeout(PATIENCE, body.frame()).await.expect("in time")?;
        text.extend(frame.expect("a frame").into_data().expect("data"));
    }
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    Some(lines.map(|line| serde_json::from_slice(line).expect("an event")).collect())
}

/// Memory of this process in KiB.
#[cfg(target_os = "linux")]
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("the status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a line");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

#[cfg(not(target_os = "linux"))]
fn memory() -> u64 {
    0
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_watches_see_a_change_and_delay_nothing() {
    const WATCHES: usize = 10_000;
    /// The maximum memory of each, in KiB: other tests run in this process.
    const EACH: u64 = 24;
    let (http, objects) = served();
    create(&http, "a").await;
    let before = memory();
    let revision = objects.store().revision();
    let mut watches = Vec::with_capacity(WATCHES);
    for _ in 0..WATCHES {
        let mut body = watch(&http, &format!("&resourceVersion={revision}")).await;
        watches.push(tokio::spawn(async move {
            let told = events(&mut body).await.expect("an event");
            assert_eq!(told[0]["object"]["metadata"]["name"], "b");
            body
        }));
    }
    tokio::task::yield_now().await;
    let each = memory().saturating_sub(before) / WATCHES as u64;
    assert!(each <= EACH, "{each} KiB for each watch");
    let began = Instant::now();
    create(&http, "b").await;
    // Other requests are answered meanwhile.
    let (code, ..) = send(&http, "GET", &format!("{ALL}/b"), "", String::new()).await;
    assert_eq!(code, StatusCode::OK);
    let mut bodies = Vec::with_capacity(WATCHES);
    for watch in watches {
        bodies.push(watch.await.expect("no panic"));
    }
    assert!(began.elapsed() < PATIENCE, "{:?}", began.elapsed());
    objects.stop();
    for body in &mut bodies {
        assert!(events(body).await.is_none());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_stops_reading_a_watch_gets_an_error() {
    const CHANGES: usize = 200;
    let limits = Limits { changes: 100, history: 1 << 20, ..Limits::default() };
    let (http, objects) = served_from(Store::new(limits));
    create(&http, "a").await;
    let mut sleeping = watch(&http, "").await;
    let mut reading = watch(&http, "").await;
    assert_eq!(events(&mut sleeping).await.expect("an event").len(), 1);
    assert_eq!(events(&mut reading).await.expect("an event").len(), 1);
    let note = "x".repeat(30_000);
    for n in 0..CHANGES {
        let patch = json!({"note": format!("{n}{note}")}).to_string();
        let (code, ..) = send(&http, "PATCH", &format!("{ALL}/a"), "application/merge-patch+json", patch).await;
        assert_eq!(code, StatusCode::OK);
        let told = events(&mut reading).await.expect("an event");
        assert_eq!(told[0]["type"], "MODIFIED", "{n}");
    }
    // The history for slow readers is bounded.
    let store = objects.store();
    let kept = store.events_after(store.forgotten()).expect("the history");
    let bytes: usize = kept.iter().map(|event| event.object.json().len()).sum();
    assert!(kept.len() <= 100 && bytes <= 1 << 20, "{} changes, {bytes} bytes", kept.len());
    let last = events(&mut sleeping).await.expect("an event");
    assert_eq!((&last[0]["type"], &last[0]["object"]["code"]), (&json!("ERROR"), &json!(410)));
    assert!(events(&mut sleeping).await.is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn objects_of_megabytes_are_stored_or_refused() {
    let (http, objects) = served();
    let sized = |name: &str, bytes: usize| {
        let object = json!({"apiVersion": "example.com/v1", "kind": "Counter", "metadata": {"name": name}, "note": ""});
        let note = "x".repeat(bytes - object.to_string().len());
        object.to_string().replace("\"note\":\"\"", &format!("\"note\":\"{note}\""))
    };
    let ask = |body: String| send(&http, "POST", ALL, "application/json", body);
    let (code, ..) = ask(sized("a", 1_400_000)).await;
    assert_eq!(code, StatusCode::CREATED);
    let (code, _, status) = ask(sized("b", 3 << 20)).await;
    assert_eq!((code.as_u16(), &status["message"]), (500, &json!("etcdserver: request is too large")));
    let (code, _, status) = ask(sized("c", (3 << 20) + 1)).await;
    assert_eq!((code.as_u16(), &status["reason"]), (413, &json!("RequestEntityTooLarge")), "{status}");
    // Nor does an object grow beyond the limit by small patches.
    let patch = json!({"metadata": {"annotations": {"a": "x".repeat(200_000)}}}).to_string();
    let (code, ..) = send(&http, "PATCH", &format!("{ALL}/a"), "application/merge-patch+json", patch).await;
    assert_eq!(code.as_u16(), 500);
    let (code, _, list) = send(&http, "GET", ALL, "", String::new()).await;
    assert_eq!((code, list["items"].as_array().map(Vec::len)), (StatusCode::OK, Some(1)));
    assert_eq!(objects.store().len(), 1);
}

#[tokio::test]
async fn an_unknown_encoding_is_refused() {
    let (http, objects) = served();
    let object = r#"{"apiVersion":"example.com/v1","kind":"Counter","metadata":{"name":"a"}}"#;
    let utf16: Vec<u8> = object.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let latin = object.replace("\"a\"", "\"\u{e4}\"").chars().map(|c| c as u8).collect::<Vec<u8>>();
    for (headers, body, expected) in [
        (vec![("content-type", "text/plain")], object.as_bytes().to_vec(), 415),
        (vec![("content-type", "application/json"), ("accept", "image/png")], object.as_bytes().to_vec(), 406),
        (vec![("content-type", "application/json"), ("content-encoding", "br")], b"\x0b\x02\x80abc\x03".to_vec(), 400),
        (vec![("content-type", "application/json"), ("content-encoding", "gzip")], b"\x1f\x8b\x08\0\0\0".to_vec(), 400),
        (vec![("content-type", "application/json; charset=utf-16")], utf16, 400),
        (vec![("content-type", "application/json")], latin, 400),
        (vec![("content-type", "application/json")], b"\0".to_vec(), 400),
        (vec![("content-type", "application/vnd.kubernetes.protobuf")], b"k8s\0\xff".to_vec(), 415),
        (vec![("content-type", "application/json")], Vec::new(), 400),
    ] {
        let mut request = Request::builder().method("POST").uri(ALL).body(Body::from(body)).expect("a request");
        let map: HeaderMap = headers
            .iter()
            .map(|(name, value)| (name.parse().expect("a name"), value.parse().expect("a value")))
            .collect();
        *request.headers_mut() = map;
        let response = http.clone().call(request).await.expect("an answer");
        assert_eq!(response.status().as_u16(), expected, "{headers:?}");
    }
    assert_eq!(objects.store().len(), 0);
    let (code, ..) = send(&http, "POST", ALL, "application/json; charset=utf-8", object.to_owned()).await;
    assert_eq!(code, StatusCode::CREATED);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn applies_of_one_field_conflict_or_follow_each_other() {
    const CLIENTS: i64 = 8;
    const TIMES: i64 = 10;
    let (http, _) = served();
    let apply = |client: i64, force: bool, count: i64| {
        let object =
            json!({"apiVersion": "example.com/v1", "kind": "Counter", "metadata": {"name": "a"}, "count": count});
        let target = format!("{ALL}/a?fieldManager=m{client}&force={force}");
        let http = http.clone();
        async move { send(&http, "PATCH", &target, "application/apply-patch+yaml", object.to_string()).await }
    };
    // Without force, one of them gets the field, and all others get its owner.
    let first: Vec<_> = (0..CLIENTS).map(|client| tokio::spawn(apply(client, false, client + 1))).collect();
    let mut winners = Vec::new();
    let mut told = Vec::new();
    for (client, answer) in first.into_iter().enumerate() {
        let (code, _, body) = answer.await.expect("no panic");
        match code.as_u16() {
            200 | 201 => winners.push(client),
            409 => told.push(body["message"].as_str().expect("a message").to_owned()),
            other => panic!("{other} {body}"),
        }
    }
    assert_eq!(winners.len(), 1, "{winners:?}");
    let conflict = format!("conflict with \"m{}\": .count", winners[0]);
    assert!(told.iter().all(|message| message.contains(&conflict)), "{told:?}");
    // With force, they follow each other: revisions never repeat, and the last one wins.
    let clients: Vec<_> = (0..CLIENTS)
        .map(|client| {
            let writes = (0..TIMES).map(move |n| apply(client, true, 100 + client * TIMES + n)).collect::<Vec<_>>();
            tokio::spawn(async move {
                let mut written: Vec<(u64, i64)> = Vec::new();
                for write in writes {
                    let (code, _, object) = write.await;
                    assert_eq!(code, StatusCode::OK, "{object}");
                    let revision = object["metadata"]["resourceVersion"].as_str().expect("a revision").parse();
                    let written_now = (revision.expect("a number"), object["count"].as_i64().expect("a count"));
                    assert!(written.last().is_none_or(|last| last.0 < written_now.0));
                    written.push(written_now);
                }
                written
            })
        })
        .collect();
    let mut all: Vec<(u64, i64)> = Vec::new();
    for client in clients {
        all.extend(client.await.expect("no panic"));
    }
    all.sort_unstable();
    assert!(all.windows(2).all(|pair| pair[0].0 < pair[1].0), "{all:?}");
    let (_, _, object) = send(&http, "GET", &format!("{ALL}/a"), "", String::new()).await;
    let last = all.last().expect("a write");
    assert_eq!(object["count"], last.1);
    let owners = object["metadata"]["managedFields"].as_array().expect("managers");
    let owners: Vec<&Value> = owners.iter().filter(|entry| !entry["fieldsV1"]["f:count"].is_null()).collect();
    let owner = format!("m{}", (last.1 - 100) / TIMES);
    assert_eq!(owners.iter().map(|entry| &entry["manager"]).collect::<Vec<_>>(), [&json!(owner)]);
}
