//! Go's printing and comparing of values.

use super::Error;
use kubeshape_smd::Value;
use kubeshape_yaml::go::number::General;
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter, Write};

/// Prints a value like Go's verb `%v`.
pub(super) struct Plain<'a>(pub(super) Value<'a>);

impl Display for Plain<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_value(self.0, f, &|scalar, f| match scalar {
            Value::Null => f.write_str("<nil>"),
            Value::Bool(yes) => write!(f, "{yes}"),
            Value::Int(number) => write!(f, "{number}"),
            Value::Float(number) => write!(f, "{}", General(number)),
            Value::String(text) => f.write_str(text),
            Value::List(_) | Value::Map(_) => Ok(()),
        })
    }
}

/// Prints a value like Go's verb `%s`: other scalars than strings with a note.
pub(super) struct AsString<'a>(pub(super) Value<'a>);

impl Display for AsString<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_value(self.0, f, &|scalar, f| match scalar {
            Value::String(text) => f.write_str(text),
            Value::Null => f.write_str("%!s(<nil>)"),
            other => write!(f, "%!s({}={})", other.go_type(), Plain(other)),
        })
    }
}

type Scalar<'f> = &'f dyn Fn(Value<'_>, &mut Formatter<'_>) -> fmt::Result;

fn write_value(value: Value<'_>, f: &mut Formatter<'_>, scalar: Scalar<'_>) -> fmt::Result {
    match value {
        Value::List(items) => {
            f.write_char('[')?;
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    f.write_char(' ')?;
                }
                write_value(*item, f, scalar)?;
            }
            f.write_char(']')
        }
        Value::Map(map) => {
            f.write_str("map[")?;
            for (at, (key, value)) in map.entries().iter().enumerate() {
                if at > 0 {
                    f.write_char(' ')?;
                }
                write!(f, "{key}:")?;
                write_value(*value, f, scalar)?;
            }
            f.write_char(']')
        }
        other => scalar(other, f),
    }
}

/// Returns the name of a value's type in `expected a …, but received a …`.
pub(super) fn type_name(value: Value<'_>) -> &'static str {
    match value {
        Value::Null => "%!s(<nil>)",
        other => other.go_type(),
    }
}

/// Returns whether two values have the same Go type.
pub(super) fn same_type(a: Value<'_>, b: Value<'_>) -> bool {
    a.go_type() == b.go_type()
}

/// Returns whether two values are equal for `reflect.DeepEqual`: integers and floats differ.
pub(super) fn deep_equal(a: Value<'_>, b: Value<'_>) -> bool {
    match (a, b) {
        (Value::List(a), Value::List(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| deep_equal(*a, *b)),
        (Value::Map(a), Value::Map(b)) => {
            let (a, b) = (a.entries(), b.entries());
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.0 == b.0 && deep_equal(a.1, b.1))
        }
        _ => same_type(a, b) && a == b,
    }
}

/// A scalar that Go compares with `==`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Float(u64),
    String(&'a str),
}

impl<'a> Key<'a> {
    /// Returns the key of a scalar; `None` for lists and maps.
    pub(super) fn of(value: Value<'a>) -> Option<Key<'a>> {
        Some(match value {
            Value::Null => Key::Null,
            Value::Bool(yes) => Key::Bool(yes),
            Value::Int(number) => Key::Int(number),
            // Both zeros are the same key.
            Value::Float(number) => Key::Float((number + 0.0).to_bits()),
            Value::String(text) => Key::String(text),
            Value::List(_) | Value::Map(_) => return None,
        })
    }
}

/// The first position of each value in a list, for look-ups like a loop with `==`.
#[derive(Debug, Default)]
pub(super) struct Places<'a> {
    scalars: BTreeMap<Key<'a>, usize>,
    /// The first position of a map and of a list, which Go cannot compare with another one.
    maps: Option<usize>,
    lists: Option<usize>,
}

impl<'a> Places<'a> {
    /// Indexes the values of a list. Items without a value are skipped.
    pub(super) fn of(values: impl IntoIterator<Item = Option<Value<'a>>>) -> Places<'a> {
        let mut places = Places::default();
        for (at, value) in values.into_iter().enumerate() {
            if let Some(value) = value {
                places.add(value, at);
            }
        }
        places
    }

    /// Adds a value, unless it exists.
    pub(super) fn add(&mut self, value: Value<'a>, at: usize) {
        match (Key::of(value), value) {
            (Some(key), _) => {
                self.scalars.entry(key).or_insert(at);
            }
            (None, Value::Map(_)) => {
                self.maps.get_or_insert(at);
            }
            (None, _) => {
                self.lists.get_or_insert(at);
            }
        }
    }

    /// Returns the first position of a value.
    ///
    /// # Errors
    /// The value is a map or a list, and the list contains one, too.
    pub(super) fn find(&self, value: Value<'a>) -> Result<Option<usize>, Error> {
        match (Key::of(value), value) {
            (Some(key), _) => Ok(self.scalars.get(&key).copied()),
            (None, Value::Map(_)) if self.maps.is_some() => Err(Error::Incomparable("a map")),
            (None, Value::List(_)) if self.lists.is_some() => Err(Error::Incomparable("a list")),
            _ => Ok(None),
        }
    }
}

/// Returns a set of values (Go: a map with these keys).
///
/// # Errors
/// A value is a map or a list.
pub(super) fn set<'a>(values: &[Value<'a>]) -> Result<std::collections::BTreeSet<Key<'a>>, Error> {
    values.iter().map(|value| set_key(*value)).collect()
}

/// Returns the key of a value in a set.
///
/// # Errors
/// The value is a map or a list.
pub(super) fn set_key(value: Value<'_>) -> Result<Key<'_>, Error> {
    let what = if value.as_map().is_some() { "a map" } else { "a list" };
    Key::of(value).ok_or(Error::Incomparable(what))
}
