//! Migrations from client-side apply: the cases of client-go's `util/csaupgrade`, each in its smallest form.

use crate::common::{assert_minimal, at, built_in, owners, patched};
use kubeshape_ownership::{Goal, HandOverError, by_applies, hand_over};
use kubeshape_registry::Object;
use serde_json::{Value as Json, json};

const ANNOTATION: &str = "f:kubectl.kubernetes.io/last-applied-configuration";

fn entry(manager: &str, operation: &str, version: &str, fields: Json) -> Json {
    json!({"manager": manager, "operation": operation, "apiVersion": version, "fieldsType": "FieldsV1",
        "fieldsV1": fields})
}

fn data(keys: &[&str]) -> Json {
    let fields: serde_json::Map<String, Json> = keys.iter().map(|key| (format!("f:{key}"), json!({}))).collect();
    json!({"f:data": fields})
}

fn live(entries: &[Json]) -> Object {
    Object::from(json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "1", "b": "2", "c": "3"},
        "metadata": {"name": "s", "namespace": "x", "resourceVersion": "1", "managedFields": entries}}))
}

/// Returns the entries after a migration to `kubectl`, and the number of operations.
fn migrated(entries: &[Json], from: &[&str]) -> Option<(Vec<String>, usize)> {
    let from = from.iter().map(|name| (*name).to_owned()).collect();
    let goal = Goal::MigrateClientSide { from, to: "kubectl".to_owned() };
    let live = live(entries);
    let found = hand_over(built_in(), &live, None, &goal, at(0)).unwrap()?;
    assert_minimal(built_in(), &live, &found, "migration");
    let after = patched(built_in(), &live, &found.operations).unwrap();
    Some((owners(&after), found.operations.len() - 1))
}

