//! The reader for machine-written block YAML.
//!
//! It works line by line, without tokens. It reads mappings, sequences (compact ones and those at the column of their
//! key too), plain, quoted and block scalars, comments, and collections in brackets on one line. It gives up on
//! everything else, on every error and on every limit. Then the full reader reads the document from its start and
//! reports the error. Both readers produce the same entries.

// Measured: passing entries through memory costs a fifth of the time.
#![allow(clippy::inline_always)]

use memchr::{memchr, memchr2, memchr3};

use crate::chars::{is_blank, marker};
use crate::resolve::{self, Key};
use crate::{Entry, Flags, Kind, Limits, Tape};

/// An open collection.
#[derive(Clone, Copy, Debug)]
struct Frame {
    /// Index of its entry.
    at: u32,
    /// The column of its keys or dashes.
    column: u32,
    /// Items or pairs so far.
    count: u32,
    kind: Kind,
    /// Whether it is a sequence at the column of the key it belongs to.
    indentless: bool,
}

/// Memory that is reused for every document.
#[derive(Debug, Default)]
pub(crate) struct Stack(Vec<Frame>);

/// What the next line completes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Awaits {
    Root,
    Value,
    Item,
    Nothing,
}

/// Reads the document at `at`, which must end before `end` unless that is the end of the source. Returns where the
/// document ends, or `None` if the full reader must read it.
pub(crate) fn read(
    source: &str,
    at: usize,
    end: usize,
    limits: &Limits,
    tape: &mut Tape,
    stack: &mut Stack,
) -> Option<usize> {
    stack.0.clear();
    let Tape { entries, text, .. } = tape;
    let mut reader = Reader {
        source,
        bytes: &source.as_bytes()[..end],
        at,
        limits,
        entries,
        text,
        frames: &mut stack.0,
        awaits: Awaits::Root,
        absent: 0,
        end: 0,
    };
    let stop = reader.document()?;
    (stop + 3 < end || end == source.len()).then(|| tape.content = true)?;
    Some(stop)
}

struct Reader<'a> {
    source: &'a str,
    bytes: &'a [u8],
    at: usize,
    limits: &'a Limits,
    entries: &'a mut Vec<Entry>,
    text: &'a mut String,
    frames: &'a mut Vec<Frame>,
    awaits: Awaits,
    /// The offset of the awaited value if it is absent.
    absent: usize,
    /// Where the last node ends.
    end: usize,
}

/// Where the text of a line ends.
struct Line {
    /// After the last character of the text.
    text: usize,
    /// The line break, or the end.
    end: usize,
    /// Whether a comment or a colon ends the text before the line does.
    cut: bool,
    /// The colon of a key that ends the text.
    colon: bool,
}

/// Bytes with which a plain scalar can begin, whatever follows.
const PLAIN: [bool; 256] = {
    let mut table = [true; 256];
    let others = b"\t\n\r -?:,[]{}#&*!|>'\"%@`";
    let mut i = 0;
    while i < others.len() {
        table[others[i] as usize] = false;
        i += 1;
    }
    table
};

/// Bytes inside a plain scalar in brackets that need no further check.
const INSIDE: [bool; 256] = {
    let mut table = [false; 256];
    let mut i = 0;
    while i < 256 {
        let byte = i as u8;
        table[i] = byte.is_ascii_alphanumeric() || byte >= 0x80;
        i += 1;
    }
    let others = b"_./-+$()=^~<;\\*@%|>! ";
    let mut i = 0;
    while i < others.len() {
        table[others[i] as usize] = true;
        i += 1;
    }
    table
};

