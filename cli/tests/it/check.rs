//! Tests of `kubeshape check`: which releases accept a definition, where it is wrong, and what it replaces.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common::{Folder, json};
use serde_json::json;
use std::process::Command;

const WIDGET: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.example.com
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: integer}
";

fn folder(text: &str) -> Folder {
    let folder = Folder::new();
    folder.write("a.yaml", text);
    folder
}

#[test]
fn an_accepted_definition_is_one_line() {
    let run = folder(WIDGET).run("check a.yaml");
    let expected = "1 CustomResourceDefinition checked for Kubernetes 1.37: none is refused.\n";
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(0), expected, ""));
    let run = folder(WIDGET).run("check a.yaml --kubernetes all");
    assert!(run.out.starts_with("widgets.example.com: installs on 1.28 to 1.37\n"), "{}", run.out);
    folder(WIDGET).run("check a.yaml -q").is_silent();
    let run = folder("").pipe("check", WIDGET);
    assert_eq!(run.code, Some(0), "{}", run.err);
}

#[test]
fn an_error_has_the_words_of_the_server_and_its_position_in_the_file() {
    let text = WIDGET.replace("size: {type: integer}", "size: {minimum: 1}");
    let run = folder(&text).run("check a.yaml");
    let expected = "\
error[KS3110]: The schema is not structural
  --> a.yaml:20:21
   |
20 |               size: {minimum: 1}
   |                     ^^^^^^^^^^^^
   |
   = note: spec.validation.openAPIV3Schema.properties[spec].properties[size].type:
           Required value: must not be empty for specified object fields
";
    assert_eq!(run.code, Some(1));
    assert!(run.out.starts_with(expected), "{}", run.out);
    let end = "widgets.example.com: 1.37 refuses it: see a.yaml:20:21\n\
               1 CustomResourceDefinition checked for Kubernetes 1.37: 1 is refused.\n";
    assert!(run.out.contains(end), "{}", run.out);
}

#[test]
fn positions_are_found_in_lists_streams_and_compressed_files() {
    let wrong = WIDGET.replace("scope: Namespaced", "scope: Everywhere");
    let indented = format!("  {}", wrong.trim_end().replace('\n', "\n  "));
    let list = format!("apiVersion: v1\nkind: List\nitems:\n-{}", &indented[1..]);
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packed, wrong.as_bytes()).unwrap();
    let folder = Folder::new();
    folder.write("list.yaml", list).write("stream.yaml", format!("{WIDGET}---\n{wrong}"));
    folder.write("z.yaml.gz", packed.finish().unwrap());
    let run = folder.run("check . --output-format short --level error");
    let places: Vec<&str> = run.out.lines().filter_map(|line| line.split(": error").next()).collect();
    assert_eq!(places, ["./list.yaml:10:12", "./stream.yaml:28:10", "./z.yaml.gz:7:10"], "{}", run.out);
}

#[test]
fn programs_get_the_costs_of_rules_by_release() {
    let rule = "{type: object, properties: {a: {type: string, maxLength: 10}}, \
                x-kubernetes-validations: [{rule: \"has(self.a) && self.a != ''\"}]}";
    let folder = folder(&WIDGET.replace("size: {type: integer}", &format!("size: {rule}")));
    let run = folder.run("check a.yaml --kubernetes all --output-format json");
    let verdict = json(&run.out);
    let costs: Vec<_> = verdict["costs"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|costs| (costs["releases"][0].clone(), costs["expressions"][0]["total"].clone()))
        .collect();
    // Presence tests have cost less since 1.29.
    assert_eq!(costs, [(json!("1.28"), json!(4)), (json!("1.29"), json!(3))]);
    let expression = &verdict["costs"][0]["expressions"][0];
    let path = expression["path"].as_str().expect("a path");
    assert!(path.ends_with(".properties[size].x-kubernetes-validations[0].rule"), "{path}");
    assert_eq!((&expression["line"], &expression["times"]), (&json!(20), &json!(1)));
}

