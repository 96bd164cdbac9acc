//! What overloads do.

// Lengths and sizes are far below the largest int.
#![allow(clippy::cast_possible_wrap)]

use super::named::Format;
use super::net::{Addr, Cidr};
use super::quantity::Quantity;
use super::regex::Regex;
use super::semver::Version;
use super::{Kube, format, lists, standard, strings};
use crate::types::Type;
use crate::value::{Map, Value, convert};
use kubeshape_yaml::go::Url;
use std::sync::Arc;

/// Calls an overload with arguments of its types. `None` if the overload is not one of these.
pub(crate) fn call<'a>(function: &str, overload: &str, args: &mut [Value<'a>]) -> Option<Value<'a>> {
    if let Some(zone) = date_part(overload) {
        return Some(match (&args[0], args.get(1)) {
            (Value::Timestamp(at), None) => standard::part_of(*at, "UTC", function),
            (Value::Timestamp(at), Some(Value::String(name))) if zone => standard::part_of(*at, name, function),
            (Value::Duration(nanos), None) => standard::whole(*nanos, function),
            _ => Value::no_such_overload(),
        });
    }
    if let Some(to) = conversion(function) {
        return Some(match &args[0] {
            Value::Kube(kube @ (Kube::Ip(_) | Kube::Cidr(_))) => Value::text(kube.to_string()),
            value if value.type_of() == to => value.clone(),
            value => convert::convert(value, &to),
        });
    }
    Some(match (function, &mut *args) {
        ("@not_strictly_false", [value]) => match value {
            Value::Bool(b) => Value::Bool(*b),
            _ => Value::Bool(true),
        },
        ("contains", [Value::String(text), Value::String(part)]) => Value::Bool(text.contains(&**part)),
        ("startsWith", [Value::String(text), Value::String(part)]) => Value::Bool(text.starts_with(&**part)),
        ("endsWith", [Value::String(text), Value::String(part)]) => Value::Bool(text.ends_with(&**part)),
        ("contains" | "startsWith" | "endsWith", [first, second]) => {
            let wrong = if matches!(first, Value::String(_)) { second } else { first };
            if wrong.is_error() { wrong.clone() } else { Value::no_such_overload() }
        }
        ("charAt", [Value::String(text), Value::Int(index)]) => strings::char_at(text, *index),
        ("indexOf", [Value::String(text), Value::String(part)]) => strings::index_of(text, part, 0),
        ("indexOf", [Value::String(text), Value::String(part), Value::Int(at)]) => strings::index_of(text, part, *at),
        ("lastIndexOf", [Value::String(text), Value::String(part)]) => strings::last_index_of(text, part, None),
        ("lastIndexOf", [Value::String(text), Value::String(part), Value::Int(at)]) => {
            strings::last_index_of(text, part, Some(*at))
        }
        ("indexOf", [Value::List(list), item]) => lists::index_of(list, item, false),
        ("lastIndexOf", [Value::List(list), item]) => lists::index_of(list, item, true),
        ("lowerAscii", [Value::String(text)]) => Value::text(text.to_ascii_lowercase()),
        ("upperAscii", [Value::String(text)]) => Value::text(text.to_ascii_uppercase()),
        ("trim", [Value::String(text)]) => Value::text(strings::trim(text)),
        ("replace", [Value::String(text), Value::String(old), Value::String(new)]) => {
            strings::replace(text, old, new, -1)
        }
        ("replace", [Value::String(text), Value::String(old), Value::String(new), Value::Int(most)]) => {
            strings::replace(text, old, new, *most)
        }
        ("split", [Value::String(text), Value::String(separator)]) => strings::split(text, separator, -1),
        ("split", [Value::String(text), Value::String(separator), Value::Int(most)]) => {
            strings::split(text, separator, *most)
        }
        ("substring", [Value::String(text), Value::Int(start)]) => strings::substring(text, *start, None),
        ("substring", [Value::String(text), Value::Int(start), Value::Int(end)]) => {
            strings::substring(text, *start, Some(*end))
        }
        ("join", [list]) => strings::join(list, ""),
        ("join", [list, Value::String(separator)]) => strings::join(list, separator),
        ("format", [Value::String(text), Value::List(list)]) => {
            let args: Vec<Value<'a>> = list.iter().collect();
            format::format(text, &args)
        }
        ("strings.quote", [Value::String(text)]) => Value::text(strings::quote(text)),
        ("find", [Value::String(text), Value::String(pattern)]) => match Regex::new(pattern) {
            Ok(regex) => Value::text(regex.find(text).unwrap_or("")),
            Err(error) => Value::error(format!("Illegal regex: {error}")),
        },
        ("findAll", [Value::String(text), Value::String(pattern), rest @ ..]) => match Regex::new(pattern) {
            Ok(regex) => find_all(&regex, text, rest.first()),
            Err(error) => Value::error(format!("Illegal regex: {error}")),
        },
        ("isSorted", [Value::List(list)]) => lists::is_sorted(list),
        ("sum", [Value::List(list)]) => {
            let zero = match overload {
                "list_int_sum_int" => Value::Int(0),
                "list_uint_sum_uint" => Value::Uint(0),
                "list_double_sum_double" => Value::Double(0.0),
                _ => Value::Duration(0),
            };
            lists::sum(list, zero)
        }
        ("max", [Value::List(list)]) => lists::extreme(list, true),
        ("min", [Value::List(list)]) => lists::extreme(list, false),
        ("slice", [Value::List(list), Value::Int(start), Value::Int(end)]) => lists::slice(list, *start, *end),
        ("flatten", [Value::List(list)]) => lists::flatten(list, 1),
        ("flatten", [Value::List(list), Value::Int(depth)]) => lists::flatten(list, *depth),
        ("flatten", [first, ..]) if first.is_error() => first.clone(),
        ("flatten", args) => {
            let shown: Vec<String> = args.iter().map(|arg| arg.type_of().name().to_owned()).collect();
            Value::error(format!("no such overload: {}.flatten({})", shown[0], shown[1..].join(", ")))
        }
        ("lists.range", [Value::Int(count)]) => lists::range(*count),
        ("reverse", [Value::List(list)]) => {
            Value::list((0..list.len()).rev().filter_map(|index| list.get(index)).collect())
        }
        ("distinct", [Value::List(list)]) => lists::distinct(list),
        ("first", [Value::List(list)]) => Value::Optional(list.get(0).map(Arc::new)),
        ("last", [Value::List(list)]) => {
            Value::Optional(list.len().checked_sub(1).and_then(|last| list.get(last)).map(Arc::new))
        }
        ("optional.unwrap" | "unwrapOpt", [Value::List(list)]) => lists::unwrap(list),
        ("optional.none", []) => Value::Optional(None),
        ("optional.of", [value]) => Value::some(value.clone()),
        ("optional.ofNonZeroValue", [value]) => {
            if is_zero(value) {
                Value::Optional(None)
            } else {
                Value::some(value.clone())
            }
        }
        ("value", [Value::Optional(inner)]) => {
            inner.as_deref().cloned().unwrap_or_else(|| Value::error("optional.none() dereference"))
        }
        ("hasValue", [Value::Optional(inner)]) => Value::Bool(inner.is_some()),
        ("sets.contains", [Value::List(list), Value::List(part)]) => {
            Value::Bool(part.iter().all(|item| list.contains(&item)))
        }
        ("sets.equivalent", [Value::List(a), Value::List(b)]) => {
            Value::Bool(b.iter().all(|item| a.contains(&item)) && a.iter().all(|item| b.contains(&item)))
        }
        ("sets.intersects", [Value::List(a), Value::List(b)]) => Value::Bool(a.iter().any(|item| b.contains(&item))),
        ("cel.@mapInsert", [map @ Value::Map(_), key, value]) => {
            let (map, key, value) = (take(map), key.clone(), value.clone());
            insert(map, key, value)
        }
        ("cel.@mapInsert", [map @ Value::Map(_), Value::Map(more)]) => {
            let mut out = take(map);
            for (key, value) in more.iter() {
                out = insert(out, key, value);
                if out.is_error() {
                    break;
                }
            }
            out
        }
        _ => return kube(function, args),
    })
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
        other => Arc::new(other.iter().map(|(key, value)| (crate::value::Key::of(&key), (key, value))).collect()),
    };
    let made = crate::value::Key::made(&key, &entries);
    Arc::make_mut(&mut entries).insert(made, (key, value));
    Value::Map(Map::Made(entries))
}

