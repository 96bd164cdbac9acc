//! The command line of `lifecycle`.

use super::FindingArgs;
use clap::{Args, Subcommand, ValueEnum, ValueHint};
use kubeshape_lifecycle::Version;
use kubeshape_lifecycle::warn::gates;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Tell which fields and kinds are alpha, beta or deprecated (KEP-2558)
///
/// Reads Go types with their tags (`+lifecycle:kubernetes:…`, `+featureGate=…`, `+k8s:ifEnabled(…)`, `Deprecated:`
/// paragraphs, `+k8s:prerelease-lifecycle-gen:…` of kinds), and feature gates with their stages by release.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubeshape lifecycle lint api/ --features features/
  kubeshape lifecycle annotate swagger.json --types api/ --features features/ \\
    -o annotated.json
  kubeshape lifecycle table --types api/ --features features/ -o md
  kubeshape lifecycle diff v1.34/ v1.36/
  kubeshape lifecycle warn --schemas annotated.json manifests/
  kubeshape lifecycle docs --types api/ --features features/ -o reference/")]
pub(crate) struct LifecycleArgs {
    #[command(subcommand)]
    pub(crate) command: LifecycleCommand,
}

/// What to do about lifecycles.
#[derive(Debug, Subcommand)]
pub(crate) enum LifecycleCommand {
    Lint(LintArgs),
    Annotate(AnnotateArgs),
    Table(LifecycleTableArgs),
    Diff(LifecycleDiffArgs),
    Warn(LifecycleWarnArgs),
    Docs(LifecycleDocsArgs),
}

/// Where the lifecycle of fields is written.
#[derive(Args, Clone, Debug)]
pub(crate) struct SourceArgs {
    /// Go files with types, or folders of them (repeatable)
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) types: Vec<PathBuf>,

    /// Go files with feature gates, or folders of them (repeatable)
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) features: Vec<PathBuf>,

    /// Release of Kubernetes whose stages count, such as v1.36 [default: the newest one that the feature files know]
    ///
    /// Without it, a tag with a status means what it says, unless its gate is generally available. With it, the specs
    /// of the gate in that release count.
    #[arg(long, value_name = "RELEASE", value_parser = version)]
    pub(crate) release: Option<Version>,
}

/// What is told, and how.
#[derive(Args, Debug)]
pub(crate) struct ShownArgs {
    /// Print errors only
    #[arg(short, long, conflicts_with = "verbose")]
    pub(crate) quiet: bool,

    /// Print all warnings and notes
    #[arg(short, long)]
    pub(crate) verbose: bool,

    #[command(flatten)]
    pub(crate) findings: FindingArgs,
}

/// Check tags and feature gates
///
/// Every finding has a code, a file, a line and a column. Notes, such as gates that no field names, are shown with
/// `-v`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubeshape lifecycle lint api/ --features features/
  kubeshape lifecycle lint api/ --features features/ --output-format sarif
  kubeshape lifecycle lint api/ --features features/ --deny KS8308")]
pub(crate) struct LintArgs {
    /// Go files with types, or folders of them
    #[arg(value_name = "PATH", required = true, value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<PathBuf>,

    /// Go files with feature gates, or folders of them (repeatable); without any, gates are not checked
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) features: Vec<PathBuf>,

    /// Release of Kubernetes whose stages count [default: the newest one that the feature files know]
    #[arg(long, value_name = "RELEASE", value_parser = version)]
    pub(crate) release: Option<Version>,

    #[command(flatten)]
    pub(crate) report: ShownArgs,
}

/// Write x-kubernetes-api-lifecycle into documents
///
/// Nothing else in the documents changes. The extension of a field that is generally available is removed. The size is
/// reported, because etcd does not store objects of more than 1.5 MB.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubeshape lifecycle annotate swagger.json --types api/ --features features/ \\
    -o annotated.json
  kubeshape lifecycle annotate crds/ --types api/ --features features/ -o out/
  kubeshape lifecycle annotate crds/ --features features/ --release v1.36 \\
    -o crds/")]
