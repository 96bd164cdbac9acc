//! Rules of HorizontalPodAutoscalers and PodDisruptionBudgets.

use super::common::{at_most_all, not_negative, sign};
use super::{Names, get, items, number, text};
use crate::Change;
use crate::builtin::overlay::autoscaler;
use crate::builtin::overlay::check::form::{self, Form};
use crate::builtin::overlay::check::{At, Found};
use crate::names;
use kubeshape_schema::field::Path;
use kubeshape_schema::parse_group_version;
use kubeshape_value::{Bump, Value};
use std::cmp::Ordering;
use std::collections::BTreeSet;

pub(super) const NAMES: Names = &[
    ("horizontal pod autoscaler", horizontal),
    ("horizontal pod autoscaler status", autoscaler_status),
    ("pod disruption budget", budget),
    ("pod disruption budget status", budget_status),
];

const METRICS: [&str; 5] = ["ContainerResource", "External", "Object", "Pods", "Resource"];

/// `ValidatePodDisruptionBudgetSpec`
fn budget(at: &At<'_, '_>, found: &mut Found) {
    const POLICIES: [&str; 2] = ["AlwaysAllow", "IfHealthyBudget"];
    let spec = get(at.value, "spec");
    let path = at.path.child("spec");
    let bounds = ["minAvailable", "maxUnavailable"].map(|key| (key, get(spec, key)));
    if bounds.iter().all(|(_, value)| !value.is_null()) {
        found.invalid(&path, spec, "minAvailable and maxUnavailable cannot be both set");
    }
    for (key, value) in bounds {
        let path = path.child(key);
        Form::IntOrPercent.check(value, &path, found);
        at_most_all(value, &path, found);
    }
    form::selector(get(spec, "selector"), &path.child("selector"), found);
    let policy = get(spec, "unhealthyPodEvictionPolicy");
    if policy.as_str().is_some_and(|policy| !POLICIES.contains(&policy)) {
        found.not_supported(&path.child("unhealthyPodEvictionPolicy"), policy, &POLICIES);
    }
}

fn budget_status(at: &At<'_, '_>, found: &mut Found) {
    let status = get(at.value, "status");
    let path = at.path.child("status");
    conditions(status, &path, found);
    for key in ["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"] {
        not_negative(status, key, &path, found);
    }
}

/// `ValidateConditions` of `k8s.io/apimachinery`.
pub(super) fn conditions(status: Value<'_>, path: &Path<'_>, found: &mut Found) {
    const STATES: [&str; 3] = ["False", "True", "Unknown"];
    const MOST_REASON: usize = 1024;
    const MOST_MESSAGE: usize = 32 * 1024;
    let path = path.child("conditions");
    let list = items(status, "conditions");
    let mut seen = BTreeSet::new();
    for (at, condition) in list.iter().enumerate() {
        let path = path.index(at);
        let (kind, state) = (text(*condition, "type"), text(*condition, "status"));
        if !seen.insert(kind) {
            found.duplicate(&path.child("type"), Value::String(kind));
        }
        found.messages(&path.child("type"), Value::String(kind), names::qualified_name(kind));
        if !STATES.contains(&state) {
            found.not_supported(&path.child("status"), Value::String(state), &STATES);
        }
        not_negative(*condition, "observedGeneration", &path, found);
        if get(*condition, "lastTransitionTime").is_null() {
            found.required(&path.child("lastTransitionTime"), "");
        }
        let reason = text(*condition, "reason");
        if reason.is_empty() {
            found.required(&path.child("reason"), "");
        } else {
            let is_reason = reason.starts_with(|c: char| c.is_ascii_alphabetic())
                && reason.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
                && reason.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_,:".contains(&byte));
            if !is_reason {
                let detail = "a condition reason must start with alphabetic character, optionally followed by a string of \
                              alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. \
                              'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex \
                              used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')";
                found.invalid(&path.child("reason"), Value::String(reason), detail);
            }
            if reason.len() > MOST_REASON {
                found.too_long(&path.child("reason"), MOST_REASON);
            }
        }
        if text(*condition, "message").len() > MOST_MESSAGE {
            found.too_long(&path.child("message"), MOST_MESSAGE);
        }
    }
}

