//! Advice about the size of definitions.

use kubeshape_schema::{Additional, Code, Items, Note, Schema};
use kubeshape_validate::crd::Definition;
use kubeshape_yaml::{Kind, Node};

/// The limit of all annotations of an object, in bytes. `kubectl apply` keeps the manifest in one of them.
pub const ANNOTATION: usize = 256 << 10;
/// etcd's default limit for an object, in bytes.
pub const OBJECT: usize = 3 << 19;
/// The bytes of `"description":"",`.
const DESCRIPTION: usize = 17;

/// Reports a definition that `kubectl apply` or etcd refuses.
pub(super) fn about(definition: &Definition<'_>, notes: &mut Vec<Note<'static>>) {
    let size = json(definition.node);
    if size <= ANNOTATION {
        return;
    }
    let descriptions: usize = super::schemas(&definition.spec).map(self::descriptions).sum();
    let limit = if size > OBJECT { "etcd takes 1536 KiB" } else { "`kubectl apply` takes 256 KiB" };
    let detail =
        format!("it has about {} KiB, {} KiB of them descriptions; {limit}", size.div_ceil(1024), descriptions / 1024);
    notes.push(Note::new(Code::AdviceSize, definition.node.index(), detail));
}

/// Returns the bytes of a value as JSON, without escapes in strings.
fn json(root: Node<'_>) -> usize {
    let mut size = 0;
    let mut todo = vec![root];
    while let Some(node) = todo.pop() {
        size += match node.kind() {
            Kind::Map => {
                // A quoted key, a colon and a comma each.
                let pairs = node.pairs().map(|(key, value)| {
                    todo.push(value);
                    key.text().len() + 4
                });
                pairs.sum::<usize>() + 1
            }
            Kind::Seq => {
                todo.extend(node.items());
                node.len() + 1
            }
            Kind::Str => node.text().len() + 2,
            _ => node.span().len(),
        };
    }
    size
}

/// Returns the bytes of the descriptions below a schema. The reader bounds the nesting.
fn descriptions(schema: &Schema<'_>) -> usize {
    let own = if schema.description.is_empty() { 0 } else { schema.description.len() + DESCRIPTION };
    let properties = schema.properties.iter().map(|property| descriptions(&property.schema));
    let items = match schema.items {
        Some(Items::One(item)) => descriptions(item),
        Some(Items::Many(items)) => items.iter().map(descriptions).sum(),
        None => 0,
    };
    let additional = match schema.additional {
        Some(Additional::Schema(inner)) => descriptions(inner),
        _ => 0,
    };
    own + properties.sum::<usize>() + items + additional
}
