//! The contents of the table, and when it passes.

use kubeshape_conformance::known::Known;
use kubeshape_conformance::table::{Table, Verdict};
use kubeshape_conformance::{AREAS, compare, has_records};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn differing() -> Verdict {
    Verdict::Differing("/a: 1, theirs 2".to_owned())
}

#[test]
fn the_closing_line_counts_all_rows() {
    let mut table = Table::new("crds", Known::parse("- `crds merged v3 p apis/a/v1`: a reason"));
    table.add("v3", "p a", Verdict::Equal);
    table.add("v3", "p b", differing());
    table.add("v2", "p a", Verdict::Missing("no such version".to_owned()));
    table.add("merged v3", "p apis/a/v1", differing());
    assert_eq!(table.closing_line(), "total crds equal 1 of 4, known 1, missing 1, differing 1");
    assert!(table.to_text().ends_with(&table.closing_line()));
    assert!(table.to_text().contains("p b: /a: 1, theirs 2"));
    assert!(!table.passed());
}

#[test]
fn a_difference_that_is_known_passes_and_an_entry_without_a_difference_does_not() {
    let known = Known::parse("- `crds v3 p a`: a reason");
    let mut table = Table::new("crds", known.clone());
    table.add("v3", "p a", differing());
    assert!(table.passed());
    let mut table = Table::new("crds", known);
    table.add("v3", "p a", Verdict::Equal);
    assert_eq!(table.unneeded(), ["crds v3 p a"]);
    assert!(!table.passed());
}

#[test]
fn entries_for_records_that_are_not_in_the_folder_are_ignored() {
    let mut table = Table::new("crds", Known::parse("- `crds v3 other a`: a reason\n- `openapi v3 p a`: a reason"));
    table.add("v3", "p a", Verdict::Equal);
    assert!(table.passed());
}

#[test]
fn an_entry_needs_a_reason() {
    assert!(!Known::parse("- `crds v3 p a`: ").explains("crds", "v3", "p a"));
    assert!(!Known::parse("`crds v3 p a`: a reason").explains("crds", "v3", "p a"));
}

#[test]
fn an_area_without_any_record_does_not_pass() {
    let nowhere = Path::new("/nonexistent");
    for area in AREAS {
        assert!(!has_records(area, nowhere, nowhere));
        let table = compare(area, nowhere, nowhere, None, Known::default());
        assert_eq!(table.closing_line(), format!("total {area} equal 0 of 0, known 0, missing 0, differing 0"));
        assert!(!table.passed());
    }
}

/// Returns a golden folder with one record of one project.
fn golden_folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(folder.join("golden/crds")).expect("a folder");
    std::fs::create_dir_all(folder.join("corpus/crds/p")).expect("a folder");
    let crd = r#"{"record":"crd","file":"a.yaml","name":"as.example.com","api_version":"v1","smd":{}}"#;
    let version = r#"{"record":"version","file":"a.yaml","name":"as.example.com","version":"v1","v3":{},"v2":{}}"#;
    std::fs::write(folder.join("golden/crds/p.ndjson"), format!("{crd}\n{version}\n")).expect("a file");
    compress(&folder.join("golden/crds/p.ndjson"));
    folder
}

fn compress(path: &Path) {
    use std::io::Write;
    let bytes = std::fs::read(path).expect("the file");
    let out = std::fs::File::create(path.with_extension("ndjson.gz")).expect("a file");
    let mut out = flate2::write::GzEncoder::new(out, flate2::Compression::fast());
    out.write_all(&bytes).and_then(|()| out.finish().map(drop)).expect("written");
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kubeshape-conformance"))
        .args(arguments)
        .env("KUBESHAPE_GOLDEN", folder.join("golden"))
        .env("KUBESHAPE_CORPUS", folder.join("corpus"))
        .env_remove("KUBESHAPE_BASE")
        .output()
        .expect("runs")
}

#[test]
fn without_base_documents_every_row_reports_it_and_is_missing() {
    let output = run(&golden_folder("without-base"), &[]);
    let text = String::from_utf8_lossy(&output.stdout);
    for row in ["reading", "smd", "v3", "v2"] {
        let line =
            text.lines().find(|line| line.split("  ").next() == Some(row)).unwrap_or_else(|| panic!("{row}: {text}"));
        assert!(line.ends_with("no base"), "{line}");
    }
    assert_eq!(text.lines().last(), Some("total crds equal 0 of 5, known 0, missing 5, differing 0"));
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn json_comes_before_the_closing_line() {
    let output = run(&golden_folder("json"), &["crds", "--json"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let [table, closing] = text.lines().collect::<Vec<_>>()[..] else { panic!("{text}") };
    let table: serde_json::Value = serde_json::from_str(table).expect("JSON");
    assert_eq!((table["area"].as_str(), table["total"].as_str()), (Some("crds"), Some(closing)));
    assert!(
        table["rows"]
            .as_array()
            .is_some_and(|rows| rows.iter().any(|row| row["row"] == "v3" && row["remark"] == "no base"))
    );
}

#[test]
fn a_requested_area_must_have_records() {
    let folder = golden_folder("asked");
    let output = run(&folder, &["apiserver"]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(text.lines().last(), Some("total apiserver equal 0 of 0, known 0, missing 0, differing 0"));
}

#[test]
fn unknown_areas_and_missing_folders_give_no_answer() {
    assert_eq!(run(Path::new("/nonexistent"), &["nothing"]).status.code(), Some(2));
    let output = Command::new(env!("CARGO_BIN_EXE_kubeshape-conformance"))
        .env_remove("KUBESHAPE_GOLDEN")
        .env_remove("KUBESHAPE_CORPUS")
        .output()
        .expect("runs");
    assert_eq!(output.status.code(), Some(2));
}
