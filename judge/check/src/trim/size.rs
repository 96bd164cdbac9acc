//! The sizes of definitions.

use super::Fit;
use kubeshape_schema::Bump;
use kubeshape_value::Value;
use kubeshape_yaml::Node;
use kubeshape_yaml::go::escape::{self, Escape};

/// The annotation in which `kubectl apply` keeps the manifest.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// What kubectl writes into a manifest without annotations.
const ANNOTATIONS: &str = r#""annotations":{}"#;
/// What a server adds to a stored definition, in bytes: its status, uid, timestamps, and the owners of its fields.
const SERVER: usize = 16 << 10;

/// Returns the size of a definition.
pub(super) fn of(definition: Node<'_>, fit: Fit) -> usize {
    let json = json(definition).len();
    match fit {
        Fit::Bytes(_) => json,
        Fit::Etcd => json + SERVER,
        Fit::Annotation => annotations(definition, json),
    }
}

/// Returns a value as JSON, as kubectl prints it.
pub(super) fn json(value: Node<'_>) -> Vec<u8> {
    let arena = Bump::new();
    let mut json = Vec::new();
    Value::from_node(value, &arena).write_go_json(&mut json);
    json
}

/// Returns the bytes of all annotations after `kubectl apply`: names and values (`ValidateAnnotationsSize`). kubectl
/// writes the manifest without the annotation of an earlier apply, and ends it with a newline
/// (`util.GetModifiedConfiguration`).
fn annotations(definition: Node<'_>, json: usize) -> usize {
    let metadata = definition.get("metadata");
    let written = metadata.and_then(|metadata| metadata.get("annotations"));
    let pairs = written.into_iter().flat_map(Node::pairs);
    let others = pairs.filter(|(key, _)| key.text() != LAST_APPLIED);
    let others: usize = others.map(|(key, value)| key.text().len() + value.text().len()).sum();
    let mut manifest = json + 1;
    match (written.filter(|written| !written.is_null()), metadata) {
        (Some(written), _) => {
            if let Some(old) = written.get(LAST_APPLIED) {
                let comma = usize::from(written.len() > 1);
                manifest = manifest.saturating_sub(string(LAST_APPLIED) + 1 + string(old.text()) + comma);
            }
        }
        // `null` becomes `{}`.
        (None, Some(_)) if written.is_some() => manifest = (manifest + 2).saturating_sub("null".len()),
        (None, Some(metadata)) if metadata.is_empty() => manifest += ANNOTATIONS.len(),
        (None, Some(_)) => manifest += ANNOTATIONS.len() + 1,
        (None, None) => manifest += ANNOTATIONS.len() + r#","metadata":{}"#.len(),
    }
    others + LAST_APPLIED.len() + manifest
}

/// Returns the bytes of a string as JSON.
pub(super) fn string(text: &str) -> usize {
    let mut out = Vec::new();
    escape::string(&mut out, text, Escape::Html);
    out.len()
}

/// Returns the bytes of a member of an object as JSON, without a comma.
pub(super) fn member(key: &str, value: Node<'_>) -> usize {
    string(key) + 1 + json(value).len()
}
