//! Values in messages, as Go's `%v` prints them, and numbers as Go prints them.

use super::Value;
use kubeshape_yaml::go::escape::GoQuoted;

/// A double as Go's `%g` prints it.
pub(crate) fn double(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "+Inf".to_owned() } else { "-Inf".to_owned() };
    }
    let shortest = format!("{value:e}");
    let Some((digits, exponent)) = shortest.split_once('e') else { return shortest };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if !(-4..6).contains(&exponent) {
        return format!("{digits}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs());
    }
    format!("{value}")
}

/// A value as Go's `%v` prints it.
pub(crate) fn plain(value: &Value<'_>) -> String {
    match value {
        Value::Null => "0".to_owned(),
        Value::Bool(b) => b.to_string(),
        Value::Int(i) => i.to_string(),
        Value::Uint(u) => u.to_string(),
        Value::Double(d) => double(*d),
        Value::String(text) => text.to_string(),
        Value::Bytes(bytes) => {
            let bytes: Vec<String> = bytes.iter().map(u8::to_string).collect();
            format!("[{}]", bytes.join(" "))
        }
        Value::Duration(nanos) => super::time::go_duration(*nanos),
        Value::Timestamp(at) => at.go(),
        Value::Type(ty) => ty.to_string(),
        Value::List(list) => {
            let items: Vec<String> = list.iter().map(|item| plain(&item)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Map(map) => {
            let entries: Vec<String> =
                map.iter().map(|(key, value)| format!("{}: {}", plain(&key), plain(&value))).collect();
            format!("{{{}}}", entries.join(", "))
        }
        Value::Optional(Some(inner)) => format!("optional({})", plain(inner)),
        Value::Optional(None) => "optional.none()".to_owned(),
        Value::Kube(kube) => kube.to_string(),
        Value::Error(message) => message.to_string(),
    }
}

/// The name of the Go type that upstream holds the value in.
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
        Value::List(_) => "*types.baseList",
        Value::Map(_) => "*types.baseMap",
        Value::Optional(_) => "*types.Optional",
        Value::Kube(kube) => kube.go_type(),
        Value::Error(_) => "*types.Err",
    }
}

/// A text as Go's `%q` prints it.
pub(crate) fn quoted(text: &str) -> String {
    GoQuoted(text).to_string()
}
