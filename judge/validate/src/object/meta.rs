//! Metadata as typed fields: `objectmeta.GetObjectMetaWithOptions`, `SetObjectMeta`, `Coerce` and `Validate`.
//!
//! A server decodes metadata into Go structs and writes them back. That refuses fields of wrong types, drops unknown
//! and empty ones, and rewrites times in one form. The structs are tables of `kubeshape-gotypes`.

use super::edit::Entries;
use super::equal::{Printing, identical};
use crate::metadata::{self, ManagedFields, ObjectMeta, OwnerReference};
use crate::names;
use crate::release::{AskedRelease, Change};
use kubeshape_gotypes::Printed;
use kubeshape_gotypes::Struct;
use kubeshape_gotypes::Type::{self, Bool, Int, List, Of, Text, Time as Instant};
use kubeshape_gotypes::metadata::OBJECT_META;
use kubeshape_schema::field::{Error, Errors, Path, Paths};
use kubeshape_schema::{Bump, Flags, Schema, parse_group_version};
use kubeshape_value::Map;
use kubeshape_value::Value;
use kubeshape_yaml::go::Time;
use kubeshape_yaml::go::time::parse_error;
use std::fmt;

/// Decoded metadata.
#[derive(Clone, Debug)]
pub struct Decoded<'a> {
    /// As the server writes it.
    pub value: Value<'a>,
    /// The paths of unknown fields, in order: `ownerReferences[0].colour`.
    pub unknown: Vec<String>,
}

/// Decodes metadata.
///
/// # Errors
/// A field has the wrong type. The message is Go's, such as
/// `json: cannot unmarshal number into Go struct field ObjectMeta.name of type string`.
///
/// # Example
/// ```
/// use kubeshape_schema::Bump;
/// use kubeshape_value::ToValue;
/// use kubeshape_validate::object::decode_metadata;
/// let arena = Bump::new();
/// let metadata = serde_json::json!({"name": "a", "colour": "red", "labels": {}});
/// let decoded = decode_metadata(metadata.to_value(&arena), &arena)?;
/// assert_eq!(decoded.value.to_serde(), serde_json::json!({"name": "a"}));
/// assert_eq!(decoded.unknown, ["colour"]);
/// # Ok::<(), String>(())
/// ```
pub fn decode_metadata<'a>(value: Value<'a>, arena: &'a Bump) -> Result<Decoded<'a>, String> {
    let mut decoder = Decoder { arena, unknown: Vec::new(), mismatch: None };
    let value = match value {
        Value::Null => Value::Map(Map::EMPTY),
        Value::Map(map) => decoder.fields(map, &OBJECT_META, None)?,
        other => {
            return Err(format!("json: cannot unmarshal {} into Go value of type v1.ObjectMeta", json_name(other)));
        }
    };
    decoder.mismatch.map_or(Ok(Decoded { value, unknown: decoder.unknown }), Err)
}

/// Returns the name that Go's decoder uses for the type of a value.
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

struct Decoder<'a> {
    arena: &'a Bump,
    unknown: Vec<String>,
    /// The error for the first value of a wrong type. Decoding continues, because an invalid time takes precedence.
    mismatch: Option<String>,
}

