//! Matches requests with policies, bindings and webhooks: `policy/matching` and `webhook/predicates` of
//! `k8s.io/apiserver`.

use crate::answer::Status;
use crate::kinds::{Gvk, Gvr};
use crate::objects::{Match, Rule};
use crate::request::{Operation, Request, World, labels_of};
use kubeshape_validate::selector::LabelSelector;
use kubeshape_value::Map;
use std::cell::LazyCell;

/// The resource and the kind as which a request matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Matched {
    pub(crate) resource: Gvr,
    pub(crate) kind: Gvk,
}

/// Returns the resource and the kind as which a request matches; `None` if it does not match.
///
/// # Errors
/// A selector is invalid, or the namespace does not exist.
pub(crate) fn matches(
    criteria: &Match<'_>,
    request: &Request<'_>,
    world: World<'_, '_>,
) -> Result<Option<Matched>, Status> {
    // Most policies are about other resources, so the rules are compared first, and this is computed only if needed.
    let equivalents =
        LazyCell::new(|| if criteria.is_exact { Vec::new() } else { world.kinds.equivalents(&request.resource) });
    let own = || Matched { resource: request.resource.clone(), kind: request.kind.clone() };
    let matched =
        if criteria.rules.is_empty() { Some(own()) } else { find(&criteria.rules, request, &equivalents, world) };
    let Some(matched) = matched else { return Ok(None) };
    // A selector that does not match decides, even if the other one has an error.
    let by_namespace = namespace_matches(criteria, request, world);
    let by_object = object_matches(criteria, request);
    if by_namespace == Ok(false) || by_object == Ok(false) {
        return Ok(None);
    }
    if find(&criteria.excludes, request, &equivalents, world).is_some() {
        return Ok(None);
    }
    by_namespace?;
    by_object?;
    Ok(Some(matched))
}

/// Like [`matches`], for webhooks: without rules, nothing matches.
pub(crate) fn webhook_matches(
    criteria: &Match<'_>,
    request: &Request<'_>,
    world: World<'_, '_>,
) -> Result<Option<Matched>, Status> {
    if criteria.rules.is_empty() { Ok(None) } else { matches(criteria, request, world) }
}

fn find<F: FnOnce() -> Vec<Gvr>>(
    rules: &[Rule<'_>],
    request: &Request<'_>,
    equivalents: &LazyCell<Vec<Gvr>, F>,
    world: World<'_, '_>,
) -> Option<Matched> {
    let is_named = |rule: &Rule<'_>| rule.names.is_empty() || rule.names.contains(&request.name.as_str());
    if rules.iter().any(|rule| rule.takes(request, &request.resource) && is_named(rule)) {
        return Some(Matched { resource: request.resource.clone(), kind: request.kind.clone() });
    }
    for rule in rules.iter().filter(|rule| rule.names_resource(request, &request.resource)) {
        for resource in equivalents.iter().filter(|resource| **resource != request.resource) {
            if rule.takes(request, resource) && is_named(rule) {
                return Some(Matched { resource: resource.clone(), kind: kind_of(resource, request, world) });
            }
        }
    }
    None
}

/// Returns the kind of an equivalent resource. The kind of a subresource with its own kind is kept.
fn kind_of(resource: &Gvr, request: &Request<'_>, world: World<'_, '_>) -> Gvk {
    let own = world.kinds.of_resource(&request.resource);
    match world.kinds.of_resource(resource) {
        Some(kind) if own.is_none_or(|own| own.kind == request.kind.kind) => kind,
        _ => request.kind.clone(),
    }
}

fn has(items: &[&str], wanted: &str) -> bool {
    items.iter().any(|item| *item == "*" || *item == wanted)
}

impl Rule<'_> {
    /// `rules.Matcher.Matches`.
    fn takes(&self, request: &Request<'_>, resource: &Gvr) -> bool {
        let is_namespace = resource.group.is_empty() && resource.version == "v1" && resource.resource == "namespaces";
        let is_cluster = is_namespace || request.namespace.is_empty();
        let in_scope = match self.scope {
            "*" => true,
            "Namespaced" => !is_cluster,
            "Cluster" => is_cluster,
            _ => false,
        };
        in_scope
            && has(&self.operations, request.operation.name())
            && has(&self.groups, &resource.group)
            && has(&self.versions, &resource.version)
            && self.names_resource(request, resource)
    }

    /// Returns whether one of the resources is this one, in any group and version. Equivalent resources have the same
    /// name.
    fn names_resource(&self, request: &Request<'_>, resource: &Gvr) -> bool {
        self.resources.iter().any(|item| {
            let (own, sub) = item.split_once('/').unwrap_or((item, ""));
            (own == "*" || own == resource.resource) && (sub == "*" || sub == request.subresource)
        })
    }
}

fn namespace_matches(criteria: &Match<'_>, request: &Request<'_>, world: World<'_, '_>) -> Result<bool, Status> {
    let is_namespace = request.resource.resource == "namespaces";
    if request.namespace.is_empty() && !is_namespace {
        return Ok(true);
    }
    let Some(selector) = criteria.namespace_selector else { return Ok(true) };
    let selector = LabelSelector::read(selector).map_err(|error| Status::internal(&error))?;
    if selector.is_empty() {
        return Ok(true);
    }
    let is_written = matches!(request.operation, Operation::Create | Operation::Update);
    let labels = if is_namespace && request.subresource.is_empty() && is_written {
        request.object.and_then(labels_of).unwrap_or(Map::EMPTY)
    } else {
        let namespace =
            world.objects.namespace(&request.namespace).ok_or_else(|| Status::no_namespace(&request.namespace))?;
        labels_of(namespace).unwrap_or(Map::EMPTY)
    };
    Ok(selector.matches_map(labels))
}

fn object_matches(criteria: &Match<'_>, request: &Request<'_>) -> Result<bool, Status> {
    let Some(selector) = criteria.object_selector else { return Ok(true) };
    let selector = LabelSelector::read(selector).map_err(|error| Status::internal(&error))?;
    if selector.is_empty() {
        return Ok(true);
    }
    let takes = |object| Option::and_then(object, labels_of).is_some_and(|labels| selector.matches_map(labels));
    Ok(takes(request.object) || takes(request.old_object))
}
