//! What a CustomResourceDefinition adds to discovery (upstream: `apiserver.DiscoveryController.sync` of
//! apiextensions-apiserver).

use crate::assemble::version_order;
use crate::model::{Freshness, GroupVersion, Kind, Origin, Priority, Resource, Scope, Subresource};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kubeshape_structural::{Crd, Names, Version};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// The priorities of every group version of CustomResourceDefinitions (upstream:
/// `crdregistration.crdRegistrationController`).
pub const CUSTOM_RESOURCE_PRIORITY: Priority = Priority { group: 1000, version: 100 };

/// Verbs of a custom resource, in the server's order.
pub(super) const VERBS: [&str; 8] = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];
/// Its verbs while the definition is being deleted.
pub(super) const TERMINATING_VERBS: [&str; 5] = ["delete", "deletecollection", "get", "list", "watch"];
const SUBRESOURCE_VERBS: [&str; 3] = ["get", "patch", "update"];

/// What one CustomResourceDefinition adds to discovery, and the names it declares. It owns its strings and so outlives
/// the manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomResource {
    /// `spec.group`
    pub group: Arc<str>,
    /// The names it declares: `spec.names`.
    pub names: ClaimedNames,
    /// The names in its `status.acceptedNames`, if the manifest comes from a cluster.
    pub accepted: Option<ClaimedNames>,
    /// The condition `Established` of its `status`, if there is one.
    pub established: Option<bool>,
    /// Its served versions in the order of the manifest, each with its resource.
    pub versions: Vec<(Arc<str>, Resource)>,
    /// Location: the entry of `spec.names` in the tape of the manifest.
    pub names_at: u32,
}

/// The names of a CustomResourceDefinition that no other one of its group may have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClaimedNames {
    /// `plural`
    pub plural: Arc<str>,
    /// `singular`
    pub singular: Arc<str>,
    /// `shortNames`
    pub short_names: Vec<Arc<str>>,
    /// `kind`
    pub kind: Arc<str>,
    /// `listKind`
    pub list_kind: Arc<str>,
}

impl From<&Names<'_>> for ClaimedNames {
    fn from(names: &Names<'_>) -> Self {
        ClaimedNames {
            plural: names.plural.into(),
            singular: names.singular.into(),
            short_names: texts(names.short_names),
            kind: names.kind.into(),
            list_kind: names.list_kind.into(),
        }
    }
}

/// Returns what a CustomResourceDefinition adds to discovery if it gets its names. [`name_conflicts`] finds the
/// definitions that do not.
///
/// [`name_conflicts`]: crate::name_conflicts
///
/// # Example
/// ```
/// use kubeshape_discovery::{custom_resource, storage_version_hash};
/// use kubeshape_schema::Bump;
/// use kubeshape_yaml::{Limits, Stream, Tape};
///
/// let source = r#"{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
///   "metadata": {"name": "tabs.example.com"}, "spec": {"group": "example.com", "scope": "Cluster",
///   "names": {"plural": "tabs", "kind": "Tab"}, "versions": [{"name": "v1", "served": true, "storage": true,
///     "subresources": {"status": {}}, "schema": {"openAPIV3Schema": {"type": "object"}}}]}}"#;
/// let mut tape = Tape::new();
/// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
/// let arena = Bump::new();
/// let crd = kubeshape_structural::read::read(tape.document(source).root().unwrap(), &arena).value.unwrap();
/// let custom = custom_resource(&crd);
/// let (version, resource) = &custom.versions[0];
/// assert_eq!((&**version, &*resource.name, &*resource.subresources[0].name), ("v1", "tabs", "status"));
/// assert_eq!(resource.storage_version_hash.as_deref(), Some(&*storage_version_hash("example.com", "v1", "Tab")));
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
pub fn custom_resource(crd: &Crd<'_>) -> CustomResource {
    let names = crd.status.accepted.filter(|names| !names.plural.is_empty()).unwrap_or(crd.names);
    let scope = match crd.scope {
        kubeshape_structural::Scope::Namespaced => Scope::Namespaced,
        kubeshape_structural::Scope::Cluster | kubeshape_structural::Scope::Other => Scope::Cluster,
    };
    let group: Arc<str> = crd.group.into();
    let stored = crd.versions.iter().rfind(|version| version.served && version.storage);
    let hash = stored.map(|version| Arc::from(storage_version_hash(crd.group, version.name, crd.names.kind)));
    let verbs = words(if crd.status.terminating == Some(true) { &TERMINATING_VERBS } else { &VERBS });
    let subresource_verbs = words(&SUBRESOURCE_VERBS);
    let shared = Resource {
        name: names.plural.into(),
        response_kind: Kind { group: Arc::clone(&group), version: "".into(), kind: names.kind.into() },
        scope,
        singular: names.singular.into(),
        verbs,
        short_names: texts(names.short_names),
        categories: texts(names.categories),
        storage_version_hash: hash,
        subresources: Vec::new(),
    };
    let served = crd.versions.iter().filter(|version| version.served);
    let versions = served.map(|version| {
        let name: Arc<str> = version.name.into();
        let mut resource = shared.clone();
        resource.response_kind.version = Arc::clone(&name);
        resource.subresources = subresources(version, &resource.response_kind, &subresource_verbs);
        (name, resource)
    });
    let versions = versions.collect();
    CustomResource {
        group,
        names: ClaimedNames::from(&crd.names),
        accepted: crd.status.accepted.as_ref().map(ClaimedNames::from),
        established: crd.status.established,
        versions,
        names_at: crd.names_at,
    }
}

