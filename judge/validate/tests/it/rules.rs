//! CEL rules on objects.

use kubeshape_schema::field::{Error, Path};
use kubeshape_schema::{Bump, read};
use kubeshape_structural::read::manifests;
use kubeshape_validate::Release;
use kubeshape_validate::object::{Resource, RuleOutcome, Rules};
use kubeshape_value::ToValue;
use kubeshape_yaml::{Limits, Stream, Tape};
use serde_json::{Value, json};

/// Evaluates the rules of a schema on an object and, if given, the object that it replaces.
fn run(schema: &Value, object: &Value, old: Option<&Value>, budget: i64) -> RuleOutcome {
    let text = schema.to_string();
    let mut tape = Tape::new();
    Stream::new(text.as_bytes(), Limits::default()).unwrap().next(&mut tape).unwrap().unwrap();
    let arena = Bump::new();
    let schema = read::Reader::new(&arena, read::Rules::Crd).schema(tape.document(&text).root().unwrap());
    let rules = Rules::of(&schema, false, Release::DEFAULT).unwrap();
    let object = object.to_value(&arena);
    match old {
        None => rules.check(object, &Path::Root, budget),
        Some(old) => rules.check_update(object, old.to_value(&arena), true, &Path::Root, budget),
    }
}

fn texts(errors: &[Error]) -> Vec<String> {
    errors.iter().map(ToString::to_string).collect()
}

fn rule(rule: &Value) -> Value {
    json!({"type": "object", "properties": {"a": {"type": "integer"}}, "x-kubernetes-validations": [rule]})
}

#[test]
fn nothing_runs_after_the_budget_is_spent() {
    let schema = json!({"type": "object", "additionalProperties": {"type": "integer", "x-kubernetes-validations": [
        {"rule": "self > 0"}
    ]}});
    let outcome = run(&schema, &json!({"a": 0, "b": 0, "c": 0}), None, 4);
    let out = "validation failed due to running out of cost budget, no further validation rules will be run";
    let expected =
        ["[a]: Invalid value: 0: failed rule: self > 0".to_owned(), format!("[c]: Invalid value: \"integer\": {out}")];
    assert_eq!(texts(&outcome.errors)[0], expected[0]);
    assert_eq!(texts(&outcome.errors).last(), Some(&expected[1]));
    assert_eq!(outcome.remaining_budget, -1);
}

#[test]
fn errors_of_unchanged_values_are_not_reported() {
    let schema = json!({"type": "object", "properties": {
        "a": {"type": "integer", "x-kubernetes-validations": [{"rule": "self > 0"}]},
        "b": {"type": "integer", "x-kubernetes-validations": [{"rule": "self > oldSelf"}]},
    }});
    let outcome = run(&schema, &json!({"a": 0, "b": 1}), Some(&json!({"a": 0, "b": 1})), Rules::BUDGET);
    assert_eq!(texts(&outcome.ratcheted), ["a: Invalid value: 0: failed rule: self > 0"]);
    assert_eq!(texts(&outcome.errors), ["b: Invalid value: 1: failed rule: self > oldSelf"]);
}

#[test]
fn items_of_a_list_of_type_map_are_correlated() {
    let schema = json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "items": {
        "type": "object", "properties": {"k": {"type": "string"}, "n": {"type": "integer"}},
        "x-kubernetes-validations": [{"rule": "self.n >= oldSelf.n", "messageExpression": "'was ' + string(oldSelf.n)"}]
    }});
    let new = json!([{"k": "b", "n": 1}, {"k": "a", "n": 1}]);
    let old = json!([{"k": "a", "n": 1}, {"k": "b", "n": 2}]);
    assert_eq!(texts(&run(&schema, &new, Some(&old), Rules::BUDGET).errors), ["[0]: Invalid value: was 2"]);
}

#[test]
fn an_unusable_message_expression_is_replaced_by_the_message() {
    for expression in ["''", "'a\\nb'", "string(1 / 0)"] {
        let schema = rule(&json!({"rule": "self.a > 0", "message": "too small", "messageExpression": expression}));
        assert_eq!(
            texts(&run(&schema, &json!({"a": 0}), None, Rules::BUDGET).errors),
            ["<nil>: Invalid value: too small"]
        );
    }
}

#[test]
fn reason_and_field_path_shape_the_error() {
    let schema = rule(&json!({"rule": "has(self.a)", "reason": "FieldValueRequired", "fieldPath": ".a"}));
    let errors = run(&schema, &json!({}), None, Rules::BUDGET).errors;
    assert_eq!(texts(&errors), ["a: Required value: failed rule: has(self.a)"]);
}

