//! Inputs with their documents, kept so that everything points into them.

use super::Session;
use crate::convert::documents;
use crate::error::Fatal;
use crate::input::{Input, ReadError, Reader, gather};
use crate::report::{Excerpt, Finding, Lines};
use kubeshape_schema::Code;
use kubeshape_yaml::{Document, Limits, Node, Position, Stream, Tape};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// An input and its documents.
#[derive(Debug)]
pub(crate) struct Text<'a> {
    /// The name in messages.
    pub(crate) name: &'a str,
    /// The path; empty for standard input.
    pub(crate) path: PathBuf,
    pub(crate) source: &'a str,
    /// Whether places are those of the input, as opposed to those of what stands for a binary form.
    has_lines: bool,
    tapes: Vec<Tape>,
    /// Whether it was named on the command line, as opposed to found in a folder.
    pub(crate) named: bool,
    /// Whether something in it could not be read.
    pub(crate) failed: bool,
}

impl<'a> Text<'a> {
    /// The documents that hold anything.
    pub(crate) fn documents(&'a self) -> impl Iterator<Item = Document<'a>> {
        self.tapes.iter().map(|tape| tape.document(self.source))
    }

    /// A finding about a range of the source.
    pub(crate) fn finding(&self, code: Code, range: Range<usize>, detail: impl Into<String>) -> Finding {
        let mut finding = nowhere(code, self.name, detail);
        if self.has_lines {
            let Position { line, column } = Position::of(self.source, range.start);
            let mut lines = Lines::default();
            lines.clear();
            finding.place = Some((line, column, lines.excerpt(self.source, range)));
        }
        finding
    }

    /// A finding about a node.
    pub(crate) fn about(&self, code: Code, node: Node<'_>, detail: impl Into<String>) -> Finding {
        self.finding(code, node.span(), detail)
    }

    /// `file:line:column` of a node.
    pub(crate) fn place(&self, node: Node<'_>) -> String {
        if !self.has_lines {
            return self.name.to_owned();
        }
        let Position { line, column } = Position::of(self.source, node.span().start);
        format!("{}:{line}:{column}", self.name)
    }
}

/// A finding about an input as a whole.
pub(crate) fn nowhere(code: Code, input: &str, detail: impl Into<String>) -> Finding {
    Finding {
        code,
        input: input.to_owned(),
        place: None,
        resource: String::new(),
        version: String::new(),
        detail: detail.into(),
        notes: Vec::new(),
    }
}

/// What becomes of a file that does not exist.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    /// It is an error.
    Error,
    /// It is as good as an empty one.
    Empty,
}

/// Reads files and folders in the order in which they are given; what cannot be read is told.
pub(crate) fn read_all<'a>(paths: &[PathBuf], missing: Missing, session: &mut Session<'a>) -> Vec<&'a Text<'a>> {
    let mut texts = Vec::new();
    for path in paths {
        if missing == Missing::Empty && path.as_os_str() != "-" && !path.exists() {
            continue;
        }
        let gathered = gather(std::slice::from_ref(path), None);
        for (path, why) in gathered.unreadable {
            session.tell(&nowhere(Code::Unreadable, &path.to_string_lossy(), why));
        }
        for input in gathered.inputs {
            texts.extend(read(&input, session));
        }
    }
    texts
}

/// Checks that standard input is named once at most.
///
/// # Errors
/// It is named again.
pub(crate) fn check_stdin<'p>(paths: impl Iterator<Item = &'p PathBuf>) -> Result<(), Fatal> {
    match paths.filter(|path| path.as_os_str() == "-").nth(1) {
        None => Ok(()),
        Some(_) => Err(Fatal::Usage("standard input can be read once: give `-` once".to_owned())),
    }
}

/// Reads one file.
pub(crate) fn read_path<'a>(path: &Path, session: &mut Session<'a>) -> Option<&'a Text<'a>> {
    read_all(&[path.to_owned()], Missing::Error, session).first().copied()
}

fn read<'a>(input: &Input, session: &mut Session<'a>) -> Option<&'a Text<'a>> {
    let arena = session.arena;
    let name: &'a str = arena.alloc_str(&input.name());
    let limits = Limits::default();
    let mut reader = Reader::default();
    let bytes = match reader.read(input, &limits) {
        Ok(bytes) => bytes,
        Err(ReadError::Unreadable(detail)) => {
            session.tell(&nowhere(Code::Unreadable, name, detail));
            return None;
        }
        Err(ReadError::TooLarge(detail)) => {
            session.tell(&nowhere(Code::Limit, name, detail));
            return None;
        }
    };
    let decoded;
    let (bytes, has_lines) = match documents::decode(bytes) {
        None => (bytes, true),
        Some(Ok(json)) => {
            decoded = json;
            (decoded.as_slice(), false)
        }
        Some(Err((code, detail))) => {
            session.tell(&nowhere(code, name, detail));
            return None;
        }
    };
    let code = |error: &kubeshape_yaml::Error| if error.limit { Code::Limit } else { Code::NotYaml };
    let mut stream = match Stream::new(bytes, limits) {
        Ok(stream) => stream,
        Err(error) => {
            let mut finding = nowhere(code(&error), name, error.message);
            finding.place = Some((error.line, error.column, Excerpt::default()));
            session.tell(&finding);
            return None;
        }
    };
    let source: &'a str = arena.alloc_str(stream.source());
    let path = match &input.source {
        crate::input::Source::Stdin => PathBuf::new(),
        crate::input::Source::File(path) => path.clone(),
    };
    let mut text = Text { name, path, source, has_lines, tapes: Vec::new(), named: input.named, failed: false };
    loop {
        let mut tape = Tape::new();
        match stream.next(&mut tape) {
            None => break,
            Some(Ok(())) if tape.has_content() => text.tapes.push(tape),
            Some(Ok(())) => {}
            Some(Err(error)) => {
                text.failed = true;
                let range = error.offset..error.offset + 1;
                session.tell(&text.finding(code(&error), range, error.message.clone()));
            }
        }
    }
    Some(arena.alloc(text))
}
