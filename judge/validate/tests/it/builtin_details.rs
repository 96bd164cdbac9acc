//! Rules of single kinds that requests rarely meet.

use crate::builtin_rules::{created, strategy, updated, warnings};
use kubeshape_schema::Bump;
use kubeshape_validate::builtin::Assigned;
use kubeshape_value::ToValue;
use serde_json::{Value, json};

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

#[test]
fn a_bound_claim_may_only_ask_for_more_storage() {
    let kind = strategy("v1", "PersistentVolumeClaim", "io.k8s.api.core.v1.PersistentVolumeClaim");
    let object = |resources: &Value| {
        json!({"metadata": {"name": "a", "namespace": "b", "resourceVersion": "1"}, "status": {"phase": "Bound"},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": resources}})
    };
    let old = object(&json!({"requests": {"storage": "1Gi"}}));
    assert_eq!(updated(&kind, &object(&json!({"requests": {"storage": "2Gi"}})), &old), [""; 0]);
    for other in [
        json!({"requests": {"storage": "1Gi"}, "limits": {"storage": "1Gi"}}),
        json!({"requests": {"storage": "1Gi", "cpu": "1"}}),
    ] {
        let errors = updated(&kind, &object(&other), &old);
        assert!(errors.iter().any(|error| error.starts_with("spec: Forbidden")), "{other}: {errors:?}");
    }
}

#[test]
fn capacities_of_shared_devices_have_policies() {
    let kind = strategy("resource.k8s.io/v1", "ResourceSlice", "io.k8s.api.resource.v1.ResourceSlice");
    let object = |is_shared: bool, policy: &Value| {
        json!({"metadata": {"name": "a"}, "spec": {"allNodes": true, "driver": "a.b",
            "pool": {"name": "p", "resourceSliceCount": 1}, "devices": [{"name": "d",
                "allowMultipleAllocations": is_shared,
                "capacity": {"a.b/m": {"value": "10", "requestPolicy": policy}}}]}})
    };
    let path = "spec.devices[0].capacity[a.b/m].requestPolicy";
    let values = json!({"default": "3", "validValues": ["2", "1", "11", "1"]});
    let range = json!({"default": "1", "validRange": {"min": "2", "max": "12", "step": "9"}});
    let both = json!({"validValues": ["1"], "validRange": {"min": "1"}});
    for (is_shared, policy, errors) in [
        (false, json!({}), vec![": Forbidden: allowMultipleAllocations must be true"]),
        (true, json!({}), vec![]),
        (true, json!({"default": "2", "validValues": ["1", "2"]}), vec![]),
        (true, json!({"default": "2", "validRange": {"min": "2", "step": "4", "max": "10"}}), vec![]),
        (
            true,
            json!({"default": "1Pi", "validValues": ["1Pi", "2Pi"]}),
            vec![
                ".validValues[0]: Invalid value: \"1Pi\": option is larger than capacity value: 10",
                ".validValues[1]: Invalid value: \"2Pi\": option is larger than capacity value: 10",
            ],
        ),
        (true, json!({"validValues": ["1"]}), vec![".default: Required value: required when validValues is defined"]),
        (
            true,
            both,
            vec![
                ": Forbidden: exactly one policy can be specified, cannot specify \"validValues\" and \"validRange\" at \
                 the same time",
            ],
        ),
        (
            true,
            values,
            vec![
                ".validValues[1]: Invalid value: \"1\": values must be sorted in ascending order",
                ".validValues[3]: Invalid value: \"1\": values must be sorted in ascending order",
                ".validValues[2]: Invalid value: \"11\": option is larger than capacity value: 10",
                ".validValues[3]: Duplicate value: \"1\"",
                ".validValues: Invalid value: \"3\": default value is not valid according to the requestPolicy",
            ],
        ),
        (
            true,
            range,
            vec![
                ".validRange.min: Invalid value: \"1\": default is less than min: 2",
                ".validRange.max: Invalid value: \"12\": max is larger than capacity value: 10",
                ".validRange.step: Invalid value: \"9\": one step 11 is larger than capacity value: 10",
                ".validRange.step: Invalid value: \"1\": value is not a multiple of a given step (9) from (2)",
                ".validRange.step: Invalid value: \"12\": value is not a multiple of a given step (9) from (2)",
            ],
        ),
    ] {
        let errors: Vec<String> = errors.into_iter().map(|error| format!("{path}{error}")).collect();
        assert_eq!(created(&kind, &object(is_shared, &policy)), errors, "{policy}");
    }
}

/// Upstream counts thousandths in 64 bits.
#[test]
fn large_binary_amounts_count_as_fractions() {
    let kind = strategy("v1", "Pod", "io.k8s.api.core.v1.Pod");
    let told = |memory: &str| {
        let container = json!({"name": "c", "image": "i:1", "resources": {"limits": {"memory": memory}}});
        warnings(&kind, &json!({"metadata": {"name": "a"}, "spec": {"containers": [container]}}))
    };
    // The request is that of the limit.
    for (at, key) in ["limits", "requests"].iter().enumerate() {
        let what = "fractional byte value \"1Ei\" is invalid, must be an integer";
        assert_eq!(told("1Ei")[at], format!("spec.containers[0].resources.{key}[memory]: {what}"));
    }
    for whole in ["1E", "8Pi", "1Gi"] {
        assert_eq!(told(whole), [""; 0]);
    }
}

#[test]
fn warnings_are_told_once() {
    let volume = strategy("v1", "PersistentVolume", "io.k8s.api.core.v1.PersistentVolume");
    let object = json!({"metadata": {"name": "a", "resourceVersion": "1"}, "spec": {"capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/a"}, "persistentVolumeReclaimPolicy": "Recycle"}});
    let arena = Bump::new();
    let decoded = volume.decode(object.to_value(&arena), &arena).unwrap().value;
    let judged = volume.update(decoded, decoded, Assigned::default(), &arena);
    assert_eq!((judged.errors.len(), judged.warnings.len()), (0, 1), "{:?}", judged.warnings);
    let slice = strategy("resource.k8s.io/v1", "ResourceSlice", "io.k8s.api.resource.v1.ResourceSlice");
    let object = json!({"metadata": {"name": "a"}, "spec": {"allNodes": true, "driver": "A.b",
        "pool": {"name": "p", "resourceSliceCount": 1}, "devices": [{"name": "d"}]}});
    assert_eq!(
        warnings(&slice, &object),
        ["spec.driver: driver names should be lowercase; \"A.b\" contains uppercase characters"]
    );
}
