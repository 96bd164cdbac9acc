//! Tests of what a failed input leaves unchanged: a result that lacks it does not replace a good one.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common::{Folder, crd, json};
use std::fs;

/// Returns the end of the messages of a run: the text after the last finding.
fn end(err: &str) -> &str {
    err.rfind("error: ").map_or("", |at| &err[at..])
}

#[test]
fn a_failed_conversion_leaves_the_file_unchanged() {
    let folder = Folder::new();
    folder.write("a.yaml", crd("widgets", &["v1"]));
    folder.run("convert a.yaml --to v2 -o good.json").is_silent();
    let good = folder.read("good.json");
    folder.write("a.yaml", crd("widgets", &["v1"]).replace("versions:", "verions:"));
    // A CustomResourceDefinition without versions has no result at all.
    let run = folder.run("convert a.yaml --to v2 -o good.json");
    run.says(1, &["error[KS1010]", "--> a.yaml:"]);
    assert_eq!(folder.read("good.json"), good);
    let run = folder.run("convert a.yaml --to v2");
    assert_eq!((run.code, run.out.as_str()), (Some(1), ""));
    folder.run("convert a.yaml --to v2 -o new.json --keep-going").says(1, &[]);
    assert!(!folder.path("new.json").exists());
}

#[test]
fn a_result_that_lacks_an_input_replaces_nothing() {
    let folder = Folder::new();
    folder.write("in/a.yaml", crd("widgets", &["v1"])).write("in/b.yaml", crd("gadgets", &["v1"]));
    folder.run("convert in --to v2 -o good.json").is_silent();
    folder.run("convert in --to v3 --to v2 -o out").is_silent();
    let (good, out) = (folder.read("good.json"), folder.tree("out"));
    folder.write("in/b.yaml", "a: [");

    let run = folder.run("convert in --to v2 -o good.json");
    run.says(1, &["error[KS1001]", "--> in/b.yaml:1:"]);
    let expected = "\
error: 1 result was not written, because in/b.yaml failed
  good.json stays as it was
  help: `--keep-going` writes what the other inputs give
For more about an error, run `kubeshape explain-code KS1001`.
";
    assert_eq!(end(&run.err), expected);
    assert_eq!(folder.read("good.json"), good);

    let run = folder.run("convert in --to v3 --to v2 -o out --prune");
    let expected = "\
error: 2 results were not written, because in/b.yaml failed
  out/apis__example.com__v1_openapi.json stays as it was
  out/swagger.json stays as it was
  help: `--keep-going` writes what the other inputs give
nothing was deleted, because there were errors
For more about an error, run `kubeshape explain-code KS1001`.
";
    assert_eq!((run.code, end(&run.err)), (Some(1), expected));
    assert_eq!(folder.tree("out"), out);

    let run = folder.run("convert in --to v2");
    let expected = "\
error: the result was not written, because in/b.yaml failed
  help: `--keep-going` writes what the other inputs give
For more about an error, run `kubeshape explain-code KS1001`.
";
    assert_eq!((run.code, run.out.as_str(), end(&run.err)), (Some(1), "", expected));

    // If requested, the results of the other inputs are written.
    for line in ["convert in --to v2 -o good.json --keep-going", "convert in --to v3 --to v2 -o out --keep-going"] {
        let run = folder.run(line);
        assert_eq!((run.code, run.err.contains("stays as it was")), (Some(1), false), "{}", run.err);
    }
    let kept = json(&folder.read("good.json"));
    assert!(kept["definitions"]["com.example.v1.Widget"].is_object());
    assert!(kept["definitions"]["com.example.v1.Gadget"].is_null());
    assert_ne!(folder.tree("out"), out);
    let run = folder.run("convert in --to v2 --keep-going");
    assert_eq!((run.code, json(&run.out)), (Some(1), kept));
}

#[test]
fn without_an_earlier_result_the_incomplete_one_is_written() {
    let folder = Folder::new();
    folder.write("in/a.yaml", crd("widgets", &["v1"])).write("in/b.yaml", "a: [");
    folder.run("convert in --to v2 -o new.json").says(1, &["error[KS1001]"]);
    folder.run("convert in --to v3 -o out").says(1, &["error[KS1001]"]);
    assert!(folder.path("new.json").exists());
    assert_eq!(folder.names("out"), ["apis__example.com__v1_openapi.json"]);
}

#[test]
fn results_of_good_inputs_are_written() {
    let folder = Folder::new();
    let versions = |spec: &str| crd("widgets", &["v1"]).replace("size: {", &format!("{spec}: {{"));
    folder.write("in/a.yaml", versions("old")).write("in/b.yaml", crd("gadgets", &["v1"]));
    folder.run("convert in --to smd --to v3 --per resource -o out").is_silent();
    let before = folder.tree("out");
    folder.write("in/a.yaml", versions("new")).write("in/b.yaml", "a: [");
    folder.run("convert in --to smd --to v3 --per resource -o out").says(1, &["--> in/b.yaml"]);
    let after = folder.tree("out");
    for name in ["gadgets.example.com/schema.smd.yaml", "gadgets.example.com/v1.v3.json"] {
        assert_eq!(before[name], after[name]);
    }
    for name in ["widgets.example.com/schema.smd.yaml", "widgets.example.com/v1.v3.json"] {
        assert_ne!(before[name], after[name]);
    }
    // A resource that has an error itself.
    folder.write("in/a.yaml", crd("widgets", &["v1", "v1"]).replace("size: {", "newer: {"));
    fs::remove_file(folder.path("in/b.yaml")).unwrap();
    let run = folder.run("convert in --to smd --to v3 --per resource -o out");
    run.says(1, &["error[", "because in/a.yaml failed"]);
    assert_eq!(folder.tree("out"), after);
}

