//! Finds where the schema of a value is in the inputs, for messages. The types themselves come from the definitions.

use crate::definition::Definition;
use crate::definition::Form;
use crate::kind::Kind;
use crate::location::Location;
use kubeshape_smd::schema::{Atom, Schema};
use kubeshape_yaml::{Kind as NodeKind, Node};
use std::collections::BTreeMap;

/// The maximum number of references in a row. More are treated as a cycle.
const MOST_REFERENCES: usize = 64;

/// Returns where the schema of the value at these steps of an object is.
pub(crate) fn location(kind: &Kind, steps: &[String]) -> Option<Location> {
    if kind.is_deduced() {
        return None;
    }
    let definition = kind.definition();
    let root = definition.location().node();
    let get = &mut Node::get;
    let found = match start(kind) {
        Some((references, schema)) => openapi(references, schema, steps, get),
        None => smd(definition, root, kind.type_name(), steps),
    };
    found.map(|node| definition.location().at(node))
}

/// Returns where references lead, and the schema of a kind. `None` if the kind has no OpenAPI schema.
fn start(kind: &Kind) -> Option<(Option<Node<'_>>, Node<'_>)> {
    let root = kind.definition().location().node();
    let references = match kind.definition().form() {
        Form::CustomResource(_) => None,
        Form::OpenApi(_) => Some(root),
        Form::Smd => return None,
    };
    Some((references, root.document().node(kind.schema?)))
}

/// Returns a member of a mapping.
type Get<'g, 'a> = dyn FnMut(Node<'a>, &str) -> Option<Node<'a>> + 'g;

/// Follows the steps of a value down a schema; references lead into `root`.
fn openapi<'a>(root: Option<Node<'a>>, schema: Node<'a>, steps: &[String], get: &mut Get<'_, 'a>) -> Option<Node<'a>> {
    let mut at = followed(root, schema, get)?;
    for step in steps {
        at = below(root, at, step, get)?;
    }
    Some(at)
}

/// Follows one step down a schema that is not a reference.
fn below<'a>(root: Option<Node<'a>>, at: Node<'a>, step: &str, get: &mut Get<'_, 'a>) -> Option<Node<'a>> {
    let property = at.get("properties").and_then(|properties| get(properties, step));
    let additional = || at.get("additionalProperties").filter(|schema| schema.kind() == NodeKind::Map);
    let item = || at.get("items").filter(|_| step.bytes().all(|byte| byte.is_ascii_digit()));
    followed(root, property.or_else(item).or_else(additional)?, get)
}

/// Resolves a reference, also one that is the only item of `allOf`.
fn followed<'a>(root: Option<Node<'a>>, schema: Node<'a>, get: &mut Get<'_, 'a>) -> Option<Node<'a>> {
    let mut at = schema;
    for _ in 0..MOST_REFERENCES {
        let alone = || at.get("allOf").filter(|all| all.len() == 1)?.items().next()?.get("$ref");
        let Some(reference) = at.get("$ref").or_else(alone).and_then(Node::as_str) else { return Some(at) };
        let mut target = root?;
        for step in crate::locate::steps(reference.strip_prefix('#')?) {
            target = get(target, &step)?;
        }
        at = target;
    }
    None
}

/// Finds where the schemas of many values of a kind are declared.
///
/// [`Kind::declared`] reads the fields next to the one that it looks for. This type reads them once, so that the work
/// for all fields of a kind grows with their number.
#[derive(Debug)]
pub struct Declarations<'k> {
    kind: &'k Kind,
    /// The members of mappings that were read, by the index of the mapping.
    members: BTreeMap<u32, BTreeMap<&'k str, u32>>,
    /// The schemas that were found, by the JSON pointers of their values.
    found: BTreeMap<String, Option<u32>>,
    steps: usize,
}

impl<'k> Declarations<'k> {
    /// Returns where the schema of the value at a JSON pointer into an object is declared, as [`Kind::declared`] does.
    pub fn at(&mut self, pointer: &str) -> Option<Location> {
        let location = self.kind.definition().location();
        let Some((root, schema)) = start(self.kind).filter(|_| !self.kind.is_deduced()) else {
            return self.kind.declared(pointer);
        };
        Some(location.at(self.find(root, schema, pointer)?))
    }

