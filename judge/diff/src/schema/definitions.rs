//! The definitions of an OpenAPI document, and their references.

use kubeshape_schema::read::{Language, Reader, Rules};
use kubeshape_schema::{Bump, Profile, Schema};
use kubeshape_yaml::Node;
use std::cell::RefCell;
use std::collections::HashMap;

/// Most references to follow in a row.
const REFERENCES: usize = 16;

/// The definitions of one document.
#[derive(Debug)]
pub(crate) struct Definitions<'a> {
    nodes: HashMap<&'a str, Node<'a>>,
    read: RefCell<HashMap<&'a str, &'a Schema<'a>>>,
    arena: &'a Bump,
}

impl<'a> Definitions<'a> {
    /// Creates it from the definitions by name.
    pub(crate) fn new(nodes: HashMap<&'a str, Node<'a>>, arena: &'a Bump) -> Definitions<'a> {
        Definitions { nodes, read: RefCell::default(), arena }
    }

    /// Returns the name and the schema of a definition.
    pub(crate) fn get(&self, name: &str) -> Option<(&'a str, &'a Schema<'a>)> {
        let (name, node) = self.nodes.get_key_value(name).map(|(name, node)| (*name, *node))?;
        if let Some(known) = self.read.borrow().get(name) {
            return Some((name, known));
        }
        let reader = Reader::new(self.arena, Rules::Document(Profile::Kube));
        let schema = reader.in_language(Language::of(node)).schema(node);
        let schema: &'a Schema<'a> = self.arena.alloc(schema);
        self.read.borrow_mut().insert(name, schema);
        Some((name, schema))
    }

    /// Resolves references. Returns the schema and the name of the last definition on the way. A description and a
    /// default next to a reference are kept.
    pub(crate) fn resolve(&self, schema: Schema<'a>) -> (Schema<'a>, Option<&'a str>) {
        let (mut out, mut name) = (schema, None);
        for _ in 0..REFERENCES {
            let reference = match out.extra().all_of {
                [only] if out.reference.is_empty() && out.properties.is_empty() => only.reference,
                _ => out.reference,
            };
            let Some((found, target)) = reference.rsplit_once('/').and_then(|(_, name)| self.get(name)) else { break };
            name = Some(found);
            let own = out;
            out = *target;
            if !own.description.is_empty() {
                out.description = own.description;
            }
            out.default = own.default.or(out.default);
            out.at = own.at;
        }
        (out, name)
    }
}
