//! The structured-merge-diff schema of a resource (spec: publishing, "SMD schema of a CRD"; smd, "From
//! spec.Schema models").
//!
//! It is made from the definitions that the OpenAPI v3 documents of all versions hold. Those that are
//! the same for every resource are converted once, as [`MetaTypes`].

use crate::operations::AUTOSCALING;
use kubeshape_schema::{Additional, Code, Extra, Flags, Items, Json, Note, Schema, Type};
use kubeshape_smd::schema::{
    self as smd, AtomId, Builder, ListId, MAX_DEPTH, MapDef, MapId, Ref, Relationship, Scalar, UNTYPED_ATOMIC,
    UNTYPED_DEDUCED,
};

/// Which structured-merge-diff schemas are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum SmdCompat {
    /// Those of structured-merge-diff v6.3, as Kubernetes 1.36 has them: without `nullable`.
    #[default]
    V63,
    /// Those of v6.4, where a reference to a nullable value says so.
    V64,
}

/// Why there is no structured-merge-diff schema: in upstream's words, with a place.
///
/// Structural schemas that pass validation never fail here. On a server, one that fails makes every
/// request for the resource fail.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct SmdError {
    /// The definition, how the value is nested in it, and what is wrong.
    pub text: String,
    /// Place: the schema's entry in the tape; of schemas that were not read from the resource, 0.
    pub at: u32,
}

/// A schema, or why there is none.
type Converted = Result<smd::Schema, Vec<SmdError>>;

/// The types of the definitions that are the same for every resource, and the two built-in types.
#[derive(Clone, Debug)]
pub(crate) struct MetaTypes {
    plain: Variants,
    /// With the definitions of the scale subresource.
    scale: Variants,
}

/// The same types, depending on whether unknown fields are preserved everywhere.
#[derive(Clone, Debug)]
struct Variants {
    strict: Converted,
    preserving: Converted,
}

