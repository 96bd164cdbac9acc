//! Reads JSON as upstream does (`value.FromJSON`): every number is a float.
//!
//! The reader reads the input once. Strings without escapes are borrowed from it; others are allocated in the arena.

use crate::{Bump, Map, Value};

/// The maximum nesting of JSON, and the maximum length of the paths of a set, in levels.
pub const MAX_DEPTH: usize = 512;

/// The version of structured merge diff whose JSON is read and written: path elements, field sets and values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Compat {
    /// Version 6.3.3, used by the API server 1.36: data after the first JSON value is ignored.
    V63,
    /// Version 6.4.2, used by the API server 1.37: such data is an error.
    #[default]
    V64,
    /// Version 7.0.0, which the API server 1.38 will use. It reads and writes with `encoding/json/v2`: only JSON is
    /// accepted, and strings are escaped only where JSON requires it. Floats have the shortest exponent (`1e-7`).
    V70,
}

/// The error for what is not a number, or a number that is too large.
const NO_NUMBER: &str = "no number";
/// The error for a control character that is not escaped.
const CONTROL: &str = "a control character in a string";

/// The error for a string that is not JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} at byte {at}")]
pub struct JsonError {
    /// What was expected, or what is wrong.
    pub what: &'static str,
    /// The offset in the string, in bytes.
    pub at: usize,
}

impl<'a> Value<'a> {
    /// Reads JSON (upstream `value.FromJSON`). Every number becomes a float. Of repeated keys, the last is used. Half
    /// of a surrogate pair becomes U+FFFD.
    ///
    /// Like upstream, this accepts more than JSON before [`Compat::V70`]: `null` as a key that is not the first of its
    /// object, which is then `""`; control characters in a string after an escape; and a plus after a minus.
    ///
    /// # Errors
    /// The string is not JSON, nests deeper than [`MAX_DEPTH`], or has a number beyond the range of a double.
    ///
    /// # Example: a number, and what follows it
    /// ```
    /// use kubeshape_value::{Bump, Compat, Value};
    /// let arena = Bump::new();
    /// assert!(matches!(Value::read_json(" 1 ", &arena, Compat::V64), Ok(Value::Float(1.0))));
    /// assert!(matches!(Value::read_json("1 2", &arena, Compat::V63), Ok(Value::Float(1.0))));
    /// assert_eq!(Value::read_json("1 2", &arena, Compat::V64).unwrap_err().at, 2);
    /// ```
    pub fn read_json(text: &'a str, arena: &'a Bump, compat: Compat) -> Result<Value<'a>, JsonError> {
        let mut reader = Reader::new(text, arena, compat);
        let value = reader.value()?;
        reader.finish()?;
        Ok(value)
    }
}

/// The result of [`Reader::quoted`].
pub enum Quoted<'a> {
    /// `f:` and a name.
    Name(&'a str),
    /// `k:` and an object.
    Fields,
    /// `v:` and a number or a string.
    Value(Value<'a>),
    /// `i:` and a number.
    Index(i64),
}

/// A position in a JSON string, and its depth.
pub struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    compat: Compat,
    arena: &'a Bump,
}

impl<'a> Reader<'a> {
    /// Creates a reader at the start of `text`.
    #[inline]
    pub fn new(text: &'a str, arena: &'a Bump, compat: Compat) -> Self {
        Reader { text, at: 0, depth: 0, compat, arena }
    }

    /// Returns whether only JSON is accepted.
    fn is_strict(&self) -> bool {
        self.compat >= Compat::V70
    }

    /// Returns an error at the current position.
    ///
    /// # Errors
    /// Always.
    #[cold]
    pub fn fail<T>(&self, what: &'static str) -> Result<T, JsonError> {
        Err(JsonError { what, at: self.at.min(self.text.len()) })
    }

    /// Returns the offset of what is read next.
    #[inline]
    pub fn at(&self) -> usize {
        self.at
    }

