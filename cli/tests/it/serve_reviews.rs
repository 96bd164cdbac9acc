//! Requests that a server answers and does not store, over sockets: who a client is, what it may do, and tokens.

use crate::common::{Folder, client};
use crate::serve::Server;
use serde_json::{Value, json};

const JSON: &str = "application/json";
const AUTHORIZATION: &str = "/apis/authorization.k8s.io/v1";
const TOKEN: &str = "/api/v1/namespaces/default/serviceaccounts/robot/token";

fn server() -> Server {
    let folder = Folder::new();
    folder.write("objects/none.yaml", "");
    let account = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: robot, namespace: default}\n";
    folder.write("objects/robot.yaml", account);
    Server::start(&folder, "--objects objects")
}

fn post(server: &Server, path: &str, body: &Value) -> (u16, Value) {
    let answer = client::send(&server.address, "POST", path, JSON, &body.to_string()).expect("an answer");
    (answer.code, answer.body)
}

#[test]
fn everybody_may_do_everything() {
    let server = server();
    let attributes = json!({"resourceAttributes": {"verb": "delete", "resource": "pods", "namespace": "default"}});
    for (path, kind, spec) in [
        (format!("{AUTHORIZATION}/selfsubjectaccessreviews"), "SelfSubjectAccessReview", attributes.clone()),
        (
            format!("{AUTHORIZATION}/subjectaccessreviews"),
            "SubjectAccessReview",
            json!({"user": "jane", "resourceAttributes": attributes["resourceAttributes"]}),
        ),
        (
            format!("{AUTHORIZATION}/namespaces/default/localsubjectaccessreviews"),
            "LocalSubjectAccessReview",
            json!({"user": "jane", "resourceAttributes": attributes["resourceAttributes"]}),
        ),
    ] {
        let review = json!({"apiVersion": "authorization.k8s.io/v1", "kind": kind, "spec": spec});
        let (code, answer) = post(&server, &path, &review);
        assert_eq!(
            (code, &answer["kind"], &answer["status"]["allowed"]),
            (201, &json!(kind), &json!(true)),
            "{answer}"
        );
        assert_eq!(answer["spec"]["resourceAttributes"]["verb"], "delete", "{answer}");
    }
    let rules = json!({"kind": "SelfSubjectRulesReview", "apiVersion": "authorization.k8s.io/v1",
        "spec": {"namespace": "default"}});
    let (code, answer) = post(&server, &format!("{AUTHORIZATION}/selfsubjectrulesreviews"), &rules);
    let expected = json!([{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]);
    assert_eq!((code, &answer["status"]["resourceRules"]), (201, &expected), "{answer}");
}

#[test]
fn a_client_is_told_who_it_is() {
    let server = server();
    let path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    // As `kubectl auth whoami` sends it.
    let review =
        json!({"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1", "metadata": {}, "status": {}});
    let (code, answer) = post(&server, path, &review);
    assert_eq!(code, 201, "{answer}");
    let user = &answer["status"]["userInfo"];
    assert!(user["username"].as_str().is_some_and(|name| !name.is_empty()), "{answer}");
    assert!(
        user["groups"].as_array().is_some_and(|groups| groups.contains(&json!("system:authenticated"))),
        "{answer}"
    );
    // A review is not stored: there is no list of them.
    let list = client::send(&server.address, "GET", path, JSON, "").expect("an answer");
    assert_eq!(list.code, 405, "{:?}", list.body);
}

#[test]
fn a_token_names_its_account_and_has_a_bounded_validity() {
    let server = server();
    let request = |seconds: i64| {
        let spec = json!({"audiences": ["example"], "expirationSeconds": seconds});
        post(&server, TOKEN, &json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}))
    };
    let (code, answer) = request(3600);
    assert_eq!((code, &answer["kind"]), (201, &json!("TokenRequest")), "{answer}");
    let token = answer["status"]["token"].as_str().expect("a token");
    assert_eq!(token.split('.').count(), 3, "{token}");
    assert!(answer["status"]["expirationTimestamp"].as_str().is_some_and(|time| time.ends_with('Z')), "{answer}");
    let (code, answer) = request(60);
    assert_eq!((code, &answer["reason"]), (422, &json!("Invalid")), "{answer}");
    let message = answer["message"].as_str().unwrap_or_default();
    assert!(message.contains("may not specify a duration less than 10 minutes"), "{message}");
    let (code, answer) = post(&server, &TOKEN.replace("robot", "nobody"), &json!({"spec": {}}));
    assert_eq!(code, 404, "{answer}");
}
