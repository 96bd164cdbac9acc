//! The conversion that Kubernetes does for servers without v3 documents of their own, faults included: kube-openapi's
//! `openapiconv.ConvertV2ToV3` and `builder3/util.WrapRefs`.

use super::print::Parts;
use super::{LastContent, Notes, concat, has_siblings, wrap};
use crate::model::{Boxed, Entry, Map, Site, Texts, map_schema};
use crate::{v2, v3};
use kubeshape_schema::{Bump, Code, Extra, Flags, Property, Schema, Type, order};
use std::cell::Cell;

/// The prefix of a reference to a definition, and its replacement in Kubernetes.
const DEFINITIONS: &str = "#/definitions/";
const SCHEMAS: &str = "#/components/schemas/";

pub(super) fn document<'a>(
    document: &v2::Document<'a>,
    arena: &'a Bump,
    notes: &mut Notes<'a>,
) -> Option<v3::Document<'a>> {
    let mut converter = Converter::new(arena, notes);
    let out = converter.document(document);
    (!converter.failed).then_some(out)
}

/// The parts of a document, converted one by one.
pub(super) struct Separate<'a, 'd> {
    document: &'d v2::Document<'a>,
    failed: Cell<bool>,
}

impl<'a, 'd> Separate<'a, 'd> {
    pub(super) fn of(document: &'d v2::Document<'a>) -> Self {
        Separate { document, failed: Cell::new(false) }
    }
}

impl Parts for Separate<'_, '_> {
    fn name<'s>(&'s self, definition: &Property<'s>) -> &'s str {
        definition.name
    }

    fn definition<'s>(&'s self, definition: &Property<'s>, arena: &'s Bump, notes: &mut Notes<'s>) -> Schema<'s> {
        Converter::new(arena, notes).schema(&definition.schema)
    }

    fn path_item<'s>(&'s self, item: &v2::PathItem<'s>, arena: &'s Bump, notes: &mut Notes<'s>) -> v3::PathItem<'s> {
        let mut converter = Converter::new(arena, notes);
        let item = converter.path_item(item);
        self.failed.set(self.failed.get() | converter.failed);
        item
    }

    fn rest<'s>(&'s self, arena: &'s Bump, notes: &mut Notes<'s>) -> v3::Document<'s> {
        Converter::new(arena, notes).rest(self.document)
    }

    fn has_failed(&self) -> bool {
        self.failed.get()
    }
}

struct Converter<'a, 'n> {
    arena: &'a Bump,
    notes: &'n mut Notes<'a>,
    failed: bool,
    /// The schema of parameters without a type, built once.
    untyped: Option<&'a Schema<'a>>,
    /// The last content whose schema was a reference.
    last: Option<LastContent<'a>>,
}

impl<'a, 'n> Converter<'a, 'n> {
    fn new(arena: &'a Bump, notes: &'n mut Notes<'a>) -> Self {
        Converter { arena, notes, failed: false, untyped: None, last: None }
    }

    fn lose(&mut self, lost: bool, at: u32, what: &'static str) {
        if lost {
            self.notes.add(Code::V3KubeDropped, at, what);
        }
    }

