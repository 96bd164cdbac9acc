//! Puts results in place: all of them at the end, so that an earlier error leaves everything unchanged.
//!
//! A result that lacks a failed input does not replace a file. Written files are recorded in the output folder, and
//! files of earlier runs that the record names may be deleted.

use super::prune::{self, Keep};
use super::record::{self, Record, digest_of};
use super::{Stage, Staged};
use crate::error::Fatal;
use crate::report::Ui;
use kubeshape_input::Finding;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// The maximum number of files that are named in a message.
const SHOWN: usize = 10;

/// The options of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Options {
    /// Whether results may replace files although inputs failed.
    pub(crate) keep_going: bool,
    /// Whether to delete results of earlier runs.
    pub(crate) prune: bool,
    /// Whether to record files that are named like results.
    pub(crate) adopt: bool,
    /// Whether to print what would be done, and to do nothing.
    pub(crate) dry_run: bool,
}

/// The destination of results.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target<'p> {
    /// The folder whose record names the results, if there is one.
    pub(crate) record: Option<&'p Path>,
    /// Names in that folder that are not results and must stay.
    pub(crate) keep: &'p BTreeSet<String>,
    /// Whether the folder is the output folder.
    pub(crate) is_folder: bool,
    /// The file of the report.
    pub(crate) report: Option<&'p Path>,
}

/// A complete result.
#[derive(Debug)]
pub(crate) struct Ready {
    pub(crate) staged: Staged,
    /// Relative to the folder with the record.
    pub(crate) name: String,
    /// Whether it lacks an input that failed.
    pub(crate) is_partial: bool,
}

/// The inputs that failed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Failed {
    inputs: BTreeSet<String>,
    /// Whether there is an error that is not about an input.
    other: bool,
}

impl Failed {
    /// Records an error.
    pub(crate) fn add(&mut self, finding: &Finding) {
        match &finding.input {
            Some(input) => _ = self.inputs.insert(input.to_string()),
            None => self.other = true,
        }
    }

    /// Returns whether nothing failed.
    pub(crate) fn is_empty(&self) -> bool {
        self.inputs.is_empty() && !self.other
    }

    /// Returns the failures, as the subject and verb of a sentence.
    fn told(&self) -> String {
        match (self.inputs.first(), self.inputs.len()) {
            (None, _) => "there were errors".to_owned(),
            (Some(first), 1) => format!("{first} failed"),
            (Some(first), 2) => format!("{first} and another input failed"),
            (Some(first), n) => format!("{first} and {} other inputs failed", n - 1),
        }
    }
}

/// The actions that were done.
#[derive(Debug, Default)]
pub(crate) struct Placed {
    /// Number of results that got their names.
    pub(crate) written: usize,
    /// Number of files of earlier runs that were deleted.
    pub(crate) deleted: usize,
    /// Files that a result did not replace.
    stay: Vec<PathBuf>,
    /// Errors of the record.
    pub(crate) damaged: Option<Box<Finding>>,
    /// Lines about other files in the folder.
    said: Vec<String>,
    /// Lines for standard output: what would be done.
    pub(crate) plan: String,
}

impl Placed {
    /// Reports files that a user might miss.
    pub(crate) fn tell(&self, failed: &Failed, ui: &mut Ui) {
        if !self.stay.is_empty() {
            let (s, were) = if self.stay.len() == 1 { ("", "was") } else { ("s", "were") };
            let mut text = format!("{} result{s} {were} not written, because {}", self.stay.len(), failed.told());
            for path in self.stay.iter().take(SHOWN) {
                let _ = write!(text, "\n  {} stays as it was", path.display());
            }
            if self.stay.len() > SHOWN {
                let _ = write!(text, "\n  and so do {} more files", self.stay.len() - SHOWN);
            }
            text.push_str(HELP);
            ui.error(&text);
        }
        self.said.iter().for_each(|line| ui.say(line));
    }
}

const HELP: &str = "\n  help: `--keep-going` writes what the other inputs give";

/// Reports that there is nothing on standard output.
pub(crate) fn tell_nothing_printed(failed: &Failed, ui: &mut Ui) {
    ui.error(&format!("the result was not written, because {}{HELP}", failed.told()));
}

