//! Requests with custom resources: decoding, and the checks of the registry's strategy.

use super::meta::{self, Malformed};
use super::{Root, Validator, default, lists, prune, prune_nulls};
use crate::{metadata, names};
use kubeshape_schema::field::{BadValue, Error, Path};
use kubeshape_schema::{Bump, Schema};
use kubeshape_smd::Value;
use kubeshape_structural::Scale;
use kubeshape_yaml::go::number::General;
use std::fmt::{self, Write};

/// A version of a custom resource, prepared for requests.
#[derive(Debug)]
pub struct Resource<'a> {
    /// `example.com/v1`
    pub api_version: &'a str,
    /// The kind of its objects.
    pub kind: &'a str,
    /// Whether objects live in namespaces.
    pub namespaced: bool,
    /// The schema.
    pub schema: Option<&'a Schema<'a>>,
    /// `spec.preserveUnknownFields`
    pub preserve_unknown_fields: bool,
    /// The scale subresource.
    pub scale: Option<Scale<'a>>,
    /// The schema, prepared.
    pub validator: Option<Validator<'a>>,
}

/// An object as a server sees it after decoding.
#[derive(Clone, Debug)]
pub struct Object<'a> {
    /// Pruned, with defaults.
    pub value: Value<'a>,
    /// The paths of the fields that were dropped: of the metadata, of the object, and of embedded metadata.
    pub unknown: Vec<String>,
}

impl<'a> Resource<'a> {
    /// Decodes the object of a request: metadata is brought into its form, unknown fields and nulls are removed, defaults
    /// are inserted.
    ///
    /// # Errors
    /// Metadata, or the type of an embedded resource, does not decode: the text of the server's answer.
    pub fn decode(&self, object: Value<'a>, arena: &'a Bump) -> Result<Object<'a>, String> {
        let Value::Map(map) = object else { return Ok(Object { value: object, unknown: Vec::new() }) };
        let mut unknown = Vec::new();
        let metadata = match map.get("metadata") {
            None => None,
            Some(metadata) => {
                let decoded = meta::decode_metadata(metadata, arena)?;
                unknown.extend(decoded.unknown.iter().map(|field| format!("metadata.{field}")));
                Some(decoded.value)
            }
        };
        let mut value = object;
        if !self.preserve_unknown_fields {
            let pruned = prune(value, self.schema, Root::Resource, arena);
            unknown.extend(pruned.unknown);
            value = prune_nulls(pruned.value, self.schema, arena);
        }
        let coerced = meta::coerce(value, self.schema, Root::Value, Malformed::Refuse, &Path::Root, arena)
            .map_err(|error| error.to_string())?;
        unknown.extend(coerced.unknown);
        value = coerced.value;
        for key in ["apiVersion", "kind"] {
            value = set(value, key, map.get(key), arena);
        }
        value = set(value, "metadata", metadata, arena);
        Ok(Object { value: default(value, self.schema, arena), unknown })
    }

    /// The errors of an object that is created, without those of CEL rules: `customResourceStrategy.Validate`.
    pub fn validate(&self, object: Value<'a>) -> Vec<Error> {
        let mut errors = self.type_errors(object);
        if !errors.is_empty() {
            return errors;
        }
        let arena = Bump::new();
        let path = Path::Base("metadata");
        let meta = meta::object_meta(object.get("metadata").unwrap_or(Value::Null), &arena);
        metadata::validate(&meta, self.namespaced, &subdomain, &path, &mut errors);
        if let Some(validator) = &self.validator {
            errors.extend(validator.check(object, &Path::Root));
        }
        self.scale(object, &mut errors);
        errors.extend(meta::embedded(object, self.schema, Root::Value, &Path::Root));
        errors.extend(lists::list_types(object, self.schema, &Path::Root));
        errors
    }

    /// The errors of an object that replaces another one, without those of CEL rules:
    /// `customResourceStrategy.ValidateUpdate`. What did not change is not complained about again.
    pub fn validate_update(&self, object: Value<'a>, old: Value<'a>) -> Vec<Error> {
        let mut errors = self.type_errors(object);
        if !errors.is_empty() {
            return errors;
        }
        let arena = Bump::new();
        let path = Path::Base("metadata");
        let meta = |object: Value<'a>| object.get("metadata").unwrap_or(Value::Null);
        let (new_meta, old_meta) = (meta::object_meta(meta(object), &arena), meta::object_meta(meta(old), &arena));
        metadata::validate_update(&new_meta, &old_meta, &path, &mut errors);
        if let Some(validator) = &self.validator {
            errors.extend(validator.check_update(object, old, &Path::Root));
        }
        self.scale(object, &mut errors);
        errors.extend(meta::embedded(object, self.schema, Root::Value, &Path::Root));
        if lists::list_types(old, self.schema, &Path::Root).is_empty() {
            errors.extend(lists::list_types(object, self.schema, &Path::Root));
        }
        errors
    }

    fn type_errors(&self, object: Value<'_>) -> Vec<Error> {
        let mut errors = Vec::new();
        for (key, expected) in [("kind", self.kind), ("apiVersion", self.api_version)] {
            let found = object.get(key).and_then(Value::as_str).unwrap_or_default();
            if found != expected {
                errors.push(Error::invalid(&Path::Base(key), found, format!("must be {expected}"), 0));
            }
        }
        errors
    }

    fn scale(&self, object: Value<'_>, errors: &mut Vec<Error>) {
        let Some(scale) = &self.scale else { return };
        for path in [scale.spec_replicas_path, scale.status_replicas_path] {
            let detail = match nested(object, path) {
                Ok(Some(Value::Int(n))) if n < 0 => (n, "should be a non-negative integer".to_owned()),
                Ok(Some(Value::Int(n))) if n > i64::from(i32::MAX) => {
                    (n, format!("should be less than or equal to {}", i32::MAX))
                }
                Ok(None | Some(Value::Int(_))) => continue,
                Ok(Some(other)) => (0, accessor_error(path, other, "int64")),
                Err(text) => (0, text),
            };
            errors.push(Error::invalid(&Path::Base(path), detail.0, detail.1, 0));
        }
        if let Some(path) = scale.label_selector_path {
            let detail = match nested(object, path) {
                Ok(None | Some(Value::String(_))) => return,
                Ok(Some(other)) => accessor_error(path, other, "string"),
                Err(text) => text,
            };
            errors.push(Error::invalid(&Path::Base(path), BadValue::Text(String::new()), detail, 0));
        }
    }
}

