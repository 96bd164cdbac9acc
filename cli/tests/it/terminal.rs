//! Tests that no command lets the content of an input move the cursor, change a title, or reverse text.

use crate::common::{Folder, crd, ssa};

/// Control characters and bidirectional controls, as in terminal escapes.
const HOSTILE: [char; 12] = [
    '\u{1b}', '\u{7}', '\u{8}', '\r', '\u{7f}', '\u{9d}', '\u{9b}', '\u{85}', '\u{202e}', '\u{2066}', '\u{200f}',
    '\u{b}',
];

fn is_hostile(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t'))
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{61c}')
}

#[test]
fn no_command_passes_terminal_escapes_on() {
    let folder = Folder::new();
    // One in three still includes an escape, a carriage return, a control character of C1, and a bidirectional control.
    for c in HOSTILE.into_iter().step_by(kubeshape_corpus::one_in(3)) {
        let quoted = format!("\"x\\U{:08x}[31my\"", u32::from(c));
        let raw = format!("x{c}[31my");
        // As a file with that name is written, and raw in YAML where YAML allows it.
        let named = format!("bad{c}name.yaml");
        folder.write("crd.yaml", ssa::CRD);
        folder.write(&named, "a: [\n");
        folder.write("raw.yaml", format!("kind: {raw}\n  {raw}: [{raw}\n"));
        folder.write(
            "crds.yaml",
            crd("widgets", &["v1"])
                + &format!("              {quoted}: {{type: {quoted}, pattern: {quoted}, {quoted}: 1, default: {quoted}}}\n")
                + &format!("---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: {quoted}}}\nspec: {{group: {quoted}, {quoted}: 1, names: {{plural: {quoted}, kind: {quoted}}}, versions: [{{name: {quoted}, served: true, storage: true, schema: {{openAPIV3Schema: {{type: object, nullable: true, {quoted}: 2}}}}}}]}}\n"),
        );
        folder.write(
            "swagger.yaml",
            format!("swagger: '2.0'\ninfo: {{title: {quoted}, version: '1'}}\npaths: {{{quoted}: {{get: {{parameters: [{{name: {quoted}, in: {quoted}}}], responses: {{}}}}}}}}\ndefinitions: {{{quoted}: {{$ref: {quoted}, type: {quoted}, x-kubernetes-group-version-kind: [{{group: {quoted}, kind: {quoted}, version: {quoted}}}]}}}}\n"),
        );
        let fields = format!("{{\"f:spec\":{{\"f:replicas\":{{}},\"f:x\\u{:04x}\":{{}}}}}}", u32::from(c));
        let managed = format!(
            "  managedFields: [{{manager: {quoted}, operation: Apply, apiVersion: example.com/v1, fieldsType: FieldsV1, fieldsV1: {fields}, subresource: {quoted}}}]\n"
        );
        for (name, replicas) in [("live.yaml", 1), ("other.yaml", 2)] {
            folder.write(
                name,
                format!("apiVersion: example.com/v1\nkind: Widget\nmetadata:\n  name: a\n  labels: {{{quoted}: {quoted}}}\n{managed}spec: {{replicas: {replicas}, args: [{quoted}, b{replicas}], names: [{quoted}]}}\n"),
            );
        }
        folder.write("named.yaml", format!("apiVersion: example.com/v1\nkind: Widget\nmetadata: {{name: {quoted}, namespace: {quoted}}}\nspec: {{replicas: {quoted}, {quoted}: 1}}\n"));
        folder.write("unknown.yaml", format!("apiVersion: {quoted}\nkind: {quoted}\nmetadata: {{name: {quoted}}}\n"));
        folder.write("scenario.yaml", format!("scenario: {quoted}\nschemas: [crd.yaml]\nsteps:\n- {quoted}: 1\n- apply: {{apiVersion: example.com/v1, kind: Widget, metadata: {{name: {quoted}}}, spec: {{args: [{quoted}]}}}}\n  manager: {quoted}\n  expect: {{object: {{a: {quoted}}}}}\n"));
        folder.write("kubeshape.toml", format!("[convert]\nlayout = {quoted}\n"));
        let file = named.as_str();
        let lines: Vec<Vec<&str>> = [
            "convert crds.yaml --to v2,v3,smd,jsonschema,structural -o out -v",
            "convert crds.yaml --to v2,v3,smd,jsonschema,structural -o out --dry-run --prune",
            "convert crds.yaml --to v2,v3,smd,jsonschema -o out --progress always",
            "convert crds.yaml --to v2 --output-format short -o out -v",
            "convert crds.yaml --to v2 --output-format json -o out -v",
            "convert crds.yaml --to v2 --output-format sarif -o out -v",
            "convert crds.yaml --to v2 --output-format github -o out -v",
            "convert crds.yaml --to v2 -o out -v --color always",
            "convert swagger.yaml --to v3,jsonschema,smd -o out -v",
            "convert swagger.yaml --to v3 --inline -o out -v",
            "convert raw.yaml --to v2",
            "convert FILE --to v2",
            "convert crd.yaml --to v2 --base FILE",
            "convert crd.yaml --to v2 --onto FILE",
            "convert crd.yaml --to v2 --report FILE/x",
            "convert crd.yaml --to v2 -o FILE",
            "convert crd.yaml --to v2 --kind FILE",
            "convert FILE.gone --to v2",
            "apply --schemas crd.yaml --live live.yaml --field-manager ci other.yaml -o out.yaml",
            "apply --schemas crd.yaml --live live.yaml --field-manager ci named.yaml -o out.yaml",
            "apply --schemas crd.yaml --field-manager ci unknown.yaml -o out.yaml",
            "apply --schemas FILE --field-manager ci live.yaml -o out.yaml",
            "apply --schemas crd.yaml --field-manager FILE live.yaml -o out.yaml",
            "update --schemas crd.yaml --live live.yaml --field-manager ci named.yaml -o out.yaml",
            "blame --schemas crd.yaml live.yaml",
            "blame --schemas crd.yaml live.yaml other.yaml --paths",
            "blame live.yaml named.yaml",
            "blame --schemas crd.yaml live.yaml --show-managed-fields",
            "compare --schemas crd.yaml live.yaml other.yaml",
            "compare --schemas crd.yaml live.yaml named.yaml",
            "compare --schemas crd.yaml live.yaml FILE",
            "extract --schemas crd.yaml --field-manager ci live.yaml -o out.yaml",
            "extract --schemas crd.yaml --field-manager FILE live.yaml",
            "fieldset --schemas crd.yaml --paths live.yaml",
            "fieldset --schemas crd.yaml named.yaml -o out.yaml",
            "merge --schemas crd.yaml live.yaml named.yaml -o out.yaml",
            "scenario scenario.yaml",
            "scenario FILE",
            "serve FILE --listen FILE",
            "serve gone --listen 127.0.0.1:0",
            "explain-code FILE",
            "config FILE",
            "FILE",
        ]
        .map(|line| line.split_whitespace().collect())
        .to_vec();
        for line in lines {
            let with_name: Vec<String> = line.iter().map(|word| word.replace("FILE", file)).collect();
            let mut arguments: Vec<&str> = vec!["--no-config"];
            arguments.extend(with_name.iter().map(String::as_str));
            check(&folder, &arguments, c);
        }
        check(&folder, &["convert", "crd.yaml", "--to", "v2"], c);
        check(&folder, &["config"], c);
    }
}

