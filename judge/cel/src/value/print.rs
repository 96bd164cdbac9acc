//! Prints values like Go's `%v`, and numbers like Go.

use super::{List, Map, Value};
use kubeshape_yaml::go::escape::GoQuoted;
use kubeshape_yaml::go::number::General;

/// Prints a double like Go's `%g`.
pub(crate) fn double(value: f64) -> String {
    General(value).to_string()
}

/// A list or map of more bytes is cut in messages: it can contain one value any number of times.
const MAX_SHOWN: usize = 1 << 20;

/// Prints a value like Go's `%v`.
pub(crate) fn plain(value: &Value<'_>) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

fn write(value: &Value<'_>, out: &mut String) {
    match value {
        Value::Null => out.push('0'),
        Value::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Value::Int(i) => out.push_str(&i.to_string()),
        Value::Uint(u) => out.push_str(&u.to_string()),
        Value::Double(d) => out.push_str(&double(*d)),
        Value::String(text) => out.push_str(text),
        Value::Bytes(bytes) => {
            let bytes: Vec<String> = bytes.iter().map(u8::to_string).collect();
            out.push('[');
            out.push_str(&bytes.join(" "));
            out.push(']');
        }
        Value::Duration(nanos) => out.push_str(&super::time::go_duration(*nanos)),
        Value::Timestamp(at) => out.push_str(&at.go()),
        Value::Type(ty) => out.push_str(&ty.to_string()),
        Value::List(list) => {
            out.push('[');
            for (i, item) in list.iter().enumerate() {
                if out.len() >= MAX_SHOWN {
                    break;
                }
                out.push_str(if i > 0 { ", " } else { "" });
                write(&item, out);
            }
            out.push(']');
        }
        Value::Map(map) => {
            out.push('{');
            for (i, (key, value)) in map.iter().enumerate() {
                if out.len() >= MAX_SHOWN {
                    break;
                }
                out.push_str(if i > 0 { ", " } else { "" });
                write(&key, out);
                out.push_str(": ");
                write(&value, out);
            }
            out.push('}');
        }
        Value::Optional(Some(inner)) => {
            out.push_str("optional(");
            write(inner, out);
            out.push(')');
        }
        Value::Optional(None) => out.push_str("optional.none()"),
        Value::Kube(kube) => out.push_str(&kube.to_string()),
        Value::Object(object) => out.push_str(object.name()),
        Value::Error(message) => out.push_str(message),
    }
}

/// Returns the Go type in which upstream stores the value.
pub(crate) fn go_type(value: &Value<'_>) -> &'static str {
    match value {
        Value::Null => "types.Null",
        Value::Bool(_) => "types.Bool",
        Value::Int(_) => "types.Int",
        Value::Uint(_) => "types.Uint",
        Value::Double(_) => "types.Double",
        Value::String(_) => "types.String",
        Value::Bytes(_) => "types.Bytes",
        Value::Duration(_) => "types.Duration",
        Value::Timestamp(_) => "types.Timestamp",
        Value::Type(_) => "*types.Type",
        Value::List(List::Typed(typed, _)) => typed.go_type_of_list(),
        Value::List(List::Added(_) | List::Parts(_)) => "*types.concatList",
        Value::List(_) => "*types.baseList",
        Value::Map(Map::Typed(..)) => "*common.unstructuredMap",
        Value::Map(_) => "*types.baseMap",
        Value::Optional(_) => "*types.Optional",
        Value::Kube(kube) => kube.go_type(),
        Value::Object(object) if object.name() == super::object::JSON_PATCH => "*mutation.JSONPatchVal",
        Value::Object(_) => "*dynamic.ObjectVal",
        Value::Error(_) => "*types.Err",
    }
}

/// Prints a string like Go's `%q`.
pub(crate) fn quoted(text: &str) -> String {
    GoQuoted(text).to_string()
}
