//! The losses of a structured-merge-diff schema: what it cannot express of its source.
//!
//! There is one note for each location and code. Its detail lists the keywords.

use super::direct::branches_bring_more;
use super::merging;
use super::references::{Target, Targets, last_segment, pure_reference, reference_of};
use super::unions::UNIONS;
use super::{Options, Profile, SmdCompat};
use kubeshape_schema::{Additional, Code, Dialect, Flags, Items, Note, Property, Schema, Type};

/// Notes the losses of one structural schema, such as that of a version of a custom resource.
///
/// # Example
/// ```
/// use kubeshape_convert::smd::{SmdCompat, losses};
/// use kubeshape_schema::{Code, Schema, Type};
///
/// let schema = Schema { ty: Type::String, format: "date", description: "A day.", ..Schema::default() };
/// let mut notes = Vec::new();
/// losses::of_structural(&schema, SmdCompat::V63, &mut notes);
/// let codes: Vec<Code> = notes.iter().map(|note| note.code).collect();
/// assert_eq!(codes, [Code::SmdDescription, Code::SmdUntyped]);
/// ```
pub fn of_structural<'a>(schema: &Schema<'a>, compat: SmdCompat, notes: &mut Vec<Note<'a>>) {
    Walk { compat, way: Way::Structural, notes }.node(schema, Holder::Definition, false);
}

/// Notes the losses of the definitions of a document of that dialect in [`from_v2::convert`](super::from_v2::convert)
/// or [`from_v3::convert`](super::from_v3::convert).
pub fn of_definitions<'a>(definitions: &[Property<'a>], dialect: Dialect, options: Options, notes: &mut Vec<Note<'a>>) {
    let models: Vec<(&str, &Schema<'_>)> = definitions.iter().map(|p| (p.name, &p.schema)).collect();
    let way = match (options.profile, dialect) {
        (Profile::Faithful, _) => Way::Faithful(Targets::new(&models)),
        (Profile::Kube, Dialect::V2) => Way::Models,
        (Profile::Kube, Dialect::V3) => {
            let types = definitions.iter().filter(|p| p.schema.reference.is_empty());
            let mut names: Vec<&str> = types.map(|p| p.name).collect();
            names.sort_unstable();
            Way::Direct(names)
        }
    };
    let mut walk = Walk { compat: options.compat, way, notes };
    for definition in definitions {
        walk.node(&definition.schema, Holder::Definition, options.preserve_unknown);
    }
}

/// The rules of the conversion.
enum Way<'m> {
    /// Directly, from structural schemas, which have no references.
    Structural,
    /// Directly, with these types.
    Direct(Vec<&'m str>),
    Models,
    Faithful(Targets<'m>),
}

/// The parent of a schema.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holder {
    Definition,
    Field,
    Element,
}

struct Walk<'m, 'n, 'a> {
    compat: SmdCompat,
    way: Way<'m>,
    notes: &'n mut Vec<Note<'a>>,
}

impl<'a> Walk<'_, '_, 'a> {
    fn note(&mut self, code: Code, schema: &Schema<'a>, keywords: &[&str]) {
        if !keywords.is_empty() {
            self.notes.push(Note::new(code, schema.at, keywords.join(", ")));
        }
    }

