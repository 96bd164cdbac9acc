//! Patterns and filters over sets (spec: smd, "Operations": SetMatcher, filters).

use super::element::PathElement;
use super::set::Set;
use crate::Bump;

/// Which element a pattern takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementMatcher<'a> {
    /// Any element.
    Any,
    /// This one.
    Is(PathElement<'a>),
}

/// A pattern over sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Matcher<'a> {
    /// Everything.
    Wildcard,
    /// What the entries take, each with the pattern for what is below it; sorted, [`ElementMatcher::Any`] first.
    Members(Vec<(ElementMatcher<'a>, Matcher<'a>)>),
}

/// What is left of a set.
#[derive(Clone, Debug)]
pub enum Filter<'a> {
    /// Everything but the paths of the set and those below them.
    Exclude(Set<'a>),
    /// What the pattern takes.
    Include(Matcher<'a>),
}

impl<'a> Filter<'a> {
    /// What is left of the set.
    pub fn filter(&self, set: Set<'a>, arena: &'a Bump) -> Set<'a> {
        let _ = (set, arena);
        todo!()
    }
}
