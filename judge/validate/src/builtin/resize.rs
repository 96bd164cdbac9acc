//! The subresource `resize` of Pods: `podResizeStrategy` of `pkg/registry/core/pod` and `ValidatePodResize`.

use super::overlay::{quality, semantic_equal};
use super::strategy::{with_member, with_metadata};
use super::{Change, MIRROR, Release};
use kubeshape_schema::field::{BadValue, Error, Path};
use kubeshape_value::{Bump, Map, Value};

const LISTS: [&str; 2] = ["containers", "initContainers"];
/// What a resize may change.
const RESOURCES: [&str; 2] = ["cpu", "memory"];
/// The kinds of amounts.
const KINDS: [&str; 2] = ["requests", "limits"];
/// What a resize sets in a container.
const MEMBERS: [&str; 2] = ["resources", "resizePolicy"];

fn get<'a>(value: Value<'a>, path: &[&str]) -> Option<Value<'a>> {
    path.iter().try_fold(value, |value, key| value.get(key)).filter(|value| !value.is_null())
}

fn items<'a>(spec: Value<'a>, list: &str) -> &'a [Value<'a>] {
    spec.get(list).and_then(Value::as_list).unwrap_or_default()
}

fn name(container: Value<'_>) -> &str {
    container.get("name").and_then(Value::as_str).unwrap_or_default()
}

fn spec(pod: Value<'_>) -> Value<'_> {
    get(pod, &["spec"]).unwrap_or(Value::Map(Map::EMPTY))
}

/// Returns the stored Pod with the resources of another one (upstream: `dropNonResizeUpdates`). A Pod with other
/// containers is returned unchanged, for [`resize_errors`] to refuse.
pub fn resized<'a>(pod: Value<'a>, live: Value<'a>, release: Release, arena: &'a Bump) -> Value<'a> {
    let (new, old) = (spec(pod), spec(live));
    if LISTS.iter().any(|list| items(new, list).len() != items(old, list).len()) {
        return pod;
    }
    let mut changed = old;
    for list in LISTS {
        if let Some(containers) = new.get(list) {
            changed = with_member(changed, list, Some(resized_containers(containers, old, list, arena)), arena);
        }
    }
    if Change::ResizedPods.is_in(release) {
        changed = with_member(changed, "resources", new.get("resources"), arena);
    }
    let mut out = with_member(live, "spec", Some(changed), arena);
    for key in ["managedFields", "resourceVersion", "uid"] {
        if let Some(member) = get(pod, &["metadata", key]) {
            out = with_metadata(out, key, Some(member), arena);
        }
    }
    out
}

fn resized_containers<'a>(new: Value<'a>, old: Value<'a>, list: &str, arena: &'a Bump) -> Value<'a> {
    let (own, before) = (new.as_list().unwrap_or_default(), items(old, list));
    if own.iter().zip(before).any(|(own, before)| name(*own) != name(*before)) {
        return new;
    }
    let pairs = own.iter().zip(before);
    let merged = pairs.map(|(own, before)| {
        MEMBERS.into_iter().fold(*before, |container, key| with_member(container, key, own.get(key), arena))
    });
    Value::List(arena.alloc_slice_copy(&merged.collect::<Vec<_>>()))
}

