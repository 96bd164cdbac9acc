//! `kubeshape conversions`.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common::{Folder, Run, crd, json, report};

/// A program that converts by changing the API version; `EXTRA` changes the objects further.
const CONVERT: &str = r#"
import json, sys
review = json.load(sys.stdin)
request = review["request"]
for object in request["objects"]:
    object["apiVersion"] = request["desiredAPIVersion"]
    EXTRA
result = {"status": "Success"}
response = {"uid": request["uid"], "result": result, "convertedObjects": request["objects"]}
json.dump({"apiVersion": review["apiVersion"], "kind": "ConversionReview", "response": response}, sys.stdout)
"#;

/// Runs the program with these arguments in the folder.
fn run_with(folder: &Folder, arguments: &[&str]) -> Run {
    Run::of(&folder.command(arguments).output().unwrap())
}

/// Returns a folder with a definition of two versions, and the program.
fn folder(extra: &str) -> Folder {
    let folder = Folder::new();
    let fields = "size: {type: integer}\n              tags: {type: array, items: {type: string}}";
    let text = crd("widgets", &["v1", "v2"]).replace("size: {type: integer, default: 1}", fields);
    folder.write("crd.yaml", text).write("convert.py", CONVERT.replace("EXTRA", extra));
    folder
}

#[test]
fn a_lost_value_is_shown_with_the_smallest_object() {
    let folder = folder("object.get('spec', {}).pop('tags', None)");
    let run = run_with(&folder, &["conversions", "crd.yaml", "--exec", "python3 convert.py"]);
    assert_eq!(run.code, Some(1), "{}{}", run.out, run.err);
    let words = run.words_out();
    assert!(words.contains("KS8504") && words.contains("v1 -> v2 -> v1: spec.tags: "), "{words}");
    assert!(run.out.contains("    spec:\n      tags:\n"), "{}", run.out);
    assert!(words.contains("1 definition, ") && words.contains(" 2 faults."), "{words}");

    let run =
        run_with(&folder, &["conversions", "crd.yaml", "--exec", "python3 convert.py", "--output-format", "json"]);
    let lines = report(&run.out);
    let fault = lines.iter().find(|line| line["definition"] == "widgets.example.com").unwrap();
    assert_eq!(
        (&fault["code"], &fault["from"], &fault["path"]),
        (&json("\"KS8504\""), &json("\"v1\""), &json("\"spec.tags\""))
    );
    assert_eq!(fault["converted"]["apiVersion"], "example.com/v2");
}

#[test]
fn a_conversion_that_is_right_has_no_fault() {
    let folder = folder("pass");
    let run = run_with(&folder, &["conversions", "crd.yaml", "--exec", "python3 convert.py"]);
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    assert!(run.words_out().contains("no fault."), "{}", run.out);
}

#[test]
fn kinds_without_a_webhook_are_not_tried() {
    let folder = folder("object.get('spec', {}).pop('tags', None)");
    let fields = "size: {type: integer}\n              tags: {type: array, items: {type: string}}";
    let other = |kind: &str, conversion: &str| {
        let text = crd(kind, &["v1", "v2"]).replace("size: {type: integer, default: 1}", fields);
        text.replacen("spec:\n", &format!("spec:\n  conversion: {conversion}\n"), 1)
    };
    folder.write("none.yaml", other("gadgets", "{strategy: None}"));
    let run = run_with(&folder, &["conversions", "crd.yaml", "none.yaml", "--exec", "python3 convert.py", "-v"]);
    let words = run.words_out();
    assert!(words.contains("KS8515") && words.contains("gadgets.example.com"), "{words}");
    assert!(words.contains("1 definition, ") && words.contains(" 2 faults."), "{words}");

    // One that names a webhook says that the others have none.
    let webhook =
        "{strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: 'https://a.example'}}}";
    folder.write("webhook.yaml", other("gizmos", webhook));
    let run = run_with(&folder, &["conversions", "crd.yaml", "webhook.yaml", "--exec", "python3 convert.py"]);
    let words = run.words_out();
    assert!(words.contains("gizmos.example.com") && !words.contains("widgets.example.com"), "{words}");
    assert!(words.contains("1 definition, ") && words.contains(" 2 faults."), "{words}");
}

