//! Parts of `metadata.managedFields` that a server ignores without an error.

use super::entries::RawEntry;
use crate::value::Value;
use kubeshape_schema::nearest;
use kubeshape_yaml::pointer;

/// The maximum number of listed parts.
const MOST: usize = 100;

/// A part of `metadata.managedFields` that a server ignores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ignored {
    /// Its JSON pointer below the list.
    pub pointer: String,
    /// What was found, and what was expected.
    pub message: String,
    /// Whether the server ignores the whole list because of it, so that no field has an owner.
    pub whole_list: bool,
}

/// Lists the parts of `metadata.managedFields` that a server ignores: unknown members, and values of a wrong type,
/// which make it ignore the whole list. At most 100 are listed.
///
/// A server reads the list into Go's types. If that fails, upstream's `unstructured.GetManagedFields` returns nothing.
///
/// Example: an invalid time
/// ```
/// use kubeshape_schema::Bump;
/// use kubeshape_smd::{Value, managed::ignored};
/// use kubeshape_value::ToValue;
///
/// let arena = Bump::new();
/// let list: serde_json::Value = serde_json::from_str(r#"[{"manager": "me", "time": "yesterday"}]"#)?;
/// let found = ignored(list.to_value(&arena));
/// assert_eq!(found[0].pointer, "/0/time");
/// assert!(found[0].whole_list);
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn ignored(list: Value<'_>) -> Vec<Ignored> {
    let mut out = Vec::new();
    match list {
        Value::Null => {}
        Value::List(entries) => {
            for (at, entry) in entries.iter().enumerate() {
                if out.len() >= MOST {
                    break;
                }
                of_entry(*entry, at, &mut out);
            }
        }
        other => out.push(wrong(String::new(), other, "a list of entries")),
    }
    out
}

fn of_entry(entry: Value<'_>, at: usize, out: &mut Vec<Ignored>) {
    let Some(map) = entry.as_map() else {
        out.push(wrong(format!("/{at}"), entry, "an entry with a manager, an operation and fields"));
        return;
    };
    let mut read = RawEntry::EMPTY;
    for (name, value) in map.entries() {
        if out.len() >= MOST {
            return;
        }
        let place = || format!("/{at}/{}", pointer::escape(name));
        match read.read_member(name, *value) {
            None if *name == "time" => {
                out.push(wrong(place(), *value, "a time such as \"2026-11-27T02:04:27Z\""));
            }
            None => out.push(wrong(place(), *value, "a string")),
            Some(false) => {
                let members = RawEntry::MEMBERS;
                let nearest = nearest(name, members.into_iter());
                let expected = if nearest.is_empty() { members.join(", ") } else { nearest.join(" or ") };
                out.push(unused(place(), name, &expected));
            }
            Some(true) if *name == "fieldsV1" => of_fields(*value, &mut place(), out),
            Some(true) => {}
        }
    }
}

/// Lists ignored members. Upstream's `fieldpath.Set` skips members of unknown kinds (`ErrUnknownPathElementType`).
fn of_fields(set: Value<'_>, path: &mut String, out: &mut Vec<Ignored>) {
    let Some(map) = set.as_map() else { return };
    for (name, value) in map.entries() {
        if out.len() >= MOST {
            return;
        }
        let length = path.len();
        pointer::push(path, name);
        match name.as_bytes() {
            [b'f' | b'k' | b'v' | b'i', b':', ..] => of_fields(*value, path, out),
            [_, b':', ..] => out.push(unused(path.clone(), name, "f:NAME, k:KEYS, v:VALUE, i:INDEX or .")),
            _ => {}
        }
        path.truncate(length);
    }
}

fn unused(pointer: String, name: &str, expected: &str) -> Ignored {
    let message = format!("found an unknown member {}, expected {expected}", Value::String(name));
    Ignored { pointer, message, whole_list: false }
}

fn wrong(pointer: String, found: Value<'_>, expected: &str) -> Ignored {
    let found = match found {
        Value::Map(_) => "an object".to_owned(),
        Value::List(_) => "a list".to_owned(),
        other => other.to_string(),
    };
    let message =
        format!("found {found}, expected {expected}; a server ignores the whole list, so no field has an owner");
    Ignored { pointer, message, whole_list: true }
}
