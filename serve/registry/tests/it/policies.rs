//! Requests with admission policies: the checks of upstream's integration tests in `test/integration/apiserver/cel`, as
//! a table.

use kubeshape_policy::{Gvk, Operation, Permissions, Release, User};
use kubeshape_registry::policy::{Admission, Client, Layer, Parts, ServedKinds};
use kubeshape_registry::{Object, Registry};
use kubeshape_smd::{Bump, ToValue};
use serde_json::{Value, json};
use std::sync::{Arc, LazyLock};

/// Kinds of the core group, and those of policies.
static KINDS: LazyLock<[Layer; 2]> = LazyLock::new(|| {
    let api = kubeshape_builtin::BuiltInDocuments::newest().api();
    ["api/v1", "apis/admissionregistration.k8s.io/v1"].map(|path| {
        let document = api.openapi_v3(path).expect("a document");
        let mut registry = Registry::default();
        registry
            .set_built_in(path, kubeshape_input::read(path, document.as_bytes(), kubeshape_input::Limits::default()));
        Layer::new(&registry)
    })
});

/// The differences of a row from the usual request: a Namespace `test-k8s` is created, with a policy about Namespaces.
#[derive(Default)]
struct Row {
    name: &'static str,
    spec: Value,
    binding: Value,
    others: Vec<Value>,
    object: Option<Value>,
    user: &'static str,
    can: &'static str,
    /// A part of the refusal; empty if the request is accepted.
    refusal: &'static str,
}

fn answer(row: &Row) -> String {
    let api_version = "admissionregistration.k8s.io/v1";
    let mut spec = json!({"matchConstraints": {"resourceRules": [
        {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["namespaces", "configmaps"]}]}});
    merge(&mut spec, &row.spec);
    let mut binding = json!({"policyName": "p", "validationActions": ["Deny"]});
    merge(&mut binding, &row.binding);
    let policy = json!({"apiVersion": api_version, "kind": "ValidatingAdmissionPolicy", "metadata": {"name": "p"}, "spec": spec});
    let binding = json!({"apiVersion": api_version, "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": "b"}, "spec": binding});
    let object = row.object.clone().unwrap_or_else(|| namespace("test-k8s", &json!({})));
    let all: Vec<Object> =
        [policy, binding, object].into_iter().chain(row.others.iter().cloned()).map(Object::from).collect();
    let arena = Bump::new();
    let values: Vec<_> = all.iter().map(|object| object.to_value(&arena)).collect();
    let [core, policies] = &*KINDS;
    let layers = [core, policies];
    let kinds = ServedKinds::new(&layers);
    let inputs = values.iter().enumerate().filter(|(at, _)| *at != 2).map(|(_, value)| *value);
    let admission = Admission::read(inputs, &kinds, Release::DEFAULT, &arena);
    let can = row.can.split_whitespace().map(|permission| permission.parse().expect("a permission")).collect();
    let mut client = Client { authorizer: Arc::new(Permissions::new(can)), ..Client::default() };
    if !row.user.is_empty() {
        client.user = Arc::new(User { name: row.user.to_owned(), ..User::default() });
    }
    let gvk = Gvk::of("v1", all[2].kind());
    let parts = Parts {
        gvk: &gvk,
        operation: Operation::Create,
        subresource: "",
        namespace: None,
        name: None,
        object: Some(values[2]),
        old_object: None,
    };
    admission.admit(parts, &client, &kinds, &arena).refusal.unwrap_or_default()
}

fn merge(into: &mut Value, from: &Value) {
    let (Value::Object(into), Value::Object(from)) = (into, from) else { return };
    for (key, value) in from {
        match into.get_mut(key) {
            Some(known) if known.is_object() => merge(known, value),
            _ => drop(into.insert(key.clone(), value.clone())),
        }
    }
}

fn namespace(name: &str, labels: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}})
}

fn map(name: &str, namespace: &str, data: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace}, "data": data})
}

/// Returns a policy with one expression.
fn expects(expression: &str) -> Value {
    json!({"validations": [{"expression": expression}]})
}

fn with(mut spec: Value, more: &Value) -> Value {
    merge(&mut spec, more);
    spec
}

