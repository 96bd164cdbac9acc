//! Test suites of the command `test`, and the definitions that they are about.

use super::totals::Totals;
use crate::args::TestArgs;
use crate::report::clean::clean;
use crate::session::Session;
use crate::session::groups::WithCustom;
use crate::session::text::{Missing, Text, read_all};
use kubeshape_input::{Code, Content, Document, Finding};
use kubeshape_registry::policy::{ServedKinds, is_policy};
use kubeshape_registry::{Location, Registry, Release, Settings};
use kubeshape_suite::{Case, Edit, Failure, Outcome, Request, Suite, Tested, expect_answer};
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
    /// The built-in kinds with those of the definitions, for suites of policies.
    kinds: Option<WithCustom>,
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

    /// Runs a suite of policies.
    fn run_policies(&mut self, suite: &Suite, release: Release) -> Result<Vec<Outcome>, Box<Finding>> {
        if self.kinds.is_none() {
            let mut registry = Registry::new(Settings::of(release));
            let all = self.by_name.values().flatten();
            for (number, location) in all.enumerate() {
                registry.set(format!("{number:09}"), [location.clone()], Vec::new());
            }
            self.kinds = WithCustom::new(&registry, release);
        }
        let Some(kinds) = &self.kinds else {
            let detail = format!("the built-in kinds of Kubernetes {release} are not known");
            return Err(Box::new(suite.location.finding(Code::Suite, detail)));
        };
        let kinds = ServedKinds::new(kinds);
        suite.run_policies(&Tested { objects: &self.objects, kinds: &kinds, release })
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
                let outcomes = outcomes.into_iter().filter(|outcome| is_wanted(&suite.cases[outcome.case]));
                let outcomes: Vec<Outcome> = outcomes.collect();
                told(suite, &title, "", &outcomes, args, out, session);
                totals.cases += outcomes.len();
                settle(
                    suite,
                    outcomes.into_iter().map(|outcome| (outcome.case, vec![outcome])).collect(),
                    args,
                    totals,
                    edits,
                    session,
                );
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
    let mut answers: BTreeMap<usize, Vec<Outcome>> = BTreeMap::new();
    for definition in &found {
        let title = format!("{}: {}, with {}", text.place(suite.location.node()), suite.name, definition.input());
        match suite.run(definition, args.kubernetes) {
            Ok(mut outcomes) => {
                outcomes.retain(|outcome| is_wanted(&suite.cases[outcome.case]));
                told(suite, &title, definition.input(), &outcomes, args, out, session);
                for outcome in outcomes {
                    totals.cases += 1;
                    answers.entry(outcome.case).or_default().push(outcome);
                }
            }
            Err(finding) => session.report(&finding),
        }
    }
    settle(suite, answers, args, totals, edits, session);
}

/// Shows what came of cases, under a title.
fn told(
    suite: &Suite,
    title: &str,
    with: &str,
    outcomes: &[Outcome],
    args: &TestArgs,
    out: &mut String,
    session: &mut Session<'_>,
) {
    if !args.quiet || outcomes.iter().any(|outcome| !outcome.has_passed()) {
        let _ = writeln!(out, "{}", clean(title));
    }
    for outcome in outcomes {
        shown(suite, with, outcome, args, out, session);
    }
}

/// Counts the cases that failed, and corrects what they expect if that is wanted.
fn settle(
    suite: &Suite,
    answers: BTreeMap<usize, Vec<Outcome>>,
    args: &TestArgs,
    totals: &mut Totals,
    edits: &mut Vec<Edit>,
    session: &mut Session<'_>,
) {
    for (case, outcomes) in answers {
        let failed = outcomes.iter().filter(|outcome| !outcome.has_passed()).count();
        if failed > 0 && args.update && corrected(&suite.cases[case], &outcomes, edits, session) {
            totals.updated += 1;
            continue;
        }
        totals.failed += failed;
    }
}

/// The edits that make a case expect what came of it. Returns whether there are any.
fn corrected(case: &Case, outcomes: &[Outcome], edits: &mut Vec<Edit>, session: &mut Session<'_>) -> bool {
    let first = &outcomes[0].answer;
    let edited = if outcomes.iter().all(|outcome| outcome.answer == *first) {
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
fn shown(suite: &Suite, with: &str, outcome: &Outcome, args: &TestArgs, out: &mut String, session: &mut Session<'_>) {
    let case = &suite.cases[outcome.case];
    let kind = match case.request {
        Request::Create { .. } => "onCreate",
        Request::Update { .. } => "onUpdate",
        Request::Delete { .. } => "onDelete",
    };
    let name = clean(&format!("{kind}: {}", case.name));
    let full = if with.is_empty() { name.clone() } else { format!("{name} ({})", clean(with)) };
    if let Some(failure) = &outcome.failure {
        session.record(&finding(failure).of_resource(&full));
    }
    session.case(suite.location.input(), &full);
    if session.is_report {
        return;
    }
    match &outcome.failure {
        None if args.verbose => drop(writeln!(out, "  ✓ {name}")),
        None => {}
        Some(failure) => {
            let _ = writeln!(out, "  ✗ {name} ({})", failure.location);
            let _ = writeln!(out, "      {}", clean(&failure.message));
            for line in failure.details.iter().flat_map(|detail| detail.lines()) {
                let _ = writeln!(out, "        {}", clean(line));
            }
        }
    }
}

fn finding(failure: &Failure) -> Finding {
    let mut finding = failure.location.finding(Code::CaseFailed, failure.message.clone());
    finding.notes.clone_from(&failure.details);
    finding
}
