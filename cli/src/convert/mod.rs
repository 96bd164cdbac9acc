//! `kubeshape convert`.
//!
//! [`plan`] checks the command line and finds the inputs. [`batch`] runs a [`worker`] per thread. A worker reads a
//! file, converts it with the [`engine`], and writes the results to temporary files. [`commit`] sees the files in
//! order, and decides which of several CustomResourceDefinitions with the same name is used. Documents wait until all
//! inputs are read, because they may have to be merged; [`aggregate`] then computes their results with [`documents`].
//! At the end [`place`] gives the results their names.

mod aggregate;
mod batch;
mod builtin;
mod commit;
pub(crate) mod documents;
mod engine;
mod plan;
mod rules;
mod worker;

pub(crate) use batch::{STACK, WINDOW, jobs, pool, run as run_in_order};

use crate::args::{ConvertArgs, Duplicates, OutputFormat};
use crate::error::Fatal;
use crate::input::Input;
use crate::output::Stage;
use crate::output::place::Options;
use crate::report::{Report, Setup, Totals, Ui};
use commit::Commit;
use engine::Engine;
use kubeshape_input::Finding;
use kubeshape_schema::{Code, NoteKind};
use kubeshape_yaml::Limits;
use plan::{Destination, Plan};
use std::path::Path;
use worker::{Context, Worker};

/// Runs the command. Returns whether there were no errors in the inputs.
///
/// # Errors
/// The command line is invalid, or a file cannot be written.
pub(crate) fn run(args: &ConvertArgs, setup: &Setup) -> Result<bool, Fatal> {
    let mut ui = Ui::new(setup.color, args.progress, args.quiet, args.verbose)
        .without_passed_over()
        .with_levels(setup.levels(&args.findings.levels))
        .reporting(formats(args));
    let mut plan = Plan::new(args)?;
    let documents = match args.kubernetes.filter(|_| args.reads_kubernetes()) {
        Some(release) => builtin::constrained(release)?,
        None => builtin::Documents::default(),
    };
    plan.gathered.inputs.extend(documents.inputs);
    let engine = Engine::new(args, &plan, args.findings.report.report.is_some() || ui.filter().wants_losses())?;
    if let Some(release) = args.kubernetes {
        ui.say(&format!("Using the definitions of Kubernetes {release}, so hashes differ from a cluster's."));
    }
    let folder = match &plan.destination {
        Destination::Folder(folder) => Some(folder.as_path()),
        _ => None,
    };
    let stage = if args.dry_run { Stage::dry() } else { Stage::default() };
    let stage = stage.within(folder).synced(args.fsync).until_interrupted();
    let result = convert(args, &plan, &engine, &documents.losses, &stage, &mut ui);
    if result.is_err() {
        stage.abandon();
    } else {
        stage.tidy();
    }
    let to = match &plan.destination {
        Destination::Stdout => "standard output".to_owned(),
        Destination::File(path) | Destination::Folder(path) => path.display().to_string(),
    };
    let all = match &args.findings.report.report {
        Some(path) => format!("{} lists all of them.", path.display()),
        None => "`--report FILE` lists all of them.".to_owned(),
    };
    let is_denied = ui.end(result.as_ref().ok(), &to, &all);
    let totals = result?;
    ui.written()?;
    if totals.unreadable > 0 {
        return Err(Fatal::Unread);
    }
    Ok(totals.tally.get(NoteKind::Error) == 0 && !is_denied)
}

/// Returns the formats of the output and of a report that is not a list of lines: [`Report`] writes these as they come.
fn formats(args: &ConvertArgs) -> (OutputFormat, Option<(OutputFormat, &Path)>) {
    let (shown, report) = args.findings.report.formats(args.findings.output_format);
    (shown, report.filter(|(format, _)| !args.dry_run && !Report::writes(*format)))
}

fn options(args: &ConvertArgs) -> Options {
    Options { keep_going: args.keep_going, prune: args.prune, adopt: args.adopt, dry_run: args.dry_run }
}

fn convert(
    args: &ConvertArgs,
    plan: &Plan,
    engine: &Engine,
    losses: &[Finding],
    stage: &Stage,
    ui: &mut Ui,
) -> Result<Totals, Fatal> {
    let revised = args.duplicates == Duplicates::Last;
    let (_, report) = args.findings.report.formats(args.findings.output_format);
    let report = report.filter(|(format, _)| !args.dry_run && Report::writes(*format));
    let new = |(format, path)| Report::new(path, format, revised, ui.filter().levels(), stage);
    let report = report.map(new).transpose()?;
    let context = Context {
        engine,
        stage,
        folder: match &plan.destination {
            Destination::Folder(folder) => Some(folder),
            _ => None,
        },
        limits: Limits::default(),
        report: report.is_some(),
        filter: ui.filter().clone(),
        strict: args.strict_input,
        pretty: args.pretty,
    };
    let inputs = &plan.gathered.inputs;
    let jobs = batch::jobs(args.jobs);
    let mut commit = Commit::new(plan, stage, args.duplicates, report, options(args));
    plan.passed_over.iter().for_each(|line| ui.say(line));
    for finding in &plan.findings {
        commit.finding(finding, ui)?;
    }
    commit.losses(losses, ui)?;
    for (path, why) in &plan.gathered.unreadable {
        commit.nothing(&path.to_string_lossy(), Code::Unreadable, why, ui)?;
    }
    for finding in &plan.gathered.findings {
        commit.finding(finding, ui)?;
    }
    if ui.lively {
        let size = |input: &Input| std::fs::metadata(&input.canonical).map_or(0, |metadata| metadata.len());
        ui.expect(inputs.iter().map(size).sum());
    }
    // Whether each folder of the command line has an input.
    let mut used = vec![false; plan.gathered.roots.len()];
    let worker = || {
        let mut worker = Worker::new(&context);
        move |number: usize| worker.file(&inputs[number])
    };
    batch::run(jobs, WINDOW, inputs.len(), worker, |done| {
        if let Some((number, result)) = done {
            let input = &inputs[number];
            let Some(result) = result else { return Err(Fatal::Internal { input: input.name() }) };
            if result.found || result.failed {
                for (root, used) in plan.gathered.roots.iter().zip(&mut used) {
                    // A link in a folder may lead out of it.
                    *used |= input.canonical.starts_with(&root.canonical) || input.path().starts_with(&root.path);
                }
            }
            commit.file(result, ui)?;
        }
        ui.progress(commit.totals.bytes);
        Ok(())
    })?;
    for (root, used) in plan.gathered.roots.iter().zip(used) {
        let unreadable = plan.gathered.unreadable.iter().any(|(path, _)| path.starts_with(&root.path));
        if !used && !unreadable {
            let detail = "neither a CustomResourceDefinition nor an OpenAPI document was found in the folder";
            commit.nothing(&root.path.to_string_lossy(), Code::Nothing, detail, ui)?;
        }
    }
    commit.finish(&context, jobs, ui)
}
