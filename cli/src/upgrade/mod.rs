//! `kubeshape upgrade` reads definitions and writes plans. `kubeshape_diff::upgrade` decides what has to be done.

use crate::args::{UpgradeArgs, When};
use crate::definitions::Definitions;
use crate::error::Fatal;
use crate::input::{Filter, check_once, objects};
use crate::output::Stage;
use crate::output::place::{self, Options, Ready, Target};
use crate::report::{Setup, Ui};
use kubeshape_diff::upgrade::{
    Cluster, Loss, ObjectReport, Obstacle, Plan, Stricter, Unreadable, When as Happens, plan,
};
use kubeshape_input::{Code, Document, Finding, Limits};
use kubeshape_registry::{Object, print};
use kubeshape_schema::{Bump, Note, Release};
use kubeshape_smd::ToValue;
use kubeshape_structural::read::Manifest;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Runs the command. Returns whether all plans lead to the new definitions, and nothing is lost.
///
/// # Errors
/// The command line is wrong, or something cannot be read or written.
pub(crate) fn run(args: &UpgradeArgs, setup: &Setup) -> Result<bool, Fatal> {
    let ui = Ui::new(setup.color, When::Never, args.quiet, args.verbose).with_levels(setup.levels(&args.levels));
    let mut ui = ui.on_output(setup.color).reporting(args.report.formats(args.output_format));
    let sides = [&args.old, &args.new].map(PathBuf::from);
    check_once(sides.iter().chain(&args.objects))?;
    let filter = Filter::new(&args.walk)?;
    let mut errors = 0;
    let mut tell = |finding: &Finding| {
        errors += usize::from(finding.is_error());
        ui.finding(finding);
    };
    let mut read = |side: &String| Definitions::read(std::slice::from_ref(side), &filter, Limits::default(), &mut tell);
    let (old, new) = (read(&args.old)?, read(&args.new)?);
    let objects = objects(&args.objects, &filter, &mut tell)?;
    let mut by_kind: BTreeMap<(String, String), Vec<usize>> = BTreeMap::new();
    for (at, object) in objects.iter().enumerate() {
        let key = (object.gvk().group().to_owned(), object.kind().to_owned());
        by_kind.entry(key).or_default().push(at);
    }
    let of_cluster = || old.server_release().max(new.server_release());
    let release = args.kubernetes.or_else(of_cluster).unwrap_or_default();
    let mut run = Run { args, ui, errors, is_safe: true, objects, by_kind, files: Vec::new(), release };
    let pairs = run.pairs(&old, &new)?;
    for (name, was, is) in pairs {
        match (was, is) {
            (Some(old), Some(new)) => run.pair(old, new),
            // The other definition may be in an input that could not be read.
            _ if run.errors > 0 => {}
            (Some((document, manifest)), None) => run.gone(name, document, &manifest),
            (None, _) => run.ui.say(&format!("{name}: the definition is new; kubectl apply takes it")),
        }
    }
    run.end()
}

type Side<'d> = (&'d Document, Manifest<'d>);
/// A name and its definitions.
type Pair<'d> = (&'d str, Option<Side<'d>>, Option<Side<'d>>);

struct Run<'r> {
    args: &'r UpgradeArgs,
    ui: Ui,
    errors: usize,
    is_safe: bool,
    objects: Vec<Object>,
    /// Their indices, by group and kind.
    by_kind: BTreeMap<(String, String), Vec<usize>>,
    /// The files of the steps, with their names.
    files: Vec<(String, Vec<u8>)>,
    release: Release,
}

