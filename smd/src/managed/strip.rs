//! Fields that nobody owns because the system sets them (upstream `NewStripMetaManager`).

use crate::Bump;
use crate::fieldpath::{ManagedFields, PathElement, Set, SetBuilder, VersionedSet};

/// Children of the metadata, in order.
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

/// Takes the fields of the system from what a manager owns; a manager that owns nothing else is forgotten.
pub(super) fn strip<'a>(fields: &mut ManagedFields<'a>, manager: &'a str, arena: &'a Bump) {
    let Some(owned) = fields.get(manager).copied() else { return };
    let set = owned.set.difference(system_fields(arena), arena);
    if set.is_empty() {
        fields.remove(manager);
    } else {
        fields.insert(manager, VersionedSet { set, ..owned });
    }
}

fn system_fields(arena: &Bump) -> Set<'_> {
    let mut builder = SetBuilder::new(arena);
    for name in ["apiVersion", "kind", "metadata"] {
        builder.insert(&[PathElement::FieldName(name)]);
    }
    for name in METADATA {
        builder.insert(&[PathElement::FieldName("metadata"), PathElement::FieldName(name)]);
    }
    builder.finish()
}
