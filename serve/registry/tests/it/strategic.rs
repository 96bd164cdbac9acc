//! Strategic merge patches: each rule with the results of apimachinery's `strategicpatch`.
#![allow(clippy::unwrap_used, clippy::needless_pass_by_value, clippy::indexing_slicing, missing_docs)]

use kubeshape_builtin::BuiltInDocuments;
use kubeshape_registry::strategic::{Error, KUBECTL, ThreeWay, apply, three_way, two_way};
use kubeshape_registry::{Gvk, Registry};
use kubeshape_smd::value::Map;
use kubeshape_smd::{Bump, ToValue, Value};
use serde_json::{Value as Json, json};
use std::sync::LazyLock;

static REGISTRY: LazyLock<Registry> = LazyLock::new(|| {
    let mut registry = Registry::default();
    let release: BuiltInDocuments = "1.36".parse().unwrap();
    for (path, document) in release.api().openapi_v3_of(|path| ["api/v1", "apis/apps/v1"].contains(&path)) {
        registry
            .set_built_in(path, kubeshape_input::read(path, document.as_bytes(), kubeshape_input::Limits::default()));
    }
    registry
});

fn map<'a>(json: &'a Json, arena: &'a Bump) -> Map<'a> {
    json.to_value(arena).as_map().unwrap()
}

fn text(result: Result<Map<'_>, Error>) -> Result<Json, String> {
    result.map(|map| Value::Map(map).to_serde()).map_err(|error| error.to_string())
}

fn patched(kind: &str, live: &Json, patch: &Json) -> Result<Json, String> {
    let arena = Bump::new();
    let kind = REGISTRY.kind(Gvk::new(if kind == "Deployment" { "apps/v1" } else { "v1" }, kind)).unwrap();
    text(apply(map(live, &arena), map(patch, &arena), kind.document_schema(), &arena))
}

/// Returns the spec of a Pod after a patch.
fn pod(live: Json, patch: Json) -> Result<Json, String> {
    patched("Pod", &json!({"spec": live}), &json!({"spec": patch})).map(|pod| pod["spec"].clone())
}

fn diff(original: Json, modified: Json) -> Result<Json, String> {
    let arena = Bump::new();
    let kind = REGISTRY.kind(Gvk::new("v1", "Pod")).unwrap();
    text(two_way(map(&original, &arena), map(&modified, &arena), kind.document_schema(), &arena))
}

fn kubectl(original: Json, modified: Json, current: Json, overwrite: bool) -> Result<Json, String> {
    let arena = Bump::new();
    let kind = REGISTRY.kind(Gvk::new("v1", "Pod")).unwrap();
    let merge = ThreeWay {
        original: map(&original, &arena),
        modified: map(&modified, &arena),
        current: map(&current, &arena),
        overwrite,
    };
    text(three_way(merge, &KUBECTL, kind.document_schema(), &arena))
}

fn named(names: &[&str]) -> Json {
    names.iter().map(|name| json!({"name": name})).collect()
}

#[test]
fn items_are_merged_by_key_and_new_items_come_first() {
    let live = json!({"containers": [{"name": "a", "image": "1"}, {"name": "b", "image": "1"}]});
    let result = pod(live.clone(), json!({"containers": [{"name": "b", "image": "2"}, {"name": "c"}]}));
    assert_eq!(
        result.unwrap()["containers"],
        json!([{"name": "a", "image": "1"}, {"name": "b", "image": "2"}, {"name": "c"}])
    );
    assert_eq!(pod(live.clone(), json!({"containers": named(&["c"])})).unwrap()["containers"][0], json!({"name": "c"}));
    let ordered = json!({"containers": named(&["c"]), "$setElementOrder/containers": named(&["b", "c", "a"])});
    let names = |spec: &Json| -> Vec<String> {
        spec["containers"].as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&pod(live.clone(), ordered).unwrap()), ["b", "c", "a"]);
    let only_order = json!({"$setElementOrder/containers": named(&["b", "a"])});
    assert_eq!(names(&pod(live, only_order).unwrap()), ["b", "a"]);
}

