//! The implementations of overloads.

// Lengths and sizes are far below the largest int.
#![allow(clippy::cast_possible_wrap)]

use super::named::Format;
use super::net::{Addr, Cidr};
use super::quantity::Quantity;
use super::semver::Version;
use super::{Kube, authorization, format, lists, standard, strings};
use crate::decls::{Function, Name, Overload};
use crate::types::Type;
use crate::value::{Map, Value, convert};
use kubeshape_yaml::go::Url;
use std::sync::Arc;

/// Returns the error of a call whose arguments fit no overload.
pub(crate) fn unmatched<'a>(function: &Function, args: &[Value<'a>]) -> Value<'a> {
    let shown: Vec<String> = args.iter().map(|arg| arg.type_of().name().to_owned()).collect();
    Value::error(format!("no such overload: {}({})", function.text, shown.join(", ")))
}

/// Calls an overload with arguments of its types.
pub(crate) fn call<'a>(function: &Function, overload: &Overload, args: &mut [Value<'a>]) -> Value<'a> {
    let name = function.name;
    if standard::is_part(name) {
        return match (&args[0], args.get(1)) {
            (Value::Timestamp(at), None) => standard::part_of(*at, "UTC", name),
            (Value::Timestamp(at), Some(Value::String(zone))) => standard::part_of(*at, zone, name),
            (Value::Duration(nanos), None) => standard::whole(*nanos, name),
            _ => Value::no_such_overload(),
        };
    }
    if let Some(to) = conversion(name) {
        return match &args[0] {
            Value::Kube(kube @ (Kube::Ip(_) | Kube::Cidr(_))) => Value::text(kube.to_string()),
            value if value.is_of(&to) => value.clone(),
            value => convert::convert(value, &to),
        };
    }
    match (name, &mut *args) {
        (Name::NotStrictlyFalse, [value]) => match value {
            Value::Bool(b) => Value::Bool(*b),
            _ => Value::Bool(true),
        },
        (Name::Contains, [Value::String(text), Value::String(part)]) => Value::Bool(text.contains(&**part)),
        (Name::StartsWith, [Value::String(text), Value::String(part)]) => Value::Bool(text.starts_with(&**part)),
        (Name::EndsWith, [Value::String(text), Value::String(part)]) => Value::Bool(text.ends_with(&**part)),
        (Name::Contains | Name::StartsWith | Name::EndsWith, [first, second]) => {
            let wrong = if matches!(first, Value::String(_)) { second } else { first };
            if wrong.is_error() { wrong.clone() } else { Value::no_such_overload() }
        }
        (Name::CharAt, [Value::String(text), Value::Int(index)]) => strings::char_at(text, *index),
        (Name::IndexOf, [Value::String(text), Value::String(part)]) => strings::index_of(text, part, 0),
        (Name::IndexOf, [Value::String(text), Value::String(part), Value::Int(at)]) => {
            strings::index_of(text, part, *at)
        }
        (Name::LastIndexOf, [Value::String(text), Value::String(part)]) => strings::last_index_of(text, part, None),
        (Name::LastIndexOf, [Value::String(text), Value::String(part), Value::Int(at)]) => {
            strings::last_index_of(text, part, Some(*at))
        }
        (Name::IndexOf, [Value::List(list), item]) => lists::index_of(list, item, false),
        (Name::LastIndexOf, [Value::List(list), item]) => lists::index_of(list, item, true),
        (Name::LowerAscii, [Value::String(text)]) => Value::text(text.to_ascii_lowercase()),
        (Name::UpperAscii, [Value::String(text)]) => Value::text(text.to_ascii_uppercase()),
        (Name::Trim, [Value::String(text)]) => Value::String(text.part(strings::trim(text))),
        (Name::Replace, [Value::String(text), Value::String(old), Value::String(new)]) => {
            strings::replace(text, old, new, -1)
        }
        (Name::Replace, [Value::String(text), Value::String(old), Value::String(new), Value::Int(most)]) => {
            strings::replace(text, old, new, *most)
        }
        (Name::Split, [Value::String(text), Value::String(separator)]) => strings::split(text, separator, -1),
        (Name::Split, [Value::String(text), Value::String(separator), Value::Int(most)]) => {
            strings::split(text, separator, *most)
        }
        (Name::Substring, [Value::String(text), Value::Int(start)]) => strings::substring(text, *start, None),
        (Name::Substring, [Value::String(text), Value::Int(start), Value::Int(end)]) => {
            strings::substring(text, *start, Some(*end))
        }
        (Name::Join, [list]) => strings::join(list, ""),
        (Name::Join, [list, Value::String(separator)]) => strings::join(list, separator),
        (Name::Format, [Value::String(text), Value::List(list)]) => {
            let args: Vec<Value<'a>> = list.iter().collect();
            format::format(text, &args)
        }
        (Name::StringsQuote, [Value::String(text)]) => Value::text(strings::quote(text)),
        (Name::IsSorted, [Value::List(list)]) => lists::is_sorted(list),
        (Name::Sum, [Value::List(list)]) => {
            let zero = match overload.id {
                "list_int_sum_int" => Value::Int(0),
                "list_uint_sum_uint" => Value::Uint(0),
                "list_double_sum_double" => Value::Double(0.0),
                _ => Value::Duration(0),
            };
            lists::sum(list, zero)
        }
        (Name::Max, [Value::List(list)]) => lists::extreme(list, true),
        (Name::Min, [Value::List(list)]) => lists::extreme(list, false),
        (Name::Slice, [Value::List(list), Value::Int(start), Value::Int(end)]) => lists::slice(list, *start, *end),
        (Name::Flatten, [Value::List(list)]) => lists::flatten(list, 1),
        (Name::Flatten, [Value::List(list), Value::Int(depth)]) => lists::flatten(list, *depth),
        (Name::Flatten, [first, ..]) if first.is_error() => first.clone(),
        (Name::Flatten, args) => {
            // Upstream prints the Go types of values: only those of maps have parameters.
            let shown = |arg: &Value<'_>| match arg {
                Value::Map(_) => arg.type_of().to_string(),
                _ => arg.type_of().name().to_owned(),
            };
            let shown: Vec<String> = args.iter().map(shown).collect();
            Value::error(format!("no such overload: {}.flatten({})", shown[0], shown[1..].join(", ")))
        }
        (Name::ListsRange, [Value::Int(count)]) => lists::range(*count),
        (Name::Reverse, [Value::List(list)]) => {
            Value::list((0..list.len()).rev().filter_map(|index| list.get(index)).collect())
        }
        (Name::Distinct, [Value::List(list)]) => lists::distinct(list),
        (Name::First, [Value::List(list)]) => Value::Optional(list.get(0).map(Arc::new)),
        (Name::Last, [Value::List(list)]) => {
            Value::Optional(list.len().checked_sub(1).and_then(|last| list.get(last)).map(Arc::new))
        }
        (Name::OptionalUnwrap | Name::UnwrapOpt, [Value::List(list)]) => lists::unwrap(list),
        (Name::OptionalNone, []) => Value::Optional(None),
        (Name::OptionalOf, [value]) => Value::some(value.clone()),
        (Name::OptionalOfNonZeroValue, [value]) => {
            if is_zero(value) {
                Value::Optional(None)
            } else {
                Value::some(value.clone())
            }
        }
        (Name::Value, [Value::Optional(inner)]) => {
            inner.as_deref().cloned().unwrap_or_else(|| Value::error("optional.none() dereference"))
        }
        (Name::HasValue, [Value::Optional(inner)]) => Value::Bool(inner.is_some()),
        (Name::SetsContains, [Value::List(list), Value::List(part)]) => lists::contains_all(list, part),
        (Name::SetsEquivalent, [Value::List(a), Value::List(b)]) => match lists::contains_all(a, b) {
            Value::Bool(true) => lists::contains_all(b, a),
            other => other,
        },
        (Name::SetsIntersects, [Value::List(a), Value::List(b)]) => {
            Value::Bool(a.iter().any(|item| matches!(b.contains(&item), Value::Bool(true))))
        }
        (Name::MapInsert, [map @ Value::Map(_), key, value]) => {
            let (map, key, value) = (take(map), key.clone(), value.clone());
            insert(map, key, value)
        }
        (Name::MapInsert, [map @ Value::Map(_), Value::Map(more)]) => {
            let mut out = take(map);
            for (key, value) in more.iter() {
                out = insert(out, key, value);
                if out.is_error() {
                    break;
                }
            }
            out
        }
        _ => kube(function, args),
    }
}

