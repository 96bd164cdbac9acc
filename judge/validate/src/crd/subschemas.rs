//! Searches in a schema and its subschemas.

use kubeshape_schema::{Additional, Dependency, Items, Schema};

/// Returns whether a schema or a subschema passes a test: `SchemaHas`.
pub(super) fn any<'a>(schema: &Schema<'a>, test: &dyn Fn(&Schema<'a>) -> bool) -> bool {
    let below = |schema: &Schema<'a>| any(schema, test);
    let extra = schema.extra();
    let additional = |additional: Option<Additional<'a>>| match additional {
        Some(Additional::Schema(schema)) => below(schema),
        _ => false,
    };
    test(schema)
        || match schema.items {
            Some(Items::One(item)) => below(item),
            Some(Items::Many(items)) => items.iter().any(below),
            None => false,
        }
        || [extra.all_of, extra.any_of, extra.one_of].into_iter().flatten().any(below)
        || extra.not.is_some_and(below)
        || [schema.properties, extra.pattern_properties, extra.definitions]
            .into_iter()
            .flatten()
            .any(|property| below(&property.schema))
        || additional(schema.additional)
        || additional(extra.additional_items)
        || extra.dependencies.iter().any(|(_, dependency)| match dependency {
            Dependency::Schema(schema) => below(schema),
            Dependency::Names(_) => false,
        })
}
