//! The command line: one definition from which help, man page and completions are made.

mod serve;
mod ssa;

pub(crate) use serve::{LogFormat, LogLevel, ServeArgs, Switch};
pub(crate) use ssa::{
    ApplyArgs, BlameArgs, CompareArgs, ExtractArgs, FieldsetArgs, MergeArgs, ResultArgs, ScenarioArgs, TypeArgs,
    UpdateArgs, WriteArgs,
};

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use kubeshape_smd::value::Compat;
use std::path::PathBuf;

/// What `--version` prints behind the name; the build script adds the commit.
const VERSION: &str = env!("KUBESHAPE_VERSION");

const DOCUMENTS: &str = "Options for documents";

const EXIT_CODES: &str = "Exit codes:
  0  done, and nothing to object
  1  the answer is no: an input failed, or an error was found in one
  2  no answer: the command line is wrong, or something could not be written";

/// Shows, without a cluster, every shape in which Kubernetes shows and treats an API.
#[derive(Debug, Parser)]
#[command(name = "kubeshape", version = VERSION, disable_help_subcommand = true, max_term_width = 100)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// When messages are coloured; the default `auto` is on a terminal without `NO_COLOR`
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_default_value = true,
        display_order = 900
    )]
    pub(crate) color: When,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Convert(Box<ConvertArgs>),
    Apply(ApplyArgs),
    Update(UpdateArgs),
    Blame(BlameArgs),
    Extract(ExtractArgs),
    Compare(CompareArgs),
    Merge(MergeArgs),
    Fieldset(FieldsetArgs),
    Scenario(ScenarioArgs),
    Serve(Box<ServeArgs>),
    ExplainCode(ExplainArgs),
    /// Print the completions of a shell
    Completions {
        /// The shell
        #[arg(value_name = "SHELL")]
        shell: clap_complete::Shell,
    },
    /// Print the manual page, in the form that `man` reads
    #[command(after_help = "Example:\n  kubeshape man | man -l -")]
    Man,
}

/// Convert CustomResourceDefinitions and OpenAPI documents to each other's shapes
///
/// Reads any number of CustomResourceDefinitions (apiextensions.k8s.io/v1 and v1beta1) from files, folders
/// and standard input, and writes the OpenAPI v3 and v2 documents that the API server would publish, the
/// structured-merge-diff schemas that server-side apply would use, JSON Schemas, and the structural schemas.
/// What a shape cannot hold is named in the report, entry by entry.
///
/// Reads whole OpenAPI v2 and v3 documents just so, and structured-merge-diff schemas; they are known by their
/// content. One document is converted, or printed anew as the API server prints it. Several, and the documents
/// of CustomResourceDefinitions beside them, become one aggregate: equal definitions are shared, others of the
/// same name are renamed, and a path that two of them have is an error.
///
/// Inputs are YAML, JSON or (documents) protobuf, plain or compressed (.gz, .zst), with any number of documents
/// and lists. Folders are searched for .yaml, .yml, .json and .pb; in them, everything else is skipped and
/// counted. A broken file is reported, and the rest goes on. The order of the inputs makes no difference.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubeshape convert crds/ --to v3 -o openapi/          a document per group version
  kubeshape convert crds/ --to v3 --to v2 --to smd -o shapes/ --report losses.ndjson
  kubeshape convert widgets.yaml --to v2               one document, on standard output
  kubectl get crd -o yaml | kubeshape convert --to v3 -o openapi/
  kubeshape convert crds/ --to v2 --onto swagger.json -o merged.json
  kubeshape convert swagger.json --to v3 -o openapi.json
  kubeshape convert swagger.json crds/ --to v3 --per group-version -o openapi/
  kubeshape convert openapi.json --to jsonschema --kind Pod

Run `kubeshape explain-code KS2001` for what a code of the report means.", after_long_help = EXAMPLES)]
pub(crate) struct ConvertArgs {
    /// Files and folders to read; `-` is standard input, which is also read when none is given
    #[arg(value_name = "INPUT", value_hint = ValueHint::AnyPath)]
    pub(crate) inputs: Vec<PathBuf>,

