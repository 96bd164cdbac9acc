//! Converts OpenAPI v2 documents to OpenAPI v3.
//!
//! [`Profile::Kube`] does what Kubernetes does for servers without v3 documents, faults included. [`Profile::Faithful`]
//! keeps everything that v3 can express. It converts the v2 document of a Kubernetes server to the v3 documents of the
//! same server, as far as the v2 document has the information.

mod faithful;
mod kube;
mod kubernetes;
mod names;
mod operation;
mod parameter;
mod print;
mod schema;

use super::Document;
use crate::budget::{MOST_MEMORY, too_large};
use crate::model::{Boxed, Map, Texts};
use crate::v2;
use kubeshape_schema::{Bump, Code, Converted, Extra, Flags, Note, Profile, Schema, Type};
use std::borrow::Cow;

/// Converts a document.
///
/// [`Profile::Kube`] follows kube-openapi's `openapiconv.ConvertV2ToV3`, [`Profile::Faithful`] the specifications of
/// OpenAPI 2.0 and 3.0. The value is `None` only with [`Profile::Kube`]: an operation without responses stops
/// kube-openapi's converter. The notes have its location, and they report every loss.
///
/// If a document was converted from v3 and contains recorded losses ([`has_losses`](crate::v2::from_v3::has_losses)),
/// [`restore`](crate::v2::from_v3::restore) returns the original. This function treats such entries as extensions.
///
/// # Example
/// ```
/// use kubeshape_convert::{v2, v3};
/// use kubeshape_schema::{Bump, Profile};
/// use kubeshape_yaml::{Limits, Stream, Tape};
///
/// let source = r##"{"swagger": "2.0", "info": {"title": "t", "version": "1"}, "host": "example.com", "paths": {},
///     "definitions": {"A": {"$ref": "#/definitions/B", "description": "d"}, "B": {"type": "string"}}}"##;
/// let mut tape = Tape::new();
/// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
/// let arena = Bump::new();
/// let root = tape.document(source).root().unwrap();
/// let document = v2::read(root, &arena, Profile::Faithful).value.unwrap();
/// let document = v3::from_v2::convert(&document, &arena, Profile::Faithful).value.unwrap();
/// let mut out = Vec::new();
/// document.print(&mut out, Profile::Faithful);
/// assert_eq!(
///     String::from_utf8(out)?,
///     concat!(
///         r#"{"openapi":"3.0.0","info":{"title":"t","version":"1"},"paths":{},"servers":[{"url":"//example.com"}],"#,
///         r##""components":{"schemas":{"A":{"description":"d","allOf":[{"$ref":"#/components/schemas/B"}]},"##,
///         r#""B":{"type":"string"}}}}"#
///     )
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn convert<'a>(
    document: &v2::Document<'a>,
    arena: &'a Bump,
    profile: Profile,
) -> Converted<'a, Option<Document<'a>>> {
    let mut notes = Notes::default();
    let value = match profile {
        Profile::Kube => kube::document(document, arena, &mut notes),
        Profile::Faithful => Some(faithful::document(document, arena, &mut notes)),
    };
    let value = value.filter(|_| !notes.are_too_many_bytes());
    Converted { value, notes: notes.list }
}

/// Appends the conversion of a document. The output is that of [`convert`] and [`print`](Document::print), but takes
/// less time and memory: only one path or definition of the v3 document exists at a time.
///
/// If [`convert`] returns `None`, the value is `false` and nothing is appended. The notes are the same, in printed
/// order.
///
/// # Example
/// ```
/// use kubeshape_convert::{v2, v3};
/// use kubeshape_schema::{Profile, Property, Schema, Type};
///
/// let name = Property { name: "Name", at: 0, schema: Schema { ty: Type::String, ..Schema::default() } };
/// let document = v2::Document { swagger: "2.0", definitions: &[name], ..v2::Document::default() };
/// let mut out = Vec::new();
/// assert!(v3::from_v2::print(&document, &mut out, Profile::Faithful).value);
/// assert_eq!(out, br#"{"openapi":"3.0.0","info":{},"paths":{},"components":{"schemas":{"Name":{"type":"string"}}}}"#);
/// ```
pub fn print(document: &v2::Document<'_>, out: &mut Vec<u8>, profile: Profile) -> Converted<'static, bool> {
    print_within(document, out, profile, usize::MAX)
}

/// Does the same, but appends nothing if the JSON exceeds the limit. Then a note has the path or definition.
pub fn print_within(
    document: &v2::Document<'_>,
    out: &mut Vec<u8>,
    profile: Profile,
    most_bytes: usize,
) -> Converted<'static, bool> {
    let out = (out, most_bytes);
    match profile {
        Profile::Kube => print::print(document, &kube::Separate::of(document), Vec::new(), out, profile),
        Profile::Faithful => {
            let arena = Bump::new();
            let mut notes = Notes::default();
            let common = faithful::Common::of(document, &arena, &mut notes);
            print::print(document, &common, notes.into_owned(), out, profile)
        }
    }
}

