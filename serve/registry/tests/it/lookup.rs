//! Kinds by their names.

use crate::common::{PODS, WIDGETS, registry, widget};
use kubeshape_registry::kind::Scope;
use kubeshape_registry::{Gvk, Kind, Registry, Request, Requests};

fn found(registry: &Registry, name: &str) -> Vec<String> {
    registry.by_name(name).into_iter().map(|kind| format!("{} {}", kind.api_version(), kind.kind())).collect()
}

#[test]
fn a_kind_is_found_by_every_name_of_its_resource() {
    let registry = registry(&[("widgets", WIDGETS)]);
    let both = ["example.com/v2 Widget", "example.com/v1 Widget"];
    for name in ["widgets", "widget", "wd", "Widget", "WIDGET", "widgets.example.com", "wd.example.com"] {
        assert_eq!(found(&registry, name), both, "{name}");
    }
    assert_eq!(found(&registry, "widgets.v1.example.com"), ["example.com/v1 Widget"]);
    for name in ["gadgets", "widgets.other.com", "widgets.v3.example.com", "", "."] {
        assert!(found(&registry, name).is_empty(), "{name}");
    }
}

#[test]
fn a_custom_resource_describes_its_resource_completely() {
    let registry = registry(&[("widgets", WIDGETS)]);
    let kind = registry.kind(Gvk::new("example.com/v2", "Widget")).expect("a kind");
    let resource = kind.resource().expect("a resource");
    assert_eq!((&*resource.plural, &*resource.singular, resource.scope), ("widgets", "widget", Scope::Namespaced));
    assert_eq!(resource.list_kind.as_deref(), Some("WidgetList"));
    assert_eq!(resource.subresources, ["status".into(), "scale".into()]);
    let version = kind.version().expect("a version");
    assert!(version.served && version.storage && !version.deprecated);
    assert_eq!((&*version.columns[0].name, &*version.columns[0].json_path), ("Replicas", ".spec.replicas"));
    assert_eq!(version.scale.as_ref().map(|scale| &*scale.spec_replicas_path), Some(".spec.replicas"));
    assert_eq!(
        registry.of_category("all").map(Kind::api_version).collect::<Vec<_>>(),
        ["example.com/v1", "example.com/v2"]
    );
}

#[test]
fn a_document_describes_the_resources_in_its_paths() {
    let registry = registry(&[("core", PODS)]);
    let kind = registry.kind(Gvk::new("v1", "Pod")).expect("a kind");
    let resource = kind.resource().expect("a resource");
    assert_eq!((&*resource.plural, resource.scope), ("pods", Scope::Namespaced));
    assert_eq!(resource.subresources, ["status".into()]);
    // A document may have only some of the paths.
    assert_eq!(kind.subresources(), None);
    assert_eq!(kind.reset_fields(""), ["status"]);
    assert_eq!(found(&registry, "pods"), ["v1 Pod"]);
    assert_eq!(found(&registry, "pods.v1"), ["v1 Pod"]);
}

#[test]
fn an_unknown_kind_is_reported_with_similar_names() {
    let registry = registry(&[("widgets", WIDGETS)]);
    let error = |api_version, kind| {
        registry.expect(Gvk::new(api_version, kind)).map(Kind::kind).expect_err("a refusal").to_string()
    };
    assert_eq!(error("example.com/v1", "Widgt"), "found \"Widgt\" of \"example.com/v1\"; did you mean `Widget`?");
    assert_eq!(
        error("example.com/v3", "Widget"),
        "found \"Widget\" of \"example.com/v3\"; the schemas have example.com/v1, example.com/v2"
    );
    assert_eq!(error("", ""), "the object has no apiVersion and kind");
    assert_eq!(
        Registry::default().expect(Gvk::new("v1", "Pod")).map(Kind::kind).expect_err("a refusal").to_string(),
        "found \"Pod\" of \"v1\", and there are no schemas"
    );
}

#[test]
fn the_declaration_of_a_field_has_a_place() {
    let registry = registry(&[("widgets", WIDGETS), ("core", PODS)]);
    let kind = registry.kind(Gvk::new("example.com/v1", "Widget")).expect("a kind");
    let declared = kind.declared("/spec/ports/0/number").expect("a place");
    assert_eq!(
        declared.pointer(),
        "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/ports/items/properties/number"
    );
    assert_eq!(declared.to_string(), "widgets:29:40");
    assert_eq!(kind.declared("/spec/nothing"), None);
    let pod = registry.kind(Gvk::new("v1", "Pod")).expect("a kind");
    let declared = pod.declared("/spec/image").expect("a place");
    assert_eq!(declared.pointer(), "/components/schemas/a.Pod/properties/spec/properties/image");
}

