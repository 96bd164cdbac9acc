//! Strings as Go writes them: JSON in the two spellings that Kubernetes prints, and `%q`.

// Without branches the loops over chunks are vectorised.
#![allow(clippy::needless_bitwise_bool)]

use std::fmt::{self, Display, Formatter, Write as _};

/// Which characters of a string are escaped beyond what JSON asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Escape {
    /// `<`, `>`, `&`, U+2028 and U+2029 as well, as Go's `encoding/json` does: OpenAPI v3 documents.
    #[default]
    Html,
    /// Only what JSON asks for: the served OpenAPI v2 document.
    Plain,
}

const HEX: &[u8; 16] = b"0123456789abcdef";
const CHUNK: usize = 32;
const WORD: usize = 8;

/// Appends `text` as a JSON string with its quotes.
///
/// # Example
/// ```
/// use kubeshape_schema::escape::{Escape, string};
/// let mut out = Vec::new();
/// string(&mut out, "a<b\n", Escape::Html);
/// assert_eq!(out, br#""a\u003cb\n""#);
/// ```
#[inline]
pub fn string(out: &mut Vec<u8>, text: &str, escape: Escape) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    body(out, text, escape);
    out.push(b'"');
}

/// Appends `text` escaped, without quotes.
#[inline]
pub fn body(out: &mut Vec<u8>, text: &str, escape: Escape) {
    let bytes = text.as_bytes();
    let clean = if escape == Escape::Html { is_clean(bytes, any_html) } else { is_clean(bytes, any_plain) };
    if clean {
        out.extend_from_slice(bytes);
    } else {
        escaped(out, text, escape);
    }
}

/// Whether no byte is special; `any` says it of a chunk. The last chunk overlaps the one before it.
#[inline]
fn is_clean(bytes: &[u8], any: impl Fn(&[u8]) -> bool) -> bool {
    if let Some(last) = bytes.last_chunk::<WORD>() {
        let (chunks, rest) = bytes.as_chunks::<CHUNK>();
        let (words, _) = rest.as_chunks::<WORD>();
        !(chunks.iter().any(|chunk| any(chunk)) || words.iter().any(|word| any(word)) || any(last))
    } else {
        let mut word = [b' '; WORD];
        word[..bytes.len()].copy_from_slice(bytes);
        !any(&word)
    }
}

#[inline(never)]
fn escaped(out: &mut Vec<u8>, text: &str, escape: Escape) {
    let bytes = text.as_bytes();
    let html = escape == Escape::Html;
    let mut done = 0;
    let mut at = 0;
    while at < bytes.len() {
        // Whole chunks without a special byte are skipped over; this loop is what the compiler vectorises.
        while let Some(chunk) = bytes.get(at..at + CHUNK) {
            let special = if html { any_html(chunk) } else { any_plain(chunk) };
            if special {
                break;
            }
            at += CHUNK;
        }
        let end = (at + CHUNK).min(bytes.len());
        while at < end {
            let byte = bytes[at];
            if !(byte < 0x20 || byte == b'"' || byte == b'\\' || (html && matches!(byte, b'<' | b'>' | b'&' | 0xE2))) {
                at += 1;
                continue;
            }
            if byte == 0xE2 {
                // Only U+2028 and U+2029 are special among the characters that begin so.
                if !(bytes.get(at + 1) == Some(&0x80) && matches!(bytes.get(at + 2), Some(0xA8 | 0xA9))) {
                    at += 1;
                    continue;
                }
                out.extend_from_slice(&bytes[done..at]);
                out.extend_from_slice(if bytes[at + 2] == 0xA8 { b"\\u2028" } else { b"\\u2029" });
                at += 3;
                done = at;
                continue;
            }
            out.extend_from_slice(&bytes[done..at]);
            match byte {
                b'"' => out.extend_from_slice(b"\\\""),
                b'\\' => out.extend_from_slice(b"\\\\"),
                b'\n' => out.extend_from_slice(b"\\n"),
                b'\r' => out.extend_from_slice(b"\\r"),
                b'\t' => out.extend_from_slice(b"\\t"),
                0x08 => out.extend_from_slice(b"\\b"),
                0x0C => out.extend_from_slice(b"\\f"),
                _ => out.extend_from_slice(&[
                    b'\\',
                    b'u',
                    b'0',
                    b'0',
                    HEX[usize::from(byte >> 4)],
                    HEX[usize::from(byte & 15)],
                ]),
            }
            at += 1;
            done = at;
        }
    }
    out.extend_from_slice(&bytes[done..]);
}

