//! Area `show`: JSONPath, tables of `kubectl get`, and `kubectl explain`.

use crate::golden;
use crate::input::{Answer, answers};
use crate::known::Known;
use crate::structural::{Call, CrdName, records};
use crate::table::{Table, Verdict};
use crate::verdict::equal;
use kubeshape_publish::{Base, Options as PublishOptions, Publisher};
use kubeshape_show::explain::{self, Gvr};
use kubeshape_show::jsonpath::{Error, Node, Options, Param, Template};
use kubeshape_show::table::{Cell, Column, ColumnDefinition, Convertor, cell};
use kubeshape_smd::{Bump, ToValue};
use kubeshape_yaml::go::Time;
use kubeshape_yaml::{Limits, Stream, Tape};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// Returns whether a golden folder contains records of this area.
pub fn has_records(golden: &Path) -> bool {
    golden.join("structural").join("tables.ndjson.gz").is_file()
}

/// Area `show`.
pub fn compare(golden: &Path, corpus: &Path, publisher: Option<&Publisher>, known: Known) -> Table {
    let mut table = Table::new("show", known);
    if !has_records(golden) {
        return table;
    }
    let folder = golden.join("structural");
    parse(&folder.join("jsonpath").join("jsonpath.Parse.ndjson.gz"), &mut table);
    execute(&folder.join("jsonpath").join("jsonpath.Execute.ndjson.gz"), &mut table);
    generated(&folder.join("jsonpath").join("generated.ndjson.gz"), &mut table);
    tables(&folder.join("tables.ndjson.gz"), &mut table);
    upstream_tables(&folder.join("upstream-tests"), &mut table);
    let built_in = publisher.is_none().then(|| Publisher::new(Base::builtin(), PublishOptions::default()));
    if let Some(publisher) = publisher.or(built_in.as_ref()) {
        explained(&folder.join("explain.ndjson.gz"), corpus, publisher, &mut table);
    }
    table
}

fn list(nodes: &[Node]) -> Value {
    json!({"list": nodes.iter().map(tree).collect::<Vec<_>>()})
}

/// Returns a step as it is recorded.
fn tree(node: &Node) -> Value {
    let param = |param: &Param| json!({"derived": param.derived, "known": param.known, "value": param.value});
    match node {
        Node::Text(text) => json!({"text": text}),
        Node::List(nodes) => list(nodes),
        Node::Field(name) => json!({"field": name}),
        Node::Array(params) => json!({"array": params.iter().map(param).collect::<Vec<_>>()}),
        Node::Filter { left, operator, right } => {
            json!({"filter": {"left": list(left), "operator": operator, "right": list(right)}})
        }
        Node::Int(n) => json!({"int": n}),
        Node::Float(n) => json!({"float": n}),
        Node::Bool(yes) => json!({"bool": yes}),
        Node::Wildcard => json!({"wildcard": true}),
        Node::Recursive => json!({"recursive": true}),
        Node::Union(members) => json!({"union": members.iter().map(|nodes| list(nodes)).collect::<Vec<_>>()}),
        Node::Identifier(name) => json!({"identifier": name}),
    }
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_default()
}

fn parse(file: &Path, table: &mut Table) {
    for call in records::<Call>(file, table) {
        let template = text(&call.inputs, "template");
        let ours = match Template::parse(template) {
            Ok(parsed) => json!({"error": null, "tree": list(parsed.nodes())}),
            Err(error) => json!({"error": error.to_string()}),
        };
        let theirs = match &call.output["error"] {
            Value::Null => call.output.clone(),
            error => json!({"error": error}),
        };
        table.add("jsonpath parse", &format!("{} {template:?}", call.test), equal(&ours, &theirs));
    }
}

/// A recorded answer of a template.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Execution {
    text: Option<String>,
    error: Option<String>,
    parse_error: Option<String>,
    written: Option<String>,
    unordered: Option<bool>,
    words: Option<Vec<String>>,
}

fn answer(template: &str, input: &Value, options: Options, theirs: &Execution) -> Verdict {
    let visits_maps = template.contains('*') || template.contains("..");
    let template = match (Template::parse(template), &theirs.parse_error) {
        (Ok(template), None) => template,
        (Err(error), Some(theirs)) => return equal(&error.to_string(), theirs),
        (Ok(_), Some(theirs)) => return Verdict::Differing(format!("parsed, theirs {theirs}")),
        (Err(error), None) => match &theirs.error {
            Some(theirs) => return equal(&error.to_string(), theirs),
            None => return Verdict::Differing(error.to_string()),
        },
    };
    let arena = Bump::new();
    let mut out = Vec::new();
    let ours = template.execute(input.to_value(&arena), options, &mut out);
    let out = String::from_utf8_lossy(&out).into_owned();
    match (ours, &theirs.error) {
        (Err(Error::NoValue), Some(theirs)) if theirs.starts_with("panic:") => Verdict::Equal,
        // Which error comes first depends on the order of a map.
        (Err(_), Some(_)) if theirs.unordered.is_some() => Verdict::Equal,
        (Err(ours), Some(error)) => {
            equal(&(ours.to_string(), out), &(error.clone(), theirs.written.clone().unwrap_or_default()))
        }
        (Err(ours), None) => Verdict::Differing(ours.to_string()),
        (Ok(()), Some(theirs)) => Verdict::Differing(format!("{out:?}, theirs {theirs}")),
        (Ok(()), None) => match (&theirs.words, &theirs.text) {
            (Some(words), _) => {
                let mut ours: Vec<&str> = out.split_whitespace().collect();
                ours.sort_unstable();
                equal(&ours, &words.iter().map(String::as_str).collect())
            }
            // Go visits the entries of a map in random order, which may differ between recordings.
            (None, Some(theirs)) if visits_maps && out != *theirs => equal(&sorted(&out), &sorted(theirs)),
            (None, theirs) => equal(&out, &theirs.clone().unwrap_or_default()),
        },
    }
}

