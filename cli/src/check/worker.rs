//! Checking the definitions of one file.

use super::fix::Outcome;
use super::result::{Event, FileResult, Judged, Planned, Verdict};
use super::{Context, fix, policies};
use crate::input::{self, Input};
use crate::report::Capped;
use kubeshape_check::fix::{CODES, Plan, Types, plan};
use kubeshape_check::{Part, Problem, Report};
use kubeshape_input::{Code, Finding, Note, Reader, Resolver, describe};
use kubeshape_lifecycle::{Version, entries};
use kubeshape_registry::policy::{Checked, is_policy};
use kubeshape_schema::Bump;
use kubeshape_structural::read::Manifest;
use kubeshape_validate::Release;
use kubeshape_yaml::Node;
use std::collections::BTreeSet;
use std::sync::Arc;

/// After a file with more bytes of schemas, a worker frees its buffers.
const KEPT: usize = 1 << 20;

/// Checks files one after the other and keeps its buffers.
#[derive(Debug)]
pub(crate) struct Worker<'c> {
    context: &'c Context,
    bytes: input::Reader,
    documents: Reader,
    arena: Bump,
}

impl<'c> Worker<'c> {
    pub(crate) fn new(context: &'c Context) -> Self {
        Worker { context, bytes: input::Reader::default(), documents: Reader::new(), arena: Bump::new() }
    }

    /// Checks a file.
    pub(super) fn file(&mut self, input: &Input) -> FileResult {
        let result = self.check(input);
        self.give_back();
        result
    }

    /// Checks an input in memory.
    pub(super) fn text(&mut self, name: &Arc<str>, bytes: &[u8]) -> FileResult {
        let result = Judged::of(self.context, name, bytes, None, &mut self.documents, &mut self.arena).result;
        self.give_back();
        result
    }

    /// Checks the definitions of a part of a file. Returns their findings, and the names of the definitions, each with
    /// the finding if the name is already defined.
    pub(crate) fn part(&mut self, name: &Arc<str>, bytes: &[u8]) -> PartResult {
        let result = self.text(name, bytes);
        let mut out = PartResult { has_policies: !result.policies.is_empty(), ..PartResult::default() };
        if !result.found {
            return out;
        }
        for event in result.events {
            match event {
                Event::Finding(finding) => out.findings.push(finding),
                Event::Verdict(verdict) if !verdict.report.name.is_empty() => {
                    out.names.push((verdict.report.name, *verdict.again));
                }
                Event::Verdict(_) => {}
            }
        }
        out
    }

    /// Checks the admission policies of a file with these kinds.
    pub(crate) fn policies(
        &mut self,
        name: &Arc<str>,
        bytes: &[u8],
        kinds: &dyn kubeshape_policy::Kinds,
    ) -> Vec<Finding> {
        let result = self.text(name, bytes);
        let newest = self.context.releases.last();
        let mut findings = Checked::of(&result.policies, &result.others, kinds, newest).findings;
        // As for several releases: what is said twice of one place is reported once.
        let mut known = BTreeSet::new();
        findings.retain(|finding| known.insert((finding.location(), finding.detail.clone())));
        findings.retain(|finding| self.context.shows(finding.code));
        findings
    }

    /// Returns a text after the edits of `--fix`, or `None` if there are none.
    pub(crate) fn fixed(&mut self, name: &Arc<str>, bytes: &[u8]) -> Option<Vec<u8>> {
        let Worker { context, documents, arena, .. } = self;
        let mut judge = |bytes: &[u8], types| Judged::of(context, name, bytes, types, documents, arena);
        let made = match fix::file(context, name, bytes, &mut judge) {
            Outcome::Fixed(result) => result.fixed.map(|fixed| fixed.new),
            Outcome::Left(..) => None,
        };
        self.give_back();
        made
    }

    fn give_back(&mut self) {
        if self.arena.allocated_bytes() > KEPT {
            *self = Worker::new(self.context);
        }
    }

