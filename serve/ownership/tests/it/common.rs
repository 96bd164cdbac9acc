//! What several tests need.

use kubeshape_ownership::HandOver;
use kubeshape_registry::{Object, Registry, Time, Verb, WriteOptions, merge_patch};
use kubeshape_smd::managed::entries;
use kubeshape_smd::{Bump, ToValue};
use serde_json::Value as Json;
use std::sync::OnceLock;

/// Returns the built-in kinds of some groups.
pub(crate) fn built_in() -> &'static Registry {
    static REGISTRY: OnceLock<Registry> = OnceLock::new();
    REGISTRY.get_or_init(|| {
        let api = kubeshape_builtin::BuiltInDocuments::newest().api();
        let mut registry = Registry::default();
        let wanted = ["api/v1", "apis/apps/v1", "apis/autoscaling/v2", "apis/networking.k8s.io/v1"];
        for (path, document) in api.openapi_v3_of(|path| wanted.contains(&path)) {
            let read = kubeshape_input::read(path, document.as_bytes(), kubeshape_input::Limits::default());
            registry.set_built_in(path, read);
        }
        registry
    })
}

/// Returns the time of a step.
pub(crate) fn at(step: usize) -> Time {
    Time(946_684_800 + i64::try_from(step).unwrap())
}

/// Returns an object after a JSON merge patch.
pub(crate) fn merged(live: &Object, patch: &Json) -> Object {
    let arena = Bump::new();
    Object::of(merge_patch::apply(live.to_value(&arena), patch.to_value(&arena), &arena))
}

/// Returns an object after a JSON patch, as a server stores it; `None` if the patch is refused.
pub(crate) fn patched(registry: &Registry, live: &Object, operations: &[Json]) -> Option<Object> {
    let arena = Bump::new();
    let operations = Json::from(operations);
    let patch = operations.to_value(&arena);
    let new = kubeshape_policy::json_patch::json_patch(live.to_value(&arena), patch, &arena).ok()?;
    registry.update(live, &Object::of(new), &WriteOptions::new("patch", at(900))).ok()
}

/// Returns an object without its managed fields.
pub(crate) fn bare(object: &Object) -> Json {
    let mut value = object.value().clone();
    if let Some(metadata) = value.get_mut("metadata").and_then(Json::as_object_mut) {
        metadata.remove("managedFields");
    }
    value
}

/// Returns the owners of an object as text, without times.
pub(crate) fn owners(object: &Object) -> Vec<String> {
    let arena = Bump::new();
    let list = object.value().pointer("/metadata/managedFields").cloned().unwrap_or_default();
    let managed = entries::decode(Some(list.to_value(&arena)), &arena).expect("managed fields");
    managed.fields.iter().map(|(name, fields)| format!("{name} {}", fields.set.to_json().unwrap())).collect()
}

/// Checks that every operation of a patch is needed: without it, the patch fails or leads to other owners.
pub(crate) fn assert_minimal(registry: &Registry, live: &Object, found: &HandOver, what: &str) {
    let goal = owners(&found.after);
    for at in 0..found.operations.len() {
        let mut fewer = found.operations.clone();
        let removed = fewer.remove(at);
        if removed["op"] == "test" {
            continue;
        }
        let reached = patched(registry, live, &fewer).is_some_and(|after| owners(&after) == goal);
        assert!(!reached, "{what}: {removed} is not needed in {}", found.patch());
    }
}

/// Applies as `kubectl apply` does.
pub(crate) fn client_side(registry: &Registry, live: Option<&Object>, config: &Object, step: usize) -> Object {
    let arena = Bump::new();
    let endpoint = registry.endpoint(config.gvk(), "", &arena).expect("a kind");
    let options = WriteOptions::new(kubeshape_registry::CLIENT_SIDE_MANAGER, at(step));
    let before = live.map(|live| endpoint.read(live.to_value(&arena), &arena).value);
    Object::of(endpoint.client_side_apply(before, config.to_value(&arena), &options, &arena).expect("a patch"))
}

/// Sends a write.
pub(crate) fn write(
    registry: &Registry,
    verb: Verb,
    live: Option<&Object>,
    new: &Object,
    options: &WriteOptions,
) -> Result<Object, kubeshape_registry::Error> {
    match (verb, live) {
        (Verb::Apply, live) => registry.apply(live, new, options),
        (Verb::Update, Some(live)) => registry.update(live, new, options),
        (Verb::Update, None) => registry.create(new, options),
    }
}
