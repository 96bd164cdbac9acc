//! The conversion by the specifications, which keeps everything that v3 can express: documents and components.

use super::kubernetes::Server;
use super::names::{self, Names};
use super::print::Parts;
use super::{LastContent, Notes, concat};
use crate::model::{Boxed, Entry, Map, Texts};
use crate::v3::Security;
use crate::{v2, v3};
use kubeshape_schema::{Bump, Code, Property, Schema};
use std::cell::Cell;
use std::collections::BTreeMap;

pub(super) fn document<'a>(document: &v2::Document<'a>, arena: &'a Bump, notes: &mut Notes<'a>) -> v3::Document<'a> {
    let common = Common::of(document, arena, notes);
    Converter::new(&common, arena, notes).document()
}

/// The shared state of the conversions of all parts of a document.
pub(super) struct Common<'a, 'd> {
    pub(super) document: &'d v2::Document<'a>,
    pub(super) names: Names<'a>,
    /// The types of a Kubernetes server that omits defaults.
    pub(super) server: Option<Server<'a>>,
    /// One for each shared parameter of the document.
    pub(super) shared: Vec<Shared<'a>>,
}

/// A shared parameter of the document, and its conversion.
pub(super) struct Shared<'a> {
    /// The parameter for operations; `None` if it is part of a body.
    pub(super) parameter: Option<v3::Parameter<'a>>,
    /// Whether operations get a copy instead of a reference.
    pub(super) is_inlined: bool,
    pub(super) is_used: Cell<bool>,
}

pub(super) struct Converter<'a, 'n> {
    pub(super) arena: &'a Bump,
    pub(super) notes: &'n mut Notes<'a>,
    pub(super) common: &'n Common<'a, 'n>,
    /// The types of a Kubernetes server, as long as a type with defaults is converted.
    pub(super) restoring: Option<Server<'a>>,
    /// Whether the type that is converted got a default.
    pub(super) restored: bool,
    /// The last body that was built from a shared parameter, with its media types, by the parameter's number.
    pub(super) bodies: BTreeMap<usize, (Texts<'a>, &'a v3::RequestBody<'a>)>,
    pub(super) last: Option<LastContent<'a>>,
}

impl<'a, 'd> Common<'a, 'd> {
    pub(super) fn of(document: &'d v2::Document<'a>, arena: &'a Bump, notes: &mut Notes<'a>) -> Self {
        let names = Names::of(document, arena, notes);
        let mut common = Common { document, names, server: Server::of(document.definitions), shared: Vec::new() };
        for entry in &document.parameters {
            let shared = Converter::new(&common, arena, notes).shared_parameter(entry);
            common.shared.push(shared);
        }
        common
    }
}

impl Parts for Common<'_, '_> {
    fn name<'s>(&'s self, definition: &Property<'s>) -> &'s str {
        self.names.schemas.name(definition.name)
    }

    fn definition<'s>(&'s self, definition: &Property<'s>, arena: &'s Bump, notes: &mut Notes<'s>) -> Schema<'s> {
        Converter::new(self, arena, notes).definition(definition)
    }

    fn path_item<'s>(&'s self, item: &v2::PathItem<'s>, arena: &'s Bump, notes: &mut Notes<'s>) -> v3::PathItem<'s> {
        Converter::new(self, arena, notes).path_item(item)
    }

    fn rest<'s>(&'s self, arena: &'s Bump, notes: &mut Notes<'s>) -> v3::Document<'s> {
        Converter::new(self, arena, notes).rest()
    }
}

impl<'a, 'n> Converter<'a, 'n> {
    fn new(common: &'n Common<'a, 'n>, arena: &'a Bump, notes: &'n mut Notes<'a>) -> Self {
        Converter { arena, notes, common, restoring: None, restored: false, bodies: BTreeMap::new(), last: None }
    }

