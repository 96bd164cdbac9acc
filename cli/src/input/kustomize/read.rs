//! Values as kustomize reads them. It reads resources and strategic merge patches with go-yaml's third version, and
//! kustomizations and lists of operations as Kubernetes does. Annotations are strings in the end, as they are written.

use super::Place;
use kubeshape_input::Document;
use kubeshape_smd::value::Map;
use kubeshape_smd::{Bump, Value};
use kubeshape_yaml::number::General;
use kubeshape_yaml::{Flags, Kind, Node};

/// Reads the scalars of resources or of a strategic merge patch. Returns whether the document says something else now.
///
/// # Errors
/// kustomize cannot write what it reads.
pub(super) fn scalars(document: &mut Document) -> Result<bool, String> {
    let read = document.read_as_third();
    let Some(refused) = read.refused else { return Ok(read.is_changed) };
    let node = document.document().node(refused);
    Err(Place(document).wrong(node, "kustomize cannot write what it reads here; put it into quotes"))
}

/// Returns an object with annotations as kustomize writes them, if they are others.
pub(super) fn annotated<'a>(value: Value<'a>, node: Node<'_>, arena: &'a Bump) -> Option<Value<'a>> {
    let annotations = annotations_of(node)?;
    let is_same = annotations.kind() == Kind::Map && !annotations.is_empty() && are_strings(annotations);
    (!is_same).then(|| with_annotations(value, strings(annotations, false, arena), arena))
}

/// Returns a strategic merge patch with annotations as kustomize writes them. A null removes an annotation.
pub(super) fn annotated_patch<'a>(value: Value<'a>, node: Node<'_>, arena: &'a Bump) -> Value<'a> {
    match annotations_of(node).filter(|annotations| annotations.kind() == Kind::Map && !are_strings(*annotations)) {
        Some(annotations) => with_annotations(value, strings(annotations, true, arena), arena),
        None => value,
    }
}

/// Returns an object with annotations as kustomize writes them after a list of operations. The list is JSON for it, and
/// so is the object.
pub(super) fn annotated_as_json<'a>(value: Value<'a>, arena: &'a Bump) -> Value<'a> {
    let annotations = value.get("metadata").and_then(|metadata| metadata.get("annotations"));
    let Some(annotations) = annotations.and_then(Value::as_map) else { return value };
    if annotations.entries().iter().all(|(_, value)| matches!(value, Value::String(_))) {
        return value;
    }
    let string = |value| match value {
        Value::Null => "null",
        Value::Bool(true) => "true",
        Value::Bool(false) => "false",
        Value::String(text) => text,
        #[allow(clippy::cast_precision_loss)]
        Value::Int(n) => arena.alloc_str(&General(n as f64).to_string()),
        Value::Float(n) => arena.alloc_str(&General(n).to_string()),
        Value::List(_) | Value::Map(_) => "",
    };
    let entries = annotations.entries().iter().map(|(name, value)| (*name, Value::String(string(*value))));
    with_annotations(value, Map::from_entries(entries.collect(), arena), arena)
}

fn annotations_of(node: Node<'_>) -> Option<Node<'_>> {
    node.get("metadata")?.get("annotations")
}

/// Returns a scalar as it is written. Of a collection, nothing is left.
fn written(node: Node<'_>) -> &str {
    let source = node.document().source().get(node.span()).filter(|source| !source.contains('\n'));
    match source {
        Some(source) if !node.entry().is_container() && !node.entry().flags.has(Flags::QUOTED) => source,
        _ => node.text(),
    }
}

fn are_strings(annotations: Node<'_>) -> bool {
    annotations.pairs().all(|(_, value)| value.as_str() == Some(written(value)))
}

fn strings<'a>(annotations: Node<'_>, keeps_nulls: bool, arena: &'a Bump) -> Map<'a> {
    let string = |value: Node<'_>| match value.kind() {
        Kind::Null if keeps_nulls => Value::Null,
        _ => Value::String(arena.alloc_str(written(value))),
    };
    let entries = annotations.pairs().map(|(name, value)| (&*arena.alloc_str(name.text()), string(value)));
    Map::from_entries(entries.collect(), arena)
}

/// Returns an object with these annotations, and without the member if there are none.
fn with_annotations<'a>(value: Value<'a>, annotations: Map<'a>, arena: &'a Bump) -> Value<'a> {
    let Some((object, metadata)) = value.as_map().zip(value.get("metadata").and_then(Value::as_map)) else {
        return value;
    };
    let annotations = (!annotations.is_empty()).then_some(Value::Map(annotations));
    let metadata = metadata.with("annotations", annotations, arena);
    Value::Map(object.with("metadata", Some(Value::Map(metadata)), arena))
}
