//! The compiled form of types: flat records that refer to each other by index.

use crate::Bump;
use crate::schema::{Relationship, Scalar as ScalarName};
use crate::value::{Map, Value};
use std::cmp::Ordering;

/// A range of [`Tables::text`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Text {
    pub(super) at: u32,
    pub(super) len: u32,
}

/// A range of one of the tables.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Span {
    pub(super) at: u32,
    pub(super) len: u32,
}

impl Span {
    #[inline]
    pub(super) fn of<T>(self, all: &[T]) -> &[T] {
        let at = self.at as usize;
        all.get(at..at + self.len as usize).unwrap_or_default()
    }
}

/// The node of the empty reference. As the element of a map, it means that undeclared keys are errors.
pub(super) const NOTHING: u32 = 0;

/// A type through a reference: the atom, with the reference's override applied.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Node {
    pub(super) scalar: Option<Scalar>,
    pub(super) list: Option<List>,
    pub(super) map: Option<MapOf>,
    /// The reference names a type that does not exist, or overrides an atom that is neither map nor list.
    pub(super) missing: bool,
    /// The type's name in the reference; inlined types have none.
    pub(super) name: Option<Text>,
}

/// The kind of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    Numeric,
    String,
    Boolean,
    Untyped,
    Other(Text),
}

/// How the items of a list are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Items {
    /// The list is replaced as a whole.
    Atomic,
    /// An item is identified by its keys.
    Keyed,
    /// An item is identified by its value.
    Set,
    /// Neither atomic nor associative: items have no path elements.
    Unknown,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct List {
    pub(super) element: u32,
    pub(super) items: Items,
    /// In [`Tables::keys`], sorted by name.
    pub(super) keys: Span,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct MapOf {
    /// In [`Tables::fields`], sorted by name, without duplicates.
    pub(super) fields: Span,
    /// The type of undeclared keys; [`NOTHING`] if they are errors.
    pub(super) element: u32,
    pub(super) atomic: bool,
    /// Without declared fields, and with any contents: sets are not reconciled below such a map (upstream
    /// `isUntypedDeducedMap`).
    pub(super) free_form: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    /// The first bytes of the name, so that most comparisons compare integers.
    prefix: u64,
    pub(super) name: Text,
    pub(super) node: u32,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    pub(super) name: Text,
    /// The index among the keys as the schema lists them.
    pub(super) listed: u32,
    pub(super) default: KeyDefault,
}

/// The value of a key that an item lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyDefault {
    None,
    /// In [`Tables::defaults`].
    Value(u32),
    /// The type of the items is missing.
    NoType,
    /// The items are not maps.
    NoMap,
}

/// A default value, owned.
#[derive(Clone, Debug)]
pub(super) enum Literal {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    String(Box<str>),
    List(Box<[Literal]>),
    Map(Box<[(Box<str>, Literal)]>),
}

impl Literal {
    pub(super) fn of(value: Value<'_>) -> Literal {
        match value {
            Value::Null => Literal::Null,
            Value::Bool(yes) => Literal::Bool(yes),
            Value::Int(n) => Literal::Int(n),
            Value::Float(n) => Literal::Float(n),
            Value::String(text) => Literal::String(text.into()),
            Value::List(items) => Literal::List(items.iter().map(|item| Literal::of(*item)).collect()),
            Value::Map(map) => {
                Literal::Map(map.entries().iter().map(|(key, value)| ((*key).into(), Literal::of(*value))).collect())
            }
        }
    }

    /// Returns the value, which borrows its strings.
    pub(super) fn value<'a>(&'a self, arena: &'a Bump) -> Value<'a> {
        match self {
            Literal::Null => Value::Null,
            Literal::Bool(yes) => Value::Bool(*yes),
            Literal::Int(n) => Value::Int(*n),
            Literal::Float(n) => Value::Float(*n),
            Literal::String(text) => Value::String(text),
            Literal::List(items) => {
                Value::List(arena.alloc_slice_fill_iter(items.iter().map(|item| item.value(arena))))
            }
            Literal::Map(entries) => Value::Map(Map::sorted(
                arena.alloc_slice_fill_iter(entries.iter().map(|(key, value)| (&**key, value.value(arena)))),
            )),
        }
    }
}

/// All nodes of a schema and what they refer to.
#[derive(Clone, Debug, Default)]
pub(super) struct Tables {
    pub(super) text: String,
    pub(super) nodes: Vec<Node>,
    pub(super) fields: Vec<Field>,
    pub(super) keys: Vec<Key>,
    pub(super) defaults: Vec<Literal>,
    /// The named types, sorted by name.
    pub(super) named: Vec<(Text, u32)>,
    /// Whether some list is neither atomic nor associative. Its items pass the check of the type and fail later, so
    /// checked values may still fail.
    pub(super) unknown_items: bool,
}

impl Tables {
    #[inline]
    pub(super) fn str(&self, text: Text) -> &str {
        let at = text.at as usize;
        self.text.get(at..at + text.len as usize).unwrap_or_default()
    }

    #[inline]
    pub(super) fn node(&self, id: u32) -> &Node {
        // Ids come from the tables. There is a first node as soon as there is any.
        self.nodes.get(id as usize).unwrap_or(&NO_NODE)
    }

    /// Returns the bytes of the name, which saves checking the bounds of characters.
    #[inline]
    fn bytes(&self, text: Text) -> &[u8] {
        let at = text.at as usize;
        self.text.as_bytes().get(at..at + text.len as usize).unwrap_or_default()
    }

    #[inline]
    fn compare(&self, field: &Field, prefix: u64, name: &str) -> Ordering {
        field.prefix.cmp(&prefix).then_with(|| self.bytes(field.name).cmp(name.as_bytes()))
    }

