//! The types of members of objects.

use super::object::Object;
use super::print::Printer;
use super::walk::{Mapper, Site, Visitor, map_properties, map_slice};
use kubeshape_schema::read::Reader;
use kubeshape_schema::{Json, Property, Schema, order};
use kubeshape_yaml::{Kind, Node, number};

/// A member of an object: how it is read, printed and walked over.
pub trait Member<'a>: Copy + Default {
    /// Reads it. For null, returns the default.
    fn read(reader: &mut Reader<'a>, node: Node<'a>) -> Self;

    /// Prints it, even if it is empty.
    fn print(&self, p: &mut Printer<'_>);

    /// Returns whether it prints as `false`, `null`, `""`, `{}` or `[]`.
    fn renders_empty(&self, p: &Printer<'_>) -> bool;

    /// Returns whether it is absent.
    fn is_absent(&self) -> bool;

    /// Visits its schemas and references. `site` is that of the object to which it belongs.
    fn visit(&self, site: Site, visitor: &mut dyn Visitor<'a>) {
        let _ = (site, visitor);
    }

    /// Replaces its schemas and references.
    #[must_use]
    fn replace(&self, site: Site, mapper: &mut dyn Mapper<'a>) -> Self {
        let _ = (site, mapper);
        *self
    }
}

/// A list of strings.
pub type Texts<'a> = &'a [&'a str];

/// An object in the arena, or `None`.
pub type Boxed<'a, T> = Option<&'a T>;

/// A `$ref` outside of schemas. It is absent if the string is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Reference<'a> {
    /// The reference as Kubernetes writes it.
    pub text: &'a str,
    /// Its location in the tape.
    pub at: u32,
}

/// Named members of an object, in printed order.
#[derive(Debug, PartialEq)]
pub struct Map<'a, T> {
    /// The members.
    pub entries: &'a [Entry<'a, T>],
    /// Whether the object is present, even if it is empty.
    pub present: bool,
}

/// One named member.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Entry<'a, T> {
    /// The name.
    pub name: &'a str,
    /// Location of the name in the tape.
    pub at: u32,
    /// The member.
    pub value: T,
}

impl<T> Clone for Map<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Map<'_, T> {}

impl<T> Default for Map<'_, T> {
    fn default() -> Self {
        Map { entries: &[], present: false }
    }
}

impl<'a, T> Map<'a, T> {
    /// Creates a map of members, which must be sorted and have different names.
    pub fn new(entries: &'a [Entry<'a, T>]) -> Self {
        Map { entries, present: true }
    }

    /// Returns the member with that name.
    pub fn get(&self, name: &str) -> Option<&'a T> {
        let at = self.entries.binary_search_by(|entry| order::utf16(entry.name, name)).ok()?;
        Some(&self.entries[at].value)
    }

    /// Returns whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the members in order.
    pub fn iter(&self) -> std::slice::Iter<'a, Entry<'a, T>> {
        self.entries.iter()
    }
}

impl<'a, T> IntoIterator for Map<'a, T> {
    type Item = &'a Entry<'a, T>;
    type IntoIter = std::slice::Iter<'a, Entry<'a, T>>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.iter()
    }
}

impl<'a, T> IntoIterator for &Map<'a, T> {
    type Item = &'a Entry<'a, T>;
    type IntoIter = std::slice::Iter<'a, Entry<'a, T>>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.iter()
    }
}

macro_rules! plain {
    () => {
        fn is_absent(&self) -> bool {
            *self == Self::default()
        }
    };
}

impl<'a> Member<'a> for &'a str {
    fn read(reader: &mut Reader<'a>, node: Node<'a>) -> Self {
        reader.text(node)
    }
    fn print(&self, p: &mut Printer<'_>) {
        p.text(self);
    }
    fn renders_empty(&self, _: &Printer<'_>) -> bool {
        str::is_empty(self)
    }
    plain!();
}

impl<'a> Member<'a> for bool {
    fn read(reader: &mut Reader<'a>, node: Node<'a>) -> Self {
        reader.boolean(node)
    }
    fn print(&self, p: &mut Printer<'_>) {
        p.raw(if *self { b"true" } else { b"false" });
    }
    fn renders_empty(&self, _: &Printer<'_>) -> bool {
        !*self
    }
    plain!();
}

