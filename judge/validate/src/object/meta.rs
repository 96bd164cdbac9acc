//! Metadata as typed fields: `objectmeta.GetObjectMetaWithOptions`, `SetObjectMeta`, `Coerce` and `Validate`.
//!
//! A server decodes metadata into Go structs and writes them back. That refuses fields of wrong types, drops unknown and
//! empty ones, and brings times into one form. The structs are tables here.

use super::edit::Entries;
use super::equal::{bad_value, identical};
use crate::metadata::{self, ManagedFields, ObjectMeta, OwnerReference};
use crate::names;
use kubeshape_schema::field::{Error, Path};
use kubeshape_schema::{Bump, Flags, Schema};
use kubeshape_value::Map;
use kubeshape_value::Value;
use kubeshape_yaml::go::Time;
use kubeshape_yaml::go::time::parse_error;
use std::fmt;

/// A Go struct.
struct Struct {
    name: &'static str,
    fields: &'static [Field],
}

/// Its name in JSON, its type, and whether it is written even if it is empty.
type Field = (&'static str, Kind, bool);

enum Kind {
    /// A string, with the name of its type.
    Text(&'static str),
    Int,
    /// A pointer to an integer: zero is written.
    OptionalInt,
    OptionalBool,
    Time,
    TextMap,
    TextList,
    List(&'static Struct),
    Any,
}

use Kind::{Any, Int, List, OptionalBool, OptionalInt, Text, TextList, TextMap, Time as Instant};

const STRING: Kind = Text("string");

static OBJECT_META: Struct = Struct {
    name: "ObjectMeta",
    fields: &[
        ("annotations", TextMap, false),
        ("creationTimestamp", Instant, false),
        ("deletionGracePeriodSeconds", OptionalInt, false),
        ("deletionTimestamp", Instant, false),
        ("finalizers", TextList, false),
        ("generateName", STRING, false),
        ("generation", Int, false),
        ("labels", TextMap, false),
        ("managedFields", List(&MANAGED_FIELDS), false),
        ("name", STRING, false),
        ("namespace", STRING, false),
        ("ownerReferences", List(&OWNER_REFERENCE), false),
        ("resourceVersion", STRING, false),
        ("selfLink", STRING, false),
        ("uid", Text("types.UID"), false),
    ],
};

static OWNER_REFERENCE: Struct = Struct {
    name: "OwnerReference",
    fields: &[
        ("apiVersion", STRING, true),
        ("blockOwnerDeletion", OptionalBool, false),
        ("controller", OptionalBool, false),
        ("kind", STRING, true),
        ("name", STRING, true),
        ("uid", Text("types.UID"), true),
    ],
};

static MANAGED_FIELDS: Struct = Struct {
    name: "ManagedFieldsEntry",
    fields: &[
        ("apiVersion", STRING, false),
        ("fieldsType", STRING, false),
        ("fieldsV1", Any, false),
        ("manager", STRING, false),
        ("operation", Text("v1.ManagedFieldsOperationType"), false),
        ("subresource", STRING, false),
        ("time", Instant, false),
    ],
};

/// Metadata that was decoded.
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
/// A field has another type: Go's text, such as
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

/// What Go's decoder calls the type of a value.
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
    /// The first value of another type. Decoding goes on, because a time that does not parse ends it with another error.
    mismatch: Option<String>,
}

impl<'a> Decoder<'a> {
    fn fields(&mut self, map: Map<'a>, ty: &'static Struct, place: Place) -> Result<Value<'a>, String> {
        let mut entries = Entries::of(map, self.arena);
        for (key, value) in map.entries() {
            let Some((name, kind, keep)) = ty.fields.iter().find(|field| field.0 == *key) else {
                self.unknown.push(format!("{}{key}", Prefix(place, true)));
                entries.drop();
                continue;
            };
            let written = self.field(*value, At { ty, kind, name, place })?;
            entries.put_or_drop(written.filter(|value| *keep || !is_empty(*value, kind)));
        }
        for (name, ..) in ty.fields.iter().filter(|field| field.2) {
            if map.get(name).is_none_or(|value| value.as_str().is_none()) {
                entries.replace(name, Value::String(""));
            }
        }
        Ok(entries.finish(Value::Map(map)))
    }

    /// The value as it is written; none if that is null.
    fn field(&mut self, value: Value<'a>, at: At) -> Result<Option<Value<'a>>, String> {
        if value.is_null() {
            return Ok(None);
        }
        Ok(match (at.kind, value) {
            (Text(_), Value::String(_)) | (OptionalBool, Value::Bool(_)) | (Int | OptionalInt, Value::Int(_)) => {
                Some(value)
            }
            #[expect(clippy::cast_possible_truncation, reason = "whole and within the range")]
            (Int | OptionalInt, Value::Float(n)) if n.fract() == 0.0 && n.abs() < 1e18 => Some(Value::Int(n as i64)),
            (Int | OptionalInt, Value::Float(n)) => {
                let mut text = Vec::new();
                kubeshape_yaml::go::number::write_json(n, &mut text);
                self.wrong(&format!("number {}", String::from_utf8_lossy(&text)), at, "int64");
                None
            }
            (Text(name), other) => self.other(other, at, name),
            (Int | OptionalInt, other) => self.other(other, at, "int64"),
            (OptionalBool, other) => self.other(other, at, "bool"),
            (Instant, Value::String(text)) => match Time::parse(text) {
                Some(time) if time == Time::ZERO => None,
                Some(time) => {
                    let written = time.to_string();
                    Some(if written == text { value } else { Value::String(self.arena.alloc_str(&written)) })
                }
                None => return Err(time_error(text)),
            },
            (Instant, other) => return Err(mismatch(json_name(other), at, "string")),
            (TextMap, Value::Map(map)) => {
                let mut entries = Entries::of(map, self.arena);
                for (_, value) in map.entries() {
                    entries.put(self.text(*value, at));
                }
                Some(entries.finish(value))
            }
            (TextMap, other) => self.other(other, at, "map[string]string"),
            (TextList, Value::List(items)) => {
                if items.iter().all(|item| item.as_str().is_some()) {
                    return Ok(Some(value));
                }
                let items: Vec<Value<'a>> = items.iter().map(|item| self.text(*item, at)).collect();
                Some(Value::List(self.arena.alloc_slice_copy(&items)))
            }
            (TextList, other) => self.other(other, at, "[]string"),
            (List(inner), Value::List(items)) => {
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
            (List(inner), other) => self.other(other, at, &format!("[]v1.{}", inner.name)),
            (Any, value) => Some(value),
        })
    }

    /// A text among others; null is an empty one.
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

/// The list that a struct is in, and its number there; none for the metadata itself. No list is in a list.
type Place = Option<(&'static str, usize)>;

/// A field.
#[derive(Clone, Copy)]
struct At {
    /// The struct that it is in.
    ty: &'static Struct,
    kind: &'static Kind,
    name: &'static str,
    place: Place,
}

/// What stands before the name of a field in paths, with the number of the struct in its list if that is wanted: Go's errors have
/// none.
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

/// Whether a field is left out.
fn is_empty(value: Value<'_>, kind: &Kind) -> bool {
    match (kind, value) {
        (OptionalInt | OptionalBool | Any, _) => false,
        (_, Value::String(text)) => text.is_empty(),
        (_, Value::Int(n)) => n == 0,
        (_, Value::List(items)) => items.is_empty(),
        (_, Value::Map(map)) => map.is_empty(),
        _ => false,
    }
}

/// Go's error for a text that is no time.
pub(crate) fn time_error(text: &str) -> String {
    parse_error(text, "2006-01-02T15:04:05Z07:00")
}

/// What becomes of embedded resources whose type or metadata is malformed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// It is an error, as in a request.
    Refuse,
    /// Malformed fields are dropped, as from storage.
    Drop,
}

/// Decodes the metadata of embedded resources and writes it back (`CoerceWithOptions`): unknown fields in it are dropped
/// and reported, sorted. `root` says whether the value is a whole object itself.
///
/// # Errors
/// An `apiVersion` or a `kind` is no string, or metadata does not decode. Of several errors, the first by key is given.
pub fn coerce<'a>(
    value: Value<'a>,
    schema: Option<&Schema<'_>>,
    root: super::Root,
    malformed: Malformed,
    path: &Path<'_>,
    arena: &'a Bump,
) -> Result<Decoded<'a>, Box<Error>> {
    let (decoded, error) = coerce_until_error(value, schema, root, malformed, path, arena);
    error.map_or(Ok(decoded), Err)
}

/// As [`coerce`], with what is done when the first error comes. Upstream changes values in place.
pub(crate) fn coerce_until_error<'a>(
    value: Value<'a>,
    schema: Option<&Schema<'_>>,
    root: super::Root,
    malformed: Malformed,
    path: &Path<'_>,
    arena: &'a Bump,
) -> (Decoded<'a>, Option<Box<Error>>) {
    let mut coercer = Coercer { arena, malformed, unknown: Vec::new(), error: None };
    let value = coercer.value(value, schema, root == super::Root::Resource, path);
    coercer.unknown.sort_unstable();
    (Decoded { value, unknown: coercer.unknown }, coercer.error)
}

struct Coercer<'a> {
    arena: &'a Bump,
    malformed: Malformed,
    unknown: Vec<String>,
    /// What comes after it stays as it is.
    error: Option<Box<Error>>,
}

