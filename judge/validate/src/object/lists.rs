//! Duplicate items of sets and maps: `listtype.ValidateListSetsAndMaps`.

use super::equal::{Printing, json};
use kubeshape_schema::field::{Error, Errors, Path};
use kubeshape_schema::{Bump, Flags, Schema};
use kubeshape_value::Map;
use kubeshape_value::Value;
use std::collections::HashMap;

/// Returns the errors about duplicate items in lists of type set, and in lists of type map about items with the same
/// keys and items that are not objects.
///
/// Scalars are compared as in Go: 1 and 1.0 differ. Objects, lists and several keys are compared as JSON, in which they
/// are equal.
pub fn list_types(value: Value<'_>, schema: Option<&Schema<'_>>, path: &Path<'_>) -> Vec<Error> {
    list_types_with(value, schema, path, Printing::Json)
}

/// Like [`list_types`]. `printing` is the format of values in errors.
pub(super) fn list_types_with(
    value: Value<'_>,
    schema: Option<&Schema<'_>>,
    path: &Path<'_>,
    printing: Printing<'_>,
) -> Vec<Error> {
    let mut walk = Walk { printing, errors: Errors::default() };
    if let Some(schema) = schema {
        walk.check(value, schema, path);
    }
    walk.errors.into_vec()
}

struct Walk<'r> {
    printing: Printing<'r>,
    errors: Errors,
}

impl Walk<'_> {
    /// Recursion is bounded: a schema nests only as deep as its reader allows.
    fn check(&mut self, value: Value<'_>, schema: &Schema<'_>, path: &Path<'_>) {
        if !schema.subtree.any(Flags::LIST_TYPE) {
            return;
        }
        match value {
            Value::Map(map) => {
                let additional = schema.additional_schema();
                for (key, child) in map.entries() {
                    if let Some(schema) = additional {
                        self.check(*child, schema, &path.key(key));
                    }
                    if let Some(schema) = schema.property(key) {
                        self.check(*child, schema, &path.child(key));
                    }
                }
            }
            Value::List(items) => {
                match schema.extra().list_type {
                    Some("set") if !are_distinct(items.iter().copied()) => {
                        for at in repeated(items.iter().map(|item| identity(*item))) {
                            if self.errors.is_full() {
                                break;
                            }
                            self.errors.push(Error::duplicate(&path.index(at), self.printing.bad_value(items[at]), 0));
                        }
                    }
                    Some("map") => self.check_map(items, schema.extra().list_map_keys, path),
                    _ => {}
                }
                if let Some(schema) = schema.item() {
                    for (at, item) in items.iter().enumerate() {
                        self.check(*item, schema, &path.index(at));
                    }
                }
            }
            _ => {}
        }
    }

    fn check_map(&mut self, items: &[Value<'_>], keys: &[&str], path: &Path<'_>) {
        let odd = items.iter().position(|item| !matches!(item, Value::Null | Value::Map(_)));
        if let Some(at) = odd {
            let detail = "must be an object for an array of list-type map";
            self.errors.push(Error::invalid(&path.index(at), self.printing.bad_value(items[at]), detail, 0));
            return;
        }
        if let [key] = keys
            && are_distinct(items.iter().map(|item| item.get(key).unwrap_or(Value::Null)))
        {
            return;
        }
        let identities = items.iter().map(|item| match keys {
            [key] => item.get(key).map_or_else(Vec::new, identity),
            _ => json(keys_of(*item, keys, &Bump::new())).into_bytes(),
        });
        for at in repeated(identities) {
            let arena = Bump::new();
            self.errors.push(Error::duplicate(
                &path.index(at),
                self.printing.bad_value(keys_of(items[at], keys, &arena)),
                0,
            ));
        }
    }
}

/// Returns whether all values are distinct strings, as in most lists of names.
fn are_distinct<'v>(values: impl ExactSizeIterator<Item = Value<'v>>) -> bool {
    /// Up to this length, all pairs are compared.
    const FEW: usize = 8;
    let mut few = [""; FEW];
    let mut many = Vec::new();
    if values.len() > FEW {
        many.resize(values.len(), "");
    }
    let count = values.len();
    let seen = if many.is_empty() { &mut few[..] } else { &mut many[..] };
    for (at, value) in values.enumerate() {
        let Value::String(text) = value else { return false };
        if count <= FEW && seen[..at].contains(&text) {
            return false;
        }
        seen[at] = text;
    }
    if count > FEW {
        many.sort_unstable();
        return many.windows(2).all(|two| two[0] != two[1]);
    }
    true
}

/// Returns the keys of an item, as far as it has them, as an object.
fn keys_of<'a>(item: Value<'a>, keys: &[&'a str], arena: &'a Bump) -> Value<'a> {
    let entries = keys.iter().filter_map(|key| Some((*key, item.get(key)?))).collect();
    Value::Map(Map::from_entries(entries, arena))
}

/// Returns bytes that identify an item; never empty. Scalars begin with their type.
fn identity(value: Value<'_>) -> Vec<u8> {
    let mut out = match value {
        Value::Null => vec![b'n'],
        Value::Bool(_) => vec![b'b'],
        Value::Int(_) => vec![b'i'],
        Value::Float(_) => vec![b'f'],
        Value::String(_) => vec![b's'],
        Value::List(_) | Value::Map(_) => vec![b'j'],
    };
    // Zero equals minus zero.
    let value = if matches!(value, Value::Float(0.0)) { Value::Float(0.0) } else { value };
    value.write_go_json(&mut out);
    out
}

/// Returns the positions of the second one of equal identities, in order.
fn repeated(identities: impl Iterator<Item = Vec<u8>>) -> Vec<usize> {
    let mut counts: HashMap<Vec<u8>, usize> = HashMap::new();
    let mut out = Vec::new();
    for (at, identity) in identities.enumerate() {
        let count = counts.entry(identity).or_default();
        *count += 1;
        if *count == 2 {
            out.push(at);
        }
    }
    out
}
