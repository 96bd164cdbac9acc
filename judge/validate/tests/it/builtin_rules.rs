//! Rules for objects of built-in kinds.

use kubeshape_schema::Bump;
use kubeshape_validate::Release;
use kubeshape_validate::builtin::{Assigned, Strategy};
use kubeshape_validate::typed::Typed;
use kubeshape_value::ToValue;
use kubeshape_yaml::{Limits, Stream, Tape};
use serde_json::{Value, json};

/// Returns a kind with the types of the newest release.
pub(crate) fn strategy(api_version: &str, kind: &str, definition: &str) -> Strategy {
    strategy_in(Release::nearest(36), api_version, kind, definition)
}

/// Returns a kind with the rules of a release.
fn strategy_in(rules: Release, api_version: &str, kind: &str, definition: &str) -> Strategy {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let path = if group.is_empty() { format!("api/{version}") } else { format!("apis/{api_version}") };
    let release = kubeshape_builtin::BuiltInDocuments::try_from(rules).unwrap();
    let document = release.api().openapi_v3(&path).expect("a document");
    let mut tape = Tape::new();
    Stream::new(document.as_bytes(), Limits::default()).unwrap().next(&mut tape).unwrap().unwrap();
    let types = Typed::of_document(tape.document(&document).root().unwrap(), definition).expect("a definition");
    Strategy::new(types, group, version, kind, kind != "Namespace", rules)
}

pub(crate) fn created(kind: &Strategy, object: &Value) -> Vec<String> {
    let arena = Bump::new();
    let decoded = kind.decode(object.to_value(&arena), &arena).expect("a value of the type");
    let judged = kind.create(decoded.value, Assigned::default(), &arena);
    judged.errors.iter().map(ToString::to_string).collect()
}

pub(crate) fn updated(kind: &Strategy, object: &Value, old: &Value) -> Vec<String> {
    let arena = Bump::new();
    let object = kind.decode(object.to_value(&arena), &arena).expect("a value of the type");
    let old = kind.decode(old.to_value(&arena), &arena).expect("a value of the type");
    let judged = kind.update(object.value, old.value, Assigned::default(), &arena);
    judged.errors.iter().map(ToString::to_string).collect()
}

#[test]
fn data_has_keys_and_immutable_data_stays() {
    let kind = strategy("v1", "ConfigMap", "io.k8s.api.core.v1.ConfigMap");
    let object = json!({"metadata": {"name": "a"}, "data": {"..": "1", "b": "2"}, "binaryData": {"b": "AA=="}});
    assert_eq!(
        created(&kind, &object),
        [
            "data[..]: Invalid value: \"..\": must not be '..'",
            "data[b]: Invalid value: \"b\": duplicate of key present in binaryData"
        ]
    );
    let with = |value: &str| json!({"metadata": {"name": "a", "namespace": "b", "resourceVersion": "1"}, "immutable": true, "data": {"a": value}});
    assert_eq!(updated(&kind, &with("1"), &with("1")), [""; 0]);
    assert_eq!(updated(&kind, &with("2"), &with("1")), ["data: Forbidden: field is immutable when `immutable` is set"]);
}

#[test]
fn types_of_secrets_need_their_keys() {
    let kind = strategy("v1", "Secret", "io.k8s.api.core.v1.Secret");
    let secret = |of: &str, data: Value| json!({"metadata": {"name": "a"}, "type": of, "data": data});
    let tls = secret("kubernetes.io/tls", json!({"tls.crt": ""}));
    assert_eq!(created(&kind, &tls), ["data[tls.key]: Required value"]);
    let docker = secret("kubernetes.io/dockercfg", json!({".dockercfg": "WzE="}));
    let detail = "unexpected end of JSON input";
    assert_eq!(
        created(&kind, &docker),
        [format!("data[.dockercfg]: Invalid value: \"<secret contents redacted>\": {detail}")]
    );
    assert_eq!(created(&kind, &secret("Opaque", json!({}))), [""; 0]);
}

fn pod(spec: &Value) -> Value {
    json!({"metadata": {"name": "a"}, "spec": spec})
}

