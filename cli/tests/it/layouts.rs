//! Tests of layouts of JSON Schemas, and of whether other tools find the schemas.
#![allow(clippy::unwrap_used, clippy::print_stderr, missing_docs)]

use crate::common::{Folder, crd, crd_with_schema, json};
use std::path::PathBuf;
use std::process::Command;

/// Kinds of the core group, of a built-in group, and of a group with dots.
const DOCUMENT: &str = r#"{"openapi": "3.0.0", "info": {"title": "t", "version": "v1"}, "paths": {},
  "components": {"schemas": {
    "io.k8s.api.core.v1.Pod": {"type": "object", "properties": {
        "apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"},
        "spec": {"type": "object", "properties": {"nodeName": {"type": "string"}}}},
      "x-kubernetes-group-version-kind": [{"group": "", "version": "v1", "kind": "Pod"}]},
    "io.k8s.api.apps.v1.Deployment": {"type": "object", "properties": {
        "apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"},
        "spec": {"type": "object", "properties": {"replicas": {"type": "integer"}}}},
      "x-kubernetes-group-version-kind": [{"group": "apps", "version": "v1", "kind": "Deployment"}]}
  }}}"#;

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("api.json", DOCUMENT).write("crd.yaml", crd("widgets", &["v1", "v1beta1"]));
    folder
}

/// Layouts, the matching `-schema-location` of kubeconform, and the file names.
const LAYOUTS: [(&str, &str, [&str; 4]); 5] = [
    (
        "datree",
        "out/{{.Group}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json",
        ["apps/deployment_v1.json", "example.com/widget_v1.json", "example.com/widget_v1beta1.json", "v1/pod_v1.json"],
    ),
    (
        "yamlls",
        "out/{{.Group}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json",
        ["apps/deployment_v1.json", "example.com/widget_v1.json", "example.com/widget_v1beta1.json", "v1/pod_v1.json"],
    ),
    (
        "kubeconform",
        "out",
        [
            "master-standalone/deployment-apps-v1.json",
            "master-standalone/pod-v1.json",
            "master-standalone/widget-example-v1.json",
            "master-standalone/widget-example-v1beta1.json",
        ],
    ),
    (
        "flat",
        "out/{{.ResourceKind}}-{{if ne .Group .ResourceAPIVersion}}{{.Group}}-{{end}}{{.ResourceAPIVersion}}.json",
        ["deployment-apps-v1.json", "pod-v1.json", "widget-example.com-v1.json", "widget-example.com-v1beta1.json"],
    ),
    (
        "k8s/{{.ResourceKind}}{{.KindSuffix}}.json",
        "out/k8s/{{.ResourceKind}}{{.KindSuffix}}.json",
        [
            "k8s/deployment-apps-v1.json",
            "k8s/pod-v1.json",
            "k8s/widget-example-v1.json",
            "k8s/widget-example-v1beta1.json",
        ],
    ),
];

#[test]
fn a_layout_gives_the_file_names_of_documents_and_custom_resources() {
    for (layout, _, names) in LAYOUTS {
        let folder = folder();
        folder.run(&format!("convert api.json crd.yaml --to jsonschema --layout {layout} -o out")).is_silent();
        assert_eq!(folder.names("out"), names, "{layout}");
    }
    let folder = folder();
    let line =
        "convert api.json crd.yaml --to jsonschema,structural --strict --layout kubeconform -o out --kind widget";
    folder.run(line).is_silent();
    let expected = [
        "master-standalone-strict/widget-example-v1.json",
        "master-standalone-strict/widget-example-v1beta1.json",
        "widgets.example.com/v1.structural.yaml",
        "widgets.example.com/v1beta1.structural.yaml",
    ];
    assert_eq!(folder.names("out"), expected);
    let same = folder.run("convert api.json crd.yaml --to jsonschema --layout kubeshape -o own");
    assert_eq!((same.code, folder.names("own").len()), (Some(0), 4));
}

