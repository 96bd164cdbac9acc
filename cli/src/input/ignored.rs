//! Ignore files: `.ignore` everywhere, `.gitignore` in git repositories, as ripgrep reads them.
//!
//! Private settings of a user or a clone (`core.excludesFile`, `.git/info/exclude`) are not read, so that a folder has
//! the same inputs on every machine.

use crate::error::describe;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use kubeshape_input::{Code, Finding, Place};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Larger ignore files are not used, in bytes. A stranger's folder must not cost more than its size.
const LARGEST: u64 = 1 << 18;

/// The names of ignore files; the first one has precedence.
pub(super) const NAMES: [&str; 2] = [".ignore", ".gitignore"];

/// The ignore files of a folder and of the folders around it.
#[derive(Debug)]
pub(super) struct IgnoreFiles {
    outer: Option<Arc<IgnoreFiles>>,
    /// As in [`NAMES`].
    own: [Option<Gitignore>; 2],
    /// Whether this folder is the top of a git repository.
    is_top: bool,
    /// Whether it is in one.
    in_git: bool,
}

/// The result of ignore files for a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    Nothing,
    /// It is left out.
    Ignored,
    /// A pattern that begins with `!` includes it again, hidden or not.
    Wanted,
}

/// The ignore files that were found, and their errors.
#[derive(Debug, Default)]
pub(super) struct Read {
    pub(super) files: Vec<PathBuf>,
    pub(super) findings: Vec<Finding>,
}

impl IgnoreFiles {
    /// Returns those of the folders around a folder, whose path has no links.
    pub(super) fn around(canonical: &Path, read: &mut Read) -> Option<Arc<IgnoreFiles>> {
        let mut folders: Vec<&Path> = canonical.ancestors().skip(1).collect();
        folders.reverse();
        let mut rules = None;
        for folder in folders {
            let is_there = |name: &str| fs::symlink_metadata(folder.join(name)).is_ok();
            rules = IgnoreFiles::enter(rules, folder, folder, is_there, read);
        }
        rules
    }

    /// Returns those of a folder and around it. `place` is the absolute path by which it is reached, `path` the one in
    /// messages.
    pub(super) fn enter(
        outer: Option<Arc<IgnoreFiles>>,
        place: &Path,
        path: &Path,
        is_there: impl Fn(&str) -> bool,
        read: &mut Read,
    ) -> Option<Arc<IgnoreFiles>> {
        let own = NAMES.map(|name| if is_there(name) { file(place, path, name, read) } else { None });
        let is_top = is_there(".git");
        if !is_top && own.iter().all(Option::is_none) {
            return outer;
        }
        let in_git = is_top || outer.as_ref().is_some_and(|outer| outer.in_git);
        Some(Arc::new(IgnoreFiles { outer, own, is_top, in_git }))
    }

    /// Returns their result for a file or a folder, by its absolute path. Inner files have precedence over outer ones.
    pub(super) fn say(&self, place: &Path, is_folder: bool) -> Said {
        let [mut of_ignore, mut of_git] = [Said::Nothing; 2];
        let mut in_git = self.in_git;
        let mut next = Some(self);
        while let Some(rules) = next {
            let [ignore, gitignore] = rules.own.each_ref().map(|file| said(file.as_ref(), place, is_folder));
            if of_ignore == Said::Nothing {
                of_ignore = ignore;
            }
            if of_git == Said::Nothing && in_git {
                of_git = gitignore;
            }
            // The ignore files of a repository end at its top.
            in_git &= !rules.is_top;
            next = rules.outer.as_deref();
        }
        if of_ignore == Said::Nothing { of_git } else { of_ignore }
    }
}

fn said(file: Option<&Gitignore>, place: &Path, is_folder: bool) -> Said {
    match file.map_or(Match::None, |file| file.matched(place, is_folder)) {
        Match::None => Said::Nothing,
        Match::Ignore(_) => Said::Ignored,
        Match::Whitelist(_) => Said::Wanted,
    }
}

/// Reads an ignore file; `None` if it has no usable content.
fn file(place: &Path, path: &Path, name: &str, read: &mut Read) -> Option<Gitignore> {
    let path = path.join(name);
    let wrong = |detail: String| Finding::new(Code::IgnoreFile, detail).in_input(path.to_string_lossy().into_owned());
    let metadata = fs::metadata(place.join(name)).ok()?;
    if !metadata.is_file() {
        return None;
    }
    read.files.push(place.join(name));
    if metadata.len() > LARGEST {
        let detail = format!("it has {} bytes, the limit is {LARGEST}; it is not used", metadata.len());
        read.findings.push(wrong(detail));
        return None;
    }
    let text = match fs::read(place.join(name)) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) => {
            read.findings.push(wrong(format!("{}; it is not used", describe(&error))));
            return None;
        }
    };
    let mut builder = GitignoreBuilder::new(place);
    for (number, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        if let Err(error) = builder.add_line(None, line) {
            let mut finding = wrong(format!("{}; the line is not used", reason(&error)));
            finding.place = Some(Place { line: number + 1, column: 1 });
            read.findings.push(finding);
        }
    }
    match builder.build() {
        Ok(file) if file.is_empty() => None,
        Ok(file) => Some(file),
        Err(error) => {
            read.findings.push(wrong(format!("{}; it is not used", reason(&error))));
            None
        }
    }
}

/// Returns the error of a pattern, in one line.
pub(super) fn reason(error: &ignore::Error) -> String {
    match error {
        ignore::Error::Glob { glob: Some(glob), err } => format!("found the pattern {glob:?}: {err}"),
        error => error.to_string(),
    }
}
