//! `kubeshape lifecycle`.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common::{Folder, gzip};
use serde_json::{Value, json};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
const SOURCES: &str = "--types types.go --features features.go";

/// Returns a folder with the example of the proposal.
fn folder() -> Folder {
    let folder = Folder::new();
    for name in ["types.go", "features.go", "openapi.yaml"] {
        folder.write(name, std::fs::read(format!("{ROOT}/docs/demo/frobber_{name}")).unwrap());
    }
    folder
}

#[test]
fn lint_reports_positions_and_codes() {
    let folder = folder();
    let run = folder.run("lifecycle lint types.go --features features.go --output-format short");
    assert_eq!(run.code, Some(1));
    assert_eq!(
        run.out,
        "types.go:15:5: error[KS8306]: A lifecycle tag disagrees with the specs of its feature gate: the tag says alpha, \
         and Frobber2D is beta since v1.22; correct status and minVersion (in FrobberSpec.width)\n",
    );
    folder.run("lifecycle lint types.go --features features.go --release v1.21").is_silent();
    folder.run("lifecycle lint types.go").is_silent();
    let run = folder.run("lifecycle lint types.go --features features.go --output-format sarif");
    let document: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(document["runs"][0]["results"][0]["ruleId"], json!("KS8306"));
}

#[test]
fn unknown_releases_are_refused() {
    let folder = folder();
    let types = folder.read("types.go");
    for (wrong, expected) in [
        ("v7.3", "Kubernetes has no release v7.3"),
        ("v99.1", "Kubernetes has no release v99.1"),
        ("v1.400", "Kubernetes has no release v1.400"),
    ] {
        folder.write("types.go", types.replace("minVersion=v1.20", &format!("minVersion={wrong}")));
        let run = folder.run("lifecycle lint types.go --output-format short");
        assert_eq!(run.code, Some(1), "{}", run.out);
        assert!(run.out.contains("error[KS8303]") && run.out.contains(expected), "{}", run.out);
        for line in [
            "lint types.go --release",
            "annotate openapi.yaml --types types.go --release",
            "warn --schemas \
                     openapi.yaml openapi.yaml --kubernetes",
        ] {
            folder.run(&format!("lifecycle {line} {wrong}")).says(2, &[expected]);
        }
    }
    folder.write("types.go", types.replace("minVersion=v1.20", "minVersion=v1.38"));
    folder.run("lifecycle lint types.go").is_silent();
    // A kind, a gate, and a document.
    folder.write("v1/kind.go", "package v1\n\n// +k8s:prerelease-lifecycle-gen:introduced=7.3\ntype A struct {\n\tmetav1.TypeMeta `json:\",inline\"`\n}\n");
    let run = folder.run("lifecycle lint v1 --output-format short");
    assert!(run.out.contains("error[KS8315]") && run.out.contains("no release v7.3"), "{}", run.out);
    folder.write("f.go", "package f\n\nconst (\n\t// alpha: v7.3\n\tA featuregate.Feature = \"A\"\n)\n");
    let run = folder.run("lifecycle lint types.go --features f.go --output-format short");
    assert!(run.out.contains("warning[KS8307]") && run.out.contains("no release v7.3"), "{}", run.out);
    let entry = "{type: integer, x-kubernetes-api-lifecycle: {kubernetes: {minVersion: v7.3, status: alpha}}}";
    let head = "openapi: 3.0.0\ninfo: {title: a, version: '1'}\npaths: {}\ncomponents:\n  schemas:\n";
    folder.write("doc.yaml", format!("{head}    com.example.v1.A:\n      properties:\n        a: {entry}\n"));
    let run = folder.run("lifecycle annotate doc.yaml --features f.go");
    assert!(run.err.contains("KS8317"), "{}", run.err);
}

