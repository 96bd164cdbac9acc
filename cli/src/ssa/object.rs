//! Objects with their places.

use super::Session;
use super::text::{Text, nowhere};
use kubeshape_input::{Code, Finding};
use kubeshape_registry::locate::{Found, at_pointer};
use kubeshape_registry::{Gvk, Location, describe};
use kubeshape_smd::Value;
use kubeshape_smd::managed::ObjectName;
use kubeshape_structural::read::expand_list;
use kubeshape_yaml::{Kind, Node};
use std::sync::Arc;

/// An object and where it stands.
#[derive(Clone, Copy)]
pub(crate) struct Object<'a> {
    pub(crate) location: &'a Location,
    pub(crate) value: Value<'a>,
}

/// What tells objects apart: group, kind, namespace, name.
pub(crate) type Identity<'a> = (&'a str, &'a str, &'a str, &'a str);

impl<'a> Object<'a> {
    fn new(location: Location, session: &Session<'a>) -> Self {
        let location: &'a Location = session.arena.alloc(location);
        Object { location, value: Value::from_node(location.node(), session.arena) }
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
        at_pointer(self.location.node(), pointer)
    }

    /// A finding about a node of it.
    pub(crate) fn finding(&self, code: Code, at: Node<'_>, detail: impl Into<String>) -> Finding {
        self.named(self.location.at(at).finding(code, detail))
    }

    /// A finding about it as a whole.
    pub(crate) fn finding_of_all(&self, code: Code, detail: impl Into<String>) -> Finding {
        self.named(self.location.finding(code, detail))
    }

    /// The finding with the name of the object.
    pub(crate) fn named(&self, finding: Finding) -> Finding {
        let (_, kind, namespace, name) = self.identity();
        finding.of_resource(match (kind, namespace, name) {
            ("", _, _) => String::new(),
            (kind, _, "") => kind.to_owned(),
            (kind, "", name) => format!("{kind} {name}"),
            (kind, namespace, name) => format!("{kind} {namespace}/{name}"),
        })
    }
}

/// The objects of an input, those of lists included. What is no object is told.
pub(crate) fn objects<'a>(text: &'a Text<'a>, session: &mut Session<'a>) -> Vec<Object<'a>> {
    let mut out = Vec::new();
    for document in text.documents() {
        for node in expand_list(document.root()) {
            let location = Location::new(Arc::clone(document), node.index());
            if node.kind() == Kind::Map {
                out.push(Object::new(location, session));
            } else {
                let detail = format!("found {}, expected an object", describe(node));
                session.tell(&location.finding(Code::NotAnObject, detail));
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
            let detail = format!("expected exactly one object, found {}", objects.len());
            session.tell(&second.location.finding(Code::NotAnObject, detail));
            None
        }
        _ => {
            if session.errors() == before && !text.failed {
                session.tell(&nowhere(Code::NotAnObject, text.name, "found nothing, expected an object"));
            }
            None
        }
    }
}
