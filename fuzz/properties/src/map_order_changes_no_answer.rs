//! The order of fields in an object or a definition changes no result: neither the verdicts of releases, nor the
//! results and costs of rules for objects.

use kubeshape_check::{Check, Releases};
use kubeshape_schema::Bump;
use kubeshape_schema::field::Path;
use kubeshape_smd::Value;
use kubeshape_structural::read::manifests;
use kubeshape_validate::Release;
use kubeshape_validate::object::{Resource, Validator};
use kubeshape_yaml::{Limits, Stream, Tape};
use std::fmt::Write;

/// The cost limit of rules here, so that a run stays short.
const BUDGET: i64 = 100_000;

/// Checks the property. Every document is used as a definition, and as an object of the previous one.
pub fn holds(data: &[u8]) {
    let limits = Limits { nodes: 10_000, depth: 64, ..Limits::default() };
    let Ok(mut stream) = Stream::new(data, limits) else { return };
    let source = stream.source();
    let mut tape = Tape::new();
    let mut last = None;
    while let Some(document) = stream.next(&mut tape) {
        let Some(root) = document.ok().and_then(|()| tape.document(source).root()) else { continue };
        let arena = Bump::new();
        let value = Value::from_node(root, &arena);
        let orders = [false, true].map(|backwards| {
            let mut out = String::new();
            write(value, backwards, &mut out);
            out
        });
        assert_eq!(verdicts(&orders[0]), verdicts(&orders[1]), "{}", orders[0]);
        let definition = last.get_or_insert_with(|| orders.clone());
        assert_eq!(judged(&definition[0], &orders[0]), judged(&definition[1], &orders[1]), "{}", orders[0]);
        if !manifests(root).0.is_empty() {
            last = Some(orders);
        }
    }
}

/// Writes a value as JSON, whose fields are sorted by name, or in reverse order.
fn write(value: Value<'_>, backwards: bool, out: &mut String) {
    let scalar = |json: serde_json::Value, out: &mut String| {
        let _ = write!(out, "{json}");
    };
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => scalar(value.into(), out),
        Value::Int(value) => scalar(value.into(), out),
        Value::Float(value) => scalar(value.into(), out),
        Value::String(value) => scalar(value.into(), out),
        Value::List(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                out.push_str(if i == 0 { "" } else { "," });
                write(*item, backwards, out);
            }
            out.push(']');
        }
        Value::Map(map) => {
            let mut entries = map.entries().to_vec();
            entries.sort_by_key(|entry| entry.0);
            if backwards {
                entries.reverse();
            }
            out.push('{');
            for (i, (key, value)) in entries.into_iter().enumerate() {
                out.push_str(if i == 0 { "" } else { "," });
                scalar(key.into(), out);
                out.push(':');
                write(value, backwards, out);
            }
            out.push('}');
        }
    }
}

/// Returns the verdicts of the releases on the definitions of a string, sorted: upstream walks the fields in document
/// order.
fn verdicts(text: &str) -> Vec<Vec<String>> {
    let mut out = Vec::new();
    with(text, |root| {
        for manifest in manifests(root).0 {
            let arena = Bump::new();
            let report = Check::new(Releases::ALL).with_advice(true).definition(manifest, &arena);
            let mut problems: Vec<String> = report
                .problems
                .iter()
                .map(|problem| {
                    let error = problem.error.as_ref().map(|error| (error.error_type, &error.path, &error.detail));
                    format!("{} {:?} {error:?}", problem.note.code, problem.releases)
                })
                .collect();
            problems.sort_unstable();
            problems.extend(report.answers.iter().map(|answer| format!("{answer:?}")));
            out.push(problems);
        }
    });
    out
}

/// Returns the errors of the versions of a definition for an object, and the cost of their rules.
fn judged(definition: &str, object: &str) -> Vec<(Vec<String>, i64)> {
    let mut out = Vec::new();
    with(definition, |root| {
        for manifest in manifests(root).0 {
            let arena = Bump::new();
            let Some(crd) = manifest.read(&arena).value else { continue };
            for resource in Resource::of_versions(&crd, Release::DEFAULT, &arena) {
                with(object, |root| {
                    let arena = Bump::new();
                    let value = Value::from_node(root, &arena);
                    let mut errors = Vec::new();
                    if let Some(schema) = resource.schema {
                        errors = Validator::new(schema, &arena).check(value, &Path::Root);
                    }
                    let mut left = BUDGET;
                    if let Some(rules) = &resource.rules {
                        let outcome = rules.check(value, &Path::Root, BUDGET);
                        left = outcome.remaining_budget;
                        errors.extend(outcome.errors);
                    }
                    let mut texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
                    texts.sort_unstable();
                    out.push((texts, left));
                });
            }
        }
    });
    out
}

/// Reads a string that was written here.
fn with(text: &str, f: impl FnOnce(kubeshape_yaml::Node<'_>)) {
    let mut tape = Tape::new();
    let mut stream = Stream::new(text.as_bytes(), Limits::default()).expect("a text");
    if let Some(Ok(())) = stream.next(&mut tape)
        && let Some(root) = tape.document(text).root()
    {
        f(root);
    }
}
