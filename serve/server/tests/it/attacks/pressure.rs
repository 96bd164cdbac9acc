//! Large responses to fast readers do not delay small ones.

use crate::listener::{Running, endpoints, exchange, one};
use kubeshape_server::Server;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::Instant;

/// Returns the response times of new connections: the median, and the worst.
async fn health(address: SocketAddr) -> (Duration, Duration) {
    let mut times = Vec::new();
    let began = Instant::now();
    while times.len() < 50 && began.elapsed() < Duration::from_secs(5) {
        let began = Instant::now();
        let stream = TcpStream::connect(address).await.expect("a connection");
        assert!(exchange(stream, &one("/healthz")).await.ends_with("ok"));
        times.push(began.elapsed());
    }
    times.sort_unstable();
    (times[times.len() / 2], times[times.len() - 1])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn health_is_answered_during_large_responses() {
    let server = Running::new(Server::new(endpoints())).await;
    let address = server.address;
    // Other programs and tests may use the processors: they delay both measurements.
    let before = health(address).await;
    let readers: Vec<_> = (0..32)
        .map(|_| {
            tokio::spawn(async move {
                let mut stream = TcpStream::connect(address).await.expect("a connection");
                let mut buffer = vec![0; 64 << 10];
                let mut taken = 0_usize;
                loop {
                    // Many responses in a row, so that there is always more to send.
                    let many = "GET /large HTTP/1.1\r\nHost: x\r\n\r\n".repeat(10);
                    stream.write_all(many.as_bytes()).await.expect("sent");
                    let until = taken + (160 << 20);
                    while taken < until {
                        taken += stream.read(&mut buffer).await.expect("more");
                    }
                }
            })
        })
        .collect();
    let (median, worst) = health(address).await;
    readers.iter().for_each(tokio::task::JoinHandle::abort);
    assert!(median < Duration::from_millis(100) + before.0 * 50, "median {median:?}, before {before:?}");
    assert!(worst < Duration::from_millis(500) + before.1 * 50, "worst {worst:?}, before {before:?}");
}
