//! Findings and losses: a code, a location, and the detail of the case.

use crate::Code;
use std::borrow::Cow;
use std::fmt;

/// One finding or loss at a location of one document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note<'a> {
    /// The code.
    pub code: Code,
    /// The location: the index of an entry in the document's tape.
    pub at: u32,
    /// The detail of this case: the keyword, the name, what was found and what was expected.
    pub detail: Cow<'a, str>,
}

impl<'a> Note<'a> {
    /// Creates a note.
    pub fn new(code: Code, at: u32, detail: impl Into<Cow<'a, str>>) -> Self {
        Note { code, at, detail: detail.into() }
    }

    /// Returns the note with an owned detail.
    pub fn into_owned(self) -> Note<'static> {
        Note { code: self.code, at: self.at, detail: Cow::Owned(self.detail.into_owned()) }
    }
}

/// `CODE title: detail`
impl fmt::Display for Note<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.code, self.code.title().trim_end_matches('.'))?;
        if self.detail.is_empty() { Ok(()) } else { write!(f, ": {}", self.detail) }
    }
}

/// A value with the losses and findings of its conversion.
#[derive(Clone, Debug, PartialEq)]
pub struct Converted<'a, T> {
    /// The result.
    pub value: T,
    /// Losses and findings, in the order of the document.
    pub notes: Vec<Note<'a>>,
}

impl<'a, T> Converted<'a, T> {
    /// Maps the value and keeps the notes.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Converted<'a, U> {
        Converted { value: f(self.value), notes: self.notes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_prints_its_code_title_and_detail() {
        let note = Note::new(Code::V2Default, 7, "the default of /a");
        assert_eq!(note.to_string(), "KS2008 OpenAPI v2 as served holds no defaults: the default of /a");
    }
}
