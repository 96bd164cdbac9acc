//! Changes of pods: `ValidatePodCreate`, `ValidatePodUpdate`, `ValidatePodStatusUpdate`.

use super::super::super::{At, Found};
use super::super::with;
use super::{Pod, containers, entries, get, ip, items, number, require, scheduling, string, template, text};
use crate::builtin::internal;
use crate::builtin::overlay::edit::same;
use crate::names;
use crate::object::is_ip;
use kubeshape_schema::field::Path;
use kubeshape_value::{Bump, Map, Value};
use std::collections::BTreeSet;

/// Checks what new pods must not have.
pub(super) fn pod_creation(pod: &Pod<'_>, path: &Path<'_>, found: &mut Found) {
    let spec = pod.spec;
    if !items(spec, "ephemeralContainers").is_empty() {
        found.forbidden(&path.child("ephemeralContainers"), "cannot be set on create");
    }
    if !text(spec, "nodeName").is_empty() && !items(spec, "schedulingGates").is_empty() {
        found.forbidden(&path.child("nodeName"), "cannot be set until all schedulingGates have been cleared");
    }
    template::profiles(pod.metadata, spec, path, found);
}

/// Checks the changes of a pod: the part of `ValidatePodUpdate` about changed fields.
pub(super) fn pod_update(at: &At<'_, '_>, found: &mut Found) {
    let Some(old) = at.scope.old else { return };
    let (meta_path, path) = (at.path.child("metadata"), at.path.child("spec"));
    annotation_changes(at, old, &meta_path.child("annotations"), found);
    let (new, old) = (at.get("spec"), get(old, "spec"));
    for field in ["containers", "initContainers"] {
        let own = path.child(field);
        if items(new, field).len() != items(old, field).len() {
            return found.forbidden(&own, "pod updates may not add or remove containers");
        }
        for (index, item) in items(new, field).iter().enumerate() {
            let own = own.index(index);
            require(*item, "image", &own, found);
            containers::padded_image(*item, &own, found);
        }
    }
    let deadline_path = path.child("activeDeadlineSeconds");
    let deadline = |spec| number(spec, "activeDeadlineSeconds");
    match (deadline(new), deadline(old)) {
        (Some(seconds), _) if !(0..=i64::from(i32::MAX)).contains(&seconds) => {
            let detail = format!("must be between 0 and {}, inclusive", i32::MAX);
            return found.invalid(&deadline_path, Value::Int(seconds), detail);
        }
        (Some(seconds), Some(before)) if before < seconds => {
            let detail = "must be less than or equal to previous value";
            return found.invalid(&deadline_path, Value::Int(seconds), detail);
        }
        (None, Some(_)) => {
            found.invalid(&deadline_path, Value::Null, "must not update from a positive integer to nil value");
        }
        _ => {}
    }
    added_tolerations(new, old, &path.child("tolerations"), found);
    let gates = path.child("schedulingGates");
    for (index, gate) in items(new, "schedulingGates").iter().enumerate() {
        let name = text(*gate, "name");
        if !items(old, "schedulingGates").iter().any(|old| text(*old, "name") == name) {
            let detail = format!("only deletion is allowed, but found new scheduling gate '{name}'");
            found.forbidden(&gates.index(index).child("name"), detail);
        }
    }
    frozen(new, old, &path, found);
}

/// The error that lists the fields of pods that may change.
const MAY: &str = "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,\
                   `spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),\
                   `spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

/// Checks that the rest of the spec is unchanged.
fn frozen(new: Value<'_>, old: Value<'_>, path: &Path<'_>, found: &mut Found) {
    const SPEC: &str = "core.v1.PodSpec";
    let arena = Bump::new();
    let mut own = new;
    for key in ["containers", "initContainers"] {
        let pairs = items(new, key).iter().zip(items(old, key));
        let kept: Vec<Value<'_>> = pairs.map(|(new, old)| with(*new, "image", old.get("image"), &arena)).collect();
        own = with(own, key, new.get(key).map(|_| Value::List(arena.alloc_slice_copy(&kept))), &arena);
    }
    for key in ["activeDeadlineSeconds", "tolerations", "schedulingGates"] {
        own = with(own, key, old.get(key), &arena);
    }
    let grace = "terminationGracePeriodSeconds";
    if number(old, grace).is_some_and(|seconds| seconds < 0) && number(new, grace) == Some(1) {
        own = with(own, grace, old.get(grace), &arena);
    }
    if !items(old, "schedulingGates").is_empty() {
        node_selector_change(new, old, &path.child("nodeSelector"), found);
        own = with(own, "nodeSelector", old.get("nodeSelector"), &arena);
        node_affinity_change(new, old, &path.child("affinity").child("nodeAffinity"), found);
        own = with(own, "affinity", affinity_but_for_nodes(new, old, &arena), &arena);
    }
    let pairs =
        ["containers", "initContainers"].into_iter().flat_map(|key| items(own, key).iter().zip(items(old, key)));
    let is_changed = differ(own, old, &["containers", "initContainers"])
        || pairs.into_iter().any(|(new, old)| differ(*new, *old, &[]));
    if is_changed {
        let difference = internal::difference(SPEC, old, own);
        found.forbidden(path, format!("{MAY}\n{difference}"));
    }
}

