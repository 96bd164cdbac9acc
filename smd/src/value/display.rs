//! How a value reads in paths, conflicts and errors (spec: smd, "Values", display form).

use super::Value;
use kubeshape_schema::escape::GoQuoted;
use std::fmt::{self, Display, Formatter, Write as _};

impl Display for Value<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match *self {
            Value::Null => f.write_str("null"),
            Value::Bool(yes) => yes.fmt(f),
            Value::Int(n) => n.fmt(f),
            Value::Float(n) => go_float(n, f),
            Value::String(text) => GoQuoted(text).fmt(f),
            Value::List(items) => {
                f.write_char('[')?;
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        f.write_char(',')?;
                    }
                    item.fmt(f)?;
                }
                f.write_char(']')
            }
            Value::Map(map) => map.entries().iter().try_for_each(|(key, value)| write!(f, "{key}={value}")),
        }
    }
}

/// Go's `%v` of a float: the exponent form from 1e6 on and below 1e-4, with at least two digits of exponent.
fn go_float(n: f64, f: &mut Formatter<'_>) -> fmt::Result {
    if n.is_nan() {
        return f.write_str("NaN");
    }
    if n.is_infinite() {
        return f.write_str(if n > 0.0 { "+Inf" } else { "-Inf" });
    }
    if n == 0.0 {
        return f.write_str(if n.is_sign_negative() { "-0" } else { "0" });
    }
    let text = format!("{n:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..6).contains(&exponent) {
        write!(f, "{n}")
    } else {
        write!(f, "{digits}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
    }
}
