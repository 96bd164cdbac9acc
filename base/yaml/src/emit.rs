//! Printing YAML as Kubernetes' tools print it.
//!
//! Prints block style with two spaces per level and sequences at the column of their key. Strings have no quotes where
//! Kubernetes' reader reads the same string back.

mod rewrite;

pub use rewrite::Rewriter;

use crate::go::number;
use crate::resolve::{self, Tag, Value};
use crate::{Kind, Node};

/// Where the next node goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// At the start of a line, as a document.
    Root,
    /// After the colon of a key.
    Value,
    /// After `- `.
    Item,
}

/// An open collection.
#[derive(Clone, Copy, Debug)]
struct Level {
    /// Column of its keys or dashes.
    column: usize,
    map: bool,
    /// Where it begins, as long as nothing of it is printed.
    empty: Option<Place>,
}

/// Prints one document after the other into a buffer.
///
/// Call [`key`](Emitter::key) before every value of a mapping and [`item`](Emitter::item) before every item of a
/// sequence. Calls in another order print wrong output, but never panic.
///
/// # Example
/// ```
/// use kubeshape_yaml::emit::Emitter;
/// let mut out = Vec::new();
/// let mut emitter = Emitter::new(&mut out);
/// emitter.begin_map();
/// emitter.key("name");
/// emitter.str("yes");
/// emitter.key("args");
/// emitter.begin_seq();
/// emitter.item();
/// emitter.str("--v=2");
/// emitter.item();
/// emitter.begin_map();
/// emitter.key("text");
/// emitter.str("a\nb\n");
/// emitter.key("none");
/// emitter.begin_map();
/// emitter.end_map();
/// emitter.end_map();
/// emitter.end_seq();
/// emitter.end_map();
/// assert_eq!(String::from_utf8(out).unwrap(), "\
/// name: \"yes\"
/// args:
/// - --v=2
/// - text: |
///     a
///     b
///   none: {}
/// ");
/// ```
#[derive(Debug)]
pub struct Emitter<'a> {
    out: &'a mut Vec<u8>,
    levels: Vec<Level>,
    place: Place,
    folds: bool,
    /// Length of `out` in bytes from which on nothing is indented.
    most: usize,
}

impl<'a> Emitter<'a> {
    /// Creates an emitter that appends to `out`.
    pub fn new(out: &'a mut Vec<u8>) -> Self {
        Emitter { out, levels: Vec::new(), place: Place::Root, folds: false, most: usize::MAX }
    }

    /// Bounds the output, because the indentation of deeply nested input is far larger than its content. Beyond this
    /// many bytes, [`is_full`](Emitter::is_full) is true and nothing is indented, so the output is no longer correct.
    ///
    /// # Example
    /// ```
    /// let mut out = Vec::new();
    /// let mut emitter = kubeshape_yaml::emit::Emitter::new(&mut out).within(2);
    /// emitter.begin_map();
    /// assert!(!emitter.is_full());
    /// emitter.key("text");
    /// assert!(emitter.is_full());
    /// ```
    #[must_use]
    pub fn within(self, most: usize) -> Self {
        Emitter { most, ..self }
    }

    /// Returns whether the output is larger than the bound.
    pub fn is_full(&self) -> bool {
        self.out.len() > self.most
    }

    /// Breaks long lines, as API servers and kubectl do: at the first single blank after column 80. Strings with line
    /// breaks that go-yaml cannot write as blocks are quoted (go-yaml: `yaml_emitter_analyze_scalar` and the functions
    /// that write scalars).
    ///
    /// # Example
    /// ```
    /// let mut out = Vec::new();
    /// let mut emitter = kubeshape_yaml::emit::Emitter::new(&mut out).folding();
    /// emitter.begin_map();
    /// emitter.key("message");
    /// emitter.str(&format!("{} b c", "a".repeat(80)));
    /// emitter.end_map();
    /// assert_eq!(String::from_utf8(out).unwrap(), format!("message: {}\n  b c\n", "a".repeat(80)));
    /// ```
    #[must_use]
    pub fn folding(self) -> Self {
        Emitter { folds: true, ..self }
    }

