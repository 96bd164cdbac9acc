//! Taking fields out of a value, and taking a value apart by fields.

use super::TypedValue;
use crate::Bump;
use crate::fieldpath::Set;

/// Whether extracted list items keep their key fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyFields {
    /// Only those in the set.
    AsOwned,
    /// All of them (upstream `WithAppendKeyFields`).
    Append,
}

impl<'a> TypedValue<'a> {
    /// The value without the fields and items of the set.
    #[must_use]
    pub fn remove_items(self, items: Set<'a>, arena: &'a Bump) -> TypedValue<'a> {
        let _ = (items, arena);
        todo!()
    }

    /// Only the fields and items of the set.
    #[must_use]
    pub fn extract_items(self, items: Set<'a>, keys: KeyFields, arena: &'a Bump) -> TypedValue<'a> {
        let _ = (items, keys, arena);
        todo!()
    }
}
