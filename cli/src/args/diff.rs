//! The command line of `kubeshape diff`.

use super::{LevelArgs, OutputFormat, ReportArgs, WalkArgs};
use clap::{Args, ValueEnum};
use kubeshape_diff::{Class, Consumer};
use kubeshape_validate::Release;
use std::path::PathBuf;

/// Report what a change of CustomResourceDefinitions does, and who is affected
///
/// Compares the definitions of OLD and NEW by name, and the kinds of OpenAPI documents by group, version and kind. Each
/// change has a class for each user that it affects: stored objects, writers, readers, server-side apply, clients of
/// OpenAPI v2, rules in CEL, and users of names and versions. The meaning of schemas is compared, not their text: a
/// changed description is cosmetic. A change that cannot be decided is risky.
///
/// Admission policies with their bindings and parameters are compared by the requests that they refuse, warn about and
/// change.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubeshape diff crd-v1.0.yaml crd-v1.1.yaml
  kubeshape diff git:origin/main:config/crd/bases config/crd/bases
  kubeshape diff old/ new/ --witness
  kubeshape diff old/ new/ --exempt agreed.yaml --output-format markdown
  kubeshape diff old/ new/ --for storage,writers --fail-on risky
  kubeshape diff git:HEAD~1:config/crd/bases config/crd/bases \\
    --output-format github
  kubeshape diff --kubernetes 1.34 1.36 --kind Pod
  kubeshape diff git:origin/main:policies policies --witness

Exit codes: 0 if no change is breaking (see --fail-on), 1 if one is or if a
finding is denied, 2 if something could not be read.

Run `kubeshape explain-code KS8409` to learn what a code means.")]
pub(crate) struct DiffArgs {
    /// Old definitions or OpenAPI documents: a file, a folder, `-` for standard input, or git:REV:PATH
    #[arg(value_name = "OLD", required_unless_present = "kubernetes")]
    pub(crate) old: Option<String>,

    /// New definitions or OpenAPI documents
    #[arg(value_name = "NEW", required_unless_present = "kubernetes")]
    pub(crate) new: Option<String>,

    /// Compare the built-in kinds of two releases of Kubernetes, such as 1.34 and 1.36, in place of OLD and NEW
    ///
    /// With OLD and NEW: the release whose rules decide, such as --kubernetes=1.33 [default: that of a cluster among
    /// them, else the newest one].
    #[arg(long, value_names = ["RELEASE", "NEW"], num_args = 1..=2, value_parser = super::known_release)]
    pub(crate) kubernetes: Vec<Release>,

    /// Look at these kinds only: Pod, or apps/v1/Deployment (comma-separated)
    #[arg(long = "kind", value_name = "KINDS", value_delimiter = ',')]
    pub(crate) kinds: Vec<String>,

    /// Whom to look at: storage, writers, readers, apply, v2, cel, meta (comma-separated) [default: all]
    #[arg(long = "for", value_name = "CONSUMERS", value_delimiter = ',', value_parser = consumer)]
    pub(crate) consumers: Vec<Consumer>,

    /// Class of changes from which on the exit code is 1
    #[arg(long, value_name = "CLASS", default_value = "breaking")]
    pub(crate) fail_on: FailOn,

    /// Show the smallest object that each breaking change breaks
    ///
    /// The old definition accepts the object. The new one refuses it, drops fields of it, or stores something else.
    /// Both is proven by validation. With `--verbose`, also for risky changes.
    #[arg(long)]
    pub(crate) witness: bool,

    /// File with changes that are agreed to: a YAML list of code, path, consumer, reason, expires
    #[arg(long, value_name = "FILE")]
    pub(crate) exempt: Option<PathBuf>,

    /// Format of the findings
    ///
    /// `json` is one object per line: the findings, and for each definition one with the member `changes`.
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub(crate) output_format: OutputFormat,

    #[command(flatten)]
    pub(crate) report: ReportArgs,

    #[command(flatten)]
    pub(crate) walk: WalkArgs,

    #[command(flatten)]
    pub(crate) levels: LevelArgs,

    /// Show what is breaking only, and no summary
    #[arg(short, long, conflicts_with = "verbose")]
    pub(crate) quiet: bool,

    /// Also show what is compatible or cosmetic
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

/// `--fail-on`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// Something that worked stops working
    Breaking,
    /// Something may stop working, or it cannot be told
    Risky,
    /// Something can be done that could not be done
    Compatible,
    /// Anything changed
    Cosmetic,
    /// Never
    Nothing,
}

impl FailOn {
    /// The least class at which the exit code is 1; none if it never is.
    pub(crate) fn class(self) -> Option<Class> {
        match self {
            FailOn::Breaking => Some(Class::Breaking),
            FailOn::Risky => Some(Class::Risky),
            FailOn::Compatible => Some(Class::Compatible),
            FailOn::Cosmetic => Some(Class::Cosmetic),
            FailOn::Nothing => None,
        }
    }
}

fn consumer(name: &str) -> Result<Consumer, String> {
    Consumer::ALL.into_iter().find(|consumer| consumer.name() == name).ok_or_else(|| {
        let names: Vec<&str> = Consumer::ALL.iter().map(|consumer| consumer.name()).collect();
        format!("expected one of {}", names.join(", "))
    })
}
