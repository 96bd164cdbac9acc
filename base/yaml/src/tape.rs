//! The flat form that every reader of this crate produces.
//!
//! A document is a sequence of [`Entry`] values in document order. A container's entry is followed by the entries of
//! its children and has the index where they end. Scalars are already resolved as Kubernetes resolves them (`yes` is a
//! boolean, `010` is 8), keys are already strings (`y: 1` has the key `true`), and aliases and merge keys are already
//! expanded. Nothing is allocated per entry. Scalars that appear in the source without escapes or folding are ranges of
//! it; the others are ranges of one text buffer.

use crate::go::number::{self, Number};
use crate::positions::Milestone;
use crate::{Kind, Position, Positions, pointer, resolve};
use std::sync::OnceLock;

/// A JSON collection that is being read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Open {
    /// Its entry.
    pub(crate) index: usize,
    /// Items or pairs so far.
    pub(crate) count: u32,
    /// Whether it is an object.
    pub(crate) map: bool,
}

impl Open {
    #[inline]
    pub(crate) fn close(self) -> u8 {
        if self.map { b'}' } else { b']' }
    }
}

/// Properties of an entry, in addition to its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Flags(u8);

impl Flags {
    /// The text is in the tape's text buffer, not in the source.
    pub const DECODED: Flags = Flags(1);
    /// A key that was not written as a string (`y:`, `1:`, `null` in a set …). Its text is the one that Kubernetes
    /// gives it.
    pub const RESOLVED_KEY: Flags = Flags(2);
    /// The entry came from an alias or a merge key. Its offsets are those of the anchor.
    pub const ALIASED: Flags = Flags(4);
    /// The scalar was quoted or a block scalar.
    pub const QUOTED: Flags = Flags(8);
    /// A key that Kubernetes rejects unless a later one replaces it.
    pub(crate) const BAD: Flags = Flags(16);
    /// The scalar has a tag.
    pub const TAGGED: Flags = Flags(32);
    /// No flag.
    pub const NONE: Flags = Flags(0);

    /// Returns whether all flags of `other` are set.
    #[inline]
    pub fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns the flags without those of `other`.
    #[must_use]
    #[inline]
    pub(crate) fn without(self, other: Flags) -> Flags {
        Flags(self.0 & !other.0)
    }

    /// Returns both sets together.
    #[must_use]
    #[inline]
    pub fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

/// One node of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Byte offset of the node's first character in the source: of the quote, the `|`, the `[` or the first key; of an
    /// absent value, where it would be.
    pub start: u32,
    /// Byte offset after the node's last character in the source.
    pub end: u32,
    /// Scalars: offset of the text. Containers: index of the first entry after the container.
    pub a: u32,
    /// Scalars: length of the text in bytes. Containers: number of items or of key-value pairs.
    pub b: u32,
    /// The kind of the entry.
    pub kind: Kind,
    /// Further properties.
    pub flags: Flags,
}

impl Entry {
    /// Whether the entry is a sequence or a mapping.
    #[inline]
    pub fn is_container(&self) -> bool {
        matches!(self.kind, Kind::Seq | Kind::Map)
    }
}

/// The entries of one document. The memory is reused for the next document.
#[derive(Clone, Debug, Default)]
pub struct Tape {
    pub(crate) entries: Vec<Entry>,
    pub(crate) text: String,
    /// Whether the document has any node (false: comments only, or nothing between two markers).
    pub(crate) content: bool,
    /// Whether the document was read as JSON.
    pub(crate) json: bool,
    /// The first entry with half of a surrogate pair in its text.
    pub(crate) lone_surrogate: Option<u32>,
    /// The position at which the document begins.
    pub(crate) start: Milestone,
    /// Made for the first lookup.
    positions: OnceLock<Positions>,
    /// The memory of the JSON reader, which is reused.
    pub(crate) open: Vec<Open>,
}

impl Tape {
    /// An empty tape.
    pub fn new() -> Self {
        Self::default()
    }

    /// Removes the document and keeps the memory.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.text.clear();
        self.content = false;
        self.json = false;
        self.lone_surrogate = None;
        self.start = Milestone::default();
        self.positions.take();
    }

    /// Frees the memory that the document does not need.
    pub fn shrink_to_fit(&mut self) {
        self.entries.shrink_to_fit();
        self.text.shrink_to_fit();
        self.open = Vec::new();
    }

    /// Returns the document that was read from `source`.
    pub fn document<'a>(&'a self, source: &'a str) -> Document<'a> {
        Document { source, tape: self }
    }

    /// All entries in document order; the first one is the root.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Returns whether the document has any node: false for comments only, or nothing between two markers.
    pub fn has_content(&self) -> bool {
        self.content
    }
}

