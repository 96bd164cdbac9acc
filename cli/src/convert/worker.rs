//! One file: from its bytes to results that wait beside their targets, with everything that was found.

use super::documents::{self, Content};
use super::engine::{Engine, Fragments, Scratch, Sink};
use super::plan::Target;
use crate::args::Shape;
use crate::error::Fatal;
use crate::input::{Input, ReadError, Reader};
use crate::output::{Stage, Staged, names};
use crate::report::{Entry, Excerpt, Finding, Lines, Tally};
use kubeshape_schema::{Bump, Code, Note};
use kubeshape_structural::read::{Manifest, manifests};
use kubeshape_yaml::{Document, Limits, Node, Stream, Tape};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What all workers share.
#[derive(Debug)]
pub(crate) struct Context<'e> {
    pub(crate) engine: &'e Engine,
    pub(crate) stage: &'e Stage,
    /// The output folder; without one, results are kept in memory.
    pub(crate) folder: Option<&'e Path>,
    pub(crate) limits: Limits,
    /// Whether lines of a report are made.
    pub(crate) report: bool,
    /// Whether warnings are shown, and with their source.
    pub(crate) warnings: bool,
    pub(crate) verbose: bool,
    /// Whether what is skipped is a failure.
    pub(crate) strict: bool,
    /// Whether JSON is indented.
    pub(crate) pretty: bool,
}

/// What came out of one file.
#[derive(Debug, Default)]
pub(crate) struct FileResult {
    /// In document order.
    pub(crate) events: Vec<Event>,
    /// Documents with content.
    pub(crate) documents: usize,
    /// Objects that are neither CustomResourceDefinitions nor OpenAPI documents.
    pub(crate) skipped: usize,
    /// Whether there is a CustomResourceDefinition or a document in it, converted or not.
    pub(crate) found: bool,
    /// Whether anything of the file could not be read.
    pub(crate) failed: bool,
    /// Why the whole batch ends here.
    pub(crate) fatal: Option<Fatal>,
}

/// One thing that came out of a file.
#[derive(Debug)]
pub(crate) enum Event {
    /// Findings that belong to no CustomResourceDefinition.
    Notes(Notes),
    /// A CustomResourceDefinition that was converted.
    Converted(Box<Converted>),
    /// A document, which is converted when all of them are there.
    Document(Box<Loaded>),
}

/// A whole OpenAPI document, or a structured-merge-diff schema, as it was read.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// The input.
    pub(crate) name: String,
    /// The text of the whole input, which its documents share.
    pub(crate) source: Arc<str>,
    pub(crate) tape: Tape,
    pub(crate) content: Content,
    /// Whether the text is the input's own, as opposed to what stands for a binary form.
    pub(crate) has_lines: bool,
}

/// Findings and losses in document order.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// Those that are shown.
    pub(crate) findings: Vec<Finding>,
    /// Lines of the report, of all of them.
    pub(crate) report: Vec<u8>,
    /// How many of each kind.
    pub(crate) tally: Tally,
}

/// A CustomResourceDefinition that was converted.
#[derive(Debug)]
pub(crate) struct Converted {
    /// `metadata.name`, else `PLURAL.GROUP`.
    pub(crate) name: String,
    /// `PLURAL.GROUP`
    pub(crate) resource: String,
    /// Where it stands: pointer, line, column and source of its name.
    pub(crate) pointer: String,
    pub(crate) place: (usize, usize, Excerpt),
    pub(crate) notes: Notes,
    /// Number of versions.
    pub(crate) versions: usize,
    pub(crate) results: Vec<Output>,
    pub(crate) fragments: Fragments,
}

/// A result that is not in place yet.
#[derive(Debug)]
pub(crate) enum Output {
    /// Beside its target, with its name relative to the output folder.
    Staged(Staged, String),
    /// In memory, with its name.
    Held(Vec<u8>, String),
}

impl Output {
    /// The name relative to an output folder.
    pub(crate) fn name(&self) -> &str {
        match self {
            Output::Staged(_, name) | Output::Held(_, name) => name,
        }
    }
}

/// Bytes of schemas beyond which a worker gives its buffers back.
const KEPT: usize = 1 << 20;

/// Converts files one after the other and keeps its buffers.
#[derive(Debug)]
pub(crate) struct Worker<'e> {
    context: &'e Context<'e>,
    reader: Reader,
    tape: Tape,
    arena: Bump,
    lines: Lines,
    scratch: Scratch,
}

