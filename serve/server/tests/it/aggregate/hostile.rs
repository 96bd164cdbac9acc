//! Clients that request the documents of aggregated servers and do not read them.

use super::fake::{Fake, Reply, aggregate, head, healthy, index, json};
use crate::listener::{Running, exchange};
use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use kubeshape_server::aggregate::AggregateOptions;
use kubeshape_server::{Authenticator, Leaf, Server, Tokens};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

const DOCUMENT: &str = "/openapi/v3/apis/a.io/v1";

/// Returns a document of 5 MB, and a server that proxies it. A client may have 4 of 8 requests.
async fn proxied(tokens: Option<&str>, change: impl Fn(&mut AggregateOptions)) -> (Fake, Running) {
    let document = vec![b' '; 5 << 20];
    let fake = Fake::start(move |seen| match seen.path() {
        "/openapi/v3" => json(index(&["a.io/v1"], "00")),
        DOCUMENT => {
            let head = head(200, &[("Content-Length", &document.len().to_string())]) + "\r\n";
            Reply::Answer([head.as_bytes(), &document].concat())
        }
        _ => healthy(seen, &["a.io/v1"]),
    })
    .await;
    let mut options = fake.options("");
    options.limits.document = 64 << 20;
    options.limits.requests = 8;
    options.limits.client_requests = 4;
    options.limits.slowest = 100 << 10;
    options.timeouts.headers = Duration::from_millis(500);
    options.timeouts.idle = Duration::from_secs(2);
    options.timeouts.total = Duration::from_mins(1);
    change(&mut options);
    let state = aggregate(vec![options]).complete().await;
    let Leaf::Remote(upstream) = &state.v3[0].leaf else { panic!("{:?}", state.v3) };
    let upstream = Arc::clone(upstream);
    let router = Router::new().fallback(move |request: Request| upstream.forward(request));
    let mut server = Server::new(router);
    if let Some(tokens) = tokens {
        server = server.authenticator(Authenticator::new(Tokens::parse(tokens).expect("tokens")));
    }
    (fake, Running::new(server).await)
}

/// Opens a connection with 64 requests and windows of 0 for the rest of the test.
async fn blocked(server: &Running, token: &str) {
    let io = TokioIo::new(server.connect().await);
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder.initial_stream_window_size(0).initial_max_send_streams(64);
    let (mut sender, connection) = builder.handshake(io).await.expect("HTTP/2");
    tokio::spawn(connection);
    for _ in 0..64 {
        let request = Request::builder().uri(format!("http://localhost{DOCUMENT}"));
        let request =
            request.header("authorization", format!("Bearer {token}")).body(Body::empty()).expect("a request");
        let answer = sender.send_request(request);
        tokio::spawn(async move {
            let answer = answer.await;
            sleep(Duration::from_mins(1)).await;
            drop(answer);
        });
    }
    tokio::spawn(async move {
        sleep(Duration::from_mins(1)).await;
        drop(sender);
    });
}

async fn get(server: &Running, fields: &str) -> String {
    let request = format!("GET {DOCUMENT} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{fields}\r\n");
    timeout(Duration::from_secs(10), async { exchange(server.connect().await, &request).await })
        .await
        .expect("an answer")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_reads_nothing_does_not_block_others() {
    let (_fake, server) = proxied(Some("a,jane,1\nb,joe,2\n"), |_| ()).await;
    for _ in 0..4 {
        blocked(&server, "a").await;
    }
    sleep(Duration::from_millis(50)).await;
    for _ in 0..5 {
        let began = Instant::now();
        let got = get(&server, "Authorization: Bearer b\r\n").await;
        assert!(got.starts_with("HTTP/1.1 200 "), "{}", &got[..got.len().min(300)]);
        assert!(got.len() > 5 << 20);
        assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_reads_nothing_is_cut_even_if_it_is_not_polled() {
    // Time would be enough, but the client is too slow.
    let (fake, server) = proxied(None, |_| ()).await;
    blocked(&server, "").await;
    // 64 requests, 4 at a time, of which each is cut after 200 ms. Those that wait for 500 ms are refused.
    sleep(Duration::from_millis(1500)).await;
    let got = get(&server, "").await;
    assert!(got.starts_with("HTTP/1.1 200 ") && got.len() > 5 << 20, "{}", &got[..got.len().min(300)]);
    assert!(fake.seen().iter().filter(|seen| seen.path() == DOCUMENT).count() < 40);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_time_for_a_document_ends_whether_it_is_polled_or_not() {
    let (_fake, server) = proxied(None, |options| {
        options.timeouts.stall = Duration::from_mins(1);
        options.timeouts.total = Duration::from_millis(400);
    })
    .await;
    blocked(&server, "").await;
    sleep(Duration::from_secs(1)).await;
    // The time is short for this one, too, but it begins.
    let got = get(&server, "").await;
    assert!(got.starts_with("HTTP/1.1 200 "), "{}", &got[..got.len().min(300)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn too_many_requests_of_a_client_have_their_own_refusal() {
    let (fake, server) = proxied(None, |options| options.limits.slowest = 0).await;
    blocked(&server, "").await;
    fake.asked(DOCUMENT, 4).await;
    let got = get(&server, "").await;
    assert!(got.starts_with("HTTP/1.1 429 ") && got.contains("Retry-After: 1\r\n"), "{}", &got[..got.len().min(300)]);
    assert!(got.contains("too many requests of this client at once"), "{got}");
}
