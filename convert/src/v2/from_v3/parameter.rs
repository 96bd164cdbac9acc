//! Parameters and headers: they have a schema in OpenAPI v3 and a simple type in OpenAPI v2.

use super::Converter;
use super::reference::follow;
use crate::model::{Boxed, Entry, Extensions, Map};
use crate::{v2, v3};
use kubeshape_schema::read::is_extension;
use kubeshape_schema::{Code, Extra, Flags, Items, Json, Schema, Type};

/// Items of items beyond this depth become strings: shared schemas may contain themselves.
const MAX_ITEMS: usize = 16;

/// The conversion of a schema outside of bodies.
#[derive(Default)]
pub(super) struct Simplified<'a> {
    pub(super) simple: v2::Simple<'a>,
    /// The schema's extensions, which become those of the parameter.
    pub(super) extensions: Extensions<'a>,
    pub(super) description: &'a str,
}

impl<'a> Converter<'a> {
    /// Converts parameters of a path or an operation, without those that OpenAPI v2 does not have.
    pub(super) fn parameters(&mut self, parameters: &[v3::Parameter<'a>], out: &mut Vec<v2::Parameter<'a>>) {
        for parameter in parameters {
            if let Some(parameter) = self.parameter(parameter) {
                out.push(parameter);
            }
        }
    }

    pub(super) fn shared_parameters(&mut self, out: &mut Vec<Entry<'a, v2::Parameter<'a>>>) {
        for entry in self.components.parameters {
            let Some(parameter) = entry.value else {
                self.lose(Code::DownComponent, entry.at, entry.name);
                continue;
            };
            if let Some(value) = self.parameter(parameter) {
                out.push(Entry { name: entry.name, at: entry.at, value });
            }
        }
    }

    fn parameter(&mut self, parameter: &v3::Parameter<'a>) -> Option<v2::Parameter<'a>> {
        let mut out = v2::Parameter { at: parameter.at, ..Default::default() };
        if !parameter.reference.text.is_empty() {
            let found =
                follow(self.components.parameters, "parameters", parameter.reference.text, |p| p.reference.text);
            if found.is_some_and(|(_, found)| found.location == "cookie") {
                self.lose(Code::DownCookie, parameter.at, parameter.reference.text);
                return None;
            }
            out.reference = parameter.reference;
            out.reference.text = self.reference(parameter.reference.text, parameter.at);
            out.extensions = parameter.extensions;
            self.lose_members(
                Code::DownKeyword,
                parameter.at,
                &[
                    ("name", !parameter.name.is_empty()),
                    ("in", !parameter.location.is_empty()),
                    ("description", !parameter.description.is_empty()),
                    ("required", parameter.required),
                    ("deprecated", parameter.deprecated),
                    ("schema", parameter.schema.is_some()),
                    ("content", !parameter.content.is_empty()),
                ],
            );
            return Some(out);
        }
        if parameter.location == "cookie" {
            self.lose(Code::DownCookie, parameter.at, parameter.name);
            return None;
        }
        out.name = parameter.name;
        out.location = parameter.location;
        out.description = parameter.description;
        out.required = parameter.required;
        out.allow_empty_value = parameter.allow_empty_value;
        let written = Written {
            at: parameter.at,
            location: parameter.location,
            style: parameter.style,
            explode: parameter.explode,
            allow_reserved: parameter.allow_reserved,
        };
        let value = self.value(parameter.schema, parameter.content, &written);
        out.simple = value.simple;
        if out.description.is_empty() {
            out.description = value.description;
        } else if !value.description.is_empty() {
            self.lose(Code::DownSimple, parameter.at, "description");
        }
        out.extensions = self.extensions_of(
            value.extensions,
            parameter.extensions,
            parameter.deprecated,
            parameter.example,
            parameter.at,
        );
        self.lose_members(Code::DownExample, parameter.at, &[("examples", !parameter.examples.is_empty())]);
        Some(out)
    }

    /// Converts headers of a response.
    pub(super) fn headers(&mut self, headers: Map<'a, Boxed<'a, v3::Header<'a>>>, at: u32) -> Map<'a, v2::Header<'a>> {
        let mut out = Vec::with_capacity(headers.entries.len());
        for entry in headers {
            let mut found = entry.value;
            if let Some(header) = found
                && !header.reference.text.is_empty()
            {
                let text = header.reference.text;
                found =
                    follow(self.components.headers, "headers", text, |h| h.reference.text).map(|(_, header)| header);
                let code = if found.is_some() { Code::DownInlined } else { Code::DownReference };
                self.lose(code, header.at, text);
            }
            let value = if let Some(header) = found {
                self.header(header)
            } else {
                // A header needs a type.
                self.lose(Code::DownText, at, entry.name);
                v2::Header { simple: text(""), at: entry.at, ..Default::default() }
            };
            out.push(Entry { name: entry.name, at: entry.at, value });
        }
        if headers.present { Map::new(self.slice(&out)) } else { Map::default() }
    }

    fn header(&mut self, header: &v3::Header<'a>) -> v2::Header<'a> {
        let written = Written {
            at: header.at,
            location: "header",
            style: header.style,
            explode: header.explode,
            allow_reserved: header.allow_reserved,
        };
        let value = self.value(header.schema, header.content, &written);
        let mut description = header.description;
        if description.is_empty() {
            description = value.description;
        } else if !value.description.is_empty() {
            self.lose(Code::DownSimple, header.at, "description");
        }
        let members = [("required", header.required), ("allowEmptyValue", header.allow_empty_value)];
        self.lose_members(Code::DownKeyword, header.at, &members);
        self.lose_members(Code::DownExample, header.at, &[("examples", !header.examples.is_empty())]);
        let extensions =
            self.extensions_of(value.extensions, header.extensions, header.deprecated, header.example, header.at);
        v2::Header { simple: value.simple, description, extensions, at: header.at }
    }

    /// Returns the extensions of a parameter: its own, those of its schema, and those that replace members.
    fn extensions_of(
        &mut self,
        schema: Extensions<'a>,
        own: Extensions<'a>,
        deprecated: bool,
        example: Option<Json<'a>>,
        at: u32,
    ) -> Extensions<'a> {
        let mut all = self.joined(schema, own, at);
        let members =
            [("deprecated", "x-deprecated", deprecated.then_some(Json::Bool(true))), ("example", "x-example", example)];
        for (name, extension, value) in members {
            let Some(value) = value else { continue };
            if self.is_kube() {
                self.lose(Code::DownKeyword, at, name);
            } else {
                self.lose(Code::DownExtension, at, name);
                all = self.with_extension(all, extension, value);
            }
        }
        all
    }

    /// Merges the extensions of a schema with those of the object of which it becomes a part. The latter win.
    fn joined(&mut self, schema: Extensions<'a>, own: Extensions<'a>, at: u32) -> Extensions<'a> {
        if schema.is_empty() {
            return own;
        }
        let mut all: Vec<(&'a str, Json<'a>)> = schema.to_vec();
        all.extend_from_slice(own);
        let kept = kubeshape_schema::order::sort_last_wins(&mut all, |(name, _)| name);
        if kept < all.len() {
            self.lose(Code::DownSimple, at, "extensions of the schema");
        }
        self.slice(&all[..kept])
    }

    fn value(
        &mut self,
        schema: Option<&'a Schema<'a>>,
        content: Map<'a, Boxed<'a, v3::MediaType<'a>>>,
        written: &Written<'_>,
    ) -> Simplified<'a> {
        if !content.is_empty() {
            let names: Vec<&str> = content.iter().map(|entry| entry.name).collect();
            self.lose(Code::DownText, written.at, names.join(", "));
            return Simplified { simple: text(""), ..Default::default() };
        }
        let Some(schema) = schema else {
            self.lose(Code::DownText, written.at, "schema");
            return Simplified { simple: text(""), ..Default::default() };
        };
        let mut value = self.simplify(schema, written.at);
        value.simple.collection_format = self.collection_format(value.simple.ty == "array", written);
        value
    }

