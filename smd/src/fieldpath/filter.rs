//! Patterns and filters over sets (upstream `fieldpath.SetMatcher`, `fieldpath.Filter`).

use super::algebra::{Work, keep, map};
use super::element::PathElement;
use super::set::Set;
use crate::Bump;
use crate::value::MAX_DEPTH;
use std::cmp::Ordering;

/// Which elements a pattern matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ElementMatcher<'a> {
    /// Any element.
    Any,
    /// This one.
    Is(PathElement<'a>),
}

/// A pattern over sets (upstream `fieldpath.SetMatcher`).
///
/// # Example: one field of every container
/// ```
/// use kubeshape_smd::{Bump, fieldpath::{ElementMatcher, Filter, Matcher, PathElement, Set}};
/// let arena = Bump::new();
/// let field = |name| ElementMatcher::Is(PathElement::FieldName(name));
/// let images = Matcher::prefix(&[field("containers"), ElementMatcher::Any, field("image")]);
/// let set = Set::read_json(br#"{"f:containers":{"i:0":{"f:image":{},"f:name":{}}},"f:volumes":{}}"#, &arena)?;
/// let left = Filter::include([images]).filter(set, &arena);
/// assert_eq!(left.to_string(), ".containers[0].image");
/// # Ok::<(), kubeshape_smd::fieldpath::SetError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Matcher<'a> {
    /// Matches everything.
    Wildcard,
    /// The elements that match, each with the pattern for the paths below it; sorted, [`ElementMatcher::Any`] first.
    ///
    /// A path follows the first entry that matches its element, so entries after an `Any` match nothing.
    Members(Vec<(ElementMatcher<'a>, Matcher<'a>)>),
}

impl<'a> Matcher<'a> {
    /// Creates a pattern of entries, in any order (upstream `NewSetMatcher`).
    pub fn of(mut entries: Vec<(ElementMatcher<'a>, Matcher<'a>)>) -> Self {
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        Matcher::Members(entries)
    }

    /// Matches the path of these elements, every prefix of that path, and every path below it (upstream
    /// `PrefixMatcher`). Elements beyond [`MAX_DEPTH`] are ignored: sets do not have any there.
    pub fn prefix(elements: &[ElementMatcher<'a>]) -> Self {
        elements
            .iter()
            .take(MAX_DEPTH)
            .rev()
            .fold(Matcher::Wildcard, |below, element| Matcher::Members(vec![(*element, below)]))
    }

    /// Combines both patterns (upstream `SetMatcher.Merge`). Entries of one element are merged if upstream's search
    /// finds them. Otherwise the entry of the other pattern is appended, where it matches nothing that the first one
    /// matches.
    ///
    /// Upstream's search compares in the wrong direction, and never finds [`ElementMatcher::Any`]. In a pattern of one
    /// entry, as most are, it finds every other element. What API servers filter depends on it.
    #[must_use]
    pub fn merge(self, other: Matcher<'a>) -> Self {
        let (Matcher::Members(mut merged), Matcher::Members(others)) = (self, other) else { return Matcher::Wildcard };
        let known = merged.len();
        for (element, below) in others {
            let found = Self::find(&merged[..known], element);
            match found.and_then(|at| merged.get_mut(at)) {
                Some((_, had)) => *had = std::mem::replace(had, Matcher::Wildcard).merge(below),
                None => merged.push((element, below)),
            }
        }
        Matcher::of(merged)
    }

    /// Upstream's search for the entry of an element.
    fn find(entries: &[(ElementMatcher<'a>, Matcher<'a>)], element: ElementMatcher<'a>) -> Option<usize> {
        let order = |at: usize| match (entries.get(at)?.0, element) {
            (ElementMatcher::Any, ElementMatcher::Is(_)) => Some(Ordering::Less),
            (_, ElementMatcher::Any) => Some(Ordering::Greater),
            (ElementMatcher::Is(known), ElementMatcher::Is(element)) => Some(known.cmp(&element)),
        };
        let (mut from, mut to) = (0, entries.len());
        while from < to {
            let middle = usize::midpoint(from, to);
            if order(middle) == Some(Ordering::Greater) {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        (order(from) == Some(Ordering::Equal)).then_some(from)
    }

    /// Returns the pattern for the paths below an element, if the element matches.
    #[inline]
    fn below<'m>(
        entries: &'m [(ElementMatcher<'a>, Matcher<'a>)],
        element: PathElement<'_>,
    ) -> Option<&'m Matcher<'a>> {
        if let Some((ElementMatcher::Any, below)) = entries.first() {
            return Some(below);
        }
        let order = |matcher: &ElementMatcher<'a>| match matcher {
            ElementMatcher::Any => Ordering::Less,
            ElementMatcher::Is(known) => known.cmp(&element),
        };
        let at = entries.partition_point(|(matcher, _)| order(matcher) == Ordering::Less);
        entries.get(at).filter(|(matcher, _)| order(matcher) == Ordering::Equal).map(|(_, below)| below)
    }
}

/// Selects a part of a set.
#[derive(Clone, Debug)]
pub enum Filter<'a> {
    /// Keeps everything except the paths of the set and those below them.
    Exclude(Set<'a>),
    /// Keeps what the pattern matches.
    Include(Matcher<'a>),
}

impl<'a> Filter<'a> {
    /// Keeps what any of the patterns matches; without a pattern, everything (upstream `NewIncludeMatcherFilter`).
    pub fn include(patterns: impl IntoIterator<Item = Matcher<'a>>) -> Self {
        Filter::Include(patterns.into_iter().reduce(Matcher::merge).unwrap_or(Matcher::Wildcard))
    }

    /// Returns the filtered set.
    #[must_use]
    pub fn filter(&self, set: Set<'a>, arena: &'a Bump) -> Set<'a> {
        match self {
            Filter::Exclude(fields) => set.recursive_difference(*fields, arena),
            Filter::Include(pattern) => included(set, pattern, &mut Work::new(arena)),
        }
    }
}

fn included<'a>(set: Set<'a>, pattern: &Matcher<'a>, work: &mut Work<'a>) -> Set<'a> {
    let Matcher::Members(entries) = pattern else { return set };
    map(set, work, |entry, work| {
        let below = Matcher::below(entries, entry.element)?;
        keep(entry.with(entry.member, included(entry.children, below, work)))
    })
}
