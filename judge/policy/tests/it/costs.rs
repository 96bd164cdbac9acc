//! Estimated costs of expressions.

use crate::common::ConfigMaps;
use kubeshape_policy::{PolicyCost, Release, policy_costs};
use kubeshape_value::{Bump, ToValue};
use serde_json::{Value as Json, json};

fn costs(object: &Json) -> Vec<PolicyCost> {
    let arena = Bump::new();
    policy_costs(object.to_value(&arena), &ConfigMaps, Release::DEFAULT)
}

/// The path, the lowest cost, the limit and the size of each cost.
fn shown(object: &Json) -> Vec<(String, u64, u64, Option<u64>)> {
    costs(object).into_iter().map(|cost| (cost.path, cost.least, cost.limit, cost.size)).collect()
}

#[test]
fn expressions_of_a_group_share_a_budget_with_the_variables_that_they_use() {
    let policy = json!({"kind": "ValidatingAdmissionPolicy", "spec": {
        "variables": [
            {"name": "used", "expression": "object.data.a"},
            {"name": "other", "expression": "object.data.b"}],
        "matchConditions": [{"name": "a", "expression": "true"}],
        "validations": [{"expression": "variables.used == 'a'", "messageExpression": "variables.used"}],
        "auditAnnotations": [{"key": "a", "valueExpression": "'a'"}]}});
    let paths: Vec<String> = shown(&policy).into_iter().map(|(path, ..)| path).collect();
    let expected = [
        "spec.variables[0].expression",
        "spec.variables[1].expression",
        "spec.matchConditions[0].expression",
        "spec.validations[0].expression",
        "spec.validations[0].messageExpression",
        "spec.validations",
        "spec.auditAnnotations[0].valueExpression",
    ];
    assert_eq!(paths, expected);
    let least = |path: &str| costs(&policy).into_iter().find(|cost| cost.path == path).map(|cost| cost.least);
    let own = least("spec.validations[0].expression").zip(least("spec.validations[0].messageExpression"));
    let used = least("spec.variables[0].expression");
    assert_eq!(least("spec.validations"), own.zip(used).map(|((rule, message), used)| rule + message + used));
}

#[test]
fn permissions_and_loops_reach_the_limits() {
    let check = "authorizer.path('/a').check('get').allowed()";
    let condition = |name: &str| json!({"name": name, "expression": check});
    let webhooks = json!({"kind": "ValidatingWebhookConfiguration", "webhooks": [
        {"name": "a.example.com", "matchConditions": [condition("a")]},
        {"name": "b.example.com", "matchConditions": (0..8).map(|n| condition(&format!("c{n}"))).collect::<Vec<_>>()}]});
    let found = shown(&webhooks);
    let shared = found.iter().find(|(path, ..)| path == "webhooks[1].matchConditions").expect("a cost");
    assert_eq!((shared.1, shared.2, shared.3), (2_800_024, 2_500_000, Some(0)));
    assert!(found.iter().filter(|(path, ..)| path.starts_with("webhooks[0]")).all(|(_, _, _, size)| size.is_none()));
    let mutation = |expression: &str| {
        let patch = json!({"patchType": "JSONPatch", "jsonPatch": {"expression": expression}});
        json!({"kind": "MutatingAdmissionPolicy", "spec": {"mutations": [patch]}})
    };
    let loops = mutation("object.a.all(a, object.b.all(b, a != b)) ? [JSONPatch{op: 'test', path: '/a'}] : []");
    let [(path, _, limit, size)] = &shown(&loops)[..] else { panic!("one cost") };
    assert_eq!((path.as_str(), *limit), ("spec.mutations[0].jsonPatch.expression", 1_000_000));
    assert!(size.is_some_and(|size| (50..1_000).contains(&size)), "{size:?}");
}

#[test]
fn what_does_not_compile_has_no_cost() {
    let policy = json!({"kind": "ValidatingAdmissionPolicy", "spec": {"validations": [
        {"expression": "object."}, {"expression": "none"}, {"expression": "true"}]}});
    let paths: Vec<String> = shown(&policy).into_iter().map(|(path, ..)| path).collect();
    assert_eq!(paths, ["spec.validations[2].expression"]);
    assert_eq!(shown(&json!({"kind": "ValidatingAdmissionPolicyBinding"})), []);
    assert_eq!(shown(&json!("text")), []);
}

#[test]
fn the_work_of_estimates_is_bounded() {
    let expression = format!("'{}' == ''", "a".repeat(10_000));
    let validations: Vec<Json> = (0..100).map(|_| json!({"expression": expression})).collect();
    let policy = json!({"kind": "ValidatingAdmissionPolicy", "spec": {"validations": validations}});
    let count = shown(&policy).len();
    assert!((1..50).contains(&count), "{count}");
}
