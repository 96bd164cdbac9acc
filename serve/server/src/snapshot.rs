//! Snapshots: everything that the server publishes at one moment, immutable and swapped as a whole.

use crate::document::Document;
use crate::store::Index;
use arc_swap::ArcSwap;
use axum::extract::Request;
use axum::response::Response;
use bytes::Bytes;
use imbl::OrdMap;
use kubeshape_discovery::Group;
use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, LazyLock};

/// The source of responses for a v3 document.
#[derive(Clone, Debug)]
pub enum Leaf {
    /// A document in memory.
    Local(Arc<Document>),
    /// A downstream server, to which requests are proxied.
    Remote(Arc<dyn Upstream>),
}

/// A downstream server that answers requests for documents.
pub trait Upstream: Debug + Send + Sync {
    /// Forwards a request. The response has the caching headers of the server.
    fn forward(&self, request: Request) -> Pin<Box<dyn Future<Output = Response> + Send>>;
}

/// Everything that is published at one moment.
#[derive(Debug)]
pub struct Snapshot {
    /// v3 documents by path without leading slash: `api/v1`, `apis/apps/v1`, `version` …
    pub v3: OrdMap<Arc<str>, Leaf>,
    /// The v3 index, which is made at its first use.
    pub index: Arc<Index>,
    /// The v2 document, which is merged at its first use.
    pub v2: Arc<LazyV2>,
    /// Groups, versions, resources.
    pub discovery: Discovery,
    /// The body of `/version`.
    pub version: Bytes,
    /// Paths of `/` that come from a base. Those of documents and groups are added.
    pub root_paths: Arc<[String]>,
}

/// A v2 document that is merged at the first use of the snapshot.
pub type LazyV2 =
    LazyLock<Result<Arc<Document>, Arc<str>>, Box<dyn FnOnce() -> Result<Arc<Document>, Arc<str>> + Send>>;

/// Groups, versions and resources of one moment.
#[derive(Clone, Debug)]
pub struct Discovery {
    /// The core group, if there is one.
    pub core: Option<Arc<Group>>,
    /// The named groups by name.
    pub groups: OrdMap<Arc<str>, Arc<Group>>,
    /// `{"metadata":{},"items":[…]}` of the core group. The ETag is its hash. The body of `/api` also has kind,
    /// apiVersion and a final newline.
    pub aggregated_core: Arc<Document>,
    /// The same for the named groups and `/apis`, in the order of aggregated discovery.
    pub aggregated: Arc<Document>,
}

/// The current snapshot. Readers never wait, and never see parts of two snapshots.
#[derive(Debug)]
pub struct Live {
    current: ArcSwap<Snapshot>,
}

impl Live {
    /// Creates it with a first snapshot.
    pub fn new(snapshot: Arc<Snapshot>) -> Live {
        Live { current: ArcSwap::new(snapshot) }
    }

    /// Returns the current snapshot. A request keeps it until its response.
    pub fn current(&self) -> Arc<Snapshot> {
        self.current.load_full()
    }

    /// Replaces the current snapshot.
    pub fn swap(&self, snapshot: Arc<Snapshot>) {
        self.current.store(snapshot);
    }
}
