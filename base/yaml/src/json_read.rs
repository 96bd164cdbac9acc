//! The reader for JSON.

use crate::error::Fault;
use crate::go::number;
use crate::tape::Open;
use crate::{Entry, Flags, Kind, Limits, Tape};

/// Reads the value at `at`. Returns where it ends.
pub(crate) fn read(source: &str, at: usize, limits: &Limits, tape: &mut Tape) -> Result<usize, Fault> {
    tape.json = true;
    tape.content = true;
    let mut stack = std::mem::take(&mut tape.open);
    stack.clear();
    let mut reader = Reader { source, bytes: source.as_bytes(), at, limits, tape, stack };
    let end = reader.document();
    reader.tape.open = reader.stack;
    end
}

/// Returns the number of bytes before the first quote, backslash or control character. It checks eight bytes at a time.
fn plain_run(bytes: &[u8]) -> usize {
    const LOW: u64 = u64::from_ne_bytes([0x01; 8]);
    const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);
    // The highest bit of a byte is set if the byte is zero. Bits of bytes above a zero byte may be set, too.
    let zero = |word: u64| word.wrapping_sub(LOW) & !word & HIGH;
    let (words, _) = bytes.as_chunks::<8>();
    for (i, chunk) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*chunk);
        let quote = zero(word ^ (LOW * u64::from(b'"')));
        let backslash = zero(word ^ (LOW * u64::from(b'\\')));
        let control = word.wrapping_sub(LOW * 0x20) & !word & HIGH;
        let found = quote | backslash | control;
        if found != 0 {
            // The lowest set bit is always right.
            return i * 8 + (found.trailing_zeros() / 8) as usize;
        }
    }
    let tail = words.len() * 8;
    let special = |b: &u8| *b < 0x20 || *b == b'"' || *b == b'\\';
    bytes[tail..].iter().position(special).map_or(bytes.len(), |n| tail + n)
}

struct Reader<'a> {
    source: &'a str,
    bytes: &'a [u8],
    at: usize,
    limits: &'a Limits,
    tape: &'a mut Tape,
    /// The open collections except the innermost. The first represents the document.
    stack: Vec<Open>,
}

