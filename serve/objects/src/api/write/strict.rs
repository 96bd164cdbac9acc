//! Findings of strict validation, in the order and the words of Go's decoders.

use indexmap::IndexSet;
use kubeshape_schema::field::{Errors, Path};
use kubeshape_validate::strict::{Fields, duplicate_field, unknown_field};
use kubeshape_yaml::{Kind, Node};
use std::collections::BTreeSet;

/// The most findings of strict validation in a body of JSON. Their bytes are bounded, too: a path can be as long as the
/// body.
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
/// Go does not look into unknown fields (upstream: `saveStrictError` of `sigs.k8s.io/json`). Work grows with the
/// document and the unknown fields, not with their product.
pub(super) fn strict_of_json(root: Node<'_>, unknown: &[String], fields: Fields) -> Vec<String> {
    let mut texts: Vec<&str> = unknown.iter().map(String::as_str).collect();
    texts.sort_unstable();
    let mut walk = StrictWalk { fields, found: IndexSet::new(), bytes: 0 };
    walk.node(root, &Path::Root, Unknown { texts: &texts, done: 0 });
    walk.found.into_iter().collect()
}

/// The unknown fields below a path, sorted.
#[derive(Clone, Copy)]
struct Unknown<'u> {
    texts: &'u [&'u str],
    /// The bytes of the path, with which all of them begin.
    done: usize,
}

impl Unknown<'_> {
    /// Returns those whose path goes on like this.
    fn below(self, part: &str) -> Self {
        let (done, part) = (self.done, part.as_bytes());
        let from = self.texts.partition_point(|text| &text.as_bytes()[done..] < part);
        let texts = &self.texts[from..];
        let count = texts.partition_point(|text| text.as_bytes()[done..].starts_with(part));
        Unknown { texts: &texts[..count], done: self.done + part.len() }
    }

    fn child(self, key: &str) -> Self {
        if self.done == 0 { self.below(key) } else { self.below(".").below(key) }
    }

    fn index(self, at: usize) -> Self {
        if self.texts.is_empty() { self } else { self.below(&format!("[{at}]")) }
    }

    /// Whether the path itself is one of them.
    fn is_here(self) -> bool {
        self.texts.first().is_some_and(|text| text.len() == self.done)
    }
}

struct StrictWalk {
    fields: Fields,
    found: IndexSet<String>,
    /// Of all findings.
    bytes: usize,
}

impl StrictWalk {
    /// The reader limits the depth of a document.
    fn node(&mut self, node: Node<'_>, path: &Path<'_>, unknown: Unknown<'_>) {
        if self.is_full() {
            return;
        }
        match node.kind() {
            Kind::Map => {
                let mut seen = BTreeSet::new();
                for (key, value) in node.pairs() {
                    if self.is_full() {
                        return;
                    }
                    let (path, unknown) = (path.child(key.text()), unknown.child(key.text()));
                    if unknown.is_here() {
                        self.add(unknown_field(&path.to_string(), self.fields));
                        continue;
                    }
                    if !seen.insert(key.text()) {
                        self.add(duplicate_field(&path.to_string()));
                    }
                    self.node(value, &path, unknown);
                }
            }
            Kind::Seq => {
                for (at, item) in node.items().enumerate() {
                    self.node(item, &path.index(at), unknown.index(at));
                }
            }
            _ => {}
        }
    }

    /// What comes after the last finding with room is not looked at.
    fn is_full(&self) -> bool {
        self.found.len() >= MAX_STRICT || self.bytes > Errors::MOST
    }

    fn add(&mut self, finding: String) {
        if !self.is_full() {
            self.bytes += finding.len();
            self.found.insert(finding);
        }
    }
}
