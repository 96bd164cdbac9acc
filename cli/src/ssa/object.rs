//! Objects with their places.

use super::Session;
use super::text::Text;
use kubeshape_schema::Code;
use kubeshape_smd::Value;
use kubeshape_smd::fieldpath::{Path, PathElement};
use kubeshape_smd::managed::{Gvk, ObjectName};
use kubeshape_structural::read::expand_list;
use kubeshape_yaml::{Kind, Node};
use std::collections::BTreeMap;

/// An object and where it stands.
#[derive(Clone, Copy)]
pub(crate) struct Object<'a> {
    pub(crate) text: &'a Text<'a>,
    pub(crate) node: Node<'a>,
    pub(crate) value: Value<'a>,
}

/// What tells objects apart: group, kind, namespace, name.
pub(crate) type Identity<'a> = (&'a str, &'a str, &'a str, &'a str);

impl<'a> Object<'a> {
    pub(crate) fn new(text: &'a Text<'a>, node: Node<'a>, session: &Session<'a>) -> Self {
        Object { text, node, value: Value::from_node(node, session.arena) }
    }

    pub(crate) fn gvk(&self) -> Gvk<'a> {
        self.value.gvk()
    }

    pub(crate) fn identity(&self) -> Identity<'a> {
        let ObjectName { namespace, name, gvk } = ObjectName::of(self.value);
        (gvk.group(), gvk.kind(), namespace, name)
    }

    /// The node of a JSON pointer, or the deepest one on the way to it.
    pub(crate) fn at_pointer(&self, pointer: &str) -> Found<'a> {
        self.places().at(pointer)
    }

    /// The nodes of many JSON pointers, one after the other: as [`Object::at_pointer`], without a search per step.
    pub(crate) fn places(&self) -> Places<'a> {
        Places { root: self.node, members: BTreeMap::new() }
    }

    /// The node of a path, or the deepest one on the way to it.
    pub(crate) fn at_path(&self, path: &Path<'_>, session: &Session<'_>) -> Found<'a> {
        let mut found = Found { key: None, value: self.node };
        for element in path {
            let next = match *element {
                PathElement::FieldName(name) => found.value.pairs().filter(|(key, _)| key.text() == name).last(),
                _ => found
                    .value
                    .items()
                    .enumerate()
                    .find(|(at, item)| is_item(*element, *at, *item, session))
                    .map(|(_, item)| (item, item)),
            };
            let Some((key, value)) = next else { return found };
            found = Found { key: (key.index() != value.index()).then_some(key), value };
        }
        found
    }
}

/// Nodes by JSON pointers.
pub(crate) struct Places<'a> {
    root: Node<'a>,
    /// What is in the objects and lists that were on the way, by their places.
    members: BTreeMap<u32, Members<'a>>,
}

enum Members<'a> {
    Map(BTreeMap<&'a str, Found<'a>>),
    Seq(Vec<Node<'a>>),
}

impl<'a> Places<'a> {
    /// The node of a JSON pointer, or the deepest one on the way to it.
    pub(crate) fn at(&mut self, pointer: &str) -> Found<'a> {
        let mut found = Found { key: None, value: self.root };
        for step in pointer.split('/').skip(1) {
            let name = step.replace("~1", "/").replace("~0", "~");
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

/// Whether an item of a list is meant by an element. A key field that the item lacks was defaulted.
fn is_item(element: PathElement<'_>, at: usize, item: Node<'_>, session: &Session<'_>) -> bool {
    match element {
        PathElement::FieldName(_) | PathElement::Nameless => false,
        PathElement::Index(index) => usize::try_from(index).is_ok_and(|index| index == at),
        PathElement::Value(value) => Value::from_node(item, session.arena) == value,
        PathElement::Key(fields) => {
            let mut any = false;
            fields.iter().all(|(name, value)| {
                let Some(found) = item.get(name) else { return true };
                any = true;
                Value::from_node(found, session.arena) == *value
            }) && any
        }
    }
}

/// A place in an object: a value, and its key unless it is an item or the whole.
#[derive(Clone, Copy)]
pub(crate) struct Found<'a> {
    pub(crate) key: Option<Node<'a>>,
    pub(crate) value: Node<'a>,
}

impl<'a> Found<'a> {
    /// The node to point at: a short value itself, of anything else the key.
    pub(crate) fn shown(&self) -> Node<'a> {
        match self.key {
            Some(key) if self.value.entry().is_container() => key,
            _ => self.value,
        }
    }
}

/// The objects of an input, those of lists included. What is no object is told.
pub(crate) fn objects<'a>(text: &'a Text<'a>, session: &mut Session<'a>) -> Vec<Object<'a>> {
    let mut out = Vec::new();
    for root in text.documents().filter_map(kubeshape_yaml::Document::root) {
        for node in expand_list(root) {
            if node.kind() == Kind::Map {
                out.push(Object::new(text, node, session));
            } else {
                session.tell(&text.about(Code::NotAnObject, node, format!("found {}, expected an object", what(node))));
            }
        }
    }
    out
}

/// The one object of an input, or none if it cannot be told which one is meant.
pub(crate) fn only<'a>(text: &'a Text<'a>, session: &mut Session<'a>) -> Option<Object<'a>> {
    let before = session.errors();
    let objects = objects(text, session);
    match objects.as_slice() {
        [one] if !text.failed => Some(*one),
        [_, second, ..] => {
            let detail = format!("found {} objects, expected one", objects.len());
            session.tell(&text.about(Code::NotAnObject, second.node, detail));
            None
        }
        _ => {
            if session.errors() == before && !text.failed {
                let detail = "found nothing, expected an object";
                session.tell(&super::text::nowhere(Code::NotAnObject, text.name, detail));
            }
            None
        }
    }
}

/// What a node is, in words.
pub(crate) fn what(node: Node<'_>) -> &'static str {
    match node.kind() {
        Kind::Null => "nothing",
        Kind::True | Kind::False => "a boolean",
        Kind::Int | Kind::Float => "a number",
        Kind::Str => "a text",
        Kind::Seq => "a list",
        Kind::Map => "an object",
    }
}
