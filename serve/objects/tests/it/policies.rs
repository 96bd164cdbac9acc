//! Admission policies that are stored are enforced on the requests after them.

use kubeshape_objects::store::Store;
use kubeshape_objects::{Api, Documents, Moment, Reply, Request};
use kubeshape_smd::managed::Time;
use serde_json::{Value, json};

const POLICIES: &str = "/apis/admissionregistration.k8s.io/v1";
const MAPS: &str = "/api/v1/namespaces/default/configmaps";

struct Server {
    api: Api,
    store: Store,
}

impl Server {
    fn new() -> Server {
        let release = kubeshape_builtin::BuiltInDocuments::newest().api();
        let paths = ["api/v1", "apis/admissionregistration.k8s.io/v1"];
        let documents = paths.map(|path| (path, release.openapi_v3(path).unwrap().into()));
        Server { api: Api::default().with_documents(Documents::new(documents)), store: Store::default() }
    }

    fn send(&mut self, method: &str, target: &str, body: &Value) -> Reply {
        let now = Time::parse("2026-01-02T03:04:05Z").unwrap();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let content_type = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
        let request = Request { method, path, query, content_type, body: body.as_bytes(), ..Request::default() };
        let uid = format!("00000000-0000-4000-8000-{:012}", self.store.revision());
        let moment = Moment { now, uid: &uid, ..Moment::default() };
        self.api.answer(&mut self.store, &request, &moment).unwrap()
    }

    fn message(&mut self, method: &str, target: &str, body: &Value) -> (u16, String) {
        let reply = self.send(method, target, body);
        let message = serde_json::from_slice::<Value>(&reply.body).unwrap()["message"].as_str().map(str::to_owned);
        (reply.code, message.unwrap_or_default())
    }

    /// Creates a policy about ConfigMaps and its binding.
    fn policy(&mut self, kind: &str, name: &str, spec: Value, actions: &Value) -> Value {
        let mut spec = spec;
        spec["matchConstraints"] = json!({"resourceRules": [
            {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}]});
        if kind == "Mutating" {
            spec["matchConstraints"]["resourceRules"][0]["operations"] = json!(["CREATE", "UPDATE"]);
        }
        let api_version = "admissionregistration.k8s.io/v1";
        let plural = kind.to_lowercase();
        let policy = json!({"apiVersion": api_version, "kind": format!("{kind}AdmissionPolicy"),
            "metadata": {"name": name}, "spec": spec});
        let reply = self.send("POST", &format!("{POLICIES}/{plural}admissionpolicies"), &policy);
        assert_eq!(reply.code, 201, "{}", reply.text());
        let mut spec = json!({"policyName": name});
        if !actions.is_null() {
            spec["validationActions"] = actions.clone();
        }
        let binding = json!({"apiVersion": api_version, "kind": format!("{kind}AdmissionPolicyBinding"),
            "metadata": {"name": name}, "spec": spec});
        let bound = self.send("POST", &format!("{POLICIES}/{plural}admissionpolicybindings"), &binding);
        assert_eq!(bound.code, 201, "{}", bound.text());
        serde_json::from_slice(&reply.body).unwrap()
    }
}

fn map(name: &str, data: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data})
}

#[test]
fn policies_are_in_force_from_the_next_request_on_and_until_they_are_deleted() {
    let mut server = Server::new();
    assert_eq!(server.send("POST", MAPS, &map("before", &json!({"x": "1"}))).code, 201);
    let spec = json!({"validations": [
        {"expression": "request.operation == 'DELETE' || object.data.x != '1'", "message": "x is 1"},
        {"expression": "request.operation != 'DELETE' || oldObject.data.x == '1'", "reason": "Forbidden"}]});
    server.policy("Validating", "not-one", spec, &json!(["Deny"]));
    let text = |name: &str, why: &str| {
        format!(
            "configmaps \"{name}\" is forbidden: ValidatingAdmissionPolicy 'not-one' with binding 'not-one' denied request: {why}"
        )
    };
    let one = map("a", &json!({"x": "1"}));
    assert_eq!(server.message("POST", MAPS, &one), (422, text("a", "x is 1")));
    assert_eq!(server.message("POST", &format!("{MAPS}?dryRun=All"), &one), (422, text("a", "x is 1")));
    assert_eq!(server.send("POST", MAPS, &map("a", &json!({"x": "2"}))).code, 201);
    let patch = json!({"data": {"x": "1"}});
    assert_eq!(server.message("PATCH", &format!("{MAPS}/a"), &patch), (422, text("a", "x is 1")));
    let why = "failed expression: request.operation != 'DELETE' || oldObject.data.x == '1'";
    assert_eq!(server.message("DELETE", &format!("{MAPS}/a"), &Value::Null), (403, text("a", why)));
    assert_eq!(server.send("DELETE", &format!("{MAPS}/before"), &Value::Null).code, 200);
    let binding = format!("{POLICIES}/validatingadmissionpolicybindings/not-one");
    assert_eq!(server.send("DELETE", &binding, &Value::Null).code, 200);
    assert_eq!(server.send("DELETE", &format!("{MAPS}/a"), &Value::Null).code, 200);
}

