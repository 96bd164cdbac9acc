//! Reads the value in a `google.protobuf.Any` from protobuf's wire format.

use super::Value;
use super::time::{proto_duration, proto_timestamp};
use kubeshape_yaml::go::varint;
use std::fmt::Write;

/// The maximum nesting of messages in the bytes.
const MAX_DEPTH: usize = 100;

/// A field of a message on the wire.
enum Wire<'w> {
    Varint(u64),
    Fixed64(u64),
    Fixed32(u32),
    Bytes(&'w [u8]),
}

type Field<'w> = (u64, Wire<'w>);

/// Returns the value of a message whose type is given by a URL.
///
/// # Errors
/// Returns cel-go's error if the type is not a well-known one or the bytes are not of the type.
pub(super) fn unpack(url: &str, bytes: &[u8]) -> Result<Value<'static>, String> {
    named(url, bytes, 0).ok_or_else(|| unsupported(url, bytes))
}

/// Returns Go's error, which prints the message in protobuf's text format.
fn unsupported(url: &str, bytes: &[u8]) -> String {
    let mut parts = Vec::new();
    if !url.is_empty() {
        parts.push(format!("type_url:{}", quoted(url.as_bytes())));
    }
    if !bytes.is_empty() {
        parts.push(format!("value:{}", quoted(bytes)));
    }
    format!("unsupported conversion to ref.Val: (*dynamicpb.Message){}", parts.join(" "))
}

fn quoted(bytes: &[u8]) -> String {
    let mut out = "\"".to_owned();
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '"' | '\\' => out.extend(['\\', c]),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                c if c.is_control() => {
                    for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                        let _ = write!(out, "\\x{byte:02x}");
                    }
                }
                c => out.push(c),
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out.push('"');
    out
}

fn named(url: &str, bytes: &[u8], depth: usize) -> Option<Value<'static>> {
    let name = url.rsplit('/').next().unwrap_or(url);
    read(name.strip_prefix("google.protobuf.")?, bytes, depth)
}

#[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "protobuf's numbers are cut so")]
fn read(name: &str, bytes: &[u8], depth: usize) -> Option<Value<'static>> {
    if depth > MAX_DEPTH {
        return None;
    }
    let fields = fields(bytes)?;
    let varint = |number| {
        last(&fields, number, |wire| if let Wire::Varint(value) = wire { Some(*value) } else { None }).unwrap_or(0)
    };
    let payload = |number| {
        last(&fields, number, |wire| if let Wire::Bytes(value) = wire { Some(*value) } else { None })
            .unwrap_or_default()
    };
    Some(match name {
        "BoolValue" => Value::Bool(varint(1) != 0),
        "Int64Value" => Value::Int(varint(1) as i64),
        "Int32Value" => Value::Int(i64::from(varint(1) as i32)),
        "UInt64Value" => Value::Uint(varint(1)),
        "UInt32Value" => Value::Uint(u64::from(varint(1) as u32)),
        "DoubleValue" => {
            let bits =
                |wire: &Wire<'_>| if let Wire::Fixed64(bits) = wire { Some(f64::from_bits(*bits)) } else { None };
            Value::Double(last(&fields, 1, bits).unwrap_or(0.0))
        }
        "FloatValue" => {
            let bits =
                |wire: &Wire<'_>| if let Wire::Fixed32(bits) = wire { Some(f32::from_bits(*bits)) } else { None };
            Value::Double(f64::from(last(&fields, 1, bits).unwrap_or(0.0)))
        }
        "StringValue" => Value::text(text(payload(1))?),
        "BytesValue" => Value::Bytes(payload(1).into()),
        "Timestamp" => proto_timestamp(varint(1) as i64, varint(2) as i32),
        "Duration" => proto_duration(varint(1) as i64, varint(2) as i32),
        "ListValue" => {
            let mut items = Vec::new();
            for field in &fields {
                if let (1, Wire::Bytes(item)) = field {
                    items.push(read("Value", item, depth + 1)?);
                }
            }
            Value::list(items)
        }
        "Struct" => {
            let mut entries = Vec::new();
            for field in &fields {
                if let (1, Wire::Bytes(entry)) = field {
                    entries.push(read_entry(entry, depth)?);
                }
            }
            Value::map(entries)
        }
        "Value" => {
            let mut out = Value::Null;
            for field in &fields {
                out = match field {
                    (1, Wire::Varint(_)) => Value::Null,
                    (2, Wire::Fixed64(bits)) => Value::Double(f64::from_bits(*bits)),
                    (3, Wire::Bytes(value)) => Value::text(text(value)?),
                    (4, Wire::Varint(value)) => Value::Bool(*value != 0),
                    (5, Wire::Bytes(inner)) => read("Struct", inner, depth + 1)?,
                    (6, Wire::Bytes(inner)) => read("ListValue", inner, depth + 1)?,
                    _ => out,
                };
            }
            out
        }
        "Any" => named(&text(payload(1))?, payload(2), depth + 1)?,
        _ => return None,
    })
}

/// Returns the last value of a field, which may occur more than once.
fn last<'w, T>(fields: &[Field<'w>], number: u64, value: impl Fn(&Wire<'w>) -> Option<T>) -> Option<T> {
    fields.iter().rev().filter(|(own, _)| *own == number).find_map(|(_, wire)| value(wire))
}

fn text(bytes: &[u8]) -> Option<String> {
    String::from_utf8(bytes.to_vec()).ok()
}

fn read_entry(bytes: &[u8], depth: usize) -> Option<(Value<'static>, Value<'static>)> {
    let (mut key, mut value) = (String::new(), Value::Null);
    for field in fields(bytes)? {
        match field {
            (1, Wire::Bytes(name)) => key = text(name)?,
            (2, Wire::Bytes(inner)) => value = read("Value", inner, depth + 1)?,
            _ => {}
        }
    }
    Some((Value::text(key), value))
}

/// Returns the fields of a message with their numbers; `None` if the bytes are not a message.
fn fields(mut bytes: &[u8]) -> Option<Vec<Field<'_>>> {
    let mut out = Vec::new();
    while !bytes.is_empty() {
        let tag = varint::read(&mut bytes)?;
        let number = tag >> 3;
        if number == 0 || number >= 1 << 29 {
            return None;
        }
        let wire = match tag & 7 {
            0 => Wire::Varint(varint::read(&mut bytes)?),
            1 => Wire::Fixed64(u64::from_le_bytes(*bytes.split_off(..8)?.first_chunk()?)),
            2 => {
                let length = usize::try_from(varint::read(&mut bytes)?).ok()?;
                Wire::Bytes(bytes.split_off(..length)?)
            }
            5 => Wire::Fixed32(u32::from_le_bytes(*bytes.split_off(..4)?.first_chunk()?)),
            _ => return None,
        };
        out.push((number, wire));
    }
    Some(out)
}
