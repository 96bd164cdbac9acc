//! `kubeshape trim`.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common::{Folder, crd_with_schema, gzip};

/// Returns a definition with a description of this number of bytes.
fn large(bytes: usize) -> String {
    let words = "Some words. ".repeat(bytes / 12);
    crd_with_schema(&format!(
        "{{type: object, properties: {{spec: {{type: object, description: \"{words}\", properties: {{size: {{type: integer, description: How large it is}}}}}}}}}}"
    )) + "# the end\n"
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("crds/large.yaml", large(300_000)).write("crds/small.yaml", large(100).replace("widgets", "tabs"));
    folder.write("crds/other.yaml", "kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\n");
    folder
}

#[test]
fn definitions_are_trimmed_until_they_fit_and_other_files_stay() {
    let folder = folder();
    let run = folder.run("trim crds -o out");
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert_eq!(run.out, "");
    assert!(run.words().contains("1 descriptions shortened (-"), "{}", run.err);
    assert!(run.words().contains("2 definitions, 1 trimmed:"), "{}", run.err);
    assert_eq!(folder.names("out"), ["large.yaml", "other.yaml", "small.yaml"]);
    let out = folder.read("out/large.yaml");
    assert!(out.contains("description: Some words.,") || out.contains("description: \"Some words.\""), "{out}");
    assert!(out.ends_with("# the end\n"));
    for name in ["other.yaml", "small.yaml"] {
        assert_eq!(folder.read(&format!("out/{name}")), folder.read(&format!("crds/{name}")));
    }
    // Nothing is left to do.
    let run = folder.run("trim out --in-place");
    assert!(run.words().contains("2 definitions: nothing to trim."), "{}", run.err);
    assert_eq!(folder.read("out/large.yaml"), out);
    // Only texts differ.
    let run = folder.run("diff crds out");
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    assert!(run.words_out().contains("cosmetic") && !run.words_out().contains("breaking"), "{}", run.out);
}

#[test]
fn files_are_edited_and_diffs_are_shown() {
    let folder = folder();
    let before = folder.read("crds/small.yaml");
    let run = folder.run("trim crds/small.yaml --descriptions none --diff");
    assert_eq!(run.code, Some(1), "{}", run.err);
    assert!(run.out.starts_with("--- a/crds/small.yaml\n+++ b/crds/small.yaml\n@@ "), "{}", run.out);
    assert!(run.words().contains("Nothing is written."), "{}", run.err);
    assert_eq!(folder.read("crds/small.yaml"), before);
    folder.run("trim crds/small.yaml --descriptions none --only-if-needed --in-place").says(0, &["nothing to trim"]);
    assert_eq!(folder.read("crds/small.yaml"), before);
    let run = folder.run("trim crds/small.yaml --descriptions none --in-place");
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(!folder.read("crds/small.yaml").contains("description"));
    let run = folder.run("trim crds/large.yaml --descriptions 1");
    assert!(run.out.contains("Some words") && !run.out.contains("How large"));
    let run = folder.run("trim crds/large.yaml --longest 20 --output-format json");
    assert!(run.out.contains("description: \"Some words. Some…\"") || run.out.contains("Some words…"), "{}", run.out);
    assert!(run.err.contains(r#""fits":true"#), "{}", run.err);
    let run = folder.pipe("trim --fit 200KiB", large(300_000));
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(run.out.len() < 200 << 10);
}

#[test]
fn what_cannot_fit_and_what_cannot_be_edited_is_an_error() {
    let folder = folder();
    let run = folder.run("trim crds/small.yaml --fit 100 -o out.yaml");
    run.says(1, &["KS3402", "and 100 are allowed"]);
    run.fits();
    assert!(!folder.read("out.yaml").contains("description"));
    folder.write("a.yaml.gz", gzip(&large(300_000)));
    folder.run("trim a.yaml.gz -o out.yaml.gz").says(1, &["KS3403", "uncompress it first"]);
    folder.run("trim a.yaml.gz --in-place").says(1, &["KS3403"]);
    assert!(folder.run("trim a.yaml.gz").out.len() < 262_144);
    folder.write("bad/a.yaml", "a: [").write("bad/b.yaml", large(300_000));
    folder.run("trim bad -o better").says(1, &["KS1001"]);
    assert_eq!(folder.names("better"), ["b.yaml"]);
    folder.run("trim crds/other.yaml").says(1, &["KS1008"]);
    folder.run("trim - --in-place").says(2, &["leave --in-place out"]);
    folder.run("trim crds").says(2, &["give -o FOLDER"]);
    folder.run("trim crds --fit much -o out").says(2, &["expected annotation, etcd, or a number of bytes"]);
    folder.run("trim crds --descriptions some -o out").says(2, &["expected none, first-sentence, or a depth"]);
    folder.run("trim crds --inside TabSpec -o out").says(2, &["the types are Affinity"]);
    folder.run("trim none -o out").says(2, &["none"]);
}

#[cfg(unix)]
#[test]
fn files_behind_links_out_of_the_folder_stay() {
    let folder = folder();
    folder.write("elsewhere.yaml", large(300_000));
    std::os::unix::fs::symlink(folder.path("elsewhere.yaml"), folder.path("crds/link.yaml")).unwrap();
    let run = folder.run("trim crds --in-place");
    run.says(1, &["KS3403", "out of the folder"]);
    assert_eq!(folder.read("elsewhere.yaml"), large(300_000));
    assert!(folder.read("crds/large.yaml").len() < 2000);
}