impl MetaTypes {
    /// Converts the closed set of definitions, those of the scale subresource included. None of them is
    /// nullable, so they are the same for every [`SmdCompat`].
    pub(crate) fn new(models: &[(&str, &Schema<'_>)]) -> Self {
        let without: Vec<_> = models.iter().copied().filter(|(name, _)| !name.starts_with(AUTOSCALING)).collect();
        MetaTypes { plain: Variants::new(&without), scale: Variants::new(models) }
    }

    fn get(&self, scale: bool, preserve_unknown_fields: bool) -> &Converted {
        let variants = if scale { &self.scale } else { &self.plain };
        if preserve_unknown_fields { &variants.preserving } else { &variants.strict }
    }
}

impl Variants {
    fn new(models: &[(&str, &Schema<'_>)]) -> Self {
        let convert = |preserve: bool| {
            let mut builder = Builder::new();
            smd::add_untyped_types(&mut builder);
            Converter::new(builder, SmdCompat::default()).convert(models, preserve)
        };
        Variants { strict: convert(false), preserving: convert(true) }
    }
}

/// Converts the published definitions of a resource's versions and puts them among the shared ones,
/// sorted by name.
///
/// # Errors
/// Everything that is wrong with any of them; upstream joins the texts with line breaks.
pub(crate) fn build(
    models: &[(&str, &Schema<'_>)],
    meta: &MetaTypes,
    scale: bool,
    preserve_unknown_fields: bool,
    compat: SmdCompat,
) -> Converted {
    let base = meta.get(scale, preserve_unknown_fields).as_ref().map_err(Clone::clone)?;
    Converter::new(Builder::extending(base), compat).convert(models, preserve_unknown_fields)
}

/// The definition that is any scalar, whatever it says.
const QUANTITY: &str = "io.k8s.apimachinery.pkg.api.resource.Quantity";
/// The definition that is replaced as a whole, whatever it says.
const RAW_EXTENSION: &str = "io.k8s.apimachinery.pkg.runtime.RawExtension";

/// A conversion under way.
struct Converter<'m> {
    builder: Builder,
    compat: SmdCompat,
    errors: Vec<SmdError>,
    /// The definition that is converted.
    definition: &'m str,
}

/// Where a schema stands in its definition.
#[derive(Clone, Copy)]
struct Place {
    /// Unknown fields are preserved here, by the resource or by a schema further out.
    preserve: bool,
    /// How many schemas are around it.
    depth: u16,
}

impl<'m> Converter<'m> {
    fn new(builder: Builder, compat: SmdCompat) -> Self {
        Converter { builder, compat, errors: Vec::new(), definition: "" }
    }

    fn convert(mut self, models: &[(&'m str, &Schema<'_>)], preserve: bool) -> Converted {
        for (name, schema) in models {
            if !schema.extra().reference.is_empty() {
                continue;
            }
            self.definition = name;
            let atom = match *name {
                QUANTITY => AtomId::UNTYPED,
                RAW_EXTENSION => smd::untyped_atomic_atom(&mut self.builder),
                _ => self.atom(schema, Place { preserve, depth: 0 }),
            };
            self.builder.type_def(name, atom);
        }
        if !self.errors.is_empty() {
            return Err(self.errors);
        }
        self.builder.sort_types();
        self.builder.finish().map_err(|error| vec![SmdError { text: error.to_string(), at: 0 }])
    }

    #[cold]
    fn report(&mut self, schema: &Schema<'_>, place: Place, message: &str) {
        let nesting = "inlined in ".repeat(usize::from(place.depth));
        self.errors.push(SmdError { text: format!("{nesting}{}: {message}", self.definition), at: schema.at });
    }

    fn atom(&mut self, schema: &Schema<'_>, mut place: Place) -> AtomId {
        place.preserve |= schema.flags.any(Flags::PRESERVE_UNKNOWN);
        match schema.ty {
            Type::String if matches!(schema.format, "" | "byte") => AtomId::STRING,
            Type::String => AtomId::UNTYPED,
            Type::Integer | Type::Number => AtomId::NUMERIC,
            Type::Boolean => AtomId::BOOLEAN,
            Type::Object => {
                let map = self.map(schema, place);
                self.builder.atom(None, None, Some(map))
            }
            Type::Array => {
                let list = self.list(schema, place);
                self.builder.atom(None, Some(list), None)
            }
            Type::Absent => {
                let list = self.list(schema, place);
                let map = self.map(schema, place);
                self.builder.atom(Some(Scalar::Untyped), Some(list), Some(map))
            }
            Type::Other => {
                self.report(schema, place, &format!("unrecognized type: '{}'", schema.type_name()));
                AtomId::UNTYPED
            }
        }
    }

    /// The reference to a field's, an item's or a member's type.
    fn reference<'s>(&mut self, schema: &Schema<'s>, place: Place) -> Ref<'s> {
        let nullable = self.compat == SmdCompat::V64 && schema.flags.any(Flags::NULLABLE);
        if let Some(extra) = schema.extra
            && let Some(name) = referenced(extra)
        {
            let relationship = self.map_relationship(schema, place);
            return Ref { named: Some(name), relationship, nullable, ..Ref::EMPTY };
        }
        let place = Place { depth: place.depth + 1, ..place };
        if place.depth > MAX_DEPTH {
            self.report(schema, Place { depth: 0, ..place }, &smd::BuildError::TooDeep.to_string());
            return Ref::EMPTY;
        }
        Ref { inlined: self.atom(schema, place), nullable, ..Ref::EMPTY }
    }

    fn map(&mut self, schema: &Schema<'_>, place: Place) -> MapId {
        let fields = self.builder.open();
        // Properties are sorted by UTF-16 units; only characters from U+E000 on make a difference.
        if schema.properties.iter().any(|p| p.name.bytes().any(|b| b >= 0xEE)) {
            let mut properties: Vec<_> = schema.properties.iter().collect();
            properties.sort_by_key(|p| p.name);
            for property in properties {
                self.field(property.name, &property.schema, place);
            }
        } else {
            for property in schema.properties {
                self.field(property.name, &property.schema, place);
            }
        }
        let element = match schema.additional {
            None if place.preserve || schema.properties.is_empty() => Ref::named(UNTYPED_DEDUCED),
            Some(Additional::Allowed(true)) => Ref::named(UNTYPED_DEDUCED),
            None | Some(Additional::Allowed(false)) => Ref::EMPTY,
            Some(Additional::Schema(schema)) => self.reference(schema, place),
        };
        let relationship = self.map_relationship(schema, place);
        self.builder.map(fields, MapDef { element, relationship, unions: &[] })
    }

    #[inline]
    fn field(&mut self, name: &str, schema: &Schema<'_>, place: Place) {
        let type_ref = self.reference(schema, place);
        self.builder.field(name, type_ref, schema.default);
    }

    fn map_relationship(&mut self, schema: &Schema<'_>, place: Place) -> Option<Relationship<'static>> {
        match schema.extra?.map_type? {
            "atomic" => Some(Relationship::Atomic),
            "granular" => Some(Relationship::Separable),
            other => {
                self.report(schema, place, &format!("unknown map type {other}"));
                None
            }
        }
    }

    fn list(&mut self, schema: &Schema<'_>, place: Place) -> ListId {
        let extra = schema.extra();
        let merge_key;
        let (relationship, keys): (_, &[&str]) = match extra.list_type {
            Some("atomic") => (Relationship::Atomic, &[]),
            Some("set") => (Relationship::Associative, &[]),
            Some("map") => {
                if extra.list_map_keys.is_empty() {
                    self.report(schema, place, "missing map keys");
                }
                (Relationship::Associative, extra.list_map_keys)
            }
            Some(other) => {
                self.report(schema, place, &format!("unknown list type {other}"));
                (Relationship::Atomic, &[])
            }
            None => match extension(extra, "x-kubernetes-patch-strategy") {
                None | Some("retainKeys") => (Relationship::Atomic, &[]),
                Some("merge" | "merge,retainKeys") => {
                    merge_key = extension(extra, "x-kubernetes-patch-merge-key");
                    (Relationship::Associative, merge_key.as_slice())
                }
                Some(other) => {
                    self.report(schema, place, &format!("unknown patch strategy {other}"));
                    (Relationship::Atomic, &[])
                }
            },
        };
        let element = match schema.items {
            Some(Items::One(items)) => self.reference(items, place),
            Some(Items::Many(_)) => {
                self.report(schema, place, "structural schema arrays must have exactly one member subtype");
                Ref::named(UNTYPED_DEDUCED)
            }
            None => {
                if schema.ty != Type::Absent {
                    self.report(schema, place, "`items` must be specified on arrays");
                }
                Ref::named(UNTYPED_ATOMIC)
            }
        };
        self.builder.list(element, Some(relationship), keys.iter().copied())
    }
}

/// The definition that a schema refers to, by itself or through the only branch of its `allOf`: what
/// stands behind the last slash.
fn referenced<'s>(extra: &Extra<'s>) -> Option<&'s str> {
    let reference = match (extra.reference, extra.all_of) {
        ("", [only]) => only.extra().reference,
        (reference, _) => reference,
    };
    reference.rsplit('/').next().filter(|name| !name.is_empty())
}

/// An extension that is a text.
fn extension<'s>(extra: &Extra<'s>, name: &str) -> Option<&'s str> {
    extra.extensions.iter().find_map(|(key, value)| match value {
        Json::Str(text) if *key == name => Some(*text),
        _ => None,
    })
}

