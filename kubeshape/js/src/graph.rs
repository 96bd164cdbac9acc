//! Graphs of kinds and of definitions.

use crate::Session;
use crate::tree::{Tree, name};
use kubeshape::convert::document::Document;
use kubeshape::schema::Bump;
use kubeshape::{Dialect, Kind, Profile};
use kubeshape_explorer::Drawing;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What a field that refers to a kind adds to its name.
const ENDINGS: [&str; 8] = ["References", "Reference", "Refs", "Ref", "Selectors", "Selector", "Names", "Name"];

impl Session {
    /// Returns the graph of an input as SVG, of all inputs if the name is empty. `around` is the name of the node whose
    /// references it shows; empty for all.
    pub fn graph(&mut self, input: &str, around: &str) -> Value {
        let drawing = self.drawing(input);
        let drawing = if around.is_empty() { drawing } else { drawing.around(around) };
        let nodes = drawing.nodes().to_vec();
        match drawing.svg() {
            Ok(svg) => json!({ "svg": svg, "nodes": nodes, "references": drawing.edges().len() }),
            Err(error) => json!({ "error": error.to_string(), "nodes": nodes }),
        }
    }

    /// The graph of an input, of all inputs if the name is empty: kinds of CustomResourceDefinitions and the kinds that
    /// their fields name, definitions of OpenAPI documents and their references.
    pub fn drawing(&self, input: &str) -> Drawing {
        let is_wanted = |name: &str| input.is_empty() || name == input;
        let kinds: Vec<&Kind> =
            self.api.kinds().filter(|kind| is_wanted(kind.definition().location().input())).collect();
        let is_custom = |kind: &&Kind| kind.definition().is_custom_resource();
        if kinds.iter().any(is_custom) {
            return of_kinds(&kinds.into_iter().filter(is_custom).collect::<Vec<_>>());
        }
        let texts = self.texts.iter().filter(|(name, _)| is_wanted(name));
        let mut out = Drawing::default();
        for (name, text) in texts {
            let read = kubeshape::input::read(name.as_str(), text, kubeshape::input::Limits::default());
            for document in &read.documents {
                let Some(dialect) = document.content().dialect() else { continue };
                add_document(&mut out, document.root(), dialect);
            }
        }
        out
    }
}

fn add_document(out: &mut Drawing, root: kubeshape::yaml::Node<'_>, dialect: Dialect) {
    let arena = Bump::new();
    let Some(document) = Document::read(root, dialect, &arena, Profile::Faithful).value else { return };
    let own = Drawing::of_document(&document);
    for edge in own.edges() {
        let (from, to) = (out.node(&own.nodes()[edge.from]), out.node(&own.nodes()[edge.to]));
        out.edge(from, to, &edge.label);
    }
}

/// Kinds, and the fields that name others of them: `issuerRef` names `Issuer`, and so does a field `kind` with the default
/// or the only value `Issuer`.
fn of_kinds(kinds: &[&Kind]) -> Drawing {
    let mut out = Drawing::default();
    let mut known: BTreeMap<String, &str> = BTreeMap::new();
    for kind in kinds {
        out.node(kind.kind());
        known.insert(kind.kind().to_lowercase(), kind.kind());
    }
    for kind in kinds {
        let Ok(tree) = Tree::of(kind) else { continue };
        let from = out.node(kind.kind());
        for field in &tree.fields {
            let own = name(&field.path);
            let named = ENDINGS.iter().find_map(|ending| known.get(&own.strip_suffix(ending)?.to_lowercase()));
            let said =
                field.facts.iter().filter(|(fact, _)| own == "kind" && matches!(fact.as_str(), "default" | "enum"));
            let said = said
                .flat_map(|(_, text)| text.split(", "))
                .filter_map(|text| known.get(&text.trim_matches('"').to_lowercase()));
            for target in named.into_iter().chain(said) {
                if *target != kind.kind() {
                    let to = out.node(target);
                    let label = if own == "kind" { parent(&field.path) } else { own };
                    out.edge(from, to, label);
                }
            }
        }
    }
    out
}

/// The name of the field that holds a field.
fn parent(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(parent, _)| name(parent))
}