    /// Prints the marker `---` in front of another document.
    ///
    /// # Example
    /// ```
    /// let mut out = Vec::new();
    /// let mut emitter = kubeshape_yaml::emit::Emitter::new(&mut out);
    /// emitter.bool(true);
    /// emitter.document();
    /// emitter.null();
    /// assert_eq!(out, b"true\n---\nnull\n");
    /// ```
    pub fn document(&mut self) {
        self.levels.clear();
        self.place = Place::Root;
        self.out.extend_from_slice(b"---\n");
    }

    /// Begins a mapping.
    pub fn begin_map(&mut self) {
        self.begin(true);
    }

    /// Begins a sequence.
    pub fn begin_seq(&mut self) {
        self.begin(false);
    }

    fn begin(&mut self, map: bool) {
        let column = match (self.place, self.levels.last()) {
            (Place::Root, _) | (_, None) => 0,
            (Place::Value, Some(level)) if !map => level.column,
            (_, Some(level)) => level.column + 2,
        };
        self.levels.push(Level { column, map, empty: Some(self.place) });
    }

    /// Ends the mapping that was begun last.
    pub fn end_map(&mut self) {
        self.end();
    }

    /// Ends the sequence that was begun last.
    pub fn end_seq(&mut self) {
        self.end();
    }

    fn end(&mut self) {
        let Some(level) = self.levels.pop() else {
            return;
        };
        if let Some(place) = level.empty {
            self.place = place;
            self.scalar(if level.map { b"{}" } else { b"[]" });
        }
        self.place = Place::Root;
    }

    /// Moves to the column of the innermost collection.
    fn line(&mut self) {
        let Some(level) = self.levels.last_mut() else {
            return;
        };
        let column = level.column;
        match level.empty.take() {
            // The value continues after the dash, or at the start of the document.
            Some(Place::Item | Place::Root) => return,
            Some(Place::Value) => self.out.push(b'\n'),
            None => {}
        }
        self.indent(column);
    }

    fn indent(&mut self, column: usize) {
        const BLANKS: [u8; 64] = [b' '; 64];
        let mut left = if self.is_full() { 0 } else { column };
        while left > 0 {
            let n = left.min(BLANKS.len());
            self.out.extend_from_slice(&BLANKS[..n]);
            left -= n;
        }
    }

    /// Prints a key; its value comes next.
    pub fn key(&mut self, key: &str) {
        self.line();
        let from = self.out.len();
        line(key, self.out);
        if self.out.len() - from > KEY_LENGTH {
            // After the indicator `? `, keys may have any length.
            let text = self.out.split_off(from);
            self.out.extend_from_slice(b"? ");
            self.out.extend_from_slice(&text);
            self.out.push(b'\n');
            let column = self.levels.last().map_or(0, |level| level.column);
            self.indent(column);
        }
        self.out.push(b':');
        self.place = Place::Value;
    }

    /// Prints the dash of an item; the item comes next.
    pub fn item(&mut self) {
        self.line();
        self.out.extend_from_slice(b"- ");
        self.place = Place::Item;
    }

    fn scalar(&mut self, text: &[u8]) {
        self.lead();
        self.out.extend_from_slice(text);
        self.out.push(b'\n');
    }

    fn lead(&mut self) {
        if self.place == Place::Value {
            self.out.push(b' ');
        }
        self.place = Place::Root;
    }

    /// Prints a string.
    pub fn str(&mut self, text: &str) {
        self.lead();
        if self.folds {
            self.folded(text);
            return;
        }
        match style(text) {
            Style::Plain => self.out.extend_from_slice(text.as_bytes()),
            Style::Single => single(text, self.out),
            Style::Double => double(text, self.out),
            Style::Literal => {
                self.literal(text);
                return;
            }
        }
        self.out.push(b'\n');
    }

