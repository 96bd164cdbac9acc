//! The priorities of kube-apiserver's own groups.

use crate::model::Priority;

/// A group, its priority, and the priorities of its versions.
type BuiltIn = (&'static str, i32, &'static [(&'static str, i32)]);

/// Upstream: `apiVersionPriorities` in `cmd/kube-apiserver/app` and `DefaultGenericAPIServicePriorities` in
/// `pkg/controlplane/apiserver`.
const BUILT_IN: &[BuiltIn] = &[
    ("", 18000, &[("v1", 1)]),
    ("admissionregistration.k8s.io", 16700, &[("v1", 15), ("v1beta1", 12), ("v1alpha1", 9)]),
    ("apiextensions.k8s.io", 16700, &[("v1", 15)]),
    ("apiregistration.k8s.io", 20001, &[("v1", 15)]),
    ("apps", 17800, &[("v1", 15)]),
    ("authentication.k8s.io", 17700, &[("v1", 15), ("v1beta1", 9), ("v1alpha1", 1)]),
    ("authorization.k8s.io", 17600, &[("v1", 15)]),
    ("autoscaling", 17500, &[("v2", 30), ("v1", 15), ("v2beta1", 9), ("v2beta2", 1)]),
    ("batch", 17400, &[("v1", 15), ("v1beta1", 9), ("v2alpha1", 9)]),
    ("certificates.k8s.io", 17300, &[("v1", 15), ("v1beta1", 9), ("v1alpha1", 1)]),
    ("coordination.k8s.io", 16500, &[("v1", 15), ("v1beta1", 13), ("v1alpha2", 12)]),
    ("discovery.k8s.io", 16200, &[("v1", 15), ("v1beta1", 12)]),
    ("events.k8s.io", 17750, &[("v1", 15), ("v1beta1", 5)]),
    (
        "flowcontrol.apiserver.k8s.io",
        16100,
        &[("v1", 21), ("v1beta3", 18), ("v1beta2", 15), ("v1beta1", 12), ("v1alpha1", 9)],
    ),
    ("internal.apiserver.k8s.io", 16000, &[("v1alpha1", 9)]),
    ("networking.k8s.io", 17200, &[("v1", 15), ("v1beta1", 9), ("v1alpha1", 1)]),
    ("node.k8s.io", 16300, &[("v1", 15), ("v1beta1", 9), ("v1alpha1", 1)]),
    ("policy", 17100, &[("v1", 15), ("v1beta1", 9)]),
    ("rbac.authorization.k8s.io", 17000, &[("v1", 15)]),
    ("resource.k8s.io", 16200, &[("v1", 20), ("v1beta2", 15), ("v1beta1", 9), ("v1alpha3", 1)]),
    ("scheduling.k8s.io", 16600, &[("v1", 15)]),
    ("storage.k8s.io", 16800, &[("v1", 15), ("v1beta1", 9), ("v1alpha1", 1)]),
    ("storagemigration.k8s.io", 15800, &[("v1beta1", 9), ("v1alpha1", 9)]),
];

/// The priorities of an APIService without priorities (upstream: `aggregated.resourceDiscoveryManager`).
pub const UNSET_PRIORITY: Priority = Priority { group: 1000, version: 15 };

/// Returns the priorities of one of kube-apiserver's own group versions, or `None` for all other groups.
///
/// # Example
/// ```
/// use kubeshape_discovery::{Priority, built_in_priority};
/// assert_eq!(built_in_priority("autoscaling", "v2"), Some(Priority { group: 17500, version: 30 }));
/// assert_eq!(built_in_priority("example.com", "v1"), None);
/// ```
pub fn built_in_priority(group: &str, version: &str) -> Option<Priority> {
    let (_, priority, versions) = BUILT_IN.iter().find(|(name, ..)| *name == group)?;
    let version =
        versions.iter().find(|(name, _)| *name == version).map_or(UNSET_PRIORITY.version, |(_, version)| *version);
    Some(Priority { group: *priority, version })
}

/// Returns whether a group is one of kube-apiserver's own.
pub(super) fn is_built_in(group: &str) -> bool {
    BUILT_IN.iter().any(|(name, ..)| *name == group)
}
