//! `kubeshape test`: suites and scenarios of files.

mod scenario;
mod suite;
mod totals;

use crate::args::TestArgs;
use crate::error::Fatal;
use crate::input::check_once;
use crate::output::Stage;
use crate::report::{self, clean};
use crate::session::text::{Missing, Text, nowhere, read_all};
use crate::session::{Command, Common, Session};
use kubeshape_input::Code;
use kubeshape_registry::Location;
use kubeshape_schema::Releases;
use kubeshape_suite::{Edit, Suite, apply_edits};
use std::sync::Arc;
use suite::Definitions;
use totals::Totals;

/// `kubeshape test`
///
/// # Errors
/// There is no answer.
pub(crate) fn run<'a>(args: &TestArgs, session: &mut Session<'a>) -> Result<bool, Fatal> {
    let mut totals = Totals::default();
    if let Some(releases) = args.kubernetes.filter(|releases| args.update && releases.is_range()) {
        return Err(Fatal::Usage(format!("--update needs one release, found --kubernetes {releases}")));
    }
    let stage = args.update.then(|| Stage::default().until_interrupted());
    let paths = args.filenames.and(&args.files);
    check_once(args.schemas.iter().chain(&args.policies).chain(&paths))?;
    let schemas = read_all(&args.schemas, Missing::Error, session);
    let mut definitions = Definitions::default();
    for text in schemas {
        definitions.add(text);
    }
    for text in read_all(&args.policies, Missing::Error, session) {
        definitions.add_objects(text);
    }
    let mut inputs: Vec<(bool, Vec<&'a Text<'a>>)> = Vec::new();
    for path in &paths {
        let before = session.errors();
        let texts = read_all(std::slice::from_ref(path), Missing::Error, session);
        for text in &texts {
            definitions.add(text);
        }
        inputs.push((session.errors() > before, texts));
    }
    for (path, (has_failed, texts)) in paths.iter().zip(inputs) {
        let (ran, errors) = (totals.suites + totals.scenarios, session.errors());
        let mut is_used = false;
        for text in texts {
            is_used |= file(text, args, stage.as_deref(), &mut definitions, &mut totals, session)?;
        }
        // A name that is mistyped must not count as success.
        if !is_used && totals.suites + totals.scenarios == ran && session.errors() == errors && !has_failed {
            let detail = "found no scenario and no test suite";
            session.report(&nowhere(Code::Scenario, &path.to_string_lossy(), detail));
        }
    }
    if totals.suites + totals.scenarios == 0 && args.filter.is_some() && session.errors() == 0 {
        let filter = args.filter.as_deref().unwrap_or_default();
        session.remark(&format!("no case and no scenario has {filter:?} in its name"));
    }
    session.verdict(&summary(totals, args.kubernetes));
    if !session.is_report {
        report::print(format!("{}\n", summary(totals, args.kubernetes)).as_bytes())?;
    }
    Ok(totals.failed == 0)
}

/// Runs what is in a file, and corrects expectations if there is a stage to write with. Returns whether there was a
/// test, also one that was left out, or a definition for tests.
fn file<'a>(
    text: &'a Text<'a>,
    args: &TestArgs,
    stage: Option<&Stage>,
    definitions: &mut Definitions,
    totals: &mut Totals,
    session: &mut Session<'a>,
) -> Result<bool, Fatal> {
    let mut edits: Vec<Edit> = Vec::new();
    let mut is_used = false;
    if text.named && !text.failed && text.documents().is_empty() {
        session.report(&nowhere(Code::Scenario, text.name, "found nothing, expected a scenario or a test suite"));
    }
    for document in text.documents() {
        let root = document.root();
        let mut out = String::new();
        if Suite::is_suite(root) {
            is_used = true;
            match Suite::read(&Location::root(Arc::clone(document))) {
                Ok(read) => suite::run(&read, text, args, definitions, totals, &mut edits, &mut out, session),
                Err(finding) => session.report(&finding),
            }
        } else if suite::is_definition(document) || suite::has_policies(text) {
            is_used = true;
        } else if root.get("scenario").is_some() || text.named {
            // Folders hold other things, too.
            is_used = true;
            scenario::run(text, document, args, totals, &mut edits, &mut out, session);
        }
        // Long runs are worth watching.
        if !session.is_report {
            report::print(clean::lines(&out).as_bytes())?;
        }
    }
    if let Some(stage) = stage.filter(|_| !edits.is_empty()) {
        write(text, &edits, stage)?;
    }
    Ok(is_used)
}

/// Puts the edits into the file, which is whole or as it was.
fn write(text: &Text<'_>, edits: &[Edit], stage: &Stage) -> Result<(), Fatal> {
    let result = apply_edits(text.source(), edits);
    if text.path.as_os_str().is_empty() {
        return report::print(result.as_bytes());
    }
    // A link stays a link.
    let target = text.path.canonicalize().unwrap_or_else(|_| text.path.clone());
    let written = stage.write(target, result.as_bytes()).and_then(|staged| stage.finish(staged));
    written.inspect_err(|_| stage.abandon())
}

fn summary(totals: Totals, releases: Option<Releases>) -> String {
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let mut parts = Vec::new();
    if totals.suites > 0 {
        parts.extend([count(totals.suites, "suite"), count(totals.cases, "case")]);
    }
    if totals.scenarios > 0 || totals.suites == 0 {
        parts.push(count(totals.scenarios, "scenario"));
        parts.extend([count(totals.steps, "step"), count(totals.expectations, "expectation")]);
    }
    let updated = if totals.updated == 0 { String::new() } else { format!(", {} updated", totals.updated) };
    let on = releases.map(|releases| format!(" on Kubernetes {releases}")).unwrap_or_default();
    format!("{}{on}: {} failed{updated}", parts.join(", "), totals.failed)
}

impl Command for TestArgs {
    fn common(&self) -> Common<'_> {
        Common { findings: &self.findings, walk: &self.walk, quiet: false, is_report: true }
    }

    fn run<'a>(&'a self, session: &mut Session<'a>) -> Result<bool, Fatal> {
        run(self, session)
    }
}
