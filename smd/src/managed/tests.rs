use super::cap::cap;
use super::entries::{decode, encode, sort};
use super::*;
use crate::fieldpath::{Set, SetBuilder};
use crate::value::{Compat, Value};
use crate::{Bump, ToValue as _};
use serde_json::{Value as Json, json};

fn entry(manager: &str, operation: &str, version: &str, time: &str, fields: &Json) -> Json {
    let mut entry = json!({
        "manager": manager, "operation": operation, "apiVersion": version, "fieldsType": "FieldsV1", "fieldsV1": fields,
    });
    if !time.is_empty() {
        entry["time"] = json!(time);
    }
    entry
}

fn reencoded(list: &Json) -> Json {
    let arena = Bump::new();
    let managed = decode(Some(list.to_value(&arena)), &arena).expect("the list is well-formed");
    let list = encode(&managed, &arena).expect("all numbers are finite");
    list.map_or(Json::Null, Value::to_serde)
}

fn decode_error(list: &Json) -> String {
    let arena = Bump::new();
    decode(Some(list.to_value(&arena)), &arena).expect_err("the list is not well-formed").to_string()
}

#[test]
fn times_are_read_as_go_reads_rfc_3339() {
    for (text, seconds) in [
        ("1970-01-01T00:00:00Z", Some(0)),
        ("1969-12-31T23:59:59Z", Some(-1)),
        ("2000-02-29T12:30:15.999Z", Some(951_827_415)),
        ("2000-02-29T12:30:15,9+02:00", Some(951_820_215)),
        ("2000-02-29T12:30:15-00:30", Some(951_829_215)),
        ("2000-01-01T5:00:00Z", Some(946_702_800)),
        ("0001-01-01T00:00:00Z", Some(Time::ZERO.0)),
        ("9999-12-31T23:59:59Z", Some(253_402_300_799)),
        ("1900-02-29T00:00:00Z", None),
        ("2000-04-31T00:00:00Z", None),
        ("2000-01-01T24:00:00Z", None),
        ("2000-01-01T00:00:60Z", None),
        ("2000-01-01T00:00:00.Z", None),
        ("2000-01-01T00:00:00", None),
        ("2000-01-01T00:00:00Z ", None),
        ("2000-01-01 00:00:00Z", None),
        ("2000-01-01T00:00:00+25:00", None),
        ("", None),
    ] {
        assert_eq!(Time::parse(text), seconds.map(Time), "{text}");
    }
}

#[test]
fn times_are_printed_in_universal_time_without_fractions() {
    for text in [
        "1970-01-01T00:00:00Z",
        "1969-12-31T23:59:59Z",
        "2000-02-29T23:59:59Z",
        "0000-01-01T00:00:00Z",
        "2100-03-01T00:00:00Z",
    ] {
        assert_eq!(Time::parse(text).map(|time| time.to_string()).as_deref(), Some(text));
    }
    assert_eq!(Time(i64::MIN).to_string().len(), "-292277022657-01-27T08:29:52Z".len());
}

