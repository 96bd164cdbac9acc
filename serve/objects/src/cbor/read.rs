//! Converts CBOR to JSON, so that request bodies in all encodings share the later steps.

use super::major;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use kubeshape_yaml::go::Time;
use kubeshape_yaml::go::escape::{Escape, GoQuoted, string};
use std::borrow::Cow;
use std::fmt::Write;

/// The maximum nesting of a document, as in JSON. Tags are levels, too.
const DEPTH: usize = 512;
/// Seconds of the times that RFC 3339 can write: years 0 to 9999.
const TIMES: std::ops::RangeInclusive<i64> = -62_167_219_200..=253_402_300_799;

/// Converts a body with a single document to compact JSON. Keys keep their order.
///
/// # Errors
/// The body is malformed or has no equivalent in JSON. The message contains the problem and its position.
pub(crate) fn json(body: &[u8]) -> Result<Vec<u8>, String> {
    let mut reader = Reader { body, at: 0, out: Vec::with_capacity(body.len() + body.len() / 4) };
    reader.value(DEPTH, Later::Plain)?;
    let left = body.len() - reader.at;
    if left > 0 {
        return Err(format!("cbor: {left} bytes are left behind the document"));
    }
    Ok(reader.out)
}

/// The encoding of byte strings (RFC 8949, section 3.4.5.2).
#[derive(Clone, Copy)]
enum Later {
    /// Plain strings.
    Plain,
    Base64Url,
    Base64,
    Base16,
}

struct Reader<'b> {
    body: &'b [u8],
    at: usize,
    out: Vec<u8>,
}

/// The beginning of an item.
#[derive(Clone, Copy)]
struct Head {
    at: usize,
    major: u8,
    /// The low bits of the first byte.
    short: u8,
    /// The length or the value; `None` for an indefinite length.
    argument: Option<u64>,
}

