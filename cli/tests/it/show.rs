//! Tests of `table`, `explain` and `sample`.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common::Folder;

const CRD: &str = r#"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tabs.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: tabs, singular: tab, kind: Tab, shortNames: [tb]}
  versions:
  - name: v1
    served: true
    storage: true
    additionalPrinterColumns:
    - {name: Size, type: integer, jsonPath: .spec.size}
    - {name: Ready, type: string, jsonPath: '.status.conditions[?(@.type=="Ready")].status'}
    - {name: Note, type: string, jsonPath: .spec.note, priority: 1}
    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
    schema:
      openAPIV3Schema:
        type: object
        description: A tab.
        required: [spec]
        properties:
          spec:
            type: object
            description: What it shall be. It is read once.
            required: [size, colour]
            properties:
              size: {type: integer, minimum: 3, maximum: 9, description: How large it is.}
              colour: {type: string, enum: [red, blue]}
              note: {type: string, default: none}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
"#;

const OBJECTS: &str = r#"
apiVersion: example.com/v1
kind: Tab
metadata: {name: first, namespace: a, creationTimestamp: "2030-01-01T00:00:00Z"}
spec: {size: 3, note: "x\u001b[31m"}
status: {conditions: [{type: Ready, status: "True"}]}
---
apiVersion: example.com/v1
kind: Tab
metadata: {name: second-with-a-long-name, namespace: b, creationTimestamp: "2029-12-31T23:59:00Z"}
spec: {size: 12, note: "one\ntwo"}
"#;

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("crd.yaml", CRD).write("tabs.yaml", OBJECTS);
    folder
}

const TABLE: &str = "table --schemas crd.yaml tabs.yaml --now 2030-01-01T00:01:00Z";

