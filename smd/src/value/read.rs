//! Reading JSON the way upstream's reader does (spec: smd, "Values", JSON in).
//!
//! The reader goes over the text once. Strings without escapes are borrowed from it; others are made in the arena.

use super::{Map, Value};
use crate::Bump;

/// How deep JSON may nest, and how long the paths of a set that is read may be.
pub const MAX_DEPTH: usize = 512;

/// Whose reading of JSON to follow.
///
/// The versions of structured merge diff agree in everything but text behind the first JSON value of a path element,
/// of a field set and of a value (spec: smd, "v6.3.3 against v6.4.2").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Compat {
    /// Version 6.3.3, which is in the API server 1.36: such text is ignored.
    V63,
    /// Version 6.4.2: such text is an error.
    #[default]
    V64,
}

/// Why a text is no JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} at byte {at}")]
pub struct JsonError {
    /// What was expected, or is wrong.
    pub what: &'static str,
    /// Where, as an offset into the text.
    pub at: usize,
}

impl<'a> Value<'a> {
    /// Reads a JSON text (upstream `value.FromJSON`). Every number becomes a float; of repeated keys the last counts.
    ///
    /// As upstream, this takes more than JSON: `null` for a key that is not the first of its object, which is then
    /// the empty text, control characters in a string behind an escape, and half of a surrogate pair, which becomes
    /// U+FFFD.
    ///
    /// # Errors
    /// The text is no JSON, nests deeper than [`MAX_DEPTH`], or holds a number beyond the range of a double.
    ///
    /// # Example: a number, and what follows it
    /// ```
    /// use kubeshape_smd::{Bump, Value, value::Compat};
    /// let arena = Bump::new();
    /// assert!(matches!(Value::read_json(" 1 ", &arena, Compat::V64), Ok(Value::Float(1.0))));
    /// assert!(matches!(Value::read_json("1 2", &arena, Compat::V63), Ok(Value::Float(1.0))));
    /// assert_eq!(Value::read_json("1 2", &arena, Compat::V64).unwrap_err().at, 2);
    /// ```
    pub fn read_json(text: &'a str, arena: &'a Bump, compat: Compat) -> Result<Value<'a>, JsonError> {
        let mut reader = Reader::new(text, arena);
        let value = reader.value()?;
        reader.finish(compat)?;
        Ok(value)
    }
}

/// A place in a JSON text, and how deep it nests.
pub(crate) struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    arena: &'a Bump,
}

impl<'a> Reader<'a> {
    #[inline]
    pub(crate) fn new(text: &'a str, arena: &'a Bump) -> Self {
        Reader { text, at: 0, depth: 0, arena }
    }

    #[cold]
    pub(crate) fn fail<T>(&self, what: &'static str) -> Result<T, JsonError> {
        Err(JsonError { what, at: self.at.min(self.text.len()) })
    }

    #[inline]
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The next byte that is not blank; it stays.
    #[inline]
    fn token(&mut self) -> Option<u8> {
        loop {
            match self.byte() {
                Some(b' ' | b'\n' | b'\t' | b'\r') => self.at += 1,
                token => return token,
            }
        }
    }

    /// Takes the next token if it is this one.
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

    /// What may stand behind the value.
    #[inline]
    pub(crate) fn finish(&mut self, compat: Compat) -> Result<(), JsonError> {
        if compat == Compat::V64 && self.token().is_some() {
            return self.fail("unexpected data after the JSON value");
        }
        Ok(())
    }

    /// Reads an object or null, and has `entry` read the value behind every key.
    #[inline]
    pub(crate) fn object(
        &mut self,
        mut entry: impl FnMut(&mut Self, &'a str, usize) -> Result<(), JsonError>,
    ) -> Result<(), JsonError> {
        if !self.takes(b'{') {
            return if self.byte() == Some(b'n') { self.word("null", ()) } else { self.fail("expected { or null") };
        }
        self.deeper()?;
        if !self.takes(b'}') {
            if self.byte() != Some(b'"') {
                return self.fail("expected a string or }");
            }
            loop {
                let (key, at) = self.key()?;
                entry(self, key, at)?;
                match self.token() {
                    Some(b',') => self.at += 1,
                    Some(b'}') => break,
                    _ => return self.fail("expected , or }"),
                }
            }
            self.at += 1;
        }
        self.depth -= 1;
        Ok(())
    }

    #[inline]
    fn deeper(&mut self) -> Result<(), JsonError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { self.fail("nested too deep") } else { Ok(()) }
    }

    /// A key with its place, and the colon.
    #[inline]
    fn key(&mut self) -> Result<(&'a str, usize), JsonError> {
        let key = match self.token() {
            // Only behind a comma: upstream reads keys as strings, which may be null.
            Some(b'n') => (self.word("null", "")?, self.at),
            _ => (self.string()?, self.at),
        };
        if !self.takes(b':') {
            return self.fail("expected :");
        }
        Ok(key)
    }

    /// A string. Where it holds no escape it is borrowed.
    #[inline]
    fn string(&mut self) -> Result<&'a str, JsonError> {
        if !self.takes(b'"') {
            return self.fail("expected a string");
        }
        let from = self.at;
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(self.at) {
                Some(b'"') => {
                    let text = self.text.get(from..self.at).unwrap_or_default();
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => return self.escaped(from),
                Some(0..0x20) => return self.fail("a control character in a string"),
                Some(_) => self.at += 1,
                None => return self.fail("a string without end"),
            }
        }
    }

    /// The rest of a string that holds an escape here. Control characters are not looked for any more.
    fn escaped(&mut self, from: usize) -> Result<&'a str, JsonError> {
        let bytes = self.text.as_bytes();
        let mut out = String::new();
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
                Some(_) => self.at += 1,
                None => return self.fail("a string without end"),
            }
        }
    }

    /// What stands behind a backslash. A half of a surrogate pair takes the escape behind it along, whether or not
    /// that is the other half.
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
                self.at += 2;
                let second = self.unit()?;
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

    /// Four hexadecimal digits.
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

    /// Any value.
    pub(crate) fn value(&mut self) -> Result<Value<'a>, JsonError> {
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
                self.object(|reader, key, _| reader.value().map(|value| entries.push((key, value))))?;
                Ok(Value::Map(Map::from_entries(entries, self.arena)))
            }
            _ => self.fail("expected a value"),
        }
    }

    /// Goes over a value without making it.
    pub(crate) fn skip(&mut self) -> Result<(), JsonError> {
        match self.token() {
            Some(b'[') => self.array(Self::skip),
            Some(b'{') => self.object(|reader, _, _| reader.skip()),
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

    /// A number. As upstream, a plus may follow the minus.
    fn number(&mut self) -> Result<f64, JsonError> {
        let negative = self.byte() == Some(b'-');
        self.at += usize::from(negative);
        let from = self.at;
        while matches!(self.byte(), Some(b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')) {
            self.at += 1;
        }
        let digits = self.text.get(from..self.at).unwrap_or_default();
        let number = match digits.as_bytes() {
            [b'-' | b'.', ..] | [b'0', b'0'..=b'9', ..] => None,
            bytes => match bytes.iter().position(|byte| *byte == b'.') {
                Some(dot) if !bytes.get(dot + 1).is_some_and(u8::is_ascii_digit) => None,
                _ => digits.parse::<f64>().ok().filter(|n| n.is_finite()),
            },
        };
        match number {
            Some(n) => Ok(if negative { -n } else { n }),
            None => self.fail("no number"),
        }
    }
}
