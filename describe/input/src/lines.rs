//! Lines, columns and excerpts of a source.

use kubeshape_yaml::Position;
use std::fmt;
use std::ops::Range;

/// Line and column in an input, both from 1; the column counts characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

impl Place {
    /// Returns the location of a byte of a string. [`Lines`] finds the locations of many bytes of one string faster.
    pub fn of(text: &str, offset: usize) -> Place {
        Position::of(text, offset).into()
    }

    /// Returns whether the line is so long that the column is of no use, because a program wrote it. Then a JSON
    /// pointer is more useful.
    pub fn is_far(self) -> bool {
        /// People do not write lines of this length.
        const FAR: usize = 300;
        self.column > FAR
    }
}

impl From<Position> for Place {
    fn from(position: Position) -> Place {
        let Position { line, column } = position;
        Place { line, column }
    }
}

/// `LINE:COLUMN`
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// A part of one line of a source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Excerpt {
    /// The line, or the part of a long line around the location.
    pub text: String,
    /// The location of the finding, as a range of `text` in bytes.
    pub span: Range<usize>,
}

/// An index of the lines of one source. It covers the source only as far as it was needed.
#[derive(Clone, Debug)]
pub struct Lines {
    /// Where lines begin, for lines that begin in the first `seen` bytes.
    starts: Vec<usize>,
    seen: usize,
    /// The last result: line start, offset, column.
    last: (usize, usize, usize),
}

impl Default for Lines {
    fn default() -> Self {
        Lines { starts: vec![0], seen: 0, last: (0, 0, 1) }
    }
}

impl Lines {
    /// Clears the index and keeps the memory.
    pub fn clear(&mut self) {
        self.starts.clear();
        self.starts.push(0);
        self.seen = 0;
        self.last = (0, 0, 1);
    }

    /// Returns line and column of a byte of `text`, which must be the same string in all calls since [`Lines::clear`].
    pub fn place(&mut self, text: &str, offset: usize) -> Place {
        let offset = offset.min(text.len());
        let (line, start) = self.line(text, offset);
        // A document may be one long line, and most lookups are near the last one, before or after it.
        let characters = |range: Range<usize>| text.as_bytes()[range].iter().filter(|b| **b & 0xC0 != 0x80).count();
        let column = match self.last {
            (s, o, c) if s == start && o <= offset => c + characters(o..offset),
            (s, o, c) if s == start && o - offset < offset - start => c - characters(offset..o),
            _ => 1 + characters(start..offset),
        };
        self.last = (start, offset, column);
        Place { line, column }
    }

    /// Returns the number of the line that contains `offset`, and where it begins.
    fn line(&mut self, text: &str, offset: usize) -> (usize, usize) {
        if let Some(new) = text.as_bytes().get(self.seen..offset) {
            self.starts.extend(memchr::memchr_iter(b'\n', new).map(|at| self.seen + at + 1));
            self.seen = offset;
        }
        let line = self.starts.partition_point(|start| *start <= offset);
        (line, line.checked_sub(1).map_or(0, |n| self.starts[n]))
    }

    /// Returns the text around a range.
    pub fn excerpt(&mut self, text: &str, range: Range<usize>) -> Excerpt {
        let (_, start) = self.line(text, range.start.min(text.len()));
        Excerpt::of(text, start, range)
    }
}

impl Excerpt {
    /// Returns the text around a range on a line that begins at `start`.
    pub(crate) fn of(text: &str, start: usize, range: Range<usize>) -> Excerpt {
        /// The maximum number of bytes shown before and after the location.
        const BEFORE: usize = 100;
        const BEHIND: usize = 100;
        let at = range.start.min(text.len());
        // Enough for what is shown.
        let window = &text.as_bytes()[at..(at + BEHIND + 1).min(text.len())];
        let end = at + memchr::memchr(b'\n', window).unwrap_or(window.len());
        let boundary = |mut at: usize| {
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let from = if at - start > BEFORE { boundary(at - BEFORE) } else { start };
        let to = if end - at > BEHIND { boundary(at + BEHIND) } else { end };
        let at = boundary(at);
        let line = text[from..to].trim_end_matches('\r');
        let end = boundary(range.end.clamp(at, to)).min(from + line.len());
        Excerpt {
            text: line.to_owned(),
            span: (at - from).min(line.len())..(end - from).max(at - from).min(line.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_are_those_of_the_reader() {
        let source = "a: é\nbb: [1,\n2]\r\n\nend";
        let offsets: Vec<usize> = (0..=source.len()).filter(|at| source.is_char_boundary(*at)).collect();
        let mut lines = Lines::default();
        for at in offsets.iter().chain(offsets.iter().rev()) {
            assert_eq!(lines.place(source, *at), Place::of(source, *at), "{at}");
        }
    }

    #[test]
    fn an_excerpt_is_a_piece_of_one_line() {
        let mut lines = Lines::default();
        let source = "one: 1\r\ntwo: [a,\n  b]\n";
        assert_eq!(lines.excerpt(source, 0..3), Excerpt { text: "one: 1".into(), span: 0..3 });
        assert_eq!(lines.excerpt(source, 13..20), Excerpt { text: "two: [a,".into(), span: 5..8 });
        assert_eq!(lines.excerpt(source, source.len()..source.len()), Excerpt::default());
        let long = "é".repeat(1000);
        lines.clear();
        let excerpt = lines.excerpt(&long, 1000..2000);
        assert_eq!((excerpt.text.len(), excerpt.span), (200, 100..200));
    }
}