#[test]
fn tagged_types_without_a_definition_are_reported() {
    let folder = folder();
    folder.write("other/types.go", folder.bytes("types.go"));
    folder.write("doc.yaml", "openapi: 3.0.0\ninfo: {title: a, version: '1'}\npaths: {}\ncomponents: {schemas: {com.example.v1.Other: {type: object, properties: {a: {type: string}}}}}\n");
    for types in ["types.go", "other"] {
        let run = folder.run(&format!("lifecycle annotate doc.yaml --types {types}"));
        assert_eq!(run.code, Some(0), "{}", run.err);
        let expected =
            "no definition of the documents is of the type FrobberSpec; expected one named after its package";
        assert!(run.err.contains("warning[KS8314]") && run.words().contains(expected), "{}", run.err);
        assert_eq!(folder.run(&format!("lifecycle annotate doc.yaml --types {types} --deny warning")).code, Some(1));
    }
    // The documents have some of the types. The others are named.
    let types = folder.read("types.go").replace("type FrobberSpec", "type Lonely struct {\n\t// +lifecycle:kubernetes:minVersion=v1.20,status=alpha\n\tA int `json:\"a\"`\n}\n\ntype FrobberSpec");
    folder.write("types.go", types);
    let run = folder.run("lifecycle annotate openapi.yaml --types types.go");
    assert!(run.err.contains("in no document: the tagged types Lonely"), "{}", run.err);
    assert!(!run.err.contains("KS8314"), "{}", run.err);
    // Without tagged types there is nothing to report.
    folder.write("plain.go", "package v1\n\ntype A struct {\n\tB int `json:\"b\"`\n}\n");
    assert!(!folder.run("lifecycle annotate doc.yaml --types plain.go").err.contains("KS8314"));
}

#[test]
fn annotate_writes_only_the_extension_of_the_proposal() {
    let folder = folder();
    let run = folder.run(&format!("lifecycle annotate openapi.yaml {SOURCES}"));
    assert_eq!(run.code, Some(0), "{}", run.err);
    let expected = folder.read("openapi.yaml").replace(
        "        width:\n          type: integer\n",
        "        width:
          type: integer
          x-kubernetes-api-lifecycle:
            kubernetes:
              minVersion: v1.20
              status: alpha
              featureGate: Frobber2D\n",
    );
    let expected = expected.replace(
        "        breadth:\n          type: integer\n",
        "        breadth:
          type: integer
          x-kubernetes-api-lifecycle:
            kubernetes:
              status: deprecated\n",
    );
    assert_eq!(run.out, expected);
    assert_eq!(run.err, "openapi.yaml: 2 added, 0 changed, 0 removed; +254 bytes, 796 in all\n");
    let run = folder.run(&format!("lifecycle annotate openapi.yaml {SOURCES} --release v1.36"));
    assert!(run.out.contains("minVersion: v1.22\n              status: beta\n"), "{}", run.out);
}

#[test]
fn folder_inputs_need_an_output_folder_and_bad_inputs_do_not_stop_the_others() {
    let folder = folder();
    folder.write("docs/a.yaml", folder.read("openapi.yaml")).write("docs/sub/b.yaml", folder.read("openapi.yaml"));
    folder.run(&format!("lifecycle annotate docs {SOURCES}")).says(2, &["-o FOLDER"]);
    folder.write("docs/bad.yaml", "a: [");
    folder.run(&format!("lifecycle annotate docs {SOURCES} -o out")).says(1, &["bad.yaml", "KS1001"]);
    assert_eq!(folder.names("out"), ["a.yaml", "sub/b.yaml"]);
    assert!(folder.read("out/sub/b.yaml").contains("Frobber2D"));
    folder.run("lifecycle annotate openapi.yaml --types missing.go").says(2, &["missing.go", "KS1007"]);
}

