//! Maps resources to kinds, and kinds to resources.

pub use kubeshape_discovery::Kind as GroupVersionKind;
use kubeshape_discovery::{Group, GroupVersion, Scope};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A resource of a group version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupVersionResource {
    /// Empty for the core group.
    pub group: Arc<str>,
    /// `v1`
    pub version: Arc<str>,
    /// `deployments`
    pub resource: Arc<str>,
}

/// A partially known resource. An empty group or version matches any.
#[derive(Clone, Copy, Debug, Default)]
pub struct Partial<'a> {
    /// `apps`, or a prefix of it.
    pub group: &'a str,
    /// `v1`
    pub version: &'a str,
    /// Plural or singular name, in any case: `deployments`, `Deployment`
    pub resource: &'a str,
}

/// The resource of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// The resource.
    pub resource: GroupVersionResource,
    /// Its kind.
    pub kind: GroupVersionKind,
    /// The scope of its objects.
    pub scope: Scope,
}

/// Why a name cannot be mapped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MapError {
    /// No server has it.
    #[error("the server has no {0}")]
    None(String),
    /// It is ambiguous.
    #[error("{what} may be any of {}", .candidates.join(", "))]
    Several {
        /// The name.
        what: String,
        /// The candidates.
        candidates: Vec<String>,
    },
}

/// Maps resources to kinds and back, like the mapper that client-go builds from discovery
/// (`restmapper.NewDiscoveryRESTMapper`, `meta.PriorityRESTMapper`, `restmapper.NewShortcutExpander`).
///
/// # Example
/// ```
/// use kubeshape_client::mapper::{Mapper, Partial};
/// use kubeshape_discovery::{Records, read};
/// let apps = br#"{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[{"metadata":{"name":"apps"},
///   "versions":[{"version":"v1","resources":[{"resource":"deployments","singularResource":"deployment","scope":"Namespaced",
///     "responseKind":{"group":"","version":"","kind":"Deployment"},"shortNames":["deploy"],"verbs":["get"]}]}]}]}"#;
/// let mut records = Records::default();
/// records.add(read::read(apps, kubeshape_yaml::Limits::default())?);
/// let mapper = Mapper::new(&records.groups());
/// let named = |resource| Partial { resource, ..Partial::default() };
/// assert_eq!(&*mapper.kind_for(named("deployment"))?.kind, "Deployment");
/// assert_eq!(&*mapper.resource_for(mapper.expand(named("deploy")).as_partial())?.resource, "deployments");
/// assert_eq!(mapper.mapping("apps", "Deployment", &[])?.resource.to_string(), "apps/v1, deployments");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Mapper {
    versions: Vec<Served>,
    /// Group versions, the preferred ones first; an empty version matches any.
    priorities: Vec<(Arc<str>, Arc<str>)>,
    /// Plural and singular names of resources, with their groups.
    names: BTreeSet<(Arc<str>, Arc<str>)>,
    /// Short names and their resources, in the order of discovery.
    shortcuts: Vec<(Arc<str>, GroupVersionResource)>,
}

/// The resources of one group version.
#[derive(Clone, Debug)]
struct Served {
    group: Arc<str>,
    version: Arc<str>,
    /// Plural names, each with its singular name.
    singulars: BTreeMap<Arc<str>, Arc<str>>,
    /// Kinds by plural and singular names.
    kinds: BTreeMap<Arc<str>, Arc<str>>,
    /// Plural names and scopes by kinds.
    resources: BTreeMap<Arc<str>, (Arc<str>, Scope)>,
}

impl Mapper {
    /// Creates the mapper of a server with these groups, in the order of its discovery.
    pub fn new(groups: &[Group]) -> Mapper {
        let mut mapper = Mapper::default();
        // The core group comes first, regardless of the server's order.
        mapper.priorities.push(("".into(), "v1".into()));
        for group in groups {
            for version in group.versions.iter().filter(|version| !version.resources.is_empty()) {
                mapper.priorities.push((Arc::clone(&group.name), Arc::clone(&version.version)));
                mapper.versions.push(Served::new(&group.name, version));
                for resource in &version.resources {
                    for name in [&resource.name, &resource.singular] {
                        mapper.names.insert((Arc::clone(&group.name), Arc::clone(name)));
                    }
                    let meant = GroupVersionResource {
                        group: Arc::clone(&group.name),
                        version: Arc::clone(&version.version),
                        resource: Arc::clone(&resource.name),
                    };
                    mapper.shortcuts.extend(resource.short_names.iter().map(|name| (Arc::clone(name), meant.clone())));
                }
            }
        }
        mapper.priorities.extend(groups.iter().map(|group| (Arc::clone(&group.name), "".into())));
        mapper
    }