/// `validateHorizontalPodAutoscalerSpec`, for both versions.
fn horizontal(at: &At<'_, '_>, found: &mut Found) {
    let arena = Bump::new();
    let is_v1 = text(at.scope.root, "apiVersion") == "autoscaling/v1";
    let spec_of = |object| if is_v1 { autoscaler::spec_as_v2(object, &arena) } else { get(object, "spec") };
    let spec = spec_of(at.value);
    let path = at.path.child("spec");
    let old = at.scope.old.map(spec_of);
    let (min, max) = (number(spec, "minReplicas"), number(spec, "maxReplicas").unwrap_or(0));
    let least = |min: i64| {
        let was_zero = old.is_some_and(|old| number(old, "minReplicas") == Some(0));
        i64::from(min < 1 && !was_zero && !at.scope.metadata.release.has(Change::AutoscalersToZero))
    };
    if let Some((_, least)) = min.map(|min| (min, least(min))).filter(|(min, least)| min < least) {
        let detail = format!("must be greater than or equal to {least}");
        found.invalid(&path.child("minReplicas"), get(spec, "minReplicas"), detail);
    }
    let max_path = path.child("maxReplicas");
    if max == 0 {
        found.required(&max_path, "must be set and greater than 0");
    } else if max < 0 {
        found.invalid(&max_path, Value::Int(max), "must be greater than or equal to 1");
    }
    if min.is_some_and(|min| max < min) {
        found.invalid(&max_path, Value::Int(max), "must be greater than or equal to `minReplicas`");
    }
    let target = get(spec, "scaleTargetRef");
    let keeps_target = old.is_some_and(|old| {
        ["apiVersion", "kind"].iter().all(|key| text(get(old, "scaleTargetRef"), key) == text(target, key))
    });
    let allowed = (keeps_target, text(target, "kind") == "ReplicationController");
    reference(target, allowed, &path.child("scaleTargetRef"), found);
    let object_versions = |old: Value<'_>| {
        let metrics = items(old, "metrics").iter().map(|metric| get(*metric, "object"));
        let objects = metrics.filter(|object| !object.is_null());
        objects.map(|object| text(get(object, "describedObject"), "apiVersion").to_owned()).collect()
    };
    let keeps_objects = old.is_some_and(|old| {
        let versions: Vec<String> = object_versions(old);
        versions.iter().any(|version| api_version_error(version, true).is_some())
    });
    let metrics_path = path.child("metrics");
    let metrics = items(spec, "metrics");
    for (at, item) in metrics.iter().enumerate() {
        metric(*item, keeps_objects, &metrics_path.index(at), found);
    }
    let scales_to_zero = metrics.iter().any(|metric| matches!(text(*metric, "type"), "Object" | "External"));
    if min == Some(0) && !scales_to_zero {
        let detail = "must specify at least one Object or External metric to support scaling to zero replicas";
        found.forbidden(&metrics_path, detail);
    }
    let behavior = get(spec, "behavior");
    let path = path.child("behavior");
    for key in ["scaleUp", "scaleDown"] {
        scaling_rules(get(behavior, key), &path.child(key), found);
    }
}

fn autoscaler_status(at: &At<'_, '_>, found: &mut Found) {
    let path = at.path.child("status");
    for key in ["currentReplicas", "desiredReplicas"] {
        not_negative(get(at.value, "status"), key, &path, found);
    }
}

/// `ValidateAPIVersion`
fn api_version_error(version: &str, can_lack_group: bool) -> Option<String> {
    match parse_group_version(version) {
        Err(error) => Some(error),
        Ok(("", _)) if !can_lack_group => Some("apiVersion must specify API group".to_owned()),
        Ok(_) => None,
    }
}

/// `ValidateCrossVersionObjectReference`. `allowed` says whether any version is allowed, and whether one without a
/// group is.
fn reference(value: Value<'_>, allowed: (bool, bool), path: &Path<'_>, found: &mut Found) {
    for key in ["kind", "name"] {
        super::common::required_as(value, key, super::common::segment, path, found);
    }
    let version = text(value, "apiVersion");
    if let Some(error) = api_version_error(version, allowed.1).filter(|_| !allowed.0) {
        found.invalid(&path.child("apiVersion"), Value::String(version), error);
    }
}

/// `validateMetricSpec`
fn metric(metric: Value<'_>, keeps_objects: bool, path: &Path<'_>, found: &mut Found) {
    const SOURCES: [(&str, &str); 5] = [
        ("object", "Object"),
        ("external", "External"),
        ("pods", "Pods"),
        ("resource", "Resource"),
        ("containerResource", "ContainerResource"),
    ];
    let kind = text(metric, "type");
    let type_path = path.child("type");
    if kind.is_empty() {
        found.required(&type_path, "must specify a metric source type");
    }
    let is_known = METRICS.contains(&kind);
    if !is_known {
        found.not_supported(&type_path, Value::String(kind), &METRICS);
    }
    let present = || SOURCES.iter().filter(|(key, _)| !get(metric, key).is_null());
    if let Some((key, _)) = present().next() {
        metric_source(key, get(metric, key), keeps_objects, &path.child(key), found);
    }
    match SOURCES.iter().find(|(_, name)| *name == kind) {
        Some((key, _)) if get(metric, key).is_null() => {
            found.required(&path.child(key), "must populate information for the given metric source");
        }
        Some(_) => {}
        None => found.not_supported(&type_path, Value::String(kind), &METRICS),
    }
    if present().count() != 1 {
        for (key, _) in present().filter(|(_, name)| *name != kind) {
            found.forbidden(&path.child(key), "must populate the given metric source only");
        }
    }
}

