//! What can be written at a position.

use crate::fields::{fact, name};
use crate::{Encoding, Fields, File, Knowledge, Named, Outline, Step, index, outline};
use kubeshape_show::explain::Field;
use lsp_types::{
    CompletionItem, CompletionItemKind, CompletionTextEdit, Documentation, InsertTextFormat, Position, TextEdit,
};
use std::collections::BTreeSet;

/// The maximum number of items in an answer.
const MOST: usize = 500;
/// The longest description of an item, in letters.
const LONGEST: usize = 600;

/// The position in a line.
struct At<'f> {
    file: &'f File,
    encoding: Encoding,
    /// Where the word begins that is being typed, and where it ends.
    span: std::ops::Range<usize>,
    word: &'f str,
}

/// Returns what can be written at a position. `names` are the names of the workspace.
pub fn complete<K: Knowledge>(
    file: &File,
    position: Position,
    encoding: Encoding,
    names: &[Named],
    knowledge: &mut K,
) -> Vec<CompletionItem> {
    let offset = file.text().offset(position, encoding);
    let Some(part) = file.part_at(offset) else { return Vec::new() };
    let line = file.text().line_of(offset);
    let (start, content) = file.text().line(line);
    let (Some(before), Some(local)) = (content.get(..offset - start), line.checked_sub(part.line)) else {
        return Vec::new();
    };
    let source = file.source().get(part.range.clone()).unwrap_or_default();
    // A comment, or a line with a character that cannot be part of a plain key.
    if before.trim_start().starts_with('#') {
        return Vec::new();
    }
    let key_column = before.len() - before.trim_start_matches([' ', '-']).len();
    let written = before.get(key_column..).unwrap_or_default();
    let mut out = match written.split_once(": ").or_else(|| written.split_once(":\t")) {
        Some((_, value)) => {
            let value = value.trim_start();
            let outline = outline(source, local, None);
            let at = at(file, encoding, offset - value.len()..end_of(content, start, offset), value);
            values(&at, &outline, names, knowledge)
        }
        None if !written.contains([':', '{', '[', '"', '\'']) => {
            let at = at(file, encoding, offset - written.len()..offset, written);
            let outline = outline(source, local, Some(key_column));
            let has_colon =
                content.get(offset - start..).is_some_and(|rest| rest.trim_start_matches(is_word).starts_with(':'));
            let mut found = keys(&at, &outline, key_column, has_colon, knowledge);
            if found.is_empty() && before.trim_start().starts_with('-') {
                // An item that is a string.
                found = values(&at, &outline, names, knowledge);
            }
            found
        }
        None => Vec::new(),
    };
    out.truncate(MOST);
    out
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/')
}

/// Returns the end of the value at a position: a comment stays.
fn end_of(content: &str, start: usize, offset: usize) -> usize {
    let rest = content.get(offset - start..).unwrap_or_default();
    offset + rest.split(" #").next().unwrap_or_default().trim_end().len()
}

fn at<'f>(file: &'f File, encoding: Encoding, span: std::ops::Range<usize>, word: &'f str) -> At<'f> {
    At { file, encoding, span, word }
}

impl At<'_> {
    fn item(&self, label: &str, kind: CompletionItemKind, text: String, order: usize) -> CompletionItem {
        CompletionItem {
            label: label.to_owned(),
            kind: Some(kind),
            sort_text: Some(format!("{order:05}")),
            text_edit: Some(CompletionTextEdit::Edit(TextEdit {
                range: self.file.text().range(self.span.clone(), self.encoding),
                new_text: text,
            })),
            ..CompletionItem::default()
        }
    }

    /// Returns whether a client would show a label for what is typed: its letters are in the label, in order.
    fn fits(&self, label: &str) -> bool {
        let mut letters = label.chars().flat_map(char::to_lowercase);
        let typed = self.word.trim_start_matches(['"', '\'']);
        typed.chars().flat_map(char::to_lowercase).all(|wanted| letters.any(|letter| letter == wanted))
    }
}

