//! Commits in the order of the inputs: decides which of several CustomResourceDefinitions with the same name is used,
//! and shows findings. Results wait in temporary files until all inputs are read.

use super::aggregate::{self, Answer, Published};
use super::batch;
use super::engine::{Engine, Fragments, Merged};
use super::plan::{Destination, Plan, Target};
use super::worker::{Context, Converted, Event, FileResult, Notes, discard};
use crate::args::{Duplicates, Shape};
use crate::error::Fatal;
use crate::output::place::{self, Failed, Options, Ready};
use crate::output::{Output, Stage, Staged};
use crate::report::{Claims, Report, Tally, Totals, Ui, is_finding, write_line};
use kubeshape_discovery::CustomResource;
use kubeshape_input::{Code, Document, Finding, NoteKind};
use std::collections::BTreeMap;
use std::ops::Range;

/// Commits files in order.
pub(crate) struct Commit<'c> {
    plan: &'c Plan,
    stage: &'c Stage,
    duplicates: Duplicates,
    report: Option<Report>,
    resources: Resources,
    /// Parts of merged documents, by name of the CustomResourceDefinition.
    parts: BTreeMap<String, Fragments>,
    /// Documents, in order.
    documents: Vec<Document>,
    /// Without an output folder: the result, its name, and the index of its resource.
    held: Option<(Vec<u8>, String, usize)>,
    /// Whether `--layout` names results, which may then have the same name.
    has_layout: bool,
    /// With `--layout`, the names of results: in lower case, with their owner and the index of the resource.
    named: BTreeMap<String, (String, usize)>,
    /// Results of all inputs, with their names.
    merged: Vec<(Staged, String)>,
    /// The failed inputs so far.
    failed: Failed,
    options: Options,
    pub(crate) totals: Totals,
}

/// The CustomResourceDefinitions that are used so far.
#[derive(Default)]
struct Resources {
    all: Vec<Resource>,
    /// By `metadata.name` and by `PLURAL.GROUP`.
    by_name: BTreeMap<String, usize>,
}

struct Resource {
    name: String,
    /// The names that it claims; `None` if another definition replaces it.
    claim: Option<CustomResource>,
    /// A finding at the location of its name, without a message.
    about: Finding,
    /// Its results, with their names.
    results: Vec<(Staged, String)>,
    /// Whether it has errors.
    failed: bool,
    /// Its losses and lines in the report, because a later one may replace it.
    tally: Tally,
    versions: usize,
    lines: Option<Range<u64>>,
    /// Its losses to show.
    losses: Vec<Finding>,
}

