//! `scenario`: steps of server-side apply in a file, and what is expected of each.
//!
//! [`read`] makes steps of a document, [`steps`] runs them, [`expect`] compares what came of them with what is
//! expected, [`update`] writes it into the file. What came of a step is a value per part, as it would stand in the
//! file, so that all of these speak of the same thing.

mod expect;
mod line;
mod read;
mod steps;
mod update;

use super::Session;
use super::text::{Missing, Text, nowhere, read_all};
use crate::args::ScenarioArgs;
use crate::error::Fatal;
use crate::output::Stage;
use crate::report::{self, clean};
use expect::Verdict;
use kubeshape_schema::Code;
use read::Scenario;
use std::fmt::Write;
use update::Edit;

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Totals {
    scenarios: usize,
    steps: usize,
    expectations: usize,
    failed: usize,
    updated: usize,
}

/// `kubeshape scenario`
///
/// # Errors
/// There is no answer.
pub(crate) fn run(args: &ScenarioArgs, session: &mut Session<'_>) -> Result<bool, Fatal> {
    let mut totals = Totals::default();
    let stage = args.update.then(|| Stage::default().until_interrupted());
    for path in &args.filenames.and(&args.files) {
        let (scenarios, errors) = (totals.scenarios, session.errors());
        for text in read_all(std::slice::from_ref(path), Missing::Error, session) {
            play_all(text, args, stage.as_deref(), &mut totals, session)?;
        }
        // A name that is mistyped must not count as success.
        if totals.scenarios == scenarios && session.errors() == errors {
            session.tell(&nowhere(Code::Scenario, &path.to_string_lossy(), "found no scenario"));
        }
    }
    report::print(format!("{}\n", summary(totals)).as_bytes())?;
    Ok(totals.failed == 0)
}

/// Runs the scenarios of a file, and corrects their expectations if there is a stage to write with.
fn play_all<'a>(
    text: &'a Text<'a>,
    args: &ScenarioArgs,
    stage: Option<&Stage>,
    totals: &mut Totals,
    session: &mut Session<'a>,
) -> Result<(), Fatal> {
    let mut edits = Vec::new();
    if text.named && !text.failed && text.documents().is_empty() {
        session.tell(&nowhere(Code::Scenario, text.name, "found nothing, expected a scenario"));
    }
    for document in text.documents() {
        // Folders hold the schemas, too.
        if !text.named && document.root().get("scenario").is_none() {
            continue;
        }
        let Some(scenario) = read::scenario(text, document, args, session) else { continue };
        let mut out = String::new();
        play(&scenario, args, totals, &mut edits, &mut out, session);
        // Long runs are worth watching.
        report::print(clean::lines(&out).as_bytes())?;
    }
    if let Some(stage) = stage.filter(|_| !edits.is_empty()) {
        totals.updated += edits.len();
        write(text, edits, stage)?;
    }
    Ok(())
}

/// Runs one scenario.
fn play<'a>(
    scenario: &Scenario<'a>,
    args: &ScenarioArgs,
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

/// Puts the edits into the file, which is whole or as it was.
fn write(text: &Text<'_>, edits: Vec<Edit>, stage: &Stage) -> Result<(), Fatal> {
    let result = update::applied(text.source(), edits);
    if text.path.as_os_str().is_empty() {
        return report::print(result.as_bytes());
    }
    // A link stays a link.
    let target = text.path.canonicalize().unwrap_or_else(|_| text.path.clone());
    let written = stage.write(target, result.as_bytes()).and_then(|staged| stage.finish(staged));
    written.inspect_err(|_| stage.abandon())
}

fn summary(totals: Totals) -> String {
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let updated = if totals.updated == 0 { String::new() } else { format!(", {} updated", totals.updated) };
    format!(
        "{}, {}, {}: {} failed{updated}",
        count(totals.scenarios, "scenario"),
        count(totals.steps, "step"),
        count(totals.expectations, "expectation"),
        totals.failed
    )
}
