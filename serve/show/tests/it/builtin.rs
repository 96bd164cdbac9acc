//! The columns of built-in kinds: a small object per kind, and its row with `-o wide`.

use kubeshape_schema::Release;
use kubeshape_show::table::{Cell, Convertor, PrintOptions, csv};
use kubeshape_smd::{Bump, ToValue};
use kubeshape_yaml::go::Time;
use serde_json::{Value, json};

fn now() -> Time {
    Time::parse("2030-01-01T12:00:00Z").expect("a time")
}

/// Returns the row of an object, with commas between the cells.
fn row(group: &str, kind: &str, release: Release, mut object: Value) -> String {
    let metadata = object.as_object_mut().expect("an object").entry("metadata").or_insert_with(|| json!({}));
    metadata["name"] = json!("a");
    metadata["creationTimestamp"] = json!("2030-01-01T11:00:00Z");
    let convertor = Convertor::built_in(group, kind, release).expect("a built-in kind");
    let row = convertor.row(object.to_value(&Bump::new()), now());
    assert_eq!(row.len(), convertor.columns().len(), "{kind}");
    let options = PrintOptions { wide: true, no_headers: true };
    csv(convertor.columns(), &[row], options).trim_end().to_owned()
}

fn check(group: &str, rows: &[(&str, Value, &str)]) {
    for (kind, object, expected) in rows {
        assert_eq!(row(group, kind, Release::NEWEST, object.clone()), *expected, "{kind}: {object}");
    }
}

fn containers() -> Value {
    json!([{"name": "c", "image": "i:1"}, {"name": "d", "image": "j:2"}])
}

fn pod(spec: Value, status: Value) -> Value {
    let mut spec = spec;
    spec["containers"] = containers();
    let mut pod = json!({"spec": spec});
    pod["status"] = status;
    pod
}

#[test]
fn pods() {
    let running = |name: &str| json!({"name": name, "ready": true, "state": {"running": {}}});
    let ended = |code: i64, reason: &str| json!({"state": {"terminated": {"exitCode": code, "reason": reason}}});
    let ready = json!([{"type": "Ready", "status": "True"}]);
    let sidecar = json!([{"name": "s", "restartPolicy": "Always"}, {"name": "t"}]);
    let restarted = json!({"name": "c", "restartCount": 2, "state": {"waiting": {"reason": "CrashLoopBackOff"}},
        "lastState": {"terminated": {"finishedAt": "2030-01-01T11:55:00Z"}}});
    check(
        "",
        &[
            ("Pod", pod(json!({}), json!({"phase": "Pending"})), "a,0/2,Pending,0,60m,<none>,<none>,<none>,<none>"),
            (
                "Pod",
                pod(
                    json!({"nodeName": "n", "readinessGates": [{"conditionType": "Ready"}, {"conditionType": "x"}]}),
                    json!({"phase": "Running", "podIPs": [{"ip": "10.0.0.1"}], "conditions": ready,
                    "containerStatuses": [running("c"), running("d")]}),
                ),
                "a,2/2,Running,0,60m,10.0.0.1,n,<none>,1/2",
            ),
            (
                "Pod",
                pod(json!({}), json!({"phase": "Running", "containerStatuses": [restarted, running("d")]})),
                "a,1/2,CrashLoopBackOff,2 (5m ago),60m,<none>,<none>,<none>,<none>",
            ),
            (
                "Pod",
                pod(json!({}), json!({"phase": "Failed", "containerStatuses": [ended(0, "Completed"), ended(1, "")]})),
                "a,0/2,ExitCode:1,0,60m,<none>,<none>,<none>,<none>",
            ),
            (
                "Pod",
                pod(
                    json!({}),
                    json!({"phase": "Running", "conditions": ready,
                    "containerStatuses": [ended(0, "Completed"), running("d")]}),
                ),
                "a,1/2,Running,0,60m,<none>,<none>,<none>,<none>",
            ),
            (
                "Pod",
                pod(
                    json!({"initContainers": sidecar}),
                    json!({"phase": "Pending", "initContainerStatuses": [
                    {"name": "s", "started": true, "ready": true, "restartCount": 1, "state": {"running": {}}},
                    {"name": "t", "restartCount": 3, "state": {"waiting": {"reason": "PodInitializing"}}}]}),
                ),
                "a,1/3,Init:1/2,4,60m,<none>,<none>,<none>,<none>",
            ),
            (
                "Pod",
                pod(
                    json!({}),
                    json!({"phase": "Pending", "conditions": [{"type": "PodScheduled", "reason": "SchedulingGated"}]}),
                ),
                "a,0/2,SchedulingGated,0,60m,<none>,<none>,<none>,<none>",
            ),
            (
                "Pod",
                json!({"metadata": {"deletionTimestamp": "2030-01-01T12:00:00Z"}, "status": {"phase": "Running"}}),
                "a,0/0,Terminating,0,60m,<none>,<none>,<none>,<none>",
            ),
        ],
    );
}

