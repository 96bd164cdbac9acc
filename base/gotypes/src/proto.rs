//! Protobuf as Go's generated code writes it: in number order, zero values included.

use crate::{Field, Printed, Struct, Type};
use kubeshape_value::{Map, Value};
use kubeshape_yaml::go::{Time, varint};

/// Appends a decoded struct as a message. Fields without a number are skipped.
pub fn protobuf(ty: &Struct, value: Value<'_>, out: &mut Vec<u8>) {
    let mut last = 0;
    while let Some(field) = ty.fields.iter().filter(|field| field.number > last).min_by_key(|field| field.number) {
        last = field.number;
        let found = value.get(field.name).filter(|value| !value.is_null());
        if let (None, Printed::Set) = (found, field.printed) {
            continue;
        }
        self::field(field, found.unwrap_or(Value::Null), out);
    }
}

fn field(Field { ty, number, .. }: &Field, value: Value<'_>, out: &mut Vec<u8>) {
    match ty {
        Type::List(items) => {
            for item in value.as_list().unwrap_or_default() {
                content(items, *number, *item, out);
            }
        }
        Type::Map(items) => {
            for (key, value) in value.as_map().unwrap_or(Map::EMPTY).entries() {
                let mut pair = Vec::new();
                text(&mut pair, 1, key);
                content(items, 2, *value, &mut pair);
                bytes(out, *number, &pair);
            }
        }
        ty => content(ty, *number, value, out),
    }
}

fn content(ty: &Type, at: u32, value: Value<'_>, out: &mut Vec<u8>) {
    let string = value.as_str().unwrap_or_default();
    let mut message = Vec::new();
    match ty {
        Type::Text(_) => return text(out, at, string),
        Type::Bool => return number(out, at, i64::from(matches!(value, Value::Bool(true)))),
        Type::Int => return number(out, at, if let Value::Int(n) = value { n } else { 0 }),
        Type::Time => {
            if let Some(Time(seconds)) = Time::parse(string) {
                number(&mut message, 1, seconds);
                number(&mut message, 2, 0);
            }
        }
        Type::Of(inner) => protobuf(inner, value, &mut message),
        Type::Any => {
            let mut json = Vec::new();
            value.write_go_json(&mut json);
            bytes(&mut message, 1, &json);
        }
        Type::Metadata => protobuf(&crate::metadata::OBJECT_META, value, &mut message),
        // No table with numbers has fields of these types.
        Type::Float | Type::List(_) | Type::Map(_) | Type::SchemaOr(_) => return,
    }
    bytes(out, at, &message);
}

/// Appends a field with bytes or a message.
pub fn bytes(out: &mut Vec<u8>, number: u32, content: &[u8]) {
    varint::write(out, u64::from(number << 3 | 2));
    varint::write(out, content.len() as u64);
    out.extend_from_slice(content);
}

/// Appends a field with a string.
pub fn text(out: &mut Vec<u8>, number: u32, content: &str) {
    bytes(out, number, content.as_bytes());
}

/// Appends a field with a number.
pub fn number(out: &mut Vec<u8>, field: u32, value: i64) {
    varint::write(out, u64::from(field << 3));
    varint::write(out, value.cast_unsigned());
}