impl<'e> Worker<'e> {
    /// A worker with empty buffers.
    pub(crate) fn new(context: &'e Context<'e>) -> Self {
        Worker {
            context,
            reader: Reader::default(),
            tape: Tape::new(),
            arena: Bump::new(),
            lines: Lines::default(),
            scratch: Scratch::default(),
        }
    }

    /// Converts a file.
    pub(crate) fn file(&mut self, input: &Input) -> FileResult {
        let result = self.convert(input);
        if self.arena.allocated_bytes() > KEPT {
            // Few files are large: what they needed is not kept for the others.
            *self = Worker::new(self.context);
        }
        result
    }

    fn convert(&mut self, input: &Input) -> FileResult {
        let Worker { context, reader, tape, arena, lines, scratch } = self;
        lines.clear();
        let name = input.name();
        let mut out = FileResult::default();
        let bytes = match reader.read(input, &context.limits) {
            Ok(bytes) => bytes,
            Err(ReadError::Unreadable(detail)) => {
                out.fail(context, Code::Unreadable, &name, None, detail);
                return out;
            }
            Err(ReadError::TooLarge(detail)) => {
                out.fail(context, Code::Limit, &name, None, detail);
                return out;
            }
        };
        let code = |error: &kubeshape_yaml::Error| if error.limit { Code::Limit } else { Code::NotYaml };
        let decoded;
        let (bytes, has_lines) = match documents::decode(bytes) {
            None => (bytes, true),
            Some(Ok(json)) => {
                decoded = json;
                (decoded.as_slice(), false)
            }
            Some(Err((code, detail))) => {
                out.fail(context, code, &name, None, detail);
                return out;
            }
        };
        let mut shared: Option<Arc<str>> = None;
        let mut stream = match Stream::new(bytes, context.limits) {
            Ok(stream) => stream,
            Err(error) => {
                let place = (error.line, error.column, Excerpt::default());
                out.fail(context, code(&error), &name, Some(place), error.message);
                return out;
            }
        };
        let source = stream.source();
        while let Some(read) = stream.next(tape) {
            if let Err(error) = read {
                let excerpt = lines.excerpt(source, error.offset..error.offset + 1);
                let place = has_lines.then_some((error.line, error.column, excerpt));
                out.fail(context, code(&error), &name, place, error.message);
                continue;
            }
            if !tape.has_content() {
                continue;
            }
            out.documents += 1;
            let document = tape.document(source);
            let Some(root) = document.root() else { continue };
            let content = documents::content(root);
            let (crds, others) = if content.is_some() { (Vec::new(), Vec::new()) } else { manifests(root) };
            out.found |= !crds.is_empty() || content.is_some();
            out.skip(&others, &mut Places { context, name: &name, document, has_lines, lines });
            if let Some(range) = stream.ignored() {
                let position = kubeshape_yaml::Position::of(source, range.start);
                let excerpt = lines.excerpt(source, range.start..range.start + 1);
                let detail = "expected the end of the document or `---`".to_owned();
                out.say(context, Code::IgnoredText, &name, Some((position.line, position.column, excerpt)), detail);
            }
            for manifest in crds {
                let mut places = Places { context, name: &name, document, has_lines, lines };
                if let Err(fatal) = out.convert(manifest, &mut places, arena, scratch) {
                    out.fatal = Some(fatal);
                    return out;
                }
                arena.reset();
            }
            if let Some(content) = content {
                let source = shared.get_or_insert_with(|| source.into()).clone();
                let loaded = Loaded { name: name.clone(), source, tape: std::mem::take(tape), content, has_lines };
                out.events.push(Event::Document(Box::new(loaded)));
            }
        }
        if !out.found && !out.failed && (input.named || context.strict) {
            let detail = "neither a CustomResourceDefinition nor an OpenAPI document was found in it".to_owned();
            out.fail(context, Code::Nothing, &name, None, detail);
        }
        out
    }
}

/// Finds the places of notes in one document.
pub(super) struct Places<'p> {
    pub(super) context: &'p Context<'p>,
    pub(super) name: &'p str,
    pub(super) document: Document<'p>,
    /// Whether the places are those of the input.
    pub(super) has_lines: bool,
    pub(super) lines: &'p mut Lines,
}

