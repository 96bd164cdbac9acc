//! The YAML of an `Any`: values without a type in the model, as go-yaml 3 prints them.
//!
//! go-yaml indents by four and never folds lines here. The form of a string depends on its position and on what is
//! already on the line, so this printer keeps the same state as go-yaml's emitter.

use std::fmt::Write as _;

use kubeshape_yaml::{Kind, Node};

use super::resolve::{self, Tag};
use super::source::Source;

const INDENT: usize = 4;
/// Longer keys are printed after `? `.
const SIMPLE_KEY: usize = 128;

/// Appends the YAML of a value, with its line break.
pub(super) fn print(source: &Source<'_>, node: Node<'_>, out: &mut Vec<u8>) {
    // Most values are short strings that need no quotes.
    if node.kind() == Kind::Str {
        let text = source.text(node);
        if is_word(&text) {
            out.extend_from_slice(text.as_bytes());
            out.push(b'\n');
            return;
        }
    }
    let mut printer = Printer { source, out, column: 0, whitespace: true, indention: true };
    printer.node(node, Place { indent: None, item: false });
    printer.line(0);
}

/// Returns whether a string obviously needs no quotes: a letter, then letters, digits and characters that never need
/// quotes.
fn is_word(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() > 5
        && bytes[0].is_ascii_alphabetic()
        && bytes.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'/'))
}

/// The position of a value.
#[derive(Clone, Copy)]
struct Place {
    /// The indentation of the surrounding collection; `None` at the root.
    indent: Option<usize>,
    /// Whether it is an item of a list.
    item: bool,
}

impl Place {
    /// Returns the indentation of a collection or of the further lines of a scalar at this position.
    fn inner(self, scalar: bool) -> usize {
        match self.indent {
            None if scalar => INDENT,
            None => 0,
            Some(indent) if self.item => indent + 2,
            Some(indent) => (indent / INDENT + 1) * INDENT,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Plain,
    Single,
    Double,
    Literal,
}

struct Printer<'s, 'a, 'o> {
    source: &'s Source<'a>,
    out: &'o mut Vec<u8>,
    column: usize,
    /// Whether the last character printed is a separator.
    whitespace: bool,
    /// Whether only indentation and indicators are on the line.
    indention: bool,
}

impl<'a> Printer<'_, 'a, '_> {
    fn node(&mut self, node: Node<'a>, place: Place) {
        match node.kind() {
            Kind::Map if node.is_empty() => self.closed("{}"),
            Kind::Seq if node.is_empty() => self.closed("[]"),
            Kind::Map => {
                let indent = place.inner(false);
                for (key, value) in self.source.members(node).0 {
                    self.key(key, indent);
                    self.node(value, Place { indent: Some(indent), item: false });
                }
            }
            Kind::Seq => {
                let indent = place.inner(false);
                for item in node.items() {
                    self.line(indent);
                    self.indicator('-', true);
                    self.node(item, Place { indent: Some(indent), item: true });
                }
            }
            Kind::Str => {
                let text = self.source.text(node);
                self.text(&text, place.inner(true), false);
            }
            _ => {
                let text = self.source.literal(node);
                self.plain(&text, place.inner(true));
            }
        }
    }

    /// A key with its colon, at the start of a line.
    fn key(&mut self, key: Node<'a>, indent: usize) {
        self.line(indent);
        let text = self.source.text(key);
        let inner = (indent / INDENT + 1) * INDENT;
        if text.len() <= SIMPLE_KEY && !text.contains(is_break) {
            self.text(&text, inner, true);
            self.indicator(':', false);
        } else {
            self.indicator('?', true);
            self.text(&text, inner, false);
            self.line(indent);
            self.indicator(':', true);
        }
    }

    /// Moves to a column, on the next line if this one is not empty.
    fn line(&mut self, indent: usize) {
        if !self.indention || self.column > indent || (self.column == indent && !self.whitespace) {
            self.line_break();
        }
        while self.column < indent {
            self.put(' ');
        }
        self.whitespace = true;
    }

    fn line_break(&mut self) {
        self.out.push(b'\n');
        self.column = 0;
        self.indention = true;
    }

    fn put(&mut self, c: char) {
        self.out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        self.column += 1;
    }

    /// Prints `-`, `?` or the colon after it. `apart` adds a blank before it. The line stays open for a collection.
    fn indicator(&mut self, c: char, apart: bool) {
        if apart && !self.whitespace {
            self.put(' ');
        }
        self.put(c);
        self.whitespace = false;
        self.indention &= apart;
    }

    fn separate(&mut self) {
        if !self.whitespace {
            self.put(' ');
        }
    }

    fn closed(&mut self, text: &str) {
        self.separate();
        self.out.extend_from_slice(text.as_bytes());
        self.column += text.len();
        self.whitespace = false;
        self.indention = false;
    }

    fn text(&mut self, text: &str, indent: usize, key: bool) {
        match style(text, key) {
            Style::Plain => self.plain(text, indent),
            Style::Single => {
                self.separate();
                self.put('\'');
                self.lines(text, indent, true);
                self.put('\'');
                self.whitespace = false;
                self.indention = false;
            }
            Style::Double => self.double(text),
            Style::Literal => self.literal(text, indent),
        }
    }

