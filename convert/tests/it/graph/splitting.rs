//! Splitting documents.

use super::support::{Room, document, path, print_v3, to};
use kubeshape_convert::graph::split::split;

fn slices(text: &str) -> Vec<(String, String)> {
    let room = Room::default();
    let slices = split(&room.v3(text), &room.arena).value;
    slices.iter().map(|slice| (slice.name.to_owned(), print_v3(&slice.document))).collect()
}

fn expected(slices: &[(&str, String)]) -> Vec<(String, String)> {
    slices.iter().map(|(name, text)| ((*name).to_owned(), text.clone())).collect()
}

#[test]
fn every_document_has_what_its_paths_reach_and_the_rest_is_kept_apart() {
    let paths = [path("/apis/g/v1/as", &to("A")), path("/apis/g/v2/as", &to("B")), path("/logs/{x}", "{}")];
    let a = format!(r#""A":{{"items":{}}}"#, to("B"));
    let c = format!(r#""C":{{"items":{}}}"#, to("B"));
    assert_eq!(
        slices(&document(&paths.join(","), &format!(r#"{a},"B":{{}},{c}"#))),
        expected(&[
            ("apis/g/v1", document(&paths[0], &format!(r#"{a},"B":{{}}"#))),
            ("apis/g/v2", document(&paths[1], r#""B":{}"#)),
            ("components", document("", &format!(r#""B":{{}},{c}"#))),
            ("logs", document(&paths[2], "").replace(r#""schemas":{}"#, "")),
        ])
    );
}

#[test]
fn kinds_that_all_register_are_reduced_to_those_of_the_document() {
    let kinds = |groups: &[&str]| {
        let list: Vec<String> = groups
            .iter()
            .map(|group| format!(r#"{{"group":"{group}","kind":"DeleteOptions","version":"v1"}}"#))
            .collect();
        format!(r#""D":{{"x-kubernetes-group-version-kind":[{}]}}"#, list.join(","))
    };
    let paths = [path("/api/v1/x", &to("D")), path("/apis/a/v1/x", &to("D")), path("/apis/b/v2/x", &to("D"))];
    let narrowed = [&[""][..], &["", "a"], &[""]];
    let mut out: Vec<_> = ["api/v1", "apis/a/v1", "apis/b/v2"]
        .into_iter()
        .zip(paths.iter().zip(narrowed).map(|(path, groups)| document(path, &kinds(groups))))
        .collect();
    assert_eq!(slices(&document(&paths.join(","), &kinds(&["", "a"]))), expected(&out));
    // Group-versions without a document of their own would otherwise not be listed.
    out.push(("components", document("", &kinds(&["", "a", "gone"]))));
    assert_eq!(slices(&document(&paths.join(","), &kinds(&["", "a", "gone"]))), expected(&out));
}

#[test]
fn security_schemes_are_in_every_document_unless_operations_require_them() {
    let text = |paths: &str, schemes: &str| {
        format!(
            r#"{{"openapi":"3.0.0","info":null,"paths":{{{paths}}},"components":{{"securitySchemes":{{{schemes}}}}}}}"#
        )
    };
    let [a, b] = [r#""/a":{"get":{"security":[{"A":[]}]}}"#, r#""/b":{"get":{}}"#];
    let [own, all] = [r#""A":{"type":"http"}"#, r#""B":{"type":"http"}"#];
    assert_eq!(
        slices(&text(&format!("{a},{b}"), &format!("{own},{all}"))),
        expected(&[("a", text(a, &format!("{own},{all}"))), ("b", text(b, all))])
    );
}
