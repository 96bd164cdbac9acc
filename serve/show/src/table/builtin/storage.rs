//! Cells of volumes, claims and related kinds.

use super::cells::{at, each, is_set, items, joined, or, quantity, text, text_at};
use super::{is_deleted, marked};
use kubeshape_value::Value;

/// Each access mode and its short name, in the order in which they are shown.
const MODES: [(&str, &str); 4] =
    [("ReadWriteOnce", "RWO"), ("ReadOnlyMany", "ROX"), ("ReadWriteMany", "RWX"), ("ReadWriteOncePod", "RWOP")];

/// Upstream: `helper.GetAccessModesAsString`.
pub(super) fn access_modes(modes: Value<'_>) -> String {
    let has = |mode: &str| items(modes).iter().any(|item| text(*item) == mode);
    MODES.iter().filter(|(mode, _)| has(mode)).map(|(_, short)| *short).collect::<Vec<_>>().join(",")
}

/// Returns the phase of a volume or a claim (upstream: `printPersistentVolume`, `printPersistentVolumeClaim`).
pub(super) fn phase(object: Value<'_>) -> String {
    if is_deleted(object) { "Terminating" } else { text_at(object, "status.phase") }.to_owned()
}

/// Returns the claim to which a volume is bound (upstream: `printPersistentVolume`).
pub(super) fn claim(reference: Value<'_>) -> String {
    if !is_set(reference) {
        return String::new();
    }
    format!("{}/{}", text_at(reference, "namespace"), text_at(reference, "name"))
}

/// Upstream: `helper.GetPersistentVolumeClass`, `helper.GetPersistentVolumeClaimClass`.
pub(super) fn storage_class(object: Value<'_>) -> String {
    let annotation = at(object, "metadata.annotations").get("volume.beta.kubernetes.io/storage-class");
    annotation.map_or_else(|| text_at(object, "spec.storageClassName"), text).to_owned()
}

/// Returns the capacity of a bound claim (upstream: `printPersistentVolumeClaim`).
pub(super) fn claim_capacity(claim: Value<'_>) -> String {
    match text_at(claim, "spec.volumeName") {
        "" => String::new(),
        _ => quantity(at(claim, "status.capacity.storage")),
    }
}

/// Returns the access modes of a bound claim (upstream: `printPersistentVolumeClaim`).
pub(super) fn claim_modes(claim: Value<'_>) -> String {
    match text_at(claim, "spec.volumeName") {
        "" => String::new(),
        _ => access_modes(at(claim, "status.accessModes")),
    }
}

/// Upstream: `printStorageClass`.
pub(super) fn default_storage_class(metadata: Value<'_>) -> String {
    marked(
        metadata,
        &["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"],
    )
}

/// Upstream: `printCSIDriver`.
pub(super) fn token_audiences(requests: Value<'_>) -> String {
    if is_set(requests) { each(requests, "audience", ",") } else { "<unset>".to_owned() }
}

/// Upstream: `printCSIDriver`. The server sets the default.
pub(super) fn lifecycle_modes(modes: Value<'_>) -> String {
    or(&joined(modes), "<none>").to_owned()
}
