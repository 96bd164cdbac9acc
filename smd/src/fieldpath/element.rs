//! One step of a path.

use crate::Bump;
use crate::value::{Value, string_bits, string_prefix};
use std::cmp::Ordering;

/// One step of a path. It distinguishes a child from its siblings.
///
/// The order is that of upstream's `PathElement.Compare`: field names, then keys, values, indices.
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
    /// `[k=v,l=w]`: the item of a list whose key fields have these values, sorted by name. A name can be repeated only
    /// in elements read from JSON.
    Key(&'a [(&'a str, Value<'a>)]),
    /// `[=v]`: the item of a set.
    Value(Value<'a>),
    /// `[3]`: the item of a list without keys.
    Index(i64),
    /// An item that cannot be identified by its list's type: it lacks keys, or the list is neither a set nor has keys.
    /// A set that contains it cannot be written.
    Nameless,
}

/// A path: the elements from the root down.
pub type Path<'a> = [PathElement<'a>];

/// Returns a prefix of a key that sorts like the key: its first name, a zero byte, and the start of the value. The flag
/// is set if different keys may share the prefix.
#[inline]
fn key_bits(fields: &[(&str, Value<'_>)]) -> (u64, bool) {
    let Some((name, value)) = fields.first() else { return (0, true) };
    let bits = string_prefix(name);
    // Finds the first zero byte: in reverse byte order, it is the lowest byte that borrows and was not above 0x80.
    let reversed = bits.swap_bytes();
    let zeros = reversed.wrapping_sub(0x0101_0101_0101_0101) & !reversed & 0x8080_8080_8080_8080;
    let end = (zeros.trailing_zeros() & !7) + 8;
    if end > 56 {
        return (bits, true);
    }
    if end as usize != 8 * (name.len() + 1) {
        // The zero byte belongs to the name: it sorts after names that end there, whatever their value.
        return (bits | u64::MAX >> end, true);
    }
    let (value, more) = value.bits();
    (bits | value >> end, more || fields.len() > 1 || value << (64 - end) != 0)
}

/// Returns whether all elements with this [`PathElement::prefix`] are equal.
#[inline]
pub(crate) fn exact(prefix: u64) -> bool {
    prefix & 1 == 0
}

impl PathElement<'_> {
    /// Returns a number that sorts like the elements: of two elements with different numbers, the one with the lesser
    /// number is less. Elements with the same [`exact`] number are equal.
    ///
    /// The upper two bits have the kind of element, the next bits its start, and the last bit says whether the element
    /// is longer. An element that is not longer sorts before a longer one with the same start.
    #[inline]
    pub(crate) fn prefix(&self) -> u64 {
        let (kind, (bits, more)) = match self {
            PathElement::FieldName(name) => (0, string_bits(name)),
            PathElement::Key(fields) => (1, key_bits(fields)),
            PathElement::Value(value) => (2, value.bits()),
            PathElement::Index(index) => {
                const LIMIT: i64 = 1 << 60;
                let near = (*index).clamp(-LIMIT, LIMIT - 1);
                (3, ((near + LIMIT).cast_unsigned() << 3, near == -LIMIT || near == LIMIT - 1))
            }
            PathElement::Nameless => return u64::MAX,
        };
        kind << 62 | bits >> 3 << 1 | u64::from(more || bits & 7 != 0)
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

    /// Returns a copy that lives in the arena, with its strings.
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

/// Compares strings. Most differ in their first byte, and comparing that is cheaper than a call.
#[inline]
fn texts(a: &str, b: &str) -> Ordering {
    match (a.as_bytes(), b.as_bytes()) {
        ([x, ..], [y, ..]) if x != y => x.cmp(y),
        _ => a.cmp(b),
    }
}

/// Compares keys: by their names and values in turn, the shorter first.
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
