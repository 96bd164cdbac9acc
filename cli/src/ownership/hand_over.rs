//! `kubeshape ownership hand-over`.

use super::plan::{Key, identity, key};
use super::report::print;
use super::{Objects, add_built_in, refused, text};
use crate::args::{HandOverArgs, ReportFormat, WayArg};
use crate::cluster;
use crate::error::Fatal;
use crate::input::check_once;
use crate::report::clean::clean;
use crate::report::markup;
use crate::session::object::Object as Positioned;
use crate::session::{Command, Common, Session, types};
use kubeshape_input::Code;
use kubeshape_ownership::helm::as_applied;
use kubeshape_ownership::{
    Apply, Check, CheckResult, Goal, HandOver, HandOverError, PlanOptions, Planner, by_applies, hand_over,
};
use kubeshape_registry::{Kind, Now, Object, Registry};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::SystemTime;

impl HandOverArgs {
    /// Returns what is to be reached.
    ///
    /// # Errors
    /// The command line does not say which fields are meant.
    fn goal(&self) -> Result<Goal, Fatal> {
        let (from, fields) = (self.from.clone(), self.fields.clone());
        let Some(to) = self.to.clone() else { return Ok(Goal::Release { from, fields }) };
        if self.migrate_csa {
            return Ok(Goal::MigrateClientSide { from, to });
        }
        if from.is_empty() && self.of.configs.is_empty() {
            let why = "give --from with the managers that give fields away, or --configs with the configurations whose \
                       conflicts are to be resolved";
            return Err(Fatal::Usage(why.to_owned()));
        }
        Ok(if from.is_empty() { Goal::Resolve { to, from } } else { Goal::Give { from, to, fields } })
    }
}

fn run<'a>(args: &'a HandOverArgs, session: &mut Session<'a>) -> Result<bool, Fatal> {
    let goal = args.goal()?;
    if args.yes && args.way == WayArg::Applies {
        let why = "--yes sends patches; run the commands that `--as applies` prints yourself";
        return Err(Fatal::Usage(why.to_owned()));
    }
    let inputs = args.filenames.and(&args.objects);
    check_once(args.of.types.schemas.iter().chain(&inputs).chain(&args.of.configs))?;
    let mut registry = types::read(&args.of.types, session)?;
    let live = Objects::live(&inputs, &args.of, session);
    let mut configs = Objects::read(&args.of.configs, session);
    if let Some(name) = &args.helm_release {
        let release = |object: &Object| as_applied(object, name, args.of.namespace.as_deref().unwrap_or("default"));
        configs.objects = configs.objects.iter().map(release).collect();
    }
    let gvks: Vec<_> = live.gvks().chain(configs.gvks()).collect();
    add_built_in(&args.of.types, &gvks, &mut registry, session);
    let registry: &Registry = session.arena.alloc(registry);
    let now = Now::from(SystemTime::now()).0;
    let mut options = PlanOptions::new("kubeshape", now);
    options.namespace.clone_from(&args.of.namespace);
    let planner = Planner::new(registry, &live.objects, options);
    let by_key: BTreeMap<Key, &Object> = configs.objects.iter().map(|config| (key(&planner, config), config)).collect();
    let mut found = Vec::new();
    for (positioned, object) in live.positioned.iter().zip(&live.objects) {
        let config = by_key.get(&identity(object)).copied();
        if matches!(goal, Goal::Resolve { .. }) && config.is_none() {
            continue;
        }
        let found_of = hand_over(registry, object, config, &goal, now).and_then(|found| match (found, args.way) {
            (Some(found), WayArg::Applies) => by_applies(registry, object, config, &goal, found, now).map(Some),
            (found, _) => Ok(found),
        });
        match found_of {
            Ok(None) => {}
            Ok(Some(hand_over)) => {
                if !hand_over.is_proven() {
                    unproven(positioned, &hand_over, session);
                } else if args.yes {
                    send(positioned, &hand_over, session);
                }
                found.push(hand_over);
            }
            Err(HandOverError::Refused(error)) => refused(&error, (positioned, Some(positioned)), registry, session),
            Err(error) => {
                let advice = "No owner changed. Do what the message says, and run the command again.";
                not_done(positioned, error.to_string(), advice, session);
            }
        }
    }
    if found.is_empty() && session.errors() == 0 {
        session.remark("There is nothing to hand over.");
    }
    print(&match args.of.output {
        ReportFormat::Json => json(&found),
        ReportFormat::Text => human(&found, registry, args.yes),
        ReportFormat::Markdown => markdown(&found, registry),
    })?;
    Ok(true)
}

/// Sends a patch to the cluster from which the object was read.
fn send<'a>(object: &Positioned<'a>, found: &HandOver, session: &mut Session<'a>) {
    match cluster::patch(object.location.input(), &found.patch()) {
        Ok(()) => session.remark(&format!("{}: patched", clean(&found.object.to_string()))),
        Err(why) => {
            let advice = "Solve what the cluster reports, and run the command again.";
            not_done(object, format!("the patch was not made: {why}"), advice, session);
        }
    }
}

