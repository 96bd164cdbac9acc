//! Protobuf's well-known messages as values: cel-go converts all of them to other values.

use super::time::{proto_duration, proto_timestamp, seconds_text};
use super::{Value, any};
use crate::library::Kube;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::sync::Arc;

type Converted<T> = Result<T, String>;

/// The fields of a message, in the order of the expression.
pub(crate) type Fields<'f, 'a> = &'f [(&'f str, Value<'a>)];

/// Larger numbers are strings in JSON, as in upstream.
const MAX_JSON_INT: u64 = (1 << 53) - 1;

/// Returns the value of a well-known message, or cel-go's error.
pub(crate) fn make<'a>(name: &str, fields: Fields<'_, 'a>) -> Value<'a> {
    match message(name, fields) {
        Ok(value) => value,
        Err(error) => Value::error(error),
    }
}

fn message<'a>(name: &str, fields: Fields<'_, 'a>) -> Converted<Value<'a>> {
    let message = Message { name, fields };
    Ok(match name.strip_prefix("google.protobuf.").unwrap_or(name) {
        "BoolValue" => Value::Bool(message.field("value", boolean)?),
        "BytesValue" => Value::Bytes(message.field("value", bytes)?),
        "DoubleValue" => Value::Double(message.field("value", double)?),
        "FloatValue" => Value::Double(f64::from(message.field("value", float)?)),
        "Int64Value" => Value::Int(message.field("value", int64)?),
        "Int32Value" => Value::Int(i64::from(message.field("value", int32)?)),
        "UInt64Value" => Value::Uint(message.field("value", uint64)?),
        "UInt32Value" => Value::Uint(u64::from(message.field("value", uint32)?)),
        "StringValue" => Value::text(message.field("value", string)?),
        "Timestamp" => proto_timestamp(message.field("seconds", int64)?, message.field("nanos", int32)?),
        "Duration" => proto_duration(message.field("seconds", int64)?, message.field("nanos", int32)?),
        "ListValue" => match message.last("values") {
            None => Value::list(Vec::new()),
            Some(Value::List(_)) => message.convert("values", list)?,
            Some(other) => return Err(message.unsupported("values", other)),
        },
        "Struct" => match message.last("fields") {
            None => Value::map([]),
            Some(Value::Map(_)) => message.convert("fields", structure)?,
            Some(other) => return Err(message.unsupported("fields", other)),
        },
        "Value" => match fields.last() {
            None => Value::Null,
            Some((field, _)) => message.convert(field, |value| {
                Ok(match *field {
                    "number_value" => Value::Double(double(value)?),
                    "string_value" => Value::text(string(value)?),
                    "bool_value" => Value::Bool(boolean(value)?),
                    "struct_value" => structure(value)?,
                    "list_value" => list(value)?,
                    _ => {
                        integer::<i32>(value, "protoreflect.EnumNumber")?;
                        Value::Null
                    }
                })
            })?,
        },
        "Any" => any::unpack(&message.field("type_url", string)?, &message.field("value", bytes)?)?,
        _ => return Err(format!("messages of the type {name} cannot be made")),
    })
}

struct Message<'f, 'a> {
    name: &'f str,
    fields: Fields<'f, 'a>,
}

