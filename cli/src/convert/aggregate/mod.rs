//! Results of all inputs combined: documents, and the documents that are published for CustomResourceDefinitions.

mod definitions;
mod parts;
mod shapes;
mod source;

use super::batch::pool;
use super::documents::{self, Cutter, Settings};
use super::plan::Target;
use super::worker::{Context, Notes, discard};
use crate::args::{Format, Per, Shape};
use crate::error::Fatal;
use crate::output::Output;
use crate::output::format::{Formatter, Writer, Written};
use crate::output::names;
use kubeshape_convert::document::Document;
use kubeshape_convert::v2::from_v3::Scratch;
use kubeshape_input::{Content, Finding};
use kubeshape_schema::{Bump, Code, Converted, Dialect, Note};
use kubeshape_yaml::Node;
use parts::{Made, MadePart, Of, Part, kind_file};
use rayon::prelude::*;
use source::{Needs, Source, printed};
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::io;
use std::path::Path;

/// The printed documents that are published for CustomResourceDefinitions.
#[derive(Debug, Default)]
pub(crate) struct Published {
    /// Whether there are CustomResourceDefinitions.
    pub(crate) resources: bool,
    pub(crate) v3: Option<Vec<u8>>,
    pub(crate) v2: Option<Vec<u8>>,
}

/// A result or a finding.
#[derive(Debug)]
pub(crate) enum Answer {
    /// Findings and losses of one input, and whether the input failed.
    Notes(Notes, bool),
    /// A result.
    Result(Output),
    /// A finding about a CustomResourceDefinition, or about none.
    Finding(Box<Finding>),
}

/// Computes the results of these targets on `jobs` threads.
///
/// # Errors
/// Threads cannot be started, or a file cannot be written.
pub(crate) fn run(
    context: &Context<'_>,
    jobs: usize,
    documents: Vec<kubeshape_input::Document>,
    published: Published,
    targets: &[Target],
) -> Result<Vec<Answer>, Fatal> {
    pool(jobs).map_err(Fatal::Threads)?.install(|| {
        let settings = context.engine.settings();
        let Published { resources, mut v3, v2 } = published;
        let mut answers = Vec::new();
        // A published document is the result if there are no other documents and nothing has to change.
        let is_result = |target: &Target| {
            target.shape.is_v3() && target.documents == Per::Single && documents.is_empty() && settings.is_plain()
        };
        let (plain, targets): (Vec<Target>, Vec<Target>) = targets.iter().partition(|target| is_result(target));
        for target in plain {
            let bytes = if targets.is_empty() { v3.take() } else { v3.clone() };
            if let Some(bytes) = bytes {
                plain_answers(bytes, target, context, &mut answers)?;
            }
        }
        if targets.is_empty() {
            return Ok(answers);
        }
        let published = [v3, v2];
        let published = published.into_iter().filter_map(|bytes| printed(&bytes?));
        let documents: Vec<(kubeshape_input::Document, bool)> =
            documents.into_iter().map(|document| (document, false)).chain(published.map(|p| (p, true))).collect();
        let mut arenas: Vec<(Bump, Scratch)> = documents.iter().map(|_| Default::default()).collect();
        let arena = Bump::new();
        let aggregates = Aggregates::default();
        let needs = Needs::of(&targets, &documents, settings);
        let sources: Vec<Source<'_>> = documents
            .par_iter()
            .zip(arenas.par_iter_mut())
            .map(|((loaded, is_published), (arena, scratch))| {
                Source::read(loaded, *is_published, needs, (arena, scratch), settings)
            })
            .collect();
        let aggregates = aggregates.0.iter();
        let wholes = Vec::new();
        let mut results =
            Results { context, settings, arena: &arena, aggregates, resources, sources, wholes, answers, written: 0 };
        for target in targets {
            if needs.is_printed_only { results.print_converted(target) } else { results.target(target) }?;
        }
        Ok(results.finish())
    })
}

