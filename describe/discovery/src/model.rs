//! The model of discovery.

use std::sync::Arc;

/// A group with its versions. The core group has an empty name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// `apps`, `stable.example.com`; empty for the core group.
    pub name: Arc<str>,
    /// Versions in the order in which they are published.
    pub versions: Vec<Arc<GroupVersion>>,
}

/// A version of a group and its resources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupVersion {
    /// `v1`, `v1beta1`
    pub version: Arc<str>,
    /// Decides its order among groups and versions.
    pub priority: Priority,
    /// Its source. If several sources have one group version, the strongest origin wins.
    pub origin: Origin,
    /// Whether its resources are known to be up to date.
    pub freshness: Freshness,
    /// Resources in the order in which they are published in the aggregated form.
    pub resources: Vec<Resource>,
}

/// `groupPriorityMinimum` and `versionPriority` of an APIService: higher comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Priority {
    /// Of the group.
    pub group: i32,
    /// Of the version in its group.
    pub version: i32,
}

/// The source of a group version, the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// Another server.
    Aggregated,
    /// The server's own types.
    BuiltIn,
    /// CustomResourceDefinitions.
    CustomResources,
}

/// Whether the resources of a group version are known to be up to date.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Freshness {
    /// They are up to date.
    Current,
    /// The server that has them did not respond, so they may be out of date.
    Stale,
}

/// A kind with its group and version. It is printed as `apps/v1, Deployment`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kind {
    /// Empty for the core group, and for built-in kinds of the group version that contains them.
    pub group: Arc<str>,
    /// Empty for built-in kinds of the group version that contains them.
    pub version: Arc<str>,
    /// `Deployment`
    pub kind: Arc<str>,
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Kind { group, version, kind } = self;
        let slash = if group.is_empty() { "" } else { "/" };
        write!(f, "{group}{slash}{version}, {kind}")
    }
}

/// Whether objects live in namespaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// In namespaces.
    Namespaced,
    /// In the whole cluster.
    Cluster,
}

/// A resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Plural name, `deployments`.
    pub name: Arc<str>,
    /// The kind of the response to a request.
    pub response_kind: Kind,
    /// Where its objects live.
    pub scope: Scope,
    /// `deployment`; may be empty.
    pub singular: Arc<str>,
    /// Verbs in the order in which they are published.
    pub verbs: Vec<Arc<str>>,
    /// `deploy`
    pub short_names: Vec<Arc<str>>,
    /// `all`
    pub categories: Vec<Arc<str>>,
    /// Hash of the version in which objects are stored. Only the unaggregated form has it.
    pub storage_version_hash: Option<Arc<str>>,
    /// Subresources in the order in which they are published.
    pub subresources: Vec<Subresource>,
}

/// A subresource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subresource {
    /// `status`
    pub name: Arc<str>,
    /// The kind of the response to a request. If it is unknown, all members are empty, and are published as such: old
    /// clients do not read a document without the member (upstream: `ConvertGroupVersionIntoToDiscovery` of apiserver,
    /// and `DiscoveryManager` of kube-aggregator).
    pub response_kind: Kind,
    /// Further kinds that requests may send.
    pub accepted_types: Vec<Kind>,
    /// Verbs in the order in which they are published.
    pub verbs: Vec<Arc<str>>,
}
