//! Tests of the findings of a run: which ones make it fail, and how they are shown.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common::{Folder, crd, crd_with_schema, json};
use serde_json::{Value, json};

const BAD_TYPE: &str = "type: object\nproperties:\n  spec:\n    type: object\n    properties:\n      on: {type: string}\n      size: {type: strng}\n";

fn folder(schema: &str) -> Folder {
    let folder = Folder::new();
    folder.write("a.yaml", crd_with_schema(schema));
    folder
}

#[test]
fn a_warning_fails_a_run_that_denies_it() {
    let folder = folder(BAD_TYPE);
    let line = "convert a.yaml --to v3 -o out";
    let run = folder.run(line);
    let expected = "\
warning[KS1004]: a.yaml:20:15: An unquoted key is read as a boolean or a number
    and gets another name: on without quotes is read as \"true\"; write \"on\" to
    keep the name (in widgets.example.com, version v1)
warning[KS3003]: a.yaml:21:21: The schema names a type that does not exist; the
    version is published without schema: properties[spec].properties[size].type:
    found \"strng\", expected array, boolean, integer, number, object or string
    (in widgets.example.com, version v1)
";
    assert_eq!((run.code, run.fits().err.as_str()), (Some(0), expected));
    for deny in ["warning", "KS3003", "ks3003,narrowed", "all", "narrowed --deny KS3003"] {
        folder.run(&format!("{line} --deny {deny}")).says(1, &["error[KS3003]: ", "--> a.yaml:21:21"]);
        assert_eq!(folder.names("out"), ["apis__example.com__v1_openapi.json"], "the results are written all the same");
    }
    let run = folder.run(&format!("{line} --deny warning --allow KS1004"));
    let expected = "\
error[KS3003]: The schema names a type that does not exist; the version is
               published without schema
  --> a.yaml:21:21
   |
21 |               size: {type: strng}
   |                     ^^^^^^^^^^^^^
   |
   = note: properties[spec].properties[size].type: found \"strng\", expected
           array, boolean, integer, number, object or string
   = note: in widgets.example.com, version v1
   = help: Write one of the six types. Instead of `type: \"null\"` use
           `nullable: true`, for several types `x-kubernetes-int-or-string` or
           `x-kubernetes-preserve-unknown-fields`.

error: 1 finding is denied: 1 of KS3003 (warning)
For more about an error, run `kubeshape explain-code KS3003`.
";
    assert_eq!((run.code, run.err.as_str()), (Some(1), expected));
    folder.run(&format!("{line} --allow warning")).is_silent();
    // The narrower rule decides. If two rules are equally narrow, deny wins.
    folder.run(&format!("{line} --deny KS3003 --allow warning")).says(1, &["error[KS3003]"]);
    folder.run(&format!("{line} --deny warning --allow warning")).says(1, &["2 findings are denied"]);
    folder.run(&format!("{line} --deny narrowed")).says(0, &["warning[KS3003]"]);
}

#[test]
fn losses_and_notes_can_be_denied() {
    let folder = Folder::new();
    folder.write("a.yaml", crd("widgets", &["v1", "v2"]).replacen("served: true", "served: false", 1));
    folder.run("convert a.yaml --to v2 -o x.json").is_silent();
    let run = folder.run("convert a.yaml --to v2 -o x.json --deny dropped");
    run.says(1, &["error[KS2008]", "--> a.yaml:31:21", "error: 1 finding is denied: 1 of KS2008 (dropped)"]);
    folder.run("convert a.yaml --to v2 -o x.json --deny loss --allow KS2008").is_silent();
    folder.run("convert a.yaml --to v2 -o x.json --deny note").says(1, &["error[KS4003]", "--> a.yaml:10:5"]);
    // All of them count, whether they are shown or not.
    let fields: String =
        (0..9).map(|n| ["              f", &n.to_string(), ": {type: integer, default: 1}\n"].concat()).collect();
    folder.write("b.yaml", crd("gadgets", &["v1"]) + &fields);
    let run = folder.run("convert b.yaml --to v2 -o x.json --deny loss");
    run.says(1, &["error: 10 findings are denied: 10 of KS2008 (loss) (`-v` shows all of them)"]);
    assert_eq!(run.err.matches("error[KS2008]").count(), 5);
    let run = folder.run("convert b.yaml --to v2 -o x.json --deny loss -v");
    assert_eq!(run.err.matches("error[KS2008]").count(), 10);
    // Losses of a replaced definition do not count.
    folder.write("in/a.yaml", crd("gadgets", &["v1"]) + &fields);
    folder.write("in/b.yaml", crd("gadgets", &["v1"]).replace(", default: 1", ""));
    folder.run("convert in --to v2 -o x.json --deny loss --duplicates last").says(0, &["warning[KS4001]"]);
    folder.run("convert in --to v2 -o x.json --deny loss --duplicates first").says(1, &["10 of KS2008"]);
}

