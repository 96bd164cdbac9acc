//! Owners of the replicas, seen from the object and from its `/scale` (upstream `ScaleHandler`).

use super::entries::DecodeError;
use crate::Bump;
use crate::fieldpath::Path;
use crate::value::Value;

/// Where each version of an object keeps its replicas; no path if the version has no `/scale`.
pub type ReplicasPaths<'a> = [(&'a str, Option<&'a Path<'a>>)];

/// The `managedFields` of the `/scale` of an object that has these.
///
/// # Errors
/// The managed fields cannot be read.
pub fn to_scale<'a>(
    parent: Option<Value<'a>>,
    paths: &ReplicasPaths<'a>,
    arena: &'a Bump,
) -> Result<Option<Value<'a>>, DecodeError> {
    let _ = (parent, paths, arena);
    todo!()
}

/// The `managedFields` of the object after its `/scale` got these. New owners write at `api_version`.
///
/// # Errors
/// The managed fields cannot be read.
pub fn to_parent<'a>(
    parent: Option<Value<'a>>,
    scale: Option<Value<'a>>,
    api_version: &'a str,
    paths: &ReplicasPaths<'a>,
    arena: &'a Bump,
) -> Result<Option<Value<'a>>, DecodeError> {
    let _ = (parent, scale, api_version, paths, arena);
    todo!()
}