impl<'c> Commit<'c> {
    /// Begins a run.
    pub(crate) fn new(
        plan: &'c Plan,
        stage: &'c Stage,
        duplicates: Duplicates,
        report: Option<Report>,
        options: Options,
    ) -> Commit<'c> {
        Commit {
            plan,
            stage,
            duplicates,
            report,
            resources: Resources::default(),
            parts: BTreeMap::new(),
            documents: Vec::new(),
            held: None,
            has_layout: plan.has_layout,
            named: BTreeMap::new(),
            merged: Vec::new(),
            failed: Failed::default(),
            options,
            totals: Totals::default(),
        }
    }

    /// Commits one file.
    ///
    /// # Errors
    /// A file cannot be written, or there are several results and no output folder.
    pub(crate) fn file(&mut self, result: FileResult, ui: &mut Ui) -> Result<(), Fatal> {
        self.totals.files += 1;
        self.totals.bytes += result.bytes;
        self.totals.documents += result.documents;
        self.totals.skipped += result.skipped;
        self.totals.failed += usize::from(result.failed);
        self.totals.unreadable += usize::from(result.unreadable);
        for event in result.events {
            match event {
                Event::Notes(notes) => {
                    self.notes(&notes, ui)?;
                }
                Event::Converted(converted) => self.converted(*converted, ui)?,
                Event::Document(document) => {
                    self.totals.openapi += 1;
                    self.documents.push(*document);
                }
            }
        }
        result.fatal.map_or(Ok(()), Err)
    }

    /// Shows findings, and appends findings and losses to the report. Returns their lines.
    fn notes(&mut self, notes: &Notes, ui: &mut Ui) -> Result<Option<Range<u64>>, Fatal> {
        self.totals.tally.add(&notes.tally);
        for finding in notes.findings.iter().chain(&notes.losses) {
            self.show(finding, ui);
        }
        self.report.as_mut().map(|report| report.append(&notes.report)).transpose()
    }

    /// Shows a finding.
    fn show(&mut self, finding: &Finding, ui: &mut Ui) {
        if finding.is_error() {
            self.failed.add(finding);
        }
        ui.finding(finding);
    }

    /// Reports a finding of the commit itself, or of the search for inputs.
    ///
    /// # Errors
    /// The report cannot be written.
    pub(crate) fn finding(&mut self, finding: &Finding, ui: &mut Ui) -> Result<(), Fatal> {
        if !ui.filter().counts(finding.code) {
            return Ok(());
        }
        self.totals.tally.count(finding.code);
        if let Some(report) = &mut self.report {
            let mut line = Vec::new();
            write_line(finding, &mut line);
            report.append(&line)?;
        }
        self.show(finding, ui);
        Ok(())
    }

    /// Reports losses that the inputs already had.
    ///
    /// # Errors
    /// The report cannot be written.
    pub(crate) fn losses(&mut self, losses: &[Finding], ui: &mut Ui) -> Result<(), Fatal> {
        let mut notes = Notes::default();
        for loss in losses.iter().filter(|loss| ui.filter().counts(loss.code)) {
            if ui.filter().wants(loss.code, notes.tally.of(loss.code)) {
                notes.losses.push(loss.clone());
            }
            notes.tally.count(loss.code);
            if self.report.is_some() {
                write_line(loss, &mut notes.report);
            }
        }
        self.notes(&notes, ui).map(drop)
    }

    fn converted(&mut self, mut converted: Converted, ui: &mut Ui) -> Result<(), Fatal> {
        let mut earlier: Vec<usize> = [&converted.name, &converted.resource]
            .into_iter()
            .filter_map(|name| self.resources.by_name.get(name).copied())
            .collect();
        earlier.sort_unstable();
        earlier.dedup();
        if let Some(first) = earlier.first() {
            let first = &self.resources.all[*first];
            let place = first.about.location();
            let name = &first.name;
            let here = converted.about.location();
            let (code, detail) = match self.duplicates {
                Duplicates::First => (Code::DuplicateCrd, format!("{name} ignored; using {place}")),
                Duplicates::Last => (Code::DuplicateCrd, format!("{name} in {place} ignored; using {here}")),
                Duplicates::Error => (Code::DuplicateCrdError, format!("{name} is already defined in {place}")),
            };
            let mut finding = converted.about.clone();
            (finding.code, finding.detail) = (code, detail);
            self.finding(&finding, ui)?;
            if self.duplicates != Duplicates::Last {
                return self.refuse(converted, ui);
            }
            for number in earlier {
                self.retract(number);
            }
        }
        let tally = converted.notes.tally.clone();
        // A later one may replace it, and then its losses are void.
        let is_final = self.duplicates != Duplicates::Last;
        let losses = if is_final { Vec::new() } else { std::mem::take(&mut converted.notes.losses) };
        let lines = self.notes(&converted.notes, ui)?;
        self.accept(converted, tally, lines, losses, ui)
    }

    /// Drops a CustomResourceDefinition that is not used. Only its findings are reported.
    fn refuse(&mut self, mut converted: Converted, ui: &mut Ui) -> Result<(), Fatal> {
        converted.results.drain(..).for_each(|result| discard(self.stage, result));
        let mut notes = converted.notes;
        let lines = notes.report.split_inclusive(|byte| *byte == b'\n').filter(|line| is_finding(line));
        notes.report = lines.flatten().copied().collect();
        notes.losses.clear();
        let all = notes.tally.clone();
        notes.tally.remove_losses(&all);
        self.notes(&notes, ui).map(|_| ())
    }

    /// Removes a CustomResourceDefinition that a later one replaces.
    fn retract(&mut self, number: usize) {
        let resource = &mut self.resources.all[number];
        self.totals.tally.remove_losses(&resource.tally);
        resource.losses.clear();
        resource.claim = None;
        self.totals.resources -= 1;
        self.totals.versions -= resource.versions;
        if let (Some(report), Some(lines)) = (&mut self.report, resource.lines.take()) {
            report.void(lines);
        }
        resource.results.drain(..).for_each(|(staged, _)| self.stage.discard(staged));
        self.parts.remove(&resource.name);
        self.held.take_if(|(_, _, owner)| *owner == number);
        self.named.retain(|_, (_, owner)| *owner != number);
        self.resources.by_name.retain(|_, owner| *owner != number);
    }

    fn accept(
        &mut self,
        converted: Converted,
        tally: Tally,
        lines: Option<Range<u64>>,
        losses: Vec<Finding>,
        ui: &mut Ui,
    ) -> Result<(), Fatal> {
        let number = self.resources.all.len();
        let mut results = Vec::new();
        self.totals.resources += 1;
        self.totals.versions += converted.versions;
        for output in converted.results {
            if let Some(detail) = self.is_taken(&output, &converted.name, number) {
                let mut finding = converted.about.clone();
                (finding.code, finding.detail) = (Code::ResultName, detail);
                self.finding(&finding, ui)?;
                discard(self.stage, output);
                continue;
            }
            match output {
                Output::Staged(staged, name) => results.push((staged, name)),
                Output::Held(bytes, name) => self.hold(bytes, name, &converted.name, number)?,
            }
        }
        for name in [&converted.name, &converted.resource] {
            self.resources.by_name.insert(name.clone(), number);
        }
        // One without versions has errors, and is part of nothing.
        if converted.versions > 0 && self.plan.targets.iter().any(|target| target.has_parts()) {
            self.parts.insert(converted.name.clone(), converted.fragments);
        }
        self.resources.all.push(Resource {
            name: converted.name,
            claim: Some(converted.claim),
            about: converted.about,
            results,
            failed: tally.get(NoteKind::Error) > 0,
            tally,
            versions: converted.versions,
            lines,
            losses,
        });
        Ok(())
    }

    /// With `--layout`, returns whether another result has the name of this one, and its owner.
    fn is_taken(&mut self, output: &Output, of: &str, owner: usize) -> Option<String> {
        let Output::Staged(_, name) = output else { return None };
        if !self.has_layout {
            return None;
        }
        // Names that differ only in case are one file on many machines.
        let key = name.to_lowercase();
        if let Some((first, _)) = self.named.get(&key) {
            return Some(format!("{name} is the file of {first} already"));
        }
        let of = if of.is_empty() { "a document" } else { of };
        self.named.insert(key, (of.to_owned(), owner));
        None
    }

    /// Adds a result of all inputs.
    fn output(&mut self, output: Output) -> Result<(), Fatal> {
        match output {
            Output::Staged(staged, name) => self.merged.push((staged, name)),
            Output::Held(bytes, name) => self.hold(bytes, name, "", usize::MAX)?,
        }
        Ok(())
    }

    /// Keeps the only result, if there is no output folder.
    fn hold(&mut self, bytes: Vec<u8>, name: String, of: &str, owner: usize) -> Result<(), Fatal> {
        let label = if of.is_empty() { name } else { format!("{of} {name}") };
        if let Some((_, first, _)) = &self.held {
            return Err(Fatal::Usage(format!(
                "there is more than one result ({first}, {label} …): give a folder with `-o`"
            )));
        }
        self.held = Some((bytes, label, owner));
        Ok(())
    }

    /// Reports an input that cannot be read or has nothing to convert.
    ///
    /// # Errors
    /// The report cannot be written.
    pub(crate) fn nothing(&mut self, input: &str, code: Code, detail: &str, ui: &mut Ui) -> Result<(), Fatal> {
        self.totals.failed += 1;
        self.totals.unreadable += usize::from(code == Code::Unreadable);
        self.finding(&Finding::new(code, detail).in_input(input), ui)
    }

    /// Computes the results of all inputs on `jobs` threads, and puts them in place.
    ///
    /// # Errors
    /// A file cannot be written, or there are several results and no output folder.
    pub(crate) fn finish(mut self, context: &Context<'_>, jobs: usize, ui: &mut Ui) -> Result<Totals, Fatal> {
        let engine = context.engine;
        self.resources.all.iter().flat_map(|resource| &resource.losses).for_each(|loss| ui.finding(loss));
        self.names_in_use(ui)?;
        let (mut parts, documents) = (std::mem::take(&mut self.parts), std::mem::take(&mut self.documents));
        if engine.has_onto() && !documents.is_empty() {
            return Err(Fatal::Usage(
                "--onto merges CustomResourceDefinitions as the API server does, and documents are among the inputs: \
                 leave it out to get the aggregate of all of them"
                    .to_owned(),
            ));
        }
        let is_of_all = |target: &Target| !documents.is_empty() || (target.published && !parts.is_empty());
        let (of_all, alone): (Vec<Target>, Vec<Target>) =
            self.plan.targets.iter().partition(|target| is_of_all(target));
        let alone: Vec<Target> = alone.into_iter().filter(|target| target.has_parts() && !parts.is_empty()).collect();
        if !of_all.is_empty() {
            let published = self.published(engine, &of_all, &alone, &mut parts, ui)?;
            let answers = aggregate::run(context, jobs, documents, published, &of_all)?;
            for answer in answers {
                match answer {
                    Answer::Notes(notes, failed) => {
                        self.totals.failed += usize::from(failed);
                        self.notes(&notes, ui)?;
                    }
                    Answer::Result(output) => match self.is_taken(&output, "", usize::MAX) {
                        None => self.output(output)?,
                        Some(detail) => {
                            self.finding(&Finding::new(Code::ResultName, detail), ui)?;
                            discard(self.stage, output);
                        }
                    },
                    Answer::Finding(finding) => self.merged(*finding, ui)?,
                }
            }
        }
        let (stage, plan) = (self.stage, self.plan);
        let write = |name, bytes| written(stage, plan, name, bytes);
        let pool = if alone.is_empty() { None } else { Some(batch::pool(jobs).map_err(Fatal::Threads)?) };
        for (target, pool) in alone.iter().zip(pool.iter().cycle()) {
            engine.merge(*target, &mut parts, (pool, &write), |merged| match merged {
                Merged::Document(name, bytes) => self.output(write(name, bytes)?),
                Merged::Output(output) => self.output(output),
                Merged::V2(name, merge) => {
                    let output = match &self.plan.destination {
                        Destination::Folder(folder) => {
                            let target = folder.join(&name);
                            Output::Staged(
                                self.stage.write_pieces(target, |sink| merge.finish_to(engine.base(), sink))?,
                                name,
                            )
                        }
                        _ => Output::Held(merge.finish(engine.base()), name),
                    };
                    self.output(output)
                }
                Merged::Finding(finding) => self.merged(*finding, ui),
            })?;
        }
        // No other result lacks a kind that does not exist.
        let failed = self.failed.clone();
        for missing in engine.settings().kinds.missing() {
            self.finding(&Finding::new(Code::NoSuchKind, missing.to_string()), ui)?;
        }
        self.place(&failed, ui)?;
        Ok(self.totals)
    }

    /// Reports the names that definitions of a group claim and do not get.
    fn names_in_use(&mut self, ui: &mut Ui) -> Result<(), Fatal> {
        let mut claims = Claims::default();
        for resource in &mut self.resources.all {
            if let Some(claim) = resource.claim.take() {
                claims.add(claim, resource.name.clone(), resource.about.clone());
            }
        }
        claims.findings().iter().try_for_each(|finding| self.finding(finding, ui))
    }

    /// Puts all results in place.
    fn place(&mut self, failed: &Failed, ui: &mut Ui) -> Result<(), Fatal> {
        let mut ready = Vec::new();
        for resource in &mut self.resources.all {
            let is_partial = resource.failed;
            ready.extend(resource.results.drain(..).map(|(staged, name)| Ready { staged, name, is_partial }));
        }
        let is_partial = !failed.is_empty();
        ready.extend(self.merged.drain(..).map(|(staged, name)| Ready { staged, name, is_partial }));
        let held = self.held.take();
        let mut printed = None;
        match (&self.plan.destination, held) {
            (Destination::File(path), Some((bytes, ..))) => {
                let staged = self.stage.write_named(path, &bytes)?;
                let name = staged.target.file_name().unwrap_or_default().to_string_lossy().into_owned();
                ready.push(Ready { staged, name, is_partial });
            }
            (_, Some((bytes, ..))) => printed = Some(bytes),
            (_, None) => {}
        }
        let has_errors = self.totals.tally.get(NoteKind::Error) > 0;
        let placed = place::place(ready, self.plan.target(), self.stage, self.options, has_errors)?;
        self.totals.results += if self.options.dry_run { 0 } else { placed.written };
        self.totals.pruned = placed.deleted;
        if let Some(finding) = &placed.damaged {
            self.finding(finding, ui)?;
        }
        if let Some(report) = self.report.take() {
            report.finish(self.stage)?;
        }
        placed.tell(failed, ui);
        crate::report::print(crate::report::clean::lines(&placed.plan).as_bytes())?;
        match printed {
            Some(_) if is_partial && !self.options.keep_going => place::tell_nothing_printed(failed, ui),
            Some(bytes) => {
                self.totals.results += 1;
                crate::report::print(&bytes)?;
            }
            None => {}
        }
        Ok(())
    }

    /// Returns the documents that are published for the CustomResourceDefinitions, if results of all inputs need them.
    fn published(
        &mut self,
        engine: &Engine,
        of_all: &[Target],
        alone: &[Target],
        parts: &mut BTreeMap<String, Fragments>,
        ui: &mut Ui,
    ) -> Result<Published, Fatal> {
        let mut published = Published { resources: self.totals.resources > 0, ..Published::default() };
        let with_parts = if parts.is_empty() { &[] } else { of_all };
        for target in with_parts.iter().filter(|target| target.has_parts()) {
            let document = if target.shape == Shape::V2 { &mut published.v2 } else { &mut published.v3 };
            if document.is_some() {
                continue;
            }
            let again = target.shape != Shape::V2 && alone.iter().any(|target| target.shape.is_v3());
            match engine.published(*target, parts, again) {
                Ok(bytes) => *document = Some(bytes),
                Err(Merged::Finding(finding)) => self.merged(*finding, ui)?,
                Err(_) => {}
            }
        }
        Ok(published)
    }

    /// Reports a finding about the CustomResourceDefinition of that name, at its location.
    fn merged(&mut self, finding: Finding, ui: &mut Ui) -> Result<(), Fatal> {
        let owner = finding.resource.as_ref().and_then(|name| self.resources.by_name.get(name));
        let finding = match owner.map(|number| &self.resources.all[*number].about) {
            None => finding,
            Some(about) => {
                let mut placed = about.clone();
                placed.code = finding.code;
                (placed.resource, placed.shape, placed.detail) = (finding.resource, finding.shape, finding.detail);
                placed
            }
        };
        self.finding(&finding, ui)
    }
}

/// Writes a result of all inputs next to its target, or keeps it if there is no output folder.
fn written(stage: &Stage, plan: &Plan, name: String, bytes: Vec<u8>) -> Result<Output, Fatal> {
    match &plan.destination {
        Destination::Folder(folder) => Ok(Output::Staged(stage.write(folder.join(&name), &bytes)?, name)),
        _ => Ok(Output::Held(bytes, name)),
    }
}
