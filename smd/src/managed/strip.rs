//! Metadata fields that no manager owns (upstream `NewStripMetaManager`).

use crate::Bump;
use crate::fieldpath::{ManagedFields, PathElement, Set, Stack, VersionedSet};

/// Children of the metadata that a server writes, in order.
const METADATA: [&str; 9] = [
    "clusterName",
    "creationTimestamp",
    "generation",
    "managedFields",
    "name",
    "namespace",
    "resourceVersion",
    "selfLink",
    "uid",
];

/// Returns whether no manager can own the field with this path: `apiVersion`, `kind`, and the metadata fields that a
/// server writes. Upstream's `NewStripMetaManager` removes them from all sets.
pub fn is_system_field(path: &[PathElement<'_>]) -> bool {
    match path {
        [PathElement::FieldName("apiVersion" | "kind"), ..] => true,
        [PathElement::FieldName("metadata"), PathElement::FieldName(name), ..] => METADATA.contains(name),
        _ => false,
    }
}

/// Removes these fields from a manager. A manager that owns nothing else is dropped.
pub(super) fn strip<'a>(fields: &mut ManagedFields<'a>, manager: &'a str, arena: &'a Bump) {
    let Some(owned) = fields.get(manager).copied() else { return };
    let set = owned.set.difference(system_fields(arena), arena);
    if set.is_empty() {
        fields.remove(manager);
    } else {
        fields.insert(manager, VersionedSet { set, ..owned });
    }
}

/// Returns the paths of the fields, built in their order.
fn system_fields(arena: &Bump) -> Set<'_> {
    let mut stack = Stack::default();
    let root = stack.mark();
    for name in ["apiVersion", "kind"] {
        stack.push(PathElement::FieldName(name), true, Set::EMPTY);
    }
    let mark = stack.mark();
    for name in METADATA {
        stack.push(PathElement::FieldName(name), true, Set::EMPTY);
    }
    let metadata = stack.close(mark, arena);
    stack.push(PathElement::FieldName("metadata"), true, metadata);
    stack.close(root, arena)
}
