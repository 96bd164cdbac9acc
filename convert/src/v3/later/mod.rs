//! OpenAPI 3.1: [`raise`] converts documents of OpenAPI 3.0 to it, and [`read`](super::read) with
//! [`Profile::Faithful`] reads it as OpenAPI 3.0.
//!
//! A document with schemas in the form of OpenAPI 3.1 is also a [`Document`]: keywords that OpenAPI 3.0 lacks are
//! extensions of its schemas. It is used only for printing.
//!
//! Nothing is lost on the way to OpenAPI 3.1. Members that have another meaning there (members next to a reference,
//! unknown keywords, a list of schemas as `items`) are kept in [`ORIGINAL`], and reading restores them. So a document
//! of OpenAPI 3.0 that becomes OpenAPI 3.1 and comes back has the same bytes.

mod raise;

use super::{Document, Paths};
use crate::model::read_document;
use kubeshape_schema::print::Style;
use kubeshape_schema::read::{KEPT, Language, ORIGINAL};
use kubeshape_schema::{Bump, Code, Converted, Json, Note, Profile};
use kubeshape_yaml::{Kind, Limits, Node, Number, Stream, Tape};

/// The version of OpenAPI that is written.
pub const VERSION: &str = "3.1.0";

/// The version of OpenAPI 3.0 of a document that names none.
const BEFORE: &str = "3.0.0";

/// The extension of a document of OpenAPI 3.1 with the version of the document that it was converted from, unless that
/// is 3.0.0 and has paths.
const VERSION_BEFORE: &str = "x-kubeshape-openapi";

/// Returns whether a document is one of OpenAPI 3.1 or later.
///
/// # Example
/// ```
/// use kubeshape_convert::v3::later::is_later;
/// use kubeshape_yaml::{Limits, Stream, Tape};
///
/// let source = "openapi: 3.1.0\ninfo: {title: t, version: '1'}\n";
/// let mut tape = Tape::new();
/// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
/// assert!(is_later(tape.document(source).root().unwrap()));
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
pub fn is_later(root: Node<'_>) -> bool {
    Language::of(root).is_later
}

/// Reads a document of OpenAPI 3.0, or one of 3.1 as 3.0. With `keeps`, members and keywords that only OpenAPI 3.1 has
/// are kept as extensions, which [`raise`] restores. Otherwise, the notes have them.
pub(super) fn read<'a>(
    root: Node<'a>,
    arena: &'a Bump,
    profile: Profile,
    keeps: bool,
) -> Converted<'a, Option<Document<'a>>> {
    // kube-openapi reads every document as one of OpenAPI 3.0.
    let is_later = profile == Profile::Faithful && is_later(root);
    let read = read_document(root, arena, profile, Language { is_later, keeps });
    if is_later { read.map(|document| document.map(|document| lowered(&document, arena))) } else { read }
}

/// Returns a document that was read from one of OpenAPI 3.1 as one of 3.0.
fn lowered<'a>(document: &Document<'a>, arena: &'a Bump) -> Document<'a> {
    let mut out = *document;
    let before = out.extensions.iter().find(|(name, _)| *name == VERSION_BEFORE).and_then(|(_, value)| value.as_str());
    out.openapi = before.unwrap_or(BEFORE);
    if before.is_some() {
        let others = out.extensions.iter().filter(|(name, _)| *name != VERSION_BEFORE).copied();
        out.extensions = arena.alloc_slice_fill_iter(others.collect::<Vec<_>>());
    }
    // OpenAPI 3.1 does not require paths.
    if before.is_none() && out.paths.is_none() {
        out.paths = Some(arena.alloc(Paths::default()));
    }
    out
}

/// Converts a document of OpenAPI 3.0 to OpenAPI 3.1.
///
/// | OpenAPI 3.0 | OpenAPI 3.1 |
/// |---|---|
/// | `nullable` with a type | `type: [T, 'null']` |
/// | `nullable` with `anyOf`, `oneOf`, `allOf` or `not` | an alternative `type: 'null'` |
/// | `allOf` of one `$ref`, with other members | `$ref` with other members |
/// | boolean `exclusiveMinimum` and `exclusiveMaximum` | numbers |
/// | `example` | `examples` |
/// | the formats `byte` and `binary` | `contentEncoding`, `contentMediaType` |
///
/// The value is `None` if the result would need more than `most_bytes` of memory. The notes say so.
///
/// # Example
/// ```
/// use kubeshape_convert::v3::{self, later};
/// use kubeshape_schema::{Bump, Profile};
/// use kubeshape_yaml::{Limits, Stream, Tape};
///
/// let schemas = r#"{"schemas":{"A":{"type":"string","nullable":true}}}"#;
/// let source = format!(r#"{{"openapi":"3.0.0","info":{{}},"paths":{{}},"components":{schemas}}}"#);
/// let mut tape = Tape::new();
/// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
/// let arena = Bump::new();
/// let document = v3::read(tape.document(&source).root().unwrap(), &arena, Profile::Faithful).value.unwrap();
/// let raised = later::raise(&document, &arena, 1 << 20).value.unwrap();
/// let mut out = Vec::new();
/// raised.print(&mut out, Profile::Faithful);
/// let expected =
///     r#"{"openapi":"3.1.0","info":{},"paths":{},"components":{"schemas":{"A":{"type":["string","null"]}}}}"#;
/// assert_eq!(String::from_utf8_lossy(&out), expected);
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
pub fn raise<'a>(
    document: &Document<'a>,
    arena: &'a Bump,
    most_bytes: usize,
) -> Converted<'static, Option<Document<'a>>> {
    raise::document(document, arena, most_bytes)
}

