//! Applies and updates through the layers of the server's field manager.
#![allow(clippy::expect_used, reason = "tests")]

use kubeshape_smd::fieldpath::{Filter, Set};
use kubeshape_smd::managed::{ChangeApiVersion, Error, FieldManager, Gvk, Kinds, LAST_APPLIED, SameObject, Step, Time};
use kubeshape_smd::typed::Types;
use kubeshape_smd::{Bump, ToValue as _, Value, schema};
use kubeshape_yaml::{Limits, Stream, Tape};
use serde_json::{Value as Json, json};

const SCHEMA: &str = "
types:
- name: thing
  map:
    fields:
    - {name: apiVersion, type: {scalar: string}}
    - {name: kind, type: {scalar: string}}
    - {name: metadata, type: {namedType: meta}}
    - {name: spec, type: {namedType: spec}}
    - {name: status, type: {map: {elementType: {scalar: untyped}}}}
- name: meta
  map:
    fields:
    - {name: name, type: {scalar: string}}
    - {name: namespace, type: {scalar: string}}
    - {name: uid, type: {scalar: string}}
    - {name: labels, type: {map: {elementType: {scalar: string}}}}
    - {name: annotations, type: {map: {elementType: {scalar: string}}}}
    - name: managedFields
      type: {list: {elementType: {namedType: __untyped_atomic_}, elementRelationship: atomic}}
- name: spec
  map:
    fields:
    - {name: x, type: {scalar: numeric}}
    - {name: 'y', type: {scalar: numeric}}
    - name: ports
      type: {list: {elementType: {namedType: port}, elementRelationship: associative, keys: [port]}}
- name: port
  map:
    fields:
    - {name: port, type: {scalar: numeric}}
    - {name: name, type: {scalar: string}}
- name: __untyped_atomic_
  scalar: untyped
  list: {elementType: {namedType: __untyped_atomic_}, elementRelationship: atomic}
  map: {elementType: {namedType: __untyped_atomic_}, elementRelationship: atomic}
";

fn types() -> Types {
    let mut tape = Tape::new();
    let mut stream = Stream::new(SCHEMA.as_bytes(), Limits::default()).expect("YAML");
    stream.next(&mut tape).transpose().expect("YAML");
    Types::new(schema::read(tape.document(SCHEMA).root().expect("a document")).expect("a schema"))
}

/// One call: the live object if there is any, the written object, and the manager.
struct Call<'c> {
    live: Option<&'c Json>,
    object: Json,
    manager: &'c str,
    second: i64,
}

/// Versions `v1` and `v2` of one kind that differ only in the version.
struct Server {
    types: Types,
    subresource: &'static str,
    reset: Option<&'static str>,
    track_from_creation: bool,
}

impl Server {
    fn new() -> Self {
        Server { types: types(), subresource: "", reset: None, track_from_creation: true }
    }

    fn run(&self, call: &Call<'_>, force: Option<bool>) -> Result<Json, (String, u16, Vec<String>)> {
        let ty = self.types.named("thing").expect("the type");
        let kinds = Kinds(vec![(Gvk::new("v1", "Thing"), ty), (Gvk::new("v2", "Thing"), ty)]);
        let versions = ChangeApiVersion(vec!["v1", "v2"]);
        let sets = Bump::new();
        let reset = self.reset.map(|set| Set::read_json(set.as_bytes(), &sets).expect("a set"));
        let version = call.object["apiVersion"].as_str().filter(|version| *version == "v2").unwrap_or("v1");
        let manager = FieldManager::new(Gvk::new(version, "Thing"), &kinds, &versions)
            .subresource(self.subresource)
            .track_from_creation(self.track_from_creation)
            .reset_fields(reset.into_iter().map(|set| ("v1", Filter::Exclude(set))).collect());
        let arena = Bump::new();
        let live = call.live.map(|live| live.to_value(&arena));
        let object = call.object.to_value(&arena);
        let now = Time(946_684_800 + call.second);
        let answer = match force {
            Some(force) => manager.apply(live, object, call.manager, force, now, &arena),
            None => manager.update(live, object, call.manager, now, &arena),
        };
        answer.map(Value::to_serde).map_err(|error| {
            let status = error.status();
            (error.to_string(), status.code, status.causes.into_iter().map(|cause| cause.message).collect())
        })
    }

    fn apply(&self, live: Option<&Json>, object: Json, manager: &str) -> Json {
        self.run(&Call { live, object, manager, second: 1 }, Some(false)).expect("the apply is fine")
    }

