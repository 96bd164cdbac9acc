//! Values as JSON, as upstream writes them into field sets (`value.ToJSON`).

use crate::{Compat, Value};
use kubeshape_yaml::go::escape::{self, Escape, GoQuoted};
use kubeshape_yaml::go::number;
use std::fmt;

/// A number that JSON cannot express: an infinity, or not a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("JSON has no infinity and no NaN")]
pub struct NotFinite;

impl Value<'_> {
    /// Appends the value as compact JSON, keys in order, `<`, `>`, `&`, U+2028 and U+2029 escaped, and exponents
    /// of at least two digits, as versions 6 of structured merge diff do.
    ///
    /// # Errors
    /// A float is not finite. The bytes written before it are kept.
    ///
    /// # Example: a small float
    /// ```
    /// use kubeshape_value::Value;
    /// let mut out = Vec::new();
    /// Value::Float(1e-7).write_json(&mut out)?;
    /// assert_eq!(out, b"1e-07");
    /// # Ok::<(), kubeshape_value::NotFinite>(())
    /// ```
    pub fn write_json(self, out: &mut Vec<u8>) -> Result<(), NotFinite> {
        self.write_json_as(Compat::V64, out)
    }

    /// Appends the value as compact JSON, as one version of structured merge diff does, see [`Compat`].
    ///
    /// # Errors
    /// A float is not finite. The bytes written before it are kept.
    ///
    /// # Example: what version 7 changes
    /// ```
    /// use kubeshape_value::{Compat, Value};
    /// let mut out = Vec::new();
    /// let items = [Value::Float(1e-7), Value::String("<")];
    /// Value::List(&items).write_json_as(Compat::V64, &mut out)?;
    /// assert_eq!(out, br#"[1e-07,"\u003c"]"#);
    /// out.clear();
    /// Value::List(&items).write_json_as(Compat::V70, &mut out)?;
    /// assert_eq!(out, br#"[1e-7,"<"]"#);
    /// # Ok::<(), kubeshape_value::NotFinite>(())
    /// ```
    pub fn write_json_as(self, compat: Compat, out: &mut Vec<u8>) -> Result<(), NotFinite> {
        let finite = |n: f64| if n.is_finite() { Ok(n) } else { Err(NotFinite) };
        if compat >= Compat::V70 {
            self.write(out, Escape::Plain, |n, out| finite(n).map(|n| number::write_json(n, out)))
        } else {
            self.write(out, Escape::IteratorHtml, |n, out| finite(n).map(|n| number::write_iterator(n, out)))
        }
    }

    /// Appends the value as Go's `encoding/json` writes it: compact, keys in order. [`Value::write_json`] escapes and
    /// prints floats as json-iterator does.
    ///
    /// # Example
    /// ```
    /// use kubeshape_value::Value;
    /// let mut out = Vec::new();
    /// Value::Float(1e-7).write_go_json(&mut out);
    /// assert_eq!(out, b"1e-7");
    /// ```
    pub fn write_go_json(self, out: &mut Vec<u8>) {
        let Ok(()) = self.write(out, Escape::Html, |n, out| {
            number::write_json(n, out);
            Ok::<(), std::convert::Infallible>(())
        });
    }

    fn write<E>(
        self,
        out: &mut Vec<u8>,
        escape: Escape,
        float: impl Fn(f64, &mut Vec<u8>) -> Result<(), E> + Copy,
    ) -> Result<(), E> {
        match self {
            Value::Null => out.extend_from_slice(b"null"),
            Value::Bool(yes) => out.extend_from_slice(if yes { b"true" } else { b"false" }),
            Value::Int(n) => number::write_int(n, out),
            Value::Float(n) => float(n, out)?,
            Value::String(text) => escape::string(out, text, escape),
            Value::List(items) => {
                out.push(b'[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        out.push(b',');
                    }
                    item.write(out, escape, float)?;
                }
                out.push(b']');
            }
            Value::Map(map) => {
                out.push(b'{');
                for (at, (key, value)) in map.entries().iter().enumerate() {
                    if at > 0 {
                        out.push(b',');
                    }
                    escape::string(out, key, escape);
                    out.push(b':');
                    value.write(out, escape, float)?;
                }
                out.push(b'}');
            }
        }
        Ok(())
    }

    /// Returns the length of the value as JSON in bytes, without the bytes that escapes in strings add. Stops and
    /// returns `None` as soon as it exceeds `limit`: a value in an arena can share its parts, and be far larger as
    /// JSON.
    ///
    /// # Example
    /// ```
    /// use kubeshape_value::Value;
    /// let items = [Value::String("abc"), Value::Int(12)];
    /// assert_eq!(Value::List(&items).json_len(20), Some(r#"["abc",12]"#.len()));
    /// assert_eq!(Value::List(&items).json_len(5), None);
    /// ```
    pub fn json_len(self, limit: usize) -> Option<usize> {
        let mut left = limit;
        self.count(&mut left)?;
        Some(limit - left)
    }

    /// Subtracts the length of the value from `left`. Returns `None` if it is larger.
    fn count(self, left: &mut usize) -> Option<()> {
        let brackets = |items: usize| 2 + items.saturating_sub(1);
        let own = match self {
            Value::Null => 4,
            Value::Bool(yes) => 5 - usize::from(yes),
            Value::Int(n) => n.unsigned_abs().checked_ilog10().unwrap_or(0) as usize + 1 + usize::from(n < 0),
            // At least one digit.
            Value::Float(_) => 1,
            Value::String(text) => 2 + text.len(),
            Value::List(items) => brackets(items.len()),
            Value::Map(map) => brackets(map.len()),
        };
        *left = left.checked_sub(own)?;
        match self {
            Value::List(items) => items.iter().try_for_each(|item| item.count(left)),
            Value::Map(map) => map.entries().iter().try_for_each(|(key, value)| {
                *left = left.checked_sub(key.len() + 3)?;
                value.count(left)
            }),
            _ => Some(()),
        }
    }

    /// Returns the Go type of the plain value, as `%T` prints it: `string`, `map[string]interface {}`.
    pub fn go_type(self) -> &'static str {
        match self {
            Value::Null => "<nil>",
            Value::Bool(_) => "bool",
            Value::Int(_) => "int64",
            Value::Float(_) => "float64",
            Value::String(_) => "string",
            Value::List(_) => "[]interface {}",
            Value::Map(_) => "map[string]interface {}",
        }
    }

    /// Returns the value as an owned `serde_json` value. A float that is not finite becomes null.
    #[cfg(feature = "serde_json")]
    pub fn to_serde(self) -> serde_json::Value {
        match self {
            Value::Null => serde_json::Value::Null,
            Value::Bool(yes) => yes.into(),
            Value::Int(n) => n.into(),
            Value::Float(n) => n.into(),
            Value::String(text) => text.into(),
            Value::List(items) => serde_json::Value::Array(items.iter().map(|item| item.to_serde()).collect()),
            Value::Map(map) => serde_json::Value::Object(
                map.entries().iter().map(|(key, value)| ((*key).to_owned(), value.to_serde())).collect(),
            ),
        }
    }
}

