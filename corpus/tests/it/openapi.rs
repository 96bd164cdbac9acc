//! The OpenAPI documents are complete, and generated ones are as described.

use kubeshape_corpus::generate::{Level, Seeded, openapi_v2_document, openapi_v2_documents, openapi_v3_document};
use kubeshape_corpus::{openapi_answers, openapi_files};

#[test]
fn every_document_names_its_rule() {
    let files = openapi_files().expect("the corpus");
    assert!(files.len() > 150, "{} files", files.len());
    let without: Vec<_> = files
        .iter()
        .filter(|file| file.rule().is_none_or(|rule| rule.len() < 10))
        .map(|file| file.id.as_str())
        .collect();
    assert!(without.is_empty(), "no `# Rule: …` in the first line, or `Rule: …` in the info, of {without:?}");
}

#[test]
fn every_document_has_a_recorded_answer_and_every_answer_a_document() {
    let files: Vec<String> = openapi_files().expect("the corpus").into_iter().map(|file| file.id).collect();
    let answers: Vec<String> = openapi_answers().expect("the record").into_iter().map(|answer| answer.id).collect();
    assert_eq!(files, answers, "record the answers again: see corpus/README.md");
}

#[test]
fn documents_outside_of_broken_are_read_except_those_that_only_protobuf_accepts() {
    for answer in openapi_answers().expect("the record") {
        assert_eq!(answer.kind == "v2" || answer.kind == "v3", answer.error.is_none() && answer.kind != "other");
        let refused = answer.error.is_some() || answer.parse_error.is_some();
        assert!(!refused || answer.id.starts_with("broken/") || answer.id.starts_with("rules/proto-"), "{}", answer.id);
    }
}

#[test]
fn generated_documents_are_json_of_their_version() {
    let mut seeded = Seeded::new(11);
    for level in [Level::Usual, Level::Weird] {
        for _ in 0..200 {
            let v2 = seeded.next(&openapi_v2_document(level));
            let v3 = seeded.next(&openapi_v3_document(level));
            for (text, member) in [(v2, "swagger"), (v3, "openapi")] {
                // Numbers that do not fit a float are JSON, too, but this reader rejects them.
                let document: serde_json::Value = serde_json::from_str(&text).expect(&text);
                assert!(level == Level::Weird || document[member].is_string(), "{text}");
            }
        }
    }
}

#[test]
fn documents_to_aggregate_have_no_common_path() {
    let mut seeded = Seeded::new(5);
    let strategy = openapi_v2_documents();
    for _ in 0..50 {
        let mut paths = Vec::new();
        for text in seeded.next(&strategy) {
            let document: serde_json::Value = serde_json::from_str(&text).expect(&text);
            let own = document["paths"].as_object().expect("paths");
            paths.extend(own.keys().filter(|key| key.starts_with('/')).cloned());
        }
        let all = paths.len();
        paths.sort();
        paths.dedup();
        assert_eq!(paths.len(), all);
    }
}
