//! The names of the fields that a schema declares, for suggestions.

use super::request::Resource;
use kubeshape_gotypes::metadata::OBJECT_META;
use kubeshape_schema::{Additional, Items, Schema};

/// The fields of every object.
const OBJECT: [&str; 3] = ["apiVersion", "kind", "metadata"];

impl Resource<'_> {
    /// Returns the names of the fields that are declared at a path in an object: keys, and any name for the items of a
    /// list. The names are in the order of the schema. Empty if no fields are declared there.
    ///
    /// The path of an item of a list in `spec.ports` is `["spec", "ports", "0"]`.
    pub fn members(&self, path: &[&str]) -> Vec<&str> {
        if path == ["metadata"] {
            return OBJECT_META.fields.iter().map(|field| field.name).collect();
        }
        let Some(found) = self.schema.and_then(|schema| path.iter().try_fold(schema, below)) else {
            return Vec::new();
        };
        let own = if path.is_empty() { &OBJECT[..] } else { &[] };
        own.iter().copied().chain(found.properties.iter().map(|property| property.name)).collect()
    }
}

/// Returns the schema of a field, or of the items of a list.
fn below<'s>(schema: &'s Schema<'s>, step: &&str) -> Option<&'s Schema<'s>> {
    let named = schema.properties.iter().find(|property| property.name == *step).map(|property| &property.schema);
    named
        .or(match schema.additional {
            Some(Additional::Schema(values)) => Some(values),
            _ => None,
        })
        .or(match schema.items {
            Some(Items::One(items)) => Some(items),
            _ => None,
        })
}
