//! Checks a definition against releases.

use crate::{Answer, Costs, Problem, Releases, Report, advice, code, costs, dropped, expressions, place};
use kubeshape_discovery::{ClaimedNames, CustomResource};
use kubeshape_schema::field::{BadValue, Error, ErrorType};
use kubeshape_schema::{Bump, Code, Note, NoteKind};
use kubeshape_structural::ApiVersion;
use kubeshape_structural::read::Manifest;
use kubeshape_validate::crd::{
    Defaults, Definition, Kept, Options, Warning, expression_costs, validate_update_with, validate_with, warnings,
    warnings_of_update,
};
use kubeshape_validate::metadata::ObjectMeta;
use kubeshape_validate::{AskedRelease, Release};
use kubeshape_yaml::Node;
use std::collections::HashMap;
use std::sync::Arc;

/// Values of more bytes are left out of messages.
const VALUE: usize = 200;
/// The API version that servers dropped in 1.22.
const BETA: &str = "apiextensions.k8s.io/v1beta1";

/// What is checked, and for which releases.
#[derive(Clone, Copy, Debug, Default)]
pub struct Check {
    releases: Releases,
    advice: bool,
    costs: bool,
    /// Whether an old definition without the condition `Established` is treated as not established.
    as_written: bool,
}

/// Identifies one error of a release.
type Key = (ErrorType, String, u32);

impl Check {
    /// Checks for these releases.
    pub fn new(releases: Releases) -> Check {
        Check { releases, ..Check::default() }
    }

    /// Sets whether the report includes [`advice`].
    #[must_use]
    pub fn with_advice(self, advice: bool) -> Check {
        Check { advice, ..self }
    }

    /// Sets whether the report includes the costs of rules.
    #[must_use]
    pub fn with_costs(self, costs: bool) -> Check {
        Check { costs, ..self }
    }

    /// Sets whether an old definition is assumed to be established if its status does not say. By default it is,
    /// because a server establishes each definition that it installs. Scope and kind of an established definition are
    /// immutable (`requireImmutableNames` in apiextensions' `ValidateCustomResourceDefinitionUpdate`).
    #[must_use]
    pub fn with_established(self, established: bool) -> Check {
        Check { as_written: !established, ..self }
    }

    /// Reports the releases' responses to a request that creates the definition.
    pub fn definition<'a>(&self, manifest: Manifest<'a>, arena: &'a Bump) -> Report {
        self.check(manifest, None, arena)
    }

    /// Reports the releases' responses to a request that replaces `old` by the definition. Both must have the same
    /// name.
    ///
    /// Existing errors of the old definition may remain, as far as a server permits it. If `old` has a status, its
    /// stored versions are used; otherwise its storage version is the only one. [`Check::with_established`] says
    /// whether it is established.
    pub fn replacement<'a>(&self, manifest: Manifest<'a>, old: Manifest<'a>, arena: &'a Bump) -> Report {
        self.check(manifest, Some(old), arena)
    }

    fn check<'a>(self, manifest: Manifest<'a>, old: Option<Manifest<'a>>, arena: &'a Bump) -> Report {
        let read = Definition::read(manifest, Defaults::Set, arena);
        let old = old.and_then(|old| Some((old, self.old(old, arena)?)));
        let mut findings = Findings::default();
        for note in read.notes {
            // If there are no versions, the server's own error says more.
            if read.value.is_none() || note.code != Code::NoVersions {
                findings.always(note.into_owned());
            }
        }
        let node = manifest.node;
        if manifest.implied == Some(ApiVersion::V1beta1) || text(node, "apiVersion") == BETA {
            let at = node.get("apiVersion").unwrap_or(node).index();
            let detail = format!("found {BETA}, expected apiextensions.k8s.io/v1");
            findings.always(Note::new(Code::CrdBeta, at, detail));
        }
        if let Some(definition) = &read.value {
            let old = old.as_ref().map(|(written, old)| (written.node, old));
            let kept = Arc::default();
            self.ask(definition, old, node, (&kept, arena), &mut findings);
            expressions::explain(&mut findings.problems, &kept, node.document());
            costs::advise(&mut findings.problems, definition, node.document(), arena);
            for (note, since) in dropped::of(definition) {
                self.releases.iter().filter(|release| release.without_patch() < since).for_each(|release| {
                    findings.warning(note.clone(), release);
                });
            }
            if self.advice {
                findings.problems.extend(advice::about(definition, arena).into_iter().map(always));
            }
        }
        let answers = self.releases.iter().map(|release| findings.answer(release)).collect();
        let mut problems = findings.problems;
        problems.sort_by_key(|problem| problem.note.at);
        for problem in &mut problems {
            problem.releases.sort_unstable();
        }
        let claim = read.value.as_ref().map(claim);
        let costs = read.value.filter(|_| self.costs).map(|definition| self.costs(&definition)).unwrap_or_default();
        let name = name(node);
        let metadata = node.get("metadata").and_then(|metadata| metadata.get("name"));
        Report {
            name,
            at: metadata.unwrap_or(node).index(),
            replaces: old.is_some(),
            asked: self.releases,
            answers,
            problems,
            claim,
            costs,
        }
    }
}

