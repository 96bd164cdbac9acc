//! Equality of values like Go's `reflect.DeepEqual`, and values in JSON.

use crate::release::{AskedRelease, Change};
use kubeshape_schema::field::BadValue;
use kubeshape_value::{GoSyntax, Value};

/// Returns whether two values are equal. Unlike with `==`, an integer never equals a float.
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

/// Returns whether two values are the same memory, as unchanged copies are.
pub(super) fn identical(a: Value<'_>, b: Value<'_>) -> bool {
    match (a, b) {
        (Value::List(a), Value::List(b)) => std::ptr::eq(a, b),
        (Value::Map(a), Value::Map(b)) => std::ptr::eq(a.entries(), b.entries()),
        (Value::List(_) | Value::Map(_), _) | (_, Value::List(_) | Value::Map(_)) => false,
        (a, b) => equal(a, b),
    }
}

/// Returns a value in JSON.
pub(super) fn json(value: Value<'_>) -> String {
    let mut out = Vec::new();
    value.write_go_json(&mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// The format of values in errors, except strings.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Printing<'r> {
    /// In JSON.
    Json,
    /// As in a release: in JSON, or as `field.Error.ErrorBody` prints them with Go's `fmt`. The release is asked only
    /// if there is a value to show.
    Of(&'r AskedRelease),
}

impl Printing<'_> {
    /// Returns a value as errors store it.
    pub(crate) fn bad_value(self, value: Value<'_>) -> BadValue {
        if let Value::String(text) = value {
            return BadValue::Text(text.to_owned());
        }
        let is_json = match self {
            Printing::Json => true,
            Printing::Of(release) => release.has(Change::ValuesInJson),
        };
        match value {
            // Upstream prints simple values with `%v` in all releases.
            Value::Float(_) if is_json => BadValue::Json(GoSyntax(value).to_string()),
            value if is_json => BadValue::Json(json(value)),
            // Go replaces nil by this string.
            Value::Null => BadValue::Text("null".to_owned()),
            value => BadValue::Printed(GoSyntax(value).to_string()),
        }
    }
}
