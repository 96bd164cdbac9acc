//! What mutations may make for a request: expressions that name a value again and again make much of little.

use kubeshape_cel::Value;
use kubeshape_value::Value as Object;
use std::cell::Cell;
use std::fmt::{self, Display};

/// Bytes that the mutations of a request make at most: the values of their expressions, and an object after each.
pub const MAX_MUTATED: usize = 256 << 20;
/// What a value takes besides its text.
const EACH: usize = 32;

/// What is left of [`MAX_MUTATED`].
#[derive(Debug)]
pub(crate) struct Room(Cell<usize>);

impl Default for Room {
    fn default() -> Room {
        Room(Cell::new(MAX_MUTATED))
    }
}

/// There is no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full;

impl Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the mutations of a request make at most {MAX_MUTATED} bytes")
    }
}

impl Room {
    fn take(&self, bytes: usize) -> Result<(), Full> {
        let left = self.0.get().checked_sub(bytes + EACH);
        self.0.set(left.unwrap_or(0));
        left.map(|_| ()).ok_or(Full)
    }

    /// Counts the value of an expression, before it is copied. What it names twice counts twice.
    ///
    /// # Errors
    /// There is no room for it.
    pub(crate) fn value(&self, value: &Value<'_>) -> Result<(), Full> {
        self.take(match value {
            Value::String(text) => text.len(),
            Value::Bytes(bytes) => bytes.len(),
            _ => 0,
        })?;
        match value {
            Value::List(list) => list.iter().try_for_each(|item| self.value(&item)),
            Value::Map(map) => map.iter().try_for_each(|(key, value)| {
                self.value(&key)?;
                self.value(&value)
            }),
            Value::Object(object) => object.fields().try_for_each(|(name, value)| {
                self.take(name.len())?;
                self.value(value)
            }),
            Value::Optional(Some(inner)) => self.value(inner),
            _ => Ok(()),
        }
    }

    /// Counts an object.
    ///
    /// # Errors
    /// There is no room for it.
    pub(crate) fn object(&self, object: &Object<'_>) -> Result<(), Full> {
        match object {
            Object::String(text) => self.take(text.len()),
            Object::List(items) => {
                self.take(0)?;
                items.iter().try_for_each(|item| self.object(item))
            }
            Object::Map(map) => {
                self.take(0)?;
                map.entries().iter().try_for_each(|(key, value)| {
                    self.take(key.len())?;
                    self.object(value)
                })
            }
            _ => self.take(0),
        }
    }
}