pub(crate) struct AnnotateArgs {
    /// OpenAPI v2 and v3 documents and CustomResourceDefinitions: files, folders, or `-`
    #[arg(value_name = "DOC", required = true, value_hint = ValueHint::AnyPath)]
    pub(crate) documents: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) sources: SourceArgs,

    /// File for the result, or folder for several [default: standard output]
    #[arg(short, long, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) report: ShownArgs,
}

/// List all fields with a lifecycle, by stage, or all kinds
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubeshape lifecycle table --types api/ --features features/
  kubeshape lifecycle table --kinds --release v1.36
  kubeshape lifecycle table --types api/ --features features/ --release v1.35 \\
    -o json")]
pub(crate) struct LifecycleTableArgs {
    #[command(flatten)]
    pub(crate) sources: SourceArgs,

    /// List kinds with the releases that have them, instead of fields
    ///
    /// The kinds are those of --types; without --types, the built-in kinds of Kubernetes that come to an end. Lists go
    /// with their kinds and are left out.
    #[arg(long)]
    pub(crate) kinds: bool,

    /// Format of the list
    #[arg(short = 'o', long = "format", value_name = "FORMAT", default_value = "text")]
    pub(crate) format: LifecycleFormat,

    /// Print errors only
    #[arg(short, long)]
    pub(crate) quiet: bool,

    #[command(flatten)]
    pub(crate) findings: FindingArgs,
}

/// List what changed between two releases: promotions, deprecations, new and removed fields and kinds
///
/// OLD and NEW are folders with Go types and feature gates. Packages are compared by their paths below these folders.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubeshape lifecycle diff v1.34/ v1.36/
  kubeshape lifecycle diff v1.34/ v1.36/ -o md
  kubeshape lifecycle diff v1.34/ v1.36/ --old-release 1.34 --new-release 1.36")]
pub(crate) struct LifecycleDiffArgs {
    /// Folder of the older release
    #[arg(value_name = "OLD", value_hint = ValueHint::DirPath)]
    pub(crate) old: PathBuf,

    /// Folder of the newer release
    #[arg(value_name = "NEW", value_hint = ValueHint::DirPath)]
    pub(crate) new: PathBuf,

    /// Release of OLD [default: the newest one that its feature files know]
    #[arg(long, value_name = "RELEASE", value_parser = version)]
    pub(crate) old_release: Option<Version>,

    /// Release of NEW [default: the newest one that its feature files know]
    ///
    /// With both releases, the report has the kinds that are deprecated or no longer served in NEW. Without them, it has
    /// only the kinds that are new or gone, or whose tags name other releases.
    #[arg(long, value_name = "RELEASE", value_parser = version)]
    pub(crate) new_release: Option<Version>,

    /// Format of the list
    #[arg(short = 'o', long = "format", value_name = "FORMAT", default_value = "text")]
    pub(crate) format: LifecycleFormat,

    /// Print errors only
    #[arg(short, long)]
    pub(crate) quiet: bool,

    #[command(flatten)]
    pub(crate) findings: FindingArgs,
}

/// Tell which fields of objects are alpha, beta, deprecated or off in a cluster
///
/// The schemas say it with x-kubernetes-api-lifecycle, which `kubeshape lifecycle annotate` writes. Kinds and API
/// versions that are deprecated are told as well, in the words of the server. Warnings do not fail the command, unless
/// they are denied.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubeshape lifecycle warn --schemas annotated.json manifests/
  kubeshape lifecycle warn --schemas crds/ --kubernetes 1.36 \\
    --feature-gates Frobber2D=true manifests/
  kubeshape lifecycle warn --schemas crds/ --as-headers frobber.yaml")]
