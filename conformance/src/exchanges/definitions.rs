//! Requests that create CustomResourceDefinitions, processed by `kubeshape-objects`: the 130 of single rules, every one
//! of the corpus as a dry run, and those of a server whose stored definitions were recorded afterwards.

use super::record::Exchange;
use super::{body, documents, record, recording, resources};
use crate::golden::{self, lines};
use crate::table::{Table, Verdict};
use kubeshape_objects::store::Store;
use kubeshape_objects::{Api, Moment, Reply, Request};
use kubeshape_registry::Time;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

const PATH: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
/// The document with the fields of a definition.
/// A document of the corpus that was sent, and the response.
#[derive(Deserialize)]
struct Sent {
    file: String,
    document: usize,
    status: u16,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    warnings: Vec<String>,
    #[serde(default)]
    response: Option<Value>,
}

/// Adds a row per kind of request.
pub(super) fn compare(apiserver: &Path, corpus: &Path, table: &mut Table) {
    let file = recording(&apiserver.join("rules"), "rules");
    if file.is_file() {
        match record::read(&file) {
            Ok(exchanges) => rules(&exchanges, table),
            Err(why) => table.add("definitions: rules", "recordings", Verdict::Missing(why)),
        }
    }
    for (folder, kind) in [("verdicts", "verdicts"), ("crds", "install")] {
        let row = format!("definitions: {kind}");
        let file = recording(&apiserver.join(folder), kind);
        if !file.is_file() || !corpus.join("crds").is_dir() {
            continue;
        }
        match lines::<Sent>(&file) {
            Ok(sent) => documents_of(&row, &sent, corpus, kind == "verdicts", &apiserver.join(folder), table),
            Err(why) => table.add(&row, "recordings", Verdict::Missing(why)),
        }
    }
}

fn rules(exchanges: &[Exchange], table: &mut Table) {
    // The definitions are not settled: the controllers of the server changed them in between, at revisions that the
    // records lack.
    let api = Api::new(crate::registry()).with_documents(documents());
    let mut store = Store::default();
    for exchange in exchanges {
        let (path, query) = exchange.request.path.split_once('?').unwrap_or((&exchange.request.path, ""));
        let verdict = resources::answer(&api, &mut store, exchange, (path, query));
        table.add("definitions: rules", exchange.note.as_deref().unwrap_or_default(), verdict);
    }
}

fn documents_of(row: &str, sent: &[Sent], corpus: &Path, dry_run: bool, folder: &Path, table: &mut Table) {
    let mut api = Api::new(crate::registry()).with_documents(documents());
    let mut store = Store::default();
    let stored = stored(folder).unwrap_or_default();
    let mut files: BTreeMap<&str, Result<Vec<Vec<u8>>, String>> = BTreeMap::new();
    for sent in sent {
        let texts = files.entry(&sent.file).or_insert_with(|| documents_in(&corpus.join("crds").join(&sent.file)));
        let record = format!("{} {}", sent.file, sent.document);
        let text = match texts {
            Ok(texts) => texts.get(sent.document),
            Err(why) => {
                table.add(row, &record, Verdict::Missing(why.clone()));
                continue;
            }
        };
        let Some(text) = text else {
            table.add(row, &record, Verdict::Missing("found no such document".to_owned()));
            continue;
        };
        let query = if dry_run { "dryRun=All" } else { "" };
        let request = Request {
            method: "POST",
            path: PATH,
            query,
            accept: "application/json",
            content_type: "application/yaml",
            body: text,
            ..Request::default()
        };
        let before = store.revision();
        let reply = api.answer(&mut store, &request, &Moment::default());
        let verdict = answered(sent, reply.as_ref());
        table.add(row, &record, verdict);
        let Some(settled) = api.settle(&mut store, before, Time(0)) else { continue };
        api = settled.api;
        let name = sent.name.as_deref().unwrap_or_default();
        if let Some(expected) = stored.get(name) {
            let get = Request { path: &format!("{PATH}/{name}"), ..Request::default() };
            let found = api.answer(&mut store, &get, &Moment::default()).map(|reply| reply.body).unwrap_or_default();
            let verdict = same_definition(&found, expected);
            table.add(&format!("{row}, as it is stored"), name, verdict);
        }
    }
}