/// Returns the words of a string in order, without the separators of items.
fn sorted(text: &str) -> Vec<&str> {
    let mut words: Vec<&str> = text.split([' ', '\n', ',']).filter(|word| !word.is_empty()).collect();
    words.sort_unstable();
    words
}

fn options(inputs: &Value) -> Options {
    Options { allow_missing_keys: inputs["allowMissingKeys"] == true, json: inputs["outputJSON"] == true }
}

fn execute(file: &Path, table: &mut Table) {
    for call in records::<Call>(file, table) {
        let template = text(&call.inputs, "template");
        let Ok(theirs) = serde_json::from_value(call.output.clone()) else {
            table.add("jsonpath execute", &call.test, Verdict::Missing("not readable".to_owned()));
            continue;
        };
        // Go's structs have other names for their fields, and print them in another order.
        if call.inputs["plainInput"] != true {
            continue;
        }
        let verdict = answer(template, &call.inputs["input"], options(&call.inputs), &theirs);
        table.add("jsonpath execute", &format!("{} {template:?}", call.test), verdict);
    }
}

fn generated(file: &Path, table: &mut Table) {
    for (number, record) in records::<Value>(file, table).into_iter().enumerate() {
        let template = text(&record, "template");
        let Ok(theirs) = serde_json::from_value(record.clone()) else { continue };
        let verdict = answer(template, &record["input"], options(&record), &theirs);
        table.add("jsonpath generated", &format!("{number} {template:?}"), verdict);
    }
}

fn json_of(cell: &Cell) -> Value {
    match cell {
        Cell::Empty => Value::Null,
        Cell::Text(text) => json!(text),
        Cell::Int(n) => json!(n),
        Cell::Float(n) => json!(n),
        Cell::Bool(yes) => json!(yes),
    }
}

fn cells(ours: &[Cell], theirs: &Value) -> Verdict {
    let ours = Value::Array(ours.iter().map(json_of).collect());
    golden::first_difference(&ours, theirs).map_or(Verdict::Equal, Verdict::Differing)
}

fn column(value: &Value) -> Column<&str> {
    Column {
        name: text(value, "name"),
        column_type: text(value, "type"),
        format: text(value, "format"),
        description: text(value, "description"),
        priority: value["priority"].as_i64().and_then(|n| i32::try_from(n).ok()).unwrap_or_default(),
        json_path: text(value, "jsonPath"),
    }
}

fn head(column: &ColumnDefinition) -> Value {
    json!({
        "name": column.name, "type": column.column_type, "format": column.format, "description": column.description,
        "priority": column.priority,
    })
}

fn tables(file: &Path, table: &mut Table) {
    // 2000-01-01T00:00:00Z
    let now = Time(946_684_800);
    for (number, record) in records::<Value>(file, table).into_iter().enumerate() {
        let label = format!("{number} {}", record["crd"]);
        let columns: Vec<Column<&str>> = record["columns"].as_array().into_iter().flatten().map(column).collect();
        let convertor = Convertor::new(&columns);
        let error = convertor.as_ref().err().map(ToString::to_string);
        table.add("tables accepted", &label, equal(&error.as_deref(), &record["error"].as_str()));
        let Ok(convertor) = convertor else { continue };
        let heads: Vec<Value> = convertor.columns().iter().map(head).collect();
        table.add("tables columns", &label, equal(&Value::Array(heads), &record["columnDefinitions"]));
        let arena = Bump::new();
        for (at, row) in record["rows"].as_array().into_iter().flatten().enumerate() {
            let ours = convertor.row(row["object"].to_value(&arena), now);
            table.add("tables rows", &format!("{label} {at}"), cells(&ours, &row["cells"]));
        }
    }
}

