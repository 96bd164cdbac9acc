//! Inlines references to parts other than schemas, which paths share.

use super::bodies::Inliner;
use crate::graph::{Section, Target};
use crate::model::{Boxed, Entry, Map, Reference};
use crate::v3;
use kubeshape_schema::Schema;

/// Shared parts may be references themselves, but chains longer than this are not expected.
const MAX_STEPS: usize = 64;

/// Returns the value to which a reference to a shared part leads, or the value itself if it is not a reference or leads
/// nowhere.
macro_rules! resolved {
    ($self:ident, $value:expr, $section:ident, $map:ident) => {{
        let mut value = *$value;
        for _ in 0..MAX_STEPS {
            match Self::target(&value.reference, Section::$section).and_then(|name| $self.components.$map.get(&name)) {
                Some(Some(found)) => value = **found,
                _ => break,
            }
        }
        // A cycle has no end.
        if value.reference.text.is_empty() { value } else { *$value }
    }};
}

impl<'a> Inliner<'_, 'a> {
    fn target(reference: &Reference<'a>, expected: Section) -> Option<String> {
        match Target::of(reference.text, kubeshape_schema::Dialect::V3) {
            Target::Named { section, name, rest } if section == expected && rest.is_empty() => Some(name.into_owned()),
            _ => None,
        }
    }

    pub(super) fn paths(&mut self, paths: &v3::Paths<'a>) -> v3::Paths<'a> {
        v3::Paths { items: self.each(paths.items, Self::path_item), ..*paths }
    }

    /// Returns the wanted components, without schemas.
    pub(super) fn other_components(&self, wanted: impl Fn(Section, &str) -> bool) -> v3::Components<'a> {
        let c = &self.components;
        v3::Components {
            schemas: &[],
            parameters: self.chosen(c.parameters, Section::Parameters, &wanted),
            responses: self.chosen(c.responses, Section::Responses, &wanted),
            request_bodies: self.chosen(c.request_bodies, Section::RequestBodies, &wanted),
            headers: self.chosen(c.headers, Section::Headers, &wanted),
            examples: self.chosen(c.examples, Section::Examples, &wanted),
            links: self.chosen(c.links, Section::Links, &wanted),
            callbacks: self.chosen(c.callbacks, Section::Callbacks, &wanted),
            ..*c
        }
    }

    fn chosen<T: Copy>(
        &self,
        map: Map<'a, T>,
        section: Section,
        wanted: &impl Fn(Section, &str) -> bool,
    ) -> Map<'a, T> {
        let entries: Vec<Entry<'a, T>> = map.iter().filter(|entry| wanted(section, entry.name)).copied().collect();
        if entries.is_empty() { Map::default() } else { Map::new(self.arena.alloc_slice_copy(&entries)) }
    }

    fn each<T: Copy>(&mut self, map: Map<'a, T>, mut f: impl FnMut(&mut Self, &T) -> T) -> Map<'a, T> {
        if map.is_empty() {
            return map;
        }
        let arena = self.arena;
        let entries = map.iter().map(|entry| Entry { value: f(self, &entry.value), ..*entry });
        Map { entries: arena.alloc_slice_fill_iter(entries), ..map }
    }

    fn each_boxed<T: Copy>(
        &mut self,
        map: Map<'a, Boxed<'a, T>>,
        mut f: impl FnMut(&mut Self, &T) -> T,
    ) -> Map<'a, Boxed<'a, T>> {
        let arena = self.arena;
        self.each(map, |inliner, value| value.map(|value| &*arena.alloc(f(inliner, value))))
    }

    fn list<T: Copy>(&mut self, list: &'a [T], mut f: impl FnMut(&mut Self, &T) -> T) -> &'a [T] {
        if list.is_empty() {
            return list;
        }
        let arena = self.arena;
        arena.alloc_slice_fill_iter(list.iter().map(|value| f(self, value)))
    }

    fn place(&mut self, schema: Option<&'a Schema<'a>>) -> Option<&'a Schema<'a>> {
        let inlined = self.schema(schema?);
        Some(self.arena.alloc(inlined))
    }

    fn path_item(&mut self, item: &v3::PathItem<'a>) -> v3::PathItem<'a> {
        let mut out = *item;
        out.parameters = self.list(item.parameters, Self::parameter);
        for operation in [
            &mut out.get,
            &mut out.put,
            &mut out.post,
            &mut out.delete,
            &mut out.options,
            &mut out.head,
            &mut out.patch,
            &mut out.trace,
        ] {
            *operation = operation.map(|operation| {
                let inlined = self.operation(operation);
                &*self.arena.alloc(inlined)
            });
        }
        out
    }

    fn operation(&mut self, operation: &v3::Operation<'a>) -> v3::Operation<'a> {
        let arena = self.arena;
        if !self.counts_operation() {
            return *operation;
        }
        v3::Operation {
            parameters: self.list(operation.parameters, Self::parameter),
            request_body: operation.request_body.map(|body| &*arena.alloc(self.request_body(body))),
            responses: operation.responses.map(|responses| &*arena.alloc(self.responses(responses))),
            callbacks: self.each_boxed(operation.callbacks, Self::callback),
            ..*operation
        }
    }

    fn responses(&mut self, responses: &v3::Responses<'a>) -> v3::Responses<'a> {
        let arena = self.arena;
        v3::Responses {
            default: responses.default.map(|response| &*arena.alloc(self.response(response))),
            codes: self.each(responses.codes, Self::response),
            ..*responses
        }
    }

    fn response(&mut self, response: &v3::Response<'a>) -> v3::Response<'a> {
        let response = resolved!(self, response, Responses, responses);
        v3::Response {
            headers: self.each_boxed(response.headers, Self::header),
            content: self.each_boxed(response.content, Self::media_type),
            links: self.each_boxed(response.links, Self::link),
            ..response
        }
    }

    fn request_body(&mut self, body: &v3::RequestBody<'a>) -> v3::RequestBody<'a> {
        let body = resolved!(self, body, RequestBodies, request_bodies);
        v3::RequestBody { content: self.each_boxed(body.content, Self::media_type), ..body }
    }

    fn parameter(&mut self, parameter: &v3::Parameter<'a>) -> v3::Parameter<'a> {
        let parameter = resolved!(self, parameter, Parameters, parameters);
        v3::Parameter {
            schema: self.place(parameter.schema),
            content: self.each_boxed(parameter.content, Self::media_type),
            examples: self.each_boxed(parameter.examples, Self::example),
            ..parameter
        }
    }

    fn header(&mut self, header: &v3::Header<'a>) -> v3::Header<'a> {
        let header = resolved!(self, header, Headers, headers);
        v3::Header {
            schema: self.place(header.schema),
            content: self.each_boxed(header.content, Self::media_type),
            examples: self.each_boxed(header.examples, Self::example),
            ..header
        }
    }

    fn media_type(&mut self, media: &v3::MediaType<'a>) -> v3::MediaType<'a> {
        v3::MediaType {
            schema: self.place(media.schema),
            examples: self.each_boxed(media.examples, Self::example),
            encoding: self.each_boxed(media.encoding, |inliner, encoding| v3::Encoding {
                headers: inliner.each_boxed(encoding.headers, Self::header),
                ..*encoding
            }),
            ..*media
        }
    }

    fn example(&mut self, example: &v3::Example<'a>) -> v3::Example<'a> {
        resolved!(self, example, Examples, examples)
    }

    fn link(&mut self, link: &v3::Link<'a>) -> v3::Link<'a> {
        resolved!(self, link, Links, links)
    }

    pub(super) fn shared_callbacks(
        &mut self,
        map: Map<'a, Boxed<'a, v3::Callback<'a>>>,
    ) -> Map<'a, Boxed<'a, v3::Callback<'a>>> {
        self.each_boxed(map, Self::callback)
    }

    fn callback(&mut self, callback: &v3::Callback<'a>) -> v3::Callback<'a> {
        let recursive = |name: String| self.is_recursive(&name) && self.components.callbacks.get(&name).is_some();
        if Self::target(&callback.reference, Section::Callbacks).is_some_and(recursive) {
            return *callback;
        }
        let callback = resolved!(self, callback, Callbacks, callbacks);
        v3::Callback { items: self.each(callback.items, Self::path_item), ..callback }
    }
}