#[test]
fn an_identifier_is_gos_json_of_the_parts_that_distinguish_entries() {
    let arena = Bump::new();
    let update = Identifier { manager: "a<\"\u{8}", operation: Operation::Update, api_version: "v1", subresource: "s" };
    assert_eq!(
        update.text(&arena),
        r#"{"manager":"a\u003c\"\b","operation":"Update","apiVersion":"v1","subresource":"s"}"#
    );
    assert_eq!(Identifier::parse(update.text(&arena), &arena), Some(update));
    let apply = Identifier { manager: "", operation: Operation::Apply, ..update };
    assert_eq!(apply.text(&arena), r#"{"operation":"Apply","subresource":"s"}"#);
    for text in ["", "current-operation", "{}", r#"{"operation":"Patch"}"#, r#"{"operation":"Apply"} {}"#] {
        assert_eq!(Identifier::parse(text, &arena), None, "{text}");
    }
}

#[test]
fn one_bad_entry_makes_the_list_unreadable() {
    let good = entry("m", "Apply", "v1", "", &json!({}));
    let with = |key: &str, value: Json| {
        let mut bad = good.clone();
        bad[key] = value;
        decode_error(&json!([good, bad]))
    };
    assert_eq!(with("operation", json!("Patch")), "operation must be `Apply` or `Update`");
    assert_eq!(with("operation", Json::Null), "operation must be `Apply` or `Update`");
    assert_eq!(with("apiVersion", json!("")), "apiVersion must not be empty");
    assert_eq!(with("fieldsType", Json::Null), "missing fieldsType in managed fields entry 1");
    assert_eq!(with("fieldsType", json!("F\n2")), r#"invalid fieldsType "F\n2" in managed fields entry 1"#);
    assert!(
        with("fieldsV1", json!({"f:a": 1})).starts_with("error decoding versioned set from managed fields entry 1")
    );
}

#[test]
fn data_after_a_path_element_is_ignored_by_the_version_in_the_server() {
    let arena = Bump::new();
    let list = json!([entry("m", "Apply", "v1", "", &json!({"k:{\"a\":1}x": {}}))]);
    let list = Some(list.to_value(&arena));
    assert!(decode(list, &arena).is_err());
    let managed = entries::decode_as(list, Compat::V63, &arena).expect("the tail is ignored");
    let fields = managed.fields.iter().next().map(|(_, fields)| fields.set.to_string());
    assert_eq!(fields.as_deref(), Some("[a=1]"));
}

#[test]
fn values_that_are_not_lists_of_entries_are_empty() {
    for list in [
        json!(null),
        json!("text"),
        json!([]),
        json!([1]),
        json!([{"manager": 1}]),
        json!([entry("m", "Apply", "v1", "yesterday", &json!({"f:a": {}}))]),
    ] {
        assert_eq!(reencoded(&list), Json::Null, "{list}");
    }
}

#[test]
fn entries_without_fields_own_nothing_but_are_kept() {
    let mut bare = entry("m", "Apply", "v1", "", &json!(null));
    assert_eq!(reencoded(&json!([bare])), json!([entry("m", "Apply", "v1", "", &json!({}))]));
    bare["other"] = json!(1);
    bare["time"] = json!(null);
    assert_eq!(reencoded(&json!([bare])), json!([entry("m", "Apply", "v1", "", &json!({}))]));
}

#[test]
fn of_equal_identifiers_the_last_entry_is_used() {
    let first = entry("m", "Apply", "v1", "2001-01-01T00:00:00Z", &json!({"f:a": {}}));
    let last = entry("m", "Apply", "v2", "", &json!({"f:b": {}}));
    assert_eq!(reencoded(&json!([first, last])), json!([last]));
}

#[test]
fn entries_are_sorted_by_operation_time_manager_version_and_subresource() {
    let fields = json!({"f:a": {}});
    let e = |manager, operation, version, time| entry(manager, operation, version, time, &fields);
    let mut sub = e("b", "Update", "v1", "2000-01-01T00:00:01Z");
    sub["subresource"] = json!("status");
    let sorted = [
        e("z", "Apply", "v1", ""),
        e("a", "Apply", "v1", "2000-01-01T00:00:00Z"),
        e("z", "Update", "v9", "2000-01-01T00:00:00Z"),
        e("a", "Update", "v1", "2000-01-01T00:00:01Z"),
        e("b", "Update", "v1", "2000-01-01T00:00:01Z"),
        sub,
        e("b", "Update", "v2", "2000-01-01T00:00:01Z"),
    ];
    let mut shuffled = sorted.to_vec();
    shuffled.reverse();
    let arena = Bump::new();
    assert_eq!(sort(json!(shuffled).to_value(&arena), &arena).to_serde(), json!(sorted));
    assert_eq!(reencoded(&json!(shuffled)), json!(sorted));
}

#[test]
fn fields_are_written_in_their_canonical_spelling() {
    for (fields, canonical) in [
        (json!({"f:a": {}, "x:unknown": {}}), json!({"f:a": {}})),
        (json!({"f:a": {".": {}}}), json!({"f:a": {}})),
        (json!({"f:a": {".": {"f:x": {}}, "f:b": {}}}), json!({"f:a": {".": {}, "f:b": {}}})),
        (json!({"f:a": null}), json!({"f:a": {}})),
        (json!({"k:{\"b\":1,\"a\":2}": {}}), json!({"k:{\"a\":2,\"b\":1}": {}})),
        (json!({"v: 1.0": {}, "i:007": {}}), json!({"v:1": {}, "i:7": {}})),
        (
            json!({"k:{\"p\":10}": {"f:x": {}}, "k:{\"p\":9}": {}, "i:1": {}, "v:true": {}, "f:": {}}),
            json!({"k:{\"p\":10}": {"f:x": {}}, "k:{\"p\":9}": {}, "i:1": {}, "v:true": {}, "f:": {}}),
        ),
    ] {
        let list = json!([entry("m", "Apply", "v1", "", &fields)]);
        assert_eq!(reencoded(&list), json!([entry("m", "Apply", "v1", "", &canonical)]));
    }
}

#[test]
fn unchanged_fields_are_the_same_value_in_memory() {
    let arena = Bump::new();
    let fields = json!({"f:a": {".": {}, "k:{\"x\":1}": {"f:b": {}}}, "f:c": {}});
    let list = json!([entry("m", "Apply", "v1", "", &fields)]);
    let list = list.to_value(&arena);
    let managed = decode(Some(list), &arena).expect("the list is well-formed");
    let written = encode(&managed, &arena).expect("all numbers are finite");
    let fields_of = |list: Option<Value<'_>>| {
        let entry = list.and_then(Value::as_list).and_then(<[_]>::first).copied();
        entry.and_then(|entry| entry.get("fieldsV1")?.as_map()).map(|map| map.entries().as_ptr().addr())
    };
    assert!(fields_of(written).is_some());
    assert_eq!(fields_of(written), fields_of(Some(list)));
}

#[test]
fn a_name_that_is_not_an_identifier_cannot_be_written() {
    let arena = Bump::new();
    let mut managed = Managed::default();
    let fields = crate::fieldpath::VersionedSet { set: Set::EMPTY, api_version: "v1", applied: false };
    managed.fields.insert("current-operation", fields);
    assert_eq!(
        encode(&managed, &arena).map_err(|error| error.to_string()),
        Err("failed to convert back managed fields to API: error unmarshalling manager identifier current-operation"
            .to_owned())
    );
}

/// Returns managers that each own the field with their own name, updated at version `v` one second after the other.
fn capped(managers: &[(&str, &str)], max: usize) -> Vec<String> {
    let arena = Bump::new();
    let mut managed = Managed::default();
    for (second, (manager, api_version)) in (0..).zip(managers) {
        let mut fields = SetBuilder::new(&arena);
        fields.insert(&[crate::fieldpath::PathElement::FieldName(arena.alloc_str(manager))]);
        let (manager, api_version) = (arena.alloc_str(manager), arena.alloc_str(api_version));
        let identifier = Identifier { manager, operation: Operation::Update, api_version, subresource: "" };
        managed.insert(identifier, fields.finish(), Some(Time(second)), &arena);
    }
    cap(&mut managed, max, &arena);
    let list = encode(&managed, &arena).expect("all numbers are finite").map_or(Json::Null, Value::to_serde);
    let show = |entry: &Json| {
        let fields: Vec<_> = entry["fieldsV1"].as_object().into_iter().flatten().map(|(key, _)| &key[2..]).collect();
        let text = |key: &str| entry[key].as_str().unwrap_or_default().to_owned();
        format!("{} {} {} {}", text("manager"), text("apiVersion"), fields.join(","), &text("time")[17..19])
    };
    list.as_array().into_iter().flatten().map(show).collect()
}

#[test]
fn the_oldest_updates_are_merged_until_few_enough_are_left() {
    assert_eq!(capped(&[("a", "v1"), ("b", "v1")], 2), ["a v1 a 00", "b v1 b 01"]);
    assert_eq!(
        capped(&[("a", "v1"), ("b", "v1"), ("c", "v1"), ("d", "v1")], 2),
        ["ancient-changes v1 a,b,c 02", "d v1 d 03"]
    );
}

#[test]
fn updates_of_each_version_are_merged_separately() {
    assert_eq!(
        capped(&[("a", "v1"), ("b", "v2"), ("c", "v1"), ("d", "v2"), ("e", "v3")], 3),
        ["ancient-changes v1 a,c 02", "ancient-changes v2 b,d 03", "e v3 e 04"]
    );
    // Each version occurs once, so nothing can be merged.
    assert_eq!(capped(&[("a", "v1"), ("b", "v2")], 1), ["a v1 a 00", "b v2 b 01"]);
}

#[test]
fn an_entry_with_ancient_changes_loses_none_of_them() {
    assert_eq!(
        capped(&[("a", "v1"), ("ancient-changes", "v1"), ("c", "v1")], 2),
        ["ancient-changes v1 a,ancient-changes 01", "c v1 c 02"]
    );
    assert_eq!(
        capped(&[("ancient-changes", "v1"), ("b", "v1"), ("c", "v1")], 2),
        ["ancient-changes v1 ancient-changes,b 01", "c v1 c 02"]
    );
    assert_eq!(
        capped(&[("a", "v1"), ("b", "v1"), ("ancient-changes", "v1"), ("c", "v1")], 2),
        ["ancient-changes v1 a,ancient-changes,b 02", "c v1 c 03"]
    );
}

#[test]
fn very_many_managers_are_merged() {
    let names: Vec<_> = (0..5000).map(|n| format!("m{n}")).collect();
    let managers: Vec<_> = names.iter().map(|name| (name.as_str(), "v1")).collect();
    assert_eq!(capped(&managers, 10).len(), 10);
}

#[test]
fn system_fields_have_no_owner_and_managers_of_nothing_else_are_removed() {
    let arena = Bump::new();
    let strip = |fields: &str| {
        let text = arena.alloc_str(fields);
        let set = Set::read_json(text.as_bytes(), &arena).expect("a set");
        let mut managed = crate::fieldpath::ManagedFields::new();
        managed.insert("m", crate::fieldpath::VersionedSet { set, api_version: "v1", applied: true });
        strip::strip(&mut managed, "other", &arena);
        strip::strip(&mut managed, "m", &arena);
        managed.get("m").map(|fields| fields.set.to_json().expect("a set"))
    };
    assert_eq!(
        strip(r#"{"f:apiVersion":{},"f:kind":{},"f:metadata":{".":{},"f:name":{},"f:uid":{},"f:generation":{}}}"#),
        None
    );
    // Only the paths themselves, not the paths below them.
    assert_eq!(
        strip(r#"{"f:kind":{"f:a":{}},"f:metadata":{"f:labels":{".":{}},"f:name":{"f:x":{}}}}"#).as_deref(),
        Some(r#"{"f:kind":{"f:a":{}},"f:metadata":{"f:labels":{},"f:name":{"f:x":{}}}}"#)
    );
}

#[test]
fn a_type_is_read_from_version_and_kind() {
    for (api_version, shown) in [
        ("apps/v1", "apps/v1, Kind=K"),
        ("v1", "/v1, Kind=K"),
        ("/v1", "/v1, Kind=K"),
        ("apps/", "apps/, Kind=K"),
        ("/", "/, Kind=K"),
        ("", "/, Kind=K"),
        ("a/b/c", "/, Kind="),
    ] {
        assert_eq!(Gvk::new(api_version, "K").to_string(), shown, "{api_version}");
    }
}

#[test]
fn times_are_kept_only_if_nothing_else_changed() {
    let object = |time: &str, fields: Json, x: i64| json!({"metadata": {"name": "n", "managedFields": [entry("m", "Apply", "v1", time, &fields)]}, "x": x});
    let (old, later) = ("2000-01-01T00:00:00Z", "2000-01-01T00:00:09Z");
    let live = object(old, json!({"f:x": {}}), 1);
    let arena = Bump::new();
    let kept = |new: &Json| keep_times(live.to_value(&arena), new.to_value(&arena), &arena).to_serde();
    assert_eq!(kept(&object(later, json!({"f:x": {}}), 1)), live);
    for new in [object(later, json!({"f:x": {}}), 2), object(later, json!({"f:y": {}}), 1), json!({"x": 1})] {
        assert_eq!(kept(&new), new);
    }
}
