//! `kubeshape lsp`, as an editor sees it.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common::editor::Editor;
use crate::common::{Folder, json};
use serde_json::Value;

const CRD: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tabs.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: tabs, kind: Tab}
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
            required: [size]
            x-kubernetes-validations:
            - {rule: self.size > 0, message: must be positive}
            properties:
              size: {type: integer, description: How large it is.}
              color: {type: string, enum: [red, green], default: red}
";
const TAB: &str = "apiVersion: example.com/v1\nkind: Tab\nmetadata: {name: a}\nspec:\n  size: 1\n";

/// What the commands print about a file, by its findings in JSON.
fn printed(folder: &Folder, lines: &[&str]) -> Vec<Value> {
    let found = lines.iter().flat_map(|line| {
        let run = folder.run(line);
        run.out.lines().map(json).filter(|line| line.get("code").is_some()).collect::<Vec<_>>()
    });
    let mut out: Vec<Value> = Vec::new();
    for finding in found {
        if !out.contains(&finding) {
            out.push(finding);
        }
    }
    out
}

fn data(diagnostics: &[Value]) -> Vec<Value> {
    diagnostics.iter().map(|diagnostic| diagnostic["data"].clone()).collect()
}

fn labels(completion: &Value) -> Vec<String> {
    completion["items"].as_array().unwrap().iter().map(|item| item["label"].as_str().unwrap().to_owned()).collect()
}

fn new_text<'v>(completion: &'v Value, label: &str) -> &'v str {
    let items = completion["items"].as_array().unwrap();
    let item = items.iter().find(|item| item["label"] == label).unwrap();
    item["textEdit"]["newText"].as_str().unwrap()
}

#[test]
fn diagnostics_are_the_findings_of_validate_and_check() {
    let folder = Folder::new();
    folder.write("crds/tabs.yaml", CRD);
    let texts = [
        ("a.yaml", TAB.replace("size: 1", "size: big\n  colour: red")),
        ("b.yaml", format!("{TAB}---\n{}---\n{}", TAB.replace("size: 1", "size: -1"), TAB.replace("spec", "spek"))),
        (
            "c.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: 'a}\n---\napiVersion: v1\nkind: Pot\n".to_owned(),
        ),
        ("d.yaml", CRD.replace("type: integer", "type: int").replace("tabs", "gadgets").replace("Tab", "Gadget")),
        ("e.yaml", "apiVersion: extensions/v1beta1\nkind: Ingress\nmetadata: {name: é}\nspec: {}\n".to_owned()),
    ];
    for (name, text) in &texts {
        folder.write(name, text);
    }
    let mut editor = Editor::start(&folder, &[]);
    for (name, text) in &texts {
        let shown = data(&editor.open(name, text));
        let validate = format!("validate --output-format json --schemas crds {name}");
        let check = format!("check --output-format json {name}");
        let lines = if name == &"d.yaml" { vec![validate.as_str(), check.as_str()] } else { vec![validate.as_str()] };
        let expected = printed(&folder, &lines);
        assert!(!expected.is_empty(), "{name}");
        assert_eq!(shown, expected, "{name}");
    }
    assert_eq!(editor.end(), Some(0));
}

