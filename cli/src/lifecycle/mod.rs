//! `kubeshape lifecycle`: files in, findings, documents and lists out. `kubeshape-lifecycle` has the rules.

mod annotate;
mod docs;
mod list;
mod sources;
mod warn;

use crate::args::{FindingArgs, LifecycleArgs, LifecycleCommand, LintArgs, ShownArgs, When};
use crate::error::Fatal;
use crate::input::check_once;
use crate::report::{Setup, Ui};
use kubeshape_input::{Code, Finding};
use kubeshape_lifecycle::{Options, lint};

/// Findings of a run.
struct Session {
    ui: Ui,
    errors: usize,
    /// Whether the bytes of an input could not be read.
    unread: bool,
}

impl Session {
    fn new(setup: &Setup, findings: &FindingArgs, quiet: bool, verbose: bool) -> Session {
        let ui = Ui::new(setup.color, When::Never, quiet, verbose).with_levels(setup.levels(&findings.levels));
        let ui = if verbose { ui.with_notes() } else { ui };
        Session { ui: ui.reporting(findings.report.formats(findings.output_format)), errors: 0, unread: false }
    }

    /// Returns the same, with findings on standard output.
    fn on_output(self, setup: &Setup) -> Session {
        Session { ui: self.ui.on_output(setup.color), ..self }
    }

    /// Returns the same, with notes.
    fn with_notes(self) -> Session {
        Session { ui: self.ui.with_notes(), ..self }
    }

    fn tell(&mut self, finding: &Finding) {
        self.errors += usize::from(finding.is_error());
        self.unread |= finding.code == Code::Unreadable;
        self.ui.finding(finding);
    }

    /// Ends the run. Returns whether there are no errors.
    fn end(mut self) -> Result<bool, Fatal> {
        let is_denied = self.ui.end(None, "", "");
        self.ui.written()?;
        if self.unread {
            return Err(Fatal::Unread);
        }
        Ok(self.errors == 0 && !is_denied)
    }
}

/// Runs `kubeshape lifecycle`.
///
/// # Errors
/// The command line is invalid, or something cannot be read or written.
pub(crate) fn run(args: &LifecycleArgs, setup: &Setup) -> Result<bool, Fatal> {
    match &args.command {
        LifecycleCommand::Lint(args) => lint_types(args, setup),
        LifecycleCommand::Annotate(args) => {
            let ShownArgs { quiet, verbose, findings } = &args.report;
            annotate::run(args, Session::new(setup, findings, *quiet, *verbose))
        }
        LifecycleCommand::Table(args) => list::table(args, Session::new(setup, &args.findings, args.quiet, false)),
        LifecycleCommand::Diff(args) => list::diff(args, Session::new(setup, &args.findings, args.quiet, false)),
        LifecycleCommand::Docs(args) => {
            let ShownArgs { quiet, verbose, findings } = &args.report;
            docs::run(args, Session::new(setup, findings, *quiet, *verbose))
        }
        LifecycleCommand::Warn(args) => {
            let ShownArgs { quiet, verbose, findings } = &args.report;
            let session = Session::new(setup, findings, *quiet, *verbose).with_notes();
            // Headers are printed instead of the findings; errors of inputs are printed separately.
            warn::run(args, if args.as_headers { session } else { session.on_output(setup) })
        }
    }
}

fn lint_types(args: &LintArgs, setup: &Setup) -> Result<bool, Fatal> {
    let ShownArgs { quiet, verbose, findings } = &args.report;
    check_once(args.paths.iter().chain(&args.features))?;
    let mut session = Session::new(setup, findings, *quiet, *verbose).on_output(setup);
    let (types, features) = sources::read(&args.paths, &args.features, &mut session);
    for finding in lint::lint(&types, &features, &Options { release: args.release }) {
        session.tell(&finding);
    }
    session.end()
}
