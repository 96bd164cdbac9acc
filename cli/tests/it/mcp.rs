//! `kubeshape mcp`, as a program that writes manifests sees it.
#![allow(clippy::unwrap_used, clippy::needless_pass_by_value, missing_docs)]

use crate::common::{Folder, crd, json};
use serde_json::{Value, json};

/// Sends requests, and returns the answers.
fn session(folder: &Folder, options: &str, messages: &[Value]) -> Vec<Value> {
    let lines: Vec<String> = messages.iter().map(ToString::to_string).collect();
    let lines = lines.join("\n") + "\n";
    let run = folder.pipe(&format!("mcp {options}"), lines);
    assert_eq!(run.code, Some(0), "{}", run.err);
    run.out.lines().map(json).collect()
}

fn call(name: &str, arguments: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": name, "arguments": arguments } })
}

/// Calls a tool, and returns its text, and whether it is an error.
fn text(folder: &Folder, options: &str, name: &str, arguments: Value) -> (String, bool) {
    let answers = session(folder, options, &[call(name, arguments)]);
    let result = &answers[0]["result"];
    (result["content"][0]["text"].as_str().unwrap().to_owned(), result["isError"].as_bool().unwrap())
}

#[test]
fn a_client_says_hello_and_lists_tools() {
    let folder = Folder::new();
    let hello = |version: &str| json!({ "jsonrpc": "2.0", "id": "a", "method": "initialize", "params": { "protocolVersion": version } });
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    let done = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let unknown = json!({ "jsonrpc": "2.0", "id": 3, "method": "prompts/list" });
    let answers = session(&folder, "", &[hello("2025-06-18"), done, list, unknown, hello("1999-01-01"), json!([])]);
    assert_eq!(answers.len(), 5);
    assert_eq!((&answers[0]["id"], &answers[0]["result"]["protocolVersion"]), (&"a".into(), &"2025-06-18".into()));
    let tools = answers[1]["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["kinds", "explain", "sample", "validate", "check", "diff", "apply_plan", "policy_test"]);
    for tool in tools {
        let schema = jsonschema::validator_for(&tool["inputSchema"]).unwrap();
        assert!(!schema.is_valid(&json!({ "nonsense": 1 })), "{tool}");
    }
    assert_eq!(answers[2]["error"]["code"], -32601);
    assert_eq!(answers[3]["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(answers[4]["error"]["code"], -32600);
    let run = folder.pipe("mcp", "{\n\n");
    assert_eq!(json(run.out.trim())["error"]["code"], -32700);
}

#[test]
fn kinds_are_listed_explained_and_sampled() {
    let folder = Folder::new();
    folder.write("crds/tabs.yaml", crd("tabs", &["v1"]));
    let ask = |name: &str, arguments| text(&folder, "--schemas crds", name, arguments);
    assert_eq!(ask("kinds", json!({ "filter": "statefulset" })).0, "StatefulSet apps/v1\n");
    let (listed, _) = ask("kinds", json!({ "limit": 2 }));
    assert_eq!(listed.lines().count(), 3, "{listed}");
    assert!(listed.ends_with(" more\n"));
    let (page, is_error) = ask("explain", json!({ "kind": "Deployment", "path": "spec.strategy" }));
    assert!(
        !is_error && page.starts_with("Deployment apps/v1 .spec.strategy\n.spec.strategy.rollingUpdate "),
        "{page}"
    );
    for bytes in [300, 1_000, 4_000, 20_000] {
        let (page, _) = ask("explain", json!({ "kind": "Pod", "bytes": bytes }));
        assert!(page.len() <= bytes, "{bytes}: {page}");
    }
    assert_eq!(
        ask("explain", json!({ "kind": "Pod", "path": "spec.container" })).0,
        "there is no field container; similar: containers"
    );
    assert_eq!(
        ask("sample", json!({ "kind": "Deploymet" })),
        ("there is no kind Deploymet; similar: Deployment".to_owned(), true)
    );
    assert!(ask("sample", json!({ "kind": "ConfigMap" })).0.starts_with("apiVersion: v1\nkind: ConfigMap\n"));
    assert_eq!(ask("sample", json!({ "kind": 1 })), ("kind must be a value of type string".to_owned(), true));
    assert_eq!(ask("sample", json!({})), ("the argument kind is missing".to_owned(), true));
    assert!(ask("validate", json!({ "texts": "" })).0.starts_with("unknown argument \"texts\"; expected text, path"));
}

#[test]
fn objects_and_definitions_are_judged() {
    let folder = Folder::new();
    folder.write("a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndat: {}\n");
    let ask = |name: &str, arguments| text(&folder, "", name, arguments).0;
    let found = ask("validate", json!({ "path": "a.yaml" }));
    assert!(found.starts_with("refused\n4:1 KS8102 error: ") && found.contains("help: Did you mean"), "{found}");
    assert_eq!(
        ask("validate", json!({ "text": "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}" })),
        "accepted\n"
    );
    let (outside, is_error) = text(&folder, "", "validate", json!({ "path": "/etc/passwd" }));
    assert_eq!((outside.as_str(), is_error), ("/etc/passwd is not a file in the current folder", true));
    let tabs = crd("tabs", &["v1"]);
    assert_eq!(ask("check", json!({ "text": tabs, "kubernetes": "1.34" })), "accepted by Kubernetes 1.34\n");
    let found = ask("diff", json!({ "old": tabs, "new": crd("tabs", &["v2"]) }));
    assert!(found.starts_with("breaking\n"), "{found}");
    let object = |name: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata: {{x: {name}}}\n");
    let made = ask("apply_plan", json!({ "config": object("b") }));
    assert!(made.starts_with("created\napiVersion: v1\n") && made.contains("  x: b\n"), "{made}");
    let live = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  managedFields:\n  - {manager: other, operation: Apply, \
                apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {'f:data': {'f:x': {}}}}\ndata: {x: old}\n";
    let made = ask("apply_plan", json!({ "config": object("b"), "live": live }));
    assert!(made.contains("conflict with other: .data.x"), "{made}");
    let made = ask("apply_plan", json!({ "config": object("b"), "live": live, "force": true }));
    assert!(made.starts_with("applied\n"), "{made}");
}

#[test]
fn policies_judge_objects() {
    let folder = Folder::new();
    let policies = "\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: replicas}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}
  validations:
  - {expression: 'has(object.data)', message: no data}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: replicas}
spec: {policyName: replicas, validationActions: [Deny]}
";
    let object = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}}";
    let (found, _) = text(&folder, "", "policy_test", json!({ "policies": policies, "objects": object }));
    assert!(found.starts_with("refused\n") && found.contains("no data"), "{found}");
    let good = object.replace("}}", "}, data: {a: b}}");
    assert_eq!(text(&folder, "", "policy_test", json!({ "policies": policies, "objects": good })).0, "accepted\n");
    let (found, is_error) =
        text(&folder, "", "policy_test", json!({ "policies": "", "objects": "", "operation": "x" }));
    assert_eq!((found.as_str(), is_error), ("operation must be create, update or delete, found \"x\"", true));
}

#[test]
fn schemas_are_resources() {
    let folder = Folder::new();
    folder.write("crds/tabs.yaml", crd("tabs", &["v1"]));
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/list" });
    let read = |uri: &str| json!({ "jsonrpc": "2.0", "id": 2, "method": "resources/read", "params": { "uri": uri } });
    let answers = session(
        &folder,
        "--schemas crds",
        &[
            list,
            read("kubeshape://schema/example.com/v1/Tab"),
            read("kubeshape://schema/v1/Pod"),
            read("file:///etc/passwd"),
        ],
    );
    let listed = answers[0]["result"]["resources"].as_array().unwrap();
    assert_eq!(listed.len(), 1, "{listed:?}");
    for answer in &answers[1..3] {
        let schema = json(answer["result"]["contents"][0]["text"].as_str().unwrap());
        assert!(schema["$schema"].is_string(), "{answer}");
    }
    assert_eq!(answers[3]["error"]["code"], -32002);
}
