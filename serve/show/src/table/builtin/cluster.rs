//! Cells of nodes, events, quotas, roles, certificates, policies, devices and definitions.

use super::super::age::duration;
use super::cells::{
    at, condition, count, created, first_of, has_condition, is_set, is_true, items, number_at, or, quantity, text,
    text_at, time,
};
use super::is_deleted;
use kubeshape_value::{Map, Value};
use std::collections::BTreeSet;

/// Upstream: `printNode`. The last condition is used.
pub(super) fn node_status(node: Value<'_>) -> String {
    let ready = items(at(node, "status.conditions")).iter().rev().find(|one| text_at(**one, "type") == "Ready");
    let status = match ready.map(|ready| text_at(*ready, "status")) {
        None => "Unknown",
        Some("True") => "Ready",
        Some(_) => "NotReady",
    };
    let is_unschedulable = is_true(at(node, "spec.unschedulable"));
    format!("{status}{}", if is_unschedulable { ",SchedulingDisabled" } else { "" })
}

/// Upstream: `findNodeRoles`.
pub(super) fn node_roles(labels: Value<'_>) -> String {
    let labels = labels.as_map().unwrap_or(Map::EMPTY);
    let role = |(key, value): &(&str, Value<'_>)| match key.strip_prefix("node-role.kubernetes.io/") {
        Some(role) => role.to_owned(),
        None if *key == "kubernetes.io/role" => text(*value).to_owned(),
        None => String::new(),
    };
    let roles: BTreeSet<String> = labels.entries().iter().map(role).filter(|role| !role.is_empty()).collect();
    or(&roles.into_iter().collect::<Vec<_>>().join(","), "<none>").to_owned()
}

fn address(addresses: Value<'_>, of_type: &str) -> String {
    condition(addresses, of_type).map_or("<none>", |address| text_at(address, "address")).to_owned()
}

/// Upstream: `getNodeInternalIP`.
pub(super) fn internal_ip(addresses: Value<'_>) -> String {
    address(addresses, "InternalIP")
}

/// Upstream: `getNodeExternalIP`.
pub(super) fn external_ip(addresses: Value<'_>) -> String {
    address(addresses, "ExternalIP")
}

/// Returns the version of the kernel, and the architecture (upstream: `printNode`).
pub(super) fn kernel(info: Value<'_>) -> String {
    let version = or(text_at(info, "kernelVersion"), "<unknown>");
    match text_at(info, "architecture") {
        "" => version.to_owned(),
        architecture => format!("{version} ({architecture})"),
    }
}

/// A field of an event by its name in `v1`, or in `events.k8s.io/v1`.
fn either<'a>(event: Value<'a>, core: &str, events: &str) -> Value<'a> {
    let value = at(event, core);
    if is_set(value) { value } else { at(event, events) }
}

/// Upstream: `printEvent`.
pub(super) fn first_seen(event: Value<'_>) -> String {
    let first = time(either(event, "firstTimestamp", "deprecatedFirstTimestamp"));
    first.map_or_else(|| created(at(event, "eventTime")), str::to_owned)
}

/// Upstream: `printEvent`.
pub(super) fn last_seen(event: Value<'_>) -> String {
    if is_set(at(event, "series")) {
        return created(at(event, "series.lastObservedTime"));
    }
    let last = time(either(event, "lastTimestamp", "deprecatedLastTimestamp"));
    last.map_or_else(|| first_seen(event), str::to_owned)
}

/// Upstream: `printEvent`.
pub(super) fn event_count(event: Value<'_>) -> i64 {
    match (at(event, "series"), either(event, "count", "deprecatedCount")) {
        (series @ Value::Map(_), _) => number_at(series, "count"),
        (_, Value::Int(n)) if n != 0 => n,
        _ => 1,
    }
}

/// Upstream: `printEvent`.
pub(super) fn event_object(event: Value<'_>) -> String {
    let object = either(event, "involvedObject", "regarding");
    let kind = text_at(object, "kind").to_lowercase();
    match text_at(object, "name") {
        "" => kind,
        name => format!("{kind}/{name}"),
    }
}

