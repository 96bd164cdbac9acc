//! The schema side of a Kubernetes API over HTTP, as kube-apiserver answers it, without etcd: OpenAPI v2 and
//! v3, discovery, and the aggregation of other servers.
//!
//! This crate holds no rule of conversion: what is published comes from `kubeshape-publish` and
//! `kubeshape-convert`.

pub mod aggregate;
mod document;
mod metrics;
mod remote;
mod rope;
mod snapshot;
mod state;

pub use document::{Dialect, Document};
pub use metrics::Metrics;
pub use remote::{RemoteDocument, RemoteState};
pub use rope::Rope;
pub use snapshot::{Discovery, LazyV2, Leaf, Live, Snapshot, Upstream};
pub use state::{Endpoints, Readiness};
