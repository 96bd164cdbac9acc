//! Schemas as YAML, formatted as upstream's tools do it.

use super::model::{AtomId, FieldData, RefData, Schema};
use super::view::{Atom, Field, List, Map, TypeRef, Union};
use super::yaml_text;

/// Appends the schema as block YAML: members in upstream's order, sequences not indented.
///
/// # Example: the format
/// ```
/// use kubeshape_smd::schema::{deduced, print_yaml};
/// let mut out = Vec::new();
/// print_yaml(&deduced(), &mut out);
/// let text = String::from_utf8(out).unwrap();
/// assert!(text.starts_with("\
/// types:
/// - name: __untyped_atomic_
///   scalar: untyped
///   list:
///     elementType:
///       namedType: __untyped_atomic_
///     elementRelationship: atomic
/// "));
/// ```
pub fn print_yaml(schema: &Schema, out: &mut Vec<u8>) {
    if schema.types().len() == 0 {
        out.extend_from_slice(b"{}\n");
        return;
    }
    out.extend_from_slice(b"types:\n");
    for def in schema.types() {
        let start = out.len();
        text(out, 2, "name: ", def.name());
        atom_members(out, 2, def.atom());
        item(out, start, 0);
    }
}

/// Appends the start of a line. Reserving all of the memory in one step matters: most lines of a schema are short.
#[inline]
fn line(out: &mut Vec<u8>, depth: usize, content: &str) {
    let at = out.len() + depth;
    out.resize(at + content.len(), b' ');
    out[at..].copy_from_slice(content.as_bytes());
}

#[inline]
fn text(out: &mut Vec<u8>, depth: usize, key: &str, value: &str) {
    line(out, depth, key);
    yaml_text::string(out, value);
    out.push(b'\n');
}

/// Converts the output from `start` on, two columns further right, to an item at `depth`.
#[inline]
fn item(out: &mut Vec<u8>, start: usize, depth: usize) {
    if out.len() == start {
        line(out, depth, "- {}\n");
    } else {
        out[start + depth] = b'-';
    }
}

/// Gives the key that ends at `start` an empty mapping, if nothing was printed after it.
#[inline]
fn empty_if_nothing(out: &mut Vec<u8>, start: usize) {
    if out.len() == start {
        out.pop();
        out.extend_from_slice(b" {}\n");
    }
}

fn atom_members(out: &mut Vec<u8>, depth: usize, atom: Atom<'_>) {
    if let Some(scalar) = atom.scalar() {
        text(out, depth, "scalar: ", scalar.name());
    }
    if let Some(value) = atom.list() {
        line(out, depth, "list:\n");
        list(out, depth + 2, value);
    }
    if let Some(value) = atom.map() {
        line(out, depth, "map:\n");
        map(out, depth + 2, value);
    }
}

fn type_ref(out: &mut Vec<u8>, depth: usize, type_ref: TypeRef<'_>) {
    if let Some(name) = type_ref.named() {
        text(out, depth, "namedType: ", name);
    }
    atom_members(out, depth, type_ref.inlined());
    if let Some(relationship) = type_ref.relationship() {
        text(out, depth, "elementRelationship: ", relationship.name());
    }
    if type_ref.nullable() {
        line(out, depth, "nullable: true\n");
    }
}

fn element_type(out: &mut Vec<u8>, depth: usize, element: TypeRef<'_>) {
    if !element.is_empty() {
        line(out, depth, "elementType:\n");
        type_ref(out, depth + 2, element);
    }
}

fn list(out: &mut Vec<u8>, depth: usize, list: List<'_>) {
    let start = out.len();
    element_type(out, depth, list.element_type());
    if let Some(relationship) = list.relationship() {
        text(out, depth, "elementRelationship: ", relationship.name());
    }
    if list.keys().len() > 0 {
        line(out, depth, "keys:\n");
        for key in list.keys() {
            text(out, depth, "- ", key);
        }
    }
    empty_if_nothing(out, start);
}

fn map(out: &mut Vec<u8>, depth: usize, map: Map<'_>) {
    let start = out.len();
    if map.fields().len() > 0 {
        line(out, depth, "fields:\n");
        for value in map.fields() {
            field(out, depth, value);
        }
    }
    if map.unions().len() > 0 {
        line(out, depth, "unions:\n");
        for value in map.unions() {
            union(out, depth, value);
        }
    }
    element_type(out, depth, map.element_type());
    if let Some(relationship) = map.relationship() {
        text(out, depth, "elementRelationship: ", relationship.name());
    }
    empty_if_nothing(out, start);
}

fn field(out: &mut Vec<u8>, depth: usize, field: Field<'_>) {
    if scalar_field(out, depth, field) {
        return;
    }
    let start = out.len();
    text(out, depth + 2, "name: ", field.name());
    if !field.type_ref().is_empty() {
        line(out, depth + 2, "type:\n");
        type_ref(out, depth + 4, field.type_ref());
    }
    if let Some(default) = field.default_json() {
        line(out, depth + 2, "default:");
        yaml_text::json(out, depth + 2, default);
    }
    item(out, start, depth);
}

/// Prints the most frequent kind of field in one step: only a plain name and a scalar type.
#[inline]
fn scalar_field(out: &mut Vec<u8>, depth: usize, field: Field<'_>) -> bool {
    let FieldData { type_ref, default, .. } = field.data;
    let tail: &[u8; 16] = match type_ref.atom {
        AtomId::STRING => b"scalar: string\n\n",
        AtomId::NUMERIC => b"scalar: numeric\n",
        AtomId::BOOLEAN => b"scalar: boolean\n",
        AtomId::UNTYPED => b"scalar: untyped\n",
        _ => return false,
    };
    if !RefData::is_plain_atom(*type_ref) || !default.is_none() || !yaml_text::surely_plain(field.name()) {
        return false;
    }
    let name = field.name().as_bytes();
    // Where the three strings begin: each line is indented two columns more than the one before.
    let first = out.len() + depth;
    let second = first + HEAD.len() + name.len() + 1 + depth + 2;
    let third = second + TYPE.len() + depth + 4;
    out.resize(third + tail.len(), b' ');
    out[first..first + HEAD.len()].copy_from_slice(HEAD);
    out[first + HEAD.len()..][..name.len()].copy_from_slice(name);
    out[first + HEAD.len() + name.len()] = b'\n';
    out[second..second + TYPE.len()].copy_from_slice(TYPE);
    out[third..third + tail.len()].copy_from_slice(tail);
    if type_ref.atom == AtomId::STRING {
        out.pop();
    }
    true
}

const HEAD: &[u8; 8] = b"- name: ";
const TYPE: &[u8; 6] = b"type:\n";

fn union(out: &mut Vec<u8>, depth: usize, union: Union<'_>) {
    let start = out.len();
    if let Some(discriminator) = union.discriminator() {
        text(out, depth + 2, "discriminator: ", discriminator);
    }
    if union.deduce_invalid_discriminator() {
        line(out, depth + 2, "deduceInvalidDiscriminator: true\n");
    }
    if union.fields().len() > 0 {
        line(out, depth + 2, "fields:\n");
        for field in union.fields() {
            text(out, depth + 2, "- fieldName: ", field.field_name());
            text(out, depth + 4, "discriminatorValue: ", field.discriminator_value());
        }
    }
    item(out, start, depth);
}
