//! Sets as JSON: the `fieldsV1` of managed fields (spec: smd, "Serialized PE", "Set = trie").

use super::element::PathElement;
use super::set::Set;
use crate::Bump;
use crate::value::Value;

/// Why a text is no path element.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ElementError {
    /// Shorter than a letter and a colon.
    #[error("key must be 2 characters long:")]
    TooShort,
    /// The second byte is no colon.
    #[error("missing colon: {0}")]
    MissingColon(String),
    /// A letter that is none of `f`, `k`, `v`, `i`. Inside a set such an element is skipped with all below it.
    #[error("unknown path element type")]
    Unknown,
    /// What stands behind the colon cannot be read.
    #[error("{0}")]
    Content(String),
}

/// Why a text is no set, or a set has no text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message} at byte {at}")]
pub struct SetError {
    /// What is wrong.
    pub message: String,
    /// Where, as an offset into the text.
    pub at: usize,
}

impl<'a> PathElement<'a> {
    /// Reads the serialized form, such as `f:spec` or `k:{"name":"a"}`.
    ///
    /// # Errors
    /// See [`ElementError`].
    pub fn parse(text: &'a str, arena: &'a Bump) -> Result<PathElement<'a>, ElementError> {
        let _ = (text, arena);
        todo!()
    }

    /// Appends the serialized form.
    ///
    /// # Errors
    /// A value holds a number that is not finite.
    pub fn write(self, out: &mut Vec<u8>) -> Result<(), SetError> {
        let _ = out;
        todo!()
    }
}

impl<'a> Set<'a> {
    /// Reads the JSON form of a set in one pass.
    ///
    /// # Errors
    /// The text is no JSON object or null, holds something else than objects and nulls, or an element that cannot be read.
    pub fn read_json(text: &'a [u8], arena: &'a Bump) -> Result<Set<'a>, SetError> {
        let _ = (text, arena);
        todo!()
    }

    /// Reads the form of a set that was read as a value already, such as the `fieldsV1` of an object.
    ///
    /// # Errors
    /// As for [`Set::read_json`]; the offset is 0.
    pub fn from_fields_v1(value: Value<'a>, arena: &'a Bump) -> Result<Set<'a>, SetError> {
        let _ = (value, arena);
        todo!()
    }

    /// The `fieldsV1` value of the set.
    ///
    /// # Errors
    /// A value in an element holds a number that is not finite.
    pub fn to_fields_v1(self, arena: &'a Bump) -> Result<Value<'a>, SetError> {
        let _ = arena;
        todo!()
    }

    /// Appends the JSON form, in the order of the elements, byte for byte as upstream writes it.
    ///
    /// # Errors
    /// A value in an element holds a number that is not finite.
    pub fn write_json(self, out: &mut Vec<u8>) -> Result<(), SetError> {
        let _ = out;
        todo!()
    }

    /// The JSON form as text.
    ///
    /// # Errors
    /// As for [`Set::write_json`].
    pub fn to_json(self) -> Result<String, SetError> {
        let mut out = Vec::new();
        self.write_json(&mut out)?;
        String::from_utf8(out).map_err(|error| SetError { message: error.to_string(), at: 0 })
    }
}