#[test]
fn a_rule_with_an_optional_old_self_runs_on_creation() {
    let schema = rule(&json!({"rule": "oldSelf.hasValue() || self.a == 1", "optionalOldSelf": true}));
    assert_eq!(run(&schema, &json!({"a": 2}), None, Rules::BUDGET).errors.len(), 1);
    assert!(run(&schema, &json!({"a": 2}), Some(&json!({"a": 3})), Rules::BUDGET).errors.is_empty());
}

#[test]
fn a_long_range_is_an_error_and_takes_no_memory() {
    let schema = rule(&json!({"rule": "lists.range(1000000000).size() > 0"}));
    let errors = texts(&run(&schema, &json!({}), None, Rules::BUDGET).errors);
    assert!(errors[0].contains("at most 10000000 elements"), "{errors:?}");
}

/// Calls `check` with a resource that has a status subresource and a rule over spec and status.
fn with_resource(check: impl for<'a> Fn(&Resource<'a>, &'a Bump)) {
    let text = r#"{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
      "metadata": {"name": "tabs.example.com"}, "spec": {"group": "example.com", "scope": "Cluster",
      "names": {"plural": "tabs", "kind": "Tab"}, "versions": [{"name": "v1", "served": true, "storage": true,
      "subresources": {"status": {}}, "schema": {"openAPIV3Schema": {"type": "object",
      "properties": {"size": {"type": "integer", "maximum": 5}, "status": {"type": "object", "properties": {
        "ready": {"type": "integer", "minimum": 0}}}},
      "x-kubernetes-validations": [{"rule": "!has(self.status) || self.status.ready <= self.size"}]}}}]}}"#;
    let mut tape = Tape::new();
    Stream::new(text.as_bytes(), Limits::default()).unwrap().next(&mut tape).unwrap().unwrap();
    let arena = Bump::new();
    let manifest = manifests(tape.document(text).root().unwrap()).0.remove(0);
    let crd = manifest.read(&arena).value.unwrap();
    check(&Resource::new(&crd, &crd.versions[0], Release::DEFAULT, &arena), &arena);
}

#[test]
fn a_status_update_changes_and_checks_the_status_only() {
    with_resource(|resource, arena| {
        let object = |size: i64, ready: i64| {
            arena.alloc(
                json!({"apiVersion": "example.com/v1", "kind": "Tab", "metadata": {"name": "t", "resourceVersion": "1"},
                "size": size, "status": {"ready": ready}}),
            )
        };
        let (old, new) = (object(7, 0).to_value(arena), object(1, -1).to_value(arena));
        let stored = resource.prepare_status_update(new, old, arena);
        assert_eq!(stored.to_serde()["size"], 7);
        let errors = texts(&resource.validate_status_update(stored, old));
        let text = "status.ready: Invalid value: -1: ready in body should be greater than or equal to 0";
        assert_eq!(errors, [text]);
        let stored = resource.prepare_status_update(object(1, 9).to_value(arena), old, arena);
        let errors = texts(&resource.validate_status_update(stored, old));
        assert_eq!(errors, ["<nil>: Invalid value: failed rule: !has(self.status) || self.status.ready <= self.size"]);
    });
}

#[test]
fn rules_run_only_if_types_are_valid() {
    with_resource(|resource, arena| {
        let object = json!({"apiVersion": "example.com/v1", "kind": "Tab", "metadata": {"name": "t"}, "size": "big"});
        let errors = texts(&resource.validate(arena.alloc(object).to_value(arena)));
        let text = "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; \
                    correct the existing errors to complete validation";
        assert_eq!(errors.last().map(String::as_str), Some(text));
    });
}

#[test]
fn manifests_need_no_version_namespace_or_final_name() {
    with_resource(|resource, arena| {
        let tab = |metadata: serde_json::Value, size: i64| {
            let object = json!({"apiVersion": "example.com/v1", "kind": "Tab", "metadata": metadata, "size": size});
            arena.alloc(object).to_value(arena)
        };
        let made = resource.create(tab(json!({"generateName": "t-"}), 3), arena);
        assert_eq!(texts(&made.errors), Vec::<String>::new());
        assert_eq!(made.stored.to_serde()["metadata"].get("name"), None);
        let changed = resource.update(tab(json!({"name": "t"}), 4), tab(json!({"name": "t"}), 3), arena);
        assert_eq!(texts(&changed.errors), Vec::<String>::new());
        assert_eq!(changed.stored.to_serde()["metadata"].get("resourceVersion"), None);
        let stale = tab(json!({"name": "t", "resourceVersion": "7"}), 4);
        let changed = resource.update(stale, tab(json!({"name": "t", "resourceVersion": "8"}), 3), arena);
        assert_eq!(changed.stored.to_serde()["metadata"]["resourceVersion"], "7");
    });
}
