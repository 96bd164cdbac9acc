//! Union, intersection, differences and leaves (upstream `fieldpath/set.go`).
//!
//! Every operation is one zip over two sorted slices for each node that both sets have. A result shares the parts of
//! its operands that it does not change. All other nodes are collected on one stack and then copied into the arena.

use super::element::PathElement;
use super::set::{Entry, Set, order};
use crate::Bump;
use crate::value::Value;
use std::cmp::Ordering;

impl<'a> Set<'a> {
    /// The paths that are in either set.
    ///
    /// # Example: union, intersection and the two differences
    /// ```
    /// use kubeshape_smd::{Bump, fieldpath::Set};
    /// let arena = Bump::new();
    /// let a = Set::read_json(br#"{"f:a":{".":{},"f:b":{}},"f:c":{}}"#, &arena)?;
    /// let b = Set::read_json(br#"{"f:a":{}}"#, &arena)?;
    /// assert_eq!(a.union(b, &arena), a);
    /// assert_eq!(a.intersection(b, &arena).to_string(), ".a");
    /// assert_eq!(a.difference(b, &arena).to_string(), ".c\n.a.b");
    /// assert_eq!(a.recursive_difference(b, &arena).to_string(), ".c");
    /// assert_eq!(a.leaves(&arena).to_string(), ".c\n.a.b");
    /// # Ok::<(), kubeshape_smd::fieldpath::SetError>(())
    /// ```
    #[must_use]
    pub fn union(self, other: Set<'a>, arena: &'a Bump) -> Set<'a> {
        zip::<Union>(self, other, &mut Work::new(arena))
    }

    /// The paths that are in both sets.
    #[must_use]
    pub fn intersection(self, other: Set<'a>, arena: &'a Bump) -> Set<'a> {
        zip::<Intersection>(self, other, &mut Work::new(arena))
    }

    /// The paths that are not in the other set. A path of the other set says nothing of the paths below it.
    #[must_use]
    pub fn difference(self, other: Set<'a>, arena: &'a Bump) -> Set<'a> {
        zip::<Difference>(self, other, &mut Work::new(arena))
    }

    /// The paths that are neither in the other set nor below one of its paths.
    #[must_use]
    pub fn recursive_difference(self, other: Set<'a>, arena: &'a Bump) -> Set<'a> {
        zip::<RecursiveDifference>(self, other, &mut Work::new(arena))
    }

    /// The paths below which the set has no other.
    #[must_use]
    pub fn leaves(self, arena: &'a Bump) -> Set<'a> {
        leaves(self, arena)
    }
}

/// Shares a node in which nothing changes, and writes any other once.
fn leaves<'a>(set: Set<'a>, arena: &'a Bump) -> Set<'a> {
    let changed = |entry: &Entry<'a>| {
        let children = leaves(entry.children, arena);
        let changed = !entry.children.is_empty() && (entry.member || !children.is(entry.children));
        changed.then(|| entry.with(false, children))
    };
    for (at, entry) in set.entries.iter().enumerate() {
        if entry.children.is_empty() {
            continue;
        }
        if let Some(first) = changed(entry) {
            let out = arena.alloc_slice_copy(set.entries);
            out[at] = first;
            for entry in &mut out[at + 1..] {
                if !entry.children.is_empty()
                    && let Some(other) = changed(entry)
                {
                    *entry = other;
                }
            }
            return Set { entries: out };
        }
    }
    set
}

/// What an operation does where two nodes meet.
trait Operation {
    /// Whether elements that only the left node has stay.
    const LEFT: bool;
    /// Whether elements that only the right node has are taken.
    const RIGHT: bool;

    /// The result, where it shows without looking at the elements.
    fn short_cut<'a>(left: Set<'a>, right: Set<'a>) -> Option<Set<'a>>;

    /// What becomes of an element that both nodes have.
    fn both<'a>(left: &Entry<'a>, right: &Entry<'a>, work: &mut Work<'a>) -> Option<Entry<'a>>;
}

struct Union;

impl Operation for Union {
    const LEFT: bool = true;
    const RIGHT: bool = true;

    #[inline]
    fn short_cut<'a>(left: Set<'a>, right: Set<'a>) -> Option<Set<'a>> {
        if right.is_empty() || left.is(right) {
            return Some(left);
        }
        left.is_empty().then_some(right)
    }

