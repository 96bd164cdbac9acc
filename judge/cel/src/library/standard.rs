//! Operators, conversions and dates.

// Lengths and sizes are far below the largest int.
#![allow(clippy::cast_possible_wrap)]

use crate::decls::Name;
use crate::types::Type;
use crate::value::{Map, Timestamp, Value, arithmetic, convert, time};
use std::cmp::Ordering;

/// A function with one implementation for all values of a trait.
pub(crate) type Singleton = (Trait, for<'a> fn(&mut [Value<'a>]) -> Value<'a>);

/// Upstream's traits of types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trait {
    /// Any value.
    None,
    Adder,
    Comparer,
    Divider,
    Indexer,
    Lister,
    Matcher,
    Modder,
    Multiplier,
    Negater,
    Sizer,
    Subtractor,
}

/// Returns whether a value has a trait.
pub(crate) fn has(value: &Value<'_>, wanted: Trait) -> bool {
    use Trait::{Adder, Comparer, Divider, Indexer, Lister, Matcher, Modder, Multiplier, Negater, Sizer, Subtractor};
    let own: &[Trait] = match value {
        Value::Bool(_) => &[Comparer, Negater],
        Value::Bytes(_) => &[Adder, Comparer, Sizer],
        Value::Double(_) => &[Adder, Comparer, Divider, Multiplier, Negater, Subtractor],
        Value::Duration(_) => &[Adder, Comparer, Negater, Subtractor],
        Value::Int(_) => &[Adder, Comparer, Divider, Modder, Multiplier, Negater, Subtractor],
        Value::String(_) => &[Adder, Comparer, Matcher, Sizer],
        Value::Timestamp(_) => &[Adder, Comparer, Subtractor],
        Value::Uint(_) => &[Adder, Comparer, Divider, Modder, Multiplier, Subtractor],
        Value::List(_) => &[Adder, Indexer, Lister, Sizer],
        Value::Map(_) => &[Indexer, Sizer],
        _ => &[],
    };
    wanted == Trait::None || own.contains(&wanted)
}

/// Returns whether functions may be called on the value by name if nothing else accepts it.
pub(crate) fn receives(value: &Value<'_>) -> bool {
    matches!(value, Value::String(_) | Value::Duration(_) | Value::Timestamp(_))
}

fn ordering<'a>(args: &[Value<'a>], test: fn(Ordering) -> bool) -> Value<'a> {
    args[0].compare(&args[1]).map_or_else(|error| error, |order| Value::Bool(test(order)))
}

fn contains<'a>(args: &mut [Value<'a>]) -> Value<'a> {
    match &args[1] {
        Value::List(list) => list.contains(&args[0]),
        Value::Map(map) => contains_key(map, &args[0]),
        other if other.is_error() => other.clone(),
        _ => Value::no_such_overload(),
    }
}

fn contains_key<'a>(map: &Map<'a>, key: &Value<'a>) -> Value<'a> {
    if matches!(map, Map::Typed(..)) && key.as_str().is_none() {
        return Value::no_such_overload();
    }
    match map.get(key) {
        Some(Value::Error(error)) if matches!(map, Map::Typed(..)) => Value::Error(error),
        found => Value::Bool(found.is_some()),
    }
}

