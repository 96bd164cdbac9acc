//! The macros and the syntax that a release has in addition to the standard ones.

use crate::release::{Change, Language};

/// The macros and the syntax of a release in addition to the standard ones.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Macros<'r>(pub(crate) &'r Language);

impl Macros<'_> {
    /// `a.?b`, `a[?b]`, `[?a]`, `{?a: b}`, `optMap`, `optFlatMap`.
    pub(super) fn optional(self) -> bool {
        self.0.knows(28)
    }

    /// Comprehensions with two variables.
    pub(super) fn two_variables(self) -> bool {
        self.0.knows(32)
    }

    /// `sortBy`.
    pub(super) fn sort_by(self) -> bool {
        self.0.knows(34)
    }

    /// Names of fields in backticks.
    pub(super) fn quoted(self) -> Quoted {
        if !self.0.has(Change::QuotedFieldsInGrammar) {
            Quoted::Unknown
        } else if !self.0.has(Change::QuotedFields) {
            Quoted::Refused
        } else {
            Quoted::Taken
        }
    }
}

/// How field names in backticks are handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quoted {
    /// The grammar does not have them.
    Unknown,
    /// They are refused.
    Refused,
    Taken,
}
