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
use crate::report::clean;
use crate::session::Session;
use expect::Verdict;
use kubeshape_schema::Code;
use kubeshape_suite::Edit;
pub(super) use read::{Scenario, scenario as read};
use std::fmt::Write;

/// Runs one scenario.
pub(super) fn play<'a>(
    scenario: &Scenario<'a>,
    args: &TestArgs,
    totals: &mut Totals,
    edits: &mut Vec<Edit>,
    out: &mut String,
    session: &mut Session<'a>,
) {
    totals.scenarios += 1;
    let title = clean::clean(&format!("{}: {}", scenario.text.place(scenario.node), scenario.name));
    let mut told = false;
    let mut tell = |line: &str, always: bool| {
        if args.quiet && !always {
            return;
        }
        if !told {
            let _ = writeln!(out, "{title}");
            told = true;
        }
        let _ = writeln!(out, "{line}");
    };
    let mut state = steps::State::new(scenario);
    for (number, step) in scenario.steps.iter().enumerate() {
        totals.steps += 1;
        let Some(outcome) = state.step(step, session) else {
            totals.failed += 1;
            tell(&format!("  {}. {}: cannot be run", number + 1, step.action), true);
            continue;
        };
        tell(&format!("  {}. {}", number + 1, step.action), false);
        outcome.lines().for_each(|line| tell(&format!("     {line}"), false));
        let verdicts = expect::judge(step, &outcome, session);
        totals.expectations += verdicts.len();
        let fine = verdicts.iter().all(|verdict| matches!(verdict, Verdict::Met(_)));
        let is_wanted = args.update && (!fine || step.is_to_be_filled());
        if let Some(edit) = is_wanted.then(|| update::edit(step, &outcome, session)).flatten() {
            edits.push(edit);
            totals.updated += 1;
            tell(&format!("     ~ expect is written anew ({})", step.text.place(step.node)), false);
            continue;
        }
        if !fine && args.quiet {
            tell(&format!("  {}. {}", number + 1, step.action), true);
        }
        for verdict in &verdicts {
            match verdict {
                Verdict::Met(part) => tell(&format!("     ✓ {part}"), false),
                Verdict::Failed { part, place, differences } => {
                    let mut finding = step.text.about(Code::CaseFailed, step.node, format!("{}: {part}", step.action));
                    finding.notes.clone_from(differences);
                    session.record(&finding.of_resource(scenario.name));
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
        totals.failed += verdicts.iter().filter(|verdict| !matches!(verdict, Verdict::Met(_))).count();
    }
}
