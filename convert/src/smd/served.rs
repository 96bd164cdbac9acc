//! The types by which a server merges the kinds of a document, found by group, version and kind.
//!
//! A server builds its types from Go and publishes them as documents. Here the types are built from the documents.
//! OpenAPI v3 documents are converted as the server converts its own definitions. Servers omit defaults and other parts
//! from their OpenAPI v2 documents. So these are converted to v3 first, which restores some defaults, and then the
//! defaults of keys of list items are added.

use super::{Options, SmdCompat, SmdError, from_v3};
use crate::jsonschema;
use crate::{v2, v3};
use kubeshape_schema::{Bump, Code, Converted, Dialect, Gvk, Json, Note, NoteKind, Profile, Property, Schema};
use kubeshape_yaml::Node;
use std::collections::BTreeSet;

/// The extension with the kind of a definition or an operation.
const GVK: &str = "x-kubernetes-group-version-kind";

/// The definitions of Kubernetes whose list items have a key with a default. The key is always `protocol`.
const KEYED_BY_PROTOCOL: [&str; 2] = ["io.k8s.api.core.v1.ContainerPort", "io.k8s.api.core.v1.ServicePort"];
const TCP: Json<'static> = Json::Str("TCP");

/// The types of a document and the kinds that have one.
#[derive(Clone, Debug)]
pub struct Served<'a> {
    /// The types.
    pub schema: kubeshape_smd::Schema,
    /// The kinds, sorted.
    pub kinds: Vec<KindType<'a>>,
}

/// A kind and its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindType<'a> {
    /// Group, version and kind.
    pub gvk: Gvk<'a>,
    /// The name of its type.
    pub type_name: &'a str,
    /// Whether its objects have a `/status` subresource, according to the document's paths.
    pub has_status: bool,
    /// Location of its definition's schema in the tape.
    pub at: u32,
}

impl KindType<'_> {
    /// Returns the top-level fields of an object that requests to a subresource (`""` for the object itself) neither
    /// change nor own. For `/status` this is `spec`. Built-in types also ignore parts of the metadata, which differ by
    /// type; documents do not contain them, so these parts are not ignored here.
    pub fn reset_fields(&self, subresource: &str) -> &'static [&'static str] {
        match subresource {
            "" if self.has_status => &["status"],
            "status" if self.has_status => &["spec"],
            _ => &[],
        }
    }
}

/// Converts a document of that dialect to types.
///
/// # Errors
/// A part of the document cannot be read, or a definition has no type.
///
/// # Example
/// ```
/// use kubeshape_schema::Dialect;
/// use kubeshape_convert::smd::{SmdCompat, served};
/// use kubeshape_schema::Bump;
/// use kubeshape_yaml::{Limits, Stream, Tape};
///
/// let source = r#"{"openapi": "3.0.0", "info": {"title": "", "version": ""}, "paths": {}, "components": {"schemas": {
///   "a.Pod": {"type": "object", "x-kubernetes-group-version-kind": [{"group": "", "kind": "Pod", "version": "v1"}]}}}}"#;
/// let mut tape = Tape::new();
/// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
/// let arena = Bump::new();
/// let root = tape.document(source).root().unwrap();
/// let served = served::of_document(root, Dialect::V3, SmdCompat::V63, &arena).unwrap();
/// assert_eq!((served.kinds[0].gvk.kind(), served.kinds[0].type_name), ("Pod", "a.Pod"));
/// assert!(served.schema.find_type("a.Pod").is_some());
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
pub fn of_document<'a>(
    root: Node<'a>,
    dialect: Dialect,
    compat: SmdCompat,
    arena: &'a Bump,
) -> Result<Served<'a>, Vec<Note<'a>>> {
    let (document, notes) = match dialect {
        Dialect::V3 => {
            let profile = if v3::later::is_later(root) { Profile::Faithful } else { Profile::Kube };
            let Converted { value, notes } = v3::read(root, arena, profile);
            (value, notes)
        }
        Dialect::V2 => {
            let Converted { value, mut notes } = v2::read(root, arena, Profile::Faithful);
            let converted = value.map(|document| v3::from_v2::convert(&document, arena, Profile::Faithful));
            let document = converted.and_then(|converted| {
                notes.extend(converted.notes);
                converted.value
            });
            (document, notes)
        }
    };
    let Some(document) = document else { return Err(errors(notes)) };
    let definitions = document.components.map_or(&[][..], |components| components.schemas);
    let definitions = if dialect == Dialect::V2 { with_key_defaults(definitions, arena) } else { definitions };
    let options = Options { compat, profile: Profile::Kube, ..Options::default() };
    let schema =
        from_v3::convert(definitions, options).map_err(|errors| errors.into_iter().map(note).collect::<Vec<_>>())?;
    Ok(Served { schema, kinds: kinds(root, definitions, arena) })
}

/// Returns definitions with the defaults of keys that a server omits from OpenAPI v2 documents.
fn with_key_defaults<'a>(definitions: &'a [Property<'a>], arena: &'a Bump) -> &'a [Property<'a>] {
    let keyed = |property: &Property<'a>| match property.name {
        "protocol" if property.schema.default.is_none() => {
            Property { schema: Schema { default: Some(&TCP), ..property.schema }, ..*property }
        }
        _ => *property,
    };
    arena.alloc_slice_fill_iter(definitions.iter().map(|definition| {
        if !KEYED_BY_PROTOCOL.contains(&definition.name) {
            return *definition;
        }
        let properties = arena.alloc_slice_fill_iter(definition.schema.properties.iter().map(keyed));
        Property { schema: Schema { properties, ..definition.schema }, ..*definition }
    }))
}

fn errors(notes: Vec<Note<'_>>) -> Vec<Note<'_>> {
    notes.into_iter().filter(|note| note.code.kind() == NoteKind::Error).collect()
}

fn note<'a>(error: SmdError) -> Note<'a> {
    Note::new(Code::SmdError, error.at, error.text)
}

/// Returns the kinds among definitions; `root` is the document with the paths. Two definitions of the same kind are
/// both listed, sorted by name.
fn kinds<'a>(root: Node<'a>, definitions: &'a [Property<'a>], arena: &'a Bump) -> Vec<KindType<'a>> {
    let with_status = with_status(root);
    let kinds = jsonschema::kinds(definitions.iter().map(|definition| (definition.name, &definition.schema)), arena);
    let mut by_name: Vec<(&str, u32)> =
        definitions.iter().map(|definition| (definition.name, definition.schema.at)).collect();
    by_name.sort_unstable();
    let at = |name: &str| by_name.binary_search_by(|entry| entry.0.cmp(name)).map_or(0, |found| by_name[found].1);
    let of_kind = |(gvk, type_name): (Gvk<'a>, &'a str)| KindType {
        gvk,
        type_name,
        has_status: with_status.contains(&(gvk.group(), gvk.version(), gvk.kind())),
        at: at(type_name),
    };
    kinds.into_iter().map(of_kind).collect()
}

/// Returns group, version and kind of the kinds with a path for their status.
fn with_status(root: Node<'_>) -> BTreeSet<(&str, &str, &str)> {
    let mut found = BTreeSet::new();
    for (path, item) in root.get("paths").into_iter().flat_map(Node::pairs) {
        if !path.text().ends_with("}/status") {
            continue;
        }
        for kind in item.pairs().filter_map(|(_, operation)| operation.get(GVK)) {
            let text = |name: &str| kind.get(name).and_then(Node::as_str).unwrap_or_default();
            found.insert((text("group"), text("version"), text("kind")));
        }
    }
    found
}
