//! `kubeshape.toml`.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common::{Folder, Run, crd, crd_with_schema};
use std::fs;

const BAD_TYPE: &str = "type: object\nproperties:\n  spec: {type: strng}\n";

/// Runs in a subfolder.
fn run_in(folder: &Folder, below: &str, line: &str) -> Run {
    let arguments: Vec<&str> = line.split_whitespace().collect();
    fs::create_dir_all(folder.path(below)).unwrap();
    Run::of(&folder.command(&arguments).current_dir(folder.path(below)).output().unwrap())
}

fn folder(config: &str) -> Folder {
    let folder = Folder::new();
    folder.write("crds/a.yaml", crd("widgets", &["v1"])).write("kubeshape.toml", config);
    folder
}

#[test]
fn a_file_gives_what_the_command_line_does_not_give() {
    let folder = folder("inputs = [\"crds\"]\n\n[convert]\nto = [\"v3\", \"smd\"]\noutput = \"out\"\n");
    folder.run("convert").is_silent();
    assert_eq!(folder.names("out"), ["apis__example.com__v1_openapi.json", "widgets.example.com/schema.smd.yaml"]);
    // The command line decides.
    folder.run("convert --to v2 -o other").is_silent();
    assert_eq!(folder.names("other"), ["swagger.json"]);
    folder.write("b.yaml", crd("gadgets", &["v1"]));
    folder.run("convert b.yaml -o third").is_silent();
    assert_eq!(folder.names("third"), ["apis__example.com__v1_openapi.json", "gadgets.example.com/schema.smd.yaml"]);
    let none = folder.pipe("convert --no-config --to v2", crd("gadgets", &["v1"]));
    assert!(none.out.contains("gadgets") && !none.out.contains("widgets"), "{}", none.err);
}

#[test]
fn the_nearest_file_above_counts_and_its_paths_are_relative_to_it() {
    let folder = folder("inputs = [\"./crds/\"]\n[convert]\nto = \"v3\"\noutput = \"out\"\n");
    let run = run_in(&folder, "some/where", "convert");
    run.is_silent();
    assert_eq!(folder.names("out"), ["apis__example.com__v1_openapi.json"]);
    assert!(folder.names("some").is_empty());
    folder.write("some/kubeshape.toml", "[convert]\nto = \"v2\"\ninputs = \"../crds\"\n");
    let run = run_in(&folder, "some/where", "convert");
    assert!(run.out.starts_with("{\"swagger\""), "{}", run.err);
    let run = run_in(&folder, "some/where", "convert --config ../../kubeshape.toml -o here");
    run.is_silent();
    assert_eq!(folder.names("some/where/here"), ["apis__example.com__v1_openapi.json"]);
}

#[test]
fn options_are_those_of_the_commands() {
    let folder = folder(
        "profile = \"kube\"\noutput-format = \"short\"\n[convert]\nto = \"v2\"\npretty = true\nquiet = true\njobs = 1\n",
    );
    let run = folder.run("convert crds");
    assert!(run.out.contains("\n  \"swagger\""), "{}", run.err);
    // A switch of the command line overrides its opposite in the file.
    let run = folder.run("convert crds -v");
    assert_eq!((run.code, run.err.lines().count()), (Some(0), 1), "{}", run.err);
    assert!(run.err.starts_with("crds/a.yaml:20:21: note[KS2008]: "), "{}", run.err);
    folder.write("kubeshape.toml", "[convert]\nto = \"v2\"\npretty = false\n");
    assert!(!folder.run("convert crds").out.contains('\n'));
}

#[test]
fn findings_are_denied_in_layers() {
    let folder = folder("deny = [\"warning\"]\n[convert]\nto = \"v3\"\n");
    folder.write("bad.yaml", crd_with_schema(BAD_TYPE));
    folder.run("convert bad.yaml -o out").says(1, &["error[KS3003]", "1 of KS3003 (warning)"]);
    folder.run("convert bad.yaml -o out --allow KS3003").is_silent();
    folder.run("convert bad.yaml -o out --allow warning").is_silent();
    // The table of a command overrides the rest of the file, and the command line overrides both.
    folder.write("kubeshape.toml", "deny = [\"KS3003\"]\n[convert]\nto = \"v3\"\nallow = \"warning\"\n");
    folder.run("convert bad.yaml -o out").is_silent();
    folder.run("convert bad.yaml -o out --deny KS3003").says(1, &["error[KS3003]"]);
    folder.run("serve bad.yaml --listen 127.0.0.1:0").says(1, &["error[KS3003]"]);
    folder.run("convert bad.yaml -o out --to v3 --no-config").says(0, &["warning[KS3003]"]);
}

