//! How requests for the documents of downstream servers are forwarded.

use super::fake::{Fake, Reply, Seen, aggregate, answer, head, healthy, index, json};
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use http::HeaderValue;
use http_body_util::BodyExt as _;
use kubeshape_server::aggregate::{AggregateOptions, Token};
use kubeshape_server::{Leaf, Upstream};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// A server whose document is answered by `reply`, and the way to it.
async fn proxied(reply: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> (Fake, Arc<dyn Upstream>) {
    proxied_with(reply, |_| ()).await
}

async fn proxied_with(
    reply: impl Fn(&Seen) -> Reply + Send + Sync + 'static,
    change: impl Fn(&mut AggregateOptions),
) -> (Fake, Arc<dyn Upstream>) {
    let fake = Fake::start(move |seen| match seen.path() {
        "/openapi/v3" => json(index(&["a.io/v1"], "00")),
        "/openapi/v3/apis/a.io/v1" => reply(seen),
        _ => healthy(seen, &["a.io/v1"]),
    })
    .await;
    let mut options = fake.options("");
    change(&mut options);
    let state = aggregate(vec![options]).complete().await;
    let Leaf::Remote(upstream) = &state.v3[0].leaf else { panic!("{:?}", state.v3) };
    (fake, Arc::clone(upstream))
}

fn request(method: &str, target: &str, headers: &[(&str, &str)]) -> Request {
    let mut request = Request::builder().method(method).uri(target);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(Body::from("a body")).expect("a request")
}

fn get() -> Request {
    request("GET", "/openapi/v3/apis/a.io/v1", &[])
}

async fn body(response: Response) -> Result<Vec<u8>, axum::Error> {
    response.into_body().collect().await.map(|body| body.to_bytes().to_vec())
}

fn headers(response: &Response) -> Vec<(&str, &str)> {
    response.headers().iter().map(|(name, value)| (name.as_str(), value.to_str().expect("text"))).collect()
}

async fn status(response: Response) -> (u16, String, String) {
    let code = response.status().as_u16();
    assert_eq!(response.headers()["content-type"], "application/json");
    let body = body(response).await.expect("a body");
    let json: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
    assert_eq!((&json["kind"], &json["code"]), (&"Status".into(), &code.into()));
    (
        code,
        json["reason"].as_str().unwrap_or_default().to_owned(),
        json["message"].as_str().unwrap_or_default().to_owned(),
    )
}

#[tokio::test]
async fn only_headers_that_select_a_representation_are_forwarded() {
    let (fake, upstream) =
        proxied_with(|_| answer(200, &[], "x"), |options| options.token = Some(Token::new("ours").expect("a token")))
            .await;
    let asked = [
        ("Accept", "application/com.github.proto-openapi.spec.v3@v1.0+protobuf"),
        ("Accept-Encoding", "gzip"),
        ("If-None-Match", "\"1\""),
        ("Range", "bytes=0-1"),
        ("User-Agent", "kubectl"),
        ("Authorization", "Bearer theirs"),
        ("Cookie", "session=1"),
        ("Proxy-Authorization", "Basic eA=="),
        ("Impersonate-User", "root"),
        ("X-Remote-User", "root"),
        ("X-Forwarded-For", "1.2.3.4"),
        ("Connection", "close, X-Hop"),
        ("X-Hop", "1"),
        ("Upgrade", "websocket"),
        ("Te", "trailers"),
        ("Transfer-Encoding", "chunked"),
    ];
    upstream.forward(request("POST", "/openapi/v3/apis/a.io/v1?hash=00&x=%20y", &asked)).await;
    let seen = fake.asked("/openapi/v3/apis/a.io/v1", 1).await.remove(0);
    assert_eq!((&*seen.method, &*seen.target), ("GET", "/openapi/v3/apis/a.io/v1?hash=00&x=%20y"));
    let mut names: Vec<_> = seen.headers.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    let known = ["accept", "accept-encoding", "authorization", "host", "if-none-match", "range", "user-agent"];
    assert_eq!(names, known);
    assert_eq!(seen.header("authorization"), Some("Bearer ours"));
    assert_eq!(seen.header("host"), Some(&*fake.address.to_string()));
    assert_eq!(seen.header("accept"), Some(asked[0].1));
}

#[tokio::test]
async fn only_headers_that_describe_the_document_are_kept() {
    let (_fake, upstream) = proxied(|_| {
        answer(
            200,
            &[
                ("Etag", "\"AB\""),
                ("Cache-Control", "public, immutable"),
                ("Expires", "Sun, 21 Nov 2027 00:28:12 GMT"),
                ("Last-Modified", "Sat, 21 Nov 2026 00:28:12 GMT"),
                ("Vary", "Accept-Encoding"),
                ("Vary", "Accept"),
                ("Content-Type", "application/json"),
                ("Content-Encoding", "x-own"),
                ("Set-Cookie", "a=b"),
                ("Connection", "keep-alive, X-Hop"),
                ("Keep-Alive", "timeout=5"),
                ("X-Hop", "1"),
                ("Www-Authenticate", "Basic"),
                ("Strict-Transport-Security", "max-age=1"),
                ("Access-Control-Allow-Origin", "*"),
                ("Location", "https://evil/"),
            ],
            "{ not parsed",
        )
    })
    .await;
    let response = upstream.forward(get()).await;
    assert_eq!(response.status(), 200);
    let mut all = headers(&response);
    all.sort_unstable();
    assert_eq!(
        all,
        [
            ("cache-control", "public, immutable"),
            ("content-encoding", "x-own"),
            ("content-length", "12"),
            ("content-type", "application/json"),
            ("etag", "\"AB\""),
            ("expires", "Sun, 21 Nov 2027 00:28:12 GMT"),
            ("last-modified", "Sat, 21 Nov 2026 00:28:12 GMT"),
            ("vary", "Accept"),
            ("vary", "Accept-Encoding"),
        ]
    );
    let vary: Vec<_> = response.headers().get_all("vary").iter().collect();
    assert_eq!(vary, ["Accept-Encoding", "Accept"], "in their order");
    assert_eq!(body(response).await.expect("a body"), b"{ not parsed");
}

#[tokio::test]
async fn responses_without_a_body_are_forwarded() {
    let (_fake, upstream) = proxied(|seen| match (&*seen.method, seen.header("if-none-match")) {
        ("HEAD", _) => Reply::Answer((head(200, &[]) + "Content-Length: 1000\r\n\r\n").into_bytes()),
        (_, Some(_)) => answer(304, &[("Etag", "\"1\"")], ""),
        _ => answer(404, &[("Content-Type", "text/plain")], ""),
    })
    .await;
    let response = upstream.forward(request("HEAD", "/x", &[])).await;
    assert_eq!(headers(&response), [("content-length", "1000")]);
    assert!(body(response).await.expect("no body").is_empty());
    let response = upstream.forward(request("GET", "/x", &[("If-None-Match", "\"1\"")])).await;
    assert_eq!((response.status().as_u16(), &response.headers()["etag"]), (304, &HeaderValue::from_static("\"1\"")));
    assert_eq!(upstream.forward(get()).await.status(), 404);
}

#[tokio::test]
async fn redirects_stay_within_the_server() {
    let (_fake, upstream) = proxied(|seen| {
        let own = format!("http://{}/openapi/v3/apis/a.io/v1?hash=2", seen.header("host").unwrap_or_default());
        let place = match seen.target.split_once('?').map_or("", |(_, query)| query) {
            "own" => own.as_str(),
            "path" => "/openapi/v3/apis/a.io/v1?hash=2",
            "other" => "http://evil/openapi/v3/apis/a.io/v1?hash=2",
            "scheme" => "//evil/openapi/v3/apis/a.io/v1",
            "elsewhere" => "/login",
            "up" => "/openapi/v3/../../login",
            _ => return answer(301, &[], ""),
        };
        answer(301, &[("Location", place), ("Etag", "\"2\"")], "")
    })
    .await;
    for query in ["own", "path"] {
        let response = upstream.forward(request("GET", &format!("/x?{query}"), &[])).await;
        assert_eq!(response.status(), 301);
        assert_eq!(response.headers()["location"], "/openapi/v3/apis/a.io/v1?hash=2", "{query}");
        assert_eq!(response.headers()["etag"], "\"2\"");
    }
    for query in ["other", "scheme", "elsewhere", "up", "none"] {
        let (code, reason, message) = status(upstream.forward(request("GET", &format!("/x?{query}"), &[])).await).await;
        assert_eq!((code, &*reason), (502, "ServiceUnavailable"));
        assert_eq!(message, "the aggregated server fake does not give apis/a.io/v1: it redirects to elsewhere");
    }
}

#[tokio::test]
async fn before_the_first_byte_a_fault_is_a_status() {
    let length = |n: usize| (head(200, &[]) + &format!("Content-Length: {n}\r\n\r\n")).into_bytes();
    for (name, reply, code) in [
        ("hangs before the headers", Reply::Hang(Vec::new()), 504),
        ("hangs before the body", Reply::Hang(length(5)), 504),
        ("closes", Reply::Close(Vec::new()), 502),
        ("closes before the body", Reply::Close(length(5)), 502),
        ("resets", Reply::Reset(Vec::new()), 502),
        ("speaks no HTTP", Reply::Close(b"hello\r\n\r\n".to_vec()), 502),
        ("is too large", Reply::Hang(length(300 << 10)), 502),
        ("refuses the token", answer(401, &[("Www-Authenticate", "Basic")], "secret"), 502),
    ] {
        let (fake, upstream) = proxied(move |_| reply.clone()).await;
        let start = Instant::now();
        let (got, reason, message) = status(upstream.forward(get()).await).await;
        assert_eq!(got, code, "{name}: {message}");
        assert_eq!(reason, if code == 504 { "Timeout" } else { "ServiceUnavailable" }, "{name}");
        assert!(start.elapsed() < Duration::from_secs(3), "{name}");
        assert!(message.starts_with("the aggregated server fake does not give apis/a.io/v1: "), "{message}");
        assert!(!message.contains(&fake.address.port().to_string()), "{message}");
    }
}

#[tokio::test]
async fn after_the_first_byte_a_fault_aborts_the_response() {
    let length = |n: usize| (head(200, &[]) + &format!("Content-Length: {n}\r\n\r\nbegin")).into_bytes();
    let chunked = (head(200, &[("Transfer-Encoding", "chunked")]) + "\r\n").into_bytes();
    for (name, reply) in [
        ("hangs in the body", Reply::Hang(length(50))),
        ("closes in the body", Reply::Close(length(50))),
        ("resets in the body", Reply::Reset(length(50))),
        ("drips", Reply::Drip(length(500), Duration::from_millis(20))),
        ("sends 1 GB", Reply::Flood(chunked.clone())),
        ("ends without the last chunk", Reply::Close([&chunked[..], b"5\r\nbegin\r\n"].concat())),
    ] {
        let (fake, upstream) = proxied(move |_| reply.clone()).await;
        let start = Instant::now();
        let response = upstream.forward(get()).await;
        assert_eq!(response.status(), 200, "{name}");
        assert!(body(response).await.is_err(), "{name}");
        assert!(start.elapsed() < Duration::from_secs(3), "{name}: {:?}", start.elapsed());
        assert!(fake.sent() < 32 << 20, "{name}: {} bytes were taken", fake.sent());
    }
}

#[tokio::test]
async fn bytes_beyond_the_announced_length_are_not_forwarded() {
    let (_fake, upstream) = proxied(|_| {
        Reply::Answer((head(200, &[]) + "Content-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n\r\n").into_bytes())
    })
    .await;
    for _ in 0..3 {
        let response = upstream.forward(get()).await;
        if response.status() == 200 {
            assert_eq!(body(response).await.expect("a body"), b"ok");
        }
    }
}

#[tokio::test]
async fn simultaneous_requests_are_bounded() {
    let (fake, upstream) = proxied_with(|_| Reply::Hang(Vec::new()), |options| options.limits.requests = 2).await;
    let all: Vec<_> = (0..6).map(|_| tokio::spawn(upstream.forward(get()))).collect();
    let mut codes = Vec::new();
    for one in all {
        codes.push(one.await.expect("an answer").status().as_u16());
    }
    codes.sort_unstable();
    assert!(codes.iter().all(|code| matches!(code, 503 | 504)), "{codes:?}");
    assert!(fake.asked("/openapi/v3/apis/a.io/v1", 2).await.len() <= 4);
    // And they end.
    let (_fake, upstream) = proxied_with(|_| answer(200, &[], "ok"), |options| options.limits.requests = 1).await;
    for _ in 0..5 {
        assert_eq!(body(upstream.forward(get()).await).await.expect("a body"), b"ok");
    }
}

#[tokio::test]
async fn a_server_that_is_gone_is_a_status() {
    let (fake, upstream) = proxied(|_| answer(200, &[], "ok")).await;
    drop(fake);
    tokio::time::sleep(Duration::from_millis(20)).await;
    let (code, _, message) = status(upstream.forward(get()).await).await;
    assert_eq!((code, &*message), (502, "the aggregated server fake does not give apis/a.io/v1: it cannot be reached"));
}
