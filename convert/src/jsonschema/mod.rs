//! JSON Schema of the kinds of a document or a CustomResourceDefinition.
//!
//! [`from_structural`] converts a version of a CustomResourceDefinition, [`from_definition`] a definition of an OpenAPI
//! document, [`from_kinds`] several of them; [`kinds`] lists the definitions that are kinds. The result is
//! self-contained: the definitions to which it refers are in `$defs` (draft 7: `definitions`) under their own names,
//! and recursion stays a reference.
//!
//! # Rules
//! The schema accepts every object that the source accepts, and what it cannot express is a note with a code `KS60xx`.
//! It expresses the meaning of the source and does not repeat faults of the server's validation.
//!
//! - **null**: a nullable value is of its type or null. `null` is added to the `type` and to a lone `anyOf`; other
//!   branches or a reference are wrapped in an `anyOf` of null and the rest. If there is an `enum`, the server rejects
//!   null, even if the `enum` lists it; in documents, a listed null is accepted. Null for a value that is not nullable
//!   is rejected. A server accepts it, but replaces it with the default or removes the field, so the stored object
//!   differs from the written one. [`Nulls::Server`] accepts it in fields that are not required or have a default, in
//!   values of maps, in lists whose items have a default, and as metadata of embedded resources, as the server does. In
//!   Kubernetes' own types, it accepts null everywhere, because Go's decoder does.
//!   With `preserveUnknownFields`, the server removes no null. This applies to the value itself, not to values below
//!   it. Keywords that count or check fields still see such a null: a note reports this. In a CustomResourceDefinition,
//!   a value without type may be null whatever its branches require, unless the field is required: the server removes
//!   the null and then reports a missing field. Times (`…meta.v1.Time`, `MicroTime`) may be null, which is how Go
//!   writes the zero time.
//! - **int-or-string**: `anyOf` of integer and string, as in the normal form of structural schemas; other types in the
//!   schema are ignored. In documents, the format `int-or-string` has the same meaning. `…api.resource.Quantity` is a
//!   string or a number. `RawExtension`, `JSON` and `Duration` are what the server publishes: an object, anything, a
//!   string.
//! - **resources**: the root is an object and has `apiVersion` and `kind`, with the values of its group version and
//!   kind, and `metadata` by the definition of `ObjectMeta` if that can be resolved. An embedded resource has the same,
//!   with any `apiVersion` and `kind` that the server accepts for one. What authors write about these fields is kept in
//!   addition.
//! - **unknown fields** are allowed, as in OpenAPI. [`Options::strict`] rejects them exactly where a server would
//!   remove them: in objects of the spine without `additionalProperties` that do not preserve unknown fields, and never
//!   in the branches of `allOf`, `anyOf`, `oneOf` and `not`. Preservation ends at declared fields and values of maps,
//!   and includes items of lists. Below `additionalProperties: true`, fields are kept but objects in them are emptied.
//!   `apiVersion`, `kind` and `metadata` of a resource are not pruned, but decoded into their types, so a resolved
//!   `ObjectMeta` is closed. In documents, objects with declared properties are closed and others are open; a
//!   definition that is also part of a composition has a second, open form there, `NAME.open`.
//! - **bounds** that cannot be met (a negative `maxLength`, `multipleOf: 0`) reject every value of the type. Boolean
//!   `exclusiveMinimum` and `exclusiveMaximum` become numbers. Lengths are in code points on both sides. For an
//!   integer, a server uses only the whole part of a bound or factor: a note reports this.
//! - **formats** keep their names if JSON Schema has them or has no other meaning for them; the others are expressed as
//!   bounds (`int32`, `int64`, `float`), `contentEncoding` (`byte`) and patterns (`uuid`, …).
//! - **patterns** are translated from Go's language to ECMA's. A pattern of a document that Go rejects is treated as
//!   ECMA's and kept. With [`Patterns::Go`], every pattern is one that Go accepts.
//! - **not, oneOf**: if something below is lost or left to the validator, as formats are, the `not` is left out and the
//!   `oneOf` becomes an `anyOf`, so that nothing is rejected that the source accepts. Losses in definitions to which
//!   these refer are not detected.
//! - **lists**: a set has `uniqueItems`, except in Kubernetes' own types (`io.k8s.…`), whose sets no server checks.
//!   Keys of map lists are a loss. `items` as a list is `prefixItems`.
//! - `x-kubernetes-api-lifecycle` becomes `deprecated`, or a sentence in the description for alpha and beta; the
//!   extension stays.
//! - `example` becomes `examples`; extensions stay as annotations, and so does `x-kubernetes-validations`,
//!   though each rule is reported as not checked.
//! - In draft 7, a `$ref` cannot have siblings, so it moves into `allOf` if it would.