    /// Prints a string as go-yaml does.
    fn folded(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut style = style(text);
        if style == Style::Literal {
            let is_refused = bytes.contains(&b'\t') || text.contains(" \n") || bytes.last() == Some(&b' ');
            if is_refused {
                style = Style::Double;
            } else if bytes.first() == Some(&b'\n') {
                self.literal_with(text, true);
                return;
            }
        }
        if style == Style::Literal {
            self.literal(text);
            return;
        }
        let from = self.out.len();
        match style {
            Style::Single => single(text, self.out),
            Style::Double => double(text, self.out),
            Style::Plain | Style::Literal => self.out.extend_from_slice(bytes),
        }
        let start = memchr::memrchr(b'\n', &self.out[..from]).map_or(0, |at| at + 1);
        let column = self.levels.last().map_or(2, |level| level.column + 2);
        // Most strings end before the margin.
        if self.out.len() - start > WIDTH {
            let printed = self.out.split_off(from);
            let before = count(&self.out[start..]);
            self.fold(&printed, before, column, style);
        }
        self.out.push(b'\n');
    }

    /// Appends a printed scalar and breaks it at blanks. `at` is the column at which it begins.
    fn fold(&mut self, printed: &[u8], at: usize, column: usize, style: Style) {
        let quotes = usize::from(style != Style::Plain);
        let (mut at, mut after_blank) = (at, false);
        for (place, byte) in printed.iter().enumerate() {
            let next = printed.get(place + 1);
            let is_inside = quotes == 0 || (place > quotes && place + 1 + quotes < printed.len());
            // In double quotes, a blank at the start of the next line is escaped with a backslash.
            let breaks = *byte == b' '
                && !after_blank
                && at > WIDTH
                && is_inside
                && (style == Style::Double || next != Some(&b' '));
            if breaks {
                self.out.push(b'\n');
                self.indent(column);
                at = column;
                if style == Style::Double && next == Some(&b' ') {
                    self.out.push(b'\\');
                    at += 1;
                }
            } else {
                self.out.push(*byte);
                at += usize::from(byte & 0xC0 != 0x80);
            }
            after_blank = *byte == b' ';
        }
    }

    fn literal(&mut self, text: &str) {
        self.literal_with(text, false);
    }

    /// Prints a block scalar. `indented` writes the indentation indicator even if the first line does not need it.
    fn literal_with(&mut self, text: &str, indented: bool) {
        let column = self.levels.last().map_or(2, |level| level.column + 2);
        self.out.push(b'|');
        let body = text.trim_end_matches('\n');
        // If the first line begins with a blank, the indentation must be written.
        if indented || body.trim_start_matches('\n').starts_with([' ', '\t']) {
            self.out.push(b'2');
        }
        match text.len() - body.len() {
            0 => self.out.push(b'-'),
            1 => {}
            _ => self.out.push(b'+'),
        }
        self.out.push(b'\n');
        let mut from = 0;
        let bytes = text.as_bytes();
        while from < bytes.len() {
            let end = memchr::memchr(b'\n', &bytes[from..]).map_or(bytes.len(), |n| from + n);
            if end > from {
                self.indent(column);
                self.out.extend_from_slice(&bytes[from..end]);
            }
            self.out.push(b'\n');
            from = end + 1;
        }
    }

    /// Prints a signed integer.
    pub fn int(&mut self, n: i64) {
        self.lead();
        number::write_int(n, self.out);
        self.out.push(b'\n');
    }

    /// Prints an unsigned integer.
    pub fn uint(&mut self, n: u64) {
        self.lead();
        number::write_uint(n, self.out);
        self.out.push(b'\n');
    }

    /// Prints a double with the digits of its JSON literal. Infinities and not-a-number are printed as in YAML;
    /// Kubernetes rejects them as values.
    pub fn float(&mut self, n: f64) {
        self.lead();
        if n.is_nan() {
            self.out.extend_from_slice(b".nan");
        } else if n.is_infinite() {
            self.out.extend_from_slice(if n > 0.0 { b".inf" } else { b"-.inf" });
        } else if n == 0.0 && n.is_sign_negative() {
            self.out.extend_from_slice(b"-0.0");
        } else {
            number::write_json(n, self.out);
        }
        self.out.push(b'\n');
    }

