//! The structs of `metadata` (upstream: `pkg/apis/meta/v1` of `k8s.io/apimachinery`).

use crate::Printed::{Always, Filled, Set};
use crate::Type::{Any, Bool, Int, List, Map, Of, Text, Time};
use crate::{STRING, Struct, Type, numbered};

const UID: Type = Text("types.UID");

/// `ObjectMeta`
pub static OBJECT_META: Struct = Struct {
    name: "ObjectMeta",
    fields: &[
        numbered(1, "name", STRING, Filled),
        numbered(2, "generateName", STRING, Filled),
        numbered(3, "namespace", STRING, Filled),
        numbered(4, "selfLink", STRING, Filled),
        numbered(5, "uid", UID, Filled),
        numbered(6, "resourceVersion", STRING, Filled),
        numbered(7, "generation", Int, Filled),
        numbered(8, "creationTimestamp", Time, Filled),
        numbered(9, "deletionTimestamp", Time, Set),
        numbered(10, "deletionGracePeriodSeconds", Int, Set),
        numbered(11, "labels", Map(&STRING), Filled),
        numbered(12, "annotations", Map(&STRING), Filled),
        numbered(13, "ownerReferences", List(&Of(&OWNER_REFERENCE)), Filled),
        numbered(14, "finalizers", List(&STRING), Filled),
        numbered(17, "managedFields", List(&Of(&MANAGED_FIELDS_ENTRY)), Filled),
    ],
};

/// `OwnerReference`
pub static OWNER_REFERENCE: Struct = Struct {
    name: "OwnerReference",
    fields: &[
        numbered(5, "apiVersion", STRING, Always),
        numbered(1, "kind", STRING, Always),
        numbered(3, "name", STRING, Always),
        numbered(4, "uid", UID, Always),
        numbered(6, "controller", Bool, Set),
        numbered(7, "blockOwnerDeletion", Bool, Set),
    ],
};

/// `ManagedFieldsEntry`
pub static MANAGED_FIELDS_ENTRY: Struct = Struct {
    name: "ManagedFieldsEntry",
    fields: &[
        numbered(1, "manager", STRING, Filled),
        numbered(2, "operation", Text("v1.ManagedFieldsOperationType"), Filled),
        numbered(3, "apiVersion", STRING, Filled),
        numbered(4, "time", Time, Set),
        numbered(6, "fieldsType", STRING, Filled),
        numbered(7, "fieldsV1", Any, Set),
        numbered(8, "subresource", STRING, Filled),
    ],
};
