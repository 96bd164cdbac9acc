//! The OpenAPI v2 form of structural schemas.

use kubeshape_schema::{Bump, print, read};
use kubeshape_structural::openapi_v2;
use kubeshape_yaml::{Limits, Stream, Tape};

fn v2(source: &str) -> (String, Vec<String>) {
    let mut tape = Tape::new();
    let mut stream = Stream::new(source.as_bytes(), Limits::default()).expect("readable");
    stream.next(&mut tape).expect("a document").expect("YAML");
    let arena = Bump::new();
    let schema = read::Reader::new(&arena, read::Rules::Crd).schema(tape.document(source).root().expect("a root"));
    let schema = &*arena.alloc(schema);
    let mut notes = Vec::new();
    let reduced = openapi_v2(schema, &arena, Some(&mut notes));
    let mut out = Vec::new();
    print::schema(&mut out, reduced, print::Style::V2);
    let notes = notes.iter().map(|n| format!("{} {}", n.code, n.detail)).collect();
    (String::from_utf8(out).expect("UTF-8"), notes)
}

#[test]
fn a_nullable_value_loses_type_properties_and_items_and_is_not_required() {
    let (out, notes) =
        v2("{type: object, required: [a, c], properties: {a: {type: string, nullable: true}, c: {type: string}}}");
    assert_eq!(out, r#"{"type":"object","required":["c"],"properties":{"a":{},"c":{"type":"string"}}}"#);
    assert_eq!(notes, ["KS2006 a", "KS2002 nullable, type"]);
}

#[test]
fn a_value_that_lost_its_properties_keeps_required() {
    let (out, _) = v2(
        "{type: object, properties: {p: {type: object, nullable: true, required: [a], properties: {a: {nullable: true, type: string}}}, q: {type: object, required: [x, x, z], properties: {x: {type: string, nullable: true}}}}}",
    );
    assert_eq!(
        out,
        r#"{"type":"object","properties":{"p":{"required":["a"]},"q":{"type":"object","required":["z"],"properties":{"x":{}}}}}"#
    );
}

#[test]
fn a_map_of_nullable_values_requires_nothing() {
    let (out, _) = v2("{type: object, required: [a], additionalProperties: {type: string, nullable: true}}");
    assert_eq!(out, r#"{"type":"object","additionalProperties":{}}"#);
}

#[test]
fn an_array_that_preserves_unknown_fields_keeps_only_the_extension() {
    let (out, _) = v2("{type: array, items: {type: string}, x-kubernetes-preserve-unknown-fields: true}");
    assert_eq!(out, r#"{"x-kubernetes-preserve-unknown-fields":true}"#);
}

#[test]
fn unchanged_parts_are_shared() {
    let (out, notes) = v2("{type: object, properties: {a: {type: array, items: {type: integer, format: int64}}}}");
    assert_eq!(
        out,
        r#"{"type":"object","properties":{"a":{"type":"array","items":{"type":"integer","format":"int64"}}}}"#
    );
    assert!(notes.is_empty());
}