/// All matches, or as many as an argument says.
pub(crate) fn find_all<'a>(regex: &Regex, text: &str, most: Option<&Value<'a>>) -> Value<'a> {
    let most = match most {
        None => -1,
        Some(Value::Int(most)) => *most,
        Some(_) => return Value::no_such_overload(),
    };
    Value::list(regex.find_all(text, most).into_iter().map(Value::text).collect())
}

/// Whether the overload is about dates, and then whether it takes a zone.
fn date_part(overload: &str) -> Option<bool> {
    if overload.starts_with("timestamp_to_")
        && !matches!(overload, "timestamp_to_timestamp" | "timestamp_to_int64" | "timestamp_to_string")
    {
        return Some(overload.ends_with("_tz"));
    }
    matches!(overload, "duration_to_hours" | "duration_to_minutes" | "duration_to_seconds" | "duration_to_milliseconds")
        .then_some(false)
}

fn conversion(function: &str) -> Option<Type> {
    Some(match function {
        "bool" => Type::Bool,
        "bytes" => Type::Bytes,
        "double" => Type::Double,
        "duration" => Type::Duration,
        "int" => Type::Int,
        "string" => Type::String,
        "timestamp" => Type::Timestamp,
        "uint" => Type::Uint,
        _ => return None,
    })
}

