//! The annotations in which version v1 of a HorizontalPodAutoscaler stores fields
//! (`pkg/apis/autoscaling/v1/conversion.go`).

use super::Request;
use super::edit::{list, with};
use kubeshape_cel::Quantity;
use kubeshape_value::{Bump, Map, Value};
use kubeshape_yaml::{Limits, Node, Stream, Tape};
use std::fmt::Write;

const METRICS: &str = "autoscaling.alpha.kubernetes.io/metrics";
const BEHAVIOR: &str = "autoscaling.alpha.kubernetes.io/behavior";
const CONDITIONS: &str = "autoscaling.alpha.kubernetes.io/conditions";
const CURRENT: &str = "autoscaling.alpha.kubernetes.io/current-metrics";
const TOLERANCES: [&str; 2] =
    ["autoscaling.alpha.kubernetes.io/scale-down-tolerance", "autoscaling.alpha.kubernetes.io/scale-up-tolerance"];
/// Annotations of the status.
const OF_STATUS: [&str; 2] = [CONDITIONS, CURRENT];
/// `DefaultCPUUtilization`.
const UTILIZATION: Value<'static> = Value::Int(80);

fn annotation<'a>(object: Value<'a>, key: &str) -> Option<&'a str> {
    object.get("metadata")?.get("annotations")?.get(key)?.as_str()
}

fn annotated<'a>(object: Value<'a>, key: &str, text: Option<&'a str>, arena: &'a Bump) -> Value<'a> {
    if text.is_none() && annotation(object, key).is_none() {
        return object;
    }
    let object = with(object, &["metadata", "annotations", key], text.map(Value::String), arena);
    let all = object.get("metadata").and_then(|metadata| metadata.get("annotations")).and_then(Value::as_map);
    if all.is_some_and(Map::is_empty) {
        return with(object, &["metadata", "annotations"], None, arena);
    }
    object
}

/// Decodes and encodes every annotation again, and adds defaults for missing ones.
pub(super) fn normal<'a>(object: Value<'a>, arena: &'a Bump) -> Value<'a> {
    let mut object = TOLERANCES.iter().fold(object, |object, key| annotated(object, key, None, arena));
    for key in [METRICS, CONDITIONS, CURRENT] {
        if !annotation(object, key).is_some_and(has_items) {
            object = annotated(object, key, None, arena);
        }
    }
    if let Some(text) = annotation(object, BEHAVIOR) {
        let behavior = behavior(text).map(|text| &*arena.alloc_str(&text));
        object = annotated(object, BEHAVIOR, behavior, arena);
    }
    let is_given = object.get("spec").is_some_and(|spec| spec.get("targetCPUUtilizationPercentage").is_some());
    if is_given || annotation(object, METRICS).is_some() {
        return object;
    }
    with(object, &["spec", "targetCPUUtilizationPercentage"], Some(UTILIZATION), arena)
}

/// Removes the status of a new object, or restores the old one in an update.
pub(super) fn without_status<'a>(object: Value<'a>, Request { old, arena, .. }: Request<'a>) -> Value<'a> {
    OF_STATUS.iter().fold(object, |object, key| annotated(object, key, old.and_then(|old| annotation(old, key)), arena))
}

/// Changes only the annotations of the status, for the status subresource.
pub(super) fn with_status<'a>(object: Value<'a>, Request { old, arena, .. }: Request<'a>) -> Value<'a> {
    let mut object = object;
    for key in [METRICS, BEHAVIOR] {
        object = annotated(object, key, old.and_then(|old| annotation(old, key)), arena);
    }
    let used = object.get("status").and_then(|status| status.get("currentCPUUtilizationPercentage"));
    let (Some(Value::Int(used)), None) = (used, annotation(object, CURRENT)) else { return object };
    let text = format!(
        "[{{\"type\":\"Resource\",\"resource\":{{\"name\":\"cpu\",\"currentAverageUtilization\":{used},\
         \"currentAverageValue\":\"0\"}}}}]"
    );
    annotated(object, CURRENT, Some(arena.alloc_str(&text)), arena)
}

/// Returns whether a string is a non-empty JSON list of objects.
fn has_items(text: &str) -> bool {
    read(text, |root| (!root.is_empty() && root.items().all(|item| item.get("").is_none())).then_some(())).is_some()
}