#[test]
fn a_schema_names_its_kind() {
    let folder = folder();
    folder
        .run("convert api.json crd.yaml --to jsonschema --layout datree --id-base https://example.com/s/ -o out")
        .is_silent();
    let read = |name: &str| json(&folder.read(&format!("out/{name}")));
    let widget = read("example.com/widget_v1.json");
    assert_eq!(widget["title"], "Widget (example.com/v1)");
    assert_eq!(widget["$id"], "https://example.com/s/example.com/widget_v1.json");
    let expected = serde_json::json!([{"group": "example.com", "kind": "Widget", "version": "v1"}]);
    assert_eq!(widget["x-kubernetes-group-version-kind"], expected);
    let pod = read("v1/pod_v1.json");
    assert_eq!((&pod["title"], &pod["$id"]), (&"Pod (v1)".into(), &"https://example.com/s/v1/pod_v1.json".into()));
    assert_eq!(pod["x-kubernetes-group-version-kind"][0]["kind"], "Pod");
    folder.run("convert crd.yaml --to jsonschema --id-base https://example.com/s -o own").is_silent();
    let own = json(&folder.read("own/widgets.example.com/v1.schema.json"));
    assert_eq!(own["$id"], "https://example.com/s/widgets.example.com/v1.schema.json");
    // A title from the author has priority.
    let titled = crd("widgets", &["v1"])
        .replace("        type: object\n        prop", "        title: T\n        type: object\n        prop");
    folder.write("titled.yaml", titled);
    let titled = json(&folder.run("convert titled.yaml --to jsonschema").out);
    assert_eq!((&titled["title"], &titled["$id"]), (&"T".into(), &serde_json::Value::Null));
}

#[test]
fn two_results_never_get_the_same_name() {
    let folder = folder();
    // Two versions of a resource.
    let run = folder.run("convert crd.yaml --to jsonschema --layout {group}/{kind}.json -o out");
    run.says(1, &["error[KS4021]", "crd.yaml:", "example.com/widget.json is that of v1 and of v1beta1"]);
    assert_eq!(folder.names("out"), ["example.com/widget.json"]);
    // Two resources, even if their names differ only in case.
    let other = crd("widgets", &["v1"]).replace("example.com", "other.com").replace("Widget", "WIDGET");
    folder.write("other.yaml", other).write("crd.yaml", crd("widgets", &["v1"]));
    let run = folder.run("convert crd.yaml other.yaml --to jsonschema --layout {Kind}.json -o both");
    run.says(1, &["error[KS4021]", "other.yaml:4:", "WIDGET.json is the file of widgets.example.com already"]);
    assert_eq!(folder.names("both"), ["Widget.json"]);
    // Of duplicates that replace each other, only one is written.
    folder.write("again.yaml", crd("widgets", &["v1"]));
    let run = folder.run("convert crd.yaml again.yaml --to jsonschema --layout flat --duplicates last -o last");
    run.says(0, &["KS4001"]);
    assert_eq!(folder.names("last"), ["widget-example.com-v1.json"]);
    // Two kinds of a document.
    let run = folder.run("convert api.json --to jsonschema --layout {version}.json -o kinds");
    run.says(1, &["error[KS4021]", "v1.json is that of Pod of v1 and of Deployment of apps/v1"]);
    // A kind of a document and a resource.
    folder.write("crd.yaml", crd("pods", &["v1"]));
    let run = folder.run("convert api.json crd.yaml --to jsonschema --layout {kind}.json -o mixed");
    run.says(1, &["error[KS4021]", "pod.json is the file of pods.example.com already"]);
    assert_eq!(folder.names("mixed"), ["deployment.json", "pod.json"]);
}

#[test]
fn an_input_is_never_overwritten() {
    let folder = folder();
    std::fs::rename(folder.path("api.json"), folder.path("pod-v1.json")).unwrap();
    let before = folder.read("pod-v1.json");
    folder
        .run("convert pod-v1.json --to jsonschema --layout flat -o .")
        .says(2, &["pod-v1.json is read, and has the name of a result in the output folder"]);
    assert_eq!(folder.read("pod-v1.json"), before);
}

/// Finds the program that the environment names, or the one in PATH.
fn program(variable: &str, name: &str) -> Option<PathBuf> {
    if let Some(path) = std::env::var_os(variable) {
        return Some(path.into());
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|path| path.is_file())
}

