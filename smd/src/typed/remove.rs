//! Removes fields from a value, and extracts fields from a value (upstream `typed/remove.go`).

use super::items::Elements;
use super::nodes::{Items, List, MapOf, Shape, Tables};
use super::{TypedValue, is_same};
use crate::Bump;
use crate::fieldpath::{Entry, PathElement, Set, Stack};
use crate::value::{Map, Value};

/// Whether extracted list items keep their key fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyFields {
    /// Only those in the set.
    AsOwned,
    /// All of them (upstream `WithAppendKeyFields`).
    Append,
}

/// What happens to an emptied list or map in an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Emptied {
    /// It becomes null.
    #[default]
    Null,
    /// It stays, empty: the behaviour of structured-merge-diff v6.3.2, which is in Kubernetes 1.36.0 to 1.36.2
    /// (structured-merge-diff#306, reverted by #331).
    Kept,
}

impl<'a> TypedValue<'a> {
    /// Returns the value without the fields and items of the set (upstream `TypedValue.RemoveItems`). An emptied list
    /// or map becomes null, and so does an atomic one if the set has paths below it.
    ///
    /// # Example: an emptied map becomes null
    /// ```
    /// use kubeshape_smd::fieldpath::Set;
    /// use kubeshape_smd::schema::UNTYPED_DEDUCED;
    /// use kubeshape_smd::typed::{Duplicates, Types};
    /// use kubeshape_smd::{Bump, ToValue};
    ///
    /// let (types, arena) = (Types::deduced(), Bump::new());
    /// let any = types.named(UNTYPED_DEDUCED).unwrap();
    /// let object = serde_json::json!({"labels": {"a": "1"}, "spec": {"replicas": 2}});
    /// let object = any.validate(object.to_value(&arena), Duplicates::Allowed)?;
    /// let labels = Set::read_json(br#"{"f:labels":{"f:a":{}}}"#, &arena).unwrap();
    ///
    /// let expected = serde_json::json!({"labels": null, "spec": {"replicas": 2}});
    /// assert_eq!(object.remove_items(labels, &arena).value(), Some(expected.to_value(&arena)));
    /// # Ok::<(), kubeshape_smd::typed::ValidationErrors>(())
    /// ```
    #[must_use]
    pub fn remove_items(self, items: Set<'a>, arena: &'a Bump) -> TypedValue<'a> {
        self.remove_items_as(items, Emptied::Null, arena)
    }

    /// Does the same as [`remove_items`](Self::remove_items). `emptied` selects what happens to emptied lists and maps.
    /// The value itself becomes null.
    #[must_use]
    pub fn remove_items_as(self, items: Set<'a>, emptied: Emptied, arena: &'a Bump) -> TypedValue<'a> {
        self.walk(items, false, emptied, arena)
    }

    /// Returns only the fields and items of the set (upstream `TypedValue.ExtractItems`). Callers normally pass the
    /// leaves of a set: below a path of the set itself, upstream looks for the names of its siblings, and so does this.
    ///
    /// # Example: what a manager owns
    /// ```
    /// use kubeshape_smd::fieldpath::Set;
    /// use kubeshape_smd::schema::UNTYPED_DEDUCED;
    /// use kubeshape_smd::typed::{Duplicates, KeyFields, Types};
    /// use kubeshape_smd::{Bump, ToValue};
    ///
    /// let (types, arena) = (Types::deduced(), Bump::new());
    /// let any = types.named(UNTYPED_DEDUCED).unwrap();
    /// let object = serde_json::json!({"labels": {"a": "1", "b": "2"}, "spec": {"replicas": 2}});
    /// let object = any.validate(object.to_value(&arena), Duplicates::Allowed)?;
    /// let owned = Set::read_json(br#"{"f:labels":{"f:a":{}}}"#, &arena).unwrap();
    ///
    /// let expected = serde_json::json!({"labels": {"a": "1"}});
    /// let extracted = object.extract_items(owned, KeyFields::Append, &arena);
    /// assert_eq!(extracted.value(), Some(expected.to_value(&arena)));
    /// # Ok::<(), kubeshape_smd::typed::ValidationErrors>(())
    /// ```
    #[must_use]
    pub fn extract_items(self, items: Set<'a>, keys: KeyFields, arena: &'a Bump) -> TypedValue<'a> {
        let items = match keys {
            KeyFields::AsOwned => items,
            KeyFields::Append => self.with_key_fields(items, arena),
        };
        self.walk(items, true, Emptied::Null, arena)
    }

    fn walk(self, set: Set<'a>, extract: bool, emptied: Emptied, arena: &'a Bump) -> TypedValue<'a> {
        let Some(value) = self.value else { return self };
        let tables = &self.ty.types.tables;
        let mut walk = Walk {
            tables,
            arena,
            extract,
            emptied,
            elements: Elements::new(tables, arena),
            items: Vec::new(),
            entries: Vec::new(),
        };
        let result = walk.value(self.ty.id, value, set);
        if is_same(value, result) {
            return self;
        }
        TypedValue::unvalidated(Some(result), self.ty)
    }

    /// Returns the set with the key fields of all items on those of its paths that the value has.
    fn with_key_fields(self, items: Set<'a>, arena: &'a Bump) -> Set<'a> {
        let Ok(own) = self.to_field_set(arena) else { return items };
        let mut stack = Stack::default();
        let mark = stack.mark();
        key_fields(items, own, &mut stack, arena);
        items.union(stack.close(mark, arena), arena)
    }
}

