//! Comparisons of filters (upstream: client-go's copy of `text/template`).

use super::Item;
use super::error::Error;
use kubeshape_value::Value;

#[derive(Clone, Copy)]
enum Basic<'a> {
    Bool(bool),
    Int(i64),
    Uint(u8),
    Float(f64),
    String(&'a str),
}

fn basic(item: Item<'_>) -> Result<Basic<'_>, Error> {
    if let Item::Byte(byte) = item {
        return Ok(Basic::Uint(byte));
    }
    match item.value() {
        Some(Value::Bool(yes)) => Ok(Basic::Bool(yes)),
        Some(Value::Int(n)) => Ok(Basic::Int(n)),
        Some(Value::Float(n)) => Ok(Basic::Float(n)),
        Some(Value::String(text)) => Ok(Basic::String(text)),
        _ => Err(Error::ComparisonType),
    }
}

/// Returns whether a comparison holds.
pub(super) fn holds(left: Item<'_>, operator: &str, right: Item<'_>) -> Result<bool, Error> {
    match operator {
        "<" => less(left, right),
        ">" => Ok(!less_or_equal(left, right)?),
        "==" => equal(left, right),
        "!=" => Ok(!equal(left, right)?),
        "<=" => less_or_equal(left, right),
        ">=" => Ok(!less(left, right)?),
        other => Err(Error::Operator(other.to_owned())),
    }
}

#[expect(clippy::float_cmp, reason = "as upstream compares")]
fn equal(left: Item<'_>, right: Item<'_>) -> Result<bool, Error> {
    match (basic(left)?, basic(right)?) {
        (Basic::Bool(a), Basic::Bool(b)) => Ok(a == b),
        (Basic::Int(a), Basic::Int(b)) => Ok(a == b),
        (Basic::Uint(a), Basic::Uint(b)) => Ok(a == b),
        (Basic::Float(a), Basic::Float(b)) => Ok(a == b),
        (Basic::String(a), Basic::String(b)) => Ok(a == b),
        (Basic::Int(a), Basic::Uint(b)) | (Basic::Uint(b), Basic::Int(a)) => Ok(a == i64::from(b)),
        _ => Err(Error::Comparison),
    }
}

fn less(left: Item<'_>, right: Item<'_>) -> Result<bool, Error> {
    match (basic(left)?, basic(right)?) {
        (Basic::Bool(_), Basic::Bool(_)) => Err(Error::ComparisonType),
        (Basic::Int(a), Basic::Int(b)) => Ok(a < b),
        (Basic::Uint(a), Basic::Uint(b)) => Ok(a < b),
        (Basic::Float(a), Basic::Float(b)) => Ok(a < b),
        (Basic::String(a), Basic::String(b)) => Ok(a < b),
        (Basic::Int(a), Basic::Uint(b)) => Ok(a < i64::from(b)),
        (Basic::Uint(a), Basic::Int(b)) => Ok(i64::from(a) < b),
        _ => Err(Error::Comparison),
    }
}

fn less_or_equal(left: Item<'_>, right: Item<'_>) -> Result<bool, Error> {
    Ok(less(left, right)? || equal(left, right)?)
}
