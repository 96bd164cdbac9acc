//! Tests of `--kubernetes` and `--emulate`: commands follow the requested release.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common::Folder;
use crate::common::client::send;
use crate::serve::Server;

/// Up to 1.35, the range of int32 is not checked.
const CRD: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tabs.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: tabs, kind: Tab}
  versions:
  - name: v1
    served: true
    storage: true
    selectableFields: [{jsonPath: .color}]
    schema:
      openAPIV3Schema:
        type: object
        properties:
          size: {type: integer, format: int32, example: 1}
          color: {type: string}
          list: {type: array, maxItems: 1, items: {type: string}}
";

const BIG: &str = "{apiVersion: example.com/v1, kind: Tab, metadata: {name: a}, size: 5000000000}";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("crd.yaml", CRD).write("big.yaml", BIG);
    folder
}

#[test]
fn convert_publishes_what_the_release_publishes() {
    let folder = folder();
    let document =
        |release: &str| folder.run(&format!("convert crd.yaml --to v3 --per single --kubernetes {release} -o -")).out;
    let has = |text: &str| -> Vec<&str> {
        let all = ["1.28", "1.30", "1.31", "1.35", "1.36", "1.36.1", "v1.37.2"];
        all.into_iter().filter(|release| document(release).contains(text)).collect()
    };
    assert_eq!(has("selectable-fields"), ["1.31", "1.35", "1.36", "1.36.1", "v1.37.2"]);
    assert_eq!(has("\"example\":1"), ["1.36", "1.36.1", "v1.37.2"]);
    assert_eq!(document("1.37"), folder.run("convert crd.yaml --to v3 --per single -o -").out);
}

#[test]
fn a_server_judges_objects_like_the_release_that_it_emulates() {
    let folder = folder();
    std::fs::create_dir(folder.path("objects")).unwrap();
    let body = r#"{"apiVersion":"example.com/v1","kind":"Tab","metadata":{"name":"a"},"size":5000000000}"#;
    let code = |options: &str| {
        let server = Server::start(&folder, &format!("crd.yaml --objects objects {options}"));
        let path = "/apis/example.com/v1/namespaces/default/tabs";
        send(&server.address, "POST", path, "application/json", body).expect("an answer").code
    };
    assert_eq!(code(""), 422);
    assert_eq!(code("--emulate 1.30"), 201);
    assert_eq!(code("--emulate 1.36"), 422);
    assert_eq!(code("--kubernetes 1.34"), 201);
}

#[test]
fn validate_accepts_patch_releases() {
    let folder = folder();
    let code = |release: &str| folder.run(&format!("validate --schemas crd.yaml --kubernetes {release} big.yaml")).code;
    assert_eq!((code("v1.35.2"), code("1.28"), code("1.36.1"), code("1.37")), (Some(0), Some(0), Some(1), Some(1)));
}

#[test]
fn suites_run_like_the_release_and_find_the_release_of_their_words() {
    let folder = folder();
    let suite = |message: &str| {
        format!(
            "name: Tab\ncrdName: tabs.example.com\ntests:\n  onCreate:\n  - name: long\n    initial: |\n      apiVersion: \
             example.com/v1\n      kind: Tab\n      list: [a, b]\n    expectedError: '{message}'\n"
        )
    };
    let old = "list: Too many: 2: must have at most 1 items";
    let new = "list: Too many: 2: must have at most 1 item";
    for (message, options, passes) in [
        (old, "--kubernetes 1.30", true),
        (old, "--kubernetes 1.36", false),
        (new, "--kubernetes 1.36", true),
        (old, "", true),
        (new, "", true),
        ("list: Too many: 3", "", false),
    ] {
        folder.write("suite.yaml", suite(message));
        let run = folder.run(&format!("test --schemas crd.yaml suite.yaml {options}"));
        assert_eq!(run.code, Some(i32::from(!passes)), "{message} {options}: {}{}", run.out, run.err);
    }
}

const SUITE: &str = "\
name: Tab
crdName: tabs.example.com
tests:
  onCreate:
  - name: takes no large sizes
    initial: '{apiVersion: example.com/v1, kind: Tab, size: 5000000000}'
    expectedError: must be of type integer with format int32
  - name: takes small sizes
    initial: '{apiVersion: example.com/v1, kind: Tab, size: 5}'
  - name: has one item
    initial: '{apiVersion: example.com/v1, kind: Tab, list: [a, b]}'
    expectedError: must have at most 1 item
";

