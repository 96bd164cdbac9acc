//! Prints decoded values as Go's `encoding/json` prints structs.

use crate::Type::{List, Metadata, Of, SchemaOr};
use crate::definition::SCHEMA;
use crate::metadata::OBJECT_META;
use crate::{Field, Printed, Struct, Type, is_zero};
use kubeshape_value::{Map, Value};

/// Returns whether Go prints a field that has this value.
fn is_printed(field: &Field, value: Value<'_>) -> bool {
    let is_left_out = match field.printed {
        Printed::Always => false,
        Printed::Filled => is_zero(value),
        Printed::Set => value.is_null(),
    };
    !is_left_out && !is_neither(&field.ty, value)
}

/// Returns whether a value is neither a schema nor a list of schemas. Go stores an empty struct for it as null, so it
/// is missing after it is read again.
fn is_neither(ty: &Type, value: Value<'_>) -> bool {
    matches!(ty, SchemaOr(List(_))) && value.as_map().is_none() && value.as_list().is_none_or(<[_]>::is_empty)
}

/// Appends a decoded value as JSON. Fields are in the order of the structs; empty fields with `omitempty` are skipped.
pub fn write(ty: &Type, value: Value<'_>, out: &mut Vec<u8>) {
    match (ty, value) {
        (Metadata, value) => {
            write(&Of(&OBJECT_META), Value::Map(value.as_map().unwrap_or(Map::EMPTY)), out);
        }
        (Of(Struct { fields, .. }), Value::Map(map)) => {
            out.push(b'{');
            let start = out.len();
            for field in *fields {
                let Field { name, ty, .. } = field;
                let Some(value) = map.get(name).filter(|value| is_printed(field, *value)) else { continue };
                separate(start, out);
                Value::String(name).write_go_json(out);
                out.push(b':');
                write(ty, value, out);
            }
            out.push(b'}');
        }
        (List(items), Value::List(list)) => {
            out.push(b'[');
            let start = out.len();
            for item in list {
                separate(start, out);
                write(items, *item, out);
            }
            out.push(b']');
        }
        (Type::Map(items), Value::Map(map)) => {
            out.push(b'{');
            let start = out.len();
            for (key, value) in map.entries() {
                separate(start, out);
                Value::String(key).write_go_json(out);
                out.push(b':');
                write(items, *value, out);
            }
            out.push(b'}');
        }
        (SchemaOr(_), Value::Map(_)) => write(&SCHEMA, value, out),
        (SchemaOr(other), value) => write(other, value, out),
        (_, value) => value.write_go_json(out),
    }
}

fn separate(start: usize, out: &mut Vec<u8>) {
    if out.len() > start {
        out.push(b',');
    }
}

/// Appends an object of a kind without a table: `kind`, `apiVersion` and `metadata`, then the other fields by name.
pub fn write_typed(object: Value<'_>, out: &mut Vec<u8>) {
    out.push(b'{');
    let start = out.len();
    let map = object.as_map().unwrap_or(Map::EMPTY);
    let first = ["kind", "apiVersion", "metadata"];
    let all = first.iter().filter_map(|key| Some((*key, map.get(key)?)));
    let others = map.entries().iter().filter(|(key, _)| !first.contains(key)).copied();
    for (key, value) in all.chain(others) {
        separate(start, out);
        Value::String(key).write_go_json(out);
        out.push(b':');
        if key == "metadata" { write(&Metadata, value, out) } else { value.write_go_json(out) }
    }
    out.push(b'}');
}
