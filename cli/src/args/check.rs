//! The command line of `kubeshape check`.

use super::{FilenameArgs, GateArgs, LevelArgs, OutputFormat, ReportArgs, WalkArgs};
use clap::{Args, ValueEnum, ValueHint};
use kubeshape_check::Releases;
use kubeshape_schema::Level;
use std::path::PathBuf;

/// Check on which releases of Kubernetes CustomResourceDefinitions install
///
/// Answers what kube-apiserver answers when a definition is created, or, with --against, when it replaces another one:
/// every error, with the server's own words, at its place in the file. Asked about several releases, it says which of
/// them take the definition, and what keeps it from the others.
///
/// Admission policies, their bindings and webhook configurations are checked as well: what a server refuses, whether
/// expressions fit the kinds that they are about, and what is not used.
///
/// Inputs are read as `kubeshape convert` reads them. Findings go to standard output. A broken input is reported, and
/// the others are checked.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubeshape check config/crd/bases
  kubeshape check config/crd/bases --kubernetes 1.30..1.36
  kubeshape check config/crd/bases --against git:origin/main:config/crd/bases
  kubectl get crd -o yaml | kubeshape check --kubernetes 1.37
  kubeshape check policies/ config/crd/bases
  kubeshape check config/crd/bases --level advice
  kubeshape check config/crd/bases --fix --diff
  kubeshape check config/crd/bases --output-format sarif > kubeshape.sarif

Exit codes: 0 if every release that was asked takes every definition, 1 if not or
if a finding is denied, 2 if something could not be read.

Run `kubeshape explain-code KS3110` to learn what a code means.")]
pub(crate) struct CheckArgs {
    /// Files and folders to read; `-` is standard input, and the default
    #[arg(value_name = "INPUT", value_hint = ValueHint::AnyPath)]
    pub(crate) inputs: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) filenames: FilenameArgs,

    #[command(flatten)]
    pub(crate) walk: WalkArgs,

    /// Definitions that the inputs replace: a file, a folder, or git:REV:PATH (repeatable)
    ///
    /// Definitions are matched by name. What is not among the old ones is checked as a new one. As on a server, what an
    /// old definition does wrong already may stay wrong in most cases. git:REV:PATH is a file or folder as `git show`
    /// names it, such as git:origin/main:config/crd/bases; PATH starts at the root of the repository, or with ./ at the
    /// current folder.
    #[arg(long, value_name = "OLD")]
    pub(crate) against: Vec<String>,

    /// What the status of an old definition is, if its file does not say
    ///
    /// A server refuses another scope or kind once a definition is established, and establishes each definition that it
    /// installs.
    #[arg(long, value_name = "STATUS", default_value = "established")]
    pub(crate) against_status: AgainstStatus,

    /// Releases to ask: 1.30, a range such as 1.28..1.37 with both ends, or all [default: that of a
    /// cluster among the inputs, else 1.37]
    #[arg(long, value_name = "RELEASES")]
    pub(crate) kubernetes: Option<Releases>,

    #[command(flatten)]
    pub(crate) gates: GateArgs,

    /// Show findings of this level and those above it
    #[arg(long, value_name = "LEVEL", default_value = "warning")]
    pub(crate) level: CheckLevel,

    /// Edit the files, where it changes no verdict on an object
    ///
    /// Fields that the API does not know are removed, and keys, values of enums and required fields that stand twice; a
    /// type that a new definition must have is written. Comments and layout stay. The findings are those of the files
    /// afterwards. Standard input goes to standard output. A compressed file is not edited.
    #[arg(long)]
    pub(crate) fix: bool,

    /// Show the edits of --fix as a diff, and write nothing
    ///
    /// The findings are those of the files as they are, on standard error. The exit code is 1 if there are edits.
    #[arg(long, requires = "fix")]
    pub(crate) diff: bool,

    /// Format of the findings
    ///
    /// `json` is one object per line: the findings, and for each definition one with the member `verdict`.
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub(crate) output_format: OutputFormat,

    #[command(flatten)]
    pub(crate) report: ReportArgs,

    #[command(flatten)]
    pub(crate) levels: LevelArgs,

    /// Number of threads [default: one per core]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,

    /// Show errors only, and no summary
    #[arg(short, long, conflicts_with = "verbose")]
    pub(crate) quiet: bool,

    /// Also name the definitions that nothing is wrong with, and say what expressions of policies cost
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

/// `--against-status`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum AgainstStatus {
    /// The definition is installed and established
    #[default]
    Established,
    /// It is not established: its scope and kind can still change
    None,
}

/// `--level`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum CheckLevel {
    /// Why a server refuses a definition
    Error,
    /// And what it warns about
    #[default]
    Warning,
    /// And what was passed over
    Info,
    /// And what a server accepts, but makes trouble later
    Advice,
}

impl CheckLevel {
    /// The lowest level that is shown.
    pub(crate) fn least(self) -> Level {
        match self {
            CheckLevel::Error => Level::Error,
            CheckLevel::Warning => Level::Warning,
            CheckLevel::Info | CheckLevel::Advice => Level::Note,
        }
    }
}
