//! Laws of typed operations for generated schemas and values. References may be missing or cyclic, and values may have
//! any type.

use kubeshape_smd::fieldpath::{PathElement, Set};
use kubeshape_smd::schema::{self, Atom, Relationship, Schema, TypeRef};
use kubeshape_smd::typed::{Duplicates, KeyFields, Type, TypedValue, Types};
use kubeshape_smd::{Bump, ToValue as _, Value};
use kubeshape_yaml::{Limits, Stream, Tape};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

const NAMES: [&str; 5] = ["a", "b", "c", "named-a", "named-b"];
/// The last one does not exist.
const TYPES: [&str; 4] = ["t0", "t1", "t2", "t3"];

fn name() -> impl Strategy<Value = &'static str> {
    prop::sample::select(&NAMES[..])
}

fn relationship() -> impl Strategy<Value = &'static str> {
    prop_oneof![8 => Just("associative"), 4 => Just("atomic"), 2 => Just("separable"), 1 => Just("odd")]
}

fn scalar() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        4 => Just("string"),
        4 => Just("numeric"),
        2 => Just("boolean"),
        4 => Just("untyped"),
        1 => Just("odd"),
    ]
}

/// A reference or an atom, in its written form.
fn reference() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        6 => prop::sample::select(&TYPES[..3]).prop_map(|name| json!({"namedType": name})),
        6 => scalar().prop_map(|scalar| json!({"scalar": scalar})),
        1 => Just(json!({"namedType": TYPES[3]})),
        1 => Just(json!({})),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        (atom(inner), prop::option::weighted(0.2, relationship())).prop_map(overridden)
    })
}

fn overridden((mut reference, overriding): (Json, Option<&'static str>)) -> Json {
    // An override of a scalar gives a type that does not exist.
    let scalar = reference["scalar"].is_string() && reference["list"].is_null() && reference["map"].is_null();
    if let Some(overriding) = overriding.filter(|_| !scalar) {
        reference["elementRelationship"] = json!(overriding);
    }
    reference
}

fn atom(inner: impl Strategy<Value = Json> + Clone + 'static) -> impl Strategy<Value = Json> {
    let keys = prop::collection::vec(name(), 0..3);
    let any_list = (inner.clone(), relationship(), keys).prop_map(|(element, relationship, keys)| {
        json!({"elementType": element, "elementRelationship": relationship, "keys": keys})
    });
    let default = prop::sample::select(vec![Json::Null, json!(1), json!("x"), json!({"a": [1]})]);
    let keyed = (inner.clone(), prop::option::of(default.clone()), any::<bool>()).prop_map(|(value, default, two)| {
        let untyped = json!({"scalar": "untyped"});
        let mut fields =
            json!([{"name": "a", "type": untyped}, {"name": "b", "type": untyped}, {"name": "c", "type": value}]);
        if let Some(default) = default {
            fields[1]["default"] = default;
        }
        let keys = if two { json!(["b", "a"]) } else { json!(["a"]) };
        json!({"elementType": {"map": {"fields": fields}}, "elementRelationship": "associative", "keys": keys})
    });
    let set = Just(json!({"elementType": {"scalar": "untyped"}, "elementRelationship": "associative"}));
    let list = prop_oneof![1 => any_list, 2 => keyed, 1 => set];
    let fields = prop::collection::btree_map(name(), (inner.clone(), prop::option::of(default)), 0..4);
    let map = (fields, prop::option::of(inner), prop::option::of(relationship())).prop_map(
        |(fields, element, relationship)| {
            let fields = fields.into_iter().map(|(name, (reference, default))| {
                let mut field = json!({"name": name, "type": reference});
                if let Some(default) = default {
                    field["default"] = default;
                }
                field
            });
            let mut map = json!({"fields": fields.collect::<Vec<_>>()});
            if let Some(element) = element {
                map["elementType"] = element;
            }
            if let Some(relationship) = relationship {
                map["elementRelationship"] = json!(relationship);
            }
            map
        },
    );
    let optional = |strategy: BoxedStrategy<Json>| prop::option::weighted(0.5, strategy);
    (prop::option::weighted(0.3, scalar()), optional(list.boxed()), optional(map.boxed())).prop_map(
        |(scalar, list, map)| {
            let mut atom = json!({});
            for (name, part) in [("scalar", scalar.map(|name| json!(name))), ("list", list), ("map", map)] {
                if let Some(part) = part {
                    atom[name] = part;
                }
            }
            atom
        },
    )
}

fn schema() -> impl Strategy<Value = Json> {
    let fields = prop::collection::vec(reference(), NAMES.len());
    (fields, prop::collection::vec(atom(reference().boxed()), 2)).prop_map(|(fields, atoms)| {
        let fields = NAMES.into_iter().zip(fields).map(|(name, reference)| json!({"name": name, "type": reference}));
        let root = json!({"map": {"fields": fields.collect::<Vec<_>>()}});
        let types = [root].into_iter().chain(atoms).zip(TYPES).map(|(mut atom, name)| {
            atom["name"] = json!(name);
            atom
        });
        json!({"types": types.collect::<Vec<_>>()})
    })
}

fn value() -> impl Strategy<Value = Json> {
    let leaf = prop::sample::select(vec![
        Json::Null,
        json!(true),
        json!(1),
        json!(2),
        json!(1.5),
        json!("x"),
        json!("y"),
        json!({}),
        json!([]),
    ]);
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::Array),
            prop::collection::btree_map(name(), inner, 0..4)
                .prop_map(|map| map.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()),
        ]
    })
}

