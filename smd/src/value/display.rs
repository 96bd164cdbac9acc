//! How a value reads in paths, conflicts and errors (spec: smd, "Values", display form).

use super::Value;
use std::fmt::{self, Display, Formatter, Write as _};

impl Display for Value<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match *self {
            Value::Null => f.write_str("null"),
            Value::Bool(yes) => yes.fmt(f),
            Value::Int(n) => n.fmt(f),
            Value::Float(n) => go_float(n, f),
            Value::String(text) => go_quoted(text, f),
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

/// Go's `%q` of a string.
pub(crate) fn go_quoted(text: &str, f: &mut impl fmt::Write) -> fmt::Result {
    f.write_char('"')?;
    for c in text.chars() {
        match c {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\x07' => f.write_str("\\a")?,
            '\x08' => f.write_str("\\b")?,
            '\x0c' => f.write_str("\\f")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            '\x0b' => f.write_str("\\v")?,
            ' '..='~' => f.write_char(c)?,
            c if (c as u32) < 0x80 => write!(f, "\\x{:02x}", c as u32)?,
            c if is_printable(c) => f.write_char(c)?,
            c if (c as u32) < 0x1_0000 => write!(f, "\\u{:04x}", c as u32)?,
            c => write!(f, "\\U{:08x}", c as u32)?,
        }
    }
    f.write_char('"')
}

/// Letters, marks, numbers, punctuation and symbols. The standard library keeps that table for its own escapes,
/// in which a mark counts only where a text begins.
fn is_printable(c: char) -> bool {
    let mut text = [b'a'; 5];
    let len = c.encode_utf8(&mut text[1..]).len();
    std::str::from_utf8(&text[..=len]).is_ok_and(|text| text.escape_debug().nth(1) == Some(c))
}
