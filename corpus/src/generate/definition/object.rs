//! Objects for schemas, most of them valid.

use super::{TEXTS, number};
use crate::generate::Draw;
use serde_json::{Map, Value, json};

/// Returns a value for a schema. In `wrong` of 20 places, it is invalid.
pub(super) fn value(draw: &mut Draw, schema: &Value, wrong: usize) -> Value {
    if draw.below(20) < wrong {
        return match draw.below(5) {
            0 => Value::Null,
            1 => number(draw),
            2 => json!(draw.text(TEXTS)),
            3 => json!({"other": 1, "a": {"b": null}}),
            _ => json!([1, "a", 1]),
        };
    }
    if let Some(options) = schema.get("enum").and_then(Value::as_array).filter(|options| !options.is_empty()) {
        return draw.pick(options).clone();
    }
    if schema.get("x-kubernetes-int-or-string") == Some(&json!(true)) {
        return if draw.percent(50) { json!(draw.below(100)) } else { json!(draw.text(TEXTS)) };
    }
    if schema.get("x-kubernetes-embedded-resource") == Some(&json!(true)) {
        let names = [
            json!({"name": "a"}),
            json!({"name": "A_b", "labels": {"x": "y"}}),
            json!({"namespace": "n", "other": 1}),
            json!(null),
            json!({"name": 1}),
        ];
        let mut out =
            json!({"apiVersion": draw.text(&["v1", "apps/v1", "a/b/c"]), "kind": draw.text(&["Pod", "ConfigMap", ""])});
        if draw.percent(70) {
            out["metadata"] = draw.pick(&names).clone();
        }
        if draw.percent(50) {
            out["spec"] = json!({"n": 5});
        }
        return out;
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("string") => {
            let fitting: &[&str] = match schema.get("format").and_then(Value::as_str) {
                Some("date-time") => &["2009-02-13T23:31:30Z", "1970-01-01T00:00:00.5+02:00", "2000-02-29T24:00:00Z"],
                Some("duration") => &["1h", "90s", "1.5h", "-1m"],
                Some("byte") => &["YQ==", "", "/wA="],
                Some("date") => &["2000-01-01", "2009-02-13"],
                _ => TEXTS,
            };
            json!(draw.text(fitting))
        }
        Some("integer") => json!(draw.pick(&[0, 1, 2, 5, 7, 10, -1, 100, i64::MAX, 2_147_483_648])),
        Some("number") => number(draw),
        Some("boolean") => json!(draw.percent(50)),
        Some("array") => {
            let items = schema.get("items").unwrap_or(&Value::Null);
            (0..draw.below(4)).map(|_| value(draw, items, wrong)).collect()
        }
        Some("object") => {
            let mut out = Map::new();
            for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
                let required =
                    schema.get("required").and_then(Value::as_array).is_some_and(|names| names.contains(&json!(name)));
                if draw.percent(if required { 96 } else { 75 }) {
                    out.insert(name.clone(), value(draw, property, wrong));
                }
            }
            if let Some(values) = schema.get("additionalProperties") {
                for key in ["k", "a", "a-b", ""].iter().take(draw.below(4)) {
                    out.insert((*key).to_owned(), value(draw, values, wrong));
                }
            }
            if draw.below(20) < wrong {
                out.insert(draw.text(&["unknown", "a", "name"]).to_owned(), json!({"b": [1, null]}));
            }
            Value::Object(out)
        }
        _ => draw
            .pick(&[json!({"any": [1, null, {"x": 1.5}]}), json!(1), json!("text"), json!(null), json!([{}])])
            .clone(),
    }
}

/// Returns an object of the first version of a definition.
pub fn custom_resource(draw: &mut Draw, definition: &Value) -> Value {
    let wrong = *draw.pick(&[0, 0, 1, 2]);
    custom_resource_with(draw, definition, wrong)
}

/// Returns an object of the first version of a definition with many invalid values.
pub fn spoiled_resource(draw: &mut Draw, definition: &Value) -> Value {
    custom_resource_with(draw, definition, 5)
}

fn custom_resource_with(draw: &mut Draw, definition: &Value, wrong: usize) -> Value {
    let schema = &definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    let mut object = match value(draw, schema, 0) {
        Value::Object(members) => members,
        _ => Map::new(),
    };
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        if wrong > 0 && draw.percent(40) {
            object.insert(name.clone(), value(draw, property, wrong));
        }
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let group = text(&definition["spec"]["group"]);
    let version = text(&definition["spec"]["versions"][0]["name"]);
    object.insert("apiVersion".to_owned(), json!(format!("{group}/{version}")));
    object.insert("kind".to_owned(), definition["spec"]["names"]["kind"].clone());
    let usual = json!({"name": "a", "namespace": "default"});
    let odd = [
        json!({"name": "a", "namespace": "default", "labels": {"a": "b"}, "annotations": {"x": ""}}),
        json!({"generateName": "a-", "namespace": "default"}),
        json!({"name": "A b", "namespace": "default", "finalizers": ["x"]}),
        json!({"name": "a", "namespace": "default", "unknown": 1, "labels": null}),
        json!({"name": "a", "namespace": "default", "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u", "x": 1}]}),
        json!({"name": "a", "namespace": "default", "labels": {"a": 1}}),
    ];
    let metadata = if draw.percent(80) { usual } else { draw.pick(&odd).clone() };
    object.insert("metadata".to_owned(), metadata);
    Value::Object(object)
}

/// Returns the object with one field changed.
pub fn updated(draw: &mut Draw, object: &Value, definition: &Value) -> Value {
    let mut changed = object.clone();
    let other = custom_resource(draw, definition);
    let names: Vec<&String> = other
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, _)| name)
        .filter(|name| !["kind", "apiVersion", "metadata"].contains(&name.as_str()))
        .collect();
    if !names.is_empty() {
        let name = *draw.pick(&names);
        changed[name] = other[name].clone();
    }
    changed
}