    /// Prints a boolean.
    pub fn bool(&mut self, yes: bool) {
        self.scalar(if yes { b"true" } else { b"false" });
    }

    /// Prints a null.
    pub fn null(&mut self) {
        self.scalar(b"null");
    }

    /// Prints a node that was read, with its pairs in source order and with all repeated keys.
    ///
    /// # Example
    /// ```
    /// use kubeshape_yaml::{Limits, Stream, Tape, emit::Emitter};
    /// let source = r#"{"a": [1.50, "yes", {}], "b": {"c": null}}"#;
    /// let mut stream = Stream::new(source.as_bytes(), Limits::default()).unwrap();
    /// let mut tape = Tape::new();
    /// stream.next(&mut tape).unwrap().unwrap();
    /// let mut out = Vec::new();
    /// Emitter::new(&mut out).node(tape.document(source).root().unwrap());
    /// assert_eq!(String::from_utf8(out).unwrap(), "a:\n- 1.5\n- \"yes\"\n- {}\nb:\n  c: null\n");
    /// ```
    pub fn node(&mut self, node: Node<'_>) {
        let document = node.document();
        // Open collections: where they end, whether they are mappings, and whether a key comes next.
        let mut open: Vec<(u32, bool, bool)> = Vec::new();
        let mut index = node.index();
        loop {
            while let Some((end, ..)) = open.last() {
                if index < *end {
                    break;
                }
                open.pop();
                self.end();
            }
            let current = document.node(index);
            match open.last_mut() {
                None if index > node.index() => return,
                None => {}
                Some((_, true, key)) => {
                    let is_key = *key;
                    *key = !is_key;
                    if is_key {
                        self.key(current.text());
                        index += 1;
                        continue;
                    }
                }
                Some(_) => self.item(),
            }
            match current.kind() {
                Kind::Map | Kind::Seq => {
                    let map = current.kind() == Kind::Map;
                    self.begin(map);
                    open.push((current.entry().a, map, true));
                }
                Kind::Str => self.str(current.text()),
                Kind::Null => self.null(),
                Kind::True => self.bool(true),
                Kind::False => self.bool(false),
                Kind::Int | Kind::Float => match current.as_number() {
                    Some(number::Number::Int(n)) => self.int(n),
                    Some(number::Number::Uint(n)) => self.uint(n),
                    Some(number::Number::Float(n)) => self.float(n),
                    None => self.null(),
                },
            }
            index += 1;
            if open.is_empty() {
                return;
            }
        }
    }
}

/// The column after which lines are broken (go-yaml: `best_width`).
const WIDTH: usize = 80;

/// Counts characters.
fn count(text: &[u8]) -> usize {
    text.iter().filter(|byte| **byte & 0xC0 != 0x80).count()
}

/// Longer keys are printed after `? `.
const KEY_LENGTH: usize = 1000;

/// How a string is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    Plain,
    Single,
    Double,
    Literal,
}

const FINE: u8 = 0;
/// Space, colon and hash: what they mean depends on the characters next to them.
const CONTEXT: u8 = 1;
const LINE_FEED: u8 = 2;
/// Characters that only block strings may contain.
const TAB: u8 = 3;
/// The first byte of characters that may have to be escaped.
const LEAD: u8 = 4;
const REFUSED: u8 = 5;

const CLASS: [u8; 256] = {
    let mut table = [FINE; 256];
    let mut i = 0;
    while i < 0x20 {
        table[i] = REFUSED;
        i += 1;
    }
    table[0x7F] = REFUSED;
    table[b'\n' as usize] = LINE_FEED;
    table[b'\t' as usize] = TAB;
    table[b' ' as usize] = CONTEXT;
    table[b':' as usize] = CONTEXT;
    table[b'#' as usize] = CONTEXT;
    table[0xC2] = LEAD;
    table[0xE2] = LEAD;
    table[0xEF] = LEAD;
    table
};

