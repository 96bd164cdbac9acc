//! Tests of pipes that are named by a path. Every command reads them like a file.
#![cfg(unix)]
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common::{Folder, Run, crd, ssa};
use std::io::Write;
use std::process::Command;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
const SCENARIO: &str = "scenario: one
schemas:
- file: crd.yaml
steps:
- apply: {apiVersion: example.com/v1, kind: Widget, metadata: {name: a}, spec: {replicas: 1}}
  manager: ci
  expect: {object: {spec: {replicas: 1}}}
";

fn folder() -> Folder {
    let folder = Folder::new();
    let read = |name: &str| std::fs::read(format!("{ROOT}/docs/demo/frobber_{name}")).unwrap();
    folder
        .write("crd.yaml", ssa::CRD)
        .write("new.yaml", ssa::CRD.replace("replicas: {type: integer}", "replicas: {type: integer, maximum: 2}"))
        .write("live.yaml", ssa::LIVE)
        .write("config.yaml", ssa::config("replicas: 4"))
        .write("scenario.yaml", SCENARIO)
        .write("options.toml", "[check]\nkubernetes = \"1.30\"\ninputs = [\"crd.yaml\"]\n")
        .write("exempt.toml", "")
        .write("swagger.json", r#"{"swagger": "2.0", "info": {"title": "a", "version": "1"}, "paths": {}}"#)
        .write("types.go", read("types.go"))
        .write("features.go", read("features.go"))
        .write("openapi.yaml", read("openapi.yaml"));
    folder
}

/// Command lines with `FILE` for a pipe, each with the file whose text the pipe provides.
const LINES: [(&str, &str); 44] = [
    ("convert FILE --to v2", "crd.yaml"),
    ("convert -f FILE --to jsonschema -o out", "crd.yaml"),
    ("convert crd.yaml --to v2 --base FILE", "openapi.yaml"),
    ("convert crd.yaml --to v2 --onto FILE", "swagger.json"),
    ("check FILE", "crd.yaml"),
    ("check FILE --fix --diff", "crd.yaml"),
    ("check new.yaml --against FILE", "crd.yaml"),
    ("check FILE --against crd.yaml", "new.yaml"),
    ("check --config FILE", "options.toml"),
    ("config --config FILE", "options.toml"),
    ("diff FILE new.yaml", "crd.yaml"),
    ("diff crd.yaml FILE --witness", "new.yaml"),
    ("diff crd.yaml new.yaml --exempt FILE", "exempt.toml"),
    ("upgrade FILE new.yaml", "crd.yaml"),
    ("upgrade crd.yaml FILE -o steps", "new.yaml"),
    ("upgrade crd.yaml new.yaml --objects FILE", "live.yaml"),
    ("validate --schemas crd.yaml FILE", "config.yaml"),
    ("validate --schemas FILE config.yaml", "crd.yaml"),
    ("validate --schemas crd.yaml --old FILE config.yaml", "live.yaml"),
    ("validate --schemas FILE --old live.yaml config.yaml", "crd.yaml"),
    ("apply --schemas FILE --live live.yaml --now 2024-02-01T00:00:00Z --field-manager ci config.yaml", "crd.yaml"),
    (
        "apply --schemas crd.yaml --live FILE --now 2024-02-01T00:00:00Z --field-manager kubectl config.yaml",
        "live.yaml",
    ),
    (
        "apply --schemas crd.yaml --live live.yaml --now 2024-02-01T00:00:00Z --field-manager kubectl FILE",
        "config.yaml",
    ),
    ("update --schemas crd.yaml --live FILE --now 2024-02-01T00:00:00Z --field-manager ci config.yaml", "live.yaml"),
    ("blame --schemas crd.yaml FILE", "live.yaml"),
    ("extract --schemas crd.yaml --field-manager kubectl FILE", "live.yaml"),
    ("compare --schemas crd.yaml FILE config.yaml", "live.yaml"),
    ("compare --schemas crd.yaml live.yaml FILE", "config.yaml"),
    ("merge --schemas FILE live.yaml config.yaml", "crd.yaml"),
    ("fieldset --schemas crd.yaml FILE", "live.yaml"),
    ("table --schemas FILE live.yaml", "crd.yaml"),
    ("table --schemas crd.yaml FILE", "live.yaml"),
    ("explain --schemas FILE widgets.spec", "crd.yaml"),
    ("sample --schemas FILE widgets", "crd.yaml"),
    ("test FILE --schemas crd.yaml", "scenario.yaml"),
    ("test FILE --schemas crd.yaml --update", "scenario.yaml"),
    ("lifecycle lint FILE --features features.go", "types.go"),
    ("lifecycle lint types.go --features FILE", "features.go"),
    ("lifecycle annotate FILE --types types.go --features features.go", "openapi.yaml"),
    ("lifecycle annotate openapi.yaml --types types.go --features FILE", "features.go"),
    ("lifecycle table --types FILE", "types.go"),
    ("lifecycle diff types.go FILE", "types.go"),
    ("lifecycle diff FILE types.go", "features.go"),
    ("lifecycle warn --schemas FILE live.yaml", "crd.yaml"),
];

/// Returns the output of a run, where the name of the pipe is replaced by that of the file.
fn named(run: &Run, pipe: &str, file: &str) -> (Option<i32>, String, String) {
    // Line breaks differ, and frames are as wide as the name.
    let same = |text: &str| {
        let text = text.replace(pipe, file);
        text.split_whitespace().filter(|word| !word.chars().all(|c| "─-".contains(c))).collect::<Vec<_>>().join(" ")
    };
    (run.code, same(&run.out), same(&run.err))
}

#[track_caller]
fn same(line: &str, file: &str, pipe: &str, run: impl Fn(&Folder, &str) -> Run) {
    let (of_file, of_pipe) = (folder(), folder());
    let expected = of_file.run(&line.replace("FILE", file));
    let found = run(&of_pipe, &line.replace("FILE", pipe));
    assert_eq!(named(&found, pipe, file), named(&expected, file, file), "{line}");
    assert_ne!(found.code, Some(2), "{line}: {}", found.err);
    for folder in ["out", "steps"] {
        let result = |of: &Folder| of.tree(folder);
        assert_eq!(result(&of_pipe), result(&of_file), "{line}");
    }
}

#[test]
fn every_command_reads_standard_input_by_its_path() {
    for (line, file) in LINES {
        // An update changes a file in place, but for a pipe it prints the result.
        if line.contains("--update") {
            continue;
        }
        same(line, file, "/dev/stdin", |folder, line| folder.pipe(line, folder.bytes(file)));
    }
}

#[test]
fn every_command_reads_a_fifo() {
    for (line, file) in LINES {
        if line.contains("--update") {
            continue;
        }
        same(line, file, "fifo", |folder, line| {
            let path = folder.path("fifo");
            assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
            let bytes = folder.bytes(file);
            let writer = std::thread::spawn(move || {
                std::fs::OpenOptions::new().write(true).open(path).unwrap().write_all(&bytes)
            });
            let run = folder.run(line);
            writer.join().unwrap().unwrap();
            run
        });
    }
}

#[test]
fn both_inputs_may_be_pipes_from_commands() {
    let folder = folder();
    let bash = |line: &str| {
        let mut command = Command::new("bash");
        command.args(["-c", &format!("\"$0\" {line}"), env!("CARGO_BIN_EXE_kubeshape")]).current_dir(folder.path(""));
        command.env_remove("COLUMNS").output().ok().map(|output| Run::of(&output))
    };
    let Some(run) = bash("diff <(cat crd.yaml) <(cat new.yaml) --output-format short") else { return };
    let expected = folder.run("diff crd.yaml new.yaml --output-format short");
    assert_eq!((run.code, run.out.lines().count()), (expected.code, expected.out.lines().count()), "{}", run.err);
    assert!(run.out.starts_with("/dev/fd/"), "{}", run.out);
    let run = bash("check <(gzip -c crd.yaml) <(cat new.yaml) - </dev/null").unwrap();
    assert!(run.out.contains("is already defined in"), "{}", run.out);
    let run = bash("validate --schemas <(cat crd.yaml) --schemas <(cat new.yaml) <(cat config.yaml)").unwrap();
    assert_eq!(run.code, Some(0), "{}", run.err);
}

#[test]
fn a_pipe_is_read_only_once() {
    let folder = folder();
    for (line, name) in [
        ("check - --against -", "standard input can be read once: give `-` once"),
        ("check /dev/stdin --against -", "standard input can be read once: give `/dev/stdin` once"),
        ("check - --against /dev/stdin", "standard input can be read once"),
        ("check - /dev/fd/0", "standard input can be read once"),
        ("diff /dev/fd/0 /dev/stdin", "standard input can be read once"),
        ("convert - --base /dev/stdin --to v2", "standard input can be read once"),
        ("validate --schemas - --old /dev/stdin live.yaml", "standard input can be read once"),
        ("lifecycle lint /dev/stdin --features /dev/stdin", "standard input can be read once"),
        ("lifecycle annotate - --types /dev/stdin", "standard input can be read once"),
        ("serve - --base /dev/stdin", "standard input can be read once"),
    ] {
        folder.pipe(line, ssa::CRD).says(2, &[name]);
    }
}

#[test]
fn a_suite_from_a_pipe_is_printed_and_not_written() {
    let folder = folder();
    let wrong = SCENARIO.replace("replicas: 1}}}", "replicas: 7}}}");
    let run = folder.pipe("test /dev/stdin --schemas crd.yaml --update", &wrong);
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(run.out.contains("replicas: 1"), "{}", run.out);
}

#[test]
fn a_missing_file_is_not_a_pipe() {
    let folder = folder();
    let run = folder.run("check /dev/fd/99");
    assert!(run.code == Some(2) && run.out.contains("--> /dev/fd/99"), "{run:?}");
    folder.run("diff /proc/self/fd/99 crd.yaml").says(2, &["no such file or directory"]);
    let run = folder.run("check /dev/null");
    assert!(run.code == Some(1) && run.out.contains("no CustomResourceDefinition found"), "{run:?}");
    // A pipe in a folder is skipped, because reading it without a writer would never end.
    folder.write("in/a.yaml", crd("widgets", &["v1"]));
    assert!(Command::new("mkfifo").arg(folder.path("in/b.yaml")).status().unwrap().success());
    assert_eq!(folder.run("check in").code, Some(0));
}
