//! Tests of `ownership`, `ownership hand-over` and `apply --plan`.

use crate::common::ssa::{CRD, LIVE, config};
use crate::common::{Folder, Run};

const ENTRY: &str = r#"  - manager: kubectl-edit
    operation: Update
    apiVersion: example.com/v1
    time: "2024-01-03T00:00:00Z"
    fieldsType: FieldsV1
    fieldsV1:
      f:spec:
        f:replicas: {}
        f:names:
          .: {}
          v:"n": {}
"#;

fn folder() -> Folder {
    let folder = Folder::new();
    let live = LIVE.replace("  managedFields:\n", &format!("  resourceVersion: \"7\"\n  managedFields:\n{ENTRY}"));
    folder.write("crd.yaml", CRD).write("live.yaml", live);
    folder
}

fn plan(text: &str, flags: &str) -> Run {
    let folder = folder();
    folder.write("config.yaml", text);
    folder.run(&format!("apply --schemas crd.yaml --live live.yaml {flags} config.yaml"))
}

#[test]
fn the_report_has_owners_by_tool_and_shared_fields() {
    let run = folder().run("ownership live.yaml");
    let expected = "\
Widget x/a
  kubectl       Apply             4 fields  2024-01-01T00:00:00Z  kubectl
  operator      Update /status     1 field  2024-01-02T00:00:00Z  a controller
  kubectl-edit  Update            2 fields  2024-01-03T00:00:00Z  kubectl, by hand
  several owners:
    .spec.replicas: kubectl (Apply), kubectl-edit (Update)
";
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(0), expected, ""));
}

#[test]
fn a_removed_manager_leaves_fields_over() {
    let run = folder().run("ownership live.yaml --gone kubectl-edit");
    run.says(0, &[]);
    assert!(run.out.contains("  stale owners:\n    kubectl-edit: the manager no longer exists\n"), "{}", run.out);
    assert!(run.out.contains("  left over, no apply will remove them:\n"), "{}", run.out);
    assert!(run.out.contains(".spec.names[=\"n\"]: kubectl-edit (Update)\n"), "{}", run.out);
    let folder = folder();
    folder.write("config.yaml", config("names: [\"n\"]"));
    let run = folder.run("ownership live.yaml --gone kubectl-edit --schemas crd.yaml --configs config.yaml");
    assert!(!run.out.contains("left over"), "{}", run.out);
}

#[test]
fn several_objects_have_a_summary_and_problems_can_be_selected() {
    let folder = folder();
    folder.write("clear.yaml", LIVE.replace("name: a", "name: b"));
    let run = folder.run("ownership live.yaml clear.yaml --problems");
    assert!(run.out.contains("Widget x/a\n") && !run.out.contains("Widget x/b\n"), "{}", run.out);
    let summary = "2 objects; 1 with several owners of a field, 0 with stale owners, 0 with leftovers\n";
    assert!(run.out.contains(summary), "{}", run.out);
    let json: serde_json::Value = serde_json::from_str(&folder.run("ownership live.yaml -o json").out).expect("JSON");
    assert_eq!(json[0]["shared"][0]["path"], ".spec.replicas");
    let markdown = folder.run("ownership live.yaml -o markdown").out;
    assert!(markdown.contains("| `kubectl-edit` | Update | 2 | kubectl, by hand |"), "{markdown}");
}

#[test]
fn objects_without_managed_fields_and_damaged_ones_are_reported() {
    let folder = folder();
    folder.write("none.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n");
    folder.run("ownership none.yaml").says(0, &["found no metadata.managedFields", "--show-managed-fields"]);
    folder.write("bad.yaml", LIVE.replace("operation: Apply", "operation: Create"));
    let run = folder.run("ownership bad.yaml live.yaml");
    run.says(1, &["operation must be `Apply` or `Update`"]);
    assert!(run.out.contains("Widget x/a\n"), "{}", run.out);
}

