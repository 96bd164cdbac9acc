//! `kubeshape ownership`.

use super::plan::{Key, identity, key};
use super::text::{self, MOST};
use super::{Objects, add_built_in, helm};
use crate::args::{ObjectArgs, OwnershipArgs, ReportFormat};
use crate::error::Fatal;
use crate::input::check_once;
use crate::report::clean::clean;
use crate::report::markup;
use crate::session::{Command, Common, Session, diagnose, types};
use kubeshape_input::Code;
use kubeshape_ownership::{Field, Known, Ownership, PlanOptions, Planner, fields_of};
use kubeshape_registry::{Object, Registry, Time};
use kubeshape_smd::fieldpath::Set;
use kubeshape_smd::{Bump, ToValue};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The configurations of objects.
type Configs<'c> = BTreeMap<Key, Vec<&'c Object>>;

fn run<'a>(args: &'a OwnershipArgs, session: &mut Session<'a>) -> Result<bool, Fatal> {
    let inputs = args.filenames.and(&args.objects);
    let of = &args.of;
    check_once(of.types.schemas.iter().chain(&inputs).chain(&of.configs))?;
    let mut registry = types::read(&of.types, session)?;
    let all = super::live(&inputs, of, session);
    let has_configs = !of.configs.is_empty() || args.helm_release.is_some();
    let mut reports = Vec::new();
    let mut known = Known { gone: args.gone.clone(), ..Known::default() };
    if has_configs {
        let live = Objects::of(all, session);
        let configs = Objects::read(&of.configs, session);
        let deployed = args.helm_release.as_deref().and_then(|name| helm::find(name, &live, session));
        let gvks: Vec<_> = live.gvks().chain(configs.gvks()).collect();
        add_built_in(&of.types, &gvks, &mut registry, session);
        let registry: &Registry = session.arena.alloc(registry);
        known.registry = Some(registry);
        let mut options = PlanOptions::new("kubeshape", Time(0));
        options.namespace.clone_from(&of.namespace);
        let mut released = Vec::new();
        if let Some(deployed) = deployed {
            options.namespace.get_or_insert(deployed.release.namespace);
            released = deployed.objects;
        }
        let planner = Planner::new(registry, &live.objects, options);
        let mut by_object: Configs<'_> = BTreeMap::new();
        for config in configs.objects.iter().chain(&released) {
            by_object.entry(key(&planner, config)).or_default().push(config);
        }
        for (positioned, object) in live.positioned.iter().zip(&live.objects) {
            let arena = Bump::new();
            let mut set = Set::EMPTY;
            for config in by_object.get(&identity(object)).into_iter().flatten() {
                if let Some(fields) = fields_of(registry, config.to_value(&arena), &arena) {
                    set = set.union(fields, &arena);
                }
            }
            reports.extend(report(positioned, &known, set, &arena, session));
        }
    } else {
        known.registry = (!registry.is_empty()).then(|| &*session.arena.alloc(registry));
        for positioned in &all {
            reports.extend(report(positioned, &known, Set::EMPTY, &Bump::new(), session));
        }
    }
    let total = reports.len();
    if args.problems {
        reports.retain(|report| !report.is_clear());
    }
    print(&match of.output {
        ReportFormat::Json => json(&reports),
        ReportFormat::Text => human(&reports, total, args.fields),
        ReportFormat::Markdown => markdown(&reports, total),
    })?;
    Ok(true)
}

/// Prints a result.
pub(super) fn print(text: &str) -> Result<(), Fatal> {
    if text.is_empty() { Ok(()) } else { crate::report::print(text.as_bytes()) }
}

fn report<'a>(
    object: &crate::session::object::Object<'a>,
    known: &Known<'_>,
    set: Set<'_>,
    arena: &Bump,
    session: &mut Session<'a>,
) -> Option<Ownership> {
    if object.value.get("metadata").and_then(|metadata| metadata.get("managedFields")).is_none() {
        let at = object.at_pointer("/metadata").shown();
        let detail = "found no metadata.managedFields; kubectl prints them with --show-managed-fields";
        diagnose::tell(object, Code::NoManagedFields, at, detail, session);
        return None;
    }
    match Ownership::of_value(object.value, known, set, arena) {
        Ok(report) => Some(report),
        Err(error) => {
            diagnose::managed_fields(object, &error, session);
            None
        }
    }
}

fn json(reports: &[Ownership]) -> String {
    let all: Vec<_> = reports.iter().map(Ownership::to_json).collect();
    let mut out = serde_json::to_string_pretty(&all).unwrap_or_default();
    out.push('\n');
    out
}

/// Returns the names of the owners of a field, with the operations where they matter.
fn names(report: &Ownership, field: &Field) -> String {
    let owners = field.owners.iter().filter_map(|at| report.owner(*at));
    let name = |owner: &kubeshape_ownership::OwnerOf| {
        format!("{} ({})", clean(&owner.manager), text::how(owner, &report.object.api_version))
    };
    owners.map(name).collect::<Vec<_>>().join(", ")
}

