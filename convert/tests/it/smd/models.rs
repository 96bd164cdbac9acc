//! The rules of the converter through models, one test each.

use super::show;
use kubeshape_convert::smd::{Options, from_v2};
use kubeshape_yaml::{Limits, Stream, Tape};

/// Converts definitions written as YAML or JSON.
fn convert(source: &str) -> Result<String, Vec<String>> {
    let mut tape = Tape::new();
    let mut stream = Stream::new(source.as_bytes(), Limits::default()).expect("short");
    stream.next(&mut tape).expect("one document").expect("the test's YAML is right");
    show(from_v2::convert(tape.document(source).root(), Options::default()))
}

/// Returns the one type that a schema written as YAML becomes.
fn atom(schema: &str) -> String {
    let converted = convert(&format!("a: {schema}")).expect("it converts");
    let inner = converted.strip_prefix(r#"{"name":"a","#).expect("the type is there");
    format!("{{{inner}")
}

/// The form that upstream writes for any value.
const ANYTHING: &str = concat!(
    r#"{"scalar":"untyped","list":{"elementType":{"namedType":"__untyped_atomic_"},"elementRelationship":"atomic"},"#,
    r#""map":{"elementType":{"namedType":"__untyped_deduced_"},"elementRelationship":"separable"}}"#
);

fn list_of(element: &str) -> String {
    format!(r#"{{"list":{{"elementType":{element},"elementRelationship":"atomic"}}}}"#)
}

#[test]
fn a_schema_with_properties_is_a_record() {
    for schema in ["{properties: {}}", "{properties: null}", "{type: object, properties: {}}"] {
        assert_eq!(atom(schema), r#"{"map":{}}"#, "{schema}");
    }
    assert_eq!(
        atom("{properties: {b: {type: integer}}, additionalProperties: {type: string}}"),
        r#"{"map":{"fields":[{"name":"b","type":{"scalar":"numeric"}}]}}"#
    );
    assert_eq!(atom("{type: string, properties: {}}"), r#"{"scalar":"string"}"#);
}

#[test]
fn an_empty_schema_is_any_value() {
    let all_of = "{allOf: [{$ref: '#/definitions/a'}]}";
    for schema in ["{}", "null", all_of, "{additionalProperties: false}", "{type: []}"] {
        assert_eq!(atom(schema), ANYTHING, "{schema}");
    }
}

#[test]
fn a_map_has_values_of_its_schema_or_any_values() {
    let map = |element: &str| format!(r#"{{"map":{{"elementType":{element}}}}}"#);
    assert_eq!(atom("{type: object, additionalProperties: {type: boolean}}"), map(r#"{"scalar":"boolean"}"#));
    for schema in ["{type: object}", "{type: object, additionalProperties: false}"] {
        assert_eq!(atom(schema), map(ANYTHING), "{schema}");
    }
}

#[test]
fn items_that_are_not_a_schema_are_any_value() {
    for items in ["{}", "[{type: string}]", "[]", "null", "true"] {
        assert_eq!(atom(&format!("{{type: array, items: {items}}}")), list_of(ANYTHING), "{items}");
    }
}

#[test]
fn only_records_preserve_unknown_fields_and_pass_this_on() {
    let preserve = "x-kubernetes-preserve-unknown-fields: true";
    let open = r#"{"map":{"elementType":{"namedType":"__untyped_deduced_"}}}"#;
    assert_eq!(atom(&format!("{{type: array, items: {{properties: {{}}}}, {preserve}}}")), list_of(r#"{"map":{}}"#));
    assert_eq!(
        atom(&format!("{{properties: {{b: {{type: array, items: {{properties: {{}}}}}}}}, {preserve}}}")),
        open.replace("{\"map\":{", &format!(r#"{{"map":{{"fields":[{{"name":"b","type":{}}}],"#, list_of(open)))
    );
    assert_eq!(atom("{properties: {}, x-kubernetes-preserve-unknown-fields: 'true'}"), r#"{"map":{}}"#);
}

#[test]
fn references_keep_their_default_and_map_type() {
    let source = "
p/b: {type: string}
a:
  properties:
    r: {$ref: '#/definitions/p/b', default: x, x-kubernetes-map-type: atomic, x-kubernetes-list-type: odd}
top: {$ref: '#/definitions/a', x-kubernetes-map-type: of no consequence}";
    let expected = [
        concat!(
            r#"{"name":"a","map":{"fields":[{"name":"r","#,
            r#""type":{"namedType":"b","elementRelationship":"atomic"},"default":"x"}]}}"#
        ),
        r#"{"name":"p/b","scalar":"string"}"#,
    ];
    assert_eq!(convert(source), Ok(expected.join("\n")));
}

#[test]
fn raw_extension_is_replaced_where_it_is_referred_to() {
    let raw = "io.k8s.apimachinery.pkg.runtime.RawExtension";
    assert_eq!(
        convert(&format!("{raw}: {{type: object}}\nr: {{type: array, items: {{$ref: '#/definitions/{raw}'}}}}")),
        Ok([
            format!(r#"{{"name":"{raw}","map":{{"elementType":{ANYTHING}}}}}"#),
            list_of(r#"{"namedType":"__untyped_atomic_"}"#).replacen('{', r#"{"name":"r","#, 1),
        ]
        .join("\n"))
    );
}

#[test]
fn references_are_read_literally() {
    for name in ["a~1b", "a%20b", "P\u{ab}x\u{bb}", "a b"] {
        let json = format!(r##"{{"{name}":{{"type":"array","items":{{"$ref":"#/definitions/{name}"}}}}}}"##);
        let list = list_of(&format!(r#"{{"namedType":"{name}"}}"#));
        assert_eq!(convert(&json), Ok(list.replacen('{', &format!(r#"{{"name":"{name}","#), 1)));
    }
    let errors = convert(r##"{"a b":{"type":"array","items":{"$ref":"#/definitions/a%20b"}}}"##);
    assert_eq!(errors, Err(vec![r#"SchemaError(a b): unknown model in reference: "a%20b""#.to_owned()]));
}

#[test]
fn quantity_is_untyped_only_as_a_scalar() {
    let quantity = "io.k8s.apimachinery.pkg.api.resource.Quantity";
    assert_eq!(
        convert(&format!("{quantity}: {{type: string}}")),
        Ok(format!(r#"{{"name":"{quantity}","scalar":"untyped"}}"#))
    );
    assert_eq!(
        convert(&format!("{quantity}: {{type: array, items: {{type: string}}}}")),
        Ok(list_of(r#"{"scalar":"string"}"#).replacen('{', &format!(r#"{{"name":"{quantity}","#), 1))
    );
}

#[test]
fn fields_of_json_are_in_document_order_and_keep_wide_integers() {
    let source = r#"{"a":{"properties":{
        "z":{"type":"integer","default":9007199254740993},"b":{"type":"string","default":null}}}}"#;
    let expected = concat!(
        r#"{"name":"a","map":{"fields":[{"name":"z","type":{"scalar":"numeric"},"default":9007199254740993},"#,
        r#"{"name":"b","type":{"scalar":"string"}}]}}"#
    );
    assert_eq!(convert(source), Ok(expected.to_owned()));
    assert_eq!(
        atom("{properties: {z: {type: string}, b: {type: string}}}"),
        r#"{"map":{"fields":[{"name":"b","type":{"scalar":"string"}},{"name":"z","type":{"scalar":"string"}}]}}"#
    );
}

fn with_unions(unions: &str) -> String {
    format!("a: {{properties: {{}}, x-kubernetes-unions: {unions}}}")
}

#[test]
fn unions_are_kept_with_their_fields_sorted() {
    let unions = "[{discriminator: d, fields-to-discriminateBy: {b: B, a: A}}, {fields-to-discriminateBy: {c: C}}]";
    let expected = concat!(
        r#"{"name":"a","map":{"unions":[{"discriminator":"d","fields":["#,
        r#"{"fieldName":"a","discriminatorValue":"A"},{"fieldName":"b","discriminatorValue":"B"}]},"#,
        r#"{"fields":[{"fieldName":"c","discriminatorValue":"C"}]}]}}"#
    );
    assert_eq!(convert(&with_unions(unions)), Ok(expected.to_owned()));
}

#[test]
fn wrong_unions_are_errors() {
    let cases = [
        ("{}", r#"a: "x-kubernetes-unions" should be a list, got {}"#),
        ("[1]", r#"a: "x-kubernetes-unions" items should be a map of string to unions, got 1"#),
        ("[{discriminator: 1}]", r#"a: "discriminator" must be a string, got: 1"#),
        ("[{fields-to-discriminateBy: []}]", r#"a: "fields-to-discriminateBy" must be a map[string]string, got: []"#),
        ("[{fields-to-discriminateBy: {f: 1}}]", r#"a: "fields-to-discriminateBy"/f: value must be a string, got: 1"#),
        ("[{fields-to-discriminateBy: {f: v, g: v}}]", "a: Multiple fields have the same discriminated name: v"),
        ("[{discriminator: f, fields-to-discriminateBy: {f: v}}]", "a: f field appears multiple times in unions"),
    ];
    for (unions, expected) in cases {
        assert_eq!(convert(&with_unions(unions)), Err(vec![expected.to_owned()]));
    }
}

#[test]
fn schemas_without_a_model_are_refused_with_upstreams_messages() {
    let cases = [
        ("{$ref: '#/definitions/a', type: object}", "definition reference can't have a type"),
        ("{$ref: '#/definitions/a', properties: {b: {}}}", "unallowed embedded type definition"),
        ("{$ref: 'a.yaml#/definitions/a'}", r#"unallowed reference to non-definition "a.yaml#/definitions/a""#),
        ("{$ref: '#/definitions/b'}", r#"unknown model in reference: "b""#),
        ("{type: array}", "array should have exactly one sub-item"),
        ("{type: [string, integer]}", "definitions with multiple types aren't supported"),
        ("{type: file}", r#"Unknown primitive type: "file""#),
        ("{type: null}", r#"Unknown primitive type: "null""#),
    ];
    for (schema, expected) in cases {
        assert_eq!(convert(&format!("a: {schema}")), Err(vec![format!("SchemaError(a): {expected}")]), "{schema}");
        let nested = format!("a: {{properties: {{f: {{type: array, items: {{properties: {{g: {schema}}}}}}}}}}}");
        assert_eq!(convert(&nested), Err(vec![format!("SchemaError(a.f.g): {expected}")]), "{schema}");
    }
}

#[test]
fn refusals_are_in_document_order_and_before_other_errors() {
    let odd = r#"{"type":"object","x-kubernetes-map-type":"odd"}"#;
    let refused = |at: &str, ty: &str| format!("SchemaError({at}): Unknown primitive type: {ty:?}");
    let source = format!(r#"{{"b":{{"type":"B"}},"a":{{"type":"A"}},"c":{odd}}}"#);
    assert_eq!(convert(&source), Err(vec![refused("b", "B"), refused("a", "A")]));
    let nested = format!(r#"{{"c":{{"type":"array","items":{odd}}}}}"#);
    assert_eq!(convert(&nested), Err(vec!["inlined in c: unknown map type odd".to_owned()]));
}

#[test]
fn without_definitions_there_are_only_the_built_in_types() {
    let built = from_v2::convert(None, Options::default()).expect("nothing can be wrong");
    assert_eq!(built.types().len(), 2);
}
