//! Prints an object as a server does after it decoded and stored it: JSON of Go's structs after protobuf.
//!
//! Unknown fields and nulls are removed, zero values are present if Go prints them, and quantities, times and bytes are
//! in their canonical form. Protobuf does not distinguish an empty list or map from an absent one, so both are null
//! where Go prints them.

use super::go::Facts;
use super::{Struct, Type, Typed};
use base64::Engine;
use base64::alphabet::STANDARD as ALPHABET;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use kubeshape_cel::Quantity;
use kubeshape_gotypes::members::Shown;
use kubeshape_value::{Bump, Map, Value};
use kubeshape_yaml::go::Time;

/// Decodes what Go's `base64.StdEncoding` decodes.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &ALPHABET,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::RequireCanonical),
);
/// The maximum depth to which absent structs are printed, because a document may refer to itself.
const MAX_DEPTH: usize = 8;

impl Typed {
    /// Returns an object that decodes without errors as a server prints it after it was stored. If the table of Go's
    /// types does not have the kind, as for kinds of aggregated servers, only unknown fields and nulls are removed.
    #[must_use]
    pub fn stored<'a>(&self, object: Value<'a>, arena: &'a Bump) -> Value<'a> {
        Printer { typed: self, arena, keeps: Keeps::None }.value(object, &self.root, MAX_DEPTH)
    }

    /// Like [`stored`](Self::stored), but before protobuf: empty lists that Go prints are not null.
    #[must_use]
    pub fn decoded<'a>(&self, object: Value<'a>, arena: &'a Bump) -> Value<'a> {
        Printer { typed: self, arena, keeps: Keeps::Printed }.value(object, &self.root, MAX_DEPTH)
    }

    /// Like [`decoded`](Self::decoded), with all empty lists of the object. Go's structs distinguish them from absent
    /// ones until they are printed, so some rules do, too. No rule distinguishes an empty map from an absent one.
    #[must_use]
    pub fn in_memory<'a>(&self, object: Value<'a>, arena: &'a Bump) -> Value<'a> {
        Printer { typed: self, arena, keeps: Keeps::Lists }.value(object, &self.root, MAX_DEPTH)
    }
}

/// The fields in which an empty list or map differs from an absent one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keeps {
    None,
    /// Those that Go prints in any case.
    Printed,
    /// These, and all lists and bytes.
    Lists,
}

struct Printer<'t, 'a> {
    typed: &'t Typed,
    arena: &'a Bump,
    keeps: Keeps,
}

