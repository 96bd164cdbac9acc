//! Errors about the fields of an object, with the messages of `field.Error` of `k8s.io/apimachinery`.

mod errors;
mod path;

pub use errors::{Errors, Paths};
pub use path::Path;

use crate::escape::GoQuoted;
use std::fmt;

/// The kinds of `field.ErrorType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ErrorType {
    /// The field refers to something that does not exist.
    NotFound,
    /// The field is required.
    Required,
    /// The value must be unique, and is not.
    Duplicate,
    /// The field has an invalid value.
    Invalid,
    /// The field must have one of a list of values.
    NotSupported,
    /// The field must be absent.
    Forbidden,
    /// The value is too long.
    TooLong,
    /// The list has too many items.
    TooMany,
    /// The server could not check the field.
    Internal,
    /// The value has another type than expected.
    TypeInvalid,
}

impl ErrorType {
    /// Returns the API's name: `FieldValueRequired`.
    pub fn name(self) -> &'static str {
        match self {
            ErrorType::NotFound => "FieldValueNotFound",
            ErrorType::Required => "FieldValueRequired",
            ErrorType::Duplicate => "FieldValueDuplicate",
            ErrorType::Invalid => "FieldValueInvalid",
            ErrorType::NotSupported => "FieldValueNotSupported",
            ErrorType::Forbidden => "FieldValueForbidden",
            ErrorType::TooLong => "FieldValueTooLong",
            ErrorType::TooMany => "FieldValueTooMany",
            ErrorType::Internal => "InternalError",
            ErrorType::TypeInvalid => "FieldValueTypeInvalid",
        }
    }

    /// Returns the words of messages: `Required value`.
    pub fn title(self) -> &'static str {
        match self {
            ErrorType::NotFound => "Not found",
            ErrorType::Required => "Required value",
            ErrorType::Duplicate => "Duplicate value",
            ErrorType::Invalid | ErrorType::TypeInvalid => "Invalid value",
            ErrorType::NotSupported => "Unsupported value",
            ErrorType::Forbidden => "Forbidden",
            ErrorType::TooLong => "Too long",
            ErrorType::TooMany => "Too many",
            ErrorType::Internal => "Internal error",
        }
    }

    /// Returns whether the message shows the value.
    fn shows_value(self) -> bool {
        !matches!(self, ErrorType::Required | ErrorType::Forbidden | ErrorType::TooLong | ErrorType::Internal)
    }
}

/// The value in an error.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum BadValue {
    /// No value: the field is missing, or it must be absent.
    Omitted,
    /// A string.
    Text(String),
    /// Any other value, in JSON.
    Json(String),
    /// Any other value, as releases before 1.34 print it.
    Printed(String),
}

/// What is wrong with one field of an object.
///
/// `Display` prints the message of upstream's error:
/// `properties[a].type: Required value: must not be empty for specified object fields`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Error {
    /// What is wrong with the field.
    pub error_type: ErrorType,
    /// The field.
    pub path: String,
    /// Its value.
    pub value: BadValue,
    /// What is expected. It may be empty.
    pub detail: String,
    /// Location: the entry in the tape of the value that has the field.
    pub at: u32,
}

impl Error {
    /// The error for a missing field. `at` is its location, as in all of these functions.
    #[cold]
    pub fn required(path: &Path<'_>, detail: impl Into<String>, at: u32) -> Error {
        Error::new(ErrorType::Required, path, BadValue::Omitted, detail, at)
    }

    /// The error for a field that must be absent.
    #[cold]
    pub fn forbidden(path: &Path<'_>, detail: impl Into<String>, at: u32) -> Error {
        Error::new(ErrorType::Forbidden, path, BadValue::Omitted, detail, at)
    }

    /// The error for a field with an invalid value.
    #[cold]
    pub fn invalid(path: &Path<'_>, value: impl Into<BadValue>, detail: impl Into<String>, at: u32) -> Error {
        Error::new(ErrorType::Invalid, path, value.into(), detail, at)
    }

