//! CustomResourceDefinitions from schemas of OpenAPI documents (v2, 3.0, 3.1) and from JSON Schemas.
//!
//! A structural schema has no references, one type per value, and restricts alternatives only by keywords that do not
//! declare fields. So [`definition`] collects what all schemas of a value say (`collect.rs`, `facts.rs`: references,
//! `allOf` and alternatives), declares it once (`spine.rs`), and adds what the alternatives restrict (`branch.rs`), with
//! CEL where no keyword can say it (`rules.rs`).
//!
//! If something cannot be expressed, the result accepts more, and a note has the keyword and its location. So an
//! alternative of `oneOf`, and the schemas of `not` and `if`, are used only if they are expressed exactly.

mod branch;
mod collect;
mod definition;
mod facts;
mod pattern;
mod rules;
mod source;
mod spine;

pub use definition::{Column, Definition, Names, Version};
pub use source::{Candidate, Kind3, candidates};

use facts::Spec;
use kubeshape_schema::{Bump, Code, Flags, Note, Schema, Type};
use kubeshape_yaml::Node;
use source::Language;
use std::collections::BTreeMap;

/// The most nested schemas. Each has two or three levels in the result, which readers limit to 512.
const MOST_DEPTH: usize = 150;
/// The most nested references.
const MOST_REFERENCES: u32 = 64;

/// A schema as the source of a version.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The name of the version: `v1`.
    pub version: &'a str,
    /// The root of the document.
    pub root: Node<'a>,
    /// The schema in it.
    pub schema: Node<'a>,
}

/// Options of [`definition`].
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The most bytes of the definition as JSON.
    pub most_bytes: usize,
}

impl Default for Options {
    /// 1 MiB: etcd stores objects of up to 1.5 MiB, and clients need room for status and annotations.
    fn default() -> Self {
        Options { most_bytes: 1 << 20 }
    }
}

/// A definition, and what it does not express. A note belongs to the source with that number.
#[derive(Clone, Debug)]
pub struct Made<'a> {
    /// The definition; `None` if it is larger than allowed, even without references.
    pub definition: Option<Definition<'a>>,
    /// The notes, in the order of the sources and their documents.
    pub notes: Vec<(usize, Note<'static>)>,
}

/// Creates a definition with a version per source. The first one is stored.
///
/// A schema that does not describe a whole object, with `apiVersion` and `kind`, becomes the `spec` of one.
///
/// # Example
/// ```
/// use kubeshape_convert::crd::{Names, Options, Source, candidates, definition};
/// use kubeshape_schema::Bump;
/// use kubeshape_yaml::{Limits, Stream, Tape};
///
/// let source = "$defs: {size: {type: integer, exclusiveMinimum: 0}}
/// type: object\nproperties: {size: {$ref: '#/$defs/size'}, tags: {type: array, unevaluatedItems: false}}\n";
/// let mut tape = Tape::new();
/// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
/// let root = tape.document(source).node(0);
/// let arena = Bump::new();
/// let made = definition(
///     Names::new("example.com", "Box", &arena),
///     &[Source { version: "v1", root, schema: candidates(root)[0].node }],
///     Options::default(),
///     &arena,
/// );
/// let mut json = Vec::new();
/// made.definition.unwrap().print(&mut json);
/// let size = r#""size":{"type":"integer","minimum":0,"exclusiveMinimum":true}"#;
/// assert!(String::from_utf8(json)?.contains(size));
/// let losses: Vec<String> = made.notes.iter().map(|(_, note)| note.code.to_string()).collect();
/// assert_eq!(losses, ["KS2315", "KS2302"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn definition<'a>(names: Names<'a>, sources: &[Source<'a>], options: Options, arena: &'a Bump) -> Made<'a> {
    let mut notes = Vec::new();
    let mut versions = Vec::new();
    let most = options.most_bytes / sources.len().max(1);
    for (number, source) in sources.iter().enumerate() {
        let (schema, found) = fitting(*source, most, arena);
        notes.extend(found.into_iter().map(|note| (number, note)));
        let Some(schema) = schema else { return Made { definition: None, notes } };
        versions.push(Version::new(source.version, schema, number == 0));
    }
    Made { definition: Some(Definition { names, versions }), notes }
}

