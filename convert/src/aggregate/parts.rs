//! The named parts of a document, for printing.

use crate::document::Document;
use crate::graph::Section;
use crate::graph::rewrite::{Rewriter, callbacks};
use crate::model::{Boxed, Entry, Map, Mapper as _, Member, Printer, Site};
use crate::v3;
use kubeshape_schema::Schema;

/// A named part of a document.
pub(super) enum Part<'p, 'a> {
    /// A definition.
    Definition(&'p Schema<'a>),
    /// Any other part. The function prints it; a given rewriter replaces its references.
    Other(&'p dyn Fn(Option<&mut Rewriter<'_, 'a>>, &mut Printer<'_>)),
}

/// Receives the parts of a document.
pub(super) type Seen<'f, 'a> = dyn FnMut(Section, Part<'_, 'a>) + 'f;

/// Calls `f` for every named part except the paths, in the order in which a [`Graph`](crate::graph::Graph) numbers
/// them.
pub(super) fn each<'a>(document: &Document<'a>, f: &mut Seen<'_, 'a>) {
    match document {
        Document::V2(document) => {
            for definition in document.definitions {
                f(Section::Schemas, Part::Definition(&definition.schema));
            }
            members(document.parameters, (Section::Parameters, Site::Parameter), f);
            members(document.responses, (Section::Responses, Site::Response), f);
            members(document.security_definitions, (Section::SecuritySchemes, Site::SecurityScheme), f);
        }
        Document::V3(document) => {
            let components = components(document);
            for definition in components.schemas {
                f(Section::Schemas, Part::Definition(&definition.schema));
            }
            members(components.parameters, (Section::Parameters, Site::Parameter), f);
            members(components.responses, (Section::Responses, Site::Response), f);
            members(components.request_bodies, (Section::RequestBodies, Site::RequestBody), f);
            members(components.headers, (Section::Headers, Site::Header), f);
            members(components.examples, (Section::Examples, Site::Example), f);
            members(components.links, (Section::Links, Site::Link), f);
            for entry in components.callbacks {
                f(
                    Section::Callbacks,
                    Part::Other(&|rewriter, printer| match rewriter {
                        None => entry.value.print(printer),
                        Some(rewriter) => callback(entry.value, rewriter).print(printer),
                    }),
                );
            }
            members(components.security_schemes, (Section::SecuritySchemes, Site::SecurityScheme), f);
        }
    }
}

fn members<'a, T: Member<'a>>(map: Map<'a, T>, (section, site): (Section, Site), f: &mut Seen<'_, 'a>) {
    for entry in map {
        f(
            section,
            Part::Other(&|rewriter, printer| match rewriter {
                None => entry.value.print(printer),
                Some(rewriter) => entry.value.replace(site, rewriter).print(printer),
            }),
        );
    }
}

/// Returns a callback with other references and other names of security schemes.
fn callback<'a>(value: Boxed<'a, v3::Callback<'a>>, rewriter: &mut Rewriter<'_, 'a>) -> Boxed<'a, v3::Callback<'a>> {
    let value = value.replace(Site::Callback, rewriter);
    let arena = rewriter.arena();
    let map = Map::new(arena.alloc_slice_copy(&[Entry { value, ..Entry::default() }]));
    callbacks(map, rewriter).iter().next().and_then(|entry| entry.value)
}

/// Returns the components of a v3 document.
pub(super) fn components<'a>(document: &v3::Document<'a>) -> v3::Components<'a> {
    document.components.copied().unwrap_or_default()
}
