//! A schema prepared for walks: references resolved, overrides applied, fields sorted.

use super::TypedValue;
use super::error::ValidationErrors;
use super::nodes::{
    Field, Items, Key, KeyDefault, List, Literal, MapOf, NOTHING, Node, Override, Scalar, Span, Tables, Text,
};
use super::validate::Duplicates;
use crate::Bump;
use crate::fieldpath::PathElement;
use crate::schema::{self, Atom, AtomId, Schema, TypeRef, UNTYPED_DEDUCED};
use crate::value::Value;
use kubeshape_yaml::{Limits, Stream, Tape};
use std::collections::HashMap;

/// The types of a schema, prepared for walks over values (upstream `typed.Parser`).
///
/// Built once, in time linear in the schema, and shared: it has no lock and no cache. A reference with an override is a
/// type of its own here, so a walk never resolves anything.
///
/// # Example: compile once, validate many
/// ```
/// use kubeshape_smd::typed::{Duplicates, Types};
/// use kubeshape_smd::{Bump, ToValue, schema};
/// use kubeshape_yaml::{Limits, Stream, Tape};
///
/// let source = "types: [{name: pod, map: {fields: [{name: replicas, type: {scalar: numeric}}]}}]";
/// let mut tape = Tape::new();
/// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
/// let types = Types::new(schema::read(tape.document(source).root().unwrap()).unwrap());
/// let pod = types.named("pod").unwrap();
///
/// let arena = Bump::new();
/// let good = serde_json::json!({"replicas": 3});
/// assert!(pod.validate(good.to_value(&arena), Duplicates::Refused).is_ok());
/// let bad = serde_json::json!({"replica": 3});
/// let errors = pod.validate(bad.to_value(&arena), Duplicates::Refused).unwrap_err();
/// assert_eq!(errors.to_string(), ".replica: field not declared in schema");
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Types {
    schema: Schema,
    pub(super) tables: Tables,
}

/// A type of [`Types`] (upstream `typed.ParseableType`).
#[derive(Clone, Copy, Debug)]
pub struct Type<'t> {
    pub(super) types: &'t Types,
    pub(super) id: u32,
}

/// The type below a path element, see [`Type::below`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Below<'t> {
    /// The type; it has no shape if the schema does not describe it.
    pub(crate) ty: Type<'t>,
    /// The element names a declared field of the map.
    pub(crate) declared: bool,
}

impl Types {
    /// Prepares a schema.
    pub fn new(schema: Schema) -> Types {
        let tables = Compiler::new(&schema).compile();
        Types { schema, tables }
    }

    /// Returns the types for objects without a schema: [`Types::named`] of [`UNTYPED_DEDUCED`] merges maps and replaces
    /// lists (upstream `DeducedParseableType`).
    ///
    /// # Example: maps are merged, lists are not
    /// ```
    /// use kubeshape_smd::schema::UNTYPED_DEDUCED;
    /// use kubeshape_smd::typed::{Duplicates, Types};
    /// use kubeshape_smd::{Bump, ToValue};
    ///
    /// let (types, arena) = (Types::deduced(), Bump::new());
    /// let any = types.named(UNTYPED_DEDUCED).unwrap();
    /// let live = serde_json::json!({"map": {"a": 1}, "list": [1]});
    /// let config = serde_json::json!({"map": {"b": 2}, "list": [2]});
    /// let live = any.validate(live.to_value(&arena), Duplicates::Allowed)?;
    /// let config = any.validate(config.to_value(&arena), Duplicates::Refused)?;
    ///
    /// let merged = live.merge(config, &arena).unwrap();
    /// let expected = serde_json::json!({"map": {"a": 1, "b": 2}, "list": [2]});
    /// assert_eq!(merged.value(), Some(expected.to_value(&arena)));
    /// # Ok::<(), kubeshape_smd::typed::ValidationErrors>(())
    /// ```
    pub fn deduced() -> Types {
        Types::new(schema::deduced())
    }

    /// Returns the schema.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Returns the type with that name.
    pub fn named(&self, name: &str) -> Option<Type<'_>> {
        let named = &self.tables.named;
        let at = named.binary_search_by(|(text, _)| self.tables.str(*text).cmp(name)).ok()?;
        Some(Type { types: self, id: named.get(at)?.1 })
    }
}

