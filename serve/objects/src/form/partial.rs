//! Metadata without the rest: `PartialObjectMetadata` and its list, `ObjectMeta`, `ListMeta`.

use super::{ListMeta, META_V1, join};
use crate::proto;
use crate::store::Stored;

/// Appends the `PartialObjectMetadata` of an object, which has this [head](partial_head).
pub(crate) fn partial(head: &str, object: &Stored, out: &mut Vec<u8>) {
    out.extend_from_slice(head.as_bytes());
    out.extend_from_slice(&object.metadata());
    out.push(b'}');
}

/// What stands before the metadata of a `PartialObjectMetadata`.
pub(crate) fn partial_head(api_version: &str) -> String {
    format!(r#"{{"kind":"PartialObjectMetadata","apiVersion":"{api_version}","metadata":"#)
}

/// The `PartialObjectMetadataList` of objects.
pub(crate) fn partial_list<'o>(
    api_version: &str,
    objects: impl Iterator<Item = &'o Stored>,
    meta: &ListMeta,
) -> Vec<u8> {
    let (all, head): (Vec<_>, _) = (objects.map(Stored::metadata).collect(), partial_head(api_version));
    // With the brace behind each, and a comma.
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

/// `PartialObjectMetadata` as protobuf, without its frame.
pub(crate) fn partial_protobuf(object: &Stored) -> Vec<u8> {
    let mut out = Vec::new();
    proto::bytes(&mut out, 1, &object.metadata_protobuf());
    out
}

/// `PartialObjectMetadataList` as protobuf, without its frame.
pub(crate) fn partial_list_protobuf<'o>(objects: impl Iterator<Item = &'o Stored>, meta: &ListMeta) -> Vec<u8> {
    let mut out = Vec::new();
    proto::bytes(&mut out, 1, &proto::list_meta(&meta.revision, &meta.token, meta.remaining));
    for object in objects {
        proto::bytes(&mut out, 2, &partial_protobuf(object));
    }
    out
}

/// The metadata of an object as a kind of its own.
pub(crate) fn object_meta(object: &Stored) -> Vec<u8> {
    of_members("ObjectMeta", &object.metadata())
}

/// What a list says of itself as a kind of its own.
pub(crate) fn list_meta(meta: &ListMeta) -> Vec<u8> {
    let mut members = Vec::new();
    meta.typed(&mut members);
    of_members("ListMeta", &members)
}

/// An object with these members behind its kind and version.
fn of_members(kind: &str, members: &[u8]) -> Vec<u8> {
    let mut out = format!(r#"{{"kind":"{kind}","apiVersion":"{META_V1}""#).into_bytes();
    let members = members.strip_prefix(b"{").unwrap_or(members);
    if members != b"}" {
        out.push(b',');
    }
    out.extend_from_slice(members);
    out
}
