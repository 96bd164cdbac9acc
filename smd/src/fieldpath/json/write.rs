//! Writing path elements and sets.

use super::super::element::PathElement;
use super::super::set::Set;
use super::{SetError, Unwritable};
use crate::value::{NotFinite, Value, is_plain, write_string};
use kubeshape_yaml::number;

impl PathElement<'_> {
    /// Appends the serialized form.
    ///
    /// # Errors
    /// A value holds a number that is not finite, or the element is [`PathElement::Nameless`].
    pub fn write(self, out: &mut Vec<u8>) -> Result<(), SetError> {
        Ok(write(self, out)?)
    }
}

/// Appends an element: field names as they are, everything else as JSON.
fn write(element: PathElement<'_>, out: &mut Vec<u8>) -> Result<(), Unwritable> {
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
                write_string(name, false, out);
                out.push(b':');
                value.write_json(out)?;
            }
            out.push(b'}');
        }
        PathElement::Value(value) => {
            out.extend_from_slice(b"v:");
            value.write_json(out)?;
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
    /// A value in an element holds a number that is not finite, or an element is [`PathElement::Nameless`].
    pub fn write_json(self, out: &mut Vec<u8>) -> Result<(), SetError> {
        Ok(node(self, false, out, &mut Vec::new())?)
    }

    /// The JSON form as text.
    ///
    /// # Errors
    /// As for [`Set::write_json`].
    pub fn to_json(self) -> Result<String, SetError> {
        let mut out = Vec::new();
        self.write_json(&mut out)?;
        String::from_utf8(out).map_err(|error| SetError { message: error.to_string(), at: 0 })
    }
}

/// Appends a node. `scratch` is room for an element that is then escaped.
fn node(set: Set<'_>, member: bool, out: &mut Vec<u8>, scratch: &mut Vec<u8>) -> Result<(), Unwritable> {
    out.extend_from_slice(if member { br#"{".":{}"# } else { b"{" });
    let mut first = !member;
    for entry in set.entries() {
        if !std::mem::take(&mut first) {
            out.push(b',');
        }
        match entry.element {
            PathElement::FieldName(name) => {
                out.extend_from_slice(b"\"f:");
                escape(name.as_bytes(), out);
            }
            PathElement::Key(fields) => {
                out.extend_from_slice(b"\"k:{");
                for (at, (name, value)) in fields.iter().enumerate() {
                    if at > 0 {
                        out.push(b',');
                    }
                    string_in_string(name, false, out, scratch);
                    out.push(b':');
                    value_in_string(*value, out, scratch)?;
                }
                out.push(b'}');
            }
            PathElement::Value(value) => {
                out.extend_from_slice(b"\"v:");
                value_in_string(value, out, scratch)?;
            }
            PathElement::Index(index) => {
                out.extend_from_slice(b"\"i:");
                number::write_int(index, out);
            }
            PathElement::Nameless => return Err(Unwritable::Nameless),
        }
        if entry.children.is_empty() {
            out.extend_from_slice(b"\":{}");
        } else {
            out.extend_from_slice(b"\":");
            node(entry.children, entry.member, out, scratch)?;
        }
    }
    out.push(b'}');
    Ok(())
}

/// Appends a value as it stands inside a JSON string.
#[inline]
fn value_in_string(value: Value<'_>, out: &mut Vec<u8>, scratch: &mut Vec<u8>) -> Result<(), NotFinite> {
    match value {
        Value::String(text) => string_in_string(text, true, out, scratch),
        Value::List(_) | Value::Map(_) => {
            scratch.clear();
            value.write_json(scratch)?;
            escape(scratch, out);
        }
        // Numbers and words hold nothing to escape.
        scalar => scalar.write_json(out)?,
    }
    Ok(())
}

/// Appends a JSON string as it stands inside a JSON string.
#[inline]
fn string_in_string(text: &str, html: bool, out: &mut Vec<u8>, scratch: &mut Vec<u8>) {
    if is_plain(text.as_bytes(), html) {
        out.extend_from_slice(b"\\\"");
        out.extend_from_slice(text.as_bytes());
        out.extend_from_slice(b"\\\"");
    } else {
        scratch.clear();
        write_string(text, html, scratch);
        escape(scratch, out);
    }
}

/// Appends a text as it stands inside a JSON string, `<`, `>` and `&` as they are.
#[inline]
fn escape(text: &[u8], out: &mut Vec<u8>) {
    if is_plain(text, false) {
        out.extend_from_slice(text);
    } else {
        escape_some(text, out);
    }
}

fn escape_some(text: &[u8], out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let mut done = 0;
    for (at, byte) in text.iter().enumerate() {
        if *byte >= 0x20 && *byte != b'"' && *byte != b'\\' {
            continue;
        }
        out.extend_from_slice(&text[done..at]);
        done = at + 1;
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            _ => {
                out.extend_from_slice(b"\\u00");
                out.extend_from_slice(&[HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
            }
        }
    }
    out.extend_from_slice(&text[done..]);
}
