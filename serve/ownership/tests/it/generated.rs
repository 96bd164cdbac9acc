//! Generated histories of three managers: what is predicted happens, and every patch is minimal.

use crate::common::{assert_minimal, at, bare, patched};
use kubeshape_ownership::{Goal, Plan, PlanOptions, Style as Words, by_applies, hand_over};
use kubeshape_registry::{Object, Registry, Time, WriteOptions};
use proptest::prelude::*;
use serde_json::{Value as Json, json};
use std::sync::OnceLock;

const MANAGERS: [&str; 3] = ["one", "two", "three"];

fn registry() -> &'static Registry {
    static REGISTRY: OnceLock<Registry> = OnceLock::new();
    REGISTRY.get_or_init(|| {
        let mut registry = Registry::default();
        let text = b"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tabs.example.com}
spec:
  group: example.com
  scope: Cluster
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
              a: {type: integer}
              b: {type: integer}
              map: {type: object, additionalProperties: {type: integer}}
              atomic: {type: array, items: {type: integer}}
              set: {type: array, x-kubernetes-list-type: set, items: {type: integer}}
              items:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items:
                  type: object
                  required: [name]
                  properties:
                    name: {type: string}
                    x: {type: integer}
                    z: {type: integer}
";
        registry.set_input("tabs", kubeshape_input::read("tabs.yaml", text, kubeshape_input::Limits::default()));
        registry
    })
}

/// A part of a specification.
fn spec() -> impl Strategy<Value = Json> {
    let number = 0..3_i32;
    let item = (prop_oneof![Just("p"), Just("q")], prop::option::of(number.clone()), prop::option::of(number.clone()));
    let items = prop::collection::vec(item, 0..3).prop_map(|items| {
        let mut out: Vec<Json> = Vec::new();
        for (name, x, z) in items {
            if out.iter().any(|item| item["name"] == name) {
                continue;
            }
            let mut item = json!({"name": name});
            if let Some(x) = x {
                item["x"] = json!(x);
            }
            if let Some(z) = z {
                item["z"] = json!(z);
            }
            out.push(item);
        }
        out
    });
    let map = prop::collection::btree_map(prop_oneof![Just("k/1"), Just("k~2"), Just("k3")], number.clone(), 0..3);
    let set = prop::collection::btree_set(number.clone(), 0..3);
    let list = prop::collection::vec(number.clone(), 0..3);
    let of = (
        prop::option::of(number.clone()),
        prop::option::of(number),
        prop::option::of(map),
        prop::option::of(list),
        prop::option::of(set),
        prop::option::of(items),
    );
    of.prop_map(|(a, b, map, atomic, set, items)| {
        let mut spec = json!({});
        let mut put = |key: &str, value: Option<Json>| {
            if let Some(value) = value {
                spec[key] = value;
            }
        };
        put("a", a.map(Json::from));
        put("b", b.map(Json::from));
        put("map", map.map(|map| json!(map)));
        put("atomic", atomic.map(|list| json!(list)));
        put("set", set.map(|set| json!(set)));
        put("items", items.map(Json::from));
        spec
    })
}

fn tab(spec: Json) -> Object {
    Object::from(json!({"apiVersion": "example.com/v1", "kind": "Tab", "metadata": {"name": "t"}, "spec": spec}))
}

/// A write: the manager, whether it applies, whether by force, and the specification.
type Write = (usize, bool, bool, Json);

fn writes() -> impl Strategy<Value = Vec<Write>> {
    prop::collection::vec((0..3_usize, any::<bool>(), any::<bool>(), spec()), 1..6)
}