const OBJECTS: &str = "\
apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {nodeName: one}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec: {replicas: 2}
---
apiVersion: example.com/v1beta1
kind: Widget
metadata: {name: a}
spec: {size: 2}
";

#[test]
fn kubeconform_finds_the_schemas_of_each_layout() {
    let Some(kubeconform) = program("KUBESHAPE_KUBECONFORM", "kubeconform") else {
        eprintln!("not run: kubeconform is neither on the PATH nor named by KUBESHAPE_KUBECONFORM");
        return;
    };
    for (layout, location, _) in LAYOUTS {
        for strict in ["", "--strict --id-base https://example.com/s/"] {
            let folder = folder();
            let line = format!("convert api.json crd.yaml --to jsonschema --layout {layout} -o out {strict}");
            folder.run(&line).is_silent();
            let check = |objects: &str| {
                folder.write("objects.yaml", objects);
                let mut command = Command::new(&kubeconform);
                command.args(["-output", "json", "-summary", "-schema-location", location]);
                if !strict.is_empty() {
                    command.arg("-strict");
                }
                let output = command.arg("objects.yaml").current_dir(folder.path("")).output().unwrap();
                let summary = json(&String::from_utf8_lossy(&output.stdout))["summary"].clone();
                (summary["valid"].as_u64(), summary["invalid"].as_u64(), summary["errors"].as_u64())
            };
            assert_eq!(check(OBJECTS), (Some(3), Some(0), Some(0)), "{layout} {strict}");
            let wrong = OBJECTS.replace(": 2", ": two").replace("nodeName: one", "nodeName: 1");
            assert_eq!(check(&wrong), (Some(0), Some(3), Some(0)), "{layout} {strict}");
            let unknown = OBJECTS.replace("size: 2", "sise: 2");
            let invalid = u64::from(!strict.is_empty());
            assert_eq!(check(&unknown), (Some(3 - invalid), Some(invalid), Some(0)), "{layout} {strict}");
        }
    }
}

/// Returns the folder of yaml-language-server's package.
fn yaml_language_server() -> Option<PathBuf> {
    let path = std::env::var_os("KUBESHAPE_YAMLLS");
    if path.is_none() {
        eprintln!("not run: KUBESHAPE_YAMLLS does not name the folder of the npm package yaml-language-server");
    }
    path.map(PathBuf::from)
}

/// Returns what a script prints in Node.js.
fn node(arguments: &[&std::ffi::OsStr]) -> serde_json::Value {
    let output = Command::new("node").args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    json(&String::from_utf8_lossy(&output.stdout))
}

#[test]
fn yaml_language_server_finds_the_schemas_of_its_layout() {
    let Some(server) = yaml_language_server() else { return };
    let folder = folder();
    let route = crd("routes", &["v1"]).replace("example.com", "route.openshift.io");
    folder.write("route.yaml", route);
    folder.run("convert crd.yaml route.yaml --to jsonschema --layout yamlls -o out").is_silent();
    let script = "const {autoDetectCustomResource: find} = require(process.argv[1] + \
                  '/out/server/src/languageservice/services/k8sSchemaUtil.js'); \
                  console.log(JSON.stringify(process.argv.slice(2).map(gvk => { \
                  const [group, version, kind] = gvk.split('/'); return find({group, version, kind}, 'out'); })))";
    let kinds = ["example.com/v1/Widget", "example.com/v1beta1/Widget", "route.openshift.io/v1/Route"];
    let mut arguments = vec!["-e".as_ref(), script.as_ref(), server.as_os_str()];
    arguments.extend(kinds.iter().map(std::ffi::OsStr::new));
    let found = node(&arguments);
    let found: Vec<&str> = found.as_array().unwrap().iter().map(|path| path.as_str().unwrap()).collect();
    assert_eq!(found.len(), kinds.len());
    for path in found {
        assert!(folder.path(path).is_file(), "{path}\n{:?}", folder.names("out"));
    }
}

