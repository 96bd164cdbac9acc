//! Duplicate fields of an object.

use kubeshape_schema::field::{Errors, Path};
use kubeshape_yaml::go::escape::GoQuoted;
use kubeshape_yaml::{Flags, Kind, Node};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// A duplicate key.
#[derive(Clone, Debug)]
pub struct Duplicate<'a> {
    /// The path of the field: `spec.size`.
    pub path: String,
    /// The key.
    pub key: Node<'a>,
    /// Its value.
    pub value: Node<'a>,
    /// The previous occurrence of the key.
    pub before: Node<'a>,
}

impl Duplicate<'_> {
    /// Returns whether one of the two keys comes from a merge key or an alias (`<<`): such a field is overridden on
    /// purpose.
    pub fn is_override(&self) -> bool {
        [self.key, self.before].iter().any(|key| key.entry().flags.has(Flags::ALIASED))
    }
}

/// Returns the duplicate fields of an object, in document order. The last value is used. Under strict field validation,
/// a server refuses a request with such an object (`duplicate field "spec.size"`). kubectl does not send duplicate
/// fields.
///
/// The list ends after paths of [`Errors::MOST`] bytes.
///
/// # Example
/// ```
/// use kubeshape_registry::{Object, duplicate_fields};
///
/// let object = Object::read("a.yaml", "spec: {ports: [{port: 1, port: 2}]}")?;
/// let again = duplicate_fields(object.location().unwrap().node());
/// assert_eq!((again[0].path.as_str(), again[0].value.text()), ("spec.ports[0].port", "2"));
/// # Ok::<(), Box<kubeshape_input::Finding>>(())
/// ```
pub fn duplicate_fields(object: Node<'_>) -> Vec<Duplicate<'_>> {
    let mut walk = Walk { keys: Vec::new(), out: Vec::new(), left: Errors::MOST };
    walk.node(object, &Path::Root);
    walk.out
}

/// Returns the error of Go's strict YAML reader about duplicate fields (`UnmarshalStrict` of `sigs.k8s.io/yaml`);
/// `None` if there are none.
///
/// # Example
/// ```
/// use kubeshape_registry::{Object, duplicate_fields, strict_yaml_error};
///
/// let object = Object::read("a.yaml", "spec:\n  size: 1\n  size: 2\n")?;
/// let error = strict_yaml_error(duplicate_fields(object.location().unwrap().node()));
/// assert_eq!(error.as_deref(), Some("yaml: unmarshal errors:\n  line 3: key \"size\" already set in map"));
/// # Ok::<(), Box<kubeshape_input::Finding>>(())
/// ```
pub fn strict_yaml_error(mut duplicates: Vec<Duplicate<'_>>) -> Option<String> {
    // The parser sets a key after it has read the value.
    duplicates.sort_by_key(|duplicate| (end(duplicate.value), Reverse(duplicate.value.index())));
    let source = duplicates.first()?.value.document().source();
    let ends: Vec<usize> = source.match_indices('\n').map(|(at, _)| at).collect();
    let line = |duplicate: &Duplicate<'_>| {
        let Duplicate { key, value, .. } = duplicate;
        let line = ends.partition_point(|end| *end < value.span().start) + 1;
        let text = key.text();
        let key = if key.entry().flags.has(Flags::RESOLVED_KEY) { text.to_owned() } else { GoQuoted(text).to_string() };
        format!("\n  line {line}: key {key} already set in map")
    };
    let mut text = "yaml: unmarshal errors:".to_owned();
    for duplicate in &duplicates {
        if text.len() > Errors::MOST {
            break;
        }
        text.push_str(&line(duplicate));
    }
    Some(text)
}

/// Returns the index after a node.
fn end(node: Node<'_>) -> u32 {
    let entry = node.entry();
    if entry.is_container() { entry.a } else { node.index() + 1 }
}

struct Walk<'a> {
    /// The keys of one mapping; reused for the next.
    keys: Vec<&'a str>,
    out: Vec<Duplicate<'a>>,
    /// The remaining bytes for paths.
    left: usize,
}

impl<'a> Walk<'a> {
    /// The reader limits the depth of a document.
    fn node(&mut self, node: Node<'a>, path: &Path<'_>) {
        match node.kind() {
            Kind::Map => {
                let mut seen = BTreeMap::new();
                let has_duplicates = self.has_duplicates(node);
                for (key, value) in node.pairs() {
                    if has_duplicates && let Some(before) = seen.insert(key.text(), key) {
                        self.add(Duplicate { path: path.child(key.text()).to_string(), key, value, before });
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

    fn add(&mut self, duplicate: Duplicate<'a>) {
        let left = self.left.checked_sub(duplicate.path.len());
        if left.is_some() || self.out.is_empty() {
            self.out.push(duplicate);
        }
        self.left = left.unwrap_or_default();
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