#[test]
fn formats_for_programs_go_to_standard_output() {
    let text = WIDGET.replace("size: {type: integer}", "size: {type: object, oneOf: [{additionalProperties: false}]}");
    let folder = folder(&text);
    let run = folder.run("check a.yaml --kubernetes 1.30..1.31 --output-format json");
    let lines: Vec<_> = run.out.lines().map(json).collect();
    assert_eq!(lines.len(), 2, "{}", run.out);
    assert_eq!((&lines[0]["code"], &lines[0]["releases"]), (&json!("KS3110"), &json!(["1.30"])));
    let expected = json!({
        "resource": "widgets.example.com",
        "input": "a.yaml",
        "line": 4,
        "column": 9,
        "replaces": false,
        "verdict": "installs on 1.31; 1.30 refuses it: The schema is not structural, see a.yaml:20:67",
        "oldest": "1.31",
        "releases": {
            "1.30": { "accepted": false, "errors": 1, "warnings": 0 },
            "1.31": { "accepted": true, "errors": 0, "warnings": 0 },
        },
        "costs": [],
    });
    assert_eq!(lines[1], expected);
    let run = folder.run("check a.yaml --kubernetes 1.30 --output-format sarif");
    let sarif = json(&run.out);
    assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "KS3110");
    assert_eq!((run.code, run.err.as_str()), (Some(1), ""));
    let run = folder.run("check a.yaml --kubernetes 1.30 --output-format github");
    assert!(
        run.out.starts_with("::error file=a.yaml,line=20,col=67,title=KS3110 The schema is not structural::"),
        "{}",
        run.out
    );
}

#[test]
fn a_broken_input_is_reported_and_the_others_are_checked() {
    let folder = folder(WIDGET);
    folder
        .write("b.yaml", "a: [\n")
        .write("c.yaml", WIDGET.replace("Namespaced", "Nowhere"))
        .write("d.yaml", "kind: Pod\n");
    let run = folder.run("check a.yaml b.yaml c.yaml d.yaml gone.yaml --output-format short");
    let codes: Vec<&str> = run.out.lines().filter_map(|line| line.split("error[").nth(1)?.split(']').next()).collect();
    assert_eq!((run.code, codes), (Some(2), vec!["KS1007", "KS1001", "KS3102", "KS1008"]), "{}", run.out);
    let run = folder.run("check d.yaml --level info --output-format short");
    assert!(run.out.contains("note[KS1009]"), "{}", run.out);
}

#[test]
fn levels_decide_what_is_shown_and_what_fails() {
    let text = WIDGET.replace("size: {type: integer}", "size: {type: integer, format: uint32, mnimum: 1}");
    let folder = folder(&text);
    let codes = |line: &str| {
        let run = folder.run(&format!("check a.yaml --output-format short {line}"));
        let codes = run.out.lines().filter_map(|line| Some(line.split_once('[')?.1.split_once(']')?.0.to_owned()));
        (run.code, codes.collect::<Vec<_>>().join(" "))
    };
    assert_eq!(codes(""), (Some(0), "KS3201 KS1006".to_owned()));
    assert_eq!(codes("--level error"), (Some(0), String::new()));
    assert_eq!(codes("--deny KS1006 --allow KS3201"), (Some(1), "KS1006".to_owned()));
    assert_eq!(codes("--kubernetes 1.33"), (Some(0), "KS1006".to_owned()));
    let text = text.replace("size:", "\"on\":");
    folder.write("a.yaml", text);
    assert_eq!(codes("--level advice"), (Some(0), "KS3305 KS3201 KS1006".to_owned()));
    assert_eq!(codes("--deny KS3305 --allow warning"), (Some(1), "KS3305".to_owned()));
}

