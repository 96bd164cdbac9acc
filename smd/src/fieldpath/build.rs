//! Builds sets: from paths in any order, and in a walk that knows its order.

use super::element::{Path, PathElement, exact};
use super::set::{Entry, Set, order};
use crate::Bump;
use crate::value::{MAX_DEPTH, Value};

/// Collects paths in any order and builds one set of them at the end.
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
    /// The elements so far. Most elements that are the same in memory are stored once. A path contains indices into
    /// this list.
    elements: Vec<Known<'a>>,
    /// A hash table of indices in `elements`, each plus one; zero is free. Its length is a power of two.
    table: Vec<u32>,
    /// The paths, one after the other: each its length, then its elements.
    steps: Vec<usize>,
    /// The number of paths, and the length of the longest.
    paths: usize,
}

#[derive(Clone, Copy, Debug)]
struct Known<'a> {
    identity: (u64, u64),
    prefix: u64,
    element: PathElement<'a>,
    /// The rank among the different elements in their order, from one.
    rank: usize,
}

/// How many slots of the table are searched for an element. An element that is not found is stored once more.
const PROBES: usize = 4;

/// Returns where and what an element is. Elements with the same identity are equal; equal elements may have different
/// identities.
#[inline]
fn identity(element: &PathElement<'_>) -> (u64, u64) {
    let (kind, address, length) = match *element {
        PathElement::FieldName(text) => (0, text.as_ptr().addr() as u64, text.len() as u64),
        PathElement::Key(fields) => (1, fields.as_ptr().addr() as u64, fields.len() as u64),
        PathElement::Value(Value::String(text)) => (2, text.as_ptr().addr() as u64, text.len() as u64),
        PathElement::Index(index) => (3, index.cast_unsigned(), 0),
        PathElement::Value(Value::Int(n)) => (4, n.cast_unsigned(), 0),
        PathElement::Value(Value::Float(n)) => (5, n.to_bits(), 0),
        PathElement::Value(Value::Bool(yes)) => (6, u64::from(yes), 0),
        PathElement::Value(Value::List(items)) => (7, items.as_ptr().addr() as u64, items.len() as u64),
        PathElement::Value(Value::Map(map)) => (8, map.entries().as_ptr().addr() as u64, map.entries().len() as u64),
        PathElement::Value(Value::Null) => (9, 0, 0),
        PathElement::Nameless => (10, 0, 0),
    };
    (address, length << 4 | kind)
}

impl<'a> SetBuilder<'a> {
    /// Creates a builder without paths.
    pub fn new(arena: &'a Bump) -> Self {
        SetBuilder { arena, elements: Vec::new(), table: Vec::new(), steps: Vec::new(), paths: 0 }
    }

    /// Adds a path. Returns whether it did: the empty path is in no set, and a path of more than [`MAX_DEPTH`] elements
    /// is left out, so that the depth of every set is bounded.
    pub fn insert(&mut self, path: &Path<'a>) -> bool {
        if path.is_empty() || path.len() > MAX_DEPTH {
            return false;
        }
        if self.steps.capacity() == 0 {
            self.steps.reserve(64);
            self.elements.reserve(16);
        }
        self.steps.reserve(path.len() + 1);
        self.steps.push(path.len());
        for element in path {
            let place = self.place(element);
            self.steps.push(place);
        }
        self.paths += 1;
        true
    }

    /// Returns the index of an element, which is added if it is new.
    #[inline]
    fn place(&mut self, element: &PathElement<'a>) -> usize {
        let identity = identity(element);
        let slot = slot(identity);
        for probe in 0..PROBES.min(self.table.len()) {
            let place = self.table[(slot + probe) & (self.table.len() - 1)] as usize;
            match self.elements.get(place.wrapping_sub(1)) {
                Some(known) if known.identity == identity => return place - 1,
                Some(_) => {}
                None => break,
            }
        }
        self.add(identity, element)
    }

    #[inline(never)]
    fn add(&mut self, identity: (u64, u64), element: &PathElement<'a>) -> usize {
        let place = self.elements.len();
        self.elements.push(Known { identity, prefix: element.prefix(), element: *element, rank: 0 });
        if place * 2 >= self.table.len() {
            let size = (self.table.len() * 4).max(64);
            self.table.clear();
            self.table.resize(size, 0);
            for known in 0..place {
                self.enter(known);
            }
        }
        self.enter(place);
        place
    }

