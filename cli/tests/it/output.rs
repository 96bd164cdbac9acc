//! Tests of where results are written, and that files are written completely or not at all.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common::{Folder, crd, is_root, text};
use std::fs;
use std::process::Stdio;

#[test]
fn names_from_the_input_do_not_leave_the_folder() {
    let folder = Folder::new();
    let cases =
        [("../../evil", "example.com", "v1"), ("widgets", "../..", "../../v1"), ("", "", ""), ("a/b", "/etc", "..")];
    for (n, (plural, group, version)) in cases.into_iter().enumerate() {
        let text = crd("widgets", &["v9"])
            .replace("plural: widgets", &format!("plural: {plural:?}"))
            .replace("group: example.com", &format!("group: {group:?}"))
            .replace("name: v9", &format!("name: {version:?}"))
            .replace("kind: Widget", &format!("kind: Widget{n}"))
            .replace("name: widgets.example.com", &format!("name: n{n}"));
        folder.write(&format!("in/{n}.yaml"), text);
    }
    let long = crd("widgets", &["v1"])
        .replace("plural: widgets", &format!("plural: {}", "w".repeat(4000)))
        .replace("name: widgets.", "name: long.");
    folder.write("in/long.yaml", long);
    let run = folder.run("convert in --to v3 --to v2 --to smd --per resource -o out/here");
    assert_eq!(run.code, Some(0), "{}", run.err);
    folder.run("convert in --to v3 --to v2 -o out/here").says(0, &[]);
    assert_eq!(
        folder.names(".").iter().filter(|name| !name.starts_with("in/") && !name.starts_with("out/here/")).count(),
        0
    );
    assert_eq!(
        folder.names("out").iter().filter(|name| name.ends_with(".v3.json")).count(),
        5,
        "{:?}",
        folder.names("out")
    );
}

#[test]
fn inputs_are_not_overwritten() {
    let folder = Folder::new();
    let source = crd("widgets", &["v1"]);
    folder.write("a.json", &source).write("out/swagger.json", &source).write("in/a.yaml", &source);
    for (line, message) in [
        ("convert a.json --to v3 -o a.json", "the output a.json is one of the inputs"),
        ("convert a.json --to v3 -o in/../a.json", "is one of the inputs"),
        ("convert in --to v3 -o in", "the output folder in is one of the inputs"),
        ("convert in --to v3 -o ./in/", "is one of the inputs"),
        ("convert out/swagger.json --to v2 -o out", "swagger.json is read, and has the name of a result"),
        ("convert a.json --to v2 --onto out/swagger.json -o out", "swagger.json is read"),
        ("convert a.json --to v2 --onto out/swagger.json -o out/swagger.json", "is one of the inputs"),
        ("convert a.json --to v2 -o x.json --report a.json", "the report a.json is one of the inputs"),
        ("convert a.json --to v2 -o x.json --report x.json", "the report and the output are one file"),
    ] {
        let run = folder.run(line);
        run.says(2, &[message]);
        assert_eq!(folder.names("."), ["a.json", "in/a.yaml", "out/swagger.json"], "{line}");
    }
    // A folder inside the input is allowed, because it is not searched.
    folder.run("convert . --to smd -o out2").says(0, &["KS4001"]);
    let before = folder.tree("out2");
    folder.run("convert . --to smd -o out2").says(0, &["KS4001"]);
    assert_eq!(folder.tree("out2"), before);
    assert_eq!(folder.read("a.json"), source);
}

#[test]
fn usage_errors_write_nothing() {
    let folder = Folder::new();
    folder.write("a.yaml", crd("widgets", &["v1"]));
    for line in [
        "convert a.yaml",
        "convert a.yaml --to v4 -o out",
        "convert a.yaml --to v3 --to v2",
        "convert a.yaml --to v2 --per group-version -o out",
        "convert a.yaml --to v3 --kind Widget --per single -o out",
        "convert a.yaml --to smd --format pb -o out",
        "convert a.yaml --to v3 --recursion cut -o out",
        "convert a.yaml --to v3 --strict -o out",
        "convert a.yaml --to jsonschema -o out.pb",
        "convert a.yaml --to v3 -o a.txt/../a.yaml/x",
        "convert a.yaml --to v3 --prune",
        "convert a.yaml --to v3 --report -",
        "convert a.yaml --to v3 -o out --jobs 0",
        "convert a.yaml --to v3 -o out -q -v",
        "convert a.yaml --to v3 --onto a.yaml -o out",
        "explain-code KS9999",
        "explain-code",
        "",
        "frobnicate",
    ] {
        let run = folder.run(line);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{line}: {}", run.err);
        assert!(!run.err.is_empty(), "{line}");
        assert_eq!(folder.names("."), ["a.yaml"], "{line}");
    }
}

