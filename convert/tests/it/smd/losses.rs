//! Reported losses.

use super::read_yaml;
use kubeshape_convert::smd::{Options, Profile, SmdCompat, losses};
use kubeshape_schema::{Bump, Dialect, Note, read};
use kubeshape_yaml::{Document, Limits, Stream, Tape};

#[test]
fn losses_are_noted_once_per_location_and_code() {
    let source = "
type: object
description: d
required: [a]
nullable: true
default: {}
properties:
  a: {type: string, format: date, pattern: x, title: t, default: z}
  b: {x-kubernetes-int-or-string: true, nullable: true}
  c: {type: array, maxItems: 2, items: {type: integer, format: int32, default: 1, enum: [1]}}
  d: {x-kubernetes-preserve-unknown-fields: true}
";
    let arena = Bump::new();
    let mut tape = Tape::new();
    let mut stream = Stream::new(source.as_bytes(), Limits::default()).expect("short");
    stream.next(&mut tape).expect("one document").expect("the test's YAML is right");
    let document = tape.document(source);
    let schema = read::Reader::new(&arena, read::Rules::Crd).schema(document.root().expect("a node"));
    let noted = |compat| {
        let mut notes = Vec::new();
        losses::of_structural(&schema, compat, &mut notes);
        shown(&notes, document)
    };
    let mut expected = vec![
        "SmdDescription  description",
        "SmdValidation  required",
        "SmdNullable  nullable",
        "SmdDefault  default",
        "SmdDescription /properties/a title",
        "SmdUntyped /properties/a type, format",
        "SmdValidation /properties/a pattern",
        "SmdUntyped /properties/b x-kubernetes-int-or-string",
        "SmdNullable /properties/b nullable",
        "SmdValidation /properties/c maxItems",
        "SmdValidation /properties/c/items format, enum",
        "SmdDefault /properties/c/items default",
    ];
    assert_eq!(noted(SmdCompat::V63), expected);
    expected.remove(8);
    assert_eq!(noted(SmdCompat::V64), expected);
}

fn shown(notes: &[Note<'_>], document: Document<'_>) -> Vec<String> {
    notes.iter().map(|n| format!("{:?} {} {}", n.code, document.pointer(n.at), n.detail)).collect()
}

/// Returns the losses of definitions written as YAML.
fn lost(source: &str, dialect: Dialect, profile: Profile) -> Vec<String> {
    read_yaml(source, profile, |definitions, document| {
        let options = Options { profile, ..Options::default() };
        let mut notes = Vec::new();
        losses::of_definitions(definitions, dialect, options, &mut notes);
        shown(&notes, document)
    })
}

#[test]
fn members_that_are_ignored_next_to_others_are_noted() {
    let preserve = "x-kubernetes-preserve-unknown-fields";
    let cases: [(String, Dialect, &[&str]); 9] = [
        ("{properties: {}, additionalProperties: {}}".into(), Dialect::V2, &["SmdFields /a additionalProperties"]),
        (
            format!("{{properties: {{}}, additionalProperties: {{}}, {preserve}: true}}"),
            Dialect::V2,
            &["SmdUntyped /a additionalProperties"],
        ),
        ("{type: object, additionalProperties: false}".into(), Dialect::V2, &["SmdValidation /a additionalProperties"]),
        ("{items: {}, allOf: [{$ref: x}]}".into(), Dialect::V2, &["SmdValidation /a allOf", "SmdUntyped /a items"]),
        (
            format!("{{type: array, {preserve}: true, items: {{}}}}"),
            Dialect::V2,
            &["SmdFields /a x-kubernetes-preserve-unknown-fields"],
        ),
        ("{type: [string, integer]}".into(), Dialect::V3, &["SmdFields /a type"]),
        (
            "{type: array, items: {allOf: [{$ref: '#/components/schemas/a'}], properties: {c: {}}}}".into(),
            Dialect::V3,
            &["SmdFields /a/items properties"],
        ),
        (
            "{type: object, properties: {b: {}}, anyOf: [{properties: {c: {}}}]}".into(),
            Dialect::V3,
            &["SmdValidation /a anyOf", "SmdFields /a allOf, anyOf or oneOf"],
        ),
        (
            "{x-my: 1, readOnly: true, discriminator: d}".into(),
            Dialect::V2,
            &["SmdDescription /a readOnly, x-my", "SmdValidation /a discriminator"],
        ),
    ];
    for (schema, dialect, expected) in cases {
        assert_eq!(lost(&format!("a: {schema}"), dialect, Profile::Kube), expected, "{schema}");
    }
}

#[test]
fn references_that_lead_to_no_type_are_noted() {
    let source = "
a: {$ref: '#/components/schemas/b'}
b: {type: array, items: {$ref: '#/components/schemas/a'}}
c: {type: array, items: {$ref: 'other.yaml#/b'}}
d: {type: array, items: {$ref: 'other.yaml#/e'}}
";
    assert_eq!(
        lost(source, Dialect::V3, Profile::Kube),
        [
            "SmdReference /a #/components/schemas/b",
            "SmdReference /b/items #/components/schemas/a",
            "SmdReference /d/items other.yaml#/e",
        ]
    );
    assert_eq!(
        lost(source, Dialect::V3, Profile::Faithful),
        ["SmdReference /c/items other.yaml#/b", "SmdReference /d/items other.yaml#/e"]
    );
}

#[test]
fn extensions_that_do_not_affect_the_result_are_noted() {
    let source = "a: {type: string, x-kubernetes-unions: [], x-nullable: true, x-kubernetes-list-type: set}";
    let noted = |extensions: &str| vec![format!("SmdDescription /a {extensions}")];
    assert_eq!(lost(source, Dialect::V3, Profile::Kube), noted("x-kubernetes-unions, x-nullable"));
    assert_eq!(lost(source, Dialect::V2, Profile::Kube), noted("x-nullable"));
    assert_eq!(lost(source, Dialect::V3, Profile::Faithful), noted("x-nullable"));
}
