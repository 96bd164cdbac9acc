//! Compares objects with the types.

use super::source::{has_written_numbers, number_at};
use super::text::{base64_error, micro_time_error};
use super::{Struct, Type, Typed};
use crate::object::{json_name, time_error};
use kubeshape_cel::Quantity;
use kubeshape_schema::field::{Error, Errors, Path, Paths};
use kubeshape_value::Map;
use kubeshape_value::{Bump, Value};
use kubeshape_yaml::Node;
use kubeshape_yaml::go::Time;
use std::collections::BTreeSet;

/// The maximum depth to which absent structs are checked for required fields.
const MAX_DEPTH: usize = 8;
/// The maximum number of absent structs that are checked, because a document may have many in each.
const MAX_LACKING: usize = 1_000;

/// The errors that a server finds when it decodes an object.
#[derive(Clone, Debug, Default)]
pub struct Decoded {
    /// The paths of unknown fields, in the order of their names: `spec.containers[0].colour`. With strict field
    /// validation, a server refuses the object because of them. Otherwise it drops them.
    pub unknown: Vec<String>,
    /// The values that do not match their types. A server refuses the object with the message of the first one.
    pub errors: Vec<Mismatch>,
    /// Other differences from the document: missing required fields, and texts that are not in a list of allowed ones.
    /// A server decides about these in Go code. It refuses most such objects, but not all. Differences in the status
    /// are left out, because a server ignores it when it creates objects.
    pub departures: Vec<Error>,
}

/// A value that does not match its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Its path: `spec.containers[0].name`.
    pub path: String,
    /// Go's text: `json: cannot unmarshal number into Go struct field Container.spec.containers.name of type string`.
    /// The names of Go's types for strings, lists and maps, and of its embedded structs, are known of Kubernetes' own
    /// kinds (see [`GO_NAMES`](super::GO_NAMES)). Of other kinds, a text has `string` in place of `v1.PullPolicy`.
    pub message: String,
}

impl Decoded {
    /// Returns, of a list of duplicate fields, those that a server reports. It reports an unknown field once, and
    /// checks nothing below it.
    pub fn told_twice<T>(&self, fields: Vec<(String, T)>) -> Vec<(String, T)> {
        let unknown: BTreeSet<&str> = self.unknown.iter().map(String::as_str).collect();
        let is_unknown = |path: &str| {
            let ends = path.match_indices(['.', '[']).map(|(at, _)| at).chain([path.len()]);
            ends.into_iter().any(|end| unknown.contains(&path[..end]))
        };
        fields.into_iter().filter(|(path, _)| unknown.is_empty() || !is_unknown(path)).collect()
    }
}

impl Typed {
    /// Decodes an object. The reader of the object limits its depth.
    pub fn decode(&self, object: Value<'_>) -> Decoded {
        self.decode_from(object, None)
    }

    /// Decodes an object from a JSON request. The source tells how its numbers are written, because `1.0` is not an
    /// integer for Go. YAML is converted before it is decoded, so it has no such numbers.
    pub fn decode_json(&self, object: Value<'_>, source: Node<'_>) -> Decoded {
        self.decode_from(object, Some(source).filter(|source| has_written_numbers(*source)))
    }

    fn decode_from(&self, object: Value<'_>, source: Option<Node<'_>>) -> Decoded {
        let mut decoder = Decoder {
            typed: self,
            source,
            out: Decoded::default(),
            unknown: Paths::default(),
            departures: Errors::default(),
            told: 0,
            in_status: false,
            lacking: 0,
            stopped: None,
        };
        decoder.value(object, &self.root, &Path::Root, Place { owner: "", fields: None, go_type: None });
        if let Some(at) = decoder.stopped {
            decoder.out.errors[..=at].rotate_right(1);
        }
        Decoded { unknown: decoder.unknown.into_vec(), departures: decoder.departures.into_vec(), ..decoder.out }
    }

    /// Returns a decoded object without unknown fields, and without nulls, which do not change Go's variables.
    #[must_use]
    pub fn known<'a>(&self, object: Value<'a>, arena: &'a Bump) -> Value<'a> {
        self.known_as(object, &self.root, arena)
    }

    fn known_as<'a>(&self, value: Value<'a>, ty: &Type, arena: &'a Bump) -> Value<'a> {
        match (ty, value) {
            (Type::Struct(at), Value::Map(map)) => {
                let Some(found) = self.at(*at) else { return value };
                let entries = map.entries().iter().filter(|(_, value)| !value.is_null()).filter_map(|(key, value)| {
                    let ty = found.field(key).map(|field| &field.ty).or(found.others.as_ref())?;
                    Some((*key, self.known_as(*value, ty, arena)))
                });
                Value::Map(Map::from_entries(entries.collect(), arena))
            }
            (Type::Map(items), Value::Map(map)) => {
                let entries = map.entries().iter().map(|(key, value)| (*key, self.known_as(*value, items, arena)));
                Value::Map(Map::from_entries(entries.collect(), arena))
            }
            (Type::List(items), Value::List(list)) => {
                let items = list.iter().map(|item| self.known_as(*item, items, arena));
                Value::List(arena.alloc_slice_fill_iter(items.collect::<Vec<_>>()))
            }
            _ => value,
        }
    }

