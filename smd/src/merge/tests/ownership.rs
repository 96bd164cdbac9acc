//! Owners and objects after operations at one version.

use super::*;
use crate::fieldpath::{Filter, Set};

#[test]
fn an_apply_owns_the_fields_of_its_configuration_and_no_defaulted_key() {
    with_live(|live| {
        let config = r#"{"s":{"x":1},"labels":{"k":"v"},"set":["a"],"ports":[{"port":80,"name":"w"}]}"#;
        assert_eq!(live.apply("m", config), Ok(true));
        assert_eq!(
            live.owners(),
            [
                r#"m applied {"f:labels":{"f:k":{}},"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:name":{},"f:port":{}}},"f:s":{"f:x":{}},"f:set":{"v:\"a\"":{}}}"#
            ]
        );
    });
}

#[test]
fn an_update_owns_new_parents_too() {
    with_live(|live| {
        assert_eq!(live.update("m", r#"{"s":{"x":1},"set":["a"]}"#), Ok(true));
        assert_eq!(live.owners(), [r#"m updated {"f:s":{".":{},"f:x":{}},"f:set":{".":{},"v:\"a\"":{}}}"#]);
    });
}

#[test]
fn equal_values_are_owned_together_and_stay_until_the_last_owner_leaves() {
    with_live(|live| {
        assert_eq!(live.apply("m1", r#"{"s":{"x":1}}"#), Ok(true));
        assert_eq!(live.apply("m2", r#"{"s":{"x":1}}"#), Ok(false), "nothing changed");
        assert_eq!(live.owners(), [r#"m1 applied {"f:s":{"f:x":{}}}"#, r#"m2 applied {"f:s":{"f:x":{}}}"#]);

        assert_eq!(live.apply("m2", "{}"), Ok(false));
        assert_eq!(
            (live.object(), live.owners()),
            (r#"{"s":{"x":1}}"#.into(), vec![r#"m1 applied {"f:s":{"f:x":{}}}"#.into()])
        );
        assert_eq!(live.apply("m1", "{}"), Ok(true));
        assert_eq!((live.object(), live.owners()), ("null".into(), vec![]));
    });
}

#[test]
fn another_value_conflicts_unless_forced() {
    with_live(|live| {
        assert_eq!(live.apply("m1", r#"{"s":{"x":1}}"#), Ok(true));
        assert_eq!(live.apply("m2", r#"{"s":{"x":2}}"#), Err(r#"conflict with "m1": .s.x"#.into()));
        assert_eq!(live.force("m2", r#"{"s":{"x":2}}"#), Ok(true));
        assert_eq!(
            (live.object(), live.owners()),
            (r#"{"s":{"x":2}}"#.into(), vec![r#"m2 applied {"f:s":{"f:x":{}}}"#.into()])
        );
    });
}

#[test]
fn several_conflicts_are_listed_below_their_managers() {
    with_live(|live| {
        assert_eq!(live.apply("b", r#"{"s":{"x":1,"y":1}}"#), Ok(true));
        assert_eq!(live.apply("a\"", r#"{"labels":{"k":"v"}}"#), Ok(true));
        assert_eq!(
            live.apply("m", r#"{"s":{"x":2,"y":2},"labels":{"k":"w"}}"#),
            Err("conflicts with \"a\\\"\":\n- .labels.k\nconflicts with \"b\":\n- .s.x\n- .s.y".into())
        );
    });
}

#[test]
fn an_update_never_conflicts_and_takes_only_what_it_changes() {
    with_live(|live| {
        assert_eq!(live.apply("m1", r#"{"s":{"x":1,"y":1}}"#), Ok(true));
        assert_eq!(live.update("u", r#"{"s":{"x":2,"y":1}}"#), Ok(true));
        assert_eq!(live.owners(), [r#"m1 applied {"f:s":{"f:y":{}}}"#, r#"u updated {"f:s":{"f:x":{}}}"#]);
        assert_eq!(live.update("v", r#"{"s":{"x":2,"y":1}}"#), Ok(true), "an update returns its object");
        assert_eq!(live.owners().len(), 2, "what did not change has no new owner");
    });
}

#[test]
fn a_struct_that_was_applied_as_null_is_null() {
    with_live(|live| {
        assert_eq!(live.apply("m", r#"{"s":{"x":1}}"#), Ok(true));
        assert_eq!(live.apply("m", r#"{"s":null}"#), Ok(true));
        assert_eq!((live.object(), live.owners()), (r#"{"s":null}"#.into(), vec![r#"m applied {"f:s":{}}"#.into()]));
    });
    with_live(|live| {
        assert_eq!(live.apply("m", r#"{"s":{"x":1}}"#), Ok(true));
        assert_eq!(live.update("u", r#"{"s":{"x":1,"y":2}}"#), Ok(true));
        assert_eq!(live.apply("m", r#"{"s":null}"#), Ok(true));
        assert_eq!(live.object(), r#"{"s":{"y":2}}"#, "another manager owns a field below");
    });
}

#[test]
fn fields_that_are_not_applied_again_are_removed_and_fields_without_an_owner_stay() {
    with_live(|live| {
        assert_eq!(live.apply("m", r#"{"labels":{"a":"1","b":"2"}}"#), Ok(true));
        live.object = live.typed(r#"{"labels":{"a":"1","b":"2","c":"3"}}"#, Duplicates::Refused);
        assert_eq!(live.apply("m", r#"{"labels":{"a":"1"}}"#), Ok(true));
        assert_eq!(
            (live.object(), live.owners()),
            (r#"{"labels":{"a":"1","c":"3"}}"#.into(), vec![r#"m applied {"f:labels":{"f:a":{}}}"#.into()])
        );
    });
}

#[test]
fn fields_without_an_owner_are_removed_with_their_struct() {
    with_live(|live| {
        assert_eq!(live.apply("m", r#"{"s":{"x":1},"set":["a"]}"#), Ok(true));
        live.object = live.typed(r#"{"s":{"x":1,"y":2},"set":["a"]}"#, Duplicates::Refused);
        assert_eq!(live.apply("m", r#"{"set":["a"]}"#), Ok(true));
        assert_eq!(live.object(), r#"{"set":["a"]}"#);
    });
}

#[test]
fn a_map_that_loses_its_entries_is_null_first_and_then_empty() {
    with_live(|live| {
        assert_eq!(live.apply("m", r#"{"labels":{"a":"b"}}"#), Ok(true));
        assert_eq!(live.apply("m", r#"{"labels":{}}"#), Ok(true));
        assert_eq!(
            (live.object(), live.owners()),
            (r#"{"labels":null}"#.into(), vec![r#"m applied {"f:labels":{}}"#.into()])
        );
        assert_eq!(live.apply("m", r#"{"labels":{}}"#), Ok(true));
        assert_eq!(live.object(), r#"{"labels":{}}"#);
        assert_eq!(live.apply("m", r#"{"labels":{}}"#), Ok(false));
    });
}

#[test]
fn a_list_that_loses_its_items_disappears() {
    with_live(|live| {
        assert_eq!(live.apply("m", r#"{"s":{"x":1},"set":["a"]}"#), Ok(true));
        assert_eq!(live.apply("m", r#"{"s":{"x":1},"set":[]}"#), Ok(true));
        assert_eq!(
            (live.object(), live.owners()),
            (r#"{"s":{"x":1}}"#.into(), vec![r#"m applied {"f:s":{"f:x":{}}}"#.into()])
        );
    });
}

#[test]
fn an_empty_map_over_entries_of_others_changes_nothing_and_is_owned() {
    with_live(|live| {
        assert_eq!(live.update("u", r#"{"labels":{"a":"b"}}"#), Ok(true));
        assert_eq!(live.apply("m", r#"{"labels":{}}"#), Ok(false));
        assert_eq!(live.owners(), [r#"m applied {"f:labels":{}}"#, r#"u updated {"f:labels":{".":{},"f:a":{}}}"#]);
    });
}

#[test]
fn an_item_that_another_manager_owns_stays_with_its_fields() {
    with_live(|live| {
        assert_eq!(live.apply("m", r#"{"ports":[{"port":80,"name":"w"},{"port":81}]}"#), Ok(true));
        assert_eq!(live.apply("n", r#"{"ports":[{"port":80}]}"#), Ok(false));
        assert_eq!(live.apply("m", r#"{"ports":[]}"#), Ok(true));
        assert_eq!(live.object(), r#"{"ports":[{"port":80}]}"#);
    });
}

#[test]
fn duplicates_of_the_live_object_collapse_only_where_they_are_applied() {
    with_live(|live| {
        assert_eq!(live.update("u", r#"{"set":["a","a"]}"#), Ok(true));
        assert_eq!(live.apply("m", r#"{"set":["b"]}"#), Ok(true));
        assert_eq!(live.object(), r#"{"set":["a","a","b"]}"#);
        assert_eq!(live.force("n", r#"{"set":["a"]}"#), Ok(true));
        assert_eq!(live.object(), r#"{"set":["a","b"]}"#);
    });
}

#[test]
fn fields_below_a_value_that_is_now_atomic_become_its_own() {
    with_live(|live| {
        let set = Set::read_json(br#"{"f:atom":{"f:p":{},"f:q":{}}}"#, live.arena).expect("it is a set");
        let fields = crate::fieldpath::VersionedSet { set, api_version: "v1", applied: true };
        live.managers.insert("m", fields);
        live.object = live.typed(r#"{"atom":{"p":"1","q":"2"}}"#, Duplicates::Refused);
        assert_eq!(live.update("u", r#"{"atom":{"p":"1","q":"2"}}"#), Ok(true));
        assert_eq!(live.owners(), [r#"m applied {"f:atom":{}}"#]);
    });
}

#[test]
fn a_no_op_returns_the_object_if_requested() {
    let (types, arena) = (types(SCHEMA), Bump::new());
    let updater: Updater<'_, SameVersion> = Updater { return_input_on_noop: true, ..Updater::default() };
    let mut live = Live::new(&types, &updater, &arena);
    assert_eq!(live.apply("m", r#"{"s":{"x":1}}"#), Ok(true));
    assert_eq!(live.apply("m", r#"{"s":{"x":1}}"#), Ok(true));
}

#[test]
fn ignored_fields_have_no_owner_and_never_conflict() {
    let (types, arena) = (types(SCHEMA), Bump::new());
    let set = Set::read_json(br#"{"f:s":{}}"#, &arena).expect("it is a set");
    for ignored in [Ignored::Fields(vec![("v1", set)]), Ignored::Filters(vec![("v1", Filter::Exclude(set))])] {
        let updater = Updater { converter: SameVersion, ignored, ..Updater::default() };
        let mut live = Live::new(&types, &updater, &arena);
        assert_eq!(live.apply("m", r#"{"s":{"x":1},"set":["a"]}"#), Ok(true));
        assert_eq!(live.apply("n", r#"{"s":{"x":2}}"#), Ok(true), "it changes all the same");
        assert_eq!(live.update("u", r#"{"s":{"x":3},"set":["a"]}"#), Ok(true));
        assert_eq!(live.owners(), [r#"m applied {"f:set":{"v:\"a\"":{}}}"#]);
        // Another version has no ignored fields.
        assert_eq!(live.call("o", "v2", r#"{"s":{"x":3}}"#, Some(false)), Ok(false));
        assert_eq!(live.owners()[1], r#"o appliedv2 {"f:s":{"f:x":{}}}"#);
    }
}

#[test]
fn an_entry_that_is_updated_again_gets_the_new_version_and_is_not_an_apply() {
    with_live(|live| {
        assert_eq!(live.apply("m", r#"{"s":{"x":1}}"#), Ok(true));
        assert_eq!(live.call("m", "v2", r#"{"s":{"x":1,"y":1}}"#, None), Ok(true));
        assert_eq!(live.owners(), [r#"m updatedv2 {"f:s":{"f:x":{},"f:y":{}}}"#]);
    });
}

#[test]
fn a_configuration_with_a_duplicate_item_is_not_merged() {
    with_live(|live| {
        let twice = live.typed(r#"{"set":["a","a"]}"#, Duplicates::Allowed);
        let answer = live.updater.apply(live.object, twice, "v1", ManagedFields::new(), "m", false, live.arena);
        assert_eq!(
            answer.map(|_| ()).map_err(|error| error.to_string()),
            Err(r#"failed to merge config: .set: duplicate entries for key [="a"]"#.to_owned())
        );
    });
}

/// Upstream compares the whole object, although the configuration does not change the list.
#[test]
fn items_without_path_fail_an_apply_that_leaves_them_alone() {
    let types = types(
        "types:
- name: root
  map:
    fields:
    - {name: l, type: {list: {elementType: {scalar: string}, elementRelationship: separable}}}
    - {name: x, type: {scalar: numeric}}
",
    );
    let (updater, arena) = (Updater::<SameVersion>::default(), Bump::new());
    let mut live = Live::new(&types, &updater, &arena);
    live.object = live.typed(r#"{"l":["a"]}"#, Duplicates::Allowed);
    let error = live.apply("m", "{}").expect_err("the list cannot be compared");
    assert!(error.contains(".l: element 0: invalid indexing of non-associative list"), "{error}");
}
