//! JSON merge patches (RFC 7386), with which servers and kubectl patch custom resources.
//!
//! # Example: kubectl deletes what it no longer applies
//! ```
//! use kubeshape_registry::merge_patch;
//! use kubeshape_registry::strategic::{KUBECTL, ThreeWay};
//! use kubeshape_smd::{Bump, ToValue, Value};
//! use serde_json::json;
//!
//! let arena = Bump::new();
//! let map = |json: serde_json::Value| arena.alloc(json).to_value(&arena).as_map().unwrap();
//! let original = map(json!({"spec": {"size": 1, "colour": "red"}}));
//! let modified = map(json!({"spec": {"size": 2}}));
//! let current = map(json!({"spec": {"size": 1, "colour": "red", "other": true}}));
//! let merge = ThreeWay { original, modified, current, overwrite: true };
//! let patch = Value::Map(merge_patch::three_way(merge, &KUBECTL, &arena).unwrap());
//! assert_eq!(patch.to_serde(), json!({"spec": {"size": 2, "colour": null}}));
//! let after = merge_patch::apply(Value::Map(current), patch, &arena);
//! assert_eq!(after.to_serde(), json!({"spec": {"size": 2, "other": true}}));
//! ```

use crate::strategic::{Error, Fixed, ThreeWay, check, conflict_of};
use kubeshape_smd::value::Map;
use kubeshape_smd::{Bump, Value};

/// Applies a merge patch: null removes a member, maps are merged, other values replace.
pub fn apply<'a>(value: Value<'a>, patch: Value<'a>, arena: &'a Bump) -> Value<'a> {
    let Value::Map(patch) = patch else { return patch };
    let old = value.as_map().unwrap_or(Map::EMPTY);
    let mut entries: Vec<(&'a str, Value<'a>)> = Vec::with_capacity(old.len() + patch.len());
    let mut members = patch.entries().iter().peekable();
    for (key, value) in old.entries() {
        while let Some((name, new)) = members.next_if(|(name, _)| name < key) {
            add(&mut entries, name, *new, arena);
        }
        match members.next_if(|(name, _)| name == key) {
            None => entries.push((key, *value)),
            Some((_, Value::Null)) => {}
            Some((_, new)) => entries.push((key, apply(*value, *new, arena))),
        }
    }
    for (name, new) in members {
        add(&mut entries, name, *new, arena);
    }
    Value::Map(Map::from_entries(entries, arena))
}

fn add<'a>(entries: &mut Vec<(&'a str, Value<'a>)>, name: &'a str, new: Value<'a>, arena: &'a Bump) {
    match new {
        Value::Null => {}
        Value::Map(_) => entries.push((name, apply(Value::Map(Map::EMPTY), new, arena))),
        new => entries.push((name, new)),
    }
}

/// Creates the patch that applies a configuration to the live object: its new or different values, and deletions of
/// values that it no longer has (upstream: `CreateThreeWayJSONMergePatch`). `overwrite` is not used here.
///
/// # Errors
/// The patch changes a fixed field, or a deletion and another value conflict.
pub fn three_way<'a>(merge: ThreeWay<'a>, fixed: &[Fixed], arena: &'a Bump) -> Result<Map<'a>, Error> {
    let ThreeWay { original, modified, current, .. } = merge;
    let added = filtered(difference(current, modified, arena), Kept::Values, arena);
    let deleted = filtered(difference(original, modified, arena), Kept::Nulls, arena);
    if has_conflict(Value::Map(added), Value::Map(deleted)) {
        return Err(conflict_of(added, deleted));
    }
    let patch = union(deleted, added, arena);
    check(patch, fixed)?;
    Ok(patch)
}

/// Returns the merge patch that turns a map into another one (upstream: `jsonpatch.CreateMergePatch`).
fn difference<'a>(old: Map<'a>, new: Map<'a>, arena: &'a Bump) -> Map<'a> {
    let mut patch: Vec<(&'a str, Value<'a>)> = Vec::new();
    for (key, value) in old.entries() {
        match (*value, new.get(key)) {
            (_, None) => patch.push((key, Value::Null)),
            (Value::Map(old), Some(Value::Map(new))) => {
                let below = difference(old, new, arena);
                if !below.is_empty() {
                    patch.push((key, Value::Map(below)));
                }
            }
            (old, Some(new)) if old == new => {}
            (_, Some(new)) => patch.push((key, new)),
        }
    }
    patch.extend(new.entries().iter().filter(|(key, _)| old.get(key).is_none()));
    Map::from_entries(patch, arena)
}

/// The parts of a patch to keep.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
    Nulls,
    Values,
}

/// Keeps the nulls of a patch, or all other values (upstream: `keepOrDeleteNullInObj`).
fn filtered<'a>(patch: Map<'a>, kept: Kept, arena: &'a Bump) -> Map<'a> {
    let mut out = Vec::new();
    for (key, value) in patch.entries() {
        match value {
            Value::Null if kept == Kept::Nulls => out.push((*key, Value::Null)),
            Value::Map(map) if !map.is_empty() => {
                let below = filtered(*map, kept, arena);
                if !below.is_empty() {
                    out.push((*key, Value::Map(below)));
                }
            }
            Value::Null => {}
            other if kept == Kept::Values => out.push((*key, *other)),
            _ => {}
        }
    }
    Map::from_entries(out, arena)
}

/// Returns whether two patches set a field to different values (upstream: `mergepatch.HasConflicts`).
fn has_conflict(a: Value<'_>, b: Value<'_>) -> bool {
    match (a, b) {
        (Value::Map(a), Value::Map(b)) => {
            a.entries().iter().any(|(key, own)| b.get(key).is_some_and(|other| has_conflict(*own, other)))
        }
        (Value::List(a), Value::List(b)) => a.len() != b.len() || a.iter().zip(b).any(|(a, b)| has_conflict(*a, *b)),
        (a, b) => a != b,
    }
}

/// Adds the members of a map to another one. Nulls of the first one are kept.
fn union<'a>(deleted: Map<'a>, added: Map<'a>, arena: &'a Bump) -> Map<'a> {
    let mut out: Vec<(&'a str, Value<'a>)> = deleted.entries().to_vec();
    for (key, value) in added.entries() {
        let merged = match (deleted.get(key), *value) {
            (Some(Value::Map(old)), Value::Map(new)) => Value::Map(union(old, new, arena)),
            (_, value) => value,
        };
        out.push((key, merged));
    }
    Map::from_entries(out, arena)
}

#[cfg(test)]
mod tests {
    use super::apply;
    use kubeshape_smd::{Bump, ToValue};
    use serde_json::json;

    #[test]
    fn a_merge_patch_removes_merges_and_replaces() {
        let arena = Bump::new();
        let (old, patch) = (
            json!({"a": {"b": 1, "c": 2}, "d": [1], "z": 0}),
            json!({"a": {"b": null, "e": {"f": null}}, "d": 3, "x": null}),
        );
        let new = apply(old.to_value(&arena), patch.to_value(&arena), &arena).to_serde();
        assert_eq!(new, json!({"a": {"c": 2, "e": {}}, "d": 3, "z": 0}));
    }
}
