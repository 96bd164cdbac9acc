//! Rules of the kinds without pod templates: one object per kind, with all errors.

use kubeshape_schema::Bump;
use kubeshape_validate::Release;
use kubeshape_validate::builtin::{Assigned, BuiltInKind, Strategy};
use kubeshape_validate::typed::Typed;
use kubeshape_value::ToValue;
use kubeshape_yaml::{Limits, Node, Stream, Tape};
use serde_json::{Value, json};

/// Returns a kind with the types of the newest release. The document says whether it is namespaced.
fn strategy(api_version: &str, kind: &str) -> Strategy {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let path = if group.is_empty() { format!("api/{version}") } else { format!("apis/{api_version}") };
    let release: kubeshape_builtin::BuiltInDocuments = "1.36".parse().unwrap();
    let document = release.api().openapi_v3(&path).expect("a document");
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
    let namespaced = root.get("paths").unwrap().pairs().any(|(path, _)| {
        let plural = kind.to_lowercase();
        let plural = plural.strip_suffix(['y', 's']).unwrap_or(&plural);
        path.text().contains("/namespaces/{namespace}/") && path.text().contains(plural)
    });
    Strategy::new(Typed::of_document(root, name.text()).unwrap(), group, version, kind, namespaced, Release::DEFAULT)
}

/// Returns the errors of a new object, without its name.
fn created(kind: &Strategy, object: &Value) -> Vec<String> {
    let arena = Bump::new();
    let mut object = object.clone();
    object["metadata"] = object.get("metadata").cloned().unwrap_or(json!({"name": "a"}));
    let decoded = kind.decode(object.to_value(&arena), &arena).expect("a value of the type");
    let judged = kind.create(decoded.value, Assigned::default(), &arena);
    judged.errors.iter().map(ToString::to_string).collect()
}

fn updated(kind: &Strategy, object: &Value, old: &Value) -> Vec<String> {
    let arena = Bump::new();
    let with_metadata = |object: &Value| {
        let mut object = object.clone();
        object["metadata"] = json!({"name": "a", "namespace": "default", "resourceVersion": "1", "uid": "u"});
        object
    };
    let [object, old] = [object, old].map(with_metadata);
    let [object, old] = [&object, &old].map(|object| kind.decode(object.to_value(&arena), &arena).unwrap().value);
    let judged = kind.update(object, old, Assigned::default(), &arena);
    judged.errors.iter().map(ToString::to_string).collect()
}

#[test]
fn ports_and_addresses_of_a_service() {
    let kind = strategy("v1", "Service");
    let service = |spec: Value| created(&kind, &json!({"spec": spec}));
    assert_eq!(service(json!({"ports": [{"port": 80}]})), [""; 0]);
    assert_eq!(service(json!({"clusterIP": "None"})), [""; 0]);
    assert_eq!(service(json!({})), ["spec.ports: Required value"]);
    assert_eq!(
        service(json!({"ports": [{"port": 80, "targetPort": "http_"}, {"port": 80, "name": "b"}]})),
        [
            "spec.ports[0].name: Required value",
            "spec.ports[0].targetPort: Invalid value: \"http_\": must contain only alpha-numeric characters (a-z, 0-9), and \
             hyphens (-)",
            "spec.ports[1]: Duplicate value: {\"Name\":\"\",\"Protocol\":\"TCP\",\"AppProtocol\":null,\"Port\":80,\"TargetPort\":0,\
             \"NodePort\":0}",
        ]
    );
    assert_eq!(
        service(json!({"ports": [{"port": 80}], "clusterIPs": ["10.0.0.1"]})),
        ["spec.clusterIPs: Invalid value: [\"10.0.0.1\"]: must be empty when `clusterIP` is not specified"]
    );
    assert_eq!(service(json!({"type": "ExternalName"})), ["spec.externalName: Required value"]);
    let with = |ip: &str| json!({"spec": {"ports": [{"port": 80}], "clusterIP": ip, "clusterIPs": [ip]}});
    assert_eq!(updated(&kind, &with("10.0.0.1"), &with("10.0.0.1")), [""; 0]);
    assert_eq!(
        updated(&kind, &with("10.0.0.2"), &with("10.0.0.1")),
        ["spec.clusterIPs[0]: Invalid value: [\"10.0.0.2\"]: may not change once set"]
    );
}

