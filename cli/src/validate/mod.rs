//! `kubeshape validate`.
//!
//! [`kinds`] prepares what the schemas say of a kind when the first object of it comes, [`worker`] judges the objects
//! of a file, [`releases`] joins what several releases say, [`policies`] has the policies of `--policies`, [`stored`]
//! prints objects as they are stored. What a server does with an object is in `kubeshape-validate`.

mod kinds;
pub(crate) mod live;
mod policies;
mod releases;
mod schemas;
mod sops;
mod stored;
pub(crate) mod texts;
mod worker;

use crate::args::{OutputFormat, Printed, ValidateArgs, When};
use crate::convert::{jobs, run_in_order};
use crate::error::Fatal;
use crate::input::{Filter, Input, check_once, gather};
use crate::report::{self, Setup, Ui};
use kinds::Kinds;
use kubeshape_input::{Code, Finding};
use kubeshape_lifecycle::Version;
use kubeshape_lifecycle::warn::Cluster;
use kubeshape_registry::policy::{ServedKinds, is_policy};
use kubeshape_registry::{Location, Release};
use kubeshape_schema::{Bump, NoteKind};
use kubeshape_smd::Value;
use policies::Policies;
use schemas::Schemas;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::mem::ManuallyDrop;
use std::path::PathBuf;
use std::sync::Arc;
use worker::{Context, Event, FileResult, Identity, Kinded, Object, Verdict, Worker};

/// The number of files in flight per worker. Findings of a file are small, and while one worker reads the definition of
/// a kind, which takes as long as hundreds of objects, the others continue.
const WINDOW: usize = 512;
/// The maximum number of kinds that the summary names.
const KINDS_SHOWN: usize = 10;

