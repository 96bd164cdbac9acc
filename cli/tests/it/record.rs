//! Tests of the record of an output folder: what is deleted, what is skipped, and that nothing else is changed.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common::{Folder, crd, json};
use std::fs;

const RECORD: &str = "out/.kubeshape.json";

/// Returns a folder `out` with results of two resources.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("a.yaml", crd("widgets", &["v1"])).write("b.yaml", crd("gadgets", &["v1", "v2"]));
    folder.run("convert a.yaml b.yaml --to v3 --per resource -o out").is_silent();
    folder
}

const PRUNE: &str = "convert a.yaml --to v3 --per resource -o out --prune";

#[test]
fn a_folder_of_results_has_a_record() {
    let folder = folder();
    let names = folder.names("out");
    assert_eq!(folder.recorded("out"), names);
    // Runs with other inputs or to other shapes add to the record.
    folder.run("convert a.yaml --to v2 -o out").is_silent();
    assert_eq!(folder.recorded("out"), folder.names("out"));
    assert_eq!(folder.names("out").len(), names.len() + 1);
    let record = folder.read(RECORD);
    folder.run("convert a.yaml --to v2 -o out --jobs 1").is_silent();
    assert_eq!(folder.read(RECORD), record, "the same results give the same record");
    assert!(record.starts_with("{\n  \"about\": \"") && record.ends_with("\"\n  }\n}\n"), "{record}");
    let digest = json(&record)["files"]["swagger.json"].as_str().unwrap().to_owned();
    assert!(digest.starts_with("sha256:") && digest.len() == 71, "{digest}");
}

#[test]
fn a_record_is_not_an_input() {
    let folder = Folder::new();
    folder.write("a.yaml", crd("widgets", &["v1"])).write("x.yaml", OBJECT);
    folder.run("convert a.yaml --to v3 -o out").is_silent();
    assert_eq!(folder.recorded("out").len(), 1);
    folder.run("convert out --to v3 --strict-input -o again").is_silent();
    folder.run("convert a.yaml --to v3 --base out -o again").is_silent();
    let run = folder.run("fieldset --schemas out x.yaml");
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
}

const OBJECT: &str = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a}\n";

#[test]
fn a_single_output_file_has_no_record() {
    let folder = Folder::new();
    folder.write("in/a.yaml", crd("widgets", &["v1"]));
    folder.run("convert in/a.yaml --to v2 -o x.json").is_silent();
    folder.run("convert in --to v2 -o x.json").is_silent();
    folder.run("convert in/a.yaml --to v2 -o in/x.json").is_silent();
    folder.run("convert in/a.yaml --to v2").says(0, &[]);
    for record in [".kubeshape.json", "in/.kubeshape.json"] {
        assert!(!folder.path(record).exists(), "{record}");
    }
}

#[test]
fn files_of_others_are_never_deleted() {
    let folder = Folder::new();
    folder.write("widgets.yaml", crd("widgets", &["v1"]));
    let own = ["openapi.json", "swagger.json", "my.docs/v1.schema.json", "apis__mine__v1_openapi.json"];
    for name in own {
        folder.write(name, "mine");
    }
    let run = folder.run("convert widgets.yaml --to v3 -o . --prune");
    let expected = "\
kept 4 files that are named like results but not in .kubeshape.json:
  ./apis__mine__v1_openapi.json
  ./my.docs/v1.schema.json
  ./openapi.json
  ./swagger.json
  help: `--adopt` instead of `--prune` adds them to .kubeshape.json
";
    assert_eq!((run.code, run.err.as_str()), (Some(0), expected));
    for name in own {
        assert_eq!(folder.read(name), "mine");
    }
    assert_eq!(folder.recorded("."), ["apis__example.com__v1_openapi.json"]);
}