pub(crate) struct LifecycleWarnArgs {
    /// Objects: files, folders, or `-`
    #[arg(value_name = "OBJECT", required = true, value_hint = ValueHint::AnyPath)]
    pub(crate) objects: Vec<PathBuf>,

    /// CustomResourceDefinitions and OpenAPI documents with the extension: files and folders (repeatable)
    #[arg(long, value_name = "INPUT", required = true, value_hint = ValueHint::AnyPath)]
    pub(crate) schemas: Vec<PathBuf>,

    /// Release of the cluster, such as 1.36 [default: the one that the schemas are of]
    ///
    /// Without it, no field is too new, and a kind is told as soon as any release deprecates it.
    #[arg(long, value_name = "RELEASE", value_parser = version)]
    pub(crate) kubernetes: Option<Version>,

    /// Feature gates of the cluster, such as Foo=true,Bar=false (repeatable)
    ///
    /// Without a value, a gate is as the feature files say (--features), else on unless the field is alpha. AllAlpha
    /// and AllBeta set all gates of a stage.
    #[arg(long, value_name = "GATES", value_parser = gates)]
    pub(crate) feature_gates: Vec<BTreeMap<String, bool>>,

    /// Go files with feature gates, or folders of them (repeatable)
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) features: Vec<PathBuf>,

    /// Print the warnings as values of the header `Warning`, as a server sends them
    #[arg(long)]
    pub(crate) as_headers: bool,

    #[command(flatten)]
    pub(crate) report: ShownArgs,
}

/// Feature gates of a cluster, for the fields of objects.
#[derive(Args, Clone, Debug)]
pub(crate) struct GateArgs {
    /// Feature gates of the cluster, such as Foo=true,Bar=false (repeatable), for fields with a lifecycle
    ///
    /// Reports fields that are alpha, deprecated or off, if the schemas have x-kubernetes-api-lifecycle. Without a
    /// value, the gates of alpha fields are off and all others on. AllAlpha and AllBeta set all gates of a stage.
    #[arg(long, value_name = "GATES", value_parser = gates)]
    pub(crate) feature_gates: Vec<BTreeMap<String, bool>>,
}

impl GateArgs {
    /// All gates. Of a gate that stands twice, the last value counts.
    pub(crate) fn all(&self) -> BTreeMap<String, bool> {
        self.feature_gates.iter().flatten().map(|(gate, value)| (gate.clone(), *value)).collect()
    }
}

/// Write reference pages: a Markdown file per kind with the stage of each field
///
/// A kind is a type that embeds TypeMeta, in a package that is named like a version. Each page lists all fields below
/// the kind with their types, stages, releases, feature gates and descriptions. All pages are written at the end, or
/// none.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubeshape lifecycle docs --types api/ --features features/ -o reference/
  kubeshape lifecycle docs --types api/ --features features/ \\
    --release v1.36 -o reference/ --prune")]
pub(crate) struct LifecycleDocsArgs {
    #[command(flatten)]
    pub(crate) sources: SourceArgs,

    /// Folder for the pages, VERSION/KIND.md and index.md; it is created
    #[arg(short, long, value_name = "FOLDER", required = true, value_hint = ValueHint::DirPath)]
    pub(crate) output: PathBuf,

    /// Delete pages of earlier runs that this run does not write, unless they were changed since
    #[arg(long)]
    pub(crate) prune: bool,

    #[command(flatten)]
    pub(crate) report: ShownArgs,
}

/// The format of a list of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LifecycleFormat {
    /// Columns
    Text,
    /// Comma-separated values
    Csv,
    /// A table in Markdown
    Md,
    /// A JSON array
    Json,
}

/// A release such as `v1.36`.
fn version(text: &str) -> Result<Version, String> {
    let parsed = Version::parse(text).ok_or_else(|| "expected a minor release such as v1.36".to_owned())?;
    if parsed.exists() { Ok(parsed) } else { Err(format!("Kubernetes has no release {parsed}")) }
}
