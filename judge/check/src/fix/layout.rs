//! The source ranges of entries, so that their neighbors keep their layout.

use super::Edit;
use kubeshape_yaml::{Flags, Kind, Node};
use std::collections::BTreeSet;
use std::ops::Range;

/// Removes entries of a mapping or sequence, named by their keys or items. Returns `None` if the layout does not allow
/// it.
pub(crate) fn remove(container: Node<'_>, gone: &BTreeSet<u32>) -> Option<Vec<Edit>> {
    let text = container.document().source();
    let entries: Vec<Entry> = match container.kind() {
        Kind::Map => container.pairs().map(|(key, value)| Entry::new(key, value, gone)).collect(),
        Kind::Seq => container.items().map(|item| Entry::new(item, item, gone)).collect(),
        _ => return None,
    };
    if entries.iter().any(|entry| entry.is_gone && !entry.is_own) {
        return None;
    }
    let first_byte = text.as_bytes().get(container.span().start);
    let is_flow = matches!(first_byte, Some(b'{' | b'['));
    if entries.iter().all(|entry| entry.is_gone) {
        let (first, last) = (entries.first()?, entries.last()?);
        let empty = match (is_flow, container.kind()) {
            (true, _) => "",
            (false, Kind::Map) => "{}",
            // A sequence never becomes empty: one of the duplicates remains.
            _ => return None,
        };
        let end = text.get(..last.range.end)?.trim_end().len();
        return Some(vec![Edit { range: first.range.start..end, text: empty.to_owned() }]);
    }
    if is_flow { from_flow(text, &entries) } else { from_block(text, &entries, container.kind()) }
}

/// An entry in the source.
struct Entry {
    /// From the key, or the item, to the end of its value.
    range: Range<usize>,
    is_gone: bool,
    /// Whether it is not from an alias or a merge key.
    is_own: bool,
}

impl Entry {
    fn new(key: Node<'_>, value: Node<'_>, gone: &BTreeSet<u32>) -> Entry {
        let is_own = |node: Node<'_>| !node.entry().flags.has(Flags::ALIASED);
        let end = if is_own(value) { value.span().end.max(key.span().end) } else { key.span().end };
        Entry {
            range: key.span().start..end,
            is_gone: gone.contains(&key.index()),
            is_own: is_own(key) && is_own(value),
        }
    }
}

/// Removes entries between brackets, each with one comma.
fn from_flow(text: &str, entries: &[Entry]) -> Option<Vec<Edit>> {
    let mut edits = Vec::new();
    // The end of the last entry that remains, or of a removed one whose preceding comma is removed.
    let mut before: Option<&Entry> = None;
    for (i, entry) in entries.iter().enumerate() {
        if !entry.is_gone {
            before = Some(entry);
            continue;
        }
        let range = if let Some(before) = before {
            if !before.is_own || between(text, before, entry)?.trim() != "," {
                return None;
            }
            before.range.end..entry.range.end
        } else {
            let next = entries.get(i + 1)?;
            if between(text, entry, next)?.trim() != "," {
                return None;
            }
            entry.range.start..next.range.start
        };
        if before.is_some() {
            before = Some(entry);
        }
        edits.push(Edit { range, text: String::new() });
    }
    Some(edits)
}

/// Removes entries on lines of their own, with the lines.
fn from_block(text: &str, entries: &[Entry], kind: Kind) -> Option<Vec<Edit>> {
    let mut edits = Vec::new();
    let mut rest = entries;
    while let Some((entry, others)) = rest.split_first() {
        rest = others;
        if !entry.is_gone {
            continue;
        }
        let line = start_of_line(text, entry.range.start);
        let lead = text.get(line..entry.range.start)?;
        let is_own_line = match kind {
            Kind::Map => lead.bytes().all(|byte| byte == b' '),
            _ => lead.trim_start_matches(' ').strip_prefix('-').is_some_and(|lead| lead.bytes().all(|b| b == b' ')),
        };
        if is_own_line {
            edits.push(Edit { range: line..end_of_line(text, entry.range.end)?, text: String::new() });
            continue;
        }
        // The first entry follows the dash of an item. The next remaining entry moves to its position.
        if kind != Kind::Map || !lead.bytes().all(|byte| matches!(byte, b' ' | b'-')) {
            return None;
        }
        let stays = others.iter().position(|other| !other.is_gone)?;
        let run = &entries[entries.len() - others.len() - 1..][..stays + 2];
        for pair in run.windows(2) {
            if !between(text, &pair[0], &pair[1])?.trim().is_empty() {
                return None;
            }
        }
        edits.push(Edit { range: entry.range.start..run.last()?.range.start, text: String::new() });
        rest = &others[stays..];
    }
    Some(edits)
}