    fn check(&mut self, input: &Input) -> FileResult {
        let Worker { context, bytes, documents, arena } = self;
        let bytes = match bytes.read(input, &context.limits) {
            Ok(bytes) => bytes,
            Err(finding) => {
                let mut out = FileResult { unreadable: finding.code == Code::Unreadable, ..FileResult::default() };
                out.fail(*finding);
                return out;
            }
        };
        let name: Arc<str> = input.name().into();
        let mut judge = |bytes: &[u8], types: Option<Types>| {
            let mut judged = Judged::of(context, &name, bytes, types, documents, arena);
            let out = &mut judged.result;
            if !out.found && !out.failed && input.named {
                out.fail(Finding::new(Code::Nothing, "no CustomResourceDefinition found").in_input(&*name));
            }
            judged
        };
        match context.fix {
            None => judge(bytes, None).result,
            Some(_) => match fix::file(context, &name, bytes, &mut judge) {
                Outcome::Fixed(result) => *result,
                Outcome::Left(mut result, why) => {
                    if let Some(why) = why {
                        result.events.push(Event::Finding(fix::not_fixed(&name, &why)));
                    }
                    *result
                }
            },
        }
    }
}

/// The findings of a part of a file.
#[derive(Debug, Default)]
pub(crate) struct PartResult {
    pub(crate) findings: Vec<Finding>,
    pub(crate) names: Vec<(String, Finding)>,
    /// Whether it has admission policies, which are checked together.
    pub(crate) has_policies: bool,
}

impl Judged {
    fn of(
        context: &Context,
        name: &Arc<str>,
        bytes: &[u8],
        types: Option<Types>,
        reader: &mut Reader,
        arena: &mut Bump,
    ) -> Judged {
        let mut out = FileResult::default();
        let (mut planned, mut has_policies) = (Vec::new(), false);
        // Limits findings about documents without definitions. Those about a definition are all shown.
        let mut capped = Capped::default();
        let mut documents = reader.documents(Arc::clone(name), bytes, context.limits);
        let is_plain = documents.bytes() == bytes;
        while let Some(document) = documents.next() {
            let mut document = match document {
                Ok(document) => document,
                Err(finding) => {
                    out.failed = true;
                    out.events.extend(capped.admit(finding).map(|finding| Event::Finding(*finding)));
                    continue;
                }
            };
            let (definitions, mut others) = document.manifests();
            if !document.content().has_objects() {
                others.push(document.root());
            }
            out.found |= !definitions.is_empty();
            has_policies |= others.iter().any(|node| is_policy(*node));
            others.retain(|node| !is_policy(*node));
            for node in &others {
                out.others.add(*node);
            }
            let has_lifecycles = entries::may_be_in(document.document());
            let mut resolver = document.resolver_mut();
            for node in others {
                let detail = format!("found {}, expected a CustomResourceDefinition", describe(node));
                out.say(context, &Note::new(Code::Skipped, node.index(), detail), &mut capped, &mut resolver);
            }
            for finding in document.remarks().into_iter().filter(|finding| context.shows(finding.code)) {
                out.events.extend(capped.admit(Box::new(finding)).map(|finding| Event::Finding(*finding)));
            }
            let Some(types) = types else {
                for manifest in definitions {
                    let report = context.judge(manifest, has_lifecycles, arena);
                    arena.reset();
                    out.definition(context, report, None, document.resolver_mut().within(manifest.node), name);
                }
                continue;
            };
            let mut reports = Vec::new();
            let mut problems = Vec::new();
            let mut types = types;
            for manifest in definitions {
                let report = context.judge(manifest, has_lifecycles, arena);
                arena.reset();
                if report.replaces {
                    types = Types::Kept;
                }
                let shown = report.problems.iter().filter(|problem| context.shows(problem.note.code));
                problems.extend(shown.cloned());
                reports.push((manifest, report));
            }
            let plan = plan(document.root(), &problems, types);
            for (manifest, report) in reports {
                out.definition(context, report, Some(&plan), document.resolver_mut().within(manifest.node), name);
            }
            planned.push(Planned { problems, plan });
        }
        out.events.extend(capped.rest().map(|finding| Event::Finding(*finding)));
        if has_policies {
            out.found = true;
            out.policies = policies::read(name, bytes, context.limits);
        }
        Judged { result: out, documents: planned, is_plain }
    }
}