#[test]
fn a_plan_has_conflicts_in_the_words_of_the_tool() {
    let run = plan(&config("replicas: 5"), "--plan --field-manager ci");
    let expected = "\
Widget x/a: conflict
  Apply failed with 2 conflicts: conflicts with \"kubectl\":
  - .spec.replicas
  conflicts with \"kubectl-edit\" using example.com/v1:
  - .spec.replicas
    .spec.replicas: 3 -> 5, owned by kubectl (Apply)
      at config.yaml:5:13, live live.yaml:45:13
    .spec.replicas: 3 -> 5, owned by kubectl-edit (Update)
      at config.yaml:5:13, live live.yaml:45:13
  with --force-conflicts:
  ~ .spec.replicas: 3 -> 5
1 object: 1 with conflicts
";
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(1), expected, ""));
    let run = plan(&config("replicas: 5"), "--plan --field-manager helm");
    assert!(
        run.out
            .ends_with("  - .spec.replicas\nconflicts with \"kubectl-edit\" using example.com/v1:\n- .spec.replicas\n")
            || run.out.contains(
                "Error: UPGRADE FAILED: conflict occurred while applying object x/a example.com/v1, Kind=Widget: "
            ),
        "{}",
        run.out
    );
}

#[test]
fn a_plan_says_what_changes_stays_and_will_be_set_back() {
    let run = plan(&config("args: [a]"), "--plan --field-manager kubectl --tool server");
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(run.out.contains("Widget x/a: changed\n"), "{}", run.out);
    assert!(run.out.contains("  stays: .spec.replicas, owned by kubectl-edit\n"), "{}", run.out);
    let run = plan(&config("replicas: 9"), "--plan --field-manager argocd-controller");
    assert!(run.out.contains("  taken over: .spec.replicas: 3 -> 9, owned by kubectl (Apply)\n"), "{}", run.out);
    assert!(run.out.contains("  in its next apply, kubectl will conflict on .spec.replicas\n"), "{}", run.out);
}

#[test]
fn a_plan_needs_no_live_object_and_reports_what_is_refused() {
    let folder = folder();
    folder.write("config.yaml", config("replicas: 5"));
    let run = folder.run("apply --schemas crd.yaml --plan --field-manager ci config.yaml");
    run.says(0, &[]);
    assert!(run.out.starts_with("Widget x/a: created\n"), "{}", run.out);
    let run = plan(&config("replica: 5"), "--plan --field-manager ci");
    run.says(1, &["KS8", "replica"]);
    assert!(run.out.contains("1 object: 1 refused\n"), "{}", run.out);
    plan(&config("replicas: 5"), "--plan --field-manager ci --migrate").says(2, &["cannot be used with"]);
    let json = plan(&config("replicas: 5"), "--plan=json --field-manager ci").out;
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["objects"][0]["conflicts"][0]["place"], "config.yaml:5:13");
    let markdown = plan(&config("replicas: 5"), "--plan=markdown --field-manager ci").out;
    assert!(markdown.starts_with("## Apply by `ci`\n\n1 object: 1 with conflicts\n"), "{markdown}");
}

#[test]
fn a_missing_release_of_helm_is_named() {
    let run = plan(&config("replicas: 5"), "--plan --helm-release shop");
    run.says(1, &["found no release \"shop\" of Helm among the live objects", "kubectl get secret -l owner=helm"]);
}

