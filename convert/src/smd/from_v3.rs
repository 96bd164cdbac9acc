//! Types from schemas, as the API server builds them (kube-openapi's `ToSchemaFromOpenAPI`).
//!
//! A definition becomes a type with its name. A reference becomes a reference to a type; every other schema is inlined.
//! Types have no validation, no descriptions and no branches of junctors; [`losses`](super::losses) reports them.
//!
//! # Differences with [`Profile::Faithful`]
//! - A reference points to the definition with exactly its name. Upstream uses the string after the last slash, with
//!   its escapes, so that names which differ only before a slash collide. A reference may also point into a definition;
//!   that schema becomes a type named by the pointer.
//! - A reference to another document, to nothing, or to itself is any value. Upstream names a type that does not exist.
//! - A definition that is only a reference is the same type as its target. Upstream creates no type for it.
//! - `allOf` with one branch is a reference only if no other member changes its meaning.
//! - A list of types allows each of them. Upstream uses the first. `null` in the list means nullable.
//! - An array without `items`, or with one schema per position, has items of any value. Upstream fails.
//! - If a branch of a junctor allows fields that are not declared, unknown fields are kept. Otherwise objects that the
//!   document allows would be rejected.
//! - `x-kubernetes-unions` are kept, and `x-nullable` has the meaning of `nullable`.

use super::direct;
use super::{Built, Options, SmdError};
use kubeshape_schema::read::{Language, Reader, Rules};
use kubeshape_schema::{Bump, Dialect, NoteKind, Profile, Property, Schema};
use kubeshape_smd::schema::{Builder, add_untyped_types};
use kubeshape_yaml::Node;

/// Converts OpenAPI v3 definitions to types. Returns these and the two built-in ones, sorted by name.
///
/// Definitions must be read with [`Reader::properties`](kubeshape_schema::read::Reader::properties) from the
/// mapping `components.schemas`.
///
/// # Errors
/// All problems of the definitions: unknown types, list types, map types and patch strategies; lists of maps without
/// keys; and, with [`Profile::Kube`], arrays without exactly one schema for their items.
///
/// # Example
/// ```
/// use kubeshape_convert::smd::{Options, Profile, from_v3};
/// use kubeshape_schema::{Bump, read::{Reader, Rules}};
/// use kubeshape_yaml::{Limits, Stream, Tape};
///
/// let source = "pod: {type: object, properties: {spec: {$ref: '#/components/schemas/spec'}}}
/// spec: {type: array, items: {type: string}, x-kubernetes-list-type: set}";
/// let mut tape = Tape::new();
/// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
/// let arena = Bump::new();
/// let mut reader = Reader::new(&arena, Rules::Document(Profile::Kube));
/// let definitions = reader.properties(tape.document(source).root().unwrap());
///
/// let schema = from_v3::convert(definitions, Options::default()).unwrap();
/// let pod = schema.find_type("pod").unwrap().atom().map().unwrap();
/// assert_eq!(pod.field("spec").unwrap().type_ref().named(), Some("spec"));
/// assert_eq!(schema.types().len(), 4);
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
pub fn convert(definitions: &[Property<'_>], options: Options) -> Built {
    let models: Vec<(&str, &Schema<'_>)> = definitions.iter().map(|p| (p.name, &p.schema)).collect();
    let mut builder = Builder::new();
    add_untyped_types(&mut builder);
    extend(builder, &models, options)
}

/// Converts the definitions of an OpenAPI v3 document to types. Only `components.schemas` is read.
///
/// # Errors
/// A value in a definition has the wrong type, or [`convert`] fails.
///
/// # Example
/// ```
/// use kubeshape_convert::smd::{Options, from_v3};
/// use kubeshape_schema::Bump;
/// use kubeshape_yaml::{Limits, Stream, Tape};
///
/// let source = "openapi: 3.0.0\ncomponents: {schemas: {pod: {type: object}}}";
/// let mut tape = Tape::new();
/// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
/// let arena = Bump::new();
/// let schema = from_v3::of_document(tape.document(source).root().unwrap(), &arena, Options::default()).unwrap();
/// assert!(schema.find_type("pod").is_some());
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
pub fn of_document<'a>(root: Node<'a>, arena: &'a Bump, options: Options) -> Built {
    let language = if options.profile == Profile::Faithful { Language::of(root) } else { Language::default() };
    let mut reader = Reader::new(arena, Rules::Document(options.profile)).in_language(language);
    let schemas = root.get("components").and_then(|components| components.get("schemas"));
    let definitions = schemas.map_or(&[][..], |schemas| reader.properties(schemas));
    if !reader.failed() {
        return convert(definitions, options);
    }
    let errors = reader.into_notes().into_iter().filter(|note| note.code.kind() == NoteKind::Error);
    Err(errors.map(|note| SmdError { text: note.detail.into_owned(), at: note.at }).collect())
}

/// Converts definitions and adds their types to those of `builder`, sorted by name. The built-in types are not added.
///
/// # Errors
/// The errors of [`convert`].
pub fn extend(builder: Builder, models: &[(&str, &Schema<'_>)], options: Options) -> Built {
    direct::convert(builder, models, options, Dialect::V3)
}
