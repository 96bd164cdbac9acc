//! Objects, their fields and who owns them: `apply`, `update`, `blame`, `extract`, `compare`, `merge`, `fieldset`,
//! `test` with its suites and scenarios. Here are also the inputs and the session of the commands in [`show`](crate::show).
//!
//! [`text`] reads inputs and keeps them with their places; [`types`] makes a registry of what `--schemas` names;
//! [`object`] is an object with its place. What is wrong with an object becomes findings in [`diagnose`]. The rest is a
//! module per command. `kubeshape-registry` does what an API server does with objects.

mod apply;
mod blame;
mod compare;
mod diagnose;
pub(crate) mod object;
pub(crate) mod print;
mod scenario;
mod sets;
mod suite;
mod test;
pub(crate) mod text;
pub(crate) mod types;

use crate::args::OutputFormat;
use crate::args::{
    ApplyArgs, BlameArgs, CompareArgs, ExplainFieldArgs, ExtractArgs, FieldsetArgs, MergeArgs, SampleArgs, TableArgs,
    TestArgs, UpdateArgs, When,
};
use crate::convert::STACK;
use crate::error::Fatal;
use crate::input::Filter;
use crate::report::{Setup, Ui};
use crate::show;
use kubeshape_input::{Code, Finding};
use kubeshape_lifecycle::warn::Schemas as Lifecycles;
use kubeshape_schema::Bump;

/// A command.
#[derive(Clone, Copy)]
pub(crate) enum Job<'j> {
    Apply(&'j ApplyArgs),
    Update(&'j UpdateArgs),
    Blame(&'j BlameArgs),
    Extract(&'j ExtractArgs),
    Compare(&'j CompareArgs),
    Merge(&'j MergeArgs),
    Fieldset(&'j FieldsetArgs),
    Test(&'j TestArgs),
    Table(&'j TableArgs),
    Explain(&'j ExplainFieldArgs),
    Sample(&'j SampleArgs),
}

/// What every command needs: memory for what is read, which lives as long as the command, and somebody to tell.
pub(crate) struct Session<'a> {
    pub(super) arena: &'a Bump,
    /// Which files of folders are read.
    pub(super) filter: Filter,
    ui: Ui,
    errors: usize,
    /// Whether the bytes of an input could not be read.
    unread: bool,
    /// Whether tests are reported as findings for programs, and not as text.
    is_report: bool,
    /// The built-in kinds that are known, and whether their release is still to be said.
    built_in: Option<types::BuiltIn>,
    /// What `--schemas` tells of the lifecycles of fields.
    lifecycles: Lifecycles,
}

impl Session<'_> {
    /// Tells that the bytes of an input cannot be read.
    pub(super) fn unreadable(&mut self, finding: &Finding) {
        self.unread |= finding.code == Code::Unreadable;
        self.tell(finding);
    }

    /// Shows a finding.
    pub(super) fn tell(&mut self, finding: &Finding) {
        self.errors += usize::from(finding.is_error());
        self.ui.finding(finding);
    }

    /// A test of an input, which the findings before it are about.
    pub(super) fn case(&mut self, input: &str, name: &str) {
        self.ui.case(input, name);
    }

    /// Shows a line that belongs to an error.
    pub(super) fn say(&mut self, text: &str) {
        self.ui.error(text);
    }

    /// Shows a remark.
    pub(super) fn remark(&mut self, text: &str) {
        self.ui.say(text);
    }

    /// How many errors were shown.
    pub(super) fn errors(&self) -> usize {
        self.errors
    }
}

/// Runs a command; says whether nothing is to object.
///
/// # Errors
/// There is no answer.
pub(crate) fn run(job: Job<'_>, setup: &Setup) -> Result<bool, Fatal> {
    // Objects may nest as deeply as the reader allows; the main thread may have little stack.
    std::thread::scope(|scope| {
        let work = move || work(job, setup);
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work)?;
        thread.join().unwrap_or_else(|_| Err(Fatal::Internal { input: "the input".to_owned() }))
    })
}

fn work(job: Job<'_>, setup: &Setup) -> Result<bool, Fatal> {
    let arena = Bump::new();
    let (findings, quiet) = match job {
        Job::Apply(args) => (&args.write.result.findings, args.write.result.quiet),
        Job::Update(args) => (&args.write.result.findings, args.write.result.quiet),
        Job::Blame(args) => (&args.result.findings, args.result.quiet),
        Job::Extract(args) => (&args.result.findings, args.result.quiet),
        Job::Compare(args) => (&args.result.findings, args.result.quiet),
        Job::Merge(args) => (&args.result.findings, args.result.quiet),
        Job::Fieldset(args) => (&args.result.findings, args.result.quiet),
        Job::Test(args) => (&args.findings, false),
        Job::Table(args) => (&args.findings, args.quiet),
        Job::Explain(args) => (&args.findings, args.quiet),
        Job::Sample(args) => (&args.result.findings, args.result.quiet),
    };
    let walk = match job {
        Job::Apply(args) => &args.write.types.walk,
        Job::Update(args) => &args.write.types.walk,
        Job::Blame(args) => &args.types.walk,
        Job::Extract(args) => &args.types.walk,
        Job::Compare(args) => &args.types.walk,
        Job::Merge(args) => &args.types.walk,
        Job::Fieldset(args) => &args.types.walk,
        Job::Test(args) => &args.walk,
        Job::Table(args) => &args.types.walk,
        Job::Explain(args) => &args.types.walk,
        Job::Sample(args) => &args.types.walk,
    };
    let filter = Filter::new(walk)?;
    let mut ui = Ui::new(setup.color, When::Never, quiet, false).with_levels(setup.levels(&findings.levels));
    let is_report = matches!(job, Job::Test(_)) && findings.output_format != OutputFormat::Human;
    if is_report {
        ui = ui.on_output(When::Never);
    }
    let ui = ui.in_format(findings.output_format);
    let lifecycles = Lifecycles::default();
    let mut session =
        Session { arena: &arena, filter, ui, errors: 0, unread: false, is_report, built_in: None, lifecycles };
    let answer = match job {
        Job::Apply(args) => apply::apply(args, &mut session),
        Job::Update(args) => apply::update(args, &mut session),
        Job::Blame(args) => blame::run(args, &mut session),
        Job::Extract(args) => sets::extract(args, &mut session),
        Job::Compare(args) => compare::run(args, &mut session),
        Job::Merge(args) => sets::merge(args, &mut session),
        Job::Fieldset(args) => sets::fieldset(args, &mut session),
        Job::Test(args) => test::run(args, &mut session),
        Job::Table(args) => show::table(args, &mut session),
        Job::Explain(args) => show::explain(args, &mut session),
        Job::Sample(args) => show::sample(args, &mut session),
    };
    let is_denied = session.ui.end(None, "", "");
    match answer {
        Ok(_) if session.unread => Err(Fatal::Unread),
        answer => answer.map(|fine| fine && session.errors == 0 && !is_denied),
    }
}
