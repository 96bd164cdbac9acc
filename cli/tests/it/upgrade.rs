//! `kubeshape upgrade`.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common::{Folder, Run, crd};
use serde_json::Value;

/// Returns a definition with these versions, each with its fields. A `*` marks the storage version.
fn definition(versions: &[(&str, &str)]) -> String {
    let version = |(name, fields): &(&str, &str)| {
        let (name, storage) = name.strip_suffix('*').map_or((*name, false), |name| (name, true));
        format!(
            "  - name: {name}\n    served: true\n    storage: {storage}\n    schema: {{openAPIV3Schema: {{type: object, \
             properties: {{spec: {{type: object, properties: {{{fields}}}}}}}}}}}\n"
        )
    };
    let versions: String = versions.iter().map(version).collect();
    format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: tabs.example.com}}\nspec:\n  \
         group: example.com\n  scope: Namespaced\n  names: {{plural: tabs, kind: Tab, singular: tab, listKind: TabList}}\n  \
         versions:\n{versions}"
    )
}

const SIZE: &str = "size: {type: integer}";
const BOTH: &str = "size: {type: integer}, colour: {type: string}";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("old.yaml", definition(&[("v1beta1*", SIZE)]));
    folder.write("new.yaml", definition(&[("v1*", SIZE)]));
    folder
}

#[test]
fn a_plan_has_steps_with_commands() {
    let folder = folder();
    let run = folder.run("upgrade old.yaml new.yaml");
    assert_eq!(run.code, Some(0), "{}", run.err);
    let expected = "\
tabs.example.com: 4 steps; a server rejects the new definition if applied
directly

  1. Apply an intermediate definition. It keeps v1beta1, in which objects are
     stored. New and changed objects are stored in v1.
       kubectl apply -f tabs.example.com-1.yaml

  2. Write every object in v1. Objects stay stored in v1beta1 until they are
     written.
       kubectl get tabs.v1.example.com --all-namespaces -o json | kubectl replace -f -

  3. Set status.storedVersions to v1. Every object is now stored in v1.
       kubectl patch crd tabs.example.com --subresource=status --type=merge -p '{\"status\":{\"storedVersions\":[\"v1\"]}}'

  4. Apply the new definition. No object is stored in another version.
     v1beta1 will no longer be served.
       kubectl apply -f new.yaml
";
    assert!(run.out.contains(expected), "{}", run.out);
    assert!(run.out.contains("KS8444") && run.out.contains("v1beta1 is served until step 4."), "{}", run.out);
}

#[test]
fn a_simple_change_takes_one_line() {
    let folder = folder();
    folder.write("more.yaml", definition(&[("v1beta1*", SIZE), ("v1", SIZE)]));
    let run = folder.run("upgrade old.yaml more.yaml");
    assert_eq!(run.code, Some(0));
    assert!(run.out.starts_with("tabs.example.com: kubectl apply -f more.yaml\n"), "{}", run.out);
    let run = folder.run("upgrade old.yaml old.yaml");
    assert_eq!((run.code, run.out.as_str()), (Some(0), "tabs.example.com: nothing to do\n"));
    assert_eq!(folder.run("upgrade old.yaml old.yaml --quiet").out, "");
}

