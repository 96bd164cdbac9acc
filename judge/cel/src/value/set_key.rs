//! Keys of items in lists of type set and map.

use super::{List, Map, Text, Value};
use crate::raw::Raw;
use std::borrow::Cow;

/// A scalar as a key in lists of type set and map, compared as Go's maps compare an `interface{}`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RawKey<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Float(u64),
    String(Cow<'a, str>),
}

impl<'a> RawKey<'a> {
    /// Returns the key of an item.
    ///
    /// # Errors
    /// Returns the type of a list or an object: Go's maps cannot hash them.
    pub(crate) fn of(raw: Raw<'a>) -> Result<RawKey<'a>, &'static str> {
        Ok(match raw {
            Raw::Null => RawKey::Null,
            Raw::Bool(b) => RawKey::Bool(b),
            Raw::Int(i) => RawKey::Int(i),
            Raw::Float(f) => RawKey::Float(if f == 0.0 { 0 } else { f.to_bits() }),
            Raw::String(text) => RawKey::String(Cow::Borrowed(text)),
            Raw::List(_) | Raw::Map(_) => return Err(raw.go_type()),
        })
    }

    /// Returns the key for Go's `Value()` of a value; `None` for values that objects do not contain.
    ///
    /// # Errors
    /// See [`RawKey::of`].
    pub(crate) fn of_value(value: &Value<'a>) -> Result<Option<RawKey<'a>>, &'static str> {
        Ok(Some(match value {
            Value::Null => RawKey::Null,
            Value::Bool(b) => RawKey::Bool(*b),
            Value::Int(i) => RawKey::Int(*i),
            Value::Double(f) => return RawKey::of(Raw::Float(*f)).map(Some),
            Value::String(Text::Borrowed(text)) => RawKey::String(Cow::Borrowed(text)),
            Value::String(Text::Shared(text)) => RawKey::String(Cow::Owned(text.to_string())),
            Value::Bytes(_) => return Err("[]uint8"),
            Value::List(List::Data(_) | List::Typed(..) | List::Joined(..)) => return Err("[]interface {}"),
            Value::List(_) => return Err("[]ref.Val"),
            Value::Map(Map::Data(_) | Map::Typed(..)) => return Err("map[string]interface {}"),
            Value::Map(_) => return Err("map[ref.Val]ref.Val"),
            _ => return Ok(None),
        }))
    }
}
