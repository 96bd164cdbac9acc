//! Reads protobuf into the messages.

use super::{Document, DocumentKind, ReadError, model};
use crate::wire::{self, MAGIC};
use kubeshape_yaml::{Error, Limits};
use prost::Message;

pub(super) fn read(bytes: &[u8], limits: Limits) -> Result<Document, ReadError> {
    if bytes.len() > limits.bytes {
        let message = format!("found {} bytes, expected at most {}", bytes.len(), limits.bytes);
        return Err(Error { message, offset: limits.bytes, line: 1, column: 1, limit: true }.into());
    }
    let unknown = wire::Unknown::decode(bytes.strip_prefix(MAGIC).unwrap_or(bytes))?;
    let meta = unknown.type_meta.unwrap_or_default();
    let (api_version, kind) = (meta.api_version.unwrap_or_default(), meta.kind.unwrap_or_default());
    let raw = unknown.raw.unwrap_or_default();
    let raw = &*raw;
    Ok(match DocumentKind::of(&api_version, &kind) {
        Some(DocumentKind::Aggregated) => model::aggregated(wire::GroupDiscoveryList::decode(raw)?),
        Some(DocumentKind::Groups) => model::groups(wire::GroupList::decode(raw)?),
        Some(DocumentKind::Group) => Document::Group(model::group_entry(wire::Group::decode(raw)?)),
        Some(DocumentKind::Resources) => model::resources(wire::ResourceList::decode(raw)?)?,
        Some(DocumentKind::Versions) => model::versions(wire::Versions::decode(raw)?),
        // These two have no protobuf form.
        Some(DocumentKind::Paths | DocumentKind::Version) | None => {
            return Err(ReadError::Other(format!("{kind:?} of API version {api_version:?}")));
        }
    })
}
