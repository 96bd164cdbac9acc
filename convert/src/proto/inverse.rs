//! Reads what [`super::any`] prints: the exact inverse of go-yaml's printer.
//!
//! No YAML reader, not even go-yaml's, reads some of go-yaml's output correctly: a string in a list that begins with a
//! line break, or a key `<<`. Its printer is known, so this reader interprets its output exactly; everything that it
//! would not print (flow collections, comments, other indentation) is left to the YAML reader.

use super::printer::Printer;

const INDENT: usize = 4;
/// The maximum nesting of documents.
const DEPTH: usize = 512;

/// Prints a value as JSON. Returns `None` if go-yaml would not print this YAML; then the contents of `out` are
/// undefined.
pub(super) fn read(yaml: &str, out: &mut Printer) -> Option<()> {
    let mut reader = Reader { text: yaml, at: 0, column: 0, depth: 0 };
    reader.node(None, false, out)?;
    reader.line(0)?;
    (reader.at == yaml.len()).then_some(())
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// The column of the current position.
    column: usize,
    depth: usize,
}

/// A scalar, and whether it is a string whatever it looks like.
struct Scalar {
    text: String,
    quoted: bool,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip(&mut self, bytes: usize) {
        self.at += bytes;
        self.column += bytes;
    }

    fn take(&mut self, text: &str) -> Option<()> {
        self.rest().starts_with(text).then(|| self.skip(text.len()))
    }

    /// Moves to the start of the next line, unless it is there, and over its indentation.
    fn line(&mut self, indent: usize) -> Option<()> {
        if self.column > 0 {
            self.take("\n")?;
            self.column = 0;
        }
        self.pad(indent)
    }

    /// Skips blanks up to a column, and fails if there are more.
    fn pad(&mut self, column: usize) -> Option<()> {
        while self.column < column {
            self.take(" ")?;
        }
        Some(())
    }

    /// Returns the indentation of the next line.
    fn next_indent(&self) -> Option<usize> {
        let line = if self.column > 0 { self.rest().strip_prefix('\n')? } else { self.rest() };
        let blanks = line.bytes().take_while(|b| *b == b' ').count();
        (blanks < line.len()).then_some(blanks)
    }

    /// Reads a value after an indicator, or at the start.
    fn node(&mut self, around: Option<usize>, item: bool, out: &mut Printer) -> Option<()> {
        self.depth += 1;
        if self.depth > DEPTH {
            return None;
        }
        let collection = match around {
            None => 0,
            Some(indent) if item => indent + 2,
            Some(indent) => (indent / INDENT + 1) * INDENT,
        };
        let scalar = if around.is_none() { INDENT } else { collection };
        if around.is_some() && !item && self.rest().starts_with('\n') {
            // A collection below its key.
            if self.next_indent()? != collection {
                return None;
            }
            self.line(collection)?;
            self.block(collection, out)?;
        } else {
            if around.is_some() {
                self.take(" ")?;
            }
            let behind = self.rest().trim_start_matches(' ');
            if self.column + self.rest().len() - behind.len() == collection && self.is_block(behind) {
                self.pad(collection)?;
                self.block(collection, out)?;
            } else if self.take("{}").is_some() {
                out.mark(b'{');
                out.mark(b'}');
            } else if self.take("[]").is_some() {
                out.mark(b'[');
                out.mark(b']');
            } else {
                let scalar = self.scalar(scalar, false)?;
                if scalar.quoted { out.text(&scalar.text) } else { out.plain(&scalar.text) }
            }
        }
        self.depth -= 1;
        Some(())
    }

    /// Returns whether a block collection begins here.
    fn is_block(&self, text: &'a str) -> bool {
        if text.starts_with("- ") || text.starts_with("? ") {
            return true;
        }
        let mut reader = Reader { text, at: 0, column: 0, depth: self.depth };
        reader.scalar(0, true).is_some() && reader.rest().starts_with(':')
    }

    /// Reads a block collection, whose first entry is here.
    fn block(&mut self, indent: usize, out: &mut Printer) -> Option<()> {
        let list = self.rest().starts_with("- ");
        out.mark(if list { b'[' } else { b'{' });
        loop {
            if list {
                self.take("-")?;
                self.node(Some(indent), true, out)?;
            } else {
                let explicit = self.take("? ").is_some();
                let key = self.scalar((indent / INDENT + 1) * INDENT, !explicit)?;
                out.text(&key.text);
                out.mark(b':');
                if explicit {
                    self.line(indent)?;
                }
                self.take(":")?;
                self.node(Some(indent), false, out)?;
            }
            if self.next_indent() != Some(indent) {
                break;
            }
            self.line(indent)?;
            out.mark(b',');
        }
        out.mark(if list { b']' } else { b'}' });
        Some(())
    }

