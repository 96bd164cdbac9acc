//! The source edits of one schema, in block YAML, flow YAML and JSON.

use super::EXTENSION;
use crate::Lifecycle;
use kubeshape_yaml::edit::Edit;
use kubeshape_yaml::{Document, Flags, Kind, Node, json, plain_scalar};
use std::collections::BTreeMap;

/// Returns whether a mapping is written with braces.
pub(super) fn is_flow(node: Node<'_>) -> bool {
    node.kind() == Kind::Map && node.document().source().as_bytes().get(node.span().start) == Some(&b'{')
}

/// Returns why a schema cannot be edited, or `None` if it can.
pub(super) fn hindrance(schema: Node<'_>) -> Option<&'static str> {
    let is_aliased = |node: Node<'_>| node.entry().flags.has(Flags::ALIASED);
    if is_aliased(schema) || schema.pairs().any(|(key, _)| is_aliased(key)) {
        return Some("stands behind an alias");
    }
    if schema.kind() != Kind::Map || (schema.is_empty() && !is_flow(schema)) {
        return Some("is no object that can be edited");
    }
    // The aliases of the anchor would change, too.
    let before = schema.document().source().get(..schema.span().start).unwrap_or_default();
    let token = before.trim_end().rsplit(char::is_whitespace).next().unwrap_or_default();
    token.starts_with('&').then_some("has an anchor")
}

/// Adds the edits that set the entries of `schema`, or remove its extension if there are no entries.
pub(super) fn edits(
    document: Document<'_>,
    schema: Node<'_>,
    entries: &BTreeMap<String, Lifecycle>,
    wraps: bool,
    out: &mut Vec<Edit>,
) {
    let style = Style::of(document, schema);
    let pairs: Vec<(Node<'_>, Node<'_>)> = schema.pairs().collect();
    let at = pairs.iter().rposition(|(key, _)| key.text() == EXTENSION);
    if entries.is_empty() {
        if let Some(at) = at {
            out.push(style.removal(&pairs, at));
        }
        return;
    }
    if let Some(at) = at {
        let (key, value) = pairs[at];
        out.push(Edit { range: key.span().start..value.span().end, text: style.member(entries) });
        return;
    }
    if wraps && let Some((key, value)) = pairs.iter().find(|(key, _)| key.text() == "$ref") {
        out.push(style.wrapped(*key, *value));
    }
    out.push(style.insertion(&pairs, entries));
}

/// The layout of the members of a mapping.
struct Style<'s> {
    source: &'s str,
    is_flow: bool,
    /// The characters between the brace or comma and a key, or between the line break and a key.
    lead: String,
    /// One more level of indentation.
    unit: String,
    colon: &'static str,
    /// The offset after the opening brace.
    begin: usize,
}