#[test]
fn an_unknown_kind_does_not_remove_other_results() {
    let folder = Folder::new();
    folder.write("a.yaml", crd("widgets", &["v1"]));
    let run = folder.run("convert a.yaml --to jsonschema --kind Widget --kind Gadget");
    run.says(1, &["no kind, resource or definition is called Gadget"]);
    assert!(json(&run.out)["properties"].is_object());
}

#[test]
fn an_error_at_the_end_leaves_all_files_unchanged() {
    let folder = Folder::new();
    folder.write("a.yaml", crd("widgets", &["v1"]));
    folder.run("convert a.yaml --to v3 --per resource -o out").is_silent();
    let before = folder.tree("out");
    folder.write("a.yaml", crd("widgets", &["v1"]).replace("size: {", "length: {"));
    // The name of a result is taken by a folder, which is noticed only after others were made.
    fs::create_dir_all(folder.path("out/swagger.json")).unwrap();
    folder.run("convert a.yaml --to v3 --to v2 --per resource -o out").is_silent();
    assert_ne!(folder.tree("out"), before);
    let before = folder.tree("out");
    folder.write("a.yaml", crd("widgets", &["v1"]).replace("size: {", "width: {"));
    folder.run("convert a.yaml --to structural --to v2 -o out").says(2, &["out/swagger.json: it is a folder"]);
    assert_eq!(folder.tree("out"), before);
}

#[test]
fn an_empty_document_is_valid() {
    let folder = Folder::new();
    folder.write("a.yaml", crd("widgets", &["v1"]).replace("served: true", "served: false"));
    let run = folder.run("convert a.yaml --to v2");
    let expected = r#"{"swagger":"2.0","info":{"title":"Kubernetes","version":"unversioned"},"paths":{}}"#;
    assert_eq!((run.code, run.out.as_str()), (Some(0), expected));
    let run = folder.run("convert a.yaml --to v2 --format yaml");
    assert!(run.out.ends_with("\npaths: {}\n"), "{}", run.out);
}

#[test]
fn an_unreadable_input_changes_the_exit_code() {
    let folder = Folder::new();
    folder.write("a.yaml", crd("widgets", &["v1"])).write("bad.yaml", "a: [");
    folder.run("convert a.yaml missing.yaml --to v3 --per resource -o out").says(2, &["error[KS1007]"]);
    assert_eq!(folder.names("out"), ["widgets.example.com/v1.v3.json"]);
    folder.run("convert a.yaml bad.yaml --to v3 --per resource -o out").says(1, &["error[KS1001]"]);
    let object = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a}\n";
    folder.write("x.yaml", object);
    for line in [
        "apply --schemas a.yaml --field-manager ci x.yaml missing.yaml",
        "apply --schemas missing.yaml --field-manager ci x.yaml",
        "update --schemas a.yaml --field-manager ci missing.yaml",
        "apply --schemas a.yaml --live missing.yaml --field-manager ci x.yaml",
        "update --schemas a.yaml --live missing.yaml --field-manager ci x.yaml",
        "blame missing.yaml",
        "blame --schemas missing.yaml x.yaml",
        "extract --schemas a.yaml --field-manager ci missing.yaml",
        "compare --schemas a.yaml x.yaml missing.yaml",
        "compare --schemas a.yaml missing.yaml x.yaml",
        "merge --schemas a.yaml x.yaml missing.yaml",
        "fieldset --schemas a.yaml missing.yaml",
        "scenario missing.yaml",
    ] {
        folder.run(line).says(2, &["error[KS1007]", "--> missing.yaml", "no such file or directory"]);
    }
    // The others are handled.
    let run = folder.run("apply --schemas a.yaml --field-manager ci missing.yaml x.yaml");
    assert!(run.out.contains("name: a"), "{}", run.out);
}

#[test]
fn a_mistyped_name_never_counts_as_an_empty_file() {
    let folder = Folder::new();
    folder.write("a.yaml", crd("widgets", &["v1"]));
    folder.write("x.yaml", "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a}\n");
    fs::create_dir(folder.path("empty")).unwrap();
    let apply = "apply --schemas a.yaml --field-manager ci --now 2024-01-01T00:00:00Z";
    let run = folder.run(&format!("{apply} --live missing.yaml x.yaml"));
    let expected = "\
error[KS1007]: The file cannot be read
--> missing.yaml
 = note: no such file or directory
 = help: Check the path and its permissions.

For more about an error, run `kubeshape explain-code KS1007`.
";
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(2), "", expected));
    let created = folder.run(&format!("{apply} x.yaml"));
    assert_eq!((created.code, created.err.as_str()), (Some(0), ""));
    assert_eq!(folder.run(&format!("{apply} --live missing.yaml --live-optional x.yaml")), created);
    assert_eq!(folder.pipe(&format!("{apply} --live - x.yaml"), ""), created);
    folder.run(&format!("{apply} --live-optional x.yaml")).says(2, &["--live"]);
    // If it cannot be checked whether a file exists, the file does not count as missing.
    folder.run(&format!("{apply} --live a.yaml/x --live-optional x.yaml")).says(2, &["error[KS1007]"]);
    folder.run(&format!("{apply} empty")).says(1, &["error[KS8009]", "--> empty", "found no files with objects"]);
    folder.run("scenario empty").says(1, &["error[KS8013]", "--> empty", "found no scenario"]);
    folder.run("convert a.yaml --to v3 --base empty").says(2, &["cannot read empty: found no documents in the folder"]);
    folder.run("serve --base empty").says(2, &["cannot read empty: found no documents in the folder"]);
}