impl<'a> Decoder<'a> {
    fn fields(&mut self, map: Map<'a>, ty: &'static Struct, place: Place) -> Result<Value<'a>, String> {
        let mut entries = Entries::of(map, self.arena);
        for (key, value) in map.entries() {
            let Some(field) = ty.field(key) else {
                self.unknown.push(format!("{}{key}", Prefix(place, true)));
                entries.drop();
                continue;
            };
            let written = self.field(*value, At { ty, kind: &field.ty, name: field.name, place })?;
            entries.put_or_drop(written.filter(|value| field.printed != Printed::Filled || !is_empty(*value)));
        }
        // All fields that are always printed are strings.
        for field in ty.fields.iter().filter(|field| field.printed == Printed::Always) {
            if map.get(field.name).is_none_or(|value| value.as_str().is_none()) {
                entries.replace(field.name, Value::String(""));
            }
        }
        Ok(entries.finish(Value::Map(map)))
    }

    /// Returns the value as it is written, `None` for null.
    fn field(&mut self, value: Value<'a>, at: At) -> Result<Option<Value<'a>>, String> {
        if value.is_null() {
            return Ok(None);
        }
        Ok(match (at.kind, value) {
            (Text(_), Value::String(_)) | (Bool, Value::Bool(_)) | (Int, Value::Int(_)) => Some(value),
            #[expect(clippy::cast_possible_truncation, reason = "whole and within the range")]
            (Int, Value::Float(n)) if n.fract() == 0.0 && n.abs() < 1e18 => Some(Value::Int(n as i64)),
            (Int, Value::Float(n)) => {
                let mut text = Vec::new();
                kubeshape_yaml::go::number::write_json(n, &mut text);
                self.wrong(&format!("number {}", String::from_utf8_lossy(&text)), at, "int64");
                None
            }
            (Text(name), other) => self.other(other, at, name),
            (Int, other) => self.other(other, at, "int64"),
            (Bool, other) => self.other(other, at, "bool"),
            (Instant, Value::String(text)) => match Time::parse(text) {
                Some(time) if time == Time::ZERO => None,
                Some(time) => {
                    let written = time.to_string();
                    Some(if written == text { value } else { Value::String(self.arena.alloc_str(&written)) })
                }
                None => return Err(time_error(text)),
            },
            (Instant, other) => return Err(mismatch(json_name(other), at, "string")),
            (Type::Map(_), Value::Map(map)) => {
                let mut entries = Entries::of(map, self.arena);
                for (_, value) in map.entries() {
                    entries.put(self.text(*value, at));
                }
                Some(entries.finish(value))
            }
            (Type::Map(_), other) => self.other(other, at, "map[string]string"),
            (List(Text(_)), Value::List(items)) => {
                if items.iter().all(|item| item.as_str().is_some()) {
                    return Ok(Some(value));
                }
                let items: Vec<Value<'a>> = items.iter().map(|item| self.text(*item, at)).collect();
                Some(Value::List(self.arena.alloc_slice_copy(&items)))
            }
            (List(Text(_)), other) => self.other(other, at, "[]string"),
            (List(Of(inner)), Value::List(items)) => {
                let mut list = Vec::with_capacity(items.len());
                for (number, item) in items.iter().enumerate() {
                    list.push(match item {
                        Value::Map(map) => self.fields(*map, inner, Some((at.name, number)))?,
                        Value::Null => self.fields(Map::EMPTY, inner, None)?,
                        other => {
                            self.wrong(json_name(*other), at, &format!("v1.{}", inner.name));
                            Value::Null
                        }
                    });
                }
                let is_same = list.iter().zip(items).all(|(new, old)| identical(*new, *old));
                Some(if is_same { value } else { Value::List(self.arena.alloc_slice_copy(&list)) })
            }
            (List(Of(inner)), other) => self.other(other, at, &format!("[]v1.{}", inner.name)),
            (_, value) => Some(value),
        })
    }

    /// Returns a string in a list or map; null becomes an empty string.
    fn text(&mut self, value: Value<'a>, at: At) -> Value<'a> {
        match value {
            Value::String(_) => value,
            Value::Null => Value::String(""),
            other => self.other(other, at, "string").unwrap_or(Value::String("")),
        }
    }

    fn other(&mut self, value: Value<'a>, at: At, expected: &str) -> Option<Value<'a>> {
        self.wrong(json_name(value), at, expected);
        None
    }

    #[cold]
    fn wrong(&mut self, found: &str, at: At, expected: &str) {
        if self.mismatch.is_none() {
            self.mismatch = Some(mismatch(found, at, expected));
        }
    }
}

/// The list that contains a struct, and its index there; `None` for the metadata itself. Lists do not nest.
type Place = Option<(&'static str, usize)>;

/// A field.
#[derive(Clone, Copy)]
struct At {
    /// The struct that contains it.
    ty: &'static Struct,
    kind: &'static Type,
    name: &'static str,
    place: Place,
}

/// The prefix of a field's name in paths. The flag adds the index of the struct in its list, which Go's errors omit.
struct Prefix(Place, bool);

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Prefix(None, _) => Ok(()),
            Prefix(Some((list, number)), true) => write!(f, "{list}[{number}]."),
            Prefix(Some((list, _)), false) => write!(f, "{list}."),
        }
    }
}

#[cold]
fn mismatch(found: &str, at: At, expected: &str) -> String {
    let At { ty, name, place, .. } = at;
    let prefix = Prefix(place, false);
    format!("json: cannot unmarshal {found} into Go struct field {}.{prefix}{name} of type {expected}", ty.name)
}