/// Returns the object after the writes. Those that conflict change nothing.
fn after(writes: &[Write]) -> Option<Object> {
    let registry = registry();
    let mut live: Option<Object> = None;
    for (step, (manager, applies, force, spec)) in writes.iter().enumerate() {
        let options = WriteOptions::new(MANAGERS[*manager], at(step)).force(*force);
        let new = tab(spec.clone());
        let written = match &live {
            live if *applies => registry.apply(live.as_ref(), &new, &options),
            None => registry.create(&new, &options),
            Some(live) => {
                let mut whole = live.value().clone();
                for (key, value) in spec.as_object().into_iter().flatten() {
                    whole["spec"][key] = value.clone();
                }
                registry.update(live, &Object::from(whole), &options)
            }
        };
        if let Ok(written) = written {
            let mut written = written.into_value();
            written["metadata"]["resourceVersion"] = json!(step.to_string());
            live = Some(Object::from(written));
        }
    }
    live
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(kubeshape_corpus::cases(1000)))]

    #[test]
    fn what_a_plan_predicts_happens(writes in writes(), next in spec(), manager in 0..3_usize) {
        let registry = registry();
        let Some(live) = after(&writes) else { return Ok(()) };
        let config = tab(next);
        let options = PlanOptions { style: Words::Server, ..PlanOptions::new(MANAGERS[manager], Time(0)) };
        let plan = Plan::new(registry, std::slice::from_ref(&live), std::slice::from_ref(&config), &options);
        let planned = &plan.objects[0];
        match registry.apply(Some(&live), &config, &WriteOptions::new(MANAGERS[manager], Time(0))) {
            Err(error) => {
                prop_assert_eq!(planned.error.as_ref().map(ToString::to_string), Some(error.to_string()));
                prop_assert_eq!(planned.conflicts().len(), error.conflicts().len());
            }
            Ok(applied) => {
                prop_assert!(planned.error.is_none());
                if bare(&applied) == bare(&live) {
                    prop_assert_eq!(&planned.changes, &[]);
                }
                // What stays is still there, and what the other managers own.
                for kept in &planned.kept {
                    let owners = applied.owners().unwrap();
                    let found = owners.iter().filter(|owner| owner.fields.contains(&kept.path)).count();
                    prop_assert_eq!(found > 0, !kept.owners.is_empty());
                }
                // The next applies do what is predicted.
                for next in &planned.next {
                    let Ok(Some(last)) = registry.extract(&live, &next.manager, "") else { continue };
                    let again = registry.apply(Some(&applied), &last, &WriteOptions::new(&*next.manager, Time(1)));
                    prop_assert_eq!(again.is_err(), next.conflicts);
                }
            }
        }
    }

    #[test]
    fn after_a_hand_over_the_apply_succeeds_and_the_patch_is_minimal(
        writes in writes(),
        next in spec(),
        (from, to) in (0..3_usize, 0..3_usize),
        way in 0..3_usize,
    ) {
        let registry = registry();
        let Some(live) = after(&writes) else { return Ok(()) };
        let config = tab(next);
        let (from, to) = (MANAGERS[from].to_owned(), MANAGERS[to].to_owned());
        let goal = match way {
            0 => Goal::Resolve { to: to.clone(), from: Vec::new() },
            1 => Goal::Give { from: vec![from], to: to.clone(), fields: vec![".spec.items".to_owned(), "spec.a".to_owned()] },
            _ => Goal::Give { from: vec![from], to: to.clone(), fields: Vec::new() },
        };
        let Ok(Some(found)) = hand_over(registry, &live, Some(&config), &goal, Time(0)) else { return Ok(()) };
        let handed = patched(registry, &live, &found.operations);
        prop_assert!(handed.is_some(), "{}", found.patch());
        let handed = handed.unwrap();
        prop_assert_eq!(bare(&handed), bare(&live));
        assert_minimal(registry, &live, &found, "generated");
        let applied = registry.apply(Some(&handed), &config, &WriteOptions::new(&*to, Time(1)));
        let check = found.checks.iter().find(|check| check.manager == to);
        prop_assert!(check.is_none_or(|check| check.is_fine() == applied.is_ok()), "{:?} {:?}", check, applied);
        let forced = registry.apply(Some(&live), &config, &WriteOptions::new(&*to, Time(1)).force(true)).unwrap();
        if matches!(goal, Goal::Resolve { .. }) {
            prop_assert!(applied.is_ok(), "{:?} after {}", applied, found.patch());
            prop_assert_eq!(bare(&applied.unwrap()), bare(&forced));
        }
        // Applies do the same, or it is said that they cannot.
        let Ok(by_applies) = by_applies(registry, &live, Some(&config), &goal, found, Time(0)) else { return Ok(()) };
        let mut object = live.clone();
        for apply in &by_applies.applies {
            let options = WriteOptions::new(&*apply.manager, Time(1)).force(apply.force);
            object = registry.apply(Some(&object), &apply.config, &options).unwrap();
        }
        let again = registry.apply(Some(&object), &config, &WriteOptions::new(&*to, Time(2)));
        if matches!(goal, Goal::Resolve { .. }) {
            prop_assert_eq!(bare(&again.unwrap()), bare(&forced));
        } else {
            prop_assert_eq!(bare(&object), bare(&live));
            prop_assert!(!by_applies.is_proven() || again.is_ok(), "{:?}", again);
        }
    }
}