mod all;
mod assertions;
mod branches;
mod definitions;
mod extensions;
mod format;
mod pattern;
mod writer;

use kubeshape_schema::{Bump, Code, Converted, Gvk, Json, Note, Schema};
use writer::{Meta, Origin, Place, Writer};

/// The version of JSON Schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Draft {
    /// 2020-12
    #[default]
    D2020_12,
    /// Draft 7
    D7,
}

impl Draft {
    /// Returns the URI of the meta-schema.
    pub fn uri(self) -> &'static str {
        match self {
            Draft::D2020_12 => "https://json-schema.org/draft/2020-12/schema",
            Draft::D7 => "http://json-schema.org/draft-07/schema#",
        }
    }

    fn definitions(self) -> &'static str {
        match self {
            Draft::D2020_12 => "$defs",
            Draft::D7 => "definitions",
        }
    }
}

/// Where null is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Nulls {
    /// Where it can be stored: for nullable values.
    #[default]
    Stored,
    /// Where a server accepts it: also for fields and values of maps that are not nullable. The server removes such a
    /// null, or replaces it with the default (`PruneNonNullableNullsWithoutDefaults` of apiextensions-apiserver). For
    /// the same reason, a field with a default is not required.
    Server,
}

/// The language of regular expressions in the result.
///
/// An expression with the same meaning in both languages is the same in either case. Only one language has lines inside
/// an expression (`(?m)a$b`) and scripts (`\p{Greek}`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Patterns {
    /// ECMA-262, which the JSON Schema specification uses.
    #[default]
    Ecma,
    /// RE2 as Go's `regexp` reads it, for validators that are written in Go, such as kubeconform. They do not load a
    /// schema with another expression.
    Go,
}

/// What the result looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options<'o> {
    /// The version of JSON Schema.
    pub draft: Draft,
    /// Whether fields that a server would remove are rejected.
    pub strict: bool,
    /// Where null is accepted.
    pub nulls: Nulls,
    /// The language of regular expressions.
    pub patterns: Patterns,
    /// The paths of the replicas fields of the scale subresource, such as `.spec.replicas`. A server rejects negative
    /// numbers and numbers beyond 32 bits there. Only [`from_structural`] uses them.
    pub replicas: &'o [&'o str],
    /// `$id`, unless it is empty.
    pub id: &'o str,
    /// `title` of the root; if it is empty, the schema's own.
    pub title: &'o str,
    /// Maximum size of the result in bytes. A larger one is not built: the value is empty, and a note
    /// [`Code::OutputBudget`] reports it. A caller that builds several schemas of one document should give each the
    /// bytes that the others left: together they may be as large as the square of the document.
    pub most_bytes: usize,
}

impl Options<'_> {
    /// The default of [`Options::most_bytes`]: 256 MiB.
    pub const MOST_BYTES: usize = 1 << 28;
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options {
            draft: Draft::default(),
            strict: false,
            nulls: Nulls::default(),
            patterns: Patterns::default(),
            replicas: &[],
            id: "",
            title: "",
            most_bytes: Self::MOST_BYTES,
        }
    }
}

/// Finds a definition by its name, unescaped.
pub type Resolver<'r, 'a> = dyn Fn(&str) -> Option<&'a Schema<'a>> + 'r;

