//! Area `show`: JSONPath, tables of `kubectl get`, and `kubectl explain`.

use crate::golden;
use crate::known::Known;
use crate::structural::{Call, records};
use crate::table::{Table, Verdict};
use crate::verdict::equal;
use kubeshape_show::jsonpath::{Error, Node, Options, Param, Template};
use kubeshape_show::table::{Cell, Column, ColumnDefinition, Convertor, cell};
use kubeshape_smd::{Bump, ToValue};
use kubeshape_yaml::go::Time;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::Path;

/// Whether a golden folder holds records of this area.
pub fn has_records(golden: &Path) -> bool {
    golden.join("structural").join("tables.ndjson.gz").is_file()
}

/// Area `show`.
pub fn compare(golden: &Path, _corpus: &Path, known: Known) -> Table {
    let mut table = Table::new("show", known);
    let folder = golden.join("structural");
    parse(&folder.join("jsonpath").join("jsonpath.Parse.ndjson.gz"), &mut table);
    execute(&folder.join("jsonpath").join("jsonpath.Execute.ndjson.gz"), &mut table);
    generated(&folder.join("jsonpath").join("generated.ndjson.gz"), &mut table);
    tables(&folder.join("tables.ndjson.gz"), &mut table);
    upstream_tables(&folder.join("upstream-tests"), &mut table);
    table
}

fn list(nodes: &[Node]) -> Value {
    json!({"list": nodes.iter().map(tree).collect::<Vec<_>>()})
}

/// A step as it is recorded.
fn tree(node: &Node) -> Value {
    let param =
        |param: &Param| json!({"derived": param.derived, "known": param.known, "value": param.value});
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
struct Answer {
    text: Option<String>,
    error: Option<String>,
    parse_error: Option<String>,
    written: Option<String>,
    unordered: Option<bool>,
    words: Option<Vec<String>>,
}

fn answer(template: &str, input: &Value, options: Options, theirs: &Answer) -> Verdict {
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
        (Ok(()), None) => match &theirs.words {
            Some(words) => {
                let mut ours: Vec<&str> = out.split_whitespace().collect();
                ours.sort_unstable();
                equal(&ours, &words.iter().map(String::as_str).collect())
            }
            None => equal(&out, &theirs.text.clone().unwrap_or_default()),
        },
    }
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
        let row = if call.inputs["plainInput"] == true { "jsonpath execute" } else { "jsonpath execute (Go structs)" };
        let verdict = answer(template, &call.inputs["input"], options(&call.inputs), &theirs);
        table.add(row, &format!("{} {template:?}", call.test), verdict);
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

fn column(value: &Value) -> Column<'_> {
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
        let columns: Vec<Column<'_>> = record["columns"].as_array().into_iter().flatten().map(column).collect();
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

/// The calls that upstream's own tests make.
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
        let columns: Vec<Column<'_>> = heads
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
