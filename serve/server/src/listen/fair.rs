//! Processor time of connections: while tasks wait for a thread, connections that keep the threads busy make pauses.
//!
//! The runtime gives each connection that has something to do its turn, one after the other. So a hundred clients that
//! always have something to do (PINGs, streams that are reset, many requests at once) would let all others wait for a
//! hundred turns, again at each step of a request. A connection therefore has an allowance of time. When it is used up,
//! the connection measures how long it waits for its next turn, and if it waits long, it makes a pause that grows with
//! the wait. Without others, no connection makes pauses.

use std::future::Future;
use std::pin::Pin;
use std::task::Context;
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep};

/// The time that a connection may use at any moment.
const ALLOWANCE: Duration = Duration::from_millis(ALLOWANCE_MS);
const ALLOWANCE_MS: u64 = 10;
/// It gets a hundredth of the time that passes.
const REFILL: u32 = 100;
/// A turn after this time is not late.
const IN_TIME: Duration = Duration::from_millis(5);
/// For each millisecond that a turn is late, the pause is this many times as long as the time that was used.
const PAUSE_TIMES: f64 = 20.0;
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// The processor time of a connection.
#[derive(Debug)]
pub(super) struct Fair {
    allowance: Duration,
    refilled: Instant,
    /// What it used beyond the allowance since its last pause.
    beyond: Duration,
    state: State,
}

#[derive(Debug)]
enum State {
    Running,
    /// Waits for its turn since then.
    Queued(Instant),
    Paused(Pin<Box<Sleep>>),
}

impl Fair {
    pub(super) fn new(now: Instant) -> Fair {
        Fair { allowance: ALLOWANCE, refilled: now, beyond: Duration::ZERO, state: State::Running }
    }

    /// Counts a turn.
    pub(super) fn used(&mut self, time: Duration, now: Instant) {
        let refill = now.saturating_duration_since(self.refilled) / REFILL;
        self.refilled = now;
        let allowance = (self.allowance + refill).min(ALLOWANCE);
        self.beyond += time.saturating_sub(allowance);
        self.allowance = allowance.saturating_sub(time);
    }

    /// Returns whether the connection must wait. If so, it is woken when it can go on.
    pub(super) fn must_wait(&mut self, cx: &mut Context<'_>) -> bool {
        loop {
            match &mut self.state {
                State::Running if self.beyond.is_zero() => return false,
                State::Running => {
                    self.state = State::Queued(Instant::now());
                    cx.waker().wake_by_ref();
                    return true;
                }
                State::Queued(since) => {
                    let pause = pause(std::mem::take(&mut self.beyond), since.elapsed());
                    if pause.is_zero() {
                        self.state = State::Running;
                        return false;
                    }
                    self.state = State::Paused(Box::pin(sleep(pause)));
                }
                State::Paused(sleeping) => {
                    if sleeping.as_mut().poll(cx).is_pending() {
                        return true;
                    }
                    self.state = State::Running;
                    return false;
                }
            }
        }
    }
}

/// The pause of a connection that used time beyond its allowance, and waited for its turn.
fn pause(beyond: Duration, waited: Duration) -> Duration {
    let late = waited.saturating_sub(IN_TIME).as_secs_f64() * 1_000.0;
    Duration::from_secs_f64(beyond.as_secs_f64() * late * PAUSE_TIMES).min(LONGEST_PAUSE)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn only_connections_that_use_more_than_their_share_make_pauses() {
        let mut now = Instant::now();
        let mut fair = Fair::new(now);
        // A millisecond in a tenth of a second.
        for _ in 0..100 {
            now += 100 * MS;
            fair.used(MS, now);
        }
        assert_eq!(fair.beyond, Duration::ZERO);
        // Always busy.
        for _ in 0..100 {
            now += MS;
            fair.used(MS, now);
        }
        assert!(fair.beyond > 85 * MS && fair.beyond < 95 * MS, "{:?}", fair.beyond);
    }

    #[test]
    fn pauses_grow_with_the_wait() {
        assert_eq!(pause(MS, 5 * MS), Duration::ZERO);
        assert_eq!(pause(MS, 6 * MS), 20 * MS);
        assert_eq!(pause(2 * MS, 8 * MS), 120 * MS);
        assert_eq!(pause(MS, 1_000 * MS), LONGEST_PAUSE);
    }

    #[tokio::test]
    async fn a_connection_without_others_goes_on_at_once() {
        let mut fair = Fair::new(Instant::now());
        fair.used(1_000 * MS, Instant::now());
        let mut turns = 0;
        std::future::poll_fn(|cx| {
            turns += 1;
            if fair.must_wait(cx) { std::task::Poll::Pending } else { std::task::Poll::Ready(()) }
        })
        .await;
        assert_eq!(turns, 2);
    }
}
