//! Tests of `fieldset`, `compare`, `merge`, `extract` and `blame`: fields and their owners.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common::ssa::{CRD, LIVE, config};
use crate::common::{Folder, json};

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("crd.yaml", CRD).write("live.yaml", LIVE);
    folder
}

#[test]
fn a_field_set_is_printed_like_in_managed_fields() {
    let folder = folder();
    folder.write("a.yaml", config("{names: [b, a], ports: [{port: 80}], args: []}"));
    let run = folder.run("fieldset --schemas crd.yaml a.yaml");
    let expected = concat!(
        r#"{"f:apiVersion":{},"f:kind":{},"f:metadata":{"f:name":{},"f:namespace":{}},"f:spec":{"f:args":{},"#,
        r#""f:names":{"v:\"a\"":{},"v:\"b\"":{}},"#,
        r#""f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:port":{}}}}}"#,
        "\n"
    );
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(0), expected, ""));
    let paths = folder.run("fieldset --schemas crd.yaml --paths a.yaml");
    let expected = "\
.apiVersion
.kind
.metadata.name
.metadata.namespace
.spec.args
.spec.names[=\"a\"]
.spec.names[=\"b\"]
.spec.ports[port=80,protocol=\"TCP\"]
.spec.ports[port=80,protocol=\"TCP\"].port
";
    assert_eq!((paths.code, paths.out.as_str(), paths.err.as_str()), (Some(0), expected, ""));
}

#[test]
fn a_comparison_shows_old_and_new_values() {
    let folder = folder();
    let long = "a".repeat(50);
    folder.write("a.yaml", config("{replicas: 1, names: [a, b], args: [x], ports: [{port: 80}]}")).write(
        "b.yaml",
        config(&format!("{{replicas: 2, names: [b, c], args: [x, {long}], ports: [{{port: 90, name: web}}]}}")),
    );
    let run = folder.run("compare --schemas crd.yaml a.yaml b.yaml");
    let expected = format!(
        "\
added:
  .spec.names[=\"c\"]
  .spec.ports[port=90,protocol=\"TCP\"]
  .spec.ports[port=90,protocol=\"TCP\"].name: \"web\"
  .spec.ports[port=90,protocol=\"TCP\"].port: 90
modified:
  .spec.args:
    - [\"x\"]
    + [\"x\",\"{long}\"]
  .spec.replicas: 1 -> 2
removed:
  .spec.names[=\"a\"]
  .spec.ports[port=80,protocol=\"TCP\"]
  .spec.ports[port=80,protocol=\"TCP\"].port: 80
"
    );
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(1), expected.as_str(), ""));
    folder.write("b.yaml", config("{replicas: 2, names: [b, c], args: [x], ports: [{port: 80}]}"));
    let run = folder.run("compare --schemas crd.yaml a.yaml b.yaml -o json");
    let expected = serde_json::json!({
        "added": {"f:spec": {"f:names": {"v:\"c\"": {}}}},
        "modified": {"f:spec": {"f:replicas": {}}},
        "removed": {"f:spec": {"f:names": {"v:\"a\"": {}}}},
        "changes": [
            {"path": ".spec.names[=\"c\"]"},
            {"path": ".spec.replicas", "old": 1, "new": 2},
            {"path": ".spec.names[=\"a\"]"},
        ],
    });
    assert_eq!((run.code, json(&run.out), run.err.as_str()), (Some(1), expected, ""));
    // The order of the items in a set does not matter.
    folder.write("a.yaml", config("{names: [a, b], replicas: 1}"));
    folder.write("b.yaml", config("{names: [b, a], replicas: 1}"));
    folder.run("compare --schemas crd.yaml a.yaml b.yaml").is_silent();
    folder.run("compare --schemas crd.yaml -f a.yaml -f b.yaml").is_silent();
    folder.run("compare --schemas crd.yaml -f a.yaml").says(2, &["expected two inputs, A and B; found 1"]);
    folder.run("compare --schemas crd.yaml -f a.yaml b.yaml a.yaml").says(2, &["expected two inputs", "found 3"]);
    folder.write("b.yaml", config("{}").replace("v1", "v2"));
    folder
        .run("compare --schemas crd.yaml a.yaml b.yaml")
        .says(1, &["error[KS8012]", "b.yaml:2:7", "found example.com/v1, Kind=Widget and example.com/v2, Kind=Widget"]);
}

/// Returns a list of objects with these names and specs, as kubectl prints it.
fn list(objects: &[(&str, &str)]) -> String {
    let item = |(name, spec): &(&str, &str)| {
        let object = config(spec).replace("name: a,", &format!("name: {name},"));
        let lines: Vec<&str> = object.lines().collect();
        format!("- {}\n", lines.join("\n  "))
    };
    let items: String = objects.iter().map(item).collect();
    format!("apiVersion: v1\nkind: List\nitems:\n{items}")
}

#[test]
fn objects_of_lists_are_compared_by_name() {
    let folder = folder();
    folder
        .write("a.yaml", list(&[("one", "{replicas: 1}"), ("two", "{replicas: 1}"), ("old", "{}")]))
        .write("b.yaml", list(&[("new", "{}"), ("two", "{replicas: 2}"), ("one", "{replicas: 1}")]));
    let run = folder.run("compare --schemas crd.yaml a.yaml b.yaml");
    let expected = "\
Widget x/two:
  modified:
    .spec.replicas: 1 -> 2
Widget x/old: only in A, a.yaml:14:3
Widget x/new: only in B, b.yaml:4:3
";
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(1), expected, ""));
    let run = folder.run("compare --schemas crd.yaml a.yaml b.yaml -o json");
    let values: Vec<serde_json::Value> =
        serde_json::Deserializer::from_str(&run.out).into_iter().map(Result::unwrap).collect();
    let of = |name: &str| serde_json::json!({"apiVersion": "example.com/v1", "kind": "Widget", "namespace": "x", "name": name});
    let with = |name: &str, members: serde_json::Value| {
        let mut object = of(name);
        object.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        object
    };
    let expected = [
        with(
            "two",
            serde_json::json!({
                "added": {}, "modified": {"f:spec": {"f:replicas": {}}}, "removed": {},
                "changes": [{"path": ".spec.replicas", "old": 1, "new": 2}],
            }),
        ),
        with("old", serde_json::json!({"only": "A"})),
        with("new", serde_json::json!({"only": "B"})),
    ];
    assert_eq!(values, expected);
    folder.run("compare --schemas crd.yaml a.yaml a.yaml").is_silent();
    // An error in one object does not hide the others.
    folder.write("b.yaml", list(&[("one", "{replicas: x}"), ("two", "{replicas: 2}"), ("two", "{}"), ("old", "{}")]));
    let run = folder.run("compare --schemas crd.yaml a.yaml b.yaml");
    run.says(1, &["error[KS8003]", "in Widget x/one", "error[KS8008]", "in Widget x/two", "b.yaml:9:3"]);
    assert_eq!(run.out, "Widget x/two:\n  modified:\n    .spec.replicas: 1 -> 2\n");
}

#[test]
fn lists_and_streams_are_many_objects() {
    let folder = folder();
    let objects = list(&[("one", "{replicas: 1}"), ("two", "{size: 1}"), ("three", "{replicas: 3}")]);
    let run = folder.pipe("fieldset --schemas crd.yaml --paths -", &objects);
    run.says(1, &["error[KS8002]", "-:13:6", "in Widget x/two"]);
    let expected: String = ["one", "three"]
        .iter()
        .flat_map(|name| {
            [".apiVersion", ".kind", ".metadata.name", ".metadata.namespace", ".spec.replicas"]
                .map(|path| format!("Widget x/{name}\t{path}\n"))
        })
        .collect();
    assert_eq!(run.out, expected);
    let run = folder.pipe("fieldset --schemas crd.yaml -", list(&[("one", "{replicas: 1}")]));
    let expected = concat!(
        r#"{"apiVersion":"example.com/v1","kind":"Widget","namespace":"x","name":"one","fields":{"f:apiVersion":{},"#,
        r#""f:kind":{},"f:metadata":{"f:name":{},"f:namespace":{}},"f:spec":{"f:replicas":{}}}}"#,
        "\n"
    );
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(0), expected, ""));

    folder.write("stream.yaml", format!("{LIVE}---\n{}", LIVE.replace("name: a\n", "name: b\n")));
    let run = folder.run("extract --schemas crd.yaml --field-manager kubectl stream.yaml");
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    let names: Vec<&str> = run.out.lines().filter(|line| line.starts_with("  name: ")).collect();
    assert_eq!((names, run.out.matches("\n---\n").count()), (vec!["  name: a", "  name: b"], 1));

    let run = folder.run("blame stream.yaml");
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    let (a, b) = run.out.split_once("---\n").unwrap();
    assert!(a.starts_with("# Widget x/a\napiVersion: "), "{a}");
    assert!(b.starts_with("# Widget x/b\napiVersion: "), "{b}");
    assert!(b.contains("  replicas: 3      # kubectl Apply 2024-01-01T00:00:00Z\n"), "{b}");
    let run = folder.run("blame --paths stream.yaml");
    assert_eq!(run.out.matches("Widget x/b\t.spec.replicas\tkubectl Apply 2024-01-01T00:00:00Z\n").count(), 1);
    let run = folder.run("blame -o json stream.yaml");
    let values: Vec<serde_json::Value> =
        serde_json::Deserializer::from_str(&run.out).into_iter().map(Result::unwrap).collect();
    assert_eq!(values.len(), 2);
    assert_eq!((&values[1]["name"], &values[1]["fields"][0]["path"]), (&"b".into(), &".spec.args".into()));
    // An error says which object it is about.
    let other = objects.replace("kind: Widget", "kind: Gadget");
    folder
        .pipe("fieldset --schemas crd.yaml -", other)
        .says(1, &["error[KS8001]", "in Gadget x/one", "in Gadget x/three"]);
    // kubectl prints an empty list if there is nothing.
    folder.pipe("blame -", "apiVersion: v1\nkind: List\nitems: []\n").is_silent();
}

#[test]
fn blame_reports_missing_managed_fields() {
    let folder = folder();
    let run = folder.pipe("blame -", list(&[("one", "{replicas: 1}")]));
    let expected = "\
warning[KS8031]: -:6:3: The object has no managedFields, so its fields have no
    owner: found no metadata.managedFields; kubectl prints them with
    --show-managed-fields (in Widget x/one)
";
    assert_eq!((run.code, run.err.as_str()), (Some(0), expected));
    assert!(run.out.contains("replicas: 1  # -\n"), "{}", run.out);
}

#[test]
fn a_merge_keeps_what_the_upper_object_lacks() {
    let folder = folder();
    folder
        .write("a.yaml", config("{replicas: 1, names: [a, x], args: [a], ports: [{port: 80, name: web}]}"))
        .write("b.yaml", config("{replicas: 2, names: [b, a], args: [b], ports: [{port: 80, protocol: TCP}]}"));
    let run = folder.run("merge --schemas crd.yaml a.yaml b.yaml");
    let expected = "\
apiVersion: example.com/v1
kind: Widget
metadata:
  name: a
  namespace: x
spec:
  args:
  - b
  names:
  - b
  - a
  - x
  ports:
  - name: web
    port: 80
    protocol: TCP
  replicas: 2
";
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(0), expected, ""));
    folder.write("b.yaml", config("names: [b, b]"));
    folder.run("merge --schemas crd.yaml a.yaml b.yaml").says(1, &["error[KS8004]", "b.yaml:5:14"]);
}

#[test]
fn applying_an_extract_changes_nothing() {
    let folder = folder();
    let run = folder.run("extract --schemas crd.yaml --field-manager kubectl live.yaml");
    let expected = "\
apiVersion: example.com/v1
kind: Widget
metadata:
  name: a
  namespace: x
spec:
  args:
  - a
  - b
  ports:
  - name: web
    port: 80
  replicas: 3
";
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(0), expected, ""));
    folder.write("config.yaml", &run.out);
    let line = "--schemas crd.yaml --live live.yaml --field-manager kubectl --now 2030-01-01T00:00:00Z config.yaml";
    let applied = folder.run(&format!("apply {line} -o json"));
    assert_eq!(applied.code, Some(0), "{}", applied.err);
    assert!(!applied.out.contains("2030"), "{}", applied.out);
    let nobody = folder.run("extract --schemas crd.yaml --field-manager nobody live.yaml");
    let message = "\
warning[KS8014]: live.yaml:7:3: The manager applied nothing to the object: found
    no entry of \"nobody\" that was applied; \"kubectl\" did (in Widget x/a)
";
    assert_eq!((nobody.code, nobody.out.as_str(), nobody.err.as_str()), (Some(0), "", message));
}

#[test]
fn blame_shows_the_owners_of_each_line() {
    let folder = folder();
    let expected = "\
apiVersion: example.com/v1
kind: Widget
metadata:
  name: a
  namespace: x
  uid: u
spec:
  args:            # kubectl Apply 2024-01-01T00:00:00Z
  - a              # kubectl Apply 2024-01-01T00:00:00Z
  - b              # kubectl Apply 2024-01-01T00:00:00Z
  names:
  - \"n\"            # -
  ports:
  - name: web      # kubectl Apply 2024-01-01T00:00:00Z
    port: 80       # kubectl Apply 2024-01-01T00:00:00Z
    protocol: TCP  # -
  replicas: 3      # kubectl Apply 2024-01-01T00:00:00Z
status:            # operator Update /status 2024-01-02T00:00:00Z
  ready: 2         # operator Update /status 2024-01-02T00:00:00Z
";
    for schemas in ["", "--schemas crd.yaml"] {
        let run = folder.run(&format!("blame {schemas} live.yaml"));
        assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(0), expected, ""));
    }
    let run = folder.run("blame --schemas crd.yaml --paths live.yaml");
    let expected = "\
.spec.args\tkubectl Apply 2024-01-01T00:00:00Z
.spec.args[0]\tkubectl Apply 2024-01-01T00:00:00Z
.spec.args[1]\tkubectl Apply 2024-01-01T00:00:00Z
.spec.names[=\"n\"]\t-
.spec.ports[port=80,protocol=\"TCP\"]\tkubectl Apply 2024-01-01T00:00:00Z
.spec.ports[port=80,protocol=\"TCP\"].name\tkubectl Apply 2024-01-01T00:00:00Z
.spec.ports[port=80,protocol=\"TCP\"].port\tkubectl Apply 2024-01-01T00:00:00Z
.spec.ports[port=80,protocol=\"TCP\"].protocol\t-
.spec.replicas\tkubectl Apply 2024-01-01T00:00:00Z
.status\toperator Update /status 2024-01-02T00:00:00Z
.status.ready\toperator Update /status 2024-01-02T00:00:00Z
";
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(0), expected, ""));
}

#[test]
fn blame_names_several_owners_and_different_versions() {
    let folder = folder();
    let entry = "  - {manager: old, operation: Update, apiVersion: example.com/v2, fieldsType: FieldsV1, \
                 fieldsV1: {\"f:spec\": {\"f:replicas\": {}}}}\n";
    folder.write("live.yaml", LIVE.replace("spec:\n  replicas", &format!("{entry}spec:\n  replicas")));
    let run = folder.run("blame live.yaml");
    let line = "  replicas: 3      # kubectl Apply 2024-01-01T00:00:00Z, old Update example.com/v2\n";
    assert!(run.out.contains(line), "{}", run.out);
    let all = folder.run("blame live.yaml --show-managed-fields");
    assert!(all.out.contains("  managedFields:\n  - apiVersion: example.com/v1\n"), "{}", all.out);
    let listed = json(&folder.run("blame live.yaml -o json").out);
    let replicas = listed.as_array().unwrap().iter().find(|field| field["path"] == ".spec.replicas").unwrap();
    let expected = serde_json::json!({"path": ".spec.replicas", "owners": [
        {"manager": "kubectl", "operation": "Apply", "apiVersion": "example.com/v1", "time": "2024-01-01T00:00:00Z"},
        {"manager": "old", "operation": "Update", "apiVersion": "example.com/v2"},
    ]});
    assert_eq!(*replicas, expected);
}

#[test]
fn blame_finds_items_with_defaulted_keys() {
    let folder = folder();
    let config = config("ports: [{port: 90, name: b}, {port: 80, name: a}]");
    let applied = folder.pipe("apply --schemas crd.yaml --field-manager ci --now 2024-02-01T00:00:00Z -", config);
    let expected = "\
.spec.ports[port=90,protocol=\"TCP\"]\tci Apply 2024-02-01T00:00:00Z
.spec.ports[port=90,protocol=\"TCP\"].name\tci Apply 2024-02-01T00:00:00Z
.spec.ports[port=90,protocol=\"TCP\"].port\tci Apply 2024-02-01T00:00:00Z
.spec.ports[port=80,protocol=\"TCP\"]\tci Apply 2024-02-01T00:00:00Z
.spec.ports[port=80,protocol=\"TCP\"].name\tci Apply 2024-02-01T00:00:00Z
.spec.ports[port=80,protocol=\"TCP\"].port\tci Apply 2024-02-01T00:00:00Z
";
    for schemas in ["", "--schemas crd.yaml"] {
        let run = folder.pipe(&format!("blame --paths {schemas} -"), &applied.out);
        assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(0), expected, ""));
    }
}

#[test]
fn the_first_of_two_types_of_a_kind_counts() {
    let folder = folder();
    folder.write("old.yaml", CRD.replace("replicas", "copies"));
    let run = folder.run("fieldset --schemas crd.yaml --schemas old.yaml --paths live.yaml");
    assert_eq!(run.code, Some(0));
    assert!(run.out.contains(".spec.replicas\n"), "{}", run.out);
    let message = "\
warning[KS8010]: old.yaml:1:1: A kind has a type in several schemas; one of them
    is used: example.com/v1, Kind=Widget is defined in crd.yaml:1:1, too; that
    definition counts
";
    assert_eq!(run.err, message);
    folder
        .run("fieldset --schemas old.yaml --schemas crd.yaml live.yaml")
        .says(1, &["error[KS8002]", ".spec.replicas"]);
}

#[test]
fn inputs_must_have_objects() {
    let folder = folder();
    folder.write("two.yaml", format!("{}---\n{}", config("{}"), config("{}"))).write("none.yaml", "# nothing\n");
    folder
        .run("merge --schemas crd.yaml two.yaml live.yaml")
        .says(1, &["error[KS8009]", "two.yaml:7:1", "expected exactly one object, found 2"]);
    for command in ["fieldset", "blame", "extract --field-manager x"] {
        folder.run(&format!("{command} --schemas crd.yaml none.yaml")).says(1, &["error[KS8009]", "none.yaml"]);
        folder.run(&format!("{command} --schemas crd.yaml missing.yaml")).says(2, &["error[KS1007]", "missing.yaml"]);
    }
    for command in [
        "fieldset live.yaml",
        "extract --field-manager x live.yaml",
        "merge live.yaml live.yaml",
        "compare live.yaml live.yaml",
    ] {
        let what = "the built-in kinds are those of Kubernetes 1.37; --schemas adds other kinds";
        folder.run(command).says(1, &["error[KS8001]", what]);
    }
    folder.write(
        "live.yaml",
        LIVE.replace("fieldsType: FieldsV1\n    fieldsV1:\n      f:spec", "fieldsV1:\n      f:spec"),
    );
    for command in ["blame", "extract --field-manager x"] {
        folder
            .run(&format!("{command} --schemas crd.yaml live.yaml"))
            .says(1, &["error[KS8007]", "live.yaml:8:5", "missing fieldsType in managed fields entry 0"]);
    }
}

#[test]
fn an_object_of_a_schema_without_kinds_takes_a_type() {
    let folder = Folder::new();
    folder
        .write("types.yaml", "types:\n- name: root\n  map:\n    fields:\n    - {name: x, type: {scalar: numeric}}\n")
        .write("a.yaml", "x: 1\n")
        .write("b.yaml", "y: 1\n");
    let run = folder.run("fieldset --schemas types.yaml --type root a.yaml");
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(0), "{\"f:x\":{}}\n", ""));
    folder
        .run("fieldset --schemas types.yaml --type root b.yaml")
        .says(1, &["error[KS8002]", "b.yaml:1:1", "checked against types.yaml:2:3, /types/0"]);
    folder
        .run("fieldset --schemas types.yaml a.yaml")
        .says(1, &["error[KS8001]", "the schemas name types without kinds"]);
    folder.run("fieldset --schemas types.yaml --type rot a.yaml").says(2, &["did you mean `root`?"]);
}

#[test]
fn blame_and_extract_report_what_a_server_ignores_in_managed_fields() {
    let folder = folder();
    let live = LIVE.replacen("2024-01-01T00:00:00Z", "yesterday", 1);
    folder.write("time.yaml", &live);
    folder.write("member.yaml", LIVE.replacen("    operation: Apply", "    operation: Apply\n    times: x", 1));
    folder.write("kind.yaml", LIVE.replacen("f:replicas:", "x:replicas:", 1));
    for schemas in ["", "--schemas crd.yaml"] {
        let run = folder.run(&format!("blame {schemas} time.yaml"));
        run.says(0, &["warning[KS8032]: time.yaml:", "found \"yesterday\"", "no field has an owner"]);
        let run = folder.run(&format!("blame {schemas} member.yaml"));
        run.says(0, &["warning[KS8032]: member.yaml:", "unknown member \"times\"", "expected time"]);
    }
    folder.run("blame kind.yaml").says(0, &["warning[KS8032]: kind.yaml:", "\"x:replicas\"", "f:NAME"]);
    folder.run("extract --field-manager kubectl --schemas crd.yaml time.yaml").says(0, &["KS8032", "KS8014"]);
}
