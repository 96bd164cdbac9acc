//! Empty lists: some rules of Go's structs distinguish them from absent ones, and printing does not.

use crate::builtin_rules::{created, strategy, updated};
use kubeshape_schema::Bump;
use kubeshape_validate::builtin::Assigned;
use kubeshape_value::ToValue;
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

#[test]
fn metrics_in_annotations_are_checked() {
    let kind =
        strategy("autoscaling/v1", "HorizontalPodAutoscaler", "io.k8s.api.autoscaling.v1.HorizontalPodAutoscaler");
    let object = |metrics: &Value, usage: i32| {
        json!({"metadata": {"name": "a", "annotations": {
                "autoscaling.alpha.kubernetes.io/metrics": metrics.to_string(),
                "autoscaling.alpha.kubernetes.io/behavior": json!({"ScaleUp": {"Policies": []}}).to_string()}},
            "spec": {"maxReplicas": 3, "targetCPUUtilizationPercentage": usage,
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"}}})
    };
    let pods = json!([{"type": "Pods", "Pods": {"metricName": "m", "targetAverageValue": 0}}]);
    assert_eq!(
        created(&kind, &object(&pods, -1)),
        [
            "spec.metrics[0].pods.target.averageValue: Invalid value: \"0\": must be positive",
            "spec.metrics[1].resource.target.averageUtilization: Invalid value: -1: must be greater than 0",
            "spec.behavior.scaleUp.policies: Required value: must specify at least one Policy",
        ]
    );
    // Go's types cannot hold this one.
    let pods = json!([{"type": "Pods", "pods": {"metricName": "m", "targetAverageValue": "many"}}]);
    let errors = created(&kind, &object(&pods, -1));
    assert!(errors[0].starts_with("spec.metrics[0].resource"), "{errors:?}");
}

#[test]
fn the_time_of_a_phase_stays_until_the_phase_changes() {
    let kind = strategy("v1", "PersistentVolume", "io.k8s.api.core.v1.PersistentVolume");
    let object = |status: &Value| {
        json!({"metadata": {"name": "a", "resourceVersion": "1"}, "status": status,
            "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/a"}}})
    };
    let time = |status: &Value| {
        let arena = Bump::new();
        let old = json!({"phase": "Bound", "lastPhaseTransitionTime": "2026-01-01T00:00:00Z"});
        let (new, old) = (object(status), object(&old));
        let [new, old] = [&new, &old].map(|object| kind.decode(object.to_value(&arena), &arena).unwrap().value);
        let judged = kind.update_status(new, old, Assigned::default(), &arena);
        let status = judged.stored.get("status").unwrap();
        status.get("lastPhaseTransitionTime").unwrap().as_str().unwrap().to_owned()
    };
    assert_eq!(time(&json!({"phase": "Bound"})), "2026-01-01T00:00:00Z");
    assert_eq!(time(&json!({"phase": "Released"})), Assigned::default().time);
    let (same, other) = ("2026-01-01T00:00:00Z", "2026-02-02T00:00:00Z");
    assert_eq!(time(&json!({"phase": "Released", "lastPhaseTransitionTime": same})), Assigned::default().time);
    assert_eq!(time(&json!({"phase": "Released", "lastPhaseTransitionTime": other})), other);
}

#[test]
fn a_port_is_not_given_the_node_port_of_another_one() {
    let kind = strategy("v1", "Service", "io.k8s.api.core.v1.Service");
    let first = Assigned::default().node_port;
    let object = json!({"metadata": {"name": "a", "namespace": "b"}, "spec": {"type": "NodePort", "ports": [
        {"name": "a", "port": 1}, {"name": "b", "port": 2, "nodePort": first}, {"name": "c", "port": 3}]}});
    assert_eq!(created(&kind, &object), [""; 0]);
}
