//! Documents with the extension.

use crate::{features, types};
use kubeshape_input::{Limits, read};
use kubeshape_lifecycle::annotate::{Annotated, annotate};
use kubeshape_lifecycle::{Options, Version};

const TYPES: &str = "// +groupName=example.com
package v1
type Widget struct {
	Spec WidgetSpec `json:\"spec\"`
}
type WidgetSpec struct {
	// +featureGate=One
	Size *int32 `json:\"size\"`
	// +featureGate=One
	Ref *Other `json:\"ref\"`
	// +featureGate=Done
	Done int `json:\"done\"`
	Plain int `json:\"plain\"`
	Parts []Part `json:\"parts\"`
	Common `json:\",inline\"`
}
type Common struct {
	// Deprecated: gone.
	Old string `json:\"old\"`
}
type Part struct {
	// +featureGate=One
	Deep string `json:\"deep\"`
}
";

fn run(text: &str) -> Annotated {
    run_for(text, None)
}

fn run_for(text: &str, release: Option<&str>) -> Annotated {
    let types = types(&[("api/example/v1/types.go", TYPES)]);
    let features = features(&[("One", "1.30=Alpha 1.33=Beta"), ("Done", "1.20=Alpha 1.25=GA")]);
    let input = read("document", text.as_bytes(), Limits::default());
    assert_eq!(input.findings, Vec::new());
    let options = Options { release: release.and_then(Version::parse) };
    let out = annotate(&input.documents, &types, &features, &options);
    // A second run needs no edit, and has no other difference.
    let again = read("document", out.text.as_bytes(), Limits::default());
    assert_eq!(again.findings, Vec::new(), "{}", out.text);
    let twice = annotate(&again.documents, &types, &features, &options);
    assert_eq!(twice.text, out.text);
    assert_eq!(text.len().checked_add_signed(out.bytes as isize), Some(out.text.len()));
    out
}

#[test]
fn compact_v2_has_the_extension_next_to_a_reference() {
    let text = r##"{"swagger":"2.0","definitions":{"io.k8s.api.example.v1.WidgetSpec":{"properties":{"size":{"type":"integer"},"ref":{"$ref":"#/definitions/x"},"done":{"type":"integer"},"plain":{},"parts":{},"old":{"type":"string","x-kubernetes-map-type":"atomic"}}}}}"##;
    let lifecycle =
        r#""x-kubernetes-api-lifecycle":{"kubernetes":{"minVersion":"v1.33","status":"beta","featureGate":"One"}}"#;
    let expected = text
        .replace(r#"{"type":"integer"},"ref""#, &format!(r#"{{"type":"integer",{lifecycle}}},"ref""#))
        .replace(r##""#/definitions/x""##, &format!(r##""#/definitions/x",{lifecycle}"##))
        .replace(
            r#""x-kubernetes-map-type""#,
            r#""x-kubernetes-api-lifecycle":{"kubernetes":{"status":"deprecated"}},"x-kubernetes-map-type""#,
        );
    let out = run(text);
    assert_eq!(out.text, expected);
    assert_eq!((out.added, out.changed, out.removed), (3, 0, 0));
}

#[test]
fn pretty_v3_wraps_a_reference() {
    let text = r##"{
  "openapi": "3.0.0",
  "components": {
    "schemas": {
      "io.k8s.api.example.v1.WidgetSpec": {
        "properties": {
          "done": {},
          "old": {},
          "parts": {},
          "plain": {},
          "ref": {
            "$ref": "#/components/schemas/x"
          },
          "size": {"type": "integer", "format": "int32"}
        }
      }
    }
  }
}
"##;
    let expected = text
        .replace(
            "            \"$ref\": \"#/components/schemas/x\"\n",
            "            \"allOf\": [{\"$ref\": \"#/components/schemas/x\"}],
            \"x-kubernetes-api-lifecycle\": {
              \"kubernetes\": {
                \"minVersion\": \"v1.33\",
                \"status\": \"beta\",
                \"featureGate\": \"One\"
              }
            }\n",
        )
        .replace(
            "\"format\": \"int32\"}",
            "\"format\": \"int32\", \"x-kubernetes-api-lifecycle\": {\"kubernetes\": {\"minVersion\": \"v1.33\", \"status\": \"beta\", \"featureGate\": \"One\"}}}",
        )
        .replace("\"old\": {}", "\"old\": {\"x-kubernetes-api-lifecycle\":{\"kubernetes\":{\"status\":\"deprecated\"}}}");
    assert_eq!(run(text).text, expected);
}