#[test]
fn an_edit_gives_what_opening_gives() {
    let folder = Folder::new();
    folder.write("crds/tabs.yaml", CRD);
    let mut editor = Editor::start(&folder, &[]);
    let text = format!("{TAB}---\n{TAB}---\n{TAB}");
    assert_eq!(editor.open("a.yaml", &text), [Value::Null; 0]);
    // A line in the first document moves those of the others, and a quote breaks one of them.
    let edits = [
        ([4, 8, 4, 9], "x"),
        ([3, 5, 3, 5], " # é𝄞\n"),
        ([6, 0, 6, 3], "--"),
        ([6, 0, 6, 2], "---"),
        ([9, 16, 9, 16], "'"),
        ([9, 16, 9, 17], ""),
    ];
    let mut other = Editor::start(&folder, &[]);
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    for (version, (range, new)) in (2..).zip(edits) {
        let shown = editor.change("a.yaml", version, Some(range), new);
        let mut whole = lines.concat();
        let offset = |line: u64, column: u64| {
            lines[..line as usize].concat().len()
                + lines[line as usize].chars().take(column as usize).collect::<String>().len()
        };
        whole.replace_range(offset(range[0], range[1])..offset(range[2], range[3]), new);
        lines = whole.split_inclusive('\n').map(str::to_owned).collect();
        other.notify("textDocument/didClose", &serde_json::json!({ "textDocument": { "uri": other.uri("a.yaml") } }));
        assert_eq!(shown, other.open("a.yaml", &whole), "{whole}");
    }
}

#[test]
fn a_definition_in_the_editor_judges_at_every_keystroke() {
    let folder = Folder::new();
    folder.write("crds/tabs.yaml", CRD);
    let mut editor = Editor::start(&folder, &[]);
    assert!(editor.open("a.yaml", TAB).is_empty());
    assert!(editor.open("crds/tabs.yaml", CRD).is_empty());
    assert!(editor.diagnostics("a.yaml", 1).is_empty());
    editor.type_in("crds/tabs.yaml", 2, None, &CRD.replace("self.size > 0", "self.size > 5"));
    let found = editor.diagnostics("a.yaml", 1);
    assert!(found[0]["message"].as_str().unwrap().contains("must be positive"), "{found:?}");
    // The file on disk counts again when the editor closes it.
    let uri = editor.uri("crds/tabs.yaml");
    editor.notify("textDocument/didClose", &serde_json::json!({ "textDocument": { "uri": uri } }));
    assert!(editor.diagnostics("a.yaml", 1).is_empty());
}

#[test]
fn a_comment_names_schemas_of_the_folder() {
    let folder = Folder::new();
    folder.write(".hidden/tabs.yaml", CRD);
    let mut editor = Editor::start(&folder, &[]);
    let codes = |found: Vec<Value>| found.iter().map(|found| found["code"].clone()).collect::<Vec<_>>();
    assert_eq!(codes(editor.open("sub/a.yaml", TAB)), ["KS8001"]);
    std::fs::create_dir(folder.path("sub")).unwrap();
    let named = format!("# kubeshape: schemas=../.hidden\n{TAB}");
    assert!(editor.change("sub/a.yaml", 2, None, &named).is_empty());
    let outside = named.replace("../.hidden", "/etc");
    assert_eq!(codes(editor.change("sub/a.yaml", 3, None, &outside)), ["KS8001"]);
}

#[test]
fn hover_and_definition_lead_to_the_schema() {
    let folder = Folder::new();
    folder.write("crds/tabs.yaml", CRD);
    let mut editor = Editor::start(&folder, &[]);
    editor.open("a.yaml", TAB);
    let hover = editor.at("textDocument/hover", "a.yaml", 4, 4);
    let page = hover["contents"]["value"].as_str().unwrap();
    assert!(page.starts_with("**.spec.size** `integer` *required* — Tab example.com/v1\n\nHow large it is."), "{page}");
    assert_eq!(hover["range"]["start"], serde_json::json!({ "line": 4, "character": 2 }));
    let page = editor.at("textDocument/hover", "a.yaml", 3, 1)["contents"]["value"].as_str().unwrap().to_owned();
    assert!(
        page.contains("- rule `self.size > 0`: `size` must be more than 0. Message: must be positive (cost "),
        "{page}"
    );
    let found = editor.at("textDocument/definition", "a.yaml", 4, 4);
    assert_eq!(found[0]["uri"], editor.uri("crds/tabs.yaml").as_str(), "{found}");
    assert_eq!(found[0]["range"]["start"]["line"], 21);
    let found = editor.at("textDocument/definition", "a.yaml", 1, 7);
    assert_eq!(found[0]["range"]["start"]["line"], 0);
}

