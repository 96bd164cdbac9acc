//! Equality and the total order of values (spec: smd, "Values"; upstream `value.Equals`, `value.Compare`).

use super::{Map, Value};
use crate::fieldpath::text_prefix;
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
    /// Walks the union of the keys. A map that has fewer entries than were walked is the lesser one, but a key
    /// that only one map has makes the map *without* it the greater one.
    fn cmp(&self, other: &Self) -> Ordering {
        let (left, right) = (self.entries, other.entries);
        let mut at = 0;
        loop {
            match (left.get(at), right.get(at)) {
                (None, None) => return Ordering::Equal,
                (None, Some(_)) => return Ordering::Less,
                (Some(_), None) => return Ordering::Greater,
                (Some((a, x)), Some((b, y))) => match a.cmp(b) {
                    // The left map has a key that the right one lacks.
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
    /// A number that is in the order of the values: of two values whose numbers differ, that with the lesser number is
    /// the lesser.
    pub(crate) fn prefix(self) -> u64 {
        let rank = u64::from(rank(self)) << 56;
        rank | match self {
            Value::Bool(yes) => u64::from(yes),
            Value::String(text) => text_prefix(text) >> 8,
            Value::Int(_) | Value::Float(_) => {
                // Zero has one sign here. Below zero the order of the bits is the wrong way round.
                let n = number(self) + 0.0;
                let bits = n.to_bits();
                let ordered = if bits >> 63 == 0 { bits ^ 1 << 63 } else { !bits };
                if n.is_nan() { u64::MAX >> 8 } else { ordered >> 8 }
            }
            _ => 0,
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

/// Not a number does not occur in what is read from JSON or YAML; it is put behind everything so that the order is total.
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
