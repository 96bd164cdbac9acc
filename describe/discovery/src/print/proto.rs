//! The protobuf forms.

use super::json::{Entry, entries, freshness, scope};
use super::{AggregatedVersion, group_version, legacy_api_version};
use crate::model::{Group, GroupVersion, Kind, Resource, Scope, Subresource};
use crate::wire::{self, MAGIC};
use prost::Message;
use std::sync::Arc;

fn unknown(out: &mut Vec<u8>, api_version: &str, kind: &str, object: &impl Message) {
    let unknown = wire::Unknown {
        type_meta: Some(wire::TypeMeta { api_version: text(api_version), kind: text(kind) }),
        raw: Some(object.encode_to_vec()),
        content_encoding: text(""),
        content_type: text(""),
    };
    out.extend_from_slice(MAGIC);
    out.extend_from_slice(&unknown.encode_to_vec());
}

#[allow(clippy::unnecessary_wraps)] // The encoder also writes empty strings, which needs an optional member.
fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn texts(texts: &[Arc<str>]) -> Vec<String> {
    texts.iter().map(|text| (**text).to_owned()).collect()
}

pub(super) fn aggregated(out: &mut Vec<u8>, version: AggregatedVersion, groups: &[&Group]) {
    let list = wire::GroupDiscoveryList {
        metadata: Some(wire::ListMeta { self_link: text(""), resource_version: text(""), continuation: text("") }),
        items: groups.iter().map(|group| aggregated_group(group)).collect(),
    };
    unknown(out, version.api_version(), "APIGroupDiscoveryList", &list);
}

fn aggregated_group(group: &Group) -> wire::GroupDiscovery {
    let metadata = wire::ObjectMeta {
        name: text(&group.name),
        generate_name: text(""),
        namespace: text(""),
        self_link: text(""),
        uid: text(""),
        resource_version: text(""),
        generation: Some(0),
        creation_timestamp: Some(wire::Time {}),
    };
    let versions = group.versions.iter().map(|version| wire::VersionDiscovery {
        version: text(&version.version),
        resources: version.resources.iter().map(aggregated_resource).collect(),
        freshness: text(freshness(version.freshness)),
    });
    wire::GroupDiscovery { metadata: Some(metadata), versions: versions.collect() }
}

fn aggregated_resource(resource: &Resource) -> wire::ResourceDiscovery {
    wire::ResourceDiscovery {
        resource: text(&resource.name),
        response_kind: Some(kind(&resource.response_kind)),
        scope: text(scope(resource.scope)),
        singular_resource: text(&resource.singular),
        verbs: texts(&resource.verbs),
        short_names: texts(&resource.short_names),
        categories: texts(&resource.categories),
        subresources: resource.subresources.iter().map(aggregated_subresource).collect(),
    }
}

fn aggregated_subresource(subresource: &Subresource) -> wire::SubresourceDiscovery {
    wire::SubresourceDiscovery {
        subresource: text(&subresource.name),
        response_kind: Some(kind(&subresource.response_kind)),
        accepted_types: subresource.accepted_types.iter().map(kind).collect(),
        verbs: texts(&subresource.verbs),
    }
}

fn kind(kind: &Kind) -> wire::GroupVersionKind {
    wire::GroupVersionKind { group: text(&kind.group), version: text(&kind.version), kind: text(&kind.kind) }
}

pub(super) fn group_list(out: &mut Vec<u8>, groups: &[&Group]) {
    let list = wire::GroupList { groups: groups.iter().map(|group| legacy_group(group)).collect() };
    unknown(out, "v1", "APIGroupList", &list);
}

pub(super) fn group(out: &mut Vec<u8>, group: &Group) {
    unknown(out, "v1", "APIGroup", &legacy_group(group));
}

fn legacy_group(group: &Group) -> wire::Group {
    let entry = |version: &str| wire::GroupVersion {
        group_version: Some(if version.is_empty() { String::new() } else { group_version(&group.name, version) }),
        version: text(version),
    };
    wire::Group {
        name: text(&group.name),
        versions: group.versions.iter().map(|version| entry(&version.version)).collect(),
        preferred_version: Some(entry(group.versions.first().map_or("", |version| &*version.version))),
        addresses: Vec::new(),
    }
}

pub(super) fn resource_list(out: &mut Vec<u8>, group: &str, version: &GroupVersion) {
    let list = wire::ResourceList {
        group_version: Some(group_version(group, &version.version)),
        resources: entries(group, version).map(|entry| legacy_resource(&entry)).collect(),
    };
    unknown(out, legacy_api_version(group), "APIResourceList", &list);
}

fn legacy_resource(entry: &Entry<'_>) -> wire::Resource {
    let own = entry.own();
    let hash = own.and_then(|resource| resource.storage_version_hash.as_deref()).unwrap_or_default();
    wire::Resource {
        name: Some(entry.name()),
        namespaced: Some(entry.resource.scope == Scope::Namespaced),
        kind: text(entry.kind),
        verbs: Some(entry.verbs()).filter(|verbs| !verbs.is_empty()).map(|verbs| wire::Verbs { items: texts(verbs) }),
        short_names: own.map(|resource| texts(&resource.short_names)).unwrap_or_default(),
        singular_name: text(own.map_or("", |resource| &resource.singular)),
        categories: own.map(|resource| texts(&resource.categories)).unwrap_or_default(),
        group: text(entry.group),
        version: text(entry.version),
        storage_version_hash: text(hash),
    }
}

pub(super) fn versions(out: &mut Vec<u8>, versions: &[&str], addresses: &[(&str, &str)]) {
    let addresses = addresses
        .iter()
        .map(|(range, address)| wire::Address { client_cidr: text(range), server_address: text(address) });
    let versions = versions.iter().map(|version| (*version).to_owned()).collect();
    unknown(out, "", "APIVersions", &wire::Versions { versions, addresses: addresses.collect() });
}