/// Reports that a hand-over does not reach its goal.
fn unproven<'a>(object: &Positioned<'a>, found: &HandOver, session: &mut Session<'a>) {
    for check in found.checks.iter().filter(|check| !check.is_fine()) {
        let detail = match &check.result {
            CheckResult::Refused(message) => {
                format!("after the hand-over, the next apply of {:?} would be refused: {message}", check.manager)
            }
            CheckResult::Differs(changes) => {
                let paths: Vec<&str> = changes.iter().take(5).map(|change| change.path.as_str()).collect();
                let paths = paths.join(", ");
                format!(
                    "after the hand-over, the next apply of {:?} would not leave {paths} as it should",
                    check.manager
                )
            }
            CheckResult::Unchanged | CheckResult::Changes(_) => continue,
        };
        let advice = "Change the configuration of this manager so that its next apply succeeds and changes nothing else, \
                      or hand over other fields. --yes sends no such patch.";
        not_done(object, detail, advice, session);
    }
}

/// Reports that a hand-over is not done. The help of the code is about objects that cannot be combined, so this one says
/// what to do instead.
fn not_done<'a>(object: &Positioned<'a>, detail: String, advice: &str, session: &mut Session<'a>) {
    let mut finding = object.finding_of_all(Code::NotApplied, detail);
    finding.advice = Some(advice.to_owned());
    session.report(&finding);
}

fn json(found: &[HandOver]) -> String {
    let all: Vec<_> = found.iter().map(HandOver::to_json).collect();
    let mut out = serde_json::to_string_pretty(&all).unwrap_or_default();
    out.push('\n');
    out
}

/// Returns the name of a resource for kubectl.
fn resource(found: &HandOver, registry: &Registry) -> String {
    let gvk = found.object.gvk();
    let plural = registry.kind(gvk).and_then(Kind::resource).map(|resource| resource.plural.to_string());
    let plural = plural.unwrap_or_else(|| gvk.kind().to_lowercase());
    if gvk.group().is_empty() { plural } else { format!("{plural}.{}", gvk.group()) }
}

/// Returns the lines of the commands: of the patch, or of the applies.
fn commands(found: &HandOver, registry: &Registry) -> Vec<String> {
    if found.applies.is_empty() {
        // A line break in a name would end the comment or the command.
        return vec![clean(&found.command(&resource(found, registry)))];
    }
    found.applies.iter().flat_map(Apply::lines).map(|line| clean(&line)).collect()
}

/// Returns what a check says.
fn sentence(check: &Check) -> String {
    let manager = clean(&check.manager);
    let with = if check.configured { " with the configuration" } else { "" };
    let mut out = match &check.result {
        CheckResult::Unchanged => format!("next apply of {manager}{with}: changes nothing"),
        CheckResult::Changes(changes) => {
            format!("next apply of {manager}{with}: {}", text::count(changes.len(), "change", "changes"))
        }
        CheckResult::Differs(_) | CheckResult::Refused(_) => format!("next apply of {manager}{with}: fails"),
    };
    if !check.regained.is_empty() {
        let _ = write!(out, "; it owns {} again, as its configuration still has it", clean(&check.regained.join(", ")));
    }
    out
}

/// Returns what is handed over, in lines.
fn moved(found: &HandOver) -> Vec<String> {
    let to = found.to.as_deref().map_or_else(|| "nobody".to_owned(), clean);
    let line = |moved: &kubeshape_ownership::Moved| {
        let through = if moved.subresource.is_empty() { String::new() } else { format!(" /{}", moved.subresource) };
        let shown: Vec<&str> = moved.fields.iter().take(5).map(String::as_str).collect();
        let more = moved.fields.len().saturating_sub(5);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let from = format!("{} ({}{through})", moved.manager, moved.operation);
        format!("{} -> {to}: {}{more}", clean(&from), clean(&shown.join(", ")))
    };
    found.moved.iter().map(line).collect()
}

/// Returns the commands. Patches that were sent need none.
fn human(found: &[HandOver], registry: &Registry, is_sent: bool) -> String {
    let mut out = String::new();
    for found in found.iter().filter(|found| found.is_proven()) {
        let _ = writeln!(out, "# {}", clean(&found.object.to_string()));
        for line in moved(found).into_iter().chain(found.checks.iter().map(sentence)) {
            let _ = writeln!(out, "#   {line}");
        }
        if !is_sent {
            for line in commands(found, registry) {
                let _ = writeln!(out, "{line}");
            }
        }
    }
    out
}

fn markdown(found: &[HandOver], registry: &Registry) -> String {
    let mut out = format!("## Hand-over of {}\n", text::count(found.len(), "object", "objects"));
    for found in found.iter().filter(|found| found.is_proven()) {
        let _ = writeln!(out, "\n### {}\n", markup::markdown(&clean(&found.object.to_string())));
        for line in moved(found).into_iter().chain(found.checks.iter().map(sentence)) {
            let _ = writeln!(out, "- {}", markup::markdown(&line));
        }
        out.push('\n');
        markup::fenced(&mut out, "", "sh", &commands(found, registry).join("\n"));
    }
    out
}

impl Command for HandOverArgs {
    fn common(&self) -> Common<'_> {
        self.of.common()
    }

    fn run<'a>(&'a self, session: &mut Session<'a>) -> Result<bool, Fatal> {
        run(self, session)
    }
}
