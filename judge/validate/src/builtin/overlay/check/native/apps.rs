//! Rules of the group apps and of ReplicationControllers: `pkg/apis/apps/validation`.

use super::super::form::{Form, NEGATIVE, selector as label_selector};
use super::super::{At, Found};
use super::common::{at_most_all, immutable, int_or_percent, not_negative};
use super::pods::{claim_spec, metadata_of_template, pod_template, selector_mismatch, template_annotations};
use super::{Names, entries, get, items, number, string, text};
use crate::Change;
use crate::builtin::overlay::edit::same;
use crate::names;
use kubeshape_schema::field::Path;
use kubeshape_value::Value;

pub(super) const NAMES: Names = &[
    ("replica counts", replica_counts),
    ("revision data", revision_data),
    ("rolling update", rolling_update),
    ("set strategy", set_strategy),
    ("set template", set_template),
    ("stateful set", stateful_set),
    ("stateful set update", stateful_set_update),
    ("workload", workload),
];

/// Checks the selector and the template of a Deployment, a ReplicaSet or a DaemonSet at `spec`.
fn workload(at: &At<'_, '_>, found: &mut Found) {
    let kind = at.scope.kind;
    let selector = at.get("selector");
    let path = at.path.child("selector");
    if selector.is_null() {
        if kind != "DaemonSet" {
            found.required(&path, "");
        }
    } else {
        label_selector(selector, &path, found);
        let count = entries(selector, "matchLabels").len() + items(selector, "matchExpressions").len();
        if count == 0 && kind != "DaemonSet" {
            let what = if kind == "StatefulSet" { "statefulset" } else { "deployment" };
            found.invalid(&path, selector, format!("empty selector is invalid for {what}"));
        }
    }
    let template = at.get("template");
    let template_path = at.path.child("template");
    match selector_mismatch(selector, template) {
        None if kind == "DaemonSet" => {}
        None => return found.invalid(&path, selector, "invalid label selector"),
        Some(mismatch) => {
            if mismatch {
                labels_differ(template, &template_path, found);
            }
        }
    }
    if kind == "DaemonSet" && matches!(selector, Value::Map(map) if map.is_empty()) {
        found.invalid(&path, selector, "empty selector is invalid for daemonset");
    }
    let old = get(get(at.scope.old.unwrap_or(Value::Null), "spec"), "template");
    pod_template(template, old, true, &[], &template_path, found);
    // Deployments are checked like their ReplicaSets.
    restarts(template, &template_path, if kind == "DaemonSet" { kind } else { "ReplicaSet" }, found);
}

fn labels_differ(template: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let labels = get(get(template, "metadata"), "labels");
    let path = path.child("metadata");
    found.invalid(&path.child("labels"), labels, "`selector` does not match template `labels`");
}

/// Checks that pods of sets always restart and never end.
fn restarts(template: Value<'_>, path: &Path<'_>, kind: &str, found: &mut Found) {
    let spec = get(template, "spec");
    let path = path.child("spec");
    if text(spec, "restartPolicy") != "Always" {
        found.not_supported(&path.child("restartPolicy"), string(get(spec, "restartPolicy")), &["Always"]);
    }
    if spec.get("activeDeadlineSeconds").is_some() {
        let detail = format!("activeDeadlineSeconds in {kind} is not Supported");
        found.forbidden(&path.child("activeDeadlineSeconds"), detail);
    }
}

/// Checks a ReplicationController: `ValidateReplicationControllerSpec`, from the selector on.
fn set_template(at: &At<'_, '_>, found: &mut Found) {
    let selector = entries(at.value, "selector");
    if selector.is_empty() {
        found.required(&at.path.child("selector"), "");
    }
    not_negative(at.value, "replicas", at.path, found);
    let path = at.path.child("template");
    let template = at.get("template");
    if template.is_null() {
        return found.required(&path, "");
    }
    let labels = get(get(template, "metadata"), "labels");
    let matches = selector.iter().all(|(key, value)| labels.get(key).and_then(Value::as_str) == value.as_str());
    if !matches {
        labels_differ(template, &path, found);
    }
    let old = get(get(at.scope.old.unwrap_or(Value::Null), "spec"), "template");
    pod_template(template, old, true, &[], &path, found);
    restarts(template, &path, "ReplicationController", found);
}

