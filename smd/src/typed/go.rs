//! Values in error messages, as Go prints them.

use crate::value::Value;
use std::fmt::{self, Display, Formatter};

/// `%v` of upstream's value: `&{text}`.
pub(super) struct Got<'v>(pub(super) Value<'v>);

/// `%#v` of upstream's value: `&value.valueUnstructured{Value:"text"}`.
pub(super) struct GotSyntax<'v>(pub(super) Value<'v>);

impl Display for Got<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("&{")?;
        plain(self.0, f)?;
        f.write_str("}")
    }
}

impl Display for GotSyntax<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("&value.valueUnstructured{Value:")?;
        syntax(self.0, f)?;
        f.write_str("}")
    }
}

fn plain(value: Value<'_>, f: &mut Formatter<'_>) -> fmt::Result {
    match value {
        Value::Null => f.write_str("<nil>"),
        Value::String(text) => f.write_str(text),
        Value::Bool(_) | Value::Int(_) | Value::Float(_) => value.fmt(f),
        Value::List(items) => {
            f.write_str("[")?;
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    f.write_str(" ")?;
                }
                plain(*item, f)?;
            }
            f.write_str("]")
        }
        Value::Map(map) => {
            f.write_str("map[")?;
            for (at, (key, value)) in map.entries().iter().enumerate() {
                if at > 0 {
                    f.write_str(" ")?;
                }
                write!(f, "{key}:")?;
                plain(*value, f)?;
            }
            f.write_str("]")
        }
    }
}

fn syntax(value: Value<'_>, f: &mut Formatter<'_>) -> fmt::Result {
    match value {
        Value::Null => f.write_str("interface {}(nil)"),
        Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::String(_) => value.fmt(f),
        Value::List(items) => {
            f.write_str("[]interface {}{")?;
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    f.write_str(", ")?;
                }
                syntax(*item, f)?;
            }
            f.write_str("}")
        }
        Value::Map(map) => {
            f.write_str("map[string]interface {}{")?;
            for (at, (key, value)) in map.entries().iter().enumerate() {
                if at > 0 {
                    f.write_str(", ")?;
                }
                write!(f, "{}:", Value::String(key))?;
                syntax(*value, f)?;
            }
            f.write_str("}")
        }
    }
}
