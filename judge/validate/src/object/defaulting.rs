//! Defaults and nulls: `defaulting.Default` and `PruneNonNullableNullsWithoutDefaults`.

use super::Root;
use super::equal::equal;
use super::fit::{Bare, Steps, TooManyDefaults, Whole, fit};
use kubeshape_schema::{Bump, Flags, Schema};
use kubeshape_value::Map;
use kubeshape_value::Value;
use std::collections::BTreeMap;

/// Adds the defaults of a schema. A missing property gets its default; so does null if the schema does not accept null.
/// Added values are defaulted, too. Missing parents stay missing.
///
/// # Example
/// ```
/// use kubeshape_schema::{Bump, read};
/// use kubeshape_value::{ToValue, Value};
/// use kubeshape_validate::object::default;
/// use kubeshape_yaml::{Limits, Stream, Tape};
///
/// let source = r#"{"properties": {"a": {"default": {}, "properties": {"b": {"default": 1}}}}}"#;
/// let mut tape = Tape::new();
/// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
/// let arena = Bump::new();
/// let schema = read::Reader::new(&arena, read::Rules::Crd).schema(tape.document(source).root().unwrap());
/// let empty = serde_json::json!({});
/// let stored = default(empty.to_value(&arena), Some(&schema), &arena).unwrap();
/// assert_eq!(stored.to_serde(), serde_json::json!({"a": {"b": 1}}));
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
///
/// # Errors
/// The defaults exceed 8 MiB.
pub fn default<'a>(
    value: Value<'a>,
    schema: Option<&Schema<'a>>,
    arena: &'a Bump,
) -> Result<Value<'a>, TooManyDefaults> {
    let steps = Steps { defaults: true, ..Steps::default() };
    Ok(fit(value, schema.map(Whole), Root::Value, steps, arena).complete()?.value)
}

/// Removes the values that [`default`] would add again from a value with all defaults.
///
/// # Example
/// ```
/// use kubeshape_schema::{Bump, read};
/// use kubeshape_value::ToValue;
/// use kubeshape_validate::object::without_defaults;
/// use kubeshape_yaml::{Limits, Stream, Tape};
///
/// let source = r#"{"properties": {"a": {"default": {}, "properties": {"b": {"default": 1}, "c": {"default": 2}}}}}"#;
/// let mut tape = Tape::new();
/// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
/// let arena = Bump::new();
/// let schema = read::Reader::new(&arena, read::Rules::Crd).schema(tape.document(source).root().unwrap());
/// let said = |object: serde_json::Value| without_defaults(object.to_value(&arena), Some(&schema), &arena).to_serde();
/// assert_eq!(said(serde_json::json!({"a": {"b": 1, "c": 2}})), serde_json::json!({}));
/// assert_eq!(said(serde_json::json!({"a": {"b": 1, "c": 3}})), serde_json::json!({"a": {"c": 3}}));
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
pub fn without_defaults<'a>(value: Value<'a>, schema: Option<&Schema<'_>>, arena: &'a Bump) -> Value<'a> {
    match schema {
        Some(schema) if schema.subtree.any(Flags::DEFAULT) => {
            let memory = Bump::new();
            Removing { arena, memory: &memory, inserted: BTreeMap::new() }.value(value, schema)
        }
        _ => value,
    }
}

struct Removing<'a, 's> {
    arena: &'a Bump,
    /// The arena of added values.
    memory: &'s Bump,
    /// The values that defaulting adds, by the address of the schema: many values can have the same schema.
    inserted: BTreeMap<usize, Option<Value<'s>>>,
}

impl<'a, 's> Removing<'a, 's> {
    /// Returns the value that defaulting adds if a value of the schema is missing.
    fn inserted(&mut self, schema: &Schema<'s>) -> Option<Value<'s>> {
        let memory = self.memory;
        let inserted = self.inserted.entry(std::ptr::from_ref(schema).addr());
        *inserted.or_insert_with(|| default(Value::from_json(schema.default?, memory), Some(schema), memory).ok())
    }

    fn value(&mut self, value: Value<'a>, schema: &Schema<'s>) -> Value<'a> {
        if !schema.subtree.any(Flags::DEFAULT) {
            return value;
        }
        match value {
            Value::Map(map) => {
                let mut entries: Vec<(&'a str, Value<'a>)> = Vec::with_capacity(map.len());
                for (key, child) in map.entries() {
                    let property = schema.property(key);
                    if let Some(property) = property
                        && self.inserted(property).is_some_and(|inserted| equal(inserted, *child))
                    {
                        continue;
                    }
                    let below = property.or_else(|| schema.additional_schema());
                    entries.push((key, below.map_or(*child, |below| self.value(*child, below))));
                }
                Value::Map(Map::from_entries(entries, self.arena))
            }
            Value::List(items) => {
                let Some(item) = schema.item() else { return value };
                let new: Vec<Value<'a>> = items.iter().map(|value| self.value(*value, item)).collect();
                Value::List(self.arena.alloc_slice_copy(&new))
            }
            scalar => scalar,
        }
    }
}

/// Removes nulls of properties that do not accept null and have no default. Nulls in lists are kept.
pub fn prune_nulls<'a>(value: Value<'a>, schema: Option<&Schema<'_>>, arena: &'a Bump) -> Value<'a> {
    fit(value, schema.map(Bare), Root::Value, Steps { nulls: true, ..Steps::default() }, arena).value
}
