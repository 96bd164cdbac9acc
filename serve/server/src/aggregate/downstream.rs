//! A downstream server, and the reports about what it publishes.

use super::Profiles;
use super::client::Client;
use super::failure::Failure;
use crate::metrics::Metrics;
use crate::remote::RemoteState;
use std::sync::Arc;
use tokio::sync::{Mutex, mpsc};
use tokio::time::Instant;

/// A downstream server, shared by the polls of its documents and of its discovery.
pub(super) struct Downstream {
    pub(super) client: Arc<Client>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) profiles: Profiles,
    reported: Mutex<Reported>,
}

/// The last reported state, and the channel for the next one.
struct Reported {
    state: RemoteState,
    updates: mpsc::Sender<RemoteState>,
}

/// The receiver of states is gone.
pub(super) struct Closed;

/// The result of a poll.
pub(super) enum Polled<T> {
    /// Nothing changed since the last poll.
    Unchanged,
    /// The new state.
    New(T),
}

impl<T> Polled<T> {
    /// Returns the value of the label `result` in metrics.
    fn label(&self) -> &'static str {
        match self {
            Polled::Unchanged => "unchanged",
            Polled::New(_) => "success",
        }
    }
}

impl Downstream {
    /// Creates a server with an unknown state.
    pub(super) fn new(
        client: Client,
        position: usize,
        profiles: Profiles,
        metrics: Arc<Metrics>,
        updates: mpsc::Sender<RemoteState>,
    ) -> Downstream {
        let state = RemoteState::new(Arc::clone(&client.options.name), position);
        Downstream { client: Arc::new(client), metrics, profiles, reported: Mutex::new(Reported { state, updates }) }
    }

    /// Changes the state, and reports it if `change` returns that it changed.
    ///
    /// # Errors
    /// The receiver of states is gone.
    pub(super) async fn report(&self, change: impl FnOnce(&mut RemoteState) -> bool) -> Result<(), Closed> {
        let mut reported = self.reported.lock().await;
        if change(&mut reported.state) {
            let state = reported.state.clone();
            reported.updates.send(state).await.map_err(|_| Closed)?;
        }
        Ok(())
    }

    /// Counts a poll that began at `start`.
    pub(super) fn measure<T>(&self, what: &'static str, start: Instant, polled: &Result<Polled<T>, Failure>) {
        let result = polled.as_ref().map_or("failure", Polled::label);
        self.metrics.downstream(&self.client.options.name, what, result, start.elapsed());
    }
}
