//! What is known of a field, as Markdown.

use crate::{Encoding, File, Knowledge, outline, place};
use kubeshape_show::explain::is_about_rule;
use lsp_types::{Hover, HoverContents, MarkupContent, MarkupKind, Position};
use serde_json::Value;
use std::fmt::Write;

/// The maximum size of a page, in bytes.
const MOST: usize = 16 << 10;

/// The maximum number of owners on a page.
const MOST_OWNERS: usize = 20;

/// Returns what is known of the field at a position.
pub fn hover<K: Knowledge>(file: &File, position: Position, encoding: Encoding, knowledge: &mut K) -> Option<Hover> {
    let offset = file.text().offset(position, encoding);
    let part = file.part_at(offset)?;
    let documents = file.documents(part);
    let local = offset.checked_sub(part.range.start)?;
    let found = documents.documents.iter().rev().find_map(|document| place(document, local));
    let (api_version, kind, steps, span) = if let Some(found) = &found {
        let node = found.node(local).span();
        let is_at = node.start <= local && local <= node.end;
        let span = is_at.then(|| node.start + part.range.start..node.end + part.range.start)?;
        (found.text("apiVersion").to_owned(), found.text("kind").to_owned(), found.steps.clone(), Some(span))
    } else {
        let text = file.source().get(part.range.clone())?;
        let line = file.text().line_of(offset).checked_sub(part.line)?;
        let outline = outline(text, line, None);
        (outline.api_version, outline.kind, outline.steps, None)
    };
    let fields = knowledge.fields(&api_version, &kind)?;
    let number = fields.number(&fields.pointer(&steps))?;
    let described = knowledge.describe(&api_version, &kind, number)?;
    let value = page(&described, &format!("{kind} {api_version}"));
    let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value });
    Some(Hover { contents, range: span.map(|span| file.text().range(span, encoding)) })
}

/// Adds to a page who owns the field in a live object.
pub fn add_owners(hover: &mut Hover, owners: &[String]) {
    let HoverContents::Markup(page) = &mut hover.contents else { return };
    for owner in owners.iter().take(MOST_OWNERS) {
        let _ = writeln!(page.value, "- owner: {}", code(owner));
    }
}

/// Returns a page about a field.
fn page(field: &Value, kind: &str) -> String {
    let text = |name: &str| field[name].as_str().unwrap_or_default();
    let mut out = format!("**{}** `{}`", text("path"), text("type"));
    if field["required"] == true {
        out.push_str(" *required*");
    }
    let _ = write!(out, " — {kind}\n\n");
    if !text("description").is_empty() {
        let _ = write!(out, "{}\n\n", text("description"));
    }
    for fact in field["facts"].as_array().into_iter().flatten() {
        let (name, value) = (fact[0].as_str().unwrap_or_default(), fact[1].as_str().unwrap_or_default());
        if !is_about_rule(name) {
            let _ = writeln!(out, "- {name}: {}", code(value));
        }
    }
    for rule in field["rules"].as_array().into_iter().flatten() {
        let text = |name: &str| rule[name].as_str().unwrap_or_default();
        let _ = write!(out, "- rule {}", code(text("rule")));
        if !text("about").is_empty() {
            let _ = write!(out, " for {}", text("about"));
        }
        let words = kubeshape_cel::words(text("rule")).unwrap_or_default();
        let message = text("message");
        if !words.is_empty() {
            let _ = write!(out, ": {words}");
        }
        if !message.is_empty() {
            let _ = write!(out, "{}{message}", if words.is_empty() { ": " } else { " Message: " });
        }
        if let (Some(total), Some(limit)) = (rule["cost"]["total"].as_u64(), rule["cost"]["limit"].as_u64()) {
            let _ = write!(out, " (cost {total} of {limit})");
        }
        out.push('\n');
    }
    for (name, about) in [("lifecycle", "lifecycle"), ("merge", "server-side apply")] {
        if !text(name).is_empty() {
            let _ = writeln!(out, "- {about}: {}", text(name));
        }
    }
    for loss in field["losses"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        let _ = writeln!(out, "- lost: {loss}");
    }
    let declared = &field["declared"];
    if let (Some(input), Some(line)) = (declared["input"].as_str(), declared["line"].as_u64()) {
        let _ = writeln!(out, "- declared in {input}:{line}");
    }
    if out.len() > MOST {
        let mut end = MOST;
        while !out.is_char_boundary(end) {
            end -= 1;
        }
        out.truncate(end);
        out.push('…');
    }
    out
}

/// Returns a string as code in Markdown.
fn code(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest + 1);
    let blank = if longest > 0 { " " } else { "" };
    format!("{fence}{blank}{}{blank}{fence}", text.replace('\n', " "))
}
