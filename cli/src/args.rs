//! The command line: one definition from which help, man page and completions are made.

mod check;
#[cfg(feature = "cluster")]
mod cluster;
mod conversions;
mod definitions;
mod diff;
mod docs;
mod duration;
#[cfg(feature = "serve")]
mod envtest;
mod explore;
mod findings;
mod lifecycle;
mod live;
mod ownership;
mod policies;
#[cfg(feature = "serve")]
mod serve;
mod shape;
mod show;
mod ssa;
mod stream;
mod trim;
mod upgrade;
mod validate;
mod walk;

pub(crate) use check::{AgainstStatus, CheckArgs, CheckLevel};
#[cfg(feature = "cluster")]
pub(crate) use cluster::{CacheArgs, CacheCommand, PullArgs};
pub(crate) use conversions::ConversionsArgs;
pub(crate) use definitions::{DefinitionArgs, ScopeArg};
pub(crate) use diff::DiffArgs;
pub(crate) use docs::{DocsArgs, DocsFormat, Nested};
#[cfg(feature = "serve")]
pub(crate) use envtest::EnvtestArgs;
pub(crate) use explore::{ExploreArgs, GraphArgs, GraphFormat};
pub(crate) use findings::{FindingArgs, LevelArgs, OutputFormat, ReportArgs, allowable, selector};
pub(crate) use lifecycle::{
    AnnotateArgs, GateArgs, LifecycleArgs, LifecycleCommand, LifecycleDiffArgs, LifecycleDocsArgs, LifecycleFormat,
    LifecycleTableArgs, LifecycleWarnArgs, LintArgs, ShownArgs,
};
pub(crate) use live::{LiveArgs, LspArgs, McpArgs};
pub(crate) use ownership::{HandOverArgs, ObjectArgs, OwnershipArgs, OwnershipCommand, ReportFormat, WayArg};
pub(crate) use policies::{OperationArg, PolicyArgs};
#[cfg(feature = "serve")]
pub(crate) use serve::{AuthorizationMode, ClockArg, LogFormat, LogLevel, PluginArg, ServeArgs, Switch};
pub(crate) use shape::{Format, Shape};
pub(crate) use show::{ExplainFieldArgs, ExplainFormat, SampleArgs, TableArgs, TableFormat};
pub(crate) use ssa::{
    ApplyArgs, BlameArgs, CompareArgs, ExtractArgs, FieldsetArgs, MergeArgs, ResultArgs, TestArgs, ToolArg, TypeArgs,
    UpdateArgs, WriteArgs,
};
pub(crate) use stream::{StreamArgs, StreamCommand};
pub(crate) use trim::TrimArgs;
pub(crate) use upgrade::UpgradeArgs;
pub use validate::{FieldValidation, MissingSchemas};
pub(crate) use validate::{Printed, ValidateArgs};
pub(crate) use walk::{FilenameArgs, WalkArgs};

use crate::output::Layout;
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use kubeshape_builtin::BuiltInDocuments;
use kubeshape_schema::Release;
use kubeshape_smd::value::Compat;
use std::path::PathBuf;

/// What `--version` prints behind the name; the build script adds the commit.
const VERSION: &str = env!("KUBESHAPE_VERSION");

const DOCUMENTS: &str = "Options for documents";
const SCHEMAS: &str = "Options for JSON Schemas";

const EXIT_CODES: &str = "Exit codes:
  0    success
  1    errors in the inputs, conflicts, differences, or failed expectations
  2    the command line is wrong, or something could not be read or written
  130  interrupted";

