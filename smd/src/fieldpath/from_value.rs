//! The set of a value without a schema (upstream `fieldpath.SetFromValue`).

use super::build::Stack;
use super::element::PathElement;
use super::set::Set;
use crate::Bump;
use crate::value::{MAX_DEPTH, Value};

/// The fields that distinguish an item of a list from its siblings, sorted.
const KEYS: [&str; 3] = ["id", "key", "name"];

impl<'a> Set<'a> {
    /// Returns the paths of every scalar and null of a value. An item of a list is identified by those of its fields
    /// `key`, `id` and `name` that are scalars, or else by its index. Everything deeper than [`MAX_DEPTH`] is ignored.
    ///
    /// # Example: items with and without a name
    /// ```
    /// use kubeshape_smd::{Bump, ToValue, fieldpath::Set};
    /// let arena = Bump::new();
    /// let json = serde_json::json!({"a": [{"name": "x", "v": null}, 5], "b": {}});
    /// let set = Set::from_value(json.to_value(&arena), &arena);
    /// assert_eq!(set.to_string(), ".a[1]\n.a[name=\"x\"].name\n.a[name=\"x\"].v");
    /// ```
    pub fn from_value(value: Value<'a>, arena: &'a Bump) -> Set<'a> {
        node(value, MAX_DEPTH, &mut Stack::default(), arena)
    }
}

fn node<'a>(value: Value<'a>, depth: usize, stack: &mut Stack<'a>, arena: &'a Bump) -> Set<'a> {
    let Some(depth) = depth.checked_sub(1) else { return Set::EMPTY };
    let mark = stack.mark();
    let mut child = |element, value: Value<'a>| {
        let leaf = !matches!(value, Value::List(_) | Value::Map(_));
        let below = if leaf { Set::EMPTY } else { node(value, depth, stack, arena) };
        stack.push(element, leaf, below);
    };
    match value {
        Value::Map(map) => map.entries().iter().for_each(|(name, value)| child(PathElement::FieldName(name), *value)),
        Value::List(items) => {
            for (index, item) in (0..).zip(items) {
                child(element(index, *item, arena), *item);
            }
        }
        _ => {}
    }
    stack.close(mark, arena)
}

fn element<'a>(index: i64, item: Value<'a>, arena: &'a Bump) -> PathElement<'a> {
    let mut fields = [("", Value::Null); KEYS.len()];
    let mut count = 0;
    for name in KEYS {
        match item.get(name) {
            None | Some(Value::Null | Value::List(_) | Value::Map(_)) => {}
            Some(value) => {
                fields[count] = (name, value);
                count += 1;
            }
        }
    }
    match count {
        0 => PathElement::Index(index),
        _ => PathElement::Key(arena.alloc_slice_copy(&fields[..count])),
    }
}
