//! Whatever an object's managed fields are, reports and plans of it end. A patch that hands fields over leads to the
//! owners that it promises, changes nothing else, and has no operation that is not needed.

use kubeshape_ownership::helm::{HelmRelease, MAX_RELEASES};
use kubeshape_ownership::{Goal, Ownership, Plan, PlanOptions, hand_over};
use kubeshape_registry::{Object, Registry, Time, WriteOptions};
use kubeshape_smd::managed::entries;
use kubeshape_smd::{Bump, ToValue as _};
use serde_json::Value as Json;
use std::sync::LazyLock;

const DEFINITION: &str = "
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
            x-kubernetes-preserve-unknown-fields: true
            properties:
              set: {type: array, x-kubernetes-list-type: set, items: {type: string}}
              items:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items: {type: object, required: [name], properties: {name: {type: string}, x: {type: integer}}}
";

static REGISTRY: LazyLock<Registry> = LazyLock::new(|| {
    let mut registry = Registry::default();
    let limits = kubeshape_input::Limits::default();
    registry.set_input("tabs", kubeshape_input::read("tabs.yaml", DEFINITION.as_bytes(), limits));
    registry
});

/// Checks the property.
pub fn holds(data: &[u8]) {
    // Large inputs only make the checks of each operation slow.
    if data.len() > 1 << 14 {
        return;
    }
    let (objects, _) = Object::read_all("input", data);
    let Some(live) = objects.first() else { return };
    let config = objects.get(1);
    let _ = HelmRelease::read(live, &mut { MAX_RELEASES });
    if let Ok(report) = Ownership::of(live) {
        let owners = report.owners.len();
        let fields = report.shared.iter().chain(&report.leftovers);
        assert!(fields.flat_map(|field| &field.owners).all(|owner| *owner < owners));
    }
    for manager in ["kubectl", "helm", "argocd-controller"] {
        let configs = config.map(std::slice::from_ref).unwrap_or_default();
        let plan = Plan::new(&REGISTRY, std::slice::from_ref(live), configs, &PlanOptions::new(manager, Time(1)));
        assert_eq!(plan.objects.len(), configs.len());
    }
    let (from, to) = (vec!["a".to_owned(), "kubectl".to_owned()], "helm".to_owned());
    let goals = [
        Goal::Give { from: from.clone(), to: to.clone(), fields: Vec::new() },
        Goal::Give { from: from.clone(), to: to.clone(), fields: vec![".spec.items".to_owned(), ".spec.a".to_owned()] },
        Goal::Release { from: from.clone(), fields: vec!["spec".to_owned()] },
        Goal::MigrateClientSide { from: Vec::new(), to: to.clone() },
        Goal::Resolve { to, from: Vec::new() },
    ];
    for goal in goals {
        if let Ok(Some(found)) = hand_over(&REGISTRY, live, config, &goal, Time(1)) {
            is_right(live, &found.operations, &found.after);
        }
    }
}

fn is_right(live: &Object, operations: &[Json], after: &Object) {
    let patched = patched(live, operations).expect("the patch applies");
    let goal = owners(after).expect("its owners can be read");
    assert_eq!(owners(&patched).as_ref(), Some(&goal));
    assert_eq!(bare(&patched), bare(live));
    for at in 0..operations.len().min(20) {
        let mut fewer = operations.to_vec();
        let removed = fewer.remove(at);
        if removed["op"] != "test" {
            let reached = self::patched(live, &fewer).and_then(|patched| owners(&patched));
            assert_ne!(reached.as_ref(), Some(&goal), "{removed} is not needed");
        }
    }
}

fn patched(live: &Object, operations: &[Json]) -> Option<Object> {
    let arena = Bump::new();
    let operations = Json::from(operations);
    let patched = kubeshape_policy::json_patch::json_patch(live.to_value(&arena), operations.to_value(&arena), &arena);
    REGISTRY.update(live, &Object::of(patched.ok()?), &WriteOptions::new("patch", Time(1))).ok()
}

fn owners(object: &Object) -> Option<Vec<(String, String)>> {
    let arena = Bump::new();
    let list = object.value().pointer("/metadata/managedFields").cloned().unwrap_or_default();
    let managed = entries::decode(Some(list.to_value(&arena)), &arena).ok()?;
    managed.fields.iter().map(|(name, fields)| Some((name.to_owned(), fields.set.to_json().ok()?))).collect()
}

/// Returns the specification. A server writes metadata in its own way.
fn bare(object: &Object) -> Option<&Json> {
    object.value().get("spec")
}