impl Reader<'_> {
    #[inline]
    fn blanks(&mut self) {
        if let Some(b' ' | b'\t' | b'\n' | b'\r') = self.bytes.get(self.at) {
            self.at += 1;
            self.more_blanks();
        }
    }

    /// Printed documents are indented: there are mostly many spaces or none.
    fn more_blanks(&mut self) {
        const SPACES: u64 = u64::from_ne_bytes([b' '; 8]);
        loop {
            while let Some(chunk) = self.bytes.get(self.at..).and_then(<[u8]>::first_chunk::<8>) {
                let other = u64::from_le_bytes(*chunk) ^ SPACES;
                if other != 0 {
                    self.at += (other.trailing_zeros() / 8) as usize;
                    break;
                }
                self.at += 8;
            }
            match self.bytes.get(self.at) {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.at += 1,
                _ => return,
            }
        }
    }

    #[cold]
    fn fault(&self, expected: &str, open: &Open) -> Fault {
        let found = match self.source.get(self.at..).and_then(|rest| rest.chars().next()) {
            Some('\n') => "the end of the line".to_owned(),
            Some(c) if c.is_control() => format!("the control character U+{:04X}", c as u32),
            Some(c) => format!("'{c}'"),
            None => "the end of the source".to_owned(),
        };
        Fault::new(self.at, format!("found {found} in JSON, expected {expected}"))
            .opened(self.tape.entries.get(open.index).map(|entry| entry.start as usize).as_ref())
    }

    /// Reads one value. The innermost open collection is kept apart from the others, because every value uses it.
    fn document(&mut self) -> Result<usize, Fault> {
        let mut open = Open { index: usize::MAX, count: 0, map: false };
        loop {
            // At the start of a value.
            self.blanks();
            open.count += 1;
            match self.bytes.get(self.at) {
                Some(b'"') => self.string(&open)?,
                Some(bracket @ (b'{' | b'[')) => {
                    let map = *bracket == b'{';
                    let inner = Open { index: self.begin(map)?, count: 0, map };
                    self.stack.push(std::mem::replace(&mut open, inner));
                    self.blanks();
                    let close = self.bytes.get(self.at).is_some_and(|byte| *byte == open.close());
                    if close {
                        self.at += 1;
                        self.end(&mut open);
                    } else {
                        if map {
                            self.key(&open)?;
                        }
                        continue;
                    }
                }
                _ => self.word(&open)?,
            }
            // After a value.
            loop {
                if self.stack.is_empty() {
                    return Ok(self.at);
                }
                self.blanks();
                match self.bytes.get(self.at) {
                    Some(b',') => {
                        self.at += 1;
                        if open.map {
                            self.blanks();
                            self.key(&open)?;
                        }
                        break;
                    }
                    Some(byte) if *byte == open.close() => {
                        self.at += 1;
                        self.end(&mut open);
                    }
                    _ if open.map => return Err(self.fault("',' or '}'", &open)),
                    _ => return Err(self.fault("',' or ']'", &open)),
                }
            }
        }
    }

    /// Opens a collection. Returns the index of its entry.
    fn begin(&mut self, map: bool) -> Result<usize, Fault> {
        let start = self.at;
        if self.stack.len() >= self.limits.depth {
            return Err(Fault::limit(start, format!("more than {} levels of nesting, the limit", self.limits.depth)));
        }
        self.at += 1;
        let kind = if map { Kind::Map } else { Kind::Seq };
        let index = self.tape.entries.len();
        self.push(Entry { start: start as u32, end: self.at as u32, a: 0, b: 0, kind, flags: Flags::NONE })?;
        Ok(index)
    }

    /// Closes the innermost collection.
    fn end(&mut self, open: &mut Open) {
        let behind = self.tape.entries.len() as u32;
        if let Some(entry) = self.tape.entries.get_mut(open.index) {
            entry.a = behind;
            entry.b = open.count;
            entry.end = self.at as u32;
        }
        if let Some(outer) = self.stack.pop() {
            *open = outer;
        }
    }

    fn push(&mut self, entry: Entry) -> Result<(), Fault> {
        if self.tape.entries.len() >= self.limits.nodes {
            return Err(Fault::limit(
                entry.start as usize,
                format!("more than {} nodes, the limit for one document", self.limits.nodes),
            ));
        }
        self.tape.entries.push(entry);
        Ok(())
    }

    fn key(&mut self, open: &Open) -> Result<(), Fault> {
        if self.bytes.get(self.at) != Some(&b'"') {
            return Err(self.fault("a key in double quotes or '}'", open));
        }
        self.string(open)?;
        self.blanks();
        if self.bytes.get(self.at) != Some(&b':') {
            return Err(self.fault("':' behind a key", open));
        }
        self.at += 1;
        Ok(())
    }

    /// Reads a number, `true`, `false` or `null`.
    fn word(&mut self, open: &Open) -> Result<(), Fault> {
        let start = self.at;
        let word = |word: &str| self.bytes[start..].starts_with(word.as_bytes());
        let (kind, len) = match self.bytes.get(start) {
            Some(b'-' | b'0'..=b'9') => {
                let Some((len, integral)) = number::json_literal(&self.bytes[start..]) else {
                    return Err(self.fault("a number", open));
                };
                // Any number with so few digits fits.
                if integral && len <= 18 {
                    return self.scalar(Kind::Int, start, len);
                }
                match number::from_json_literal(&self.source[start..start + len]) {
                    Some(number::Number::Float(_)) => (Kind::Float, len),
                    Some(_) => (Kind::Int, len),
                    None => {
                        return Err(Fault::new(start, "found a number beyond the range of doubles"));
                    }
                }
            }
            Some(b't') if word("true") => (Kind::True, 4),
            Some(b'f') if word("false") => (Kind::False, 5),
            Some(b'n') if word("null") => (Kind::Null, 4),
            _ => return Err(self.fault("a value", open)),
        };
        self.scalar(kind, start, len)
    }

    fn scalar(&mut self, kind: Kind, start: usize, len: usize) -> Result<(), Fault> {
        self.at += len;
        self.check_length(start, len)?;
        self.push(Entry {
            start: start as u32,
            end: self.at as u32,
            a: start as u32,
            b: len as u32,
            kind,
            flags: Flags::NONE,
        })
    }

    fn check_length(&self, start: usize, len: usize) -> Result<(), Fault> {
        if len > self.limits.scalar {
            return Err(Fault::limit(
                start,
                format!("a text of {len} bytes, more than the limit of {} for one scalar", self.limits.scalar),
            ));
        }
        Ok(())
    }

    #[inline]
    fn string(&mut self, open: &Open) -> Result<(), Fault> {
        let start = self.at;
        let from = start + 1;
        let len = plain_run(&self.bytes[from..]);
        if self.bytes.get(from + len) != Some(&b'"') {
            return self.decoded(start, from + len, open);
        }
        self.at = from + len + 1;
        self.check_length(start, len)?;
        self.push(Entry {
            start: start as u32,
            end: self.at as u32,
            a: from as u32,
            b: len as u32,
            kind: Kind::Str,
            flags: Flags::QUOTED,
        })
    }

    /// Reads the rest of a string that contains escapes, from its first escape on.
    #[inline(never)]
    fn decoded(&mut self, start: usize, at: usize, open: &Open) -> Result<(), Fault> {
        let text_from = self.tape.text.len();
        let mut from = start + 1;
        self.at = at;
        loop {
            match self.bytes.get(self.at) {
                Some(b'"') => break,
                Some(b'\\') => {
                    self.tape.text.push_str(&self.source[from..self.at]);
                    let c = self.escape(open)?;
                    self.tape.text.push(c);
                    from = self.at;
                }
                Some(_) => {
                    return Err(self.fault("'\"' or an escape such as \\n, inside the text that is open", open));
                }
                None => {
                    return Err(Fault::new(
                        start,
                        "the quote that begins here is not closed before the end of the source",
                    ));
                }
            }
            self.at += plain_run(&self.bytes[self.at..]);
        }
        self.tape.text.push_str(&self.source[from..self.at]);
        let len = self.tape.text.len() - text_from;
        self.at += 1;
        self.check_length(start, len)?;
        self.push(Entry {
            start: start as u32,
            end: self.at as u32,
            a: text_from as u32,
            b: len as u32,
            kind: Kind::Str,
            flags: Flags::QUOTED.with(Flags::DECODED),
        })
    }

    fn escape(&mut self, open: &Open) -> Result<char, Fault> {
        let c = match self.bytes.get(self.at + 1) {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{C}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let Some(first) = self.unit(self.at) else {
                    return Err(self.fault("four hexadecimal digits behind \\u", open));
                };
                self.at += 6;
                if (0xD800..0xDC00).contains(&first)
                    && let Some(second @ 0xDC00..0xE000) = self.unit(self.at)
                {
                    self.at += 6;
                    let value = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
                    return Ok(char::from_u32(value).unwrap_or('\u{FFFD}'));
                }
                // Half of a surrogate pair is not a character.
                if char::from_u32(first).is_none() && self.tape.lone_surrogate.is_none() {
                    self.tape.lone_surrogate = Some(self.tape.entries.len() as u32);
                }
                return Ok(char::from_u32(first).unwrap_or('\u{FFFD}'));
            }
            _ => return Err(self.fault("an escape that JSON knows", open)),
        };
        self.at += 2;
        Ok(c)
    }

    /// Returns the UTF-16 unit of the `\u` escape at `at`.
    fn unit(&self, at: usize) -> Option<u32> {
        let digits = self.bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
        digits.iter().try_fold(0, |value, digit| Some((value << 4) | char::from(*digit).to_digit(16)?))
    }
}
