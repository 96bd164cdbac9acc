//! Parts of objects by their paths.

use kubeshape_smd::Value;

/// Returns a member. `None` if it is missing or null.
pub(super) fn member<'v>(of: Value<'v>, path: &[&str]) -> Option<Value<'v>> {
    path.iter().try_fold(of, |of, key| of.get(key)).filter(|value| !value.is_null())
}

/// Returns a string; empty if missing.
pub(super) fn text<'v>(of: Value<'v>, path: &[&str]) -> &'v str {
    member(of, path).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the items of a list.
pub(super) fn items<'v>(of: Value<'v>, path: &[&str]) -> &'v [Value<'v>] {
    member(of, path).and_then(Value::as_list).unwrap_or_default()
}

/// Returns whether a member is `true`.
pub(super) fn is_true(of: Value<'_>, path: &[&str]) -> bool {
    member(of, path) == Some(Value::Bool(true))
}

/// Returns a whole number, however its reader holds it.
pub(super) fn integer(of: Value<'_>, path: &[&str]) -> Option<i64> {
    match member(of, path)? {
        Value::Int(number) => Some(number),
        Value::Float(number) if number.fract() == 0.0 => Some(number as i64),
        _ => None,
    }
}
