//! Malicious inputs that multiply.

use crate::warn::document;
use kubeshape_input::Source;
use kubeshape_lifecycle::warn::{Cluster, MAX_WARNINGS, Schemas};
use kubeshape_lifecycle::{Features, Options, Types, fields, lint};
use std::fmt::Write as _;

fn all(text: &str) -> Types {
    let (types, _) = Types::read([Source::from_text("v1/types.go", text)]);
    let (features, _) = Features::read([Source::from_text("v1/types.go", text)]);
    fields::fields(&types, &features, &Options::default());
    lint::lint(&types, &features, &Options::default());
    types
}

#[test]
fn deep_types_and_expressions_end() {
    let deep = format!("package v1\ntype A struct {{\n\tB {}int\n}}\n", "[]".repeat(4_000));
    all(&deep);
    all(&format!("package v1\nvar x = {}1{}\n", "(".repeat(4_000), ")".repeat(4_000)));
}

#[test]
fn structs_that_embed_each_other_end() {
    let text = "package v1\ntype A struct { B }\ntype B struct { A; C int `json:\"c\"` }\ntype D = E\ntype E = D\n";
    let types = all(text);
    for place in types.types() {
        let count = types.members(place).len();
        assert_eq!(count, usize::from(matches!(place.of.name.as_str(), "A" | "B")));
    }
}

#[test]
fn long_chains_of_embedded_structs_are_bounded() {
    let mut text = "package v1\n".to_owned();
    for at in 0..500 {
        let _ = writeln!(text, "type T{at} struct {{ T{}; F{at} int `json:\"f{at}\"` }}", at + 1);
    }
    let types = all(&text);
    assert!(types.types().all(|place| types.members(place).len() <= 256));
}

#[test]
fn schemas_that_name_each_other_do_not_multiply() {
    let all = (0..200).map(|at| format!("{{$ref: '#/definitions/D{at}'}}")).collect::<Vec<_>>().join(", ");
    let mut text = "swagger: '2.0'\ndefinitions:\n".to_owned();
    for at in 0..200 {
        let _ =
            writeln!(text, "  D{at}:\n    x-kubernetes-group-version-kind: [{{group: '', version: v1, kind: K{at}}}]");
        let _ = writeln!(text, "    allOf: [{all}]\n    properties: {{a: {{$ref: '#/definitions/D{at}'}}, b: {{");
        let _ = writeln!(text, "      x-kubernetes-api-lifecycle: {{kubernetes: {{status: deprecated}}}}}}}}");
    }
    let mut schemas = Schemas::default();
    schemas.add(&document(&text));
    let deep = format!("{{apiVersion: v1, kind: K0, a: {}1{}}}", "{b: 1, a: ".repeat(200), "}".repeat(200));
    let deep = document(&deep);
    assert_eq!(schemas.warnings(deep.root(), &Cluster::default()).len(), MAX_WARNINGS);
}

#[test]
fn a_declaration_has_at_most_sixteen_fields() {
    let names: Vec<String> = (0..4_000).map(|at| format!("F{at}")).collect();
    let types = all(&format!("package v1\ntype A struct {{\n\t{} int\n}}\n", names.join(", ")));
    assert!(types.types().all(|place| place.of.fields.len() == 16));
}

#[test]
fn a_comment_has_at_most_1024_lines() {
    let comment = "\t// The gate Wide.\n".repeat(1_023);
    let field = "\t// +featureGate=Wide\n\tB int `json:\"b\"`\n";
    let count = |text: &str| {
        let types = all(text);
        let place = types.types().next().expect("a type");
        let field = &place.of.fields[0];
        (place.file.lines(&field.comments).count(), fields::Tags::of(place.file, field).gates.len())
    };
    assert_eq!(count(&format!("package v1\ntype A struct {{\n{comment}{field}}}\n")), (1_024, 1));
    assert_eq!(count(&format!("package v1\ntype A struct {{\n{comment}{comment}{field}}}\n")), (1_024, 0));
}

#[test]
fn a_gate_has_at_most_128_stages() {
    let comment = "\t// alpha: v1.20\n".repeat(4_000);
    let spec = "\t\t{Default: false, PreRelease: featuregate.Alpha},\n".repeat(4_000);
    let text = format!(
        "package features\nconst (\n{comment}\tWide featuregate.Feature = \"Wide\"\n)\n\
         var all = map[featuregate.Feature]featuregate.VersionedSpecs{{\n\tWide: {{\n{spec}\t}},\n}}\n"
    );
    let (features, _) = Features::read([Source::from_text("features.go", text)]);
    let gate = features.get("Wide").expect("a gate");
    assert_eq!((gate.comments.len(), gate.specs.len()), (128, 128));
}
