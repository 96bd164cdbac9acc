//! Removes the descriptions of a document.

use crate::Result;
use serde_json::{Map, Value};

/// Members that map names: a `description` in them is an entry with that name.
const NAMED: [&str; 5] = ["properties", "definitions", "schemas", "parameters", "paths"];

/// Returns a document without descriptions. Responses keep theirs, because OpenAPI requires them. It is the reason
/// phrase of the status code.
///
/// # Errors
/// The description of a response is not its reason phrase.
pub(crate) fn of(value: &Value) -> Result<Value> {
    Ok(match value {
        Value::Object(members) => {
            let mut out = Map::new();
            for (name, member) in members {
                match (name.as_str(), member) {
                    ("description", Value::String(_)) => {}
                    ("responses", Value::Object(responses)) => {
                        out.insert(name.clone(), Value::Object(named(responses, response)?));
                    }
                    (name, Value::Object(members)) if NAMED.contains(&name) => {
                        out.insert(name.to_owned(), Value::Object(named(members, of)?));
                    }
                    // These contain values, not schemas.
                    ("default" | "enum" | "example", value) => {
                        out.insert(name.clone(), value.clone());
                    }
                    (_, member) => {
                        out.insert(name.clone(), of(member)?);
                    }
                }
            }
            Value::Object(out)
        }
        Value::Array(items) => Value::Array(items.iter().map(of).collect::<Result<_>>()?),
        other => other.clone(),
    })
}

fn named(members: &Map<String, Value>, of: impl Fn(&Value) -> Result<Value>) -> Result<Map<String, Value>> {
    members.iter().map(|(name, member)| Ok((name.clone(), of(member)?))).collect()
}

fn response(response: &Value) -> Result<Value> {
    let mut out = of(response)?;
    if let (Some(phrase), Some(members)) = (response.get("description"), out.as_object_mut()) {
        let is_phrase = phrase.as_str().is_some_and(|text| text.bytes().all(|byte| byte.is_ascii_alphabetic()));
        if !is_phrase {
            return Err(format!("the description of a response is no reason phrase of HTTP: {phrase}").into());
        }
        members.insert("description".to_owned(), phrase.clone());
    }
    Ok(out)
}