    fn document(&mut self) -> v3::Document<'a> {
        let d = self.common.document;
        let arena = self.arena;
        let names = &self.common.names.schemas;
        let schemas = arena.alloc_slice_copy(d.definitions);
        for (place, definition) in schemas.iter_mut().zip(d.definitions) {
            place.name = names.name(definition.name);
            place.schema = self.definition(definition);
        }
        if !names.is_empty() {
            schemas.sort_by(|a, b| kubeshape_schema::order::utf16(a.name, b.name));
        }
        let paths = self.paths(d.paths.unwrap_or(&v2::Paths::default()));
        let rest = self.rest();
        let components = v3::Components { schemas, ..rest.components.copied().unwrap_or_default() };
        let components = (components != v3::Components::default()).then(|| &*arena.alloc(components));
        v3::Document { paths: Some(paths), components, ..rest }
    }

    /// Returns the document without its paths and schemas. Paths must be converted before it, because they decide which
    /// shared parameters become components.
    fn rest(&mut self) -> v3::Document<'a> {
        let d = self.common.document;
        let arena = self.arena;
        if !d.id.is_empty() {
            self.notes.add(Code::V3Dropped, d.at, "id");
        }
        let responses = self.section(&d.responses, |c, entry| {
            let produces = if d.produces.is_empty() { names::RESPONSE } else { d.produces };
            (c.common.names.responses.name(entry.name), c.response(&entry.value, "", produces))
        });
        let security_schemes = self.section(&d.security_definitions, |c, entry| {
            (c.common.names.security.name(entry.name), c.security_scheme(&entry.value))
        });
        let (parameters, request_bodies) = self.shared_components();
        let components =
            v3::Components { security_schemes, responses, parameters, request_bodies, ..Default::default() };
        v3::Document {
            openapi: super::VERSION,
            info: Some(d.info.unwrap_or_else(|| arena.alloc(v3::Info::default()))),
            paths: None,
            servers: self.servers(d.schemes, d.at),
            components: (components != v3::Components::default()).then(|| &*arena.alloc(components)),
            security: self.security(d.security),
            tags: d.tags,
            external_docs: self.external_docs(d.external_docs),
            extensions: d.extensions,
            at: d.at,
        }
    }

    /// Converts a section of components, sorted by the new names.
    pub(super) fn section<T, U: Copy>(
        &mut self,
        map: &Map<'a, T>,
        mut f: impl FnMut(&mut Self, &'a Entry<'a, T>) -> (&'a str, U),
    ) -> Map<'a, Boxed<'a, U>> {
        let entries: Vec<_> = map
            .iter()
            .map(|entry| {
                let (name, value) = f(self, entry);
                Entry { name, at: entry.at, value: Some(&*self.arena.alloc(value)) }
            })
            .collect();
        self.map(entries)
    }

    /// Returns a map of entries, which may be unsorted.
    pub(super) fn map<T: Copy>(&self, mut entries: Vec<Entry<'a, T>>) -> Map<'a, T> {
        if entries.is_empty() {
            return Map::default();
        }
        let kept = kubeshape_schema::order::sort_last_wins(&mut entries, |entry| entry.name);
        Map::new(self.arena.alloc_slice_copy(&entries[..kept]))
    }

    pub(super) fn external_docs(&self, docs: Boxed<'a, v2::ExternalDocs<'a>>) -> Boxed<'a, v3::ExternalDocs<'a>> {
        let docs = docs?;
        let (description, url, extensions, at) = (docs.description, docs.url, docs.extensions, docs.at);
        Some(self.arena.alloc(v3::ExternalDocs { description, url, extensions, at }))
    }

    /// Returns the servers of the API with these schemes; empty if the address is that of the document.
    pub(super) fn servers(&mut self, schemes: Texts<'a>, at: u32) -> &'a [v3::Server<'a>] {
        let d = self.common.document;
        let slash = if d.base_path.is_empty() || d.base_path.starts_with('/') { "" } else { "/" };
        let path = d.base_path.strip_suffix('/').unwrap_or(d.base_path);
        let server = |parts: &[&str]| v3::Server { url: concat(self.arena, parts), at, ..v3::Server::default() };
        if !d.host.is_empty() {
            if schemes.is_empty() {
                return self.arena.alloc_slice_copy(&[server(&["//", d.host, slash, path])]);
            }
            let urls = schemes.iter().map(|scheme| server(&[scheme, "://", d.host, slash, path]));
            return self.arena.alloc_slice_fill_iter(urls);
        }
        if !schemes.is_empty() {
            self.notes.add(Code::V3Schemes, at, schemes.join(", "));
        }
        match d.base_path {
            "" => &[],
            "/" => self.arena.alloc_slice_copy(&[server(&["/"])]),
            _ => self.arena.alloc_slice_copy(&[server(&[slash, path])]),
        }
    }

    /// Returns the servers of an operation whose schemes differ from those of the document.
    pub(super) fn servers_of(&mut self, operation: &v2::Operation<'a>) -> &'a [v3::Server<'a>] {
        if operation.schemes.is_empty() || operation.schemes == self.common.document.schemes {
            return &[];
        }
        if self.common.document.host.is_empty() {
            self.notes.add(Code::V3Schemes, operation.at, operation.schemes.join(", "));
            return &[];
        }
        self.servers(operation.schemes, operation.at)
    }

    pub(super) fn security(&self, security: Security<'a>) -> Security<'a> {
        let renames = &self.common.names.security;
        if renames.is_empty() {
            return security;
        }
        let requirements = security?.iter().map(|requirement| {
            let entries = requirement.iter().map(|entry| Entry { name: renames.name(entry.name), ..*entry });
            Map { present: requirement.present, ..self.map(entries.collect()) }
        });
        Some(self.arena.alloc_slice_fill_iter(requirements))
    }

    fn security_scheme(&mut self, s: &v2::SecurityScheme<'a>) -> v3::SecurityScheme<'a> {
        let mut out = v3::SecurityScheme {
            ty: s.ty,
            description: s.description,
            extensions: s.extensions,
            at: s.at,
            ..v3::SecurityScheme::default()
        };
        let mut rest = v2::SecurityScheme { ty: "", description: "", extensions: &[], at: 0, ..*s };
        match s.ty {
            "basic" => (out.ty, out.scheme) = ("http", "basic"),
            "apiKey" => {
                (out.name, out.location) = (s.name, s.location);
                (rest.name, rest.location) = ("", "");
            }
            "oauth2" => {
                let name = match s.flow {
                    "application" => "clientCredentials",
                    "accessCode" => "authorizationCode",
                    other => other,
                };
                let flow = v3::Flow {
                    authorization_url: s.authorization_url,
                    token_url: s.token_url,
                    scopes: Map { present: true, ..s.scopes },
                    at: s.at,
                    ..v3::Flow::default()
                };
                out.flows = self.map(vec![Entry { name, at: s.at, value: Some(&*self.arena.alloc(flow)) }]);
                rest = v2::SecurityScheme { name: rest.name, location: rest.location, ..Default::default() };
            }
            _ => {}
        }
        if rest != v2::SecurityScheme::default() {
            self.notes.add(Code::V3Dropped, s.at, "members that do not belong to this type of security scheme");
        }
        out
    }
}
