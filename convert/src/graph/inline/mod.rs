//! Inlines references: replaces each with its target.
//!
//! A definition that contains itself cannot be inlined. In every cycle of references, a few definitions are chosen so
//! that every cycle contains one (`feedback.rs`). With [`Recursion::Keep`], references to these stay, and the
//! definitions stay in the document, themselves inlined. With [`Recursion::Cut`], a reference back into its own cycle
//! becomes a value with unknown fields.
//!
//! Siblings of a reference, and a schema that wraps one (`allOf` with a single branch, as Kubernetes writes it), are
//! merged with it (`merge.rs`): descriptions, defaults and extensions override, restrictions are combined. If one
//! schema cannot express both, `allOf` does. The same values are valid before and after.
//!
//! Definitions stay if no path reaches them, or if the mapping of a discriminator names them; all others are removed.
//! References that lead nowhere, out of the document or into paths stay.
//!
//! Equal schemas share memory, whatever their number. A document that would be too large is detected before it is
//! built.

mod bodies;
mod feedback;
mod merge;
mod objects;

use super::{Graph, Link, PartIndex, Section};
use crate::document::Document;
use crate::kinds::{kind_of, kinds_of};
use crate::model::Map;
use crate::v3;
use bodies::Inliner;
use kubeshape_schema::{Bump, Code, Converted, Note, Property};

/// How recursive definitions are handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Recursion {
    /// References to a few of them stay.
    #[default]
    Keep,
    /// Inside itself, such a definition is any value: `x-kubernetes-preserve-unknown-fields: true`.
    Cut,
}

/// How references are inlined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How recursive definitions are handled.
    pub recursion: Recursion,
    /// Maximum number of schemas of the document, including inner ones.
    pub schemas: u64,
    /// Maximum size of the printed schemas in bytes. A definition is printed at each place where it is inlined.
    pub bytes: u64,
    /// Maximum depth of a schema, in objects and arrays. Readers have a limit, too; kubeshape's is 512 for the whole
    /// document.
    pub depth: u32,
}

impl Default for Options {
    fn default() -> Self {
        Options { recursion: Recursion::Keep, schemas: 10_000_000, bytes: 1 << 28, depth: 500 }
    }
}

/// Selects definitions, as users write it: `Deployment`, `v1/Deployment` or `apps/v1/Deployment`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind<'k> {
    /// The group, if it is given; the empty one is the core group.
    pub group: Option<&'k str>,
    /// The version, if it is given.
    pub version: Option<&'k str>,
    /// The kind.
    pub kind: &'k str,
}

