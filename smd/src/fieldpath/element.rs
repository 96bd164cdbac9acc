//! One step of a path.

use crate::Bump;
use crate::value::{Map, Value};
use std::cmp::Ordering;

/// One step of a path: what tells a child from its siblings.
///
/// The order is upstream's: field names, then keys, values, indices (spec: smd, "Path elements").
///
/// # Example: how path elements read
/// ```
/// use kubeshape_smd::{Value, fieldpath::PathElement};
/// assert_eq!(PathElement::FieldName("spec").to_string(), ".spec");
/// assert_eq!(PathElement::Value(Value::String("a")).to_string(), "[=\"a\"]");
/// assert_eq!(PathElement::Index(3).to_string(), "[3]");
/// ```
#[derive(Clone, Copy, Debug)]
pub enum PathElement<'a> {
    /// `.name`: a field of a struct, or an entry of a map.
    FieldName(&'a str),
    /// `[k=v,l=w]`: the item of a list whose key fields have these values, sorted by name. A name can come
    /// twice only in what was read from JSON.
    Key(&'a [(&'a str, Value<'a>)]),
    /// `[=v]`: the item of a set.
    Value(Value<'a>),
    /// `[3]`: the item of a list that has no keys.
    Index(i64),
    /// An item of which its list's type says no name: one without keys, or of a list that is neither a set nor has
    /// keys. A set that holds it cannot be written.
    Nameless,
}

/// A path: the elements from the root down.
pub type Path<'a> = [PathElement<'a>];

/// The first eight bytes of a text, in their order.
#[inline]
pub(crate) fn text_prefix(text: &str) -> u64 {
    let mut prefix = [0; 8];
    match text.as_bytes().first_chunk::<8>() {
        Some(chunk) => prefix = *chunk,
        None => prefix.iter_mut().zip(text.bytes()).for_each(|(to, byte)| *to = byte),
    }
    u64::from_be_bytes(prefix)
}

impl PathElement<'_> {
    /// A number that is in the order of the elements: of two elements whose numbers differ, that with the lesser
    /// number is the lesser.
    #[inline]
    pub(crate) fn prefix(&self) -> u64 {
        match self {
            PathElement::FieldName(name) => text_prefix(name) >> 8,
            PathElement::Key(fields) => 0x40 << 56 | fields.first().map_or(0, |(name, _)| text_prefix(name) >> 8),
            PathElement::Value(value) => 0x80 << 56 | value.prefix() >> 8,
            PathElement::Index(index) => 0xc0 << 56 | (index.cast_unsigned() ^ 1 << 63) >> 8,
            PathElement::Nameless => u64::MAX,
        }
    }

    fn rank(self) -> u8 {
        match self {
            PathElement::FieldName(_) => 0,
            PathElement::Key(_) => 1,
            PathElement::Value(_) => 2,
            PathElement::Index(_) => 3,
            PathElement::Nameless => 4,
        }
    }

    /// A copy that lives in the arena, texts and all.
    pub fn copy_into(self, arena: &Bump) -> PathElement<'_> {
        match self {
            PathElement::FieldName(name) => PathElement::FieldName(arena.alloc_str(name)),
            PathElement::Key(fields) => PathElement::Key(arena.alloc_slice_fill_iter(
                fields.iter().map(|(name, value)| (&*arena.alloc_str(name), value.copy_into(arena))),
            )),
            PathElement::Value(value) => PathElement::Value(value.copy_into(arena)),
            PathElement::Index(index) => PathElement::Index(index),
            PathElement::Nameless => PathElement::Nameless,
        }
    }
}

impl Value<'_> {
    /// A copy that lives in the arena, texts and all.
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

impl PartialEq for PathElement<'_> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        match (*self, *other) {
            (PathElement::FieldName(a), PathElement::FieldName(b)) => a == b,
            (PathElement::Key(a), PathElement::Key(b)) => std::ptr::eq(a, b) || a == b,
            (PathElement::Value(a), PathElement::Value(b)) => a == b,
            (PathElement::Index(a), PathElement::Index(b)) => a == b,
            (PathElement::Nameless, PathElement::Nameless) => true,
            _ => false,
        }
    }
}

impl Eq for PathElement<'_> {}

impl PartialOrd for PathElement<'_> {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for PathElement<'_> {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        match (*self, *other) {
            (PathElement::FieldName(a), PathElement::FieldName(b)) => {
                if std::ptr::eq(a, b) {
                    Ordering::Equal
                } else {
                    texts(a, b)
                }
            }
            (PathElement::Key(a), PathElement::Key(b)) => {
                if std::ptr::eq(a, b) {
                    Ordering::Equal
                } else {
                    keys(a, b)
                }
            }
            (PathElement::Value(Value::String(a)), PathElement::Value(Value::String(b))) => texts(a, b),
            (PathElement::Value(a), PathElement::Value(b)) => a.cmp(&b),
            (PathElement::Index(a), PathElement::Index(b)) => a.cmp(&b),
            (a, b) => a.rank().cmp(&b.rank()),
        }
    }
}

/// The order of texts. Most differ in their first byte already, which is cheaper than a call.
#[inline]
fn texts(a: &str, b: &str) -> Ordering {
    match (a.as_bytes(), b.as_bytes()) {
        ([x, ..], [y, ..]) if x != y => x.cmp(y),
        _ => a.cmp(b),
    }
}

/// The order of keys: by their names and values in turn, the shorter first.
#[inline]
fn keys(a: &[(&str, Value<'_>)], b: &[(&str, Value<'_>)]) -> Ordering {
    for ((name, value), (other_name, other)) in a.iter().zip(b) {
        let order = texts(name, other_name).then_with(|| match (*value, *other) {
            (Value::String(value), Value::String(other)) => texts(value, other),
            (value, other) => value.cmp(&other),
        });
        if order.is_ne() {
            return order;
        }
    }
    a.len().cmp(&b.len())
}
