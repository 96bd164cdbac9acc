//! The two laws of the conversion, for generated schemas and values: the result accepts what the source accepts unless
//! a note says that it is narrower, and rejects what the source rejects unless a note says that it is wider.

use super::{Spec, spec};
use crate::jsonschema_soundness::evaluate::Evaluator;
use crate::jsonschema_soundness::instances::{Random, instance};
use kubeshape_convert::crd::Options;
use kubeshape_schema::{Code, NoteKind};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};

/// Schemas of JSON Schema 2020-12 with the keywords that are converted.
fn schemas() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(json!({"type": "string"})),
        Just(json!({"type": "string", "minLength": 2})),
        Just(json!({"type": "string", "pattern": "^a"})),
        Just(json!({"enum": ["a", "b"]})),
        Just(json!({"const": "b"})),
        Just(json!({"enum": ["a", null]})),
        Just(json!({"type": "null"})),
        Just(json!({"type": ["string", "null"], "maxLength": 1})),
        Just(json!({"type": "integer", "minimum": 1})),
        Just(json!({"type": "integer", "exclusiveMaximum": 3, "multipleOf": 2})),
        Just(json!({"type": "number"})),
        Just(json!({"type": ["integer", "string"]})),
        Just(json!({"type": "boolean"})),
        Just(json!({"minLength": 2})),
        Just(json!({})),
        Just(json!(true)),
    ];
    scalar.prop_recursive(4, 24, 4, |inner| {
        let name = prop::sample::select(vec!["a", "b", "c"]);
        let object = (
            prop::collection::btree_map(name.clone(), inner.clone(), 0..3),
            prop::collection::vec(name.clone(), 0..2),
            prop::option::of(prop_oneof![Just(json!(false)), Just(json!(true)), inner.clone()]),
        );
        let object = object.prop_map(|(properties, mut required, additional)| {
            required.dedup();
            let mut schema = json!({"type": "object", "properties": properties, "required": required});
            if let Some(additional) = additional {
                schema["additionalProperties"] = additional;
            }
            schema
        });
        let list = prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            4 => object.clone(),
            1 => inner.clone().prop_map(|item| json!({"type": "array", "items": item, "maxItems": 2})),
            1 => inner.clone().prop_map(|item| json!({"type": "array", "items": item, "uniqueItems": true})),
            1 => inner.clone().prop_map(|value| json!({"type": "object", "additionalProperties": value})),
            1 => list.clone().prop_map(|list| json!({"anyOf": list})),
            1 => list.clone().prop_map(|list| json!({"oneOf": list})),
            1 => list.clone().prop_map(|list| json!({"allOf": list})),
            2 => (object.clone(), prop_oneof![Just("anyOf"), Just("oneOf"), Just("allOf")], list).prop_map(|(mut schema, word, list)| {
                schema[word] = json!(list);
                schema
            }),
            1 => (object.clone(), inner.clone()).prop_map(|(mut schema, not)| {
                schema["not"] = not;
                schema
            }),
            1 => (object.clone(), object.clone(), inner.clone()).prop_map(|(mut schema, condition, then)| {
                schema["if"] = condition;
                schema["then"] = then;
                schema
            }),
            1 => (object.clone(), name.clone(), name.clone(), inner.clone()).prop_map(|(mut schema, a, b, then)| {
                schema["dependentRequired"] = json!({a: [b]});
                schema["dependentSchemas"] = json!({b: then});
                schema
            }),
            1 => (inner.clone(), inner.clone(), 0..3, prop::option::of(0..3)).prop_map(|(item, contains, least, most)| {
                let mut schema = json!({"type": "array", "items": item, "contains": contains, "minContains": least});
                if let Some(most) = most {
                    schema["maxContains"] = json!(most);
                }
                schema
            }),
            1 => (inner.clone(), inner.clone(), any::<bool>()).prop_map(|(first, rest, is_open)| {
                let rest = if is_open { rest } else { json!(false) };
                json!({"type": "array", "prefixItems": [first], "unevaluatedItems": rest})
            }),
            1 => (object.clone(), inner.clone(), prop_oneof![Just("^a"), Just("b$"), Just(".")]).prop_map(|(mut schema, value, pattern)| {
                schema["patternProperties"] = json!({pattern: value});
                schema
            }),
            1 => (object.clone(), prop_oneof![Just(json!({"pattern": "^a"})), Just(json!({"maxLength": 1})), Just(json!({"enum": ["a", "b"]}))]).prop_map(|(mut schema, names)| {
                schema["propertyNames"] = names;
                schema
            }),
            1 => (inner.clone(), prop_oneof![Just(json!({"pattern": "^a"})), Just(json!({"minLength": 1}))]).prop_map(|(value, names)| {
                json!({"type": "object", "propertyNames": names, "patternProperties": {"^[ab]": value}, "additionalProperties": false})
            }),
            1 => (object, inner, name).prop_map(|(mut schema, other, key)| {
                schema["allOf"] = json!([{"properties": {key: other}}]);
                schema["unevaluatedProperties"] = json!(false);
                schema
            }),
        ]
    })
}

