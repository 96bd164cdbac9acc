//! Strings as Go writes them: JSON strings as the libraries that Kubernetes uses escape them, and `%q`.

// Without branches, the loops over chunks are vectorised.
#![allow(clippy::needless_bitwise_bool)]

use std::fmt::{self, Display, Formatter, Write as _};

/// Which characters of a string are escaped, and how. All escape what JSON requires: `"`, `\` and control characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Escape {
    /// Also `<`, `>`, `&`, U+2028 and U+2029, as `encoding/json` does. Used for OpenAPI v3 documents.
    #[default]
    Html,
    /// Also U+2028 and U+2029, as `encoding/json` does after `SetEscapeHTML(false)`.
    Lines,
    /// Only what JSON requires, as `go-json-experiment/json` does. Used for the OpenAPI v2 document.
    Plain,
    /// The characters of [`Html`](Self::Html), as json-iterator does: backspace and form feed have no short escape.
    /// Used for the values and keys of field sets.
    IteratorHtml,
    /// The characters of [`Plain`](Self::Plain), as json-iterator does. Used for field names.
    Iterator,
}

impl Escape {
    fn html(self) -> bool {
        matches!(self, Escape::Html | Escape::IteratorHtml)
    }

    /// Whether U+2028 and U+2029 are escaped.
    fn lines(self) -> bool {
        self.html() || self == Escape::Lines
    }

    /// Whether backspace and form feed are escaped as `\b` and `\f`.
    fn short(self) -> bool {
        !matches!(self, Escape::IteratorHtml | Escape::Iterator)
    }
}

const HEX: &[u8; 16] = b"0123456789abcdef";
const CHUNK: usize = 32;
const WORD: usize = 8;

/// Appends `text` as a JSON string with its quotes.
///
/// # Example
/// ```
/// use kubeshape_yaml::go::escape::{Escape, string};
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
    let clean = if escape.lines() { is_clean(bytes, true, any_html) } else { is_clean(bytes, false, any_plain) };
    if clean {
        out.extend_from_slice(bytes);
    } else {
        escaped(out, bytes, escape);
    }
}

/// Returns whether no byte is special. `any` checks a chunk. The last word overlaps the one before it.
#[inline]
fn is_clean(bytes: &[u8], html: bool, any: impl Fn(&[u8]) -> bool) -> bool {
    // Keys and most strings are a few words long.
    let is_special = |word: &[u8; WORD]| special(u64::from_le_bytes(*word), html) != 0;
    if let Some(last) = bytes.last_chunk::<WORD>() {
        let (chunks, rest) = bytes.as_chunks::<CHUNK>();
        let (words, _) = rest.as_chunks::<WORD>();
        !(chunks.iter().any(|chunk| any(chunk)) || words.iter().any(is_special) || is_special(last))
    } else {
        let mut word = [b' '; WORD];
        word[..bytes.len()].copy_from_slice(bytes);
        !is_special(&word)
    }
}