/// A map with a key set, or without it.
fn set<'a>(value: Value<'a>, key: &'a str, member: Option<Value<'a>>, arena: &'a Bump) -> Value<'a> {
    match value {
        Value::Map(map) => {
            let same = match (map.get(key), member) {
                (None, None) => true,
                (Some(old), Some(new)) => super::equal::identical(old, new),
                _ => false,
            };
            if same { value } else { Value::Map(map.with(key, member, arena)) }
        }
        other => other,
    }
}

fn subdomain(name: &str, prefix: bool) -> names::Messages {
    if prefix { names::dns1123_subdomain(&names::mask_trailing_dash(name)) } else { names::dns1123_subdomain(name) }
}

/// The value of a path that is split at its dots.
fn nested<'a>(object: Value<'a>, path: &str) -> Result<Option<Value<'a>>, String> {
    let fields: Vec<&str> = path.strip_prefix('.').unwrap_or(path).split('.').collect();
    let mut value = object;
    for (at, field) in fields.iter().enumerate() {
        match value {
            Value::Map(map) => match map.get(field) {
                Some(below) => value = below,
                None => return Ok(None),
            },
            Value::Null => return Ok(None),
            other => {
                let path = format!(".{}", fields[..=at].join("."));
                return Err(accessor_error(&path, other, "map[string]interface{}"));
            }
        }
    }
    Ok(Some(value))
}

/// The text of `unstructured.NestedFieldNoCopy` and its relatives.
fn accessor_error(path: &str, found: Value<'_>, expected: &str) -> String {
    let ty = found.go_type();
    let path = if path.starts_with('.') { path.to_owned() } else { format!(".{path}") };
    format!("{path} accessor error: {} is of the type {ty}, expected {expected}", Shown(found))
}

/// A value as Go's `%v` prints it.
struct Shown<'a>(Value<'a>);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::Null => f.write_str("<nil>"),
            Value::Bool(yes) => yes.fmt(f),
            Value::Int(n) => n.fmt(f),
            Value::Float(n) => General(n).fmt(f),
            Value::String(text) => f.write_str(text),
            Value::List(items) => {
                f.write_char('[')?;
                for (at, item) in items.iter().enumerate() {
                    write!(f, "{}{}", if at > 0 { " " } else { "" }, Shown(*item))?;
                }
                f.write_char(']')
            }
            Value::Map(map) => {
                f.write_str("map[")?;
                for (at, (key, value)) in map.entries().iter().enumerate() {
                    write!(f, "{}{key}:{}", if at > 0 { " " } else { "" }, Shown(*value))?;
                }
                f.write_char(']')
            }
        }
    }
}