/// The stored definitions of a server, by name.
fn stored(folder: &Path) -> Option<BTreeMap<String, Value>> {
    let list: Value = serde_json::from_slice(&body(folder, "bodies/customresourcedefinitions.json").ok()?).ok()?;
    let items = list["items"].as_array()?.iter();
    Some(items.filter_map(|item| Some((item["metadata"]["name"].as_str()?.to_owned(), item.clone()))).collect())
}

fn documents_in(path: &Path) -> Result<Vec<Vec<u8>>, String> {
    let bytes = golden::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let mut out = vec![String::new()];
    for line in text.split_inclusive('\n') {
        match out.last_mut() {
            Some(last) if line.trim_end() != "---" && !line.starts_with("--- ") => last.push_str(line),
            _ => out.push(String::new()),
        }
    }
    let has_content = |text: &String| text.lines().any(|line| !line.trim().is_empty() && !line.trim().starts_with('#'));
    Ok(out.into_iter().filter(has_content).map(String::into_bytes).collect())
}

fn answered(sent: &Sent, reply: Option<&Reply>) -> Verdict {
    let Some(reply) = reply else {
        // The server distinguishes documents of other versions by their path.
        return if sent.status == 404 { Verdict::Equal } else { Verdict::Missing("not served".to_owned()) };
    };
    if sent.status == 404 {
        // They were sent to the path of their own version, which is not served.
        return Verdict::Equal;
    }
    if reply.code != sent.status {
        let detail = format!("found {} {}, expected {}", reply.code, reply.text(), sent.status);
        return Verdict::Differing(detail);
    }
    let warnings: Vec<String> = kubeshape_yaml::go::warning::headers(reply.warnings.iter().map(String::as_str));
    if warnings != sent.warnings {
        return Verdict::Differing(format!("warnings: found {warnings:?}, expected {:?}", sent.warnings));
    }
    match (&sent.response, serde_json::from_slice::<Value>(&reply.body)) {
        (Some(expected), Ok(found)) if found != *expected => {
            Verdict::Differing(format!("found {}, expected {expected}", reply.text()))
        }
        (_, Err(error)) => Verdict::Differing(format!("no JSON: {error}")),
        _ => Verdict::Equal,
    }
}

/// Compares two definitions except for times, uids and revisions.
fn same_definition(found: &[u8], expected: &Value) -> Verdict {
    let Ok(found) = serde_json::from_slice::<Value>(found) else {
        return Verdict::Missing("the definition is not stored".to_owned());
    };
    let (found, expected) = (timeless(found), timeless(expected.clone()));
    let parts = ["metadata", "spec", "status"];
    let difference = parts.into_iter().find_map(|key| difference(&found[key], &expected[key], key));
    difference.map_or(Verdict::Equal, Verdict::Differing)
}

/// Returns where two values first differ.
fn difference(found: &Value, expected: &Value, path: &str) -> Option<String> {
    match (found, expected) {
        _ if found == expected => None,
        (Value::Object(a), Value::Object(b)) if a.keys().eq(b.keys()) => {
            a.iter().find_map(|(key, value)| difference(value, &b[key], &format!("{path}.{key}")))
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let mut pairs = a.iter().zip(b).enumerate();
            pairs.find_map(|(at, (a, b))| difference(a, b, &format!("{path}[{at}]")))
        }
        _ => Some(format!("{path}: found {found}, expected {expected}")),
    }
}

fn timeless(mut definition: Value) -> Value {
    let metadata = &mut definition["metadata"];
    for key in ["uid", "resourceVersion", "creationTimestamp"] {
        metadata[key] = Value::Null;
    }
    // Entries are sorted by their times.
    if let Some(entries) = metadata["managedFields"].as_array_mut() {
        for entry in entries.iter_mut() {
            entry["time"] = Value::Null;
        }
        entries.sort_by_key(|entry| entry["manager"].as_str().unwrap_or_default().to_owned());
    }
    for condition in definition["status"]["conditions"].as_array_mut().into_iter().flatten() {
        condition["lastTransitionTime"] = Value::Null;
    }
    definition
}
