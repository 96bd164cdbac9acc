//! Tests of `apply` and `update`: the resulting live objects, and what is refused.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common::ssa::{CRD, LIVE, config};
use crate::common::{Folder, Run};

const REQUEST: &str = "--schemas crd.yaml --live live.yaml --field-manager ci --now 2024-02-01T00:00:00Z";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("crd.yaml", CRD).write("live.yaml", LIVE);
    folder
}

/// Applies a configuration to the live object.
fn apply(text: &str, flags: &str) -> Run {
    let folder = folder();
    folder.write("config.yaml", text);
    folder.run(&format!("apply {REQUEST} {flags} config.yaml"))
}

#[test]
fn an_apply_creates_a_missing_object() {
    let folder = folder();
    folder.write("config.yaml", config("ports: [{port: 80, name: web}]")).write("live.yaml", "");
    let expected = r#"apiVersion: example.com/v1
kind: Widget
metadata:
  managedFields:
  - apiVersion: example.com/v1
    fieldsType: FieldsV1
    fieldsV1:
      f:spec:
        f:ports:
          k:{"port":80,"protocol":"TCP"}:
            .: {}
            f:name: {}
            f:port: {}
    manager: ci
    operation: Apply
    time: "2024-02-01T00:00:00Z"
  name: a
  namespace: x
spec:
  ports:
  - name: web
    port: 80
"#;
    for live in ["--live live.yaml", "--live missing.yaml --live-optional", ""] {
        let run = folder.run(&format!(
            "apply --schemas crd.yaml {live} --field-manager ci --now 2024-02-01T01:00:00+01:00 config.yaml"
        ));
        assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(0), expected, ""));
    }
}

#[test]
fn the_first_patches_of_1_36_keep_what_an_apply_empties() {
    let folder = Folder::new();
    folder.write("crd.yaml", CRD);
    let request = "apply --schemas crd.yaml --field-manager ci --now 2024-02-01T00:00:00Z";
    folder.write("first.yaml", config("ports: [{port: 80, name: web}]")).write("second.yaml", config("{}"));
    for (release, is_kept) in
        [("1.35", false), ("1.36.0", true), ("v1.36.2", true), ("1.36.3", false), ("1.36", false), ("1.37", false)]
    {
        let live = folder.run(&format!("{request} --kubernetes {release} first.yaml"));
        folder.write("live.yaml", live.out);
        let run = folder.run(&format!("{request} --kubernetes {release} --live live.yaml second.yaml"));
        assert_eq!(run.code, Some(0), "{release}: {}", run.err);
        let spec = run.out.lines().rfind(|line| line.starts_with("spec"));
        assert_eq!(spec, Some(if is_kept { "spec: {}" } else { "spec: null" }), "{release}");
        // An empty list does not stay, because its fields are not in a set.
        folder.write("third.yaml", config("ports: null"));
        let run = folder.run(&format!("{request} --kubernetes {release} --live live.yaml third.yaml"));
        assert_eq!(run.out.contains("  ports: null\n"), !is_kept, "{release}: {}", run.out);
    }
}

#[test]
fn a_conflict_has_the_servers_words_and_its_line() {
    let run = apply(&config("replicas: 5"), "");
    let expected = "\
error: Apply failed with 1 conflict: conflict with \"kubectl\": .spec.replicas
error[KS8005]: Another manager owns a field that would change
 --> config.yaml:5:13
  |
5 |   replicas: 5
  |             ^ conflict with \"kubectl\": .spec.replicas
  |
  = note: in Widget x/a
  = note: live value: live.yaml:33:13
  = help: Take the field out of the configuration to leave it to the other
          manager, set it to the present value to share it, or take it over with
          `--force-conflicts`.

For more about an error, run `kubeshape explain-code KS8005`.
";
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(1), "", expected));
    let several = apply(&config("{replicas: 5, ports: [{port: 80, name: http}]}"), "");
    several.says(
        1,
        &[
            "error: Apply failed with 2 conflicts: conflicts with \"kubectl\":\n- .spec.replicas\n- .spec.ports[port=80,protocol=\"TCP\"].name\n",
            "config.yaml:5:14",
            "config.yaml:5:42",
        ],
    );
}

