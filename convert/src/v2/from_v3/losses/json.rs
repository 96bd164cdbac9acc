//! Documents as plain JSON values.

use kubeshape_schema::{Bump, Json, order};
use kubeshape_yaml::{Error, Kind, Limits, Node, Number, Stream, Tape};

/// A document's printed JSON and its nodes.
///
/// What is built from a document with recorded losses borrows from here.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    pub(super) text: Vec<u8>,
    pub(super) tape: Tape,
}

/// Levels of nesting: those of a document that can be read, and those that recorded losses add.
const DEPTH: usize = 1024;

impl Scratch {
    /// Reads the JSON. Returns the root, or `None` if it is empty.
    pub(super) fn read(&mut self) -> Result<Option<Node<'_>>, Error> {
        let limits = Limits { depth: DEPTH, bytes: u32::MAX as usize, nodes: usize::MAX, ..Limits::default() };
        let mut stream = Stream::new(&self.text, limits)?;
        stream.next(&mut self.tape).transpose()?;
        let source = stream.source();
        Ok(self.tape.document(source).root())
    }
}

/// Reads any node. Numbers print as they are written.
pub(super) fn from_node<'j>(node: Node<'j>, arena: &'j Bump) -> Json<'j> {
    match node.kind() {
        Kind::Null => Json::Null,
        Kind::False => Json::Bool(false),
        Kind::True => Json::Bool(true),
        Kind::Str => Json::Str(node.text()),
        Kind::Int | Kind::Float => match node.as_number() {
            Some(Number::Int(0)) if node.text().starts_with('-') => Json::Float(-0.0),
            Some(Number::Int(n)) => Json::Int(n),
            Some(n) => Json::Float(n.as_f64()),
            None => Json::Null,
        },
        Kind::Seq => {
            let mut items = bumpalo::collections::Vec::with_capacity_in(node.len(), arena);
            items.extend(node.items().map(|item| from_node(item, arena)));
            Json::Array(items.into_bump_slice())
        }
        Kind::Map => {
            let mut members = Vec::with_capacity(node.len());
            members.extend(node.pairs().map(|(key, value)| (key.text(), from_node(value, arena))));
            object(&mut members, arena)
        }
    }
}

/// Returns an object with these members; of equal names, the last is used.
pub(super) fn object<'j>(members: &mut [(&'j str, Json<'j>)], arena: &'j Bump) -> Json<'j> {
    let kept = order::sort_last_wins(members, |(name, _)| name);
    Json::Object(arena.alloc_slice_copy(&members[..kept]))
}

/// Returns a copy that borrows only from the arena.
pub(super) fn copy<'a>(json: &Json<'_>, arena: &'a Bump) -> Json<'a> {
    match json {
        Json::Null => Json::Null,
        Json::Bool(on) => Json::Bool(*on),
        Json::Int(n) => Json::Int(*n),
        Json::Float(n) => Json::Float(*n),
        Json::Str(text) => Json::Str(arena.alloc_str(text)),
        Json::Array(items) => Json::Array(arena.alloc_slice_fill_iter(items.iter().map(|item| copy(item, arena)))),
        Json::Object(members) => {
            let members = members.iter().map(|(name, value)| (&*arena.alloc_str(name), copy(value, arena)));
            Json::Object(arena.alloc_slice_fill_iter(members))
        }
    }
}

/// Returns the members of an object, and none for other values.
pub(super) fn members<'j>(json: &Json<'j>) -> &'j [(&'j str, Json<'j>)] {
    match json {
        Json::Object(members) => members,
        _ => &[],
    }
}

/// Returns the items of an array, and none for other values.
pub(super) fn items<'j>(json: &Json<'j>) -> &'j [Json<'j>] {
    match json {
        Json::Array(items) => items,
        _ => &[],
    }
}

/// Returns a member of an object, which may have any number of members.
pub(super) fn find<'j>(json: Option<&Json<'j>>, name: &str) -> Option<&'j Json<'j>> {
    let members = members(json?);
    let at = members.binary_search_by(|(other, _)| order::utf16(other, name)).ok()?;
    Some(&members[at].1)
}

/// Returns whether two values are the same: at the same address, or the same scalar. This is cheap, and detects
/// unchanged values.
pub(super) fn is_same(a: &Json<'_>, b: &Json<'_>) -> bool {
    match (a, b) {
        (Json::Object(a), Json::Object(b)) => std::ptr::eq(a.as_ptr(), b.as_ptr()) && a.len() == b.len(),
        (Json::Array(a), Json::Array(b)) => std::ptr::eq(a.as_ptr(), b.as_ptr()) && a.len() == b.len(),
        (Json::Object(_) | Json::Array(_), _) | (_, Json::Object(_) | Json::Array(_)) => false,
        // Minus zero differs from zero.
        (Json::Float(a), Json::Float(b)) => a.to_bits() == b.to_bits(),
        (a, b) => a == b,
    }
}
