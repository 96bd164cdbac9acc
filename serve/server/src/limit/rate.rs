//! A token bucket: requests per second over all clients.

use governor::clock::{Clock, MonotonicClock};
use governor::middleware::NoOpMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use std::num::NonZeroU32;
use std::time::Duration;

/// A token bucket with the tokens of one second. Bursts up to the rate are allowed, and over time no more than the
/// rate.
#[derive(Debug)]
pub(crate) struct Rate<C: Clock = MonotonicClock>(
    RateLimiter<NotKeyed, InMemoryState, C, NoOpMiddleware<<C as Clock>::Instant>>,
);

impl Rate {
    /// Creates a full bucket with this many tokens per second, at least one.
    pub(crate) fn new(per_second: u32) -> Rate {
        Rate::with_clock(per_second, MonotonicClock)
    }
}

impl<C: Clock> Rate<C> {
    fn with_clock(per_second: u32, clock: C) -> Rate<C> {
        let per_second = NonZeroU32::new(per_second).unwrap_or(NonZeroU32::MIN);
        Rate(RateLimiter::direct_with_clock(Quota::per_second(per_second), clock))
    }

    /// Takes a token.
    ///
    /// # Errors
    /// The bucket is empty. The error is the time until there is a token.
    pub(crate) fn take(&self) -> Result<(), Duration> {
        self.0.check().map_err(|until| until.wait_time_from(self.0.clock().now()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use governor::clock::FakeRelativeClock;

    fn bucket(per_second: u32) -> (Rate<FakeRelativeClock>, FakeRelativeClock) {
        let clock = FakeRelativeClock::default();
        (Rate::with_clock(per_second, clock.clone()), clock)
    }

    #[test]
    fn bursts_pass_and_the_rate_holds() {
        for rate in [1, 3, 10, 1000] {
            let (bucket, clock) = bucket(rate);
            let mut passed = 0;
            // Ten seconds with a thousand requests a second.
            for _ in 0..10_000 {
                for _ in 0..3 {
                    passed += u32::from(bucket.take().is_ok());
                }
                clock.advance(Duration::from_millis(1));
            }
            // The bucket and ten seconds, less the tokens that had not yet come in the last.
            assert!((rate * 11 - 1..=rate * 11).contains(&passed), "{rate}: {passed}");
        }
    }

    #[test]
    fn a_client_that_waits_as_requested_gets_a_token() {
        let (bucket, clock) = bucket(7);
        for _ in 0..100 {
            if let Err(wait) = bucket.take() {
                clock.advance(wait.saturating_sub(Duration::from_nanos(1)));
                assert_eq!(bucket.take(), Err(Duration::from_nanos(1)));
                clock.advance(Duration::from_nanos(1));
                assert_eq!(bucket.take(), Ok(()));
            }
        }
    }

    #[test]
    fn many_threads_get_as_many_tokens_as_one() {
        let (bucket, _) = bucket(1000);
        let taken: usize = std::thread::scope(|scope| {
            let take = || (0..1000).filter(|_| bucket.take().is_ok()).count();
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(take)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap_or_default()).sum()
        });
        assert_eq!(taken, 1000);
    }
}
