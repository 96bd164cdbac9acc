//! Nodes that are added behind a document.

use crate::{Document, Entry, Flags, Kind, Node, Tape};
use std::ops::Range;

/// The deepest nesting of added nodes.
const DEPTH: usize = 500;

/// Nodes to add behind a document: objects that are derived from it.
///
/// The nodes of the document stay as they are, and do not reach the added ones. Copies of its nodes keep their
/// locations; other nodes get the location of [`Addition::at`]. All of them have [`Flags::ALIASED`], so that no edit of
/// the source is made for them.
///
/// # Example
/// ```
/// use kubeshape_yaml::{Addition, Limits, Stream, Tape};
///
/// let source = "a: {b: 1}";
/// let mut tape = Tape::new();
/// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
/// let document = tape.document(source);
/// let mut addition = Addition::new(document, 100);
/// let root = addition.position();
/// addition.map();
/// addition.string("copy");
/// addition.copy(document.node(0).get("a").unwrap());
/// addition.end();
/// let added = addition.finish().unwrap();
/// tape.append(added);
/// let copy = tape.document(source).node(root).get("copy").unwrap();
/// assert_eq!(copy.get("b").unwrap().text(), "1");
/// assert_eq!(copy.span(), 3..9);
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
#[derive(Debug)]
pub struct Addition<'n> {
    document: Document<'n>,
    entries: Vec<Entry>,
    text: String,
    /// The open containers: their entry, if there is room for it, and the number of nodes in them.
    open: Vec<(Option<usize>, u32)>,
    at: (u32, u32),
    most: usize,
    is_full: bool,
}

/// Complete nodes to add.
#[derive(Debug)]
pub struct Added {
    entries: Vec<Entry>,
    text: String,
}

impl<'n> Addition<'n> {
    /// Begins with at most `most` nodes behind a document.
    pub fn new(document: Document<'n>, most: usize) -> Addition<'n> {
        let most = most.min((u32::MAX as usize).saturating_sub(document.len()));
        Addition {
            document,
            entries: Vec::new(),
            text: String::new(),
            open: Vec::new(),
            at: (0, 0),
            most,
            is_full: false,
        }
    }

    /// Returns the index of the next node.
    pub fn position(&self) -> u32 {
        (self.document.len() + self.entries.len()) as u32
    }

    /// Returns whether there were too many nodes, or they were nested too deep.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// Sets the location of the next nodes: a range of the source.
    pub fn at(&mut self, span: Range<usize>) {
        self.at = (span.start as u32, span.end as u32);
    }

    /// Begins a mapping. Keys and values follow in turns.
    pub fn map(&mut self) {
        self.begin(Kind::Map);
    }

    /// Begins a sequence.
    pub fn list(&mut self) {
        self.begin(Kind::Seq);
    }

    /// Ends the mapping or sequence that began last.
    pub fn end(&mut self) {
        let next = self.position();
        let Some((Some(at), nodes)) = self.open.pop() else { return };
        if let Some(entry) = self.entries.get_mut(at) {
            entry.a = next;
            entry.b = if entry.kind == Kind::Map { nodes / 2 } else { nodes };
        }
    }

    /// Adds a string, or a key.
    pub fn string(&mut self, text: &str) {
        self.scalar(Kind::Str, text);
    }

    /// Adds a boolean.
    pub fn bool(&mut self, value: bool) {
        self.scalar(if value { Kind::True } else { Kind::False }, if value { "true" } else { "false" });
    }

    /// Adds an integer.
    pub fn int(&mut self, value: i64) {
        self.scalar(Kind::Int, &value.to_string());
    }

    /// Adds a node of the document, with all in it.
    pub fn copy(&mut self, node: Node<'n>) {
        let first = node.index();
        let end = if node.entry().is_container() { node.entry().a } else { first + 1 };
        let shift = self.position().wrapping_sub(first);
        let count = (end - first) as usize;
        if self.entries.len() + count > self.most {
            self.is_full = true;
        }
        self.count();
        if self.is_full {
            return;
        }
        for index in first..end {
            let mut entry = *self.document.node(index).entry();
            entry.flags = entry.flags.with(Flags::ALIASED);
            if entry.is_container() {
                entry.a = entry.a.wrapping_add(shift);
            }
            self.entries.push(entry);
        }
    }

    /// Adds a node of any document, with all in it.
    pub fn import(&mut self, node: Node<'_>) {
        match node.kind() {
            Kind::Map => {
                self.map();
                for (key, value) in node.pairs() {
                    self.string(key.text());
                    self.import(value);
                }
                self.end();
            }
            Kind::Seq => {
                self.list();
                node.items().for_each(|item| self.import(item));
                self.end();
            }
            kind => self.scalar(kind, node.text()),
        }
    }

    /// Returns the nodes; `None` if there were too many, or they were nested too deep.
    pub fn finish(self) -> Option<Added> {
        (!self.is_full).then_some(Added { entries: self.entries, text: self.text })
    }

    fn count(&mut self) {
        if let Some((_, nodes)) = self.open.last_mut() {
            *nodes += 1;
        }
    }

    fn push(&mut self, entry: Entry) -> Option<usize> {
        self.count();
        if self.entries.len() >= self.most || self.open.len() > DEPTH {
            self.is_full = true;
        }
        if self.is_full {
            return None;
        }
        self.entries.push(entry);
        Some(self.entries.len() - 1)
    }

    fn begin(&mut self, kind: Kind) {
        let (start, end) = self.at;
        let at = self.push(Entry { start, end, a: 0, b: 0, kind, flags: Flags::ALIASED });
        self.open.push((at, 0));
    }

    fn scalar(&mut self, kind: Kind, text: &str) {
        let (start, end) = self.at;
        let a = (self.document.text_len() + self.text.len()) as u32;
        let flags = Flags::DECODED.with(Flags::ALIASED);
        if self.push(Entry { start, end, a, b: text.len() as u32, kind, flags }).is_some() {
            self.text.push_str(text);
        }
    }
}

impl Tape {
    /// Adds nodes behind the document from which they were made. Its root does not reach them;
    /// [`Document::node`] returns them.
    pub fn append(&mut self, added: Added) {
        self.entries.extend(added.entries);
        self.text.push_str(&added.text);
    }
}
