//! Standard output and standard error.

use super::clean;
use super::document::{Answers, Changed, Document};
use super::fatal::labelled;
use super::junit::Junit;
use super::losses::{Losses, examples};
use super::render::{self, Appearance};
use super::summary::summary;
use super::tally::{Tally, Totals};
use super::wrap::{width_of_messages, width_of_output, wrap};
use super::{github, gitlab, html, markdown, sarif, write_line};
use crate::args::{LevelArgs, OutputFormat, When};
use crate::error::Fatal;
use crate::output::Stage;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use kubeshape_diff::upgrade::Plan;
use kubeshape_input::{Code, Finding, NoteKind};
use kubeshape_schema::{Level, LevelRules, Levels, thousands};
use serde_json::Value;
use std::cell::RefCell;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The number of warnings with the same code that are shown without `--verbose`.
const SHOWN: u64 = 3;
/// The same for denied findings, which are shown with their source.
const DENIED: u64 = 5;
/// The number of bytes of findings that are collected before they are written to standard output.
const PENDING: usize = 32 << 10;
/// A progress bar appears after this time.
const PATIENCE: Duration = Duration::from_millis(500);

/// Writes a result to standard output. If that is a terminal, characters that it would interpret are removed.
///
/// # Errors
/// Standard output is closed or full.
pub(crate) fn print(bytes: &[u8]) -> Result<(), Fatal> {
    if io::stdout().is_terminal() {
        return print_own(clean::lines(&String::from_utf8_lossy(bytes)).as_bytes());
    }
    print_own(bytes)
}

/// Writes a text that only people read to standard output. It is always cleaned, because a pager passes on to the
/// terminal what it gets.
///
/// # Errors
/// Standard output is closed or full.
pub(crate) fn print_for_people(text: &str) -> Result<(), Fatal> {
    print_own(clean::lines(text).as_bytes())
}

/// Writes our own text, which may be coloured, to standard output.
///
/// # Errors
/// Standard output is closed or full.
pub(crate) fn print_own(bytes: &[u8]) -> Result<(), Fatal> {
    if bytes.is_empty() {
        return Ok(());
    }
    let mut out = io::stdout().lock();
    let newline: &[u8] = if out.is_terminal() && !bytes.ends_with(b"\n") { b"\n" } else { b"" };
    out.write_all(bytes).and_then(|()| out.write_all(newline)).and_then(|()| out.flush()).map_err(Fatal::Stdout)
}

/// Reports an error in the command line or in a configuration file on standard error.
pub(crate) fn refuse(message: &clap::Error) {
    let text = message.render();
    let text = if is_coloured(When::Auto) { text.ansi().to_string() } else { text.to_string() };
    let _ = write!(io::stderr().lock(), "{}", clean::styled(&text));
}

/// Prints a text that belongs to no finding on standard error.
pub(crate) fn say_aside(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Returns whether standard error is coloured.
pub(crate) fn is_coloured(when: When) -> bool {
    is_coloured_on(when, io::stderr().is_terminal())
}

/// Returns whether standard output is coloured.
pub(crate) fn is_output_coloured(when: When) -> bool {
    is_coloured_on(when, io::stdout().is_terminal())
}

fn is_coloured_on(when: When, is_terminal: bool) -> bool {
    match when {
        When::Always => true,
        When::Never => false,
        When::Auto => {
            !anstyle_query::no_color()
                && (anstyle_query::clicolor_force() || (is_terminal && anstyle_query::term_supports_color()))
        }
    }
}

/// How a command reports its findings: options of all commands, and the settings of a configuration file.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(crate) color: When,
    /// The rules of the configuration files. The rules that decide first come first.
    pub(crate) rules: Vec<LevelRules>,
}

impl Setup {
    /// Returns the levels of findings, where the rules of the command line come first.
    pub(crate) fn levels(&self, args: &LevelArgs) -> Levels {
        Levels::new([args.rules()].into_iter().chain(self.rules.iter().cloned()))
    }
}

/// Decides which findings are shown.
#[derive(Clone, Debug)]
pub(crate) struct Filter {
    levels: Levels,
    format: OutputFormat,
    quiet: bool,
    verbose: bool,
    /// The format of the report file.
    report: Option<OutputFormat>,
    /// Whether there is an overview of losses at the end.
    overview: bool,
    /// Whether notes are shown to people.
    notes: bool,
    /// Whether only the first notes of a code are shown to people.
    folds_notes: bool,
    /// Whether the command reports files that it skips, even without notes.
    tells_passed_over: bool,
}

