//! Reads discovery documents of other servers, recorded or just fetched.
//!
//! The reader is as tolerant as client-go: it ignores unknown members and members that are null, and of repeated
//! members, it uses the last one. A member of the wrong type is an error with its location.

mod json;
mod model;
mod proto;

pub(super) use model::{custom_resources, group_version, unknown_resource};

use super::model::{Group, Resource};
use kubeshape_yaml::{Error, Limits, Node, Stream, Tape};
use std::sync::Arc;

/// The discovery documents that clients accept (client-go `discovery_client.go`): v2 before v2beta1 before the
/// unaggregated form, which servers without aggregated discovery send.
pub const ACCEPT: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
    application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

/// Why bytes cannot be read as a discovery document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The input is not JSON or YAML, or a member has the wrong type.
    #[error("{0}")]
    Text(#[from] Error),
    /// The bytes are not the protobuf form of the message.
    #[error("{0}")]
    Wire(#[from] prost::DecodeError),
    /// The input is not a discovery document.
    #[error("found {0}, expected a discovery document")]
    Other(String),
    /// A subresource and its resource have different scopes.
    #[error("{name:?} and its resource do not have the same scope; expected both in namespaces or both in the cluster")]
    Scope {
        /// `deployments/scale`
        name: String,
    },
}

/// The contents of a discovery document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Document {
    /// `APIGroupDiscoveryList`: groups in its order.
    Aggregated(Vec<Group>),
    /// `APIGroupList`: groups in its order.
    Groups(Vec<GroupEntry>),
    /// `APIGroup`
    Group(GroupEntry),
    /// `APIResourceList`
    Resources {
        /// Empty for the core group.
        group: Arc<str>,
        /// `v1`
        version: Arc<str>,
        /// Resources, each with its subresources.
        resources: Vec<Resource>,
    },
    /// `APIVersions`: the versions of the core group.
    Versions {
        /// `v1`
        versions: Vec<Arc<str>>,
        /// Ranges of client addresses and the address at which such clients reach the server.
        addresses: Vec<(String, String)>,
    },
    /// The list of paths that `/` responds with.
    Paths(Vec<String>),
    /// `/version`: its members in their order.
    Version(Vec<(String, String)>),
}

/// A group of an `APIGroupList`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupEntry {
    /// Its name.
    pub name: Arc<str>,
    /// Its versions in the order of the document, but the preferred version comes first.
    pub versions: Vec<Arc<str>>,
}

/// The kind of a discovery document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DocumentKind {
    /// `APIGroupDiscoveryList`
    Aggregated,
    /// `APIGroupList`
    Groups,
    /// `APIGroup`
    Group,
    /// `APIResourceList`
    Resources,
    /// `APIVersions`
    Versions,
    /// The list of paths that `/` responds with.
    Paths,
    /// `/version`
    Version,
}

impl DocumentKind {
    fn of(api_version: &str, kind: &str) -> Option<DocumentKind> {
        Some(match (kind, api_version) {
            ("APIGroupDiscoveryList", "apidiscovery.k8s.io/v2" | "apidiscovery.k8s.io/v2beta1") => {
                DocumentKind::Aggregated
            }
            ("APIGroupList", "v1" | "") => DocumentKind::Groups,
            ("APIGroup", "v1" | "") => DocumentKind::Group,
            ("APIResourceList", "v1" | "") => DocumentKind::Resources,
            ("APIVersions", "v1" | "") => DocumentKind::Versions,
            _ => return None,
        })
    }

    /// Returns the kind of the discovery document with this root, in JSON or YAML.
    ///
    /// # Example
    /// ```
    /// use kubeshape_discovery::read::DocumentKind;
    /// use kubeshape_yaml::{Limits, Stream, Tape};
    /// let source = "kind: APIVersions\nversions: [v1]\n";
    /// let mut tape = Tape::new();
    /// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
    /// let root = tape.document(source).root().unwrap();
    /// assert_eq!(DocumentKind::of_node(root), Some(DocumentKind::Versions));
    /// # Ok::<(), kubeshape_yaml::Error>(())
    /// ```
    pub fn of_node(root: Node<'_>) -> Option<DocumentKind> {
        json::kind(root)
    }
}

/// Returns whether bytes begin like the protobuf form of a Kubernetes object.
pub fn is_protobuf(bytes: &[u8]) -> bool {
    bytes.starts_with(super::wire::MAGIC)
}

/// Reads a discovery document: JSON, YAML or protobuf. If YAML has several documents, only the first is read.
///
/// # Errors
/// - [`ReadError::Text`]: the input is neither JSON nor YAML or exceeds a limit, or a member has the wrong type.
/// - [`ReadError::Wire`]: the protobuf message cannot be decoded.
/// - [`ReadError::Other`]: it is not a discovery document.
/// - [`ReadError::Scope`]: in an `APIResourceList`, a subresource and its resource have different scopes.
///
/// # Example
/// ```
/// use kubeshape_discovery::read::{self, Document};
/// use kubeshape_yaml::Limits;
/// let body = br#"{"kind":"APIResourceList","groupVersion":"example.com/v1","resources":[
///   {"name":"tabs","singularName":"tab","namespaced":false,"kind":"Tab","verbs":["get","list"]},
///   {"name":"tabs/status","namespaced":false,"kind":"Tab","verbs":["get"]}]}"#;
/// let Document::Resources { resources, .. } = read::read(body, Limits::default())? else { unreachable!() };
/// assert_eq!((&*resources[0].name, &*resources[0].subresources[0].name), ("tabs", "status"));
/// # Ok::<(), read::ReadError>(())
/// ```
pub fn read(bytes: &[u8], limits: Limits) -> Result<Document, ReadError> {
    if is_protobuf(bytes) {
        return proto::read(bytes, limits);
    }
    let mut tape = Tape::new();
    let mut stream = Stream::new(bytes, limits)?;
    stream.next(&mut tape).transpose()?;
    match tape.document(stream.source()).root() {
        Some(root) => read_node(root),
        None => Err(ReadError::Other("nothing".to_owned())),
    }
}

/// Reads a discovery document that has been parsed already.
///
/// # Errors
/// - [`ReadError::Text`]: a member has the wrong type.
/// - [`ReadError::Other`]: it is not a discovery document.
/// - [`ReadError::Scope`]: in an `APIResourceList`, a subresource and its resource have different scopes.
pub fn read_node(root: Node<'_>) -> Result<Document, ReadError> {
    json::read(root)
}
