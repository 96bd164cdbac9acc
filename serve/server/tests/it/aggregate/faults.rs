//! Downstream servers that fail, lie or attack: they cost a bounded time and size, their last known state is kept, and
//! other servers are not affected.

use super::fake::{
    Fake, Reply, Seen, aggregate, answer, discovery, documents, has, head, healthy, index, json, missing, quick, shown,
};
use kubeshape_discovery::Freshness;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::time::{Instant, timeout};

/// Returns all possible faults in the response to a request for a document.
fn faults(path: &'static str) -> Vec<(&'static str, Reply)> {
    let good = if path == "/apis" { discovery(&["x.io/v9"], "wrong") } else { index(&["x.io/v9"], "99") };
    let chunked = head(200, &[("Transfer-Encoding", "chunked")]) + "\r\n";
    let length = |n: usize| head(200, &[]) + &format!("Content-Length: {n}\r\n\r\n");
    let half = &good.as_bytes()[..good.len() / 2];
    vec![
        ("hangs before the headers", Reply::Hang(Vec::new())),
        ("hangs in the headers", Reply::Hang(b"HTTP/1.1 200 OK\r\nContent-".to_vec())),
        ("hangs before the body", Reply::Hang(length(good.len()).into_bytes())),
        ("hangs in the body", Reply::Hang([length(good.len()).as_bytes(), half].concat())),
        ("closes at once", Reply::Close(Vec::new())),
        ("resets at once", Reply::Reset(Vec::new())),
        ("resets in the body", Reply::Reset([length(good.len()).as_bytes(), half].concat())),
        ("promises more than it sends", Reply::Close([length(good.len() + 1).as_bytes(), good.as_bytes()].concat())),
        ("promises less than it sends", Reply::Close([length(good.len() - 1).as_bytes(), good.as_bytes()].concat())),
        ("promises 1 GB", Reply::Hang(length(1 << 30).into_bytes())),
        (
            "promises two lengths",
            Reply::Close(
                format!("{}Content-Length: 3\r\n\r\n{good}", head(200, &[("Content-Length", "5")])).into_bytes(),
            ),
        ),
        ("sends 1 GB", Reply::Flood(chunked.clone().into_bytes())),
        ("ends without the last chunk", Reply::Close(format!("{chunked}{:x}\r\n{good}\r\n", good.len()).into_bytes())),
        ("sends a chunk of no size", Reply::Close(format!("{chunked}zz\r\n{good}\r\n0\r\n\r\n").into_bytes())),
        ("drips", Reply::Drip(length(good.len()).into_bytes(), Duration::from_millis(20))),
        (
            "sends endless headers",
            Reply::Hang([&b"HTTP/1.1 200 OK\r\n"[..], &b"X-Y: zzzzzzzzzzzz\r\n".repeat(20_000)].concat()),
        ),
        ("speaks no HTTP", Reply::Close(b"220 mail ready\r\n\r\n".to_vec())),
        ("sends broken JSON", json(&good[..good.len() - 2])),
        ("sends HTML", answer(200, &[("Content-Type", "text/html")], "<html></html>")),
        ("sends nothing", json("")),
        ("sends an array", json("[]")),
        ("sends deep JSON", json("[".repeat(30_000))),
        ("sends no UTF-8", json(b"{\"kind\":\"\xff\",\"paths\":{\"\xff\":{}}}")),
        ("says that nothing changed", answer(304, &[("Etag", "\"x\"")], "")),
        ("has no content", answer(204, &[], "")),
        ("sends a part", answer(206, &[("Content-Range", "bytes 0-1/2")], &good)),
        ("refuses the token", answer(401, &[], "")),
        ("forbids", answer(403, &[], "")),
        ("fails", answer(500, &[], &good)),
        ("is unavailable", answer(503, &[("Retry-After", "1")], "")),
        ("encodes as nobody asked", answer(200, &[("Content-Encoding", "br")], &good)),
        ("says gzip and is none", answer(200, &[("Content-Encoding", "gzip")], &good)),
        ("redirects without a place", answer(302, &[], "")),
        ("redirects to itself", answer(302, &[("Location", path)], "")),
    ]
}