#[test]
fn completion_has_fields_values_kinds_and_names() {
    let folder = Folder::new();
    folder.write("crds/tabs.yaml", CRD);
    folder.write("config.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {mode: a}\n");
    let mut editor = Editor::start(&folder, &[]);
    let head = "apiVersion: example.com/v1\nkind: Tab\nmetadata: {name: a}\nspec:\n  ";
    editor.open("a.yaml", head);
    let found = editor.at("textDocument/completion", "a.yaml", 4, 2);
    assert_eq!(labels(&found), ["size", "color"]);
    assert_eq!(new_text(&found, "size"), "size: ");
    editor.change("a.yaml", 2, None, &format!("{head}color: "));
    assert_eq!(labels(&editor.at("textDocument/completion", "a.yaml", 4, 9)), ["red", "green"]);
    editor.change("a.yaml", 3, None, "apiVersion: apps/v1\nkind: Dep");
    assert_eq!(labels(&editor.at("textDocument/completion", "a.yaml", 1, 9)), ["Deployment"]);
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n  - name: a\n    env:\n    - name: A\n      \
               valueFrom:\n        configMapKeyRef:\n          name: \n          key: ";
    editor.change("a.yaml", 4, None, pod);
    assert_eq!(labels(&editor.at("textDocument/completion", "a.yaml", 10, 16)), ["settings"]);
    assert_eq!(labels(&editor.at("textDocument/completion", "a.yaml", 11, 15)), ["mode"]);
    editor.change("a.yaml", 5, None, "Ta");
    let found = editor.at("textDocument/completion", "a.yaml", 0, 2);
    let item = found["items"].as_array().unwrap().iter().find(|item| item["label"] == "Tab").unwrap().clone();
    let resolved = editor.request("completionItem/resolve", &item);
    let sample = resolved["textEdit"]["newText"].as_str().unwrap();
    assert!(sample.starts_with("apiVersion: example.com/v1\nkind: Tab\n") && sample.contains("size: 1"), "{sample}");
}

#[test]
fn actions_correct_names_and_fix_definitions() {
    let folder = Folder::new();
    folder.write("crds/tabs.yaml", CRD);
    let mut editor = Editor::start(&folder, &[]);
    editor.open("a.yaml", &TAB.replace("size: 1", "size: 1\n  colr: red"));
    let range = |line: u64| serde_json::json!({ "start": { "line": line, "character": 0 }, "end": { "line": line, "character": 40 } });
    let params = |editor: &Editor, name: &str, line: u64| serde_json::json!({ "textDocument": { "uri": editor.uri(name) }, "range": range(line), "context": { "diagnostics": [] } });
    let asked = params(&editor, "a.yaml", 5);
    let actions = editor.request("textDocument/codeAction", &asked);
    let titles: Vec<&str> =
        actions.as_array().unwrap().iter().map(|action| action["title"].as_str().unwrap()).collect();
    assert_eq!(titles, ["Replace with `color`", "Explain KS8102"]);
    let edit = &actions[0]["edit"]["changes"][editor.uri("a.yaml")][0];
    assert_eq!((&edit["newText"], &edit["range"]["start"]["character"]), (&"color".into(), &2.into()));
    let command = serde_json::json!({ "command": "kubeshape.explainCode", "arguments": ["KS8102"] });
    assert!(editor.request("workspace/executeCommand", &command).as_str().unwrap().contains("KS8102"));
    editor.open("old.yaml", "apiVersion: extensions/v1beta1\nkind: Ingress\nmetadata: {name: a}\n");
    let asked = params(&editor, "old.yaml", 0);
    let actions = editor.request("textDocument/codeAction", &asked);
    assert_eq!(actions[0]["title"], "Replace with `networking.k8s.io/v1`", "{actions}");
    editor.open("b.yaml", &CRD.replace("  scope:", "  comment: ours\n  scope:"));
    let asked = params(&editor, "b.yaml", 5);
    let actions = editor.request("textDocument/codeAction", &asked);
    let fix = actions.as_array().unwrap().iter().find(|action| action["kind"] == "source.fixAll").unwrap();
    let edit = &fix["edit"]["changes"][editor.uri("b.yaml")][0];
    assert_eq!(
        (&edit["newText"], &edit["range"]["start"]["line"], &edit["range"]["end"]["line"]),
        (&"".into(), &5.into(), &6.into())
    );
}

