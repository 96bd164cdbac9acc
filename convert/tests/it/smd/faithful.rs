//! Improvements over upstream, one test each.

use super::{read_yaml, show};
use kubeshape_convert::smd::{Options, Profile, SmdCompat, from_v2, from_v3};

const FAITHFUL: Options = Options { preserve_unknown: false, compat: SmdCompat::V64, profile: Profile::Faithful };

fn convert_v3(source: &str) -> Result<String, Vec<String>> {
    read_yaml(source, Profile::Faithful, |definitions, _| show(from_v3::convert(definitions, FAITHFUL)))
}

fn convert_v2(source: &str) -> Result<String, Vec<String>> {
    read_yaml(source, Profile::Faithful, |_, document| show(from_v2::convert(document.root(), FAITHFUL)))
}

fn only_type(converted: Result<String, Vec<String>>) -> String {
    let converted = converted.expect("it converts");
    let inner = converted.strip_prefix(r#"{"name":"a","#).expect("the type is there");
    format!("{{{inner}")
}

/// Returns the type that a v2 schema becomes.
fn v2(schema: &str) -> String {
    only_type(convert_v2(&format!("a: {schema}")))
}

/// Returns the type that a v3 schema becomes.
fn v3(schema: &str) -> String {
    only_type(convert_v3(&format!("a: {schema}")))
}

const ANY_LIST: &str = r#""list":{"elementType":{"namedType":"__untyped_atomic_"},"elementRelationship":"atomic"}"#;
const ANY_MAP: &str = r#""map":{"elementType":{"namedType":"__untyped_deduced_"}}"#;
const OPEN: &str = r#""elementType":{"namedType":"__untyped_deduced_"}"#;

#[test]
fn a_reference_leads_to_the_definition_that_it_names() {
    let cases = [
        ("x/b", "#/components/schemas/x~1b"),
        ("x/b", "#/components/schemas/x/b"),
        ("a~b", "#/components/schemas/a~0b"),
        ("P\u{ab}x\u{bb}", "#/components/schemas/P%C2%ABx%C2%BB"),
        ("P\u{ab}x\u{bb}", "#/components/schemas/P\u{ab}x\u{bb}"),
        ("a b", "#/definitions/a b"),
    ];
    for (name, reference) in cases {
        let source = format!("{name}: {{type: array, items: {{$ref: '{reference}'}}}}\ny/b: {{type: string}}");
        let types = convert_v3(&source).expect("it converts");
        assert!(types.contains(&format!(r#""namedType":"{name}""#)), "{reference}: {types}");
    }
}

#[test]
fn a_reference_that_leads_nowhere_is_any_value() {
    let references = [
        "b.yaml#/a",
        "#/components/schemas/b",
        "#/paths/a",
        "#",
        "https://example.com/a",
        "#/components/schemas/a/not",
    ];
    for reference in references {
        assert_eq!(
            v3(&format!("{{type: array, items: {{$ref: '{reference}'}}}}")),
            r#"{"list":{"elementType":{"namedType":"__untyped_deduced_"},"elementRelationship":"atomic"}}"#,
            "{reference}"
        );
    }
}

#[test]
fn a_schema_inside_a_definition_can_be_referred_to() {
    let source = "
a:
  type: object
  properties:
    x/y: {type: object, properties: {again: {$ref: '#/components/schemas/a/properties/x~1y'}}}
";
    let inner = r#""map":{"fields":[{"name":"again","type":{"namedType":"a/properties/x~1y"}}]}"#;
    assert_eq!(
        convert_v3(source),
        Ok(format!(
            "{}\n{}",
            format_args!(r#"{{"name":"a","map":{{"fields":[{{"name":"x/y","type":{{{inner}}}}}]}}}}"#),
            format_args!(r#"{{"name":"a/properties/x~1y",{inner}}}"#),
        ))
    );
}

#[test]
fn cyclic_inner_references_terminate() {
    let source = "a: {type: array, items: {$ref: '#/components/schemas/a/items'}}";
    assert!(convert_v3(source).is_ok_and(|types| types.contains("__untyped_deduced_")));
    let source = "a: {type: object, properties: {b: {$ref: '#/components/schemas/a/properties/b/properties/b'}}}";
    assert!(convert_v3(source).is_ok_and(|types| types.contains("__untyped_deduced_")));
}

#[test]
fn a_definition_that_is_a_reference_is_a_type_like_the_other() {
    let source = "
a: {$ref: '#/components/schemas/b'}
b: {allOf: [{$ref: '#/components/schemas/c'}]}
c: {type: object, properties: {d: {$ref: '#/components/schemas/a'}}}
u: {$ref: '#/components/schemas/v'}
v: {$ref: '#/components/schemas/u'}
w: {$ref: '#/components/schemas/u'}
";
    let map = r#""map":{"fields":[{"name":"d","type":{"namedType":"c"}}]}"#;
    let any = format!(r#""scalar":"untyped",{ANY_LIST},"map":{{{OPEN},"elementRelationship":"separable"}}"#);
    let expected = [("a", map), ("b", map), ("c", map), ("u", &any), ("v", &any), ("w", &any)]
        .map(|(name, atom)| format!(r#"{{"name":"{name}",{atom}}}"#));
    assert_eq!(convert_v3(source), Ok(expected.join("\n")));
}

#[test]
fn siblings_of_a_branch_of_all_of_are_used() {
    let field = "{type: object, allOf: [{$ref: '#/components/schemas/a'}], properties: {c: {type: string}}}";
    let expected = format!(r#"{{"map":{{"fields":[{{"name":"c","type":{{"scalar":"string"}}}}],{OPEN}}}}}"#);
    assert_eq!(
        v3(&format!("{{type: object, properties: {{r: {field}}}}}")),
        format!(r#"{{"map":{{"fields":[{{"name":"r","type":{expected}}}]}}}}"#)
    );
}

#[test]
fn unknown_fields_are_kept_where_a_branch_allows_more_than_is_declared() {
    let open = |branch: &str| {
        let declared = "b: {type: object, properties: {c: {type: string}}}";
        let converted = v3(&format!("{{type: object, properties: {{{declared}}}, anyOf: [{branch}]}}"));
        converted.matches(OPEN).count()
    };
    assert_eq!(open("{properties: {x: {}}}"), 2);
    assert_eq!(open("{properties: {b: {properties: {x: {}}}}}"), 2);
    assert_eq!(open("{allOf: [{$ref: '#/components/schemas/x'}]}"), 2);
    assert_eq!(open("{properties: {b: {properties: {c: {minLength: 1}}}}, required: [b]}"), 0);
}

#[test]
fn several_types_are_all_of_them() {
    assert_eq!(v3("{type: [string, 'null']}"), r#"{"scalar":"string"}"#);
    assert_eq!(v3("{type: [string, integer]}"), r#"{"scalar":"untyped"}"#);
    assert_eq!(v3("{type: [array, object, integer]}"), format!(r#"{{"scalar":"numeric",{ANY_LIST},{ANY_MAP}}}"#));
    assert_eq!(v3("{type: []}"), format!(r#"{{"scalar":"untyped",{ANY_LIST},{ANY_MAP}}}"#));
    assert_eq!(v3("{type: 'null'}"), r#"{"scalar":"untyped"}"#);
    assert_eq!(convert_v3("a: {type: [odd, string]}"), Err(vec!["a: unrecognized type: 'odd'".to_owned()]));
}

#[test]
fn arrays_need_no_items() {
    assert_eq!(v3("{type: array}"), format!("{{{ANY_LIST}}}"));
    assert_eq!(
        v2("{type: array, items: [{}, {}]}"),
        r#"{"list":{"elementType":{"namedType":"__untyped_deduced_"},"elementRelationship":"atomic"}}"#
    );
}

#[test]
fn null_is_allowed_in_many_ways() {
    for says in ["nullable: true, type: string", "x-nullable: true, type: string", "type: [string, 'null']"] {
        assert_eq!(
            v2(&format!("{{properties: {{b: {{{says}}}}}}}")),
            r#"{"map":{"fields":[{"name":"b","type":{"scalar":"string","nullable":true}}]}}"#
        );
    }
}

#[test]
fn additional_properties_are_used_together_with_properties() {
    assert_eq!(
        v2("{properties: {b: {type: string}}, additionalProperties: {type: integer}}"),
        r#"{"map":{"fields":[{"name":"b","type":{"scalar":"string"}}],"elementType":{"scalar":"numeric"}}}"#
    );
    assert_eq!(v2("{type: object, additionalProperties: false}"), r#"{"map":{}}"#);
}

#[test]
fn a_v2_record_needs_no_type() {
    let fields = r#""map":{"fields":[{"name":"b","type":{"scalar":"string"}}]}"#;
    assert_eq!(v2("{properties: {b: {type: string}}}"), format!("{{{fields}}}"));
    assert_eq!(v3("{properties: {b: {type: string}}}"), format!(r#"{{"scalar":"untyped",{ANY_LIST},{fields}}}"#));
}

#[test]
fn unions_are_kept() {
    assert_eq!(
        v3("{type: object, additionalProperties: false, x-kubernetes-unions: [{discriminator: b}]}"),
        r#"{"map":{"unions":[{"discriminator":"b"}]}}"#
    );
    let errors = convert_v3("a: {type: object, x-kubernetes-unions: 1}");
    assert_eq!(errors, Err(vec!["a: \"x-kubernetes-unions\" should be a list, got 1".to_owned()]));
}