/// Tries a fault on a server that was healthy until then.
async fn try_fault(path: &'static str, name: &str, reply: Reply) {
    let fine = Arc::new(AtomicBool::new(true));
    let (is_fine, fault) = (Arc::clone(&fine), reply);
    let fake = Fake::start(move |seen| {
        if seen.path() == path && !is_fine.load(Ordering::SeqCst) {
            return fault.clone();
        }
        healthy(seen, &["a.io/v1"])
    })
    .await;
    let mut watched = aggregate(vec![fake.options("")]);
    let good = watched.complete().await;
    fine.store(false, Ordering::SeqCst);
    let start = Instant::now();
    if path == "/apis" {
        let stale = watched.until(|state| has(&state.groups, Freshness::Stale)).await;
        assert_eq!(shown(&stale.groups), ["a.io/v1 Stale things"], "{name}");
        assert_eq!(documents(&stale), documents(&good), "{name}");
    } else {
        let asked = fake.asked(path, 0).await.len();
        fake.asked(path, asked + 2).await;
        assert!(watched.states.try_recv().is_err(), "{name}: the documents stay, and discovery is as it was");
    }
    assert!(start.elapsed() < Duration::from_secs(4), "{name}: {:?}", start.elapsed());
    // The system buffers megabytes for a socket that is not read.
    assert!(fake.sent() < 32 << 20, "{name}: {} bytes were taken", fake.sent());
    fine.store(true, Ordering::SeqCst);
    if path == "/apis" {
        watched.until(|state| state.groups == good.groups).await;
    }
}

#[tokio::test]
async fn discovery_with_faults_is_stale() {
    let mut tries = tokio::task::JoinSet::new();
    for (name, reply) in faults("/apis") {
        tries.spawn(try_fault("/apis", name, reply));
    }
    while let Some(tried) = tries.join_next().await {
        tried.expect("as it should be");
    }
}

#[tokio::test]
async fn an_index_with_faults_changes_nothing() {
    let mut tries = tokio::task::JoinSet::new();
    for (name, reply) in faults("/openapi/v3") {
        tries.spawn(try_fault("/openapi/v3", name, reply));
    }
    while let Some(tried) = tries.join_next().await {
        tried.expect("as it should be");
    }
}

