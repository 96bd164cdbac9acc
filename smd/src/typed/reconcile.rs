//! Sets of fields that were written when the schema was another.

use super::TypedValue;
use super::error::ValidationErrors;
use crate::Bump;
use crate::fieldpath::Set;

impl<'a> TypedValue<'a> {
    /// The set in the terms of this value's schema (upstream `ReconcileFieldSetWithSchema`): where a list or map is
    /// atomic by now, its path stands for all that was below. None if nothing changes.
    ///
    /// # Errors
    /// A type is missing in the schema.
    pub fn reconcile(self, fields: Set<'a>, arena: &'a Bump) -> Result<Option<Set<'a>>, ValidationErrors> {
        let _ = (fields, arena);
        todo!()
    }
}
