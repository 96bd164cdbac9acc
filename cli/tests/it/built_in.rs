//! Tests of Kubernetes' built-in kinds without a cluster: `--kubernetes`.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common::Folder;
use crate::common::ssa::CRD;

const LIVE: &str = r#"apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: x
  managedFields:
  - manager: kubectl
    operation: Update
    apiVersion: apps/v1
    fieldsType: FieldsV1
    fieldsV1:
      f:spec:
        f:replicas: {}
        f:template:
          f:spec:
            f:containers:
              k:{"name":"web"}:
                .: {}
                f:name: {}
                f:ports:
                  k:{"containerPort":80,"protocol":"TCP"}:
                    .: {}
                    f:containerPort: {}
                    f:protocol: {}
spec:
  replicas: 2
  template:
    spec:
      containers:
      - name: web
        ports:
        - containerPort: 80
          protocol: TCP
"#;

/// Adds a port. The default of `protocol` is part of its key.
const CONFIG: &str = "apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: x}
spec:
  template:
    spec:
      containers:
      - name: web
        ports:
        - containerPort: 443
";

const AFTER: &str = "spec:
  replicas: 2
  template:
    spec:
      containers:
      - name: web
        ports:
        - containerPort: 80
          protocol: TCP
        - containerPort: 443
";

const DEFAULT: &str = "Using the types of Kubernetes 1.37. For others, give --kubernetes or --schemas.\n";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("live.yaml", LIVE).write("config.yaml", CONFIG).write("crd.yaml", CRD);
    folder
}

#[test]
fn a_deployment_is_applied_without_schemas() {
    let run = folder().run("apply --live live.yaml --field-manager ci config.yaml");
    assert_eq!((run.code, run.err.as_str()), (Some(0), DEFAULT));
    assert!(run.out.ends_with(AFTER), "{}", run.out);
    assert!(run.out.contains(r#"k:{"containerPort":443,"protocol":"TCP"}"#), "{}", run.out);
}

#[test]
fn every_release_and_patch_release_can_be_named() {
    let folder = folder();
    for release in ["1.31", "1.32", "1.33", "v1.34", "1.35.7", "v1.36.0-rc.1", "1.37"] {
        let line = format!("apply --kubernetes {release} --live live.yaml --field-manager ci config.yaml");
        let run = folder.run(&line);
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{release}");
        assert!(run.out.ends_with(AFTER), "{release}: {}", run.out);
    }
}

#[test]
fn an_unknown_release_is_reported() {
    let run = folder().run("apply --kubernetes 1.9 --field-manager ci config.yaml");
    let expected = "error: invalid value '1.9' for '--kubernetes <RELEASE>': expected one from 1.28 to 1.37

For more information, try '--help'.
";
    assert_eq!((run.code, run.err.as_str()), (Some(2), expected));
}

#[test]
fn an_update_and_a_conflict_know_the_keys_of_built_in_lists() {
    let folder = folder();
    let line = "--quiet --kubernetes 1.34 --live live.yaml --field-manager ci --now 2024-02-01T00:00:00Z config.yaml";
    let run = folder.run(&format!("update {line}"));
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    assert!(run.out.contains(r#"k:{"containerPort":443,"protocol":"TCP"}"#), "{}", run.out);
    folder.write("config.yaml", CONFIG.replace("spec:\n  template", "spec:\n  replicas: 3\n  template"));
    let run = folder.run(&format!("apply {line}"));
    let expected = "\
error: Apply failed with 1 conflict: conflict with \"kubectl\" using apps/v1:
       .spec.replicas
";
    assert_eq!(run.code, Some(1));
    assert!(run.err.starts_with(expected), "{}", run.err);
}

#[test]
fn an_undeclared_field_of_a_built_in_kind_is_reported_with_the_schema() {
    let folder = folder();
    folder.write("config.yaml", CONFIG.replace("ports:", "port:"));
    let run = folder.run("apply --kubernetes 1.34 --field-manager ci config.yaml");
    let expected = r#"error[KS8002]: The field is not declared in the schema
 --> config.yaml:9:9
  |
9 |         port:
  |         ^^^^
  |
  = note: .spec.template.spec.containers[name="web"].port: field not declared in
          schema; did you mean `ports`?
  = note: in Deployment x/web
  = note: checked against Kubernetes 1.34 apis/apps/v1,
          /components/schemas/io.k8s.api.core.v1.Container
  = note: a plain create would drop this field with a warning at most;
          server-side apply refuses it
  = help: Correct the name, or use the apiVersion that declares it. If the
          schema is yours and the field is meant to be free, declare it, or set
          `x-kubernetes-preserve-unknown-fields: true` where it belongs.

For more about an error, run `kubeshape explain-code KS8002`.
"#;
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(1), "", expected));
}

#[test]
fn an_unknown_kind_is_reported_with_advice() {
    let folder = folder();
    folder.write("config.yaml", CONFIG.replace("kind: Deployment", "kind: Deploymnt"));
    let run = folder.run("apply --field-manager ci config.yaml");
    let expected = r#"error[KS8001]: No schema is known for the apiVersion and kind of an object
 --> config.yaml:2:7
  |
2 | kind: Deploymnt
  |       ^^^^^^^^^ found "Deploymnt" of "apps/v1"; did you mean `Deployment`?
  |
  = note: in Deploymnt x/web
  = note: the built-in kinds are those of Kubernetes 1.37; --schemas adds other
          kinds
  = help: Add `--schemas` with a document that has the kind, or `--kubernetes`
          for a built-in kind, or correct apiVersion and kind. With a
          structured-merge-diff schema, name the type with `--type`.

For more about an error, run `kubeshape explain-code KS8001`.
"#;
    assert_eq!((run.code, run.err.as_str()), (Some(1), expected));
    // With schemas, the built-in kinds are used only if requested.
    folder.write("config.yaml", CONFIG);
    let run = folder.run("apply --schemas crd.yaml --field-manager ci config.yaml");
    let expected = r#"error[KS8001]: No schema is known for the apiVersion and kind of an object
 --> config.yaml:2:7
  |
2 | kind: Deployment
  |       ^^^^^^^^^^
  |
  = note: found "Deployment" of "apps/v1", expected one of the kinds in the
          schemas
  = note: in Deployment x/web
  = note: Kubernetes has this kind; --kubernetes 1.37 adds its built-in kinds
  = help: Add `--schemas` with a document that has the kind, or `--kubernetes`
          for a built-in kind, or correct apiVersion and kind. With a
          structured-merge-diff schema, name the type with `--type`.

For more about an error, run `kubeshape explain-code KS8001`.
"#;
    assert_eq!((run.code, run.err.as_str()), (Some(1), expected));
    let run = folder.run("apply --schemas crd.yaml --kubernetes 1.37 --field-manager ci config.yaml");
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
}

#[test]
fn a_given_definition_overrides_the_built_in_one() {
    let folder = folder();
    // In this cluster, a Deployment has only a size.
    folder.write(
        "apps.json",
        r#"{"openapi": "3.0.0", "info": {"title": "", "version": ""}, "paths": {}, "components": {"schemas": {
            "io.k8s.api.apps.v1.Deployment": {"type": "object", "properties": {
                "apiVersion": {"type": "string"}, "kind": {"type": "string"},
                "metadata": {"type": "object"}, "size": {"type": "integer"}},
                "x-kubernetes-group-version-kind": [{"group": "apps", "kind": "Deployment", "version": "v1"}]}}}}"#,
    );
    folder.write("config.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nsize: 1\n");
    let run = folder.run("apply --schemas apps.json --kubernetes 1.37 --field-manager ci config.yaml");
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
}

