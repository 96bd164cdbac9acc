//! Making sets: from paths in any order, and from a walk that knows its own.

use super::element::{Path, PathElement};
use super::set::{Entry, Set};
use crate::Bump;

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
    paths: Vec<&'a Path<'a>>,
}

impl<'a> SetBuilder<'a> {
    /// No path yet.
    pub fn new(arena: &'a Bump) -> Self {
        SetBuilder { arena, paths: Vec::new() }
    }

    /// Adds a path; the empty one is ignored.
    pub fn insert(&mut self, path: &Path<'a>) {
        if !path.is_empty() {
            self.paths.push(self.arena.alloc_slice_copy(path));
        }
    }

    /// The set of all paths. Of equal elements the first one given stays.
    pub fn finish(mut self) -> Set<'a> {
        self.paths.sort();
        node(&self.paths, 0, self.arena)
    }
}

/// The node of sorted paths that agree in their first `depth` elements and are longer.
fn node<'a>(mut paths: &[&'a Path<'a>], depth: usize, arena: &'a Bump) -> Set<'a> {
    let mut entries = Vec::new();
    while let Some(first) = paths.first() {
        let element = first[depth];
        let count = paths.iter().position(|path| path[depth] != element).unwrap_or(paths.len());
        let (group, rest) = paths.split_at(count);
        let deeper = group.iter().position(|path| path.len() > depth + 1).unwrap_or(count);
        entries.push(Entry { element, member: deeper > 0, children: node(&group[deeper..], depth + 1, arena) });
        paths = rest;
    }
    Set { entries: arena.alloc_slice_copy(&entries) }
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
    #[inline]
    pub(crate) fn mark(&self) -> usize {
        self.entries.len()
    }

    /// Adds a child to the innermost open node, if there is anything to say of it.
    #[inline]
    pub(crate) fn push(&mut self, element: PathElement<'a>, member: bool, children: Set<'a>) {
        if member || !children.is_empty() {
            self.entries.push(Entry { element, member, children });
        }
    }

    /// The node that was opened at the mark. Its children may have come in any order, and repeatedly: of a repeated
    /// one membership adds up, and the children of the two are united.
    #[inline]
    pub(crate) fn close(&mut self, mark: usize, arena: &'a Bump) -> Set<'a> {
        if self.entries.len() == mark {
            return Set::EMPTY;
        }
        if !self.entries[mark..].is_sorted_by(|a, b| a.element < b.element) {
            self.sort(mark, arena);
        }
        let set = Set { entries: arena.alloc_slice_copy(&self.entries[mark..]) };
        self.entries.truncate(mark);
        set
    }

    fn sort(&mut self, mark: usize, arena: &'a Bump) {
        self.entries[mark..].sort_by(|a, b| a.element.cmp(&b.element));
        let mut kept = mark;
        for at in mark + 1..self.entries.len() {
            let entry = self.entries[at];
            let last = &mut self.entries[kept];
            if last.element == entry.element {
                last.member |= entry.member;
                last.children = last.children.union(entry.children, arena);
            } else {
                kept += 1;
                self.entries[kept] = entry;
            }
        }
        self.entries.truncate(kept + 1);
    }
}
