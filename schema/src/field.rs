//! Errors about the fields of an object, as `field.Error` of `k8s.io/apimachinery` words them.

mod path;

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
    /// The field has a value that it must not have.
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
    /// The value is of another type.
    TypeInvalid,
}

impl ErrorType {
    /// The API's name: `FieldValueRequired`.
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

    /// The text for people: `Required value`.
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

    /// Whether the text shows the value.
    fn shows_value(self) -> bool {
        !matches!(
            self,
            ErrorType::Required | ErrorType::Forbidden | ErrorType::TooLong | ErrorType::TooMany | ErrorType::Internal
        )
    }
}

/// The value that an error is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadValue {
    /// None: the field is missing, or it must be absent.
    Omitted,
    /// A text.
    Text(String),
    /// Any other value, in JSON.
    Json(String),
}

/// What is wrong with one field of an object.
///
/// `Display` gives the text of upstream's error:
/// `properties[a].type: Required value: must not be empty for specified object fields`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What is wrong with the field.
    pub error_type: ErrorType,
    /// The field.
    pub path: String,
    /// Its value.
    pub value: BadValue,
    /// What is expected. It may be empty.
    pub detail: String,
    /// Place: the entry in the tape of the value whose field it is.
    pub at: u32,
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
            BadValue::Json(json) => write!(f, ": {json}")?,
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
