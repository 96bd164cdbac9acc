//! Conversion of one file: from its bytes to temporary files and findings.

use super::documents::{KindName, over_budget};
use super::engine::{Engine, Fragments, Scratch, Sink};
use super::plan::Target;
use crate::args::Shape;
use crate::error::Fatal;
use crate::input::{self, Input};
use crate::output::{Output, Stage, names};
use crate::report::{Filter, Tally, write_line};
use kubeshape_discovery::{CustomResource, custom_resource};
use kubeshape_input::{Code, Document, Finding, Limits, Note, Place, Reader, Resolver, skipped};
use kubeshape_schema::Bump;
use kubeshape_structural::read::{Manifest, manifests};
use kubeshape_yaml::Node;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// State that all workers share.
#[derive(Debug)]
pub(crate) struct Context<'e> {
    pub(crate) engine: &'e Engine,
    pub(crate) stage: &'e Stage,
    /// The output folder. Without one, results are kept in memory.
    pub(crate) folder: Option<&'e Path>,
    pub(crate) limits: Limits,
    /// Whether to create lines for the report.
    pub(crate) report: bool,
    /// Which findings are counted and shown.
    pub(crate) filter: Filter,
    /// Whether skipped objects are failures.
    pub(crate) strict: bool,
    /// Whether to indent JSON.
    pub(crate) pretty: bool,
}

/// The results of a file.
#[derive(Debug, Default)]
pub(crate) struct FileResult {
    /// In document order.
    pub(crate) events: Vec<Event>,
    /// Bytes of the file, as they are on disk.
    pub(crate) bytes: u64,
    /// Documents with content.
    pub(crate) documents: usize,
    /// Objects that are neither CustomResourceDefinitions nor OpenAPI documents.
    pub(crate) skipped: usize,
    /// Whether there is a CustomResourceDefinition or a document in it, converted or not.
    pub(crate) found: bool,
    /// Whether anything in the file could not be read.
    pub(crate) failed: bool,
    /// Whether its bytes could not be read.
    pub(crate) unreadable: bool,
    /// The error that ends the whole batch.
    pub(crate) fatal: Option<Fatal>,
}

/// A result of a file, or findings.
#[derive(Debug)]
pub(crate) enum Event {
    /// Findings that do not belong to a CustomResourceDefinition.
    Notes(Notes),
    /// A CustomResourceDefinition that was converted.
    Converted(Box<Converted>),
    /// An OpenAPI document or a structured-merge-diff schema, which is converted when all inputs are read.
    Document(Box<Document>),
}

/// Findings and losses in document order.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// Findings to show.
    pub(crate) findings: Vec<Finding>,
    /// Losses to show, or to keep as examples.
    pub(crate) losses: Vec<Finding>,
    /// Lines of the report for all findings and losses.
    pub(crate) report: Vec<u8>,
    /// The number of each code.
    pub(crate) tally: Tally,
}

/// A CustomResourceDefinition that was converted.
#[derive(Debug)]
pub(crate) struct Converted {
    /// `metadata.name`, else `PLURAL.GROUP`.
    pub(crate) name: String,
    /// `PLURAL.GROUP`
    pub(crate) resource: String,
    /// The names that it claims.
    pub(crate) claim: CustomResource,
    /// A finding at the location of its name, without a message.
    pub(crate) about: Finding,
    pub(crate) notes: Notes,
    /// Number of versions.
    pub(crate) versions: usize,
    pub(crate) results: Vec<Output>,
    pub(crate) fragments: Fragments,
}

/// After a file with more bytes of schemas, a worker frees its buffers.
const KEPT: usize = 1 << 20;

/// Converts files one after the other and keeps its buffers.
#[derive(Debug)]
pub(crate) struct Worker<'e> {
    context: &'e Context<'e>,
    bytes: input::Reader,
    documents: Reader,
    arena: Bump,
    scratch: Scratch,
}

impl<'e> Worker<'e> {
    /// A worker with empty buffers.
    pub(crate) fn new(context: &'e Context<'e>) -> Self {
        Worker {
            context,
            bytes: input::Reader::default(),
            documents: Reader::new(),
            arena: Bump::new(),
            scratch: Scratch::default(),
        }
    }

    /// Converts a file.
    pub(crate) fn file(&mut self, input: &Input) -> FileResult {
        let result = self.convert(input);
        if self.arena.allocated_bytes() > KEPT {
            // Few files are large, so their buffers are not kept for the others.
            *self = Worker::new(self.context);
        }
        result
    }

