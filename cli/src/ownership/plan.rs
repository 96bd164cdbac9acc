//! `kubeshape apply --plan`.

use super::report::{list, print};
use super::{Objects, add_built_in, helm, refused, text};
use crate::args::{ApplyArgs, ReportFormat, ToolArg};
use crate::error::Fatal;
use crate::input::check_once;
use crate::report::clean::clean;
use crate::report::markup;
use crate::session::object::objects;
use crate::session::text::{Missing, nowhere, read_all};
use crate::session::{Session, types};
use kubeshape_input::Code;
use kubeshape_ownership::{Kept, Next, Outcome, Plan, PlanOptions, Planned, Planner, Style};
use kubeshape_registry::{Conflict, Now, Object, Registry, Time};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::time::SystemTime;

impl ToolArg {
    fn style(self) -> Style {
        match self {
            ToolArg::Server => Style::Server,
            ToolArg::Kubectl => Style::Kubectl,
            ToolArg::Helm => Style::Helm,
            ToolArg::Argocd => Style::ArgoCd,
            ToolArg::Flux => Style::Flux,
        }
    }
}

/// Prints what an apply would do. Returns whether it would succeed.
///
/// # Errors
/// There is no answer.
pub(crate) fn plan<'a>(args: &'a ApplyArgs, format: ReportFormat, session: &mut Session<'a>) -> Result<bool, Fatal> {
    let write = &args.write;
    let inputs = write.filenames.and(&write.configs);
    check_once(write.types.schemas.iter().chain(&write.live).chain(&inputs))?;
    let mut registry = types::read(&write.types, session)?;
    let missing = if write.live_optional { Missing::Empty } else { Missing::Error };
    let mut lives = Vec::new();
    for text in read_all(&write.live, missing, session) {
        lives.extend(objects(text, session));
    }
    let live = Objects::of(lives, session);
    if session.errors() > 0 {
        // A live object that cannot be read must not be treated as missing and created.
        return Ok(false);
    }
    let mut all = Vec::new();
    for path in &inputs {
        let before = session.errors();
        let texts = read_all(std::slice::from_ref(path), Missing::Error, session);
        if texts.is_empty() && session.errors() == before {
            session.report(&nowhere(Code::NotAnObject, &path.to_string_lossy(), "found no files with objects"));
        }
        for text in texts {
            all.extend(objects(text, session));
        }
    }
    let configs = Objects::of(all, session);
    let gvks: Vec<_> = live.gvks().chain(configs.gvks()).collect();
    add_built_in(&write.types, &gvks, &mut registry, session);
    let registry: &Registry = session.arena.alloc(registry);
    let now = match write.now.as_deref() {
        None => Now::from(SystemTime::now()).0,
        Some(text) => Time::parse(text).ok_or_else(|| {
            Fatal::Usage(format!("--now takes a time such as 2030-01-31T12:00:00Z (RFC 3339), found {text:?}"))
        })?,
    };
    let deployed = match &args.helm_release {
        None => None,
        Some(name) => match helm::find(name, &live, session) {
            None => return Ok(false),
            found => found,
        },
    };
    let manager = args.field_manager.as_deref().unwrap_or("helm");
    let (options, released) = options(args, manager, deployed, now, session);
    let mut plan =
        Plan { manager: manager.to_owned(), style: options.style, installs: options.installs, objects: Vec::new() };
    let mut planner = Planner::new(registry, &live.objects, options);
    let places: BTreeMap<Key, usize> =
        live.objects.iter().enumerate().map(|(at, object)| (identity(object), at)).collect();
    let of_release: BTreeMap<Key, &Object> = released.iter().map(|last| (key(&planner, last), last)).collect();
    let kept: BTreeSet<_> = configs.objects.iter().map(|config| key(&planner, config)).collect();
    let (mut named, mut applies) = (Vec::new(), Vec::new());
    for (positioned, config) in configs.positioned.iter().zip(&configs.objects) {
        if config.name().is_empty() {
            let at = positioned.at_pointer("/metadata").shown();
            let detail = "found no metadata.name, which says which object is meant";
            session.report(&positioned.finding(Code::NotAnObject, at, detail));
            continue;
        }
        let of = key(&planner, config);
        let live_of = places.get(&of).and_then(|at| live.positioned.get(*at));
        named.push((positioned, live_of));
        applies.push((config, of_release.get(&of).copied()));
    }
    // Applies of different objects do not depend on each other.
    plan.objects = if kept.len() == configs.objects.len() {
        applies.par_iter().map(|(config, last)| planner.foresee(config, *last)).collect()
    } else {
        applies.iter().map(|(config, last)| planner.apply(config, *last)).collect()
    };
    for (planned, objects) in plan.objects.iter().zip(named) {
        tell(planned, objects, registry, session);
    }
    for last in released.iter().filter(|last| !kept.contains(&key(&planner, last))).collect::<Vec<_>>() {
        let keeps = last.value().pointer("/metadata/annotations/helm.sh~1resource-policy");
        if keeps.and_then(serde_json::Value::as_str) != Some("keep") {
            plan.objects.extend(planner.delete(last));
        }
    }
    print(&match format {
        ReportFormat::Json => serde_json::to_string_pretty(&plan.to_json()).unwrap_or_default() + "\n",
        ReportFormat::Text => human(&plan),
        ReportFormat::Markdown => markdown(&plan),
    })?;
    Ok(plan.succeeds())
}

