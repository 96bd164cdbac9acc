//! Objects that SOPS encrypted. Their values are known only after decryption, before they are sent to a server.

use kubeshape_schema::Bump;
use kubeshape_schema::field::ErrorType;
use kubeshape_smd::Value;
use kubeshape_yaml::{Kind, Node};

/// Returns the object without what SOPS adds to it; `None` if SOPS did not encrypt it.
pub(super) fn without_metadata<'v>(value: Value<'v>, arena: &'v Bump) -> Option<Value<'v>> {
    value.get("sops").and_then(|sops| sops.get("mac"))?;
    value.as_map().map(|map| Value::Map(map.with("sops", None, arena)))
}

/// Returns whether a string is an encrypted value: `ENC[AES256_GCM,data:…,type:str]`.
pub(super) fn is_encrypted(text: &str) -> bool {
    text.starts_with("ENC[") && text.ends_with(']')
}

/// Returns whether an error at a position is about encrypted values: the value there, or one that a rule about the
/// value reads.
pub(super) fn is_about_encrypted(place: Node<'_>, error: ErrorType) -> bool {
    let is_about_parts = matches!(error, ErrorType::Invalid | ErrorType::TypeInvalid | ErrorType::Internal);
    match place.kind() {
        Kind::Str => is_encrypted(place.text()),
        Kind::Map | Kind::Seq if is_about_parts => has_encrypted(place),
        _ => false,
    }
}

/// The recursion is bounded, because the reader limits the depth.
fn has_encrypted(node: Node<'_>) -> bool {
    match node.kind() {
        Kind::Str => is_encrypted(node.text()),
        Kind::Map => node.pairs().any(|(_, value)| has_encrypted(value)),
        Kind::Seq => node.items().any(has_encrypted),
        _ => false,
    }
}
