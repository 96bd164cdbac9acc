//! Area `openapi`: what the libraries answer for every OpenAPI document.

use crate::golden;
use crate::known::Known;
use crate::table::{Table, Verdict};
use crate::verdict::{bytes_and_etag, equal};
use kubeshape_convert::document::{Dialect, Document};
use kubeshape_convert::{v2, v3};
use kubeshape_schema::print::Style;
use kubeshape_schema::{Bump, Note, Profile};
use kubeshape_yaml::{Limits, Node, Stream, Tape};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::path::Path;

/// One recorded answer; see the README beside the recordings.
#[derive(Deserialize)]
pub(crate) struct Record<'r> {
    #[serde(default)]
    pub(crate) file: String,
    #[serde(default)]
    pub(crate) kind: String,
    pub(crate) parse_error: Option<String>,
    #[serde(borrow)]
    json: Option<&'r RawValue>,
    #[serde(default)]
    json_etag: String,
    #[serde(default)]
    served_etag: String,
    #[serde(borrow)]
    v3: Option<&'r RawValue>,
    #[serde(default)]
    v3_etag: String,
    v3_error: Option<String>,
}

/// Compares all projects of a golden folder.
pub fn compare(golden: &Path, corpus: &Path, known: Known) -> Table {
    let mut table = Table::new("openapi", known);
    for file in golden::files(&golden.join("openapi")) {
        let name = file.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        let Some(project) = name.strip_suffix(".ndjson.gz") else { continue };
        let text = match golden::read(&file) {
            Ok(text) => text,
            Err(error) => {
                table.add("records", project, Verdict::Missing(error.to_string()));
                continue;
            }
        };
        for (i, line) in text.split(|b| *b == b'\n').enumerate().filter(|(_, line)| !line.is_empty()) {
            let record: Record<'_> = match serde_json::from_slice(line) {
                Ok(record) => record,
                Err(error) => {
                    table.add("records", &format!("{project}:{}", i + 1), Verdict::Missing(error.to_string()));
                    continue;
                }
            };
            let label = format!("{project}/{}", record.file);
            match std::fs::read(corpus.join("openapi").join(project).join(&record.file)) {
                Ok(source) => compare_record(&record, &source, &label, &mut table),
                Err(error) => table.add("reading", &label, Verdict::Missing(error.to_string())),
            }
        }
    }
    table
}

/// Compares what we make of a document with what is recorded for it.
pub(crate) fn compare_record(record: &Record<'_>, source: &[u8], label: &str, table: &mut Table) {
    let mut tape = Tape::new();
    let text = match Stream::new(source, Limits::default()) {
        Ok(mut stream) => {
            let text = stream.source();
            loop {
                match stream.next(&mut tape) {
                    // Separators before the first document make empty ones.
                    Some(Ok(())) if !tape.has_content() => {}
                    Some(Err(error)) => return unreadable(record, label, &error.to_string(), table),
                    Some(Ok(())) | None => break text,
                }
            }
        }
        Err(error) => return unreadable(record, label, &error.to_string(), table),
    };
    let root = tape.document(text).root();
    let ours = root.map_or("other", kind);
    table.add("reading", label, equal(&ours, &record.kind.as_str()));
    if let Some(root) = root.filter(|_| ours == record.kind && ours != "other") {
        document(record, root, label, table);
    }
}

fn unreadable(record: &Record<'_>, label: &str, error: &str, table: &mut Table) {
    let verdict = if record.kind == "unreadable" {
        Verdict::Equal
    } else {
        Verdict::Differing(format!("we cannot read it: {error}"))
    };
    table.add("reading", label, verdict);
}

/// What the recordings call a document.
fn kind(root: Node<'_>) -> &'static str {
    match Dialect::of(root) {
        Some(Dialect::V2) => "v2",
        Some(Dialect::V3) => "v3",
        None if root.get("definitions").is_some() => "v2",
        None => "other",
    }
}

fn document(record: &Record<'_>, root: Node<'_>, label: &str, table: &mut Table) {
    let arena = Bump::new();
    let (document, notes) = if record.kind == "v2" {
        let read = v2::read(root, &arena, Profile::Kube);
        (read.value.map(Document::V2), read.notes)
    } else {
        let read = v3::read(root, &arena, Profile::Kube);
        (read.value.map(Document::V3), read.notes)
    };
    let Some(json) = record.json else {
        let verdict = match (&document, &record.parse_error) {
            (None, Some(_)) => Verdict::Equal,
            (Some(_), Some(error)) => Verdict::Differing(format!("we read it, theirs: {error}")),
            (_, None) => Verdict::Missing("neither a document nor an error is recorded".to_owned()),
        };
        return table.add("reprint", label, verdict);
    };
    let Some(document) = document else {
        return table.add("reprint", label, Verdict::Missing(errors(&notes)));
    };
    let mut out = Vec::new();
    match &document {
        Document::V2(document) => {
            document.print(&mut out, Style::V3, Profile::Kube);
            let mut served = Vec::new();
            document.print(&mut served, Style::V2, Profile::Kube);
            table.add("served v2", label, equal(&golden::etag(&served), &record.served_etag));
        }
        Document::V3(document) => document.print(&mut out, Profile::Kube),
    }
    let etag = golden::etag(&out);
    table.add("reprint", label, bytes_and_etag(&out, json.get().as_bytes(), &etag, &record.json_etag));
}

fn errors(notes: &[Note<'_>]) -> String {
    let errors = notes.iter().filter(|note| note.code.kind() == kubeshape_schema::NoteKind::Error);
    errors.take(3).map(|note| format!("{} {}", note.code, note.detail)).collect::<Vec<_>>().join("; ")
}