#[test]
fn conversions_keep_the_extension_or_report_its_loss() {
    let folder = folder();
    folder.run(&format!("lifecycle annotate openapi.yaml {SOURCES} -o v3.yaml -q")).is_silent();
    let entry = json!({"kubernetes": {"minVersion": "v1.20", "status": "alpha", "featureGate": "Frobber2D"}});
    let at = |name: &str, pointer: &str| {
        let document: Value = serde_json::from_str(&folder.read(name)).unwrap();
        document.pointer(&format!("{pointer}/properties/width/x-kubernetes-api-lifecycle")).cloned()
    };
    folder.run("convert v3.yaml --to v2 -o v2.json -q").is_silent();
    assert_eq!(at("v2.json", "/definitions/com.example.v1.FrobberSpec"), Some(entry.clone()));
    folder.run("convert v2.json --to v3 -o again.json -q").is_silent();
    assert_eq!(at("again.json", "/components/schemas/com.example.v1.FrobberSpec"), Some(entry));
    let run = folder.run("convert v3.yaml --to smd -o smd.yaml -q --report losses.ndjson");
    assert_eq!(run.code, Some(0), "{}", run.err);
    let losses = folder.read("losses.ndjson");
    assert_eq!(losses.matches("\"detail\":\"x-kubernetes-api-lifecycle\"").count(), 2, "{losses}");
    folder.run("convert v3.yaml --to jsonschema -o schema.json -q").is_silent();
    let schema = folder.read("schema.json");
    assert_eq!(schema.matches("x-kubernetes-api-lifecycle").count(), 2, "{schema}");
    assert!(schema.contains("Frobber2D"), "{schema}");
}

/// A server drops the extension from a CustomResourceDefinition, and each conversion reports that.
#[test]
fn conversions_of_definitions_say_that_the_extension_is_dropped() {
    let folder = Folder::new();
    custom(&folder);
    for shape in ["v3", "v2", "jsonschema", "smd", "structural"] {
        let run = folder.run(&format!("convert crd.yaml --to {shape} -o {shape}.yaml --report {shape}.ndjson"));
        assert_eq!(run.code, Some(0), "{}", run.err);
        let (out, report) = (folder.read(&format!("{shape}.yaml")), folder.read(&format!("{shape}.ndjson")));
        assert!(!out.contains("x-kubernetes-api-lifecycle"), "{shape} {out}");
        assert!(report.contains("KS1006") && report.contains("x-kubernetes-api-lifecycle"), "{shape} {report}");
    }
}

#[test]
fn tables_have_four_formats() {
    let folder = folder();
    let run = folder.run(&format!("lifecycle table {SOURCES}"));
    assert_eq!(
        run.out,
        "PACKAGE   TYPE          FIELD     PROPERTY   STAGE        MINVERSION   FEATUREGATE   PLACE
          FrobberSpec   Width     width      alpha        v1.20        Frobber2D     types.go:16:2
          FrobberSpec   Breadth   breadth    deprecated                              types.go:20:2
",
    );
    let run = folder.run(&format!("lifecycle table {SOURCES} -o json"));
    let rows: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(
        rows[0],
        json!({"package": "", "type": "FrobberSpec", "field": "Width", "property": "width", "stage": "alpha",
            "minVersion": "v1.20", "featureGate": "Frobber2D", "place": "types.go:16:2"}),
    );
    let run = folder.run(&format!("lifecycle table {SOURCES} -o csv"));
    assert_eq!(run.out.lines().nth(1), Some(",FrobberSpec,Width,width,alpha,v1.20,Frobber2D,types.go:16:2"));
    let run = folder.run(&format!("lifecycle table {SOURCES} -o md"));
    assert_eq!(
        run.out.lines().nth(3),
        Some("|  | FrobberSpec | Breadth | breadth | deprecated |  |  | types.go:20:2 |")
    );
    folder.run("lifecycle table").says(2, &["--types PATH"]);
}

#[test]
fn diff_reports_what_changed() {
    let folder = folder();
    let types = folder.read("types.go");
    folder.write("old/v1/types.go", &types).write("old/features.go", folder.read("features.go"));
    folder.write("new/v1/types.go", types.replace("\t// +lifecycle", "\t// lifecycle"));
    folder.write("new/features.go", folder.read("features.go"));
    let run = folder.run("lifecycle diff old new -o csv");
    assert_eq!(
        run.out,
        "change,package,type,property,old,new,featureGate,place\r
promoted,v1,FrobberSpec,width,alpha,,Frobber2D,new/v1/types.go:16:2\r
",
    );
    assert_eq!(run.code, Some(0));
}

