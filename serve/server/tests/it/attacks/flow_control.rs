//! Streams to which the client gives no room, on connections that are otherwise active.

use super::raw::{PING, Raw, WINDOW_UPDATE, frame, request};
use super::{newcomer, short, until_open};
use crate::listener::{Running, endpoints};
use kubeshape_server::{Ended, Limits, Server};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

/// Opens connections with a window of 0, one request for each of `paths`, and PINGs.
async fn blocked(server: &Running, count: usize, paths: &[&str]) {
    for _ in 0..count {
        let mut raw = Raw::new(server.address, 0).await;
        for (place, path) in paths.iter().enumerate() {
            raw.send(&request(place as u32 * 2 + 1, path, &[])).await;
        }
        raw.send(&frame(PING, 0, 0, &[0; 8])).await;
        tokio::spawn(raw.stay());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_without_room_end_in_time_despite_pings() {
    let server = Running::new(Server::new(endpoints()).limits(short())).await;
    blocked(&server, 50, &["/large"]).await;
    // A response that is small enough to be handed over as a whole.
    blocked(&server, 50, &["/"]).await;
    sleep(Duration::from_millis(100)).await;
    until_open(&server, 0.0, Duration::from_secs(3)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_without_room_make_room_for_a_new_client() {
    let limits = Limits { connections: 64, ..Limits::default() };
    let server = Running::new(Server::new(endpoints()).limits(limits)).await;
    blocked(&server, 64, &["/large", "/"]).await;
    until_open(&server, 64.0, Duration::from_secs(5)).await;
    for _ in 0..3 {
        newcomer(&server, Duration::from_secs(2)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_stream_without_room_is_not_kept_alive_by_the_others() {
    let limits = Limits { answer: Duration::from_millis(500), request: Duration::from_millis(300), ..short() };
    let server = Running::new(Server::new(endpoints()).limits(limits)).await;
    let mut raw = Raw::new(server.address, 65_535).await;
    // 16 MiB never fit, but every 100 ms something else is answered.
    raw.send(&request(1, "/large", &[])).await;
    let began = Instant::now();
    let mut stream = 3;
    while raw.send(&request(stream, "/", &[])).await {
        raw.send(&frame(WINDOW_UPDATE, 0, 0, &100_u32.to_be_bytes())).await;
        stream += 2;
        assert!(began.elapsed() < Duration::from_secs(5), "the connection is still open");
        sleep(Duration::from_millis(100)).await;
    }
    assert!(began.elapsed() > Duration::from_millis(500));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_window_that_opens_byte_by_byte_is_too_slow() {
    let server = Running::new(Server::new(endpoints()).limits(Limits { slowest: 10_000, ..short() })).await;
    let mut raw = Raw::new(server.address, 0).await;
    raw.send(&request(1, "/large", &[])).await;
    let began = Instant::now();
    while raw.send(&frame(WINDOW_UPDATE, 0, 1, &1_u32.to_be_bytes())).await {
        assert!(began.elapsed() < Duration::from_secs(3), "the connection is still open");
        sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_ends_within_its_grace() {
    let limits = Limits { grace: Duration::from_secs(2), stall: Duration::from_millis(500), ..Limits::default() };
    let mut server = Running::new(Server::new(endpoints()).limits(limits)).await;
    blocked(&server, 10, &["/large"]).await;
    sleep(Duration::from_millis(100)).await;
    let began = Instant::now();
    server.stop();
    let ended = timeout(Duration::from_secs(5), server.ended()).await.expect("an end");
    // They are cut because they read nothing, before the grace is over.
    assert_eq!(ended, Ended { cut: 0 });
    assert!(began.elapsed() < Duration::from_millis(1900), "{:?}", began.elapsed());
}
