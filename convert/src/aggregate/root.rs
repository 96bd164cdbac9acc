//! The root of the result: that of the first document, with gaps for the parts of all documents.

use super::parts::components;
use super::printed;
use crate::document::Document;
use crate::graph::Section;
use crate::model::{Entry, Extensions, Map, Member, Object as _, Printer};
use crate::{v2, v3};
use kubeshape_schema::escape;
use kubeshape_schema::print::Style;
use kubeshape_schema::{Bump, Code, Note, Profile, Property};
use kubeshape_yaml::{Limits, Node, Stream, Tape};
use std::collections::HashMap;

/// A member of the root, of `paths` or of `components`.
#[derive(Debug)]
pub(super) enum Item {
    /// A printed member with its key.
    Member(Box<[u8]>),
    /// The members of an object, with its key: `paths` or `components`.
    Paths(Vec<Item>),
    Components(Vec<Item>),
    /// The members of `paths`, which are directly in it.
    Items,
    /// A section with its name.
    Section(Section, Box<[u8]>),
    /// The tags of all documents.
    Tags,
}

/// The data with which a later document is compared.
#[derive(Debug)]
pub(super) struct Root {
    members: Vec<Vec<u8>>,
    extensions: [Vec<(Box<str>, Vec<u8>)>; 3],
    tags: Vec<u8>,
    tags_by_name: HashMap<Box<str>, Vec<u8>>,
    /// The printed root members that apply to all operations.
    pub(super) security: Vec<u8>,
    pub(super) servers: Vec<u8>,
    pub(super) consumes: Vec<u8>,
    pub(super) produces: Vec<u8>,
    pub(super) schemes: Vec<u8>,
}

/// A root member that only the first document contributes to the result.
struct Single {
    name: &'static str,
    at: u32,
    is_absent: bool,
    text: Vec<u8>,
}

fn single<'a>(name: &'static str, at: u32, member: &impl Member<'a>) -> Single {
    Single { name, at, is_absent: member.is_absent(), text: printed(member) }
}

fn singles(document: &Document<'_>) -> Vec<Single> {
    match document {
        Document::V2(document) => {
            let at = document.at;
            vec![
                single("id", at, &document.id),
                single("swagger", at, &document.swagger),
                single("host", at, &document.host),
                single("basePath", at, &document.base_path),
                single("info", document.info.map_or(at, |info| info.at), &document.info),
                single("externalDocs", document.external_docs.map_or(at, |docs| docs.at), &document.external_docs),
            ]
        }
        Document::V3(document) => {
            let at = document.at;
            vec![
                single("openapi", at, &document.openapi),
                single("info", document.info.map_or(at, |info| info.at), &document.info),
                single("externalDocs", document.external_docs.map_or(at, |docs| docs.at), &document.external_docs),
            ]
        }
    }
}

/// Returns the extensions of the root, of the paths and of the components, with the locations of these objects.
fn all_extensions<'a>(document: &Document<'a>) -> [Option<(Extensions<'a>, u32)>; 3] {
    match document {
        Document::V2(document) => {
            [Some((document.extensions, document.at)), document.paths.map(|paths| (paths.extensions, paths.at)), None]
        }
        Document::V3(document) => [
            Some((document.extensions, document.at)),
            document.paths.map(|paths| (paths.extensions, paths.at)),
            document.components.map(|components| (components.extensions, components.at)),
        ],
    }
}

pub(super) fn tags<'a>(document: &Document<'a>) -> &'a [v3::Tag<'a>] {
    match document {
        Document::V2(document) => document.tags,
        Document::V3(document) => document.tags,
    }
}

/// Tags as they are printed.
pub(super) fn print_tag(tag: &v3::Tag<'_>, out: &mut Vec<u8>, style: Style, profile: Profile) {
    let mut printer = Printer::new(out, style, profile);
    printer.open();
    tag.print(&mut printer);
    printer.close();
}

fn printed_tags(tags: &[v3::Tag<'_>]) -> Vec<u8> {
    let mut out = Vec::new();
    for tag in tags {
        print_tag(tag, &mut out, Style::V3, Profile::Faithful);
    }
    out
}

impl Root {
    /// Returns the data of the first document with which later documents are compared.
    pub(super) fn of(document: &Document<'_>) -> Root {
        let extensions = all_extensions(document).map(|found| {
            let (extensions, _) = found.unwrap_or_default();
            let owned = extensions.iter().map(|(name, value)| ((*name).into(), printed(&Some(*value))));
            owned.collect::<Vec<(Box<str>, Vec<u8>)>>()
        });
        let tags = tags(document);
        let nothing = || printed(&(&[] as &[&str]));
        let (security, servers, consumes, produces, schemes) = match document {
            Document::V2(document) => (
                printed(&document.security),
                Vec::new(),
                printed(&document.consumes),
                printed(&document.produces),
                printed(&document.schemes),
            ),
            Document::V3(document) => {
                (printed(&document.security), printed(&document.servers), nothing(), nothing(), nothing())
            }
        };
        Root {
            members: singles(document).into_iter().map(|member| member.text).collect(),
            extensions,
            tags: printed_tags(tags),
            tags_by_name: tags.iter().map(|tag| (tag.name.into(), printed_tags(&[*tag]))).collect(),
            security,
            servers,
            consumes,
            produces,
            schemes,
        }
    }

    /// Notes root members of a later document that the result lacks.
    pub(super) fn differences<'a>(&self, document: &Document<'a>, notes: &mut Vec<Note<'a>>) {
        for (own, first) in singles(document).into_iter().zip(&self.members) {
            if !own.is_absent && own.text != *first {
                notes.push(Note::new(Code::AggregateDropped, own.at, own.name));
            }
        }
        for (own, first) in all_extensions(document).into_iter().zip(&self.extensions) {
            let (own, at) = own.unwrap_or_default();
            for (name, value) in own {
                let text = printed(&Some(*value));
                if !first.iter().any(|(other, first)| **other == **name && *first == text) {
                    notes.push(Note::new(Code::AggregateDropped, at, *name));
                }
            }
        }
        let own = tags(document);
        if own.is_empty() || printed_tags(own) == self.tags {
            return;
        }
        for tag in own {
            if self.tags_by_name.get(tag.name).is_some_and(|first| *first != printed_tags(&[*tag])) {
                notes.push(Note::new(Code::AggregateDropped, tag.at, format!("tags: {}", tag.name)));
            }
        }
    }
}

