//! The command line about findings: which of them make a run fail, and how they are shown.

use clap::{Args, ValueEnum, ValueHint};
use kubeshape_schema::{LevelRules, Selector, SelectorError};
use std::path::{Path, PathBuf};

const FINDINGS: &str = "Options for findings";

/// Which findings make a run fail, and which are left out.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct LevelArgs {
    /// Fail on findings of this code or kind: KS3003, warning, note, narrowed, widened, dropped, renamed,
    /// approximated, loss, all (repeatable)
    ///
    /// A denied finding is shown as an error, and the exit code is 1. The results are written all the same. `loss` is
    /// every kind of loss, and `all` is everything. A code decides before a kind, a kind before `loss`, and `loss`
    /// before `all`; what is both denied and allowed is denied. The command line decides before kubeshape.toml.
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_parser = selector, help_heading = FINDINGS)]
    pub(crate) deny: Vec<Selector>,

    /// Leave out findings of this code or kind (repeatable); an error cannot be left out
    ///
    /// They are neither shown nor counted, and reports do not list them.
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_parser = allowable, help_heading = FINDINGS)]
    pub(crate) allow: Vec<Selector>,
}

impl LevelArgs {
    /// The rules that the command line gives.
    pub(crate) fn rules(&self) -> LevelRules {
        LevelRules { deny: self.deny.clone(), allow: self.allow.clone() }
    }
}

/// A file for all findings.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ReportArgs {
    /// Write every finding to this file, too; the end of its name says the format
    ///
    /// .ndjson and .json are one JSON object per line, .sarif is a SARIF 2.1.0 document, .xml a JUnit document, .md
    /// Markdown, .html a page and .txt one line per finding. A file with another name has the format of --output-format, and the
    /// terminal gets the format for people; without --output-format, it is one JSON object per line. `-` is standard
    /// output. A file is replaced when the command ends, and keeps its permissions; a link stays, and the file that it
    /// leads to is replaced. A device, a pipe or /dev/stdout is written to.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = FINDINGS)]
    pub(crate) report: Option<PathBuf>,
}

impl ReportArgs {
    /// The format of what is shown, and the report with its format.
    pub(crate) fn formats(&self, format: OutputFormat) -> (OutputFormat, Option<(OutputFormat, &Path)>) {
        let Some(path) = self.report.as_deref() else { return (format, None) };
        match (OutputFormat::of(path), format) {
            (Some(own), _) => (format, Some((own, path))),
            (None, OutputFormat::Human) => (format, Some((OutputFormat::Json, path))),
            (None, _) => (OutputFormat::Human, Some((format, path))),
        }
    }
}

/// What a command does with findings.
#[derive(Args, Clone, Debug)]
pub(crate) struct FindingArgs {
    #[command(flatten)]
    pub(crate) levels: LevelArgs,

    /// Format of errors, warnings and losses, which go to standard error
    ///
    /// `json` is one object per line, with the members of the lines of a report. `json` and `sarif` list losses, too;
    /// `short` and `github` list those by which a result is narrowed, and with `-v` all of them.
    #[arg(long, value_name = "FORMAT", default_value = "human", help_heading = FINDINGS)]
    pub(crate) output_format: OutputFormat,

    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

/// `--output-format`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// With the place in the source, and with advice
    #[default]
    Human,
    /// One line each: FILE:LINE:COLUMN: LEVEL[CODE]: message
    Short,
    /// One JSON object per line
    Json,
    /// One SARIF 2.1.0 document
    Sarif,
    /// Annotations of GitHub Actions
    Github,
    /// One JSON document, as GitLab reads it for code quality
    Gitlab,
    /// One JUnit XML document, as CI servers read it
    Junit,
    /// One Markdown document, for a comment on a pull request
    Markdown,
    /// One HTML page with filters, which loads nothing
    Html,
}

impl OutputFormat {
    /// The format of a file by the end of its name.
    fn of(path: &Path) -> Option<OutputFormat> {
        let end = path.extension()?.to_str()?.to_ascii_lowercase();
        Some(match end.as_str() {
            "json" | "ndjson" | "jsonl" => OutputFormat::Json,
            "sarif" => OutputFormat::Sarif,
            "xml" => OutputFormat::Junit,
            "md" | "markdown" => OutputFormat::Markdown,
            "html" | "htm" => OutputFormat::Html,
            "txt" => OutputFormat::Short,
            _ => return None,
        })
    }
}

/// A code or a kind.
pub(crate) fn selector(text: &str) -> Result<Selector, String> {
    text.parse().map_err(|error: SelectorError| {
        if !error.nearest.is_empty() {
            return error.to_string();
        }
        let words: Vec<&str> = Selector::words().collect();
        format!("{error}\nKinds are {}.\n`kubeshape explain-code --list` lists the codes.", words.join(", "))
    })
}

/// A code or a kind that is no error.
pub(crate) fn allowable(text: &str) -> Result<Selector, String> {
    let selector = selector(text)?;
    if selector.is_error() { Err(format!("{selector} is an error, which cannot be allowed")) } else { Ok(selector) }
}
