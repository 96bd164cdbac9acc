//! Tests of OpenAPI 3.1: `convert --to v3.1`, and documents of it as inputs.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common::{Folder, report};
use serde_json::{Value, json};

const WIDGETS: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              note: {type: string, nullable: true}
              size: {type: integer, minimum: 0, exclusiveMinimum: true}
";

const LATER: &str = "\
openapi: 3.1.0
info: {title: t, version: '1'}
paths: {}
components:
  schemas:
    A: {type: [string, 'null'], description: d}
    B: {$ref: '#/components/schemas/A', description: d}
    C: {type: array, prefixItems: [true]}
";

fn json_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn definitions_are_published_in_openapi_3_1_and_come_back() {
    let folder = Folder::new();
    folder.write("widgets.yaml", WIDGETS);
    let run = folder.run("convert widgets.yaml --to v3,v3.1 -o out");
    assert_eq!(run.code, Some(0), "{}", run.err);
    let later = folder.read("out/apis__example.com__v1_openapi.v3.1.json");
    let document = json_of(&later);
    assert_eq!(document["openapi"], "3.1.0");
    let spec = &document["components"]["schemas"]["com.example.v1.Widget"]["properties"]["spec"]["properties"];
    let expected = json!({"note": {"type": ["string", "null"]}, "size": {"type": "integer", "exclusiveMinimum": 0}});
    assert_eq!(*spec, expected);
    let run = folder.run("convert out/apis__example.com__v1_openapi.v3.1.json --to v3 -o back.json");
    assert_eq!(run.code, Some(0), "{}", run.err);
    folder.run("convert out/apis__example.com__v1_openapi.json --to v3 -o again.json");
    assert_eq!(folder.read("back.json"), folder.read("again.json"));
    // One document for all, per resource, and as YAML.
    let run = folder.run("convert widgets.yaml --to v3.1 --per single -o one.yaml");
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(folder.read("one.yaml").starts_with("openapi: 3.1.0\n"));
    let run = folder.run("convert widgets.yaml --to v3.1,v3 --per resource -o resources --pretty");
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(folder.read("resources/widgets.example.com/v1.v3.1.json").contains("\"openapi\": \"3.1.0\""));
    // The results are known, and pruned.
    let run = folder.run("convert widgets.yaml --to v3 -o out --prune");
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(!folder.path("out/apis__example.com__v1_openapi.v3.1.json").exists());
}

#[test]
fn documents_of_openapi_3_1_are_read_by_every_conversion() {
    let folder = Folder::new();
    folder.write("later.yaml", LATER);
    let run = folder.run("convert later.yaml --to v3 --report report.ndjson");
    assert_eq!(run.code, Some(0), "{}", run.err);
    let schemas = &json_of(&run.out)["components"]["schemas"];
    assert_eq!(json_of(&run.out)["openapi"], "3.0.0");
    assert_eq!(schemas["A"], json!({"description": "d", "type": "string", "nullable": true}));
    assert_eq!(schemas["B"], json!({"description": "d", "allOf": [{"$ref": "#/components/schemas/A"}]}));
    assert_eq!(schemas["C"], json!({"type": "array"}));
    let losses = report(&folder.read("report.ndjson"));
    let line = losses.iter().find(|line| line["code"] == "KS2401").unwrap();
    assert_eq!((&line["line"], &line["pointer"]), (&json!(8), &json!("/components/schemas/C/prefixItems")));
    // Nothing is lost if it stays OpenAPI 3.1.
    let run = folder.run("convert later.yaml --to v3.1 --report report.ndjson");
    assert_eq!((run.code, folder.read("report.ndjson").as_str()), (Some(0), ""), "{}", run.err);
    let kept = &json_of(&run.out)["components"]["schemas"];
    assert_eq!(kept["C"], json!({"type": "array", "prefixItems": [true]}));
    assert_eq!(kept["B"], json!({"description": "d", "$ref": "#/components/schemas/A"}));
    let run = folder.run("convert later.yaml --to v2");
    assert_eq!(
        json_of(&run.out)["definitions"]["A"],
        json!({"description": "d", "type": "string", "x-nullable": true})
    );
    let run = folder.run("convert later.yaml --to jsonschema -o schemas");
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert_eq!(json_of(&folder.read("schemas/A.schema.json"))["type"], json!(["string", "null"]));
    // Two documents are merged, with references renamed.
    folder.write("other.yaml", LATER.replace("    A: {", "    A: {maxLength: 3, "));
    let run = folder.run("convert later.yaml other.yaml --to v3.1");
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert_eq!(json_of(&run.out)["components"]["schemas"]["B_v2"]["$ref"], "#/components/schemas/A_v2");
}