#[test]
fn allowed_findings_are_in_no_report() {
    let folder = folder(BAD_TYPE);
    folder.run("convert a.yaml --to v3 -o out --allow KS1004 --report r.ndjson").says(0, &["KS3003"]);
    let codes: Vec<Value> = crate::common::report(&folder.read("r.ndjson")).iter().map(|l| l["code"].clone()).collect();
    assert_eq!(codes, ["KS3003"]);
}

#[test]
fn unknown_codes_and_errors_are_refused() {
    let folder = folder(BAD_TYPE);
    for (flag, message) in [
        ("--deny KS3009", "there is no code or kind `KS3009`; did you mean `KS3005`?"),
        ("--deny warnings", "there is no code or kind `warnings`; did you mean `warning`?"),
        ("--allow loss,narowed", "there is no code or kind `narowed`; did you mean `narrowed`?"),
        ("--allow KS1005", "KS1005 is an error, which cannot be allowed"),
        ("--allow error", "error is an error, which cannot be allowed"),
    ] {
        folder.run(&format!("convert a.yaml --to v3 -o out {flag}")).says(2, &[message]);
        folder.run(&format!("serve a.yaml {flag}")).says(2, &[message]);
    }
    assert_eq!(folder.names("."), ["a.yaml"]);
}

#[test]
fn every_command_with_findings_can_fail() {
    use crate::common::ssa::{CRD, LIVE};
    let folder = Folder::new();
    folder.write("crd.yaml", CRD).write("live.yaml", LIVE).write("old.yaml", CRD.replace("replicas", "copies"));
    let line = "fieldset --schemas crd.yaml --schemas old.yaml --paths live.yaml";
    folder.run(line).says(0, &["warning[KS8010]"]);
    folder.run(&format!("{line} --deny KS8010")).says(1, &["error[KS8010]", "--> old.yaml:1:1", "1 finding is denied"]);
    let run = folder.run(&format!("{line} --allow warning"));
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    folder.write("a.yaml", crd_with_schema(BAD_TYPE));
    folder.run("serve a.yaml --listen 127.0.0.1:0 --deny KS3003").says(1, &["error[KS3003]", "1 finding is denied"]);
}

#[test]
fn losses_are_shown_with_examples() {
    let folder = Folder::new();
    let schema = "type: object\nproperties:\n  a: {type: integer, default: 1}\n  b: {type: integer, default: 2}\n  tags:\n    type: array\n    x-kubernetes-list-type: set\n    items: {type: number}\n";
    folder.write("a.yaml", crd_with_schema(schema));
    let run = folder.run("convert a.yaml --to v2,jsonschema -o out --progress always");
    let (overview, _) = run.err.split_once("read  ").unwrap();
    let expected = "\
1 narrowed: the result rejects objects that the source accepts
  KS6003       1  JSON Schema treats 1 and 1.0 as equal items of a set
                  a.yaml:20:13: x-kubernetes-list-type: set (jsonschema)
1 widened: the result accepts objects that the source rejects
  KS6002       1  JSON Schema does not keep the items of a list apart by keys
                  e.g. a.yaml:15:9:
                    io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta: keys uid
                    (jsonschema)
2 dropped: something is missing in the result
  KS2008       2  OpenAPI v2 as served holds no defaults
                  e.g. a.yaml:17:14: default (v2)
`--report FILE` lists all of them.

";
    assert_eq!((run.code, overview), (Some(0), expected), "{}", run.err);
    run.fits();
    folder
        .run("convert a.yaml --to v2 -o out --progress always --report r.ndjson")
        .says(0, &["r.ndjson lists all of them."]);
}

