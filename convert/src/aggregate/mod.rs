//! Aggregates several documents into one, as clients do with the documents of a server (KEP-2896).
//!
//! Names are resolved as in `mergeSpecs` of kube-openapi's `pkg/aggregator`. Equal parts are shared. Definitions are
//! equal even if their lists of group-version-kinds differ; then the lists are united and sorted. A part that differs
//! gets a name with `_v2`, `_v3` and so on in later documents and in all references, and the same name is used for
//! equal parts. This applies to all named parts, not only to definitions and parameters.
//!
//! Beyond that, with [`Profile::Faithful`]:
//! - parts that print the same are equal only if the parts that they refer to are equal, too. Upstream shares a
//!   definition although a reference in it has different meanings in the two documents;
//! - documents without paths are used.
//!
//! With either profile, paths must not differ. Upstream silently keeps those of the first document.
//!
//! Root members that apply to all operations of a document (`security`, `servers`, and in v2 `consumes`, `produces` and
//! `schemes`) are moved to its operations if they differ from those of the first document. Other members of the root
//! are the first document's; [`Code::AggregateDropped`] reports what is missing because of that.
//!
//! An [`Aggregator`] reads one document after the other and stores its parts as printed strings, each string once. So
//! the documents need not be in memory together.

mod dialects;
mod kinds;
pub mod merge;
mod names;
mod parts;
mod root;
mod texts;

use crate::document::Document;
use crate::graph::rewrite::{Item as _, Renames, Rewriter};
use crate::graph::{Graph, Section};
use crate::model::{Entry, Mapper as _, Member, Printer, Site};
use crate::v3;
use dialects::Source;
use kinds::{Kinds, without_kinds};
use kubeshape_schema::print::Style;
use kubeshape_schema::{Bump, Code, Dialect, Note, Profile, order};
use names::{Names, Placed};
use parts::Part;
use root::{Item, Root};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use texts::Texts;

/// The error for a document of another dialect than the first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an aggregate holds documents of one dialect")]
pub struct OtherDialect;

/// Aggregates documents of one dialect, in time linear in their total size. A single document is not changed.
///
/// # Example
/// ```
/// use kubeshape_convert::aggregate::Aggregator;
/// use kubeshape_convert::{document::Document, v3};
/// use kubeshape_schema::{Bump, Profile};
/// use kubeshape_yaml::{Limits, Stream, Tape};
///
/// let sources = [
///     ("one", r#"{"openapi":"3.0.0","paths":{},"components":{"schemas":{"A":{"type":"object"}}}}"#),
///     ("two", r##"{"openapi":"3.0.0","paths":{},"components":{"schemas":{
///         "A":{"type":"string"},"B":{"items":{"$ref":"#/components/schemas/A"}}}}}"##),
/// ];
/// let mut aggregator = Aggregator::new(Profile::Faithful);
/// let mut found = Vec::new();
/// for (name, source) in sources {
///     let (mut tape, arena) = (Tape::new(), Bump::new());
///     Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
///     let document = v3::read(tape.document(source).root().unwrap(), &arena, Profile::Faithful).value.unwrap();
///     let notes = aggregator.add(name, &Document::V3(document), &arena)?;
///     found.extend(notes.into_iter().map(|note| note.detail.into_owned()));
/// }
/// let aggregate = aggregator.finish().unwrap();
/// assert_eq!(String::from_utf8(aggregate.to_vec())?, concat!(
///     r##"{"openapi":"3.0.0","info":null,"paths":{},"components":{"schemas":{"A":{"type":"object"},"##,
///     r##""A_v2":{"type":"string"},"B":{"items":{"$ref":"#/components/schemas/A_v2"}}}}}"##));
/// assert_eq!(found, ["schema A is called A_v2"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Aggregator {
    profile: Profile,
    /// Names of the documents so far, for messages.
    sources: Vec<Box<str>>,
    first: Option<First>,
    names: Names,
    texts: Texts,
    /// Parts of every section, by their numbers.
    sections: [Vec<Stored>; Section::ALL.len()],
    paths: Paths,
    tags: Tags,
    /// Whether any document has paths, components and callbacks.
    has_paths: bool,
    has_components: bool,
    has_callbacks: bool,
    buffer: Vec<u8>,
}