impl Check {
    /// Decodes the definition to be replaced.
    fn old<'a>(self, manifest: Manifest<'a>, arena: &'a Bump) -> Option<Definition<'a>> {
        let mut old = Definition::read(manifest, Defaults::Set, arena).value?;
        if !self.as_written {
            old.status.established.get_or_insert(true);
        }
        Some(old)
    }

    /// Evaluates the releases, the newest first, because its wording is used for errors of several releases. A release
    /// that certainly gives the same answers as the last evaluated one is skipped.
    fn ask<'a>(
        self,
        definition: &Definition<'a>,
        old: Option<(Node<'a>, &Definition<'a>)>,
        node: Node<'a>,
        (kept, arena): (&Arc<Kept>, &'a Bump),
        findings: &mut Findings,
    ) {
        let mut last: Option<Verdict> = None;
        for release in self.releases.iter().rev() {
            let verdict = match last.take().filter(|last| last.release.same(release)) {
                Some(verdict) => verdict,
                None => Verdict::of(definition, old, release, kept, arena),
            };
            findings.errors(&verdict.errors, node, release);
            for warning in &verdict.warnings {
                let (code, member) = if warning.text.starts_with("unrecognized format") {
                    (Code::CrdFormat, "format")
                } else {
                    (Code::CrdSet, "x-kubernetes-list-type")
                };
                let schema = node.document().node(warning.at);
                let at = schema.get(member).unwrap_or(schema).index();
                findings.warning(Note::new(code, at, warning.text.clone()), release);
            }
            last = Some(verdict);
        }
    }
}

impl Check {
    fn costs(self, definition: &Definition<'_>) -> Vec<Costs> {
        let mut out: Vec<Costs> = Vec::new();
        let mut last: Option<AskedRelease> = None;
        for release in self.releases.iter() {
            if let Some(costs) = out.last_mut()
                && last.as_ref().is_some_and(|last| last.same(release))
            {
                costs.releases.push(release);
                continue;
            }
            let asked = AskedRelease::from(release);
            let expressions = expression_costs(definition, &asked);
            match out.last_mut() {
                Some(costs) if costs.expressions == expressions => costs.releases.push(release),
                _ => out.push(Costs { releases: vec![release], expressions }),
            }
            last = Some(asked);
        }
        out.retain(|costs| !costs.expressions.is_empty());
        out
    }
}

/// The answers of a release, and of all others that give the same ones.
struct Verdict {
    release: AskedRelease,
    errors: Vec<Error>,
    warnings: Vec<Warning>,
}

impl Verdict {
    fn of<'a>(
        definition: &Definition<'a>,
        old: Option<(Node<'a>, &Definition<'a>)>,
        release: Release,
        kept: &Arc<Kept>,
        arena: &'a Bump,
    ) -> Verdict {
        let release = AskedRelease::from(release);
        let (errors, warnings) = if let Some((written, old)) = old {
            let old = &stored(old, written, &release, arena);
            let new = sent(&definition.prepare_for_update(old, &release, arena), old);
            let options = Options::update(&new, old, &release).keeping(kept);
            (validate_update_with(&new, old, &options), warnings_of_update(&new, old, &release))
        } else {
            let new = definition.prepare_for_create(&release, arena);
            let options = Options::create(&release).keeping(kept);
            (validate_with(&new, &options), warnings(&new, &release))
        };
        Verdict { release, errors, warnings }
    }
}

/// Returns the old definition as stored by a server.
fn stored<'a>(old: &Definition<'a>, node: Node<'a>, release: &AskedRelease, arena: &'a Bump) -> Definition<'a> {
    let has_status = node
        .get("status")
        .is_some_and(|status| status.get("storedVersions").is_some_and(|found| found.items().next().is_some()));
    if has_status {
        return *old;
    }
    let mut stored = old.prepare_for_create(release, arena);
    stored.status.established = old.status.established;
    stored
}

