//! The command lines about what kubectl shows: `table`, `explain`, `sample`.

use super::{FilenameArgs, FindingArgs, ResultArgs, TypeArgs};
use clap::{Args, ValueHint};
use std::path::PathBuf;

/// Print objects as `kubectl get` prints them
///
/// The columns are those of the CustomResourceDefinition (additionalPrinterColumns), and objects have the defaults of
/// its schema, as a server returns them. Each kind gets a table of its own. Built-in kinds have the columns of
/// kube-apiserver.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubeshape table --schemas crds/ widgets.yaml
  kubeshape table --schemas crds/ widgets/ -A -o wide
  kubeshape table --schemas crds/ widgets.yaml -o csv > widgets.csv
  kubeshape table --schemas crds/ widgets.yaml \\
    -o 'jsonpath={range .items[*]}{.metadata.name}{\"\\n\"}{end}'")]
pub(crate) struct TableArgs {
    /// Objects: files with any number of objects, folders, or `-`
    #[arg(value_name = "OBJECT", required_unless_present = "filename", value_hint = ValueHint::AnyPath)]
    pub(crate) objects: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) filenames: FilenameArgs,

    #[command(flatten)]
    pub(crate) types: TypeArgs,

    /// `table`, `wide`, `csv`, `json`, or `jsonpath=TEMPLATE`
    ///
    /// `json` is the Table that a server answers with. A template is applied as kubectl applies it: to the object, or
    /// to a List if there are several. Nothing else is printed then, and the kinds need not be known.
    #[arg(short = 'o', long = "format", value_name = "FORMAT", default_value = "table", value_parser = table_format)]
    pub(crate) format: TableFormat,

    /// Show columns of every priority, as `-o wide` does
    #[arg(long)]
    pub(crate) wide: bool,

    /// Begin each row with the namespace
    #[arg(short = 'A', long)]
    pub(crate) all_namespaces: bool,

    /// Leave out the heads of the columns
    #[arg(long)]
    pub(crate) no_headers: bool,

    /// Time from which ages are counted, such as 2030-01-31T12:00:00Z [default: now]
    #[arg(long, value_name = "TIME")]
    pub(crate) now: Option<String>,

    /// Print errors only
    #[arg(short, long)]
    pub(crate) quiet: bool,

    #[command(flatten)]
    pub(crate) findings: FindingArgs,
}

/// The format of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TableFormat {
    Table,
    Wide,
    Csv,
    Json,
    JsonPath(String),
}

fn table_format(text: &str) -> Result<TableFormat, String> {
    match text {
        "table" => Ok(TableFormat::Table),
        "wide" => Ok(TableFormat::Wide),
        "csv" => Ok(TableFormat::Csv),
        "json" => Ok(TableFormat::Json),
        _ => match text.strip_prefix("jsonpath=") {
            Some(template) => Ok(TableFormat::JsonPath(template.to_owned())),
            None => Err("expected table, wide, csv, json or jsonpath=TEMPLATE".to_owned()),
        },
    }
}

/// Explain a resource and its fields, as `kubectl explain` does
///
/// RESOURCE is the plural or singular name of a resource, a short name or a kind, with the group if it is needed
/// (`deployments.apps`). Behind it stands the path of a field: `widgets.spec.size`.
///
/// The built-in kinds of --kubernetes have no descriptions; for these, give the OpenAPI documents of a cluster:
/// `kubectl get --raw /openapi/v3/apis/apps/v1 > apps.json`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubeshape explain --schemas crds/ widgets
  kubeshape explain --schemas crds/ widgets.spec.size --more
  kubeshape explain --schemas crds/ widgets --index | grep -i timeout
  kubeshape explain --schemas apps.json deployments.apps --recursive")]
pub(crate) struct ExplainFieldArgs {
    /// The resource, and the path of a field in it
    #[arg(value_name = "RESOURCE[.FIELD…]")]
    pub(crate) resource: String,

    #[command(flatten)]
    pub(crate) types: TypeArgs,

    /// Print what a shell can complete the argument to
    #[arg(long, hide = true)]
    pub(crate) complete: bool,

    /// Print all fields below, without descriptions
    #[arg(long)]
    pub(crate) recursive: bool,

    /// Group and version, such as apps/v1, if the resource has several
    #[arg(long, value_name = "VERSION")]
    pub(crate) api_version: Option<String>,

    /// Also print what kubectl does not show
    ///
    /// Formats, defaults, bounds and patterns, rules in CEL, types and keys of lists, the lifecycle
    /// (x-kubernetes-api-lifecycle), where the field is declared, and what OpenAPI v2 loses of it.
    #[arg(long)]
    pub(crate) more: bool,

    /// Print one line per field: path, type, what --more prints, and the description, separated by tabs
    #[arg(long, conflicts_with_all = ["recursive", "more"])]
    pub(crate) index: bool,

    /// `text`, or `json`: one JSON object per field
    #[arg(short = 'o', long = "format", value_name = "FORMAT", default_value = "text")]
    pub(crate) format: ExplainFormat,

    /// Print errors only
    #[arg(short, long)]
    pub(crate) quiet: bool,

    #[command(flatten)]
    pub(crate) findings: FindingArgs,
}

/// The format of explained fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ExplainFormat {
    /// A page
    Text,
    /// One JSON object per field
    Json,
}

/// Write an object of a kind that the server accepts
///
/// The smallest object has its spec, and the required fields only. What the schema demands of a value is solved: types,
/// enums, bounds, lengths, patterns, formats, keys of lists. The sample is checked as the server checks it; if the
/// command finds no value for a field, it says so, and the exit code is 1.
///
/// Built-in kinds, such as Deployment, come from --kubernetes, or from the OpenAPI documents of a cluster, which have
/// descriptions as well. Servers have rules for these kinds that exist as Go code only. The smallest object follows
/// them: a Deployment has a selector, the labels that fit, and a container with an image. It is judged as `kubeshape
/// validate` judges it.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubeshape sample --schemas crds/ Widget
  kubeshape sample --kubernetes 1.36 Deployment
  kubeshape sample --schemas crds/ widgets.example.com --maximal --comments")]
pub(crate) struct SampleArgs {
    /// The kind, or a name of its resource
    #[arg(value_name = "KIND")]
    pub(crate) kind: String,

    #[command(flatten)]
    pub(crate) types: TypeArgs,

    /// Print what a shell can complete the argument to
    #[arg(long, hide = true)]
    pub(crate) complete: bool,

    /// Write every field, except the fewest that rules forbid together with others
    #[arg(long)]
    pub(crate) maximal: bool,

    /// Write the first sentence of each description as a comment
    #[arg(long)]
    pub(crate) comments: bool,

    /// Group and version, such as example.com/v1, if the kind has several
    #[arg(long, value_name = "VERSION")]
    pub(crate) api_version: Option<String>,

    #[command(flatten)]
    pub(crate) result: ResultArgs,
}