/// Runs the command. Returns whether every object is accepted.
///
/// # Errors
/// The command line is wrong, or something cannot be read.
pub(crate) fn run(args: &ValidateArgs, setup: &Setup) -> Result<bool, Fatal> {
    let mut ui =
        Ui::new(setup.color, When::Auto, args.quiet, args.verbose).with_levels(setup.levels(&args.levels)).with_notes();
    if args.print.is_none() {
        ui = ui.on_output(setup.color);
    }
    let mut run = Run {
        args,
        ui: ui.reporting(args.report.formats(args.output_format)),
        counts: Counts::default(),
        printed: false,
        told: BTreeSet::new(),
    };
    let filter = Filter::new(&args.walk)?;
    let threads = jobs(args.jobs);
    let mut paths = args.filenames.and(&args.objects);
    if paths.is_empty() {
        paths.push(PathBuf::from("-"));
    }
    let admission = &args.admission;
    check_once(args.schemas.iter().chain(&args.old).chain(&admission.policies).chain(&admission.params).chain(&paths))?;
    let has_policies = !admission.policies.is_empty();
    let mut first = run.schemas(&filter, threads, args.kubernetes.unwrap_or_default().last())?;
    if args.kubernetes.is_none() {
        first = first.in_own_release();
    }
    let of_cluster = first.server_release();
    let asked = args.kubernetes.or_else(|| has_policies.then(|| first.release().into()));
    // The findings of the newest release come first.
    let releases: Vec<Option<Release>> =
        asked.map_or_else(|| vec![None], |asked| asked.iter().rev().map(Some).collect());
    let mut schemas = vec![first];
    for release in releases.iter().skip(1) {
        let other = schemas.first().map(|first| first.in_release(release.unwrap_or_default()));
        schemas.extend(other);
    }
    for (at, schemas) in schemas.iter_mut().enumerate() {
        let unread = schemas.settle(|finding| {
            if at == 0 {
                run.finding(finding);
            }
        });
        run.counts.unread |= unread;
    }
    // Prepared data is never freed. The end of the process frees everything at once.
    let old = ManuallyDrop::new(run.old(&filter, threads)?);
    let objects = ManuallyDrop::new(run.policies(&filter, threads)?);
    let arena = ManuallyDrop::new(Bump::new());
    let mut contexts = ManuallyDrop::new(Vec::new());
    for (at, (schemas, release)) in schemas.into_iter().zip(&releases).enumerate() {
        let rules = schemas.release();
        // Policies are about built-in kinds, and some are themselves such objects.
        let kinds = Kinds::new(schemas, *release);
        let mut policies = None;
        if has_policies {
            let served = ServedKinds::new(&kinds);
            let (read, findings) = Policies::new(admission, &objects, &served, rules, &arena);
            if at == 0 {
                for finding in &findings {
                    run.finding(finding);
                }
            }
            policies = Some(read);
        }
        contexts.push(Context {
            release: rules,
            kinds,
            policies,
            old: &old,
            cluster: Cluster {
                release: release.or(of_cluster).map(Version::from),
                gates: args.gates.all(),
                ..Cluster::default()
            },
            field_validation: args.field_validation,
            missing_schemas: args.missing_schemas,
            print: args.print == Some(Printed::Stored) && at == 0,
            names: run.names(),
            explain: !run.ui.has_only(OutputFormat::Short),
            notes: args.verbose || args.output_format != OutputFormat::Human,
        });
    }

    let gathered = gather(&paths, None, &filter);
    for (path, why) in &gathered.unreadable {
        run.counts.unread = true;
        run.finding(&Finding::new(Code::Unreadable, why.as_str()).in_input(path.to_string_lossy()));
    }
    for finding in &gathered.findings {
        run.finding(finding);
    }
    if let Some(folder) = gathered.empty_folder() {
        let detail = "no object was found in the folder";
        run.finding(&Finding::new(Code::Nothing, detail).in_input(folder.to_string_lossy()));
    }
    let inputs = &gathered.inputs;
    let worker = || {
        let mut worker = Worker::new(&contexts);
        move |number: usize| worker.file(&inputs[number])
    };
    run.ui.expect_all(inputs.len(), "files");
    run_in_order(threads, WINDOW, inputs.len(), worker, |done| {
        let Some((number, result)) = done else { return Ok(()) };
        let Some(result) = result else { return Err(Fatal::Internal { input: inputs[number].name() }) };
        run.file(&inputs[number], result)?;
        run.ui.progress(number as u64 + 1);
        Ok(())
    })?;
    let newest = contexts.first();
    let release = newest.map(|newest| newest.release).unwrap_or_default();
    run.summary(release, newest.and_then(|newest| newest.kinds.built_in_release()), of_cluster);
    let Run { counts, mut ui, .. } = run;
    let is_denied = ui.end(None, "", "");
    ui.written()?;
    if counts.unread {
        return Err(Fatal::Unread);
    }
    Ok(counts.errors == 0 && !is_denied)
}

#[derive(Default)]
struct Counts {
    accepted: usize,
    refused: usize,
    unknown: usize,
    definitions: usize,
    /// Objects of built-in kinds.
    built_in: Documented,
    /// Objects of which only metadata and types were judged.
    typed: Documented,
    errors: usize,
    unread: bool,
}

/// Objects of kinds that documents define.
#[derive(Default)]
struct Documented {
    objects: usize,
    kinds: BTreeSet<String>,
}

impl Documented {
    fn add(&mut self, kind: String, times: usize) {
        self.objects += times;
        self.kinds.insert(kind);
    }

    /// Returns `1 Secret`, or `3 objects: Deployment, Secret`.
    fn names(&self) -> String {
        let kinds: Vec<&str> = self.kinds.iter().take(KINDS_SHOWN).map(String::as_str).collect();
        let more = if self.kinds.len() > KINDS_SHOWN { ", …" } else { "" };
        let objects = if kinds.len() == 1 { "" } else { "objects: " };
        format!("{} {objects}{}{more}", self.objects, kinds.join(", "))
    }
}