    /// Shape to write; may be given several times
    #[arg(long, value_name = "SHAPE", required = true, value_delimiter = ',')]
    pub(crate) to: Vec<Shape>,

    /// Where to write: a folder, a file (a name ending in .json, .yaml, .yml or .pb), or `-`
    ///
    /// A name ending in .json, .yaml, .yml or .pb is a file, `-` is standard output, and both hold exactly one
    /// result. Anything else is a folder, which is created with its parents. Without this, the one result
    /// goes to standard output.
    ///
    /// Names in a folder: apis__GROUP__VERSION_openapi.json (api__v1_openapi.json …) for OpenAPI v3 by group
    /// version, openapi.json and swagger.json for the one OpenAPI v3 and v2 document, schema.smd.yaml for
    /// their structured-merge-diff schema, and per resource PLURAL.GROUP/VERSION.v3.json and likewise .v2.json,
    /// .schema.json, .structural.yaml and PLURAL.GROUP/schema.smd.yaml. For the kinds of documents the folder is
    /// called KIND.GROUP. Files appear whole or not at all.
    #[arg(short, long, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) output: Option<PathBuf>,

    /// What a result covers [default: single for documents; for CustomResourceDefinitions v3 group-version,
    /// v2 single, everything else resource]
    ///
    /// Of documents, `single` is one document: the only one, or the aggregate of several, CustomResourceDefinitions
    /// included. `group-version` takes it apart into OpenAPI v3 documents, one for each group version and for each
    /// further root such as `version`, with the definitions that it reaches. `resource` gives a result per kind.
    #[arg(long, value_name = "UNIT")]
    pub(crate) per: Option<Per>,

    /// Kind that is written, of all that there are (repeatable): Deployment, v1/Deployment, apps/v1/Deployment, or the
    /// name of a definition
    ///
    /// Implies `--per resource`.
    #[arg(long, value_name = "NAME", help_heading = DOCUMENTS)]
    pub(crate) kind: Vec<String>,

    /// Write what references name in their place (v3)
    #[arg(long, help_heading = DOCUMENTS)]
    pub(crate) inline: bool,

    /// What becomes of definitions that contain themselves, when references are inlined
    #[arg(long, value_name = "WHAT", default_value = "keep", requires = "inline", help_heading = DOCUMENTS)]
    pub(crate) recursion: Recursion,

    /// Schemas that an inlined document has at most; beyond it is an error that names the definition [default:
    /// 1000000]
    #[arg(long, value_name = "N", requires = "inline", help_heading = DOCUMENTS)]
    pub(crate) budget: Option<u64>,

    /// Rename all definitions, and rewrite what refers to them
    #[arg(long, value_name = "STYLE", help_heading = DOCUMENTS)]
    pub(crate) rename: Option<Rename>,

    /// Carry what OpenAPI v2 does not hold of OpenAPI v3 documents as x-kubeshape-loss
    ///
    /// Conversion of such a document to OpenAPI v3 gives the original again.
    #[arg(long, help_heading = DOCUMENTS)]
    pub(crate) keep_losses: bool,

    /// Let structured-merge-diff schemas of documents keep fields that are not defined
    #[arg(long, help_heading = DOCUMENTS)]
    pub(crate) preserve_unknown: bool,

    /// Release of JSON Schema that is written
    #[arg(long, value_name = "RELEASE", default_value = "2020-12")]
    pub(crate) draft: Draft,

    /// Let JSON Schemas refuse unknown fields, exactly where the API server prunes them
    #[arg(long)]
    pub(crate) strict: bool,

    /// Document of a cluster that supplies Kubernetes' own definitions and texts (repeatable)
    ///
    /// An OpenAPI v2 or v3 document as a cluster serves it, or a folder of them. It supplies the definitions of
    /// metadata, lists and scale, the texts of parameters, and versions, instead of the built-in ones. It adds
    /// no paths.
    #[arg(long, value_name = "DOC", value_hint = ValueHint::AnyPath)]
    pub(crate) base: Vec<PathBuf>,

