//! Names of inputs, and their errors.

use kubeshape::builtin::BuiltInDocuments;
use kubeshape::{Api, Crd, Document};
use std::sync::Arc;

#[test]
fn names_and_contents_may_be_owned_or_borrowed() {
    let name = "a.yaml".to_owned();
    let text = "kind: ConfigMap\n".to_owned();
    let shared: Arc<str> = name.as_str().into();
    for findings in [
        Crd::read(&name, &text).unwrap_err(),
        Crd::read(name.as_str(), text.as_bytes()).unwrap_err(),
        Crd::read(name.clone(), text.clone()).unwrap_err(),
        Crd::read(&shared, &text).unwrap_err(),
    ] {
        assert!(findings.to_string().starts_with("a.yaml: KS"), "{findings}");
    }
    assert!(Document::read(&name, &text).is_err());
    assert!(Api::read([(&name, &text)]).is_ok());
}

#[test]
fn findings_returned_by_main_are_lines() {
    let findings = Crd::read("a.yaml", "a: [\n").unwrap_err();
    assert_eq!(format!("{findings:?}"), findings.to_string());
    assert!(!format!("{findings:#?}").contains("Finding {"), "{findings:?}");
}

#[test]
fn the_kinds_of_releases_exist() {
    for release in [BuiltInDocuments::all().next().unwrap(), BuiltInDocuments::newest()] {
        let api = Api::read_release(release).unwrap();
        let has =
            |api_version: &str, kind: &str| api.kinds().any(|k| (k.api_version(), k.kind()) == (api_version, kind));
        assert!(has("v1", "Pod") && has("apps/v1", "Deployment") && !has("batch/v1beta1", "CronJob"));
    }
}