#[test]
fn hints_are_what_the_server_adds() {
    let folder = Folder::new();
    folder.write("crds/tabs.yaml", CRD);
    let mut editor = Editor::start(&folder, &[]);
    editor.open("a.yaml", TAB);
    let range = serde_json::json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 9, "character": 0 } });
    let params = serde_json::json!({ "textDocument": { "uri": editor.uri("a.yaml") }, "range": range });
    let hints = editor.request("textDocument/inlayHint", &params);
    let hints: Vec<_> =
        hints.as_array().unwrap().iter().map(|hint| (&hint["position"]["line"], &hint["label"])).collect();
    assert_eq!(hints, [(&3.into(), &"color: red".into())]);
}

#[test]
fn a_name_is_changed_in_all_files() {
    let folder = Folder::new();
    folder.write("config.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\n");
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n  - name: a\n    envFrom:\n    - configMapRef: {name: settings}\n";
    let mut editor = Editor::start(&folder, &[]);
    editor.open("pod.yaml", pod);
    let found = editor.at("textDocument/definition", "pod.yaml", 7, 30);
    assert_eq!((&found[0]["uri"], &found[0]["range"]["start"]["line"]), (&editor.uri("config.yaml").into(), &3.into()));
    let params = serde_json::json!({
        "textDocument": { "uri": editor.uri("pod.yaml") }, "position": { "line": 7, "character": 30 }, "newName": "other",
    });
    let changes = editor.request("textDocument/rename", &params)["changes"].clone();
    assert_eq!(changes[editor.uri("config.yaml")][0]["newText"], "other");
    assert_eq!(changes[editor.uri("pod.yaml")][0]["range"]["start"]["character"], 27);
    let mut wrong = params.clone();
    wrong["newName"] = "a b".into();
    let error = editor.answer("textDocument/rename", &wrong)["error"]["message"].clone();
    assert_eq!(error, "expected a name of letters, digits, `-` and `.`, found \"a b\"");
    let symbols = serde_json::json!({ "textDocument": { "uri": editor.uri("pod.yaml") } });
    assert_eq!(editor.request("textDocument/documentSymbol", &symbols)[0]["name"], "Pod a");
}

#[test]
fn templates_have_only_what_no_action_can_change() {
    let folder = Folder::new();
    let mut editor = Editor::start(&folder, &[]);
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\n{{- if .Values.a }}\ndat:\n  a: {{ .b }}\n{{- end }}\n";
    let found = editor.open("templates/a.yaml", text);
    let codes: Vec<&Value> = found.iter().map(|found| &found["code"]).collect();
    assert_eq!(codes, ["KS8102"]);
    assert_eq!(found[0]["range"]["start"]["line"], 5);
    assert!(editor.open(".github/a.yaml", "on: push\njobs: {a: {steps: [}}\n").is_empty());
    assert!(
        editor
            .open("kustomization.yaml", "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n")
            .is_empty()
    );
}

#[test]
fn settings_of_the_folder_and_positions_in_utf_8_are_used() {
    let folder = Folder::new();
    folder.write("kubeshape.toml", "kubernetes = \"1.31\"\nschemas = [\"own\"]\n");
    folder.write("own/tabs.yaml", CRD);
    let encodings = serde_json::json!({ "general": { "positionEncodings": ["utf-16", "utf-8"] } });
    let mut editor = Editor::with(&folder, &[], &encodings);
    let found = editor.open("a.yaml", &TAB.replace("  size: 1", "  𝄞: 1"));
    let ends: Vec<&Value> = found.iter().map(|found| &found["range"]["end"]["character"]).collect();
    assert!(ends.contains(&&Value::from(6)), "{found:?}");
    let error = editor.answer("textDocument/nothing", &Value::Null)["error"]["code"].clone();
    assert_eq!(error, -32601);
    assert_eq!(editor.end(), Some(0));
}

