//! Tests of `--to kustomize`: the document itself, and the results of patches by the real kustomize with it.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common::Folder;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::Command;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// A list in a kind that is merged by one key.
struct MergedList {
    kind: Value,
    path: Vec<String>,
    key: String,
}

#[test]
fn the_document_has_the_kinds_with_their_merged_lists_and_paths() {
    let folder = Folder::new();
    folder.write("widgets.yaml", std::fs::read(format!("{ROOT}/docs/demo/widgets.yaml")).unwrap());
    folder.run("convert widgets.yaml --to kustomize -o keys.json -q").is_silent();
    let document: Value = serde_json::from_str(&folder.read("keys.json")).unwrap();
    let kind = json!({"group": "example.com", "kind": "Widget", "version": "v1"});
    assert_eq!(
        document["paths"],
        json!({"/apis/example.com/v1/namespaces/{namespace}/widgets/{name}":
            {"get": {"x-kubernetes-group-version-kind": kind}}})
    );
    let widget = &document["definitions"]["com.example.v1.Widget"];
    assert_eq!(widget["x-kubernetes-group-version-kind"], json!([kind]));
    assert_eq!(
        widget["properties"]["spec"],
        json!({"type": "object", "properties": {
            "finalizers": {"type": "array", "x-kubernetes-patch-strategy": "merge"},
            "ports": {"type": "array", "x-kubernetes-patch-strategy": "merge", "x-kubernetes-patch-merge-key": "name"},
        }})
    );
    let names: Vec<&String> = document["definitions"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["com.example.v1.Widget", "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"]);
}

