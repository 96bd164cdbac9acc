//! The table of kinds.

use super::Change;
use super::Naming::{self, Address, GroupResource, Label, PathSegment, ServiceLabel, Subdomain};
use super::rules::Rule;

/// The metadata checks of a kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) naming: Naming,
    /// Whether finalizers without a domain must be those of Kubernetes (`ValidateObjectMeta` of `pkg/apis/core`, in
    /// addition to that of `k8s.io/apimachinery`).
    pub(super) checks_finalizers: bool,
    /// Whether objects have a generation (`PrepareForCreate` of the strategy).
    pub(super) counts: bool,
    /// The change with which servers began to set it.
    pub(super) counts_since: Option<Change>,
    /// The member of metadata whose changes increase the generation, in addition to the spec (`PrepareForUpdate`).
    pub(super) counts_also: Option<&'static str>,
    /// Whether updates increase it: a new CSIDriver has no generation, and that of a PriorityClass never changes.
    pub(super) counts_changes: bool,
    /// Whether an update must name the version that it replaces: `AllowUnconditionalUpdate` of the strategy is false.
    pub(super) needs_version: bool,
    /// A rule that depends on other fields.
    pub(super) rule: Option<Rule>,
}

impl Row {
    pub(super) const OTHER: Row = versioned(row(PathSegment));
}

const fn row(naming: Naming) -> Row {
    Row {
        naming,
        checks_finalizers: false,
        counts: false,
        counts_since: None,
        counts_also: None,
        counts_changes: false,
        needs_version: false,
        rule: None,
    }
}

const fn versioned(row: Row) -> Row {
    Row { needs_version: true, ..row }
}

const fn core(naming: Naming) -> Row {
    Row { checks_finalizers: true, ..row(naming) }
}

const fn counted(row: Row) -> Row {
    Row { counts: true, counts_changes: true, ..row }
}

const fn counted_with(row: Row, member: &'static str) -> Row {
    Row { counts_also: Some(member), ..counted(row) }
}

const fn special(row: Row, rule: Rule) -> Row {
    Row { rule: Some(rule), ..row }
}