fn read<T>(text: &str, with: impl FnOnce(Node<'_>) -> Option<T>) -> Option<T> {
    let mut tape = Tape::new();
    kubeshape_yaml::go::syntax::check(text.as_bytes()).ok()?;
    Stream::new(text.as_bytes(), Limits::default()).ok()?.next(&mut tape)?.ok()?;
    with(tape.document(text).root()?)
}

/// Returns the behavior with its defaults (`SetDefaults_HorizontalPodAutoscaler`), in the form of Go's internal type,
/// which has no JSON names; `None` if the string is not a behavior.
fn behavior(text: &str) -> Option<String> {
    let up = "[{\"Type\":\"Pods\",\"Value\":4,\"PeriodSeconds\":15},{\"Type\":\"Percent\",\"Value\":100,\"PeriodSeconds\":15}]";
    let down = "[{\"Type\":\"Percent\",\"Value\":100,\"PeriodSeconds\":15}]";
    read(text, |root| {
        let (scale_up, scale_down) = (member(root, "ScaleUp"), member(root, "ScaleDown"));
        if root.kind() != kubeshape_yaml::Kind::Map || scale_up.is_none() && scale_down.is_none() {
            return None;
        }
        let up = rules(scale_up, "0", up)?;
        let down = rules(scale_down, "null", down)?;
        Some(format!("{{\"ScaleUp\":{up},\"ScaleDown\":{down}}}"))
    })
}

/// Returns a member; like in Go, in any case.
fn member<'n>(node: Node<'n>, name: &str) -> Option<Node<'n>> {
    let found = node.pairs().find(|(key, _)| key.text().eq_ignore_ascii_case(name));
    found.map(|(_, value)| value).filter(|value| !value.is_null())
}

fn number(node: Option<Node<'_>>, default: &str) -> Option<String> {
    let Some(node) = node else { return Some(default.to_owned()) };
    let text = node.text();
    (node.kind() == kubeshape_yaml::Kind::Int && text.parse::<i32>().is_ok()).then(|| text.to_owned())
}

fn rules(rules: Option<Node<'_>>, window: &str, policies: &str) -> Option<String> {
    let of = |name| rules.and_then(|rules| member(rules, name));
    let window = number(of("StabilizationWindowSeconds"), window)?;
    let select = match of("SelectPolicy") {
        None => "Max",
        Some(select) => select.as_str()?,
    };
    let mut written = String::new();
    match of("Policies") {
        None => written.push_str(policies),
        Some(list) => {
            written.push('[');
            for policy in list.items() {
                let separator = if written.len() == 1 { "" } else { "," };
                let kind = member(policy, "Type").map_or(Some(""), Node::as_str)?;
                let value = number(member(policy, "Value"), "0")?;
                let period = number(member(policy, "PeriodSeconds"), "0")?;
                let kind = kubeshape_yaml::go::escape::GoQuoted(kind);
                let _ = write!(written, "{separator}{{\"Type\":{kind},\"Value\":{value},\"PeriodSeconds\":{period}}}");
            }
            written.push(']');
        }
    }
    Some(format!(
        "{{\"StabilizationWindowSeconds\":{window},\"SelectPolicy\":{},\"Policies\":{written},\"Tolerance\":null}}",
        kubeshape_yaml::go::escape::GoQuoted(select)
    ))
}

/// Removes the annotations; version v2 does nothing else.
pub(super) fn without_annotations<'a>(object: Value<'a>, arena: &'a Bump) -> Value<'a> {
    let keys = [METRICS, BEHAVIOR, CONDITIONS, CURRENT].into_iter().chain(TOLERANCES);
    keys.fold(object, |object, key| annotated(object, key, None, arena))
}

/// Returns the spec in the form of version v2: with the metrics and the behavior that version v1 stores in annotations
/// (`Convert_v1_HorizontalPodAutoscaler_To_autoscaling_HorizontalPodAutoscaler`). Annotations that Go's types cannot
/// hold count as absent.
pub(super) fn spec_as_v2<'a>(object: Value<'a>, arena: &'a Bump) -> Value<'a> {
    let spec = object.get("spec").unwrap_or(Value::Null);
    let own = spec.get("targetCPUUtilizationPercentage").filter(|usage| !usage.is_null());
    let parsed = |key| annotation(object, key).and_then(|text| read(text, |root| Some(copied(root, arena))));
    let others = parsed(METRICS).and_then(|list| list.as_list()?.iter().map(|one| metric(*one, arena)).collect());
    let mut metrics: Vec<Value<'a>> = others.unwrap_or_default();
    metrics.extend(own.map(|usage| {
        let target = map([("type", Value::String("Utilization")), ("averageUtilization", usage)], arena);
        let resource = map([("name", Value::String("cpu")), ("target", target)], arena);
        map([("type", Value::String("Resource")), ("resource", resource)], arena)
    }));
    let spec = with(spec, &["metrics"], Some(list(&metrics, arena)), arena);
    let behavior = annotation(object, BEHAVIOR).and_then(behavior);
    let behavior = behavior.and_then(|text| read(&text, |root| Some(lowered(copied(root, arena), arena))));
    with(spec, &["behavior"], behavior, arena)
}

fn copied<'a>(node: Node<'_>, arena: &'a Bump) -> Value<'a> {
    let own = Bump::new();
    Value::from_node(node, &own).copy_into(arena)
}

/// Returns a map of the members that are not null.
fn map<'a, const N: usize>(members: [(&'a str, Value<'a>); N], arena: &'a Bump) -> Value<'a> {
    let members = members.into_iter().filter(|(_, value)| !value.is_null());
    Value::Map(Map::from_entries(members.collect(), arena))
}

