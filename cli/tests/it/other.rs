//! Tests of the other commands, of messages and of reports.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common::{Folder, crd, crd_with_schema, report};

#[test]
fn help_names_every_option_and_has_examples() {
    let folder = Folder::new();
    let run = folder.run("convert --help");
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    for part in [
        "--to",
        "--output",
        "--per",
        "--base",
        "--onto",
        "--all-versions",
        "--kind",
        "--inline",
        "--recursion",
        "--budget",
        "--rename",
        "--keep-losses",
        "--layout",
        "--id-base",
        "-f, --filename",
        "--no-ignore",
        "--hidden",
        "--exclude",
        "--include",
        "Options for folders:",
        "Options for JSON Schemas:",
        "--preserve-unknown",
        "--draft",
        "--strict ",
        "Options for documents:",
        "--smd-compat",
        "--duplicates",
        "--profile",
        "--report",
        "--format",
        "--pretty",
        "--jobs",
        "--strict-input",
        "--prune",
        "--dry-run",
        "--adopt",
        "--keep-going",
        "--quiet",
        "--verbose",
        "--color",
        "--progress",
        "kubectl get crd -o yaml | kubeshape convert",
        "Exit codes:",
    ] {
        assert!(run.out.contains(part), "{part}\n{}", run.out);
    }
    let manual = folder.run("man");
    assert_eq!(manual.code, Some(0));
    assert!(manual.out.starts_with(".ie \\n(.g") || manual.out.contains(".TH kubeshape 1"), "{}", &manual.out[..200]);
    for part in ["KUBESHAPE CONVERT", "strict\\-input", "KUBESHAPE EXPLAIN\\-CODE"] {
        assert!(manual.out.contains(part) || manual.out.contains(&part.replace("\\-", "-")), "{part}");
    }
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = folder.run(&format!("completions {shell}"));
        assert_eq!(run.code, Some(0));
        assert!(run.out.contains("strict-input"), "{shell}");
    }
    for command in
        ["convert", "serve", "config", "apply", "update", "blame", "extract", "compare", "merge", "fieldset", "test"]
    {
        for line in folder.run(&format!("{command} --help")).out.lines() {
            assert!(line.chars().count() <= 80, "{command}: {line}");
        }
    }
    for command in ["apply", "update", "blame", "extract", "compare", "merge", "fieldset", "test"] {
        let run = folder.run(&format!("{command} --help"));
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
        assert!(run.out.contains("Example") && run.out.contains("--smd-compat"), "{}", run.out);
        assert!(manual.out.contains(&format!("KUBESHAPE {}", command.to_uppercase())), "{command}");
    }
    let version = folder.run("--version");
    assert!(version.out.starts_with(concat!("kubeshape ", env!("CARGO_PKG_VERSION"))), "{}", version.out);
}

#[test]
fn help_and_version_are_commands() {
    let folder = Folder::new();
    for line in ["help", "help convert", "help blame"] {
        let run = folder.run(line);
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
        let command = line.replacen("help", "", 1);
        assert_eq!(run.out, folder.run(&format!("{command} --help")).out);
    }
    assert_eq!(folder.run("version"), folder.run("--version"));
    folder.run("help convrt").says(2, &["unrecognized subcommand 'convrt'"]);
}

#[test]
fn a_mistyped_command_line_gets_no_misleading_tip() {
    let folder = Folder::new();
    let run = folder.run("covnert x.yaml");
    run.says(2, &["unrecognized subcommand 'covnert'", "a similar subcommand exists: 'convert'"]);
    for line in ["describe a b", "get", "deploy x.yaml"] {
        let run = folder.run(line);
        run.says(2, &["unrecognized subcommand"]);
        assert!(!run.err.contains("tip"), "{}", run.err);
    }
    let run = folder.run("convert --to v3 -x a.yaml");
    run.says(2, &["unexpected argument '-x'"]);
    assert!(!run.err.contains("tip") && !run.err.contains("-- -x"), "{}", run.err);
    let run = folder.run("convert --to v3 --kinds Pod");
    run.says(2, &["unexpected argument '--kinds'", "a similar argument exists: '--kind'"]);
}