#[test]
fn force_takes_fields_over_and_equal_values_are_shared() {
    let forced = apply(&config("replicas: 5"), "--force-conflicts");
    assert_eq!((forced.code, forced.err.as_str()), (Some(0), ""));
    let own = "      f:spec:\n        f:replicas: {}\n    manager: ci\n    operation: Apply\n    time: \"2024-02-01T00:00:00Z\"\n";
    assert!(forced.out.contains(own) && forced.out.contains("  replicas: 5\n"), "{}", forced.out);
    assert_eq!(forced.out.matches("f:replicas").count(), 1);
    // Nothing changes, so there is no time.
    let shared = apply(&config("replicas: 3"), "");
    assert_eq!((shared.code, shared.err.as_str()), (Some(0), ""));
    assert_eq!(shared.out.matches("f:replicas").count(), 2);
    assert!(shared.out.contains("    manager: ci\n    operation: Apply\n  - "), "{}", shared.out);
}

#[test]
fn what_an_endpoint_does_not_handle_is_unchanged() {
    let text = format!("{}status: {{ready: 9}}\n", config("names: [m]"));
    let main = apply(&text, "");
    assert!(main.out.contains("status:\n  ready: 2\n") && main.out.contains("  - \"n\"\n  - m\n"), "{}", main.out);
    assert_eq!(main.out.matches("f:status").count(), 1, "{}", main.out);
    let status = apply(&text, "--subresource status --force-conflicts");
    assert_eq!((status.code, status.err.as_str()), (Some(0), ""));
    assert!(status.out.contains("status:\n  ready: 9\n") && !status.out.contains("  - m\n"), "{}", status.out);
    assert!(status.out.contains("    manager: ci\n    operation: Apply\n    subresource: status\n"), "{}", status.out);
}

#[test]
fn an_update_owns_what_changed() {
    let folder = folder();
    folder.write("new.yaml", LIVE.replace("replicas: 3", "replicas: 4").replace("  args: [a, b]\n", ""));
    let run = folder.run(&format!("update {REQUEST} new.yaml"));
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    let own = "  - apiVersion: example.com/v1
    fieldsType: FieldsV1
    fieldsV1:
      f:spec:
        f:replicas: {}
    manager: ci
    operation: Update
    time: \"2024-02-01T00:00:00Z\"
";
    assert!(run.out.contains(own) && !run.out.contains("args"), "{}", run.out);
}

#[test]
fn several_configurations_are_applied_in_order() {
    let folder = folder();
    let other = LIVE.replace("name: a\n", "name: b\n");
    folder.write("live.yaml", format!("{LIVE}---\n{other}"));
    folder.write("1.yaml", config("replicas: 5")).write("2.yaml", config("names: [m]"));
    folder.write("3.yaml", config("names: [l]").replace("name: a", "name: b"));
    let run = folder.run(&format!("apply {REQUEST} 1.yaml 2.yaml 3.yaml"));
    // The conflict of the first does not prevent the others from being applied.
    run.says(1, &["--> 1.yaml:5:13"]);
    let documents: Vec<&str> = run.out.split("---\n").collect();
    assert_eq!(documents.len(), 2);
    assert!(documents[0].contains("  name: a\n") && documents[0].contains("- m\n"), "{}", run.out);
    assert!(documents[1].contains("  name: b\n") && documents[1].contains("- l\n"), "{}", run.out);
    let forced = folder.run(&format!("apply {REQUEST} --force-conflicts 1.yaml 2.yaml -o after.json"));
    assert_eq!((forced.code, forced.out.as_str(), forced.err.as_str()), (Some(0), "", ""));
    // In the second, the manager does not apply replicas any more, so they are removed.
    let after = crate::common::json(&folder.read("after.json"));
    assert_eq!(after["spec"]["names"], serde_json::json!(["n", "m"]));
    assert_eq!(after["spec"].get("replicas"), None);
}

#[test]
fn an_undeclared_field_is_explained() {
    let run = apply(&config("replcas: 5"), "");
    let expected = "\
error[KS8002]: The field is not declared in the schema
 --> config.yaml:5:3
  |
5 |   replcas: 5
  |   ^^^^^^^
  |
  = note: .spec.replcas: field not declared in schema; did you mean `replicas`?
  = note: in Widget x/a
  = note: checked against crd.yaml:19:13,
          /spec/versions/0/schema/openAPIV3Schema/properties/spec
  = note: no other version declares replcas
  = note: a plain create would drop this field (prune it), server-side apply
          refuses it; with x-kubernetes-preserve-unknown-fields: true in that
          schema both would keep it
  = help: Correct the name, or use the apiVersion that declares it. If the
          schema is yours and the field is meant to be free, declare it, or set
          `x-kubernetes-preserve-unknown-fields: true` where it belongs.

For more about an error, run `kubeshape explain-code KS8002`.
";
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(1), "", expected));
    apply(&config("size: 5"), "").says(1, &["config.yaml:5:3", "= note: example.com/v2 declares size"]);
}

