//! The command lines about objects, their fields and who owns them.

use super::{FilenameArgs, FindingArgs, GateArgs, ReportFormat, SmdCompat, WalkArgs};
use crate::error::Fatal;
use clap::{Args, ValueEnum, ValueHint};
use kubeshape_schema::Releases;
use kubeshape_validate::Release;
use std::path::PathBuf;

/// Where the types of objects come from.
#[derive(Args, Debug)]
pub(crate) struct TypeArgs {
    /// Schemas of the objects (repeatable): CustomResourceDefinitions, OpenAPI documents, structured-merge-diff
    /// schemas, folders of them, or `-`
    ///
    /// The type of an object is found by its apiVersion and kind, in all versions of CustomResourceDefinitions (v1 and
    /// v1beta1), and by x-kubernetes-group-version-kind in OpenAPI v2 and v3 documents. For the built-in kinds of your
    /// cluster, take its document: `kubectl get --raw /openapi/v3/apis/apps/v1 > apps.json`. A structured-merge-diff
    /// schema does not tell the kinds of its types, so it needs `--type`.
    #[arg(long, value_name = "INPUT", value_hint = ValueHint::AnyPath)]
    pub(crate) schemas: Vec<PathBuf>,

    /// Release of Kubernetes whose rules count, such as 1.34 [default: that of the cluster in --schemas, else 1.37]
    ///
    /// If it is given, or if there is no --schemas, the built-in kinds of the release are known as well, from 1.31 on.
    /// A kind that --schemas defines is used instead of the built-in one.
    #[arg(long, value_name = "RELEASE", value_parser = super::known_release)]
    pub(crate) kubernetes: Option<Release>,

    /// Name of the type of all objects in a structured-merge-diff schema
    #[arg(long = "type", value_name = "NAME")]
    pub(crate) type_name: Option<String>,

    /// Release of structured-merge-diff to follow [default: that of the release of Kubernetes]
    ///
    /// v6.3, which Kubernetes uses up to 1.36, ignores text after the JSON of a key or a value in managedFields, as in
    /// k:{"a":1}x. v6.4, which 1.37 uses, rejects such managedFields; references to types in schemas that are made from
    /// CustomResourceDefinitions and OpenAPI documents also tell whether they are nullable. v7.0, which 1.38 will use,
    /// writes <, >, & and small numbers in managedFields in another way, and accepts only JSON in them.
    #[arg(long, value_name = "RELEASE")]
    pub(crate) smd_compat: Option<SmdCompat>,

    #[command(flatten)]
    pub(crate) walk: WalkArgs,
}

/// How results are printed.
#[derive(Args, Debug)]
pub(crate) struct ResultArgs {
    /// Where to write: a file (a name ending in .json, .yaml or .yml), or `-`; `json` and `yaml` select the format on
    /// standard output
    ///
    /// A file is written completely or not at all. The format of a file is JSON if its name ends in .json, else YAML.
    /// Commands that write objects (apply, update, extract, merge) also take a folder: a name that ends in `/`, or a
    /// folder that exists. Every object gets a file in it, KIND.NAMESPACE.NAME.yaml.
    #[arg(short, long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,

    /// Wait until files are on the disk before they get their names, and until their names are
    #[arg(long)]
    pub(crate) fsync: bool,

    /// Print errors only
    #[arg(short, long)]
    pub(crate) quiet: bool,

    #[command(flatten)]
    pub(crate) findings: FindingArgs,
}

/// Apply configurations to live objects, as server-side apply does
///
/// With --client-side, as `kubectl apply` does without --server-side.
///
/// Prints the resulting objects with their managedFields. Prints conflicts with the messages of the API server and the
/// line of each field; the exit code is then 1. The other configurations are applied nevertheless.
///
/// This command merges, and does nothing else that a server does: it adds no defaults of the schema (such as
/// `protocol: TCP`), runs no admission, validates values by their types only, and sets no uid, creationTimestamp,
/// generation or resourceVersion.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubeshape apply --schemas crds/ --live live.yaml --field-manager ci new.yaml
  kubeshape apply --schemas crds/ --field-manager ci new.yaml
  kubectl get deploy web -o yaml --show-managed-fields |
    kubeshape apply --kubernetes 1.34 --live - --field-manager ci web.yaml
  kubeshape apply --client-side --live live.yaml web.yaml
  helm template shop chart/ | kubeshape apply --plan --live live/ \\
    --field-manager helm --namespace prod -")]
pub(crate) struct ApplyArgs {
    /// Take over fields that other managers own
    #[arg(long)]
    pub(crate) force_conflicts: bool,

    /// Name of the field manager [default with --client-side: kubectl-client-side-apply]
    #[arg(long, value_name = "NAME", required_unless_present_any = ["client_side", "helm_release", "helm_install"])]
    pub(crate) field_manager: Option<String>,