#[test]
fn the_position_of_new_items_depends_on_the_memory_of_the_list() {
    let finalizers = |names: &[&str]| json!({"metadata": {"finalizers": names}});
    let live = finalizers(&["a", "b", "a"]);
    let patch = finalizers(&["d"]);
    assert_eq!(patched("Pod", &live, &patch).unwrap(), finalizers(&["a", "b", "d"]));
    let full = patched("Pod", &finalizers(&["a", "b", "a", "c"]), &patch);
    assert_eq!(full.unwrap(), finalizers(&["d", "a", "b", "c"]));
    let same = patched("Pod", &finalizers(&["a"]), &finalizers(&["a", "b"]));
    assert_eq!(same.unwrap(), finalizers(&["a", "b"]));
}

#[test]
fn an_order_that_contradicts_the_list_is_an_error() {
    let live = json!({"containers": named(&["a"])});
    let wrong = json!({"containers": named(&["x"]), "$setElementOrder/containers": named(&["a"])});
    let error = pod(live.clone(), wrong).unwrap_err();
    assert_eq!(
        error,
        "The order in patch list:\n[map[name:x]]\n doesn't match $setElementOrder list:\n[map[name:a]]\n"
    );
    let swapped = json!({"containers": named(&["b", "a"]), "$setElementOrder/containers": named(&["a", "b"])});
    assert!(pod(live.clone(), swapped).unwrap_err().starts_with("The order in patch list:\n[map[name:b] map[name:a]]"));
    let scalars = json!({"metadata": {"finalizers": ["x"], "$setElementOrder/finalizers": ["y"]}});
    let error = patched("Pod", &json!({"metadata": {}}), &scalars).unwrap_err();
    assert_eq!(error, "The order in patch list:\n[x]\n doesn't match $setElementOrder list:\n[y]\n");
    let no_list = pod(live.clone(), json!({"$setElementOrder/containers": "a"})).unwrap_err();
    assert_eq!(no_list, "expected a []interface {}, but received a string");
    assert_eq!(pod(live, json!({"$setElementOrder": []})).unwrap_err(), "invalid patch format of setElementOrder list");
}

#[test]
fn directives_delete_and_replace() {
    let live = json!({"containers": [{"name": "a"}, {"name": "b"}, {"name": "a", "image": "2"}]});
    let gone = pod(live.clone(), json!({"containers": [{"name": "a", "$patch": "delete"}]})).unwrap();
    assert_eq!(gone["containers"], named(&["b"]));
    let replaced = pod(live.clone(), json!({"containers": [{"$patch": "replace"}, {"name": "x"}]})).unwrap();
    assert_eq!(replaced["containers"], named(&["x"]));
    let cleared = patched("Pod", &json!({"spec": live}), &json!({"spec": {"$patch": "delete"}}));
    assert_eq!(cleared.unwrap(), json!({"spec": {}}));
    let other = pod(live.clone(), json!({"$patch": "replace", "nodeName": "n"})).unwrap();
    assert_eq!(other, json!({"nodeName": "n"}));
    let merge = pod(live.clone(), json!({"containers": [{"name": "a", "$patch": "merge"}]}));
    assert_eq!(merge.unwrap_err(), "merging lists cannot yet be specified in the patch");
    let merge = pod(live.clone(), json!({"$patch": "merge", "nodeName": "n"}));
    assert_eq!(merge.unwrap_err(), "unknown patch type: merge in map: map[$patch:merge nodeName:n]");
    let number = pod(live.clone(), json!({"containers": [{"name": "a", "$patch": 5}]}));
    assert_eq!(number.unwrap_err(), "unknown patch type: %!s(int64=5) in map: map[$patch:5 name:a]");
    let keyless = pod(live, json!({"containers": [{"image": "i"}]}));
    assert_eq!(keyless.unwrap_err(), "map: map[image:i] does not contain declared merge key: name");
}

