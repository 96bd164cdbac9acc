//! The command line about findings: which of them make a run fail, and how they are shown.

use clap::{Args, ValueEnum};
use kubeshape_schema::{LevelRules, Selector, SelectorError};

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
    /// One JUnit XML document, as CI servers read it
    Junit,
    /// One Markdown document, for a comment on a pull request
    Markdown,
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