/// Returns whether `omitempty` drops this value.
fn is_empty(value: Value<'_>) -> bool {
    match value {
        Value::String(text) => text.is_empty(),
        Value::Int(n) => n == 0,
        Value::List(items) => items.is_empty(),
        Value::Map(map) => map.is_empty(),
        _ => false,
    }
}

/// Returns Go's error for a string that is not a time.
pub(crate) fn time_error(text: &str) -> String {
    parse_error(text, "2006-01-02T15:04:05Z07:00")
}

/// How to treat embedded resources whose type or metadata is malformed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// It is an error, as in a request.
    Refuse,
    /// Malformed fields are dropped, as from storage.
    Drop,
}

/// Decodes the metadata of embedded resources and writes it back (`CoerceWithOptions`). Unknown fields in it are
/// dropped and reported, sorted. `root` says whether the value is a whole object itself.
///
/// # Errors
/// An `apiVersion` or a `kind` is not a string, or metadata does not decode. Returns the first error by key.
pub fn coerce<'a>(
    value: Value<'a>,
    schema: Option<&Schema<'_>>,
    root: super::Root,
    malformed: Malformed,
    path: &Path<'_>,
    arena: &'a Bump,
) -> Result<Decoded<'a>, Box<Error>> {
    coerce_with(Printing::Json, value, schema, root, malformed, path, arena)
}

/// Like [`coerce`]. `printing` is the format of values in errors.
pub(super) fn coerce_with<'a>(
    printing: Printing<'_>,
    value: Value<'a>,
    schema: Option<&Schema<'_>>,
    root: super::Root,
    malformed: Malformed,
    path: &Path<'_>,
    arena: &'a Bump,
) -> Result<Decoded<'a>, Box<Error>> {
    let coercer = Coercer { arena, malformed, printing, unknown: Paths::default(), error: None };
    let (decoded, error) = coercer.run(value, schema, root, path);
    error.map_or(Ok(decoded), Err)
}

/// Works like [`coerce`], and returns the value as changed up to the first error: upstream changes values in place.
pub(crate) fn coerce_until_error<'a>(
    value: Value<'a>,
    schema: Option<&Schema<'_>>,
    root: super::Root,
    malformed: Malformed,
    path: &Path<'_>,
    arena: &'a Bump,
) -> (Decoded<'a>, Option<Box<Error>>) {
    let coercer = Coercer { arena, malformed, printing: Printing::Json, unknown: Paths::default(), error: None };
    coercer.run(value, schema, root, path)
}

struct Coercer<'a, 'r> {
    arena: &'a Bump,
    malformed: Malformed,
    printing: Printing<'r>,
    unknown: Paths,
    /// The first error. Later fields are not changed.
    error: Option<Box<Error>>,
}