impl<'a> Coercer<'a> {
    /// A schema nests as deep as its reader allows.
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

    /// A field of an embedded resource; none if it is dropped.
    fn meta(&mut self, key: &str, value: Value<'a>, path: &Path<'_>) -> Option<Value<'a>> {
        let drops = self.malformed == Malformed::Drop;
        match key {
            "apiVersion" | "kind" if value.as_str().is_none() => {
                if drops {
                    return None;
                }
                self.error = Some(Box::new(Error::invalid(&path.child(key), bad_value(value), "must be a string", 0)));
                Some(value)
            }
            "metadata" => {
                let decoded = match (decode_metadata(value, self.arena), value) {
                    (Ok(decoded), _) => decoded,
                    (Err(_), Value::Map(map)) if drops => self.field_by_field(map),
                    (Err(_), _) if drops => return Some(value),
                    (Err(text), _) => {
                        self.error = Some(Box::new(Error::invalid(&path.child(key), bad_value(value), text, 0)));
                        return Some(value);
                    }
                };
                let prefix = path.child("metadata").to_string();
                self.unknown.extend(decoded.unknown.iter().map(|field| format!("{prefix}.{field}")));
                Some(decoded.value)
            }
            _ => Some(value),
        }
    }

    /// The fields that decode alone.
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
pub fn embedded(value: Value<'_>, schema: Option<&Schema<'_>>, root: super::Root, path: &Path<'_>) -> Vec<Error> {
    let mut errors = Vec::new();
    check_embedded(value, schema, root == super::Root::Resource, path, &mut errors);
    errors
}

