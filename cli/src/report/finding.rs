//! A finding as it is shown to a person: with the file, the line, the column and the resource it is about.

use kubeshape_schema::Code;
use std::ops::Range;

/// A finding that is shown to a person.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    /// What it is.
    pub(crate) code: Code,
    /// Name of the input, empty when it is about none.
    pub(crate) input: String,
    /// Line and column, from 1, and the source there.
    pub(crate) place: Option<(usize, usize, Excerpt)>,
    /// Name of the CustomResourceDefinition, or empty.
    pub(crate) resource: String,
    /// Name of the version, or empty.
    pub(crate) version: String,
    /// What was found, what was expected and what to do.
    pub(crate) detail: String,
    /// What else there is to know.
    pub(crate) notes: Vec<String>,
}

/// A piece of one line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Excerpt {
    /// The line, or the part of a long one around the place.
    pub(crate) text: String,
    /// What the finding is about, as bytes of `text`.
    pub(crate) span: Range<usize>,
}

/// Lines and columns of one source, which is looked at only as far as the questions go.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    /// Where lines begin, for lines that begin in the first `seen` bytes.
    starts: Vec<usize>,
    seen: usize,
    /// The last answer: line start, offset, column.
    last: (usize, usize, usize),
}

impl Lines {
    /// Forgets the source.
    pub(crate) fn clear(&mut self) {
        self.starts.clear();
        self.starts.push(0);
        self.seen = 0;
        self.last = (0, 0, 1);
    }

    /// Line and column in characters, both from 1.
    pub(crate) fn position(&mut self, source: &str, offset: usize) -> (usize, usize) {
        let offset = offset.min(source.len());
        let (line, start) = self.line(source, offset);
        // Questions come mostly in order, and a document may be one long line.
        let (from, column) = match self.last {
            (s, o, c) if s == start && o <= offset => (o, c),
            _ => (start, 1),
        };
        let column = column + source.as_bytes()[from..offset].iter().filter(|b| **b & 0xC0 != 0x80).count();
        self.last = (start, offset, column);
        (line, column)
    }

    /// The number of the line that `offset` is in, and where it begins.
    fn line(&mut self, source: &str, offset: usize) -> (usize, usize) {
        if let Some(new) = source.as_bytes().get(self.seen..offset) {
            self.starts.extend(memchr::memchr_iter(b'\n', new).map(|at| self.seen + at + 1));
            self.seen = offset;
        }
        let line = self.starts.partition_point(|start| *start <= offset);
        (line, line.checked_sub(1).map_or(0, |n| self.starts[n]))
    }

    /// The source around a range.
    pub(crate) fn excerpt(&mut self, source: &str, range: Range<usize>) -> Excerpt {
        /// Bytes shown before and behind the place at most.
        const BEFORE: usize = 100;
        const BEHIND: usize = 100;
        let at = range.start.min(source.len());
        let (_, start) = self.line(source, at);
        // Far enough for what is shown.
        let window = &source.as_bytes()[at..(at + BEHIND + 1).min(source.len())];
        let end = at + memchr::memchr(b'\n', window).unwrap_or(window.len());
        let boundary = |mut at: usize| {
            while !source.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let from = if at - start > BEFORE { boundary(at - BEFORE) } else { start };
        let to = if end - at > BEHIND { boundary(at + BEHIND) } else { end };
        let at = boundary(at);
        let text = source[from..to].trim_end_matches('\r');
        let end = boundary(range.end.clamp(at, to)).min(from + text.len());
        Excerpt {
            text: text.to_owned(),
            span: (at - from).min(text.len())..(end - from).max(at - from).min(text.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubeshape_yaml::Position;

    #[test]
    fn lines_and_columns_are_those_of_the_reader() {
        let source = "a: é\nbb: [1,\n2]\r\n\nend";
        let offsets: Vec<usize> = (0..=source.len()).filter(|at| source.is_char_boundary(*at)).collect();
        let mut lines = Lines::default();
        lines.clear();
        for at in offsets.iter().chain(offsets.iter().rev()) {
            let Position { line, column } = Position::of(source, *at);
            assert_eq!(lines.position(source, *at), (line, column), "{at}");
        }
    }

    #[test]
    fn an_excerpt_is_a_piece_of_one_line() {
        let mut lines = Lines::default();
        lines.clear();
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