impl<'a> Member<'a> for Option<bool> {
    fn read(reader: &mut Reader<'a>, node: Node<'a>) -> Self {
        reader.optional_boolean(node)
    }
    fn print(&self, p: &mut Printer<'_>) {
        p.raw(if *self == Some(true) { b"true" } else { b"false" });
    }
    fn renders_empty(&self, _: &Printer<'_>) -> bool {
        *self != Some(true)
    }
    plain!();
}

impl<'a> Member<'a> for Option<i64> {
    fn read(reader: &mut Reader<'a>, node: Node<'a>) -> Self {
        reader.integer(node)
    }
    fn print(&self, p: &mut Printer<'_>) {
        number::write_int(self.unwrap_or_default(), p.out);
    }
    fn renders_empty(&self, _: &Printer<'_>) -> bool {
        self.is_none()
    }
    plain!();
}

impl<'a> Member<'a> for Option<f64> {
    fn read(reader: &mut Reader<'a>, node: Node<'a>) -> Self {
        reader.number(node)
    }
    fn print(&self, p: &mut Printer<'_>) {
        number::write_json(self.unwrap_or_default(), p.out);
    }
    fn renders_empty(&self, _: &Printer<'_>) -> bool {
        self.is_none()
    }
    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

impl<'a> Member<'a> for Texts<'a> {
    fn read(reader: &mut Reader<'a>, node: Node<'a>) -> Self {
        reader.texts(node)
    }
    fn print(&self, p: &mut Printer<'_>) {
        print_list(self, p, |text, p| p.text(text));
    }
    fn renders_empty(&self, _: &Printer<'_>) -> bool {
        <[_]>::is_empty(self)
    }
    plain!();
}

/// A list that may be absent, which differs from an empty list.
impl<'a> Member<'a> for Option<Texts<'a>> {
    fn read(reader: &mut Reader<'a>, node: Node<'a>) -> Self {
        (!node.is_null()).then(|| reader.texts(node))
    }
    fn print(&self, p: &mut Printer<'_>) {
        print_list(self.unwrap_or_default(), p, |text, p| p.text(text));
    }
    fn renders_empty(&self, _: &Printer<'_>) -> bool {
        self.unwrap_or_default().is_empty()
    }
    plain!();
}

/// A list of free values.
impl<'a> Member<'a> for &'a [Json<'a>] {
    fn read(reader: &mut Reader<'a>, node: Node<'a>) -> Self {
        reader.values(node)
    }
    fn print(&self, p: &mut Printer<'_>) {
        print_list(self, p, |value, p| p.json(value));
    }
    fn renders_empty(&self, _: &Printer<'_>) -> bool {
        <[_]>::is_empty(self)
    }
    fn is_absent(&self) -> bool {
        <[_]>::is_empty(self)
    }
}

/// A free value. Null is the same as absent.
impl<'a> Member<'a> for Option<Json<'a>> {
    fn read(reader: &mut Reader<'a>, node: Node<'a>) -> Self {
        (!node.is_null()).then(|| reader.json(node))
    }
    fn print(&self, p: &mut Printer<'_>) {
        p.json(self.as_ref().unwrap_or(&Json::Null));
    }
    fn renders_empty(&self, _: &Printer<'_>) -> bool {
        self.as_ref().is_none_or(Json::is_empty)
    }
    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

impl<'a> Member<'a> for Reference<'a> {
    fn read(reader: &mut Reader<'a>, node: Node<'a>) -> Self {
        Reference { text: reader.reference(node), at: node.index() }
    }
    fn print(&self, p: &mut Printer<'_>) {
        p.text(self.text);
    }
    fn renders_empty(&self, _: &Printer<'_>) -> bool {
        self.text.is_empty()
    }
    fn is_absent(&self) -> bool {
        self.text.is_empty()
    }
    fn visit(&self, site: Site, visitor: &mut dyn Visitor<'a>) {
        if !self.text.is_empty() {
            visitor.reference(site, self.at, self.text);
        }
    }
    fn replace(&self, site: Site, mapper: &mut dyn Mapper<'a>) -> Self {
        if self.text.is_empty() { *self } else { Reference { text: mapper.reference(site, self.text), ..*self } }
    }
}

impl<'a> Member<'a> for Option<&'a Schema<'a>> {
    fn read(reader: &mut Reader<'a>, node: Node<'a>) -> Self {
        (!node.is_null()).then(|| &*reader.arena().alloc(reader.schema(node)))
    }
    fn print(&self, p: &mut Printer<'_>) {
        match self {
            Some(schema) => p.schema(schema),
            None => p.raw(b"null"),
        }
    }
    fn renders_empty(&self, _: &Printer<'_>) -> bool {
        self.is_none()
    }
    fn is_absent(&self) -> bool {
        self.is_none()
    }
    fn visit(&self, site: Site, visitor: &mut dyn Visitor<'a>) {
        if let Some(schema) = self {
            visitor.schema(site, "", schema);
        }
    }
    fn replace(&self, site: Site, mapper: &mut dyn Mapper<'a>) -> Self {
        self.map(|schema| {
            let mapped = mapper.schema(site, schema);
            &*mapper.arena().alloc(mapped)
        })
    }
}

