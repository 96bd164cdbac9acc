//! Comparing and merging.

use super::{World, paths, print};
use crate::typed::{CompareError, TypedValue};
use crate::value::{Map, Value};

/// Prints the comparison, which must not depend on what was checked of the values.
fn compare(left: &str, right: &str) -> String {
    let world = World::sorts();
    let mut found = Vec::new();
    for left in world.forms(left) {
        for right in world.forms(right) {
            found.push(match left.compare(right, &world.arena) {
                Ok(changes) => {
                    format!("-{} ~{} +{}", paths(changes.removed), paths(changes.modified), paths(changes.added))
                }
                Err(error) => error.to_string(),
            });
        }
    }
    assert!(found.windows(2).all(|pair| pair[0] == pair[1]), "{found:?}");
    found[0].clone()
}

fn merge_in(world: &World, live: &str, config: &str) -> String {
    let mut found = Vec::new();
    for live in world.forms(live) {
        for config in world.forms(config) {
            found.push(match live.merge(config, &world.arena) {
                Ok(merged) => print(merged),
                Err(error) => error.to_string(),
            });
        }
    }
    assert!(found.windows(2).all(|pair| pair[0] == pair[1]), "{found:?}");
    found[0].clone()
}

fn merge(live: &str, config: &str) -> String {
    merge_in(&World::sorts(), live, config)
}

#[test]
fn fields_of_one_side_are_reported_with_their_parents() {
    assert_eq!(compare("{s: {x: 1}}", "{s: {}}"), "-.s.x ~ +");
    assert_eq!(compare("{s: {x: 1}}", "{}"), "-.s .s.x ~ +");
    assert_eq!(
        compare("{}", "{ports: [{port: 80}]}"),
        r#"- ~ +.ports .ports[port=80,protocol="TCP"] .ports[port=80,protocol="TCP"].port"#
    );
}

#[test]
fn empty_and_null_are_different() {
    assert_eq!(compare("{s: {}}", "{s: null}"), "- ~.s +");
    assert_eq!(compare("{set: []}", "{set: null}"), "- ~.set +");
    assert_eq!(compare("{s: {}}", "{s: {}}"), "- ~ +");
}

#[test]
fn atomic_values_change_as_a_whole() {
    assert_eq!(compare("{atom: {a: b}}", "{atom: {a: c}}"), "- ~.atom +");
    assert_eq!(compare("{al: [a, b]}", "{al: [b, a]}"), "- ~.al +");
}

#[test]
fn the_order_of_an_associative_list_is_not_a_change() {
    assert_eq!(compare("{set: [a, b]}", "{set: [b, a]}"), "- ~ +");
    assert_eq!(
        compare("{ports: [{port: 1}, {port: 2}]}", "{ports: [{port: 2, name: q}, {port: 1}]}"),
        r#"- ~ +.ports[port=2,protocol="TCP"].name"#
    );
}