/// Parts of the first document for the result, and to compare later documents with.
#[derive(Debug)]
struct First {
    dialect: Dialect,
    items: Vec<Item>,
    root: Root,
}

/// A stored part.
#[derive(Debug, Default)]
struct Stored {
    /// The number of its printed form; of a definition, without its kinds.
    text: u32,
    kinds: Option<Box<Kinds>>,
}

/// A path, the number of its source, and its printed item.
type PathItem = (Arc<str>, u32, Box<[u8]>);

/// The paths so far.
#[derive(Debug, Default)]
struct Paths {
    /// Paths, the numbers of their sources, and their printed items.
    entries: Vec<PathItem>,
    index: HashMap<Arc<str>, u32>,
    /// Numbers of the sources that have an operation id.
    operations: HashMap<Box<str>, u32>,
    conflict: bool,
}

/// The tags of all documents. Of each name, the first is used.
#[derive(Debug, Default)]
struct Tags {
    printed: Vec<u8>,
    names: HashSet<Box<str>>,
}

impl Aggregator {
    /// Creates an aggregator without documents.
    pub fn new(profile: Profile) -> Self {
        Aggregator {
            profile,
            sources: Vec::new(),
            first: None,
            names: Names::new(profile),
            texts: Texts::default(),
            sections: Default::default(),
            paths: Paths::default(),
            tags: Tags::default(),
            has_paths: false,
            has_components: false,
            has_callbacks: false,
            buffer: Vec::new(),
        }
    }