#[tokio::test]
async fn a_v2_document_with_faults_keeps_the_converted_ones() {
    const V2: &str = r#"{"swagger":"2.0","info":{"title":"t","version":"1"},"paths":{
        "/apis/a.io/v1/things":{"get":{"responses":{"200":{"description":"OK"}}}}}}"#;
    let mut all = faults("/openapi/v2");
    all.retain(|(name, _)| *name != "says that nothing changed");
    all.push(("is no v2 document", json(r#"{"openapi":"3.0.0","paths":{}}"#)));
    all.push(("says what v2 cannot", json(r#"{"swagger":"2.0","paths":{"/apis/a.io/v1/x":{"get":"no"}}}"#)));
    all.push(("is gone", missing()));
    let mut tries = tokio::task::JoinSet::new();
    for (name, reply) in all {
        tries.spawn(async move {
            let fine = Arc::new(AtomicBool::new(true));
            let is_fine = Arc::clone(&fine);
            let fake = Fake::start(move |seen| match seen.path() {
                "/openapi/v3" => missing(),
                "/openapi/v2" if is_fine.load(Ordering::SeqCst) => json(V2),
                "/openapi/v2" => reply.clone(),
                _ => healthy(seen, &["a.io/v1"]),
            })
            .await;
            let mut watched = aggregate(vec![fake.options(",a.io/v1")]);
            let good = watched.complete().await;
            assert_eq!(documents(&good).len(), 1);
            fine.store(false, Ordering::SeqCst);
            let asked = fake.asked("/openapi/v2", 0).await.len();
            fake.asked("/openapi/v2", asked + 2).await;
            assert!(watched.states.try_recv().is_err(), "{name}");
        });
    }
    while let Some(tried) = tries.join_next().await {
        tried.expect("as it should be");
    }
}

#[tokio::test]
async fn no_other_address_is_connected_to() {
    let other = Fake::start(|seen| healthy(seen, &["evil.io/v1"])).await;
    for place in [
        format!("http://{}/openapi/v3", other.address),
        format!("//{}/openapi/v3", other.address),
        format!("/\\{}/openapi/v3", other.address),
        "http://localhost:1/".to_owned(),
        "file:///etc/passwd".to_owned(),
    ] {
        let location = place.clone();
        let fake = Fake::start(move |_| answer(302, &[("Location", &location)], "")).await;
        let mut watched = aggregate(vec![fake.options(",a.io/v1")]);
        fake.asked("/openapi/v3", 2).await;
        fake.asked("/apis", 2).await;
        let state = watched.states.recv().await.expect("a state");
        assert_eq!(shown(&state.groups), ["a.io/v1 Stale "]);
        assert!(watched.states.try_recv().is_err(), "{place}");
    }
    assert_eq!(other.connections(), 0);
}

#[tokio::test]
async fn redirects_within_the_server_are_followed_three_times() {
    let hops = |count: usize| {
        move |seen: &Seen| {
            let (path, hop) = seen.target.split_once("?hop=").unwrap_or((&seen.target, "0"));
            let hop: usize = hop.parse().expect("a number");
            let next = format!("http://{}{path}?hop={}", seen.header("host").unwrap_or_default(), hop + 1);
            if hop < count { answer(307, &[("Location", &next)], "") } else { healthy(seen, &["a.io/v1"]) }
        }
    };
    let three = Fake::start(hops(3)).await;
    aggregate(vec![three.options("")]).complete().await;
    let four = Fake::start(hops(4)).await;
    let mut watched = aggregate(vec![four.options(",a.io/v1")]);
    four.asked("/apis", 8).await;
    let state = watched.states.recv().await.expect("a state");
    assert_eq!(shown(&state.groups), ["a.io/v1 Stale "]);
    assert!(watched.states.try_recv().is_err());
}

#[tokio::test]
async fn a_dead_server_does_not_affect_others() {
    let dead = Fake::start(|_| Reply::Hang(Vec::new())).await;
    let closed = TcpListener::bind("127.0.0.1:0").await.expect("a port").local_addr().expect("an address");
    let fine = Fake::start(|seen| healthy(seen, &["a.io/v1"])).await;
    let mut hanging = dead.options(",dead.io/v1");
    hanging.name = "dead".into();
    hanging.timeouts.headers = Duration::from_mins(1);
    hanging.timeouts.total = Duration::from_mins(1);
    let mut refused = quick(format!("refused=http://{closed},refused.io/v1").parse().expect("options"));
    refused.backoff = (Duration::from_millis(1), Duration::from_millis(1));
    let start = Instant::now();
    let mut watched = aggregate(vec![hanging, refused, fine.options("")]);
    let state = watched
        .until(|state| &*state.name == "fake" && !state.v3.is_empty() && has(&state.groups, Freshness::Current))
        .await;
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
    assert_eq!((state.position, documents(&state).len()), (2, 1));
    timeout(Duration::from_millis(500), watched.aggregator.stop()).await.expect("it stops");
}

#[tokio::test]
async fn names_that_are_paths_are_refused() {
    let fake = Fake::start(|seen| match seen.path() {
        "/openapi/v3" => json(
            r#"{"paths":{"apis/../../x/v1":{},"apis/a.io/v1/x":{},"apis/a b/v1":{},"apis/a.io/v1":{"serverRelativeURL":"https://evil/x"}}}"#,
        ),
        "/apis" => json(discovery(&["../v1", "a.io/..", "a.io/v1", "a b/v1"], "things")),
        _ => missing(),
    })
    .await;
    let state = aggregate(vec![fake.options("")]).complete().await;
    assert_eq!(documents(&state), [("apis/a.io/v1", "/openapi/v3/apis/a.io/v1", true)]);
    assert_eq!(shown(&state.groups), ["a.io/v1 Current things"]);
}

#[tokio::test]
async fn too_many_documents_are_refused() {
    let many: Vec<String> = (0..30).map(|n| format!("g{n}.io/v1")).collect();
    let fake = Fake::start(move |seen| {
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        healthy(seen, &many)
    })
    .await;
    let mut options = fake.options(",g0.io/v1");
    options.limits.group_versions = 20;
    let mut watched = aggregate(vec![options]);
    fake.asked("/openapi/v3", 2).await;
    while let Ok(state) = watched.states.try_recv() {
        assert!(state.v3.is_empty());
    }
}
