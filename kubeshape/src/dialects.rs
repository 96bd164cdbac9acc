//! What is the same for documents of both dialects.

use kubeshape_convert::document::Document;
use kubeshape_convert::v2::from_v3::{self, LOSS, Scratch};
use kubeshape_convert::v3::from_v2;
use kubeshape_convert::{v2, v3};
use kubeshape_schema::print::Style;
use kubeshape_schema::{Bump, Converted, Dialect, NoteKind, Profile, Property};
use kubeshape_yaml::Node;

pub(crate) fn read<'a>(
    root: Node<'a>,
    dialect: Dialect,
    arena: &'a Bump,
    profile: Profile,
) -> Converted<'a, Option<Document<'a>>> {
    match dialect {
        Dialect::V2 => {
            let Converted { value, notes } = v2::read(root, arena, profile);
            Converted { value: value.map(Document::V2), notes }
        }
        Dialect::V3 => {
            let Converted { value, notes } = v3::read(root, arena, profile);
            Converted { value: value.map(Document::V3), notes }
        }
    }
}

pub(crate) fn print(document: &Document<'_>, out: &mut Vec<u8>, profile: Profile) {
    match document {
        Document::V2(document) => document.print(out, Style::V2, profile),
        Document::V3(document) => document.print(out, profile),
    }
}

pub(crate) fn definitions<'a>(document: &Document<'a>) -> &'a [Property<'a>] {
    match document {
        Document::V2(document) => document.definitions,
        Document::V3(document) => document.components.map_or(&[], |components| components.schemas),
    }
}

pub(crate) fn convert<'a>(
    document: &Document<'a>,
    dialect: Dialect,
    source: &str,
    options: &from_v3::Options,
    scratch: &'a mut Scratch,
    arena: &'a Bump,
) -> Converted<'a, Option<Document<'a>>> {
    match (document, dialect) {
        (Document::V2(_), Dialect::V2) | (Document::V3(_), Dialect::V3) => {
            Converted { value: Some(*document), notes: Vec::new() }
        }
        (Document::V2(v2), Dialect::V3) => {
            let keeps = options.profile == Profile::Faithful && source.contains(LOSS);
            let Converted { value, mut notes } =
                if keeps { from_v3::restore(v2, scratch, arena) } else { from_v2::convert(v2, arena, options.profile) };
            if keeps {
                notes.retain(|note| note.code.kind() == NoteKind::Error);
                notes.iter_mut().for_each(|note| note.at = v2.at);
            }
            Converted { value: value.map(Document::V3), notes }
        }
        (Document::V3(v3), Dialect::V2) => {
            let Converted { value, notes } = from_v3::convert(v3, arena, options);
            Converted { value: value.map(Document::V2), notes }
        }
    }
}
