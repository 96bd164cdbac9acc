//! Rules that the types of Kubernetes declare since 1.37 (`+k8s:required`, `+k8s:immutable` and others, KEP-5073), and
//! that its code had in other words before.

use crate::{AskedRelease, Change};
use kubeshape_schema::field::{BadValue, Error, ErrorType};

/// By API group and kind: the detail of an error about a required or forbidden field that has none any more.
const WITHOUT_DETAIL: [(&str, &str, &str); 7] = [
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding", "at least one validation action is required"),
    ("autoscaling", "HorizontalPodAutoscaler", "must be set and greater than 0"),
    ("discovery.k8s.io", "EndpointSlice", "must contain at least 1 address"),
    ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration", "must not be empty when type is Limited"),
    (
        "flowcontrol.apiserver.k8s.io",
        "PriorityLevelConfiguration",
        "must be nil if limited.limitResponse.type is not Limited",
    ),
    ("rbac.authorization.k8s.io", "ClusterRole", "verbs must contain at least one value"),
    ("rbac.authorization.k8s.io", "Role", "verbs must contain at least one value"),
];

/// By API group and kind: a field that may not change, whose error shows `null` in place of the value.
const WITHOUT_VALUE: [(&str, &str, &str); 6] = [
    ("networking.k8s.io", "IPAddress", "spec.parentRef"),
    ("node.k8s.io", "RuntimeClass", "handler"),
    ("resource.k8s.io", "ResourceClaim", "spec"),
    ("storage.k8s.io", "StorageClass", "parameters"),
    ("storage.k8s.io", "StorageClass", "provisioner"),
    ("storage.k8s.io", "VolumeAttachment", "spec"),
];
const IMMUTABLE: &str = "field is immutable";

/// Puts errors about a kind into the words of the release.
pub(super) fn reword(api_version: &str, kind: &str, release: &AskedRelease, errors: &mut [Error]) {
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    for error in errors {
        let is_in = |table: &[(&str, &str, &str)], text: &str| table.contains(&(group, kind, text));
        match error.error_type {
            ErrorType::Required | ErrorType::Forbidden
                if is_in(&WITHOUT_DETAIL, &error.detail) && release.has(Change::DeclaredRules) =>
            {
                error.detail.clear();
            }
            ErrorType::Invalid
                if error.detail == IMMUTABLE
                    && is_in(&WITHOUT_VALUE, &error.path)
                    && release.has(Change::DeclaredRules) =>
            {
                error.value = BadValue::Json("null".to_owned());
            }
            _ => {}
        }
    }
}
