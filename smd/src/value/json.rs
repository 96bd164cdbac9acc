//! Values as JSON, the way upstream writes them into field sets (spec: smd, "Values", JSON out).

use super::Value;
use kubeshape_yaml::number;

/// A number that JSON cannot hold: an infinity, or not a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("JSON has no infinity and no NaN")]
pub struct NotFinite;

impl Value<'_> {
    /// Appends the value as compact JSON, keys in order, `<`, `>`, `&`, U+2028 and U+2029 escaped, and exponents
    /// of at least two digits.
    ///
    /// # Errors
    /// A float is not finite. What was written until then stays.
    ///
    /// # Example: a small float
    /// ```
    /// use kubeshape_smd::Value;
    /// let mut out = Vec::new();
    /// Value::Float(1e-7).write_json(&mut out)?;
    /// assert_eq!(out, b"1e-07");
    /// # Ok::<(), kubeshape_smd::value::NotFinite>(())
    /// ```
    pub fn write_json(self, out: &mut Vec<u8>) -> Result<(), NotFinite> {
        match self {
            Value::Null => out.extend_from_slice(b"null"),
            Value::Bool(yes) => out.extend_from_slice(if yes { b"true" } else { b"false" }),
            Value::Int(n) => number::write_int(n, out),
            Value::Float(n) => write_float(n, out)?,
            Value::String(text) => write_string(text, true, out),
            Value::List(items) => {
                out.push(b'[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        out.push(b',');
                    }
                    item.write_json(out)?;
                }
                out.push(b']');
            }
            Value::Map(map) => {
                out.push(b'{');
                for (at, (key, value)) in map.entries().iter().enumerate() {
                    if at > 0 {
                        out.push(b',');
                    }
                    write_string(key, true, out);
                    out.push(b':');
                    value.write_json(out)?;
                }
                out.push(b'}');
            }
        }
        Ok(())
    }

    /// The value as an owned one of `serde_json`. A float that is not finite becomes null.
    #[cfg(feature = "serde_json")]
    pub fn to_serde(self) -> serde_json::Value {
        match self {
            Value::Null => serde_json::Value::Null,
            Value::Bool(yes) => yes.into(),
            Value::Int(n) => n.into(),
            Value::Float(n) => n.into(),
            Value::String(text) => text.into(),
            Value::List(items) => serde_json::Value::Array(items.iter().map(|item| item.to_serde()).collect()),
            Value::Map(map) => serde_json::Value::Object(
                map.entries().iter().map(|(key, value)| ((*key).to_owned(), value.to_serde())).collect(),
            ),
        }
    }
}

fn write_float(n: f64, out: &mut Vec<u8>) -> Result<(), NotFinite> {
    if !n.is_finite() {
        return Err(NotFinite);
    }
    // Most numbers are integers, and those of a set are floats all the same.
    #[expect(clippy::cast_possible_truncation, reason = "the bound is that of integers which a double holds exactly")]
    if n.abs() < 9_007_199_254_740_992.0 && n.fract() == 0.0 && (n != 0.0 || n.is_sign_positive()) {
        number::write_int(n as i64, out);
        return Ok(());
    }
    if write_decimal(n, out) {
        return Ok(());
    }
    let from = out.len();
    number::write_json(n, out);
    if let [.., sign @ (b'-' | b'+'), digit] = out[from..]
        && out[from..].contains(&b'e')
    {
        out.truncate(out.len() - 2);
        out.extend_from_slice(&[sign, b'0', digit]);
    }
    Ok(())
}

/// Writes a number that has few digits, and tells whether it did.
///
/// Of all numbers of at most 15 digits no two are the same double. So when dividing, which rounds to the nearest double,
/// gives the number back, there are no other digits as few.
#[expect(clippy::cast_precision_loss, clippy::cast_sign_loss, reason = "both are below 10^15, and not negative")]
fn write_decimal(n: f64, out: &mut Vec<u8>) -> bool {
    let size = n.abs();
    if !(1e-3..1e9).contains(&size) {
        return false;
    }
    let mut power = 1_u32;
    for digits in 1..=6 {
        power *= 10;
        let scaled = (size * f64::from(power) + 0.5) as u64;
        if ((scaled as f64) / f64::from(power)).to_bits() != size.to_bits() {
            continue;
        }
        if n < 0.0 {
            out.push(b'-');
        }
        number::write_uint(scaled / u64::from(power), out);
        let from = out.len();
        // The one in front keeps zeros, and makes room for the dot.
        number::write_uint(scaled % u64::from(power) + u64::from(power), out);
        debug_assert_eq!(out.len(), from + digits + 1);
        out[from] = b'.';
        return true;
    }
    false
}

