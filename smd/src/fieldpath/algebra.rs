//! Union, intersection, differences and leaves (upstream `fieldpath/set.go`).
//!
//! For each node that both sets have, an operation walks two sorted slices in parallel. A result shares the parts of
//! its operands that it does not change. All other nodes are collected on one stack and then copied into the arena.

use super::element::PathElement;
use super::set::{Entry, Set, order};
use crate::Bump;
use crate::value::Value;
use std::cmp::Ordering;

impl<'a> Set<'a> {
    /// Returns the paths that are in either set.
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

    /// Returns the paths that are in both sets.
    #[must_use]
    pub fn intersection(self, other: Set<'a>, arena: &'a Bump) -> Set<'a> {
        zip::<Intersection>(self, other, &mut Work::new(arena))
    }

    /// Returns the paths that are not in the other set. A path of the other set does not remove the paths below it.
    #[must_use]
    pub fn difference(self, other: Set<'a>, arena: &'a Bump) -> Set<'a> {
        zip::<Difference>(self, other, &mut Work::new(arena))
    }

    /// Returns the paths that are neither in the other set nor below one of its paths.
    #[must_use]
    pub fn recursive_difference(self, other: Set<'a>, arena: &'a Bump) -> Set<'a> {
        zip::<RecursiveDifference>(self, other, &mut Work::new(arena))
    }

    /// Returns the paths that have no other path of the set below them.
    #[must_use]
    pub fn leaves(self, arena: &'a Bump) -> Set<'a> {
        leaves(self, arena)
    }
}

/// Shares unchanged nodes, and writes each changed node once.
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

/// What an operation does with a node that both sets have.
trait Operation {
    /// Whether elements that only the left node has are kept.
    const LEFT: bool;
    /// Whether elements that only the right node has are added.
    const RIGHT: bool;

    /// Returns the result if it is known without reading the elements.
    fn short_cut<'a>(left: Set<'a>, right: Set<'a>) -> Option<Set<'a>>;

    /// Returns the result for an element that both nodes have.
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
        // Equal elements may be written differently. Upstream stores members and children separately, uses the right
        // member and the left child, and writes the child's element if there is one.
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

/// Returns the entry unless it is empty.
#[inline]
pub(super) fn keep(entry: Entry<'_>) -> Option<Entry<'_>> {
    (entry.member || !entry.children.is_empty()).then_some(entry)
}

/// Returns whether one entry can replace the other, if their elements are equal.
#[inline]
fn same(a: &Entry<'_>, b: &Entry<'_>) -> bool {
    a.member == b.member && a.children.is(b.children) && written_alike(a.element, b.element)
}

/// Returns whether equal elements are also written equally: a large integer and its float are not, nor are `0` and
/// `-0`.
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

/// Walks two nodes. The constructors of sets bound the depth.
fn zip<'a, O: Operation>(left: Set<'a>, right: Set<'a>, work: &mut Work<'a>) -> Set<'a> {
    if let Some(result) = O::short_cut(left, right) {
        return result;
    }
    let (l, r) = (left.entries, right.entries);
    // If one node is much longer, its runs between the elements of the other are found by bisection.
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

/// Returns how many entries at the front are less than the given one. The first is known to be less.
fn run(entries: &[Entry<'_>], than: &Entry<'_>) -> usize {
    let mut step = 1;
    while entries.get(step).is_some_and(|entry| order(entry, than) == Ordering::Less) {
        step *= 2;
    }
    let from = step / 2;
    let to = step.min(entries.len());
    from + entries[from..to].partition_point(|entry| order(entry, than) == Ordering::Less)
}

/// The state of an operation: the arena, and the entries of all nodes that are being built, innermost last.
pub(super) struct Work<'a> {
    arena: &'a Bump,
    entries: Vec<Entry<'a>>,
}

impl<'a> Work<'a> {
    pub(super) fn new(arena: &'a Bump) -> Self {
        Work { arena, entries: Vec::new() }
    }
}

/// Collects the results of `f` for every entry.
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

/// A node that is being built: a range of the source as long as it equals one, then entries on the stack.
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

    /// Appends an entry that replaces the source's at this index. Its element may be another's only if it is swapped.
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

    /// Appends entries that are not from the source.
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
