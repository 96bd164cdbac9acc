//! Errors of reading, with their location.

/// Why a document could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct Error {
    /// What was found, what was expected and what to do, in one sentence.
    pub message: String,
    /// Byte offset in the source.
    pub offset: usize,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Whether a limit was exceeded; otherwise, the source is invalid.
    pub limit: bool,
}

impl Error {
    /// An error at a byte offset of `source`.
    pub fn at(source: &str, offset: usize, message: impl Into<String>) -> Self {
        let Position { line, column } = Position::of(source, offset);
        Error { message: message.into(), offset, line, column, limit: false }
    }
}

/// Line and column of a byte offset, both from 1, the column in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

impl Position {
    /// Returns the line and column of `offset`. An offset after the end is the end.
    pub fn of(source: &str, offset: usize) -> Position {
        let bytes = source.as_bytes();
        let offset = offset.min(bytes.len());
        let before = &bytes[..offset];
        let line = memchr::memchr_iter(b'\n', before).count() + 1;
        let start = memchr::memrchr(b'\n', before).map_or(0, |n| n + 1);
        // Counts characters, not bytes: continuation bytes are skipped.
        let column = before[start..].iter().filter(|b| **b & 0xC0 != 0x80).count() + 1;
        Position { line, column }
    }
}

/// An error before the stream adds its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) at: usize,
    pub(crate) message: Box<str>,
    pub(crate) limit: bool,
    /// The offset of the open bracket.
    pub(crate) opened: Option<usize>,
}

impl Fault {
    #[cold]
    pub(crate) fn new(at: usize, message: impl Into<Box<str>>) -> Self {
        Fault { at, message: message.into(), limit: false, opened: None }
    }

    #[cold]
    pub(crate) fn limit(at: usize, message: impl Into<Box<str>>) -> Self {
        Fault { at, message: message.into(), limit: true, opened: None }
    }

    pub(crate) fn opened(mut self, bracket: Option<&usize>) -> Self {
        self.opened = bracket.copied();
        self
    }
}