fn take<'a>(value: &mut Value<'a>) -> Value<'a> {
    std::mem::replace(value, Value::Null)
}

fn insert<'a>(map: Value<'a>, key: Value<'a>, value: Value<'a>) -> Value<'a> {
    let Value::Map(map) = map else { return Value::no_such_overload() };
    if map.get(&key).is_some() {
        return Value::error(format!("insert failed: key {} already exists", crate::value::print::plain(&key)));
    }
    let mut entries = match map {
        Map::Made(entries) => entries,
        other => {
            Arc::new(other.iter().map(|(key, value)| (crate::value::Key::of(&key), Box::new((key, value)))).collect())
        }
    };
    let made = crate::value::Key::made(&key, &entries);
    Arc::make_mut(&mut entries).insert(made, Box::new((key, value)));
    Value::Map(Map::Made(entries))
}

fn conversion(function: Name) -> Option<Type> {
    Some(match function {
        Name::Bool => Type::Bool,
        Name::Bytes => Type::Bytes,
        Name::Double => Type::Double,
        Name::Duration => Type::Duration,
        Name::Int => Type::Int,
        Name::String => Type::String,
        Name::Timestamp => Type::Timestamp,
        Name::Uint => Type::Uint,
        _ => return None,
    })
}

/// Returns whether a value is the zero of its type.
fn is_zero(value: &Value<'_>) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(b) => !b,
        Value::Int(i) => *i == 0,
        Value::Uint(u) => *u == 0,
        Value::Double(d) => *d == 0.0,
        Value::String(text) => text.is_empty(),
        Value::Bytes(bytes) => bytes.is_empty(),
        Value::Duration(nanos) => *nanos == 0,
        Value::Timestamp(at) => at.seconds == -62_135_596_800 && at.nanos == 0,
        Value::List(list) if list.typed().is_some() => false,
        Value::Map(Map::Typed(..)) => false,
        Value::List(list) => list.is_empty(),
        Value::Map(map) => map.is_empty(),
        _ => false,
    }
}