#[test]
fn results_are_written_in_the_form_that_their_names_imply() {
    let folder = folder();
    folder.write("openapi.yaml.gz", gzip(&folder.read("openapi.yaml")));
    folder.run(&format!("lifecycle annotate openapi.yaml {SOURCES} -o out/")).says(0, &["2 added"]);
    assert!(folder.read("out/openapi.yaml").contains("x-kubernetes-api-lifecycle"));
    // A compressed file is not replaced by a plain text of the same name.
    let before = folder.bytes("openapi.yaml.gz");
    folder.run(&format!("lifecycle annotate openapi.yaml.gz {SOURCES} -o openapi.yaml.gz")).says(1, &["is compressed"]);
    assert_eq!(folder.bytes("openapi.yaml.gz"), before);
    let run = folder.run(&format!("lifecycle annotate openapi.yaml.gz {SOURCES}"));
    assert!(run.out.contains("x-kubernetes-api-lifecycle"), "{}", run.err);
}

#[test]
fn texts_of_inputs_do_not_control_the_terminal() {
    let folder = folder();
    folder.write("bad.go", "package v1\ntype A struct {\n\t// +featureGate=\u{1b}[2J\n\tB int `json:\"b\u{7}\"`\n}\n");
    for format in ["text", "csv", "md", "json"] {
        let run = folder.run(&format!("lifecycle table --types bad.go -o {format}"));
        assert!(!run.out.contains(['\u{1b}', '\u{7}']), "{}", run.out);
    }
}

#[test]
fn warn_reports_fields_and_kinds_with_positions() {
    let folder = folder();
    folder.run(&format!("lifecycle annotate openapi.yaml {SOURCES} -o v3.yaml -q")).is_silent();
    folder.write("a.yaml", "apiVersion: example.com/v1\nkind: Frobber\nspec: {width: 1,\n  breadth: 2}\n---\n");
    folder.write("b.yaml", "apiVersion: policy/v1beta1\nkind: PodSecurityPolicy\n");
    let run = folder.run("lifecycle warn --schemas v3.yaml a.yaml b.yaml --kubernetes 1.36 --output-format short");
    assert_eq!(run.code, Some(0));
    for line in [
        "a.yaml:3:8: warning[KS8324]: An object has a field that is off in the cluster: spec.width: alpha since v1.20; the feature \
         gate Frobber2D is off\n",
        "a.yaml:4:3: warning[KS8323]: An object has a field that is deprecated: spec.breadth: deprecated\n",
        "b.yaml:1:13: warning[KS8326]: The release does not serve the kind of an object in this API version any more: \
         policy/v1beta1 PodSecurityPolicy is deprecated in v1.21+, unavailable in v1.25+\n",
    ] {
        assert!(run.out.contains(line), "{}{}", run.out, run.err);
    }
    let run = folder.run("lifecycle warn --schemas v3.yaml a.yaml --feature-gates Frobber2D=true --as-headers -q");
    let alpha = "alpha since v1.20, behind the feature gate Frobber2D; it may change or go in any release";
    assert_eq!(run.out, format!("299 - \"spec.width: {alpha}\"\n299 - \"spec.breadth: deprecated\"\n"));
    folder.run("lifecycle warn --schemas v3.yaml a.yaml --feature-gates Frobber2D").says(2, &["GATE=true"]);
    let run = folder.run("lifecycle warn --schemas v3.yaml a.yaml --deny KS8323");
    assert!(run.code == Some(1) && run.out.contains("KS8323"), "{}{}", run.out, run.err);
}

/// A CustomResourceDefinition with the extension, and an object with its field.
fn custom(folder: &Folder) {
    let field = "{type: integer, description: How wide it is., x-kubernetes-api-lifecycle: {kubernetes: {minVersion: v1.20, status: \
                 alpha, featureGate: Frobber2D}}}";
    folder.write(
        "crd.yaml",
        format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: tabs.example.com}}\n\
             spec:\n  group: example.com\n  scope: Namespaced\n  names: {{plural: tabs, kind: Tab}}\n  versions:\n  \
             - name: v1\n    served: true\n    storage: true\n    schema:\n      openAPIV3Schema:\n        type: object\n        \
             properties:\n          spec:\n            type: object\n            properties:\n              width: {field}\n              \
             height: {{type: integer}}\n",
        ),
    );
    folder.write(
        "a.yaml",
        "apiVersion: example.com/v1\nkind: Tab\nmetadata: {name: a}\nspec:\n  width: 1\n  height: 2\n",
    );
}

