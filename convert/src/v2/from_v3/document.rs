//! The document and its shared parts.

use super::Converter;
use crate::model::{Entry, Map};
use crate::{v2, v3};
use kubeshape_schema::{Code, Property, order};

impl<'a> Converter<'a> {
    pub(super) fn document(&mut self, document: &v3::Document<'a>) -> v2::Document<'a> {
        let mut out = v2::Document {
            swagger: "2.0",
            info: document.info,
            tags: document.tags,
            extensions: document.extensions,
            at: document.at,
            ..Default::default()
        };
        self.servers(document.servers, &mut out);
        out.external_docs = self.external_docs(document.external_docs);
        out.definitions = self.definitions();
        out.security_definitions = self.security_schemes();
        out.security = self.security(document.security, document.at);
        out.parameters = self.shared();
        out.responses = self.shared_responses();
        self.lose_components();
        out.paths = document.paths.map(|paths| &*self.arena.alloc(self.paths(paths)));
        out
    }

    fn definitions(&mut self) -> &'a [Property<'a>] {
        let arena = self.arena;
        let schemas = self.components.schemas;
        let places = schemas
            .iter()
            .map(|property| Property { schema: self.definition_schema(property.name, &property.schema), ..*property });
        arena.alloc_slice_fill_iter(places)
    }

    /// Converts shared parameters and request bodies.
    fn shared(&mut self) -> Map<'a, v2::Parameter<'a>> {
        let mut entries: Vec<Entry<'a, v2::Parameter<'a>>> = Vec::new();
        self.shared_parameters(&mut entries);
        self.shared_bodies(&mut entries);
        entries.sort_by(|a, b| order::utf16(a.name, b.name));
        let present = self.components.parameters.present || !entries.is_empty();
        Map { entries: self.slice(&entries), present }
    }

    /// Notes shared objects that OpenAPI v2 cannot share.
    fn lose_components(&mut self) {
        let v3::Components { examples, links, headers, callbacks, extensions, at, .. } = self.components;
        let entries = |map: &mut dyn Iterator<Item = (&'a str, u32)>| map.collect::<Vec<_>>();
        let all = [
            entries(&mut examples.iter().map(|entry| (entry.name, entry.at))),
            entries(&mut links.iter().map(|entry| (entry.name, entry.at))),
            entries(&mut headers.iter().map(|entry| (entry.name, entry.at))),
            entries(&mut callbacks.iter().map(|entry| (entry.name, entry.at))),
        ];
        for (name, at) in all.into_iter().flatten() {
            self.lose(Code::DownComponent, at, name);
        }
        self.lose_extensions(at, extensions);
    }
}