#[test]
fn definitions_of_crossplane_and_kro_define_kinds() {
    let folder = Folder::new();
    folder.write("xrd.yaml", XRD);
    folder.write("graph.yaml", GRAPH);
    let mut editor = Editor::start(&folder, &[]);
    let tab = "apiVersion: example.org/v1\nkind: XTab\nmetadata: {name: a}\nspec:\n  size: 1\n";
    assert!(editor.open("a.yaml", tab).is_empty());
    let wrong = tab.replace("size: 1", "size: big");
    let found = editor.change("a.yaml", 2, None, &wrong);
    folder.write("a.yaml", &wrong);
    let line = "validate --output-format json --schemas xrd.yaml --schemas graph.yaml a.yaml";
    let mut expected = printed(&folder, &[line]);
    expected.retain(|finding| finding["input"] == "a.yaml");
    assert_eq!(data(&found), expected);
    assert_eq!(found.len(), 1, "{found:?}");
    let page = editor.at("textDocument/hover", "a.yaml", 4, 3)["contents"]["value"].as_str().unwrap().to_owned();
    assert!(page.starts_with("**.spec.size** `integer` *required* — XTab example.org/v1\n\nHow large."), "{page}");
    assert!(page.contains("xrd.yaml:17"), "{page}");
    let place = editor.at("textDocument/definition", "a.yaml", 4, 3);
    assert_eq!((&place[0]["uri"], &place[0]["range"]["start"]["line"]), (&editor.uri("xrd.yaml").into(), &16.into()));
    editor.change("a.yaml", 3, None, &tab.replace("size: 1", ""));
    let fields = labels(&editor.at("textDocument/completion", "a.yaml", 4, 2));
    assert!(
        fields.iter().any(|field| field == "size") && fields.iter().any(|field| field == "compositionRef"),
        "{fields:?}"
    );
    // The claim of the definition, and the instance of a graph.
    let claim = tab.replace("XTab", "Tab").replace("{name: a}", "{name: a, namespace: b}");
    assert!(editor.change("a.yaml", 4, None, &claim).is_empty());
    let instance = "apiVersion: kro.run/v1alpha1\nkind: Box\nmetadata: {name: a}\nspec: {sise: 2}\n";
    let codes = editor.change("a.yaml", 5, None, instance);
    assert_eq!(codes.iter().map(|found| &found["code"]).collect::<Vec<_>>(), ["KS8102"]);
    // A definition in the editor counts as it is there.
    editor.open("xrd.yaml", XRD);
    editor.change("a.yaml", 6, None, tab);
    editor.type_in("xrd.yaml", 2, None, &XRD.replace("{type: integer", "{type: string"));
    let found = editor.diagnostics("a.yaml", 6);
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn bounds_that_rules_need_are_edits() {
    let folder = Folder::new();
    let mut editor = Editor::start(&folder, &[]);
    let rule = "self.list.all(a, self.list.all(b, self.list.all(c, a == b || b == c)))";
    let text = CRD.replace("self.size > 0", &format!("\"{rule}\"")).replace(
        "              size:",
        "              list:\n                type: array\n                items: {type: string}\n              size:",
    );
    // In front of another document, and behind one.
    let text = format!("{TAB}---\n{text}---\n{TAB}");
    let found = editor.open("a.yaml", &text);
    let found = found.iter().find(|found| found["code"] == "KS3123").unwrap();
    let asked = serde_json::json!({
        "textDocument": { "uri": editor.uri("a.yaml") }, "range": found["range"], "context": { "diagnostics": [] },
    });
    let actions = editor.request("textDocument/codeAction", &asked);
    let bounds =
        actions.as_array().unwrap().iter().find(|action| action["title"].as_str().unwrap().starts_with("Write `max"));
    let edits = bounds.unwrap()["edit"]["changes"][editor.uri("a.yaml")].as_array().unwrap().clone();
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    for edit in edits.iter().rev() {
        let (start, end) = (&edit["range"]["start"], &edit["range"]["end"]);
        assert_eq!(start["line"], end["line"], "{edit}");
        let at = |position: &Value| position["character"].as_u64().unwrap() as usize;
        let line = &mut lines[start["line"].as_u64().unwrap() as usize];
        line.replace_range(at(start)..at(end), edit["newText"].as_str().unwrap());
    }
    let fixed = lines.concat();
    assert!(fixed.contains("                maxItems: "), "{fixed}");
    let found = editor.change("a.yaml", 2, None, &fixed);
    assert!(found.iter().all(|found| found["code"] != "KS3123"), "{found:?}\n{fixed}");
}

const POLICIES: &str = "\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: replicas}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}
  validations:
  - {expression: 'has(object.data)', message: no data}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: replicas}