    /// Apply as `kubectl apply` does without --server-side
    ///
    /// kubectl compares the last configuration, which is in the annotation
    /// kubectl.kubernetes.io/last-applied-configuration of the live object, the new one, and the live object. It sends
    /// a strategic merge patch for built-in kinds, and a JSON merge patch for others.
    #[arg(long, conflicts_with_all = ["force_conflicts", "migrate", "subresource"])]
    pub(crate) client_side: bool,

    /// Give the fields of client-side apply to --field-manager, as `kubectl apply --server-side` does
    #[arg(long, conflicts_with = "subresource")]
    pub(crate) migrate: bool,

    /// Print a report instead of the objects: what the apply of all configurations would do
    ///
    /// Objects that are created and changed, conflicts by manager with both values and their places, fields that are
    /// removed, fields that stay because another manager owns them, and what the next apply of other managers does. The
    /// exit code is 1 if an apply would be refused. `--plan=json` and `--plan=markdown` select other formats.
    #[arg(
        long,
        value_name = "FORMAT",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "text",
        conflicts_with_all = ["client_side", "migrate", "subresource"],
        help_heading = PLANS
    )]
    pub(crate) plan: Option<ReportFormat>,

    /// Whose way to apply, and whose words [default: the tool with the name of the manager]
    #[arg(long, value_name = "TOOL", requires = "plan", help_heading = PLANS)]
    pub(crate) tool: Option<ToolArg>,

    /// Namespace of configurations that name none
    #[arg(long, value_name = "NAME", requires = "plan", help_heading = PLANS)]
    pub(crate) namespace: Option<String>,

    /// Take the last configuration from a release of Helm: its Secret is among the live objects
    ///
    /// The namespace is that of the release, and the manager is `helm` unless you name another one. Objects that the
    /// configurations no longer have are deleted.
    #[arg(long, value_name = "NAME", requires = "plan", help_heading = PLANS)]
    pub(crate) helm_release: Option<String>,

    /// Plan `helm install NAME --take-ownership`: the release is new, and some of its objects exist
    ///
    /// The manager is `helm` unless you name another one. --namespace is the namespace of the release, `default` without
    /// it.
    #[arg(long, value_name = "NAME", requires = "plan", conflicts_with = "helm_release", help_heading = PLANS)]
    pub(crate) helm_install: Option<String>,

    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

const PLANS: &str = "Options for plans";

/// `--tool`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ToolArg {
    /// None: the words of the server
    Server,
    /// kubectl apply --server-side, which takes over the fields of client-side apply
    Kubectl,
    /// Helm 4
    Helm,
    /// Argo CD with ServerSideApply=true, which takes over what it sets
    Argocd,
    /// Flux, which takes over what it sets
    Flux,
}

/// Replace live objects, as an update or a patch does
///
/// CONFIG is the complete new object: fields that it lacks are removed. Prints the resulting objects with their
/// managedFields. The manager owns the fields that changed.
///
/// This command tracks ownership, and does nothing else that a server does: it adds no defaults of the schema, rejects
/// unknown fields instead of dropping them, runs no admission, validates values by their types only, and sets no uid,
/// creationTimestamp, generation or resourceVersion.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubeshape update --schemas crds/ --live live.yaml --field-manager ci new.yaml
  kubeshape update --schemas crds/ --live live.yaml --field-manager ci \\
    --subresource status new.yaml")]
pub(crate) struct UpdateArgs {
    /// Name of the field manager
    #[arg(long, value_name = "NAME", required = true)]
    pub(crate) field_manager: String,

    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

/// What applying and updating have in common.
#[derive(Args, Debug)]
pub(crate) struct WriteArgs {
    /// Configurations: files with any number of objects, or `-`
    #[arg(value_name = "CONFIG", required_unless_present = "filename", value_hint = ValueHint::FilePath)]
    pub(crate) configs: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) filenames: FilenameArgs,

    #[command(flatten)]
    pub(crate) types: TypeArgs,

    #[command(flatten)]
    pub(crate) gates: GateArgs,

    /// Live objects, with their managedFields (repeatable)
    ///
    /// A configuration belongs to the live object with the same group, kind, namespace and name. If there is none, the
    /// configuration creates the object. A file that is empty has no objects; one that does not exist is an error,
    /// unless --live-optional is given.
    #[arg(long, value_name = "LIVE", value_hint = ValueHint::FilePath)]
    pub(crate) live: Vec<PathBuf>,

    /// A --live file that does not exist has no objects
    #[arg(long, requires = "live")]
    pub(crate) live_optional: bool,

    /// Subresource of the request, such as status
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    pub(crate) subresource: String,

    /// Time of the request, such as 2030-01-31T12:00:00Z [default: now]
    #[arg(long, value_name = "TIME")]
    pub(crate) now: Option<String>,

