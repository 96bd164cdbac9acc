//! The plugin `ServiceAccount`: the account of a Pod, its token and its secrets.

use crate::plugins::{PODS, Server, pod};
use kubeshape_objects::Plugin;
use serde_json::{Value, json};

const ACCOUNTS: &str = "/api/v1/namespaces/default/serviceaccounts";
const MOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

fn account(name: &str, more: &Value) -> Value {
    let mut account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}});
    account.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    account
}

#[test]
fn the_account_of_a_pod_exists() {
    let mut server = Server::with(&[Plugin::ServiceAccount]);
    assert_eq!(
        server.refused("POST", PODS, &pod("a", &json!({}))),
        "error looking up service account default/default: serviceaccount \"default\" not found"
    );
    assert_eq!(
        server.refused("POST", PODS, &pod("a", &json!({"serviceAccountName": "other"}))),
        "error looking up service account default/other: serviceaccount \"other\" not found"
    );
}

#[test]
fn a_pod_gets_its_account_its_token_and_pull_secrets() {
    let mut server = Server::with(&[Plugin::ServiceAccount]);
    server.create(ACCOUNTS, &account("default", &json!({"imagePullSecrets": [{"name": "pull"}]})));
    let init = json!({"initContainers": [{"name": "init", "image": "a",
        "volumeMounts": [{"name": "own", "mountPath": MOUNT}]}], "volumes": [{"name": "own", "emptyDir": {}}]});
    let spec = &server.create(PODS, &pod("a", &init))["spec"];
    assert_eq!((&spec["serviceAccountName"], &spec["serviceAccount"]), (&json!("default"), &json!("default")));
    assert_eq!(spec["imagePullSecrets"], json!([{"name": "pull"}]));
    let volume = &spec["volumes"][1];
    let name = volume["name"].as_str().unwrap();
    assert!(name.starts_with("kube-api-access-") && name.len() == 21, "{name}");
    let file = json!({"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}});
    let expected = json!({"defaultMode": 420, "sources": [
        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [file]}},
    ]});
    assert_eq!(volume["projected"], expected);
    let mount = json!([{"name": name, "readOnly": true, "mountPath": MOUNT}]);
    assert_eq!(spec["containers"][0]["volumeMounts"], mount);
    // A container with its own mount there keeps it.
    assert_eq!(spec["initContainers"][0]["volumeMounts"].as_array().unwrap().len(), 1);
}

#[test]
fn tokens_are_not_mounted_if_the_pod_or_the_account_says_so() {
    let mut server = Server::with(&[Plugin::ServiceAccount]);
    server.create(ACCOUNTS, &account("default", &json!({"automountServiceAccountToken": false})));
    let spec = &server.create(PODS, &pod("a", &json!({})))["spec"];
    assert_eq!((&spec["volumes"], &spec["containers"][0]["volumeMounts"]), (&json!(null), &json!(null)));
    let spec = &server.create(PODS, &pod("b", &json!({"automountServiceAccountToken": true})))["spec"];
    assert_eq!(spec["volumes"].as_array().unwrap().len(), 1);
    let own =
        &json!({"automountServiceAccountToken": true, "volumes": [{"name": "kube-api-access-mine", "emptyDir": {}}]});
    let spec = &server.create(PODS, &pod("c", own))["spec"];
    assert_eq!(spec["volumes"].as_array().unwrap().len(), 1);
    assert_eq!(spec["containers"][0]["volumeMounts"][0]["name"], json!("kube-api-access-mine"));
}

#[test]
fn an_account_can_allow_only_its_secrets() {
    let mut server = Server::with(&[Plugin::ServiceAccount]);
    let annotations = json!({"kubernetes.io/enforce-mountable-secrets": "true"});
    let mut limited = account("default", &json!({"secrets": [{"name": "known"}]}));
    limited["metadata"]["annotations"] = annotations;
    server.create(ACCOUNTS, &limited);
    let end = "is not allowed because service account default does not reference that secret";
    let env =
        |from: Value| json!({"containers": [{"name": "c", "image": "a", "env": [{"name": "E", "valueFrom": from}]}]});
    for (spec, message) in [
        (
            json!({"volumes": [{"name": "v", "secret": {"secretName": "other"}}]}),
            format!("volume with secret.secretName=\"other\" {end}"),
        ),
        (
            env(json!({"secretKeyRef": {"name": "other", "key": "k"}})),
            format!("container c with envVar E referencing secret.secretName=\"other\" {end}"),
        ),
        (
            json!({"initContainers": [{"name": "i", "image": "a", "envFrom": [{"secretRef": {"name": "other"}}]}]}),
            format!("init container i with envFrom referencing secret.secretName=\"other\" {end}"),
        ),
        (
            json!({"imagePullSecrets": [{"name": "pull"}]}),
            "imagePullSecrets[0].name=\"pull\" is not allowed because \
            service account default does not reference that imagePullSecret"
                .to_owned(),
        ),
    ] {
        assert_eq!(server.refused("POST", PODS, &pod("a", &spec)), message);
    }
    server.create(PODS, &pod("a", &json!({"volumes": [{"name": "v", "secret": {"secretName": "known"}}]})));
}

#[test]
fn mirror_pods_have_neither_accounts_nor_secrets() {
    let mut server = Server::with(&[Plugin::ServiceAccount]);
    let token = json!({"name": "v", "projected": {"sources": [{"serviceAccountToken": {"path": "a"}}]}});
    for (spec, message) in [
        (json!({"serviceAccountName": "default"}), "a mirror pod may not reference service accounts"),
        (json!({"imagePullSecrets": [{"name": "pull"}]}), "a mirror pod may not reference secrets"),
        (json!({"volumes": [token]}), "a mirror pod may not use ServiceAccountToken volume projections"),
    ] {
        let mut mirror = pod("a", &spec);
        mirror["metadata"]["annotations"] = json!({"kubernetes.io/config.mirror": "hash"});
        assert_eq!(server.refused("POST", PODS, &mirror), message);
    }
}
