//! Places in inputs that own what they point into.

use kubeshape_input::{Code, Document, Finding, Place};
use kubeshape_yaml::Node;
use std::fmt;
use std::sync::Arc;

/// A node of a document, with the document.
///
/// Its [`Display`](fmt::Display) is `FILE:LINE:COLUMN`, or the name of the input alone if the input has no lines. Far in a
/// long line it is `FILE at POINTER`.
#[derive(Clone)]
pub struct Location {
    document: Arc<Document>,
    node: u32,
}

impl Location {
    /// The whole document.
    pub fn root(document: Arc<Document>) -> Location {
        Location { document, node: 0 }
    }

    /// A node of the document, by its index.
    pub fn new(document: Arc<Document>, node: u32) -> Location {
        Location { document, node }
    }

    /// Another node of the same document.
    #[must_use]
    pub fn at(&self, node: Node<'_>) -> Location {
        Location { document: Arc::clone(&self.document), node: node.index() }
    }

    /// The document.
    pub fn document(&self) -> &Arc<Document> {
        &self.document
    }

    /// The node.
    pub fn node(&self) -> Node<'_> {
        let document = self.document.document();
        document.node(if (self.node as usize) < document.len() { self.node } else { 0 })
    }

    /// The name of the input.
    pub fn input(&self) -> &Arc<str> {
        self.document.source().name()
    }

    /// Line and column; none if the input has no lines, because it is protobuf.
    pub fn place(&self) -> Option<Place> {
        self.document.source().place(self.node().span().start)
    }

    /// The JSON pointer of the node in its document.
    pub fn pointer(&self) -> String {
        self.document.pointer(self.node().index())
    }

    /// A finding about the node.
    pub fn finding(&self, code: Code, detail: impl Into<String>) -> Finding {
        let mut finding = self.document.source().finding(code, self.node().span(), detail);
        finding.pointer = Some(self.pointer());
        finding
    }
}

/// Of the same node of the same document.
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
