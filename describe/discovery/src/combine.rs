//! Builds groups from the recorded documents of one cluster.

use crate::assemble::version_order;
use crate::model::{Freshness, Group, GroupVersion, Resource};
use crate::read::{Document, GroupEntry, custom_resources, group_version};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// Discovery documents of one cluster: aggregated ones, unaggregated ones, or both.
///
/// # Example
/// ```
/// use kubeshape_discovery::{Records, print::{self, Encoding}, read};
/// let aggregated = br#"{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[
///   {"metadata":{"name":"apps"},"versions":[{"version":"v1","resources":[{"resource":"deployments",
///     "responseKind":{"group":"","version":"","kind":"Deployment"},"scope":"Namespaced","singularResource":"deployment",
///     "verbs":["get"]}],"freshness":"Current"}]}]}"#;
/// let legacy = br#"{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"apps/v1","resources":[{"name":"deployments",
///   "singularName":"deployment","namespaced":true,"kind":"Deployment","verbs":["get"],"storageVersionHash":"8aSe+NMegvE="}]}"#;
/// let mut records = Records::default();
/// for body in [&aggregated[..], legacy] {
///     records.add(read::read(body, kubeshape_yaml::Limits::default())?);
/// }
/// let groups = records.groups();
/// assert_eq!(groups[0].versions[0].resources[0].storage_version_hash.as_deref(), Some("8aSe+NMegvE="));
/// # Ok::<(), read::ReadError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Records {
    /// The groups of aggregated documents, in their order.
    aggregated: Ordered<Group>,
    /// The groups of group lists, in their order.
    listed: Ordered<GroupEntry>,
    /// The resources of `APIResourceList`s, by group and version.
    resources: BTreeMap<(Arc<str>, Arc<str>), Vec<Resource>>,
    /// Paths of `/`.
    paths: Vec<String>,
    /// Members of `/version`.
    version: Vec<(String, String)>,
}

/// Items in the order in which they were added, and by name, with the names of their versions.
#[derive(Clone, Debug)]
struct Ordered<T> {
    all: Vec<T>,
    places: BTreeMap<Arc<str>, usize>,
    versions: BTreeSet<(usize, Arc<str>)>,
}

impl<T> Default for Ordered<T> {
    fn default() -> Self {
        Ordered { all: Vec::new(), places: BTreeMap::new(), versions: BTreeSet::new() }
    }
}

impl<T> Ordered<T> {
    /// Returns the index of the item with this name, which is added if it is missing.
    fn place(&mut self, name: &Arc<str>, make: impl FnOnce() -> T) -> usize {
        *self.places.entry(Arc::clone(name)).or_insert_with(|| {
            self.all.push(make());
            self.all.len() - 1
        })
    }

    /// Returns the item at an index if it does not have this version yet, and records that it has.
    fn without(&mut self, place: usize, version: &Arc<str>) -> Option<&mut T> {
        self.versions.insert((place, Arc::clone(version))).then(|| &mut self.all[place])
    }
}

impl Records {
    /// Adds a document. It does not replace the contents of earlier documents.
    pub fn add(&mut self, document: Document) {
        match document {
            Document::Aggregated(groups) => groups.into_iter().for_each(|group| self.add_group(group)),
            Document::Groups(entries) => entries.into_iter().for_each(|entry| self.add_entry(entry)),
            Document::Group(entry) => self.add_entry(entry),
            Document::Resources { group, version, resources } => {
                self.resources.entry((group, version)).or_insert(resources);
            }
            Document::Versions { versions, .. } => self.add_entry(GroupEntry { name: "".into(), versions }),
            Document::Paths(paths) => {
                if self.paths.is_empty() {
                    self.paths = paths;
                }
            }
            Document::Version(members) => {
                if self.version.is_empty() {
                    self.version = members;
                }
            }
        }
    }

    fn add_group(&mut self, group: Group) {
        let all = &mut self.aggregated;
        let place = all.place(&group.name, || Group { name: Arc::clone(&group.name), versions: Vec::new() });
        for version in group.versions {
            if let Some(known) = all.without(place, &version.version) {
                known.versions.push(version);
            }
        }
    }

    fn add_entry(&mut self, entry: GroupEntry) {
        let all = &mut self.listed;
        let place = all.place(&entry.name, || GroupEntry { name: Arc::clone(&entry.name), versions: Vec::new() });
        for version in entry.versions {
            if let Some(known) = all.without(place, &version) {
                known.versions.push(version);
            }
        }
    }

    /// Returns the paths of `/`, if they were recorded.
    pub fn paths(&self) -> &[String] {
        &self.paths
    }

    /// Returns the members of `/version`, if they were recorded.
    pub fn version(&self) -> &[(String, String)] {
        &self.version
    }

