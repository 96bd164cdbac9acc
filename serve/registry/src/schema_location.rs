//! Finds where the schema of a value is in the inputs, for messages. The types themselves come from the definitions.

use crate::definition::Definition;
use crate::definition::Form;
use crate::kind::Kind;
use crate::location::Location;
use kubeshape_smd::schema::{Atom, Schema};
use kubeshape_yaml::{Kind as NodeKind, Node};

/// The maximum number of references in a row. More are treated as a cycle.
const MOST_REFERENCES: usize = 64;

/// Returns where the schema of the value at these steps of an object is.
pub(crate) fn location(kind: &Kind, steps: &[String]) -> Option<Location> {
    if kind.is_deduced() {
        return None;
    }
    let definition = kind.definition();
    let root = definition.location().node();
    let node = |at: Option<u32>| at.map(|at| root.document().node(at));
    let found = match definition.form() {
        Form::CustomResource(_) => openapi(None, node(kind.schema)?, steps),
        Form::OpenApi(_) => openapi(Some(root), node(kind.schema)?, steps),
        Form::Smd => smd(definition, root, kind.type_name(), steps),
    };
    found.map(|node| definition.location().at(node))
}

/// Follows the steps of a value down a schema; references lead into `root`.
fn openapi<'a>(root: Option<Node<'a>>, schema: Node<'a>, steps: &[String]) -> Option<Node<'a>> {
    let mut at = followed(root, schema)?;
    for step in steps {
        let property = at.get("properties").and_then(|properties| properties.get(step));
        let additional = || at.get("additionalProperties").filter(|schema| schema.kind() == NodeKind::Map);
        let item = || at.get("items").filter(|_| step.bytes().all(|byte| byte.is_ascii_digit()));
        at = followed(root, property.or_else(item).or_else(additional)?)?;
    }
    Some(at)
}

/// Resolves a reference, also one that is the only item of `allOf`.
fn followed<'a>(root: Option<Node<'a>>, schema: Node<'a>) -> Option<Node<'a>> {
    let mut at = schema;
    for _ in 0..MOST_REFERENCES {
        let alone = || at.get("allOf").filter(|all| all.len() == 1)?.items().next()?.get("$ref");
        let Some(reference) = at.get("$ref").or_else(alone).and_then(Node::as_str) else { return Some(at) };
        let mut target = root?;
        for step in crate::locate::steps(reference.strip_prefix('#')?) {
            target = target.get(&step)?;
        }
        at = target;
    }
    None
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
