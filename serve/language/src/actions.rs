//! Edits that a client offers.

use crate::{Edit, Encoding, File, Knowledge, diagnostics, place};
use kubeshape_input::{Code, Finding};
use kubeshape_schema::nearest;
use kubeshape_yaml::Node;
use lsp_types::{CodeAction, CodeActionKind, Command, Diagnostic, NumberOrString, Range, TextEdit, Uri, WorkspaceEdit};
use std::collections::HashMap;

/// The command that shows the page of a code.
pub const EXPLAIN: &str = "kubeshape.explainCode";

/// Returns the edits and commands for a range. `findings` are those of the file.
pub fn actions<K: Knowledge>(
    file: &File,
    uri: &Uri,
    range: Range,
    encoding: Encoding,
    findings: &[Finding],
    knowledge: &mut K,
) -> Vec<CodeAction> {
    let mut out = Vec::new();
    let mut explained = Vec::new();
    for finding in findings {
        let own = diagnostics::range(finding, file.text(), encoding);
        if own.end < range.start || range.end < own.start {
            continue;
        }
        let diagnostic = diagnostics::diagnostic(finding, file.text(), encoding);
        for (title, span, text) in corrections(file, finding, knowledge) {
            let edit = TextEdit { range: file.text().range(span, encoding), new_text: text };
            out.push(quick_fix(title, uri, vec![edit], Some(&diagnostic)));
        }
        if file.masked.is_none() && !finding.edits.is_empty() {
            out.push(quick_fix(proposed(finding), uri, edits(file, &finding.edits, 0, encoding), Some(&diagnostic)));
        }
        if !explained.contains(&finding.code) {
            explained.push(finding.code);
            out.push(explain(finding.code, &diagnostic));
        }
    }
    out.extend(fixes(file, uri, range, encoding, knowledge));
    out
}

/// Returns the title of the edits that a finding proposes: what they write.
fn proposed(finding: &Finding) -> String {
    let written: Vec<&str> =
        finding.edits.iter().map(|edit| edit.text.trim_matches([' ', '\r', '\n', ','])).take(3).collect();
    let more = if finding.edits.len() > written.len() { ", …" } else { "" };
    format!("Write `{}`{more}", written.join("`, `"))
}

/// Returns edits of a text that begins at a byte of the file.
fn edits(file: &File, edits: &[Edit], start: usize, encoding: Encoding) -> Vec<TextEdit> {
    let moved = |edit: &Edit| {
        let span = edit.range.start + start..edit.range.end + start;
        TextEdit { range: file.text().range(span, encoding), new_text: edit.text.clone() }
    };
    edits.iter().map(moved).collect()
}

fn quick_fix(title: String, uri: &Uri, edits: Vec<TextEdit>, diagnostic: Option<&Diagnostic>) -> CodeAction {
    #[allow(clippy::mutable_key_type, reason = "the protocol's type for edits")]
    let changes = HashMap::from([(uri.clone(), edits)]);
    CodeAction {
        title,
        kind: Some(CodeActionKind::QUICKFIX),
        diagnostics: diagnostic.map(|diagnostic| vec![diagnostic.clone()]),
        edit: Some(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }),
        ..CodeAction::default()
    }
}

fn explain(code: Code, diagnostic: &Diagnostic) -> CodeAction {
    let title = format!("Explain {code}");
    let arguments = vec![serde_json::json!(code.to_string())];
    CodeAction {
        command: Some(Command { title: title.clone(), command: EXPLAIN.to_owned(), arguments: Some(arguments) }),
        title,
        kind: Some(CodeActionKind::QUICKFIX),
        diagnostics: Some(vec![Diagnostic {
            code: Some(NumberOrString::String(code.to_string())),
            ..diagnostic.clone()
        }]),
        ..CodeAction::default()
    }
}

/// Returns replacements of a misspelled name or an old API version.
fn corrections<K: Knowledge>(
    file: &File,
    finding: &Finding,
    knowledge: &mut K,
) -> Vec<(String, std::ops::Range<usize>, String)> {
    let mut out = Vec::new();
    let Some(span) = &finding.span else { return out };
    let Some(part) = file.part_at(span.start) else { return out };
    let documents = file.documents(part);
    let local = span.start - part.range.start;
    let Some(found) = documents.documents.iter().rev().find_map(|document| place(document, local)) else { return out };
    let (api_version, kind) = (found.text("apiVersion"), found.text("kind"));
    let moved = |node: Node<'_>| node.span().start + part.range.start..node.span().end + part.range.start;
    match finding.code {
        Code::ObjectField | Code::ObjectFieldDropped => {
            let (Some(key), Some(fields)) = (found.key, knowledge.fields(api_version, kind)) else { return out };
            let above = found.steps.split_last().map(|(_, above)| above).unwrap_or_default();
            let pointer = fields.pointer(above);
            let names: Vec<String> = fields.below(&pointer).map(crate::fields::name).collect();
            for near in nearest(key.text(), names.iter().map(String::as_str)) {
                out.push((format!("Replace with `{near}`"), moved(key), near));
            }
        }
        Code::UnknownKind | Code::ObjectNotJudged => {
            let Some(value) = found.object.get("kind") else { return out };
            let kinds = knowledge.kinds();
            let same = kinds.iter().filter(|(version, _)| version == api_version).map(|(_, kind)| kind.as_str());
            for near in nearest(kind, same) {
                out.push((format!("Replace with `{near}`"), moved(value), near));
            }
            if let Some(version) = found.object.get("apiVersion") {
                for (own, _) in kinds.iter().filter(|(own, other)| other == kind && own != api_version).take(3) {
                    out.push((format!("Replace with `{own}`"), moved(version), own.clone()));
                }
            }
        }
        Code::KindRemoved | Code::KindDeprecated => {
            if let (Some(new), Some(version)) =
                (knowledge.replacement(api_version, kind), found.object.get("apiVersion"))
            {
                out.push((format!("Replace with `{new}`"), moved(version), new));
            }
        }
        _ => {}
    }
    out
}

/// Returns the edits of `kubeshape check --fix` for the documents of a range.
fn fixes<K: Knowledge>(
    file: &File,
    uri: &Uri,
    range: Range,
    encoding: Encoding,
    knowledge: &mut K,
) -> Option<CodeAction> {
    if file.masked.is_some() {
        return None;
    }
    let (from, to) = (file.text().offset(range.start, encoding), file.text().offset(range.end, encoding));
    let mut out = Vec::new();
    for part in file.parts().iter().filter(|part| part.range.start <= to && from < part.range.end) {
        let text = file.source().get(part.range.clone()).unwrap_or_default();
        out.extend(edits(file, &knowledge.fixes(&file.name, text), part.range.start, encoding));
    }
    if out.is_empty() {
        return None;
    }
    let s = if out.len() == 1 { "" } else { "s" };
    let mut action = quick_fix(format!("Fix as `kubeshape check --fix` ({} edit{s})", out.len()), uri, out, None);
    action.kind = Some(CodeActionKind::SOURCE_FIX_ALL);
    Some(action)
}