#[test]
fn core() {
    let port = json!({"port": 80, "protocol": "TCP"});
    let balancer = json!({"loadBalancer": {"ingress": [{"ip": "2.2.2.2"}, {"hostname": "1.example.com"}]}});
    let deleted = json!({"deletionTimestamp": "2030-01-01T12:00:00Z"});
    let subset = json!({"addresses": [{"ip": "10.0.0.1"}, {"ip": "fd00::1"}], "ports": [{"port": 1}, {"port": 2}]});
    let labels = json!({"node-role.kubernetes.io/worker": "", "kubernetes.io/role": "edge"});
    let template = json!({"metadata": {"labels": {"b": "2", "a": "1"}}, "spec": {"containers": containers()}});
    check(
        "",
        &[
            ("ConfigMap", json!({"data": {"x": "", "y": ""}, "binaryData": {"z": ""}}), "a,3,60m"),
            (
                "Secret",
                json!({"type": "Opaque", "data": {"x": ""}, "stringData": {"x": "", "y": ""}}),
                "a,Opaque,2,60m",
            ),
            ("Namespace", json!({"status": {"phase": "Active"}}), "a,Active,60m"),
            ("ServiceAccount", json!({}), "a,60m"),
            ("LimitRange", json!({}), "a,2030-01-01T11:00:00Z"),
            ("PodTemplate", json!({"template": template}), "a,\"c,d\",\"i:1,j:2\",\"a=1,b=2\""),
            (
                "ReplicationController",
                json!({"spec": {"replicas": 0, "selector": {"x": "y"}, "template": template}}),
                "a,0,0,0,60m,\"c,d\",\"i:1,j:2\",x=y",
            ),
            (
                "Service",
                json!({"spec": {"type": "ClusterIP", "clusterIPs": ["10.0.0.1"], "ports": [port, port]}}),
                "a,ClusterIP,10.0.0.1,<none>,\"80/TCP,80/TCP\",60m,<none>",
            ),
            (
                "Service",
                json!({"spec": {"type": "LoadBalancer", "externalIPs": ["3.3.3.3"], "selector": {"x": "y"},
                "ports": [{"port": 1, "nodePort": 30_001, "protocol": "UDP"}]}, "status": balancer}),
                "a,LoadBalancer,<none>,\"1.example.com,2.2.2.2,3.3.3.3\",1:30001/UDP,60m,x=y",
            ),
            ("Service", json!({"spec": {"type": "LoadBalancer"}}), "a,LoadBalancer,<none>,<pending>,<none>,60m,<none>"),
            (
                "Service",
                json!({"spec": {"type": "ExternalName", "externalName": "example.com"}}),
                "a,ExternalName,<none>,example.com,<none>,60m,<none>",
            ),
            ("Endpoints", json!({}), "a,<none>,60m"),
            ("Endpoints", json!({"subsets": [subset]}), "a,\"10.0.0.1:1,[fd00::1]:1,10.0.0.1:2 + 1 more...\",60m"),
            (
                "Node",
                json!({"metadata": {"labels": labels}, "spec": {"unschedulable": true}, "status": {
                "conditions": [{"type": "Ready", "status": "True"}],
                "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
                "nodeInfo": {"kubeletVersion": "v1.36.0", "kernelVersion": "6.1", "architecture": "amd64"}}}),
                "a,\"Ready,SchedulingDisabled\",\"edge,worker\",60m,v1.36.0,10.0.0.1,<none>,<unknown>,6.1 (amd64),<unknown>",
            ),
            ("Node", json!({}), "a,Unknown,<none>,60m,,<none>,<none>,<unknown>,<unknown>,<unknown>"),
            (
                "PersistentVolume",
                json!({"spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteMany", "ReadWriteOnce"],
                "persistentVolumeReclaimPolicy": "Retain", "claimRef": {"namespace": "n", "name": "c"},
                "storageClassName": "fast", "volumeMode": "Block"}, "status": {"phase": "Bound"}}),
                "a,1Gi,\"RWO,RWX\",Retain,Bound,n/c,fast,<unset>,,60m,Block",
            ),
            (
                "PersistentVolumeClaim",
                json!({"spec": {"volumeName": "v", "storageClassName": "fast", "volumeAttributesClassName": "gold"},
                "status": {"phase": "Bound", "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOncePod"]}}),
                "a,Bound,v,1Gi,RWOP,fast,gold,60m,<unset>",
            ),
            ("PersistentVolumeClaim", json!({"metadata": deleted}), "a,Terminating,,,,,<unset>,60m,<unset>"),
            (
                "ResourceQuota",
                json!({"status": {"hard": {"pods": "3", "limits.cpu": "2", "cpu": "1"}, "used": {"pods": "1"}}}),
                "a,\"cpu: 0/1, pods: 1/3\",limits.cpu: 0/2,60m",
            ),
            (
                "ComponentStatus",
                json!({"conditions": [{"type": "Healthy", "status": "False", "message": "m", "error": "e"}]}),
                "a,Unhealthy,m,e",
            ),
        ],
    );
}

