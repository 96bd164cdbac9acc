//! Findings of strict validation, in the order and the words of Go's decoders.

use indexmap::IndexSet;
use kubeshape_schema::field::Path;
use kubeshape_validate::strict::{Fields, duplicate_field, unknown_field};
use kubeshape_yaml::{Kind, Node};
use std::collections::BTreeSet;

/// The most findings of strict validation in a body of JSON.
const MAX_STRICT: usize = 100;

/// Returns an error of the YAML reader as one warning per line, and any other text unchanged (upstream:
/// `parseYAMLWarnings`).
pub(super) fn lines_of_yaml_error(text: &str) -> Vec<String> {
    let lines = text.strip_prefix("error converting YAML to JSON: ").unwrap_or(text);
    match lines.strip_prefix("yaml: unmarshal errors:\n") {
        Some(lines) => lines.split('\n').map(|line| line.trim().to_owned()).collect(),
        None => vec![text.to_owned()],
    }
}

/// Returns the findings of strict validation in a document of JSON that is decoded into Go's structs, in its order:
/// Go does not look into unknown fields (upstream: `saveStrictError` of `sigs.k8s.io/json`).
pub(super) fn strict_of_json(root: Node<'_>, unknown: &[String], fields: Fields) -> Vec<String> {
    let mut walk = StrictWalk { unknown: unknown.iter().map(String::as_str).collect(), fields, found: IndexSet::new() };
    walk.node(root, &Path::Root);
    walk.found.into_iter().collect()
}

struct StrictWalk<'u> {
    unknown: BTreeSet<&'u str>,
    fields: Fields,
    found: IndexSet<String>,
}

impl StrictWalk<'_> {
    /// The reader limits the depth of a document.
    fn node(&mut self, node: Node<'_>, path: &Path<'_>) {
        if self.found.len() >= MAX_STRICT {
            return;
        }
        match node.kind() {
            Kind::Map => {
                let mut seen = BTreeSet::new();
                for (key, value) in node.pairs() {
                    let path = path.child(key.text());
                    let text = path.to_string();
                    if self.unknown.contains(&*text) {
                        self.add(unknown_field(&text, self.fields));
                        continue;
                    }
                    if !seen.insert(key.text()) {
                        self.add(duplicate_field(&text));
                    }
                    self.node(value, &path);
                }
            }
            Kind::Seq => node.items().enumerate().for_each(|(at, item)| self.node(item, &path.index(at))),
            _ => {}
        }
    }

    fn add(&mut self, finding: String) {
        if self.found.len() < MAX_STRICT {
            self.found.insert(finding);
        }
    }
}