    /// Adds a document. Reports call it `name`: a file, or the name of the document at the server. Returns the
    /// findings, whose locations are those of this document.
    ///
    /// # Errors
    /// [`OtherDialect`]: the document does not have the dialect of the first one.
    pub fn add<'a>(
        &mut self,
        name: &str,
        document: &Document<'a>,
        arena: &'a Bump,
    ) -> Result<Vec<Note<'a>>, OtherDialect> {
        let dialect = dialect_of(document);
        if self.first.as_ref().is_some_and(|first| first.dialect != dialect) {
            return Err(OtherDialect);
        }
        Ok(match document {
            Document::V2(document) => self.take(name, *document, arena),
            Document::V3(document) => self.take(name, *document, arena),
        })
    }

    fn take<'a, D: Source<'a>>(&mut self, name: &str, source: D, arena: &'a Bump) -> Vec<Note<'a>> {
        let number = self.sources.len() as u32;
        self.sources.push(name.into());
        let mut found = Vec::new();
        let is_first = number == 0;
        let is_kube = self.profile == Profile::Kube && !is_first;
        let document = if is_kube { source.as_upstream_takes(&mut found) } else { source };
        let wrapped = document.wrapped();
        let style = style_of(dialect_of(&wrapped));
        let graph = Graph::of(&wrapped);
        self.tags.take(root::tags(&wrapped), is_first, style, self.profile);
        self.has_components |= matches!(&wrapped, Document::V3(v3::Document { components: Some(_), .. }));
        self.has_paths |= source.items().is_some();
        if is_first {
            let (dialect, items) = (dialect_of(&wrapped), root::items(&wrapped, style, self.profile));
            self.first = Some(First { dialect, items, root: Root::of(&wrapped) });
        } else if let Some(first) = &self.first {
            first.root.differences(&wrapped, &mut found);
        }
        if is_kube && document.items().is_none() {
            found.extend(graph.into_notes());
            return found;
        }
        let contents = self.contents(&wrapped, style, arena);
        let placed = self.names.place(&graph, &contents);
        let mut renames = Renames::default();
        for (part, placed) in graph.inner().node_weights().zip(&placed) {
            let new = self.names.section(part.section).name(placed.number);
            if *placed != Placed::NONE && part.name != new {
                renames.insert(part.section, part.name, arena.alloc_str(new));
                let detail = format!("{} {} is called {new}", noun(part.section), part.name);
                found.push(Note::new(Code::AggregateRenamed, part.at, detail));
            }
        }
        let mut rewriter = Rewriter::new(&renames, dialect_of(&wrapped), arena);
        self.store(&wrapped, &contents, &placed, &mut rewriter, style, arena);
        // Kubernetes' aggregator does not move root members to operations.
        let as_they_are = is_first || is_kube && D::ROOT_IS_FIRST;
        let items = match &self.first {
            Some(first) if !as_they_are => document.items_alone(&first.root, arena),
            _ => document.items(),
        };
        for entry in items.unwrap_or_default() {
            let value = if renames.is_empty() { entry.value } else { entry.value.rewritten(&mut rewriter) };
            self.buffer.clear();
            value.print(&mut Printer::new(&mut self.buffer, style, self.profile));
            let operations = value.operation_ids();
            self.paths.take(
                &Entry { value: (), name: entry.name, at: entry.at },
                &self.buffer,
                operations,
                number,
                &self.sources,
                &mut found,
            );
        }
        found.extend(graph.into_notes());
        found.sort_by_key(|note| (note.at, note.code));
        found
    }

    /// Returns the numbers of the printed forms of all parts except the paths, by which they are compared.
    fn contents(&mut self, document: &Document<'_>, style: Style, arena: &Bump) -> Vec<u32> {
        let Aggregator { buffer, texts, .. } = self;
        let mut contents = Vec::new();
        parts::each(document, &mut |_, part| {
            buffer.clear();
            let mut printer = Printer::new(buffer, style, Profile::Faithful);
            match part {
                Part::Definition(schema) => printer.schema(&without_kinds(schema, arena)),
                Part::Other(print) => print(None, &mut printer),
            }
            contents.push(texts.number(buffer));
        });
        contents
    }

    /// Stores the parts that are new, and the kinds of definitions that are shared.
    fn store<'a>(
        &mut self,
        document: &Document<'a>,
        contents: &[u32],
        placed: &[Placed],
        rewriter: &mut Rewriter<'_, 'a>,
        style: Style,
        arena: &'a Bump,
    ) {
        let Aggregator { profile, names, texts, sections, buffer, has_callbacks, .. } = self;
        if let Document::V3(document) = document {
            *has_callbacks |= parts::components(document).callbacks.present;
        }
        let mut places = contents.iter().zip(placed);
        parts::each(document, &mut |section, part| {
            let Some((content, placed)) = places.next() else { return };
            let stored = &mut sections[section.number()];
            if !placed.is_new {
                if let (Part::Definition(schema), Some(stored)) = (part, stored.get_mut(placed.number as usize)) {
                    Kinds::unite(&mut stored.kinds, schema, style);
                }
                return;
            }
            let is_rewritten = !rewriter.is_idle();
            let mut content = *content;
            let mut kinds = None;
            let mut text = content;
            match part {
                Part::Definition(schema) => {
                    let schema = rewriter.schema(Site::Definition, schema);
                    if is_rewritten {
                        buffer.clear();
                        Printer::new(buffer, style, Profile::Faithful).schema(&without_kinds(&schema, arena));
                        content = texts.number(buffer);
                        text = content;
                    }
                    kinds = Kinds::of(&schema, texts.get(text), style);
                }
                Part::Other(print) => {
                    let mut printed = |rewriter: &mut Rewriter<'_, 'a>, profile| {
                        buffer.clear();
                        let rewriter = is_rewritten.then_some(rewriter);
                        print(rewriter, &mut Printer::new(buffer, style, profile));
                        texts.number(buffer)
                    };
                    if is_rewritten {
                        content = printed(rewriter, Profile::Faithful);
                        text = content;
                    }
                    if *profile == Profile::Kube {
                        text = printed(rewriter, Profile::Kube);
                    }
                }
            }
            let at = placed.number as usize;
            if stored.len() <= at {
                stored.resize_with(at + 1, Stored::default);
            }
            stored[at] = Stored { text, kinds };
            if *profile == Profile::Kube {
                names.section_mut(section).settle(placed.number, content);
            }
        });
    }

    /// Returns the aggregate, or `None` if there is no document or paths conflict.
    pub fn finish(self) -> Option<Aggregate> {
        let Aggregator { profile, first, names, texts, mut sections, mut paths, .. } = self;
        let First { dialect, items, .. } = first?;
        if paths.conflict {
            return None;
        }
        let style = style_of(dialect);
        for stored in sections.iter_mut().flatten() {
            if let Some(kinds) = &mut stored.kinds {
                kinds.finish(texts.get(stored.text), style, profile);
            }
        }
        paths.entries.sort_by(|a, b| order::utf16(&a.0, &b.0));
        let mut sections = sections.into_iter();
        let sections = Section::ALL.map(|section| {
            let stored = sections.next().unwrap_or_default();
            let mut members: Vec<(Arc<str>, Stored)> = names.section(section).names().cloned().zip(stored).collect();
            members.sort_by(|a, b| order::utf16(&a.0, &b.0));
            members
        });
        let paths = self.has_paths.then_some(paths.entries);
        let has = Has { components: self.has_components, callbacks: self.has_callbacks };
        Some(Aggregate { dialect, style, items, sections, texts, paths, tags: self.tags.printed, has })
    }
}

