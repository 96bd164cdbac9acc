//! Properties of the v3 form of any v2 document.

use crate::support::{v3_of, with_root};
use kubeshape_convert::v3;
use kubeshape_schema::{Bump, NoteKind, Profile};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

const NAMES: [&str; 5] = ["A", "b.c", "d/e", "f g", "d_e"];

fn name() -> impl Strategy<Value = &'static str> {
    prop::sample::select(NAMES.as_slice())
}

/// Returns a reference to a definition with that name, as JSON pointers in URLs write it.
fn reference(section: &str, name: &str) -> String {
    format!("#/{section}/{}", name.replace('~', "~0").replace('/', "~1").replace(' ', "%20"))
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({})),
        Just(json!({"type": "string", "x-nullable": true})),
        Just(json!({"type": ["integer", "null"], "default": 0})),
        Just(json!({"type": ["array", "string"], "anyOf": [{"minLength": 1}]})),
        Just(json!({"type": "file"})),
        Just(json!({"discriminator": "kind", "x-a": [1]})),
        name().prop_map(|name| json!({"$ref": reference("definitions", name)})),
        name().prop_map(|name| json!({"$ref": reference("definitions", name), "description": "d"})),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let list = prop::collection::vec(inner.clone(), 1..3);
        let map = prop::collection::btree_map("[a-c]", inner.clone(), 0..3);
        prop_oneof![
            (map.clone(), name()).prop_map(|(map, name)| json!({"properties": map, "required": [name]})),
            inner.clone().prop_map(|inner| json!({"type": "array", "items": inner})),
            inner.clone().prop_map(|inner| json!({"type": "object", "additionalProperties": inner})),
            inner.clone().prop_map(|inner| json!({"not": inner})),
            (list.clone(), prop::sample::select(vec!["allOf", "anyOf", "oneOf", "items"]))
                .prop_map(|(list, keyword)| json!({keyword: list})),
            (map, prop::sample::select(vec!["patternProperties", "definitions", "dependencies"]))
                .prop_map(|(map, keyword)| json!({keyword: map})),
            (list, name()).prop_map(|(list, name)| json!({"$ref": reference("definitions", name), "allOf": list})),
        ]
    })
}

fn parameter() -> impl Strategy<Value = Value> {
    prop_oneof![
        (
            "[a-c]",
            prop::sample::select(vec!["query", "header", "path", "formData"]),
            prop::sample::select(vec!["csv", "tsv", "multi"])
        )
            .prop_map(|(name, location, format)| json!({
                "name": name, "in": location, "type": "array", "items": {"type": "integer"}, "collectionFormat": format
            })),
        ("[a-c]", schema()).prop_map(|(name, schema)| json!({"name": name, "in": "body", "schema": schema})),
        Just(json!({"name": "f", "in": "formData", "type": "file", "required": true})),
    ]
}

fn of_operation() -> impl Strategy<Value = Value> {
    prop_oneof![parameter(), name().prop_map(|name| json!({"$ref": reference("parameters", name)}))]
}

fn response() -> impl Strategy<Value = Value> {
    (schema(), any::<bool>()).prop_map(|(schema, described)| {
        let mut response = json!({"schema": schema, "headers": {"H": {"type": "string"}}, "examples": {"a/b": 1}});
        if described {
            response["description"] = json!("d");
        }
        response
    })
}

fn operation() -> impl Strategy<Value = Value> {
    let response = prop_oneof![response(), name().prop_map(|name| json!({"$ref": reference("responses", name)}))];
    let responses = prop_oneof![
        Just(Value::Null),
        prop::collection::btree_map(prop::sample::select(vec!["200", "default"]), response, 0..3)
            .prop_map(|responses| json!(responses)),
    ];
    (
        prop::collection::vec(of_operation(), 0..4),
        responses,
        prop::option::of(Just(json!(["multipart/form-data", "a/b"]))),
    )
        .prop_map(|(parameters, responses, consumes)| {
            let mut operation = json!({"parameters": parameters, "responses": responses});
            if let Some(consumes) = consumes {
                operation["consumes"] = consumes;
            }
            operation
        })
}

