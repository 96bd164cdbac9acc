//! SARIF 2.1.0, the exchange format of static analysis.

use kubeshape_input::{Code, Finding, NoteKind};
use kubeshape_schema::Level;
use kubeshape_yaml::percent;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// Returns a finding as a result.
pub(crate) fn result(finding: &Finding, how: Level) -> Value {
    of_line(&json!(finding), how)
}

/// Returns a line of a report as a result.
pub(crate) fn of_line(line: &Value, how: Level) -> Value {
    let text = |name: &str| line[name].as_str().filter(|text| !text.is_empty());
    let mut location = Map::new();
    if let Some(input) = text("input") {
        let mut physical = json!({ "artifactLocation": { "uri": uri(input) } });
        if line["line"].is_number() {
            physical["region"] = json!({ "startLine": line["line"], "startColumn": line["column"] });
            if line["endColumn"].is_number() {
                physical["region"]["endColumn"] = line["endColumn"].clone();
            }
        }
        location.insert("physicalLocation".to_owned(), physical);
    }
    if let Some(pointer) = text("pointer") {
        location.insert("logicalLocations".to_owned(), json!([{ "fullyQualifiedName": pointer, "kind": "member" }]));
    }
    let mut properties: Map<String, Value> = ["kind", "resource", "version", "shape"]
        .into_iter()
        .filter_map(|name| Some((name.to_owned(), json!(text(name)?))))
        .collect();
    if line["releases"].is_array() {
        properties.insert("releases".to_owned(), line["releases"].clone());
    }
    let mut message = line["message"].as_str().unwrap_or_default().to_owned();
    let notes = line["notes"].as_array().into_iter().flatten().filter_map(Value::as_str);
    for more in notes.chain(text("help")) {
        message.push('\n');
        message.push_str(more);
    }
    let mut out = json!({
        "ruleId": line["code"],
        "level": level(how),
        "message": { "text": message },
        "properties": properties,
    });
    if !location.is_empty() {
        out["locations"] = json!([location]);
    }
    out
}

/// Returns the document with these results.
pub(crate) fn document(mut results: Vec<Value>) -> Value {
    let codes: BTreeSet<Code> =
        results.iter().filter_map(|result| Code::parse(result["ruleId"].as_str().unwrap_or_default())).collect();
    for result in &mut results {
        let code = Code::parse(result["ruleId"].as_str().unwrap_or_default());
        result["ruleIndex"] = json!(codes.iter().position(|known| Some(*known) == code));
    }
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {
                "driver": {
                    "name": "kubeshape",
                    "informationUri": env!("CARGO_PKG_REPOSITORY"),
                    "semanticVersion": env!("CARGO_PKG_VERSION"),
                    "rules": codes.into_iter().map(rule).collect::<Vec<_>>(),
                },
            },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn rule(code: Code) -> Value {
    let level = level(code.kind().level());
    json!({
        "id": code.to_string(),
        "shortDescription": { "text": code.title() },
        "help": { "text": code.help(), "markdown": code.page() },
        "defaultConfiguration": { "level": level },
        "properties": { "tags": [if code.kind().is_loss() { "loss" } else { NoteKind::name(code.kind()) }] },
    })
}

fn level(how: Level) -> &'static str {
    match how {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "note",
        Level::Off => "none",
    }
}

/// Returns an absolute path as a URI, and a relative path as a relative reference. Characters that are not allowed
/// there are encoded.
fn uri(path: &str) -> String {
    let is_absolute = std::path::Path::new(path).is_absolute();
    let path = if std::path::MAIN_SEPARATOR == '\\' { path.replace('\\', "/") } else { path.to_owned() };
    // In the first segment, a colon would end a scheme.
    let path = percent::encode(&path, const { &percent::PATH.add(b':') });
    // The host is empty: `file:///a`.
    if is_absolute { format!("file:///{}", path.trim_start_matches('/')) } else { path.into_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_references_to_uris() {
        assert_eq!(uri("a/b c:é%.yaml"), "a/b%20c%3A%C3%A9%25.yaml");
        assert_eq!(uri("/abs/x y.json"), "file:///abs/x%20y.json");
        assert_eq!(uri("../x.json"), "../x.json");
    }
}
