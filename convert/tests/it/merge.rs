//! Merging printed parts into a v2 document.

use bytes::Bytes;
use kubeshape_convert::aggregate::merge::{Members, MergeError, Overlay, merge};

fn overlay(paths: &[(&str, &str)], definitions: &[(&str, &str)]) -> Overlay {
    let own = |members: &[(&str, &str)]| {
        members.iter().map(|(k, v)| ((*k).to_owned(), Bytes::copy_from_slice(v.as_bytes()))).collect()
    };
    Overlay { paths: own(paths), definitions: own(definitions), parameters: Members::new() }
}

fn merged(onto: &str, overlay: Overlay) -> String {
    String::from_utf8(merge(onto.as_bytes(), overlay, true).expect("merges").document).expect("UTF-8")
}

#[test]
fn a_new_name_is_free_in_both_or_has_an_equal_definition() {
    let a = [("/x", r##"{"$ref":"#/definitions/A"}"##)];
    let out = merged(
        r#"{"swagger":"2.0","paths":{},"definitions":{"A":{"type":"object"},"A_v2":{"type":"object"}}}"#,
        overlay(&a, &[("A", r#"{"type":"string"}"#), ("A_v3", r#"{"type":"integer"}"#)]),
    );
    assert!(out.contains(r##""/x":{"$ref":"#/definitions/A_v4"}"##), "{out}");
    let out = merged(
        r#"{"swagger":"2.0","paths":{},"definitions":{"A":{"type":"object"},"A_v2":{"type":"string"}}}"#,
        overlay(&a, &[("A", r#"{"type":"string"}"#)]),
    );
    assert_eq!(
        out,
        r##"{"swagger":"2.0","paths":{"/x":{"$ref":"#/definitions/A_v2"}},"definitions":{"A":{"type":"object"},"A_v2":{"type":"string"}}}"##
    );
}

#[test]
fn paths_of_the_document_win_and_unused_definitions_of_the_others_are_removed() {
    let parts = overlay(
        &[("/a", r##"{"$ref":"#/definitions/A"}"##), ("/b", r##"{"$ref":"#/definitions/B"}"##)],
        &[("A", "{}"), ("B", "{}"), ("Unused", "{}")],
    );
    let out = merged(r#"{"swagger":"2.0","paths":{"/a":{"get":{}}}}"#, parts);
    assert_eq!(
        out,
        r##"{"swagger":"2.0","paths":{"/a":{"get":{}},"/b":{"$ref":"#/definitions/B"}},"definitions":{"B":{},"Unused":{}}}"##
    );
}

#[test]
fn kept_paths_are_prefixes_only_if_faults_are_kept() {
    let parts = overlay(&[("/c", "{}"), ("/c/d", "{}")], &[]);
    let onto = br#"{"swagger":"2.0","paths":{"/c/d":{}}}"#;
    assert_eq!(merge(onto, parts.clone(), true), Err(MergeError::DuplicatePath("/c/d".to_owned())));
    assert_eq!(merge(onto, parts, false).expect("merges").dropped_paths, ["/c/d"]);
}

#[test]
fn group_version_kinds_of_equal_definitions_are_united() {
    let parts = overlay(
        &[("/x", "{}")],
        &[("A", r#"{"x-kubernetes-group-version-kind":[{"group":"a","kind":"K","version":"v1"}]}"#)],
    );
    let out = merged(
        r#"{"swagger":"2.0","paths":{},"definitions":{"A":{"x-kubernetes-group-version-kind":[{"group":"b","kind":"K","version":"v1"}]}}}"#,
        parts,
    );
    assert!(
        out.contains(r#"[{"group":"a","kind":"K","version":"v1"},{"group":"b","kind":"K","version":"v1"}]"#),
        "{out}"
    );
}