#[inline]
fn any_html(chunk: &[u8]) -> bool {
    chunk.iter().fold(false, |any, &b| {
        any | (b < 0x20) | (b == b'"') | (b == b'\\') | (b == b'<') | (b == b'>') | (b == b'&') | (b == 0xE2)
    })
}

#[inline]
fn any_plain(chunk: &[u8]) -> bool {
    chunk.iter().fold(false, |any, &b| any | (b < 0x20) | (b == b'"') | (b == b'\\'))
}

/// A text as Go's `%q` writes it, with its quotes.
///
/// # Example
/// ```
/// use kubeshape_schema::escape::GoQuoted;
/// assert_eq!(GoQuoted("<é>\u{2028}\n").to_string(), r#""<é>\u2028\n""#);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct GoQuoted<'a>(pub &'a str);

impl Display for GoQuoted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for c in self.0.chars() {
            match c {
                '"' => f.write_str("\\\"")?,
                '\\' => f.write_str("\\\\")?,
                '\x07' => f.write_str("\\a")?,
                '\x08' => f.write_str("\\b")?,
                '\x0c' => f.write_str("\\f")?,
                '\n' => f.write_str("\\n")?,
                '\r' => f.write_str("\\r")?,
                '\t' => f.write_str("\\t")?,
                '\x0b' => f.write_str("\\v")?,
                ' '..='~' => f.write_char(c)?,
                c if c.is_ascii() => write!(f, "\\x{:02x}", u32::from(c))?,
                c if is_printable(c) => f.write_char(c)?,
                c if u32::from(c) < 0x1_0000 => write!(f, "\\u{:04x}", u32::from(c))?,
                c => write!(f, "\\U{:08x}", u32::from(c))?,
            }
        }
        f.write_char('"')
    }
}

/// Letters, marks, numbers, punctuation and symbols. The standard library keeps that table for its own escapes,
/// in which a mark counts only where a text begins.
fn is_printable(c: char) -> bool {
    let mut text = [b'a'; 5];
    let len = c.encode_utf8(&mut text[1..]).len();
    std::str::from_utf8(&text[..=len]).is_ok_and(|text| text.escape_debug().nth(1) == Some(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html(text: &str) -> String {
        let mut out = Vec::new();
        string(&mut out, text, Escape::Html);
        String::from_utf8(out).expect("escaping keeps UTF-8")
    }

    #[test]
    fn every_special_character_is_escaped_at_every_offset() {
        for pad in 0..70 {
            let pad = "x".repeat(pad);
            let text = format!("{pad}\u{1}<>&\"\\\n\r\t\u{8}\u{c}\u{7f}\u{2028}\u{2029}\u{2026}é{pad}");
            let expected =
                format!(r#""{pad}\u0001\u003c\u003e\u0026\"\\\n\r\t\b\f{}\u2028\u2029{}é{pad}""#, '\u{7f}', '\u{2026}');
            assert_eq!(html(&text), expected);
        }
    }

    #[test]
    fn the_plain_spelling_leaves_html_alone() {
        let mut out = Vec::new();
        string(&mut out, "<&>\u{2028}\n", Escape::Plain);
        assert_eq!(out, "\"<&>\u{2028}\\n\"".as_bytes());
    }
}