#[test]
fn containers_are_checked_with_the_volumes_of_their_pod() {
    let kind = strategy("v1", "Pod", "io.k8s.api.core.v1.Pod");
    let container = |more: &Value| {
        let mut container = json!({"name": "a", "image": "b"});
        container.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        container
    };
    assert_eq!(created(&kind, &pod(&json!({"containers": [container(&json!({}))]}))), [""; 0]);
    let object = pod(&json!({
        "volumes": [{"name": "v", "configMap": {"name": "c"}}],
        "containers": [
            container(&json!({"volumeMounts": [{"name": "w", "mountPath": "/w"}], "ports": [{"containerPort": 0}]})),
            container(&json!({"resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}})),
        ],
    }));
    assert_eq!(
        created(&kind, &object),
        [
            "spec.containers[0].ports[0].containerPort: Required value",
            "spec.containers[0].volumeMounts[0].name: Not found: \"w\"",
            "spec.containers[1].resources.requests: Invalid value: \"2\": must be less than or equal to cpu limit of 1",
            "spec.containers[1].name: Duplicate value: \"a\"",
        ]
    );
}

#[test]
fn a_pod_keeps_its_spec_but_for_images() {
    let kind = strategy("v1", "Pod", "io.k8s.api.core.v1.Pod");
    let with = |image: &str, dns: &str| {
        json!({
            "metadata": {"name": "a", "namespace": "b", "resourceVersion": "1"},
            "spec": {"dnsPolicy": dns, "containers": [{"name": "a", "image": image}]},
        })
    };
    assert_eq!(updated(&kind, &with("2", "Default"), &with("1", "Default")), [""; 0]);
    let errors = updated(&kind, &with("1", "Default"), &with("1", "ClusterFirst"));
    assert!(errors.len() == 1 && errors[0].starts_with("spec: Forbidden: pod updates may not change"), "{errors:?}");
}

#[test]
fn the_selector_of_a_deployment_matches_its_template_and_stays() {
    let kind = strategy("apps/v1", "Deployment", "io.k8s.api.apps.v1.Deployment");
    let with = |selected: &str, label: &str| {
        json!({
            "metadata": {"name": "a", "namespace": "b", "resourceVersion": "1"},
            "spec": {
                "selector": {"matchLabels": {"app": selected}},
                "template": {
                    "metadata": {"labels": {"app": label}},
                    "spec": {"containers": [{"name": "a", "image": "b"}]},
                },
            },
        })
    };
    assert_eq!(updated(&kind, &with("a", "a"), &with("a", "a")), [""; 0]);
    let differs =
        "spec.template.metadata.labels: Invalid value: {\"app\":\"b\"}: `selector` does not match template `labels`";
    assert_eq!(updated(&kind, &with("a", "b"), &with("a", "b")), [differs]);
    let frozen = "spec.selector: Invalid value: {\"matchLabels\":{\"app\":\"b\"}}: field is immutable";
    assert_eq!(updated(&kind, &with("b", "b"), &with("a", "a")), [frozen]);
}

#[test]
fn schedules_and_restarts_of_jobs_are_checked() {
    let kind = strategy("batch/v1", "CronJob", "io.k8s.api.batch.v1.CronJob");
    let with = |schedule: &str, zone: &str, restart: &str| {
        let pod = json!({"restartPolicy": restart, "containers": [{"name": "a", "image": "b"}]});
        json!({
            "metadata": {"name": "a"},
            "spec": {"schedule": schedule, "timeZone": zone, "jobTemplate": {"spec": {"template": {"spec": pod}}}},
        })
    };
    for schedule in ["* * * * *", "@daily", "*/5 0-12/2 1,15 jan mon-fri"] {
        assert_eq!(created(&kind, &with(schedule, "Europe/Berlin", "Never")), [""; 0], "{schedule}");
    }
    assert_eq!(
        created(&kind, &with("61 * * * *", "Mars/Base", "Always")),
        [
            "spec.schedule: Invalid value: \"61 * * * *\": end of range (61) above maximum (59): 61",
            "spec.timeZone: Invalid value: \"Mars/Base\": unknown time zone Mars/Base",
            "spec.jobTemplate.spec.template.spec.restartPolicy: Required value: valid values: \"OnFailure\", \"Never\"",
        ]
    );
    for (schedule, why) in
        [("* * * *", "expected exactly 5 fields, found 4: [* * * *]"), ("@often", "unrecognized descriptor: @often")]
    {
        let expected = format!("spec.schedule: Invalid value: \"{schedule}\": {why}");
        assert_eq!(created(&kind, &with(schedule, "UTC", "Never")), [expected]);
    }
}

pub(crate) fn warnings(kind: &Strategy, object: &Value) -> Vec<String> {
    let arena = Bump::new();
    let decoded = kind.decode(object.to_value(&arena), &arena).expect("a value of the type");
    kind.create(decoded.value, Assigned::default(), &arena).warnings
}

#[test]
fn an_immutable_spec_is_shown_with_its_differences() {
    let kind = strategy("v1", "PersistentVolumeClaim", "io.k8s.api.core.v1.PersistentVolumeClaim");
    let claim = |source: Value, volume: &str| {
        json!({"metadata": {"name": "a", "namespace": "b", "resourceVersion": "1"},
            "spec": {"accessModes": ["ReadWriteOnce"], "volumeName": volume, "resources": {"requests": {"storage": "1Gi"}},
                "dataSource": source}})
    };
    let source = json!({"kind": "PersistentVolumeClaim", "name": "c"});
    // The data source of the stored object gets its reference, too.
    assert_eq!(updated(&kind, &claim(source.clone(), "v"), &claim(source, "v")), [""; 0]);
    let detail = "spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName \
                  for bound claims\n@@ -9,7 +9,7 @@\n    \"storage\": \"1Gi\"\n   }\n  },\n- \"VolumeName\": \"v\",\n\
                  + \"VolumeName\": \"w\",\n  \"StorageClassName\": null,\n  \"VolumeMode\": \"Filesystem\",\n  \"DataSource\": \
                  null,\n";
    assert_eq!(updated(&kind, &claim(json!(null), "w"), &claim(json!(null), "v")), [detail]);
}

#[test]
fn errors_show_structs_with_the_names_of_go() {
    let kind = strategy("apps/v1", "Deployment", "io.k8s.api.apps.v1.Deployment");
    let object = json!({"metadata": {"name": "a"}, "spec": {"strategy": {"type": "Both"}, "selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "d"}]}}}});
    assert_eq!(
        created(&kind, &object),
        [
            "spec.strategy: Unsupported value: {\"Type\":\"Both\",\"RollingUpdate\":null}: supported values: \"Recreate\", \
          \"RollingUpdate\""
        ]
    );
}

#[test]
fn mandatory_objects_of_flow_control_have_fixed_specs() {
    let definition = "io.k8s.api.flowcontrol.v1.PriorityLevelConfiguration";
    let kind = strategy("flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration", definition);
    let level = |name: &str, shares: u8| {
        let limited = json!({"nominalConcurrencyShares": shares, "limitResponse": {"type": "Reject"}});
        json!({"metadata": {"name": name}, "spec": {"type": "Limited", "limited": limited}})
    };
    assert_eq!(created(&kind, &level("catch-all", 5)), [""; 0]);
    assert_eq!(created(&kind, &level("own", 6)), [""; 0]);
    assert!(created(&kind, &level("catch-all", 6))[0].ends_with("spec of 'catch-all' must equal the fixed value"));
}

#[test]
fn selectors_of_devices_are_expressions() {
    let kind = strategy("resource.k8s.io/v1", "DeviceClass", "io.k8s.api.resource.v1.DeviceClass");
    let of = |expression: &str| json!({"metadata": {"name": "a"}, "spec": {"selectors": [{"cel": {"expression": expression}}]}});
    for expression in [
        "device.driver == 'a.example.com' && device.attributes['a.example.com'].model == 'x'",
        "device.capacity['a.example.com'].memory.compareTo(quantity('1Gi')) >= 0",
        "device.attributes['a.example.com'].isGood",
        "cel.bind(a, device.attributes['a.example.com'], a.isGood && a.isNew)",
    ] {
        assert_eq!(created(&kind, &of(expression)), [""; 0], "{expression}");
    }
    assert_eq!(
        created(&kind, &of("device.driver.size()")),
        [
            "spec.selectors[0].cel.expression: Invalid value: \"device.driver.size()\": must evaluate to bool or the unknown \
          type, not int"
        ]
    );
    assert!(
        created(&kind, &of("device.none"))[0]
            .contains("compilation failed: ERROR: <input>:1:7: undefined field 'none'")
    );
}

#[test]
fn devices_of_a_status_are_allocated() {
    let kind = strategy("resource.k8s.io/v1", "ResourceClaim", "io.k8s.api.resource.v1.ResourceClaim");
    let claim = |status: Value| {
        json!({
            "metadata": {"name": "a", "namespace": "b", "resourceVersion": "1"},
            "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "c"}}]}},
            "status": status,
        })
    };
    let device = json!({"driver": "d", "pool": "p", "device": "x"});
    let allocation = json!({"devices": {"results": [{"request": "r", "driver": "d", "pool": "p", "device": "x"}]}});
    let errors = |status: Value| {
        let arena = Bump::new();
        let (new, old) = (claim(status), claim(json!({})));
        let [new, old] =
            [&new, &old].map(|object| kind.decode(object.to_value(&arena), &arena).expect("a claim").value);
        let judged = kind.update_status(new, old, Assigned::default(), &arena);
        judged.errors.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(errors(json!({"allocation": allocation, "devices": [device]})), [""; 0]);
    assert_eq!(
        errors(json!({"devices": [device]})),
        [
            "status.devices[0]: Invalid value: {\"Device\":\"x\",\"Driver\":\"d\",\"Pool\":\"p\",\"ShareID\":\"\"}: must be an \
          allocated device in the claim"
        ]
    );
}

#[test]
fn nodes_declare_sorted_features() {
    let kind = strategy("v1", "Node", "io.k8s.api.core.v1.Node");
    let node = |features: Value| json!({"metadata": {"name": "a"}, "status": {"declaredFeatures": features}});
    assert_eq!(created(&kind, &node(json!(["A", "B/c"]))), [""; 0]);
    let errors = created(&kind, &node(json!(["B", "B", "A", "a"])));
    assert_eq!(
        errors[..2],
        [
            "status.declaredFeatures[1]: Duplicate value: \"B\"",
            "status.declaredFeatures[2]: Invalid value: \"A\": list must be sorted alphabetically",
        ]
    );
    assert!(errors[2].contains("must start with an UpperCamelCase segment"), "{errors:?}");
}

#[test]
fn the_affinity_of_a_volume_changes_from_old_labels_to_new_ones_only() {
    let kind = strategy("v1", "PersistentVolume", "io.k8s.api.core.v1.PersistentVolume");
    let volume = |key: &str, value: &str| {
        let term = json!({"matchExpressions": [{"key": key, "operator": "In", "values": [value]}]});
        json!({
            "metadata": {"name": "a", "resourceVersion": "1"},
            "spec": {
                "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "local": {"path": "/a"},
                "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
            },
        })
    };
    let (old, new) = ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone");
    assert_eq!(updated(&kind, &volume(new, "z"), &volume(old, "z")), [""; 0]);
    let errors = updated(&kind, &volume(new, "y"), &volume(new, "z"));
    assert!(errors.len() == 1 && errors[0].starts_with("nodeAffinity: Invalid value: "), "{errors:?}");
    assert!(errors[0].ends_with("field is immutable, except for updating from beta label to GA"), "{errors:?}");
    assert_eq!(updated(&kind, &volume(old, "z"), &volume(new, "z")).len(), 1);
}

#[test]
fn quobyte_volumes_name_hosts_and_ports() {
    let kind = strategy("v1", "Pod", "io.k8s.api.core.v1.Pod");
    let with = |registry: &str, tenant: &str| {
        let quobyte = json!({"registry": registry, "volume": "v", "tenant": tenant});
        pod(&json!({"volumes": [{"name": "v", "quobyte": quobyte}], "containers": [{"name": "a", "image": "b"}]}))
    };
    assert_eq!(created(&kind, &with("a:1,[::1]:2", "t")), [""; 0]);
    let pairs = "must be a host:port pair or multiple pairs separated by commas";
    let path = "spec.volumes[0].quobyte";
    assert_eq!(created(&kind, &with("a", "")), [format!("{path}.registry: Invalid value: \"a\": {pairs}")]);
    assert_eq!(created(&kind, &with("", "")), [format!("{path}.registry: Required value: {pairs}")]);
    let tenant = "must be a UUID and may not exceed a length of 64 characters";
    assert_eq!(created(&kind, &with("a:1", &"t".repeat(65))), [format!("{path}.tenant: Required value: {tenant}")]);
}

#[test]
fn targets_of_iscsi_and_options_of_volumes_are_validated() {
    let kind = strategy("v1", "Pod", "io.k8s.api.core.v1.Pod");
    let with = |source: Value| {
        let mut volume = json!({"name": "v"});
        volume.as_object_mut().unwrap().extend(source.as_object().unwrap().clone());
        pod(&json!({"volumes": [volume], "containers": [{"name": "a", "image": "b"}]}))
    };
    let iscsi = |iqn: &str| with(json!({"iscsi": {"targetPortal": "1.2.3.4", "iqn": iqn, "lun": 0}}));
    for name in ["iqn.2001-04.com.example:storage", "eui.0123456789abcdef", &format!("naa.{}", "0".repeat(32))] {
        assert_eq!(created(&kind, &iscsi(name)), [""; 0], "{name}");
    }
    for (name, detail) in [
        ("x", "must be valid format starting with iqn, eui, or naa"),
        ("iqn.2001-4.com.example:storage", "must be valid format"),
        ("iqn.2001-04.com.example", "must be valid format"),
        ("eui.0123", "must be valid format"),
    ] {
        let error = format!("spec.volumes[0].iscsi.iqn: Invalid value: \"{name}\": {detail}");
        assert_eq!(created(&kind, &iscsi(name)), [error]);
    }
    let flex = with(json!({"flexVolume": {"driver": "d", "options": {"a.K8s.io/b": "", "k8s.io.a": ""}}}));
    let detail = "kubernetes.io and k8s.io namespaces are reserved";
    let error = format!("spec.volumes[0].flexVolume.options[a.K8s.io/b]: Invalid value: \"a.K8s.io/b\": {detail}");
    assert_eq!(created(&kind, &flex), [error]);
    assert_eq!(
        created(&kind, &with(json!({"scaleIO": {"gateway": "g", "secretRef": {"name": "s"}, "system": ""}}))),
        ["spec.volumes[0].scaleIO.system: Required value", "spec.volumes[0].scaleIO.volumeName: Required value"]
    );
}

#[test]
fn rules_follow_the_release() {
    let both = |api_version: &str, kind: &str, definition: &str| {
        [36, 37].map(|minor| strategy_in(Release::nearest(minor), api_version, kind, definition))
    };
    let metric =
        json!({"type": "External", "external": {"metric": {"name": "m"}, "target": {"type": "Value", "value": "1"}}});
    let target = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"});
    let scaler = json!({
        "metadata": {"name": "a", "namespace": "b", "resourceVersion": "1"},
        "spec": {"minReplicas": 0, "maxReplicas": 1, "scaleTargetRef": target, "metrics": [metric]},
    });
    let [old, new] =
        both("autoscaling/v2", "HorizontalPodAutoscaler", "io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler");
    let least = "spec.minReplicas: Invalid value: 0: must be greater than or equal to 1";
    assert_eq!(created(&old, &scaler), [least]);
    assert_eq!(created(&new, &scaler), [""; 0]);
    assert!(!old.metadata().counts_generations() && new.metadata().counts_generations());

    let set = |name: &str| {
        let pod = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "a", "image": "b"}]}});
        let rolling = json!({"maxUnavailable": 2, "partition": 0});
        json!({
            "metadata": {"name": "a", "namespace": "b", "resourceVersion": "1"},
            "spec": {
                "serviceName": name, "selector": {"matchLabels": {"a": "b"}}, "template": pod,
                "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": rolling},
            },
        })
    };
    let [old, new] = both("apps/v1", "StatefulSet", "io.k8s.api.apps.v1.StatefulSet");
    assert!(
        updated(&old, &set("x"), &set("y"))[0].starts_with("spec: Forbidden: updates to statefulset spec for fields")
    );
    assert_eq!(updated(&new, &set("x"), &set("y")), ["spec.serviceName: Invalid value: \"x\": field is immutable"]);
    let kept = |kind: &Strategy| {
        let arena = Bump::new();
        let object = set("x");
        let decoded = kind.decode(object.to_value(&arena), &arena).expect("a set");
        let stored = kind.create(decoded.value, Assigned::default(), &arena).stored.to_serde();
        stored["spec"]["updateStrategy"]["rollingUpdate"]["maxUnavailable"].clone()
    };
    assert_eq!([kept(&old), kept(&new)], [Value::Null, json!(2)]);

    let job = |manual: bool| {
        let pod = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"restartPolicy": "Never", "containers": [{"name": "a", "image": "b"}]}});
        json!({
            "metadata": {"name": "a", "namespace": "b", "uid": "u", "resourceVersion": "1"},
            "spec": {"manualSelector": manual, "selector": {"matchLabels": {"a": "b"}}, "template": pod},
        })
    };
    let [old, new] = both("batch/v1", "Job", "io.k8s.api.batch.v1.Job");
    assert!(!updated(&old, &job(false), &job(true)).is_empty());
    assert_eq!(updated(&new, &job(false), &job(true)), [""; 0]);

    let node = strategy_in(Release::nearest(37), "v1", "Node", "io.k8s.api.core.v1.Node");
    let (arena, object) = (Bump::new(), json!({"metadata": {"name": "a"}}));
    let decoded = node.decode(object.to_value(&arena), &arena).expect("a node");
    let stored = node.create(decoded.value, Assigned::default(), &arena).stored.to_serde();
    assert_eq!(stored["spec"], json!({}), "structs that are newer than the table of Go's types are pointers");

    let [old, new] = both(
        "admissionregistration.k8s.io/v1",
        "ValidatingWebhookConfiguration",
        "io.k8s.api.admissionregistration.v1.ValidatingWebhookConfiguration",
    );
    let webhook = json!({"metadata": {"name": "a.static.k8s.io"}});
    let reserved = "metadata.name: Invalid value: \"a.static.k8s.io\": names ending with \".static.k8s.io\" are reserved for static \
                    manifest-based configurations and cannot be managed via the API";
    assert_eq!(created(&new, &webhook).last().map(String::as_str), Some(reserved));
    assert!(!created(&old, &webhook).iter().any(|error| error == reserved));
}

