//! Reads schemas from the tape into [`Schema`](crate::Schema) nodes.
//!
//! The rules are those of Go's typed decoding, with which an API server reads a CustomResourceDefinition: null leaves a
//! field absent, a value of the wrong type is an error, and an unknown field is dropped.

mod later;
mod schema;

pub use later::{KEPT, Language, NULLABLE, ORIGINAL, is_null};

use crate::json::Json;
use crate::order;
use crate::profile::Profile;
use crate::{Code, Note};
use crate::{did_you_mean, nearest};
use bumpalo::{Bump, collections::Vec as BumpVec};
use kubeshape_yaml::{Flags as EntryFlags, Kind, Node, Number};

/// The rules by which values are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Rules {
    /// The rules of a CustomResourceDefinition: members that the API's type does not have are dropped with a warning.
    #[default]
    Crd,
    /// The rules of an OpenAPI document: schemas keep unknown members, and numbers of free values are doubles.
    /// [`Profile::Kube`] follows kube-openapi to the letter; [`Profile::Faithful`] also reads what the specifications
    /// allow beyond it.
    Document(Profile),
}

/// Reads typed values from one document.
///
/// Type errors do not stop it: each is noted with its location, and the field stays absent.
#[derive(Debug)]
pub struct Reader<'a> {
    arena: &'a Bump,
    rules: Rules,
    language: Language,
    notes: Vec<Note<'a>>,
    errors: usize,
    /// Extensions of the schemas that are being read. Those of inner schemas come after those of outer ones.
    extensions: Vec<(&'a str, Json<'a>)>,
}

/// How far a [`Reader`] has read.
#[derive(Clone, Copy, Debug)]
pub struct Checkpoint {
    notes: usize,
    errors: usize,
    extensions: usize,
}

/// Beyond this number, type errors of one document are not noted one by one.
const MAX_ERRORS: usize = 100;

impl<'a> Reader<'a> {
    /// Creates a reader that allocates in `arena`.
    pub fn new(arena: &'a Bump, rules: Rules) -> Self {
        Reader { arena, rules, language: Language::default(), notes: Vec::new(), errors: 0, extensions: Vec::new() }
    }