#[test]
fn findings_on_one_line_each() {
    let folder = folder(BAD_TYPE);
    folder.write("b.yaml", "a: [");
    let run = folder.run("convert a.yaml b.yaml --to v3 -o out --output-format short --deny KS1004");
    let expected = "\
a.yaml:20:15: error[KS1004]: An unquoted key is read as a boolean or a number and gets another name: on without quotes is read as \"true\"; write \"on\" to keep the name (in widgets.example.com, version v1)
a.yaml:21:21: warning[KS3003]: The schema names a type that does not exist; the version is published without schema: properties[spec].properties[size].type: found \"strng\", expected array, boolean, integer, number, object or string (in widgets.example.com, version v1)
";
    assert_eq!((run.code, run.out.as_str()), (Some(1), ""));
    assert_eq!(run.err.lines().take(2).collect::<Vec<_>>(), expected.lines().take(2).collect::<Vec<_>>());
    assert!(run.err.lines().nth(2).unwrap().starts_with("b.yaml:1:"), "{}", run.err);
}

#[test]
fn findings_as_json_lines() {
    let folder = folder(&BAD_TYPE.replace("strng", "string, default: a"));
    let run = folder.run("convert a.yaml --to v2 -o x.json --output-format json");
    let lines = crate::common::report(&run.err);
    let of = |line: &Value| format!("{} {} {}", line["code"], line["kind"], line["message"]);
    assert_eq!(
        lines.iter().map(of).collect::<Vec<_>>(),
        [
            "\"KS1004\" \"warning\" \"An unquoted key is read as a boolean or a number and gets another name: on without \
             quotes is read as \\\"true\\\"; write \\\"on\\\" to keep the name\"",
            "\"KS2008\" \"dropped\" \"OpenAPI v2 as served holds no defaults: default\""
        ]
    );
    assert!(lines.iter().all(|line| line["pointer"].is_string()), "{}", run.err);
    let quiet = folder.run("convert a.yaml --to v2 -o x.json --output-format json -q");
    assert_eq!((quiet.code, quiet.err.as_str()), (Some(0), ""));
}

#[test]
fn findings_as_annotations_of_github() {
    let folder = folder(BAD_TYPE);
    let run = folder.run("convert a.yaml --to v3 -o out --output-format github --deny KS3003");
    let lines: Vec<&str> = run.err.lines().collect();
    assert_eq!((run.code, lines.len()), (Some(1), 2), "{}", run.err);
    assert!(
        lines[0].starts_with("::warning file=a.yaml,line=20,col=15,title=KS1004 An unquoted key is read"),
        "{}",
        run.err
    );
    assert!(
        lines[1].starts_with("::error file=a.yaml,line=21,col=21,title=KS3003 The schema names a type"),
        "{}",
        run.err
    );
    assert!(lines[1].contains("(in widgets.example.com, version v1)%0AWrite one of the six types."), "{}", run.err);
}

