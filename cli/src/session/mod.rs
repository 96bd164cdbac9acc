//! Code that the commands about objects share: inputs that keep their positions, registries of `--schemas`, findings.
//!
//! [`text`] reads inputs. [`types`] builds a registry from what `--schemas` names. [`object`] is an object with its
//! position. [`diagnose`] turns errors in an object into findings, and [`print`] writes results.
//!
//! A command implements [`Command`] for its arguments, and [`run`] runs it.

pub(crate) mod diagnose;
pub(crate) mod groups;
pub(crate) mod object;
pub(crate) mod print;
pub(crate) mod text;
pub(crate) mod types;

use crate::args::{FindingArgs, OutputFormat, WalkArgs, When};
use crate::convert::STACK;
use crate::error::Fatal;
use crate::input::Filter;
use crate::report::{Setup, Ui};
use kubeshape_input::{Code, Finding};
use kubeshape_lifecycle::warn::Schemas as Lifecycles;
use kubeshape_schema::Bump;

/// A command about objects.
pub(crate) trait Command: Sync {
    /// Returns the arguments that all of these commands have.
    fn common(&self) -> Common<'_>;

    /// Runs the command. Returns whether it found no errors.
    ///
    /// # Errors
    /// There is no answer.
    fn run<'a>(&'a self, session: &mut Session<'a>) -> Result<bool, Fatal>;
}

/// The arguments that all commands about objects have.
#[derive(Clone, Copy)]
pub(crate) struct Common<'c> {
    pub(crate) findings: &'c FindingArgs,
    pub(crate) walk: &'c WalkArgs,
    pub(crate) quiet: bool,
    /// Whether a machine-readable format goes to standard output, and is the result of the command.
    pub(crate) is_report: bool,
}

/// The state of a command: its findings, and memory for its inputs, which lives as long as the command.
pub(crate) struct Session<'a> {
    pub(crate) arena: &'a Bump,
    /// Which files of folders are read.
    pub(crate) filter: Filter,
    ui: Ui,
    errors: usize,
    /// Whether the bytes of an input could not be read.
    unread: bool,
    /// Whether tests are reported as findings for programs, and not as text.
    pub(crate) is_report: bool,
    /// The built-in kinds that are known, and whether their release must still be reported.
    pub(crate) built_in: Option<types::BuiltIn>,
    /// The lifecycles of fields in `--schemas`.
    pub(crate) lifecycles: Lifecycles,
}

impl Session<'_> {
    /// Reports that the bytes of an input cannot be read.
    pub(crate) fn unreadable(&mut self, finding: &Finding) {
        self.unread |= finding.code == Code::Unreadable;
        self.report(finding);
    }

    /// Shows a finding.
    pub(crate) fn report(&mut self, finding: &Finding) {
        self.errors += usize::from(finding.is_error());
        self.ui.finding(finding);
    }

    /// Shows a finding if findings are the output of the command. Otherwise only adds it to the report.
    pub(crate) fn record(&mut self, finding: &Finding) {
        if self.is_report {
            self.report(finding);
        } else {
            self.ui.only_report(finding);
        }
    }

    /// Ends a test of an input. The findings since the previous test belong to it.
    pub(crate) fn case(&mut self, input: &str, name: &str) {
        self.ui.ended(input, name);
    }

    /// Shows a line that belongs to an error.
    pub(crate) fn say(&mut self, text: &str) {
        self.ui.error(text);
    }

    /// Adds a verdict to a document. People have it on standard output.
    pub(crate) fn verdict(&mut self, text: &str) {
        self.ui.verdict_of_document(text);
    }

    /// Shows a remark.
    pub(crate) fn remark(&mut self, text: &str) {
        self.ui.say(text);
    }

    /// Returns the number of errors that were shown.
    pub(crate) fn errors(&self) -> usize {
        self.errors
    }
}

/// Runs a command. Returns whether it found no errors.
///
/// # Errors
/// There is no answer.
pub(crate) fn run(command: &dyn Command, setup: &Setup) -> Result<bool, Fatal> {
    // Objects may be nested as deeply as the reader allows, and the main thread may have a small stack.
    std::thread::scope(|scope| {
        let work = move || work(command, setup);
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work)?;
        thread.join().unwrap_or_else(|_| Err(Fatal::Internal { input: "the input".to_owned() }))
    })
}

fn work(command: &dyn Command, setup: &Setup) -> Result<bool, Fatal> {
    let arena = Bump::new();
    let Common { findings, walk, quiet, is_report } = command.common();
    let filter = Filter::new(walk)?;
    let mut ui = Ui::new(setup.color, When::Never, quiet, false).with_levels(setup.levels(&findings.levels));
    let formats = findings.report.formats(findings.output_format);
    let is_report = is_report && formats.0 != OutputFormat::Human;
    if is_report {
        ui = ui.on_output(When::Never);
    }
    let ui = ui.reporting(formats);
    let lifecycles = Lifecycles::default();
    let mut session =
        Session { arena: &arena, filter, ui, errors: 0, unread: false, is_report, built_in: None, lifecycles };
    let answer = command.run(&mut session);
    let is_denied = session.ui.end(None, "", "");
    session.ui.written()?;
    match answer {
        Ok(_) if session.unread => Err(Fatal::Unread),
        answer => answer.map(|fine| fine && session.errors == 0 && !is_denied),
    }
}
