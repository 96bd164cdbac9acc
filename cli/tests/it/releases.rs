//! Tests of `--kubernetes` and `--emulate`: commands follow the requested release.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common::Folder;
use crate::common::client::send;
use crate::serve::Server;

/// Up to 1.35, the range of int32 is not checked.
const CRD: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tabs.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: tabs, kind: Tab}
  versions:
  - name: v1
    served: true
    storage: true
    selectableFields: [{jsonPath: .color}]
    schema:
      openAPIV3Schema:
        type: object
        properties:
          size: {type: integer, format: int32, example: 1}
          color: {type: string}
          list: {type: array, maxItems: 1, items: {type: string}}
";

const BIG: &str = "{apiVersion: example.com/v1, kind: Tab, metadata: {name: a}, size: 5000000000}";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("crd.yaml", CRD).write("big.yaml", BIG);
    folder
}

#[test]
fn convert_publishes_what_the_release_publishes() {
    let folder = folder();
    let document =
        |release: &str| folder.run(&format!("convert crd.yaml --to v3 --per single --kubernetes {release} -o -")).out;
    let has = |text: &str| -> Vec<&str> {
        let all = ["1.28", "1.30", "1.31", "1.35", "1.36", "1.36.1", "v1.37.2"];
        all.into_iter().filter(|release| document(release).contains(text)).collect()
    };
    assert_eq!(has("selectable-fields"), ["1.31", "1.35", "1.36", "1.36.1", "v1.37.2"]);
    assert_eq!(has("\"example\":1"), ["1.36", "1.36.1", "v1.37.2"]);
    assert_eq!(document("1.37"), folder.run("convert crd.yaml --to v3 --per single -o -").out);
}

#[test]
fn a_server_judges_objects_like_the_release_that_it_emulates() {
    let folder = folder();
    std::fs::create_dir(folder.path("objects")).unwrap();
    let body = r#"{"apiVersion":"example.com/v1","kind":"Tab","metadata":{"name":"a"},"size":5000000000}"#;
    let code = |options: &str| {
        let server = Server::start(&folder, &format!("crd.yaml --objects objects {options}"));
        let path = "/apis/example.com/v1/namespaces/default/tabs";
        send(&server.address, "POST", path, "application/json", body).expect("an answer").code
    };
    assert_eq!(code(""), 422);
    assert_eq!(code("--emulate 1.30"), 201);
    assert_eq!(code("--emulate 1.36"), 422);
    assert_eq!(code("--kubernetes 1.34"), 201);
}

#[test]
fn validate_accepts_patch_releases() {
    let folder = folder();
    let code = |release: &str| folder.run(&format!("validate --schemas crd.yaml --kubernetes {release} big.yaml")).code;
    assert_eq!((code("v1.35.2"), code("1.28"), code("1.36.1"), code("1.37")), (Some(0), Some(0), Some(1), Some(1)));
}

#[test]
fn suites_run_like_the_release_and_find_the_release_of_their_words() {
    let folder = folder();
    let suite = |message: &str| {
        format!(
            "name: Tab\ncrdName: tabs.example.com\ntests:\n  onCreate:\n  - name: long\n    initial: |\n      apiVersion: \
             example.com/v1\n      kind: Tab\n      list: [a, b]\n    expectedError: '{message}'\n"
        )
    };
    let old = "list: Too many: 2: must have at most 1 items";
    let new = "list: Too many: 2: must have at most 1 item";
    for (message, options, passes) in [
        (old, "--kubernetes 1.30", true),
        (old, "--kubernetes 1.36", false),
        (new, "--kubernetes 1.36", true),
        (old, "", true),
        (new, "", true),
        ("list: Too many: 3", "", false),
    ] {
        folder.write("suite.yaml", suite(message));
        let run = folder.run(&format!("test --schemas crd.yaml suite.yaml {options}"));
        assert_eq!(run.code, Some(i32::from(!passes)), "{message} {options}: {}{}", run.out, run.err);
    }
}
