//! Request bodies: a body parameter, or the parameters of a form.

use super::Converter;
use super::reference::follow;
use crate::model::{Boxed, Entry, Map, Reference, Texts};
use crate::{v2, v3};
use kubeshape_schema::{Code, Flags, Schema, Type};
use kubeshape_yaml::pointer;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// The media types of a body.
type Content<'a> = Map<'a, Boxed<'a, v3::MediaType<'a>>>;

/// The conversion of a shared request body.
#[derive(Clone, Copy)]
pub(super) enum Shared<'a> {
    /// A shared parameter with this name.
    Parameter(&'a str),
    /// It is inlined where it is used.
    Inlined,
}

impl<'a> Converter<'a> {
    /// Converts shared request bodies that are not forms to shared parameters.
    pub(super) fn shared_bodies(&mut self, parameters: &mut Vec<Entry<'a, v2::Parameter<'a>>>) {
        for entry in self.components.request_bodies {
            let body = match entry.value {
                Some(body) if body.reference.text.is_empty() && self.form(body).is_none() => body,
                _ => {
                    self.lose(Code::DownComponent, entry.at, entry.name);
                    self.bodies.insert(entry.name, Shared::Inlined);
                    continue;
                }
            };
            let name = self.free_name(entry.name);
            if name != entry.name {
                self.lose(Code::DownRenamed, entry.at, name);
            }
            let value = self.body_parameter(body);
            self.lose_members(Code::DownMediaTypesShared, body.at, &[("content", !body.content.is_empty())]);
            parameters.push(Entry { name, at: entry.at, value });
            self.bodies.insert(entry.name, Shared::Parameter(name));
        }
    }

    /// Returns a name that no shared parameter has. The names of all shared bodies are considered, so that none gets
    /// the name of another.
    fn free_name(&self, name: &'a str) -> &'a str {
        let taken = |candidate: &str| {
            self.components.parameters.get(candidate).is_some()
                || self.bodies.values().any(|shared| matches!(shared, Shared::Parameter(other) if *other == candidate))
        };
        if !taken(name) {
            return name;
        }
        let mut candidate = format!("{name}Body");
        let mut number = 2;
        while taken(&candidate) || self.components.request_bodies.get(&candidate).is_some() {
            candidate = format!("{name}Body{number}");
            number += 1;
        }
        self.arena.alloc_str(&candidate)
    }

    /// Adds the parameters of a body, and returns its media types.
    pub(super) fn body(&mut self, body: &v3::RequestBody<'a>, out: &mut Vec<v2::Parameter<'a>>) -> Option<Texts<'a>> {
        let mut found = body;
        let text = body.reference.text;
        if !text.is_empty() {
            match follow(self.components.request_bodies, "requestBodies", text, |body| body.reference.text) {
                None => {
                    self.lose(Code::DownReference, body.at, text);
                    out.push(any_body(body));
                    return None;
                }
                Some((name, shared)) => {
                    if let Some(Shared::Parameter(name)) = self.bodies.get(name).copied() {
                        let reference = Reference { text: self.concat("#/parameters/", &escape(name)), at: body.at };
                        out.push(v2::Parameter { reference, at: body.at, ..Default::default() });
                        return self.media_types(shared.content);
                    }
                    self.lose(Code::DownInlined, body.at, text);
                    found = shared;
                }
            }
        }
        match self.form(found) {
            Some(form) => self.form_parameters(found, &form, out),
            None => out.push(self.body_parameter(found)),
        }
        self.media_types(found.content)
    }