impl<'t> Type<'t> {
    /// Returns the [`Types`] to which it belongs.
    pub fn types(self) -> &'t Types {
        self.types
    }

    /// Returns whether both are the same type of the same [`Types`].
    pub fn is(self, other: Type<'_>) -> bool {
        std::ptr::eq(self.types, other.types) && self.id == other.id
    }

    /// Returns the type of a declared field, if this is a map that declares it. A field may refer to a type that does
    /// not exist; this fails only for a value of that type.
    ///
    /// # Example: the type of a field
    /// ```
    /// # use kubeshape_smd::{schema, typed::Types};
    /// # use kubeshape_yaml::{Limits, Stream, Tape};
    /// # let source = "types: [{name: pod, map: {fields: [{name: ports, type: {list: {elementType: {scalar: numeric}}}}]}}]";
    /// # let mut tape = Tape::new();
    /// # Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
    /// # let types = Types::new(schema::read(tape.document(source).root().unwrap()).unwrap());
    /// let pod = types.named("pod").unwrap();
    /// assert!(pod.field("ports").is_some());
    /// assert!(pod.field("port").is_none());
    /// # Ok::<(), kubeshape_yaml::Error>(())
    /// ```
    pub fn field(self, name: &str) -> Option<Type<'t>> {
        let map = self.node().map.as_ref()?;
        let field = self.types.tables.field(map, name)?;
        Some(Type { types: self.types, id: field.node })
    }

    /// Returns the type below a path element, as upstream walks a schema with a set. If the type has several shapes,
    /// both its map and its list are used.
    pub(crate) fn below(self, element: &PathElement<'_>) -> Below<'t> {
        let node = self.node();
        let (id, declared) = match (element, &node.map, &node.list) {
            (PathElement::FieldName(name), Some(map), _) => match self.types.tables.field(map, name) {
                Some(field) => (field.node, true),
                None => (map.element, false),
            },
            (PathElement::Key(_), _, Some(list)) => (list.element, false),
            _ => (NOTHING, false),
        };
        Below { ty: Type { types: self.types, id }, declared }
    }

    #[inline]
    pub(super) fn node(self) -> &'t Node {
        self.types.tables.node(self.id)
    }

    /// Returns the name, or upstream's name for types without one.
    pub(super) fn name(self) -> &'t str {
        self.node().name.map_or("inlined type", |name| self.types.tables.str(name))
    }
}

impl<'a> Type<'a> {
    /// Checks a value and gives it the type (upstream `AsTyped`). Later operations rely on the check where that saves
    /// work.
    ///
    /// # Errors
    /// Everything in the value that does not match the type.
    ///
    /// # Example: upstream's message
    /// ```
    /// # use kubeshape_smd::{Bump, ToValue, schema, typed::{Duplicates, Types}};
    /// # use kubeshape_yaml::{Limits, Stream, Tape};
    /// # let source = "types: [{name: pod, map: {fields: [{name: set, type: {list: {elementType: {scalar: string}, elementRelationship: associative}}}]}}]";
    /// # let mut tape = Tape::new();
    /// # Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
    /// # let types = Types::new(schema::read(tape.document(source).root().unwrap()).unwrap());
    /// # let (pod, arena) = (types.named("pod").unwrap(), Bump::new());
    /// let twice = serde_json::json!({"set": ["a", "b", "a"]});
    /// let errors = pod.validate(twice.to_value(&arena), Duplicates::Refused).unwrap_err();
    /// assert_eq!(errors.to_string(), r#".set: duplicate entries for key [="a"]"#);
    /// assert_eq!(errors.0[0].pointer, "/set/2");
    /// assert!(pod.validate(twice.to_value(&arena), Duplicates::Allowed).is_ok());
    /// # Ok::<(), kubeshape_yaml::Error>(())
    /// ```
    pub fn validate(self, value: Value<'a>, duplicates: Duplicates) -> Result<TypedValue<'a>, ValidationErrors> {
        super::validate::validate(self, value, duplicates)
    }
}

/// A reference, reduced to what makes a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Target<'s> {
    Named(&'s str, Override),
    Inlined(AtomId, Override),
}

/// Walks a schema without recursion: every reference gets a node immediately, and what it refers to is queued.
struct Compiler<'s> {
    schema: &'s Schema,
    tables: Tables,
    nodes: HashMap<Target<'s>, u32>,
    /// The atoms that have been compiled, without overrides.
    atoms: HashMap<AtomId, Node>,
    queue: Vec<(u32, Atom<'s>, Override)>,
    /// The default of each of [`Tables::fields`].
    defaults: Vec<Option<&'s str>>,
    /// The keyed lists whose keys still need their defaults.
    keyed: Vec<List>,
}

impl<'s> Compiler<'s> {
    fn new(schema: &'s Schema) -> Self {
        Compiler {
            schema,
            tables: Tables { nodes: vec![Node::default()], ..Tables::default() },
            nodes: HashMap::new(),
            atoms: HashMap::new(),
            queue: Vec::new(),
            defaults: Vec::new(),
            keyed: Vec::new(),
        }
    }

