//! Lists of group-version-kinds of definitions.

use kubeshape_schema::{Bump, Extra, Json, Schema};

/// The extension of a schema that lists the kinds whose objects it describes.
pub(crate) const KINDS: &str = "x-kubernetes-group-version-kind";

/// Returns the schema with another list of kinds.
pub(crate) fn with_kinds<'a>(schema: &Schema<'a>, list: Json<'a>, arena: &'a Bump) -> Schema<'a> {
    let mut extensions: Vec<_> = schema.extra().extensions.iter().filter(|(name, _)| *name != KINDS).copied().collect();
    extensions.push((KINDS, list));
    extensions.sort_by(|a, b| kubeshape_schema::order::utf16(a.0, b.0));
    let extensions = arena.alloc_slice_copy(&extensions);
    Schema { extra: Some(arena.alloc(Extra { extensions, ..*schema.extra() })), ..*schema }
}

/// Returns the list of kinds of a schema.
pub(crate) fn kinds_of<'a>(schema: &Schema<'a>) -> Option<&'a [Json<'a>]> {
    match schema.extra().extensions.iter().find(|(name, _)| *name == KINDS) {
        Some((_, Json::Array(list))) => Some(list),
        _ => None,
    }
}

/// Returns group, version and kind of an item of a list of kinds.
pub(crate) fn kind_of<'a>(kind: &Json<'a>) -> Option<(&'a str, &'a str, &'a str)> {
    let text = |name| kind.get(name).and_then(Json::as_str);
    Some((text("group")?, text("version")?, text("kind")?))
}

/// Returns the key by which lists of kinds are sorted.
pub(crate) fn sort_key((group, version, kind): (&str, &str, &str)) -> String {
    format!("{group}/{version}.{kind}")
}