/// Returns a schema for the parts of SARIF 2.1.0 that are written. It allows nothing else there.
fn sarif_schema() -> Value {
    let text = json!({"type": "object", "required": ["text"], "additionalProperties": false,
        "properties": {"text": {"type": "string", "minLength": 1}, "markdown": {"type": "string"}}});
    let level = json!({"enum": ["none", "note", "warning", "error"]});
    let positive = json!({"type": "integer", "minimum": 1});
    let location = json!({"type": "object", "additionalProperties": false, "properties": {
        "physicalLocation": {"type": "object", "additionalProperties": false, "required": ["artifactLocation"], "properties": {
            "artifactLocation": {"type": "object", "additionalProperties": false, "properties": {
                "uri": {"type": "string", "format": "uri-reference", "pattern": "^[^ \\\\]+$"}}},
            "region": {"type": "object", "additionalProperties": false, "properties": {
                "startLine": positive, "startColumn": positive, "endColumn": positive}}}},
        "logicalLocations": {"type": "array", "uniqueItems": true, "items": {"type": "object", "additionalProperties": false,
            "properties": {"fullyQualifiedName": {"type": "string"}, "kind": {"type": "string"}}}}}});
    let rule = json!({"type": "object", "required": ["id"], "additionalProperties": false, "properties": {
        "id": {"type": "string"}, "shortDescription": text, "help": text,
        "defaultConfiguration": {"type": "object", "additionalProperties": false, "properties": {"level": level}},
        "properties": {"type": "object", "properties": {"tags": {"type": "array", "items": {"type": "string"}}}}}});
    let driver = json!({"type": "object", "required": ["name"], "additionalProperties": false, "properties": {
        "name": {"type": "string"}, "informationUri": {"type": "string", "format": "uri"},
        "semanticVersion": {"type": "string"}, "rules": {"type": "array", "uniqueItems": true, "items": rule}}});
    let result = json!({"type": "object", "required": ["message"], "additionalProperties": false, "properties": {
        "ruleId": {"type": "string"}, "ruleIndex": {"type": "integer", "minimum": 0}, "level": level, "message": text,
        "locations": {"type": "array", "items": location}, "properties": {"type": "object"}}});
    json!({"type": "object", "required": ["version", "runs"], "additionalProperties": false, "properties": {
        "$schema": {"type": "string", "format": "uri"}, "version": {"const": "2.1.0"},
        "runs": {"type": "array", "items": {"type": "object", "required": ["tool"], "additionalProperties": false, "properties": {
            "tool": {"type": "object", "required": ["driver"], "additionalProperties": false, "properties": {"driver": driver}},
            "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
            "results": {"type": "array", "items": result}}}}}})
}

#[track_caller]
fn is_sarif(text: &str) -> Value {
    let document = json(text);
    let validator = jsonschema::options().should_validate_formats(true).build(&sarif_schema()).unwrap();
    let errors: Vec<String> = validator.iter_errors(&document).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:?}\n{text}");
    let run = &document["runs"][0];
    for result in run["results"].as_array().unwrap() {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(run["tool"]["driver"]["rules"][index]["id"], result["ruleId"]);
    }
    document
}

#[test]
fn findings_as_sarif() {
    let folder = folder(&BAD_TYPE.replace("strng", "string, default: a"));
    let run = folder.run("convert a.yaml --to v2 -o x.json --output-format sarif --deny warning");
    let document = is_sarif(&run.err);
    assert_eq!(run.code, Some(1));
    let results = &document["runs"][0]["results"];
    let expected = json!({
        "ruleId": "KS1004", "ruleIndex": 0, "level": "error",
        "message": {"text": "An unquoted key is read as a boolean or a number and gets another name: on without quotes is \
                             read as \"true\"; write \"on\" to keep the name\nPut the key into quotes: `\"on\"`."},
        "locations": [{
            "physicalLocation": {"artifactLocation": {"uri": "a.yaml"}, "region": {"startLine": 20, "startColumn": 15, "endColumn": 17}},
            "logicalLocations": [{"kind": "member", "fullyQualifiedName":
                "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/true"}]
        }],
        "properties": {"kind": "warning", "resource": "widgets.example.com", "version": "v1"}
    });
    assert_eq!(results[0], expected);
    assert_eq!((&results[1]["ruleId"], &results[1]["level"]), (&json!("KS2008"), &json!("note")));
    // Without findings it is still a document, and it can be a report.
    folder.write("good.yaml", crd("gadgets", &["v1"]));
    let run = folder.run("convert good.yaml --to v3 -o out --output-format sarif");
    assert_eq!((run.code, is_sarif(&run.err)["runs"][0]["results"].clone()), (Some(0), json!([])));
    folder.run("convert a.yaml --to v2 -o x.json --report r.sarif --allow KS1004").is_silent();
    let document = is_sarif(&folder.read("r.sarif"));
    assert_eq!(document["runs"][0]["results"][0]["ruleId"], "KS2008");
    folder.write("in broken.json", "{");
    let run = crate::common::Run::of(
        &folder.command(&["convert", "in broken.json", "--to", "v3", "--output-format", "sarif"]).output().unwrap(),
    );
    let document = is_sarif(&run.err);
    let uri = document.pointer("/runs/0/results/0/locations/0/physicalLocation/artifactLocation/uri");
    assert_eq!(uri, Some(&json!("in%20broken.json")));
}