impl Filter {
    /// Returns the levels of findings.
    pub(crate) fn levels(&self) -> &Levels {
        &self.levels
    }

    /// Returns whether findings with that code are counted and reported.
    pub(crate) fn counts(&self, code: Code) -> bool {
        self.levels.of(code) > Level::Off
    }

    /// Returns whether a finding is shown, reported or kept as an example. `before` is the number of earlier findings
    /// with the same code.
    pub(crate) fn wants(&self, code: Code, before: u64) -> bool {
        self.shows(code, before) || (self.report.is_some() && self.counts(code))
    }

    /// Returns whether a finding is shown, or kept as an example.
    fn shows(&self, code: Code, before: u64) -> bool {
        let is_human = self.format == OutputFormat::Human;
        match self.levels.of(code) {
            Level::Off => false,
            Level::Error => code.kind() == NoteKind::Error || !is_human || self.verbose || before < DENIED,
            _ if self.quiet => false,
            _ if code.kind().is_loss() => match self.format {
                OutputFormat::Human => self.overview && before < examples(code) as u64,
                OutputFormat::Json
                | OutputFormat::Sarif
                | OutputFormat::Gitlab
                | OutputFormat::Junit
                | OutputFormat::Markdown
                | OutputFormat::Html => true,
                OutputFormat::Short | OutputFormat::Github => self.verbose || code.kind() == NoteKind::Narrowed,
            },
            Level::Note => {
                self.notes || self.verbose || !is_human || (code == Code::BuildFiles && self.tells_passed_over)
            }
            Level::Warning => true,
        }
    }

    /// Returns whether findings with that code are shown with their source line.
    pub(crate) fn wants_excerpt(&self, code: Code) -> bool {
        // The length of the excerpt is needed to compute the end of the marked text, and readers see it.
        let is_measured = |format| matches!(format, OutputFormat::Sarif | OutputFormat::Json | OutputFormat::Html);
        is_measured(self.format)
            || self.report.is_some_and(is_measured)
            || (self.format == OutputFormat::Human && (self.verbose || self.levels.of(code) == Level::Error))
    }

    /// Returns whether a finding that is shown needs its JSON pointer.
    pub(crate) fn wants_pointer(&self, before: u64) -> bool {
        // People see only a few findings of a code, and those have positions.
        self.format != OutputFormat::Human || self.report.is_some() || self.verbose || before <= DENIED
    }

    /// Returns whether losses are needed at all.
    pub(crate) fn wants_losses(&self) -> bool {
        self.overview
            || self.report.is_some()
            || self.levels.denies_losses()
            || (self.format != OutputFormat::Human && !self.quiet)
    }
}

/// A report file that has its own format.
struct ReportFile {
    ui: Ui,
    path: PathBuf,
}

/// Messages of a run on standard error.
pub(crate) struct Ui {
    look: Appearance,
    filter: Filter,
    /// Whether to show a progress bar and a summary.
    pub(crate) lively: bool,
    started: Instant,
    total: u64,
    /// What progress is counted in; `None` for bytes.
    unit: Option<&'static str>,
    bar: Option<ProgressBar>,
    /// The number of findings by code.
    seen: Tally,
    /// Examples of losses.
    losses: Losses,
    /// The results of a SARIF document.
    sarif: Vec<Value>,
    gitlab: gitlab::Issues,
    /// The test cases of a JUnit document.
    junit: Junit,
    /// The document for readers.
    document: Document,
    first_error: Option<Code>,
    /// The output so far, if it is kept instead of shown.
    kept: Option<RefCell<String>>,
    /// Whether findings go to standard output.
    on_output: bool,
    /// The report file.
    report: Option<Box<ReportFile>>,
    /// Text that is not yet written to standard output. A terminal gets each line at once.
    pending: Pending,
    /// Whether standard output is a terminal.
    on_terminal: bool,
    /// Why writing to standard output failed. After that, nothing more is written to it.
    failed: RefCell<Option<Fatal>>,
}