/// Removes the fields of objects that a structural schema does not declare, as a server does.
fn prune(schema: &Value, value: &mut Value) {
    match value {
        Value::Object(members) => {
            if schema["x-kubernetes-preserve-unknown-fields"] != true && schema["additionalProperties"].is_null() {
                members.retain(|name, _| schema["properties"].get(name).is_some());
            }
            for (name, member) in members {
                let inner = schema["properties"].get(name).or_else(|| schema.get("additionalProperties"));
                prune(inner.unwrap_or(&Value::Null), member);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| prune(&schema["items"], item)),
        _ => {}
    }
}

/// Returns whether a schema has rules, which the evaluator does not know.
fn has_rules(spec: &Spec) -> bool {
    spec.json.contains("x-kubernetes-validations")
}

fn check(source: &Value, seed: u64) -> Result<(), TestCaseError> {
    let Ok(validator) = jsonschema::draft202012::new(source) else { return Ok(()) };
    let mut source_text = source.clone();
    if let Value::Object(members) = &mut source_text {
        members.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
        members.insert("title".to_owned(), json!("t"));
    }
    if !["type", "properties", "allOf", "anyOf", "oneOf"].iter().any(|word| source_text.get(word).is_some()) {
        return Ok(());
    }
    let Some(spec) = spec(&source_text.to_string(), Options::default()) else { return Ok(()) };
    let result: Value = serde_json::from_str(&spec.json).unwrap();
    let mut random = Random::new(seed);
    let mut evaluator = Evaluator::default();
    for i in 0..24 {
        let from = if i % 2 == 0 { &result } else { source };
        let value = instance(from, &mut random);
        let mut stored = json!({"spec": value});
        prune(&json!({"properties": {"spec": result}}), &mut stored);
        let whole = json!({"type": "object", "properties": {"spec": result}});
        let (before, after) = (validator.is_valid(&value), evaluator.accepts(&whole, &stored));
        if before && !after {
            // Alternatives of fields that are dropped may differ.
            prop_assert!(spec.has(NoteKind::Narrowed), "{value} is rejected\n{source}\n{}", spec.json);
        }
        // A server drops unknown fields before it looks, so the value must have none.
        if !before && after && stored["spec"] == value && !has_rules(&spec) {
            prop_assert!(spec.has(NoteKind::Widened), "{value} is accepted\n{source}\n{}\n{:?}", spec.json, spec.codes);
        }
    }
    prop_assert!(!spec.codes.contains(&Code::ToCrdReference));
    Ok(())
}

#[test]
fn results_differ_only_where_a_note_says_so() {
    let cases = if std::env::var_os("KUBESHAPE_ALL").is_some() { 20_000 } else { 600 };
    // The same cases in every run.
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(config, rng)
        .run(&(schemas(), any::<u64>()), |(source, seed)| check(&source, seed))
        .unwrap();
}