impl<'a> Message<'_, 'a> {
    /// Returns a field. If it is given twice, the last value is used.
    fn last(&self, field: &str) -> Option<&Value<'a>> {
        self.fields.iter().rev().find(|(name, _)| *name == field).map(|(_, value)| value)
    }

    fn field<T: Default>(&self, field: &str, convert: fn(&Value<'a>) -> Converted<T>) -> Converted<T> {
        if self.last(field).is_none() { Ok(T::default()) } else { self.convert(field, convert) }
    }

    fn convert<T>(&self, field: &str, convert: impl Fn(&Value<'a>) -> Converted<T>) -> Converted<T> {
        convert(self.last(field).unwrap_or(&Value::Null))
            .map_err(|error| format!("field type conversion error for {}.{field} value type: {error}", self.name))
    }

    fn unsupported(&self, field: &str, value: &Value<'_>) -> String {
        let ty = value.type_of();
        let ty = if matches!(value, Value::Optional(_)) { ty.name().to_owned() } else { ty.to_string() };
        format!("unsupported field type for {}.{field}: {ty}", self.name)
    }
}

/// Returns the value inside an optional.
fn inner<'v, 'a>(mut value: &'v Value<'a>) -> Converted<&'v Value<'a>> {
    while let Value::Optional(inner) = value {
        value = inner.as_deref().ok_or("optional.none() dereference")?;
    }
    Ok(value)
}

/// Returns the error about a value that is not of this Go type.
fn wrong<T>(value: &Value<'_>, go: &str) -> Converted<T> {
    let name = match value {
        Value::Null => "'null_type'",
        Value::String(_) => return Err(format!("unsupported native conversion from string to '{go}'")),
        Value::Int(_) => return Err(format!("unsupported type conversion from 'int' to {go}")),
        Value::Uint(_) => return Err(format!("unsupported type conversion from 'uint' to {go}")),
        Value::Bytes(_) => "Bytes",
        Value::Double(_) => "Double",
        Value::Bool(_) => "bool",
        Value::List(_) => "list",
        Value::Map(_) => "map",
        Value::Duration(_) => "'Duration'",
        Value::Timestamp(_) => "'Timestamp'",
        Value::Type(_) => return Err("type conversion not supported for 'type'".to_owned()),
        Value::Optional(_) => return Err("optional.none() dereference".to_owned()),
        Value::Kube(kube) => match kube {
            Kube::Quantity(..) => "'Quantity'",
            Kube::Ip(_) => "'IP'",
            Kube::Cidr(_) => "'CIDR'",
            Kube::Url(_) => "'URL'",
            Kube::Semver(_) => "'Semver'",
            Kube::Format(_) => "'Format'",
            Kube::Authorization(_) => "'types.Err'",
        },
        Value::Object(_) => return Err(format!("unable to convert to {go}")),
        Value::Error(error) => return Err(error.to_string()),
    };
    Err(format!("type conversion error from {name} to '{go}'"))
}

fn boolean(value: &Value<'_>) -> Converted<bool> {
    match inner(value)? {
        Value::Bool(b) => Ok(*b),
        other => wrong(other, "bool"),
    }
}

fn string(value: &Value<'_>) -> Converted<String> {
    match inner(value)? {
        Value::String(text) => Ok(text.to_string()),
        Value::Kube(kube) if !matches!(kube, Kube::Format(_) | Kube::Authorization(_)) => Ok(kube.to_string()),
        other => wrong(other, "string"),
    }
}

fn bytes(value: &Value<'_>) -> Converted<Arc<[u8]>> {
    match inner(value)? {
        Value::Bytes(bytes) => Ok(bytes.clone()),
        // Elements of a list are never bytes.
        Value::List(list) => match list.iter().next() {
            Some(first) => wrong(inner(&first)?, "uint8"),
            None => Ok(Arc::from([])),
        },
        other => wrong(other, "[]uint8"),
    }
}

fn double(value: &Value<'_>) -> Converted<f64> {
    match inner(value)? {
        Value::Double(d) => Ok(*d),
        other => wrong(other, "float64"),
    }
}

#[allow(clippy::cast_possible_truncation, reason = "the field has 32 bits; what is too large is infinite")]
fn float(value: &Value<'_>) -> Converted<f32> {
    match inner(value)? {
        Value::Double(d) => Ok(*d as f32),
        other => wrong(other, "float32"),
    }
}

fn integer<T: TryFrom<i64>>(value: &Value<'_>, go: &str) -> Converted<T> {
    match inner(value)? {
        Value::Int(i) => T::try_from(*i).map_err(|_| "integer overflow".to_owned()),
        other => wrong(other, go),
    }
}

fn int64(value: &Value<'_>) -> Converted<i64> {
    integer(value, "int64")
}

fn int32(value: &Value<'_>) -> Converted<i32> {
    integer(value, "int32")
}

fn uint64(value: &Value<'_>) -> Converted<u64> {
    match inner(value)? {
        Value::Uint(u) => Ok(*u),
        other => wrong(other, "uint64"),
    }
}

fn uint32(value: &Value<'_>) -> Converted<u32> {
    match inner(value)? {
        Value::Uint(u) => u32::try_from(*u).map_err(|_| "unsigned integer overflow".to_owned()),
        other => wrong(other, "uint32"),
    }
}

fn list<'a>(value: &Value<'a>) -> Converted<Value<'a>> {
    match inner(value)? {
        Value::List(list) => Ok(Value::list(list.iter().map(|item| json(&item)).collect::<Converted<_>>()?)),
        other => wrong(other, "*structpb.ListValue"),
    }
}

fn structure<'a>(value: &Value<'a>) -> Converted<Value<'a>> {
    match inner(value)? {
        Value::Map(map) => {
            let entry = |(key, value): (Value<'a>, Value<'a>)| Ok((Value::text(string(&key)?), json(&value)?));
            Ok(Value::map(map.iter().map(entry).collect::<Converted<Vec<_>>>()?))
        }
        other => wrong(other, "*structpb.Struct"),
    }
}

impl<'a> Value<'a> {
    /// Returns the value as JSON, as the conversion to `google.protobuf.Value` does: numbers become doubles, and
    /// integers beyond 2^53, bytes, durations and timestamps become strings.
    ///
    /// # Errors
    /// Returns upstream's message if the value has no JSON form.
    pub fn to_json(&self) -> Result<Value<'a>, String> {
        json(self)
    }
}

/// Returns the value as JSON, as `google.protobuf.Value` represents it.
#[allow(clippy::cast_precision_loss, reason = "numbers that lose something are texts")]
fn json<'a>(value: &Value<'a>) -> Converted<Value<'a>> {
    Ok(match inner(value)? {
        value @ (Value::Null | Value::Bool(_) | Value::Double(_) | Value::String(_)) => value.clone(),
        Value::Int(i) if i.unsigned_abs() <= MAX_JSON_INT => Value::Double(*i as f64),
        Value::Int(i) => Value::text(i.to_string()),
        Value::Uint(u) if *u <= MAX_JSON_INT => Value::Double(*u as f64),
        Value::Uint(u) => Value::text(u.to_string()),
        Value::Bytes(bytes) => Value::text(STANDARD.encode(bytes)),
        Value::Duration(nanos) => Value::text(seconds_text(*nanos)),
        Value::Timestamp(at) => Value::text(at.rfc3339()),
        value @ Value::List(_) => list(value)?,
        value @ Value::Map(_) => structure(value)?,
        other => return wrong(other, "*structpb.Value"),
    })
}