/// Returns whether members differ, except for some of them.
fn differ(new: Value<'_>, old: Value<'_>, but: &[&str]) -> bool {
    let keys = |value: Value<'_>| -> Vec<String> {
        let entries = value.as_map().map(Map::entries).unwrap_or_default();
        entries.iter().map(|(key, _)| (*key).to_owned()).collect()
    };
    let keys: BTreeSet<String> = keys(new).into_iter().chain(keys(old)).collect();
    keys.iter().any(|key| !but.contains(&key.as_str()) && !same(get(new, key), get(old, key)))
}

/// `validateNodeSelectorMutation`
fn node_selector_change(new: Value<'_>, old: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let own = get(new, "nodeSelector");
    if entries(old, "nodeSelector").iter().any(|(key, value)| own.get(key).is_none_or(|own| !same(own, *value))) {
        let detail = "only additions to spec.nodeSelector are allowed (no mutations or deletions)";
        found.invalid(path, own, detail);
    }
}

/// `validateNodeAffinityMutation`
fn node_affinity_change(new: Value<'_>, old: Value<'_>, path: &Path<'_>, found: &mut Found) {
    const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
    let required = |spec| get(get(get(spec, "affinity"), "nodeAffinity"), REQUIRED);
    let (own, before) = (required(new), required(old));
    let path = path.child(REQUIRED);
    let path = path.child("nodeSelectorTerms");
    let (terms, old_terms) = (items(own, "nodeSelectorTerms"), items(before, "nodeSelectorTerms"));
    if before.is_null() || old_terms.is_empty() {
        return;
    }
    if terms.len() != old_terms.len() {
        let detail = "no additions/deletions to non-empty NodeSelectorTerms list are allowed";
        return found.invalid(&path, get(own, "nodeSelectorTerms"), detail);
    }
    let keeps = |new: Value<'_>, old: Value<'_>| {
        let lists = ["matchExpressions", "matchFields"];
        let is_empty = |term: Value<'_>| lists.iter().all(|key| items(term, key).is_empty());
        let starts_as = |key: &str| {
            let (new, old) = (items(new, key), items(old, key));
            new.len() >= old.len() && new.iter().zip(old).all(|(new, old)| same(*new, *old))
        };
        (!is_empty(old) || is_empty(new)) && lists.iter().all(|key| starts_as(key))
    };
    for (index, (new, old)) in terms.iter().zip(old_terms).enumerate() {
        if !keeps(*new, *old) {
            found.invalid(&path.index(index), *new, "only additions are allowed (no mutations or deletions)");
        }
    }
}

/// Returns the new affinity with the old node affinity, as `ValidatePodUpdate` compares it.
fn affinity_but_for_nodes<'a>(new: Value<'a>, old: Value<'a>, arena: &'a Bump) -> Option<Value<'a>> {
    let (own, before) = (get(new, "affinity"), get(old, "affinity"));
    let nodes = before.get("nodeAffinity");
    if same(get(own, "nodeAffinity"), nodes.unwrap_or(Value::Null)) {
        return new.get("affinity");
    }
    let pods = ["podAffinity", "podAntiAffinity"];
    match (own.is_null(), before.is_null()) {
        (true, _) => Some(with(Value::Null, "nodeAffinity", nodes, arena)),
        (false, true) if pods.iter().all(|key| own.get(key).is_none()) => None,
        _ => Some(with(own, "nodeAffinity", nodes, arena)),
    }
}

fn added_tolerations(new: Value<'_>, old: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let own = items(new, "tolerations");
    let is_kept = |old: &Value<'_>| {
        own.iter()
            .any(|new| ["key", "operator", "value", "effect"].iter().all(|key| same(get(*new, key), get(*old, key))))
    };
    if !items(old, "tolerations").iter().all(is_kept) {
        let detail = "existing toleration can not be modified except its tolerationSeconds";
        return found.forbidden(path, detail);
    }
    scheduling::tolerations(own, path, found);
}

