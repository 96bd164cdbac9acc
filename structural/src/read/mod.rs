//! Reads CustomResourceDefinitions from the tape into [`Crd`].
//!
//! The rules are those of the API server's decoder (`sigs.k8s.io/json`, and the defaulting and conversion functions of
//! `apiextensions/v1` and `v1beta1`). Names of fields are case-sensitive. A null leaves the zero value. Unknown fields
//! are dropped. If any value has the wrong type, the object is rejected. So parts that are not used later (owner
//! references, status, webhooks and others) are read, too.
//!
//! A manifest of `v1beta1` gets the defaults of that version, is converted to `v1`, and gets the defaults of `v1`.

mod fields;
mod meta;
mod scalar;
mod spec;

use crate::written::Spec;
use crate::{ApiVersion, Crd, Status};
use fields::fields;
use kubeshape_schema::{Bump, Code, Converted, Note, read::Reader, read::Rules};
use kubeshape_yaml::{Kind, Node};

const GROUP: &str = "apiextensions.k8s.io/";
const KIND: &str = "CustomResourceDefinition";

/// Reads one CustomResourceDefinition of `apiextensions.k8s.io/v1` or `v1beta1`.
///
/// The value is `None` only if a value has the wrong type ([`Code::WrongType`]) or the API version is unknown
/// ([`Code::WrongApiVersion`]). A definition without versions is read; because there is nothing to publish, the error
/// [`Code::NoVersions`] is noted. Every error is noted with its location. There are warnings for unknown fields, for
/// repeated keys, and for keys that YAML reads as something else than the written text.
///
/// # Example: the versions of a manifest
/// ```
/// use kubeshape_schema::Bump;
/// use kubeshape_structural::read;
/// use kubeshape_yaml::{Limits, Stream, Tape};
///
/// let source = r#"{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
///   "metadata": {"name": "tabs.example.com"}, "spec": {"group": "example.com", "scope": "Cluster",
///   "names": {"plural": "tabs", "kind": "Tab"}, "versions": [{"name": "v1", "served": true, "storage": true,
///     "schema": {"openAPIV3Schema": {"type": "object"}}}]}}"#;
/// let mut tape = Tape::new();
/// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
/// let arena = Bump::new();
/// let crd = read::read(tape.document(source).root().unwrap(), &arena).value.unwrap();
/// assert_eq!(crd.names.list_kind, "TabList");
/// assert!(crd.versions[0].schema.is_some());
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
pub fn read<'a>(node: Node<'a>, arena: &'a Bump) -> Converted<'a, Option<Crd<'a>>> {
    published(decode(node, None, None, arena))
}

/// Reads one CustomResourceDefinition of the given API version. Its own `apiVersion` is ignored, because items of a
/// `CustomResourceDefinitionList` may omit it.
///
/// The value and the notes are as those of [`read`].
pub fn read_as<'a>(node: Node<'a>, version: ApiVersion, arena: &'a Bump) -> Converted<'a, Option<Crd<'a>>> {
    published(decode(node, Some(version), None, arena))
}

/// Returns the definition in the form of v1.
fn published<'a>(decoded: Converted<'a, Option<Decoded<'a>>>) -> Converted<'a, Option<Crd<'a>>> {
    Converted { value: decoded.value.map(|decoded| decoded.crd), notes: decoded.notes }
}

/// A decoded definition, in the two forms that the server uses.
#[derive(Clone, Copy, Debug)]
pub struct Decoded<'a> {
    /// With defaults, converted to v1.
    pub crd: Crd<'a>,
    /// The specification as written.
    pub spec: Spec<'a>,
}

/// Decodes a definition of the given API version. Without one, its `apiVersion` decides. `only` is the node of the
/// version that is read: the others and the status are skipped.
fn decode<'a>(
    node: Node<'a>,
    version: Option<ApiVersion>,
    only: Option<u32>,
    arena: &'a Bump,
) -> Converted<'a, Option<Decoded<'a>>> {
    let mut reader = Reader::new(arena, Rules::Crd);
    if let Some(items) = wrong_items(node) {
        reader.wrong_type(items, "a list of objects");
        return Converted { value: None, notes: reader.into_notes() };
    }
    let version = match version.map_or_else(|| written_version(node), Ok) {
        Ok(version) => version,
        Err(note) => return Converted { value: None, notes: vec![note] },
    };
    let mut name = "";
    let mut status = Status::default();
    let mut spec = Spec::empty(node, false);
    fields(&mut reader, node, "a CustomResourceDefinition", |r, key, value| {
        match key {
            "apiVersion" | "kind" => {
                r.text(value);
            }
            "metadata" => name = meta::object_meta(r, value),
            "spec" => spec = spec::spec(r, value, version, only),
            "status" if only.is_some() => {}
            "status" => status = meta::status(r, value),
            _ => return false,
        }
        true
    });
    if node.is_null() {
        reader.wrong_type(node, "a CustomResourceDefinition");
    }
    let crd = spec::into_crd(&spec, name, version, status, node.index(), arena);
    let failed = reader.failed();
    if crd.versions.is_empty() && !failed {
        reader.note(Note::new(Code::NoVersions, spec.node.index(), "expected at least one entry in spec.versions"));
    }
    Converted { value: (!failed).then_some(Decoded { crd, spec }), notes: reader.into_notes() }
}

