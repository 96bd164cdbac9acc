//! Reads JSON and YAML into the messages.

use super::{Document, DocumentKind, ReadError, model};
use crate::wire;
use kubeshape_yaml::{Error, Kind, Node};

type Read<T> = Result<T, Error>;

pub(super) fn kind(root: Node<'_>) -> Option<DocumentKind> {
    let text = |key: &str| last(root, key).and_then(Node::as_str).unwrap_or_default();
    if text("kind").is_empty() {
        let is = |key: &str, kind: Kind| last(root, key).is_some_and(|node| node.kind() == kind);
        return match () {
            () if is("paths", Kind::Seq) => Some(DocumentKind::Paths),
            () if is("gitVersion", Kind::Str) && is("major", Kind::Str) => Some(DocumentKind::Version),
            () => None,
        };
    }
    DocumentKind::of(text("apiVersion"), text("kind"))
}

/// Returns the value of a member; if it is repeated, the last one.
fn last<'a>(node: Node<'a>, key: &str) -> Option<Node<'a>> {
    if node.kind() != Kind::Map {
        return None;
    }
    node.pairs().filter(|(name, _)| name.text() == key).map(|(_, value)| value).last()
}

pub(super) fn read(root: Node<'_>) -> Result<Document, ReadError> {
    let Some(kind) = kind(root) else {
        let text = |key: &str| last(root, key).and_then(Node::as_str).unwrap_or_default();
        let found = match (text("kind"), text("apiVersion")) {
            ("", "") => "a text without kind".to_owned(),
            (kind, api_version) => format!("{kind:?} of API version {api_version:?}"),
        };
        return Err(ReadError::Other(found));
    };
    match kind {
        DocumentKind::Aggregated => Ok(model::aggregated(group_discovery_list(root)?)),
        DocumentKind::Groups => Ok(model::groups(group_list(root)?)),
        DocumentKind::Group => Ok(Document::Group(model::group_entry(group(root)?))),
        DocumentKind::Resources => model::resources(resource_list(root)?),
        DocumentKind::Versions => Ok(model::versions(versions(root)?)),
        DocumentKind::Paths => {
            let mut paths = Vec::new();
            members(root, "an object with paths", |key, value| {
                if key == "paths" {
                    paths = texts(value)?;
                }
                Ok(())
            })?;
            Ok(Document::Paths(paths))
        }
        DocumentKind::Version => {
            let mut out: Vec<(String, String)> = Vec::new();
            members(root, "an object with a version", |key, value| {
                // Members of future versions need not be strings.
                if let Some(text) = value.as_str() {
                    match out.iter_mut().find(|(name, _)| name == key) {
                        Some(member) => text.clone_into(&mut member.1),
                        None => out.push((key.to_owned(), text.to_owned())),
                    }
                }
                Ok(())
            })?;
            Ok(Document::Version(out))
        }
    }
}

fn wrong(node: Node<'_>, expected: &str) -> Error {
    let found = match node.kind() {
        Kind::Null => "null",
        Kind::False | Kind::True => "a boolean",
        Kind::Int | Kind::Float => "a number",
        Kind::Str => "a text",
        Kind::Seq => "a list",
        Kind::Map => "an object",
    };
    let message = format!("{}: found {found}, expected {expected}", node.pointer());
    Error::at(node.document().source(), node.span().start, message)
}

/// Calls `member` for every member that is not null.
fn members<'a>(node: Node<'a>, expected: &str, mut member: impl FnMut(&'a str, Node<'a>) -> Read<()>) -> Read<()> {
    match node.kind() {
        Kind::Map => {
            node.pairs().filter(|(_, value)| !value.is_null()).try_for_each(|(key, value)| member(key.text(), value))
        }
        Kind::Null => Ok(()),
        _ => Err(wrong(node, expected)),
    }
}

fn list<'a, T>(node: Node<'a>, expected: &str, item: impl FnMut(Node<'a>) -> Read<T>) -> Read<Vec<T>> {
    match node.kind() {
        Kind::Seq => node.items().map(item).collect(),
        Kind::Null => Ok(Vec::new()),
        _ => Err(wrong(node, expected)),
    }
}

fn text(node: Node<'_>) -> Read<String> {
    match node.as_str() {
        Some(text) => Ok(text.to_owned()),
        None if node.is_null() => Ok(String::new()),
        None => Err(wrong(node, "a text")),
    }
}

fn some_text(node: Node<'_>) -> Read<Option<String>> {
    text(node).map(Some)
}

fn texts(node: Node<'_>) -> Read<Vec<String>> {
    list(node, "a list of texts", text)
}

fn group_discovery_list(node: Node<'_>) -> Read<wire::GroupDiscoveryList> {
    let mut out = wire::GroupDiscoveryList::default();
    members(node, "an APIGroupDiscoveryList", |key, value| {
        if key == "items" {
            out.items = list(value, "a list of groups", group_discovery)?;
        }
        Ok(())
    })?;
    Ok(out)
}

fn group_discovery(node: Node<'_>) -> Read<wire::GroupDiscovery> {
    let mut out = wire::GroupDiscovery::default();
    members(node, "a group", |key, value| {
        match key {
            "metadata" => {
                let mut metadata = wire::ObjectMeta::default();
                members(value, "metadata", |key, value| {
                    if key == "name" {
                        metadata.name = some_text(value)?;
                    }
                    Ok(())
                })?;
                out.metadata = Some(metadata);
            }
            "versions" => out.versions = list(value, "a list of versions", version_discovery)?,
            _ => {}
        }
        Ok(())
    })?;
    Ok(out)
}