/// Check CRDs and manifests, and run a Kubernetes API, without a cluster.
#[derive(Debug, Parser)]
#[command(name = "kubeshape", version = VERSION, max_term_width = 80)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// When to colour messages; `auto`, the default, colours them on a terminal unless NO_COLOR is set
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_default_value = true,
        display_order = 900
    )]
    pub(crate) color: When,

    /// Configuration file to read, instead of the kubeshape.toml in this folder or the nearest one above it
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath, display_order = 901)]
    pub(crate) config: Option<PathBuf>,

    /// Read no configuration file
    #[arg(long, global = true, conflicts_with = "config", display_order = 902)]
    pub(crate) no_config: bool,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Convert(Box<ConvertArgs>),
    Check(Box<CheckArgs>),
    Trim(Box<TrimArgs>),
    Diff(Box<DiffArgs>),
    Upgrade(Box<UpgradeArgs>),
    Conversions(Box<ConversionsArgs>),
    Validate(Box<ValidateArgs>),
    Stream(Box<StreamArgs>),
    /// Validate the resources of a kustomize or kpt function
    ///
    /// Reads a ResourceList from standard input and writes it with results, as the specification of KRM functions has
    /// it. `spec.schemas` and `spec.kubernetes` of the functionConfig are the options of `kubeshape validate`; in a
    /// ConfigMap they are in `data`. A program with the name kubeshape-krm does the same without an argument.
    Krm,
    Lsp(Box<LspArgs>),
    Mcp(Box<McpArgs>),
    Test(TestArgs),
    Apply(ApplyArgs),
    Update(UpdateArgs),
    Blame(BlameArgs),
    Ownership(Box<OwnershipArgs>),
    Extract(ExtractArgs),
    Compare(CompareArgs),
    Merge(MergeArgs),
    Fieldset(FieldsetArgs),
    Table(TableArgs),
    Explain(ExplainFieldArgs),
    Sample(SampleArgs),
    Explore(ExploreArgs),
    Graph(GraphArgs),
    Docs(DocsArgs),
    Lifecycle(LifecycleArgs),
    #[cfg(feature = "serve")]
    Serve(Box<ServeArgs>),
    #[cfg(feature = "serve")]
    Envtest(EnvtestArgs),
    #[cfg(feature = "cluster")]
    Pull(PullArgs),
    #[cfg(feature = "cluster")]
    Cache(CacheArgs),
    ExplainCode(ExplainArgs),
    Config(ConfigArgs),
    /// Print a completion script for a shell
    ///
    /// It completes commands, options, codes and releases, and in bash, zsh and fish also kinds and paths of fields:
    /// `kubeshape explain deployments.spec.<TAB>`.
    #[command(after_help = "\
Examples:
  source <(kubeshape completions bash)
  kubeshape completions zsh > ~/.zfunc/_kubeshape     a folder of $fpath
  kubeshape completions fish > ~/.config/fish/completions/kubeshape.fish")]
    Completions {
        /// The shell
        #[arg(value_name = "SHELL")]
        shell: clap_complete::Shell,
    },
    Man(ManArgs),
    /// Print the version
    Version,
}

/// Convert CustomResourceDefinitions and OpenAPI documents
///
/// Reads CustomResourceDefinitions (apiextensions.k8s.io/v1 and v1beta1) from files, folders and standard input.
/// Writes the OpenAPI v3 and v2 documents that the API server would publish for them, the structured-merge-diff
/// schemas that server-side apply would use, JSON Schemas, and structural schemas. The report lists everything
/// that a result cannot express.
///
/// Also reads OpenAPI v2, 3.0 and 3.1 documents and structured-merge-diff schemas, which it recognises by their
/// content. It converts a single document, or prints it again as the API server does. It merges several documents,
/// and those that it makes of CustomResourceDefinitions, into one: equal definitions are shared, different definitions
/// of the same name are renamed, and the same path in two documents is an error.
///
/// Inputs are YAML, JSON or, for documents, protobuf. They may be compressed (.gz, .zst) and may hold several
/// documents and lists. Folders are searched for .yaml, .yml, .json and .pb files, without hidden files, node_modules,
/// what .gitignore and .ignore files leave out, and templates of Helm charts. Objects of other kinds are skipped and
/// counted. A broken file is reported, and the others are still converted. The order of the inputs makes
/// no difference.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubeshape convert crds/ --to v3 -o openapi/     one document per group version
  kubeshape convert crds/ --to v3,v2,smd -o shapes/ --report losses.ndjson
  kubeshape convert widgets.yaml --to v2          to standard output
  kubectl get crd -o yaml | kubeshape convert --to v3 -o openapi/
  kubeshape convert crds/ --to v2 --onto swagger.json -o merged.json
  kubeshape convert swagger.json --to v3 -o openapi.json
  kubeshape convert swagger.json crds/ --to v3 --per group-version -o openapi/
  kubeshape convert openapi.json --to jsonschema --kind Pod
  kubeshape convert pets.json --to crd --kind Pet --group example.com
  kubeshape convert --kubernetes 1.36 --validations --to v3 -o kubernetes.json
  kubeshape convert --kubernetes 1.36 --kind Deployment --to jsonschema