#[test]
fn bad_configurations_are_refused_with_their_position() {
    let good = config("replicas: 3");
    for (text, parts) in [
        ("a: [".to_owned(), &["error[KS1001]", "config.yaml:1:5"][..]),
        ("[1]".to_owned(), &["error[KS8009]", "config.yaml:1:1", "found a list, expected an object"]),
        (good.replace("Widget", "Wodget"), &["error[KS8001]", "config.yaml:2:7", "did you mean `Widget`?"]),
        (
            good.replace("com/v1", "com/v3"),
            &["error[KS8001]", "config.yaml:1:13", "the schemas have example.com/v1, example.com/v2"],
        ),
        (good.replace("kind: Widget\n", ""), &["error[KS8001]", "config.yaml:1:1"]),
        (good.replace("name: a, ", ""), &["error[KS8009]", "config.yaml:3:1", "found no metadata.name"]),
        (
            good.replace("namespace: x", "namespace: x, managedFields: []"),
            &["error[KS8006]", "config.yaml:3:35", "metadata.managedFields must be nil"],
        ),
        (
            config("replicas: three"),
            &[
                "error[KS8003]",
                "config.yaml:5:13",
                ".spec.replicas: expected numeric (int or float), found a string",
                "the type is declared in crd.yaml:21:25",
            ],
        ),
        (
            config("names: [n]"),
            &["error[KS8003]", "expected string, found a boolean", "n without quotes is read as false; write \"n\""],
        ),
        (config("names: [a, a]"), &["error[KS8004]", "config.yaml:5:14", "duplicate entries for key [=\"a\"]"]),
        (
            config("ports: [{port: 1}, {port: 1, protocol: TCP}]"),
            &["error[KS8004]", "duplicate entries for key [port=1,protocol=\"TCP\"]"],
        ),
    ] {
        let run = apply(&text, "");
        run.says(1, parts);
        assert_eq!(run.out, "", "{text}");
    }
}

#[test]
fn bad_live_objects_are_refused_with_their_position() {
    for (from, to, parts) in [
        (
            "operation: Apply",
            "operation: Applied",
            &["error[KS8007]", "live.yaml:9:16", "operation must be `Apply` or `Update`"][..],
        ),
        (
            "fieldsType: FieldsV1\n    fieldsV1:\n      f:spec",
            "fieldsType: FieldsV2\n    fieldsV1:\n      f:spec",
            &["error[KS8007]", "live.yaml:12:17"],
        ),
        ("        f:args: {}", "        f:args: 1", &["error[KS8007]", "live.yaml:13:5"]),
        ("replicas: 3", "replicas: x", &["error[KS8003]", "live.yaml:33:13"]),
        ("spec:\n", "spec: [\n", &["error[KS1001]", "live.yaml"]),
    ] {
        let folder = folder();
        assert!(LIVE.contains(from), "{from}");
        folder.write("live.yaml", LIVE.replacen(from, to, 1)).write("config.yaml", config("names: [m]"));
        let run = folder.run(&format!("apply {REQUEST} config.yaml"));
        run.says(1, parts);
        assert_eq!(run.out, "");
    }
    let folder = folder();
    folder.write("live.yaml", format!("{LIVE}---\n{LIVE}")).write("config.yaml", config("names: [m]"));
    folder
        .run(&format!("apply {REQUEST} config.yaml"))
        .says(1, &["error[KS8008]", "the same object stands in live.yaml:1:1, too"]);
}

