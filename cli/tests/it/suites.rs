//! Tests of `test`: suites are run, expectations are checked and rewritten.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common::{Folder, Run};

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
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: integer, default: 1, maximum: 9}
              owner:
                type: string
                maxLength: 10
                x-kubernetes-validations: [{rule: self == oldSelf, message: owner is immutable}]
          status: {type: object, properties: {ready: {type: boolean}}}
";

const SUITE: &str = "\
# What a tab is
name: Tab
crdName: tabs.example.com
tests:
  onCreate:
  - name: has a default
    initial: |
      apiVersion: example.com/v1
      kind: Tab
      spec: {}
    expected: |
      apiVersion: example.com/v1
      kind: Tab
      spec: {size: 1}
  - name: is small
    initial: |
      apiVersion: example.com/v1
      kind: Tab
      spec: {size: 10}
    expectedError: should be less than or equal to 9
  onUpdate:
  - name: keeps its owner
    initial: |
      apiVersion: example.com/v1
      kind: Tab
      spec: {owner: a}
      status: {ready: true}
    updated: |
      apiVersion: example.com/v1
      kind: Tab
      spec: {owner: b}
    expectedError: \"spec.owner: Invalid value: \\\"string\\\": owner is immutable\"
  - name: has a status
    initial: |
      apiVersion: example.com/v1
      kind: Tab
      spec: {owner: a}
    updated: |
      apiVersion: example.com/v1
      kind: Tab
      spec: {owner: a}
      status: {ready: 1}
    expectedStatusError: must be of type boolean
";

/// Checks that an expectation fails, and that standard output has these parts.
fn prints(run: &Run, parts: &[&str]) {
    assert_eq!(run.code, Some(1), "{}", run.err);
    for part in parts {
        assert!(run.out.contains(part), "{part:?} is not in\n{}", run.out);
    }
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("crds/tabs.yaml", CRD).write("tests/tab.yaml", SUITE);
    folder
}

#[test]
fn a_suite_passes_against_its_definition() {
    let folder = folder();
    let run = folder.run("test --schemas crds tests");
    let expected = "tests/tab.yaml:2:1: Tab, with crds/tabs.yaml\n1 suite, 4 cases: 0 failed\n";
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(0), expected, ""));
    let run = folder.run("test -q crds tests");
    assert_eq!((run.code, run.out.as_str()), (Some(0), "1 suite, 4 cases: 0 failed\n"));
    let run = folder.run("test -v --schemas crds tests --filter default");
    assert!(run.out.ends_with("  ✓ onCreate: has a default\n1 suite, 1 case: 0 failed\n"), "{}", run.out);
    // From 1.35 on, errors of rules show the value.
    let run = folder.run("test --schemas crds tests --kubernetes 1.36");
    prints(
        &run,
        &["✗ onUpdate: keeps its owner (tests/tab.yaml:32:20)", "spec.owner: Invalid value: \"b\": owner is immutable"],
    );
    assert_eq!(folder.run("test --schemas crds tests --kubernetes 1.34").code, Some(0));
}

#[test]
fn definitions_are_found_where_openshift_puts_them() {
    let folder = Folder::new();
    folder.write("v1/zz_generated.crd-manifests/tabs.yaml", CRD).write("v1/tests/tabs.example.com/a.yaml", SUITE);
    let run = folder.run("test v1/tests");
    assert!(run.out.ends_with("1 suite, 4 cases: 0 failed\n"), "{}{}", run.out, run.err);
}

#[test]
fn failed_expectations_are_reported_and_corrected() {
    let folder = folder();
    let wrong = SUITE
        .replace("spec: {size: 1}\n", "spec: {size: 2}\n")
        .replace("expectedError: should be less than or equal to 9", "expected: ''   # nothing")
        .replace("    expectedStatusError: must be of type boolean\n", "    expectedStatusError: never\n");
    folder.write("tests/tab.yaml", &wrong);
    let run = folder.run("test --schemas crds tests");
    prints(
        &run,
        &[
            "✗ onCreate: has a default (tests/tab.yaml:11:15)",
            ".spec.size: found 1, expected 2",
            "✗ onCreate: is small (tests/tab.yaml:15:5)",
            "Tab.example.com \"test-00000\" is invalid: spec.size: Invalid value: 10",
            "✗ onUpdate: has a status (tests/tab.yaml:43:26)",
            "1 suite, 4 cases: 3 failed",
        ],
    );
    let run = folder.run("test --schemas crds tests --update -q");
    assert!(run.out.ends_with("1 suite, 4 cases: 0 failed, 3 updated\n"), "{}{}", run.out, run.err);
    let updated = folder.read("tests/tab.yaml");
    assert!(updated.starts_with("# What a tab is\n"), "{updated}");
    assert!(updated.contains(
        "    expected: |\n      apiVersion: example.com/v1\n      kind: Tab\n      spec:\n        size: 1\n"
    ));
    assert!(
        updated.contains("    expectedError: \"Tab.example.com \\\"test-00000\\\" is invalid: spec.size"),
        "{updated}"
    );
    let again = folder.run("test --schemas crds tests --update -q");
    assert_eq!((again.code, again.out.as_str()), (Some(0), "1 suite, 4 cases: 0 failed\n"));
    assert_eq!(folder.read("tests/tab.yaml"), updated);
}

#[test]
fn reports_have_a_test_for_each_case() {
    let folder = folder();
    folder.write("tests/tab.yaml", SUITE.replace("or equal to 9", "or equal to 8"));
    folder.write(
        "tests/scenario.yaml",
        "scenario: nothing\nschemas: [{file: ../crds/tabs.yaml}]\nsteps: [{set: null}]\n",
    );
    let run = folder.run("test --schemas crds tests --output-format junit");
    prints(&run, &["<?xml", "tests=\"5\"", "failures=\"1\"", "onCreate: is small (crds/tabs.yaml)", "KS8016"]);
    let run = folder.run("test --schemas crds tests --output-format github");
    prints(&run, &["::error file=tests/tab.yaml,line=20,"]);
}

#[test]
fn an_invalid_suite_is_reported_with_its_position() {
    let folder = folder();
    let cases = [
        ("crdName: ''\ntests: {}\n", "crdName is missing"),
        ("crdName: a\ntests: []\n", "found a list, expected a mapping with onCreate and onUpdate"),
        ("crdName: a\ntests: {onCreate: {}}\n", "expected a list of cases"),
        ("crdName: a\ntests: {onCreate: [{name: x}]}\n", "initial is missing"),
        ("crdName: a\ntests: {onCreate: [{name: x, initial: {}}]}\n", "expected a text"),
        ("crdName: a\ntests: {onUpdate: [{initial: '', updated: '', initialCRDPatches: [{op: x}]}]}\n", "RFC 6902"),
        ("crdName: a\ntests: {onCreate: [{initial: ''}]}\n", "no CustomResourceDefinition a is known"),
        ("crdName: tabs.example.com\nversion: v2\ntests: {onCreate: [{initial: ''}]}\n", "found versions v1"),
    ];
    for (suite, part) in cases {
        folder.write("tests/tab.yaml", suite);
        folder.run("test --schemas crds tests").says(1, &["error[KS8015]", part]);
    }
}
