//! Types straight from schemas, as the API server makes them (upstream: `ToSchemaFromOpenAPI`).
//!
//! A definition becomes the type of its name. What a schema refers to is named, everything else stands
//! inline. Validation, descriptions and the branches of junctors have no place in types;
//! [`losses`](super::losses) tells of them.
//!
//! # What [`Profile::Faithful`](super::Profile::Faithful) does otherwise
//! - A reference leads to the definition that it means, whatever its name holds: upstream takes what
//!   stands behind the last slash, with its escapes. So names that differ only before a slash do not
//!   collide. It may lead into a definition, too; that schema becomes a type named by the pointer.
//! - A reference into another document, to nothing, or to itself is any value; upstream names a type
//!   that does not exist.
//! - A definition that is only a reference is a type like the one it leads to; upstream has no type.
//! - `allOf` with one branch is a reference only if nothing beside it counts.
//! - A list of types is all of them at once; upstream takes the first. `null` among them means nullable.
//! - An array may lack `items`, or have one schema per position: its items are any values. Upstream fails.
//! - Where a branch of a junctor allows fields that are not declared, unknown fields are kept, or objects
//!   that the document allows would be refused.
//! - `x-kubernetes-unions` are kept, `x-nullable` is the same as `nullable`.

use super::direct;
use super::{Built, Options, SmdError};
use kubeshape_schema::read::{Reader, Rules};
use kubeshape_schema::{Bump, Dialect, NoteKind, Property, Schema};
use kubeshape_smd::schema::{Builder, add_untyped_types};
use kubeshape_yaml::Node;

/// The types of OpenAPI v3 definitions and the two built-in ones, sorted by name.
///
/// Definitions come as [`Reader::properties`](kubeshape_schema::read::Reader::properties) reads the
/// mapping `components.schemas`.
///
/// # Errors
/// Everything by which the definitions have no such form: unknown types, list types, map types and patch
/// strategies, lists of maps without keys, and, if upstream's faults are kept, arrays without exactly one
/// schema for their items.
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

/// The types of a whole OpenAPI v3 document, of which nothing but `components.schemas` is read.
///
/// # Errors
/// Values of the wrong type in a definition, and those of [`convert`].
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
    let mut reader = Reader::new(arena, Rules::Document(options.profile));
    let schemas = root.get("components").and_then(|components| components.get("schemas"));
    let definitions = schemas.map_or(&[][..], |schemas| reader.properties(schemas));
    if !reader.failed() {
        return convert(definitions, options);
    }
    let errors = reader.into_notes().into_iter().filter(|note| note.code.kind() == NoteKind::Error);
    Err(errors.map(|note| SmdError { text: note.detail.into_owned(), at: note.at }).collect())
}

/// Converts definitions and puts their types among those that `builder` already has, sorted by name. The
/// built-in types are not added.
///
/// # Errors
/// As [`convert`].
pub fn extend(builder: Builder, models: &[(&str, &Schema<'_>)], options: Options) -> Built {
    direct::convert(builder, models, options, Dialect::V3)
}