    #[inline]
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Returns the next byte that is not blank, without consuming it.
    #[inline]
    fn token(&mut self) -> Option<u8> {
        loop {
            match self.byte() {
                Some(b' ' | b'\n' | b'\t' | b'\r') => self.at += 1,
                token => return token,
            }
        }
    }

    /// Consumes the next token if it is this one.
    #[inline]
    fn takes(&mut self, token: u8) -> bool {
        let found = self.token() == Some(token);
        self.at += usize::from(found);
        found
    }

    fn word<T>(&mut self, word: &str, value: T) -> Result<T, JsonError> {
        if self.text.as_bytes().get(self.at..).is_some_and(|rest| rest.starts_with(word.as_bytes())) {
            self.at += word.len();
            Ok(value)
        } else {
            self.fail("expected null, true or false")
        }
    }

    /// Checks what follows the value.
    ///
    /// # Errors
    /// More data follows, and the version does not ignore it.
    #[inline]
    pub fn finish(&mut self) -> Result<(), JsonError> {
        if self.compat >= Compat::V64 && self.token().is_some() {
            return self.fail("unexpected data after the JSON value");
        }
        Ok(())
    }

    /// Enters an object. Returns whether a key follows. null is read as an empty object.
    ///
    /// # Errors
    /// The next value is neither an object nor null, or it is nested too deep.
    #[inline]
    pub fn enter(&mut self) -> Result<bool, JsonError> {
        if !self.takes(b'{') {
            return if self.byte() == Some(b'n') { self.word("null", false) } else { self.fail("expected { or null") };
        }
        if self.takes(b'}') {
            return Ok(false);
        }
        self.deeper()?;
        if self.byte() == Some(b'"') { Ok(true) } else { self.fail("expected a string or }") }
    }

    /// Moves past the end of a value in an object. Returns whether a key follows.
    ///
    /// # Errors
    /// Neither a comma nor the end of the object follows.
    #[inline]
    pub fn more(&mut self) -> Result<bool, JsonError> {
        let more = match self.token() {
            Some(b',') => true,
            Some(b'}') => false,
            _ => return self.fail("expected , or }"),
        };
        self.at += 1;
        self.depth -= usize::from(!more);
        Ok(more)
    }

    /// Reads the colon between a key and its value.
    ///
    /// # Errors
    /// Something else follows.
    #[inline]
    pub fn colon(&mut self) -> Result<(), JsonError> {
        if self.takes(b':') { Ok(()) } else { self.fail("expected :") }
    }

    /// Reads an object or null. `entry` reads the value of each key.
    ///
    /// # Errors
    /// The next value is not an object, or `entry` fails.
    #[inline]
    pub fn object(
        &mut self,
        mut entry: impl FnMut(&mut Self, &'a str) -> Result<(), JsonError>,
    ) -> Result<(), JsonError> {
        let mut more = self.enter()?;
        while more {
            let name = self.name()?;
            self.colon()?;
            entry(self, name)?;
            more = self.more()?;
        }
        Ok(())
    }

    #[inline]
    fn deeper(&mut self) -> Result<(), JsonError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { self.fail("nested too deep") } else { Ok(()) }
    }

