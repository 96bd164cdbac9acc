//! The fields of a value (upstream `typed/tofieldset.go`).

use super::TypedValue;
use super::error::{Errors, Token, ValidationErrors};
use super::items::{Elements, Indexed, run, sort};
use super::nodes::{Items, List, MapOf, Shape, Tables};
use super::validate::schema_error;
use crate::Bump;
use crate::fieldpath::{PathElement, Set, Stack};
use crate::value::Value;

impl<'a> TypedValue<'a> {
    /// Returns every leaf and every list item of the value, and every entry of a map under a key that is not a declared
    /// field (upstream `TypedValue.ToFieldSet`).
    ///
    /// # Errors
    /// A type is missing in the schema.
    ///
    /// # Example: what an apply owns
    /// ```
    /// # use kubeshape_smd::{Bump, ToValue, schema, typed::{Duplicates, Types}};
    /// # use kubeshape_yaml::{Limits, Stream, Tape};
    /// # let source = "
    /// # types:
    /// # - name: pod
    /// #   map:
    /// #     fields:
    /// #     - name: ports
    /// #       type:
    /// #         list:
    /// #           elementType: {map: {fields: [
    /// #             {name: port, type: {scalar: numeric}},
    /// #             {name: protocol, type: {scalar: string}, default: TCP}]}}
    /// #           elementRelationship: associative
    /// #           keys: [port, protocol]
    /// # ";
    /// # let mut tape = Tape::new();
    /// # Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
    /// # let types = Types::new(schema::read(tape.document(source).root().unwrap()).unwrap());
    /// # let (pod, arena) = (types.named("pod").unwrap(), Bump::new());
    /// let object = serde_json::json!({"ports": [{"port": 80}]});
    /// let fields = pod.validate(object.to_value(&arena), Duplicates::Refused).unwrap().to_field_set(&arena).unwrap();
    /// // The protocol is a key by its default, but not owned.
    /// assert_eq!(fields.to_string(), ".ports[port=80,protocol=\"TCP\"]\n.ports[port=80,protocol=\"TCP\"].port");
    /// # Ok::<(), kubeshape_yaml::Error>(())
    /// ```
    pub fn to_field_set(self, arena: &'a Bump) -> Result<Set<'a>, ValidationErrors> {
        let Some(value) = self.value else { return Ok(Set::EMPTY) };
        let tables = &self.ty.types.tables;
        let mut walk = Walk {
            tables,
            arena,
            elements: Elements::new(tables, arena),
            indexed: Vec::new(),
            stack: Stack::default(),
            errors: Errors::default(),
        };
        let fields = walk.value(self.ty.id, value);
        walk.errors.into_result()?;
        Ok(fields.below)
    }
}

/// Whether a value owns its own path, and the paths below it.
struct Fields<'a> {
    own: bool,
    below: Set<'a>,
}

impl Fields<'_> {
    const NONE: Fields<'static> = Fields { own: false, below: Set::EMPTY };
    const LEAF: Fields<'static> = Fields { own: true, below: Set::EMPTY };
}

struct Walk<'a> {
    tables: &'a Tables,
    arena: &'a Bump,
    elements: Elements<'a>,
    /// The items of the lists that are being walked.
    indexed: Vec<Indexed<'a>>,
    stack: Stack<'a>,
    errors: Errors,
}

impl<'a> Walk<'a> {
    fn value(&mut self, id: u32, value: Value<'a>) -> Fields<'a> {
        let node = self.tables.node(id);
        match node.shape(node.choose(Some(value))) {
            Shape::Scalar(_) => Fields::LEAF,
            Shape::Map(map) if map.atomic => Fields::LEAF,
            Shape::List(list) if list.items == Items::Atomic => Fields::LEAF,
            Shape::Map(map) => self.map(map, value),
            Shape::List(list) => self.list(list, value),
            Shape::None => {
                self.errors.add(schema_error(node, self.tables));
                Fields::NONE
            }
        }
    }

    fn map(&mut self, map: &MapOf, value: Value<'a>) -> Fields<'a> {
        let Value::Map(value) = value else { return Fields::NONE };
        let mark = self.stack.mark();
        let mut declared = self.tables.cursor(map);
        for (name, value) in value.entries() {
            let field = declared.find(name);
            let from = self.errors.len();
            let fields = self.value(field.unwrap_or(map.element), *value);
            // Upstream's errors have no paths here.
            self.errors.below(from, &"", Token::Name(name));
            let empty = match value {
                Value::Null => true,
                Value::Map(value) => value.is_empty(),
                _ => false,
            };
            self.stack.push(PathElement::FieldName(name), fields.own || empty || field.is_none(), fields.below);
        }
        Fields { own: false, below: self.stack.close(mark, self.arena) }
    }

    fn list(&mut self, list: &List, value: Value<'a>) -> Fields<'a> {
        let Value::List(items) = value else { return Fields::NONE };
        let first = self.indexed.len();
        let (mut nameless, mut one) = (0, None);
        for (at, item) in (0..).zip(items) {
            if let Ok(element) = self.elements.of(list, *item) {
                self.indexed.push((element, at));
            } else {
                (nameless, one) = (nameless + 1, Some(*item));
            }
        }
        let end = self.indexed.len();
        sort(&mut self.indexed[first..]);
        let mark = self.stack.mark();
        let mut next = first;
        while next < end {
            let (element, at) = self.indexed[next];
            let count = run(&self.indexed[next..end]);
            next += count;
            // Of repeated items, only the path is owned.
            let below = match items.get(at as usize) {
                Some(item) if count == 1 => {
                    let from = self.errors.len();
                    let below = self.value(list.element, *item).below;
                    self.errors.below(from, &"", Token::At(at as usize));
                    below
                }
                _ => Set::EMPTY,
            };
            self.stack.push(element, true, below);
        }
        // All items without a path element are one entry, which comes last. Checked values have no such items in lists
        // with a known relationship, but pruning may leave some, and then it matters that the list has any item.
        if let Some(item) = one {
            let below = if nameless == 1 { self.value(list.element, item).below } else { Set::EMPTY };
            self.stack.push(PathElement::Nameless, true, below);
        }
        self.indexed.truncate(first);
        Fields { own: false, below: self.stack.close(mark, self.arena) }
    }
}