/// Appends UTF-8 escaped, without quotes. This is slower than [`body`] for a string without special characters.
#[inline(never)]
pub fn escaped(out: &mut Vec<u8>, bytes: &[u8], escape: Escape) {
    let (html, lines) = (escape.html(), escape.lines());
    let mut done = 0;
    let mut at = 0;
    while at < bytes.len() {
        // Skips whole chunks without a special byte. The compiler vectorises this loop.
        while let Some(chunk) = bytes.get(at..at + CHUNK) {
            let special = if lines { any_html(chunk) } else { any_plain(chunk) };
            if special {
                break;
            }
            at += CHUNK;
        }
        let end = (at + CHUNK).min(bytes.len());
        while at < end {
            let byte = bytes[at];
            let required = byte < 0x20 || byte == b'"' || byte == b'\\';
            if !(required || (html && matches!(byte, b'<' | b'>' | b'&')) || (lines && byte == 0xE2)) {
                at += 1;
                continue;
            }
            if byte == 0xE2 {
                // Only U+2028 and U+2029 are special among the characters with this first byte.
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
                0x08 if escape.short() => out.extend_from_slice(b"\\b"),
                0x0C if escape.short() => out.extend_from_slice(b"\\f"),
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
    // `"` and `&` differ in one bit, and so do `<` and `>`.
    chunk
        .iter()
        .fold(false, |any, &b| any | (b < 0x20) | (b | 4 == b'&') | (b == b'\\') | (b | 2 == b'>') | (b == 0xE2))
}

#[inline]
fn any_plain(chunk: &[u8]) -> bool {
    chunk.iter().fold(false, |any, &b| any | (b < 0x20) | (b == b'"') | (b == b'\\'))
}

/// Returns a value that is not zero if one of eight bytes must be escaped: with `html` by [`Escape::IteratorHtml`],
/// else by [`Escape::Iterator`]. With `html`, every character that begins with the byte 0xe2 is treated as special.
///
/// # Example
/// ```
/// use kubeshape_yaml::go::escape::special;
/// assert_eq!(special(u64::from_le_bytes(*b"replicas"), true), 0);
/// assert_ne!(special(u64::from_le_bytes(*b"a<b     "), true), 0);
/// assert_eq!(special(u64::from_le_bytes(*b"a<b     "), false), 0);
/// ```
#[inline]
pub fn special(word: u64, html: bool) -> u64 {
    const LOW: u64 = u64::from_ne_bytes([0x01; 8]);
    const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);
    // If some byte is zero, the highest bit of some byte of the result is set.
    let zero = |word: u64| word.wrapping_sub(LOW) & !word & HIGH;
    let mut found = zero(word ^ (LOW * u64::from(b'\\'))) | (word.wrapping_sub(LOW * 0x20) & !word & HIGH);
    if html {
        // `"` and `&` differ in one bit, and so do `<` and `>`. U+2028 and U+2029 begin with 0xe2.
        found |= zero((word | (LOW * 4)) ^ (LOW * u64::from(b'&')));
        found |= zero((word | (LOW * 2)) ^ (LOW * u64::from(b'>')));
        found |= zero(word ^ (LOW * 0xe2));
    } else {
        found |= zero(word ^ (LOW * u64::from(b'"')));
    }
    found
}

/// A string as Go's `%q` writes it, with its quotes.
///
/// # Example
/// ```
/// use kubeshape_yaml::go::escape::GoQuoted;
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

/// Returns whether a character is a letter, mark, number, punctuation or symbol: `unicode.IsPrint` without the space.
/// The standard library has that table for its own escapes, which escape a mark only at the start of a string.
pub fn is_printable(c: char) -> bool {
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
    fn one_special_character_is_found_at_every_offset() {
        for escape in [Escape::Html, Escape::Lines, Escape::Plain, Escape::IteratorHtml, Escape::Iterator] {
            for special in "\u{0}\u{1f} !\"#%&'<=>?[\\]\u{7f}\u{80}é\u{ff}\u{2028}\u{2029}\u{202a}".chars() {
                for (before, behind) in (0..41).flat_map(|before| [(before, 0), (before, 1), (before, 7), (before, 33)])
                {
                    let text = format!("{}{special}{}", "a".repeat(before), "z".repeat(behind));
                    let (mut quick, mut slow) = (Vec::new(), Vec::new());
                    body(&mut quick, &text, escape);
                    escaped(&mut slow, text.as_bytes(), escape);
                    assert_eq!(quick, slow, "{escape:?} {text:?}");
                }
            }
        }
    }

    #[test]
    fn the_libraries_differ_in_html_in_line_separators_and_in_short_escapes() {
        for (escape, expected) in [
            (Escape::Html, r#""\u003c\u2028\b\n\u0001""#),
            (Escape::Lines, r#""<\u2028\b\n\u0001""#),
            (Escape::Plain, "\"<\u{2028}\\b\\n\\u0001\""),
            (Escape::IteratorHtml, r#""\u003c\u2028\u0008\n\u0001""#),
            (Escape::Iterator, "\"<\u{2028}\\u0008\\n\\u0001\""),
        ] {
            let mut out = Vec::new();
            string(&mut out, "<\u{2028}\u{8}\n\u{1}", escape);
            assert_eq!(String::from_utf8_lossy(&out), expected, "{escape:?}");
        }
    }
}
