//! Standard output and standard error.

use super::render;
use super::tally::Totals;
use crate::args::When;
use crate::error::Fatal;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use kubeshape_input::{Code, Finding, NoteKind};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

/// Number of warnings with the same code that are shown without `--verbose`.
const SHOWN: u64 = 3;
/// A progress bar is shown after this time.
const PATIENCE: Duration = Duration::from_secs(1);

/// Writes to standard output.
///
/// # Errors
/// Standard output is closed or full.
pub(crate) fn print(bytes: &[u8]) -> Result<(), Fatal> {
    if bytes.is_empty() {
        return Ok(());
    }
    let mut out = io::stdout().lock();
    let newline: &[u8] = if out.is_terminal() && !bytes.ends_with(b"\n") { b"\n" } else { b"" };
    out.write_all(bytes).and_then(|()| out.write_all(newline)).and_then(|()| out.flush()).map_err(Fatal::Stdout)
}

/// Whether standard error is coloured.
pub(crate) fn is_coloured(when: When) -> bool {
    match when {
        When::Always => true,
        When::Never => false,
        When::Auto => {
            !anstyle_query::no_color()
                && (anstyle_query::clicolor_force()
                    || (io::stderr().is_terminal() && anstyle_query::term_supports_color()))
        }
    }
}

/// Messages of a run on standard error.
pub(crate) struct Ui {
    coloured: bool,
    quiet: bool,
    verbose: bool,
    /// Whether to show a progress bar and a summary.
    pub(crate) lively: bool,
    started: Instant,
    total: u64,
    done: u64,
    bar: Option<ProgressBar>,
    /// Number of findings by code.
    seen: BTreeMap<Code, u64>,
    first_error: Option<Code>,
}

impl Ui {
    /// Begins a run.
    pub(crate) fn new(color: When, progress: When, quiet: bool, verbose: bool) -> Ui {
        let lively = match progress {
            When::Always => true,
            When::Never => false,
            When::Auto => io::stderr().is_terminal() && !quiet,
        };
        Ui {
            coloured: is_coloured(color),
            quiet,
            verbose,
            lively,
            started: Instant::now(),
            total: 0,
            done: 0,
            bar: None,
            seen: BTreeMap::new(),
            first_error: None,
        }
    }

    /// Sets the number of files.
    pub(crate) fn expect(&mut self, total: usize) {
        self.total = total as u64;
    }

    /// Sets the number of files that are done.
    pub(crate) fn progress(&mut self, done: usize) {
        self.done = done as u64;
        if !self.lively {
            return;
        }
        if self.bar.is_none() && self.started.elapsed() > PATIENCE && self.total > 1 {
            let bar = ProgressBar::with_draw_target(Some(self.total), ProgressDrawTarget::stderr_with_hz(10));
            if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} files, {eta} left") {
                bar.set_style(style);
            }
            self.bar = Some(bar);
        }
        if let Some(bar) = &self.bar {
            bar.set_position(self.done);
        }
    }

    /// Shows a finding, or counts it.
    pub(crate) fn finding(&mut self, finding: &Finding) {
        let seen = self.seen.entry(finding.code).or_default();
        *seen += 1;
        let seen = *seen;
        if finding.code.kind() == NoteKind::Error {
            self.first_error.get_or_insert(finding.code);
            self.line(&format!("{}\n", render::full(finding, self.coloured)));
        } else if self.verbose {
            self.line(&format!("{}\n", render::full(finding, self.coloured)));
        } else if !self.quiet && seen <= SHOWN {
            self.line(&render::short(finding, self.coloured));
        }
    }

    /// Prints a remark.
    pub(crate) fn say(&mut self, text: &str) {
        if !self.quiet {
            self.line(text);
        }
    }

    /// Prints an error.
    pub(crate) fn error(&mut self, text: &str) {
        let label = if self.coloured { "\u{1b}[1;31merror\u{1b}[0m" } else { "error" };
        self.line(&format!("{label}: {text}"));
    }

    /// Ends the run: prints the number of hidden warnings, where to read more, and the summary if one is shown.
    pub(crate) fn end(&mut self, totals: Option<&Totals>, to: &str) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
        if !self.quiet && !self.verbose {
            let held: Vec<String> = self
                .seen
                .iter()
                .filter(|(code, seen)| code.kind() != NoteKind::Error && **seen > SHOWN)
                .map(|(code, seen)| format!("{} more of {code}", thousands(seen - SHOWN)))
                .collect();
            if !held.is_empty() {
                self.line(&format!("warnings not shown: {} (`-v` shows all of them)", held.join(", ")));
            }
        }
        if let Some(code) = self.first_error {
            self.line(&format!("For more about an error, run `kubeshape explain-code {code}`."));
        }
        if let Some(totals) = totals.filter(|_| self.lively) {
            let summary = summary(totals, to, self.started.elapsed());
            self.line(summary.trim_end());
        }
    }

    /// Writes a line. Errors are ignored: if standard error is closed, they cannot be shown.
    fn line(&self, text: &str) {
        let write = || {
            let _ = writeln!(io::stderr().lock(), "{text}");
        };
        match &self.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }
}