impl Paths {
    fn take<'a>(
        &mut self,
        entry: &Entry<'a, ()>,
        item: &[u8],
        operations: impl Iterator<Item = (&'a str, u32)>,
        source: u32,
        sources: &[Box<str>],
        notes: &mut Vec<Note<'a>>,
    ) {
        if let Some(at) = self.index.get(entry.name) {
            let (_, other, first) = &self.entries[*at as usize];
            if **first != *item {
                let [one, two] = [*other, source].map(|i| &sources[i as usize]);
                let detail = format!("{} is defined by {one} and, differently, by {two}", entry.name);
                notes.push(Note::new(Code::AggregatePathConflict, entry.at, detail));
                self.conflict = true;
            }
            return;
        }
        for (id, at) in operations.filter(|(id, _)| !id.is_empty()) {
            match self.operations.get(id) {
                Some(owner) if *owner != source => {
                    let detail = format!("{id}, which {} has as well", sources[*owner as usize]);
                    notes.push(Note::new(Code::RepeatedOperationId, at, detail));
                }
                Some(_) => {}
                None => {
                    self.operations.insert(id.into(), source);
                }
            }
        }
        let name: Arc<str> = entry.name.into();
        self.index.insert(Arc::clone(&name), self.entries.len() as u32);
        self.entries.push((name, source, item.into()));
    }
}

impl Tags {
    fn take(&mut self, tags: &[v3::Tag<'_>], is_first: bool, style: Style, profile: Profile) {
        for tag in tags {
            if self.names.insert(tag.name.into()) || is_first {
                if !self.printed.is_empty() {
                    self.printed.push(b',');
                }
                root::print_tag(tag, &mut self.printed, style, profile);
            }
        }
    }
}

/// The members that the result has although they may be empty.
#[derive(Clone, Copy, Debug)]
struct Has {
    components: bool,
    callbacks: bool,
}

/// The aggregate of documents, ready for printing.
#[derive(Debug)]
pub struct Aggregate {
    dialect: Dialect,
    style: Style,
    items: Vec<Item>,
    sections: [Vec<(Arc<str>, Stored)>; Section::ALL.len()],
    texts: Texts,
    paths: Option<Vec<PathItem>>,
    /// Tags with commas between them.
    tags: Vec<u8>,
    has: Has,
}

impl Aggregate {
    /// Its dialect.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Returns the document as compact JSON, as its profile prints it.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut length = 0;
        self.each_piece(&mut |piece| length += piece.len());
        let mut out = Vec::with_capacity(length);
        self.each_piece(&mut |piece| out.extend_from_slice(piece));
        out
    }

