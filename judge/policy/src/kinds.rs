//! What a policy needs to know about the kinds that a server serves.

use kubeshape_cel::DeclType;
use kubeshape_value::{Bump, Value};
use std::fmt;
use std::sync::Arc;

/// Group, version and kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gvk {
    /// Empty for the core group.
    pub group: String,
    /// `v1`
    pub version: String,
    /// `Pod`
    pub kind: String,
}

/// Group, version and resource.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gvr {
    /// Empty for the core group.
    pub group: String,
    /// `v1`
    pub version: String,
    /// `pods`
    pub resource: String,
}

/// Splits `group/version`.
fn split(api_version: &str) -> (&str, &str) {
    api_version.split_once('/').unwrap_or(("", api_version))
}

impl Gvk {
    /// Creates it from `apiVersion` and `kind`.
    pub fn of(api_version: &str, kind: &str) -> Gvk {
        let (group, version) = split(api_version);
        Gvk { group: group.to_owned(), version: version.to_owned(), kind: kind.to_owned() }
    }

    /// `apps/v1`
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }

    pub(crate) fn is_core_namespace(&self) -> bool {
        self.group.is_empty() && self.version == "v1" && self.kind == "Namespace"
    }
}

impl fmt::Display for Gvk {
    /// Prints it like Go's `schema.GroupVersionKind`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}, Kind={}", self.group, self.version, self.kind)
    }
}

impl Gvr {
    /// Creates it from its parts.
    pub fn new(group: &str, version: &str, resource: &str) -> Gvr {
        Gvr { group: group.to_owned(), version: version.to_owned(), resource: resource.to_owned() }
    }

    /// `deployments.apps`
    pub(crate) fn group_resource(&self) -> String {
        if self.group.is_empty() { self.resource.clone() } else { format!("{}.{}", self.resource, self.group) }
    }
}

/// The properties of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// `pods`
    pub resource: String,
    /// Whether its objects have a namespace.
    pub is_namespaced: bool,
    /// Whether a server has Go types for it.
    pub is_built_in: bool,
}

/// An object after decoding by the server.
#[derive(Clone, Debug)]
pub struct Decoded<'a> {
    /// The object with defaults.
    pub value: Value<'a>,
    /// The paths of unknown fields.
    pub unknown: Vec<String>,
}

/// Why a patch cannot be merged into an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MergeError {
    /// The server has no schemas for the group and version.
    NoSchemas,
    /// The error of the merge, in upstream's words.
    Refused(String),
}

/// The kinds that a server serves.
pub trait Kinds {
    /// Returns the properties of a kind.
    fn kind(&self, gvk: &Gvk) -> Option<Known>;

    /// Returns the kind of a resource.
    fn of_resource(&self, resource: &Gvr) -> Option<Gvk>;

    /// Returns the kinds of resources with a name and version, in any group.
    fn of_any_group(&self, version: &str, resource: &str) -> Vec<Gvk>;

    /// Returns all resources with the same objects as this one, in the order in which a server registers them.
    fn equivalents(&self, resource: &Gvr) -> Vec<Gvr>;

    /// Decodes an object and adds defaults.
    ///
    /// # Errors
    /// Returns the message about the first value that does not fit its type.
    fn decode<'a>(&self, gvk: &Gvk, object: Value<'a>, arena: &'a Bump) -> Result<Decoded<'a>, String>;

    /// Merges a patch into an object, as server-side apply merges fields, without owners.
    ///
    /// # Errors
    /// See [`MergeError`].
    fn merge<'a>(&self, gvk: &Gvk, live: Value<'a>, patch: Value<'a>, arena: &'a Bump)
    -> Result<Value<'a>, MergeError>;

    /// Returns the type with which expressions are checked; `None` if the server has no schema of the kind.
    fn declared(&self, gvk: &Gvk) -> Option<Arc<DeclType>>;
}
