//! The group versions of a downstream server in discovery, as `discoveryManager` in kube-aggregator `pkg/apiserver`
//! publishes them.

use super::options::{AggregateOptions, GroupVersionName};
use kubeshape_discovery::openapi::is_name;
use kubeshape_discovery::{
    Freshness, Group, GroupVersion, Origin, Priority, UNSET_PRIORITY, assemble, built_in_priority,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The group versions that a server publishes.
pub(super) type Published = BTreeMap<GroupVersionName, Arc<GroupVersion>>;

/// The group versions to use from a server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted<'a>(&'a [GroupVersionName]);

impl<'a> Wanted<'a> {
    pub(super) fn of(options: &'a AggregateOptions) -> Wanted<'a> {
        Wanted(&options.group_versions)
    }

    /// Returns the configured group versions. If empty, all are used.
    pub(super) fn named(self) -> &'a [GroupVersionName] {
        self.0
    }

    pub(super) fn has(self, group: &str, version: &str) -> bool {
        is_name(version)
            && (group.is_empty() || is_name(group))
            && (self.0.is_empty() || self.0.iter().any(|name| &*name.group == group && &*name.version == version))
    }

    pub(super) fn has_group(self, group: &str) -> bool {
        is_name(group) && (self.0.is_empty() || self.0.iter().any(|name| &*name.group == group))
    }

    /// Returns whether a document is used: that of a wanted group version, or of its group.
    pub(super) fn has_document(self, path: &str) -> bool {
        match path.split('/').collect::<Vec<_>>()[..] {
            ["api", version] => self.has("", version),
            ["apis", group] => self.has_group(group),
            ["apis", group, version] => !group.is_empty() && self.has(group, version),
            _ => false,
        }
    }
}

/// Returns the wanted ones of the published group versions.
pub(super) fn published(groups: &[Group], wanted: Wanted<'_>) -> Published {
    let mut out = Published::new();
    for group in groups {
        for version in &group.versions {
            if wanted.has(&group.name, &version.version) {
                let name = GroupVersionName { group: Arc::clone(&group.name), version: Arc::clone(&version.version) };
                out.entry(name).or_insert_with(|| Arc::clone(version));
            }
        }
    }
    out
}

/// Returns the groups that discovery shows for a server: the last published group versions, marked stale if the server
/// does not respond, and the other configured group versions, without resources.
///
/// Upstream shows no resources of a server that does not respond. Here the last known resources are shown: clients skip
/// stale group versions anyway, and the resources help clients that do not.
pub(super) fn shown(published: Option<&Published>, wanted: Wanted<'_>, answers: bool) -> Vec<Group> {
    let mut groups: BTreeMap<Arc<str>, Vec<Arc<GroupVersion>>> = BTreeMap::new();
    for (name, version) in published.into_iter().flatten() {
        let mut version = (**version).clone();
        version.origin = Origin::Aggregated;
        version.priority = priority(name);
        if !answers {
            version.freshness = Freshness::Stale;
        }
        groups.entry(Arc::clone(&name.group)).or_default().push(Arc::new(version));
    }
    for name in wanted.named() {
        if published.is_none_or(|published| !published.contains_key(name)) {
            let freshness = if answers { Freshness::Current } else { Freshness::Stale };
            groups.entry(Arc::clone(&name.group)).or_default().push(Arc::new(GroupVersion {
                version: Arc::clone(&name.version),
                priority: priority(name),
                origin: Origin::Aggregated,
                freshness,
                resources: Vec::new(),
            }));
        }
    }
    groups.into_iter().filter_map(|(name, versions)| assemble(name, versions)).collect()
}

/// Returns the priority of a built-in group version, else the default: a server's discovery does not contain its
/// priorities.
pub(super) fn priority(name: &GroupVersionName) -> Priority {
    built_in_priority(&name.group, &name.version).unwrap_or(UNSET_PRIORITY)
}