/// Returns the internal form of a behavior with the names of its JSON.
fn lowered<'a>(value: Value<'a>, arena: &'a Bump) -> Value<'a> {
    match value {
        Value::Map(members) => {
            let lower =
                |key: &str| key.get(..1).unwrap_or_default().to_ascii_lowercase() + key.get(1..).unwrap_or_default();
            let members = members.entries().iter().filter(|(_, value)| !value.is_null());
            let members = members.map(|(key, value)| (&*arena.alloc_str(&lower(key)), lowered(*value, arena)));
            Value::Map(Map::from_entries(members.collect(), arena))
        }
        Value::List(items) => list(&items.iter().map(|item| lowered(*item, arena)).collect::<Vec<_>>(), arena),
        other => other,
    }
}

/// Returns a metric of version v1 in the form of version v2; `None` if Go's types cannot hold it.
fn metric<'a>(metric: Value<'a>, arena: &'a Bump) -> Option<Value<'a>> {
    let source = |name: &str, change: fn(Value<'a>, &'a Bump) -> Option<Value<'a>>| match found(metric, name) {
        Value::Null => Some(Value::Null),
        source => change(source, arena),
    };
    let sources = [
        ("type", found(metric, "type")),
        ("object", source("object", object)?),
        ("external", source("external", external)?),
        ("pods", source("pods", pods)?),
        ("resource", source("resource", resource)?),
        ("containerResource", source("containerResource", resource)?),
    ];
    matches!(metric, Value::Map(_)).then(|| map(sources, arena))
}

/// `Convert_v1_ObjectMetricSource_To_autoscaling_ObjectMetricSource`
fn object<'a>(source: Value<'a>, arena: &'a Bump) -> Option<Value<'a>> {
    const NONE: Value<'_> = Value::String("0");
    let (value, average) = (quantity(source, "targetValue", arena)?, quantity(source, "averageValue", arena)?);
    let value = if value.is_null() { NONE } else { value };
    let kind = if average.is_null() { "Value" } else { "AverageValue" };
    let shown = if average.is_null() || value != NONE { value } else { Value::Null };
    let of = found(source, "target");
    let described = ["kind", "name", "apiVersion"].map(|key| (key, found(of, key)));
    let target = [("type", Value::String(kind)), ("value", shown), ("averageValue", average)];
    let target = ("target", map(target, arena));
    Some(map([("describedObject", map(described, arena)), identifier(source, "selector", arena), target], arena))
}

/// `Convert_v1_ExternalMetricSource_To_autoscaling_ExternalMetricSource`
fn external<'a>(source: Value<'a>, arena: &'a Bump) -> Option<Value<'a>> {
    let (value, average) = (quantity(source, "targetValue", arena)?, quantity(source, "targetAverageValue", arena)?);
    let kind = if value.is_null() { "AverageValue" } else { "Value" };
    let target = map([("type", Value::String(kind)), ("value", value), ("averageValue", average)], arena);
    Some(map([identifier(source, "metricSelector", arena), ("target", target)], arena))
}

/// `Convert_v1_PodsMetricSource_To_autoscaling_PodsMetricSource`
fn pods<'a>(source: Value<'a>, arena: &'a Bump) -> Option<Value<'a>> {
    let average = quantity(source, "targetAverageValue", arena)?;
    let average = if average.is_null() { Value::String("0") } else { average };
    let target = map([("type", Value::String("AverageValue")), ("averageValue", average)], arena);
    Some(map([identifier(source, "selector", arena), ("target", target)], arena))
}

/// `Convert_v1_ResourceMetricSource_To_autoscaling_ResourceMetricSource`, and the same for containers
fn resource<'a>(source: Value<'a>, arena: &'a Bump) -> Option<Value<'a>> {
    let usage = found(source, "targetAverageUtilization");
    if !usage.is_null() && !matches!(usage, Value::Int(number) if i32::try_from(number).is_ok()) {
        return None;
    }
    let average = quantity(source, "targetAverageValue", arena)?;
    let kind = if usage.is_null() { "AverageValue" } else { "Utilization" };
    let target = [("type", Value::String(kind)), ("averageUtilization", usage), ("averageValue", average)];
    let own = ["name", "container"].map(|key| (key, found(source, key)));
    let [name, container] = own;
    Some(map([name, container, ("target", map(target, arena))], arena))
}

fn identifier<'a>(source: Value<'a>, selector: &str, arena: &'a Bump) -> (&'static str, Value<'a>) {
    ("metric", map([("name", found(source, "metricName")), ("selector", found(source, selector))], arena))
}

/// Returns a member, or null; like in Go, in any case.
fn found<'a>(value: Value<'a>, name: &str) -> Value<'a> {
    let members = value.as_map().map(Map::entries).unwrap_or_default();
    members.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map_or(Value::Null, |(_, value)| *value)
}

/// Returns a quantity in its canonical form, or null if it is absent; `None` if it is no quantity.
fn quantity<'a>(value: Value<'a>, name: &str, arena: &'a Bump) -> Option<Value<'a>> {
    let text = match found(value, name) {
        Value::Null => return Some(Value::Null),
        Value::String(text) => text.trim().to_owned(),
        number @ (Value::Int(_) | Value::Float(_)) => number.to_string(),
        _ => return None,
    };
    let quantity = Quantity::parse(&text).ok()?;
    Some(Value::String(arena.alloc_str(&quantity.to_string())))
}