/// Whether a value is the zero of its type.
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

fn kube<'a>(function: &str, args: &mut [Value<'a>]) -> Option<Value<'a>> {
    let quantity = |quantity: Quantity, made: bool| Value::Kube(Kube::Quantity(Arc::new(quantity), made));
    Some(match (function, &*args) {
        ("quantity", [Value::String(text)]) => {
            Quantity::parse(text).map_or_else(Value::error, |parsed| quantity(parsed, false))
        }
        ("isQuantity", [Value::String(text)]) => Value::Bool(Quantity::parse(text).is_ok()),
        ("sign", [Value::Kube(Kube::Quantity(q, _))]) => Value::Int(q.sign()),
        ("isGreaterThan", [Value::Kube(Kube::Quantity(a, _)), Value::Kube(Kube::Quantity(b, _))]) => {
            Value::Bool(a.cmp(b).is_gt())
        }
        ("isLessThan", [Value::Kube(Kube::Quantity(a, _)), Value::Kube(Kube::Quantity(b, _))]) => {
            Value::Bool(a.cmp(b).is_lt())
        }
        ("compareTo", [Value::Kube(Kube::Quantity(a, _)), Value::Kube(Kube::Quantity(b, _))]) => {
            Value::Int(a.cmp(b) as i64)
        }
        ("asApproximateFloat", [Value::Kube(Kube::Quantity(q, _))]) => Value::Double(q.as_float()),
        ("asInteger", [Value::Kube(Kube::Quantity(q, _))]) => {
            q.as_int().map_or_else(|| Value::error("cannot convert value to integer"), Value::Int)
        }
        ("isInteger", [Value::Kube(Kube::Quantity(q, _))]) => Value::Bool(q.as_int().is_some()),
        ("add" | "sub", [Value::Kube(Kube::Quantity(a, _)), Value::Kube(Kube::Quantity(b, _))]) => {
            a.add(b, function == "sub").map_or_else(Value::error, |sum| quantity(sum, true))
        }
        ("add" | "sub", [Value::Kube(Kube::Quantity(a, _)), Value::Int(b)]) => {
            a.add(&Quantity::of_int(*b), function == "sub").map_or_else(Value::error, |sum| quantity(sum, true))
        }
        ("ip", [Value::String(text)]) => Addr::parse(text).map_or_else(Value::error, |ip| Value::Kube(Kube::Ip(ip))),
        ("isIP", [Value::String(text)]) => Value::Bool(Addr::parse(text).is_ok()),
        ("ip.isCanonical", [Value::String(text)]) => {
            Addr::parse(text).map_or_else(Value::error, |ip| Value::Bool(ip.to_string() == **text))
        }
        ("family", [Value::Kube(Kube::Ip(ip))]) => Value::Int(if ip.is_v4() { 4 } else { 6 }),
        ("isUnspecified", [Value::Kube(Kube::Ip(ip))]) => Value::Bool(ip.is_unspecified()),
        ("isLoopback", [Value::Kube(Kube::Ip(ip))]) => Value::Bool(ip.is_loopback()),
        ("isLinkLocalMulticast", [Value::Kube(Kube::Ip(ip))]) => Value::Bool(ip.is_link_local_multicast()),
        ("isLinkLocalUnicast", [Value::Kube(Kube::Ip(ip))]) => Value::Bool(ip.is_link_local_unicast()),
        ("isGlobalUnicast", [Value::Kube(Kube::Ip(ip))]) => Value::Bool(ip.is_global_unicast()),
        ("cidr", [Value::String(text)]) => cidr(text).map_or_else(|error| error, |cidr| Value::Kube(Kube::Cidr(cidr))),
        ("isCIDR", [Value::String(text)]) => Value::Bool(Cidr::parse(text).is_ok()),
        ("ip", [Value::Kube(Kube::Cidr(cidr))]) => Value::Kube(Kube::Ip(cidr.addr)),
        ("prefixLength", [Value::Kube(Kube::Cidr(cidr))]) => Value::Int(i64::from(cidr.bits)),
        ("masked", [Value::Kube(Kube::Cidr(cidr))]) => Value::Kube(Kube::Cidr(cidr.masked())),
        ("containsIP", [Value::Kube(Kube::Cidr(cidr)), Value::Kube(Kube::Ip(ip))]) => Value::Bool(cidr.contains(*ip)),
        // An address that does not parse is reported as the wrong argument.
        ("containsIP", [Value::Kube(Kube::Cidr(cidr)), Value::String(text)]) => {
            Addr::parse(text).map_or_else(|_| Value::no_such_overload(), |ip| Value::Bool(cidr.contains(ip)))
        }
        ("containsCIDR", [Value::Kube(Kube::Cidr(a)), Value::Kube(Kube::Cidr(b))]) => {
            Value::Bool(a.contains_network(*b))
        }
        ("containsCIDR", [Value::Kube(Kube::Cidr(a)), Value::String(text)]) => {
            cidr(text).map_or_else(|error| error, |b| Value::Bool(a.contains_network(b)))
        }
        ("url", [Value::String(text)]) => match Url::parse_request_uri(text).and_then(|_| Url::parse(text)) {
            Ok(url) => Value::Kube(Kube::Url(Arc::new(url))),
            Err(error) => Value::error(format!("URL parse error during conversion from string: {error}")),
        },
        ("isURL", [Value::String(text)]) => Value::Bool(Url::parse_request_uri(text).is_ok()),
        ("getScheme", [Value::Kube(Kube::Url(url))]) => Value::text(url.scheme()),
        ("getHost", [Value::Kube(Kube::Url(url))]) => Value::text(url.host()),
        ("getHostname", [Value::Kube(Kube::Url(url))]) => Value::text(url.hostname()),
        ("getPort", [Value::Kube(Kube::Url(url))]) => Value::text(url.port()),
        ("getEscapedPath", [Value::Kube(Kube::Url(url))]) => Value::text(url.escaped_path()),
        ("getQuery", [Value::Kube(Kube::Url(url))]) => Value::map(
            url.query()
                .into_iter()
                .map(|(key, values)| (Value::text(key), Value::list(values.into_iter().map(Value::text).collect()))),
        ),
        ("semver", [Value::String(text), rest @ ..]) => {
            semver(text, rest).map_or_else(Value::error, |version| Value::Kube(Kube::Semver(Arc::new(version))))
        }
        ("isSemver", [Value::String(text), rest @ ..]) => Value::Bool(semver(text, rest).is_ok()),
        ("major", [Value::Kube(Kube::Semver(version))]) => Value::Int(version.major as i64),
        ("minor", [Value::Kube(Kube::Semver(version))]) => Value::Int(version.minor as i64),
        ("patch", [Value::Kube(Kube::Semver(version))]) => Value::Int(version.patch as i64),
        ("isGreaterThan", [Value::Kube(Kube::Semver(a)), Value::Kube(Kube::Semver(b))]) => {
            Value::Bool(a.cmp(b).is_gt())
        }
        ("isLessThan", [Value::Kube(Kube::Semver(a)), Value::Kube(Kube::Semver(b))]) => Value::Bool(a.cmp(b).is_lt()),
        ("compareTo", [Value::Kube(Kube::Semver(a)), Value::Kube(Kube::Semver(b))]) => Value::Int(a.cmp(b) as i64),
        ("format.named", [Value::String(name)]) => match Format::find(name) {
            Some(format) => Value::some(Value::Kube(Kube::Format(format))),
            None => Value::Optional(None),
        },
        ("validate", [Value::Kube(Kube::Format(format)), Value::String(text)]) => {
            let wrong = format.validate(text);
            if wrong.is_empty() {
                Value::Optional(None)
            } else {
                Value::some(Value::list(wrong.into_iter().map(Value::text).collect()))
            }
        }
        (name, []) => Value::Kube(Kube::Format(Format::find(name.strip_prefix("format.")?)?)),
        _ => return None,
    })
}

fn cidr<'a>(text: &str) -> Result<Cidr, Value<'a>> {
    Cidr::parse(text)
        .map_err(|error| Value::error(format!("network address parse error during conversion from string: {error}")))
}

fn semver(text: &str, rest: &[Value<'_>]) -> Result<Version, String> {
    if matches!(rest.first(), Some(Value::Bool(true))) { Version::parse_normalized(text) } else { Version::parse(text) }
}
