//! Removing, extracting, and sets of an older schema.

use super::{World, paths, print};
use crate::typed::{Emptied, KeyFields, TypedValue};

fn remove(object: &str, set: &str) -> String {
    let world = World::sorts();
    print(world.forms(object)[0].remove_items(world.set(set), &world.arena))
}

fn extract(object: &str, set: &str, keys: KeyFields) -> String {
    let world = World::sorts();
    print(world.forms(object)[0].extract_items(world.set(set), keys, &world.arena))
}

#[test]
fn an_emptied_container_becomes_null() {
    assert_eq!(remove("{s: {x: 1}}", r#"{"f:s":{"f:x":{}}}"#), r#"{"s":null}"#);
    assert_eq!(remove("{set: [a]}", r#"{"f:set":{"v:\"a\"":{}}}"#), r#"{"set":null}"#);
    assert_eq!(remove("{s: {}}", r#"{"f:s":{"f:x":{}}}"#), r#"{"s":null}"#);
    assert_eq!(remove("{s: {x: 1}}", r#"{"f:s":{}}"#), "null");
}

#[test]
fn an_emptied_container_is_kept_in_v6_3_2() {
    let world = World::sorts();
    let remove = |object: &str, set: &str| {
        print(world.forms(object)[0].remove_items_as(world.set(set), Emptied::Kept, &world.arena))
    };
    assert_eq!(remove("{s: {x: 1}}", r#"{"f:s":{"f:x":{}}}"#), r#"{"s":{}}"#);
    assert_eq!(remove("{set: [a]}", r#"{"f:set":{"v:\"a\"":{}}}"#), r#"{"set":[]}"#);
    assert_eq!(remove("{s: {}}", r#"{"f:s":{"f:x":{}}}"#), r#"{"s":{}}"#);
    assert_eq!(remove("{atom: {a: b, c: d}}", r#"{"f:atom":{"f:a":{}}}"#), r#"{"atom":{}}"#);
    // Paths of the set itself are removed, and the object as a whole becomes null.
    assert_eq!(remove("{s: {x: 1}, set: [a]}", r#"{"f:s":{}}"#), r#"{"set":["a"]}"#);
    assert_eq!(remove("{s: {x: 1}}", r#"{"f:s":{}}"#), "null");
}

#[test]
fn atomic_values_are_removed_as_a_whole() {
    assert_eq!(remove("{atom: {a: b, c: d}}", r#"{"f:atom":{"f:a":{}}}"#), r#"{"atom":null}"#);
}

#[test]
fn fields_that_are_not_in_the_set_stay() {
    assert_eq!(
        remove("{s: {x: 1, z: 2}, set: [a, b], labels: {a: b}}", r#"{"f:s":{"f:x":{}},"f:set":{"v:\"a\"":{}}}"#),
        r#"{"labels":{"a":"b"},"s":{"z":2},"set":["b"]}"#
    );
    assert_eq!(
        remove(
            "{ports: [{port: 2, name: q}, {port: 1, name: q}]}",
            r#"{"f:ports":{"k:{\"port\":2,\"protocol\":\"TCP\"}":{"f:name":{}}}}"#
        ),
        r#"{"ports":[{"port":2},{"name":"q","port":1}]}"#
    );
}

#[test]
fn removing_absent_fields_gives_the_same_value_in_memory() {
    let world = World::sorts();
    let object = world.forms("{s: {x: 1}, ports: [{port: 1}]}")[1];
    let left = object.remove_items(world.set(r#"{"f:labels":{"f:a":{}},"f:s":{"f:z":{}}}"#), &world.arena);
    let (Some(left), Some(object)) = (left.value(), object.value()) else { unreachable!("both are there") };
    assert!(super::super::is_same(left, object));
}

#[test]
fn nothing_is_removed_from_an_absent_object() {
    let world = World::sorts();
    let absent = TypedValue::unvalidated(None, world.ty("root"));
    assert_eq!(print(absent.remove_items(world.set(r#"{"f:s":{}}"#), &world.arena)), "absent");
}

#[test]
fn extracting_keeps_members_and_their_parents() {
    let set =
        r#"{"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:name":{},"f:port":{}}},"f:s":{"f:x":{}}}"#;
    let object = "{s: {x: 1, z: 2}, ports: [{port: 80, protocol: TCP, name: w}, {port: 81}]}";
    assert_eq!(extract(object, set, KeyFields::AsOwned), r#"{"ports":[{"name":"w","port":80}],"s":{"x":1}}"#);
    assert_eq!(
        extract(object, set, KeyFields::Append),
        r#"{"ports":[{"name":"w","port":80,"protocol":"TCP"}],"s":{"x":1}}"#
    );
}

#[test]
fn below_a_path_of_the_set_itself_its_siblings_are_used() {
    assert_eq!(extract("{s: {x: 1}}", r#"{"f:s":{}}"#, KeyFields::AsOwned), r#"{"s":null}"#);
    assert_eq!(
        extract("{s: {}, labels: {}}", r#"{"f:labels":{},"f:s":{}}"#, KeyFields::AsOwned),
        r#"{"labels":{},"s":{}}"#
    );
}

#[test]
fn atomic_values_are_extracted_as_a_whole() {
    assert_eq!(
        extract("{atom: {a: b, c: d}}", r#"{"f:atom":{}}"#, KeyFields::AsOwned),
        r#"{"atom":{"a":"b","c":"d"}}"#
    );
    assert_eq!(extract("{s: {x: 1}}", "{}", KeyFields::AsOwned), "null");
}

#[test]
fn an_item_of_the_set_is_extracted_with_all_its_fields() {
    assert_eq!(
        extract(
            "{ports: [{port: 80, name: w}]}",
            r#"{"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{}}}"#,
            KeyFields::AsOwned
        ),
        r#"{"ports":[{"name":"w","port":80}]}"#
    );
}

/// Returns the set adapted to the schema, or `same` if nothing changes.
fn reconcile(set: &str) -> String {
    let world = World::sorts();
    let object = world.forms("{}")[0];
    match object.reconcile(world.set(set), &world.arena) {
        Ok(changed) => changed.map_or_else(|| "same".to_owned(), paths),
        Err(errors) => errors.to_string(),
    }
}

#[test]
fn values_that_became_atomic_are_owned_as_a_whole() {
    assert_eq!(reconcile(r#"{"f:atom":{"f:p":{},"f:q":{}},"f:s":{"f:x":{}}}"#), ".atom .s.x");
    assert_eq!(reconcile(r#"{"f:atom":{".":{},"f:p":{}}}"#), ".atom");
    assert_eq!(reconcile(r#"{"f:al":{"i:0":{},"v:\"a\"":{}}}"#), ".al");
}

#[test]
fn granular_values_are_not_changed() {
    assert_eq!(reconcile(r#"{"f:atom":{}}"#), "same");
    assert_eq!(reconcile(r#"{"f:labels":{},"f:ports":{"k:{\"port\":80}":{"f:name":{}}}}"#), "same");
    assert_eq!(reconcile(r#"{"f:zz":{"f:a":{}}}"#), "same");
}

#[test]
fn free_form_maps_are_not_changed() {
    let world = World::new(
        "types: [{name: root, map: {fields: [{name: m, type:
           {map: {elementType: {scalar: untyped}, elementRelationship: atomic}}}]}}]",
    );
    let changed = world.forms("{}")[0].reconcile(world.set(r#"{"f:m":{"f:a":{}}}"#), &world.arena);
    assert_eq!(changed.map(|set| set.map(paths)), Ok(None));
}

#[test]
fn a_missing_type_prevents_reconciling() {
    let world = World::new("types: [{name: root, map: {fields: [{name: a, type: {namedType: zz}}]}}]");
    let changed = world.forms("{}")[0].reconcile(world.set(r#"{"f:a":{"f:b":{}}}"#), &world.arena);
    assert_eq!(changed.map(|_| ()).map_err(|errors| errors.to_string()), Err("could not resolve zz".to_owned()));
}

#[test]
fn items_without_a_name_share_one_element() {
    let world = World::new(
        "
types:
- name: root
  map: {fields: [{name: odd, type: {list: {elementType: {scalar: string}, elementRelationship: separable}}}]}
",
    );
    let object = world.forms("{odd: [a, b]}")[0];
    let fields = object.to_field_set(&world.arena).expect("no type is missing");
    assert_eq!(fields.len(), 1);
    assert_eq!(print(object.remove_items(fields, &world.arena)), r#"{"odd":null}"#);
    assert_eq!(print(object.extract_items(fields, KeyFields::AsOwned, &world.arena)), r#"{"odd":["a","b"]}"#);
}
