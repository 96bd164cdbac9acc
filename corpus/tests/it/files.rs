//! The corpus is complete: every file states its rule and has its answers.

use kubeshape_corpus::{answers, files, merged};

#[test]
fn every_file_names_its_rule_first() {
    let files = files().expect("the corpus");
    assert!(files.len() > 150, "{} files", files.len());
    let without: Vec<_> = files
        .iter()
        .filter(|file| file.rule().is_none_or(|rule| rule.len() < 10))
        .map(|file| file.id.as_str())
        .collect();
    assert!(without.is_empty(), "no `# Rule: …` in the first line of {without:?}");
}

#[test]
fn every_file_has_a_recorded_answer_and_every_answer_a_file() {
    let files: Vec<String> = files().expect("the corpus").into_iter().map(|file| file.id).collect();
    let answers: Vec<String> = answers().expect("the record").into_iter().map(|answer| answer.id).collect();
    assert_eq!(files, answers, "record the answers again: see corpus/README.md");
}

#[test]
fn broken_files_have_a_manifest_that_does_not_decode_and_others_do_not() {
    for answer in answers().expect("the record") {
        let broken = answer.crds.iter().any(|crd| crd.error.is_some());
        assert_eq!(broken, answer.id.starts_with("broken/"), "{}", answer.id);
    }
}

#[test]
fn merged_documents_are_recorded_for_every_group_version_and_for_v2() {
    let merged = merged().expect("the record");
    assert!(merged.v3.len() > 30);
    assert!(merged.v3.windows(2).all(|pair| pair[0].path < pair[1].path));
    assert!(merged.v2.is_some_and(|v2| v2.doc.is_some()));
}
