//! Errors of the parser and the checker, and how they are printed.

use crate::part;
use std::fmt;
use std::ops::Range;

/// One error with its location in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// The line from 1; -1 if the error has no location.
    pub line: i32,
    /// The column from 0, in characters; -1 if the error has no location.
    pub column: i32,
    /// The message.
    pub message: String,
    /// Names similar to an unknown one, as expressions write them, the nearest first.
    pub meant: Vec<String>,
}

/// Why an expression does not compile. `Display` prints upstream's message: every error with its line and a mark below
/// it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Issues {
    reported: Vec<Issue>,
    total: usize,
    source: String,
}

/// The errors found so far.
#[derive(Debug, Default)]
pub(crate) struct Reports(Issues);

/// The beginning of the message about a field that an object does not have.
pub(crate) const UNDEFINED_FIELD: &str = "undefined field '";
/// Further errors are only counted, not kept.
const MAX_ISSUES: usize = 100;
/// Longer lines are not shown, in bytes.
const MAX_SNIPPET: usize = 16384;

impl Reports {
    pub(crate) fn report(&mut self, place: (i32, i32), message: impl Into<String>) {
        self.report_name(place, message, Vec::new);
    }

    /// Reports an unknown name. `meant` returns similar names.
    pub(crate) fn report_name(
        &mut self,
        (line, column): (i32, i32),
        message: impl Into<String>,
        meant: impl FnOnce() -> Vec<String>,
    ) {
        self.0.total += 1;
        if self.0.reported.len() < MAX_ISSUES {
            self.0.reported.push(Issue { line, column, message: message.into(), meant: meant() });
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.reported.is_empty()
    }

    /// Returns the errors of a source, sorted by location.
    pub(crate) fn of(mut self, source: &str) -> Issues {
        self.0.reported.sort_by_key(|issue| (issue.line, issue.column));
        source.clone_into(&mut self.0.source);
        self.0
    }
}

impl Issues {
    /// Returns the errors, sorted by location.
    pub fn issues(&self) -> &[Issue] {
        &self.reported
    }

    /// Returns the byte range of the part of the expression that an error is about: the name, literal or operator at
    /// its location. `None` if the error has no location.
    pub fn part(&self, issue: &Issue) -> Option<Range<usize>> {
        let place = (issue.line, issue.column);
        let field = issue.message.strip_prefix(UNDEFINED_FIELD).and_then(|rest| rest.strip_suffix('\''));
        let field = field.and_then(|field| part::field(&self.source, place, field));
        field.or_else(|| part::at(&self.source, place))
    }

    /// Returns the first unknown escape sequence in a string of the expression. The lexer reports it as several syntax
    /// errors.
    pub fn unknown_escape(&self) -> Option<Range<usize>> {
        part::unknown_escape(&self.source)
    }
}

impl fmt::Display for Issues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, issue) in self.reported.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            write!(f, "ERROR: <input>:{}:{}: {}", issue.line, issue.column + 1, issue.message)?;
            let Some(line) = usize::try_from(issue.line - 1).ok().and_then(|n| self.source.split('\n').nth(n)) else {
                continue;
            };
            // An empty source has no line to show.
            if self.source.is_empty() || line.len() > MAX_SNIPPET {
                continue;
            }
            write!(f, "\n | {}\n | ", line.replace('\t', " "))?;
            let mut chars = line.chars();
            for c in chars.by_ref().take(usize::try_from(issue.column).unwrap_or(0)) {
                f.write_str(if c.is_ascii() { "." } else { "\u{ff0e}" })?;
            }
            f.write_str(if chars.next().is_none_or(|c| c.is_ascii()) { "^" } else { "\u{ff3e}" })?;
        }
        if self.total > self.reported.len() {
            write!(f, "\n{} more errors were truncated", self.total - self.reported.len())?;
        }
        Ok(())
    }
}

impl std::error::Error for Issues {}
