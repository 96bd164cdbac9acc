//! Cells of Pods (upstream: `printPod`).

use super::cells::{at, has_condition, is_set, is_true, items, number_at, or, text_at, time};
use super::is_deleted;
use kubeshape_value::Value;
use kubeshape_yaml::go::Time;
use std::collections::BTreeMap;

/// A summary of the containers of a Pod.
#[derive(Debug, Default)]
struct Summary<'a> {
    ready: usize,
    total: usize,
    reason: String,
    restarts: Restarts<'a>,
}

/// The number of restarts of containers, and when the last of them ended.
#[derive(Clone, Copy, Debug, Default)]
struct Restarts<'a> {
    count: i64,
    last: Option<(Time, &'a str)>,
}

impl<'a> Restarts<'a> {
    fn add(&mut self, container: Value<'a>) {
        self.count = self.count.saturating_add(number_at(container, "restartCount"));
        let ended = time(at(container, "lastState.terminated.finishedAt"));
        let ended = ended.and_then(|text| Some((Time::parse(text)?, text)));
        let later = ended.filter(|(end, _)| self.last.is_none_or(|(last, _)| last.0 < end.0));
        self.last = later.or(self.last);
    }
}

/// Returns how a container ended: its reason, or its signal or exit code.
fn end(terminated: Value<'_>) -> String {
    match (text_at(terminated, "reason"), number_at(terminated, "signal")) {
        ("", 0) => format!("ExitCode:{}", number_at(terminated, "exitCode")),
        ("", signal) => format!("Signal:{signal}"),
        (reason, _) => reason.to_owned(),
    }
}

fn summary(pod: Value<'_>) -> Summary<'_> {
    let (spec, status) = (at(pod, "spec"), at(pod, "status"));
    let (phase, conditions) = (text_at(status, "phase"), at(status, "conditions"));
    let mut out = Summary { reason: or(text_at(status, "reason"), phase).to_owned(), ..Summary::default() };
    let is_gated = |condition: &Value<'_>| {
        text_at(*condition, "type") == "PodScheduled" && text_at(*condition, "reason") == "SchedulingGated"
    };
    if items(conditions).iter().any(is_gated) {
        "SchedulingGated".clone_into(&mut out.reason);
    }
    let is_initializing = initialize(spec, status, &mut out);
    if !is_initializing || has_condition(conditions, "Initialized") {
        run(status, &mut out);
    }
    if is_deleted(pod) {
        if text_at(status, "reason") == "NodeLost" {
            "Unknown".clone_into(&mut out.reason);
        } else if !matches!(phase, "Failed" | "Succeeded") {
            "Terminating".clone_into(&mut out.reason);
        }
    }
    out
}

/// Summarizes init containers. Returns whether one is not finished. If all are, only restarts of sidecars are counted.
fn initialize<'a>(spec: Value<'a>, status: Value<'a>, out: &mut Summary<'a>) -> bool {
    let containers = items(at(spec, "initContainers"));
    let is_sidecar = |container: Value<'_>| text_at(container, "restartPolicy") == "Always";
    let sidecars: BTreeMap<&str, bool> =
        containers.iter().map(|container| (text_at(*container, "name"), is_sidecar(*container))).collect();
    out.total = items(at(spec, "containers")).len() + containers.iter().filter(|one| is_sidecar(**one)).count();
    let (mut all, mut of_sidecars) = (Restarts::default(), Restarts::default());
    for (index, container) in items(at(status, "initContainerStatuses")).iter().enumerate() {
        let is_sidecar = sidecars.get(text_at(*container, "name")).is_some_and(|is_sidecar| *is_sidecar);
        all.add(*container);
        if is_sidecar {
            of_sidecars.add(*container);
        }
        let terminated = at(*container, "state.terminated");
        if is_set(terminated) && number_at(terminated, "exitCode") == 0 {
            continue;
        }
        if is_sidecar && is_true(at(*container, "started")) {
            out.ready += usize::from(is_true(at(*container, "ready")));
            continue;
        }
        out.reason = match text_at(*container, "state.waiting.reason") {
            _ if is_set(terminated) => format!("Init:{}", end(terminated)),
            "" | "PodInitializing" => format!("Init:{index}/{}", containers.len()),
            reason => format!("Init:{reason}"),
        };
        // A Pod that is nevertheless initialized is counted from its sidecars on.
        let is_initialized = has_condition(at(status, "conditions"), "Initialized");
        out.restarts = if is_initialized { of_sidecars } else { all };
        return true;
    }
    out.restarts = of_sidecars;
    false
}

/// Summarizes containers.
fn run<'a>(status: Value<'a>, out: &mut Summary<'a>) {
    let (mut has_running, mut error) = (false, None);
    for container in items(at(status, "containerStatuses")).iter().rev() {
        out.restarts.add(*container);
        let (waiting, terminated) = (text_at(*container, "state.waiting.reason"), at(*container, "state.terminated"));
        if !waiting.is_empty() {
            waiting.clone_into(&mut out.reason);
        } else if is_set(terminated) {
            out.reason = end(terminated);
            if number_at(terminated, "exitCode") != 0 {
                error = Some(out.reason.clone());
            }
        } else if is_true(at(*container, "ready")) && is_set(at(*container, "state.running")) {
            has_running = true;
            out.ready += 1;
        }
    }
    // One running container suffices.
    if out.reason == "Completed" {
        if has_running && has_true(at(status, "conditions"), "Ready") {
            "Running".clone_into(&mut out.reason);
        } else if let Some(error) = error {
            out.reason = error;
        } else if has_running {
            "NotReady".clone_into(&mut out.reason);
        }
    }
}

/// Returns whether any condition of a type is true (upstream: `hasPodReadyCondition`).
fn has_true(conditions: Value<'_>, of_type: &str) -> bool {
    let is_it = |one: &Value<'_>| text_at(*one, "type") == of_type && text_at(*one, "status") == "True";
    items(conditions).iter().any(is_it)
}

pub(super) fn ready(pod: Value<'_>) -> String {
    let summary = summary(pod);
    format!("{}/{}", summary.ready, summary.total)
}

pub(super) fn status(pod: Value<'_>) -> String {
    summary(pod).reason
}

/// Returns the number of restarts of containers, and the time of the last one: `3 (TIME ago)`.
pub(super) fn restarts(pod: Value<'_>) -> String {
    match summary(pod).restarts {
        Restarts { count, last: Some((_, last)) } if count != 0 => format!("{count} ({last} ago)"),
        Restarts { count, .. } => count.to_string(),
    }
}

pub(super) fn ip(addresses: Value<'_>) -> String {
    let first = items(addresses).first().map_or("", |address| text_at(*address, "ip"));
    or(first, "<none>").to_owned()
}

pub(super) fn readiness_gates(pod: Value<'_>) -> String {
    let gates = items(at(pod, "spec.readinessGates"));
    if gates.is_empty() {
        return "<none>".to_owned();
    }
    // The first condition of a type is used.
    let conditions = items(at(pod, "status.conditions")).iter().rev();
    let conditions: BTreeMap<&str, &str> =
        conditions.map(|condition| (text_at(*condition, "type"), text_at(*condition, "status"))).collect();
    let is_open = |gate: &&Value<'_>| conditions.get(text_at(**gate, "conditionType")) == Some(&"True");
    format!("{}/{}", gates.iter().filter(is_open).count(), gates.len())
}