/// Checks the strategy of a Deployment: `ValidateDeploymentStrategy`.
fn rolling_update(at: &At<'_, '_>, found: &mut Found) {
    let path = at.path.child("rollingUpdate");
    let rolling = at.get("rollingUpdate");
    match text(at.value, "type") {
        "Recreate" if !rolling.is_null() => {
            found.forbidden(&path, "may not be specified when strategy `type` is 'Recreate'");
        }
        "Recreate" => {}
        "RollingUpdate" if rolling.is_null() => {
            found.required(&path, "this should be defaulted and never be nil");
        }
        "RollingUpdate" => {
            let (unavailable, surge) = (rolling.get("maxUnavailable"), rolling.get("maxSurge"));
            let (unavailable, surge) = (unavailable.unwrap_or(Value::Int(0)), surge.unwrap_or(Value::Int(0)));
            let unavailable_path = path.child("maxUnavailable");
            Form::IntOrPercent.check(unavailable, &unavailable_path, found);
            Form::IntOrPercent.check(surge, &path.child("maxSurge"), found);
            if int_or_percent(unavailable) == 0 && int_or_percent(surge) == 0 {
                found.invalid(&unavailable_path, unavailable, "may not be 0 when `maxSurge` is 0");
            }
            at_most_all(unavailable, &unavailable_path, found);
        }
        _ => found.not_supported(at.path, at.value, &["Recreate", "RollingUpdate"]),
    }
}

/// Checks the strategy of a DaemonSet: `ValidateDaemonSetUpdateStrategy`.
fn set_strategy(at: &At<'_, '_>, found: &mut Found) {
    let path = at.path.child("rollingUpdate");
    let rolling = at.get("rollingUpdate");
    match text(at.value, "type") {
        "OnDelete" => {}
        "RollingUpdate" if rolling.is_null() => found.required(&path, ""),
        "RollingUpdate" => {
            let fields = ["maxUnavailable", "maxSurge"].map(|key| (key, rolling.get(key).unwrap_or(Value::Int(0))));
            for (key, value) in fields {
                Form::IntOrPercent.check(value, &path.child(key), found);
            }
            for (key, value) in fields {
                at_most_all(value, &path.child(key), found);
            }
            let [(_, unavailable), (_, surge)] = fields;
            match (int_or_percent(unavailable) != 0, int_or_percent(surge) != 0) {
                (true, true) => {
                    found.invalid(&path.child("maxSurge"), surge, "may not be set when maxUnavailable is non-zero");
                }
                (false, false) => found.required(&path.child("maxUnavailable"), "cannot be 0 when maxSurge is 0"),
                _ => {}
            }
        }
        _ => found.not_supported(at.path, at.value, &["RollingUpdate", "OnDelete"]),
    }
}

/// Checks the data of a new ControllerRevision: `ValidateControllerRevisionCreate`.
fn revision_data(at: &At<'_, '_>, found: &mut Found) {
    match at.value {
        Value::Null => found.required(at.path, "data is mandatory"),
        Value::Map(_) => {}
        _ => found.required(at.path, "data must be a valid JSON object"),
    }
}

