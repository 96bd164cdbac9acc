//! The command lines of `kubeshape explore` and `kubeshape graph`.

use super::{FindingArgs, WalkArgs};
use clap::{Args, ValueEnum, ValueHint};
use std::path::PathBuf;

/// Look at APIs in a browser
///
/// Writes a static site: fields with their facts, rules and costs, shapes side by side, verdicts on objects, changes
/// and graphs. A site works from any file server; nothing that a visitor opens there leaves the page. Without an input,
/// visitors drop their files on the page.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubeshape explore config/crd/bases -o site/
  kubeshape explore openapi/v3/ --open

Browsers do not run the page from a file: serve the folder, or give --open.")]
pub(crate) struct ExploreArgs {
    /// CustomResourceDefinitions and OpenAPI documents: files, folders, or `-` for standard input
    #[arg(value_name = "INPUT", value_hint = ValueHint::AnyPath)]
    pub(crate) inputs: Vec<PathBuf>,

    /// Folder of the site; it is created if it does not exist [default: site, without --open]
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) output: Option<PathBuf>,

    /// Serve the site on this machine until Ctrl-C, and open it in the browser
    #[arg(long)]
    pub(crate) open: bool,

    #[command(flatten)]
    pub(crate) walk: WalkArgs,

    #[command(flatten)]
    pub(crate) findings: FindingArgs,

    /// Print errors only
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// Draw what refers to what
///
/// Of CustomResourceDefinitions, the nodes are kinds: a field `issuerRef` refers to the kind `Issuer`, and so does a
/// field whose `kind` has it as its default or in its enum. Of OpenAPI documents, the nodes are definitions.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubeshape graph crds/ > graph.svg
  kubeshape graph crds/ --to mermaid
  kubeshape graph openapi.json --around io.k8s.api.core.v1.Pod --to dot | dot -Tpng")]
pub(crate) struct GraphArgs {
    /// CustomResourceDefinitions or OpenAPI documents: files, folders, or `-` for standard input
    #[arg(required = true, value_name = "INPUT", value_hint = ValueHint::AnyPath)]
    pub(crate) inputs: Vec<PathBuf>,

    /// Format of the graph
    #[arg(long, value_name = "FORMAT", default_value = "svg")]
    pub(crate) to: GraphFormat,

    /// Draw only what this node refers to, and what refers to it
    #[arg(long, value_name = "NAME")]
    pub(crate) around: Option<String>,

    #[command(flatten)]
    pub(crate) walk: WalkArgs,

    #[command(flatten)]
    pub(crate) findings: FindingArgs,

    /// Print errors only
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// Format of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    /// A picture
    Svg,
    /// Graphviz
    Dot,
    /// Mermaid, which Markdown shows on GitHub and GitLab
    Mermaid,
}