#[test]
fn bad_schemas_are_reported_and_nothing_is_written() {
    let folder = folder();
    folder
        .write("config.yaml", config("names: [m]"))
        .write("none.yaml", "a: 1\n")
        .write("types.yaml", "types: [{nam: a}]\n");
    let run = |schemas: &str| folder.run(&format!("apply --schemas {schemas} --field-manager ci config.yaml"));
    run("missing.yaml").says(2, &["error[KS1007]", "missing.yaml"]);
    run("none.yaml").says(1, &["error[KS1008]", "none.yaml", "neither a CustomResourceDefinition"]);
    // In a folder, all other files are skipped. If there are no others, nothing was named.
    folder.write("dir/none.yaml", "a: 1\n");
    run("dir").says(1, &["error[KS1008]", "--> dir\n"]);
    folder.write("dir/crd.yaml", CRD);
    assert_eq!((run("dir").code, run("dir").err.as_str()), (Some(0), ""));
    run("types.yaml").says(1, &["error[KS1005]", "types.yaml"]);
    run("crd.yaml --type Nothing").says(2, &["no schema has a type called Nothing"]);
    // Without the keys, the types are deduced, and lists are replaced.
    folder.write("crd.yaml", CRD.replace("                x-kubernetes-list-map-keys: [port, protocol]\n", ""));
    run("crd.yaml").says(0, &["warning[KS8011]: crd.yaml:", "missing map keys"]);
}

/// Returns the live object with text after the keys of an item.
fn live_with_tail() -> String {
    let (key, tail) = (r#"k:{"port":80,"protocol":"TCP"}:"#, r#"k:{"port":80,"protocol":"TCP"}x:"#);
    assert!(LIVE.contains(key));
    LIVE.replace(key, tail)
}

#[test]
fn text_after_a_key_is_ignored_by_one_release_and_refused_by_the_other() {
    let folder = folder();
    folder.write("live.yaml", live_with_tail()).write("config.yaml", config("names: [m]"));
    for command in [
        format!("apply {REQUEST} config.yaml"),
        format!("update {REQUEST} config.yaml"),
        "blame --schemas crd.yaml live.yaml".to_owned(),
        "extract --schemas crd.yaml --field-manager kubectl live.yaml".to_owned(),
    ] {
        for release in ["--kubernetes 1.36", "--smd-compat v6.3"] {
            let run = folder.run(&format!("{command} {release}"));
            assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{command} {release}");
            assert!(run.out.contains("name: ") && !run.out.contains("}x"), "{command}\n{}", run.out);
        }
        if !command.starts_with("update") {
            // 1.37, the newest release, follows v6.4.
            for release in ["", "--kubernetes 1.36 --smd-compat v6.4"] {
                let run = folder.run(&format!("{command} {release}"));
                run.says(1, &["error[KS8007]", "live.yaml:13:5", "unexpected data after the JSON value"]);
                assert_eq!(run.out, "");
            }
        }
    }
    let extracted = folder.run("extract --schemas crd.yaml --field-manager kubectl --kubernetes 1.36 live.yaml");
    assert!(extracted.out.contains("  ports:\n  - name: web\n    port: 80\n"), "{}", extracted.out);
}

#[test]
fn version_7_writes_owners_without_escapes_of_html() {
    let folder = folder();
    folder.write("config.yaml", config("names: [\"<&\"]"));
    let run = |release: &str| folder.run(&format!("apply {REQUEST} config.yaml {release}")).out;
    assert!(run("").contains(r"\u003c\u0026"), "{}", run(""));
    let newer = run("--smd-compat v7.0");
    assert!(newer.contains(r#""<&""#) && !newer.contains("u003c"), "{newer}");
    let sets = |release: &str| folder.run(&format!("fieldset --schemas crd.yaml config.yaml {release}")).out;
    assert!(sets("").contains(r"u003c") && !sets("--smd-compat v7.0").contains("u003c"));
}

#[test]
fn errors_are_reported_in_the_order_of_the_file() {
    let run = apply(&config("zz: 1\n  replicas: x\n  names: [b, 1]\n  args: 5"), "");
    let places: Vec<&str> = run.err.lines().filter_map(|line| line.trim().strip_prefix("--> ")).collect();
    assert_eq!(places, ["config.yaml:5:3", "config.yaml:6:13", "config.yaml:7:14", "config.yaml:8:9"], "{}", run.err);
}

#[test]
fn each_object_gets_its_own_file_in_a_folder() {
    let folder = folder();
    let two = config("names: [m]").replace("name: a", "name: b");
    folder.write("config.yaml", format!("{}---\n{two}", config("names: [m]")));
    for path in ["out/", "out"] {
        let run = folder.run(&format!("apply {REQUEST} -o {path} config.yaml"));
        assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(0), "", ""), "{path}");
        assert!(folder.read("out/Widget.x.a.yaml").contains("  name: a\n"));
        assert!(folder.read("out/Widget.x.b.yaml").starts_with("apiVersion: example.com/v1\n"));
    }
    folder.run("extract --schemas crd.yaml --field-manager kubectl -o one/ live.yaml").says(0, &[]);
    assert!(folder.read("one/Widget.x.a.yaml").contains("replicas: 3"));
    folder.run("merge --schemas crd.yaml live.yaml live.yaml -o merged/").says(0, &[]);
    assert!(folder.read("merged/Widget.x.a.yaml").contains("replicas: 3"));
    // Two objects would get the same file, so nothing is written.
    let document = |group: &str| {
        format!(
            r#"{{"openapi": "3.0.0", "info": {{"title": "", "version": ""}}, "paths": {{}}, "components": {{"schemas": {{"{group}": {{
              "type": "object", "x-kubernetes-preserve-unknown-fields": true,
              "x-kubernetes-group-version-kind": [{{"group": "{group}", "version": "v1", "kind": "Widget"}}]}}}}}}}}"#
        )
    };
    folder.write("docs/a.json", document("a.com")).write("docs/b.json", document("b.com"));
    folder.write(
        "config.yaml",
        "{apiVersion: a.com/v1, kind: Widget, metadata: {name: a}}\n---\n{apiVersion: b.com/v1, kind: Widget, metadata: {name: a}}\n",
    );
    let run = folder.run("apply --schemas docs --field-manager ci -o none/ config.yaml");
    run.says(2, &["two objects would get the file Widget.a.yaml", "a.com/v1", "b.com/v1"]);
    folder.run("blame -o out/ live.yaml").says(2, &["this command writes one result, into a file"]);
}

