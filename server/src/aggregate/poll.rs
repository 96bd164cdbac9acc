//! One server is looked at again and again: its documents and its discovery, each at its own pace, so that the one
//! does not wait for the other.

use super::client::{Client, Failure};
use super::discovery::DiscoveryPoll;
use super::openapi::OpenApiPoll;
use crate::metrics::Metrics;
use crate::remote::RemoteState;
use kubeshape_publish::Profile;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, mpsc, watch};
use tokio::time::{Instant, sleep};

/// What both looks share.
pub(super) struct Shared {
    pub(super) client: Arc<Client>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) profile: Profile,
    told: Mutex<Told>,
}

/// What was told last, and to whom.
struct Told {
    state: RemoteState,
    updates: mpsc::Sender<RemoteState>,
}

/// Nobody listens any more.
pub(super) struct Deaf;

/// What came of a request that finds out whether something changed.
pub(super) enum Look<T> {
    Same,
    New(T),
}

impl<T> Look<T> {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Look::Same => "unchanged",
            Look::New(_) => "success",
        }
    }
}

impl Shared {
    pub(super) fn new(
        client: Client,
        position: usize,
        profile: Profile,
        metrics: Arc<Metrics>,
        updates: mpsc::Sender<RemoteState>,
    ) -> Shared {
        let state = RemoteState::new(Arc::clone(&client.options.name), position);
        Shared { client: Arc::new(client), metrics, profile, told: Mutex::new(Told { state, updates }) }
    }

    /// Changes the state and tells it if `change` says that it changed.
    pub(super) async fn tell(&self, change: impl FnOnce(&mut RemoteState) -> bool) -> Result<(), Deaf> {
        let mut told = self.told.lock().await;
        if change(&mut told.state) {
            let state = told.state.clone();
            told.updates.send(state).await.map_err(|_| Deaf)?;
        }
        Ok(())
    }

    pub(super) fn measure<T>(&self, what: &'static str, start: Instant, look: &Result<Look<T>, Failure>) {
        let result = look.as_ref().map_or("failure", Look::name);
        self.metrics.downstream(&self.client.options.name, what, result, start.elapsed());
    }
}

/// Looks at a server until it is stopped or nobody listens.
pub(super) async fn poll(shared: Shared, mut stop: watch::Receiver<bool>) {
    let shared = Arc::new(shared);
    let mut openapi = OpenApiPoll::new(Arc::clone(&shared));
    let mut discovery = DiscoveryPoll::new(Arc::clone(&shared));
    let openapi = async {
        let mut pace = Pace::new(&shared, "OpenAPI");
        while let Ok(looked) = openapi.look().await {
            sleep(pace.next(looked.err())).await;
        }
    };
    let discovery = async {
        let mut pace = Pace::new(&shared, "discovery");
        if discovery.expect().await.is_err() {
            return;
        }
        while let Ok(looked) = discovery.look().await {
            sleep(pace.next(looked.err())).await;
        }
    };
    tokio::select! {
        _ = stop.wait_for(|stop| *stop) => {}
        ((), ()) = async { tokio::join!(openapi, discovery) } => {}
    }
}

/// When to look again.
struct Pace<'s> {
    shared: &'s Shared,
    what: &'static str,
    failures: u32,
}

impl<'s> Pace<'s> {
    fn new(shared: &'s Shared, what: &'static str) -> Pace<'s> {
        Pace { shared, what, failures: 0 }
    }

    fn next(&mut self, failure: Option<Failure>) -> Duration {
        let options = &self.shared.client.options;
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
                // The first one is news, all others are not.
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

/// The time after so many failures: the first one doubled with every failure up to the last one.
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
