//! The set of a value without a schema (upstream `fieldpath.SetFromValue`).

use super::set::Set;
use crate::Bump;
use crate::value::Value;

impl<'a> Set<'a> {
    /// Every scalar of a value, the items of lists by their `key`, `id` and `name`, or else by their index.
    pub fn from_value(value: Value<'a>, arena: &'a Bump) -> Set<'a> {
        let _ = (value, arena);
        todo!()
    }
}