#[test]
fn a_subresource_must_be_one_of_the_resource() {
    apply(&config("names: [m]"), "--subresource stats").says(
        1,
        &[
            "error[KS8012]",
            "config.yaml:2:7",
            "has no subresource \"stats\"; it has status",
            "it is defined in crd.yaml:1:1",
        ],
    );
    let v2 = config("size: 1").replace("com/v1", "com/v2");
    apply(&v2, "--subresource status").says(1, &["has no subresource \"status\"; it has none"]);
    assert_eq!(apply(&config("names: [m]"), "--subresource status").code, Some(0));
}

#[test]
fn inputs_without_objects_are_reported() {
    apply("", "").says(1, &["error[KS8009]", "config.yaml", "found no objects"]);
    apply("apiVersion: example.com/v1\nmetadata: {name: a}\n", "")
        .says(1, &["error[KS8001]", "the object of \"example.com/v1\" has no kind"]);
    let folder = folder();
    folder.write("live.yaml", LIVE.replace("kind: Widget\n", "")).write("config.yaml", config("names: [m]"));
    folder.run(&format!("apply {REQUEST} config.yaml")).says(1, &["error[KS8001]", "live.yaml:1:1", "has no kind"]);
    folder.write("live.yaml", LIVE).write("crd.yaml", CRD.replace("  - name: v2\n    served", "  - served"));
    folder.run(&format!("apply {REQUEST} config.yaml")).says(1, &["error[KS1005]", "crd.yaml:", "found no name"]);
}

#[test]
fn invalid_command_lines_are_refused() {
    let folder = folder();
    folder.write("config.yaml", config("names: [m]"));
    for (line, part) in [
        ("apply --schemas crd.yaml config.yaml", "--field-manager"),
        ("apply --schemas crd.yaml --field-manager ci", "CONFIG"),
        ("apply --schemas crd.yaml --field-manager ci --now today config.yaml", "--now takes a time such as"),
        ("apply --schemas crd.yaml --field-manager ci -o out config.yaml", "-o takes `json`, `yaml`"),
        ("apply --schemas - --field-manager ci -", "give `-` once"),
        ("merge --schemas crd.yaml - -", "give `-` once"),
        ("compare --schemas crd.yaml - -", "give `-` once"),
        ("blame --schemas - -", "give `-` once"),
        ("update --schemas crd.yaml --field-manager ci --force-conflicts config.yaml", "--force-conflicts"),
    ] {
        folder.run(line).says(2, &[part]);
    }
    // Without schemas, the built-in kinds are used.
    let what = "the built-in kinds are those of Kubernetes 1.37; --schemas adds other kinds";
    folder.run("apply --field-manager ci config.yaml").says(1, &["error[KS8001]", what]);
    let long = "x".repeat(129);
    folder.run(&format!("apply --schemas crd.yaml --field-manager {long} config.yaml")).says(2, &["1 to 128 bytes"]);
}