impl Run<'_> {
    /// Pairs the definitions of both sides by name. If each side has exactly one that the other lacks, they count as
    /// the same definition under another name.
    ///
    /// # Errors
    /// `--stored` is about one of several definitions.
    fn pairs<'d>(&self, old: &'d Definitions, new: &'d Definitions) -> Result<Vec<Pair<'d>>, Fatal> {
        let (was, is): (BTreeSet<&str>, BTreeSet<&str>) = (old.names().collect(), new.names().collect());
        if !self.args.stored.is_empty() && was.len() > 1 {
            let why = format!("--stored is about one definition, and {} has {}", self.args.old, was.len());
            return Err(Fatal::Usage(why));
        }
        let gone: Vec<&str> = was.difference(&is).copied().collect();
        let come: Vec<&str> = is.difference(&was).copied().collect();
        let renamed = match (gone.as_slice(), come.as_slice()) {
            ([gone], [come]) => Some((*gone, *come)),
            _ => None,
        };
        let mut out = Vec::new();
        for name in was.union(&is) {
            match renamed {
                Some((gone, come)) if *name == gone => out.push((gone, old.get(gone), new.get(come))),
                Some((_, come)) if *name == come => {}
                _ => out.push((*name, old.get(name), new.get(name))),
            }
        }
        Ok(out)
    }

    fn pair(&mut self, old: Side<'_>, new: Side<'_>) {
        let written = self.args.output.as_ref();
        let is_file = written.is_none() && self.args.new != "-" && Path::new(&self.args.new).is_file();
        let arena = Bump::new();
        let key = old.1.read(&arena).value.map(|crd| (crd.group.to_owned(), crd.names.kind.to_owned()));
        let own: Vec<usize> = key.and_then(|key| self.by_kind.get(&key).cloned()).unwrap_or_default();
        let cluster = Cluster {
            stored: self.args.stored.clone(),
            objects: own.iter().filter_map(|at| self.objects.get(*at)).map(|object| object.value().clone()).collect(),
            folder: written.map(|folder| folder.display().to_string()).unwrap_or_default(),
            new_file: if is_file { self.args.new.clone() } else { String::new() },
            release: self.release,
        };
        let plan = match plan(old.1, new.1, &cluster) {
            Ok(plan) => plan,
            Err(error) => return self.unreadable(old, new, &error),
        };
        self.is_safe &= plan.is_safe();
        let mut place = new.0.resolver().of_resource(&plan.name);
        let at = new.1.node.index();
        self.ui.compared(new.0.source().name(), &plan.name);
        for (code, detail) in told(&plan) {
            self.ui.finding(&place.finding(&Note::new(code, at, detail)));
        }
        let versions = new.1.read(&arena).value.map_or(&[][..], |crd| crd.versions);
        for loss in &plan.losses {
            let version = versions.iter().find(|version| version.name == loss.to);
            let code = match loss.when {
                Happens::Stored => Code::UpgradeLoss,
                Happens::Written => Code::UpgradeWrittenLoss,
            };
            self.ui.finding(&place.finding(&Note::new(code, version.map_or(at, |version| version.at), lost(loss))));
        }
        if let Some(first) = plan.stricter.first() {
            self.ui.finding(&place.finding(&Note::new(Code::UpgradeStricter, first.at, stricter(&plan.stricter))));
        }
        for report in &plan.objects {
            self.object(own.get(report.index).copied(), report);
        }
        self.ui.json(&serde_json::to_value(&plan).unwrap_or_default());
        if plan.steps.is_empty() && plan.obstacle.is_none() {
            self.ui.say(plan.to_string().trim_end());
        } else {
            self.ui.verbatim(&plan.to_string());
        }
        self.ui.plan(&plan);
        // A plan with one step applies the new definition directly.
        let shown = plan.to_string();
        let names: Vec<&str> = plan.files().map(|(name, _)| name).filter(|name| shown.contains(*name)).collect();
        if written.is_none() && !names.is_empty() {
            self.ui.say(&format!("Not written: {}. `-o DIR` writes the files of the steps.", names.join(", ")));
        }
        if written.is_some() {
            for (name, content) in plan.files() {
                let arena = Bump::new();
                self.files.push((name.to_owned(), print::yaml(content.to_value(&arena)).into_bytes()));
            }
        }
    }

    fn unreadable(&mut self, old: Side<'_>, new: Side<'_>, error: &Unreadable) {
        let ((document, _), notes) = match error {
            Unreadable::Old(notes) => (old, notes),
            Unreadable::New(notes) => (new, notes),
        };
        let mut resolver = document.resolver();
        for note in notes {
            let finding = resolver.finding(note);
            self.errors += usize::from(finding.is_error());
            self.ui.finding(&finding);
        }
    }

    /// Reports what happens to an object.
    fn object(&mut self, number: Option<usize>, report: &ObjectReport) {
        let Some(object) = number.and_then(|number| self.objects.get(number)) else { return };
        let kind = object.kind().to_owned();
        let Some(location) = object.location().cloned() else { return };
        let mut tell = |code: Code, version: &str, detail: String| {
            let mut finding = location.finding(code, detail).of_resource(format!("{kind} {}", report.name));
            finding.version = (!version.is_empty()).then(|| version.to_owned());
            self.ui.finding(&finding);
        };
        for seen in &report.seen {
            if !seen.lost.is_empty() {
                tell(Code::UpgradeObjectLoss, &seen.version, seen.lost.join(", "));
            }
            if !seen.errors.is_empty() {
                let code = if seen.is_ratcheted { Code::UpgradeObjectKept } else { Code::UpgradeObject };
                tell(code, &seen.version, seen.errors.join("; "));
            }
        }
        if report.is_unserved {
            tell(Code::UpgradeObjectVersion, "", format!("{} is not served", report.version));
        }
    }

    fn gone(&mut self, name: &str, document: &Document, manifest: &Manifest<'_>) {
        self.is_safe = false;
        let detail = "the definition is gone; a server deletes all of its objects with it";
        let note = Note::new(Code::UpgradeRecreate, manifest.node.index(), detail);
        self.ui.finding(&document.resolver().of_resource(name).finding(&note));
    }

    /// Writes all files or none.
    fn write(&mut self) -> Result<(), Fatal> {
        let Some(folder) = &self.args.output else { return Ok(()) };
        let stage = Stage::default().within(Some(folder)).until_interrupted();
        let mut ready = Vec::new();
        for (name, bytes) in std::mem::take(&mut self.files) {
            let staged = stage.write(folder.join(&name), &bytes).inspect_err(|_| stage.abandon())?;
            ready.push(Ready { staged, name, is_partial: false });
        }
        let keep = BTreeSet::new();
        let target = Target { record: None, keep: &keep, is_folder: true, report: None };
        let options = Options { keep_going: true, prune: false, adopt: false, dry_run: false };
        let placed = place::place(ready, target, &stage, options, false).inspect_err(|_| stage.abandon())?;
        let s = if placed.written == 1 { "" } else { "s" };
        self.ui.say(&format!("wrote {} file{s} to {}", placed.written, folder.display()));
        Ok(())
    }

    fn end(mut self) -> Result<bool, Fatal> {
        // What is written is complete.
        if self.errors == 0 {
            self.write()?;
        }
        let Run { mut ui, errors, is_safe, .. } = self;
        let is_denied = ui.end(None, "", "");
        ui.written()?;
        Ok(errors == 0 && is_safe && !is_denied)
    }
}