/// Upstream: `printEvent`.
pub(super) fn event_subobject(event: Value<'_>) -> String {
    text_at(either(event, "involvedObject", "regarding"), "fieldPath").to_owned()
}

/// Upstream: `formatEventSource`.
pub(super) fn event_source(event: Value<'_>) -> String {
    let source = either(event, "source", "deprecatedSource");
    let reporter = text(either(event, "reportingComponent", "reportingController"));
    let component = or(text_at(source, "component"), reporter);
    match or(text_at(source, "host"), text_at(event, "reportingInstance")) {
        "" => component.to_owned(),
        instance => format!("{component}, {instance}"),
    }
}

/// Upstream: `printEvent`.
pub(super) fn event_message(event: Value<'_>) -> String {
    text(either(event, "message", "note")).trim().to_owned()
}

/// Upstream: `printResourceQuota`.
fn quota(status: Value<'_>, of_limits: bool) -> String {
    let (hard, used) = (at(status, "hard").as_map().unwrap_or(Map::EMPTY), at(status, "used"));
    let mut names: Vec<&(&str, Value<'_>)> =
        hard.entries().iter().filter(|(name, _)| name.starts_with("limits.") == of_limits).collect();
    names.sort_by_key(|(name, _)| *name);
    let one = |(name, hard): &(&str, Value<'_>)| {
        format!("{name}: {}/{}", quantity(used.get(name).unwrap_or(Value::Null)), quantity(*hard))
    };
    names.into_iter().map(one).collect::<Vec<_>>().join(", ")
}

pub(super) fn quota_requests(status: Value<'_>) -> String {
    quota(status, false)
}

pub(super) fn quota_limits(status: Value<'_>) -> String {
    quota(status, true)
}

/// Returns the names of subjects of a kind (upstream: `rbac.SubjectsStrings`).
fn subjects(subjects: Value<'_>, kind: &str) -> String {
    let of_kind = items(subjects).iter().filter(|subject| text_at(**subject, "kind") == kind);
    let name = |subject: &Value<'_>| match kind {
        "ServiceAccount" => format!("{}/{}", text_at(*subject, "namespace"), text_at(*subject, "name")),
        _ => text_at(*subject, "name").to_owned(),
    };
    of_kind.map(name).collect::<Vec<_>>().join(", ")
}

pub(super) fn users(of: Value<'_>) -> String {
    subjects(of, "User")
}

pub(super) fn groups(of: Value<'_>) -> String {
    subjects(of, "Group")
}

pub(super) fn service_accounts(of: Value<'_>) -> String {
    subjects(of, "ServiceAccount")
}

/// Upstream: `printCertificateSigningRequest`.
pub(super) fn requested_duration(seconds: Value<'_>) -> String {
    if let Value::Int(seconds) = seconds { duration(seconds) } else { "<none>".to_owned() }
}

/// Upstream: `extractCSRStatus`.
pub(super) fn request_condition(status: Value<'_>) -> String {
    let has = |of_type: &str| condition(at(status, "conditions"), of_type).is_some();
    let mut out = match (has("Denied"), has("Approved")) {
        (true, _) => "Denied",
        (_, true) => "Approved",
        _ => "Pending",
    }
    .to_owned();
    if has("Failed") {
        out.push_str(",Failed");
    }
    if !text_at(status, "certificate").is_empty() {
        out.push_str(",Issued");
    }
    out
}

/// Returns the type of the last condition that is one of these.
fn last_of(conditions: Value<'_>, types: &[&str], is_true: bool, none: &str) -> String {
    let known = |one: &&Value<'_>| types.contains(&text_at(**one, "type"));
    let holds = |one: &&Value<'_>| !is_true || text_at(**one, "status") == "True";
    let last = items(conditions).iter().rev().find(|one| known(one) && holds(one));
    last.map_or(none, |one| text_at(*one, "type")).to_owned()
}

/// Upstream: `printPodCertificateRequest`.
pub(super) fn pod_request_state(conditions: Value<'_>) -> String {
    last_of(conditions, &["Issued", "Denied", "Failed"], false, "Pending")
}

