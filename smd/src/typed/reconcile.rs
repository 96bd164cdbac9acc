//! Adapts sets of fields to a schema that has changed since (upstream `typed/reconcile_schema.go`).

use super::TypedValue;
use super::error::{Errors, ValidationErrors};
use super::nodes::{Chosen, Items, NOTHING, Shape, Tables};
use super::validate::schema_error;
use crate::Bump;
use crate::fieldpath::{PathElement, Set, Stack};

impl<'a> TypedValue<'a> {
    /// Adapts the set to this value's schema (upstream `ReconcileFieldSetWithSchema`): if a list or map has become
    /// atomic, its path replaces all paths below it. Returns `None` if nothing changes. Only the type of the value is
    /// used. A list or map that is no longer atomic keeps its path.
    ///
    /// # Errors
    /// A type is missing in the schema.
    ///
    /// # Example: a list that has become atomic
    /// ```
    /// use kubeshape_smd::fieldpath::Set;
    /// use kubeshape_smd::typed::{Duplicates, Types};
    /// use kubeshape_smd::{Bump, Value, schema};
    /// # use kubeshape_yaml::{Limits, Stream, Tape};
    /// # let source = "types: [{name: pod, map: {fields: [{name: args, type: {list: {elementType: {scalar: string}, elementRelationship: atomic}}}]}}]";
    /// # let mut tape = Tape::new();
    /// # Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
    /// # let types = Types::new(schema::read(tape.document(source).root().unwrap()).unwrap());
    ///
    /// let (pod, arena) = (types.named("pod").unwrap(), Bump::new());
    /// let object = pod.validate(Value::Null, Duplicates::Allowed).unwrap();
    /// let old = Set::read_json(br#"{"f:args":{"v:\"-q\"":{}}}"#, &arena).unwrap();
    /// assert_eq!(object.reconcile(old, &arena).unwrap().unwrap().to_string(), ".args");
    /// # Ok::<(), kubeshape_yaml::Error>(())
    /// ```
    pub fn reconcile(self, fields: Set<'a>, arena: &'a Bump) -> Result<Option<Set<'a>>, ValidationErrors> {
        let tables = &self.ty.types.tables;
        let mut walk = Walk { tables, arena, stack: Stack::default(), errors: Errors::default() };
        let outcome = walk.node(self.ty.id, fields, false);
        walk.errors.into_result()?;
        Ok(match outcome {
            Outcome::Same => None,
            // The root has no path that could replace them.
            Outcome::Atomic => Some(fields),
            Outcome::Changed(fields) => Some(fields),
        })
    }
}

/// The result for the paths below one.
enum Outcome<'a> {
    Same,
    /// The path itself replaces them.
    Atomic,
    Changed(Set<'a>),
}

struct Walk<'a> {
    tables: &'a Tables,
    arena: &'a Bump,
    stack: Stack<'a>,
    errors: Errors,
}

impl<'a> Walk<'a> {
    /// `leaf`: the path is in the set, and no path below it is.
    fn node(&mut self, id: u32, set: Set<'a>, leaf: bool) -> Outcome<'a> {
        let node = self.tables.node(id);
        if node.missing {
            let name = node.name.map_or("inlined type", |name| self.tables.str(name));
            self.errors.add(format!("could not resolve {name}"));
            return Outcome::Same;
        }
        // There is no value that chooses a shape.
        match node.shape(Chosen::All) {
            Shape::Scalar(_) => Outcome::Same,
            Shape::Map(map) if map.free_form => Outcome::Same,
            Shape::Map(map) if map.atomic && !leaf => {
                if set.is_empty() {
                    Outcome::Same
                } else {
                    Outcome::Atomic
                }
            }
            Shape::List(list) if list.items == Items::Atomic && !leaf => Outcome::Atomic,
            Shape::Map(map) => self.children(set, |walk, element| {
                let field = match element {
                    PathElement::FieldName(name) => walk.tables.field(map, name).map(|field| field.node),
                    _ => None,
                };
                Some(field.unwrap_or(map.element)).filter(|id| *id != NOTHING)
            }),
            Shape::List(list) => self.children(set, |_, _| Some(list.element)),
            Shape::None => {
                self.errors.add(schema_error(node, self.tables));
                Outcome::Same
            }
        }
    }

    /// `step` returns the type below an element, or `None` if the schema does not describe it.
    fn children(&mut self, set: Set<'a>, step: impl Fn(&Self, PathElement<'a>) -> Option<u32>) -> Outcome<'a> {
        let mark = self.stack.mark();
        let mut same = true;
        for (at, entry) in set.entries().iter().enumerate() {
            let outcome = match step(self, entry.element) {
                Some(id) => self.node(id, entry.children, entry.member && entry.children.is_empty()),
                None => Outcome::Same,
            };
            let (member, children) = match outcome {
                Outcome::Same if same => continue,
                Outcome::Same => (entry.member, entry.children),
                Outcome::Atomic => (true, Set::EMPTY),
                Outcome::Changed(children) => (entry.member, children),
            };
            if std::mem::take(&mut same) {
                for before in &set.entries()[..at] {
                    self.stack.push(before.element, before.member, before.children);
                }
            }
            self.stack.push(entry.element, member, children);
        }
        if same { Outcome::Same } else { Outcome::Changed(self.stack.close(mark, self.arena)) }
    }
}