/// Returns the schema without types that no value matches.
fn sound(schema: &Json) -> Json {
    let mut text = schema.to_string();
    for (part, instead) in [
        (r#""namedType":"t3""#, r#""scalar":"untyped""#),
        (r#""scalar":"odd""#, r#""scalar":"string""#),
        (r#""elementRelationship":"odd""#, r#""elementRelationship":"atomic""#),
        (r#""elementRelationship":"separable""#, r#""elementRelationship":"atomic""#),
        (r#""type":{}"#, r#""type":{"scalar":"string"}"#),
        (r#""elementType":{}"#, r#""elementType":{"scalar":"string"}"#),
    ] {
        text = text.replace(part, instead);
    }
    text.parse().expect("JSON")
}

/// Bytes that decide the form of a value. After their end, every choice is the first.
struct Choices<'b> {
    bytes: std::slice::Iter<'b, u8>,
}

impl Choices<'_> {
    fn of(&mut self, count: usize) -> usize {
        usize::from(self.bytes.next().copied().unwrap_or_default()) % count
    }
}

/// Returns a value that matches a type, if there is one.
fn grow(schema: &Json, reference: &Json, choices: &mut Choices<'_>, depth: usize) -> Json {
    let named = reference["namedType"].as_str();
    let atom = named.map_or(Some(reference), |name| {
        schema["types"].as_array()?.iter().find(|atom| atom["name"].as_str() == Some(name))
    });
    let Some(atom) = atom.filter(|_| depth > 0) else { return Json::Null };
    let shapes: Vec<&str> = ["map", "list", "scalar"].into_iter().filter(|shape| !atom[*shape].is_null()).collect();
    let shape = if shapes.is_empty() || choices.of(16) == 15 { "" } else { shapes[choices.of(shapes.len())] };
    match shape {
        "map" => {
            let map = &atom["map"];
            let mut members = serde_json::Map::new();
            for name in NAMES {
                let field = map["fields"].as_array().into_iter().flatten().find(|field| field["name"] == name);
                if let Some(reference) = field.map(|field| &field["type"]).or(map.get("elementType"))
                    && choices.of(5) > 1
                {
                    members.insert(name.to_owned(), grow(schema, reference, choices, depth - 1));
                }
            }
            Json::Object(members)
        }
        "list" => {
            let count = choices.of(5);
            (0..count).map(|_| grow(schema, &atom["list"]["elementType"], choices, depth - 1)).collect()
        }
        "scalar" => {
            let (strings, numbers) = ([json!("x"), json!("y"), json!("z")], [json!(0), json!(1), json!(1.5)]);
            let (string, number) = (strings[choices.of(3)].clone(), numbers[choices.of(3)].clone());
            match atom["scalar"].as_str() {
                Some("numeric") => number,
                Some("boolean") => json!(choices.of(2) == 1),
                Some("untyped") if choices.of(2) == 1 => number,
                _ => string,
            }
        }
        _ => Json::Null,
    }
}

fn compile(schema: &Json) -> Types {
    let text = schema.to_string();
    let mut tape = Tape::new();
    let mut stream = Stream::new(text.as_bytes(), Limits::default()).expect("a source");
    stream.next(&mut tape).transpose().expect("JSON is YAML");
    let read: Schema = schema::read(tape.document(&text).root().expect("a document")).expect("a schema");
    Types::new(read)
}

/// Returns whether every list is atomic or associative. Items of others pass the check of their type, and upstream
/// loses them in merges.
fn has_known_lists(atom: Atom<'_>) -> bool {
    let known =
        |relationship: Relationship<'_>| matches!(relationship, Relationship::Atomic | Relationship::Associative);
    let reference =
        |reference: TypeRef<'_>| reference.relationship().is_none_or(known) && has_known_lists(reference.inlined());
    let list = atom.list();
    list.is_none_or(|list| list.relationship().is_some_and(known) && reference(list.element_type()))
        && atom
            .map()
            .is_none_or(|map| reference(map.element_type()) && map.fields().all(|field| reference(field.type_ref())))
}

/// Returns the value unchecked, and checked as far as it matches its type.
fn forms<'a>(ty: Type<'a>, value: Value<'a>) -> Vec<TypedValue<'a>> {
    let checked = [Duplicates::Allowed, Duplicates::Refused].map(|duplicates| ty.validate(value, duplicates).ok());
    [TypedValue::unvalidated(Some(value), ty)].into_iter().chain(checked.into_iter().flatten()).collect()
}

fn is_valid(value: TypedValue<'_>) -> bool {
    value.value().is_some_and(|inner| value.ty().validate(inner, Duplicates::Allowed).is_ok())
}

fn has_scalar_keys(set: Set<'_>) -> bool {
    set.entries().iter().all(|entry| {
        let scalar = match entry.element {
            PathElement::Key(fields) => {
                fields.iter().all(|(_, value)| !matches!(value, Value::List(_) | Value::Map(_)))
            }
            _ => true,
        };
        scalar && has_scalar_keys(entry.children)
    })
}

/// Returns whether every path of the first set is in the second.
fn within<'a>(set: Set<'a>, other: Set<'a>, arena: &'a Bump) -> bool {
    set.difference(other, arena).is_empty()
}

fn strings(error: impl Into<Box<dyn std::error::Error>>) -> String {
    error.into().to_string()
}

/// Schemas with pairs of values: mostly of the type, and similar.
fn cases() -> impl Strategy<Value = (Json, Json, Json)> {
    let bytes = prop::collection::vec(any::<u8>(), 0..300);
    let changes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8);
    let anything = prop::option::weighted(0.2, (value(), value()));
    (schema(), bytes, changes, anything, prop::bool::weighted(0.8)).prop_map(
        |(schema, mut bytes, changes, anything, soundly)| {
            if let Some((left, right)) = anything {
                return (schema, left, right);
            }
            let schema = if soundly { sound(&schema) } else { schema };
            let root = json!({"namedType": "t0"});
            let left = grow(&schema, &root, &mut Choices { bytes: bytes.iter() }, 6);
            for (at, byte) in changes {
                if !bytes.is_empty() {
                    let at = at.index(bytes.len());
                    bytes[at] = byte;
                }
            }
            let right = grow(&schema, &root, &mut Choices { bytes: bytes.iter() }, 6);
            (schema, left, right)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(kubeshape_corpus::cases(1000)) })]

    /// Every operation ends without a panic and does not change its inputs, and checking a value does not change a
    /// result.
    #[test]
    fn operations_end_and_checks_do_not_change_results((schema, left, right) in cases()) {
        let (types, arena) = (compile(&schema), Bump::new());
        let ty = types.named("t0").expect("every schema has it");
        let (l, r) = (left.to_value(&arena), right.to_value(&arena));
        let mut seen: Option<String> = None;
        for left in forms(ty, l) {
            for right in forms(ty, r) {
                let set = right.to_field_set(&arena).unwrap_or_default();
                let found = format!(
                    "{:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?}",
                    left.to_field_set(&arena).map_err(strings),
                    left.compare(right, &arena).map_err(strings),
                    left.merge(right, &arena).map(TypedValue::value).map_err(strings),
                    left.remove_items(set, &arena).value(),
                    left.extract_items(set, KeyFields::AsOwned, &arena).value(),
                    left.extract_items(set.leaves(&arena), KeyFields::Append, &arena).value(),
                    left.reconcile(set, &arena).map_err(strings),
                    set.ensure_named_fields_are_members(ty, &arena),
                );
                prop_assert_eq!(seen.get_or_insert_with(|| found.clone()), &found);
            }
        }
        prop_assert_eq!(l, left.to_value(&arena));
        prop_assert_eq!(r, right.to_value(&arena));
    }

    /// Merging again changes nothing, merging a configuration into itself gives itself, and only fields of the
    /// configuration are added or modified.
    #[test]
    fn a_merge_is_idempotent_and_adds_what_the_configuration_has((schema, left, right) in cases()) {
        let (types, arena) = (compile(&schema), Bump::new());
        let ty = types.named("t0").expect("every schema has it");
        if !types.schema().types().all(|def| has_known_lists(def.atom())) {
            return Ok(());
        }
        let live = ty.validate(left.to_value(&arena), Duplicates::Allowed);
        let config = ty.validate(right.to_value(&arena), Duplicates::Refused);
        let (Ok(live), Ok(config)) = (live, config) else { return Ok(()) };
        let Ok(merged) = live.merge(config, &arena) else { return Ok(()) };

        let again = merged.merge(config, &arena).expect("what could be merged once");
        prop_assert_eq!(again.value(), merged.value());
        let same = config.merge(config, &arena).expect("what could be merged once");
        prop_assert_eq!(same.value(), config.value());

        let Ok(changes) = live.compare(merged, &arena) else { return Ok(()) };
        let mut of_config = config.to_field_set(&arena).expect("a checked value");
        // Containers are added with their contents.
        let absent = TypedValue::unvalidated(None, ty);
        of_config = of_config.union(absent.compare(config, &arena).expect("a checked value").added, &arena);
        prop_assert!(within(changes.added, of_config, &arena), "{} of {}", changes.added, of_config);
        prop_assert!(within(changes.modified, of_config, &arena), "{} of {}", changes.modified, of_config);
        let known = merged.compare(merged, &arena).expect("could be compared");
        prop_assert!(known.is_same());
    }

    /// In the reverse comparison, added and removed are swapped.
    #[test]
    fn a_comparison_can_be_reversed((schema, left, right) in cases()) {
        let (types, arena) = (compile(&schema), Bump::new());
        let ty = types.named("t0").expect("every schema has it");
        let left = TypedValue::unvalidated(Some(left.to_value(&arena)), ty);
        let right = TypedValue::unvalidated(Some(right.to_value(&arena)), ty);
        let (Ok(there), Ok(back)) = (left.compare(right, &arena), right.compare(left, &arena)) else { return Ok(()) };
        prop_assert_eq!(there.added, back.removed);
        prop_assert_eq!(there.removed, back.added);
        // For repeated items and for other shapes, both directions report the same.
        prop_assert_eq!(there.modified, back.modified);
        prop_assert!(left.compare(left, &arena).map_or(!is_valid(left), |changes| changes.is_same()));
    }

    /// Removing nothing changes nothing; removed fields are gone; removing again only changes fields that became null.
    #[test]
    fn what_is_removed_is_gone((schema, object, other) in cases()) {
        let (types, arena) = (compile(&schema), Bump::new());
        let ty = types.named("t0").expect("every schema has it");
        let Ok(object) = ty.validate(object.to_value(&arena), Duplicates::Refused) else { return Ok(()) };
        prop_assert_eq!(object.remove_items(Set::EMPTY, &arena).value().is_some(), true);
        let fields = object.to_field_set(&arena).expect("a checked value");
        let Ok(other) = ty.validate(other.to_value(&arena), Duplicates::Refused) else { return Ok(()) };
        let part = fields.intersection(other.to_field_set(&arena).expect("a checked value"), &arena);
        let left = object.remove_items(part, &arena);
        if let Ok(remaining) = left.to_field_set(&arena) {
            // A value that became null, or was all of an atomic value, is owned itself.
            let gone = part.leaves(&arena).intersection(remaining, &arena);
            prop_assert!(gone.is_empty(), "{gone} of {remaining}");
        }
    }

    /// Extracting the leaves of a value and merging them back changes nothing.
    #[test]
    fn applying_what_was_extracted_changes_nothing((schema, object, _) in cases()) {
        let (types, arena) = (compile(&schema), Bump::new());
        let ty = types.named("t0").expect("every schema has it");
        let Ok(object) = ty.validate(object.to_value(&arena), Duplicates::Refused) else { return Ok(()) };
        let fields = object.to_field_set(&arena).expect("a checked value");
        if !has_scalar_keys(fields) {
            // If a key is a map, only the owned parts of it are extracted, which gives another key.
            return Ok(());
        }
        let extracted = object.extract_items(fields.leaves(&arena), KeyFields::Append, &arena);
        let Ok(merged) = object.merge(extracted, &arena) else { return Ok(()) };
        let Ok(changes) = object.compare(merged, &arena) else { return Ok(()) };
        prop_assert!(changes.is_same(), "{:?}", changes);
    }
}