#[test]
fn paths_and_backends_of_an_ingress() {
    let kind = strategy("networking.k8s.io/v1", "Ingress");
    let rule = json!({"http": {"paths": [
        {"path": "a", "pathType": "Prefix", "backend": {"service": {"name": "b", "port": {"number": 80}}}},
        {"path": "/", "pathType": "Exact", "backend": {"service": {"name": "b"}}}]}});
    let ingress = |spec: Value| created(&kind, &json!({"spec": spec}));
    assert_eq!(ingress(json!({})), ["spec: Invalid value: null: either `defaultBackend` or `rules` must be specified"]);
    assert_eq!(
        ingress(json!({"rules": [rule]})),
        [
            "spec.rules[0].http.paths[0].path: Invalid value: \"a\": must be an absolute path",
            "spec.rules[0].http.paths[1].backend: Required value: port name or number is required",
        ]
    );
}

#[test]
fn networks_of_a_policy() {
    let kind = strategy("networking.k8s.io/v1", "NetworkPolicy");
    let block = json!({"cidr": "10.0.0.0/8", "except": ["11.0.0.0/16", "10.1.0.0/16"]});
    let spec =
        json!({"ingress": [{"from": [{"ipBlock": block}, {}], "ports": [{"port": 0}]}], "policyTypes": ["Both"]});
    assert_eq!(
        created(&kind, &json!({"spec": spec})),
        [
            "spec.ingress[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive",
            "spec.ingress[0].from[0].ipBlock.except[0]: Invalid value: \"11.0.0.0/16\": must be a strict subset of `cidr`",
            "spec.ingress[0].from[1]: Required value: must specify a peer",
            "spec.policyTypes[0]: Unsupported value: \"Both\": supported values: \"Ingress\", \"Egress\"",
        ]
    );
}

#[test]
fn rules_and_roles() {
    let kind = strategy("rbac.authorization.k8s.io/v1", "ClusterRole");
    assert_eq!(
        created(&kind, &json!({"rules": [{"apiGroups": [""]}]})),
        [
            "rules[0].verbs: Required value",
            "rules[0].resources: Required value: resource rules must supply at least one resource",
        ]
    );
    let kind = strategy("rbac.authorization.k8s.io/v1", "ClusterRoleBinding");
    let binding = |role: &str| {
        json!({
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
            "subjects": [{"kind": "ServiceAccount", "name": "a"}],
        })
    };
    assert_eq!(created(&kind, &binding("a")), ["subjects[0].namespace: Required value"]);
    let errors = updated(&kind, &binding("b"), &binding("a"));
    assert!(errors.last().is_some_and(|error| error.ends_with("cannot change roleRef")), "{errors:?}");
}

#[test]
fn volumes_and_claims() {
    let kind = strategy("v1", "PersistentVolume");
    let volume = json!({"spec": {"hostPath": {"path": "/a/../b"}, "nfs": {}, "capacity": {"storage": "0"}}});
    assert_eq!(
        created(&kind, &volume),
        [
            "spec.accessModes: Required value",
            "spec.capacity[storage]: Invalid value: \"0\": must be greater than zero",
            "spec.hostPath.path: Invalid value: \"/a/../b\": must not contain '..'",
            "spec.nfs: Forbidden: may not specify more than 1 volume type",
        ]
    );
    let kind = strategy("v1", "PersistentVolumeClaim");
    let claim = |storage: &str| json!({"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": storage}}}});
    assert_eq!(created(&kind, &claim("1Gi")), [""; 0]);
    assert_eq!(
        created(&kind, &json!({"spec": {"accessModes": ["ReadWriteOnce"]}})),
        ["spec.resources[storage]: Required value"]
    );
    let errors = updated(&kind, &claim("2Gi"), &claim("1Gi"));
    let detail = "spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for \
                  bound claims\n@@ -6,7 +6,7 @@\n";
    assert!(errors.iter().any(|error| error.starts_with(detail)), "{errors:?}");
    assert_eq!(updated(&kind, &claim("1024Mi"), &claim("1Gi")), [""; 0]);
}

