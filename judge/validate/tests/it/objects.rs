//! Properties of pruning, defaulting and validation, on generated schemas and values.

use kubeshape_schema::field::Path;
use kubeshape_schema::{Bump, Schema, read};
use kubeshape_validate::object::{self, Malformed, Resource, Root, Validator};
use kubeshape_value::ToValue;
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
        Just(json!({"type": "object", "x-kubernetes-embedded-resource": true, "default": {"metadata": {"a": 1}}})),
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

/// Returns a namespaced kind with a status subresource.
fn tabs<'a>(schema: &'a Schema<'a>, preserve_unknown_fields: bool, arena: &'a Bump) -> Resource<'a> {
    Resource {
        api_version: "example.com/v1",
        kind: "Tab",
        namespaced: true,
        schema: Some(schema),
        preserve_unknown_fields,
        scale: None,
        status: true,
        validator: Some(Validator::new(schema, arena)),
        rules: None,
        release: kubeshape_validate::Release::DEFAULT.into(),
    }
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
            let defaulted = object::default(once.value, Some(schema), arena).expect("few defaults");
            let again = object::default(defaulted, Some(schema), arena).expect("few defaults");
            prop_assert_eq!(defaulted.to_serde(), again.to_serde());
            let nulls = object::prune_nulls(once.value, Some(schema), arena);
            prop_assert_eq!(nulls.to_serde(), object::prune_nulls(nulls, Some(schema), arena).to_serde());
            Ok(())
        })?;
    }

    /// A request needs one walk, which does what a server does in several.
    #[test]
    fn decoding_is_pruning_and_then_defaulting(
        properties in prop::collection::btree_map(key(), schema(), 0..4),
        object in prop::collection::btree_map(key(), value(), 0..4),
        preserves in any::<bool>(),
    ) {
        let (schema, object) = (json!({"type": "object", "properties": properties}), json!(object));
        with_schema(&schema, |schema, arena| {
            let resource = tabs(schema, preserves, arena);
            let sent = arena.alloc(object.clone()).to_value(arena);
            let steps = || -> Result<_, String> {
                let mut unknown = Vec::new();
                let metadata = sent.get("metadata").map(|metadata| object::decode_metadata(metadata, arena)).transpose()?;
                unknown.extend(metadata.iter().flat_map(|metadata| &metadata.unknown).map(|field| format!("metadata.{field}")));
                let mut value = sent;
                if !preserves {
                    let pruned = object::prune(value, Some(schema), Root::Resource, arena);
                    unknown.extend(pruned.unknown);
                    value = object::prune_nulls(pruned.value, Some(schema), arena);
                }
                let coerced = object::coerce(value, Some(schema), Root::Value, Malformed::Refuse, &Path::Root, arena);
                let coerced = coerced.map_err(|error| error.to_string())?;
                unknown.extend(coerced.unknown);
                let mut map = coerced.value.as_map().unwrap_or_default();
                for key in ["apiVersion", "kind"] {
                    map = map.with(key, sent.get(key), arena);
                }
                map = map.with("metadata", metadata.map(|metadata| metadata.value), arena);
                Ok((object::default(kubeshape_value::Value::Map(map), Some(schema), arena).expect("few defaults").to_serde(), unknown))
            };
            let decoded = resource.decode(sent, arena).map(|decoded| (decoded.value.to_serde(), decoded.unknown));
            prop_assert_eq!(decoded, steps());
            Ok(())
        })?;
    }

    #[test]
    fn a_stored_object_is_accepted_unchanged(spec in schema(), value in value()) {
        let schema = json!({"type": "object", "properties": {"spec": spec, "status": {"type": "object"}}});
        let object = json!({
            "apiVersion": "example.com/v1", "kind": "Tab", "metadata": {"name": "t"}, "spec": value, "status": {}});
        with_schema(&schema, |schema, arena| {
            let resource = tabs(object::prune_defaults(schema, arena), false, arena);
            let judge = |object| {
                let decoded = resource.decode(object, arena)?;
                Ok::<_, String>((resource.create(decoded.value, arena), decoded.unknown))
            };
            let Ok((first, _)) = judge(arena.alloc(object.clone()).to_value(arena)) else { return Ok(()) };
            // Definitions with nulls in defaults are refused.
            if first.errors.is_empty() && !first.stored.to_serde().to_string().contains("null") {
                let (second, unknown) = judge(first.stored).unwrap();
                prop_assert_eq!((second.errors, unknown), (Vec::new(), Vec::new()));
                prop_assert_eq!(second.stored.to_serde(), first.stored.to_serde());
            }
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
            // Ratcheting removes errors and adds none, except if it decides between branches.
            let update = validator.check_update(value, old, &Path::Root);
            prop_assert!(update.len() <= errors.len());
            Ok(())
        })?;
    }
}

#[test]
fn duplicate_items_are_found_in_short_and_long_lists() {
    let lists = json!({"type": "object", "properties": {
        "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {}},
        "map": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"], "items": {}}}});
    for count in [1, 2, 8, 9, 100] {
        let names: Vec<String> = (0..count).map(|n| format!("n{n}")).collect();
        let errors = |names: &[Value]| {
            let items: Vec<Value> = names.iter().map(|name| json!({"name": name})).collect();
            with_schema(&lists, |schema, arena| {
                let value = arena.alloc(json!({"set": names, "map": items})).to_value(arena);
                object::list_types(value, Some(schema), &Path::Root).iter().map(ToString::to_string).collect::<Vec<_>>()
            })
        };
        let mut names: Vec<Value> = names.into_iter().map(Value::from).collect();
        assert_eq!(errors(&names), Vec::<String>::new());
        names.push(json!(1));
        assert_eq!(errors(&names), Vec::<String>::new());
        names[count] = names[0].clone();
        let expected = [
            format!("map[{count}]: Duplicate value: {{\"name\":\"n0\"}}"),
            format!("set[{count}]: Duplicate value: \"n0\""),
        ];
        assert_eq!(errors(&names), expected);
    }
}

#[test]
fn negative_limits_are_not_named() {
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
