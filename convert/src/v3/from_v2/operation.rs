//! Paths, operations, bodies and responses.

use super::faithful::Converter;
use super::parameter::{Keywords, Style};
use super::{LastContent, names};
use crate::model::{Boxed, Entry, Map, Reference, Texts};
use crate::{v2, v3};
use kubeshape_schema::{Code, Flags, Property, Schema, Type, order};
use std::collections::BTreeSet;

/// Media types of forms.
const URL_ENCODED: &str = "application/x-www-form-urlencoded";
const MULTIPART: &str = "multipart/form-data";

/// The parameters of a path or of an operation, grouped by their conversions.
#[derive(Clone, Default)]
struct Sorted<'a> {
    parameters: Vec<v3::Parameter<'a>>,
    /// The body parameter, and its number among the shared parameters.
    body: Option<(&'a v2::Parameter<'a>, Option<usize>)>,
    form: Vec<&'a v2::Parameter<'a>>,
}

impl<'a> Converter<'a, '_> {
    pub(super) fn paths(&mut self, paths: &v2::Paths<'a>) -> &'a v3::Paths<'a> {
        let arena = self.arena;
        let entries = arena.alloc_slice_fill_iter(paths.items.iter().map(|entry| Entry {
            name: entry.name,
            at: entry.at,
            value: self.path_item(&entry.value),
        }));
        arena.alloc(v3::Paths { items: Map::new(entries), extensions: paths.extensions, at: paths.at })
    }

    pub(super) fn path_item(&mut self, item: &v2::PathItem<'a>) -> v3::PathItem<'a> {
        let mut common = self.sort(item.parameters);
        let parameters = std::mem::take(&mut common.parameters);
        v3::PathItem {
            reference: item.reference,
            get: self.operation(item.get, &common),
            put: self.operation(item.put, &common),
            post: self.operation(item.post, &common),
            delete: self.operation(item.delete, &common),
            options: self.operation(item.options, &common),
            head: self.operation(item.head, &common),
            patch: self.operation(item.patch, &common),
            parameters: self.arena.alloc_slice_copy(&parameters),
            extensions: item.extensions,
            at: item.at,
            ..v3::PathItem::default()
        }
    }

    fn sort(&mut self, parameters: &'a [v2::Parameter<'a>]) -> Sorted<'a> {
        let mut out = Sorted { parameters: Vec::with_capacity(parameters.len()), ..Sorted::default() };
        for parameter in parameters {
            let is_reference = !parameter.reference.text.is_empty();
            let target = if is_reference { self.resolve(parameter.reference) } else { None };
            let resolved = target.map_or(parameter, |target| &self.common.document.parameters.entries[target].value);
            match resolved.location {
                "body" => {
                    if let Some((first, _)) = out.body {
                        self.notes.add(Code::V3TwoBodies, first.at, first.name);
                    }
                    out.body = Some((resolved, target));
                }
                "formData" => out.form.push(resolved),
                _ if is_reference => {
                    let parameter = self.referring(parameter, target);
                    out.parameters.push(parameter);
                    continue;
                }
                _ => {
                    let parameter = self.parameter(parameter);
                    out.parameters.push(parameter);
                    continue;
                }
            }
            if let Some(target) = target {
                self.common.shared[target].is_used.set(true);
            }
        }
        out
    }

    fn operation(
        &mut self,
        operation: Boxed<'a, v2::Operation<'a>>,
        common: &Sorted<'a>,
    ) -> Boxed<'a, v3::Operation<'a>> {
        let o = operation?;
        let mut own = self.sort(o.parameters);
        if own.body.is_none() && own.form.is_empty() {
            own.body = common.body;
        }
        if own.body.is_none() {
            let names: BTreeSet<&str> = own.form.iter().map(|p| p.name).collect();
            let inherited = common.form.iter().filter(|of_path| !names.contains(of_path.name));
            let inherited: Vec<_> = inherited.copied().collect();
            own.form.splice(..0, inherited);
        }
        let consumes = media_types(o.consumes, self.common.document.consumes);
        let request_body = match (own.body, own.form.as_slice()) {
            (Some((body, shared)), form) => {
                for parameter in form {
                    self.notes.add(Code::V3TwoBodies, parameter.at, parameter.name);
                }
                Some(self.shared_body(body, shared, consumes))
            }
            (None, []) => None,
            (None, form) => Some(self.form(form, consumes)),
        };
        let produces = media_types(o.produces, self.common.document.produces);
        let responses = self.responses(o, if produces.is_empty() { names::RESPONSE } else { produces });
        let out = v3::Operation {
            tags: o.tags,
            summary: o.summary,
            description: o.description,
            external_docs: self.external_docs(o.external_docs),
            operation_id: o.operation_id,
            parameters: self.arena.alloc_slice_copy(&own.parameters),
            request_body,
            responses: Some(responses),
            deprecated: o.deprecated,
            security: self.security(o.security),
            servers: self.servers_of(o),
            extensions: o.extensions,
            at: o.at,
            ..v3::Operation::default()
        };
        Some(self.arena.alloc(out))
    }

    /// Returns the body of an operation. Operations with the same parameter and media types share it.
    fn shared_body(
        &mut self,
        body: &v2::Parameter<'a>,
        shared: Option<usize>,
        consumes: Texts<'a>,
    ) -> &'a v3::RequestBody<'a> {
        let Some(shared) = shared else { return self.body(body, consumes) };
        if let Some((_, made)) = self.bodies.get(&shared).filter(|(made_for, _)| *made_for == consumes) {
            return made;
        }
        let made = self.body(body, consumes);
        self.bodies.insert(shared, (consumes, made));
        made
    }

    fn body(&mut self, p: &v2::Parameter<'a>, consumes: Texts<'a>) -> &'a v3::RequestBody<'a> {
        if p.name != "body" {
            self.notes.add(Code::V3BodyName, p.at, p.name);
        }
        let schema = match p.schema {
            Some(schema) => Some(self.boxed(schema)),
            None if p.simple == v2::Simple::default() => None,
            None => Some(&*self.arena.alloc(self.simple(&p.simple, p.at))),
        };
        let Keywords { extensions, example, .. } = self.keywords(p.extensions);
        let media_type = v3::MediaType { schema, example: p.simple.example.or(example), ..v3::MediaType::default() };
        let consumes = if consumes.is_empty() { names::BODY } else { consumes };
        let body = v3::RequestBody {
            description: p.description,
            content: self.content(consumes, media_type, p.at),
            required: p.required,
            extensions,
            at: p.at,
            ..v3::RequestBody::default()
        };
        self.arena.alloc(body)
    }

    /// Converts a shared body parameter that no operation uses.
    pub(super) fn unused_body(&mut self, p: &'a v2::Parameter<'a>) -> &'a v3::RequestBody<'a> {
        let consumes = self.common.document.consumes;
        if p.location == "body" { self.body(p, consumes) } else { self.form(&[p], consumes) }
    }

    /// Returns the body of a form.
    fn form(&mut self, form: &[&'a v2::Parameter<'a>], consumes: Texts<'a>) -> &'a v3::RequestBody<'a> {
        let has_file = form.iter().any(|p| p.simple.ty == "file");
        let mut types: Vec<&'a str> = consumes.iter().copied().filter(|ty| is_form(ty)).collect();
        if types.is_empty() {
            if let Some(p) = form.first().filter(|_| !consumes.is_empty()) {
                self.notes.add(Code::V3FormMediaType, p.at, consumes.join(", "));
            }
            types.push(if has_file { MULTIPART } else { URL_ENCODED });
        }
        let mut properties = Vec::with_capacity(form.len());
        let mut encodings = Vec::new();
        let mut required = Vec::new();
        let mut known = BTreeSet::new();
        for p in form {
            let Keywords { extensions, nullable, example } = self.keywords(p.extensions);
            let mut schema = match p.schema {
                Some(schema) => self.schema(schema),
                None => self.simple(&p.simple, p.at),
            };
            if p.allow_empty_value {
                self.notes.add(Code::V3Dropped, p.at, "allowEmptyValue");
            }
            let Style { style, explode } = self.style(&p.simple, "formData", p.at);
            if explode != Some(true) && !style.is_empty() {
                let encoding = v3::Encoding { style, explode, ..v3::Encoding::default() };
                encodings.push(Entry { name: p.name, at: p.at, value: Some(&*self.arena.alloc(encoding)) });
            }
            if p.schema.is_none() {
                self.describe(&mut schema, p.description, extensions, nullable, p.simple.example.or(example));
            }
            if p.required && known.insert(p.name) {
                required.push(p.name);
            }
            properties.push(Property { name: p.name, at: p.at, schema });
        }
        let kept = order::sort_last_wins(&mut properties, |p| p.name);
        let is_required = !required.is_empty();
        let subtree = properties[..kept].iter().fold(Flags::NONE, |sum, p| sum.with(p.schema.subtree));
        let schema = Schema {
            ty: Type::Object,
            properties: self.arena.alloc_slice_copy(&properties[..kept]),
            required: self.arena.alloc_slice_copy(&required),
            subtree,
            at: form.first().map_or(0, |p| p.at),
            ..Schema::default()
        };
        let schema = Some(&*self.arena.alloc(schema));
        let encoding = self.map(encodings);
        let content = types.iter().map(|name| {
            // Styles have a meaning only for this media type.
            let encoding = if *name == URL_ENCODED { encoding } else { Map::default() };
            let media_type = v3::MediaType { schema, encoding, ..v3::MediaType::default() };
            Entry { name, at: 0, value: Some(&*self.arena.alloc(media_type)) }
        });
        let content = self.map(content.collect());
        let at = form.first().map_or(0, |p| p.at);
        self.arena.alloc(v3::RequestBody { content, required: is_required, at, ..v3::RequestBody::default() })
    }

    /// Returns the same schema with several media types.
    fn content(
        &mut self,
        media_types: Texts<'a>,
        media_type: v3::MediaType<'a>,
        at: u32,
    ) -> Map<'a, Boxed<'a, v3::MediaType<'a>>> {
        if !self.notes.has_room(at, self.arena) {
            return Map::default();
        }
        let media_type = Some(&*self.arena.alloc(media_type));
        let entries =
            self.arena.alloc_slice_fill_iter(media_types.iter().map(|name| Entry { name, at: 0, value: media_type }));
        let kept = order::sort_last_wins(entries, |entry| entry.name);
        Map::new(&entries[..kept])
    }

    fn responses(&mut self, operation: &v2::Operation<'a>, produces: Texts<'a>) -> &'a v3::Responses<'a> {
        let arena = self.arena;
        let none = v2::Responses::default();
        let responses = operation.responses.unwrap_or(&none);
        let mut default = responses.default.map(|response| &*arena.alloc(self.response(response, "default", produces)));
        if default.is_none() && responses.codes.is_empty() {
            self.notes.add(Code::V3ResponseAdded, operation.at, operation.operation_id);
            default = Some(arena.alloc(v3::Response { description: phrase("default"), ..v3::Response::default() }));
        }
        let entries = arena.alloc_slice_fill_iter(responses.codes.iter().map(|entry| Entry {
            name: entry.name,
            at: entry.at,
            value: self.response(&entry.value, entry.name, produces),
        }));
        let codes = Map { entries, present: responses.codes.present };
        arena.alloc(v3::Responses { default, codes, extensions: responses.extensions, at: responses.at })
    }

    /// Converts a response with this code.
    pub(super) fn response(&mut self, r: &v2::Response<'a>, code: &str, produces: Texts<'a>) -> v3::Response<'a> {
        if !r.reference.text.is_empty() {
            return self.referred_response(r);
        }
        let mut description = r.description;
        if description.is_empty() {
            description = phrase(code);
            self.notes.add(Code::V3Description, r.at, description);
        }
        let mut content = match r.schema {
            Some(schema) => LastContent::find(self.last, schema, produces)
                .unwrap_or_else(|| self.response_content(schema, produces)),
            None => Map::default(),
        };
        if !r.examples.is_empty() {
            let mut entries: Vec<_> = content.entries.to_vec();
            for example in r.examples {
                let found = entries.iter().position(|entry| entry.name == example.name);
                let media_type = found.and_then(|at| entries[at].value).copied().unwrap_or_default();
                let value = Some(&*self.arena.alloc(v3::MediaType { example: example.value, ..media_type }));
                match found {
                    Some(at) => entries[at].value = value,
                    None => entries.push(Entry { name: example.name, at: example.at, value }),
                }
            }
            content = self.map(entries);
        }
        let headers = self.section(&r.headers, |c, entry| (entry.name, c.header(&entry.value)));
        v3::Response { description, headers, content, extensions: r.extensions, at: r.at, ..v3::Response::default() }
    }

    fn response_content(
        &mut self,
        source: &'a Schema<'a>,
        produces: Texts<'a>,
    ) -> Map<'a, Boxed<'a, v3::MediaType<'a>>> {
        let schema = Some(self.boxed(source));
        let content = self.content(produces, v3::MediaType { schema, ..v3::MediaType::default() }, source.at);
        self.last = LastContent::new(source, produces, content).or(self.last);
        content
    }

    fn referred_response(&mut self, r: &v2::Response<'a>) -> v3::Response<'a> {
        if (v2::Response { reference: Reference::default(), at: 0, ..*r }) != v2::Response::default() {
            self.notes.add(Code::V3RefSiblings, r.at, r.reference.text);
        }
        let found = names::split(r.reference.text, "responses");
        let found =
            found.is_some_and(|(name, rest)| rest.is_empty() && self.common.document.responses.get(&name).is_some());
        if !found {
            let external = !r.reference.text.starts_with('#');
            self.notes.add(
                if external { Code::V3ExternalReference } else { Code::V3Reference },
                r.at,
                r.reference.text,
            );
        }
        let text =
            names::component(r.reference.text, "responses", "responses", &self.common.names.responses, self.arena);
        let reference = Reference { text: text.unwrap_or(r.reference.text), ..r.reference };
        v3::Response { reference, at: r.at, ..v3::Response::default() }
    }
}

/// Returns the media types of an operation. An empty list overrides that of the document.
fn media_types<'a>(own: Option<Texts<'a>>, common: Texts<'a>) -> Texts<'a> {
    own.unwrap_or(common)
}

fn is_form(media_type: &str) -> bool {
    let plain = media_type.split(';').next().unwrap_or_default().trim();
    plain.eq_ignore_ascii_case(URL_ENCODED) || plain.eq_ignore_ascii_case(MULTIPART)
}

/// Returns the description of a response without one, because v3 requires it: HTTP's name of the status code.
fn phrase(code: &str) -> &'static str {
    match code {
        "200" => "OK",
        "201" => "Created",
        "202" => "Accepted",
        "204" => "No Content",
        "301" => "Moved Permanently",
        "302" => "Found",
        "304" => "Not Modified",
        "400" => "Bad Request",
        "401" => "Unauthorized",
        "403" => "Forbidden",
        "404" => "Not Found",
        "405" => "Method Not Allowed",
        "409" => "Conflict",
        "422" => "Unprocessable Entity",
        "429" => "Too Many Requests",
        "500" => "Internal Server Error",
        "503" => "Service Unavailable",
        _ => "Response",
    }
}
