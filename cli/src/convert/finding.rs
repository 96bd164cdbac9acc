//! Findings and losses with everything that a reader needs to know of them: file, line, column, resource.

use crate::args::Shape;
use kubeshape_schema::escape::{self, Escape};
use kubeshape_schema::{Code, NoteKind};
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

/// A line of the report.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Entry<'a> {
    pub(crate) pointer: Option<&'a str>,
    pub(crate) input: Option<&'a str>,
    pub(crate) place: Option<(usize, usize)>,
    pub(crate) resource: Option<&'a str>,
    pub(crate) version: Option<&'a str>,
    pub(crate) shape: Option<Shape>,
    pub(crate) detail: &'a str,
}

/// How the kind begins in a line of the report: [`is_finding`] reads it back.
const KIND: &str = "{\"code\":\"KS0000\",\"kind\":\"";

impl Entry<'_> {
    /// Appends the line.
    pub(crate) fn write(&self, code: Code, out: &mut Vec<u8>) {
        let text = |out: &mut Vec<u8>, name: &str, value: Option<&str>| {
            out.extend_from_slice(b",\"");
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(b"\":");
            match value {
                Some(value) => escape::string(out, value, Escape::Plain),
                None => out.extend_from_slice(b"null"),
            }
        };
        let number = |out: &mut Vec<u8>, name: &str, value: Option<usize>| {
            let value = value.map_or_else(|| "null".to_owned(), |n| n.to_string());
            out.extend_from_slice(format!(",\"{name}\":{value}").as_bytes());
        };
        out.extend_from_slice(format!("{{\"code\":\"{code}\",\"kind\":\"{}\"", code.kind().name()).as_bytes());
        text(out, "pointer", self.pointer);
        text(out, "input", self.input);
        number(out, "line", self.place.map(|(line, _)| line));
        number(out, "column", self.place.map(|(_, column)| column));
        text(out, "resource", self.resource);
        text(out, "version", self.version);
        text(out, "shape", self.shape.map(Shape::name));
        text(out, "detail", Some(self.detail));
        out.extend_from_slice(b"}\n");
    }
}

/// Whether a line of the report is a finding about the input, as opposed to a loss.
pub(crate) fn is_finding(line: &[u8]) -> bool {
    let kind = line.get(KIND.len()..).unwrap_or_default();
    [NoteKind::Error, NoteKind::Warning].iter().any(|k| kind.starts_with(k.name().as_bytes()))
}

/// How many of each kind there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally([u64; 7]);

impl Tally {
    const KINDS: [NoteKind; 7] = [
        NoteKind::Error,
        NoteKind::Warning,
        NoteKind::Dropped,
        NoteKind::Widened,
        NoteKind::Narrowed,
        NoteKind::Renamed,
        NoteKind::Approximated,
    ];

    /// One more.
    pub(crate) fn count(&mut self, kind: NoteKind) {
        self.0[kind as usize] += 1;
    }

    /// All of another tally.
    pub(crate) fn add(&mut self, other: &Tally) {
        for (sum, n) in self.0.iter_mut().zip(other.0) {
            *sum += n;
        }
    }

    /// Takes the losses of another tally out again.
    pub(crate) fn remove_losses(&mut self, other: &Tally) {
        for kind in Self::KINDS.into_iter().filter(|kind| kind.is_loss()) {
            self.0[kind as usize] -= other.get(kind);
        }
    }

    /// The number of a kind.
    pub(crate) fn get(&self, kind: NoteKind) -> u64 {
        self.0[kind as usize]
    }

    /// The losses in a fixed order.
    pub(crate) fn losses(&self) -> impl Iterator<Item = (NoteKind, u64)> + '_ {
        Self::KINDS.into_iter().filter(|kind| kind.is_loss()).map(|kind| (kind, self.get(kind)))
    }
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

    #[test]
    fn a_line_of_the_report_has_all_members() {
        let mut out = Vec::new();
        let entry = Entry {
            pointer: Some("/a~1b"),
            input: Some("a.yaml"),
            place: Some((3, 7)),
            resource: Some("widgets.example.com"),
            version: Some("v1"),
            shape: Some(Shape::V2),
            detail: "\"<x>\"",
        };
        entry.write(Code::V2Junctor, &mut out);
        Entry { detail: "gone", ..Entry::default() }.write(Code::Unreadable, &mut out);
        let expected = concat!(
            r#"{"code":"KS2001","kind":"widened","pointer":"/a~1b","input":"a.yaml","line":3,"column":7,"#,
            r#""resource":"widgets.example.com","version":"v1","shape":"v2","detail":"\"<x>\""}"#,
            "\n",
            r#"{"code":"KS1007","kind":"error","pointer":null,"input":null,"line":null,"column":null,"#,
            r#""resource":null,"version":null,"shape":null,"detail":"gone"}"#,
            "\n"
        );
        assert_eq!(String::from_utf8_lossy(&out), expected);
        let lines: Vec<bool> = out.split_inclusive(|b| *b == b'\n').map(is_finding).collect();
        assert_eq!(lines, [false, true]);
    }
}
