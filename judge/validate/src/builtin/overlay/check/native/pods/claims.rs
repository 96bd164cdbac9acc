//! Volume claims in pods and in sets of pods.

use super::super::super::Found;
use super::super::super::form::selector as label_selector;
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
    const MODES: [&str; 4] = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
    let modes_path = path.child("accessModes");
    let modes = items(spec, "accessModes");
    if modes.is_empty() {
        found.required(&modes_path, "at least 1 access mode is required");
    }
    if let Some(selector) = spec.get("selector") {
        label_selector(selector, &path.child("selector"), found);
    }
    let (mut alone, mut shared) = (false, false);
    for mode in modes {
        let own = mode.as_str().unwrap_or_default();
        if !MODES.contains(&own) {
            found.not_supported(&modes_path, *mode, &MODES);
        } else if own == "ReadWriteOncePod" {
            alone = true;
        } else {
            shared = true;
        }
    }
    if alone && shared {
        found.forbidden(&modes_path, "may not use ReadWriteOncePod with other access modes");
    }
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
    if spec.get("volumeMode").is_some() {
        let mode = get(spec, "volumeMode");
        if !matches!(mode.as_str(), Some("Block" | "Filesystem")) {
            found.not_supported(&path.child("volumeMode"), mode, &["Block", "Filesystem"]);
        }
    }
    check_text(spec, "volumeAttributesClassName", path, names::dns1123_subdomain, found);
}
