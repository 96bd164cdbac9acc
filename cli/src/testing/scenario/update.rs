//! Writing what came of a step into the file, in place of what was expected.

use super::line::line;
use super::read::{Action, Step, parts_of};
use super::steps::Outcome;
use crate::session::Session;
use kubeshape_input::Code;
use kubeshape_registry::print;
use kubeshape_smd::Value;
use kubeshape_smd::value::Map;
use kubeshape_suite::Edit;
use kubeshape_yaml::emit::Emitter;
use kubeshape_yaml::{Flags, Node};

/// The edit that makes a step expect what came of it; none if it has no place for expectations.
pub(super) fn edit<'a>(step: &Step<'a>, outcome: &Outcome<'a>, session: &mut Session<'a>) -> Option<Edit> {
    let (key, value) = step.expect?;
    if key.entry().flags.has(Flags::ALIASED) || step.node.entry().flags.has(Flags::ALIASED) {
        let detail = "the step is an alias; what it expects cannot be rewritten for this place alone";
        session.report(&step.text.about(Code::Scenario, step.node, detail));
        return None;
    }
    let parts = wanted(step, value, outcome, session);
    let source = step.text.source();
    let (from, end) = (key.span().end, value.span().end.max(key.span().end));
    let before = source.get(from..value.span().start).unwrap_or_default();
    // An empty value may be thought of as standing anywhere behind the colon.
    let colon = from + source.get(from..)?.find(':')? + 1;
    let end = if value.is_null() && value.span().is_empty() { colon } else { end };
    let behind = source.get(end..).unwrap_or_default().lines().next().unwrap_or_default().trim();
    let line_start = source.get(..key.span().start)?.rfind('\n').map_or(0, |at| at + 1);
    let column = source.get(line_start..key.span().start)?.chars().count();
    let is_flow = source.get(step.node.span().start..)?.starts_with('{');
    if is_flow || (!behind.is_empty() && !value.span().is_empty()) {
        let mut text = ": ".to_owned();
        line(
            Value::Map(Map::from_entries(parts.iter().map(|(name, value)| (*name, *value)).collect(), session.arena)),
            &mut text,
        );
        return Some(Edit { range: from..end, text });
    }
    // What stands behind the key, such as a comment, stays.
    let (head, indent) = match before.rfind('\n') {
        Some(at) if !value.is_null() => (before.get(..at)?.to_owned(), before.len() - at - 1),
        _ if value.is_null() && !behind.is_empty() => (format!(": {behind}"), column + 2),
        _ => (":".to_owned(), column + 2),
    };
    let end =
        if value.is_null() && !behind.is_empty() { end + source.get(end..)?.find(behind)? + behind.len() } else { end };
    let mut text = head;
    for line in block(&parts).lines() {
        text.push('\n');
        if !line.is_empty() {
            text.extend(std::iter::repeat_n(' ', indent));
            text.push_str(line);
        }
    }
    if source.get(..end)?.ends_with('\n') {
        text.push('\n');
    }
    Some(Edit { range: from..end, text })
}

/// The parts that are written: those that were expected, as far as there are such, and what failed; or all of them.
fn wanted<'a>(
    step: &Step<'a>,
    expected: Node<'a>,
    outcome: &Outcome<'a>,
    session: &Session<'a>,
) -> Vec<(&'static str, Value<'a>)> {
    let has_conflicts = outcome.part("conflicts").is_some();
    let has_errors = matches!(step.action, Action::Judge { .. }) && outcome.part("error").is_none();
    let failure = if has_conflicts {
        "conflicts"
    } else if has_errors {
        "errors"
    } else {
        "error"
    };
    let all = parts_of(&step.action);
    let named = |name: &&&'static str| {
        expected.get(name).is_some() || (**name == failure && outcome.unexpected(step).is_some())
    };
    let mut names: Vec<&'static str> = all.iter().filter(named).copied().collect();
    names.retain(|name| outcome.part(name).is_some());
    if names.is_empty() {
        names = match outcome.part("error") {
            Some(_) => vec![failure],
            None => all.iter().copied().filter(|name| outcome.part(name).is_some()).collect(),
        };
    }
    let timed = expected.get("owners").is_some_and(|owners| owners.items().any(|owner| owner.get("time").is_some()));
    let value = |name: &'static str| {
        let value = outcome.part(name)?;
        Some((name, if name == "owners" && !timed { without_times(value, session) } else { value }))
    };
    names.into_iter().filter_map(value).collect()
}

fn without_times<'a>(owners: Value<'a>, session: &Session<'a>) -> Value<'a> {
    let Value::List(items) = owners else { return owners };
    let items: Vec<Value<'a>> = items
        .iter()
        .map(|item| item.as_map().map_or(*item, |map| Value::Map(map.with("time", None, session.arena))))
        .collect();
    Value::List(session.arena.alloc_slice_copy(&items))
}

/// The parts as YAML; fields on one line each, because there they are read best.
fn block(parts: &[(&'static str, Value<'_>)]) -> String {
    let mut out = String::new();
    for (name, value) in parts {
        match (*name, value) {
            ("set" | "added" | "modified" | "removed", value) => {
                out.push_str(name);
                out.push_str(": ");
                line(*value, &mut out);
                out.push('\n');
            }
            ("owners", Value::List(owners)) if !owners.is_empty() => {
                out.push_str("owners:\n");
                for owner in *owners {
                    out.push_str("- ");
                    line(*owner, &mut out);
                    out.push('\n');
                }
            }
            ("conflicts" | "errors", Value::List(items)) if !items.is_empty() => {
                out.push_str(name);
                out.push_str(":\n");
                for item in *items {
                    out.push_str("- ");
                    line(*item, &mut out);
                    out.push('\n');
                }
            }
            (name, value) => {
                let mut bytes = Vec::new();
                let mut emitter = Emitter::new(&mut bytes);
                emitter.begin_map();
                emitter.key(name);
                print::write_yaml(*value, &mut emitter);
                emitter.end_map();
                out.push_str(&String::from_utf8_lossy(&bytes));
            }
        }
    }
    out
}
