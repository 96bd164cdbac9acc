//! Samples of built-in kinds.

use kubeshape_builtin::BuiltInDocuments;
use kubeshape_registry::{Gvk, Registry, Settings};
use kubeshape_smd::{Bump, ToValue};
use kubeshape_validate::Release;

fn registry() -> Registry {
    registry_of(BuiltInDocuments::newest())
}

fn registry_of(documents: BuiltInDocuments) -> Registry {
    let mut registry = Registry::new(Settings::of(documents.release()));
    let api = documents.api();
    for (path, document) in api.openapi_v3_of(|_| true) {
        let read = kubeshape_input::read(path, document.as_bytes(), kubeshape_input::Limits::default());
        registry.set_built_in(path, read.without_lines());
    }
    registry
}

#[test]
fn samples_of_built_in_kinds_fit_their_types() {
    let registry = registry();
    let mut made = 0;
    for kind in registry.kinds() {
        for maximal in [false, true] {
            let sampled = kind.sample(maximal, Release::NEWEST).expect("a sample");
            assert_eq!(sampled.problems, [], "{} {maximal}: {:#}", kind.gvk(), sampled.object);
            let arena = Bump::new();
            let decoded = kind.typed().expect("a type").decode(sampled.object.to_value(&arena));
            let is_fine = decoded.errors.is_empty() && decoded.unknown.is_empty() && decoded.departures.is_empty();
            assert!(is_fine, "{} {maximal}: {decoded:?}", kind.gvk());
            made += 1;
        }
    }
    assert!(made > 200, "{made} samples");
}

#[test]
fn a_server_accepts_the_smallest_sample_of_every_stored_kind() {
    let (mut made, mut refused) = (0, Vec::new());
    for documents in [BuiltInDocuments::all().next().expect("a release"), BuiltInDocuments::newest()] {
        let registry = registry_of(documents);
        for kind in registry.kinds().filter(|kind| kind.strategy().is_some()) {
            let sampled = kind.sample(false, documents.release()).expect("a sample");
            assert!(sampled.is_judged);
            if !sampled.problems.is_empty() {
                refused.push(format!("{documents} {}: {:?}: {:#}", kind.gvk(), sampled.problems, sampled.object));
            }
            made += 1;
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
    assert!(made > 120, "{made} samples");
}

#[test]
fn a_small_workload_has_the_fields_that_go_code_requires() {
    let registry = registry();
    let sample = |api_version, kind| {
        let kind = registry.kind(Gvk::new(api_version, kind)).expect("a kind");
        let mut object = kind.sample(false, Release::NEWEST).expect("a sample").object;
        object["spec"].take()
    };
    let template = serde_json::json!({
        "metadata": {"labels": {"key": "example"}}, "spec": {"containers": [{"image": "example", "name": "example"}]}});
    let selector = serde_json::json!({"matchLabels": {"key": "example"}});
    let expected = serde_json::json!({"selector": selector, "template": template});
    assert_eq!(sample("apps/v1", "Deployment"), expected);
    let expected = serde_json::json!({
        "template": {"spec": {"containers": [{"image": "example", "name": "example"}], "restartPolicy": "Never"}}});
    assert_eq!(sample("batch/v1", "Job"), expected);
    let expected = serde_json::json!({"ports": [{"port": 1}], "selector": {"key": "example"}});
    assert_eq!(sample("v1", "Service"), expected);
    let expected = serde_json::json!({
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1"}}});
    assert_eq!(sample("v1", "PersistentVolumeClaim"), expected);
}