    fn plain(&mut self, text: &str, indent: usize) {
        self.separate();
        self.lines(text, indent, false);
        self.whitespace = false;
        self.indention = false;
    }

    /// Prints the characters of a string that has no LF; the indentation follows other line breaks.
    fn lines(&mut self, text: &str, indent: usize, quoted: bool) {
        let mut broken = false;
        for c in text.chars() {
            if is_break(c) {
                self.put(c);
                self.column = 0;
                self.indention = true;
                broken = true;
                continue;
            }
            if broken && c != ' ' {
                self.line(indent);
            }
            if quoted && c == '\'' {
                self.put('\'');
            }
            self.put(c);
            if c != ' ' {
                self.indention = false;
                broken = false;
            }
        }
    }

    fn literal(&mut self, text: &str, indent: usize) {
        self.separate();
        self.put('|');
        if text.starts_with(|c| c == ' ' || is_break(c)) {
            self.put('4');
        }
        let mut back = text.chars().rev();
        match (back.next().is_some_and(is_break), back.next()) {
            (false, _) => self.put('-'),
            (true, None) => self.put('+'),
            (true, Some(c)) if is_break(c) => self.put('+'),
            (true, Some(_)) => {}
        }
        self.line_break();
        self.whitespace = true;
        let mut broken = true;
        for c in text.chars() {
            if c == '\n' {
                self.line_break();
                broken = true;
            } else if is_break(c) {
                self.put(c);
                self.column = 0;
                self.indention = true;
                broken = true;
            } else {
                if broken {
                    self.line(indent);
                }
                self.put(c);
                self.indention = false;
                broken = false;
            }
        }
    }

    fn double(&mut self, text: &str) {
        self.separate();
        self.put('"');
        // If the string begins with a byte order mark, go-yaml escapes everything.
        let all = text.starts_with('\u{FEFF}');
        for c in text.chars() {
            if !all && is_printable(c) && !is_break(c) && !matches!(c, '"' | '\\') {
                self.put(c);
                continue;
            }
            let short = match c {
                '\0' => '0',
                '\x07' => 'a',
                '\x08' => 'b',
                '\t' => 't',
                '\n' => 'n',
                '\x0B' => 'v',
                '\x0C' => 'f',
                '\r' => 'r',
                '\x1B' => 'e',
                '"' | '\\' => c,
                '\u{85}' => 'N',
                '\u{A0}' => '_',
                '\u{2028}' => 'L',
                '\u{2029}' => 'P',
                _ => {
                    let mut escape = String::new();
                    // Writing into a string cannot fail.
                    let _ = match u32::from(c) {
                        n @ ..=0xFF => write!(escape, "\\x{n:02X}"),
                        n @ ..=0xFFFF => write!(escape, "\\u{n:04X}"),
                        n => write!(escape, "\\U{n:08X}"),
                    };
                    self.out.extend_from_slice(escape.as_bytes());
                    self.column += escape.len();
                    continue;
                }
            };
            self.put('\\');
            self.put(short);
        }
        self.put('"');
        self.whitespace = false;
        self.indention = false;
    }
}

fn is_break(c: char) -> bool {
    matches!(c, '\r' | '\n' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn is_printable(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{A0}'..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}') && c != '\u{FEFF}'
}

/// Returns the form of a string: if possible, a literal block if it has line breaks, quotes if it would read as another
/// type, else plain.
fn style(text: &str, key: bool) -> Style {
    let allowed = Allowed::of(text);
    let style = if text.contains('\n') {
        Style::Literal
    } else if resolve::tag(text) != Tag::Text {
        Style::Double
    } else {
        Style::Plain
    };
    match style {
        Style::Literal if allowed.block && !key => Style::Literal,
        Style::Plain if allowed.plain => Style::Plain,
        Style::Plain if allowed.single => Style::Single,
        _ => Style::Double,
    }
}

/// The forms that a string may have.
struct Allowed {
    plain: bool,
    single: bool,
    block: bool,
}

impl Allowed {
    fn of(text: &str) -> Self {
        if text.is_empty() {
            return Allowed { plain: true, single: true, block: false };
        }
        let mut indicator = text.starts_with("---") || text.starts_with("...");
        let (mut special, mut tab, mut lines) = (false, false, false);
        let (mut space_break, mut break_space) = (false, false);
        let mut before: Option<char> = None;
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            let blank_follows = chars.peek().is_none_or(|next| matches!(next, ' ' | '\t'));
            indicator |= match (c, before) {
                (
                    '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@' | '`',
                    None,
                ) => true,
                ('?' | '-', None) | (':', _) => blank_follows,
                ('#', Some(before)) => matches!(before, ' ' | '\t' | '\0') || is_break(before),
                _ => false,
            };
            if c == '\t' {
                tab = true;
            } else if !is_printable(c) {
                special = true;
            }
            if c == ' ' {
                break_space |= before.is_some_and(is_break);
            } else if is_break(c) {
                lines = true;
                space_break |= before == Some(' ');
            }
            before = Some(c);
        }
        let edge = |c: char| c == ' ' || is_break(c);
        let edges = text.starts_with(edge) || text.ends_with(edge);
        let quotes_only = space_break || tab || special;
        Allowed {
            plain: !(edges || break_space || quotes_only || lines || indicator),
            single: !(break_space || quotes_only),
            block: !(text.ends_with(' ') || space_break || special),
        }
    }
}
