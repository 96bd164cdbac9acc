//! Rules of `storage.k8s.io`.

use super::super::common::{IMMUTABLE, immutable, same, sign, texts};
use super::super::{entries, get, items, number, text};
use super::check_volume;
use super::sources::driver_name;
use crate::builtin::overlay::check::form;
use crate::builtin::overlay::check::{At, Found};
use crate::builtin::overlay::edit;
use crate::names;
use kubeshape_schema::field::Path;
use kubeshape_value::Value;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// `validateParameters`
fn parameters(object: Value<'_>, can_be_empty: bool, path: &Path<'_>, found: &mut Found) {
    const MOST: usize = 512;
    const MOST_BYTES: usize = 256 * 1024;
    let path = path.child("parameters");
    let parameters = entries(object, "parameters");
    if parameters.len() > MOST {
        return found.too_long(&path, MOST);
    }
    if parameters.iter().any(|(key, _)| key.is_empty()) {
        found.invalid(&path, Value::String(""), "field can not be empty.");
    }
    let bytes: usize = parameters.iter().map(|(key, value)| key.len() + value.as_str().unwrap_or_default().len()).sum();
    if bytes > MOST_BYTES {
        found.too_long(&path, MOST_BYTES);
    }
    if !can_be_empty && parameters.is_empty() {
        found.required(&path, "must contain at least one key/value pair");
    }
}

/// `validateProvisioner`
fn provisioner(object: Value<'_>, key: &str, path: &Path<'_>, found: &mut Found) {
    let path = path.child(key);
    match text(object, key) {
        "" => found.required(&path, ""),
        name => {
            let small = name.to_lowercase();
            found.messages(&path, Value::String(&small), names::qualified_name(&small));
        }
    }
}

/// `ValidateStorageClass`
pub(super) fn storage_class(at: &At<'_, '_>, found: &mut Found) {
    const MODES: [&str; 2] = ["Immediate", "WaitForFirstConsumer"];
    let (class, path) = (at.value, at.path);
    provisioner(class, "provisioner", path, found);
    parameters(class, true, path, found);
    let reclaim = get(class, "reclaimPolicy");
    if !matches!(reclaim.as_str(), None | Some("" | "Delete" | "Retain")) {
        found.not_supported(&path.child("reclaimPolicy"), reclaim, &["Delete", "Retain"]);
    }
    let mode = get(class, "volumeBindingMode");
    match mode.as_str() {
        None => found.required(&path.child("volumeBindingMode"), ""),
        Some(text) if !MODES.contains(&text) => found.not_supported(&path.child("volumeBindingMode"), mode, &MODES),
        Some(_) => {}
    }
    let path = path.child("allowedTopologies");
    let terms = items(class, "allowedTopologies");
    let mut seen: BTreeMap<BTreeMap<&str, Vec<&str>>, usize> = BTreeMap::new();
    for (at, term) in terms.iter().enumerate() {
        let path = path.index(at);
        let expressions = path.child("matchLabelExpressions");
        let mut map: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (at, item) in items(*term, "matchLabelExpressions").iter().enumerate() {
            let path = expressions.index(at);
            let values = texts(items(*item, "values"));
            let values_path = path.child("values");
            if values.is_empty() {
                found.required(&values_path, "");
            }
            let mut seen = BTreeSet::new();
            for (at, value) in values.iter().enumerate() {
                if !seen.insert(value) {
                    found.duplicate(&values_path.index(at), Value::String(value));
                }
            }
            let key = text(*item, "key");
            found.messages(&path.child("key"), Value::String(key), names::qualified_name(key));
            let mut values = values;
            values.sort_unstable();
            values.dedup();
            if map.insert(key, values).is_some() {
                found.duplicate(&path.child("key"), Value::String(key));
            }
        }
        // Upstream also compares with as many empty maps as there are terms.
        let empty = if map.is_empty() { terms.len() } else { 0 };
        let before = seen.entry(map).or_default();
        found.duplicates(&expressions, Value::String(""), *before + empty);
        *before += 1;
    }
}

/// `ValidateStorageClassUpdate`
pub(super) fn storage_class_change(at: &At<'_, '_>, found: &mut Found) {
    let Some(old) = at.scope.old else { return };
    for key in ["parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"] {
        immutable(get(at.value, key), get(old, key), &at.path.child(key), found);
    }
}