/// Compares the calls of upstream's own tests.
fn upstream_tables(folder: &Path, table: &mut Table) {
    let now = |call: &Call| Time::parse(text(&call.inputs, "now")).unwrap_or_default();
    for call in records::<Call>(&folder.join("tableconvertor.cellForJSONValue.ndjson.gz"), table) {
        let arena = Bump::new();
        let ours = cell(text(&call.inputs, "headerType"), call.inputs["value"].to_value(&arena), now(&call));
        table.add("upstream cells", &call.test, cells(&[ours], &json!([call.output["cell"]])));
    }
    for call in records::<Call>(&folder.join("tableconvertor.ConvertToTable.ndjson.gz"), table) {
        let arena = Bump::new();
        let templates = call.inputs["templates"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let heads = call.inputs["headers"].as_array().map_or(&[][..], Vec::as_slice);
        let columns: Vec<Column<&str>> = heads
            .iter()
            .skip(1)
            .zip(templates)
            .map(|(head, template)| Column {
                json_path: template.strip_prefix('{').and_then(|t| t.strip_suffix('}')).unwrap_or(template),
                ..column(head)
            })
            .collect();
        let convertor = if columns.is_empty() { Ok(Convertor::names()) } else { Convertor::new(&columns) };
        let Ok(convertor) = convertor else { continue };
        let object = &call.inputs["object"];
        let objects = object["items"].as_array().map_or(std::slice::from_ref(object), Vec::as_slice);
        let rows: Vec<Value> = objects
            .iter()
            .map(|object| {
                let cells = convertor.row(object.to_value(&arena), now(&call));
                json!({"cells": cells.iter().map(json_of).collect::<Vec<_>>()})
            })
            .collect();
        let verdict = golden::first_difference(&Value::Array(rows), &call.output["table"]["rows"]);
        table.add("upstream tables", &call.test, verdict.map_or(Verdict::Equal, Verdict::Differing));
    }
}

/// Compares the pages of `kubectl explain`.
fn explained(file: &Path, corpus: &Path, publisher: &Publisher, table: &mut Table) {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Page {
        document: Option<String>,
        crd: Option<CrdName>,
        group: String,
        version: String,
        resource: String,
        field_path: Vec<String>,
        recursive: bool,
        #[serde(default)]
        output: String,
        error: Option<String>,
    }
    let mut files: BTreeMap<String, Vec<Answer>> = BTreeMap::new();
    for (number, page) in records::<Page>(file, table).into_iter().enumerate() {
        let label = format!("{number} {}.{} {}", page.resource, page.group, page.field_path.join("."));
        let row = if page.crd.is_some() { "explain custom resources" } else { "explain documents" };
        let document = match (&page.document, &page.crd) {
            // kubectl requests a document that the server does not have.
            (Some(document), _) if !document.ends_with(&file_of(&page.group, &page.version)) => None,
            (Some(document), _) => golden::read(&corpus.join(document)).ok(),
            (None, Some(CrdName { file, index })) => {
                let read = || golden::read(&corpus.join(file)).map(|bytes| answers(&bytes, publisher));
                let crds = files.entry(file.clone()).or_insert_with(|| read().unwrap_or_default());
                match crds.get(*index) {
                    Some(Answer::Crd(crd)) => crd
                        .versions
                        .iter()
                        .find(|version| version.name == page.version)
                        .map(|version| version.v3.clone()),
                    _ => None,
                }
            }
            (None, None) => None,
        };
        let gvr = Gvr { group: &page.group, version: &page.version, resource: &page.resource };
        let path: Vec<&str> = page.field_path.iter().map(String::as_str).collect();
        let mut out = String::new();
        let ours = match document.as_deref().map(|bytes| page_of(bytes, gvr, &path, page.recursive, &mut out)) {
            Some(Ok(answer)) => answer,
            Some(Err(error)) => {
                table.add(row, &label, Verdict::Missing(error));
                continue;
            }
            None => Err(explain::Error::NoDocument(gvr.to_string())),
        };
        let verdict = match crate::verdict::bytes(out.as_bytes(), page.output.as_bytes()) {
            Verdict::Equal => equal(&ours.err().map(|error| error.to_string()), &page.error),
            differing => differing,
        };
        table.add(row, &label, verdict);
    }
}

/// Returns the file of the document of a group and version.
fn file_of(group: &str, version: &str) -> String {
    if group.is_empty() { format!("/api/{version}.json") } else { format!("/apis/{group}/{version}.json") }
}

fn page_of(
    bytes: &[u8],
    gvr: Gvr<'_>,
    path: &[&str],
    recursive: bool,
    out: &mut String,
) -> Result<Result<(), explain::Error>, String> {
    let mut tape = Tape::new();
    let mut stream = Stream::new(bytes, Limits::default()).map_err(|error| error.to_string())?;
    let source = stream.source();
    stream.next(&mut tape).transpose().map_err(|error| error.to_string())?;
    let document = tape.document(source);
    let root = document.root().ok_or("empty")?;
    let arena = Bump::new();
    Ok(explain::plaintext(
        kubeshape_smd::Value::from_node(root, &arena),
        gvr,
        path,
        explain::Options { recursive, more: None },
        out,
    ))
}