    fn media_types(&self, content: Content<'a>) -> Option<Texts<'a>> {
        let names: Vec<&'a str> = content.iter().map(|entry| entry.name).collect();
        (!names.is_empty()).then(|| self.slice(&names))
    }

    fn body_parameter(&mut self, body: &v3::RequestBody<'a>) -> v2::Parameter<'a> {
        let schema = self.content_schema(body.content, body.at);
        for entry in body.content {
            if let Some(media) = entry.value {
                let examples = [("example", media.example.is_some()), ("examples", !media.examples.is_empty())];
                self.lose_members(Code::DownExample, media.at, &examples);
            }
        }
        v2::Parameter { schema: Some(schema.unwrap_or_else(|| self.any())), ..described(body) }
    }

    pub(super) fn any(&self) -> &'a Schema<'a> {
        self.arena.alloc(Schema::default())
    }

    /// Returns the one schema of all media types, or `None` if there is no media type.
    pub(super) fn content_schema(&mut self, content: Content<'a>, at: u32) -> Option<&'a Schema<'a>> {
        let mut schemas: Vec<Option<&'a Schema<'a>>> = Vec::with_capacity(content.entries.len());
        for entry in content {
            if let Some(media) = entry.value {
                self.lose_members(Code::DownEncoding, media.at, &[("encoding", !media.encoding.is_empty())]);
                self.lose_extensions(media.at, media.extensions);
            }
            schemas.push(entry.value.and_then(|media| media.schema));
        }
        let first = *schemas.first()?;
        if schemas.iter().all(|other| same(first, *other)) {
            return Some(match first {
                Some(first) => self.schema_in_arena(first),
                None => self.any(),
            });
        }
        let names: Vec<&str> = content.iter().map(|entry| entry.name).collect();
        self.lose(Code::DownMediaTypes, at, names.join(", "));
        Some(self.arena.alloc(self.common(&schemas)))
    }

    /// Returns a schema that accepts everything that all of the schemas accept.
    fn common(&self, schemas: &[Option<&'a Schema<'a>>]) -> Schema<'a> {
        let ty = |schema: Option<&'a Schema<'a>>| {
            let schema = self.resolve_schema(schema?)?;
            // Readers disagree on whether a nullable value without such a type may be null.
            let plain =
                !matches!(schema.ty, Type::Absent | Type::Other | Type::Several) && !schema.flags.any(Flags::NULLABLE);
            plain.then_some(schema.ty)
        };
        let first = schemas.first().copied().and_then(ty);
        match first {
            Some(first) if first != Type::Array && schemas.iter().all(|schema| ty(*schema) == Some(first)) => {
                Schema { ty: first, ..Schema::default() }
            }
            _ => Schema::default(),
        }
    }

    /// Returns the schema of a form whose properties can be parameters.
    fn form(&self, body: &v3::RequestBody<'a>) -> Option<Schema<'a>> {
        let mut schemas = body.content.iter().map(|entry| {
            let is_form = matches!(media_type(entry.name), "application/x-www-form-urlencoded" | "multipart/form-data");
            is_form.then_some(entry.value?.schema?)
        });
        let first = schemas.next()??;
        if !schemas.all(|schema| schema.is_some_and(|schema| same(Some(first), Some(schema)))) {
            return None;
        }
        let schema = self.resolve_schema(first)?;
        let e = schema.extra();
        let is_list = matches!(schema.ty, Type::Object | Type::Absent)
            && !schema.properties.is_empty()
            && !schema.flags.any(Flags::NULLABLE.with(Flags::JUNCTOR))
            && e.pattern_properties.is_empty();
        is_list.then_some(schema)
    }

    fn form_parameters(&mut self, body: &v3::RequestBody<'a>, schema: &Schema<'a>, out: &mut Vec<v2::Parameter<'a>>) {
        self.lose_form(body, schema);
        let required: BTreeSet<&str> = schema.required.iter().copied().collect();
        for property in schema.properties {
            let mut parameter = v2::Parameter {
                name: property.name,
                location: "formData",
                required: required.contains(property.name),
                at: property.schema.at,
                ..Default::default()
            };
            let found = self.resolve_schema(&property.schema);
            if let Some(found) = found.filter(is_binary) {
                let at = property.schema.at;
                parameter.simple.ty = "file";
                parameter.simple.default = found.default.copied();
                parameter.description = found.description;
                parameter.extensions = self.schema_extensions(&found, at);
                self.lose_file(&found, at);
                if !property.schema.reference.is_empty() {
                    self.lose(Code::DownInlined, at, property.schema.reference);
                }
            } else {
                let value = self.simplify(&property.schema, property.schema.at);
                parameter.simple = value.simple;
                parameter.description = value.description;
                parameter.extensions = value.extensions;
                if parameter.simple.ty == "array" {
                    parameter.simple.collection_format = "multi";
                }
            }
            out.push(parameter);
        }
    }

    /// Notes what a file parameter cannot express.
    pub(super) fn lose_file(&mut self, schema: &Schema<'a>, at: u32) {
        let e = schema.extra();
        let members = [
            ("maxLength", e.max_length.is_some()),
            ("minLength", e.min_length.is_some()),
            ("pattern", !e.pattern.is_empty()),
        ];
        self.lose_members(Code::DownSimple, at, &members);
        self.lose_rest(schema, at);
    }

    /// Notes what the parameters of a form cannot express.
    fn lose_form(&mut self, body: &v3::RequestBody<'a>, schema: &Schema<'a>) {
        let e = schema.extra();
        let members = [
            ("description of the body", !body.description.is_empty()),
            ("required of the body", body.required && schema.required.is_empty()),
            ("description", !schema.description.is_empty()),
            ("title", !e.title.is_empty()),
            ("minProperties", e.min_properties.is_some()),
            ("maxProperties", e.max_properties.is_some()),
            ("additionalProperties", schema.additional.is_some()),
            ("default", schema.default.is_some()),
            ("example", e.example.is_some()),
            ("enum", !schema.enumeration.is_empty()),
            ("externalDocs", e.external_docs.is_some()),
            ("required", schema.required.iter().any(|name| schema.property(name).is_none())),
            ("extensions", !e.extensions.is_empty()),
        ];
        self.lose_members(Code::DownForm, body.at, &members);
        self.lose_extensions(body.at, body.extensions);
        for entry in body.content {
            let Some(media) = entry.value else { continue };
            if let Some(source) = media.schema.filter(|source| !source.reference.is_empty()) {
                self.lose(Code::DownInlined, source.at, source.reference);
            }
            let examples = [("example", media.example.is_some()), ("examples", !media.examples.is_empty())];
            self.lose_members(Code::DownExample, media.at, &examples);
            self.lose_members(Code::DownEncoding, media.at, &[("encoding", !media.encoding.is_empty())]);
            self.lose_extensions(media.at, media.extensions);
        }
    }
}

fn described<'a>(body: &v3::RequestBody<'a>) -> v2::Parameter<'a> {
    v2::Parameter {
        name: "body",
        location: "body",
        description: body.description,
        required: body.required,
        extensions: body.extensions,
        at: body.at,
        ..Default::default()
    }
}

