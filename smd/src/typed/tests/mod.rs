//! The rules of typed operations, each with the smallest values that show them.

mod combine;
mod compile;
mod take;
mod validate;

use super::{Duplicates, Type, TypedValue, Types};
use crate::fieldpath::Set;
use crate::schema;
use crate::{Bump, Value};
use kubeshape_yaml::{Limits, Stream, Tape};

/// A type with one field of every sort.
const SORTS: &str = "
types:
- name: root
  map:
    fields:
    - {name: s, type: {map: {fields: [{name: x, type: {scalar: numeric}}, {name: z, type: {scalar: numeric}}]}}}
    - {name: set, type: {list: {elementType: {scalar: string}, elementRelationship: associative}}}
    - name: ports
      type:
        list:
          elementType: {namedType: port}
          elementRelationship: associative
          keys: [port, protocol]
    - {name: labels, type: {map: {elementType: {scalar: string}}}}
    - {name: atom, type: {map: {elementType: {scalar: string}, elementRelationship: atomic}}}
    - {name: al, type: {list: {elementType: {scalar: string}, elementRelationship: atomic}}}
    - {name: mm, type: {map: {elementType: {map: {elementType: {scalar: string}}}}}}
    - {name: f, type: {namedType: __untyped_deduced_}}
- name: port
  map:
    fields:
    - {name: port, type: {scalar: numeric}}
    - {name: protocol, type: {scalar: string}, default: TCP}
    - {name: name, type: {scalar: string}}
    - {name: in, type: {map: {elementType: {scalar: string}}}}
- name: __untyped_atomic_
  scalar: untyped
  list: {elementType: {namedType: __untyped_atomic_}, elementRelationship: atomic}
  map: {elementType: {namedType: __untyped_atomic_}, elementRelationship: atomic}
- name: __untyped_deduced_
  scalar: untyped
  list: {elementType: {namedType: __untyped_atomic_}, elementRelationship: atomic}
  map: {elementType: {namedType: __untyped_deduced_}, elementRelationship: separable}
";

/// A schema and the memory for values of its types.
struct World {
    types: Types,
    arena: Bump,
}

impl World {
    fn new(schema: &str) -> World {
        let mut tape = Tape::new();
        let read = Stream::new(schema.as_bytes(), Limits::default()).expect("a source").next(&mut tape);
        read.transpose().expect("YAML");
        let root = tape.document(schema).root().expect("a document");
        World { types: Types::new(schema::read(root).expect("a schema")), arena: Bump::new() }
    }

    fn sorts() -> World {
        World::new(SORTS)
    }

    fn ty(&self, name: &str) -> Type<'_> {
        self.types.named(name).expect("a type of the schema")
    }

    fn value(&self, yaml: &str) -> Value<'_> {
        let mut tape = Tape::new();
        Stream::new(yaml.as_bytes(), Limits::default()).expect("a source").next(&mut tape).transpose().expect("YAML");
        let scratch = Bump::new();
        let root = tape.document(yaml).root();
        root.map_or(Value::Null, |root| Value::from_node(root, &scratch)).copy_into(&self.arena)
    }

    /// Returns the value unchecked, and again after a check, to test that skipping checks changes nothing.
    fn forms(&self, yaml: &str) -> Vec<TypedValue<'_>> {
        let (ty, value) = (self.ty("root"), self.value(yaml));
        let mut forms = vec![TypedValue::unvalidated(Some(value), ty)];
        for duplicates in [Duplicates::Allowed, Duplicates::Refused] {
            forms.extend(ty.validate(value, duplicates).ok());
        }
        forms
    }

    /// Returns the errors of a check, or an empty string.
    fn complaints(&self, name: &str, yaml: &str, duplicates: Duplicates) -> String {
        let checked = self.ty(name).validate(self.value(yaml), duplicates);
        checked.err().map_or_else(String::new, |errors| errors.to_string())
    }

    fn set(&self, json: &str) -> Set<'_> {
        Set::read_json(self.arena.alloc_str(json).as_bytes(), &self.arena).expect("a set")
    }
}

/// Returns the paths of a set on one line.
fn paths(set: Set<'_>) -> String {
    set.to_string().replace('\n', " ")
}

/// Prints the value as JSON, or `absent`.
fn print(value: TypedValue<'_>) -> String {
    let Some(value) = value.value() else { return "absent".to_owned() };
    let mut json = Vec::new();
    value.write_json(&mut json).expect("finite numbers");
    String::from_utf8(json).expect("JSON is UTF-8")
}