#[test]
fn a_replacement_reports_what_may_change() {
    let folder = folder(&WIDGET.replace("name: v1", "name: v2"));
    folder.write("old/a.yaml", WIDGET);
    let run = folder.run("check a.yaml --against old --output-format short");
    assert_eq!(run.code, Some(1));
    assert!(run.out.contains("error[KS3115]"), "{}", run.out);
    let run = folder.run("check old --against old/a.yaml --kubernetes all");
    assert!(run.out.starts_with("widgets.example.com: can be updated on 1.28 to 1.37\n"), "{}", run.out);
    folder.write("c.yaml", WIDGET.replace("scope: Namespaced", "scope: Cluster"));
    let run = folder.run("check c.yaml --against old --output-format short");
    assert!(run.code == Some(1) && run.out.contains("c.yaml") && run.out.contains("field is immutable"), "{}", run.out);
    assert_eq!(folder.run("check c.yaml --against old --against-status none").code, Some(0));
    folder.write("b.yaml", WIDGET.replace("widgets", "others"));
    let run = folder.run("check b.yaml --against old");
    assert!(run.words().is_empty() && run.out.contains("Not among the inputs, but in --against: widgets.example.com"));
    assert_eq!(folder.run("check a.yaml --against gone").code, Some(2));
}

#[test]
fn git_is_only_asked_for_objects() {
    let folder = folder(WIDGET);
    folder.write("crds/a.yaml", WIDGET).write("crds/note.txt", "x");
    for (name, expected) in [
        ("git:HEAD", "it has no path"),
        ("git:--output=x:a.yaml", "begins with `-`"),
        ("git::a.yaml", "the revision is empty"),
    ] {
        let run = folder.run(&format!("check a.yaml --against {name}"));
        assert!(run.code == Some(2) && run.words().contains(expected), "{name}: {}", run.err);
    }
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command
            .current_dir(folder.path(""))
            .args(["-c", "user.name=a", "-c", "user.email=a@example.com"])
            .args(arguments);
        command.output().is_ok_and(|output| output.status.success())
    };
    if !git(&["init", "-q"]) {
        // git is not installed.
        return;
    }
    assert!(git(&["add", "."]) && git(&["commit", "-qm", "a"]));
    folder.write("a.yaml", WIDGET.replace("name: v1", "name: v2"));
    for against in ["git:HEAD:a.yaml", "git:HEAD:crds", "git:HEAD:./crds"] {
        let run = folder.run(&format!("check a.yaml --against {against} --output-format short"));
        assert!(run.out.contains("error[KS3115]"), "{against}: {}{}", run.out, run.err);
    }
    let run = folder.run("check a.yaml --against git:HEAD:gone");
    assert!(run.code == Some(2) && run.words().contains("git knows no such revision or path"), "{}", run.err);
}

#[test]
fn a_found_configuration_does_not_decide_what_git_is_asked_for() {
    let folder = folder(WIDGET);
    folder.write("kubeshape.toml", "[check]\nagainst = [\"git:HEAD:a.yaml\"]\n");
    assert_eq!(folder.run("check a.yaml").code, Some(2));
    folder.write("kubeshape.toml", "[check]\nkubernetes = \"1.30..1.31\"\ninputs = [\"a.yaml\"]\n");
    let run = folder.run("check");
    assert!(run.out.starts_with("widgets.example.com: installs on 1.30 to 1.31\n"), "{}{}", run.out, run.err);
}

#[test]
fn unknown_releases_are_refused_with_the_known_ones() {
    let run = folder(WIDGET).run("check a.yaml --kubernetes 1.99");
    assert!(run.code == Some(2) && run.words().contains("a range such as 1.28..1.37, or all"), "{}", run.err);
}

const UNTIDY: &str = "\
# ours
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.example.com
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        properties: # no type
          spec:
            type: object
            const: 1 # no such field
            properties:
              size: {type: integer}
";

