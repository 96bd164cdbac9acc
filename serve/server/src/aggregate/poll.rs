//! Polling one downstream server: its OpenAPI documents and its discovery, each on a schedule of its own, so that
//! neither waits for the other.

use super::discovery::DiscoveryPoll;
use super::downstream::Downstream;
use super::failure::Failure;
use super::openapi::OpenApiPoll;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::sleep;

/// Polls a server until the aggregator stops or its states are no longer received.
pub(super) async fn poll(server: Downstream, mut stop: watch::Receiver<bool>) {
    let server = Arc::new(server);
    let mut openapi = OpenApiPoll::new(Arc::clone(&server));
    let mut discovery = DiscoveryPoll::new(Arc::clone(&server));
    let openapi = async {
        let mut schedule = Schedule::new(&server, "OpenAPI spec");
        while let Ok(polled) = openapi.poll().await {
            sleep(schedule.next(polled.err())).await;
        }
    };
    let discovery = async {
        let mut schedule = Schedule::new(&server, "discovery");
        if discovery.report_expected().await.is_err() {
            return;
        }
        while let Ok(polled) = discovery.poll().await {
            sleep(schedule.next(polled.err())).await;
        }
    };
    tokio::select! {
        _ = stop.wait_for(|stop| *stop) => {}
        ((), ()) = async { tokio::join!(openapi, discovery) } => {}
    }
}

/// The schedule of polls: after the refresh interval, or after growing intervals while polls fail.
struct Schedule<'s> {
    server: &'s Downstream,
    what: &'static str,
    failures: u32,
}

impl<'s> Schedule<'s> {
    fn new(server: &'s Downstream, what: &'static str) -> Schedule<'s> {
        Schedule { server, what, failures: 0 }
    }

    fn next(&mut self, failure: Option<Failure>) -> Duration {
        let options = &self.server.client.options;
        let (server, what) = (&*options.name, self.what);
        match failure {
            None => {
                if self.failures > 0 {
                    tracing::info!(server, what, "the aggregated server answers again");
                }
                self.failures = 0;
                options.refresh
            }
            Some(failure) => {
                // Only the first failure deserves a warning.
                if self.failures == 0 {
                    tracing::warn!(server, what, %failure, "an aggregated server does not answer");
                } else {
                    tracing::debug!(server, what, %failure, "an aggregated server still does not answer");
                }
                self.failures = self.failures.saturating_add(1);
                backoff(options.backoff, self.failures)
            }
        }
    }
}

/// Returns the wait after this many consecutive failures: it doubles from `first` up to `last`.
fn backoff((first, last): (Duration, Duration), failures: u32) -> Duration {
    let factor = 2_u32.saturating_pow(failures.saturating_sub(1));
    first.saturating_mul(factor).min(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_between_failures_doubles() {
        let seconds = Duration::from_secs;
        let times: Vec<_> = (1..9).map(|n| backoff((seconds(1), seconds(60)), n).as_secs()).collect();
        assert_eq!(times, [1, 2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(backoff((seconds(1), seconds(60)), u32::MAX), seconds(60));
    }
}