spec: {policyName: replicas, validationActions: [Deny]}
";

#[test]
fn policies_of_the_workspace_judge_objects() {
    let folder = Folder::new();
    folder.write("policies/a.yaml", POLICIES);
    let object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\n";
    folder.write("b.yaml", object);
    let mut editor = Editor::start(&folder, &[]);
    let found = editor.open("b.yaml", object);
    let expected = printed(&folder, &["validate --output-format json --policies policies b.yaml"]);
    assert_eq!(found[0]["code"], "KS8111");
    assert_eq!(data(&found), expected);
    let mut editor = Editor::start(&folder, &["--ignore-workspace-policies"]);
    assert!(editor.open("b.yaml", object).is_empty());
    // Named policies are used alone.
    folder.write("other/b.yaml", POLICIES.replace("has(object.data)", "true"));
    let mut editor = Editor::start(&folder, &["--policies", "other"]);
    assert!(editor.open("b.yaml", object).is_empty());
}

#[test]
fn a_live_object_says_who_owns_a_field() {
    let folder = Folder::new();
    let object = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n  - image: b\n    name: web\n";
    let live = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  namespace: default\n  managedFields:\n  - manager: helm\n    \
                operation: Apply\n    apiVersion: v1\n    fieldsType: FieldsV1\n    fieldsV1: {'f:spec': {'f:containers': \
                {'k:{\"name\":\"web\"}': {'f:image': {}}}}}\nspec:\n  containers:\n  - {name: proxy, image: c}\n  - {name: web, image: b}\n";
    folder.write("live.yaml", live);
    let mut editor = Editor::start(&folder, &[]);
    editor.open("a.yaml", object);
    let page = |editor: &mut Editor, line| {
        editor.at("textDocument/hover", "a.yaml", line, 5)["contents"]["value"].as_str().unwrap().to_owned()
    };
    let found = page(&mut editor, 5);
    assert!(found.contains("- owner: `helm (Apply, Helm)`\n"), "{found}");
    let found = page(&mut editor, 6);
    assert!(!found.contains("owner"), "{found}");
    // The text of the editor counts.
    editor.open("live.yaml", &live.replace("manager: helm", "manager: other"));
    let found = page(&mut editor, 5);
    assert!(found.contains("- owner: `other (Apply)`\n"), "{found}");
}

const XRD: &str = "\
apiVersion: apiextensions.crossplane.io/v1
kind: CompositeResourceDefinition
metadata: {name: xtabs.example.org}
spec:
  group: example.org
  names: {kind: XTab, plural: xtabs}
  claimNames: {kind: Tab, plural: tabs}
  versions:
  - name: v1
    served: true
    referenceable: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, required: [size], properties: {
            size: {type: integer, description: How large.}}}