    fn convert(&mut self, input: &Input) -> FileResult {
        let Worker { context, bytes, documents, arena, scratch } = self;
        let mut out = FileResult::default();
        let bytes = match bytes.read(input, &context.limits) {
            Ok(bytes) => bytes,
            Err(finding) => {
                out.unreadable = finding.code == Code::Unreadable;
                out.fail(context, *finding);
                return out;
            }
        };
        out.bytes = bytes.len() as u64;
        let name: Arc<str> = input.name().into();
        let mut documents = documents.documents(Arc::clone(&name), bytes, context.limits);
        while let Some(document) = documents.next() {
            let mut document = match document {
                Ok(document) => document,
                Err(finding) => {
                    out.fail(context, *finding);
                    continue;
                }
            };
            out.documents += 1;
            let is_whole = !document.content().has_objects();
            let (crds, others) = document.manifests();
            out.found |= is_whole || !crds.is_empty();
            out.skip(context, &others, &mut document.resolver_mut());
            for finding in document.remarks() {
                out.say(context, finding);
            }
            // Those that are made of definitions of other systems follow the others.
            let written = manifests(document.root()).0.len();
            for (number, manifest) in crds.into_iter().enumerate() {
                let is_derived = number >= written;
                let mut resolver = document.resolver_mut().within(manifest.node);
                if let Err(fatal) = out.convert(context, (manifest, is_derived), &mut resolver, arena, scratch) {
                    out.fatal = Some(fatal);
                    return out;
                }
                arena.reset();
            }
            if is_whole {
                out.events.extend(documents.keep().map(|document| Event::Document(Box::new(document))));
            }
        }
        if !out.found && !out.failed && (input.named || context.strict) {
            let detail = "neither a CustomResourceDefinition nor an OpenAPI document was found in it";
            out.fail(context, Finding::new(Code::Nothing, detail).in_input(name));
        }
        out
    }
}

impl Notes {
    /// Adds a note if it is shown or reported.
    pub(super) fn add(
        &mut self,
        note: &Note<'_>,
        shape: Option<Shape>,
        resolver: &mut Resolver<'_>,
        context: &Context<'_>,
    ) {
        let (code, filter) = (note.code, &context.filter);
        if !filter.counts(code) {
            return;
        }
        let before = self.tally.of(code);
        self.tally.count(code);
        let shown = filter.wants(code, before);
        if !shown && !context.report {
            return;
        }
        let pointer = context.report || filter.wants_pointer(before);
        resolver.pointers(pointer).excerpts(shown && filter.wants_excerpt(code));
        let finding = resolver.finding_in(note, shape.map(Into::into));
        if context.report {
            write_line(&finding, &mut self.report);
        }
        if shown {
            let list = if finding.is_loss() { &mut self.losses } else { &mut self.findings };
            list.push(finding);
        }
    }
}

impl FileResult {
    /// Reports that the file or a document in it cannot be read.
    fn fail(&mut self, context: &Context<'_>, finding: Finding) {
        self.failed = true;
        self.say(context, finding);
    }

    /// Reports a finding without a node.
    fn say(&mut self, context: &Context<'_>, finding: Finding) {
        if !context.filter.counts(finding.code) {
            return;
        }
        let mut notes = Notes::default();
        notes.tally.count(finding.code);
        if context.report {
            write_line(&finding, &mut notes.report);
        }
        notes.findings.push(finding);
        self.events.push(Event::Notes(notes));
    }