#[test]
fn a_table_is_like_that_of_kubectl() {
    let folder = folder();
    let expected = "\
NAME                      SIZE   READY   AGE
first                     3      True    60s
second-with-a-long-name   12             2m
";
    assert_eq!(folder.run(TABLE).out, expected);
    let expected = "\
NAMESPACE   NAME                      SIZE   READY   NOTE      AGE
a           first                     3      True    x^[[31m   60s
b           second-with-a-long-name   12             one...    2m
";
    assert_eq!(folder.run(&format!("{TABLE} -A -o wide")).out, expected);
}

#[test]
fn a_table_uses_the_defaults_of_the_schema() {
    let folder = folder();
    let object = |name: &str, spec: &str| {
        format!("apiVersion: example.com/v1\nkind: Tab\nmetadata: {{name: {name}}}\nspec: {spec}\n---\n")
    };
    folder.write("plain.yaml", object("plain", "{size: 3}") + &object("empty", "{size: 4, note: null}"));
    folder.write("said.yaml", object("said", "{size: 3, note: \"\"}"));
    let wide = |object: &str| {
        let line = format!("table --schemas crd.yaml {object} -o csv --wide --no-headers --now 2030-01-01T00:01:00Z");
        folder.run(&line).out
    };
    assert_eq!(wide("plain.yaml"), "plain,3,,none,\r\nempty,4,,none,\r\n");
    assert_eq!(wide("said.yaml"), "said,3,,,\r\n");
    let json = folder.run("table --schemas crd.yaml plain.yaml -o json").out;
    assert_eq!(json.matches(r#""none""#).count(), 2, "{json}");
    // A template sees what a server returns, if the schemas are named.
    let template = "-o jsonpath={.spec.note}";
    let one = object("plain", "{size: 3}");
    folder.write("one.yaml", one.trim_end_matches("---\n"));
    assert_eq!(folder.run(&format!("table --schemas crd.yaml one.yaml {template}")).out, "none");
    assert_eq!(folder.run(&format!("table one.yaml {template}")).out, "");
}

#[test]
fn a_table_has_formats_for_programs() {
    let folder = folder();
    let expected = "Name,Size,Ready,Age\r\nfirst,3,True,60s\r\nsecond-with-a-long-name,12,,2m\r\n";
    assert_eq!(folder.run(&format!("{TABLE} -o csv")).out, expected);
    let json = folder.run(&format!("{TABLE} -o json")).out;
    assert!(json.starts_with("{\n  \"apiVersion\": \"meta.k8s.io/v1\",\n  \"columnDefinitions\": ["), "{json}");
    let names = folder.run("table tabs.yaml -o jsonpath={.items[*].metadata.name}");
    assert_eq!((names.code, names.out.as_str()), (Some(0), "first second-with-a-long-name"));
    folder
        .run("table tabs.yaml -o jsonpath={.items[}")
        .says(2, &["error parsing jsonpath {.items[}, unterminated array"]);
    folder.run("table tabs.yaml -o xml").says(2, &["expected table, wide, csv, json or jsonpath=TEMPLATE"]);
    folder.run("table tabs.yaml --now yesterday").says(2, &["--now takes a time such as"]);
}

#[test]
fn an_invalid_column_path_leaves_only_names() {
    let folder = folder();
    folder.write("crd.yaml", CRD.replace(".spec.size}", "'.spec['}"));
    let run = folder.run(TABLE);
    assert_eq!(run.out, "NAME\nfirst\nsecond-with-a-long-name\n");
    run.says(1, &["unrecognized column definition \".spec[\"", "unterminated array"]);
}

#[test]
fn fields_are_explained_like_kubectl_does() {
    let folder = folder();
    let expected = "\
GROUP:      example.com
KIND:       Tab
VERSION:    v1

FIELD: size <integer>


DESCRIPTION:
    How large it is.
    

";
    for name in ["tabs", "tab", "tb", "Tab", "tabs.example.com"] {
        assert_eq!(folder.run(&format!("explain --schemas crd.yaml {name}.spec.size")).out, expected, "{name}");
    }
    let more = folder.run("explain --schemas crd.yaml tabs.spec.size --more").out;
    assert!(more.contains("MORE:\n    minimum: 3\n    maximum: 9\n    declared in: crd.yaml:29:21\n"), "{more}");
    let index = folder.run("explain --schemas crd.yaml tabs.spec --index").out;
    let expected = "\
.spec.colour\tstring\trequired; enum: \"red\", \"blue\"\t
.spec.note\tstring\tdefault: \"none\"\t
.spec.size\tinteger\trequired; minimum: 3; maximum: 9\tHow large it is.
";
    assert_eq!(index, expected);
    folder.run("explain --schemas crd.yaml tabs.spec.nope").says(1, &["field \"nope\" does not exist"]);
    folder.run("explain --schemas crd.yaml nope").says(1, &["the server doesn't have a resource type \"nope\""]);
    folder.run("sample crd.yaml").says(1, &["it is a file: name a kind, and give the file with --schemas"]);
    folder
        .run("explain --schemas crd.yaml tabs --api-version v2")
        .says(1, &["not served in v2, but in example.com/v1"]);
    folder.run("explain --schemas crd.yaml tabs[0]").says(2, &["all nodes must be field nodes"]);
}

#[test]
fn samples_are_small_or_full() {
    let folder = folder();
    let expected = "\
apiVersion: example.com/v1
kind: Tab
metadata:
  name: example
spec:
  colour: red
  size: 3
";
    let run = folder.run("sample --schemas crd.yaml Tab");
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(0), expected, ""));
    let run = folder.run("sample --schemas crd.yaml Tab --maximal --comments");
    let expected = "\
# What it shall be.
spec:
  colour: red
  note: none
  # How large it is.
  size: 3
";
    assert!(run.out.contains(expected), "{}", run.out);
    folder.write("crd.yaml", CRD.replace("maximum: 9", "maximum: 2"));
    folder
        .run("sample --schemas crd.yaml Tab")
        .says(1, &["the server would refuse the sample: spec.size", "found no value"]);
}

#[test]
fn samples_of_built_in_kinds_have_their_required_fields() {
    let folder = folder();
    let expected = "\
apiVersion: batch/v1
kind: Job
metadata:
  name: example
spec:
  template:
    spec:
      containers:
      - image: example
        name: example
      restartPolicy: Never
";
    let run = folder.run("sample --kubernetes 1.36 Job");
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(0), expected, ""));
    let more = "A server may have more rules for Job than its OpenAPI document tells: they exist\nas Go code only.\n";
    assert_eq!(folder.run("sample --kubernetes 1.36 Job --maximal").err, more);
    folder.write("job.yaml", &run.out);
    folder.run("validate --kubernetes 1.36 job.yaml -q").says(0, &[]);
    let run = folder.run("sample --kubernetes 1.36 Status");
    assert!(run.err.starts_with("No resource has the kind Status:"), "{}", run.err);
    // Descriptions come from a document that has them.
    let document = r##"{"openapi": "3.0.0", "info": {"title": "", "version": ""}, "paths": {}, "components": {"schemas": {
      "io.k8s.api.example.v1.Tab": {"type": "object",
        "x-kubernetes-group-version-kind": [{"group": "example.k8s.io", "version": "v1", "kind": "Tab"}],
        "properties": {"apiVersion": {"type": "string"}, "kind": {"type": "string"},
          "tabs": {"type": "array", "description": "Tabs in tabs. And so on.",
            "items": {"$ref": "#/components/schemas/io.k8s.api.example.v1.Tab"}},
          "size": {"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.api.resource.Quantity"}}},
      "io.k8s.apimachinery.pkg.api.resource.Quantity": {"description": "A number with a unit.", "type": "string"}}}}"##;
    folder.write("tab.json", document);
    let expected = "\
apiVersion: example.k8s.io/v1
kind: Tab
# A number with a unit.
size: \"1\"
";
    let run = folder.run("sample --schemas tab.json Tab --maximal --comments -q");
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(0), expected, ""));
}

