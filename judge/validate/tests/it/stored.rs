//! Objects of built-in kinds as a server stores them: types, defaults and strategies.

use kubeshape_builtin::BuiltInDocuments;
use kubeshape_schema::Bump;
use kubeshape_validate::Release;
use kubeshape_validate::builtin::{Assigned, Strategy};
use kubeshape_validate::typed::Typed;
use kubeshape_value::ToValue;
use kubeshape_yaml::{Limits, Node, Stream, Tape};
use serde_json::{Value, json};

/// Returns the kind in the newest documents.
fn strategy(path: &str, group: &str, version: &str, kind: &str) -> Strategy {
    let documents: BuiltInDocuments = "1.36".parse().unwrap();
    let document = documents.api().openapi_v3(path).unwrap();
    let mut tape = Tape::new();
    Stream::new(document.as_bytes(), Limits::default()).unwrap().next(&mut tape).unwrap().unwrap();
    let root = tape.document(&document).root().unwrap();
    let schemas = root.get("components").unwrap().get("schemas").unwrap();
    let is_kind = |schema: Node<'_>| {
        let gvks = schema.get("x-kubernetes-group-version-kind").into_iter().flat_map(Node::items);
        let mut gvks = gvks.map(|gvk| ["group", "version", "kind"].map(|key| gvk.get(key).unwrap().text()));
        gvks.any(|gvk| gvk == [group, version, kind])
    };
    let (name, _) = schemas.pairs().find(|(_, schema)| is_kind(*schema)).unwrap();
    let namespaced = !matches!(kind, "Namespace" | "Node" | "PersistentVolume");
    Strategy::new(Typed::of_document(root, name.text()).unwrap(), group, version, kind, namespaced, Release::DEFAULT)
}

fn core(kind: &str) -> Strategy {
    strategy("api/v1", "", "v1", kind)
}

/// Returns the object as it would be stored, valid or not.
fn created(strategy: &Strategy, object: &Value) -> Value {
    let arena = Bump::new();
    let decoded = strategy.decode(object.to_value(&arena), &arena).unwrap();
    let judged = strategy.create(decoded.value, Assigned::default(), &arena);
    judged.stored.to_serde()
}

fn updated(strategy: &Strategy, object: &Value, old: &Value) -> Value {
    let arena = Bump::new();
    let [object, old] = [object, old].map(|object| strategy.decode(object.to_value(&arena), &arena).unwrap().value);
    strategy.update(object, old, Assigned::default(), &arena).stored.to_serde()
}

fn pod(spec: &Value) -> Value {
    json!({"metadata": {"name": "a"}, "spec": spec})
}

#[test]
fn a_pod_has_its_defaults() {
    let kind = core("Pod");
    let stored = created(
        &kind,
        &pod(&json!({"containers": [{"name": "c", "image": "nginx", "ports": [{"containerPort": 80}]}]})),
    );
    let expected = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "a", "namespace": "default", "generation": 1},
        "spec": {
            "containers": [{
                "name": "c", "image": "nginx", "imagePullPolicy": "Always", "resources": {},
                "ports": [{"containerPort": 80, "protocol": "TCP"}],
                "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
            }],
            "dnsPolicy": "ClusterFirst", "enableServiceLinks": true, "restartPolicy": "Always",
            "schedulerName": "default-scheduler", "securityContext": {}, "terminationGracePeriodSeconds": 30,
        },
        "status": {"phase": "Pending", "qosClass": "BestEffort"},
    });
    assert_eq!(stored, expected);
    assert_eq!(created(&kind, &stored), stored, "defaults of defaults");
}

#[test]
fn images_are_pulled_by_their_tags() {
    let kind = core("Pod");
    let digest = format!("nginx@sha256:{}", "a".repeat(64));
    for (image, policy) in [
        ("nginx", "Always"),
        ("nginx:latest", "Always"),
        ("localhost:5000/nginx", "Always"),
        ("nginx:1.27", "IfNotPresent"),
        ("localhost:5000/a/nginx:1", "IfNotPresent"),
        (digest.as_str(), "IfNotPresent"),
        ("Not An Image", "IfNotPresent"),
        ("UPPER:latest", "IfNotPresent"),
    ] {
        let stored = created(&kind, &pod(&json!({"containers": [{"name": "c", "image": image}]})));
        assert_eq!(stored["spec"]["containers"][0]["imagePullPolicy"], policy, "{image}");
    }
}

#[test]
fn quantities_and_times_are_canonical() {
    let kind = core("Pod");
    let resources = |resources: Value| {
        let stored =
            created(&kind, &pod(&json!({"containers": [{"name": "c", "image": "a", "resources": resources}]})));
        (stored["spec"]["containers"][0]["resources"].clone(), stored["status"]["qosClass"].clone())
    };
    let limits = json!({"limits": {"cpu": 0.5, "memory": "1024Mi"}});
    let both = json!({"cpu": "500m", "memory": "1Gi"});
    assert_eq!(resources(limits), (json!({"limits": both, "requests": both}), json!("Guaranteed")));
    let rounded = json!({"requests": {"cpu": "1500u"}});
    assert_eq!(resources(rounded), (json!({"requests": {"cpu": "2m"}}), json!("Burstable")));
    let lease = strategy("apis/coordination.k8s.io/v1", "coordination.k8s.io", "v1", "Lease");
    let time = json!({"metadata": {"name": "a"}, "spec": {"renewTime": "2026-01-02T04:04:05.000006+01:00"}});
    assert_eq!(created(&lease, &time)["spec"]["renewTime"], "2026-01-02T03:04:05.000006Z");
}

