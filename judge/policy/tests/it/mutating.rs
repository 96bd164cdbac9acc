//! MutatingAdmissionPolicies.

use crate::common::{config_map, judge, policy};
use serde_json::json;

const KIND: &str = "MutatingAdmissionPolicy";

fn apply(expression: &str) -> serde_json::Value {
    json!({"reinvocationPolicy": "Never", "mutations": [
        {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}}]})
}

fn patch(expression: &str) -> serde_json::Value {
    json!({"reinvocationPolicy": "Never", "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}]})
}

#[test]
fn an_apply_configuration_is_merged() {
    let answer = judge(policy(KIND, "m", apply("Object{data: Object.data{y: '2'}}")), config_map(&json!({"x": "1"})));
    assert_eq!(answer.object, Some(config_map(&json!({"x": "1", "y": "2"}))));
}

#[test]
fn names_of_objects_are_those_of_their_fields() {
    let answer = judge(policy(KIND, "m", apply("Object{data: Object.other{y: '2'}}")), config_map(&json!({})));
    let text = "policy 'm' with binding 'm-binding' denied request: type mismatch: unexpected type name \"Object.other\", \
                expected \"Object.data\", which matches field name path from root Object type";
    assert_eq!((answer.code, answer.message.as_deref()), (403, Some(text)));
}

#[test]
fn a_failed_test_of_a_json_patch_changes_nothing() {
    let operations =
        "[JSONPatch{op: 'test', path: '/data/x', value: '2'}, JSONPatch{op: 'add', path: '/data/y', value: '3'}]";
    let object = |x: &str| config_map(&json!({"x": x}));
    assert_eq!(judge(policy(KIND, "m", patch(operations)), object("1")).object, None);
    let changed = judge(policy(KIND, "m", patch(operations)), object("2")).object;
    assert_eq!(changed, Some(config_map(&json!({"x": "2", "y": "3"}))));
}

#[test]
fn keys_of_paths_are_escaped() {
    let expression = "[JSONPatch{op: 'add', path: '/data/' + jsonpatch.escapeKey('a/b~'), value: 'v'}]";
    let changed = judge(policy(KIND, "m", patch(expression)), config_map(&json!({}))).object;
    assert_eq!(changed, Some(config_map(&json!({"a/b~": "v"}))));
}

#[test]
fn a_policy_that_is_invoked_again_runs_twice() {
    let mut spec = apply("Object{data: Object.data{n: string(int(object.data.n) + 1)}}");
    spec["reinvocationPolicy"] = json!("IfNeeded");
    let changed = judge(policy(KIND, "m", spec), config_map(&json!({"n": "1"}))).object;
    assert_eq!(changed, Some(config_map(&json!({"n": "3"}))));
}

#[test]
fn validation_sees_the_mutated_object() {
    let mut policies = policy(KIND, "m", apply("Object{data: Object.data{y: '2'}}"));
    let spec = json!({"validations": [{"expression": "object.data.y == '2'"}]});
    policies.extend(policy("ValidatingAdmissionPolicy", "v", spec));
    assert_eq!(judge(policies, config_map(&json!({}))).code, 200);
}