/// Returns the implementation of a function that has the same one for all overloads.
pub(crate) fn singleton(function: Name) -> Option<Singleton> {
    Some(match function {
        Name::Not => (Trait::None, |args| match &args[0] {
            Value::Bool(b) => Value::Bool(!b),
            other if other.is_error() => other.clone(),
            _ => Value::no_such_overload(),
        }),
        Name::Plus => (Trait::Adder, |args| {
            let left = std::mem::replace(&mut args[0], Value::Null);
            arithmetic::add(left, &args[1])
        }),
        Name::Minus => (Trait::Subtractor, |args| arithmetic::subtract(&args[0], &args[1])),
        Name::Multiply => (Trait::Multiplier, |args| arithmetic::multiply(&args[0], &args[1])),
        Name::Divide => (Trait::Divider, |args| arithmetic::divide(&args[0], &args[1])),
        Name::Modulo => (Trait::Modder, |args| arithmetic::modulo(&args[0], &args[1])),
        Name::Negate => (Trait::Negater, |args| arithmetic::negate(&args[0])),
        Name::Less => (Trait::Comparer, |args| ordering(args, Ordering::is_lt)),
        Name::LessEquals => (Trait::Comparer, |args| ordering(args, Ordering::is_le)),
        Name::Greater => (Trait::Comparer, |args| ordering(args, Ordering::is_gt)),
        Name::GreaterEquals => (Trait::Comparer, |args| ordering(args, Ordering::is_ge)),
        Name::In => (Trait::None, contains),
        Name::Size => {
            (Trait::Sizer, |args| args[0].size().map_or_else(Value::no_such_overload, |n| Value::Int(n as i64)))
        }
        Name::Type => (Trait::None, |args| convert::convert(&args[0], &Type::Type(None))),
        Name::Dyn => (Trait::None, |args| args[0].clone()),
        // String patterns are matched elsewhere, where compiled patterns are kept.
        Name::Matches => (Trait::Matcher, |args| match &args[1] {
            other if other.is_error() => other.clone(),
            _ => Value::no_such_overload(),
        }),
        Name::Sort => (Trait::Lister, |args| match &args[0] {
            Value::List(list) => super::lists::sort_by(list, list),
            _ => Value::no_such_overload(),
        }),
        Name::SortByKeys => (Trait::Lister, |args| match (&args[0], &args[1]) {
            (Value::List(list), Value::List(keys)) => super::lists::sort_by(list, keys),
            _ => Value::no_such_overload(),
        }),
        _ => return None,
    })
}

/// Returns whether a function returns a part of a timestamp, or the number of units of a duration.
pub(crate) fn is_part(function: Name) -> bool {
    matches!(
        function,
        Name::GetFullYear
            | Name::GetMonth
            | Name::GetDayOfYear
            | Name::GetDayOfMonth
            | Name::GetDate
            | Name::GetDayOfWeek
            | Name::GetHours
            | Name::GetMinutes
            | Name::GetSeconds
            | Name::GetMilliseconds
    )
}

/// Returns a part of a timestamp in a time zone: `getHours("Europe/Berlin")`.
pub(crate) fn part_of<'a>(at: Timestamp, zone: &str, part: Name) -> Value<'a> {
    let offset = match time::offset_of(at, zone) {
        Ok(offset) => offset,
        Err(error) => return Value::error(error),
    };
    let civil = at.civil(offset);
    Value::Int(match part {
        Name::GetFullYear => civil.year,
        Name::GetMonth => civil.month - 1,
        Name::GetDayOfYear => civil.day_of_year,
        Name::GetDayOfMonth => civil.day - 1,
        Name::GetDate => civil.day,
        Name::GetDayOfWeek => civil.weekday,
        Name::GetHours => civil.hour,
        Name::GetMinutes => civil.minute,
        Name::GetSeconds => civil.second,
        _ => i64::from(at.nanos / 1_000_000),
    })
}

/// Returns the number of units of a duration. Upstream truncates a double, which may have been rounded up.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)]
fn units(nanos: i64, unit: i64) -> i64 {
    ((nanos / unit) as f64 + (nanos % unit) as f64 / unit as f64) as i64
}

/// Returns a duration in whole units.
pub(crate) fn whole<'a>(nanos: i64, unit: Name) -> Value<'a> {
    Value::Int(match unit {
        Name::GetHours => units(nanos, 3_600_000_000_000),
        Name::GetMinutes => units(nanos, 60_000_000_000),
        Name::GetSeconds => units(nanos, 1_000_000_000),
        _ => nanos / 1_000_000,
    })
}