Run `kubeshape explain-code KS2001` to learn what a code in the report means.", after_long_help = EXAMPLES)]
pub(crate) struct ConvertArgs {
    /// Files and folders to read; `-` is standard input, and the default
    #[arg(value_name = "INPUT", value_hint = ValueHint::AnyPath)]
    pub(crate) inputs: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) filenames: FilenameArgs,

    #[command(flatten)]
    pub(crate) walk: WalkArgs,

    /// What to write (repeatable)
    #[arg(long, value_name = "SHAPE", required = true, value_delimiter = ',')]
    pub(crate) to: Vec<Shape>,

    /// Where to write: a folder, a file (a name ending in .json, .yaml, .yml or .pb), or `-`
    ///
    /// A name that ends in .json, .yaml, .yml or .pb is a file, and `-` is standard output. Both take exactly one
    /// result. Any other name is a folder, which is created if it does not exist; if it ends like a file, as in x.txt,
    /// write x.txt/. The default is standard output.
    ///
    /// Files in a folder are named apis__GROUP__VERSION_openapi.json (or api__v1_openapi.json) for OpenAPI v3 by
    /// group version, openapi.json and swagger.json for a single OpenAPI v3 or v2 document, and schema.smd.yaml for
    /// a single structured-merge-diff schema. Results of a resource are named PLURAL.GROUP/VERSION.v3.json, .v2.json,
    /// .schema.json, .structural.yaml, and PLURAL.GROUP/schema.smd.yaml. Results of a kind of a document are in the
    /// folder KIND.GROUP. A file is written completely or not at all, and the record of the folder, .kubeshape.json,
    /// names the files with their digests.
    #[arg(short, long, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) output: Option<PathBuf>,

    /// What one result covers [default: single for documents; for CustomResourceDefinitions, group-version for v3,
    /// single for v2, and resource for everything else]
    ///
    /// With documents among the inputs, `single` writes one document: the only input, or all inputs merged.
    /// For jsonschema, it writes all.schema.json (with --layout, all.json): one JSON Schema for objects of all kinds.
    /// `group-version` splits it into OpenAPI v3 documents, one per group version and per other root such as
    /// `version`, each with the definitions that it refers to. `resource` writes one result per kind.
    #[arg(long, value_name = "UNIT")]
    pub(crate) per: Option<Per>,

    /// Write this kind only (repeatable): Deployment, deployments, deploy, apps/v1/Deployment, deployments.apps
    ///
    /// A kind, a plural, singular or short name as kubectl takes it, in upper or lower case, or the name of a
    /// definition. Implies `--per resource`. With --kubernetes and without INPUT, a built-in kind.
    #[arg(long, value_name = "NAME", help_heading = DOCUMENTS)]
    pub(crate) kind: Vec<String>,

    /// Write all built-in kinds of --kubernetes, with the constraints of --validations
    ///
    /// Without INPUT, --kind, --all-kinds and --validations read the documents of --kubernetes; standard input is then
    /// read only as `-`.
    #[arg(long, requires = "kubernetes", conflicts_with = "kind", help_heading = DOCUMENTS)]
    pub(crate) all_kinds: bool,

    /// Replace references by what they refer to (v3)
    #[arg(long, help_heading = DOCUMENTS)]
    pub(crate) inline: bool,

    /// What to do with definitions that contain themselves
    #[arg(long, value_name = "WHAT", default_value = "keep", requires = "inline", help_heading = DOCUMENTS)]
    pub(crate) recursion: Recursion,

    /// Number of schemas that an inlined document may have; more is an error that names the definition [default:
    /// 1000000]
    #[arg(long, value_name = "N", requires = "inline", help_heading = DOCUMENTS)]
    pub(crate) budget: Option<u64>,

    /// Bytes that the results of an input may have, such as 64MiB; more is an error [default: 256MiB]
    ///
    /// The limit is for all results of a CustomResourceDefinition, and for all results of the documents together. A
    /// definition that many kinds refer to is written once for each of them. If there would be more, the input has no
    /// result.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) max_output: Option<u64>,

    /// Rename all definitions, and the references to them
    #[arg(long, value_name = "STYLE", help_heading = DOCUMENTS)]
    pub(crate) rename: Option<Rename>,

    /// Keep what OpenAPI v2 cannot express of OpenAPI v3 documents in x-kubeshape-loss
    ///
    /// Converting such a document to OpenAPI v3 restores the original.
    #[arg(long, help_heading = DOCUMENTS)]
    pub(crate) keep_losses: bool,

    /// Make structured-merge-diff schemas of documents keep unknown fields
    #[arg(long, help_heading = DOCUMENTS)]
    pub(crate) preserve_unknown: bool,

    /// Release of JSON Schema to write
    #[arg(long, value_name = "RELEASE", default_value = "2020-12")]
    pub(crate) draft: Draft,

    /// Make JSON Schemas reject unknown fields wherever the API server prunes them
    #[arg(long)]
    pub(crate) strict: bool,

    /// How JSON Schemas are named in the output folder: kubeshape, datree, kubeconform, yamlls, flat, or a template
    ///
    /// kubeshape is PLURAL.GROUP/VERSION.schema.json. datree and yamlls are GROUP/KIND_VERSION.json, where
    /// yaml-language-server looks for custom resources (yaml.kubernetesCRDStore). kubeconform is
    /// master-standalone/KIND-GROUP-VERSION.json, where `kubeconform -schema-location FOLDER` looks, with the first
    /// label of the group; with --strict the folder is master-standalone-strict. flat is KIND-GROUP-VERSION.json. All
    /// of them but kubeshape write kinds in lower case, and the version as the group of kinds of the core group.
    ///
    /// A template such as '{group}/{kind}_{version}.json' is a path that ends in .json. {kind} is in lower case, {Kind}
    /// as it is. The variables of kubeconform's templates can be used as well: '{{.Group}}/{{.ResourceKind}}.json'.
    #[arg(
        long,
        value_name = "LAYOUT",
        value_parser = Layout::parse,
        default_value = "kubeshape",
        help_heading = SCHEMAS
    )]
    pub(crate) layout: Layout,

    /// Address at which the JSON Schemas will be found; each gets an $id, which is this and its name
    #[arg(long, value_name = "URL", help_heading = SCHEMAS)]
    pub(crate) id_base: Option<String>,

    /// Where JSON Schemas accept null [default: stored]
    #[arg(long, value_name = "WHERE")]
    pub(crate) nulls: Option<Nulls>,

    /// Document of a cluster to take Kubernetes' own definitions and texts from (repeatable)
    ///
    /// An OpenAPI v2 or v3 document that a cluster serves, or a folder of them. The definitions of metadata, lists
    /// and scale, the texts of parameters, and version numbers come from it instead of from kubeshape. It adds no
    /// paths.
    #[arg(long, value_name = "DOC", value_hint = ValueHint::AnyPath)]
    pub(crate) base: Vec<PathBuf>,

    /// Release of Kubernetes to publish as, such as 1.34 [default: 1.37, without --base]
    ///
    /// From 1.28 to 1.37. Texts of parameters are kubeshape's own, so the hashes of documents differ from those of a
    /// cluster; --base makes them equal.
    #[arg(long, value_name = "RELEASE", value_parser = known_release, conflicts_with = "base")]
    pub(crate) kubernetes: Option<Release>,

    /// Read the OpenAPI documents of --kubernetes, with the constraints that the server checks in Go code
    ///
    /// Built-in kinds get enums, bounds, patterns, defaults and rules in CEL (x-kubernetes-validations). The report lists
    /// the rules and defaults that a schema cannot express. Without INPUT, only these documents are read.
    #[arg(long, requires = "kubernetes", help_heading = DOCUMENTS)]
    pub(crate) validations: bool,

    /// OpenAPI v2 document to merge the resources into, as the API server does
    #[arg(long, value_name = "DOC", value_hint = ValueHint::FilePath)]
    pub(crate) onto: Option<PathBuf>,

    /// ValidatingAdmissionPolicies whose expressions become rules of the definitions: files and folders (repeatable)
    ///
    /// For `--to crd` of CustomResourceDefinitions. A policy is used for the versions of a definition that it is about.
    /// Its bindings may be among the files; without them, it is used for all objects. What a rule cannot say is
    /// reported.
    #[arg(long, value_name = "INPUT", value_hint = ValueHint::AnyPath)]
    pub(crate) rules_from: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) definitions: DefinitionArgs,

    /// Also publish versions that are not served
    #[arg(long)]
    pub(crate) all_versions: bool,

    /// Release of structured-merge-diff to write schemas for [default: that of the release of Kubernetes]
    #[arg(long, value_name = "RELEASE")]
    pub(crate) smd_compat: Option<SmdCompat>,

    /// Which of several CustomResourceDefinitions with the same name to use, in the order of their paths
    #[arg(long, value_name = "WHICH", default_value = "first")]
    pub(crate) duplicates: Duplicates,

    /// Whether to reproduce upstream's faults [default: kube for CustomResourceDefinitions, faithful for documents]
    #[arg(long, value_name = "PROFILE")]
    pub(crate) profile: Option<Profile>,

    /// Format of the results [default: from the name of the output, else yaml for smd and structural, json for others]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<Format>,

    /// Indent JSON by two spaces
    ///
    /// The content stays the same, but the bytes and the hash differ from those of the API server.
    #[arg(long)]
    pub(crate) pretty: bool,

    /// Number of threads [default: one per core]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,

    /// Treat every skipped object as a failure
    #[arg(long)]
    pub(crate) strict_input: bool,

    /// Write results even if inputs failed
    ///
    /// Without this option, a result that lacks a failed input neither replaces a file nor goes to standard output.
    #[arg(long)]
    pub(crate) keep_going: bool,

    /// Delete results of earlier runs from the output folder
    ///
    /// Deletes and lists the files that this run did not write, that the record of the folder (.kubeshape.json) says
    /// kubeshape wrote, and that are unchanged since; and folders that become empty. Deletes nothing if an input
    /// failed. Folders without a record need --adopt once.
    #[arg(long)]
    pub(crate) prune: bool,

    /// Say which files would be written and deleted, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Take the files in the output folder that are named like results for kubeshape's
    ///
    /// Adds them to the record of the folder, and lists them. Later runs with --prune delete them if they are not
    /// written again and unchanged until then, so look at the list first (--dry-run): a file of your own that is named
    /// like a result, such as openapi.json, belongs elsewhere, or its line out of .kubeshape.json. If the output is a
    /// file that is found among the inputs, it is replaced.
    #[arg(long, conflicts_with = "prune")]
    pub(crate) adopt: bool,

    /// Wait until files are on the disk before they get their names, and until their names are
    ///
    /// A file is always written completely or not at all as long as the machine runs, whatever happens to kubeshape.
    /// With this option the same holds if the machine loses its power.
    #[arg(long)]
    pub(crate) fsync: bool,

    /// Print errors only
    #[arg(short, long, conflicts_with = "verbose")]
    pub(crate) quiet: bool,

    /// Print all warnings, with their places in the source
    #[arg(short, long)]
    pub(crate) verbose: bool,

    /// When to show a progress bar and a summary; `auto`, the default, shows them on a terminal
    #[arg(long, value_name = "WHEN", default_value = "auto", hide_default_value = true)]
    pub(crate) progress: When,

    #[command(flatten)]
    pub(crate) findings: FindingArgs,
}