/// Notes what the structured-merge-diff form of a version's schema does not say, one note for each place
/// and code.
pub(crate) fn losses<'a>(schema: &Schema<'a>, compat: SmdCompat, notes: &mut Vec<Note<'a>>) {
    node_losses(schema, Holder::Definition, compat, notes);
}

/// What holds a schema.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holder {
    Definition,
    Field,
    Element,
}

fn node_losses<'a>(schema: &Schema<'a>, holder: Holder, compat: SmdCompat, notes: &mut Vec<Note<'a>>) {
    let mut note = |code: Code, keywords: &[&str]| {
        if !keywords.is_empty() {
            notes.push(Note::new(code, schema.at, keywords.join(", ")));
        }
    };
    note(Code::SmdDescription, &descriptions(schema));
    note(Code::SmdUntyped, untyped(schema));
    note(Code::SmdValidation, &validations(schema));
    if schema.flags.any(Flags::NULLABLE) && (compat == SmdCompat::V63 || holder == Holder::Definition) {
        note(Code::SmdNullable, &["nullable"]);
    }
    if schema.default.is_some() && holder != Holder::Field {
        note(Code::SmdDefault, &["default"]);
    }
    for property in schema.properties {
        node_losses(&property.schema, Holder::Field, compat, notes);
    }
    for inner in schema.item().into_iter().chain(schema.additional_schema()) {
        node_losses(inner, Holder::Element, compat, notes);
    }
}