impl Ui {
    /// Begins a run.
    pub(crate) fn new(color: When, progress: When, quiet: bool, verbose: bool) -> Ui {
        let lively = match progress {
            When::Always => true,
            When::Never => false,
            When::Auto => io::stderr().is_terminal() && !quiet,
        };
        let filter = Filter {
            levels: Levels::default(),
            format: OutputFormat::Human,
            report: None,
            quiet,
            verbose,
            overview: lively,
            notes: false,
            folds_notes: false,
            tells_passed_over: true,
        };
        Ui {
            look: Appearance { styled: is_coloured(color), width: width_of_messages() },
            filter,
            lively,
            started: Instant::now(),
            total: 0,
            unit: None,
            bar: None,
            seen: Tally::default(),
            losses: Losses::default(),
            sarif: Vec::new(),
            gitlab: gitlab::Issues::default(),
            junit: Junit::default(),
            document: Document::default(),
            first_error: None,
            kept: None,
            on_output: false,
            report: None,
            pending: Pending::default(),
            on_terminal: io::stdout().is_terminal(),
            failed: RefCell::new(None),
        }
    }

    /// Sets the levels of findings.
    pub(crate) fn with_levels(mut self, levels: Levels) -> Ui {
        self.filter.levels = levels;
        self
    }

    /// Shows notes, too.
    pub(crate) fn with_notes(mut self) -> Ui {
        self.filter.notes = true;
        self
    }

    /// Shows the first notes of each code.
    pub(crate) fn with_first_notes(mut self) -> Ui {
        self.filter.folds_notes = true;
        self.with_notes()
    }

    /// Treats notes about skipped files like any other note.
    pub(crate) fn without_passed_over(mut self) -> Ui {
        self.filter.tells_passed_over = false;
        self
    }

    /// Keeps what would be shown for [`Ui::into_text`].
    pub(crate) fn keeping(mut self) -> Ui {
        self.kept = Some(RefCell::default());
        self
    }

    /// Writes findings to standard output, because they are the result of the command.
    pub(crate) fn on_output(mut self, color: When) -> Ui {
        self.on_output = true;
        self.look = Appearance { styled: is_output_coloured(color), width: width_of_output() };
        self
    }

    /// Returns the kept text.
    pub(crate) fn into_text(self) -> String {
        self.kept.map(RefCell::into_inner).unwrap_or_default()
    }

    /// Sets the format. Only people get a progress bar and a summary.
    pub(crate) fn in_format(mut self, format: OutputFormat) -> Ui {
        self.filter.format = format;
        self.lively &= format == OutputFormat::Human;
        self.filter.overview = self.lively;
        self
    }

    /// Sets the format, and adds a report file with its own format. Findings go to the report whether they are shown or
    /// not. Everything that the filter depends on must be set before.
    pub(crate) fn reporting(self, (format, report): (OutputFormat, Option<(OutputFormat, &Path)>)) -> Ui {
        let mut ui = self.in_format(format);
        if let Some((format, path)) = report {
            let mut file = Ui::new(When::Never, When::Never, false, true).keeping().in_format(format);
            file.filter.levels = ui.filter.levels.clone();
            ui.filter.report = Some(format);
            ui.report = Some(Box::new(ReportFile { ui: file, path: path.to_owned() }));
        }
        ui
    }

    /// Returns whether anything is written in this format: to standard output, to standard error or to the report.
    pub(crate) fn has_format(&self, format: OutputFormat) -> bool {
        self.filter.format == format || self.filter.report == Some(format)
    }

    /// Returns whether everything is written in this format.
    pub(crate) fn has_only(&self, format: OutputFormat) -> bool {
        self.filter.format == format && self.filter.report.is_none_or(|report| report == format)
    }

    /// Returns the report file.
    fn file(&mut self) -> Option<&mut Ui> {
        self.report.as_mut().map(|report| &mut report.ui)
    }

    /// Adds a finding to the report without showing it.
    pub(crate) fn only_report(&mut self, finding: &Finding) {
        if let Some(file) = self.file() {
            file.finding(finding);
        }
    }

    /// Returns the filter that decides which findings are shown.
    pub(crate) fn filter(&self) -> &Filter {
        &self.filter
    }

    /// Sets the number of bytes to read.
    pub(crate) fn expect(&mut self, total: u64) {
        self.total = total;
    }

    /// Sets the number of things to work on, such as `files`, in which progress is counted.
    pub(crate) fn expect_all(&mut self, total: usize, unit: &'static str) {
        self.total = total as u64;
        self.unit = Some(unit);
    }