/// Bytes with which a plain scalar cannot begin.
const NO_START: [bool; 256] = {
    let mut table = [false; 256];
    let bytes = b" ?:,[]{}#&*!|>'\"%@`";
    let mut i = 0;
    while i < bytes.len() {
        table[bytes[i] as usize] = true;
        i += 1;
    }
    table
};

/// Returns whether the character that begins here is one that YAML rejects, one of its rarer line breaks, or the byte
/// order mark.
fn refused_character(bytes: &[u8], at: usize) -> bool {
    matches!(
        bytes[at..],
        [0xC2, 0x80..=0x9F, ..]
            | [0xE2, 0x80, 0xA8 | 0xA9, ..]
            | [0xEF, 0xBB, 0xBF, ..]
            | [0xEF, 0xBF, 0xBE | 0xBF, ..]
    )
}

/// Appends a string on one line, for programs that write the lines around it themselves. It has quotes where
/// Kubernetes' reader would read something else without them.
///
/// # Example
/// ```
/// let mut out = Vec::new();
/// for text in ["a b", "on", "it's #1", "two\nlines"] {
///     kubeshape_yaml::emit::line(text, &mut out);
///     out.push(b'|');
/// }
/// assert_eq!(out, br#"a b|"on"|'it''s #1'|"two\nlines"|"#);
/// ```
pub fn line(text: &str, out: &mut Vec<u8>) {
    match style(text) {
        Style::Plain => out.extend_from_slice(text.as_bytes()),
        Style::Single => single(text, out),
        Style::Double | Style::Literal => double(text, out),
    }
}

fn style(text: &str) -> Style {
    let bytes = text.as_bytes();
    let Some(first) = bytes.first() else {
        return Style::Double;
    };
    let mut plain = !NO_START[*first as usize];
    let mut lines = false;
    let mut tab = false;
    for (at, byte) in bytes.iter().enumerate() {
        match CLASS[*byte as usize] {
            FINE => {}
            CONTEXT => match byte {
                b':' => plain &= !matches!(bytes.get(at + 1), None | Some(b' ')),
                b'#' => plain &= at == 0 || bytes[at - 1] != b' ',
                _ => {}
            },
            LINE_FEED => lines = true,
            TAB => tab = true,
            LEAD if !refused_character(bytes, at) => {}
            _ => return Style::Double,
        }
    }
    if lines {
        return if bytes.iter().all(|b| *b == b'\n') { Style::Double } else { Style::Literal };
    }
    if tab {
        return Style::Double;
    }
    match first {
        b'-' => plain &= !matches!(bytes.get(1), None | Some(b' ')) && !text.starts_with("---"),
        b'.' => plain &= !text.starts_with("..."),
        b'<' => plain &= text != "<<",
        _ => {}
    }
    if resolve::FIRST[*first as usize] != resolve::TEXT && ambiguous(text) {
        return Style::Double;
    }
    if plain && bytes.last() != Some(&b' ') { Style::Plain } else { Style::Single }
}

/// Returns whether the string without quotes is not a string for Kubernetes' reader, or is a date or a base-60 number
/// for other readers.
fn ambiguous(text: &str) -> bool {
    resolve::plain(text) != Value::Str || sixty(text) || resolve::tagged(Tag::Timestamp, text) == Ok(Value::Timestamp)
}

/// Returns whether a string is a base-60 number: digits, then groups of at most two digits after colons, whose first
/// digit of two is at most five, then an optional fraction (go-yaml: `base60float`). `127.0.0.1:80` is not one.
fn sixty(text: &str) -> bool {
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit() || b == b'_');
    let Some((head, groups)) = text.split_once(':') else {
        return false;
    };
    let (groups, fraction) = groups.split_once('.').unwrap_or((groups, ""));
    let group = |group: &str| matches!(group.as_bytes(), [b'0'..=b'9'] | [b'0'..=b'5', b'0'..=b'9']);
    head.starts_with(|c: char| c.is_ascii_digit()) && digits(head) && digits(fraction) && groups.split(':').all(group)
}

