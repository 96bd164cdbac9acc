//! Other API servers are part of what is published (spec: publishing, §4 and §5.2; upstream: kube-aggregator).
//!
//! [`Aggregator::spawn`] starts a task per server that looks at its documents and its discovery and tells, as
//! [`RemoteState`], what changed:
//!
//! - v3 documents stay where they are: requests for them are handed on by [`Leaf::Remote`](crate::Leaf::Remote), with the
//!   query and the headers that choose a representation, and come back with their caching headers, unread;
//! - the v2 document of a server without v3 documents is converted, and cut into its group versions;
//! - discovery is read in the aggregated form, in that of version v2beta1, or group version by group version.
//!
//! Servers are not trusted: everything that they send has a bound in size, time and number, redirects are followed
//! within the server alone, and a connection goes to the address that was configured whatever an answer says. A server
//! that does not answer keeps what is known of it, marked stale in discovery; others do not notice. Credentials of
//! clients stay here; a server sees the token that is configured for it.

mod bodies;
mod client;
mod connect;
mod converted;
mod discovery;
mod groups;
mod index;
mod openapi;
mod options;
mod poll;
mod proxy;

pub use bodies::DiscoveryBody;
pub use connect::ConnectError;
pub use converted::{documents_of_v2, merge_v2};
pub use index::Index;
pub use options::{
    Address, AggregateOptions, AggregateOptionsError, BadToken, GroupVersionName, Limits, Socket, Timeouts, Token,
};

use crate::metrics::Metrics;
use crate::remote::RemoteState;
use client::Client;
use kubeshape_publish::Profile;
use poll::Shared;
use std::sync::Arc;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

/// Looks at downstream servers until it is stopped or dropped.
///
/// # Example
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use kubeshape_publish::Profile;
/// use kubeshape_server::aggregate::Aggregator;
/// use kubeshape_server::Metrics;
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
/// # runtime.block_on(async {
/// let servers = vec!["example=http://127.0.0.1:1,example.com/v1".parse()?];
/// let (updates, mut states) = tokio::sync::mpsc::channel(8);
/// let aggregator = Aggregator::spawn(servers, Profile::Kube, &updates, &Metrics::default().into())?;
/// // It was not reached yet: what it is expected to have is stale.
/// let state = states.recv().await.unwrap();
/// assert_eq!(&*state.groups[0].name, "example.com");
/// aggregator.stop().await;
/// # Ok(())
/// # })
/// # }
/// ```
#[derive(Debug)]
pub struct Aggregator {
    tasks: JoinSet<()>,
    stop: watch::Sender<bool>,
}

impl Aggregator {
    /// Starts a task for each server, in the order of their precedence. `profile` is that of conversions from v2. A
    /// [`RemoteState`] is sent when something changed, the first one at once if group versions are configured.
    ///
    /// # Errors
    /// The certificates of a server cannot be used.
    pub fn spawn(
        servers: Vec<AggregateOptions>,
        profile: Profile,
        updates: &mpsc::Sender<RemoteState>,
        metrics: &Arc<Metrics>,
    ) -> Result<Aggregator, ConnectError> {
        let clients = servers.into_iter().map(Client::new).collect::<Result<Vec<_>, _>>()?;
        let (stop, stopped) = watch::channel(false);
        let mut tasks = JoinSet::new();
        for (position, client) in clients.into_iter().enumerate() {
            let shared = Shared::new(client, position, profile, Arc::clone(metrics), updates.clone());
            tasks.spawn(poll::poll(shared, stopped.clone()));
        }
        Ok(Aggregator { tasks, stop })
    }

    /// Stops all tasks and waits for their end.
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
        while self.tasks.join_next().await.is_some() {}
    }
}
