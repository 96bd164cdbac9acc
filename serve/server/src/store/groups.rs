//! Decides which CustomResourceDefinitions are published, and builds their groups.

use super::read::Resource;
use super::{Affected, Place, Store};
use crate::pieces::{Key, spread};
use bytes::{Bytes, BytesMut};
use kubeshape_discovery::{
    AggregatedKey, CustomResource, Group, GroupVersion, aggregated_key, assemble, custom_group_versions,
    name_conflicts, print,
};
use kubeshape_input::{Code, Finding};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The sort key of a group in aggregated discovery.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct GroupKey {
    key: AggregatedKey,
    name: Arc<str>,
}

impl GroupKey {
    pub(super) fn of(group: &Group) -> GroupKey {
        GroupKey { key: aggregated_key(group), name: Arc::clone(&group.name) }
    }
}

impl Key for GroupKey {
    fn spread(&self) -> u64 {
        spread(self.name.as_bytes())
    }

    /// List items have no names.
    fn print(&self, _: &mut BytesMut) {}
}

/// A group in aggregated discovery.
pub(super) fn item(group: &Group) -> Bytes {
    let mut out = Vec::new();
    print::aggregated_item(&mut out, group);
    out.into()
}

impl Store {
    /// Selects the first CustomResourceDefinition of each of these names. Returns the groups that this affects.
    pub(super) fn settle_names(&mut self, names: &BTreeSet<Arc<str>>) -> BTreeSet<Arc<str>> {
        let mut groups = BTreeSet::new();
        // Remove all before any are added: a place may belong to another name now.
        for name in names {
            if let Some((group, place)) = self.counting.remove(name) {
                if let Some(claims) = self.claims.get_mut(&group) {
                    claims.remove(&place);
                }
                groups.insert(group);
            }
        }
        for name in names {
            let given = self.given.contains(name).then(|| super::given(name));
            let counts = |((file, _), _): &(&Place, &Arc<Resource>)| given.as_ref().is_none_or(|given| given == file);
            let places = self.names.get(name);
            let mut all = places.into_iter().flatten().filter(counts);
            let winner = all.next();
            let duplicates = all.map(|(_, resource)| {
                let first = winner.map_or("", |((file, _), _)| file);
                let detail = format!("{name} ignored; using {first}");
                resource.about_names(Code::DuplicateCrd, detail)
            });
            let duplicates: Vec<Finding> = duplicates.collect();
            let winner = winner.map(|(place, resource)| (place.clone(), Arc::clone(resource)));
            self.duplicates.remove(name);
            if !duplicates.is_empty() {
                self.duplicates.insert(Arc::clone(name), duplicates);
            }
            if let Some((place, resource)) = winner {
                let group = Arc::clone(&resource.custom.group);
                self.counting.insert(Arc::clone(name), (Arc::clone(&group), place.clone()));
                self.claims.entry(Arc::clone(&group)).or_default().insert(place, resource);
                groups.insert(group);
            }
        }
        groups
    }

    /// Decides which CustomResourceDefinitions of a group get their names, and records what that affects.
    pub(super) fn settle_group(&mut self, group: &Arc<str>, touched: &mut Affected) {
        touched.groups.insert(Arc::clone(group));
        let claims = self.claims.remove(group).unwrap_or_default();
        let all: Vec<(&Place, &Arc<Resource>)> = claims.iter().collect();
        let mut refused = BTreeSet::new();
        let mut findings = Vec::new();
        for conflict in name_conflicts(all.iter().map(|(_, resource)| &resource.custom)) {
            let (Some((_, resource)), Some((_, owner))) = (all.get(conflict.resource), all.get(conflict.owner)) else {
                continue;
            };
            refused.insert(conflict.resource);
            let detail = conflict.detail(&owner.name);
            findings.push(resource.about_names(Code::NameInUse, detail));
        }
        if findings.is_empty() {
            self.conflicts.remove(group);
        } else {
            self.conflicts.insert(Arc::clone(group), findings);
        }
        let is_published = |(i, resource): &(usize, &Arc<Resource>)| {
            !refused.contains(i) && resource.custom.established != Some(false)
        };
        let now: BTreeMap<Arc<str>, Arc<Resource>> = all
            .iter()
            .map(|(_, resource)| *resource)
            .enumerate()
            .filter(is_published)
            .map(|(_, resource)| (Arc::clone(&resource.name), Arc::clone(resource)))
            .collect();
        let before = self.group_members.remove(group).unwrap_or_default();
        for (name, resource) in &before {
            if now.get(name).is_some_and(|other| Arc::ptr_eq(other, resource)) {
                continue;
            }
            // It may be published already, in another group.
            if self.published.get(name).is_some_and(|other| Arc::ptr_eq(other, resource)) {
                self.published.remove(name);
            }
            touched.v2 = true;
            for (version, _) in &resource.custom.versions {
                touched.group_version(group, version);
            }
            for (path, _) in &resource.versions {
                if let Some(members) = self.members.get_mut(path) {
                    members.remove(name);
                    if members.is_empty() {
                        self.members.remove(path);
                    }
                }
                touched.paths.insert(Arc::clone(path));
            }
        }
        for (name, resource) in &now {
            if before.get(name).is_some_and(|other| Arc::ptr_eq(other, resource)) {
                continue;
            }
            self.published.insert(Arc::clone(name), Arc::clone(resource));
            touched.v2 = true;
            for (version, _) in &resource.custom.versions {
                touched.group_version(group, version);
            }
            for (i, (path, _)) in resource.versions.iter().enumerate() {
                let members = self.members.entry(Arc::clone(path)).or_default();
                members.insert(Arc::clone(name), (Arc::clone(resource), i));
                touched.paths.insert(Arc::clone(path));
            }
        }
        if !now.is_empty() {
            self.group_members.insert(Arc::clone(group), now);
        }
        if !claims.is_empty() {
            self.claims.insert(Arc::clone(group), claims);
        }
    }

    /// Returns a group with its versions from CustomResourceDefinitions, the base and downstream servers.
    pub(super) fn group(&self, name: &Arc<str>) -> Option<Group> {
        let members = self.group_members.get(name).into_iter().flatten();
        let customs = members.map(|(_, resource)| &resource.custom).collect::<Vec<&CustomResource>>();
        let own = custom_group_versions(customs).into_iter().map(Arc::new);
        let of_documents = self.document_groups.get(name).into_iter().flatten().map(|(_, version)| Arc::clone(version));
        let base = self.base.groups.get(name).into_iter().flat_map(|group| &group.versions).cloned();
        let remote = self.remote_versions(name).cloned();
        // As with documents, a version belongs to the first source that has it.
        let mut parts: Vec<Arc<GroupVersion>> = Vec::new();
        for version in own.chain(of_documents).chain(base).chain(remote) {
            if !parts.iter().any(|part| part.version == version.version) {
                parts.push(version);
            }
        }
        assemble(Arc::clone(name), parts)
    }
}