#[test]
fn validate_and_apply_report_fields_that_are_not_stable() {
    let folder = Folder::new();
    custom(&folder);
    let off = "a.yaml:5:3: warning[KS8324]: An object has a field that is off in the cluster: spec.width: alpha since v1.20; the \
               feature gate Frobber2D is off (in Tab a)\n";
    let alpha = "a.yaml:5:3: warning[KS8321]: An object has a field that is alpha: spec.width: alpha since v1.20, behind the \
                 feature gate Frobber2D; it may change or go in any release (in Tab a)\n";
    for (options, said) in
        [("", off), (" --feature-gates Frobber2D=true", alpha), (" --feature-gates AllAlpha=true", alpha)]
    {
        let run = folder.run(&format!("validate --schemas crd.yaml --output-format short a.yaml{options}"));
        assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
        assert!(run.out.starts_with(said), "{}", run.out);
        let apply = "apply --schemas crd.yaml --field-manager ci --output-format short a.yaml";
        let run = folder.run(&format!("{apply}{options}"));
        assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
        assert!(run.err.contains(said), "{}", run.err);
    }
    let run = folder.run("validate --schemas crd.yaml --deny KS8324 a.yaml");
    assert_eq!(run.code, Some(1), "{}{}", run.out, run.err);
    let run = folder.run("validate --schemas crd.yaml --allow KS8324 --output-format short a.yaml");
    assert!(!run.out.contains("KS8324"), "{}", run.out);
    // Fields that the release does not have yet are off.
    folder.write(
        "crd.yaml",
        folder.read("crd.yaml").replace("v1.20, status: alpha, featureGate: Frobber2D", "v1.36, status: beta"),
    );
    let run = folder.run("validate --schemas crd.yaml --kubernetes 1.35 --output-format short a.yaml");
    assert!(run.out.contains("KS8324") && run.out.contains("beta since v1.36; it is not in v1.35"), "{}", run.out);
    let run = folder.run("validate --schemas crd.yaml --kubernetes 1.36 --deny KS8324 a.yaml");
    assert_eq!(run.code, Some(0), "{}", run.out);
}

#[test]
fn explain_shows_the_stage_next_to_the_field() {
    let folder = Folder::new();
    custom(&folder);
    let stage = "alpha since v1.20, behind the feature gate Frobber2D";
    let run = folder.run("explain --schemas crd.yaml tabs --index");
    let line = run.out.lines().find(|line| line.starts_with(".spec.width\t")).unwrap();
    assert_eq!(line, format!(".spec.width\tinteger\tlifecycle: {stage}\tHow wide it is."));
    let run = folder.run("explain --schemas crd.yaml tabs.spec.width --more");
    assert!(run.out.contains(&format!("lifecycle: {stage}")), "{}", run.out);
    let run = folder.run("explain --schemas crd.yaml tabs.spec.height --more");
    assert!(!run.out.contains("lifecycle"), "{}", run.out);
    let run = folder.run("explain --schemas crd.yaml tabs.spec -o json");
    assert!(run.out.contains(&format!("{{\"name\":\"lifecycle\",\"value\":\"{stage}\"}}")), "{}", run.out);
    // Without options, the page is that of kubectl.
    let run = folder.run("explain --schemas crd.yaml tabs.spec.width");
    assert!(!run.out.contains("alpha"), "{}", run.out);
}

const KINDS: &str = "// +groupName=example.com
package v1beta1

// +k8s:prerelease-lifecycle-gen:introduced=1.30
// +k8s:prerelease-lifecycle-gen:replacement=example.com,v1,Widget
type Widget struct {
	metav1.TypeMeta `json:\",inline\"`
	// Deprecated: no.
	Size int `json:\"size\"`
}
";

