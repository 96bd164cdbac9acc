//! Changes of pods: `ValidatePodCreate`, `ValidatePodUpdate`, `ValidatePodStatusUpdate`.

use super::super::super::run::same;
use super::super::super::{At, Found};
use super::{Pod, containers, entries, get, ip, items, number, require, scheduling, string, template, text};
use crate::names;
use crate::object::is_ip;
use kubeshape_schema::field::Path;
use kubeshape_value::Value;
use std::collections::BTreeSet;

/// What only new pods must not have.
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

/// The part of `ValidatePodUpdate` about what is changed.
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

/// The fields that pods may change.
const MAY: &str = "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,\
                   `spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),\
                   `spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

/// The rest of the spec stays. Upstream appends a difference of its internal structs to the message.
fn frozen(new: Value<'_>, old: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let is_gated = !items(old, "schedulingGates").is_empty();
    let members = |value: Value<'_>| -> Vec<String> {
        let entries = value.as_map().map(kubeshape_value::Map::entries).unwrap_or_default();
        entries.iter().map(|(key, _)| (*key).to_owned()).collect()
    };
    let differ = |new: Value<'_>, old: Value<'_>, but: &[&str]| {
        let keys: BTreeSet<String> = members(new).into_iter().chain(members(old)).collect();
        keys.iter().any(|key| !but.contains(&key.as_str()) && !same(get(new, key), get(old, key)))
    };
    let mut but = vec!["activeDeadlineSeconds", "tolerations", "schedulingGates", "containers", "initContainers"];
    let grace = |spec| number(spec, "terminationGracePeriodSeconds");
    if grace(old).is_some_and(|seconds| seconds < 0) && grace(new) == Some(1) {
        but.push("terminationGracePeriodSeconds");
    }
    if is_gated {
        but.extend(["nodeSelector", "affinity"]);
    }
    let pairs =
        ["containers", "initContainers"].into_iter().flat_map(|key| items(new, key).iter().zip(items(old, key)));
    let is_changed = differ(new, old, &but)
        || pairs.into_iter().any(|(new, old)| differ(*new, *old, &["image"]))
        || is_gated && differ(get(new, "affinity"), get(old, "affinity"), &["nodeAffinity"]);
    if is_changed {
        found.forbidden(path, MAY);
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
        (key == template::MIRROR).then_some("mirror pod annotation")
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