/// Checks the counts in a status: they are not negative and not larger than certain others, and `collisionCount` only
/// grows.
fn replica_counts(at: &At<'_, '_>, found: &mut Found) {
    let kind = at.scope.kind;
    let fields: &[&str] = match kind {
        "DaemonSet" => &[
            "currentNumberScheduled",
            "numberMisscheduled",
            "desiredNumberScheduled",
            "numberReady",
            "observedGeneration",
            "updatedNumberScheduled",
            "numberAvailable",
            "numberUnavailable",
            "collisionCount",
        ],
        "StatefulSet" => &[
            "replicas",
            "readyReplicas",
            "currentReplicas",
            "updatedReplicas",
            "availableReplicas",
            "observedGeneration",
            "collisionCount",
        ],
        _ => &[
            "observedGeneration",
            "replicas",
            "updatedReplicas",
            "fullyLabeledReplicas",
            "readyReplicas",
            "availableReplicas",
            "unavailableReplicas",
            "terminatingReplicas",
            "collisionCount",
        ],
    };
    for key in fields {
        not_negative(at.value, key, at.path, found);
    }
    let count = |key: &str| number(at.value, key).unwrap_or(0);
    if kind != "DaemonSet" {
        for key in ["fullyLabeledReplicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"]
        {
            let is_known = key != "updatedReplicas" || matches!(kind, "Deployment" | "StatefulSet");
            if is_known && fields.contains(&key) && count(key) > count("replicas") {
                let value = Value::Int(count(key));
                found.invalid(&at.path.child(key), value, "cannot be greater than status.replicas");
            }
        }
        if count("availableReplicas") > count("readyReplicas") {
            let prefix = if kind == "StatefulSet" { "status." } else { "" };
            let detail = format!("cannot be greater than {prefix}readyReplicas");
            found.invalid(&at.path.child("availableReplicas"), Value::Int(count("availableReplicas")), detail);
        }
    }
    let before = number(get(at.scope.old.unwrap_or(Value::Null), "status"), "collisionCount");
    if before.is_some_and(|before| number(at.value, "collisionCount").is_none_or(|count| count < before)) {
        let value = Value::Int(count("collisionCount"));
        found.invalid(&at.path.child("collisionCount"), value, "cannot be decremented");
    }
}

/// Checks the spec of a StatefulSet: `ValidateStatefulSetSpec`.
fn stateful_set(at: &At<'_, '_>, found: &mut Found) {
    let old = at.scope.old.map(|old| get(old, "spec"));
    let skips_template = old.is_some_and(|old| {
        let mut wrong = Found::default();
        set_spec(old, old, true, true, &Path::Root, &mut wrong);
        !wrong.errors.is_empty()
    });
    set_spec(at.value, old.unwrap_or(Value::Null), old.is_some(), !skips_template, at.path, found);
}