#[test]
fn events() {
    let involved = json!({"kind": "Pod", "name": "p", "fieldPath": "spec"});
    let old = json!({"firstTimestamp": "2030-01-01T11:00:00Z", "lastTimestamp": "2030-01-01T11:59:00Z", "count": 4,
        "type": "Normal", "reason": "R", "involvedObject": involved, "message": " m\n",
        "source": {"component": "kubelet", "host": "n"}});
    check("", &[("Event", old, "60s,Normal,R,pod/p,spec,\"kubelet, n\",m,60m,4,a")]);
    let new = json!({"eventTime": "2030-01-01T11:00:00.000000Z", "type": "Normal", "reason": "R", "regarding": involved,
        "note": "m", "reportingController": "x", "deprecatedFirstTimestamp": null,
        "series": {"count": 9, "lastObservedTime": "2030-01-01T11:50:00.000000Z"}});
    check("events.k8s.io", &[("Event", new, "10m,Normal,R,pod/p,spec,x,m,60m,9,a")]);
}

#[test]
fn workloads() {
    let selector = json!({"matchLabels": {"x": "y"}, "matchExpressions": [
        {"key": "k", "operator": "NotIn", "values": ["b", "a"]}, {"key": "l", "operator": "DoesNotExist"}]});
    let spec = json!({"replicas": 3, "selector": selector, "template": {"spec": {
        "containers": containers(), "nodeSelector": {"disk": "ssd"}}}});
    let wide = "\"c,d\",\"i:1,j:2\",\"k notin (a,b),!l,x=y\"";
    check(
        "apps",
        &[
            (
                "Deployment",
                json!({"spec": spec, "status": {"readyReplicas": 2, "updatedReplicas": 1, "availableReplicas": 2}}),
                format!("a,2/3,1,2,60m,{wide}").as_str(),
            ),
            ("Deployment", json!({}), "a,0/1,0,0,60m,,,"),
            (
                "ReplicaSet",
                json!({"spec": spec, "status": {"replicas": 3, "readyReplicas": 2}}),
                format!("a,3,3,2,60m,{wide}").as_str(),
            ),
            ("StatefulSet", json!({"spec": spec}), "a,0/3,60m,\"c,d\",\"i:1,j:2\""),
            (
                "DaemonSet",
                json!({"spec": spec, "status": {"desiredNumberScheduled": 5, "currentNumberScheduled": 4, "numberReady": 3,
                "updatedNumberScheduled": 2, "numberAvailable": 1}}),
                format!("a,5,4,3,2,1,disk=ssd,60m,{wide}").as_str(),
            ),
            (
                "ControllerRevision",
                json!({"revision": 7, "metadata": {"ownerReferences": [
                {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "controller": true}]}}),
                "a,daemonset.apps/d,7,60m",
            ),
        ],
    );
    let template = json!({"spec": {"containers": containers()}});
    let times = json!({"startTime": "2030-01-01T11:58:00Z", "completionTime": "2030-01-01T11:59:30Z", "succeeded": 1,
        "conditions": [{"type": "Complete", "status": "True"}]});
    let wide = "\"c,d\",\"i:1,j:2\",<none>";
    check(
        "batch",
        &[
            (
                "Job",
                json!({"spec": {"completions": 1, "template": template}, "status": times}),
                format!("a,Complete,1/1,90s,60m,{wide}").as_str(),
            ),
            (
                "Job",
                json!({"spec": {"parallelism": 2, "template": template}, "status": {"startTime": "2030-01-01T11:58:00Z"}}),
                format!("a,Running,0/1 of 2,2m,60m,{wide}").as_str(),
            ),
            ("Job", json!({}), "a,Running,0/1,,60m,,,<none>"),
            (
                "CronJob",
                json!({"spec": {"schedule": "0 1 * * *", "suspend": false, "jobTemplate": {"spec": {"template": template}}},
                "status": {"active": [{}, {}], "lastScheduleTime": "2030-01-01T11:30:00Z"}}),
                format!("a,0 1 * * *,<none>,False,2,30m,60m,{wide}").as_str(),
            ),
        ],
    );
    let resource =
        |name: &str| json!({"type": "Resource", "resource": {"name": name, "target": {"averageUtilization": 80}}});
    let spec = json!({"scaleTargetRef": {"kind": "Deployment", "name": "d"}, "maxReplicas": 5,
        "metrics": [resource("cpu"), {"type": "Pods", "pods": {"target": {"averageValue": "1k"}}}, resource("memory")]});
    let status =
        json!({"currentReplicas": 2, "currentMetrics": [{"resource": {"current": {"averageUtilization": 40}}}]});
    check(
        "autoscaling",
        &[
            (
                "HorizontalPodAutoscaler",
                json!({"spec": spec, "status": status}),
                "a,Deployment/d,\"cpu: 40%/80%, <unknown>/1k + 1 more...\",<unset>,5,2,60m",
            ),
            (
                "HorizontalPodAutoscaler",
                json!({"spec": {"targetCPUUtilizationPercentage": 80, "minReplicas": 1}}),
                "a,/,cpu: <unknown>/80%,1,0,0,60m",
            ),
        ],
    );
    check("policy", &[("PodDisruptionBudget", json!({"spec": {"minAvailable": 1}}), "a,1,N/A,0,60m")]);
    check("policy", &[("PodDisruptionBudget", json!({"spec": {"maxUnavailable": "5%"}}), "a,N/A,5%,0,60m")]);
}