/// Definitions.
impl<'a> Member<'a> for &'a [Property<'a>] {
    fn read(reader: &mut Reader<'a>, node: Node<'a>) -> Self {
        reader.properties(node)
    }
    fn print(&self, p: &mut Printer<'_>) {
        p.open();
        for property in *self {
            p.any_key(property.name);
            p.schema(&property.schema);
        }
        p.close();
    }
    fn renders_empty(&self, _: &Printer<'_>) -> bool {
        <[_]>::is_empty(self)
    }
    fn is_absent(&self) -> bool {
        <[_]>::is_empty(self)
    }
    fn visit(&self, _: Site, visitor: &mut dyn Visitor<'a>) {
        for property in *self {
            visitor.schema(Site::Definition, property.name, &property.schema);
        }
    }
    fn replace(&self, _: Site, mapper: &mut dyn Mapper<'a>) -> Self {
        let arena = mapper.arena();
        map_properties(self, arena, &mut |schema| mapper.schema(Site::Definition, schema))
    }
}

impl<'a, T: Object<'a>> Member<'a> for Boxed<'a, T> {
    fn read(reader: &mut Reader<'a>, node: Node<'a>) -> Self {
        (!node.is_null()).then(|| &*reader.arena().alloc(T::read(reader, node)))
    }
    fn print(&self, p: &mut Printer<'_>) {
        match self {
            Some(object) => print_object(*object, p),
            None => p.raw(b"null"),
        }
    }
    fn renders_empty(&self, p: &Printer<'_>) -> bool {
        self.is_none_or(|object| object.renders_empty(p))
    }
    fn is_absent(&self) -> bool {
        self.is_none()
    }
    fn visit(&self, site: Site, visitor: &mut dyn Visitor<'a>) {
        if let Some(object) = self {
            object.visit(site, visitor);
        }
    }
    fn replace(&self, site: Site, mapper: &mut dyn Mapper<'a>) -> Self {
        self.map(|object| {
            let mapped = object.replace(site, mapper);
            &*mapper.arena().alloc(mapped)
        })
    }
}

/// Implements [`Member`] for objects that are directly in a map or a list, where null is the empty object.
macro_rules! in_place {
    ($($ty:ty),*) => {$(
        impl<'a> $crate::model::Member<'a> for $ty {
            fn read(reader: &mut kubeshape_schema::read::Reader<'a>, node: kubeshape_yaml::Node<'a>) -> Self {
                $crate::model::Object::read(reader, node)
            }
            fn print(&self, p: &mut $crate::model::Printer<'_>) {
                p.open();
                $crate::model::Object::print(self, p);
                p.close();
            }
            fn renders_empty(&self, p: &$crate::model::Printer<'_>) -> bool {
                $crate::model::Object::renders_empty(self, p)
            }
            fn is_absent(&self) -> bool {
                false
            }
            fn visit(&self, site: $crate::model::Site, visitor: &mut dyn $crate::model::Visitor<'a>) {
                $crate::model::Object::visit(self, site, visitor);
            }
            fn replace(&self, site: $crate::model::Site, mapper: &mut dyn $crate::model::Mapper<'a>) -> Self {
                $crate::model::Object::replace(self, site, mapper)
            }
        }
    )*};
}

pub(crate) use in_place;

/// A list of objects. A null in it is an empty object.
impl<'a, T: Object<'a>> Member<'a> for &'a [T] {
    fn read(reader: &mut Reader<'a>, node: Node<'a>) -> Self {
        match node.kind() {
            Kind::Seq => {
                let places = reader.arena().alloc_slice_fill_default(node.len());
                for (place, item) in places.iter_mut().zip(node.items()) {
                    *place = T::read(reader, item);
                }
                places
            }
            Kind::Null => &[],
            _ => {
                reader.wrong_type(node, &format!("a list, each item {}", T::NAME));
                &[]
            }
        }
    }
    fn print(&self, p: &mut Printer<'_>) {
        print_list(self, p, |object, p| print_object(object, p));
    }
    fn renders_empty(&self, _: &Printer<'_>) -> bool {
        <[_]>::is_empty(self)
    }
    fn is_absent(&self) -> bool {
        <[_]>::is_empty(self)
    }
    fn visit(&self, site: Site, visitor: &mut dyn Visitor<'a>) {
        self.iter().for_each(|object| object.visit(site, visitor));
    }
    fn replace(&self, site: Site, mapper: &mut dyn Mapper<'a>) -> Self {
        let arena = mapper.arena();
        map_slice(self, arena, |object| object.replace(site, mapper))
    }
}

