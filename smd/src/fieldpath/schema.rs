//! What a schema adds to a set.

use super::set::Set;
use crate::Bump;
use crate::typed::Type;

impl<'a> Set<'a> {
    /// Makes every struct field that has paths below it a member (upstream `Set.EnsureNamedFieldsAreMembers`).
    /// Entries of maps and items of lists are not added.
    #[must_use]
    pub fn ensure_named_fields_are_members(self, ty: Type<'_>, arena: &'a Bump) -> Set<'a> {
        let _ = (ty, arena);
        todo!()
    }
}