#[test]
fn many_declarations_are_found_with_work_in_proportion() {
    let registry = registry(&[("widgets", WIDGETS), ("core", PODS)]);
    let pointers =
        ["", "/spec", "/spec/ports/0/number", "/spec/ports/0", "/spec/nothing/a", "/spec/image", "x", "/a~1b"];
    for gvk in [Gvk::new("example.com/v1", "Widget"), Gvk::new("v1", "Pod")] {
        let kind = registry.kind(gvk).expect("a kind");
        let mut declarations = kind.declarations();
        for pointer in pointers.iter().chain(&pointers) {
            assert_eq!(declarations.at(pointer), kind.declared(pointer), "{pointer}");
        }
    }
    let work = |count: usize| {
        let fields: Vec<String> = (0..count).map(|at| format!("f{at}: {{type: string}}")).collect();
        let all = format!("properties: {{spec: {{type: object, properties: {{{}}}}}}}", fields.join(", "));
        let text = format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: \
             tabs.example.com}}\nspec:\n  group: example.com\n  scope: Cluster\n  names: {{plural: tabs, kind: \
             Tab}}\n  versions: [{{name: v1, served: true, storage: true, schema: {{openAPIV3Schema: {{type: object, \
             {all}}}}}}}]"
        );
        let registry = self::registry(&[("tabs", &text)]);
        let kind = registry.kind(Gvk::new("example.com/v1", "Tab")).expect("a kind");
        let mut declarations = kind.declarations();
        for at in 0..count {
            assert!(declarations.at(&format!("/spec/f{at}")).is_some(), "{at}");
        }
        declarations.work()
    };
    assert!(work(1_000) < 4 * 1_000, "{}", work(1_000));
    assert!(work(2_000) < 2 * work(1_000) + 10);
}

/// A kind of an OpenAPI document, and the discovery document in the same input.
const TABS: &str = r#"
{"openapi": "3.0.0", "info": {"title": "", "version": ""}, "paths": {}, "components": {"schemas": {
  "tabs.Tab": {"type": "object", "properties": {"size": {"type": "integer"}},
    "x-kubernetes-group-version-kind": [{"group": "example.com", "kind": "Tab", "version": "v1"}]}}}}
---
{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "example.com/v1", "resources": [
  {"name": "tabs", "singularName": "tab", "namespaced": true, "kind": "Tab", "verbs": ["get"],
   "shortNames": ["tb"], "categories": ["all"]}]}
"#;

#[test]
fn a_discovery_document_adds_short_names_to_the_kinds_of_a_document() {
    let read = || kubeshape_input::read("tabs", TABS.as_bytes(), kubeshape_input::Limits::default());
    let mut registry = Registry::default();
    assert!(registry.set_built_in("tabs", read()));
    for name in ["tb", "tabs", "tab", "tabs.example.com"] {
        assert_eq!(registry.by_name(name).len(), 1, "{name}");
    }
    assert_eq!(registry.of_category("all").count(), 1);
    assert!(registry.remove("tabs") && registry.is_empty());
}

#[test]
fn every_other_definition_precedes_a_built_in_one() {
    let read = |name: &str| kubeshape_input::read(name, TABS.as_bytes(), kubeshape_input::Limits::default());
    let mut registry = Registry::default();
    registry.set_built_in("a", read("a").without_lines());
    let gvk = Gvk::new("example.com/v1", "Tab");
    assert!(registry.kind(gvk).is_some_and(|kind| kind.definition().is_built_in()));
    assert_eq!(registry.kind(gvk).map(|kind| kind.definition().location().to_string()), Some("a".to_owned()));
    registry.set_input("b", read("b"));
    assert!(registry.kind(gvk).is_some_and(|kind| !kind.definition().is_built_in()));
    // That is the purpose of built-in kinds, and deserves no warning.
    assert!(registry.repeated(gvk).is_none());
}

#[test]
fn a_kind_is_prepared_once_and_outlives_its_input() {
    let mut registry = registry(&[("widgets", WIDGETS)]);
    let requests = |registry: &Registry| registry.kind(Gvk::new("example.com/v2", "Widget")).and_then(Kind::requests);
    let first = requests(&registry).expect("a custom resource");
    let widget = widget("v2", serde_json::json!({"spec": {"replicas": "many"}}));
    let errors = |requests: &Requests| {
        let judged = requests.judge(Request::Create(&widget)).expect("it decodes");
        judged.errors.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let expected = errors(&first);
    assert!(expected.iter().any(|error| error.starts_with("spec.replicas: Invalid value")), "{expected:?}");
    let judged = registry.judge(Request::Create(&widget)).expect("it decodes");
    assert_eq!(judged.errors.len(), expected.len());
    assert!(std::ptr::eq(first.resource(), requests(&registry).expect("the same").resource()));
    registry.remove("widgets");
    assert!(requests(&registry).is_none());
    assert_eq!(errors(&first), expected);
}