    /// `preserve`: whether a schema around this one preserves unknown fields.
    fn node(&mut self, schema: &Schema<'a>, holder: Holder, preserve: bool) {
        let reference = self.reference(schema);
        self.note(Code::SmdDescription, schema, &self.descriptions(schema));
        self.note(Code::SmdUntyped, schema, untyped(schema));
        self.note(Code::SmdValidation, schema, &validations(schema, reference.is_some()));
        let nullable = schema.flags.any(Flags::NULLABLE);
        let said = !matches!(self.way, Way::Models) && self.compat == SmdCompat::V64 && holder != Holder::Definition;
        if nullable && !said {
            self.note(Code::SmdNullable, schema, &["nullable"]);
        }
        if schema.default.is_some() && holder != Holder::Field {
            self.note(Code::SmdDefault, schema, &["default"]);
        }
        if let Some(reference) = reference {
            return self.behind_reference(schema, holder, reference);
        }
        let preserve = match self.way {
            Way::Structural => false,
            Way::Models => match self.model(schema, preserve) {
                Some(preserve) => preserve,
                None => return,
            },
            Way::Direct(_) | Way::Faithful(_) => {
                self.document(schema);
                preserve
            }
        };
        for property in schema.properties {
            self.node(&property.schema, Holder::Field, preserve);
        }
        if matches!(self.way, Way::Models) && schema.flags.any(Flags::PROPERTIES_WRITTEN) {
            return;
        }
        for inner in schema.item().into_iter().chain(schema.additional_schema()) {
            self.node(inner, Holder::Element, preserve);
        }
    }

