//! The command lines about objects, their fields and who owns them.

use super::SmdCompat;
use clap::{Args, ValueHint};
use std::path::PathBuf;

/// Where the types of objects come from.
#[derive(Args, Debug)]
pub(crate) struct TypeArgs {
    /// Where the types of objects come from (repeatable): CustomResourceDefinitions, OpenAPI documents,
    /// structured-merge-diff schemas, folders of them, or `-`
    ///
    /// An object finds its type by apiVersion and kind: in CustomResourceDefinitions (v1 and v1beta1, all versions),
    /// and by x-kubernetes-group-version-kind in OpenAPI v2 and v3 documents. Built-in types come from a document of a
    /// cluster: `kubectl get --raw /openapi/v3/apis/apps/v1 > apps.json`. A structured-merge-diff schema does not say
    /// which kinds its types are of: add `--type`.
    #[arg(long, value_name = "INPUT", value_hint = ValueHint::AnyPath)]
    pub(crate) schemas: Vec<PathBuf>,

    /// Type of all objects, by its name in a structured-merge-diff schema
    #[arg(long = "type", value_name = "NAME")]
    pub(crate) type_name: Option<String>,

    /// Release of structured-merge-diff that is followed where releases differ
    ///
    /// They differ in two things. v6.3, which is in Kubernetes 1.36, passes over what stands behind the JSON of a key or
    /// a value in managedFields, as in k:{"a":1}x; v6.4 refuses such managedFields. With v6.4, schemas that are made of
    /// CustomResourceDefinitions and OpenAPI documents also say of references to types whether they are nullable.
    #[arg(long, value_name = "RELEASE", default_value = "v6.3")]
    pub(crate) smd_compat: SmdCompat,
}

/// How results are printed.
#[derive(Args, Debug)]
pub(crate) struct ResultArgs {
    /// Where to write: a file (a name ending in .json, .yaml or .yml), or `-`; the words `json` and `yaml` are formats
    /// of standard output
    ///
    /// A file appears whole or not at all. A name ending in .json gets JSON. What writes objects (apply, update, extract,
    /// merge) also takes a folder: a name ending in `/`, or a folder that exists. In it every object gets a file,
    /// KIND.NAMESPACE.NAME.yaml.
    #[arg(short, long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,

    /// Print errors only
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// Put configurations over live objects as server-side apply does
///
/// Prints the live objects as they are afterwards, with their managedFields. Conflicts are printed as the API server
/// words them, with the line of each field, and the exit code is 1; the other configurations are applied all the same.
///
/// Not done is what a server does beside merging: it does not put the schema's defaults into the result (a server would
/// add `protocol: TCP` where the schema has that default), runs no admission, checks no values except by their types,
/// and sets neither uid, creationTimestamp, generation nor resourceVersion.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubeshape apply --schemas crds/ --live live.yaml --field-manager ci widget.yaml
  kubeshape apply --schemas crds/ --field-manager ci widget.yaml            creation by apply
  kubectl get deploy web -o yaml --show-managed-fields |
    kubeshape apply --schemas apps.json --live - --field-manager ci --force-conflicts web.yaml")]
pub(crate) struct ApplyArgs {
    /// Take fields over that other managers own
    #[arg(long)]
    pub(crate) force_conflicts: bool,

    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

/// Replace live objects as an update or a patch does
///
/// CONFIG is the whole new object: what it lacks is removed. Prints the live objects as they are afterwards: what
/// changed belongs to the manager.
///
/// Not done is what a server does beside that: it does not put the schema's defaults into the object, refuses
/// unknown fields instead of dropping them, runs no admission, checks no values except by their types, and sets neither uid, creationTimestamp, generation
/// nor resourceVersion.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubeshape update --schemas crds/ --live live.yaml --field-manager controller new.yaml
  kubeshape update --schemas crds/ --live live.yaml --field-manager controller --subresource status new.yaml")]
pub(crate) struct UpdateArgs {
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

/// What applying and updating have in common.
#[derive(Args, Debug)]
pub(crate) struct WriteArgs {
    /// Configurations, as kubectl takes them: files with any number of objects, or `-`
    #[arg(value_name = "CONFIG", required = true, value_hint = ValueHint::FilePath)]
    pub(crate) configs: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) types: TypeArgs,

    /// Live objects, with their managedFields (repeatable)
    ///
    /// Objects belong together by group, kind, namespace and name. Without a live object, the configuration creates
    /// one. A file that is empty or does not exist holds no objects.
    #[arg(long, value_name = "LIVE", value_hint = ValueHint::FilePath)]
    pub(crate) live: Vec<PathBuf>,

    /// Name of who applies or updates
    #[arg(long, value_name = "NAME", required = true)]
    pub(crate) field_manager: String,

    /// Subresource that the request goes to, such as status
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    pub(crate) subresource: String,

    /// Time of the request, such as 2030-01-31T12:00:00Z [default: the present]
    #[arg(long, value_name = "TIME")]
    pub(crate) now: Option<String>,

