//! Objects with their positions.

use super::Session;
use super::text::{Missing, Text, nowhere, read_all};
use crate::report::clean::clean;
use kubeshape_input::{Code, Finding};
use kubeshape_registry::locate::{Found, at_pointer};
use kubeshape_registry::{Gvk, Location, describe};
use kubeshape_smd::Value;
use kubeshape_smd::managed::ObjectName;
use kubeshape_structural::read::expand_list;
use kubeshape_yaml::{Kind, Node};
use std::path::PathBuf;
use std::sync::Arc;

/// An object and its position.
#[derive(Clone, Copy)]
pub(crate) struct Object<'a> {
    pub(crate) location: &'a Location,
    pub(crate) value: Value<'a>,
}

/// What identifies an object: group, kind, namespace, name.
pub(crate) type Identity<'a> = (&'a str, &'a str, &'a str, &'a str);

impl<'a> Object<'a> {
    fn new(location: Location, session: &Session<'a>) -> Self {
        let location: &'a Location = session.arena.alloc(location);
        Object { location, value: Value::from_node(location.node(), session.arena) }
    }

    pub(crate) fn gvk(&self) -> Gvk<'a> {
        self.value.gvk()
    }

    /// Returns whether both are the same object of the same input.
    pub(crate) fn is(&self, other: &Object<'_>) -> bool {
        std::ptr::eq(self.location, other.location)
    }

    pub(crate) fn identity(&self) -> Identity<'a> {
        let ObjectName { namespace, name, gvk } = ObjectName::of(self.value);
        (gvk.group(), gvk.kind(), namespace, name)
    }

    /// Returns the node at a JSON pointer, or the deepest existing one on the way to it.
    pub(crate) fn at_pointer(&self, pointer: &str) -> Found<'a> {
        at_pointer(self.location.node(), pointer)
    }

    /// Returns a finding about one of its nodes.
    pub(crate) fn finding(&self, code: Code, at: Node<'_>, detail: impl Into<String>) -> Finding {
        self.named(self.location.at(at).finding(code, detail))
    }

    /// Returns a finding about the object as a whole.
    pub(crate) fn finding_of_all(&self, code: Code, detail: impl Into<String>) -> Finding {
        self.named(self.location.finding(code, detail))
    }

    /// Returns the finding with the name of the object added.
    pub(crate) fn named(&self, finding: Finding) -> Finding {
        finding.of_resource(self.name())
    }

    /// Returns the kind, namespace and name, as far as the object has them: `Widget x/a`.
    pub(crate) fn name(&self) -> String {
        let (_, kind, namespace, name) = self.identity();
        let name = match (kind, namespace, name) {
            ("", _, _) => return String::new(),
            (kind, _, "") => kind.to_owned(),
            (kind, "", name) => format!("{kind} {name}"),
            (kind, namespace, name) => format!("{kind} {namespace}/{name}"),
        };
        // The name must stay on one line.
        clean(&name)
    }

    /// Begins a JSON object with the identity of the object, without the closing brace.
    pub(crate) fn begin_json(&self) -> Vec<u8> {
        let (_, kind, namespace, name) = self.identity();
        let mut out = b"{".to_vec();
        let members =
            [("apiVersion", self.gvk().api_version()), ("kind", kind), ("namespace", namespace), ("name", name)];
        for (at, (member, text)) in members.into_iter().enumerate() {
            out.extend_from_slice(if at == 0 { b"\"" } else { b",\"" });
            out.extend_from_slice(member.as_bytes());
            out.extend_from_slice(b"\":");
            // A text has no infinite numbers, so this cannot fail.
            let _ = Value::String(text).write_json(&mut out);
        }
        out
    }
}

/// The objects of a command's inputs.
pub(crate) struct Objects<'a> {
    pub(crate) all: Vec<Object<'a>>,
    /// Whether the input is a single object, and not a list, stream or folder, not even one with a single object.
    pub(crate) is_one: bool,
}

/// Reads the objects of files and folders. Reports what cannot be read, and inputs without objects.
pub(crate) fn read_objects<'a>(paths: &[PathBuf], session: &mut Session<'a>) -> Objects<'a> {
    let texts = read_all(paths, Missing::Error, session);
    let mut out = Objects { all: Vec::new(), is_one: false };
    for text in &texts {
        let before = session.errors();
        let found = objects(text, session);
        let is_empty = found.is_empty() && text.documents().is_empty();
        if is_empty && text.named && !text.failed && session.errors() == before {
            session.report(&nowhere(Code::NotAnObject, text.name, "found nothing, expected an object"));
        }
        out.all.extend(found);
    }
    if let ([text], [object]) = (texts.as_slice(), out.all.as_slice())
        && text.named
        && let [document] = text.documents()
    {
        out.is_one = document.root().index() == object.location.node().index();
    }
    out
}

/// Returns the objects of an input, including those in lists. Reports everything that is not an object.
pub(crate) fn objects<'a>(text: &'a Text<'a>, session: &mut Session<'a>) -> Vec<Object<'a>> {
    let mut out = Vec::new();
    for document in text.documents() {
        for node in expand_list(document.root()) {
            let location = Location::new(Arc::clone(document), node.index());
            if node.kind() == Kind::Map {
                out.push(Object::new(location, session));
            } else {
                let detail = format!("found {}, expected an object", describe(node));
                session.report(&location.finding(Code::NotAnObject, detail));
            }
        }
    }
    out
}

/// Returns the only object of an input, or `None` if it is not clear which one is meant.
pub(crate) fn only<'a>(text: &'a Text<'a>, session: &mut Session<'a>) -> Option<Object<'a>> {
    let before = session.errors();
    let objects = objects(text, session);
    match objects.as_slice() {
        [one] if !text.failed => Some(*one),
        [_, second, ..] => {
            let detail = format!("expected exactly one object, found {}", objects.len());
            session.report(&second.location.finding(Code::NotAnObject, detail));
            None
        }
        _ => {
            if session.errors() == before && !text.failed {
                session.report(&nowhere(Code::NotAnObject, text.name, "found nothing, expected an object"));
            }
            None
        }
    }
}
