//! Sets of paths.

use super::element::{Path, PathElement, exact};
use std::cmp::Ordering;

/// A set of paths: a trie that borrows its nodes.
///
/// Equality is that of the paths. The empty path is never in a set.
#[derive(Clone, Copy, Debug, Default)]
pub struct Set<'a> {
    pub(super) entries: &'a [Entry<'a>],
}

/// A child of a node: an element that is itself in the set, or has paths below it, or both.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// The element.
    pub element: PathElement<'a>,
    /// Whether the path that ends here is in the set.
    pub member: bool,
    /// The paths below, without this element.
    pub children: Set<'a>,
    /// [`PathElement::prefix`]. It mostly orders two entries without reading their strings.
    prefix: u64,
}

impl<'a> Entry<'a> {
    /// Creates a child of a node.
    #[inline]
    pub fn new(element: PathElement<'a>, member: bool, children: Set<'a>) -> Self {
        Entry { element, member, children, prefix: element.prefix() }
    }

    /// Returns the same element with other paths.
    #[inline]
    pub(crate) fn with(&self, member: bool, children: Set<'a>) -> Self {
        Entry { member, children, ..*self }
    }

    /// Does the same as [`new`](Self::new), with a known prefix.
    #[inline]
    pub(super) fn of(prefix: u64, element: PathElement<'a>, member: bool, children: Set<'a>) -> Self {
        Entry { element, member, children, prefix }
    }

    /// Returns the number in the order of elements by which this entry is compared first.
    #[inline]
    pub(crate) fn prefix(&self) -> u64 {
        self.prefix
    }
}

impl<'a> Set<'a> {
    /// The empty set.
    pub const EMPTY: Set<'static> = Set { entries: &[] };

    /// Returns the entries of the root, in the order of their elements. Each is a member or has children.
    #[inline]
    pub fn entries(self) -> &'a [Entry<'a>] {
        self.entries
    }

    /// Returns whether there is no path.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the number of paths.
    pub fn len(self) -> usize {
        self.entries.iter().map(|entry| usize::from(entry.member) + entry.children.len()).sum()
    }

    /// Returns the entry of an element.
    #[inline]
    pub fn entry(self, element: PathElement<'_>) -> Option<&'a Entry<'a>> {
        let prefix = element.prefix();
        let at = self.entries.partition_point(|entry| entry.prefix < prefix);
        let entry = self.entries.get(at).filter(|entry| entry.prefix == prefix)?;
        if exact(prefix) {
            return Some(entry);
        }
        match entry.element.cmp(&element) {
            Ordering::Equal => Some(entry),
            Ordering::Greater => None,
            Ordering::Less => {
                let others = self.entries.get(at..)?;
                let others = &others[..others.partition_point(|entry| entry.prefix == prefix)];
                others.get(others.binary_search_by(|entry| entry.element.cmp(&element)).ok()?)
            }
        }
    }

    /// Returns the paths below an element, without it (upstream `Set.WithPrefix`).
    #[must_use]
    pub fn with_prefix(self, element: PathElement<'_>) -> Set<'a> {
        self.entry(element).map_or(Set::EMPTY, |entry| entry.children)
    }

    /// Returns whether a path is in the set.
    pub fn has(self, path: &Path<'_>) -> bool {
        let Some((last, parents)) = path.split_last() else { return false };
        let mut node = self;
        for element in parents {
            match node.entry(*element) {
                Some(entry) => node = entry.children,
                None => return false,
            }
        }
        node.entry(*last).is_some_and(|entry| entry.member)
    }

    /// Returns the paths in upstream's order: at every node first its members, then the paths below them.
    pub fn iter(self) -> Iter<'a> {
        Iter { stack: vec![(self.entries, Phase::Members(0))], path: Vec::new() }
    }

    /// Returns whether both are the same node in memory.
    #[inline]
    pub(super) fn is(self, other: Set<'_>) -> bool {
        self.entries.len() == other.entries.len()
            && (self.entries.is_empty()
                || std::ptr::eq(self.entries.as_ptr().cast::<()>(), other.entries.as_ptr().cast()))
    }
}

impl PartialEq for Set<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.is(*other)
            || self.entries.len() == other.entries.len()
                && self
                    .entries
                    .iter()
                    .zip(other.entries)
                    .all(|(a, b)| a.member == b.member && order(a, b).is_eq() && a.children == b.children)
    }
}

impl Eq for Set<'_> {}

impl<'a> IntoIterator for Set<'a> {
    type Item = Vec<PathElement<'a>>;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    Members(usize),
    Children(usize),
}

/// The paths of a set, see [`Set::iter`].
#[derive(Clone, Debug)]
pub struct Iter<'a> {
    stack: Vec<(&'a [Entry<'a>], Phase)>,
    path: Vec<PathElement<'a>>,
}

impl<'a> Iter<'a> {
    /// Advances to the next path and returns a reference to it. Unlike [`Iterator::next`], it copies nothing.
    pub fn advance(&mut self) -> Option<&Path<'a>> {
        // After the elements that lead to the current node is the member that was returned last.
        self.path.truncate(self.stack.len().checked_sub(1)?);
        loop {
            let (entries, phase) = self.stack.last_mut()?;
            match phase {
                Phase::Members(at) => {
                    let found = entries[*at..].iter().position(|entry| entry.member);
                    let Some(found) = found else {
                        *phase = Phase::Children(0);
                        continue;
                    };
                    let element = entries[*at + found].element;
                    *at += found + 1;
                    self.path.push(element);
                    return Some(&self.path);
                }
                Phase::Children(at) => {
                    let found = entries[*at..].iter().position(|entry| !entry.children.is_empty());
                    let Some(found) = found else {
                        self.stack.pop();
                        self.path.pop();
                        continue;
                    };
                    let entry = &entries[*at + found];
                    *at += found + 1;
                    self.path.push(entry.element);
                    self.stack.push((entry.children.entries, Phase::Members(0)));
                }
            }
        }
    }
}

impl<'a> Iterator for Iter<'a> {
    type Item = Vec<PathElement<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.advance().map(<[_]>::to_vec)
    }
}

/// Compares two entries by their elements.
#[inline]
pub(crate) fn order(a: &Entry<'_>, b: &Entry<'_>) -> Ordering {
    if a.prefix != b.prefix {
        return a.prefix.cmp(&b.prefix);
    }
    if exact(a.prefix) {
        return Ordering::Equal;
    }
    match (&a.element, &b.element) {
        (PathElement::FieldName(a), PathElement::FieldName(b)) if std::ptr::eq(*a, *b) => Ordering::Equal,
        (a, b) => a.cmp(b),
    }
}
