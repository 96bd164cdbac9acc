//! Objects read through their schemas.

use super::{Schema, escape};
use crate::data::Data;
use crate::library::named;
use crate::value::{List, Map, Text, Value, time};
use kubeshape_yaml::go::time::parse_duration;
use std::borrow::Cow;

/// The schema of a list, a map or an object that a value shows.
#[derive(Clone, Copy, Debug)]
pub struct Typed<'a> {
    schema: &'a Schema,
}

type Fields<'a> = &'a [(Cow<'a, str>, Data<'a>)];

/// How Go names the type of a value of JSON.
fn go_type(data: &Data<'_>) -> &'static str {
    match data {
        Data::Null => "<nil>",
        Data::Bool(_) => "bool",
        Data::Int(_) => "int64",
        Data::Float(_) => "float64",
        Data::String(_) => "string",
        Data::List(_) => "[]interface {}",
        Data::Map(_) => "map[string]interface {}",
    }
}

impl<'a> Value<'a> {
    /// A value of an object, read through its schema. Upstream's `UnstructuredToVal`.
    pub fn of(data: &'a Data<'a>, schema: &'a Schema) -> Value<'a> {
        let wrong = |message: String| Value::error(message);
        if matches!(data, Data::Null) {
            return if schema.nullable {
                Value::Null
            } else {
                wrong("invalid data, got null for schema with nullable=false".to_owned())
            };
        }
        if schema.int_or_string {
            return match data {
                Data::String(text) => Value::String(Text::Borrowed(text)),
                Data::Int(int) => Value::Int(*int),
                _ => wrong("invalid data, expected XIntOrString value to be either a string or integer".to_owned()),
            };
        }
        match schema.ty.as_str() {
            "object" => match data {
                Data::Map(fields) => Value::Map(Map::Typed(Typed { schema }, fields)),
                _ => wrong("invalid data, expected a map for the provided schema with type=object".to_owned()),
            },
            "array" => match (data, &schema.items) {
                (Data::List(items), Some(_)) => match schema.list_type.as_deref() {
                    None | Some("" | "map" | "set" | "atomic") => Value::List(List::Typed(Typed { schema }, items)),
                    Some(other) => wrong(format!(
                        "invalid x-kubernetes-list-type, expected 'map', 'set' or 'atomic' but got {other}"
                    )),
                },
                (Data::List(_), None) => wrong("invalid array type, expected Items with a non-empty Schema".to_owned()),
                _ => wrong("invalid data, expected an array for the provided schema with type=array".to_owned()),
            },
            "string" => match data {
                Data::String(text) => text_of(text, &schema.format),
                other => wrong(format!("invalid data, expected string, got {}", go_type(other))),
            },
            #[allow(clippy::cast_precision_loss)]
            "number" => match data {
                Data::Int(int) => Value::Double(*int as f64),
                Data::Float(float) => Value::Double(*float),
                other => wrong(format!("invalid data, expected float, got {}", go_type(other))),
            },
            "integer" => match data {
                Data::Int(int) => Value::Int(*int),
                other => wrong(format!("invalid data, expected int, got {}", go_type(other))),
            },
            "boolean" => match data {
                Data::Bool(b) => Value::Bool(*b),
                other => wrong(format!("invalid data, expected bool, got {}", go_type(other))),
            },
            _ if schema.preserve_unknown_fields => Value::from(data),
            other => wrong(format!(
                "invalid type, expected object, array, number, integer, boolean or string, or no type with \
                 x-kubernetes-int-or-string or x-kubernetes-preserve-unknown-fields is true, got {other}"
            )),
        }
    }
}

fn text_of<'a>(text: &'a str, format: &str) -> Value<'a> {
    match format {
        "duration" => match parse_duration(text).or_else(|| long_duration(text)) {
            Some(nanos) => Value::Duration(nanos),
            None => Value::error(format!("Invalid duration {text}: unable to parse {text} as duration")),
        },
        "date" => match time::Timestamp::parse_date(text) {
            Some(at) => Value::Timestamp(at),
            None => Value::error(format!("Invalid date formatted string {text}")),
        },
        "date-time" => match named::parse_date_time(text) {
            Some(at) => Value::Timestamp(at),
            None => Value::error(format!("Invalid date-time formatted string {text}")),
        },
        "byte" => match named::decode_base64(text) {
            Some(bytes) => Value::Bytes(bytes.into()),
            None => Value::error(format!("Invalid byte formatted string {text}")),
        },
        _ => Value::String(Text::Borrowed(text)),
    }
}

