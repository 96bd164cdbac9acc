//! Positions of a protocol client, and bytes of a text.

use lsp_types::{Position, Range};

/// What a column of a client counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// Bytes of UTF-8.
    Utf8,
    /// Units of UTF-16, which every client can count.
    #[default]
    Utf16,
}

/// A text and its lines.
///
/// # Example
/// ```
/// use kubeshape_language::{Encoding, Text};
/// use lsp_types::Position;
///
/// let text = Text::new("a: 𝄞x\nb: 1\n".to_owned());
/// assert_eq!(text.position(7, Encoding::Utf16), Position::new(0, 5));
/// assert_eq!(text.position(7, Encoding::Utf8), Position::new(0, 7));
/// assert_eq!(text.offset(Position::new(1, 3), Encoding::Utf16), 12);
/// // A position behind the end of a line is the end of the line.
/// assert_eq!(text.offset(Position::new(1, 99), Encoding::Utf16), 13);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    text: String,
    /// Where lines begin.
    starts: Vec<usize>,
}

impl Default for Text {
    fn default() -> Self {
        Text::new(String::new())
    }
}

impl Text {
    /// Creates a text.
    pub fn new(text: String) -> Text {
        let mut starts = vec![0];
        let bytes = text.as_bytes();
        let breaks = memchr::memchr2_iter(b'\n', b'\r', bytes);
        // A line feed after a carriage return belongs to the same break.
        let breaks = breaks.filter(|at| bytes.get(*at) == Some(&b'\n') || bytes.get(at + 1) != Some(&b'\n'));
        starts.extend(breaks.map(|at| at + 1));
        Text { text, starts }
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the number of lines.
    pub fn lines(&self) -> usize {
        self.starts.len()
    }

    /// Returns the bytes of a line without its break, and where it begins. Lines after the last are empty.
    pub fn line(&self, line: usize) -> (usize, &str) {
        let start = self.starts.get(line).copied().unwrap_or(self.text.len());
        let end = self.starts.get(line + 1).copied().unwrap_or(self.text.len());
        (start, self.text.get(start..end).unwrap_or_default().trim_end_matches(['\n', '\r']))
    }

    /// Returns the line that contains a byte.
    pub fn line_of(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset).saturating_sub(1)
    }

    /// Returns the byte at a position. Positions outside of the text are moved into it.
    pub fn offset(&self, position: Position, encoding: Encoding) -> usize {
        let line = position.line as usize;
        if line >= self.starts.len() {
            return self.text.len();
        }
        let (start, text) = self.line(line);
        let wanted = position.character as usize;
        let mut units = 0;
        for (at, c) in text.char_indices() {
            if units >= wanted {
                return start + at;
            }
            units += match encoding {
                Encoding::Utf8 => c.len_utf8(),
                Encoding::Utf16 => c.len_utf16(),
            };
        }
        start + text.len()
    }

    /// Returns the position of a byte.
    pub fn position(&self, offset: usize, encoding: Encoding) -> Position {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.line_of(offset);
        let (start, text) = self.line(line);
        let before = text.get(..(offset - start).min(text.len())).unwrap_or_default();
        let character = match encoding {
            Encoding::Utf8 => before.len(),
            Encoding::Utf16 => before.chars().map(char::len_utf16).sum(),
        };
        Position::new(line as u32, character as u32)
    }

    /// Returns the range of bytes.
    pub fn range(&self, span: std::ops::Range<usize>, encoding: Encoding) -> Range {
        Range::new(self.position(span.start, encoding), self.position(span.end.max(span.start), encoding))
    }

    /// Replaces a range.
    pub fn replace(&mut self, range: Range, new: &str, encoding: Encoding) {
        let (start, end) = (self.offset(range.start, encoding), self.offset(range.end, encoding));
        let mut text = std::mem::take(&mut self.text);
        text.replace_range(start..end.max(start), new);
        *self = Text::new(text);
    }
}