const SCHEMA: &str = r#"{"types": [
  {"name": "tab", "map": {"fields": [
    {"name": "apiVersion", "type": {"scalar": "string"}}, {"name": "kind", "type": {"scalar": "string"}},
    {"name": "metadata", "type": {"namedType": "any"}}, {"name": "spec", "type": {"namedType": "spec"}}]}},
  {"name": "spec", "map": {"fields": [
    {"name": "a", "type": {"scalar": "numeric"}}, {"name": "b", "type": {"scalar": "numeric"}},
    {"name": "map", "type": {"map": {"elementType": {"scalar": "numeric"}}}},
    {"name": "atomic", "type": {"list": {"elementType": {"scalar": "numeric"}, "elementRelationship": "atomic"}}},
    {"name": "set", "type": {"list": {"elementType": {"scalar": "numeric"}, "elementRelationship": "associative"}}},
    {"name": "items", "type": {"list": {"elementType": {"namedType": "item"}, "elementRelationship": "associative",
      "keys": ["name"]}}}]}},
  {"name": "item", "map": {"fields": [{"name": "name", "type": {"scalar": "string"}},
    {"name": "x", "type": {"scalar": "numeric"}}, {"name": "z", "type": {"scalar": "numeric"}}]}},
  {"name": "any", "scalar": "untyped", "list": {"elementType": {"namedType": "any"}, "elementRelationship": "atomic"},
    "map": {"elementType": {"namedType": "any"}}}]}"#;

/// Returns a step of a scenario: an apply and what is expected of it.
fn step(live: &Object, config: &Object, manager: &str) -> Json {
    let options = PlanOptions { style: Words::Server, ..PlanOptions::new(manager, Time(0)) };
    let plan = Plan::new(registry(), std::slice::from_ref(live), std::slice::from_ref(config), &options);
    let mut conflicts: Vec<Json> = plan.objects[0]
        .conflicts()
        .iter()
        .map(|conflict| json!({"manager": conflict.manager, "field": conflict.path}))
        .collect();
    conflicts.sort_by_key(Json::to_string);
    let expect = if conflicts.is_empty() {
        let applied = registry().apply(Some(live), config, &WriteOptions::new(manager, Time(0))).expect("no conflict");
        json!({"object": bare(&applied)})
    } else {
        json!({"conflicts": conflicts})
    };
    json!([{"set": live.value()}, {"apply": config.value(), "manager": manager, "expect": expect}])
}

/// Asks structured-merge-diff itself, if `KUBESHAPE_SMD_ORACLE` names the program of `conformance/smd-oracle`.
#[test]
fn structured_merge_diff_agrees_with_the_predictions() {
    let Some(program) = std::env::var_os("KUBESHAPE_SMD_ORACLE") else {
        use std::io::Write;
        let _ = writeln!(std::io::stderr(), "not checked: KUBESHAPE_SMD_ORACLE names no program");
        return;
    };
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let histories = (writes(), spec(), 0..3_usize, 0..3_usize);
    let mut scenarios: Vec<Json> = Vec::new();
    let mut handed_over = 0;
    while scenarios.len() < 2000 {
        let tree = histories.new_tree(&mut runner).expect("a history");
        let (writes, next, manager, from) = proptest::strategy::ValueTree::current(&tree);
        let Some(live) = after(&writes) else { continue };
        let (config, manager) = (tab(next), MANAGERS[manager]);
        let mut add = |live: &Object| {
            scenarios.push(json!({
                "scenario": format!("history {}", scenarios.len()),
                "schemas": [serde_json::from_str::<Json>(SCHEMA).expect("JSON")],
                "types": {"example.com/v1 Tab": "tab"},
                "steps": step(live, &config, manager),
            }));
        };
        add(&live);
        let goal = if writes.len() % 2 == 0 {
            Goal::Resolve { to: manager.to_owned(), from: Vec::new() }
        } else {
            Goal::Give { from: vec![MANAGERS[from].to_owned()], to: manager.to_owned(), fields: Vec::new() }
        };
        if let Ok(Some(found)) = hand_over(registry(), &live, Some(&config), &goal, Time(0)) {
            add(&found.after);
            handed_over += 1;
        }
    }
    assert!(handed_over > 200, "{handed_over}");
    let folder = std::env::temp_dir().join(format!("kubeshape-ownership-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("histories.yaml");
    let text: Vec<String> = scenarios.iter().map(Json::to_string).collect();
    std::fs::write(&file, text.join("\n---\n")).expect("a file");
    let run = std::process::Command::new(program).args(["scenario", "-update"]).arg(&file).output().expect("it runs");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let (answered, _) = Object::read_all("histories.yaml", std::fs::read(&file).expect("a file"));
    std::fs::remove_dir_all(folder).expect("the folder");
    assert_eq!(answered.len(), scenarios.len());
    for (answer, scenario) in answered.iter().zip(&scenarios) {
        let (mut found, expected) = (answer.value()["steps"][1]["expect"].clone(), &scenario["steps"][1]["expect"]);
        if let Some(conflicts) = found.get_mut("conflicts").and_then(Json::as_array_mut) {
            conflicts.sort_by_key(Json::to_string);
        }
        assert_eq!(found, *expected, "{scenario}");
    }
}