    /// OpenAPI v2 document onto which the resources are merged, as the API server does it
    #[arg(long, value_name = "DOC", value_hint = ValueHint::FilePath)]
    pub(crate) onto: Option<PathBuf>,

    /// Publish versions that are not served as well
    #[arg(long)]
    pub(crate) all_versions: bool,

    /// Release of structured-merge-diff whose schemas are written
    #[arg(long, value_name = "RELEASE", default_value = "v6.3")]
    pub(crate) smd_compat: SmdCompat,

    /// Which of two CustomResourceDefinitions with one name counts, by the order of the inputs' paths
    #[arg(long, value_name = "WHICH", default_value = "first")]
    pub(crate) duplicates: Duplicates,

    /// Whether upstream's faults are reproduced [default: kube for CustomResourceDefinitions, faithful for
    /// documents]
    #[arg(long, value_name = "PROFILE")]
    pub(crate) profile: Option<Profile>,

    /// Write every loss and finding to this file, a JSON object per line
    ///
    /// The members are code, kind, pointer, input, line, column, resource, version, shape and detail. `-` is
    /// standard output, when the results do not go there.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) report: Option<PathBuf>,

    /// Format of the results [default: that of the output's name, else yaml for smd and structural, json for the others]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<Format>,

    /// Indent JSON by two spaces
    ///
    /// Such a document says the same, but its bytes, and so its hash, are not those of the API server.
    #[arg(long)]
    pub(crate) pretty: bool,

    /// Number of files converted at the same time [default: all cores]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,

    /// Take everything that is skipped as a failure
    #[arg(long)]
    pub(crate) strict_input: bool,

    /// Delete older results in the output folder that this run did not write
    ///
    /// Deletes files that have the name of a result, of any shape, and folders that are empty then. Nothing is
    /// deleted when an input failed.
    #[arg(long)]
    pub(crate) prune: bool,

    /// Print errors only
    #[arg(short, long, conflicts_with = "verbose")]
    pub(crate) quiet: bool,

    /// Print every warning, with its place in the source
    #[arg(short, long)]
    pub(crate) verbose: bool,

    /// When a progress bar and a summary are shown; the default `auto` is on a terminal
    #[arg(long, value_name = "WHEN", default_value = "auto", hide_default_value = true)]
    pub(crate) progress: When,
}

const EXAMPLES: &str = "\
Examples:
  A document per group version, named as in Kubernetes' own api/openapi-spec/v3:
      kubeshape convert crds/ --to v3 -o openapi/

  Every shape, and what each of them cannot hold:
      kubeshape convert crds/ --to v3 --to v2 --to smd -o shapes/ --report losses.ndjson

  One document on standard output:
      kubeshape convert widgets.yaml --to v2

  What a cluster has:
      kubectl get crd -o yaml | kubeshape convert --to v3 -o openapi/

  The OpenAPI v2 document that a cluster would serve with these resources:
      kubectl get --raw /openapi/v2 > swagger.json
      kubeshape convert crds/ --to v2 --onto swagger.json -o merged.json

  A document in the other version, and back without a loss:
      kubeshape convert swagger.json --to v3 -o openapi.json
      kubeshape convert openapi.json --to v2 --keep-losses --report losses.ndjson -o swagger.json

  A cluster's document with further resources, cut into one per group version:
      kubeshape convert swagger.json crds/ --to v3 --per group-version -o openapi/

  The documents of a folder as one, with short names:
      kubeshape convert openapi/ --to v3 --rename short -o openapi.json

  What the API server sends to clients that ask for protobuf, and back:
      kubeshape convert swagger.json --to v2 --profile kube -o swagger.pb
      kubeshape convert swagger.pb --to v2 -o swagger.yaml

  For editors and validators, a schema per kind that refuses unknown fields:
      kubeshape convert openapi.json crds/ --to jsonschema --strict -o schemas/
      kubeshape convert openapi.json --to v3 --kind Deployment --inline -o deployment.json

  How server-side apply merges the types of a document:
      kubeshape convert openapi.json --to smd -o schema.yaml