/// A document: its source and its tape.
#[derive(Clone, Copy, Debug)]
pub struct Document<'a> {
    source: &'a str,
    tape: &'a Tape,
}

impl<'a> Document<'a> {
    /// Returns line and column of a byte of the source. The first lookup takes time in proportion to the document,
    /// others take constant time.
    ///
    /// # Example
    /// ```
    /// use kubeshape_yaml::{Limits, Position, Stream, Tape};
    /// let source = "a: 1\n---\nb: 2\n";
    /// let mut stream = Stream::new(source.as_bytes(), Limits::default())?;
    /// let mut tape = Tape::new();
    /// stream.next(&mut tape).transpose()?;
    /// stream.next(&mut tape).transpose()?;
    /// let b = tape.document(source).node(0).get("b").unwrap();
    /// assert_eq!(b.document().position(b.span().start), Position { line: 3, column: 4 });
    /// # Ok::<(), kubeshape_yaml::Error>(())
    /// ```
    pub fn position(self, offset: usize) -> Position {
        let end = self.tape.entries.first().map_or(0, |root| root.end as usize);
        let positions = self.tape.positions.get_or_init(|| Positions::between(self.source, self.tape.start, end));
        if positions.has(offset) { positions.at(self.source, offset) } else { Position::of(self.source, offset) }
    }

    /// Returns the root node. For a document without content, it is null.
    ///
    /// # Example: the name of an object
    /// ```
    /// use kubeshape_yaml::{Limits, Stream, Tape};
    /// let source = "kind: A\nmetadata:\n  name: x\n";
    /// let mut stream = Stream::new(source.as_bytes(), Limits::default()).unwrap();
    /// let mut tape = Tape::new();
    /// stream.next(&mut tape).unwrap().unwrap();
    /// let root = tape.document(source).root().unwrap();
    /// assert_eq!(root.get("metadata").unwrap().get("name").unwrap().as_str(), Some("x"));
    /// ```
    pub fn root(self) -> Option<Node<'a>> {
        (!self.tape.entries.is_empty()).then_some(Node { document: self, index: 0 })
    }

    /// Returns the node with this index, which must come from this document.
    #[inline]
    pub fn node(self, index: u32) -> Node<'a> {
        Node { document: self, index }
    }

    /// Returns the whole source, with all documents of the stream.
    pub fn source(self) -> &'a str {
        self.source
    }

    /// Returns the first string of a JSON document that escapes half of a surrogate pair, which is not a character.
    /// Some readers, like this one, replace it with U+FFFD; others reject the document.
    pub fn lone_surrogate(self) -> Option<Node<'a>> {
        self.tape.lone_surrogate.map(|index| self.node(index))
    }

    /// Returns whether the document was read as JSON, not as YAML.
    pub fn is_json(self) -> bool {
        self.tape.json
    }

    /// Returns the number of entries.
    pub fn len(self) -> usize {
        self.tape.entries.len()
    }

    /// Returns the length of the text buffer.
    pub(crate) fn text_len(self) -> usize {
        self.tape.text.len()
    }

    /// Returns whether there is no entry at all.
    pub fn is_empty(self) -> bool {
        self.tape.entries.is_empty()
    }

    /// Returns the JSON pointer of an entry: `/spec/versions/0/name`, with `~0` and `~1` escapes. It walks over
    /// everything before the entry. For many entries, create [`Parents`](crate::Parents) first.
    pub fn pointer(self, index: u32) -> String {
        let mut out = String::new();
        let entries = &self.tape.entries;
        if index as usize >= entries.len() {
            return out;
        }
        let mut at = 0u32;
        'down: while at != index {
            let entry = entries[at as usize];
            match entry.kind {
                Kind::Map => {
                    let mut key = at + 1;
                    while key < entry.a {
                        let value = key + 1;
                        let next = self.next_index(value);
                        if index == key || index < next {
                            pointer::push(&mut out, self.node(key).text());
                            if index == key {
                                return out;
                            }
                            at = value;
                            continue 'down;
                        }
                        key = next;
                    }
                    return out;
                }
                Kind::Seq => {
                    let (mut item, mut n) = (at + 1, 0usize);
                    while item < entry.a {
                        let next = self.next_index(item);
                        if index < next {
                            out.push('/');
                            out.push_str(&n.to_string());
                            at = item;
                            continue 'down;
                        }
                        item = next;
                        n += 1;
                    }
                    return out;
                }
                _ => return out,
            }
        }
        out
    }

    #[inline]
    fn next_index(self, index: u32) -> u32 {
        let entry = &self.tape.entries[index as usize];
        if entry.is_container() { entry.a } else { index + 1 }
    }
}

/// One node of a document.
#[derive(Clone, Copy)]
pub struct Node<'a> {
    document: Document<'a>,
    index: u32,
}

impl std::fmt::Debug for Node<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}@{}", self.kind(), self.entry().start)
    }
}

