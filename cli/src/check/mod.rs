//! `kubeshape check`.
//!
//! [`worker`] checks the definitions of a file with `kubeshape-check`, and [`fix`] edits it; [`Definitions`] are the
//! replaced ones. [`policies`] checks the admission policies of all files.

mod fix;
mod policies;
mod result;
mod texts;
mod worker;

pub(crate) use texts::answer;
pub(crate) use worker::Worker;

use crate::args::{AgainstStatus, CheckArgs, CheckLevel, OutputFormat, When};
use crate::cluster;
use crate::convert::{WINDOW, jobs, run_in_order};
use crate::definitions::Definitions;
use crate::error::Fatal;
use crate::input::{Filter, Gathered, Input, Source, check_once, gather};
use crate::output::{Stage, in_place};
use crate::report::{Answers, Claims, Setup, Ui, print};
use fix::Fix;
use kubeshape_check::{Check, Costs, Releases};
use kubeshape_input::{Code, Finding, Limits};
use kubeshape_lifecycle::warn::Cluster;
use kubeshape_schema::{Level, Levels, NoteKind};
use kubeshape_validate::crd::ExpressionCost;
use policies::Policies;
use result::{Event, FileResult, Fixed, Verdict};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

/// The data that all workers share.
#[derive(Debug)]
pub(crate) struct Context {
    check: Check,
    releases: Releases,
    /// The clusters, for the lifecycles of fields.
    cluster: Cluster,
    against: Definitions,
    limits: Limits,
    /// Findings below this level are left out.
    least: Level,
    levels: Levels,
    /// Whether files are edited.
    fix: Option<Fix>,
    /// Whether programs read the findings, which then have the server's complete messages.
    is_exact: bool,
}

/// Runs the command. Returns whether every definition is accepted.
///
/// # Errors
/// The command line is invalid, or something cannot be read.
pub(crate) fn run(args: &CheckArgs, setup: &Setup) -> Result<bool, Fatal> {
    let levels = setup.levels(&args.levels);
    let mut paths = args.filenames.and(&args.inputs);
    if paths.is_empty() {
        paths.push(PathBuf::from("-"));
    }
    let against: Vec<PathBuf> = args.against.iter().map(PathBuf::from).collect();
    check_once(against.iter().chain(paths.iter().collect::<BTreeSet<_>>()))?;
    let fix = match (args.fix, args.diff) {
        (false, _) => None,
        (true, false) => Some(Fix::Write),
        (true, true) => Some(Fix::Show),
    };
    let mut ui = Ui::new(setup.color, When::Auto, args.quiet, true).with_levels(levels.clone());
    ui = if args.verbose { ui.with_notes() } else { ui.with_first_notes() };
    // Standard output is for the result, if there is one.
    let has_result = fix == Some(Fix::Show) || (fix.is_some() && paths.iter().any(|path| path.as_os_str() == "-"));
    if !has_result {
        ui = ui.on_output(setup.color);
    }
    let mut ui = ui.reporting(args.report.formats(args.output_format));
    let filter = Filter::new(&args.walk)?;
    let limits = Limits::default();
    let gathered = gather(&paths, None, &filter);
    let of_cluster = || Some(cluster::release(&gathered.inputs)?.into());
    let releases: Releases = args.kubernetes.or_else(of_cluster).unwrap_or_default();
    let mut policies = Policies::default();
    let (seen, names, counts) = (BTreeSet::new(), BTreeMap::new(), Counts::default());
    let writer = Stage::default();
    let writer = if fix == Some(Fix::Write) { writer.until_interrupted() } else { Arc::new(writer) };
    let mut run = Run {
        args,
        releases,
        ui: &mut ui,
        least: args.level.least(),
        seen,
        names,
        claims: Claims::default(),
        counts,
        writer,
    };
    let against = Definitions::read(&args.against, &filter, limits, |finding| run.finding(finding))?;
    let is_denied = |code: &Code| code.number() / 100 == ADVICE && levels.denied_by(*code).is_some();
    let advice = args.level == CheckLevel::Advice || Code::ALL.iter().any(is_denied);
    let context = Context {
        check: Check::new(releases)
            .with_advice(advice)
            .with_costs(run.ui.has_format(OutputFormat::Json))
            .with_established(args.against_status == AgainstStatus::Established),
        releases,
        cluster: Cluster { gates: args.gates.all(), ..Cluster::default() },
        against,
        limits,
        least: args.level.least(),
        levels: levels.clone(),
        fix,
        is_exact: run.ui.has_format(OutputFormat::Json),
    };

    for (path, why) in &gathered.unreadable {
        run.counts.unread = true;
        run.finding(&Finding::new(Code::Unreadable, why.as_str()).in_input(path.to_string_lossy()));
    }
    let is_shown = |code: Code| levels.of(code) >= context.least || code == Code::BuildFiles;
    for finding in gathered.findings.iter().filter(|finding| is_shown(finding.code)) {
        run.finding(finding);
    }
    let mut used = vec![false; gathered.roots.len()];
    let inputs = &gathered.inputs;
    let worker = || {
        let mut worker = Worker::new(&context);
        move |number: usize| worker.file(&inputs[number])
    };
    run.ui.expect_all(inputs.len(), "files");
    run_in_order(jobs(args.jobs), WINDOW, inputs.len(), worker, |done| {
        let Some((number, result)) = done else { return Ok(()) };
        let input = &inputs[number];
        let Some(mut result) = result else { return Err(Fatal::Internal { input: input.name() }) };
        if result.found || result.failed {
            for (root, used) in gathered.roots.iter().zip(&mut used) {
                *used |= input.canonical.starts_with(&root.canonical) || input.path().starts_with(&root.path);
            }
        }
        policies.add(&mut result, input);
        run.file(result, input, &gathered)?;
        run.ui.progress(number as u64 + 1);
        Ok(())
    })?;
    for (root, used) in gathered.roots.iter().zip(used) {
        let is_told = gathered.unreadable.iter().any(|(path, _)| path.starts_with(&root.path));
        if !used && !is_told {
            let detail = "no CustomResourceDefinition found in the folder";
            run.finding(&Finding::new(Code::Nothing, detail).in_input(root.path.to_string_lossy()));
        }
    }
    run.names_in_use();
    let has_notes = args.verbose;
    let of_policies = policies.check(releases, limits, has_notes, |finding| match finding.code {
        // They are asked for, whatever the level is.
        Code::PolicyCost => run.finding(finding),
        _ => run.shown(finding),
    });
    for costs in &of_policies.costs {
        run.ui.json(costs);
    }
    run.summary(&context.against);
    if let Some(text) = &of_policies.text {
        run.ui.say(text);
    }
    let Run { counts, .. } = run;
    let is_denied = ui.end(None, "", "");
    ui.written()?;
    if counts.unread {
        return Err(Fatal::Unread);
    }
    let would_change = fix == Some(Fix::Show) && counts.edits > 0;
    Ok(counts.errors == 0 && !is_denied && !would_change)
}

