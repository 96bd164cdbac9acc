//! Inputs with the answers that Kubernetes' converter gives to them.

use kubeshape_yaml::{Limits, Path, Stream, Tape, json};
use serde_json::Value;

/// Returns the first document that the full YAML reader and the automatic one find, as Kubernetes' JSON.
fn first(source: &str, path: Path) -> Result<String, String> {
    let mut stream = Stream::with_path(source.as_bytes(), Limits::default(), path).map_err(|e| e.to_string())?;
    let mut tape = Tape::new();
    match stream.next(&mut tape) {
        None => Ok("null".into()),
        Some(Err(error)) => Err(error.to_string()),
        Some(Ok(())) => {
            let mut out = Vec::new();
            let root = tape.document(source).root().expect("a root");
            json::write(root, &mut out, json::Options::default());
            Ok(String::from_utf8(out).expect("UTF-8"))
        }
    }
}

fn has_repeated_key(source: &str) -> bool {
    let mut stream = Stream::with_path(source.as_bytes(), Limits::default(), Path::Full).expect("UTF-8");
    let mut tape = Tape::new();
    if !matches!(stream.next(&mut tape), Some(Ok(()))) {
        return false;
    }
    let document = tape.document(source);
    (0..document.len() as u32).any(|index| {
        let mut keys: Vec<_> = document
            .node(index)
            .pairs()
            .map(|(key, _)| (key.text(), key.entry().flags.has(kubeshape_yaml::Flags::RESOLVED_KEY)))
            .collect();
        let n = keys.len();
        keys.sort_unstable();
        keys.dedup();
        keys.len() < n
    })
}

/// Returns whether the first document is empty: a stream skips it.
fn begins_with_nothing(source: &str) -> bool {
    source.starts_with("---\n---")
}

/// Compares the answers. If `expected` is `None`, an error is expected.
fn compare(source: &str, expected: Option<&str>, strict_error: Option<bool>, failures: &mut Vec<String>) {
    if begins_with_nothing(source) {
        return;
    }
    // Bytes of a binary that are not UTF-8 are an escape in Go's JSON, and the character in ours.
    let expected = expected.map(|text| text.replace("\\ufffd", "\u{FFFD}"));
    let expected = expected.as_deref();
    for path in [Path::Full, Path::Yaml] {
        let found = first(source, path);
        match (&found, expected) {
            (Err(_), None) => {}
            (Ok(found), Some(expected)) if found == expected => {}
            _ => failures.push(format!("{source:?} ({path:?})\n  expected {expected:?}\n  found    {found:?}")),
        }
    }
    if let (Some(strict), Some(_)) = (strict_error, expected)
        && has_repeated_key(source) != strict
    {
        failures.push(format!("{source:?}\n  expected repeated keys: {strict}"));
    }
}

fn report(name: &str, n: usize, failures: &[String]) {
    assert!(failures.is_empty(), "{} of {n} inputs of {name} differ:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn recorded_cases_give_the_recorded_json_or_an_error() {
    let lines = std::fs::read_to_string(kubeshape_corpus::folder().join("yaml/cases.ndjson")).expect("the cases");
    let (mut n, mut failures) = (0, Vec::new());
    for line in lines.lines().filter(|line| !line.trim().is_empty()) {
        let case: Value = serde_json::from_str(line).expect("a JSON line");
        let strict = case.get("strict_error").map(|error| error.as_bool().unwrap_or(!error.is_null()));
        compare(case["yaml"].as_str().expect("an input"), case["json"].as_str(), strict, &mut failures);
        n += 1;
    }
    report("cases.ndjson", n, &failures);
}

#[test]
fn probes_of_the_corpus_give_the_measured_json_or_an_error() {
    let Some(corpus) = kubeshape_corpus::folder_named_by("KUBESHAPE_CORPUS") else { return };
    let lines = std::fs::read_to_string(corpus.join("yaml/probes.jsonl")).expect("the probes");
    let (mut n, mut failures) = (0, Vec::new());
    for line in lines.lines() {
        let case: Value = serde_json::from_str(line).expect("a JSON line");
        let expected = case["expect"].as_str().expect("an answer");
        let strict = expected.ends_with("  [strict ERR]");
        let expected = expected.trim_end_matches("  [strict ERR]");
        let expected = (!expected.starts_with("ERR ")).then_some(expected);
        compare(case["yaml"].as_str().expect("an input"), expected, Some(strict), &mut failures);
        n += 1;
    }
    report("probes.jsonl", n, &failures);
}