fn kubectl(fields: &Json) -> Vec<String> {
    vec![format!(r#"{{"manager":"kubectl","operation":"Apply"}} {fields}"#)]
}

#[test]
fn an_update_becomes_an_apply() {
    let csa = entry("kubectl-client-side-apply", "Update", "v1", data(&["a", "b"]));
    assert_eq!(migrated(&[csa], &[]), Some((kubectl(&data(&["a", "b"])), 2)));
}

#[test]
fn equal_entries_become_one() {
    let ssa = entry("kubectl", "Apply", "v1", data(&["a", "b"]));
    let csa = entry("kubectl-client-side-apply", "Update", "v1", data(&["a", "b"]));
    assert_eq!(migrated(&[ssa, csa], &[]), Some((kubectl(&data(&["a", "b"])), 1)));
}

#[test]
fn more_fields_are_joined() {
    let ssa = entry("kubectl", "Apply", "v1", data(&["a"]));
    let csa = entry("kubectl-client-side-apply", "Update", "v1", data(&["a", "b"]));
    assert_eq!(migrated(&[ssa, csa], &[]), Some((kubectl(&data(&["a", "b"])), 2)));
}

#[test]
fn entries_of_other_versions_are_dropped() {
    let all = [
        entry("kubectl", "Apply", "v1", data(&["a"])),
        entry("kubectl-client-side-apply", "Update", "v2", data(&["b"])),
        entry("kubectl-client-side-apply", "Update", "v3", data(&["c"])),
    ];
    // A server drops entries of versions that the kind does not have, so no operation is needed.
    assert_eq!(migrated(&all, &[]), None);
    let all = [
        entry("kubectl", "Apply", "v2", data(&["a"])),
        entry("kubectl-client-side-apply", "Update", "v1", data(&["b"])),
        entry("other", "Update", "v1", data(&["c"])),
    ];
    let (after, operations) = migrated(&all, &[]).unwrap();
    assert_eq!(after, [r#"{"manager":"other","operation":"Update","apiVersion":"v1"} {"f:data":{"f:c":{}}}"#]);
    assert_eq!(operations, 1);
}

#[test]
fn the_entry_of_the_same_version_is_joined() {
    let all = [
        entry("kubectl", "Apply", "v1", data(&["a"])),
        entry("kubectl-client-side-apply", "Update", "v1", data(&["b"])),
        entry("kubectl-client-side-apply", "Update", "v2", data(&["c"])),
    ];
    assert_eq!(migrated(&all, &[]), Some((kubectl(&data(&["a", "b"])), 2)));
}

#[test]
fn without_client_side_apply_there_is_nothing_to_do() {
    assert_eq!(migrated(&[entry("kubectl", "Apply", "v1", data(&["a"]))], &[]), None);
}

#[test]
fn several_managers_become_one() {
    let all = [
        entry("kubectl", "Apply", "v1", data(&["a"])),
        entry("kube-scheduler", "Update", "v1", data(&["b"])),
        entry("kubectl-client-side-apply", "Update", "v1", data(&["c"])),
    ];
    let from = ["kube-scheduler", "kubectl-client-side-apply"];
    assert_eq!(migrated(&all, &from), Some((kubectl(&data(&["a", "b", "c"])), 3)));
}

#[test]
fn the_first_manager_becomes_a_new_one() {
    let all = [
        entry("kube-scheduler", "Update", "v1", data(&["b"])),
        entry("kubectl-client-side-apply", "Update", "v1", data(&["c"])),
    ];
    let from = ["kubectl-client-side-apply", "kube-scheduler"];
    let (after, _) = migrated(&all, &from).unwrap();
    assert_eq!(after, kubectl(&data(&["b", "c"])));
}

#[test]
fn entries_of_subresources_stay() {
    let mut status = entry("kubectl-client-side-apply", "Update", "v1", data(&["b"]));
    status["subresource"] = json!("status");
    let (after, _) =
        migrated(&[status, entry("kubectl-client-side-apply", "Update", "v1", data(&["a"]))], &[]).unwrap();
    assert_eq!(after.len(), 2, "{after:?}");
}

#[test]
fn the_owners_of_the_annotation_are_the_managers() {
    let annotated = json!({"f:data": {"f:a": {}}, "f:metadata": {"f:annotations": {ANNOTATION: {}}}});
    let all = [entry("my-tool", "Update", "v1", annotated.clone()), entry("other", "Update", "v1", data(&["b"]))];
    let (after, operations) = migrated(&all, &[]).unwrap();
    assert_eq!(after[0], kubectl(&annotated)[0]);
    assert_eq!(operations, 2);
}

#[test]
fn fields_do_not_move_between_versions() {
    let all = [entry("a", "Update", "v1", data(&["a"])), entry("b", "Apply", "v2", data(&["b"]))];
    let goal = Goal::Give { from: vec!["a".into()], to: "b".into(), fields: Vec::new() };
    let error = hand_over(built_in(), &live(&all), None, &goal, at(0)).unwrap_err();
    assert!(matches!(error, HandOverError::Versions { .. }), "{error}");
}

#[test]
fn an_object_does_not_lose_its_last_owner() {
    let goal = Goal::Release { from: vec!["a".into()], fields: Vec::new() };
    let live = live(&[entry("a", "Update", "v1", data(&["a"]))]);
    let error = hand_over(built_in(), &live, None, &goal, at(0)).unwrap_err();
    assert!(matches!(error, HandOverError::NobodyLeft), "{error}");
}

#[test]
fn fields_that_are_written_in_another_way_are_handed_over() {
    let list = json!({"f:metadata": {"f:finalizers": {".": {}, "v: \"x\"": {}}}});
    let all = [entry("a", "Update", "v1", list), entry("b", "Apply", "v1", data(&["b"]))];
    let goal = Goal::Give { from: vec!["a".into()], to: "b".into(), fields: Vec::new() };
    let found = hand_over(built_in(), &live(&all), None, &goal, at(0)).unwrap().unwrap();
    let after = patched(built_in(), &live(&all), &found.operations).unwrap();
    assert_eq!(owners(&after).len(), 1);
}

/// Returns what applies a hand-over has, as the manager and the data of each.
fn applies(live: &Object, goal: &Goal) -> Result<Vec<(String, Json)>, HandOverError> {
    let found = hand_over(built_in(), live, None, goal, at(0)).unwrap().unwrap();
    let found = by_applies(built_in(), live, None, goal, found, at(0))?;
    Ok(found.applies.into_iter().map(|apply| (apply.manager, apply.config.value()["data"].clone())).collect())
}

#[test]
fn applies_release_only_fields_with_another_owner() {
    let live = live(&[entry("a", "Apply", "v1", data(&["a", "b"])), entry("b", "Apply", "v1", data(&["a"]))]);
    let release = |field: &str| Goal::Release { from: vec!["a".into()], fields: vec![field.to_owned()] };
    assert_eq!(applies(&live, &release(".data.a")).unwrap(), [("a".to_owned(), json!({"b": "2"}))]);
    let error = applies(&live, &release(".data.b")).unwrap_err();
    let expected = "applies cannot do it: they would change or remove .data.b; use the patch";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn applies_do_not_take_over_client_side_apply_by_the_way() {
    let annotated = json!({"f:data": {"f:c": {}}, "f:metadata": {"f:annotations": {ANNOTATION: {}}}});
    let all = [
        entry("a", "Apply", "v1", data(&["a"])),
        entry("b", "Apply", "v1", data(&["b"])),
        entry("kubectl-client-side-apply", "Update", "v1", annotated),
    ];
    let mut object = live(&all).into_value();
    let last = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "s"}, "data": {"c": "3"}});
    object["metadata"]["annotations"] = json!({ANNOTATION.trim_start_matches("f:"): last.to_string()});
    let goal = Goal::Give { from: vec!["a".into()], to: "b".into(), fields: Vec::new() };
    let error = applies(&Object::from(object), &goal).unwrap_err().to_string();
    assert!(error.contains("they would change or remove .data.c"), "{error}");
}