#[test]
fn the_definitions_of_the_steps_are_written() {
    let folder = folder();
    let spaced = |arguments: &[&str]| Run::of(&folder.command(arguments).output().unwrap());
    let run = spaced(&["upgrade", "old.yaml", "new.yaml", "-o", "my steps"]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(run.out.contains("kubectl apply -f 'my steps/tabs.example.com-1.yaml'"), "{}", run.out);
    assert!(run.out.contains("wrote 3 files to my steps"), "{}", run.out);
    let between = folder.read("my steps/tabs.example.com-1.yaml");
    assert!(between.contains("name: v1beta1") && between.contains("name: v1\n"), "{between}");
    let migration = folder.read("my steps/tabs.example.com-2-migration.yaml");
    assert!(migration.contains("kind: StorageVersionMigration"), "{migration}");
    // This file leads to the new definition, as seen by a server that has the intermediate definition.
    let run = spaced(&["check", "my steps/tabs.example.com-1.yaml", "--against", "old.yaml"]);
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    let run = spaced(&["diff", "new.yaml", "my steps/tabs.example.com-4.yaml"]);
    assert!(run.out.contains("nothing changed"), "{}", run.out);
}

#[test]
fn stored_versions_are_given_or_read() {
    let folder = folder();
    folder.write("two.yaml", definition(&[("v1beta1", SIZE), ("v1*", SIZE)]));
    let run = folder.run("upgrade two.yaml new.yaml");
    assert!(run.out.contains("kubectl apply -f new.yaml") && run.out.contains("Assumed:"), "{}", run.out);
    let run = folder.run("upgrade two.yaml new.yaml --stored v1beta1,v1");
    assert!(run.out.contains("4 steps") && !run.out.contains("Assumed:"), "{}", run.out);
    let status = "status: {storedVersions: [v1beta1, v1]}\n";
    folder.write("live.yaml", definition(&[("v1beta1", SIZE), ("v1*", SIZE)]) + status);
    assert!(folder.run("upgrade live.yaml new.yaml").out.contains("4 steps"));
    let run = folder.run("upgrade two.yaml new.yaml --stored v0");
    assert_eq!(run.code, Some(1));
    assert!(run.out.contains("KS8443"), "{}", run.out);
    folder.write("many/a.yaml", folder.read("old.yaml"));
    folder.write(
        "many/b.yaml",
        folder.read("old.yaml").replace("tabs", "tubs").replace("Tab", "Tub").replace("tab", "tub"),
    );
    folder.run("upgrade many new.yaml --stored v1").says(2, &["--stored is about one definition"]);
}

#[test]
fn stricter_schemas_are_reported_without_objects() {
    let folder = folder();
    folder.write("was.yaml", definition(&[("v1*", "size: {type: integer}, mode: {type: string, enum: [a, b]}")]));
    folder.write("type.yaml", definition(&[("v1*", "size: {type: string}, mode: {type: string, enum: [a, b]}")]));
    folder.write("enum.yaml", definition(&[("v1*", "size: {type: integer}, mode: {type: string, enum: [a]}")]));
    folder.write("gone.yaml", definition(&[("v1*", "size: {type: integer}")]));
    let run = folder.run("upgrade was.yaml type.yaml --output-format short");
    let said =
        "warning[KS8451]: The new definition may reject stored objects: spec.size: type changed from integer to string";
    assert!(run.out.contains(said), "{}", run.out);
    assert!(run.out.starts_with("type.yaml:"), "{}", run.out);
    assert_eq!(run.code, Some(0));
    assert_eq!(folder.run("upgrade was.yaml type.yaml --deny KS8451").code, Some(1));
    let run = folder.run("upgrade was.yaml enum.yaml");
    assert!(run.out.contains("KS8451") && run.out.contains("spec.mode: no longer accepted: \"b\""), "{}", run.out);
    // Dropped fields are a loss, and wider schemas are not reported.
    assert!(!folder.run("upgrade was.yaml gone.yaml").out.contains("KS8451"));
    assert!(!folder.run("upgrade enum.yaml was.yaml").out.contains("KS8451"));
    // Objects give better information.
    let tab = "apiVersion: example.com/v1\nkind: Tab\nmetadata: {name: a, namespace: web}\nspec: {mode: a}\n";
    folder.write("tab.yaml", tab);
    assert!(!folder.run("upgrade was.yaml type.yaml --objects tab.yaml").out.contains("KS8451"));
}

#[test]
fn broken_objects_are_reported_with_their_positions() {
    let folder = folder();
    folder.write("wide.yaml", definition(&[("v1beta1*", BOTH)]));
    let tab = |name: &str, spec: &str| {
        format!(
            "apiVersion: example.com/v1beta1\nkind: Tab\nmetadata: {{name: {name}, namespace: web}}\nspec: {{{spec}}}\n"
        )
    };
    folder.write("objects/a.yaml", tab("a", "size: 1, colour: red"));
    folder.write("objects/b.yaml", tab("b", "size: 1"));
    let run = folder.run("upgrade wide.yaml new.yaml --objects objects --output-format short");
    assert_eq!(run.code, Some(1));
    assert!(run.out.contains("error[KS8445]: Stored objects lose fields: spec.colour;"), "{}", run.out);
    assert!(run.out.contains("objects/a.yaml:1:1: error[KS8448]: An object loses fields: spec.colour"), "{}", run.out);
    assert!(!run.out.contains("b.yaml:1:1: error"), "{}", run.out);
    assert!(run.out.contains("b.yaml:1:1: warning[KS8450]"), "{}", run.out);
    folder
        .write("strict.yaml", definition(&[("v1beta1*", "size: {type: integer, minimum: 5}, colour: {type: string}")]));
    let run = folder.run("upgrade wide.yaml strict.yaml --objects objects --output-format short");
    assert_eq!(run.code, Some(0), "{}", run.out);
    assert!(run.out.contains("warning[KS8449]"), "{}", run.out);
}

#[test]
fn changes_of_immutable_fields_have_no_plan() {
    let folder = folder();
    folder.write("cluster.yaml", folder.read("old.yaml").replace("Namespaced", "Cluster"));
    let run = folder.run("upgrade old.yaml cluster.yaml");
    assert_eq!(run.code, Some(1));
    assert!(run.out.contains("KS8442") && run.out.contains("Lost with the old definition: all objects"), "{}", run.out);
    // Another name means another group or plural.
    folder.write("group.yaml", folder.read("old.yaml").replace("example.com", "example.org"));
    let run = folder.run("upgrade old.yaml group.yaml");
    assert!(run.out.contains("group changed from \"example.com\" to \"example.org\""), "{}", run.out);
    folder.write("none/x.yaml", "a: 1\n");
    assert_eq!(folder.run("upgrade old.yaml none").code, Some(1));
    folder.write("bad.yaml", "a: [");
    let run = folder.run("upgrade old.yaml bad.yaml -o out");
    assert_eq!(run.code, Some(1));
    assert!(!folder.path("out").exists());
}

#[test]
fn programs_and_reviewers_get_the_plan() {
    let folder = folder();
    let run = folder.run("upgrade old.yaml new.yaml --output-format json");
    let objects: Vec<Value> = run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let plan = objects.iter().find(|object| object["steps"].is_array()).unwrap();
    assert_eq!(plan["resource"], "tabs.example.com");
    let actions: Vec<&str> =
        plan["steps"].as_array().unwrap().iter().filter_map(|step| step["action"].as_str()).collect();
    assert_eq!(actions, ["apply", "migrate", "prune", "apply"]);
    assert_eq!(plan["steps"][0]["definition"]["spec"]["versions"][0]["name"], "v1");
    assert_eq!(plan["versions"][0]["changesWith"], 4);
    let run = folder.run("upgrade old.yaml new.yaml --output-format markdown");
    assert!(run.out.contains("#### tabs.example.com\n\n4 steps"), "{}", run.out);
    assert!(run.out.contains("1. **Apply an intermediate definition.** It"), "{}", run.out);
    assert!(run.out.contains("   ```sh\n   kubectl apply -f tabs.example.com-1.yaml\n   ```\n"), "{}", run.out);
    let run = folder.run("upgrade old.yaml new.yaml --deny KS8444");
    assert_eq!(run.code, Some(1));
}

#[test]
fn unwritten_files_are_named() {
    let folder = Folder::new();
    folder.write("old.yaml", crd("widgets", &["v1"])).write("new.yaml", crd("widgets", &["v2"]));
    let run = folder.run("upgrade old.yaml new.yaml");
    let words = run.words_out();
    assert!(words.contains("Not written: widgets.example.com-1.yaml. `-o DIR` writes"), "{words}");
    assert!(!folder.run("upgrade old.yaml new.yaml -o out").words_out().contains("Not written"));
}
