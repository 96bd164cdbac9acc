//! Resolves simple JSON paths in a schema.

use kubeshape_schema::{Additional, Flags, Schema, Type};

/// The target of a path.
pub(super) enum Found<'p, 's> {
    /// Objects never have this field of the path.
    Missing(&'p str),
    /// A value of this schema.
    Schema(&'s Schema<'s>),
    /// The schema does not describe the target.
    Unknown,
}

/// Follows a path such as `.spec.ports[0].name` or `.status.conditions[?(@.type=="Ready")].status`, as long as it is
/// simple.
pub(super) fn find<'p, 's>(path: &'p str, root: &'s Schema<'s>) -> Found<'p, 's> {
    if [".metadata", ".apiVersion", ".kind"].iter().any(|own| path.starts_with(own)) {
        return Found::Unknown;
    }
    let mut schema = root;
    let mut rest = path;
    while !rest.is_empty() {
        let Some((step, behind)) = step(rest) else { return Found::Unknown };
        rest = behind;
        let Step::Field(name) = step else {
            let Some(item) = schema.item() else { return Found::Unknown };
            schema = item;
            continue;
        };
        let is_open = schema.flags.any(Flags::PRESERVE_UNKNOWN) || schema.flags.any(Flags::EMBEDDED_RESOURCE);
        schema = match (schema.property(name), schema.additional) {
            (Some(inner), _) | (None, Some(Additional::Schema(inner))) => inner,
            (None, Some(Additional::Allowed(true))) => return Found::Unknown,
            (None, _) if is_open || matches!(schema.ty, Type::Absent | Type::Other | Type::Several) => {
                return Found::Unknown;
            }
            (None, _) => return Found::Missing(name),
        };
    }
    Found::Schema(schema)
}

enum Step<'p> {
    Field(&'p str),
    Item,
}

/// Returns the first step of a path, if it is simple, and the rest of the path.
fn step(path: &str) -> Option<(Step<'_>, &str)> {
    if let Some(rest) = path.strip_prefix('.') {
        let end = rest.find(['.', '[', '\\', '*', '?', '(', '{', '\'', '"', ' ']).unwrap_or(rest.len());
        let (name, behind) = rest.split_at(end);
        let is_simple = !name.is_empty() && (behind.is_empty() || behind.starts_with(['.', '[']));
        return is_simple.then_some((Step::Field(name), behind));
    }
    let inside = path.strip_prefix('[')?;
    if let Some(filter) = inside.strip_prefix("?(") {
        let (_, behind) = filter.split_once(")]")?;
        return Some((Step::Item, behind));
    }
    let (index, behind) = inside.split_once(']')?;
    let is_index = index == "*" || !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit());
    is_index.then_some((Step::Item, behind))
}
