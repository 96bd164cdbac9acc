//! Aggregation of other API servers, like in kube-aggregator (`pkg/controllers/openapiv3/aggregator`,
//! `pkg/controllers/openapi/aggregator`, and `discoveryManager` in `pkg/apiserver`).
//!
//! [`Aggregator::spawn`] starts a task per server. It polls the server's documents and its discovery, and reports
//! changes as [`RemoteState`]:
//!
//! - Requests for v3 documents are proxied ([`Leaf::Remote`](crate::Leaf::Remote)), with the query and the headers that
//!   select a representation. The responses keep their caching headers, and are not parsed.
//! - The v2 document of a server without v3 documents is converted, and split by group version.
//! - Discovery is read in aggregated form (v2 or v2beta1), or group version by group version.
//!
//! Servers are not trusted. Everything that they send is limited in size, time and number. Redirects are followed only
//! within the same server, and connections go only to the configured address. If a server does not respond, its last
//! known state is kept and marked stale in discovery; other servers are not affected. Credentials of clients are never
//! forwarded: a server gets the token that is configured for it.

mod bodies;
mod client;
mod connect;
mod converted;
mod discovery;
mod downstream;
mod failure;
mod groups;
mod openapi;
mod options;
mod permits;
mod poll;
mod proxy;
mod relay;

pub use bodies::DiscoveryBody;
pub use connect::ConnectError;
pub use converted::{documents_of_v2, merge_v2};
pub use options::{
    Address, AggregateOptions, AggregateOptionsError, BadToken, GroupVersionName, Limits, Socket, Timeouts, Token,
};

use crate::metrics::Metrics;
use crate::remote::RemoteState;
use client::Client;
use downstream::Downstream;
use kubeshape_publish::Profile;
use std::sync::Arc;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

/// The profiles of conversions and merges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profiles {
    /// For OpenAPI v2 documents that are merged into that of this server.
    pub documents: Profile,
    /// For the conversion to OpenAPI v3, for servers that publish only v2. [`Profile::Kube`] is the conversion of
    /// kube-aggregator, which leaves quantities and int-or-strings as strings. KEP-2896 allows better ones.
    pub conversion: Profile,
}

impl Default for Profiles {
    fn default() -> Self {
        Profiles { documents: Profile::Kube, conversion: Profile::Faithful }
    }
}

impl From<Profile> for Profiles {
    /// Uses one profile for both.
    fn from(profile: Profile) -> Self {
        Profiles { documents: profile, conversion: profile }
    }
}

/// Polls downstream servers until it is stopped or dropped.
///
/// # Example
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use kubeshape_server::aggregate::{Aggregator, Profiles};
/// use kubeshape_server::Metrics;
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
/// # runtime.block_on(async {
/// let servers = vec!["example=http://127.0.0.1:1,example.com/v1".parse()?];
/// let (updates, mut states) = tokio::sync::mpsc::channel(8);
/// let aggregator = Aggregator::spawn(servers, Profiles::default(), &updates, &Metrics::default().into())?;
/// // The server was not reached yet: the group versions that it is expected to have are stale.
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
    /// Starts a task for each server. If two servers have the same group version, the first one serves it. A
    /// [`RemoteState`] is sent whenever something changed, and immediately if group versions are configured.
    ///
    /// # Errors
    /// The certificates of a server cannot be used.
    pub fn spawn(
        servers: Vec<AggregateOptions>,
        profiles: Profiles,
        updates: &mpsc::Sender<RemoteState>,
        metrics: &Arc<Metrics>,
    ) -> Result<Aggregator, ConnectError> {
        let clients = servers.into_iter().map(Client::new).collect::<Result<Vec<_>, _>>()?;
        let (stop, stopped) = watch::channel(false);
        let mut tasks = JoinSet::new();
        for (position, client) in clients.into_iter().enumerate() {
            let server = Downstream::new(client, position, profiles, Arc::clone(metrics), updates.clone());
            tasks.spawn(poll::poll(server, stopped.clone()));
        }
        Ok(Aggregator { tasks, stop })
    }

    /// Stops all tasks and waits for their end.
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
        while self.tasks.join_next().await.is_some() {}
    }
}
