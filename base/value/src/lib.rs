//! Values of objects, as structured merge diff uses them.
//!
//! A [`Value`] is a small copy of JSON's data model that borrows its strings and its contents, so a merge shares
//! unchanged parts. Anything that implements [`ToValue`] is converted in a single walk: JSON values, documents read by
//! `kubeshape-yaml`, and values themselves. Maps are sorted once, when they are converted. Then a walk over two maps is
//! a merge of sorted lists.
//!
//! Integers and floats are different values, as upstream: they compare by number, but they print differently. An absent
//! value is not a [`Value`]: where one may be absent, the type is `Option<Value>`.

mod convert;
mod display;
mod json;
mod order;
pub mod read;
mod stop;
#[cfg(test)]
mod tests;

use kubeshape_schema::Gvk;
use std::cmp::Ordering;

pub use convert::ToValue;
pub use json::{GoSyntax, GoText, NotFinite};
pub use kubeshape_schema::Bump;
pub use order::{string_bits, string_prefix};
pub use read::{Compat, JsonError, MAX_DEPTH};
pub use stop::Stop;

/// A value that borrows its strings and contents.
///
/// Comparing with `==` follows upstream: an integer equals the float of the same number, `-0` equals `0`, and maps do
/// not depend on the order of their keys. The order is upstream's total order: numbers, strings, booleans, lists, maps,
/// null.
///
/// # Example: integers and floats
/// ```
/// use kubeshape_value::Value;
/// assert_eq!(Value::Int(1), Value::Float(1.0));
/// assert_eq!(Value::Int(3_000_000_000).to_string(), "3000000000");
/// assert_eq!(Value::Float(3e9).to_string(), "3e+09");
/// assert!(Value::String("a") < Value::Bool(false));
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    /// `null`, which is not the same as an absent value.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer, as read from an object.
    Int(i64),
    /// Any other number, and every number of a field set.
    Float(f64),
    /// A string.
    String(&'a str),
    /// A list.
    List(&'a [Value<'a>]),
    /// A map.
    Map(Map<'a>),
}

/// The entries of a map, sorted by the bytes of their keys, without duplicates.
#[derive(Clone, Copy, Debug, Default)]
pub struct Map<'a> {
    entries: &'a [(&'a str, Value<'a>)],
}

impl Value<'_> {
    /// Returns a copy that lives in the arena, with its strings.
    pub fn copy_into(self, arena: &Bump) -> Value<'_> {
        match self {
            Value::Null => Value::Null,
            Value::Bool(yes) => Value::Bool(yes),
            Value::Int(n) => Value::Int(n),
            Value::Float(n) => Value::Float(n),
            Value::String(text) => Value::String(arena.alloc_str(text)),
            Value::List(items) => {
                Value::List(arena.alloc_slice_fill_iter(items.iter().map(|item| item.copy_into(arena))))
            }
            Value::Map(map) => Value::Map(Map::sorted(arena.alloc_slice_fill_iter(
                map.entries().iter().map(|(key, value)| (&*arena.alloc_str(key), value.copy_into(arena))),
            ))),
        }
    }
}

impl<'a> Value<'a> {
    /// Returns the type that an object names in its `apiVersion` and `kind`.
    ///
    /// # Example
    /// ```
    /// use kubeshape_schema::Gvk;
    /// use kubeshape_value::{Bump, ToValue};
    /// let arena = Bump::new();
    /// let object = serde_json::json!({"apiVersion": "apps/v1", "kind": "Deployment"});
    /// assert_eq!(object.to_value(&arena).gvk(), Gvk::new("apps/v1", "Deployment"));
    /// ```
    pub fn gvk(self) -> Gvk<'a> {
        let text = |key| self.get(key).and_then(Value::as_str).unwrap_or_default();
        Gvk::new(text("apiVersion"), text("kind"))
    }

    /// Returns the items if this is a list.
    #[inline]
    pub fn as_list(self) -> Option<&'a [Value<'a>]> {
        match self {
            Value::List(items) => Some(items),
            _ => None,
        }
    }

    /// Returns the map if this is one.
    #[inline]
    pub fn as_map(self) -> Option<Map<'a>> {
        match self {
            Value::Map(map) => Some(map),
            _ => None,
        }
    }

    /// Returns the contents if this is a string.
    #[inline]
    pub fn as_str(self) -> Option<&'a str> {
        match self {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns whether this is `null`.
    #[inline]
    pub fn is_null(self) -> bool {
        matches!(self, Value::Null)
    }

    /// Returns the value of a key if this is a map that has it.
    #[inline]
    pub fn get(self, key: &str) -> Option<Value<'a>> {
        self.as_map()?.get(key)
    }
}