/// Returns why a Pod that was [resized] is refused, besides the errors that it has by itself.
pub fn resize_errors(pod: Value<'_>, live: Value<'_>, release: Release) -> Vec<Error> {
    let alone = |detail: &str| vec![Error::forbidden(&Path::Base(""), detail, 0)];
    if get(live, &["metadata", "annotations", MIRROR]).is_some() {
        return alone("static pods cannot be resized");
    }
    let (new, old, path) = (spec(pod), spec(live), Path::Base("spec"));
    if get(old, &["os", "name"]).and_then(Value::as_str) == Some("windows") {
        return alone("windows pods cannot be resized");
    }
    let resizes_all = Change::ResizedPods.is_in(release);
    let mut errors = Vec::new();
    let class = get(live, &["status", "qosClass"]).and_then(Value::as_str).unwrap_or_default();
    let before = if class.is_empty() { quality(live) } else { class };
    if before != quality(pod) {
        let detail = "Pod QOS Class may not change as a result of resizing";
        errors.push(Error::invalid(&path, BadValue::Text(class.to_owned()), detail.to_owned(), 0));
    }
    if !is_supported(live) {
        errors.push(Error::forbidden(&path, "Pod running on node without support for resize", 0));
    }
    let arena = Bump::new();
    let mut masked = new;
    if has_resources(new) || has_resources(old) {
        if !resizes_all {
            errors.extend(alone(
                "resize of pods with pod-level resources is forbidden when \
                 InPlacePodLevelResourcesVerticalScalingEnabled feature gate is disabled",
            ));
            return errors;
        }
        masked = pod_level(new, old, &path, &mut errors, &arena);
    }
    if get(live, &["status", "nodeAllocatableResourceClaimStatuses"])
        .and_then(Value::as_list)
        .is_some_and(|all| !all.is_empty())
    {
        errors.push(Error::forbidden(&path, "pods with node allocatable resource claims cannot be resized", 0));
    }
    let other = other_containers(new, old, &path);
    if !other.is_empty() {
        errors.extend(other);
        return errors;
    }
    for list in ["initContainers", "containers"] {
        let own = path.child(list);
        for (at, (new, old)) in items(new, list).iter().zip(items(old, list)).enumerate() {
            if list == "containers" || resizes_all || is_sidecar(*old) {
                removed(*new, *old, &own.index(at).child("resources"), &mut errors);
            }
        }
    }
    for list in LISTS {
        masked = container_changes(masked, old, list, resizes_all, &path, &mut errors, &arena);
    }
    if errors.is_empty() && !semantic_equal(masked, old) {
        errors.push(Error::forbidden(&path, "only cpu and memory resources are mutable", 0));
    }
    errors
}

/// Whether the node of a Pod can resize it: a container that runs has resources in the status.
fn is_supported(pod: Value<'_>) -> bool {
    let statuses = get(pod, &["status", "containerStatuses"]).and_then(Value::as_list).unwrap_or_default();
    let running = statuses.iter().find(|status| get(**status, &["state", "running"]).is_some());
    running.is_none_or(|status| get(*status, &["resources"]).is_some())
}

fn is_sidecar(container: Value<'_>) -> bool {
    container.get("restartPolicy").and_then(Value::as_str) == Some("Always")
}

fn amounts<'a>(of: Value<'a>, kind: &str) -> Map<'a> {
    get(of, &["resources", kind]).and_then(Value::as_map).unwrap_or(Map::EMPTY)
}

/// Whether the Pod itself has resources, and not only its containers.
fn has_resources(spec: Value<'_>) -> bool {
    KINDS.into_iter().any(|kind| !amounts(spec, kind).entries().is_empty())
}

/// Upstream: `resourcesRemoved`
fn lacks(new: Map<'_>, old: Map<'_>) -> bool {
    old.entries().len() > new.entries().len() || old.entries().iter().any(|(name, _)| new.get(name).is_none())
}

fn removed(new: Value<'_>, old: Value<'_>, path: &Path<'_>, errors: &mut Vec<Error>) {
    for kind in KINDS {
        if lacks(amounts(new, kind), amounts(old, kind)) {
            errors.push(Error::forbidden(&path.child(kind), format!("resource {kind} cannot be removed"), 0));
        }
    }
}

/// Checks the resources of the Pod itself. Returns the specification with the old amounts of cpu and memory (upstream:
/// `validatePodLevelResourcesResize`).
fn pod_level<'a>(
    new: Value<'a>,
    old: Value<'a>,
    path: &Path<'_>,
    errors: &mut Vec<Error>,
    arena: &'a Bump,
) -> Value<'a> {
    let path_of = path.child("resources");
    let has = |spec: Value<'a>| get(spec, &["resources"]).is_some();
    if has(old) && !has(new) {
        errors.push(Error::forbidden(&path_of, "pod-level resources cannot be removed", 0));
        return new;
    }
    if has(old) {
        for kind in KINDS {
            if lacks(amounts(new, kind), amounts(old, kind)) {
                let detail = format!("pod-level resource {kind} cannot be removed");
                errors.push(Error::forbidden(&path_of.child(kind), detail, 0));
            }
        }
    }
    let mut masked = with_old_amounts(new, old, get(new, &["resources"]), arena);
    let is_bare = get(masked, &["resources"]).and_then(Value::as_map).is_none_or(|all| all.entries().is_empty());
    if !has(old) && is_bare {
        masked = with_member(masked, "resources", None, arena);
    }
    let resources = |spec: Value<'a>| get(spec, &["resources"]).unwrap_or(Value::Null);
    if !semantic_equal(resources(masked), resources(old)) {
        errors.push(Error::forbidden(path, "only cpu and memory resources are mutable at pod-level", 0));
    }
    masked
}

