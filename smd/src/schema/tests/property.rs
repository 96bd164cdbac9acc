//! Every schema that can be built is printed so that it reads back as the same schema.

use super::{json, schema, yaml};
use crate::schema::{AtomId, Builder, MapDef, Ref, Relationship, Scalar, UnionDef, UnionFieldDef};
use kubeshape_schema::{Bump, Json, order};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    List(Vec<Value>),
    Map(BTreeMap<String, Value>),
}

impl Value {
    fn json<'a>(&self, arena: &'a Bump) -> Json<'a> {
        match self {
            Value::Null => Json::Null,
            Value::Bool(b) => Json::Bool(*b),
            Value::Int(n) => Json::Int(*n),
            Value::Float(n) => Json::Float(*n),
            Value::Text(text) => Json::Str(arena.alloc_str(text)),
            Value::List(items) => {
                let items: Vec<Json<'a>> = items.iter().map(|item| item.json(arena)).collect();
                Json::Array(arena.alloc_slice_copy(&items))
            }
            Value::Map(members) => {
                let mut members: Vec<(&str, Json<'a>)> =
                    members.iter().map(|(key, value)| (&*arena.alloc_str(key), value.json(arena))).collect();
                members.sort_by(|a, b| order::utf16(a.0, b.0));
                Json::Object(arena.alloc_slice_copy(&members))
            }
        }
    }
}

#[derive(Clone, Debug, Default)]
struct Atom {
    scalar: Option<String>,
    list: Option<Box<List>>,
    map: Option<Box<Map>>,
}

/// The element type, the relationship and the keys.
type List = (TypeRef, Option<String>, Vec<String>);

#[derive(Clone, Debug, Default)]
struct TypeRef {
    named: Option<String>,
    inlined: Atom,
    relationship: Option<String>,
    nullable: bool,
}

#[derive(Clone, Debug, Default)]
struct Map {
    fields: BTreeMap<String, (TypeRef, Option<Value>)>,
    unions: Vec<(Option<String>, bool, BTreeMap<String, String>)>,
    element: TypeRef,
    relationship: Option<String>,
}

fn build_atom(builder: &mut Builder, arena: &Bump, atom: &Atom) -> AtomId {
    let list = atom.list.as_ref().map(|list| {
        let (element, relationship, keys) = &**list;
        let element = build_ref(builder, arena, element);
        let relationship = relationship.as_deref().map(Relationship::from_name);
        builder.list(element, relationship, keys.iter().map(String::as_str))
    });
    let map = atom.map.as_ref().map(|map| {
        let mark = builder.open();
        for (name, (type_ref, default)) in &map.fields {
            let type_ref = build_ref(builder, arena, type_ref);
            builder.field(name, type_ref, default.as_ref().map(|value| value.json(arena)).as_ref());
        }
        let element = build_ref(builder, arena, &map.element);
        let fields: Vec<Vec<UnionFieldDef<'_>>> = map
            .unions
            .iter()
            .map(|(_, _, fields)| {
                let field = |(name, value)| UnionFieldDef { field_name: name, discriminator_value: value };
                fields.iter().map(|(name, value)| field((name.as_str(), value.as_str()))).collect()
            })
            .collect();
        let unions: Vec<UnionDef<'_>> = map
            .unions
            .iter()
            .zip(&fields)
            .map(|((discriminator, deduce_invalid_discriminator, _), fields)| UnionDef {
                discriminator: discriminator.as_deref(),
                deduce_invalid_discriminator: *deduce_invalid_discriminator,
                fields,
            })
            .collect();
        let relationship = map.relationship.as_deref().map(Relationship::from_name);
        builder.map(mark, MapDef { element, relationship, unions: &unions })
    });
    builder.atom(atom.scalar.as_deref().map(Scalar::from_name), list, map)
}

fn build_ref<'t>(builder: &mut Builder, arena: &Bump, type_ref: &'t TypeRef) -> Ref<'t> {
    Ref {
        named: type_ref.named.as_deref(),
        inlined: build_atom(builder, arena, &type_ref.inlined),
        relationship: type_ref.relationship.as_deref().map(Relationship::from_name),
        nullable: type_ref.nullable,
    }
}

/// Strings that YAML may read as something else, and any other strings.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,8}",
        prop::sample::select(vec!["", "y", "no", "null", "~", "1", "0x1", "1e5", "- a", "a: b", "a #", "'", "\"", "|"])
            .prop_map(str::to_owned),
        any::<String>(),
    ]
}

fn relationship() -> impl Strategy<Value = Option<String>> {
    let known = prop::sample::select(vec!["atomic", "associative", "separable"]).prop_map(str::to_owned);
    option::of(prop_oneof![4 => known, 1 => text()])
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        // The negative zero is read as an integer, which has no sign.
        any::<f64>().prop_map(|n| Value::Float(if n.is_finite() && n != 0.0 { n } else { 0.5 })),
        text().prop_map(Value::Text),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::List),
            btree_map(text(), inner, 0..4).prop_map(Value::Map),
        ]
    })
}

fn atom() -> impl Strategy<Value = Atom> {
    let known = prop::sample::select(vec!["numeric", "string", "boolean", "untyped"]).prop_map(str::to_owned);
    let scalar = prop_oneof![4 => known, 1 => text()];
    let leaf = option::of(scalar.clone()).prop_map(|scalar| Atom { scalar, ..Atom::default() });
    leaf.prop_recursive(5, 40, 5, move |inner| {
        let type_ref = (option::of(text()), inner, relationship(), any::<bool>())
            .prop_map(|(named, inlined, relationship, nullable)| TypeRef { named, inlined, relationship, nullable });
        let type_ref = type_ref.boxed();
        let list = (type_ref.clone(), relationship(), vec(text(), 0..3)).prop_map(Box::new);
        let union = (option::of(text()), any::<bool>(), btree_map(text(), text(), 0..3));
        let map = (
            btree_map(text(), (type_ref.clone(), option::of(value())), 0..4),
            vec(union, 0..2),
            type_ref,
            relationship(),
        )
            .prop_map(|(fields, unions, element, relationship)| {
                Box::new(Map { fields, unions, element, relationship })
            });
        (option::of(scalar.clone()), option::of(list), option::of(map)).prop_map(|(scalar, list, map)| Atom {
            scalar,
            list,
            map,
        })
    })
}

proptest! {
    #[test]
    fn a_printed_schema_reads_back_the_same(types in btree_map(text(), atom(), 0..4)) {
        let arena = Bump::new();
        let mut builder = Builder::new();
        for (name, atom) in &types {
            let atom = build_atom(&mut builder, &arena, atom);
            builder.type_def(name, atom);
        }
        let built = builder.finish().expect("neither deep nor large");
        // Equality ignores some differences, which the printed form shows.
        let from_yaml = schema(&yaml(&built));
        prop_assert_eq!(json(&from_yaml), json(&built));
        let from_json = schema(&json(&built));
        prop_assert_eq!(json(&from_json), json(&built));
        prop_assert_eq!(&from_yaml, &built);
        for def in built.types() {
            prop_assert_eq!(built.find_type(def.name()), Some(def));
        }
    }
}