#[test]
fn kinds_are_listed_and_compared() {
    let folder = Folder::new();
    folder.write("old/v1beta1/types.go", KINDS).write("new/v1beta1/types.go", KINDS.replace("1.30", "1.31"));
    let run = folder.run("lifecycle table --kinds --types old --release v1.34 -o csv");
    assert_eq!(
        run.out,
        "apiVersion,kind,introduced,deprecated,removed,state,replacement,place\r\n\
         example.com/v1beta1,Widget,v1.30,v1.33,v1.36,deprecated,example.com/v1 Widget,old/v1beta1/types.go:6:6\r\n",
    );
    for (release, state) in [("v1.29", "planned"), ("v1.30", "served"), ("v1.36", "removed")] {
        let run = folder.run(&format!("lifecycle table --kinds --types old --release {release} -o csv"));
        assert!(run.out.contains(&format!(",{state},")), "{release} {}", run.out);
    }
    let run = folder.run("lifecycle table --kinds -o csv");
    let line = "policy/v1beta1,PodSecurityPolicy,v1.10,v1.21,v1.25,removed,,\r\n";
    assert!(run.out.contains(line), "{}", run.out);
    let run = folder.run("lifecycle diff old new -o csv");
    assert_eq!(
        run.out.lines().nth(1),
        Some(
            "planned,v1beta1,Widget,,\"v1.30, deprecated in v1.33, removed in v1.36, use example.com/v1 Widget\",\"v1.31, deprecated in \
             v1.34, removed in v1.37, use example.com/v1 Widget\",,new/v1beta1/types.go:6:6"
        ),
    );
    let run = folder.run("lifecycle diff old new --old-release 1.33 --new-release 1.37 -o csv");
    assert!(run.out.contains("\r\nremoved,v1beta1,Widget,"), "{}", run.out);
}

#[test]
fn docs_are_written_together_and_nothing_else_is_changed() {
    let folder = Folder::new();
    folder.write("v1beta1/types.go", KINDS).write("out/own.md", "mine").write("out/core.v1/Pod.md", "mine");
    let second = KINDS.replace("Widget struct", "Gadget struct").replace("example.com\n", "../up\n");
    folder.write("up/types.go", second);
    folder.run("lifecycle docs --types v1beta1 --types up -o out").says(0, &["2 kinds"]);
    let widget = "example.com.v1beta1/Widget.md";
    let gadget = "%..%2Fup.v1beta1/Gadget.md";
    assert_eq!(folder.names("out"), [gadget, "core.v1/Pod.md", widget, "index.md", "own.md"]);
    assert!(folder.read(&format!("out/{widget}")).contains("| `.size` | int | deprecated |"));
    let index = folder.read("out/index.md");
    assert!(index.contains("[Widget](<example.com.v1beta1/Widget.md>)"), "{index}");
    assert!(index.contains("[Gadget](<%25..%252Fup.v1beta1/Gadget.md>)"), "{index}");
    // Pages of earlier runs are deleted if requested. Changed pages and files of others stay.
    folder.run("lifecycle docs --types up -o out --prune").says(0, &["1 kind, 1 deleted"]);
    assert_eq!(folder.names("out"), [gadget, "core.v1/Pod.md", "index.md", "own.md"]);
    assert_eq!((folder.read("out/own.md"), folder.read("out/core.v1/Pod.md")), ("mine".to_owned(), "mine".to_owned()));
    // An error leaves everything unchanged.
    let before = folder.read("out/index.md");
    folder.run("lifecycle docs --types up --types missing -o out --prune").says(2, &["KS1007", "nothing was written"]);
    folder.write("bad/types.go", "package v1\ntype A struct {\n");
    folder.run("lifecycle docs --types v1beta1 --types bad -o out").says(1, &["KS8301", "nothing was written"]);
    assert_eq!(folder.read("out/index.md"), before);
    folder.run("lifecycle docs --types up -o -").says(2, &["-o FOLDER"]);
    folder.run("lifecycle docs -o out").says(2, &["--types PATH"]);
}

