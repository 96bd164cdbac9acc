//! What calls cost when they run.

use crate::cost::is_flat;
use crate::library::Kube;
use crate::value::{List, Value};

/// A tenth of the length: what going through a string costs.
#[allow(clippy::cast_precision_loss, clippy::cast_sign_loss)]
pub(crate) fn traverse(size: u64, factor: f64) -> u64 {
    (size as f64 * factor).ceil() as u64
}

pub(crate) const STRING_FACTOR: f64 = 0.1;
const REGEX_FACTOR: f64 = 0.25;

fn size(value: &Value<'_>) -> u64 {
    value.size().unwrap_or(1)
}

/// As [`size`], but of what an optional holds.
fn inner_size(value: &Value<'_>) -> u64 {
    match value {
        Value::Optional(Some(inner)) => inner_size(inner),
        other => size(other),
    }
}

fn regex(text: u64, pattern: u64) -> u64 {
    #[allow(clippy::cast_precision_loss, clippy::cast_sign_loss)]
    let text = ((1.0 + text as f64) * STRING_FACTOR).ceil() as u64;
    text * traverse(pattern, REGEX_FACTOR)
}

#[allow(clippy::cast_precision_loss, clippy::cast_sign_loss)]
fn full_traversal(value: &Value<'_>) -> u64 {
    match value {
        Value::String(text) => (text.len() as f64 * STRING_FACTOR) as u64,
        Value::Bytes(bytes) => (bytes.len() as f64 * STRING_FACTOR) as u64,
        Value::List(list) => list.iter().map(|item| full_traversal(&item)).sum(),
        Value::Map(map) => map.iter().map(|(key, value)| full_traversal(&key) + full_traversal(&value)).sum(),
        _ => 1,
    }
}

#[allow(clippy::cast_precision_loss, clippy::cast_sign_loss)]
fn list_call(size: u64, factor: f64) -> u64 {
    let cost = size as f64 * factor;
    // Upstream converts a negative cost to a huge one.
    let cost = if cost < 0.0 { cost as i64 as u64 } else { cost as u64 };
    cost.wrapping_add(11)
}

/// What upstream's cost of sorting does to a value that is no list: the whole evaluation fails.
fn self_compare(list: &Value<'_>) -> Result<u64, String> {
    if !matches!(list, Value::List(_)) {
        let method = match list {
            Value::Int(_)
            | Value::Uint(_)
            | Value::Double(_)
            | Value::String(_)
            | Value::Bytes(_)
            | Value::Duration(_)
            | Value::Timestamp(_) => "Contains",
            _ => "Add",
        };
        let ty = crate::value::print::go_type(list);
        return Err(format!(
            "internal error: interface conversion: {ty} is not traits.Lister: missing method {method}"
        ));
    }
    let size = size(list);
    let text = matches!(list, Value::List(list) if matches!(first(list), Some(Value::String(_) | Value::Bytes(_))));
    Ok(list_call(size.saturating_mul(size), if text { 2.1 } else { 2.0 }))
}

fn first<'a>(list: &List<'a>) -> Option<Value<'a>> {
    list.get(0)
}

/// Whether the cost of a call depends on its result. All others are charged before they run, so that one that costs too much
/// does not run.
pub(crate) fn needs_result(function: &str, overload: &str) -> bool {
    function == "join" || matches!(overload, "list_slice" | "lists_range" | "list_reverse")
}

/// Whether the cost of a call follows from everything that its receiver holds.
pub(crate) fn goes_through(function: &str) -> bool {
    matches!(function, "isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf")
}

