//! The annotation in which client-side apply stores the last configuration (upstream `NewLastAppliedUpdater`,
//! `NewLastAppliedManager`). Both layers use it for the manager `kubectl` only.

use super::error::Step;
use super::object;
use super::structured::Structured;
use crate::Bump;
use crate::fieldpath::Set;
use crate::merge::Conflicts;
use crate::typed::Duplicates;
use crate::value::{Map, Value};

/// The annotation in which `kubectl apply` stores the last configuration.
pub const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The manager whose server-side applies use the annotation.
pub(super) const KUBECTL: &str = "kubectl";

/// The maximum size of all annotations of an object, keys and values, in bytes.
const MAX_ANNOTATIONS: usize = 256 << 10;

const ANNOTATIONS: &str = "annotations";

/// Returns the annotations of an object. Null is read as `""`. Returns `None` if they are not a map of strings.
fn annotations(object: Value<'_>) -> Option<Vec<(&str, Value<'_>)>> {
    let entries = object::meta(object, ANNOTATIONS)?.as_map()?.entries().iter();
    entries
        .map(|(key, value)| match value {
            Value::Null => Some((*key, Value::String(""))),
            Value::String(_) => Some((*key, *value)),
            _ => None,
        })
        .collect()
}

/// Returns the last configuration, unless it is missing or empty.
fn last_applied<'a>(annotations: &[(&'a str, Value<'a>)]) -> Option<&'a str> {
    let (_, value) = annotations.iter().find(|(key, _)| *key == LAST_APPLIED)?;
    value.as_str().filter(|text| !text.is_empty())
}

/// Returns the object with its annotation, if it has one, set to the applied configuration. The annotation is removed
/// if the annotations would be too large.
pub(super) fn update<'a>(object: Value<'a>, applied: Value<'a>, arena: &'a Bump) -> Value<'a> {
    let Some(mut annotations) = annotations(object).filter(|known| last_applied(known).is_some()) else {
        return object;
    };
    let text = configuration(applied, arena);
    for (key, value) in &mut annotations {
        if *key == LAST_APPLIED {
            *value = Value::String(text);
        }
    }
    let size: usize = annotations.iter().map(|(key, value)| key.len() + value.as_str().map_or(0, str::len)).sum();
    if size > MAX_ANNOTATIONS {
        annotations.retain(|(key, _)| *key != LAST_APPLIED);
    }
    object::with_meta(object, ANNOTATIONS, Some(Value::Map(Map::from_entries(annotations, arena))), arena)
}

/// Returns a configuration without the annotation, as a line of JSON.
fn configuration<'a>(object: Value<'a>, arena: &'a Bump) -> &'a str {
    let annotations = annotations(object).map(|mut annotations| {
        annotations.retain(|(key, _)| *key != LAST_APPLIED);
        Value::Map(Map::from_entries(annotations, arena))
    });
    let mut out = Vec::new();
    object::with_meta(object, ANNOTATIONS, annotations, arena).write_go_json(&mut out);
    out.push(b'\n');
    arena.alloc_str(&String::from_utf8_lossy(&out))
}

/// Returns the conflicts without those about fields of the last configuration that have not changed since. If that
/// configuration cannot be read, all conflicts remain.
pub(super) fn remaining<'a>(conflicts: Conflicts<'a>, live: Value<'a>, structured: &Structured<'a>) -> Conflicts<'a> {
    let Some(allowed) = unchanged_fields(live, structured) else { return conflicts };
    Conflicts(conflicts.0.into_iter().filter(|conflict| !allowed.has(&conflict.path)).collect())
}

fn unchanged_fields<'a>(live: Value<'a>, structured: &Structured<'a>) -> Option<Set<'a>> {
    let arena = structured.arena;
    let applied = last_applied(&annotations(live)?)?;
    let version = structured.kind.api_version();
    let live = structured.updater.converter.objects.convert(live, version, arena).ok()?;
    let live = object::with_empty_managed_fields(live, arena);
    let live = structured.typed(Step::LiveOfApply, live, Duplicates::Refused).ok()?;

    let applied = object::read_json(applied, arena)?;
    if applied.get("apiVersion").and_then(Value::as_str).unwrap_or_default() != version
        || applied.gvk().kind().is_empty()
    {
        return None;
    }
    let applied = structured.typed(Step::Patch, applied, Duplicates::Refused).ok()?;
    let fields = applied.to_field_set(arena).ok()?;
    let changed = applied.compare(live, arena).ok()?;
    let fields = fields.difference(changed.modified, arena);
    Some(fields.difference(changed.added, arena).difference(changed.removed, arena))
}
