//! Writes path elements and sets.

use super::super::element::PathElement;
use super::super::set::Set;
use super::{SetError, Unwritable};
use crate::value::{Compat, NotFinite, Value};
use kubeshape_yaml::go::escape::{self, Escape, special};
use kubeshape_yaml::go::number;

impl PathElement<'_> {
    /// Appends the serialized form.
    ///
    /// # Errors
    /// A value has a number that is not finite, or the element is [`PathElement::Nameless`].
    pub fn write(self, out: &mut Vec<u8>) -> Result<(), SetError> {
        self.write_as(Compat::default(), out)
    }

    /// Appends the serialized form by the rules of one version.
    ///
    /// # Errors
    /// As for [`PathElement::write`].
    ///
    /// # Example: what version 7 changes
    /// ```
    /// use kubeshape_smd::{Bump, fieldpath::PathElement, value::Compat};
    /// let arena = Bump::new();
    /// let mut out = Vec::new();
    /// PathElement::parse(r#"k:{"a":"<"}"#, &arena)?.write_as(Compat::V70, &mut out)?;
    /// assert_eq!(out, br#"k:{"a":"<"}"#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write_as(self, compat: Compat, out: &mut Vec<u8>) -> Result<(), SetError> {
        Ok(write(self, compat, out)?)
    }
}

/// Returns what is escaped in the keys of objects, and in field names.
fn escape_of_names(compat: Compat) -> Escape {
    if compat >= Compat::V70 { Escape::Plain } else { Escape::Iterator }
}

/// Appends an element: field names unchanged, everything else as JSON.
fn write(element: PathElement<'_>, compat: Compat, out: &mut Vec<u8>) -> Result<(), Unwritable> {
    match element {
        PathElement::FieldName(name) => {
            out.extend_from_slice(b"f:");
            out.extend_from_slice(name.as_bytes());
        }
        PathElement::Key(fields) => {
            out.extend_from_slice(b"k:{");
            for (at, (name, value)) in fields.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                escape::string(out, name, escape_of_names(compat));
                out.push(b':');
                value.write_json_as(compat, out)?;
            }
            out.push(b'}');
        }
        PathElement::Value(value) => {
            out.extend_from_slice(b"v:");
            value.write_json_as(compat, out)?;
        }
        PathElement::Index(index) => {
            out.extend_from_slice(b"i:");
            number::write_int(index, out);
        }
        PathElement::Nameless => return Err(Unwritable::Nameless),
    }
    Ok(())
}

impl Set<'_> {
    /// Appends the JSON form, in the order of the elements, byte for byte as upstream writes it.
    ///
    /// # Errors
    /// A value in an element has a number that is not finite, or an element is [`PathElement::Nameless`].
    pub fn write_json(self, out: &mut Vec<u8>) -> Result<(), SetError> {
        self.write_json_as(Compat::default(), out)
    }

    /// Appends the JSON form as one version writes it.
    ///
    /// # Errors
    /// As for [`Set::write_json`].
    pub fn write_json_as(self, compat: Compat, out: &mut Vec<u8>) -> Result<(), SetError> {
        // Reserves space for two levels. Deeper levels grow the buffer.
        let below: usize = self.entries().iter().map(|entry| 1 + entry.children.entries().len()).sum();
        let mut writer = Writer { from: out.len(), at: out.len(), out, compat, scratch: Vec::new() };
        writer.grow(below.saturating_mul(32));
        let written = writer.node(self, false);
        writer.out.truncate(writer.at);
        Ok(written?)
    }

    /// Returns the JSON form as a string.
    ///
    /// # Errors
    /// As for [`Set::write_json`].
    pub fn to_json(self) -> Result<String, SetError> {
        self.to_json_as(Compat::default())
    }

    /// Returns the JSON form as one version writes it.
    ///
    /// # Errors
    /// As for [`Set::write_json`].
    pub fn to_json_as(self, compat: Compat) -> Result<String, SetError> {
        let mut out = Vec::new();
        self.write_json_as(compat, &mut out)?;
        String::from_utf8(out).map_err(|error| SetError { message: error.to_string(), at: 0 })
    }
}

