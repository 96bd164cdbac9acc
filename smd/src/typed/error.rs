//! What is wrong with a value.

use std::fmt;

/// One thing that is wrong with a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValidationError {
    /// Where, as upstream writes paths: `.spec.ports[port=80].name`; empty for the whole.
    pub path: String,
    /// Where, as the JSON pointer into the value: `/spec/ports/0/name`.
    pub pointer: String,
    /// What is wrong.
    pub kind: ValidationErrorKind,
}

/// What can be wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValidationErrorKind {
    /// The map declares no field of that name and takes no others; the last element of the path.
    UndeclaredField {
        /// The field.
        name: String,
        /// Declared names that are near to it, nearest first.
        nearest: Vec<String>,
    },
    /// Anything else, in upstream's words.
    Other(String),
}

/// Everything that is wrong with a value, never empty.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ValidationErrors(pub Vec<ValidationError>);

impl fmt::Display for ValidationErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ValidationErrorKind::UndeclaredField { .. } => f.write_str("field not declared in schema"),
            ValidationErrorKind::Other(message) => f.write_str(message),
        }
    }
}

impl fmt::Display for ValidationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        self.kind.fmt(f)
    }
}

impl fmt::Display for ValidationErrors {
    /// As upstream prints them: one alone, several each on a line of its own.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_slice() {
            [one] => one.fmt(f),
            errors => {
                f.write_str("errors:")?;
                errors.iter().try_for_each(|error| write!(f, "\n  {error}"))
            }
        }
    }
}
