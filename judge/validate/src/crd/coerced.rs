//! Defaults as validation changes them: metadata of embedded resources is decoded.

use super::model::Definition;
use crate::object::{self, Entries, Malformed, Printing, Root};
use kubeshape_schema::field::Path;
use kubeshape_schema::{Bump, Flags, Schema};
use kubeshape_structural::{convert, validate as validate_structural};
use kubeshape_value::Value;

/// Returns a definition as validation changes it and a server stores it: metadata of embedded resources in defaults is
/// decoded, so that unknown fields are dropped, and null becomes empty. `object` is the same definition as a value. The
/// definition should be valid.
///
/// `defaulting.ValidateDefaults` calls `objectmeta.Coerce` on the stored definition.
pub fn with_coerced_defaults<'a>(object: Value<'a>, definition: &Definition<'_>, arena: &'a Bump) -> Value<'a> {
    let spec = &definition.spec;
    let version = |at: usize, value: Value<'a>| {
        let validation = spec.versions.get(at).and_then(|version| version.schema.or(spec.validation));
        let Some(schema) = validation.and_then(|validation| validation.schema) else { return value };
        let root = |value| with_member(value, "openAPIV3Schema", |value| coerced_below(value, schema, arena), arena);
        with_member(value, "schema", root, arena)
    };
    let versions = |value| match value {
        Value::List(items) => {
            let items = items.iter().enumerate().map(|(at, item)| version(at, *item));
            Value::List(arena.alloc_slice_fill_iter(items))
        }
        other => other,
    };
    with_member(object, "spec", |spec| with_member(spec, "versions", versions, arena), arena)
}

/// Returns a value with a changed member, if it has the member.
fn with_member<'a>(value: Value<'a>, key: &str, change: impl Fn(Value<'a>) -> Value<'a>, arena: &'a Bump) -> Value<'a> {
    let Value::Map(map) = value else { return value };
    let mut entries = Entries::of(map, arena);
    for (name, inner) in map.entries() {
        entries.put(if *name == key { change(*inner) } else { *inner });
    }
    entries.finish(value)
}

/// Returns a schema (also given as a value) with changed defaults. The reader bounds the nesting of schemas.
fn coerced_below<'a>(value: Value<'a>, schema: &Schema<'_>, arena: &'a Bump) -> Value<'a> {
    let Value::Map(map) = value else { return value };
    if !(schema.subtree.any(Flags::DEFAULT) && schema.subtree.any(Flags::EMBEDDED_RESOURCE)) {
        return value;
    }
    let mut entries = Entries::of(map, arena);
    for (name, inner) in map.entries() {
        entries.put(match (*name, *inner) {
            ("default", default) => coerced_value(default, schema, arena),
            ("items", inner) => schema.item().map_or(inner, |item| coerced_below(inner, item, arena)),
            ("properties", Value::Map(properties)) => {
                let mut entries = Entries::of(properties, arena);
                for (name, inner) in properties.entries() {
                    let property = schema.property(name);
                    entries.put(property.map_or(*inner, |property| coerced_below(*inner, property, arena)));
                }
                entries.finish(*inner)
            }
            (_, inner) => inner,
        });
    }
    entries.finish(value)
}

/// Returns a default as validation changes it.
fn coerced_value<'a>(default: Value<'a>, schema: &Schema<'_>, arena: &'a Bump) -> Value<'a> {
    let root = if schema.flags.any(Flags::EMBEDDED_RESOURCE) { Root::Resource } else { Root::Value };
    let printing = Printing::Json;
    object::coerce_until_error(printing, default, Some(schema), root, Malformed::Refuse, &Path::Root, arena).0.value
}

/// Returns whether validation checks the defaults of a whole schema, and one of them may contain metadata of an
/// embedded resource.
pub(super) fn are_coerced(schema: &Schema<'_>) -> bool {
    schema.subtree.any(Flags::DEFAULT)
        && schema.subtree.any(Flags::EMBEDDED_RESOURCE)
        && convert(schema).is_ok()
        && validate_structural(schema, "").is_empty()
}

/// Returns the default of a schema as validation changes it, if it does.
pub(super) fn coerced<'a>(schema: &Schema<'a>, arena: &'a Bump) -> Option<Value<'a>> {
    let default = Value::from_json(schema.default.filter(|_| schema.subtree.any(Flags::EMBEDDED_RESOURCE))?, arena);
    let coerced = coerced_value(default, schema, arena);
    (coerced != default).then_some(coerced)
}
