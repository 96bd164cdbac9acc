//! Finds the root schemas of a document.

use kubeshape_input::Document;
use kubeshape_yaml::Node;

/// What a root schema describes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Root<'d> {
    /// A definition of an OpenAPI document.
    Definition { name: &'d str },
    /// A version of a CustomResourceDefinition.
    Version { group: &'d str, version: &'d str, kind: &'d str },
}

/// The OpenAPI version of a document.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Openapi<'d> {
    V2(Option<Node<'d>>),
    V3(Option<Node<'d>>),
}

/// Returns the OpenAPI version of a document and its definitions; `None` if it is not an OpenAPI document.
pub(crate) fn openapi(root: Node<'_>) -> Option<Openapi<'_>> {
    if root.get("swagger").is_some() {
        Some(Openapi::V2(root.get("definitions")))
    } else if root.get("openapi").is_some() {
        Some(Openapi::V3(root.get("components").and_then(|components| components.get("schemas"))))
    } else {
        None
    }
}

/// Returns the root schemas of an OpenAPI document or of its CustomResourceDefinitions, in source order.
pub(crate) fn roots(document: &Document) -> Vec<(Root<'_>, Node<'_>)> {
    if let Some(Openapi::V2(definitions) | Openapi::V3(definitions)) = openapi(document.root()) {
        let all = definitions.into_iter().flat_map(Node::pairs);
        return all.map(|(name, schema)| (Root::Definition { name: name.text() }, schema)).collect();
    }
    document.objects().into_iter().filter(|object| is_definition(*object)).flat_map(versions).collect()
}

/// Returns whether an object is a CustomResourceDefinition.
pub(crate) fn is_definition(object: Node<'_>) -> bool {
    text(object.get("kind")) == "CustomResourceDefinition"
}

/// Returns the schemas of a CustomResourceDefinition, including the v1beta1 schema for all versions.
pub(crate) fn versions(definition: Node<'_>) -> Vec<(Root<'_>, Node<'_>)> {
    let Some(spec) = definition.get("spec") else { return Vec::new() };
    let (group, kind) = (text(spec.get("group")), text(spec.get("names").and_then(|names| names.get("kind"))));
    let of = |version, schema| (Root::Version { group, version, kind }, schema);
    let mut out = Vec::new();
    if let Some(schema) = spec.get("validation").and_then(|validation| validation.get("openAPIV3Schema")) {
        out.push(of(text(spec.get("version")), schema));
    }
    for version in spec.get("versions").into_iter().flat_map(Node::items) {
        if let Some(schema) = version.get("schema").and_then(|schema| schema.get("openAPIV3Schema")) {
            out.push(of(text(version.get("name")), schema));
        }
    }
    out
}

/// Returns a string, or "" for everything else.
pub(crate) fn text(node: Option<Node<'_>>) -> &str {
    node.and_then(Node::as_str).unwrap_or_default()
}
