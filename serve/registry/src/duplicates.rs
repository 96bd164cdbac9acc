//! Duplicate fields of an object.

use kubeshape_schema::field::Path;
use kubeshape_yaml::{Kind, Node};
use std::collections::BTreeSet;

/// Returns the duplicate fields of an object, in document order: the path of each, and its second key. Under strict
/// field validation, a server rejects such an object (`duplicate field "spec.size"`).
///
/// # Example
/// ```
/// use kubeshape_registry::{Object, duplicate_fields};
///
/// let object = Object::read("a.yaml", "spec: {ports: [{port: 1, port: 2}]}")?;
/// let again = duplicate_fields(object.location().unwrap().node());
/// assert_eq!(again[0].0, "spec.ports[0].port");
/// # Ok::<(), Box<kubeshape_input::Finding>>(())
/// ```
pub fn duplicate_fields(object: Node<'_>) -> Vec<(String, Node<'_>)> {
    let mut walk = Walk { keys: Vec::new(), out: Vec::new() };
    walk.node(object, &Path::Root);
    walk.out
}

struct Walk<'a> {
    /// The keys of one mapping; reused for the next.
    keys: Vec<&'a str>,
    out: Vec<(String, Node<'a>)>,
}

impl<'a> Walk<'a> {
    /// The reader limits the depth of a document.
    fn node(&mut self, node: Node<'a>, path: &Path<'_>) {
        match node.kind() {
            Kind::Map => {
                let mut seen = BTreeSet::new();
                let has_duplicates = self.has_duplicates(node);
                for (key, value) in node.pairs() {
                    if has_duplicates && !seen.insert(key.text()) {
                        self.out.push((path.child(key.text()).to_string(), key));
                    }
                    if value.entry().is_container() {
                        self.node(value, &path.child(key.text()));
                    }
                }
            }
            Kind::Seq => {
                for (at, item) in node.items().enumerate().filter(|(_, item)| item.entry().is_container()) {
                    self.node(item, &path.index(at));
                }
            }
            _ => {}
        }
    }

    fn has_duplicates(&mut self, mapping: Node<'a>) -> bool {
        if mapping.len() < 2 {
            return false;
        }
        self.keys.clear();
        self.keys.extend(mapping.pairs().map(|(key, _)| key.text()));
        // Generated files have sorted keys.
        if self.keys.windows(2).all(|two| two[0] < two[1]) {
            return false;
        }
        self.keys.sort_unstable();
        self.keys.windows(2).any(|two| two[0] == two[1])
    }
}