#[test]
fn messages_fit_80_columns() {
    let folder = folder(BAD_TYPE);
    folder.write("b.yaml", "metadata:\n  name: {{ .Release.Name }}-widgets\n").write("c.json", "{\"a\": 1, \"a\": 2}");
    folder
        .write("d.yaml", crd_with_schema("verions: []"))
        .write("e.yaml", "\u{0}\u{1}")
        .write("f.yaml", "a:\n\tb: 1\n");
    for flags in ["", "-v", "--deny all", "--progress always", "--onto missing.json", "--jobs 0"] {
        folder.run(&format!("convert . --to v2,jsonschema -o out {flags}")).fits();
    }
}

#[test]
fn the_advice_depends_on_the_case() {
    let folder = Folder::new();
    let utf16: Vec<u8> = "kind: A\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    folder
        .write("utf16.yaml", [b"\xFF\xFE".as_slice(), &utf16].concat())
        .write("binary.yaml", [0u8, 1, 2, 3].repeat(99));
    folder
        .write("latin.yaml", b"a: \xE4\xF6\xFC\n")
        .write("tab.yaml", "a:\n\tb: 1\n")
        .write("helm.yaml", "a: {{ .b }}\n");
    folder.write("on.yaml", crd_with_schema("type: object\nproperties:\n  on: {type: string}\n"));
    for (name, code, advice) in [
        ("utf16", 1, "help: Convert the file from UTF-16 to UTF-8"),
        ("binary", 1, "help: The file is binary."),
        ("latin", 1, "help: Save the file as UTF-8"),
        ("tab", 1, "help: Replace the tab by spaces"),
        ("helm", 1, "help: Render the template first (`helm template`"),
        ("on", 0, "help: Put the key into quotes: `\"on\"`."),
    ] {
        let run = folder.run(&format!("convert {name}.yaml --to v3 -o out -v"));
        run.says(code, &[advice]);
        assert_eq!(run.err.contains("helm"), name == "helm", "{}", run.err);
    }
}

#[test]
fn a_position_in_one_long_line_is_a_path() {
    let folder = Folder::new();
    let filler = "x".repeat(400);
    let text = format!(
        r#"{{"openapi":"3.0.0","info":{{"title":"{filler}","version":"1"}},"paths":{{"/a":{{"get":{{"parameters":{{}}}}}}}}}}"#
    );
    folder.write("a.json", text);
    let run = folder.run("convert a.json --to v3");
    run.says(1, &["error[KS1005]", "--> a.json, at /paths/~1a/get/parameters"]);
    assert!(!run.err.contains(":1:4"), "{}", run.err);
    folder.write("crd.yaml", crate::common::ssa::CRD);
    let text = format!(
        r#"{{"apiVersion":"example.com/v1","kind":"Widget","metadata":{{"name":"{filler}"}},"spec":{{"replcas":5}}}}"#
    );
    folder.write("b.json", text);
    let run = folder.run("fieldset --schemas crd.yaml b.json");
    run.says(1, &["error[KS8002]", "--> b.json, at /spec/replcas", "checked against crd.yaml:19:13"]);
}

