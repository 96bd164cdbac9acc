//! The command lines of `kubeshape lsp` and `kubeshape mcp`.

use super::{CheckLevel, FieldValidation, GateArgs, MissingSchemas, PolicyArgs, WalkArgs};
use clap::{Args, ValueHint};
use kubeshape_schema::Releases;
use std::path::PathBuf;

/// What objects are judged by.
#[derive(Args, Clone, Debug)]
pub(crate) struct LiveArgs {
    #[command(flatten)]
    pub(crate) walk: WalkArgs,

    /// CustomResourceDefinitions and OpenAPI documents: files and folders (repeatable)
    ///
    /// The definitions of the workspace are known without it. `cluster:CONTEXT` reads those of a cluster.
    #[arg(long, value_name = "INPUT", value_hint = ValueHint::AnyPath)]
    pub(crate) schemas: Vec<PathBuf>,

    /// Release of Kubernetes whose rules count, such as 1.34, or a range such as 1.31..1.37 [default: 1.37]
    #[arg(long, value_name = "RELEASE")]
    pub(crate) kubernetes: Option<Releases>,

    #[command(flatten)]
    pub(crate) gates: GateArgs,

    #[command(flatten)]
    pub(crate) admission: PolicyArgs,

    /// What happens to fields that the schema does not know
    #[arg(long, value_name = "HOW", default_value = "strict")]
    pub(crate) field_validation: FieldValidation,

    /// What happens to objects whose kind is not known
    #[arg(long, value_name = "WHAT", default_value = "error")]
    pub(crate) missing_schemas: MissingSchemas,

    /// Show findings about definitions of this level and those above it
    #[arg(long, value_name = "LEVEL", default_value = "warning")]
    pub(crate) level: CheckLevel,
}

/// Show findings in the editor while you type: a language server
///
/// Speaks the Language Server Protocol on standard input and output; editors start it. Diagnostics are the findings of
/// `kubeshape validate` and `kubeshape check`. Kinds are those of Kubernetes, of the definitions in the workspace, and
/// of --schemas. The settings of kubeshape.toml in the folder of the workspace are used. No request leaves the machine,
/// unless --schemas names a cluster.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  kubeshape lsp
  kubeshape lsp --kubernetes 1.34 --schemas crds/

docs/editors.md has the settings of VS Code, Neovim, Helix and Zed.

Exit codes: 0 after the editor said goodbye, 1 if it did not, 2 if the command
line is wrong.")]
pub(crate) struct LspArgs {
    #[command(flatten)]
    pub(crate) live: LiveArgs,

    /// Do not judge objects by the admission policies in the workspace
    ///
    /// Without this option and without --policies, the policies and bindings in files of the workspace are used, with
    /// the other objects in these files as their parameters.
    #[arg(long)]
    pub(crate) ignore_workspace_policies: bool,

    /// Use standard input and output, which is the default; editors add it
    #[arg(long)]
    pub(crate) stdio: bool,
}

/// Answer the questions of a program that writes manifests: a server of the Model Context Protocol
///
/// Speaks the Model Context Protocol on standard input and output. Its tools list and explain kinds, write samples,
/// validate objects, check and compare definitions, plan an apply and test policies. They read only files of the current
/// folder and what the options name, and write nothing.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  kubeshape mcp
  kubeshape mcp --schemas crds/ --kubernetes 1.34

docs/agents.md has the tools and how programs start it.

Exit codes: 0 at the end of standard input, 2 if the command line is wrong.")]
pub(crate) struct McpArgs {
    #[command(flatten)]
    pub(crate) live: LiveArgs,
}
