//! Rules of volumes, claims, and `storage.k8s.io`.

mod classes;
mod sources;

pub(super) use sources::{flex, initiator_error, partition, quobyte, storage_os};

use super::common::{IMMUTABLE, immutable, is_same, same, sign, texts, whole};
use super::{Names, entries, get, items, text, with};
use crate::builtin::internal;
use crate::builtin::overlay::check::form;
use crate::builtin::overlay::check::{At, Found};
use crate::names;
use kubeshape_cel::Quantity;
use kubeshape_schema::field::{BadValue, Error, Path};
use kubeshape_value::{Bump, Map, Value};
use sources::{SOURCES, volume_sources};
use std::cmp::Ordering;

pub(super) const NAMES: Names = &[
    ("persistent volume spec", volume_spec),
    ("persistent volume change", volume_change),
    ("claim spec", claim_spec),
    ("claim change", claim_change),
    ("claim status", claim_status),
    ("storage class", classes::storage_class),
    ("storage class change", classes::storage_class_change),
    ("csi driver", classes::csi_driver),
    ("csi driver change", classes::csi_driver_change),
    ("csi node", classes::csi_node),
    ("csi node change", classes::csi_node_change),
    ("csi storage capacity", classes::storage_capacity),
    ("csi storage capacity change", classes::storage_capacity_change),
    ("volume attachment", classes::volume_attachment),
    ("volume attachment change", classes::volume_attachment_change),
    ("volume attributes class", classes::attributes_class),
    ("volume attributes class change", classes::attributes_class_change),
];

const ACCESS_MODES: [&str; 4] = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
const VOLUME_MODES: [&str; 2] = ["Block", "Filesystem"];
const RECLAIM: [&str; 3] = ["Delete", "Recycle", "Retain"];
const STORAGE: &str = "storage";
const NOT_POSITIVE: &str = "must be greater than zero";
const MORE_THAN_ONE: &str = "may not specify more than 1 volume type";

fn required_access_modes(spec: Value<'_>, path: &Path<'_>, found: &mut Found) {
    if items(spec, "accessModes").is_empty() {
        found.required(&path.child("accessModes"), "");
    }
    access_modes(spec, path, found);
}

pub(super) fn access_modes(spec: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let path = path.child("accessModes");
    let modes = texts(items(spec, "accessModes"));
    let (mut is_alone, mut is_shared) = (false, false);
    for mode in modes {
        if !ACCESS_MODES.contains(&mode) {
            found.not_supported(&path, Value::String(mode), &ACCESS_MODES);
        } else if mode == "ReadWriteOncePod" {
            is_alone = true;
        } else {
            is_shared = true;
        }
    }
    if is_alone && is_shared {
        found.forbidden(&path, "may not use ReadWriteOncePod with other access modes");
    }
}

pub(super) fn volume_mode(spec: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let mode = get(spec, "volumeMode");
    if !mode.is_null() && !VOLUME_MODES.contains(&mode.as_str().unwrap_or_default()) {
        found.not_supported(&path.child("volumeMode"), mode, &VOLUME_MODES);
    }
}

/// Checks the name of a class, if there is one.
fn class(spec: Value<'_>, key: &str, path: &Path<'_>, found: &mut Found) {
    let name = text(spec, key);
    if !name.is_empty() {
        found.messages(&path.child(key), Value::String(name), names::dns1123_subdomain(name));
    }
}

/// `ValidatePersistentVolumeSpec`
fn volume_spec(at: &At<'_, '_>, found: &mut Found) {
    let name = text(get(at.scope.root, "metadata"), "name");
    check_volume(at.value, name, false, at.path, found);
}

fn inline(spec: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let detail = "may not be specified in the context of inline volumes";
    if !get(spec, "claimRef").is_null() {
        found.forbidden(&path.child("claimRef"), detail);
    }
    if !entries(spec, "capacity").is_empty() {
        found.forbidden(&path.child("capacity"), detail);
    }
    if get(spec, "csi").is_null() {
        found.required(&path.child("csi"), "has to be specified in the context of inline volumes");
    }
}

fn capacity(spec: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let path = path.child("capacity");
    let capacity = entries(spec, "capacity");
    if capacity.is_empty() {
        found.required(&path, "");
    }
    if !capacity.iter().any(|(key, _)| *key == STORAGE) || capacity.len() > 1 {
        found.not_supported(&path, get(spec, "capacity"), &[STORAGE]);
    }
    for (key, quantity) in capacity {
        let path = path.key(key);
        if sign(*quantity) == Ordering::Less {
            found.invalid(&path, shown(*quantity), "must be a valid resource quantity");
        }
        if sign(*quantity) != Ordering::Greater {
            found.invalid(&path, *quantity, NOT_POSITIVE);
        }
    }
}