#[test]
fn a_misspelt_field_suggests_the_most_similar_one() {
    let folder = Folder::new();
    folder.write("a.yaml", crd("widgets", &["v1"]).replace("  versions:", "  verions:"));
    let run = folder.run("convert a.yaml --to v3 -o out");
    run.says(1, &["An unknown field is dropped: verions; did you mean `versions`?", "error[KS1010]"]);
}

#[test]
fn a_report_is_written_in_addition_to_the_output() {
    let folder = folder(BAD_TYPE);
    let human = folder.run("check a.yaml");
    for (name, part) in [
        ("r.sarif", "\"version\": \"2.1.0\""),
        ("r.xml", "<testsuites"),
        ("r.md", "KS31"),
        ("r.ndjson", "\"endLine\":21,\"endColumn\":"),
        ("r.json", "{\"code\":\"KS"),
        ("r.txt", "a.yaml:21:28: error[KS31"),
        ("r.log", "{\"code\":\"KS"),
    ] {
        let run = folder.run(&format!("check a.yaml --report {name}"));
        assert_eq!((run.code, &run.out, &run.err), (human.code, &human.out, &human.err), "{name}");
        assert!(folder.read(name).contains(part), "{name}: {}", folder.read(name));
    }
    is_sarif(&folder.read("r.sarif"));
    // The report gets this format, because its name implies none. People get theirs.
    let run = folder.run("check a.yaml --output-format github --report r.log");
    assert_eq!((run.code, &run.out), (human.code, &human.out));
    assert!(folder.read("r.log").starts_with("::"), "{}", folder.read("r.log"));
    let run = folder.run("check a.yaml --output-format short --report r.sarif");
    assert!(run.out.starts_with("a.yaml:"), "{}", run.out);
    is_sarif(&folder.read("r.sarif"));
    // The folder of a report is created. A file cannot be used as a folder.
    assert_eq!(folder.run("check a.yaml -q --report new/folder/r.sarif").code, human.code);
    is_sarif(&folder.read("new/folder/r.sarif"));
    folder.run("check a.yaml -q --report a.yaml/r.sarif").says(2, &["cannot write a.yaml/r.sarif"]);
}

#[test]
fn every_command_with_findings_writes_reports() {
    let folder = Folder::new();
    let schema = "type: object\nproperties:\n  spec:\n    type: object\n    properties:\n      size: {type: integer}\n";
    let old = crd_with_schema(schema);
    folder.write("a.yaml", &old).write("b.yaml", old.replace("integer", "string")).write(
        "o.yaml",
        "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a}\nspec: {size: a}\n---\n\
         apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: b}\nspec: {size: 1}\n",
    );
    folder.write("s.yaml", "scenario: nothing\nschemas: [{file: a.yaml}]\nsteps: [{set: null}]\n");
    folder.write("t.go", "package v1\n\ntype A struct {\n\t// +lifecycle:kubernetes:alpha=v99.1\n\tB string\n}\n");
    for (line, name, parts) in [
        ("validate --schemas a.yaml o.yaml", "r.xml", ["tests=\"2\"", "failures=\"1\""]),
        ("diff a.yaml b.yaml", "r.md", ["breaking", "KS8401"]),
        ("upgrade a.yaml b.yaml", "r.sarif", ["\"runs\"", "2.1.0"]),
        ("test s.yaml", "r.xml", ["tests=\"1\"", "nothing"]),
        ("convert b.yaml --to v2 -o out", "r.xml", ["<testsuites", "</testsuites>"]),
        ("convert b.yaml --to v2 -o out", "r.md", ["", ""]),
        ("blame --schemas a.yaml o.yaml", "r.json", ["KS80", "o.yaml"]),
        ("lifecycle lint t.go", "r.txt", ["t.go:", "KS83"]),
    ] {
        let run = folder.run(&format!("{line} --report {name}"));
        let text = folder.read(name);
        assert!(parts.iter().all(|part| text.contains(part)), "{line}\n{}\n{text}", run.err);
        let human = folder.run(line);
        assert_eq!((run.code, &run.out), (human.code, &human.out), "{line}");
    }
}