    /// Returns the simple type of a schema. It accepts what the schema accepts, as it is written in a request.
    pub(super) fn simplify(&mut self, schema: &Schema<'a>, at: u32) -> Simplified<'a> {
        self.simplify_within(schema, at, 0)
    }

    fn simplify_within(&mut self, source: &Schema<'a>, at: u32, depth: usize) -> Simplified<'a> {
        let Some(schema) = self.resolve_schema(source) else {
            self.lose(Code::DownReference, at, source.reference);
            return Simplified { simple: text(""), ..Default::default() };
        };
        if schema.at != source.at || !source.reference.is_empty() {
            let reference = if source.reference.is_empty() { "allOf" } else { source.reference };
            self.lose(Code::DownInlined, at, reference);
        }
        let extra = schema.extra();
        let mut out = Simplified { description: schema.description, ..Default::default() };
        let mut simple = v2::Simple { format: schema.format, default: schema.default.copied(), ..Default::default() };
        match schema.ty {
            Type::String | Type::Number | Type::Integer | Type::Boolean => simple.ty = schema.ty.name(),
            Type::Array if depth < MAX_ITEMS => {
                simple.ty = "array";
                simple.items = Some(self.items(schema.items, at, depth));
            }
            _ => {
                self.lose(Code::DownText, at, shape(&schema));
                // Bounds and values of other types do not apply to strings.
                let format = if schema.format == "int-or-string" { schema.format } else { "" };
                out.simple = text(format);
                out.extensions = self.schema_extensions(&schema, at);
                return out;
            }
        }
        simple.maximum = extra.maximum;
        simple.minimum = extra.minimum;
        simple.exclusive_maximum = schema.flags.any(Flags::EXCLUSIVE_MAXIMUM);
        simple.exclusive_minimum = schema.flags.any(Flags::EXCLUSIVE_MINIMUM);
        simple.max_length = extra.max_length;
        simple.min_length = extra.min_length;
        simple.pattern = extra.pattern;
        simple.max_items = extra.max_items;
        simple.min_items = extra.min_items;
        simple.unique_items = schema.flags.any(Flags::UNIQUE_ITEMS);
        simple.multiple_of = extra.multiple_of;
        simple.enumeration = schema.enumeration;
        out.simple = simple;
        out.extensions = self.schema_extensions(&schema, at);
        self.lose_rest(&schema, at);
        out
    }

    fn items(&mut self, items: Option<Items<'a>>, at: u32, depth: usize) -> &'a v2::Items<'a> {
        let out = if let Some(Items::One(item)) = items {
            let value = self.simplify_within(item, at, depth + 1);
            self.lose_members(Code::DownSimple, at, &[("description of items", !value.description.is_empty())]);
            v2::Items { simple: value.simple, extensions: value.extensions, at: item.at, ..Default::default() }
        } else {
            self.lose(Code::DownText, at, "items");
            v2::Items { simple: text(""), ..Default::default() }
        };
        self.arena.alloc(out)
    }

    /// Returns the schema's extensions, and those that replace members that simple types do not have.
    pub(super) fn schema_extensions(&mut self, schema: &Schema<'a>, at: u32) -> Extensions<'a> {
        let all = schema.extra().extensions;
        let mut kept: Vec<(&'a str, Json<'a>)> = Vec::new();
        for (name, value) in all {
            if is_extension(name) {
                kept.push((name, *value));
            } else {
                self.lose(Code::DownSimple, at, *name);
            }
        }
        let mut out = if kept.len() == all.len() { all } else { self.slice(&kept) };
        if schema.flags.any(Flags::NULLABLE) {
            if self.is_kube() {
                self.lose(Code::DownKeyword, at, "nullable");
            } else {
                self.lose(Code::DownExtension, at, "nullable");
                out = self.with_extension(out, "x-nullable", Json::Bool(true));
            }
        }
        out
    }

    /// Notes the keywords that simple types do not have.
    pub(super) fn lose_rest(&mut self, schema: &Schema<'a>, at: u32) {
        let e = schema.extra();
        if schema.extra.is_none() && schema.properties.is_empty() && schema.required.is_empty() {
            return self.lose_members(
                Code::DownSimple,
                at,
                &[
                    ("additionalProperties", schema.additional.is_some()),
                    ("readOnly", schema.flags.any(Flags::READ_ONLY)),
                ],
            );
        }
        self.lose_members(
            Code::DownSimple,
            at,
            &[
                ("title", !e.title.is_empty()),
                ("maxProperties", e.max_properties.is_some()),
                ("minProperties", e.min_properties.is_some()),
                ("required", !schema.required.is_empty()),
                ("items", schema.items.is_some() && schema.ty != Type::Array),
                ("allOf", !e.all_of.is_empty()),
                ("oneOf", !e.one_of.is_empty()),
                ("anyOf", !e.any_of.is_empty()),
                ("not", e.not.is_some()),
                ("properties", !schema.properties.is_empty()),
                ("additionalProperties", schema.additional.is_some()),
                ("discriminator", !e.discriminator.is_empty()),
                ("readOnly", schema.flags.any(Flags::READ_ONLY)),
                ("externalDocs", e.external_docs.is_some()),
                ("example", e.example.is_some()),
                ("Kubernetes' extensions", has_typed_extensions(schema, e)),
                ("keywords of JSON Schema", has_json_schema(e)),
            ],
        );
    }

    fn collection_format(&mut self, is_array: bool, written: &Written<'_>) -> &'static str {
        let Written { at, location, style, explode, allow_reserved } = *written;
        self.lose_members(Code::DownStyle, at, &[("allowReserved", allow_reserved)]);
        let in_query = matches!(location, "query" | "formData");
        let format = match (in_query, style) {
            _ if !is_array => None,
            (true, "" | "form") if explode != Some(false) => Some("multi"),
            (true, "spaceDelimited" | "pipeDelimited") if explode == Some(true) => Some("multi"),
            (true, "spaceDelimited") => Some("ssv"),
            (true, "pipeDelimited") => Some("pipes"),
            // Without names around the values, it makes no difference whether they are exploded.
            (true, "" | "form") | (false, "" | "simple") => Some(""),
            _ => None,
        };
        if format.is_none() {
            // Values other than arrays are written the same with any style.
            self.lose_members(Code::DownStyle, at, &[("style", !style.is_empty()), ("explode", explode.is_some())]);
        } else if !in_query || style.ends_with("Delimited") {
            self.lose_members(Code::DownStyle, at, &[("explode", explode.is_some() && format != Some("multi"))]);
        }
        format.unwrap_or("")
    }
}

/// How a value is written in a request.
struct Written<'a> {
    at: u32,
    location: &'a str,
    style: &'a str,
    explode: Option<bool>,
    allow_reserved: bool,
}

/// A string with any contents.
pub(super) fn text(format: &str) -> v2::Simple<'_> {
    v2::Simple { ty: "string", format, ..Default::default() }
}

/// Describes a schema without simple type for a note.
fn shape<'a>(schema: &Schema<'a>) -> &'a str {
    match schema.ty {
        Type::Absent => "a schema without type",
        Type::Several => "several types",
        Type::Array => "nested items",
        Type::Other | Type::String | Type::Number | Type::Integer | Type::Boolean | Type::Object => schema.type_name(),
    }
}

fn has_typed_extensions(schema: &Schema<'_>, extra: &Extra<'_>) -> bool {
    let flags = Flags::PRESERVE_UNKNOWN.with(Flags::INT_OR_STRING).with(Flags::EMBEDDED_RESOURCE);
    schema.flags.any(flags)
        || extra.list_type.is_some()
        || extra.map_type.is_some()
        || !extra.list_map_keys.is_empty()
        || !extra.validations.is_empty()
}

fn has_json_schema(extra: &Extra<'_>) -> bool {
    !(extra.id.is_empty()
        && extra.schema_uri.is_empty()
        && extra.pattern_properties.is_empty()
        && extra.dependencies.is_empty()
        && extra.additional_items.is_none()
        && extra.definitions.is_empty())
}