    #[command(flatten)]
    pub(crate) result: ResultArgs,
}

/// Show who owns each field of objects
///
/// Prints each object as YAML with a comment after each line that names its owners: manager, operation and time, and
/// subresource and version where they matter. Fields without an owner are marked as well.
///
/// Of a list, or of several objects, each is printed behind its name; with --paths, the name stands in front of each
/// line.
///
/// Without --schemas, items of lists are found by the keys in managedFields.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubectl get deploy web -o yaml --show-managed-fields | kubeshape blame -
  kubectl get deploy -A -o yaml --show-managed-fields | kubeshape blame --paths -
  kubeshape blame --paths widget.yaml | grep '\\.spec\\.'")]
pub(crate) struct BlameArgs {
    /// Objects, with their managedFields: files with any number of objects, folders, or `-`
    #[arg(value_name = "OBJECT", required_unless_present = "filename", value_hint = ValueHint::AnyPath)]
    pub(crate) objects: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) filenames: FilenameArgs,

    #[command(flatten)]
    pub(crate) types: TypeArgs,

    /// Print one line per field: its path, a tab, its owners
    #[arg(long)]
    pub(crate) paths: bool,

    /// Also print managedFields
    #[arg(long)]
    pub(crate) show_managed_fields: bool,

    #[command(flatten)]
    pub(crate) result: ResultArgs,
}

/// Extract the configuration that a manager applied
///
/// Prints the part of each object that the manager owns, as client-go's Extract functions do. If the manager applies
/// this configuration again, nothing changes. Prints nothing if the manager has not applied anything.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  kubeshape extract --schemas crds/ --field-manager ci live.yaml > config.yaml")]
pub(crate) struct ExtractArgs {
    /// Objects, with their managedFields: files with any number of objects, folders, or `-`
    #[arg(value_name = "OBJECT", required_unless_present = "filename", value_hint = ValueHint::AnyPath)]
    pub(crate) objects: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) filenames: FilenameArgs,

    #[command(flatten)]
    pub(crate) types: TypeArgs,

    /// Name of the field manager
    #[arg(long, value_name = "NAME", required = true)]
    pub(crate) field_manager: String,

    /// Subresource of the request, such as status
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    pub(crate) subresource: String,

    #[command(flatten)]
    pub(crate) result: ResultArgs,
}

/// Compare objects of one type
///
/// Prints the fields that only B has, the fields whose values differ with the old and the new value, and the fields
/// that only A has. The order of items with keys does not matter. The exit code is 1 if there is a difference.
///
/// If A and B hold one object each, these two are compared. Otherwise objects are compared that have the same group,
/// kind, namespace and name, and the others are named.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  kubeshape compare --schemas crds/ before.yaml after.yaml")]
pub(crate) struct CompareArgs {
    /// The objects before: a file with any number of objects, a folder, or `-`
    #[arg(value_name = "A", required_unless_present = "filename", value_hint = ValueHint::AnyPath)]
    pub(crate) a: Option<PathBuf>,

    /// The objects after
    #[arg(value_name = "B", required_unless_present = "filename", value_hint = ValueHint::AnyPath)]
    pub(crate) b: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) filenames: FilenameArgs,

    #[command(flatten)]
    pub(crate) types: TypeArgs,

    #[command(flatten)]
    pub(crate) result: ResultArgs,
}

/// Merge an object into another one of the same type
///
/// Values of B replace those of A, and nothing is removed. This is the first step of an apply, without owners.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  kubeshape merge --schemas crds/ live.yaml config.yaml")]
pub(crate) struct MergeArgs {
    /// The object to merge into: a file, or `-`
    #[arg(value_name = "A", required_unless_present = "filename", value_hint = ValueHint::FilePath)]
    pub(crate) a: Option<PathBuf>,

    /// The object to merge: a file, or `-`
    #[arg(value_name = "B", required_unless_present = "filename", value_hint = ValueHint::FilePath)]
    pub(crate) b: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) filenames: FilenameArgs,

    #[command(flatten)]
    pub(crate) types: TypeArgs,

    #[command(flatten)]
    pub(crate) result: ResultArgs,
}

/// Print the field set of objects, as in managedFields
///
/// Of a list, or of several objects, each set is printed with the name of its object.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubeshape fieldset --schemas crds/ widget.yaml
  kubeshape fieldset --schemas k8s-schema.yaml --type io.k8s.api.core.v1.Pod \\
    --paths pod.yaml")]
pub(crate) struct FieldsetArgs {
    /// Objects: files with any number of objects, folders, or `-`
    #[arg(value_name = "OBJECT", required_unless_present = "filename", value_hint = ValueHint::AnyPath)]
    pub(crate) objects: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) filenames: FilenameArgs,

    #[command(flatten)]
    pub(crate) types: TypeArgs,

    /// Print one path per line
    #[arg(long)]
    pub(crate) paths: bool,

    #[command(flatten)]
    pub(crate) result: ResultArgs,
}

