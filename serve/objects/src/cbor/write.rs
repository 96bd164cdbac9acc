//! Writing CBOR.

use super::{SELF_DESCRIBED, major};
use crate::value;
use kubeshape_smd::{Bump, Value};
use kubeshape_yaml::Tape;

/// Converts compact JSON to a document; `None` if it is not JSON.
pub(crate) fn of_json(json: &[u8]) -> Option<Vec<u8>> {
    let (mut tape, arena) = (Tape::new(), Bump::new());
    value::read(json, &mut tape).ok()?;
    let text = std::str::from_utf8(json).ok()?;
    Some(document(tape.document(text).root().map_or(Value::Null, |root| Value::from_node(root, &arena))))
}

/// Writes a value as a document.
pub(crate) fn document(of: Value<'_>) -> Vec<u8> {
    let mut out = SELF_DESCRIBED.to_vec();
    value(of, &mut out);
    out
}

/// Writes a document with a map of strings and nested documents. Keys are sorted.
pub(crate) fn tagged(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut out = SELF_DESCRIBED.to_vec();
    head(major::MAP, entries.len() as u64, &mut out);
    for (key, content) in entries {
        text(key, &mut out);
        out.extend_from_slice(content);
    }
    out
}

/// Appends a string.
pub(crate) fn text(text: &str, out: &mut Vec<u8>) {
    head(major::BYTES, text.len() as u64, out);
    out.extend_from_slice(text.as_bytes());
}

/// Appends the type and the length of an item.
fn head(major: u8, length: u64, out: &mut Vec<u8>) {
    let major = major << 5;
    let bytes = length.to_be_bytes();
    match length {
        0..24 => out.push(major | bytes[7]),
        24..0x100 => out.extend_from_slice(&[major | 0x18, bytes[7]]),
        0x100..0x1_0000 => {
            out.push(major | 0x19);
            out.extend_from_slice(&bytes[6..]);
        }
        0x1_0000..0x1_0000_0000 => {
            out.push(major | 0x1a);
            out.extend_from_slice(&bytes[4..]);
        }
        _ => {
            out.push(major | 0x1b);
            out.extend_from_slice(&bytes);
        }
    }
}

/// Appends a value. Recursion is bounded: the reader limits nesting.
pub(super) fn value(value: Value<'_>, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.push(0xf6),
        Value::Bool(yes) => out.push(if yes { 0xf5 } else { 0xf4 }),
        Value::Int(n) => match u64::try_from(n) {
            Ok(n) => head(major::UNSIGNED, n, out),
            Err(_) => head(major::NEGATIVE, n.unsigned_abs() - 1, out),
        },
        Value::Float(n) => float(n, out),
        Value::String(content) => text(content, out),
        Value::List(items) => {
            head(major::LIST, items.len() as u64, out);
            for item in items {
                self::value(*item, out);
            }
        }
        Value::Map(map) => {
            // As the bytes of the written keys are ordered: short ones first.
            let mut entries: Vec<_> = map.entries().iter().collect();
            entries.sort_by(|(a, _), (b, _)| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
            head(major::MAP, entries.len() as u64, out);
            for (key, value) in entries {
                text(key, out);
                self::value(*value, out);
            }
        }
    }
}

/// Appends a number in the shortest lossless form.
#[expect(clippy::cast_possible_truncation, reason = "it is compared afterwards")]
fn float(n: f64, out: &mut Vec<u8>) {
    let single = n as f32;
    if f64::from(single).to_bits() != n.to_bits() {
        out.push(0xfb);
        out.extend_from_slice(&n.to_be_bytes());
    } else if let Some(half) = half(single) {
        out.push(0xf9);
        out.extend_from_slice(&half.to_be_bytes());
    } else {
        out.push(0xfa);
        out.extend_from_slice(&single.to_be_bytes());
    }
}

/// Returns the same number in 16 bits, if lossless.
fn half(n: f32) -> Option<u16> {
    let bits = n.to_bits();
    let (sign, exponent, fraction) = ((bits >> 16) as u16 & 0x8000, bits >> 23 & 0xff, bits & 0x7f_ffff);
    match (exponent, fraction) {
        (0, 0) => Some(sign),
        (113..=142, fraction) if fraction.trailing_zeros() >= 13 => {
            Some(sign | ((exponent - 112) << 10) as u16 | (fraction >> 13) as u16)
        }
        // Numbers below 2^-14 are multiples of 2^-24.
        (103..=112, fraction) => {
            let (whole, shift) = (fraction | 0x80_0000, 126 - exponent);
            (whole.trailing_zeros() >= shift).then_some(sign | (whole >> shift) as u16)
        }
        _ => None,
    }
}
