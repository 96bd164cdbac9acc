//! The command line of `kubeshape upgrade`.

use super::{LevelArgs, OutputFormat, ReportArgs, WalkArgs};
use clap::{Args, ValueHint};
use std::path::PathBuf;

/// Say how a cluster gets from old CustomResourceDefinitions to new ones
///
/// Gives the steps for each definition of NEW, in their order, with their commands: which definition to apply, when to
/// write every object in the new version of storage, when to set status.storedVersions. Says whether a server refuses
/// the new definition as it stands, until when each version is served, which fields are lost, and which objects break.
/// A definition that needs nothing special takes one line.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubeshape upgrade crd-v1.0.yaml crd-v2.0.yaml
  kubeshape upgrade git:v1.0.0:config/crd/bases config/crd/bases
  kubeshape upgrade old.yaml new.yaml --stored v1alpha1,v1beta1
  kubeshape upgrade old/ new/ --objects backup/ -o steps/
  kubeshape upgrade old.yaml new.yaml --kubernetes 1.33
  kubectl get crd tabs.example.com -o yaml | kubeshape upgrade - new.yaml
  kubeshape upgrade old/ new/ --output-format markdown

Files in DIR, in the order of the steps: NAME-N.yaml with a definition to apply,
and NAME-N-migration.yaml with a StorageVersionMigration, by which a cluster
does what the command of step N does.

Exit codes: 0 if the steps lead to the new definitions, nothing is lost and no
object breaks, 1 if one of this is not so or a finding is denied, 2 if something
could not be read or written.

Run `kubeshape explain-code KS8445` to learn what a code means.")]
pub(crate) struct UpgradeArgs {
    /// Old definitions: a file, a folder, `-` for standard input, or git:REV:PATH
    #[arg(value_name = "OLD")]
    pub(crate) old: String,

    /// New definitions
    #[arg(value_name = "NEW")]
    pub(crate) new: String,

    /// File or folder with objects, which are judged by the new definitions (repeatable)
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) objects: Vec<PathBuf>,

    /// Versions in which objects may be stored (comma-separated)
    /// [default: status.storedVersions of OLD, or its version of storage]
    #[arg(long, value_name = "VERSIONS", value_delimiter = ',')]
    pub(crate) stored: Vec<String>,

    /// Release of the server, such as 1.33 [default: that of a cluster among OLD and NEW, else the newest one]
    #[arg(long, value_name = "RELEASE", value_parser = super::known_release)]
    pub(crate) kubernetes: Option<kubeshape_validate::Release>,

    /// Folder for the files of the steps; it is created if it does not exist
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) output: Option<PathBuf>,

    /// Format of the plan and of the findings
    ///
    /// `json` is one object per line: the findings, and for each definition one with the member `steps`.
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub(crate) output_format: OutputFormat,

    #[command(flatten)]
    pub(crate) report: ReportArgs,

    #[command(flatten)]
    pub(crate) walk: WalkArgs,

    #[command(flatten)]
    pub(crate) levels: LevelArgs,

    /// Show errors and plans only
    #[arg(short, long, conflicts_with = "verbose")]
    pub(crate) quiet: bool,

    /// Show all findings with their sources
    #[arg(short, long)]
    pub(crate) verbose: bool,
}