fn between<'t>(text: &'t str, first: &Entry, second: &Entry) -> Option<&'t str> {
    text.get(first.range.end..second.range.start)
}

fn start_of_line(text: &str, at: usize) -> usize {
    text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |newline| newline + 1)
}

/// Returns the end of the line after a value, if only a comment follows it.
fn end_of_line(text: &str, end: usize) -> Option<usize> {
    if text.get(..end)?.ends_with('\n') {
        return Some(end);
    }
    let rest = text.get(end..)?;
    let line = rest.split_inclusive('\n').next().unwrap_or_default();
    let behind = line.trim().trim_start_matches(':').trim_start();
    (behind.is_empty() || behind.starts_with('#')).then_some(end + line.len())
}

/// Writes `type` as the first member of a mapping, before the first member that remains.
pub(super) fn write_type(schema: Node<'_>, ty: &str, gone: &BTreeSet<u32>) -> Option<Edit> {
    let (first, _) = schema.pairs().find(|(key, _)| !gone.contains(&key.index()))?;
    write_before(schema, first, "type", ty)
}

/// Writes a number as a member of a schema: in place of the one that is there, or before the first member that follows
/// it in the order of the alphabet, as generators write them.
pub(crate) fn write_bound(schema: Node<'_>, name: &str, value: i64) -> Option<Edit> {
    if let Some(old) = schema.get(name) {
        let is_own = !old.entry().flags.has(Flags::ALIASED);
        return is_own.then(|| Edit { range: old.span(), text: value.to_string() });
    }
    let next = schema.pairs().find(|(key, _)| key.text() > name).or_else(|| schema.pairs().next());
    write_before(schema, next?.0, name, &value.to_string())
}

/// Writes a member of a mapping before another one.
fn write_before(schema: Node<'_>, next: Node<'_>, name: &str, value: &str) -> Option<Edit> {
    let document = schema.document();
    let text = document.source();
    let at = next.span().start;
    let insert = |text: String| Some(Edit { range: at..at, text });
    if text.as_bytes().get(schema.span().start) == Some(&b'{') {
        let is_json = document.is_json() || text.as_bytes().get(at) == Some(&b'"');
        let line = start_of_line(text, at);
        let lead = text.get(line..at)?;
        // Keep one member per line if that is the layout.
        let gap = if line > schema.span().start && lead.trim().is_empty() {
            format!("{}{lead}", newline(text, line))
        } else {
            " ".to_owned()
        };
        let is_number = value.bytes().all(|byte| byte.is_ascii_digit());
        let around = if is_json { "\"" } else { "" };
        let around_value = if is_json && !is_number { "\"" } else { "" };
        return insert(format!("{around}{name}{around}: {around_value}{value}{around_value},{gap}"));
    }
    let line = start_of_line(text, at);
    let lead = text.get(line..at)?;
    if !lead.bytes().all(|byte| matches!(byte, b' ' | b'-')) {
        return None;
    }
    let end = at + text.get(at..)?.find('\n').map_or(0, |newline| newline + 1);
    insert(format!("{name}: {value}{}{}", newline(text, end), " ".repeat(lead.len())))
}

/// Returns the line break before an offset.
fn newline(text: &str, at: usize) -> &'static str {
    if text.get(..at).is_some_and(|before| before.ends_with("\r\n")) { "\r\n" } else { "\n" }
}
