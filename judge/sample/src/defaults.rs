//! The contents of the defaults of objects and lists.

use super::build::Builder;
use super::path::child;
use kubeshape_schema::Schema;
use kubeshape_value::Value;
use std::collections::BTreeMap;

/// The default of an object.
#[derive(Default)]
pub(super) struct Defaults<'a> {
    properties: Vec<&'a str>,
    /// Members that are not properties of the schema.
    pub(super) others: Vec<(&'a str, Value<'a>)>,
}

impl Defaults<'_> {
    /// Returns whether the default has a property.
    pub(super) fn has(&self, name: &str) -> bool {
        self.properties.contains(&name)
    }
}

impl<'a> Builder<'_, 'a> {
    /// Returns the scalar at this path in the default of an outer object or list, if it fits.
    pub(super) fn default_at(&mut self, schemas: &[&'a Schema<'a>], path: &str) -> Option<Value<'a>> {
        let value = *self.defaulted.get(path)?;
        let is_scalar = !matches!(value, Value::Map(_) | Value::List(_));
        (is_scalar && self.validators(schemas).iter().all(|validator| validator.is_valid(value))).then_some(value)
    }

    /// Returns the contents of the default of an object. They also become the defaults of its members.
    pub(super) fn default_members(
        &mut self,
        schemas: &[&'a Schema<'a>],
        properties: &BTreeMap<&'a str, Vec<&'a Schema<'a>>>,
        path: &str,
    ) -> Defaults<'a> {
        let Some(Value::Map(map)) = self.default_of(schemas, path) else { return Defaults::default() };
        let mut out = Defaults::default();
        for (name, value) in map.entries().iter().filter(|(_, value)| !value.is_null()).copied() {
            let is_property = properties.contains_key(name);
            let path = if is_property { child(path, name) } else { format!("{path}[{name}]") };
            self.defaulted.entry(path).or_insert(value);
            if is_property { out.properties.push(name) } else { out.others.push((name, value)) }
        }
        out
    }

    /// Returns the number of items in the default of a list. They also become the defaults of its items.
    pub(super) fn default_items(&mut self, schemas: &[&'a Schema<'a>], path: &str) -> usize {
        let Some(Value::List(items)) = self.default_of(schemas, path) else { return 0 };
        for (at, item) in items.iter().enumerate() {
            self.defaulted.entry(format!("{path}[{at}]")).or_insert(*item);
        }
        items.len()
    }

    /// Returns the default of a missing object or list: that of something around it, or its own.
    fn default_of(&self, schemas: &[&'a Schema<'a>], path: &str) -> Option<Value<'a>> {
        if !self.for_readers {
            return None;
        }
        let own = || schemas.iter().find_map(|schema| schema.default).map(|json| Value::from_json(json, self.arena));
        self.defaulted.get(path).copied().or_else(own)
    }
}