#[test]
fn suites_run_in_a_range_of_releases_and_name_those_that_fail() {
    let folder = folder();
    folder.write("suite.yaml", SUITE);
    let run = folder.run("test --schemas crd.yaml suite.yaml --kubernetes all -v");
    assert_eq!(
        run.out,
        "suite.yaml:1:1: Tab, with crd.yaml\n  \
         ✗ onCreate: takes no large sizes (suite.yaml:7:20), on Kubernetes 1.28 to 1.35\n      \
         the server accepts the object, an error is expected\n  \
         ✓ onCreate: takes small sizes\n  \
         ✓ onCreate: has one item\n\
         1 suite, 3 cases on Kubernetes 1.28 to 1.37: 1 failed\n"
    );
    assert_eq!(run.code, Some(1));
    let run = folder.run("test --schemas crd.yaml suite.yaml --kubernetes 1.36.. -q");
    assert_eq!((run.code, run.out.as_str()), (Some(0), "1 suite, 3 cases on Kubernetes 1.36 to 1.37: 0 failed\n"));
    let json = folder.run("test --schemas crd.yaml suite.yaml --kubernetes 1.34..1.36 --output-format json").out;
    let line: serde_json::Value = serde_json::from_str(json.trim()).unwrap();
    assert_eq!(line["releases"], serde_json::json!(["1.34", "1.35"]));
    let junit = folder.run("test --schemas crd.yaml suite.yaml --kubernetes 1.34..1.36 --output-format junit").out;
    assert!(junit.contains("tests=\"3\" failures=\"1\"") && junit.contains("on Kubernetes 1.34 and 1.35"), "{junit}");
    // What is expected belongs to one release.
    let run = folder.run("test --schemas crd.yaml suite.yaml --kubernetes all --update");
    assert_eq!(run.code, Some(2));
    assert!(run.err.contains("--update needs one release, found --kubernetes 1.28 to 1.37"), "{}", run.err);
    let run = folder.run("test --schemas crd.yaml suite.yaml --kubernetes 1.99");
    assert!(
        run.err.contains("expected a release from 1.28 to 1.37, a range such as 1.28..1.37, or all"),
        "{}",
        run.err
    );
}

#[test]
fn suites_of_policies_and_scenarios_run_in_a_range_of_releases() {
    let folder = folder();
    let policy = "\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: few}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [''], apiVersions: [v1], resources: [configmaps], operations: [CREATE]}]}
  validations: [{expression: size(object.data) < 2}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: few}
spec: {policyName: few, validationActions: [Deny]}
";
    let suite = "\
name: few
policies: [few]
tests:
  onCreate:
  - name: one
    initial: '{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: b}}'
  - name: two
    initial: '{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: b, c: d}}'
";
    folder.write("policy.yaml", policy).write("suite.yaml", suite);
    let run = folder.run("test --policies policy.yaml suite.yaml --kubernetes all");
    // All releases whose built-in kinds are known say the same.
    assert!(run.out.contains("  ✗ onCreate: two (suite.yaml:7:5)\n"), "{}{}", run.out, run.err);
    assert!(run.out.ends_with("1 suite, 2 cases on Kubernetes 1.28 to 1.37: 1 failed\n"), "{}", run.out);
    let run = folder.run("test --policies policy.yaml suite.yaml --kubernetes ..1.30");
    assert!(run.err.contains("the built-in kinds of Kubernetes 1.28 to 1.30 are not known"), "{}", run.err);

    let scenario = "\
scenario: large sizes
schemas: [{file: crd.yaml}]
steps:
- judge: {apiVersion: example.com/v1, kind: Tab, metadata: {name: a}, size: 5000000000}
";
    folder.write("scenario.yaml", scenario);
    let run = folder.run("test scenario.yaml --kubernetes 1.34.. -q");
    assert!(
        run.out.starts_with("scenario.yaml:1:1: large sizes, on Kubernetes 1.36 and 1.37\n"),
        "{}{}",
        run.out,
        run.err
    );
    assert!(run.out.ends_with("on Kubernetes 1.34 to 1.37: 1 failed\n"), "{}", run.out);
    assert_eq!(folder.run("test scenario.yaml --kubernetes 1.34..1.35").code, Some(0));
    assert_eq!(folder.run("test scenario.yaml --kubernetes 1.36").code, Some(1));
}

#[test]
fn objects_are_judged_by_the_release_of_the_base() {
    let folder = folder();
    std::fs::create_dir(folder.path("objects")).unwrap();
    let document = |version: &str| {
        format!(
            r#"{{"openapi":"3.0.0","info":{{"title":"Kubernetes","version":"{version}"}},"paths":{{}},"components":{{}}}}"#
        )
    };
    let body = r#"{"apiVersion":"example.com/v1","kind":"Tab","metadata":{"name":"a"},"size":5000000000}"#;
    let code = |options: &str| {
        let server = Server::start(&folder, &format!("crd.yaml --objects objects --base base {options}"));
        let path = "/apis/example.com/v1/namespaces/default/tabs";
        send(&server.address, "POST", path, "application/json", body).expect("an answer").code
    };
    folder.write("base/apps.json", document("v1.34.2"));
    assert_eq!(code(""), 201);
    assert_eq!(code("--emulate 1.36"), 422);
    // `/version` says it, too; without both, it is the newest release.
    folder.write("base/apps.json", document("unversioned"));
    assert_eq!(code(""), 422);
    folder.write("base/version.json", r#"{"major":"1","minor":"33","gitVersion":"v1.33.4","platform":"linux/amd64"}"#);
    assert_eq!(code(""), 201);
}
