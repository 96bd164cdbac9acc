//! What a manager applied (upstream `managedfields.ExtractInto`).

use super::Operation;
use crate::Bump;
use crate::fieldpath::SetError;
use crate::typed::{Type, ValidationErrors};
use crate::value::Value;

/// Why nothing was extracted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExtractError {
    /// The object does not fit its type.
    #[error("error converting obj to typed: {0}")]
    Invalid(ValidationErrors),
    /// The fields of the manager are no set.
    #[error("error marshalling FieldsV1 to JSON: {0}")]
    Fields(SetError),
    /// The manager owns nothing that the object has.
    #[error("unable to convert managed fields for {manager} to unstructured, expected map, got {found}")]
    Nothing {
        /// The manager.
        manager: String,
        /// What the extracted value is instead of a map.
        found: &'static str,
    },
}

/// The configuration that a manager applied, as far as the object still has it: only the manager's fields, and the
/// kind. None if the manager has no entry.
///
/// # Errors
/// See [`ExtractError`].
pub fn extract<'a>(
    object: Value<'a>,
    ty: Type<'a>,
    manager: &str,
    subresource: &str,
    arena: &'a Bump,
) -> Result<Option<Value<'a>>, ExtractError> {
    let _ = (object, ty, manager, subresource, arena, Operation::Apply);
    todo!()
}