/// Finds the first line feed, colon or hash from `from` on.
#[inline(always)]
fn text_stop(bytes: &[u8], from: usize) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let mut at = from;
    // Most strings are short: checking a few words here saves the call.
    for _ in 0..3 {
        let Some(word) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) else {
            break;
        };
        let word = u64::from_le_bytes(*word);
        let zeros = |byte: u8| {
            let other = word ^ (ONES * byte as u64);
            // Only correct up to the first zero byte, which is all that is used.
            other.wrapping_sub(ONES) & !other & HIGH
        };
        let found = zeros(b'\n') | zeros(b':') | zeros(b'#');
        if found != 0 {
            return Some(at + (found.trailing_zeros() / 8) as usize);
        }
        at += 8;
    }
    memchr3(b'\n', b':', b'#', &bytes[at..]).map(|n| at + n)
}

impl Reader<'_> {
    #[inline]
    fn byte(&self, at: usize) -> u8 {
        // Every token ends at a line feed.
        self.bytes.get(at).copied().unwrap_or(b'\n')
    }

    /// Returns the first byte from `at` on that is not a space.
    #[inline]
    fn spaces(&self, mut at: usize) -> usize {
        while let Some(word) = self.bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
            let other = u64::from_le_bytes(*word) ^ 0x2020_2020_2020_2020;
            if other != 0 {
                return at + (other.trailing_zeros() / 8) as usize;
            }
            at += 8;
        }
        while self.bytes.get(at) == Some(&b' ') {
            at += 1;
        }
        at
    }

    #[inline]
    fn line_end(&self, at: usize) -> usize {
        memchr(b'\n', &self.bytes[at..]).map_or(self.bytes.len(), |n| at + n)
    }

    /// Checks that the line has only a comment from `at` on, and goes to the next line.
    #[inline]
    fn ends(&mut self, at: usize) -> Option<()> {
        let mut at = at;
        if self.byte(at) != b'\n' {
            let behind = self.spaces(at);
            if behind == at {
                return None;
            }
            match self.byte(behind) {
                b'\n' => at = behind,
                b'#' => at = self.line_end(behind),
                _ => return None,
            }
        }
        self.at = at + 1;
        Some(())
    }

    fn document(&mut self) -> Option<usize> {
        if marker(self.bytes, self.at, b'-') {
            self.ends(self.at + 3)?;
        }
        loop {
            let line = self.at;
            if line >= self.bytes.len() {
                self.finish()?;
                return Some(self.bytes.len());
            }
            let start = self.spaces(line);
            let byte = self.byte(start);
            match byte {
                b'\n' => {
                    self.at = start + 1;
                    continue;
                }
                b'#' => {
                    self.at = self.line_end(start) + 1;
                    continue;
                }
                b'\t' => return None,
                b'-' | b'.' | b'%' if start == line => {
                    if byte == b'%' || marker(self.bytes, line, b'.') {
                        return None;
                    }
                    if marker(self.bytes, line, b'-') {
                        self.finish()?;
                        return Some(line);
                    }
                }
                _ => {}
            }
            self.line(start, start - line)?;
        }
    }

    /// Closes everything at the end of the document.
    fn finish(&mut self) -> Option<()> {
        if self.awaits == Awaits::Root {
            return None;
        }
        if self.awaits != Awaits::Nothing {
            self.push_absent()?;
        }
        while !self.frames.is_empty() {
            self.close();
        }
        (self.entries.len() <= self.limits.nodes).then_some(())
    }

    #[inline]
    fn close(&mut self) {
        if let Some(frame) = self.frames.pop() {
            let behind = self.entries.len() as u32;
            let entry = &mut self.entries[frame.at as usize];
            entry.a = behind;
            entry.b = frame.count;
            entry.end = self.end as u32;
        }
    }

    #[inline]
    fn open(&mut self, kind: Kind, start: usize, column: usize, indentless: bool) -> Option<()> {
        if self.frames.len() >= self.limits.depth {
            return None;
        }
        let at = self.entries.len() as u32;
        self.entries.push(Entry { start: start as u32, end: 0, a: 0, b: 0, kind, flags: Flags::NONE });
        self.frames.push(Frame { at, column: column as u32, count: 0, kind, indentless });
        Some(())
    }

    #[inline(always)]
    fn push(&mut self, entry: Entry) -> Option<()> {
        if entry.b as usize > self.limits.scalar {
            return None;
        }
        self.end = entry.end as usize;
        self.entries.push(entry);
        Some(())
    }

    fn push_absent(&mut self) -> Option<()> {
        let at = self.absent as u32;
        self.awaits = Awaits::Nothing;
        self.push(Entry { start: at, end: at, a: at, b: 0, kind: Kind::Null, flags: Flags::NONE })
    }

    /// Reads a line whose first character is at `start`.
    #[inline]
    fn line(&mut self, start: usize, column: usize) -> Option<()> {
        let dash = self.byte(start) == b'-' && matches!(self.byte(start + 1), b' ' | b'\n');
        if self.awaits != Awaits::Nothing {
            let Some(top) = self.frames.last() else {
                return self.node(start, column, None);
            };
            let around = top.column as usize;
            if column > around {
                self.awaits = Awaits::Nothing;
                return self.node(start, column, Some(around));
            }
            if column == around && dash && self.awaits == Awaits::Value {
                self.awaits = Awaits::Nothing;
                self.open(Kind::Seq, start, column, true)?;
                return self.item(start, column);
            }
            self.push_absent()?;
        }
        loop {
            let top = self.frames.last()?;
            let around = top.column as usize;
            if around < column {
                return None;
            }
            if around == column {
                match (top.kind == Kind::Seq, dash) {
                    (true, true) => return self.item(start, column),
                    (false, false) => return self.pair(start),
                    (true, false) if top.indentless => {}
                    _ => return None,
                }
            }
            self.close();
        }
    }

    /// Reads an item whose dash is at `start`, in the sequence on top.
    fn item(&mut self, start: usize, column: usize) -> Option<()> {
        self.frames.last_mut()?.count += 1;
        let node = self.spaces(start + 1);
        match self.byte(node) {
            b'\n' => {}
            b'#' if node > start + 1 => {}
            _ => return self.node(node, column + (node - start), Some(column)),
        }
        self.awaits = Awaits::Item;
        self.absent = start + 1;
        self.at = self.line_end(node) + 1;
        Some(())
    }

    /// Reads a node that begins at `start`, inside the collection at the column `around`.
    fn node(&mut self, start: usize, column: usize, around: Option<usize>) -> Option<()> {
        let first = self.byte(start);
        if PLAIN[first as usize] || (first == b'-' && !matches!(self.byte(start + 1), b' ' | b'\n' | b'\t')) {
            let line = self.text_end(start);
            if line.colon {
                self.open(Kind::Map, start, column, false)?;
                self.awaits = Awaits::Nothing;
                return self.plain_pair(start, &line);
            }
            return self.plain(start, &line, around?);
        }
        match first {
            b'-' if self.byte(start + 1) != b'\t' => {
                self.open(Kind::Seq, start, column, false)?;
                self.awaits = Awaits::Nothing;
                self.item(start, column)
            }
            b'\'' | b'"' => {
                let entry = self.quoted(start, first)?;
                let behind = entry.end as usize;
                if self.byte(behind) == b':' {
                    // The key must be on one line. Then nothing was decoded before its mapping.
                    if memchr(b'\n', &self.bytes[start..behind]).is_some() {
                        return None;
                    }
                    self.open(Kind::Map, start, column, false)?;
                    self.awaits = Awaits::Nothing;
                    return self.quoted_pair(entry);
                }
                around?;
                self.push(entry)?;
                self.ends(behind)
            }
            b'|' | b'>' => self.block(start, around?),
            b'[' | b'{' => {
                around?;
                let end = self.flow(start)?;
                self.ends(end)
            }
            _ => None,
        }
    }

    /// Reads a key and what follows it, in the mapping on top.
    #[inline]
    fn pair(&mut self, start: usize) -> Option<()> {
        let first = self.byte(start);
        if PLAIN[first as usize] || (first == b'-' && !is_blank(self.byte(start + 1))) {
            let line = self.text_end(start);
            if !line.colon {
                return None;
            }
            return self.plain_pair(start, &line);
        }
        if first != b'\'' && first != b'"' {
            return None;
        }
        let entry = self.quoted(start, first)?;
        if memchr(b'\n', &self.bytes[start..entry.end as usize]).is_some() {
            return None;
        }
        self.quoted_pair(entry)
    }

    #[inline]
    fn plain_pair(&mut self, start: usize, line: &Line) -> Option<()> {
        let first = self.byte(start);
        if resolve::FIRST[first as usize] == resolve::TEXT && first != b'<' || first >= b'A' && line.text - start > 5 {
            // The frequent case, built where it is pushed.
            self.push(Entry {
                start: start as u32,
                end: line.text as u32,
                a: start as u32,
                b: (line.text - start) as u32,
                kind: Kind::Str,
                flags: Flags::NONE,
            })?;
        } else {
            let entry = self.key(start, line.text)?;
            self.push(entry)?;
        }
        if line.end - start > KEY_LENGTH {
            return None;
        }
        self.value(line.end + 1)
    }

    fn quoted_pair(&mut self, entry: Entry) -> Option<()> {
        let colon = entry.end as usize;
        if self.byte(colon) != b':' || colon - entry.start as usize > KEY_LENGTH {
            return None;
        }
        self.push(entry)?;
        self.value(colon + 1)
    }

    /// The entry of a plain key.
    #[inline]
    fn key(&mut self, start: usize, end: usize) -> Option<Entry> {
        let mut entry = Entry {
            start: start as u32,
            end: end as u32,
            a: start as u32,
            b: (end - start) as u32,
            kind: Kind::Str,
            flags: Flags::NONE,
        };
        let first = self.byte(start);
        if resolve::FIRST[first as usize] == resolve::TEXT {
            if first == b'<' && end - start == 2 {
                return None;
            }
            return Some(entry);
        }
        // Special words have at most five letters.
        if first >= b'A' && end - start > 5 {
            return Some(entry);
        }
        let text = &self.source[start..end];
        match resolve::key(resolve::plain(text)) {
            Key::Text => {}
            Key::Other(other) => {
                entry.flags = Flags::RESOLVED_KEY;
                if other != text {
                    entry.flags = entry.flags.with(Flags::DECODED);
                    entry.a = self.text.len() as u32;
                    entry.b = other.len() as u32;
                    self.text.push_str(&other);
                }
            }
            Key::Refused(_) => return None,
        }
        Some(entry)
    }

    /// Reads what follows the colon of a key, in the mapping on top.
    #[inline]
    fn value(&mut self, behind: usize) -> Option<()> {
        let frame = self.frames.last_mut()?;
        frame.count += 1;
        let around = frame.column as usize;
        let start = match self.byte(behind) {
            b'\n' => behind,
            b' ' => self.spaces(behind),
            _ => return None,
        };
        let first = self.byte(start);
        if PLAIN[first as usize] || (first == b'-' && !matches!(self.byte(start + 1), b' ' | b'\n' | b'\t')) {
            let line = self.text_end(start);
            return self.plain(start, &line, around);
        }
        match first {
            b'\n' | b'#' => {
                self.awaits = Awaits::Value;
                self.absent = behind;
                self.at = self.line_end(start) + 1;
                Some(())
            }
            b'\'' | b'"' => {
                let entry = self.quoted(start, first)?;
                self.push(entry)?;
                self.ends(entry.end as usize)
            }
            b'|' | b'>' => self.block(start, around),
            b'[' | b'{' => {
                let end = self.flow(start)?;
                self.ends(end)
            }
            _ => None,
        }
    }

    /// Finds the end of plain text on its line: a colon and a blank, a blank and a comment, or the break. If a colon
    /// ends it, `end` is the colon.
    #[inline]
    fn text_end(&self, start: usize) -> Line {
        let mut from = start;
        let (mut text, end, cut, colon) = loop {
            let Some(at) = text_stop(self.bytes, from) else {
                let len = self.bytes.len();
                break (len, len, false, false);
            };
            match self.bytes[at] {
                b'\n' => break (at, at, false, false),
                b':' if matches!(self.byte(at + 1), b' ' | b'\n' | b'\t') => {
                    break (at, at, true, true);
                }
                b'#' if at > start && is_blank(self.bytes[at - 1]) => {
                    break (at, self.line_end(at), true, false);
                }
                _ => from = at + 1,
            }
        };
        while text > start && is_blank(self.bytes[text - 1]) {
            text -= 1;
        }
        Line { text, end, cut, colon }
    }

    /// Reads a plain scalar whose first line is known.
    fn plain(&mut self, start: usize, first: &Line, around: usize) -> Option<()> {
        if first.colon {
            return None;
        }
        let next = first.end + 1;
        if !first.cut {
            // The frequent case: the next line does not continue it.
            let content = self.spaces(next.min(self.bytes.len()));
            let byte = self.byte(content);
            if content - next.min(content) > around || byte == b'\n' || byte == b'\t' {
                return self.folded(start, first, around);
            }
        }
        self.at = next;
        let text = &self.bytes[start..first.text];
        let kind = resolve::plain_kind(text);
        if kind == Kind::Float {
            crate::resolve::number_of(&self.source[start..first.text])?;
        }
        self.push(Entry {
            start: start as u32,
            end: first.text as u32,
            a: start as u32,
            b: (first.text - start) as u32,
            kind,
            flags: Flags::NONE,
        })
    }

    /// Reads a plain scalar that may continue on further lines.
    fn folded(&mut self, start: usize, first: &Line, around: usize) -> Option<()> {
        let from = self.text.len();
        let mut decoded = false;
        let (mut text, mut next, mut cut) = (first.text, first.end + 1, first.cut);
        let mut breaks = 0usize;
        let mut line = next;
        while !cut && line < self.bytes.len() {
            let content = self.spaces(line);
            match self.byte(content) {
                b'\n' => {
                    breaks += 1;
                    line = content + 1;
                    continue;
                }
                b'\t' => return None,
                b'#' => break,
                _ if content - line <= around => break,
                _ => {}
            }
            let found = self.text_end(content);
            if found.colon {
                return None;
            }
            if !decoded {
                decoded = true;
                self.text.push_str(&self.source[start..text]);
            }
            self.fold(breaks);
            self.text.push_str(&self.source[content..found.text]);
            text = found.text;
            cut = found.cut;
            next = found.end + 1;
            line = next;
            breaks = 0;
        }
        self.at = next;
        let mut entry = Entry {
            start: start as u32,
            end: text as u32,
            a: start as u32,
            b: (text - start) as u32,
            kind: Kind::Str,
            flags: Flags::NONE,
        };
        if decoded {
            entry.a = from as u32;
            entry.b = (self.text.len() - from) as u32;
            entry.flags = Flags::DECODED;
            // A string that contains a blank is always a string.
        } else {
            entry.kind = resolve::plain_kind(&self.bytes[start..text]);
            if entry.kind == Kind::Float {
                crate::resolve::number_of(&self.source[start..text])?;
            }
        }
        self.push(entry)
    }

    /// Appends the folded form of a line break and this many empty lines.
    #[inline]
    fn fold(&mut self, breaks: usize) {
        if breaks == 0 {
            self.text.push(' ');
        } else {
            self.text.extend(std::iter::repeat_n('\n', breaks));
        }
    }

    /// Returns the entry of a quoted scalar, which is not pushed yet.
    fn quoted(&mut self, start: usize, quote: u8) -> Option<Entry> {
        let text_from = self.text.len();
        let mut decoded = false;
        let mut from = start + 1;
        let mut at = from;
        loop {
            let rest = &self.bytes[at..];
            at += if quote == b'"' { memchr3(b'"', b'\\', b'\n', rest) } else { memchr2(b'\'', b'\n', rest) }?;
            match self.bytes[at] {
                b'\n' => {
                    decoded = true;
                    let mut end = at;
                    while end > from && is_blank(self.bytes[end - 1]) {
                        end -= 1;
                    }
                    self.text.push_str(&self.source[from..end]);
                    let mut breaks = 0;
                    loop {
                        at += 1;
                        let line = at;
                        if marker(self.bytes, line, b'-') || marker(self.bytes, line, b'.') {
                            return None;
                        }
                        at = self.spaces(line);
                        while is_blank(self.byte(at)) {
                            at += 1;
                        }
                        if at >= self.bytes.len() {
                            return None;
                        }
                        if self.bytes[at] != b'\n' {
                            break;
                        }
                        breaks += 1;
                    }
                    self.fold(breaks);
                    from = at;
                }
                b'\\' => {
                    let read = match self.byte(at + 1) {
                        b'n' => "\n",
                        b't' => "\t",
                        b'"' => "\"",
                        b'\\' => "\\",
                        b' ' => " ",
                        _ => return None,
                    };
                    decoded = true;
                    self.text.push_str(&self.source[from..at]);
                    self.text.push_str(read);
                    at += 2;
                    from = at;
                }
                b'\'' if self.byte(at + 1) == b'\'' => {
                    decoded = true;
                    self.text.push_str(&self.source[from..=at]);
                    at += 2;
                    from = at;
                }
                _ => break,
            }
        }
        let mut entry = Entry {
            start: start as u32,
            end: at as u32 + 1,
            a: from as u32,
            b: (at - from) as u32,
            kind: Kind::Str,
            flags: Flags::QUOTED,
        };
        if decoded {
            self.text.push_str(&self.source[from..at]);
            entry.a = text_from as u32;
            entry.b = (self.text.len() - text_from) as u32;
            entry.flags = Flags::QUOTED.with(Flags::DECODED);
        }
        Some(entry)
    }

    /// Reads a block scalar inside the collection at the column `around`.
    fn block(&mut self, start: usize, around: usize) -> Option<()> {
        let literal = self.bytes[start] == b'|';
        let sign = self.byte(start + 1);
        let head = start + 1 + usize::from(matches!(sign, b'+' | b'-'));
        self.ends(head)?;
        let text_from = self.text.len();
        // Empty lines before the first line.
        let (mut breaks, mut most, mut line) = (0usize, 0, self.at);
        let mut content;
        loop {
            if line >= self.bytes.len() {
                (content, line) = (line, self.bytes.len());
                break;
            }
            content = self.spaces(line);
            match self.byte(content) {
                b'\n' if content < self.bytes.len() => {
                    most = most.max(content - line);
                    breaks += 1;
                    line = content + 1;
                }
                b'\t' => return None,
                _ => break,
            }
        }
        let indent = content - line;
        let mut end = head;
        let mut leading = false;
        if indent > around && content < self.bytes.len() {
            if most > indent {
                return None;
            }
            self.breaks(breaks);
            breaks = 0;
            let mut leading_blank = false;
            let mut first = true;
            // `line + indent` is a character of the text.
            loop {
                let from = line + indent;
                let blank = is_blank(self.bytes[from]);
                if !first {
                    if literal || leading_blank || blank {
                        self.breaks(1 + breaks);
                    } else {
                        self.fold(breaks);
                    }
                }
                first = false;
                leading_blank = blank;
                let to = self.line_end(from);
                self.text.push_str(&self.source[from..to]);
                end = to;
                leading = to < self.bytes.len();
                breaks = 0;
                line = to + 1;
                let mut goes_on = false;
                while line < self.bytes.len() {
                    let content = self.spaces(line);
                    let byte = self.byte(content);
                    if content - line >= indent {
                        // Blanks after the indentation belong to the text, but not to its end.
                        goes_on = content < self.bytes.len() || content - line > indent;
                        if content - line == indent && byte == b'\n' {
                            goes_on = false;
                            if content >= self.bytes.len() {
                                break;
                            }
                        } else {
                            break;
                        }
                    } else if byte == b'\t' {
                        return None;
                    } else if byte != b'\n' || content >= self.bytes.len() {
                        break;
                    }
                    breaks += 1;
                    line = content + 1;
                }
                if !goes_on {
                    break;
                }
            }
        } else if most > around.max(indent) {
            // Blank lines indented deeper than the text are left to the full reader.
            return None;
        }
        if leading && sign != b'-' {
            self.text.push('\n');
        }
        if sign == b'+' {
            self.breaks(breaks);
        }
        self.at = line;
        let b = (self.text.len() - text_from) as u32;
        self.push(Entry {
            start: start as u32,
            end: end as u32,
            a: text_from as u32,
            b,
            kind: Kind::Str,
            flags: Flags::QUOTED.with(Flags::DECODED),
        })
    }

    #[inline]
    fn breaks(&mut self, n: usize) {
        if n == 1 {
            self.text.push('\n');
        } else {
            self.text.extend(std::iter::repeat_n('\n', n));
        }
    }

    /// Reads a collection of scalars in brackets on one line. Returns where it ends.
    fn flow(&mut self, start: usize) -> Option<usize> {
        let map = self.bytes[start] == b'{';
        let close = if map { b'}' } else { b']' };
        let kind = if map { Kind::Map } else { Kind::Seq };
        if self.frames.len() >= self.limits.depth {
            return None;
        }
        let owner = self.entries.len();
        self.entries.push(Entry { start: start as u32, end: 0, a: 0, b: 0, kind, flags: Flags::NONE });
        let mut count = 0;
        let mut at = self.spaces(start + 1);
        if self.byte(at) != close {
            loop {
                if map {
                    let key = at;
                    let entry = self.flow_scalar(at, true)?;
                    at = entry.end as usize;
                    if self.byte(at) != b':' || self.byte(at + 1) != b' ' || at - key > KEY_LENGTH {
                        return None;
                    }
                    self.push(entry)?;
                    at = self.spaces(at + 1);
                }
                let entry = self.flow_scalar(at, false)?;
                self.push(entry)?;
                count += 1;
                at = self.spaces(entry.end as usize);
                let byte = self.byte(at);
                if byte == close {
                    break;
                }
                if byte != b',' {
                    return None;
                }
                at = self.spaces(at + 1);
            }
        }
        self.end = at + 1;
        let behind = self.entries.len() as u32;
        let entry = &mut self.entries[owner];
        (entry.a, entry.b, entry.end) = (behind, count, at as u32 + 1);
        Some(at + 1)
    }

    fn flow_scalar(&mut self, start: usize, key: bool) -> Option<Entry> {
        let first = self.byte(start);
        if first == b'\'' || first == b'"' {
            let entry = self.quoted(start, first)?;
            return memchr(b'\n', &self.bytes[start..entry.end as usize]).is_none().then_some(entry);
        }
        let begins = PLAIN[first as usize] || (first == b'-' && self.byte(start + 1).is_ascii_alphanumeric());
        if !begins || !INSIDE[first as usize] {
            return None;
        }
        let run = self.bytes[start..].iter().position(|b| !INSIDE[*b as usize])?;
        let mut end = start + run;
        // A colon in a value may or may not be part of it.
        if !matches!((self.bytes[end], key), (b',' | b']' | b'}', false) | (b':', true)) {
            return None;
        }
        while self.bytes[end - 1] == b' ' {
            if key {
                return None;
            }
            end -= 1;
        }
        if key {
            return self.key(start, end);
        }
        let kind = resolve::plain_kind(&self.bytes[start..end]);
        if kind == Kind::Float {
            crate::resolve::number_of(&self.source[start..end])?;
        }
        Some(Entry {
            start: start as u32,
            end: end as u32,
            a: start as u32,
            b: (end - start) as u32,
            kind,
            flags: Flags::NONE,
        })
    }
}

/// Longer keys are left to the full reader, which checks their limit.
const KEY_LENGTH: usize = 1000;