    /// Returns how many members of mappings were read, and how many steps of pointers were followed.
    pub fn work(&self) -> usize {
        self.steps
    }

    fn find(&mut self, root: Option<Node<'k>>, schema: Node<'k>, pointer: &str) -> Option<Node<'k>> {
        // The longest part of the pointer whose schema is known.
        let mut end = pointer.len();
        let mut todo = Vec::new();
        let mut at = loop {
            self.steps += 1;
            let known = pointer.get(..end).unwrap_or_default();
            if let Some(found) = self.found.get(known) {
                break found.map(|at| schema.document().node(at));
            }
            todo.push(end);
            match known.rfind('/') {
                Some(slash) => end = slash,
                None => break Some(schema),
            }
        };
        let Declarations { members, found, steps, .. } = self;
        let mut get = |node: Node<'k>, key: &str| {
            let members = members.entry(node.index()).or_insert_with(|| {
                *steps += node.len();
                node.pairs().map(|(key, value)| (key.text(), value.index())).collect()
            });
            members.get(key).map(|at| node.document().node(*at))
        };
        for end in todo.into_iter().rev() {
            let known = pointer.get(..end).unwrap_or_default();
            at = match known.rsplit_once('/') {
                None => at.and_then(|at| followed(root, at, &mut get)),
                Some((_, step)) => {
                    let step = step.replace("~1", "/").replace("~0", "~");
                    at.and_then(|at| below(root, at, &step, &mut get))
                }
            };
            found.insert(known.to_owned(), at.map(Node::index));
        }
        at
    }
}

/// Follows the steps of a value down a structured-merge-diff schema.
fn smd<'a>(definition: &'a Definition, root: Node<'a>, type_name: &str, steps: &[String]) -> Option<Node<'a>> {
    let named = |name: &str| definition.named_item(root.get("types")?, name);
    let resolved = |reference: Node<'a>| match reference.get("namedType").and_then(Node::as_str) {
        Some(name) => named(name),
        None => Some(reference),
    };
    let mut at = named(type_name)?;
    for step in steps {
        let fields = at.get("map").and_then(|map| map.get("fields"));
        let field = fields.and_then(|fields| definition.named_item(fields, step)?.get("type"));
        let element = |kind: &str| at.get(kind).and_then(|part| part.get("elementType"));
        at = resolved(field.or_else(|| element("map")).or_else(|| element("list"))?)?;
    }
    Some(at)
}

impl Kind {
    /// Returns where the schema of the value at a JSON pointer into an object is declared.
    pub fn declared(&self, pointer: &str) -> Option<Location> {
        location(self, &crate::locate::steps(pointer))
    }

    /// Returns what finds the declarations of many fields.
    pub fn declarations(&self) -> Declarations<'_> {
        Declarations { kind: self, members: BTreeMap::new(), found: BTreeMap::new(), steps: 0 }
    }
}

/// Returns whether the type of a kind declares a field at these steps; `false` if the schema allows anything.
pub(crate) fn declares(kind: &Kind, steps: &[String]) -> bool {
    let schema = kind.definition().types().schema();
    let walk = || {
        let mut at = schema.find_type(kind.type_name())?.atom();
        for step in steps {
            at = child(schema, at, step)?;
        }
        Some(())
    };
    walk().is_some()
}

fn child<'s>(schema: &'s Schema, atom: Atom<'s>, step: &str) -> Option<Atom<'s>> {
    if let Some(map) = atom.map() {
        if let Some(field) = map.field(step) {
            return schema.resolve(field.type_ref());
        }
        if !map.element_type().is_empty() {
            return schema.resolve(map.element_type());
        }
    }
    let list = atom.list().filter(|_| step.bytes().all(|byte| byte.is_ascii_digit()))?;
    schema.resolve(list.element_type())
}
