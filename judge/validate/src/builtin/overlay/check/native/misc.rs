//! Rules of Events, Nodes, and groups with few kinds.

use super::common::{IMMUTABLE, Network, immutable, legacy_cidr, one_of, repeated, required_as, same, texts};
use super::{Names, entries, get, items, number, text};
use crate::builtin::internal;
use crate::builtin::overlay::check::form::{self, Form};
use crate::builtin::overlay::check::{At, Found};
use crate::names;
use kubeshape_schema::field::{BadValue, Error, Path};
use kubeshape_value::Value;
use kubeshape_yaml::go::escape::GoQuoted;
use kubeshape_yaml::go::syntax;
use std::collections::BTreeSet;

pub(super) const NAMES: Names = &[
    ("core event", core_event),
    ("event", event),
    ("event change", event_change),
    ("node", node),
    ("node change", node_change),
    ("lease", lease),
    ("priority class", priority_class),
    ("priority class change", priority_class_change),
    ("runtime class", runtime_class),
    ("runtime class change", runtime_class_change),
];

/// `legacyValidateEvent`
fn legacy_event(at: &At<'_, '_>, is_core: bool, found: &mut Found) {
    let event = at.value;
    let namespace = text(get(event, "metadata"), "namespace");
    let involved_key = if is_core { "involvedObject" } else { "regarding" };
    let involved = text(get(event, involved_key), "namespace");
    let path = at.path.child("involvedObject");
    let path = path.child("namespace");
    let mismatch = |found: &mut Found| found.invalid(&path, Value::String(involved), "does not match event.namespace");
    if get(event, "eventTime").is_null() {
        let is_free = involved.is_empty() && matches!(namespace, "" | "default");
        if !is_free && involved != namespace {
            mismatch(found);
        }
    } else {
        if involved.is_empty() && !matches!(namespace, "default" | "kube-system") {
            mismatch(found);
        }
        let (controller_key, instance_key) = if is_core {
            ("reportingComponent", "reportingInstance")
        } else {
            ("reportingController", "reportingInstance")
        };
        let controller = text(event, controller_key);
        if controller.is_empty() {
            found.required(&at.path.child(controller_key), "");
        }
        let messages = names::qualified_name(controller);
        found.messages(&at.path.child(controller_key), Value::String(controller), messages);
        let note = if is_core { "message" } else { "note" };
        for (key, shown, most, is_required) in [
            (instance_key, "reportingInstance", 128, true),
            ("action", "action", 128, true),
            ("reason", "reason", 128, true),
            (note, "message", 1024, false),
        ] {
            let value = text(event, key);
            let path = at.path.child(shown);
            if is_required && value.is_empty() {
                found.required(&path, "");
            }
            if value.len() > most {
                found.invalid(&path, Value::String(""), format!("can have at most {most} characters"));
            }
        }
    }
    found.messages(&at.path.child("namespace"), Value::String(namespace), names::dns1123_subdomain(namespace));
}

fn core_event(at: &At<'_, '_>, found: &mut Found) {
    legacy_event(at, true, found);
}

fn event(at: &At<'_, '_>, found: &mut Found) {
    legacy_event(at, false, found);
}

fn event_series(event: Value<'_>, found: &mut Found) {
    let series = get(event, "series");
    if series.is_null() {
        return;
    }
    if number(series, "count").unwrap_or(0) < 2 {
        found.invalid(&Path::Base("series.count"), Value::String(""), "should be at least 2");
    }
    if get(series, "lastObservedTime").is_null() {
        found.required(&Path::Base("series.lastObservedTime"), "");
    }
}

/// Checks what `ValidateEventCreate` and `ValidateEventUpdate` check in addition.
fn event_change(at: &At<'_, '_>, found: &mut Found) {
    let event = at.value;
    let Some(old) = at.scope.old else {
        event_series(event, found);
        if get(event, "eventTime").is_null() {
            found.required(&at.path.child("eventTime"), "");
        }
        let kind = text(event, "type");
        if !matches!(kind, "Normal" | "Warning") {
            found.invalid(&at.path.child("type"), Value::String(""), format!("has invalid value: {kind}"));
        }
        let source = get(event, "deprecatedSource");
        for (shown, is_set) in [
            ("firstTimestamp", !get(event, "deprecatedFirstTimestamp").is_null()),
            ("lastTimestamp", !get(event, "deprecatedLastTimestamp").is_null()),
            ("count", number(event, "deprecatedCount").unwrap_or(0) != 0),
            ("source", ["component", "host"].iter().any(|key| !text(source, key).is_empty())),
        ] {
            if is_set {
                found.invalid(&at.path.child(shown), Value::String(""), "needs to be unset");
            }
        }
        return;
    };
    if !same(event, old, "series") {
        event_series(event, found);
    }
    for (key, shown) in [
        ("regarding", "involvedObject"),
        ("reason", "reason"),
        ("note", "message"),
        ("deprecatedSource", "source"),
        ("deprecatedFirstTimestamp", "firstTimestamp"),
        ("deprecatedLastTimestamp", "lastTimestamp"),
        ("deprecatedCount", "count"),
        ("reason", "reason"),
        ("type", "type"),
        ("eventTime", "eventTime"),
        ("action", "action"),
        ("related", "related"),
        ("reportingController", "reportingController"),
        ("reportingInstance", "reportingInstance"),
    ] {
        immutable(get(event, key), get(old, key), &at.path.child(shown), found);
    }
}

