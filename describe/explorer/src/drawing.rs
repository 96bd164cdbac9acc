//! A graph of names, and its printed forms.

use kubeshape_convert::document::Document;
use kubeshape_convert::graph::{Graph, Section};
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The size of the largest graph that is drawn. A larger one is unreadable.
pub const MAX_NODES: usize = 1_000;

/// The error for a graph with more than [`MAX_NODES`] nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a graph of {0} nodes cannot be drawn: the largest has {MAX_NODES}")]
pub struct TooLarge(pub usize);

/// A reference.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    /// The index of the node that refers.
    pub from: usize,
    /// The index of the node to which it refers.
    pub to: usize,
    /// The label; may be empty.
    pub label: String,
}

/// A graph of names.
///
/// # Example
/// ```
/// use kubeshape_explorer::Drawing;
///
/// let mut drawing = Drawing::default();
/// let (from, to) = (drawing.node("Certificate"), drawing.node("Issuer"));
/// drawing.edge(from, to, "issuerRef");
/// assert_eq!(drawing.mermaid(), "graph LR\n  n0[\"Certificate\"]\n  n1[\"Issuer\"]\n  n0 -->|\"issuerRef\"| n1\n");
/// assert!(drawing.svg()?.starts_with("<svg "));
/// # Ok::<(), kubeshape_explorer::TooLarge>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drawing {
    nodes: Vec<String>,
    edges: Vec<Edge>,
    index: BTreeMap<String, usize>,
}

impl Drawing {
    /// Returns the references between the definitions of a document. Definitions without references are left out.
    pub fn of_document(document: &Document<'_>) -> Drawing {
        let graph = Graph::of(document);
        let mut drawing = Drawing::default();
        for part in graph.section(Section::Schemas) {
            for (to, _) in graph.references_of(part) {
                let target = graph.part(to);
                if target.section == Section::Schemas {
                    let (from, to) = (drawing.node(graph.part(part).name), drawing.node(target.name));
                    drawing.edge(from, to, "");
                }
            }
        }
        drawing
    }

    /// Adds a node, unless there is one with that name. Returns its index.
    pub fn node(&mut self, name: &str) -> usize {
        if let Some(index) = self.index.get(name) {
            return *index;
        }
        self.index.insert(name.to_owned(), self.nodes.len());
        self.nodes.push(name.to_owned());
        self.nodes.len() - 1
    }

    /// Adds a reference, unless there is one with the same label.
    pub fn edge(&mut self, from: usize, to: usize, label: &str) {
        let edge = Edge { from, to, label: label.to_owned() };
        if let Err(at) = self.edges.binary_search(&edge) {
            self.edges.insert(at, edge);
        }
    }

    /// Returns the names of the nodes.
    pub fn nodes(&self) -> &[String] {
        &self.nodes
    }

    /// Returns the references, in order.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// Returns the part of the graph to which one node refers or from which it is referred to, directly or indirectly.
    #[must_use]
    pub fn around(&self, name: &str) -> Drawing {
        let Some(center) = self.index.get(name) else { return Drawing::default() };
        let mut kept = vec![false; self.nodes.len()];
        for is_forward in [true, false] {
            let mut seen = vec![false; self.nodes.len()];
            let mut open = vec![*center];
            while let Some(at) = open.pop() {
                if std::mem::replace(&mut seen[at], true) {
                    continue;
                }
                kept[at] = true;
                let ends =
                    self.edges.iter().map(|edge| if is_forward { (edge.from, edge.to) } else { (edge.to, edge.from) });
                open.extend(ends.filter(|(start, _)| *start == at).map(|(_, end)| end));
            }
        }
        let mut out = Drawing::default();
        for edge in self.edges.iter().filter(|edge| kept[edge.from] && kept[edge.to]) {
            let (from, to) = (out.node(&self.nodes[edge.from]), out.node(&self.nodes[edge.to]));
            out.edge(from, to, &edge.label);
        }
        out.node(name);
        out
    }

    /// Returns the graph as petgraph's type.
    pub fn graph(&self) -> DiGraph<(), ()> {
        let mut graph = DiGraph::with_capacity(self.nodes.len(), self.edges.len());
        for _ in &self.nodes {
            graph.add_node(());
        }
        for edge in &self.edges {
            graph.update_edge(NodeIndex::new(edge.from), NodeIndex::new(edge.to), ());
        }
        graph
    }

    /// Returns the graph for Graphviz.
    pub fn dot(&self) -> String {
        let mut out = String::from("digraph {\n  rankdir=LR;\n  node [shape=box];\n");
        for (at, name) in self.nodes.iter().enumerate() {
            let _ = writeln!(out, "  n{at} [label={}];", quoted(name));
        }
        for Edge { from, to, label } in &self.edges {
            let label = if label.is_empty() { String::new() } else { format!(" [label={}]", quoted(label)) };
            let _ = writeln!(out, "  n{from} -> n{to}{label};");
        }
        out.push_str("}\n");
        out
    }

    /// Returns the graph as Mermaid, which GitHub and GitLab show in Markdown.
    pub fn mermaid(&self) -> String {
        let escaped = |text: &str| escape(text).replace('#', "#35;").replace('&', "#").replace('\n', " ");
        let mut out = String::from("graph LR\n");
        for (at, name) in self.nodes.iter().enumerate() {
            let _ = writeln!(out, "  n{at}[\"{}\"]", escaped(name));
        }
        for Edge { from, to, label } in &self.edges {
            let label = if label.is_empty() { String::new() } else { format!("|\"{}\"|", escaped(label)) };
            let _ = writeln!(out, "  n{from} -->{label} n{to}");
        }
        out
    }
}

/// Returns a string in DOT.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', " "))
}

/// Escapes a string for XML.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
