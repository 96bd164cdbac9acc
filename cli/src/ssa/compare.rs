//! `compare`: the differences between objects.

use super::sets::{failed, typed, unwritable};
use crate::args::CompareArgs;
use crate::error::Fatal;
use crate::report::clean::clean;
use crate::session::object::{Identity, Object, Objects, read_objects};
use crate::session::print::Output;
use crate::session::types::registry;
use crate::session::{Command, Common, Session};
use kubeshape_input::Code;
use kubeshape_registry::Registry;
use kubeshape_registry::locate::Paths;
use kubeshape_smd::Value;
use kubeshape_smd::fieldpath::{DisplayPath, PathElement, Set, SetError};
use kubeshape_smd::typed::{Comparison, Duplicates};
use kubeshape_smd::value::Compat;
use kubeshape_yaml::json;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The width of a terminal. Longer old and new values get their own lines.
const WIDTH: usize = 80;

/// What is compared: an object of A, one of B, or one of each.
#[derive(Clone, Copy)]
enum Pair<'a> {
    Both(Object<'a>, Object<'a>),
    Gone(Object<'a>),
    New(Object<'a>),
}

/// How a field differs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    Added,
    Modified,
    Removed,
}

impl How {
    const ALL: [How; 3] = [How::Added, How::Modified, How::Removed];

    fn name(self) -> &'static str {
        match self {
            How::Added => "added",
            How::Modified => "modified",
            How::Removed => "removed",
        }
    }

    fn of<'a>(self, comparison: &Comparison<'a>) -> Set<'a> {
        match self {
            How::Added => comparison.added,
            How::Modified => comparison.modified,
            How::Removed => comparison.removed,
        }
    }
}

/// A field that differs. A field that only holds other differing fields has no values.
struct Change {
    how: How,
    path: String,
    /// As JSON.
    old: Option<String>,
    new: Option<String>,
}

/// `kubeshape compare`
///
/// # Errors
/// There is no answer.
pub(crate) fn run(args: &CompareArgs, session: &mut Session<'_>) -> Result<bool, Fatal> {
    let output = Output::new(&args.result)?;
    let inputs = args.two()?;
    let registry = registry(&args.types, &inputs, session)?;
    let [a, b] = inputs.each_ref().map(|path| read_objects(std::slice::from_ref(path), session));
    if session.errors() > 0 && (a.all.is_empty() || b.all.is_empty()) {
        return Ok(false);
    }
    let is_one = a.is_one && b.is_one;
    let mut out = Vec::new();
    let mut is_same = true;
    for pair in pairs(&a, &b, session) {
        let found = match pair {
            Pair::Both(a, b) => match compared(a, b, registry, session) {
                None => continue,
                Some(found) if found.0.is_empty() && !(is_one && output.is_json()) => continue,
                Some(found) => Some(found),
            },
            Pair::Gone(_) | Pair::New(_) => None,
        };
        is_same &= found.as_ref().is_some_and(|(changes, _)| changes.is_empty());
        if output.is_json() {
            out.extend(as_json(pair, found, is_one));
        } else {
            out.extend(as_text(pair, found.map_or_else(Vec::new, |(changes, _)| changes), is_one).into_bytes());
        }
    }
    output.bytes(&out)?;
    Ok(is_same)
}

/// Pairs the objects, in the order of A, followed by those that only B has.
fn pairs<'a>(a: &Objects<'a>, b: &Objects<'a>, session: &mut Session<'a>) -> Vec<Pair<'a>> {
    if let ([first], [second], true) = (a.all.as_slice(), b.all.as_slice(), a.is_one && b.is_one) {
        return vec![Pair::Both(*first, *second)];
    }
    let mut news = by_identity(&b.all, session);
    let olds = by_identity(&a.all, session);
    let mut out = Vec::new();
    for object in a.all.iter().filter(|object| olds.get(&object.identity()).is_some_and(|old| old.is(object))) {
        out.push(match news.remove(&object.identity()) {
            Some(new) => Pair::Both(*object, new),
            None => Pair::Gone(*object),
        });
    }
    let is_left = |object: &&Object<'a>| news.get(&object.identity()).is_some_and(|new| new.is(object));
    out.extend(b.all.iter().filter(is_left).map(|object| Pair::New(*object)));
    out
}

/// Returns the objects by identity. If two have the same identity, the first counts and the second is reported.
fn by_identity<'a>(objects: &[Object<'a>], session: &mut Session<'a>) -> BTreeMap<Identity<'a>, Object<'a>> {
    let mut out: BTreeMap<Identity<'a>, Object<'a>> = BTreeMap::new();
    for object in objects {
        if let Some(first) = out.get(&object.identity()) {
            let detail = format!("the same object stands in {}, too", first.location);
            session.report(&object.finding_of_all(Code::SeveralObjects, detail));
        } else {
            out.insert(object.identity(), *object);
        }
    }
    out
}

/// Returns the differences between two objects, and the same as sets of fields in JSON. Returns `None` if they cannot
/// be compared.
fn compared<'a>(
    a: Object<'a>,
    b: Object<'a>,
    registry: &'a Registry,
    session: &mut Session<'a>,
) -> Option<(Vec<Change>, Vec<u8>)> {
    let left = typed(a, Duplicates::Allowed, registry, session);
    let right = typed(b, Duplicates::Allowed, registry, session);
    let (left, right) = (left?, right?);
    let comparison = match left.value.compare(right.value, session.arena) {
        Ok(comparison) => comparison,
        Err(error) => {
            failed(&error, &left, &right, registry, session);
            return None;
        }
    };
    match sets(&comparison, registry.settings().compat) {
        Ok(sets) => Some((changes(&a, &b, &comparison, session), sets)),
        Err(error) => {
            unwritable(&a, &error, session);
            None
        }
    }
}

