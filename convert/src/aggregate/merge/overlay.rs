//! Parts to merge into a document.

use super::references::references_to;
use super::{MergeError, members};
use bytes::Bytes;
use kubeshape_yaml::{Limits, Stream, Tape};
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::Dfs;
use std::collections::{BTreeMap, BTreeSet};

/// Named, printed members of a document: path items, definitions or parameters.
pub type Members = BTreeMap<String, Bytes>;

/// Parts to merge into a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overlay {
    /// Path items.
    pub paths: Members,
    /// Definitions.
    pub definitions: Members,
    /// Parameters.
    pub parameters: Members,
}

impl Overlay {
    /// Returns the wanted paths of a printed document, as an overlay for another document. Definitions that only other
    /// paths reach are left out. Definitions that no path reaches are kept, as are all parameters.
    ///
    /// # Errors
    /// The document cannot be read.
    ///
    /// # Example
    /// ```
    /// use kubeshape_convert::aggregate::merge::Overlay;
    /// let document = br##"{"swagger":"2.0","paths":{"/a":{"get":{"schema":{"$ref":"#/definitions/A"}}},"/b":{}},
    ///     "definitions":{"A":{"type":"string"},"B":{"type":"string"}}}"##;
    /// let overlay = Overlay::of(document, |path| path == "/b")?;
    /// assert_eq!(overlay.paths.keys().collect::<Vec<_>>(), ["/b"]);
    /// assert_eq!(overlay.definitions.keys().collect::<Vec<_>>(), ["B"]);
    /// # Ok::<(), kubeshape_convert::aggregate::merge::MergeError>(())
    /// ```
    pub fn of(document: &[u8], wanted: impl Fn(&str) -> bool) -> Result<Overlay, MergeError> {
        let mut stream = Stream::new(document, Limits::default())?;
        let source = stream.source();
        let mut tape = Tape::new();
        stream.next(&mut tape).transpose()?;
        let root = tape.document(source).root().ok_or(MergeError::NotSwagger)?;
        let mut overlay = Overlay {
            paths: members(root.get("paths")),
            definitions: members(root.get("definitions")),
            parameters: members(root.get("parameters")),
        };
        overlay.retain(wanted);
        Ok(overlay)
    }

    /// Removes paths that are not wanted, and the definitions that only they reach.
    pub fn retain(&mut self, wanted: impl Fn(&str) -> bool) {
        if self.paths.keys().all(|path| wanted(path)) {
            return;
        }
        let used_before = self.reached(|_| true);
        let used_after = self.reached(&wanted);
        self.paths.retain(|path, _| wanted(path));
        self.definitions.retain(|name, _| !used_before.contains(name) || used_after.contains(name));
    }

    /// Returns the names of the definitions that the selected paths reach.
    pub(super) fn reached(&self, selected: impl Fn(&str) -> bool) -> BTreeSet<String> {
        let mut graph: DiGraph<Option<&str>, ()> = DiGraph::new();
        let root = graph.add_node(None);
        let nodes: BTreeMap<&str, NodeIndex> =
            self.definitions.keys().map(|name| (name.as_str(), graph.add_node(Some(name)))).collect();
        let mut connect = |from: NodeIndex, json: &[u8]| {
            let mut targets = references_to(json, "definitions");
            for parameter in references_to(json, "parameters") {
                let json = self.parameters.get(&parameter).map_or(&[][..], |json| json);
                targets.extend(references_to(json, "definitions"));
            }
            for target in targets {
                if let Some(to) = nodes.get(target.as_str()) {
                    graph.update_edge(from, *to, ());
                }
            }
        };
        for (_, json) in self.paths.iter().filter(|(path, _)| selected(path)) {
            connect(root, json);
        }
        for (name, json) in &self.definitions {
            connect(nodes[name.as_str()], json);
        }
        let mut walk = Dfs::new(&graph, root);
        let mut out = BTreeSet::new();
        while let Some(node) = walk.next(&graph) {
            out.extend(graph[node].map(str::to_owned));
        }
        out
    }
}