const CRD: &str = "# A comment.
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.example.com
spec:
  group: example.com
  names: {kind: Widget, plural: widgets}
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        properties:
          spec:
            properties:
              done:
                type: integer
                x-kubernetes-api-lifecycle:
                  kubernetes: {minVersion: v1.20, status: alpha, featureGate: Done}
              size: {type: integer} # how large
              ref:
                type: object
                description: |
                  Two
                  lines.

              plain: {}
              parts:
                type: array
                items:
                  properties:
                    deep:
                      type: string # behind
              old: # the old one
                description: >-
                  Folded
                  text
                x-kubernetes-validations: []
";

#[test]
fn a_definition_in_yaml_is_edited_in_its_own_style() {
    let out = run(CRD);
    assert_eq!((out.added, out.changed, out.removed), (4, 0, 1));
    let block = |indent: &str| {
        format!(
            "{indent}x-kubernetes-api-lifecycle:
{indent}  kubernetes:
{indent}    minVersion: v1.33
{indent}    status: beta
{indent}    featureGate: One
"
        )
    };
    let expected = CRD
        .replace(
            "                x-kubernetes-api-lifecycle:
                  kubernetes: {minVersion: v1.20, status: alpha, featureGate: Done}
",
            "",
        )
        .replace(
            "{type: integer} #",
            "{type: integer, \"x-kubernetes-api-lifecycle\": {\"kubernetes\": {\"minVersion\": \"v1.33\", \"status\": \"beta\", \"featureGate\": \"One\"}}} #",
        )
        .replace("                  lines.\n", &format!("                  lines.\n{}", block("                ")))
        .replace("string # behind\n", &format!("string # behind\n{}", block("                      ")))
        .replace(
            "                x-kubernetes-validations",
            "                x-kubernetes-api-lifecycle:
                  kubernetes:
                    status: deprecated
                x-kubernetes-validations",
        );
    assert_eq!(out.text, expected);
}

#[test]
fn windows_line_ends_are_kept() {
    let out = run(&CRD.replace('\n', "\r\n"));
    assert_eq!(out.text.replace("\r\n", "\n"), run(CRD).text);
    assert_eq!(out.text.matches('\n').count(), out.text.matches("\r\n").count());
}

#[test]
fn a_release_decides_about_stages() {
    let alpha = run_for(CRD, Some("v1.31"));
    assert!(alpha.text.contains("minVersion: v1.30\n"), "{}", alpha.text);
    let none = run_for(CRD, Some("v1.24"));
    assert!(!none.text.contains("featureGate: One"), "{}", none.text);
    // The gate of the field that is done was alpha then.
    assert!(none.text.contains("{minVersion: v1.20, status: alpha, featureGate: Done}"));
}

#[test]
fn extensions_of_a_schema_without_types_follow_their_gates() {
    let text = "swagger: '2.0'
definitions:
  other.Kind:
    properties:
      a:
        x-kubernetes-api-lifecycle: {kubernetes: {minVersion: v1.20, status: alpha, featureGate: Done}}
      b:
        x-kubernetes-api-lifecycle: {kubernetes: {minVersion: v1.30, status: alpha, featureGate: One}}
        type: string
";
    let out = run_for(text, Some("1.36"));
    assert_eq!((out.added, out.changed, out.removed), (0, 1, 1));
    assert!(out.text.contains("      a:\n        {}\n"), "{}", out.text);
    assert!(out.text.contains("            minVersion: v1.33\n            status: beta\n"), "{}", out.text);
}

#[test]
fn a_lifecycle_without_a_place_is_reported() {
    let text = "swagger: '2.0'
x-size: &size {type: integer}
definitions:
  io.k8s.api.example.v1.Part:
    properties: {other: {}}
  io.k8s.api.example.v1.WidgetSpec:
    properties: {size: *size, ref: &ref {type: object}, done: {}, plain: *ref, parts: {}, old: }
";
    let out = run(text);
    assert_eq!(out.text, text);
    let told: Vec<String> = out.findings.iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 4, "{told:#?}");
    assert!(told[0].starts_with("api/example/v1/types.go:23:2: KS8314"), "{told:#?}");
    assert!(told[1].contains("\"size\" stands behind an alias"), "{told:#?}");
    assert!(told[2].contains("\"ref\" has an anchor"), "{told:#?}");
    assert!(told[3].contains("\"old\" is no object"), "{told:#?}");
}
