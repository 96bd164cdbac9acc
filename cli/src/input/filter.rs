//! The files and folders that are skipped in folders.

use super::ignored::{IgnoreFiles, NAMES, Said, reason};
use crate::args::WalkArgs;
use crate::error::Fatal;
use crate::output::record;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::path::Path;

/// The suffixes of files that are read in folders. Each may be followed by one of [`COMPRESSED`].
const SUFFIXES: [&str; 4] = [".yaml", ".yml", ".json", ".pb"];
const COMPRESSED: [&str; 2] = [".gz", ".zst"];

/// Folders with files of others, which are never meant.
const FOREIGN: [&str; 2] = ["node_modules", ".git"];

/// The command line's rules for folders.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filter {
    args: WalkArgs,
}

/// The rules in a folder of the command line.
#[derive(Debug)]
pub(super) struct View<'f> {
    args: &'f WalkArgs,
    /// Relative to that folder, and to the current one.
    exclude: [Gitignore; 2],
    include: [Gitignore; 2],
}

impl Filter {
    /// Reads the rules of the command line.
    ///
    /// # Errors
    /// A pattern is invalid.
    pub(crate) fn new(args: &WalkArgs) -> Result<Filter, Fatal> {
        for (option, globs) in [("--exclude", &args.exclude), ("--include", &args.include)] {
            for glob in globs {
                if glob.is_empty() {
                    return Err(Fatal::Usage(format!("{option} takes a pattern such as '*.json', found nothing")));
                }
                let added = GitignoreBuilder::new("").add_line(None, &line(glob)).map(|_| ());
                added.map_err(|error| Fatal::Usage(format!("{option}: {}", reason(&error))))?;
            }
        }
        Ok(Filter { args: args.clone() })
    }

    /// Returns whether documents of clusters come only from the cache.
    pub(crate) fn is_offline(&self) -> bool {
        self.args.offline
    }

    /// Returns whether ignore files are read.
    pub(super) fn reads_ignore_files(&self) -> bool {
        !self.args.no_ignore
    }

    /// Returns the rules in a folder, whose path has no links.
    pub(super) fn in_folder(&self, canonical: &Path) -> View<'_> {
        let here = std::env::current_dir().unwrap_or_default();
        let matcher = |root: &Path, globs: &[String]| {
            let mut builder = GitignoreBuilder::new(root);
            for glob in globs {
                // `new` has checked each of them.
                let _ = builder.add_line(None, &line(glob));
            }
            builder.build().unwrap_or_else(|_| Gitignore::empty())
        };
        let both = |globs: &[String]| [matcher(canonical, globs), matcher(&here, globs)];
        View { args: &self.args, exclude: both(&self.args.exclude), include: both(&self.args.include) }
    }

    /// Returns whether a change of a file in a folder may change the inputs: inputs, ignore files, and files of charts.
    pub(crate) fn may_matter(&self, path: &Path) -> bool {
        let is_rule = || path.file_name().is_some_and(|name| NAMES.iter().any(|rule| name == *rule));
        !self.args.include.is_empty() || is_candidate(path) || (self.reads_ignore_files() && is_rule())
    }
}

impl View<'_> {
    /// Returns whether a file or folder is read, by its absolute path.
    pub(super) fn takes(&self, place: &Path, is_folder: bool, ignored: Option<&IgnoreFiles>) -> bool {
        let name = place.file_name().unwrap_or_default();
        let is_in = |globs: &[Gitignore; 2]| globs.iter().any(|globs| globs.matched(place, is_folder).is_ignore());
        if is_in(&self.exclude) {
            return false;
        }
        if !is_folder && !self.args.include.is_empty() {
            return is_in(&self.include);
        }
        if !is_folder && !is_candidate(place) {
            return false;
        }
        if !self.args.no_ignore {
            match ignored.map_or(Said::Nothing, |files| files.say(place, is_folder)) {
                Said::Nothing => {}
                Said::Ignored => return false,
                Said::Wanted => return true,
            }
            if is_folder && FOREIGN.iter().any(|foreign| name == *foreign) {
                return false;
            }
        }
        self.args.hidden || !name.as_encoded_bytes().starts_with(b".")
    }
}

/// Converts a pattern of the command line to a line of an ignore file, where `#` and `!` have a special meaning.
fn line(glob: &str) -> String {
    if glob.starts_with(['#', '!']) { format!("\\{glob}") } else { glob.to_owned() }
}

/// Returns whether a file with this name is read in a folder.
fn is_candidate(path: &Path) -> bool {
    let Some(name) = path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()) else { return false };
    if name == record::NAME {
        return false;
    }
    let name = COMPRESSED.iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(&name);
    SUFFIXES.iter().any(|suffix| name.ends_with(suffix))
}
