//! The reader for JSON proper.

use crate::error::Fault;
use crate::number;
use crate::{Entry, Flags, Kind, Limits, Tape};

/// Reads the value at `at` and tells where it ends.
pub(crate) fn read(source: &str, at: usize, limits: &Limits, tape: &mut Tape) -> Result<usize, Fault> {
    tape.json = true;
    tape.content = true;
    let mut reader = Reader { source, bytes: source.as_bytes(), at, limits, tape, stack: Vec::new() };
    reader.document()
}

/// How many bytes stand before the first one that a string does not hold as it is: a quote, a backslash or
/// a control character. Eight bytes are looked at together.
fn plain_run(bytes: &[u8]) -> usize {
    const LOW: u64 = u64::from_ne_bytes([0x01; 8]);
    const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);
    // A byte's highest bit is set if the byte is zero (and perhaps in bytes above such a one).
    let zero = |word: u64| word.wrapping_sub(LOW) & !word & HIGH;
    let (words, _) = bytes.as_chunks::<8>();
    for (i, chunk) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*chunk);
        let quote = zero(word ^ (LOW * u64::from(b'"')));
        let backslash = zero(word ^ (LOW * u64::from(b'\\')));
        let control = word.wrapping_sub(LOW * 0x20) & !word & HIGH;
        let found = quote | backslash | control;
        if found != 0 {
            // The lowest bit that is set is always right.
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
    /// Indices of the open collections.
    stack: Vec<usize>,
}

