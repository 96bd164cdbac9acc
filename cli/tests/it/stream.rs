//! Tests of `kubeshape stream`, which reads rows and writes answers, and of `kubeshape krm` and `kubectl-shape`, other
//! names of the program.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common::{Folder, Run, crd, json};
use std::process::{Command, Stdio};

const GOOD: &str = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}";

fn answers(run: &Run) -> Vec<serde_json::Value> {
    run.out.lines().map(json).collect()
}

#[test]
fn a_broken_row_in_the_middle_gets_an_answer() {
    let folder = Folder::new();
    folder.write("crds/tabs.yaml", crd("tabs", &["v1"]));
    let row = |id: usize, text: &str| format!("{}\n", serde_json::json!({ "id": id, "text": text, "name": "x.yaml" }));
    let mut rows: String = (0..50).map(|id| row(id, GOOD)).collect();
    rows.push_str("{\"id\": 50, \"text\": \n");
    rows.push_str(&row(51, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, dat: {}}"));
    rows.extend((52..100).map(|id| row(id, GOOD)));
    let run = folder.pipe("stream validate --schemas crds --kubernetes 1.36 --ordered -j 3", rows);
    let answers = answers(&run);
    assert_eq!((run.code, answers.len()), (Some(0), 100), "{}", run.err);
    assert_eq!(run.err, "100 rows: 98 accepted, 2 refused\n");
    let verdict = |at: usize| (answers[at]["verdict"].as_str().unwrap(), answers[at]["line"].as_u64().unwrap());
    assert_eq!((verdict(49), verdict(50), verdict(51)), (("accepted", 50), ("refused", 51), ("refused", 52)));
    let finding = &answers[51]["findings"][0];
    assert_eq!(
        (&finding["code"], &finding["input"], &finding["line"]),
        (&"KS8102".into(), &"x.yaml".into(), &1.into())
    );
}

#[test]
fn definitions_are_checked_converted_and_compared() {
    let folder = Folder::new();
    let tabs = crd("tabs", &["v1"]);
    let rows = format!("{}\n{{\"id\": 1, \"object\": {{}}}}", serde_json::json!({ "id": 0, "text": tabs }));
    let run = folder.pipe("stream check --kubernetes all --ordered", &rows);
    assert_eq!(answers(&run).iter().map(|it| it["verdict"].clone()).collect::<Vec<_>>(), ["accepted", "nothing"]);
    let run = folder.pipe("stream convert --to v3,smd --ordered -q", &rows);
    assert_eq!(run.err, "");
    let results = answers(&run)[0]["results"].as_array().unwrap().clone();
    assert_eq!(results.iter().map(|it| it["shape"].as_str().unwrap()).collect::<Vec<_>>(), ["v3", "smd"]);
    let change = serde_json::json!({ "id": "a", "old": tabs, "new": crd("tabs", &["v2"]) }).to_string();
    let run = folder.pipe("stream diff", change);
    assert_eq!(answers(&run)[0]["verdict"], "breaking");
    let run = folder.pipe("stream convert --to v4", "");
    assert_eq!(run.code, Some(2));
    assert!(run.err.contains("expected one of v3, v2, smd, jsonschema, structural"), "{}", run.err);
}

#[test]
fn rows_can_name_files_only_if_allowed() {
    let folder = Folder::new();
    folder.write("a.yaml", GOOD);
    let rows = "{\"id\": 1, \"path\": \"a.yaml\"}\n{\"id\": 2, \"path\": \"b.yaml\"}\n";
    let verdicts = |options: &str| {
        let run = folder.pipe(&format!("stream validate --kubernetes 1.36 --ordered {options}"), rows);
        answers(&run).iter().map(|it| it["verdict"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(verdicts(""), ["refused", "refused"]);
    assert_eq!(verdicts("--paths"), ["accepted", "refused"]);
}

#[test]
fn unreadable_schemas_end_the_command() {
    let folder = Folder::new();
    folder.write("broken.yaml", "kind: [");
    let run = folder.pipe("stream validate --schemas broken.yaml", "{}\n");
    assert_eq!((run.code, run.out.as_str()), (Some(2), ""));
    assert!(run.err.contains("broken.yaml:1:8"), "{}", run.err);
}

#[test]
fn findings_can_be_a_gitlab_document() {
    let folder = Folder::new();
    folder.write("a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndat: {}\n");
    let run = folder.run("validate --kubernetes 1.36 --output-format gitlab a.yaml");
    let document = json(&run.out);
    assert_eq!(document[0]["location"], json(r#"{"path": "a.yaml", "lines": {"begin": 4}}"#));
    assert_eq!((&document[0]["check_name"], &document[0]["severity"]), (&"KS8102".into(), &"major".into()));
    folder.write("a.yaml", GOOD);
    assert_eq!(folder.run("validate --kubernetes 1.36 --output-format gitlab a.yaml").out, "[]\n");
}

/// Runs a copy of the program with another name.
#[cfg(unix)]
fn named(folder: &Folder, name: &str, arguments: &[&str], input: &str) -> Run {
    use std::io::Write;
    let link = folder.path(name);
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_kubeshape"), &link).unwrap();
    let mut command = Command::new(link);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    Run::of(&child.wait_with_output().unwrap())
}

#[cfg(unix)]
#[test]
fn the_program_name_selects_its_behaviour() {
    let folder = Folder::new();
    let help = named(&folder, "kubectl-shape", &["check", "--help"], "");
    assert!(help.out.contains("Usage: kubectl shape check"), "{}", help.out);
    let item = GOOD.replace("}}", "}, dat: {}}");
    let list = format!("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- {item}\n");
    let run = named(&folder, "kubeshape-krm", &[], &list);
    assert_eq!(run.code, Some(1));
    assert!(run.out.starts_with(&list) && run.out.contains("\nresults: [{"), "{}", run.out);
    assert!(run.err.contains("KS8102"), "{}", run.err);
}