fn check_embedded(value: Value<'_>, schema: Option<&Schema<'_>>, root: bool, path: &Path<'_>, errors: &mut Vec<Error>) {
    let below = |flags: Flags| flags.any(Flags::EMBEDDED_RESOURCE);
    if !root && !schema.is_some_and(|schema| below(schema.subtree)) {
        return;
    }
    match value {
        Value::Map(map) => {
            if root || schema.is_some_and(|schema| below(schema.flags)) {
                check_resource(map, path, errors);
            }
            let Some(schema) = schema else { return };
            for (key, child) in map.entries() {
                if let Some(below) = schema.property(key) {
                    check_embedded(*child, Some(below), false, &path.child(key), errors);
                } else if let Some(below) = schema.additional_schema() {
                    check_embedded(*child, Some(below), false, &path.key(key), errors);
                }
            }
        }
        Value::List(items) => {
            let below = schema.and_then(Schema::item);
            for (at, item) in items.iter().enumerate() {
                check_embedded(*item, below, false, &path.index(at), errors);
            }
        }
        _ => {}
    }
}

fn check_resource(map: Map<'_>, path: &Path<'_>, errors: &mut Vec<Error>) {
    for key in ["apiVersion", "kind"] {
        let path = path.child(key);
        let detail = match map.get(key) {
            None => {
                errors.push(Error::required(&path, "", 0));
                continue;
            }
            Some(Value::String("")) => "must not be empty".to_owned(),
            Some(Value::String(text)) if key == "apiVersion" => {
                if text.matches('/').count() < 2 {
                    continue;
                }
                format!("unexpected GroupVersion string: {text}")
            }
            Some(Value::String(text)) => {
                let messages: Vec<String> = names::dns1035_label(&text.to_lowercase()).into_iter().collect();
                if messages.is_empty() {
                    continue;
                }
                format!("may have mixed case, but should otherwise match: {}", messages.join(","))
            }
            Some(_) => "must be a string".to_owned(),
        };
        errors.push(Error::invalid(&path, bad_value(map.get(key).unwrap_or(Value::Null)), detail, 0));
    }
    let Some(value) = map.get("metadata") else { return };
    let arena = Bump::new();
    let path = path.child("metadata");
    match decode_metadata(value, &arena) {
        Err(text) => errors.push(Error::invalid(&path, bad_value(value), text, 0)),
        Ok(decoded) => {
            let mut meta = object_meta(decoded.value, &arena);
            if meta.name.is_empty() {
                // Upstream needs one, too.
                meta.name = "fakename";
            }
            let namespaced = !meta.namespace.is_empty();
            metadata::validate(&meta, namespaced, &path_segment, &path, errors);
        }
    }
}

/// Whether a name may stand in the path of a URL.
fn path_segment(name: &str, prefix: bool) -> names::Messages {
    let mut messages: Vec<String> = Vec::new();
    if !prefix && matches!(name, "." | "..") {
        messages.push(format!("may not be '{name}'"));
    } else {
        for c in ["/", "%"] {
            if name.contains(c) {
                messages.push(format!("may not contain '{c}'"));
            }
        }
    }
    messages
}

/// The fields of decoded metadata.
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