/// Returns `"added":{…},"modified":{…},"removed":{…}`.
fn sets(comparison: &Comparison<'_>, compat: Compat) -> Result<Vec<u8>, SetError> {
    let mut out = Vec::new();
    for how in How::ALL {
        let comma = if out.is_empty() { "" } else { "," };
        out.extend_from_slice(format!("{comma}\"{}\":", how.name()).as_bytes());
        how.of(comparison).write_json_as(compat, &mut out)?;
    }
    Ok(out)
}

fn changes<'a>(a: &Object<'a>, b: &Object<'a>, comparison: &Comparison<'a>, session: &Session<'a>) -> Vec<Change> {
    let arena = session.arena;
    let [mut olds, mut news] = [a, b].map(|object| Paths::new(object.location.node(), arena));
    let mut out = Vec::new();
    for how in How::ALL {
        let set = how.of(comparison);
        for path in set {
            let holds_others = !path.iter().fold(set, |set, element| set.with_prefix(*element)).is_empty();
            // The path of an item of a set contains its value.
            let says_all = holds_others || matches!(path.last(), Some(PathElement::Value(_)));
            let value = |paths: &mut Paths<'a, 'a>| {
                let mut json = Vec::new();
                Value::from_node(paths.at(&path).value, arena).write_json(&mut json).ok()?;
                String::from_utf8(json).ok()
            };
            let old = if says_all || how == How::Added { None } else { value(&mut olds) };
            let new = if says_all || how == How::Removed { None } else { value(&mut news) };
            out.push(Change { how, path: DisplayPath(&path).to_string(), old, new });
        }
    }
    out
}

fn as_text(pair: Pair<'_>, changes: Vec<Change>, is_one: bool) -> String {
    let mut out = String::new();
    let indent = if is_one { "" } else { "  " };
    match pair {
        Pair::Gone(object) => {
            let _ = writeln!(out, "{}: only in A, {}", object.name(), clean(&object.location.to_string()));
        }
        Pair::New(object) => {
            let _ = writeln!(out, "{}: only in B, {}", object.name(), clean(&object.location.to_string()));
        }
        Pair::Both(object, _) if !is_one => {
            let _ = writeln!(out, "{}:", object.name());
        }
        Pair::Both(..) => {}
    }
    let mut last = None;
    for Change { how, path, old, new } in changes {
        let (path, old, new) = (clean(&path), old.as_deref().map(clean), new.as_deref().map(clean));
        if last != Some(how) {
            let _ = writeln!(out, "{indent}{}:", how.name());
            last = Some(how);
        }
        let line = match (&old, &new) {
            (Some(old), Some(new)) => format!("{indent}  {path}: {old} -> {new}"),
            (Some(value), None) | (None, Some(value)) => format!("{indent}  {path}: {value}"),
            (None, None) => format!("{indent}  {path}"),
        };
        if line.chars().count() <= WIDTH || (old.is_none() && new.is_none()) {
            let _ = writeln!(out, "{line}");
            continue;
        }
        let _ = writeln!(out, "{indent}  {path}:");
        for (sign, value) in [('-', old), ('+', new)] {
            if let Some(value) = value {
                let _ = writeln!(out, "{indent}    {sign} {value}");
            }
        }
    }
    out
}

fn as_json(pair: Pair<'_>, found: Option<(Vec<Change>, Vec<u8>)>, is_one: bool) -> Vec<u8> {
    let (Pair::Both(object, _) | Pair::Gone(object) | Pair::New(object)) = pair;
    let mut compact = if is_one { b"{".to_vec() } else { object.begin_json() };
    if !is_one {
        compact.push(b',');
    }
    match (pair, found) {
        (Pair::Both(..), Some((changes, sets))) => {
            compact.extend(sets);
            compact.extend_from_slice(b",\"changes\":[");
            for (at, Change { path, old, new, .. }) in changes.into_iter().enumerate() {
                compact.extend_from_slice(if at == 0 { b"{\"path\":" } else { b",{\"path\":" });
                // A text has no infinite numbers, so this cannot fail.
                let _ = Value::String(&path).write_json(&mut compact);
                for (name, value) in [("old", old), ("new", new)] {
                    if let Some(value) = value {
                        compact.extend_from_slice(format!(",\"{name}\":{value}").as_bytes());
                    }
                }
                compact.push(b'}');
            }
            compact.push(b']');
        }
        (Pair::Gone(_), _) => compact.extend_from_slice(b"\"only\":\"A\""),
        _ => compact.extend_from_slice(b"\"only\":\"B\""),
    }
    compact.push(b'}');
    let mut out = Vec::new();
    json::indent(&compact, &mut out);
    out.push(b'\n');
    out
}

impl Command for CompareArgs {
    fn common(&self) -> Common<'_> {
        Common { findings: &self.result.findings, walk: &self.types.walk, quiet: self.result.quiet, is_report: false }
    }

    fn run<'a>(&'a self, session: &mut Session<'a>) -> Result<bool, Fatal> {
        run(self, session)
    }
}
