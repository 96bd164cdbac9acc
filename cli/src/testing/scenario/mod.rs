//! Scenarios: steps of server-side apply in a file, and what is expected of each.
//!
//! [`read()`] makes steps of a document, [`steps`] runs them, [`expect`] compares what came of them with what is
//! expected, [`update`] writes it into the file. What came of a step is a value per part, as it would stand in the
//! file, so that all of these speak of the same thing.

mod expect;
mod line;
mod read;
mod steps;
mod update;

use super::totals::Totals;
use crate::args::TestArgs;
use crate::report::{clean, of_releases, on_some};
use crate::session::Session;
use crate::session::text::Text;
use expect::Verdict;
use kubeshape_builtin as builtin;
use kubeshape_input::{Document, Finding};
use kubeshape_schema::{Code, Release, Releases};
use kubeshape_suite::Edit;
use read::Scenario;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;

/// What came of a scenario in a release.
#[derive(Default)]
struct Played {
    /// What is shown, without the title.
    body: String,
    findings: Vec<Finding>,
    edits: Vec<Edit>,
    expectations: usize,
    /// What failed: the number of the step, and which of its expectations.
    failed: BTreeSet<(usize, usize)>,
}

/// Runs the scenario of a document, in each release that is asked for. Without one, in the release that it names.
pub(super) fn run<'a>(
    text: &'a Text<'a>,
    document: &'a Arc<Document>,
    args: &TestArgs,
    totals: &mut Totals,
    edits: &mut Vec<Edit>,
    out: &mut String,
    session: &mut Session<'a>,
) {
    let has_schemas = document.root().get("schemas").is_some();
    // Of the built-in kinds, those of the oldest releases are not known.
    let is_known = |release: &Release| has_schemas || builtin::BuiltInDocuments::try_from(*release).is_ok();
    let releases = match args.kubernetes {
        Some(range) if range.is_range() => range.iter().rev().filter(is_known).map(Some).collect(),
        one => vec![one.map(Releases::last)],
    };
    if let (true, Some(range)) = (releases.is_empty(), args.kubernetes) {
        let detail = format!("the built-in kinds of Kubernetes {range} are not known");
        return session.report(&text.about(Code::Scenario, document.root(), detail));
    }
    let mut all: Vec<(Vec<Release>, Played)> = Vec::new();
    let (mut name, mut title, mut steps) = ("", String::new(), 0);
    for release in &releases {
        let Some(scenario) = read::scenario(text, document, args, *release, session) else { return };
        if args.filter.as_deref().is_some_and(|filter| !scenario.name.contains(filter)) {
            return;
        }
        (name, steps) = (scenario.name, scenario.steps.len());
        title = clean::clean(&format!("{}: {name}", scenario.text.place(scenario.node)));
        let played = play(&scenario, args, session);
        let is_same =
            |(_, known): &&mut (Vec<Release>, Played)| known.body == played.body && known.findings == played.findings;
        match all.iter_mut().find(is_same) {
            Some((known, _)) => known.extend(release),
            None => all.push((Vec::from_iter(*release), played)),
        }
    }
    let failed: BTreeSet<(usize, usize)> = all.iter().flat_map(|(_, played)| played.failed.clone()).collect();
    let asked = all.iter().map(|(of, _)| of.len()).sum();
    totals.scenarios += 1;
    totals.steps += steps;
    totals.failed += failed.len();
    totals.expectations += all.first().map_or(0, |(_, newest)| newest.expectations);
    for (mut of, played) in all {
        of.sort_unstable();
        if !played.body.is_empty() {
            let on = on_some(&of, asked).map(|text| format!(", {text}")).unwrap_or_default();
            let _ = write!(out, "{title}{on}\n{}", played.body);
        }
        for finding in played.findings {
            session.record(&of_releases(finding, of.clone(), asked));
        }
        totals.updated += played.edits.len();
        edits.extend(played.edits);
    }
    session.case(text.name, &clean::clean(name));
}

/// Runs one scenario.
fn play<'a>(scenario: &Scenario<'a>, args: &TestArgs, session: &mut Session<'a>) -> Played {
    let mut played = Played::default();
    let mut body = String::new();
    let mut tell = |line: &str, always: bool| {
        if !args.quiet || always {
            let _ = writeln!(body, "{line}");
        }
    };
    let mut state = steps::State::new(scenario);
    for (number, step) in scenario.steps.iter().enumerate() {
        let Some(outcome) = state.step(step, session) else {
            played.failed.insert((number, 0));
            tell(&format!("  {}. {}: cannot be run", number + 1, step.action), true);
            continue;
        };
        tell(&format!("  {}. {}", number + 1, step.action), false);
        outcome.lines().for_each(|line| tell(&format!("     {line}"), false));
        let verdicts = expect::judge(step, &outcome, session);
        played.expectations += verdicts.len();
        let fine = verdicts.iter().all(|verdict| matches!(verdict, Verdict::Met(_)));
        let is_wanted = args.update && (!fine || step.is_to_be_filled());
        if let Some(edit) = is_wanted.then(|| update::edit(step, &outcome, session)).flatten() {
            played.edits.push(edit);
            tell(&format!("     ~ expect is written anew ({})", step.text.place(step.node)), false);
            continue;
        }
        if !fine && args.quiet {
            tell(&format!("  {}. {}", number + 1, step.action), true);
        }
        for (at, verdict) in verdicts.iter().enumerate() {
            match verdict {
                Verdict::Met(part) => tell(&format!("     ✓ {part}"), false),
                Verdict::Failed { part, place, differences } => {
                    played.failed.insert((number, at));
                    let mut finding = step.text.about(Code::CaseFailed, step.node, format!("{}: {part}", step.action));
                    finding.notes.clone_from(differences);
                    played.findings.push(finding.of_resource(scenario.name));
                    if session.is_report {
                        continue;
                    }
                    tell(&format!("     ✗ {part} ({place})"), true);
                    for line in differences {
                        tell(&format!("         {line}"), true);
                    }
                }
            }
        }
    }
    played.body = body;
    played
}