impl<'b> Reader<'b> {
    fn take(&mut self, count: u64) -> Result<&'b [u8], String> {
        let end = usize::try_from(count).ok().and_then(|count| self.at.checked_add(count));
        let taken = end.and_then(|end| self.body.get(self.at..end));
        let taken = taken.ok_or_else(|| format!("cbor: unexpected end at byte {}", self.at))?;
        self.at += taken.len();
        Ok(taken)
    }

    fn head(&mut self) -> Result<Head, String> {
        let at = self.at;
        let first = self.take(1)?.first().copied().unwrap_or_default();
        let (major, short) = (first >> 5, first & 31);
        let argument = match short {
            0..24 => Some(u64::from(short)),
            24..28 => {
                let bytes = self.take(1 << (short - 24))?;
                Some(bytes.iter().fold(0, |n, byte| n << 8 | u64::from(*byte)))
            }
            31 => None,
            _ => return Err(format!("cbor: the length at byte {at} is reserved")),
        };
        Ok(Head { at, major, short, argument })
    }

    /// Returns whether an item of indefinite length ends here.
    fn ends(&mut self) -> bool {
        let ends = self.body.get(self.at) == Some(&0xff);
        self.at += usize::from(ends);
        ends
    }

    fn left(&self) -> u64 {
        (self.body.len() - self.at) as u64
    }

    fn value(&mut self, depth: usize, later: Later) -> Result<(), String> {
        let below =
            depth.checked_sub(1).ok_or_else(|| format!("cbor: the document nests deeper than {DEPTH} levels"))?;
        let head = self.head()?;
        let Head { at, major, argument, .. } = head;
        let definite = || argument.ok_or_else(|| format!("cbor: an integer or a tag at byte {at} has no length"));
        match major {
            major::UNSIGNED => {
                let n = i64::try_from(definite()?).map_err(|_| too_large(at))?;
                self.write(format_args!("{n}"));
            }
            major::NEGATIVE => {
                let n = i64::try_from(definite()?).map_err(|_| too_large(at))?;
                self.write(format_args!("{}", -1 - n));
            }
            major::BYTES | major::TEXT => {
                let content = self.string(head)?;
                let text = match (major, later) {
                    (major::BYTES, Later::Base64Url) => Cow::Owned(URL_SAFE_NO_PAD.encode(content)),
                    (major::BYTES, Later::Base64) => Cow::Owned(STANDARD.encode(content)),
                    (major::BYTES, Later::Base16) => Cow::Owned(base16(&content)),
                    _ => utf8(content, at)?,
                };
                string(&mut self.out, &text, Escape::Plain);
            }
            major::LIST => self.list(head, below, later)?,
            major::MAP => self.map(head, below, later)?,
            major::TAG => self.tag(at, definite()?, below, later)?,
            _ => self.simple(head)?,
        }
        Ok(())
    }

    fn write(&mut self, text: std::fmt::Arguments<'_>) {
        let mut into = String::new();
        // Writing to a string cannot fail.
        let _ = into.write_fmt(text);
        self.out.extend_from_slice(into.as_bytes());
    }

    /// Returns the content of a string, with its chunks joined.
    fn string(&mut self, head: Head) -> Result<Cow<'b, [u8]>, String> {
        if let Some(length) = head.argument {
            return self.take(length).map(Cow::Borrowed);
        }
        let mut content = Vec::new();
        while !self.ends() {
            let part = self.head()?;
            match part.argument {
                Some(length) if part.major == head.major => content.extend_from_slice(self.take(length)?),
                _ => {
                    let what = if head.major == major::TEXT { "text" } else { "byte string" };
                    return Err(format!("cbor: found a part at byte {} that is none of a {what}", part.at));
                }
            }
        }
        Ok(Cow::Owned(content))
    }

    fn list(&mut self, head: Head, below: usize, later: Later) -> Result<(), String> {
        // An item has at least one byte.
        let mut left = match head.argument {
            Some(count) if count > self.left() => {
                return Err(format!("cbor: {count} items at byte {} are more than what follows", head.at));
            }
            count => count,
        };
        self.out.push(b'[');
        let mut is_first = true;
        while self.goes_on(&mut left) {
            if !std::mem::take(&mut is_first) {
                self.out.push(b',');
            }
            self.value(below, later)?;
        }
        self.out.push(b']');
        Ok(())
    }

    /// Returns whether a collection has another item, and counts it.
    fn goes_on(&mut self, left: &mut Option<u64>) -> bool {
        match left {
            None => !self.ends(),
            Some(0) => false,
            Some(left) => {
                *left -= 1;
                true
            }
        }
    }

    fn map(&mut self, head: Head, below: usize, later: Later) -> Result<(), String> {
        let mut left = match head.argument {
            // A pair has at least two bytes.
            Some(count) if count > 1 && count > self.left() / 2 => {
                return Err(format!("cbor: {count} pairs at byte {} are more than what follows", head.at));
            }
            count => count,
        };
        let mut keys: Vec<Cow<'b, str>> = Vec::new();
        self.out.push(b'{');
        while self.goes_on(&mut left) {
            if !keys.is_empty() {
                self.out.push(b',');
            }
            let key = self.head()?;
            if !matches!(key.major, major::BYTES | major::TEXT) {
                return Err(format!("cbor: found a key at byte {} that is no text", key.at));
            }
            let key = utf8(self.string(key)?, key.at)?;
            string(&mut self.out, &key, Escape::Plain);
            keys.push(key);
            self.out.push(b':');
            self.value(below, later)?;
        }
        self.out.push(b'}');
        keys.sort_unstable();
        match keys.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => {
                let key = GoQuoted(&pair[0]).to_string();
                Err(format!("cbor: the key {key} stands twice in the map at byte {}", head.at))
            }
            None => Ok(()),
        }
    }

    fn tag(&mut self, at: usize, tag: u64, below: usize, later: Later) -> Result<(), String> {
        match tag {
            0 | 1 => {
                let start = self.out.len();
                self.value(below, Later::Plain)?;
                let found = String::from_utf8_lossy(&self.out[start..]).into_owned();
                let is_none = || format!("cbor: the tag at byte {at} is that of a time, and {found} is none");
                if tag == 0 {
                    let text = found.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
                    text.and_then(Time::parse).map(|_| ()).ok_or_else(is_none)
                } else {
                    let seconds = found.parse().ok().filter(|seconds| TIMES.contains(seconds)).ok_or_else(is_none)?;
                    self.out.truncate(start);
                    self.write(format_args!("\"{}\"", Time(seconds)));
                    Ok(())
                }
            }
            2 | 3 => Err(format!("cbor: found a big number at byte {at}, which is not taken")),
            21 => self.value(below, Later::Base64Url),
            22 => self.value(below, Later::Base64),
            23 => self.value(below, Later::Base16),
            // Other tags have no equivalent in JSON.
            _ => self.value(below, later),
        }
    }

    fn simple(&mut self, head: Head) -> Result<(), String> {
        let at = head.at;
        let word: &[u8] = match head.short {
            20 => b"false",
            21 => b"true",
            22 => b"null",
            _ => b"",
        };
        if !word.is_empty() {
            self.out.extend_from_slice(word);
            return Ok(());
        }
        let number = match (head.short, head.argument) {
            (25, Some(bits)) => of_half(bits as u16),
            (26, Some(bits)) => f64::from(f32::from_bits(bits as u32)),
            (27, Some(bits)) => f64::from_bits(bits),
            (_, None) => return Err(format!("cbor: found the end of nothing at byte {at}")),
            (_, Some(value)) => {
                return Err(format!("cbor: found the simple value {value} at byte {at}, expected true, false or null"));
            }
        };
        if !number.is_finite() {
            return Err(format!("cbor: found a number at byte {at} that JSON cannot write"));
        }
        // With a decimal point or an exponent, so that it stays a float.
        self.write(format_args!("{number:?}"));
        Ok(())
    }
}

fn too_large(at: usize) -> String {
    format!("cbor: the integer at byte {at} has more than 64 bits")
}

fn utf8(content: Cow<'_, [u8]>, at: usize) -> Result<Cow<'_, str>, String> {
    let text = match content {
        Cow::Borrowed(content) => std::str::from_utf8(content).map(Cow::Borrowed).ok(),
        Cow::Owned(content) => String::from_utf8(content).map(Cow::Owned).ok(),
    };
    text.ok_or_else(|| format!("cbor: the text at byte {at} is no UTF-8"))
}

fn base16(content: &[u8]) -> String {
    let digit = |half: u8| char::from(b"0123456789ABCDEF"[usize::from(half & 15)]);
    content.iter().flat_map(|byte| [digit(byte >> 4), digit(*byte)]).collect()
}

/// Decodes a number of 16 bits.
fn of_half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 0x3ff));
    let number = match exponent {
        0 => fraction * 2_f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        exponent => (fraction + 1024.0) * 2_f64.powi(exponent - 25),
    };
    if bits & 0x8000 == 0 { number } else { -number }
}
