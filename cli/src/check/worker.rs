//! Checking the definitions of one file.

use super::Context;
use crate::input::{self, Input};
use kubeshape_check::Report;
use kubeshape_input::{Code, Finding, Note, Place, Reader, Resolver, describe};
use kubeshape_schema::Bump;
use kubeshape_structural::read::Manifest;
use std::sync::Arc;

/// After a file with more bytes of schemas, a worker frees its buffers.
const KEPT: usize = 1 << 20;

/// What is to be told about a file.
#[derive(Debug, Default)]
pub(super) struct FileResult {
    /// In the order of the file.
    pub(super) events: Vec<Event>,
    /// Whether there is a definition in it.
    pub(super) found: bool,
    /// Whether anything in it could not be read.
    pub(super) failed: bool,
    /// Whether its bytes could not be read.
    pub(super) unreadable: bool,
}

/// A finding, or what holds for a definition.
#[derive(Debug)]
pub(super) enum Event {
    Finding(Finding),
    Verdict(Verdict),
}

/// What the releases say about a definition.
#[derive(Debug)]
pub(super) struct Verdict {
    pub(super) input: Arc<str>,
    /// Place of its name.
    pub(super) place: Option<Place>,
    /// The answer in one line.
    pub(super) text: String,
    /// The answers. Their problems are findings before this.
    pub(super) report: Report,
}

impl Verdict {
    /// The name of the definition, or that of the input if it has none.
    pub(super) fn label(&self) -> &str {
        if self.report.name.is_empty() { &self.input } else { &self.report.name }
    }
}

/// Checks files one after the other and keeps its buffers.
#[derive(Debug)]
pub(super) struct Worker<'c> {
    context: &'c Context,
    bytes: input::Reader,
    documents: Reader,
    arena: Bump,
}

impl<'c> Worker<'c> {
    pub(super) fn new(context: &'c Context) -> Self {
        Worker { context, bytes: input::Reader::default(), documents: Reader::new(), arena: Bump::new() }
    }

    /// Checks a file.
    pub(super) fn file(&mut self, input: &Input) -> FileResult {
        let result = self.check(input);
        if self.arena.allocated_bytes() > KEPT {
            *self = Worker::new(self.context);
        }
        result
    }

    fn check(&mut self, input: &Input) -> FileResult {
        let Worker { context, bytes, documents, arena } = self;
        let mut out = FileResult::default();
        let bytes = match bytes.read(input, &context.limits) {
            Ok(bytes) => bytes,
            Err(finding) => {
                out.unreadable = finding.code == Code::Unreadable;
                out.fail(*finding);
                return out;
            }
        };
        let name: Arc<str> = input.name().into();
        let mut documents = documents.documents(Arc::clone(&name), bytes, context.limits);
        while let Some(document) = documents.next() {
            let mut document = match document {
                Ok(document) => document,
                Err(finding) => {
                    out.fail(*finding);
                    continue;
                }
            };
            let (definitions, mut others) = document.manifests();
            if !document.content().has_objects() {
                others.push(document.root());
            }
            out.found |= !definitions.is_empty();
            let mut resolver = document.resolver_mut();
            for node in others {
                let detail = format!("found {}, expected a CustomResourceDefinition", describe(node));
                out.say(context, &Note::new(Code::Skipped, node.index(), detail), &[], &mut resolver);
            }
            if let Some(finding) = document.ignored().filter(|finding| context.shows(finding.code)) {
                out.events.push(Event::Finding(finding));
            }
            for manifest in definitions {
                let resolver = document.resolver_mut().within(manifest.node);
                out.definition(context, manifest, resolver, &name, arena);
                arena.reset();
            }
        }
        if !out.found && !out.failed && input.named {
            out.fail(Finding::new(Code::Nothing, "no CustomResourceDefinition was found in it").in_input(name));
        }
        out
    }
}

impl Context {
    /// Whether findings with that code are shown.
    fn shows(&self, code: Code) -> bool {
        self.levels.of(code) >= self.least
    }
}

impl FileResult {
    fn fail(&mut self, finding: Finding) {
        self.failed = true;
        self.events.push(Event::Finding(finding));
    }

    /// Adds a note, if it is shown.
    fn say(&mut self, context: &Context, note: &Note<'_>, releases: &[String], resolver: &mut Resolver<'_>) {
        if context.shows(note.code) {
            let mut finding = resolver.finding(note);
            finding.releases = releases.to_vec();
            self.events.push(Event::Finding(finding));
        }
    }

    fn definition<'a>(
        &mut self,
        context: &'a Context,
        manifest: Manifest<'a>,
        mut resolver: Resolver<'_>,
        input: &Arc<str>,
        arena: &'a Bump,
    ) {
        let mut report = match context.against.get(manifest.node) {
            Some(old) => context.check.replacement(manifest, old, arena),
            None => context.check.definition(manifest, arena),
        };
        resolver.set_resource(&report.name);
        for problem in &report.problems {
            let code = problem.note.code;
            if !context.shows(code) {
                continue;
            }
            let mut finding = resolver.finding(&problem.note);
            if problem.advice.is_some() {
                finding.advice.clone_from(&problem.advice);
            }
            if let (true, Some(error)) = (context.is_exact, &problem.error) {
                finding.detail = error.to_string();
            }
            if let Some(releases) = problem.where_from(report.asked) {
                finding.releases = problem.releases.iter().map(ToString::to_string).collect();
                finding.notes.push(format!("on Kubernetes {releases}"));
            }
            self.events.push(Event::Finding(finding));
        }
        let text = report.verdict(|at| match resolver.place(at) {
            Some(place) => format!("{input}:{place}"),
            None => input.to_string(),
        });
        let place = resolver.place(report.at);
        report.problems = Vec::new();
        self.events.push(Event::Verdict(Verdict { input: Arc::clone(input), place, text, report }));
    }
}
