//! Fields that servers require in Go code although no document requires them.
//!
//! This covers the kinds that people write most often. The requirements of other kinds are in `pkg/apis/*/validation`
//! of Kubernetes.

/// The end of a definition's name, the path of a field in it, and its required string, if any.
type Rule = (&'static str, &'static str, Option<&'static str>);

const RULES: [Rule; 24] = [
    // The labels of the pods must match the selector: samples give all labels the same key and value.
    ("apps.v1.DaemonSetSpec", "selector.matchLabels", None),
    ("apps.v1.DaemonSetSpec", "template.metadata.labels", None),
    ("apps.v1.DeploymentSpec", "selector.matchLabels", None),
    ("apps.v1.DeploymentSpec", "template.metadata.labels", None),
    ("apps.v1.ReplicaSetSpec", "selector.matchLabels", None),
    ("apps.v1.ReplicaSetSpec", "template.metadata.labels", None),
    ("apps.v1.StatefulSetSpec", "selector.matchLabels", None),
    ("apps.v1.StatefulSetSpec", "template.metadata.labels", None),
    ("core.v1.ReplicationController", "spec.selector", None),
    ("core.v1.ReplicationController", "spec.template.metadata.labels", None),
    ("batch.v1.JobSpec", "template.spec.restartPolicy", Some("Never")),
    ("batch.v1.CronJobSpec", "schedule", Some("0 * * * *")),
    ("core.v1.Container", "image", None),
    ("core.v1.PersistentVolumeClaim", "spec.accessModes[0]", Some("ReadWriteOnce")),
    ("core.v1.PersistentVolumeClaim", "spec.resources.requests", None),
    ("core.v1.Service", "spec.ports", None),
    ("core.v1.Service", "spec.selector", None),
    ("networking.v1.Ingress", "spec.defaultBackend.service.port.number", None),
    ("rbac.v1.ClusterRoleBinding", "roleRef.apiGroup", Some("rbac.authorization.k8s.io")),
    ("rbac.v1.ClusterRoleBinding", "roleRef.kind", Some("ClusterRole")),
    ("rbac.v1.RoleBinding", "roleRef.apiGroup", Some("rbac.authorization.k8s.io")),
    ("rbac.v1.RoleBinding", "roleRef.kind", Some("Role")),
    ("policy.v1.PodDisruptionBudget", "spec.minAvailable", None),
    ("policy.v1.PodDisruptionBudget", "spec.selector.matchLabels", None),
];

/// Returns the fields of a definition, with their required strings.
pub(super) fn of(definition: &str) -> impl Iterator<Item = (&'static str, Option<&'static str>)> {
    let is_of = |end: &str| definition.strip_suffix(end).is_some_and(|rest| rest.ends_with("api."));
    RULES.iter().filter(move |(end, ..)| is_of(end)).map(|(_, field, text)| (*field, *text))
}

/// Returns the required key of the only entry of a map, if any.
pub(super) fn key(path: &str, names: &[&str]) -> Option<&'static str> {
    let is_claim = names.iter().any(|name| name.ends_with("core.v1.VolumeResourceRequirements"));
    (is_claim && path.ends_with("requests")).then_some("storage")
}
