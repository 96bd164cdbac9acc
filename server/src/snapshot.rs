//! What the server publishes at one moment: immutable, swapped as a whole.

use crate::document::Document;
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

/// Who answers for a v3 document.
#[derive(Clone, Debug)]
pub enum Leaf {
    /// This server, from memory.
    Local(Arc<Document>),
    /// A downstream server; requests are handed on unchanged.
    Remote(Arc<dyn Upstream>),
}

/// A downstream server that answers for documents.
pub trait Upstream: Debug + Send + Sync {
    /// Hands a request on and gives the answer back with its caching headers.
    fn forward(&self, request: Request) -> Pin<Box<dyn Future<Output = Response> + Send>>;
}

/// Everything that is published at one moment.
#[derive(Debug)]
pub struct Snapshot {
    /// v3 documents by path without leading slash: `api/v1`, `apis/apps/v1`, `version` …
    pub v3: OrdMap<Arc<str>, Leaf>,
    /// The v3 index.
    pub index: Arc<Document>,
    /// The v2 document, merged when it is asked for the first time.
    pub v2: Arc<LazyV2>,
    /// Groups, versions, resources.
    pub discovery: Discovery,
    /// The body of `/version`.
    pub version: Bytes,
    /// Paths of `/` that come from a base; those of documents and groups are added to them.
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
    /// `{"metadata":{},"items":[…]}` of the core group: what the ETag is made of. The body of `/api` is the same
    /// with kind, apiVersion and a final newline.
    pub aggregated_core: Arc<Document>,
    /// The same of the named groups in the order of aggregated discovery, for `/apis`.
    pub aggregated: Arc<Document>,
}

/// The snapshot that is served now. Readers never wait and never see parts of two snapshots.
#[derive(Debug)]
pub struct Live {
    current: ArcSwap<Snapshot>,
}

impl Live {
    /// Serves `snapshot`.
    pub fn new(snapshot: Arc<Snapshot>) -> Live {
        Live { current: ArcSwap::new(snapshot) }
    }

    /// The snapshot of this moment; the caller keeps it for a whole request.
    pub fn current(&self) -> Arc<Snapshot> {
        self.current.load_full()
    }

    /// Serves `snapshot` from now on.
    pub fn swap(&self, snapshot: Arc<Snapshot>) {
        self.current.store(snapshot);
    }
}
