//! Definitions that all releases judge alike, so that one of them need not be asked.

use super::model::Definition;
use kubeshape_schema::Flags;

/// What releases judge differently, as [`Change`](crate::Change) and the releases of CEL list it: rules, defaults, and what
/// stands in `allOf`, `anyOf`, `oneOf` and `not`.
const CHANGED: Flags = Flags::VALIDATIONS.with(Flags::DEFAULT).with(Flags::JUNCTOR);

/// Whether every release takes a definition that one release takes, or judges an update of it in the same way: it has nothing of
/// what changed between releases, apart from warnings and from the words of errors.
///
/// `false` says nothing: the releases have to be asked.
pub fn is_judged_alike(definition: &Definition<'_>) -> bool {
    let spec = &definition.spec;
    let selectable = spec.selectable_fields.is_some() || spec.versions.iter().any(|v| v.selectable_fields.is_some());
    !selectable && !spec.schemas().any(|schema| schema.subtree.any(CHANGED))
}