    #[inline]
    fn both<'a>(left: &Entry<'a>, right: &Entry<'a>, work: &mut Work<'a>) -> Option<Entry<'a>> {
        // Elements may be equal and yet be written differently. Upstream keeps members and children apart, takes the
        // right member and the left child, and writes the child's element if there is one.
        let written =
            if left.children.is_empty() && (right.member || !right.children.is_empty()) { right } else { left };
        Some(written.with(left.member || right.member, zip::<Union>(left.children, right.children, work)))
    }
}

struct Intersection;

impl Operation for Intersection {
    const LEFT: bool = false;
    const RIGHT: bool = false;

    #[inline]
    fn short_cut<'a>(left: Set<'a>, right: Set<'a>) -> Option<Set<'a>> {
        if left.is(right) {
            return Some(left);
        }
        (left.is_empty() || right.is_empty()).then_some(Set::EMPTY)
    }

    #[inline]
    fn both<'a>(left: &Entry<'a>, right: &Entry<'a>, work: &mut Work<'a>) -> Option<Entry<'a>> {
        keep(left.with(left.member && right.member, zip::<Intersection>(left.children, right.children, work)))
    }
}

struct Difference;

impl Operation for Difference {
    const LEFT: bool = true;
    const RIGHT: bool = false;

    #[inline]
    fn short_cut<'a>(left: Set<'a>, right: Set<'a>) -> Option<Set<'a>> {
        if left.is(right) {
            return Some(Set::EMPTY);
        }
        (left.is_empty() || right.is_empty()).then_some(left)
    }

    #[inline]
    fn both<'a>(left: &Entry<'a>, right: &Entry<'a>, work: &mut Work<'a>) -> Option<Entry<'a>> {
        keep(left.with(left.member && !right.member, zip::<Difference>(left.children, right.children, work)))
    }
}

struct RecursiveDifference;

impl Operation for RecursiveDifference {
    const LEFT: bool = true;
    const RIGHT: bool = false;

    #[inline]
    fn short_cut<'a>(left: Set<'a>, right: Set<'a>) -> Option<Set<'a>> {
        Difference::short_cut(left, right)
    }

    #[inline]
    fn both<'a>(left: &Entry<'a>, right: &Entry<'a>, work: &mut Work<'a>) -> Option<Entry<'a>> {
        if right.member {
            return None;
        }
        keep(left.with(left.member, zip::<RecursiveDifference>(left.children, right.children, work)))
    }
}

/// The entry, unless it holds nothing.
#[inline]
pub(super) fn keep(entry: Entry<'_>) -> Option<Entry<'_>> {
    (entry.member || !entry.children.is_empty()).then_some(entry)
}

/// Whether one entry may stand for the other, given that the elements are equal.
#[inline]
fn same(a: &Entry<'_>, b: &Entry<'_>) -> bool {
    a.member == b.member && a.children.is(b.children) && written_alike(a.element, b.element)
}

/// Whether elements that are equal are also written in one way: a large integer and its float are not, nor are `0`
/// and `-0`.
#[inline]
fn written_alike(a: PathElement<'_>, b: PathElement<'_>) -> bool {
    match (a, b) {
        (PathElement::Key(a), PathElement::Key(b)) => {
            std::ptr::eq(a, b) || a.iter().zip(b).all(|(a, b)| values_alike(a.1, b.1))
        }
        (PathElement::Value(a), PathElement::Value(b)) => values_alike(a, b),
        _ => true,
    }
}

fn values_alike(a: Value<'_>, b: Value<'_>) -> bool {
    match (a, b) {
        (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits(),
        (Value::Int(_), Value::Float(_)) | (Value::Float(_), Value::Int(_)) => false,
        (Value::List(a), Value::List(b)) => a.iter().zip(b).all(|(a, b)| values_alike(*a, *b)),
        (Value::Map(a), Value::Map(b)) => a.entries().iter().zip(b.entries()).all(|(a, b)| values_alike(a.1, b.1)),
        _ => true,
    }
}

/// Walks two nodes. How deep it goes is bounded by how sets are made.
fn zip<'a, O: Operation>(left: Set<'a>, right: Set<'a>, work: &mut Work<'a>) -> Set<'a> {
    if let Some(result) = O::short_cut(left, right) {
        return result;
    }
    let (l, r) = (left.entries, right.entries);
    // Where one node is much longer, its runs between the elements of the other are found by bisection.
    let leaps = (l.len() / 8 > r.len(), r.len() / 8 > l.len());
    let mut out = Out::new(left, work);
    let mut is_right = O::RIGHT;
    let (mut at, mut other) = (0, 0);
    while let (Some(a), Some(b)) = (l.get(at), r.get(other)) {
        match order(a, b) {
            Ordering::Less => {
                let run = if leaps.0 { run(&l[at..], b) } else { 1 };
                if O::LEFT {
                    out.share(at, run, work);
                    is_right = false;
                }
                at += run;
            }
            Ordering::Greater => {
                let run = if leaps.1 { run(&r[other..], a) } else { 1 };
                if O::RIGHT {
                    out.extend(&r[other..other + run], work);
                }
                other += run;
            }
            Ordering::Equal => {
                if let Some(entry) = O::both(a, b, work) {
                    is_right = is_right && same(&entry, b);
                    out.push(entry, at, O::RIGHT, work);
                }
                at += 1;
                other += 1;
            }
        }
    }
    if O::LEFT && at < l.len() {
        out.share(at, l.len() - at, work);
        is_right = false;
    }
    if O::RIGHT && other < r.len() {
        out.extend(&r[other..], work);
    }
    if is_right && out.made {
        work.entries.truncate(out.mark);
        return right;
    }
    out.finish(work)
}

