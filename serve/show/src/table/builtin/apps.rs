//! Cells of workloads and their autoscalers.

use super::super::age::duration;
use super::cells::{at, has_condition, is_set, is_true, items, number_at, quantity, text_at, time};
use super::is_deleted;
use kubeshape_value::Value;
use kubeshape_yaml::go::Time;

/// Returns ready and desired replicas (upstream: `printDeployment`, `printStatefulSet`). The server sets the default 1.
pub(super) fn ready_of_desired(object: Value<'_>) -> String {
    let desired = if is_set(at(object, "spec.replicas")) { number_at(object, "spec.replicas") } else { 1 };
    format!("{}/{desired}", number_at(object, "status.readyReplicas"))
}

/// A number, or a percentage (upstream: `printPodDisruptionBudget`).
pub(super) fn number_or_percent(value: Value<'_>) -> String {
    if is_set(value) { quantity(value) } else { "N/A".to_owned() }
}

pub(super) fn replica_text(value: Value<'_>) -> String {
    if let Value::Int(n) = value { n.to_string() } else { "<unset>".to_owned() }
}

/// Upstream: `printBoolPtr`.
pub(super) fn suspend(value: Value<'_>) -> String {
    let text = match value {
        Value::Bool(true) => "True",
        Value::Bool(false) => "False",
        _ => "<unset>",
    };
    text.to_owned()
}

/// Upstream: `printJob`.
pub(super) fn completions(job: Value<'_>) -> String {
    let succeeded = number_at(job, "status.succeeded");
    match (at(job, "spec.completions"), number_at(job, "spec.parallelism")) {
        (Value::Int(completions), _) => format!("{succeeded}/{completions}"),
        (_, parallelism @ 2..) => format!("{succeeded}/1 of {parallelism}"),
        _ => format!("{succeeded}/1"),
    }
}

/// Returns how long a Job took, or since when it has been running (upstream: `printJob`).
pub(super) fn job_duration(status: Value<'_>) -> String {
    let Some(start) = time(at(status, "startTime")) else { return String::new() };
    let completed = time(at(status, "completionTime")).and_then(Time::parse).zip(Time::parse(start));
    completed.map_or_else(|| start.to_owned(), |(end, start)| duration(end.0.saturating_sub(start.0)))
}

/// Upstream: `printJob`.
pub(super) fn job_status(job: Value<'_>) -> String {
    let has = |of_type| has_condition(at(job, "status.conditions"), of_type);
    let status = match () {
        () if has("Complete") => "Complete",
        () if has("Failed") => "Failed",
        () if is_deleted(job) => "Terminating",
        () if has("Suspended") => "Suspended",
        () if has("FailureTarget") => "FailureTarget",
        () if has("SuccessCriteriaMet") => "SuccessCriteriaMet",
        () => "Running",
    };
    status.to_owned()
}

/// Returns the controller of an object (upstream: `printControllerRevision`).
pub(super) fn controller(owners: Value<'_>) -> String {
    let Some(owner) = items(owners).iter().find(|owner| is_true(at(**owner, "controller"))) else {
        return "<none>".to_owned();
    };
    let (kind, name) = (text_at(*owner, "kind").to_lowercase(), text_at(*owner, "name"));
    match text_at(*owner, "apiVersion").split_once('/') {
        Some((group, _)) => format!("{kind}.{}/{name}", group.to_lowercase()),
        None => format!("{kind}/{name}"),
    }
}

/// The maximum number of metrics shown.
const METRICS: usize = 2;

/// Current and desired values (upstream: `formatHPAMetrics`).
pub(super) fn metrics(object: Value<'_>) -> String {
    let cpu = at(object, "spec.targetCPUUtilizationPercentage");
    if let Value::Int(target) = cpu {
        // Version v1 has only CPU usage.
        let current = at(object, "status.currentCPUUtilizationPercentage");
        return format!("cpu: {}/{target}%", percentage(current, "<unknown>"));
    }
    let (specs, statuses) = (items(at(object, "spec.metrics")), items(at(object, "status.currentMetrics")));
    if specs.is_empty() {
        return "<none>".to_owned();
    }
    let one = |(index, spec): (usize, &Value<'_>)| metric(*spec, statuses.get(index).copied().unwrap_or(Value::Null));
    let shown: Vec<String> = specs.iter().enumerate().take(METRICS).map(one).collect();
    let shown = shown.join(", ");
    match specs.len().checked_sub(METRICS) {
        None | Some(0) => shown,
        Some(more) => format!("{shown} + {more} more..."),
    }
}

fn percentage(value: Value<'_>, absent: &str) -> String {
    if let Value::Int(n) = value { format!("{n}%") } else { absent.to_owned() }
}

fn metric(spec: Value<'_>, status: Value<'_>) -> String {
    let field = match text_at(spec, "type") {
        "External" => "external",
        "Pods" => "pods",
        "Object" => "object",
        "Resource" => "resource",
        "ContainerResource" => "containerResource",
        _ => return "<unknown type>".to_owned(),
    };
    let (spec, status) = (at(spec, field), at(status, field));
    let (target, current) = (at(spec, "target"), at(status, "current"));
    let average = at(target, "averageValue");
    let shown = |value: Value<'_>| if is_set(value) { quantity(value) } else { "<nil>".to_owned() };
    let known = |value: Value<'_>| if is_set(status) { shown(value) } else { "<unknown>".to_owned() };
    let values = |name: &str| format!("{}/{}", known(at(current, name)), shown(at(target, name)));
    match field {
        "pods" => values("averageValue"),
        "external" | "object" if is_set(average) => {
            let current = at(current, "averageValue");
            let current = if is_set(current) { quantity(current) } else { "<unknown>".to_owned() };
            format!("{current}/{} (avg)", quantity(average))
        }
        "external" | "object" => values("value"),
        _ if is_set(average) => format!("{}: {}", text_at(spec, "name"), values("averageValue")),
        _ => {
            let current = percentage(at(current, "averageUtilization"), "<unknown>");
            let target = percentage(at(target, "averageUtilization"), "<auto>");
            format!("{}: {current}/{target}", text_at(spec, "name"))
        }
    }
}