/// The stored kinds, by group. Kinds that are only requests, such as reviews and bindings, need no name.
const KINDS: [(&str, &[(&str, Row)]); 20] = [
    (
        "",
        &[
            ("ConfigMap", core(Subdomain)),
            ("Endpoints", core(Subdomain)),
            // Only the checks of all kinds apply: `ValidateEventCreate`.
            ("Event", special(row(PathSegment), Rule::Last)),
            ("LimitRange", special(core(Subdomain), Rule::LimitRange)),
            ("Namespace", core(Label)),
            ("Node", core(Subdomain)),
            ("PersistentVolume", core(Subdomain)),
            ("PersistentVolumeClaim", core(Subdomain)),
            ("Pod", counted(core(Subdomain))),
            ("PodTemplate", counted(core(Subdomain))),
            ("ReplicationController", special(counted(core(Subdomain)), Rule::AnyPrefix)),
            ("ResourceQuota", core(Subdomain)),
            ("Secret", core(Subdomain)),
            ("Service", core(ServiceLabel)),
            ("ServiceAccount", core(Subdomain)),
        ],
    ),
    (
        "admissionregistration.k8s.io",
        &[
            ("MutatingAdmissionPolicy", versioned(special(counted(row(Subdomain)), Rule::StaticName))),
            ("MutatingAdmissionPolicyBinding", versioned(special(counted(row(Subdomain)), Rule::StaticName))),
            ("MutatingWebhookConfiguration", versioned(special(counted(row(Subdomain)), Rule::StaticName))),
            ("ValidatingAdmissionPolicy", versioned(special(counted(row(Subdomain)), Rule::StaticName))),
            ("ValidatingAdmissionPolicyBinding", versioned(special(counted(row(Subdomain)), Rule::StaticName))),
            ("ValidatingWebhookConfiguration", versioned(special(counted(row(Subdomain)), Rule::StaticName))),
        ],
    ),
    ("apiregistration.k8s.io", &[("APIService", versioned(special(row(PathSegment), Rule::ApiService)))]),
    (
        "apps",
        &[
            ("ControllerRevision", core(Subdomain)),
            ("DaemonSet", counted(core(Subdomain))),
            ("Deployment", counted_with(core(Subdomain), "annotations")),
            ("ReplicaSet", counted(core(Subdomain))),
            // Its pods use its name as their host name.
            ("StatefulSet", counted(core(Label))),
        ],
    ),
    (
        "autoscaling",
        &[(
            "HorizontalPodAutoscaler",
            Row { counts_since: Some(Change::GenerationsOfAutoscalers), ..counted(core(Subdomain)) },
        )],
    ),
    ("batch", &[("CronJob", special(counted(core(Subdomain)), Rule::CronJob)), ("Job", counted(core(Subdomain)))]),
    (
        "certificates.k8s.io",
        &[
            ("CertificateSigningRequest", core(PathSegment)),
            ("ClusterTrustBundle", versioned(special(core(Subdomain), Rule::ClusterTrustBundle))),
            ("PodCertificateRequest", versioned(core(Subdomain))),
        ],
    ),
    ("coordination.k8s.io", &[("Lease", versioned(row(Subdomain))), ("LeaseCandidate", versioned(row(Subdomain)))]),
    ("discovery.k8s.io", &[("EndpointSlice", counted_with(core(Subdomain), "labels"))]),
    ("events.k8s.io", &[("Event", core(Subdomain))]),
    (
        "flowcontrol.apiserver.k8s.io",
        &[("FlowSchema", counted(core(Subdomain))), ("PriorityLevelConfiguration", counted(core(Subdomain)))],
    ),
    ("internal.apiserver.k8s.io", &[("StorageVersion", versioned(row(GroupResource)))]),
    (
        "networking.k8s.io",
        &[
            ("IPAddress", core(Address)),
            ("Ingress", counted(core(Subdomain))),
            ("IngressClass", counted(core(Subdomain))),
            ("NetworkPolicy", counted(core(Subdomain))),
            ("ServiceCIDR", core(Subdomain)),
        ],
    ),
    ("node.k8s.io", &[("RuntimeClass", versioned(row(Subdomain)))]),
    ("policy", &[("PodDisruptionBudget", versioned(counted(row(PathSegment))))]),
    (
        "rbac.authorization.k8s.io",
        &[
            ("ClusterRole", core(PathSegment)),
            ("ClusterRoleBinding", core(PathSegment)),
            ("Role", core(PathSegment)),
            ("RoleBinding", core(PathSegment)),
        ],
    ),
    (
        "resource.k8s.io",
        &[
            ("DeviceClass", special(counted(core(Subdomain)), Rule::AnyPrefix)),
            ("DeviceTaintRule", counted(core(Subdomain))),
            ("PodSchedulingContext", core(Subdomain)),
            ("ResourceClaim", core(Subdomain)),
            ("ResourceClaimTemplate", core(Subdomain)),
            ("ResourcePoolStatusRequest", versioned(core(Subdomain))),
            ("ResourceSlice", counted(core(Subdomain))),
        ],
    ),
    (
        "scheduling.k8s.io",
        &[
            ("PodGroup", row(Subdomain)),
            ("PriorityClass", special(Row { counts: true, ..core(Subdomain) }, Rule::PriorityClass)),
            ("Workload", row(Subdomain)),
        ],
    ),
    (
        "storage.k8s.io",
        &[
            ("CSIDriver", versioned(Row { counts_changes: true, ..core(Subdomain) })),
            ("CSINode", versioned(core(Subdomain))),
            ("CSIStorageCapacity", versioned(core(Subdomain))),
            ("StorageClass", core(Subdomain)),
            ("VolumeAttachment", versioned(core(Subdomain))),
            ("VolumeAttributesClass", core(Subdomain)),
        ],
    ),
    ("storagemigration.k8s.io", &[("StorageVersionMigration", versioned(row(Subdomain)))]),
];

/// Returns the row of a kind.
pub(super) fn find(group: &str, kind: &str) -> Option<Row> {
    let (_, kinds) = KINDS.iter().find(|(name, _)| *name == group)?;
    kinds.iter().find(|(name, _)| *name == kind).map(|(_, row)| *row)
}

/// Returns whether Kubernetes has a group.
pub(crate) fn has_group(group: &str) -> bool {
    KINDS.iter().any(|(name, _)| *name == group)
}
