//! The plugin `ResourceQuota`: what is counted, and whom quotas refuse.

use crate::plugins::{PODS, Server, claim, pod};
use kubeshape_objects::Plugin;
use serde_json::{Value, json};

const QUOTAS: &str = "/api/v1/namespaces/default/resourcequotas";

/// Creates a quota, with the status that its controller gives it.
fn quota(server: &mut Server, name: &str, spec: &Value, used: &Value) {
    let quota = json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": name}, "spec": spec});
    server.create(QUOTAS, &quota);
    let status = json!({"status": {"hard": spec["hard"], "used": used}});
    let reply = server.patch(&format!("{QUOTAS}/{name}/status"), &status);
    assert_eq!(reply.code, 200, "{}", reply.text());
}

fn used(server: &mut Server, name: &str) -> Value {
    let reply = server.send("GET", &format!("{QUOTAS}/{name}"), &Value::Null);
    serde_json::from_slice::<Value>(&reply.body).unwrap()["status"]["used"].clone()
}

fn with_resources(name: &str, requests: &Value) -> Value {
    let resources = json!({"requests": requests, "limits": {"cpu": "1"}});
    pod(name, &json!({"containers": [{"name": "main", "image": "a", "resources": resources}]}))
}

#[test]
fn a_quota_counts_pods_and_refuses_those_above_it() {
    let mut server = Server::with(&[Plugin::ResourceQuota]);
    let hard = json!({"pods": "2", "requests.cpu": "1", "limits.cpu": "4", "count/pods": "5"});
    let none = json!({"pods": "0", "requests.cpu": "0", "limits.cpu": "0", "count/pods": "0"});
    quota(&mut server, "small", &json!({"hard": hard}), &none);
    server.create(PODS, &with_resources("a", &json!({"cpu": "300m"})));
    let expected = json!({"pods": "1", "requests.cpu": "300m", "limits.cpu": "1", "count/pods": "1"});
    assert_eq!(used(&mut server, "small"), expected);
    assert_eq!(
        server.refused("POST", PODS, &with_resources("b", &json!({"cpu": "900m"}))),
        "exceeded quota: small, requested: requests.cpu=900m, used: requests.cpu=300m, limited: requests.cpu=1"
    );
    assert_eq!(
        server.refused("POST", PODS, &pod("b", &json!({}))),
        "failed quota: small: must specify limits.cpu for: main; requests.cpu for: main"
    );
    // A dry run counts nothing.
    let dry = server.send_query("POST", PODS, "dryRun=All", &with_resources("b", &json!({"cpu": "700m"})));
    assert_eq!((dry.code, used(&mut server, "small")), (201, expected));
    server.create(PODS, &with_resources("b", &json!({"cpu": "700m"})));
    assert_eq!(
        server.refused("POST", PODS, &with_resources("c", &json!({"cpu": "0"}))),
        "exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2"
    );
}

#[test]
fn a_quota_without_usage_refuses_and_one_without_status_does_nothing() {
    let mut server = Server::with(&[Plugin::ResourceQuota]);
    let spec = json!({"hard": {"pods": "1", "configmaps": "1"}});
    let new = json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "new"}, "spec": spec});
    server.create(QUOTAS, &new);
    server.create(PODS, &pod("a", &json!({})));
    quota(&mut server, "unknown", &spec, &json!({"configmaps": "0"}));
    assert_eq!(
        server.refused("POST", PODS, &pod("b", &json!({}))),
        "status unknown for quota: unknown, resources: pods"
    );
    let map = |name: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}});
    let maps = "/api/v1/namespaces/default/configmaps";
    server.create(maps, &map("a"));
    assert_eq!(
        server.refused("POST", maps, &map("b")),
        "exceeded quota: unknown, requested: configmaps=1, used: configmaps=1, limited: configmaps=1"
    );
}

#[test]
fn scopes_select_pods() {
    let mut server = Server::with(&[Plugin::ResourceQuota]);
    let none = json!({"pods": "0"});
    quota(&mut server, "a", &json!({"hard": none, "scopes": ["Terminating"]}), &none);
    let high = json!({"scopeName": "PriorityClass", "operator": "In", "values": ["high"]});
    quota(&mut server, "b", &json!({"hard": none, "scopeSelector": {"matchExpressions": [high]}}), &none);
    server.create(PODS, &pod("free", &json!({})));
    let refused = |name| format!("exceeded quota: {name}, requested: pods=1, used: pods=0, limited: pods=0");
    assert_eq!(server.refused("POST", PODS, &pod("c", &json!({"activeDeadlineSeconds": 5}))), refused("a"));
    assert_eq!(server.refused("POST", PODS, &pod("c", &json!({"priorityClassName": "high"}))), refused("b"));
}