fn kube<'a>(function: &Function, args: &[Value<'a>]) -> Value<'a> {
    let name = function.name;
    let quantity = |quantity: Quantity, made: bool| Value::Kube(Kube::Quantity(Arc::new(quantity), made));
    if let [Value::Kube(Kube::Authorization(value)), rest @ ..] = args {
        return authorization::call(name, value, rest).unwrap_or_else(|| unmatched(function, args));
    }
    match (name, args) {
        (Name::JsonPatchEscapeKey, [Value::String(text)]) => Value::text(text.replace('~', "~0").replace('/', "~1")),
        (Name::Quantity, [Value::String(text)]) => {
            Quantity::parse(text).map_or_else(Value::error, |parsed| quantity(parsed, false))
        }
        (Name::IsQuantity, [Value::String(text)]) => Value::Bool(Quantity::parse(text).is_ok()),
        (Name::Sign, [Value::Kube(Kube::Quantity(q, _))]) => Value::Int(q.sign()),
        (Name::IsGreaterThan, [Value::Kube(Kube::Quantity(a, _)), Value::Kube(Kube::Quantity(b, _))]) => {
            Value::Bool(a.cmp(b).is_gt())
        }
        (Name::IsLessThan, [Value::Kube(Kube::Quantity(a, _)), Value::Kube(Kube::Quantity(b, _))]) => {
            Value::Bool(a.cmp(b).is_lt())
        }
        (Name::CompareTo, [Value::Kube(Kube::Quantity(a, _)), Value::Kube(Kube::Quantity(b, _))]) => {
            Value::Int(a.cmp(b) as i64)
        }
        (Name::AsApproximateFloat, [Value::Kube(Kube::Quantity(q, _))]) => Value::Double(q.as_float()),
        (Name::AsInteger, [Value::Kube(Kube::Quantity(q, _))]) => {
            q.as_int().map_or_else(|| Value::error("cannot convert value to integer"), Value::Int)
        }
        (Name::IsInteger, [Value::Kube(Kube::Quantity(q, _))]) => Value::Bool(q.as_int().is_some()),
        (Name::Add | Name::Sub, [Value::Kube(Kube::Quantity(a, _)), Value::Kube(Kube::Quantity(b, _))]) => {
            a.add(b, name == Name::Sub).map_or_else(Value::error, |sum| quantity(sum, true))
        }
        (Name::Add | Name::Sub, [Value::Kube(Kube::Quantity(a, _)), Value::Int(b)]) => {
            a.add(&Quantity::of_int(*b), name == Name::Sub).map_or_else(Value::error, |sum| quantity(sum, true))
        }
        (Name::Ip, [Value::String(text)]) => {
            Addr::parse(text).map_or_else(Value::error, |ip| Value::Kube(Kube::Ip(ip)))
        }
        (Name::IsIp, [Value::String(text)]) => Value::Bool(Addr::reads(text)),
        (Name::IpIsCanonical, [Value::String(text)]) => {
            Addr::parse(text).map_or_else(Value::error, |ip| Value::Bool(ip.to_string() == **text))
        }
        (Name::Family, [Value::Kube(Kube::Ip(ip))]) => Value::Int(if ip.is_v4() { 4 } else { 6 }),
        (Name::IsUnspecified, [Value::Kube(Kube::Ip(ip))]) => Value::Bool(ip.is_unspecified()),
        (Name::IsLoopback, [Value::Kube(Kube::Ip(ip))]) => Value::Bool(ip.is_loopback()),
        (Name::IsLinkLocalMulticast, [Value::Kube(Kube::Ip(ip))]) => Value::Bool(ip.is_link_local_multicast()),
        (Name::IsLinkLocalUnicast, [Value::Kube(Kube::Ip(ip))]) => Value::Bool(ip.is_link_local_unicast()),
        (Name::IsGlobalUnicast, [Value::Kube(Kube::Ip(ip))]) => Value::Bool(ip.is_global_unicast()),
        (Name::Cidr, [Value::String(text)]) => {
            cidr(text).map_or_else(|error| error, |cidr| Value::Kube(Kube::Cidr(cidr)))
        }
        (Name::IsCidr, [Value::String(text)]) => Value::Bool(Cidr::parse(text).is_ok()),
        (Name::Ip, [Value::Kube(Kube::Cidr(cidr))]) => Value::Kube(Kube::Ip(cidr.addr)),
        (Name::PrefixLength, [Value::Kube(Kube::Cidr(cidr))]) => Value::Int(i64::from(cidr.bits)),
        (Name::Masked, [Value::Kube(Kube::Cidr(cidr))]) => Value::Kube(Kube::Cidr(cidr.masked())),
        (Name::ContainsIp, [Value::Kube(Kube::Cidr(cidr)), Value::Kube(Kube::Ip(ip))]) => {
            Value::Bool(cidr.contains(*ip))
        }
        // An address that does not parse is reported as an argument of the wrong type.
        (Name::ContainsIp, [Value::Kube(Kube::Cidr(cidr)), Value::String(text)]) => {
            Addr::parse(text).map_or_else(|_| Value::no_such_overload(), |ip| Value::Bool(cidr.contains(ip)))
        }
        (Name::ContainsCidr, [Value::Kube(Kube::Cidr(a)), Value::Kube(Kube::Cidr(b))]) => {
            Value::Bool(a.contains_network(*b))
        }
        (Name::ContainsCidr, [Value::Kube(Kube::Cidr(a)), Value::String(text)]) => {
            cidr(text).map_or_else(|error| error, |b| Value::Bool(a.contains_network(b)))
        }
        (Name::Url, [Value::String(text)]) => match parse_url(text) {
            Ok(url) => Value::Kube(Kube::Url(Arc::new(url))),
            Err(error) => Value::error(format!("URL parse error during conversion from string: {error}")),
        },
        (Name::IsUrl, [Value::String(text)]) => Value::Bool(Url::parse_request_uri(text).is_ok()),
        (Name::GetScheme, [Value::Kube(Kube::Url(url))]) => Value::text(url.scheme()),
        (Name::GetHost, [Value::Kube(Kube::Url(url))]) => Value::text(url.host()),
        (Name::GetHostname, [Value::Kube(Kube::Url(url))]) => Value::text(url.hostname()),
        (Name::GetPort, [Value::Kube(Kube::Url(url))]) => Value::text(url.port()),
        (Name::GetEscapedPath, [Value::Kube(Kube::Url(url))]) => Value::text(url.escaped_path()),
        (Name::GetQuery, [Value::Kube(Kube::Url(url))]) => Value::map(
            url.query()
                .into_iter()
                .map(|(key, values)| (Value::text(key), Value::list(values.into_iter().map(Value::text).collect()))),
        ),
        (Name::Semver, [Value::String(text), rest @ ..]) => {
            semver(text, rest).map_or_else(Value::error, |version| Value::Kube(Kube::Semver(Arc::new(version))))
        }
        (Name::IsSemver, [Value::String(text), rest @ ..]) => Value::Bool(semver(text, rest).is_ok()),
        (Name::Major, [Value::Kube(Kube::Semver(version))]) => Value::Int(version.major as i64),
        (Name::Minor, [Value::Kube(Kube::Semver(version))]) => Value::Int(version.minor as i64),
        (Name::Patch, [Value::Kube(Kube::Semver(version))]) => Value::Int(version.patch as i64),
        (Name::IsGreaterThan, [Value::Kube(Kube::Semver(a)), Value::Kube(Kube::Semver(b))]) => {
            Value::Bool(a.cmp(b).is_gt())
        }
        (Name::IsLessThan, [Value::Kube(Kube::Semver(a)), Value::Kube(Kube::Semver(b))]) => {
            Value::Bool(a.cmp(b).is_lt())
        }
        (Name::CompareTo, [Value::Kube(Kube::Semver(a)), Value::Kube(Kube::Semver(b))]) => Value::Int(a.cmp(b) as i64),
        (Name::FormatNamed, [Value::String(name)]) => match Format::find(name) {
            Some(format) => Value::some(Value::Kube(Kube::Format(format))),
            None => Value::Optional(None),
        },
        (Name::Validate, [Value::Kube(Kube::Format(format)), Value::String(text)]) => {
            let wrong = format.validate(text);
            if wrong.is_empty() {
                Value::Optional(None)
            } else {
                Value::some(Value::list(wrong.into_iter().map(Value::text).collect()))
            }
        }
        (name, []) => {
            Format::of(name).map_or_else(|| unmatched(function, args), |format| Value::Kube(Kube::Format(format)))
        }
        _ => unmatched(function, args),
    }
}

/// Parses a URL like upstream: as the URL of a request, and then again, because that parser does not split off a
/// fragment.
fn parse_url(text: &str) -> Result<Url, String> {
    let url = Url::parse_request_uri(text)?;
    // Without `#`, the two results differ only if the URL begins with two slashes.
    if text.contains('#') || text.starts_with("//") { Url::parse(text) } else { Ok(url) }
}

fn cidr<'a>(text: &str) -> Result<Cidr, Value<'a>> {
    Cidr::parse(text)
        .map_err(|error| Value::error(format!("network address parse error during conversion from string: {error}")))
}

fn semver(text: &str, rest: &[Value<'_>]) -> Result<Version, String> {
    if matches!(rest.first(), Some(Value::Bool(true))) { Version::parse_normalized(text) } else { Version::parse(text) }
}
