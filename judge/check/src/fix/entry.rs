//! The parents of nodes, and the nodes that aliases repeat.

use super::Edit;
use kubeshape_yaml::{Flags, Node};

/// What edits need to know about the nodes of a document.
pub(crate) struct Entries {
    /// The mapping or sequence around each node.
    parents: Vec<u32>,
    /// The positions of nodes that came from an alias or a merge key, sorted.
    repeated: Vec<usize>,
    aliased: Vec<bool>,
}

impl Entries {
    pub(crate) fn of(root: Node<'_>) -> Entries {
        let document = root.document();
        let mut out = Entries {
            parents: vec![u32::MAX; document.len()],
            repeated: Vec::new(),
            // Nodes that the root does not reach are not in the source.
            aliased: vec![true; document.len()],
        };
        out.aliased[root.index() as usize] = false;
        let mut todo = vec![root];
        while let Some(node) = todo.pop() {
            out.aliased[node.index() as usize] = node.entry().flags.has(Flags::ALIASED);
            if node.entry().flags.has(Flags::ALIASED) {
                out.repeated.push(node.span().start);
            }
            for (key, value) in node.pairs() {
                out.parents[key.index() as usize] = node.index();
                out.parents[value.index() as usize] = node.index();
                out.aliased[key.index() as usize] = key.entry().flags.has(Flags::ALIASED);
                if key.entry().flags.has(Flags::ALIASED) {
                    out.repeated.push(key.span().start);
                }
                todo.push(value);
            }
            for item in node.items() {
                out.parents[item.index() as usize] = node.index();
                todo.push(item);
            }
        }
        out.repeated.sort_unstable();
        out
    }

    /// Returns the mapping or sequence around a node that is not from an alias.
    pub(crate) fn parent(&self, at: u32) -> Option<u32> {
        self.parents.get(at as usize).copied().filter(|parent| *parent != u32::MAX)
    }

    /// Returns whether a node is not from an alias or a merge key.
    pub(crate) fn is_own(&self, node: Node<'_>) -> bool {
        !self.aliased.get(node.index() as usize).copied().unwrap_or(true)
    }

    /// Returns whether no edit touches something that an alias repeats elsewhere.
    pub(crate) fn are_free(&self, edits: &[Edit]) -> bool {
        edits.iter().all(|edit| {
            let next = self.repeated.partition_point(|start| *start < edit.range.start);
            self.repeated.get(next).is_none_or(|start| *start > edit.range.end)
        })
    }
}
