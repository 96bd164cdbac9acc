//! Area `crds`: the answers of the libraries for every CustomResourceDefinition, alone and merged.

use crate::cluster::Cluster;
use crate::discovery::Discovery;
use crate::golden;
use crate::input::{Answer, OurCrd, answers};
use crate::known::Known;
use crate::openapi::protobuf_of;
use crate::table::{Table, Verdict};
use crate::verdict::{bytes, bytes_and_etag, equal, etag_or_bytes, json};
use kubeshape_corpus::ProtoAnswer;
use kubeshape_publish::Publisher;
use kubeshape_schema::Dialect;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

#[derive(Deserialize)]
#[allow(clippy::struct_field_names)]
struct Record<'r> {
    record: String,
    #[serde(default)]
    file: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    version: String,
    #[serde(default)]
    api_version: String,
    #[serde(default)]
    preserve_unknown_fields: bool,
    #[serde(default)]
    served: bool,
    #[serde(default)]
    storage: bool,
    #[serde(default)]
    has_schema: bool,
    new_structural_error: Option<String>,
    #[serde(borrow)]
    v3: Option<&'r RawValue>,
    #[serde(borrow)]
    v2: Option<&'r RawValue>,
    #[serde(borrow)]
    smd: Option<&'r RawValue>,
    smd_error: Option<String>,
    #[serde(default)]
    path: String,
    #[serde(default)]
    etag: String,
    #[serde(borrow)]
    doc: Option<&'r RawValue>,
    error: Option<String>,
    proto: Option<ProtoAnswer>,
}

/// Compares all projects of a golden folder; `publisher` is `None` without a base.
pub fn compare(golden: &Path, corpus: &Path, publisher: Option<&Publisher>, known: Known) -> Table {
    let mut table = Table::new("crds", known);
    for file in golden::files(&golden.join("crds")) {
        let Some(name) = file.file_name().and_then(|n| n.to_str()) else { continue };
        if let Some(project) = name.strip_suffix(".merged.ndjson.gz") {
            merged(project, &file, corpus, publisher, &mut table);
        } else if let Some(project) = name.strip_suffix(".ndjson.gz") {
            single(project, &file, corpus, publisher, &mut table);
        }
    }
    table
}

/// Parses every line. If a line cannot be parsed, the recording is faulty.
fn lines<'r>(text: &'r [u8], file: &Path, table: &mut Table) -> Vec<Record<'r>> {
    let mut out = Vec::new();
    for (i, line) in text.split(|b| *b == b'\n').enumerate().filter(|(_, line)| !line.is_empty()) {
        match serde_json::from_slice(line) {
            Ok(record) => out.push(record),
            Err(error) => {
                table.add("records", &format!("{}:{}", file.display(), i + 1), Verdict::Missing(error.to_string()));
            }
        }
    }
    out
}

