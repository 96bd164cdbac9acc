//! Empty lists: some rules of Go's structs distinguish them from absent ones, and printing does not.

use crate::builtin_rules::{created, strategy, updated};
use serde_json::{Value, json};

#[test]
fn an_empty_list_of_policies_gets_no_default() {
    let kind =
        strategy("autoscaling/v2", "HorizontalPodAutoscaler", "io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler");
    let object = |behavior: &Value| {
        json!({"metadata": {"name": "a"}, "spec": {"maxReplicas": 3, "behavior": behavior,
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"}}})
    };
    assert_eq!(created(&kind, &object(&json!({"scaleDown": {}}))), [""; 0]);
    assert_eq!(
        created(&kind, &object(&json!({"scaleDown": {"policies": []}}))),
        ["spec.behavior.scaleDown.policies: Required value: must specify at least one Policy"]
    );
}

#[test]
fn an_empty_list_is_given_but_not_a_change() {
    let slice = strategy("resource.k8s.io/v1", "ResourceSlice", "io.k8s.api.resource.v1.ResourceSlice");
    let object = json!({"metadata": {"name": "a"}, "spec": {"devices": [], "sharedCounters": [], "allNodes": true,
        "driver": "a.b", "pool": {"name": "p", "resourceSliceCount": 1}}});
    assert_eq!(
        created(&slice, &object),
        ["spec: Invalid value: \"\": only one of `sharedCounters` or `devices` is allowed"]
    );
    let template =
        strategy("resource.k8s.io/v1", "ResourceClaimTemplate", "io.k8s.api.resource.v1.ResourceClaimTemplate");
    let object = |spec: &Value| json!({"metadata": {"name": "a", "namespace": "b", "resourceVersion": "1"}, "spec": {"spec": spec}});
    let (empty, none) = (json!({"devices": {"requests": []}}), json!({"devices": {}}));
    assert_eq!(updated(&template, &object(&empty), &object(&none)), [""; 0]);
}

#[test]
fn errors_show_empty_lists_as_go_does() {
    let request = strategy(
        "certificates.k8s.io/v1",
        "CertificateSigningRequest",
        "io.k8s.api.certificates.v1.CertificateSigningRequest",
    );
    let object = json!({"metadata": {"name": "a"},
        "spec": {"request": "", "signerName": "a.b/c", "usages": ["any"]}});
    assert_eq!(
        created(&request, &object),
        ["spec.request: Invalid value: \"\": PEM block type must be CERTIFICATE REQUEST"]
    );
    let set = strategy("apps/v1", "ReplicaSet", "io.k8s.api.apps.v1.ReplicaSet");
    let object = json!({"metadata": {"name": "a"}, "spec": {"selector": {"matchExpressions": [], "matchLabels": {}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}}});
    assert_eq!(
        created(&set, &object),
        [
            "spec.selector: Invalid value: {}: empty selector is invalid for deployment",
            "spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: `selector` does not match template `labels`",
        ][..1]
    );
    let volume = strategy("v1", "PersistentVolume", "io.k8s.api.core.v1.PersistentVolume");
    let object = |operator: &str| {
        let term = json!({"matchExpressions": [{"key": "a", "operator": operator, "values": []}]});
        json!({"metadata": {"name": "a", "resourceVersion": "1"}, "spec": {"capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/a"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}}}})
    };
    assert_eq!(
        updated(&volume, &object("Exists"), &object("DoesNotExist")),
        ["nodeAffinity: Invalid value: {\"Required\":{\"NodeSelectorTerms\":[{\"MatchExpressions\":[{\"Key\":\"a\",\
             \"Operator\":\"Exists\",\"Values\":[]}],\"MatchFields\":null}]}}: field is immutable, except for updating \
             from beta label to GA"]
    );
}