#[test]
fn types_also_come_from_documents_and_schemas() {
    let folder = Folder::new();
    let document = |head: &str, at: &str| {
        format!(
            r#"{{{head}, "info": {{"title": "", "version": ""}}, "paths": {{}}, {at}: {{"w": {{"type": "object",
              "properties": {{"apiVersion": {{"type": "string"}}, "kind": {{"type": "string"}},
                "metadata": {{"type": "object"}}, "spec": {{"type": "object", "properties": {{"replicas": {{"type": "integer"}}}}}}}},
              "x-kubernetes-group-version-kind": [{{"group": "example.com", "version": "v1", "kind": "Widget"}}]}}}}"#
        )
    };
    folder
        .write("v2.json", document(r#""swagger": "2.0""#, r#""definitions""#) + "}")
        .write("v3.json", document(r#""openapi": "3.0.0""#, r#""components": {"schemas""#) + "}}")
        .write(
            "smd.yaml",
            "types: [{name: w, scalar: untyped, list: {elementType: {namedType: w}, elementRelationship: atomic}, map: {elementType: {namedType: w}}}]",
        )
        .write("config.yaml", config("replicas: 3"));
    let run = |schemas: &str| {
        let run =
            folder.run(&format!("apply --schemas {schemas} --field-manager ci --now 2024-02-01T00:00:00Z config.yaml"));
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{schemas}");
        run.out
    };
    let out = run("v3.json");
    assert!(out.contains("      f:spec:\n        f:replicas: {}\n"), "{out}");
    assert_eq!(run("v2.json"), out);
    assert!(run("smd.yaml --type w").contains("f:replicas: {}"));
    folder.write("config.yaml", config("replcas: 3"));
    folder
        .run("apply --schemas v3.json --field-manager ci config.yaml")
        .says(1, &["did you mean `replicas`?", "/components/schemas/w/properties/spec", "with a warning at most"]);
}

const GONE: &str = "\
apiVersion: example.com/v1
kind: Widget
metadata:
  name: a
  namespace: x
  labels: {}
  creationTimestamp: null
  managedFields:
  - {manager: argo, operation: Apply, apiVersion: example.com/v1, time: \"2026-01-01T00:00:00Z\", fieldsType: FieldsV1,
     fieldsV1: {f:spec: {f:replicas: {}, f:gone: {f:a: {}}, f:args: {}}}}
spec: {replicas: 1, args: [a], gone: {a: b}}
";

#[test]
fn fields_that_the_definition_no_longer_has_are_dropped_from_the_live_object() {
    let folder = folder();
    folder.write("live.yaml", GONE).write("config.yaml", config("replicas: 2"));
    let request = "--schemas crd.yaml --live live.yaml --field-manager argo --now 2024-02-01T00:00:00Z";
    let run = folder.run(&format!("apply {request} config.yaml"));
    run.says(0, &["warning[KS8103]", "live.yaml:11:32", "unknown field \"spec.gone\" in the live object"]);
    let spec = "  name: a\n  namespace: x\nspec:\n  replicas: 2\n";
    assert!(run.out.ends_with(spec) && !run.out.contains("creationTimestamp"), "{}", run.out);
    // Another version has other fields.
    folder.write("config.yaml", config("replicas: 2").replace("/v1", "/v2"));
    let run = folder.run(&format!("apply {request} config.yaml"));
    run.says(0, &["unknown field \"spec.gone\"", "unknown field \"spec.args\""]);
    assert!(run.out.contains("apiVersion: example.com/v2") && run.out.ends_with(spec), "{}", run.out);
    folder.write("config.yaml", config("replicas: 2"));
    let run = folder.run(&format!("update {request} config.yaml"));
    assert!(run.code == Some(0) && run.out.ends_with(spec), "{} {}", run.out, run.err);
}

#[test]
fn metadata_of_results_is_that_of_a_server() {
    let folder = folder();
    let metadata = "{name: a, namespace: x, creationTimestamp: null, labels: {}, annotations: {a: b}, finalizers: [], generation: 0}";
    let text = format!("apiVersion: example.com/v1\nkind: Widget\nmetadata: {metadata}\nspec: {{replicas: 1}}\n");
    folder.write("config.yaml", text);
    for command in ["apply", "update"] {
        let run = folder.run(&format!("{command} --schemas crd.yaml --field-manager ci config.yaml"));
        let names: Vec<&str> = run.out.lines().filter_map(|line| line.strip_prefix("  ")).collect();
        let names: Vec<&str> = names.into_iter().filter(|line| !line.starts_with([' ', '-'])).collect();
        assert_eq!(names, ["annotations:", "managedFields:", "name: a", "namespace: x", "replicas: 1"], "{}", run.err);
    }
}

#[test]
fn a_conflict_about_a_missing_value_points_at_no_live_value() {
    let folder = folder();
    let live = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: d\n  managedFields:\n  - manager: helm\n    operation: \
                Apply\n    apiVersion: apps/v1\n    fieldsType: FieldsV1\n    fieldsV1: {f:spec: {f:template: {f:spec: \
                {f:hostNetwork: {}, f:nodeName: {}}}}}\nspec: {template: {spec: {}}}\n";
    let config = |spec: &str| {
        format!("apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: d}}\nspec: {{template: {{spec: {spec}}}}}\n")
    };
    let request = "apply --kubernetes 1.36 --live live.yaml --field-manager ci config.yaml";
    folder.write("live.yaml", live);
    for (spec, help) in [
        ("{hostNetwork: false}", "drops such zero"),
        ("{nodeName: ''}", "drops such zero"),
        ("{nodeName: node-1}", "does not have the field. Leave"),
    ] {
        let run = folder.write("config.yaml", config(spec)).run(request);
        let words: Vec<&str> = run.err.split_whitespace().collect();
        let words = words.join(" ");
        assert!(run.code == Some(1) && words.contains("error[KS8005]") && words.contains(help), "{words}");
        assert!(!words.contains("live value"), "{words}");
    }
}

#[test]
fn the_owner_of_client_side_apply_is_named() {
    let folder = folder();
    let annotation = "f:metadata: {f:annotations: {f:kubectl.kubernetes.io/last-applied-configuration: {}}}";
    let live = GONE.replace("manager: argo, operation: Apply", "manager: kubectl-client-side-apply, operation: Update");
    folder.write("live.yaml", live.replace("f:spec:", &format!("{annotation}, f:spec:")));
    folder.write("config.yaml", config("replicas: 1"));
    let request = "--schemas crd.yaml --live live.yaml --field-manager kubectl config.yaml";
    let note =
        "\"kubectl-client-side-apply\" owns the fields of client-side apply. `kubectl apply --server-side` gives";
    folder.run(&format!("apply {request}")).says(0, &[note]);
    assert!(!folder.run(&format!("update {request}")).err.contains(note));
    folder.write("live.yaml", live);
    assert!(!folder.run(&format!("apply {request}")).err.contains(note), "without the annotation");
}

#[test]
fn errors_in_the_live_object_are_reported_there() {
    let folder = folder();
    folder.write("live.yaml", GONE.replace("manager: argo,", "manager: argo, more: 1,"));
    folder.write("config.yaml", config("replicas: 1"));
    let request = "--schemas crd.yaml --live live.yaml --field-manager ci config.yaml";
    let run = folder.run(&format!("apply {request}"));
    assert!(!run.err.contains("config.yaml:"), "{}", run.err);
    folder.write("live.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, mor: 1}\n");
    folder.write("config.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n");
    let request = "apply --kubernetes 1.36 --live live.yaml --field-manager ci config.yaml";
    folder.run(request).says(1, &["error[KS8002]", "--> live.yaml:3:21", "metadata.mor"]);
    // What is in both is reported at the configuration.
    folder.write("config.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, mor: 1}\n");
    folder.run(request).says(1, &["error[KS8002]", "--> config.yaml:3:"]);
}

#[test]
fn extract_names_the_managers_that_applied_something() {
    let folder = folder();
    let live = GONE.replace(", gone: {a: b}", "").replace("f:gone: {f:a: {}}, ", "");
    folder.write("live.yaml", &live);
    let line = "extract --schemas crd.yaml live.yaml --field-manager";
    folder.run(&format!("{line} nobody")).says(0, &["found no entry of \"nobody\" that was applied; \"argo\" did"]);
    folder.run(&format!("{line} argo --subresource status")).says(0, &["no manager applied anything"]);
    folder.write("live.yaml", live.replace("operation: Apply", "operation: Update"));
    folder.run(&format!("{line} argo")).says(0, &["no manager applied anything"]);
}

/// The last configuration of a Deployment, without a replica count and a container.
const CONFIG: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: x}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: b, image: 'b:2'}
";

/// Returns a folder with a Deployment that `kubectl apply` created, with a container of another manager.
fn applied_by_kubectl() -> Folder {
    let folder = Folder::new();
    let first = CONFIG
        .replace("spec:\n  selector", "spec:\n  replicas: 2\n  selector")
        .replace("      - {name: b, image: 'b:2'}", "      - {name: a, image: 'a:1'}\n      - {name: b, image: 'b:1'}");
    folder.write("first.yaml", first).write("config.yaml", CONFIG);
    let run = folder.run("apply --client-side --kubernetes 1.36 --now 2024-01-01T00:00:00Z -o live.yaml first.yaml");
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    let live =
        folder.read("live.yaml").replace("- image: a:1", "- image: s:1\n        name: sidecar\n      - image: a:1");
    folder.write("live.yaml", live);
    folder
}

#[test]
fn client_side_apply_removes_what_it_applied_and_leaves_the_rest() {
    let folder = applied_by_kubectl();
    let live = folder.read("live.yaml");
    let annotation =
        r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"annotations":{},"name":"web","namespace":"x"},"#;
    assert!(live.contains(annotation) && live.contains("manager: kubectl-client-side-apply"), "{live}");
    let request = "apply --client-side --kubernetes 1.36 --now 2024-01-02T00:00:00Z --live live.yaml";
    let run = folder.run(&format!("{request} config.yaml"));
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    assert!(
        run.out.ends_with("      - image: s:1\n        name: sidecar\n      - image: b:2\n        name: b\n"),
        "{}",
        run.out
    );
    assert!(!run.out.contains("replicas: 2") && run.out.contains(r#""spec":{"selector""#), "{}", run.out);
    let again = folder.write("live.yaml", &run.out).run(&format!("{request} config.yaml"));
    assert_eq!(again.out, run.out);
    let keyless = CONFIG.replace("{name: b, image: 'b:2'}", "{image: 'b:2'}");
    folder.write("keyless.yaml", keyless);
    folder
        .run(&format!("{request} keyless.yaml"))
        .says(1, &["map: map[image:b:2] does not contain declared merge key: name", "KS8012"]);
}

#[test]
fn client_side_apply_of_custom_resources_is_a_json_merge_patch() {
    let folder = folder();
    folder.write("first.yaml", config("{replicas: 1, ports: [{port: 80, name: a}]}"));
    folder.write("config.yaml", config("ports: [{port: 81, name: b}]"));
    let request = "apply --client-side --schemas crd.yaml --now 2024-01-01T00:00:00Z";
    let run = folder.run(&format!("{request} -o live.yaml first.yaml"));
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    let run = folder.run(&format!("{request} --live live.yaml config.yaml"));
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    assert!(run.out.ends_with("spec:\n  ports:\n  - name: b\n    port: 81\n"), "{}", run.out);
    let bare = folder.write("live.yaml", config("replicas: 1")).run(&format!("{request} --live live.yaml config.yaml"));
    assert_eq!(bare.code, Some(0));
    assert!(bare.out.contains("replicas: 1"), "{}", bare.out);
    assert!(bare.err.contains("the live object has no annotation"), "{}", bare.err);
}

#[test]
fn migration_gives_the_fields_of_client_side_apply_to_the_manager() {
    let folder = applied_by_kubectl();
    let request = "apply --kubernetes 1.36 --now 2024-01-02T00:00:00Z --live live.yaml config.yaml";
    let stays = folder.run(&format!("{request} --field-manager ci --force-conflicts"));
    assert!(
        stays.out.contains("replicas: 2") && stays.err.contains("`--migrate` does as kubectl does"),
        "{}",
        stays.err
    );
    let migrated = folder.run(&format!("{request} --field-manager ci --migrate --force-conflicts"));
    assert_eq!((migrated.code, migrated.err.as_str()), (Some(0), ""));
    assert!(!migrated.out.contains("replicas: 2") && !migrated.out.contains("client-side"), "{}", migrated.out);
    assert!(!migrated.out.contains("last-applied-configuration"), "{}", migrated.out);
    let kubectl = folder.run(&format!("{request} --field-manager kubectl --migrate"));
    assert_eq!((kubectl.code, kubectl.err.as_str()), (Some(0), ""));
    assert!(kubectl.out.contains("manager: kubectl-last-applied"), "{}", kubectl.out);
    folder.run(&format!("{request} --client-side --migrate")).says(2, &["cannot be used with"]);
}
