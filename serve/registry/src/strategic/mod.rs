//! Strategic merge patches: how servers and kubectl patch objects of built-in kinds.
//!
//! Lists are merged by the key that the type has (`patchMergeKey` of Go, `x-kubernetes-patch-merge-key` of OpenAPI).
//! Directives of a patch delete and replace (`$patch`, `$deleteFromPrimitiveList`), order (`$setElementOrder`), and
//! clear (`$retainKeys`).
//!
//! - [`apply`] applies a patch to an object,
//! - [`two_way`] creates the patch that turns an object into another one,
//! - [`three_way`] creates the patch of `kubectl apply`, from the last applied configuration, the new one, and the live
//!   object.
//!
//! Upstream: `k8s.io/apimachinery/pkg/util/strategicpatch`. Results are equal to its results. Where upstream depends on
//! the random order of Go's maps, keys are taken in order. Where it panics, there is an [`Error`].
//!
//! # Example: a patch merges a container by its name
//! ```
//! use kubeshape_registry::strategic::{apply, three_way, two_way, ThreeWay};
//! use kubeshape_registry::{Gvk, Registry};
//! use kubeshape_smd::{Bump, ToValue};
//! use serde_json::json;
//!
//! let mut registry = Registry::default();
//! let release: kubeshape_builtin::BuiltInDocuments = "1.36".parse().unwrap();
//! for (path, document) in release.api().openapi_v3_of(|path| path == "api/v1") {
//!     let read = kubeshape_input::read(path, document.as_bytes(), Default::default());
//!     registry.set_built_in(path, read);
//! }
//! let pod = registry.kind(Gvk::new("v1", "Pod")).unwrap();
//! let schema = pod.document_schema();
//!
//! let arena = Bump::new();
//! let map = |json: serde_json::Value| arena.alloc(json).to_value(&arena).as_map().unwrap();
//! let live = map(json!({"spec": {"containers": [{"name": "a", "image": "a:1"}, {"name": "b", "image": "b:1"}]}}));
//! let patch = map(json!({"spec": {"containers": [{"name": "b", "image": "b:2"}]}}));
//! let patched = apply(live, patch, schema, &arena).unwrap();
//! let containers = patched.get("spec").unwrap().get("containers").unwrap().as_list().unwrap();
//! assert_eq!(containers.len(), 2);
//! assert_eq!(two_way(live, patched, schema, &arena).unwrap().get("spec").unwrap().to_serde(),
//!     json!({"$setElementOrder/containers": [{"name": "a"}, {"name": "b"}],
//!            "containers": [{"image": "b:2", "name": "b"}]}));
//!
//! let merge = ThreeWay { original: live, modified: patched, current: live, overwrite: true };
//! assert_eq!(three_way(merge, &[], schema, &arena).unwrap().get("spec").unwrap().to_serde(),
//!     json!({"$setElementOrder/containers": [{"name": "a"}, {"name": "b"}],
//!            "containers": [{"image": "b:2", "name": "b"}]}));
//! ```

mod array;
mod conflict;
mod diff;
mod error;
mod go;
mod list;
mod merge;
mod schema;
mod sort;

use crate::document_schema::DocumentSchema;
use conflict::Conflicts;
use diff::{Contents, Differ};
use kubeshape_smd::value::Map;
use kubeshape_smd::{Bump, Value};
use merge::Merger;
use schema::Type;

pub use error::Error;

/// The maximum number of members and items that a patch may read and write. Lists with many items of the same key could
/// take more time than their size.
const MAX_WORK: usize = 10_000_000;

/// Applies a patch to an object (upstream: `StrategicMergeMapPatch`). Without `schema`, lists are replaced.
///
/// # Errors
/// A directive or a list is invalid.
pub fn apply<'a>(
    live: Map<'a>,
    patch: Map<'a>,
    schema: Option<DocumentSchema<'_>>,
    arena: &'a Bump,
) -> Result<Map<'a>, Error> {
    Merger::of_objects(arena).map(live, patch, Type::new(schema))
}

