//! The rules of the direct converter, one test each.

use super::{read_yaml, show};
use kubeshape_convert::smd::{Options, SmdCompat, from_v3};

/// Converts definitions written as YAML and prints their types without the built-in ones.
fn convert(source: &str, preserve_unknown: bool, compat: SmdCompat) -> Result<String, Vec<String>> {
    let options = Options { preserve_unknown, compat, ..Options::default() };
    read_yaml(source, options.profile, |definitions, _| show(from_v3::convert(definitions, options)))
}

/// Returns the one type that a schema written as YAML becomes.
fn atom(schema: &str) -> String {
    let converted = convert(&format!("a: {schema}"), false, SmdCompat::V63).expect("it converts");
    let inner = converted.strip_prefix(r#"{"name":"a","#).expect("the type is there");
    format!("{{{inner}")
}

fn errors(schema: &str) -> Vec<String> {
    convert(&format!("a: {schema}"), false, SmdCompat::V63).err().unwrap_or_default()
}

const ANY_LIST: &str = r#""list":{"elementType":{"namedType":"__untyped_atomic_"},"elementRelationship":"atomic"}"#;
const ANY_MAP: &str = r#""map":{"elementType":{"namedType":"__untyped_deduced_"}}"#;

#[test]
fn an_object_without_properties_is_free_form() {
    assert_eq!(atom("{type: object}"), format!("{{{ANY_MAP}}}"));
    assert_eq!(atom("{type: object, properties: {}}"), format!("{{{ANY_MAP}}}"));
}

#[test]
fn an_object_with_properties_refuses_unknown_keys() {
    assert_eq!(
        atom("{type: object, properties: {b: {type: integer}, a: {type: string}}}"),
        r#"{"map":{"fields":[{"name":"a","type":{"scalar":"string"}},{"name":"b","type":{"scalar":"numeric"}}]}}"#
    );
}

#[test]
fn preserving_unknown_fields_is_inherited_by_inlined_schemas() {
    let inner = r#"{"map":{"fields":[{"name":"c","type":{"scalar":"boolean"}}],"elementType":{"namedType":"__untyped_deduced_"}}}"#;
    assert_eq!(
        atom(
            "{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {b: {type: object, properties: {c: {type: boolean}}}}}"
        ),
        format!(
            r#"{{"map":{{"fields":[{{"name":"b","type":{inner}}}],"elementType":{{"namedType":"__untyped_deduced_"}}}}}}"#
        )
    );
    let global = convert("a: {type: object, properties: {c: {type: boolean}}}", true, SmdCompat::V63);
    assert_eq!(global, Ok(inner.replacen('{', r#"{"name":"a","#, 1)));
}

#[test]
fn additional_properties_are_the_element_type() {
    let with = |value: &str| {
        atom(&format!("{{type: object, properties: {{p: {{type: string}}}}, additionalProperties: {value}}}"))
    };
    let fields = r#""fields":[{"name":"p","type":{"scalar":"string"}}]"#;
    assert_eq!(with("false"), format!(r#"{{"map":{{{fields}}}}}"#));
    assert_eq!(with("true"), format!(r#"{{"map":{{{fields},"elementType":{{"namedType":"__untyped_deduced_"}}}}}}"#));
    assert_eq!(with("{type: number}"), format!(r#"{{"map":{{{fields},"elementType":{{"scalar":"numeric"}}}}}}"#));
    assert_eq!(atom("{type: object, additionalProperties: false}"), r#"{"map":{}}"#);
}

#[test]
fn a_value_without_type_has_every_type() {
    let any = format!(r#"{{"scalar":"untyped",{ANY_LIST},{ANY_MAP}}}"#);
    assert_eq!(atom("{x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}"), any);
    assert_eq!(atom("{x-kubernetes-preserve-unknown-fields: true}"), any);
}

#[test]
fn the_format_decides_the_type_of_a_string() {
    assert_eq!(atom("{type: string}"), r#"{"scalar":"string"}"#);
    assert_eq!(atom("{type: string, format: byte}"), r#"{"scalar":"string"}"#);
    assert_eq!(atom("{type: string, format: date}"), r#"{"scalar":"untyped"}"#);
    assert_eq!(atom("{type: integer, format: int32}"), r#"{"scalar":"numeric"}"#);
}

#[test]
fn lists_are_merged_by_their_list_type_or_patch_strategy() {
    let list = |more: &str| atom(&format!("{{type: array, items: {{type: string}}, {more}}}"));
    let with =
        |more: &str| format!(r#"{{"list":{{"elementType":{{"scalar":"string"}},"elementRelationship":{more}}}}}"#);
    assert_eq!(list(""), with(r#""atomic""#));
    assert_eq!(list("x-kubernetes-list-type: atomic, x-kubernetes-patch-strategy: merge"), with(r#""atomic""#));
    assert_eq!(list("x-kubernetes-list-type: set, x-kubernetes-list-map-keys: [a]"), with(r#""associative""#));
    let keyed = with(r#""associative","keys":["b","a"]"#);
    assert_eq!(list("x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [b, a]"), keyed);
    assert_eq!(list("x-kubernetes-patch-strategy: merge"), with(r#""associative""#));
    let merged = with(r#""associative","keys":["k"]"#);
    assert_eq!(list("x-kubernetes-patch-strategy: 'merge,retainKeys', x-kubernetes-patch-merge-key: k"), merged);
    assert_eq!(list("x-kubernetes-patch-strategy: retainKeys"), with(r#""atomic""#));
}

#[test]
fn a_reference_keeps_its_default_and_its_map_type_but_no_list_type() {
    for reference in ["$ref: '#/components/schemas/x.y'", "allOf: [{$ref: '#/components/schemas/x.y'}]"] {
        let field =
            format!("{reference}, default: {{}}, x-kubernetes-map-type: granular, x-kubernetes-list-type: what");
        assert_eq!(
            atom(&format!("{{type: object, properties: {{r: {{{field}}}}}}}")),
            r#"{"map":{"fields":[{"name":"r","type":{"namedType":"x.y","elementRelationship":"separable"},"default":{}}]}}"#
        );
    }
    // Two branches are not a reference, and the value has no type of its own.
    assert!(atom("{type: object, properties: {r: {allOf: [{$ref: a/b}, {$ref: a/c}]}}}").contains("untyped"));
}

#[test]
fn some_definitions_are_fixed_and_references_are_not_types() {
    let models = "io.k8s.apimachinery.pkg.api.resource.Quantity: {type: string}
io.k8s.apimachinery.pkg.runtime.RawExtension: {type: object}
r: {$ref: '#/x'}";
    assert_eq!(
        convert(models, false, SmdCompat::V63),
        Ok(format!(
            "{}\n{{\"name\":\"io.k8s.apimachinery.pkg.runtime.RawExtension\",\"scalar\":\"untyped\",{ANY_LIST},{}}}",
            r#"{"name":"io.k8s.apimachinery.pkg.api.resource.Quantity","scalar":"untyped"}"#,
            r#""map":{"elementType":{"namedType":"__untyped_atomic_"},"elementRelationship":"atomic"}"#
        ))
    );
}

#[test]
fn types_and_fields_are_in_byte_order() {
    let own = convert("b: {type: string}\na: {type: string}", false, SmdCompat::V63).expect("it converts");
    assert!(own.starts_with(r#"{"name":"a""#));
    let fields = atom("{type: object, properties: {\"\u{fb33}\": {}, \"\u{1f600}\": {}}}");
    assert!(fields.find('\u{fb33}') < fields.find('\u{1f600}'), "{fields}");
}

#[test]
fn only_v64_has_nullable() {
    let source = "a: {type: object, nullable: true, properties: {s: {type: string, nullable: true}, r: {nullable: true, allOf: [{$ref: x}]}}}";
    let say = |compat| convert(source, false, compat).expect("it converts");
    assert!(!say(SmdCompat::V63).contains("nullable"));
    assert_eq!(
        say(SmdCompat::V64),
        "{\"name\":\"a\",\"map\":{\"fields\":[{\"name\":\"r\",\"type\":{\"namedType\":\"x\",\"nullable\":true}},\
         {\"name\":\"s\",\"type\":{\"scalar\":\"string\",\"nullable\":true}}]}}"
    );
}

#[test]
fn all_errors_are_reported_with_upstreams_messages() {
    let cases = [
        ("{type: array, x-kubernetes-list-type: map, items: {type: object}}", "a: missing map keys"),
        ("{type: array, x-kubernetes-list-type: odd, items: {type: object}}", "a: unknown list type odd"),
        ("{type: array, x-kubernetes-patch-strategy: odd, items: {}}", "a: unknown patch strategy odd"),
        ("{type: object, x-kubernetes-map-type: odd}", "a: unknown map type odd"),
        ("{type: odd}", "a: unrecognized type: 'odd'"),
        ("{type: array}", "a: `items` must be specified on arrays"),
        ("{type: array, items: [{}]}", "a: structural schema arrays must have exactly one member subtype"),
        (
            "{type: object, properties: {p: {type: object, additionalProperties: {type: odd}}}}",
            "inlined in inlined in a: unrecognized type: 'odd'",
        ),
    ];
    for (schema, expected) in cases {
        assert_eq!(errors(schema), [expected], "{schema}");
    }
    assert_eq!(errors("{type: object, properties: {p: {type: array}, q: {type: odd}}}").len(), 2);
}

#[test]
fn extensions_of_odd_kinds_are_errors_that_show_them() {
    let cases = [
        ("{type: array, x-kubernetes-list-type: 5, items: {}}", "a: unknown list type 5"),
        ("{type: array, x-kubernetes-list-type: null, items: {}}", "a: unknown list type <nil>"),
        (
            "{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: k, items: {}}",
            "a: uninterpreted map keys: \"k\"",
        ),
        (
            "{type: array, x-kubernetes-patch-strategy: merge, x-kubernetes-patch-merge-key: [k], items: {}}",
            "a: uninterpreted merge key: [\"k\"]",
        ),
        ("{type: array, x-kubernetes-patch-strategy: true, items: {}}", "a: unknown patch strategy true"),
        ("{type: object, x-kubernetes-map-type: {}}", "a: unknown map type {}"),
    ];
    for (schema, expected) in cases {
        assert_eq!(errors(schema), [expected], "{schema}");
    }
}

#[test]
fn of_a_list_of_keys_the_strings_are_used() {
    let list = |keys: &str| {
        let map = "type: array, items: {type: string}, x-kubernetes-list-type: map";
        atom(&format!("{{{map}, x-kubernetes-list-map-keys: {keys}}}"))
    };
    let with = |more: &str| {
        format!(r#"{{"list":{{"elementType":{{"scalar":"string"}},"elementRelationship":"associative"{more}}}}}"#)
    };
    assert_eq!(list("[a, 1, null, b]"), with(r#","keys":["a","b"]"#));
    assert_eq!(list("[]"), with(""));
}

#[test]
fn of_several_types_the_first_is_used() {
    assert_eq!(atom("{type: [string, 'null']}"), r#"{"scalar":"string"}"#);
    assert_eq!(atom("{type: []}"), atom("{}"));
    assert_eq!(errors("{type: [odd, string]}"), ["a: unrecognized type: 'odd'"]);
}

#[test]
fn a_reference_is_the_part_after_the_last_slash() {
    let field = |reference: &str| atom(&format!("{{type: object, properties: {{r: {{$ref: '{reference}'}}}}}}"));
    let named = |name: &str| format!(r#"{{"map":{{"fields":[{{"name":"r","type":{{"namedType":"{name}"}}}}]}}}}"#);
    assert_eq!(field("#/components/schemas/a~1b"), named("a~1b"));
    assert_eq!(field("#/components/schemas/a b"), named("a%20b"));
    assert_eq!(field("other.yaml#/x/y"), named("y"));
    // Nothing follows it, so the value has no type.
    let any = format!(r#"{{"scalar":"untyped",{ANY_LIST},{ANY_MAP}}}"#);
    assert_eq!(field("#/a/"), format!(r#"{{"map":{{"fields":[{{"name":"r","type":{any}}}]}}}}"#));
}
