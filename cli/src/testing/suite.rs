//! Test suites of the command `test`, and the definitions that they are about.

use super::totals::Totals;
use crate::args::TestArgs;
use crate::report::clean::clean;
use crate::report::{of_releases, on_some};
use crate::session::Session;
use crate::session::groups::WithCustom;
use crate::session::text::{Missing, Text, read_all};
use kubeshape_input::{Code, Content, Document, Finding};
use kubeshape_registry::policy::{ServedKinds, is_policy};
use kubeshape_registry::{Location, Registry, Release, Settings};
use kubeshape_schema::Releases;
use kubeshape_suite::{Answer, Case, Edit, Failure, InReleases, Outcome, Request, Suite, Tested, expect_answer};
use kubeshape_yaml::Node;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The CustomResourceDefinitions that are known, by name.
#[derive(Debug, Default)]
pub(super) struct Definitions {
    by_name: BTreeMap<String, Vec<Location>>,
    /// Admission policies, their bindings and parameters, and Namespaces.
    objects: Vec<Location>,
    /// The built-in kinds with those of the definitions, for suites of policies. `None` for releases whose built-in
    /// kinds are not known.
    kinds: BTreeMap<Release, Option<WithCustom>>,
    /// The folders that were looked into because a suite stands near them.
    folders: BTreeSet<PathBuf>,
    /// What is in these.
    nearby: BTreeMap<(PathBuf, String), Vec<Location>>,
}

/// Where the definitions of openshift/api stand, from the folder of a suite.
const NEARBY: &str = "../../zz_generated.crd-manifests";

impl Definitions {
    /// Adds the definitions of an input.
    pub(super) fn add(&mut self, text: &Text<'_>) {
        for (name, location) in definitions(text) {
            self.by_name.entry(name).or_default().push(location);
        }
        if has_policies(text) {
            self.add_objects(text);
        }
    }

    /// Adds the objects of an input: policies and what they need.
    pub(super) fn add_objects(&mut self, text: &Text<'_>) {
        for document in text.documents() {
            let objects = document.objects().into_iter().filter(|node| !Suite::is_suite(*node));
            self.objects.extend(objects.map(|node| Location::new(Arc::clone(document), node.index())));
        }
    }

    /// Runs a suite of policies, in each release whose built-in kinds are known.
    fn run_policies(&mut self, suite: &Suite, releases: Releases) -> Result<Vec<InReleases>, Box<Finding>> {
        let mut out = Vec::new();
        for release in releases.iter().rev() {
            let all = self.by_name.values().flatten();
            let kinds = self.kinds.entry(release).or_insert_with(|| with_built_in(all, release));
            if let Some(kinds) = kinds {
                let kinds = ServedKinds::new(kinds);
                let outcomes = suite.run_policies(&Tested { objects: &self.objects, kinds: &kinds, release })?;
                out.push((vec![release], outcomes));
            }
        }
        if out.is_empty() {
            let detail = format!("the built-in kinds of Kubernetes {releases} are not known");
            return Err(Box::new(suite.location.finding(Code::Suite, detail)));
        }
        Ok(out)
    }

    /// The definitions that a suite runs against.
    fn of(&mut self, suite: &Suite, path: &Path, session: &mut Session<'_>) -> Vec<Location> {
        if let Some(found) = self.by_name.get(&suite.crd_name) {
            return found.clone();
        }
        let Some(folder) = path.parent().map(|folder| folder.join(NEARBY)).filter(|folder| folder.is_dir()) else {
            return Vec::new();
        };
        if self.folders.insert(folder.clone()) {
            for text in read_all(std::slice::from_ref(&folder), Missing::Empty, session) {
                for (name, location) in definitions(text) {
                    self.nearby.entry((folder.clone(), name)).or_default().push(location);
                }
            }
        }
        self.nearby.get(&(folder, suite.crd_name.clone())).cloned().unwrap_or_default()
    }
}

/// The built-in kinds of a release with those of definitions.
fn with_built_in<'l>(definitions: impl Iterator<Item = &'l Location>, release: Release) -> Option<WithCustom> {
    let mut registry = Registry::new(Settings::of(release));
    for (number, location) in definitions.enumerate() {
        registry.set(format!("{number:09}"), [location.clone()], Vec::new());
    }
    WithCustom::new(&registry, release)
}