fn single(project: &str, file: &Path, corpus: &Path, publisher: Option<&Publisher>, table: &mut Table) {
    let text = match golden::read(file) {
        Ok(text) => text,
        Err(error) => return table.add("records", project, Verdict::Missing(error.to_string())),
    };
    let records = lines(&text, file, table);
    let files: BTreeSet<&str> = records.iter().map(|r| r.file.as_str()).collect();
    let mut ours: BTreeMap<&str, Vec<Answer>> = BTreeMap::new();
    for name in files {
        let answers = match (publisher, std::fs::read(corpus.join("crds").join(project).join(name))) {
            (Some(publisher), Ok(bytes)) => answers(&bytes, publisher),
            (Some(_), Err(error)) => vec![Answer::Unreadable(error.to_string())],
            (None, _) => Vec::new(),
        };
        ours.insert(name, answers);
    }
    let mut next: BTreeMap<&str, usize> = BTreeMap::new();
    let mut current: Option<&OurCrd> = None;
    let mut version_index = 0;
    for record in &records {
        let label = format!(
            "{project}/{} {}{}{}",
            record.file,
            record.name,
            if record.version.is_empty() { "" } else { " " },
            record.version
        );
        if publisher.is_none() {
            without_base(record, &label, table);
            continue;
        }
        if record.record == "version" {
            version(record, current, version_index, &label, table);
            version_index += 1;
            continue;
        }
        let file = record.file.as_str();
        let answers = ours.get(file).map_or(&[][..], Vec::as_slice);
        let at = next.entry(file).or_default();
        version_index = 0;
        current = None;
        match record.record.as_str() {
            "unreadable" => {
                let theirs = record.error.clone().unwrap_or_default();
                let known_to_them =
                    |name: &str| records.iter().any(|r| r.record == "crd" && r.file == file && r.name == name);
                let verdict = match answers.get(*at) {
                    Some(Answer::Unreadable(_)) => {
                        *at += 1;
                        Verdict::Equal
                    }
                    Some(Answer::Crd(crd)) if !known_to_them(&crd.name) => {
                        *at += 1;
                        Verdict::Differing(format!("{} is read by us, theirs: {theirs}", crd.name))
                    }
                    // For the libraries, a document that they cannot read is not a CustomResourceDefinition, so there
                    // is no answer.
                    _ => Verdict::Equal,
                };
                table.add("reading", &label, verdict);
            }
            "crd" => {
                let named = |answer: &Answer| matches!(answer, Answer::Crd(crd) if crd.name == record.name);
                let found = answers.iter().skip(*at).position(named).map(|n| *at + n);
                let upto = found.unwrap_or(*at);
                only_ours(&answers[*at..upto], project, file, table);
                *at = found.map_or(*at, |n| n + 1);
                if let Some(Answer::Crd(crd)) = found.and_then(|n| answers.get(n)) {
                    current = Some(crd);
                    let ours = (crd.name.as_str(), crd.api_version, crd.preserve_unknown_fields);
                    let theirs = (record.name.as_str(), record.api_version.as_str(), record.preserve_unknown_fields);
                    table.add("reading", &label, equal(&ours, &theirs));
                    smd(record, crd, &label, table);
                    continue;
                }
                let why = match answers.get(*at) {
                    Some(Answer::Unreadable(why)) => {
                        *at += 1;
                        why.as_str()
                    }
                    _ => "no CRD of that name",
                };
                table.add("reading", &label, Verdict::Missing(why.to_owned()));
                table.add("smd", &label, Verdict::Missing("not read".to_owned()));
            }
            other => table.add("records", &label, Verdict::Missing(format!("unknown record {other:?}"))),
        }
    }
    for (file, answers) in &ours {
        let at = next.get(file).copied().unwrap_or(0);
        only_ours(answers.get(at..).unwrap_or_default(), project, file, table);
    }
}

/// Adds our answers without a record.
fn only_ours(answers: &[Answer], project: &str, file: &str, table: &mut Table) {
    for answer in answers {
        let what = match answer {
            Answer::Crd(crd) => format!("{} is read by us only", crd.name),
            Answer::Unreadable(why) => format!("not read by us: {why}"),
        };
        table.add("reading", &format!("{project}/{file}"), Verdict::Differing(what));
    }
}

fn without_base(record: &Record<'_>, label: &str, table: &mut Table) {
    let rows: &[&str] = match record.record.as_str() {
        "version" => &["v3", "v2", "version"],
        "crd" => &["reading", "smd"],
        _ => &["reading"],
    };
    for row in rows {
        table.remark(row, "no base");
        table.add(row, label, Verdict::Missing("no base".to_owned()));
    }
}

fn smd(record: &Record<'_>, crd: &OurCrd, label: &str, table: &mut Table) {
    let verdict = match (&crd.smd, record.smd, &record.smd_error) {
        (Ok(ours), Some(theirs), _) => json(ours, theirs),
        (Err(_), None, Some(_)) => Verdict::Equal,
        (Ok(_), None, theirs) => Verdict::Differing(format!("no error, theirs: {theirs:?}")),
        (Err(ours), _, _) => Verdict::Differing(format!("error: {ours}")),
    };
    table.add("smd", label, verdict);
}

fn version(record: &Record<'_>, crd: Option<&OurCrd>, index: usize, label: &str, table: &mut Table) {
    let Some(ours) = crd.and_then(|crd| crd.versions.get(index)) else {
        for row in ["version", "v3", "v2"] {
            table.add(row, label, Verdict::Missing("no such version".to_owned()));
        }
        return;
    };
    let facts = (ours.name.as_str(), ours.served, ours.storage, ours.has_schema, ours.not_convertible.is_some());
    let theirs = (
        record.version.as_str(),
        record.served,
        record.storage,
        record.has_schema,
        record.new_structural_error.is_some(),
    );
    table.add("version", label, equal(&facts, &theirs));
    if let Some(theirs) = record.v3 {
        table.add("v3", label, bytes(&ours.v3, theirs.get().as_bytes()));
    }
    if let Some(theirs) = record.v2 {
        table.add("v2", label, json(&ours.v2, theirs));
    }
}