/// A value under each of the names, so that every reference has a target.
fn named(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    prop::collection::vec(value, NAMES.len()).prop_map(|values| {
        let members: Map<String, Value> = NAMES.iter().map(|name| (*name).to_owned()).zip(values).collect();
        Value::Object(members)
    })
}

fn document() -> impl Strategy<Value = Value> {
    (named(schema()), named(parameter()), named(response()), prop::collection::vec(operation(), 1..3), prop::collection::vec(of_operation(), 0..3))
        .prop_map(|(definitions, parameters, responses, operations, of_path)| {
            let mut item = json!({"parameters": of_path});
            for (method, operation) in ["get", "post"].into_iter().zip(operations) {
                item[method] = operation;
            }
            json!({
                "swagger": "2.0", "info": {"title": "t", "version": "1"}, "paths": {"/a": item}, "definitions": definitions,
                "parameters": parameters, "responses": responses, "securityDefinitions": {"s t": {"type": "basic"}},
                "security": [{"s t": []}],
            })
        })
}

/// The references in a value.
fn references<'v>(value: &'v Value, out: &mut Vec<&'v str>) {
    match value {
        Value::Object(members) => {
            out.extend(members.get("$ref").and_then(Value::as_str));
            members.values().for_each(|value| references(value, out));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, out)),
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn every_reference_leads_to_a_component_and_the_document_reads_again(document in document()) {
        let source = document.to_string();
        let (out, notes) = v3_of(source.as_bytes(), Profile::Faithful).map_err(|e| TestCaseError::fail(e.to_string()))?;
        let out = out.ok_or_else(|| TestCaseError::fail("no answer"))?;
        prop_assert!(!notes.iter().any(|note| note.starts_with("KS2116")), "{notes:?}");
        let value: Value = serde_json::from_slice(&out).map_err(|e| TestCaseError::fail(e.to_string()))?;
        let mut found = Vec::new();
        references(&value, &mut found);
        for reference in found {
            let target = reference.strip_prefix('#').and_then(|pointer| value.pointer(pointer));
            prop_assert!(reference.starts_with("#/components/") && target.is_some(), "{reference} in {value}");
        }
        let again = with_root(&out, |root| {
            let arena = Bump::new();
            let read = v3::read(root, &arena, Profile::Faithful);
            let errors = read.notes.iter().filter(|note| note.code.kind() == NoteKind::Error).count();
            let mut again = Vec::new();
            if let Some(document) = read.value.filter(|_| errors == 0) {
                document.print(&mut again, Profile::Faithful);
            }
            Ok(again)
        });
        let again = again.map_err(|e| TestCaseError::fail(e.to_string()))?;
        prop_assert_eq!(String::from_utf8_lossy(&again), String::from_utf8_lossy(&out));
    }

    #[test]
    fn no_document_stops_kubernetes_converter_but_for_missing_responses(document in document()) {
        let source = document.to_string();
        let (out, notes) = v3_of(source.as_bytes(), Profile::Kube).map_err(|e| TestCaseError::fail(e.to_string()))?;
        prop_assert_eq!(out.is_none(), notes.iter().any(|note| note.starts_with("KS2101")));
    }
}

#[test]
fn the_deepest_schemas_convert() -> crate::support::Result<()> {
    let deep = |levels: usize| {
        let nested =
            "{\"items\":".repeat(levels) + "{\"$ref\":\"#/definitions/A\",\"title\":\"t\"}" + &"}".repeat(levels);
        format!("{{\"swagger\":\"2.0\",\"paths\":{{}},\"definitions\":{{\"A\":{nested}}}}}")
    };
    for profile in [Profile::Kube, Profile::Faithful] {
        let (out, _) = v3_of(deep(505).as_bytes(), profile)?;
        let expected = r##"{"title":"t","allOf":[{"$ref":"#/components/schemas/A"}]}"##;
        assert!(String::from_utf8(out.ok_or("no answer")?)?.contains(expected));
    }
    Ok(())
}
