//! Defaults with unknown fields: `defaulting.PruneDefaults`.

use super::surroundings::Surroundings;
use super::{Malformed, Root, coerce, prune};
use kubeshape_schema::field::Path;
use kubeshape_schema::{Additional, Bump, Flags, Items, Json, Schema, order};
use kubeshape_value::Value;

/// Returns the schema of a whole resource without unknown fields in its defaults. A server does this before it uses a
/// definition, because definitions of earlier releases may have such defaults. Other schemas are returned unchanged.
pub fn prune_defaults<'a>(schema: &'a Schema<'a>, arena: &'a Bump) -> &'a Schema<'a> {
    match changed(schema, schema, &Surroundings::Root, arena) {
        Some(pruned) => arena.alloc(pruned),
        None => schema,
    }
}

/// Returns the schema with other defaults, if one changes. The reader bounds the nesting of schemas.
fn changed<'a>(
    root: &'a Schema<'a>,
    schema: &'a Schema<'a>,
    place: &Surroundings<'_>,
    arena: &'a Bump,
) -> Option<Schema<'a>> {
    if !schema.subtree.any(Flags::DEFAULT) {
        return None;
    }
    let mut out = *schema;
    let mut any = false;
    if let Some(pruned) = schema.default.and_then(|default| pruned(root, default, place, arena)) {
        out.default = Some(arena.alloc(pruned));
        any = true;
    }
    if let Some(below) = schema.additional_schema()
        && let Some(below) = changed(root, below, &Surroundings::Field(place, "*"), arena)
    {
        out.additional = Some(Additional::Schema(arena.alloc(below)));
        any = true;
    }
    if let Some(item) = schema.item()
        && let Some(item) = changed(root, item, &Surroundings::Item(place), arena)
    {
        out.items = Some(Items::One(arena.alloc(item)));
        any = true;
    }
    let mut properties = Vec::new();
    for (at, property) in schema.properties.iter().enumerate() {
        if let Some(inner) = changed(root, &property.schema, &Surroundings::Field(place, property.name), arena) {
            if properties.is_empty() {
                properties.extend_from_slice(schema.properties);
            }
            properties[at].schema = inner;
        }
    }
    if !properties.is_empty() {
        out.properties = arena.alloc_slice_copy(&properties);
        any = true;
    }
    any.then_some(out)
}

/// Returns a default without unknown fields, if it has any.
fn pruned<'a>(root: &Schema<'a>, default: &Json<'a>, place: &Surroundings<'_>, arena: &'a Bump) -> Option<Json<'a>> {
    let object = place.around(Value::from_json(default, arena), arena)?;
    let known = coerce(object, Some(root), Root::Resource, Malformed::Drop, &Path::Root, arena).ok()?;
    let known = prune(known.value, Some(root), Root::Resource, arena).value;
    if known == object {
        return None;
    }
    // If pruning removes the surroundings, the default cannot be reached.
    Some(json(place.value_in(known)?, arena))
}

/// Recursion is bounded: values nest only as deep as their reader allows.
fn json<'a>(value: Value<'a>, arena: &'a Bump) -> Json<'a> {
    match value {
        Value::Null => Json::Null,
        Value::Bool(yes) => Json::Bool(yes),
        Value::Int(n) => Json::Int(n),
        Value::Float(n) => Json::Float(n),
        Value::String(text) => Json::Str(text),
        Value::List(items) => Json::Array(arena.alloc_slice_fill_iter(items.iter().map(|item| json(*item, arena)))),
        Value::Map(map) => {
            let members = map.entries().iter().map(|(key, value)| (*key, json(*value, arena)));
            let members = arena.alloc_slice_fill_iter(members);
            members.sort_unstable_by(|a, b| order::utf16(a.0, b.0));
            Json::Object(members)
        }
    }
}
