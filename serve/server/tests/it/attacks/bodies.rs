//! Clients that send or request large bodies, and wait.

use super::raw::{Raw, request};
use crate::listener::{PATIENCE, Running, answer};
use crate::resources::{ALL, with_objects};
use kubeshape_objects::store::Store;
use kubeshape_server::http::Http;
use kubeshape_server::{Limits, Metrics, Objects, Server};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};

/// The time within which a new client gets room: 2 s, a second per MiB, and the overhead of the machine.
const ROOM: Duration = Duration::from_secs(15);

async fn served(limits: &Limits) -> (Running, Arc<Objects>, Arc<Metrics>) {
    let (endpoints, objects) = with_objects(Store::default());
    let metrics = Arc::clone(&endpoints.metrics);
    let router = axum::Router::new().fallback_service(Http::with_limits(endpoints, limits));
    (Running::new(Server::new(router).limits(limits.clone())).await, objects, metrics)
}

fn counter(name: &str, note: &str) -> String {
    format!(r#"{{"apiVersion":"example.com/v1","kind":"Counter","metadata":{{"name":"{name}"}},"note":"{note}"}}"#)
}

/// Sends a request with a body of this length, of which only a part is sent.
async fn post(server: &Running, length: usize, part: &str) -> TcpStream {
    let mut stream = server.connect().await;
    let head =
        format!("POST {ALL} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n");
    let _ = timeout(PATIENCE, stream.write_all(format!("{head}{part}").as_bytes())).await.expect("in time");
    stream
}

/// Creates an object until there is room.
async fn create(server: &Running, name: &str, note: &str) {
    let began = Instant::now();
    loop {
        let body = counter(name, note);
        let mut stream = post(server, body.len(), &body).await;
        let (head, _) = timeout(PATIENCE, answer(&mut stream)).await.expect("in time");
        if head.starts_with("HTTP/1.1 201") {
            return;
        }
        assert!(head.starts_with("HTTP/1.1 429") && head.contains("Retry-After: 1\r\n"), "{head}");
        assert!(began.elapsed() < ROOM, "no room after {:?}", began.elapsed());
        sleep(Duration::from_millis(200)).await;
    }
}

fn refused(metrics: &Metrics) -> f64 {
    let text = metrics.encode();
    let line = text.lines().find_map(|line| line.strip_prefix(r#"kubeshape_refused_requests_total{reason="memory"} "#));
    line.map_or(0.0, |count| count.parse().expect("a number"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_of_all_connections_are_bounded_and_block_no_client() {
    const CONNECTIONS: u32 = 24;
    let limits = Limits { received_bytes: 16 << 20, ..Limits::default() };
    let (server, objects, metrics) = served(&limits).await;
    // 60 MB, of which none is complete.
    let part = "x".repeat(5 << 19);
    let mut streams = Vec::new();
    for _ in 0..CONNECTIONS {
        streams.push(post(&server, 3 << 20, &part).await);
    }
    // Clients without room are refused.
    let mut told = 0;
    for stream in &mut streams {
        let mut head = [0; 12];
        if let Ok(Ok(_)) = timeout(Duration::from_millis(50), stream.read_exact(&mut head)).await {
            assert_eq!(&head, b"HTTP/1.1 429");
            told += 1;
        }
    }
    let held = (CONNECTIONS - told) as usize * part.len();
    assert!(held <= limits.received_bytes, "{told} of {CONNECTIONS} were told");
    assert!(refused(&metrics) >= f64::from(told));
    create(&server, "small", "").await;
    create(&server, "large", &"y".repeat(1 << 20)).await;
    assert_eq!(objects.store().len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unread_lists_are_bounded_and_block_no_client() {
    const STREAMS: u32 = 30;
    let limits = Limits { sent_bytes: 8 << 20, ..Limits::default() };
    let (server, _, metrics) = served(&limits).await;
    create(&server, "large", &"y".repeat(1 << 20)).await;
    let mut raw = Raw::new(server.address, 0).await;
    for n in 0..STREAMS {
        let path = if n % 2 == 0 { ALL.to_owned() } else { format!("{ALL}?watch=true") };
        assert!(raw.send(&request(2 * n + 1, &path, &[])).await);
    }
    let staying = tokio::spawn(raw.stay());
    let began = Instant::now();
    // Eight lists of 1 MiB are in memory, less their heads and the bytes around the object.
    while refused(&metrics) < f64::from(STREAMS - 8) {
        assert!(began.elapsed() < ROOM, "{} of {STREAMS} lists were refused", refused(&metrics));
        sleep(Duration::from_millis(20)).await;
    }
    let began = Instant::now();
    loop {
        let mut stream = server.connect().await;
        let line = format!("GET {ALL} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        let text = crate::listener::exchange(&mut stream, &line).await;
        if text.starts_with("HTTP/1.1 200") && text.len() > 1 << 20 {
            break;
        }
        assert!(text.starts_with("HTTP/1.1 429"), "{}", &text[..text.len().min(1000)]);
        assert!(began.elapsed() < ROOM, "no room after {:?}", began.elapsed());
        sleep(Duration::from_millis(200)).await;
    }
    staying.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unread_short_responses_are_bounded_and_block_no_client() {
    const STREAMS: u32 = 90;
    let limits = Limits { sent_bytes: 1 << 20, ..Limits::default() };
    for target in [format!("{ALL}/short"), format!("{ALL}?watch=true"), format!("{ALL}?limit=1")] {
        let (server, _, metrics) = served(&limits).await;
        create(&server, "short", &"y".repeat(30 << 10)).await;
        let mut raw = Raw::new(server.address, 0).await;
        for n in 0..STREAMS {
            assert!(raw.send(&request(2 * n + 1, &target, &[])).await);
        }
        let staying = tokio::spawn(raw.stay());
        let began = Instant::now();
        // Less than 35 of 30 KiB have room.
        while refused(&metrics) < f64::from(STREAMS - 35) {
            assert!(began.elapsed() < ROOM, "{target}: {} of {STREAMS} were refused", refused(&metrics));
            sleep(Duration::from_millis(20)).await;
        }
        let began = Instant::now();
        loop {
            let mut stream = server.connect().await;
            let line = format!("GET {ALL}/short HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
            let text = crate::listener::exchange(&mut stream, &line).await;
            if text.starts_with("HTTP/1.1 200") && text.len() > 30 << 10 {
                break;
            }
            assert!(text.starts_with("HTTP/1.1 429"), "{}", &text[..text.len().min(1000)]);
            assert!(began.elapsed() < ROOM, "{target}: no room after {:?}", began.elapsed());
            sleep(Duration::from_millis(200)).await;
        }
        staying.abort();
    }
}
