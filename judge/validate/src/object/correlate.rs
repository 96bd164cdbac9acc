//! Finds the value of the old object for a value of the new one: `common.CorrelatedObject`.

use super::equal::equal;
use super::prepare::{Node, Rest, Validator};
use kubeshape_schema::{Schema, Type};
use kubeshape_value::Map;
use kubeshape_value::Value;
use std::collections::HashMap;
use std::fmt::Write;

/// The parts of a schema that determine which values belong together.
pub(super) trait Spine<'s>: Copy {
    /// The type of key names.
    type Name: AsRef<str> + 's;

    /// Returns the schema of a field or a key.
    fn key(self, name: &str) -> Option<Self>;

    /// Returns the schema of items.
    fn item(self) -> Option<Self>;

    /// Returns the keys of a list of type map.
    fn map_keys(self) -> Option<&'s [Self::Name]>;
}

/// A node of a validator.
#[derive(Clone, Copy, Debug)]
pub(super) struct NodeOf<'s, 'a> {
    validator: &'s Validator<'a>,
    node: u32,
}

impl<'s, 'a> NodeOf<'s, 'a> {
    pub(super) fn new(validator: &'s Validator<'a>, node: u32) -> Self {
        NodeOf { validator, node }
    }

    fn node(self) -> &'s Node<'a> {
        self.validator.node(self.node)
    }
}

impl<'s, 'a> Spine<'s> for NodeOf<'s, 'a> {
    type Name = &'a str;

    fn key(self, name: &str) -> Option<Self> {
        let node = self.node();
        let schema = node.property(name).or(match node.rest {
            Rest::Schema(schema) => Some(schema),
            Rest::Any | Rest::None => None,
        })?;
        Some(NodeOf::new(self.validator, schema))
    }

    fn item(self) -> Option<Self> {
        Some(NodeOf::new(self.validator, self.node().items?))
    }

    fn map_keys(self) -> Option<&'s [&'a str]> {
        self.node().map_keys
    }
}

impl<'s, 'a> Spine<'s> for &'s Schema<'a> {
    type Name = &'a str;

    fn key(self, name: &str) -> Option<Self> {
        self.property(name).or(self.additional_schema())
    }

    fn item(self) -> Option<Self> {
        Schema::item(self)
    }

    fn map_keys(self) -> Option<&'s [&'a str]> {
        let extra = self.extra();
        let is_map = self.ty == Type::Array && extra.list_type == Some("map") && !extra.list_map_keys.is_empty();
        is_map.then_some(extra.list_map_keys)
    }
}

/// A value, the old value at its place, and their schema.
#[derive(Clone, Copy, Debug)]
pub(super) struct Correlation<'v, S> {
    new: Value<'v>,
    old: Value<'v>,
    schema: S,
}

/// The old items of a list of type map, by its keys.
pub(super) struct OldItems<'v, 's, N> {
    keys: &'s [N],
    items: HashMap<String, Value<'v>>,
}

impl<'v, 's, S: Spine<'s>> Correlation<'v, S> {
    pub(super) fn new(new: Value<'v>, old: Value<'v>, schema: S) -> Self {
        Correlation { new, old, schema }
    }

    /// Returns the pair at a key that both objects have.
    pub(super) fn key(self, key: &str) -> Option<Self> {
        let (new, old) = (self.new.get(key)?, self.old.get(key)?);
        Some(Correlation::new(new, old, self.schema.key(key)?))
    }

    /// Returns the old items, if both values are lists of type map.
    pub(super) fn items(self) -> Option<OldItems<'v, 's, S::Name>> {
        self.new.as_list()?;
        OldItems::new(self.old, self.schema)
    }

    /// Returns the pair of a new item and the old item with the same keys.
    pub(super) fn item(self, new: Value<'v>, old: Value<'v>) -> Option<Self> {
        Some(Correlation::new(new, old, self.schema.item()?))
    }

    /// Returns whether nothing changed: `CachedDeepEqual`. Values without a schema are never treated as unchanged.
    pub(super) fn is_unchanged(self) -> bool {
        match (self.new, self.old) {
            (Value::List(new), Value::List(old)) => {
                if new.len() != old.len() {
                    return false;
                }
                match self.items() {
                    None => equal(self.new, self.old),
                    Some(items) => new.iter().all(|item| {
                        let pair = items.get(*item).and_then(|old| self.item(*item, old));
                        pair.is_some_and(Correlation::is_unchanged)
                    }),
                }
            }
            (Value::Map(new), Value::Map(old)) => self.are_unchanged(new, old),
            (new, old) => equal(new, old),
        }
    }

    fn are_unchanged(self, new: Map<'v>, old: Map<'v>) -> bool {
        let pair = |key: &str| self.key(key).is_some_and(Correlation::is_unchanged);
        new.len() == old.len() && new.entries().iter().all(|(key, _)| pair(key))
    }
}

impl<'v, 's, N: AsRef<str>> OldItems<'v, 's, N> {
    /// Indexes the items of an old list of type map: `MakeMapList`. If items have the same keys, the first one is used.
    pub(super) fn new<S: Spine<'s, Name = N>>(old: Value<'v>, schema: S) -> Option<Self> {
        let keys = schema.map_keys()?;
        let old = old.as_list()?;
        if old.is_empty() {
            return None;
        }
        let mut items = HashMap::with_capacity(old.len());
        for item in old {
            if let Some(key) = composite_key(*item, keys) {
                items.entry(key).or_insert(*item);
            }
        }
        Some(OldItems { keys, items })
    }

    /// Returns the old item with the keys of a new one.
    pub(super) fn get(&self, item: Value<'v>) -> Option<Value<'v>> {
        self.items.get(&composite_key(item, self.keys)?).copied()
    }
}

/// Returns the keys of an item as one string; `None` if one is missing or not a scalar.
fn composite_key<N: AsRef<str>>(item: Value<'_>, keys: &[N]) -> Option<String> {
    let map = item.as_map()?;
    let mut out = String::new();
    for key in keys {
        let _ = match map.get(key.as_ref())? {
            Value::Bool(yes) => write!(out, "\0{yes}"),
            Value::Int(n) => write!(out, "\0{n}"),
            // A single key is compared as it is.
            Value::Float(n) if keys.len() == 1 => write!(out, "\0.{n}"),
            Value::Float(n) => write!(out, "\0{n:.6}"),
            Value::String(text) => write!(out, "\0{text:?}"),
            Value::Null | Value::List(_) | Value::Map(_) => return None,
        };
    }
    Some(out)
}