/// Prints the error that ends a command.
pub(crate) fn fatal(error: &Fatal, coloured: bool) {
    let label = if coloured { "\u{1b}[1;31merror\u{1b}[0m" } else { "error" };
    let hint = if matches!(error, Fatal::Usage(_)) { "\n\nFor more, try `kubeshape --help`." } else { "" };
    let _ = writeln!(io::stderr().lock(), "{label}: {error}{hint}");
}

fn summary(totals: &Totals, to: &str, time: Duration) -> String {
    let mut out = String::new();
    let count = |n: usize, what: &str| {
        let s = if n == 1 { "" } else { "s" };
        format!("{} {what}{s}", thousands(n as u64))
    };
    let openapi =
        if totals.openapi == 0 { String::new() } else { format!(", {}", count(totals.openapi, "OpenAPI document")) };
    let _ = writeln!(
        out,
        "read      {}, {}: {} with {}{openapi}",
        count(totals.files, "file"),
        count(totals.documents, "document"),
        count(totals.resources, "CustomResourceDefinition"),
        count(totals.versions, "version")
    );
    let pruned =
        if totals.pruned == 0 { String::new() } else { format!(", deleted {}", count(totals.pruned, "older one")) };
    let _ = writeln!(out, "written   {} to {to}{pruned}", count(totals.results, "result"));
    let losses: Vec<String> = totals
        .tally
        .losses()
        .filter(|(_, n)| *n > 0)
        .map(|(kind, n)| format!("{} {}", thousands(n), kind.name()))
        .collect();
    let losses = if losses.is_empty() { "none".to_owned() } else { losses.join(", ") };
    let _ = writeln!(out, "losses    {losses}");
    let (errors, warnings) = (totals.tally.get(NoteKind::Error), totals.tally.get(NoteKind::Warning));
    let _ = writeln!(out, "findings  {}, {}", count(errors as usize, "error"), count(warnings as usize, "warning"));
    let _ = writeln!(out, "skipped   {}, failed {}", count(totals.skipped, "object"), count(totals.failed, "input"));
    let _ = writeln!(out, "time      {:.2} s", time.as_secs_f64());
    out
}

fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_are_readable() {
        let all: Vec<String> = [0, 999, 1000, 12_345, 1_234_567].into_iter().map(thousands).collect();
        assert_eq!(all, ["0", "999", "1,000", "12,345", "1,234,567"]);
    }

    #[test]
    fn the_summary_says_everything() {
        let mut totals =
            Totals { files: 2, documents: 3, resources: 1, versions: 2, results: 4, skipped: 1, ..Totals::default() };
        totals.tally.count(NoteKind::Widened);
        totals.tally.count(NoteKind::Error);
        let expected = "\
read      2 files, 3 documents: 1 CustomResourceDefinition with 2 versions
written   4 results to out
losses    1 widened
findings  1 error, 0 warnings
skipped   1 object, failed 0 inputs
time      0.25 s
";
        assert_eq!(summary(&totals, "out", Duration::from_millis(250)), expected);
    }
}
