//! The schema of schemas.

use super::model::Schema;
use super::read::read;
use kubeshape_yaml::{Limits, Stream, Tape};

/// The type of the document itself in [`META`].
pub const META_ROOT: &str = "schema";

/// The schema to which every written schema conforms, including itself (upstream `schema.SchemaSchemaYAML`). It is that
/// of structured-merge-diff v6.4, in which references have `nullable`.
///
/// [`read`] applies the same rules in one walk. This is their written form, for tools that check documents against
/// schemas.
pub const META: &str = "types:
- name: __untyped_atomic_
  scalar: untyped
  list: {elementType: {namedType: __untyped_atomic_}, elementRelationship: atomic}
  map: {elementType: {namedType: __untyped_atomic_}, elementRelationship: atomic}
- name: list
  map:
    fields:
    - {name: elementType, type: {namedType: typeRef}}
    - {name: elementRelationship, type: {scalar: string}}
    - {name: keys, type: {list: {elementType: {scalar: string}, elementRelationship: atomic}}}
- name: map
  map:
    fields:
    - {name: fields, type: {list: {elementType: {namedType: structField}, elementRelationship: associative, keys: [name]}}}
    - {name: unions, type: {list: {elementType: {namedType: union}, elementRelationship: atomic}}}
    - {name: elementType, type: {namedType: typeRef}}
    - {name: elementRelationship, type: {scalar: string}}
- name: scalar
  scalar: string
- name: schema
  map:
    fields:
    - {name: types, type: {list: {elementType: {namedType: typeDef}, elementRelationship: associative, keys: [name]}}}
- name: structField
  map:
    fields:
    - {name: name, type: {scalar: string}}
    - {name: type, type: {namedType: typeRef}}
    - {name: default, type: {namedType: __untyped_atomic_}}
- name: typeDef
  map:
    fields:
    - {name: name, type: {scalar: string}}
    - {name: scalar, type: {scalar: string}}
    - {name: list, type: {namedType: list}}
    - {name: map, type: {namedType: map}}
    - {name: untyped, type: {namedType: untyped}}
- name: typeRef
  map:
    fields:
    - {name: namedType, type: {scalar: string}}
    - {name: scalar, type: {scalar: string}}
    - {name: list, type: {namedType: list}}
    - {name: map, type: {namedType: map}}
    - {name: untyped, type: {namedType: untyped}}
    - {name: elementRelationship, type: {scalar: string}}
    - {name: nullable, type: {scalar: boolean}}
- name: union
  map:
    fields:
    - {name: discriminator, type: {scalar: string}}
    - {name: deduceInvalidDiscriminator, type: {scalar: boolean}}
    - {name: fields, type: {list: {elementType: {namedType: unionField}, elementRelationship: associative, keys: [fieldName]}}}
- name: unionField
  map:
    fields:
    - {name: fieldName, type: {scalar: string}}
    - {name: discriminatorValue, type: {scalar: string}}
- name: untyped
  map:
    fields:
    - {name: elementRelationship, type: {scalar: string}}
";

/// Returns [`META`] as a schema.
///
/// # Example: what a type may have
/// ```
/// use kubeshape_smd::schema::{META_ROOT, meta};
/// let meta = meta();
/// assert!(meta.find_type(META_ROOT).is_some());
/// let members = meta.find_type("typeDef").unwrap().atom().map().unwrap();
/// let names: Vec<&str> = members.fields().map(|field| field.name()).collect();
/// assert_eq!(names, ["name", "scalar", "list", "map", "untyped"]);
/// ```
pub fn meta() -> Schema {
    let mut tape = Tape::new();
    let parsed = Stream::new(META.as_bytes(), Limits::default()).and_then(|mut s| s.next(&mut tape).transpose());
    let root = parsed.ok().and_then(|_| tape.document(META).root());
    // A test reads it, so it cannot fail.
    root.and_then(|root| read(root).ok()).unwrap_or_default()
}