impl Context {
    /// Returns whether findings with that code are shown.
    fn shows(&self, code: Code) -> bool {
        self.levels.of(code) >= self.least
    }

    /// Returns the answers of the releases about a definition. Most inputs have no lifecycles.
    fn judge(&self, manifest: Manifest<'_>, has_lifecycles: bool, arena: &Bump) -> Report {
        let mut report = match self.against.replaced_by(manifest.node) {
            Some(old) => self.check.replacement(manifest, old, arena),
            None => self.check.definition(manifest, arena),
        };
        if has_lifecycles {
            report.problems.extend(self.lifecycles(manifest.node));
            report.problems.sort_by_key(|problem| problem.note.at);
        }
        report
    }

    /// Returns the findings about the lifecycles of the definition's fields.
    fn lifecycles(&self, definition: Node<'_>) -> Vec<Problem> {
        let problem =
            |note, releases| Problem { note, releases, error: None, advice: None, part: None, edits: Vec::new() };
        let mut out: Vec<Problem> =
            entries::faults_of(definition).into_iter().map(|note| problem(note, Vec::new())).collect();
        let asked: Vec<(Version, Release)> =
            self.releases.iter().map(|release| (Version::from(release), release)).collect();
        let versions: Vec<Version> = asked.iter().map(|(version, _)| *version).collect();
        for (field, of) in entries::fields_by_release(definition, &versions, &self.cluster) {
            let releases = asked.iter().filter(|(version, _)| of.contains(version)).map(|(_, release)| *release);
            out.push(problem(field.note(), releases.collect()));
        }
        out
    }
}

impl FileResult {
    fn fail(&mut self, finding: Finding) {
        self.failed = true;
        self.events.push(Event::Finding(finding));
    }

    /// Adds a note, if it is shown.
    fn say(&mut self, context: &Context, note: &Note<'_>, capped: &mut Capped, resolver: &mut Resolver<'_>) {
        if context.shows(note.code) {
            let finding = capped.admit(Box::new(resolver.finding(note)));
            self.events.extend(finding.map(|finding| Event::Finding(*finding)));
        }
    }

    fn definition(
        &mut self,
        context: &Context,
        mut report: Report,
        plan: Option<&Plan>,
        mut resolver: Resolver<'_>,
        input: &Arc<str>,
    ) {
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
            finding.edits.clone_from(&problem.edits);
            if let Some(part) = &problem.part {
                resolver.mark(&mut finding, part.source.clone());
            }
            finding.exact = problem.error.as_ref().filter(|_| context.is_exact).map(ToString::to_string);
            if let (Some(error), Some(Part { message: Some(message), others, .. })) = (&problem.error, &problem.part) {
                finding.detail.clone_from(message);
                finding.notes.extend(others.iter().map(|other| format!("also: {other}")));
                finding.notes.push(format!("the server refuses {}", error.path));
            }
            if let Some(releases) = problem.where_from(report.asked) {
                finding.releases = problem.releases.iter().map(ToString::to_string).collect();
                finding.notes.push(format!("on Kubernetes {releases}"));
            }
            if let Some(why) = plan.and_then(|plan| plan.left.get(&problem.note.at)).filter(|_| CODES.contains(&code)) {
                finding.notes.push((*why).to_owned());
            }
            self.events.push(Event::Finding(finding));
        }
        let text = report.verdict(|at| match resolver.place(at) {
            Some(place) => format!("{input}:{place}"),
            None => input.to_string(),
        });
        let place = resolver.place(report.at);
        let again = Box::new(resolver.finding(&Note::new(Code::DuplicateCrd, report.at, "")));
        let names_at = report.claim.as_ref().map_or(report.at, |claim| claim.names_at);
        let in_use = Box::new(resolver.finding(&Note::new(Code::NameInUse, names_at, "")));
        report.problems = Vec::new();
        let costs = report.costs.iter().flat_map(|costs| &costs.expressions);
        let expressions = costs.filter_map(|cost| Some((cost.at, resolver.place(cost.at)?))).collect();
        let input = Arc::clone(input);
        self.events.push(Event::Verdict(Verdict { input, place, again, in_use, text, report, expressions }));
    }
}