/// Returns how the configurations are applied, and the objects of the release of Helm.
fn options(
    args: &ApplyArgs,
    manager: &str,
    deployed: Option<helm::Deployed>,
    now: Time,
    session: &mut Session<'_>,
) -> (PlanOptions, Vec<Object>) {
    let mut options = PlanOptions::new(manager, now);
    if let Some(tool) = args.tool {
        options.style = tool.style();
        options.force = options.style.forces();
    }
    options.force |= args.force_conflicts;
    options.namespace.clone_from(&args.namespace);
    if let Some(name) = &args.helm_install {
        let namespace = options.namespace.get_or_insert_with(|| "default".to_owned());
        options.release = Some((name.clone(), namespace.clone()));
        options.installs = true;
    }
    let Some(helm::Deployed { release, objects }) = deployed else { return (options, Vec::new()) };
    options.release = Some((release.name.clone(), release.namespace.clone()));
    options.namespace.get_or_insert(release.namespace);
    options.was_client_side = !release.server_side;
    if !release.server_side {
        session.remark(&format!(
            "Release {} was applied on the client. `helm upgrade` does that again and meets no conflicts; this is the \
             plan for `helm upgrade --server-side=true`.",
            clean(&release.name)
        ));
    }
    (options, objects)
}

/// Group, kind, namespace and name.
pub(super) type Key = (String, String, String, String);

/// Returns the identity of a live object.
pub(super) fn identity(object: &Object) -> Key {
    let (group, kind, namespace, name) = object.identity();
    (group.to_owned(), kind.to_owned(), namespace.to_owned(), name.to_owned())
}

/// Returns the identity of a configuration.
pub(super) fn key(planner: &Planner<'_>, object: &Object) -> Key {
    let (group, kind, _, name) = object.identity();
    (group.to_owned(), kind.to_owned(), planner.namespace(object), name.to_owned())
}

/// Adds what is refused to the reports. Conflicts are part of the plan itself.
fn tell<'a>(
    planned: &Planned,
    objects: (&super::Positioned<'a>, Option<&super::Positioned<'a>>),
    registry: &Registry,
    session: &mut Session<'a>,
) {
    for conflict in planned.conflicts() {
        let at = conflict.location.as_ref().unwrap_or(objects.0.location);
        session.record(&objects.0.named(at.finding(Code::FieldConflict, conflict.to_string())));
    }
    if let (Outcome::Refused, Some(error)) = (planned.outcome, &planned.error) {
        refused(error, objects, registry, session);
    }
}

/// Returns the owner of a conflicting field, with both values and places.
fn conflict(conflict: &Conflict) -> String {
    let mut out = format!(
        "{}: {} -> {}",
        clean(&conflict.path),
        text::value(conflict.live.as_ref()),
        text::value(conflict.new.as_ref())
    );
    let through = if conflict.subresource.is_empty() { String::new() } else { format!(" /{}", conflict.subresource) };
    let operation = conflict.operation.map_or_else(String::new, |operation| format!(" ({operation}{through})"));
    let _ = write!(out, ", owned by {}{operation}", clean(&conflict.manager));
    out
}

