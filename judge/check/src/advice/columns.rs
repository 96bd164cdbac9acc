//! Advice about printer columns.

use super::{place, schema_of};
use kubeshape_schema::{Additional, Code, Flags, Note, Schema, Type};
use kubeshape_validate::crd::{Spec, Version};
use kubeshape_yaml::Node;

/// Columns whose fields the schema does not have.
pub(super) fn about(spec: &Spec<'_>, version: &Version<'_>, notes: &mut Vec<Note<'static>>) {
    const FIELD: &str = "additionalPrinterColumns";
    let Some(schema) = schema_of(spec, version) else { return };
    let columns = version.columns.or(spec.columns).unwrap_or_default();
    let node = version.node.get(FIELD).or_else(|| spec.member(FIELD));
    let is_first = spec.versions.first().is_some_and(|first| first.node.index() == version.node.index());
    if version.node.get(FIELD).is_none() && !is_first {
        // v1beta1 may have the columns of all versions in one place.
        return;
    }
    let mut nodes = node.into_iter().flat_map(Node::items);
    for column in columns {
        let node = nodes.next();
        let Some(field) = missing(column.json_path, schema) else { continue };
        let at = node.map_or(version.node.index(), |node| match node.get("jsonPath") {
            Some(path) => path.index(),
            None => place(node, "JSONPath"),
        });
        let detail = format!("there is no field `{field}` in {}", column.json_path);
        notes.push(Note::new(Code::AdviceColumn, at, detail));
    }
}

/// The first field at the beginning of a path that objects of the schema never have. Lists, filters and what is escaped end
/// the search.
fn missing<'p>(path: &'p str, root: &Schema<'_>) -> Option<&'p str> {
    let mut schema = root;
    let mut rest = path.strip_prefix('.')?;
    let mut is_first = true;
    loop {
        let end = rest.find(['.', '[', '\\', '*', '?', '(', '{', '\'', '"', ' ']).unwrap_or(rest.len());
        let (name, behind) = rest.split_at(end);
        if name.is_empty() || behind.starts_with(['\\', '*', '?', '(', '{', '\'', '"', ' ']) {
            return None;
        }
        if is_first && matches!(name, "metadata" | "apiVersion" | "kind") {
            return None;
        }
        is_first = false;
        let is_open = schema.flags.any(Flags::PRESERVE_UNKNOWN) || schema.flags.any(Flags::EMBEDDED_RESOURCE);
        schema = match (schema.property(name), schema.additional) {
            (Some(inner), _) | (None, Some(Additional::Schema(inner))) => inner,
            (None, Some(Additional::Allowed(true))) => return None,
            (None, _) => return (!is_open && schema.ty == Type::Object).then_some(name),
        };
        rest = behind.strip_prefix('.')?;
    }
}
