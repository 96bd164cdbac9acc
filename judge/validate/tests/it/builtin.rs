//! The metadata of built-in kinds.

use kubeshape_schema::Bump;
use kubeshape_validate::Release;
use kubeshape_validate::builtin::BuiltInKind;
use kubeshape_value::ToValue;
use serde_json::{Value, json};

fn errors_in(minor: u8, group: &str, kind: &str, object: &Value) -> Vec<String> {
    let arena = Bump::new();
    let kind = BuiltInKind::new(group, kind, Release::new(minor).unwrap()).unwrap();
    let judged = kind.create(object.to_value(&arena), None, &arena);
    judged.errors.iter().map(ToString::to_string).collect()
}

fn errors(group: &str, kind: &str, object: &Value) -> Vec<String> {
    errors_in(36, group, kind, object)
}

fn named(name: &str) -> Value {
    json!({"metadata": {"name": name}})
}

const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', \
                         and must start and end with an alphanumeric character (e.g. 'example.com', regex used for \
                         validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const DNS1035: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic \
                       character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for \
                       validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

#[test]
fn an_object_needs_a_name_or_a_prefix_of_one() {
    let required = ["metadata.name: Required value: name or generateName is required"];
    for object in [json!({}), json!({"metadata": {}}), named("")] {
        for (group, kind) in [("", "ConfigMap"), ("policy", "PodDisruptionBudget"), ("batch", "Job")] {
            assert_eq!(errors(group, kind, &object), required, "{kind}");
        }
    }
    let generated = |prefix: &str| json!({"metadata": {"generateName": prefix}});
    assert_eq!(errors("", "ConfigMap", &generated("cm-")), [""; 0]);
    let invalid = [
        format!("metadata.generateName: Invalid value: \"Cm-\": {SUBDOMAIN}"),
        format!("metadata.name: Invalid value: \"Cm-xxxxx\": {SUBDOMAIN}"),
    ];
    assert_eq!(errors("", "ConfigMap", &generated("Cm-")), invalid);
}

#[test]
fn each_kind_has_its_names() {
    let subdomain = |name: &str| format!("metadata.name: Invalid value: \"{name}\": {SUBDOMAIN}");
    assert_eq!(errors("", "ConfigMap", &named("CM_1")), [subdomain("CM_1")]);
    assert_eq!(errors("", "ConfigMap", &named("cm.1")), [""; 0]);
    assert_eq!(errors("events.k8s.io", "Event", &named("-a")), [subdomain("-a")]);
    assert_eq!(errors("", "Event", &named("-a")), [""; 0]);
    for (group, kind) in [("", "Namespace"), ("apps", "StatefulSet")] {
        let dots = ["metadata.name: Invalid value: \"a.b\": must not contain dots"];
        assert_eq!(errors(group, kind, &named("a.b")), dots, "{kind}");
        assert_eq!(errors(group, kind, &named("1a")), [""; 0], "{kind}");
    }
    for (group, kind) in [
        ("rbac.authorization.k8s.io", "Role"),
        ("policy", "PodDisruptionBudget"),
        ("certificates.k8s.io", "CertificateSigningRequest"),
    ] {
        assert_eq!(errors(group, kind, &named("system:A b")), [""; 0], "{kind}");
        let slash = ["metadata.name: Invalid value: \"a/b\": may not contain '/'"];
        assert_eq!(errors(group, kind, &named("a/b")), slash, "{kind}");
    }
    assert_eq!(errors("networking.k8s.io", "IPAddress", &named("10.0.0.1")), [""; 0]);
    let canonical = "metadata.name: Invalid value: \"2001:DB8::1\": must be in canonical form (\"2001:db8::1\")";
    assert_eq!(errors("networking.k8s.io", "IPAddress", &named("2001:DB8::1")), [canonical]);
    let version = |name: &str| errors("internal.apiserver.k8s.io", "StorageVersion", &named(name));
    assert_eq!(version("apps.deployments"), [""; 0]);
    let expected = [format!("metadata.name: Invalid value: \"apps.0\": the resource segment {DNS1035}")];
    assert_eq!(version("apps.0"), expected);
}