    /// Reports objects that are neither CustomResourceDefinitions nor documents.
    fn skip(&mut self, context: &Context<'_>, others: &[Node<'_>], resolver: &mut Resolver<'_>) {
        if others.is_empty() {
            return;
        }
        self.skipped += others.len();
        self.failed |= context.strict;
        let mut notes = Notes::default();
        for node in others {
            let mut note = skipped(*node);
            if context.strict {
                note.code = Code::Nothing;
                note.detail.to_mut().push_str(" (--strict-input)");
            }
            notes.add(&note, None, resolver, context);
        }
        self.events.push(Event::Notes(notes));
    }

    /// Converts a CustomResourceDefinition, which may be made of a definition of another system.
    fn convert<'a>(
        &mut self,
        context: &'a Context<'a>,
        (manifest, is_derived): (Manifest<'a>, bool),
        resolver: &mut Resolver<'_>,
        arena: &'a Bump,
        scratch: &mut Scratch,
    ) -> Result<(), Fatal> {
        let read = manifest.read(arena);
        let mut notes: Vec<(Note<'a>, Option<Shape>)> = read.notes.into_iter().map(|note| (note, None)).collect();
        let Some(crd) = read.value else {
            self.failed = true;
            self.events.push(Event::Notes(resolve(notes, resolver, context)));
            return Ok(());
        };
        let crd = &*arena.alloc(crd);
        let resource = format!("{}.{}", crd.names.plural, crd.group);
        let folder = context.folder.map(|root| (root, names::folder(crd.names.plural, crd.group)));
        let of = (crd.group, crd.names.kind);
        let mut collect = Collector {
            context,
            notes: Vec::new(),
            folder,
            of,
            results: Vec::new(),
            versions: Vec::new(),
            same: Vec::new(),
            written: 0,
            over: None,
        };
        let converted = context.engine.convert((manifest.node, is_derived), crd, arena, scratch, &mut collect);
        notes.append(&mut collect.notes);
        for (version, detail) in collect.same.drain(..) {
            let at = crd.versions.iter().find(|known| known.name == version).map_or(crd.at, |version| version.at);
            notes.push((Note::new(Code::ResultName, at, detail), Some(Shape::JsonSchema)));
        }
        if let Some(version) = collect.over.take() {
            let at = crd.versions.iter().find(|known| known.name == version).map_or(crd.at, |version| version.at);
            notes.push((over_budget(&version, at, context.engine.settings()), None));
            collect.results.drain(..).for_each(|result| discard(context.stage, result));
            self.failed = true;
        }
        let fragments = match converted {
            Ok(fragments) => fragments,
            Err(fatal) => {
                collect.results.into_iter().for_each(|result| discard(context.stage, result));
                return Err(fatal);
            }
        };
        let name = if crd.name.is_empty() { resource.as_str() } else { crd.name };
        resolver.set_resource(name);
        let notes = resolve(notes, resolver, context);
        let at = manifest.node.get("metadata").and_then(|metadata| metadata.get("name")).map_or(crd.at, Node::index);
        resolver.pointers(true).excerpts(true);
        let mut about = resolver.finding(&Note::new(Code::DuplicateCrd, at, ""));
        about.place.get_or_insert(Place { line: 1, column: 1 });
        self.events.push(Event::Converted(Box::new(Converted {
            name: name.to_owned(),
            claim: CustomResource { versions: Vec::new(), ..custom_resource(crd) },
            about,
            notes,
            versions: crd.versions.len(),
            results: collect.results,
            fragments,
            resource,
        })));
        Ok(())
    }
}

/// Returns notes in document order, with their locations and versions.
fn resolve(mut notes: Vec<(Note<'_>, Option<Shape>)>, resolver: &mut Resolver<'_>, context: &Context<'_>) -> Notes {
    let mut out = Notes::default();
    notes.sort_by_key(|(note, _)| note.at);
    for (note, shape) in &notes {
        out.add(note, *shape, resolver, context);
    }
    out
}

/// Deletes a result that is not used.
pub(crate) fn discard(stage: &Stage, result: Output) {
    if let Output::Staged(staged, _) = result {
        stage.discard(staged);
    }
}

/// Collects the findings and results of a CustomResourceDefinition.
struct Collector<'c, 'a> {
    context: &'c Context<'c>,
    notes: Vec<(Note<'a>, Option<Shape>)>,
    /// The output folder and the name of the resource's folder in it.
    folder: Option<(&'c Path, String)>,
    /// Its group and kind.
    of: (&'a str, &'a str),
    results: Vec<Output>,
    /// The versions of the results.
    versions: Vec<String>,
    /// Versions whose results would get the names of others.
    same: Vec<(String, String)>,
    /// Bytes of the results, and the version that exceeds the limit.
    written: u64,
    over: Option<String>,
}

impl<'a> Sink<'a> for Collector<'_, 'a> {
    fn note(&mut self, note: Note<'a>, shape: Option<Shape>) {
        self.notes.push((note, shape));
    }

    fn result(&mut self, target: Target, version: &str, bytes: &[u8]) -> Result<(), Fatal> {
        self.written += bytes.len() as u64;
        if self.written > self.context.engine.settings().max_output {
            self.over.get_or_insert_with(|| version.to_owned());
            return Ok(());
        }
        let file = names::file(target.shape, version, target.format);
        let Some((root, folder)) = &self.folder else {
            self.results.push(Output::Held(bytes.to_vec(), file));
            return Ok(());
        };
        let (group, kind) = self.of;
        let is_schema = target.shape == Shape::JsonSchema;
        let laid_out = is_schema.then(|| self.context.engine.settings().laid_out(KindName { kind, group, version }));
        let name = laid_out.flatten().unwrap_or_else(|| format!("{folder}/{file}"));
        if let Some(first) = self.results.iter().position(|result| result.name() == name) {
            // Two versions have the same name, which is reported elsewhere, or the layout gives the same name to
            // several.
            if self.versions[first] != version {
                let detail = format!("{name} is that of {} and of {version}", self.versions[first]);
                self.same.push((version.to_owned(), detail));
            }
            return Ok(());
        }
        let path: PathBuf = root.join(name.split('/').collect::<PathBuf>());
        self.versions.push(version.to_owned());
        self.results.push(Output::Staged(self.context.stage.write(path, bytes)?, name));
        Ok(())
    }
}