/// Returns the index of v3 documents and its ETag.
fn index(cluster: &Cluster) -> (Vec<u8>, String) {
    let mut paths = serde_json::Map::new();
    for (path, document) in &cluster.v3 {
        if let Ok(document) = document {
            let url = format!("/openapi/v3/{path}?hash={}", golden::etag(document));
            paths.insert(path.clone(), serde_json::json!({ "serverRelativeURL": url }));
        }
    }
    let text = serde_json::json!({ "paths": paths }).to_string();
    let etag = format!("\"{}\"", golden::etag(text.as_bytes()));
    (text.into_bytes(), etag)
}

/// Returns our document for a record, if there is one.
fn printed<'c>(ours: &'c Cluster, record: &Record<'_>) -> Option<(&'c [u8], Dialect)> {
    match record.record.as_str() {
        "v3" => Some((ours.v3.get(&record.path)?.as_deref().ok()?, Dialect::V3)),
        "v2" => Some((&ours.v2, Dialect::V2)),
        _ => None,
    }
}

fn merged(project: &str, file: &Path, corpus: &Path, publisher: Option<&Publisher>, table: &mut Table) {
    let text = match golden::read(file) {
        Ok(text) => text,
        Err(error) => return table.add("records", project, Verdict::Missing(error.to_string())),
    };
    let crds = publisher.map(|publisher| Cluster::read(&golden::files(&corpus.join("crds").join(project)), publisher));
    let discovery = crds.as_ref().map(|crds| Discovery::of_library(crds));
    let ours = publisher.zip(crds).map(|(publisher, crds)| Cluster::new(crds, publisher));
    let mut theirs_v3 = BTreeSet::new();
    for record in lines(&text, file, table) {
        let (row, label) = match record.record.as_str() {
            "discovery" => ("discovery", format!("{project} {}", record.path)),
            "api_group_list" => ("group list", project.to_owned()),
            "v3" => ("merged v3", format!("{project} {}", record.path)),
            "v2" => ("merged v2", project.to_owned()),
            "v3_root" => ("v3 index", project.to_owned()),
            _ => continue,
        };
        let Some(ours) = &ours else {
            table.remark(row, "no base");
            table.add(row, &label, Verdict::Missing("no base".to_owned()));
            continue;
        };
        if let "discovery" | "api_group_list" = record.record.as_str() {
            let verdict = match (discovery.as_ref(), record.doc) {
                (Some(discovery), Some(theirs)) => discovery.library(&record.path, theirs, &record.etag),
                _ => Verdict::Missing("no document".to_owned()),
            };
            table.add(row, &label, verdict);
            continue;
        }
        let theirs = record.doc.map_or(&b""[..], |doc| doc.get().as_bytes());
        if let (Some(theirs), Some((document, dialect))) = (&record.proto, printed(ours, &record)) {
            table.add("protobuf", &label, protobuf_of(document, dialect, theirs));
        }
        let verdict = match record.record.as_str() {
            "v3" => {
                theirs_v3.insert(record.path.clone());
                match (ours.v3.get(&record.path), &record.error) {
                    (None, _) => Verdict::Missing("no such document".to_owned()),
                    (Some(Ok(document)), None) => {
                        bytes_and_etag(document, theirs, &golden::etag(document), &record.etag)
                    }
                    (Some(Err(_)), Some(_)) => Verdict::Equal,
                    (Some(ours), theirs) => {
                        Verdict::Differing(format!("{:?}, theirs {theirs:?}", ours.as_ref().map(Vec::len)))
                    }
                }
            }
            "v2" => etag_or_bytes(&ours.v2, theirs, &record.etag),
            _ => {
                let (index, etag) = index(ours);
                bytes_and_etag(&index, theirs, &etag, &record.etag)
            }
        };
        table.add(row, &label, verdict);
    }
    for path in ours.iter().flat_map(|ours| ours.v3.keys()).filter(|path| !theirs_v3.contains(*path)) {
        table.add("merged v3", &format!("{project} {path}"), Verdict::Differing("only ours".to_owned()));
    }
}