/// The name with which [`from_structural`] requests the metadata of objects.
pub const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/// Converts the schema of a version of a CustomResourceDefinition to JSON Schema, as compact JSON.
///
/// `schema` is the version's schema, which must be structural; `gvk` is the type of its objects; `resolver` returns
/// [`OBJECT_META`] and the definitions to which that refers. With `preserve_unknown_fields` (the
/// CustomResourceDefinition's), nothing is pruned, and `strict` has no effect. Use [`any_object`] for a version whose
/// schema is not used.
///
/// The notes have the losses. Their locations are in the document of the schema; losses of resolved definitions, which
/// come from elsewhere, have the location of the schema.
///
/// # Example
/// ```
/// use kubeshape_convert::jsonschema::{Options, from_structural};
/// use kubeshape_schema::{Bump, Gvk, read};
/// use kubeshape_yaml::{Limits, Stream, Tape};
///
/// let source = r#"{"type": "object", "properties": {"size": {"type": "integer", "nullable": true}}}"#;
/// let mut tape = Tape::new();
/// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
/// let arena = Bump::new();
/// let schema = read::Reader::new(&arena, read::Rules::Crd).schema(tape.document(source).root().unwrap());
/// let gvk = Gvk::new("example.com/v1", "Tab");
/// let options = Options { strict: true, ..Options::default() };
/// let result = from_structural(&schema, gvk, false, &|_| None, options);
/// let expected = concat!(
///     r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"#,
///     r#""apiVersion":{"type":"string","const":"example.com/v1"},"kind":{"type":"string","const":"Tab"},"#,
///     r#""metadata":{"type":"object"},"size":{"type":["integer","null"]}},"additionalProperties":false,"#,
///     r#""required":["apiVersion","kind"],"#,
///     r#""x-kubernetes-group-version-kind":[{"group":"example.com","kind":"Tab","version":"v1"}]}"#,
/// );
/// assert_eq!(String::from_utf8_lossy(&result.value), expected);
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
pub fn from_structural<'a>(
    schema: &Schema<'a>,
    gvk: Gvk<'_>,
    preserve_unknown_fields: bool,
    resolver: &Resolver<'_, 'a>,
    options: Options<'_>,
) -> Converted<'a, Vec<u8>> {
    let options = Options { strict: options.strict && !preserve_unknown_fields, ..options };
    let mut writer = Writer::new(Origin::Crd, resolver, options);
    writer.keeps_nulls = preserve_unknown_fields;
    writer.document(schema, "", Meta::Root(gvk), Place::Spine);
    writer.finish(schema.at)
}

/// Returns the JSON Schema of a version that has no schema, or one that a server does not use, as compact JSON: any
/// object of the kind, as the server publishes it. A note [`Code::JsonSchemaAny`] reports this.
///
/// `at` is the location of the version, for the notes. The other parameters are as in [`from_structural`].
///
/// # Example
/// ```
/// use kubeshape_convert::jsonschema::{Options, any_object};
/// use kubeshape_schema::{Code, Gvk};
///
/// let options = Options { strict: true, ..Options::default() };
/// let result = any_object(Gvk::new("example.com/v1", "Tab"), 0, &|_| None, options);
/// assert!(String::from_utf8_lossy(&result.value).contains(r#""kind":{"type":"string","const":"Tab"}"#));
/// assert!(result.notes.iter().any(|note| note.code == Code::JsonSchemaAny));
/// ```
pub fn any_object<'a>(
    gvk: Gvk<'_>,
    at: u32,
    resolver: &Resolver<'_, 'a>,
    options: Options<'_>,
) -> Converted<'a, Vec<u8>> {
    let schema = Schema { at, ..Schema::default() };
    let mut made = from_structural(&schema, gvk, true, resolver, options);
    made.notes.push(Note::new(Code::JsonSchemaAny, at, format!("{}, kind {}", gvk.api_version(), gvk.kind())));
    made
}

/// Converts a definition of an OpenAPI document of either version to JSON Schema, as compact JSON.
///
/// `name` and `schema` are those of the definition, and `resolver` finds the document's definitions. With `gvk`,
/// objects must have this `apiVersion` and `kind`.
///
/// The notes have the losses.
///
/// # Example: a recursive definition
/// ```
/// use kubeshape_convert::jsonschema::{Draft, Options, from_definition};
/// use kubeshape_schema::{Bump, Profile, read};
/// use kubeshape_yaml::{Limits, Stream, Tape};
///
/// let source = r##"{"properties": {"next": {"description": "D", "$ref": "#/definitions/Link"}}}"##;
/// let mut tape = Tape::new();
/// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
/// let arena = Bump::new();
/// let rules = read::Rules::Document(Profile::Faithful);
/// let schema = read::Reader::new(&arena, rules).schema(tape.document(source).root().unwrap());
/// let schema = &*arena.alloc(schema);
/// let options = Options { draft: Draft::D7, ..Options::default() };
/// let result = from_definition("Link", schema, None, &|name| (name == "Link").then_some(schema), options);
/// let next = r##"{"next":{"description":"D","allOf":[{"$ref":"#/definitions/Link"}]}}"##;
/// let expected = format!(
///     r#"{{"$schema":"http://json-schema.org/draft-07/schema#","properties":{next},"definitions":{{"Link":{{"properties":{next}}}}}}}"#
/// );
/// assert_eq!(String::from_utf8_lossy(&result.value), expected);
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
pub fn from_definition<'a>(
    name: &str,
    schema: &Schema<'a>,
    gvk: Option<Gvk<'_>>,
    resolver: &Resolver<'_, 'a>,
    options: Options<'_>,
) -> Converted<'a, Vec<u8>> {
    let mut writer = Writer::new(Origin::Document, resolver, options);
    writer.document(schema, name, gvk.map_or(Meta::None, Meta::Kind), Place::Spine);
    writer.finish(schema.at)
}