#[test]
fn repeating_a_run_is_allowed() {
    let folder = Folder::new();
    folder.write("a.yaml", crd("widgets", &["v1"]));
    folder.run("convert a.yaml --to v3 --to v2 --to smd -o out").is_silent();
    let before = folder.tree("out");
    folder.run("convert a.yaml --to v3 --to v2 --to smd -o out --prune").is_silent();
    assert_eq!(folder.tree("out"), before);
}

#[test]
fn good_inputs_are_written_next_to_bad_ones() {
    let folder = Folder::new();
    folder
        .write("in/a.yaml", "{{ template }}")
        .write("in/b.yaml", crd("widgets", &["v1"]))
        .write("in/c.yaml", "\u{0}\u{1}");
    folder.run("convert in --to v3 -o out").says(1, &["in/a.yaml", "in/c.yaml"]);
    assert_eq!(folder.names("out"), ["apis__example.com__v1_openapi.json"]);
}

#[test]
fn an_unwritable_folder_is_one_message() {
    let folder = Folder::new();
    folder.write("a.yaml", crd("widgets", &["v1"])).write("file", "");
    for line in [
        "convert a.yaml --to v3 -o file",
        "convert a.yaml --to v3 -o file/out",
        "convert a.yaml --to v3 -o file/out.json",
        "convert a.yaml --to v3 -o out --report file/r.ndjson",
    ] {
        let run = folder.run(line);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{line}");
        assert!(run.err.starts_with("error: ") && run.err.contains("file"), "{line}: {}", run.err);
        assert_eq!(folder.names("."), ["a.yaml", "file"], "{line}");
    }
    // A folder has the name of a result.
    fs::create_dir_all(folder.path("taken/swagger.json/x")).unwrap();
    folder.run("convert a.yaml --to v2 -o taken").says(2, &["cannot write taken/swagger.json: it is a folder\n"]);
    assert!(folder.names("taken").is_empty(), "{:?}", folder.names("taken"));
    if !is_root() {
        fs::create_dir(folder.path("closed")).unwrap();
        let mut permissions = fs::metadata(folder.path("closed")).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(folder.path("closed"), permissions).unwrap();
        folder
            .run("convert a.yaml --to v2 -o closed")
            .says(2, &["cannot write closed/swagger.json: permission denied"]);
    }
}

#[test]
fn refused_runs_create_no_folder() {
    let folder = Folder::new();
    folder.write("a.yaml", crd("widgets", &["v1", "v2"])).write("bad.yaml", "a: [");
    for (line, code) in [
        ("convert bad.yaml --to v3 -o out", 1),
        ("convert missing.yaml --to v3 -o new/out", 2),
        ("convert a.yaml --to v3 -o new/out.json", 2),
        ("convert a.yaml --to v2 --onto missing.json -o new/out", 2),
        ("convert a.yaml --to v2 -o new/out --report a.yaml/r.ndjson", 2),
        ("apply --schemas a.yaml --field-manager ci missing.yaml -o new/", 2),
    ] {
        let run = folder.run(line);
        assert_eq!(run.code, Some(code), "{line}: {}", run.err);
        let left: Vec<_> = fs::read_dir(folder.path(".")).unwrap().flatten().map(|entry| entry.file_name()).collect();
        assert_eq!(left.len(), 2, "{line}: {left:?}");
    }
}