#[test]
fn faults_of_empty_values_are_one_warning() {
    // A program that drops a zero, and empty strings in a list.
    let folder = folder(
        "spec = object.get('spec', {})
    if spec.get('size') == 0:
        del spec['size']
    if spec.get('tags'):
        spec['tags'] = [tag for tag in spec['tags'] if tag]",
    );
    let command = ["conversions", "crd.yaml", "--exec", "python3 convert.py"];
    let run = run_with(&folder, &command);
    let words = run.words_out();
    assert_eq!(run.code, Some(0), "{words}{}", run.err);
    assert!(words.contains("warning[KS8514]") && words.contains("no fault."), "{words}");
    assert!(!words.contains("KS8507"), "{words}");
    let run = run_with(&folder, &[&command[..], &["-v"]].concat());
    assert!(
        run.words_out().contains("note[KS8507]") && run.words_out().contains("spec.size: 0 is gone"),
        "{}",
        run.out
    );
    let run = run_with(&folder, &[&command[..], &["--deny", "KS8507"]].concat());
    assert_eq!(run.code, Some(1), "{}{}", run.out, run.err);
}

#[test]
fn own_objects_are_converted_and_those_of_other_kinds_are_errors() {
    let folder = folder("object.get('spec', {}).pop('size', None) if object['metadata']['name'] == 'mine' else None");
    let object = |name: &str, kind: &str, size: &str| {
        format!("apiVersion: example.com/v1\nkind: {kind}\nmetadata: {{name: {name}}}\nspec: {{size: {size}}}\n")
    };
    folder.write("mine.yaml", object("mine", "Widget", "3"));
    folder.write("bad.yaml", object("bad", "Widget", "large")).write("other.yaml", object("other", "Other", "1"));
    let run = |sample: &str| {
        run_with(&folder, &["conversions", "crd.yaml", "--exec", "python3 convert.py", "--sample", sample])
    };
    let mine = run("mine.yaml");
    assert!(mine.words_out().contains("KS8504") && mine.out.contains("name: mine"), "{}", mine.out);
    let bad = run("bad.yaml");
    assert!(bad.words_out().contains("KS8513") && bad.words_out().contains("must be of type integer"), "{}", bad.out);
    let other = run("other.yaml");
    assert!(
        other.words_out().contains("KS8513") && other.words_out().contains("no definition has its kind"),
        "{}",
        other.out
    );
}

#[test]
fn commands_that_fail_or_are_slow_are_faults() {
    let folder = folder("pass");
    let run = |command: &str| {
        run_with(&folder, &["conversions", "crd.yaml", "--exec", command, "--timeout", "500ms", "--time", "2s"])
    };
    let failed = run("echo no such kind >&2; exit 3");
    assert!(failed.words_out().contains("KS8501"), "{}", failed.out);
    assert!(failed.words_out().contains("no such kind"), "{}", failed.out);
    let slow = run("sleep 60");
    assert!(slow.words_out().contains("the command took too long"), "{}", slow.out);
    assert!(slow.words_out().contains("KS8512"), "{}", slow.out);
    let large = run("yes");
    assert!(
        large.words_out().contains("wrote more than 8388608 bytes") || large.words_out().contains("too long"),
        "{}",
        large.out
    );
}

#[test]
fn a_webhook_or_a_command_is_needed() {
    let folder = folder("pass");
    let run = folder.run("conversions crd.yaml");
    assert_eq!(run.code, Some(2), "{}", run.err);
    let run = folder.run("conversions crd.yaml --webhook ftp://localhost/");
    run.says(2, &["is not an http or https URL"]);
    let run = folder.run("conversions crd.yaml --webhook http://127.0.0.1:1/ --time 5s");
    assert_eq!(run.code, Some(1), "{}", run.err);
    assert!(run.words_out().contains("KS8501"), "{}", run.out);
}

/// A shell does not end its programs when it is killed.
#[cfg(unix)]
#[test]
fn a_command_that_takes_too_long_ends_with_its_programs() {
    let folder = folder("pass");
    let command = "sleep 600 & echo $! > pid; wait";
    let run = run_with(&folder, &["conversions", "crd.yaml", "--exec", command, "--timeout", "1s", "--time", "1s"]);
    assert_eq!(run.code, Some(1), "{}{}", run.out, run.err);
    assert!(run.words_out().contains("the command took too long"), "{}", run.out);
    let pid = std::fs::read_to_string(folder.path("pid")).unwrap();
    let is_running = || {
        let found = std::process::Command::new("ps").args(["-o", "stat=", "-p", pid.trim()]).output().unwrap();
        // An ended program without a parent stays as a zombie until someone asks for its result.
        String::from_utf8_lossy(&found.stdout).trim().starts_with(|state| state != 'Z')
    };
    for _ in 0..100 {
        if !is_running() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    panic!("the program is still running");
}