/// Security requirements. Absent requirements differ from an empty list.
impl<'a> Member<'a> for Option<&'a [Map<'a, Texts<'a>>]> {
    fn read(reader: &mut Reader<'a>, node: Node<'a>) -> Self {
        if node.is_null() {
            return None;
        }
        let places = reader.arena().alloc_slice_fill_default(node.len());
        let mut left = places.iter_mut();
        reader.each_item(node, "a list of security requirements", |reader, item| {
            if let Some(place) = left.next() {
                *place = Map::read(reader, item);
            }
        });
        Some(if node.kind() == Kind::Seq { places } else { &[] })
    }
    fn print(&self, p: &mut Printer<'_>) {
        print_list(self.unwrap_or_default(), p, Member::print);
    }
    fn renders_empty(&self, _: &Printer<'_>) -> bool {
        self.unwrap_or_default().is_empty()
    }
    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

impl<'a, T: Member<'a> + 'a> Member<'a> for Map<'a, T> {
    fn read(reader: &mut Reader<'a>, node: Node<'a>) -> Self {
        read_map(reader, node, |_| true)
    }
    fn print(&self, p: &mut Printer<'_>) {
        p.open();
        print_entries(self, p);
        p.close();
    }
    fn renders_empty(&self, _: &Printer<'_>) -> bool {
        self.entries.is_empty()
    }
    fn is_absent(&self) -> bool {
        !self.present
    }
    fn visit(&self, site: Site, visitor: &mut dyn Visitor<'a>) {
        self.entries.iter().for_each(|entry| entry.value.visit(site, visitor));
    }
    fn replace(&self, site: Site, mapper: &mut dyn Mapper<'a>) -> Self {
        let arena = mapper.arena();
        let entries =
            map_slice(self.entries, arena, |entry| Entry { value: entry.value.replace(site, mapper), ..*entry });
        Map { entries, ..*self }
    }
}

/// Reads the members whose names `wanted` accepts.
pub(crate) fn read_map<'a, T: Member<'a> + 'a>(
    reader: &mut Reader<'a>,
    node: Node<'a>,
    mut wanted: impl FnMut(&str) -> bool,
) -> Map<'a, T> {
    match node.kind() {
        Kind::Map => {}
        Kind::Null => return Map::default(),
        _ => {
            reader.wrong_type(node, "an object");
            return Map::default();
        }
    }
    let mark = reader.checkpoint();
    let mut entries = bumpalo::collections::Vec::with_capacity_in(node.len(), reader.arena());
    for (key, value) in node.pairs() {
        if wanted(key.text()) {
            entries.push(Entry { name: key.text(), at: key.index(), value: T::read(reader, value) });
        }
    }
    let kept = order::sort_last_wins(&mut entries, |entry| entry.name);
    if kept < entries.len() {
        // Of repeated names, only the last is used: read again without the others.
        reader.rewind(mark);
        entries.clear();
        reader.each_pair(node, "an object", |reader, key, value| {
            if wanted(key.text()) {
                entries.push(Entry { name: key.text(), at: key.index(), value: T::read(reader, value) });
            }
        });
        order::sort_last_wins(&mut entries, |entry| entry.name);
    }
    Map::new(entries.into_bump_slice())
}

pub(crate) fn print_entries<'a, T: Member<'a>>(map: &Map<'a, T>, p: &mut Printer<'_>) {
    for entry in map.entries {
        p.any_key(entry.name);
        entry.value.print(p);
        p.first = false;
    }
}

fn print_object<'a, T: Object<'a>>(object: &T, p: &mut Printer<'_>) {
    p.open();
    object.print(p);
    p.close();
}

fn print_list<T>(items: &[T], p: &mut Printer<'_>, mut print: impl FnMut(&T, &mut Printer<'_>)) {
    p.raw(b"[");
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            p.raw(b",");
        }
        print(item, p);
    }
    p.raw(b"]");
    p.first = false;
}
