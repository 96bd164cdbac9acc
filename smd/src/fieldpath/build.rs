//! Making sets: from paths in any order, and from a walk that knows its own.

use super::element::{Path, PathElement};
use super::set::{Entry, Set, order};
use crate::Bump;
use crate::value::MAX_DEPTH;

/// Collects paths in any order and makes one set of them at the end.
///
/// # Example: a set of two paths
/// ```
/// use kubeshape_smd::{Bump, fieldpath::{PathElement, SetBuilder}};
/// let arena = Bump::new();
/// let mut builder = SetBuilder::new(&arena);
/// builder.insert(&[PathElement::FieldName("spec"), PathElement::FieldName("replicas")]);
/// builder.insert(&[PathElement::FieldName("spec")]);
/// assert_eq!(builder.finish().to_json()?, r#"{"f:spec":{".":{},"f:replicas":{}}}"#);
/// # Ok::<(), kubeshape_smd::fieldpath::SetError>(())
/// ```
#[derive(Debug)]
pub struct SetBuilder<'a> {
    arena: &'a Bump,
    /// The elements of all paths, one path behind the other.
    elements: Vec<PathElement<'a>>,
    /// Where each path begins and ends.
    paths: Vec<(usize, usize)>,
}

impl<'a> SetBuilder<'a> {
    /// No path yet.
    pub fn new(arena: &'a Bump) -> Self {
        SetBuilder { arena, elements: Vec::new(), paths: Vec::new() }
    }

    /// Adds a path, and tells whether it did: the empty path is in no set, and one of more than [`MAX_DEPTH`] elements
    /// is left out, so that whatever walks a set knows how deep it goes.
    pub fn insert(&mut self, path: &Path<'a>) -> bool {
        if path.is_empty() || path.len() > MAX_DEPTH {
            return false;
        }
        let from = self.elements.len();
        self.elements.extend_from_slice(path);
        self.paths.push((from, self.elements.len()));
        true
    }

    /// The set of all paths. Of equal elements the first one given stays.
    pub fn finish(self) -> Set<'a> {
        let SetBuilder { arena, elements, paths } = self;
        let mut paths: Vec<_> = paths.iter().filter_map(|(from, to)| Some((0, elements.get(*from..*to)?))).collect();
        node(&mut paths, 0, &mut Stack::default(), arena)
    }
}

/// The node of paths that agree in their first `depth` elements and are longer. Each element is looked at where it
/// tells paths apart, not again for those behind it. The numbers are room for the elements' prefixes.
fn node<'a>(mut paths: &mut [(u64, &Path<'a>)], depth: usize, stack: &mut Stack<'a>, arena: &'a Bump) -> Set<'a> {
    if let [(_, path)] = paths {
        let entry = |below: Option<Set<'a>>, element: &PathElement<'a>| {
            let entry = Entry::new(*element, below.is_none(), below.unwrap_or_default());
            Some(Set { entries: std::slice::from_ref(arena.alloc(entry)) })
        };
        return path.get(depth..).unwrap_or_default().iter().rev().fold(None, entry).unwrap_or_default();
    }
    let mark = stack.mark();
    for (prefix, path) in paths.iter_mut() {
        *prefix = path[depth].prefix();
    }
    paths.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1[depth].cmp(&b.1[depth])));
    while let [(prefix, first), rest @ ..] = &*paths {
        let element = first[depth];
        let other = |path: &(u64, &Path<'a>)| path.0 != *prefix || path.1[depth] != element;
        let count = 1 + rest.iter().position(other).unwrap_or(rest.len());
        let (group, others) = paths.split_at_mut(count);
        // The paths that end here go to the end; the others keep their order.
        let mut longer = 0;
        for at in 0..group.len() {
            if group[at].1.len() > depth + 1 {
                group.swap(longer, at);
                longer += 1;
            }
        }
        let member = longer < group.len();
        let children = if longer > 0 { node(&mut group[..longer], depth + 1, stack, arena) } else { Set::EMPTY };
        stack.push(element, member, children);
        paths = others;
    }
    stack.close_sorted(mark, arena)
}

/// The entries of all open nodes of a walk, innermost last: what a walk keeps while it goes down and comes up.
///
/// A walk takes a [`mark`](Self::mark) when it enters a node, pushes an entry per child, and
/// [closes](Self::close) the node.
#[derive(Debug, Default)]
pub(crate) struct Stack<'a> {
    entries: Vec<Entry<'a>>,
}

impl<'a> Stack<'a> {
    pub(crate) fn with_capacity(entries: usize) -> Self {
        Stack { entries: Vec::with_capacity(entries) }
    }

    #[inline]
    pub(crate) fn mark(&self) -> usize {
        self.entries.len()
    }

    /// Adds a child to the innermost open node, if there is anything to say of it.
    #[inline]
    pub(crate) fn push(&mut self, element: PathElement<'a>, member: bool, children: Set<'a>) {
        if member || !children.is_empty() {
            self.entries.push(Entry::new(element, member, children));
        }
    }

    /// The node that was opened at the mark. Its children may have come in any order, and repeatedly: of a repeated
    /// one membership adds up, and the children of the two are united.
    #[inline]
    pub(crate) fn close(&mut self, mark: usize, arena: &'a Bump) -> Set<'a> {
        self.close_with(mark, arena, |last, entry| last.children = last.children.union(entry.children, arena))
    }

    /// As [`close`](Self::close), but the caller says what becomes of the children of a repeated element.
    #[inline]
    pub(crate) fn close_with(
        &mut self,
        mark: usize,
        arena: &'a Bump,
        merge: impl FnMut(&mut Entry<'a>, &Entry<'a>),
    ) -> Set<'a> {
        let node = self.entries.get_mut(mark..).unwrap_or_default();
        if node.is_empty() {
            return Set::EMPTY;
        }
        if !node.is_sorted_by(|a, b| order(a, b).is_lt()) {
            let kept = sort(node, merge);
            self.entries.truncate(mark + kept);
        }
        self.close_sorted(mark, arena)
    }

    /// As [`close`](Self::close), for a walk that takes the children in order.
    #[inline]
    pub(crate) fn close_sorted(&mut self, mark: usize, arena: &'a Bump) -> Set<'a> {
        let set = Set { entries: arena.alloc_slice_copy(&self.entries[mark..]) };
        debug_assert!(set.entries.is_sorted_by(|a, b| order(a, b).is_lt()), "{set:?}");
        self.entries.truncate(mark);
        set
    }
}

/// Sorts entries and brings equal elements together in front; tells how many there are.
#[cold]
fn sort<'a>(node: &mut [Entry<'a>], mut merge: impl FnMut(&mut Entry<'a>, &Entry<'a>)) -> usize {
    node.sort_by(order);
    let mut kept = 0;
    for at in 1..node.len() {
        let entry = node[at];
        let last = &mut node[kept];
        if order(last, &entry).is_eq() {
            last.member |= entry.member;
            merge(last, &entry);
        } else {
            kept += 1;
            node[kept] = entry;
        }
    }
    node.len().min(kept + 1)
}