/// Creates the patch that turns `original` into `modified` (upstream: `CreateTwoWayMergeMapPatch`).
///
/// # Errors
/// An item of a list lacks its merge key, or a field that differs is unknown.
pub fn two_way<'a>(
    original: Map<'a>,
    modified: Map<'a>,
    schema: Option<DocumentSchema<'_>>,
    arena: &'a Bump,
) -> Result<Map<'a>, Error> {
    let contents = Contents { order: true, changes: true, deletions: true };
    Differ::new(arena).maps(original, modified, Type::new(schema), contents, false)
}

/// The inputs of a three-way patch.
#[derive(Clone, Copy, Debug)]
pub struct ThreeWay<'a> {
    /// The last applied configuration. Its fields that `modified` lacks are deleted.
    pub original: Map<'a>,
    /// The configuration to apply.
    pub modified: Map<'a>,
    /// The live object.
    pub current: Map<'a>,
    /// Whether to overwrite changes of others.
    pub overwrite: bool,
}

/// A field that a patch must not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fixed {
    /// A member of the object.
    Member(&'static str),
    /// A member of its metadata.
    Metadata(&'static str),
}

/// The fields that a patch of `kubectl apply` must not change.
pub const KUBECTL: [Fixed; 3] = [Fixed::Member("apiVersion"), Fixed::Member("kind"), Fixed::Metadata("name")];

/// Creates the patch that applies a configuration to the live object: its new or different values, and deletions of
/// values that it no longer has (upstream: `CreateThreeWayMergePatch`).
///
/// # Errors
/// An item of a list lacks its merge key, a field that differs is unknown, the patch changes a fixed field, or it
/// changes fields that others changed, without `overwrite`.
pub fn three_way<'a>(
    merge: ThreeWay<'a>,
    fixed: &[Fixed],
    schema: Option<DocumentSchema<'_>>,
    arena: &'a Bump,
) -> Result<Map<'a>, Error> {
    let ThreeWay { original, modified, current, overwrite } = merge;
    // If objects are compared twice, lists are identified by their addresses.
    let own = |map: Map<'a>| Value::Map(map).copy_into(arena).as_map().unwrap_or(Map::EMPTY);
    let (original, current) = if overwrite { (original, current) } else { (own(original), own(current)) };
    let of = Type::new(schema);
    let differ = Differ::new(arena);
    let delta = Contents { order: true, changes: true, deletions: false };
    let delta = differ.maps(current, modified, of, delta, false)?;
    let deletions = Contents { order: true, changes: false, deletions: true };
    let deletions = differ.maps(original, modified, of, deletions, false)?;
    let patch = Merger::of_patches(arena).map(deletions, delta, of)?;
    check(patch, fixed)?;
    if !overwrite {
        let changes = Contents { order: false, changes: true, deletions: true };
        let changes = differ.again().maps(original, current, of, changes, false)?;
        let conflicts = Conflicts::new(arena);
        if conflicts.objects(patch, changes, of)? {
            return Err(conflicts.error(patch, changes));
        }
        return Ok(conflicts.compared(patch));
    }
    Ok(patch)
}

/// Checks that a patch changes no fixed field.
pub(crate) fn check(patch: Map<'_>, fixed: &[Fixed]) -> Result<(), Error> {
    let is_changed = |fixed: &Fixed| match fixed {
        Fixed::Member(key) => patch.get(key).is_some(),
        Fixed::Metadata(key) => patch.get("metadata").and_then(|metadata| metadata.get(key)).is_some(),
    };
    if fixed.iter().any(is_changed) {
        return Err(Error::Precondition(go::Plain(Value::Map(patch)).to_string()));
    }
    Ok(())
}

/// Returns the error about two merge patches that contradict each other.
pub(crate) fn conflict_of(patch: Map<'_>, changes: Map<'_>) -> Error {
    let arena = Bump::new();
    let own = |map: Map<'_>| Value::Map(map).copy_into(&arena).as_map().unwrap_or(Map::EMPTY);
    Conflicts::new(&arena).error(own(patch), own(changes))
}