fn human(reports: &[Ownership], total: usize, with_fields: bool) -> String {
    let mut out = String::new();
    for report in reports {
        let version = report.object.api_version.as_str();
        let _ = writeln!(out, "{}", clean(&report.object.to_string()));
        let names_of: Vec<String> = report.owners.iter().map(|owner| clean(&owner.manager)).collect();
        let width = names_of.iter().map(|name| name.chars().count()).max().unwrap_or_default().min(40);
        for (owner, name) in report.owners.iter().zip(&names_of) {
            let how = text::how(owner, version);
            let time = owner.time.map(|time| format!("  {time}")).unwrap_or_default();
            let fields = text::count(owner.fields.len(), "field", "fields");
            let _ = writeln!(out, "  {name:width$}  {how:14}  {fields:>10}{time}  {}", owner.tool.name);
            if with_fields {
                text::lines(&mut out, "      ", owner.fields.iter().map(|path| clean(path)));
            }
        }
        section(
            &mut out,
            "several owners:",
            report.shared.iter().map(|field| format!("{}: {}", clean(&field.path), names(report, field))),
        );
        section(
            &mut out,
            "stale owners:",
            report.stale.iter().map(|stale| {
                let name = report.owner(stale.owner).map(|owner| clean(&owner.manager)).unwrap_or_default();
                format!("{name}: {}", stale.reason.text())
            }),
        );
        section(
            &mut out,
            "left over, no apply will remove them:",
            report.leftovers.iter().map(|field| format!("{}: {}", clean(&field.path), names(report, field))),
        );
        out.push('\n');
    }
    if total != 1 || reports.is_empty() {
        out.push_str(&summary(reports, total));
    } else {
        out.truncate(out.trim_end().len());
        out.push('\n');
    }
    out
}

fn section(out: &mut String, title: &str, all: impl ExactSizeIterator<Item = String>) {
    if all.len() > 0 {
        let _ = writeln!(out, "  {title}");
        text::lines(out, "    ", all);
    }
}

/// Returns the owners of all objects by tool.
fn summary(reports: &[Ownership], total: usize) -> String {
    let mut tools: BTreeMap<&str, (&str, usize, usize)> = BTreeMap::new();
    for report in reports {
        let mut seen: Vec<&str> = Vec::new();
        for owner in &report.owners {
            let entry = tools.entry(owner.tool.id).or_insert((owner.tool.name, 0, 0));
            entry.1 += usize::from(!seen.contains(&owner.tool.id));
            entry.2 += owner.fields.len();
            seen.push(owner.tool.id);
        }
    }
    let mut out = text::count(total, "object", "objects");
    let with = |is: &dyn Fn(&&Ownership) -> bool| reports.iter().filter(|report| is(report)).count();
    let _ = writeln!(
        out,
        "; {} with several owners of a field, {} with stale owners, {} with leftovers",
        with(&|report| !report.shared.is_empty()),
        with(&|report| !report.stale.is_empty()),
        with(&|report| !report.leftovers.is_empty()),
    );
    for (name, objects, fields) in tools.values() {
        let objects = text::count(*objects, "object", "objects");
        let _ = writeln!(out, "  {name}: {} in {objects}", text::count(*fields, "field", "fields"));
    }
    out
}

fn markdown(reports: &[Ownership], total: usize) -> String {
    let mut out = format!("## Owners of {}\n", text::count(total, "object", "objects"));
    for report in reports {
        let version = report.object.api_version.as_str();
        let _ = writeln!(out, "\n### {}\n", markup::markdown(&clean(&report.object.to_string())));
        out.push_str("| manager | operation | fields | tool |\n|---|---|---|---|\n");
        for owner in &report.owners {
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} |",
                markup::cell_code(&clean(&owner.manager)),
                markup::markdown(&text::how(owner, version)),
                owner.fields.len(),
                owner.tool.name
            );
        }
        let field = |field: &Field| {
            format!("{}: {}", markup::code(&clean(&field.path)), markup::markdown(&names(report, field)))
        };
        list(&mut out, "Several owners:", report.shared.iter().map(field));
        list(
            &mut out,
            "Stale owners:",
            report.stale.iter().map(|stale| {
                let name = report.owner(stale.owner).map(|owner| clean(&owner.manager)).unwrap_or_default();
                format!("{}: {}", markup::code(&name), stale.reason.text())
            }),
        );
        list(&mut out, "Left over, no apply will remove them:", report.leftovers.iter().map(field));
    }
    out
}

/// Adds a list of Markdown.
pub(super) fn list(out: &mut String, title: &str, all: impl ExactSizeIterator<Item = String>) {
    if all.len() == 0 {
        return;
    }
    let _ = writeln!(out, "\n{title}\n");
    let more = all.len().saturating_sub(MOST);
    for line in all.take(MOST) {
        let _ = writeln!(out, "- {line}");
    }
    if more > 0 {
        let _ = writeln!(out, "- … and {more} more");
    }
}

impl ObjectArgs {
    pub(super) fn common(&self) -> Common<'_> {
        Common { findings: &self.findings, walk: &self.types.walk, quiet: self.quiet, is_report: false }
    }
}

impl Command for OwnershipArgs {
    fn common(&self) -> Common<'_> {
        self.of.common()
    }

    fn run<'a>(&'a self, session: &mut Session<'a>) -> Result<bool, Fatal> {
        run(self, session)
    }
}