#[test]
fn file_names_are_not_accepted_as_folders() {
    let folder = Folder::new();
    folder.write("a.yaml", crd("widgets", &["v1"])).write("notes", "mine").write("notes.txt", "mine");
    for (output, message) in [
        (
            "x.txt",
            "error: x.txt has the name of a file, and results have names that end in
.json, .yaml, .yml or .pb; for a folder of that name, write x.txt/
",
        ),
        (
            "notes",
            "error: notes is a file that exists, and not one for results:
their names end in .json, .yaml, .yml or .pb; a folder needs another name
",
        ),
        (
            "notes.txt",
            "error: notes.txt is a file that exists, and not one for results:
their names end in .json, .yaml, .yml or .pb; a folder needs another name
",
        ),
        ("notes/out", "error: notes/out cannot be written, because notes is a file\n"),
        ("notes/out.json", "error: notes/out.json cannot be written, because notes is a file\n"),
    ] {
        let run = folder.run(&format!("convert a.yaml --to v3 -o {output}"));
        assert_eq!(run.code, Some(2), "{output}");
        assert!(run.words().starts_with(&message.replace('\n', " ")), "{}", run.err);
        assert_eq!(folder.names("."), ["a.yaml", "notes", "notes.txt"]);
    }
    folder.run("convert a.yaml --to v3 -o x.txt/").is_silent();
    folder.run("convert a.yaml --to v2 -o x.txt").is_silent();
    folder.run("convert a.yaml --to v3 -o v1.31").is_silent();
    assert_eq!(folder.names("x.txt"), ["apis__example.com__v1_openapi.json", "swagger.json"]);
}

#[cfg(target_os = "linux")]
#[test]
fn devices_and_pipes_are_written_to_and_not_replaced() {
    use std::os::unix::fs::{FileTypeExt, symlink};
    let folder = Folder::new();
    folder.write("a.yaml", crd("widgets", &["v1"])).write("live.yaml", WIDGET);
    for name in ["pipe.json", "pipe.ndjson"] {
        assert!(std::process::Command::new("mkfifo").arg(folder.path(name)).status().unwrap().success());
    }
    symlink("/dev/full", folder.path("full.json")).unwrap();
    let apply = "apply --schemas a.yaml --field-manager ci --now 2024-02-01T00:00:00Z live.yaml";
    // A device that is full.
    for (line, name) in [
        ("convert a.yaml --to v3 -o /dev/full", "/dev/full"),
        ("convert a.yaml --to v3 -o full.json", "full.json"),
        ("convert a.yaml --to v2 -o x.json --report full.json", "full.json"),
        (&format!("{apply} -o full.json"), "full.json"),
    ] {
        let run = folder.run(line);
        assert_eq!((run.code, run.err), (Some(2), format!("error: cannot write {name}: the disk is full\n")), "{line}");
    }
    // Pipes with a reader.
    for (line, name, expected) in [
        ("convert a.yaml --to v2", "pipe.json", folder.run("convert a.yaml --to v2").out),
        (apply, "pipe.json", folder.run(&format!("{apply} -o json")).out),
    ] {
        let path = folder.path(name);
        let reader = std::thread::spawn(move || fs::read_to_string(path).unwrap());
        folder.run(&format!("{line} -o {name}")).is_silent();
        assert_eq!(reader.join().unwrap(), expected, "{line}");
    }
    let path = folder.path("pipe.ndjson");
    let reader = std::thread::spawn(move || fs::read_to_string(path).unwrap());
    folder.run("convert a.yaml --to v2 -o out --report pipe.ndjson").is_silent();
    folder.run("convert a.yaml --to v2 -o out --report regular.ndjson").is_silent();
    assert_eq!(reader.join().unwrap(), folder.read("regular.ndjson"));
    // The target of a descriptor.
    let to_stdout = folder.run("convert a.yaml --to v2 -o out --report /dev/stdout");
    assert_eq!(to_stdout.out, folder.read("regular.ndjson"));
    let redirected = fs::File::create(folder.path("redirected")).unwrap();
    let arguments = ["convert", "a.yaml", "--to", "v2", "-o", "out", "--report", "/proc/self/fd/1"];
    assert!(folder.command(&arguments).stdout(redirected).status().unwrap().success());
    assert_eq!(folder.read("redirected"), folder.read("regular.ndjson"));
    folder.run("convert a.yaml --to v2 -o /dev/null --report /dev/null").is_silent();
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    for name in ["pipe.json", "pipe.ndjson"] {
        assert!(fs::symlink_metadata(folder.path(name)).unwrap().file_type().is_fifo());
    }
    assert!(folder.path("full.json").is_symlink());
}

const WIDGET: &str = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a}\n";