/// Prints a value as Go's `fmt` prints the plain one with `%#v`:
/// `map[string]interface {}{"a":1, "b":[]interface {}{"x"}}`.
///
/// # Example
/// ```
/// use kubeshape_value::{GoSyntax, Value};
/// let items = [Value::Int(1), Value::Null, Value::String("x")];
/// assert_eq!(GoSyntax(Value::List(&items)).to_string(), r#"[]interface {}{1, interface {}(nil), "x"}"#);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct GoSyntax<'a>(pub Value<'a>);

impl fmt::Display for GoSyntax<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let separator = |at| if at > 0 { ", " } else { "" };
        match self.0 {
            Value::Null => f.write_str("interface {}(nil)"),
            Value::Bool(yes) => yes.fmt(f),
            Value::Int(n) => n.fmt(f),
            Value::Float(n) => number::General(n).fmt(f),
            Value::String(text) => GoQuoted(text).fmt(f),
            Value::List(items) => {
                f.write_str("[]interface {}{")?;
                for (at, item) in items.iter().enumerate() {
                    write!(f, "{}{}", separator(at), GoSyntax(*item))?;
                }
                f.write_str("}")
            }
            Value::Map(map) => {
                f.write_str("map[string]interface {}{")?;
                for (at, (key, value)) in map.entries().iter().enumerate() {
                    write!(f, "{}{}:{}", separator(at), GoQuoted(key), GoSyntax(*value))?;
                }
                f.write_str("}")
            }
        }
    }
}

/// Prints a value as Go's `fmt` prints the plain one with `%v`: `map[a:1 b:[x y]]`.
///
/// # Example
/// ```
/// use kubeshape_value::Value;
/// use kubeshape_value::GoText;
/// let items = [Value::Int(1), Value::Null, Value::Float(3e9)];
/// assert_eq!(GoText(Value::List(&items)).to_string(), "[1 <nil> 3e+09]");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct GoText<'a>(pub Value<'a>);

impl fmt::Display for GoText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::Null => f.write_str("<nil>"),
            Value::Bool(yes) => yes.fmt(f),
            Value::Int(n) => n.fmt(f),
            Value::Float(n) => number::General(n).fmt(f),
            Value::String(text) => f.write_str(text),
            Value::List(items) => {
                f.write_str("[")?;
                for (at, item) in items.iter().enumerate() {
                    write!(f, "{}{}", if at > 0 { " " } else { "" }, GoText(*item))?;
                }
                f.write_str("]")
            }
            Value::Map(map) => {
                f.write_str("map[")?;
                for (at, (key, value)) in map.entries().iter().enumerate() {
                    write!(f, "{}{key}:{}", if at > 0 { " " } else { "" }, GoText(*value))?;
                }
                f.write_str("]")
            }
        }
    }
}
