//! Tests of the names that `--kind` takes.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common::{Folder, crd};

/// A document with a kind with an irregular plural, and a kind of Kubernetes itself.
const DOCUMENT: &str = r#"{"openapi": "3.0.0", "info": {"title": "t", "version": "v1"},
  "paths": {
    "/apis/example.com/v1/mice": {"get": {
      "operationId": "listMouse",
      "x-kubernetes-action": "list",
      "x-kubernetes-group-version-kind": {"group": "example.com", "version": "v1", "kind": "Mouse"},
      "responses": {"200": {"description": "OK"}}}}
  },
  "components": {"schemas": {
    "com.example.v1.Mouse": {"type": "object",
      "x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "Mouse"}]},
    "io.k8s.api.apps.v1.Deployment": {"type": "object",
      "x-kubernetes-group-version-kind": [{"group": "apps", "version": "v1", "kind": "Deployment"}]},
    "io.k8s.api.apps.v1.DeploymentSpec": {"type": "object"}
  }}}"#;

#[test]
fn a_kind_of_a_document_has_the_names_that_kubectl_accepts() {
    let folder = Folder::new();
    folder.write("api.json", DOCUMENT);
    for (name, expected) in [
        ("Deployment", "Deployment.apps/v1.schema.json"),
        ("deployment", "Deployment.apps/v1.schema.json"),
        ("DEPLOYMENTS", "Deployment.apps/v1.schema.json"),
        ("deploy", "Deployment.apps/v1.schema.json"),
        ("deployments.apps", "Deployment.apps/v1.schema.json"),
        ("deployments.v1.apps", "Deployment.apps/v1.schema.json"),
        ("apps/v1/deployment", "Deployment.apps/v1.schema.json"),
        ("v1/Mouse", "Mouse.example.com/v1.schema.json"),
        ("mice", "Mouse.example.com/v1.schema.json"),
        ("io.k8s.api.apps.v1.DeploymentSpec", "io.k8s.api.apps.v1.DeploymentSpec.schema.json"),
        ("deploymentspec", "io.k8s.api.apps.v1.DeploymentSpec.schema.json"),
    ] {
        let out = format!("out-{name}");
        let run = folder.run(&format!("convert api.json --to jsonschema -o {out}/ --kind {name}"));
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{name}");
        assert_eq!(folder.names(&out), [expected], "{name}");
    }
}

#[test]
fn a_kind_of_a_custom_resource_has_all_its_names() {
    let folder = Folder::new();
    let names = "names: {plural: mice, singular: mouse, kind: Mouse, shortNames: [ms]}";
    folder.write("crd.yaml", crd("widgets", &["v1"]).replace("names: {plural: widgets, kind: Widget}", names));
    for name in ["Mouse", "mouse", "mice", "MS", "mice.example.com", "mice.v1.example.com", "example.com/v1/Mouse"] {
        folder.run(&format!("convert crd.yaml --to structural -o out --kind {name}")).is_silent();
    }
    folder
        .run("convert crd.yaml --to structural -o out --kind mouses")
        .says(1, &["error[KS4113]", "no kind, resource or definition is called mouses; did you mean `Mouse`?"]);
}

#[test]
fn a_mistyped_kind_suggests_the_most_similar_one() {
    let folder = Folder::new();
    folder.write("api.json", DOCUMENT);
    for (name, message) in [
        ("Deploymnet", "no kind, resource or definition is called Deploymnet; did you mean `Deployment`?"),
        ("apps/v1/deploymnt", "called apps/v1/deploymnt; did you mean `Deployment`?"),
        ("deploymets.apps", "called deploymets.apps; did you mean `Deployment`?"),
        ("Certificate", "no kind, resource or definition is called Certificate"),
    ] {
        let run = folder.run(&format!("convert api.json --to jsonschema -o out --kind {name} --kind mice"));
        run.says(1, &[message]);
    }
    // The kinds that were found are written anyway.
    assert_eq!(folder.names("out"), ["Mouse.example.com/v1.schema.json"]);
}