impl<'s> Style<'s> {
    fn of(document: Document<'s>, schema: Node<'_>) -> Style<'s> {
        let source = document.source();
        let start = schema.span().start;
        let newline = if source.contains("\r\n") { "\r\n" } else { "\n" };
        let first = schema.pairs().next();
        let colon = match first {
            Some((key, value)) if document.is_json() => {
                let between = source.get(key.span().end..value.span().start).unwrap_or_default();
                if between.trim_start().len() > 1 { ": " } else { ":" }
            }
            _ if document.is_json() => ":",
            _ => ": ",
        };
        let is_flow = is_flow(schema);
        if is_flow {
            let lead = first.and_then(|(key, _)| source.get(start + 1..key.span().start)).unwrap_or_default();
            // A comment before the first key is not repeated.
            let lead = if lead.trim().is_empty() { lead } else { " " };
            let close = source.get(..schema.span().end.saturating_sub(1)).unwrap_or_default();
            let is_pretty = lead.contains('\n');
            let inner = lead.rsplit('\n').next().unwrap_or_default();
            let outer = close.rsplit('\n').next().unwrap_or_default();
            let unit =
                if is_pretty { inner.strip_prefix(outer).filter(|unit| !unit.is_empty()).unwrap_or("  ") } else { "" };
            return Style { source, is_flow, lead: lead.to_owned(), unit: unit.to_owned(), colon, begin: start + 1 };
        }
        let line = source.get(..start).unwrap_or_default();
        let line = &line[line.rfind('\n').map_or(0, |at| at + 1)..];
        let indent: String = line.chars().map(|_| ' ').collect();
        Style { source, is_flow, lead: format!("{newline}{indent}"), unit: "  ".to_owned(), colon, begin: start }
    }

    /// Formats the extension, without separators.
    fn member(&self, entries: &BTreeMap<String, Lifecycle>) -> String {
        if !self.is_flow {
            let (one, two) =
                (format!("{}{}", self.lead, self.unit), format!("{}{}{}", self.lead, self.unit, self.unit));
            let mut out = format!("{EXTENSION}:");
            for (project, entry) in entries {
                out.push_str(&one);
                out.push_str(&scalar(project));
                out.push(':');
                let mut any = false;
                for (key, value) in entry.members() {
                    any = true;
                    out.push_str(&two);
                    out.push_str(key);
                    out.push_str(": ");
                    out.push_str(&scalar(value));
                }
                if !any {
                    out.push_str(" {}");
                }
            }
            return out;
        }
        let is_pretty = self.lead.contains('\n');
        let lead =
            |depth: usize| if is_pretty { format!("{}{}", self.lead, self.unit.repeat(depth)) } else { String::new() };
        let comma = if is_pretty || self.colon == ":" { "," } else { ", " };
        let mut out = format!("\"{EXTENSION}\"{}{{", self.colon);
        for (at, (project, entry)) in entries.iter().enumerate() {
            if at > 0 {
                out.push_str(comma);
            }
            out.push_str(&lead(1));
            out.push_str(&quoted(project));
            out.push_str(self.colon);
            out.push('{');
            let mut is_first = true;
            for (key, value) in entry.members() {
                if !std::mem::take(&mut is_first) {
                    out.push_str(comma);
                }
                out.push_str(&lead(2));
                out.push_str(&quoted(key));
                out.push_str(self.colon);
                out.push_str(&quoted(value));
            }
            if !is_first {
                out.push_str(&lead(1));
            }
            out.push('}');
        }
        out.push_str(&lead(0));
        out.push('}');
        out
    }

    /// Inserts the extension at its sorted position: before the extensions that follow it, or else at the end.
    fn insertion(&self, pairs: &[(Node<'_>, Node<'_>)], entries: &BTreeMap<String, Lifecycle>) -> Edit {
        let member = self.member(entries);
        let next = pairs.iter().find(|(key, _)| key.text().starts_with("x-") && key.text() > EXTENSION);
        if let Some((key, _)) = next {
            let at = key.span().start;
            let comma = if self.is_flow { "," } else { "" };
            let lead = if self.is_flow && self.lead.is_empty() && self.colon == ": " { " " } else { &self.lead };
            return Edit { range: at..at, text: format!("{member}{comma}{lead}") };
        }
        let Some((_, last)) = pairs.last() else {
            return Edit { range: self.begin..self.begin, text: member };
        };
        let end = last.span().end;
        if self.is_flow {
            let lead = if self.lead.is_empty() && self.colon == ": " { " " } else { &self.lead };
            return Edit { range: end..end, text: format!(",{lead}{member}") };
        }
        let (at, is_behind_line) = self.line_end(end);
        let text = if is_behind_line {
            // A block scalar ends after its line break.
            let (newline, indent) = self.lead.split_at(self.lead.find(' ').unwrap_or(self.lead.len()));
            format!("{indent}{member}{newline}")
        } else {
            format!("{}{member}", self.lead)
        };
        Edit { range: at..at, text }
    }

    /// Returns the end of the line on which a value ends, before its line break; or the end of the value if that is the
    /// start of a line.
    fn line_end(&self, end: usize) -> (usize, bool) {
        let bytes = self.source.as_bytes();
        if end > 0 && bytes.get(end - 1) == Some(&b'\n') {
            return (end, true);
        }
        let rest = self.source.get(end..).unwrap_or_default();
        let line = rest.find('\n').map_or(rest, |at| &rest[..at]);
        (end + line.strip_suffix('\r').unwrap_or(line).len(), false)
    }

    fn removal(&self, pairs: &[(Node<'_>, Node<'_>)], at: usize) -> Edit {
        let (key, value) = pairs[at];
        let (start, end) = (key.span().start, value.span().end);
        if self.is_flow {
            let range = match (at.checked_sub(1), pairs.get(at + 1)) {
                (Some(before), _) => pairs[before].1.span().end..end,
                (None, Some((next, _))) => start..next.span().start,
                (None, None) => start..end,
            };
            return Edit { range, text: String::new() };
        }
        if pairs.len() == 1 {
            return Edit { range: start..end, text: "{}".to_owned() };
        }
        if let Some((next, _)) = pairs.get(at + 1) {
            return Edit { range: start..next.span().start, text: String::new() };
        }
        // The last member: its lines, with the line break before them.
        let (end, is_behind_line) = self.line_end(end);
        let line = self.source.get(..start).and_then(|before| before.rfind('\n')).unwrap_or(start);
        let line = if self.source.as_bytes().get(line.wrapping_sub(1)) == Some(&b'\r') { line - 1 } else { line };
        let keeps = if is_behind_line { self.lead.trim_end_matches(' ').to_owned() } else { String::new() };
        Edit { range: line..end, text: keeps }
    }

    /// Wraps `$ref` in an `allOf`.
    fn wrapped(&self, key: Node<'_>, value: Node<'_>) -> Edit {
        let range = key.span().start..value.span().end;
        let pair = self.source.get(range.clone()).unwrap_or_default();
        let text = if self.is_flow {
            format!("\"allOf\"{}[{{{pair}}}]", self.colon)
        } else {
            format!("allOf:{}- {pair}", self.lead)
        };
        Edit { range, text }
    }
}

impl Lifecycle {
    /// Returns the members in the order of the proposal.
    pub(crate) fn members(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let members =
            [("minVersion", &self.min_version), ("status", &self.status), ("featureGate", &self.feature_gate)];
        members.into_iter().filter_map(|(key, value)| Some((key, value.as_deref()?)))
    }
}

/// Formats a string in block YAML: plain if every reader reads it as a string.
fn scalar(text: &str) -> String {
    let is_plain = text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-/,".contains(&byte))
        && plain_scalar(text) == Kind::Str;
    if is_plain { text.to_owned() } else { quoted(text) }
}

fn quoted(text: &str) -> String {
    let mut out = Vec::new();
    json::write_str(text, &mut out, false);
    String::from_utf8_lossy(&out).into_owned()
}