    /// Returns the rules by which it reads.
    #[inline]
    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// Returns the arena of the values that were read.
    #[inline]
    pub fn arena(&self) -> &'a Bump {
        self.arena
    }

    /// Returns how far it has read, to rewind to or to take extensions from.
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint { notes: self.notes.len(), errors: self.errors, extensions: self.extensions.len() }
    }

    /// Drops the notes and extensions added since.
    pub fn rewind(&mut self, to: Checkpoint) {
        self.notes.truncate(to.notes);
        self.errors = to.errors;
        self.extensions.truncate(to.extensions);
    }

    /// Adds a member of the object that is being read, for [`Reader::take_extensions`].
    pub fn push_extension(&mut self, name: &'a str, value: Json<'a>) {
        self.extensions.push((name, value));
    }

    /// Removes and returns the members added since, sorted. Of repeated ones, only the last is kept.
    pub fn take_extensions(&mut self, since: &Checkpoint) -> &'a [(&'a str, Json<'a>)] {
        if self.extensions.len() <= since.extensions {
            return &[];
        }
        let members = self.arena.alloc_slice_copy(&self.extensions[since.extensions..]);
        self.extensions.truncate(since.extensions);
        let kept = order::sort_last_wins(members, |(name, _)| name);
        &members[..kept]
    }

    /// Returns whether members were added since.
    fn has_extensions(&self, since: &Checkpoint) -> bool {
        self.extensions.len() > since.extensions
    }

    /// Returns whether any value had the wrong type.
    pub fn failed(&self) -> bool {
        self.errors > 0
    }

    /// Returns the notes so far.
    pub fn into_notes(self) -> Vec<Note<'a>> {
        self.notes
    }

    /// Adds a note.
    pub fn note(&mut self, note: Note<'a>) {
        self.notes.push(note);
    }

    /// Notes that `node` has the wrong type.
    #[cold]
    pub fn wrong_type(&mut self, node: Node<'a>, expected: &str) {
        self.error(Code::WrongType, node, || format!("expected {expected}, found {}", describe(node)));
    }

    /// Notes an error about a node.
    #[cold]
    pub fn error(&mut self, code: Code, node: Node<'a>, detail: impl FnOnce() -> String) {
        self.errors += 1;
        if self.errors <= MAX_ERRORS {
            self.notes.push(Note::new(code, node.index(), detail()));
        }
    }

    /// Notes a member that the API's type does not have.
    #[cold]
    pub fn unknown_field(&mut self, key: Node<'a>) {
        if self.is_later_member(key) {
            return;
        }
        self.notes.push(Note::new(Code::UnknownField, key.index(), key.text()));
    }

    /// Does the same for a type with these members. The note names the nearest of them.
    #[cold]
    pub fn unknown_field_among(&mut self, key: Node<'a>, members: &[&str]) {
        /// Every name is similar to a shorter one, such as `id` to the `if` of JSON Schema.
        const SHORT: usize = 2;
        let name = key.text();
        let members = if name.len() > SHORT { members } else { &[] };
        match nearest(name, members.iter().copied()).as_slice() {
            [] => self.unknown_field(key),
            near => {
                let detail = format!("{name}{}", did_you_mean(near));
                self.notes.push(Note::new(Code::UnknownField, key.index(), detail));
            }
        }
    }

    #[cold]
    fn duplicate(&mut self, key: Node<'a>, again: Node<'a>) {
        let position = key.document().position(key.span().start);
        let detail = format!("{:?} stands already on line {}, column {}", again.text(), position.line, position.column);
        if self.rules == Rules::Document(Profile::Kube) && again.document().is_json() {
            self.error(Code::RepeatedKey, again, || detail);
        } else {
            self.notes.push(Note::new(Code::DuplicateKey, again.index(), detail));
        }
    }

    /// Reads a string. Null is `""`.
    #[inline]
    pub fn text(&mut self, node: Node<'a>) -> &'a str {
        match node.kind() {
            Kind::Str => node.text(),
            Kind::Null => "",
            Kind::Int | Kind::Float | Kind::True | Kind::False if self.rules == Rules::Document(Profile::Faithful) => {
                // `swagger: 2.0` and `version: 1.10` are too common to reject.
                let found = describe(node);
                self.notes.push(Note::new(Code::TextExpected, node.index(), format!("found {found}")));
                node.text()
            }
            _ => {
                self.wrong_type(node, "a string");
                ""
            }
        }
    }

    /// Reads a string. Null is `None`.
    pub fn optional_text(&mut self, node: Node<'a>) -> Option<&'a str> {
        let text = self.text(node);
        (!node.is_null()).then_some(text)
    }

    /// Reads a boolean. Null is `false`.
    pub fn boolean(&mut self, node: Node<'a>) -> bool {
        self.optional_boolean(node).unwrap_or(false)
    }

    /// Reads a boolean. Null is `None`.
    pub fn optional_boolean(&mut self, node: Node<'a>) -> Option<bool> {
        if !node.is_null() && node.as_bool().is_none() {
            self.wrong_type(node, "true or false");
        }
        node.as_bool()
    }

    /// Reads a signed integer of 64 bits. Null is `None`.
    pub fn integer(&mut self, node: Node<'a>) -> Option<i64> {
        match (node.kind(), node.as_number()) {
            (Kind::Null, _) => None,
            (_, Some(Number::Int(n))) => Some(n),
            (_, Some(Number::Float(n)))
                if self.rules == Rules::Document(Profile::Faithful) && n.fract() == 0.0 && n.abs() < 9e15 =>
            {
                Some(n as i64)
            }
            _ => {
                self.wrong_type(node, "an integer of 64 bits");
                None
            }
        }
    }

    /// Reads a signed integer of 32 bits. Null is `None`.
    pub fn integer32(&mut self, node: Node<'a>) -> Option<i32> {
        let wide = self.integer(node)?;
        let narrow = i32::try_from(wide).ok();
        if narrow.is_none() {
            self.wrong_type(node, "an integer of 32 bits");
        }
        narrow
    }

    /// Reads a number. Null is `None`.
    pub fn number(&mut self, node: Node<'a>) -> Option<f64> {
        match (node.kind(), node.as_number()) {
            (Kind::Null, _) => None,
            (_, Some(Number::Int(0))) => Some(signed_zero(node)),
            (_, Some(n)) if n.as_f64().is_finite() => Some(n.as_f64()),
            _ => {
                self.wrong_type(node, "a number");
                None
            }
        }
    }

    /// Reads a list of strings. Null is the empty list, and a null item is `""`.
    pub fn texts(&mut self, node: Node<'a>) -> &'a [&'a str] {
        self.list(node, "a list of strings", Self::text)
    }

    /// Reads a list with a function for its items. Null is the empty list. `expected` names the list in errors.
    pub fn list<T>(
        &mut self,
        node: Node<'a>,
        expected: &str,
        mut read: impl FnMut(&mut Self, Node<'a>) -> T,
    ) -> &'a [T] {
        let mut out = BumpVec::with_capacity_in(node.len(), self.arena);
        self.each_item(node, expected, |reader, item| out.push(read(reader, item)));
        out.into_bump_slice()
    }

    /// Checks a mapping of strings.
    pub fn check_text_map(&mut self, node: Node<'a>) {
        self.each_pair(node, "a mapping of strings", |reader, _, value| {
            reader.text(value);
        });
    }

    /// Calls `f` for every item of a list. Null has no items.
    pub fn each_item(&mut self, node: Node<'a>, expected: &str, mut f: impl FnMut(&mut Self, Node<'a>)) {
        match node.kind() {
            Kind::Seq => node.items().for_each(|item| f(self, item)),
            Kind::Null => {}
            _ => self.wrong_type(node, expected),
        }
    }

    /// Calls `f` for every pair of a mapping; of repeated keys, only for the last. Null has no pairs.
    pub fn each_pair(&mut self, node: Node<'a>, expected: &str, mut f: impl FnMut(&mut Self, Node<'a>, Node<'a>)) {
        match node.kind() {
            Kind::Map => {
                for (key, value) in self.last_pairs(node) {
                    f(self, key, value);
                }
            }
            Kind::Null => {}
            _ => self.wrong_type(node, expected),
        }
    }

    /// Returns the pairs of a mapping; of repeated keys, only the last. Notes unusual keys.
    fn last_pairs(&mut self, node: Node<'a>) -> std::vec::Vec<(Node<'a>, Node<'a>)> {
        let mut pairs: std::vec::Vec<_> = node.pairs().collect();
        if self.note_duplicates(&pairs) {
            let mut last = std::collections::BTreeMap::new();
            for (i, (key, _)) in pairs.iter().enumerate() {
                last.insert(key.text(), i);
            }
            let mut i = 0;
            pairs.retain(|(key, _)| {
                i += 1;
                last.get(key.text()) == Some(&(i - 1))
            });
        }
        pairs
    }

    /// Notes keys that appear twice or were not written as strings. Returns whether any key appears twice.
    fn note_duplicates(&mut self, pairs: &[(Node<'a>, Node<'a>)]) -> bool {
        let mut order: std::vec::Vec<usize> = (0..pairs.len()).collect();
        order.sort_by_key(|i| (pairs[*i].0.text(), *i));
        let mut repeated = false;
        for pair in order.windows(2) {
            let (first, second) = (pairs[pair[0]].0, pairs[pair[1]].0);
            if first.text() == second.text() {
                repeated = true;
                if !second.entry().flags.has(EntryFlags::ALIASED) && !first.entry().flags.has(EntryFlags::ALIASED) {
                    self.duplicate(first, second);
                }
            }
        }
        for (key, _) in pairs {
            if key.entry().flags.has(EntryFlags::RESOLVED_KEY) {
                self.resolved_key(*key);
            }
        }
        repeated
    }

    #[cold]
    fn resolved_key(&mut self, key: Node<'a>) {
        let written = &key.document().source()[key.span()];
        self.notes.push(Note::new(
            Code::ResolvedKey,
            key.index(),
            format!("{written} without quotes is read as {:?}; write {written:?} to keep the name", key.text()),
        ));
    }
}

/// Returns whether a member's name is that of an extension.
pub fn is_extension(name: &str) -> bool {
    name.len() > 1 && (name.starts_with("x-") || name.starts_with("X-"))
}

/// A zero keeps its sign in a member of Go's type `float64`, if YAML did not read the number as an integer.
#[cold]
fn signed_zero(node: Node<'_>) -> f64 {
    let text = node.text();
    let float = node.document().is_json() || (text.contains(['.', 'e', 'E']) && !text.contains(['x', 'X']));
    if text.starts_with('-') && float { -0.0 } else { 0.0 }
}

/// Describes a node for an error message.
pub fn describe(node: Node<'_>) -> String {
    match node.kind() {
        Kind::Null => "null".to_owned(),
        Kind::False | Kind::True => format!("the boolean {}", node.text()),
        Kind::Int | Kind::Float => format!("the number {}", node.text()),
        Kind::Str => {
            let text = node.text();
            let short: String = text.chars().take(40).collect();
            if short.len() < text.len() { format!("the string {short:?}…") } else { format!("the string {short:?}") }
        }
        Kind::Seq => "a list".to_owned(),
        Kind::Map => "a mapping".to_owned(),
    }
}
