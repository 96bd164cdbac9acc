//! Heads of requests that HTTP forbids, or that are too large.

use super::raw::{GOAWAY, HEADERS, Raw, fields, frame, get, request};
use crate::listener::{Running, endpoints, exchange, rest};
use kubeshape_server::Server;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::time::{sleep, timeout};

#[tokio::test]
async fn fields_are_counted_with_http2_as_well() {
    let server = Running::new(Server::new(endpoints())).await;
    let mut raw = Raw::new(server.address, 65_535).await;
    let names: Vec<String> = (0..1001).map(|n| format!("x{n}")).collect();
    let many: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "y")).collect();
    raw.send(&request(1, "/", &many[..100])).await;
    assert_eq!(raw.answer(1).await.map(|(_, length)| length), Some("hello".len()));
    for (stream, count) in [(3, 101), (5, 1001)] {
        raw.send(&request(stream, "/", &many[..count])).await;
        let text = "431 Request Header Fields Too Large";
        assert_eq!(raw.answer(stream).await.map(|(_, length)| length), Some(text.len()));
    }
}

#[tokio::test]
async fn a_head_larger_than_the_limit_ends_its_stream_or_the_connection() {
    let server = Running::new(Server::new(endpoints())).await;
    let mut raw = Raw::new(server.address, 65_535).await;
    let long = "y".repeat(200_000);
    raw.send(&request(1, "/", &[("x", &long)])).await;
    let got = timeout(Duration::from_secs(5), raw.answer(1)).await.expect("in time");
    assert_ne!(got.map(|(_, length)| length), Some("hello".len()));
}

#[tokio::test]
async fn hosts_are_those_of_http() {
    let server = Running::new(Server::new(endpoints())).await;
    for (head, expected) in [
        ("GET / HTTP/1.1\r\n\r\n", "400 Bad Request: missing required Host header"),
        ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "400 Bad Request"),
    ] {
        let got = exchange(server.connect().await, head).await;
        assert!(got.starts_with(&format!("HTTP/1.1 {expected}\r\n")), "{got}");
        assert!(got.ends_with(&format!("\r\n\r\n{expected}")), "{got}");
        assert!(got.to_lowercase().contains("\r\nconnection: close\r\n"), "{got}");
    }
    assert!(exchange(server.connect().await, "GET / HTTP/1.0\r\n\r\n").await.ends_with("hello"));
}

#[tokio::test]
async fn the_last_answer_says_that_the_connection_closes() {
    let mut server = Running::new(Server::new(endpoints())).await;
    let mut fresh = server.connect().await;
    sleep(Duration::from_millis(50)).await;
    server.stop();
    sleep(Duration::from_millis(50)).await;
    fresh.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.expect("sent");
    let got = rest(fresh).await;
    assert!(got.ends_with("hello") && got.to_lowercase().contains("\r\nconnection: close\r\n"), "{got}");
}

#[tokio::test]
async fn a_head_that_does_not_end_ends_the_connection() {
    let server = Running::new(Server::new(endpoints()).limits(super::short())).await;
    let mut raw = Raw::new(server.address, 65_535).await;
    // The first request is answered; END_HEADERS of the second never comes.
    raw.send(&request(1, "/", &[])).await;
    raw.answer(1).await.expect("an answer");
    raw.send(&frame(HEADERS, 1, 3, &fields(&get("/")))).await;
    let end = async { while raw.frame().await.is_some_and(|(kind, ..)| kind != GOAWAY) {} };
    timeout(Duration::from_secs(3), end).await.expect("an end");
}
