//! Objects of documents.

use super::print::Printer;
use super::walk::{Mapper, Site, Visitor};
use kubeshape_schema::Json;
use kubeshape_schema::read::Reader;
use kubeshape_yaml::{Kind, Node};

/// `x-` members in printed order.
pub type Extensions<'a> = &'a [(&'a str, Json<'a>)];

/// An object of a document.
pub trait Object<'a>: Copy + Default + 'a {
    /// Its name in messages: `an operation`.
    const NAME: &'static str;

    /// Reads it. For null, returns the empty object.
    fn read(reader: &mut Reader<'a>, node: Node<'a>) -> Self {
        read_object(reader, node)
    }

    /// Sets its location.
    fn set_at(&mut self, at: u32);

    /// Reads one member. Returns its number among the members, or `None` if the object has no such member.
    fn member(&mut self, reader: &mut Reader<'a>, key: Node<'a>, value: Node<'a>) -> Option<u32>;

    /// Sets the extensions.
    fn set_extensions(&mut self, extensions: Extensions<'a>);

    /// Returns whether it may have extensions.
    fn is_extensible(reader: &Reader<'a>) -> bool;

    /// Prints its members.
    fn print(&self, p: &mut Printer<'_>);

    /// Returns whether it prints no member.
    fn renders_empty(&self, p: &Printer<'_>) -> bool;

    /// Visits its schemas and references.
    fn visit(&self, site: Site, visitor: &mut dyn Visitor<'a>);

    /// Replaces its schemas and references.
    #[must_use]
    fn replace(&self, site: Site, mapper: &mut dyn Mapper<'a>) -> Self;
}

/// Reads an object. For null, returns the empty object.
fn read_object<'a, T: Object<'a>>(reader: &mut Reader<'a>, node: Node<'a>) -> T {
    let mut object = T::default();
    object.set_at(node.index());
    match node.kind() {
        Kind::Map => {}
        Kind::Null => return object,
        _ => {
            reader.wrong_type(node, T::NAME);
            return object;
        }
    }
    let mark = reader.checkpoint();
    let mut seen = 0u64;
    for (key, value) in node.pairs() {
        if let Some(number) = read_member(&mut object, reader, key, value) {
            if seen & (1 << number) != 0 {
                // Of repeated members, only the last is used: read again without the others.
                reader.rewind(mark);
                return read_without_repeats(reader, node);
            }
            seen |= 1 << number;
        }
    }
    let extensions = reader.take_extensions(&mark);
    if !extensions.is_empty() {
        object.set_extensions(extensions);
    }
    object
}

#[cold]
fn read_without_repeats<'a, T: Object<'a>>(reader: &mut Reader<'a>, node: Node<'a>) -> T {
    let mut object = T::default();
    object.set_at(node.index());
    let mark = reader.checkpoint();
    reader.each_pair(node, T::NAME, |reader, key, value| {
        read_member(&mut object, reader, key, value);
    });
    object.set_extensions(reader.take_extensions(&mark));
    object
}

fn read_member<'a, T: Object<'a>>(
    object: &mut T,
    reader: &mut Reader<'a>,
    key: Node<'a>,
    value: Node<'a>,
) -> Option<u32> {
    let number = object.member(reader, key, value);
    if number.is_none() {
        let is_kept = kubeshape_schema::read::is_extension(key.text()) || reader.keeps_member(key.text());
        if is_kept && T::is_extensible(reader) {
            let value = reader.json(value);
            reader.push_extension(key.text(), value);
        } else {
            reader.unknown_field(key);
        }
    }
    number
}