/// Each command deletes only its own results.
#[test]
fn docs_and_conversions_can_share_a_folder() {
    let folder = Folder::new();
    custom(&folder);
    folder.write("v1beta1/types.go", KINDS);
    folder.run("lifecycle docs --types v1beta1 -o out").says(0, &["1 kind"]);
    let convert = "convert crd.yaml --to v3 --per resource -o out --prune";
    folder.run(convert).says(0, &[]);
    let all = ["example.com.v1beta1/Widget.md", "index.md", "tabs.example.com/v1.v3.json"];
    assert_eq!(folder.names("out"), all);
    folder.run("lifecycle docs --types v1beta1 -o out --prune").says(0, &["1 kind"]);
    folder.run(convert).says(0, &[]);
    assert_eq!(folder.names("out"), all);
}

/// Two folders can have a kind of the same name.
#[test]
fn docs_have_one_page_per_kind() {
    let folder = Folder::new();
    folder.write("a/v1beta1/types.go", KINDS).write("b/v1beta1/types.go", KINDS);
    folder.run("lifecycle docs --types a --types b -o out").says(0, &["1 kind", "b/v1beta1/types.go:6:6 has no page"]);
}

/// The output of `warn` in the guide is that of the command.
#[test]
fn the_guide_shows_what_warn_says() {
    let folder = Folder::new();
    for name in ["frobber_types.go", "frobber_features.go", "frobber_openapi.yaml", "frobber.yaml"] {
        folder.write(&format!("docs/demo/{name}"), std::fs::read(format!("{ROOT}/docs/demo/{name}")).unwrap());
    }
    let page = std::fs::read_to_string(format!("{ROOT}/docs/lifecycle.md")).unwrap();
    let begin = "kubeshape lifecycle annotate docs/demo/frobber_openapi.yaml --types docs/demo/ --features docs/demo/ -o annotated.yaml\n";
    let (_, rest) = page.split_once(begin).unwrap();
    let (command, rest) = rest.split_once('\n').unwrap();
    let shown = rest.split("```").nth(2).unwrap().trim();
    folder.run(begin.trim().strip_prefix("kubeshape ").unwrap()).says(0, &[]);
    let run = folder.run(command.strip_prefix("kubeshape ").unwrap());
    assert_eq!(run.out.trim(), shown);
}

#[test]
fn validate_warns_of_deprecated_kinds() {
    let folder = Folder::new();
    let version = |name: &str, more: &str| {
        format!(
            "  - {{name: {name}, served: true, storage: {}, schema: {{openAPIV3Schema: {{type: object}}}}{more}}}\n",
            name == "v1"
        )
    };
    let crd = format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: tabs.example.com}}\n\
         spec:\n  group: example.com\n  scope: Namespaced\n  names: {{plural: tabs, kind: Tab}}\n  versions:\n{}{}",
        version("v1beta1", ", deprecated: true"),
        version("v1", ""),
    );
    folder.write("crd.yaml", crd);
    folder.write("a.yaml", "apiVersion: example.com/v1beta1\nkind: Tab\nmetadata: {name: a}\n");
    folder.write("b.yaml", "apiVersion: policy/v1beta1\nkind: PodSecurityPolicy\nmetadata: {name: a}\n");
    let deprecated = "example.com/v1beta1 Tab is deprecated; use example.com/v1 Tab";
    let run = folder.run("validate --schemas crd.yaml --output-format short a.yaml");
    assert_eq!(run.code, Some(0));
    assert!(run.out.contains("a.yaml:1:13: warning[KS8325]") && run.out.contains(deprecated), "{}", run.out);
    let removed = "policy/v1beta1 PodSecurityPolicy is deprecated in v1.21+, unavailable in v1.25+";
    let run = folder.run("validate --kubernetes 1.36 --output-format short b.yaml");
    assert_eq!(run.code, Some(1));
    assert!(run.out.contains("KS8326") && run.out.contains(removed), "{}", run.out);
    // A server's own warning says the same, and is not said again.
    folder.write("c.yaml", "apiVersion: v1\nkind: Endpoints\nmetadata: {name: a, namespace: b}\n");
    let run = folder.run("validate --kubernetes 1.36 --output-format short c.yaml");
    assert_eq!(run.code, Some(0));
    assert!(run.out.contains("KS8325") && !run.out.contains("KS8107"), "{}", run.out);
}
