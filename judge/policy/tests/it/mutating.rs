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

#[test]
fn repeated_uses_of_a_value_are_bounded() {
    let text = "x".repeat(1 << 20);
    let items = vec!["y".repeat(1000); 1000];
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "x": text, "l": items});
    let bounded = "the mutations of a request make at most 268435456 bytes";
    for expression in [
        // A string a thousand times, in a list of strings and as the value of a patch.
        "[JSONPatch{op: 'add', path: '/l', value: object.l.map(i, object.x)}]",
        "Object{l: object.l.map(i, object.x)}",
    ] {
        let spec = if expression.starts_with('[') { patch(expression) } else { apply(expression) };
        let answer = judge(policy(KIND, "m", spec), object.clone());
        assert!(answer.message.as_deref().is_some_and(|text| text.ends_with(bounded)), "{:?}", answer.message);
    }
    // Variables that double each other, and policies that double the object.
    let variable =
        |n: usize| json!({"name": format!("v{n}"), "expression": format!("[variables.v{0}, variables.v{0}]", n - 1)});
    let mut variables = vec![json!({"name": "v0", "expression": "['x']"})];
    variables.extend((1..60).map(variable));
    let mut spec = patch("[JSONPatch{op: 'add', path: '/l', value: variables.v59}]");
    spec["variables"] = json!(variables);
    let answer = judge(policy(KIND, "m", spec), object.clone());
    assert!(answer.message.as_deref().is_some_and(|text| text.contains("is larger")), "{:?}", answer.message);
    let doubling = patch("[JSONPatch{op: 'add', path: '/l', value: object.l + object.l}]");
    let policies: Vec<_> = (0..12).flat_map(|n| policy(KIND, &format!("m{n}"), doubling.clone())).collect();
    let answer = judge(policies, object);
    assert!(
        answer.message.as_deref().is_some_and(|text| text.contains("makes an object larger")),
        "{:?}",
        answer.message
    );
}

#[test]
fn variables_that_nest_one_another_are_bounded() {
    let nested = |inner: &str| format!("{}{inner}{}", "[".repeat(100), "]".repeat(100));
    let variable = |n: usize| json!({"name": format!("v{n}"), "expression": nested(&format!("variables.v{}", n - 1))});
    let mut variables = vec![json!({"name": "v0", "expression": nested("1")})];
    variables.extend((1..300).map(variable));
    let all: Vec<String> = (0..300).map(|n| format!("variables.v{n}")).collect();
    let mut spec = patch(&format!("[JSONPatch{{op: 'add', path: '/l', value: [{}]}}]", all.join(", ")));
    spec["variables"] = json!(variables);
    let answer = judge(policy(KIND, "m", spec), config_map(&json!({})));
    assert!(answer.message.as_deref().is_some_and(|text| text.contains("nests deeper")), "{:?}", answer.message);
}

#[test]
fn small_policies_create_no_large_objects() {
    // Each mutation copies everything: the object doubles.
    let double = "[JSONPatch{op: 'copy', from: '/data', path: '/data/x' + string(size(object.data))}]";
    let one = json!({"patchType": "JSONPatch", "jsonPatch": {"expression": double}});
    let doubling = json!({"reinvocationPolicy": "IfNeeded", "mutations": vec![one; 40]});
    let answer = judge(policy(KIND, "m", doubling), config_map(&json!({"x": "0123456789"})));
    assert_eq!(answer.code, 413, "{:?}", answer.message);
    assert!(answer.message.expect("a message").contains("makes an object larger than 3145728 bytes"));
    // Many mutations of an object that is already large.
    let one = json!({"patchType": "JSONPatch", "jsonPatch": {"expression": "[JSONPatch{op: 'add', path: '/data/y', value: 'y'}]"}});
    let many = json!({"reinvocationPolicy": "IfNeeded", "mutations": vec![one; 60]});
    let answer = judge(policy(KIND, "m", many), config_map(&json!({"x": "x".repeat(2 << 20)})));
    assert_eq!(answer.code, 413, "{:?}", answer.message);
    assert!(answer.message.expect("a message").contains("more than 67108864 bytes for one request"));
}
