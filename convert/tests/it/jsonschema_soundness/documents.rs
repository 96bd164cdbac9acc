//! Kinds of whole documents.

use super::sources::below;
use kubeshape_convert::jsonschema::{Draft, Options, from_definition, kinds};
use kubeshape_schema::{Bump, Code, Gvk, Profile, Property, Schema, read};
use kubeshape_yaml::{Limits, Stream, Tape};
use serde_json::{Value, json};

/// Calls `check` with the definitions of a document.
fn with_definitions(bytes: &[u8], check: impl for<'a> FnOnce(&'a [Property<'a>])) {
    let Ok(mut stream) = Stream::new(bytes, Limits::default()) else { return };
    let text = stream.source();
    let mut tape = Tape::new();
    let Some(Ok(())) = stream.next(&mut tape) else { return };
    let Some(root) = tape.document(text).root() else { return };
    let v3 = root.get("components").and_then(|components| components.get("schemas"));
    let Some(section) = v3.or_else(|| root.get("definitions")) else { return };
    let arena = Bump::new();
    let mut reader = read::Reader::new(&arena, read::Rules::Document(Profile::Faithful));
    check(reader.properties(section));
}

fn convert<'a>(
    definitions: &'a [Property<'a>],
    (gvk, name): (Gvk<'a>, &str),
    options: Options<'_>,
) -> (Value, Vec<Code>) {
    let find =
        |name: &str| -> Option<&'a Schema<'a>> { definitions.iter().find(|p| p.name == name).map(|p| &p.schema) };
    let schema = find(name).expect("a kind's definition");
    let result = from_definition(name, schema, Some(gvk), &find, options);
    let value = serde_json::from_slice(&result.value).expect("printed JSON");
    (value, result.notes.iter().map(|note| note.code).collect())
}

fn validator(schema: &Value, label: &str) -> jsonschema::Validator {
    jsonschema::meta::validate(schema).unwrap_or_else(|error| panic!("{label}: {error}"));
    let build = jsonschema::options().should_validate_formats(false).build(schema);
    build.unwrap_or_else(|error| panic!("{label}: {error}"))
}

const POD: &str = r##"{
  "m.Pod": {"type": "object", "properties": {"apiVersion": {"type": "string"}, "kind": {"type": "string"},
    "spec": {"default": {}, "allOf": [{"$ref": "#/components/schemas/m.Spec"}]}},
    "x-kubernetes-group-version-kind": [{"group": "", "kind": "Pod", "version": "v1"}]},
  "m.Spec": {"type": "object", "properties": {"port": {"$ref": "#/components/schemas/IntOrString"}, "next": {"$ref": "#/components/schemas/m.Spec"}}},
  "IntOrString": {"oneOf": [{"type": "integer"}, {"type": "string"}], "format": "int-or-string"}}"##;

#[test]
fn a_kind_of_a_document_is_closed_where_fields_are_declared() {
    let document = format!(r#"{{"components": {{"schemas": {POD}}}}}"#);
    with_definitions(document.as_bytes(), |definitions| {
        let arena = Bump::new();
        let kind = kinds(definitions.iter().map(|p| (p.name, &p.schema)), &arena)[0];
        for (draft, strict) in
            [(Draft::D7, false), (Draft::D7, true), (Draft::D2020_12, false), (Draft::D2020_12, true)]
        {
            let (schema, notes) = convert(definitions, kind, Options { draft, strict, ..Options::default() });
            assert_eq!(notes, []);
            let validator = validator(&schema, "pod");
            let pod = |spec: Value| json!({"apiVersion": "v1", "kind": "Pod", "spec": spec});
            assert!(validator.is_valid(&pod(json!({"port": 1, "next": {"port": "a"}}))), "{schema}");
            assert!(!validator.is_valid(&pod(json!({"next": {"next": {"port": null}}}))), "{schema}");
            assert!(!validator.is_valid(&json!({"apiVersion": "v2", "kind": "Pod"})), "{schema}");
            assert_eq!(validator.is_valid(&pod(json!({"next": {"more": 1}}))), !strict, "{schema}");
        }
    });
}

/// A sample of the kinds of a corpus of documents, if `KUBESHAPE_CORPUS` names one.
#[test]
fn kinds_of_published_documents_are_valid_schemas() {
    let Some(corpus) = kubeshape_corpus::folder_named_by("KUBESHAPE_CORPUS") else { return };
    let mut tried = 0;
    for file in below(&corpus.join("openapi")) {
        let label = file.display().to_string();
        let Ok(bytes) = std::fs::read(&file) else { continue };
        with_definitions(&bytes, |definitions| {
            let arena = Bump::new();
            let all = kinds(definitions.iter().map(|p| (p.name, &p.schema)), &arena);
            for (i, kind) in all.iter().enumerate().step_by(60) {
                let draft = if i % 120 == 0 { Draft::D2020_12 } else { Draft::D7 };
                for strict in [false, true] {
                    let (schema, _) = convert(definitions, *kind, Options { draft, strict, ..Options::default() });
                    validator(&schema, &format!("{label} {}", kind.1));
                    tried += 1;
                }
            }
        });
    }
    assert!(tried > 0);
}
