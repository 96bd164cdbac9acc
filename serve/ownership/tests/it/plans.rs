//! Plans: what happens to each object of a set.

use crate::common::{at, built_in};
use kubeshape_ownership::{Known, Outcome, Ownership, Plan, PlanOptions, Planner, StaleReason, Style};
use kubeshape_registry::{Object, WriteOptions};
use serde_json::{Value as Json, json};

fn settings(name: &str, data: Json) -> Object {
    Object::from(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "x"},
        "data": data}))
}

fn applied(live: Option<&Object>, config: &Object, manager: &str) -> Object {
    built_in().apply(live, config, &WriteOptions::new(manager, at(0)).force(true)).unwrap()
}

fn without_namespace(object: &Object) -> Object {
    let mut value = object.value().clone();
    value["metadata"].as_object_mut().unwrap().remove("namespace");
    Object::from(value)
}

#[test]
fn a_set_is_created_changed_and_unchanged() {
    let (a, b) = (settings("a", json!({"k": "1"})), settings("b", json!({"k": "1"})));
    let live = [applied(None, &a, "helm"), applied(None, &b, "helm")];
    let configs = [a, settings("b", json!({"k": "2"})), settings("c", json!({}))];
    let plan = Plan::new(built_in(), &live, &configs, &PlanOptions::new("helm", at(1)));
    let outcomes: Vec<Outcome> = plan.objects.iter().map(|planned| planned.outcome).collect();
    assert_eq!(outcomes, [Outcome::Unchanged, Outcome::Changed, Outcome::Created]);
    assert!(plan.succeeds());
}

#[test]
fn an_object_without_a_namespace_is_found_by_the_given_one_or_by_its_name() {
    let a = settings("a", json!({"k": "1"}));
    let live = [applied(None, &a, "helm")];
    let config = [without_namespace(&a)];
    let mut options = PlanOptions::new("helm", at(1));
    for (namespace, expected) in
        [(None, Outcome::Unchanged), (Some("x"), Outcome::Unchanged), (Some("y"), Outcome::Created)]
    {
        options.namespace = namespace.map(str::to_owned);
        let plan = Plan::new(built_in(), &live, &config, &options);
        assert_eq!(plan.objects[0].outcome, expected, "{namespace:?}");
    }
}

#[test]
fn tools_that_force_take_fields_over_and_others_will_conflict() {
    let live = [applied(None, &settings("a", json!({"k": "1"})), "helm")];
    let config = [settings("a", json!({"k": "2"}))];
    let plan = Plan::new(built_in(), &live, &config, &PlanOptions::new("argocd-controller", at(1)));
    let planned = &plan.objects[0];
    assert_eq!(planned.outcome, Outcome::Changed);
    assert_eq!(planned.taken[0].path, ".data.k");
    assert_eq!((planned.next[0].manager.as_str(), planned.next[0].conflicts), ("helm", true));
}

#[test]
fn a_value_that_another_manager_owns_stays() {
    let live = applied(None, &settings("a", json!({"k": "1", "old": "x"})), "helm");
    let live = [applied(Some(&live), &settings("a", json!({"old": "x"})), "ci")];
    let plan = Plan::new(built_in(), &live, &[settings("a", json!({"k": "1"}))], &PlanOptions::new("helm", at(1)));
    let planned = &plan.objects[0];
    assert_eq!(planned.outcome, Outcome::OwnersOnly);
    assert_eq!(planned.kept.len(), 1);
    assert_eq!(
        (planned.kept[0].path.as_str(), planned.kept[0].owners.as_slice()),
        (".data.old", &["ci".to_owned()][..])
    );
}

#[test]
fn a_value_of_the_last_release_that_nobody_owns_stays() {
    let mut live = settings("a", json!({"k": "1", "old": "x"})).into_value();
    live["metadata"]["managedFields"] = json!([{"manager": "helm", "operation": "Apply", "apiVersion": "v1",
        "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {"f:k": {}}}}]);
    let options = PlanOptions::new("helm", at(1));
    let mut planner = Planner::new(built_in(), &[Object::from(live)], options);
    let last = settings("a", json!({"k": "1", "old": "x"}));
    let planned = planner.apply(&settings("a", json!({"k": "1"})), Some(&last));
    assert_eq!(planned.kept.iter().map(|kept| kept.path.as_str()).collect::<Vec<_>>(), [".data.old"]);
    assert!(planned.kept[0].owners.is_empty());
}

#[test]
fn helm_takes_over_its_own_updates_when_a_release_becomes_server_side() {
    let config = settings("a", json!({"k": "1"}));
    let live = [built_in().create(&config, &WriteOptions::new("helm", at(0))).unwrap()];
    let next = [settings("a", json!({"k": "2"}))];
    let mut options = PlanOptions::new("helm", at(1));
    assert_eq!(Plan::new(built_in(), &live, &next, &options).objects[0].outcome, Outcome::Conflict);
    options.was_client_side = true;
    assert_eq!(Plan::new(built_in(), &live, &next, &options).objects[0].outcome, Outcome::Changed);
}

#[test]
fn an_unknown_kind_is_refused_and_the_others_are_planned() {
    let unknown = Object::from(json!({"apiVersion": "x/v1", "kind": "Nothing", "metadata": {"name": "n"}}));
    let configs = [unknown, settings("a", json!({}))];
    let plan = Plan::new(built_in(), &[], &configs, &PlanOptions::new("ci", at(0)));
    assert_eq!((plan.count(Outcome::Refused), plan.count(Outcome::Created)), (1, 1));
    assert!(!plan.succeeds());
}

#[test]
fn styles_follow_the_names_of_managers() {
    let styles = ["kubectl", "helm", "argocd-controller", "kustomize-controller", "ci"].map(Style::of);
    assert_eq!(styles, [Style::Kubectl, Style::Helm, Style::ArgoCd, Style::Flux, Style::Server]);
}

#[test]
fn a_removed_manager_is_stale_and_configurations_keep_fields() {
    let live = applied(None, &settings("a", json!({"k": "1", "old": "x"})), "operator-v1");
    let config = settings("a", json!({"k": "1"}));
    let known = Known { gone: vec!["operator-v1".into()], configs: vec![&config], registry: Some(built_in()) };
    let report = Ownership::with(&live, &known).unwrap();
    assert_eq!(report.stale[0].reason, StaleReason::Gone);
    assert_eq!(report.leftovers.iter().map(|field| field.path.as_str()).collect::<Vec<_>>(), [".data.old"]);
}
