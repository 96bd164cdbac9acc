//! Changes fields of entries as they are written, so that nothing else in them changes.

use kubeshape_smd::fieldpath::{Path, PathElement, Set};
use kubeshape_smd::value::Compat;
use kubeshape_smd::{Bump, ToValue};
use serde_json::{Map, Value as Json, json};

/// Fields of an entry, as `fieldsV1`.
pub(crate) struct Fields {
    members: Map<String, Json>,
    compat: Compat,
}

impl Fields {
    /// Reads the fields of an entry. Fields that are not written as a server writes them are written anew.
    pub(crate) fn of(fields: &Json, set: Set<'_>, compat: Compat) -> Fields {
        let as_written = || {
            let map = fields.as_object()?;
            let arena = Bump::new();
            let read = Set::from_fields_v1_as(fields.to_value(&arena), compat, &arena).ok()?;
            (read == set && all_spelled(set, map, compat)).then(|| map.clone())
        };
        Fields { members: as_written().or_else(|| written(set, compat)).unwrap_or_default(), compat }
    }

    pub(crate) fn into_json(self) -> Json {
        Json::Object(self.members)
    }

    /// Removes a field. Parents that contain nothing else go, too.
    pub(crate) fn remove(&mut self, path: &Path<'_>) {
        remove(&mut self.members, path, self.compat);
    }

    /// Adds a field.
    pub(crate) fn insert(&mut self, path: &Path<'_>) {
        let mut node = &mut self.members;
        let Some((last, parents)) = path.split_last() else { return };
        for element in parents {
            let key = key(*element, self.compat);
            let is_member = node.get(&key).is_some_and(|below| below.as_object().is_some_and(Map::is_empty));
            let below = node.entry(key).or_insert_with(|| json!({}));
            if is_member {
                // An empty map says that the parent itself is owned.
                *below = json!({".": {}});
            }
            match below {
                Json::Object(below) => node = below,
                _ => return,
            }
        }
        match node.entry(key(*last, self.compat)).or_insert_with(|| json!({})) {
            Json::Object(below) if !below.is_empty() => {
                below.entry(".").or_insert_with(|| json!({}));
            }
            _ => {}
        }
    }
}

fn remove(node: &mut Map<String, Json>, path: &Path<'_>, compat: Compat) {
    let Some((first, rest)) = path.split_first() else { return };
    let key = key(*first, compat);
    let Some(Json::Object(below)) = node.get_mut(&key) else { return };
    if rest.is_empty() {
        below.remove(".");
    } else {
        if below.is_empty() {
            return;
        }
        remove(below, rest, compat);
    }
    if below.is_empty() {
        node.remove(&key);
    }
}

/// Returns an element as a key of `fieldsV1`.
fn key(element: PathElement<'_>, compat: Compat) -> String {
    let mut text = Vec::new();
    // Elements of sets that were read can be written.
    let _ = element.write_as(compat, &mut text);
    String::from_utf8(text).unwrap_or_default()
}

/// Returns whether every key is written as a server writes it.
fn all_spelled(set: Set<'_>, map: &Map<String, Json>, compat: Compat) -> bool {
    set.entries().iter().all(|entry| match map.get(&key(entry.element, compat)) {
        Some(Json::Object(below)) => all_spelled(entry.children, below, compat),
        _ => false,
    }) && map.keys().filter(|key| *key != ".").count() == set.entries().len()
}

fn written(set: Set<'_>, compat: Compat) -> Option<Map<String, Json>> {
    match serde_json::from_str(&set.to_json_as(compat).ok()?).ok()? {
        Json::Object(map) => Some(map),
        _ => None,
    }
}
