//! Definitions that two releases judge alike, so that one of them need not be asked.

use super::model::Definition;
use crate::release::{Change, Release};
use kubeshape_schema::Flags;

/// What changed in errors about definitions.
const CHANGES: [Change; 6] = [
    Change::KnownOptionalOldSelf,
    Change::OptionalOldSelf,
    Change::SelectableFields,
    Change::NestedAdditionalPropertiesFalse,
    Change::ShortMessages,
    Change::LabelErrorsOnce,
];

/// Whether two releases give the same errors about a definition; `refused` is whether one of them gives any. `false` if that
/// is not known without asking both. Warnings may differ.
pub fn is_judged_alike(definition: &Definition<'_>, refused: bool, a: Release, b: Release) -> bool {
    let has = |flags: Flags| definition.spec.schemas().any(|schema| schema.subtree.any(flags));
    // Every release has functions and costs of its own.
    let has_rules = has(Flags::VALIDATIONS);
    let matters = |change: &Change| match change {
        Change::KnownOptionalOldSelf | Change::OptionalOldSelf => has_rules,
        Change::SelectableFields => {
            let versions = definition.spec.versions.iter();
            definition.spec.selectable_fields.is_some() || versions.into_iter().any(|v| v.selectable_fields.is_some())
        }
        Change::NestedAdditionalPropertiesFalse => has(Flags::JUNCTOR),
        // These are about the words and the number of errors.
        Change::ShortMessages | Change::LabelErrorsOnce => refused,
        // These are about warnings.
        Change::UnknownStringFormats | Change::NameFormats | Change::UnknownOtherFormats | Change::SetsOfContainers => {
            false
        }
    };
    a == b || (!has_rules && CHANGES.iter().all(|change| a.has(*change) == b.has(*change) || !matters(change)))
}