#[test]
fn there_is_no_protobuf_form_of_openapi_3_1() {
    let folder = Folder::new();
    folder.write("later.yaml", LATER);
    folder.run("convert later.yaml --to v3.1 --format pb").says(2, &["there is no protobuf form of v3.1"]);
    folder.run("convert later.yaml --to v3.1 --max-output 200").says(1, &["KS1102"]);
    let run = folder.run("convert later.yaml --to v3 --format pb -o a.pb");
    assert_eq!(run.code, Some(0), "{}", run.err);
}

#[test]
fn built_in_kinds_are_read_without_inputs() {
    let folder = Folder::new();
    let run = folder.run("convert --kubernetes 1.36 --kind Deployment --to jsonschema -q");
    assert_eq!(run.code, Some(0), "{}", run.err);
    let schema = json_of(&run.out);
    assert_eq!(schema["properties"]["kind"]["const"], "Deployment");
    assert!(run.out.contains("\"maximum\":65535"), "constraints are missing");
    // Standard input has to be named.
    folder.run("convert --kubernetes 1.36 --kind Widget --to v3").says(1, &["KS4113", "Widget"]);
    folder.run("convert - --kubernetes 1.36 --kind Deployment --to v3").says(1, &["KS1008"]);
    folder.run("convert --all-kinds --to v3").says(2, &["--kubernetes"]);
    folder.run("convert --kubernetes 1.36 --all-kinds --kind Pod --to v3").says(2, &["--kind"]);
}

fn object(version: &str, kind: &str, spec: &Value) -> Value {
    json!({"apiVersion": version, "kind": kind, "metadata": {"name": "a"}, "spec": spec})
}

#[test]
fn one_schema_is_for_objects_of_all_kinds() {
    let folder = Folder::new();
    folder.write("widgets.yaml", WIDGETS);
    let line = "convert widgets.yaml --kubernetes 1.36 --all-kinds --to jsonschema --per single --strict";
    let run = folder.run(&format!("{line} -o all.json -q"));
    assert_eq!(run.code, Some(0), "{}", run.err);
    let schema = json_of(&folder.read("all.json"));
    jsonschema::meta::validate(&schema).unwrap();
    let all = jsonschema::validator_for(&schema).unwrap();
    let pod = |name: &str| object("v1", "Pod", &json!({"containers": [{"name": name, "image": "a"}]}));
    assert!(all.is_valid(&pod("a")));
    assert!(!all.is_valid(&pod("A")));
    assert!(all.is_valid(&object("example.com/v1", "Widget", &json!({"size": 1}))));
    assert!(!all.is_valid(&object("example.com/v1", "Widget", &json!({"size": 0}))));
    assert!(!all.is_valid(&object("example.com/v1", "Gadget", &json!({}))));
    assert!(!all.is_valid(&object("example.com/v2", "Widget", &json!({}))));
    let lax = folder.run("convert widgets.yaml --to jsonschema --per single --draft 7");
    assert_eq!(lax.code, Some(0), "{}", lax.err);
    let lax = jsonschema::validator_for(&json_of(&lax.out)).unwrap();
    assert!(lax.is_valid(&object("example.com/v2", "Widget", &json!({}))));
    assert!(!lax.is_valid(&object("example.com/v1", "Widget", &json!({"size": 0}))));
    assert!(!lax.is_valid(&json!({"kind": "Widget"})));
    // Layouts have it next to the schemas of kinds.
    let run = folder.run("convert widgets.yaml --to jsonschema --per single --layout kubeconform -o schemas");
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(folder.path("schemas/master-standalone/all.json").exists());
    let run = folder.run("convert widgets.yaml --to jsonschema --per single -o own");
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(folder.path("own/all.schema.json").exists());
    folder.run("convert widgets.yaml --to jsonschema --per single --max-output 100").says(1, &["KS1102"]);
}
