//! Union, intersection, differences, leaves (spec: smd, "Operations").
//!
//! Every operation is one zip over two sorted slices per node that both sets have. What a result takes from one
//! operand as it is, it shares.

use super::set::{Entry, Set, order};
use crate::Bump;
use std::cmp::Ordering;

impl<'a> Set<'a> {
    /// The paths that are in either set.
    #[must_use]
    pub fn union(self, other: Set<'a>, arena: &'a Bump) -> Set<'a> {
        if other.is_empty() || self.is(other) {
            return self;
        }
        if self.is_empty() {
            return other;
        }
        zip(self, other, arena, |side| match side {
            Side::Left(entry) | Side::Right(entry) => Some(*entry),
            Side::Both(left, right) => {
                let children = left.children.union(right.children, arena);
                // Where two elements are equal but not the same, the right member and the left child stay.
                let element =
                    if right.member || (!left.member && left.children.is_empty()) { right } else { left }.element;
                Some(Entry { element, member: left.member || right.member, children })
            }
        })
    }

    /// The paths that are in both sets.
    #[must_use]
    pub fn intersection(self, other: Set<'a>, arena: &'a Bump) -> Set<'a> {
        if self.is(other) {
            return self;
        }
        if self.is_empty() || other.is_empty() {
            return Set::EMPTY;
        }
        zip(self, other, arena, |side| match side {
            Side::Left(_) | Side::Right(_) => None,
            Side::Both(left, right) => keep(Entry {
                element: left.element,
                member: left.member && right.member,
                children: left.children.intersection(right.children, arena),
            }),
        })
    }

    /// The paths that are not in the other set. A path of the other set says nothing of the paths below it.
    #[must_use]
    pub fn difference(self, other: Set<'a>, arena: &'a Bump) -> Set<'a> {
        if self.is(other) {
            return Set::EMPTY;
        }
        if self.is_empty() || other.is_empty() {
            return self;
        }
        zip(self, other, arena, |side| match side {
            Side::Left(entry) => Some(*entry),
            Side::Right(_) => None,
            Side::Both(left, right) => keep(Entry {
                element: left.element,
                member: left.member && !right.member,
                children: left.children.difference(right.children, arena),
            }),
        })
    }

    /// The paths that are neither in the other set nor below one of its paths.
    #[must_use]
    pub fn recursive_difference(self, other: Set<'a>, arena: &'a Bump) -> Set<'a> {
        if self.is_empty() || other.is_empty() {
            return self;
        }
        zip(self, other, arena, |side| match side {
            Side::Left(entry) => Some(*entry),
            Side::Right(_) => None,
            Side::Both(_, right) if right.member => None,
            Side::Both(left, right) => {
                keep(Entry { children: left.children.recursive_difference(right.children, arena), ..*left })
            }
        })
    }

    /// The paths below which the set has no other.
    #[must_use]
    pub fn leaves(self, arena: &'a Bump) -> Set<'a> {
        map(self, arena, |entry| {
            Some(Entry {
                member: entry.member && entry.children.is_empty(),
                children: entry.children.leaves(arena),
                ..*entry
            })
        })
    }
}

/// An element of either set or of both.
enum Side<'e, 'a> {
    Left(&'e Entry<'a>),
    Right(&'e Entry<'a>),
    Both(&'e Entry<'a>, &'e Entry<'a>),
}

/// The entry, unless it holds nothing.
#[inline]
pub(super) fn keep(entry: Entry<'_>) -> Option<Entry<'_>> {
    (entry.member || !entry.children.is_empty()).then_some(entry)
}

#[inline]
fn unchanged(new: &Entry<'_>, old: &Entry<'_>) -> bool {
    new.member == old.member && new.children.is(old.children)
}

/// Walks both sets and collects what `f` makes of every element. As long as that is what the left set holds,
/// nothing is made.
#[inline]
fn zip<'a>(
    left: Set<'a>,
    right: Set<'a>,
    arena: &'a Bump,
    mut f: impl FnMut(Side<'_, 'a>) -> Option<Entry<'a>>,
) -> Set<'a> {
    let mut out = Collected { source: left.entries, same: 0, made: None };
    let (mut l, mut r) = (0, 0);
    loop {
        let side = match (left.entries.get(l), right.entries.get(r)) {
            (None, None) => break,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(a), Some(b)) => order(a, b),
        };
        match side {
            Ordering::Less => {
                out.push(f(Side::Left(&left.entries[l])), Some(l));
                l += 1;
            }
            Ordering::Greater => {
                out.push(f(Side::Right(&right.entries[r])), None);
                r += 1;
            }
            Ordering::Equal => {
                out.push(f(Side::Both(&left.entries[l], &right.entries[r])), Some(l));
                l += 1;
                r += 1;
            }
        }
    }
    out.finish(arena)
}

/// Collects what `f` makes of every entry.
#[inline]
pub(super) fn map<'a>(set: Set<'a>, arena: &'a Bump, mut f: impl FnMut(&Entry<'a>) -> Option<Entry<'a>>) -> Set<'a> {
    let mut out = Collected { source: set.entries, same: 0, made: None };
    for (at, entry) in set.entries.iter().enumerate() {
        out.push(f(entry), Some(at));
    }
    out.finish(arena)
}

/// Entries of a result, held as a prefix of the source for as long as they are the same.
struct Collected<'a> {
    source: &'a [Entry<'a>],
    same: usize,
    made: Option<Vec<Entry<'a>>>,
}

impl<'a> Collected<'a> {
    /// `at`: the place in the source that the entry comes from.
    #[inline]
    fn push(&mut self, entry: Option<Entry<'a>>, at: Option<usize>) {
        if self.made.is_none() {
            match (&entry, at) {
                (Some(new), Some(at)) if at == self.same && unchanged(new, &self.source[at]) => {
                    self.same += 1;
                    return;
                }
                (None, None) => return,
                _ => {}
            }
        }
        let made = self.made.get_or_insert_with(|| {
            let mut made = Vec::with_capacity(self.source.len() + 4);
            made.extend_from_slice(&self.source[..self.same]);
            made
        });
        made.extend(entry);
    }

    fn finish(self, arena: &'a Bump) -> Set<'a> {
        match self.made {
            Some(made) => Set { entries: arena.alloc_slice_copy(&made) },
            None => Set { entries: &self.source[..self.same] },
        }
    }
}