/// Run test suites of APIs and admission policies, and scenarios of server-side apply
///
/// A test suite names a CustomResourceDefinition, and has objects that are created or updated with the object or the
/// error that is expected of each. It has the format of the suites of openshift/api, which need an API server
/// elsewhere. A suite of policies names admission policies instead, and its cases have users, and objects that are
/// deleted. A scenario has steps of server-side apply with the expected result of each. Both are YAML documents; files
/// and folders may hold both. Prints what does not hold; the exit code is then 1. docs/test.md describes the formats.
///
/// A suite runs against each definition of its name among --schemas and the other inputs, or else in the folder
/// zz_generated.crd-manifests two folders above it, as in openshift/api.
#[derive(Args, Debug)]
#[command(
    visible_alias = "scenario",
    after_help = "\
Examples:
  kubeshape test --schemas config/crd/bases tests/
  kubeshape test --schemas config/crd/bases tests/ --filter immutable
  kubeshape test --schemas config/crd/bases tests/ --kubernetes 1.31..1.37
  kubeshape test --policies policies/ tests/
  kubeshape test --update tests/conflict.yaml        correct the expectations
  kubeshape test --schemas config/crd/bases tests/ --output-format junit > junit.xml"
)]
pub(crate) struct TestArgs {
    /// Files and folders of suites and scenarios, or `-`
    #[arg(value_name = "SUITE", required_unless_present = "filename", value_hint = ValueHint::AnyPath)]
    pub(crate) files: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) filenames: FilenameArgs,

    #[command(flatten)]
    pub(crate) walk: WalkArgs,

    /// CustomResourceDefinitions of suites: files and folders (repeatable)
    #[arg(long, value_name = "INPUT", value_hint = ValueHint::AnyPath)]
    pub(crate) schemas: Vec<PathBuf>,

    /// Admission policies of suites, with their bindings, parameters and Namespaces: files and folders (repeatable)
    #[arg(long, value_name = "INPUT", value_hint = ValueHint::AnyPath)]
    pub(crate) policies: Vec<PathBuf>,

    /// Run the cases and scenarios whose name, or the name of their suite, contains this text
    #[arg(long, value_name = "TEXT")]
    pub(crate) filter: Option<String>,

    /// Correct expectations that do not hold, and fill in empty ones; nothing else in the file changes
    #[arg(long)]
    pub(crate) update: bool,

    /// Release of Kubernetes whose rules are used, such as 1.34, or a range such as 1.31..1.37
    /// [default: 1.37; in a scenario, the one that it names]
    ///
    /// From 1.28 to 1.37. Without it, a suite may have the words of an older release. Scenarios know the built-in kinds
    /// of the release, from 1.31 on; they name it as `kubernetes: "1.34"`. A kind that its schemas define is used
    /// instead of the built-in one. With a range, everything must hold in every release, and what fails in some of them
    /// names these.
    #[arg(long, value_name = "RELEASE")]
    pub(crate) kubernetes: Option<Releases>,

    /// Release of structured-merge-diff to follow [default: that of the release of Kubernetes]
    ///
    /// `kubeshape apply --help` says what differs.
    #[arg(long, value_name = "RELEASE")]
    pub(crate) smd_compat: Option<SmdCompat>,

    /// Print only failed expectations and the summary
    #[arg(short, long, conflicts_with = "verbose")]
    pub(crate) quiet: bool,

    /// Also name the cases that pass
    #[arg(short, long)]
    pub(crate) verbose: bool,

    #[command(flatten)]
    pub(crate) findings: FindingArgs,
}

/// The two inputs of a command.
///
/// # Errors
/// There are not two.
fn two(filenames: &FilenameArgs, a: Option<&PathBuf>, b: Option<&PathBuf>) -> Result<[PathBuf; 2], Fatal> {
    let others: Vec<PathBuf> = a.into_iter().chain(b).cloned().collect();
    let found = filenames.and(&others);
    let count = found.len();
    found.try_into().map_err(|_| Fatal::Usage(format!("expected two inputs, A and B; found {count}")))
}

impl CompareArgs {
    /// A and B.
    ///
    /// # Errors
    /// There are not two inputs.
    pub(crate) fn two(&self) -> Result<[PathBuf; 2], Fatal> {
        two(&self.filenames, self.a.as_ref(), self.b.as_ref())
    }
}

impl MergeArgs {
    /// A and B.
    ///
    /// # Errors
    /// There are not two inputs.
    pub(crate) fn two(&self) -> Result<[PathBuf; 2], Fatal> {
        two(&self.filenames, self.a.as_ref(), self.b.as_ref())
    }
}
