//! Removing fields that a schema does not know: `pruning.PruneWithOptions`.

use super::equal::identical;
use kubeshape_schema::{Bump, Flags, Schema};
use kubeshape_smd::Value;
use kubeshape_smd::value::Map;
use std::fmt;

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// A whole object: its type and its metadata stay, whatever the schema says.
    Resource,
    /// Any value.
    Value,
}

/// The result of [`prune`].
#[derive(Clone, Debug)]
pub struct Pruned<'a> {
    /// The value without unknown fields. It is the given one if there were none.
    pub value: Value<'a>,
    /// The paths of the fields that were removed, sorted: `spec.list[0].key`.
    pub unknown: Vec<String>,
}

/// Removes the fields that a schema does not know. Without a schema, no field of an object is known.
///
/// # Example
/// ```
/// use kubeshape_schema::Bump;
/// use kubeshape_smd::ToValue;
/// use kubeshape_validate::object::{Root, prune};
/// let arena = Bump::new();
/// let list = serde_json::json!([{"a": 1}, {"b": 1}]);
/// let pruned = prune(list.to_value(&arena), None, Root::Value, &arena);
/// assert_eq!(pruned.value.to_serde(), serde_json::json!([{}, {}]));
/// assert_eq!(pruned.unknown, ["[0].a", "[1].b"]);
/// ```
pub fn prune<'a>(value: Value<'a>, schema: Option<&Schema<'_>>, root: Root, arena: &'a Bump) -> Pruned<'a> {
    let mut walk = Walk { arena, unknown: Vec::new() };
    let value = walk.prune(value, schema, root == Root::Resource, &Step::Root);
    walk.unknown.sort_unstable();
    Pruned { value, unknown: walk.unknown }
}

/// Whether a key is one of the three that every object has.
pub(super) fn is_meta(key: &str) -> bool {
    matches!(key, "apiVersion" | "kind" | "metadata")
}

/// A path as pruning prints it.
#[derive(Clone, Copy)]
enum Step<'p> {
    Root,
    Key(&'p Step<'p>, &'p str),
    Index(&'p Step<'p>, usize),
}

impl fmt::Display for Step<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Root => Ok(()),
            Step::Key(Step::Root, key) => f.write_str(key),
            Step::Key(parent, key) => write!(f, "{parent}.{key}"),
            Step::Index(parent, at) => write!(f, "{parent}[{at}]"),
        }
    }
}

struct Walk<'a> {
    arena: &'a Bump,
    unknown: Vec<String>,
}

impl<'a> Walk<'a> {
    /// A value nests as deep as its reader allows.
    fn prune(&mut self, value: Value<'a>, schema: Option<&Schema<'_>>, embedded: bool, path: &Step<'_>) -> Value<'a> {
        let flags = schema.map_or(Flags::NONE, |schema| schema.flags);
        let embedded = embedded || flags.any(Flags::EMBEDDED_RESOURCE);
        let keep = flags.any(Flags::PRESERVE_UNKNOWN);
        match value {
            Value::Map(map) => self.map(value, map, schema, embedded, keep, path),
            Value::List(items) => self.list(value, items, schema, keep, path),
            scalar => scalar,
        }
    }

    /// Below preserved unknown fields: what has no schema of its own stays as it is.
    fn skip(&mut self, value: Value<'a>, schema: Option<&Schema<'_>>, path: &Step<'_>) -> Value<'a> {
        let Some(schema) = schema else { return value };
        match value {
            Value::Map(map) => {
                self.map(value, map, Some(schema), schema.flags.any(Flags::EMBEDDED_RESOURCE), true, path)
            }
            Value::List(items) => self.list(value, items, Some(schema), true, path),
            scalar => scalar,
        }
    }

    fn map(
        &mut self,
        value: Value<'a>,
        map: Map<'a>,
        schema: Option<&Schema<'_>>,
        embedded: bool,
        keep: bool,
        path: &Step<'_>,
    ) -> Value<'a> {
        // The entries are copied from the first change on.
        let mut changed: Option<Vec<(&'a str, Value<'a>)>> = None;
        for (at, (key, child)) in map.entries().iter().enumerate() {
            let property = schema.and_then(|schema| schema.property(key));
            let additional = schema.is_some_and(|schema| schema.additional.is_some());
            let own = Step::Key(path, key);
            let new = if embedded && is_meta(key) {
                Some(*child)
            } else if property.is_some() || additional {
                let below = property.or_else(|| schema.and_then(Schema::additional_schema));
                Some(self.prune(*child, below, false, &own))
            } else if keep {
                Some(*child)
            } else {
                if !(is_meta(key) && schema.is_some() && matches!(path, Step::Root)) {
                    self.unknown.push(own.to_string());
                }
                None
            };
            match (new, &mut changed) {
                (Some(new), None) if identical(new, *child) => {}
                (Some(new), Some(entries)) => entries.push((key, new)),
                (new, None) => {
                    let mut entries = Vec::with_capacity(map.len());
                    entries.extend_from_slice(&map.entries()[..at]);
                    entries.extend(new.map(|new| (*key, new)));
                    changed = Some(entries);
                }
                (None, Some(_)) => {}
            }
        }
        changed.map_or(value, |entries| Value::Map(Map::from_entries(entries, self.arena)))
    }

    fn list(
        &mut self,
        value: Value<'a>,
        items: &'a [Value<'a>],
        schema: Option<&Schema<'_>>,
        keep: bool,
        path: &Step<'_>,
    ) -> Value<'a> {
        let below = schema.and_then(Schema::item);
        let mut changed: Option<Vec<Value<'a>>> = None;
        for (at, item) in items.iter().enumerate() {
            let own = Step::Index(path, at);
            let new = if keep { self.skip(*item, below, &own) } else { self.prune(*item, below, false, &own) };
            match &mut changed {
                None if identical(new, *item) => {}
                Some(list) => list.push(new),
                None => {
                    let mut list = Vec::with_capacity(items.len());
                    list.extend_from_slice(&items[..at]);
                    list.push(new);
                    changed = Some(list);
                }
            }
        }
        changed.map_or(value, |list| Value::List(self.arena.alloc_slice_copy(&list)))
    }
}