impl Reader<'_> {
    fn blanks(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.bytes.get(self.at) {
            self.at += 1;
        }
    }

    fn fault(&self, expected: &str) -> Fault {
        let found = match self.source.get(self.at..).and_then(|rest| rest.chars().next()) {
            Some('\n') => "the end of the line".to_owned(),
            Some(c) if c.is_control() => format!("the control character U+{:04X}", c as u32),
            Some(c) => format!("'{c}'"),
            None => "the end of the source".to_owned(),
        };
        Fault::new(self.at, format!("found {found} in JSON, expected {expected}"))
            .opened(self.stack.last().map(|at| self.tape.entries[*at].start as usize).as_ref())
    }

    fn document(&mut self) -> Result<usize, Fault> {
        loop {
            // A value begins here.
            self.blanks();
            let opened = self.value()?;
            if opened {
                self.blanks();
                let close = self.closing();
                if self.bytes.get(self.at) == Some(&close) {
                    self.at += 1;
                    self.close();
                } else {
                    if close == b'}' {
                        self.key()?;
                    }
                    continue;
                }
            }
            // Behind a value.
            loop {
                if self.stack.is_empty() {
                    return Ok(self.at);
                }
                self.blanks();
                let close = self.closing();
                match self.bytes.get(self.at) {
                    Some(b',') => {
                        self.at += 1;
                        if close == b'}' {
                            self.blanks();
                            self.key()?;
                        }
                        break;
                    }
                    Some(byte) if *byte == close => {
                        self.at += 1;
                        self.close();
                    }
                    _ if close == b'}' => return Err(self.fault("',' or '}'")),
                    _ => return Err(self.fault("',' or ']'")),
                }
            }
        }
    }

    fn closing(&self) -> u8 {
        match self.stack.last() {
            Some(at) if self.tape.entries[*at].kind == Kind::Map => b'}',
            _ => b']',
        }
    }

    fn close(&mut self) {
        if let Some(at) = self.stack.pop() {
            let behind = self.tape.entries.len() as u32;
            let entry = &mut self.tape.entries[at];
            entry.a = behind;
            entry.end = self.at as u32;
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

    fn count(&mut self) {
        if let Some(at) = self.stack.last() {
            self.tape.entries[*at].b += 1;
        }
    }

    fn key(&mut self) -> Result<(), Fault> {
        if self.bytes.get(self.at) != Some(&b'"') {
            return Err(self.fault("a key in double quotes or '}'"));
        }
        self.string()?;
        self.blanks();
        if self.bytes.get(self.at) != Some(&b':') {
            return Err(self.fault("':' behind a key"));
        }
        self.at += 1;
        Ok(())
    }

    /// Reads a scalar, or the start of a collection (`true`).
    fn value(&mut self) -> Result<bool, Fault> {
        self.count();
        let start = self.at;
        let word = |word: &str| self.bytes[start..].starts_with(word.as_bytes());
        let (kind, len) = match self.bytes.get(start) {
            Some(b'"') => return self.string().map(|()| false),
            Some(b'{') => (Kind::Map, 1),
            Some(b'[') => (Kind::Seq, 1),
            Some(b'-' | b'0'..=b'9') => {
                let Some((len, _)) = number::json_literal(&self.bytes[start..]) else {
                    return Err(self.fault("a number"));
                };
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
            _ => return Err(self.fault("a value")),
        };
        self.at += len;
        let mut entry = Entry {
            start: start as u32,
            end: self.at as u32,
            a: start as u32,
            b: len as u32,
            kind,
            flags: Flags::NONE,
        };
        let collection = entry.is_container();
        if collection {
            (entry.a, entry.b) = (0, 0);
            if self.stack.len() >= self.limits.depth {
                return Err(Fault::limit(
                    start,
                    format!("more than {} levels of nesting, the limit", self.limits.depth),
                ));
            }
            self.stack.push(self.tape.entries.len());
        } else {
            self.check_length(start, len)?;
        }
        self.push(entry)?;
        Ok(collection)
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

    fn string(&mut self) -> Result<(), Fault> {
        let start = self.at;
        self.at += 1;
        let text_from = self.tape.text.len();
        let mut from = self.at;
        let mut decoded = false;
        loop {
            self.at += plain_run(&self.bytes[self.at..]);
            match self.bytes.get(self.at) {
                Some(b'"') => break,
                Some(b'\\') => {
                    decoded = true;
                    self.tape.text.push_str(&self.source[from..self.at]);
                    let c = self.escape()?;
                    self.tape.text.push(c);
                    from = self.at;
                }
                Some(_) => {
                    return Err(self.fault("'\"' or an escape such as \\n, inside the text that is open"));
                }
                None => {
                    return Err(Fault::new(
                        start,
                        "the quote that begins here is not closed before the end of the source",
                    ));
                }
            }
        }
        let (a, b) = if decoded {
            self.tape.text.push_str(&self.source[from..self.at]);
            (text_from, self.tape.text.len() - text_from)
        } else {
            (from, self.at - from)
        };
        self.at += 1;
        self.check_length(start, b)?;
        let flags = if decoded { Flags::QUOTED.with(Flags::DECODED) } else { Flags::QUOTED };
        self.push(Entry { start: start as u32, end: self.at as u32, a: a as u32, b: b as u32, kind: Kind::Str, flags })
    }

    fn escape(&mut self) -> Result<char, Fault> {
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
                    return Err(self.fault("four hexadecimal digits behind \\u"));
                };
                self.at += 6;
                if (0xD800..0xDC00).contains(&first)
                    && let Some(second @ 0xDC00..0xE000) = self.unit(self.at)
                {
                    self.at += 6;
                    let value = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
                    return Ok(char::from_u32(value).unwrap_or('\u{FFFD}'));
                }
                // Half of a surrogate pair is no character.
                return Ok(char::from_u32(first).unwrap_or('\u{FFFD}'));
            }
            _ => return Err(self.fault("an escape that JSON knows")),
        };
        self.at += 2;
        Ok(c)
    }

    /// The UTF-16 unit of the `\u` escape at `at`.
    fn unit(&self, at: usize) -> Option<u32> {
        let digits = self.bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
        digits.iter().try_fold(0, |value, digit| Some((value << 4) | char::from(*digit).to_digit(16)?))
    }
}