impl<'a> Coercer<'a, '_> {
    fn run(
        mut self,
        value: Value<'a>,
        schema: Option<&Schema<'_>>,
        root: super::Root,
        path: &Path<'_>,
    ) -> (Decoded<'a>, Option<Box<Error>>) {
        let value = self.value(value, schema, root == super::Root::Resource, path);
        self.unknown.sort();
        (Decoded { value, unknown: self.unknown.into_vec() }, self.error)
    }

    /// Recursion is bounded: the schema reader limits nesting.
    fn value(&mut self, value: Value<'a>, schema: Option<&Schema<'_>>, root: bool, path: &Path<'_>) -> Value<'a> {
        let embedded = root || schema.is_some_and(|schema| schema.flags.any(Flags::EMBEDDED_RESOURCE));
        if self.error.is_some() || !root && !schema.is_some_and(|schema| schema.subtree.any(Flags::EMBEDDED_RESOURCE)) {
            return value;
        }
        match value {
            Value::Map(map) => {
                let mut entries = Entries::of(map, self.arena);
                for (key, child) in map.entries() {
                    let is_meta = embedded && self.error.is_none();
                    let Some(mut new) = (if is_meta { self.meta(key, *child, path) } else { Some(*child) }) else {
                        entries.drop();
                        continue;
                    };
                    if let Some(below) = schema.and_then(|schema| schema.property(key)) {
                        new = self.value(new, Some(below), false, &path.child(key));
                    } else if let Some(below) = schema.and_then(Schema::additional_schema) {
                        new = self.value(new, Some(below), false, &path.key(key));
                    }
                    entries.put(new);
                }
                entries.finish(value)
            }
            Value::List(items) => {
                let below = schema.and_then(Schema::item);
                let mut list = Vec::with_capacity(items.len());
                for (at, item) in items.iter().enumerate() {
                    list.push(self.value(*item, below, false, &path.index(at)));
                }
                let same = list.iter().zip(items).all(|(new, old)| identical(*new, *old));
                if same { value } else { Value::List(self.arena.alloc_slice_copy(&list)) }
            }
            scalar => scalar,
        }
    }

    /// Returns a field of an embedded resource, `None` if it is dropped.
    fn meta(&mut self, key: &str, value: Value<'a>, path: &Path<'_>) -> Option<Value<'a>> {
        let drops = self.malformed == Malformed::Drop;
        match key {
            "apiVersion" | "kind" if value.as_str().is_none() => {
                if drops {
                    return None;
                }
                let shown = self.printing.bad_value(value);
                self.error = Some(Box::new(Error::invalid(&path.child(key), shown, "must be a string", 0)));
                Some(value)
            }
            "metadata" => {
                let decoded = match (decode_metadata(value, self.arena), value) {
                    (Ok(decoded), _) => decoded,
                    (Err(_), Value::Map(map)) if drops => self.field_by_field(map),
                    (Err(_), _) if drops => return Some(value),
                    (Err(text), _) => {
                        let shown = self.printing.bad_value(value);
                        self.error = Some(Box::new(Error::invalid(&path.child(key), shown, text, 0)));
                        return Some(value);
                    }
                };
                let prefix = path.child("metadata").to_string();
                decoded.unknown.iter().for_each(|field| self.unknown.push(&format_args!("{prefix}.{field}")));
                Some(decoded.value)
            }
            _ => Some(value),
        }
    }

    /// Returns the fields that decode on their own.
    fn field_by_field(&self, map: Map<'a>) -> Decoded<'a> {
        let mut out = Vec::with_capacity(map.len());
        let mut unknown = Vec::new();
        for (key, value) in map.entries() {
            let alone = Value::Map(Map::from_entries(vec![(*key, *value)], self.arena));
            if let Ok(decoded) = decode_metadata(alone, self.arena) {
                out.extend(decoded.value.as_map().map(Map::entries).unwrap_or_default().iter().copied());
                unknown.extend(decoded.unknown);
            }
        }
        Decoded { value: Value::Map(Map::from_entries(out, self.arena)), unknown }
    }
}

/// Checks the type and the metadata of embedded resources: `objectmeta.Validate`.
pub fn embedded(
    value: Value<'_>,
    schema: Option<&Schema<'_>>,
    root: super::Root,
    path: &Path<'_>,
    release: &AskedRelease,
) -> Vec<Error> {
    let mut errors = Errors::default();
    check_embedded(value, schema, root == super::Root::Resource, path, release, &mut errors);
    errors.into_vec()
}

fn check_embedded(
    value: Value<'_>,
    schema: Option<&Schema<'_>>,
    root: bool,
    path: &Path<'_>,
    release: &AskedRelease,
    errors: &mut Errors,
) {
    let below = |flags: Flags| flags.any(Flags::EMBEDDED_RESOURCE);
    if !root && !schema.is_some_and(|schema| below(schema.subtree)) {
        return;
    }
    match value {
        Value::Map(map) => {
            if root || schema.is_some_and(|schema| below(schema.flags)) {
                check_resource(map, path, release, errors);
            }
            let Some(schema) = schema else { return };
            for (key, child) in map.entries() {
                if let Some(below) = schema.property(key) {
                    check_embedded(*child, Some(below), false, &path.child(key), release, errors);
                } else if let Some(below) = schema.additional_schema() {
                    check_embedded(*child, Some(below), false, &path.key(key), release, errors);
                }
            }
        }
        Value::List(items) => {
            let below = schema.and_then(Schema::item);
            for (at, item) in items.iter().enumerate() {
                check_embedded(*item, below, false, &path.index(at), release, errors);
            }
        }
        _ => {}
    }
}