/// Whether a text stands in a JSON string as it is; `html` as for [`write_string`]. Eight bytes are looked at together.
#[inline]
pub(crate) fn is_plain(text: &[u8], html: bool) -> bool {
    let word_is_plain = |chunk: &[u8; 8]| special(u64::from_le_bytes(*chunk), html) == 0;
    let Some(last) = text.last_chunk::<8>() else { return text.iter().all(|byte| byte_is_plain(*byte, html)) };
    text.as_chunks::<8>().0.iter().all(word_is_plain) && word_is_plain(last)
}

/// Not zero if one of eight bytes cannot stand in a JSON string as it is.
#[inline]
pub(crate) fn special(word: u64, html: bool) -> u64 {
    const LOW: u64 = u64::from_ne_bytes([0x01; 8]);
    const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);
    // Whether some byte is zero shows in the highest bit of one.
    let zero = |word: u64| word.wrapping_sub(LOW) & !word & HIGH;
    let mut found = zero(word ^ (LOW * u64::from(b'\\'))) | (word.wrapping_sub(LOW * 0x20) & !word & HIGH);
    if html {
        // `"` and `&` differ in one bit, and so do `<` and `>`. U+2028 and U+2029 begin with 0xe2; what else does
        // goes the long way, too.
        found |= zero((word | (LOW * 4)) ^ (LOW * u64::from(b'&')));
        found |= zero((word | (LOW * 2)) ^ (LOW * u64::from(b'>')));
        found |= zero(word ^ (LOW * 0xe2));
    } else {
        found |= zero(word ^ (LOW * u64::from(b'"')));
    }
    found
}

#[inline]
fn byte_is_plain(byte: u8, html: bool) -> bool {
    const PLAIN: [[bool; 256]; 2] = {
        let mut plain = [[true; 256]; 2];
        let mut byte = 0;
        while byte < 0x20 {
            plain[0][byte] = false;
            plain[1][byte] = false;
            byte += 1;
        }
        plain[0][b'"' as usize] = false;
        plain[0][b'\\' as usize] = false;
        let escaped = [b'"', b'\\', b'<', b'>', b'&', 0xe2];
        let mut at = 0;
        while at < escaped.len() {
            plain[1][escaped[at] as usize] = false;
            at += 1;
        }
        plain
    };
    PLAIN[usize::from(html)][usize::from(byte)]
}

/// Appends a JSON string. Control characters are escaped as `\n`, `\r`, `\t` or by their number.
pub(crate) fn write_string(text: &str, html: bool, out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let bytes = text.as_bytes();
    out.push(b'"');
    if is_plain(bytes, html) {
        out.extend_from_slice(bytes);
        out.push(b'"');
        return;
    }
    let mut done = 0;
    for (at, byte) in bytes.iter().enumerate() {
        let short: &[u8] = match byte {
            b'"' => b"\\\"",
            b'\\' => b"\\\\",
            b'\n' => b"\\n",
            b'\r' => b"\\r",
            b'\t' => b"\\t",
            0..0x20 => b"",
            b'<' | b'>' | b'&' if html => b"",
            0xe2 if html && matches!(bytes[at..], [_, 0x80, 0xa8 | 0xa9, ..]) => {
                out.extend_from_slice(&bytes[done..at]);
                out.extend_from_slice(if bytes[at + 2] == 0xa8 { b"\\u2028" } else { b"\\u2029" });
                done = at + 3;
                continue;
            }
            _ => continue,
        };
        out.extend_from_slice(&bytes[done..at]);
        done = at + 1;
        if short.is_empty() {
            out.extend_from_slice(b"\\u00");
            out.extend_from_slice(&[HEX[(byte >> 4) as usize], HEX[(byte & 15) as usize]]);
        } else {
            out.extend_from_slice(short);
        }
    }
    out.extend_from_slice(&bytes[done..]);
    out.push(b'"');
}
