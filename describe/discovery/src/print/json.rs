//! The JSON forms.

use super::{group_version, legacy_api_version};
use crate::model::{Freshness, Group, GroupVersion, Kind, Resource, Scope, Subresource};
use kubeshape_schema::escape::{Escape, string};
use std::sync::Arc;

/// The members of one object.
struct Object<'o> {
    out: &'o mut Vec<u8>,
    first: bool,
}

impl<'o> Object<'o> {
    fn begin(out: &'o mut Vec<u8>) -> Self {
        out.push(b'{');
        Object { out, first: true }
    }

    fn member(&mut self, key: &str) -> &mut Vec<u8> {
        if !std::mem::take(&mut self.first) {
            self.out.push(b',');
        }
        self.out.push(b'"');
        self.out.extend_from_slice(key.as_bytes());
        self.out.extend_from_slice(b"\":");
        self.out
    }

    fn text(&mut self, key: &str, text: &str) {
        string(self.member(key), text, Escape::Html);
    }

    fn text_unless_empty(&mut self, key: &str, text: &str) {
        if !text.is_empty() {
            self.text(key, text);
        }
    }

    fn texts_unless_empty(&mut self, key: &str, list: &[Arc<str>]) {
        if !list.is_empty() {
            texts(self.member(key), list);
        }
    }

    fn verbs(&mut self, verbs: &[Arc<str>]) {
        match verbs {
            [] => self.member("verbs").extend_from_slice(b"null"),
            verbs => texts(self.member("verbs"), verbs),
        }
    }

    fn end(self) {
        self.out.push(b'}');
    }
}

/// Prints items with commas between them.
pub(super) fn items<T: Copy>(out: &mut Vec<u8>, items: &[T], print: impl Fn(&mut Vec<u8>, T)) {
    for (n, item) in items.iter().enumerate() {
        if n > 0 {
            out.push(b',');
        }
        print(out, *item);
    }
}

fn list<T>(out: &mut Vec<u8>, list: &[T], print: impl Fn(&mut Vec<u8>, &T)) {
    out.push(b'[');
    for (n, item) in list.iter().enumerate() {
        if n > 0 {
            out.push(b',');
        }
        print(out, item);
    }
    out.push(b']');
}

fn texts<T: AsRef<str>>(out: &mut Vec<u8>, texts: &[T]) {
    list(out, texts, |out, text| string(out, text.as_ref(), Escape::Html));
}

pub(super) fn aggregated_item(out: &mut Vec<u8>, group: &Group) {
    let mut object = Object::begin(out);
    let mut metadata = Object::begin(object.member("metadata"));
    metadata.text_unless_empty("name", &group.name);
    metadata.end();
    if !group.versions.is_empty() {
        list(object.member("versions"), &group.versions, |out, version| aggregated_version(out, version));
    }
    object.end();
}

fn aggregated_version(out: &mut Vec<u8>, version: &GroupVersion) {
    let mut object = Object::begin(out);
    object.text("version", &version.version);
    if !version.resources.is_empty() {
        list(object.member("resources"), &version.resources, aggregated_resource);
    }
    object.text("freshness", freshness(version.freshness));
    object.end();
}

pub(super) fn freshness(freshness: Freshness) -> &'static str {
    match freshness {
        Freshness::Current => "Current",
        Freshness::Stale => "Stale",
    }
}

pub(super) fn scope(scope: Scope) -> &'static str {
    match scope {
        Scope::Namespaced => "Namespaced",
        Scope::Cluster => "Cluster",
    }
}

fn aggregated_resource(out: &mut Vec<u8>, resource: &Resource) {
    let mut object = Object::begin(out);
    object.text("resource", &resource.name);
    kind(object.member("responseKind"), &resource.response_kind);
    object.text("scope", scope(resource.scope));
    object.text("singularResource", &resource.singular);
    object.verbs(&resource.verbs);
    object.texts_unless_empty("shortNames", &resource.short_names);
    object.texts_unless_empty("categories", &resource.categories);
    if !resource.subresources.is_empty() {
        list(object.member("subresources"), &resource.subresources, aggregated_subresource);
    }
    object.end();
}

fn aggregated_subresource(out: &mut Vec<u8>, subresource: &Subresource) {
    let mut object = Object::begin(out);
    object.text("subresource", &subresource.name);
    kind(object.member("responseKind"), &subresource.response_kind);
    if !subresource.accepted_types.is_empty() {
        list(object.member("acceptedTypes"), &subresource.accepted_types, kind);
    }
    object.verbs(&subresource.verbs);
    object.end();
}

fn kind(out: &mut Vec<u8>, kind: &Kind) {
    let mut object = Object::begin(out);
    object.text("group", &kind.group);
    object.text("version", &kind.version);
    object.text("kind", &kind.kind);
    object.end();
}

pub(super) fn group_list_item(out: &mut Vec<u8>, group: &Group) {
    out.push(b'{');
    group_members(out, group);
    out.push(b'}');
}

