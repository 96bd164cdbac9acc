//! `kubeshape diff`.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common::{Folder, crd, crd_with_schema};
use serde_json::Value;

fn folder() -> Folder {
    let folder = Folder::new();
    let schema = |size: &str| crd_with_schema(&format!("{{type: object, properties: {{size: {size}}}}}"));
    folder.write("old.yaml", schema("{type: integer, maximum: 10}"));
    folder.write("new.yaml", schema("{type: integer, maximum: 5}"));
    folder.write("text.yaml", schema("{type: integer, maximum: 10, description: How large it is.}"));
    folder
}

#[test]
fn a_change_has_its_position_and_its_effect_on_each_consumer() {
    let folder = folder();
    let run = folder.run("diff old.yaml new.yaml --output-format short");
    assert_eq!(run.code, Some(1));
    assert!(run.out.starts_with("new.yaml:"), "{}", run.out);
    let told = "error[KS8409]: A bound is stricter: size: maximum changed from 10 to 5; breaking for writers, risky for storage";
    assert!(run.out.contains(told), "{}", run.out);
    let run = folder.run("diff new.yaml old.yaml");
    assert_eq!(run.code, Some(0), "{}", run.out);
    assert!(run.out.contains("1 compatible"), "{}{}", run.out, run.err);
    let run = folder.run("diff old.yaml old.yaml");
    assert_eq!(run.code, Some(0));
    assert!(run.out.contains("nothing changed"), "{}", run.out);
}

#[test]
fn the_exit_code_depends_on_class_and_consumers() {
    let folder = folder();
    assert_eq!(folder.run("diff old.yaml new.yaml --for readers").code, Some(0));
    assert_eq!(folder.run("diff old.yaml new.yaml --for storage").code, Some(0));
    assert_eq!(folder.run("diff old.yaml new.yaml --for storage --fail-on risky").code, Some(1));
    assert_eq!(folder.run("diff old.yaml new.yaml --fail-on nothing").code, Some(0));
    assert_eq!(folder.run("diff old.yaml text.yaml --fail-on compatible").code, Some(0));
    assert_eq!(folder.run("diff old.yaml text.yaml --fail-on cosmetic").code, Some(1));
    folder.run("diff old.yaml new.yaml --for cats").says(2, &["expected one of storage, writers"]);
    folder.run("diff old.yaml missing.yaml").says(2, &["missing.yaml"]);
}

#[test]
fn added_and_removed_definitions_are_reported() {
    let folder = folder();
    folder.write("old/a.yaml", folder.read("old.yaml"));
    folder.write("new/b.yaml", folder.read("old.yaml").replace("widgets", "gadgets").replace("Widget", "Gadget"));
    let run = folder.run("diff old new");
    assert_eq!(run.code, Some(1));
    assert!(run.out.contains("the definition is gone"), "{}", run.out);
    assert!(run.out.contains("the definition is new"), "{}", run.out);
    // As with changes, kinds and consumers select what counts, and a change can be accepted.
    let run = folder.run("diff old new --kind Gadget");
    assert_eq!(run.code, Some(0), "{}", run.out);
    assert!(run.out.contains("the definition is new") && !run.out.contains("gone"), "{}", run.out);
    let run = folder.run("diff old new --kind Widget");
    assert!(run.code == Some(1) && !run.out.contains("is new"), "{}", run.out);
    folder.run("diff old new --kind Cat").says(2, &["there is no kind Cat"]);
    folder.run("diff old.yaml new.yaml --kind Cat").says(2, &["there is no kind Cat"]);
    assert_eq!(folder.run("diff old new --for v2").code, Some(0));
    folder.write("agreed.yaml", "- {code: KS8424, reason: Nobody has widgets.}\n");
    assert_eq!(folder.run("diff old new --exempt agreed.yaml").code, Some(0));
    let run = folder.run("diff old new --output-format json");
    let objects: Vec<Value> = run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let definition = objects.iter().find(|object| object["changes"].is_array()).unwrap();
    assert_eq!(definition["changes"][0]["code"], "KS8424", "{}", run.out);
}

#[test]
fn an_unreadable_definition_does_not_count_as_removed() {
    let folder = folder();
    folder.write("bad.yaml", "a: [");
    let run = folder.run("diff old.yaml bad.yaml");
    assert_eq!(run.code, Some(1));
    assert!(run.out.contains("KS1001") && !run.out.contains("KS8424"), "{}", run.out);
    folder.run("diff - -").says(2, &["give `-` once"]);
}

