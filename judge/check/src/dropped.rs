//! Fields that older releases do not know, or drop.

use kubeshape_schema::{Additional, Code, Flags, Items, Note, Schema};
use kubeshape_validate::crd::Definition;
use kubeshape_validate::{Change, Release};
use kubeshape_yaml::Node;

/// Returns fields that releases before a change ignore, and the first release that uses each.
pub(crate) fn of(definition: &Definition<'_>) -> Vec<(Note<'static>, Release)> {
    let mut out = Vec::new();
    let spec = &definition.spec;
    let mut drop = |value: Option<Node<'_>>, field: &str, change: Change| {
        if let Some(value) = value.filter(|value| !value.is_null()) {
            let detail = format!("`{field}` is used since {}", change.since());
            out.push((Note::new(Code::UnknownField, value.index(), detail), change.since()));
        }
    };
    drop(spec.member("selectableFields"), "selectableFields", Change::SelectableFields);
    for version in spec.versions.iter().filter(|version| version.node.index() != spec.node.index()) {
        drop(version.node.get("selectableFields"), "selectableFields", Change::SelectableFields);
    }
    let document = definition.node.document();
    let of_all = spec.validation.and_then(|validation| validation.schema);
    let schemas = of_all.into_iter().chain(spec.versions.iter().filter_map(|version| version.schema?.schema));
    for schema in schemas.filter(|schema| schema.subtree.any(Flags::VALIDATIONS)) {
        rules(schema, &mut |at| {
            let rules = document.node(at).get("x-kubernetes-validations");
            for rule in rules.into_iter().flat_map(Node::items) {
                drop(rule.get("optionalOldSelf"), "optionalOldSelf", Change::OptionalOldSelf);
            }
        });
    }
    out
}

/// Visits the schemas with a rule that sets `optionalOldSelf`. The reader bounds the nesting.
fn rules(schema: &Schema<'_>, visit: &mut impl FnMut(u32)) {
    if !schema.subtree.any(Flags::VALIDATIONS) {
        return;
    }
    if schema.extra().validations.iter().any(|rule| rule.optional_old_self.is_some()) {
        visit(schema.at);
    }
    schema.properties.iter().for_each(|property| rules(&property.schema, visit));
    match schema.items {
        Some(Items::One(item)) => rules(item, visit),
        Some(Items::Many(items)) => items.iter().for_each(|item| rules(item, visit)),
        None => {}
    }
    if let Some(Additional::Schema(inner)) = schema.additional {
        rules(inner, visit);
    }
}