impl ConvertArgs {
    /// Returns whether the documents of the release of Kubernetes are inputs.
    pub(crate) fn reads_kubernetes(&self) -> bool {
        let has_inputs = !self.filenames.and(&self.inputs).is_empty();
        let has_kinds = self.all_kinds || (!self.kind.is_empty() && !has_inputs);
        self.kubernetes.is_some() && (self.validations || has_kinds)
    }
}

const EXAMPLES: &str = "\
Examples:
  One document per group version, named as in Kubernetes' api/openapi-spec/v3:
      kubeshape convert crds/ --to v3 -o openapi/

  Several forms at once, and a report of what each of them cannot express:
      kubeshape convert crds/ --to v3,v2,smd -o shapes/ --report losses.ndjson

  One document on standard output:
      kubeshape convert widgets.yaml --to v2

  The CustomResourceDefinitions of a cluster:
      kubectl get crd -o yaml | kubeshape convert --to v3 -o openapi/

  The OpenAPI v2 document that a cluster would serve with these resources:
      kubectl get --raw /openapi/v2 > swagger.json
      kubeshape convert crds/ --to v2 --onto swagger.json -o merged.json

  A document in OpenAPI v3, and back without a loss:
      kubeshape convert swagger.json --to v3 -o openapi.json
      kubeshape convert openapi.json --to v2 --keep-losses -o swagger.json

  A cluster's document with more resources, split by group version:
      kubeshape convert swagger.json crds/ --to v3 --per group-version -o out/

  The documents of a folder merged into one, with short names:
      kubeshape convert openapi/ --to v3 --rename short -o openapi.json

  The protobuf form that the API server sends, and back:
      kubeshape convert swagger.json --to v2 --profile kube -o swagger.pb
      kubeshape convert swagger.pb --to v2 -o swagger.yaml

  For editors and validators, a schema per kind that rejects unknown fields:
      kubeshape convert openapi.json crds/ --to jsonschema --strict -o schemas/

  The same for a file with objects of all kinds, and for the built-in kinds of a release:
      kubeshape convert openapi.json crds/ --to jsonschema --per single -o all.json
      kubeshape convert --kubernetes 1.36 --all-kinds --to jsonschema -o schemas/

  A document in OpenAPI 3.1, and back without a loss:
      kubeshape convert openapi.json --to v3.1 -o later.json
      kubeshape convert later.json --to v3 -o openapi.json

  For kubeconform, which finds them with `-schema-location schemas/`:
      kubeshape convert crds/ --to jsonschema --layout kubeconform -o schemas/

  A kind without references, for tools that do not follow them:
      kubeshape convert openapi.json --to v3 --kind Deployment --inline

  A CustomResourceDefinition from a schema of another API, with a report of what it cannot express:
      kubeshape convert pets.json --to crd --kind Pet --group example.com -o pet.yaml --report losses.ndjson

  The types of a document as server-side apply merges them:
      kubeshape convert openapi.json --to smd -o schema.yaml