#[cfg(unix)]
#[test]
fn named_files_keep_their_permissions_and_links() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = Folder::new();
    folder.write("a.yaml", crd("widgets", &["v1"])).write("live.yaml", WIDGET).write("there/old", "old");
    for line in [
        "convert a.yaml --to v2 -o FILE.json",
        "convert a.yaml --to v2 -o FILE.json --fsync",
        "convert a.yaml --to v2 -o out --report FILE.ndjson",
        "convert a.yaml --to v2 -o out --report FILE.sarif --fsync",
        "convert a.yaml --to v2 -o out --report FILE.ndjson --duplicates last",
        "apply --schemas a.yaml --field-manager ci --now 2024-02-01T00:00:00Z live.yaml -o FILE.yaml --fsync",
    ] {
        let name = line.split_whitespace().find_map(|word| word.strip_prefix("FILE")).unwrap();
        let mode = |name: &str| fs::metadata(folder.path(name)).unwrap().permissions().mode() & 0o777;
        folder.write("there/file", "old");
        fs::set_permissions(folder.path("there/file"), fs::Permissions::from_mode(0o600)).unwrap();
        let link = format!("link{name}");
        symlink("there/file", folder.path(&link)).unwrap();
        let line = line.replace("FILE", "link");
        folder.run(&line).is_silent();
        assert!(folder.path(&link).is_symlink(), "{line}");
        assert_eq!(mode("there/file"), 0o600, "{line}");
        let written = folder.read("there/file");
        assert_ne!(written, "old", "{line}");
        // A new file is written in the same way, with the usual permissions.
        fs::remove_file(folder.path(&link)).unwrap();
        folder.run(&line).is_silent();
        assert_eq!((folder.read(&link), mode(&link)), (written, mode("there/old")), "{line}");
        fs::remove_file(folder.path(&link)).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn links_in_the_output_folder_are_not_followed() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new();
    folder.write("a.yaml", crd("widgets", &["v1"])).write("private/mine", "mine").write("out/x", "");
    symlink("../private", folder.path("out/widgets.example.com")).unwrap();
    symlink("../private/mine", folder.path("out/swagger.json")).unwrap();
    symlink("../private/mine", folder.path("out/.kubeshape.json")).unwrap();
    let run = folder.run("convert a.yaml --to jsonschema -o out");
    assert_eq!(run.code, Some(2));
    assert!(
        run.words().contains("widgets.example.com is a link, and links in the output folder are not"),
        "{}",
        run.err
    );
    // A link with the name of a result is replaced.
    assert_eq!(folder.run("convert a.yaml --to v2 -o out").code, Some(1));
    assert!(!folder.path("out/swagger.json").is_symlink());
    assert_eq!((folder.names("private"), folder.read("private/mine")), (vec!["mine".to_owned()], "mine".to_owned()));
    // The output folder itself may be a link.
    symlink("out", folder.path("linked")).unwrap();
    fs::remove_file(folder.path("out/widgets.example.com")).unwrap();
    fs::remove_file(folder.path("out/.kubeshape.json")).unwrap();
    folder.run("convert a.yaml --to jsonschema -o linked").is_silent();
    assert!(folder.path("out/widgets.example.com/v1.schema.json").is_file());
}