    fn descriptions(&self, schema: &Schema<'a>) -> Vec<&'a str> {
        let extra = schema.extra();
        let mut found = present([
            ("description", !schema.description.is_empty()),
            ("title", !extra.title.is_empty()),
            ("example", extra.example.is_some()),
            ("externalDocs", extra.external_docs.is_some()),
            ("readOnly", schema.flags.any(Flags::READ_ONLY)),
        ]);
        found.extend(extra.extensions.iter().map(|(name, _)| *name).filter(|name| !self.heard(name)));
        found
    }

    /// Returns whether an extension affects the result, even as an error.
    fn heard(&self, name: &str) -> bool {
        match name {
            UNIONS => matches!(self.way, Way::Models | Way::Faithful(_)),
            "x-nullable" => matches!(self.way, Way::Faithful(_)) && self.compat == SmdCompat::V64,
            _ => MEANT.contains(&name),
        }
    }

    /// Returns the reference that replaces the schema in the result.
    fn reference(&self, schema: &Schema<'a>) -> Option<&'a str> {
        match self.way {
            Way::Structural => None,
            Way::Models => Some(schema.reference).filter(|reference| !reference.is_empty()),
            Way::Direct(_) => reference_of(schema),
            Way::Faithful(_) => pure_reference(schema),
        }
    }

    /// Notes the losses of a reference and its siblings.
    fn behind_reference(&mut self, schema: &Schema<'a>, holder: Holder, reference: &'a str) {
        let found = match &self.way {
            // Without a model there is no result.
            Way::Structural | Way::Models => true,
            Way::Direct(names) => holder != Holder::Definition && names.binary_search(&last_segment(reference)).is_ok(),
            Way::Faithful(targets) => !matches!(targets.find(reference), Target::Nowhere),
        };
        if !found {
            self.notes.push(Note::new(Code::SmdReference, schema.at, reference));
        }
        // Siblings of a `$ref` have no effect, but siblings of a branch of `allOf` do.
        if schema.reference.is_empty() {
            let lost = present([
                ("properties", !schema.properties.is_empty()),
                ("additionalProperties", schema.additional.is_some()),
                ("items", schema.items.is_some()),
            ]);
            self.note(Code::SmdFields, schema, &lost);
        }
    }

    /// Notes the losses of members that only documents have, in the direct converter.
    fn document(&mut self, schema: &Schema<'a>) {
        let tuple = matches!(schema.items, Some(Items::Many(_)));
        self.note(Code::SmdUntyped, schema, if tuple { &["items"] } else { &[] });
        if matches!(self.way, Way::Direct(_)) {
            let closed = schema.additional.is_none() && !schema.properties.is_empty();
            let lost = present([
                ("type", schema.extra().types.len() > 1),
                ("allOf, anyOf or oneOf", closed && branches_bring_more(schema, schema)),
            ]);
            self.note(Code::SmdFields, schema, &lost);
        }
    }

    /// Notes the losses of a model. Returns whether its fields preserve unknown fields, or `None` if it has no parts.
    fn model(&mut self, schema: &Schema<'a>, preserve: bool) -> Option<bool> {
        let record = schema.flags.any(Flags::PROPERTIES_WRITTEN);
        let own = schema.flags.any(Flags::PRESERVE_UNKNOWN);
        match schema.first_type() {
            Type::Object | Type::Absent if record => {
                let preserve = preserve || own;
                match schema.additional {
                    Some(Additional::Schema(_)) if preserve => {
                        self.note(Code::SmdUntyped, schema, &["additionalProperties"]);
                    }
                    Some(Additional::Schema(_) | Additional::Allowed(true)) if !preserve => {
                        self.note(Code::SmdFields, schema, &["additionalProperties"]);
                    }
                    _ => {}
                }
                return Some(preserve);
            }
            Type::Absent => {
                let lost =
                    present([("items", schema.items.is_some()), ("additionalProperties", schema.additional.is_some())]);
                self.note(Code::SmdUntyped, schema, &lost);
                return None;
            }
            Type::Object if schema.additional == Some(Additional::Allowed(false)) => {
                self.note(Code::SmdValidation, schema, &["additionalProperties"]);
            }
            Type::Array if matches!(schema.items, Some(Items::Many(_))) => {
                self.note(Code::SmdUntyped, schema, &["items"]);
            }
            _ => {}
        }
        if own && (schema.item().is_some() || schema.additional_schema().is_some()) {
            self.note(Code::SmdFields, schema, &["x-kubernetes-preserve-unknown-fields"]);
        }
        Some(preserve)
    }
}

/// Returns the names of the members that are present.
fn present<const N: usize>(keywords: [(&'static str, bool); N]) -> Vec<&'static str> {
    keywords.into_iter().filter(|(_, there)| *there).map(|(name, _)| name).collect()
}

/// Extensions that every converter uses.
const MEANT: [&str; 6] = [
    merging::LIST_TYPE,
    merging::MAP_TYPE,
    merging::MAP_KEYS,
    merging::PATCH_STRATEGY,
    merging::MERGE_KEY,
    "x-kubernetes-preserve-unknown-fields",
];

/// Returns the keywords that make the value untyped, so that more values are accepted. A value without a type that
/// preserves unknown fields is any value in both forms.
fn untyped(schema: &Schema<'_>) -> &'static [&'static str] {
    match schema.ty {
        Type::String if !matches!(schema.format, "" | "byte") => &["type", "format"],
        Type::Absent if schema.flags.any(Flags::INT_OR_STRING) => &["x-kubernetes-int-or-string"],
        _ => &[],
    }
}

/// `referring`: the schema is a reference, which may be in its `allOf`.
fn validations(schema: &Schema<'_>, referring: bool) -> Vec<&'static str> {
    let extra = schema.extra();
    let numeric = matches!(schema.ty, Type::Integer | Type::Number);
    // The two alternatives of int-or-string are part of the reason why it is untyped.
    let unfolded = schema.flags.any(Flags::INT_OR_STRING);
    let any_of = !(extra.any_of.is_empty() || unfolded && is_int_or_string(extra.any_of));
    let all_of = extra.all_of.iter().any(|branch| !unfolded || !is_int_or_string(branch.extra().any_of));
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
        ("allOf", all_of && !(referring && schema.reference.is_empty())),
        ("anyOf", any_of),
        ("oneOf", !extra.one_of.is_empty()),
        ("not", extra.not.is_some()),
        ("x-kubernetes-validations", !extra.validations.is_empty()),
        ("patternProperties", !extra.pattern_properties.is_empty()),
        ("dependencies", !extra.dependencies.is_empty()),
        ("additionalItems", extra.additional_items.is_some()),
        ("discriminator", !extra.discriminator.is_empty()),
    ])
}

/// Returns whether these are the two alternatives of an int-or-string.
fn is_int_or_string(branches: &[Schema<'_>]) -> bool {
    matches!(branches, [Schema { ty: Type::Integer, .. }, Schema { ty: Type::String, .. }])
}