/// Pushes the key fields on all common paths onto the stack. Returns whether there are common paths.
fn key_fields<'a>(items: Set<'a>, own: Set<'a>, stack: &mut Stack<'a>, arena: &'a Bump) -> bool {
    let mut any = false;
    let mut finder = Finder { entries: own.entries() };
    for entry in items.entries() {
        let Some(twin) = finder.find(entry.element) else { continue };
        let mark = stack.mark();
        let mut common = entry.member && twin.member;
        common |= key_fields(entry.children, twin.children, stack, arena);
        if let (true, PathElement::Key(fields)) = (common, entry.element) {
            for (name, _) in fields {
                stack.push(PathElement::FieldName(name), true, Set::EMPTY);
            }
        }
        let below = stack.close(mark, arena);
        stack.push(entry.element, false, below);
        any |= common;
    }
    any
}

/// Looks up elements of a set in their order.
struct Finder<'a> {
    entries: &'a [Entry<'a>],
}

impl<'a> Finder<'a> {
    /// Returns the entry of an element, which must be greater than all that were looked up before. The number of steps
    /// grows with its distance, but is at most twice that of a binary search.
    #[inline]
    fn find(&mut self, element: PathElement<'_>) -> Option<&'a Entry<'a>> {
        let mut step = 1;
        while self.entries.get(step - 1).is_some_and(|entry| entry.element < element) {
            step *= 2;
        }
        // Everything before half a step is less.
        let from = step / 2;
        let window = &self.entries[from..step.min(self.entries.len())];
        match window.binary_search_by(|entry| entry.element.cmp(&element)) {
            Ok(at) => {
                let found = &self.entries[from + at];
                self.entries = &self.entries[from + at + 1..];
                Some(found)
            }
            Err(at) => {
                self.entries = &self.entries[from + at..];
                None
            }
        }
    }
}

struct Walk<'a> {
    tables: &'a Tables,
    arena: &'a Bump,
    extract: bool,
    emptied: Emptied,
    elements: Elements<'a>,
    /// The results so far of the lists and maps that are being walked, if they differ from the original.
    items: Vec<Value<'a>>,
    entries: Vec<(&'a str, Value<'a>)>,
}