fn tidy() -> String {
    UNTIDY
        .replace("            const: 1 # no such field\n", "")
        .replace("        properties: #", "        type: object\n        properties: #")
}

#[test]
fn fix_edits_the_file_and_reports_what_remains() {
    let folder = folder(UNTIDY);
    let run = folder.run("check a.yaml --fix");
    let expected =
        "2 edits in 1 file made.\n1 CustomResourceDefinition checked for Kubernetes 1.37: none is refused.\n";
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(0), expected, ""));
    assert_eq!(folder.read("a.yaml"), tidy());
    let run = folder.run("check a.yaml --fix");
    assert_eq!(run.out, "1 CustomResourceDefinition checked for Kubernetes 1.37: none is refused.\n");
    assert_eq!(folder.read("a.yaml"), tidy());
}

#[test]
fn diff_shows_the_edits_and_writes_nothing() {
    let folder = folder(UNTIDY);
    let run = folder.run("check a.yaml --fix --diff");
    assert_eq!(run.code, Some(1));
    let expected = "--- a/a.yaml\n+++ b/a.yaml\n@@ -13,9 +13,9 @@\n     storage: true\n     schema:\n       openAPIV3Schema:\n+        \
                    type: object\n         properties: # no type\n           spec:\n             type: object\n-            \
                    const: 1 # no such field\n             properties:\n               size: {type: integer}\n";
    assert_eq!(run.out, expected);
    assert!(run.err.contains("2 edits in 1 file shown; nothing is written."), "{}", run.err);
    assert_eq!(folder.read("a.yaml"), UNTIDY);
    let run = folder.pipe("check --fix --diff", tidy());
    assert_eq!((run.code, run.out.as_str()), (Some(0), ""));
    assert_eq!(folder.run("check a.yaml --diff").code, Some(2));
}

#[test]
fn standard_input_goes_to_standard_output_with_its_edits() {
    let folder = folder("");
    let run = folder.pipe("check --fix", UNTIDY);
    assert_eq!((run.code, run.out), (Some(0), tidy()));
    assert!(run.err.contains("2 edits in 1 file made."), "{}", run.err);
    assert_eq!(folder.pipe("check --fix", WIDGET).out, WIDGET);
    assert_eq!(folder.pipe("check --fix", "a: [\n").out, "a: [\n");
}

#[test]
fn streams_and_lists_are_edited_and_broken_parts_stay() {
    let indented = format!("  {}", UNTIDY.trim_end().replace('\n', "\n  "));
    let list = |text: &str| format!("apiVersion: v1\nkind: List\nitems:\n-\n{text}\n");
    let tidied = format!("  {}", tidy().trim_end().replace('\n', "\n  "));
    let other = UNTIDY.replace("widgets", "gadgets");
    let folder = Folder::new();
    folder.write("stream.yaml", format!("{UNTIDY}---\na: [\n---\n{other}"));
    folder.write("list.yaml", list(&indented).replace("widgets", "tools"));
    folder.run("check . --fix");
    let expected = format!("{}---\na: [\n---\n{}", tidy(), tidy().replace("widgets", "gadgets"));
    assert_eq!(folder.read("stream.yaml"), expected);
    assert_eq!(folder.read("list.yaml"), list(&tidied).replace("widgets", "tools"));
}

#[test]
fn a_file_that_cannot_be_edited_is_unchanged_with_a_reason() {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packed, UNTIDY.as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    let folder = folder(UNTIDY);
    folder.write("z.yaml.gz", &packed);
    let run = folder.run("check z.yaml.gz --fix --output-format short");
    assert!(run.out.contains("it is compressed"), "{}", run.out);
    assert_eq!(std::fs::read(folder.path("z.yaml.gz")).unwrap(), packed);
    let path = folder.path("a.yaml");
    let mut permissions = std::fs::metadata(&path).unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&path, permissions).unwrap();
    let run = folder.run("check a.yaml --fix --output-format short");
    assert!(run.out.contains("KS3401") && run.out.contains("it is read-only"), "{}", run.out);
    assert!(run.out.contains("KS3110"), "the findings are those of the file: {}", run.out);
    assert_eq!((run.code, folder.read("a.yaml").as_str()), (Some(1), UNTIDY));
}