Exit codes:
  0    success
  1    an input failed or has errors; the results of the others are written
  2    the command line is wrong, or something could not be read or written
  130  interrupted

Run `kubeshape explain-code KS2001` to learn what a code in the report means.";

/// Explain a code of a finding or loss
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

/// Print the manual page, as input for `man`
///
/// Without COMMAND, one page has all commands.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubeshape man | man -l -
  kubeshape man check | man -l -
  kubeshape man -o /usr/local/share/man/man1")]
pub(crate) struct ManArgs {
    /// Command whose page to print, such as `check` or `lifecycle lint`
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Vec<String>,

    /// Folder for a page per command: kubeshape.1, kubeshape-check.1 and so on
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "command")]
    pub(crate) output: Option<PathBuf>,
}

/// Show the configuration file and what it says
///
/// Prints what kubeshape.toml says as TOML, with the place of every value. With COMMAND, prints every option of the
/// command that has a value, and whether it comes from the file or is the default.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubeshape config
  kubeshape config convert

docs/findings.md describes the file.")]
pub(crate) struct ConfigArgs {
    /// The command, such as convert
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Option<String>,
}

/// What one result covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Per {
    /// A group version, as the API server publishes it (v3)
    GroupVersion,
    /// A resource, or a kind of a document
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
    /// As in Kubernetes 1.28 to 1.36
    #[value(name = "v6.3")]
    V63,
    /// As in Kubernetes 1.37: references to types also tell what is nullable; managedFields are read strictly
    #[value(name = "v6.4")]
    V64,
    /// As in Kubernetes 1.38: managedFields have other escapes and exponents
    #[value(name = "v7.0")]
    V70,
}