#[test]
fn kinds_are_selected_and_a_missing_kind_is_an_error() {
    let folder = Folder::new();
    folder.write("widgets.yaml", std::fs::read(format!("{ROOT}/docs/demo/widgets.yaml")).unwrap());
    folder.run("convert widgets.yaml --to kustomize --kind Widget -o keys.json -q").is_silent();
    assert!(folder.read("keys.json").contains(r#""x-kubernetes-patch-merge-key":"name""#));
    let run = folder.run("convert widgets.yaml --to kustomize --kind Gadget -o other.json");
    assert_eq!(run.code, Some(1), "{}", run.err);
}

/// A document without paths does not say which kinds are served, so all of its kinds count, even next to definitions
/// with paths.
#[test]
fn the_kinds_of_a_document_without_paths_are_kept_beside_others() {
    let folder = Folder::new();
    folder.write("widgets.yaml", std::fs::read(format!("{ROOT}/docs/demo/widgets.yaml")).unwrap());
    let gadget = json!({"openapi": "3.0.0", "paths": {}, "components": {"schemas": {"com.example.v1.Gadget": {
        "type": "object", "x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "Gadget"}],
        "properties": {"tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}}}}}});
    folder.write("gadget.json", gadget.to_string());
    folder.run("convert gadget.json widgets.yaml --to kustomize -o keys.json -q").is_silent();
    let document: Value = serde_json::from_str(&folder.read("keys.json")).unwrap();
    let merged = json!({"type": "array", "x-kubernetes-patch-strategy": "merge"});
    assert_eq!(document["definitions"]["com.example.v1.Gadget"]["properties"]["tags"], merged);
    assert!(document["definitions"]["com.example.v1.Widget"].is_object());
}

/// A patch of one item keeps the others. This is tested for lists of the CustomResourceDefinitions of the project's
/// corpus and, if available, of ten real ones.
#[test]
fn the_real_kustomize_merges_by_these_keys() {
    let program = std::env::var("KUBESHAPE_KUSTOMIZE").unwrap_or_else(|_| "kustomize".to_owned());
    if Command::new(&program).arg("version").output().is_err() {
        writeln!(
            std::io::stderr(),
            "not checked: patches with the real kustomize (KUBESHAPE_KUSTOMIZE names no program)"
        )
        .unwrap();
        return;
    }
    let folder = Folder::new();
    // Some CustomResourceDefinitions of the corpus are wrong on purpose.
    let real = kubeshape_corpus::folder_named_by("KUBESHAPE_CORPUS").map(|folder| folder.join("crds"));
    let at_least = if real.is_some() { 10 } else { 3 };
    let real = real.map(|folder| folder.display().to_string()).unwrap_or_default();
    folder.run(&format!("convert {ROOT}/corpus/crds {real} --to kustomize -o keys.json --keep-going -q"));
    let document: Value = serde_json::from_str(&folder.read("keys.json")).unwrap();
    let mut lists: BTreeMap<String, MergedList> = BTreeMap::new();
    for definition in document["definitions"].as_object().unwrap().values() {
        let Some(kind) = definition["x-kubernetes-group-version-kind"].get(0) else { continue };
        let mut path = vec!["spec".to_owned()];
        if let Some(key) = merged_list(&definition["properties"]["spec"], &mut path) {
            lists.insert(kind.to_string(), MergedList { kind: kind.clone(), path, key });
        }
    }
    assert!(lists.len() >= at_least, "{} kinds have a list that is merged", lists.len());
    for MergedList { kind, path, key } in lists.values().take(10) {
        let object = |items: Value| {
            let value = path.iter().rev().fold(items, |value, name| {
                let mut object = Map::new();
                object.insert(name.clone(), value);
                Value::Object(object)
            });
            let group = kind["group"].as_str().unwrap();
            let mut object = json!({
                "apiVersion": format!("{group}/{}", kind["version"].as_str().unwrap()),
                "kind": kind["kind"],
                "metadata": {"name": "x"},
            });
            object["spec"] = value["spec"].clone();
            serde_json::to_string(&object).unwrap()
        };
        folder
            .write("object.yaml", object(json!([{key: "a", "value": "1"}, {key: "b", "value": "2"}])))
            .write("patch.yaml", object(json!([{key: "a", "value": "3"}])))
            .write(
                "kustomization.yaml",
                "resources: [object.yaml]\npatches: [{path: patch.yaml}]\nopenapi: {path: keys.json}\n",
            );
        let built = Command::new(&program).args(["build", "."]).current_dir(folder.path("")).output().unwrap();
        let text = String::from_utf8_lossy(&built.stdout);
        assert!(built.status.success(), "{kind}: {}", String::from_utf8_lossy(&built.stderr));
        assert!(
            text.contains(&format!("{key}: b")) && text.contains("\"3\"") && !text.contains("\"1\""),
            "{kind}: {text}"
        );
    }
}

/// Finds the first list with a merge key. Returns the key.
fn merged_list(schema: &Value, path: &mut Vec<String>) -> Option<String> {
    if let Some(key) = schema["x-kubernetes-patch-merge-key"].as_str() {
        return schema.get("x-kubernetes-list-map-keys").is_none().then(|| key.to_owned());
    }
    for (name, property) in schema["properties"].as_object()? {
        path.push(name.clone());
        if let Some(key) = merged_list(property, path) {
            return Some(key);
        }
        path.pop();
    }
    None
}

/// The files are those of the guide.
#[cfg(unix)]
#[test]
fn the_real_kustomize_runs_the_function() {
    let program = std::env::var("KUBESHAPE_KUSTOMIZE").unwrap_or_else(|_| "kustomize".to_owned());
    if Command::new(&program).arg("version").output().is_err() {
        writeln!(std::io::stderr(), "not checked: the function in kustomize (KUBESHAPE_KUSTOMIZE names no program)")
            .unwrap();
        return;
    }
    let guide = std::fs::read_to_string(format!("{ROOT}/docs/install.md")).unwrap();
    let (_, files) = guide.split_once("```yaml\n# kustomization.yaml\n").unwrap();
    let (files, _) = files.split_once("```").unwrap();
    let (kustomization, function) = files.split_once("---\n").unwrap();
    let folder = Folder::new();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_kubeshape"), folder.path("kubeshape-krm")).unwrap();
    let good = std::fs::read_to_string(format!("{ROOT}/docs/demo/deployment.yaml")).unwrap();
    folder
        .write("kustomization.yaml", kustomization)
        .write("kubeshape.yaml", function)
        .write("crds/widgets.yaml", std::fs::read(format!("{ROOT}/docs/demo/widgets.yaml")).unwrap())
        .write("deployment.yaml", &good);
    let build = || {
        let mut command = Command::new(&program);
        command.args(["build", "--enable-alpha-plugins", "--enable-exec", "."]).current_dir(folder.path(""));
        let built = command.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (built.status.success(), text(built.stdout), text(built.stderr))
    };
    let (is_built, out, err) = build();
    assert!(is_built && out.contains("\n  replicas: 2\n"), "{out}{err}");
    folder.write("deployment.yaml", good.replace("replicas: 2", "replicas: -2"));
    let (is_built, out, err) = build();
    assert_eq!((is_built, &*out), (false, ""));
    assert!(err.contains("spec.replicas: Invalid value: -2: must be greater than or equal to 0"), "{err}");
}