#[test]
#[cfg(unix)]
fn a_link_stays_a_link_and_leads_out_of_no_folder() {
    use std::os::unix::fs::symlink;
    let folder = folder(UNTIDY);
    folder.write("inside/b.yaml", WIDGET);
    symlink("../a.yaml", folder.path("inside/link.yaml")).unwrap();
    let run = folder.run("check inside --fix --output-format short");
    assert_eq!(folder.read("a.yaml"), UNTIDY, "{}", run.out);
    folder.run("check inside/link.yaml --fix");
    assert!(folder.path("inside/link.yaml").is_symlink());
    assert_eq!(folder.read("a.yaml"), tidy());
}

#[test]
fn a_schema_that_may_be_in_use_gets_no_type() {
    let folder = folder(UNTIDY);
    folder.write("old/a.yaml", UNTIDY);
    let run = folder.run("check a.yaml --fix --against old");
    assert_eq!(folder.read("a.yaml"), UNTIDY.replace("            const: 1 # no such field\n", ""), "{}", run.out);
}

#[test]
fn a_duplicate_definition_is_reported() {
    let folder = folder(WIDGET);
    folder.write("b.yaml", WIDGET);
    let run = folder.run("check . --output-format short");
    assert!(run.out.contains("./b.yaml:4:9: warning"), "{}", run.out);
    assert!(run.out.contains("widgets.example.com is already defined in ./a.yaml:4:9"), "{}", run.out);
    assert_eq!(run.code, Some(0));
}

#[test]
fn lifecycles_of_fields_are_reported() {
    let lifecycle = "{type: integer, x-kubernetes-api-lifecycle: {kubernetes: {minVersion: v1.30, status: beta}}}";
    let text = WIDGET.replace("{type: integer}", lifecycle);
    let told = |command: &str| {
        let run = folder(&text).run(command);
        assert_eq!(run.code, Some(0), "{}", run.err);
        run.out.lines().filter(|line| line.contains("KS831")).map(str::to_owned).collect::<Vec<_>>()
    };
    let said = "a.yaml:20:15: note[KS8319]: A definition has a field that is alpha, beta, deprecated or off in the cluster: \
                spec.size: beta since v1.30";
    let found = told("check a.yaml --level info --output-format short");
    assert!(found.len() == 1 && found[0].starts_with(said), "{found:#?}");
    assert_eq!(told("check a.yaml --output-format short"), [""; 0]);
    let range = told("check a.yaml --kubernetes 1.29..1.31 --level info --output-format short");
    assert_eq!(range.len(), 2, "{range:#?}");
    assert!(range[0].contains("spec.size: beta since v1.30; it is not in v1.29"), "{range:#?}");
    let off = told("check a.yaml --level info --feature-gates AllBeta=false --output-format short");
    assert_eq!(off.len(), 1, "{off:#?}");

    let text = text.replace("v1.30", "1.30");
    let folder = folder(&text);
    let run = folder.run("check a.yaml --output-format short");
    assert!(run.out.contains("warning[KS8317]"), "{}", run.out);
    let run = folder.run("check a.yaml --deny KS8317 -q");
    assert_eq!(run.code, Some(1), "{}", run.err);
    // The same is reported wherever the definition is read for its lifecycles.
    folder.write("object.yaml", "{apiVersion: example.com/v1, kind: Widget, metadata: {name: a}, spec: {size: 1}}");
    for command in [
        "validate --schemas a.yaml object.yaml --output-format short",
        "apply --schemas a.yaml object.yaml --field-manager me --output-format short",
        "lifecycle warn --schemas a.yaml object.yaml --output-format short",
        "lifecycle annotate a.yaml --output-format short",
    ] {
        let run = folder.run(command);
        let told = run.out.matches("KS8317").count() + run.err.matches("KS8317").count();
        assert_eq!(told, 1, "{command}: {}{}", run.out, run.err);
    }
}

