//! Advice: what a server accepts but causes trouble later. Each piece has a page that names its source.

mod columns;
mod dead;
mod lost;
mod path;
mod rules;
mod scale;
mod schema;
mod size;
mod stored;
mod twice;
mod versions;

use kubeshape_schema::{Additional, Bump, Items, Note, Schema};
use kubeshape_validate::crd::{Definition, Spec, Version};
use kubeshape_yaml::Node;

pub use size::{ANNOTATION, OBJECT};

/// Returns advice about a decoded definition, in no particular order.
pub fn about<'a>(definition: &Definition<'a>, arena: &'a Bump) -> Vec<Note<'static>> {
    let mut notes = Vec::new();
    let spec = &definition.spec;
    for schema in schemas(spec) {
        schema::about(schema, &mut notes);
        lost::about(schema, arena, &mut notes);
        let document = definition.node.document();
        twice::about(schema, document, &mut notes);
        dead::about(schema, document, &mut notes);
        rules::about(schema, document, &mut notes);
    }
    for version in spec.versions {
        columns::about(spec, version, &mut notes);
        scale::about(spec, version, &mut notes);
    }
    versions::about(spec, &mut notes);
    stored::about(definition.node, &mut notes);
    size::about(definition, &mut notes);
    notes
}

/// Returns the schemas of a definition: one for all versions, or one per version.
fn schemas<'a>(spec: &Spec<'a>) -> impl Iterator<Item = &'a Schema<'a>> {
    let of_all = spec.validation.and_then(|validation| validation.schema);
    of_all.into_iter().chain(spec.versions.iter().filter_map(|version| version.schema?.schema))
}

/// Returns the schema of a version.
fn schema_of<'a>(spec: &Spec<'a>, version: &Version<'a>) -> Option<&'a Schema<'a>> {
    version.schema.or(spec.validation)?.schema
}

/// Returns the location of a member, or that of the node if it lacks the member.
fn place(node: Node<'_>, member: &str) -> u32 {
    node.get(member).unwrap_or(node).index()
}

/// Calls a function with each schema directly below a schema: of properties, items and other members.
fn each_inner(schema: &Schema<'_>, f: &mut dyn FnMut(&Schema<'_>)) {
    schema.properties.iter().for_each(|property| f(&property.schema));
    match schema.items {
        Some(Items::One(item)) => f(item),
        Some(Items::Many(items)) => items.iter().for_each(&mut *f),
        None => {}
    }
    if let Some(Additional::Schema(additional)) = schema.additional {
        f(additional);
    }
}