fn subresources(version: &Version<'_>, kind: &Kind, verbs: &[Arc<str>]) -> Vec<Subresource> {
    let subresource = |name: &str, response_kind: Kind| Subresource {
        name: name.into(),
        response_kind,
        accepted_types: Vec::new(),
        verbs: verbs.to_vec(),
    };
    let status = version.status.then(|| subresource("status", kind.clone()));
    let scale = version.scale.map(|_| {
        let kind = Kind { group: "autoscaling".into(), version: "v1".into(), kind: "Scale".into() };
        subresource("scale", kind)
    });
    status.into_iter().chain(scale).collect()
}

/// Returns the group versions of CustomResourceDefinitions of one group, in the order of [`version_order`]. The
/// resources of each are sorted by their plural names. The caller must pass only definitions of this group that have
/// their names.
pub fn custom_group_versions<'c>(resources: impl IntoIterator<Item = &'c CustomResource>) -> Vec<GroupVersion> {
    let mut all: Vec<&(Arc<str>, Resource)> = resources.into_iter().flat_map(|custom| &custom.versions).collect();
    all.sort_by(|(a, x), (b, y)| version_order(a, b).then_with(|| x.name.cmp(&y.name)));
    let mut versions: Vec<GroupVersion> = Vec::new();
    for (version, resource) in all {
        match versions.last_mut() {
            Some(last) if last.version == *version => {
                if last.resources.last().is_none_or(|before| before.name != resource.name) {
                    last.resources.push(resource.clone());
                }
            }
            _ => versions.push(GroupVersion {
                version: Arc::clone(version),
                priority: CUSTOM_RESOURCE_PRIORITY,
                origin: Origin::CustomResources,
                freshness: Freshness::Current,
                resources: vec![resource.clone()],
            }),
        }
    }
    versions
}

/// Returns the hash that the unaggregated form has for the version in which objects are stored: the first eight bytes
/// of SHA-256 over `group/version/kind`, in base64 (upstream: `discovery.StorageVersionHash`).
///
/// # Example
/// ```
/// use kubeshape_discovery::storage_version_hash;
/// assert_eq!(storage_version_hash("apps", "v1", "ControllerRevision"), "85nkx63pcBU=");
/// ```
pub fn storage_version_hash(group: &str, version: &str, kind: &str) -> String {
    let mut digest = Sha256::new();
    for (n, text) in [group, version, kind].into_iter().enumerate() {
        if n > 0 {
            digest.update(b"/");
        }
        digest.update(text.as_bytes());
    }
    let digest = digest.finalize();
    STANDARD.encode(&digest[..8])
}

fn words(words: &[&str]) -> Vec<Arc<str>> {
    texts(words)
}

fn texts(texts: &[&str]) -> Vec<Arc<str>> {
    texts.iter().map(|text| Arc::from(*text)).collect()
}