    /// Adds an element to the table, if there is a free slot near its own.
    fn enter(&mut self, place: usize) {
        let slot = slot(self.elements[place].identity);
        let mask = self.table.len() - 1;
        let free = (0..PROBES).map(|probe| (slot + probe) & mask).find(|slot| self.table[*slot] == 0);
        if let Some(free) = free {
            // An index that does not fit is not stored, so it is not found.
            self.table[free] = u32::try_from(place + 1).unwrap_or(0);
        }
    }

    /// Ranks the elements. Returns the highest rank.
    fn rank(&mut self) -> usize {
        let elements = &mut self.elements;
        let order = self.arena.alloc_slice_fill_with(elements.len(), |place| (elements[place].prefix, place));
        order.sort_unstable_by_key(|(prefix, _)| *prefix);
        let mut rank = 0;
        for alike in order.chunk_by_mut(|a, b| a.0 == b.0) {
            if alike.len() == 1 || alike.first().is_some_and(|(prefix, _)| exact(*prefix)) {
                rank += 1;
                for (_, place) in alike {
                    elements[*place].rank = rank;
                }
                continue;
            }
            alike.sort_unstable_by(|a, b| elements[a.1].element.cmp(&elements[b.1].element));
            let mut last: Option<PathElement<'_>> = None;
            for (_, place) in alike {
                let known = &mut elements[*place];
                if last.is_none_or(|last| last.cmp(&known.element).is_ne()) {
                    rank += 1;
                }
                last = Some(known.element);
                known.rank = rank;
            }
        }
        rank
    }

    /// Returns the set of all paths. Of equal elements, the first one given is kept.
    pub fn finish(mut self) -> Set<'a> {
        let ranks = self.rank();
        // Some elements are equal but not the same, or were not found when they came again.
        let repeated = ranks < self.elements.len();
        let ids = Ids { elements: &self.elements, steps: &self.steps, repeated };
        let mut next = 0;
        let paths = self.arena.alloc_slice_fill_with(self.paths, |_| {
            let at = next;
            next += 1 + self.steps[at];
            (0, at)
        });
        let width = usize::BITS - ranks.leading_zeros();
        ids.sort(paths, width);
        ids.build(paths, self.arena)
    }
}

/// Returns the first slot that is searched for an element.
#[inline]
fn slot((address, length): (u64, u64)) -> usize {
    let bits = address ^ length.rotate_left(40);
    // The upper bits of the product depend on all bits.
    let hash = (bits ^ bits >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (hash >> 32) as usize
}

/// Paths whose elements are numbers.
struct Ids<'b, 'a> {
    elements: &'b [Known<'a>],
    steps: &'b [usize],
    repeated: bool,
}

