//! The command line of `kubeshape docs`.

use super::{FindingArgs, WalkArgs};
use clap::{Args, ValueEnum, ValueHint};
use std::path::PathBuf;

/// Write reference pages
///
/// A page for each version of each kind: fields with types, defaults, bounds, rules and how they merge, an example that
/// a server accepts, and what differs between versions. The index lists the kinds by group. The same input gives the
/// same bytes, and the anchor of a field is its path.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubeshape docs config/crd/bases -o docs/api
  kubeshape docs crds/ -o site --to html
  kubeshape docs crds/ -o docs/api --nested linked
  kubeshape docs crds/ -o book --to mdbook && mdbook build book
  kubeshape docs --print-template page.md > templates/page.md
  kubeshape docs crds/ -o docs/api --template templates/")]
pub(crate) struct DocsArgs {
    /// CustomResourceDefinitions and OpenAPI documents: files, folders, or `-` for standard input
    #[arg(required_unless_present = "print_template", value_name = "INPUT", value_hint = ValueHint::AnyPath)]
    pub(crate) inputs: Vec<PathBuf>,

    /// Folder of the pages; it is created if it does not exist
    #[arg(
        short,
        long,
        value_name = "DIR",
        required_unless_present = "print_template",
        value_hint = ValueHint::DirPath
    )]
    pub(crate) output: Option<PathBuf>,

    /// Format of the pages
    #[arg(long, value_name = "FORMAT", default_value = "markdown")]
    pub(crate) to: DocsFormat,

    /// Where the fields of nested objects are
    #[arg(long, value_name = "WHERE", default_value = "inline")]
    pub(crate) nested: Nested,

    /// Title of the index
    #[arg(long, value_name = "TEXT", default_value = "API reference")]
    pub(crate) title: String,

    /// Folder of templates that take the place of the built-in ones
    ///
    /// Templates have the syntax of Jinja. Their output is escaped for Markdown (.md) or HTML (.html), by the end of
    /// their name. They can include other files of the folder.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) template: Option<PathBuf>,

    /// Print a built-in template: page.md, index.md, page.html, index.html, style.css, search.js, SUMMARY.md, book.toml
    #[arg(long, value_name = "NAME", exclusive = true)]
    pub(crate) print_template: Option<String>,

    #[command(flatten)]
    pub(crate) walk: WalkArgs,

    #[command(flatten)]
    pub(crate) findings: FindingArgs,

    /// Print errors only
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// Format of reference pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DocsFormat {
    /// Markdown, as GitHub and GitLab show it
    Markdown,
    /// A static site with search, which works from files, too
    Html,
    /// A book for mdBook
    Mdbook,
}

/// Where a page has the fields of nested objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Nested {
    /// All fields in one list: each object is followed by its fields
    Inline,
    /// A section per object, with links from the field to the section
    Linked,
}
