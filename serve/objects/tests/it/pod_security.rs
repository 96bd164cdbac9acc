//! The plugin `PodSecurity`: upstream's words for each Pod, level and version, and what namespaces enforce.

use crate::plugins::{PODS, Server, pod};
use flate2::read::GzDecoder;
use kubeshape_objects::{Plugin, pod_security};
use kubeshape_schema::Release;
use kubeshape_smd::value::Compat;
use kubeshape_smd::{Bump, Value};
use serde_json::json;
use std::io::{BufRead, BufReader};

const NAMESPACES: &str = "/api/v1/namespaces";
/// What upstream's library says of the Pods of its fixtures and of random Pods: see `conformance/pod-security`.
const RECORDED: &[u8] = include_bytes!("recorded/pod_security.jsonl.gz");
/// The newest release in the recording.
const NEWEST: u8 = 36;

#[test]
fn answers_are_those_of_upstream_for_each_pod_level_and_version() {
    let mut compared = 0;
    for line in BufReader::new(GzDecoder::new(RECORDED)).lines() {
        let line: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
        let (arena, text) = (Bump::new(), line["pod"].to_string());
        let pod = Value::read_json(&text, &arena, Compat::default()).unwrap();
        for level in ["baseline", "restricted"] {
            let changes = line[level].as_array().unwrap();
            for minor in 0..=NEWEST {
                let said = changes.iter().rfind(|change| change[0].as_u64() <= Some(minor.into())).unwrap();
                let expected = said[1].as_str().filter(|said| !said.is_empty());
                let found = pod_security(pod, level, &format!("v1.{minor}"), Release::NEWEST).unwrap();
                assert_eq!(found.as_deref(), expected, "{level} v1.{minor}: {text}");
                compared += 1;
            }
            let newest = pod_security(pod, level, "latest", Release::NEWEST);
            assert_eq!(newest, pod_security(pod, level, &format!("v1.{NEWEST}"), Release::NEWEST));
        }
        assert_eq!(pod_security(pod, "privileged", "latest", Release::NEWEST), Ok(None));
    }
    assert!(compared > 40_000, "{compared}");
}

#[test]
fn an_emulated_release_has_its_own_checks() {
    let arena = Bump::new();
    let text = r#"{"spec":{"containers":[{"name":"a","livenessProbe":{"httpGet":{"host":"b"}}}]}}"#;
    let pod = Value::read_json(text, &arena, Compat::default()).unwrap();
    assert!(pod_security(pod, "baseline", "latest", Release::of_minor(34)).unwrap().is_some());
    for version in ["latest", "v1.34"] {
        assert_eq!(pod_security(pod, "baseline", version, Release::of_minor(33)), Ok(None), "{version}");
    }
    assert_eq!(
        pod_security(pod, "strict", "latest", Release::NEWEST),
        Err("must be one of privileged, baseline, restricted")
    );
    for version in ["", "1.30", "v1", "v2.1", "v1.01", "v1.+1", "v1.99999999999999999999"] {
        let why = Err("must be \"latest\" or \"v1.x\"");
        assert_eq!(pod_security(pod, "baseline", version, Release::NEWEST), why, "{version}");
    }
}

fn namespace(name: &str, labels: &[(&str, &str)]) -> serde_json::Value {
    let labels: serde_json::Map<String, serde_json::Value> =
        labels.iter().map(|(key, value)| (format!("pod-security.kubernetes.io/{key}"), json!(value))).collect();
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}})
}

#[test]
fn a_namespace_enforces_a_level_and_warns_of_another() {
    let mut server = Server::with(&[Plugin::PodSecurity]);
    server.create(NAMESPACES, &namespace("default", &[("enforce", "baseline"), ("enforce-version", "v1.30")]));
    let host = json!({"hostNetwork": true, "hostPID": true});
    let refused = server.send("POST", PODS, &pod("a", &host));
    let status: serde_json::Value = serde_json::from_slice(&refused.body).unwrap();
    let message = "pods \"a\" is forbidden: violates PodSecurity \"baseline:v1.30\": host namespaces (hostNetwork=true, \
                   hostPID=true)";
    let details = json!({"name": "a", "kind": "pods"});
    assert_eq!((&status["message"], &status["code"], &status["details"]), (&json!(message), &json!(403), &details));
    assert!(refused.warnings.is_empty());
    server.create(PODS, &pod("b", &json!({})));
    // What is enforced is warned of, for the objects that create Pods.
    let template = json!({"metadata": {"labels": {"a": "b"}},
        "spec": {"hostNetwork": true, "containers": [{"name": "main", "image": "a"}]}});
    let deployment = json!({"apiVersion": "v1", "kind": "ReplicationController", "metadata": {"name": "c"},
        "spec": {"selector": {"a": "b"}, "template": template}});
    let path = "/api/v1/namespaces/default/replicationcontrollers";
    let warned = server.send("POST", path, &deployment);
    let warning = "would violate PodSecurity \"baseline:v1.30\": host namespaces (hostNetwork=true)";
    assert_eq!((warned.code, warned.warnings), (201, vec![warning.to_owned()]));
    // Only new images and containers are checked.
    let path = &format!("{NAMESPACES}/default");
    let stricter = [("enforce", "restricted"), ("warn", "privileged")];
    let stricter = server.send("PUT", path, &namespace("default", &stricter));
    let reasons = "allowPrivilegeEscalation != false, unrestricted capabilities, runAsNonRoot != true, seccompProfile";
    let expected = [
        "existing pods in namespace \"default\" violate the new PodSecurity enforce level \"restricted:latest\""
            .to_owned(),
        format!("b: {reasons}"),
    ];
    assert_eq!((stricter.code, &stricter.warnings[..]), (200, &expected[..]));
    let labelled = json!({"metadata": {"labels": {"a": "b"}}});
    assert_eq!(server.patch(&format!("{PODS}/b"), &labelled).code, 200);
    let image = json!({"spec": {"containers": [{"name": "main", "image": "b"}]}});
    let refused = server.patch(&format!("{PODS}/b"), &image);
    assert_eq!(refused.code, 403, "{}", refused.text());
}

#[test]
fn many_pods_with_the_same_faults_are_one_warning() {
    let mut server = Server::with(&[Plugin::PodSecurity]);
    server.create(NAMESPACES, &namespace("default", &[]));
    for name in ["c", "a", "b"] {
        server.create(PODS, &pod(name, &json!({"hostIPC": true})));
    }
    server.create(PODS, &pod("good", &json!({})));
    let path = &format!("{NAMESPACES}/default");
    let changed = server.send("PUT", path, &namespace("default", &[("enforce", "baseline")]));
    assert_eq!(changed.warnings[1..], ["a (and 2 other pods): host namespaces".to_owned()]);
}

#[test]
fn labels_of_namespaces_are_valid() {
    let mut server = Server::with(&[Plugin::PodSecurity]);
    let wrong = [("enforce", "strict"), ("warn-version", "1.30")];
    let refused = server.send("POST", NAMESPACES, &namespace("a", &wrong));
    let status: serde_json::Value = serde_json::from_slice(&refused.body).unwrap();
    let message = "Namespace \"a\" is invalid: [metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: \
                   \"strict\": must be one of privileged, baseline, restricted, \
                   metadata.labels[pod-security.kubernetes.io/warn-version]: Invalid value: \"1.30\": must be \
                   \"latest\" or \"v1.x\"]";
    assert_eq!((&status["message"], &status["code"]), (&json!(message), &json!(422)));
}