";
const GRAPH: &str = "\
apiVersion: kro.run/v1alpha1
kind: ResourceGraphDefinition
metadata: {name: box}
spec: {schema: {apiVersion: v1alpha1, kind: Box, spec: {size: integer | default=1}, status: {}}}
";

/// Numbers that look random, and are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most.max(1)
    }
}

/// The files of the corpus, and of `KUBESHAPE_CORPUS` if it is set: definitions and objects.
fn real_files() -> Vec<String> {
    let own = kubeshape_corpus::files().unwrap().into_iter().step_by(kubeshape_corpus::one_in(25));
    let mut out: Vec<String> = own.filter_map(|file| String::from_utf8(file.bytes).ok()).collect();
    // Other line breaks are lines of the protocol, too, and of this test they are not.
    let is_plain =
        |text: &String| text.contains("apiVersion") && !text.contains(['\r', '\u{FEFF}']) && !text.contains("{{");
    out.retain(is_plain);
    out.extend([XRD, GRAPH, POLICIES].map(str::to_owned));
    let Some(folder) = kubeshape_corpus::folder_named_by("KUBESHAPE_CORPUS") else { return out };
    let mut todo = ["crds", "objects-versions", "policies", "suites"].map(|name| folder.join(name)).to_vec();
    let mut paths = Vec::new();
    while let Some(folder) = todo.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                todo.push(path);
            } else if path.extension().is_some_and(|extension| extension == "yaml") {
                paths.push(path);
            }
        }
    }
    paths.sort();
    let some = paths.iter().step_by((paths.len() / 300).max(1) * kubeshape_corpus::one_in(10));
    let texts = some.filter_map(|path| std::fs::read_to_string(path).ok());
    out.extend(texts.filter(is_plain).filter(|text| text.len() < 100_000));
    out
}

#[test]
fn after_random_edits_diagnostics_are_those_of_the_commands() {
    const WORDS: [&str; 12] = ["x", "\n", "---\n", ": ", "'", "{", "- ", "#", " ", "é", "1", "\n\n"];
    let folder = Folder::new();
    let mut editor = Editor::start(&folder, &[]);
    let mut numbers = Numbers(48);
    let (mut names, mut shown) = (Vec::new(), std::collections::BTreeMap::new());
    for (number, text) in real_files().into_iter().enumerate() {
        let name = format!("{number}.yaml");
        editor.open(&name, &text);
        let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
        let mut found = Vec::new();
        for version in 2..6 {
            let line = numbers.below(lines.len());
            let count = lines[line].trim_end().chars().count();
            let column = numbers.below(count + 1);
            let removed = numbers.below(3).min(count - column);
            let word = WORDS[numbers.below(WORDS.len())];
            let units = |n: usize| lines[line].chars().take(n).map(char::len_utf16).sum::<usize>() as u64;
            let range = [line as u64, units(column), line as u64, units(column + removed)];
            found = editor.change(&name, version, Some(range), word);
            let mut whole: Vec<char> = lines[line].chars().collect();
            whole.splice(column..column + removed, word.chars());
            lines[line] = whole.into_iter().collect();
            lines = lines.concat().split_inclusive('\n').map(str::to_owned).collect();
        }
        folder.write(&name, lines.concat());
        shown.insert(name.clone(), data(&found));
        let uri = editor.uri(&name);
        editor.notify("textDocument/didClose", &serde_json::json!({ "textDocument": { "uri": uri } }));
        names.push(name);
    }
    assert!(names.len() > 10);
    for name in &names {
        let lines = [format!("validate --output-format json {name}"), format!("check --output-format json {name}")];
        let mut expected = printed(&folder, &[&lines[0], &lines[1]]);
        // What is said only of files on the command line.
        expected.retain(|finding| !finding["line"].is_null() && folder.read(name).contains("apiVersion"));
        assert_eq!(shown[name], expected, "{name}: {}", folder.read(name));
    }
}
