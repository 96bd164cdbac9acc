//! Derives discovery from an OpenAPI v3 document, for servers whose discovery documents are not known.

use crate::assemble::version_order;
use crate::model::{Freshness, GroupVersion, Kind, Resource, Scope, Subresource};
use crate::read::{group_version, unknown_resource};
use kubeshape_yaml::{self as yaml, Node};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The facts about one resource or subresource in its paths.
#[derive(Debug, Default)]
struct Seen<'d> {
    namespaced: bool,
    /// The kind of the objects, and whether it comes from an operation on one object. Such an operation is preferred.
    kind: Option<(bool, GroupVersionKind<'d>)>,
    verbs: Vec<&'static str>,
    /// Whether its list has the query parameter `watch`.
    watchable: bool,
}

/// By resource and subresource, which is empty for the resource itself.
type Resources<'d> = BTreeMap<(&'d str, &'d str), Seen<'d>>;

/// Group, version, kind.
type GroupVersionKind<'d> = (&'d str, &'d str, &'d str);

/// Returns the group versions of an OpenAPI v3 document (usually one) with their groups. Resources, scopes, verbs,
/// kinds and subresources are read from its paths: verbs from `x-kubernetes-action` (from the method if the action is
/// `connect`), kinds from `x-kubernetes-group-version-kind`. Singular names are the kinds in lower case. Short names,
/// categories and hashes are missing, because no OpenAPI document has them.
///
/// # Example
/// ```
/// use kubeshape_discovery::group_versions_of_document;
/// use kubeshape_yaml::{Limits, Stream, Tape};
/// let source = r#"{"openapi": "3.0.0", "paths": {
///   "/apis/example.com/v1/namespaces/{namespace}/tabs": {"post": {"x-kubernetes-action": "post",
///     "x-kubernetes-group-version-kind": {"group": "example.com", "version": "v1", "kind": "Tab"}}},
///   "/apis/example.com/v1/namespaces/{namespace}/tabs/{name}/status": {"get": {"x-kubernetes-action": "get",
///     "x-kubernetes-group-version-kind": {"group": "example.com", "version": "v1", "kind": "Tab"}}}}}"#;
/// let mut tape = Tape::new();
/// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
/// let found = group_versions_of_document(tape.document(source).root().unwrap());
/// let (group, version) = &found[0];
/// let tabs = &version.resources[0];
/// assert_eq!((&**group, &*tabs.name, &*tabs.verbs[0], &*tabs.subresources[0].name), ("example.com", "tabs", "create", "status"));
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
pub fn group_versions_of_document(root: Node<'_>) -> Vec<(Arc<str>, GroupVersion)> {
    let mut found: BTreeMap<(&str, &str), Resources<'_>> = BTreeMap::new();
    let mut watch_paths = false;
    for (path, item) in root.get("paths").into_iter().flat_map(Node::pairs) {
        let Some(place) = Place::of(path.text()) else { continue };
        watch_paths |= place.watch;
        let resources = found.entry((place.group, place.version)).or_default();
        let seen = resources.entry((place.resource, place.subresource)).or_default();
        seen.namespaced |= place.namespaced;
        for (method, operation) in item.pairs().filter(|(_, operation)| operation.kind() == yaml::Kind::Map) {
            seen.operation(method.text(), operation, item, &place);
        }
    }
    let mut out: Vec<(Arc<str>, GroupVersion)> = Vec::new();
    for ((group, version), resources) in found {
        let mut made: BTreeMap<&str, Resource> = BTreeMap::new();
        for ((name, subresource), mut seen) in resources {
            // Every list has the parameter. If the document has paths for watches, only these are used.
            if seen.watchable && !watch_paths {
                seen.add("watch");
            }
            if seen.verbs.is_empty() {
                continue;
            }
            let resource = made.entry(name).or_insert_with(|| {
                let scope = if seen.namespaced { Scope::Namespaced } else { Scope::Cluster };
                unknown_resource(name, scope)
            });
            let response_kind = seen.response_kind(group, version);
            if subresource.is_empty() {
                resource.singular = response_kind.kind.to_lowercase().into();
                resource.response_kind = response_kind;
                resource.verbs = seen.verbs();
            } else {
                resource.subresources.push(Subresource {
                    name: subresource.into(),
                    response_kind,
                    accepted_types: Vec::new(),
                    verbs: seen.verbs(),
                });
            }
        }
        if !made.is_empty() {
            let resources = made.into_values().collect();
            out.push((group.into(), group_version(group, version.into(), Freshness::Current, resources)));
        }
    }
    out.sort_by(|(a, x), (b, y)| a.cmp(b).then_with(|| version_order(&x.version, &y.version)));
    out
}

