//! Rules about the metadata of all kinds.

use super::{At, Found};

/// Checks the metadata like that of a new object: `ValidateObjectMeta`, which some kinds call for updates, too.
pub(super) fn metadata(at: &At<'_, '_>, found: &mut Found) {
    found.errors.extend(at.scope.metadata.errors(at.scope.root, at.scope.namespaced));
}

/// `ValidateObjectMetaUpdate`, with the names of finalizers where the kind checks them.
pub(super) fn metadata_of_update(at: &At<'_, '_>, found: &mut Found) {
    let Some(old) = at.scope.old else { return };
    found.errors.extend(at.scope.metadata.errors_of_update(at.scope.root, old));
}