    fn document(&mut self, d: &v2::Document<'a>) -> v3::Document<'a> {
        let rest = self.rest(d);
        let definitions = d.definitions.iter();
        let schemas = self.arena.alloc_slice_fill_iter(
            definitions.map(|definition| Property { schema: self.schema(&definition.schema), ..*definition }),
        );
        let components = v3::Components { schemas, ..rest.components.copied().unwrap_or_default() };
        let paths = d.paths.map(|paths| self.paths(paths));
        v3::Document { paths, components: Some(self.arena.alloc(components)), ..rest }
    }

    /// Returns the document without its paths and schemas.
    fn rest(&mut self, d: &v2::Document<'a>) -> v3::Document<'a> {
        self.lose(!d.host.is_empty(), d.at, "host");
        self.lose(!d.base_path.is_empty(), d.at, "basePath");
        self.lose(!d.schemes.is_empty(), d.at, "schemes");
        self.lose(!d.consumes.is_empty(), d.at, "consumes");
        self.lose(!d.produces.is_empty() && d.responses.is_empty(), d.at, "produces");
        self.lose(!d.id.is_empty(), d.at, "id");
        self.lose(!d.parameters.is_empty(), d.at, "parameters");
        self.lose(d.security.is_some(), d.at, "security");
        self.lose(!d.tags.is_empty(), d.at, "tags");
        self.lose(!d.extensions.is_empty(), d.at, "extensions");
        let components = v3::Components {
            responses: self.map(&d.responses, |c, response| c.response(response, d.produces)),
            security_schemes: self.map(&d.security_definitions, Self::security_scheme),
            ..v3::Components::default()
        };
        v3::Document {
            openapi: super::VERSION,
            info: d.info,
            external_docs: self.external_docs(d.external_docs),
            components: Some(self.arena.alloc(components)),
            at: d.at,
            ..v3::Document::default()
        }
    }

    fn map<T, U: Default>(
        &mut self,
        map: &Map<'a, T>,
        mut f: impl FnMut(&mut Self, &'a T) -> U,
    ) -> Map<'a, Boxed<'a, U>> {
        let arena = self.arena;
        let entries = arena.alloc_slice_fill_iter(map.iter().map(|entry| Entry {
            name: entry.name,
            at: entry.at,
            value: Some(&*arena.alloc(f(self, &entry.value))),
        }));
        Map { entries, present: map.present }
    }

    fn external_docs(&mut self, docs: Boxed<'a, v2::ExternalDocs<'a>>) -> Boxed<'a, v3::ExternalDocs<'a>> {
        let docs = docs?;
        self.lose(!docs.extensions.is_empty(), docs.at, "extensions of externalDocs");
        let docs = v3::ExternalDocs {
            description: docs.description,
            url: docs.url,
            at: docs.at,
            ..v3::ExternalDocs::default()
        };
        Some(self.arena.alloc(docs))
    }

    fn paths(&mut self, paths: &v2::Paths<'a>) -> &'a v3::Paths<'a> {
        let arena = self.arena;
        let entries = arena.alloc_slice_fill_iter(paths.items.iter().map(|entry| Entry {
            name: entry.name,
            at: entry.at,
            value: self.path_item(&entry.value),
        }));
        let items = Map { entries, present: paths.items.present };
        self.arena.alloc(v3::Paths { items, extensions: paths.extensions, at: paths.at })
    }

    fn path_item(&mut self, item: &v2::PathItem<'a>) -> v3::PathItem<'a> {
        let arena = self.arena;
        v3::PathItem {
            reference: item.reference,
            get: self.operation(item.get),
            put: self.operation(item.put),
            post: self.operation(item.post),
            delete: self.operation(item.delete),
            options: self.operation(item.options),
            head: self.operation(item.head),
            patch: self.operation(item.patch),
            parameters: arena.alloc_slice_fill_iter(item.parameters.iter().map(|p| self.parameter(p))),
            extensions: item.extensions,
            at: item.at,
            ..v3::PathItem::default()
        }
    }

    fn operation(&mut self, operation: Boxed<'a, v2::Operation<'a>>) -> Boxed<'a, v3::Operation<'a>> {
        let o = operation?;
        self.lose(!o.schemes.is_empty(), o.at, "schemes");
        self.lose(o.security.is_some(), o.at, "security");
        let mut request_body = None;
        let mut parameters = bumpalo::collections::Vec::with_capacity_in(o.parameters.len(), self.arena);
        for parameter in o.parameters {
            match parameter.schema.filter(|_| parameter.name == "body") {
                Some(schema) => request_body = Some(self.request_body(o, parameter, schema)),
                None => parameters.push(self.parameter(parameter)),
            }
        }
        let responses = o.responses.map(|responses| self.responses(responses, o.produces.unwrap_or_default()));
        if responses.is_none() {
            self.notes.add(Code::V3NoResponses, o.at, o.operation_id);
            self.failed = true;
        }
        let out = v3::Operation {
            tags: o.tags,
            summary: o.summary,
            description: o.description,
            external_docs: self.external_docs(o.external_docs),
            operation_id: o.operation_id,
            parameters: parameters.into_bump_slice(),
            request_body,
            responses,
            deprecated: o.deprecated,
            extensions: o.extensions,
            at: o.at,
            ..v3::Operation::default()
        };
        Some(self.arena.alloc(out))
    }

    fn request_body(
        &mut self,
        operation: &v2::Operation<'a>,
        parameter: &v2::Parameter<'a>,
        schema: &'a Schema<'a>,
    ) -> &'a v3::RequestBody<'a> {
        self.lose(parameter.required, parameter.at, "required");
        self.lose(!parameter.description.is_empty(), parameter.at, "description");
        self.lose(!parameter.extensions.is_empty(), parameter.at, "extensions");
        let consumes = operation.consumes.unwrap_or_default();
        self.lose(consumes.is_empty(), parameter.at, "schema");
        let body =
            v3::RequestBody { content: self.content(consumes, schema), at: parameter.at, ..v3::RequestBody::default() };
        self.arena.alloc(body)
    }

    /// Returns one schema with several media types.
    fn content(&mut self, media_types: Texts<'a>, schema: &'a Schema<'a>) -> Map<'a, Boxed<'a, v3::MediaType<'a>>> {
        if !self.notes.has_room(schema.at, self.arena) {
            return Map::default();
        }
        if media_types.is_empty() {
            return Map::default();
        }
        if let Some(content) = LastContent::find(self.last, schema, media_types) {
            return content;
        }
        let source = schema;
        let schema = Some(&*self.arena.alloc(self.schema(schema)));
        let media_type = &*self.arena.alloc(v3::MediaType { schema, ..v3::MediaType::default() });
        let arena = self.arena;
        let entries =
            arena.alloc_slice_fill_iter(media_types.iter().map(|name| Entry { name, at: 0, value: Some(media_type) }));
        let kept = order::sort_last_wins(entries, |entry| entry.name);
        let content = Map::new(&entries[..kept]);
        self.last = LastContent::new(source, media_types, content).or(self.last);
        content
    }

    fn parameter(&mut self, p: &v2::Parameter<'a>) -> v3::Parameter<'a> {
        let schema = if let Some(schema) = p.schema {
            let schema = self.schema(schema);
            &*self.arena.alloc(schema)
        } else {
            self.lose(p.simple.is_restricted(), p.at, "restrictions, items, default and example");
            self.simple(&p.simple)
        };
        if !p.reference.text.is_empty() && cut(p.reference.text, "#/parameters/").is_some() {
            self.notes.add(Code::V3KubeDangling, p.at, p.reference.text);
        }
        if matches!(p.location, "body" | "formData") {
            self.notes.add(Code::V3KubeInvalid, p.at, p.location);
        }
        let mut reference = p.reference;
        reference.text = self.replace(p.reference.text, "#/parameters/", "#/components/parameters/");
        v3::Parameter {
            reference,
            name: p.name,
            location: p.location,
            description: p.description,
            required: p.required,
            allow_empty_value: p.allow_empty_value,
            schema: Some(schema),
            extensions: p.extensions,
            at: p.at,
            ..v3::Parameter::default()
        }
    }

    /// Returns the part of a parameter's type that is kept. The result always has a type.
    fn simple(&mut self, simple: &v2::Simple<'a>) -> &'a Schema<'a> {
        let arena = self.arena;
        let mut schema = Schema { ty: Type::from_name(simple.ty), format: simple.format, ..Schema::default() };
        schema.flags.set(Flags::UNIQUE_ITEMS, simple.unique_items);
        schema.flags.set(Flags::FORMAT, !simple.format.is_empty());
        match schema.ty {
            Type::Absent => {
                let untyped = || {
                    let extra = Some(&*arena.alloc(Extra { types: &[""], ..Extra::default() }));
                    &*arena.alloc(Schema { ty: Type::Several, extra, ..Schema::default() })
                };
                let untyped = *self.untyped.get_or_insert_with(untyped);
                if schema.flags == Flags::NONE {
                    // This includes all parameters that are references.
                    return untyped;
                }
                (schema.ty, schema.extra) = (untyped.ty, untyped.extra);
            }
            Type::Other => {
                schema.flags.set(Flags::OTHER_TYPE, true);
                schema.extra = Some(arena.alloc(Extra { other_type: simple.ty, ..Extra::default() }));
            }
            _ => {}
        }
        schema.subtree = schema.flags;
        arena.alloc(schema)
    }

    fn responses(&mut self, responses: &v2::Responses<'a>, produces: Texts<'a>) -> &'a v3::Responses<'a> {
        let arena = self.arena;
        let default = responses.default.map(|default| &*arena.alloc(self.response(default, produces)));
        let entries = arena.alloc_slice_fill_iter(responses.codes.iter().map(|entry| Entry {
            name: entry.name,
            at: entry.at,
            value: self.response(&entry.value, produces),
        }));
        let codes = Map { entries, present: responses.codes.present };
        self.arena.alloc(v3::Responses { default, codes, extensions: responses.extensions, at: responses.at })
    }

    fn response(&mut self, r: &v2::Response<'a>, produces: Texts<'a>) -> v3::Response<'a> {
        self.lose(!r.headers.is_empty(), r.at, "headers");
        self.lose(!r.examples.is_empty(), r.at, "examples");
        self.lose(r.schema.is_some() && produces.is_empty(), r.at, "schema");
        let mut reference = r.reference;
        reference.text = self.replace(r.reference.text, "#/responses/", "#/components/responses/");
        v3::Response {
            reference,
            description: r.description,
            content: r.schema.map_or_else(Map::default, |schema| self.content(produces, schema)),
            extensions: r.extensions,
            at: r.at,
            ..v3::Response::default()
        }
    }

    fn security_scheme(&mut self, s: &v2::SecurityScheme<'a>) -> v3::SecurityScheme<'a> {
        let flow = v3::Flow {
            authorization_url: s.authorization_url,
            token_url: s.token_url,
            scopes: s.scopes,
            at: s.at,
            ..v3::Flow::default()
        };
        let flows: &'a [Entry<'a, _>] = match s.flow {
            "" => &[],
            name => self.arena.alloc_slice_copy(&[Entry { name, at: s.at, value: Some(&*self.arena.alloc(flow)) }]),
        };
        if s.ty == "basic" || matches!(s.flow, "accessCode" | "application") {
            self.notes.add(Code::V3KubeInvalid, s.at, if s.flow.is_empty() { s.ty } else { s.flow });
        }
        v3::SecurityScheme {
            description: s.description,
            ty: s.ty,
            name: s.name,
            location: s.location,
            flows: Map { entries: flows, present: !flows.is_empty() },
            extensions: s.extensions,
            at: s.at,
            ..v3::SecurityScheme::default()
        }
    }

    /// Returns the string with the first `from` in it replaced.
    fn replace(&self, text: &'a str, from: &str, to: &str) -> &'a str {
        if text.is_empty() {
            return text;
        }
        match cut(text, from) {
            Some((before, after)) => concat(self.arena, &[before, to, after]),
            None => text,
        }
    }

    fn schema(&mut self, schema: &Schema<'a>) -> Schema<'a> {
        // Only references change.
        if !schema.subtree.any(Flags::REF) {
            return *schema;
        }
        self.rewrite(schema, true)
    }

    /// Rewrites the references of a schema and wraps those with siblings. Below keywords that kube-openapi's converter
    /// does not visit, `known` is false, and references are only wrapped.
    fn rewrite(&mut self, schema: &Schema<'a>, known: bool) -> Schema<'a> {
        let arena = self.arena;
        let mut out = map_schema(schema, arena, &mut |site, inner| {
            let known = known && (matches!(site, Site::Property | Site::Items) || is_additional(schema, inner));
            if inner.subtree.any(Flags::REF) { self.rewrite(inner, known) } else { *inner }
        });
        if out.reference.is_empty() {
            return out;
        }
        match cut(out.reference, DEFINITIONS) {
            Some((_, name)) if known => out.reference = concat(arena, &[SCHEMAS, name]),
            Some(("", _)) => self.notes.add(Code::V3KubeDangling, out.at, out.reference),
            _ => {}
        }
        if has_siblings(&out) {
            self.lose(!out.extra().all_of.is_empty(), out.at, "allOf");
            wrap(&mut out, &[], arena);
        }
        out
    }
}

/// Returns the parts of a string before and after another string. Usually, the string begins with it.
fn cut<'t>(text: &'t str, part: &str) -> Option<(&'t str, &'t str)> {
    match text.strip_prefix(part) {
        Some(rest) => Some(("", rest)),
        None => text.split_once(part),
    }
}

/// Returns whether `inner` is in `additionalProperties` or `additionalItems` of `schema`. Their site is the same as
/// that of `patternProperties`.
fn is_additional(schema: &Schema<'_>, inner: &Schema<'_>) -> bool {
    use kubeshape_schema::Additional;
    [schema.additional, schema.extra().additional_items]
        .into_iter()
        .any(|additional| matches!(additional, Some(Additional::Schema(it)) if std::ptr::eq(it, inner)))
}
