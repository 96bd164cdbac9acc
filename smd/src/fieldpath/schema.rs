//! Fields that a schema adds to a set.

use super::algebra::{Work, map};
use super::set::Set;
use crate::Bump;
use crate::typed::Type;

impl<'a> Set<'a> {
    /// Makes every struct field that has paths below it a member (upstream `Set.EnsureNamedFieldsAreMembers`).
    /// Entries of maps and items of lists are not added.
    ///
    /// # Example: a field, but not the entry of a map
    /// ```
    /// use kubeshape_smd::{Bump, fieldpath::Set, schema, typed::Types};
    /// use kubeshape_yaml::{Limits, Stream, Tape};
    ///
    /// let source = "types: [{name: pod, map: {fields: [{name: labels, type: {map: {elementType: {map: {}}}}}]}}]";
    /// let mut tape = Tape::new();
    /// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
    /// let types = Types::new(schema::read(tape.document(source).root().unwrap())?);
    ///
    /// let arena = Bump::new();
    /// let set = Set::read_json(br#"{"f:labels":{"f:a":{"f:b":{}}}}"#, &arena)?;
    /// let set = set.ensure_named_fields_are_members(types.named("pod").unwrap(), &arena);
    /// assert_eq!(set.to_string(), ".labels\n.labels.a.b");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn ensure_named_fields_are_members(self, ty: Type<'_>, arena: &'a Bump) -> Set<'a> {
        node(self, ty, &mut Work::new(arena))
    }
}

fn node<'a>(set: Set<'a>, ty: Type<'_>, work: &mut Work<'a>) -> Set<'a> {
    map(set, work, |entry, work| {
        if entry.children.is_empty() {
            return Some(*entry);
        }
        let below = ty.below(&entry.element);
        Some(entry.with(entry.member || below.declared, node(entry.children, below.ty, work)))
    })
}