/// Returns a container or a specification with the old amounts of cpu and memory. What else its resources have is in
/// `start` (upstream: `dropCPUMemoryResourcesFromContainer`, `dropCPUMemoryResourceRequirementsUpdates`).
fn with_old_amounts<'a>(new: Value<'a>, old: Value<'a>, start: Option<Value<'a>>, arena: &'a Bump) -> Value<'a> {
    let mut resources = start.unwrap_or(Value::Map(Map::EMPTY));
    for kind in KINDS {
        let (mut amounts_of_new, amounts_of_old) = (amounts(new, kind), amounts(old, kind));
        for name in RESOURCES {
            amounts_of_new = amounts_of_new.with(name, amounts_of_old.get(name), arena);
        }
        let member = (!amounts_of_new.entries().is_empty()).then_some(Value::Map(amounts_of_new));
        resources = with_member(resources, kind, member, arena);
    }
    with_member(new, "resources", Some(resources), arena)
}

/// Upstream: `validatePodResizeContainerOrdering`
fn other_containers(new: Value<'_>, old: Value<'_>, path: &Path<'_>) -> Vec<Error> {
    let mut errors = Vec::new();
    for list in LISTS {
        let (own, path) = (items(new, list), path.child(list));
        let before = items(old, list);
        if own.len() != before.len() {
            errors.push(Error::forbidden(&path, format!("{list} may not be added or removed on resize"), 0));
            continue;
        }
        for (at, (own, before)) in own.iter().zip(before).enumerate() {
            if name(*own) != name(*before) {
                let detail = format!("{list} may not be renamed or reordered on resize");
                errors.push(Error::forbidden(&path.index(at).child("name"), detail, 0));
            }
        }
    }
    errors
}

/// Checks that only amounts of cpu and memory changed. Returns the specification with the old ones.
fn container_changes<'a>(
    masked: Value<'a>,
    old: Value<'a>,
    list: &'static str,
    resizes_all: bool,
    path: &Path<'_>,
    errors: &mut Vec<Error>,
    arena: &'a Bump,
) -> Value<'a> {
    let containers = items(masked, list);
    if containers.is_empty() {
        return masked;
    }
    let is_init = list == "initContainers";
    let mut out = Vec::with_capacity(containers.len());
    for (at, (container, before)) in containers.iter().zip(items(old, list)).enumerate() {
        let own = path.child(list);
        let own = own.index(at);
        let is_changed = !semantic_equal(*container, *before);
        if is_init && !is_sidecar(*container) && !resizes_all {
            if is_changed {
                errors.push(Error::forbidden(path, "resources for non-sidecar init containers are immutable", 0));
            }
            out.push(*container);
            continue;
        }
        let same = with_old_amounts(*container, *before, None, arena);
        let same = if get(*before, &["resources"]).is_none() && is_empty_map(get(same, &["resources"])) {
            with_member(same, "resources", None, arena)
        } else {
            same
        };
        if !semantic_equal(same, *before) {
            let (at, detail) = match (is_init, resizes_all) {
                (false, _) => (path, "only cpu and memory resources are mutable"),
                (true, true) => (&own, "only cpu and memory resources for init or sidecar containers are mutable"),
                (true, false) => (&own, "only cpu and memory resources for sidecar containers are mutable"),
            };
            errors.push(Error::forbidden(at, detail, 0));
        }
        let restarts =
            |policy: &Value<'_>| policy.get("restartPolicy").and_then(Value::as_str) == Some("RestartContainer");
        if is_init && is_changed && !is_sidecar(*container) {
            let policies = items(*container, "resizePolicy").iter().filter(|policy| restarts(policy));
            let detail = "non-sidecar init containers with a resize policy of RestartContainer cannot be resized";
            errors.extend(policies.map(|_| Error::forbidden(&own, detail, 0)));
        }
        out.push(same);
    }
    with_member(masked, list, Some(Value::List(arena.alloc_slice_copy(&out))), arena)
}

fn is_empty_map(value: Option<Value<'_>>) -> bool {
    value.and_then(Value::as_map).is_some_and(|map| map.entries().is_empty())
}