fn check_volume(spec: Value<'_>, name: &str, is_inline: bool, path: &Path<'_>, found: &mut Found) {
    if is_inline {
        inline(spec, path, found);
    }
    required_access_modes(spec, path, found);
    if !is_inline {
        capacity(spec, path, found);
    }
    let reclaim = text(spec, "persistentVolumeReclaimPolicy");
    let reclaim_path = path.child("persistentVolumeReclaimPolicy");
    if is_inline && !matches!(reclaim, "" | "Retain") {
        found.forbidden(&reclaim_path, "may only be Retain in the context of inline volumes");
    } else if !is_inline && !reclaim.is_empty() && !RECLAIM.contains(&reclaim) {
        found.not_supported(&reclaim_path, Value::String(reclaim), &RECLAIM);
    }
    if is_inline && !get(spec, "nodeAffinity").is_null() {
        found.forbidden(&path.child("nodeAffinity"), "may not be specified in the context of inline volumes");
    }
    volume_sources(spec, name, path, found);
    let host_path = text(get(spec, "hostPath"), "path");
    let is_root = !host_path.is_empty()
        && host_path.split('/').all(|part| matches!(part, "" | "."))
        && host_path.starts_with('/');
    if is_root && reclaim == "Recycle" {
        found.forbidden(&reclaim_path, "may not be 'recycle' for a hostPath mount of '/'");
    }
    if is_inline && !text(spec, "storageClassName").is_empty() {
        found.forbidden(&path.child("storageClassName"), "may not be specified in the context of inline volumes");
    } else {
        class(spec, "storageClassName", path, found);
    }
    if is_inline {
        if !matches!(text(spec, "volumeMode"), "" | "Filesystem") {
            let detail = "may not specify volumeMode other than Filesystem in the context of inline volumes";
            found.forbidden(&path.child("volumeMode"), detail);
        }
    } else {
        volume_mode(spec, path, found);
    }
    let attributes = get(spec, "volumeAttributesClassName");
    if let Some(name) = attributes.as_str() {
        if name.is_empty() {
            found.required(&path.child("volumeAttributesClassName"), "an empty string is disallowed");
        }
        class(spec, "volumeAttributesClassName", path, found);
        if get(spec, "csi").is_null() {
            found.required(&path.child("csi"), "has to be specified when using volumeAttributesClassName");
        }
    }
}