/// Prints the costs of rules for programs.
fn costs(verdict: &Verdict) -> serde_json::Value {
    let expression = |cost: &ExpressionCost| {
        let place = verdict.expressions.get(&cost.at);
        json!({
            "path": cost.path,
            "line": place.map(|place| place.line),
            "column": place.map(|place| place.column),
            "each": cost.each,
            "times": cost.times,
            "total": cost.total(),
        })
    };
    let of_releases = |costs: &Costs| {
        let releases: Vec<String> = costs.releases.iter().map(ToString::to_string).collect();
        let expressions: Vec<_> = costs.expressions.iter().map(expression).collect();
        json!({ "releases": releases, "expressions": expressions })
    };
    verdict.report.costs.iter().map(of_releases).collect()
}

/// The hundreds of the codes of advice.
const ADVICE: u16 = 33;
/// The maximum number of missing definitions that are named.
const NAMED: usize = 10;

#[derive(Default)]
struct Counts {
    definitions: usize,
    accepted: usize,
    errors: usize,
    unread: bool,
    /// Edits that were made or shown, and the files with edits.
    edits: usize,
    edited: usize,
}

/// The output, in the order of the inputs.
struct Run<'r> {
    args: &'r CheckArgs,
    releases: Releases,
    ui: &'r mut Ui,
    /// Findings below this level are left out.
    least: Level,
    /// The names of the definitions, if others are replaced.
    seen: BTreeSet<String>,
    /// Where each name was first found.
    names: BTreeMap<String, String>,
    claims: Claims,
    counts: Counts,
    writer: Arc<Stage>,
}