/// The cost of a call whose arguments are known, and its result if [`needs_result`] says so.
pub(crate) fn call(function: &str, overload: &str, args: &[Value<'_>], result: &Value<'_>) -> Result<u64, String> {
    match overload {
        "list_sets_contains_list" | "list_sets_intersects_list" => return Ok(1 + size(&args[0]) * size(&args[1])),
        "list_sets_equivalent_list" => return Ok(1 + size(&args[0]) * size(&args[1]) * 2),
        "list_slice" | "lists_range" | "list_reverse" => return Ok(list_call(size(result), 1.0)),
        "list_flatten" => return Ok(list_call(size(&args[0]), 1.0)),
        #[allow(clippy::cast_precision_loss)]
        "list_flatten_int" => {
            let Value::Int(depth) = args[1] else {
                let ty = crate::value::print::go_type(&args[1]);
                return Err(format!("internal error: interface conversion: ref.Val is {ty}, not types.Int"));
            };
            return Ok(list_call(size(&args[0]), depth as f64));
        }
        "list_distinct" => return self_compare(&args[0]),
        other if other.starts_with("list_") && other.ends_with("_sort") => return self_compare(&args[0]),
        other if other.ends_with("_sortByAssociatedKeys") => return self_compare(&args[1]),
        _ => {}
    }
    let text = |index: usize, factor: f64| args.get(index).map(|arg| traverse(size(arg), factor));
    let kubernetes = match function {
        name if goes_through(name) => Some(args.first().map_or(0, full_traversal)),
        "ip" if overload == "cidr_ip" => Some(1),
        "url" | "lowerAscii" | "upperAscii" | "substring" | "trim" | "cidr" | "isIP" | "isCIDR" | "quantity"
        | "isQuantity" | "semver" | "isSemver" | "ip" => text(0, STRING_FACTOR),
        "replace" | "split" | "ip.isCanonical" => text(0, 2.0 * STRING_FACTOR),
        "join" => Some(traverse(size(result), 2.0 * STRING_FACTOR)),
        "find" | "findAll" if args.len() >= 2 => Some(regex(size(&args[0]), size(&args[1]))),
        name if is_flat(name) => Some(1),
        "check" => Some(350_000),
        "containsIP" if args.len() >= 2 => {
            let cost = traverse(size(&args[0]) * 2, STRING_FACTOR);
            let other = if overload == "cidr_contains_ip_string" { text(1, STRING_FACTOR) } else { None };
            Some(cost + other.unwrap_or(0))
        }
        "containsCIDR" if args.len() >= 2 => {
            let own = size(&args[0]);
            let cost = traverse(own * 2, STRING_FACTOR) + traverse(own, STRING_FACTOR) + 1;
            let other = if overload == "cidr_contains_cidr_string" { text(1, STRING_FACTOR) } else { None };
            Some(cost + other.unwrap_or(0))
        }
        "validate" => match args {
            [Value::Kube(Kube::Format(format)), value] => Some(regex(size(value), format.regex_size)),
            _ => None,
        },
        "_==_" if matches!(args.first(), Some(Value::Kube(_))) => Some(1),
        _ => None,
    };
    if let Some(cost) = kubernetes {
        return Ok(cost);
    }
    Ok(match overload {
        "starts_with_string" | "ends_with_string" | "string_to_bytes" | "bytes_to_string" | "strings_quote"
        | "string_format" => traverse(inner_size(&args[0]), STRING_FACTOR),
        "in_list" => inner_size(&args[1]),
        "less_string"
        | "greater_string"
        | "less_equals_string"
        | "greater_equals_string"
        | "less_bytes"
        | "greater_bytes"
        | "less_equals_bytes"
        | "greater_equals_bytes"
        | "equals"
        | "not_equals" => traverse(inner_size(&args[0]).min(inner_size(&args[1])), STRING_FACTOR),
        "add_string" | "add_bytes" => traverse(inner_size(&args[0]) + inner_size(&args[1]), STRING_FACTOR),
        "matches_string" => regex(inner_size(&args[0]), inner_size(&args[1])),
        "contains_string" => {
            traverse(inner_size(&args[0]), STRING_FACTOR) * traverse(inner_size(&args[1]), STRING_FACTOR)
        }
        _ => 1,
    })
}