impl Places<'_> {
    fn node(&self, at: u32) -> Option<Node<'_>> {
        ((at as usize) < self.document.len()).then(|| self.document.node(at))
    }

    fn place(&mut self, at: u32) -> Option<(usize, usize)> {
        let start = self.node(at).filter(|_| self.has_lines)?.span().start;
        Some(self.lines.position(self.document.source(), start))
    }

    fn excerpt(&mut self, at: u32) -> Excerpt {
        let span = self.node(at).map(Node::span);
        span.map(|span| self.lines.excerpt(self.document.source(), span)).unwrap_or_default()
    }

    /// Takes a note in, as far as anybody will see it.
    pub(super) fn add(
        &mut self,
        notes: &mut Notes,
        note: &Note<'_>,
        resource: &str,
        version: Option<&str>,
        shape: Option<Shape>,
    ) {
        let kind = note.code.kind();
        notes.tally.count(kind);
        let is_error = kind == kubeshape_schema::NoteKind::Error;
        // What is skipped is counted in the summary.
        let shown = is_error
            || (self.context.warnings && !kind.is_loss() && (note.code != Code::Skipped || self.context.verbose));
        if !shown && !self.context.report {
            return;
        }
        let place = self.place(note.at);
        if self.context.report {
            let pointer = self.node(note.at).map(|_| self.document.pointer(note.at));
            let entry = Entry {
                pointer: pointer.as_deref(),
                input: Some(self.name),
                place,
                resource: (!resource.is_empty()).then_some(resource),
                version,
                shape,
                detail: &note.detail,
            };
            entry.write(note.code, &mut notes.report);
        }
        if shown {
            let with_source = is_error || self.context.verbose;
            let excerpt = if with_source { self.excerpt(note.at) } else { Excerpt::default() };
            notes.findings.push(Finding {
                code: note.code,
                input: self.name.to_owned(),
                place: place.map(|(line, column)| (line, column, excerpt)),
                resource: resource.to_owned(),
                version: version.unwrap_or_default().to_owned(),
                detail: note.detail.to_string(),
                notes: Vec::new(),
            });
        }
    }
}

impl FileResult {
    /// The file, or a document of it, could not be read.
    pub(crate) fn fail(
        &mut self,
        context: &Context<'_>,
        code: Code,
        name: &str,
        place: Option<(usize, usize, Excerpt)>,
        detail: String,
    ) {
        self.failed = true;
        self.say(context, code, name, place, detail);
    }

    /// A finding about no node.
    fn say(
        &mut self,
        context: &Context<'_>,
        code: Code,
        name: &str,
        place: Option<(usize, usize, Excerpt)>,
        detail: String,
    ) {
        let mut notes = Notes::default();
        notes.tally.count(code.kind());
        if context.report {
            let position = place.as_ref().map(|(line, column, _)| (*line, *column));
            Entry { input: Some(name), place: position, detail: &detail, ..Entry::default() }
                .write(code, &mut notes.report);
        }
        let (resource, version) = Default::default();
        notes.findings.push(Finding {
            code,
            input: name.to_owned(),
            place,
            resource,
            version,
            detail,
            notes: Vec::new(),
        });
        self.events.push(Event::Notes(notes));
    }