#[test]
fn updates_of_services_and_claims_count_the_difference() {
    let mut server = Server::with(&[Plugin::ResourceQuota]);
    let hard = json!({"services.nodeports": "2", "requests.storage": "3Gi", "gold.storageclass.storage.k8s.io/requests.storage": "2Gi"});
    let none = json!({"services.nodeports": "0", "requests.storage": "0", "gold.storageclass.storage.k8s.io/requests.storage": "0"});
    quota(&mut server, "q", &json!({"hard": hard}), &none);
    let services = "/api/v1/namespaces/default/services";
    let service = |kind: &str, ports: &[u16]| {
        let ports: Vec<Value> = ports.iter().map(|port| json!({"name": format!("p{port}"), "port": port})).collect();
        json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {"type": kind, "ports": ports}})
    };
    server.create(services, &service("ClusterIP", &[1, 2, 3]));
    let three = json!({"spec": {"type": "NodePort"}});
    let refused = server.patch(&format!("{services}/s"), &three);
    let why =
        "exceeded quota: q, requested: services.nodeports=3, used: services.nodeports=0, limited: services.nodeports=2";
    assert!(refused.text().contains(why), "{}", refused.text());
    let claims = "/api/v1/namespaces/default/persistentvolumeclaims";
    let gold = json!({"storageClassName": "gold"});
    server.create(claims, &claim("a", "2Gi", &gold));
    let name = "gold.storageclass.storage.k8s.io/requests.storage";
    assert_eq!(
        server.refused("POST", claims, &claim("b", "512Mi", &gold)),
        format!("exceeded quota: q, requested: {name}=512Mi, used: {name}=2Gi, limited: {name}=2Gi")
    );
    server.create(claims, &claim("b", "512Mi", &json!({})));
    assert_eq!(used(&mut server, "q")["requests.storage"], json!("2560Mi"));
}

#[test]
fn what_goes_is_not_counted() {
    let mut server = Server::with(&[Plugin::ResourceQuota]);
    let hard = json!({"pods": "3", "count/pods": "3", "requests.cpu": "1"});
    let none = json!({"pods": "0", "count/pods": "0", "requests.cpu": "0"});
    quota(&mut server, "q", &json!({"hard": hard}), &none);
    quota(&mut server, "short", &json!({"hard": {"pods": "3"}, "scopes": ["Terminating"]}), &json!({"pods": "0"}));
    let half = json!({"cpu": "500m"});
    server.create(PODS, &with_resources("a", &half));
    server.create(PODS, &with_resources("b", &half));
    assert_eq!(used(&mut server, "q"), json!({"pods": "2", "count/pods": "2", "requests.cpu": "1"}));
    // A dry run deletes nothing.
    server.send_query("DELETE", &format!("{PODS}/a"), "dryRun=All", &Value::Null);
    assert_eq!(used(&mut server, "q")["pods"], json!("2"));
    // A Pod that has ended only counts as an object.
    server.patch(&format!("{PODS}/a/status"), &json!({"status": {"phase": "Succeeded"}}));
    assert_eq!(used(&mut server, "q"), json!({"pods": "1", "count/pods": "2", "requests.cpu": "500m"}));
    server.send("DELETE", &format!("{PODS}/a"), &Value::Null);
    assert_eq!(used(&mut server, "q"), json!({"pods": "1", "count/pods": "1", "requests.cpu": "500m"}));
    server.create(PODS, &with_resources("c", &half));
    // An object with a finalizer counts until it is gone.
    let finalizers = |list: Value| json!({"metadata": {"finalizers": list}});
    server.patch(&format!("{PODS}/c"), &finalizers(json!(["example.com/wait"])));
    server.send("DELETE", &format!("{PODS}/c"), &Value::Null);
    assert_eq!(used(&mut server, "q")["pods"], json!("2"));
    server.patch(&format!("{PODS}/c"), &finalizers(Value::Null));
    assert_eq!(used(&mut server, "q")["pods"], json!("1"));
    // Scopes of the other quota.
    server.patch(&format!("{PODS}/b"), &json!({"spec": {"activeDeadlineSeconds": 60}}));
    assert_eq!(used(&mut server, "short")["pods"], json!("1"));
    server.create(PODS, &with_resources("d", &half));
    assert_eq!(server.send("DELETE", PODS, &Value::Null).code, 200);
    assert_eq!(used(&mut server, "q"), none);
    assert_eq!(used(&mut server, "short"), json!({"pods": "0"}));
}

#[test]
fn evictions_smaller_services_and_deleted_quotas_free_what_they_used() {
    let mut server = Server::with(&[Plugin::ResourceQuota]);
    let hard = json!({"pods": "1", "services.nodeports": "2", "resourcequotas": "5"});
    let counts = json!({"pods": "0", "services.nodeports": "0", "resourcequotas": "1"});
    quota(&mut server, "q", &json!({"hard": hard}), &counts);
    server.create(PODS, &pod("a", &json!({})));
    let eviction = json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "a"}});
    assert_eq!(server.send("POST", &format!("{PODS}/a/eviction"), &eviction).code, 201);
    assert_eq!(used(&mut server, "q")["pods"], json!("0"));
    let services = "/api/v1/namespaces/default/services";
    let ports = json!([{"name": "a", "port": 1}, {"name": "b", "port": 2}]);
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"},
        "spec": {"type": "NodePort", "ports": ports}});
    server.create(services, &service);
    assert_eq!(used(&mut server, "q")["services.nodeports"], json!("2"));
    server.patch(&format!("{services}/s"), &json!({"spec": {"type": "ClusterIP"}}));
    assert_eq!(used(&mut server, "q")["services.nodeports"], json!("0"));
    // What the status says is not more than what goes: nothing is negative.
    server.patch(&format!("{QUOTAS}/q/status"), &json!({"status": {"used": {"resourcequotas": "0"}}}));
    server.create(QUOTAS, &json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "r"}}));
    server.patch(&format!("{QUOTAS}/q/status"), &json!({"status": {"used": {"resourcequotas": "0"}}}));
    server.send("DELETE", &format!("{QUOTAS}/r"), &Value::Null);
    assert_eq!(used(&mut server, "q")["resourcequotas"], json!("0"));
    // A quota that goes does not come back.
    assert_eq!(server.send("DELETE", QUOTAS, &Value::Null).code, 200);
    assert_eq!(server.send("GET", &format!("{QUOTAS}/q"), &Value::Null).code, 404);
}
