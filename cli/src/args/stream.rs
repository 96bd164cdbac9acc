//! The command line of `kubeshape stream`.

use super::{FieldValidation, MissingSchemas};
use crate::rows::Shapes;
use clap::{Args, Subcommand, ValueHint};
use kubeshape_check::Releases;
use kubeshape_validate::Release;
use std::path::PathBuf;

/// Work on rows: one JSON object per line in, one per line out
///
/// Reads rows from standard input and writes an answer for each to standard output, with a thread per core and with
/// bounded memory: while the answers are not read, no more rows are read. A row that is broken, too long or refused has
/// an answer like every other row; it never ends the command.
///
/// A row is {"id": …, "text": "…"}, with YAML or JSON as text, or has "object" with the object itself. For diff it is
/// {"id": …, "old": "…", "new": "…"}. "name" is the name of the file in findings; without it, the id is. The answer has
/// id, line, verdict and findings, and for convert and diff results.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubeshape stream validate --kubernetes 1.37 < rows.ndjson > answers.ndjson
  kubeshape stream validate --schemas crds/ --ordered < rows.ndjson
  kubeshape stream check --kubernetes 1.30..1.37 < rows.ndjson
  kubeshape stream convert --to v3,smd < rows.ndjson
  kubeshape stream diff < rows.ndjson

Exit codes: 0 if every row has an answer, whatever it is, 2 if the schemas
cannot be read or the streams break.")]
pub(crate) struct StreamArgs {
    #[command(subcommand)]
    pub(crate) command: StreamCommand,

    /// Write answers in the order of the rows
    #[arg(long, global = true)]
    pub(crate) ordered: bool,

    /// Let rows name files: {"id": …, "path": "…"}
    ///
    /// Whoever writes the rows can then read what you can read. Give it only if you trust them.
    #[arg(long, global = true)]
    pub(crate) paths: bool,

    /// Number of threads [default: one per core]
    #[arg(short, long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,

    /// Print no summary
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
}

/// What to do with each row.
#[derive(Debug, Subcommand)]
pub(crate) enum StreamCommand {
    /// Say what an API server would refuse, as `kubeshape validate`
    Validate {
        /// CustomResourceDefinitions and OpenAPI documents: files and folders (repeatable)
        #[arg(long, value_name = "INPUT", value_hint = ValueHint::AnyPath)]
        schemas: Vec<PathBuf>,
        /// Release of Kubernetes whose rules and built-in kinds are used, such as 1.34
        #[arg(long, value_name = "RELEASE", value_parser = super::known_release)]
        kubernetes: Option<Release>,
        /// What happens to fields that the schema does not know
        #[arg(long, value_name = "HOW", default_value = "strict")]
        field_validation: FieldValidation,
        /// What happens to objects whose kind is not known
        #[arg(long, value_name = "WHAT", default_value = "error")]
        missing_schemas: MissingSchemas,
    },
    /// Say on which releases CustomResourceDefinitions install, as `kubeshape check`
    Check {
        /// Releases to ask: 1.30, a range such as 1.28..1.37 with both ends, or all [default: 1.37]
        #[arg(long, value_name = "RELEASES")]
        kubernetes: Option<Releases>,
        /// Also say what a server accepts, but makes trouble later
        #[arg(long)]
        advice: bool,
    },
    /// Convert CustomResourceDefinitions and OpenAPI documents
    Convert {
        /// What to make of them: v3, v2, smd, jsonschema, structural
        #[arg(long, value_name = "SHAPE,…", default_value = "v3")]
        to: Shapes,
    },
    /// Compare the definitions of `old` with those of `new`, as `kubeshape diff`
    Diff,
}
