//! The fields of a value.

use super::TypedValue;
use super::error::ValidationErrors;
use crate::Bump;
use crate::fieldpath::Set;

impl<'a> TypedValue<'a> {
    /// Every leaf and every list item of the value.
    ///
    /// # Errors
    /// A type is missing in the schema.
    pub fn to_field_set(self, arena: &'a Bump) -> Result<Set<'a>, ValidationErrors> {
        let _ = arena;
        todo!()
    }
}
