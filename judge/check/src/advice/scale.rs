//! Advice about the paths of the scale subresource.

use super::path::{Found, find};
use super::{place, schema_of};
use kubeshape_schema::{Code, Flags, Note, Type};
use kubeshape_validate::crd::{Spec, Version};

/// Reports paths to missing fields, or to fields of another type than a scale needs.
pub(super) fn about(spec: &Spec<'_>, version: &Version<'_>, notes: &mut Vec<Note<'static>>) {
    let Some(schema) = schema_of(spec, version) else { return };
    let own = version.node.get("subresources");
    let node = own.or_else(|| spec.member("subresources"));
    let is_first = spec.versions.first().is_some_and(|first| first.node.index() == version.node.index());
    if own.is_none() && !is_first {
        // v1beta1 may define the subresources of all versions in one place.
        return;
    }
    let subresources = version.subresources.or(spec.subresources);
    let Some(scale) = subresources.and_then(|subresources| subresources.scale) else { return };
    let paths = [
        ("specReplicasPath", Some(scale.spec_replicas_path), Type::Integer),
        ("statusReplicasPath", Some(scale.status_replicas_path), Type::Integer),
        ("labelSelectorPath", scale.label_selector_path, Type::String),
    ];
    for (member, path, ty) in paths {
        let Some(path) = path.filter(|path| !path.is_empty()) else { continue };
        let detail = match find(path, schema) {
            Found::Missing(field) => format!("there is no field `{field}` in {path}"),
            Found::Schema(field) if field.flags.any(Flags::INT_OR_STRING) => {
                format!("{path} is an integer or a string, and a scale has {} there", article(ty))
            }
            Found::Schema(field) if field.ty != ty && field.ty != Type::Absent => {
                format!("{path} has the type {}, and a scale has {} there", field.type_name(), article(ty))
            }
            Found::Schema(_) | Found::Unknown => continue,
        };
        let at = node.and_then(|node| node.get("scale")).map_or(version.node.index(), |node| place(node, member));
        notes.push(Note::new(Code::AdviceScale, at, detail));
    }
}

fn article(ty: Type) -> &'static str {
    if ty == Type::Integer { "an integer" } else { "a string" }
}