/// Whether a document is a CustomResourceDefinition, or a list of some.
pub(super) fn is_definition(document: &Document) -> bool {
    document.content() == Content::Crd || !document.manifests().0.is_empty()
}

/// Whether there are admission policies in a text.
pub(super) fn has_policies(text: &Text<'_>) -> bool {
    text.documents().iter().any(|document| document.objects().into_iter().any(is_policy))
}

fn definitions(text: &Text<'_>) -> Vec<(String, Location)> {
    let mut out = Vec::new();
    for document in text.documents() {
        for manifest in document.manifests().0 {
            let name = manifest.node.get("metadata").and_then(|metadata| metadata.get("name")).and_then(Node::as_str);
            let location = Location::new(Arc::clone(document), manifest.node.index());
            out.extend(name.map(|name| (name.to_owned(), location)));
        }
    }
    out
}

/// Runs a suite against each definition of its name.
#[expect(clippy::too_many_arguments, reason = "what the command keeps while it runs")]
pub(super) fn run<'a>(
    suite: &Suite,
    text: &'a Text<'a>,
    args: &TestArgs,
    definitions: &mut Definitions,
    totals: &mut Totals,
    edits: &mut Vec<Edit>,
    out: &mut String,
    session: &mut Session<'a>,
) {
    let is_wanted = |case: &Case| {
        args.filter.as_deref().is_none_or(|filter| suite.name.contains(filter) || case.name.contains(filter))
    };
    if !suite.cases.is_empty() && !suite.cases.iter().any(is_wanted) {
        return;
    }
    totals.suites += 1;
    if suite.is_of_policies() {
        let title = format!("{}: {}", text.place(suite.location.node()), suite.name);
        match definitions.run_policies(suite, args.kubernetes.unwrap_or_default()) {
            Ok(outcomes) => {
                let results = by_case(outcomes, |case| is_wanted(&suite.cases[case]));
                told(suite, &title, "", &results, args, out, session);
                totals.cases += results.len();
                let answers = results.into_iter().map(|result| (result.case, vec![result])).collect();
                settle(suite, answers, args, totals, edits, session);
            }
            Err(finding) => session.report(&finding),
        }
        return;
    }
    let found = definitions.of(suite, &text.path, session);
    if found.is_empty() {
        let detail = format!("no CustomResourceDefinition {} is known", suite.crd_name);
        let at = suite.location.at(suite.location.node().get("crdName").unwrap_or_else(|| suite.location.node()));
        let mut finding = at.finding(Code::Suite, detail);
        finding.advice = Some("Name the file or folder of the definition with `--schemas`.".to_owned());
        session.report(&finding);
        return;
    }
    // Under several definitions, a case may have several answers: what it expects then is for people to say.
    let mut answers: BTreeMap<usize, Vec<CaseResult>> = BTreeMap::new();
    for definition in &found {
        let title = format!("{}: {}, with {}", text.place(suite.location.node()), suite.name, definition.input());
        let outcomes = match args.kubernetes {
            Some(releases) => suite.run_each(definition, releases),
            None => suite.run(definition, None).map(|outcomes| vec![(Vec::new(), outcomes)]),
        };
        match outcomes {
            Ok(outcomes) => {
                let results = by_case(outcomes, |case| is_wanted(&suite.cases[case]));
                told(suite, &title, definition.input(), &results, args, out, session);
                for result in results {
                    totals.cases += 1;
                    answers.entry(result.case).or_default().push(result);
                }
            }
            Err(finding) => session.report(&finding),
        }
    }
    settle(suite, answers, args, totals, edits, session);
}

/// What came of a case in all releases.
struct CaseResult {
    case: usize,
    /// The answer of the newest release.
    answer: Answer,
    /// Why it failed, and in which releases.
    failures: Vec<(Failure, Vec<Release>)>,
    /// How many releases were asked.
    releases: usize,
}

