//! Fields that stand twice in the text of an object.

use kubeshape_schema::field::Path;
use kubeshape_yaml::{Kind, Node};
use std::collections::BTreeSet;

/// The fields of an object that stand again in their mapping, in the order of the text: the path of each, and its key where
/// it stands again. With strict field validation, a server refuses an object with such fields (`duplicate field "spec.size"`).
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
    /// The keys of one mapping, used again for the next.
    keys: Vec<&'a str>,
    out: Vec<(String, Node<'a>)>,
}

impl<'a> Walk<'a> {
    /// The depth of a document is limited by its reader.
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
        // Programs write keys in order.
        if self.keys.windows(2).all(|two| two[0] < two[1]) {
            return false;
        }
        self.keys.sort_unstable();
        self.keys.windows(2).any(|two| two[0] == two[1])
    }
}
