//! The branches of a schema: `allOf`, `anyOf` and `oneOf`.

use kubeshape_schema::{Schema, Type};

/// Returns whether an int-or-string already has the two alternatives.
pub(super) fn says_either(s: &Schema<'_>, crd: bool) -> bool {
    let e = s.extra();
    let pair = |list: &[Schema<'_>]| matches!(list, [a, b] if a.ty == Type::Integer && b.ty == Type::String);
    pair(e.any_of)
        || e.all_of.first().is_some_and(|first| pair(first.extra().any_of))
        || (!crd && (!e.one_of.is_empty() || !e.any_of.is_empty()))
}

pub(super) fn junctors<'a>(s: &Schema<'a>) -> impl Iterator<Item = &'a Schema<'a>> {
    let e = s.extra();
    [e.all_of, e.any_of, e.one_of].into_iter().flatten()
}

/// Returns whether a branch describes fields that the surrounding schema does not declare.
pub(super) fn has_other_fields(s: &Schema<'_>, branch: &Schema<'_>) -> bool {
    !branch.reference.is_empty()
        || branch.additional.is_some()
        || branch.properties.iter().any(|p| s.property(p.name).is_none())
        || junctors(branch).any(|inner| has_other_fields(s, inner))
}
