//! The kinds of documents.

use kubeshape_discovery::read::DocumentKind;
use kubeshape_schema::{Code, Dialect, Note};
use kubeshape_structural::read::{is_crd, is_list, item_version};
use kubeshape_yaml::{Kind, Node};

/// The kind of a document, by its members.
///
/// # Example
/// ```
/// use kubeshape_input::{Content, Limits, read};
/// use kubeshape_schema::Dialect;
///
/// let input = read("a.yaml", b"swagger: '2.0'\n---\ndefinitions: {}\n---\napiVersion: v1\nkind: Pod\n", Limits::default());
/// let contents: Vec<Content> = input.documents.iter().map(|document| document.content()).collect();
/// assert_eq!(contents, [Content::OpenApi(Dialect::V2), Content::Definitions, Content::Object]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Content {
    /// A CustomResourceDefinition of any version.
    Crd,
    /// An OpenAPI document: it has a member `swagger` or `openapi`.
    OpenApi(Dialect),
    /// Only `definitions`: an OpenAPI v2 document without its head, as Kubernetes' libraries accept it.
    Definitions,
    /// A structured-merge-diff schema: only a list of `types`.
    Smd,
    /// A JSON Schema: `$schema` says so, or it has `$defs`.
    JsonSchema,
    /// A discovery document, `/version`, or the list of paths of `/`.
    Discovery(DocumentKind),
    /// The index of OpenAPI v3 documents, `/openapi/v3`: it has `paths`, and no kind.
    Index,
    /// A list of objects: its kind ends in `List`, and it has `items`.
    List,
    /// Any other object: it has a `kind`.
    Object,
    /// Anything else.
    Other,
}

impl Content {
    /// Returns the kind of the document with this root.
    pub fn of(root: Node<'_>) -> Content {
        if root.kind() != Kind::Map {
            return Content::Other;
        }
        if let Some(dialect) = Dialect::of(root) {
            return Content::OpenApi(dialect);
        }
        let only = |name, kind| root.len() == 1 && root.get(name).is_some_and(|value| value.kind() == kind);
        if only("definitions", Kind::Map) {
            Content::Definitions
        } else if only("types", Kind::Seq) {
            Content::Smd
        } else if is_crd(root) {
            Content::Crd
        } else if is_json_schema(root) {
            Content::JsonSchema
        } else if let Some(kind) = DocumentKind::of_node(root) {
            Content::Discovery(kind)
        } else if root.get("kind").is_none() && root.get("paths").is_some_and(|paths| paths.kind() == Kind::Map) {
            Content::Index
        } else if is_list(root) || item_version(root).is_some() {
            Content::List
        } else if root.get("kind").and_then(Node::as_str).is_some_and(|kind| !kind.is_empty()) {
            Content::Object
        } else {
            Content::Other
        }
    }

    /// Returns the dialect of an OpenAPI document, with or without its head.
    pub fn dialect(self) -> Option<Dialect> {
        match self {
            Content::OpenApi(dialect) => Some(dialect),
            Content::Definitions => Some(Dialect::V2),
            _ => None,
        }
    }

    /// Returns whether the document may contain CustomResourceDefinitions: it is one, a list, or an object of another
    /// kind.
    pub fn has_objects(self) -> bool {
        !matches!(self, Content::OpenApi(_) | Content::Definitions | Content::Smd | Content::JsonSchema)
    }
}

/// Returns whether a document is a JSON Schema.
fn is_json_schema(root: Node<'_>) -> bool {
    let says_so =
        root.get("$schema").and_then(Node::as_str).is_some_and(|address| address.contains("json-schema.org/"));
    says_so || (root.get("kind").is_none() && root.get("$defs").is_some_and(|defs| defs.kind() == Kind::Map))
}

/// Describes a node for messages about one of the wrong kind: `v1 ConfigMap`, `no Kubernetes object`.
pub fn describe(node: Node<'_>) -> String {
    let text = |key| node.get(key).and_then(Node::as_str).unwrap_or_default();
    match (text("apiVersion"), text("kind")) {
        ("", "") => "no Kubernetes object".to_owned(),
        (version, kind) => format!("{version} {kind}").trim().to_owned(),
    }
}

/// Returns the warning about an object that is useless where CustomResourceDefinitions and OpenAPI documents are
/// expected.
pub fn skipped(node: Node<'_>) -> Note<'static> {
    let detail = format!("found {}, expected a CustomResourceDefinition or an OpenAPI document", describe(node));
    Note::new(Code::Skipped, node.index(), detail)
}
