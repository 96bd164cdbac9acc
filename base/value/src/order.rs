//! Equality and the total order of values (upstream `value.Equals`, `value.Compare`).

use crate::{Map, Value};
use std::cmp::Ordering;

impl PartialEq for Value<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (*self, *other) {
            (Value::Null, Value::Null) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::Float(a), Value::Float(b)) => a == b,
            (Value::Int(a), Value::Float(b)) | (Value::Float(b), Value::Int(a)) => as_double(a) == b,
            (Value::String(a), Value::String(b)) => a == b,
            (Value::List(a), Value::List(b)) => std::ptr::eq(a, b) || a == b,
            (Value::Map(a), Value::Map(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Value<'_> {}

impl PartialEq for Map<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.entries, other.entries) || self.entries == other.entries
    }
}

impl Eq for Map<'_> {}

impl PartialOrd for Value<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Value<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        match (*self, *other) {
            (Value::Int(a), Value::Int(b)) => a.cmp(&b),
            (Value::Int(_) | Value::Float(_), Value::Int(_) | Value::Float(_)) => {
                doubles(number(*self), number(*other))
            }
            (Value::String(a), Value::String(b)) => a.cmp(b),
            (Value::Bool(a), Value::Bool(b)) => a.cmp(&b),
            (Value::List(a), Value::List(b)) => a.cmp(b),
            (Value::Map(a), Value::Map(b)) => a.cmp(&b),
            (a, b) => rank(a).cmp(&rank(b)),
        }
    }
}

impl PartialOrd for Map<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Map<'_> {
    /// Walks the union of the keys. A map that ends first is less, but if only one map has a key, the map *without* it
    /// is greater.
    fn cmp(&self, other: &Self) -> Ordering {
        let (left, right) = (self.entries, other.entries);
        let mut at = 0;
        loop {
            match (left.get(at), right.get(at)) {
                (None, None) => return Ordering::Equal,
                (None, Some(_)) => return Ordering::Less,
                (Some(_), None) => return Ordering::Greater,
                (Some((a, x)), Some((b, y))) => match a.cmp(b) {
                    // Only the left map has the key.
                    Ordering::Less => return Ordering::Less,
                    Ordering::Greater => return Ordering::Greater,
                    Ordering::Equal => match x.cmp(y) {
                        Ordering::Equal => at += 1,
                        order => return order,
                    },
                },
            }
        }
    }
}

impl Value<'_> {
    /// Returns a prefix of the value that sorts like the value: if two prefixes differ, the value with the lesser
    /// prefix is less. The flag is set if different values may share the prefix: of such values, at least all but the
    /// first have it set.
    #[inline]
    pub fn bits(self) -> (u64, bool) {
        match self {
            Value::Int(_) | Value::Float(_) => {
                // From here on, neighbouring integers may be equal as floats.
                const LIMIT: f64 = 9_007_199_254_740_992.0;
                let n = number(self);
                if n.is_nan() {
                    return (u64::MAX >> 2, true);
                }
                // Both zeros are equal here. For negative numbers, the order of the bits is reversed.
                let bits = (n + 0.0).to_bits();
                let ordered = if bits >> 63 == 0 { bits ^ 1 << 63 } else { bits.wrapping_neg() };
                (ordered >> 2, ordered & 3 != 0 || n.abs() >= LIMIT)
            }
            Value::String(text) => {
                let (bits, more) = string_bits(text);
                (1 << 62 | bits >> 2, more || bits & 3 != 0)
            }
            Value::Bool(yes) => (8 << 60 | u64::from(yes) << 59, false),
            Value::List(_) => (9 << 60, true),
            Value::Map(_) => (10 << 60, true),
            Value::Null => (11 << 60, false),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "upstream compares an integer with a float as floats")]
fn as_double(n: i64) -> f64 {
    n as f64
}

fn number(value: Value<'_>) -> f64 {
    match value {
        Value::Int(n) => as_double(n),
        Value::Float(n) => n,
        _ => f64::NAN,
    }
}

/// Not-a-number does not occur in values read from JSON or YAML. It is last, so that the order is total.
fn doubles(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

fn rank(value: Value<'_>) -> u8 {
    match value {
        Value::Int(_) | Value::Float(_) => 0,
        Value::String(_) => 1,
        Value::Bool(_) => 2,
        Value::List(_) => 3,
        Value::Map(_) => 4,
        Value::Null => 5,
    }
}

/// Returns the first eight bytes of a string as a number that sorts like them. A shorter string is padded with zeros.
#[inline]
pub fn string_prefix(text: &str) -> u64 {
    let bytes = text.as_bytes();
    let at = |place: usize| bytes.get(place).map_or(0, |byte| u64::from(*byte) << (56 - 8 * place));
    if let Some(chunk) = bytes.first_chunk::<8>() {
        u64::from_be_bytes(*chunk)
    } else if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        // The two halves meet or overlap.
        u64::from(u32::from_be_bytes(*first)) << 32 | u64::from(u32::from_be_bytes(*last)) << (64 - 8 * bytes.len())
    } else {
        at(0) | at(1) | at(2)
    }
}

/// Returns the [`string_prefix`], and whether other strings have the same one: it is longer than eight bytes, or ends
/// in a zero byte.
#[inline]
pub fn string_bits(text: &str) -> (u64, bool) {
    let bits = string_prefix(text);
    (bits, 64 - (bits.trailing_zeros() & !7) as usize != 8 * text.len())
}