    /// Sets the number of bytes that have been read, or of things that are done.
    pub(crate) fn progress(&mut self, done: u64) {
        if !self.lively {
            return;
        }
        if self.bar.is_none() && self.started.elapsed() > PATIENCE && self.total > 0 {
            let bar = ProgressBar::with_draw_target(Some(self.total), ProgressDrawTarget::stderr_with_hz(10));
            let template = match self.unit {
                Some(unit) => format!("{{bar:30}} {{pos}}/{{len}} {unit}, {{per_sec}}, {{eta}} left"),
                None => "{bar:30} {bytes}/{total_bytes}, {bytes_per_sec}, {eta} left".to_owned(),
            };
            if let Ok(style) = ProgressStyle::with_template(&template) {
                bar.set_style(style);
            }
            self.bar = Some(bar);
        }
        if let Some(bar) = &self.bar {
            bar.set_position(done.min(self.total));
        }
    }

    /// Shows a finding, or counts it.
    pub(crate) fn finding(&mut self, finding: &Finding) {
        self.only_report(finding);
        let code = finding.code;
        let before = self.seen.of(code);
        if !self.filter.counts(code) {
            return;
        }
        self.seen.count(code);
        if !self.filter.shows(code, before) {
            return;
        }
        let how = self.filter.levels.of(code);
        match self.filter.format {
            OutputFormat::Human => self.show(finding, how, before),
            OutputFormat::Short => self.line(&render::short(finding, how)),
            OutputFormat::Github => self.line(&github::annotation(finding, how)),
            OutputFormat::Junit => self.junit.finding(finding, how),
            OutputFormat::Sarif => self.sarif.push(sarif::result(finding, how)),
            OutputFormat::Gitlab => self.gitlab.finding(finding, how),
            OutputFormat::Markdown | OutputFormat::Html => self.document.finding(finding, how),
            OutputFormat::Json => {
                let mut line = Vec::new();
                write_line(finding, &mut line);
                self.line(String::from_utf8_lossy(&line).trim_end());
            }
        }
    }

    /// Shows a finding to people.
    fn show(&mut self, finding: &Finding, how: Level, before: u64) {
        if finding.is_loss() {
            self.losses.keep(finding);
        }
        if how == Level::Error {
            self.first_error.get_or_insert(finding.code);
        } else if finding.is_loss() {
            return;
        }
        if how == Level::Note && self.filter.folds_notes && before >= SHOWN {
            return;
        }
        if how == Level::Error || self.filter.verbose {
            self.line(&format!("{}\n", render::full(finding, how, self.look)));
        } else if before < SHOWN {
            self.line(&render::brief(finding, how, self.look));
        }
    }

    /// Prints a remark to people.
    pub(crate) fn say(&mut self, text: &str) {
        if !self.filter.quiet && self.filter.format == OutputFormat::Human {
            self.line(&wrap(&clean::lines(text), self.look.width, 0, ""));
        }
    }

    /// Prints lines to people without changing them.
    pub(crate) fn verbatim(&mut self, text: &str) {
        if self.filter.format == OutputFormat::Human {
            self.line(text);
        }
    }

    /// Adds a block of code to the last finding of a document.
    pub(crate) fn code_block(&mut self, title: &str, language: &str, text: &str) {
        if let Some(file) = self.file() {
            file.code_block(title, language, text);
        }
        if self.is_document() {
            self.document.block(title, language, text);
        }
    }

    /// Adds a plan to a document.
    pub(crate) fn plan(&mut self, plan: &Plan) {
        if let Some(file) = self.file() {
            file.plan(plan);
        }
        if self.is_document() {
            self.document.plan(plan);
        }
    }

    /// Names the current test case, if the format is JUnit. Findings about it make it fail.
    pub(crate) fn case(&mut self, input: &str, name: &str) {
        if let Some(file) = self.file() {
            file.case(input, name);
        }
        if self.filter.format == OutputFormat::Junit {
            self.junit.case(input, name);
        }
    }

    /// The same as [`Ui::case`], for two inputs that are compared.
    pub(crate) fn compared(&mut self, input: &str, name: &str) {
        if let Some(file) = self.file() {
            file.compared(input, name);
        }
        if self.filter.format == OutputFormat::Junit {
            self.junit.compared(input, name);
        }
    }

    /// The same as [`Ui::case`], for a test that has ended.
    pub(crate) fn ended(&mut self, input: &str, name: &str) {
        if let Some(file) = self.file() {
            file.ended(input, name);
        }
        if self.filter.format == OutputFormat::Junit {
            self.junit.ended(input, name);
        }
    }