/// Upstream: `printStorageVersionMigration`.
pub(super) fn migration_status(conditions: Value<'_>) -> String {
    last_of(conditions, &["Running", "Failed", "Succeeded"], true, "Unknown")
}

/// Upstream: `schema.GroupResource.String`.
pub(super) fn group_resource(of: Value<'_>) -> String {
    match (text_at(of, "resource"), text_at(of, "group")) {
        (resource, "") => resource.to_owned(),
        (resource, group) => format!("{resource}.{group}"),
    }
}

fn component(conditions: Value<'_>, path: &str) -> String {
    condition(conditions, "Healthy").map_or("", |healthy| text_at(healthy, path)).to_owned()
}

/// Upstream: `printComponentStatus`.
pub(super) fn component_status(conditions: Value<'_>) -> String {
    let status = match condition(conditions, "Healthy").map(|healthy| text_at(healthy, "status")) {
        None => "Unknown",
        Some("True") => "Healthy",
        Some(_) => "Unhealthy",
    };
    status.to_owned()
}

pub(super) fn component_message(conditions: Value<'_>) -> String {
    component(conditions, "message")
}

pub(super) fn component_error(conditions: Value<'_>) -> String {
    component(conditions, "error")
}

/// Returns whether the priority level of a FlowSchema is missing (upstream: `printFlowSchema`).
pub(super) fn dangling(conditions: Value<'_>) -> String {
    condition(conditions, "Dangling").map_or("?", |dangling| text_at(dangling, "status")).to_owned()
}

/// Upstream: `formatStorageVersions`.
pub(super) fn storage_versions(versions: Value<'_>) -> String {
    let versions = items(versions);
    let one = |of: &Value<'_>| format!("{}={}", text_at(*of, "apiServerID"), text_at(*of, "encodingVersion"));
    first_of(&versions.iter().take(3).map(one).collect::<Vec<_>>(), versions.len())
}

/// Upstream: `printValidatingAdmissionPolicy`.
pub(super) fn param_kind(kind: Value<'_>) -> String {
    if !is_set(kind) {
        return "<unset>".to_owned();
    }
    format!("{}/{}", text_at(kind, "apiVersion"), text_at(kind, "kind"))
}

/// Upstream: `printValidatingAdmissionPolicyBinding`.
pub(super) fn param_ref(reference: Value<'_>) -> String {
    let selector = at(reference, "selector");
    match (text_at(reference, "namespace"), text_at(reference, "name")) {
        (_, "") if is_set(selector) => go_selector(selector),
        (_, "") => "<unset>".to_owned(),
        (namespace, name) => format!("{}/{name}", or(namespace, "*")),
    }
}

/// A selector as Go prints the struct (upstream: `metav1.LabelSelector.String`).
fn go_selector(selector: Value<'_>) -> String {
    let labels = at(selector, "matchLabels").as_map().unwrap_or(Map::EMPTY);
    let mut labels: Vec<String> =
        labels.entries().iter().map(|(key, value)| format!("{key}: {},", text(*value))).collect();
    labels.sort();
    let expression = |of: &Value<'_>| {
        let values: Vec<&str> = items(at(*of, "values")).iter().map(|value| text(*value)).collect();
        let (key, operator) = (text_at(*of, "key"), text_at(*of, "operator"));
        format!("LabelSelectorRequirement{{Key:{key},Operator:{operator},Values:[{}],}},", values.join(" "))
    };
    let expressions: String = items(at(selector, "matchExpressions")).iter().map(expression).collect();
    format!(
        "&LabelSelector{{MatchLabels:map[string]string{{{}}},MatchExpressions:[]LabelSelectorRequirement{{{}}},}}",
        labels.concat(),
        expressions
    )
}

/// Upstream: `resourceClaimState`.
pub(super) fn claim_state(claim: Value<'_>) -> String {
    let is_reserved = count(at(claim, "status.reservedFor")) > 0;
    let state = match (is_deleted(claim), is_set(at(claim, "status.allocation"))) {
        (true, false) => "deleted",
        (false, false) => "pending",
        (true, true) if is_reserved => "deleted,allocated,reserved",
        (true, true) => "deleted,allocated",
        (false, true) if is_reserved => "allocated,reserved",
        (false, true) => "allocated",
    };
    state.to_owned()
}