    /// Returns the declared field with that name.
    #[inline]
    pub(super) fn field(&self, map: &MapOf, name: &str) -> Option<&Field> {
        let fields = map.fields.of(&self.fields);
        let prefix = prefix_of(name);
        let at = fields.binary_search_by(|field| self.compare(field, prefix, name)).ok()?;
        fields.get(at)
    }

    /// Looks up fields in the order of their names.
    #[inline]
    pub(super) fn cursor<'t>(&'t self, map: &MapOf) -> Cursor<'t> {
        Cursor { tables: self, fields: map.fields.of(&self.fields) }
    }
}

static NO_NODE: Node = Node { scalar: None, list: None, map: None, missing: false, name: None };

/// Returns the first eight bytes as a number that sorts like them. Shorter names are padded with zeros.
#[inline]
fn prefix_of(name: &str) -> u64 {
    if let Some(first) = name.as_bytes().first_chunk() {
        return u64::from_be_bytes(*first);
    }
    let (prefix, left) = name.bytes().fold((0, 64), |(prefix, left), byte| (prefix << 8 | u64::from(byte), left - 8));
    // Shifting by 64 would overflow.
    if left < 64 { prefix << left } else { 0 }
}

impl Field {
    pub(super) fn new(name: &str, text: Text, node: u32) -> Field {
        Field { prefix: prefix_of(name), name: text, node }
    }
}

/// The fields after all names that were looked up so far.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'t> {
    tables: &'t Tables,
    fields: &'t [Field],
}

impl Cursor<'_> {
    /// Returns the type of the declared field with that name. Every name must be greater than the one before it.
    #[inline]
    pub(super) fn find(&mut self, name: &str) -> Option<u32> {
        /// How many fields are compared one by one before a binary search: most maps declare few fields, and a step is
        /// cheaper than a mispredicted branch.
        const STEPS: usize = 16;
        let first = self.fields.first()?;
        let prefix = prefix_of(name);
        if first.prefix > prefix {
            return None;
        }
        let mut passed = self.fields.iter().take(STEPS).take_while(|field| field.prefix < prefix).count();
        if passed == STEPS {
            passed = self.fields.partition_point(|field| field.prefix < prefix);
        }
        self.fields = self.fields.get(passed..).unwrap_or_default();
        while let Some((field, rest)) = self.fields.split_first() {
            if field.prefix > prefix {
                break;
            }
            let order = self.tables.bytes(field.name).cmp(name.as_bytes());
            if order.is_gt() {
                break;
            }
            self.fields = rest;
            if order.is_eq() {
                return Some(field.node);
            }
        }
        None
    }
}

/// The shape of a type that is used for a value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape<'t> {
    Map(&'t MapOf),
    Scalar(Scalar),
    List(&'t List),
    /// The type has no shape.
    None,
}

/// The shapes of a type that a value chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chosen {
    Map,
    Scalar,
    List,
    /// The value chooses none: all shapes of the type.
    All,
}

impl Node {
    /// Returns the shapes that a value chooses (upstream `deduceAtom`). Null, absent values and values that do not
    /// match choose none.
    #[inline]
    pub(super) fn choose(&self, value: Option<Value<'_>>) -> Chosen {
        let (chosen, others) = match value {
            Some(Value::Map(_)) if self.map.is_some() => (Chosen::Map, self.scalar.is_some() || self.list.is_some()),
            Some(Value::List(_)) if self.list.is_some() => (Chosen::List, self.scalar.is_some() || self.map.is_some()),
            Some(Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::String(_)) if self.scalar.is_some() => {
                (Chosen::Scalar, self.list.is_some() || self.map.is_some())
            }
            _ => return Chosen::All,
        };
        // For a type with a single shape, choosing it must give the same as choosing none.
        if others { chosen } else { Chosen::All }
    }

    /// Returns the chosen shape that is used: map, else scalar, else list (upstream `handleAtom`).
    #[inline]
    pub(super) fn shape(&self, chosen: Chosen) -> Shape<'_> {
        match (chosen, &self.map, self.scalar, &self.list) {
            (Chosen::Map | Chosen::All, Some(map), ..) => Shape::Map(map),
            (Chosen::Scalar | Chosen::All, _, Some(scalar), _) => Shape::Scalar(scalar),
            (Chosen::List | Chosen::All, _, _, Some(list)) => Shape::List(list),
            _ => Shape::None,
        }
    }
}

/// The overrides that make a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Override {
    None,
    Atomic,
    Associative,
    Other,
}

impl Override {
    pub(super) fn of(relationship: Option<Relationship<'_>>) -> Override {
        match relationship {
            None => Override::None,
            Some(Relationship::Atomic) => Override::Atomic,
            Some(Relationship::Associative) => Override::Associative,
            Some(Relationship::Separable | Relationship::Other(_)) => Override::Other,
        }
    }

    /// Returns how the items of a list with this relationship are merged.
    pub(super) fn items(self, keyed: bool) -> Items {
        match self {
            Override::Atomic => Items::Atomic,
            Override::Associative if keyed => Items::Keyed,
            Override::Associative => Items::Set,
            Override::None | Override::Other => Items::Unknown,
        }
    }
}

impl Scalar {
    pub(super) fn of(name: ScalarName<'_>, text: impl FnOnce(&str) -> Text) -> Scalar {
        match name {
            ScalarName::Numeric => Scalar::Numeric,
            ScalarName::String => Scalar::String,
            ScalarName::Boolean => Scalar::Boolean,
            ScalarName::Untyped => Scalar::Untyped,
            ScalarName::Other(name) => Scalar::Other(text(name)),
        }
    }
}
