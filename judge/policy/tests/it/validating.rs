//! ValidatingAdmissionPolicies.

use crate::common::{Asked, config_map, judge, judged, policy};
use kubeshape_policy::Release;
use serde_json::json;

const KIND: &str = "ValidatingAdmissionPolicy";

#[test]
fn the_first_false_validation_refuses_with_its_message_and_the_code_of_its_reason() {
    let validations = json!({"validations": [
        {"expression": "object.data.x == '1'", "messageExpression": "'x is ' + string(object.data.x)", "reason": "Forbidden"},
        {"expression": "object.data.y == '1'"}]});
    let answer = judge(policy(KIND, "p", validations.clone()), config_map(&json!({"x": "2", "y": "2"})));
    assert_eq!(answer.code, 403);
    let message =
        "configmaps \"c\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p-binding' denied request: x is 2";
    assert_eq!(answer.message.as_deref(), Some(message));
    let answer = judge(policy(KIND, "p", validations), config_map(&json!({"x": "1", "y": "1"})));
    assert_eq!((answer.code, answer.message), (200, None));
}

#[test]
fn an_error_refuses_unless_the_policy_ignores_it() {
    let spec =
        |failure: &str| json!({"failurePolicy": failure, "validations": [{"expression": "object.data.nope == '1'"}]});
    let answer = judge(policy(KIND, "p", spec("Fail")), config_map(&json!({})));
    let text = "expression 'object.data.nope == '1'' resulted in error: no such key: nope";
    assert!(answer.code == 422 && answer.message.is_some_and(|message| message.ends_with(text)));
    assert_eq!(judge(policy(KIND, "p", spec("Ignore")), config_map(&json!({}))).code, 200);
}

#[test]
fn variables_are_evaluated_at_their_first_use() {
    let spec = json!({
        "variables": [
            {"name": "bad", "expression": "object.data.nope"},
            {"name": "x", "expression": "string(object.data.x)"},
            {"name": "twice", "expression": "variables.x + variables.x"}],
        "validations": [{"expression": "variables.twice == 'aa' || variables.bad == 'b'"}]});
    assert_eq!(judge(policy(KIND, "p", spec.clone()), config_map(&json!({"x": "a"}))).code, 200);
    let answer = judge(policy(KIND, "p", spec), config_map(&json!({"x": "b"})));
    let text = "composited variable \"bad\" fails to evaluate: no such key: nope";
    assert!(answer.message.is_some_and(|message| message.ends_with(text)));
}

#[test]
fn variables_that_use_themselves_end() {
    let spec = json!({
        "variables": [
            {"name": "a", "expression": "1"},
            {"name": "b", "expression": "variables.a"},
            {"name": "a", "expression": "variables.b"}],
        "validations": [{"expression": "variables.a == 1"}]});
    let answer = judge(policy(KIND, "p", spec), config_map(&json!({})));
    assert!(answer.message.is_some_and(|message| message.contains("uses itself")));
    let many: Vec<_> = (0..1000)
        .map(|at| json!({"name": format!("v{at}"), "expression": if at == 0 { "1".to_owned() } else { format!("variables.v{}", at - 1) }}))
        .collect();
    let spec = json!({"variables": many, "validations": [{"expression": "variables.v999 == 1"}]});
    let answer = judge(policy(KIND, "p", spec), config_map(&json!({})));
    assert!(answer.message.is_some_and(|message| message.contains("use one another")));
}

#[test]
fn a_false_condition_has_precedence_over_an_error() {
    let spec = |second: &str| {
        json!({"matchConditions": [{"name": "a", "expression": "object.data.nope == '1'"}, {"name": "b", "expression": second}],
            "validations": [{"expression": "false"}]})
    };
    assert_eq!(judge(policy(KIND, "p", spec("1 == 2")), config_map(&json!({}))).code, 200);
    let answer = judge(policy(KIND, "p", spec("1 == 1")), config_map(&json!({})));
    assert!(answer.message.is_some_and(|message| message.ends_with("no such key: nope")));
}

#[test]
fn actions_warn_and_leave_notes() {
    let spec = json!({"actions": ["Warn", "Audit"], "validations": [{"expression": "1 == 2", "message": "no"}],
        "auditAnnotations": [{"key": "k", "valueExpression": "'  v '"}]});
    let answer = judge(policy(KIND, "p", spec), config_map(&json!({})));
    assert_eq!(answer.code, 200);
    let text = "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'p-binding': no";
    assert_eq!(answer.warnings, [text]);
    let failure = r#"[{"message":"no","policy":"p","binding":"p-binding","expressionIndex":0,"validationActions":["Warn","Audit"]}]"#;
    let expected = [("p/k", "v"), ("validation.policy.admission.k8s.io/validation_failure", failure)];
    assert_eq!(answer.annotations, expected.map(|(key, value)| (key.to_owned(), value.to_owned())));
}