#[test]
fn network() {
    let rule = |host: &str| json!({"host": host});
    check(
        "networking.k8s.io",
        &[
            (
                "Ingress",
                json!({"spec": {"ingressClassName": "nginx", "tls": [{}],
                "rules": [rule("a.x"), rule("b.x"), rule("c.x"), rule("d.x")]},
                "status": {"loadBalancer": {"ingress": [{"ip": "10.0.0.1"}]}}}),
                "a,nginx,\"a.x,b.x,c.x + 1 more...\",10.0.0.1,\"80, 443\",60m",
            ),
            ("Ingress", json!({"spec": {"rules": [{}]}}), "a,<none>,*,,80,60m"),
            (
                "IngressClass",
                json!({"metadata": {"annotations": {"ingressclass.kubernetes.io/is-default-class": "true"}},
                "spec": {"controller": "x", "parameters": {"apiGroup": "g", "kind": "K", "name": "n"}}}),
                "a (default),x,K.g/n,60m",
            ),
            ("NetworkPolicy", json!({"spec": {"podSelector": {"matchLabels": {"x": "y"}}}}), "a,x=y,60m"),
            ("NetworkPolicy", json!({"spec": {"podSelector": {}}}), "a,<none>,60m"),
            ("ServiceCIDR", json!({"spec": {"cidrs": ["10.0.0.0/8", "fd00::/64"]}}), "a,\"10.0.0.0/8,fd00::/64\",60m"),
            (
                "IPAddress",
                json!({"spec": {"parentRef": {"resource": "services", "namespace": "n", "name": "s"}}}),
                "a,services/n/s",
            ),
        ],
    );
    let address = |last: u8| json!({"addresses": [format!("10.0.0.{last}")]});
    check(
        "discovery.k8s.io",
        &[
            (
                "EndpointSlice",
                json!({"addressType": "IPv4", "ports": [{"port": 80}, {"name": "x"}, {}],
                "endpoints": [address(1), address(2), address(3), address(4)]}),
                "a,IPv4,\"80,x,*\",\"10.0.0.1,10.0.0.2,10.0.0.3 + 1 more...\",60m",
            ),
            ("EndpointSlice", json!({"addressType": "IPv4"}), "a,IPv4,<unset>,<unset>,60m"),
        ],
    );
}

