//! Fields that servers require in Go code although no document requires them.
//!
//! With them, a server accepts the smallest sample of every kind that it stores. The requirements are those of
//! `pkg/apis/*/validation` of Kubernetes.

/// A definition without its version, the path of a field in it, and its required string, if any.
type Rule = (&'static str, &'static str, Option<&'static str>);

/// A certificate signing request of the subject `CN=example`, PEM in base64.
const SIGNING_REQUEST: &str = "\
    LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlHUk1FVUNBUUF3RWpFUU1BNEdBMVVFQXd3SFpYaGhiWEJzWlRB\
    cU1BVUdBeXRsY0FNaEFMUkVDTkVZSmRqSgp2TUdWM3phSHlESWhmM3RwckpRMDZaNUpOajU1MHFEd29BQXdCUVlESzJWd0EwRUEw\
    dzIySlZhVytUU1RBUC9oCjExRmZPeXJSOGVrM3M4WDlBVXBtbW5rMGU2azJjdVBVYjN4a0Rra0pkU2hKK1ZwQmNvTGFaaVpuK3Nj\
    dGJtSnQKRXZQR0J3PT0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg==";

const RULES: &[Rule] = &[
    ("apps.ControllerRevision", "data", None),
    // The labels of the pods must match the selector: samples give all labels the same key and value.
    ("apps.DaemonSetSpec", "selector.matchLabels", None),
    ("apps.DaemonSetSpec", "template.metadata.labels", None),
    ("apps.DeploymentSpec", "selector.matchLabels", None),
    ("apps.DeploymentSpec", "template.metadata.labels", None),
    ("apps.ReplicaSetSpec", "selector.matchLabels", None),
    ("apps.ReplicaSetSpec", "template.metadata.labels", None),
    ("apps.StatefulSetSpec", "selector.matchLabels", None),
    ("apps.StatefulSetSpec", "template.metadata.labels", None),
    ("core.ReplicationController", "spec.selector", None),
    ("core.ReplicationController", "spec.template.metadata.labels", None),
    ("batch.JobSpec", "template.spec.restartPolicy", Some("Never")),
    ("batch.CronJobSpec", "schedule", Some("0 * * * *")),
    ("core.Container", "image", None),
    ("core.LimitRangeItem", "type", Some("Container")),
    ("core.PersistentVolumeSpec", "accessModes[0]", Some("ReadWriteOnce")),
    ("core.PersistentVolumeSpec", "capacity", None),
    ("core.PersistentVolumeSpec", "hostPath.path", Some("/example")),
    ("core.PersistentVolumeClaim", "spec.accessModes[0]", Some("ReadWriteOnce")),
    ("core.PersistentVolumeClaim", "spec.resources.requests", None),
    ("core.Service", "spec.ports", None),
    ("core.Service", "spec.selector", None),
    ("networking.Ingress", "spec.defaultBackend.service.port.number", None),
    ("networking.IngressClassSpec", "controller", Some("example.com/example")),
    ("networking.IPAddress", "spec.parentRef", None),
    ("networking.ServiceCIDRSpec", "cidrs[0]", Some("192.0.2.0/24")),
    ("rbac.ClusterRoleBinding", "roleRef.apiGroup", Some("rbac.authorization.k8s.io")),
    ("rbac.ClusterRoleBinding", "roleRef.kind", Some("ClusterRole")),
    ("rbac.RoleBinding", "roleRef.apiGroup", Some("rbac.authorization.k8s.io")),
    ("rbac.RoleBinding", "roleRef.kind", Some("Role")),
    ("policy.PodDisruptionBudget", "spec.minAvailable", None),
    ("policy.PodDisruptionBudget", "spec.selector.matchLabels", None),
    (
        "admissionregistration.ValidatingAdmissionPolicySpec",
        "matchConstraints.resourceRules[0].apiGroups[0]",
        Some("apps"),
    ),
    (
        "admissionregistration.ValidatingAdmissionPolicySpec",
        "matchConstraints.resourceRules[0].apiVersions[0]",
        Some("v1"),
    ),
    (
        "admissionregistration.ValidatingAdmissionPolicySpec",
        "matchConstraints.resourceRules[0].operations[0]",
        Some("CREATE"),
    ),
    (
        "admissionregistration.ValidatingAdmissionPolicySpec",
        "matchConstraints.resourceRules[0].resources[0]",
        Some("deployments"),
    ),
    (
        "admissionregistration.ValidatingAdmissionPolicySpec",
        "validations[0].expression",
        Some("object.metadata.name != ''"),
    ),
    ("admissionregistration.ValidatingAdmissionPolicyBindingSpec", "validationActions[0]", Some("Deny")),
    ("admissionregistration.ValidatingAdmissionPolicyBindingSpec", "policyName", None),
    (
        "admissionregistration.MutatingAdmissionPolicySpec",
        "matchConstraints.resourceRules[0].apiGroups[0]",
        Some("apps"),
    ),
    (
        "admissionregistration.MutatingAdmissionPolicySpec",
        "matchConstraints.resourceRules[0].apiVersions[0]",
        Some("v1"),
    ),
    (
        "admissionregistration.MutatingAdmissionPolicySpec",
        "matchConstraints.resourceRules[0].operations[0]",
        Some("CREATE"),
    ),
    (
        "admissionregistration.MutatingAdmissionPolicySpec",
        "matchConstraints.resourceRules[0].resources[0]",
        Some("deployments"),
    ),
    ("admissionregistration.MutatingAdmissionPolicySpec", "mutations[0].patchType", Some("JSONPatch")),
    (
        "admissionregistration.MutatingAdmissionPolicySpec",
        "mutations[0].jsonPatch.expression",
        Some("[JSONPatch{op: 'add', path: '/spec/paused', value: true}]"),
    ),
    ("admissionregistration.MutatingAdmissionPolicySpec", "reinvocationPolicy", Some("Never")),
    ("admissionregistration.MutatingAdmissionPolicyBindingSpec", "policyName", None),
    ("apiregistration.APIServiceSpec", "group", Some("example.com")),
    ("apiregistration.APIServiceSpec", "version", Some("v1")),
    ("autoscaling.HorizontalPodAutoscalerSpec", "scaleTargetRef.apiVersion", Some("apps/v1")),
    ("autoscaling.HorizontalPodAutoscalerSpec", "scaleTargetRef.kind", Some("Deployment")),
    ("certificates.CertificateSigningRequestSpec", "request", Some(SIGNING_REQUEST)),
    ("certificates.CertificateSigningRequestSpec", "signerName", Some("example.com/example")),
    ("certificates.CertificateSigningRequestSpec", "usages[0]", Some("client auth")),
    ("discovery.EndpointSlice", "addressType", Some("IPv4")),
    ("discovery.Endpoint", "addresses[0]", Some("192.0.2.1")),
    ("events.Event", "action", Some("Example")),
    ("events.Event", "reason", Some("Example")),
    ("events.Event", "reportingController", Some("example.com/example")),
    ("events.Event", "reportingInstance", Some("example")),
    ("events.Event", "type", Some("Normal")),
    ("flowcontrol.PriorityLevelConfigurationSpec", "type", Some("Limited")),
    ("flowcontrol.PriorityLevelConfigurationSpec", "limited.limitResponse.type", Some("Reject")),
    ("resource.ResourceSliceSpec", "nodeName", None),
    ("storage.VolumeAttachmentSource", "persistentVolumeName", None),
    ("storage.VolumeAttributesClass", "parameters", None),
];

/// Names that follow from other fields, or have a form of their own.
const NAMES: [(&str, &str); 3] = [
    ("apiregistration.APIService", "v1.example.com"),
    ("apiserverinternal.StorageVersion", "example.com.examples"),
    ("networking.IPAddress", "192.0.2.1"),
];

/// Returns the name of a definition without its version and what is before its group: `apps.DeploymentSpec` for
/// `io.k8s.api.apps.v1.DeploymentSpec`.
fn without_version(definition: &str) -> Option<(&str, &str)> {
    let mut parts = definition.strip_prefix("io.k8s.")?.rsplit('.');
    let (name, _, group) = (parts.next()?, parts.next()?, parts.next()?);
    Some((group, name))
}

/// Returns whether a definition is that of a rule.
fn is_of(definition: &str, rule: &str) -> bool {
    rule.split_once('.').is_some_and(|rule| without_version(definition) == Some(rule))
}

/// Returns the fields of a definition, with their required strings.
pub(super) fn of(definition: &str) -> impl Iterator<Item = (&'static str, Option<&'static str>)> {
    RULES.iter().filter(move |(rule, ..)| is_of(definition, rule)).map(|(_, field, text)| (*field, *text))
}

/// Returns the name of an object of a definition, if it may not have any one.
pub(super) fn name(definition: &str) -> Option<&'static str> {
    NAMES.iter().find(|(rule, _)| is_of(definition, rule)).map(|(_, name)| *name)
}

/// Returns the required key of the only entry of a map, if any.
pub(super) fn key(path: &str, names: &[&str]) -> Option<&'static str> {
    let is_below = |rule: &str| names.last().is_some_and(|name| is_of(name, rule));
    let is_storage = is_below("core.VolumeResourceRequirements") && path.ends_with("requests")
        || is_below("core.PersistentVolumeSpec") && path.ends_with("capacity");
    is_storage.then_some("storage")
}