fn version_discovery(node: Node<'_>) -> Read<wire::VersionDiscovery> {
    let mut out = wire::VersionDiscovery::default();
    members(node, "a version", |key, value| {
        match key {
            "version" => out.version = some_text(value)?,
            "resources" => out.resources = list(value, "a list of resources", resource_discovery)?,
            "freshness" => out.freshness = some_text(value)?,
            _ => {}
        }
        Ok(())
    })?;
    Ok(out)
}

fn resource_discovery(node: Node<'_>) -> Read<wire::ResourceDiscovery> {
    let mut out = wire::ResourceDiscovery::default();
    members(node, "a resource", |key, value| {
        match key {
            "resource" => out.resource = some_text(value)?,
            "responseKind" => out.response_kind = Some(group_version_kind(value)?),
            "scope" => out.scope = some_text(value)?,
            "singularResource" => out.singular_resource = some_text(value)?,
            "verbs" => out.verbs = texts(value)?,
            "shortNames" => out.short_names = texts(value)?,
            "categories" => out.categories = texts(value)?,
            "subresources" => out.subresources = list(value, "a list of subresources", subresource_discovery)?,
            _ => {}
        }
        Ok(())
    })?;
    Ok(out)
}

fn subresource_discovery(node: Node<'_>) -> Read<wire::SubresourceDiscovery> {
    let mut out = wire::SubresourceDiscovery::default();
    members(node, "a subresource", |key, value| {
        match key {
            "subresource" => out.subresource = some_text(value)?,
            "responseKind" => out.response_kind = Some(group_version_kind(value)?),
            "acceptedTypes" => out.accepted_types = list(value, "a list of kinds", group_version_kind)?,
            "verbs" => out.verbs = texts(value)?,
            _ => {}
        }
        Ok(())
    })?;
    Ok(out)
}

fn group_version_kind(node: Node<'_>) -> Read<wire::GroupVersionKind> {
    let mut out = wire::GroupVersionKind::default();
    members(node, "an object with group, version and kind", |key, value| {
        match key {
            "group" => out.group = some_text(value)?,
            "version" => out.version = some_text(value)?,
            "kind" => out.kind = some_text(value)?,
            _ => {}
        }
        Ok(())
    })?;
    Ok(out)
}

fn group_list(node: Node<'_>) -> Read<wire::GroupList> {
    let mut out = wire::GroupList::default();
    members(node, "an APIGroupList", |key, value| {
        if key == "groups" {
            out.groups = list(value, "a list of groups", group)?;
        }
        Ok(())
    })?;
    Ok(out)
}

fn group(node: Node<'_>) -> Read<wire::Group> {
    let mut out = wire::Group::default();
    members(node, "an APIGroup", |key, value| {
        match key {
            "name" => out.name = some_text(value)?,
            "versions" => out.versions = list(value, "a list of versions", group_version)?,
            "preferredVersion" => out.preferred_version = Some(group_version(value)?),
            _ => {}
        }
        Ok(())
    })?;
    Ok(out)
}

fn group_version(node: Node<'_>) -> Read<wire::GroupVersion> {
    let mut out = wire::GroupVersion::default();
    members(node, "an object with groupVersion and version", |key, value| {
        match key {
            "groupVersion" => out.group_version = some_text(value)?,
            "version" => out.version = some_text(value)?,
            _ => {}
        }
        Ok(())
    })?;
    Ok(out)
}

fn versions(node: Node<'_>) -> Read<wire::Versions> {
    let mut out = wire::Versions::default();
    members(node, "APIVersions", |key, value| {
        match key {
            "versions" => out.versions = texts(value)?,
            "serverAddressByClientCIDRs" => out.addresses = list(value, "a list of addresses", address)?,
            _ => {}
        }
        Ok(())
    })?;
    Ok(out)
}

fn address(node: Node<'_>) -> Read<wire::Address> {
    let mut out = wire::Address::default();
    members(node, "an object with clientCIDR and serverAddress", |key, value| {
        match key {
            "clientCIDR" => out.client_cidr = some_text(value)?,
            "serverAddress" => out.server_address = some_text(value)?,
            _ => {}
        }
        Ok(())
    })?;
    Ok(out)
}

fn resource_list(node: Node<'_>) -> Read<wire::ResourceList> {
    let mut out = wire::ResourceList::default();
    members(node, "an APIResourceList", |key, value| {
        match key {
            "groupVersion" => out.group_version = some_text(value)?,
            "resources" => out.resources = list(value, "a list of resources", resource)?,
            _ => {}
        }
        Ok(())
    })?;
    Ok(out)
}

fn resource(node: Node<'_>) -> Read<wire::Resource> {
    let mut out = wire::Resource::default();
    members(node, "a resource", |key, value| {
        match key {
            "name" => out.name = some_text(value)?,
            "namespaced" => {
                out.namespaced = Some(value.as_bool().ok_or_else(|| wrong(value, "a boolean"))?);
            }
            "kind" => out.kind = some_text(value)?,
            "verbs" => out.verbs = Some(wire::Verbs { items: texts(value)? }),
            "shortNames" => out.short_names = texts(value)?,
            "singularName" => out.singular_name = some_text(value)?,
            "categories" => out.categories = texts(value)?,
            "group" => out.group = some_text(value)?,
            "version" => out.version = some_text(value)?,
            "storageVersionHash" => out.storage_version_hash = some_text(value)?,
            _ => {}
        }
        Ok(())
    })?;
    Ok(out)
}