/// Converts several definitions of one document to one JSON Schema, as compact JSON: for objects of all these kinds,
/// such as those in a file with several documents.
///
/// Each kind comes with its definition's name and schema. An object of another kind is accepted, unless
/// [`Options::strict`] is set. The notes have the losses.
///
/// # Example
/// ```
/// use kubeshape_convert::jsonschema::{Options, from_kinds};
/// use kubeshape_schema::{Gvk, Schema, Type};
///
/// let schema = Schema::of_type(Type::Object);
/// let result = from_kinds(&[(Gvk::new("v1", "Pod"), "Pod", &schema)], &|_| None, Options::default());
/// let expected = concat!(
///     r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","required":["apiVersion","kind"],"#,
///     r#""allOf":[{"if":{"properties":{"apiVersion":{"const":"v1"},"kind":{"const":"Pod"}}},"then":{"type":"object","#,
///     r#""properties":{"apiVersion":{"type":"string","const":"v1"},"kind":{"type":"string","const":"Pod"}},"#,
///     r#""required":["apiVersion","kind"]}}]}"#,
/// );
/// assert_eq!(String::from_utf8_lossy(&result.value), expected);
/// ```
pub fn from_kinds<'a>(
    kinds: &[(Gvk<'_>, &str, &'a Schema<'a>)],
    resolver: &Resolver<'_, 'a>,
    options: Options<'_>,
) -> Converted<'a, Vec<u8>> {
    let mut writer = Writer::new(Origin::Document, resolver, options);
    writer.of_kinds(kinds);
    writer.finish(kinds.first().map_or(0, |(_, _, schema)| schema.at))
}

/// Returns the kinds among definitions, by `x-kubernetes-group-version-kind`: each with the definition's name, sorted.
/// A definition may have several kinds (`DeleteOptions` has one in each group version).
///
/// # Example
/// ```
/// use kubeshape_convert::jsonschema::kinds;
/// use kubeshape_schema::{Bump, Gvk, Profile, read};
/// use kubeshape_yaml::{Limits, Stream, Tape};
///
/// let source = r#"{"a.Pod": {"x-kubernetes-group-version-kind": [{"group": "", "kind": "Pod", "version": "v1"}]}, "b": {}}"#;
/// let mut tape = Tape::new();
/// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
/// let arena = Bump::new();
/// let mut reader = read::Reader::new(&arena, read::Rules::Document(Profile::Faithful));
/// let definitions = reader.properties(tape.document(source).root().unwrap());
/// let kinds = kinds(definitions.iter().map(|p| (p.name, &p.schema)), &arena);
/// assert_eq!(kinds, [(Gvk::new("v1", "Pod"), "a.Pod")]);
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
pub fn kinds<'s, 'a: 's>(
    definitions: impl IntoIterator<Item = (&'a str, &'s Schema<'a>)>,
    arena: &'a Bump,
) -> Vec<(Gvk<'a>, &'a str)> {
    let mut out = Vec::new();
    for (name, schema) in definitions {
        let extension = schema.extra().extensions.iter().find(|(key, _)| *key == "x-kubernetes-group-version-kind");
        let Some((_, Json::Array(list))) = extension else { continue };
        for item in *list {
            let text = |key: &str| item.get(key).map_or(Some(""), Json::as_str);
            if let (Some(group), Some(version), Some(kind)) = (text("group"), text("version"), text("kind"))
                && !kind.is_empty()
            {
                out.push((Gvk::from_parts(group, version, kind, arena), name));
            }
        }
    }
    out.sort_unstable();
    out.dedup();
    out
}