#[test]
fn errors_have_a_position_and_name_what_is_meant() {
    let folder = folder("");
    for (text, place, parts) in [
        ("profil = \"kube\"\n", "1:1", &["there is no option and no command `profil`; did you mean `profile`?"][..]),
        ("[convrt]\nto = 1\n", "1:2", &["`convrt`; did you mean `convert`?"]),
        ("[convert]\n# a\nstrct = true\n", "3:1", &["`convert` has no option `strct`; did you mean `strict`?"]),
        ("convert = 1\n", "1:11", &["`convert` is a command: expected a table, [convert]"]),
        ("[convert]\nstrict = \"yes\"\n", "2:10", &["found a string, expected true or false"]),
        ("[convert]\nto = true\n", "2:6", &["found a boolean, expected a string, or a list of strings"]),
        (
            "[convert]\nto = [\"v3\", \"v4\"]\n",
            "2:13",
            &["found `v4`, expected one of v3, v3.1, v2, smd, jsonschema, structural"],
        ),
        ("profile = \"kub\"\n", "1:11", &["expected one of kube, faithful; did you mean `kube`?"]),
        ("[convert]\njobs = 0\n", "2:8", &["0 is not in 1..=1024"]),
        ("deny = [\"warning\", \"KS3009\"]\n", "1:20", &["there is no code or kind `KS3009`; did you mean `KS3005`?"]),
        ("allow = \"error\"\n", "1:9", &["error is an error, which cannot be allowed"]),
        ("a = [\n", "1:6", &["unclosed array, expected `]`"]),
        ("help = true\n", "1:1", &["there is no option and no command `help`"]),
        ("color = \"allways\"\n", "1:9", &["did you mean `always`?"]),
    ] {
        folder.write("kubeshape.toml", text);
        let run = folder.run("convert crds --to v3 -o out");
        run.says(2, &["error[KS1017]: The configuration file is wrong", &format!("--> kubeshape.toml:{place}\n")]);
        run.says(2, parts);
        run.fits();
        assert_eq!((run.out.as_str(), folder.names("out").len()), ("", 0));
        // Help and commands that read no inputs work anyway.
        assert_eq!(folder.run("convert --help").code, Some(0));
        assert_eq!(folder.run("explain-code KS1017").code, Some(0));
        folder.run("convert crds --to v3 -o out --no-config").is_silent();
        fs::remove_dir_all(folder.path("out")).unwrap();
    }
    folder.run("convert crds --to v3 --config gone.toml").says(2, &["cannot read gone.toml: no such file"]);
}

#[test]
fn an_error_is_shown_like_any_other() {
    let folder = folder("[convert]\nprofil = \"kube\"\n");
    let expected = "\
error[KS1017]: The configuration file is wrong
 --> kubeshape.toml:2:1
  |
2 | profil = \"kube\"
  | ^^^^^^ `convert` has no option `profil`; did you mean `profile`?
  |
  = help: Correct the key or the value. `kubeshape COMMAND --help` lists the
          options, and `kubeshape config COMMAND` shows what holds.
";
    let run = folder.run("convert crds --to v3");
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(2), "", expected));
}

