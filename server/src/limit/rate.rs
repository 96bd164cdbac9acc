//! A token bucket without a lock.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A token bucket that holds the tokens of a second: bursts up to the rate pass, and over time no more than the rate.
///
/// It is kept as the one moment at which the bucket will be full again (the generic cell rate algorithm). Time is given
/// by the caller, as the time since any fixed moment.
///
/// ```
/// use kubeshape_server::Rate;
/// use std::time::Duration;
///
/// let rate = Rate::new(2);
/// let now = Duration::from_secs(5);
/// assert_eq!((rate.take(now), rate.take(now)), (Ok(()), Ok(())));
/// assert_eq!(rate.take(now), Err(Duration::from_millis(500)));
/// assert_eq!(rate.take(now + Duration::from_millis(500)), Ok(()));
/// ```
#[derive(Debug)]
pub struct Rate {
    /// Nanoseconds per token.
    interval: u64,
    /// Nanoseconds that the bucket holds.
    burst: u64,
    /// When the bucket is full.
    full: AtomicU64,
}

const SECOND: u64 = 1_000_000_000;

impl Rate {
    /// So many per second, at least one.
    pub fn new(per_second: u32) -> Rate {
        let interval = SECOND / u64::from(per_second.max(1));
        Rate { interval, burst: interval * u64::from(per_second.max(1)), full: AtomicU64::new(0) }
    }

    /// Takes a token.
    ///
    /// # Errors
    /// There is none; the time until there will be one.
    pub fn take(&self, now: Duration) -> Result<(), Duration> {
        let now = u64::try_from(now.as_nanos()).unwrap_or(u64::MAX / 2);
        let mut full = self.full.load(Ordering::Relaxed);
        loop {
            let next = full.max(now) + self.interval;
            if next > now + self.burst {
                return Err(Duration::from_nanos(next - now - self.burst));
            }
            match self.full.compare_exchange_weak(full, next, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Ok(()),
                Err(other) => full = other,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_pass_and_the_rate_holds() {
        for rate in [1, 3, 10, 1000] {
            let bucket = Rate::new(rate);
            let mut passed = 0;
            // Ten seconds, asked a thousand times a second.
            for ms in 0..10_000 {
                for _ in 0..3 {
                    passed += u32::from(bucket.take(Duration::from_millis(ms)).is_ok());
                }
            }
            // The bucket and ten seconds, less what had not yet come in the last.
            assert!((rate * 11 - 1..=rate * 11).contains(&passed), "{rate}: {passed}");
        }
    }

    #[test]
    fn whoever_waits_as_told_gets_a_token() {
        let bucket = Rate::new(7);
        let mut now = Duration::from_secs(1);
        for _ in 0..100 {
            if let Err(wait) = bucket.take(now) {
                assert!(bucket.take(now + wait.saturating_sub(Duration::from_nanos(1))).is_err());
                now += wait;
                assert_eq!(bucket.take(now), Ok(()));
            }
        }
    }

    #[test]
    fn many_threads_get_what_one_would() {
        let bucket = Rate::new(1000);
        let taken: usize = std::thread::scope(|scope| {
            let take = || (0..1000).filter(|_| bucket.take(Duration::ZERO).is_ok()).count();
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(take)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap_or_default()).sum()
        });
        assert_eq!(taken, 1000);
    }
}