#[test]
fn a_service_is_named_by_a_label_of_its_release() {
    let expected = [format!("metadata.name: Invalid value: \"1a\": {DNS1035}")];
    assert_eq!(errors_in(35, "", "Service", &named("1a")), expected);
    assert_eq!(errors_in(36, "", "Service", &named("1a")), [""; 0]);
    let dots = ["metadata.name: Invalid value: \"a.b\": must not contain dots"];
    assert_eq!(errors_in(36, "", "Service", &named("a.b")), dots);
}

#[test]
fn names_depend_on_other_fields() {
    let service = |name: &str| json!({"metadata": {"name": name}, "spec": {"group": "b", "version": "v1"}});
    assert_eq!(errors("apiregistration.k8s.io", "APIService", &service("v1.b")), [""; 0]);
    let other = "metadata.name: Invalid value: \"v1.c\": must be `spec.version+\".\"+spec.group`: \"v1.b\"";
    assert_eq!(errors("apiregistration.k8s.io", "APIService", &service("v1.c")), [other]);
    let long =
        "metadata.name: Invalid value: \"".to_owned() + &"a".repeat(53) + "\": must be no more than 52 characters";
    assert_eq!(errors("batch", "CronJob", &named(&"a".repeat(53))), [long]);
    assert_eq!(errors("batch", "Job", &named(&"a".repeat(53))), [""; 0]);
    let class = |name: &str, value: i64| json!({"metadata": {"name": name}, "value": value});
    let priority = |name: &str, value: i64| errors("scheduling.k8s.io", "PriorityClass", &class(name, value));
    assert_eq!(priority("system-node-critical", 2_000_001_000), [""; 0]);
    let reserved = "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: ";
    assert_eq!(priority("system-x", 1), [format!("{reserved}system-x is not a known system priority class")]);
    let value = format!("{reserved}value of system-node-critical PriorityClass must be 2000001000");
    assert_eq!(priority("system-node-critical", 1), [value]);
    let bundle = |name: &str, signer: &str| {
        let object = json!({"metadata": {"name": name}, "spec": {"signerName": signer}});
        errors("certificates.k8s.io", "ClusterTrustBundle", &object)
    };
    assert_eq!(bundle("a.b:c", "a.b"), [""; 0]);
    assert_eq!(bundle("x", ""), [""; 0]);
    assert_eq!(bundle("x:y", "").len(), 1);
    assert_eq!(bundle("x", "a.b/c").len(), 1);
}

#[test]
fn metadata_other_than_names_is_checked() {
    let finalized = |name: &str| json!({"metadata": {"name": "a", "finalizers": [name]}});
    let unknown = "metadata.finalizers[0]: Invalid value: \"mine\": name is neither a standard finalizer name nor is it fully qualified";
    assert_eq!(errors("", "ConfigMap", &finalized("mine")), [unknown]);
    assert_eq!(errors("", "ConfigMap", &finalized("kubernetes")), [""; 0]);
    assert_eq!(errors("coordination.k8s.io", "Lease", &finalized("mine")), [""; 0]);
    let labelled = json!({"metadata": {"name": "a", "labels": {"/a": "x"}}});
    assert_eq!(errors("", "Pod", &labelled), ["metadata.labels: Invalid value: \"/a\": prefix part must be non-empty"]);
    let placed = json!({"metadata": {"name": "a", "namespace": "A"}});
    assert_eq!(errors("", "Pod", &placed).len(), 1);
    let arena = Bump::new();
    let node = BuiltInKind::new("", "Node", Release::DEFAULT).unwrap();
    let judged = node.create(placed.to_value(&arena), Some(false), &arena);
    assert!(judged.errors.is_empty(), "the server clears the namespace");
}

#[test]
fn an_update_keeps_the_name() {
    let arena = Bump::new();
    let kind = BuiltInKind::new("", "ConfigMap", Release::DEFAULT).unwrap();
    let (old, new) = (named("A"), json!({"metadata": {"name": "A", "labels": {"a": "b"}}}));
    let errors = |new: &Value| {
        let errors = kind.update(new.to_value(&arena), old.to_value(&arena), &arena);
        errors.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(errors(&new), [""; 0], "a name is not checked again");
    assert_eq!(errors(&named("b")), ["metadata.name: Invalid value: \"b\": field is immutable"]);
}
