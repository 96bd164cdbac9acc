//! Defaults with unknown fields: `schemaHasUnprunedDefaults`.

use crate::object::{self, Malformed, Root, Surroundings};
use kubeshape_schema::field::Path;
use kubeshape_schema::{Bump, Flags, Schema};
use kubeshape_structural::{convert, validate as validate_structural};
use kubeshape_value::Value;

/// Returns whether a schema is structural and a default in it has unknown fields.
pub(super) fn has_unpruned(schema: &Schema<'_>) -> bool {
    schema.subtree.any(Flags::DEFAULT)
        && convert(schema).is_ok()
        && validate_structural(schema, "").is_empty()
        && unpruned_below(schema, schema, &Surroundings::Root)
}

/// Returns whether a default at or below a schema of the spine loses fields when the object around it is pruned.
fn unpruned_below(root: &Schema<'_>, schema: &Schema<'_>, surroundings: &Surroundings<'_>) -> bool {
    if !schema.subtree.any(Flags::DEFAULT) {
        return false;
    }
    if let Some(default) = schema.default {
        let arena = Bump::new();
        let object = surroundings.around(Value::from_json(default, &arena), &arena);
        let changed = object.is_some_and(|object| {
            object::coerce(object, Some(root), Root::Resource, Malformed::Drop, &Path::Root, &arena)
                .is_ok_and(|decoded| object::prune(decoded.value, Some(root), Root::Resource, &arena).value != object)
        });
        if changed {
            return true;
        }
    }
    schema.additional_schema().is_some_and(|below| unpruned_below(root, below, &Surroundings::Field(surroundings, "*")))
        || schema.item().is_some_and(|item| unpruned_below(root, item, &Surroundings::Item(surroundings)))
        || schema
            .properties
            .iter()
            .any(|property| unpruned_below(root, &property.schema, &Surroundings::Field(surroundings, property.name)))
}
