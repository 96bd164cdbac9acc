//! Tests of the constraints of built-in kinds: `convert --validations`, `explain --more`, `diff --kubernetes`.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common::Folder;
use serde_json::{Value, json};

fn json_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn documents_of_a_release_get_constraints_and_are_read_again() {
    let folder = Folder::new();
    let run = folder.run("convert --kubernetes 1.36 --validations --to v3 -o k.json --report losses.ndjson");
    assert_eq!(run.code, Some(0), "{}", run.err);
    let document = json_of(&folder.read("k.json"));
    let schemas = &document["components"]["schemas"];
    let port = &schemas["io.k8s.api.core.v1.ContainerPort"]["properties"]["containerPort"];
    assert_eq!(port["maximum"], 65_535);
    let rules = schemas["io.k8s.api.core.v1.EnvVarSource"]["x-kubernetes-validations"].to_string();
    assert!(rules.contains("has(self.secretKeyRef)].filter(is_set, is_set).size() == 1"), "{rules}");
    let names: Vec<&String> = schemas.as_object().unwrap().keys().collect();
    assert!(names.iter().all(|name| !name.ends_with("_v2")), "one definition has several sets of constraints");
    let losses = folder.read("losses.ndjson");
    for code in ["KS4121", "KS4122"] {
        assert!(losses.contains(code), "{code}");
    }
    let line = losses.lines().find(|line| line.contains("externalTrafficPolicy")).unwrap();
    assert!(line.contains("io.k8s.api.core.v1.Service") && line.contains("KS4121"), "{line}");
    let again = folder.run("convert k.json --to v3 -o again.json");
    assert_eq!(again.code, Some(0), "{}", again.err);
    assert_eq!(folder.read("again.json"), folder.read("k.json"));
}

#[test]
fn a_json_schema_of_a_built_in_kind_has_constraints() {
    let folder = Folder::new();
    let line = "convert --kubernetes 1.36 --validations --to jsonschema --kind Deployment -q";
    let run = folder.run(line);
    assert_eq!(run.code, Some(0), "{}", run.err);
    let schema = jsonschema::validator_for(&json_of(&run.out)).unwrap();
    let deployment = |replicas: i64, policy: &str| {
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": {
                "containers": [{"name": "web", "image": "web:1", "imagePullPolicy": policy}]}}}})
    };
    assert!(schema.is_valid(&deployment(1, "Always")));
    for (replicas, policy) in [(-1, "Always"), (1, "Sometimes")] {
        assert!(!schema.is_valid(&deployment(replicas, policy)), "{replicas} {policy}");
    }
    let mut empty = deployment(1, "Always");
    empty["spec"]["template"]["spec"]["containers"] = json!([]);
    assert!(!schema.is_valid(&empty));
}

#[test]
fn only_with_the_option_there_are_documents_without_inputs() {
    let folder = Folder::new();
    folder.run("convert --validations --to v3").says(2, &["--kubernetes"]);
    folder.run("convert --kubernetes 1.28 --validations --to v3").says(2, &["1.28", "known are 1.31"]);
    folder.run("convert --kubernetes 1.36 --to v3").says(1, &["KS1008"]);
}

#[test]
fn explain_shows_the_constraints_of_built_in_kinds_with_more() {
    let folder = Folder::new();
    let more = folder.run("explain --kubernetes 1.36 deployment.spec --more");
    assert!(more.out.contains("    minimum: 0\n") && more.out.contains("    default: 1\n"), "{}", more.out);
    assert!(more.out.contains("empty selector is invalid"), "{}", more.out);
    let plain = folder.run("explain --kubernetes 1.36 deployment.spec").out;
    assert!(
        !plain.contains("minimum") && !plain.contains("selector is invalid"),
        "the page is that of kubectl: {plain}"
    );
    let index = folder.run("explain --kubernetes 1.36 pod --index").out;
    let policy = index.lines().find(|line| line.starts_with(".spec.restartPolicy\t")).unwrap();
    assert!(policy.contains(r#"enum: "Always", "Never", "OnFailure""#), "{policy}");
}

#[test]
fn diff_of_releases_compares_the_rules_of_go_code() {
    let run = Folder::new().run("diff --kubernetes 1.35 1.36 --kind v1/Service --verbose");
    // Names of Services were DNS-1035 labels.
    for part in ["warning[KS8421]", "matches('^[a-z0-9]([-a-z0-9]*", "note[KS8422]", "matches('^[a-z]([-a-z0-9]*"] {
        assert!(run.out.contains(part), "{part}: {}", run.out);
    }
}
