//! Reads objects and changes their metadata, as the methods of `unstructured.Unstructured` do.

use crate::Bump;
use crate::value::{Map, Value};
use kubeshape_yaml::{Limits, Path, Stream, Tape};

const METADATA: &str = "metadata";
const MANAGED_FIELDS: &str = "managedFields";

/// A member of the metadata.
pub(super) fn meta<'a>(object: Value<'a>, key: &str) -> Option<Value<'a>> {
    object.get(METADATA)?.get(key)
}

/// Returns a string of the metadata, or `""` if it is absent.
pub(super) fn meta_text<'a>(object: Value<'a>, key: &str) -> &'a str {
    meta(object, key).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the unparsed managed fields of an object.
pub(super) fn managed_fields(object: Value<'_>) -> Option<Value<'_>> {
    meta(object, MANAGED_FIELDS)
}

/// Returns the object without managed fields.
pub(super) fn without_managed_fields<'a>(object: Value<'a>, arena: &'a Bump) -> Value<'a> {
    if managed_fields(object).is_none() {
        return object;
    }
    with_meta(object, MANAGED_FIELDS, None, arena)
}

/// Returns the object with these managed fields.
pub(super) fn with_managed_fields<'a>(object: Value<'a>, list: Option<Value<'a>>, arena: &'a Bump) -> Value<'a> {
    if list.is_none() { without_managed_fields(object, arena) } else { with_meta(object, MANAGED_FIELDS, list, arena) }
}

/// Returns the object for a merge, with its managed fields replaced by an empty list. The member must stay, because it
/// keeps the metadata from being empty. No manager owns its contents, and an empty list saves walking over them.
pub(super) fn with_empty_managed_fields<'a>(object: Value<'a>, arena: &'a Bump) -> Value<'a> {
    match managed_fields(object) {
        Some(Value::List(items)) if !items.is_empty() => {
            with_meta(object, MANAGED_FIELDS, Some(Value::List(&[])), arena)
        }
        _ => object,
    }
}

/// Returns the object with a member of its metadata set or removed. Metadata that is not a map is not changed.
pub(super) fn with_meta<'a>(object: Value<'a>, key: &'a str, value: Option<Value<'a>>, arena: &'a Bump) -> Value<'a> {
    let Value::Map(members) = object else { return object };
    let meta = match members.get(METADATA) {
        Some(Value::Map(meta)) => meta,
        None if value.is_some() => Map::EMPTY,
        _ => return object,
    };
    Value::Map(members.with(METADATA, Some(Value::Map(meta.with(key, value, arena))), arena))
}

/// Returns an object with only its kind.
pub(super) fn empty<'a>(api_version: &'a str, kind: &'a str, arena: &'a Bump) -> Value<'a> {
    let members = vec![("apiVersion", Value::String(api_version)), ("kind", Value::String(kind))];
    Value::Map(Map::from_entries(members, arena))
}

/// Returns the value of a string that is exactly one JSON value.
pub(super) fn read_json<'a>(text: &str, arena: &'a Bump) -> Option<Value<'a>> {
    let mut tape = Tape::new();
    let mut stream = Stream::with_path(text.as_bytes(), Limits::default(), Path::Json).ok()?;
    stream.next(&mut tape)?.ok()?;
    let scratch = Bump::new();
    let value = Value::from_node(tape.document(stream.source()).root()?, &scratch).copy_into(arena);
    stream.next(&mut tape).is_none().then_some(value)
}
