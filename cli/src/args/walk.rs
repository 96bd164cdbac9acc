//! The command line about folders: which of their files are read.

use clap::{Args, ValueHint};
use std::path::PathBuf;

const FOLDERS: &str = "Options for folders";
/// The heading of options about clusters.
pub(super) const CLUSTERS: &str = "Options for clusters";

/// Which files of folders are read. What is named on the command line is always read.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct WalkArgs {
    /// Also read what .gitignore and .ignore files leave out, and node_modules and .git
    #[arg(long, help_heading = FOLDERS)]
    pub(crate) no_ignore: bool,

    /// Also read hidden files and folders
    #[arg(long, help_heading = FOLDERS)]
    pub(crate) hidden: bool,

    /// Leave out files and folders that match (repeatable)
    ///
    /// A pattern as in .gitignore files: `*.json` matches names in all folders, `/old` and `a/**/b` match paths from
    /// the folder on the command line or from the current folder.
    #[arg(long, value_name = "GLOB", help_heading = FOLDERS)]
    pub(crate) exclude: Vec<String>,

    /// Read matching files only, whatever they end in and whatever ignores them (repeatable)
    ///
    /// Patterns are written as for --exclude, which goes before --include.
    #[arg(long, value_name = "GLOB", help_heading = FOLDERS)]
    pub(crate) include: Vec<String>,

    /// Take the documents of `cluster:CONTEXT` from the cache, and send no request
    #[arg(long, help_heading = CLUSTERS)]
    pub(crate) offline: bool,
}

/// Files as kubectl names them.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct FilenameArgs {
    /// The same as a file or folder without `-f`, as kubectl writes it (repeatable)
    #[arg(short = 'f', long = "filename", value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub(crate) filename: Vec<PathBuf>,
}

impl FilenameArgs {
    /// All files: those behind `-f`, then the others.
    pub(crate) fn and(&self, others: &[PathBuf]) -> Vec<PathBuf> {
        self.filename.iter().chain(others).cloned().collect()
    }
}
