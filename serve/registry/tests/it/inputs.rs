//! Inputs that are added, changed and removed.

use crate::common::{PODS, WIDGETS, input, registry};
use kubeshape_registry::{Gvk, Kind, Registry};
use proptest::prelude::*;
use std::sync::Arc;

const SCHEMA: &str = "types: [{name: widget, map: {fields: [{name: spec, type: {scalar: numeric}}]}}]";

fn other_widgets() -> String {
    WIDGETS.replace("replicas: {type: integer}", "replicas: {type: string}")
}

/// Returns all results of a registry that can be compared.
fn answers(registry: &Registry) -> Vec<String> {
    let kind = |kind: &Kind| {
        let repeated = registry.repeated(kind.gvk()).map(|(_, second)| second.definition().location().to_string());
        let place = kind.definition().location();
        format!("{} in {place}, {}, {:?}, {repeated:?}", kind.gvk(), kind.type_name(), kind.resource())
    };
    let mut out: Vec<String> = registry.kinds().map(kind).collect();
    for name in ["widgets", "wd", "pod", "pods.v1"] {
        out.push(format!("{name}: {:?}", registry.by_name(name).into_iter().map(Kind::gvk).collect::<Vec<_>>()));
    }
    for name in registry.inputs() {
        out.extend(registry.findings(name).map(ToString::to_string));
    }
    out
}

#[test]
fn an_input_is_replaced_by_name() {
    let mut registry = registry(&[("a", WIDGETS)]);
    let gvk = Gvk::new("example.com/v1", "Widget");
    let object = crate::common::widget("v1", serde_json::json!({"spec": {"replicas": "many"}}));
    assert!(registry.field_set(&object).is_err());
    assert!(registry.set_input("a", input("a", &other_widgets())));
    assert!(registry.field_set(&object).is_ok());
    assert!(registry.set_input("a", input("a", PODS)));
    assert!(registry.kind(gvk).is_none());
    assert!(registry.remove("a"));
    assert!(!registry.remove("a"));
    assert!(registry.is_empty());
    assert!(!registry.set_input("a", input("a", "kind: ConfigMap")));
}

#[test]
fn a_custom_resource_precedes_a_document_and_the_first_name_the_second() {
    let document = PODS.replace("\"group\": \"\"", "\"group\": \"example.com\"").replace("Pod", "Widget");
    let mut registry = registry(&[("a", &document), ("b", WIDGETS), ("c", &other_widgets())]);
    let gvk = Gvk::new("example.com/v1", "Widget");
    let place = |registry: &Registry| registry.kind(gvk).map(|kind| kind.definition().location().to_string());
    assert_eq!(place(&registry).as_deref(), Some("b:2:1"));
    let (first, second) = registry.repeated(gvk).expect("two");
    let inputs = (first.definition().location().input(), second.definition().location().input());
    assert_eq!((&**inputs.0, &**inputs.1), ("b", "c"));
    registry.remove("b");
    assert_eq!(place(&registry).as_deref(), Some("c:2:1"));
    assert!(registry.repeated(gvk).is_none());
    registry.remove("c");
    assert_eq!(place(&registry).as_deref(), Some("a:1:1"));
}

#[test]
fn a_type_of_an_smd_schema_can_be_assigned_to_a_kind() {
    let mut registry = registry(&[("a", SCHEMA)]);
    let gvk = Gvk::new("example.com/v1", "Widget");
    assert!(registry.kind(gvk).is_none());
    let error = registry.give_type(gvk, "widgt").expect_err("a refusal");
    assert_eq!(error.to_string(), "no schema has a type called widgt; did you mean `widget`?");
    registry.give_type(gvk, "widget").expect("a type");
    assert_eq!(registry.kind(gvk).map(Kind::type_name), Some("widget"));
    // The type follows its input.
    registry.remove("a");
    assert!(registry.kind(gvk).is_none());
    registry.set_input("a", input("a", SCHEMA));
    assert_eq!(registry.kind(gvk).map(Kind::type_name), Some("widget"));
    registry.give_all_type("widget").expect("a type");
    assert_eq!(registry.kind(Gvk::new("v1", "Pod")).map(Kind::type_name), Some("widget"));
}

#[test]
fn errors_of_an_input_are_found() {
    let broken = WIDGETS.replace("replicas: {type: integer}", "replicas: {type: integer, default: {{");
    let registry = registry(&[("a", &broken), ("b", &WIDGETS.replace("kind: Widget", "kind: [Widget]"))]);
    let found = |name: &str| registry.findings(name).map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(found("a").len(), 1);
    assert!(found("a")[0].starts_with("a:20:50: KS1001"), "{:?}", found("a"));
    assert!(found("b")[0].starts_with("b:8:52: KS1005"), "{:?}", found("b"));
}

#[test]
fn a_registry_is_shared_by_threads_and_builds_a_type_once() {
    let registry = Arc::new(registry(&[("a", WIDGETS)]));
    let object = crate::common::widget("v2", serde_json::json!({"spec": {"replicas": 3}}));
    let types = std::thread::scope(|scope| {
        let work = || {
            let kind = registry.kind(object.gvk()).expect("a kind");
            assert!(registry.field_set(&object).expect("a set").contains(".spec.replicas"));
            std::ptr::from_ref(kind.definition().types()).addr()
        };
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().expect("it ends")).collect::<Vec<_>>()
    });
    assert!(types.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn a_changed_clone_does_not_change_the_original() {
    let old = registry(&[("a", WIDGETS), ("b", PODS)]);
    let before = answers(&old);
    let mut new = old.clone();
    new.remove("a");
    assert_eq!(answers(&old), before);
    assert_eq!(answers(&new), answers(&registry(&[("b", PODS)])));
    // Unchanged parts are shared.
    let pod = Gvk::new("v1", "Pod");
    let types =
        |registry: &Registry| registry.kind(pod).map(|kind| std::ptr::from_ref(kind.definition().types()).addr());
    assert_eq!(types(&old), types(&new));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_registry_depends_only_on_its_inputs(changes in proptest::collection::vec((0_usize..4, 0_usize..6), 0..12)) {
        let texts = [WIDGETS.to_owned(), other_widgets(), PODS.to_owned(), SCHEMA.to_owned(), "kind: List\nitems: [1]".to_owned()];
        let names = ["a", "b", "c", "d"];
        let mut changed = Registry::default();
        let mut last: [Option<usize>; 4] = [None; 4];
        for (name, text) in changes {
            if let Some(content) = texts.get(text) {
                changed.set_input(names[name], input(names[name], content));
                last[name] = Some(text);
            } else {
                changed.remove(names[name]);
                last[name] = None;
            }
        }
        let fresh: Vec<(&str, &str)> =
            names.iter().zip(last).filter_map(|(name, text)| Some((*name, texts[text?].as_str()))).collect();
        prop_assert_eq!(answers(&changed), answers(&registry(&fresh)));
    }
}
