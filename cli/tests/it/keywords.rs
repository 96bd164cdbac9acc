//! Keywords of JSON Schema 2020-12 that OpenAPI 3.0 lacks, as inputs of every conversion: what a result does not say is
//! in the report, and what the source accepts, the definition accepts. `docs/convert.md` has the table.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common::Folder;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/convert.md");
const BEGIN: &str = "<!-- keywords: begin -->\n";
const END: &str = "<!-- keywords: end -->\n";

/// What conversions make of a keyword: its name in the table, the schema of `spec` without it, and the keyword.
fn cases() -> Vec<(&'static str, Value, Value)> {
    let object = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}});
    let map = json!({"type": "object"});
    let items = json!({"type": "string", "maxLength": 10});
    let list = json!({"type": "object", "properties": {"l": {"type": "array", "maxItems": 10, "items": items}}});
    let in_list = |keywords: Value| json!({"properties": {"l": keywords}});
    let in_field = |keywords: Value| json!({"properties": {"a": keywords}});
    vec![
        ("`if`, `then`", object.clone(), json!({"if": {"required": ["a"]}, "then": {"required": ["b"]}})),
        (
            "`if`, `else`",
            object.clone(),
            json!({"if": {"properties": {"b": {"minimum": 3}}}, "else": {"required": ["a"]}}),
        ),
        ("`dependentRequired`", object.clone(), json!({"dependentRequired": {"a": ["b"]}})),
        (
            "`dependentSchemas`",
            object.clone(),
            json!({"dependentSchemas": {"a": {"properties": {"b": {"minimum": 2}}}}}),
        ),
        (
            "`propertyNames` of a map",
            map.clone(),
            json!({"propertyNames": {"pattern": "^a"}, "additionalProperties": {"type": "string"}}),
        ),
        ("`propertyNames` next to `properties`", object.clone(), json!({"propertyNames": {"maxLength": 1}})),
        (
            "`patternProperties` of a closed object",
            map.clone(),
            json!({"patternProperties": {"^a": {"type": "string"}}, "additionalProperties": false}),
        ),
        (
            "`patternProperties` next to `properties`",
            object.clone(),
            json!({"patternProperties": {"^c": {"type": "string"}}}),
        ),
        ("`unevaluatedProperties: false`", object.clone(), json!({"unevaluatedProperties": false})),
        ("`unevaluatedProperties`, a schema", object.clone(), json!({"unevaluatedProperties": {"type": "string"}})),
        ("`contains` of scalars", list.clone(), in_list(json!({"contains": {"const": "a"}}))),
        (
            "`minContains`, `maxContains`",
            list.clone(),
            in_list(json!({"contains": {"const": "a"}, "minContains": 2, "maxContains": 3})),
        ),
        (
            "`contains` of objects",
            json!({"type": "object", "properties": {"l": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "string"}}}}}}),
            in_list(json!({"contains": {"required": ["n"]}})),
        ),
        ("`prefixItems`", list.clone(), in_list(json!({"prefixItems": [{"type": "string", "maxLength": 1}]}))),
        (
            "`unevaluatedItems: false`",
            json!({"type": "object", "properties": {"l": {"type": "array"}}}),
            in_list(json!({"prefixItems": [{"type": "string"}], "unevaluatedItems": false})),
        ),
        ("`const`", object.clone(), in_field(json!({"const": "x"}))),
        ("`contentEncoding: base64`", object.clone(), in_field(json!({"contentEncoding": "base64"}))),
        ("other `contentEncoding`", object.clone(), in_field(json!({"contentEncoding": "base32"}))),
        ("`contentMediaType`", object.clone(), in_field(json!({"contentMediaType": "image/png"}))),
        ("`$dynamicRef`", object.clone(), in_field(json!({"$dynamicRef": "#other"}))),
        ("`$anchor`", object, json!({"$anchor": "here"})),
    ]
}

/// Adds the members of a schema to another one.
fn merge(into: &mut Value, from: &Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (name, value) in from {
                match into.get_mut(name) {
                    Some(old) if old.is_object() => merge(old, value),
                    _ => _ = into.insert(name.clone(), value.clone()),
                }
            }
        }
        (into, from) => *into = from.clone(),
    }
}

/// Returns the name of the kind of a case.
fn kind(at: usize) -> String {
    format!("K{}", (b'a' + u8::try_from(at).unwrap()) as char)
}