#[test]
fn a_hand_over_is_a_command() {
    let run = folder().run("ownership hand-over --schemas crd.yaml live.yaml --from kubectl-edit --to kubectl");
    let expected = "\
# Widget x/a
#   kubectl-edit (Update) -> kubectl: .spec.replicas, .spec.names[=\"n\"]
#   next apply of kubectl: changes nothing
kubectl patch widgets.example.com a -n x --type=json -p ";
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    assert!(run.out.starts_with(expected), "{}", run.out);
    assert!(run.out.contains(r#"{"op":"test","path":"/metadata/resourceVersion","value":"7"}"#), "{}", run.out);
    let run = folder().run(
        "ownership hand-over --schemas crd.yaml live.yaml --from kubectl-edit --to kubectl --fields .spec.replicas -o json",
    );
    let json: serde_json::Value = serde_json::from_str(&run.out).expect("JSON");
    let operations = serde_json::json!([
        {"op": "test", "path": "/metadata/resourceVersion", "value": "7"},
        {"op": "remove", "path": "/metadata/managedFields/0/fieldsV1/f:spec/f:replicas"},
    ]);
    assert_eq!(json[0]["patch"], operations);
}

#[test]
fn a_hand_over_by_applies_is_commands_of_kubectl() {
    let line = "ownership hand-over --schemas crd.yaml live.yaml --from kubectl --to ci --as applies";
    let run = folder().run(line);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    let heads: Vec<&str> = run.out.lines().filter(|line| line.starts_with("kubectl ")).collect();
    let apply = |manager| format!("kubectl apply --server-side --field-manager={manager} -f - <<'EOF'");
    assert_eq!(heads, [apply("ci"), apply("kubectl")], "{}", run.out);
    assert_eq!(run.out.lines().filter(|line| *line == "EOF").count(), 2, "{}", run.out);
    let json: serde_json::Value = serde_json::from_str(&folder().run(&format!("{line} -o json")).out).expect("JSON");
    assert!(json[0]["patch"].is_null(), "{json}");
    assert_eq!(json[0]["applies"][0]["config"]["spec"]["replicas"], 3, "{json}");
    assert_eq!(json[0]["applies"][1]["config"]["spec"], serde_json::Value::Null, "{json}");
    let markdown = folder().run(&format!("{line} -o markdown")).out;
    assert!(markdown.contains("```sh\nkubectl apply --server-side"), "{markdown}");
}

#[test]
fn applies_cannot_take_fields_from_an_update_and_say_so() {
    let line = "ownership hand-over --schemas crd.yaml live.yaml --from kubectl-edit --to kubectl --as applies";
    let run = folder().run(line);
    run.says(
        1,
        &[
            "applies cannot do it: \"kubectl-edit\" wrote .spec.replicas with an update",
            "use the patch",
            "No owner changed",
        ],
    );
    folder().run(&format!("{line} --yes")).says(2, &["--yes sends patches"]);
}

#[test]
fn a_plan_of_an_installation_says_so() {
    let run = plan(&config("replicas: 5"), "--plan --helm-install shop --namespace x");
    assert_eq!(run.code, Some(1), "{}", run.err);
    assert!(
        run.out.contains("Error: INSTALLATION FAILED: conflict occurred while applying object x/a "),
        "{}",
        run.out
    );
    assert!(run.out.contains("+ .metadata.annotations.meta.helm.sh/release-name: \"shop\""), "{}", run.out);
    plan(&config("replicas: 5"), "--plan --helm-install a --helm-release b").says(2, &["cannot be used with"]);
}

#[test]
fn a_hand_over_knows_what_helm_adds_to_configurations() {
    let folder = folder();
    folder.write("config.yaml", config("replicas: 3"));
    let line = "ownership hand-over --schemas crd.yaml live.yaml --from kubectl-edit --to helm --configs config.yaml \
                --helm-release shop --namespace x -o json";
    let json: serde_json::Value = serde_json::from_str(&folder.run(line).out).expect("JSON");
    let changes = json[0]["checks"].to_string();
    assert!(changes.contains(".metadata.annotations.meta.helm.sh/release-name"), "{changes}");
}

#[test]
fn a_hand_over_says_what_it_needs() {
    let folder = folder();
    folder.run("ownership hand-over live.yaml").says(2, &["--to"]);
    folder.run("ownership hand-over live.yaml --release").says(2, &["--from"]);
    folder.run("ownership hand-over live.yaml --to helm").says(2, &["give --from", "--configs"]);
    folder.run("ownership hand-over live.yaml --from x --to y").says(0, &["There is nothing to hand over."]);
    folder.run("ownership").says(2, &["required arguments were not provided"]);
    let run = folder.run("ownership hand-over live.yaml --from kubectl-edit --to kubectl");
    run.says(1, &["KS80", "Widget"]);
    let run = folder.run("ownership hand-over --schemas crd.yaml live.yaml --from kubectl-edit --to kubectl --yes");
    run.says(1, &["it was not read from a cluster"]);
}