fn places(conflict: &Conflict) -> Option<String> {
    let config = conflict.location.as_ref().map(ToString::to_string);
    let live = conflict.live_location.as_ref().map(|place| format!("live {place}"));
    let all: Vec<String> = config.into_iter().chain(live).collect();
    (!all.is_empty()).then(|| clean(&all.join(", ")))
}

fn stays(kept: &Kept) -> String {
    if kept.owners.is_empty() {
        return format!("{}, which nobody owns", clean(&kept.path));
    }
    format!("{}, owned by {}", clean(&kept.path), clean(&kept.owners.join(", ")))
}

fn next(next: &Next) -> String {
    let does = if next.conflicts { "will conflict on" } else { "will set back" };
    let shown: Vec<&str> = next.paths.iter().take(5).map(String::as_str).collect();
    let more = next.paths.len().saturating_sub(5);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("in its next apply, {} {does} {}{more}", clean(&next.manager), clean(&shown.join(", ")))
}

/// Returns the numbers of outcomes.
fn totals(plan: &Plan) -> String {
    let words = [
        (Outcome::Created, "created"),
        (Outcome::Changed, "changed"),
        (Outcome::OwnersOnly, "with new owners only"),
        (Outcome::Unchanged, "unchanged"),
        (Outcome::Deleted, "deleted"),
        (Outcome::Conflict, "with conflicts"),
        (Outcome::Refused, "refused"),
    ];
    let counts = words.iter().map(|(outcome, word)| (plan.count(*outcome), word)).filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts.map(|(count, word)| format!("{count} {word}")).collect();
    let all = text::count(plan.objects.len(), "object", "objects");
    if counts.is_empty() { all } else { format!("{all}: {}", counts.join(", ")) }
}

fn human(plan: &Plan) -> String {
    let mut out = String::new();
    for planned in &plan.objects {
        let _ = writeln!(out, "{}: {}", clean(&planned.object.to_string()), planned.outcome.word());
        if let (Some(error), true) = (&planned.error, planned.outcome == Outcome::Conflict) {
            error.to_string().lines().for_each(|line| {
                let _ = writeln!(out, "  {}", clean(line));
            });
            for found in planned.conflicts().iter().take(text::MOST) {
                let _ = writeln!(out, "    {}", conflict(found));
                if let Some(places) = places(found) {
                    let _ = writeln!(out, "      at {places}");
                }
            }
            if !planned.changes.is_empty() {
                out.push_str("  with --force-conflicts:\n");
            }
        }
        text::lines(&mut out, "  ", planned.changes.iter().map(text::change));
        text::lines(&mut out, "  taken over: ", planned.taken.iter().map(conflict));
        text::lines(&mut out, "  stays: ", planned.kept.iter().map(stays));
        text::lines(&mut out, "  ", planned.next.iter().map(next));
    }
    let _ = writeln!(out, "{}", totals(plan));
    if let Some(failure) = plan.failure() {
        failure.lines().for_each(|line| {
            let _ = writeln!(out, "{}", clean(line));
        });
    }
    out
}

fn markdown(plan: &Plan) -> String {
    let mut out = format!("## Apply by {}\n\n{}\n", markup::code(&clean(&plan.manager)), totals(plan));
    for planned in plan.objects.iter().filter(|planned| planned.outcome != Outcome::Unchanged) {
        let name = markup::markdown(&clean(&planned.object.to_string()));
        let _ = writeln!(out, "\n### {name}: {}", planned.outcome.word());
        if let Some(words) = &planned.words {
            out.push('\n');
            markup::fenced(&mut out, "", "", &words.lines().map(clean).collect::<Vec<_>>().join("\n"));
        }
        let conflicts = planned.conflicts().iter().map(|found| markup::markdown(&conflict(found)));
        list(&mut out, "Conflicts:", conflicts.collect::<Vec<_>>().into_iter());
        let title = if planned.outcome == Outcome::Conflict { "With --force-conflicts:" } else { "Changes:" };
        list(&mut out, title, planned.changes.iter().map(|change| markup::code(&text::change(change))));
        list(&mut out, "Taken over:", planned.taken.iter().map(|found| markup::markdown(&conflict(found))));
        list(&mut out, "Stays:", planned.kept.iter().map(|kept| markup::markdown(&stays(kept))));
        list(&mut out, "Then:", planned.next.iter().map(|after| markup::markdown(&next(after))));
    }
    out
}
