//! Values of objects: reading, fields by path, writing with a placeholder for the revision.

use kubeshape_smd::value::Map;
use kubeshape_smd::{Bump, Value};
use kubeshape_yaml::{Limits, Stream, Tape};

/// Reads a single JSON or YAML document into a tape.
///
/// # Errors
/// The input is malformed. The message is the reader's.
pub(crate) fn read(text: &[u8], tape: &mut Tape) -> Result<(), String> {
    let mut stream = Stream::new(text, Limits::default()).map_err(|error| error.to_string())?;
    match stream.next(tape) {
        Some(Ok(())) => {}
        Some(Err(error)) => return Err(error.to_string()),
        None => return Err("EOF".to_owned()),
    }
    Ok(())
}

/// The largest body of a request in bytes (upstream: `MaxRequestBodyBytes`).
pub const MAX_BODY: usize = 3 << 20;

/// The most bytes that a body may have as JSON: aliases of YAML can make it far larger.
pub const MAX_EXPANDED: usize = 12 << 20;

/// Reads the document of a body. Its aliases do not make it much larger.
///
/// # Errors
/// The input is malformed. The message is the reader's.
pub(crate) fn read_body(text: &[u8], tape: &mut Tape) -> Result<(), String> {
    read(text, tape)?;
    let may_have_aliases = [b'&', b'*'].into_iter().all(|sign| memchr::memchr(sign, text).is_some());
    if may_have_aliases && of_tape(text, tape, &Bump::new()).json_len(MAX_EXPANDED).is_none() {
        return Err(format!("the aliases of the document make it larger than {MAX_EXPANDED} bytes"));
    }
    Ok(())
}

/// Returns whether a text is one JSON value (Go's `json.Valid`).
pub(crate) fn is_json(text: &[u8]) -> bool {
    serde_json::from_slice::<&serde_json::value::RawValue>(text).is_ok()
}

/// Reads a single document as a value.
///
/// # Errors
/// The input is malformed. The message is the reader's.
pub(crate) fn parsed<'a>(text: &'a [u8], tape: &'a mut Tape, arena: &'a Bump) -> Result<Value<'a>, String> {
    read(text, tape)?;
    Ok(of_tape(text, tape, arena))
}

/// Returns the value of a source that was read into a tape.
pub(crate) fn of_tape<'a>(text: &'a [u8], tape: &'a Tape, arena: &'a Bump) -> Value<'a> {
    let source = std::str::from_utf8(text).unwrap_or_default();
    tape.document(source).root().map_or(Value::Null, |root| Value::from_node(root, arena))
}

/// Returns the name of a value's type in errors of Go's decoder.
pub(crate) fn json_name(value: Value<'_>) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Int(_) | Value::Float(_) => "number",
        Value::String(_) => "string",
        Value::List(_) => "array",
        Value::Map(_) => "object",
    }
}

/// Returns the metadata of an object.
pub(crate) fn metadata(object: Value<'_>) -> Value<'_> {
    object.get("metadata").unwrap_or(Value::Null)
}

/// Returns a string of the metadata; empty if missing.
pub(crate) fn meta_text<'a>(object: Value<'a>, key: &str) -> &'a str {
    metadata(object).get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the object with a field of its metadata set or removed.
pub(crate) fn with_meta<'a>(object: Value<'a>, key: &'a str, member: Option<Value<'a>>, arena: &'a Bump) -> Value<'a> {
    let Value::Map(map) = object else { return object };
    let metadata = map.get("metadata").and_then(Value::as_map).unwrap_or(Map::EMPTY);
    Value::Map(map.with("metadata", Some(Value::Map(metadata.with(key, member, arena))), arena))
}

/// Returns the map with a key set or removed.
pub(crate) fn with<'a>(value: Value<'a>, key: &'a str, member: Option<Value<'a>>, arena: &'a Bump) -> Value<'a> {
    match value {
        Value::Map(map) => Value::Map(map.with(key, member, arena)),
        other => other,
    }
}

/// Returns the value at a path such as `.spec.replicas`.
pub(crate) fn at_path<'a>(object: Value<'a>, path: &str) -> Option<Value<'a>> {
    let names = path.strip_prefix('.').unwrap_or(path).split('.');
    names.into_iter().try_fold(object, Value::get)
}

/// Returns the object with the value at such a path set. Missing maps are created.
pub(crate) fn with_path<'a>(object: Value<'a>, path: &'a str, value: Value<'a>, arena: &'a Bump) -> Value<'a> {
    let path = path.strip_prefix('.').unwrap_or(path);
    let map = object.as_map().unwrap_or(Map::EMPTY);
    match path.split_once('.') {
        None => Value::Map(map.with(path, Some(value), arena)),
        Some((name, rest)) => {
            let below = map.get(name).unwrap_or(Value::Map(Map::EMPTY));
            Value::Map(map.with(name, Some(with_path(below, rest, value, arena)), arena))
        }
    }
}