/// Returns the published document as the result, in the format of the target.
fn plain_answers(json: Vec<u8>, target: Target, context: &Context<'_>, answers: &mut Vec<Answer>) -> Result<(), Fatal> {
    let name = names::single(target.shape, target.format);
    let mut remarks = Vec::new();
    let bytes = formatted(json, target, context, &mut remarks);
    let losses = context.engine.settings().losses;
    let remarks = remarks.into_iter().filter(|remark| losses || !remark.code.kind().is_loss());
    let finding = |Finding { code, pointer, detail, .. }| {
        let pointer = pointer.unwrap_or_default();
        Answer::finding(code, target, "", format!("{detail} (at {pointer} of {name})"))
    };
    answers.extend(remarks.map(finding));
    if let Some(bytes) = bytes {
        answers.push(Answer::Result(placed(name, bytes, context)?));
    }
    Ok(())
}

/// Returns JSON in the format of the target.
fn formatted(json: Vec<u8>, target: Target, context: &Context<'_>, remarks: &mut Vec<Finding>) -> Option<Vec<u8>> {
    let json = match documents::in_version(json, target, context.engine.settings()) {
        Ok(json) => json,
        Err(note) => {
            remarks.push(Finding::new(note.code, note.detail));
            return None;
        }
    };
    Formatter::formatted(json, target.format, context.pretty, remarks)
}

/// The result of printing a document.
pub(super) enum Printed {
    /// A result, and its size.
    Result(Output, u64),
    /// There are more bytes than allowed.
    TooLarge,
    /// The format cannot express it.
    Nothing,
}

/// Writes a document in the format of the target while it is printed, because its text may be much larger than the
/// document.
fn printed_as(
    name: &str,
    document: &Document<'_>,
    target: Target,
    most: u64,
    context: &Context<'_>,
    remarks: &mut Vec<Finding>,
) -> Result<Printed, Fatal> {
    if target.shape == Shape::V31 {
        return raised_as(name, document, target, most, context, remarks);
    }
    let mut written = Written::Nothing;
    let mut print = |sink: &mut dyn FnMut(&[u8]) -> io::Result<()>| {
        let mut writer = Writer::new(target.format, context.pretty, most, sink);
        let (profile, bytes) = (context.engine.settings().profile, usize::try_from(most).unwrap_or(usize::MAX));
        let fits = document.print_in_pieces(profile, bytes, &mut |piece| writer.piece(piece));
        written = if fits { writer.end(remarks)? } else { Written::TooMuch };
        Ok(())
    };
    let output = if let Some(folder) = context.folder {
        Output::Staged(context.stage.write_pieces(folder.join(name), print)?, name.to_owned())
    } else {
        let mut bytes = Vec::new();
        let mut hold = |piece: &[u8]| {
            bytes.extend_from_slice(piece);
            Ok(())
        };
        print(&mut hold).map_err(|error| Fatal::write(Path::new(name), error))?;
        Output::Held(bytes, name.to_owned())
    };
    if let Written::Whole(size) = written {
        return Ok(Printed::Result(output, size));
    }
    discard(context.stage, output);
    Ok(if written == Written::TooMuch { Printed::TooLarge } else { Printed::Nothing })
}

/// Writes a document in OpenAPI 3.1, which is in memory as a whole.
fn raised_as(
    name: &str,
    document: &Document<'_>,
    target: Target,
    most: u64,
    context: &Context<'_>,
    remarks: &mut Vec<Finding>,
) -> Result<Printed, Fatal> {
    let mut json = Vec::new();
    let bytes = usize::try_from(most).unwrap_or(usize::MAX);
    if !document.print_within(&mut json, context.engine.settings().profile, bytes) {
        return Ok(Printed::TooLarge);
    }
    let Some(bytes) = formatted(json, target, context, remarks) else { return Ok(Printed::Nothing) };
    let size = bytes.len() as u64;
    if size > most {
        return Ok(Printed::TooLarge);
    }
    Ok(Printed::Result(placed(name.to_owned(), bytes, context)?, size))
}

/// Writes a result to a temporary file, because several large results would need too much memory.
fn placed(name: String, bytes: Vec<u8>, context: &Context<'_>) -> Result<Output, Fatal> {
    match context.folder {
        Some(folder) => Ok(Output::Staged(context.stage.write(folder.join(&name), &bytes)?, name)),
        None => Ok(Output::Held(bytes, name)),
    }
}

