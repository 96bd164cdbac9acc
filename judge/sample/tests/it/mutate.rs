//! Objects that differ from a valid one in a few places.

use kubeshape_corpus::generate::Draw;
use serde_json::{Map, Value, json};

/// Fields that are not part of the schema of a kind.
const KEPT: [&str; 4] = ["apiVersion", "kind", "metadata", "status"];

/// Changes one to three places below the fields of the object that its schema describes.
pub(crate) fn mutated(object: &Value, draw: &mut Draw) -> Value {
    let mut out = object.clone();
    for _ in 0..=draw.below(3) {
        let places = places(&out);
        let Some(place) = places.get(draw.below(places.len().max(1))) else { return out };
        if let Some(value) = out.pointer_mut(place) {
            change(value, place.is_empty(), draw);
        }
    }
    out
}

/// Returns the pointers to all values that may change.
fn places(object: &Value) -> Vec<String> {
    let mut out = vec![String::new()];
    let mut at = 0;
    while let Some(pointer) = out.get(at).cloned() {
        at += 1;
        let escaped = |name: &String| name.replace('~', "~0").replace('/', "~1");
        match object.pointer(&pointer) {
            Some(Value::Object(fields)) => {
                let inner = fields.keys().filter(|name| !pointer.is_empty() || !KEPT.contains(&name.as_str()));
                out.extend(inner.map(|name| format!("{pointer}/{}", escaped(name))));
            }
            Some(Value::Array(items)) => out.extend((0..items.len()).map(|n| format!("{pointer}/{n}"))),
            _ => {}
        }
    }
    out
}

fn change(value: &mut Value, is_root: bool, draw: &mut Draw) {
    match value {
        Value::Object(fields) if is_root || draw.percent(60) => change_fields(fields, is_root, draw),
        _ if draw.percent(15) => *value = Value::Null,
        _ if draw.percent(20) => {
            let others = [json!("x"), json!(""), json!(1), json!(-1), json!(1.5), json!(true), json!([]), json!({})];
            *value = draw.pick(&others).clone();
        }
        Value::Array(items) => match draw.below(4) {
            0 => items.clear(),
            1 => drop(items.pop()),
            2 => items.extend(items.first().cloned()),
            _ => items.push(Value::Null),
        },
        Value::String(text) => match draw.below(5) {
            0 => text.clear(),
            1 => text.push('!'),
            2 => *text = text.repeat(40),
            3 => text.make_ascii_uppercase(),
            _ => "2030-01-01T00:00:00Z".clone_into(text),
        },
        Value::Number(number) => {
            let n = number.as_i64().unwrap_or(2);
            *value = draw.pick(&[json!(n + 1), json!(n - 1), json!(0), json!(3_000_000_000_i64), json!(0.25)]).clone();
        }
        Value::Bool(yes) => *yes = !*yes,
        Value::Object(_) | Value::Null => *value = json!({}),
    }
}

fn change_fields(fields: &mut Map<String, Value>, is_root: bool, draw: &mut Draw) {
    let names: Vec<String> = fields.keys().filter(|name| !is_root || !KEPT.contains(&name.as_str())).cloned().collect();
    match (draw.below(3), names.get(draw.below(names.len().max(1)))) {
        (0, Some(name)) => drop(fields.remove(name)),
        (1, Some(name)) => drop(fields.insert(name.clone(), Value::Null)),
        _ => drop(fields.insert("unknown".to_owned(), json!("value"))),
    }
}