    pub(super) fn at(&self, at: usize) -> Option<&Struct> {
        self.structs.get(at)
    }

    /// Returns the name of a type in Go.
    fn go_name(&self, ty: &Type) -> String {
        match ty {
            Type::Any => "interface {}".to_owned(),
            Type::Bool => "bool".to_owned(),
            Type::Int32 | Type::IntOrString => "int32".to_owned(),
            Type::Int64 => "int64".to_owned(),
            Type::Float => "float64".to_owned(),
            Type::Text | Type::Time | Type::MicroTime => "string".to_owned(),
            Type::Bytes => "[]uint8".to_owned(),
            Type::Quantity => "resource.Quantity".to_owned(),
            Type::Struct(at) => match self.at(*at) {
                Some(found) if !found.go_name.is_empty() => found.go_name.clone(),
                _ => "struct".to_owned(),
            },
            Type::Map(items) => match **items {
                Type::Time => "map[string]v1.Time".to_owned(),
                ref items => format!("map[string]{}", self.go_name(items)),
            },
            Type::List(items) => match **items {
                Type::Time => "[]v1.Time".to_owned(),
                Type::IntOrString => "[]intstr.IntOrString".to_owned(),
                ref items => format!("[]{}", self.go_name(items)),
            },
        }
    }
}

/// The position of Go's decoder: the struct, and the fields that lead to it, without indices and keys of maps.
#[derive(Clone, Copy)]
struct Place<'p> {
    owner: &'p str,
    fields: Option<&'p Fields<'p>>,
    /// The Go name of the value's type, if the document does not give it.
    go_type: Option<&'p str>,
}

impl Place<'_> {
    /// Returns the position of an item of a list or map. The name of its type gets this prefix.
    fn of_items(self, prefix: &str) -> Self {
        Place { go_type: self.go_type.and_then(|name| name.strip_prefix(prefix)), ..self }
    }
}

struct Fields<'p> {
    parent: Option<&'p Fields<'p>>,
    name: &'p str,
}

struct Decoder<'t> {
    typed: &'t Typed,
    /// The JSON that the object was read from.
    source: Option<Node<'t>>,
    out: Decoded,
    unknown: Paths,
    departures: Errors,
    /// The size of the mismatches in bytes.
    told: usize,
    in_status: bool,
    /// The number of absent structs that were checked.
    lacking: usize,
    /// The first error of a type that parses its JSON itself. Go stops there, and reports no earlier error.
    stopped: Option<usize>,
}

