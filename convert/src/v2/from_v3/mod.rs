//! Converts OpenAPI v3 documents to OpenAPI v2, with an entry for every loss.
//!
//! OpenAPI v2 can express less. What it cannot express is left out so that the result accepts everything that the
//! source accepts, and noted with a code, a location and the affected members. [`Options::keep_losses`] adds what was
//! lost to the object where it was lost, and [`restore`] gives the original of such a document.
//!
//! | OpenAPI v3 | OpenAPI v2 |
//! |---|---|
//! | `components.schemas` | `definitions` |
//! | `allOf: [{$ref}]` with description and default | `$ref` with siblings, as Kubernetes publishes it |
//! | `nullable`, `writeOnly`, `deprecated` | `x-nullable`, `x-writeOnly`, `x-deprecated`; with [`Profile::Kube`] nullable values are widened as the API server widens them |
//! | request body | body parameter, forms: `formData` parameters; `consumes` of the operation |
//! | `components.requestBodies` | shared parameters; forms are inlined where they are used |
//! | content of responses | `schema`, `examples`, and `produces` of the operation |
//! | schemas of parameters and headers | simple types |
//! | `style`, `explode` | `collectionFormat` |
//! | servers | `host`, `basePath`, `schemes` |
//! | security schemes | `basic`, `apiKey`, `oauth2` |

mod body;
mod document;
mod losses;
mod operation;
mod parameter;
mod reference;
mod schema;
mod security;
mod server;

pub use losses::{LOSS, Scratch, has_losses, restore};

use crate::{v2, v3};
use body::Shared;
use kubeshape_schema::{Bump, Code, Converted, Note, Profile, Schema};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// How a document is converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// With [`Profile::Faithful`], the result uses everything that Swagger 2.0 and its customary extensions can
    /// express; with [`Profile::Kube`], what the readers of Kubernetes understand, with nullable values widened as in
    /// documents of an API server.
    pub profile: Profile,
    /// Whether the result keeps what is lost, as [`LOSS`] extensions.
    pub keep_losses: bool,
    /// Maximum size of a printed result in bytes. A larger one is not built, and a note [`Code::OutputBudget`] reports
    /// it.
    pub most_bytes: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options { profile: Profile::Faithful, keep_losses: false, most_bytes: usize::MAX }
    }
}

/// Converts a document.
///
/// The notes are the losses, in the order of the walk: definitions, shared objects, then paths. Locations are entries
/// of the tape from which the source was read. There is no value, and an error, if the result would be larger than a
/// GiB in memory.
///
/// # Example
/// ```
/// use kubeshape_convert::v2::from_v3::{Options, convert};
/// use kubeshape_convert::v3;
/// use kubeshape_schema::print::Style;
/// use kubeshape_schema::{Bump, Profile};
/// use kubeshape_yaml::{Limits, Stream, Tape};
///
/// let source = "
/// openapi: 3.0.0
/// info: {title: a, version: '1'}
/// servers: [{url: https://example.com/v1}]
/// paths: {}
/// components:
///   schemas:
///     A: {oneOf: [{type: string}, {type: integer}]}
///     B: {type: object, properties: {a: {$ref: '#/components/schemas/A'}}}
/// ";
/// let mut tape = Tape::new();
/// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
/// let arena = Bump::new();
/// let document = v3::read(tape.document(source).root().unwrap(), &arena, Profile::Faithful).value.unwrap();
/// let converted = convert(&document, &arena, &Options::default());
/// let mut out = Vec::new();
/// converted.value.unwrap().print(&mut out, Style::V2, Profile::Faithful);
/// assert_eq!(
///     String::from_utf8_lossy(&out),
///     concat!(
///         r#"{"schemes":["https"],"swagger":"2.0","info":{"title":"a","version":"1"},"host":"example.com","#,
///         r##""basePath":"/v1","paths":{},"definitions":{"A":{},"##,
///         r##""B":{"type":"object","properties":{"a":{"$ref":"#/definitions/A"}}}}}"##,
///     )
/// );
/// assert_eq!(converted.notes.len(), 1);
/// assert_eq!(converted.notes[0].code.to_string(), "KS2202");
/// assert_eq!(converted.notes[0].detail, "oneOf");
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
pub fn convert<'a>(
    document: &v3::Document<'a>,
    arena: &'a Bump,
    options: &Options,
) -> Converted<'a, Option<v2::Document<'a>>> {
    let components = document.components.copied().unwrap_or_default();
    let mut converter = Converter::new(arena, options.profile, components);
    let mut value = converter.document(document);
    if converter.is_full {
        return Converted { value: None, notes: converter.notes };
    }
    if options.keep_losses {
        match losses::keep(document, &value, options.profile, arena) {
            Ok(kept) => value = kept,
            Err(error) => converter.lose(Code::DownRestore, document.at, error.to_string()),
        }
    }
    Converted { value: Some(value), notes: converter.notes }
}