#[test]
fn upstreams_integration_tests_hold() {
    const DENIED: &str =
        "namespaces \"test-k8s\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: ";
    let config_maps = json!({"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}});
    let limits = || vec![map("limits", "default", &json!({"suffix": "k8s"}))];
    let named = json!({"paramRef": {"name": "limits", "namespace": "default", "parameterNotFoundAction": "Deny"}});
    let never = || expects("false");
    let rows = [
        Row { name: "the object", spec: expects("object.metadata.name.endsWith('k8s')"), ..Row::default() },
        Row { name: "the request", spec: expects("request.name.endsWith('k8s')"), ..Row::default() },
        Row {
            name: "a Namespace is in its own namespace",
            spec: expects("request.namespace == request.name"),
            ..Row::default()
        },
        Row { name: "and has no namespaceObject", spec: expects("namespaceObject == null"), ..Row::default() },
        Row {
            name: "a wrong name",
            spec: expects("object.metadata.name.endsWith('k9s')"),
            refusal: "failed expression: object.metadata.name.endsWith('k9s')",
            ..Row::default()
        },
        Row {
            name: "an error under Fail",
            spec: expects("object.nonExistentProperty == 'x'"),
            refusal: "expression 'object.nonExistentProperty == 'x'' resulted in error: no such key: nonExistentProperty",
            ..Row::default()
        },
        Row {
            name: "an error under Ignore",
            spec: with(expects("object.nonExistentProperty == 'x'"), &json!({"failurePolicy": "Ignore"})),
            ..Row::default()
        },
        Row {
            name: "parameters without a reference are null",
            spec: with(expects("params == null"), &config_maps),
            ..Row::default()
        },
        Row {
            name: "null has no members",
            spec: with(expects("has(params.metadata)"), &config_maps),
            refusal: "failed expression: has(params.metadata)",
            ..Row::default()
        },
        Row {
            name: "a parameter",
            spec: with(expects("object.metadata.name.endsWith(params.data.suffix)"), &config_maps),
            binding: named.clone(),
            others: limits(),
            ..Row::default()
        },
        Row {
            name: "a parameter that does not exist",
            spec: with(expects("true"), &config_maps),
            binding: named,
            refusal: "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction",
            ..Row::default()
        },
        Row {
            name: "selected parameters: one of them refuses",
            spec: with(expects("object.metadata.name.endsWith(params.data.suffix)"), &config_maps),
            binding: json!({"paramRef": {"selector": {}, "namespace": "default", "parameterNotFoundAction": "Deny"}}),
            others: vec![
                map("a", "default", &json!({"suffix": "k8s"})),
                map("b", "default", &json!({"suffix": "k9s"})),
            ],
            refusal: "failed expression",
            ..Row::default()
        },
        Row {
            name: "a kind of parameters that does not exist",
            spec: with(expects("true"), &json!({"paramKind": {"apiVersion": "example.com/v1", "kind": "Limit"}})),
            refusal: "failed to configure policy: failed to find resource referenced by paramKind: 'example.com/v1, Kind=Limit'",
            ..Row::default()
        },
        Row {
            name: "an object selector that fits",
            spec: with(never(), &json!({"matchConstraints": {"objectSelector": {"matchLabels": {"a": "b"}}}})),
            object: Some(namespace("test-k8s", &json!({"a": "b"}))),
            refusal: "failed expression: false",
            ..Row::default()
        },
        Row {
            name: "an object selector that does not",
            spec: with(never(), &json!({"matchConstraints": {"objectSelector": {"matchLabels": {"a": "b"}}}})),
            ..Row::default()
        },
        Row {
            name: "a namespace selector looks at a new Namespace itself",
            spec: with(never(), &json!({"matchConstraints": {"namespaceSelector": {"matchLabels": {"a": "b"}}}})),
            object: Some(namespace("test-k8s", &json!({"a": "b"}))),
            refusal: "failed expression: false",
            ..Row::default()
        },
        Row {
            name: "a namespace selector looks at the Namespace of the object",
            spec: with(never(), &json!({"matchConstraints": {"namespaceSelector": {"matchLabels": {"a": "b"}}}})),
            object: Some(map("m", "other", &json!({}))),
            others: vec![namespace("other", &json!({"a": "c"}))],
            ..Row::default()
        },
        Row {
            name: "names of resources",
            spec: with(
                never(),
                &json!({"matchConstraints": {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"],
                "operations": ["*"], "resources": ["namespaces"], "resourceNames": ["other"]}]}}),
            ),
            ..Row::default()
        },
        Row {
            name: "excluded resources",
            spec: with(
                never(),
                &json!({"matchConstraints": {"excludeResourceRules": [{"apiGroups": [""], "apiVersions": ["v1"],
                "operations": ["CREATE"], "resources": ["namespaces"]}]}}),
            ),
            ..Row::default()
        },
        Row {
            name: "resources that a binding excludes",
            spec: never(),
            binding: json!({"matchResources": {"excludeResourceRules": [{"apiGroups": ["*"], "apiVersions": ["*"],
                "operations": ["*"], "resources": ["*"]}]}}),
            ..Row::default()
        },
        Row {
            name: "a condition that does not hold",
            spec: with(
                never(),
                &json!({"matchConditions": [{"name": "c", "expression": "request.operation == 'UPDATE'"}]}),
            ),
            ..Row::default()
        },
        Row {
            name: "a condition that fails",
            spec: with(never(), &json!({"matchConditions": [{"name": "c", "expression": "object.missing == 1"}]})),
            refusal: "expression 'object.missing == 1' resulted in error: no such key: missing",
            ..Row::default()
        },
        Row {
            name: "a permission that the user has",
            spec: expects("authorizer.group('').resource('namespaces').check('label').allowed()"),
            user: "alice",
            can: "alice:label:namespaces",
            ..Row::default()
        },
        Row {
            name: "a permission that the user does not have",
            spec: expects("authorizer.requestResource.check('label').allowed()"),
            user: "bob",
            can: "alice:label:namespaces",
            refusal: "failed expression: authorizer.requestResource",
            ..Row::default()
        },
        Row {
            name: "rules about everything",
            spec: with(
                never(),
                &json!({"matchConstraints": {"resourceRules": [{"apiGroups": ["*"], "apiVersions": ["*"],
                "operations": ["*"], "resources": ["*"]}]}}),
            ),
            refusal: "failed expression: false",
            ..Row::default()
        },
        Row {
            name: "an expression that costs too much",
            spec: expects(
                "object.metadata.labels.all(a, object.metadata.labels.all(b, object.metadata.labels.all(c, a + b + c != '')))",
            ),
            object: Some(namespace("test-k8s", &(0..150).map(|n| (format!("l{n}"), json!("v"))).collect::<Value>())),
            refusal: "operation cancelled: actual cost limit exceeded",
            ..Row::default()
        },
    ];
    for row in rows {
        let text = answer(&row);
        assert_eq!(text.is_empty(), row.refusal.is_empty(), "{}: {text}", row.name);
        assert!(text.contains(row.refusal), "{}: {text}", row.name);
        let is_about_it =
            text.is_empty() || text.starts_with(DENIED) || text.contains("with binding") || text.contains("'p' denied");
        assert!(is_about_it, "{}: {text}", row.name);
    }
}
