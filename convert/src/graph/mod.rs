//! The reference graph of a document and operations on it.
//!
//! [`Graph`] has a node for every named part of a document (definitions, shared parameters and so on, and paths) and an
//! edge for every reference between them. These use it:
//!
//! - [`split`]: a document is split into documents per group-version, each with what it reaches;
//! - [`inline`]: references are replaced by their targets;
//! - [`rename`]: definitions get names of another form.
//!
//! Splitting and [aggregating](crate::aggregate) are inverse: every part is in some document of the split, and equal
//! parts of several documents are one in the aggregate.
//!
//! A reference that leads nowhere, out of the document or to something that is not a named part is never changed; a
//! note has its location.

mod collect;
pub mod inline;
pub mod rename;
pub(crate) mod rewrite;
pub mod split;
mod target;

pub use collect::Link;
pub use target::{Section, Target, reference_to};

use crate::document::Document;
use crate::model::Site;
use collect::{Collector, Found, each_part, is_bare_name};
use kubeshape_schema::{Code, Dialect, Note};
use petgraph::Direction;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{Dfs, EdgeFiltered, EdgeRef, Reversed, Walker};
use std::collections::HashMap;

/// A named part of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Part<'a> {
    /// The section that contains it.
    pub section: Section,
    /// Its name; for paths, the path.
    pub name: &'a str,
    /// Location of the name in the tape.
    pub at: u32,
}

/// A reference from one part to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Edge {
    /// The kind of the position of the reference.
    pub site: Site,
    /// Location of the object that contains it: its entry in the tape.
    pub at: u32,
    /// The kind of reference.
    pub link: Link,
    in_place: bool,
}

/// Number of a part in a [`Graph`].
pub type PartIndex = NodeIndex<u32>;

/// The parts of a document and the references between them.
#[derive(Clone, Debug)]
pub struct Graph<'a> {
    dialect: Dialect,
    inner: DiGraph<Part<'a>, Edge, u32>,
    index: HashMap<(Section, &'a str), PartIndex>,
    /// Number of the first part of every section, and the number of all parts.
    starts: [u32; Section::ALL.len() + 1],
    notes: Vec<Note<'a>>,
}

impl<'a> Graph<'a> {
    /// Builds the graph of a document, in time and space proportional to its size.
    ///
    /// # Example: what a change of a definition affects
    /// ```
    /// use kubeshape_convert::document::Document;
    /// use kubeshape_convert::graph::{Graph, Section};
    /// use kubeshape_convert::v3;
    /// use kubeshape_schema::{Bump, Profile};
    /// use kubeshape_yaml::{Limits, Stream, Tape};
    ///
    /// let source = r##"{"openapi": "3.0.0", "paths": {}, "components": {"schemas": {
    ///     "A": {"items": {"$ref": "#/components/schemas/B"}},
    ///     "B": {"properties": {"c": {"$ref": "#/components/schemas/C"}}},
    ///     "C": {}, "D": {"$ref": "#/components/schemas/Gone"}}}}"##;
    /// let mut tape = Tape::new();
    /// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
    /// let arena = Bump::new();
    /// let root = tape.document(source).root().unwrap();
    /// let graph = Graph::of(&Document::V3(v3::read(root, &arena, Profile::Kube).value.unwrap()));
    /// let c = graph.find(Section::Schemas, "C").unwrap();
    /// let touched: Vec<&str> = graph.touched_by(c).iter().map(|part| graph.part(*part).name).collect();
    /// assert_eq!(touched, ["A", "B", "C"]);
    /// assert_eq!(graph.notes()[0].detail, "#/components/schemas/Gone");
    /// # Ok::<(), kubeshape_yaml::Error>(())
    /// ```
    pub fn of(document: &Document<'a>) -> Graph<'a> {
        let mut graph = DiGraph::<Part<'a>, Edge, u32>::default();
        let mut index = HashMap::new();
        let mut starts = [0u32; Section::ALL.len() + 1];
        each_part(document, &mut |section, name, at, _| {
            let part = graph.add_node(Part { section, name, at });
            index.insert((section, name), part);
            starts[section.number() + 1] += 1;
        });
        for section in 0..Section::ALL.len() {
            starts[section + 1] += starts[section];
        }
        let mut out = Graph { dialect: document.dialect(), inner: graph, index, starts, notes: Vec::new() };
        let mut number = 0u32;
        let mut collector = Collector::default();
        each_part(document, &mut |_, _, _, collect| {
            collect(&mut collector);
            for found in collector.found.drain(..) {
                out.connect(PartIndex::new(number as usize), &found);
            }
            number += 1;
        });
        out.note_operations(&collector.operations);
        out.note_loops();
        out.notes.sort_by_key(|note| (note.at, note.code));
        out
    }

    fn connect(&mut self, from: PartIndex, found: &Found<'a>) {
        let Found { site, at, text, mut link, section: expected, in_place } = *found;
        let mut note = |code, detail: String| self.notes.push(Note::new(code, at, detail));
        let bare = match link {
            Link::Requirement => true,
            Link::Mapping => is_bare_name(text, self.dialect),
            _ => false,
        };
        let to = if bare {
            match self.index.get(&(expected, text)) {
                Some(to) => *to,
                None => return note(Code::DanglingReference, text.to_owned()),
            }
        } else {
            match Target::of(text, self.dialect) {
                Target::Remote => return note(Code::RemoteReference, text.to_owned()),
                Target::Unnamed => return note(Code::UnnamedReference, text.to_owned()),
                Target::Named { section, name, rest } => {
                    let Some(to) = self.index.get(&(section, &*name)) else {
                        return note(Code::DanglingReference, text.to_owned());
                    };
                    if !rest.is_empty() || section != expected {
                        note(Code::UnnamedReference, text.to_owned());
                        link = Link::Inner;
                    }
                    *to
                }
            }
        };
        self.inner.add_edge(from, to, Edge { site, at, link, in_place: in_place && link == Link::Reference });
    }

    fn note_operations(&mut self, operations: &[(&'a str, u32)]) {
        let mut seen = HashMap::with_capacity(operations.len());
        for (id, at) in operations.iter().filter(|(id, _)| !id.is_empty()) {
            if seen.insert(*id, *at).is_some() {
                self.notes.push(Note::new(Code::RepeatedOperationId, *at, *id));
            }
        }
    }

    /// Notes references in cycles that contain no value.
    fn note_loops(&mut self) {
        let in_place = EdgeFiltered::from_fn(&self.inner, |edge| edge.weight().in_place);
        for circle in kosaraju_scc(&in_place) {
            let [first, ..] = circle[..] else { continue };
            let alone = circle.len() == 1;
            if alone && !self.inner.edges_connecting(first, first).any(|edge| edge.weight().in_place) {
                continue;
            }
            for part in circle {
                let Part { name, at, .. } = self.inner[part];
                self.notes.push(Note::new(Code::ReferenceLoop, at, name));
            }
        }
    }

    /// Returns the dialect of the document.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Returns the findings: references that lead nowhere, out of the document, to something without a name of its own,
    /// or in a cycle, and repeated operation ids. They are in document order.
    pub fn notes(&self) -> &[Note<'a>] {
        &self.notes
    }

    /// Does the same and consumes the graph.
    pub fn into_notes(self) -> Vec<Note<'a>> {
        self.notes
    }

    /// Returns the graph itself. Parts are numbered by section, and in a section in printed order.
    pub fn inner(&self) -> &DiGraph<Part<'a>, Edge, u32> {
        &self.inner
    }

    /// Returns the number of parts.
    pub fn len(&self) -> usize {
        self.inner.node_count()
    }

    /// Returns whether the document has no named parts.
    pub fn is_empty(&self) -> bool {
        self.inner.node_count() == 0
    }

    /// Returns a part.
    pub fn part(&self, part: PartIndex) -> Part<'a> {
        self.inner[part]
    }