#[test]
fn older_results_stay_unless_they_are_pruned() {
    let folder = folder();
    folder.write("out/README.md", "").write("out/gadgets.example.com/notes.yaml", "");
    let before = folder.names("out");
    folder.run("convert a.yaml --to v3 --per resource -o out").is_silent();
    assert_eq!(folder.names("out"), before);

    // Nothing is deleted if anything failed.
    folder.write("bad.yaml", "a: [");
    folder
        .run("convert a.yaml bad.yaml --to v3 --per resource -o out --prune")
        .says(1, &["nothing was deleted, because there were errors"]);
    assert_eq!(folder.names("out"), before);

    let run = folder.run(PRUNE);
    let expected = "deleted out/gadgets.example.com/v1.v3.json\ndeleted out/gadgets.example.com/v2.v3.json\n";
    assert_eq!((run.code, run.err.as_str()), (Some(0), expected));
    assert_eq!(folder.names("out"), ["README.md", "gadgets.example.com/notes.yaml", "widgets.example.com/v1.v3.json"]);
    assert_eq!(folder.recorded("out"), ["widgets.example.com/v1.v3.json"]);
    folder.run(PRUNE).is_silent();
    let run = folder.run("convert b.yaml --to v3 --per resource -o out --prune");
    assert_eq!((run.code, run.err.as_str()), (Some(0), "deleted out/widgets.example.com/v1.v3.json\n"));
    assert!(!folder.path("out/widgets.example.com").exists(), "folders that are empty go as well");
}

#[test]
fn a_changed_result_stays() {
    let folder = folder();
    folder.write("out/gadgets.example.com/v1.v3.json", "edited");
    let run = folder.run(PRUNE);
    let expected = "\
deleted out/gadgets.example.com/v2.v3.json
kept out/gadgets.example.com/v1.v3.json, which changed since kubeshape wrote it
";
    assert_eq!((run.code, run.err.as_str()), (Some(0), expected));
    assert_eq!(folder.read("out/gadgets.example.com/v1.v3.json"), "edited");
    folder.run(PRUNE).says(0, &["kept out/gadgets.example.com/v1.v3.json"]);
    // A file that was deleted counts as deleted.
    fs::remove_file(folder.path("out/gadgets.example.com/v1.v3.json")).unwrap();
    folder.run(PRUNE).is_silent();
    assert_eq!(folder.recorded("out"), ["widgets.example.com/v1.v3.json"]);
}

#[test]
fn a_dry_run_changes_nothing() {
    let folder = folder();
    folder.write("a.yaml", crd("widgets", &["v1", "v3"]).replace("v3\n", "v3\n    deprecated: true\n"));
    folder.write("out/openapi.json", "mine");
    folder.write("out/widgets.example.com/v1.v3.json", "edited");
    let (before, record) = (folder.tree("."), folder.read(RECORD));
    let run = folder.run("convert a.yaml --to v3 --per resource -o out --prune --dry-run --report r.ndjson");
    let expected = "\
would write out/widgets.example.com/v1.v3.json (changed)
would write out/widgets.example.com/v3.v3.json (new)
would delete out/gadgets.example.com/v1.v3.json
would delete out/gadgets.example.com/v2.v3.json
would write r.ndjson (a report)
";
    assert_eq!((run.code, run.out.as_str()), (Some(0), expected), "{}", run.err);
    let run = folder.run("convert b.yaml --to v3 --per resource -o out --adopt --dry-run");
    let expected = "\
would write out/gadgets.example.com/v1.v3.json (unchanged)
would write out/gadgets.example.com/v2.v3.json (unchanged)
would adopt out/openapi.json
";
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(0), expected, ""));
    let run = folder.run("convert a.yaml --to v2 -o new/x.json --dry-run");
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(0), "would write new/x.json (new)\n", ""));
    folder.run("convert a.yaml --to v3 -o new/out --dry-run").says(0, &[]);
    folder.run("convert a.yaml --to v2 --dry-run").says(2, &["--dry-run lists files"]);
    assert_eq!((folder.tree("."), folder.read(RECORD)), (before, record));
    assert!(!folder.path("new").exists());
}

