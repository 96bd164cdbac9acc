//! Several documents become one, as clients are to put the documents of a server together (KEP-2896).
//!
//! Names are resolved as upstream's aggregator does (spec: publishing, §3.1 and §4.3; upstream:
//! `MergeSpecsIgnorePathConflictRenamingDefinitionsAndParameters`): what is equal is shared, definitions also
//! if their lists of group-version-kinds differ, which are united and sorted then; what differs is called
//! `_v2`, `_v3` and so on in later documents, in all references too, and the same name is used for what is
//! equal to it. This goes for everything that has a name, not for definitions and parameters alone.
//!
//! Beyond that, with [`Profile::Faithful`]:
//! - equal texts are equal only if what they refer to is equal, too; upstream shares a definition though the
//!   two mean different things by a reference in it;
//! - documents without paths count.
//!
//! With either profile paths must not differ. Upstream keeps those of the first document without a word.
//!
//! What stands at the root for all operations of a document (`security`, `servers`, and in v2 `consumes`, `produces`
//! and `schemes`) and is not the same in the first document moves to its operations. Other members of the root
//! are the first document's; [`Code::AggregateDropped`] says what that hides.

mod dialects;
mod kinds;
mod names;

use super::rewrite::{Item, Renames, Rewriter};
use super::{Graph, Section};
use crate::model::{Entry, Map, Member, Printer};
use dialects::Parts as _;
use kubeshape_schema::Dialect;
use kubeshape_schema::print::Style;
use kubeshape_schema::{Bump, Code, Note, Profile};
use names::{Names, Numbers};
use std::collections::HashMap;

pub use dialects::Whole;

/// A document with the name that reports have for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Source<'a, D> {
    /// Its name: a file, or the name it has at the server.
    pub name: &'a str,
    /// The document.
    pub document: D,
}

/// The aggregate of documents.
#[derive(Clone, Debug, PartialEq)]
pub struct Aggregate<'a, D> {
    /// The document; none if there is no source or paths conflict.
    pub document: Option<D>,
    /// What was found, by source: places are of different documents.
    pub notes: Vec<Vec<Note<'a>>>,
}

/// Puts documents of one dialect together, in time that grows with their sizes together. A single one stays
/// as it is.
///
/// # Example
/// ```
/// use kubeshape_convert::graph::aggregate::{Source, aggregate};
/// use kubeshape_convert::v3;
/// use kubeshape_schema::{Bump, Profile};
/// use kubeshape_yaml::{Limits, Stream, Tape};
///
/// fn read<'a>(source: &'a str, tape: &'a mut Tape, arena: &'a Bump) -> v3::Document<'a> {
///     let mut stream = Stream::new(source.as_bytes(), Limits::default()).unwrap();
///     stream.next(tape).unwrap().unwrap();
///     v3::read(tape.document(source).root().unwrap(), arena, Profile::Kube).value.unwrap()
/// }
/// let arena = Bump::new();
/// let (mut one, mut two) = (Tape::new(), Tape::new());
/// let one = read(r#"{"openapi":"3.0.0","paths":{},"components":{"schemas":{"A":{"type":"object"}}}}"#, &mut one, &arena);
/// let two = read(r##"{"openapi":"3.0.0","paths":{},"components":{"schemas":{
///     "A":{"type":"string"},"B":{"items":{"$ref":"#/components/schemas/A"}}}}}"##, &mut two, &arena);
/// let sources = [Source { name: "one", document: one }, Source { name: "two", document: two }];
/// let whole = aggregate(&sources, Profile::Faithful, &arena);
/// let mut out = Vec::new();
/// whole.document.unwrap().print(&mut out, Profile::Kube);
/// assert_eq!(String::from_utf8(out).unwrap(), concat!(
///     r##"{"openapi":"3.0.0","info":null,"paths":{},"components":{"schemas":{"A":{"type":"object"},"##,
///     r##""A_v2":{"type":"string"},"B":{"items":{"$ref":"#/components/schemas/A_v2"}}}}}"##));
/// assert_eq!(whole.notes[1][0].detail, "schema A is called A_v2");
/// ```
pub fn aggregate<'a, D: Whole<'a>>(sources: &[Source<'a, D>], profile: Profile, arena: &'a Bump) -> Aggregate<'a, D> {
    let Some(first) = sources.first() else { return Aggregate { document: None, notes: Vec::new() } };
    if let [only] = sources {
        let notes = Graph::of(&only.document.wrapped()).into_notes();
        return Aggregate { document: Some(only.document), notes: vec![notes] };
    }
    let mut names = Names::new(profile, arena);
    let mut numbers = Numbers::default();
    let mut parts = D::Parts::default();
    let mut paths = Paths { entries: Vec::new(), index: HashMap::new(), operations: HashMap::new(), conflict: false };
    let mut notes = Vec::with_capacity(sources.len());
    let mut taken = Vec::with_capacity(sources.len());
    for (number, source) in sources.iter().enumerate() {
        let mut found = Vec::new();
        let kube = profile == Profile::Kube && number > 0;
        let document = if kube { source.document.as_upstream_takes(&mut found) } else { source.document };
        taken.push(document);
        let graph = Graph::of(&document.wrapped());
        if number > 0 {
            document.differences(&first.document, &mut found);
        }
        if kube && document.items().is_none() {
            found.extend(graph.into_notes());
            notes.push(found);
            continue;
        }
        let contents = D::Parts::contents(&document, &mut numbers);
        let placed = names.place(&graph, &contents, &mut numbers);
        let mut renames = Renames::default();
        for (part, placed) in graph.inner().node_weights().zip(&placed) {
            if part.name != placed.name {
                renames.insert(part.section, part.name, placed.name);
                let detail = format!("{} {} is called {}", noun(part.section), part.name, placed.name);
                found.push(Note::new(Code::AggregateRenamed, part.at, detail));
            }
        }
        let mut rewriter = Rewriter::new(&renames, D::DIALECT, arena);
        let fresh = parts.take(&document, &placed, &mut rewriter);
        if profile == Profile::Kube && !renames.is_empty() {
            for (section, name) in fresh {
                let content = parts.content(section, name, &mut numbers);
                names.rewritten(section, name, content);
            }
        }
        // Upstream does not move to operations what the root of a document says.
        let whole = number == 0 || kube && D::DIALECT == Dialect::V2;
        let items = if whole { document.items() } else { document.items_alone(&first.document, arena) };
        for entry in items.unwrap_or_default() {
            let value = if renames.is_empty() { entry.value } else { entry.value.rewritten(&mut rewriter) };
            paths.take(Entry { value, ..*entry }, number, sources, &mut found);
        }
        found.extend(graph.into_notes());
        found.sort_by_key(|note| (note.at, note.code));
        notes.push(found);
    }
    if paths.conflict {
        return Aggregate { document: None, notes };
    }
    paths.entries.sort_by(|a, b| kubeshape_schema::order::utf16(a.name, b.name));
    let written = sources.iter().any(|source| source.document.items().is_some());
    let items = written.then(|| Map::new(arena.alloc_slice_copy(&paths.entries)));
    Aggregate { document: Some(parts.finish(&first.document, items, taken.iter(), arena)), notes }
}

