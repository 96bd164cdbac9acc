//! Schemas as JSON, members in upstream's order.

use super::model::{AtomId, Schema};
use super::view::{Atom, Field, List, Map, TypeDef, TypeRef, Union};
use kubeshape_schema::escape::{self, Escape};
use std::fmt;

/// Appends the schema as compact JSON.
///
/// The members are those of the YAML form, in the same order. Unlike upstream, it writes names even if they are empty,
/// because without them the schema cannot be read again.
///
/// # Example: the empty schema
/// ```
/// use kubeshape_smd::schema::{Schema, print_json};
/// let mut out = Vec::new();
/// print_json(&Schema::default(), &mut out);
/// assert_eq!(out, b"{}");
/// ```
pub fn print_json(schema: &Schema, out: &mut Vec<u8>) {
    let start = open(out);
    if schema.types().len() > 0 {
        key(out, start, "types");
        array(out, schema.types(), type_def);
    }
    out.push(b'}');
}

/// Begins an object and returns where its members begin.
#[inline]
fn open(out: &mut Vec<u8>) -> usize {
    out.push(b'{');
    out.len()
}

#[inline]
fn key(out: &mut Vec<u8>, start: usize, name: &str) {
    if out.len() > start {
        out.push(b',');
    }
    out.push(b'"');
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
}

#[inline]
fn text(out: &mut Vec<u8>, start: usize, name: &str, value: &str) {
    key(out, start, name);
    escape::string(out, value, Escape::Plain);
}

fn array<T>(out: &mut Vec<u8>, items: impl Iterator<Item = T>, print: impl Fn(&mut Vec<u8>, T)) {
    out.push(b'[');
    for (i, item) in items.enumerate() {
        if i > 0 {
            out.push(b',');
        }
        print(out, item);
    }
    out.push(b']');
}

fn type_def(out: &mut Vec<u8>, def: TypeDef<'_>) {
    let start = open(out);
    text(out, start, "name", def.name());
    atom_members(out, start, def.atom());
    out.push(b'}');
}

fn atom_members(out: &mut Vec<u8>, start: usize, atom: Atom<'_>) {
    if let Some(scalar) = atom.scalar() {
        text(out, start, "scalar", scalar.name());
    }
    if let Some(value) = atom.list() {
        key(out, start, "list");
        list(out, value);
    }
    if let Some(value) = atom.map() {
        key(out, start, "map");
        map(out, value);
    }
}

fn type_ref(out: &mut Vec<u8>, type_ref: TypeRef<'_>) {
    let start = open(out);
    if let Some(name) = type_ref.named() {
        text(out, start, "namedType", name);
    }
    atom_members(out, start, type_ref.inlined());
    if let Some(relationship) = type_ref.relationship() {
        text(out, start, "elementRelationship", relationship.name());
    }
    if type_ref.nullable() {
        key(out, start, "nullable");
        out.extend_from_slice(b"true");
    }
    out.push(b'}');
}

fn list(out: &mut Vec<u8>, list: List<'_>) {
    let start = open(out);
    if !list.element_type().is_empty() {
        key(out, start, "elementType");
        type_ref(out, list.element_type());
    }
    if let Some(relationship) = list.relationship() {
        text(out, start, "elementRelationship", relationship.name());
    }
    if list.keys().len() > 0 {
        key(out, start, "keys");
        array(out, list.keys(), |out, key| escape::string(out, key, Escape::Plain));
    }
    out.push(b'}');
}

fn map(out: &mut Vec<u8>, map: Map<'_>) {
    let start = open(out);
    if map.fields().len() > 0 {
        key(out, start, "fields");
        array(out, map.fields(), field);
    }
    if map.unions().len() > 0 {
        key(out, start, "unions");
        array(out, map.unions(), union);
    }
    if !map.element_type().is_empty() {
        key(out, start, "elementType");
        type_ref(out, map.element_type());
    }
    if let Some(relationship) = map.relationship() {
        text(out, start, "elementRelationship", relationship.name());
    }
    out.push(b'}');
}

fn field(out: &mut Vec<u8>, field: Field<'_>) {
    let start = open(out);
    text(out, start, "name", field.name());
    let type_data = field.data.type_ref;
    let constant: &[u8] = match type_data.atom {
        _ if !type_data.is_plain_atom() => b"",
        AtomId::STRING => br#""type":{"scalar":"string"}"#,
        AtomId::NUMERIC => br#""type":{"scalar":"numeric"}"#,
        AtomId::BOOLEAN => br#""type":{"scalar":"boolean"}"#,
        AtomId::UNTYPED => br#""type":{"scalar":"untyped"}"#,
        _ => b"",
    };
    if !constant.is_empty() {
        // Most fields are of these types.
        out.push(b',');
        out.extend_from_slice(constant);
    } else if !field.type_ref().is_empty() {
        key(out, start, "type");
        type_ref(out, field.type_ref());
    }
    if let Some(default) = field.default_json() {
        key(out, start, "default");
        out.extend_from_slice(default.as_bytes());
    }
    out.push(b'}');
}

fn union(out: &mut Vec<u8>, union: Union<'_>) {
    let start = open(out);
    if let Some(discriminator) = union.discriminator() {
        text(out, start, "discriminator", discriminator);
    }
    if union.deduce_invalid_discriminator() {
        key(out, start, "deduceInvalidDiscriminator");
        out.extend_from_slice(b"true");
    }
    if union.fields().len() > 0 {
        key(out, start, "fields");
        array(out, union.fields(), |out, field| {
            let start = open(out);
            text(out, start, "fieldName", field.field_name());
            text(out, start, "discriminatorValue", field.discriminator_value());
            out.push(b'}');
        });
    }
    out.push(b'}');
}

/// Prints the value as JSON.
fn debug(f: &mut fmt::Formatter<'_>, print: impl FnOnce(&mut Vec<u8>)) -> fmt::Result {
    let mut out = Vec::new();
    print(&mut out);
    f.write_str(&String::from_utf8_lossy(&out))
}

macro_rules! debug_as_json {
    ($($name:ident $($lifetime:lifetime)?: $print:expr;)*) => {$(
        impl fmt::Debug for $name $(<$lifetime>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                debug(f, |out| $print(out, *self))
            }
        }
    )*};
}

debug_as_json! {
    TypeDef '_: type_def;
    TypeRef '_: type_ref;
    List '_: list;
    Map '_: map;
    Field '_: field;
    Union '_: union;
    Atom '_: |out: &mut Vec<u8>, atom| {
        let start = open(out);
        atom_members(out, start, atom);
        out.push(b'}');
    };
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        debug(f, |out| print_json(self, out))
    }
}