/// Returns what to report about a plan as a whole.
fn told(plan: &Plan) -> Vec<(Code, String)> {
    match &plan.obstacle {
        Some(Obstacle::Recreate { because, lost }) => {
            vec![(Code::UpgradeRecreate, format!("{}; lost are {}", because.join(", "), lost.join("; ")))]
        }
        Some(Obstacle::Refused { errors }) => vec![(Code::UpgradeRefused, errors.join("; "))],
        Some(Obstacle::Stored { versions }) => vec![(Code::UpgradeStored, versions.join(", "))],
        None if plan.refused.is_empty() => Vec::new(),
        None => vec![(Code::UpgradeSteps, plan.refused.join("; "))],
    }
}

/// Returns the changes that may cause objects to be rejected: the first ones, and the number of others.
fn stricter(changes: &[Stricter]) -> String {
    const SHOWN: usize = 5;
    let shown: Vec<String> = changes.iter().take(SHOWN).map(Stricter::to_string).collect();
    let more = changes.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    format!("{}{more}", shown.join("; "))
}

/// Returns the fields that are lost.
fn lost(loss: &Loss) -> String {
    let more = if loss.more > 0 { format!(" and {} more", loss.more) } else { String::new() };
    format!("{}{more}; {}", loss.fields.join(", "), loss.when.describe(&loss.from, &loss.to))
}
