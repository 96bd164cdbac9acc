//! Parameters outside of bodies, headers, and the types of both.

use super::faithful::{Converter, Shared};
use super::names;
use crate::model::{Boxed, Entry, Extensions, Map, Reference};
use crate::{v2, v3};
use kubeshape_schema::{Code, Extra, Flags, Items, Json, Schema, Type};
use std::cell::Cell;

type Components<'a> = (Map<'a, Boxed<'a, v3::Parameter<'a>>>, Map<'a, Boxed<'a, v3::RequestBody<'a>>>);

/// The style of a parameter in v3.
#[derive(Default)]
pub(super) struct Style {
    pub(super) style: &'static str,
    pub(super) explode: Option<bool>,
}

impl<'a> Converter<'a, '_> {
    /// Converts a shared parameter of the document.
    pub(super) fn shared_parameter(&mut self, entry: &Entry<'a, v2::Parameter<'a>>) -> Shared<'a> {
        let parameter = &entry.value;
        let in_body = matches!(parameter.location, "body" | "formData");
        Shared {
            parameter: (!in_body).then(|| self.parameter(parameter)),
            is_inlined: is_hashed(entry.name, parameter.name),
            is_used: Cell::new(false),
        }
    }

    /// Returns the shared parameters that become components: those to which operations refer, and those that are not
    /// used.
    pub(super) fn shared_components(&mut self) -> Components<'a> {
        let (mut parameters, mut bodies) = (Vec::new(), Vec::new());
        for (i, entry) in self.common.document.parameters.iter().enumerate() {
            let name = self.common.names.parameters.name(entry.name);
            let Shared { parameter, is_inlined, is_used } = &self.common.shared[i];
            match parameter {
                Some(_) if *is_inlined && is_used.get() => {}
                Some(parameter) => {
                    parameters.push(Entry { name, at: entry.at, value: Some(&*self.arena.alloc(*parameter)) });
                }
                None if is_used.get() => {}
                None => {
                    let body = self.unused_body(&entry.value);
                    bodies.push(Entry { name, at: entry.at, value: Some(body) });
                }
            }
        }
        (self.map(parameters), self.map(bodies))
    }

    /// Returns the shared parameter to which a reference points.
    pub(super) fn resolve(&self, reference: Reference<'a>) -> Option<usize> {
        let (name, rest) = names::split(reference.text, "parameters")?;
        let entries = self.common.document.parameters.entries;
        let at = entries.binary_search_by(|entry| kubeshape_schema::order::utf16(entry.name, &name)).ok()?;
        rest.is_empty().then_some(at)
    }

    /// Returns a reference to a shared parameter, or a copy of it where Kubernetes' v3 documents have a copy.
    pub(super) fn referring(&mut self, p: &v2::Parameter<'a>, target: Option<usize>) -> v3::Parameter<'a> {
        if p.has_siblings() {
            self.notes.add(Code::V3RefSiblings, p.at, p.reference.text);
        }
        if let Some(shared) = target.map(|target| &self.common.shared[target]) {
            shared.is_used.set(true);
            if let Some(parameter) = shared.parameter.filter(|_| shared.is_inlined) {
                return parameter;
            }
        } else {
            let external = !p.reference.text.starts_with('#');
            self.notes.add(
                if external { Code::V3ExternalReference } else { Code::V3Reference },
                p.at,
                p.reference.text,
            );
        }
        let text =
            names::component(p.reference.text, "parameters", "parameters", &self.common.names.parameters, self.arena);
        let reference = Reference { text: text.unwrap_or(p.reference.text), ..p.reference };
        v3::Parameter { reference, at: p.at, ..v3::Parameter::default() }
    }

    /// Converts a parameter that is neither a reference nor in the body.
    pub(super) fn parameter(&mut self, p: &v2::Parameter<'a>) -> v3::Parameter<'a> {
        if !p.reference.text.is_empty() {
            let target = self.resolve(p.reference);
            // This only happens for shared parameters, until all of them are converted.
            return self.referring(p, target.filter(|target| *target < self.common.shared.len()));
        }
        let Keywords { extensions, nullable, example } = self.keywords(p.extensions);
        let schema = if let Some(schema) = p.schema {
            self.boxed(schema)
        } else {
            let mut schema = self.simple(&p.simple, p.at);
            self.describe(&mut schema, "", &[], nullable, None);
            self.arena.alloc(schema)
        };
        let Style { style, explode } = self.style(&p.simple, p.location, p.at);
        v3::Parameter {
            name: p.name,
            location: p.location,
            description: p.description,
            required: p.required,
            allow_empty_value: p.allow_empty_value,
            style,
            explode,
            schema: Some(schema),
            example: p.simple.example.or(example),
            extensions,
            at: p.at,
            ..v3::Parameter::default()
        }
    }

    /// Converts a header of a response.
    pub(super) fn header(&mut self, h: &v2::Header<'a>) -> v3::Header<'a> {
        let Keywords { extensions, nullable, example } = self.keywords(h.extensions);
        let mut schema = self.simple(&h.simple, h.at);
        self.describe(&mut schema, "", &[], nullable, None);
        // Headers can have only one style.
        self.style(&h.simple, "header", h.at);
        v3::Header {
            description: h.description,
            schema: Some(self.arena.alloc(schema)),
            example: h.simple.example.or(example),
            extensions,
            at: h.at,
            ..v3::Header::default()
        }
    }

    /// Returns how the items of a list are joined.
    pub(super) fn style(&mut self, simple: &v2::Simple<'a>, location: &str, at: u32) -> Style {
        if simple.ty != "array" {
            if !simple.collection_format.is_empty() {
                self.notes.add(Code::V3Dropped, at, "collectionFormat of a value that is no list");
            }
            return Style::default();
        }
        let in_query = matches!(location, "query" | "formData");
        match (simple.collection_format, in_query) {
            ("" | "csv", true) => Style { style: "form", explode: Some(false) },
            ("multi", true) => Style { style: "", explode: Some(true) },
            ("ssv", true) => Style { style: "spaceDelimited", explode: None },
            ("pipes", true) => Style { style: "pipeDelimited", explode: None },
            ("" | "csv", false) => Style { style: "simple", explode: None },
            (other, in_query) => {
                self.notes.add(Code::V3CollectionFormat, at, other);
                if in_query {
                    Style { style: "form", explode: Some(false) }
                } else {
                    Style { style: "simple", explode: None }
                }
            }
        }
    }

    /// Returns the schema with the meaning of a simple type.
    pub(super) fn simple(&mut self, simple: &v2::Simple<'a>, at: u32) -> Schema<'a> {
        let arena = self.arena;
        let (mut ty, mut format, mut other_type) = (Type::from_name(simple.ty), simple.format, "");
        if ty == Type::Other {
            if simple.ty == "file" {
                (ty, format) = (Type::String, "binary");
            } else {
                other_type = simple.ty;
            }
        }
        let extra = Extra {
            maximum: simple.maximum,
            minimum: simple.minimum,
            multiple_of: simple.multiple_of,
            max_length: simple.max_length,
            min_length: simple.min_length,
            max_items: simple.max_items,
            min_items: simple.min_items,
            pattern: simple.pattern,
            other_type,
            ..Extra::default()
        };
        let has_extra = simple.is_restricted() && extra != Extra::default() || !other_type.is_empty();
        let mut out = Schema {
            ty,
            format,
            enumeration: simple.enumeration,
            default: simple.default.map(|value| &*arena.alloc(value)),
            extra: has_extra.then(|| &*arena.alloc(extra)),
            at,
            ..Schema::default()
        };
        for (flag, on) in [
            (Flags::EXCLUSIVE_MAXIMUM, simple.exclusive_maximum),
            (Flags::EXCLUSIVE_MINIMUM, simple.exclusive_minimum),
            (Flags::UNIQUE_ITEMS, simple.unique_items),
            (Flags::NULLABLE, simple.nullable),
            (Flags::DEFAULT, simple.default.is_some()),
            (Flags::FORMAT, !format.is_empty()),
            (Flags::PATTERN, !simple.pattern.is_empty()),
            (Flags::OTHER_TYPE, ty == Type::Other),
        ] {
            out.flags.set(flag, on);
        }
        out.subtree = out.flags;
        let items = match simple.items {
            Some(items) => Some(self.items(items)),
            // v3 requires `items`.
            None => (ty == Type::Array).then(Schema::default),
        };
        if let Some(items) = items {
            out.subtree = out.subtree.with(items.subtree);
            out.items = Some(Items::One(arena.alloc(items)));
        }
        out
    }

    fn items(&mut self, items: &v2::Items<'a>) -> Schema<'a> {
        if !items.reference.text.is_empty() {
            let reference =
                Schema { reference: items.reference.text, flags: Flags::REF, subtree: Flags::REF, ..Schema::default() };
            return self.schema(&Schema { at: items.at, ..reference });
        }
        if !matches!(items.simple.collection_format, "" | "csv") {
            self.notes.add(Code::V3CollectionFormat, items.at, items.simple.collection_format);
        }
        let Keywords { extensions, nullable, example } = self.keywords(items.extensions);
        let mut schema = self.simple(&items.simple, items.at);
        let example = items.simple.example.or(example);
        self.describe(&mut schema, "", extensions, nullable, example);
        schema
    }

    /// Adds the members of a simple type other than its type to a schema.
    pub(super) fn describe(
        &self,
        schema: &mut Schema<'a>,
        description: &'a str,
        extensions: Extensions<'a>,
        nullable: bool,
        example: Option<Json<'a>>,
    ) {
        schema.description = description;
        schema.flags.set(Flags::NULLABLE, nullable || schema.flags.any(Flags::NULLABLE));
        schema.subtree = schema.subtree.with(schema.flags);
        if !extensions.is_empty() || example.is_some() {
            let example = example.map(|example| &*self.arena.alloc(example));
            schema.extra = Some(self.arena.alloc(Extra { extensions, example, ..*schema.extra() }));
        }
    }

    /// Returns extensions of parameters, headers and items that are keywords of v3, separated from the others.
    pub(super) fn keywords(&self, extensions: Extensions<'a>) -> Keywords<'a> {
        let mut out = Keywords { extensions, nullable: false, example: None };
        if !extensions.iter().any(|(key, _)| matches!(*key, "x-nullable" | "x-example")) {
            return out;
        }
        let mut kept = Vec::with_capacity(extensions.len());
        for (key, value) in extensions {
            match (*key, value) {
                ("x-nullable", Json::Bool(on)) => out.nullable = *on,
                ("x-example", value) if *value != Json::Null => out.example = Some(*value),
                _ => kept.push((*key, *value)),
            }
        }
        out.extensions = self.arena.alloc_slice_copy(&kept);
        out
    }
}

/// The result of [`Converter::keywords`].
pub(super) struct Keywords<'a> {
    pub(super) extensions: Extensions<'a>,
    pub(super) nullable: bool,
    pub(super) example: Option<Json<'a>>,
}

/// Returns whether a shared parameter comes from Kubernetes' builder of v2 documents, which shares repeated ones under
/// their name and a hash; its v3 documents repeat them.
fn is_hashed(key: &str, name: &str) -> bool {
    let hash = key.strip_prefix(name).and_then(|rest| rest.strip_prefix('-'));
    hash.is_some_and(|hash| {
        hash.len() == 8 && hash.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
    })
}