/// Durations in words, such as `3 days`, which strfmt takes too.
fn long_duration(text: &str) -> Option<i64> {
    const HOUR: i64 = 3_600_000_000_000;
    let (mut total, mut rest, mut any) = (0i64, text.trim(), false);
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let count: i64 = rest[..digits].parse().ok()?;
        let after = rest[digits..].trim_start();
        let letters = after.bytes().take_while(u8::is_ascii_alphabetic).count();
        let unit = match after[..letters].to_ascii_lowercase().trim_end_matches('s') {
            "ns" | "nano" | "n" => 1,
            "u" | "micro" => 1_000,
            "m" | "milli" if after[..letters].to_ascii_lowercase().ends_with('s') => 1_000_000,
            "" | "sec" | "second" => 1_000_000_000,
            "m" | "min" | "minute" => 60_000_000_000,
            "h" | "hr" | "hour" => HOUR,
            "d" | "day" => 24 * HOUR,
            "w" | "wk" | "week" => 168 * HOUR,
            _ => return None,
        };
        total = total.checked_add(count.checked_mul(unit)?)?;
        rest = after[letters..].trim_start();
        any = true;
    }
    any.then_some(total)
}

impl<'a> Typed<'a> {
    pub(crate) fn item(self, data: &'a Data<'a>) -> Value<'a> {
        match &self.schema.items {
            Some(items) => Value::of(data, items),
            None => Value::from(data),
        }
    }

    pub(crate) fn is_set(self) -> bool {
        self.schema.list_type.as_deref() == Some("set")
    }

    fn is_map_list(self) -> bool {
        self.schema.list_type.as_deref() == Some("map")
    }

    fn is_object(self) -> bool {
        self.schema.embedded_resource || self.schema.properties.is_some()
    }

    fn property(self, name: &str) -> Option<&'a Schema> {
        if !self.is_object() {
            return self.schema.additional_properties.as_deref();
        }
        if let Some(found) = self.schema.properties.as_ref().and_then(|properties| properties.get(name)) {
            return Some(found);
        }
        None
    }

    pub(crate) fn len(self, fields: Fields<'a>) -> usize {
        let _ = self;
        fields.len()
    }

    pub(crate) fn find(self, fields: Fields<'a>, key: &str) -> Option<Value<'a>> {
        let unescaped;
        let name = if self.is_object() {
            unescaped = escape::unescape(key)?;
            unescaped.as_str()
        } else {
            key
        };
        let data = Data::find(fields, name)?;
        if self.is_object() && matches!(data, Data::Null) {
            return None;
        }
        self.property(name).map(|schema| Value::of(data, schema))
    }

    pub(crate) fn entries(self, fields: Fields<'a>) -> impl Iterator<Item = (Value<'a>, Value<'a>)> {
        fields.iter().filter_map(move |(key, data)| {
            let schema = self.property(key)?;
            let name = if self.is_object() {
                escape::escape(key).map_or(Value::String(Text::Borrowed(key)), Value::text)
            } else {
                Value::String(Text::Borrowed(key))
            };
            Some((name, Value::of(data, schema)))
        })
    }

    pub(crate) fn set_contains(self, items: &'a [Data<'a>], value: &Value<'a>) -> bool {
        items.iter().any(|item| matches!(self.item(item).equal(value), Value::Bool(true)))
    }

    pub(crate) fn list_equal(self, items: &'a [Data<'a>], other: &Value<'a>) -> Value<'a> {
        let Value::List(list) = other else {
            return if other.is_error() { other.clone() } else { Value::no_such_overload() };
        };
        if items.len() != list.len() {
            return Value::Bool(false);
        }
        if self.is_set() {
            return Value::Bool(list.iter().all(|value| items.iter().any(|item| is_raw(item, &value))));
        }
        if self.is_map_list() {
            for value in list.iter() {
                let Some(key) = self.key_of_value(&value) else { return Value::Bool(false) };
                let Some(own) = items.iter().rev().find(|item| self.key_of(item).as_ref() == Some(&key)) else {
                    return Value::Bool(false);
                };
                let equal = self.item(own).equal(&value);
                if !matches!(equal, Value::Bool(true)) {
                    return equal;
                }
            }
            return Value::Bool(true);
        }
        for (item, value) in items.iter().zip(list.iter()) {
            let equal = self.item(item).equal(&value);
            if !matches!(equal, Value::Bool(true)) {
                return equal;
            }
        }
        Value::Bool(true)
    }

    /// The key of an item of a map list. Upstream looks the keys up under their escaped names.
    fn key_of(self, data: &Data<'a>) -> Option<Vec<Option<Data<'a>>>> {
        let Data::Map(fields) = data else { return None };
        let key = |name: &String| {
            let name = escape::escape(name).unwrap_or_else(|| name.clone());
            Data::find(fields, &name).cloned()
        };
        Some(self.schema.list_map_keys.iter().map(key).collect())
    }

    fn key_of_value(self, value: &Value<'a>) -> Option<Vec<Option<Data<'a>>>> {
        let Value::Map(Map::Typed(_, fields)) = value else { return None };
        let key = |name: &String| {
            let name = escape::escape(name).unwrap_or_else(|| name.clone());
            Data::find(fields, &name).cloned()
        };
        Some(self.schema.list_map_keys.iter().map(key).collect())
    }

    pub(crate) fn map_equal(self, fields: Fields<'a>, other: &Value<'a>) -> Value<'a> {
        let Value::Map(map) = other else {
            return if other.is_error() { other.clone() } else { Value::no_such_overload() };
        };
        if fields.len() != map.len() {
            return Value::Bool(false);
        }
        for (key, data) in fields {
            if self.property(key).is_some() {
                let key = Value::String(Text::Borrowed(key));
                let own = self.find(fields, key.as_str().unwrap_or(""));
                match (own, map.get(&key)) {
                    (None, None) => {}
                    (Some(own), Some(other)) => {
                        let equal = own.equal(&other);
                        if !matches!(equal, Value::Bool(true)) {
                            return equal;
                        }
                    }
                    _ => return Value::Bool(false),
                }
            } else {
                let Map::Typed(_, others) = map else { return Value::no_such_overload() };
                if Data::find(others, key).is_some_and(|other| other != data) {
                    return Value::Bool(false);
                }
            }
        }
        Value::Bool(true)
    }

    pub(crate) fn concatenate(self, items: &'a [Data<'a>], other: &Value<'a>) -> Value<'a> {
        let Value::List(list) = other else { return Value::no_such_overload() };
        let mut out: Vec<Value<'a>> = items.iter().map(|item| self.item(item)).collect();
        for value in list.iter() {
            if self.is_set() {
                if !out.iter().any(|own| matches!(own.equal(&value), Value::Bool(true))) {
                    out.push(value);
                }
            } else if self.is_map_list() {
                let key = self.key_of_value(&value);
                let at = key.and_then(|key| items.iter().position(|item| self.key_of(item).as_ref() == Some(&key)));
                match at {
                    Some(at) => out[at] = value,
                    None => out.push(value),
                }
            } else {
                out.push(value);
            }
        }
        Value::list(out)
    }
}

/// Whether a value of CEL is what the object holds, without regard to the schema.
fn is_raw(data: &Data<'_>, value: &Value<'_>) -> bool {
    match (data, value) {
        (Data::Null, Value::Null) => true,
        (Data::Bool(a), Value::Bool(b)) => a == b,
        (Data::Int(a), Value::Int(b)) => a == b,
        (Data::Float(a), Value::Double(b)) => a == b,
        (Data::String(a), Value::String(b)) => **a == **b,
        _ => false,
    }
}
