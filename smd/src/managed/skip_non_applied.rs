//! When the tracking of owners begins (upstream `NewProbabilisticSkipNonAppliedManager`).

use super::entries::Managed;
use super::object;
use crate::value::Value;

/// The manager of the fields that exist before the first apply.
pub(super) const BEFORE_FIRST_APPLY: &str = "before-first-apply";

/// Returns whether an update is not tracked: the object has no owners yet, and either exists already or is not tracked
/// from its creation.
pub(super) fn skips(managed: &Managed<'_>, live: Value<'_>, from_creation: bool) -> bool {
    managed.fields.is_empty() && !(from_creation && object::meta_text(live, "uid").is_empty())
}