/// The document into which some of the sources are merged.
#[derive(Clone)]
struct Whole<'a> {
    form: Form<'a>,
    /// The indices of the sources.
    of: Vec<usize>,
}

impl Answer {
    /// Returns a finding about the CustomResourceDefinition with that name, or about none if the name is empty.
    fn finding(code: Code, target: Target, name: impl Into<String>, detail: String) -> Answer {
        let mut finding = Finding::new(code, detail).of_resource(name);
        finding.shape = Some(target.shape.into());
        Answer::Finding(Box::new(finding))
    }
}

/// The available form of the only document.
#[derive(Clone)]
enum Form<'a> {
    /// As it was read or renamed.
    Document(Box<Document<'a>>),
    /// As the aggregate of several documents.
    Aggregate(&'a Aggregated),
}

/// An aggregate, which is parsed only if more than its text is needed.
#[derive(Default)]
struct Aggregated {
    document: OnceCell<kubeshape_convert::aggregate::Aggregate>,
    read: OnceCell<Option<kubeshape_input::Document>>,
    arena: Bump,
}

/// Slots for the aggregates: of both dialects, with and without published documents.
#[derive(Default)]
struct Aggregates([Aggregated; 4]);

impl Aggregated {
    /// Returns the document; `None` if it cannot be read.
    fn document(&self, settings: &Settings) -> Option<Document<'_>> {
        let document = self.document.get()?;
        let dialect = document.dialect();
        let read = self.read.get_or_init(|| printed(&document.to_vec())).as_ref()?;
        Document::read(read.root(), dialect, &self.arena, settings.profile).value
    }
}

/// Computes the results of several inputs together.
struct Results<'j, 'a> {
    context: &'j Context<'j>,
    settings: &'j Settings,
    arena: &'a Bump,
    aggregates: std::slice::Iter<'a, Aggregated>,
    /// Whether there are CustomResourceDefinitions.
    resources: bool,
    sources: Vec<Source<'a>>,
    /// By dialect, and by whether published documents are included.
    wholes: Vec<((Dialect, bool), Option<Whole<'a>>)>,
    answers: Vec<Answer>,
    /// Bytes of the results so far.
    written: u64,
}

/// Results of kinds that are computed before their sizes are added up. Each may be as large as the limit of all.
const WINDOW: usize = 16;

impl<'a> Results<'_, 'a> {
    fn target(&mut self, target: Target) -> Result<(), Fatal> {
        match target.shape {
            Shape::V3 | Shape::V31 => self.documents(target, Dialect::V3),
            Shape::V2 => self.documents(target, Dialect::V2),
            Shape::Smd => self.smd(target),
            Shape::JsonSchema => self.json_schemas(target),
            Shape::Kustomize => self.kustomize(target),
            Shape::Structural => {
                self.without_form(target, |_| true, "a document has no structural schema");
                Ok(())
            }
            Shape::Crd => self.definitions(target),
            Shape::Policy => {
                self.without_form(target, |_| true, "a document has no rules for a policy");
                Ok(())
            }
        }
    }

    /// Reports sources without a result in a shape: as an error if no other source has one, else as a warning.
    fn without_form(&mut self, target: Target, of: impl Fn(Content) -> bool, why: &str) {
        let fitting = |source: &Source<'_>| of(source.loaded.content()) && !source.is_published;
        let alone = !self.resources && self.sources.iter().all(fitting);
        for source in self.sources.iter_mut().filter(|source| fitting(source)) {
            let code = if alone || self.context.strict { Code::Nothing } else { Code::Skipped };
            source.failed |= code == Code::Nothing;
            source.notes.push((Note::new(code, 0, why.to_owned()), Some(target.shape)));
        }
    }

    /// Reports schemas among the inputs of a shape that only documents have.
    fn schemas_are_no_documents(&mut self, target: Target) {
        self.without_form(target, |content| content == Content::Smd, "a structured-merge-diff schema is no document");
        let why = "a JSON Schema is no document; `--to crd` converts it";
        self.without_form(target, |content| content == Content::JsonSchema, why);
    }

