//! Defaults and nulls: `defaulting.Default` and `PruneNonNullableNullsWithoutDefaults`.

use super::equal::{equal, identical};
use kubeshape_schema::{Bump, Flags, Schema};
use kubeshape_smd::Value;
use kubeshape_smd::value::Map;
use std::collections::BTreeMap;

/// Inserts the defaults of a schema. A property that is missing gets its default; so does null where the schema does not
/// take null. What is inserted is defaulted, too. Parents that are missing stay missing.
///
/// # Example
/// ```
/// use kubeshape_schema::{Bump, read};
/// use kubeshape_smd::{ToValue, Value};
/// use kubeshape_validate::object::default;
/// use kubeshape_yaml::{Limits, Stream, Tape};
///
/// let source = r#"{"properties": {"a": {"default": {}, "properties": {"b": {"default": 1}}}}}"#;
/// let mut tape = Tape::new();
/// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
/// let arena = Bump::new();
/// let schema = read::Reader::new(&arena, read::Rules::Crd).schema(tape.document(source).root().unwrap());
/// let empty = serde_json::json!({});
/// let stored = default(empty.to_value(&arena), Some(&schema), &arena);
/// assert_eq!(stored.to_serde(), serde_json::json!({"a": {"b": 1}}));
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
pub fn default<'a>(value: Value<'a>, schema: Option<&Schema<'a>>, arena: &'a Bump) -> Value<'a> {
    let Some(schema) = schema else { return value };
    if !schema.subtree.any(Flags::DEFAULT) && !has_nulls(value) {
        return value;
    }
    Defaulting { arena }.value(value, schema)
}

/// Whether a value holds a null, for which a schema without defaults still matters.
fn has_nulls(value: Value<'_>) -> bool {
    match value {
        Value::Null => true,
        Value::List(items) => items.iter().any(|item| has_nulls(*item)),
        Value::Map(map) => map.entries().iter().any(|(_, value)| has_nulls(*value)),
        _ => false,
    }
}

struct Defaulting<'a> {
    arena: &'a Bump,
}

impl<'a> Defaulting<'a> {
    fn default_of(&self, schema: &Schema<'a>) -> Option<Value<'a>> {
        schema.default.map(|json| Value::from_json(json, self.arena))
    }

    /// Null where the schema does not take it becomes the default, or stays.
    fn replace_null(&self, value: Value<'a>, schema: &Schema<'a>) -> Value<'a> {
        if value.is_null() && !schema.flags.any(Flags::NULLABLE) {
            return self.default_of(schema).unwrap_or(Value::Null);
        }
        value
    }

    /// A schema nests as deep as its reader allows.
    fn value(&self, value: Value<'a>, schema: &Schema<'a>) -> Value<'a> {
        match value {
            Value::Map(map) => self.map(value, map, schema),
            Value::List(items) => {
                let Some(item) = schema.item() else { return value };
                let new: Vec<Value<'a>> =
                    items.iter().map(|value| self.value(self.replace_null(*value, item), item)).collect();
                let same = new.iter().zip(items).all(|(new, old)| identical(*new, *old));
                if same { value } else { Value::List(self.arena.alloc_slice_copy(&new)) }
            }
            scalar => scalar,
        }
    }

    fn map(&self, value: Value<'a>, map: Map<'a>, schema: &Schema<'a>) -> Value<'a> {
        let mut changed = false;
        let mut entries: Vec<(&'a str, Value<'a>)> = Vec::with_capacity(map.len());
        for (key, child) in map.entries() {
            let new = match (schema.property(key), schema.additional_schema()) {
                (Some(below), _) | (None, Some(below)) => self.value(self.replace_null(*child, below), below),
                (None, None) => *child,
            };
            changed |= !identical(new, *child);
            entries.push((key, new));
        }
        for property in schema.properties {
            let Some(value) = self.default_of(&property.schema) else { continue };
            if map.get(property.name).is_none() {
                entries.push((property.name, self.value(value, &property.schema)));
                changed = true;
            }
        }
        if changed { Value::Map(Map::from_entries(entries, self.arena)) } else { value }
    }
}

/// The opposite of [`default`]: removes what it would insert again, of a value that has all defaults.
///
/// # Example
/// ```
/// use kubeshape_schema::{Bump, read};
/// use kubeshape_smd::ToValue;
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
            let defaulting = Defaulting { arena: &memory };
            Removing { arena, defaulting, inserted: BTreeMap::new() }.value(value, schema)
        }
        _ => value,
    }
}

struct Removing<'a, 's> {
    arena: &'a Bump,
    defaulting: Defaulting<'s>,
    /// What defaulting inserts, by the address of the schema: a schema may be that of many values.
    inserted: BTreeMap<usize, Option<Value<'s>>>,
}

impl<'a, 's> Removing<'a, 's> {
    /// What defaulting inserts where a value of the schema is missing.
    fn inserted(&mut self, schema: &Schema<'s>) -> Option<Value<'s>> {
        let defaulting = &self.defaulting;
        let inserted = self.inserted.entry(std::ptr::from_ref(schema).addr());
        *inserted.or_insert_with(|| Some(defaulting.value(defaulting.default_of(schema)?, schema)))
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

/// Removes nulls of properties that take no null and have no default. Nulls in lists stay.
pub fn prune_nulls<'a>(value: Value<'a>, schema: Option<&Schema<'_>>, arena: &'a Bump) -> Value<'a> {
    let Some(schema) = schema else { return value };
    if !has_nulls(value) {
        return value;
    }
    match value {
        Value::Map(map) => {
            let mut entries: Vec<(&'a str, Value<'a>)> = Vec::with_capacity(map.len());
            let mut changed = false;
            for (key, child) in map.entries() {
                let below = schema.property(key).or(schema.additional_schema());
                let refuses_null = |schema: &Schema<'_>| !schema.flags.any(Flags::NULLABLE) && schema.default.is_none();
                if child.is_null() && below.is_some_and(refuses_null) {
                    changed = true;
                    continue;
                }
                let new = prune_nulls(*child, below, arena);
                changed |= !identical(new, *child);
                entries.push((key, new));
            }
            if changed { Value::Map(Map::from_entries(entries, arena)) } else { value }
        }
        Value::List(items) => {
            let new: Vec<Value<'a>> = items.iter().map(|item| prune_nulls(*item, schema.item(), arena)).collect();
            let same = new.iter().zip(items).all(|(new, old)| identical(*new, *old));
            if same { value } else { Value::List(arena.alloc_slice_copy(&new)) }
        }
        scalar => scalar,
    }
}