fn spec(at: usize, is_full: bool) -> Value {
    let (_, mut schema, keyword) = cases()[at].clone();
    if is_full {
        merge(&mut schema, &keyword);
    }
    schema
}

/// Returns a document of OpenAPI 3.1 with a kind per case, with or without the keywords.
fn document(is_full: bool) -> String {
    let mut schemas = Map::new();
    for at in 0..cases().len() {
        let kind = kind(at);
        let schema = json!({
            "type": "object",
            "properties": {
                "apiVersion": {"type": "string"},
                "kind": {"type": "string"},
                "metadata": {"type": "object"},
                "spec": spec(at, is_full),
            },
            "x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": kind}],
        });
        schemas.insert(format!("com.example.v1.{kind}"), schema);
    }
    json!({"openapi": "3.1.0", "info": {"title": "", "version": ""}, "paths": {}, "components": {"schemas": schemas}})
        .to_string()
}

/// The targets: the words of the table, and the options.
const TARGETS: [(&str, &str); 7] = [
    ("`crd`", "--to crd"),
    ("`v3`", "--to v3"),
    ("`v2`", "--to v2"),
    ("`smd`", "--to smd --format json"),
    ("`jsonschema`", "--to jsonschema"),
    ("draft 7", "--to jsonschema --draft 7"),
    ("`v3.1`", "--to v3.1"),
];

/// The parts of a result by kind, and the codes of losses by kind.
#[derive(Default)]
struct Results {
    parts: BTreeMap<String, String>,
    losses: BTreeMap<String, Vec<String>>,
}

/// Converts a document.
fn convert(is_full: bool, options: &str) -> Results {
    let folder = Folder::new();
    folder.write("later.json", document(is_full));
    let run = folder.run(&format!("convert later.json {options} -o out --report losses.ndjson"));
    assert_eq!(run.code, Some(0), "{options}: {}", run.err);
    let mut out = Results::default();
    for (_, bytes) in folder.tree("out") {
        let text = String::from_utf8(bytes).unwrap();
        for at in 0..cases().len() {
            let kind = kind(at);
            let Some(part) = part_of(&text, &kind) else { continue };
            out.parts.insert(kind, part);
        }
    }
    for line in folder.read("losses.ndjson").lines() {
        let found: Value = serde_json::from_str(line).unwrap();
        if matches!(found["kind"].as_str(), Some("widened" | "narrowed" | "dropped" | "approximated")) {
            let text = format!("{} {}", found["pointer"], found["resource"]);
            let name = (0..cases().len()).map(kind).find(|kind| {
                text.contains(&format!("v1.{kind}/"))
                    || text.contains(&format!("v1.{kind}\""))
                    || text.contains(&format!("{kind} "))
            });
            let name = name.unwrap_or_else(|| panic!("{options}: {found}"));
            out.losses.entry(name).or_default().push(found["code"].as_str().unwrap().to_owned());
        }
    }
    out
}

/// Returns what a result says of a kind.
fn part_of(text: &str, kind: &str) -> Option<String> {
    let name = format!("com.example.v1.{kind}");
    let Ok(value) = serde_json::from_str::<Value>(text) else {
        // A definition in YAML.
        return text.contains(&format!("kind: {kind}\n")).then(|| text.to_owned());
    };
    let types = value["types"].as_array().into_iter().flatten();
    let own = value["x-kubernetes-group-version-kind"][0]["kind"].as_str() == Some(kind);
    let found = [
        value["components"]["schemas"].get(&name).cloned(),
        value["definitions"].get(&name).cloned(),
        types.into_iter().find(|one| one["name"] == name.as_str()).cloned(),
        own.then(|| value.clone()),
    ];
    found.into_iter().flatten().next().map(|found| found.to_string())
}

/// The cell of a keyword and a target.
fn cell(at: usize, before: &Results, after: &Results) -> String {
    let kind = kind(at);
    let (old, new) = (before.parts.get(&kind), after.parts.get(&kind));
    assert!(old.is_some() && new.is_some(), "{kind}: {old:?} {new:?}");
    let mut codes = after.losses.get(&kind).cloned().unwrap_or_default();
    // What is lost without the keyword, too, says nothing about it.
    for code in before.losses.get(&kind).into_iter().flatten() {
        if let Some(at) = codes.iter().position(|own| own == code) {
            codes.remove(at);
        }
    }
    codes.sort();
    codes.dedup();
    let is_kept = old != new;
    match (is_kept, codes.as_slice()) {
        (true, []) => "kept".to_owned(),
        (true, codes) => format!("in part ({})", codes.join(", ")),
        (false, []) => "silent".to_owned(),
        (false, codes) => codes.join(", "),
    }
}