    /// Reads a scalar of any form.
    fn scalar(&mut self, indent: usize, key: bool) -> Option<Scalar> {
        let text = match self.rest().as_bytes().first()? {
            b'|' if !key => self.literal(indent)?,
            b'"' => self.double()?,
            b'\'' => self.single()?,
            _ => return self.plain(key),
        };
        Some(Scalar { text, quoted: true })
    }

    fn plain(&mut self, key: bool) -> Option<Scalar> {
        let line = self.rest().split('\n').next()?;
        let key_end = line.find(": ").or_else(|| line.ends_with(':').then(|| line.len() - 1));
        let text = match (key, key_end) {
            (true, Some(end)) => &line[..end],
            (false, None) => line,
            _ => return None,
        };
        let first = text.chars().next()?;
        let indicator =
            matches!(first, ' ' | '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '%' | '@' | '`');
        let lone = matches!(first, '-' | '?' | ':') && text[1..].chars().next().is_none_or(|c| c == ' ');
        let marker = text.starts_with("---") || text.starts_with("...");
        if indicator || lone || marker || text.contains(" #") || text.ends_with(' ') || text.contains(is_break) {
            return None;
        }
        self.skip(text.len());
        Some(Scalar { text: text.to_owned(), quoted: false })
    }

    fn single(&mut self) -> Option<String> {
        self.take("'")?;
        let mut out = String::new();
        let mut chars = self.rest().char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            match c {
                '\'' if chars.next_if(|next| next.1 == '\'').is_some() => out.push(c),
                '\'' => {
                    self.skip(at + 1);
                    return Some(out);
                }
                '\n' => return None,
                c => {
                    out.push(c);
                    while is_break(c) && chars.next_if(|next| next.1 == ' ').is_some() {}
                }
            }
        }
        None
    }

    fn double(&mut self) -> Option<String> {
        self.take("\"")?;
        let mut out = String::new();
        let mut chars = self.rest().char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.skip(at + 1);
                    return Some(out);
                }
                '\\' => out.push(escape(&mut chars)?),
                c if is_break(c) => return None,
                c => out.push(c),
            }
        }
        None
    }

    /// Reads a literal block, whose lines are indented by `indent`.
    fn literal(&mut self, indent: usize) -> Option<String> {
        self.take("|")?;
        let hint = self.take("4").is_some();
        let (strip, keep) = (self.take("-").is_some(), self.take("+").is_some());
        self.take("\n")?;
        let mut out = String::new();
        let margin = " ".repeat(indent);
        loop {
            let line = self.rest();
            let end = line.find(is_break)?;
            let length = line[end..].chars().next()?.len_utf8();
            let content = if end == 0 { "" } else { line.strip_prefix(margin.as_str())?.get(..end - indent)? };
            out.push_str(content);
            self.at += end;
            let rest = &line[end + length..];
            let goes_on = rest.starts_with(is_break) || (rest.starts_with(margin.as_str()) && !rest.is_empty());
            if strip && !goes_on {
                // The line break belongs to the next line of the collection.
                self.column = indent + 1;
                break;
            }
            out.push_str(&line[end..end + length]);
            self.at += length;
            self.column = 0;
            if !goes_on {
                break;
            }
        }
        let edge = |c: char| c == ' ' || is_break(c);
        let mut back = out.chars().rev();
        let ends = (back.next().is_some_and(is_break), back.next().is_none_or(is_break));
        let expected = (ends == (false, ends.1), ends == (true, true));
        (out.contains('\n') && hint == out.starts_with(edge) && (strip, keep) == expected).then_some(out)
    }
}

/// Returns the character of an escape, after the backslash.
fn escape(chars: &mut std::str::CharIndices<'_>) -> Option<char> {
    let digits = match chars.next()?.1 {
        '0' => return Some('\0'),
        'a' => return Some('\x07'),
        'b' => return Some('\x08'),
        't' => return Some('\t'),
        'n' => return Some('\n'),
        'v' => return Some('\x0B'),
        'f' => return Some('\x0C'),
        'r' => return Some('\r'),
        'e' => return Some('\x1B'),
        '"' => return Some('"'),
        '\\' => return Some('\\'),
        'N' => return Some('\u{85}'),
        '_' => return Some('\u{A0}'),
        'L' => return Some('\u{2028}'),
        'P' => return Some('\u{2029}'),
        'x' => 2,
        'u' => 4,
        'U' => 8,
        _ => return None,
    };
    let number = (0..digits).try_fold(0u32, |number, _| Some(number << 4 | chars.next()?.1.to_digit(16)?))?;
    char::from_u32(number)
}

fn is_break(c: char) -> bool {
    matches!(c, '\r' | '\n' | '\u{85}' | '\u{2028}' | '\u{2029}')
}
