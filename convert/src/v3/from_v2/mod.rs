//! OpenAPI v3 documents from OpenAPI v2 documents.
//!
//! With [`Profile::Kube`] this is what Kubernetes does for servers that publish no v3 documents, faults
//! included. With [`Profile::Faithful`] nothing is left behind that v3 can say, and documents of Kubernetes
//! servers become what the same servers publish as v3, as far as v2 tells.

mod faithful;
mod kube;
mod kubernetes;
mod names;
mod operation;
mod parameter;
mod schema;

use super::Document;
use crate::model::{Boxed, Map, Texts};
use crate::v2;
use kubeshape_schema::{Bump, Code, Converted, Extra, Flags, Note, Profile, Schema, Type};
use std::borrow::Cow;

/// Converts a document.
///
/// The value is none only with [`Profile::Kube`], where an operation without responses stops Kubernetes'
/// converter; the notes say where. Losses are notes too. Sources of the rules: spec: publishing, §2.1 and
/// §3.2 (upstream: `openapiconv.ConvertV2ToV3`), and the specifications of OpenAPI 2.0 and 3.0.
///
/// A document that says what it lost on its way from v3 ([`has_losses`](crate::v2::from_v3::has_losses)) is
/// for [`restore`](crate::v2::from_v3::restore), which gives the original; here such entries are extensions.
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
    let mut notes = Notes { list: Vec::new() };
    let value = match profile {
        Profile::Kube => kube::document(document, arena, &mut notes),
        Profile::Faithful => Some(faithful::document(document, arena, &mut notes)),
    };
    Converted { value, notes: notes.list }
}

type Text<'a> = bumpalo::collections::String<'a>;

/// The content that was made last of a reference to a definition and a list of media types. The responses of
/// an operation mostly agree in both.
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

/// What was lost and found so far.
struct Notes<'a> {
    list: Vec<Note<'a>>,
}

impl<'a> Notes<'a> {
    fn add(&mut self, code: Code, at: u32, detail: impl Into<Cow<'a, str>>) {
        self.list.push(Note::new(code, at, detail));
    }
}

/// Texts one behind the other.
fn concat<'a>(arena: &'a Bump, parts: &[&str]) -> &'a str {
    let mut out = Text::with_capacity_in(parts.iter().map(|part| part.len()).sum(), arena);
    for part in parts {
        out.push_str(part);
    }
    out.into_bump_str()
}

/// Whether a schema says anything beside its `$ref`.
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

/// Moves a schema's `$ref` into its `allOf`, because v3.0 lets no member stand beside it.
fn wrap<'a>(schema: &mut Schema<'a>, others: &'a [Schema<'a>], arena: &'a Bump) {
    let reference = schema.reference;
    let branch = Schema { reference, flags: Flags::REF, subtree: Flags::REF, at: schema.at, ..Schema::default() };
    let branches =
        arena.alloc_slice_fill_iter(std::iter::once(branch).chain(others.iter().copied()).collect::<Vec<_>>());
    schema.extra = Some(arena.alloc(Extra { all_of: branches, ..*schema.extra() }));
    schema.reference = "";
    schema.flags = schema.flags.without(Flags::REF).with(Flags::JUNCTOR);
    schema.subtree = schema.subtree.with(Flags::JUNCTOR).with(Flags::REF);
}