impl<'a> Walk<'a> {
    /// Returns what is left of a value in which the set has paths.
    fn value(&mut self, id: u32, value: Value<'a>, set: Set<'a>) -> Value<'a> {
        let node = self.tables.node(id);
        match (node.shape(node.choose(Some(value))), value) {
            (Shape::Scalar(_), _) => value,
            (Shape::Map(map), Value::Map(entries)) if map.atomic || entries.is_empty() => self.whole(value),
            (Shape::List(list), Value::List(items)) if list.items == Items::Atomic || items.is_empty() => {
                self.whole(value)
            }
            (Shape::Map(map), Value::Map(entries)) => self.map(map, entries, set),
            (Shape::List(list), Value::List(items)) => self.list(list, items, set),
            _ => Value::Null,
        }
    }

    /// Returns what is left of a value in another one.
    fn inner(&mut self, id: u32, value: Value<'a>, set: Set<'a>) -> Value<'a> {
        let left = self.value(id, value, set);
        match (value, left) {
            _ if self.emptied == Emptied::Null => left,
            (Value::Map(entries), Value::Null) if !entries.is_empty() => Value::Map(Map::EMPTY),
            (Value::List(items), Value::Null) if !items.is_empty() => Value::List(&[]),
            (Value::Map(_) | Value::List(_), Value::Null) => value,
            _ => left,
        }
    }

    /// Atomic and empty values are extracted or removed as a whole.
    fn whole(&self, value: Value<'a>) -> Value<'a> {
        if self.extract { value } else { Value::Null }
    }

    fn map(&mut self, map: &MapOf, source: Map<'a>, set: Set<'a>) -> Value<'a> {
        let entries = source.entries();
        let mut fields = self.tables.cursor(map);
        let mut finder = Finder { entries: set.entries() };
        let mark = self.entries.len();
        let mut same = true;
        for (at, (name, value)) in entries.iter().enumerate() {
            let found = finder.find(PathElement::FieldName(name));
            let left = match found {
                Some(found) if found.member && !self.extract => None,
                Some(found) => {
                    let field = fields.find(name).unwrap_or(map.element);
                    // Below a path of the set itself, the set of its parent is used.
                    let below = if found.member { set } else { found.children };
                    Some(self.inner(field, *value, below))
                }
                None if self.extract => None,
                None => Some(*value),
            };
            if same {
                if left.is_some_and(|left| unchanged(*value, left)) {
                    continue;
                }
                self.entries.extend_from_slice(&entries[..at]);
                same = false;
            }
            self.entries.extend(left.map(|left| (*name, left)));
        }
        if same {
            return Value::Map(source);
        }
        let left = self.arena.alloc_slice_copy(&self.entries[mark..]);
        self.entries.truncate(mark);
        if left.is_empty() { Value::Null } else { Value::Map(Map::sorted(left)) }
    }

    fn list(&mut self, list: &List, source: &'a [Value<'a>], set: Set<'a>) -> Value<'a> {
        let mark = self.items.len();
        let mut same = true;
        // Items are often in the order of the set.
        let mut hint = 0;
        for (at, item) in source.iter().enumerate() {
            // All items without a path element share one element, as in a value's field set.
            let element = self.elements.lend(list, *item).unwrap_or(PathElement::Nameless);
            let found = find_from(set, &mut hint, element);
            let left = match found {
                Some(found) if found.member && !self.extract => None,
                Some(found) if !found.children.is_empty() => Some(self.inner(list.element, *item, found.children)),
                None if self.extract => None,
                Some(_) | None => Some(*item),
            };
            if same {
                if left.is_some_and(|left| unchanged(*item, left)) {
                    continue;
                }
                self.items.extend_from_slice(&source[..at]);
                same = false;
            }
            self.items.extend(left);
        }
        if same {
            return Value::List(source);
        }
        let left = self.arena.alloc_slice_copy(&self.items[mark..]);
        self.items.truncate(mark);
        if left.is_empty() { Value::Null } else { Value::List(left) }
    }
}

/// Returns the entry of an element. `hint` is where to search first, and is then set to the index after it.
fn find_from<'a>(set: Set<'a>, hint: &mut usize, element: PathElement<'_>) -> Option<&'a Entry<'a>> {
    let entries = set.entries();
    let at = match entries.get(*hint) {
        Some(entry) if entry.element == element => *hint,
        _ => entries.binary_search_by(|entry| entry.element.cmp(&element)).ok()?,
    };
    *hint = at + 1;
    entries.get(at)
}

/// Returns whether what is left of a value is the value itself.
#[inline]
fn unchanged(value: Value<'_>, left: Value<'_>) -> bool {
    match (value, left) {
        (Value::Map(_) | Value::List(_), Value::Null) => false,
        (Value::Map(_) | Value::List(_), _) => is_same(value, left),
        // A scalar is only ever unchanged, or becomes null.
        (Value::Null, _) => true,
        (_, left) => !left.is_null(),
    }
}
