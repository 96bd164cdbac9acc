//! Validation, and the fields of a value.

use super::{Duplicates, World, paths};
use crate::typed::{KeyFields, TypedValue, ValidationErrorKind};

fn strictly(yaml: &str) -> String {
    World::sorts().complaints("root", yaml, Duplicates::Refused)
}

#[test]
fn null_is_a_value_of_every_type() {
    assert_eq!(strictly("{s: null, set: null, ports: null, labels: {a: null}, atom: null, f: null}"), "");
    assert_eq!(strictly("null"), "");
}

#[test]
fn a_value_of_another_kind_is_reported_as_go_prints_it() {
    assert_eq!(strictly("{s: str}"), ".s: expected map, got &{str}");
    assert_eq!(strictly("{set: {b: [x, null]}}"), ".set: expected list, got &{map[b:[x <nil>]]}");
    assert_eq!(strictly("{s: {x: a}}"), ".s.x: expected numeric (int or float), got string");
    assert_eq!(
        strictly("{al: [{a: [1]}]}"),
        r#".al[0]: expected string, got &value.valueUnstructured{Value:map[string]interface {}{"a":[]interface {}{1}}}"#
    );
}

#[test]
fn an_undeclared_field_ends_the_check_of_its_map() {
    assert_eq!(strictly("{zz: 1}"), ".zz: field not declared in schema");
    assert_eq!(strictly("{s: {u: 1, v: 2, x: a}}"), ".s.u: field not declared in schema");
}

#[test]
fn an_undeclared_field_is_reported_with_the_nearest_declared_ones() {
    let world = World::sorts();
    let errors = world.ty("port").validate(world.value("{protocl: UDP}"), Duplicates::Refused).err();
    let kinds: Vec<_> = errors.into_iter().flat_map(|errors| errors.0).map(|error| error.kind).collect();
    let nearest = vec!["protocol".to_owned()];
    assert_eq!(kinds, [ValidationErrorKind::UndeclaredField { name: "protocl".to_owned(), nearest }]);
}

#[test]
fn errors_carry_a_json_pointer() {
    let world = World::sorts();
    let value = world.value("{ports: [{port: 80, in: {a/b~: 1}}]}");
    let errors = world.ty("root").validate(value, Duplicates::Refused).expect_err("a number is no string");
    assert_eq!(errors.0[0].path, r#".ports[port=80,protocol="TCP"].in.a/b~"#);
    assert_eq!(errors.0[0].pointer, "/ports/0/in/a~1b~0");
}

#[test]
fn several_errors_are_on_lines_of_their_own() {
    assert_eq!(
        strictly("{s: {x: a, z: b}}"),
        "errors:\n  .s.x: expected numeric (int or float), got string\n  .s.z: expected numeric (int or float), got string"
    );
}

#[test]
fn items_must_not_repeat_unless_allowed() {
    assert_eq!(strictly("{set: [a, a]}"), r#".set: duplicate entries for key [="a"]"#);
    let world = World::sorts();
    assert_eq!(world.complaints("root", "{set: [a, a]}", Duplicates::Allowed), "");
}

#[test]
fn keys_are_compared_with_their_defaults() {
    assert_eq!(
        strictly("{ports: [{port: 80}, {port: 80, protocol: TCP}]}"),
        r#".ports: duplicate entries for key [port=80,protocol="TCP"]"#
    );
}

#[test]
fn a_key_that_is_omitted_has_its_default() {
    let world = World::sorts();
    let item = world.forms("{ports: [{name: w}]}")[0];
    let fields = item.to_field_set(&world.arena).expect("known types");
    assert_eq!(paths(fields), r#".ports[protocol="TCP"] .ports[protocol="TCP"].name"#);
}

#[test]
fn an_item_without_any_key_has_no_path_and_ends_the_check_of_its_list() {
    let world = World::new(
        "types: [{name: root, map: {fields: [{name: l, type: {list: {
           elementType: {map: {fields: [{name: b, type: {scalar: string}, default: null}, {name: a, type: {scalar: string}}]}},
           elementRelationship: associative, keys: [b, a]}}}]}}]",
    );
    assert_eq!(
        world.complaints("root", "{l: [{a: 1}, {}, {a: 1}]}", Duplicates::Refused),
        "errors:\n  .l[a=1].a: expected string, got &value.valueUnstructured{Value:1}\n  .l: element 1: associative list \
         with keys has an element that omits all key fields [\"b\" \"a\"] (and doesn't have default values for any key \
         fields)"
    );
}

#[test]
fn items_of_keyed_lists_are_maps_and_those_of_sets_are_scalars() {
    assert_eq!(
        strictly("{ports: [null]}"),
        ".ports: element 0: associative list with keys may not have a null element"
    );
    assert_eq!(strictly("{ports: [1]}"), ".ports: element 0: associative list with keys may not have non-map elements");
    assert_eq!(
        strictly("{set: [{}]}"),
        ".set: element 0: associative list without keys has an element that's a map type"
    );
    assert_eq!(strictly("{set: [[]]}"), ".set: element 0: not supported: associative list with lists as elements");
    assert_eq!(
        strictly("{set: [null]}"),
        ".set: element 0: associative list without keys has an element that's an explicit null"
    );
}