    /// Reads a key.
    ///
    /// # Errors
    /// The next token is not a string.
    #[inline]
    pub fn name(&mut self) -> Result<&'a str, JsonError> {
        match self.token() {
            // Only after a comma: upstream reads keys as strings, which may be null.
            Some(b'n') if !self.is_strict() => self.word("null", ""),
            _ => self.string(),
        }
    }

    /// Reads a string. It is borrowed if it has no escapes.
    #[inline]
    fn string(&mut self) -> Result<&'a str, JsonError> {
        if !self.takes(b'"') {
            return self.fail("expected a string");
        }
        let from = self.at;
        self.plain();
        match self.byte() {
            Some(b'"') => {
                let text = self.text.get(from..self.at).unwrap_or_default();
                self.at += 1;
                Ok(text)
            }
            Some(b'\\') => self.escaped(from),
            Some(_) => self.fail(CONTROL),
            None => self.fail("a string without end"),
        }
    }

    /// Moves to the next quote, backslash or control character. It checks eight bytes at a time.
    #[inline]
    fn plain(&mut self) {
        const LOW: u64 = u64::from_ne_bytes([0x01; 8]);
        const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);
        let zero = |word: u64| word.wrapping_sub(LOW) & !word & HIGH;
        let bytes = self.text.as_bytes();
        while let Some(chunk) = bytes.get(self.at..).and_then(<[u8]>::first_chunk::<8>) {
            let word = u64::from_le_bytes(*chunk);
            let control = word.wrapping_sub(LOW * 0x20) & !word & HIGH;
            let found = zero(word ^ (LOW * u64::from(b'"'))) | zero(word ^ (LOW * u64::from(b'\\'))) | control;
            if found != 0 {
                // The lowest set bit is always right.
                self.at += (found.trailing_zeros() / 8) as usize;
                return;
            }
            self.at += 8;
        }
        while matches!(self.byte(), Some(byte) if byte >= 0x20 && byte != b'"' && byte != b'\\') {
            self.at += 1;
        }
    }

    /// Consumes `with` if it comes next. Returns whether it did.
    #[inline]
    fn goes_on(&mut self, with: &[u8]) -> bool {
        let found = self.text.as_bytes().get(self.at..).is_some_and(|rest| rest.starts_with(with));
        if found {
            self.at += with.len();
        }
        found
    }

    /// Reads a key of a set, as sets are written: a letter, a colon, and then a string, a compact JSON object of
    /// scalars, whose fields are appended to `fields`, or a JSON scalar. If any string has an escape, it reads nothing,
    /// so that everything that is read is borrowed.
    #[inline]
    pub fn quoted(&mut self, fields: &mut Vec<(&'a str, Value<'a>)>) -> Option<Quoted<'a>> {
        let from = self.at;
        let found = match self.text.as_bytes().get(from..)?.first_chunk::<4>()? {
            b"\"k:{" => {
                self.at += 4;
                fields.clear();
                self.quoted_fields(fields).map(|()| Quoted::Fields)
            }
            [b'"', b'f', b':', _] => {
                self.at += 3;
                let text = from + 3;
                self.plain();
                self.text.get(text..self.at).map(Quoted::Name)
            }
            b"\"v:\\" => {
                self.at += 3;
                self.quoted_string().map(|text| Quoted::Value(Value::String(text)))
            }
            [b'"', b'v', b':', b'-' | b'0'..=b'9'] => {
                self.at += 3;
                self.number().ok().map(|n| Quoted::Value(Value::Float(n)))
            }
            b"\"v:t" | b"\"v:f" => {
                self.at += 3;
                if self.goes_on(b"true") {
                    Some(Quoted::Value(Value::Bool(true)))
                } else {
                    self.goes_on(b"false").then_some(Quoted::Value(Value::Bool(false)))
                }
            }
            [b'"', b'i', b':', b'0'..=b'9'] => {
                self.at += 3;
                let mut index = 0;
                let end = from + 3 + 18;
                while self.at < end
                    && let Some(digit @ b'0'..=b'9') = self.byte()
                {
                    index = index * 10 + i64::from(digit - b'0');
                    self.at += 1;
                }
                Some(Quoted::Index(index))
            }
            _ => return None,
        };
        if found.is_some() && self.byte() == Some(b'"') {
            self.at += 1;
            return found;
        }
        self.at = from;
        None
    }

    /// Consumes a colon and an empty object.
    #[inline]
    pub fn leaf(&mut self) -> bool {
        self.goes_on(b":{}")
    }

    /// Consumes a `.` without children, which is the first key of many nodes of a set.
    #[inline]
    pub fn dot(&mut self) -> bool {
        self.goes_on(br#"".":{}"#)
    }

    #[inline]
    fn quoted_fields(&mut self, fields: &mut Vec<(&'a str, Value<'a>)>) -> Option<()> {
        loop {
            let name = self.quoted_string()?;
            if !self.goes_on(b":") {
                return None;
            }
            let value = match self.byte()? {
                b'\\' => Value::String(self.quoted_string()?),
                b'-' | b'0'..=b'9' => Value::Float(self.number().ok()?),
                _ if self.goes_on(b"true") => Value::Bool(true),
                _ if self.goes_on(b"false") => Value::Bool(false),
                _ => return None,
            };
            fields.push((name, value));
            if self.goes_on(b"}") {
                return Some(());
            }
            if !self.goes_on(b",") {
                return None;
            }
        }
    }

    #[inline]
    fn quoted_string(&mut self) -> Option<&'a str> {
        if !self.goes_on(b"\\\"") {
            return None;
        }
        let from = self.at;
        self.plain();
        let to = self.at;
        if self.goes_on(b"\\\"") { self.text.get(from..to) } else { None }
    }

    /// Reads the rest of a string from an escape on. From here on, only strict readers reject control characters.
    fn escaped(&mut self, from: usize) -> Result<&'a str, JsonError> {
        let bytes = self.text.as_bytes();
        let mut out = String::with_capacity(64);
        let mut from = from;
        loop {
            match bytes.get(self.at) {
                Some(b'"') => {
                    out.push_str(self.text.get(from..self.at).unwrap_or_default());
                    self.at += 1;
                    return Ok(self.arena.alloc_str(&out));
                }
                Some(b'\\') => {
                    out.push_str(self.text.get(from..self.at).unwrap_or_default());
                    self.at += 1;
                    self.escape(&mut out)?;
                    from = self.at;
                }
                Some(byte) if *byte < 0x20 && self.is_strict() => return self.fail(CONTROL),
                Some(_) => {
                    self.at += 1;
                    self.plain();
                }
                None => return self.fail("a string without end"),
            }
        }
    }

    /// Reads what follows a backslash. Half of a surrogate pair also consumes the next escape, whether or not that is
    /// the other half, except in strict readers.
    fn escape(&mut self, out: &mut String) -> Result<(), JsonError> {
        let c = match self.byte() {
            Some(b'u') => {
                self.at += 1;
                let unit = self.unit()?;
                if !(0xd800..0xe000).contains(&unit) {
                    out.push(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER));
                    return Ok(());
                }
                if !self.text.as_bytes().get(self.at..).is_some_and(|rest| rest.starts_with(b"\\u")) {
                    out.push(char::REPLACEMENT_CHARACTER);
                    return Ok(());
                }
                let before = self.at;
                self.at += 2;
                let second = self.unit()?;
                if self.is_strict() && !(unit < 0xdc00 && (0xdc00..0xe000).contains(&second)) {
                    self.at = before;
                    out.push(char::REPLACEMENT_CHARACTER);
                    return Ok(());
                }
                if unit < 0xdc00 && (0xdc00..0xe000).contains(&second) {
                    char::from_u32(0x1_0000 + ((unit - 0xd800) << 10) + (second - 0xdc00))
                } else {
                    out.push(char::REPLACEMENT_CHARACTER);
                    char::from_u32(second)
                }
                .unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            Some(c) => {
                let c = match c {
                    b'"' | b'\\' | b'/' => c as char,
                    b'b' => '\x08',
                    b'f' => '\x0c',
                    b'n' => '\n',
                    b'r' => '\r',
                    b't' => '\t',
                    _ => return self.fail("an unknown escape"),
                };
                self.at += 1;
                c
            }
            None => return self.fail("a string without end"),
        };
        out.push(c);
        Ok(())
    }

    /// Reads four hexadecimal digits.
    fn unit(&mut self) -> Result<u32, JsonError> {
        let mut unit = 0;
        for _ in 0..4 {
            let Some(digit) = self.byte().and_then(|byte| (byte as char).to_digit(16)) else {
                return self.fail("expected four hexadecimal digits");
            };
            unit = unit * 16 + digit;
            self.at += 1;
        }
        Ok(unit)
    }

    /// Reads any value.
    ///
    /// # Errors
    /// The input is not JSON, or it is nested too deep.
    pub fn value(&mut self) -> Result<Value<'a>, JsonError> {
        match self.token() {
            Some(b'"') => self.string().map(Value::String),
            Some(b'-' | b'0'..=b'9') => self.number().map(Value::Float),
            Some(b'n') => self.word("null", Value::Null),
            Some(b't') => self.word("true", Value::Bool(true)),
            Some(b'f') => self.word("false", Value::Bool(false)),
            Some(b'[') => {
                let mut items = Vec::new();
                self.array(|reader| reader.value().map(|item| items.push(item)))?;
                Ok(Value::List(self.arena.alloc_slice_copy(&items)))
            }
            Some(b'{') => {
                let mut entries = Vec::new();
                self.object(|reader, key| reader.value().map(|value| entries.push((key, value))))?;
                Ok(Value::Map(Map::from_entries(entries, self.arena)))
            }
            _ => self.fail("expected a value"),
        }
    }

    /// Skips a value without building it.
    ///
    /// # Errors
    /// The input is not JSON, or it is nested too deep.
    pub fn skip(&mut self) -> Result<(), JsonError> {
        match self.token() {
            Some(b'[') => self.array(Self::skip),
            Some(b'{') => self.object(|reader, _| reader.skip()),
            // Strict readers do not convert what they skip, so a number may be too large.
            Some(b'-' | b'0'..=b'9') if self.is_strict() => self.literal().map(drop),
            _ => self.value().map(drop),
        }
    }

    fn array(&mut self, mut item: impl FnMut(&mut Self) -> Result<(), JsonError>) -> Result<(), JsonError> {
        self.at += 1;
        self.deeper()?;
        if !self.takes(b']') {
            loop {
                item(self)?;
                match self.token() {
                    Some(b',') => self.at += 1,
                    Some(b']') => break,
                    _ => return self.fail("expected , or ]"),
                }
            }
            self.at += 1;
        }
        self.depth -= 1;
        Ok(())
    }

    /// Reads a number.
    #[inline]
    fn number(&mut self) -> Result<f64, JsonError> {
        // Most numbers are ports.
        if let Some(first @ b'0'..=b'9') = self.byte() {
            let mut n = u32::from(first - b'0');
            for at in self.at + 1..self.at + 10 {
                match self.text.as_bytes().get(at) {
                    Some(digit @ b'0'..=b'9') if n != 0 && at < self.at + 9 => n = n * 10 + u32::from(digit - b'0'),
                    Some(b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E') => break,
                    _ => {
                        self.at = at;
                        return Ok(f64::from(n));
                    }
                }
            }
        }
        self.any_number()
    }

    /// Reads any number.
    fn any_number(&mut self) -> Result<f64, JsonError> {
        let number = self.literal()?;
        if number.is_finite() { Ok(number) } else { self.fail(NO_NUMBER) }
    }

    /// Reads any number, which may be infinite. As upstream, a plus may follow the minus, except in strict readers.
    fn literal(&mut self) -> Result<f64, JsonError> {
        let negative = self.byte() == Some(b'-');
        self.at += usize::from(negative);
        let from = self.at;
        while matches!(self.byte(), Some(b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')) {
            self.at += 1;
        }
        let digits = self.text.get(from..self.at).unwrap_or_default();
        let number = match digits.as_bytes() {
            [b'-' | b'.', ..] | [b'0', b'0'..=b'9', ..] => None,
            [b'+', ..] if self.is_strict() => None,
            bytes => match bytes.iter().position(|byte| *byte == b'.') {
                Some(dot) if !bytes.get(dot + 1).is_some_and(u8::is_ascii_digit) => None,
                _ => digits.parse::<f64>().ok(),
            },
        };
        match number {
            Some(n) => Ok(if negative { -n } else { n }),
            None => self.fail(NO_NUMBER),
        }
    }
}
