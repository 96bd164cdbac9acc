//! Exported objects: without fields that the server sets and without defaults.

use crate::value;
use kubeshape_registry::DocumentSchema;
use kubeshape_smd::value::Map;
use kubeshape_smd::{Bump, Value};
use std::collections::BTreeMap;

/// How to export an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Exported {
    /// Whether to keep its namespace and a generated name (like `exact` of `kubectl export`).
    pub(crate) exact: bool,
}

/// The fields of metadata that a server sets.
const SET: [&str; 8] = [
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "selfLink",
    "uid",
];

/// Removes metadata that the server set (upstream, up to 1.17: `exportObjectMeta`).
pub(crate) fn metadata<'a>(object: Value<'a>, how: Exported, arena: &'a Bump) -> Value<'a> {
    let Some(map) = value::metadata(object).as_map() else { return object };
    let is_generated = map.get("generateName").and_then(Value::as_str).is_some_and(|prefix| !prefix.is_empty());
    let is_kept = |key: &str| match key {
        "namespace" => how.exact,
        "name" => how.exact || !is_generated,
        key => !SET.contains(&key),
    };
    let kept = map.entries().iter().copied().filter(|(key, _)| is_kept(key)).collect();
    value::with(object, "metadata", Some(Value::Map(Map::from_entries(kept, arena))), arena)
}

/// Removes fields that are equal to the schema's defaults.
pub(crate) fn without_defaults<'a>(value: Value<'a>, schema: DocumentSchema<'_>, arena: &'a Bump) -> Value<'a> {
    Removing { arena, memory: &Bump::new(), defaults: BTreeMap::new() }.value(value, schema)
}

struct Removing<'a, 's> {
    arena: &'a Bump,
    memory: &'s Bump,
    /// The defaults of schemas by their places: many values can share a schema.
    defaults: BTreeMap<usize, Option<Value<'s>>>,
}

impl<'a, 's> Removing<'a, 's> {
    fn default_of(&mut self, schema: DocumentSchema<'s>) -> Option<Value<'s>> {
        let memory = self.memory;
        *self.defaults.entry(schema.place()).or_insert_with(|| schema.default(memory))
    }

    fn value(&mut self, value: Value<'a>, schema: DocumentSchema<'s>) -> Value<'a> {
        match value {
            Value::Map(map) => {
                let mut entries: Vec<(&'a str, Value<'a>)> = Vec::with_capacity(map.len());
                for (key, child) in map.entries() {
                    let child = schema.property(key).map_or(*child, |below| self.value(*child, below));
                    let default = schema.declared(key).and_then(|below| self.default_of(below));
                    if default.is_none_or(|default| default != child) {
                        entries.push((key, child));
                    }
                }
                Value::Map(Map::from_entries(entries, self.arena))
            }
            Value::List(items) => {
                let Some(item) = schema.items() else { return value };
                let new: Vec<Value<'a>> = items.iter().map(|value| self.value(*value, item)).collect();
                Value::List(self.arena.alloc_slice_copy(&new))
            }
            scalar => scalar,
        }
    }
}