fn check_resource(map: Map<'_>, path: &Path<'_>, release: &AskedRelease, errors: &mut Errors) {
    for key in ["apiVersion", "kind"] {
        let path = path.child(key);
        let detail = match map.get(key) {
            None => {
                let detail = if release.has(Change::ShortMessages) { "" } else { "must not be empty" };
                errors.push(Error::required(&path, detail, 0));
                continue;
            }
            Some(Value::String("")) => "must not be empty".to_owned(),
            Some(Value::String(text)) if key == "apiVersion" => match parse_group_version(text) {
                Ok(_) => continue,
                Err(error) => error,
            },
            Some(Value::String(text)) => {
                let messages: Vec<String> = names::dns1035_label(&text.to_lowercase()).into_iter().collect();
                if messages.is_empty() {
                    continue;
                }
                format!("may have mixed case, but should otherwise match: {}", messages.join(","))
            }
            Some(_) => "must be a string".to_owned(),
        };
        let value = Printing::Of(release).bad_value(map.get(key).unwrap_or(Value::Null));
        errors.push(Error::invalid(&path, value, detail, 0));
    }
    let Some(value) = map.get("metadata") else { return };
    let arena = Bump::new();
    let path = path.child("metadata");
    match decode_metadata(value, &arena) {
        Err(text) => errors.push(Error::invalid(&path, Printing::Of(release).bad_value(value), text, 0)),
        Ok(decoded) => {
            let mut meta = object_meta(decoded.value, &arena);
            if meta.name.is_empty() {
                // Upstream sets it, too: validation needs a name.
                meta.name = "fakename";
            }
            let namespaced = !meta.namespace.is_empty();
            metadata::validate(&meta, namespaced, &names::path_segment, &path, release, errors);
        }
    }
}

/// Reads the fields of decoded metadata.
pub(super) fn object_meta<'a>(value: Value<'a>, arena: &'a Bump) -> ObjectMeta<'a> {
    let text = |value: Value<'a>| value.as_str().unwrap_or_default();
    let time = |value: Value<'a>| value.as_str().and_then(Time::parse);
    let int = |value| match value {
        Value::Int(n) => Some(n),
        _ => None,
    };
    let texts = |value: Value<'a>| -> &'a [(&'a str, &'a str)] {
        let entries = value.as_map().unwrap_or_default().entries();
        arena.alloc_slice_fill_iter(entries.iter().map(|(key, value)| (*key, text(*value))))
    };
    let items = |value: Value<'a>| value.as_list().unwrap_or_default().iter();
    let of = |item: &Value<'a>, key: &str| item.get(key).map(text).unwrap_or_default();
    let flag = |item: &Value<'a>, key: &str| match item.get(key) {
        Some(Value::Bool(yes)) => Some(yes),
        _ => None,
    };
    let mut meta = ObjectMeta::default();
    for (key, value) in value.as_map().unwrap_or_default().entries() {
        match *key {
            "name" => meta.name = text(*value),
            "generateName" => meta.generate_name = text(*value),
            "namespace" => meta.namespace = text(*value),
            "uid" => meta.uid = text(*value),
            "resourceVersion" => meta.resource_version = text(*value),
            "generation" => meta.generation = int(*value).unwrap_or(0),
            "creationTimestamp" => meta.creation_timestamp = time(*value),
            "deletionTimestamp" => meta.deletion_timestamp = time(*value),
            "deletionGracePeriodSeconds" => meta.deletion_grace_period_seconds = int(*value),
            "labels" => meta.labels = texts(*value),
            "annotations" => meta.annotations = texts(*value),
            "ownerReferences" => {
                meta.owner_references = arena.alloc_slice_fill_iter(items(*value).map(|item| OwnerReference {
                    api_version: of(item, "apiVersion"),
                    kind: of(item, "kind"),
                    name: of(item, "name"),
                    uid: of(item, "uid"),
                    controller: flag(item, "controller"),
                    block_owner_deletion: flag(item, "blockOwnerDeletion"),
                }));
            }
            "finalizers" => meta.finalizers = arena.alloc_slice_fill_iter(items(*value).map(|item| text(*item))),
            "managedFields" => {
                meta.managed_fields = arena.alloc_slice_fill_iter(items(*value).map(|item| ManagedFields {
                    manager: of(item, "manager"),
                    operation: of(item, "operation"),
                    fields_type: of(item, "fieldsType"),
                    subresource: of(item, "subresource"),
                }));
            }
            _ => {}
        }
    }
    meta
}