#[test]
fn the_other_commands_know_built_in_kinds() {
    let folder = folder();
    let run = folder.run("fieldset --paths config.yaml");
    assert_eq!((run.code, run.err.as_str()), (Some(0), DEFAULT));
    let port = r#".spec.template.spec.containers[name="web"].ports[containerPort=443,protocol="TCP"].containerPort"#;
    assert!(run.out.lines().any(|line| line == port), "{}", run.out);
    let run = folder.run("blame --kubernetes 1.34 --paths live.yaml");
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    let run = folder.run("merge --quiet live.yaml config.yaml");
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    assert!(run.out.ends_with(AFTER), "{}", run.out);
}

const SCENARIO: &str = r#"scenario: two managers of a Service
kubernetes: "1.34"
steps:
- apply: {apiVersion: v1, kind: Service, metadata: {name: s}, spec: {ports: [{port: 80}]}}
  manager: a
- apply: {apiVersion: v1, kind: Service, metadata: {name: s}, spec: {ports: [{port: 443}]}}
  manager: b
  expect:
    object:
      apiVersion: v1
      kind: Service
      metadata: {name: s}
      spec: {ports: [{port: 80}, {port: 443}]}
"#;

#[test]
fn a_scenario_names_its_release() {
    let folder = folder();
    folder.write("s.yaml", SCENARIO);
    for (flags, on) in [("", ""), ("--kubernetes 1.31", " on Kubernetes 1.31")] {
        let run = folder.run(&format!("scenario --quiet {flags} s.yaml"));
        let summary = format!("1 scenario, 2 steps, 1 expectation{on}: 0 failed\n");
        assert_eq!((run.code, run.out, run.err), (Some(0), summary, String::new()));
    }
    folder.write("s.yaml", SCENARIO.replace("kubernetes: \"1.34\"\n", ""));
    let run = folder.run("scenario s.yaml");
    assert_eq!((run.code, run.err.as_str()), (Some(0), DEFAULT));
    folder.write("s.yaml", SCENARIO.replace("1.34", "1.99"));
    let run = folder.run("scenario s.yaml");
    let expected = r#"error[KS8013]: A scenario cannot be run
 --> s.yaml:2:13
  |
2 | kubernetes: "1.99"
  |             ^^^^^^
  |
  = note: there is no release `1.99` among those whose rules are known; expected
          a release from 1.28 to 1.37, a range such as 1.28..1.37, or all
  = help: Correct the step; docs/apply.md describes the format.

For more about an error, run `kubeshape explain-code KS8013`.
"#;
    assert_eq!((run.code, run.err.as_str()), (Some(1), expected));
}

#[test]
fn documents_of_resources_have_the_definitions_of_the_release() {
    let folder = folder();
    let convert = |flags: &str| folder.run(&format!("convert crd.yaml --to v3 --per single {flags} -o -"));
    let (old, new) = (convert("--kubernetes 1.31"), convert("--kubernetes 1.37"));
    let said =
        |release: &str| format!("Using the definitions of Kubernetes {release}, so hashes differ from a cluster's.\n");
    assert_eq!((old.code, old.err.as_str()), (Some(0), said("1.31").as_str()));
    // Lists have had shards since 1.36.
    for name in ["ShardInfo", "shardSelector"] {
        assert!(!old.out.contains(name) && new.out.contains(name), "{name}");
    }
    // The newest release is the default.
    let default = convert("");
    assert_eq!(new.out, default.out);
    let run = folder.run("convert crd.yaml --to v3 --kubernetes 1.31 --base crd.yaml -o -");
    assert_eq!(run.code, Some(2));
}
