//! Maps owners of the replicas between an object and its `/scale` (upstream `ScaleHandler`).

use super::entries::{self, EncodeError};
use super::{DecodeError, Managed};
use crate::Bump;
use crate::fieldpath::{Path, PathElement, Set, SetBuilder, VersionedSet};
use crate::value::{Compat, Value};

/// The path of the replicas in each version of an object. `None` if the version has no `/scale`.
pub type ReplicasPaths<'a> = [(&'a str, Option<&'a Path<'a>>)];

/// Why owners cannot be mapped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScaleError {
    /// Managed fields cannot be read.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// The result cannot be written.
    #[error(transparent)]
    Encode(#[from] EncodeError),
}

const SCALE_VERSION: &str = "autoscaling/v1";
const SCALE_REPLICAS: [PathElement<'static>; 2] = [PathElement::FieldName("spec"), PathElement::FieldName("replicas")];

/// Reads a path as a definition writes it: `.spec.replicas`.
pub fn replicas_path<'a>(text: &'a str, arena: &'a Bump) -> &'a Path<'a> {
    let names: Vec<_> = text.strip_prefix('.').unwrap_or(text).split('.').map(PathElement::FieldName).collect();
    arena.alloc_slice_copy(&names)
}

/// Returns the `managedFields` of the `/scale` of an object with these `managedFields`: the managers that own the
/// replicas.
///
/// # Errors
/// The managed fields cannot be read.
///
/// # Example: who owns the replicas
/// ```
/// use kubeshape_smd::{Bump, ToValue, managed::scale, value::Compat};
/// use serde_json::json;
/// let arena = Bump::new();
/// let entry = |version, fields| json!([{"manager": "me", "operation": "Apply", "apiVersion": version,
///     "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": fields}}]);
/// let of_object = entry("apps/v1", json!({"f:paused": {}, "f:replicas": {}}));
/// let paths = [("apps/v1", Some(scale::replicas_path(".spec.replicas", &arena)))];
/// let of_scale = scale::to_scale(Some(of_object.to_value(&arena)), &paths, Compat::V64, &arena)?;
/// assert_eq!(of_scale.unwrap().to_serde(), entry("autoscaling/v1", json!({"f:replicas": {}})));
/// # Ok::<(), scale::ScaleError>(())
/// ```
pub fn to_scale<'a>(
    parent: Option<Value<'a>>,
    paths: &ReplicasPaths<'a>,
    compat: Compat,
    arena: &'a Bump,
) -> Result<Option<Value<'a>>, ScaleError> {
    let mut managed = entries::decode_as(parent, compat, arena)?;
    let replicas = set_of(&SCALE_REPLICAS, arena);
    managed.fields.retain(|_, fields| {
        let path = entry_of(paths, fields.api_version).and_then(|(_, path)| *path);
        let owned = path.is_some_and(|path| fields.set.has(path));
        *fields = VersionedSet { set: replicas, api_version: SCALE_VERSION, ..*fields };
        owned
    });
    Ok(entries::encode_as(&managed, compat, arena)?)
}

/// Returns the `managedFields` of the object after its `/scale` got these. New owners write at `api_version`.
///
/// Managers that no longer own the replicas lose them. Entries at versions that are not in `paths` are dropped.
///
/// # Errors
/// The managed fields cannot be read.
pub fn to_parent<'a>(
    parent: Option<Value<'a>>,
    scale: Option<Value<'a>>,
    api_version: &'a str,
    paths: &ReplicasPaths<'a>,
    compat: Compat,
    arena: &'a Bump,
) -> Result<Option<Value<'a>>, ScaleError> {
    let mut managed = entries::decode_as(parent, compat, arena)?;
    let mut scale: Managed<'a> = entries::decode_as(scale, compat, arena)?;
    managed.fields.retain(|manager, fields| {
        let Some((_, path)) = entry_of(paths, fields.api_version) else { return false };
        let Some(path) = path.filter(|path| fields.set.has(path)) else { return true };
        if scale.fields.remove(manager).is_some() {
            return true;
        }
        fields.set = fields.set.difference(set_of(path, arena), arena);
        !fields.set.is_empty()
    });
    let set = entry_of(paths, api_version).and_then(|(_, path)| *path).map_or(Set::EMPTY, |path| set_of(path, arena));
    for (manager, fields) in scale.fields.iter().filter(|(_, fields)| fields.set.has(&SCALE_REPLICAS)) {
        managed.fields.insert(manager, VersionedSet { set, api_version, ..*fields });
        if let Some(identifier) = scale.identifier(manager) {
            managed.know(manager, identifier);
        }
    }
    Ok(entries::encode_as(&managed, compat, arena)?)
}

fn entry_of<'p, 'a>(paths: &'p ReplicasPaths<'a>, api_version: &str) -> Option<&'p (&'a str, Option<&'a Path<'a>>)> {
    paths.iter().find(|(version, _)| *version == api_version)
}

fn set_of<'a>(path: &Path<'a>, arena: &'a Bump) -> Set<'a> {
    let mut builder = SetBuilder::new(arena);
    builder.insert(path);
    builder.finish()
}