    /// Prints the verdict on a definition or on the run. People get a line; a document begins with it.
    pub(crate) fn verdict(&mut self, text: &str) {
        if let Some(file) = self.file() {
            file.verdict(text);
        }
        self.say(text);
        if self.is_document() {
            self.document.verdict(text);
        }
    }

    /// Adds the verdict to documents only.
    pub(crate) fn verdict_of_document(&mut self, text: &str) {
        if let Some(file) = self.file() {
            file.verdict_of_document(text);
        }
        if self.is_document() {
            self.document.verdict(text);
        }
    }

    /// Adds what several releases say of a definition to documents.
    pub(crate) fn answers(&mut self, answers: &Answers) {
        if let Some(file) = self.file() {
            file.answers(answers);
        }
        if self.is_document() {
            self.document.answers(answers.clone());
        }
    }

    /// Reports a change before its finding. A document lists it, whether it is shown as a finding or not.
    pub(crate) fn change(&mut self, change: &Changed, finding: &Finding) {
        if let Some(file) = self.file() {
            file.change(change, finding);
        }
        if self.is_document() && self.filter.counts(finding.code) {
            self.document.change(change.clone(), finding);
        }
    }

    /// Returns whether the findings become a document for readers.
    fn is_document(&self) -> bool {
        matches!(self.filter.format, OutputFormat::Markdown | OutputFormat::Html)
    }

    /// Prints a line for programs, if the format is JSON.
    pub(crate) fn json(&mut self, value: &Value) {
        if let Some(file) = self.file() {
            file.json(value);
        }
        if self.filter.format == OutputFormat::Json {
            self.line(&value.to_string());
        }
    }

    /// Prints an error that is not a finding.
    pub(crate) fn error(&mut self, text: &str) {
        if let Some(file) = self.file() {
            file.error(text);
        }
        if matches!(self.filter.format, OutputFormat::Human | OutputFormat::Short) {
            self.line(&labelled(text, self.look));
        }
    }

    /// Ends the run: prints the number of hidden warnings, which findings are denied, where to read more, and the
    /// overview of losses and the summary if they are shown. Returns whether findings are denied.
    ///
    /// `all` says where all losses are listed.
    pub(crate) fn end(&mut self, totals: Option<&Totals>, to: &str, all: &str) -> bool {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
        let denied = self.denied(totals);
        match self.filter.format {
            OutputFormat::Human => self.epilogue(totals, to, all, &denied),
            OutputFormat::Sarif => {
                let document = sarif::document(std::mem::take(&mut self.sarif));
                self.line(&serde_json::to_string_pretty(&document).unwrap_or_default());
            }
            OutputFormat::Gitlab => {
                let document = self.gitlab.document();
                self.line(&document);
            }
            OutputFormat::Junit => self.line(&self.junit.document()),
            OutputFormat::Markdown => self.line(&markdown::print(&self.document)),
            OutputFormat::Html => self.line(&html::print(&self.document)),
            OutputFormat::Short | OutputFormat::Json | OutputFormat::Github => {}
        }
        self.flush();
        self.write_report();
        !denied.is_empty()
    }

    /// Writes the report. An error is kept for [`Ui::written`].
    fn write_report(&mut self) {
        let Some(report) = self.report.take() else { return };
        let ReportFile { mut ui, path } = *report;
        ui.end(None, "", "");
        let text = ui.into_text();
        let written = if path.as_os_str() == "-" {
            print_own(text.as_bytes())
        } else {
            let stage = Stage::default();
            stage.write_named(&path, text.as_bytes()).and_then(|staged| stage.finish(staged))
        };
        let mut failed = self.failed.borrow_mut();
        *failed = failed.take().or(written.err());
    }