/// Returns the fields that the mapping at the position does not have yet, required ones first.
fn keys<K: Knowledge>(
    at: &At<'_>,
    outline: &Outline,
    column: usize,
    has_colon: bool,
    knowledge: &mut K,
) -> Vec<CompletionItem> {
    let Some(fields) = knowledge.fields(&outline.api_version, &outline.kind) else {
        return if outline.steps.is_empty() { starts(at, outline, knowledge) } else { Vec::new() };
    };
    let pointer = fields.pointer(&outline.steps);
    let known: BTreeSet<&str> = outline.siblings.iter().map(String::as_str).collect();
    let mut found: Vec<&Field> = fields
        .below(&pointer)
        .filter(|field| !field.pointer.ends_with("/*"))
        .filter(|field| {
            let name = name(field);
            !known.contains(name.as_str()) && at.fits(&name) && !(pointer.is_empty() && name == "status")
        })
        .collect();
    found.sort_by_key(|field| !field.required);
    let item = |(order, field): (usize, &&Field)| {
        let label = name(field);
        let text = if has_colon { label.clone() } else { insertion(&fields, field, column) };
        let mut item = at.item(&label, CompletionItemKind::FIELD, text, order);
        let required = if field.required { " (required)" } else { "" };
        item.detail = Some(format!("{}{required}", field.type_name));
        item.documentation =
            Some(Documentation::String(cut(&field.description))).filter(|_| !field.description.is_empty());
        item
    };
    found.iter().enumerate().map(item).collect()
}

/// Returns a field with what it needs: the fields below it that are required.
fn insertion(fields: &Fields, field: &Field, column: usize) -> String {
    let mut out = name(field);
    out.push(':');
    let items = format!("{}/0", field.pointer);
    // The first line is indented by the editor's text; the others need the column.
    if field.type_name.starts_with("[]") {
        line(column, "- ", &mut out);
        required(fields, &items, column + 2, 0, &mut out, true);
    } else if fields.has_below(&field.pointer) || field.type_name.starts_with("map[") {
        line(column + 2, "", &mut out);
        required(fields, &field.pointer, column + 2, 0, &mut out, true);
    } else {
        out.push(' ');
        if let Some(only) = only_value(field) {
            out.push_str(&only);
        }
    }
    out
}

/// Begins a line.
fn line(column: usize, begin: &str, out: &mut String) {
    out.push('\n');
    out.extend(std::iter::repeat_n(' ', column));
    out.push_str(begin);
}

/// Returns the value of a field that can have only one.
fn only_value(field: &Field) -> Option<String> {
    fact(field, "enum").filter(|values| !values.contains(", ")).map(plain)
}

/// Appends the required fields below a value.
fn required(fields: &Fields, pointer: &str, column: usize, depth: usize, out: &mut String, mut is_first: bool) {
    /// Deeper fields are left to the next completion.
    const DEPTH: usize = 3;
    for field in fields.below(pointer).filter(|field| field.required) {
        if !is_first {
            line(column, "", out);
        }
        is_first = false;
        out.push_str(&name(field));
        out.push(':');
        let is_list = field.type_name.starts_with("[]");
        let below = if is_list { format!("{}/0", field.pointer) } else { field.pointer.clone() };
        let has_required = fields.below(&below).any(|field| field.required);
        if is_list && depth < DEPTH {
            line(column, "- ", out);
            required(fields, &below, column + 2, depth + 1, out, true);
        } else if has_required && depth < DEPTH {
            line(column + 2, "", out);
            required(fields, &below, column + 2, depth + 1, out, true);
        } else if !fields.has_below(&below) {
            out.push(' ');
            out.push_str(&only_value(field).unwrap_or_default());
        }
    }
}

/// Returns the beginnings of an object: samples of all kinds, and its first members.
fn starts<K: Knowledge>(at: &At<'_>, outline: &Outline, knowledge: &mut K) -> Vec<CompletionItem> {
    let mut out = Vec::new();
    for name in ["apiVersion", "kind", "metadata"] {
        if !outline.siblings.iter().any(|known| known == name) && at.fits(name) {
            let text = if name == "metadata" { "metadata:\n  name: ".to_owned() } else { format!("{name}: ") };
            out.push(at.item(name, CompletionItemKind::FIELD, text, out.len()));
        }
    }
    if !outline.siblings.is_empty() {
        return out;
    }
    for (api_version, kind) in knowledge.kinds().iter() {
        if out.len() >= MOST {
            break;
        }
        if at.fits(kind) {
            let text = format!("apiVersion: {api_version}\nkind: {kind}\nmetadata:\n  name: ");
            let mut item = at.item(kind, CompletionItemKind::SNIPPET, text, out.len());
            item.detail = Some(api_version.clone());
            item.insert_text_format = Some(InsertTextFormat::PLAIN_TEXT);
            // The sample is computed when the item is chosen.
            item.data = Some(serde_json::json!({ "apiVersion": api_version, "kind": kind }));
            out.push(item);
        }
    }
    out
}

