//! Where the type of a value stands in the inputs: for messages only, types themselves come from the library.

use super::text::Text;
use kubeshape_smd::schema::{Atom, Schema};
use kubeshape_yaml::{Kind, Node};

/// References that are followed one after the other before they count as a circle.
const MOST_REFERENCES: usize = 64;

/// Where a type comes from.
#[derive(Clone, Copy)]
pub(crate) enum Origin<'a> {
    /// A version of a CustomResourceDefinition, and its schema.
    Resource { text: &'a Text<'a>, definition: Node<'a>, schema: Option<Node<'a>> },
    /// A definition of an OpenAPI document.
    Document { text: &'a Text<'a>, root: Node<'a>, definition: Node<'a> },
    /// A structured-merge-diff schema.
    Smd { text: &'a Text<'a>, root: Node<'a> },
    /// The objects: the schema could not be used.
    Deduced { text: &'a Text<'a>, node: Node<'a> },
}

impl<'a> Origin<'a> {
    /// The input and the node that defines the type, or the whole of what does.
    pub(crate) fn node(&self) -> (&'a Text<'a>, Node<'a>) {
        match *self {
            Origin::Resource { text, definition, .. } | Origin::Document { text, definition, .. } => (text, definition),
            Origin::Smd { text, root } => (text, root),
            Origin::Deduced { text, node } => (text, node),
        }
    }

    /// The same as `file:line:column`.
    pub(crate) fn place(&self) -> String {
        let (text, node) = self.node();
        text.place(node)
    }

    /// Whether it is a CustomResourceDefinition.
    pub(crate) fn is_resource(&self) -> bool {
        matches!(self, Origin::Resource { .. } | Origin::Deduced { .. })
    }

    /// The schema of the value at these steps of an object, which has the type of this name.
    pub(crate) fn schema(&self, type_name: &str, steps: &[String]) -> Option<(&'a Text<'a>, Node<'a>)> {
        let (text, found) = match *self {
            Origin::Resource { text, schema, .. } => (text, openapi(None, schema?, steps)),
            Origin::Document { text, root, definition } => (text, openapi(Some(root), definition, steps)),
            Origin::Smd { text, root } => (text, smd(root, type_name, steps)),
            Origin::Deduced { .. } => return None,
        };
        Some((text, found?))
    }
}

/// The names in a JSON pointer.
pub(crate) fn steps(pointer: &str) -> Vec<String> {
    pointer.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~")).collect()
}

/// Goes down a schema as the value goes down; `root` is the document in which references lead.
fn openapi<'a>(root: Option<Node<'a>>, schema: Node<'a>, steps: &[String]) -> Option<Node<'a>> {
    let mut at = followed(root, schema)?;
    for step in steps {
        let property = at.get("properties").and_then(|properties| properties.get(step));
        let additional = || at.get("additionalProperties").filter(|schema| schema.kind() == Kind::Map);
        let item = || at.get("items").filter(|_| step.bytes().all(|byte| byte.is_ascii_digit()));
        at = followed(root, property.or_else(item).or_else(additional)?)?;
    }
    Some(at)
}

/// The schema that a reference means, also one that stands alone in `allOf`.
fn followed<'a>(root: Option<Node<'a>>, schema: Node<'a>) -> Option<Node<'a>> {
    let mut at = schema;
    for _ in 0..MOST_REFERENCES {
        let alone = || at.get("allOf").filter(|all| all.len() == 1)?.items().next()?.get("$ref");
        let Some(reference) = at.get("$ref").or_else(alone).and_then(Node::as_str) else { return Some(at) };
        let mut target = root?;
        for step in steps(reference.strip_prefix('#')?) {
            target = target.get(&step)?;
        }
        at = target;
    }
    None
}

/// Goes down a written structured-merge-diff schema as the value goes down.
fn smd<'a>(root: Node<'a>, type_name: &str, steps: &[String]) -> Option<Node<'a>> {
    let named = |name: &str| {
        let types = root.get("types")?;
        types.items().find(|item| item.get("name").and_then(Node::as_str) == Some(name))
    };
    let resolved = |reference: Node<'a>| match reference.get("namedType").and_then(Node::as_str) {
        Some(name) => named(name),
        None => Some(reference),
    };
    let mut at = named(type_name)?;
    for step in steps {
        let fields = at.get("map").and_then(|map| map.get("fields"));
        let field = fields.and_then(|fields| {
            fields.items().find(|field| field.get("name").and_then(Node::as_str) == Some(step))?.get("type")
        });
        let element = |kind: &str| at.get(kind).and_then(|part| part.get("elementType"));
        at = resolved(field.or_else(|| element("map")).or_else(|| element("list"))?)?;
    }
    Some(at)
}

/// Whether a type has a place for a field at these steps. It says nothing where the schema allows anything.
pub(crate) fn declares(schema: &Schema, type_name: &str, steps: &[String]) -> bool {
    let walk = || {
        let mut at = schema.find_type(type_name)?.atom();
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