/// Returns a quantity as a whole number.
fn shown(quantity: Value<'_>) -> Value<'_> {
    let number = quantity.as_str().and_then(|text| Quantity::parse(text).ok());
    number.map_or(quantity, |number| Value::Int(whole(&number)))
}

const CLAIM_SPEC: &str = "core.v1.PersistentVolumeClaimSpec";
/// The error that says what may change in claims.
const CLAIM_IS_FROZEN: &str =
    "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";

/// `ValidatePersistentVolumeUpdate`
fn volume_change(at: &At<'_, '_>, found: &mut Found) {
    let Some(old) = at.scope.old else { return };
    let (new, old) = (get(at.value, "spec"), get(old, "spec"));
    let root = Path::Child(&Path::Root, "spec");
    let expands = |spec: Value<'_>| !get(get(spec, "csi"), "controllerExpandSecretRef").is_null();
    let is_added = !get(old, "csi").is_null() && !expands(old) && expands(new);
    let is_changed = SOURCES.iter().any(|(key, ..)| {
        let (new, old) = (get(new, key), get(old, key));
        if *key == "csi" && is_added {
            let members = new.as_map().map(Map::entries).unwrap_or_default();
            let members = members.iter().filter(|(key, _)| *key != "controllerExpandSecretRef");
            let count = old.as_map().map_or(0, Map::len);
            return members.clone().count() != count || members.clone().any(|(key, _)| !same(new, old, key));
        }
        new.is_null() != old.is_null() || !is_same(new, old)
    });
    if is_changed {
        let arena = Bump::new();
        let new = match get(new, "csi") {
            Value::Map(csi) if is_added => {
                with(new, "csi", Some(Value::Map(csi.with("controllerExpandSecretRef", None, &arena))), &arena)
            }
            _ => new,
        };
        let difference = internal::difference("core.v1.PersistentVolumeSource", old, new);
        let detail = format!("spec.persistentvolumesource is immutable after creation\n{difference}");
        found.forbidden(&root.child("persistentvolumesource"), detail);
    }
    immutable(get(new, "volumeMode"), get(old, "volumeMode"), &Path::Root.child("volumeMode"), found);
    let (affinity, before) = (get(new, "nodeAffinity"), get(old, "nodeAffinity"));
    if !before.is_null() && !is_same_affinity(affinity, before) {
        let detail = format!("{IMMUTABLE}, except for updating from beta label to GA");
        found.invalid(&Path::Root.child("nodeAffinity"), affinity, detail);
    }
    if !get(old, "volumeAttributesClassName").is_null() && get(new, "volumeAttributesClassName").is_null() {
        found.forbidden(&root.child("volumeAttributesClassName"), "update from non-nil value to nil is forbidden");
    }
}

/// Returns whether the affinities of two volumes differ only in labels that are stable now
/// (`getMaskNodeSelectorLabelChangeEqualities`).
fn is_same_affinity(new: Value<'_>, old: Value<'_>) -> bool {
    const STABLE: [(&str, &str); 5] = [
        ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"),
        ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"),
        ("beta.kubernetes.io/os", "kubernetes.io/os"),
        ("beta.kubernetes.io/arch", "kubernetes.io/arch"),
        ("beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"),
    ];
    match (new, old) {
        (Value::List(new), Value::List(old)) => {
            new.len() == old.len() && new.iter().zip(old).all(|(new, old)| is_same_affinity(*new, *old))
        }
        (Value::Map(map), Value::Map(before)) => {
            map.len() == before.len()
                && map.entries().iter().all(|(key, value)| {
                    before.get(key).is_some_and(|old| match (value, old) {
                        (Value::String(new), Value::String(old)) if *key == "key" => {
                            new == &old || STABLE.contains(&(old, new))
                        }
                        (new, old) => is_same_affinity(*new, old),
                    })
                })
        }
        (new, old) => is_same(new, old),
    }
}

/// `ValidatePersistentVolumeClaimSpec`
fn claim_spec(at: &At<'_, '_>, found: &mut Found) {
    let (spec, path) = (at.value, at.path);
    let modes = items(spec, "accessModes");
    if modes.is_empty() {
        found.required(&path.child("accessModes"), "at least 1 access mode is required");
    }
    let selector = get(spec, "selector");
    if !selector.is_null() {
        form::selector(selector, &path.child("selector"), found);
    }
    if !modes.is_empty() {
        required_access_modes(spec, path, found);
    }
    let requested = get(get(get(spec, "resources"), "requests"), STORAGE);
    let resources = path.child("resources");
    let storage_path = resources.key(STORAGE);
    if requested.is_null() {
        found.required(&storage_path, "");
    } else if sign(requested) != Ordering::Greater {
        found.invalid(&storage_path, requested, NOT_POSITIVE);
    }
    class(spec, "storageClassName", path, found);
    volume_mode(spec, path, found);
    let (source, reference) = (get(spec, "dataSource"), get(spec, "dataSourceRef"));
    // An invalid group is allowed if the stored claim has one: `allowInvalidAPIGroupInDataSourceOrRef`.
    let old = get(at.scope.old.unwrap_or(Value::Null), "spec");
    let is_wrong = |key| {
        let group = text(get(old, key), "apiGroup");
        !group.is_empty() && !names::dns1123_subdomain(group).is_empty()
    };
    let any_group = is_wrong("dataSource") || is_wrong("dataSourceRef");
    for (key, source) in [("dataSource", source), ("dataSourceRef", reference)] {
        if !source.is_null() {
            data_source(source, any_group, &path.child(key), found);
        }
    }
    // Upstream shows the path as the value, which has no members in JSON.
    let mut differs = |detail: &str| {
        found.errors.push(Error::invalid(path, BadValue::Printed("{}".to_owned()), detail, 0));
    };
    if !source.is_null() && !reference.is_null() {
        if !text(reference, "namespace").is_empty() {
            differs("may not be specified when dataSourceRef.namespace is specified");
        } else if ["apiGroup", "kind", "name"].iter().any(|key| text(source, key) != text(reference, key)) {
            differs("must match dataSourceRef");
        }
    }
    class(spec, "volumeAttributesClassName", path, found);
}

fn data_source(source: Value<'_>, any_group: bool, path: &Path<'_>, found: &mut Found) {
    for key in ["name", "kind"] {
        if text(source, key).is_empty() {
            found.required(&path.child(key), "");
        }
    }
    let (group, kind) = (text(source, "apiGroup"), text(source, "kind"));
    if group.is_empty() && kind != "PersistentVolumeClaim" {
        let detail = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
        found.invalid(path, Value::String(kind), detail);
    }
    if !group.is_empty() && !any_group {
        found.messages(&path.child("apiGroup"), Value::String(group), names::dns1123_subdomain(group));
    }
    let namespace = text(source, "namespace");
    if !namespace.is_empty() {
        found.messages(&path.child("namespace"), Value::String(namespace), names::dns1123_label(namespace));
    }
}

/// `ValidatePersistentVolumeClaimUpdate`
fn claim_change(at: &At<'_, '_>, found: &mut Found) {
    const BETA: &str = "volume.beta.kubernetes.io/storage-class";
    let Some(old_claim) = at.scope.old else { return };
    let arena = Bump::new();
    let (new, old) = (get(at.value, "spec"), with_both_sources(get(old_claim, "spec"), &arena));
    let path = Path::Child(&Path::Root, "spec");
    let annotation = |object: Value<'_>| get(get(get(object, "metadata"), "annotations"), BETA).to_string();
    let (new_class, old_class) = (get(new, "storageClassName"), get(old, "storageClassName"));
    let before = get(get(get(old_claim, "metadata"), "annotations"), BETA);
    let after = get(get(get(at.value, "metadata"), "annotations"), BETA);
    let is_upgrade = before.as_str().is_some_and(|class| !class.is_empty() && new_class.as_str() == Some(class))
        && old_class.is_null()
        && after.is_null();
    if !is_upgrade && annotation(at.value) != annotation(old_claim) {
        let metadata = Path::Base("metadata");
        let annotations = metadata.child("annotations");
        found.invalid(&annotations.child(BETA), after, IMMUTABLE);
    }
    let from_nothing = old_class.is_null() && before.is_null() && !text(new, "storageClassName").is_empty();
    let is_bound = text(get(at.value, "status"), "phase") == "Bound";
    let keys = [
        "accessModes",
        "selector",
        "resources",
        "volumeName",
        "storageClassName",
        "volumeMode",
        "dataSource",
        "dataSourceRef",
        "volumeAttributesClassName",
    ];
    let is_changed = keys.iter().any(|key| match *key {
        "volumeName" if text(old, "volumeName").is_empty() => false,
        "storageClassName" if from_nothing || is_upgrade => false,
        "volumeAttributesClassName" if is_bound => false,
        "resources" => resources_changed(get(new, "resources"), get(old, "resources"), is_bound),
        key => {
            get(new, key).is_null() != get(old, key).is_null()
                && !crate::typed::is_empty(get(new, key)) | !crate::typed::is_empty(get(old, key))
                || !is_same(get(new, key), get(old, key))
        }
    });
    let (mut own, mut before) = (new, old);
    if text(old, "volumeName").is_empty() {
        before = with(before, "volumeName", new.get("volumeName"), &arena);
    }
    if is_upgrade {
        own = with(own, "storageClassName", None, &arena);
    } else if from_nothing {
        own = with(own, "storageClassName", old.get("storageClassName"), &arena);
    }
    if is_bound {
        let storage = get(get(get(old, "resources"), "requests"), STORAGE);
        let storage = if storage.is_null() { Value::String("0") } else { storage };
        let resources = get(own, "resources");
        if let Value::Map(requests) = get(resources, "requests") {
            let requests = Value::Map(requests.with(STORAGE, Some(storage), &arena));
            own = with(own, "resources", Some(with(resources, "requests", Some(requests), &arena)), &arena);
        }
        let class = "volumeAttributesClassName";
        own = with(own, class, old.get(class), &arena);
    }
    if is_changed {
        let difference = internal::difference(CLAIM_SPEC, before, own);
        found.forbidden(&path, format!("{CLAIM_IS_FROZEN}\n{difference}"));
    }
    let size = |value: Value<'_>| Quantity::parse(get(value, STORAGE).as_str().unwrap_or("0")).ok();
    let requests = |spec: Value<'_>| size(get(get(spec, "resources"), "requests"));
    let status = size(get(get(at.value, "status"), "capacity"));
    if let (Some(new_size), Some(old_size), Some(status)) = (requests(new), requests(old), status)
        && new_size.compare(&old_size) == Ordering::Less
        && new_size.compare(&status) != Ordering::Greater
    {
        let (resources, last) = (path.child("resources"), STORAGE);
        let requests = resources.child("requests");
        found.forbidden(&requests.child(last), "field can not be less than status.capacity");
    }
    immutable(get(new, "volumeMode"), get(old, "volumeMode"), &Path::Root.child("volumeMode"), found);
    let attributes = "volumeAttributesClassName";
    if !same(new, old, attributes) && !get(get(old_claim, "status"), "currentVolumeAttributesClassName").is_null() {
        let end = "is forbidden when status.currentVolumeAttributesClassName is not nil";
        match get(new, attributes).as_str() {
            None => found.forbidden(&path.child(attributes), format!("update to nil {end}")),
            Some("") => found.forbidden(&path.child(attributes), format!("update to empty string {end}")),
            Some(_) => {}
        }
    }
}

/// `NormalizeDataSources`, for an object that an earlier release stored.
fn with_both_sources<'a>(spec: Value<'a>, arena: &'a Bump) -> Value<'a> {
    let (source, reference) = (get(spec, "dataSource"), get(spec, "dataSourceRef"));
    match (source.is_null(), reference.is_null()) {
        (false, true) => with(spec, "dataSourceRef", Some(source), arena),
        (true, false) if text(reference, "namespace").is_empty() => {
            with(spec, "dataSource", Some(with(reference, "namespace", None, arena)), arena)
        }
        _ => spec,
    }
}

fn resources_changed(new: Value<'_>, old: Value<'_>, is_bound: bool) -> bool {
    let quantity = |value: Value<'_>| Quantity::parse(value.as_str().unwrap_or_default()).ok();
    let is_changed = |key: &str, may_differ: &dyn Fn(&str) -> bool| {
        let (new, old) = (entries(new, key), entries(old, key));
        let own = |list: &[(&str, Value<'_>)]| list.iter().filter(|(key, _)| !may_differ(key)).count();
        let before = |name: &str| old.binary_search_by_key(&name, |(key, _)| key).ok().and_then(|at| old.get(at));
        let is_same = |(name, value): &&(&str, Value<'_>)| {
            let before = before(name).and_then(|(_, before)| quantity(*before));
            before.zip(quantity(*value)).is_some_and(|(before, now)| now.is_same(&before))
        };
        own(new) != own(old) || !new.iter().filter(|(key, _)| !may_differ(key)).all(|entry| is_same(&entry))
    };
    // Upstream gives requests, if there are any, the old storage.
    let requests = get(new, "requests");
    let may_change = is_bound && !requests.is_null() && !get(get(old, "requests"), STORAGE).is_null();
    is_changed("limits", &|_| false) || is_changed("requests", &|key| may_change && key == STORAGE)
}

/// `ValidatePersistentVolumeClaimStatusUpdate`
fn claim_status(at: &At<'_, '_>, found: &mut Found) {
    const STATES: [&str; 5] = [
        "ControllerResizeInProgress",
        "ControllerResizeInfeasible",
        "NodeResizePending",
        "NodeResizeInProgress",
        "NodeResizeInfeasible",
    ];
    let status = get(at.value, "status");
    if items(get(at.value, "spec"), "accessModes").is_empty() {
        let path = Path::Child(&Path::Root, "Spec");
        found.required(&path.child("accessModes"), "");
    }
    let path = Path::Child(&Path::Root, "status");
    let capacity = path.child("capacity");
    for (key, quantity) in entries(status, "capacity") {
        if sign(*quantity) == Ordering::Less {
            found.invalid(&capacity.key(key), shown(*quantity), "must be a valid resource quantity");
        }
    }
    let is_known = |key: &str, path: &Path<'_>, found: &mut Found| {
        if !key.contains('/') && key != STORAGE {
            found.not_supported(path, Value::String(key), &[STORAGE]);
            return false;
        }
        true
    };
    let states = path.child("allocatedResourceStatuses");
    for (key, state) in entries(status, "allocatedResourceStatuses") {
        is_known(key, &states, found);
        if !STATES.contains(&state.as_str().unwrap_or_default()) {
            let mut sorted = STATES;
            sorted.sort_unstable();
            found.not_supported(&states, Value::String(key), &sorted);
        }
    }
    let allocated = path.child("allocatedResources");
    for (key, quantity) in entries(status, "allocatedResources") {
        if is_known(key, &allocated, found) && sign(*quantity) == Ordering::Less {
            found.invalid(&allocated.key(key), shown(*quantity), "must be a valid resource quantity");
        }
    }
}
