//! Several values of one schema.

use super::build::Builder;
use super::scalar::{candidate, named};
use super::wanted::{Step, Wanted};
use kubeshape_schema::{Bump, Flags, Schema, Type};
use kubeshape_validate::object::Validator;
use kubeshape_value::Map;
use kubeshape_value::Value;
use std::collections::BTreeSet;

/// The maximum number of different strings and numbers per type.
const SALTS: usize = 4;

/// Returns values that a schema accepts, the most likely first, at most `most`. Lists and maps are built like in
/// samples; strings and numbers come from the values, patterns, formats and bounds in the schema. Null is not included.
///
/// # Example
/// ```
/// use kubeshape_schema::{Bump, Extra, Schema, Type};
/// use kubeshape_sample::values;
/// use kubeshape_value::Value;
/// let arena = Bump::new();
/// let extra = Extra { minimum: Some(3.0), ..*Schema::of_type(Type::Integer).extra() };
/// let schema = arena.alloc(Schema { extra: Some(arena.alloc(extra)), ..Schema::of_type(Type::Integer) });
/// assert_eq!(values(schema, 1, &arena), [Value::Int(3)]);
/// ```
pub fn values<'a>(schema: &'a Schema<'a>, most: usize, arena: &'a Bump) -> Vec<Value<'a>> {
    let validator = Validator::new(schema, arena);
    let mut out: Vec<Value<'a>> = Vec::new();
    let mut add = |value: Value<'a>| {
        if out.len() < most && !value.is_null() && validator.is_valid(value) && !out.contains(&value) {
            out.push(value);
        }
        out.len() >= most
    };
    let types: &[Type] = match schema.ty {
        _ if schema.flags.any(Flags::INT_OR_STRING) => &[Type::Integer, Type::String],
        Type::Absent | Type::Other | Type::Several => {
            &[Type::String, Type::Integer, Type::Boolean, Type::Object, Type::Array, Type::Number]
        }
        Type::Array => &[Type::Array],
        Type::Boolean => &[Type::Boolean],
        Type::Integer => &[Type::Integer],
        Type::Number => &[Type::Number],
        Type::Object => &[Type::Object],
        Type::String => &[Type::String],
    };
    for value in named(&[schema], arena) {
        add(value);
    }
    for ty in types {
        match ty {
            Type::Object | Type::Array => {
                for value in composed(schema, *ty, most, arena) {
                    add(value);
                }
            }
            ty => {
                for salt in 0..SALTS {
                    if candidate(&[schema], *ty, salt, arena, &mut add).is_some() {
                        return out;
                    }
                }
            }
        }
    }
    out
}

/// Returns lists or maps.
fn composed<'a>(schema: &'a Schema<'a>, ty: Type, most: usize, arena: &'a Bump) -> Vec<Value<'a>> {
    let schema = if schema.ty == ty { schema } else { arena.alloc(Schema { ty, ..*schema }) };
    let toggled = BTreeSet::new();
    let mut out = Vec::new();
    for maximal in [false, true] {
        out.push(Builder::new(maximal, &toggled, None, arena).value(&[schema], 0, ""));
    }
    // One optional field more than necessary.
    for property in schema.properties.iter().take(most) {
        let mut wanted = Wanted::default();
        wanted.want(&[Step::Property(property.name)], None);
        let mut builder = Builder::new(false, &toggled, None, arena);
        builder.wanted = Some(&wanted);
        out.push(builder.value(&[schema], 0, ""));
    }
    out.push(if ty == Type::Array { Value::List(&[]) } else { Value::Map(Map::EMPTY) });
    out
}