/// Returns the API version of a definition. The error is a note.
fn written_version(node: Node<'_>) -> Result<ApiVersion, Note<'_>> {
    let text = text_of(node, "apiVersion");
    version_of(text).ok_or_else(|| {
        let at = node.get("apiVersion").unwrap_or(node).index();
        let detail = format!("found {text:?}, expected \"{GROUP}v1\" or \"{GROUP}v1beta1\"");
        Note::new(Code::WrongApiVersion, at, detail)
    })
}

/// Returns the version of `apiextensions.k8s.io` that an `apiVersion` names.
fn version_of(text: &str) -> Option<ApiVersion> {
    match text.strip_prefix(GROUP)? {
        "v1" => Some(ApiVersion::V1),
        "v1beta1" => Some(ApiVersion::V1beta1),
        _ => None,
    }
}

/// Returns whether this is a CustomResourceDefinition of any version.
///
/// # Example
/// ```
/// # use kubeshape_yaml::{Limits, Stream, Tape};
/// let source = r#"{"apiVersion": "apiextensions.k8s.io/v2", "kind": "CustomResourceDefinition"}"#;
/// let mut tape = Tape::new();
/// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
/// assert!(kubeshape_structural::read::is_crd(tape.document(source).root().unwrap()));
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
pub fn is_crd(node: Node<'_>) -> bool {
    text_of(node, "kind") == KIND && text_of(node, "apiVersion").starts_with(GROUP)
}

/// Returns the API version of items without one: that of the list, if it is a `CustomResourceDefinitionList`.
pub fn item_version(list: Node<'_>) -> Option<ApiVersion> {
    if text_of(list, "kind") != "CustomResourceDefinitionList" {
        return None;
    }
    version_of(text_of(list, "apiVersion"))
}

/// Returns whether this is a list: its kind ends in `List` and its `items` are a list.
pub fn is_list(node: Node<'_>) -> bool {
    text_of(node, "kind").ends_with("List") && node.get("items").is_some_and(|items| items.kind() == Kind::Seq)
}

/// Returns the `items` of a list kind if they are neither a list nor null.
fn wrong_items(node: Node<'_>) -> Option<Node<'_>> {
    let list = item_version(node).is_some() || (text_of(node, "kind") == "List" && text_of(node, "apiVersion") == "v1");
    node.get("items").filter(|items| list && !matches!(items.kind(), Kind::Seq | Kind::Null))
}

/// Returns the objects of a document: the items of a list, or the object itself if it is not a list.
///
/// A list within a list is replaced by its items. They come after the other items of the outer list, because kubectl
/// visits them in this order (`resource.FlattenListVisitor`).
pub fn expand_list(node: Node<'_>) -> Vec<Node<'_>> {
    let mut queue = vec![node];
    let mut objects = Vec::with_capacity(1);
    let mut next = 0;
    while let Some(node) = queue.get(next).copied() {
        next += 1;
        match node.get("items") {
            Some(items) if is_list(node) => queue.extend(items.items()),
            _ => objects.push(node),
        }
    }
    objects
}

/// One CustomResourceDefinition of a document.
#[derive(Clone, Copy, Debug)]
pub struct Manifest<'a> {
    /// The object.
    pub node: Node<'a>,
    /// The API version that the list gives it, if the object names neither `apiVersion` nor `kind`.
    pub implied: Option<ApiVersion>,
}

impl<'a> Manifest<'a> {
    /// Reads it as [`read`] does.
    pub fn read(self, arena: &'a Bump) -> Converted<'a, Option<Crd<'a>>> {
        published(self.decode(arena))
    }

    /// Does the same, and also returns the specification as written.
    pub fn decode(self, arena: &'a Bump) -> Converted<'a, Option<Decoded<'a>>> {
        decode(self.node, self.implied, None, arena)
    }

    /// Reads it with one of its versions, that with this node ([`Version::at`](crate::Version::at)), and without status.
    /// So reading the versions one after the other takes as long as reading them together.
    ///
    /// The notes are about what is read. A definition of v1beta1 without `versions` is read as a whole.
    pub fn read_version(self, at: u32, arena: &'a Bump) -> Converted<'a, Option<Crd<'a>>> {
        published(decode(self.node, self.implied, Some(at), arena))
    }
}

/// Returns the CustomResourceDefinitions of a document, including those in lists, and its objects of other kinds. A
/// list whose `items` have the wrong type is returned as a definition that cannot be read.
///
/// # Example
/// ```
/// # use kubeshape_yaml::{Limits, Stream, Tape};
/// let source = r#"{"apiVersion": "v1", "kind": "List", "items": [
///   {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"},
///   {"apiVersion": "v1", "kind": "ConfigMap"}]}"#;
/// let mut tape = Tape::new();
/// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
/// let (crds, others) = kubeshape_structural::read::manifests(tape.document(source).root().unwrap());
/// assert_eq!((crds.len(), others.len()), (1, 1));
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
pub fn manifests(root: Node<'_>) -> (Vec<Manifest<'_>>, Vec<Node<'_>>) {
    let (mut crds, mut others) = (Vec::new(), Vec::new());
    let mut queue = vec![Manifest { node: root, implied: None }];
    let mut next = 0;
    while let Some(manifest) = queue.get(next).copied() {
        next += 1;
        let node = manifest.node;
        let nameless = text_of(node, "kind").is_empty() && text_of(node, "apiVersion").is_empty();
        if is_crd(node) || (next == 1 && wrong_items(node).is_some()) {
            crds.push(Manifest { node, implied: None });
        } else if nameless && manifest.implied.is_some() && node.kind() == Kind::Map {
            crds.push(manifest);
        } else if let Some(items) = node.get("items").filter(|_| is_list(node)) {
            let implied = item_version(node);
            queue.extend(items.items().map(|node| Manifest { node, implied }));
        } else {
            others.push(node);
        }
    }
    (crds, others)
}

fn text_of<'a>(node: Node<'a>, key: &str) -> &'a str {
    node.get(key).and_then(Node::as_str).unwrap_or_default()
}
