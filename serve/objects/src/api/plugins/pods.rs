//! Plugins for Pods: priorities, tolerations, RuntimeClasses.

use super::{Call, and, map, spec_list, spec_text, with_spec};
use crate::status::Status;
use crate::value::meta_text;
use kubeshape_cel::Quantity;
use kubeshape_smd::value::Map;
use kubeshape_smd::{Bump, Value};
use kubeshape_yaml::go::escape::GoQuoted;

const PRIORITY_CLASS: [&str; 2] = ["scheduling.k8s.io/v1", "PriorityClass"];
const RUNTIME_CLASS: [&str; 2] = ["node.k8s.io/v1", "RuntimeClass"];
/// What happens to Pods of lower priority if the class does not say it.
const DEFAULT_PREEMPTION: &str = "PreemptLowerPriority";
/// How long Pods stay on nodes that are not ready or unreachable.
const TOLERATION_SECONDS: i64 = 300;
/// The maximum number of tolerations of a Pod and its RuntimeClass together, because each is compared with all others.
/// A server has no limit.
const MAX_TOLERATIONS: usize = 1_000;

impl Call<'_> {
    /// Returns a new Pod with the priority of its class (upstream: `admitPod`).
    pub(super) fn with_priority<'v>(&'v self, pod: Value<'v>, arena: &'v Bump) -> Result<Value<'v>, Status> {
        let class = match spec_text(pod, "priorityClassName") {
            "" => self.default_priority_class(arena)?,
            name => {
                let [api_version, kind] = PRIORITY_CLASS;
                let unknown = || self.forbidden(pod, &format!("no PriorityClass with name {name} was found"));
                Some(self.object_of(api_version, kind, name, arena).ok_or_else(unknown)?)
            }
        };
        let number = |of: Value<'_>, key: &str| match of.get(key) {
            Some(Value::Int(number)) => Some(number),
            _ => None,
        };
        let priority = class.and_then(|class| number(class, "value")).unwrap_or_default();
        let given = pod.get("spec").and_then(|spec| number(spec, "priority"));
        if let Some(given) = given.filter(|given| *given != priority) {
            return Err(self.forbidden(pod, &format!(
                "the integer value of priority ({given}) must not be provided in pod spec; priority admission controller \
                 computed {priority} from the given PriorityClass name"
            )));
        }
        let policy = class.map_or(Some(DEFAULT_PREEMPTION), |class| class.get("preemptionPolicy")?.as_str());
        let mut pod = pod;
        if let Some(name) = class.map(|class| meta_text(class, "name")) {
            pod = with_spec(pod, "priorityClassName", Some(Value::String(name)), arena);
        }
        pod = with_spec(pod, "priority", Some(Value::Int(priority)), arena);
        let Some(policy) = policy else { return Ok(pod) };
        match spec_text(pod, "preemptionPolicy") {
            given if given.is_empty() || given == policy => {
                Ok(with_spec(pod, "preemptionPolicy", Some(Value::String(policy)), arena))
            }
            given => Err(self.forbidden(pod, &format!(
                "the string value of PreemptionPolicy ({given}) must not be provided in pod spec; priority admission \
                 controller computed {policy} from the given PriorityClass name"
            ))),
        }
    }

    /// Returns the PriorityClass of Pods without one: of several, the one with the lowest value.
    fn default_priority_class<'v>(&'v self, arena: &'v Bump) -> Result<Option<Value<'v>>, Status> {
        let [api_version, kind] = PRIORITY_CLASS;
        let classes = self.objects_of(api_version, kind, "", arena)?.into_iter().filter(|class| is_default(*class));
        let value = |class: &Value<'_>| match class.get("value") {
            Some(Value::Int(value)) => value,
            _ => 0,
        };
        Ok(classes.min_by_key(value))
    }

    /// Checks that no other PriorityClass is the default (upstream: `validatePriorityClass`).
    pub(super) fn is_only_default(&self, class: Value<'_>, is_new: bool, arena: &Bump) -> Result<(), Status> {
        if !is_default(class) {
            return Ok(());
        }
        let other = self.default_priority_class(arena)?.map(|other| meta_text(other, "name"));
        match other.filter(|other| is_new || *other != meta_text(class, "name")) {
            None => Ok(()),
            Some(other) => Err(self.forbidden(
                class,
                &format!("PriorityClass {other} is already marked as default. Only one default can exist"),
            )),
        }
    }

    /// Returns the RuntimeClass of a Pod, if it names one.
    fn runtime_class<'v>(&'v self, pod: Value<'v>, arena: &'v Bump) -> Result<Option<Value<'v>>, Status> {
        let Some(Value::String(name)) = pod.get("spec").and_then(|spec| spec.get("runtimeClassName")) else {
            return Ok(None);
        };
        let [api_version, kind] = RUNTIME_CLASS;
        let unknown = || self.forbidden(pod, &format!("pod rejected: RuntimeClass {} not found", GoQuoted(name)));
        self.object_of(api_version, kind, name, arena).ok_or_else(unknown).map(Some)
    }

    /// Returns a new Pod with what its RuntimeClass says (upstream: `setOverhead`, `setScheduling`).
    pub(super) fn with_runtime_class<'v>(&'v self, pod: Value<'v>, arena: &'v Bump) -> Result<Value<'v>, Status> {
        let Some(class) = self.runtime_class(pod, arena)? else { return Ok(pod) };
        let mut pod = pod;
        if let Some(overhead) = overhead_of(class) {
            let given = pod.get("spec").and_then(|spec| spec.get("overhead")).and_then(Value::as_map);
            if given.is_some_and(|given| !given.is_empty() && !is_same(given, overhead)) {
                return Err(self.forbidden(pod, OTHER_OVERHEAD));
            }
            pod = with_spec(pod, "overhead", (!overhead.is_empty()).then_some(Value::Map(overhead)), arena);
        }
        let Some(scheduling) = class.get("scheduling").filter(|scheduling| !scheduling.is_null()) else {
            return Ok(pod);
        };
        let selector = pod.get("spec").and_then(|spec| spec.get("nodeSelector")).and_then(Value::as_map);
        let selector = selector.unwrap_or(Map::EMPTY);
        let mut merged = selector.entries().to_vec();
        for (key, value) in scheduling.get("nodeSelector").and_then(Value::as_map).unwrap_or(Map::EMPTY).entries() {
            let given = selector.get(key);
            if let Some(given) = given.filter(|given| given != value) {
                let text = |value: Value<'v>| value.as_str().unwrap_or_default();
                return Err(self.forbidden(
                    pod,
                    &format!(
                        "conflict: runtimeClass.scheduling.nodeSelector[{key}] = {}; pod.spec.nodeSelector[{key}] = {}",
                        text(*value),
                        text(given)
                    ),
                ));
            }
            if given.is_none() {
                merged.push((*key, *value));
            }
        }
        if !merged.is_empty() {
            pod = with_spec(pod, "nodeSelector", Some(Value::Map(Map::from_entries(merged, arena))), arena);
        }
        let added = scheduling.get("tolerations").and_then(Value::as_list).unwrap_or_default();
        let own = spec_list(pod, "tolerations");
        if own.len() + added.len() > MAX_TOLERATIONS {
            let why = format!("a Pod and its RuntimeClass have at most {MAX_TOLERATIONS} tolerations together");
            return Err(self.forbidden(pod, &why));
        }
        let all = merged_tolerations(own, added);
        if all.is_empty() {
            return Ok(pod);
        }
        Ok(with_spec(pod, "tolerations", Some(Value::List(arena.alloc_slice_copy(&all))), arena))
    }

    /// Checks that the overhead of a Pod is that of its RuntimeClass (upstream: `validateOverhead`).
    pub(super) fn has_overhead_of_class(&self, pod: Value<'_>, arena: &Bump) -> Result<(), Status> {
        let pod = pod.copy_into(arena);
        let given = pod.get("spec").and_then(|spec| spec.get("overhead")).and_then(Value::as_map);
        match self.runtime_class(pod, arena)?.and_then(overhead_of) {
            Some(overhead) if is_same(overhead, given.unwrap_or(Map::EMPTY)) => Ok(()),
            Some(_) => Err(self.forbidden(pod, OTHER_OVERHEAD)),
            None if given.is_none() => Ok(()),
            None => Err(self
                .forbidden(pod, "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead")),
        }
    }
}

