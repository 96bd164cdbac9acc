//! Finds the nodes of an object by path or JSON pointer.

use kubeshape_smd::fieldpath::{Path, PathElement};
use kubeshape_smd::{Bump, Value};
use kubeshape_yaml::{Kind, Node};
use std::collections::BTreeMap;

/// A place in an object: a value, and its key unless it is an item or the root.
#[derive(Clone, Copy, Debug)]
pub struct Found<'a> {
    /// The key.
    pub key: Option<Node<'a>>,
    /// The value.
    pub value: Node<'a>,
}

impl<'a> Found<'a> {
    /// Returns the node to point at: a short value itself, otherwise the key.
    pub fn shown(&self) -> Node<'a> {
        match self.key {
            Some(key) if self.value.entry().is_container() => key,
            _ => self.value,
        }
    }
}

/// Returns the node at a JSON pointer into an object, or its deepest existing ancestor.
pub fn at_pointer<'a>(object: Node<'a>, pointer: &str) -> Found<'a> {
    Pointers::new(object).at(pointer)
}

/// Returns the node at a path into an object, or its deepest existing ancestor.
pub fn at_path<'a>(object: Node<'a>, path: &Path<'_>) -> Found<'a> {
    Paths::new(object, &Bump::new()).at(path)
}

/// Returns the node at a field path of a validation error, such as `spec.items[2].name` or `spec.labels[a.b]`, or its
/// deepest existing ancestor. Ambiguous paths (`spec.a.b` and a key `a.b`) are resolved by the keys of the object; the
/// longest match is used.
///
/// # Example
/// ```
/// use kubeshape_registry::{Object, locate};
///
/// let object = Object::read("a.yaml", "spec:\n  labels:\n    a.b/c: [x, y]\n")?;
/// let root = object.location().unwrap().node();
/// assert_eq!(locate::at_field(root, "spec.labels[a.b/c][1]").value.text(), "y");
/// assert_eq!(locate::at_field(root, "spec.labels.missing").key.unwrap().text(), "labels");
/// # Ok::<(), Box<kubeshape_input::Finding>>(())
/// ```
pub fn at_field<'a>(object: Node<'a>, path: &str) -> Found<'a> {
    let mut found = Found { key: None, value: object };
    let mut rest = path;
    while !rest.is_empty() {
        let Some((next, after)) = field(found.value, rest) else { return found };
        (found, rest) = (next, after);
    }
    found
}

/// Returns the target of the first step of a field path, and the other steps.
fn field<'a, 'p>(node: Node<'a>, path: &'p str) -> Option<(Found<'a>, &'p str)> {
    let in_brackets = path.strip_prefix('[');
    if let (Kind::Seq, Some(text)) = (node.kind(), in_brackets) {
        let (index, after) = text.split_once(']')?;
        let value = node.items().nth(index.parse().ok()?)?;
        return Some((Found { key: None, value }, after));
    }
    if node.kind() != Kind::Map {
        return None;
    }
    let after = |key: &str| {
        let after = match in_brackets {
            Some(text) => text.strip_prefix(key)?.strip_prefix(']')?,
            None => path.strip_prefix('.').unwrap_or(path).strip_prefix(key)?,
        };
        (after.is_empty() || after.starts_with(['.', '['])).then_some(after)
    };
    let fits = node.pairs().filter_map(|(key, value)| Some((key, value, after(key.text())?)));
    // Of duplicate keys, the last is used.
    let (key, value, after) = fits.max_by_key(|(key, ..)| key.text().len())?;
    Some((Found { key: Some(key), value }, after))
}

/// Finds many paths in one object: as [`at_path`], without a search per list.
#[derive(Debug)]
pub struct Paths<'a, 'v> {
    object: Node<'a>,
    arena: &'v Bump,
    /// The visited lists, by node.
    lists: BTreeMap<u32, List<'a, 'v>>,
}

/// Items by the values of key fields.
type ByKey<'v> = BTreeMap<Vec<Value<'v>>, usize>;

#[derive(Debug)]
struct List<'a, 'v> {
    items: Vec<(Node<'a>, Value<'v>)>,
    /// Items by their values.
    values: Option<BTreeMap<Value<'v>, usize>>,
    /// Items by the values of these keys, if they have all of them.
    keyed: Vec<(Vec<String>, ByKey<'v>)>,
}

impl<'a: 'v, 'v> Paths<'a, 'v> {
    /// Starts at this object; the arena stores the values of list items.
    pub fn new(object: Node<'a>, arena: &'v Bump) -> Paths<'a, 'v> {
        Paths { object, arena, lists: BTreeMap::new() }
    }

    /// Returns the node at a path, or its deepest existing ancestor.
    pub fn at(&mut self, path: &Path<'_>) -> Found<'a> {
        let mut found = Found { key: None, value: self.object };
        for element in path {
            let next = match *element {
                PathElement::FieldName(name) => found.value.pairs().filter(|(key, _)| key.text() == name).last(),
                PathElement::Nameless => None,
                _ => self.item(found.value, *element).map(|item| (item, item)),
            };
            let Some((key, value)) = next else { return found };
            found = Found { key: (key.index() != value.index()).then_some(key), value };
        }
        found
    }

    fn item(&mut self, list: Node<'a>, element: PathElement<'_>) -> Option<Node<'a>> {
        let arena = self.arena;
        let list = self.lists.entry(list.index()).or_insert_with(|| List {
            items: list.items().map(|item| (item, Value::from_node(item, arena))).collect(),
            values: None,
            keyed: Vec::new(),
        });
        let at = match element {
            PathElement::FieldName(_) | PathElement::Nameless => None,
            PathElement::Index(index) => usize::try_from(index).ok(),
            PathElement::Value(value) => {
                let values = list.values.get_or_insert_with(|| first(list.items.iter().map(|(_, item)| Some(*item))));
                values.get(&value).copied()
            }
            PathElement::Key(fields) => list.by_key(fields),
        };
        Some(list.items.get(at?)?.0)
    }
}