Exit codes:
  0  done, and nothing to object
  1  the answer is no: an input failed, or an error was found in one; the good inputs are written
  2  no answer: the command line is wrong, or something could not be written

Run `kubeshape explain-code KS2001` for what a code of the report means.";

/// Explain a code of a report
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  kubeshape explain-code KS2001\n  kubeshape explain-code --list")]
pub(crate) struct ExplainArgs {
    /// The code, such as KS2001
    #[arg(value_name = "KSnnnn", required_unless_present = "list")]
    pub(crate) code: Option<String>,

    /// List all codes
    #[arg(long, conflicts_with = "code")]
    pub(crate) list: bool,
}

/// A shape in which Kubernetes shows or treats an API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Shape {
    /// The OpenAPI v3 document
    V3,
    /// The OpenAPI v2 document
    V2,
    /// The structured-merge-diff schema, as server-side apply uses it
    Smd,
    /// A self-contained JSON Schema for each kind
    #[value(name = "jsonschema")]
    JsonSchema,
    /// The structural schema of a CustomResourceDefinition
    Structural,
}

impl Shape {
    /// All shapes in the order in which their results are written.
    pub(crate) const ALL: [Shape; 5] = [Shape::V3, Shape::V2, Shape::Smd, Shape::JsonSchema, Shape::Structural];

    /// The word on the command line and in reports.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Shape::V3 => "v3",
            Shape::V2 => "v2",
            Shape::Smd => "smd",
            Shape::JsonSchema => "jsonschema",
            Shape::Structural => "structural",
        }
    }
}

/// What one result covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Per {
    /// All of a group version, as the API server publishes it (v3)
    GroupVersion,
    /// One resource, one kind of a document (any shape)
    Resource,
    /// Everything (v3, v2, smd)
    Single,
}

impl Per {
    /// The word on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Per::GroupVersion => "group-version",
            Per::Resource => "resource",
            Per::Single => "single",
        }
    }
}

/// `--smd-compat`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SmdCompat {
    /// As in Kubernetes 1.36
    #[value(name = "v6.3")]
    V63,
    /// References to types also say what is nullable; managedFields are read strictly
    #[value(name = "v6.4")]
    V64,
}

impl SmdCompat {
    /// The release whose schemas are made.
    pub(crate) fn of_schemas(self) -> kubeshape_convert::smd::SmdCompat {
        match self {
            SmdCompat::V63 => kubeshape_convert::smd::SmdCompat::V63,
            SmdCompat::V64 => kubeshape_convert::smd::SmdCompat::V64,
        }
    }

    /// The release whose reading of managed fields is followed.
    pub(crate) fn of_fields(self) -> Compat {
        match self {
            SmdCompat::V63 => Compat::V63,
            SmdCompat::V64 => Compat::V64,
        }
    }
}

/// `--duplicates`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Duplicates {
    /// The first one, with a warning
    First,
    /// The last one, with a warning
    Last,
    /// The first one, and the others are errors
    Error,
}

/// `--recursion`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Recursion {
    /// They remain definitions, and references to them
    Keep,
    /// They end in x-kubernetes-preserve-unknown-fields
    Cut,
}

/// `--rename`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Rename {
    /// As Kubernetes' documents have them: io.k8s.api.core.v1.Pod
    Friendly,
    /// Go's: k8s.io/api/core/v1.Pod
    Go,
    /// Without the package's path, or as much of it as tells them apart: Pod
    Short,
}

/// `--draft`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Draft {
    /// Draft 7
    #[value(name = "7")]
    Draft7,
    /// Draft 2020-12
    #[value(name = "2020-12")]
    Draft202012,
}

/// `--profile`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Profile {
    /// Byte for byte what kube-apiserver answers, faults included
    Kube,
    /// Upstream's faults put right
    Faithful,
}

/// `--format`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// JSON
    Json,
    /// YAML
    Yaml,
    /// Protobuf, as the API server sends it (v3, v2)
    Pb,
}

/// When something is done that suits terminals only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// On a terminal
    Auto,
    /// In any case
    Always,
    /// Never
    Never,
}
