//! Rules about the objects of built-in kinds.

use kubeshape_schema::Bump;
use kubeshape_validate::Release;
use kubeshape_validate::builtin::{Assigned, Strategy};
use kubeshape_validate::typed::Typed;
use kubeshape_value::ToValue;
use kubeshape_yaml::{Limits, Stream, Tape};
use serde_json::{Value, json};

/// A kind with the types of the newest release.
fn strategy(api_version: &str, kind: &str, definition: &str) -> Strategy {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let path = if group.is_empty() { format!("api/{version}") } else { format!("apis/{api_version}") };
    let release: kubeshape_builtin::Release = "1.36".parse().unwrap();
    let document = release.api().openapi_v3(&path).expect("a document");
    let mut tape = Tape::new();
    Stream::new(document.as_bytes(), Limits::default()).unwrap().next(&mut tape).unwrap().unwrap();
    let types = Typed::of_document(tape.document(&document).root().unwrap(), definition).expect("a definition");
    Strategy::new(types, group, version, kind, kind != "Namespace", Release::DEFAULT)
}

fn created(kind: &Strategy, object: &Value) -> Vec<String> {
    let arena = Bump::new();
    let decoded = kind.decode(object.to_value(&arena), &arena).expect("a value of the type");
    let judged = kind.create(decoded.value, Assigned::default(), &arena);
    judged.errors.iter().map(ToString::to_string).collect()
}

fn updated(kind: &Strategy, object: &Value, old: &Value) -> Vec<String> {
    let arena = Bump::new();
    let object = kind.decode(object.to_value(&arena), &arena).expect("a value of the type");
    let old = kind.decode(old.to_value(&arena), &arena).expect("a value of the type");
    let judged = kind.update(object.value, old.value, Assigned::default(), &arena);
    judged.errors.iter().map(ToString::to_string).collect()
}

#[test]
fn data_has_keys_and_frozen_data_stays() {
    let kind = strategy("v1", "ConfigMap", "io.k8s.api.core.v1.ConfigMap");
    let object = json!({"metadata": {"name": "a"}, "data": {"..": "1", "b": "2"}, "binaryData": {"b": "AA=="}});
    assert_eq!(
        created(&kind, &object),
        [
            "data[..]: Invalid value: \"..\": must not be '..'",
            "data[b]: Invalid value: \"b\": duplicate of key present in binaryData"
        ]
    );
    let with = |value: &str| json!({"metadata": {"name": "a", "namespace": "b", "resourceVersion": "1"}, "immutable": true, "data": {"a": value}});
    assert_eq!(updated(&kind, &with("1"), &with("1")), [""; 0]);
    assert_eq!(updated(&kind, &with("2"), &with("1")), ["data: Forbidden: field is immutable when `immutable` is set"]);
}

#[test]
fn types_of_secrets_need_their_keys() {
    let kind = strategy("v1", "Secret", "io.k8s.api.core.v1.Secret");
    let secret = |of: &str, data: Value| json!({"metadata": {"name": "a"}, "type": of, "data": data});
    let tls = secret("kubernetes.io/tls", json!({"tls.crt": ""}));
    assert_eq!(created(&kind, &tls), ["data[tls.key]: Required value"]);
    let docker = secret("kubernetes.io/dockercfg", json!({".dockercfg": "WzE="}));
    let detail = "unexpected end of JSON input";
    assert_eq!(
        created(&kind, &docker),
        [format!("data[.dockercfg]: Invalid value: \"<secret contents redacted>\": {detail}")]
    );
    assert_eq!(created(&kind, &secret("Opaque", json!({}))), [""; 0]);
}

fn pod(spec: &Value) -> Value {
    json!({"metadata": {"name": "a"}, "spec": spec})
}

