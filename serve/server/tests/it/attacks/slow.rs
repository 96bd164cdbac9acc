//! Clients that send or read too slowly, over HTTP/1.1.

use super::{short, until_open};
use crate::listener::{Running, endpoints};
use kubeshape_server::{Limits, Server};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, sleep, timeout};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_below_the_rate_is_cut() {
    let limits = Limits { slowest: 2 << 20, ..short() };
    let server = Running::new(Server::new(endpoints()).limits(limits)).await;
    let mut slow = server.connect().await;
    slow.write_all(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n").await.expect("sent");
    let began = Instant::now();
    let mut buffer = vec![0; 4 << 10];
    while matches!(slow.read(&mut buffer).await, Ok(1..)) {
        if server.metric("kubeshape_connections ") == Some(0.0) {
            return;
        }
        assert!(began.elapsed() < Duration::from_secs(5), "the connection is still open");
        sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_in_a_row_without_reading_are_cut() {
    let server = Running::new(Server::new(endpoints()).limits(short())).await;
    let mut streams = Vec::new();
    for _ in 0..20 {
        let mut stream = server.connect().await;
        let many = "GET /large HTTP/1.1\r\nHost: x\r\n\r\n".repeat(1000);
        let _ = timeout(Duration::from_millis(50), stream.write_all(many.as_bytes())).await;
        streams.push(stream);
    }
    until_open(&server, 0.0, Duration::from_secs(4)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unfinished_bodies_of_requests_use_no_memory() {
    let server = Running::new(Server::new(endpoints()).limits(short())).await;
    let mut streams = Vec::new();
    for head in ["Content-Length: 1000000", "Transfer-Encoding: chunked", "Content-Length: 5\r\nExpect: 100-continue"] {
        let mut stream = server.connect().await;
        let request = format!("GET / HTTP/1.1\r\nHost: x\r\n{head}\r\n\r\n1");
        stream.write_all(request.as_bytes()).await.expect("sent");
        streams.push(stream);
    }
    until_open(&server, 0.0, Duration::from_secs(3)).await;
}
