//! Frames that cost the client nothing.

use super::raw::{CONTINUATION, DATA, HEADERS, PING, PRIORITY, RST_STREAM, Raw, SETTINGS, WINDOW_UPDATE, frame};
use super::raw::{fields, get, request};
use super::{newcomer, short};
use crate::listener::{Running, endpoints};
use kubeshape_server::{Limits, Server};
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// Sends frames until the server ends the connection, and returns how many it accepted.
async fn flood(server: &Running, name: &str, first: Vec<u8>, mut next: impl FnMut(u32) -> Vec<u8>) -> u32 {
    let Raw { mut reader, mut writer } = Raw::new(server.address, 65_535).await;
    // Responses are read, so that nothing else ends the connection.
    let taking = tokio::spawn(async move { tokio::io::copy(&mut reader, &mut tokio::io::sink()).await });
    let began = Instant::now();
    let mut sent = 0;
    let mut bytes = first;
    while tokio::io::AsyncWriteExt::write_all(&mut writer, &bytes).await.is_ok() && !taking.is_finished() {
        sent += 1;
        bytes = next(sent);
        assert!(began.elapsed() < Duration::from_secs(10), "{name}: still open after {sent} frames");
        if sent.is_multiple_of(100) {
            tokio::task::yield_now().await;
        }
    }
    sent
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn floods_end_the_connection() {
    let limits = Limits { frames: 100, header: Duration::from_secs(30), ..Limits::default() };
    let server = Running::new(Server::new(endpoints()).limits(limits)).await;
    let none = Vec::new;
    flood(&server, "PING", none(), |_| frame(PING, 0, 0, &[0; 8])).await;
    flood(&server, "SETTINGS", none(), |_| frame(SETTINGS, 0, 0, &[])).await;
    flood(&server, "PRIORITY", none(), |n| frame(PRIORITY, 0, n * 2 + 1, &[0, 0, 0, 0, 1])).await;
    flood(&server, "unknown", none(), |_| frame(77, 0, 0, &[])).await;
    flood(&server, "WINDOW_UPDATE", none(), |_| frame(WINDOW_UPDATE, 0, 0, &1_u32.to_be_bytes())).await;
    // A request without an end, and DATA without content.
    let begin = frame(HEADERS, 4, 1, &fields(&get("/never")));
    flood(&server, "DATA", begin, |_| frame(DATA, 0, 1, &[])).await;
    let begin = frame(HEADERS, 0, 1, &fields(&get("/")));
    flood(&server, "CONTINUATION", begin, |_| frame(CONTINUATION, 0, 1, &[])).await;
    let cancelled =
        |n: u32| [request(n * 2 + 1, "/never", &[]), frame(RST_STREAM, 0, n * 2 + 1, &8_u32.to_be_bytes())].concat();
    flood(&server, "RST_STREAM", none(), cancelled).await;
    newcomer(&server, Duration::from_secs(2)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answered_requests_are_not_a_flood() {
    // The burst is ten frames.
    let server = Running::new(Server::new(endpoints()).limits(Limits { frames: 1, ..Limits::default() })).await;
    let mut raw = Raw::new(server.address, 1 << 30).await;
    for n in 0..500 {
        raw.send(&request(n * 2 + 1, "/", &[])).await;
        let got = timeout(Duration::from_secs(5), raw.answer(n * 2 + 1)).await.expect("in time");
        assert_eq!(got.map(|(_, length)| length), Some(5), "{n}");
    }
    // A large response with an update of both windows for every 16 KiB.
    raw.send(&request(2001, "/large", &[])).await;
    let mut taken = 0;
    while taken < 16 << 20 {
        let (kind, _, _, payload) =
            timeout(Duration::from_secs(5), raw.frame()).await.expect("in time").expect("more of the answer");
        if kind == DATA && !payload.is_empty() {
            taken += payload.len();
            let room = (payload.len() as u32).to_be_bytes();
            raw.send(&[frame(WINDOW_UPDATE, 0, 0, &room), frame(WINDOW_UPDATE, 0, 2001, &room)].concat()).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_without_a_request_ends() {
    let server = Running::new(Server::new(endpoints()).limits(short())).await;
    let mut raw = Raw::new(server.address, 65_535).await;
    raw.send(&frame(PING, 0, 0, &[0; 8])).await;
    timeout(Duration::from_secs(3), raw.stay()).await.expect("an end");
}