/// `validateCSIDriverSpec`
pub(super) fn csi_driver(at: &At<'_, '_>, found: &mut Found) {
    const POLICIES: [&str; 3] = ["File", "None", "ReadWriteOnceWithFSType"];
    const MODES: [&str; 2] = ["Persistent", "Ephemeral"];
    let spec = get(at.value, "spec");
    let path = Path::Child(&Path::Root, "spec");
    for (key, shown) in [
        ("attachRequired", "attachedRequired"),
        ("podInfoOnMount", "podInfoOnMount"),
        ("storageCapacity", "storageCapacity"),
    ] {
        if get(spec, key).is_null() {
            found.required(&path.child(shown), "");
        }
    }
    let policy = get(spec, "fsGroupPolicy");
    if policy.as_str().is_some_and(|policy| !POLICIES.contains(&policy)) {
        found.not_supported(&path.child("fsGroupPolicy"), policy, &POLICIES);
    }
    let requests = items(spec, "tokenRequests");
    let requests_path = path.child("tokenRequests");
    let mut seen = BTreeSet::new();
    for (at, request) in requests.iter().enumerate() {
        let path = requests_path.index(at);
        let audience = text(*request, "audience");
        if !seen.insert(audience) {
            found.duplicate(&path.child("audience"), Value::String(audience));
            continue;
        }
        let Some(seconds) = number(*request, "expirationSeconds") else { continue };
        let path = path.child("expirationSeconds");
        if seconds < 600 {
            found.invalid(&path, Value::Int(seconds), "may not specify a duration less than 10 minutes");
        }
        if seconds > 1 << 32 {
            found.invalid(&path, Value::Int(seconds), "may not specify a duration larger than 2^32 seconds");
        }
    }
    for mode in items(spec, "volumeLifecycleModes") {
        if !MODES.contains(&mode.as_str().unwrap_or_default()) {
            found.not_supported(&path.child("volumeLifecycleModes"), *mode, &MODES);
        }
    }
    if get(spec, "seLinuxMount").is_null() {
        found.required(&path.child("seLinuxMount"), "");
    }
    if let Some(seconds) = number(spec, "nodeAllocatableUpdatePeriodSeconds")
        && seconds < 10
    {
        let path = path.child("nodeAllocatableUpdatePeriodSeconds");
        found.invalid(&path, Value::Int(seconds), "must be greater than or equal to 10 seconds");
    }
    let in_secrets = get(spec, "serviceAccountTokenInSecrets");
    if !in_secrets.is_null() && requests.is_empty() {
        let detail = "serviceAccountTokenInSecrets is set but no tokenRequests are specified";
        found.invalid(&path.child("serviceAccountTokenInSecrets"), in_secrets, detail);
    }
}

pub(super) fn csi_driver_change(at: &At<'_, '_>, found: &mut Found) {
    let Some(old) = at.scope.old else { return };
    let (new, old) = (get(at.value, "spec"), get(old, "spec"));
    let path = Path::Child(&Path::Root, "spec");
    for (key, shown) in [("attachRequired", "attachedRequired"), ("volumeLifecycleModes", "volumeLifecycleModes")] {
        if get(new, key).to_string() != get(old, key).to_string() {
            immutable(get(new, key), get(old, key), &path.child(shown), found);
        }
    }
}

/// `validateCSINodeSpec`
pub(super) fn csi_node(at: &At<'_, '_>, found: &mut Found) {
    const MOST: usize = 256;
    let path = Path::Child(&Path::Root, "spec");
    let path = path.child("drivers");
    let drivers = items(get(at.value, "spec"), "drivers");
    let mut seen = BTreeSet::new();
    for (at, driver) in drivers.iter().enumerate() {
        let path = path.index(at);
        driver_name(*driver, "name", &path, found);
        let id = text(*driver, "nodeID");
        if id.is_empty() {
            found.required(&path.child("nodeID"), "");
        }
        if id.len() > MOST {
            found.invalid(&path.child("nodeID"), Value::String(id), format!("must be {MOST} characters or less"));
        }
        if let Some(count) = number(get(*driver, "allocatable"), "count")
            && count < 0
        {
            let path = path.child("allocatable");
            found.invalid(&path.child("count"), Value::Int(count), form::NEGATIVE);
        }
        let name = text(*driver, "name");
        if !seen.insert(name) {
            found.duplicate(&path.child("name"), Value::String(name));
        }
        let keys = texts(items(*driver, "topologyKeys"));
        let mut seen = BTreeSet::new();
        for key in &keys {
            if key.is_empty() {
                found.required(&path, "");
            }
            if !seen.insert(key) {
                found.duplicate(&path, Value::String(key));
            }
            found.messages(&path, Value::String(key), names::qualified_name(key));
        }
    }
}

