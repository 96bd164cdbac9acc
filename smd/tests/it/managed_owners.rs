//! Owners, and changes of ownership: blame, extract, upgrade, scale.
#![allow(clippy::expect_used, reason = "tests")]

use kubeshape_smd::fieldpath::{DisplayPath, PathElement, Set};
use kubeshape_smd::managed::{Operation, Ownership, extract, scale, upgrade};
use kubeshape_smd::typed::Types;
use kubeshape_smd::value::Compat;
use kubeshape_smd::{Bump, ToValue as _, Value};
use serde_json::{Value as Json, json};

fn entry(manager: &str, operation: &str, version: &str, fields: &Json) -> Json {
    json!({
        "manager": manager, "operation": operation, "apiVersion": version, "fieldsType": "FieldsV1", "fieldsV1": fields,
    })
}

fn with_subresource(mut entry: Json, subresource: &str) -> Json {
    entry["subresource"] = json!(subresource);
    entry
}

fn object(entries: &Json) -> Json {
    json!({"metadata": {"resourceVersion": "7", "managedFields": entries}})
}

#[test]
fn every_owned_path_is_visited_once_parents_first() {
    let arena = Bump::new();
    let object = object(&json!([
        entry("b", "Update", "v1", &json!({"f:s": {".": {}, "f:x": {}}, "f:t": {}})),
        entry("a", "Apply", "v1", &json!({"f:l": {"k:{\"n\":1}": {".": {}, "f:n": {}}}, "f:s": {"f:x": {}}})),
    ]));
    let ownership = Ownership::of(object.to_value(&arena), &arena).expect("entries");
    let mut told = Vec::new();
    ownership.for_each(&mut |path, owners| {
        let owners: Vec<_> = owners.iter().map(|owner| owner.manager).collect();
        told.push(format!("{} {}", DisplayPath(path), owners.join(",")));
    });
    assert_eq!(told, [".l[n=1] a", ".l[n=1].n a", ".s b", ".s.x a,b", ".t b"]);
}

#[test]
fn the_item_of_a_list_is_found_by_the_keys_it_has() {
    let arena = Bump::new();
    let object = object(&json!([
        entry(
            "a",
            "Apply",
            "v1",
            &json!({"f:l": {
                "k:{\"port\":80,\"protocol\":\"TCP\"}": {".": {}}, "k:{\"port\":81,\"protocol\":\"TCP\"}": {".": {}},
            }})
        ),
        entry("b", "Apply", "v1", &json!({"f:l": {"i:1": {}, "v:\"x\"": {}}})),
    ]));
    let ownership = Ownership::of(object.to_value(&arena), &arena).expect("entries");
    let list = ownership.root().child(PathElement::FieldName("l"));
    let owners = |index, item: Json| {
        let item = list.item(index, item.to_value(&arena));
        item.owners().map(|owner| owner.manager).collect::<Vec<_>>().join(",")
    };
    // The protocol was defaulted.
    assert_eq!(owners(0, json!({"port": 81})), "a");
    assert_eq!(owners(0, json!({"port": 80, "protocol": "UDP"})), "");
    assert_eq!(owners(1, json!({"port": 80, "protocol": "TCP"})), "a,b");
    assert_eq!(owners(0, json!({"name": "no key at all"})), "");
    assert_eq!(owners(0, json!("x")), "b");
    assert!(list.owners().next().is_none() && !list.is_leaf() && !list.is_empty());
}

#[test]
fn only_the_entry_that_was_applied_through_the_subresource_is_extracted() {
    let types = Types::deduced();
    let ty = types.named("__untyped_deduced_").expect("the deduced type");
    let arena = Bump::new();
    let live = json!({
        "apiVersion": "v1", "kind": "T", "s": {"x": 1, "y": 2},
        "metadata": {"managedFields": [
            entry("m", "Update", "v1", &json!({"f:s": {"f:x": {}}})),
            with_subresource(entry("m", "Apply", "v1", &json!({"f:s": {"f:y": {}}})), "status"),
            entry("none", "Apply", "v1", &json!({"f:gone": {}})),
            entry("bad", "Apply", "v1", &json!([])),
            entry("old", "Apply", "v1", &json!({"f:s": {"v:-+1": {}, "f:x": {}}})),
        ]},
    });
    let extract_as = |manager: &str, subresource: &str, compat: Compat| {
        let extracted = extract(live.to_value(&arena), ty, manager, subresource, compat, &arena);
        extracted.map(|found| found.map(Value::to_serde)).map_err(|error| error.to_string())
    };
    let extract = |manager: &str, subresource: &str| extract_as(manager, subresource, Compat::V64);
    assert_eq!(extract("m", "status"), Ok(Some(json!({"apiVersion": "v1", "kind": "T", "s": {"y": 2}}))));
    assert_eq!(extract("m", ""), Ok(None));
    assert_eq!(
        extract("none", ""),
        Err("unable to convert managed fields for none to unstructured, expected map, got <nil>".to_owned())
    );
    assert!(extract("bad", "").is_err_and(|text| text.starts_with("error marshalling FieldsV1 to JSON: ")));
    // Version 7 reads only JSON.
    assert_eq!(extract("old", ""), Ok(Some(json!({"apiVersion": "v1", "kind": "T", "s": {"x": 1}}))));
    assert!(extract_as("old", "", Compat::V70).is_err_and(|text| text.starts_with("error marshalling FieldsV1")));
}