#[test]
fn mutating_policies_change_what_is_stored_and_warnings_are_sent() {
    let mut server = Server::new();
    let expression = "[JSONPatch{op: 'add', path: '/data/y', value: namespaceObject.metadata.name}]";
    let spec = json!({"reinvocationPolicy": "Never", "mutations": [
        {"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}]});
    server.policy("Mutating", "y", spec, &Value::Null);
    let spec = json!({"validations": [{"expression": "!has(object.data.y)"}]});
    server.policy("Validating", "no-y", spec, &json!(["Warn"]));
    let reply = server.send("POST", MAPS, &map("a", &json!({"x": "1"})));
    assert_eq!(reply.code, 201, "{}", reply.text());
    let stored: Value = serde_json::from_slice(&reply.body).unwrap();
    assert_eq!(stored["data"], json!({"x": "1", "y": "default"}));
    let warning = "Validation failed for ValidatingAdmissionPolicy 'no-y' with binding 'no-y': failed expression: !has(object.data.y)";
    assert_eq!(reply.warnings, [warning]);
}

#[test]
fn parameters_are_looked_up_in_the_store() {
    let mut server = Server::new();
    let spec = json!({"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
        "matchConditions": [{"name": "others", "expression": "object.metadata.name != 'limits'"}],
        "validations": [{"expression": "size(object.data) <= int(params.data.most)"}]});
    server.policy("Validating", "few", spec, &json!(["Deny"]));
    let binding = format!("{POLICIES}/validatingadmissionpolicybindings/few");
    let param_ref = json!({"spec": {"paramRef": {"name": "limits", "parameterNotFoundAction": "Deny"}}});
    assert_eq!(server.send("PATCH", &binding, &param_ref).code, 200);
    let (code, text) = server.message("POST", MAPS, &map("a", &json!({"x": "1"})));
    assert!(
        code == 422 && text.ends_with("no params found for policy binding with `Deny` parameterNotFoundAction"),
        "{text}"
    );
    let limits =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "limits"}, "data": {"most": "1"}});
    // The policy needs its own parameter to let it in.
    assert_eq!(server.send("DELETE", &binding, &Value::Null).code, 200);
    assert_eq!(server.send("POST", MAPS, &limits).code, 201);
    let again = json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": "few"}, "spec": {"policyName": "few", "validationActions": ["Deny"],
            "paramRef": {"selector": {}, "parameterNotFoundAction": "Deny"}}});
    assert_eq!(server.send("POST", &format!("{POLICIES}/validatingadmissionpolicybindings"), &again).code, 201);
    assert_eq!(server.send("POST", MAPS, &map("a", &json!({"x": "1", "y": "2"}))).code, 422);
}

#[test]
fn policies_are_judged_and_type_checked_when_they_are_stored() {
    let mut server = Server::new();
    let spec = json!({"validations": [{"expression": "object.dta.x == '1'"}]});
    let stored = server.policy("Validating", "typo", spec, &json!(["Deny"]));
    let warning = &stored["status"]["typeChecking"]["expressionWarnings"][0];
    assert_eq!(warning["fieldRef"], "spec.validations[0].expression");
    assert!(warning["warning"].as_str().unwrap().contains("undefined field 'dta'"), "{warning}");
    assert_eq!(stored["status"]["observedGeneration"], 1);
    let mut broken = stored.clone();
    broken["metadata"] = json!({"name": "broken"});
    broken["spec"]["validations"][0]["expression"] = json!("object.data");
    let (code, text) = server.message("POST", &format!("{POLICIES}/validatingadmissionpolicies"), &broken);
    assert!(code == 422 && text.contains("must evaluate to bool but got dyn"), "{text}");
}