    /// Objects that are neither CustomResourceDefinitions nor documents.
    fn skip(&mut self, others: &[Node<'_>], places: &mut Places<'_>) {
        if others.is_empty() {
            return;
        }
        self.skipped += others.len();
        let strict = places.context.strict;
        self.failed |= strict;
        let code = if strict { Code::Nothing } else { Code::Skipped };
        let mut notes = Notes::default();
        for node in others {
            let text = |key| node.get(key).and_then(Node::as_str).unwrap_or_default();
            let (version, kind) = (text("apiVersion"), text("kind"));
            let what = match (version, kind) {
                ("", "") => "no Kubernetes object".to_owned(),
                ("", kind) => kind.to_owned(),
                (version, kind) => format!("{version} {kind}"),
            };
            let why = if strict { " (--strict-input)" } else { "" };
            let detail = format!("found {what}, expected a CustomResourceDefinition or an OpenAPI document{why}");
            places.add(&mut notes, &Note::new(code, node.index(), detail), "", None, None);
        }
        self.events.push(Event::Notes(notes));
    }

    /// A CustomResourceDefinition.
    fn convert<'a>(
        &mut self,
        manifest: Manifest<'a>,
        places: &mut Places<'a>,
        arena: &'a Bump,
        scratch: &mut Scratch,
    ) -> Result<(), Fatal> {
        let read = manifest.read(arena);
        let mut notes: Vec<(Note<'a>, Option<Shape>)> = read.notes.into_iter().map(|note| (note, None)).collect();
        let metadata = manifest.node.get("metadata");
        let name = metadata.and_then(|metadata| metadata.get("name"));
        let Some(crd) = read.value else {
            let resource = name.and_then(Node::as_str).unwrap_or_default();
            self.failed = true;
            self.events.push(Event::Notes(resolve(notes, manifest.node, resource, places)));
            return Ok(());
        };
        let crd = &*arena.alloc(crd);
        let resource = format!("{}.{}", crd.names.plural, crd.group);
        let folder = places.context.folder.map(|root| (root, names::folder(crd.names.plural, crd.group)));
        let mut collect = Collect { context: places.context, notes: Vec::new(), folder, results: Vec::new() };
        let converted = places.context.engine.convert(crd, arena, scratch, &mut collect);
        notes.append(&mut collect.notes);
        let fragments = match converted {
            Ok(fragments) => fragments,
            Err(fatal) => {
                collect.results.into_iter().for_each(|result| discard(places.context.stage, result));
                return Err(fatal);
            }
        };
        let at = name.map_or(crd.at, Node::index);
        let name = if crd.name.is_empty() { resource.as_str() } else { crd.name };
        let notes = resolve(notes, manifest.node, name, places);
        let (line, column) = places.place(at).unwrap_or((1, 1));
        self.events.push(Event::Converted(Box::new(Converted {
            name: name.to_owned(),
            pointer: places.document.pointer(at),
            place: (line, column, places.excerpt(at)),
            notes,
            versions: crd.versions.len(),
            results: collect.results,
            fragments,
            resource,
        })));
        Ok(())
    }
}

/// Notes in document order, with their places and versions.
fn resolve(mut notes: Vec<(Note<'_>, Option<Shape>)>, crd: Node<'_>, resource: &str, places: &mut Places<'_>) -> Notes {
    let mut out = Notes::default();
    if notes.is_empty() {
        return out;
    }
    notes.sort_by_key(|(note, _)| note.at);
    let versions = crd.get("spec").and_then(|spec| spec.get("versions"));
    let versions: Vec<(std::ops::Range<u32>, &str)> = versions
        .map(|versions| versions.items().filter(|item| item.entry().is_container()))
        .into_iter()
        .flatten()
        .map(|item| {
            let name = item.get("name").and_then(Node::as_str).unwrap_or_default();
            (item.index()..item.entry().a, name)
        })
        .collect();
    for (note, shape) in &notes {
        let version = versions.iter().find(|(range, _)| range.contains(&note.at)).map(|(_, name)| *name);
        places.add(&mut out, note, resource, version, *shape);
    }
    out
}

/// Removes a result that does not count.
pub(crate) fn discard(stage: &Stage, result: Output) {
    if let Output::Staged(staged, _) = result {
        stage.discard(staged);
    }
}

/// Collects what one CustomResourceDefinition gives.
struct Collect<'c, 'a> {
    context: &'c Context<'c>,
    notes: Vec<(Note<'a>, Option<Shape>)>,
    /// The output folder and the name of the resource's folder in it.
    folder: Option<(&'c Path, String)>,
    results: Vec<Output>,
}

impl<'a> Sink<'a> for Collect<'_, 'a> {
    fn note(&mut self, note: Note<'a>, shape: Option<Shape>) {
        self.notes.push((note, shape));
    }

    fn result(&mut self, target: Target, version: &str, bytes: &[u8]) -> Result<(), Fatal> {
        let file = names::file(target.shape, version, target.format);
        let Some((root, folder)) = &self.folder else {
            self.results.push(Output::Held(bytes.to_vec(), file));
            return Ok(());
        };
        let name = format!("{folder}/{file}");
        // Two versions of one name: an error was found, and the first one counts.
        if self.results.iter().any(|result| result.name() == name) {
            return Ok(());
        }
        let path: PathBuf = [root, Path::new(folder), Path::new(&file)].iter().collect();
        self.results.push(Output::Staged(self.context.stage.write(path, bytes)?, name));
        Ok(())
    }
}