    fn compile(mut self) -> Tables {
        for def in self.schema.types() {
            let id = self.named(def.name(), Override::None);
            if let Some(name) = self.tables.nodes[id as usize].name {
                self.tables.named.push((name, id));
            }
        }
        let text = &self.tables.text;
        let of = |name: Text| &text[name.at as usize..name.at as usize + name.len as usize];
        self.tables.named.sort_by(|a, b| of(a.0).cmp(of(b.0)));
        self.tables.named.dedup_by_key(|(_, id)| *id);
        while let Some((id, atom, overriding)) = self.queue.pop() {
            let name = self.tables.nodes[id as usize].name;
            let node = self.overridden(atom, overriding);
            self.tables.nodes[id as usize] = Node { name, ..node };
        }
        self.key_defaults();
        self.tables
    }

    fn text(&mut self, text: &str) -> Text {
        let at = self.tables.text.len() as u32;
        self.tables.text.push_str(text);
        Text { at, len: text.len() as u32 }
    }

    fn new_node(&mut self, name: Option<Text>) -> u32 {
        self.tables.nodes.push(Node { name, missing: true, ..Node::default() });
        self.tables.nodes.len() as u32 - 1
    }

    fn reference(&mut self, reference: TypeRef<'s>) -> u32 {
        if reference.is_empty() {
            return NOTHING;
        }
        let overriding = Override::of(reference.relationship());
        match reference.named() {
            Some(name) => self.named(name, overriding),
            None => self.inlined(reference.inlined(), overriding),
        }
    }

    fn named(&mut self, name: &'s str, overriding: Override) -> u32 {
        if let Some(id) = self.nodes.get(&Target::Named(name, overriding)) {
            return *id;
        }
        let text = self.text(name);
        let id = self.new_node(Some(text));
        self.nodes.insert(Target::Named(name, overriding), id);
        if let Some(def) = self.schema.find_type(name) {
            self.queue.push((id, def.atom(), overriding));
        }
        id
    }

    fn inlined(&mut self, atom: Atom<'s>, overriding: Override) -> u32 {
        let target = Target::Inlined(atom.id(), overriding);
        if let Some(id) = self.nodes.get(&target) {
            return *id;
        }
        let id = self.new_node(None);
        self.nodes.insert(target, id);
        self.queue.push((id, atom, overriding));
        id
    }

    /// Applies an override to the map, or else to the list. Without either, the result is a type that does not exist.
    fn overridden(&mut self, atom: Atom<'s>, overriding: Override) -> Node {
        let mut node = self.atom(atom);
        if overriding == Override::None {
            return node;
        }
        if let Some(map) = &mut node.map {
            map.atomic = overriding == Override::Atomic;
        } else if let Some(list) = &mut node.list {
            list.items = overriding.items(list.keys.len > 0);
        } else {
            node = Node { missing: true, ..Node::default() };
        }
        self.note_items(&node);
        node
    }

    fn note_items(&mut self, node: &Node) {
        self.tables.unknown_items |= node.list.is_some_and(|list| list.items == Items::Unknown);
    }

