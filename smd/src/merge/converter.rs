//! The same object in another version of its API.

use crate::Bump;
use crate::typed::TypedValue;

/// Why an object has no form in a version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConvertError {
    /// There is no such version any more. Managers that are at it are forgotten.
    #[error("{0}")]
    MissingVersion(String),
    /// Anything else; it ends the operation.
    #[error("{0}")]
    Failed(String),
}

/// Converts objects between the versions of their API (upstream `merge.Converter`).
pub trait Converter {
    /// The object in that version, with the version's type.
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

/// All versions are the same.
#[derive(Clone, Copy, Debug, Default)]
pub struct SameVersion;

impl Converter for SameVersion {
    fn convert<'a>(&'a self, object: TypedValue<'a>, _: &str, _: &'a Bump) -> Result<TypedValue<'a>, ConvertError> {
        Ok(object)
    }
}