#[test]
fn zero_values_are_written_as_go_writes_them() {
    let role = strategy("apis/rbac.authorization.k8s.io/v1", "rbac.authorization.k8s.io", "v1", "Role");
    assert_eq!(created(&role, &json!({"metadata": {"name": "a"}, "rules": []}))["rules"], Value::Null);
    let map = core("ConfigMap");
    let stored =
        created(&map, &json!({"metadata": {"name": "a"}, "data": {"a": null}, "binaryData": {}, "immutable": false}));
    assert_eq!(stored["data"], json!({"a": ""}));
    assert_eq!((stored.get("binaryData"), &stored["immutable"]), (None, &json!(false)));
    let limits = core("LimitRange");
    assert_eq!(created(&limits, &json!({"metadata": {"name": "a"}}))["spec"], json!({"limits": null}));
}

#[test]
fn string_data_becomes_data() {
    let kind = core("Secret");
    let secret =
        json!({"metadata": {"name": "a"}, "stringData": {"b": "text", "c": ""}, "data": {"a": "YQ==", "b": "YQ=="}});
    let stored = created(&kind, &secret);
    assert_eq!(stored["data"], json!({"a": "YQ==", "b": "dGV4dA==", "c": ""}));
    assert_eq!((&stored["type"], stored.get("stringData")), (&json!("Opaque"), None));
    let listed = json!({"metadata": {"name": "a"}, "data": {"a": [104, 105], "b": "YQ=\n=", "c": []}});
    assert_eq!(created(&kind, &listed)["data"], json!({"a": "aGk=", "b": "YQ==", "c": ""}));
}

#[test]
fn a_service_gets_addresses_and_ports() {
    let kind = core("Service");
    let spec = |spec: Value| created(&kind, &json!({"metadata": {"name": "a"}, "spec": spec}))["spec"].clone();
    let plain = spec(json!({"selector": {"a": "b"}, "ports": [{"port": 80}]}));
    assert_eq!(
        plain,
        json!({
            "selector": {"a": "b"}, "ports": [{"port": 80, "targetPort": 80, "protocol": "TCP"}],
            "type": "ClusterIP", "sessionAffinity": "None", "internalTrafficPolicy": "Cluster",
            "clusterIP": "10.96.0.10", "clusterIPs": ["10.96.0.10"], "ipFamilies": ["IPv4"], "ipFamilyPolicy": "SingleStack",
        })
    );
    let headless = spec(json!({"clusterIP": "None"}));
    assert_eq!((&headless["ipFamilies"], &headless["clusterIPs"]), (&json!(["IPv4", "IPv6"]), &json!(["None"])));
    let nodes = spec(json!({"type": "NodePort", "ports": [{"name": "a", "port": 1}, {"name": "b", "port": 2}]}));
    assert_eq!((&nodes["ports"][0]["nodePort"], &nodes["ports"][1]["nodePort"]), (&json!(30000), &json!(30001)));
    let name = spec(json!({"type": "ExternalName", "externalName": "example.com"}));
    assert_eq!(name, json!({"type": "ExternalName", "externalName": "example.com", "sessionAffinity": "None"}));
}

#[test]
fn conditional_defaults_follow_other_fields() {
    let kind = strategy("apis/apps/v1", "apps", "v1", "Deployment");
    let spec = |strategy: Value| {
        let object = json!({"metadata": {"name": "a"}, "spec": {"strategy": strategy}});
        created(&kind, &object)["spec"]["strategy"].clone()
    };
    assert_eq!(spec(json!({"type": "Recreate"})), json!({"type": "Recreate"}));
    let rolling = json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": "25%"}});
    assert_eq!(spec(json!({"rollingUpdate": {"maxSurge": 0}})), rolling);
    let replicas = json!({"metadata": {"name": "a"}, "spec": {"replicas": 0}});
    assert_eq!(created(&kind, &replicas)["spec"]["replicas"], 0, "a pointer to zero is set");
}

#[test]
fn updates_keep_fields_that_requests_cannot_change() {
    let kind = strategy("apis/apps/v1", "apps", "v1", "DaemonSet");
    let object = |image: &str, status: Value| {
        let template =
            json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": image}]}});
        let selector = json!({"matchLabels": {"a": "b"}});
        json!({"metadata": {"name": "a"}, "spec": {"selector": selector, "template": template}, "status": status})
    };
    let old = created(&kind, &object("a:1", json!({"observedGeneration": 3})));
    assert_eq!(old["metadata"]["annotations"]["deprecated.daemonset.template.generation"], "1");
    assert_eq!(old["status"].get("observedGeneration"), None);
    let same = updated(&kind, &object("a:1", json!({"observedGeneration": 3})), &old);
    assert_eq!(same, old);
    let changed = updated(&kind, &object("a:2", Value::Null), &old);
    assert_eq!(changed["metadata"]["generation"], 2);
    assert_eq!(changed["metadata"]["annotations"]["deprecated.daemonset.template.generation"], "2");
}

#[test]
fn fields_of_features_that_are_off_are_dropped() {
    let lease = strategy("apis/coordination.k8s.io/v1", "coordination.k8s.io", "v1", "Lease");
    let object =
        json!({"metadata": {"name": "a"}, "spec": {"holderIdentity": "b", "strategy": "OldestEmulationVersion"}});
    let stored = created(&lease, &object);
    assert_eq!(stored["spec"], json!({"holderIdentity": "b"}));
    let mut old = stored.clone();
    old["spec"]["strategy"] = json!("OldestEmulationVersion");
    assert_eq!(updated(&lease, &object, &old)["spec"]["strategy"], "OldestEmulationVersion", "it was there before");
    assert_eq!(updated(&lease, &object, &stored)["spec"].get("strategy"), None);
}
