//! The changes of a policy, for people.

use kubeshape_smd::Value;
use std::collections::BTreeSet;

/// The maximum number of listed changes.
const MOST: usize = 20;
/// The maximum length of a printed value, in characters.
const MAX_SHOWN: usize = 60;

/// Returns the differences of two objects, a line for each place: `spec.replicas: 1 became 3`. At most twenty, and the
/// number of remaining ones.
///
/// # Example
/// ```
/// use kubeshape_registry::policy::changes;
/// use kubeshape_smd::{Bump, ToValue};
///
/// let arena = Bump::new();
/// let before = serde_json::json!({"a": 1, "b": [1], "c": {"d": "x"}});
/// let after = serde_json::json!({"a": 2, "b": [1, 2], "c": {}});
/// let found = changes(before.to_value(&arena), after.to_value(&arena));
/// assert_eq!(found, ["a: 1 became 2", "b[1]: added 2", "c.d: removed"]);
/// ```
pub fn changes(before: Value<'_>, after: Value<'_>) -> Vec<String> {
    let mut out = Vec::new();
    let mut more = 0;
    walk("", Some(before), Some(after), &mut out, &mut more);
    if more > 0 {
        out.push(format!("and {more} more"));
    }
    out
}

fn walk(path: &str, before: Option<Value<'_>>, after: Option<Value<'_>>, out: &mut Vec<String>, more: &mut usize) {
    if before == after {
        return;
    }
    if out.len() >= MOST {
        *more += 1;
        return;
    }
    match (before, after) {
        (Some(Value::Map(before)), Some(Value::Map(after))) => {
            let keys: BTreeSet<&str> = before.entries().iter().chain(after.entries()).map(|(key, _)| *key).collect();
            for key in keys {
                let path = match (path, key.contains(['.', '/'])) {
                    (path, true) => format!("{path}[{key}]"),
                    ("", false) => key.to_owned(),
                    (path, false) => format!("{path}.{key}"),
                };
                walk(&path, before.get(key), after.get(key), out, more);
            }
        }
        (Some(Value::List(before)), Some(Value::List(after))) => {
            for index in 0..before.len().max(after.len()) {
                walk(&format!("{path}[{index}]"), before.get(index).copied(), after.get(index).copied(), out, more);
            }
        }
        (None, Some(after)) => out.push(format!("{path}: added {}", shown(after))),
        (Some(_), None) => out.push(format!("{path}: removed")),
        (Some(before), Some(after)) => out.push(format!("{path}: {} became {}", shown(before), shown(after))),
        (None, None) => {}
    }
}

fn shown(value: Value<'_>) -> String {
    let text = value.to_string();
    if text.chars().count() <= MAX_SHOWN {
        return text;
    }
    text.chars().take(MAX_SHOWN).chain(['…']).collect()
}
