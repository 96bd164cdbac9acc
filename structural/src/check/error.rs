//! The errors of the structural check, in the terms of the Kubernetes API.

use kubeshape_schema::escape::GoQuoted;
use std::fmt;

/// The kinds of `field.ErrorType` that the check of structural schemas uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ErrorType {
    /// The field is required.
    Required,
    /// The field has a value that it must not have.
    Invalid,
    /// The field must be absent.
    Forbidden,
}

impl ErrorType {
    /// The API's name: `FieldValueRequired`.
    pub fn name(self) -> &'static str {
        match self {
            ErrorType::Required => "FieldValueRequired",
            ErrorType::Invalid => "FieldValueInvalid",
            ErrorType::Forbidden => "FieldValueForbidden",
        }
    }

    /// The text for people: `Required value`.
    pub fn title(self) -> &'static str {
        match self {
            ErrorType::Required => "Required value",
            ErrorType::Invalid => "Invalid value",
            ErrorType::Forbidden => "Forbidden",
        }
    }
}

/// The value that an error is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadValue {
    /// None is shown: the field is missing, or it must be absent.
    Omitted,
    /// A boolean, which is always the wrong `true`.
    True,
    /// A text.
    Text(String),
}

/// One reason why a schema is not structural.
///
/// `Display` gives the text of upstream's error:
/// `properties[a].type: Required value: must not be empty for specified object fields`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StructuralError {
    /// What is wrong with the field.
    pub error_type: ErrorType,
    /// The field.
    pub path: String,
    /// Its value.
    pub value: BadValue,
    /// What is expected.
    pub detail: String,
    /// Place: the entry in the tape of the schema whose field it is.
    pub at: u32,
}

impl fmt::Display for StructuralError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Upstream prints the empty path as Go prints a nil pointer.
        let path = if self.path.is_empty() { "<nil>" } else { &self.path };
        write!(f, "{path}: {}: ", self.error_type.title())?;
        match &self.value {
            BadValue::Omitted => {}
            BadValue::True => f.write_str("true: ")?,
            BadValue::Text(text) => write!(f, "{}: ", GoQuoted(text))?,
        }
        f.write_str(&self.detail)
    }
}

#[cfg(test)]
mod tests {
    use super::{BadValue, ErrorType, StructuralError};

    #[test]
    fn errors_read_as_upstream_writes_them() {
        let mut error = StructuralError {
            error_type: ErrorType::Invalid,
            path: "pattern".to_owned(),
            value: BadValue::Text("a\"\u{1}\n(é\u{2028}".to_owned()),
            detail: "must be right".to_owned(),
            at: 0,
        };
        assert_eq!(error.to_string(), r#"pattern: Invalid value: "a\"\x01\n(é\u2028": must be right"#);
        error.value = BadValue::True;
        assert_eq!(error.to_string(), "pattern: Invalid value: true: must be right");
        error = StructuralError { error_type: ErrorType::Forbidden, value: BadValue::Omitted, ..error };
        assert_eq!(error.to_string(), "pattern: Forbidden: must be right");
    }
}