impl<'k> Kind<'k> {
    /// Reads `KIND`, `VERSION/KIND` or `GROUP/VERSION/KIND`.
    pub fn parse(text: &'k str) -> Kind<'k> {
        let mut segments = text.rsplitn(3, '/');
        let kind = segments.next().unwrap_or_default();
        let (version, group) = (segments.next(), segments.next());
        Kind { group, version, kind }
    }

    fn is(&self, (group, version, kind): (&str, &str, &str)) -> bool {
        kind == self.kind
            && self.version.is_none_or(|wanted| wanted == version)
            && self.group.is_none_or(|wanted| wanted == group)
    }

    /// Returns the definitions that list the kind, or else those whose names end with it.
    fn definitions(&self, schemas: &[Property<'_>]) -> Vec<usize> {
        let chosen = |wanted: &dyn Fn(&Property<'_>) -> bool| -> Vec<usize> {
            (0..schemas.len()).filter(|i| wanted(&schemas[*i])).collect()
        };
        let listed = chosen(&|definition| {
            kinds_of(&definition.schema).unwrap_or_default().iter().filter_map(kind_of).any(|kind| self.is(kind))
        });
        if !listed.is_empty() {
            return listed;
        }
        chosen(&|definition| {
            let mut labels = definition.name.rsplit(['.', '/']);
            let kind = labels.next() == Some(self.kind) && kinds_of(&definition.schema).is_none();
            let version = labels.next();
            kind && self.group.is_none() && self.version.is_none_or(|wanted| Some(wanted) == version)
        })
    }
}

/// Returns a document with all references inlined, or `None` if it would be larger than allowed.
///
/// # Example: siblings of a reference override
/// ```
/// use kubeshape_convert::graph::inline::{document, Options};
/// use kubeshape_convert::v3;
/// use kubeshape_schema::{Bump, Profile};
/// use kubeshape_yaml::{Limits, Stream, Tape};
///
/// let source = r##"{"openapi": "3.0.0", "components": {"schemas": {
///     "A": {"properties": {"b": {"description": "this b", "default": {}, "allOf": [{"$ref": "#/components/schemas/B"}]}}},
///     "B": {"description": "any B", "type": "object"}}}}"##;
/// let mut tape = Tape::new();
/// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
/// let arena = Bump::new();
/// let root = tape.document(source).root().unwrap();
/// let whole = v3::read(root, &arena, Profile::Kube).value.unwrap();
/// let inlined = document(&whole, &Options::default(), &arena).value.unwrap();
/// let a = inlined.components.unwrap().schemas[0].schema;
/// let mut out = Vec::new();
/// kubeshape_schema::print::schema(&mut out, &a, kubeshape_schema::print::Style::V3);
/// assert_eq!(out, br#"{"properties":{"b":{"description":"this b","type":"object","default":{}}}}"#);
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
pub fn document<'a>(
    document: &v3::Document<'a>,
    options: &Options,
    arena: &'a Bump,
) -> Converted<'a, Option<v3::Document<'a>>> {
    let graph = Graph::of(&Document::V3(*document));
    let reached = graph.reached_from(graph.section(Section::Paths));
    let mut inliner = Inliner::new(document, &graph, *options, arena);
    let unreached: Vec<PartIndex> =
        graph.section(Section::Schemas).filter(|part| reached.binary_search(part).is_err()).collect();
    let paths = document.paths.map(|paths| &*arena.alloc(inliner.paths(paths)));
    let components = inliner.components(&reached, &unreached);
    let components = document.components.map(|_| &*arena.alloc(components));
    let found = inliner.into_notes();
    finished(v3::Document { paths, components, ..*document }, found, graph.into_notes())
}

/// Returns a document of the definitions of one kind, with all references inlined: no paths, and of the components only
/// the wanted definitions and those that cannot be inlined. Returns `None` if there is no such kind, or if the document
/// would be larger than allowed.
///
/// # Example
/// ```
/// use kubeshape_convert::graph::inline::{kind, Kind, Options};
/// use kubeshape_convert::v3;
/// use kubeshape_schema::{Bump, Profile};
/// use kubeshape_yaml::{Limits, Stream, Tape};
///
/// let source = r##"{"openapi": "3.0.0", "info": {}, "components": {"schemas": {
///     "org.x.v1.A": {"items": {"$ref": "#/components/schemas/org.x.v1.B"},
///         "x-kubernetes-group-version-kind": [{"group": "x.org", "kind": "A", "version": "v1"}]},
///     "org.x.v1.B": {"type": "string"}}}}"##;
/// let mut tape = Tape::new();
/// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
/// let arena = Bump::new();
/// let root = tape.document(source).root().unwrap();
/// let whole = v3::read(root, &arena, Profile::Kube).value.unwrap();
/// let a = kind(&whole, Kind::parse("x.org/v1/A"), &Options::default(), &arena).value.unwrap();
/// let mut out = Vec::new();
/// a.print(&mut out, Profile::Kube);
/// assert_eq!(String::from_utf8(out).unwrap(), concat!(
///     r#"{"openapi":"3.0.0","info":{},"components":{"schemas":{"org.x.v1.A":{"items":{"type":"string"},"#,
///     r#""x-kubernetes-group-version-kind":[{"group":"x.org","kind":"A","version":"v1"}]}}}}"#));
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
pub fn kind<'a>(
    document: &v3::Document<'a>,
    wanted: Kind<'_>,
    options: &Options,
    arena: &'a Bump,
) -> Converted<'a, Option<v3::Document<'a>>> {
    let graph = Graph::of(&Document::V3(*document));
    let schemas = document.components.map_or(&[][..], |components| components.schemas);
    let chosen: Vec<PartIndex> = wanted.definitions(schemas).into_iter().map(PartIndex::new).collect();
    if chosen.is_empty() {
        let all = [wanted.group, wanted.version, Some(wanted.kind)];
        let detail = all.into_iter().flatten().collect::<Vec<_>>().join("/");
        return Converted { value: None, notes: vec![Note::new(Code::NoSuchKind, document.at, detail)] };
    }
    let reached = graph.reached_from(chosen.iter().copied());
    let mut inliner = Inliner::new(document, &graph, *options, arena);
    let components = inliner.components(&reached, &chosen);
    let paths = document.paths.map(|paths| &*arena.alloc(v3::Paths { items: Map::new(&[]), ..*paths }));
    let components = v3::Components { schemas: components.schemas, at: components.at, ..v3::Components::default() };
    let whole = v3::Document { paths, components: Some(arena.alloc(components)), tags: &[], ..*document };
    let places: Vec<u32> = places(&graph, &reached);
    let found = inliner.into_notes();
    let mut out = finished(whole, found, graph.into_notes());
    // Findings about parts that are not in the result are dropped.
    out.notes.retain(|note| places.binary_search(&note.at).is_ok() || note.code == Code::InlineBudget);
    out
}

/// Returns the locations of parts and of their references, sorted.
fn places(graph: &Graph<'_>, parts: &[PartIndex]) -> Vec<u32> {
    let mut out: Vec<u32> = parts.iter().map(|part| graph.part(*part).at).collect();
    for part in parts {
        out.extend(graph.inner().edges(*part).map(|edge| edge.weight().at));
    }
    out.sort_unstable();
    out
}

fn finished<'a>(
    document: v3::Document<'a>,
    (fits, mut notes): (bool, Vec<Note<'a>>),
    of_references: Vec<Note<'a>>,
) -> Converted<'a, Option<v3::Document<'a>>> {
    notes.extend(of_references);
    notes.sort_by_key(|note| (note.at, note.code));
    Converted { value: fits.then_some(document), notes }
}

/// Returns whether inlining follows an edge.
fn is_followed(link: Link) -> bool {
    matches!(link, Link::Reference | Link::Inner)
}
