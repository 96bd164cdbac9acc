//! The same attacks on a server without the bounds succeed, so the bounds are what ends them in the other modules.

use super::raw::{HEADERS, PING, PRIORITY, Raw, SETTINGS, WINDOW_UPDATE, fields, frame, get, request};
use super::{short, until_open};
use crate::listener::{Running, endpoints};
use kubeshape_server::{Limits, Server};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{sleep, timeout};

/// Longer than any time of [`short`]; connections are watched for this time.
const WATCHED: Duration = Duration::from_millis(900);

/// Returns the limits of the other tests without those on time.
fn patient() -> Limits {
    let hour = Duration::from_hours(1);
    Limits { header: hour, stall: hour, idle: hour, request: hour, answer: hour, slowest: 0, ..short() }
}

async fn patient_server() -> Running {
    Running::new(Server::new(endpoints()).limits(patient())).await
}

/// Checks that this many connections are open, and stay open.
async fn stay_open(server: &Running, count: f64) {
    until_open(server, count, Duration::from_secs(5)).await;
    sleep(WATCHED).await;
    assert_eq!(server.metric("kubeshape_connections "), Some(count));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_time_limits_connections_stay_open() {
    let server = patient_server().await;
    let mut open = 0.0;
    // Streams without room, and PINGs.
    for path in ["/large", "/"] {
        let mut raw = Raw::new(server.address, 0).await;
        raw.send(&[request(1, path, &[]), frame(PING, 0, 0, &[0; 8])].concat()).await;
        tokio::spawn(raw.stay());
        open += 1.0;
    }
    // No request, and nothing after a response.
    for bytes in [frame(PING, 0, 0, &[0; 8]), request(1, "/", &[])] {
        let mut raw = Raw::new(server.address, 65_535).await;
        raw.send(&bytes).await;
        tokio::spawn(raw.stay());
        open += 1.0;
    }
    // A head without an end, after which no other frame is allowed.
    let mut endless = Raw::new(server.address, 65_535).await;
    endless.send(&frame(HEADERS, 1, 1, &fields(&get("/")))).await;
    open += 1.0;
    // Over HTTP/1.1: half a head, and requests without reading. Hyper ends those whose body does not end.
    let many = "GET /large HTTP/1.1\r\nHost: x\r\n\r\n".repeat(1000);
    let mut streams = Vec::new();
    for text in ["GET / HTTP/1.1\r\nHo", &many] {
        let mut stream = server.connect().await;
        let _ = timeout(Duration::from_millis(50), stream.write_all(text.as_bytes())).await;
        streams.push(stream);
        open += 1.0;
    }
    stay_open(&server, open).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_rate_slow_readers_are_served() {
    let server = patient_server().await;
    let mut raw = Raw::new(server.address, 0).await;
    raw.send(&request(1, "/large", &[])).await;
    let mut slow = server.connect().await;
    slow.write_all(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n").await.expect("sent");
    let mut buffer = [0; 16];
    for _ in 0..WATCHED.as_millis() / 10 {
        assert!(raw.send(&frame(WINDOW_UPDATE, 0, 1, &1_u32.to_be_bytes())).await);
        slow.read_exact(&mut buffer).await.expect("more of the answer");
        sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(server.metric("kubeshape_connections "), Some(2.0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_budget_floods_continue() {
    // A flood ends after less than 2,000 of them with the limits of `floods.rs`.
    const FRAMES: usize = 10_000;
    let limits = Limits { frames: u32::MAX, ..patient() };
    let server = Running::new(Server::new(endpoints()).limits(limits)).await;
    let one = 1_u32.to_be_bytes();
    for next in [
        frame(PING, 0, 0, &[0; 8]),
        frame(SETTINGS, 0, 0, &[]),
        frame(PRIORITY, 0, 3, &[0, 0, 0, 0, 1]),
        frame(77, 0, 0, &[]),
        frame(WINDOW_UPDATE, 0, 0, &one),
    ] {
        let Raw { mut reader, mut writer } = Raw::new(server.address, 65_535).await;
        let taking = tokio::spawn(async move { tokio::io::copy(&mut reader, &mut tokio::io::sink()).await });
        for _ in 0..100 {
            writer.write_all(&next.repeat(FRAMES / 100)).await.expect("the connection is open");
        }
        // All of them were read, and a request is still answered.
        writer.write_all(&request(1, "/", &[])).await.expect("the connection is open");
        until_open(&server, 1.0, Duration::from_secs(5)).await;
        drop(writer);
        let taken = timeout(Duration::from_secs(5), taking).await.expect("in time").expect("no panic");
        assert!(taken.is_ok_and(|bytes| bytes > "hello".len() as u64));
        until_open(&server, 0.0, Duration::from_secs(5)).await;
    }
}

#[tokio::test]
async fn without_bounds_on_heads_they_are_answered() {
    let limits = Limits { header_fields: 2000, header_bytes: 1 << 20, ..Limits::default() };
    let server = Running::new(Server::new(endpoints()).limits(limits)).await;
    let mut raw = Raw::new(server.address, 65_535).await;
    let names: Vec<String> = (0..1001).map(|n| format!("x{n}")).collect();
    let many: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "y")).collect();
    raw.send(&request(1, "/", &many)).await;
    assert_eq!(raw.answer(1).await.map(|(_, length)| length), Some("hello".len()));
    let long = "y".repeat(200_000);
    raw.send(&request(3, "/", &[("x", &long)])).await;
    let got = timeout(Duration::from_secs(5), raw.answer(3)).await.expect("in time");
    assert_eq!(got.map(|(_, length)| length), Some("hello".len()));
}