/// Converts a schema with the greatest depth of references that fits.
fn fitting<'a>(source: Source<'a>, most: usize, arena: &'a Bump) -> (Option<Schema<'a>>, Vec<Note<'static>>) {
    let run = |depth| {
        let mut converter = Converter::new(source, depth, most, arena);
        let schema = converter.object(source.schema);
        let mut size = Vec::new();
        let fits = !converter.is_over() && {
            kubeshape_schema::print::schema(&mut size, &schema, kubeshape_schema::print::Style::V3);
            size.len() <= most
        };
        (fits.then_some(schema), converter)
    };
    let (schema, converter) = run(MOST_REFERENCES);
    if schema.is_some() {
        return (schema, converter.into_notes());
    }
    let (mut low, mut high, mut best) = (0, converter.deepest.min(MOST_REFERENCES), None);
    while low < high {
        let middle = u32::midpoint(low, high);
        let (schema, converter) = run(middle);
        if schema.is_some() {
            best = Some((schema, converter.into_notes()));
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    best.unwrap_or_else(|| {
        let detail = format!("the schema has more than {most} bytes, even if its references are any value");
        (None, vec![Note::new(Code::OutputBudget, source.schema.index(), detail)])
    })
}

/// The references on the way to a schema.
#[derive(Debug)]
struct Trail<'a> {
    target: u32,
    depth: u32,
    up: Option<&'a Trail<'a>>,
}

impl Trail<'_> {
    fn has(&self, target: u32) -> bool {
        let mut trail = Some(self);
        while let Some(here) = trail {
            if here.target == target {
                return true;
            }
            trail = here.up;
        }
        false
    }
}

/// A schema that must be satisfied.
#[derive(Clone, Copy, Debug)]
struct Conjunct<'a> {
    node: Node<'a>,
    trail: Option<&'a Trail<'a>>,
    /// Whether null is accepted next to the schema.
    or_null: bool,
}

/// Converts the schemas of a document.
struct Converter<'a> {
    arena: &'a Bump,
    root: Node<'a>,
    language: Language,
    /// Whether the document is one of Kubernetes, whose defaults are those of Go's types.
    is_kubernetes: bool,
    notes: Vec<Note<'static>>,
    targets: BTreeMap<&'a str, Option<Node<'a>>>,
    most_depth: u32,
    deepest: u32,
    /// Nested schemas at the moment.
    depth: usize,
    /// An estimate of the bytes of the result and of the work.
    spent: usize,
    most: usize,
}

impl<'a> Converter<'a> {
    fn new(source: Source<'a>, most_depth: u32, most_bytes: usize, arena: &'a Bump) -> Self {
        Converter {
            arena,
            root: source.root,
            language: Language::of(source.root),
            is_kubernetes: source.schema.get("x-kubernetes-group-version-kind").is_some(),
            notes: Vec::new(),
            targets: BTreeMap::new(),
            most_depth,
            deepest: 0,
            depth: 0,
            spent: 0,
            most: most_bytes.saturating_mul(4).saturating_add(1 << 16),
        }
    }

    fn is_over(&self) -> bool {
        self.spent > self.most
    }

    /// Returns the notes in the order of the document. A schema that is used in several places has them once.
    fn into_notes(self) -> Vec<Note<'static>> {
        let mut notes = self.notes;
        notes.sort_by(|a, b| (a.at, a.code, &a.detail).cmp(&(b.at, b.code, &b.detail)));
        notes.dedup();
        notes
    }

    /// Returns the schema of the objects.
    fn object(&mut self, node: Node<'a>) -> Schema<'a> {
        let conjunct = Conjunct { node, trail: None, or_null: false };
        let arena = self.arena;
        let is_whole = source::is_object(node);
        let mut schema = if is_whole {
            self.spine(&Spec::one(conjunct), spine::Level::Root)
        } else {
            self.lose(Code::ToCrdSpec, node.index(), "");
            let spec = self.spine(&Spec::one(conjunct), spine::Level::Field);
            let required: &[&str] = &["spec"];
            Schema {
                ty: Type::Object,
                description: spec.description,
                required,
                properties: arena.alloc_slice_copy(&[spine::property("spec", node.index(), spec)]),
                ..Schema::default()
            }
        };
        let own = [("apiVersion", Type::String), ("kind", Type::String), ("metadata", Type::Object)];
        let mut properties: Vec<_> = schema.properties.to_vec();
        for (name, ty) in own {
            if schema.property(name).is_none() {
                properties.push(spine::property(name, node.index(), Schema::of_type(ty)));
            }
        }
        properties.sort_by(|a, b| kubeshape_schema::order::utf16(a.name, b.name));
        schema.properties = arena.alloc_slice_copy(&properties);
        schema.flags = schema.flags.without(Flags::NULLABLE);
        schema
    }
}
