//! What changed between two values of a type.

use super::TypedValue;
use super::error::ValidationErrors;
use crate::Bump;
use crate::fieldpath::{Filter, Set};

/// What changed between two values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Comparison<'a> {
    /// Paths that only the left value has.
    pub removed: Set<'a>,
    /// Paths whose values differ.
    pub modified: Set<'a>,
    /// Paths that only the right value has.
    pub added: Set<'a>,
}

/// Why two values cannot be compared or merged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    /// Their types come from different [`Types`](super::Types).
    #[error("expected objects with types from the same schema")]
    OtherSchema,
    /// Their types differ.
    #[error("expected objects of the same type, but got {0} and {1}")]
    OtherType(String, String),
    /// The values do not fit their type.
    #[error(transparent)]
    Invalid(#[from] ValidationErrors),
}

impl<'a> Comparison<'a> {
    /// Whether nothing changed.
    pub fn is_same(&self) -> bool {
        self.removed.is_empty() && self.modified.is_empty() && self.added.is_empty()
    }

    /// The comparison without the fields of the set and all below them.
    #[must_use]
    pub fn exclude_fields(self, fields: Set<'a>, arena: &'a Bump) -> Self {
        let _ = (fields, arena);
        todo!()
    }

    /// What the filter leaves of the comparison.
    #[must_use]
    pub fn filter(self, filter: &Filter<'a>, arena: &'a Bump) -> Self {
        let _ = (filter, arena);
        todo!()
    }
}

impl<'a> TypedValue<'a> {
    /// What changed from this to the other.
    ///
    /// # Errors
    /// The types differ, both are absent, or an item of a list has no path element.
    pub fn compare(self, other: TypedValue<'a>, arena: &'a Bump) -> Result<Comparison<'a>, CompareError> {
        let _ = (other, arena);
        todo!()
    }
}