impl SmdCompat {
    /// The release whose schemas are made. Those of v7.0 are those of v6.4.
    pub(crate) fn of_schemas(self) -> kubeshape_convert::smd::SmdCompat {
        match self {
            SmdCompat::V63 => kubeshape_convert::smd::SmdCompat::V63,
            SmdCompat::V64 | SmdCompat::V70 => kubeshape_convert::smd::SmdCompat::V64,
        }
    }

    /// The release that reads and writes managed fields.
    pub(crate) fn of_fields(self) -> Compat {
        match self {
            SmdCompat::V63 => Compat::V63,
            SmdCompat::V64 => Compat::V64,
            SmdCompat::V70 => Compat::V70,
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
    /// The first one; the others are errors
    Error,
}

/// `--recursion`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Recursion {
    /// Keep them as definitions, and keep the references to them
    Keep,
    /// Cut them off with x-kubernetes-preserve-unknown-fields
    Cut,
}

/// `--rename`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Rename {
    /// As in Kubernetes' documents: io.k8s.api.core.v1.Pod
    Friendly,
    /// As in Go: k8s.io/api/core/v1.Pod
    Go,
    /// Without the package's path, or with the part of it that makes them unique: Pod
    Short,
}

/// `--nulls`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Nulls {
    /// Where it can be stored: in nullable values
    #[default]
    Stored,
    /// Also where a server removes it, or puts the default in its place; fields
    /// with a default are not required then
    Server,
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
    /// Byte for byte what kube-apiserver answers, including its faults
    Kube,
    /// Upstream's faults are corrected
    Faithful,
}

