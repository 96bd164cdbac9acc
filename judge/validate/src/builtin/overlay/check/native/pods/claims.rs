//! Volume claims in pods and in sets of pods.

use super::super::super::Found;
use super::super::super::form::selector as label_selector;
use super::super::storage::{access_modes, volume_mode};
use super::{check_text, get, items, resources};
use crate::names;
use kubeshape_schema::field::Path;
use kubeshape_value::Value;

/// `ValidateCSIDriverName`
pub(super) fn csi_driver_name(name: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let own = name.as_str().unwrap_or_default();
    if own.is_empty() {
        return found.required(path, "");
    }
    if own.len() > 63 {
        found.too_long(path, 63);
    }
    found.messages(path, name, names::dns1123_subdomain(&own.to_lowercase()));
}

/// Checks the spec of a claim that a pod or a set creates: `ValidatePersistentVolumeClaimSpec`.
pub(in super::super) fn claim_spec(spec: Value<'_>, path: &Path<'_>, found: &mut Found) {
    if items(spec, "accessModes").is_empty() {
        found.required(&path.child("accessModes"), "at least 1 access mode is required");
    }
    if let Some(selector) = spec.get("selector") {
        label_selector(selector, &path.child("selector"), found);
    }
    access_modes(spec, path, found);
    let storage_path = path.child("resources");
    let storage_path = storage_path.key("storage");
    match get(get(spec, "resources"), "requests").get("storage") {
        None => found.required(&storage_path, ""),
        Some(value) if resources::quantity(value).is_some_and(|quantity| quantity.sign() <= 0) => {
            found.invalid(&storage_path, value, "must be greater than zero");
        }
        Some(_) => {}
    }
    check_text(spec, "storageClassName", path, names::dns1123_subdomain, found);
    volume_mode(spec, path, found);
    check_text(spec, "volumeAttributesClassName", path, names::dns1123_subdomain, found);
}