/// The version of the documents.
const VERSION: &str = "3.0.0";

type Text<'a> = bumpalo::collections::String<'a>;

/// The last content that was built from a reference to a definition and a list of media types. Responses of an
/// operation usually share both.
#[derive(Clone, Copy)]
struct LastContent<'a> {
    reference: &'a str,
    media_types: Texts<'a>,
    content: Map<'a, Boxed<'a, super::MediaType<'a>>>,
}

impl<'a> LastContent<'a> {
    fn new(
        schema: &Schema<'a>,
        media_types: Texts<'a>,
        content: Map<'a, Boxed<'a, super::MediaType<'a>>>,
    ) -> Option<Self> {
        let reference = schema.reference;
        let is_plain = reference.starts_with("#/definitions/") && !has_siblings(schema);
        is_plain.then_some(LastContent { reference, media_types, content })
    }

    fn find(
        last: Option<Self>,
        schema: &Schema<'a>,
        media_types: Texts<'a>,
    ) -> Option<Map<'a, Boxed<'a, super::MediaType<'a>>>> {
        let last = last.filter(|last| last.reference == schema.reference && last.media_types == media_types)?;
        (!has_siblings(schema)).then_some(last.content)
    }
}

/// Losses and findings so far.
#[derive(Default)]
struct Notes<'a> {
    list: Vec<Note<'a>>,
}

impl<'a> Notes<'a> {
    /// Returns whether there is memory for more copies of one part. If not, a note reports this.
    fn has_room(&mut self, at: u32, arena: &Bump) -> bool {
        let has_room = arena.allocated_bytes() <= MOST_MEMORY;
        if !has_room && !self.are_too_many_bytes() {
            self.list.push(too_large(at, MOST_MEMORY));
        }
        has_room
    }

    fn are_too_many_bytes(&self) -> bool {
        self.list.iter().any(|note| note.code == Code::OutputBudget)
    }

    fn add(&mut self, code: Code, at: u32, detail: impl Into<Cow<'a, str>>) {
        self.list.push(Note::new(code, at, detail));
    }

    fn into_owned(self) -> Vec<Note<'static>> {
        self.list.into_iter().map(Note::into_owned).collect()
    }
}

/// Concatenates strings.
fn concat<'a>(arena: &'a Bump, parts: &[&str]) -> &'a str {
    let mut out = Text::with_capacity_in(parts.iter().map(|part| part.len()).sum(), arena);
    for part in parts {
        out.push_str(part);
    }
    out.into_bump_str()
}

/// Returns whether a schema has anything in addition to its `$ref`.
fn has_siblings(schema: &Schema<'_>) -> bool {
    !schema.description.is_empty()
        || schema.default.is_some()
        || schema.ty != Type::Absent
        || !schema.format.is_empty()
        || !schema.enumeration.is_empty()
        || schema.items.is_some()
        || schema.additional.is_some()
        || schema.flags.without(Flags::REF).without(Flags::NOT_STRUCTURAL) != Flags::NONE
        || schema.extra.is_some_and(|extra| *extra != Extra::default())
}

/// Moves a schema's `$ref` into its `allOf`, because v3.0 allows no siblings of `$ref`.
fn wrap<'a>(schema: &mut Schema<'a>, others: &'a [Schema<'a>], arena: &'a Bump) {
    let reference = schema.reference;
    let branch = Schema { reference, flags: Flags::REF, subtree: Flags::REF, at: schema.at, ..Schema::default() };
    let branches = arena.alloc_slice_fill_copy(others.len() + 1, branch);
    branches[1..].copy_from_slice(others);
    schema.extra = Some(arena.alloc(Extra { all_of: branches, ..*schema.extra() }));
    schema.reference = "";
    schema.flags = schema.flags.without(Flags::REF).with(Flags::JUNCTOR);
    schema.subtree = schema.subtree.with(Flags::JUNCTOR).with(Flags::REF);
}