/// The parts of a path.
struct Place<'p> {
    group: &'p str,
    version: &'p str,
    resource: &'p str,
    subresource: &'p str,
    namespaced: bool,
    /// Whether it is the path of one object.
    one: bool,
    /// Whether it is one of the deprecated paths below `watch/`.
    watch: bool,
}

impl<'p> Place<'p> {
    fn of(path: &'p str) -> Option<Place<'p>> {
        let mut segments = path.strip_prefix('/')?.split('/').filter(|segment| !segment.is_empty());
        let (group, version) = match segments.next()? {
            "api" => ("", segments.next()?),
            "apis" => (segments.next()?, segments.next()?),
            _ => return None,
        };
        let mut rest: Vec<&str> = segments.collect();
        let watch = rest.first() == Some(&"watch");
        if watch {
            rest.remove(0);
        }
        // `namespaces/{name}` is an object; `namespaces/{namespace}/…` are the objects in it.
        let namespaced = rest.len() > 2 && rest[0] == "namespaces" && rest[1] == "{namespace}";
        if namespaced {
            rest.drain(..2);
        }
        let (resource, one, subresource) = match rest[..] {
            [resource] => (resource, false, ""),
            [resource, name] if is_parameter(name) => (resource, true, ""),
            [resource, name, subresource] if is_parameter(name) => (resource, true, subresource),
            [resource, name, subresource, path] if is_parameter(name) && is_parameter(path) => {
                (resource, true, subresource)
            }
            _ => return None,
        };
        let fine = ![group, version, resource, subresource].iter().any(|segment| is_parameter(segment));
        fine.then_some(Place { group, version, resource, subresource, namespaced, one, watch })
    }
}

fn is_parameter(segment: &str) -> bool {
    segment.starts_with('{')
}

impl<'d> Seen<'d> {
    fn operation(&mut self, method: &str, operation: Node<'d>, item: Node<'d>, place: &Place<'_>) {
        let text = |node: Option<Node<'d>>| node.and_then(Node::as_str).unwrap_or_default();
        let action = text(operation.get("x-kubernetes-action"));
        let verb = match (action, method) {
            ("list", _) => "list",
            ("get", _) | ("connect", "get") => "get",
            ("post", _) | ("connect", "post") => "create",
            ("put", _) | ("connect", "put") => "update",
            ("patch", _) | ("connect", "patch") => "patch",
            ("delete", _) | ("connect", "delete") => "delete",
            ("deletecollection", _) => "deletecollection",
            ("watch" | "watchlist", _) => "watch",
            _ => return,
        };
        self.add(verb);
        self.watchable |= verb == "list" && [operation, item].into_iter().any(takes_watch);
        if let Some(kind) = operation.get("x-kubernetes-group-version-kind").filter(|_| !place.watch) {
            let found = (text(kind.get("group")), text(kind.get("version")), text(kind.get("kind")));
            // Operations on one object name its kind; those on a collection may name another one, such as
            // `DeleteOptions`.
            if self.kind.is_none_or(|(one, _)| place.one && !one) {
                self.kind = Some((place.one, found));
            }
        }
    }

    fn add(&mut self, verb: &'static str) {
        if let Err(place) = self.verbs.binary_search(&verb) {
            self.verbs.insert(place, verb);
        }
    }

    fn verbs(&self) -> Vec<Arc<str>> {
        self.verbs.iter().map(|verb| Arc::from(*verb)).collect()
    }

    /// Returns the kind. Group and version are empty if they are those of the document.
    fn response_kind(&self, group: &str, version: &str) -> Kind {
        let Some((_, (own_group, own_version, kind))) = self.kind else { return Kind::default() };
        if (own_group, own_version) == (group, version) {
            return Kind { kind: kind.into(), ..Kind::default() };
        }
        Kind { group: own_group.into(), version: own_version.into(), kind: kind.into() }
    }
}

/// Returns whether the parameters of an operation or of a path item include `watch`.
fn takes_watch(node: Node<'_>) -> bool {
    let name = |parameter: Node<'_>| match parameter.get("$ref").and_then(Node::as_str) {
        Some(reference) => reference.rsplit('/').next().is_some_and(|last| last.starts_with("watch-")),
        None => parameter.get("name").and_then(Node::as_str) == Some("watch"),
    };
    node.get("parameters").into_iter().flat_map(Node::items).any(name)
}