/// `validateNodeTaints`. The path is the same as upstream.
fn taints(at: &At<'_, '_>, found: &mut Found) {
    const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
    let path = at.path.child("metadata");
    let path = path.child("taints");
    let list = items(get(at.value, "spec"), "taints");
    let mut seen = BTreeSet::new();
    for (at, taint) in list.iter().enumerate() {
        let path = path.index(at);
        let (key, value) = (text(*taint, "key"), text(*taint, "value"));
        found.messages(&path.child("key"), Value::String(key), names::qualified_name(key));
        found.messages(&path.child("value"), Value::String(value), names::label_value(value));
        one_of(*taint, "effect", &EFFECTS, &path, found);
        if !seen.insert(["key", "effect"].map(|key| text(*taint, key))) {
            let detail = "taints must be unique by key and effect pair";
            let error = Error::duplicate(&path, BadValue::Json(internal::json("core.v1.Taint", *taint)), 0);
            found.errors.push(Error { detail: detail.to_owned(), ..error });
        }
    }
}

/// `ValidateAvoidPodsInNodeAnnotations`
fn avoided_pods(at: &At<'_, '_>, found: &mut Found) {
    const KEY: &str = "scheduler.alpha.kubernetes.io/preferAvoidPods";
    let written = text(get(get(at.value, "metadata"), "annotations"), KEY);
    if let (false, Err(error)) = (written.is_empty(), syntax::check(written.as_bytes())) {
        let path = Path::Base("metadata");
        found.invalid(&path.child("annotations").child("AvoidPods"), Value::String(KEY), error.to_string());
    }
}

/// `validateNodeDeclaredFeatures`
fn declared_features(status: Value<'_>, path: &Path<'_>, found: &mut Found) {
    const MOST: usize = 253;
    let features = texts(items(status, "declaredFeatures"));
    let path = path.child("declaredFeatures");
    for (at, name) in features.iter().enumerate() {
        let (path, value) = (path.index(at), Value::String(name));
        let before = at.checked_sub(1).and_then(|before| features.get(before));
        if before == Some(name) {
            found.duplicate(&path, value);
        } else if before > Some(name) {
            found.invalid(&path, value, "list must be sorted alphabetically");
        }
        let quoted = GoQuoted(name);
        if name.len() > MOST {
            let detail = format!("invalid feature name {quoted}: must be no more than {MOST} characters");
            found.invalid(&path, value, detail);
        } else if !is_feature(name) {
            let detail = format!(
                "invalid feature name {quoted}: must start with an UpperCamelCase segment, with subsequent segments \
                 separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters \
                 and slashes"
            );
            found.invalid(&path, value, detail);
        }
    }
}

