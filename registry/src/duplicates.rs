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
    let mut out = Vec::new();
    walk(object, &Path::Root, &mut out);
    out
}

/// The depth of a document is limited by its reader.
fn walk<'a>(node: Node<'a>, path: &Path<'_>, out: &mut Vec<(String, Node<'a>)>) {
    match node.kind() {
        Kind::Map => {
            let mut keys: Vec<&str> = node.pairs().map(|(key, _)| key.text()).collect();
            keys.sort_unstable();
            let mut seen = BTreeSet::new();
            let has_duplicates = keys.windows(2).any(|two| two[0] == two[1]);
            for (key, value) in node.pairs() {
                if has_duplicates && !seen.insert(key.text()) {
                    out.push((path.child(key.text()).to_string(), key));
                }
                if value.entry().is_container() {
                    walk(value, &path.child(key.text()), out);
                }
            }
        }
        Kind::Seq => {
            for (at, item) in node.items().enumerate().filter(|(_, item)| item.entry().is_container()) {
                walk(item, &path.index(at), out);
            }
        }
        _ => {}
    }
}
