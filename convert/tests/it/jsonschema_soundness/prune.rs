//! Pruning of JSON by the API server's rules (`k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning`).

use serde_json::{Map, Value};

/// Returns the object as the server would store it.
pub(crate) fn pruned(schema: &Value, value: &Value) -> Value {
    let mut root = schema.clone();
    if let Some(members) = root.as_object_mut() {
        members.insert("x-kubernetes-embedded-resource".to_owned(), Value::Bool(true));
    }
    let mut value = value.clone();
    prune(&mut value, Some(&root));
    value
}

fn on(schema: &Value, name: &str) -> bool {
    schema[name] == true
}

fn prune(value: &mut Value, schema: Option<&Value>) {
    match schema {
        Some(s) if on(s, "x-kubernetes-preserve-unknown-fields") => fields(value, schema, true),
        _ => fields(value, schema, false),
    }
}

fn fields(value: &mut Value, schema: Option<&Value>, preserving: bool) {
    match (value, schema) {
        (Value::Object(members), Some(schema)) => {
            let names: Vec<String> = members.keys().cloned().collect();
            for name in names {
                let own = on(schema, "x-kubernetes-embedded-resource")
                    && matches!(name.as_str(), "apiVersion" | "kind" | "metadata");
                let additional = schema.get("additionalProperties");
                let Some(inner) = members.get_mut(&name).filter(|_| !own) else { continue };
                if let Some(property) = schema["properties"].get(&name) {
                    prune(inner, Some(property));
                } else if let Some(additional) = additional {
                    prune(inner, Some(additional).filter(|a| a.is_object()));
                } else if !preserving {
                    members.remove(&name);
                }
            }
        }
        (Value::Object(_), None) if preserving => {}
        (Value::Object(members), None) => *members = Map::new(),
        (Value::Array(items), schema) => {
            let inner = schema.and_then(|s| s.get("items"));
            for item in items {
                if !preserving {
                    prune(item, inner);
                } else if inner.is_some() {
                    fields(item, inner, true);
                }
            }
        }
        _ => {}
    }
}

/// Pointers to all objects of a value.
pub(crate) fn objects(value: &Value) -> Vec<String> {
    let mut out = Vec::new();
    collect(value, "", &mut out);
    out
}

fn collect(value: &Value, path: &str, out: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            out.push(path.to_owned());
            for (name, inner) in members {
                collect(inner, &format!("{path}/{}", name.replace('~', "~0").replace('/', "~1")), out);
            }
        }
        Value::Array(items) => {
            for (i, inner) in items.iter().enumerate() {
                collect(inner, &format!("{path}/{i}"), out);
            }
        }
        _ => {}
    }
}