#[test]
fn names_that_two_definitions_of_a_group_claim_are_reported() {
    let other = WIDGET.replace("widgets", "others").replace("Widget", "Other").replace("widget", "other");
    let folder = folder(&WIDGET.replace("kind: Widget}", "kind: Widget, shortNames: [w, x]}"));
    let cases = [
        (other.replace("kind: Other}", "kind: Other, shortNames: [ot, w]}"), Some("the short name \"w\"")),
        (other.replace("kind: Other}", "kind: Widget}"), Some("the kind \"Widget\"")),
        (other.replace("kind: Other}", "kind: Other, shortNames: [widgets]}"), Some("the short name \"widgets\"")),
        (other.replace("example.com", "example.org").replace("kind: Other}", "kind: Other, shortNames: [w]}"), None),
        (other, None),
    ];
    for (text, expected) in cases {
        folder.write("b.yaml", &text);
        for command in ["check a.yaml b.yaml --output-format short", "convert --to v3 -o out a.yaml b.yaml"] {
            let run = folder.run(command);
            let said = format!("{}{}", run.out, run.err);
            assert_eq!(said.contains("KS9001"), expected.is_some(), "{command}: {said}");
            assert!(said.contains(expected.unwrap_or_default()), "{command}: {said}");
        }
    }
    assert_eq!(folder.run("check a.yaml b.yaml").code, Some(0));
}

/// A rule that costs too much because a list has too large a bound.
const COSTLY: &str = "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: costs.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: costs, kind: Cost}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              words: {type: array, items: {type: string}}
            x-kubernetes-validations:
            - rule: self.words.all(a, self.words.all(b, a.contains(b)))
";

#[test]
fn every_format_has_the_proposed_bounds() {
    let folder = folder(WIDGET);
    folder.write("cost.yaml", COSTLY);
    let human = folder.run("check cost.yaml").out.split_whitespace().collect::<Vec<_>>().join(" ");
    let at = human.find("maxItems: ").expect("a bound");
    let bound: String = human[at..].chars().take_while(|c| !matches!(c, '.' | ',')).collect();
    for format in ["json", "sarif", "markdown", "junit", "short", "github"] {
        let run = folder.run(&format!("check cost.yaml --output-format {format}"));
        assert_eq!(run.code, Some(1), "{format}");
        assert!(run.out.contains(bound.trim()), "{format}: {bound}: {}", run.out);
    }
    let path = folder.path("cost.yaml").display().to_string();
    let sarif = json(&folder.run(&format!("check {path} --output-format sarif")).out);
    let place = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], format!("file://{path}").as_str());
    let region = &place["region"];
    assert!(region["endColumn"].as_u64() > region["startColumn"].as_u64(), "{region}");
}

#[test]
fn further_notes_of_a_code_are_folded() {
    let folder = Folder::new();
    let fields: Vec<String> =
        (0..9).map(|n| format!("      f{n}: {{type: array, items: {{type: object}}}}\n")).collect();
    let schema = format!("type: object\nproperties:\n  spec:\n    type: object\n    properties:\n{}", fields.concat());
    folder.write("a.yaml", crate::common::crd_with_schema(&schema));
    let short = folder.run("check a.yaml --level advice");
    let all = folder.run("check a.yaml --level advice -v");
    let count = |text: &str| text.matches("note[KS33").count();
    assert!(count(&all.out) > count(&short.out), "{}", all.out);
    assert!(
        short.words_out().contains("notes not shown: ") && !all.words_out().contains("not shown"),
        "{}",
        short.words_out()
    );
}
