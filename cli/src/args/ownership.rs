//! The command lines about ownership: `ownership`, `ownership hand-over`.

use super::{FilenameArgs, FindingArgs, TypeArgs};
use clap::{Args, Subcommand, ValueEnum, ValueHint};
use std::path::PathBuf;

/// Say who owns the fields of live objects, and hand fields over
///
/// Prints for each object its owners with the tools behind their names, fields with several owners, and stale owners:
/// no tool writes under their names any more. No apply removes fields that only stale owners have.
/// docs/ownership.md explains what to do, by symptom.
#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "\
Examples:
  kubectl get deploy web -o yaml --show-managed-fields | kubeshape ownership -
  kubeshape ownership live/ --problems
  kubeshape ownership cluster:prod --namespace shop --resources deploy,cm
  kubeshape ownership live/ --configs chart.yaml --gone old-operator
  kubeshape ownership hand-over live.yaml --from kubectl-edit --to helm"
)]
pub(crate) struct OwnershipArgs {
    #[command(subcommand)]
    pub(crate) command: Option<OwnershipCommand>,

    /// Live objects, with their managedFields: files with any number of objects, folders, `-`, or cluster:CONTEXT
    #[arg(value_name = "INPUT", required_unless_present = "filename", value_hint = ValueHint::AnyPath)]
    pub(crate) objects: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) filenames: FilenameArgs,

    #[command(flatten)]
    pub(crate) of: ObjectArgs,

    /// Name of a manager that no longer exists, such as the old name of a controller (repeatable)
    #[arg(long, value_name = "NAME")]
    pub(crate) gone: Vec<String>,

    /// Take the last configuration from a release of Helm: its Secret is among the live objects
    #[arg(long, value_name = "NAME")]
    pub(crate) helm_release: Option<String>,

    /// Print only objects with several owners of a field, or with a stale owner
    #[arg(long)]
    pub(crate) problems: bool,

    /// Print the fields of each owner
    #[arg(long)]
    pub(crate) fields: bool,
}

/// `kubeshape ownership …`
#[derive(Debug, Subcommand)]
pub(crate) enum OwnershipCommand {
    HandOver(Box<HandOverArgs>),
}

/// What both commands have.
#[derive(Args, Debug)]
pub(crate) struct ObjectArgs {
    /// Configurations that are applied to the objects: files, folders, or `-` (repeatable)
    #[arg(long, value_name = "INPUT", value_hint = ValueHint::AnyPath)]
    pub(crate) configs: Vec<PathBuf>,

    /// Namespace of configurations that name none; of a cluster, only objects in it are read
    #[arg(long, value_name = "NAME")]
    pub(crate) namespace: Option<String>,

    /// Resource to read from a cluster, such as deploy (repeatable) [default: all that can be listed and patched]
    #[arg(long, value_name = "RESOURCE", value_delimiter = ',')]
    pub(crate) resources: Vec<String>,

    #[command(flatten)]
    pub(crate) types: TypeArgs,

    /// Format of the result
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    pub(crate) output: ReportFormat,

    /// Print errors only
    #[arg(short, long)]
    pub(crate) quiet: bool,

    #[command(flatten)]
    pub(crate) findings: FindingArgs,
}

/// The formats of reports about owners.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// For people
    #[default]
    Text,
    /// One JSON document
    Json,
    /// Markdown, for a comment on a pull request
    Markdown,
}

/// Hand fields over from one manager to another
///
/// Computes the smallest JSON patch of metadata.managedFields, with a test of the resource version, and proves it by
/// simulation: what the next apply of each manager does afterwards. Prints a command of kubectl for each object, with
/// comments, so that a shell can run the output. The exit code is 1 if a patch does not reach the goal; it is then not
/// printed. With `--as applies`, commands of `kubectl apply --server-side` do the same where that is possible.
///
/// Without --from, the conflicts of an apply of --configs are resolved.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubeshape ownership hand-over live.yaml --from kubectl-edit --to helm
  kubeshape ownership hand-over live.yaml --from kubectl --to helm --fields .spec.replicas
  kubeshape ownership hand-over live/ --to helm --configs chart.yaml
  kubeshape ownership hand-over live/ --release --from old-operator
  kubeshape ownership hand-over live/ --migrate-csa --to argocd-controller
  kubeshape ownership hand-over live/ --from ci --to helm --as applies")]
pub(crate) struct HandOverArgs {
    /// Live objects, with their managedFields: files with any number of objects, folders, `-`, or cluster:CONTEXT
    #[arg(value_name = "INPUT", required_unless_present = "filename", value_hint = ValueHint::AnyPath)]
    pub(crate) objects: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) filenames: FilenameArgs,

    /// Manager that gives fields away (repeatable)
    #[arg(long, value_name = "NAME")]
    pub(crate) from: Vec<String>,

    /// Manager that owns them afterwards, as if it had applied them
    #[arg(long, value_name = "NAME", required_unless_present = "release", conflicts_with = "release")]
    pub(crate) to: Option<String>,

    /// Field to hand over, with everything below it, such as .spec.replicas (repeatable) [default: all]
    #[arg(long, value_name = "FIELD", requires = "from")]
    pub(crate) fields: Vec<String>,

    /// Remove the owner of the fields, without a new one
    #[arg(long, requires = "from")]
    pub(crate) release: bool,

    /// Turn client-side apply into server-side apply, as client-go does
    ///
    /// The entries of --from become one of --to. Without --from, these are the managers that own the annotation
    /// kubectl.kubernetes.io/last-applied-configuration.
    #[arg(long, conflicts_with_all = ["release", "fields"])]
    pub(crate) migrate_csa: bool,

    /// What is printed: a patch of metadata.managedFields, or server-side applies that do the same
    ///
    /// Applies change no value, except those about which --configs conflict. They cannot take a field over from a
    /// manager that wrote it with an update, and keep its value: only a patch can.
    #[arg(long = "as", value_name = "WAY", default_value = "patch")]
    pub(crate) way: WayArg,

    /// Release of Helm to which --configs belong, in --namespace: Helm adds its name to each object
    #[arg(long, value_name = "NAME", requires = "configs")]
    pub(crate) helm_release: Option<String>,

    /// Send the patches of objects that were read from a cluster
    #[arg(long)]
    pub(crate) yes: bool,

    #[command(flatten)]
    pub(crate) of: ObjectArgs,
}

/// `--as`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum WayArg {
    /// A JSON patch of metadata.managedFields, for `kubectl patch`
    #[default]
    Patch,
    /// Configurations for `kubectl apply --server-side`
    Applies,
}