    #[command(flatten)]
    pub(crate) result: ResultArgs,
}

/// Show who owns each field of an object
///
/// Prints the object as YAML, and behind each line who owns it: manager, operation and time, and subresource and
/// version where they matter. A field that nobody owns says so. The result is still YAML.
///
/// Without --schemas the items of lists are found by the keys that managedFields hold.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubectl get deploy web -o yaml --show-managed-fields | kubeshape blame -
  kubeshape blame --paths widget.yaml | grep '\\.spec\\.'")]
pub(crate) struct BlameArgs {
    /// The object, with its managedFields: a file, or `-`
    #[arg(value_name = "OBJECT", value_hint = ValueHint::FilePath)]
    pub(crate) object: PathBuf,

    #[command(flatten)]
    pub(crate) types: TypeArgs,

    /// Print a line per field: its path, a tab, its owners
    #[arg(long)]
    pub(crate) paths: bool,

    /// Print managedFields, too
    #[arg(long)]
    pub(crate) show_managed_fields: bool,

    #[command(flatten)]
    pub(crate) result: ResultArgs,
}

/// Extract the configuration that a manager applied
///
/// Prints what is left of the object when only the manager's fields stay, as client-go's Extract functions do: the
/// configuration that the manager would apply to change nothing. Nothing is printed when the manager applied nothing.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  kubeshape extract --schemas crds/ --field-manager ci live.yaml > config.yaml")]
pub(crate) struct ExtractArgs {
    /// The object, with its managedFields: a file, or `-`
    #[arg(value_name = "OBJECT", value_hint = ValueHint::FilePath)]
    pub(crate) object: PathBuf,

    #[command(flatten)]
    pub(crate) types: TypeArgs,

    /// Name of who applied
    #[arg(long, value_name = "NAME", required = true)]
    pub(crate) field_manager: String,

    /// Subresource that was applied to, such as status
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    pub(crate) subresource: String,

    #[command(flatten)]
    pub(crate) result: ResultArgs,
}

/// Compare two objects of one type
///
/// Prints the fields that B has and A lacks, those whose values differ, and those that B lacks. The order of items
/// with keys makes no difference. The exit code is 1 when anything differs.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  kubeshape compare --schemas crds/ before.yaml after.yaml")]
pub(crate) struct CompareArgs {
    /// The object before: a file, or `-`
    #[arg(value_name = "A", value_hint = ValueHint::FilePath)]
    pub(crate) a: PathBuf,

    /// The object after: a file, or `-`
    #[arg(value_name = "B", value_hint = ValueHint::FilePath)]
    pub(crate) b: PathBuf,

    #[command(flatten)]
    pub(crate) types: TypeArgs,

    #[command(flatten)]
    pub(crate) result: ResultArgs,
}

/// Merge an object over another one of its type
///
/// What both have is B's, and nothing is removed: the first step of an apply, without owners.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  kubeshape merge --schemas crds/ live.yaml config.yaml")]
pub(crate) struct MergeArgs {
    /// The object below: a file, or `-`
    #[arg(value_name = "A", value_hint = ValueHint::FilePath)]
    pub(crate) a: PathBuf,

    /// The object above: a file, or `-`
    #[arg(value_name = "B", value_hint = ValueHint::FilePath)]
    pub(crate) b: PathBuf,

    #[command(flatten)]
    pub(crate) types: TypeArgs,

    #[command(flatten)]
    pub(crate) result: ResultArgs,
}

/// Print the fields of an object as managedFields hold them
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubeshape fieldset --schemas crds/ widget.yaml
  kubeshape fieldset --schemas k8s-schema.yaml --type io.k8s.api.core.v1.Pod --paths pod.yaml")]
pub(crate) struct FieldsetArgs {
    /// The object: a file, or `-`
    #[arg(value_name = "OBJECT", value_hint = ValueHint::FilePath)]
    pub(crate) object: PathBuf,

    #[command(flatten)]
    pub(crate) types: TypeArgs,

    /// Print a path per line
    #[arg(long)]
    pub(crate) paths: bool,

    #[command(flatten)]
    pub(crate) result: ResultArgs,
}

/// Run scenarios of server-side apply and check what they expect
///
/// A scenario is a YAML document: schemas, steps, and what is expected of each step. Prints every step with the owners
/// after it, and every expectation with what was found where it does not hold; then the exit code is 1. It is the way
/// to test server-side apply without an API server. docs/apply.md describes the format.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubeshape scenario tests/*.yaml
  kubeshape scenario --update tests/conflict.yaml      fill in and correct what is expected")]
pub(crate) struct ScenarioArgs {
    /// Files and folders of scenarios, or `-`
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::AnyPath)]
    pub(crate) files: Vec<PathBuf>,

    /// Rewrite expectations that do not hold, and fill empty ones in; the rest of the file stays as it is
    #[arg(long)]
    pub(crate) update: bool,

    /// Release of structured-merge-diff that is followed where releases differ
    ///
    /// They differ in two things. v6.3, which is in Kubernetes 1.36, passes over what stands behind the JSON of a key or
    /// a value in managedFields, as in k:{"a":1}x; v6.4 refuses such managedFields. With v6.4, schemas that are made of
    /// CustomResourceDefinitions and OpenAPI documents also say of references to types whether they are nullable.
    #[arg(long, value_name = "RELEASE", default_value = "v6.4")]
    pub(crate) smd_compat: SmdCompat,

    /// Print failed expectations and the summary only
    #[arg(short, long)]
    pub(crate) quiet: bool,
}