    /// Returns the merged document, renamed if `--rename` is given.
    fn whole(&mut self, dialect: Dialect, with_published: bool, target: Target) -> Option<Whole<'a>> {
        let key = (dialect, with_published && self.sources.iter().any(|source| source.is_published));
        if let Some((_, whole)) = self.wholes.iter().find(|(known, _)| *known == key) {
            return whole.clone();
        }
        let whole = self.make_whole(dialect, with_published, target);
        self.wholes.push((key, whole.clone()));
        whole
    }

    fn make_whole(&mut self, dialect: Dialect, with_published: bool, target: Target) -> Option<Whole<'a>> {
        let fitting = |(number, source): (usize, &Source<'a>)| {
            let document = source.in_dialect(dialect).filter(|_| with_published || !source.is_published)?;
            Some((number, document))
        };
        let members: Vec<(usize, Document<'a>)> = self.sources.iter().enumerate().filter_map(fitting).collect();
        let of: Vec<usize> = members.iter().map(|(number, _)| *number).collect();
        let form = match members.as_slice() {
            [] => return None,
            [(_, document)] => Form::Document(Box::new(*document)),
            _ => {
                let named: Vec<(&'a str, Document<'a>)> =
                    members.iter().map(|(number, document)| (self.name(*number), *document)).collect();
                let aggregate = documents::aggregate(&named, self.arena, self.settings);
                for (number, note) in aggregate.notes {
                    self.say(&of[number..=number], note, target);
                }
                let room = self.aggregates.next()?;
                room.document.set(aggregate.document?).ok()?;
                Form::Aggregate(room)
            }
        };
        if self.settings.rename.is_none() {
            return Some(Whole { form, of });
        }
        let document = self.document(&Whole { form, of: Vec::new() })?;
        let Converted { value, notes } = documents::rename(&document, self.arena, self.settings);
        self.say_all(&of, notes, target);
        Some(Whole { form: Form::Document(Box::new(value)), of })
    }

    /// Returns the document itself.
    fn document(&self, whole: &Whole<'a>) -> Option<Document<'a>> {
        match &whole.form {
            Form::Document(document) => Some(**document),
            Form::Aggregate(aggregated) => aggregated.document(self.settings),
        }
    }

    /// Returns the name of a source in messages.
    fn name(&self, number: usize) -> &'a str {
        let source = &self.sources[number];
        if source.is_published { "the CustomResourceDefinitions" } else { source.loaded.source().name() }
    }

    /// Reports notes about the document of these sources. They have locations if there is only one source.
    fn say(&mut self, of: &[usize], note: Note<'a>, target: Target) {
        match of {
            [number] if !self.sources[*number].is_published => {
                let source = &mut self.sources[*number];
                source.failed |= note.code.kind() == kubeshape_schema::NoteKind::Error;
                source.notes.push((note, Some(target.shape)));
            }
            _ => {
                let (mut name, mut detail) = (String::new(), note.detail.into_owned());
                if let [number] = of {
                    match self.resource_at(*number, note.at) {
                        Some(resource) => name = resource,
                        None => detail.push_str(", of what is published for CustomResourceDefinitions"),
                    }
                }
                self.answers.push(Answer::finding(note.code, target, name, detail));
            }
        }
    }

    fn say_all(&mut self, of: &[usize], notes: Vec<Note<'a>>, target: Target) {
        for note in notes {
            self.say(of, note, target);
        }
    }

    /// Returns the `PLURAL.GROUP` for a path of a published document.
    fn resource_at(&self, number: usize, at: u32) -> Option<String> {
        let pointer = self.sources[number].loaded.document().pointer(at);
        let path = kubeshape_yaml::pointer::unescape(pointer.strip_prefix("/paths/")?.split('/').next()?);
        let mut segments = path.strip_prefix("/apis/")?.split('/').filter(|segment| *segment != "{namespace}");
        let (group, _version) = (segments.next()?, segments.next()?);
        let plural = segments.find(|segment| *segment != "namespaces")?;
        Some(format!("{plural}.{group}"))
    }

    fn documents(&mut self, target: Target, dialect: Dialect) -> Result<(), Fatal> {
        self.schemas_are_no_documents(target);
        // Kinds of CustomResourceDefinitions have results of their own, unless the documents have to change.
        let with_published = target.documents != Per::Resource || target.published;
        let Some(whole) = self.whole(dialect, with_published, target) else { return Ok(()) };
        let is_published = whole.of.iter().all(|number| self.sources[*number].is_published);
        if let (Form::Aggregate(aggregated), Per::Single, None) = (&whole.form, target.documents, self.settings.inline)
            && let Some(aggregate) = aggregated.document.get()
        {
            return self.print_aggregate(aggregate, target);
        }
        let Some(document) = self.document(&whole) else { return Ok(()) };
        let cutter = Cutter::new(&document);
        let parts: Vec<Part<'a>> = match (target.documents, document) {
            (Per::GroupVersion, Document::V3(document)) => documents::split(&document, is_published, self.arena)
                .into_iter()
                .map(|(key, document)| Part {
                    name: names::root(key, target.format, target.shape),
                    of: Of::Document(document),
                })
                .collect(),
            (Per::Resource, _) => self.kinds(&cutter, target),
            (_, document) => {
                vec![Part { name: names::single(target.shape, target.format), of: Of::Document(document) }]
            }
        };
        let is_source = target.documents == Per::Single && self.settings.is_plain() && whole.of.len() == 1;
        let context = self.context;
        let mut made = Made::default();
        for parts in parts.chunks(WINDOW) {
            let left = self.settings.max_output.saturating_sub(self.written);
            let window: Vec<MadePart<'_, '_>> =
                parts.par_iter().map(|part| part.made(&cutter, target, left, context)).collect();
            for MadePart { part, output, remarks, notes } in window {
                if made.is_over {
                    // It is too late for this one.
                    output.into_iter().flat_map(|(output, _)| output).for_each(|output| discard(context.stage, output));
                    continue;
                }
                for (code, at, detail) in notes {
                    made.is_over |= code == Code::OutputBudget;
                    self.say(&whole.of, Note::new(code, at, detail), target);
                }
                for remark in remarks {
                    self.remark(is_source.then(|| whole.of[0]), remark, &part.name, target);
                }
                if let Some((output, size)) = output {
                    self.take(&mut made, output?, size, (&whole.of, part), target);
                }
            }
            if made.is_over {
                break;
            }
        }
        self.answer(made);
        Ok(())
    }

    /// Adds a result of a target, or drops it if there are too many bytes. `of` is the sources, `part` its subject.
    fn take(&mut self, made: &mut Made, output: Output, size: u64, (of, part): (&[usize], &Part<'a>), target: Target) {
        self.written += size;
        made.outputs.push(output);
        if self.written > self.settings.max_output && !made.is_over {
            made.is_over = true;
            let (what, at) = part.told();
            self.say(of, documents::over_budget(what, at, self.settings), target);
        }
    }

    /// Turns the results of a target into answers, unless there were too many bytes.
    fn answer(&mut self, made: Made) {
        if made.is_over {
            made.outputs.into_iter().for_each(|output| discard(self.context.stage, output));
        } else {
            self.answers.extend(made.outputs.into_iter().map(Answer::Result));
        }
    }

    /// Converts the only document while it is printed.
    fn print_converted(&mut self, target: Target) -> Result<(), Fatal> {
        let (Some(dialect), [source]) = (target.shape.dialect(), self.sources.as_mut_slice()) else { return Ok(()) };
        let Some(document) = source.document else { return Ok(()) };
        let mut json = Vec::new();
        let (text, options) = (source.loaded.source().text(), self.settings.conversion());
        let printed = document.print_in(dialect, text, &options, &mut Scratch::default(), &mut json);
        source.failed |= !printed.value;
        source.notes.extend(printed.notes.into_iter().map(|note| (note, Some(target.shape))));
        if printed.value { self.print_json(json, Some(0), target) } else { Ok(()) }
    }

    /// Prints a document in the format of the target. `source` is the index of the source that it copies.
    fn print_json(&mut self, json: Vec<u8>, source: Option<usize>, target: Target) -> Result<(), Fatal> {
        let name = names::single(target.shape, target.format);
        let mut remarks = Vec::new();
        let bytes = formatted(json, target, self.context, &mut remarks);
        for remark in remarks {
            self.remark(source, remark, &name, target);
        }
        if let Some(bytes) = bytes {
            let size = bytes.len() as u64;
            let output = placed(name.clone(), bytes, self.context)?;
            self.give(source.as_slice(), &name, output, size, target);
        }
        Ok(())
    }

    /// Answers with the only result of a target, made from some sources, or drops it if there are too many bytes.
    fn give(&mut self, of: &[usize], name: &str, output: Output, size: u64, target: Target) {
        self.written += size;
        if self.written > self.settings.max_output {
            discard(self.context.stage, output);
            self.say(of, documents::over_budget(&name, 0, self.settings), target);
        } else {
            self.answers.push(Answer::Result(output));
        }
    }

    /// Prints an aggregate unchanged.
    fn print_aggregate(
        &mut self,
        aggregate: &kubeshape_convert::aggregate::Aggregate,
        target: Target,
    ) -> Result<(), Fatal> {
        let name = names::single(target.shape, target.format);
        let is_compact = target.format == Format::Json && !self.context.pretty && target.shape != Shape::V31;
        if let (Some(folder), true) = (self.context.folder, is_compact) {
            let mut size = 0;
            let staged = self.context.stage.write_pieces(folder.join(&name), |sink| {
                aggregate.write(|piece| {
                    size += piece.len() as u64;
                    sink(piece)
                })
            })?;
            self.give(&[], &name.clone(), Output::Staged(staged, name), size, target);
            return Ok(());
        }
        self.print_json(aggregate.to_vec(), None, target)
    }

    /// Returns the kinds, with the names of their files.
    fn kinds(&mut self, cutter: &Cutter<'_, 'a>, target: Target) -> Vec<Part<'a>> {
        let mut seen = BTreeSet::new();
        let kinds = cutter.kinds(self.arena, self.settings).into_iter();
        kinds
            .map(|(kind, definition)| Part { name: kind_file(&kind, target), of: Of::Kind(kind, definition) })
            .filter(|part| seen.insert(part.name.clone()))
            .collect()
    }

    /// Reports something that the format cannot express. It has a location in the source if the result is a copy of the
    /// source.
    fn remark(&mut self, source: Option<usize>, remark: Finding, name: &str, target: Target) {
        let Finding { code, pointer, detail, .. } = remark;
        let pointer = pointer.unwrap_or_default();
        if code.kind().is_loss() && !self.settings.losses {
            return;
        }
        let place = source.and_then(|number| Some((number, node_at(self.sources[number].root(), &pointer)?.index())));
        match place {
            Some((number, at)) => self.say(&[number], Note::new(code, at, detail), target),
            None => self.say(&[], Note::new(code, 0, format!("{detail} (at {pointer} of {name})")), target),
        }
    }

    /// Returns all outcomes: first the notes with their locations.
    fn finish(self) -> Vec<Answer> {
        let mut out = Vec::new();
        let losses = self.settings.losses;
        for source in self.sources.into_iter().filter(|source| !source.is_published) {
            let mut resolver = source.loaded.resolver();
            let mut notes = source.notes;
            // Notes that several results share are reported once.
            notes.sort_by(|(a, _), (b, _)| (a.at, a.code, &a.detail).cmp(&(b.at, b.code, &b.detail)));
            notes.dedup_by(|(a, _), (b, _)| a == b);
            let mut resolved = Notes::default();
            for (note, shape) in notes.iter().filter(|(note, _)| losses || !note.code.kind().is_loss()) {
                resolved.add(note, *shape, &mut resolver, self.context);
            }
            out.push(Answer::Notes(resolved, source.failed));
        }
        out.extend(self.answers);
        out
    }
}

/// Returns the node at a pointer.
fn node_at<'a>(root: Node<'a>, pointer: &str) -> Option<Node<'a>> {
    let mut node = root;
    for part in pointer.split('/').skip(1) {
        let part = kubeshape_yaml::pointer::unescape(part);
        node = match node.kind() {
            kubeshape_yaml::Kind::Seq => node.items().nth(part.parse().ok()?)?,
            _ => node.get(&part)?,
        };
    }
    Some(node)
}