    /// Returns the kind of a resource.
    ///
    /// # Errors
    /// No group version has such a resource, or several have and none has priority.
    pub fn kind_for(&self, partial: Partial<'_>) -> Result<GroupVersionKind, MapError> {
        let name = partial.resource.to_lowercase();
        let mut found = Vec::new();
        for version in self.matching(partial, |version| version.kinds.contains_key(&*name)) {
            if let Some(kind) = version.kinds.get(&*name) {
                add(&mut found, version.kind(kind));
            }
        }
        self.first(found, || partial.to_string(), |kind| (&kind.group, &kind.version))
    }

    /// Returns the resource with its missing parts.
    ///
    /// # Errors
    /// See [`kind_for`](Mapper::kind_for).
    pub fn resource_for(&self, partial: Partial<'_>) -> Result<GroupVersionResource, MapError> {
        let name = partial.resource.to_lowercase();
        let names = |(plural, singular): (&Arc<str>, &Arc<str>)| **plural == *name || **singular == *name;
        let mut found = Vec::new();
        for version in self.matching(partial, |version| version.singulars.iter().any(names)) {
            for (plural, _) in version.singulars.iter().filter(|both| names(*both)) {
                add(&mut found, version.resource(plural));
            }
        }
        self.first(found, || partial.to_string(), |resource| (&resource.group, &resource.version))
    }

    /// Returns the resource of a kind, in the first of `versions` that has it, or in the version that the server
    /// prefers.
    ///
    /// # Errors
    /// No version has such a kind.
    pub fn mapping(&self, group: &str, kind: &str, versions: &[&str]) -> Result<Mapping, MapError> {
        let mut found: Vec<Mapping> = Vec::new();
        for version in self.versions.iter().filter(|version| *version.group == *group) {
            if (versions.is_empty() || versions.contains(&&*version.version))
                && let Some((plural, scope)) = version.resources.get(kind)
            {
                let (resource, kind) = (version.resource(plural), version.kind(&kind.into()));
                found.push(Mapping { resource, kind, scope: *scope });
            }
        }
        let wanted =
            versions.iter().find_map(|wanted| found.iter().position(|mapping| *mapping.kind.version == **wanted));
        if let Some(place) = wanted {
            return Ok(found.swap_remove(place));
        }
        let what = || if group.is_empty() { format!("kind {kind}") } else { format!("kind {kind}.{group}") };
        self.first(found, what, |mapping| (&mapping.kind.group, &mapping.kind.version))
    }

    /// Returns the singular name of a resource.
    ///
    /// # Errors
    /// No group version has such a resource, or it has several names.
    pub fn singular(&self, resource: &str) -> Result<Arc<str>, MapError> {
        let name = resource.to_lowercase();
        let mut found: Vec<&Arc<str>> = Vec::new();
        for version in &self.versions {
            let both = version.singulars.iter().filter(|(plural, singular)| ***plural == *name || ***singular == *name);
            found.extend(both.map(|(_, singular)| singular));
        }
        found.first().map(|name| Arc::clone(name)).ok_or_else(|| MapError::None(format!("resource {resource:?}")))
    }

    /// Returns the resource for a short name. Unknown short names are returned unchanged. As in client-go, the version
    /// is lost unless only a prefix of the group is given.
    pub fn expand(&self, partial: Partial<'_>) -> GroupVersionResource {
        let own = |group: &str, version: &str, resource: &str| GroupVersionResource {
            group: group.into(),
            version: version.into(),
            resource: resource.into(),
        };
        let is_of = |group: &str| partial.group.is_empty() || group == partial.group;
        // A resource of that name has precedence over a short name.
        let is_name = |(group, name): &(Arc<str>, Arc<str>)| **name == *partial.resource && is_of(group);
        if self.names.iter().any(is_name) {
            return own(partial.group, partial.version, partial.resource);
        }
        let mut shortcuts =
            self.shortcuts.iter().filter(|(short, _)| **short == *partial.resource).map(|(_, long)| long);
        if let Some(long) = shortcuts.clone().find(|long| is_of(&long.group)) {
            return own(&long.group, "", &long.resource);
        }
        match shortcuts.find(|long| long.group.starts_with(partial.group)) {
            Some(long) => own(&long.group, partial.version, &long.resource),
            None => own(partial.group, partial.version, partial.resource),
        }
    }

