//! The source of an input.

use crate::{Code, Excerpt, Finding, Place};
use kubeshape_yaml::Positions;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// The source of an input and its name. The documents of an input share it.
#[derive(Clone)]
pub struct Source {
    name: Arc<str>,
    text: Box<str>,
    has_lines: bool,
    /// Built when the first location is requested.
    positions: OnceLock<Positions>,
}

impl Source {
    pub(crate) fn new(name: Arc<str>, text: Box<str>, has_lines: bool) -> Source {
        Source { name, text, has_lines, positions: OnceLock::new() }
    }

    /// Creates a source that is read elsewhere, such as program code.
    ///
    /// # Example
    /// ```
    /// let source = kubeshape_input::Source::from_text("types.go", "package v1\n");
    /// assert_eq!(source.location(8), "types.go:1:9");
    /// ```
    pub fn from_text(name: impl Into<Arc<str>>, text: impl Into<Box<str>>) -> Source {
        Source::new(name.into(), text.into(), true)
    }

    pub(crate) fn without_lines(self) -> Source {
        Source { has_lines: false, ..self }
    }

    /// Returns the name of the input in messages.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Returns the source: uncompressed, and JSON if the input is protobuf.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns whether lines and columns of the source are those of the input. They are not if the input is protobuf,
    /// or if a program wrote it.
    pub fn has_lines(&self) -> bool {
        self.has_lines
    }

    /// Returns line and column of a byte of the source, if the input has lines.
    pub fn place(&self, offset: usize) -> Option<Place> {
        self.has_lines.then(|| self.place_of(offset))
    }

    /// Returns `NAME:LINE:COLUMN` of a byte of the source, or only the name if the input has no lines.
    pub fn location(&self, offset: usize) -> String {
        let name = &self.name;
        self.place(offset).map_or_else(|| name.to_string(), |place| format!("{name}:{place}"))
    }

    /// Returns a finding about a range of the source, with its location and an excerpt.
    pub fn finding(&self, code: Code, span: Range<usize>, detail: impl Into<String>) -> Finding {
        let mut finding = Finding::new(code, detail).in_input(self.name.clone());
        if self.has_lines {
            finding.place = self.place(span.start);
            let excerpt = self.excerpt_of(span.clone());
            finding.excerpt = Some(excerpt).filter(|excerpt| *excerpt != Excerpt::default());
            finding.span = Some(span);
        }
        finding
    }

    fn positions(&self) -> &Positions {
        self.positions.get_or_init(|| Positions::of(&self.text))
    }

    /// Returns line and column of a byte.
    pub(crate) fn place_of(&self, offset: usize) -> Place {
        self.positions().at(&self.text, offset).into()
    }

    /// Returns the text around a range.
    pub(crate) fn excerpt_of(&self, span: Range<usize>) -> Excerpt {
        Excerpt::of(&self.text, self.positions().line_start(&self.text, span.start), span)
    }
}

impl PartialEq for Source {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, &self.text, self.has_lines) == (&other.name, &other.text, other.has_lines)
    }
}

impl Eq for Source {}

/// Prints the name, and the length of the source.
impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Source { name, text, has_lines, .. } = self;
        f.debug_struct("Source")
            .field("name", name)
            .field("text", &format_args!("{} bytes", text.len()))
            .field("has_lines", has_lines)
            .finish()
    }
}
