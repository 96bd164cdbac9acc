//! From the text of a scalar back to its source.

use crate::tape::{Flags, Node};
use std::ops::Range;

impl Node<'_> {
    /// Returns the byte range of the source from which a part of the scalar's text was read. `part` is a range of bytes
    /// of [`Node::text`]. Quotes, escapes, folded lines and the indentation of block scalars are taken into account.
    /// White space that folding made is located after the character before it. The range is that of the whole node if
    /// `part` is not in the text, or if the node is a container.
    ///
    /// The cost is linear in the length of the text.
    ///
    /// # Example
    /// ```
    /// use kubeshape_yaml::{Limits, Stream, Tape};
    /// let source = "rule: |\n  self.a &&\n    self.b\n";
    /// let mut stream = Stream::new(source.as_bytes(), Limits::default()).unwrap();
    /// let mut tape = Tape::new();
    /// stream.next(&mut tape).unwrap().unwrap();
    /// let rule = tape.document(source).root().unwrap().get("rule").unwrap();
    /// let at = rule.text().find("self.b").unwrap();
    /// let found = rule.source_of(at..at + 6);
    /// assert_eq!((found.start, &source[found]), (24, "self.b"));
    /// ```
    pub fn source_of(self, part: Range<usize>) -> Range<usize> {
        let (entry, text, span) = (self.entry(), self.text(), self.span());
        let source = self.document().source();
        let (Some(before), Some(inside)) = (text.get(..part.start), text.get(part.clone())) else { return span };
        if entry.is_container() || entry.flags.has(Flags::RESOLVED_KEY) {
            return span;
        }
        if !entry.flags.has(Flags::DECODED) {
            let start = entry.a as usize;
            return start + part.start..start + part.end;
        }
        let Some(mut characters) = source.get(span.clone()).map(|written| Written::of(written, entry.flags)) else {
            return span;
        };
        let visible = |text: &str| text.chars().filter(|c| !is_white(*c)).count();
        let last = visible(before).checked_sub(1).map(|n| characters.nth(n));
        let behind = match last {
            None => characters.start(),
            Some(Some(last)) => last.end,
            Some(None) => return span,
        };
        let shift = |range: Range<usize>| span.start + range.start..span.start + range.end;
        let Some(first) = (visible(inside) > 0).then(|| characters.next()).flatten() else {
            return shift(behind..behind);
        };
        let end = visible(inside).checked_sub(2).and_then(|n| characters.nth(n)).map_or(first.end, |last| last.end);
        let start = if inside.starts_with(is_white) { behind } else { first.start };
        shift(start..end.max(start))
    }
}

/// Returns whether folding, indentation or chomping can change a character.
fn is_white(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// How a scalar is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Plain,
    Single,
    Double,
    Block,
}

/// The characters of a scalar that are not white space, as ranges of its source.
struct Written<'s> {
    source: &'s str,
    style: Style,
    at: usize,
}

impl<'s> Written<'s> {
    fn of(source: &'s str, flags: Flags) -> Written<'s> {
        let first = source.bytes().next().filter(|_| flags.has(Flags::QUOTED));
        let style = match first {
            Some(b'"') => Style::Double,
            Some(b'\'') => Style::Single,
            Some(b'|' | b'>') => Style::Block,
            _ => Style::Plain,
        };
        Written { source, style, at: Written::start_of(source, style) }
    }

    /// Returns where the text begins: after the quote, or in the line below the indicator of a block.
    fn start_of(source: &str, style: Style) -> usize {
        match style {
            Style::Plain => 0,
            Style::Single | Style::Double => 1,
            Style::Block => source.find('\n').map_or(source.len(), |at| at + 1),
        }
    }

    fn start(&self) -> usize {
        Written::start_of(self.source, self.style)
    }

    /// Reads an escape of a double-quoted scalar, without its backslash. Returns its length, and whether it is white
    /// space.
    fn escape(rest: &str) -> (usize, bool) {
        let Some(c) = rest.chars().next() else { return (0, true) };
        let digits = match c {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            // An escaped line break, and escapes of white space.
            _ if is_white(c) => return (c.len_utf8(), true),
            't' | 'n' | 'r' | 'N' | 'L' | 'P' => return (1, true),
            c => return (c.len_utf8(), false),
        };
        let code = |text: &str| text.get(1..=digits).and_then(|code| u32::from_str_radix(code, 16).ok());
        let Some(first) = code(rest) else { return (c.len_utf8(), false) };
        let length = 1 + digits;
        let low = rest[length..].strip_prefix("\\u").and_then(|_| code(&rest[length + 1..]));
        if digits == 4 && (0xD800..0xDC00).contains(&first) && low.is_some_and(|low| (0xDC00..0xE000).contains(&low)) {
            return (2 * length + 1, false);
        }
        (length, char::from_u32(first).is_some_and(is_white))
    }
}

impl Iterator for Written<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        loop {
            let rest = &self.source[self.at..];
            let c = rest.chars().next()?;
            let start = self.at;
            let mut white = is_white(c);
            self.at += c.len_utf8();
            match (self.style, c) {
                (Style::Double, '\\') => {
                    let length;
                    (length, white) = Written::escape(&rest[1..]);
                    self.at += length;
                }
                (Style::Single, '\'') if rest.starts_with("''") => self.at += 1,
                (Style::Double, '"') | (Style::Single, '\'') => {
                    self.at = self.source.len();
                    return None;
                }
                _ => {}
            }
            if !white {
                return Some(start..self.at);
            }
        }
    }
}