/// Two processes write the same result, of two inputs, into one folder at the same time.
#[test]
fn of_two_processes_one_complete_result_stays() {
    let folder = Folder::new();
    let fields = |letter: &str| -> String {
        (0..300).flat_map(|n| [format!("              {letter}{n}: {{type: string}}"), "\n".to_owned()]).collect()
    };
    folder.write("a.yaml", crd("widgets", &["v1"]) + &fields("a"));
    folder.write("b.yaml", crd("widgets", &["v1"]) + &fields("b"));
    let whole = ["a", "b"].map(|name| folder.run(&format!("convert {name}.yaml --to v2")).out);
    for round in 0..30 {
        let children = ["a.yaml", "b.yaml"].map(|input| {
            let prune: &[&str] = if round % 2 == 0 { &["--prune"] } else { &[] };
            let report = format!("{input}.ndjson");
            let mut arguments = vec!["convert", input, "--to", "v2,smd", "-o", "out", "--report", &report];
            arguments.extend(prune);
            folder.command(&arguments).stderr(Stdio::piped()).spawn().unwrap()
        });
        for child in children {
            let output = child.wait_with_output().unwrap();
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            // A file that changes between being found and being deleted belongs to another program, and that is
            // reported.
            assert!(output.status.success(), "{told}");
        }
        assert!(whole.contains(&folder.read("out/swagger.json")), "round {round}");
        let left = folder.names(".").into_iter().filter(|name| name.contains(".kubeshape-")).count();
        assert_eq!(left, 0, "round {round}");
        crate::common::json(&folder.read("out/.kubeshape.json"));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_cannot_be_finished_leaves_the_old_one() {
    let folder = Folder::new();
    let fields: String =
        (0..2000).flat_map(|n| [format!("              f{n}: {{type: string}}"), "\n".to_owned()]).collect();
    folder.write("a.yaml", crd("widgets", &["v1"]) + &fields);
    folder.write("x.json", "old").write("out/swagger.json", "old").write("r.ndjson", "old");
    let notes: String = (0..2000).flat_map(|n| [format!("    n{n}: x"), "\n".to_owned()]).collect();
    folder
        .write("b.yaml", crd("widgets", &["v1"]))
        .write("live.yaml", WIDGET.replace("{name: a}", "\n  name: a\n  annotations:\n") + &notes);
    // Files may have at most 4 KB.
    for line in [
        "convert a.yaml --to v2 -o x.json",
        "convert a.yaml --to v2 -o out --fsync",
        "convert a.yaml --to v2,smd -o out --report r.ndjson",
        "merge --schemas b.yaml live.yaml live.yaml -o x.json",
    ] {
        let before = folder.tree(".");
        let program = env!("CARGO_BIN_EXE_kubeshape");
        let script = format!("ulimit -f 4; trap '' XFSZ; exec {program} {line}");
        let arguments = ["-c", &script];
        let output = std::process::Command::new("bash").args(arguments).current_dir(folder.path(".")).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{line}: {told}");
        assert!(told.starts_with("error: cannot write ") && told.contains("too large"), "{line}: {told}");
        assert_eq!(folder.tree("."), before, "{line}");
    }
}

#[cfg(unix)]
#[test]
fn a_killed_process_leaves_old_files_unchanged() {
    use std::io::Write;
    let folder = Folder::new();
    folder.write("a.yaml", crd("widgets", &["v1"])).write("out/swagger.json", "old").write("r.ndjson", "old");
    let arguments = ["convert", "a.yaml", "-", "--to", "v2,jsonschema", "-o", "out", "--report", "r.ndjson", "--fsync"];
    let mut child = folder.command(&arguments).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"# a beginning\n").unwrap();
    let unfinished = || folder.names(".").iter().filter(|name| name.contains(".kubeshape-")).count();
    for _ in 0..500 {
        if unfinished() >= 2 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert!(unfinished() >= 2);
    child.kill().unwrap();
    child.wait().unwrap();
    drop(stdin);
    assert_eq!((folder.read("out/swagger.json"), folder.read("r.ndjson")), ("old".to_owned(), "old".to_owned()));
    // What it leaves behind does not count as a result, and does not disturb later runs.
    folder.run("convert a.yaml --to v2 -o out --adopt --report r.ndjson");
    assert_eq!(folder.recorded("out"), ["swagger.json"]);
    assert_ne!(folder.read("r.ndjson"), "old");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_one_message() {
    let folder = Folder::new();
    folder.write("a.yaml", crd("widgets", &["v1"]));
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = folder.command(&["convert", "a.yaml", "--to", "v3"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "error: cannot write to standard output: the disk is full\n");
}

/// Runs a command whose standard output is closed at once, and returns how it ended.
fn cut_off(folder: &Folder, line: &str) -> (Option<i32>, String) {
    let arguments: Vec<&str> = line.split_whitespace().collect();
    let mut child = folder.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_reader_that_stops_early_is_not_an_error() {
    let folder = Folder::new();
    // More than fits into a pipe.
    let fields = (0..5000).map(|n| ["              field", &n.to_string(), ": {type: string}\n"].concat());
    let fields: String = fields.collect();
    folder.write("a.yaml", crd("widgets", &["v1"]) + &fields);
    folder.write("in/a.yaml", crd("gadgets", &["v1"]) + &fields);
    folder.write("s.yaml", "scenario: x\nsteps:\n- set: null\n");
    folder.write("widget.yaml", "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a}\n");
    for line in [
        "convert a.yaml --to v3 --pretty",
        "convert a.yaml in/a.yaml --to v2",
        "scenario s.yaml",
        "apply --schemas a.yaml --field-manager ci widget.yaml",
        "explain-code --list",
        "explain-code KS1001",
        "man",
        "completions bash",
        "--help",
        "convert --help",
        "--version",
    ] {
        assert_eq!(cut_off(&folder, line), (Some(0), String::new()), "{line}");
    }
    // The results are complete even if nobody reads the report.
    for flag in ["", "--duplicates last"] {
        let run = cut_off(&folder, &format!("convert a.yaml in --to v2 -o out/x.json --report - {flag}"));
        assert_eq!(run, (Some(0), String::new()));
        let document = crate::common::json(&folder.read("out/x.json"));
        assert!(document["definitions"]["com.example.v1.Gadget"].is_object());
        std::fs::remove_file(folder.path("out/x.json")).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_leaves_no_incomplete_file() {
    use std::io::Write;
    let folder = Folder::new();
    folder.write("a.yaml", crd("widgets", &["v1"]));
    // The run waits for the end of standard input, and has begun a report.
    let arguments =
        ["convert", "a.yaml", "-", "--to", "v3", "--per", "resource", "-o", "new/out", "--report", "report/r.ndjson"];
    let mut command = folder.command(&arguments);
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"# a beginning\n").unwrap();
    let unfinished = |of: &str| folder.names(of).iter().any(|name| name.contains(".kubeshape-"));
    for _ in 0..500 {
        if unfinished("new") && unfinished("report") {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert!(unfinished("new") && unfinished("report"));
    let id = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "error: interrupted\n");
    assert_eq!(folder.names("."), ["a.yaml"]);
    assert!(!folder.path("new").exists() && !folder.path("report").exists());
}

#[cfg(unix)]
#[test]
fn an_interrupt_replaces_no_file() {
    use std::io::Write;
    let folder = Folder::new();
    folder.write("a.yaml", crd("widgets", &["v1"])).write("live.yaml", "mine").write("out/swagger.json", "mine");
    for line in [
        "convert a.yaml - --to v2 --to smd -o out",
        "convert a.yaml - --to v2 -o out/swagger.json",
        "apply --schemas a.yaml --field-manager ci - -o live.yaml",
        "update --schemas a.yaml --field-manager ci --live - a.yaml -o out/",
    ] {
        let before = folder.tree(".");
        let arguments: Vec<&str> = line.split_whitespace().collect();
        let mut child = folder.command(&arguments).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // The run reads more than fits into a pipe, so it has begun.
        stdin.write_all(format!("# {}\n", "x".repeat(1 << 20)).as_bytes()).unwrap();
        let id = child.id().to_string();
        assert!(std::process::Command::new("kill").args(["-INT", &id]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        drop(stdin);
        assert_eq!(output.status.code(), Some(130), "{line}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "error: interrupted\n", "{line}");
        assert_eq!(folder.tree("."), before, "{line}");
    }
}

#[cfg(unix)]
#[test]
fn a_link_to_the_output_stays_a_link() {
    let folder = Folder::new();
    folder.write("a.yaml", crd("widgets", &["v1"])).write("real.json", "old");
    std::os::unix::fs::symlink("real.json", folder.path("link.json")).unwrap();
    folder.run("convert a.yaml --to v2 -o link.json").is_silent();
    assert!(folder.path("link.json").is_symlink());
    assert!(folder.read("real.json").starts_with("{\"swagger\""));
}

#[test]
fn paths_may_be_absolute() {
    let folder = Folder::new();
    folder.write("in/a.yaml", crd("widgets", &["v1"]));
    let (input, output) = (folder.path("in"), folder.path("out"));
    folder.run(&format!("convert {} --to v3 -o {}", text(&input), text(&output))).is_silent();
    assert_eq!(folder.names("out"), ["apis__example.com__v1_openapi.json"]);
}

/// Findings are the output of these commands, so a full disk must not look like success.
#[cfg(target_os = "linux")]
#[test]
fn findings_that_cannot_be_written_are_an_error() {
    let folder = Folder::new();
    folder.write("a.yaml", crd("widgets", &["v1"]));
    folder.write("b.yaml", "apiVersion: example.com/v1\nkind: Unknown\nmetadata: {name: t}\n");
    for line in ["check a.yaml", "check a.yaml --output-format sarif", "validate --schemas a.yaml b.yaml"] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = folder.command(&line.split(' ').collect::<Vec<_>>()).stdout(full).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{line}: {told}");
        assert!(told.contains("cannot write to standard output"), "{line}: {told}");
    }
}
