//! When tracking begins (upstream `NewProbabilisticSkipNonAppliedManager`).

use super::entries::Managed;
use super::object;
use crate::value::Value;

/// The manager of what was there before the first apply.
pub(super) const BEFORE_FIRST_APPLY: &str = "before-first-apply";

/// Whether an update goes untracked: nothing is tracked yet, and this is no creation, or creations do not count.
pub(super) fn skips(managed: &Managed<'_>, live: Value<'_>, from_creation: bool) -> bool {
    managed.fields.is_empty() && !(from_creation && object::meta_text(live, "uid").is_empty())
}
