//! How far two OpenAPI v3 documents are from each other: the number of JSON leaves in which their schemas,
//! parameters, bodies and responses differ.

use serde_json::Value;
use std::collections::BTreeMap;

/// The leaves of what is compared, by place. Empty lists and objects are leaves too. Parameters go by where
/// they are and their names, because their order means nothing.
pub fn leaves(document: &Value) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    for section in ["schemas", "parameters", "requestBodies", "responses"] {
        if let Some(section_value) = document.pointer(&format!("/components/{section}")).and_then(Value::as_object) {
            for (name, value) in section_value {
                add(value, &format!("components/{section}/{name}"), &mut out);
            }
        }
    }
    for (path, item) in document.get("paths").and_then(Value::as_object).into_iter().flatten() {
        parameters(item, &format!("paths/{path}"), &mut out);
        for (method, operation) in item.as_object().into_iter().flatten() {
            let at = format!("paths/{path}/{method}");
            parameters(operation, &at, &mut out);
            for member in ["requestBody", "responses"] {
                if let Some(value) = operation.get(member) {
                    add(value, &format!("{at}/{member}"), &mut out);
                }
            }
        }
    }
    out
}

fn parameters(holder: &Value, at: &str, out: &mut BTreeMap<String, String>) {
    for parameter in holder.get("parameters").and_then(Value::as_array).into_iter().flatten() {
        let text = |member| parameter.get(member).and_then(Value::as_str).unwrap_or_default();
        add(parameter, &format!("{at}/parameters/{}{} {}", text("$ref"), text("in"), text("name")), out);
    }
}

fn add(value: &Value, at: &str, out: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (name, value) in members {
                // What is so anyway.
                let implied = name == "required" && *value == Value::Bool(false);
                if !implied {
                    add(value, &format!("{at}/{name}"), out);
                }
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (i, item) in items.iter().enumerate() {
                add(item, &format!("{at}/{i}"), out);
            }
        }
        Value::Number(number) => {
            out.insert(at.to_owned(), number.as_f64().unwrap_or_default().to_string());
        }
        leaf => {
            out.insert(at.to_owned(), leaf.to_string());
        }
    }
}

/// The places at which two documents differ.
pub fn differences<'l>(ours: &'l BTreeMap<String, String>, theirs: &'l BTreeMap<String, String>) -> Vec<&'l str> {
    let mut out: Vec<&str> = ours
        .iter()
        .filter(|(at, value)| theirs.get(*at) != Some(value))
        .map(|(at, _)| at.as_str())
        .chain(theirs.keys().filter(|at| !ours.contains_key(*at)).map(String::as_str))
        .collect();
    out.sort_unstable();
    out
}

/// Leaves of a document only the paths and components that another has.
pub fn cut(document: &mut Value, like: &Value) {
    let keep = |document: &mut Value, pointer: &str| {
        let names = like.pointer(pointer).and_then(Value::as_object);
        if let Some(members) = document.pointer_mut(pointer).and_then(Value::as_object_mut) {
            members.retain(|name, _| names.is_some_and(|names| names.contains_key(name)));
        }
    };
    keep(document, "/paths");
    for section in ["schemas", "parameters", "requestBodies", "responses"] {
        keep(document, &format!("/components/{section}"));
    }
}