fn single(text: &str, out: &mut Vec<u8>) {
    out.push(b'\'');
    for (n, part) in text.split('\'').enumerate() {
        if n > 0 {
            out.extend_from_slice(b"''");
        }
        out.extend_from_slice(part.as_bytes());
    }
    out.push(b'\'');
}

fn double(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut from = 0;
    for (at, c) in text.char_indices() {
        let code = c as u32;
        let escape = match c {
            '"' => "\\\"",
            '\\' => "\\\\",
            '\n' => "\\n",
            '\t' => "\\t",
            '\r' => "\\r",
            '\0' => "\\0",
            '\u{7}' => "\\a",
            '\u{8}' => "\\b",
            '\u{B}' => "\\v",
            '\u{C}' => "\\f",
            '\u{1B}' => "\\e",
            '\u{85}' => "\\N",
            '\u{2028}' => "\\L",
            '\u{2029}' => "\\P",
            '\0'..='\u{1F}' | '\u{7F}'..='\u{9F}' | '\u{FEFF}' | '\u{FFFE}' | '\u{FFFF}' => "",
            _ => continue,
        };
        out.extend_from_slice(&bytes[from..at]);
        from = at + c.len_utf8();
        if escape.is_empty() {
            let text = if code < 0x100 { format!("\\x{code:02X}") } else { format!("\\u{code:04X}") };
            out.extend_from_slice(text.as_bytes());
        } else {
            out.extend_from_slice(escape.as_bytes());
        }
    }
    out.extend_from_slice(&bytes[from..]);
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> String {
        let mut out = Vec::new();
        let mut emitter = Emitter::new(&mut out);
        emitter.begin_map();
        emitter.key("k");
        emitter.str(text);
        emitter.end_map();
        String::from_utf8(out).unwrap_or_default()
    }

    #[test]
    fn strings_are_quoted_only_where_they_would_read_as_something_else() {
        for (given, printed) in [
            ("a b", "k: a b\n"),
            ("a:b#c", "k: a:b#c\n"),
            ("-x", "k: -x\n"),
            ("", "k: \"\"\n"),
            ("yes", "k: \"yes\"\n"),
            ("010", "k: \"010\"\n"),
            ("2001-01-01", "k: \"2001-01-01\"\n"),
            ("1:30", "k: \"1:30\"\n"),
            ("a: b", "k: 'a: b'\n"),
            ("it's #1", "k: 'it''s #1'\n"),
            (" a", "k: ' a'\n"),
            ("a:", "k: 'a:'\n"),
            ("a\tb", "k: \"a\\tb\"\n"),
            ("\u{7}\u{85}\u{FEFF}", "k: \"\\a\\N\\uFEFF\"\n"),
            ("a\nb", "k: |-\n  a\n  b\n"),
            ("a\n\n", "k: |+\n  a\n\n"),
            (" a\nb\n", "k: |2\n   a\n  b\n"),
            ("\n", "k: \"\\n\"\n"),
            ("é", "k: é\n"),
        ] {
            assert_eq!(text(given), printed);
        }
    }

    #[test]
    fn sequences_are_at_the_column_of_their_key() {
        let mut out = Vec::new();
        let mut emitter = Emitter::new(&mut out);
        emitter.begin_seq();
        emitter.item();
        emitter.begin_seq();
        emitter.item();
        emitter.begin_map();
        emitter.key("a");
        emitter.begin_seq();
        emitter.item();
        emitter.int(1);
        emitter.end_seq();
        emitter.key("b");
        emitter.uint(2);
        emitter.end_map();
        emitter.item();
        emitter.begin_seq();
        emitter.end_seq();
        emitter.end_seq();
        emitter.item();
        emitter.float(0.5);
        emitter.end_seq();
        assert_eq!(String::from_utf8_lossy(&out), "- - a:\n    - 1\n    b: 2\n  - []\n- 0.5\n");
    }
}
