//! Objects that expressions construct for patches: `Object{…}`, `Object.spec{…}` and `JSONPatch{…}` (`cel/mutation` of
//! `k8s.io/apiserver`).

use super::Value;
use crate::types::Type;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The name of the type of patch operations.
pub(crate) const JSON_PATCH: &str = "JSONPatch";
/// The name of the root type of patches that are applied.
pub(crate) const OBJECT: &str = "Object";

/// An object with the name of its type.
#[derive(Clone, Debug)]
pub struct Object<'a> {
    name: Arc<str>,
    fields: BTreeMap<Arc<str>, Value<'a>>,
}

/// Returns whether a name is one of the types of patches.
pub(crate) fn is_patch_type(name: &str) -> bool {
    name == JSON_PATCH || name.strip_prefix(OBJECT).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Returns the type of a field of such an object.
pub(crate) fn field_type(name: &str, field: &str) -> Option<Type> {
    match (name, field) {
        (JSON_PATCH, "op" | "path" | "from") => Some(Type::String),
        (JSON_PATCH, "value") => Some(Type::Dyn),
        (JSON_PATCH, _) => None,
        _ => Some(Type::Dyn),
    }
}

/// Constructs an object.
pub(crate) fn make<'a>(name: &Arc<str>, fields: Vec<(Arc<str>, Value<'a>)>) -> Value<'a> {
    Value::Object(Arc::new(Object { name: name.clone(), fields: fields.into_iter().collect() }))
}

impl<'a> Object<'a> {
    /// Returns the name of the type, such as `Object.spec`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns a field.
    pub fn get(&self, field: &str) -> Option<&Value<'a>> {
        self.fields.get(field)
    }

    /// Returns the fields, sorted by name.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &Value<'a>)> {
        self.fields.iter().map(|(name, value)| (&**name, value))
    }

    pub(crate) fn type_of(&self) -> Type {
        Type::Struct(self.name.clone())
    }

    pub(crate) fn into_owned(self) -> Object<'static> {
        let fields = self.fields.into_iter().map(|(name, value)| (name, value.into_owned())).collect();
        Object { name: self.name, fields }
    }

    pub(crate) fn equal(&self, other: &Object<'a>) -> bool {
        self.name == other.name
            && self.fields.len() == other.fields.len()
            && self.fields.iter().zip(&other.fields).all(|((name, value), (other, their))| {
                name == other && matches!(value.equals(their), Value::Bool(true))
            })
    }

    /// Returns the value of a selected field; `None` if the field does not exist. Unset string fields of a patch
    /// operation are empty strings.
    pub(crate) fn select(&self, field: &str, tests: bool) -> Option<Value<'a>> {
        match (self.get(field), field_type(&self.name, field)) {
            (Some(Value::String(text)), Some(Type::String)) if tests && text.is_empty() => None,
            (Some(value), _) => Some(value.clone()),
            (None, Some(Type::String)) if !tests => Some(Value::text("")),
            (None, _) => None,
        }
    }
}
