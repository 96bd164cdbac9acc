//! The API that a [`FieldManager`](super::FieldManager) needs: types, and conversion between versions.

use super::Gvk;
use crate::Bump;
use crate::merge::ConvertError;
use crate::typed::Type;
use crate::value::Value;

/// Finds the type of a kind (upstream `managedfields.TypeConverter`).
pub trait TypeConverter: Sync {
    /// Returns the type of objects of a kind, or `None` if there is no such kind.
    fn type_of(&self, gvk: Gvk<'_>) -> Option<Type<'_>>;
}

/// A type converter for which every kind has the same type.
impl TypeConverter for Type<'_> {
    fn type_of(&self, _: Gvk<'_>) -> Option<Type<'_>> {
        Some(*self)
    }
}

/// The types of a few kinds.
#[derive(Clone, Debug, Default)]
pub struct Kinds<'t>(pub Vec<(Gvk<'t>, Type<'t>)>);

impl TypeConverter for Kinds<'_> {
    fn type_of(&self, gvk: Gvk<'_>) -> Option<Type<'_>> {
        self.0.iter().find(|(known, _)| *known == gvk).map(|(_, ty)| *ty)
    }
}

/// Converts objects between the versions of their API (upstream `runtime.ObjectConvertor` and `ObjectDefaulter`).
pub trait ObjectConverter: Sync {
    /// Returns the object in that version, with that `apiVersion`.
    ///
    /// # Errors
    /// [`ConvertError::MissingVersion`] if there is no such version: then managers at this version are dropped. Any
    /// other error ends the operation.
    fn convert<'a>(&'a self, object: Value<'a>, api_version: &str, arena: &'a Bump) -> Result<Value<'a>, ConvertError>;

    /// Returns the object with the defaults of its version, after an apply. By default, nothing is set.
    fn set_defaults<'a>(&'a self, object: Value<'a>, arena: &'a Bump) -> Value<'a> {
        let _ = arena;
        object
    }
}

/// A converter for an API with one version: objects are not changed.
#[derive(Clone, Copy, Debug, Default)]
pub struct SameObject;

impl ObjectConverter for SameObject {
    fn convert<'a>(&'a self, object: Value<'a>, _: &str, _: &'a Bump) -> Result<Value<'a>, ConvertError> {
        Ok(object)
    }
}

/// A converter between these versions that only changes the `apiVersion`, as a CustomResourceDefinition with the
/// conversion strategy `None` does.
#[derive(Clone, Debug, Default)]
pub struct ChangeApiVersion<'v>(pub Vec<&'v str>);

impl ObjectConverter for ChangeApiVersion<'_> {
    fn convert<'a>(&'a self, object: Value<'a>, api_version: &str, arena: &'a Bump) -> Result<Value<'a>, ConvertError> {
        let gvk = object.gvk();
        if gvk.api_version() == api_version {
            return Ok(object);
        }
        let Some(known) = self.0.iter().find(|known| **known == api_version) else {
            return Err(ConvertError::MissingVersion(format!(
                "no kind {:?} is registered for version {api_version:?}",
                gvk.kind()
            )));
        };
        Ok(match object {
            Value::Map(map) => Value::Map(map.with("apiVersion", Some(Value::String(known)), arena)),
            other => other,
        })
    }
}