/// How many bytes are always free: more than any two pieces of fixed size take.
const ROOM: usize = 64;

/// Writes sets into a vector that has zeros after the written part, so that strings can be copied in words, the last of
/// which may go beyond its end.
struct Writer<'o> {
    out: &'o mut Vec<u8>,
    /// Where the set begins.
    from: usize,
    /// Where the written part ends.
    at: usize,
    compat: Compat,
    /// A buffer for a string that is then escaped.
    scratch: Vec<u8>,
}

impl Writer<'_> {
    /// Appends a node and the nodes below it.
    fn node(&mut self, set: Set<'_>, member: bool) -> Result<(), Unwritable> {
        self.room(0);
        let mut before = b'{';
        if member || set.is_empty() {
            self.put(*b"{");
        }
        if member {
            self.put(*br#"".":{}"#);
            before = b',';
        }
        for entry in set.entries() {
            match entry.element {
                PathElement::FieldName(name) => {
                    self.room(name.len());
                    self.put([before, b'"', b'f', b':']);
                    self.escaped(name.as_bytes());
                }
                PathElement::Key(fields) => {
                    self.room(0);
                    self.put([before, b'"', b'k', b':', b'{']);
                    self.fields(fields)?;
                }
                PathElement::Value(value) => {
                    self.room(0);
                    self.put([before, b'"', b'v', b':']);
                    self.value(value)?;
                }
                PathElement::Index(index) => {
                    self.room(0);
                    self.put([before, b'"', b'i', b':']);
                    self.int(index);
                }
                PathElement::Nameless => return Err(Unwritable::Nameless),
            }
            before = b',';
            self.room(0);
            self.put(*br#"":{}"#);
            if !entry.children.is_empty() {
                self.at -= 2;
                self.node(entry.children, entry.member)?;
            }
        }
        self.room(0);
        self.put(*b"}");
        Ok(())
    }

    /// Appends the fields of a key and the closing brace.
    fn fields(&mut self, fields: &[(&str, Value<'_>)]) -> Result<(), NotFinite> {
        for (at, (name, value)) in fields.iter().enumerate() {
            self.string(name, false);
            self.put(*b":");
            self.value(*value)?;
            self.room(0);
            self.put(*b",");
            // The brace replaces the last comma.
            self.at -= usize::from(at + 1 == fields.len());
        }
        self.put(*b"}");
        Ok(())
    }

    /// Appends a value inside a JSON string.
    #[inline]
    fn value(&mut self, value: Value<'_>) -> Result<(), NotFinite> {
        match value {
            Value::String(text) => self.string(text, self.compat < Compat::V70),
            Value::Bool(true) => self.put(*b"true"),
            Value::Bool(false) => self.put(*b"false"),
            Value::Int(n) => self.int(n),
            value => {
                if let Value::Float(n) = value
                    && let Some(n) = integral(n)
                {
                    self.int(n);
                    return Ok(());
                }
                self.scratch.clear();
                value.write_json_as(self.compat, &mut self.scratch)?;
                self.escape_scratch();
            }
        }
        Ok(())
    }

    /// Appends a JSON string inside a JSON string.
    #[inline]
    fn string(&mut self, text: &str, html: bool) {
        self.room(text.len());
        self.put(*br#"\""#);
        if self.plain(text.as_bytes(), html) {
            self.put(*br#"\""#);
        } else {
            self.at -= 2;
            self.scratch.clear();
            self.scratch.reserve(text.len() + ROOM);
            let escape = if html { Escape::IteratorHtml } else { escape_of_names(self.compat) };
            escape::string(&mut self.scratch, text, escape);
            self.escape_scratch();
        }
    }

    #[cold]
    fn escape_scratch(&mut self) {
        let scratch = std::mem::take(&mut self.scratch);
        self.room(scratch.len());
        self.escaped(&scratch);
        self.scratch = scratch;
    }

    /// Appends a string inside a JSON string, with `<`, `>` and `&` unescaped. There must be space for it.
    #[inline]
    fn escaped(&mut self, text: &[u8]) {
        if !self.plain(text, false) {
            self.escape_some(text);
        }
    }

    #[cold]
    fn escape_some(&mut self, text: &[u8]) {
        let mut escaped = Vec::with_capacity(text.len() + ROOM);
        escape::escaped(&mut escaped, text, escape_of_names(self.compat));
        for byte in escaped {
            self.room(0);
            self.put([byte]);
        }
    }

    /// Appends a string if it needs no escapes. Returns whether it did. There must be space for it.
    #[inline]
    fn plain(&mut self, text: &[u8], html: bool) -> bool {
        let len = text.len();
        let Some(room) = self.out.get_mut(self.at..).and_then(|room| room.get_mut(..len.max(8))) else { return false };
        let found = match (text.last_chunk::<8>(), room.last_chunk_mut::<8>()) {
            (Some(last), Some(to)) => {
                // The last word overlaps the one before it.
                *to = *last;
                let words = text.as_chunks::<8>().0.iter().zip(room.as_chunks_mut::<8>().0);
                words.fold(special(u64::from_le_bytes(*last), html), |found, (from, to)| {
                    *to = *from;
                    found | special(u64::from_le_bytes(*from), html)
                })
            }
            (None, Some(to)) => {
                let word = short(text);
                *to = word.to_le_bytes();
                // The bytes after the string are filled with any letter.
                special(word | u64::from_ne_bytes([b'a'; 8]) << (8 * len), html)
            }
            (_, None) => 1,
        };
        if found == 0 {
            self.at += len;
        }
        found == 0
    }

    /// Appends an integer.
    #[inline]
    fn int(&mut self, n: i64) {
        if let 0..10 = n {
            self.put([b'0' + n.cast_unsigned() as u8]);
            return;
        }
        let negative = n < 0;
        if negative {
            self.put(*b"-");
        }
        let mut n = n.unsigned_abs();
        let count = n.checked_ilog10().unwrap_or(0) as usize + 1;
        let Some(digits) = self.out.get_mut(self.at..).and_then(|room| room.get_mut(..count)) else { return };
        for digit in digits.iter_mut().rev() {
            *digit = b'0' + (n % 10) as u8;
            n /= 10;
        }
        self.at += count;
    }

    /// Appends a piece. There must be space for it.
    #[inline]
    fn put<const N: usize>(&mut self, piece: [u8; N]) {
        if let Some(room) = self.out.get_mut(self.at..).and_then(<[u8]>::first_chunk_mut::<N>) {
            *room = piece;
        }
        self.at += N;
    }

    /// Reserves space for a string and the pieces around it.
    #[inline]
    fn room(&mut self, text: usize) {
        if self.out.len() - self.at < text + ROOM {
            self.grow(text);
        }
    }

    #[cold]
    fn grow(&mut self, text: usize) {
        // Grows in proportion to the written part of this set, so that each byte is moved and zeroed only a few times.
        let more = (self.at - self.from).saturating_mul(3).max(text.saturating_add(4 * ROOM));
        let len = self.at.saturating_add(more);
        self.out.resize(len, 0);
    }
}

/// Returns a string of less than eight bytes as a word.
#[inline]
fn short(text: &[u8]) -> u64 {
    match *text {
        [] => 0,
        [a] => u64::from(a),
        [a, b] => u64::from(u16::from_le_bytes([a, b])),
        [a, b, c] => u64::from(u32::from_le_bytes([a, b, c, 0])),
        [a, b, c, d, ..] => {
            let last = text.last_chunk::<4>().map_or(0, |last| u64::from(u32::from_le_bytes(*last)));
            u64::from(u32::from_le_bytes([a, b, c, d])) | last << (8 * (text.len() - 4))
        }
    }
}

/// Returns the integer with the same value, if all of its digits are exact.
#[expect(clippy::cast_precision_loss, reason = "the bound is that of integers which a double holds exactly")]
#[inline]
fn integral(n: f64) -> Option<i64> {
    let int = n as i64;
    (int.unsigned_abs() < 1 << 53 && (int as f64).to_bits() == n.to_bits()).then_some(int)
}