impl<'v> List<'_, 'v> {
    fn by_key(&mut self, fields: &[(&str, Value<'_>)]) -> Option<usize> {
        let is = |names: &[String]| names.iter().map(String::as_str).eq(fields.iter().map(|(name, _)| *name));
        if !self.keyed.iter().any(|(names, _)| is(names)) {
            let keys = |item: Value<'v>| fields.iter().map(|(name, _)| item.get(name)).collect::<Option<Vec<_>>>();
            let table = first(self.items.iter().map(|(_, item)| keys(*item)));
            self.keyed.push((fields.iter().map(|(name, _)| (*name).to_owned()).collect(), table));
        }
        let (_, table) = self.keyed.iter().find(|(names, _)| is(names))?;
        let wanted: Vec<Value<'_>> = fields.iter().map(|(_, value)| *value).collect();
        // The missing key has a default.
        let lacking = || {
            let fits = |item: Value<'v>| {
                let mut present = fields.iter().filter_map(|(name, value)| Some((item.get(name)?, *value))).peekable();
                present.peek().is_some() && present.all(|(found, value)| found == value)
            };
            self.items.iter().position(|(_, item)| fits(*item))
        };
        table.get(&wanted).copied().or_else(lacking)
    }
}

/// Returns the indices of keys. Of duplicates, the first is used.
fn first<K: Ord>(keys: impl Iterator<Item = Option<K>>) -> BTreeMap<K, usize> {
    let mut out = BTreeMap::new();
    for (at, key) in keys.enumerate() {
        if let Some(key) = key {
            out.entry(key).or_insert(at);
        }
    }
    out
}

/// Finds many JSON pointers in one object: as [`at_pointer`], without a search per step.
#[derive(Debug)]
pub struct Pointers<'a> {
    object: Node<'a>,
    /// The members of visited objects and lists, by node.
    members: BTreeMap<u32, Members<'a>>,
}

#[derive(Debug)]
enum Members<'a> {
    Map(BTreeMap<&'a str, Found<'a>>),
    Seq(Vec<Node<'a>>),
}

impl<'a> Pointers<'a> {
    /// Starts at this object.
    pub fn new(object: Node<'a>) -> Pointers<'a> {
        Pointers { object, members: BTreeMap::new() }
    }

    /// Returns the node at a JSON pointer, or its deepest existing ancestor.
    pub fn at(&mut self, pointer: &str) -> Found<'a> {
        let mut found = Found { key: None, value: self.object };
        for name in steps(pointer) {
            let node = found.value;
            let members = self.members.entry(node.index()).or_insert_with(|| match node.kind() {
                // Of duplicate keys, the last is used.
                Kind::Map => Members::Map(
                    node.pairs().map(|(key, value)| (key.text(), Found { key: Some(key), value })).collect(),
                ),
                _ => Members::Seq(node.items().collect()),
            });
            let next = match members {
                Members::Map(map) => map.get(name.as_str()).copied(),
                Members::Seq(items) => {
                    let item = name.parse().ok().and_then(|at: usize| items.get(at).copied());
                    item.map(|value| Found { key: None, value })
                }
            };
            let Some(next) = next else { return found };
            found = next;
        }
        found
    }
}

/// Returns the names in a JSON pointer.
pub(crate) fn steps(pointer: &str) -> Vec<String> {
    pointer.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~")).collect()
}

#[cfg(test)]
mod tests {
    use super::at_field;
    use crate::object::Object;
    use kubeshape_input::Finding;
    use kubeshape_yaml::Node;

    #[test]
    fn field_paths_lead_to_the_deepest_existing_node() -> Result<(), Box<Finding>> {
        let text = "spec: {a: {b: 1}, a.b: 2, 'c]d': {e: [{f: 3}]}, '': 4, g: 5, g: 6}";
        let object = Object::read("a.yaml", text)?;
        let Some(location) = object.location() else { panic!("the object has a place") };
        let root = location.node();
        for (path, found) in [
            ("spec.a.b", "2"),
            ("spec[a][b]", "1"),
            (".spec.a.b", "2"),
            ("spec[c]d].e[0].f", "3"),
            ("spec.g", "6"),
            ("spec.g.h", "6"),
            ("spec.a.b[0]", "2"),
        ] {
            assert_eq!(at_field(root, path).value.text(), found, "{path}");
        }
        for path in ["spec.c]d.e[1].f", "spec[c]d].e[x]", "spec[c]d].e[99999999999999999999]"] {
            assert_eq!(at_field(root, path).key.map(Node::text), Some("e"), "{path}");
        }
        for path in ["", "[0]", "]", "spec]", "x.y"] {
            assert!(at_field(root, path).key.is_none(), "{path}");
        }
        Ok(())
    }
}