#[test]
fn other_kinds() {
    let cases = [
        (
            "autoscaling/v2",
            "HorizontalPodAutoscaler",
            json!({"spec": {"maxReplicas": 1, "minReplicas": 2, "scaleTargetRef": {"kind": "Deployment", "name": "a", "apiVersion": "v1"}}}),
            vec![
                "spec.maxReplicas: Invalid value: 1: must be greater than or equal to `minReplicas`",
                "spec.scaleTargetRef.apiVersion: Invalid value: \"v1\": apiVersion must specify API group",
            ],
        ),
        (
            "policy/v1",
            "PodDisruptionBudget",
            json!({"spec": {"minAvailable": "120%", "maxUnavailable": 1}}),
            vec![
                "spec: Invalid value: {\"MinAvailable\":\"120%\",\"Selector\":null,\"MaxUnavailable\":1,\
                 \"UnhealthyPodEvictionPolicy\":null}: minAvailable and maxUnavailable cannot \
                 be both set",
                "spec.minAvailable: Invalid value: \"120%\": must not be greater than 100%",
            ],
        ),
        (
            "v1",
            "ResourceQuota",
            json!({"spec": {"hard": {"pods": "1500m", "bogus": "1"}, "scopes": ["Terminating", "NotTerminating"]}}),
            vec![
                "spec.hard[bogus]: Invalid value: \"bogus\": must be a standard resource type or fully qualified",
                "spec.hard[bogus]: Invalid value: \"bogus\": must be a standard resource for quota",
                "spec.hard[pods]: Invalid value: \"1500m\": must be an integer",
                "spec.scopes: Invalid value: [\"Terminating\",\"NotTerminating\"]: conflicting scopes",
            ],
        ),
        (
            "v1",
            "LimitRange",
            json!({"spec": {"limits": [{"type": "Container", "max": {"cpu": "1"}, "min": {"cpu": "2"}}]}}),
            vec![
                "spec.limits[0].min[cpu]: Invalid value: \"2\": min value 2 is greater than max value 1",
                "spec.limits[0].defaultRequest[cpu]: Invalid value: \"1\": min value 2 is greater than default request value 1",
                "spec.limits[0].default[cpu]: Invalid value: \"2\": min value 2 is greater than default value 1",
            ],
        ),
        (
            "storage.k8s.io/v1",
            "StorageClass",
            json!({"provisioner": "", "reclaimPolicy": "Keep"}),
            vec![
                "provisioner: Required value",
                "reclaimPolicy: Unsupported value: \"Keep\": supported values: \"Delete\", \"Retain\"",
            ],
        ),
        (
            "admissionregistration.k8s.io/v1",
            "ValidatingWebhookConfiguration",
            json!({"webhooks": [{"name": "a.b", "sideEffects": "Some", "clientConfig": {}, "admissionReviewVersions": ["v2"]}]}),
            vec![
                "webhooks[0].name: Invalid value: \"a.b\": should be a domain with at least three segments separated by dots",
                "webhooks[0].sideEffects: Unsupported value: \"Some\": supported values: \"None\", \"NoneOnDryRun\"",
                "webhooks[0].clientConfig: Required value: exactly one of url or service is required",
                "webhooks[0].admissionReviewVersions: Invalid value: [\"v2\"]: must include at least one of v1, v1beta1",
            ],
        ),
        (
            "resource.k8s.io/v1",
            "ResourceClaim",
            json!({"spec": {"devices": {"requests": [{"name": "a"}], "config": [{"requests": ["b"], "opaque": {"driver": "c", "parameters": {}}}]}}}),
            vec![
                "spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required",
                "spec.devices.config[0].requests[0]: Invalid value: \"b\": must be the name of a request in the claim or the \
                 name of a request and a subrequest separated by '/'",
            ],
        ),
        (
            "v1",
            "Node",
            json!({"spec": {"taints": [{"key": "a", "effect": "No"}], "podCIDR": "10.0.0.1/8"}}),
            vec![
                "metadata.taints[0].effect: Unsupported value: \"No\": supported values: \"NoSchedule\", \"PreferNoSchedule\", \
                 \"NoExecute\"",
                "spec.podCIDRs[0]: Invalid value: \"10.0.0.1/8\": must not have bits set beyond the prefix length",
            ],
        ),
    ];
    for (api_version, kind, object, expected) in cases {
        assert_eq!(created(&strategy(api_version, kind), &object), expected, "{kind}");
    }
}

#[test]
fn an_update_of_some_kinds_names_its_version() {
    let arena = Bump::new();
    let missing = |group: &str, kind: &str, metadata: Value| {
        let object = json!({"metadata": metadata});
        let kind = BuiltInKind::new(group, kind, Release::DEFAULT).expect("a kind");
        kind.missing_version(object.to_value(&arena)).map(|error| error.to_string())
    };
    let error = "metadata.resourceVersion: Invalid value: 0: must be specified for an update";
    assert_eq!(missing("coordination.k8s.io", "Lease", json!({"name": "a"})).as_deref(), Some(error));
    assert_eq!(missing("coordination.k8s.io", "Lease", json!({"resourceVersion": "5"})), None);
    assert_eq!(missing("", "ConfigMap", json!({})), None);
}
