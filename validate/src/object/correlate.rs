//! Which value of the old object belongs to a value of the new one: `common.CorrelatedObject`.

use super::equal::equal;
use super::prepare::{Rest, Validator};
use kubeshape_smd::Value;
use kubeshape_smd::value::Map;
use std::collections::HashMap;
use std::fmt::Write;

/// A value, the old value at its place, and their schema.
#[derive(Clone, Copy, Debug)]
pub(super) struct Correlation<'v> {
    new: Value<'v>,
    old: Value<'v>,
    node: u32,
}

/// The old items of a list, by the keys of the list.
pub(super) struct OldItems<'v, 'k> {
    keys: &'k [&'k str],
    items: HashMap<String, Value<'v>>,
    schema: u32,
}

impl<'v> Correlation<'v> {
    pub(super) fn new(new: Value<'v>, old: Value<'v>, node: u32) -> Self {
        Correlation { new, old, node }
    }

    /// The pair below a key that both objects have.
    pub(super) fn key(self, validator: &Validator<'_>, key: &str) -> Option<Correlation<'v>> {
        let (new, old) = (self.new.get(key)?, self.old.get(key)?);
        let node = validator.node(self.node);
        let schema = node.property(key).or(match node.rest {
            Rest::Schema(schema) => Some(schema),
            Rest::Any | Rest::None => None,
        })?;
        Some(Correlation::new(new, old, schema))
    }

    /// The old items, if both values are lists of type map.
    pub(super) fn items<'k>(self, validator: &'k Validator<'_>) -> Option<OldItems<'v, 'k>> {
        let node = validator.node(self.node);
        let (keys, schema) = (node.map_keys?, node.items?);
        let old = self.old.as_list()?;
        self.new.as_list()?;
        if old.is_empty() {
            return None;
        }
        let mut items = HashMap::with_capacity(old.len());
        for item in old {
            if let Some(key) = composite_key(*item, keys) {
                items.entry(key).or_insert(*item);
            }
        }
        Some(OldItems { keys, items, schema })
    }

    /// Whether nothing changed: `CachedDeepEqual`. What no schema describes never counts as unchanged.
    pub(super) fn is_unchanged(self, validator: &Validator<'_>) -> bool {
        match (self.new, self.old) {
            (Value::List(new), Value::List(old)) => {
                if new.len() != old.len() {
                    return false;
                }
                match self.items(validator) {
                    None => equal(self.new, self.old),
                    Some(items) => {
                        new.iter().all(|item| items.of(*item).is_some_and(|pair| pair.is_unchanged(validator)))
                    }
                }
            }
            (Value::Map(new), Value::Map(old)) => self.are_unchanged(new, old, validator),
            (new, old) => equal(new, old),
        }
    }

    fn are_unchanged(self, new: Map<'v>, old: Map<'v>, validator: &Validator<'_>) -> bool {
        let pair = |key: &str| self.key(validator, key).is_some_and(|pair| pair.is_unchanged(validator));
        new.len() == old.len() && new.entries().iter().all(|(key, _)| pair(key))
    }
}

impl<'v> OldItems<'v, '_> {
    /// The pair of a new item.
    pub(super) fn of(&self, item: Value<'v>) -> Option<Correlation<'v>> {
        let old = self.items.get(&composite_key(item, self.keys)?)?;
        Some(Correlation::new(item, *old, self.schema))
    }
}

/// The keys of an item as one text. None if one is missing or no scalar.
fn composite_key(item: Value<'_>, keys: &[&str]) -> Option<String> {
    let map = item.as_map()?;
    let mut out = String::new();
    for key in keys {
        let _ = match map.get(key)? {
            Value::Bool(yes) => write!(out, "\0{yes}"),
            Value::Int(n) => write!(out, "\0{n}"),
            // Alone, a key is compared as it is.
            Value::Float(n) if keys.len() == 1 => write!(out, "\0.{n}"),
            Value::Float(n) => write!(out, "\0{n:.6}"),
            Value::String(text) => write!(out, "\0{text:?}"),
            Value::Null | Value::List(_) | Value::Map(_) => return None,
        };
    }
    Some(out)
}
