//! What a downstream server adds to a snapshot.

use crate::snapshot::Leaf;
use kubeshape_publish::discovery::Group;
use std::sync::Arc;

/// What one downstream server publishes at one moment, as the aggregation hands it to the snapshot.
#[derive(Clone, Debug)]
pub struct RemoteState {
    /// Its configured name.
    pub name: Arc<str>,
    /// Its place on the command line: of two servers with one group version the first one has it.
    pub position: usize,
    /// Its v3 documents.
    pub v3: Vec<RemoteDocument>,
    /// Its groups, with freshness; the group versions that were configured are always among them.
    pub groups: Vec<Group>,
}

/// A v3 document of a downstream server.
#[derive(Clone, Debug)]
pub struct RemoteDocument {
    /// `apis/GROUP/VERSION`
    pub path: Arc<str>,
    /// `serverRelativeURL` as that server gave it, with its hash, which is passed through verbatim.
    pub url: Arc<str>,
    /// Who answers: the server itself, or a document converted from its v2 document.
    pub leaf: Leaf,
}