#[test]
fn yaml_language_server_shows_the_kind() {
    let Some(server) = yaml_language_server() else { return };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/tools/hover.js");
    for options in ["", "--id-base https://example.com/s/ --draft 7"] {
        let folder = folder();
        folder.run(&format!("convert crd.yaml --to jsonschema --layout yamlls -o out {options}")).is_silent();
        let object = "# yaml-language-server: $schema=out/example.com/widget_v1.json\n\
                      apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a}\nspec:\n  size: two\n";
        folder.write("a.yaml", object);
        let file = folder.path("a.yaml");
        let shown = node(&[script.as_ref(), server.as_os_str(), file.as_os_str(), "2".as_ref(), "1".as_ref()]);
        let hover = shown["hover"].as_str().unwrap_or_default();
        assert!(hover.starts_with("#### Widget (example.com/v1)"), "{shown}");
        assert_eq!(shown["diagnostics"], serde_json::json!(["5: Incorrect type. Expected \"integer\"."]));
    }
}

/// A version whose schema no server uses, with the reason.
const UNUSED: [(&str, &str); 3] = [
    ("KS3002", "schema: {openAPIV3Schema: {type: object, properties: {a: {type: string, anyOf: [{nullable: true}]}}}}"),
    ("KS3003", "schema: {openAPIV3Schema: {type: object, properties: {a: {type: text}}}}"),
    ("KS3004", ""),
];

#[test]
fn a_version_without_usable_schema_allows_any_object_of_its_kind() {
    for (why, schema) in UNUSED {
        let folder = Folder::new();
        let version = |name: &str, storage: bool, more: &str| {
            format!("  - name: {name}\n    served: true\n    storage: {storage}\n    {more}\n")
        };
        let used = "schema: {openAPIV3Schema: {type: object}}";
        folder.write(
            "crd.yaml",
            format!(
                "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n\
                 metadata: {{name: tabs.example.com}}\nspec:\n  group: example.com\n  scope: Namespaced\n  \
                 names: {{plural: tabs, kind: Tab}}\n  versions:\n{}{}",
                version("v1", true, used),
                version("v2", false, schema)
            ),
        );
        let run = folder.run("convert crd.yaml --to jsonschema,structural --strict --layout yamlls -o out");
        run.says(0, &[why, "KS6016", "KS3005"]);
        let names = ["example.com/tab_v1.json", "example.com/tab_v2.json", "tabs.example.com/v1.structural.yaml"];
        assert_eq!(folder.names("out"), names, "{why}");
        let schema = json(&folder.read("out/example.com/tab_v2.json"));
        assert_eq!((&schema["title"], &schema["additionalProperties"]), (&"Tab (example.com/v2)".into(), &().into()));
        let validator = jsonschema::validator_for(&schema).unwrap();
        let object = |kind: &str| serde_json::json!({"apiVersion": "example.com/v2", "kind": kind, "a": [1, null]});
        assert!(validator.is_valid(&object("Tab")), "{why}");
        assert!(!validator.is_valid(&object("Tap")), "{why}");
    }
}

#[test]
fn patterns_use_the_syntax_of_the_layouts_reader() {
    let folder = Folder::new();
    let schema = r"
type: object
properties:
  inner: {type: string, pattern: '(?m)a$b'}
  edge: {type: string, pattern: '(?m)^a$'}
  script: {type: string, pattern: '\p{Greek}'}
  fold: {type: string, pattern: '(?i:s)'}
";
    folder.write("crd.yaml", crd_with_schema(schema.trim_start()));
    for (layout, name, inner, script) in [
        ("kubeconform", "master-standalone/widget-example-v1.json", "(?m)a$b", r"\p{Greek}"),
        ("datree", "example.com/widget_v1.json", "(?m)a$b", r"\p{Greek}"),
        ("yamlls", "example.com/widget_v1.json", r"a(?![^\n])b", r"\p{Script=Greek}"),
    ] {
        folder.run(&format!("convert crd.yaml --to jsonschema --layout {layout} -o {layout}")).is_silent();
        let schema = json(&folder.read(&format!("{layout}/{name}")));
        let pattern = |field: &str| schema["properties"][field]["pattern"].as_str().map(ToOwned::to_owned).unwrap();
        assert_eq!((pattern("inner"), pattern("script")), (inner.to_owned(), script.to_owned()), "{layout}");
        assert_eq!(pattern("edge"), r"(?:^|\n)a(?:$|\n)");
        assert_eq!(pattern("fold"), "(?:[sS\u{17f}])");
    }
}