/// Returns a body with unknown contents.
fn any_body<'a>(body: &v3::RequestBody<'a>) -> v2::Parameter<'a> {
    static ANY: Schema<'static> = Schema {
        description: "",
        format: "",
        properties: &[],
        required: &[],
        enumeration: &[],
        items: None,
        additional: None,
        reference: "",
        default: None,
        extra: None,
        at: 0,
        flags: Flags::NONE,
        subtree: Flags::NONE,
        ty: Type::Absent,
    };
    v2::Parameter { schema: Some(&ANY), ..described(body) }
}

/// Returns whether two schemas print the same.
fn same(a: Option<&Schema<'_>>, b: Option<&Schema<'_>>) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) if a.reference == b.reference && !a.reference.is_empty() => {
            a.extra == b.extra && a.description == b.description
        }
        (Some(a), Some(b)) => std::ptr::eq(a, b) || printed(a) == printed(b),
        _ => false,
    }
}

fn printed(schema: &Schema<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    kubeshape_schema::print::schema(&mut out, schema, kubeshape_schema::print::Style::V2);
    out
}

/// Returns whether a schema is that of raw bytes.
pub(super) fn is_binary(schema: &Schema<'_>) -> bool {
    schema.ty == Type::String && schema.format == "binary" && schema.enumeration.is_empty()
}

/// Returns a media type without its parameters.
fn media_type(name: &str) -> &str {
    name.split(';').next().unwrap_or(name).trim()
}

/// Returns a name as a segment of a reference.
fn escape(name: &str) -> String {
    let text = format!("#/{}", pointer::escape(name).replace('%', "%25"));
    let text = kubeshape_schema::reference::normalize(&text).unwrap_or(Cow::Borrowed(&text));
    text.strip_prefix("#/").unwrap_or(&text).to_owned()
}