#[test]
fn policies_that_are_too_large_together_are_refused() {
    let mut server = Server::new();
    let mut create = |name: &str, bytes: usize| {
        let policy = json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
            "metadata": {"name": name}, "spec": {
                "validations": [{"expression": "true", "message": "x".repeat(bytes)}],
                "matchConstraints": {"resourceRules": [
                    {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}]}}});
        server.message("POST", &format!("{POLICIES}/validatingadmissionpolicies"), &policy)
    };
    assert_eq!(create("a", 600 << 10).0, 201);
    let message = "admission policies and bindings have at most 1048576 bytes together".to_owned();
    assert_eq!(create("b", 600 << 10), (500, message));
    assert_eq!(create("b", 300 << 10).0, 201);
}

#[test]
fn parameters_of_a_request_have_a_bounded_size() {
    let mut server = Server::new();
    let api_version = "admissionregistration.k8s.io/v1";
    let policy = json!({"apiVersion": api_version, "kind": "ValidatingAdmissionPolicy", "metadata": {"name": "p"},
        "spec": {"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
            "matchConstraints": {"resourceRules": [
                {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}]},
            "validations": [{"expression": "params.data.size() == 1"}]}});
    let binding = json!({"apiVersion": api_version, "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": "p"},
        "spec": {"policyName": "p", "validationActions": ["Deny"],
            "paramRef": {"selector": {}, "parameterNotFoundAction": "Deny"}}});
    let large = json!({"a": "x".repeat(1_000_000)});
    for number in 0..66 {
        assert_eq!(server.send("POST", MAPS, &map(&format!("m{number}"), &large)).code, 201);
    }
    let bindings = format!("{POLICIES}/validatingadmissionpolicybindings");
    assert_eq!(server.send("POST", &format!("{POLICIES}/validatingadmissionpolicies"), &policy).code, 201);
    assert_eq!(server.send("POST", &bindings, &binding).code, 201);
    assert_eq!(server.send("POST", MAPS, &map("fits", &json!({"a": "1"}))).code, 201);
    assert_eq!(server.send("DELETE", &format!("{bindings}/p"), &Value::Null).code, 200);
    for number in 66..70 {
        assert_eq!(server.send("POST", MAPS, &map(&format!("m{number}"), &large)).code, 201);
    }
    assert_eq!(server.send("POST", &bindings, &binding).code, 201);
    let (code, message) = server.message("POST", MAPS, &map("refused", &json!({"a": "1"})));
    assert!(code == 500 && message.contains("have more than 67108864 bytes together"), "{code} {message}");
}