fn metric_source(kind: &str, source: Value<'_>, keeps_objects: bool, path: &Path<'_>, found: &mut Found) {
    let target = get(source, "target");
    let target_path = path.child("target");
    let has = |key: &str| !get(target, key).is_null();
    let name = text(source, "name");
    match kind {
        "object" => {
            let described = get(source, "describedObject");
            reference(described, (keeps_objects, true), &path.child("describedObject"), found);
        }
        "resource" | "containerResource" if name.is_empty() => {
            found.required(&path.child("name"), "must specify a resource name");
        }
        "containerResource" => super::limits::container_resource(name, &path.child("name"), found),
        _ => {}
    }
    if kind == "containerResource" {
        match text(source, "container") {
            "" => found.required(&path.child("container"), "must specify a container"),
            text => found.messages(&path.child("container"), Value::String(text), names::dns1123_label(text)),
        }
    }
    if matches!(kind, "object" | "external" | "pods") {
        metric_identifier(get(source, "metric"), &path.child("metric"), found);
    }
    metric_target(target, &target_path, found);
    let (value, average, usage) =
        (target_path.child("value"), target_path.child("averageValue"), target_path.child("averageUtilization"));
    match kind {
        "object" if !has("value") && !has("averageValue") => {
            found.required(&average, "must set either a target value or averageValue");
        }
        "external" if !has("value") && !has("averageValue") => {
            found.required(&average, "must set either a target value for metric or a per-pod target");
        }
        "external" if has("value") && has("averageValue") => {
            found.forbidden(&value, "may not set both a target value for metric and a per-pod target");
        }
        "pods" if !has("averageValue") => {
            found.required(&average, "must specify a positive target averageValue");
        }
        "resource" | "containerResource" => {
            if !has("averageUtilization") && !has("averageValue") {
                found.required(&usage, "must set either a target raw value or a target utilization");
            }
            if has("averageUtilization") && has("averageValue") {
                found.forbidden(&average, "may not set both a target raw value and a target utilization");
            }
        }
        _ => {}
    }
}

fn metric_identifier(metric: Value<'_>, path: &Path<'_>, found: &mut Found) {
    match text(metric, "name") {
        "" => found.required(&path.child("name"), "must specify a metric name"),
        text => found.messages(&path.child("name"), Value::String(text), super::common::segment(text)),
    }
}

fn metric_target(target: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let kind = text(target, "type");
    if kind.is_empty() {
        found.required(&path.child("type"), "must specify a metric target type");
    }
    if !matches!(kind, "Utilization" | "Value" | "AverageValue") {
        let detail = "must be either Utilization, Value, or AverageValue";
        found.invalid(&path.child("type"), Value::String(kind), detail);
    }
    for key in ["value", "averageValue"] {
        let value = get(target, key);
        if !value.is_null() && sign(value) != Ordering::Greater {
            found.invalid(&path.child(key), value, "must be positive");
        }
    }
    if let Some(usage) = number(target, "averageUtilization")
        && usage < 1
    {
        found.invalid(&path.child("averageUtilization"), Value::Int(usage), "must be greater than 0");
    }
}

fn scaling_rules(rules: Value<'_>, path: &Path<'_>, found: &mut Found) {
    const SELECT: [&str; 3] = ["Disabled", "Max", "Min"];
    const MOST_WINDOW: i64 = 3_600;
    const MOST_PERIOD: i64 = 1_800;
    if rules.is_null() {
        return;
    }
    if let Some(window) = number(rules, "stabilizationWindowSeconds") {
        let path = path.child("stabilizationWindowSeconds");
        if window < 0 {
            found.invalid(&path, Value::Int(window), "must be greater than or equal to zero");
        }
        if window > MOST_WINDOW {
            found.invalid(&path, Value::Int(window), format!("must be less than or equal to {MOST_WINDOW}"));
        }
    }
    let select = get(rules, "selectPolicy");
    if select.as_str().is_some_and(|select| !SELECT.contains(&select)) {
        found.not_supported(&path.child("selectPolicy"), select, &SELECT);
    }
    let policies = items(rules, "policies");
    let policies_path = path.child("policies");
    if policies.is_empty() {
        found.required(&policies_path, "must specify at least one Policy");
    }
    for (at, policy) in policies.iter().enumerate() {
        let path = policies_path.index(at);
        let kind = text(*policy, "type");
        if !matches!(kind, "Pods" | "Percent") {
            found.not_supported(&path.child("type"), Value::String(kind), &["Percent", "Pods"]);
        }
        for key in ["value", "periodSeconds"] {
            let value = number(*policy, key).unwrap_or(0);
            if value <= 0 {
                found.invalid(&path.child(key), Value::Int(value), "must be greater than zero");
            }
        }
        let period = number(*policy, "periodSeconds").unwrap_or(0);
        if period > MOST_PERIOD {
            let detail = format!("must be less than or equal to {MOST_PERIOD}");
            found.invalid(&path.child("periodSeconds"), Value::Int(period), detail);
        }
    }
    let tolerance = get(rules, "tolerance");
    if sign(tolerance) == Ordering::Less {
        found.invalid(&path.child("tolerance"), tolerance, form::NEGATIVE);
    }
}
