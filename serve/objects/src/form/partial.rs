//! Only metadata: `PartialObjectMetadata` and its list, `ObjectMeta`, `ListMeta`.

use super::{ListMeta, META_V1, join};
use crate::proto;
use crate::store::Stored;

/// Appends the `PartialObjectMetadata` of an object, after this [head](partial_head).
pub(crate) fn partial(head: &str, object: &Stored, out: &mut Vec<u8>) {
    out.extend_from_slice(head.as_bytes());
    out.extend_from_slice(&object.metadata());
    out.push(b'}');
}

/// Returns the bytes before the metadata of a `PartialObjectMetadata`.
pub(crate) fn partial_head(api_version: &str) -> String {
    format!(r#"{{"kind":"PartialObjectMetadata","apiVersion":"{api_version}","metadata":"#)
}

/// Prints the `PartialObjectMetadataList` of objects.
pub(crate) fn partial_list<'o>(
    api_version: &str,
    objects: impl Iterator<Item = &'o Stored>,
    meta: &ListMeta,
) -> Vec<u8> {
    let (all, head): (Vec<_>, _) = (objects.map(Stored::metadata).collect(), partial_head(api_version));
    // Each has a closing brace and a comma.
    let length: usize = all.iter().map(|metadata| head.len() + metadata.len() + 2).sum();
    let mut out = Vec::with_capacity(length + 256);
    out.extend_from_slice(
        format!(r#"{{"kind":"PartialObjectMetadataList","apiVersion":"{api_version}","metadata":"#).as_bytes(),
    );
    meta.typed(&mut out);
    out.extend_from_slice(b",\"items\":[");
    join(all.iter(), &mut out, |metadata, out| {
        out.extend_from_slice(head.as_bytes());
        out.extend_from_slice(metadata);
        out.push(b'}');
    });
    out.extend_from_slice(b"]}");
    out
}

/// Returns the message of a `PartialObjectMetadata`.
pub(crate) fn partial_protobuf(object: &Stored) -> Vec<u8> {
    let mut out = Vec::new();
    proto::bytes(&mut out, 1, &object.metadata_protobuf());
    out
}

/// Returns the message of a `PartialObjectMetadataList`.
pub(crate) fn partial_list_protobuf<'o>(objects: impl Iterator<Item = &'o Stored>, meta: &ListMeta) -> Vec<u8> {
    let mut out = Vec::new();
    proto::bytes(&mut out, 1, &proto::list_meta(&meta.revision, &meta.token, meta.remaining));
    for object in objects {
        proto::bytes(&mut out, 2, &partial_protobuf(object));
    }
    out
}

/// Prints the metadata of an object as an `ObjectMeta`.
pub(crate) fn object_meta(object: &Stored) -> Vec<u8> {
    of_members("ObjectMeta", &object.metadata())
}

/// Prints the metadata of a list as a `ListMeta`.
pub(crate) fn list_meta(meta: &ListMeta) -> Vec<u8> {
    let mut members = Vec::new();
    meta.typed(&mut members);
    of_members("ListMeta", &members)
}

/// Prints an object: kind, version, then these fields.
fn of_members(kind: &str, members: &[u8]) -> Vec<u8> {
    let mut out = format!(r#"{{"kind":"{kind}","apiVersion":"{META_V1}""#).into_bytes();
    let members = members.strip_prefix(b"{").unwrap_or(members);
    if members != b"}" {
        out.push(b',');
    }
    out.extend_from_slice(members);
    out
}
