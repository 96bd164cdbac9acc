//! Tests of `kubeshape diff` of admission policies.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common::Folder;

/// A policy about the replicas of Deployments, with its binding.
fn set(expression: &str, actions: &str) -> String {
    format!(
        "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {{name: few-replicas}}
spec:
  matchConstraints:
    resourceRules:
    - {{apiGroups: [apps], apiVersions: [v1], resources: [deployments], operations: [CREATE]}}
  validations:
  - {{expression: \"{expression}\", message: too many replicas}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {{name: everywhere}}
spec: {{policyName: few-replicas, validationActions: [{actions}]}}
"
    )
}

fn folder(old: &str, new: &str) -> Folder {
    let folder = Folder::new();
    folder.write("old.yaml", old).write("new.yaml", new);
    folder
}

#[test]
fn a_stricter_policy_refuses_an_object_that_is_shown() {
    let folder = folder(&set("object.spec.replicas <= 5", "Deny"), &set("object.spec.replicas <= 3", "Deny"));
    let run = folder.run("diff old.yaml new.yaml --witness");
    assert_eq!(run.code, Some(1), "{}{}", run.out, run.err);
    for part in [
        "error[KS8461]: Admission policies refuse a request that they allowed",
        "new.yaml:3:",
        "denied request: too many replicas",
        "replicas: 4\n",
        "few-replicas: 1 breaking",
    ] {
        assert!(run.out.contains(part), "{part}: {}", run.out);
    }
    assert!(!run.out.contains("minReadySeconds"), "the object is small: {}", run.out);
}

#[test]
fn other_effects_have_other_classes() {
    let old = set("object.spec.replicas <= 5", "Deny");
    let wider = folder(&old, &set("object.spec.replicas <= 9", "Deny"));
    let run = wider.run("diff old.yaml new.yaml --verbose --witness");
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(run.out.contains("KS8463") && run.out.contains("an object that was refused is accepted"), "{}", run.out);
    let warning = folder(&set("object.spec.replicas <= 5", "Audit"), &set("object.spec.replicas <= 5", "Warn"));
    let run = warning.run("diff old.yaml new.yaml");
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(run.out.contains("KS8462") && run.out.contains("has a warning"), "{}", run.out);
    let cost = folder(&old, &set("object.spec.replicas <= 5 && object.metadata.name != 'x'", "Deny"));
    let run = cost.run("diff old.yaml new.yaml --verbose");
    assert!(run.out.contains("KS8464") && run.out.contains("the cost changed from"), "{}", run.out);
}

#[test]
fn equal_policies_differ_in_nothing_in_any_order() {
    let old = set("object.spec.replicas <= 5", "Deny");
    let (policy, binding) = old.split_once("---\n").unwrap();
    let folder = folder(&old, &format!("{binding}---\n{policy}"));
    let run = folder.run("diff old.yaml new.yaml");
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    assert!(run.out.contains("nothing changed"), "{}", run.out);
}

#[test]
fn json_and_markdown_have_the_witness() {
    let folder = folder(&set("object.spec.replicas <= 5", "Deny"), &set("false", "Deny"));
    let json = folder.run("diff old.yaml new.yaml --witness --output-format json").out;
    assert!(json.contains(r#""code":"KS8461""#) && json.contains(r#""witness""#), "{json}");
    let markdown = folder.run("diff old.yaml new.yaml --witness --output-format markdown").out;
    assert!(markdown.contains("KS8461") && markdown.contains("```yaml"), "{markdown}");
    let other = folder.run("diff old.yaml new.yaml --for readers");
    assert_eq!(other.code, Some(0), "{}", other.out);
}
