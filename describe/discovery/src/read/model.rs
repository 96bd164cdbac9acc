//! Converts the messages to the model.

use super::{Document, GroupEntry, ReadError};
use crate::custom::{CUSTOM_RESOURCE_PRIORITY, TERMINATING_VERBS, VERBS};
use crate::model::{Freshness, Group, GroupVersion, Kind, Origin, Resource, Scope, Subresource};
use crate::priority::{UNSET_PRIORITY, built_in_priority};
use crate::wire;
use std::collections::BTreeMap;
use std::sync::Arc;

fn text(text: Option<String>) -> Arc<str> {
    text.unwrap_or_default().into()
}

fn texts(texts: Vec<String>) -> Vec<Arc<str>> {
    texts.into_iter().map(Arc::from).collect()
}

pub(super) fn aggregated(list: wire::GroupDiscoveryList) -> Document {
    Document::Aggregated(list.items.into_iter().map(group).collect())
}

fn group(group: wire::GroupDiscovery) -> Group {
    let name = text(group.metadata.and_then(|metadata| metadata.name));
    let versions = group.versions.into_iter().map(|version| {
        let resources: Vec<Resource> = version.resources.into_iter().map(resource).collect();
        let freshness = match version.freshness.as_deref() {
            Some("Stale") => Freshness::Stale,
            _ => Freshness::Current,
        };
        Arc::new(group_version(&name, text(version.version), freshness, resources))
    });
    Group { versions: versions.collect(), name: Arc::clone(&name) }
}

/// Returns a group version that was read. Its names and resources decide its origin and its priority.
pub(crate) fn group_version(
    group: &str,
    version: Arc<str>,
    freshness: Freshness,
    resources: Vec<Resource>,
) -> GroupVersion {
    let built_in = built_in_priority(group, &version);
    let (origin, priority) = match built_in {
        Some(priority) => (Origin::BuiltIn, priority),
        None if custom_resources(&resources) => (Origin::CustomResources, CUSTOM_RESOURCE_PRIORITY),
        None => (Origin::BuiltIn, UNSET_PRIORITY),
    };
    GroupVersion { version, priority, origin, freshness, resources }
}

/// Returns whether all resources come from CustomResourceDefinitions. They are recognized by the order of their verbs.
pub(crate) fn custom_resources(resources: &[Resource]) -> bool {
    let custom = |resource: &Resource| {
        let verbs = || resource.verbs.iter().map(|verb| &**verb);
        verbs().eq(VERBS) || verbs().eq(TERMINATING_VERBS)
    };
    !resources.is_empty() && resources.iter().all(custom)
}

fn resource(resource: wire::ResourceDiscovery) -> Resource {
    Resource {
        name: text(resource.resource),
        response_kind: kind(resource.response_kind.unwrap_or_default()),
        scope: scope(resource.scope.as_deref() == Some("Namespaced")),
        singular: text(resource.singular_resource),
        verbs: texts(resource.verbs),
        short_names: texts(resource.short_names),
        categories: texts(resource.categories),
        storage_version_hash: None,
        subresources: resource.subresources.into_iter().map(subresource).collect(),
    }
}

fn subresource(subresource: wire::SubresourceDiscovery) -> Subresource {
    Subresource {
        name: text(subresource.subresource),
        response_kind: kind(subresource.response_kind.unwrap_or_default()),
        accepted_types: subresource.accepted_types.into_iter().map(kind).collect(),
        verbs: texts(subresource.verbs),
    }
}

fn kind(kind: wire::GroupVersionKind) -> Kind {
    Kind { group: text(kind.group), version: text(kind.version), kind: text(kind.kind) }
}

fn scope(namespaced: bool) -> Scope {
    if namespaced { Scope::Namespaced } else { Scope::Cluster }
}

pub(super) fn groups(list: wire::GroupList) -> Document {
    Document::Groups(list.groups.into_iter().map(group_entry).collect())
}

