//! Values of objects, read through their schemas.

// Go converts in the same way.
#![allow(clippy::cast_precision_loss)]

use super::set_key::RawKey;
use super::{List, Map, PANIC, Text, Timestamp, Value};
use crate::library::named;
use crate::raw::{Fields, Raw};
use crate::schema::{declares_metadata, escape};
use kubeshape_schema::{Flags, Property, Schema, Type};
use kubeshape_yaml::go::time::{parse_duration, parse_error};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const NO_MAP: &str = "invalid data, expected a map for the provided schema with type=object";
const NO_ARRAY: &str = "invalid data, expected an array for the provided schema with type=array";

/// The schema through which a list, a map or an object is read.
#[derive(Clone, Copy, Debug)]
pub struct Typed<'a> {
    schema: &'a Schema<'a>,
    /// Whether the object is a resource: it has type and object metadata, declared or not.
    resource: bool,
}

/// The schema of a string, and that of metadata: every resource has these.
static TEXT: Schema<'static> = Schema::of_type(Type::String);
static METADATA: Schema<'static> = Schema {
    properties: &[
        Property { name: "generateName", at: 0, schema: Schema::of_type(Type::String) },
        Property { name: "name", at: 0, schema: Schema::of_type(Type::String) },
    ],
    ..Schema::of_type(Type::Object)
};