/// Returns the OpenAPI v2 form of a schema without references, with [`Profile::Faithful`]: what [`convert`] gives for
/// it in a document. The notes are the losses.
///
/// # Example
/// ```
/// use kubeshape_convert::v2::from_v3;
/// use kubeshape_schema::{Bump, Flags, Schema, Type, print};
///
/// let source = Schema { ty: Type::String, flags: Flags::NULLABLE, subtree: Flags::NULLABLE, ..Schema::default() };
/// let arena = Bump::new();
/// let mut out = Vec::new();
/// print::schema(&mut out, from_v3::schema(&source, &arena).value, print::Style::V2);
/// assert_eq!(out, br#"{"type":"string","x-nullable":true}"#);
/// ```
pub fn schema<'a>(schema: &'a Schema<'a>, arena: &'a Bump) -> Converted<'a, &'a Schema<'a>> {
    let mut converter = Converter::new(arena, Profile::Faithful, v3::Components::default());
    let value = converter.schema_in_arena(schema);
    Converted { value, notes: converter.notes }
}

/// The state of a conversion.
struct Converter<'a> {
    arena: &'a Bump,
    profile: Profile,
    components: v3::Components<'a>,
    notes: Vec<Note<'a>>,
    /// The conversions of shared request bodies, by their names.
    bodies: BTreeMap<&'a str, Shared<'a>>,
    /// Names of security schemes that are not in the result, sorted.
    dropped_schemes: Vec<&'a str>,
    /// Whether the result takes more memory than allowed.
    is_full: bool,
}

impl<'a> Converter<'a> {
    fn new(arena: &'a Bump, profile: Profile, components: v3::Components<'a>) -> Self {
        Converter {
            arena,
            profile,
            components,
            notes: Vec::new(),
            bodies: BTreeMap::new(),
            dropped_schemes: Vec::new(),
            is_full: false,
        }
    }

    fn lose(&mut self, code: Code, at: u32, detail: impl Into<Cow<'a, str>>) {
        self.notes.push(Note::new(code, at, detail));
    }

    /// Notes the members that are present.
    fn lose_members(&mut self, code: Code, at: u32, members: &[(&str, bool)]) {
        let there: Vec<&str> = members.iter().filter(|(_, there)| *there).map(|(name, _)| *name).collect();
        if !there.is_empty() {
            self.lose(code, at, there.join(", "));
        }
    }

    /// Notes extensions of an object that has no counterpart.
    fn lose_extensions(&mut self, at: u32, extensions: crate::model::Extensions<'a>) {
        if !extensions.is_empty() {
            let names: Vec<&str> = extensions.iter().map(|(name, _)| *name).collect();
            self.lose(Code::DownObjectExtension, at, names.join(", "));
        }
    }

    fn is_kube(&self) -> bool {
        self.profile == Profile::Kube
    }

    fn slice<T: Copy>(&self, items: &[T]) -> &'a [T] {
        self.arena.alloc_slice_copy(items)
    }
}