#[test]
fn repeated_items_are_compared_as_one_value() {
    assert_eq!(compare("{set: [a, a]}", "{set: [a, a]}"), "- ~ +");
    assert_eq!(compare("{set: [a, a]}", "{set: [a, a, a]}"), r#"- ~.set[="a"] +"#);
    assert_eq!(compare("{set: [a, a]}", "{set: [a]}"), r#"-.set[="a"] ~ +.set[="a"]"#);
    assert_eq!(compare("{set: [a]}", "{set: [a, a]}"), r#"-.set[="a"] ~ +.set[="a"]"#);
    assert_eq!(compare("{set: [a, a, b]}", "{set: [b]}"), r#"-.set[="a"] ~ +"#);
    assert_eq!(compare("{set: [b]}", "{set: [a, a, b]}"), r#"- ~ +.set[="a"]"#);
}

#[test]
fn another_shape_is_a_change_of_both() {
    assert_eq!(compare("{f: 1}", "{f: {a: 1}}"), "- ~.f +.f.a");
    assert_eq!(compare("{f: {a: 1}}", "{f: 1}"), "-.f.a ~.f +");
    assert_eq!(compare("{f: {a: 1}}", "{f: [1]}"), "-.f.a ~.f +");
    assert_eq!(compare("{f: [1]}", "{f: {a: 1}}"), "- ~.f +.f.a");
    assert_eq!(compare("{f: null}", "{f: {a: 1}}"), "- ~ +.f.a");
    assert_eq!(compare("{f: {a: 1}}", "{f: null}"), "-.f.a ~ +");
}

#[test]
fn a_scalar_that_matches_on_one_side_is_enough() {
    assert_eq!(compare("{s: {x: a}}", "{s: {x: 1}}"), "- ~.s.x +");
    assert_eq!(
        compare("{s: {x: a}}", "{s: {x: b}}"),
        "errors:\n  .s.x: lhs: expected numeric (int or float), got string\n  .s.x: rhs: expected numeric (int or \
         float), got string"
    );
}

#[test]
fn an_item_without_path_fails_the_comparison_even_if_nothing_changes() {
    let world = World::sorts();
    let object = world.forms("{set: [null]}")[0];
    let error = object.compare(object, &world.arena).map(|_| ()).map_err(|error| error.to_string());
    let once = "  .set: element 0: associative list without keys has an element that's an explicit null";
    assert_eq!(error, Err(format!("errors:\n{once}\n{once}")));
}

#[test]
fn values_of_other_types_and_absent_ones_are_not_compared() {
    let (world, other) = (World::sorts(), World::sorts());
    let object = world.forms("{}")[0];
    assert_eq!(object.compare(other.forms("{}")[0], &world.arena), Err(CompareError::OtherSchema));
    let port = TypedValue::unvalidated(object.value(), world.ty("port"));
    assert_eq!(object.compare(port, &world.arena), Err(CompareError::OtherType("root".to_owned(), "port".to_owned())));
    let absent = TypedValue::unvalidated(None, world.ty("root"));
    let error = absent.compare(absent, &world.arena).expect_err("both are absent").to_string();
    assert_eq!(error, "at least one of lhs and rhs must be provided");
    assert_eq!(absent.merge(object, &world.arena).map(print), Ok("{}".to_owned()));
}

#[test]
fn items_are_in_the_order_of_the_configuration() {
    for (live, config, merged) in [
        ("[b, a, x]", "[a, b]", r#"["a","x","b"]"#),
        ("[m]", "[c]", r#"["m","c"]"#),
        ("[a, b, c]", "[c, a]", r#"["b","c","a"]"#),
        ("[a, b, c, d]", "[d, x, a]", r#"["b","c","d","x","a"]"#),
        ("[x, a, w, b, z]", "[b, a]", r#"["x","w","b","z","a"]"#),
        ("[nginx]", "[sidecar]", r#"["nginx","sidecar"]"#),
        ("[]", "[b, a]", r#"["b","a"]"#),
    ] {
        let expected = format!(r#"{{"set":{merged}}}"#);
        assert_eq!(merge(&format!("{{set: {live}}}"), &format!("{{set: {config}}}")), expected, "{live} {config}");
    }
}

#[test]
fn live_repeats_stay_unless_the_configuration_has_the_item() {
    for (live, config, merged) in [
        ("[a, a]", "[b]", r#"["a","a","b"]"#),
        ("[a, a]", "[a]", r#"["a"]"#),
        ("[a, x, a]", "[a]", r#"["a","x"]"#),
        ("[x, a, a]", "[c, a]", r#"["x","c","a"]"#),
    ] {
        let expected = format!(r#"{{"set":{merged}}}"#);
        assert_eq!(merge(&format!("{{set: {live}}}"), &format!("{{set: {config}}}")), expected, "{live} {config}");
    }
    assert_eq!(
        merge("{ports: [{port: 80, name: a}, {port: 80, name: b}]}", "{ports: [{port: 80}]}"),
        r#"{"ports":[{"port":80}]}"#
    );
}

#[test]
fn a_configuration_must_not_repeat_items() {
    assert_eq!(merge("{set: [a]}", "{set: [b, b]}"), r#".set: duplicate entries for key [="b"]"#);
}

#[test]
fn an_item_keeps_fields_that_only_the_live_one_has() {
    assert_eq!(
        merge("{ports: [{port: 80, protocol: TCP, name: q}]}", "{ports: [{port: 80}]}"),
        r#"{"ports":[{"name":"q","port":80,"protocol":"TCP"}]}"#
    );
}

#[test]
fn nulls_and_empties_are_kept_as_upstream_keeps_them() {
    for (live, config, merged) in [
        ("{s: {x: 1}}", "{s: null}", r#"{"s":{"x":1}}"#),
        ("{s: {x: 1}}", "{s: {}}", r#"{"s":{"x":1}}"#),
        ("{set: [a]}", "{set: null}", r#"{"set":["a"]}"#),
        ("{set: [a]}", "{set: []}", r#"{"set":["a"]}"#),
        ("{s: {}}", "{s: null}", r#"{"s":null}"#),
        ("{s: null}", "{s: {}}", r#"{"s":{}}"#),
        ("{s: {x: 1}}", "{s: {x: null}}", r#"{"s":{"x":null}}"#),
        ("{al: [a]}", "{al: null}", r#"{"al":null}"#),
        ("{atom: {a: b}}", "{atom: null}", r#"{"atom":null}"#),
        ("{f: {a: 1}}", "{f: null}", r#"{"f":{"a":1}}"#),
        ("{f: [1]}", "{f: null}", r#"{"f":null}"#),
        ("{f: {a: 1}}", "{f: []}", r#"{"f":[]}"#),
        ("{f: {a: 1}}", "{f: 2}", r#"{"f":2}"#),
        ("{f: 1}", "{f: {a: 1}}", r#"{"f":{"a":1}}"#),
        ("{s: {x: 1}}", "null", r#"{"s":{"x":1}}"#),
        ("{}", "null", "null"),
    ] {
        assert_eq!(merge(live, config), merged, "{live} + {config}");
    }
}

#[test]
fn a_container_of_another_kind_is_treated_as_absent() {
    assert_eq!(merge("{s: {x: 1}}", "{s: a}"), r#"{"s":{"x":1}}"#);
    assert_eq!(merge("{s: {}}", "{s: a}"), r#"{"s":"a"}"#);
}

#[test]
fn errors_below_list_items_are_lost() {
    let world = World::new(
        "types: [{name: root, map: {fields: [
           {name: l, type: {list: {elementType: {map: {fields: [{name: k, type: {scalar: string}}],
             elementType: {namedType: zz}}}, elementRelationship: associative, keys: [k]}}},
           {name: m, type: {namedType: zz}}]}}]",
    );
    assert_eq!(merge_in(&world, "{l: [{k: a, v: 1}]}", "{l: [{k: a, v: 2}]}"), r#"{"l":[{"k":"a"}]}"#);
    // The error of a missing type is at its parent.
    assert_eq!(merge_in(&world, "{m: 1}", "{m: 2}"), "schema error: no type found matching: zz");
}

#[test]
fn items_without_path_fail_the_merge() {
    let world = World::new(
        "types: [{name: root, map: {fields: [
           {name: l, type: {list: {elementType: {scalar: string}, elementRelationship: separable}}}]}}]",
    );
    let once = "  .l: element 0: invalid indexing of non-associative list";
    assert_eq!(merge_in(&world, "{l: [a]}", "{l: [a]}"), format!("errors:\n{once}\n{once}"));
    assert_eq!(merge_in(&world, "{l: []}", "{l: null}"), r#"{"l":null}"#);
}

#[test]
fn a_merge_that_changes_nothing_is_the_live_value_in_memory() {
    let world = World::sorts();
    let live = world.forms("{s: {x: 1, z: 2}, set: [a, b], ports: [{port: 1, name: q}], labels: {a: b}}")[1];
    for config in world.forms("{s: {x: 1}, set: [b], ports: [{port: 1, name: q}], labels: {a: b}}") {
        let merged = live.merge(config, &world.arena).expect("both are valid");
        let (Some(merged), Some(live)) = (merged.value(), live.value()) else { unreachable!("both are there") };
        assert!(super::super::is_same(merged, live));
    }
}

#[test]
fn unchanged_parts_of_a_merge_are_shared() {
    let world = World::sorts();
    let live = world.forms("{s: {x: 1}, labels: {a: b}}")[1];
    let merged = live.merge(world.forms("{s: {x: 2}}")[2], &world.arena).expect("both are valid");
    let (Some(merged), Some(live)) = (merged.value(), live.value()) else { unreachable!("both are there") };
    let labels = merged.get("labels").zip(live.get("labels"));
    assert!(labels.is_some_and(|(merged, live)| super::super::is_same(merged, live)));
}

#[test]
fn an_integer_and_its_float_are_not_a_change_but_the_configurations_is_used() {
    let world = World::sorts();
    let live = world.forms("{s: {x: 1}}")[0];
    let x = [("x", Value::Float(1.0))];
    let entries = [("s", Value::Map(Map::sorted(&x)))];
    let config = TypedValue::unvalidated(Some(Value::Map(Map::sorted(&entries))), world.ty("root"));
    assert_eq!(live.compare(config, &world.arena).map(|changes| changes.is_same()), Ok(true));
    let merged = live.merge(config, &world.arena).expect("both are valid").value();
    let x = merged.and_then(|merged| merged.get("s")?.get("x"));
    assert!(matches!(x, Some(Value::Float(_))), "{x:?}");
}