#[test]
fn the_authorizer_is_asked_about_the_user_of_the_request() {
    let spec = json!({"validations": [{"expression": "authorizer.group('').resource('pods').check('get').allowed()"}]});
    let asked = |user| Asked {
        policies: policy(KIND, "p", spec.clone()),
        object: config_map(&json!({})),
        user,
        params: vec![],
    };
    assert_eq!(judged(&asked("alice")).code, 200);
    assert_eq!(judged(&asked("bob")).code, 422);
}

#[test]
fn parameters_have_apiversion_and_kind() {
    let spec = json!({"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
        "paramRef": {"name": "limits", "parameterNotFoundAction": "Deny"},
        "validations": [{"expression": "params.kind == 'ConfigMap' && object.data.x == params.data.x"}]});
    let limits = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "limits", "namespace": "default"}, "data": {"x": "1"}});
    let asked = |params| Asked {
        policies: policy(KIND, "p", spec.clone()),
        object: config_map(&json!({"x": "1"})),
        user: "alice",
        params,
    };
    assert_eq!(judged(&asked(vec![limits])).code, 200);
    let text = "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction";
    assert!(judged(&asked(vec![])).message.is_some_and(|message| message.ends_with(text)));
}

#[test]
fn a_group_that_costs_too_much_is_one_error() {
    let check = "authorizer.group('').resource('pods').check('get').allowed()";
    let validations: Vec<_> = (0..20).map(|_| json!({"expression": format!("{check} && {check}")})).collect();
    let answer = judge(policy(KIND, "p", json!({"validations": validations})), config_map(&json!({})));
    assert!(answer.message.is_some_and(|message| message.contains("running out of cost budget")));
}

#[test]
fn refused_policies_have_errors() {
    use kubeshape_value::{Bump, ToValue};
    let arena = Bump::new();
    let mut policies = policy(KIND, "p", json!({"validations": [{"expression": "object.data.x"}]}));
    policies[0]["spec"]["failurePolicy"] = json!("Fail");
    for (name, default) in
        [("matchPolicy", json!("Equivalent")), ("namespaceSelector", json!({})), ("objectSelector", json!({}))]
    {
        policies[0]["spec"]["matchConstraints"][name] = default;
    }
    let errors = kubeshape_policy::creation_errors(policies[0].to_value(&arena), Release::DEFAULT);
    let text = "spec.validations[0].expression: Invalid value: \"object.data.x\": must evaluate to bool but got dyn";
    assert_eq!(errors.iter().map(ToString::to_string).collect::<Vec<_>>(), [text]);
}

#[test]
fn unchanged_match_conditions_are_not_compiled_again() {
    use kubeshape_value::{Bump, ToValue};
    let arena = Bump::new();
    let webhook = |expression: &str, timeout: u8| {
        json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration", "metadata": {"name": "a"},
            "webhooks": [{"name": "a.b.c", "timeoutSeconds": timeout,
                "matchConditions": [{"name": "d", "expression": expression}]}]})
    };
    let errors = |object: &serde_json::Value, old: Option<&serde_json::Value>| {
        let old = old.map(|old| old.to_value(&arena));
        let errors = kubeshape_policy::expression_errors(object.to_value(&arena), old, Release::DEFAULT);
        errors.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let wrong = ["webhooks[0].matchConditions[0].expression: Invalid value: \"1\": must evaluate to bool but got int"];
    assert_eq!(errors(&webhook("1", 1), None), wrong);
    assert_eq!(errors(&webhook("1", 1), Some(&webhook("true", 1))), wrong);
    assert_eq!(errors(&webhook("1", 1), Some(&webhook("1", 2))), [""; 0]);
    // Other errors are not about expressions.
    assert_eq!(errors(&webhook("true", 1), None), [""; 0]);
}

#[test]
fn expensive_expressions_end_at_their_budgets() {
    let items: Vec<u32> = (0..1000).collect();
    let data = config_map(&json!({"x": items}));
    let loops = "object.data.x.all(a, object.data.x.all(b, object.data.x.all(c, dyn(a) != dyn('z'))))";
    let one = json!({"validations": [{"expression": loops}]});
    let text = format!(
        "configmaps \"c\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p-binding' denied request: expression \
         '{loops}' resulted in error: operation cancelled: actual cost limit exceeded"
    );
    assert_eq!(judge(policy(KIND, "p", one), data.clone()).message.as_deref(), Some(text.as_str()));
    // A group of expressions has a budget, too.
    let loops = "object.data.x.all(a, object.data.x.exists(b, dyn(b) == dyn(199)))";
    let many = json!({"validations": vec![json!({"expression": loops}); 100]});
    let message = judge(policy(KIND, "p", many), data).message.expect("a message");
    assert!(message.ends_with("no further validation rules will be run"), "{message}");
}
