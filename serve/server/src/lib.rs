//! An HTTP server for the schemas of a Kubernetes API, with kube-apiserver's responses and without etcd: OpenAPI v2 and
//! v3, discovery, and the aggregation of other servers.
//!
//! A [`Store`] creates a [`Snapshot`] of the input files and of the data of other servers. [`Endpoints`] answer
//! requests from the current snapshot, and a [`Server`] accepts connections. `kubeshape-publish` and
//! `kubeshape-convert` decide how documents are converted.

pub mod aggregate;
mod auth;
mod body;
mod document;
mod etcd;
mod features;
pub mod http;
mod limit;
mod listen;
mod metrics;
mod objects;
mod pieces;
mod remote;
mod rope;
mod snapshot;
mod state;
pub mod store;
mod webhooks;
mod worlds;

pub use auth::{AllowedHosts, Authenticator, Cors, CorsError, KeyError, ServiceAccounts, TokenError, Tokens};
pub use body::Tags;
pub use document::{Document, Sizes};
pub use etcd::Etcd;
pub use features::{Emulation, EmulationError, Features};
pub use http::pages::{Pages, View, Views};
pub use kubeshape_input::Finding;
pub use limit::Limits;
pub use listen::{Ended, Endpoint, Listener, Server, Tls, TlsError};
pub use metrics::{Metrics, OpenConnection};
pub use objects::{Clock, Keeper, ManualClock, Objects, Origin, Unkept};
pub use remote::{RemoteDocument, RemoteState};
pub use rope::Rope;
pub use snapshot::{Discovery, LazyV2, Leaf, Live, Snapshot, Upstream};
pub use state::{Endpoints, Readiness};
pub use store::{Applied, BaseDocuments, BaseError, Change, Definition, Index, Quality, Reason, Store, StoreOptions};
pub use webhooks::{LoopbackHooks, WebhookClient};
pub use worlds::{Branched, MAX_WORLDS, Worlds};
