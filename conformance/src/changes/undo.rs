//! Undoes some changes of a new definition.

use kubeshape_diff::Change;
use kubeshape_schema::Code;
use serde_json::{Map, Value};

/// Members of a schema that describe inner values.
const INSIDE: [&str; 3] = ["properties", "items", "additionalProperties"];

/// Returns the new definition, with the parts of the old one at the paths of some changes.
pub(super) fn without(old: &Value, new: &Value, version: &str, changes: &[&Change]) -> Value {
    let mut out = new.clone();
    for change in changes {
        match change.code {
            Code::DiffNames => {
                for member in ["group", "names", "scope"] {
                    out["spec"][member] = old["spec"][member].clone();
                }
            }
            Code::DiffSubresource => {
                let was = of(old, version).map(|version| version["subresources"].clone()).unwrap_or_default();
                if let Some(version) = of_mut(&mut out, version) {
                    version["subresources"] = was;
                }
            }
            _ => undo(old, &mut out, version, change),
        }
    }
    out
}

fn of<'d>(definition: &'d Value, version: &str) -> Option<&'d Value> {
    definition["spec"]["versions"].as_array()?.iter().find(|one| one["name"] == version)
}

fn of_mut<'d>(definition: &'d mut Value, version: &str) -> Option<&'d mut Value> {
    definition["spec"]["versions"].as_array_mut()?.iter_mut().find(|one| one["name"] == version)
}

fn undo(old: &Value, out: &mut Value, version: &str, change: &Change) {
    let schema = |version: &Value| version["schema"]["openAPIV3Schema"].clone();
    let was = of(old, version).map(schema).unwrap_or_default();
    let Some(is) = of_mut(out, version).map(|version| &mut version["schema"]["openAPIV3Schema"]) else { return };
    let (before, after) = (pointer(&was, &change.path), pointer(is, &change.path));
    match (before, after) {
        (Some(before), Some(after)) => {
            let (Some(before), Some(after)) = (was.pointer(&before), is.pointer_mut(&after)) else { return };
            // If types differ, inner schemas are not compared.
            let types = |schema: &Value| (schema["type"].clone(), schema["x-kubernetes-int-or-string"] == true);
            let is_whole = types(before) != types(after) || !before.is_object() || !after.is_object();
            let keeps = matches!(change.code, Code::DiffKept | Code::DiffKeptWider | Code::DiffType);
            match (before.as_object(), after.as_object_mut()) {
                (Some(before), Some(after)) if !is_whole => {
                    let other = |name: &String| !INSIDE.contains(&name.as_str()) || keeps && name == INSIDE[2];
                    after.retain(|name, _| !other(name));
                    let kept = before.iter().filter(|(name, _)| other(name));
                    after.extend(kept.map(|(name, value)| (name.clone(), value.clone())));
                }
                _ => *after = before.clone(),
            }
        }
        // A field was removed, and one was added.
        (Some(place), None) => {
            let Some((parent, value)) = place.rsplit_once('/').zip(was.pointer(&place)) else { return };
            let name = parent.1.replace("~1", "/").replace("~0", "~");
            let object = parent.0.strip_suffix("/properties").and_then(|object| is.pointer_mut(object));
            if let Some(object) = object.and_then(Value::as_object_mut) {
                let properties = object.entry("properties").or_insert_with(|| Value::Object(Map::new()));
                properties[&name] = value.clone();
            }
        }
        (None, Some(place)) => {
            let Some((parent, name)) = place.rsplit_once('/') else { return };
            if let Some(members) = is.pointer_mut(parent).and_then(Value::as_object_mut) {
                members.remove(&name.replace("~1", "/").replace("~0", "~"));
            }
        }
        (None, None) => {}
    }
}

/// Returns the path of a field's schema within a schema, as a JSON pointer. Names may contain dots.
fn pointer(schema: &Value, path: &str) -> Option<String> {
    if path.is_empty() {
        return Some(String::new());
    }
    let below = |member: &str, rest: &str| {
        let inner = schema.get(member).filter(|inner| inner.is_object())?;
        Some(format!("/{member}{}", pointer(inner, rest)?))
    };
    if let Some(rest) = path.strip_prefix("[]") {
        return below("items", rest);
    }
    let path = path.strip_prefix('.').unwrap_or(path);
    let is_end = |rest: &str| rest.is_empty() || rest.starts_with(['.', '[']);
    for (name, inner) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        if let Some(rest) = path.strip_prefix(name.as_str()).filter(|rest| is_end(rest))
            && let Some(found) = pointer(inner, rest)
        {
            return Some(format!("/properties/{}{found}", name.replace('~', "~0").replace('/', "~1")));
        }
    }
    path.strip_prefix('*').filter(|rest| is_end(rest)).and_then(|rest| below("additionalProperties", rest))
}