#[test]
fn a_folder_can_be_adopted() {
    let folder = folder();
    fs::remove_file(folder.path(RECORD)).unwrap();
    folder.write("out/notes.json", "mine").write("out/deep/er/v1.v3.json", "mine");
    folder.run("convert a.yaml --to v3 --per resource -o out --adopt --prune").says(2, &["--adopt", "--prune"]);
    let run = folder.run("convert a.yaml --to v3 --per resource -o out --adopt");
    let expected = "adopted out/gadgets.example.com/v1.v3.json\nadopted out/gadgets.example.com/v2.v3.json\n";
    assert_eq!((run.code, run.err.as_str()), (Some(0), expected));
    folder.write("out/gadgets.example.com/v2.v3.json", "edited");
    folder
        .run(PRUNE)
        .says(0, &["deleted out/gadgets.example.com/v1.v3.json", "kept out/gadgets.example.com/v2.v3.json"]);
    assert_eq!(
        folder.names("out"),
        ["deep/er/v1.v3.json", "gadgets.example.com/v2.v3.json", "notes.json", "widgets.example.com/v1.v3.json"]
    );
}

#[test]
fn an_unusable_record_deletes_nothing_and_stays() {
    let folder = folder();
    let good = folder.read(RECORD);
    let names = folder.names("out");
    let digest = format!("sha256:{}", "0".repeat(64));
    let with = |name: &str| serde_json::json!({"format": 1, "files": {name: digest}}).to_string();
    for (record, message) in [
        (good.replace("\"format\"", "<<<<<<< HEAD\n  \"format\""), "expected"),
        (good[..good.len() / 2].to_owned(), "expected"),
        (String::new(), "found 0 documents, expected one"),
        (good.replace("\"format\": 1", "\"format\": 2"), "found format 2, expected format 1, which this release reads"),
        (with("../a.yaml"), "found \"../a.yaml\", expected the name of a result in this folder"),
        (with("/etc/passwd.json"), "found \"/etc/passwd.json\""),
        (with("x/../../a.yaml"), "found \"x/../../a.yaml\""),
        (with(".git/config.json"), "found \".git/config.json\""),
        (with("README.md"), "found \"README.md\""),
    ] {
        folder.write(RECORD, &record);
        for line in [PRUNE, "convert a.yaml --to v3 --per resource -o out"] {
            let run = folder.run(line);
            run.says(1, &["error[KS1101]", "--> out/.kubeshape.json", message]);
            assert_eq!((folder.names("out"), folder.read(RECORD)), (names.clone(), record.clone()), "{line}");
        }
    }
    // The results are written.
    fs::remove_file(folder.path("out/widgets.example.com/v1.v3.json")).unwrap();
    folder.run(PRUNE).says(1, &["nothing was deleted"]);
    assert_eq!(folder.names("out"), names);
    let message = folder.run(PRUNE).err;
    let expected = "\
error[KS1101]: The record of results cannot be used; nothing is deleted
 --> out/.kubeshape.json:1:11
  |
1 | {\"files\":{\"README.md\":\"sha256:0000000000000000000000000000000000000000000...
  |           ^^^^^^^^^^^
  |
  = note: found \"README.md\", expected the name of a result in this folder
";
    assert!(message.starts_with(expected), "{message}");
}

#[test]
fn a_hostile_record_reaches_nothing_outside() {
    let folder = folder();
    folder.write("victim.json", "mine").write("victims/v1.v3.json", "mine").write("out/victim.d/x.json/y", "mine");
    let digest = "sha256:".to_owned() + &hex(b"mine");
    let record = |names: &[&str]| {
        let files: serde_json::Map<_, _> =
            names.iter().map(|name| ((*name).to_owned(), digest.clone().into())).collect();
        folder.write(RECORD, serde_json::json!({"format": 1, "files": files}).to_string());
    };
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("../victim.json", folder.path("out/link.json")).unwrap();
        std::os::unix::fs::symlink("../victims", folder.path("out/linked")).unwrap();
    }
    record(&["link.json", "linked/v1.v3.json", "victim.d/x.json", "widgets.example.com/v1.v3.json"]);
    let before = folder.tree(".");
    let run = folder.run(PRUNE);
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(!run.err.contains("deleted"), "{}", run.err);
    assert_eq!(folder.tree("."), before);
    // A record that is a link is not followed, and not replaced.
    #[cfg(unix)]
    {
        folder.write("elsewhere.json", folder.read(RECORD));
        fs::remove_file(folder.path(RECORD)).unwrap();
        std::os::unix::fs::symlink("../elsewhere.json", folder.path(RECORD)).unwrap();
        folder.run(PRUNE).says(1, &["error[KS1101]", "found a link, expected a file"]);
        assert!(folder.path(RECORD).is_symlink());
    }
}