#[test]
fn cluster() {
    let subjects = json!([{"kind": "User", "name": "u"}, {"kind": "ServiceAccount", "namespace": "n", "name": "s"},
        {"kind": "User", "name": "v"}]);
    let binding = json!({"roleRef": {"kind": "ClusterRole", "name": "r"}, "subjects": subjects});
    check(
        "rbac.authorization.k8s.io",
        &[
            ("RoleBinding", binding.clone(), "a,ClusterRole/r,60m,\"u, v\",,n/s"),
            ("ClusterRoleBinding", binding, "a,ClusterRole/r,60m,\"u, v\",,n/s"),
            ("ClusterRole", json!({}), "a,2030-01-01T11:00:00Z"),
        ],
    );
    check(
        "storage.k8s.io",
        &[
            (
                "StorageClass",
                json!({"provisioner": "p", "metadata": {"annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}}),
                "a (default),p,Delete,Immediate,false,60m",
            ),
            ("VolumeAttributesClass", json!({"driverName": "d"}), "a,d,60m"),
            (
                "VolumeAttachment",
                json!({"spec": {"attacher": "x", "nodeName": "n", "source": {"persistentVolumeName": "v"}},
                "status": {"attached": true}}),
                "a,x,v,n,true,60m",
            ),
            ("CSINode", json!({"spec": {"drivers": [{}, {}]}}), "a,2,60m"),
            (
                "CSIDriver",
                json!({"spec": {"volumeLifecycleModes": ["Persistent"], "tokenRequests": [{"audience": "x"}]}}),
                "a,true,false,false,x,false,Persistent,60m",
            ),
        ],
    );
    check("scheduling.k8s.io", &[("PriorityClass", json!({"value": 9, "globalDefault": true}), "a,9,true,60m,")]);
    check("coordination.k8s.io", &[("Lease", json!({"spec": {"holderIdentity": "h"}}), "a,h,60m")]);
    check("node.k8s.io", &[("RuntimeClass", json!({"handler": "runc"}), "a,runc,60m")]);
    check(
        "certificates.k8s.io",
        &[(
            "CertificateSigningRequest",
            json!({"spec": {"signerName": "s", "username": "u", "expirationSeconds": 3600},
            "status": {"certificate": "eA==", "conditions": [{"type": "Approved", "status": "True"}]}}),
            "a,60m,s,u,60m,\"Approved,Issued\"",
        )],
    );
    let policy = json!({"spec": {"validations": [{}], "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}}});
    let selector =
        json!({"matchLabels": {"x": "y"}, "matchExpressions": [{"key": "k", "operator": "In", "values": ["b", "c"]}]});
    check(
        "admissionregistration.k8s.io",
        &[
            ("MutatingWebhookConfiguration", json!({"webhooks": [{}, {}]}), "a,2,60m"),
            ("ValidatingWebhookConfiguration", json!({}), "a,0,60m"),
            ("ValidatingAdmissionPolicy", policy, "a,1,v1/ConfigMap,60m"),
            ("MutatingAdmissionPolicy", json!({"spec": {"mutations": [{}]}}), "a,1,<unset>,60m"),
            (
                "ValidatingAdmissionPolicyBinding",
                json!({"spec": {"policyName": "p", "paramRef": {"name": "n"}}}),
                "a,p,*/n,60m",
            ),
            (
                "MutatingAdmissionPolicyBinding",
                json!({"spec": {"policyName": "p", "paramRef": {"selector": selector}}}),
                "a,p,\"&LabelSelector{MatchLabels:map[string]string{x: y,},MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:k,Operator:In,Values:[b c],},},}\",60m",
            ),
        ],
    );
    check(
        "flowcontrol.apiserver.k8s.io",
        &[
            (
                "FlowSchema",
                json!({"spec": {"priorityLevelConfiguration": {"name": "p"}, "matchingPrecedence": 5}}),
                "a,p,5,<none>,60m,?",
            ),
            (
                "PriorityLevelConfiguration",
                json!({"spec": {"type": "Limited", "limited": {"nominalConcurrencyShares": 30}}}),
                "a,Limited,30,<none>,<none>,<none>,60m",
            ),
        ],
    );
    check(
        "resource.k8s.io",
        &[
            ("DeviceClass", json!({}), "a,60m"),
            ("ResourceClaim", json!({}), "a,pending,60m"),
            (
                "ResourceClaim",
                json!({"status": {"allocation": {}, "reservedFor": [{}]}}),
                "a,\"allocated,reserved\",60m",
            ),
            ("ResourceSlice", json!({"spec": {"driver": "d", "pool": {"name": "p"}}}), "a,,d,p,60m"),
            (
                "DeviceTaintRule",
                json!({"spec": {"taint": {"key": "k", "effect": "NoSchedule"}}}),
                "a,k,,NoSchedule,,60m",
            ),
            ("ResourcePoolStatusRequest", json!({"spec": {"driver": "d"}}), "a,d,-,-,-,-,-,0,Pending,<none>"),
            (
                "ResourcePoolStatusRequest",
                json!({"status": {"poolCount": 2, "pools": [{"totalDevices": 3, "validationError": "x"}], "conditions": [
                {"type": "Complete", "status": "True", "lastTransitionTime": "2030-01-01T11:59:00Z"}]}}),
                "a,,3,0,0,0,1,2,Complete (1/2 pools),60s",
            ),
        ],
    );
}

#[test]
fn definitions_have_columns_from_1_37_on() {
    let definition = json!({
        "spec": {"group": "example.com", "scope": "Cluster", "names": {"kind": "Tab", "shortNames": ["t", "tb"]},
            "versions": [{"name": "v2", "served": true}, {"name": "v1", "served": true, "storage": true},
                {"name": "v0", "served": false}]},
        "status": {"conditions": [{"type": "Established", "status": "True"}]},
    });
    let of = |release| row("apiextensions.k8s.io", "CustomResourceDefinition", release, definition.clone());
    assert_eq!(of(Release::nearest(36)), "a,2030-01-01T11:00:00Z");
    assert_eq!(
        of(Release::nearest(37)),
        "a,Cluster,\"v1(storage),v2\",2030-01-01T11:00:00Z,example.com,Tab,\"t,tb\",true"
    );
}

#[test]
fn cells_do_not_change_with_time() {
    let convertor = Convertor::built_in("", "Pod", Release::NEWEST).expect("a built-in kind");
    let restarted = json!({"restartCount": 2, "lastState": {"terminated": {"finishedAt": "2030-01-01T11:55:00Z"}}});
    let pod = json!({"metadata": {"name": "a", "creationTimestamp": "2030-01-01T11:00:00Z"},
        "status": {"containerStatuses": [restarted]}});
    let (arena, later) = (Bump::new(), Time(now().0 + 3600));
    let values = convertor.values(pod.to_value(&arena));
    let shown = |at: usize, now: Time| convertor.shown(at, &values[at], now).into_owned();
    assert_eq!(values[3], Cell::Text("2 (2030-01-01T11:55:00Z ago)".to_owned()));
    assert_eq!(shown(3, now()), Cell::Text("2 (5m ago)".to_owned()));
    assert_eq!(shown(3, later), Cell::Text("2 (65m ago)".to_owned()));
    assert_eq!(shown(4, later), Cell::Text("120m".to_owned()));
    // The names of other cells are not read as times.
    assert_eq!(shown(0, now()), Cell::Text("a".to_owned()));
}

#[test]
fn cells_within_a_limit() {
    let convertor = Convertor::built_in("", "PodTemplate", Release::NEWEST).expect("a built-in kind");
    let object = json!({"template": {"spec": {"containers": [{"name": "long", "image": "x"}]}}});
    let arena = Bump::new();
    let object = object.to_value(&arena);
    let most = "long".len() + "x".len() + "<none>".len();
    assert!(convertor.values_within(object, most, &|| false).is_some());
    assert_eq!(convertor.values_within(object, most - 1, &|| false), None);
}

#[test]
fn malformed_objects_have_rows() {
    for (group, kind) in [("", "Pod"), ("", "Service"), ("", "Event"), ("batch", "Job"), ("", "Node")] {
        let convertor = Convertor::built_in(group, kind, Release::NEWEST).expect("a built-in kind");
        for object in [json!(null), json!([]), json!({"metadata": 1, "spec": [], "status": "x"})] {
            assert_eq!(convertor.row(object.to_value(&Bump::new()), now()).len(), convertor.columns().len());
        }
    }
    assert!(Convertor::built_in("example.com", "Pod", Release::NEWEST).is_none());
}