fn set_spec(
    spec: Value<'_>,
    old: Value<'_>,
    is_update: bool,
    checks_template: bool,
    path: &Path<'_>,
    found: &mut Found,
) {
    match text(spec, "podManagementPolicy") {
        "OrderedReady" | "Parallel" => {}
        "" => found.required(&path.child("podManagementPolicy"), ""),
        _ => {
            let detail = "must be 'OrderedReady' or 'Parallel'";
            found.invalid(&path.child("podManagementPolicy"), get(spec, "podManagementPolicy"), detail);
        }
    }
    let strategy = get(spec, "updateStrategy");
    let strategy_path = path.child("updateStrategy");
    let rolling_path = strategy_path.child("rollingUpdate");
    let rolling = get(strategy, "rollingUpdate");
    match text(strategy, "type") {
        "" => found.required(&strategy_path, ""),
        "OnDelete" if !rolling.is_null() => {
            found.invalid(&rolling_path, rolling, "only allowed for updateStrategy 'RollingUpdate'");
        }
        "OnDelete" => {}
        "RollingUpdate" => {
            not_negative(rolling, "partition", &rolling_path, found);
            if let Some(unavailable) = rolling.get("maxUnavailable") {
                let path = rolling_path.child("maxUnavailable");
                Form::IntOrPercent.check(unavailable, &path, found);
                if int_or_percent(unavailable) == 0 {
                    found.invalid(&path, unavailable, "cannot be 0");
                }
                at_most_all(unavailable, &path, found);
            }
        }
        _ => found.invalid(&strategy_path, strategy, "must be 'RollingUpdate' or 'OnDelete'"),
    }
    if let Some(policy) = spec.get("persistentVolumeClaimRetentionPolicy") {
        let path = path.child("persistentVolumeClaimRetentionPolicy");
        for key in ["whenDeleted", "whenScaled"] {
            if !matches!(text(policy, key), "Retain" | "Delete") {
                found.not_supported(&path.child(key), string(get(policy, key)), &["Retain", "Delete"]);
            }
        }
    }
    if !is_update {
        let path = path.child("volumeClaimTemplates");
        for (index, claim) in items(spec, "volumeClaimTemplates").iter().enumerate() {
            claim_spec(get(*claim, "spec"), &path.index(index).child("spec"), found);
        }
    }
    not_negative(spec, "replicas", path, found);
    not_negative(spec, "minReadySeconds", path, found);
    if number(get(spec, "ordinals"), "start").is_some_and(|start| start < 0) {
        found.invalid(&path.child("ordinals.start"), get(get(spec, "ordinals"), "start"), NEGATIVE);
    }
    let name = text(spec, "serviceName");
    if !is_update && !name.is_empty() {
        found.messages(&path.child("serviceName"), Value::String(name), names::dns1123_label(name));
    }
    set_selector(spec, old, checks_template, path, found);
    restarts(get(spec, "template"), &path.child("template"), "StatefulSet", found);
}

fn set_selector(spec: Value<'_>, old: Value<'_>, checks_template: bool, path: &Path<'_>, found: &mut Found) {
    let selector = get(spec, "selector");
    let selector_path = path.child("selector");
    if selector.is_null() {
        found.required(&selector_path, "");
    } else {
        label_selector(selector, &selector_path, found);
        if entries(selector, "matchLabels").len() + items(selector, "matchExpressions").len() == 0 {
            found.invalid(&selector_path, selector, "empty selector is invalid for statefulset");
        }
    }
    let template = get(spec, "template");
    let Some(mismatch) = selector_mismatch(selector, template) else {
        return found.invalid(&selector_path, selector, "");
    };
    let path = path.child("template");
    if mismatch {
        labels_differ(template, &path, found);
    }
    let names: Vec<&str> =
        items(spec, "volumeClaimTemplates").iter().map(|claim| text(get(*claim, "metadata"), "name")).collect();
    if checks_template {
        pod_template(template, get(old, "template"), false, &names, &path, found);
    }
    metadata_of_template(get(template, "metadata"), &path, found);
    template_annotations(template, &path, found);
}

/// Checks which fields of a StatefulSet changed: `ValidateStatefulSetUpdate`.
fn stateful_set_update(at: &At<'_, '_>, found: &mut Found) {
    const MAY: [&str; 7] = [
        "replicas",
        "template",
        "updateStrategy",
        "minReadySeconds",
        "ordinals",
        "revisionHistoryLimit",
        "persistentVolumeClaimRetentionPolicy",
    ];
    let old = get(at.scope.old.unwrap_or(Value::Null), "spec");
    if at.scope.metadata.release.has(Change::FieldsOfStatefulSets) {
        for key in ["selector", "volumeClaimTemplates", "serviceName", "podManagementPolicy"] {
            immutable(at.get(key), get(old, key), &at.path.child(key), found);
        }
        return;
    }
    let is_changed = |key: &str| !MAY.contains(&key) && !same(at.get(key), get(old, key));
    let keys = entries(at.scope.root, "spec").iter().chain(entries(at.scope.old.unwrap_or(Value::Null), "spec"));
    if keys.into_iter().any(|(key, _)| is_changed(key)) {
        let detail = "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', \
                      'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and \
                      'minReadySeconds' are forbidden";
        found.forbidden(at.path, detail);
    }
}