fn hex(bytes: &[u8]) -> String {
    use sha2::Digest as _;
    sha2::Sha256::digest(bytes).iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

#[test]
fn inputs_and_reports_in_the_output_folder_stay() {
    let folder = folder();
    folder.write("out/b.yaml", crd("gadgets", &["v1"]));
    let mine = "sha256:".to_owned() + &hex(folder.read("out/b.yaml").as_bytes());
    let record = folder.read(RECORD).replace("\"files\": {", &format!("\"files\": {{\n    \"b.yaml\": \"{mine}\","));
    folder.write(RECORD, record);
    let run = folder.run("convert a.yaml out/b.yaml --to v2 -o out --prune --report out/r.ndjson");
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert_eq!(folder.names("out"), ["b.yaml", "r.ndjson", "swagger.json"]);
}

#[test]
fn an_output_among_the_inputs_is_written_again() {
    let folder = Folder::new();
    folder.write("a.yaml", crd("widgets", &["v1"]));
    folder.run("convert . --to v2 -o swagger.json").is_silent();
    let first = folder.read("swagger.json");
    let run = folder.run("convert . --to v2 -o swagger.json");
    assert_eq!((run.code, run.err.as_str()), (Some(0), "note: skipped swagger.json, which is the output\n"));
    assert_eq!(folder.read("swagger.json"), first);
    // Other inputs give another result.
    folder.write("b.yaml", crd("gadgets", &["v1"]));
    folder.run("convert . --to v2 -o swagger.json").says(0, &[]);
    assert!(json(&folder.read("swagger.json"))["definitions"]["com.example.v1.Gadget"].is_object());
    folder.run("convert . --to v2 -o swagger.json").says(0, &["note: skipped swagger.json"]);
    // A file of another program is neither skipped nor replaced.
    folder.write("swagger.json", &first);
    let run = folder.run("convert . --to v2 -o swagger.json");
    let expected = "\
error: the output swagger.json is one of the inputs: kubeshape did not write
       what it holds; give another name with `-o`, or add `--adopt` to replace
       it

For more, try `kubeshape --help`.
";
    assert_eq!((run.code, run.err.as_str()), (Some(2), expected));
    assert_eq!(folder.read("swagger.json"), first);
    folder.run("convert . --to v2 -o swagger.json --adopt").says(0, &["note: skipped swagger.json"]);
    assert_ne!(folder.read("swagger.json"), first);
    // If it is named explicitly, it is read.
    folder.run("convert a.yaml swagger.json --to v2 -o swagger.json").says(2, &["swagger.json is one of the inputs"]);
}

#[test]
fn results_below_an_input_folder_are_skipped() {
    let folder = Folder::new();
    folder.write("in/a.yaml", crd("widgets", &["v1"]));
    folder.run("convert in --to jsonschema --to v2 -o in/api").is_silent();
    let run = folder.run("convert in --to v2 -o other");
    assert_eq!((run.code, run.err.as_str()), (Some(0), "note: skipped 2 files in in/api, which kubeshape wrote\n"));
    assert_eq!(folder.read("other/swagger.json"), folder.read("in/api/swagger.json"));
    folder.run("convert in --to v2 -o other -q").is_silent();
    // A folder that is named explicitly is read, and so is a file that was changed.
    folder.run("convert in/api --to v3 -o again").is_silent();
    assert_eq!(folder.names("again"), ["openapi.json"]);
    folder.write("in/api/swagger.json", crd("gadgets", &["v1"]));
    let run = folder.run("convert in --to v3 --per resource -o more");
    assert_eq!((run.code, run.err.as_str()), (Some(0), "note: skipped 1 file in in/api, which kubeshape wrote\n"));
    assert_eq!(folder.names("more"), ["gadgets.example.com/v1.v3.json", "widgets.example.com/v1.v3.json"]);
    folder.write("in/api/.kubeshape.json", "{");
    folder.run("convert in --to v3 --per resource -o more").says(1, &["error[KS1101]", "--> in/api/.kubeshape.json"]);
}