fn upgraded(entries: &Json, from: &[&str], to: &str) -> Json {
    let arena = Bump::new();
    let object = object(entries);
    let to = arena.alloc_str(to);
    let upgraded =
        upgrade::upgrade(object.to_value(&arena), from, to, "", Compat::V64, &arena).expect("the sets are fine");
    let patch =
        upgrade::upgrade_patch(object.to_value(&arena), from, to, "", Compat::V64, &arena).expect("the sets are fine");
    let list = upgraded.to_serde()["metadata"]["managedFields"].clone();
    // The patch has the same value, unless there is nothing to do.
    let patched = patch.map(|patch| patch.to_serde()[0]["value"].clone());
    assert_eq!(patched.unwrap_or_else(|| entries.clone()), list);
    list
}

#[test]
fn the_first_update_becomes_the_apply_and_gets_fields_of_its_version_only() {
    let x = |name: &str| json!({ name: {} });
    assert_eq!(
        upgraded(
            &json!([
                entry("csa", "Update", "v1", &x("f:a")),
                entry("other", "Update", "v1", &x("f:b")),
                entry("csa", "Update", "v2", &x("f:c")),
                with_subresource(entry("csa", "Update", "v1", &x("f:d")), "status"),
            ]),
            &["csa"],
            "me"
        ),
        json!([
            entry("me", "Apply", "v1", &x("f:a")),
            entry("other", "Update", "v1", &x("f:b")),
            with_subresource(entry("csa", "Update", "v1", &x("f:d")), "status"),
        ])
    );
}

#[test]
fn an_existing_apply_gets_the_fields_of_the_update() {
    assert_eq!(
        upgraded(
            &json!([
                entry("me", "Apply", "v2", &json!({"f:a": {}})),
                entry("csa", "Update", "v1", &json!({"f:b": {}})),
                entry("csa", "Update", "v2", &json!({"f:c": {}})),
                entry("csa2", "Update", "v2", &json!({"f:d": {}})),
            ]),
            &["csa", "csa2"],
            "me"
        ),
        json!([entry("me", "Apply", "v2", &json!({"f:a": {}, "f:c": {}, "f:d": {}}))])
    );
}

#[test]
fn without_a_client_side_manager_nothing_changes() {
    let entries = json!([entry("other", "Update", "v1", &json!({"f:a": {}}))]);
    assert_eq!(upgraded(&entries, &["csa"], "me"), entries);
    assert_eq!(upgraded(&json!([]), &["csa"], "me"), json!([]));
}

#[test]
fn owners_of_fields_must_own_all_of_them_by_that_operation() {
    let arena = Bump::new();
    let list = json!([
        entry("a", "Update", "v1", &json!({"f:x": {}, "f:y": {}})),
        entry("b", "Update", "v1", &json!({"f:x": {}})),
        entry("c", "Apply", "v1", &json!({"f:x": {}, "f:y": {}})),
        entry("d", "Update", "v1", &json!({"f:x": 1})),
    ]);
    let fields = Set::read_json(br#"{"f:x":{},"f:y":{}}"#, &arena).expect("a set");
    let found = upgrade::find_owners(Some(list.to_value(&arena)), Operation::Update, fields, Compat::V64, &arena);
    let found: Vec<_> = found.into_iter().map(Value::to_serde).collect();
    assert_eq!(found, [list[0].clone()]);
}

fn to_parent(parent: &Json, of_scale: &Json) -> Json {
    let arena = Bump::new();
    let paths = [("apps/v1", Some(scale::replicas_path(".spec.replicas", &arena))), ("apps/v2", None)];
    let (parent, of_scale) = (parent.to_value(&arena), of_scale.to_value(&arena));
    let list = scale::to_parent(Some(parent), Some(of_scale), "apps/v1", &paths, Compat::V64, &arena).expect("entries");
    list.map_or(Json::Null, Value::to_serde)
}

#[test]
fn the_manager_that_scales_owns_the_replicas() {
    let scaled =
        with_subresource(entry("hpa", "Update", "autoscaling/v1", &json!({"f:spec": {"f:replicas": {}}})), "scale");
    let kept = with_subresource(entry("hpa", "Update", "apps/v1", &json!({"f:spec": {"f:replicas": {}}})), "scale");
    let parent = |fields: Json| json!([entry("me", "Apply", "apps/v1", &fields)]);
    assert_eq!(
        to_parent(&parent(json!({"f:spec": {"f:paused": {}, "f:replicas": {}}})), &json!([scaled])),
        json!([entry("me", "Apply", "apps/v1", &json!({"f:spec": {"f:paused": {}}})), kept])
    );
    // A manager that owned nothing else is removed.
    assert_eq!(to_parent(&parent(json!({"f:spec": {"f:replicas": {}}})), &json!([scaled])), json!([kept]));
}

#[test]
fn a_manager_that_still_owns_the_replicas_of_the_scale_keeps_those_of_the_object() {
    let fields = json!({"f:spec": {"f:replicas": {}}});
    let parent = json!([entry("me", "Apply", "apps/v1", &fields)]);
    assert_eq!(to_parent(&parent, &json!([entry("me", "Apply", "autoscaling/v1", &fields)])), parent);
}

#[test]
fn entries_of_unknown_versions_are_dropped_and_those_without_a_scale_stay() {
    let fields = json!({"f:spec": {"f:replicas": {}}});
    let stays = entry("a", "Apply", "apps/v2", &fields);
    assert_eq!(to_parent(&json!([stays, entry("b", "Apply", "apps/v3", &fields)]), &json!([])), json!([stays]));
}