    /// Writes the document as compact JSON to `sink` in pieces, so that it need not be in memory as a whole.
    ///
    /// # Errors
    /// Those of `sink`.
    pub fn write<E>(&self, mut sink: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        const SIZE: usize = 64 << 10;
        let (mut buffer, mut result) = (Vec::with_capacity(2 * SIZE), Ok(()));
        self.each_piece(&mut |piece| {
            buffer.extend_from_slice(piece);
            if buffer.len() >= SIZE {
                if result.is_ok() {
                    result = sink(&buffer);
                }
                buffer.clear();
            }
        });
        result.and_then(|()| sink(&buffer))
    }

    fn each_piece(&self, sink: &mut dyn FnMut(&[u8])) {
        self.write_items(&self.items, &mut Pieces { sink, is_first: true });
    }

    /// Prints the members of an object.
    fn write_items(&self, items: &[Item], out: &mut Pieces<'_>) {
        out.open();
        for item in items {
            match item {
                Item::Member(text) => {
                    out.comma();
                    (out.sink)(text);
                }
                Item::Paths(items) => match (&self.paths, self.dialect) {
                    (Some(_), _) => {
                        out.key(b"\"paths\":");
                        self.write_items(items, out);
                    }
                    (None, Dialect::V2) => {
                        out.key(b"\"paths\":");
                        (out.sink)(b"null");
                    }
                    (None, Dialect::V3) => {}
                },
                Item::Items => {
                    for (name, _, text) in self.paths.iter().flatten() {
                        out.name(name, self.style);
                        (out.sink)(text);
                    }
                }
                Item::Components(items) => {
                    if self.has.components {
                        out.key(b"\"components\":");
                        self.write_items(items, out);
                    }
                }
                Item::Section(section, key) => {
                    let members = &self.sections[section.number()];
                    if !members.is_empty() || *section == Section::Callbacks && self.has.callbacks {
                        out.key(key);
                        self.write_section(members, out);
                    }
                }
                Item::Tags => {
                    if !self.tags.is_empty() {
                        out.key(b"\"tags\":");
                        (out.sink)(b"[");
                        (out.sink)(&self.tags);
                        (out.sink)(b"]");
                    }
                }
            }
        }
        out.close();
    }

    fn write_section(&self, members: &[(Arc<str>, Stored)], out: &mut Pieces<'_>) {
        out.open();
        for (name, stored) in members {
            out.name(name, self.style);
            let text = self.texts.get(stored.text);
            match &stored.kinds {
                None => (out.sink)(text),
                Some(kinds) => kinds.write(text, out.sink),
            }
        }
        out.close();
    }
}

/// Printed pieces of objects.
struct Pieces<'s> {
    sink: &'s mut dyn FnMut(&[u8]),
    is_first: bool,
}

impl Pieces<'_> {
    fn open(&mut self) {
        (self.sink)(b"{");
        self.is_first = true;
    }

    fn close(&mut self) {
        (self.sink)(b"}");
        self.is_first = false;
    }

    fn comma(&mut self) {
        if !std::mem::take(&mut self.is_first) {
            (self.sink)(b",");
        }
    }

    /// Writes a key that is already printed.
    fn key(&mut self, key: &[u8]) {
        self.comma();
        (self.sink)(key);
    }

    fn name(&mut self, name: &str, style: Style) {
        let mut key = Vec::with_capacity(name.len() + 3);
        kubeshape_schema::escape::string(&mut key, name, style.escape);
        key.push(b':');
        self.key(&key);
    }
}

fn dialect_of(document: &Document<'_>) -> Dialect {
    match document {
        Document::V2(_) => Dialect::V2,
        Document::V3(_) => Dialect::V3,
    }
}

fn style_of(dialect: Dialect) -> Style {
    match dialect {
        Dialect::V2 => Style::V2,
        Dialect::V3 => Style::V3,
    }
}

/// Returns the printed form of a member, by which members of different documents are compared.
fn printed<'a>(member: &impl Member<'a>) -> Vec<u8> {
    let mut out = Vec::new();
    member.print(&mut Printer::new(&mut out, Style::V3, Profile::Faithful));
    out
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