#[test]
fn descriptions_do_not_control_the_terminal_of_a_pager() {
    let folder = folder();
    let crd = folder.read("crd.yaml").replace("How large it is.", "\"How \\e[31mlarge \\x9b1m\\u202eit is.\"");
    folder.write("hostile.yaml", crd);
    for line in ["tabs.spec.size", "tabs.spec --recursive", "tabs.spec.size --more"] {
        let run = folder.run(&format!("explain --schemas hostile.yaml {line}"));
        assert_eq!(run.code, Some(0), "{}", run.err);
        assert!(!run.out.contains(['\u{1b}', '\u{9b}', '\u{202e}']), "{}", run.out);
    }
    let page = folder.run("explain --schemas hostile.yaml tabs.spec.size").out;
    assert!(page.contains("How \u{fffd}[31mlarge \u{fffd}1m\u{fffd}it is."), "{page}");
}

#[test]
fn patterns_with_many_states_do_not_take_long() {
    let folder = Folder::new();
    let properties: Vec<String> = (0..8)
        .map(|n| format!("              p{n}: {{type: string, pattern: '^(\\pL{{60}}|x{n})+$', minLength: 3}}\n"))
        .collect();
    let properties = properties.concat();
    folder.write("old.yaml", crate::common::crd("widgets", &["v1"]) + &properties);
    let wider = properties.replace("pL{60}", "pL{61}");
    folder.write("new.yaml", crate::common::crd("widgets", &["v1"]) + &wider);
    let sample = folder.run("sample --schemas old.yaml widgets");
    assert!(sample.out.contains("kind: "), "{}", sample.err);
    // This takes half a minute in a test build. The limit itself has another test, which is fast.
    if kubeshape_corpus::one_in(2) == 1 {
        let diff = folder.run("diff old.yaml new.yaml");
        assert!(diff.out.contains("p7"), "{}{}", diff.out, diff.err);
        #[cfg(target_os = "linux")]
        {
            // Processor time is measured, so other work on the machine does not count.
            let seconds = crate::budgets::work(&folder, "diff old.yaml new.yaml", 1);
            assert!(seconds < 120.0, "{seconds} s");
        }
    }
}

#[test]
fn a_mistyped_name_suggests_the_most_similar_one() {
    let folder = folder();
    for (line, near) in [
        ("explain --schemas crd.yaml tasb", "; did you mean `tab`?"),
        ("explain --schemas crd.yaml tab.spec.isze", "field \"isze\" does not exist; did you mean `size`?"),
        ("explain --schemas crd.yaml tab.spce.size", "; did you mean `spec`?"),
        ("explain --kubernetes 1.36 deploymnts", "; did you mean `deployments`?"),
        ("explain --kubernetes 1.36 deployments.spec.replica", "; did you mean `replicas`?"),
        (
            "explain --kubernetes 1.36 deployments.spec.template.spec.containers.containerport",
            "field \"containerport\" does not exist",
        ),
        ("explain --kubernetes 1.36 pods.spec.containers.prots", "; did you mean `ports`?"),
        ("sample --schemas crd.yaml tabz", "; did you mean `tab`?"),
    ] {
        folder.run(line).says(1, &[near]);
    }
    let run = folder.run("explain --schemas crd.yaml nothing-like-it");
    assert!(run.code == Some(1) && !run.words().contains("did you mean"), "{}", run.err);
    for (line, near) in [("chekc", "'check'"), ("lifecycle lnit", "'lint'"), ("lifecycle annotat", "'annotate'")] {
        folder.run(line).says(2, &[near]);
    }
    // Subcommands of `lifecycle` are not top-level commands.
    assert!(!folder.run("annotat").err.contains("similar"));
}

#[test]
fn explain_says_which_share_of_the_rules_of_a_built_in_kind_is_known() {
    let folder = Folder::new();
    let more = folder.run("explain deployment --more").out;
    let (_, rules) = more.split_once("RULES:\n").unwrap();
    assert!(rules.starts_with("    Of ") && rules.contains("accepts, it refuses none.\n"), "{rules}");
    assert!(rules.lines().last().unwrap().starts_with("    The constraints of the schema alone refuse "), "{rules}");
    assert!(rules.lines().all(|line| line.len() <= 80), "{rules}");
    for other in ["deployment", "deployment.spec --more"] {
        assert!(!folder.run(&format!("explain {other}")).out.contains("RULES:"), "{other}");
    }
}