impl<'b, 'a> Ids<'b, 'a> {
    #[inline]
    fn path(&self, at: usize) -> &'b [usize] {
        &self.steps[at + 1..at + 1 + self.steps[at]]
    }

    /// Sorts paths, given their positions. The ranks of as many elements as fit are packed into one number; a missing
    /// element is the least rank. Paths with the same number are sorted by their further elements.
    fn sort(&self, paths: &mut [(u64, usize)], width: u32) {
        let fit = (u64::BITS / width.max(1)) as usize;
        let mut todo = vec![(0, paths.len(), 0)];
        while let Some((from, to, depth)) = todo.pop() {
            let group = &mut paths[from..to];
            for (key, at) in group.iter_mut() {
                let steps = &self.path(*at)[depth..];
                let steps = &steps[..steps.len().min(fit)];
                let ranks = steps.iter().fold(0, |key, step| key << width | self.elements[*step].rank as u64);
                *key = ranks << (width as usize * (fit - steps.len()));
            }
            group.sort_unstable_by_key(|path| path.0);
            let mut start = 0;
            for same in group.chunk_by_mut(|a, b| a.0 == b.0) {
                let count = same.len();
                if count > 1 {
                    // Paths that end here come first.
                    same.sort_unstable_by_key(|path| self.steps[path.1] > depth + fit);
                    let ending = same.partition_point(|path| self.steps[path.1] <= depth + fit);
                    if count - ending > 1 {
                        todo.push((from + start + ending, from + start + count, depth + fit));
                    }
                }
                start += count;
            }
        }
    }

    /// Returns the length of the common prefix of two paths.
    #[inline]
    fn common(&self, a: usize, b: usize) -> usize {
        let (a, b) = (self.path(a), self.path(b));
        let same =
            |(a, b): (&usize, &usize)| a == b || self.repeated && self.elements[*a].rank == self.elements[*b].rank;
        a.iter().zip(b).take_while(|pair| same(*pair)).count()
    }

    /// Builds the set of sorted paths.
    fn build(&self, paths: &[(u64, usize)], arena: &'a Bump) -> Set<'a> {
        let entry = |step: usize, member: bool, children: Set<'a>| {
            let known = &self.elements[step];
            Entry::of(known.prefix, known.element, member, children)
        };
        // The entries of the open nodes, and where each node begins. The last entry of a node is the parent of the next
        // node.
        let mut entries: Vec<Entry<'a>> = Vec::with_capacity(32);
        let mut nodes: Vec<usize> = Vec::with_capacity(16);
        // The first path of each open entry.
        let mut firsts: Vec<usize> = Vec::new();
        let mut had = 0;
        for (place, (_, at)) in paths.iter().enumerate() {
            let path = self.path(*at);
            let next = paths.get(place + 1).map_or(0, |(_, next)| self.common(*at, *next));
            if self.repeated {
                firsts.truncate(had);
                for (depth, first) in firsts.iter_mut().enumerate().filter(|(_, first)| **first > *at) {
                    *first = *at;
                    let end = nodes.get(depth + 1).copied().unwrap_or(entries.len());
                    if let Some(open) = end.checked_sub(1).and_then(|last| entries.get_mut(last)) {
                        *open = entry(path[depth], open.member, open.children);
                    }
                }
                firsts.resize(path.len(), *at);
            }
            if had < path.len() {
                // Nodes that only this path has are built immediately. Nodes that the next path may extend are open.
                let open = had.max(next).min(path.len() - 1);
                let mut children = Set::EMPTY;
                let mut member = true;
                for step in path[open + 1..].iter().rev() {
                    children = Set { entries: std::slice::from_ref(arena.alloc(entry(*step, member, children))) };
                    member = false;
                }
                for (depth, step) in path.iter().enumerate().take(open + 1).skip(had) {
                    if depth == nodes.len() {
                        nodes.push(entries.len());
                    }
                    if depth == open {
                        entries.push(entry(*step, member, children));
                    } else {
                        entries.push(entry(*step, false, Set::EMPTY));
                    }
                }
            }
            // Closes the nodes below the first element that the next path does not have.
            while nodes.len() > next + 1
                && let Some(from) = nodes.pop()
            {
                let children = Set { entries: arena.alloc_slice_copy(&entries[from..]) };
                entries.truncate(from);
                if let Some(parent) = entries.last_mut() {
                    parent.children = children;
                }
            }
            had = next;
        }
        Set { entries: arena.alloc_slice_copy(&entries) }
    }
}

/// The entries of all open nodes of a walk, innermost last.
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

    /// Adds a child to the innermost open node, unless it is empty.
    #[inline]
    pub(crate) fn push(&mut self, element: PathElement<'a>, member: bool, children: Set<'a>) {
        if member || !children.is_empty() {
            self.entries.push(Entry::new(element, member, children));
        }
    }

    /// Returns the node that was opened at the mark. Its children may come in any order, and repeatedly. A repeated
    /// child is a member if any of them is, and their children are united.
    #[inline]
    pub(crate) fn close(&mut self, mark: usize, arena: &'a Bump) -> Set<'a> {
        self.close_with(mark, arena, |last, entry| last.children = last.children.union(entry.children, arena))
    }

    /// Does the same as [`close`](Self::close), but `merge` combines repeated elements.
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

    /// Does the same as [`close`](Self::close), for a walk whose children are in order.
    #[inline]
    pub(crate) fn close_sorted(&mut self, mark: usize, arena: &'a Bump) -> Set<'a> {
        let set = Set { entries: arena.alloc_slice_copy(&self.entries[mark..]) };
        debug_assert!(set.entries.is_sorted_by(|a, b| order(a, b).is_lt()), "{set:?}");
        self.entries.truncate(mark);
        set
    }
}

/// Sorts entries and moves one entry per element to the front. Returns how many there are.
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
