//! Converts patches that expressions evaluate to, to plain values: `cel/mutation` and `policy/mutating/patch` of
//! `k8s.io/apiserver`.

use kubeshape_cel::{Fields, Items, List, Map as CelMap, Object, Raw, Value};
use kubeshape_value::{Bump, Map, Value as Plain};

/// Checks that object types have the names of the fields that contain them (`CheckTypeNamesMatchFieldPathNames`).
///
/// # Errors
/// Returns one line for each other name.
pub(crate) fn check_names(object: &Object<'_>) -> Result<(), String> {
    let mut errors = Vec::new();
    check_object(object, &mut vec![object.name().to_owned()], &mut errors);
    if errors.is_empty() { Ok(()) } else { Err(format!("type mismatch: {}", errors.join("\n"))) }
}

fn check_object(object: &Object<'_>, path: &mut Vec<String>, errors: &mut Vec<String>) {
    let expected = path.join(".");
    if object.name() != expected {
        errors.push(format!(
            "unexpected type name {:?}, expected {expected:?}, which matches field name path from root Object type",
            object.name()
        ));
    }
    for (name, value) in object.fields() {
        path.push(name.to_owned());
        check(value, path, errors);
        path.pop();
    }
}

fn check(value: &Value<'_>, path: &mut Vec<String>, errors: &mut Vec<String>) {
    match value {
        Value::Object(object) => check_object(object, path, errors),
        Value::List(List::Made(items)) => items.iter().for_each(|item| check(item, path, errors)),
        Value::Map(CelMap::Made(entries)) => entries.values().for_each(|entry| check(&entry.1, path, errors)),
        _ => {}
    }
}

/// Null in an object: protobuf's `NullValue`, which structured merge diff treats as a scalar.
const NULL: &str = "NULL_VALUE";

/// Returns the paths of nulls in an object.
pub(crate) fn nulls(object: &Object<'_>) -> Vec<String> {
    let mut found = Vec::new();
    collect_nulls(object, "", &mut found);
    found
}

fn collect_nulls(object: &Object<'_>, path: &str, out: &mut Vec<String>) {
    for (name, value) in object.fields() {
        match value {
            Value::Null => out.push(format!("{path}.{name}")),
            Value::Object(inner) => collect_nulls(inner, &format!("{path}.{name}"), out),
            _ => {}
        }
    }
}

/// Converts values of expressions to plain ones.
#[derive(Clone, Copy)]
pub(crate) struct Converter<'a>(pub(crate) &'a Bump);

impl<'a> Converter<'a> {
    /// Returns the value of a patch operation: what protobuf's `Value` can represent.
    ///
    /// # Errors
    /// The value has no JSON form.
    pub(crate) fn json(self, value: &Value<'a>) -> Result<Plain<'a>, String> {
        match value {
            Value::Object(object) => self.object(object),
            value => self.value(&value.to_json()?),
        }
    }

    /// Returns the fields of an object as plain values.
    ///
    /// # Errors
    /// A value has no JSON form.
    pub(crate) fn object(self, object: &Object<'a>) -> Result<Plain<'a>, String> {
        let mut entries = Vec::new();
        for (name, value) in object.fields() {
            let value = if matches!(value, Value::Null) { Plain::String(NULL) } else { self.value(value)? };
            entries.push((&*self.0.alloc_str(name), value));
        }
        Ok(Plain::Map(Map::from_entries(entries, self.0)))
    }

    fn value(self, value: &Value<'a>) -> Result<Plain<'a>, String> {
        Ok(match value {
            Value::Null => Plain::Null,
            Value::Bool(b) => Plain::Bool(*b),
            Value::Int(i) => Plain::Int(*i),
            Value::Double(d) => double(*d),
            Value::String(text) => Plain::String(self.0.alloc_str(text)),
            Value::List(List::Data(items)) => self.raw(Raw::List(*items)),
            Value::List(list) => {
                let items: Vec<Plain<'a>> = list.iter().map(|item| self.value(&item)).collect::<Result<_, _>>()?;
                Plain::List(self.0.alloc_slice_copy(&items))
            }
            Value::Map(CelMap::Data(fields)) => self.raw(Raw::Map(*fields)),
            Value::Map(map) => {
                let mut entries = Vec::new();
                for (key, value) in map.iter() {
                    let Value::String(key) = &key else {
                        return Err(format!("map key is of type {}, not string", key.type_of().name()));
                    };
                    entries.push((&*self.0.alloc_str(key), self.value(&value)?));
                }
                Plain::Map(Map::from_entries(entries, self.0))
            }
            Value::Object(object) => self.object(object)?,
            Value::Optional(Some(inner)) => self.value(inner)?,
            other => return Err(format!("invalid return type: {}", other.type_of().name())),
        })
    }

    fn raw(self, raw: Raw<'a>) -> Plain<'a> {
        match raw {
            Raw::Null => Plain::Null,
            Raw::Bool(b) => Plain::Bool(b),
            Raw::Int(i) => Plain::Int(i),
            Raw::Float(f) => Plain::Float(f),
            Raw::String(text) => Plain::String(text),
            Raw::List(Items::Object(items)) => Plain::List(items),
            Raw::Map(Fields::Object(map)) => Plain::Map(map),
            Raw::List(items) => {
                let items: Vec<Plain<'a>> = items.iter().map(|item| self.raw(item)).collect();
                Plain::List(self.0.alloc_slice_copy(&items))
            }
            Raw::Map(fields) => {
                let entries = fields.iter().map(|(name, value)| (name, self.raw(value))).collect();
                Plain::Map(Map::from_entries(entries, self.0))
            }
        }
    }
}

/// Converts a double. JSON does not distinguish whole doubles from integers.
#[expect(clippy::cast_possible_truncation, reason = "whole and within the range")]
fn double<'a>(d: f64) -> Plain<'a> {
    if d.fract() == 0.0 && d.abs() < 9_007_199_254_740_992.0 { Plain::Int(d as i64) } else { Plain::Float(d) }
}