/// Runs the command on its own terminal, writes to it, and ends the input.
#[cfg(target_os = "linux")]
fn on_terminal(folder: &Folder, line: &str, input: &str) -> Option<String> {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let program = format!("{} {line}", env!("CARGO_BIN_EXE_kubeshape"));
    let mut command = Command::new("script");
    command.args(["-qec", &program, "/dev/null"]).current_dir(folder.path("")).env("COLUMNS", "200");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let mut stdin = child.stdin.take()?;
    stdin.write_all(format!("{input}\u{4}\u{4}").as_bytes()).ok()?;
    let output = child.wait_with_output().ok()?;
    drop(stdin);
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(target_os = "linux")]
#[test]
fn a_command_says_that_it_reads_from_the_terminal() {
    let folder = Folder::new();
    folder.write("crd.yaml", ssa::CRD);
    for line in [
        "check",
        "check -",
        "check /dev/stdin",
        "validate --schemas crd.yaml",
        "validate --schemas - crd.yaml",
        "convert - --to v2",
        "blame -",
        "diff crd.yaml /dev/tty",
    ] {
        let Some(said) = on_terminal(&folder, line, "kind: A\n") else { return };
        assert!(said.contains("reading from the terminal; name files or folders, or end the input"), "{line}: {said}");
    }
    let said = on_terminal(&folder, "check crd.yaml", "").unwrap_or_default();
    assert!(!said.contains("reading from the terminal"), "{said}");
    assert!(!folder.pipe("check", ssa::CRD).err.contains("terminal"));
}

fn check(folder: &Folder, arguments: &[&str], c: char) {
    let output = folder.command(arguments).output().expect("a run");
    for bytes in [&output.stdout, &output.stderr] {
        let text = String::from_utf8_lossy(bytes);
        let mut shown = text.into_owned();
        if arguments.contains(&"always") {
            // Our own colours.
            for colour in shown.match_indices("\u{1b}[").map(|(at, _)| at).collect::<Vec<_>>().into_iter().rev() {
                let end = shown[colour..].find('m').map_or(shown.len(), |end| colour + end + 1);
                if shown[colour + 2..end - 1].bytes().all(|byte| byte.is_ascii_digit() || byte == b';') {
                    shown.replace_range(colour..end, "");
                }
            }
        }
        let found = shown.chars().find(|c| is_hostile(*c));
        assert_eq!(found, None, "{arguments:?} with U+{:04X}: {shown:?}", u32::from(c));
    }
    let ended = output.status.code();
    assert!(ended.is_some_and(|code| code <= 2), "{arguments:?}: {ended:?}");
}
