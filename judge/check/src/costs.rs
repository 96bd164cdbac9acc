//! What to do about rules that cost too much.

use crate::Problem;
use kubeshape_schema::{Bump, Code};
use kubeshape_validate::crd::{Bound, Definition, Diagnosis, diagnose_costs};
use std::fmt::Write;

/// A definition with more expressions over their limit gets the general advice: each bound is tried on all of them.
const MOST: usize = 100;

/// Tells for each error about costs which bound drives it, and for the first of a schema which bounds are enough. They are
/// looked for in the newest release that has such an error.
pub(crate) fn advise(problems: &mut [Problem], definition: &Definition<'_>, arena: &Bump) {
    let about_costs = |problem: &&mut Problem| problem.note.code == Code::CrdCelCost && problem.error.is_some();
    let mut count = 0;
    let mut newest = None;
    for problem in problems.iter_mut().filter(about_costs) {
        count += 1;
        newest = newest.max(problem.releases.iter().max().copied());
    }
    let Some(release) = newest.filter(|_| count <= MOST) else { return };
    for diagnosis in diagnose_costs(&definition.prepare_for_create(release, arena), release) {
        let inside = |path: &str| path.strip_prefix(&diagnosis.path).is_some_and(|rest| !rest.starts_with('['));
        let mut is_first = true;
        for problem in problems.iter_mut().filter(about_costs) {
            let Some(error) = problem.error.as_ref().filter(|error| inside(&error.path)) else { continue };
            problem.advice = advice(&diagnosis, &error.path, is_first);
            is_first = false;
        }
    }
}

/// The advice for the error at a path; `None` if no bound helps.
fn advice(diagnosis: &Diagnosis, path: &str, is_first: bool) -> Option<String> {
    let mut out = String::new();
    let expensive = diagnosis.expensive.iter().find(|expensive| expensive.cost.path == path);
    if let Some(driver) = expensive.and_then(|expensive| expensive.driver.as_ref()) {
        let (keyword, path) = (driver.keyword.name(), field(&driver.path, &diagnosis.path));
        let _ = match driver.replaces {
            Some(value) => write!(out, "{keyword}: {value} at {path} drives the cost."),
            None => write!(out, "{path} has no {keyword}, which drives the cost."),
        };
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
    (!out.is_empty()).then_some(out)
}

/// The field of an object to which a path below a schema leads: `.spec.items[].name`, where `[]` stands for every item of a list
/// and `{}` for every value of a map.
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
