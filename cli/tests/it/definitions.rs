//! Tests of `kubeshape convert --to crd` from schemas.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common::{Folder, report};

const PETS: &str = "\
openapi: 3.1.0
info: {title: pets, version: '1'}
paths: {}
components:
  schemas:
    Pet:
      type: object
      required: [name]
      properties:
        name: {type: string, minLength: 1}
        owner: {$ref: '#/components/schemas/Owner'}
        level: {type: integer, default: high}
    Owner: {type: [object, 'null'], properties: {mail: {type: string, format: idn-email, readOnly: true}}}
";

/// A kind of Kubernetes in OpenAPI v2, with its path.
fn tabs(version: &str, field: &str) -> String {
    format!(
        "{{\"swagger\":\"2.0\",\"paths\":{{\"/apis/apps/{version}/tabbies/{{name}}\":{{\"get\":{{\"responses\":{{}},\
         \"x-kubernetes-group-version-kind\":{{\"group\":\"apps\",\"kind\":\"Tab\",\"version\":\"{version}\"}},\
         \"x-kubernetes-action\":\"get\"}}}}}},\"definitions\":{{\"io.k8s.{version}.Tab\":{{\"type\":\"object\",\"properties\":{{\
         \"apiVersion\":{{\"type\":\"string\"}},\"kind\":{{\"type\":\"string\"}},\"metadata\":{{\"type\":\"object\"}},\
         \"{field}\":{{\"type\":\"string\",\"default\":\"\"}}}},\"x-kubernetes-group-version-kind\":[{{\"group\":\"apps\",\
         \"kind\":\"Tab\",\"version\":\"{version}\"}}]}}}}}}"
    )
}

#[test]
fn a_schema_of_a_rest_api_becomes_the_spec_of_a_definition() {
    let folder = Folder::new();
    folder.write("pets.yaml", PETS);
    let run =
        folder.run("convert pets.yaml --to crd --kind Pet --group example.com -o pet.yaml --report report.ndjson");
    assert_eq!(run.code, Some(0), "{}", run.err);
    let expected = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: pets.example.com
spec:
  group: example.com
  names:
    kind: Pet
    listKind: PetList
    plural: pets
    singular: pet
  scope: Namespaced
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        type: object
        required:
        - spec
        properties:
          apiVersion:
            type: string
          kind:
            type: string
          metadata:
            type: object
          spec:
            type: object
            required:
            - name
            properties:
              level:
                type: integer
              name:
                type: string
                minLength: 1
              owner:
                type: object
                nullable: true
                properties:
                  mail:
                    type: string
    served: true
    storage: true
";
    assert_eq!(folder.read("pet.yaml"), expected);
    let losses: Vec<(String, u64)> = report(&folder.read("report.ndjson"))
        .iter()
        .map(|entry| (entry["code"].as_str().unwrap().to_owned(), entry["line"].as_u64().unwrap()))
        .collect();
    let losses: Vec<(&str, u64)> = losses.iter().map(|(code, line)| (code.as_str(), *line)).collect();
    assert_eq!(losses, [("KS2315", 7), ("KS2313", 12), ("KS2312", 13), ("KS2303", 13)]);
    let run = folder.run("check pet.yaml --kubernetes all");
    assert_eq!(run.code, Some(0), "{}", run.err);
}

#[test]
fn versions_of_several_documents_are_in_one_definition() {
    let folder = Folder::new();
    folder.write("a.json", tabs("v1beta1", "old")).write("b.json", tabs("v1", "new"));
    let run = folder.run("convert a.json b.json --to crd -o out");
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert_eq!(folder.names("out"), ["tabbies.apps.k8s.io/crd.yaml"]);
    let text = folder.read("out/tabbies.apps.k8s.io/crd.yaml");
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let has = |line: &str| lines.contains(&line);
    assert!(has("plural: tabbies") && has("scope: Cluster"), "{text}");
    assert!(has("api-approved.kubernetes.io: unapproved, converted from a schema"), "{text}");
    let storage: Vec<&&str> =
        lines.iter().filter(|line| line.contains("name: v1") || line.starts_with("storage")).collect();
    assert_eq!(storage, [&"- name: v1", &"storage: true", &"- name: v1beta1", &"storage: false"]);
    // Zero values of Go are no defaults.
    assert!(!text.contains("default"), "{text}");
    let run =
        folder.run("convert a.json --to crd --group tabs.example.com --scope namespaced --plural tabs -o one.yaml");
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(folder.read("one.yaml").contains("name: tabs.tabs.example.com\n"));
}

#[test]
fn a_json_schema_is_called_like_its_file() {
    let folder = Folder::new();
    folder.write("user_profile.schema.json", r#"{"$defs": {}, "type": "object", "properties": {"a": {"const": 1}}}"#);
    let run = folder.run(
        "convert user_profile.schema.json --to crd --kind user_profile --group example.com --crd-version v1alpha1",
    );
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(
        run.out.contains("  name: userprofiles.example.com\n") && run.out.contains("- name: v1alpha1\n"),
        "{}",
        run.out
    );
}

#[test]
fn what_is_missing_is_said() {
    let folder = Folder::new();
    folder.write("pets.yaml", PETS).write("a.json", tabs("v1", "a"));
    let run = folder.run("convert pets.yaml --to crd");
    assert_eq!((run.code, run.out.as_str()), (Some(1), ""));
    assert!(run.words().contains("choose with --kind and --group: Pet, Owner"), "{}", run.err);
    let run = folder.run("convert pets.yaml --to crd --kind Pet");
    assert!(run.code == Some(1) && run.words().contains("give its group with --group"), "{}", run.err);
    let run = folder.run("convert pets.yaml --to crd --kind Pett --group example.com");
    assert!(
        run.code == Some(1) && run.words().contains("no kind, resource or definition is called Pett"),
        "{}",
        run.err
    );
    let run = folder.run("convert pets.yaml --to crd --kind Pet --kind Owner --group example.com --plural x -o out");
    assert!(run.code == Some(1) && run.words().contains("--plural names one resource"), "{}", run.err);
    let run = folder.run("convert pets.yaml --to crd --kind Pet --group example.com --crd-size 10");
    assert!(run.code == Some(1) && run.words().contains("more than 10 bytes"), "{}", run.err);
    // The names are the user's, so they are not repaired.
    let run = folder.run("convert pets.yaml --to crd --kind Pet --group example -o out");
    assert!(run.code == Some(1) && run.err.contains("KS3102"), "{}", run.err);
    for option in ["--group x.io", "--crd-version v2", "--scope cluster", "--plural xs", "--crd-size 1MiB"] {
        let run = folder.run(&format!("convert a.json --to v3 {option}"));
        assert!(run.code == Some(2) && run.words().contains("says something about crd only"), "{}", run.err);
    }
}

#[test]
fn a_json_schema_has_no_other_shape() {
    let folder = Folder::new();
    folder.write("a.json", r#"{"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"}"#);
    for shape in ["v3", "v2", "smd", "jsonschema", "kustomize", "structural"] {
        let run = folder.run(&format!("convert a.json --to {shape}"));
        assert_eq!((run.code, run.out.as_str()), (Some(1), ""), "{shape}");
        assert!(run.err.contains("KS1008"), "{shape}: {}", run.err);
    }
}
