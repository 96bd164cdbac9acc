//! The structured-merge-diff schema of a resource (spec: publishing, "SMD schema of a CRD"; smd, "From
//! spec.Schema models").
//!
//! It is made from the definitions that the OpenAPI v3 documents of all versions hold. Those that are
//! the same for every resource are converted once, as [`MetaTypes`].

use crate::names::AUTOSCALING;
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

/// The schema of a resource without versions: the built-in types.
pub(crate) fn of_nothing() -> Converted {
    let mut builder = Builder::new();
    smd::add_untyped_types(&mut builder);
    Converter::new(builder, SmdCompat::default()).convert(&[], false)
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
            if !schema.reference.is_empty() {
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
        match schema.first_type() {
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
            Type::Other | Type::Several => {
                self.report(schema, place, &format!("unrecognized type: '{}'", schema.type_name()));
                AtomId::UNTYPED
            }
        }
    }

    /// The reference to a field's, an item's or a member's type.
    fn reference<'s>(&mut self, schema: &Schema<'s>, place: Place) -> Ref<'s> {
        let nullable = self.compat == SmdCompat::V64 && schema.flags.any(Flags::NULLABLE);
        if let Some(name) = referenced(schema) {
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
fn referenced<'s>(schema: &Schema<'s>) -> Option<&'s str> {
    let reference = match (schema.reference, schema.extra().all_of) {
        ("", [only]) => only.reference,
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

#[cfg(test)]
mod tests {
    use super::*;
    use kubeshape_schema::{Bump, Property, read};
    use kubeshape_yaml::{Limits, Stream, Tape};

    /// Converts definitions written as YAML and shows the types among them without the built-in ones.
    fn convert(source: &str, preserve: bool, compat: SmdCompat) -> Result<String, Vec<String>> {
        let arena = Bump::new();
        let mut tape = Tape::new();
        let mut stream = Stream::new(source.as_bytes(), Limits::default()).expect("short");
        stream.next(&mut tape).expect("one document").expect("the test's YAML is right");
        let mut reader = read::Reader::new(&arena, read::Rules::Document(kubeshape_schema::Profile::Kube));
        let root = tape.document(source).root().expect("a node");
        let models: Vec<(&str, Schema<'_>)> =
            root.pairs().map(|(name, node)| (name.text(), reader.schema(node))).collect();
        let models: Vec<(&str, &Schema<'_>)> = models.iter().map(|(name, schema)| (*name, schema)).collect();
        let built = build(&models, &MetaTypes::new(&[]), false, preserve, compat)
            .map_err(|errors| errors.into_iter().map(|error| error.text).collect::<Vec<_>>())?;
        let own = built.types().filter(|def| !def.name().starts_with("__untyped"));
        Ok(own.map(|def| format!("{def:?}")).collect::<Vec<_>>().join("\n"))
    }

    /// The one type that a schema written as YAML becomes.
    fn atom(schema: &str) -> String {
        let converted = convert(&format!("a: {schema}"), false, SmdCompat::V63).expect("it converts");
        let inner = converted.strip_prefix(r#"{"name":"a","#).expect("the type is there");
        format!("{{{inner}")
    }

    fn errors(schema: &str) -> Vec<String> {
        convert(&format!("a: {schema}"), false, SmdCompat::V63).err().unwrap_or_default()
    }

    const ANY_LIST: &str = r#""list":{"elementType":{"namedType":"__untyped_atomic_"},"elementRelationship":"atomic"}"#;
    const ANY_MAP: &str = r#""map":{"elementType":{"namedType":"__untyped_deduced_"}}"#;

    #[test]
    fn an_object_without_properties_is_free_form() {
        assert_eq!(atom("{type: object}"), format!("{{{ANY_MAP}}}"));
        assert_eq!(atom("{type: object, properties: {}}"), format!("{{{ANY_MAP}}}"));
    }

    #[test]
    fn an_object_with_properties_refuses_unknown_keys() {
        assert_eq!(
            atom("{type: object, properties: {b: {type: integer}, a: {type: string}}}"),
            r#"{"map":{"fields":[{"name":"a","type":{"scalar":"string"}},{"name":"b","type":{"scalar":"numeric"}}]}}"#
        );
    }

    #[test]
    fn preserving_unknown_fields_is_inherited_by_what_is_inlined() {
        let inner = r#"{"map":{"fields":[{"name":"c","type":{"scalar":"boolean"}}],"elementType":{"namedType":"__untyped_deduced_"}}}"#;
        assert_eq!(
            atom(
                "{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {b: {type: object, properties: {c: {type: boolean}}}}}"
            ),
            format!(
                r#"{{"map":{{"fields":[{{"name":"b","type":{inner}}}],"elementType":{{"namedType":"__untyped_deduced_"}}}}}}"#
            )
        );
        let global = convert("a: {type: object, properties: {c: {type: boolean}}}", true, SmdCompat::V63);
        assert_eq!(global, Ok(inner.replacen('{', r#"{"name":"a","#, 1)));
    }

    #[test]
    fn additional_properties_are_the_element_type() {
        let with = |value: &str| {
            atom(&format!("{{type: object, properties: {{p: {{type: string}}}}, additionalProperties: {value}}}"))
        };
        let fields = r#""fields":[{"name":"p","type":{"scalar":"string"}}]"#;
        assert_eq!(with("false"), format!(r#"{{"map":{{{fields}}}}}"#));
        assert_eq!(
            with("true"),
            format!(r#"{{"map":{{{fields},"elementType":{{"namedType":"__untyped_deduced_"}}}}}}"#)
        );
        assert_eq!(with("{type: number}"), format!(r#"{{"map":{{{fields},"elementType":{{"scalar":"numeric"}}}}}}"#));
        assert_eq!(atom("{type: object, additionalProperties: false}"), r#"{"map":{}}"#);
    }

    #[test]
    fn a_value_without_type_is_everything_at_once() {
        let any = format!(r#"{{"scalar":"untyped",{ANY_LIST},{ANY_MAP}}}"#);
        assert_eq!(atom("{x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}"), any);
        assert_eq!(atom("{x-kubernetes-preserve-unknown-fields: true}"), any);
    }

    #[test]
    fn the_format_decides_what_a_string_is() {
        assert_eq!(atom("{type: string}"), r#"{"scalar":"string"}"#);
        assert_eq!(atom("{type: string, format: byte}"), r#"{"scalar":"string"}"#);
        assert_eq!(atom("{type: string, format: date}"), r#"{"scalar":"untyped"}"#);
        assert_eq!(atom("{type: integer, format: int32}"), r#"{"scalar":"numeric"}"#);
    }

    #[test]
    fn lists_are_merged_as_their_list_type_or_patch_strategy_says() {
        let list = |more: &str| atom(&format!("{{type: array, items: {{type: string}}, {more}}}"));
        let with =
            |more: &str| format!(r#"{{"list":{{"elementType":{{"scalar":"string"}},"elementRelationship":{more}}}}}"#);
        assert_eq!(list(""), with(r#""atomic""#));
        assert_eq!(list("x-kubernetes-list-type: atomic, x-kubernetes-patch-strategy: merge"), with(r#""atomic""#));
        assert_eq!(list("x-kubernetes-list-type: set, x-kubernetes-list-map-keys: [a]"), with(r#""associative""#));
        let keyed = with(r#""associative","keys":["b","a"]"#);
        assert_eq!(list("x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [b, a]"), keyed);
        assert_eq!(list("x-kubernetes-patch-strategy: merge"), with(r#""associative""#));
        let merged = with(r#""associative","keys":["k"]"#);
        assert_eq!(list("x-kubernetes-patch-strategy: 'merge,retainKeys', x-kubernetes-patch-merge-key: k"), merged);
        assert_eq!(list("x-kubernetes-patch-strategy: retainKeys"), with(r#""atomic""#));
    }

    #[test]
    fn a_reference_keeps_its_default_and_its_map_type_but_no_list_type() {
        for reference in ["$ref: '#/components/schemas/x.y'", "allOf: [{$ref: '#/components/schemas/x.y'}]"] {
            let field =
                format!("{reference}, default: {{}}, x-kubernetes-map-type: granular, x-kubernetes-list-type: what");
            assert_eq!(
                atom(&format!("{{type: object, properties: {{r: {{{field}}}}}}}")),
                r#"{"map":{"fields":[{"name":"r","type":{"namedType":"x.y","elementRelationship":"separable"},"default":{}}]}}"#
            );
        }
        // Two branches are no reference, and the value has no type of its own.
        assert!(atom("{type: object, properties: {r: {allOf: [{$ref: a/b}, {$ref: a/c}]}}}").contains("untyped"));
    }

    #[test]
    fn some_definitions_are_fixed_and_references_are_no_types() {
        let models = "io.k8s.apimachinery.pkg.api.resource.Quantity: {type: string}
io.k8s.apimachinery.pkg.runtime.RawExtension: {type: object}
r: {$ref: '#/x'}";
        assert_eq!(
            convert(models, false, SmdCompat::V63),
            Ok(format!(
                "{}\n{{\"name\":\"io.k8s.apimachinery.pkg.runtime.RawExtension\",\"scalar\":\"untyped\",{ANY_LIST},{}}}",
                r#"{"name":"io.k8s.apimachinery.pkg.api.resource.Quantity","scalar":"untyped"}"#,
                r#""map":{"elementType":{"namedType":"__untyped_atomic_"},"elementRelationship":"atomic"}"#
            ))
        );
    }

    #[test]
    fn types_and_fields_are_in_byte_order() {
        let own = convert("b: {type: string}\na: {type: string}", false, SmdCompat::V63).expect("it converts");
        assert!(own.starts_with(r#"{"name":"a""#));
        let fields = atom("{type: object, properties: {\"\u{fb33}\": {}, \"\u{1f600}\": {}}}");
        assert!(fields.find('\u{fb33}') < fields.find('\u{1f600}'), "{fields}");
    }

    #[test]
    fn only_v64_says_what_is_nullable() {
        let source = "a: {type: object, nullable: true, properties: {s: {type: string, nullable: true}, r: {nullable: true, allOf: [{$ref: x}]}}}";
        let say = |compat| convert(source, false, compat).expect("it converts");
        assert!(!say(SmdCompat::V63).contains("nullable"));
        assert_eq!(
            say(SmdCompat::V64),
            "{\"name\":\"a\",\"map\":{\"fields\":[{\"name\":\"r\",\"type\":{\"namedType\":\"x\",\"nullable\":true}},\
             {\"name\":\"s\",\"type\":{\"scalar\":\"string\",\"nullable\":true}}]}}"
        );
    }

    #[test]
    fn all_errors_are_reported_in_upstreams_words() {
        let cases = [
            ("{type: array, x-kubernetes-list-type: map, items: {type: object}}", "a: missing map keys"),
            ("{type: array, x-kubernetes-list-type: odd, items: {type: object}}", "a: unknown list type odd"),
            ("{type: array, x-kubernetes-patch-strategy: odd, items: {}}", "a: unknown patch strategy odd"),
            ("{type: object, x-kubernetes-map-type: odd}", "a: unknown map type odd"),
            ("{type: odd}", "a: unrecognized type: 'odd'"),
            ("{type: array}", "a: `items` must be specified on arrays"),
            ("{type: array, items: [{}]}", "a: structural schema arrays must have exactly one member subtype"),
            (
                "{type: object, properties: {p: {type: object, additionalProperties: {type: odd}}}}",
                "inlined in inlined in a: unrecognized type: 'odd'",
            ),
        ];
        for (schema, expected) in cases {
            assert_eq!(errors(schema), [expected], "{schema}");
        }
        assert_eq!(errors("{type: object, properties: {p: {type: array}, q: {type: odd}}}").len(), 2);
    }

    #[test]
    fn the_shared_types_preserve_unknown_fields_with_the_resource() {
        let inner = [Property { name: "p", at: 0, schema: Schema { ty: Type::String, ..Schema::default() } }];
        let schema = Schema { ty: Type::Object, properties: &inner, ..Schema::default() };
        let scale = format!("{AUTOSCALING}Scale");
        let meta = MetaTypes::new(&[("m", &schema), (&scale, &schema)]);
        let names = |scale, preserve| {
            let built = build(&[("a", &schema)], &meta, scale, preserve, SmdCompat::V63).expect("it converts");
            let element =
                |name| built.find_type(name).and_then(|def| def.atom().map()).map(|map| !map.element_type().is_empty());
            assert_eq!(element("m"), Some(preserve));
            built.types().map(|def| def.name().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(names(false, false), [UNTYPED_ATOMIC, UNTYPED_DEDUCED, "a", "m"]);
        assert_eq!(names(true, true), [UNTYPED_ATOMIC, UNTYPED_DEDUCED, "a", scale.as_str(), "m"]);
    }

    #[test]
    fn what_is_not_said_is_noted_once_per_place_and_code() {
        let source = "
type: object
description: d
required: [a]
nullable: true
default: {}
properties:
  a: {type: string, format: date, pattern: x, title: t, default: z}
  b: {x-kubernetes-int-or-string: true, nullable: true}
  c: {type: array, maxItems: 2, items: {type: integer, format: int32, default: 1, enum: [1]}}
  d: {x-kubernetes-preserve-unknown-fields: true}
";
        let arena = Bump::new();
        let mut tape = Tape::new();
        let mut stream = Stream::new(source.as_bytes(), Limits::default()).expect("short");
        stream.next(&mut tape).expect("one document").expect("the test's YAML is right");
        let document = tape.document(source);
        let schema = read::Reader::new(&arena, read::Rules::Crd).schema(document.root().expect("a node"));
        let noted = |compat| {
            let mut notes = Vec::new();
            losses(&schema, compat, &mut notes);
            notes.iter().map(|n| format!("{:?} {} {}", n.code, document.pointer(n.at), n.detail)).collect::<Vec<_>>()
        };
        let mut expected = vec![
            "SmdDescription  description",
            "SmdValidation  required",
            "SmdNullable  nullable",
            "SmdDefault  default",
            "SmdDescription /properties/a title",
            "SmdUntyped /properties/a type, format",
            "SmdValidation /properties/a pattern",
            "SmdUntyped /properties/b x-kubernetes-int-or-string",
            "SmdNullable /properties/b nullable",
            "SmdValidation /properties/c maxItems",
            "SmdValidation /properties/c/items format, enum",
            "SmdDefault /properties/c/items default",
        ];
        assert_eq!(noted(SmdCompat::V63), expected);
        expected.remove(8);
        assert_eq!(noted(SmdCompat::V64), expected);
    }
}
