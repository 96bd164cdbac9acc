//! Sets as JSON: the `fieldsV1` of managed fields (upstream `fieldpath/serialize.go`).

mod fields_v1;
mod read;
mod write;

use crate::value::{JsonError, NotFinite};
use std::fmt;

/// The error for a string that is not a path element.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ElementError {
    /// The string is shorter than a letter and a colon.
    #[error("key must be 2 characters long:")]
    TooShort,
    /// The second byte is not a colon.
    #[error("missing colon: {0}")]
    MissingColon(String),
    /// The letter is not `f`, `k`, `v` or `i`. In a set, readers skip such an element and everything below it.
    #[error("unknown path element type")]
    Unknown,
    /// The part after the colon cannot be read.
    #[error("{0}")]
    Content(String),
}

/// Why a string is not a set, or a set cannot be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct SetError {
    /// What is wrong.
    pub message: String,
    /// The offset in the string, in bytes; 0 if there is no string.
    pub at: usize,
}

impl fmt::Display for SetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if self.at > 0 { write!(f, " at byte {}", self.at) } else { Ok(()) }
    }
}

impl From<JsonError> for SetError {
    fn from(error: JsonError) -> Self {
        SetError { message: error.what.to_owned(), at: error.at }
    }
}

/// Why an element cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unwritable {
    /// A value has a number that is not finite.
    NotFinite(NotFinite),
    /// It does not identify an item.
    Nameless,
}

impl From<NotFinite> for Unwritable {
    fn from(error: NotFinite) -> Self {
        Unwritable::NotFinite(error)
    }
}

impl From<Unwritable> for SetError {
    fn from(error: Unwritable) -> Self {
        match error {
            Unwritable::NotFinite(error) => error.into(),
            Unwritable::Nameless => SetError { message: "invalid PathElement".to_owned(), at: 0 },
        }
    }
}

impl From<NotFinite> for SetError {
    fn from(error: NotFinite) -> Self {
        SetError { message: error.to_string(), at: 0 }
    }
}