pub(super) fn group_entry(group: wire::Group) -> GroupEntry {
    let version = |entry: wire::GroupVersion| {
        let version = text(entry.version);
        match entry.group_version.as_deref().and_then(|text| text.rsplit_once('/')) {
            Some((_, last)) if version.is_empty() => last.into(),
            _ => version,
        }
    };
    let mut versions: Vec<Arc<str>> = group.versions.into_iter().map(version).collect();
    if let Some(preferred) = group.preferred_version.map(version)
        && let Some(at) = versions.iter().position(|version| *version == preferred)
    {
        versions[..=at].rotate_right(1);
    }
    GroupEntry { name: text(group.name), versions }
}

pub(super) fn versions(versions: wire::Versions) -> Document {
    let address =
        |address: wire::Address| (address.client_cidr.unwrap_or_default(), address.server_address.unwrap_or_default());
    let addresses = versions.addresses.into_iter().map(address).collect();
    Document::Versions { versions: texts(versions.versions), addresses }
}

/// Adds each subresource to its resource. A resource that is not listed is added without kind and verbs (upstream:
/// `endpoints.ConvertGroupVersionIntoToDiscovery`).
pub(super) fn resources(list: wire::ResourceList) -> Result<Document, ReadError> {
    let group_version = list.group_version.unwrap_or_default();
    let (group, version) = group_version.rsplit_once('/').unwrap_or(("", &group_version));
    let (subresources, parents): (Vec<wire::Resource>, Vec<wire::Resource>) =
        list.resources.into_iter().partition(|resource| resource.name.as_deref().unwrap_or_default().contains('/'));
    let mut resources: Vec<Resource> = parents.into_iter().map(listed).collect();
    let mut places: BTreeMap<Arc<str>, usize> =
        resources.iter().enumerate().map(|(n, resource)| (Arc::clone(&resource.name), n)).collect();
    for entry in subresources {
        let name = entry.name.unwrap_or_default();
        let (parent, subresource) = name.split_once('/').unwrap_or((&name, ""));
        let scope = scope(entry.namespaced == Some(true));
        let at = *places.entry(parent.into()).or_insert_with(|| {
            resources.push(unknown_resource(parent, scope));
            resources.len() - 1
        });
        if resources[at].scope != scope {
            return Err(ReadError::Scope { name });
        }
        // An entry without kind has no group and no version, either.
        let is_known = entry.kind.as_deref().is_some_and(|kind| !kind.is_empty());
        let known = || Kind { group: text(entry.group), version: text(entry.version), kind: text(entry.kind) };
        resources[at].subresources.push(Subresource {
            name: subresource.into(),
            response_kind: if is_known { known() } else { Kind::default() },
            accepted_types: Vec::new(),
            verbs: texts(entry.verbs.unwrap_or_default().items),
        });
    }
    // In the aggregated form, the kinds of custom resources have group and version.
    if built_in_priority(group, version).is_none() && custom_resources(&resources) {
        for resource in &mut resources {
            let subresources = resource.subresources.iter_mut().map(|subresource| &mut subresource.response_kind);
            let known = subresources.filter(|kind| !kind.kind.is_empty());
            for kind in [&mut resource.response_kind].into_iter().chain(known) {
                if kind.group.is_empty() && kind.version.is_empty() {
                    (kind.group, kind.version) = (group.into(), version.into());
                }
            }
        }
    }
    Ok(Document::Resources { group: group.into(), version: version.into(), resources })
}

fn listed(entry: wire::Resource) -> Resource {
    Resource {
        name: text(entry.name),
        response_kind: Kind { group: text(entry.group), version: text(entry.version), kind: text(entry.kind) },
        scope: scope(entry.namespaced == Some(true)),
        singular: text(entry.singular_name),
        verbs: texts(entry.verbs.unwrap_or_default().items),
        short_names: texts(entry.short_names),
        categories: texts(entry.categories),
        storage_version_hash: entry.storage_version_hash.filter(|hash| !hash.is_empty()).map(Arc::from),
        subresources: Vec::new(),
    }
}

/// Returns a resource of which only name and scope are known.
pub(crate) fn unknown_resource(name: &str, scope: Scope) -> Resource {
    Resource {
        name: name.into(),
        response_kind: Kind::default(),
        scope,
        singular: "".into(),
        verbs: Vec::new(),
        short_names: Vec::new(),
        categories: Vec::new(),
        storage_version_hash: None,
        subresources: Vec::new(),
    }
}