const OTHER_OVERHEAD: &str = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";

fn is_default(class: Value<'_>) -> bool {
    class.get("globalDefault") == Some(Value::Bool(true))
}

/// Returns the overhead of a RuntimeClass. `None` if it defines none.
fn overhead_of(class: Value<'_>) -> Option<Map<'_>> {
    let overhead = class.get("overhead").filter(|overhead| !overhead.is_null())?;
    Some(overhead.get("podFixed").and_then(Value::as_map).unwrap_or(Map::EMPTY))
}

/// Returns whether two lists of resources have the same quantities.
fn is_same(a: Map<'_>, b: Map<'_>) -> bool {
    let quantity = |value: Value<'_>| value.as_str().and_then(|text| Quantity::parse(text).ok());
    let has = |(key, value): &(&str, Value<'_>)| {
        b.get(key).is_some_and(|other| match (quantity(*value), quantity(other)) {
            (Some(one), Some(other)) => one.compare(&other).is_eq(),
            _ => *value == other,
        })
    };
    a.len() == b.len() && a.entries().iter().all(has)
}

/// Returns a changed Pod, which keeps its priority.
pub(super) fn with_old_priority<'v>(pod: Value<'v>, old: Value<'v>, arena: &'v Bump) -> Value<'v> {
    let of = |object: Value<'v>, key: &str| object.get("spec")?.get(key).filter(|value| !value.is_null());
    ["priority", "preemptionPolicy"].into_iter().fold(pod, |pod, key| match (of(pod, key), of(old, key)) {
        (None, Some(kept)) => with_spec(pod, key, Some(kept), arena),
        _ => pod,
    })
}