/// Returns the members of the root of the first document in printed order.
pub(super) fn items(document: &Document<'_>, style: Style, profile: Profile) -> Vec<Item> {
    let mut text = Vec::new();
    print_with_gaps(document, style, profile, &mut text);
    let Ok(mut stream) = Stream::new(&text, Limits::PRINTED) else { return Vec::new() };
    let source = stream.source();
    let mut tape = Tape::new();
    if !matches!(stream.next(&mut tape), Some(Ok(()))) {
        return Vec::new();
    }
    let sections: &[(&str, Section)] = match document {
        Document::V2(_) => &SECTIONS_V2,
        Document::V3(_) => &SECTIONS_V3,
    };
    let is_v3 = matches!(document, Document::V3(_));
    let pairs = tape.document(source).root().into_iter().flat_map(Node::pairs);
    pairs
        .map(|(key, value)| match key.text() {
            "paths" => Item::Paths(
                value
                    .pairs()
                    .map(|(key, value)| if key.text().is_empty() { Item::Items } else { member(key, value) })
                    .collect(),
            ),
            "components" if is_v3 => {
                Item::Components(value.pairs().map(|(key, value)| gap(key, value, sections)).collect())
            }
            "tags" => Item::Tags,
            _ if is_v3 => member(key, value),
            _ => gap(key, value, sections),
        })
        .collect()
}

const SECTIONS_V2: [(&str, Section); 4] = [
    ("definitions", Section::Schemas),
    ("parameters", Section::Parameters),
    ("responses", Section::Responses),
    ("securityDefinitions", Section::SecuritySchemes),
];

const SECTIONS_V3: [(&str, Section); 9] = [
    ("schemas", Section::Schemas),
    ("securitySchemes", Section::SecuritySchemes),
    ("responses", Section::Responses),
    ("parameters", Section::Parameters),
    ("examples", Section::Examples),
    ("requestBodies", Section::RequestBodies),
    ("links", Section::Links),
    ("headers", Section::Headers),
    ("callbacks", Section::Callbacks),
];

/// Returns the section with this key, or the member itself if it is not a section.
fn gap(key: Node<'_>, value: Node<'_>, sections: &[(&str, Section)]) -> Item {
    match sections.iter().find(|(name, _)| *name == key.text()) {
        Some((name, section)) => Item::Section(*section, key_of(name)),
        None => member(key, value),
    }
}

fn key_of(name: &str) -> Box<[u8]> {
    let mut out = Vec::new();
    escape::string(&mut out, name, escape::Escape::Plain);
    out.push(b':');
    out.into()
}

/// Returns a member as it is printed.
fn member(key: Node<'_>, value: Node<'_>) -> Item {
    let text = key.document().source().as_bytes();
    Item::Member(text.get(key.span().start..value.span().end).unwrap_or_default().into())
}

/// Prints the root of a document. Every section has one member, so that all sections are printed.
fn print_with_gaps(document: &Document<'_>, style: Style, profile: Profile, out: &mut Vec<u8>) {
    let arena = Bump::new();
    let definitions: &[Property<'_>] = arena.alloc_slice_fill_default(1);
    let tags: &[v3::Tag<'_>] = arena.alloc_slice_fill_default(1);
    match document {
        Document::V2(document) => {
            let base = document.paths.copied().unwrap_or_default();
            let paths = v2::Paths { items: one(&arena), ..base };
            let root = v2::Document {
                paths: Some(&paths),
                definitions,
                parameters: one(&arena),
                responses: one(&arena),
                security_definitions: one(&arena),
                tags,
                ..*document
            };
            root.print(out, style, profile);
        }
        Document::V3(document) => {
            let base = document.paths.copied().unwrap_or_default();
            let paths = v3::Paths { items: one(&arena), ..base };
            let own = components(document);
            let components = v3::Components {
                schemas: definitions,
                security_schemes: one(&arena),
                responses: one(&arena),
                parameters: one(&arena),
                examples: one(&arena),
                request_bodies: one(&arena),
                links: one(&arena),
                headers: one(&arena),
                callbacks: one(&arena),
                ..own
            };
            let root = v3::Document { paths: Some(&paths), components: Some(&components), tags, ..*document };
            root.print(out, profile);
        }
    }
}

/// Returns a map with one member without a name.
fn one<T: Default + Copy>(arena: &Bump) -> Map<'_, T> {
    Map::new(arena.alloc_slice_copy(&[Entry::default()]))
}
