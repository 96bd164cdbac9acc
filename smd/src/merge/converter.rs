//! Converts an object to another version of its API.

use crate::Bump;
use crate::typed::TypedValue;

/// Why an object cannot be converted to a version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConvertError {
    /// The version no longer exists. The updater drops managers whose entries are at this version.
    #[error("{0}")]
    MissingVersion(String),
    /// Any other error. It ends the operation.
    #[error("{0}")]
    Failed(String),
}

/// Converts objects between the versions of their API (upstream `merge.Converter`).
///
/// An updater converts an object to a version at most once, and only to the versions of managers' entries.
///
/// # Example: an API whose version `v1` renamed a field
/// ```
/// use kubeshape_smd::merge::{ConvertError, Converter};
/// use kubeshape_smd::typed::{TypedValue, Types};
/// use kubeshape_smd::value::Map;
/// use kubeshape_smd::{Bump, Value};
///
/// struct Renamed {
///     types: Types,
/// }
///
/// impl Converter for Renamed {
///     fn convert<'a>(
///         &'a self,
///         object: TypedValue<'a>,
///         version: &str,
///         arena: &'a Bump,
///     ) -> Result<TypedValue<'a>, ConvertError> {
///         let (from, to) = match version {
///             "v1" => ("size", "replicas"),
///             "v1beta1" => ("replicas", "size"),
///             _ => return Err(ConvertError::MissingVersion(format!("no version {version}"))),
///         };
///         let ty = self.types.named(version).ok_or_else(|| ConvertError::Failed("no type".to_owned()))?;
///         let value = object.value().map(|value| match (value, value.get(from)) {
///             (Value::Map(map), Some(size)) => {
///                 Value::Map(map.with(from, None, arena).with(to, Some(size), arena))
///             }
///             _ => value,
///         });
///         Ok(TypedValue::unvalidated(value, ty))
///     }
/// }
/// ```
pub trait Converter {
    /// Returns the object in that version, with the version's type. An object that already is in that version must be
    /// returned with the same contents.
    ///
    /// # Errors
    /// See [`ConvertError`].
    fn convert<'a>(
        &'a self,
        object: TypedValue<'a>,
        version: &str,
        arena: &'a Bump,
    ) -> Result<TypedValue<'a>, ConvertError>;
}

/// A converter for an API with one version: it returns the object as it is.
#[derive(Clone, Copy, Debug, Default)]
pub struct SameVersion;

impl Converter for SameVersion {
    #[inline]
    fn convert<'a>(&'a self, object: TypedValue<'a>, _: &str, _: &'a Bump) -> Result<TypedValue<'a>, ConvertError> {
        Ok(object)
    }
}

/// An object with its conversions to other versions, each created at first use.
pub(super) struct Versions<'a, C> {
    converter: &'a C,
    arena: &'a Bump,
    /// The given object.
    pub(super) object: TypedValue<'a>,
    converted: Vec<(&'a str, Result<TypedValue<'a>, ConvertError>)>,
}

impl<'a, C: Converter> Versions<'a, C> {
    pub(super) fn new(object: TypedValue<'a>, converter: &'a C, arena: &'a Bump) -> Self {
        Versions { converter, arena, object, converted: Vec::new() }
    }

    /// Returns the object in that version.
    pub(super) fn at(&mut self, version: &'a str) -> &Result<TypedValue<'a>, ConvertError> {
        let found = self.converted.iter().position(|(known, _)| *known == version);
        let at = found.unwrap_or_else(|| {
            let converted = self.converter.convert(self.object, version, self.arena);
            self.converted.push((version, converted));
            self.converted.len() - 1
        });
        &self.converted[at].1
    }
}