/// Compares two keys by their bytes, as [`str::cmp`]. Most differ in the first byte, for which no call is needed.
#[inline]
pub fn compare_keys(a: &str, b: &str) -> Ordering {
    match (a.as_bytes().first(), b.as_bytes().first()) {
        (Some(first), Some(other)) if first != other => first.cmp(other),
        _ => a.cmp(b),
    }
}

impl<'a> Map<'a> {
    /// A map without entries.
    pub const EMPTY: Map<'static> = Map { entries: &[] };

    /// Creates a map of entries that must be sorted.
    ///
    /// Returns `None` if a key is not greater than the one before it.
    pub fn from_sorted(entries: &'a [(&'a str, Value<'a>)]) -> Option<Self> {
        entries.windows(2).all(|pair| pair[0].0 < pair[1].0).then_some(Map { entries })
    }

    /// Creates a map of entries that the caller knows to be sorted.
    #[inline]
    pub fn sorted(entries: &'a [(&'a str, Value<'a>)]) -> Self {
        debug_assert!(entries.windows(2).all(|pair| pair[0].0 < pair[1].0), "{entries:?}");
        Map { entries }
    }

    /// Sorts entries. Of a repeated key, the last entry is kept, as when Go reads JSON.
    pub fn from_entries(entries: Vec<(&'a str, Value<'a>)>, arena: &'a crate::Bump) -> Self {
        Map::in_place(arena.alloc_slice_fill_iter(entries))
    }

    /// Does the same as [`from_entries`](Self::from_entries), for entries that are already in an arena.
    pub fn in_place(entries: &'a mut [(&'a str, Value<'a>)]) -> Self {
        if entries.is_sorted_by(|a, b| compare_keys(a.0, b.0).is_lt()) {
            return Map { entries };
        }
        entries.sort_by(|a, b| a.0.cmp(b.0));
        let mut kept = 0;
        for at in 0..entries.len() {
            if at + 1 == entries.len() || entries[at].0 != entries[at + 1].0 {
                entries[kept] = entries[at];
                kept += 1;
            }
        }
        Map { entries: &entries[..kept] }
    }

    /// Returns the entries in order.
    #[inline]
    pub fn entries(self) -> &'a [(&'a str, Value<'a>)] {
        self.entries
    }

    /// Returns the number of entries.
    #[inline]
    pub fn len(self) -> usize {
        self.entries.len()
    }

    /// Returns whether there are no entries.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the value of a key.
    #[inline]
    pub fn get(self, key: &str) -> Option<Value<'a>> {
        let at = self.entries.binary_search_by(|entry| compare_keys(entry.0, key)).ok()?;
        Some(self.entries[at].1)
    }

    /// Returns the map with this key set, or without it.
    #[must_use]
    pub fn with(self, key: &'a str, value: Option<Value<'a>>, arena: &'a crate::Bump) -> Self {
        let split = self.entries.partition_point(|entry| entry.0 < key);
        let (before, behind) = self.entries.split_at(split);
        let behind = match behind.first() {
            Some(first) if first.0 == key => &behind[1..],
            _ => behind,
        };
        let own = value.map(|value| (key, value));
        let count = before.len() + usize::from(own.is_some()) + behind.len();
        let mut entries = before.iter().copied().chain(own).chain(behind.iter().copied());
        Map { entries: arena.alloc_slice_fill_with(count, |_| entries.next().unwrap_or((key, Value::Null))) }
    }
}
