//! The nodes of an object that paths and JSON pointers lead to.

use kubeshape_smd::fieldpath::{Path, PathElement};
use kubeshape_smd::{Bump, Value};
use kubeshape_yaml::{Kind, Node};
use std::collections::BTreeMap;

/// A place in an object: a value, and its key unless it is an item or the whole.
#[derive(Clone, Copy, Debug)]
pub struct Found<'a> {
    /// The key.
    pub key: Option<Node<'a>>,
    /// The value.
    pub value: Node<'a>,
}

impl<'a> Found<'a> {
    /// The node to point at: a short value itself, of anything else the key.
    pub fn shown(&self) -> Node<'a> {
        match self.key {
            Some(key) if self.value.entry().is_container() => key,
            _ => self.value,
        }
    }
}

/// The node of a JSON pointer into an object, or the deepest one on the way to it.
pub fn at_pointer<'a>(object: Node<'a>, pointer: &str) -> Found<'a> {
    Pointers::new(object).at(pointer)
}

/// The node of a path into an object, or the deepest one on the way to it.
pub fn at_path<'a>(object: Node<'a>, path: &Path<'_>) -> Found<'a> {
    let arena = Bump::new();
    let mut found = Found { key: None, value: object };
    for element in path {
        let next = match *element {
            PathElement::FieldName(name) => found.value.pairs().filter(|(key, _)| key.text() == name).last(),
            _ => found
                .value
                .items()
                .enumerate()
                .find(|(at, item)| is_item(*element, *at, *item, &arena))
                .map(|(_, item)| (item, item)),
        };
        let Some((key, value)) = next else { return found };
        found = Found { key: (key.index() != value.index()).then_some(key), value };
    }
    found
}

/// Whether an item of a list is meant by an element. A key field that the item lacks was defaulted.
fn is_item(element: PathElement<'_>, at: usize, item: Node<'_>, arena: &Bump) -> bool {
    match element {
        PathElement::FieldName(_) | PathElement::Nameless => false,
        PathElement::Index(index) => usize::try_from(index).is_ok_and(|index| index == at),
        PathElement::Value(value) => Value::from_node(item, arena) == value,
        PathElement::Key(fields) => {
            let mut any = false;
            fields.iter().all(|(name, value)| {
                let Some(found) = item.get(name) else { return true };
                any = true;
                Value::from_node(found, arena) == *value
            }) && any
        }
    }
}

/// The nodes of many JSON pointers into one object, one after the other: as [`at_pointer`], without a search per step.
#[derive(Debug)]
pub struct Pointers<'a> {
    object: Node<'a>,
    /// What is in the objects and lists that were on the way, by their places.
    members: BTreeMap<u32, Members<'a>>,
}

#[derive(Debug)]
enum Members<'a> {
    Map(BTreeMap<&'a str, Found<'a>>),
    Seq(Vec<Node<'a>>),
}

impl<'a> Pointers<'a> {
    /// Into this object.
    pub fn new(object: Node<'a>) -> Pointers<'a> {
        Pointers { object, members: BTreeMap::new() }
    }

    /// The node of a JSON pointer, or the deepest one on the way to it.
    pub fn at(&mut self, pointer: &str) -> Found<'a> {
        let mut found = Found { key: None, value: self.object };
        for name in steps(pointer) {
            let node = found.value;
            let members = self.members.entry(node.index()).or_insert_with(|| match node.kind() {
                // Of keys that stand twice, the last one counts.
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

/// The names in a JSON pointer.
pub(crate) fn steps(pointer: &str) -> Vec<String> {
    pointer.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~")).collect()
}