#[test]
fn what_a_result_does_not_say_is_in_the_report() {
    let mut rows: Vec<Vec<String>> = cases().iter().map(|(name, ..)| vec![(*name).to_owned()]).collect();
    for (_, options) in TARGETS {
        let (before, after) = (convert(false, options), convert(true, options));
        for (at, row) in rows.iter_mut().enumerate() {
            row.push(cell(at, &before, &after));
        }
    }
    let mut table = format!("| keyword | {} |\n", TARGETS.map(|(name, _)| name).join(" | "));
    writeln!(table, "|---|{}", "---|".repeat(TARGETS.len())).unwrap();
    for row in &rows {
        writeln!(table, "| {} |", row.join(" | ")).unwrap();
    }
    let silent: Vec<&Vec<String>> = rows.iter().filter(|row| row.iter().any(|cell| cell == "silent")).collect();
    assert!(silent.is_empty(), "{table}");
    let page = std::fs::read_to_string(PAGE).unwrap();
    let (head, rest) = page.split_once(BEGIN).unwrap();
    let (written, tail) = rest.split_once(END).unwrap();
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(PAGE, format!("{head}{BEGIN}{table}{END}{tail}")).unwrap();
    } else {
        assert_eq!(written, table, "docs/convert.md: UPDATE_EXPECT=1 writes the table");
    }
}

/// Objects of every case: a validator of JSON Schema says which of them the source accepts.
#[test]
fn what_the_source_accepts_the_definition_accepts() {
    let folder = Folder::new();
    folder.write("later.json", document(true));
    assert_eq!(folder.run("convert later.json --to crd -o crds").code, Some(0));
    let run = folder.run("check crds --kubernetes all -q");
    assert_eq!(run.code, Some(0), "{}", run.out);
    let values = [
        json!({}),
        json!({"a": "x"}),
        json!({"a": "x", "b": 1}),
        json!({"a": "x", "b": 2}),
        json!({"b": 3}),
        json!({"b": 4, "a": ""}),
        json!({"a": "YQ=="}),
        json!({"a": "aa"}),
        json!({"abc": "s"}),
        json!({"abc": "s", "ad": "t"}),
        json!({"c": 1}),
        json!({"c": "s"}),
        json!({"l": []}),
        json!({"l": ["a"]}),
        json!({"l": ["a", "a"]}),
        json!({"l": ["a", "b", "a", "a"]}),
        json!({"l": ["bb", "a", "a", "a", "a"]}),
        json!({"l": [{"n": "x"}]}),
        json!({"l": [{}]}),
        json!({"l": ["x", 1]}),
    ];
    let (mut objects, mut sources) = (Vec::new(), Vec::new());
    let mut refused = 0;
    for at in 0..cases().len() {
        let schema = spec(at, true);
        let mut without = schema.clone();
        // A validator needs the target of a dynamic reference.
        if let Some(Value::Object(a)) = without.pointer_mut("/properties/a") {
            a.remove("$dynamicRef");
        }
        let validator = jsonschema::draft202012::new(&without).unwrap();
        for (number, value) in values.iter().enumerate() {
            if validator.is_valid(value) {
                let name = format!("o{number}");
                objects.push(json!({"apiVersion": "example.com/v1", "kind": kind(at), "metadata": {"name": name}, "spec": value}).to_string());
                sources.push(schema.to_string());
            } else {
                refused += 1;
            }
        }
    }
    assert!(objects.len() > 300 && refused > 80, "{} and {refused}", objects.len());
    folder.write("objects.json", objects.join("\n"));
    let run = folder.run("validate --schemas crds objects.json --output-format json");
    for line in run.out.lines() {
        let found: Value = serde_json::from_str(line).unwrap();
        let at = usize::try_from(found["line"].as_u64().unwrap()).unwrap() - 1;
        // A server drops unknown fields, and says so.
        let is_unknown = found["kind"] == "warning" || found["detail"].as_str().unwrap().contains("unknown field");
        assert!(is_unknown, "{found}\n{}\n{}", objects[at], sources[at]);
    }
}
