//! Attacks over real sockets, one module each. Every test asserts a bound.

mod bodies;
mod crowd;
mod floods;
mod flow_control;
mod frames;
mod heads;
mod pressure;
mod ranges;
mod raw;
mod slow;
mod unbounded;
mod work;

use crate::listener::{Running, exchange, one};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

/// Returns times for the tests: long for a program, short for people.
fn short() -> kubeshape_server::Limits {
    kubeshape_server::Limits {
        header: Duration::from_millis(400),
        stall: Duration::from_millis(400),
        idle: Duration::from_millis(400),
        ..kubeshape_server::Limits::default()
    }
}

/// Waits until this many connections are open, and returns how long it took.
async fn until_open(server: &Running, count: f64, bound: Duration) -> Duration {
    let began = Instant::now();
    while server.metric("kubeshape_connections ") != Some(count) {
        let open = server.metric("kubeshape_connections ");
        assert!(began.elapsed() < bound, "{open:?} connections are open after {bound:?}");
        sleep(Duration::from_millis(10)).await;
    }
    began.elapsed()
}

/// Checks that a new client gets a response within this time.
async fn newcomer(server: &Running, bound: Duration) {
    let began = Instant::now();
    let got = timeout(bound, async { exchange(server.connect().await, &one("/healthz")).await }).await;
    let got = got.unwrap_or_else(|_| panic!("no answer after {:?}", began.elapsed()));
    assert!(got.ends_with("ok"), "{got}");
}
