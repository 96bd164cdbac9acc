//! Advice about rules that cost too much.

use crate::fix::{Edit, Entries, write_bound};
use crate::{Part, Problem};
use kubeshape_schema::{Bump, Code};
use kubeshape_validate::crd::{Bound, Definition, Diagnosis, Expensive, Obstacle, diagnose_costs};
use kubeshape_yaml::Document;
use std::fmt::Write;
use std::ops::Range;

/// With more expressions over the limit, a definition gets only the general advice: each bound is tried on all of them.
const MOST: usize = 100;

/// Adds to each error about costs which bound drives it, and to the first one of a schema which bounds suffice. They
/// are computed for the newest release with such an error.
pub(crate) fn advise(problems: &mut [Problem], definition: &Definition<'_>, document: Document<'_>, arena: &Bump) {
    let about_costs = |problem: &&mut Problem| problem.note.code == Code::CrdCelCost && problem.error.is_some();
    let mut count = 0;
    let mut newest = None;
    for problem in problems.iter_mut().filter(about_costs) {
        count += 1;
        newest = newest.max(problem.releases.iter().max().copied());
    }
    let Some(release) = newest.filter(|_| count <= MOST) else { return };
    let entries = document.root().map(Entries::of);
    for diagnosis in diagnose_costs(&definition.prepare_for_create(release, arena), release) {
        let inside = |path: &str| path.strip_prefix(&diagnosis.path).is_some_and(|rest| !rest.starts_with('['));
        let bounds = diagnosis.bounds.as_deref().unwrap_or_default();
        let edits = entries.as_ref().and_then(|entries| written(bounds, document, entries)).unwrap_or_default();
        let mut is_first = true;
        for problem in problems.iter_mut().filter(about_costs) {
            let Some(error) = problem.error.as_ref().filter(|error| inside(&error.path)) else { continue };
            let expensive = diagnosis.expensive.iter().find(|expensive| expensive.cost.path == error.path);
            problem.advice = advice(&diagnosis, expensive, is_first);
            problem.edits.clone_from(&edits);
            is_first = false;
            let node = document.node(problem.note.at);
            if let (Some(call), true) = (expensive.and_then(endless), node.as_str().is_some()) {
                let name = node.text().get(call.clone()).unwrap_or_default();
                let is_message = error.path.ends_with(".messageExpression");
                problem.part = Some(Part { source: node.source_of(call), message: None, others: Vec::new() });
                problem.advice = Some(no_bound_helps(name, is_message));
            }
        }
    }
}

/// Returns the edits that write bounds; `None` if the layout does not allow one of them.
fn written(bounds: &[Bound], document: Document<'_>, entries: &Entries) -> Option<Vec<Edit>> {
    let mut out = Vec::new();
    for bound in bounds {
        let schema = document.node(bound.at);
        let edit = write_bound(schema, bound.keyword.name(), bound.value).filter(|_| entries.is_own(schema))?;
        out.push(edit);
    }
    out.sort_by_key(|edit| edit.range.start);
    entries.are_free(&out).then_some(out)
}

/// Returns advice about the error at a path; `None` if no bound helps.
fn advice(diagnosis: &Diagnosis, expensive: Option<&Expensive>, is_first: bool) -> Option<String> {
    let mut out = String::new();
    if let Some(driver) = expensive.and_then(|expensive| expensive.driver.as_ref()) {
        let (keyword, path) = (driver.keyword.name(), field(&driver.path, &diagnosis.path));
        let _ = match (driver.replaces, driver.uncounted) {
            (Some(value), _) => write!(out, "{keyword}: {value} at {path} drives the cost."),
            (None, Some(other)) => write!(
                out,
                "{keyword}: {} at {path} is in {}, where it does not count. Write it next to `type`.",
                other.value, other.junctor
            ),
            (None, None) => write!(out, "{path} has no {keyword}, which drives the cost."),
        };
    }
    if expensive.is_some_and(|expensive| expensive.obstacles.contains(&Obstacle::Names)) {
        let space = if out.is_empty() { "" } else { " " };
        let _ = write!(out, "{space}{NAMES}");
    }
    if let Some(bounds) = diagnosis.bounds.as_ref().filter(|bounds| is_first && !bounds.is_empty()) {
        let show = |bound: &Bound| {
            format!("{}: {} at {}", bound.keyword.name(), bound.value, field(&bound.path, &diagnosis.path))
        };
        let shown: Vec<String> = bounds.iter().map(show).collect();
        let (these, all) =
            if bounds.len() == 1 { ("This bound is", "it") } else { ("These bounds are", "all of them") };
        let space = if out.is_empty() { "" } else { " " };
        let _ = write!(
            out,
            "{space}{these} enough for the rules of the schema, and {all} must be there: {}. An object that is larger is \
             refused when it is written again.",
            shown.join(", ")
        );
    }
    if out.is_empty() && diagnosis.expensive.iter().any(|expensive| endless(expensive).is_some()) {
        out.push_str("First change the expressions that no bound helps.");
    }
    (!out.is_empty()).then_some(out)
}

/// When the bounds of names in metadata are used.
const NAMES: &str = "Before 1.37, the maxLength of a name in `metadata` counts only if the schema declares `apiVersion`, `kind`, \
                     `metadata.name` and `metadata.generateName`, each with its type.";

/// Returns the range of a call whose result has no known size, if that is why no bound helps.
fn endless(expensive: &Expensive) -> Option<Range<usize>> {
    expensive.obstacles.iter().find_map(|obstacle| match obstacle {
        Obstacle::Endless(call) => Some(call.clone()),
        Obstacle::Names => None,
    })
}

/// Returns advice about a call whose result has no known size.
fn no_bound_helps(call: &str, is_message: bool) -> String {
    let what =
        if is_message { "Leave the call out, or write a fixed `message`." } else { "Write the rule without the call." };
    format!("No bound helps: the estimate takes the result of `{call}` as a value of any size. {what}")
}

/// Returns the field of an object for a path below a schema: `.spec.items[].name`, where `[]` stands for every item of
/// a list and `{}` for every value of a map.
fn field(path: &str, schema: &str) -> String {
    let mut rest = path.strip_prefix(schema).unwrap_or(path);
    let mut out = String::new();
    while !rest.is_empty() {
        if let Some(named) = rest.strip_prefix(".properties[") {
            let end = named.find("].").unwrap_or(named.len().saturating_sub(1));
            out.push('.');
            out.push_str(&named[..end]);
            rest = named.get(end + 1..).unwrap_or_default();
        } else if let Some(inner) = rest.strip_prefix(".items") {
            out.push_str("[]");
            rest = inner;
        } else if let Some(inner) = rest.strip_prefix(".additionalProperties") {
            out.push_str("{}");
            rest = inner;
        } else {
            out.push_str(rest);
            break;
        }
    }
    if out.is_empty() { "the object".to_owned() } else { out }
}