impl<'a> Value<'a> {
    /// Returns a value of an object, read through its schema. Upstream's `UnstructuredToVal`.
    pub fn of(raw: impl Into<Raw<'a>>, schema: &'a Schema<'a>) -> Value<'a> {
        Value::read(raw.into(), schema, schema.flags.any(Flags::EMBEDDED_RESOURCE))
    }

    /// Returns a whole resource, read through its schema: it has type and object metadata, declared or not.
    pub fn of_resource(raw: impl Into<Raw<'a>>, schema: &'a Schema<'a>) -> Value<'a> {
        Value::read(raw.into(), schema, true)
    }

    fn read(raw: Raw<'a>, schema: &'a Schema<'a>, resource: bool) -> Value<'a> {
        let wrong = |message: String| Value::error(message);
        if matches!(raw, Raw::Null) {
            return if schema.flags.any(Flags::NULLABLE) {
                Value::Null
            } else {
                wrong("invalid data, got null for schema with nullable=false".to_owned())
            };
        }
        if schema.flags.any(Flags::INT_OR_STRING) {
            return match raw {
                Raw::String(text) => Value::String(Text::Borrowed(text)),
                Raw::Int(int) => Value::Int(int),
                _ => wrong("invalid data, expected XIntOrString value to be either a string or integer".to_owned()),
            };
        }
        let typed = Typed { schema, resource };
        match schema.type_name() {
            "object" => match raw {
                Raw::Map(fields) => Value::Map(Map::Typed(typed, fields)),
                _ => wrong(NO_MAP.to_owned()),
            },
            "array" => match (raw, schema.item()) {
                (Raw::List(items), Some(_)) => match schema.extra().list_type {
                    None | Some("" | "map" | "set" | "atomic") => Value::List(List::Typed(typed, items)),
                    Some(other) => wrong(format!(
                        "invalid x-kubernetes-list-type, expected 'map', 'set' or 'atomic' but got {other}"
                    )),
                },
                (Raw::List(_), None) => wrong("invalid array type, expected Items with a non-empty Schema".to_owned()),
                _ => wrong(NO_ARRAY.to_owned()),
            },
            "string" => match raw {
                Raw::String(text) => text_of(text, schema.format),
                other => wrong(format!("invalid data, expected string, got {}", other.go_type())),
            },
            "number" => match raw {
                Raw::Int(int) => Value::Double(int as f64),
                Raw::Float(float) => Value::Double(float),
                other => wrong(format!("invalid data, expected float, got {}", other.go_type())),
            },
            "integer" => match raw {
                Raw::Int(int) => Value::Int(int),
                other => wrong(format!("invalid data, expected int, got {}", other.go_type())),
            },
            "boolean" => match raw {
                Raw::Bool(b) => Value::Bool(b),
                other => wrong(format!("invalid data, expected bool, got {}", other.go_type())),
            },
            _ if schema.flags.any(Flags::PRESERVE_UNKNOWN) => Value::from(raw),
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
        "date" => Timestamp::parse_date(text).map_or_else(
            || Value::error(format!("Invalid date formatted string {text}: {}", parse_error(text, "2006-01-02"))),
            Value::Timestamp,
        ),
        "date-time" => Timestamp::parse_date_time(text).map_or_else(
            || {
                // The error is that of the last layout that upstream tries.
                let reason = parse_error(text, "2006-01-02T15:04:05");
                Value::error(format!("Invalid date-time formatted string {text}: {reason}"))
            },
            Value::Timestamp,
        ),
        "byte" => match named::decode_base64_url(text) {
            Ok(bytes) => Value::Bytes(bytes.into()),
            Err(at) => {
                let reason = format!("illegal base64 data at input byte {at}");
                Value::error(format!("Invalid byte formatted string {text}: {reason}"))
            }
        },
        _ => Value::String(Text::Borrowed(text)),
    }
}

/// Parses durations in words, such as `3 days`, which strfmt also accepts.
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
    pub(crate) fn item(self, raw: Raw<'a>) -> Value<'a> {
        match self.schema.item() {
            Some(items) => Value::of(raw, items),
            None => Value::from(raw),
        }
    }

    /// Returns upstream's name for the type of a list of an object.
    pub(crate) fn go_type_of_list(self) -> &'static str {
        match self.schema.extra().list_type {
            Some("set") => "*common.unstructuredSetList",
            Some("map") => "*common.unstructuredMapList",
            _ => "*common.unstructuredList",
        }
    }

    pub(crate) fn is_set(self) -> bool {
        self.schema.extra().list_type == Some("set")
    }

    fn is_map_list(self) -> bool {
        self.schema.extra().list_type == Some("map")
    }

    fn is_object(self) -> bool {
        self.resource || !self.schema.properties.is_empty()
    }

    fn property(self, name: &str) -> Option<&'a Schema<'a>> {
        if !self.is_object() {
            return self.schema.additional_schema();
        }
        if self.resource && matches!(name, "apiVersion" | "kind" | "metadata") && !declares_metadata(self.schema) {
            return Some(if name == "metadata" { &METADATA } else { &TEXT });
        }
        self.schema.property(name)
    }

    pub(crate) fn find(self, fields: Fields<'a>, key: &str) -> Option<Value<'a>> {
        let unescaped;
        let name = if self.is_object() {
            unescaped = escape::unescape(key)?;
            &*unescaped
        } else {
            key
        };
        let raw = fields.get(name)?;
        if self.is_object() && raw == Raw::Null {
            return None;
        }
        self.property(name).map(|schema| Value::of(raw, schema))
    }

    pub(crate) fn entries(self, fields: Fields<'a>) -> impl Iterator<Item = (Value<'a>, Value<'a>)> {
        fields.iter().filter_map(move |(key, raw)| {
            let schema = self.property(key)?;
            let name = match escape::escape(key).filter(|_| self.is_object()) {
                Some(Cow::Owned(name)) => Value::text(name),
                Some(Cow::Borrowed(_)) | None => Value::String(Text::Borrowed(key)),
            };
            Some((name, Value::of(raw, schema)))
        })
    }

    pub(crate) fn list_equal(self, own: &List<'a>, other: &Value<'a>) -> Value<'a> {
        let Value::List(list) = other else {
            return if other.is_error() { other.clone() } else { Value::no_such_overload() };
        };
        if own.len() != list.len() {
            return Value::Bool(false);
        }
        if self.is_set() {
            return set_equal(own, list).map_or_else(unhashable, Value::Bool);
        }
        if self.is_map_list() {
            return self.map_list_equal(own, list).unwrap_or_else(unhashable);
        }
        let raw = |list: &List<'a>, index| if let List::Typed(_, items) = list { items.get(index) } else { None };
        for (index, (item, value)) in own.iter().zip(list.iter()).enumerate() {
            let unknown = unknown_equal(self.schema.item(), raw(own, index), raw(list, index));
            let equal = unknown.map_or_else(|| item.equal(&value), Value::Bool);
            if !matches!(equal, Value::Bool(true)) {
                return equal;
            }
        }
        Value::Bool(true)
    }

    fn map_list_equal(self, own: &List<'a>, list: &List<'a>) -> Result<Value<'a>, &'static str> {
        let names = self.key_names();
        let mut items = BTreeMap::new();
        for item in own.iter() {
            if let Some(key) = key_of(&names, &item)? {
                items.insert(key, item);
            }
        }
        for value in list.iter() {
            let found = key_of(&names, &value)?.and_then(|key| items.get(&key));
            let Some(own) = found else { return Ok(Value::Bool(false)) };
            let equal = own.equal(&value);
            if !matches!(equal, Value::Bool(true)) {
                return Ok(equal);
            }
        }
        Ok(Value::Bool(true))
    }

    /// Returns the keys of a map list. Upstream looks them up by their escaped names.
    fn key_names(self) -> Vec<Cow<'a, str>> {
        let name = |name: &&'a str| escape::escape(name).unwrap_or(Cow::Borrowed(*name));
        self.schema.extra().list_map_keys.iter().map(name).collect()
    }

    pub(crate) fn map_equal(self, fields: Fields<'a>, other: &Value<'a>) -> Value<'a> {
        let Value::Map(map) = other else {
            return if other.is_error() { other.clone() } else { Value::no_such_overload() };
        };
        if fields.len() != map.len() {
            return Value::Bool(false);
        }
        for (key, raw_own) in fields.iter() {
            if let Some(schema) = self.property(key) {
                let own = self.find(fields, key);
                match (own, map.get(&Value::String(Text::Borrowed(key)))) {
                    (None, None) => {}
                    (Some(own), Some(other)) => {
                        let raw = if let Map::Typed(_, others) = map { others.get(key) } else { None };
                        let unknown = unknown_equal(Some(schema), Some(raw_own), raw);
                        let equal = unknown.map_or_else(|| own.equal(&other), Value::Bool);
                        if !matches!(equal, Value::Bool(true)) {
                            return equal;
                        }
                    }
                    _ => return Value::Bool(false),
                }
            } else {
                let Map::Typed(_, others) = map else { return Value::no_such_overload() };
                if others.get(key).is_some_and(|other| other != raw_own) {
                    return Value::Bool(false);
                }
            }
        }
        Value::Bool(true)
    }

    /// Returns a list of this schema followed by another list. A set adds only new items, a list of type map replaces
    /// items by their keys.
    pub(crate) fn concatenate(self, own: &List<'a>, other: &List<'a>) -> Value<'a> {
        let mut items = match own {
            List::Joined(_, items) => items.clone(),
            own => Arc::new(own.iter().collect()),
        };
        let out = Arc::make_mut(&mut items);
        let added = if self.is_set() {
            self.add_to_set(out, own, other)
        } else if self.is_map_list() {
            self.add_to_map_list(out, other)
        } else {
            out.extend(other.iter().map(|value| self.read_again(value)));
            Ok(())
        };
        match added {
            Ok(()) => Value::List(List::Joined(self, items)),
            Err(ty) => unhashable(ty),
        }
    }

