//! The plugin `NodeRestriction`: what kubelets may change, and the words for what they may not.

use crate::plugins::{PODS, Server, claim, pod};
use kubeshape_objects::Plugin;
use kubeshape_objects::access::Identity;
use serde_json::{Value, json};

const NODES: &str = "/api/v1/nodes";
const CLAIMS: &str = "/api/v1/namespaces/default/persistentvolumeclaims";
const ACCOUNTS: &str = "/api/v1/namespaces/default/serviceaccounts";
const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
const REQUESTS: &str = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const MIRROR: &str = "kubernetes.io/config.mirror";

fn kubelet(name: &str) -> Identity {
    Identity::new(&format!("system:node:{name}"), ["system:nodes"])
}

/// A server with two nodes and a Pod on each.
fn server() -> Server {
    let mut server = Server::with(&[Plugin::NodeRestriction]);
    for name in ["mine", "other"] {
        server.create(NODES, &node(name, &json!({})));
        server.create(PODS, &pod(&format!("on-{name}"), &json!({"nodeName": name})));
    }
    server.create(ACCOUNTS, &json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "a"}}));
    server.user = Some(kubelet("mine"));
    server
}

fn node(name: &str, more: &Value) -> Value {
    let mut node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}});
    for (key, value) in more.as_object().unwrap() {
        for (inner, value) in value.as_object().unwrap() {
            node[key][inner] = value.clone();
        }
    }
    node
}

fn get(server: &mut Server, path: &str) -> Value {
    serde_json::from_slice(&server.send("GET", path, &Value::Null).body).unwrap()
}

/// Returns the message of a refusal of any kind.
fn message(server: &mut Server, method: &str, path: &str, body: &Value) -> (u16, String) {
    let reply = server.send(method, path, body);
    let status: Value = serde_json::from_slice(&reply.body).unwrap();
    (reply.code, status["message"].as_str().unwrap_or_default().to_owned())
}

