//! Whether what came of a step is what was expected.

use super::line::line;
use super::read::Step;
use super::steps::Outcome;
use crate::session::Session;
use kubeshape_smd::Value;
use kubeshape_smd::fieldpath::Set;
use kubeshape_smd::value::Map;
use std::fmt::Write;

/// Differences that are shown of one part.
const MOST: usize = 10;

/// Whether an expectation holds.
pub(super) enum Verdict {
    /// It does.
    Met(String),
    /// It does not: where it stands, and what differs.
    Failed { part: String, place: String, differences: Vec<String> },
}

/// Compares every part that is expected; that nothing fails is always expected.
pub(super) fn judge<'a>(step: &Step<'a>, outcome: &Outcome<'a>, session: &Session<'a>) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    let parts = step.expect.map(|(_, parts)| parts);
    if let Some(error) = outcome.unexpected(step) {
        let (part, place) = ("no error".to_owned(), step.text.place(step.node));
        verdicts.push(Verdict::Failed { part, place, differences: vec![format!("found: {}", shown(Some(error)))] });
    }
    for (key, node) in parts.into_iter().flat_map(kubeshape_yaml::Node::pairs) {
        let part = key.text();
        let expected = Value::from_node(node, session.arena);
        let found = outcome.part(part).or((part == "conflicts").then_some(Value::List(&[])));
        let (expected, found) = normal(part, expected, found, session);
        let mut differences = Vec::new();
        differ("", Some(expected), found, &mut differences);
        if differences.is_empty() {
            verdicts.push(Verdict::Met(part.to_owned()));
            continue;
        }
        if differences.len() > MOST {
            let more = differences.len() - MOST;
            differences.truncate(MOST);
            differences.push(format!("and {more} more"));
        }
        verdicts.push(Verdict::Failed { part: part.to_owned(), place: step.text.place(key), differences });
    }
    verdicts
}

/// Both sides in a form in which only differences that count are left.
fn normal<'a>(
    part: &str,
    expected: Value<'a>,
    found: Option<Value<'a>>,
    session: &Session<'a>,
) -> (Value<'a>, Option<Value<'a>>) {
    let both = |with: &dyn Fn(Value<'a>) -> Value<'a>| (with(expected), found.map(with));
    match part {
        "set" | "added" | "modified" | "removed" => both(&|value| fields(value, session)),
        "error" => both(&|value| {
            let text = value.as_str().map(|text| {
                let mut lines: Vec<&str> = text.lines().map(|line| words(line.trim())).collect();
                lines.sort_unstable();
                &*session.arena.alloc_str(&lines.join("\n"))
            });
            text.map_or(value, Value::String)
        }),
        "conflicts" => both(&|value| sorted(value, session)),
        "errors" => both(&|value| {
            let entry = |entry: Value<'a>| match (entry, entry.get("message")) {
                (Value::Map(map), Some(Value::String(message))) => {
                    Value::Map(map.with("message", Some(Value::String(words(message))), session.arena))
                }
                _ => entry,
            };
            sorted(each(value, &entry, session), session)
        }),
        "owners" => {
            let timed = expected.as_list().is_some_and(|list| list.iter().any(|owner| owner.get("time").is_some()));
            both(&|value| {
                let entry = |entry: Value<'a>| owner(entry, timed, session);
                sorted(each(value, &entry, session), session)
            })
        }
        _ => (expected, found),
    }
}

/// An owner whose fields are in their normal form, and without its time if no time is expected.
fn owner<'a>(entry: Value<'a>, timed: bool, session: &Session<'a>) -> Value<'a> {
    let Value::Map(mut map) = entry else { return entry };
    if let Some(set) = map.get("fields") {
        map = map.with("fields", Some(fields(set, session)), session.arena);
    }
    if !timed {
        map = map.with("time", None, session.arena);
    }
    if map.get("subresource").and_then(Value::as_str) == Some("") {
        map = map.with("subresource", None, session.arena);
    }
    Value::Map(map)
}

/// A message up to where upstream prints a value as Go does.
fn words(line: &str) -> &str {
    line.split_once(", got ").map_or(line, |(words, _)| words)
}

/// A set as it is written; what is none stays as it is, and so differs.
fn fields<'a>(value: Value<'a>, session: &Session<'a>) -> Value<'a> {
    let set = Set::from_fields_v1(value, session.arena).ok();
    set.and_then(|set| set.to_fields_v1(session.arena).ok()).unwrap_or(value)
}

fn each<'a>(value: Value<'a>, with: &dyn Fn(Value<'a>) -> Value<'a>, session: &Session<'a>) -> Value<'a> {
    match value {
        Value::List(items) => Value::List(session.arena.alloc_slice_fill_iter(items.iter().map(|item| with(*item)))),
        other => other,
    }
}

fn sorted<'a>(value: Value<'a>, session: &Session<'a>) -> Value<'a> {
    match value {
        Value::List(items) => {
            let mut items = items.to_vec();
            items.sort();
            Value::List(session.arena.alloc_slice_copy(&items))
        }
        other => other,
    }
}

/// Where two values differ.
fn differ(path: &str, expected: Option<Value<'_>>, found: Option<Value<'_>>, out: &mut Vec<String>) {
    match (expected, found) {
        (Some(Value::Map(a)), Some(Value::Map(b))) if !a.is_empty() && !b.is_empty() => {
            let names = |map: Map<'_>| map.entries().iter().map(|(name, _)| (*name).to_owned()).collect::<Vec<_>>();
            let mut all = names(a);
            all.extend(names(b));
            all.sort_unstable();
            all.dedup();
            for name in all {
                differ(&format!("{path}.{name}"), a.get(&name), b.get(&name), out);
            }
        }
        (Some(Value::List(a)), Some(Value::List(b))) => {
            for at in 0..a.len().max(b.len()) {
                differ(&format!("{path}[{at}]"), a.get(at).copied(), b.get(at).copied(), out);
            }
        }
        (a, b) if a == b => {}
        (a, b) => {
            let mut line = String::new();
            if !path.is_empty() {
                let _ = write!(line, "{path}: ");
            }
            let _ = write!(line, "expected {}, found {}", shown(a), shown(b));
            out.push(line);
        }
    }
}

/// A value on one line.
fn shown(value: Option<Value<'_>>) -> String {
    let Some(value) = value else { return "nothing".to_owned() };
    let mut out = String::new();
    line(value, &mut out);
    out
}