impl<'a> Printer<'_, 'a> {
    /// `depth` is the number of enclosing structs that the object lacks.
    fn value(&self, value: Value<'a>, ty: &Type, depth: usize) -> Value<'a> {
        match (ty, value) {
            (Type::Any, value) => value,
            (ty, Value::Null) => self.zero(ty, depth),
            (Type::Struct(at), Value::Map(map)) => self.typed.at(*at).map_or(value, |ty| self.fields(ty, map, depth)),
            (Type::Map(items), Value::Map(map)) => {
                let entries = map.entries().iter().map(|(key, item)| (*key, self.value(*item, items, depth)));
                Value::Map(Map::sorted(self.arena.alloc_slice_fill_iter(entries.collect::<Vec<_>>())))
            }
            (Type::List(items), Value::List(list)) => {
                let list: Vec<_> = list.iter().map(|item| self.value(*item, items, depth)).collect();
                Value::List(self.arena.alloc_slice_copy(&list))
            }
            (Type::Int32 | Type::Int64 | Type::IntOrString, Value::Float(number)) => whole(number),
            (Type::Quantity, value) => self.quantity(value),
            (Type::Time, Value::String(text)) => match Time::parse(text) {
                Some(Time::ZERO) => Value::Null,
                Some(time) => self.text(text, &time.to_string()),
                None => value,
            },
            (Type::MicroTime, Value::String(text)) => match Time::parse(text) {
                Some(time) => self.text(text, &micro_time(time, text)),
                None => value,
            },
            (Type::Bytes, Value::String(text)) => {
                let given: String = text.chars().filter(|c| !matches!(c, '\n' | '\r')).collect();
                match BASE64.decode(given) {
                    Ok(bytes) => self.text(text, &BASE64.encode(bytes)),
                    Err(_) => value,
                }
            }
            (Type::Bytes, Value::List(items)) => {
                let byte = |item: &Value<'_>| if let Value::Int(n) = item { u8::try_from(*n).unwrap_or(0) } else { 0 };
                self.text("\0", &BASE64.encode(items.iter().map(byte).collect::<Vec<_>>()))
            }
            (_, value) => value,
        }
    }

    /// Returns a text in its canonical form.
    fn text(&self, given: &'a str, canonical: &str) -> Value<'a> {
        Value::String(if given == canonical { given } else { self.arena.alloc_str(canonical) })
    }

    fn quantity(&self, value: Value<'a>) -> Value<'a> {
        let mut number = Vec::new();
        let given = match value {
            Value::String(text) => text.trim(),
            Value::Int(n) => return self.quantity(Value::String(self.arena.alloc_str(&n.to_string()))),
            Value::Float(n) => {
                kubeshape_yaml::go::number::write_json(n, &mut number);
                std::str::from_utf8(&number).unwrap_or_default()
            }
            other => return other,
        };
        match Quantity::parse(given) {
            Ok(quantity) => Value::String(self.arena.alloc_str(&quantity.to_string())),
            Err(_) => value,
        }
    }

    fn fields(&self, ty: &Struct, map: Map<'a>, depth: usize) -> Value<'a> {
        let mut entries: Vec<(&'a str, Value<'a>)> = Vec::with_capacity(map.len() + 4);
        for (name, field) in &ty.fields {
            let given = map.entries().binary_search_by(|entry| entry.0.cmp(name)).ok();
            let given = given.and_then(|at| map.entries().get(at)).filter(|(_, value)| !value.is_null());
            let written = given.map(|(_, value)| self.value(*value, &field.ty, depth));
            let written = match (field.go, written) {
                (Some(facts), written) => self.field(written, &field.ty, facts, depth),
                (None, written) => written,
            };
            let Some(written) = written else { continue };
            entries.push((given.map_or_else(|| &*self.arena.alloc_str(name), |(key, _)| *key), written));
        }
        if let Some(others) = &ty.others {
            let is_other = |key: &str| ty.field(key).is_none();
            let rest = map.entries().iter().filter(|(key, value)| is_other(key) && !value.is_null());
            entries.extend(rest.map(|(key, value)| (*key, self.value(*value, others, depth))));
            return Value::Map(Map::from_entries(entries, self.arena));
        }
        Value::Map(Map::sorted(self.arena.alloc_slice_copy(&entries)))
    }

    /// Returns a field as Go prints it, or `None` if it is left out.
    fn field(&self, written: Option<Value<'a>>, ty: &Type, facts: Facts, depth: usize) -> Option<Value<'a>> {
        if facts.is_pointer {
            return written.or_else(|| (facts.shown == Shown::Always).then_some(Value::Null));
        }
        let can_be_empty = matches!(
            ty,
            Type::Bool
                | Type::Int32
                | Type::Int64
                | Type::Float
                | Type::Text
                | Type::Bytes
                | Type::Map(_)
                | Type::List(_)
        );
        let collects = matches!(ty, Type::Bytes | Type::Map(_) | Type::List(_));
        let keeps = match self.keeps {
            Keeps::Lists if !matches!(ty, Type::Map(_)) => true,
            Keeps::Printed | Keeps::Lists => matches!(facts.shown, Shown::Always | Shown::InParent),
            Keeps::None => false,
        };
        if let (Some(written), true, true) = (written, collects, keeps) {
            return Some(written);
        }
        let written = written.filter(|value| !(can_be_empty && is_empty(*value)));
        match facts.shown {
            Shown::Always | Shown::InParent if collects => Some(written.unwrap_or(Value::Null)),
            Shown::UnlessEmpty if can_be_empty => written,
            Shown::UnlessZero => written.filter(|value| *value != self.zero(ty, depth)),
            Shown::Always | Shown::InParent | Shown::UnlessEmpty => {
                written.or_else(|| (depth > 0 || !matches!(ty, Type::Struct(_))).then(|| self.zero(ty, depth)))
            }
        }
    }

    /// Returns the zero value of a type, as an item of a list or map and as a field that is always printed.
    fn zero(&self, ty: &Type, depth: usize) -> Value<'a> {
        match ty {
            Type::Bool => Value::Bool(false),
            Type::Int32 | Type::Int64 | Type::Float | Type::IntOrString => Value::Int(0),
            Type::Text | Type::Bytes => Value::String(""),
            Type::Quantity => Value::String("0"),
            Type::Struct(at) => match self.typed.at(*at) {
                Some(ty) if depth > 0 => self.fields(ty, Map::EMPTY, depth - 1),
                _ => Value::Map(Map::EMPTY),
            },
            Type::Any | Type::Time | Type::MicroTime | Type::Map(_) | Type::List(_) => Value::Null,
        }
    }
}

/// Returns whether `omitempty` leaves a value out.
pub(crate) fn is_empty(value: Value<'_>) -> bool {
    match value {
        Value::Null | Value::Bool(false) | Value::Int(0) => true,
        Value::Float(number) => number == 0.0,
        Value::String(text) => text.is_empty(),
        Value::List(items) => items.is_empty(),
        Value::Map(map) => map.is_empty(),
        Value::Bool(true) | Value::Int(_) => false,
    }
}

/// Returns a number that was written with a decimal point or an exponent.
#[expect(clippy::cast_possible_truncation, reason = "whole and within the range")]
fn whole(number: f64) -> Value<'static> {
    if number.fract() == 0.0 && number.abs() < 1e18 { Value::Int(number as i64) } else { Value::Float(number) }
}

/// Formats a time with its microseconds.
fn micro_time(time: Time, given: &str) -> String {
    let text = time.to_string();
    let digits: String = given
        .get("2006-01-02T15:04:05.".len()..)
        .unwrap_or_default()
        .chars()
        .take_while(char::is_ascii_digit)
        .chain("000000".chars())
        .take(6)
        .collect();
    format!("{}.{digits}Z", text.trim_end_matches('Z'))
}
