//! Paths, operations and responses.

use super::Converter;
use super::body::is_binary;
use super::reference::follow;
use crate::budget::{MOST_MEMORY, too_large};
use crate::model::{Boxed, Entry, Map, Texts};
use crate::{v2, v3};
use kubeshape_schema::{Code, Flags, Json, Schema, Type};

impl<'a> Converter<'a> {
    pub(super) fn paths(&mut self, paths: &v3::Paths<'a>) -> v2::Paths<'a> {
        let mut items = Vec::with_capacity(paths.items.entries.len());
        for entry in paths.items {
            items.push(Entry { name: entry.name, at: entry.at, value: self.path_item(&entry.value) });
        }
        let items = Map { entries: self.slice(&items), present: paths.items.present };
        v2::Paths { items, extensions: paths.extensions, at: paths.at }
    }

    fn path_item(&mut self, item: &v3::PathItem<'a>) -> v2::PathItem<'a> {
        if !self.is_full && self.arena.allocated_bytes() > MOST_MEMORY {
            self.is_full = true;
            self.notes.push(too_large(item.at, MOST_MEMORY));
        }
        if self.is_full {
            return v2::PathItem::default();
        }
        self.lose_members(
            Code::DownPathMember,
            item.at,
            &[
                ("summary", !item.summary.is_empty()),
                ("description", !item.description.is_empty()),
                ("trace", item.trace.is_some()),
            ],
        );
        self.lose_servers(item.servers);
        let mut out = v2::PathItem { extensions: item.extensions, at: item.at, ..Default::default() };
        out.reference = item.reference;
        if !item.reference.text.is_empty() {
            out.reference.text = self.reference(item.reference.text, item.at);
        }
        let mut parameters = Vec::new();
        self.parameters(item.parameters, &mut parameters);
        out.parameters = self.slice(&parameters);
        out.get = self.operation(item.get);
        out.put = self.operation(item.put);
        out.post = self.operation(item.post);
        out.delete = self.operation(item.delete);
        out.options = self.operation(item.options);
        out.head = self.operation(item.head);
        out.patch = self.operation(item.patch);
        out
    }

    fn operation(&mut self, operation: Boxed<'a, v3::Operation<'a>>) -> Boxed<'a, v2::Operation<'a>> {
        let operation = operation?;
        let mut parameters = Vec::with_capacity(operation.parameters.len() + 1);
        self.parameters(operation.parameters, &mut parameters);
        let consumes = operation.request_body.and_then(|body| self.body(body, &mut parameters));
        let callbacks: Vec<&str> = operation.callbacks.iter().map(|entry| entry.name).collect();
        if operation.callbacks.present {
            self.lose(Code::DownCallback, operation.at, callbacks.join(", "));
        }
        self.lose_servers(operation.servers);
        let produces = operation.responses.and_then(|responses| self.produces(responses));
        Some(self.arena.alloc(v2::Operation {
            description: operation.description,
            consumes,
            produces,
            schemes: &[],
            tags: operation.tags,
            summary: operation.summary,
            external_docs: self.external_docs(operation.external_docs),
            operation_id: operation.operation_id,
            deprecated: operation.deprecated,
            security: self.security(operation.security, operation.at),
            parameters: self.slice(&parameters),
            responses: operation.responses.map(|responses| self.responses(responses)),
            extensions: operation.extensions,
            at: operation.at,
        }))
    }

    pub(super) fn external_docs(&mut self, docs: Boxed<'a, v3::ExternalDocs<'a>>) -> Boxed<'a, v2::ExternalDocs<'a>> {
        let docs = docs?;
        let mut extensions = docs.extensions;
        if self.is_kube() {
            self.lose_extensions(docs.at, extensions);
            extensions = &[];
        }
        Some(self.arena.alloc(v2::ExternalDocs {
            description: docs.description,
            url: docs.url,
            extensions,
            at: docs.at,
        }))
    }

    /// Returns the response to which a reference leads.
    fn resolve_response(&self, response: &v3::Response<'a>) -> Option<v3::Response<'a>> {
        match response.reference.text {
            "" => Some(*response),
            text => follow(self.components.responses, "responses", text, |r| r.reference.text).map(|(_, found)| *found),
        }
    }

    /// Returns the media types of all responses, in order of appearance.
    fn produces(&mut self, responses: &v3::Responses<'a>) -> Option<Texts<'a>> {
        let entries = responses.codes.iter().map(|entry| entry.value);
        let all: Vec<v3::Response<'a>> = entries.chain(responses.default.copied()).collect();
        let mut names: Vec<&'a str> = Vec::new();
        let mut seen = std::collections::BTreeSet::new();
        let mut contents = Vec::with_capacity(all.len());
        for response in &all {
            let content = self.resolve_response(response).unwrap_or_default().content;
            contents.push((content.entries.len(), response.at));
            for entry in content {
                if seen.insert(entry.name) {
                    names.push(entry.name);
                }
            }
        }
        for (count, at) in contents {
            if count > 0 && count < names.len() {
                self.lose(Code::DownMediaTypesShared, at, "content");
            }
        }
        (!names.is_empty()).then(|| self.slice(&names))
    }

    fn responses(&mut self, responses: &v3::Responses<'a>) -> &'a v2::Responses<'a> {
        let is_range = |name: &str| name.ends_with(['X', 'x']);
        let mut codes = Vec::with_capacity(responses.codes.entries.len());
        let mut default = responses.default;
        let last = responses.codes.iter().rfind(|entry| is_range(entry.name));
        for entry in responses.codes {
            if !is_range(entry.name) {
                codes.push(Entry { name: entry.name, at: entry.at, value: self.response(&entry.value) });
                continue;
            }
            self.lose(Code::DownRange, entry.at, entry.name);
            if responses.default.is_none() && last.is_some_and(|last| last.name == entry.name) {
                default = Some(&entry.value);
            }
        }
        let default = default.map(|response| &*self.arena.alloc(self.response(response)));
        let codes = Map { entries: self.slice(&codes), present: responses.codes.present };
        self.arena.alloc(v2::Responses { default, codes, extensions: responses.extensions, at: responses.at })
    }

    pub(super) fn shared_responses(&mut self) -> Map<'a, v2::Response<'a>> {
        let responses = self.components.responses;
        let mut out = Vec::with_capacity(responses.entries.len());
        for entry in responses {
            let response = entry.value.copied().unwrap_or_default();
            let value = self.response(&response);
            self.lose_members(Code::DownMediaTypesShared, response.at, &[("content", !response.content.is_empty())]);
            out.push(Entry { name: entry.name, at: entry.at, value });
        }
        if responses.present { Map::new(self.slice(&out)) } else { Map::default() }
    }

    fn response(&mut self, response: &v3::Response<'a>) -> v2::Response<'a> {
        let mut out = v2::Response {
            description: response.description,
            extensions: response.extensions,
            at: response.at,
            ..Default::default()
        };
        if !response.reference.text.is_empty() {
            out.reference = response.reference;
            out.reference.text = self.reference(response.reference.text, response.at);
        }
        if response.links.present {
            let names: Vec<&str> = response.links.iter().map(|entry| entry.name).collect();
            self.lose(Code::DownLink, response.at, names.join(", "));
        }
        out.schema = self.content_schema(response.content, response.at);
        if out.schema.is_some_and(is_binary) {
            out.schema = out.schema.map(|schema| &*self.arena.alloc(self.file(schema)));
        }
        out.headers = self.headers(response.headers, response.at);
        out.examples = self.examples(response.content);
        out
    }

    /// Returns the schema of a response that is a file.
    fn file(&self, schema: &Schema<'a>) -> Schema<'a> {
        let flags = schema.flags.without(Flags::FORMAT).with(Flags::OTHER_TYPE);
        let mut file = Schema { ty: Type::Other, format: "", flags, subtree: schema.subtree.with(flags), ..*schema };
        let mut extra = *schema.extra();
        extra.other_type = "file";
        file.extra = Some(self.arena.alloc(extra));
        file
    }

    /// Returns an example per media type.
    fn examples(&mut self, content: Map<'a, Boxed<'a, v3::MediaType<'a>>>) -> Map<'a, Option<Json<'a>>> {
        let mut out = Vec::new();
        for entry in content {
            let Some(media) = entry.value else { continue };
            let mut chosen = media.example;
            for example in media.examples {
                let mut found = example.value;
                if let Some(object) = found
                    && !object.reference.text.is_empty()
                {
                    let text = object.reference.text;
                    found = follow(self.components.examples, "examples", text, |e| e.reference.text).map(|(_, e)| e);
                    let code = if found.is_some() { Code::DownInlined } else { Code::DownReference };
                    self.lose(code, object.at, text);
                }
                let value = found.and_then(|found| found.value);
                if chosen.is_none() && value.is_some() {
                    chosen = value;
                    let found = found.copied().unwrap_or_default();
                    self.lose_members(
                        Code::DownExample,
                        example.at,
                        &[
                            ("name", true),
                            ("summary", !found.summary.is_empty()),
                            ("description", !found.description.is_empty()),
                        ],
                    );
                    self.lose_extensions(found.at, found.extensions);
                } else {
                    self.lose(Code::DownExample, example.at, example.name);
                }
            }
            if let Some(value) = chosen {
                out.push(Entry { name: entry.name, at: entry.at, value: Some(value) });
            }
        }
        if out.is_empty() { Map::default() } else { Map::new(self.slice(&out)) }
    }
}