    fn refused(&self, live: Option<&Json>, object: Json, manager: &str) -> (String, u16, Vec<String>) {
        self.run(&Call { live, object, manager, second: 2 }, Some(false)).expect_err("the apply is refused")
    }

    fn update(&self, live: Option<&Json>, object: Json, manager: &str) -> Json {
        self.run(&Call { live, object, manager, second: 3 }, None).expect("the update is fine")
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is called with literals")]
fn thing(spec: Json) -> Json {
    json!({"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "t"}, "spec": spec})
}

/// Returns `manager operation second fields` of each entry.
fn owners(object: &Json) -> Vec<String> {
    let show = |entry: &Json| {
        let text = |key: &str| entry[key].as_str().unwrap_or("-").to_owned();
        let time = text("time");
        format!(
            "{} {} {} {}",
            text("manager"),
            text("operation"),
            time.get(17..19).unwrap_or("-"),
            entry["fieldsV1"].to_string().replace('"', "")
        )
    };
    object["metadata"]["managedFields"].as_array().into_iter().flatten().map(show).collect()
}

#[test]
fn an_apply_without_a_live_object_creates_it() {
    let live = Server::new().apply(None, thing(json!({"x": 1})), "a");
    assert_eq!(live["spec"], json!({"x": 1}));
    assert_eq!(owners(&live), ["a Apply 01 {f:spec:{f:x:{}}}"]);
}

#[test]
fn an_update_owns_new_parents_but_an_apply_does_not() {
    let live = Server::new().update(None, thing(json!({"x": 1})), "u");
    assert_eq!(owners(&live), ["u Update 03 {f:spec:{.:{},f:x:{}}}"]);
}

#[test]
fn a_manager_without_a_name_is_unknown() {
    assert_eq!(
        owners(&Server::new().update(None, thing(json!({"x": 1})), "")),
        ["unknown Update 03 {f:spec:{.:{},f:x:{}}}"]
    );
}

#[test]
fn writes_that_change_nothing_set_no_time() {
    let server = Server::new();
    let live = server.apply(None, thing(json!({"x": 1})), "a");
    assert_eq!(server.apply(Some(&live), thing(json!({"x": 1})), "a"), live);
    assert_eq!(server.update(Some(&live), live.clone(), "u"), live);
    // An entry that begins with such an apply has no time.
    let shared = server.apply(Some(&live), thing(json!({"x": 1})), "b");
    assert_eq!(owners(&shared), ["b Apply - {f:spec:{f:x:{}}}", "a Apply 01 {f:spec:{f:x:{}}}"]);
}

#[test]
fn a_conflict_is_reported_with_its_manager_and_version() {
    let server = Server::new();
    let live = server.update(None, thing(json!({"x": 1, "y": 1})), "u");
    let (text, code, causes) = server.refused(Some(&live), thing(json!({"x": 2})), "a");
    assert_eq!(text, "Apply failed with 1 conflict: conflict with \"u\" using v1: .spec.x");
    assert_eq!((code, causes), (409, vec!["conflict with \"u\" using v1".to_owned()]));
    let (text, ..) = server.refused(Some(&live), thing(json!({"x": 2, "y": 2})), "a");
    assert_eq!(text, "Apply failed with 2 conflicts: conflicts with \"u\" using v1:\n- .spec.x\n- .spec.y");
}

#[test]
fn keys_of_items_read_as_floats_in_conflicts_and_as_integers_in_errors() {
    let server = Server::new();
    let port = |name: &str| thing(json!({"ports": [{"port": 1_234_567, "name": name}]}));
    let live = server.apply(None, port("a"), "a");
    let (text, ..) = server.refused(Some(&live), port("b"), "b");
    assert_eq!(text, "Apply failed with 1 conflict: conflict with \"a\": .spec.ports[port=1.234567e+06].name");
    let (text, code, _) = server.refused(Some(&live), thing(json!({"ports": [{"port": 1_234_567, "z": 1}]})), "b");
    assert_eq!(
        text,
        "failed to create typed patch object (/t; /v1, Kind=Thing): .spec.ports[port=1234567].z: field not declared in schema"
    );
    assert_eq!(code, 500);
}

#[test]
fn a_forced_apply_takes_the_fields() {
    let server = Server::new();
    let live = server.apply(None, thing(json!({"x": 1})), "a");
    let call = Call { live: Some(&live), object: thing(json!({"x": 2})), manager: "b", second: 2 };
    assert_eq!(owners(&server.run(&call, Some(true)).expect("forced")), ["b Apply 02 {f:spec:{f:x:{}}}"]);
}

#[test]
fn a_configuration_must_have_the_endpoints_type() {
    let server = Server::new();
    for (object, shown) in [
        (json!({"apiVersion": "v1", "kind": "Other"}), "/v1, Kind=Other"),
        (json!({}), "/, Kind="),
        (json!([]), "/, Kind="),
        (json!({"apiVersion": "a/b/c", "kind": "Thing"}), "/, Kind="),
    ] {
        let (text, code, _) = server.refused(None, object, "a");
        assert_eq!((text, code), (format!("invalid object type: {shown}"), 400));
    }
}

#[test]
fn a_configuration_must_not_have_managed_fields() {
    let server = Server::new();
    let with = |list: Json| {
        let mut object = thing(json!({"x": 1}));
        object["metadata"]["managedFields"] = list;
        object
    };
    for list in [json!([]), json!([{}])] {
        let (text, code, _) = server.refused(None, with(list), "a");
        assert_eq!((text.as_str(), code), ("metadata.managedFields must be nil", 400));
    }
    assert_eq!(owners(&server.apply(None, with(json!(null)), "a")), ["a Apply 01 {f:spec:{f:x:{}}}"]);
}

#[test]
fn errors_keep_the_paths_in_the_object() {
    let types = types();
    let ty = types.named("thing").expect("the type");
    let manager = FieldManager::new(Gvk::new("v1", "Thing"), &ty, &SameObject);
    let arena = Bump::new();
    let object = thing(json!({"ports": [{"port": 1, "nam": "a"}]}));
    let error = manager.apply(None, object.to_value(&arena), "a", false, Time(0), &arena).expect_err("refused");
    let (step, errors) = error.validation_errors().expect("the object is invalid");
    assert_eq!(step, Step::Patch);
    assert_eq!(errors.0[0].pointer, "/spec/ports/0/nam");
}

#[test]
fn entries_of_the_live_object_that_cannot_be_read_stop_an_apply_but_not_an_update() {
    let server = Server::new();
    let mut live = thing(json!({"x": 1}));
    live["metadata"]["managedFields"] = json!([{"manager": "a", "operation": "Patch"}]);
    let (text, code, _) = server.refused(Some(&live), thing(json!({"x": 1})), "a");
    assert_eq!(text, "failed to decode managed fields: operation must be `Apply` or `Update`");
    assert_eq!(code, 500);
    assert_eq!(owners(&server.update(Some(&live), thing(json!({"x": 2})), "u")), ["u Update 03 {f:spec:{f:x:{}}}"]);
}

#[test]
fn entries_that_do_not_match_the_object_are_kept() {
    let server = Server::new();
    let mut live = thing(json!({"x": 1}));
    live["metadata"]["managedFields"] = json!([{
        "manager": "liar", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1",
        "fieldsV1": {"f:spec": {"f:nothing": {"k:{\"a\":1}": {}}, "f:x": {}}, "i:3": {}},
    }]);
    let (text, ..) = server.refused(Some(&live), thing(json!({"x": 2})), "a");
    assert_eq!(text, "Apply failed with 1 conflict: conflict with \"liar\": .spec.x");
    // Fields that the object does not have stay with their owner.
    let call = Call { live: Some(&live), object: thing(json!({"x": 2})), manager: "a", second: 2 };
    assert_eq!(
        owners(&server.run(&call, Some(true)).expect("forced")),
        ["liar Apply - {f:spec:{f:nothing:{k:{\\a\\:1}:{}}},i:3:{}}", "a Apply 02 {f:spec:{f:x:{}}}"]
    );
}

#[test]
fn entries_of_versions_that_do_not_exist_are_dropped() {
    let server = Server::new();
    let entry = |version: &str| {
        json!({
            "manager": version, "operation": "Apply", "apiVersion": version, "fieldsType": "FieldsV1",
            "fieldsV1": {"f:spec": {"f:x": {}}},
        })
    };
    let mut live = thing(json!({"x": 1}));
    live["metadata"]["managedFields"] = json!([entry("v0"), entry("v2")]);
    let live = server.apply(Some(&live), thing(json!({"y": 1})), "a");
    assert_eq!(owners(&live), ["v2 Apply - {f:spec:{f:x:{}}}", "a Apply 01 {f:spec:{f:y:{}}}"]);
}

#[test]
fn an_update_with_an_empty_list_of_entries_resets_them() {
    let server = Server::new();
    let mut live = server.apply(None, thing(json!({"x": 1})), "a");
    live["metadata"]["uid"] = json!("1");
    for list in [json!([]), json!([{}]), json!([{"time": null}])] {
        let mut new = live.clone();
        new["metadata"]["managedFields"] = list;
        new["spec"]["x"] = json!(2);
        // The update itself is not tracked, since nothing is tracked and this is not a creation.
        assert_eq!(owners(&server.update(Some(&live), new, "u")), [""; 0]);
    }
    // A list of two empty entries does not reset them, but cannot be read either: the entries of the live object stay.
    let mut new = live.clone();
    new["metadata"]["managedFields"] = json!([{}, {}]);
    assert_eq!(owners(&server.update(Some(&live), new, "u")), ["a Apply 01 {f:spec:{f:x:{}}}"]);
}

#[test]
fn an_update_may_change_entries_but_not_through_a_subresource() {
    let mut server = Server::new();
    let live = server.apply(None, thing(json!({"x": 1})), "a");
    let mut new = live.clone();
    new["metadata"]["managedFields"][0]["manager"] = json!("b");
    assert_eq!(owners(&server.update(Some(&live), new.clone(), "u")), ["b Apply 01 {f:spec:{f:x:{}}}"]);
    server.subresource = "status";
    new["status"] = json!({"s": 1});
    let updated = server.update(Some(&live), new, "u");
    assert_eq!(owners(&updated), ["a Apply 01 {f:spec:{f:x:{}}}", "u Update 03 {f:status:{.:{},f:s:{}}}"]);
    assert_eq!(updated["metadata"]["managedFields"][1]["subresource"], json!("status"));
}

#[test]
fn fields_from_before_the_first_apply_have_a_manager_of_their_own() {
    let server = Server::new();
    let live = server.apply(Some(&thing(json!({"x": 1}))), thing(json!({"y": 1})), "a");
    assert_eq!(owners(&live), ["a Apply 01 {f:spec:{f:y:{}}}", "before-first-apply Update 01 {f:spec:{.:{},f:x:{}}}"]);
}

#[test]
fn updates_are_untracked_until_something_is_tracked() {
    let mut server = Server::new();
    let mut live = thing(json!({"x": 1}));
    live["metadata"]["uid"] = json!("1");
    assert_eq!(owners(&server.update(Some(&live), thing(json!({"x": 2})), "u")), [""; 0]);
    server.track_from_creation = false;
    assert_eq!(owners(&server.update(None, thing(json!({"x": 2})), "u")), [""; 0]);
}

#[test]
fn fields_that_an_endpoint_resets_have_no_owner() {
    let mut server = Server::new();
    server.reset = Some(r#"{"f:status":{}}"#);
    let mut object = thing(json!({"x": 1}));
    object["status"] = json!({"s": 1});
    assert_eq!(owners(&server.apply(None, object, "a")), ["a Apply 01 {f:spec:{f:x:{}}}"]);
}

#[test]
fn emptied_metadata_stays_a_map() {
    let server = Server::new();
    let object = |meta: Json| json!({"apiVersion": "v1", "kind": "Thing", "metadata": meta});
    let live = server.apply(None, object(json!({"labels": {"a": "b"}})), "a");
    assert_eq!(server.apply(Some(&live), object(json!({})), "a"), object(json!({})));
}

#[test]
fn update_no_errors_continues_without_managed_fields() {
    let types = types();
    let ty = types.named("thing").expect("the type");
    let manager = FieldManager::new(Gvk::new("v1", "Thing"), &ty, &SameObject);
    let arena = Bump::new();
    let mut new = thing(json!({"zz": 1}));
    let expected = new.clone();
    new["metadata"]["managedFields"] = json!([{}]);
    let refused = manager.update(None, new.to_value(&arena), "u", Time(0), &arena).expect_err("refused");
    assert_eq!(
        refused.to_string(),
        "failed to convert new object (/t; /v1, Kind=Thing) to smd typed: .spec.zz: field not declared in schema"
    );
    assert_eq!(manager.update_no_errors(None, new.to_value(&arena), "u", Time(0), &arena).to_serde(), expected);
}

#[test]
fn values_that_are_not_maps_are_not_objects() {
    let types = types();
    let ty = types.named("thing").expect("the type");
    let manager = FieldManager::new(Gvk::new("v1", "Thing"), &ty, &SameObject);
    let arena = Bump::new();
    let text = Value::String("text");
    assert!(matches!(manager.update(None, text, "u", Time(0), &arena), Err(Error::NoMap)));
    let object = thing(json!({}));
    let applied = manager.apply(Some(text), object.to_value(&arena), "a", false, Time(0), &arena);
    assert!(matches!(applied, Err(Error::NoMap)));
    assert_eq!(manager.update_no_errors(None, text, "u", Time(0), &arena), text);
}

/// Returns an object with the annotation of client-side apply, whose fields an update owns.
fn client_side(server: &Server, last: &Json, spec: Json) -> Json {
    let mut object = thing(spec);
    object["metadata"]["annotations"] = json!({LAST_APPLIED: last.to_string()});
    server.update(None, object, "kubectl-client-side-apply")
}

#[test]
fn kubectl_takes_over_what_it_applied_client_side() {
    let server = Server::new();
    let live = client_side(&server, &thing(json!({"x": 1})), json!({"x": 1, "y": 1}));
    let applied = server.apply(Some(&live), thing(json!({"x": 2})), "kubectl");
    assert_eq!(applied["spec"], json!({"x": 2, "y": 1}));
    // The annotation is updated: JSON on one line, with sorted keys.
    assert_eq!(
        applied["metadata"]["annotations"][LAST_APPLIED],
        json!("{\"apiVersion\":\"v1\",\"kind\":\"Thing\",\"metadata\":{\"name\":\"t\"},\"spec\":{\"x\":2}}\n")
    );
    // It is not, for any other manager.
    let (text, ..) = server.refused(Some(&live), thing(json!({"x": 2})), "a");
    assert!(text.ends_with("conflict with \"kubectl-client-side-apply\" using v1: .spec.x"), "{text}");
}

#[test]
fn kubectl_gets_only_the_conflicts_that_are_not_its_own() {
    let server = Server::new();
    // The last configuration has x, but with another value than the live object.
    let live = client_side(&server, &thing(json!({"x": 7, "y": 1})), json!({"x": 1, "y": 1}));
    let (text, ..) = server.refused(Some(&live), thing(json!({"x": 2, "y": 2})), "kubectl");
    assert_eq!(text, "Apply failed with 1 conflict: conflict with \"kubectl-client-side-apply\" using v1: .spec.x");
}

#[test]
fn an_unreadable_last_configuration_allows_nothing() {
    let server = Server::new();
    for last in [
        json!("text"),
        json!(null),
        json!({"apiVersion": "v1", "spec": {"x": 1}}),
        json!({"apiVersion": "v2", "kind": "Thing", "spec": {"x": 1}}),
        json!({"apiVersion": "v1", "kind": "Thing", "spec": {"x": 1, "zz": 1}}),
    ] {
        let live = client_side(&server, &last, json!({"x": 1}));
        let (text, ..) = server.refused(Some(&live), thing(json!({"x": 2})), "kubectl");
        assert!(text.starts_with("Apply failed with 1 conflict"), "{text}");
    }
}

#[test]
fn an_annotation_that_would_be_too_long_is_dropped() {
    let server = Server::new();
    let live = client_side(&server, &thing(json!({"x": 1})), json!({"x": 1}));
    let mut object = thing(json!({"x": 1}));
    object["metadata"]["labels"] = json!({"l": "x".repeat(256 << 10)});
    let applied = server.apply(Some(&live), object, "kubectl");
    assert_eq!(applied["metadata"]["annotations"], json!({}));
}

#[test]
fn annotations_of_the_configuration_stay_in_the_last_configuration_but_not_itself() {
    let server = Server::new();
    let live = client_side(&server, &thing(json!({"x": 1})), json!({"x": 1}));
    let mut object = thing(json!({"x": 1}));
    object["metadata"]["annotations"] = json!({"a": "<b>", LAST_APPLIED: "old"});
    let call = Call { live: Some(&live), object, manager: "kubectl", second: 2 };
    let applied = server.run(&call, Some(true)).expect("forced");
    let last = applied["metadata"]["annotations"][LAST_APPLIED].as_str().unwrap_or_default();
    assert!(last.contains(r#""annotations":{"a":"\u003cb\u003e"},"name":"t""#), "{last}");
}
