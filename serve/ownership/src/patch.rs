//! The smallest JSON patch (RFC 6902) from one list of entries of managed fields to another.

use serde_json::{Map, Value as Json, json};

/// What becomes of an entry.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Edit {
    /// It stays.
    Keep,
    /// It goes away.
    Remove,
    /// It becomes this.
    Change(Json),
}

const LIST: &str = "/metadata/managedFields";

/// Returns the operations that change each entry as its edit says, and append `added`. In front of them stands a test of
/// the resource version, if it is known.
pub(crate) fn patch(before: &[Json], edits: &[Edit], added: &[Json], resource_version: &str) -> Vec<Json> {
    let mut out = Vec::new();
    for (at, (entry, edit)) in before.iter().zip(edits).enumerate() {
        if let Edit::Change(after) = edit {
            out.extend(differences(entry, after, &format!("{LIST}/{at}")));
        }
    }
    let mut out = with_moves(&out, before);
    out.extend(added.iter().map(|entry| json!({"op": "add", "path": format!("{LIST}/-"), "value": entry})));
    // From the last one on, so that indices stay right.
    let removed = edits.iter().enumerate().rev().filter(|(_, edit)| **edit == Edit::Remove);
    out.extend(removed.map(|(at, _)| json!({"op": "remove", "path": format!("{LIST}/{at}")})));
    if !resource_version.is_empty() && !out.is_empty() {
        out.insert(0, json!({"op": "test", "path": "/metadata/resourceVersion", "value": resource_version}));
    }
    out
}

/// Returns the shortest operations from one value to another: those of the members, or one that replaces the whole.
fn differences(before: &Json, after: &Json, path: &str) -> Vec<Json> {
    if before == after {
        return Vec::new();
    }
    let whole = vec![json!({"op": "replace", "path": path, "value": after})];
    let (Json::Object(old), Json::Object(new)) = (before, after) else { return whole };
    let parts = members(old, new, path);
    if length(&parts) < length(&whole) { parts } else { whole }
}

fn members(old: &Map<String, Json>, new: &Map<String, Json>, path: &str) -> Vec<Json> {
    let mut out = Vec::new();
    for (key, value) in old {
        let path = below(path, key);
        match new.get(key) {
            Some(after) => out.extend(differences(value, after, &path)),
            None => out.push(json!({"op": "remove", "path": path})),
        }
    }
    let added = new.iter().filter(|(key, _)| !old.contains_key(*key));
    out.extend(added.map(|(key, value)| json!({"op": "add", "path": below(path, key), "value": value})));
    out
}

fn length(operations: &[Json]) -> usize {
    operations.iter().map(|operation| operation.to_string().len() + 1).sum()
}

fn below(path: &str, key: &str) -> String {
    format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// Joins a `remove` and an `add` of the same fields to a `move`.
fn with_moves(operations: &[Json], before: &[Json]) -> Vec<Json> {
    let text = |operation: &Json, key: &str| operation[key].as_str().unwrap_or_default().to_owned();
    // The path in the entry, and the fields there.
    let fields = |path: &str| -> Option<(String, &Json)> {
        let (at, inner) = path.strip_prefix(LIST)?.strip_prefix('/')?.split_once('/')?;
        let value = before.get(at.parse::<usize>().ok()?)?.pointer(&format!("/{inner}"))?;
        inner.starts_with("fieldsV1/").then(|| (inner.to_owned(), value))
    };
    let mut removed: Vec<Option<(String, &Json, String)>> = operations
        .iter()
        .map(|operation| {
            let path = text(operation, "path");
            let (inner, value) = fields(&path).filter(|_| operation["op"] == "remove")?;
            Some((inner, value, path))
        })
        .collect();
    let mut taken = vec![false; operations.len()];
    let mut out: Vec<Option<Json>> = operations.iter().cloned().map(Some).collect();
    for (at, operation) in operations.iter().enumerate() {
        if operation["op"] != "add" {
            continue;
        }
        let path = text(operation, "path");
        let inner = path.strip_prefix(LIST).and_then(|rest| rest.strip_prefix('/')?.split_once('/')).map(|(_, i)| i);
        let Some(inner) = inner else { continue };
        let fits = |(inner_removed, value, _): &(String, &Json, String)| {
            inner_removed == inner && **value == operation["value"]
        };
        let found = removed.iter().position(|removed| removed.as_ref().is_some_and(fits));
        let Some((found, (_, _, from))) = found.and_then(|found| Some((found, removed.get_mut(found)?.take()?))) else {
            continue;
        };
        if let (Some(add), Some(taken)) = (out.get_mut(at), taken.get_mut(found)) {
            *add = Some(json!({"op": "move", "from": from, "path": path}));
            *taken = true;
        }
    }
    let kept = out.into_iter().zip(taken).filter(|(_, taken)| !taken);
    kept.filter_map(|(operation, _)| operation).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shorter_way_is_chosen() {
        let long = "a text that takes more bytes than an operation with its path does";
        let before = json!({"a": {"b": long, "c": 2}, "d/e": 3, "f": long});
        let parts = differences(&before, &json!({"a": {"b": long}, "d/e": 4, "f": long}), "");
        let expected = json!([{"op": "remove", "path": "/a/c"}, {"op": "replace", "path": "/d~1e", "value": 4}]);
        assert_eq!(Json::Array(parts), expected);
        let whole = differences(&json!({"f:long-name": {}, "f:other-name": {}}), &json!({}), "/x");
        assert_eq!(Json::Array(whole), json!([{"op": "replace", "path": "/x", "value": {}}]));
    }

    #[test]
    fn a_field_that_goes_from_one_entry_to_another_is_moved() {
        let entry = |fields: Json| json!({"fieldsV1": {"f:spec": fields}});
        let before = [entry(json!({"f:a": {}, "f:b": {}})), entry(json!({"f:c": {}, "f:long": {"f:d": {}}}))];
        let edits = [
            Edit::Change(entry(json!({"f:b": {}}))),
            Edit::Change(entry(json!({"f:a": {}, "f:c": {}, "f:long": {"f:d": {}}}))),
        ];
        let expected = json!([
            {"op": "test", "path": "/metadata/resourceVersion", "value": "7"},
            {"op": "move", "from": "/metadata/managedFields/0/fieldsV1/f:spec/f:a",
                "path": "/metadata/managedFields/1/fieldsV1/f:spec/f:a"},
        ]);
        assert_eq!(Json::Array(patch(&before, &edits, &[], "7")), expected);
    }
}