#[test]
fn programs_get_all_changes() {
    let folder = folder();
    let run = folder.run("diff old.yaml new.yaml --output-format json");
    let objects: Vec<Value> = run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let definition = objects.iter().find(|object| object["changes"].is_array()).unwrap();
    assert_eq!(definition["class"], "breaking");
    assert_eq!(definition["changes"][0]["path"], "size");
    assert_eq!(definition["changes"][0]["effects"]["writers"], "breaking");
}

#[test]
fn a_witness_is_an_object_with_the_servers_words() {
    let folder = folder();
    let run = folder.run("diff old.yaml new.yaml --witness");
    assert_eq!(run.code, Some(1));
    assert!(run.out.contains("should be less than or equal to 5"), "{}", run.out);
    assert!(
        run.out.contains("witness for size:\n\n    apiVersion: ") && run.out.contains("    size: 6\n"),
        "{}",
        run.out
    );
    let run = folder.run("diff old.yaml new.yaml --witness --output-format json");
    let objects: Vec<Value> = run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let definition = objects.iter().find(|object| object["changes"].is_array()).unwrap();
    let witness = &definition["changes"][0]["witness"];
    assert_eq!((&witness["object"]["size"], &witness["outcome"]), (&6.into(), &"refused".into()));
    assert_eq!(witness["ratcheted"], true);
}

#[test]
fn accepted_changes_do_not_count() {
    let folder = folder();
    let agreed = "- code: KS8409\n  path: size\n  reason: Nobody uses more.\n";
    folder.write("agreed.yaml", agreed);
    assert_eq!(folder.run("diff old.yaml new.yaml --exempt agreed.yaml").code, Some(0));
    folder.write("agreed.yaml", format!("{agreed}  consumer: storage\n"));
    assert_eq!(folder.run("diff old.yaml new.yaml --exempt agreed.yaml").code, Some(1));
    folder.write("agreed.yaml", format!("{agreed}  expires: 2020-01-31\n"));
    let run = folder.run("diff old.yaml new.yaml --exempt agreed.yaml");
    assert_eq!(run.code, Some(1));
    assert!(run.out.contains("KS8434") && run.out.contains("2020-01-31"), "{}", run.out);
    folder.write("agreed.yaml", agreed.replace("size", "sise"));
    let run = folder.run("diff old.yaml new.yaml --exempt agreed.yaml --output-format short");
    assert!(run.out.contains("agreed.yaml:1:1: warning[KS8433]"), "{}", run.out);
    folder.write("agreed.yaml", "- code: KS8409\n  because: x\n");
    folder.run("diff old.yaml new.yaml --exempt agreed.yaml").says(2, &["2:12: unknown field \"because\""]);
}

#[test]
fn reviewers_and_ci_servers_get_documents() {
    let folder = folder();
    let run = folder.run("diff old.yaml new.yaml --witness --output-format markdown");
    assert!(run.out.starts_with("### kubeshape\n\n1 error, "), "{}", run.out);
    assert!(run.out.contains("(`KS8409`)") && run.out.contains("  ```yaml\n"), "{}", run.out);
    assert!(run.out.contains("\n| ❌ breaking | "), "{}", run.out);
    // The verdict comes first, and changes that break nothing are listed, too.
    let text = folder.read("old.yaml");
    folder.write("described.yaml", text.replacen("type: integer", "type: integer, description: How many.", 1));
    folder.write("wider.yaml", text.replacen("maximum: 10", "maximum: 20", 1));
    let run = folder.run("diff old.yaml described.yaml --output-format markdown");
    let verdict = "### kubeshape\n\n✅ Nothing breaks.\n\n- ";
    assert!(run.out.starts_with(verdict) && run.out.contains(": 1 cosmetic\n"), "{}", run.out);
    assert!(run.out.contains("<details><summary>1 cosmetic change</summary>\n\n| class |"), "{}", run.out);
    let run = folder.run("diff old.yaml old.yaml --output-format markdown");
    assert!(run.out.contains("1 CustomResourceDefinition compared: nothing changed."), "{}", run.out);
    // A removal is marked in the old file, and belongs to the same case as the rest.
    let run = folder.run("diff new.yaml old.yaml --output-format junit");
    assert_eq!(run.out.matches("<testcase ").count(), 1, "{}", run.out);
    let run = folder.run("diff old.yaml new.yaml --output-format junit");
    assert!(run.out.contains("<testsuite name=\"new.yaml\" tests=\"1\" failures=\"1\">"), "{}", run.out);
    let run = folder.run("diff old.yaml old.yaml --output-format junit");
    assert!(run.out.contains("<testsuite name=\"old.yaml\" tests=\"1\" failures=\"0\">"), "{}", run.out);
}