    /// Returns the part with that name.
    pub fn find(&self, section: Section, name: &str) -> Option<PartIndex> {
        self.index.get(&(section, name)).copied()
    }

    /// Returns the parts of a section, in order.
    pub fn section(&self, section: Section) -> impl Iterator<Item = PartIndex> + use<> {
        let [start, end] = [self.starts[section.number()], self.starts[section.number() + 1]];
        (start..end).map(|i| PartIndex::new(i as usize))
    }

    /// Returns the number of a part within its section.
    pub(crate) fn within(&self, part: PartIndex) -> usize {
        part.index() - self.starts[self.inner[part].section.number()] as usize
    }

    /// Returns the references of a part, in document order.
    pub fn references_of(&self, part: PartIndex) -> Vec<(PartIndex, Edge)> {
        self.edges(part, Direction::Outgoing)
    }

    /// Returns the references to a part.
    pub fn references_to(&self, part: PartIndex) -> Vec<(PartIndex, Edge)> {
        self.edges(part, Direction::Incoming)
    }

    fn edges(&self, part: PartIndex, direction: Direction) -> Vec<(PartIndex, Edge)> {
        let other = |edge: petgraph::graph::EdgeReference<'_, Edge, u32>| match direction {
            Direction::Outgoing => edge.target(),
            Direction::Incoming => edge.source(),
        };
        let mut out: Vec<_> =
            self.inner.edges_directed(part, direction).map(|edge| (other(edge), *edge.weight())).collect();
        // petgraph returns the newest first.
        out.reverse();
        out
    }

    /// Returns the parts that some parts reach, including themselves, in order.
    pub fn reached_from(&self, parts: impl IntoIterator<Item = PartIndex>) -> Vec<PartIndex> {
        let mut walk = Dfs::empty(&self.inner);
        walk.stack.extend(parts);
        let mut out: Vec<PartIndex> = walk.iter(&self.inner).collect();
        out.sort_unstable();
        out
    }

    /// Returns the parts that reach a part, including itself, in order: the parts that a change of it affects.
    pub fn touched_by(&self, part: PartIndex) -> Vec<PartIndex> {
        let reversed = Reversed(&self.inner);
        let mut out: Vec<PartIndex> = Dfs::new(reversed, part).iter(reversed).collect();
        out.sort_unstable();
        out
    }

    /// Returns the strongly connected components, each in order. A component comes before those that refer to it.
    pub fn components(&self) -> Vec<Vec<PartIndex>> {
        // Not Tarjan's algorithm: petgraph's is recursive, and references may form a chain of any length.
        let mut out = kosaraju_scc(&self.inner);
        for component in &mut out {
            component.sort_unstable();
        }
        out
    }

    /// Returns the components that are recursive: of several parts, or of one that refers to itself.
    pub fn recursive(&self) -> Vec<Vec<PartIndex>> {
        let mut out = self.components();
        out.retain(|component| self.is_recursive(component));
        out.sort();
        out
    }

    pub(crate) fn is_recursive(&self, component: &[PartIndex]) -> bool {
        match component {
            [only] => self.inner.neighbors(*only).any(|to| to == *only),
            _ => true,
        }
    }

    /// Returns all parts, every part after those to which it refers; recursive ones are next to each other.
    pub fn order(&self) -> Vec<PartIndex> {
        self.components().into_iter().flatten().collect()
    }
}