#[test]
fn directives_below_missing_fields_are_removed() {
    let volumes =
        json!({"volumes": [{"name": "v", "$patch": "delete"}, {"name": "w", "emptyDir": {"$patch": "delete"}}]});
    assert_eq!(pod(json!({}), volumes).unwrap(), json!({"volumes": [{"name": "w"}]}));
    let map = json!({"securityContext": {"$patch": "delete"}, "nodeSelector": {"a": "b", "c": null}});
    assert_eq!(pod(json!({}), map).unwrap(), json!({"nodeSelector": {"a": "b"}}));
    let order = json!({"volumes": [{"name": "v", "$patch": "delete"}], "$setElementOrder/volumes": named(&["w"])});
    assert_eq!(pod(json!({}), order).unwrap(), json!({"volumes": []}));
}

#[test]
fn primitive_lists_and_retained_keys() {
    let live = json!({"metadata": {"finalizers": ["a", "b", "c", "b"]}});
    let patch = json!({"metadata": {"$deleteFromPrimitiveList/finalizers": ["b", "x"]}});
    let result = patched("Pod", &live, &patch).unwrap();
    assert_eq!(result["metadata"]["finalizers"], json!(["a", "c"]));
    let absent = patched("Pod", &json!({"metadata": {}}), &patch).unwrap();
    assert_eq!(absent, json!({"metadata": {}}));
    let no_field = patched("Pod", &live, &json!({"metadata": {"$deleteFromPrimitiveList": []}}));
    assert_eq!(no_field.unwrap_err(), "invalid patch format of primitive list");
    let maps = json!({"metadata": {"$deleteFromPrimitiveList/finalizers": [{}]}});
    let error = patched("Pod", &live, &maps).unwrap_err();
    assert_eq!(error, "list element types are not identical: [[a b c b] [map[]]]");
    let live = json!({"spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}}});
    let of = |strategy: Json| patched("Deployment", &live, &json!({"spec": {"strategy": strategy}}));
    let kept = of(json!({"$retainKeys": ["type"], "type": "Recreate"})).unwrap();
    assert_eq!(kept, json!({"spec": {"strategy": {"type": "Recreate"}}}));
    for wrong in [json!({"$retainKeys": ["x"], "type": "Recreate"}), json!({"$retainKeys": "type"})] {
        assert_eq!(of(wrong).unwrap_err(), "invalid patch format of retainKeys");
    }
}

#[test]
fn wrong_types_and_unknown_fields() {
    let list = pod(json!({"containers": named(&["a"])}), json!({"containers": ["a"]})).unwrap_err();
    assert_eq!(list, "list element types are not identical: [[map[name:a]] [a]]");
    let nested = pod(json!({"containers": named(&["a"])}), json!({"containers": [[]]})).unwrap_err();
    assert_eq!(nested, "list element types are not identical: [[map[name:a]] [[]]]");
    assert_eq!(pod(json!({"volumes": []}), json!({"volumes": [[]]})).unwrap_err(), "lists of lists are not supported");
    let unknown = pod(json!({"x": {}}), json!({"x": {}})).unwrap_err();
    assert_eq!(unknown, r#"unable to find api field in struct PodSpec for the json field "x""#);
    let below_map = pod(json!({"nodeSelector": {"a": {}}}), json!({"nodeSelector": {"a": {}}})).unwrap_err();
    assert_eq!(below_map, "merging an object in json but data type is not struct, instead is: map");
    let no_list = pod(json!({"nodeName": []}), json!({"nodeName": []})).unwrap_err();
    assert_eq!(no_list, "expected slice or array type, but got: struct");
    assert_eq!(
        pod(json!({"securityContext": []}), json!({"securityContext": []})).unwrap(),
        json!({"securityContext": []})
    );
    assert_eq!(
        pod(json!({"Volumes": []}), json!({"Volumes": named(&["v"])})).unwrap(),
        json!({"Volumes": named(&["v"])})
    );
    let panics = pod(json!({"containers": [{"name": {}}]}), json!({"containers": [{"name": {}}]})).unwrap_err();
    assert_eq!(panics, "a map cannot be a merge key or an item of a set");
    let null = pod(json!({"containers": []}), json!({"containers": [null]})).unwrap_err();
    assert_eq!(null, "null cannot be the first item of a list that is merged");
}

#[test]
fn differences_of_two_objects() {
    let containers = |names: &[&str]| json!({"spec": {"containers": named(names)}});
    let order = |names: &[&str]| named(names);
    assert_eq!(
        diff(containers(&["a", "b"]), containers(&["b", "c"])).unwrap(),
        json!({"spec": {"$setElementOrder/containers": order(&["b", "c"]),
            "containers": [{"name": "c"}, {"$patch": "delete", "name": "a"}]}})
    );
    assert_eq!(
        diff(containers(&["a", "b"]), containers(&["b", "a"])).unwrap(),
        json!({"spec": {"$setElementOrder/containers": order(&["b", "a"])}})
    );
    let finalizers = |names: &[&str]| json!({"metadata": {"finalizers": names}});
    assert_eq!(
        diff(finalizers(&["a", "b"]), finalizers(&["c", "a"])).unwrap(),
        json!({"metadata": {"finalizers": ["c"], "$deleteFromPrimitiveList/finalizers": ["b"],
            "$setElementOrder/finalizers": ["c", "a"]}})
    );
    let volumes = |source: Json| json!({"spec": {"volumes": [source]}});
    assert_eq!(
        diff(volumes(json!({"name": "v", "emptyDir": {}})), volumes(json!({"name": "v", "hostPath": {"path": "/"}})))
            .unwrap(),
        json!({"spec": {"$setElementOrder/volumes": named(&["v"]),
            "volumes": [{"$retainKeys": ["hostPath", "name"], "emptyDir": null, "hostPath": {"path": "/"}, "name": "v"}]}})
    );
    let same = containers(&["a"]);
    assert_eq!(diff(same.clone(), same).unwrap(), json!({}));
    let keyless = diff(json!({"spec": {"containers": [{"image": "i"}]}}), containers(&["a"])).unwrap_err();
    assert_eq!(keyless, "map: map[image:i] does not contain declared merge key: name");
}

#[test]
fn kubectl_deletes_only_what_it_applied() {
    let spec = |spec: Json| json!({"metadata": {"name": "p"}, "spec": spec});
    let original = spec(json!({"nodeName": "n", "hostname": "h"}));
    let current = spec(json!({"nodeName": "n", "hostname": "h", "subdomain": "s"}));
    let modified = spec(json!({"hostname": "other"}));
    assert_eq!(
        kubectl(original.clone(), modified.clone(), current.clone(), true).unwrap(),
        json!({"spec": {"nodeName": null, "hostname": "other"}})
    );
    let renamed = json!({"metadata": {"name": "q"}});
    assert_eq!(
        kubectl(original.clone(), renamed, current, true).unwrap_err(),
        "precondition failed for: map[metadata:map[name:q] spec:<nil>]"
    );
    let changed = spec(json!({"nodeName": "n", "hostname": "changed"}));
    assert_eq!(
        kubectl(original, modified, changed, false).unwrap_err(),
        "patch:\nspec:\n  hostname: other\n  nodeName: null\n\nconflicts with changes made from original to current:\n\
         spec:\n  hostname: changed\n\n"
    );
}

#[test]
fn long_lists_take_linear_time() {
    let items = |range: std::ops::Range<u32>| -> Json { range.map(|n| json!({"name": format!("n{n}")})).collect() };
    let live = json!({"containers": items(0..2_000)});
    let order = items(0..3_000);
    let patch = json!({"containers": items(1_000..3_000), "$setElementOrder/containers": order});
    assert_eq!(pod(live, patch).unwrap()["containers"].as_array().unwrap().len(), 3_000);
}

#[test]
fn a_patch_that_merges_an_item_repeatedly_is_too_much_work() {
    let mut wide: serde_json::Map<String, Json> = (0..4_000).map(|n| (format!("k{n}"), json!("v"))).collect();
    wide.insert("name".to_owned(), json!("a"));
    let wide = json!({"containers": [wide]});
    let patch: Json = (0..4_000).map(|_| json!({"name": "a", "resources": {}})).collect();
    let error = pod(wide, json!({"containers": patch})).unwrap_err();
    assert_eq!(error, "the patch takes more than 10000000 steps");
}