/// Returns a Pod that tolerates nodes that are not ready or unreachable for a while.
pub(super) fn with_tolerations<'v>(pod: Value<'v>, arena: &'v Bump) -> Value<'v> {
    let tolerates = |key: &str| {
        let is = |toleration: Value<'v>, member: &str, value: &str| {
            let given = toleration.get(member).and_then(Value::as_str).unwrap_or_default();
            given.is_empty() || given == value
        };
        let all = spec_list(pod, "tolerations");
        all.iter().any(|toleration| is(*toleration, "key", key) && is(*toleration, "effect", "NoExecute"))
    };
    let missing = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];
    let missing: Vec<&str> = missing.into_iter().filter(|key| !tolerates(key)).collect();
    missing.into_iter().fold(pod, |pod, key| {
        let toleration = map(
            [
                ("key", Value::String(key)),
                ("operator", Value::String("Exists")),
                ("effect", Value::String("NoExecute")),
                ("tolerationSeconds", Value::Int(TOLERATION_SECONDS)),
            ],
            arena,
        );
        with_spec(pod, "tolerations", Some(and(spec_list(pod, "tolerations"), toleration, arena)), arena)
    })
}

/// Returns two lists of tolerations as one, without those that another one contains (upstream: `MergeTolerations`).
fn merged_tolerations<'v>(first: &[Value<'v>], second: &[Value<'v>]) -> Vec<Value<'v>> {
    let all: Vec<Value<'v>> = first.iter().chain(second).copied().collect();
    let mut merged = Vec::new();
    'next: for (i, toleration) in all.iter().enumerate() {
        for other in &merged {
            if contains(*other, *toleration) {
                continue 'next;
            }
        }
        for other in all.iter().skip(i + 1) {
            if toleration != other && contains(*other, *toleration) {
                continue 'next;
            }
        }
        merged.push(*toleration);
    }
    merged
}

/// Returns whether a toleration tolerates everything that another one does (upstream: `isSuperset`).
fn contains(toleration: Value<'_>, other: Value<'_>) -> bool {
    fn text<'t>(of: Value<'t>, key: &str) -> &'t str {
        of.get(key).and_then(Value::as_str).unwrap_or_default()
    }
    if toleration == other {
        return true;
    }
    let exists = |of: Value<'_>| text(of, "operator") == "Exists";
    let (key, effect) = (text(toleration, "key"), text(toleration, "effect"));
    if key != text(other, "key") && !(key.is_empty() && exists(toleration)) {
        return false;
    }
    if effect != text(other, "effect") && !effect.is_empty() {
        return false;
    }
    if effect == "NoExecute" {
        let seconds = |of: Value<'_>| match of.get("tolerationSeconds") {
            Some(Value::Int(seconds)) => Some(seconds),
            _ => None,
        };
        let is_longer = match (seconds(toleration), seconds(other)) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(own), Some(other)) => own >= other,
        };
        if !is_longer {
            return false;
        }
    }
    match text(toleration, "operator") {
        "Exists" => true,
        "Equal" | "" => text(other, "operator") == "Equal" && text(toleration, "value") == text(other, "value"),
        _ => false,
    }
}
