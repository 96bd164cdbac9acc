//! Fields that requests to an object or to one of its subresources neither change nor own, besides `status` of the
//! object and `spec` of its status: `GetResetFields` and `PrepareForUpdate` of the strategies in `pkg/registry`.

use super::strategy::with_metadata;
use super::{Change, Release};
use kubeshape_value::{Bump, Value};

/// A path from the root of the object.
type Field = &'static [&'static str];

const METADATA: &[Field] = &[&["metadata"]];

/// Group, kind and subresource, and the fields.
const FIELDS: [(&str, &str, &str, &[Field]); 21] = [
    ("", "Pod", "status", &[&["metadata", "deletionTimestamp"], &["metadata", "ownerReferences"]]),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy", "status", METADATA),
    ("apiextensions.k8s.io", "CustomResourceDefinition", "status", METADATA),
    ("apiregistration.k8s.io", "APIService", "status", METADATA),
    ("apps", "Deployment", "status", &[&["metadata", "labels"]]),
    ("certificates.k8s.io", "CertificateSigningRequest", "", &[&["spec"]]),
    ("certificates.k8s.io", "CertificateSigningRequest", "status", &[&["status", "conditions"]]),
    ("certificates.k8s.io", "CertificateSigningRequest", "approval", &[&["spec"], &["status", "certificate"]]),
    ("flowcontrol.apiserver.k8s.io", "FlowSchema", "status", METADATA),
    ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration", "status", METADATA),
    ("internal.apiserver.k8s.io", "StorageVersion", "status", METADATA),
    ("lifecycle.k8s.io", "Eviction", "status", METADATA),
    ("lifecycle.k8s.io", "EvictionRequest", "status", METADATA),
    ("networking.k8s.io", "ServiceCIDR", "status", METADATA),
    ("resource.k8s.io", "DeviceTaintRule", "status", METADATA),
    ("resource.k8s.io", "ResourceClaim", "status", METADATA),
    ("resource.k8s.io", "ResourcePoolStatusRequest", "status", METADATA),
    ("scheduling.k8s.io", "CompositePodGroup", "status", METADATA),
    ("scheduling.k8s.io", "PodGroup", "status", METADATA),
    ("storage.k8s.io", "VolumeAttachment", "status", METADATA),
    ("storagemigration.k8s.io", "StorageVersionMigration", "status", METADATA),
];

/// What a status keeps of the metadata if it resets all of them (`ResetObjectMetaForStatus`).
const KEPT: [&str; 5] = ["deletionTimestamp", "labels", "annotations", "finalizers", "ownerReferences"];

/// Returns the fields that requests to an object (`""`) or a subresource do not own, besides `status` of the object and
/// `spec` of its status.
///
/// # Example
/// ```
/// use kubeshape_validate::{Release, builtin::reset_fields};
///
/// assert_eq!(reset_fields("apps", "Deployment", "status", Release::NEWEST), [&["metadata", "labels"]]);
/// assert!(reset_fields("apps", "Deployment", "", Release::NEWEST).is_empty());
/// ```
pub fn reset_fields(group: &str, kind: &str, subresource: &str, release: Release) -> &'static [Field] {
    // Their status changes metadata, too, so the server lets it own them (kubernetes/kubernetes#137681).
    if kind == "CustomResourceDefinition" && Change::OwnedMetadataOfDefinitions.is_in(release) {
        return &[];
    }
    let row = FIELDS.iter().find(|(of, name, sub, _)| (*of, *name, *sub) == (group, kind, subresource));
    row.map_or(&[], |(.., fields)| fields)
}

/// Returns an object sent to the status of another one with the metadata that this status does not change.
pub(super) fn with_kept_metadata<'a>(
    object: Value<'a>,
    old: Value<'a>,
    (group, kind): (&str, &str),
    arena: &'a Bump,
) -> Value<'a> {
    // Who owns metadata depends on the release, what a status keeps does not.
    let fields = reset_fields(group, kind, "status", Release::OLDEST);
    let keys = fields.iter().flat_map(|field| match *field {
        ["metadata"] => &KEPT[..],
        ["metadata", rest @ ..] => rest,
        _ => &[],
    });
    let of_old = |key: &str| old.get("metadata").and_then(|metadata| metadata.get(key));
    keys.fold(object, |object, key| with_metadata(object, key, of_old(key), arena))
}