/// When to do something that suits terminals only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// On a terminal
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Reads a release whose rules are known.
///
/// # Errors
/// The string does not name one.
fn known_release(text: &str) -> Result<Release, String> {
    text.parse().map_err(|_| format!("expected one from {} to {}", Release::OLDEST, Release::NEWEST))
}

/// Reads a release of Kubernetes whose API is part of the program.
///
/// # Errors
/// The string does not name one.
fn documents(text: &str) -> Result<BuiltInDocuments, String> {
    text.parse().map_err(|_| {
        let oldest = BuiltInDocuments::all().next().map(|oldest| oldest.to_string()).unwrap_or_default();
        format!("expected one from {oldest} to {}", BuiltInDocuments::newest())
    })
}

/// Reads a number of bytes: `65536`, `64KiB`, `64MiB`, `4GiB`.
///
/// # Errors
/// The text is none.
fn size(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, u32); 4] = [("KiB", 10), ("MiB", 20), ("GiB", 30), ("TiB", 40)];
    let (digits, shift) =
        UNITS.iter().find_map(|(unit, shift)| Some((text.strip_suffix(unit)?, *shift))).unwrap_or((text, 0));
    let number = digits.parse::<u64>().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()));
    let bytes = number.and_then(|number| number.checked_mul(1 << shift)).filter(|bytes| *bytes > 0);
    bytes.ok_or_else(|| "\n  expected a number of bytes, such as 65536, 64MiB or 4GiB".to_owned())
}
