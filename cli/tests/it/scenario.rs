//! Tests of `scenario`: steps are run, expectations are checked and rewritten.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common::ssa::{CRD, LIVE};
use crate::common::{Folder, json};

/// Returns a scenario with these steps.
fn scenario(steps: &str) -> String {
    format!("# A comment\nscenario: a name\nschemas:\n- file: crd.yaml\nsteps:\n{steps}")
}

fn folder(steps: &str) -> Folder {
    let folder = Folder::new();
    folder.write("s/crd.yaml", CRD).write("s/a.yaml", scenario(steps));
    folder
}

const WIDGET: &str = "apiVersion: example.com/v1, kind: Widget, metadata: {name: a}";

#[test]
fn every_step_and_expectation_is_reported() {
    let folder = folder(&format!(
        "\
- apply: {{{WIDGET}, spec: {{replicas: 1}}}}
  manager: one
  expect:
    owners: [{{manager: one, operation: Apply, apiVersion: example.com/v1, fields: {{\"f:spec\": {{\"f:replicas\": {{}}}}}}}}]
- apply: {{{WIDGET}, spec: {{replicas: 2}}}}
  manager: two
  expect:
    conflicts: [{{manager: one, field: .spec.replicas}}]
    object: {{{WIDGET}, spec: {{replicas: 1}}}}
- update: {{{WIDGET}, spec: {{replicas: 2}}}}
  manager: two
  time: 2001-01-01T00:00:00Z
  expect:
    object: {{{WIDGET}, spec: {{replicas: 3}}}}
"
    ));
    let run = folder.run("scenario s/a.yaml");
    let expected = "\
s/a.yaml:2:1: a name
  1. apply by one
     one Apply example.com/v1 2000-01-01T00:00:00Z {\"f:spec\":{\"f:replicas\":{}}}
     ✓ owners
  2. apply by two
     Apply failed with 1 conflict: conflict with \"one\": .spec.replicas
     ✓ conflicts
     ✓ object
  3. update by two
     two Update example.com/v1 2001-01-01T00:00:00Z {\"f:spec\":{\"f:replicas\":{}}}
     ✗ object (s/a.yaml:19:5)
         .spec.replicas: expected 3, found 2
1 scenario, 3 steps, 4 expectations: 1 failed
";
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(1), expected, ""));
    let quiet = folder.run("scenario -q s");
    let expected = "\
s/a.yaml:2:1: a name
  3. update by two
     ✗ object (s/a.yaml:19:5)
         .spec.replicas: expected 3, found 2
1 scenario, 3 steps, 4 expectations: 1 failed
";
    // The folder also contains the schema, which is not a scenario.
    assert_eq!((quiet.code, quiet.out.as_str()), (Some(1), expected));
}

#[test]
fn steps_without_a_live_object_are_checked() {
    let folder = folder(&format!(
        "\
- validate: {{{WIDGET}, spec: {{replicas: x, name: y}}}}
  expect:
    errors:
    - {{path: .spec.name, message: field not declared in schema}}
- fieldset: {{{WIDGET}, spec: {{names: [a]}}}}
  expect: {{set: {{\"f:spec\": {{\"f:names\": {{\"v:\\\"a\\\"\": {{}}}}}}, \"f:apiVersion\": {{}}, \"f:kind\": {{}}, \"f:metadata\": {{\"f:name\": {{}}}}}}}}
- compare: {{from: {{{WIDGET}}}, to: {{{WIDGET}, spec: {{replicas: 1}}}}}}
  expect: {{added: {{\"f:spec\": {{\".\": {{}}, \"f:replicas\": {{}}}}}}, removed: {{}}}}
- merge: {{live: {{{WIDGET}, spec: {{replicas: 1}}}}, config: {{{WIDGET}, spec: {{names: [a]}}}}}}
  expect: {{object: {{{WIDGET}, spec: {{replicas: 1, names: [a]}}}}}}
- remove: {{object: {{{WIDGET}, spec: {{replicas: 1, names: [a]}}}}, fields: {{\"f:spec\": {{\"f:replicas\": {{}}}}}}}}
  expect: {{object: {{{WIDGET}, spec: {{names: [a]}}}}}}
- extract: {{object: {{{WIDGET}, spec: {{ports: [{{port: 1, name: a}}]}}}}, fields: {{\"f:spec\": {{\"f:ports\": {{'k:{{\"port\":1,\"protocol\":\"TCP\"}}': {{\"f:name\": {{}}}}}}}}}}, keys: true}}
  expect: {{object: {{spec: {{ports: [{{port: 1, name: a}}]}}}}}}
- reconcile: {{object: {{{WIDGET}}}, fields: {{\"f:spec\": {{\"f:args\": {{\"i:0\": {{}}}}}}}}}}
  expect: {{set: {{\"f:spec\": {{\"f:args\": {{}}}}}}}}
- reconcile: {{object: {{{WIDGET}}}, fields: {{\"f:spec\": {{\"f:replicas\": {{}}}}}}}}
  expect: {{unchanged: true}}
- merge: {{config: {{spec: []}}}}
  type: com.example.v1.Widget
  expect: {{error: \".spec: expected map, got &{{[]}}\"}}
"
    ));
    let run = folder.run("scenario s/a.yaml");
    assert_eq!(run.err, "");
    assert!(run.out.ends_with("1 scenario, 9 steps, 10 expectations: 0 failed\n"), "{}", run.out);
    assert_eq!(run.code, Some(0));
}

#[test]
fn an_unexpected_error_is_a_failure() {
    let folder = folder(&format!(
        "- apply: {{{WIDGET}, spec: {{replicas: x}}}}\n  manager: one\n- set: null\n- fieldset: {{{WIDGET}, spec: []}}\n  expect: {{set: {{}}}}\n"
    ));
    let run = folder.run("scenario s/a.yaml");
    for part in [
        "✗ no error (s/a.yaml:6:3)",
        "found: \"failed to create typed patch object (/a; example.com/v1, Kind=Widget): .spec.replicas: expected numeric",
        "✗ no error (s/a.yaml:9:3)",
        ".spec: expected map, got &{[]}",
        "1 scenario, 3 steps, 3 expectations: 3 failed",
    ] {
        assert!(run.out.contains(part), "{part}\n{}", run.out);
    }
    assert_eq!(run.code, Some(1));
}

#[test]
fn an_update_rewrites_only_what_does_not_hold() {
    let steps = format!(
        "\
- apply: {{{WIDGET}, spec: {{replicas: 1}}}}   # one
  manager: one
  expect:
# two
- apply: {{{WIDGET}, spec: {{replicas: 2}}}}
  manager: two
  expect:   # three
    conflicts: []
  force: false
- fieldset: {{{WIDGET}}}
  expect: {{set: {{}}}}
- {{fieldset: {{{WIDGET}}}, expect: {{}}}}   # four
- validate: {{{WIDGET}}}
  expect:
    errors:   []  # as it was
"
    );
    let folder = folder(&steps);
    let run = folder.run("scenario --update s/a.yaml");
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{}", run.out);
    assert!(run.out.ends_with(": 0 failed, 4 updated\n"), "{}", run.out);
    let set = "{\"f:apiVersion\": {}, \"f:kind\": {}, \"f:metadata\": {\"f:name\": {}}}";
    let expected = scenario(&format!(
        "\
- apply: {{{WIDGET}, spec: {{replicas: 1}}}}   # one
  manager: one
  expect:
    object:
      apiVersion: example.com/v1
      kind: Widget
      metadata:
        name: a
      spec:
        replicas: 1
    owners:
    - {{apiVersion: example.com/v1, fields: {{\"f:spec\": {{\"f:replicas\": {{}}}}}}, manager: one, operation: Apply}}
# two
- apply: {{{WIDGET}, spec: {{replicas: 2}}}}
  manager: two
  expect:   # three
    conflicts:
    - {{field: .spec.replicas, manager: one}}
  force: false
- fieldset: {{{WIDGET}}}
  expect:
    set: {set}
- {{fieldset: {{{WIDGET}}}, expect: {{set: {set}}}}}   # four
- validate: {{{WIDGET}}}
  expect:
    errors:   []  # as it was
"
    ));
    assert_eq!(folder.read("s/a.yaml"), expected);
    // Now all expectations hold, and nothing is written.
    let again = folder.run("scenario --update -q s/a.yaml");
    assert_eq!((again.code, again.out.as_str()), (Some(0), "1 scenario, 5 steps, 6 expectations: 0 failed\n"));
    assert_eq!(folder.read("s/a.yaml"), expected);
}

#[test]
fn an_invalid_scenario_is_reported_with_its_position() {
    for (steps, parts) in [
        ("- aply: {}\n", &["s/a.yaml:6:3", "no action was found, expected one of set, apply"][..]),
        ("- apply: {}\n", &["s/a.yaml:6:3", "manager is missing"]),
        ("- apply: {}\n  manger: x\n  manager: x\n", &["s/a.yaml:7:3", "found \"manger\", expected one of apply"]),
        ("- apply: {}\n  update: {}\n", &["s/a.yaml:7:3", "a step has one action; apply stands before"]),
        ("- apply: 1\n  manager: x\n", &["s/a.yaml:6:10", "found a number, expected an object"]),
        ("- set: {}\n  time: noon\n", &["s/a.yaml:7:9", "expected a time such as"]),
        ("- apply: {}\n  manager: x\n  expect: {set: {}}\n", &["s/a.yaml:8:12", "expected one of object, owners"]),
        ("- remove: {object: {}, fields: {a: 1}}\n", &["s/a.yaml:6:32", "found no set of fields"]),
        ("- fieldset: {apiVersion: v1, kind: Pod}\n", &["error[KS8001]", "s/a.yaml:6:36"]),
        ("- fieldset: {a: 1}\n  type: Nothing\n", &["s/a.yaml:7:9", "no schema has a type called Nothing"]),
        (
            "x: 1\n",
            &[
                "s/a.yaml:6:1",
                "found \"x\", expected one of scenario",
                "s/a.yaml:5:7",
                "found nothing, expected a list of steps",
            ],
        ),
    ] {
        let folder = folder(steps);
        let run = folder.run("scenario s/a.yaml");
        run.says(1, parts);
    }
    let folder = folder("- set: null\n");
    folder
        .write("s/b.yaml", "scenario: x\nschemas: [{file: missing.yaml}]\nsteps: []\n")
        .write("s/c.yaml", "steps: []\nscenario: [\n");
    folder.run("scenario s/b.yaml").says(2, &["error[KS1007]", "missing.yaml", "error[KS8013]", "s/b.yaml:2:18"]);
    folder.run("scenario s/c.yaml").says(1, &["error[KS1001]"]);
    folder.run("scenario").says(2, &["SUITE"]);
    folder.write("s/d.yaml", "a: 1\n").write("s/e.yaml", "");
    folder.run("scenario s/d.yaml").says(1, &["s/d.yaml:1:1", "found neither scenario nor steps"]);
    folder.run("scenario s/e.yaml").says(1, &["s/e.yaml", "found nothing, expected a scenario"]);
    // The others are run anyway.
    let all = folder.run("scenario s/a.yaml s/b.yaml");
    assert!(all.out.ends_with("1 scenario, 1 step, 0 expectations: 0 failed\n"), "{}", all.out);
    assert_eq!(all.code, Some(2));
}

#[test]
fn text_after_a_key_is_refused_unless_the_older_release_is_followed() {
    let folder = folder(&format!(
        "- set: {{{}, managedFields: [{{manager: one, operation: Apply, apiVersion: example.com/v1, fieldsType: FieldsV1, fieldsV1: {{'k:{{\"a\":1}}x': {{}}}}}}]}}}}\n\
         - update: {{{WIDGET}, spec: {{replicas: 1}}}}\n  manager: two\n- apply: {{{WIDGET}, spec: {{replicas: 1}}}}\n  manager: two\n",
        WIDGET.trim_end_matches('}')
    ));
    let (older, newer) = (folder.run("scenario --smd-compat v6.3 s/a.yaml"), folder.run("scenario s/a.yaml"));
    assert_eq!((older.code, older.err.as_str()), (Some(0), ""), "{}", older.out);
    assert!(older.out.contains("two Apply"), "{}", older.out);
    // An update begins a new list.
    assert_ne!(older.out, newer.out);
}

#[test]
fn every_scenario_of_the_corpus_holds() {
    let scenarios = concat!(env!("CARGO_MANIFEST_DIR"), "/../corpus/smd/scenarios");
    let run = Folder::new().run(&format!("scenario -q {scenarios}"));
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{}", run.out);
    assert!(run.out.ends_with(" expectations: 0 failed\n"), "{}", run.out);
}

#[test]
fn a_step_answers_like_the_command() {
    let folder = Folder::new();
    folder.write("crd.yaml", CRD).write("live.yaml", LIVE);
    let live: String = LIVE.lines().flat_map(|line| ["    ", line, "\n"]).collect();
    let members = [
        "spec: {replicas: 3}",
        "spec: {replicas: 4}, status: {ready: 9}",
        "status: {ready: 5}",
        "spec: {names: [n, o], ports: [{port: 80}]}",
        "spec: {replcas: 1}",
    ];
    let mut answers = [0, 0];
    for (verb, version, subresource) in ["apply", "update"].into_iter().flat_map(|verb| {
        let versions = ["v1", "v2"].into_iter();
        versions.flat_map(move |version| ["", "status", "scale"].map(|subresource| (verb, version, subresource)))
    }) {
        for members in members {
            let config = format!(
                "{{apiVersion: example.com/{version}, kind: Widget, metadata: {{name: a, namespace: x}}, {members}}}"
            );
            folder.write("config.yaml", &config);
            let through = if subresource.is_empty() { "" } else { "--subresource" };
            let command = folder.run(&format!(
                "{verb} --schemas crd.yaml --live live.yaml --smd-compat v6.4 --field-manager ci \
                 --now 2030-01-01T00:00:00Z {through} {subresource} -o json config.yaml"
            ));
            let mut expect = serde_json::json!({});
            if command.code == Some(0) {
                let mut object = json(&command.out);
                let entries = object["metadata"].as_object_mut().unwrap().remove("managedFields").unwrap();
                let mut owners = entries.as_array().unwrap().clone();
                for owner in owners.iter_mut().filter_map(serde_json::Value::as_object_mut) {
                    owner.remove("fieldsType");
                    let fields = owner.remove("fieldsV1").unwrap();
                    owner.insert("fields".to_owned(), fields);
                }
                expect = serde_json::json!({"object": object, "owners": owners});
            }
            let request = format!("{verb}: {config}\n  manager: ci\n  subresource: '{subresource}'");
            folder.write(
                "scenario.yaml",
                format!(
                    "scenario: one request\nschemas: [{{file: crd.yaml}}]\nsteps:\n- set:\n{live}- {request}\n  \
                     time: 2030-01-01T00:00:00Z\n  expect: {expect}\n"
                ),
            );
            let scenario = folder.run("scenario scenario.yaml");
            assert_eq!(scenario.code, command.code, "{request}\n{}{}\n{}", command.out, command.err, scenario.out);
            answers[usize::from(command.code == Some(0))] += 1;
        }
    }
    // Some requests are refused and some are accepted.
    assert!(answers.iter().all(|count| *count > 5), "{answers:?}");
}

#[test]
fn an_object_is_judged_between_applies() {
    let steps = format!(
        "\
- judge: {{{WIDGET}, spec: {{replicas: x, more: 1}}}}
  expect:
    errors: [{{path: spec.replicas, message: 'Invalid value: \"string\": spec.replicas in body must be of type integer: \"string\"'}}]
    unknown: [spec.more]
- apply: {{{WIDGET}, spec: {{replicas: 1}}}}
  manager: one
- judge: {{{WIDGET}, spec: {{replicas: 2}}}}
  expect:
    errors: []
- judge: {{{WIDGET}, spec: {{replicas: y}}}}
- judge: {{{WIDGET}, status: {{}}}}
  subresource: status
  expect:
"
    );
    let folder = folder(&steps);
    let run = folder.run("test s/a.yaml");
    assert_eq!(run.code, Some(1), "{}", run.err);
    assert!(run.out.contains("✗ no error") && run.out.contains("5 steps"), "{}", run.out);
    assert!(run.out.ends_with(": 1 failed\n"), "{}", run.out);
    // A step without `expect` has no place for its results.
    let run = folder.run("test --update -q s/a.yaml");
    assert_eq!(run.code, Some(1), "{}{}", run.out, run.err);
    assert!(run.out.ends_with(": 1 failed, 1 updated\n"), "{}", run.out);
    assert!(folder.read("s/a.yaml").contains("generation: "), "{}", folder.read("s/a.yaml"));
}
