//! Equality of values as Go's `reflect.DeepEqual` sees it, and values in JSON.

use kubeshape_schema::field::BadValue;
use kubeshape_smd::Value;
use kubeshape_yaml::go::escape::{self, Escape};
use kubeshape_yaml::go::number;

/// Whether two values are equal. Unlike `==`, an integer never equals a float.
pub(super) fn equal(a: Value<'_>, b: Value<'_>) -> bool {
    match (a, b) {
        (Value::Int(_), Value::Float(_)) | (Value::Float(_), Value::Int(_)) => false,
        (Value::List(a), Value::List(b)) => {
            std::ptr::eq(a, b) || a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(*a, *b))
        }
        (Value::Map(a), Value::Map(b)) => {
            let (a, b) = (a.entries(), b.entries());
            std::ptr::eq(a, b) || a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.0 == b.0 && equal(a.1, b.1))
        }
        (a, b) => a == b,
    }
}

/// Whether two values are the same, down to where they are stored: what an unchanged copy is.
pub(super) fn identical(a: Value<'_>, b: Value<'_>) -> bool {
    match (a, b) {
        (Value::List(a), Value::List(b)) => std::ptr::eq(a, b),
        (Value::Map(a), Value::Map(b)) => std::ptr::eq(a.entries(), b.entries()),
        (Value::List(_) | Value::Map(_), _) | (_, Value::List(_) | Value::Map(_)) => false,
        (a, b) => equal(a, b),
    }
}

/// Appends a value as Go's `encoding/json` writes it.
pub(super) fn write_json(value: Value<'_>, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(yes) => out.extend_from_slice(if yes { b"true" } else { b"false" }),
        Value::Int(n) => number::write_int(n, out),
        Value::Float(n) => number::write_json(n, out),
        Value::String(text) => escape::string(out, text, Escape::Html),
        Value::List(items) => {
            out.push(b'[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                write_json(*item, out);
            }
            out.push(b']');
        }
        Value::Map(map) => {
            out.push(b'{');
            for (at, (key, value)) in map.entries().iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                escape::string(out, key, Escape::Html);
                out.push(b':');
                write_json(*value, out);
            }
            out.push(b'}');
        }
    }
}

/// A value in JSON.
pub(super) fn json(value: Value<'_>) -> String {
    let mut out = Vec::new();
    write_json(value, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// A value as errors hold it.
pub(crate) fn bad_value(value: Value<'_>) -> BadValue {
    match value {
        Value::String(text) => BadValue::Text(text.to_owned()),
        value => BadValue::Json(json(value)),
    }
}