#[test]
fn effective_settings_are_shown_with_their_origin() {
    let folder = folder(
        "inputs = [\"crds\"]\ndeny = [\"KS3003\"]\nprofile = \"kube\"\n\n[convert]\nto = [\"v3\"]\nstrict = true\n",
    );
    let run = folder.run("config");
    let expected = "\
# Configuration file: kubeshape.toml
inputs = [\"crds\"]                        # kubeshape.toml:1:1
deny = [\"KS3003\"]                        # kubeshape.toml:2:1
profile = \"kube\"                         # kubeshape.toml:3:1

[convert]
to = [\"v3\"]                              # kubeshape.toml:6:1
strict = true                            # kubeshape.toml:7:1
";
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(0), expected, ""));
    let run = run_in(&folder, "below", "config convert");
    for line in [
        "# Configuration file: ../kubeshape.toml\n\n[convert]\n",
        "inputs = [\"../crds\"]                     # ../kubeshape.toml:1:1\n",
        "strict = true                            # ../kubeshape.toml:7:1\n",
        "draft = \"2020-12\"                        # default\n",
        "pretty = false                           # default\n",
    ] {
        assert!(run.out.contains(line), "{line}\n{}", run.out);
    }
    folder.run("config convrt").says(2, &["no command `convrt` can be configured; did you mean `convert`?"]);
    fs::remove_file(folder.path("kubeshape.toml")).unwrap();
    let run = folder.run("config");
    let expected = "# Configuration file: none (kubeshape.toml is not in this folder or above it)\n";
    assert_eq!((run.code, run.out.as_str()), (Some(0), expected));
}

#[test]
fn a_found_file_writes_into_its_own_folder_only() {
    let folder = folder("");
    folder.write("project/crds/a.yaml", crd("gadgets", &["v1"]));
    let outside = folder.path("outside").display().to_string();
    for (key, value) in [
        ("output", "../outside"),
        ("output", "new/../../outside"),
        ("output", outside.as_str()),
        ("report", "../outside.jsonl"),
    ] {
        let config = format!("inputs = \"crds\"\n[convert]\nto = \"v3\"\n{key} = \"{value}\"\n");
        folder.write("project/kubeshape.toml", config);
        let run = run_in(&folder, "project", "convert -o out");
        let run = if key == "report" { run } else { run_in(&folder, "project", "convert") };
        run.says(2, &["error[KS1017]", "kubeshape.toml:4:", "expected a path in the folder of this file"]);
    }
    assert!(!folder.path("outside").exists() && !folder.path("outside.jsonl").exists());
    // A file that is named explicitly is trusted.
    let config = "inputs = \"crds\"\n[convert]\nto = \"v3\"\noutput = \"../outside\"\n";
    folder.write("project/kubeshape.toml", config);
    run_in(&folder, "project", "convert --config kubeshape.toml").is_silent();
    assert_eq!(folder.names("outside"), ["apis__example.com__v1_openapi.json"]);
}

#[test]
fn a_found_file_lets_serve_write_into_its_own_folder_only() {
    let folder = folder("");
    folder.write("project/crds/a.yaml", crd("gadgets", &["v1"])).write("elsewhere/a.yaml", "kept: true\n");
    let elsewhere = folder.path("elsewhere").display().to_string();
    for line in [
        "data = \"../evil.redb\"".to_owned(),
        "objects = [\"../elsewhere\"]\nwrite-back = true".to_owned(),
        format!("objects = [{elsewhere:?}]\nwrite-back = true"),
        "objects = [\"../elsewhere\"]".to_owned(),
    ] {
        folder.write("project/kubeshape.toml", format!("inputs = \"crds\"\n[serve]\n{line}\n"));
        let run = run_in(&folder, "project", "serve --listen 127.0.0.1:0");
        run.says(2, &["error[KS1017]", "kubeshape.toml:3:", "expected a path in the folder of this file"]);
    }
    assert!(!folder.path("evil.redb").exists());
    assert_eq!(fs::read_to_string(folder.path("elsewhere/a.yaml")).unwrap(), "kept: true\n");
}

#[cfg(unix)]
#[test]
fn a_link_does_not_lead_a_found_file_outside() {
    let folder = folder("");
    folder.write("project/crds/a.yaml", crd("gadgets", &["v1"])).write("outside/keep", "");
    std::os::unix::fs::symlink(folder.path("outside"), folder.path("project/link")).unwrap();
    std::os::unix::fs::symlink(folder.path("nowhere"), folder.path("project/dangling")).unwrap();
    for output in ["link", "link/new", "dangling"] {
        let config = format!("inputs = \"crds\"\n[convert]\nto = \"v3\"\noutput = \"{output}\"\n");
        folder.write("project/kubeshape.toml", config);
        run_in(&folder, "project", "convert").says(2, &["error[KS1017]"]);
    }
    assert_eq!(folder.names("outside"), ["keep"]);
    assert!(!folder.path("nowhere").exists());
}

#[test]
fn a_found_file_weakens_no_security_setting() {
    let folder = folder("");
    for line in [
        "listen = \"0.0.0.0:80\"",
        "aggregate = \"x=https://example.com\"",
        "aggregate-token-file = \"x=token\"",
        "token-file = \"tokens\"",
        "allowed-hosts = \"*\"",
        "cors-allowed-origins = \"^http://page$\"",
    ] {
        folder.write("kubeshape.toml", format!("[serve]\n{line}\n"));
        folder.run("serve crds").says(2, &["error[KS1017]", "counts in a file that `--config` names"]);
    }
    for line in
        ["kubeconfig = \"kubeconfig\"", "server = \"http://example.com\"", "context = \"prod\"", "cache = \"cache\""]
    {
        folder.write("kubeshape.toml", format!("[pull]\n{line}\n"));
        folder.run("pull").says(2, &["error[KS1017]", "counts in a file that `--config` names"]);
    }
    for line in ["inputs = \"cluster:prod\"", "inputs = [\"crds\", \"cluster:\"]"] {
        folder.write("kubeshape.toml", format!("[convert]\n{line}\n"));
        folder.run("convert --to v3 -o out").says(2, &["error[KS1017]", "clusters are named on the command line"]);
    }
    folder.write("kubeshape.toml", "[convert]\nadopt = true\n");
    folder.run("convert crds --to v3 -o out").says(2, &["error[KS1017]"]);
}

#[test]
fn all_wrong_keys_are_named_in_their_order() {
    let folder = folder("denny = [\"warning\"]\nalow = [\"KS1004\"]\n[convert]\nto = [\"v9\"]\nprety = true\n");
    let run = folder.run("convert crds");
    run.says(2, &["`denny`", "`alow`; did you mean `allow`?", "found `v9`", "`prety`; did you mean `pretty`?"]);
    let places: Vec<&str> =
        run.err.lines().filter_map(|line| line.trim().strip_prefix("--> kubeshape.toml:")).collect();
    assert_eq!(places, ["1:1", "2:1", "4:7", "5:1"]);
}