/// Converts a printed document of OpenAPI 3.0, as JSON, to OpenAPI 3.1: [`raise`] for programs that have only the text.
/// A document that was read with [`read_keeping`](super::read_keeping) gets back what only OpenAPI 3.1 has.
///
/// # Errors
/// A note: the text is not a document, or the result would have more than `most_bytes`.
///
/// # Example
/// ```
/// use kubeshape_convert::v3::later::raise_text;
/// use kubeshape_schema::Profile;
///
/// let text = br#"{"openapi":"3.0.3","info":{"title":"t","version":"1"},"paths":{}}"#;
/// let raised = raise_text(text, Profile::Faithful, 1 << 20).unwrap();
/// let expected = r#"{"openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{},"x-kubeshape-openapi":"3.0.3"}"#;
/// assert_eq!(String::from_utf8_lossy(&raised), expected);
/// ```
pub fn raise_text(json: &[u8], profile: Profile, most_bytes: usize) -> Result<Vec<u8>, Note<'static>> {
    let wrong = |detail: String| Note::new(Code::WrongType, 0, detail);
    let mut tape = Tape::new();
    let mut stream = Stream::new(json, Limits::PRINTED).map_err(|error| wrong(error.to_string()))?;
    let source = stream.source();
    stream.next(&mut tape).transpose().map_err(|error| wrong(error.to_string()))?;
    let root = tape.document(source).root().ok_or_else(|| wrong("expected a document".to_owned()))?;
    let arena = Bump::new();
    let read = read(root, &arena, Profile::Faithful, true);
    let Some(document) = read.value else {
        let note = read.notes.into_iter().find(|note| note.code == Code::WrongType);
        return Err(note.map_or_else(|| wrong("expected a document".to_owned()), Note::into_owned));
    };
    let raised = raise(&document, &arena, most_bytes);
    let mut out = Vec::with_capacity(json.len() + json.len() / 8);
    match raised.value {
        Some(document) if document.print_within(&mut out, profile, most_bytes) => Ok(out),
        _ => Err(crate::budget::too_large(0, most_bytes)),
    }
}

/// Returns a schema as free JSON in the arena; `None` if it cannot be printed.
fn to_json<'a>(schema: &kubeshape_schema::Schema<'_>, arena: &'a Bump) -> Option<Json<'a>> {
    let mut text = Vec::new();
    kubeshape_schema::print::schema(&mut text, schema, Style::V3);
    let mut tape = Tape::new();
    let mut stream = Stream::new(&text, Limits::PRINTED).ok()?;
    let source = stream.source();
    stream.next(&mut tape)?.ok()?;
    Some(copied(tape.document(source).root()?, arena))
}

/// Returns a copy of a value that borrows from the arena only. Numbers are printed as they were.
fn copied<'a>(node: Node<'_>, arena: &'a Bump) -> Json<'a> {
    match node.kind() {
        Kind::Null => Json::Null,
        Kind::True => Json::Bool(true),
        Kind::False => Json::Bool(false),
        Kind::Str => Json::Str(arena.alloc_str(node.text())),
        Kind::Int | Kind::Float => match node.as_number() {
            Some(Number::Int(0)) if node.text().starts_with('-') => Json::Float(-0.0),
            Some(Number::Int(n)) => Json::Int(n),
            number => Json::Float(number.map_or(0.0, Number::as_f64)),
        },
        Kind::Seq => {
            let items: Vec<_> = node.items().map(|item| copied(item, arena)).collect();
            Json::Array(arena.alloc_slice_copy(&items))
        }
        Kind::Map => {
            let members: Vec<(&str, Json<'a>)> =
                node.pairs().map(|(key, value)| (&*arena.alloc_str(key.text()), copied(value, arena))).collect();
            Json::Object(arena.alloc_slice_copy(&members))
        }
    }
}
