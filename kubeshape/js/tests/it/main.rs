//! Tests of the session.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test fails where a value is missing")]

use kubeshape_js::Session;

const TABS: &str = "\
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
            properties:
              size: {type: integer, maximum: 9, nullable: true, description: How large it is.}
              boxRef: {type: object, properties: {name: {type: string}}}
              ports:
                type: array
                maxItems: 4
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [number]
                items:
                  type: object
                  required: [number]
                  properties: {number: {type: integer}, colour: {type: string, default: red}}
                  x-kubernetes-validations: [{rule: self.number > 0, message: must be positive}]
";

fn session() -> Session {
    let mut session = Session::default();
    assert_eq!(session.set("tabs.yaml", TABS.as_bytes()).to_string(), "[]");
    session
}

fn index(session: &mut Session, path: &str) -> usize {
    let tree = session.tree("example.com/v1", "Tab");
    tree["paths"].as_array().unwrap().iter().position(|own| own == path).unwrap()
}

#[test]
fn a_field_has_its_facts_its_ownership_and_the_costs_of_rules_about_its_items() {
    let mut session = session();
    let at = index(&mut session, ".spec.ports");
    let field = session.field("example.com/v1", "Tab", at);
    assert_eq!(field["merge"], "Items merge by number: each item has its own owners.");
    let rule = &field["rules"][0];
    assert_eq!((rule["about"].as_str(), rule["rule"].as_str()), (Some("each item"), Some("self.number > 0")));
    assert_eq!(rule["cost"]["times"], 4);
    assert_eq!(field["copies"]["jq"], ".spec.ports");
    assert_eq!(field["declared"]["line"], 22);
    let at = index(&mut session, ".spec.size");
    let field = session.field("example.com/v1", "Tab", at);
    assert_eq!(field["facts"].to_string(), r#"[["nullable","yes"],["maximum","9"]]"#);
    assert!(field["losses"][0].as_str().unwrap().contains("nullable"));
}

#[test]
fn names_and_descriptions_are_searched() {
    let mut session = session();
    let at = index(&mut session, ".spec.size");
    assert_eq!(session.search("example.com/v1", "Tab", "LARGE how").to_string(), format!("[{at}]"));
    assert_eq!(session.search("example.com/v1", "Tab", "").to_string(), "[]");
}

#[test]
fn every_shape_says_where_a_field_is() {
    let session = session();
    for shape in ["source", "v3", "v2", "smd", "json-schema"] {
        let made = session.shape("example.com/v1", "Tab", shape);
        let text = made["text"].as_str().unwrap();
        let found = session.locate("example.com/v1", "Tab", shape, text, ".spec.ports[].colour");
        let range = found[0].as_u64().unwrap() as usize..found[1].as_u64().unwrap() as usize;
        assert!(text[range].contains("colour"), "{shape}: {found}");
    }
    assert!(session.shape("example.com/v1", "Box", "v3")["error"].is_string());
    let merge_keys = session.shape("example.com/v1", "Tab", "kustomize");
    assert!(
        merge_keys["text"].as_str().unwrap().contains(r#""x-kubernetes-patch-merge-key": "number""#),
        "{merge_keys}"
    );
    let text = merge_keys["text"].as_str().unwrap();
    assert!(session.locate("example.com/v1", "Tab", "kustomize", text, ".spec.ports").is_array());
}

#[test]
fn an_object_is_judged_at_its_lines() {
    let mut session = session();
    let text = "apiVersion: example.com/v1\nkind: Tab\nmetadata: {name: a}\nspec:\n  size: 10\n  sise: 1\n  ports: [{number: 1}]\n";
    let judged = session.judge("a.yaml", text, "1.34");
    assert_eq!(judged["objects"][0]["accepted"], false);
    let lines: Vec<u64> =
        judged["findings"].as_array().unwrap().iter().filter_map(|one| one["line"].as_u64()).collect();
    assert_eq!(lines, [6, 5]);
    assert!(judged["objects"][0]["stored"].as_str().unwrap().contains("colour: red"));
    assert!(session.judge("a.yaml", text, "2.0")["error"].is_string());
    let unknown = session.judge("a.yaml", "{apiVersion: v1, kind: Box, metadata: {name: a}}", "1.34");
    assert_eq!(unknown["objects"][0]["judged"], false);
}

#[test]
fn two_managers_are_in_conflict_until_one_forces_it() {
    let session = session();
    let tab =
        |size: u8| format!("{{apiVersion: example.com/v1, kind: Tab, metadata: {{name: a}}, spec: {{size: {size}}}}}");
    let (one, two) = (tab(1), tab(2));
    let applied = session.apply(["alice", &one], ["bob", &two], false);
    assert_eq!(applied["conflicts"][0]["path"], ".spec.size");
    let forced = session.apply(["alice", &one], ["bob", &two], true);
    assert!(forced["error"].is_null() && forced["text"].as_str().unwrap().contains("size: 2"), "{forced}");
}

#[test]
fn a_change_has_its_class_its_witness_and_its_field() {
    let compared = session().compare(TABS, &TABS.replace("maximum: 9", "maximum: 3"));
    let definition = &compared["definitions"][0];
    assert_eq!(definition["class"], "breaking");
    let change = &definition["changes"][0];
    assert_eq!((change["field"].as_str(), change["newLine"].as_u64()), (Some(".spec.size"), Some(19)));
    assert!(change["witness"]["text"].as_str().unwrap().contains("size: "), "{change}");
}

#[test]
fn the_fields_of_another_text_are_a_tree() {
    let next = TABS.replace("size: {type: integer, maximum: 9", "wide: {type: integer, maximum: 9");
    let tree = session().tree_of(&next, "example.com/v1", "Tab");
    assert!(tree["paths"].as_array().unwrap().contains(&".spec.wide".into()), "{tree}");
    assert!(session().tree_of("a: 1", "example.com/v1", "Tab")["error"].is_string());
}

#[test]
fn a_deprecated_field_has_a_lifecycle_and_a_mark() {
    let mut session = Session::default();
    session.set("tabs.yaml", TABS.replace("How large it is.", "\"Deprecated: use ports.\"").as_bytes());
    let at = index(&mut session, ".spec.size");
    assert_eq!(session.field("example.com/v1", "Tab", at)["lifecycle"], "Deprecated: use ports.");
    let lifecycle = "x-kubernetes-api-lifecycle: {kubernetes: {minVersion: v1.20, status: alpha, featureGate: Wide}}";
    let staged = TABS.replace("size: {type: integer", &format!("size: {{{lifecycle}, type: integer"));
    let mut other = Session::default();
    other.set("tabs.yaml", staged.as_bytes());
    let field = other.field("example.com/v1", "Tab", at);
    assert_eq!(field["lifecycle"], "alpha since v1.20, behind the feature gate Wide");
    let tree = session.tree("example.com/v1", "Tab");
    let bit = tree["marksOf"].as_array().unwrap().iter().position(|mark| mark == "deprecated").unwrap();
    assert_eq!(tree["marks"][at].as_u64().unwrap() >> bit & 1, 1);
}

#[test]
fn a_definition_is_checked_by_release() {
    let checked = session().check("tabs.yaml", "1.30..1.31");
    assert_eq!(checked["definitions"][0]["releases"].as_array().unwrap().len(), 2);
    assert_eq!(checked["definitions"][0]["accepted"], true);
}

#[test]
fn kinds_refer_to_kinds() {
    let mut session = session();
    session.set("boxes.yaml", TABS.replace("tabs", "boxes").replace("Tab", "Box").as_bytes());
    assert_eq!(session.drawing("").mermaid(), "graph LR\n  n0[\"Box\"]\n  n1[\"Tab\"]\n  n1 -->|\"boxRef\"| n0\n");
}

#[test]
fn a_site_has_the_same_fields() {
    let mut session = session();
    let files = session.site_files();
    assert_eq!(files.keys().collect::<Vec<_>>(), ["index.json", "input-0", "kind-0-fields.json", "kind-0.json"]);
    let read = |name: &str| -> serde_json::Value { serde_json::from_slice(&files[name]).unwrap() };
    assert_eq!(read("kind-0.json"), session.tree("example.com/v1", "Tab"));
    assert_eq!(read("kind-0-fields.json")[3], session.field("example.com/v1", "Tab", 3));
}
