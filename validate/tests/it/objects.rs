//! Laws of pruning, defaulting and validation, on generated schemas and values.

use kubeshape_schema::field::Path;
use kubeshape_schema::{Bump, Schema, read};
use kubeshape_smd::ToValue;
use kubeshape_validate::object::{self, Root, Validator};
use kubeshape_yaml::{Limits, Stream, Tape};
use proptest::prelude::*;
use serde_json::{Value, json};

fn with_schema<T>(source: &Value, f: impl for<'a> FnOnce(&'a Schema<'a>, &'a Bump) -> T) -> T {
    let text = source.to_string();
    let mut tape = Tape::new();
    let mut stream = Stream::new(text.as_bytes(), Limits::default()).unwrap();
    stream.next(&mut tape).unwrap().unwrap();
    let arena = Bump::new();
    let schema = read::Reader::new(&arena, read::Rules::Crd).schema(tape.document(&text).root().unwrap());
    f(arena.alloc(schema), &arena)
}

fn key() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "c", "apiVersion", "kind", "metadata"]).prop_map(str::to_owned)
}

fn value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3i64..4).prop_map(Value::from),
        Just(json!(1.5)),
        "[ab]{0,3}".prop_map(Value::from),
    ];
    scalar.prop_recursive(4, 40, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(key(), inner, 0..4).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({"type": "string", "pattern": "^a", "maxLength": 2})),
        Just(json!({"type": "integer", "minimum": 0, "default": 1})),
        Just(json!({"x-kubernetes-int-or-string": true})),
        Just(json!({"type": "string", "nullable": true, "enum": ["a", "b"]})),
        Just(json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true})),
        Just(json!({"type": "object", "additionalProperties": true})),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let branches = prop::collection::vec(inner.clone(), 1..3);
        prop_oneof![
            prop::collection::btree_map(key(), inner.clone(), 0..4)
                .prop_map(|properties| json!({"type": "object", "properties": properties, "required": ["a"]})),
            (prop::collection::btree_map(key(), inner.clone(), 0..3), value()).prop_map(|(properties, default)| {
                json!({"type": "object", "properties": properties, "default": default})
            }),
            inner.clone().prop_map(|item| json!({"type": "array", "items": item, "maxItems": 2})),
            inner.clone().prop_map(|schema| json!({"type": "object", "additionalProperties": schema})),
            (branches.clone(), branches, inner)
                .prop_map(|(any, one, not)| json!({"anyOf": any, "oneOf": one, "not": not})),
        ]
    })
}

proptest! {
    #[test]
    fn pruning_and_defaulting_are_idempotent(schema in schema(), value in value()) {
        with_schema(&schema, |schema, arena| {
            let pruned = object::prune(value.to_value(&Bump::new()), Some(schema), Root::Resource, &Bump::new()).unknown;
            let once = object::prune(arena.alloc(value.clone()).to_value(arena), Some(schema), Root::Resource, arena);
            let twice = object::prune(once.value, Some(schema), Root::Resource, arena);
            prop_assert_eq!(pruned, once.unknown);
            prop_assert!(twice.unknown.is_empty(), "{:?}", twice.unknown);
            prop_assert_eq!(once.value.to_serde(), twice.value.to_serde());
            let defaulted = object::default(once.value, Some(schema), arena);
            let again = object::default(defaulted, Some(schema), arena);
            prop_assert_eq!(defaulted.to_serde(), again.to_serde());
            let nulls = object::prune_nulls(once.value, Some(schema), arena);
            prop_assert_eq!(nulls.to_serde(), object::prune_nulls(nulls, Some(schema), arena).to_serde());
            Ok(())
        })?;
    }

    #[test]
    fn the_quick_walk_and_the_full_one_agree(schema in schema(), value in value(), old in value()) {
        with_schema(&schema, |schema, arena| {
            let validator = Validator::new(schema, arena);
            let (value, old) = (arena.alloc(value.clone()).to_value(arena), arena.alloc(old.clone()).to_value(arena));
            let errors = validator.check(value, &Path::Root);
            prop_assert_eq!(validator.is_valid(value), errors.is_empty());
            // Ratcheting takes errors away and adds none, except where it decides between branches.
            let update = validator.check_update(value, old, &Path::Root);
            prop_assert!(update.len() <= errors.len());
            Ok(())
        })?;
    }
}

#[test]
fn limits_below_zero_are_not_named() {
    for (keyword, ty, value, texts) in [
        ("maxLength", "string", json!("ab"), ["value is too long", "may not be more than 1 byte"]),
        ("maxItems", "array", json!([1, 2]), ["has too many items", "must have at most 1 item"]),
        ("maxProperties", "object", json!({"a": 1, "b": 1}), ["has too many items", "must have at most 1 item"]),
    ] {
        for (limit, text) in [-1, 1].into_iter().zip(texts) {
            with_schema(&json!({"type": ty, keyword: limit}), |schema, arena| {
                let errors = Validator::new(schema, arena).check(value.to_value(arena), &Path::Base("a"));
                let details: Vec<&str> = errors.iter().map(|error| error.detail.as_str()).collect();
                assert_eq!(details, [text], "{keyword}: {limit}");
            });
        }
    }
}
