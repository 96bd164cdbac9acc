//! The list of entries as it is stored (upstream `DecodeManagedFields`, `EncodeObjectManagedFields`).

use super::Time;
use crate::Bump;
use crate::fieldpath::{ManagedFields, SetError};
use crate::value::Value;

/// Why a list of entries cannot be used. One bad entry spoils the whole list.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// An operation is neither.
    #[error("operation must be `Apply` or `Update`")]
    Operation {
        /// The place of the entry in the list.
        entry: usize,
    },
    /// A version is empty.
    #[error("apiVersion must not be empty")]
    ApiVersion {
        /// The place of the entry in the list.
        entry: usize,
    },
    /// A type of fields is missing.
    #[error("missing fieldsType in managed fields entry {entry}")]
    MissingFieldsType {
        /// The place of the entry in the list.
        entry: usize,
    },
    /// A type of fields is unknown.
    #[error("invalid fieldsType {fields_type:?} in managed fields entry {entry}")]
    FieldsType {
        /// The place of the entry in the list.
        entry: usize,
        /// The type.
        fields_type: String,
    },
    /// The fields of an entry are no set.
    #[error("error decoding versioned set from managed fields entry {entry}: error decoding set: {source}")]
    Fields {
        /// The place of the entry in the list.
        entry: usize,
        /// What is wrong with them.
        source: SetError,
    },
}

/// The owners of an object: fields by the text of the manager's identifier, and when each entry was last changed.
#[derive(Clone, Debug, Default)]
pub struct Managed<'a> {
    /// The fields by the text of the [`Identifier`].
    pub fields: ManagedFields<'a>,
}

/// Reads the `managedFields` of an object, see [`Managed::decode`].
///
/// # Errors
/// See [`DecodeError`].
pub fn decode<'a>(list: Option<Value<'a>>, arena: &'a Bump) -> Result<Managed<'a>, DecodeError> {
    let _ = (list, arena);
    todo!()
}

/// Writes the list of entries, sorted; none if there are no owners.
///
/// # Errors
/// A set holds a number that is not finite.
pub fn encode<'a>(managed: &Managed<'a>, arena: &'a Bump) -> Result<Option<Value<'a>>, SetError> {
    let _ = (managed, arena);
    todo!()
}

/// Sorts a list of entries as the server does: what was applied first, then by time, manager, version, subresource.
pub fn sort<'a>(list: &[Value<'a>], arena: &'a Bump) -> &'a [Value<'a>] {
    let _ = (list, arena);
    todo!()
}

impl<'a> Managed<'a> {
    /// The `metadata.managedFields` of an object. What is no list of entries at all counts as none, as upstream
    /// decides for objects without a Go type.
    ///
    /// # Errors
    /// See [`DecodeError`].
    pub fn of(object: Value<'a>, arena: &'a Bump) -> Result<Managed<'a>, DecodeError> {
        let _ = (object, arena);
        todo!()
    }

    /// When the entry was last changed.
    pub fn time(&self, identifier: &str) -> Option<Time> {
        let _ = identifier;
        todo!()
    }
}