/// `ValidateCSINodeUpdate`
pub(super) fn csi_node_change(at: &At<'_, '_>, found: &mut Found) {
    let Some(old) = at.scope.old else { return };
    let path = Path::Child(&Path::Root, "spec");
    for before in items(get(old, "spec"), "drivers") {
        for after in items(get(at.value, "spec"), "drivers") {
            let is_changed = ["nodeID", "topologyKeys"].iter().any(|key| !same(*before, *after, key));
            if text(*before, "name") == text(*after, "name") && is_changed {
                found.invalid(&path.child("drivers"), *after, IMMUTABLE);
            }
        }
    }
}

/// `ValidateCSIStorageCapacity`
pub(super) fn storage_capacity(at: &At<'_, '_>, found: &mut Found) {
    let topology = get(at.value, "nodeTopology");
    if !topology.is_null() {
        form::selector(topology, &at.path.child("nodeTopology"), found);
    }
    let class = text(at.value, "storageClassName");
    found.messages(&at.path.child("storageClassName"), Value::String(class), names::dns1123_subdomain(class));
    let capacity = get(at.value, "capacity");
    if sign(capacity) == Ordering::Less {
        found.invalid(&at.path.child("capacity"), capacity, form::NEGATIVE);
    }
}

pub(super) fn storage_capacity_change(at: &At<'_, '_>, found: &mut Found) {
    let Some(old) = at.scope.old else { return };
    for key in ["nodeTopology", "storageClassName"] {
        let (new, old) = (get(at.value, key), get(old, key));
        if !edit::semantic_equal(new, old) {
            found.invalid(&at.path.child(key), new, IMMUTABLE);
        }
    }
}

/// `ValidateVolumeAttachment`
pub(super) fn volume_attachment(at: &At<'_, '_>, found: &mut Found) {
    let spec = get(at.value, "spec");
    let path = Path::Child(&Path::Root, "spec");
    driver_name(spec, "attacher", &path, found);
    let source = get(spec, "source");
    let source_path = path.child("source");
    let (inline, name) = (get(source, "inlineVolumeSpec"), get(source, "persistentVolumeName"));
    let detail = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
    match (inline.is_null(), name.as_str()) {
        (true, None) => found.required(&source_path, detail),
        (false, Some(_)) => found.forbidden(&source_path, detail),
        (true, Some("")) => {
            found.required(&source_path.child("persistentVolumeName"), "must specify non empty persistentVolumeName");
        }
        (false, None) => check_volume(inline, "", true, &source_path.child("inlineVolumeSpec"), found),
        _ => {}
    }
    let node = text(spec, "nodeName");
    found.messages(&path.child("nodeName"), Value::String(node), names::dns1123_subdomain(node));
    let status = Path::Child(&Path::Root, "status");
    for key in ["attachError", "detachError"] {
        volume_error(get(get(at.value, "status"), key), &status.child(key), found);
    }
    if let Some(text) = name.as_str() {
        found.messages(&Path::Base("spec.source.persistentVolumeName"), name, names::dns1123_subdomain(text));
    }
}

fn volume_error(error: Value<'_>, path: &Path<'_>, found: &mut Found) {
    const MOST: usize = 1024;
    // Upstream's message names the limit of another field.
    const SAID: usize = 256 * 1024;
    if text(error, "message").len() > MOST {
        found.too_long(&path.child("message"), SAID);
    }
    if let Some(code) = number(error, "errorCode")
        && code < 0
    {
        found.invalid(&path.child("errorCode"), Value::Int(code), "must be between 0 and 2147483647, inclusive");
    }
}

pub(super) fn volume_attachment_change(at: &At<'_, '_>, found: &mut Found) {
    let Some(old) = at.scope.old else { return };
    let (new, old) = (get(at.value, "spec"), get(old, "spec"));
    if !edit::semantic_equal(new, old) {
        found.invalid(&at.path.child("spec"), new, IMMUTABLE);
    }
}

pub(super) fn attributes_class(at: &At<'_, '_>, found: &mut Found) {
    provisioner(at.value, "driverName", at.path, found);
    parameters(at.value, false, at.path, found);
}

pub(super) fn attributes_class_change(at: &At<'_, '_>, found: &mut Found) {
    let Some(old) = at.scope.old else { return };
    for key in ["driverName", "parameters"] {
        if !same(at.value, old, key) {
            found.forbidden(&at.path.child(key), format!("updates to {key} are forbidden."));
        }
    }
}