    /// Returns all groups, including the core group (whose name is empty), in the order of aggregated discovery. Their
    /// priorities are chosen so that they are published in the recorded order.
    pub fn groups(&self) -> Vec<Group> {
        let mut groups = self.aggregated.clone();
        let listed_only = groups.all.iter().all(|group| group.name.is_empty());
        for entry in &self.listed.all {
            entry.versions.iter().for_each(|version| add_version(&mut groups, &entry.name, version));
        }
        for (group, version) in self.resources.keys() {
            add_version(&mut groups, group, version);
        }
        let mut groups = groups.all;
        for group in &mut groups {
            for version in &mut group.versions {
                let key = (Arc::clone(&group.name), Arc::clone(&version.version));
                if let Some(listed) = self.resources.get(&key) {
                    let version = Arc::make_mut(version);
                    add_resources(version, listed);
                    if version.resources.len() == listed.len() && custom_resources(listed) {
                        *version = group_version(
                            &group.name,
                            key.1,
                            version.freshness,
                            std::mem::take(&mut version.resources),
                        );
                    }
                }
            }
        }
        groups.retain(|group| !group.versions.is_empty());
        // The core group has its own list.
        groups.sort_by_key(|group| !group.name.is_empty());
        let core = groups.partition_point(|group| group.name.is_empty());
        let (core, named) = groups.split_at_mut(core);
        prioritize(core, false);
        // Group lists are sorted differently.
        prioritize(named, listed_only);
        groups
    }
}

fn add_version(groups: &mut Ordered<Group>, group: &Arc<str>, version: &Arc<str>) {
    let place = groups.place(group, || Group { name: Arc::clone(group), versions: Vec::new() });
    if let Some(known) = groups.without(place, version) {
        known.versions.push(Arc::new(group_version(group, Arc::clone(version), Freshness::Current, Vec::new())));
    }
}

/// Adds what only the unaggregated list has: missing resources and subresources, and hashes.
fn add_resources(version: &mut GroupVersion, listed: &[Resource]) {
    let mut places: HashMap<_, usize> = HashMap::new();
    let mut subresources = HashSet::new();
    for (place, known) in version.resources.iter().enumerate() {
        let place = *places.entry(known.name.clone()).or_insert(place);
        subresources.extend(known.subresources.iter().map(|one| (place, one.name.clone())));
    }
    for resource in listed {
        let next = version.resources.len();
        let place = *places.entry(resource.name.clone()).or_insert(next);
        let Some(known) = version.resources.get_mut(place) else {
            subresources.extend(resource.subresources.iter().map(|one| (place, one.name.clone())));
            version.resources.push(resource.clone());
            continue;
        };
        if known.storage_version_hash.is_none() {
            known.storage_version_hash.clone_from(&resource.storage_version_hash);
        }
        for subresource in &resource.subresources {
            if subresources.insert((place, subresource.name.clone())) {
                known.subresources.push(subresource.clone());
            }
        }
    }
}

/// Sets priorities of groups and versions that keep their order. The priorities of kube-apiserver's own groups and the
/// default of others are changed only where the order requires it.
fn prioritize(groups: &mut [Group], listed: bool) {
    for group in &mut *groups {
        let mut before: Option<(Reverse<i32>, Arc<str>)> = None;
        for version in &mut group.versions {
            let version = Arc::make_mut(version);
            if let Some((Reverse(priority), name)) = &before {
                let ordered = version_order(name, &version.version).is_le();
                version.priority.version = version.priority.version.min(below(*priority, ordered));
            }
            before = Some((Reverse(version.priority.version), Arc::clone(&version.version)));
        }
    }
    let name = |group: &Group| match group.versions.iter().map(|version| &version.version).min() {
        Some(version) if listed => format!("{version}.{}", group.name),
        _ => group.name.to_string(),
    };
    let names: Vec<String> = groups.iter().map(name).collect();
    let is_known = |group: &Group| super::priority::is_built_in(&group.name);
    let wanted = |group: &Group| group.versions.iter().map(|version| version.priority.group).max().unwrap_or_default();
    let mut priorities: Vec<i32> = groups.iter().map(wanted).collect();
    // The priority of a group before one of kube-apiserver's own is at least as high.
    let mut next: Option<(i32, &str)> = None;
    for at in (0..groups.len()).rev() {
        match next {
            Some((priority, name)) if !is_known(&groups[at]) => {
                let least = if *names[at] < *name { priority } else { priority.saturating_add(1) };
                priorities[at] = priorities[at].max(least);
            }
            _ if is_known(&groups[at]) => next = Some((priorities[at], &names[at])),
            _ => {}
        }
    }
    for at in 1..groups.len() {
        let ordered = names[at - 1] <= names[at];
        priorities[at] = priorities[at].min(below(priorities[at - 1], ordered));
    }
    for (group, priority) in groups.iter_mut().zip(priorities) {
        for version in &mut group.versions {
            if version.priority.group != priority {
                Arc::make_mut(version).priority.group = priority;
            }
        }
    }
}

/// Returns the highest priority that sorts after this one.
fn below(priority: i32, names_are_ordered: bool) -> i32 {
    if names_are_ordered { priority } else { priority.saturating_sub(1) }
}