impl Run<'_> {
    fn finding(&mut self, finding: &Finding) {
        self.counts.errors += usize::from(finding.kind() == NoteKind::Error);
        self.ui.finding(finding);
    }

    /// Shows a finding, unless it is filtered.
    fn shown(&mut self, finding: &Finding) {
        if self.ui.filter().levels().of(finding.code) >= self.least {
            self.finding(finding);
        }
    }

    /// Writes the result, and shows the findings.
    ///
    /// # Errors
    /// Standard output cannot be written.
    fn file(&mut self, mut result: FileResult, input: &Input, gathered: &Gathered) -> Result<(), Fatal> {
        self.counts.unread |= result.unreadable;
        if let Some(fixed) = result.fixed.take() {
            let edits = fixed.edits;
            match self.write(&fixed, input, gathered)? {
                None => {
                    self.counts.edits += edits;
                    self.counts.edited += usize::from(edits > 0);
                }
                Some(why) => {
                    self.counts.errors += 1;
                    result.events = fixed.before;
                    result.events.push(Event::Finding(fix::not_fixed(&input.name(), &why)));
                }
            }
        }
        for event in result.events {
            match event {
                Event::Finding(finding) => self.finding(&finding),
                Event::Verdict(verdict) => self.verdict(verdict),
            }
        }
        Ok(())
    }

    /// Writes the edited file, or shows the edits. Returns why it is not written.
    fn write(&self, fixed: &Fixed, input: &Input, gathered: &Gathered) -> Result<Option<String>, Fatal> {
        if let Some(diff) = &fixed.diff {
            print(diff.as_bytes())?;
            return Ok(None);
        }
        if input.source == Source::Stdin {
            print(&fixed.new)?;
            return Ok(None);
        }
        if let Some(why) = in_place::is_outside(input, gathered) {
            return Ok(Some(why.to_owned()));
        }
        Ok(in_place::edit(&self.writer, input, &fixed.old, &fixed.new).err())
    }

    fn verdict(&mut self, verdict: Verdict) {
        let report = &verdict.report;
        self.counts.definitions += 1;
        self.counts.accepted += usize::from(report.is_accepted());
        if !report.is_accepted() || self.releases.is_range() || self.args.verbose {
            self.ui.verdict(&format!("{}: {}", verdict.label(), verdict.text));
        }
        if self.releases.is_range() {
            let each = report.answers.iter();
            let releases = each.map(|answer| (answer.release.to_string(), [answer.errors, answer.warnings]));
            self.ui.answers(&Answers { name: verdict.label().to_owned(), releases: releases.collect() });
        }
        let answers: serde_json::Map<_, _> = report
            .answers
            .iter()
            .map(|answer| {
                let value =
                    json!({ "accepted": answer.accepts(), "errors": answer.errors, "warnings": answer.warnings });
                (answer.release.to_string(), value)
            })
            .collect();
        self.ui.json(&json!({
            "resource": report.name,
            "input": &*verdict.input,
            "line": verdict.place.map(|place| place.line),
            "column": verdict.place.map(|place| place.column),
            "replaces": report.replaces,
            "verdict": verdict.text,
            "oldest": report.oldest().map(|release| release.to_string()),
            "releases": answers,
            "costs": costs(&verdict),
        }));
        let Verdict { mut again, in_use, mut report, .. } = verdict;
        if !report.name.is_empty() {
            if let Some(place) = self.names.get(&report.name) {
                again.detail = format!("{} is already defined in {place}", report.name);
                if self.ui.filter().levels().of(again.code) >= self.least {
                    self.finding(&again);
                }
            } else {
                if let Some(claim) = report.claim.take().filter(|_| report.is_accepted()) {
                    self.claims.add(claim, report.name.clone(), *in_use);
                }
                self.names.insert(report.name.clone(), again.location());
            }
        }
        if !self.args.against.is_empty() {
            self.seen.insert(report.name);
        }
    }

    /// Reports the names that definitions of a group claim and do not get.
    fn names_in_use(&mut self) {
        for finding in std::mem::take(&mut self.claims).findings() {
            self.shown(&finding);
        }
    }

    /// Prints one line about all definitions.
    fn summary(&mut self, against: &Definitions) {
        let gone: Vec<&str> = against.names().filter(|name| !self.seen.contains(*name)).collect();
        if !gone.is_empty() {
            let more = match gone.len().saturating_sub(NAMED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let names = gone[..gone.len().min(NAMED)].join(", ");
            self.ui.say(&format!("Not among the inputs, but in --against: {names}{more}"));
        }
        let Counts { definitions, accepted, edits, edited, .. } = self.counts;
        if definitions == 0 {
            return;
        }
        if edits > 0 {
            let of = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
            let (edits, files) = (of(edits, "edit"), of(edited, "file"));
            let end = if self.args.diff { "shown; nothing is written" } else { "made" };
            self.ui.say(&format!("{edits} in {files} {end}."));
        }
        let s = if definitions == 1 { "" } else { "s" };
        let refused = definitions - accepted;
        let rest = match (refused, self.releases.is_range()) {
            (0, _) => "none is refused".to_owned(),
            (1, false) => "1 is refused".to_owned(),
            (n, false) => format!("{n} are refused"),
            (1, true) => "1 is refused by at least one of them".to_owned(),
            (n, true) => format!("{n} are refused by at least one of them"),
        };
        let text =
            format!("{definitions} CustomResourceDefinition{s} checked for Kubernetes {}: {rest}.", self.releases);
        self.ui.verdict(&text);
    }
}