    fn add_to_set(self, out: &mut Vec<Value<'a>>, own: &List<'a>, other: &List<'a>) -> Result<(), &'static str> {
        let mut set = set_of(own)?;
        for value in other.iter() {
            if RawKey::of_value(&value)?.is_none_or(|key| set.insert(key)) {
                out.push(self.read_again(value));
            }
        }
        Ok(())
    }

    fn add_to_map_list(self, out: &mut Vec<Value<'a>>, other: &List<'a>) -> Result<(), &'static str> {
        let names = self.key_names();
        let mut places = BTreeMap::new();
        for (at, item) in out.iter().enumerate() {
            if let Some(key) = key_of(&names, item)? {
                places.insert(key, at);
            }
        }
        for value in other.iter() {
            let place = key_of(&names, &value)?.and_then(|key| places.get(&key).copied());
            let value = self.read_again(value);
            match place {
                Some(at) => out[at] = value,
                None => out.push(value),
            }
        }
        Ok(())
    }

    /// Returns an item of another list as an item of this one: upstream converts it to a plain Go value and reads it
    /// through the schema.
    fn read_again(self, value: Value<'a>) -> Value<'a> {
        let items = self.schema.item().filter(|schema| !schema.flags.any(Flags::INT_OR_STRING));
        let Some(schema) = items else { return value };
        let go_type = match &value {
            // If the item of the other list is an error, only the error is left.
            Value::Error(_) => "*errors.errorString",
            Value::Timestamp(_) => "time.Time",
            Value::Duration(_) => "time.Duration",
            Value::Bytes(_) => "[]uint8",
            Value::Map(Map::Made(_)) if schema.ty == Type::Object => {
                return Value::error(NO_MAP);
            }
            Value::List(List::Made(_) | List::Added(_)) if schema.ty == Type::Array => {
                return Value::error(NO_ARRAY);
            }
            _ => return value,
        };
        let expected = match (schema.ty, &value) {
            (Type::String, _) => "string",
            (Type::Integer, Value::Error(_)) => "int",
            (Type::Number, Value::Error(_)) => "float",
            (Type::Boolean, Value::Error(_)) => "bool",
            (Type::Object, Value::Error(_)) => return Value::error(NO_MAP),
            (Type::Array, Value::Error(_)) => return Value::error(NO_ARRAY),
            _ => return value,
        };
        Value::error(format!("invalid data, expected {expected}, got {go_type}"))
    }
}

/// Returns whether a schema declares nothing about a value, so that expressions cannot reach it.
fn is_unknown(schema: &Schema<'_>) -> bool {
    schema.flags.any(Flags::PRESERVE_UNKNOWN)
        && !schema.flags.any(Flags::INT_OR_STRING)
        && !matches!(
            schema.ty,
            Type::Object | Type::Array | Type::String | Type::Number | Type::Integer | Type::Boolean
        )
}

/// Compares two values at a place where the schema declares nothing: as Go values, for which 1 and 1.0 differ. Returns
/// `None` if the schema declares something or one of the values is null.
fn unknown_equal<'a>(schema: Option<&Schema<'a>>, own: Option<Raw<'a>>, other: Option<Raw<'a>>) -> Option<bool> {
    let known = |raw: &Raw<'a>| *raw != Raw::Null;
    let (own, other) = (own.filter(known)?, other.filter(known)?);
    schema.is_some_and(is_unknown).then(|| own == other)
}

