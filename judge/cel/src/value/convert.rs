//! Conversions between types: `int(…)`, `string(…)` and the like.

use super::{Value, print, time};
use crate::types::Type;
use kubeshape_yaml::go::time::parse_duration;
use std::sync::Arc;

const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;
const TWO_TO_64: f64 = 18_446_744_073_709_551_616.0;

pub(crate) fn double_to_int(value: f64) -> Option<i64> {
    (value > -TWO_TO_63 && value < TWO_TO_63).then_some(value as i64)
}

#[allow(clippy::cast_sign_loss)]
pub(crate) fn double_to_uint(value: f64) -> Option<u64> {
    (0.0..TWO_TO_64).contains(&value).then_some(value as u64)
}

/// Parses a string like Go's `strconv.ParseFloat`.
pub(crate) fn parse_double(text: &str) -> Option<f64> {
    let joined;
    let text = if text.contains('_') {
        joined = has_underscores_between_digits(text).then(|| text.replace('_', ""))?;
        &joined
    } else {
        text
    };
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let lower = unsigned.to_ascii_lowercase();
    if let Some(hex) = lower.strip_prefix("0x") {
        return hex_double(hex).map(|value| if text.starts_with('-') { -value } else { value });
    }
    if lower == "nan" && unsigned.len() < text.len() {
        return None;
    }
    let value: f64 = text.parse().ok()?;
    (value.is_finite() || matches!(lower.as_str(), "inf" | "infinity" | "nan")).then_some(value)
}

/// Returns whether underscores are only between digits, or between a base prefix and a digit, as Go allows them.
fn has_underscores_between_digits(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let hex = unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X"));
    let mut before_is_digit = hex.is_some();
    let mut underscore = false;
    for c in hex.unwrap_or(unsigned).chars() {
        let is_digit = c.is_ascii_digit() || hex.is_some() && c.is_ascii_hexdigit();
        if underscore && !is_digit || c == '_' && !before_is_digit {
            return false;
        }
        underscore = c == '_';
        before_is_digit = is_digit;
    }
    !underscore
}

fn hex_double(text: &str) -> Option<f64> {
    let (mantissa, exponent) = text.split_once('p')?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut value = 0.0f64;
    for c in whole.chars() {
        value = value * 16.0 + f64::from(c.to_digit(16)?);
    }
    let mut scale = 1.0 / 16.0;
    for c in fraction.chars() {
        value += f64::from(c.to_digit(16)?) * scale;
        scale /= 16.0;
    }
    let value = value * 2f64.powi(exponent.parse().ok()?);
    value.is_finite().then_some(value)
}

fn parse_bool(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

/// Converts the value to another type, or returns upstream's error.
pub(crate) fn convert<'a>(value: &Value<'a>, to: &Type) -> Value<'a> {
    if matches!(to, Type::Type(_)) {
        return Value::Type(value.type_of());
    }
    if let Value::Error(_) = value {
        return value.clone();
    }
    let int_overflow = || Value::error("integer overflow");
    let uint_overflow = || Value::error("unsigned integer overflow");
    let converted = match (value, to) {
        (Value::Int(i), Type::Uint) => Some(u64::try_from(*i).map_or_else(|_| uint_overflow(), Value::Uint)),
        #[allow(clippy::cast_precision_loss)]
        (Value::Int(i), Type::Double) => Some(Value::Double(*i as f64)),
        (Value::Int(i), Type::String) => Some(Value::text(i.to_string())),
        (Value::Int(i), Type::Timestamp) => Some(time::Timestamp::of_seconds(*i)),
        (Value::Uint(u), Type::Int) => Some(i64::try_from(*u).map_or_else(|_| int_overflow(), Value::Int)),
        #[allow(clippy::cast_precision_loss)]
        (Value::Uint(u), Type::Double) => Some(Value::Double(*u as f64)),
        (Value::Uint(u), Type::String) => Some(Value::text(u.to_string())),
        (Value::Double(d), Type::Int) => Some(double_to_int(*d).map_or_else(int_overflow, Value::Int)),
        (Value::Double(d), Type::Uint) => Some(double_to_uint(*d).map_or_else(uint_overflow, Value::Uint)),
        (Value::Double(d), Type::String) => Some(Value::text(print::double(*d))),
        (Value::String(text), to) => from_text(text, to),
        (Value::Bool(b), Type::String) => Some(Value::text(b.to_string())),
        (Value::Bytes(bytes), Type::String) => Some(match std::str::from_utf8(bytes) {
            Ok(text) => Value::text(text),
            Err(_) => Value::error("invalid UTF-8 in bytes, cannot convert to string"),
        }),
        (Value::Duration(nanos), Type::String) => Some(Value::text(time::seconds_text(*nanos))),
        (Value::Duration(nanos), Type::Int) => Some(Value::Int(*nanos)),
        (Value::Timestamp(at), Type::String) => Some(Value::text(at.rfc3339())),
        (Value::Timestamp(at), Type::Int) => Some(Value::Int(at.seconds)),
        (Value::Null, Type::String) => Some(Value::text("null")),
        (Value::Type(ty), Type::String) => Some(Value::text(ty.name())),
        _ => None,
    };
    converted.unwrap_or_else(|| {
        let own = value.type_of();
        if own.name() == to.name() {
            return value.clone();
        }
        Value::error(format!("type conversion error from '{}' to '{to}'", own.name()))
    })
}

fn from_text<'a>(text: &str, to: &Type) -> Option<Value<'a>> {
    match to {
        Type::Int => text.parse().ok().map(Value::Int),
        Type::Uint => text.parse().ok().filter(|_| !text.starts_with('+')).map(Value::Uint),
        Type::Double => parse_double(text).map(Value::Double),
        Type::Bool => parse_bool(text).map(Value::Bool),
        Type::Bytes => Some(Value::Bytes(Arc::from(text.as_bytes()))),
        Type::Duration => parse_duration(text).map(Value::Duration),
        Type::Timestamp => time::Timestamp::parse(text),
        _ => None,
    }
}