impl Decoder<'_> {
    fn value(&mut self, value: Value<'_>, ty: &Type, path: &Path<'_>, place: Place<'_>) {
        let before = self.out.errors.len();
        self.typed_value(value, ty, path, place);
        let reads_itself = matches!(ty, Type::Quantity | Type::IntOrString | Type::Time | Type::MicroTime);
        if reads_itself && self.stopped.is_none() && self.out.errors.len() > before {
            self.stopped = Some(before);
        }
    }

    fn typed_value(&mut self, value: Value<'_>, ty: &Type, path: &Path<'_>, place: Place<'_>) {
        match (ty, value) {
            // A number that does not fit into a double is read as a string.
            (Type::Int32 | Type::Int64 | Type::IntOrString, Value::String(_)) if self.written(path).is_some() => {
                let found = format!("number {}", self.written(path).unwrap_or_default());
                self.mismatch(&found, &self.typed.go_name(ty), path, place);
            }
            // Null does not change anything.
            (_, Value::Null)
            | (Type::Any, _)
            | (Type::Bool, Value::Bool(_))
            | (Type::Text | Type::IntOrString, Value::String(_))
            | (Type::Float, Value::Int(_) | Value::Float(_))
            | (Type::Int64, Value::Int(_)) => {}
            (Type::Int32 | Type::IntOrString, Value::Int(n)) if i32::try_from(n).is_ok() => {}
            (Type::Int32 | Type::Int64 | Type::IntOrString, Value::Int(_) | Value::Float(_)) => {
                let text = self.written(path).map_or_else(|| number(value), str::to_owned);
                let fits = match ty {
                    Type::Int64 => text.parse::<i64>().is_ok(),
                    _ => text.parse::<i32>().is_ok(),
                };
                if !fits {
                    self.mismatch(&format!("number {text}"), &self.typed.go_name(ty), path, place);
                }
            }
            (Type::Bytes, Value::String(text)) => {
                if let Some(at) = base64_error(text) {
                    self.error(path, format!("illegal base64 data at input byte {at}"));
                }
            }
            (Type::Bytes, Value::List(items)) => {
                for (at, item) in items.iter().enumerate() {
                    let text = number(*item);
                    if !item.is_null() && text.parse::<u8>().is_err() {
                        let found = format!("{} {text}", json_name(*item));
                        let place = Place { go_type: None, ..place };
                        self.mismatch(found.trim_end(), "uint8", &path.index(at), place);
                    }
                }
            }
            (Type::Time, Value::String(text)) => {
                if Time::parse(text).is_none() {
                    self.error(path, time_error(text));
                }
            }
            (Type::MicroTime, Value::String(text)) => {
                if let Some(message) = micro_time_error(text) {
                    self.error(path, message);
                }
            }
            (Type::Quantity, value) => self.quantity(value, path),
            (Type::Struct(at), Value::Map(map)) => {
                let Some(found) = self.typed.at(*at) else { return };
                let is_root = matches!(path, Path::Root);
                for (key, value) in map.entries() {
                    let Some(field) = found.field(key) else {
                        match &found.others {
                            Some(ty) => self.value(*value, ty, &path.child(key), place),
                            None => self.unknown.push(&path.child(key)),
                        }
                        continue;
                    };
                    let path = path.child(key);
                    self.in_status |= is_root && *key == "status";
                    if let Value::String(text) = value
                        && !field.allowed.is_empty()
                        && !self.in_status
                        && !field.allowed.iter().any(|allowed| allowed == text)
                    {
                        let allowed: Vec<&str> = field.allowed.iter().map(String::as_str).collect();
                        self.departures.push(Error::not_supported(&path, *text, &allowed, 0));
                    }
                    let embedded = field.go_name.embedded.map(|name| Fields { parent: place.fields, name });
                    let fields = Fields { parent: embedded.as_ref().or(place.fields), name: key };
                    let go_type = field.go_name.go_type;
                    self.value(*value, &field.ty, &path, Place { owner: &found.name, fields: Some(&fields), go_type });
                    self.in_status &= !is_root;
                }
                if !self.in_status {
                    self.missing(found, Some(map), path, MAX_DEPTH);
                }
            }
            (Type::Map(items), Value::Map(map)) => {
                for (key, value) in map.entries() {
                    self.value(*value, items, &path.child(key), place.of_items("map[string]"));
                }
            }
            (Type::List(items), Value::List(list)) => {
                for (at, item) in list.iter().enumerate() {
                    self.value(*item, items, &path.index(at), place.of_items("[]"));
                }
            }
            (_, other) => self.mismatch(json_name(other), &self.typed.go_name(ty), path, place),
        }
    }

    /// Returns the text of the number at a path of the source.
    fn written(&self, path: &Path<'_>) -> Option<&str> {
        number_at(self.source?, path)
    }

    /// Reports missing required fields of a struct, also in nested structs that always exist in Go. `map` is `None` if
    /// the struct itself is absent but always exists in Go.
    fn missing(&mut self, found: &Struct, map: Option<Map<'_>>, path: &Path<'_>, depth: usize) {
        for (name, field) in &found.fields {
            let is_given = map.and_then(|map| map.get(name)).is_some_and(|value| !value.is_null());
            if is_given || name == "status" && (field.is_there || matches!(path, Path::Root)) {
                continue;
            }
            if field.required {
                self.departures.push(Error::required(&path.child(name), "", 0));
            } else if field.is_there
                && let Type::Struct(at) = field.ty
                && depth > 0
                && self.lacking < MAX_LACKING
                && let Some(below) = self.typed.at(at).filter(|below| below.is_go)
            {
                self.lacking += 1;
                self.missing(below, None, &path.child(name), depth - 1);
            }
        }
    }

    fn quantity(&mut self, value: Value<'_>, path: &Path<'_>) {
        let text = match value {
            Value::String(text) => text.trim().to_owned(),
            Value::Int(_) | Value::Float(_) => number(value),
            // Its text does not begin with a digit.
            _ => "x".to_owned(),
        };
        if let Err(message) = Quantity::parse(&text) {
            self.error(path, message.to_owned());
        }
    }

    #[cold]
    fn mismatch(&mut self, found: &str, expected: &str, path: &Path<'_>, place: Place<'_>) {
        let mut names = Vec::new();
        let mut fields = place.fields;
        while let Some(Fields { parent, name }) = fields {
            names.push(*name);
            fields = *parent;
        }
        names.extend(Some(place.owner).filter(|owner| !owner.is_empty()));
        names.reverse();
        let expected = place.go_type.unwrap_or(expected);
        let target = if names.is_empty() { "value".to_owned() } else { format!("struct field {}", names.join(".")) };
        self.error(path, format!("json: cannot unmarshal {found} into Go {target} of type {expected}"));
    }

    #[cold]
    fn error(&mut self, path: &Path<'_>, message: String) {
        // A server reports the first one.
        let path = path.to_string();
        self.told = self.told.saturating_add(path.len() + message.len());
        if self.told <= Errors::MOST || self.out.errors.is_empty() {
            self.out.errors.push(Mismatch { path, message });
        }
    }
}

/// Returns a number as it is written in the JSON that a client sends. Empty for other values.
fn number(value: Value<'_>) -> String {
    match value {
        Value::Int(n) => n.to_string(),
        Value::Float(n) => {
            let mut text = Vec::new();
            kubeshape_yaml::go::number::write_json(n, &mut text);
            String::from_utf8(text).unwrap_or_default()
        }
        _ => String::new(),
    }
}
