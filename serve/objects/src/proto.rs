//! Protobuf messages around objects, as apimachinery's generated code writes them.

pub(crate) use kubeshape_gotypes::proto::{bytes, number, text};

/// Returns the message of a `ListMeta`.
pub(crate) fn list_meta(revision: &str, token: &str, remaining: Option<i64>) -> Vec<u8> {
    let mut out = Vec::new();
    text(&mut out, 1, "");
    text(&mut out, 2, revision);
    text(&mut out, 3, token);
    if let Some(remaining) = remaining {
        number(&mut out, 4, remaining);
    }
    out
}

/// Wraps a message in `k8s\0` and a `runtime.Unknown`.
pub(crate) fn unknown(api_version: &str, kind: &str, message: &[u8]) -> Vec<u8> {
    let mut meta = Vec::new();
    text(&mut meta, 1, api_version);
    text(&mut meta, 2, kind);
    let mut out = b"k8s\0".to_vec();
    bytes(&mut out, 1, &meta);
    bytes(&mut out, 2, message);
    text(&mut out, 3, "");
    text(&mut out, 4, "");
    out
}
