//! What a downstream server adds to a snapshot.

use crate::snapshot::Leaf;
use kubeshape_convert::v2::merge::Overlay;
use kubeshape_discovery::Group;
use std::sync::Arc;

/// What one downstream server publishes at one moment, as the aggregation hands it to the snapshot.
#[derive(Clone, Debug)]
pub struct RemoteState {
    /// Its configured name.
    pub name: Arc<str>,
    /// Its place on the command line: of two servers with one group version the first one has it.
    pub position: usize,
    /// Its v3 documents by path.
    pub v3: Vec<RemoteDocument>,
    /// Its groups by name, with freshness; the group versions that were configured are always among them. The core
    /// group has an empty name.
    pub groups: Vec<Group>,
    /// What it adds to the v2 document, behind everything local and in the order of the servers; none if it has no
    /// v2 document, or nothing in it.
    pub v2: Option<Arc<Overlay>>,
}

impl RemoteState {
    /// A server that nothing is known of.
    pub fn new(name: impl Into<Arc<str>>, position: usize) -> RemoteState {
        RemoteState { name: name.into(), position, v3: Vec::new(), groups: Vec::new(), v2: None }
    }
}

/// A v3 document of a downstream server.
#[derive(Clone, Debug)]
pub struct RemoteDocument {
    /// `apis/GROUP/VERSION`, `apis/GROUP` or `api/VERSION`
    pub path: Arc<str>,
    /// `serverRelativeURL` as that server gave it, with its hash, which is passed through verbatim.
    pub url: Arc<str>,
    /// Who answers: the server itself, or a document converted from its v2 document.
    pub leaf: Leaf,
}
