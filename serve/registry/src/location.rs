//! Owned places in inputs.

use kubeshape_input::{Code, Document, Finding, Place};
use kubeshape_yaml::Node;
use std::fmt;
use std::sync::Arc;

/// A node and its document.
///
/// Its [`Display`](fmt::Display) is `FILE:LINE:COLUMN`, or only the name of the input if the input has no lines. Far
/// into a long line it is `FILE at POINTER`.
#[derive(Clone)]
pub struct Location {
    document: Arc<Document>,
    node: u32,
}

impl Location {
    /// Returns the root of a document.
    pub fn root(document: Arc<Document>) -> Location {
        Location { document, node: 0 }
    }

    /// Returns a node of the document, by its index.
    pub fn new(document: Arc<Document>, node: u32) -> Location {
        Location { document, node }
    }

    /// Returns another node of the same document.
    #[must_use]
    pub fn at(&self, node: Node<'_>) -> Location {
        Location { document: Arc::clone(&self.document), node: node.index() }
    }

    /// Returns the document.
    pub fn document(&self) -> &Arc<Document> {
        &self.document
    }

    /// Returns the node.
    pub fn node(&self) -> Node<'_> {
        let document = self.document.document();
        document.node(if (self.node as usize) < document.len() { self.node } else { 0 })
    }

    /// Returns the name of the input.
    pub fn input(&self) -> &Arc<str> {
        self.document.source().name()
    }

    /// Returns line and column; `None` if the input has no lines, because it is protobuf.
    pub fn place(&self) -> Option<Place> {
        self.document.source().place(self.node().span().start)
    }

    /// Returns the JSON pointer of the node in its document.
    pub fn pointer(&self) -> String {
        self.document.pointer(self.node().index())
    }

    /// Returns a finding about the node.
    pub fn finding(&self, code: Code, detail: impl Into<String>) -> Finding {
        let mut finding = self.document.source().finding(code, self.node().span(), detail);
        finding.pointer = Some(self.pointer());
        finding
    }
}

/// Equal if they are the same node of the same document.
impl PartialEq for Location {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.document, &other.document) && self.node == other.node
    }
}

impl Eq for Location {}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.input())?;
        match self.place() {
            None => Ok(()),
            Some(place) if place.is_far() => write!(f, " at {}", self.pointer()),
            Some(place) => write!(f, ":{place}"),
        }
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Location({self})")
    }
}
