//! The annotations in which version v1 of a HorizontalPodAutoscaler stores fields
//! (`pkg/apis/autoscaling/v1/conversion.go`).

use super::Request;
use super::edit::with;
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
    match of("Policies").filter(|policies| !policies.is_empty()) {
        None => written.push_str(policies),
        Some(list) => {
            for policy in list.items() {
                let separator = if written.is_empty() { '[' } else { ',' };
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