    /// Returns the versions that may have a resource; an unknown group may be a prefix.
    fn matching<'m>(&'m self, partial: Partial<'_>, has: impl Fn(&Served) -> bool) -> Vec<&'m Served> {
        let of = |exact: bool| {
            let group = move |version: &&Served| {
                if exact { *version.group == *partial.group } else { version.group.starts_with(partial.group) }
            };
            let is_version = |version: &&Served| partial.version.is_empty() || *version.version == *partial.version;
            let found = self.versions.iter().filter(group).filter(is_version).filter(|version| has(version));
            found.collect::<Vec<_>>()
        };
        let exact = if partial.group.is_empty() { Vec::new() } else { of(true) };
        if exact.is_empty() && (partial.group.is_empty() || partial.version.is_empty()) { of(false) } else { exact }
    }

    /// Returns the candidate with the highest priority.
    fn first<R: Clone + std::fmt::Display>(
        &self,
        mut found: Vec<R>,
        what: impl FnOnce() -> String,
        of: impl Fn(&R) -> (&Arc<str>, &Arc<str>),
    ) -> Result<R, MapError> {
        if found.is_empty() {
            return Err(MapError::None(what()));
        }
        for (group, version) in &self.priorities {
            if found.len() == 1 {
                break;
            }
            let is_of = |one: &R| of(one).0 == group && (version.is_empty() || of(one).1 == version);
            if found.iter().any(is_of) {
                found.retain(is_of);
            }
        }
        match found.pop() {
            Some(one) if found.is_empty() => Ok(one),
            last => {
                let candidates = found.iter().chain(&last).map(ToString::to_string).collect();
                Err(MapError::Several { what: what(), candidates })
            }
        }
    }
}

fn add<R: PartialEq>(found: &mut Vec<R>, one: R) {
    if !found.contains(&one) {
        found.push(one);
    }
}

impl Served {
    fn new(group: &Arc<str>, version: &GroupVersion) -> Served {
        let mut out = Served {
            group: Arc::clone(group),
            version: Arc::clone(&version.version),
            singulars: BTreeMap::new(),
            kinds: BTreeMap::new(),
            resources: BTreeMap::new(),
        };
        for resource in &version.resources {
            let kind = &resource.response_kind.kind;
            let singular =
                if resource.singular.is_empty() { guessed(kind).1.into() } else { Arc::clone(&resource.singular) };
            out.add(&kind.to_lowercase().into(), &resource.name, &singular, resource.scope);
            out.add(kind, &resource.name, &singular, resource.scope);
            out.guess(&format!("{kind}List"), resource.scope);
        }
        out.guess("List", Scope::Cluster);
        out
    }

    fn guess(&mut self, kind: &str, scope: Scope) {
        let (plural, singular) = guessed(kind);
        self.add(&kind.into(), &plural.into(), &singular.into(), scope);
    }

    fn add(&mut self, kind: &Arc<str>, plural: &Arc<str>, singular: &Arc<str>, scope: Scope) {
        self.singulars.insert(Arc::clone(plural), Arc::clone(singular));
        for name in [singular, plural] {
            self.kinds.insert(Arc::clone(name), Arc::clone(kind));
        }
        self.resources.insert(Arc::clone(kind), (Arc::clone(plural), scope));
    }

    fn resource(&self, plural: &Arc<str>) -> GroupVersionResource {
        let (group, version) = (Arc::clone(&self.group), Arc::clone(&self.version));
        GroupVersionResource { group, version, resource: Arc::clone(plural) }
    }

    fn kind(&self, kind: &Arc<str>) -> GroupVersionKind {
        let (group, version) = (Arc::clone(&self.group), Arc::clone(&self.version));
        GroupVersionKind { group, version, kind: Arc::clone(kind) }
    }
}

/// Guesses the plural and singular names of a kind, for servers that report neither (`meta.UnsafeGuessKindToResource`).
fn guessed(kind: &str) -> (String, String) {
    let singular = kind.to_lowercase();
    let plural = match singular.as_bytes().last() {
        _ if singular.ends_with("endpoints") => singular.clone(),
        None => String::new(),
        Some(b's') => format!("{singular}es"),
        Some(b'y') => format!("{}ies", &singular[..singular.len() - 1]),
        Some(_) => format!("{singular}s"),
    };
    (plural, singular)
}

impl GroupVersionResource {
    /// Returns it as a query.
    pub fn as_partial(&self) -> Partial<'_> {
        Partial { group: &self.group, version: &self.version, resource: &self.resource }
    }
}

fn group_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}

impl std::fmt::Display for GroupVersionResource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, {}", group_version(&self.group, &self.version), self.resource)
    }
}

impl std::fmt::Display for Mapping {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.resource.fmt(f)
    }
}

impl std::fmt::Display for Partial<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "resource {:?}", self.resource)?;
        match group_version(self.group, self.version) {
            text if text.is_empty() => Ok(()),
            text => write!(f, " of {text}"),
        }
    }
}
