//! Limits of the memory for mutations: expressions that use a value many times build large results from small inputs.

use kubeshape_cel::Value;
use kubeshape_value::Value as Object;
use std::cell::Cell;
use std::fmt::{self, Display};

/// The maximum number of bytes that the mutations of a request create: the values of their expressions, and an object
/// after each.
pub const MAX_MUTATED: usize = 256 << 20;
/// The maximum JSON size of an object after a mutation, in bytes.
const MAX_OBJECT: usize = 3 << 20;
/// The maximum JSON size of all objects after mutations of a request, in bytes.
const MAX_OBJECTS: usize = 64 << 20;
/// The bytes of a value in addition to its text.
const EACH: usize = 32;

/// The remaining bytes for the mutations of a request.
#[derive(Debug)]
pub(crate) struct Room {
    /// Part of [`MAX_MUTATED`].
    values: Cell<usize>,
    /// Part of [`MAX_OBJECTS`].
    objects: Cell<usize>,
}

impl Default for Room {
    fn default() -> Room {
        Room { values: Cell::new(MAX_MUTATED), objects: Cell::new(MAX_OBJECTS) }
    }
}

/// The exceeded bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Full {
    /// [`MAX_MUTATED`]
    Values,
    /// [`MAX_OBJECT`]
    Object,
    /// [`MAX_OBJECTS`]
    Objects,
}

impl Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Full::Values => write!(f, "the mutations of a request make at most {MAX_MUTATED} bytes"),
            Full::Object => write!(f, "a mutating admission policy makes an object larger than {MAX_OBJECT} bytes"),
            Full::Objects => {
                write!(f, "mutating admission policies make objects of more than {MAX_OBJECTS} bytes for one request")
            }
        }
    }
}

impl Room {
    fn take(&self, bytes: usize) -> Result<(), Full> {
        let left = self.values.get().checked_sub(bytes + EACH);
        self.values.set(left.unwrap_or(0));
        left.map(|_| ()).ok_or(Full::Values)
    }

    /// Counts the value of an expression before it is copied. Shared parts are counted for each use.
    ///
    /// # Errors
    /// The value exceeds the limit.
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

    /// Counts the object after a mutation.
    ///
    /// # Errors
    /// The object exceeds a limit.
    pub(crate) fn object(&self, object: &Object<'_>) -> Result<(), Full> {
        let length = object.json_len(MAX_OBJECT).ok_or(Full::Object)?;
        let left = self.objects.get().checked_sub(length).ok_or(Full::Objects)?;
        self.objects.set(left);
        self.parts(object)
    }

    fn parts(&self, object: &Object<'_>) -> Result<(), Full> {
        match object {
            Object::String(text) => self.take(text.len()),
            Object::List(items) => {
                self.take(0)?;
                items.iter().try_for_each(|item| self.parts(item))
            }
            Object::Map(map) => {
                self.take(0)?;
                map.entries().iter().try_for_each(|(key, value)| {
                    self.take(key.len())?;
                    self.parts(value)
                })
            }
            _ => self.take(0),
        }
    }
}
