//! Calls of upstream's `value` package.

use crate::Verdict;
use kubeshape_smd::value::Compat;
use kubeshape_smd::{Bump, ToValue as _, Value};
use serde_json::Value as Json;
use std::cmp::Ordering;

/// Replays one call.
pub fn compare(kind: &str, record: &Json) -> Verdict {
    let arena = Bump::new();
    let pair = || (value_of(record, "lhs", &arena), value_of(record, "rhs", &arena));
    match kind {
        "value.fromJSON" => from_json(record, &arena),
        "value.equals" => {
            let (lhs, rhs) = pair();
            Verdict::of("equal", &record["equal"].as_bool(), &Some(lhs == rhs))
        }
        "value.compare" => {
            let (lhs, rhs) = pair();
            let order = match lhs.cmp(&rhs) {
                Ordering::Less => -1,
                Ordering::Equal => 0,
                Ordering::Greater => 1,
            };
            Verdict::of("order", &record["order"].as_i64(), &Some(order))
        }
        _ => Verdict::Missing(format!("unknown kind {kind:?}")),
    }
}

/// Returns a value whose number has the recorded kind.
fn value_of<'a>(record: &'a Json, name: &str, arena: &'a Bump) -> Value<'a> {
    let json = &record[name];
    match (record[format!("{name}Kind").as_str()].as_str(), json.as_f64()) {
        (Some("float"), Some(n)) => Value::Float(n),
        _ => json.to_value(arena),
    }
}

fn from_json(record: &Json, arena: &Bump) -> Verdict {
    let read = Value::read_json(record["input"].as_str().unwrap_or_default(), arena, Compat::V64);
    let value = match (read, record["error"].as_str()) {
        (Ok(value), None) => value,
        (Err(_), Some(_)) => return Verdict::Equal,
        (Ok(value), Some(error)) => return Verdict::Differing(format!("expected {error}, found {value}")),
        (Err(error), None) => return Verdict::Differing(format!("unexpected error: {error}")),
    };
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Int(_) => "int",
        Value::Float(_) => "float",
        Value::String(_) => "string",
        Value::List(_) => "list",
        Value::Map(_) => "map",
    };
    Verdict::of("kind", &record["valueKind"].as_str(), &Some(kind))
        .and(|| Verdict::of("value", &record["value"].to_value(arena), &value))
        .and(|| Verdict::of("text", &record["string"].as_str(), &Some(value.to_string().as_str())))
}
