//! Arithmetic and comparison of numbers.

use super::{List, Text, Value, time};
use std::cmp::Ordering;
use std::sync::Arc;

const INT_OVERFLOW: &str = "integer overflow";
const UINT_OVERFLOW: &str = "unsigned integer overflow";

/// Compares two numbers. Returns `None` if one is not a number.
pub(crate) fn compare_numbers(a: &Value<'_>, b: &Value<'_>) -> Option<Ordering> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Uint(a), Value::Uint(b)) => Some(a.cmp(b)),
        (Value::Double(a), Value::Double(b)) => a.partial_cmp(b),
        (Value::Int(a), Value::Uint(b)) => Some(i128::from(*a).cmp(&i128::from(*b))),
        (Value::Uint(a), Value::Int(b)) => Some(i128::from(*a).cmp(&i128::from(*b))),
        (Value::Double(a), Value::Int(b)) => double_int(*a, *b),
        (Value::Int(a), Value::Double(b)) => double_int(*b, *a).map(Ordering::reverse),
        (Value::Double(a), Value::Uint(b)) => double_uint(*a, *b),
        (Value::Uint(a), Value::Double(b)) => double_uint(*b, *a).map(Ordering::reverse),
        _ => None,
    }
}

#[allow(clippy::cast_precision_loss)]
fn double_int(a: f64, b: i64) -> Option<Ordering> {
    if a < i64::MIN as f64 {
        Some(Ordering::Less)
    } else if a > i64::MAX as f64 {
        Some(Ordering::Greater)
    } else {
        a.partial_cmp(&(b as f64))
    }
}

#[allow(clippy::cast_precision_loss)]
fn double_uint(a: f64, b: u64) -> Option<Ordering> {
    if a < 0.0 {
        Some(Ordering::Less)
    } else if a > u64::MAX as f64 {
        Some(Ordering::Greater)
    } else {
        a.partial_cmp(&(b as f64))
    }
}

fn int<'a>(value: Option<i64>) -> Value<'a> {
    value.map_or_else(|| Value::error(INT_OVERFLOW), Value::Int)
}

fn uint<'a>(value: Option<u64>) -> Value<'a> {
    value.map_or_else(|| Value::error(UINT_OVERFLOW), Value::Uint)
}

fn duration<'a>(value: Option<i64>) -> Value<'a> {
    value.map_or_else(|| Value::error(INT_OVERFLOW), Value::Duration)
}

fn unmatched<'a>(other: &Value<'a>) -> Value<'a> {
    if other.is_error() { other.clone() } else { Value::no_such_overload() }
}

/// Returns `a + b`. Lists with one owner grow in place.
pub(crate) fn add<'a>(a: Value<'a>, b: &Value<'a>) -> Value<'a> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => int(a.checked_add(*b)),
        (Value::Uint(a), Value::Uint(b)) => uint(a.checked_add(*b)),
        (Value::Double(a), Value::Double(b)) => Value::Double(a + b),
        (Value::String(a), Value::String(b)) => joined(a, b),
        (Value::Bytes(a), Value::Bytes(b)) => Value::Bytes(a.iter().chain(b.iter()).copied().collect()),
        (Value::Duration(a), Value::Duration(b)) => duration(a.checked_add(*b)),
        (Value::Duration(a), Value::Timestamp(b)) => time::add(*b, a),
        (Value::Timestamp(a), Value::Duration(b)) => time::add(a, *b),
        (Value::List(a), Value::List(b)) => {
            if let Some(typed) = a.typed() {
                return typed.concatenate(&a, b);
            }
            if a.is_empty() {
                return Value::List(b.clone());
            }
            if b.is_empty() {
                return Value::List(a);
            }
            if let Some(parts) = a.parts(b) {
                return Value::List(parts);
            }
            let mut items = match a {
                List::Made(items) | List::Added(items) => items,
                other => Arc::new(other.iter().collect()),
            };
            Arc::make_mut(&mut items).extend(b.iter());
            Value::List(List::Added(items))
        }
        (_, b) => unmatched(b),
    }
}

fn joined<'a>(a: Text<'a>, b: &Text<'a>) -> Value<'a> {
    // A short string is built on the stack, so that memory is allocated once.
    const SHORT: usize = 128;
    if b.is_empty() {
        return Value::String(a);
    }
    if a.is_empty() {
        return Value::String(b.clone());
    }
    let mut short = [0; SHORT];
    if let Some((start, rest)) = short.split_at_mut_checked(a.len())
        && let Some(end) = rest.get_mut(..b.len())
    {
        start.copy_from_slice(a.as_bytes());
        end.copy_from_slice(b.as_bytes());
        if let Ok(text) = std::str::from_utf8(&short[..a.len() + b.len()]) {
            return Value::text(text);
        }
    }
    let mut text = String::with_capacity(a.len() + b.len());
    text.push_str(&a);
    text.push_str(b);
    Value::text(text)
}

/// `a - b`
pub(crate) fn subtract<'a>(a: &Value<'a>, b: &Value<'a>) -> Value<'a> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => int(a.checked_sub(*b)),
        (Value::Uint(a), Value::Uint(b)) => uint(a.checked_sub(*b)),
        (Value::Double(a), Value::Double(b)) => Value::Double(a - b),
        (Value::Duration(a), Value::Duration(b)) => duration(a.checked_sub(*b)),
        (Value::Timestamp(a), Value::Duration(b)) => match b.checked_neg() {
            Some(nanos) => time::add(*a, nanos),
            None => Value::error(INT_OVERFLOW),
        },
        (Value::Timestamp(a), Value::Timestamp(b)) => duration(time::between(*a, *b)),
        (_, b) => unmatched(b),
    }
}

/// `a * b`
pub(crate) fn multiply<'a>(a: &Value<'a>, b: &Value<'a>) -> Value<'a> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => int(a.checked_mul(*b)),
        (Value::Uint(a), Value::Uint(b)) => uint(a.checked_mul(*b)),
        (Value::Double(a), Value::Double(b)) => Value::Double(a * b),
        (_, b) => unmatched(b),
    }
}

/// `a / b`
pub(crate) fn divide<'a>(a: &Value<'a>, b: &Value<'a>) -> Value<'a> {
    match (a, b) {
        (Value::Int(_), Value::Int(0)) | (Value::Uint(_), Value::Uint(0)) => Value::error("division by zero"),
        (Value::Int(a), Value::Int(b)) => int(a.checked_div(*b)),
        (Value::Uint(a), Value::Uint(b)) => uint(a.checked_div(*b)),
        (Value::Double(a), Value::Double(b)) => Value::Double(a / b),
        (_, b) => unmatched(b),
    }
}

/// `a % b`
pub(crate) fn modulo<'a>(a: &Value<'a>, b: &Value<'a>) -> Value<'a> {
    match (a, b) {
        (Value::Int(_), Value::Int(0)) | (Value::Uint(_), Value::Uint(0)) => Value::error("modulus by zero"),
        (Value::Int(a), Value::Int(b)) => int(a.checked_rem(*b)),
        (Value::Uint(a), Value::Uint(b)) => uint(a.checked_rem(*b)),
        (_, b) => unmatched(b),
    }
}

/// `-a`
pub(crate) fn negate<'a>(a: &Value<'a>) -> Value<'a> {
    match a {
        Value::Int(a) => int(a.checked_neg()),
        Value::Double(a) => Value::Double(-a),
        Value::Duration(a) => duration(a.checked_neg()),
        other => unmatched(other),
    }
}