#[test]
fn files_can_be_given_with_f() {
    let folder = Folder::new();
    folder.write("a.yaml", crd("widgets", &["v1"])).write("b.yaml", crd("gadgets", &["v1"])).write(
        "object.yaml",
        "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a, namespace: x}\nspec: {size: 2}\n",
    );
    let both = folder.run("convert a.yaml b.yaml --to v2");
    for line in ["-f a.yaml -f b.yaml", "-f a.yaml b.yaml", "--filename=a.yaml --filename b.yaml", "-fb.yaml a.yaml"] {
        assert_eq!(folder.run(&format!("convert {line} --to v2")), both);
    }
    for line in [
        "blame -q",
        "fieldset --schemas a.yaml",
        "extract -q --schemas a.yaml --field-manager x",
        "apply --schemas a.yaml --field-manager x --now 2030-01-01T00:00:00Z",
        "merge --schemas a.yaml -f object.yaml",
        "compare --schemas a.yaml -f object.yaml",
    ] {
        let run = folder.run(&format!("{line} -f object.yaml"));
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{line}");
        assert_eq!(folder.run(&format!("{line} object.yaml")), run, "{line}");
    }
    for line in ["blame", "fieldset --schemas a.yaml", "apply --schemas a.yaml --field-manager x", "scenario"] {
        folder.run(line).says(2, &["required arguments were not provided"]);
    }
}

#[test]
fn codes_are_explained() {
    let folder = Folder::new();
    for name in ["KS2001", "ks2001", "2001"] {
        let run = folder.run(&format!("explain-code {name}"));
        assert_eq!(run.code, Some(0));
        assert!(run.out.starts_with("# KS2001: OpenAPI v2 drops allOf, oneOf, anyOf and not\n"), "{}", run.out);
    }
    let page = folder.run("explain-code KS1009 --color always").out;
    assert!(page.starts_with("\u{1b}[1mKS1009: A document that cannot be converted is skipped"), "{page}");
    assert!(!page.contains("##") && !page.contains("```") && page.contains("\n    kind: ConfigMap\n"), "{page}");
    let list = folder.run("explain-code --list");
    assert_eq!(list.code, Some(0));
    assert!(list.out.starts_with("KS1001  error         The input is not YAML"), "{}", list.out);
    folder.run("explain-code KS3009").says(2, &["there is no code KS3009; did you mean `KS3005`?"]);
}