/// Returns the keys of the items of a list of type set. The raw values of the object are used, also where the schema
/// reads them as another type.
fn set_of<'a>(list: &List<'a>) -> Result<BTreeSet<RawKey<'a>>, &'static str> {
    match list {
        List::Typed(_, items) => items.iter().map(RawKey::of).collect(),
        list => list.iter().filter_map(|item| RawKey::of_value(&item).transpose()).collect(),
    }
}

fn set_equal<'a>(own: &List<'a>, other: &List<'a>) -> Result<bool, &'static str> {
    let set = set_of(own)?;
    for value in other.iter() {
        if !RawKey::of_value(&value)?.is_some_and(|key| set.contains(&key)) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns upstream's error for a key that Go's maps cannot hash, which ends the evaluation.
fn unhashable<'a>(ty: &str) -> Value<'a> {
    Value::error(format!("{PANIC}hash of unhashable type {ty}"))
}

/// Returns the key of an item of a map list; `None` if it is not an object, so that it equals no other item.
fn key_of<'a>(names: &[Cow<'_, str>], item: &Value<'a>) -> Result<Option<Vec<RawKey<'a>>>, &'static str> {
    let Value::Map(Map::Typed(_, fields) | Map::Data(fields)) = item else { return Ok(None) };
    names.iter().map(|name| RawKey::of(fields.get(name).unwrap_or(Raw::Null))).collect::<Result<_, _>>().map(Some)
}
