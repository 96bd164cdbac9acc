//! Errors in a value.

use std::fmt::{self, Write as _};

/// An error in a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValidationError {
    /// The path, as upstream writes paths: `.spec.ports[port=80].name`; empty for the whole value.
    pub path: String,
    /// The JSON pointer into the value: `/spec/ports/0/name`. If two values are compared or merged, it points into the
    /// right one, if that has such a field.
    pub pointer: String,
    /// What is wrong.
    pub kind: ValidationErrorKind,
}

/// The kinds of errors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValidationErrorKind {
    /// The map does not declare the field with that name, the last element of the path, and allows no others.
    UndeclaredField {
        /// The field.
        name: String,
        /// Similar declared names, nearest first.
        nearest: Vec<String>,
    },
    /// Any other error, with upstream's message.
    Other(String),
}

/// All errors in a value, never empty.
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
    /// Prints them as upstream does: a single one alone, several with each on a line of its own.
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

/// A step of a JSON pointer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Token<'t> {
    Name(&'t str),
    At(usize),
}

impl fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('/')?;
        match self {
            Token::At(at) => at.fmt(f),
            Token::Name(name) => name.chars().try_for_each(|c| match c {
                '~' => f.write_str("~0"),
                '/' => f.write_str("~1"),
                c => f.write_char(c),
            }),
        }
    }
}

/// The maximum total size of the paths of all errors in bytes: a long path can lead to many values. Further errors are
/// only counted.
const MOST: usize = 4 << 20;

/// The errors of a walk. Paths are built on the way up, so a walk without errors builds none.
#[derive(Debug, Default)]
pub(super) struct Errors {
    found: Vec<ValidationError>,
    /// The total size of their paths in bytes.
    bytes: usize,
    /// The number of errors that are only counted.
    dropped: usize,
}

impl Errors {
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.found.len()
    }

    /// Adds an error of the current value.
    #[cold]
    pub(super) fn add(&mut self, message: impl Into<String>) {
        self.add_kind(ValidationErrorKind::Other(message.into()));
    }

    #[cold]
    pub(super) fn add_kind(&mut self, kind: ValidationErrorKind) {
        self.found.push(ValidationError { path: String::new(), pointer: String::new(), kind });
    }

    /// Adds an error of a list item without a path of its own: the path is the list's, the pointer the item's.
    #[cold]
    pub(super) fn add_item(&mut self, message: String, at: usize) {
        self.add(message);
        let from = self.len() - 1;
        self.below(from, &"", Token::At(at));
    }

    /// Marks the errors from `from` on as errors of a child.
    #[inline]
    pub(super) fn below(&mut self, from: usize, element: &dyn fmt::Display, token: Token<'_>) {
        if self.found.len() > from {
            self.prefix(from, element, token);
        }
    }

    #[cold]
    fn prefix(&mut self, from: usize, element: &dyn fmt::Display, token: Token<'_>) {
        let (element, token) = (element.to_string(), token.to_string());
        let mut kept = from;
        for error in self.found.iter_mut().skip(from) {
            self.bytes = self.bytes.saturating_add(element.len() + token.len());
            if self.bytes > MOST && kept > 0 {
                break;
            }
            error.path.insert_str(0, &element);
            error.pointer.insert_str(0, &token);
            kept += 1;
        }
        self.dropped += self.found.len() - kept;
        self.found.truncate(kept);
    }

    pub(super) fn into_result(mut self) -> Result<(), ValidationErrors> {
        if self.dropped > 0 {
            self.add(format!("{} more errors: the paths of all have more than {MOST} bytes", self.dropped));
        }
        if self.found.is_empty() { Ok(()) } else { Err(ValidationErrors(self.found)) }
    }
}