    fn epilogue(&mut self, totals: Option<&Totals>, to: &str, all: &str, denied: &[(Code, u64)]) {
        let Filter { quiet, verbose, .. } = self.filter;
        let folded = [
            ("warnings", Level::Warning, !quiet && !verbose),
            ("notes", Level::Note, !quiet && self.filter.folds_notes),
        ];
        for (what, level, _) in folded.into_iter().filter(|(_, _, is_folded)| *is_folded) {
            let held: Vec<String> = self
                .seen
                .codes()
                .filter(|(code, seen)| {
                    let is_note_of_loss = level == Level::Note && code.kind().is_loss();
                    self.filter.levels.of(*code) == level && !is_note_of_loss && *seen > SHOWN
                })
                .map(|(code, seen)| format!("{} more of {code}", thousands(seen - SHOWN)))
                .collect();
            if !held.is_empty() {
                self.say(&format!("{what} not shown: {} (`-v` shows all of them)", held.join(", ")));
            }
        }
        if let Some(totals) = totals.filter(|_| self.lively) {
            let overview = self.losses.overview(&totals.tally, all, self.look);
            if !overview.is_empty() {
                self.line(&overview);
            }
        }
        if !denied.is_empty() {
            let count: u64 = denied.iter().map(|(_, n)| n).sum();
            let codes = denied.iter().map(|(code, n)| {
                let by = self.filter.levels.denied_by(*code).map_or_else(String::new, |rule| rule.to_string());
                let by = if by == code.to_string() { by } else { format!("{code} ({by})") };
                format!("{} of {by}", thousands(*n))
            });
            let codes: Vec<String> = codes.collect();
            let (what, is) = if count == 1 { ("finding", "is") } else { ("findings", "are") };
            let hidden = !verbose && denied.iter().any(|(_, n)| *n > DENIED);
            let hint = if hidden { " (`-v` shows all of them)" } else { "" };
            let text = format!("{} {what} {is} denied: {}{hint}", thousands(count), codes.join(", "));
            self.line(&labelled(&text, self.look));
        }
        if let Some(code) = self.first_error {
            self.line(&format!("For more about an error, run `kubeshape explain-code {code}`."));
        }
        if let Some(totals) = totals.filter(|_| self.lively) {
            let summary = summary(totals, to, self.started.elapsed(), self.look.width);
            self.line(summary.trim_end());
        }
    }

    /// Returns the number of denied findings by code.
    fn denied(&self, totals: Option<&Totals>) -> Vec<(Code, u64)> {
        let tally = totals.map_or(&self.seen, |totals| &totals.tally);
        tally.codes().filter(|(code, _)| self.filter.levels.denied_by(*code).is_some()).collect()
    }

    /// Returns the error that kept findings from standard output or from the report. Call it after all findings were
    /// shown.
    ///
    /// # Errors
    /// Standard output is closed or full, or the report cannot be written.
    pub(crate) fn written(&mut self) -> Result<(), Fatal> {
        self.flush();
        self.failed.take().map_or(Ok(()), Err)
    }

    /// Writes a line. Errors of standard error are ignored, because they cannot be shown. [`Ui::written`] returns those
    /// of standard output.
    fn line(&self, text: &str) {
        let text = match self.filter.format {
            OutputFormat::Json | OutputFormat::Sarif | OutputFormat::Gitlab => clean::json(text),
            _ if self.look.styled => clean::styled(text),
            _ => clean::lines(text).into_owned(),
        };
        if let Some(kept) = &self.kept {
            let mut kept = kept.borrow_mut();
            kept.push_str(&text);
            kept.push('\n');
            return;
        }
        let write = || {
            if !self.on_output {
                let _ = writeln!(io::stderr().lock(), "{text}");
                return;
            }
            if self.failed.borrow().is_some() {
                return;
            }
            if self.pending.add(&text) || self.on_terminal {
                self.flush();
            }
        };
        match &self.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }
}

impl Ui {
    /// Writes the pending text to standard output.
    fn flush(&self) {
        let written = self.pending.write();
        let mut failed = self.failed.borrow_mut();
        *failed = failed.take().or(written.err().map(Fatal::Stdout));
    }
}

/// Lines that are not yet written to standard output.
#[derive(Debug, Default)]
struct Pending(RefCell<Vec<u8>>);

impl Pending {
    /// Adds a line. Returns whether it is time to write.
    fn add(&self, line: &str) -> bool {
        let mut lines = self.0.borrow_mut();
        lines.extend_from_slice(line.as_bytes());
        lines.push(b'\n');
        lines.len() >= PENDING
    }

    fn write(&self) -> io::Result<()> {
        let lines = self.0.take();
        let mut out = io::stdout().lock();
        if lines.is_empty() { Ok(()) } else { out.write_all(&lines).and_then(|()| out.flush()) }
    }
}

impl Drop for Pending {
    /// Flushes, so that an error that ends the command does not lose earlier findings.
    fn drop(&mut self) {
        let _ = self.write();
    }
}
