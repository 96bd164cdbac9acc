//! The command line of `kubeshape validate`.

use super::{FilenameArgs, GateArgs, LevelArgs, OutputFormat, PolicyArgs, ReportArgs, WalkArgs};
use clap::{Args, ValueEnum, ValueHint};
use kubeshape_schema::Releases;
use std::path::PathBuf;

/// Say what an API server would refuse, drop and store
///
/// Judges objects as kube-apiserver does when they are created, or, with --old, when they replace other objects. Of
/// custom resources: unknown fields, metadata, the schema with its formats, list types, defaults, CEL rules. Of
/// built-in kinds, such as Deployment: unknown fields, types, metadata, defaults, and the rules that the server has in
/// Go code. Every error has the server's own words and its place in the file. With --policies, admission policies
/// change and judge the objects as well, in the order of a server. No request leaves the machine.
///
/// Inputs are files, folders, streams, Lists, and what kustomize and Helm print. Findings go to standard output, unless
/// --print asks for objects; then they go to standard error.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubeshape validate deployment.yaml
  kubeshape validate --schemas crds/ manifests/
  kubeshape validate --kubernetes 1.34 --schemas crds/ manifests/
  kubeshape validate --kubernetes 1.31..1.37 --schemas crds/ manifests/
  kustomize build overlays/prod | kubeshape validate --schemas crds/ -
  helm template chart/ | kubeshape validate --schemas crds/ -
  kubeshape validate --schemas crds/ --old before.yaml after.yaml
  kubeshape validate --schemas crds/ --print stored widget.yaml
  kubeshape validate --policies policies/ --params params/ manifests/
  kubeshape validate --policies policies/ --user alice --operation delete pod.yaml
  kubeshape validate --schemas crds/ --output-format junit . > junit.xml

Exit codes: 0 if the server takes every object, 1 if not or if a finding is
denied, 2 if something could not be read.")]
pub(crate) struct ValidateArgs {
    /// Objects: files and folders; `-` is standard input, and the default
    #[arg(value_name = "OBJECT", value_hint = ValueHint::AnyPath)]
    pub(crate) objects: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) filenames: FilenameArgs,

    #[command(flatten)]
    pub(crate) walk: WalkArgs,

    /// CustomResourceDefinitions and OpenAPI documents: files and folders (repeatable)
    #[arg(long, value_name = "INPUT", value_hint = ValueHint::AnyPath)]
    pub(crate) schemas: Vec<PathBuf>,

    /// Release of Kubernetes whose rules count, such as 1.34, or a range such as 1.31..1.37
    /// [default: that of the cluster in --schemas, else 1.37]
    ///
    /// The built-in kinds are those of the release (from 1.31 on). If --schemas has the OpenAPI document of a cluster,
    /// they are those of the document, unless a release is given. With a range, every release must take an object, and
    /// what only some of them say names these.
    #[arg(long, value_name = "RELEASE")]
    pub(crate) kubernetes: Option<Releases>,

    #[command(flatten)]
    pub(crate) gates: GateArgs,

    /// Objects that are replaced: files and folders (repeatable)
    ///
    /// An object belongs to the old one with the same group, kind, namespace and name. If there is none, it is created.
    /// As on a server, what is wrong with a value that did not change is accepted.
    #[arg(long, value_name = "OLD", value_hint = ValueHint::AnyPath)]
    pub(crate) old: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) admission: PolicyArgs,

    /// What happens to fields that the schema does not know
    ///
    /// Duplicate fields are warnings, because kubectl sends the last value; `ignore` hides them.
    #[arg(long, value_name = "HOW", default_value = "strict")]
    pub(crate) field_validation: FieldValidation,

    /// What happens to objects whose kind is not known
    #[arg(long, value_name = "WHAT", default_value = "error")]
    pub(crate) missing_schemas: MissingSchemas,

    /// Print the accepted objects on standard output
    #[arg(long, value_name = "WHAT")]
    pub(crate) print: Option<Printed>,

    /// Format of the findings
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

    /// Also name the objects that are accepted, and show all warnings
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

/// `--field-validation`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum FieldValidation {
    /// The object is refused, as kubectl asks for
    #[default]
    Strict,
    /// They are dropped, with a warning
    Warn,
    /// They are dropped
    Ignore,
}

/// `--missing-schemas`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum MissingSchemas {
    /// They are errors
    #[default]
    Error,
    /// They pass, with a warning
    Warn,
    /// They pass, and are counted
    Skip,
}

/// `--print`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Printed {
    /// As they are stored: pruned and with defaults, which comments point out
    Stored,
}