/// The outcomes of releases, put together case by case. What fails in the same words is one failure.
fn by_case(outcomes: Vec<InReleases>, is_wanted: impl Fn(usize) -> bool) -> Vec<CaseResult> {
    let asked = outcomes.iter().map(|(releases, _)| releases.len()).sum();
    let mut results: BTreeMap<usize, CaseResult> = BTreeMap::new();
    for (releases, outcomes) in outcomes {
        for Outcome { case, answer, failure } in outcomes.into_iter().filter(|outcome| is_wanted(outcome.case)) {
            let new = || CaseResult { case, answer, failures: Vec::new(), releases: asked };
            let failures = &mut results.entry(case).or_insert_with(new).failures;
            let Some(failure) = failure else { continue };
            let text = |failure: &Failure| (failure.message.clone(), failure.details.clone());
            match failures.iter_mut().find(|(known, _)| text(known) == text(&failure)) {
                Some((_, of)) => of.extend(&releases),
                None => failures.push((failure, releases.clone())),
            }
        }
    }
    let mut results: Vec<CaseResult> = results.into_values().collect();
    results.iter_mut().flat_map(|result| &mut result.failures).for_each(|(_, releases)| releases.sort_unstable());
    results
}

/// Shows what came of cases, under a title.
fn told(
    suite: &Suite,
    title: &str,
    with: &str,
    results: &[CaseResult],
    args: &TestArgs,
    out: &mut String,
    session: &mut Session<'_>,
) {
    if !args.quiet || results.iter().any(|result| !result.failures.is_empty()) {
        let _ = writeln!(out, "{}", clean(title));
    }
    for result in results {
        shown(suite, with, result, args, out, session);
    }
}

/// Counts the cases that failed, and corrects what they expect if that is wanted.
fn settle(
    suite: &Suite,
    answers: BTreeMap<usize, Vec<CaseResult>>,
    args: &TestArgs,
    totals: &mut Totals,
    edits: &mut Vec<Edit>,
    session: &mut Session<'_>,
) {
    for (case, results) in answers {
        let failed = results.iter().filter(|result| !result.failures.is_empty()).count();
        if failed > 0 && args.update && corrected(&suite.cases[case], &results, edits, session) {
            totals.updated += 1;
            continue;
        }
        totals.failed += failed;
    }
}

/// The edits that make a case expect what came of it. Returns whether there are any.
fn corrected(case: &Case, results: &[CaseResult], edits: &mut Vec<Edit>, session: &mut Session<'_>) -> bool {
    let first = &results[0].answer;
    let edited = if results.iter().all(|result| result.answer == *first) {
        expect_answer(case, first)
    } else {
        Err("the definitions give different answers")
    };
    match edited {
        Ok(edited) => {
            edits.extend(edited);
            true
        }
        Err(why) => {
            session.report(&case.location.finding(Code::Suite, format!("what is expected cannot be rewritten: {why}")));
            false
        }
    }
}

/// Shows what came of a case.
fn shown(suite: &Suite, with: &str, result: &CaseResult, args: &TestArgs, out: &mut String, session: &mut Session<'_>) {
    let case = &suite.cases[result.case];
    let kind = match case.request {
        Request::Create { .. } => "onCreate",
        Request::Update { .. } => "onUpdate",
        Request::Delete { .. } => "onDelete",
    };
    let name = clean(&format!("{kind}: {}", case.name));
    let full = if with.is_empty() { name.clone() } else { format!("{name} ({})", clean(with)) };
    for (failure, releases) in &result.failures {
        let finding = of_releases(finding(failure), releases.clone(), result.releases);
        session.record(&finding.of_resource(&full));
    }
    session.case(suite.location.input(), &full);
    if session.is_report {
        return;
    }
    if result.failures.is_empty() && args.verbose {
        let _ = writeln!(out, "  ✓ {name}");
    }
    for (failure, releases) in &result.failures {
        let on = on_some(releases, result.releases).map(|text| format!(", {text}")).unwrap_or_default();
        let _ = writeln!(out, "  ✗ {name} ({}){on}", failure.location);
        let _ = writeln!(out, "      {}", clean(&failure.message));
        for line in failure.details.iter().flat_map(|detail| detail.lines()) {
            let _ = writeln!(out, "        {}", clean(line));
        }
    }
}

fn finding(failure: &Failure) -> Finding {
    let mut finding = failure.location.finding(Code::CaseFailed, failure.message.clone());
    finding.notes.clone_from(&failure.details);
    finding
}