pub(super) fn group_members(out: &mut Vec<u8>, group: &Group) {
    let mut object = Object { out, first: true };
    object.text("name", &group.name);
    let entry = |out: &mut Vec<u8>, version: &str| {
        let mut object = Object::begin(out);
        let group_version = if version.is_empty() { String::new() } else { group_version(&group.name, version) };
        object.text("groupVersion", &group_version);
        object.text("version", version);
        object.end();
    };
    list(object.member("versions"), &group.versions, |out, version| entry(out, &version.version));
    let preferred = group.versions.first().map_or("", |version| &*version.version);
    entry(object.member("preferredVersion"), preferred);
}

pub(super) fn resource_list(out: &mut Vec<u8>, group: &str, version: &GroupVersion) {
    let mut object = Object::begin(out);
    object.text("kind", "APIResourceList");
    object.text_unless_empty("apiVersion", legacy_api_version(group));
    object.text("groupVersion", &group_version(group, &version.version));
    let entries: Vec<Entry<'_>> = entries(group, version).collect();
    list(object.member("resources"), &entries, |out, entry| entry.print(out));
    object.end();
    out.push(b'\n');
}

/// An entry of an `APIResourceList`.
pub(super) struct Entry<'e> {
    pub(super) resource: &'e Resource,
    pub(super) subresource: Option<&'e Subresource>,
    pub(super) kind: &'e str,
    /// Group and version of the kind, if they differ from those of the list.
    pub(super) group: &'e str,
    pub(super) version: &'e str,
}

/// Returns the entries of all resources, each followed by those of its subresources. A resource of which only
/// subresources are known has no entry.
pub(super) fn entries<'e>(group: &'e str, version: &'e GroupVersion) -> impl Iterator<Item = Entry<'e>> {
    let foreign = move |kind: &'e Kind| {
        let own = *kind.group == *group && kind.version == version.version;
        if own { ("", "") } else { (&*kind.group, &*kind.version) }
    };
    version.resources.iter().flat_map(move |resource| {
        let own = [None].into_iter().filter(|_| !(resource.response_kind.kind.is_empty() && resource.verbs.is_empty()));
        own.chain(resource.subresources.iter().map(Some)).map(move |subresource| {
            let kind = subresource.map_or(&resource.response_kind, |subresource| &subresource.response_kind);
            let (group, version) = foreign(kind);
            Entry { resource, subresource, kind: &kind.kind, group, version }
        })
    })
}

impl Entry<'_> {
    /// Returns `deployments` or `deployments/status`.
    pub(super) fn name(&self) -> String {
        match self.subresource {
            Some(subresource) => format!("{}/{}", self.resource.name, subresource.name),
            None => (*self.resource.name).to_owned(),
        }
    }

    pub(super) fn verbs(&self) -> &[Arc<str>] {
        self.subresource.map_or(&self.resource.verbs, |subresource| &subresource.verbs)
    }

    /// Returns the resource, if the entry is that of a resource and not of a subresource.
    pub(super) fn own(&self) -> Option<&Resource> {
        self.subresource.is_none().then_some(self.resource)
    }

    fn print(&self, out: &mut Vec<u8>) {
        let mut object = Object::begin(out);
        object.text("name", &self.name());
        object.text("singularName", self.own().map_or("", |resource| &resource.singular));
        let namespaced: &[u8] = if self.resource.scope == Scope::Namespaced { b"true" } else { b"false" };
        object.member("namespaced").extend_from_slice(namespaced);
        object.text_unless_empty("group", self.group);
        object.text_unless_empty("version", self.version);
        object.text("kind", self.kind);
        object.verbs(self.verbs());
        if let Some(resource) = self.own() {
            object.texts_unless_empty("shortNames", &resource.short_names);
            object.texts_unless_empty("categories", &resource.categories);
            object
                .text_unless_empty("storageVersionHash", resource.storage_version_hash.as_deref().unwrap_or_default());
        }
        object.end();
    }
}

pub(super) fn versions(out: &mut Vec<u8>, versions: &[&str], addresses: &[(&str, &str)]) {
    let mut object = Object::begin(out);
    object.text("kind", "APIVersions");
    texts(object.member("versions"), versions);
    list(object.member("serverAddressByClientCIDRs"), addresses, |out, (range, address)| {
        let mut object = Object::begin(out);
        object.text("clientCIDR", range);
        object.text("serverAddress", address);
        object.end();
    });
    object.end();
    out.push(b'\n');
}

pub(super) fn paths<T: AsRef<str>>(out: &mut Vec<u8>, paths: &[T]) {
    let mut object = Object::begin(out);
    texts(object.member("paths"), paths);
    object.end();
}

pub(super) fn version(out: &mut Vec<u8>, members: &[(String, String)]) {
    out.push(b'{');
    for (n, (key, value)) in members.iter().enumerate() {
        if n > 0 {
            out.push(b',');
        }
        string(out, key, Escape::Html);
        out.push(b':');
        string(out, value, Escape::Html);
    }
    out.push(b'}');
}