    /// The error for a field with a value that must be unique, and is not.
    #[cold]
    pub fn duplicate(path: &Path<'_>, value: impl Into<BadValue>, at: u32) -> Error {
        Error::new(ErrorType::Duplicate, path, value.into(), "", at)
    }

    /// The error for a field that must have one of a few values. Upstream sorts them or not, so the caller gives the
    /// order.
    #[cold]
    pub fn not_supported(path: &Path<'_>, value: impl Into<BadValue>, supported: &[&str], at: u32) -> Error {
        let mut detail = String::new();
        for (i, value) in supported.iter().enumerate() {
            detail.push_str(if i == 0 { "supported values: " } else { ", " });
            detail.push_str(&GoQuoted(value).to_string());
        }
        Error::new(ErrorType::NotSupported, path, value.into(), detail, at)
    }

    /// The error for a value of more than `most` bytes.
    #[cold]
    pub fn too_long(path: &Path<'_>, most: usize, at: u32) -> Error {
        let detail = format!("may not be more than {most} byte{}", if most == 1 { "" } else { "s" });
        Error::new(ErrorType::TooLong, path, BadValue::Omitted, detail, at)
    }

    /// The error for a list of `found` items, of which at most `most` are allowed.
    #[cold]
    pub fn too_many(path: &Path<'_>, found: usize, most: usize, at: u32) -> Error {
        let detail = format!("must have at most {most} item{}", if most == 1 { "" } else { "s" });
        Error::new(ErrorType::TooMany, path, BadValue::Json(found.to_string()), detail, at)
    }

    /// The error for a field that the server cannot check.
    #[cold]
    pub fn internal(path: &Path<'_>, detail: impl Into<String>, at: u32) -> Error {
        // Go prints an error as a JSON object without members.
        Error::new(ErrorType::Internal, path, BadValue::Json("{}".to_owned()), detail, at)
    }

    #[cold]
    fn new(error_type: ErrorType, path: &Path<'_>, value: BadValue, detail: impl Into<String>, at: u32) -> Error {
        Error { error_type, path: path.to_string(), value, detail: detail.into(), at }
    }
}

impl From<&str> for BadValue {
    fn from(text: &str) -> BadValue {
        BadValue::Text(text.to_owned())
    }
}

impl From<bool> for BadValue {
    fn from(value: bool) -> BadValue {
        BadValue::Json(value.to_string())
    }
}

impl From<i64> for BadValue {
    fn from(value: i64) -> BadValue {
        BadValue::Json(value.to_string())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Upstream prints the empty path as Go prints a nil pointer.
        let path = if self.path.is_empty() { "<nil>" } else { &self.path };
        write!(f, "{path}: {}", self.error_type.title())?;
        match &self.value {
            BadValue::Omitted => {}
            _ if !self.error_type.shows_value() => {}
            BadValue::Text(text) => write!(f, ": {}", GoQuoted(text))?,
            BadValue::Json(text) | BadValue::Printed(text) => write!(f, ": {text}")?,
        }
        if self.detail.is_empty() { Ok(()) } else { write!(f, ": {}", self.detail) }
    }
}

#[cfg(test)]
mod tests {
    use super::{BadValue, Error, ErrorType};

    #[test]
    fn errors_read_as_upstream_writes_them() {
        let mut error = Error {
            error_type: ErrorType::Invalid,
            path: "pattern".to_owned(),
            value: BadValue::Text("a\"\u{1}\n(é\u{2028}".to_owned()),
            detail: "must be right".to_owned(),
            at: 0,
        };
        assert_eq!(error.to_string(), r#"pattern: Invalid value: "a\"\x01\n(é\u2028": must be right"#);
        error.value = BadValue::Json("true".to_owned());
        assert_eq!(error.to_string(), "pattern: Invalid value: true: must be right");
        error = Error { error_type: ErrorType::Forbidden, value: BadValue::Omitted, ..error };
        assert_eq!(error.to_string(), "pattern: Forbidden: must be right");
    }
}
