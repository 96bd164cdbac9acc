//! For any Go source and any document: reading, checking and annotating end. Without the extension, the document is the
//! original. A second run changes nothing.

use kubeshape_input::{Document, Limits, Source, read};
use kubeshape_lifecycle::annotate::{EXTENSION, annotate};
use kubeshape_lifecycle::{Features, LifecycleTag, Options, Types, Version, diff, docs, fields, lint};
use kubeshape_yaml::json;
use serde_json::Value;

/// Separates the Go source from the document.
const CUT: &str = "\n=====\n";

/// Everything before the first line of equal signs is Go source with types and gates. The rest is a document.
pub fn holds(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (go, document) = text.split_once(CUT).unwrap_or((&text, ""));
    for line in go.lines() {
        LifecycleTag::parse(line.trim_start_matches(['\t', '/', ' ']));
        if let Some(version) = Version::strict(line) {
            assert_eq!(Version::parse(&version.to_string()), Some(version));
        }
    }
    let source = || [Source::from_text("example/v1/types.go", go)];
    let (types, _) = Types::read(source());
    let (features, _) = Features::read(source());
    let options = Options::default();
    for field in fields::fields(&types, &features, &options) {
        assert!(go.get(field.field.span.clone()).is_some(), "{:?}", field.field.span);
    }
    for finding in lint::lint(&types, &features, &options) {
        assert!(finding.place.is_some(), "{finding}");
    }
    let side = diff::Side { types: &types, features: &features, root: "", release: None };
    assert_eq!(diff::diff(side, side), []);
    assert_eq!(diff::kinds(side, side), []);
    for page in docs::pages(&types, &features, &options).take(8) {
        assert!(!page.text.contains(|c: char| c.is_control() && c != '\n'), "{}", page.text);
    }

    let input = read("document", document.as_bytes(), Limits::default());
    let has_errors = input.findings.iter().any(kubeshape_input::Finding::is_error);
    if has_errors || input.documents.first().is_none_or(|first| !first.source().has_lines()) {
        return;
    }
    let out = annotate(&input.documents, &types, &features, &options);
    let again = read("document", out.text.as_bytes(), Limits::default());
    assert!(!again.findings.iter().any(kubeshape_input::Finding::is_error), "{:?}\n{}", again.findings, out.text);
    assert_eq!(again.documents.len(), input.documents.len(), "{}", out.text);
    for (before, after) in input.documents.iter().zip(&again.documents) {
        // References are wrapped in v3.
        if before.root().get("openapi").is_none() {
            assert_eq!(stripped(before), stripped(after), "{}", out.text);
        }
    }
    let twice = annotate(&again.documents, &types, &features, &options);
    assert_eq!(twice.text, out.text);
}

/// The document without the extension.
fn stripped(document: &Document) -> Option<Value> {
    let mut out = Vec::new();
    json::write(document.root(), &mut out, json::Options::default());
    let mut value: Value = serde_json::from_slice(&out).ok()?;
    strip(&mut value);
    Some(value)
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.remove(EXTENSION);
            members.values_mut().for_each(strip);
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}