/// Completes an item of [`complete`] that begins an object: the whole sample of its kind.
pub fn resolve<K: Knowledge>(mut item: CompletionItem, knowledge: &mut K) -> CompletionItem {
    let of = |name: &str| item.data.as_ref()?.get(name)?.as_str().map(str::to_owned);
    let (Some(api_version), Some(kind)) = (of("apiVersion"), of("kind")) else { return item };
    let Some(sample) = knowledge.sample(&api_version, &kind) else { return item };
    item.documentation = Some(Documentation::String(sample.clone()));
    if let Some(CompletionTextEdit::Edit(edit)) = &mut item.text_edit {
        sample.trim_end().clone_into(&mut edit.new_text);
    }
    item
}

/// Returns the values that a field can have.
fn values<K: Knowledge>(at: &At<'_>, outline: &Outline, names: &[Named], knowledge: &mut K) -> Vec<CompletionItem> {
    let mut out = Vec::new();
    let push = |label: &str, kind, text: String, out: &mut Vec<CompletionItem>| {
        if at.fits(label) && out.len() < MOST {
            out.push(at.item(label, kind, text, out.len()));
        }
    };
    if let [Step::Key(key)] = outline.steps.as_slice()
        && matches!(key.as_str(), "apiVersion" | "kind")
    {
        let is_kind = key == "kind";
        let other = if is_kind { &outline.api_version } else { &outline.kind };
        let mut seen = BTreeSet::new();
        for (api_version, kind) in knowledge.kinds().iter() {
            let (own, of) = if is_kind { (kind, api_version) } else { (api_version, kind) };
            if (other.is_empty() || of == other) && seen.insert(own.clone()) {
                push(own, CompletionItemKind::CLASS, own.clone(), &mut out);
            }
        }
        return out;
    }
    let Some(fields) = knowledge.fields(&outline.api_version, &outline.kind) else { return out };
    let Some(field) = fields.field(fields.pointer(&outline.steps).trim_end_matches("/0")) else { return out };
    let facts = || field.facts.iter().chain(&field.each);
    if let Some((_, values)) = facts().find(|(name, _)| name == "enum") {
        for value in values.split(", ") {
            push(&plain(value), CompletionItemKind::ENUM_MEMBER, plain(value), &mut out);
        }
    }
    if let Some(value) = fact(field, "default").filter(|value| !value.starts_with(['{', '[']) && *value != "\"\"") {
        let value = plain(value);
        if !out.iter().any(|item| item.label == value) {
            push(&value, CompletionItemKind::VALUE, value.clone(), &mut out);
        }
        if let Some(item) = out.iter_mut().find(|item| item.label == value) {
            item.detail = Some("default".to_owned());
        }
    }
    if field.type_name == "boolean" {
        for value in ["true", "false"] {
            if !out.iter().any(|item| item.label == value) {
                push(value, CompletionItemKind::VALUE, value.to_owned(), &mut out);
            }
        }
    }
    let mut seen = BTreeSet::new();
    if let Some(kind) = index::referenced(&outline.steps, None) {
        for named in names.iter().filter(|named| named.is_object && named.kind == kind) {
            if seen.insert(&named.name) {
                push(&named.name, CompletionItemKind::REFERENCE, named.name.clone(), &mut out);
            }
        }
    }
    let keys_of = index::is_key(&outline.steps);
    let is_port = outline.steps.ends_with(&[Step::Key("port".to_owned()), Step::Key("name".to_owned())]);
    for named in names
        .iter()
        .filter(|named| named.is_object && (keys_of == Some(named.kind.as_str()) || is_port && named.kind == "Service"))
    {
        for key in &named.keys {
            if seen.insert(key) {
                push(key, CompletionItemKind::REFERENCE, key.clone(), &mut out);
            }
        }
    }
    out
}

/// Returns a value in JSON as YAML: without quotes, if it stays a string.
fn plain(json: &str) -> String {
    let Ok(serde_json::Value::String(text)) = serde_json::from_str(json) else { return json.to_owned() };
    let is_plain = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/'))
        && !matches!(text.to_lowercase().as_str(), "y" | "n" | "yes" | "no" | "on" | "off" | "true" | "false" | "null");
    if is_plain { text } else { json.to_owned() }
}

fn cut(text: &str) -> String {
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    text.chars().take(LONGEST).chain(['…']).collect()
}