/// The paths of the aggregate.
struct Paths<'a, T> {
    entries: Vec<Entry<'a, T>>,
    /// By path: number of the entry, and of the source.
    index: HashMap<&'a str, (usize, usize)>,
    /// Which source has an operation id.
    operations: HashMap<&'a str, usize>,
    conflict: bool,
}

impl<'a, T: Item<'a> + Member<'a>> Paths<'a, T> {
    fn take<D>(&mut self, entry: Entry<'a, T>, source: usize, sources: &[Source<'a, D>], notes: &mut Vec<Note<'a>>) {
        if let Some((at, other)) = self.index.get(entry.name) {
            if printed(&self.entries[*at].value) != printed(&entry.value) {
                let [one, two] = [*other, source].map(|i| sources[i].name);
                let detail = format!("{} is defined by {one} and, differently, by {two}", entry.name);
                notes.push(Note::new(Code::AggregatePathConflict, entry.at, detail));
                self.conflict = true;
            }
            return;
        }
        for (id, at) in entry.value.operation_ids() {
            let owner = *self.operations.entry(id).or_insert(source);
            if owner != source && !id.is_empty() {
                let detail = format!("{id}, which {} has as well", sources[owner].name);
                notes.push(Note::new(Code::RepeatedOperationId, at, detail));
            }
        }
        self.index.insert(entry.name, (self.entries.len(), source));
        self.entries.push(entry);
    }
}

/// The text of a member, by which members of different documents are compared.
fn printed<'a>(member: &impl Member<'a>) -> Vec<u8> {
    let mut out = Vec::new();
    print_to(member, &mut out);
    out
}

fn print_to<'a>(member: &impl Member<'a>, out: &mut Vec<u8>) {
    member.print(&mut Printer::new(out, Style::V3, Profile::Faithful));
}

fn noun(section: Section) -> &'static str {
    match section {
        Section::Schemas => "schema",
        Section::Parameters => "parameter",
        Section::Responses => "response",
        Section::RequestBodies => "request body",
        Section::Headers => "header",
        Section::Examples => "example",
        Section::Links => "link",
        Section::Callbacks => "callback",
        Section::SecuritySchemes => "security scheme",
        Section::Paths => "path",
    }
}