/// `ValidatePodSpecificAnnotationUpdates`
fn annotation_changes(at: &At<'_, '_>, old: Value<'_>, path: &Path<'_>, found: &mut Found) {
    const APP_ARMOR: &str = "container.apparmor.security.beta.kubernetes.io/";
    let (own, before) = (get(at.get("metadata"), "annotations"), get(get(old, "metadata"), "annotations"));
    let what = |key: &str| {
        if key.starts_with(APP_ARMOR) {
            return Some("AppArmor annotations");
        }
        (key == crate::builtin::MIRROR).then_some("mirror pod annotation")
    };
    for (key, value) in entries(get(old, "metadata"), "annotations") {
        if own.get(key).is_none_or(|new| new.as_str() != value.as_str())
            && let Some(what) = what(key)
        {
            found.forbidden(&path.key(key), format!("may not remove or update {what}"));
        }
    }
    for (key, _) in entries(at.get("metadata"), "annotations") {
        if before.get(key).is_none()
            && let Some(what) = what(key)
        {
            found.forbidden(&path.key(key), format!("may not add {what}"));
        }
    }
    let pod = Pod::new(at.get("spec"), at.get("metadata"), get(old, "spec"), true);
    template::annotations(at.get("metadata"), &pod, path, found);
}

/// `ValidatePodStatusUpdate`
pub(super) fn pod_status(at: &At<'_, '_>, found: &mut Found) {
    let Some(old) = at.scope.old else { return };
    annotation_changes(at, old, &at.path.child("metadata").child("annotations"), found);
    let path = at.path.child("status");
    let (status, before) = (at.get("status"), get(old, "status"));
    let conditions = path.child("conditions");
    for (index, condition) in items(status, "conditions").iter().enumerate() {
        let path = conditions.index(index);
        let kind = string(get(*condition, "type"));
        if number(*condition, "observedGeneration").is_some_and(|number| number < 0) {
            let value = get(*condition, "observedGeneration");
            found.invalid(&path.child("observedGeneration"), value, "must be a non-negative integer");
        }
        if !matches!(kind.as_str(), Some("PodScheduled" | "Ready" | "Initialized")) {
            found.messages(&path.child("Type"), kind, names::qualified_name(kind.as_str().unwrap_or_default()));
        }
    }
    let claims = path.child("resourceClaimStatuses");
    let known = items(at.get("spec"), "resourceClaims");
    let mut seen = BTreeSet::new();
    for (index, claim) in items(status, "resourceClaimStatuses").iter().enumerate() {
        let (name, name_path) = (text(*claim, "name"), claims.index(index));
        let name_path = name_path.child("name");
        if !known.iter().any(|claim| text(*claim, "name") == name) {
            let detail = "must match the name of an entry in `spec.resourceClaims`";
            found.invalid(&name_path, Value::String(name), detail);
        }
        if !seen.insert(name) {
            found.duplicate(&name_path, Value::String(name));
        }
        if let Some(claim) = claim.get("resourceClaimName").and_then(Value::as_str) {
            let path = claims.index(index);
            let messages = names::dns1123_subdomain(claim);
            found.messages(&path.child("resourceClaimName"), Value::String(claim), messages);
        }
    }
    let name = text(status, "nominatedNodeName");
    if !name.is_empty() && name != text(before, "nominatedNodeName") {
        let path = path.child("nominatedNodeName");
        found.messages(&path, Value::String(name), names::dns1123_subdomain(name));
        if !text(get(old, "spec"), "nodeName").is_empty() {
            found.forbidden(&path, "may not be set on pods that are already bound to a node");
        }
    }
    if number(status, "observedGeneration").is_some_and(|number| number < 0) {
        let value = get(status, "observedGeneration");
        found.invalid(&path.child("observedGeneration"), value, "must be a non-negative integer");
    }
    if text(status, "qosClass") != text(before, "qosClass") {
        found.invalid(&path.child("qosClass"), string(get(status, "qosClass")), "field is immutable");
    }
    addresses(status, before, &path, found);
}

/// `validatePodIPs`, `validateHostIPs`
fn addresses(status: Value<'_>, before: Value<'_>, path: &Path<'_>, found: &mut Found) {
    for (list, one) in [("podIPs", "podIP"), ("hostIPs", "hostIP")] {
        let path = path.child(list);
        let own = items(status, list);
        if let (Some(first), "hostIPs") = (own.first(), list)
            && text(*first, "ip") != text(status, one)
        {
            found.invalid(&path.index(0).child("ip"), string(get(*first, "ip")), "must be equal to `hostIP`");
        }
        for (index, item) in own.iter().enumerate() {
            let address = text(*item, "ip");
            if !items(before, list).iter().any(|old| text(*old, "ip") == address) {
                ip(Value::String(address), &path.index(index), found);
            }
        }
        let is_six = |item: &Value<'_>| text(*item, "ip").contains(':');
        let are_valid = own.iter().all(|item| is_ip(text(*item, "ip"), true));
        let is_dual = own.iter().any(is_six) && !own.iter().all(is_six);
        if own.len() > 1 && are_valid && (!is_dual || own.len() > 2) {
            found.invalid(&path, get(status, list), "may specify no more than one IP for each IP family");
        }
    }
}
