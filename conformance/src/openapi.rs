//! Area `openapi`: the answers of the libraries for every OpenAPI document.

use crate::golden;
use crate::known::Known;
use crate::table::{Table, Verdict};
use crate::verdict::{bytes_and_etag, equal};
use kubeshape_convert::document::Document;
use kubeshape_convert::{proto, smd, v2, v3};
use kubeshape_corpus::{DocumentAnswer, ProtoAnswer};
use kubeshape_schema::print::Style;
use kubeshape_schema::{Bump, Converted, Dialect, Note, Profile};
use kubeshape_yaml::{Limits, Node, Stream, Tape};
use serde_json::value::RawValue;
use std::path::Path;

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
            let record: DocumentAnswer = match serde_json::from_slice(line) {
                Ok(record) => record,
                Err(error) => {
                    table.add("records", &format!("{project}:{}", i + 1), Verdict::Missing(error.to_string()));
                    continue;
                }
            };
            let label = format!("{project}/{}", record.id);
            match std::fs::read(corpus.join("openapi").join(project).join(&record.id)) {
                Ok(source) => compare_record(&record, &source, &label, &mut table),
                Err(error) => table.add("reading", &label, Verdict::Missing(error.to_string())),
            }
        }
    }
    table
}

/// Compares our answers for a document with the recorded ones.
pub(crate) fn compare_record(record: &DocumentAnswer, source: &[u8], label: &str, table: &mut Table) {
    let mut tape = Tape::new();
    // A YAML file was read by the YAML reader, even if it contains JSON.
    let yaml = [".yaml", ".yml"].iter().any(|suffix| record.id.ends_with(suffix));
    let path = if yaml { kubeshape_yaml::Path::Yaml } else { kubeshape_yaml::Path::Auto };
    let text = match Stream::with_path(source, Limits::default(), path) {
        Ok(mut stream) => {
            let text = stream.source();
            loop {
                match stream.next(&mut tape) {
                    // Separators before the first document give empty documents.
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

fn unreadable(record: &DocumentAnswer, label: &str, error: &str, table: &mut Table) {
    let verdict = if record.kind == "unreadable" {
        Verdict::Equal
    } else {
        Verdict::Differing(format!("we cannot read it: {error}"))
    };
    table.add("reading", label, verdict);
}

/// Returns the name of a document's kind in the recordings.
fn kind(root: Node<'_>) -> &'static str {
    match Dialect::of(root) {
        Some(Dialect::V2) => "v2",
        Some(Dialect::V3) => "v3",
        None if root.get("definitions").is_some() => "v2",
        None => "other",
    }
}

fn document(record: &DocumentAnswer, root: Node<'_>, label: &str, table: &mut Table) {
    let dialect = if record.kind == "v2" { Dialect::V2 } else { Dialect::V3 };
    if let Some(theirs) = &record.source_proto {
        table.add("protobuf of the source", label, protobuf(root, dialect, theirs));
    }
    for (row, preserve_unknown, theirs, error) in [
        ("smd", false, &record.smd, &record.smd_error),
        ("smd preserving", true, &record.smd_preserve, &record.smd_preserve_error),
    ] {
        if theirs.is_some() || error.is_some() {
            let ours = typed(root, dialect, preserve_unknown);
            table.add(row, label, schema(ours, theirs.as_deref(), error.as_deref()));
        }
    }
    let arena = Bump::new();
    let Converted { value: document, notes } = Document::read(root, dialect, &arena, Profile::Kube);
    let Some(json) = &record.json else {
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
            table.add("served v2", label, equal(&Some(golden::etag(&served)), &record.served_etag));
            converted(record, document, &arena, label, table);
        }
        Document::V3(document) => document.print(&mut out, Profile::Kube),
    }
    let etag = golden::etag(&out);
    table.add(
        "reprint",
        label,
        bytes_and_etag(&out, json.get().as_bytes(), &etag, record.json_etag.as_deref().unwrap_or_default()),
    );
    if let Some(theirs) = &record.proto {
        table.add("protobuf", label, protobuf_of(&out, dialect, theirs));
    }
}

/// Compares the v3 document to which a v2 document is converted, and its protobuf form.
fn converted<'a>(
    record: &DocumentAnswer,
    document: &v2::Document<'a>,
    arena: &'a Bump,
    label: &str,
    table: &mut Table,
) {
    let ours = v3::from_v2::convert(document, arena, Profile::Kube);
    let verdict = match (&ours.value, &record.v3, &record.v3_error) {
        (None, _, Some(_)) => Verdict::Equal,
        // If upstream panics, there is no recorded answer.
        (Some(_), _, Some(error)) if error.starts_with("panic") => Verdict::Equal,
        (Some(document), Some(theirs), _) => {
            let mut out = Vec::new();
            document.print(&mut out, Profile::Kube);
            if let Some(theirs) = &record.v3_proto {
                table.add("protobuf of v3 from v2", label, protobuf_of(&out, Dialect::V3, theirs));
            }
            bytes_and_etag(
                &out,
                theirs.get().as_bytes(),
                &golden::etag(&out),
                record.v3_etag.as_deref().unwrap_or_default(),
            )
        }
        (None, _, None) => Verdict::Missing(errors(&ours.notes)),
        (Some(_), None, error) => Verdict::Differing(format!("we convert it, theirs: {error:?}")),
    };
    table.add("v3 from v2", label, verdict);
}

/// Returns the structured-merge-diff schema of a document as upstream builds it, or all errors.
fn typed(root: Node<'_>, dialect: Dialect, preserve_unknown: bool) -> Result<Vec<u8>, String> {
    let options = smd::Options { preserve_unknown, ..smd::Options::default() };
    let arena = Bump::new();
    let built = match dialect {
        Dialect::V2 => {
            // Upstream builds its models from gnostic's.
            proto::v2::check(root)
                .map_err(|refused| refused.iter().map(|r| r.problem.to_string()).collect::<String>())?;
            smd::from_v2::convert(root.get("definitions"), options)
        }
        Dialect::V3 => {
            let document = v3::read(root, &arena, Profile::Kube);
            let document = document.value.ok_or_else(|| errors(&document.notes))?;
            smd::from_v3::convert(document.components.map_or(&[][..], |components| components.schemas), options)
        }
    };
    let schema = built.map_err(|errors| errors.into_iter().map(|error| error.text).collect::<Vec<_>>().join("; "))?;
    let mut out = Vec::new();
    kubeshape_smd::schema::print_json(&schema, &mut out);
    Ok(out)
}

fn schema(ours: Result<Vec<u8>, String>, theirs: Option<&RawValue>, error: Option<&str>) -> Verdict {
    match (ours, theirs) {
        (Err(_), None) => Verdict::Equal,
        (Ok(_), None) if error.is_some_and(|error| error.starts_with("panic")) => Verdict::Equal,
        (Ok(_), None) => Verdict::Differing(format!("we convert it, theirs: {}", error.unwrap_or_default())),
        (Err(error), Some(_)) => Verdict::Missing(error),
        (Ok(ours), Some(theirs)) => {
            let parsed = serde_json::from_slice(&ours).and_then(|ours| Ok((ours, serde_json::from_str(theirs.get())?)));
            match parsed {
                Ok((mut ours, mut theirs)) => {
                    comparable(&mut ours);
                    comparable(&mut theirs);
                    golden::first_difference(&ours, &theirs).map_or(Verdict::Equal, Verdict::Differing)
                }
                Err(error) => Verdict::Differing(format!("not JSON: {error}")),
            }
        }
    }
}

/// Sorts types and fields by name, because upstream's order of them varies, and removes unions, which are not recorded.
fn comparable(value: &mut serde_json::Value) {
    use serde_json::Value;
    match value {
        Value::Object(members) => {
            members.remove("unions");
            for (key, value) in members.iter_mut() {
                if let Value::Array(items) = value
                    && (key == "types" || key == "fields")
                {
                    // If two types have the same name, a definition may have the name of a built-in type.
                    items.sort_by_cached_key(|item| {
                        (item["name"].as_str().unwrap_or_default().to_owned(), item.to_string())
                    });
                }
                // A default is a value like any other.
                if key != "default" {
                    comparable(value);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(comparable),
        _ => {}
    }
}

pub(crate) fn protobuf_of(json: &[u8], dialect: Dialect, theirs: &ProtoAnswer) -> Verdict {
    let mut tape = Tape::new();
    let read = Stream::new(json, Limits::default()).and_then(|mut stream| stream.next(&mut tape).transpose());
    let text = std::str::from_utf8(json).unwrap_or_default();
    match (read, tape.document(text).root()) {
        (Ok(_), Some(root)) => protobuf(root, dialect, theirs),
        (error, _) => Verdict::Missing(format!("our own document cannot be read: {error:?}")),
    }
}

fn protobuf(root: Node<'_>, dialect: Dialect, theirs: &ProtoAnswer) -> Verdict {
    match (proto::encode(root, dialect), &theirs.error) {
        (Err(_), Some(_)) => Verdict::Equal,
        (Ok(_), Some(error)) => Verdict::Differing(format!("we encode it, theirs: {error}")),
        (Err(refused), None) => {
            Verdict::Missing(refused.first().map_or_else(String::new, |refusal| refusal.problem.to_string()))
        }
        (Ok(ours), None) => equal(&golden::sha256(&ours.value), &theirs.sha256),
    }
}

fn errors(notes: &[Note<'_>]) -> String {
    let errors = notes.iter().filter(|note| note.code.kind() == kubeshape_schema::NoteKind::Error);
    errors.take(3).map(|note| format!("{} {}", note.code, note.detail)).collect::<Vec<_>>().join("; ")
}