/// How many entries at the front are less than the one given; the first is known to be.
fn run(entries: &[Entry<'_>], than: &Entry<'_>) -> usize {
    let mut step = 1;
    while entries.get(step).is_some_and(|entry| order(entry, than) == Ordering::Less) {
        step *= 2;
    }
    let from = step / 2;
    let to = step.min(entries.len());
    from + entries[from..to].partition_point(|entry| order(entry, than) == Ordering::Less)
}

/// What an operation needs on its way: the arena, and the entries of all nodes that are being made, innermost last.
pub(super) struct Work<'a> {
    arena: &'a Bump,
    entries: Vec<Entry<'a>>,
}

impl<'a> Work<'a> {
    pub(super) fn new(arena: &'a Bump) -> Self {
        Work { arena, entries: Vec::new() }
    }
}

/// Collects what `f` makes of every entry.
#[inline]
pub(super) fn map<'a>(
    set: Set<'a>,
    work: &mut Work<'a>,
    mut f: impl FnMut(&Entry<'a>, &mut Work<'a>) -> Option<Entry<'a>>,
) -> Set<'a> {
    let mut out = Out::new(set, work);
    for (at, entry) in set.entries.iter().enumerate() {
        if let Some(entry) = f(entry, work) {
            out.push(entry, at, false, work);
        }
    }
    out.finish(work)
}

/// A node that is being made: a part of the source for as long as it is one, then entries on the stack.
struct Out<'a> {
    source: &'a [Entry<'a>],
    from: usize,
    to: usize,
    made: bool,
    mark: usize,
}

impl<'a> Out<'a> {
    #[inline]
    fn new(source: Set<'a>, work: &Work<'a>) -> Self {
        Out { source: source.entries, from: 0, to: 0, made: false, mark: work.entries.len() }
    }

    /// Appends an entry that comes from the source's at this place; its element may be another's only if it is swapped.
    #[inline]
    fn push(&mut self, entry: Entry<'a>, at: usize, swapped: bool, work: &mut Work<'a>) {
        if !self.made {
            let old = &self.source[at];
            if entry.member == old.member
                && entry.children.is(old.children)
                && (!swapped || written_alike(entry.element, old.element))
            {
                return self.share(at, 1, work);
            }
            self.make(work);
        }
        work.entries.push(entry);
    }

    /// Appends entries of the source.
    #[inline]
    fn share(&mut self, at: usize, count: usize, work: &mut Work<'a>) {
        if !self.made {
            if self.from == self.to {
                self.from = at;
                self.to = at;
            }
            if self.to == at {
                self.to += count;
                return;
            }
            self.make(work);
        }
        work.entries.extend_from_slice(&self.source[at..at + count]);
    }

    /// Appends entries that are not the source's.
    #[inline]
    fn extend(&mut self, entries: &[Entry<'a>], work: &mut Work<'a>) {
        if !self.made {
            self.make(work);
        }
        work.entries.extend_from_slice(entries);
    }

    fn make(&mut self, work: &mut Work<'a>) {
        self.made = true;
        if work.entries.capacity() == 0 {
            work.entries.reserve(64);
        }
        work.entries.extend_from_slice(&self.source[self.from..self.to]);
    }

    #[inline]
    fn finish(self, work: &mut Work<'a>) -> Set<'a> {
        if !self.made {
            return Set { entries: &self.source[self.from..self.to] };
        }
        let set = Set { entries: work.arena.alloc_slice_copy(&work.entries[self.mark..]) };
        work.entries.truncate(self.mark);
        set
    }
}
