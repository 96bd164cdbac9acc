//! Advice about printer columns.

use super::path::{Found, find};
use super::{place, schema_of};
use kubeshape_schema::{Code, Note, Schema, Type};
use kubeshape_validate::crd::{Spec, Version};
use kubeshape_yaml::Node;

/// Reports columns that are always empty.
pub(super) fn about(spec: &Spec<'_>, version: &Version<'_>, notes: &mut Vec<Note<'static>>) {
    const FIELD: &str = "additionalPrinterColumns";
    let Some(schema) = schema_of(spec, version) else { return };
    let columns = version.columns.or(spec.columns).unwrap_or_default();
    let node = version.node.get(FIELD).or_else(|| spec.member(FIELD));
    let is_first = spec.versions.first().is_some_and(|first| first.node.index() == version.node.index());
    if version.node.get(FIELD).is_none() && !is_first {
        // v1beta1 may define the columns of all versions in one place.
        return;
    }
    let mut nodes = node.into_iter().flat_map(Node::items);
    for column in columns {
        let node = nodes.next();
        let at = || match node.and_then(|node| node.get("jsonPath")) {
            Some(path) => path.index(),
            None => node.map_or(version.node.index(), |node| place(node, "JSONPath")),
        };
        let path = column.json_path;
        match find(path, schema) {
            Found::Missing(field) => {
                let detail = format!("there is no field `{field}` in {path}");
                notes.push(Note::new(Code::AdviceColumn, at(), detail));
            }
            Found::Schema(field) if !is_shown(column.column_type, field) => {
                let (shown, found) = (column.column_type, field.type_name());
                let detail = format!("a column of type {shown} does not show {path}, which has the type {found}");
                let at = node.map_or_else(at, |node| place(node, "type"));
                notes.push(Note::new(Code::AdviceEmptyColumn, at, detail));
            }
            Found::Schema(_) | Found::Unknown => {}
        }
    }
}

/// Returns whether a column of this type shows some values of a field (upstream: `cellForJSONValue`).
fn is_shown(column_type: &str, field: &Schema<'_>) -> bool {
    match column_type {
        "integer" | "number" => matches!(field.ty, Type::Integer | Type::Number | Type::Absent),
        "boolean" => matches!(field.ty, Type::Boolean | Type::Absent),
        "date" => matches!(field.ty, Type::String | Type::Absent),
        _ => true,
    }
}