/// Returns whether a name is that of a feature, followed by parts: `nodeDeclaredFeatureRegexp`.
fn is_feature(name: &str) -> bool {
    let is_part = |part: &str| {
        part.starts_with(|first: char| first.is_ascii_alphabetic())
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    name.starts_with(|first: char| first.is_ascii_uppercase()) && name.split('/').all(is_part)
}

/// `ValidateNode`
fn node(at: &At<'_, '_>, found: &mut Found) {
    avoided_pods(at, found);
    taints(at, found);
    node_status(at, found);
    let spec = get(at.value, "spec");
    let cidrs = texts(items(spec, "podCIDRs"));
    let path = at.path.child("spec");
    let path = path.child("podCIDRs");
    for (at, cidr) in cidrs.iter().enumerate() {
        found.messages(&path.index(at), Value::String(cidr), legacy_cidr(cidr, &BTreeSet::new()));
    }
    if cidrs.len() > 1 {
        if let Some((at, cidr)) = cidrs.iter().enumerate().find(|(_, cidr)| Network::parse(cidr).is_none()) {
            let detail = format!(
                "invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[{at}]: <nil> (invalid CIDR \
                 address: {cidr})"
            );
            found.errors.push(Error::internal(&path, detail, 0));
        }
        let networks: Vec<_> =
            cidrs.iter().filter_map(|cidr| Network::parse(cidr)).map(|network| network.is_v4).collect();
        let is_dual = networks.len() == cidrs.len() && networks.contains(&true) && networks.contains(&false);
        if !is_dual || cidrs.len() > 2 {
            found.invalid(&path, get(spec, "podCIDRs"), "may specify no more than one CIDR for each IP family");
        }
    }
}

fn node_status(at: &At<'_, '_>, found: &mut Found) {
    let status = get(at.value, "status");
    let path = at.path.child("status");
    for key in ["capacity", "allocatable"] {
        let path = path.child(key);
        for (name, quantity) in entries(status, key) {
            super::limits::quantity_value(name, *quantity, &path.child(name), found);
        }
    }
    declared_features(status, &path, found);
}

/// `ValidateNodeUpdate`
fn node_change(at: &At<'_, '_>, found: &mut Found) {
    let Some(old) = at.scope.old else { return };
    avoided_pods(at, found);
    taints(at, found);
    let (status, spec, old) = (get(at.value, "status"), get(at.value, "spec"), get(old, "spec"));
    node_status(at, found);
    let addresses = items(status, "addresses");
    let path = at.path.child("status");
    let path = path.child("addresses");
    for at in repeated(addresses.iter().map(ToString::to_string)) {
        found.duplicate(&path.index(at), addresses.get(at).copied().unwrap_or(Value::Null));
    }
    let path = at.path.child("spec");
    let (cidrs, before) = (texts(items(spec, "podCIDRs")), texts(items(old, "podCIDRs")));
    let detail = |what: &str| format!("node updates may not change {what} except from \"\" to valid");
    if !before.is_empty() {
        let differing =
            if cidrs.len() == before.len() { cidrs.iter().zip(&before).filter(|(a, b)| a != b).count() } else { 1 };
        for _ in 0..differing {
            found.forbidden(&path.child("podCIDRs"), detail("podCIDR"));
        }
    }
    if !text(old, "providerID").is_empty() && text(old, "providerID") != text(spec, "providerID") {
        found.forbidden(&path.child("providerID"), detail("providerID"));
    }
    if text(old, "externalID") != text(spec, "externalID") {
        found.forbidden(&path.child("externalID"), "may not be updated");
    }
}

/// `ValidateLeaseSpec`
fn lease(at: &At<'_, '_>, found: &mut Found) {
    /// The only strategy that Kubernetes itself defines.
    const OLDEST: &str = "OldestEmulationVersion";
    let spec = get(at.value, "spec");
    let path = at.path.child("spec");
    if let Some(seconds) = number(spec, "leaseDurationSeconds")
        && seconds <= 0
    {
        found.invalid(&path.child("leaseDurationSeconds"), Value::Int(seconds), "must be greater than 0");
    }
    if let Some(count) = number(spec, "leaseTransitions")
        && count < 0
    {
        found.invalid(&path.child("leaseTransitions"), Value::Int(count), form::NEGATIVE);
    }
    let strategy = text(spec, "strategy");
    let strategy_path = path.child("strategy");
    match get(spec, "strategy") {
        Value::Null => {}
        value if strategy.contains('/') => {
            found.messages(&strategy_path.child("strategy"), value, names::qualified_name(strategy));
        }
        value if strategy != OLDEST => found.not_supported(&strategy_path.child("strategy"), value, &[OLDEST]),
        _ => {}
    }
    let has_strategy = !strategy.is_empty();
    if !text(spec, "preferredHolder").is_empty() && !has_strategy {
        found.forbidden(&path.child("preferredHolder"), "may only be specified if `strategy` is defined");
    }
}

/// `ValidatePriorityClass`, without the check of its name.
fn priority_class(at: &At<'_, '_>, found: &mut Found) {
    const MOST: i64 = 1_000_000_000;
    const POLICIES: [&str; 2] = ["PreemptLowerPriority", "Never"];
    let value = number(at.value, "value").unwrap_or(0);
    if !text(get(at.value, "metadata"), "name").starts_with("system-") && value > MOST {
        let detail = format!("maximum allowed value of a user defined priority is {MOST}");
        found.forbidden(&at.path.child("value"), detail);
    }
    if !get(at.value, "preemptionPolicy").is_null() {
        one_of(at.value, "preemptionPolicy", &POLICIES, at.path, found);
    }
}

fn priority_class_change(at: &At<'_, '_>, found: &mut Found) {
    let Some(old) = at.scope.old else { return };
    if number(at.value, "value") != number(old, "value") {
        found.forbidden(&at.path.child("value"), "may not be changed in an update.");
    }
    let key = "preemptionPolicy";
    immutable(get(at.value, key), get(old, key), &at.path.child(key), found);
}

/// `ValidateRuntimeClass`, without the checks of its overhead and of tolerations.
fn runtime_class(at: &At<'_, '_>, found: &mut Found) {
    required_as(at.value, "handler", names::dns1123_label, at.path, found);
    let scheduling = get(at.value, "scheduling");
    let path = at.path.child("scheduling");
    Form::Labels.check(get(scheduling, "nodeSelector"), &path.child("nodeSelector"), found);
    let path = path.child("tolerations");
    let list = items(scheduling, "tolerations");
    super::pods::tolerations(list, &path, found);
    let key =
        |toleration: &Value<'_>| ["key", "operator", "value", "effect"].map(|key| text(*toleration, key).to_owned());
    for at in repeated(list.iter().map(key)) {
        found.duplicate(&path.index(at), list.get(at).copied().unwrap_or(Value::Null));
    }
}

fn runtime_class_change(at: &At<'_, '_>, found: &mut Found) {
    let Some(old) = at.scope.old else { return };
    if text(at.value, "handler") != text(old, "handler") {
        found.invalid(&at.path.child("handler"), get(at.value, "handler"), IMMUTABLE);
    }
}