/// Returns the first of the conditions that end a request for the status of pools.
fn pool_end(conditions: Value<'_>) -> Option<Value<'_>> {
    let is_end =
        |one: &Value<'_>| matches!(text_at(*one, "type"), "Complete" | "Failed") && text_at(*one, "status") == "True";
    items(conditions).iter().copied().find(is_end)
}

/// Upstream: `printResourcePoolStatusRequest`.
pub(super) fn pool_status(status: Value<'_>) -> String {
    let end = pool_end(at(status, "conditions")).map_or("Pending", |end| text_at(end, "type"));
    let (pools, all) = (count(at(status, "pools")), number_at(status, "poolCount"));
    if end == "Complete" && all > pools { format!("Complete ({pools}/{all} pools)") } else { end.to_owned() }
}

/// Upstream: `printResourcePoolStatusRequest`.
pub(super) fn pool_completed(conditions: Value<'_>) -> String {
    let end = pool_end(conditions).filter(|end| text_at(*end, "type") == "Complete");
    end.map_or_else(|| "<none>".to_owned(), |end| created(at(end, "lastTransitionTime")))
}

/// A sum over pools (upstream: `printResourcePoolStatusRequest`).
fn sum(status: Value<'_>, of_pool: impl Fn(Value<'_>) -> i64) -> String {
    let has_failed = pool_end(at(status, "conditions")).is_some_and(|end| text_at(end, "type") == "Failed");
    if !is_set(status) || has_failed {
        return "-".to_owned();
    }
    let pools = items(at(status, "pools")).iter();
    pools.fold(0_i64, |sum, pool| sum.saturating_add(of_pool(*pool))).to_string()
}

pub(super) fn devices_total(status: Value<'_>) -> String {
    sum(status, |pool| number_at(pool, "totalDevices"))
}

pub(super) fn devices_available(status: Value<'_>) -> String {
    sum(status, |pool| number_at(pool, "availableDevices"))
}

pub(super) fn devices_allocated(status: Value<'_>) -> String {
    sum(status, |pool| number_at(pool, "allocatedDevices"))
}

pub(super) fn devices_unavailable(status: Value<'_>) -> String {
    sum(status, |pool| number_at(pool, "unavailableDevices"))
}

pub(super) fn pool_errors(status: Value<'_>) -> String {
    sum(status, |pool| i64::from(is_set(at(pool, "validationError"))))
}

/// Upstream: `printPodGroup`.
pub(super) fn scheduling_policy(policy: Value<'_>) -> String {
    if is_set(at(policy, "gang")) { "Gang" } else { "Basic" }.to_owned()
}

/// Upstream: `printPodGroup`.
pub(super) fn pod_group_status(conditions: Value<'_>) -> String {
    let last = |of_type: &str| items(conditions).iter().rev().find(|one| text_at(**one, "type") == of_type);
    let status = match (last("DisruptionTarget"), last("PodGroupScheduled")) {
        (Some(target), _) => text_at(*target, "reason"),
        (_, Some(scheduled)) if text_at(*scheduled, "status") == "True" => "Scheduled",
        (_, Some(_)) => "Unschedulable",
        _ => "Pending",
    };
    status.to_owned()
}

/// Returns the versions that a definition serves (upstream: apiextensions-apiserver's `crdConvertor.ConvertToTable` of
/// 1.37).
pub(super) fn served_versions(versions: Value<'_>) -> String {
    let label = |version: &Value<'_>| {
        let mark = if is_true(at(*version, "storage")) { "(storage)" } else { "" };
        format!("{}{mark}", text_at(*version, "name"))
    };
    let served = items(versions).iter().filter(|version| is_true(at(**version, "served")));
    let mut labels: Vec<String> = served.map(label).collect();
    labels.sort();
    labels.join(",")
}

/// Upstream: apiextensions-apiserver's `isEstablished`.
pub(super) fn established(conditions: Value<'_>) -> bool {
    has_condition(conditions, "Established")
}
