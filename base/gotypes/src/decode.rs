//! Decodes values into Go types.

use crate::Printed::{Always, Filled};
use crate::Type::{Any, Bool, Float, Int, List, Metadata, Of, SchemaOr, Text, Time};
use crate::definition::SCHEMA;
use crate::{Field, Struct, Type, is_zero};
use kubeshape_schema::field::Path;
use kubeshape_value::{Bump, Map, Value};

/// A decoded value.
#[derive(Clone, Debug)]
pub struct Normal<'a> {
    /// The value. It contains exactly the fields that Go prints.
    pub value: Value<'a>,
    /// The paths of unknown fields.
    pub unknown: Vec<String>,
}

/// Decodes a value into a type and returns the fields that Go prints. Unknown and empty fields are dropped, zero values
/// are added. Values of wrong types and metadata are returned unchanged.
pub fn normal<'a>(ty: &'static Type, value: Value<'a>, arena: &'a Bump) -> Normal<'a> {
    let mut walk = Walk { arena, unknown: Vec::new(), is_strict: true };
    let value = walk.value(ty, value, &Path::Root);
    Normal { value, unknown: walk.unknown }
}

struct Walk<'a> {
    arena: &'a Bump,
    unknown: Vec<String>,
    /// Whether strict decoding reports unknown fields here.
    is_strict: bool,
}

impl<'a> Walk<'a> {
    fn value(&mut self, ty: &'static Type, value: Value<'a>, path: &Path<'_>) -> Value<'a> {
        match (ty, value) {
            (Of(Struct { fields, .. }), Value::Map(map)) => self.members(fields, map, path),
            (Of(Struct { fields, .. }), Value::Null) => self.members(fields, Map::EMPTY, path),
            (List(items), Value::List(list)) => {
                let list = list.iter().enumerate().map(|(at, item)| match (items, *item) {
                    (Any, item) => item,
                    (items, item) => self.value(items, item, &path.index(at)),
                });
                let list: Vec<_> = list.collect();
                Value::List(self.arena.alloc_slice_copy(&list))
            }
            (Type::Map(items), Value::Map(map)) => {
                let entries =
                    map.entries().iter().map(|(key, item)| (*key, self.value(items, *item, &path.child(key))));
                let entries: Vec<_> = entries.collect();
                Value::Map(Map::from_entries(entries, self.arena))
            }
            (SchemaOr(other), value) => {
                let before = std::mem::replace(&mut self.is_strict, false);
                let ty = if value.as_map().is_some() { &SCHEMA } else { *other };
                let value = self.value(ty, value, path);
                self.is_strict = before;
                value
            }
            (Float, Value::Int(n)) => {
                #[allow(clippy::cast_precision_loss)] // Go converts it in the same way.
                let float = n as f64;
                Value::Float(float)
            }
            // For null, Go leaves the zero value.
            (Text(_), Value::Null) => Value::String(""),
            (Bool, Value::Null) => Value::Bool(false),
            (Int, Value::Null) => Value::Int(0),
            (_, value) => value,
        }
    }

    fn members(&mut self, fields: &'static [Field], map: Map<'a>, path: &Path<'_>) -> Value<'a> {
        let mut entries: Vec<(&'a str, Value<'a>)> = Vec::with_capacity(map.len());
        for (key, _) in map.entries() {
            if self.is_strict && !fields.iter().any(|field| field.name == *key) {
                self.unknown.push(path.child(key).to_string());
            }
        }
        for Field { name, ty, printed, .. } in fields {
            let found = map.get(name).filter(|value| !value.is_null());
            let value = match (found, printed) {
                (Some(value), _) => self.value(ty, value, &path.child(name)),
                (None, Always) => self.zero(ty),
                (None, _) => continue,
            };
            if *printed != Filled || !is_zero(value) {
                entries.push((name, value));
            }
        }
        Value::Map(Map::from_entries(entries, self.arena))
    }

    fn zero(&mut self, ty: &'static Type) -> Value<'a> {
        match ty {
            Text(_) => Value::String(""),
            Bool => Value::Bool(false),
            Int => Value::Int(0),
            Float => Value::Float(0.0),
            Metadata => Value::Map(Map::EMPTY),
            Of(Struct { fields, .. }) => self.members(fields, Map::EMPTY, &Path::Root),
            Any | Time | List(_) | Type::Map(_) | SchemaOr(_) => Value::Null,
        }
    }
}