#[test]
fn a_report_has_a_line_per_loss_in_document_order() {
    let folder = Folder::new();
    let schema = "\
type: object
properties:
  spec:
    type: object
    properties:
      a: {type: string, nullable: true}
      b:
        anyOf: [{minLength: 1}]
        type: string
      y: {type: string}
";
    folder.write("b.yaml", crd_with_schema(schema)).write("a.yaml", crd("gadgets", &["v1"]));
    let run = folder.run("convert b.yaml a.yaml --to v2 -o x.json --report -");
    assert_eq!(run.code, Some(0), "{}", run.err);
    let lines = report(&run.out);
    let of = |line: &serde_json::Value| {
        let text = |name: &str| line[name].as_str().unwrap_or("-").to_owned();
        let place = format!("{}:{}", line["line"], line["column"]);
        format!(
            "{} {} {} {place} {} {} {} {}",
            text("code"),
            text("kind"),
            text("input"),
            text("resource"),
            text("version"),
            text("shape"),
            text("pointer")
        )
    };
    let root = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties";
    let expected = [
        format!("KS2008 dropped a.yaml 20:21 gadgets.example.com v1 v2 {root}/size"),
        format!("KS2002 widened b.yaml 20:18 widgets.example.com v1 v2 {root}/a"),
        format!("KS2001 widened b.yaml 22:17 widgets.example.com v1 v2 {root}/b"),
        format!("KS1004 warning b.yaml 24:15 widgets.example.com v1 - {root}/true"),
    ];
    assert_eq!(lines.iter().map(of).collect::<Vec<_>>(), expected);
    let members: Vec<&String> = lines[0].as_object().unwrap().keys().collect();
    let expected =
        ["code", "column", "detail", "input", "kind", "line", "message", "pointer", "resource", "shape", "version"];
    assert_eq!(lines[0]["message"], "OpenAPI v2 as served holds no defaults: default");
    assert_eq!(members, expected);
    assert!(run.out.starts_with(r#"{"code":"KS2008","kind":"dropped","pointer":"#));
}

#[test]
fn messages_have_the_requested_length() {
    let folder = Folder::new();
    let schema =
        "type: object\nproperties:\n  on: {}\n  y: {}\n  'yes': {}\n  no: {}\n  off: {}\n  \"n\": {}\n  YES: {}\n";
    folder.write("a.yaml", crd_with_schema(schema));
    let count = |flag: &str, part: &str| {
        folder.run(&format!("convert a.yaml --to v2 -o x.json {flag}")).err.matches(part).count()
    };
    assert_eq!(count("", "warning[KS1004]"), 3);
    assert_eq!(count("", "warnings not shown: 2 more of KS1004"), 1);
    assert_eq!(count("-v", "warning[KS1004]"), 5);
    assert_eq!(count("-v", "not shown"), 0);
    assert_eq!(count("-v", "--> a.yaml:17:11"), 1);
    assert_eq!(count("-q", ""), 1, "-q says nothing");
    folder.write("b.yaml", "a: [");
    folder.run("convert b.yaml --to v2 -q").says(1, &["error[KS1001]"]);
}

#[test]
fn colours_and_summaries_are_only_for_terminals() {
    let folder = Folder::new();
    folder.write("a.yaml", "a: [").write("b.yaml", crd("widgets", &["v1"]));
    let plain = folder.run("convert a.yaml b.yaml --to v2 -o x.json");
    assert!(!plain.err.contains('\u{1b}') && !plain.err.contains("losses"), "{}", plain.err);
    let coloured = folder.run("convert a.yaml b.yaml --to v2 -o x.json --color always");
    assert!(coloured.err.contains('\u{1b}'));
    let mut command = folder.command(&["convert", "a.yaml", "b.yaml", "--to", "v2", "-o", "x.json"]);
    let forced = command.env("CLICOLOR_FORCE", "1").output().unwrap();
    assert!(forced.stderr.contains(&0x1B));
    let forbidden = command.env("NO_COLOR", "1").output().unwrap();
    assert!(!forbidden.stderr.contains(&0x1B));
    let lively = folder.run("convert a.yaml b.yaml --to v2 -o y.json --progress always");
    lively.says(1, &["read      2 files, ", "written   1 result to y.json", "losses    1 dropped", "failed 1 input"]);
}

#[test]
fn each_command_has_a_manual_page() {
    let folder = Folder::new();
    folder.run("man -o man1").is_silent();
    let names = folder.names("man1");
    for name in ["kubeshape.1", "kubeshape-check.1", "kubeshape-lifecycle-lint.1"] {
        assert!(names.iter().any(|found| found == name), "{names:?}");
    }
    let page = folder.run("man lifecycle lint");
    assert!(page.code == Some(0) && page.out.contains("kubeshape-lifecycle-lint"), "{}", page.out);
    folder.run("man chekc").says(2, &["there is no command `chekc`; did you mean `check`?"]);
}

#[test]
fn completions_know_codes_and_releases() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = folder.run(&format!("completions {shell}")).out;
        for word in ["KS3122", "narrowed", "1.28", "1.37"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}

#[test]
fn kinds_and_paths_of_fields_are_completed() {
    let folder = Folder::new();
    folder.write("crd.yaml", crate::common::ssa::CRD);
    for (line, expected) in [
        ("explain deploym --complete", "deployments\n"),
        ("explain Deploym --complete", "Deployment\n"),
        ("explain deployments.spec.templ --complete", "deployments.spec.template\n"),
        (
            "explain deploy.spec.template.spec.containers.lifec --complete",
            "deploy.spec.template.spec.containers.lifecycle\n",
        ),
        ("explain --schemas crd.yaml wid --complete", "widgets\n"),
        ("explain --schemas crd.yaml widgets.spec.rep --complete", "widgets.spec.replicas\n"),
        (
            "explain --schemas crd.yaml --api-version example.com/v1 widgets.spec.ports.po --complete",
            "widgets.spec.ports.port\n",
        ),
        ("explain --schemas crd.yaml widgets.spec.zzz. --complete", ""),
        ("explain none.spec. --complete", ""),
        ("sample deploym --complete", "deployments\n"),
        ("sample deployments.sp --complete", ""),
    ] {
        let run = folder.run(line);
        assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(0), expected, ""), "{line}");
    }
    for (shell, asks) in
        [("bash", "_kubeshape_with_kinds"), ("zsh", ":_kubeshape_kinds'"), ("fish", "__kubeshape_kinds")]
    {
        let script = folder.run(&format!("completions {shell}")).out;
        assert!(script.matches(asks).count() > 1, "{shell}");
    }
}

#[cfg(unix)]
#[test]
fn bash_asks_the_command_for_kinds() {
    let folder = Folder::new();
    folder.write("script", folder.run("completions bash").out);
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_kubeshape"));
    let line = "source script; COMP_WORDS=(kubeshape explain deploym); COMP_CWORD=2
        _kubeshape_with_kinds kubeshape deploym explain; echo \"${COMPREPLY[@]}\"
        COMP_WORDS=(kubeshape chec); COMP_CWORD=1; _kubeshape_with_kinds kubeshape chec kubeshape; echo \"${COMPREPLY[@]}\"";
    let mut bash = std::process::Command::new("bash");
    bash.args(["-c", line]).current_dir(folder.path("")).env("PATH", program.parent().expect("a folder"));
    let Ok(run) = bash.output() else { return };
    assert_eq!(
        String::from_utf8_lossy(&run.stdout),
        "deployments\ncheck\n",
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
}