impl<'a> Node<'a> {
    /// Returns the document the node belongs to.
    #[inline]
    pub fn document(self) -> Document<'a> {
        self.document
    }

    /// Returns the node's index in the tape, which identifies it within the document.
    #[inline]
    pub fn index(self) -> u32 {
        self.index
    }

    /// Returns the node's entry.
    #[inline]
    pub fn entry(self) -> &'a Entry {
        &self.document.tape.entries[self.index as usize]
    }

    /// Returns the node's kind.
    #[inline]
    pub fn kind(self) -> Kind {
        self.entry().kind
    }

    /// Returns the byte range in the source.
    pub fn span(self) -> std::ops::Range<usize> {
        let entry = self.entry();
        entry.start as usize..entry.end as usize
    }

    /// Returns the scalar's text after unquoting, folding and (for keys) resolving; `""` for containers.
    #[inline]
    pub fn text(self) -> &'a str {
        let entry = self.entry();
        if entry.is_container() {
            return "";
        }
        let from =
            if entry.flags.has(Flags::DECODED) { self.document.tape.text.as_str() } else { self.document.source };
        &from[entry.a as usize..(entry.a + entry.b) as usize]
    }

    /// Returns the text of a string, else `None`.
    #[inline]
    pub fn as_str(self) -> Option<&'a str> {
        (self.kind() == Kind::Str).then(|| self.text())
    }

    /// Returns the value of a boolean, else `None`.
    #[inline]
    pub fn as_bool(self) -> Option<bool> {
        match self.kind() {
            Kind::True => Some(true),
            Kind::False => Some(false),
            _ => None,
        }
    }

    /// Returns whether the node is null.
    #[inline]
    pub fn is_null(self) -> bool {
        self.kind() == Kind::Null
    }

    /// Returns the number as in Kubernetes' JSON, else `None`. An infinite number gives `None`; it is only in a tape
    /// where a repeated key replaces it.
    pub fn as_number(self) -> Option<Number> {
        match self.kind() {
            Kind::Int | Kind::Float if self.document.tape.json => {
                let text = self.text();
                let int = if self.kind() == Kind::Int { text.parse().ok() } else { None };
                int.map(Number::Int).or_else(|| number::from_json_literal(text))
            }
            Kind::Int | Kind::Float => resolve::number_of(self.text()),
            _ => None,
        }
    }

    /// Returns the items of a sequence in order, and no items for other nodes.
    #[inline]
    pub fn items(self) -> Items<'a> {
        let entry = self.entry();
        let end = if entry.kind == Kind::Seq { entry.a } else { 0 };
        Items { document: self.document, at: self.index + 1, end }
    }

    /// Returns the pairs of a mapping in document order, repeated keys included (Kubernetes uses the last), and no
    /// pairs for other nodes.
    #[inline]
    pub fn pairs(self) -> Pairs<'a> {
        let entry = self.entry();
        let end = if entry.kind == Kind::Map { entry.a } else { 0 };
        Pairs { document: self.document, at: self.index + 1, end }
    }

    /// Returns the number of items or pairs, 0 for scalars.
    #[inline]
    pub fn len(self) -> usize {
        let entry = self.entry();
        if entry.is_container() { entry.b as usize } else { 0 }
    }

    /// Returns whether there are no items or pairs.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Returns the value of a mapping's key. Of repeated keys, the last is used.
    pub fn get(self, key: &str) -> Option<Node<'a>> {
        self.pairs().filter(|(k, _)| k.text() == key).last().map(|(_, v)| v)
    }

    /// Returns the node's JSON pointer within its document.
    pub fn pointer(self) -> String {
        self.document.pointer(self.index)
    }
}

/// Iterator over the items of a sequence.
#[derive(Clone, Debug)]
pub struct Items<'a> {
    document: Document<'a>,
    at: u32,
    end: u32,
}

impl<'a> Iterator for Items<'a> {
    type Item = Node<'a>;

    #[inline]
    fn next(&mut self) -> Option<Node<'a>> {
        if self.at >= self.end {
            return None;
        }
        let node = self.document.node(self.at);
        self.at = self.document.next_index(self.at);
        Some(node)
    }
}

/// Iterator over the pairs of a mapping.
#[derive(Clone, Debug)]
pub struct Pairs<'a> {
    document: Document<'a>,
    at: u32,
    end: u32,
}

impl<'a> Iterator for Pairs<'a> {
    type Item = (Node<'a>, Node<'a>);

    #[inline]
    fn next(&mut self) -> Option<(Node<'a>, Node<'a>)> {
        if self.at >= self.end {
            return None;
        }
        let key = self.document.node(self.at);
        let value = self.document.node(self.at + 1);
        self.at = self.document.next_index(self.at + 1);
        Some((key, value))
    }
}