#[test]
fn only_kubelets_are_restricted() {
    let mut server = server();
    server.user = Some(Identity::new("", ["system:nodes"]));
    server.create(PODS, &pod("a", &json!({})));
    server.user = Some(Identity::new("system:node:mine", ["others"]));
    server.create(PODS, &pod("b", &json!({})));
    server.user = Some(kubelet(""));
    assert_eq!(
        message(&mut server, "POST", PODS, &pod("c", &json!({}))),
        (403, r#"pods "c" is forbidden: could not determine node from user "system:node:""#.to_owned())
    );
    // Other kinds are free.
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
    server.user = Some(kubelet("mine"));
    server.create("/api/v1/namespaces/default/configmaps", &map);
}

#[test]
fn kubelets_create_copies_of_their_own_pods() {
    let mut server = server();
    let uid = get(&mut server, &format!("{NODES}/mine"))["metadata"]["uid"].clone();
    let owner = |more: Value| {
        let mut owner = json!({"apiVersion": "v1", "kind": "Node", "name": "mine", "uid": uid, "controller": true});
        owner.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        owner
    };
    let copy = |owners: Value, spec: Value| {
        let mut pod = pod("copy", &json!({"nodeName": "mine", "automountServiceAccountToken": false}));
        pod["metadata"]["annotations"] = json!({MIRROR: "x"});
        pod["metadata"]["ownerReferences"] = owners;
        pod["spec"].as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
        pod
    };
    let one = json!([owner(json!({}))]);
    let container = |more: Value| {
        let mut container = json!({"name": "main", "image": "a"});
        container.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"containers": [container]})
    };
    let volume = |source: Value| {
        let mut volume = json!({"name": "v"});
        volume.as_object_mut().unwrap().extend(source.as_object().unwrap().clone());
        json!({"volumes": [volume]})
    };
    let mine = r#"node "mine" can only create pods with"#;
    let references = r#"node "mine" can not create pods that reference"#;
    let mut plain = copy(one.clone(), json!({}));
    plain["metadata"].as_object_mut().unwrap().remove("annotations");
    for (sent, why) in [
        (plain, format!(r#"pod does not have "{MIRROR}" annotation, node "mine" can only create mirror pods"#)),
        (copy(one.clone(), json!({"nodeName": "other"})), format!("{mine} spec.nodeName set to itself")),
        (copy(json!([]), json!({})), format!("{mine} an owner reference set to itself")),
        (
            copy(json!([owner(json!({})), owner(json!({"uid": "b", "controller": false}))]), json!({})),
            format!("{mine} a single owner reference set to itself"),
        ),
        (copy(json!([owner(json!({"name": "other"}))]), json!({})), format!("{mine} an owner reference set to itself")),
        (
            copy(json!([owner(json!({"controller": false}))]), json!({})),
            format!("{mine} a controller owner reference set to itself"),
        ),
        (
            copy(json!([owner(json!({"blockOwnerDeletion": true}))]), json!({})),
            r#"node "mine" must not set blockOwnerDeletion on an owner reference"#.to_owned(),
        ),
        (
            copy(json!([owner(json!({"uid": "x"}))]), json!({})),
            format!("node mine UID mismatch: expected x got {}", uid.as_str().unwrap()),
        ),
        (copy(one.clone(), json!({"serviceAccountName": "a"})), format!("{references} serviceaccounts")),
        (copy(one.clone(), json!({"imagePullSecrets": [{"name": "a"}]})), format!("{references} secrets")),
        (
            copy(one.clone(), container(json!({"envFrom": [{"configMapRef": {"name": "a"}}]}))),
            format!("{references} configmaps"),
        ),
        (copy(one.clone(), volume(json!({"configMap": {"name": "a"}}))), format!("{references} configmaps")),
        (
            copy(one.clone(), volume(json!({"persistentVolumeClaim": {"claimName": "a"}}))),
            format!("{references} persistentvolumeclaims"),
        ),
        (
            copy(one.clone(), volume(json!({"csi": {"driver": "a"}}))),
            format!("{references} csidrivers (via CSI volumes)"),
        ),
        (
            copy(one.clone(), volume(json!({"projected": {"sources": [{"serviceAccountToken": {"path": "a"}}]}}))),
            format!("{references} serviceaccounts (via projected volumes)"),
        ),
    ] {
        assert_eq!(server.refused("POST", PODS, &sent), why);
    }
    let files = json!({"downwardAPI": {"items": [{"path": "n", "fieldRef": {"fieldPath": "metadata.name"}}]}});
    server.create(PODS, &copy(one, volume(json!({"projected": {"sources": [files]}}))));
    server.user = Some(kubelet("gone"));
    let mut sent = copy(json!([owner(json!({"name": "gone"}))]), json!({"nodeName": "gone"}));
    sent["metadata"]["name"] = "b".into();
    assert_eq!(message(&mut server, "POST", PODS, &sent), (404, r#"node "gone" not found"#.to_owned()));
}

#[test]
fn kubelets_change_and_delete_the_pods_of_their_node() {
    let mut server = server();
    let (mine, other) = (format!("{PODS}/on-mine"), format!("{PODS}/on-other"));
    let sent = get(&mut server, &mine);
    assert_eq!(
        server.refused("PUT", &mine, &sent),
        r#"unexpected operation "UPDATE", node "mine" can only create and delete mirror pods"#
    );
    let phase = json!({"status": {"phase": "Running"}});
    assert_eq!(server.patch(&format!("{mine}/status"), &phase).code, 200);
    let why = r#"node "mine" can only update pod status for pods with spec.nodeName set to itself"#;
    assert!(server.patch(&format!("{other}/status"), &phase).text().contains(&why.replace('"', "\\\"")));
    for (change, why) in [
        (json!({"metadata": {"labels": {"a": "b"}}}), "cannot update labels through pod status"),
        (json!({"status": {"resourceClaimStatuses": [{"name": "a"}]}}), "cannot update resource claim statues"),
    ] {
        let reply = server.patch(&format!("{mine}/status"), &change);
        assert!(reply.code == 403 && reply.text().contains(why), "{}", reply.text());
    }
    let binding =
        json!({"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "on-mine"}, "target": {"name": "mine"}});
    assert_eq!(
        server.refused("POST", &format!("{mine}/binding"), &binding),
        r#"unexpected pod subresource "binding", only 'status' and 'eviction' are allowed"#
    );
    let eviction = |name: &str| json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}});
    assert_eq!(
        server.refused("POST", &format!("{other}/eviction"), &eviction("on-other")),
        "node mine can only evict pods with spec.nodeName set to itself"
    );
    assert_eq!(
        message(&mut server, "POST", &format!("{PODS}/gone/eviction"), &eviction("gone")),
        (404, r#"pod "gone" not found"#.to_owned())
    );
    assert_eq!(
        server.refused("DELETE", &other, &Value::Null),
        r#"node "mine" can only delete pods with spec.nodeName set to itself"#
    );
    assert_eq!(server.send("POST", &format!("{mine}/eviction"), &eviction("on-mine")).code, 201);
    server.user = Some(kubelet("other"));
    assert_eq!(server.send("DELETE", &other, &Value::Null).code, 200);
}

#[test]
fn kubelets_change_only_their_own_node() {
    let mut server = server();
    let (mine, other) = (format!("{NODES}/mine"), format!("{NODES}/other"));
    let not = r#"node "mine" is not allowed to modify node "other""#;
    assert_eq!(server.refused("DELETE", &other, &Value::Null), not);
    let sent = get(&mut server, &other);
    assert_eq!(server.refused("PUT", &format!("{other}/status"), &sent), not);
    for (change, why) in [
        (
            json!({"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}}),
            r#"node "mine" is not allowed to modify taints"#,
        ),
        (
            json!({"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "a", "uid": "a"}]}}),
            r#"node "mine" is not allowed to modify ownerReferences"#,
        ),
        (
            json!({"spec": {"configSource": {"configMap": {"namespace": "a", "name": "a", "kubeletConfigKey": "a"}}}}),
            r#"node "mine" is not allowed to update configSource to a new non-nil configSource"#,
        ),
        (
            json!({"metadata": {"labels": {"other.k8s.io/a": "b", "foo.node-restriction.kubernetes.io/a": "b",
                "kubernetes.io/os": "linux"}}}),
            "is not allowed to modify labels: foo.node-restriction.kubernetes.io/a, other.k8s.io/a",
        ),
    ] {
        let reply = server.patch(&mine, &change);
        assert!(reply.code == 403 && reply.text().contains(&why.replace('"', "\\\"")), "{}", reply.text());
    }
    let labels = json!({"a": "b", "example.com/a": "b", "kubernetes.io/hostname": "b", "topology.kubernetes.io/zone": "b",
        "beta.kubernetes.io/os": "b", "foo.node.kubernetes.io/a": "b", "kubelet.kubernetes.io/a": "b"});
    assert_eq!(server.patch(&mine, &json!({"metadata": {"labels": labels}})).code, 200);
    assert_eq!(server.send("DELETE", &mine, &Value::Null).code, 200);
    let sent = node("mine", &json!({"metadata": {"labels": {"node-restriction.kubernetes.io/a": "b"}}}));
    assert_eq!(
        server.refused("POST", NODES, &sent),
        r#"node "mine" is not allowed to set the following labels: node-restriction.kubernetes.io/a"#
    );
    let source =
        json!({"spec": {"configSource": {"configMap": {"namespace": "a", "name": "a", "kubeletConfigKey": "a"}}}});
    assert_eq!(
        server.refused("POST", NODES, &node("mine", &source)),
        r#"node "mine" is not allowed to create pods with a non-nil configSource"#
    );
    let named = server.send("POST", NODES, &node("third", &json!({})));
    assert!(named.text().contains(r#"node \"mine\" is not allowed to modify node \"third\""#), "{}", named.text());
    server.create(NODES, &node("mine", &json!({})));
}

#[test]
fn kubelets_change_the_progress_of_claims() {
    let mut server = server();
    server.user = None;
    server.create(CLAIMS, &claim("a", "1Gi", &json!({})));
    server.user = Some(kubelet("mine"));
    let (path, status) = (format!("{CLAIMS}/a"), format!("{CLAIMS}/a/status"));
    assert_eq!(server.refused("DELETE", &path, &Value::Null), "may only update PVC status");
    let capacity = json!({"status": {"capacity": {"storage": "2Gi"}, "allocatedResources": {"storage": "2Gi"}}});
    assert_eq!(server.patch(&status, &capacity).code, 200, "{:?}", server.patch(&status, &capacity).text());
    let mut sent = get(&mut server, &path);
    sent["metadata"]["labels"] = json!({"a": "b"});
    sent["status"]["phase"] = "Bound".into();
    assert_eq!(
        server.refused("PUT", &status, &sent),
        "node \"mine\" is not allowed to update fields other than status.quantity and status.conditions: \
         .metadata.labels, .status.phase"
    );
}

#[test]
fn kubelets_get_tokens_for_the_pods_of_their_node() {
    let mut server = server();
    server.user = None;
    let audience = json!({"serviceAccountToken": {"path": "t", "audience": "vault"}});
    let spec = json!({"nodeName": "mine", "serviceAccountName": "a", "volumes": [
        {"name": "t", "projected": {"sources": [audience]}},
        {"name": "c", "csi": {"driver": "csi.example.com"}},
    ]});
    server.create(PODS, &pod("with-token", &spec));
    let driver = json!({"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": "csi.example.com"},
        "spec": {"tokenRequests": [{"audience": "store"}]}});
    server.create("/apis/storage.k8s.io/v1/csidrivers", &driver);
    let uids: Vec<Value> = ["with-token", "on-other"]
        .map(|name| get(&mut server, &format!("{PODS}/{name}"))["metadata"]["uid"].clone())
        .into();
    server.user = Some(kubelet("mine"));
    let path = format!("{ACCOUNTS}/a/token");
    let request = |bound: Value, audiences: &[&str]| {
        json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"audiences": audiences,
            "boundObjectRef": bound}})
    };
    let bound = |name: &str, uid: &Value| json!({"apiVersion": "v1", "kind": "Pod", "name": name, "uid": uid});
    let mine = bound("with-token", &uids[0]);
    for (sent, why) in [
        (request(Value::Null, &[]), "node requested token not bound to a pod".to_owned()),
        (
            request(bound("with-token", &json!("")), &[]),
            "node requested token with a pod binding without a uid".to_owned(),
        ),
        (
            request(bound("with-token", &json!("x")), &[]),
            "the UID in the bound object reference (x) does not match the UID in record. The object might have been \
             deleted and then recreated"
                .to_owned(),
        ),
        (
            request(bound("on-other", &uids[1]), &[]),
            "node requested token bound to a pod scheduled on a different node".to_owned(),
        ),
        (request(mine.clone(), &["a", "b"]), "node may only request 0 or 1 audiences".to_owned()),
    ] {
        assert_eq!(server.refused("POST", &path, &sent), why);
    }
    let missing = request(bound("gone", &json!("x")), &[]);
    assert_eq!(message(&mut server, "POST", &path, &missing), (404, r#"pod "gone" not found"#.to_owned()));
    for known in ["vault", "store"] {
        let reply = server.send("POST", &path, &request(mine.clone(), &[known]));
        assert_eq!(reply.code, 201, "{}", reply.text());
    }
}

#[test]
fn leases_drivers_slices_and_certificates_are_those_of_the_node() {
    let mut server = server();
    let lease =
        |name: &str| json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": name}});
    server.create(LEASES, &lease("mine"));
    let name = "can only access node lease with the same name as the requesting node";
    assert_eq!(server.refused("POST", LEASES, &lease("other")), name);
    assert_eq!(server.refused("PUT", &format!("{LEASES}/other"), &lease("other")), name);
    assert_eq!(server.refused("DELETE", LEASES, &Value::Null), name);
    assert_eq!(
        server.refused("POST", &LEASES.replace("kube-node-lease", "default"), &lease("mine")),
        r#"can only access leases in the "kube-node-lease" system namespace"#
    );
    assert_eq!(server.send("DELETE", &format!("{LEASES}/mine"), &Value::Null).code, 200);
    let drivers = "/apis/storage.k8s.io/v1/csinodes";
    let of = |name: &str| json!({"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": name}, "spec": {"drivers": []}});
    server.create(drivers, &of("mine"));
    assert_eq!(
        server.refused("POST", drivers, &of("other")),
        "can only access CSINode with the same name as the requesting node"
    );
    let slices = "/apis/resource.k8s.io/v1/resourceslices";
    let slice = |node: &str| {
        json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": node},
            "spec": {"driver": "a.example.com", "nodeName": node,
                "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1}}})
    };
    server.create(slices, &slice("mine"));
    let same = |verb: &str| format!("can only {verb} ResourceSlice with the same NodeName as the requesting node");
    assert_eq!(server.refused("POST", slices, &slice("other")), same("create"));
    server.user = Some(kubelet("other"));
    assert_eq!(server.refused("DELETE", &format!("{slices}/mine"), &Value::Null), same("delete"));
    let request = json!({"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest",
        "metadata": {"name": "a"}, "spec": {"signerName": "kubernetes.io/kubelet-serving", "request": "bm90IFBFTQ==",
        "usages": ["server auth"]}});
    assert_eq!(
        server.refused("POST", REQUESTS, &request),
        "unable to parse csr: PEM block type must be CERTIFICATE REQUEST"
    );
}

#[test]
fn kubelets_request_certificates_for_the_pods_of_their_node() {
    let mut server = server();
    let uid = |server: &mut Server, path: &str| get(server, path)["metadata"]["uid"].clone();
    let node = uid(&mut server, &format!("{NODES}/mine"));
    let pod_uid = uid(&mut server, &format!("{PODS}/on-mine"));
    let requests = "/apis/certificates.k8s.io/v1/namespaces/default/podcertificaterequests";
    let request = |more: Value| {
        let mut spec = json!({"signerName": "example.com/a", "podName": "on-mine", "podUID": pod_uid, "nodeName": "mine",
            "nodeUID": node, "serviceAccountName": "a", "serviceAccountUID": "x"});
        spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"apiVersion": "certificates.k8s.io/v1", "kind": "PodCertificateRequest", "metadata": {"name": "r"},
            "spec": spec})
    };
    assert_eq!(
        server.refused("POST", requests, &request(json!({"nodeName": "other"}))),
        r#"PodCertificateRequest.Spec.NodeName="other", which is not the requesting node "mine""#
    );
    let (code, why) = message(&mut server, "POST", requests, &request(json!({"podName": "gone"})));
    assert_eq!(code, 500);
    assert_eq!(why, r#"while retrieving pod "default/gone" named in the PodCertificateRequest: pod "gone" not found"#);
    assert_eq!(
        server.refused("POST", requests, &request(json!({}))),
        r#"PodCertificateRequest for pod "default/on-mine" contains serviceAccountName ("a") that differs from running pod ("")"#
    );
}
