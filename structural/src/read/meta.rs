//! `metadata` and `status`. Because of mistakes in them, the server rejects the object. Few fields are kept.

use super::fields::fields;
use super::scalar::time;
use super::spec;
use crate::Status;
use kubeshape_gotypes::definition::{CONDITION, STATUS};
use kubeshape_gotypes::metadata::OBJECT_META;
use kubeshape_gotypes::{Field, Struct, Type};
use kubeshape_schema::read::Reader;
use kubeshape_yaml::Node;

/// Reads an ObjectMeta and returns the name.
pub(super) fn object_meta<'a>(reader: &mut Reader<'a>, node: Node<'a>) -> &'a str {
    let mut name = "";
    fields(reader, node, "a mapping of metadata", |r, key, value| {
        if key == "name" {
            name = r.text(value);
            return true;
        }
        field(r, &OBJECT_META, key, value)
    });
    name
}

/// Checks a field of a struct. Returns `false` if the struct has no such field.
fn field<'a>(reader: &mut Reader<'a>, ty: &Struct, key: &str, value: Node<'a>) -> bool {
    let Some(field) = ty.field(key) else { return false };
    check(reader, field, value);
    true
}

fn check<'a>(reader: &mut Reader<'a>, field: &'static Field, value: Node<'a>) {
    match field.ty {
        Type::Text(_) => _ = reader.text(value),
        Type::Int => _ = reader.integer(value),
        Type::Bool => _ = reader.optional_boolean(value),
        Type::Time => time(reader, value),
        Type::Map(_) => text_map(reader, value),
        Type::List(Type::Of(inner)) => {
            let (list, item) = match field.name {
                "ownerReferences" => ("a list of owner references", "an owner reference"),
                _ => ("a list of managed fields", "a managed fields entry"),
            };
            reader.each_item(value, list, |r, node| {
                fields(r, node, item, |r, key, value| self::field(r, inner, key, value));
            });
        }
        Type::List(_) => _ = reader.texts(value),
        // Any JSON value is valid here.
        _ => {}
    }
}

/// Reads a CustomResourceDefinitionStatus.
pub(super) fn status<'a>(reader: &mut Reader<'a>, node: Node<'a>) -> Status<'a> {
    let mut status = Status::default();
    fields(reader, node, "a status", |r, key, value| {
        match key {
            "conditions" => r.each_item(value, "a list of conditions", |r, item| {
                let (ty, value) = condition(r, item);
                let known = match ty {
                    "Established" => &mut status.established,
                    "Terminating" => &mut status.terminating,
                    _ => return,
                };
                known.get_or_insert(value == "True");
            }),
            "storedVersions" => {
                let versions = r.texts(value);
                status.stored_versions = (!value.is_null()).then_some(versions);
            }
            "acceptedNames" => {
                let names = spec::names(r, value);
                status.accepted = (!value.is_null()).then_some(names);
            }
            _ => return field(r, &STATUS, key, value),
        }
        true
    });
    status
}

/// Reads a condition and returns its type and status.
fn condition<'a>(reader: &mut Reader<'a>, node: Node<'a>) -> (&'a str, &'a str) {
    let mut condition = ("", "");
    fields(reader, node, "a condition", |r, key, value| {
        match key {
            "type" => condition.0 = r.text(value),
            "status" => condition.1 = r.text(value),
            _ => return field(r, &CONDITION, key, value),
        }
        true
    });
    condition
}

/// Checks a mapping of strings.
fn text_map<'a>(reader: &mut Reader<'a>, node: Node<'a>) {
    fields(reader, node, "a mapping of strings", |r, _, value| {
        r.text(value);
        true
    });
}
