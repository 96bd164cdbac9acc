//! After any edits, a file has the findings that it has when its text is opened, and these are the findings of reading
//! the whole text. No question about any position panics.

use arbitrary::Unstructured;
use kubeshape_input::{Finding, Limits, read};
use kubeshape_language::{Encoding, File, Judged, Knowledge, Workspace, actions, complete, hints, hover, symbols};
use lsp_types::{Position, Range, TextDocumentContentChangeEvent, Uri};
use std::str::FromStr;
use std::sync::Arc;

/// Longer texts only take longer.
const LONGEST: usize = 20_000;
/// What is typed.
const WORDS: [&str; 16] =
    ["\n---\n", "---", "\n", ": ", "- ", "'", "\"", "{", "]", "|\n", "%", "é", "𝄞", "{{ .a }}", "kind: Pod\n", "\r"];

/// Knows what can be read.
struct Reading;

impl Knowledge for Reading {
    fn judge(&mut self, name: &Arc<str>, text: &str) -> Judged {
        let file = read(Arc::clone(name), text.as_bytes(), Limits::default()).findings;
        Judged { file, depends: true, ..Judged::default() }
    }
}

/// Checks the property.
pub fn holds(data: &[u8]) {
    let (edits, text) = data.split_at(data.len().min(32));
    let text = String::from_utf8_lossy(text.get(..text.len().min(LONGEST)).unwrap_or_default()).into_owned();
    let text = format!("apiVersion: v1\n{text}");
    let mut edits = Unstructured::new(edits);
    let uri = "file:///a.yaml";
    let mut workspace = Workspace::new(Encoding::Utf16);
    workspace.open(uri, File::new("a.yaml", 0, text, false));
    for version in 1..5 {
        let encoding = if edits.arbitrary().unwrap_or_default() { Encoding::Utf8 } else { Encoding::Utf16 };
        let Some(file) = workspace.file_mut(uri) else { return };
        let lines = file.text().lines() as u64;
        let mut position = || {
            let line = u64::from(edits.arbitrary::<u16>().unwrap_or_default()) % (lines + 1);
            Position::new(line as u32, u32::from(edits.arbitrary::<u8>().unwrap_or_default()) % 40)
        };
        let (start, mut end) = (position(), position());
        // Most edits are small.
        if end.line > start.line + 2 {
            end = start;
        }
        let word = WORDS[edits.choose_index(WORDS.len()).unwrap_or_default()].to_owned();
        let range = Some(Range::new(start, end));
        file.change(version, &[TextDocumentContentChangeEvent { range, range_length: None, text: word }], encoding);
        let text = file.text().as_str().to_owned();
        let found = file.findings(&mut Reading);
        let opened = File::new("a.yaml", version, text.clone(), false);
        assert_eq!(found, opened.findings(&mut Reading), "{text:?}");
        if !text.contains("{{") {
            let whole = read("a.yaml", text.as_bytes(), Limits::default()).findings;
            let expected: Vec<Finding> = if opened.is_manifest() { whole } else { Vec::new() };
            assert_eq!(found, expected, "{text:?}");
        }
        questions(&workspace, uri, start, encoding, &found);
    }
}

fn questions(workspace: &Workspace, uri: &str, at: Position, encoding: Encoding, findings: &[Finding]) {
    let Some(file) = workspace.file(uri) else { return };
    let names = workspace.names();
    let range = Range::new(at, at);
    hover(file, at, encoding, &mut Reading);
    complete(file, at, encoding, &names, &mut Reading);
    hints(file, range, encoding, &mut Reading);
    if let Ok(address) = Uri::from_str(uri) {
        actions(file, &address, range, encoding, findings, &mut Reading);
    }
    let whole = file.text().as_str().len();
    for symbol in symbols(file, encoding) {
        assert!(symbol.range.start <= symbol.selection_range.start, "{symbol:?}");
        assert!(symbol.selection_range.end <= symbol.range.end, "{symbol:?}");
    }
    for diagnostic in file.diagnostics(findings, encoding) {
        assert!(diagnostic.range.start <= diagnostic.range.end, "{diagnostic:?}");
        assert!(file.text().offset(diagnostic.range.end, encoding) <= whole);
    }
    workspace.definition(uri, at, &mut Reading, |_| None);
    workspace.references(uri, at, true);
    if let Some(live) = workspace.live(uri, at) {
        assert!(live.named.is_object);
    }
    if let Ok(edit) = workspace.rename(uri, at, "other") {
        assert!(edit.changes.is_some_and(|changes| !changes.is_empty()));
    }
}