/// Creates a policy about any resource and its binding.
fn any_policy(server: &mut Server, name: &str, rule: &Value, spec: Value) {
    let mut spec = spec;
    let mut rule = rule.clone();
    (rule["apiGroups"], rule["apiVersions"]) = (json!([""]), json!(["v1"]));
    spec["matchConstraints"] = json!({"resourceRules": [rule]});
    let api_version = "admissionregistration.k8s.io/v1";
    let metadata = json!({"name": name});
    for (kind, plural, spec) in [
        ("ValidatingAdmissionPolicy", "validatingadmissionpolicies", spec),
        (
            "ValidatingAdmissionPolicyBinding",
            "validatingadmissionpolicybindings",
            json!({"policyName": name, "validationActions": ["Deny"]}),
        ),
    ] {
        let object = json!({"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec});
        let reply = server.send("POST", &format!("{POLICIES}/{plural}"), &object);
        assert_eq!(reply.code, 201, "{}", reply.text());
    }
}

#[test]
fn each_object_of_a_deleted_collection_is_judged_without_the_name_of_the_request() {
    let mut server = Server::new();
    for (name, x) in [("a", "1"), ("b", "2")] {
        assert_eq!(server.send("POST", MAPS, &map(name, &json!({"x": x}))).code, 201);
    }
    let spec = json!({"validations": [{
        "expression": "oldObject.data.x != '2' || has(request.name)",
        "messageExpression": "'of ' + oldObject.metadata.name"}]});
    server.policy("Validating", "kept", spec, &json!(["Deny"]));
    let (code, message) = server.message("DELETE", MAPS, &Value::Null);
    assert_eq!((code, message.split("request: ").nth(1)), (422, Some("of b")), "{message}");
    assert_eq!(server.send("GET", &format!("{MAPS}/a"), &Value::Null).code, 200);
}

#[test]
fn connections_are_judged_before_they_fail() {
    let mut server = Server::new();
    let rule = json!({"operations": ["CONNECT"], "resources": ["pods/exec", "pods/attach"]});
    let spec = json!({"validations": [{
        "expression": "object.kind == 'PodAttachOptions' || object.command != ['sh'] || has(object.tty)",
        "message": "no shell"}]});
    any_policy(&mut server, "shells", &rule, spec);
    let pods = "/api/v1/namespaces/default/pods";
    let (code, message) = server.message("POST", &format!("{pods}/a/exec?command=sh&stdin=true"), &Value::Null);
    assert_eq!(code, 422);
    assert_eq!(
        message,
        "pods \"a\" is forbidden: ValidatingAdmissionPolicy 'shells' with binding 'shells' denied request: no shell"
    );
    for target in ["exec?command=sh&tty=1", "exec?command=ls", "attach", "portforward?ports=80"] {
        let reply = server.message("POST", &format!("{pods}/a/{target}"), &Value::Null);
        assert_eq!(reply, (405, "create is not supported on resources of kind \"pods\"".to_owned()), "{target}");
    }
}

#[test]
fn requests_for_tokens_are_judged() {
    let mut server = Server::new();
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "a"}});
    assert_eq!(server.send("POST", accounts, &account).code, 201);
    let rule = json!({"operations": ["CREATE"], "resources": ["serviceaccounts/token"]});
    let spec = json!({"validations": [{
        "expression": "object.kind == 'TokenRequest' && object.spec.expirationSeconds <= 3600", "message": "too long"}]});
    any_policy(&mut server, "short", &rule, spec);
    let ask = |seconds: u32| json!({"spec": {"expirationSeconds": seconds}});
    assert_eq!(server.send("POST", &format!("{accounts}/a/token"), &ask(3600)).code, 201);
    let (code, message) = server.message("POST", &format!("{accounts}/a/token"), &ask(3601));
    assert_eq!((code, message.split("request: ").nth(1)), (422, Some("too long")));
}

#[test]
fn policies_of_beta_versions_have_defaults() {
    let release = kubeshape_builtin::BuiltInDocuments::newest().api();
    let paths = ["api/v1", "apis/admissionregistration.k8s.io/v1beta1"];
    let documents = paths.map(|path| (path, release.openapi_v3(path).unwrap().into()));
    let api = Api::default().with_documents(Documents::new(documents));
    let mut server = Server { api, store: Store::default() };
    let policy = json!({"apiVersion": "admissionregistration.k8s.io/v1beta1", "kind": "MutatingAdmissionPolicy",
        "metadata": {"name": "a"}, "spec": {
            "reinvocationPolicy": "Never",
            "matchConstraints": {"resourceRules": [
                {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}]},
            "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": "[JSONPatch{op: 'test', path: '/kind'}]"}}]}});
    let target = "/apis/admissionregistration.k8s.io/v1beta1/mutatingadmissionpolicies";
    let reply = server.send("POST", target, &policy);
    assert_eq!(reply.code, 201, "{}", reply.text());
    let stored: Value = serde_json::from_slice(&reply.body).unwrap();
    assert_eq!(
        (&stored["spec"]["failurePolicy"], &stored["spec"]["matchConstraints"]["matchPolicy"]),
        (&json!("Fail"), &json!("Equivalent"))
    );
}

#[test]
fn a_namespace_is_finalized_through_its_subresource() {
    let mut server = Server::new();
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}});
    assert_eq!(server.send("POST", "/api/v1/namespaces", &namespace).code, 201);
    let mut stored: Value =
        serde_json::from_slice(&server.send("GET", "/api/v1/namespaces/a", &Value::Null).body).unwrap();
    assert_eq!(stored["spec"]["finalizers"], json!(["kubernetes"]));
    stored["spec"] = json!({"finalizers": ["example.com/own"]});
    let reply = server.send("PUT", "/api/v1/namespaces/a", &stored);
    let kept: Value = serde_json::from_slice(&reply.body).unwrap();
    assert_eq!(kept["spec"]["finalizers"], json!(["kubernetes"]));
    stored["metadata"] = kept["metadata"].clone();
    let reply = server.send("PUT", "/api/v1/namespaces/a/finalize", &stored);
    let changed: Value = serde_json::from_slice(&reply.body).unwrap();
    assert_eq!((reply.code, &changed["spec"]["finalizers"]), (200, &json!(["example.com/own"])), "{}", reply.text());
}
