//! The distance of two OpenAPI v3 documents: the number of JSON leaves in which their schemas, parameters, bodies and
//! responses differ.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The sections of components that are compared.
const SECTIONS: [&str; 4] = ["schemas", "parameters", "requestBodies", "responses"];

/// Returns the leaves of the compared parts, by location. Empty lists and objects are leaves, too; nulls are not.
/// Parameters are identified by their location and name, because their order has no meaning.
///
/// References to components that `other` does not have by that name are followed, so that it makes no difference which
/// of the two documents names a part.
pub(crate) fn leaves(document: &Value, other: &Value) -> BTreeMap<String, String> {
    let mut leaves = Leaves { document, other, out: BTreeMap::new(), followed: Vec::new(), used: BTreeSet::new() };
    for (path, item) in document.get("paths").and_then(Value::as_object).into_iter().flatten() {
        leaves.parameters(item, &format!("paths/{path}"));
        for (method, operation) in item.as_object().into_iter().flatten() {
            let at = format!("paths/{path}/{method}");
            leaves.parameters(operation, &at);
            for member in ["requestBody", "responses"] {
                if let Some(value) = operation.get(member) {
                    leaves.add(value, &format!("{at}/{member}"));
                }
            }
        }
    }
    // A component that only this document has is counted here, unless it has been counted where it is used.
    for shared in [true, false] {
        for section in SECTIONS {
            let pointer = format!("/components/{section}");
            for (name, value) in document.pointer(&pointer).and_then(Value::as_object).into_iter().flatten() {
                let place = format!("#/components/{section}/{name}");
                if leaves.is_shared(&place) == shared && !leaves.used.contains(&place) {
                    leaves.add(value, &place[2..]);
                }
            }
        }
    }
    leaves.out
}

struct Leaves<'d> {
    document: &'d Value,
    other: &'d Value,
    out: BTreeMap<String, String>,
    /// References that are being followed.
    followed: Vec<&'d str>,
    /// References that have been followed.
    used: BTreeSet<String>,
}

impl<'d> Leaves<'d> {
    fn is_shared(&self, reference: &str) -> bool {
        let in_section = |name: &str| name.matches('/').count() == 2;
        reference.strip_prefix("#/").is_some_and(|name| in_section(name) && name.starts_with("components/"))
            && self.other.pointer(&reference[1..]).is_some()
    }

    fn parameters(&mut self, holder: &'d Value, at: &str) {
        for parameter in holder.get("parameters").and_then(Value::as_array).into_iter().flatten() {
            let text = |member| parameter.get(member).and_then(Value::as_str).unwrap_or_default();
            self.add(parameter, &format!("{at}/parameters/{}{} {}", text("$ref"), text("in"), text("name")));
        }
    }

    fn add(&mut self, value: &'d Value, at: &str) {
        if let Some(reference) = value.get("$ref").and_then(Value::as_str)
            && !self.is_shared(reference)
            && !self.followed.contains(&reference)
            && let Some(target) = reference.strip_prefix('#').and_then(|pointer| self.document.pointer(pointer))
        {
            self.followed.push(reference);
            self.add(target, at);
            self.followed.pop();
            self.used.insert(reference.to_owned());
            return;
        }
        match value {
            Value::Object(members) if members.values().any(|value| !value.is_null()) => {
                for (name, value) in members {
                    // `required: false` is the default.
                    let implied = name == "required" && *value == Value::Bool(false);
                    if !implied && !value.is_null() {
                        self.add(value, &format!("{at}/{name}"));
                    }
                }
            }
            Value::Object(_) => {
                self.out.insert(at.to_owned(), "{}".to_owned());
            }
            Value::Array(items) if !items.is_empty() => {
                for (i, item) in items.iter().enumerate() {
                    self.add(item, &format!("{at}/{i}"));
                }
            }
            Value::Number(number) => {
                self.out.insert(at.to_owned(), number.as_f64().unwrap_or_default().to_string());
            }
            leaf => {
                self.out.insert(at.to_owned(), leaf.to_string());
            }
        }
    }
}

/// Returns the locations where two documents differ.
pub(crate) fn differences<'l>(
    ours: &'l BTreeMap<String, String>,
    theirs: &'l BTreeMap<String, String>,
) -> Vec<&'l str> {
    let mut out: Vec<&str> = ours
        .iter()
        .filter(|(at, value)| theirs.get(*at) != Some(value))
        .map(|(at, _)| at.as_str())
        .chain(theirs.keys().filter(|at| !ours.contains_key(*at)).map(String::as_str))
        .collect();
    out.sort_unstable();
    out
}

/// Keeps only the paths and components of a document that another one has.
pub(crate) fn cut(document: &mut Value, like: &Value) {
    let keep = |document: &mut Value, pointer: &str| {
        let names = like.pointer(pointer).and_then(Value::as_object);
        if let Some(members) = document.pointer_mut(pointer).and_then(Value::as_object_mut) {
            members.retain(|name, _| names.is_some_and(|names| names.contains_key(name)));
        }
    };
    keep(document, "/paths");
    for section in SECTIONS {
        keep(document, &format!("/components/{section}"));
    }
}
