//! Conversion and printing in one walk.
//!
//! A document is mostly paths and definitions. Each of them is converted and printed while it is in the processor's
//! caches, and its memory is reused for the next one.

use super::Notes;
use crate::budget::too_large;
use crate::model::{Member, Object, Printer, print_extensions};
use crate::{v2, v3};
use kubeshape_schema::print::Style;
use kubeshape_schema::{Bump, Code, Converted, Note, Profile, Property, Schema, order};

/// The conversions of the parts of a document, which do not depend on each other.
pub(super) trait Parts {
    /// Returns the name of a definition in v3.
    fn name<'s>(&'s self, definition: &Property<'s>) -> &'s str;

    fn definition<'s>(&'s self, definition: &Property<'s>, arena: &'s Bump, notes: &mut Notes<'s>) -> Schema<'s>;

    fn path_item<'s>(&'s self, item: &v2::PathItem<'s>, arena: &'s Bump, notes: &mut Notes<'s>) -> v3::PathItem<'s>;

    /// Returns the document without its paths and schemas, after all paths.
    fn rest<'s>(&'s self, arena: &'s Bump, notes: &mut Notes<'s>) -> v3::Document<'s>;

    /// Returns whether the converter rejected a part.
    fn has_failed(&self) -> bool {
        false
    }
}

/// Appends the v3 document, unless the converter rejects a part of it. `kept` are the notes so far.
pub(super) fn print(
    document: &v2::Document<'_>,
    parts: &impl Parts,
    mut kept: Vec<Note<'static>>,
    (out, most_bytes): (&mut Vec<u8>, usize),
    profile: Profile,
) -> Converted<'static, bool> {
    let start = out.len();
    let mut arena = Bump::new();
    let mut p = Printer::new(out, Style::V3, profile).within(most_bytes);
    // The first part that exceeds the limit.
    let mut full = None;
    p.open();
    let info = document.info.copied().or((profile == Profile::Faithful).then(v3::Info::default));
    Object::print(&v3::Document { openapi: super::VERSION, info: info.as_ref(), ..v3::Document::default() }, &mut p);
    if document.paths.is_some() || profile == Profile::Faithful {
        let paths = document.paths.copied().unwrap_or_default();
        p.key("paths");
        p.open();
        for entry in &paths.items {
            if full.is_some() {
                break;
            }
            arena.reset();
            let mut notes = Notes::default();
            let item = parts.path_item(&entry.value, &arena, &mut notes);
            p.any_key(entry.name);
            Member::print(&item, &mut p);
            if p.is_full() || notes.are_too_many_bytes() {
                full = Some(entry.at);
            }
            kept.extend(notes.into_owned());
        }
        print_extensions(paths.extensions, &mut p);
        p.close();
    }
    let rest_arena = Bump::new();
    let mut notes = Notes::default();
    let rest = parts.rest(&rest_arena, &mut notes);
    member("servers", &rest.servers, &mut p);
    if rest.components.is_some() || !document.definitions.is_empty() {
        p.key("components");
        p.open();
        definitions(document.definitions, parts, &mut arena, &mut p, &mut kept);
        Object::print(&rest.components.copied().unwrap_or_default(), &mut p);
        p.close();
    }
    member("security", &rest.security, &mut p);
    member("tags", &rest.tags, &mut p);
    member("externalDocs", &rest.external_docs, &mut p);
    print_extensions(rest.extensions, &mut p);
    p.close();
    kept.extend(notes.into_owned());
    if p.is_full() && !kept.iter().any(|note| note.code == Code::OutputBudget) {
        kept.push(too_large(full.unwrap_or(document.at), most_bytes));
    }
    let has_failed = parts.has_failed() || p.is_full() || full.is_some();
    if has_failed {
        out.truncate(start);
    }
    Converted { value: !has_failed, notes: kept }
}

fn definitions(
    definitions: &[Property<'_>],
    parts: &impl Parts,
    arena: &mut Bump,
    p: &mut Printer<'_>,
    kept: &mut Vec<Note<'static>>,
) {
    if definitions.is_empty() {
        return;
    }
    let mut named: Vec<_> = definitions.iter().map(|definition| (parts.name(definition), definition)).collect();
    // New names may sort differently.
    if !named.is_sorted_by(|a, b| order::utf16(a.0, b.0).is_le()) {
        named.sort_by(|a, b| order::utf16(a.0, b.0));
    }
    p.key("schemas");
    p.open();
    for (name, definition) in named {
        if p.is_full() {
            break;
        }
        arena.reset();
        let mut notes = Notes::default();
        let schema = parts.definition(definition, arena, &mut notes);
        p.any_key(name);
        p.schema(&schema);
        kept.extend(notes.into_owned());
    }
    p.close();
}

fn member<'a>(key: &str, member: &impl Member<'a>, p: &mut Printer<'_>) {
    if !member.is_absent() {
        p.key(key);
        member.print(p);
        p.first = false;
    }
}