#[test]
fn kinds_of_documents_are_compared() {
    let folder = Folder::new();
    let document = |fields: &str| {
        format!(
            r##"{{"openapi": "3.0.0", "components": {{"schemas": {{
  "io.example.v1.Tab": {{"type": "object", "properties": {{"spec": {{"allOf": [{{"$ref": "#/components/schemas/io.example.v1.Spec"}}]}}}},
    "x-kubernetes-group-version-kind": [{{"group": "example.io", "version": "v1", "kind": "Tab"}}]}},
  "io.example.v1.Spec": {{"type": "object", "properties": {{{fields}, "self": {{"$ref": "#/components/schemas/io.example.v1.Spec"}}}}}}}}}}}}"##
        )
    };
    folder.write("old.json", document(r#""size": {"type": "integer"}, "color": {"type": "string"}"#));
    folder.write("new.json", document(r#""size": {"type": "integer", "format": "int32"}"#));
    let run = folder.run("diff old.json new.json --output-format short");
    assert_eq!(run.code, Some(1), "{}", run.err);
    for part in ["spec.color: its values are dropped", "spec.size: format \"int32\" added", "new.json:"] {
        assert!(run.out.contains(part), "{part}: {}", run.out);
    }
    assert!(!run.out.contains("spec.self"), "{}", run.out);
    assert_eq!(folder.run("diff old.json old.json").out, "1 kind compared: nothing changed.\n");
    folder.run("diff old.json new.json --kind Cat").says(2, &["there is no kind Cat"]);
    folder.run("diff old.json new.json --kind example.io/v1/Tab").says(1, &[]);
    // A definition is not a kind on the other side.
    folder.write("crd.yaml", crd_with_schema("{type: object}"));
    let run = folder.run("diff old.json crd.yaml");
    assert!(run.code == Some(1) && run.out.contains("kind removed"), "{}", run.out);
}

#[test]
fn built_in_kinds_of_two_releases_are_compared() {
    let folder = Folder::new();
    let run = folder.run("diff --kubernetes 1.34 1.36 --kind Pod --verbose");
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    assert!(run.out.contains("v1 Pod: ") && run.out.contains("compatible"), "{}", run.out);
    let run = folder.run("diff --kubernetes 1.36 1.34 --kind Pod --output-format short");
    assert!(run.code == Some(1) && run.out.starts_with("kubernetes-1.34/api/v1: "), "{}", run.out);
    assert!(run.out.contains("breaking for"), "{}", run.out);
    let same = folder.run("diff --kubernetes 1.36 1.36");
    assert!(same.code == Some(0) && same.out.contains("kinds compared: nothing changed"), "{}", same.out);
    folder.run("diff --kubernetes 1.34").says(2, &[]);
    folder.run("diff --kubernetes 1.34 1.36 old new").says(2, &[]);
    folder.run("diff").says(2, &["OLD"]);
}

#[test]
fn a_comparison_that_is_impossible_has_a_reason() {
    let folder = Folder::new();
    let schema = |pattern: &str| {
        crd_with_schema(&format!("{{type: object, properties: {{a: {{type: string, pattern: '{pattern}'}}}}}}"))
    };
    folder.write("old.yaml", schema("[pq]*p[pq]{900}$"));
    folder.write("new.yaml", schema("p[pq]{900}$"));
    let run = folder.run("diff old.yaml new.yaml --output-format short");
    assert_eq!(run.code, Some(0), "{}", run.err);
    for part in ["KS8412", "unknown whether it rejects", "the patterns have too many states"] {
        assert!(run.out.contains(part), "{part}: {}", run.out);
    }
}

#[test]
fn a_definition_that_no_server_installs_is_named() {
    let folder = Folder::new();
    let right = crd("widgets", &["v1"]);
    folder.write("a.yaml", &right).write("b.yaml", right.replace("scope: Namespaced", "scope: Nowhere"));
    let words = folder.run("diff a.yaml b.yaml").words_out();
    assert!(words.contains("does not install the new definition"), "{words}");
    assert!(folder.run("diff b.yaml a.yaml").words_out().contains("does not install the old definition"));
    assert!(!folder.run("diff a.yaml a.yaml").words_out().contains("does not install"));
}