    fn atom(&mut self, atom: Atom<'s>) -> Node {
        if let Some(node) = self.atoms.get(&atom.id()) {
            return *node;
        }
        let scalar = atom.scalar().map(|name| Scalar::of(name, |name| self.text(name)));
        let list = atom.list().map(|list| self.list(list));
        let map = atom.map().map(|map| self.map(map));
        let node = Node { scalar, list, map, missing: false, name: None };
        self.note_items(&node);
        self.atoms.insert(atom.id(), node);
        node
    }

    fn list(&mut self, list: schema::List<'s>) -> List {
        let element = self.reference(list.element_type());
        let mut names: Vec<(&str, u32)> = list.keys().zip(0..).collect();
        names.sort_by_key(|(name, _)| *name);
        let keys = Span { at: self.tables.keys.len() as u32, len: names.len() as u32 };
        for (name, listed) in names {
            let name = self.text(name);
            self.tables.keys.push(Key { name, listed, default: KeyDefault::None });
        }
        let list = List { element, items: Override::of(list.relationship()).items(keys.len > 0), keys };
        if keys.len > 0 {
            self.keyed.push(list);
        }
        list
    }

    fn map(&mut self, map: schema::Map<'s>) -> MapOf {
        let element = self.reference(map.element_type());
        // Of repeated names, the last one is used, as in upstream's index of fields.
        let mut fields: Vec<schema::Field<'s>> = map.fields().collect();
        if !fields.is_sorted_by(|a, b| a.name() < b.name()) {
            fields.reverse();
            fields.sort_by_key(|field| field.name());
            fields.dedup_by_key(|field| field.name());
        }
        let mut own = Vec::with_capacity(fields.len());
        for field in &fields {
            let node = self.reference(field.type_ref());
            let name = self.text(field.name());
            own.push(Field::new(field.name(), name, node));
        }
        let span = Span { at: self.tables.fields.len() as u32, len: own.len() as u32 };
        self.tables.fields.extend_from_slice(&own);
        self.defaults.extend(fields.iter().map(|field| field.default_json()));
        let anything = match map.element_type().named() {
            Some(name) => name == UNTYPED_DEDUCED,
            None => map.element_type().inlined().scalar() == Some(schema::Scalar::Untyped),
        };
        MapOf {
            fields: span,
            element,
            atomic: Override::of(map.relationship()) == Override::Atomic,
            free_form: anything && fields.is_empty(),
        }
    }

    /// Sets the default of each key, from the field in the type of the items.
    fn key_defaults(&mut self) {
        let mut known: HashMap<u32, KeyDefault> = HashMap::new();
        for list in std::mem::take(&mut self.keyed) {
            let element = *self.tables.node(list.element);
            for at in list.keys.at..list.keys.at + list.keys.len {
                let name = self.tables.keys[at as usize].name;
                self.tables.keys[at as usize].default = match element.map {
                    _ if element.missing => KeyDefault::NoType,
                    None => KeyDefault::NoMap,
                    Some(map) => match self.field_index(&map, name) {
                        Some(field) => *known.entry(field).or_insert_with(|| {
                            let literal = self.defaults.get(field as usize).copied().flatten().and_then(literal);
                            literal.map_or(KeyDefault::None, |literal| {
                                self.tables.defaults.push(literal);
                                KeyDefault::Value(self.tables.defaults.len() as u32 - 1)
                            })
                        }),
                        None => KeyDefault::None,
                    },
                };
            }
        }
    }

    fn field_index(&self, map: &MapOf, name: Text) -> Option<u32> {
        let name = self.tables.str(name);
        let fields = map.fields.of(&self.tables.fields);
        let at = fields.binary_search_by(|field| self.tables.str(field.name).cmp(name)).ok()?;
        Some(map.fields.at + at as u32)
    }
}

/// Reads a default from JSON. Null is ignored.
fn literal(json: &str) -> Option<Literal> {
    let mut tape = Tape::new();
    let limits = Limits { depth: usize::from(schema::MAX_DEPTH), ..Limits::default() };
    Stream::new(json.as_bytes(), limits).ok()?.next(&mut tape)?.ok()?;
    let arena = Bump::new();
    match Value::from_node(tape.document(json).root()?, &arena) {
        Value::Null => None,
        value => Some(Literal::of(value)),
    }
}
