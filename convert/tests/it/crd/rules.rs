//! How each keyword is expressed: the smallest schema and the whole result.

use super::{spec, with};
use kubeshape_convert::crd::Options;
use kubeshape_schema::Code;

/// Checks the schema of a JSON Schema, and the codes of its losses.
#[track_caller]
fn converts(source: &str, expected: &str, codes: &[Code]) {
    let spec = spec(source, Options::default()).unwrap();
    assert_eq!((spec.json.as_str(), spec.codes.as_slice()), (expected, codes), "{source}");
}

const ANY: &str = r#"{"nullable":true,"x-kubernetes-preserve-unknown-fields":true}"#;

/// Returns the schema of a property of the spec, and the codes of the losses.
fn of_property(source: &str, name: &str) -> (serde_json::Value, Vec<Code>) {
    let spec = super::spec(source, Options::default()).unwrap();
    let json: serde_json::Value = serde_json::from_str(&spec.json).unwrap();
    (json["properties"][name].clone(), spec.codes)
}

#[test]
fn null_is_an_alternative_to_alternatives() {
    let one = r#"{"type": "object", "required": ["b"], "properties": {"b": {"type": "string", "enum": ["x"]}}}"#;
    let two = r#"{"type": "object", "required": ["b"], "properties": {"b": {"type": "string", "enum": ["y"]}}}"#;
    for inner in [
        format!(r#"{{"oneOf": [{one}, {two}]}}"#),
        format!(r#"{{"allOf": [{one}]}}"#),
        format!(r#"{{"anyOf": [{{"oneOf": [{one}, {two}]}}, {two}]}}"#),
    ] {
        let source =
            format!(r#"{{"type": "object", "properties": {{"a": {{"anyOf": [{inner}, {{"type": "null"}}]}}}}}}"#);
        let (schema, _) = of_property(&source, "a");
        assert_eq!(schema["nullable"], true, "{source}: {schema}");
        assert_eq!(schema["type"], "object", "{source}");
    }
}

#[test]
fn an_enum_of_an_alternative_is_left_out_if_the_value_may_be_null() {
    let display = r#"{"anyOf": [{"type": "string", "enum": ["a", "b"]}, {"type": "null"}]}"#;
    let branch = |kind: &str| {
        let properties = format!(r#"{{"display": {display}, "type": {{"type": "string", "const": "{kind}"}}}}"#);
        format!(r#"{{"type": "object", "required": ["type"], "properties": {properties}}}"#)
    };
    let source = format!(r#"{{"type": "object", "oneOf": [{}, {}]}}"#, branch("on"), branch("off"));
    let (schema, codes) = of_property(&source, "display");
    assert_eq!(schema, serde_json::json!({"type": "string", "nullable": true}));
    assert!(codes.contains(&Code::ToCrdValidation), "{codes:?}");
    let spec = super::spec(&source, Options::default()).unwrap();
    assert!(!spec.json.contains(r#""enum":["a","b"]"#), "{}", spec.json);
    assert!(spec.json.contains(r#""enum":["on"]"#), "{}", spec.json);
}

#[test]
fn types_and_null() {
    for (source, expected) in [
        (r#"{"type": "string"}"#, r#"{"type":"string"}"#),
        (r#"{"type": ["string", "null"]}"#, r#"{"type":"string","nullable":true}"#),
        (r#"{"type": ["string", "integer"]}"#, r#"{"x-kubernetes-int-or-string":true}"#),
        (r#"{"anyOf": [{"type": "integer"}, {"type": "null"}]}"#, r#"{"type":"integer","nullable":true}"#),
        (r#"{"oneOf": [{"type": "integer"}, {"type": "string"}]}"#, r#"{"x-kubernetes-int-or-string":true}"#),
        (r#"{"type": ["integer", "number"]}"#, r#"{"type":"number"}"#),
        (r#"{"type": "object"}"#, r#"{"type":"object","x-kubernetes-preserve-unknown-fields":true}"#),
        (
            r#"{"type": "array"}"#,
            r#"{"type":"array","items":{"nullable":true,"x-kubernetes-preserve-unknown-fields":true}}"#,
        ),
    ] {
        converts(source, expected, &[]);
    }
    converts(
        r#"{"type": ["string", "boolean"]}"#,
        r#"{"x-kubernetes-preserve-unknown-fields":true}"#,
        &[Code::ToCrdType],
    );
    converts(
        r#"{"allOf": [{"minLength": 1}]}"#,
        r#"{"type":"string","nullable":true,"minLength":1}"#,
        &[Code::ToCrdAssumed],
    );
}

#[test]
fn keywords_of_values() {
    for (source, expected) in [
        (r#"{"type": "integer", "exclusiveMinimum": 0}"#, r#"{"type":"integer","minimum":0,"exclusiveMinimum":true}"#),
        (r#"{"const": "a"}"#, r#"{"type":"string","enum":["a"]}"#),
        (
            r#"{"type": "integer", "allOf": [{"minimum": 1}, {"minimum": 3, "maximum": 9}]}"#,
            r#"{"type":"integer","maximum":9,"minimum":3}"#,
        ),
        (
            r#"{"type": "string", "pattern": "a", "allOf": [{"pattern": "b"}]}"#,
            r#"{"type":"string","pattern":"b","allOf":[{"pattern":"a"}]}"#,
        ),
        (r#"{"type": "string", "pattern": "^\\u00e9$"}"#, r#"{"type":"string","pattern":"^\\x{00e9}$"}"#),
        (
            r#"{"type": "array", "items": {"type": "string"}, "uniqueItems": true}"#,
            r#"{"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"set"}"#,
        ),
    ] {
        converts(source, expected, &[]);
    }
    converts(r#"{"type": "string", "pattern": "^(?!a)"}"#, r#"{"type":"string"}"#, &[Code::ToCrdPattern]);
    converts(r#"{"type": "string", "format": "duration"}"#, r#"{"type":"string"}"#, &[Code::ToCrdFormat]);
    converts(r#"{"type": "string", "readOnly": true, "x-a": 1}"#, r#"{"type":"string"}"#, &[Code::ToCrdDropped; 2]);
    // A server refuses an empty string of this format.
    converts(r#"{"type": "string", "format": "byte"}"#, r#"{"type":"string"}"#, &[Code::ToCrdFormat]);
    converts(
        r#"{"type": "string", "contentEncoding": "base64", "contentMediaType": "a/b"}"#,
        r#"{"type":"string"}"#,
        &[Code::ToCrdDropped; 2],
    );
}

#[test]
fn contains_is_a_rule_about_scalars() {
    for (item, keywords, rules) in [
        ("string", r#""contains": {"const": "a"}"#, &["self.exists(item, item in ['a'])"][..]),
        (
            "string",
            r#""contains": {"type": "string", "minLength": 2, "minimum": 1}"#,
            &["self.exists(item, size(item) >= 2)"],
        ),
        (
            "string",
            r#""contains": {"pattern": "^a"}, "minContains": 2, "maxContains": 3"#,
            &["self.filter(item, item.matches('^a')).size() >= 2", "self.filter(item, item.matches('^a')).size() <= 3"],
        ),
        (
            "integer",
            r#""contains": {"minimum": 1, "exclusiveMaximum": 9, "multipleOf": 2, "maxLength": 1}"#,
            &["self.exists(item, item >= 1 && item < 9 && item % 2 == 0)"],
        ),
        (
            "boolean",
            r#""contains": {"enum": [true, "a"]}, "minContains": 0, "maxContains": 1"#,
            &["self.filter(item, item in [true]).size() <= 1"],
        ),
        ("string", r#""contains": {}, "minContains": 2"#, &["size(self) >= 2"]),
        ("string", r#""contains": {"const": "a"}, "minContains": 0"#, &[]),
        ("string", r#""minContains": 3"#, &[]),
    ] {
        let source = format!(r#"{{"type": "array", "items": {{"type": "{item}"}}, {keywords}}}"#);
        let rules: Vec<String> = rules.iter().map(|rule| format!(r#"{{"rule":"{rule}"}}"#)).collect();
        let rules = rules.join(",");
        let rules = if rules.is_empty() { rules } else { format!(r#","x-kubernetes-validations":[{rules}]"#) };
        converts(&source, &format!(r#"{{"type":"array","items":{{"type":"{item}"}}{rules}}}"#), &[]);
    }
    for (items, contains) in [
        (r#"{"type": "integer"}"#, r#"{"minimum": 0.5}"#),
        (r#"{"type": "string"}"#, r#"{"type": "integer"}"#),
        (r#"{"type": "string"}"#, r#"{"anyOf": [{"const": "a"}, {"const": "b"}]}"#),
        (r#"{"type": ["string", "null"]}"#, r#"{"const": "a"}"#),
        (r#"{"type": "number"}"#, r#"{"minimum": 1}"#),
    ] {
        let source = format!(r#"{{"type": "array", "items": {items}, "contains": {contains}}}"#);
        let spec = spec(&source, Options::default()).unwrap();
        assert!(!spec.json.contains("x-kubernetes-validations"), "{source}: {}", spec.json);
        assert_eq!(spec.codes, [Code::ToCrdValidation], "{source}");
    }
}

#[test]
fn objects_and_maps() {
    converts(
        r#"{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a", "b"], "additionalProperties": false}"#,
        concat!(
            r#"{"type":"object","required":["a","b"],"properties":{"a":{"type":"string"},"#,
            r#""b":{"nullable":true,"x-kubernetes-preserve-unknown-fields":true}}}"#
        ),
        &[Code::ToCrdClosed],
    );
    converts(
        r#"{"type": "object", "additionalProperties": {"type": "integer"}, "propertyNames": {"pattern": "^a'", "maxLength": 3}}"#,
        concat!(
            r#"{"type":"object","additionalProperties":{"type":"integer"},"x-kubernetes-validations":"#,
            r#"[{"rule":"self.all(key, key.matches('^a\\'') \u0026\u0026 size(key) \u003c= 3)"}]}"#
        )
        .replace("\\u0026", "&")
        .replace("\\u003c", "<")
        .as_str(),
        &[],
    );
    converts(
        r#"{"type": "object", "patternProperties": {"^x": {"type": "integer"}}, "additionalProperties": false}"#,
        concat!(
            r#"{"type":"object","additionalProperties":{"type":"integer"},"x-kubernetes-validations":"#,
            r#"[{"rule":"self.all(key, key.matches('^x'))"}]}"#
        ),
        &[],
    );
    converts(
        r#"{"type": "object", "properties": {"a": {"type": "string"}}, "dependentRequired": {"a": ["b"]}}"#,
        concat!(
            r#"{"type":"object","allOf":[{"anyOf":[{"not":{"required":["a"]}},{"required":["b"]}]}],"#,
            r#""properties":{"a":{"type":"string"},"b":{"nullable":true,"x-kubernetes-preserve-unknown-fields":true}}}"#
        ),
        &[],
    );
    converts(
        r#"{"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "string"}}"#,
        r#"{"type":"object","properties":{"a":{"type":"string"}},"x-kubernetes-preserve-unknown-fields":true}"#,
        &[Code::ToCrdValidation],
    );
}

#[test]
fn alternatives_declare_their_fields_once() {
    converts(
        concat!(
            r#"{"type": "object", "required": ["t"], "oneOf": [{"properties": {"t": {"const": "a"}, "n": {"type": "integer", "minimum": 1}}},"#,
            r#" {"properties": {"t": {"const": "b"}, "n": {"type": "integer"}}}]}"#
        ),
        concat!(
            r#"{"type":"object","required":["t"],"oneOf":[{"properties":{"n":{"minimum":1},"t":{"enum":["a"]}}},"#,
            r#"{"properties":{"t":{"enum":["b"]}}}],"properties":{"n":{"type":"integer"},"t":{"type":"string"}}}"#
        ),
        &[],
    );
    // Alternatives of different types apply at once.
    converts(
        r#"{"anyOf": [{"type": "integer", "minimum": 1}, {"type": "string", "pattern": "%$"}]}"#,
        r#"{"allOf":[{"minimum":1},{"pattern":"%$"}],"x-kubernetes-int-or-string":true}"#,
        &[],
    );
    converts(
        r#"{"type": "object", "properties": {"a": {"type": "integer"}}, "if": {"required": ["a"]}, "then": {"properties": {"a": {"minimum": 1}}}}"#,
        concat!(
            r#"{"type":"object","allOf":[{"anyOf":[{"not":{"required":["a"]}},{"properties":{"a":{"minimum":1}}}]}],"#,
            r#""properties":{"a":{"type":"integer"}}}"#
        ),
        &[],
    );
    converts(
        r#"{"type": "array", "items": {"type": "integer"}, "oneOf": [{"contains": {"const": 1}}, {"maxItems": 3}]}"#,
        r#"{"type":"array","items":{"type":"integer"}}"#,
        &[Code::ToCrdValidation, Code::ToCrdOneOf, Code::ToCrdValidation],
    );
    converts(r#"{"type": "string", "not": {"enum": ["a"]}}"#, r#"{"type":"string","not":{"enum":["a"]}}"#, &[]);
}

#[test]
fn references_with_siblings_and_recursion() {
    converts(
        r##"{"$defs": {"s": {"type": "string", "description": "d"}}, "type": "object", "properties": {"a": {"$ref": "#/$defs/s", "minLength": 2}}}"##,
        r#"{"type":"object","properties":{"a":{"description":"d","type":"string","minLength":2}}}"#,
        &[],
    );
    // In OpenAPI 3.0, restrictions next to a reference have no effect.
    converts(
        "openapi: 3.0.0\ncomponents: {schemas: {A: {$ref: '#/components/schemas/B', minLength: 2}, B: {type: string}}}\n",
        r#"{"type":"string"}"#,
        &[Code::ToCrdDropped],
    );
    converts(
        "openapi: 3.1.0\ncomponents: {schemas: {A: {$ref: '#/components/schemas/B', minLength: 2}, B: {type: string}}}\n",
        r#"{"type":"string","minLength":2}"#,
        &[],
    );
    converts(
        "swagger: '2.0'\ndefinitions: {A: {type: object, properties: {a: {$ref: '#/definitions/A'}}}}\n",
        r#"{"type":"object","properties":{"a":{"type":"object","properties":{"a":{"x-kubernetes-preserve-unknown-fields":true}}}}}"#,
        &[Code::ToCrdRecursion],
    );
    converts(r#"{"$ref": "other.json"}"#, ANY, &[Code::ToCrdReference]);
}

#[test]
fn a_chain_of_references_is_cut_where_the_definition_is_small_enough() {
    // Each definition refers twice to the next: 2^20 schemas without a budget.
    let definition = |n: usize| {
        let next = n + 1;
        format!(
            "D{n}: {{type: object, properties: {{a: {{$ref: '#/definitions/D{next}'}}, b: {{$ref: '#/definitions/D{next}'}}}}}}"
        )
    };
    let definitions: Vec<String> = (0..20).map(definition).collect();
    let source = format!("swagger: '2.0'\ndefinitions: {{{}, D20: {{type: string}}}}\n", definitions.join(", "));
    let spec = spec(&source, Options { most_bytes: 10_000 }).unwrap();
    assert!((5_000..10_000).contains(&spec.whole.len()), "{}", spec.whole.len());
    assert!(!spec.codes.is_empty() && spec.codes.iter().all(|code| *code == Code::ToCrdBudget), "{:?}", spec.codes);
    let codes = with("type: object\nproperties: {a: {type: string}}\n", Options { most_bytes: 10 }, |made| {
        assert!(made.definition.is_none());
        made.notes.iter().map(|(_, note)| note.code).collect::<Vec<_>>()
    });
    assert_eq!(codes, [Code::OutputBudget]);
}

#[test]
fn deep_schemas_end() {
    let deep = format!("{}{}", r#"{"type":"array","items":"#.repeat(200), "{}".to_owned() + &"}".repeat(200));
    let spec = spec(&deep, Options::default()).unwrap();
    assert_eq!(spec.codes, [Code::ToCrdBudget]);
}

#[test]
fn a_status_has_a_subresource_and_columns() {
    let source = concat!(
        r#"{"type": "object", "properties": {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"},"#,
        r#" "status": {"type": "object", "properties": {"phase": {"type": "string"}}}}}"#
    );
    let spec = spec(source, Options::default()).unwrap();
    let expected = concat!(
        r#"{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"boxes.example.com"},"#,
        r#""spec":{"group":"example.com","names":{"kind":"Box","listKind":"BoxList","plural":"boxes","singular":"box"},"#,
        r#""scope":"Namespaced","versions":[{"additionalPrinterColumns":[{"jsonPath":".status.phase","name":"Phase","type":"string"},"#,
        r#"{"jsonPath":".metadata.creationTimestamp","name":"Age","type":"date"}],"name":"v1","schema":{"openAPIV3Schema":"#,
        r#"{"type":"object","properties":{"apiVersion":{"type":"string"},"kind":{"type":"string"},"metadata":{"type":"object"},"#,
        r#""status":{"type":"object","properties":{"phase":{"type":"string"}}}}}},"served":true,"storage":true,"#,
        r#""subresources":{"status":{}}}]}}"#,
        "\n"
    );
    assert_eq!(spec.whole, expected);
}