#[test]
fn a_pod_keeps_the_quality_that_it_names_and_events_are_named_last() {
    let kind = strategy("v1", "Pod", "io.k8s.api.core.v1.Pod");
    let arena = Bump::new();
    let mut object = pod(&json!({"containers": [{"name": "a", "image": "b"}]}));
    let class = |object: &Value| {
        let decoded = kind.decode(object.to_value(&arena), &arena).expect("a pod");
        kind.create(decoded.value, Assigned::default(), &arena).stored.to_serde()["status"].clone()
    };
    assert_eq!(class(&object), json!({"phase": "Pending", "qosClass": "BestEffort"}));
    object["status"] = json!({"phase": "Running", "qosClass": "Burstable"});
    assert_eq!(class(&object), json!({"phase": "Pending", "qosClass": "Burstable"}));
    let event = strategy("v1", "Event", "io.k8s.api.core.v1.Event");
    let nameless = |namespace: &str| json!({"involvedObject": {"namespace": namespace}});
    assert_eq!(
        created(&event, &nameless("b")),
        ["involvedObject.namespace: Invalid value: \"b\": does not match event.namespace"]
    );
    assert_eq!(
        created(&event, &nameless("default")),
        ["metadata.name: Required value: name or generateName is required"]
    );
}

#[test]
fn files_of_volumes_that_hide_each_other_give_warnings() {
    let kind = strategy("v1", "Pod", "io.k8s.api.core.v1.Pod");
    let with = |volumes: Value| {
        let containers = json!([{"name": "a", "image": "b"}]);
        pod(&json!({"serviceAccountName": "s", "volumes": volumes, "containers": containers}))
    };
    let token = json!({"serviceAccountToken": {"path": "t"}});
    let items = json!([{"key": "k", "path": "d"}, {"key": "l", "path": "d/e"}, {"key": "m", "path": "de"}]);
    let object = with(json!([
        {"name": "c", "configMap": {"name": "n", "items": items}},
        {"name": "p", "projected": {"sources": [token, {}, token]}},
    ]));
    assert_eq!(created(&kind, &object), [""; 0]);
    assert_eq!(
        warnings(&kind, &object),
        [
            "volume \"c\" (ConfigMap \"n\"): overlapping paths: \"d/e\" with \"d\"",
            "volume \"p\" (Projected) has no sources provided",
            "volume \"p\" (Projected): overlapping paths: \"t\" (ServiceAccountToken) with \"t\" (ServiceAccountToken)",
        ]
    );
    // Each path is compared with all before it, within bounds.
    let many: Vec<_> = (0..100_000).map(|at| json!({"key": "k", "path": format!("p{at}")})).collect();
    assert_eq!(warnings(&kind, &with(json!([{"name": "c", "configMap": {"name": "n", "items": many}}]))), [""; 0]);
}