/// Reports results in the order of the inputs.
struct Run<'r> {
    args: &'r ValidateArgs,
    ui: Ui,
    counts: Counts,
    /// Whether an object was printed.
    printed: bool,
    /// The files of `--schemas` for which all findings from reading them were reported, by number.
    told: BTreeSet<usize>,
}

impl Run<'_> {
    fn finding(&mut self, finding: &Finding) {
        self.counts.errors += usize::from(finding.kind() == NoteKind::Error);
        self.ui.finding(finding);
    }

    /// Reads the kinds of `--schemas`, for a release. Reports what is wrong with them, as far as it is known before the
    /// objects are.
    fn schemas(&mut self, filter: &Filter, threads: usize, release: Release) -> Result<Schemas, Fatal> {
        let has_policies = !self.args.admission.policies.is_empty();
        let mut schemas = Schemas::new(release, has_policies);
        for path in &self.args.schemas {
            let before = self.counts.errors;
            let (is_used, unread) = schemas.add(path, filter, threads, |finding| self.finding(finding))?;
            self.counts.unread |= unread;
            if !is_used && self.counts.errors == before {
                let detail = "neither a CustomResourceDefinition nor an OpenAPI document was found in it";
                self.finding(&Finding::new(Code::Nothing, detail).in_input(path.to_string_lossy()));
            }
        }
        Ok(schemas)
    }

    /// Reads the objects of `--policies` and `--params`, in order.
    fn policies(&mut self, filter: &Filter, threads: usize) -> Result<Vec<Location>, Fatal> {
        let mut out = Vec::new();
        let args = self.args;
        let admission = &args.admission;
        for path in &admission.policies {
            let found = self.objects(std::slice::from_ref(path), filter, threads)?;
            if !found.iter().any(|location| is_policy(location.node())) {
                let detail = "no admission policy or binding was found in it";
                self.finding(&Finding::new(Code::Nothing, detail).in_input(path.to_string_lossy()));
            }
            out.extend(found);
        }
        out.extend(self.objects(&admission.params, filter, threads)?);
        Ok(out)
    }

    /// Reads the objects of files and folders.
    fn objects(&mut self, paths: &[PathBuf], filter: &Filter, threads: usize) -> Result<Vec<Location>, Fatal> {
        let read = |input: &Input, bytes: &[u8], limits| kubeshape_input::read(input.name(), bytes, limits);
        let (inputs, unread) = schemas::each(paths, filter, threads, |finding| self.finding(finding), read)?;
        self.counts.unread |= unread;
        let mut out = Vec::new();
        for (_, input) in inputs {
            input.findings.iter().for_each(|finding| self.finding(finding));
            for document in input.documents.into_iter().map(Arc::new) {
                out.extend(
                    document.objects().into_iter().map(|node| Location::new(Arc::clone(&document), node.index())),
                );
            }
        }
        Ok(out)
    }

    /// Reads the objects of `--old`. If several have the same name, the first counts.
    fn old(&mut self, filter: &Filter, threads: usize) -> Result<BTreeMap<Identity, Location>, Fatal> {
        let mut out = BTreeMap::new();
        if self.args.old.is_empty() {
            return Ok(out);
        }
        let args = self.args;
        for location in self.objects(&args.old, filter, threads)? {
            let arena = Bump::new();
            let Some(identity) = worker::identity(Value::from_node(location.node(), &arena)) else { continue };
            out.entry(identity).or_insert(location);
        }
        Ok(out)
    }

    /// Returns whether the names of all objects are reported.
    fn names(&self) -> bool {
        self.ui.has_format(OutputFormat::Junit) || (self.args.verbose && self.ui.has_format(OutputFormat::Human))
    }

    fn file(&mut self, input: &Input, result: FileResult) -> Result<(), Fatal> {
        self.counts.unread |= result.unreadable;
        for event in result.events {
            match event {
                Event::Finding(finding) => self.finding(&finding),
                Event::Schemas(waiting) => self.read(waiting.read()),
                Event::Objects(Object { name, verdict, documented }, times) => {
                    match documented {
                        Some(Kinded { kind, has_rules: true }) => self.counts.built_in.add(kind, times),
                        Some(Kinded { kind, has_rules: false }) => self.counts.typed.add(kind, times),
                        None => {}
                    }
                    self.object(input, &name, verdict, times)?;
                }
            }
        }
        Ok(())
    }

    /// Reports what was found when the files of a kind were read, once for each file.
    fn read(&mut self, read: &schemas::Read) {
        self.counts.unread |= read.unread;
        let new: Vec<&(usize, Finding)> =
            read.findings.iter().filter(|(number, _)| !self.told.contains(number)).collect();
        for (number, finding) in new {
            self.told.insert(*number);
            self.finding(finding);
        }
    }

    /// Reports an object, and counts it `times` times.
    fn object(&mut self, input: &Input, name: &str, verdict: Verdict, times: usize) -> Result<(), Fatal> {
        let word = match verdict {
            Verdict::Accepted(bytes) => {
                self.counts.accepted += times;
                if !bytes.is_empty() {
                    let begin = if self.printed { "---\n" } else { "" };
                    self.printed = true;
                    report::print(&[begin.as_bytes(), &bytes].concat())?;
                }
                "accepted"
            }
            Verdict::Refused => {
                self.counts.refused += times;
                "refused"
            }
            Verdict::Unknown => {
                self.counts.unknown += times;
                "not judged"
            }
            Verdict::Definition => {
                self.counts.definitions += times;
                return Ok(());
            }
        };
        if self.names() {
            let input = input.name();
            self.ui.case(&input, name);
            if self.args.verbose {
                self.ui.say(&format!("{input}: {name}: {word}"));
            }
        }
        Ok(())
    }

    /// Prints a few lines about all objects, which were judged by the rules of `rules`. The built-in kinds are those of
    /// `release`, or of a document.
    fn summary(&mut self, rules: Release, release: Option<Release>, of_cluster: Option<Release>) {
        let Counts { accepted, refused, unknown, definitions, .. } = self.counts;
        let all = accepted + refused + unknown;
        let s = if all == 1 { "" } else { "s" };
        let range = self.args.kubernetes.filter(|releases| releases.is_range());
        let by = range.map_or_else(|| rules.to_string(), |releases| releases.to_string());
        let some = if range.is_some() && refused > 0 { " by one or more" } else { "" };
        let mut text = format!("{all} object{s}: {accepted} accepted by Kubernetes {by}, {refused} refused{some}");
        if unknown > 0 {
            let _ = write!(text, ", {unknown} of unknown kinds");
        }
        if definitions > 0 {
            let s = if definitions == 1 { "" } else { "s" };
            let _ = write!(text, "; {definitions} CustomResourceDefinition{s} for `kubeshape check`");
        }
        self.ui.verdict(&text);
        let built_in = &self.counts.built_in;
        if built_in.objects > 0 {
            let mut text =
                format!("Built-in kinds ({}): metadata, types, defaults and rules were checked", built_in.names());
            match (release.filter(|_| self.args.kubernetes.is_none()), of_cluster) {
                (_, Some(release)) if self.args.kubernetes.is_none() => {
                    let _ = write!(text, " as by Kubernetes {release}, the release of the cluster in `--schemas`.");
                }
                (Some(release), _) => {
                    let _ = write!(text, " as by Kubernetes {release}; `--kubernetes` chooses another release.");
                }
                _ => text.push('.'),
            }
            self.ui.say(&text);
        }
        let typed = &self.counts.typed;
        if typed.objects > 0 {
            let printed = if self.args.print.is_some() { " They are not printed." } else { "" };
            let names = typed.names();
            self.ui.say(&format!("By their types only ({names}): rules of these kinds are not known.{printed}"));
        }
    }
}