/// Returns the new definition as an unconditional update sends it: fields assigned by the server come from the old one.
fn sent<'a>(new: &Definition<'a>, old: &Definition<'a>) -> Definition<'a> {
    let kept = old.metadata;
    let version = if kept.resource_version.is_empty() { "1" } else { kept.resource_version };
    let metadata = ObjectMeta {
        uid: kept.uid,
        resource_version: version,
        creation_timestamp: kept.creation_timestamp,
        deletion_timestamp: kept.deletion_timestamp,
        deletion_grace_period_seconds: kept.deletion_grace_period_seconds,
        ..new.metadata
    };
    Definition { metadata, ..*new }
}

/// Returns the names that a definition requests.
fn claim(definition: &Definition<'_>) -> CustomResource {
    let Definition { spec, status, .. } = definition;
    CustomResource {
        group: spec.group.into(),
        names: ClaimedNames::from(&spec.names),
        accepted: status.accepted.as_ref().filter(|names| !names.plural.is_empty()).map(ClaimedNames::from),
        established: status.established,
        versions: Vec::new(),
        names_at: spec.member("names").unwrap_or(definition.node).index(),
    }
}

/// Returns `metadata.name`, or else `PLURAL.GROUP`.
fn name(node: Node<'_>) -> String {
    let written = node.get("metadata").map(|metadata| text(metadata, "name")).unwrap_or_default();
    if !written.is_empty() {
        return written.to_owned();
    }
    let Some(spec) = node.get("spec") else { return String::new() };
    let plural = spec.get("names").map(|names| text(names, "plural")).unwrap_or_default();
    match (plural, text(spec, "group")) {
        ("", "") => String::new(),
        (plural, group) => format!("{plural}.{group}"),
    }
}

fn text<'a>(node: Node<'a>, member: &str) -> &'a str {
    node.get(member).and_then(Node::as_str).unwrap_or_default()
}

fn always(note: Note<'static>) -> Problem {
    Problem { note, releases: Vec::new(), error: None, advice: None, part: None, edits: Vec::new() }
}

/// The problems of several releases, without duplicates.
#[derive(Default)]
struct Findings {
    problems: Vec<Problem>,
    /// The problems with the same type, path and location, in order. It is never iterated over.
    known: HashMap<Key, Vec<usize>>,
}

impl Findings {
    fn always(&mut self, note: Note<'static>) {
        self.problems.push(always(note));
    }

    fn errors(&mut self, errors: &[Error], root: Node<'_>, release: Release) {
        // If a release has several errors with one key, its first error matches the first one of other releases, its
        // second the second, and so on.
        let mut seen: HashMap<Key, usize> = HashMap::new();
        for error in errors {
            let key = (error.error_type, error.path.clone(), error.at);
            let turn = seen.entry(key.clone()).or_default();
            let known = self.known.entry(key).or_default();
            if let Some(problem) = known.get(*turn).and_then(|i| self.problems.get_mut(*i)) {
                problem.releases.push(release);
            } else {
                known.push(self.problems.len());
                let document = root.document();
                let start = if (error.at as usize) < document.len() { document.node(error.at) } else { root };
                let is_exact = self.problems.len() < place::EXACT;
                let at = if is_exact { place::of(error, start) } else { start.index() };
                let note = Note::new(code::of(error), at, brief(error));
                let error = Some(error.clone());
                self.problems.push(Problem {
                    note,
                    releases: vec![release],
                    error,
                    advice: None,
                    part: None,
                    edits: Vec::new(),
                });
            }
            *turn += 1;
        }
    }

    fn warning(&mut self, note: Note<'static>, release: Release) {
        let key = (ErrorType::Internal, note.detail.to_string(), note.at);
        let known = self.known.entry(key).or_default();
        if let Some(problem) = known.first().and_then(|i| self.problems.get_mut(*i)) {
            if problem.releases.last() != Some(&release) {
                problem.releases.push(release);
            }
            return;
        }
        known.push(self.problems.len());
        self.problems.push(Problem {
            note,
            releases: vec![release],
            error: None,
            advice: None,
            part: None,
            edits: Vec::new(),
        });
    }

    fn answer(&self, release: Release) -> Answer {
        let of = |kind| {
            let said = |problem: &&Problem| problem.note.code.kind() == kind && problem.is_of(release);
            self.problems.iter().filter(said).count()
        };
        Answer { release, errors: of(NoteKind::Error), warnings: of(NoteKind::Warning) }
    }
}

/// Returns the message of an error. A long value is left out, because the location shows it.
fn brief(error: &Error) -> String {
    let long = match &error.value {
        BadValue::Text(value) | BadValue::Json(value) | BadValue::Printed(value) => value.len() > VALUE,
        BadValue::Omitted => false,
    };
    if !long {
        return error.to_string();
    }
    let short = Error { value: BadValue::Json("…".to_owned()), ..error.clone() };
    short.to_string()
}