#[test]
fn gaps_of_a_schema_fail_only_for_values_that_need_them() {
    let world = World::new(
        "types: [{name: root, map: {fields: [
           {name: a, type: {namedType: zz}}, {name: b, type: {scalar: weird}}, {name: c, type: {nullable: true}},
           {name: d, type: {scalar: string, elementRelationship: atomic}}]}}]",
    );
    let complaints = |yaml| world.complaints("root", yaml, Duplicates::Refused);
    assert_eq!(complaints("{}"), "");
    assert_eq!(complaints("{a: null}"), ".a: schema error: no type found matching: zz");
    assert_eq!(complaints("{b: 1}"), ".b: unexpected scalar type in schema: weird");
    assert_eq!(complaints("{b: null}"), "");
    assert_eq!(complaints("{c: 1}"), ".c: schema error: invalid atom: inlined");
    assert_eq!(complaints("{d: x}"), ".d: schema error: no type found matching: inlined type");
}

#[test]
fn a_list_given_to_a_map_or_scalar_fails_as_a_map() {
    let world = World::new("types: [{name: root, scalar: untyped, map: {elementType: {scalar: string}}}]");
    assert_eq!(world.complaints("root", "[a]", Duplicates::Refused), "expected map, got &{[a]}");
}

fn fields(yaml: &str) -> String {
    let world = World::sorts();
    let sets: Vec<String> = world
        .forms(yaml)
        .into_iter()
        .map(|value| paths(value.to_field_set(&world.arena).expect("known types")))
        .collect();
    assert!(sets.windows(2).all(|pair| pair[0] == pair[1]), "{sets:?}");
    sets[0].clone()
}

#[test]
fn a_defaulted_key_is_part_of_the_path_but_not_owned() {
    assert_eq!(
        fields("{s: {x: 1}, labels: {k: v}, set: [a], ports: [{port: 80, name: w}]}"),
        r#".labels.k .ports[port=80,protocol="TCP"] .ports[port=80,protocol="TCP"].name .ports[port=80,protocol="TCP"].port .s.x .set[="a"]"#
    );
}

#[test]
fn an_empty_associative_list_owns_nothing_but_other_empty_things_own_themselves() {
    assert_eq!(fields("{set: []}"), "");
    assert_eq!(fields("{ports: []}"), "");
    assert_eq!(fields("{set: null}"), ".set");
    assert_eq!(fields("{labels: {}}"), ".labels");
    assert_eq!(fields("{s: null}"), ".s");
    assert_eq!(fields("{al: []}"), ".al");
    assert_eq!(fields("{atom: {a: b}}"), ".atom");
    assert_eq!(fields("null"), "");
}

#[test]
fn entries_under_undeclared_keys_are_owned_in_addition_to_their_contents() {
    assert_eq!(fields("{mm: {a: {}}}"), ".mm.a");
    assert_eq!(fields("{mm: {a: {b: c}}}"), ".mm.a .mm.a.b");
    assert_eq!(fields("{f: {a: [1, {b: c}], e: {}, m: {x: 1}}}"), ".f.a .f.e .f.m .f.m.x");
}

#[test]
fn of_repeated_items_only_the_path_is_owned() {
    assert_eq!(fields("{set: [a, a, b]}"), r#".set[="a"] .set[="b"]"#);
    assert_eq!(fields("{ports: [{port: 1, name: a}, {port: 1}]}"), r#".ports[port=1,protocol="TCP"]"#);
}

#[test]
fn an_absent_object_has_no_fields() {
    let world = World::sorts();
    let absent = TypedValue::unvalidated(None, world.ty("root"));
    assert_eq!(absent.to_field_set(&world.arena).map(paths), Ok(String::new()));
}

#[test]
fn a_missing_type_prevents_listing_the_fields_of_a_value() {
    let world = World::new("types: [{name: root, map: {fields: [{name: a, type: {namedType: zz}}]}}]");
    let object = world.forms("{a: 1}")[0];
    let errors = object.to_field_set(&world.arena).expect_err("a type is missing");
    assert_eq!(errors.to_string(), "schema error: no type found matching: zz");
}

#[test]
fn values_that_nest_as_deep_as_readers_allow_are_walked() {
    let world = World::sorts();
    let (maps, lists) = (("{a: ", "}"), ("[", "]"));
    for (open, close) in [maps, lists] {
        let nested = |end: &str| world.value(&format!("{{f: {}{end}{}}}", open.repeat(510), close.repeat(510)));
        let (one, two) = (nested("1"), nested("2"));
        let ty = world.ty("root");
        let [left, right] = [one, two].map(|value| TypedValue::unvalidated(Some(value), ty));
        assert!(ty.validate(one, Duplicates::Refused).is_ok());
        let fields = left.to_field_set(&world.arena).expect("known types");
        assert!(!fields.is_empty());
        assert!(left.compare(right, &world.arena).is_ok_and(|changes| !changes.is_same()));
        assert_eq!(left.merge(right, &world.arena).map(TypedValue::value), Ok(Some(two)));
        assert_ne!(left.remove_items(fields.leaves(&world.arena), &world.arena).value(), Some(one));
        let extracted = left.extract_items(fields.leaves(&world.arena), KeyFields::Append, &world.arena);
        assert_eq!(extracted.value(), Some(one));
        assert_eq!(left.reconcile(fields, &world.arena), Ok(None));
    }
}
