//! Compiled types.

use super::{Duplicates, World};
use crate::fieldpath::PathElement;
use crate::schema::{AtomId, Builder, MapDef, Ref, Relationship};
use crate::typed::Types;
use crate::{Bump, Value};

#[test]
fn an_override_applies_to_the_map_and_else_to_the_list() {
    let world = World::new(
        "types:
         - {name: both, map: {elementType: {scalar: string}}, list: {elementType: {scalar: string}, elementRelationship: associative}}
         - {name: root, map: {fields: [
             {name: plain, type: {namedType: both}}, {name: atomic, type: {namedType: both, elementRelationship: atomic}}]}}",
    );
    let fields = |yaml| super::paths(world.forms(yaml)[0].to_field_set(&world.arena).expect("known types"));
    assert_eq!(fields("{plain: {a: b}, atomic: {a: b}}"), ".atomic .plain.a");
    assert_eq!(fields("{plain: [a], atomic: [a]}"), r#".atomic[="a"] .plain[="a"]"#);
}

#[test]
fn of_repeated_fields_and_types_the_last_one_is_used() -> Result<(), crate::schema::BuildError> {
    let mut builder = Builder::new();
    let fields = builder.open();
    builder.field("b", Ref::inlined(AtomId::STRING), None);
    builder.field("a", Ref::inlined(AtomId::STRING), None);
    builder.field("b", Ref::inlined(AtomId::NUMERIC), None);
    let map = builder.map(fields, MapDef::default());
    let map = builder.atom(None, None, Some(map));
    builder.type_def("t", AtomId::STRING);
    builder.type_def("t", map);
    let types = Types::new(builder.finish()?);
    let entries = [("b", Value::Int(1))];
    let value = Value::Map(crate::value::Map::sorted(&entries));
    assert!(types.named("t").is_some_and(|ty| ty.validate(value, Duplicates::Refused).is_ok()));
    Ok(())
}

#[test]
fn fields_with_the_same_prefix_are_distinguished() {
    let world = World::new(
        "types: [{name: root, map: {fields: [
           {name: terminationGrace, type: {scalar: numeric}}, {name: terminationMessage, type: {scalar: string}},
           {name: terminat, type: {scalar: boolean}}, {name: '', type: {scalar: boolean}}, {name: a, type: {scalar: string}}]}}]",
    );
    let complaints = |yaml| world.complaints("root", yaml, Duplicates::Refused);
    assert_eq!(complaints("{'': true, a: x, terminat: true, terminationGrace: 1, terminationMessage: x}"), "");
    assert_eq!(complaints("{terminationH: 1}"), ".terminationH: field not declared in schema");
    assert_eq!(complaints(r#"{"a\0": 1}"#), ".a\0: field not declared in schema");
}

#[test]
fn a_map_of_many_fields_finds_each() -> Result<(), crate::schema::BuildError> {
    let names: Vec<String> = (0..300).map(|n| format!("n{n:03}")).collect();
    let mut builder = Builder::new();
    let fields = builder.open();
    for name in &names {
        builder.field(name, Ref::inlined(AtomId::NUMERIC), None);
    }
    let map = builder.map(fields, MapDef::default());
    let map = builder.atom(None, None, Some(map));
    builder.type_def("t", map);
    let types = Types::new(builder.finish()?);
    let ty = types.named("t").expect("just added");
    for step in [1, 7, 50, 299] {
        let entries: Vec<_> = names.iter().step_by(step).map(|name| (name.as_str(), Value::Int(1))).collect();
        assert!(ty.validate(Value::Map(crate::value::Map::sorted(&entries)), Duplicates::Refused).is_ok());
        let misses: Vec<String> = names.iter().step_by(step).map(|name| format!("{name}x")).collect();
        for miss in &misses {
            let entries = [(miss.as_str(), Value::Int(1))];
            assert!(ty.validate(Value::Map(crate::value::Map::sorted(&entries)), Duplicates::Refused).is_err());
        }
    }
    Ok(())
}

#[test]
fn a_step_uses_all_shapes_of_the_type() {
    let world = World::new(
        "types: [{name: t, map: {fields: [{name: a, type: {scalar: string}}], elementType: {scalar: numeric}},
           list: {elementType: {namedType: t}, elementRelationship: associative, keys: [a]}}]",
    );
    let ty = world.ty("t");
    let key = [("a", Value::String("x"))];
    assert!(ty.below(&PathElement::FieldName("a")).declared);
    assert!(!ty.below(&PathElement::FieldName("b")).declared);
    assert!(ty.below(&PathElement::Key(&key)).ty.is(ty));
    // Items that are identified by value or index have no type below them.
    assert!(ty.below(&PathElement::Value(Value::Int(1))).ty.field("a").is_none());
    assert!(ty.below(&PathElement::Index(0)).ty.field("a").is_none());
}

#[test]
fn a_shared_atom_is_compiled_once() -> Result<(), crate::schema::BuildError> {
    // Expanded, this type has two to the power of sixty fields.
    let mut builder = Builder::new();
    let mut atom = AtomId::STRING;
    for _ in 0..60 {
        let fields = builder.open();
        builder.field("a", Ref::inlined(atom), None);
        builder.field("b", Ref { relationship: Some(Relationship::Atomic), ..Ref::inlined(atom) }, None);
        let map = builder.map(fields, MapDef::default());
        atom = builder.atom(None, None, Some(map));
    }
    builder.type_def("t", atom);
    let types = Types::new(builder.finish()?);
    assert!(types.named("t").and_then(|ty| ty.field("a")?.field("b")).is_some());
    Ok(())
}

#[test]
fn types_may_refer_to_each_other_in_circles() {
    let world = World::new("types: [{name: root, map: {elementType: {namedType: root}}}]");
    assert_eq!(world.complaints("root", "{a: {b: {c: {}}}}", Duplicates::Refused), "");
}

#[test]
fn defaults_of_keys_may_be_anything() {
    let world = World::new(
        "types: [{name: root, map: {fields: [{name: l, type: {list: {
           elementType: {map: {fields: [{name: a, type: {scalar: untyped}, default: {x: [1, null, true, 1.5]}}, {name: b, type: {scalar: string}}]}},
           elementRelationship: associative, keys: [b, a]}}}]}}]",
    );
    let arena = Bump::new();
    let fields = world.forms("{l: [{b: w}]}")[0].to_field_set(&arena).map(super::paths);
    assert_eq!(fields, Ok(r#".l[a=x=[1,null,true,1.5],b="w"] .l[a=x=[1,null,true,1.5],b="w"].b"#.to_owned()));
}

#[test]
fn types_can_be_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Types>();
}