#[test]
fn containers_are_checked_with_the_volumes_of_their_pod() {
    let kind = strategy("v1", "Pod", "io.k8s.api.core.v1.Pod");
    let container = |more: &Value| {
        let mut container = json!({"name": "a", "image": "b"});
        container.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        container
    };
    assert_eq!(created(&kind, &pod(&json!({"containers": [container(&json!({}))]}))), [""; 0]);
    let object = pod(&json!({
        "volumes": [{"name": "v", "configMap": {"name": "c"}}],
        "containers": [
            container(&json!({"volumeMounts": [{"name": "w", "mountPath": "/w"}], "ports": [{"containerPort": 0}]})),
            container(&json!({"resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}})),
        ],
    }));
    assert_eq!(
        created(&kind, &object),
        [
            "spec.containers[0].ports[0].containerPort: Required value",
            "spec.containers[0].volumeMounts[0].name: Not found: \"w\"",
            "spec.containers[1].resources.requests: Invalid value: \"2\": must be less than or equal to cpu limit of 1",
            "spec.containers[1].name: Duplicate value: \"a\"",
        ]
    );
}

#[test]
fn a_pod_keeps_its_spec_but_for_images() {
    let kind = strategy("v1", "Pod", "io.k8s.api.core.v1.Pod");
    let with = |image: &str, dns: &str| {
        json!({
            "metadata": {"name": "a", "namespace": "b", "resourceVersion": "1"},
            "spec": {"dnsPolicy": dns, "containers": [{"name": "a", "image": image}]},
        })
    };
    assert_eq!(updated(&kind, &with("2", "Default"), &with("1", "Default")), [""; 0]);
    let errors = updated(&kind, &with("1", "Default"), &with("1", "ClusterFirst"));
    assert!(errors.len() == 1 && errors[0].starts_with("spec: Forbidden: pod updates may not change"), "{errors:?}");
}

#[test]
fn the_selector_of_a_deployment_matches_its_template_and_stays() {
    let kind = strategy("apps/v1", "Deployment", "io.k8s.api.apps.v1.Deployment");
    let with = |selected: &str, label: &str| {
        json!({
            "metadata": {"name": "a", "namespace": "b", "resourceVersion": "1"},
            "spec": {
                "selector": {"matchLabels": {"app": selected}},
                "template": {
                    "metadata": {"labels": {"app": label}},
                    "spec": {"containers": [{"name": "a", "image": "b"}]},
                },
            },
        })
    };
    assert_eq!(updated(&kind, &with("a", "a"), &with("a", "a")), [""; 0]);
    let differs =
        "spec.template.metadata.labels: Invalid value: {\"app\":\"b\"}: `selector` does not match template `labels`";
    assert_eq!(updated(&kind, &with("a", "b"), &with("a", "b")), [differs]);
    let frozen = "spec.selector: Invalid value: {\"matchLabels\":{\"app\":\"b\"}}: field is immutable";
    assert_eq!(updated(&kind, &with("b", "b"), &with("a", "a")), [frozen]);
}

#[test]
fn schedules_and_restarts_of_jobs_are_checked() {
    let kind = strategy("batch/v1", "CronJob", "io.k8s.api.batch.v1.CronJob");
    let with = |schedule: &str, zone: &str, restart: &str| {
        let pod = json!({"restartPolicy": restart, "containers": [{"name": "a", "image": "b"}]});
        json!({
            "metadata": {"name": "a"},
            "spec": {"schedule": schedule, "timeZone": zone, "jobTemplate": {"spec": {"template": {"spec": pod}}}},
        })
    };
    for schedule in ["* * * * *", "@daily", "*/5 0-12/2 1,15 jan mon-fri"] {
        assert_eq!(created(&kind, &with(schedule, "Europe/Berlin", "Never")), [""; 0], "{schedule}");
    }
    assert_eq!(
        created(&kind, &with("61 * * * *", "Mars/Base", "Always")),
        [
            "spec.schedule: Invalid value: \"61 * * * *\": end of range (61) above maximum (59): 61",
            "spec.timeZone: Invalid value: \"Mars/Base\": unknown time zone Mars/Base",
            "spec.jobTemplate.spec.template.spec.restartPolicy: Required value: valid values: \"OnFailure\", \"Never\"",
        ]
    );
    for (schedule, why) in
        [("* * * *", "expected exactly 5 fields, found 4: [* * * *]"), ("@often", "unrecognized descriptor: @often")]
    {
        let expected = format!("spec.schedule: Invalid value: \"{schedule}\": {why}");
        assert_eq!(created(&kind, &with(schedule, "UTC", "Never")), [expected]);
    }
}
