//! The part of a snapshot that comes from a downstream server.

use crate::snapshot::Leaf;
use kubeshape_convert::aggregate::merge::Overlay;
use kubeshape_discovery::Group;
use std::sync::Arc;

/// The state of a downstream server: what it publishes at one moment.
#[derive(Clone, Debug)]
pub struct RemoteState {
    /// Its configured name.
    pub name: Arc<str>,
    /// Its position on the command line. If two servers have the same group version, the first one serves it.
    pub position: usize,
    /// Its v3 documents by path.
    pub v3: Vec<RemoteDocument>,
    /// Its groups by name, with their freshness. They always include the configured group versions. The name of the
    /// core group is empty.
    pub groups: Vec<Group>,
    /// Its part of the v2 document, which is merged after everything local and in the order of the servers. `None` if
    /// it has no v2 document or an empty one.
    pub v2: Option<Arc<Overlay>>,
}

impl RemoteState {
    /// Creates the state of a server that was not reached yet.
    pub fn new(name: impl Into<Arc<str>>, position: usize) -> RemoteState {
        RemoteState { name: name.into(), position, v3: Vec::new(), groups: Vec::new(), v2: None }
    }
}

/// A v3 document of a downstream server.
#[derive(Clone, Debug)]
pub struct RemoteDocument {
    /// `apis/GROUP/VERSION`, `apis/GROUP` or `api/VERSION`
    pub path: Arc<str>,
    /// The `serverRelativeURL` of that server, with its hash.
    pub url: Arc<str>,
    /// The source of responses: the server itself, or a document that was converted from its v2 document.
    pub leaf: Leaf,
}