/// Gives results their names, records them, and deletes or records files of earlier runs.
///
/// # Errors
/// A file cannot be written or deleted, or the run was interrupted.
pub(crate) fn place(
    ready: Vec<Ready>,
    target: Target<'_>,
    stage: &Stage,
    options: Options,
    has_errors: bool,
) -> Result<Placed, Fatal> {
    let mut out = Placed::default();
    let mut keep = Keep::default();
    target.keep.iter().for_each(|name| keep.add(name));
    let mut files = Vec::new();
    for ready in ready {
        keep.add(&ready.name);
        if ready.is_partial && !options.keep_going && fs::symlink_metadata(&ready.staged.target).is_ok() {
            out.stay.push(ready.staged.target.clone());
            stage.discard(ready.staged);
        } else {
            files.push(ready);
        }
    }
    files.sort_by(|a, b| a.staged.target.cmp(&b.staged.target));
    let mut recorded = None;
    if let Some(folder) = target.record {
        match Record::read(folder) {
            Ok(record) => {
                // Reference pages are results of another command.
                let record = record.unwrap_or_default();
                record.names().filter(|name| record::is_page(name)).for_each(|name| keep.add(name));
                recorded = Some((folder, record));
            }
            Err(finding) => out.damaged = Some(finding),
        }
    }
    let before = recorded.as_ref().map(|(_, record)| record.clone());
    let placing = stage.placing()?;
    for Ready { staged, name, .. } in files {
        out.written += 1;
        if options.dry_run {
            let _ = writeln!(out.plan, "would write {} ({})", staged.target.display(), difference(&staged));
        }
        if let Some((_, record)) = &mut recorded {
            record.add(&name, staged.digest);
        }
        placing.finish(staged)?;
    }
    let mut failure = None;
    if options.prune && (has_errors || recorded.is_none()) {
        out.said.push("nothing was deleted, because there were errors".to_owned());
    } else if let (true, Some((folder, record))) = (options.prune, &mut recorded) {
        failure = out.prune(folder, record, &keep, options).err();
    }
    if let (true, Some(report)) = (options.dry_run, target.report) {
        let _ = writeln!(out.plan, "would write {} (a report)", report.display());
    }
    if let (true, Some((folder, record))) = (options.adopt && target.is_folder, &mut recorded) {
        out.adopt(folder, record, &keep, options)?;
    }
    if let (false, Some((folder, record))) = (options.dry_run, recorded)
        && before.as_ref() != Some(&record)
    {
        placing.write(&folder.join(record::NAME), &record.print())?;
    }
    stage.settle()?;
    failure.map_or(Ok(out), Err)
}

/// Returns what a result would change.
fn difference(staged: &Staged) -> &'static str {
    match digest_of(&staged.target) {
        Err(_) => "new",
        Ok(digest) if digest == staged.digest => "unchanged",
        Ok(_) => "changed",
    }
}

impl Placed {
    /// Deletes results of earlier runs. Files that could not be deleted stay in the record.
    fn prune(&mut self, folder: &Path, record: &mut Record, keep: &Keep, options: Options) -> Result<(), Fatal> {
        let old = prune::old(folder, record, keep);
        let mut failure = Ok(());
        for (name, path) in old.unchanged {
            if options.dry_run {
                let _ = writeln!(self.plan, "would delete {}", path.display());
                continue;
            }
            match prune::delete(folder, &path) {
                Ok(()) => {
                    self.deleted += 1;
                    self.said.push(format!("deleted {}", path.display()));
                    record.remove(&name);
                }
                Err(error) => failure = failure.and(Err(error)),
            }
        }
        for name in old.changed {
            self.said.push(format!("kept {}, which changed since kubeshape wrote it", folder.join(name).display()));
        }
        let others = if folder.is_dir() { prune::unrecorded(folder, record, keep)? } else { Vec::new() };
        if !others.is_empty() {
            let (s, are, it) = if others.len() == 1 { ("", "is", "it") } else { ("s", "are", "them") };
            let count = others.len();
            let mut text = format!("kept {count} file{s} that {are} named like results but not in {}:", record::NAME);
            for name in others.iter().take(SHOWN) {
                let _ = write!(text, "\n  {}", folder.join(name).display());
            }
            if count > SHOWN {
                let _ = write!(text, "\n  and {} more", count - SHOWN);
            }
            let _ = write!(text, "\n  help: `--adopt` instead of `--prune` adds {it} to {}", record::NAME);
            self.said.push(text);
        }
        failure
    }

    /// Records files that are named like results.
    fn adopt(&mut self, folder: &Path, record: &mut Record, keep: &Keep, options: Options) -> Result<(), Fatal> {
        if !folder.is_dir() {
            return Ok(());
        }
        for name in prune::unrecorded(folder, record, keep)? {
            let path = folder.join(&name);
            if options.dry_run {
                let _ = writeln!(self.plan, "would adopt {}", path.display());
                continue;
            }
            let unreadable = |error| Fatal::Read { path: path.clone(), message: crate::error::describe(&error) };
            record.add(&name, digest_of(&path).map_err(unreadable)?);
            self.said.push(format!("adopted {}", path.display()));
        }
        Ok(())
    }
}