#[test]
fn new_objects_give_warnings() {
    let service = strategy("v1", "Service", "io.k8s.api.core.v1.Service");
    let owner = json!({"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": "u"});
    let object = json!({"metadata": {"name": "a", "ownerReferences": [owner, owner]},
        "spec": {"clusterIP": "None", "loadBalancerIP": "::FFFF", "externalName": "b", "ports": [{"port": 80}]}});
    assert_eq!(
        warnings(&service, &object),
        [
            ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject \
             such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: u",
            "spec.loadBalancerIP is ignored for headless services",
            "spec.loadBalancerIP: IPv6 address \"::FFFF\" should be in RFC 5952 canonical format (\"::ffff\")",
            "spec.externalName is ignored when spec.type is not \"ExternalName\"",
        ]
    );
    let claim = strategy("v1", "PersistentVolumeClaim", "io.k8s.api.core.v1.PersistentVolumeClaim");
    let object = json!({"metadata": {"name": "a", "annotations": {"volume.beta.kubernetes.io/storage-class": "b"}},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1500m"}}}});
    assert_eq!(
        warnings(&claim, &object),
        [
            "metadata.annotations[volume.beta.kubernetes.io/storage-class]: deprecated since v1.8; use \"storageClassName\" \
             attribute instead",
            "spec.resources.requests[storage]: fractional byte value \"1500m\" is invalid, must be an integer",
        ]
    );
    let endpoints = strategy("v1", "Endpoints", "io.k8s.api.core.v1.Endpoints");
    let object = json!({"metadata": {"name": "a"}});
    assert_eq!(
        warnings(&endpoints, &object),
        ["v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"]
    );
}

/// Lists whose items are compared with one another, or whose errors show all of them. Each took minutes, or forever.
#[test]
fn rules_about_long_lists_take_linear_time() {
    let many = |count: usize, item: &dyn Fn(usize) -> Value| Value::from((0..count).map(item).collect::<Vec<_>>());
    let owner =
        |n: usize| json!({"apiVersion": "a/v1", "kind": "A", "name": "a", "uid": format!("u{n}"), "controller": true});
    let mount = |n: usize| json!({"name": format!("v{n}"), "mountPath": format!("/m{n}")});
    let device = |n: usize| json!({"name": format!("d{n}"), "devicePath": format!("/d{n}")});
    let claim = |n: usize| json!({"name": format!("c{n}")});
    let container = json!({
        "name": "c", "image": "i", "volumeMounts": many(2_000, &mount), "volumeDevices": many(2_000, &device),
        "resources": {"claims": many(2_000, &claim)},
    });
    let claims = many(2_000, &|n| json!({"name": format!("p{n}"), "resourceClaimName": "c"}));
    let ports = json!({"name": "p", "image": "i", "ports": many(6_000, &|_| json!({"containerPort": 80}))});
    let other_hosts =
        |n: usize| json!({"containerPort": 80, "hostPort": 1 + n, "hostIP": format!("1.2.3.{}", n % 200)});
    let hosts = json!({"name": "h", "image": "i", "ports": many(8_000, &other_hosts)});
    let port = |n: usize| json!({"name": format!("p{n}"), "port": 1 + n % 60_000});
    for (kind, object) in [
        (("v1", "Pod", "core.v1.Pod"), pod(&json!({"containers": [container], "resourceClaims": claims}))),
        (("v1", "Pod", "core.v1.Pod"), pod(&json!({"containers": [ports]}))),
        (("v1", "Pod", "core.v1.Pod"), pod(&json!({"containers": [hosts]}))),
        (
            ("v1", "ConfigMap", "core.v1.ConfigMap"),
            json!({"metadata": {"name": "a", "ownerReferences": many(3_000, &owner)}}),
        ),
        (
            ("storage.k8s.io/v1", "StorageClass", "storage.v1.StorageClass"),
            json!({"metadata": {"name": "a"}, "provisioner": "a.b/c", "allowedTopologies": many(20_000, &|_| json!({}))}),
        ),
        (
            ("v1", "ResourceQuota", "core.v1.ResourceQuota"),
            json!({"metadata": {"name": "a"}, "spec": {"scopes": many(20_000, &|n| json!(format!("s{n}")))}}),
        ),
        (
            ("v1", "Service", "core.v1.Service"),
            json!({"metadata": {"name": "a"}, "spec": {"type": "NodePort", "ports": many(5_000, &port)}}),
        ),
    ] {
        let (api_version, name, definition) = kind;
        let kind = strategy(api_version, name, &format!("io.k8s.api.{definition}"));
        let began = std::time::Instant::now();
        let errors = created(&kind, &object);
        let bytes: usize = errors.iter().map(String::len).sum();
        assert!(bytes < 8 << 20, "{name}: {bytes} bytes of errors");
        // A few hundred milliseconds without optimization.
        assert!(began.elapsed().as_secs() < 20, "{name}: {:?}", began.elapsed());
    }
}

#[test]
fn rules_that_types_declare_have_other_words_since_1_37() {
    let role = json!({"metadata": {"name": "a"}, "rules": [{"apiGroups": [""], "resources": ["pods"]}]});
    let roles = |minor| {
        let of = Release::nearest(minor);
        created(&strategy_in(of, "rbac.authorization.k8s.io/v1", "Role", "io.k8s.api.rbac.v1.Role"), &role)
    };
    assert_eq!(roles(36), ["rules[0].verbs: Required value: verbs must contain at least one value"]);
    assert_eq!(roles(37), ["rules[0].verbs: Required value"]);
    let handler = |name: &str| json!({"metadata": {"name": "a", "resourceVersion": "1"}, "handler": name});
    let classes = |minor| {
        let name = "io.k8s.api.node.v1.RuntimeClass";
        let kind = strategy_in(Release::nearest(minor), "node.k8s.io/v1", "RuntimeClass", name);
        updated(&kind, &handler("b"), &handler("a"))
    };
    assert_eq!(classes(36), ["handler: Invalid value: \"b\": field is immutable"]);
    assert_eq!(classes(37), ["handler: Invalid value: null: field is immutable"]);
}