/// The names of those that are there.
fn present<const N: usize>(keywords: [(&'static str, bool); N]) -> Vec<&'static str> {
    keywords.into_iter().filter(|(_, there)| *there).map(|(name, _)| name).collect()
}

fn descriptions(schema: &Schema<'_>) -> Vec<&'static str> {
    let extra = schema.extra();
    present([
        ("description", !schema.description.is_empty()),
        ("title", !extra.title.is_empty()),
        ("example", extra.example.is_some()),
        ("externalDocs", extra.external_docs.is_some()),
    ])
}

/// What makes the value untyped and thereby accepts more. A value without a type that preserves unknown
/// fields is anything in both forms.
fn untyped(schema: &Schema<'_>) -> &'static [&'static str] {
    match schema.ty {
        Type::String if !matches!(schema.format, "" | "byte") => &["type", "format"],
        Type::Absent if schema.flags.any(Flags::INT_OR_STRING) => &["x-kubernetes-int-or-string"],
        _ => &[],
    }
}

fn validations(schema: &Schema<'_>) -> Vec<&'static str> {
    let extra = schema.extra();
    let numeric = matches!(schema.ty, Type::Integer | Type::Number);
    // The alternatives that every int-or-string has are part of what makes it untyped.
    let unfolded = schema.flags.any(Flags::INT_OR_STRING);
    let any_of = !extra.any_of.is_empty() && !(unfolded && is_int_or_string(extra.any_of));
    let all_of = extra.all_of.iter().any(|branch| !(unfolded && is_int_or_string(branch.extra().any_of)));
    present([
        ("format", !schema.format.is_empty() && (numeric || schema.format == "byte")),
        ("required", !schema.required.is_empty()),
        ("enum", !schema.enumeration.is_empty()),
        ("pattern", !extra.pattern.is_empty()),
        ("maximum", extra.maximum.is_some()),
        ("exclusiveMaximum", schema.flags.any(Flags::EXCLUSIVE_MAXIMUM)),
        ("minimum", extra.minimum.is_some()),
        ("exclusiveMinimum", schema.flags.any(Flags::EXCLUSIVE_MINIMUM)),
        ("multipleOf", extra.multiple_of.is_some()),
        ("maxLength", extra.max_length.is_some()),
        ("minLength", extra.min_length.is_some()),
        ("maxItems", extra.max_items.is_some()),
        ("minItems", extra.min_items.is_some()),
        ("uniqueItems", schema.flags.any(Flags::UNIQUE_ITEMS)),
        ("maxProperties", extra.max_properties.is_some()),
        ("minProperties", extra.min_properties.is_some()),
        ("allOf", all_of),
        ("anyOf", any_of),
        ("oneOf", !extra.one_of.is_empty()),
        ("not", extra.not.is_some()),
        ("x-kubernetes-validations", !extra.validations.is_empty()),
    ])
}

/// Whether these are the two alternatives of an int-or-string.
fn is_int_or_string(branches: &[Schema<'_>]) -> bool {
    matches!(branches, [Schema { ty: Type::Integer, .. }, Schema { ty: Type::String, .. }])
}
