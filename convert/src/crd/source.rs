//! Schemas in documents of every dialect: which there are, and what references lead to.

use kubeshape_schema::Dialect;
use kubeshape_yaml::{Kind, Node, percent, pointer};

/// The language of the schemas of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    /// OpenAPI v2.
    V2,
    /// OpenAPI 3.0.
    V3,
    /// OpenAPI 3.1 and JSON Schema.
    JsonSchema,
}

impl Language {
    pub(super) fn of(root: Node<'_>) -> Language {
        match Dialect::of(root) {
            Some(Dialect::V2) => Language::V2,
            Some(Dialect::V3) => {
                let version = root.get("openapi").map_or("", Node::text);
                if version.starts_with("3.0") || !version.starts_with('3') {
                    Language::V3
                } else {
                    Language::JsonSchema
                }
            }
            None => Language::JsonSchema,
        }
    }

    /// Returns whether members next to a reference restrict the value.
    pub(super) fn has_siblings(self) -> bool {
        self == Language::JsonSchema
    }
}

/// A schema of a document from which a definition can be created.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// The name of the schema; empty if the document itself is a schema without a title.
    pub name: &'a str,
    /// The schema.
    pub node: Node<'a>,
    /// The kind, if the schema describes the objects of exactly one (`x-kubernetes-group-version-kind`).
    pub kind: Option<Kind3<'a>>,
}

/// A group, a version and a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kind3<'a> {
    /// The group; empty for the core group.
    pub group: &'a str,
    /// The version.
    pub version: &'a str,
    /// The kind.
    pub kind: &'a str,
}

/// Returns the schemas of an OpenAPI document of any version, or of a JSON Schema, in the order of the document.
///
/// # Example
/// ```
/// use kubeshape_convert::crd::candidates;
/// use kubeshape_yaml::{Limits, Stream, Tape};
///
/// let source = "openapi: 3.1.0\ncomponents: {schemas: {Pet: {type: object}, Name: {type: string}}}\n";
/// let mut tape = Tape::new();
/// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
/// let names: Vec<&str> = candidates(tape.document(source).node(0)).iter().map(|c| c.name).collect();
/// assert_eq!(names, ["Pet", "Name"]);
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
pub fn candidates(root: Node<'_>) -> Vec<Candidate<'_>> {
    let mut out = Vec::new();
    let sections = match Dialect::of(root) {
        Some(Dialect::V2) => [root.get("definitions"), None],
        Some(Dialect::V3) => [root.get("components").and_then(|components| components.get("schemas")), None],
        None => {
            let is_schema =
                ["type", "properties", "$ref", "allOf", "anyOf", "oneOf", "not", "if", "const", "enum", "items"];
            if is_schema.iter().any(|name| root.get(name).is_some()) {
                let name = root.get("title").and_then(Node::as_str).unwrap_or_default();
                out.push(Candidate { name, node: root, kind: kind_of(root) });
            }
            [root.get("$defs"), root.get("definitions")]
        }
    };
    for (key, node) in sections.into_iter().flatten().flat_map(Node::pairs) {
        if node.kind() == Kind::Map {
            out.push(Candidate { name: key.text(), node, kind: kind_of(node) });
        }
    }
    out
}

/// Returns the kind whose objects a schema describes. Lists and options of requests are no kinds of objects.
fn kind_of(schema: Node<'_>) -> Option<Kind3<'_>> {
    let kinds = schema.get("x-kubernetes-group-version-kind")?;
    let mut kinds = kinds.items();
    let (first, None) = (kinds.next()?, kinds.next()) else { return None };
    let text = |name| first.get(name).and_then(Node::as_str);
    let (group, version, kind) = (text("group")?, text("version")?, text("kind")?);
    let property = |name| schema.get("properties").and_then(|properties| properties.get(name));
    let of_list = |metadata: Node<'_>| {
        let branches = metadata.get("allOf").into_iter().flat_map(Node::items);
        let mut references = std::iter::once(metadata).chain(branches).filter_map(|schema| schema.get("$ref"));
        references.any(|reference| reference.text().ends_with("ListMeta"))
    };
    let is_object = property("metadata").is_some_and(|metadata| !of_list(metadata));
    (is_object && !kind.is_empty()).then_some(Kind3 { group, version, kind })
}

/// Returns whether a schema describes a whole object: it has `apiVersion` and `kind`.
pub(super) fn is_object(schema: Node<'_>) -> bool {
    let property = |name| schema.get("properties").is_some_and(|properties| properties.get(name).is_some());
    property("apiVersion") && property("kind")
}

/// Returns the target of a reference within the document.
pub(super) fn resolve<'a>(root: Node<'a>, reference: &str) -> Option<Node<'a>> {
    let own = root.get("$id").or_else(|| root.get("id")).and_then(Node::as_str);
    let local = match reference.split_once('#') {
        Some(("", fragment)) => Some(fragment),
        Some((base, fragment)) if Some(base) == own.map(|own| own.trim_end_matches('#')) => Some(fragment),
        None if Some(reference) == own => Some(""),
        _ => None,
    };
    match local.map(percent::decode) {
        Some(fragment) if fragment.is_empty() => Some(root),
        Some(fragment) if fragment.starts_with('/') => at(root, &fragment),
        Some(anchor) => bundled(root, |schema| {
            ["$anchor", "$dynamicAnchor"].iter().any(|name| schema.get(name).is_some_and(|n| n.text() == anchor))
                || ["$id", "id"]
                    .iter()
                    .any(|name| schema.get(name).is_some_and(|n| n.text().strip_prefix('#') == Some(&anchor)))
        }),
        None => {
            let (base, fragment) = reference.split_once('#').unwrap_or((reference, ""));
            let schema = bundled(root, |schema| {
                ["$id", "id"].iter().any(|name| schema.get(name).is_some_and(|n| n.text() == base))
            })?;
            at(schema, &percent::decode(fragment))
        }
    }
}

/// Returns the bundled schema for which `is` returns true.
fn bundled<'a>(root: Node<'a>, is: impl Fn(Node<'a>) -> bool) -> Option<Node<'a>> {
    let sections = [
        root.get("$defs"),
        root.get("definitions"),
        root.get("components").and_then(|components| components.get("schemas")),
    ];
    sections.into_iter().flatten().flat_map(Node::pairs).map(|(_, schema)| schema).find(|schema| is(*schema))
}

/// Follows a JSON pointer.
fn at<'a>(root: Node<'a>, path: &str) -> Option<Node<'a>> {
    path.split('/').skip(1).try_fold(root, |node, step| {
        let step = pointer::unescape(step);
        match node.kind() {
            Kind::Seq => node.items().nth(step.parse().ok()?),
            _ => node.get(&step),
        }
    })
}
