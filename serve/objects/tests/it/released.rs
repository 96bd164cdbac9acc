//! What changed between releases for the requests about custom resources.

use kubeshape_objects::store::{Limits, Saved, Store, Stored};
use kubeshape_objects::{Api, Moment, Reply, Request};
use kubeshape_registry::{Object, Registry, Release, Settings};
use serde_json::{Value, json};

const DEFINITION: &[u8] = b"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            x-kubernetes-validations:
            - {rule: '!has(self.a) || self.a < 10', message: too big, fieldPath: .a}
            - {rule: '!has(self.b) || self.b < 10', message: too big, fieldPath: .b}
            properties:
              a: {type: integer}
              b: {type: integer}
              short: {type: string, maxLength: 1}
              colour: {type: string, enum: [red]}
              small: {type: integer, format: int32}
              sets: {type: array, x-kubernetes-list-type: set, items: {type: number}}
              maps:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [k]
                items: {type: object, required: [k], properties: {k: {type: string}}}
          status:
            type: object
            properties: {phase: {type: string, enum: [up]}}
";
const ALL: &str = "/apis/example.com/v1/namespaces/default/widgets";

fn object(metadata: Value, rest: Value) -> Value {
    let mut object = json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}});
    for (target, source) in [("/metadata", metadata), ("", rest)] {
        let Value::Object(members) = source else { continue };
        object.pointer_mut(target).unwrap().as_object_mut().unwrap().extend(members);
    }
    object
}

fn api(minor: u8) -> Api {
    let release = Release::new(minor).unwrap();
    let mut registry = Registry::new(Settings::of(release));
    let limits = kubeshape_input::Limits::default();
    registry.set_input("widgets", kubeshape_input::read("widgets.yaml", DEFINITION, limits));
    Api::new(registry)
}

fn send(api: &Api, store: &mut Store, method: &str, path: &str, body: &str) -> Reply {
    let request = Request { method, path, body: body.as_bytes(), ..Request::default() };
    api.answer(store, &request, &Moment::default()).unwrap()
}

/// Returns the causes, or the code of an accepted request, and the warnings.
fn told(reply: &Reply) -> Vec<String> {
    let status: Value = serde_json::from_slice(&reply.body).unwrap();
    let mut told = Vec::new();
    match status.pointer("/details/causes").and_then(Value::as_array) {
        Some(causes) => {
            let text =
                |cause: &Value| format!("{}: {}", cause["field"].as_str().unwrap(), cause["message"].as_str().unwrap());
            told.extend(causes.iter().map(text));
        }
        None => told.push(reply.code.to_string()),
    }
    told.extend(reply.warnings.iter().map(|warning| format!("warning: {warning}")));
    told
}

fn created(minor: u8, object: &Value) -> Vec<String> {
    told(&send(&api(minor), &mut Store::default(), "POST", ALL, &object.to_string()))
}

fn updated(minor: u8, old: &Value, new: &Value, suffix: &str) -> Vec<String> {
    let api = api(minor);
    let mut old = old.clone();
    for (key, value) in [("resourceVersion", "1"), ("namespace", "default"), ("uid", "u")] {
        old["metadata"][key] = value.into();
    }
    let stored = Object::read("old", old.to_string()).unwrap();
    let objects = vec![(api.key_of(&stored).unwrap(), Stored::new(1, format!("{old}\n").into()).into())];
    let mut store = Store::restore(Limits::default(), Saved { revision: 1, forgotten: 1, objects, ..Saved::default() });
    let mut new = new.clone();
    new["metadata"]["resourceVersion"] = "1".into();
    told(&send(&api, &mut store, "PUT", &format!("{ALL}/a{suffix}"), &new.to_string()))
}

/// Checks that the answers change with a release, and with no other.
fn changes(since: u8, before: &[&str], after: &[&str], answer: impl Fn(u8) -> Vec<String>) {
    for release in Release::all() {
        let minor = release.minor();
        assert_eq!(answer(minor), if minor < since { before } else { after }, "1.{minor}");
    }
}

#[test]
fn an_unsupported_value_leaves_rules_unchecked_since_1_29() {
    let wrong = object(json!({}), json!({"spec": {"colour": "blue", "a": 3}}));
    let unsupported = r#"spec.colour: Unsupported value: "blue": supported values: "red""#;
    for release in Release::all() {
        let minor = release.minor();
        let null = if minor < 34 { "\"null\"" } else { "null" };
        let blocked = format!(
            "<nil>: Invalid value: {null}: some validation rules were not checked because the object was invalid; correct \
             the existing errors to complete validation"
        );
        let mut expected = vec![unsupported.to_owned()];
        if minor >= 29 {
            expected.push(blocked);
        }
        assert_eq!(created(minor, &wrong), expected, "1.{minor}");
    }
}

#[test]
fn names_of_finalizers_give_warnings() {
    let with = |name: &str| object(json!({"finalizers": [name]}), json!({}));
    let text = |name: &str, path: &str| {
        format!(
            "warning: metadata.finalizers: {name:?}: prefer a domain-qualified finalizer name{path} to avoid accidental \
             conflicts with other finalizer writers"
        )
    };
    changes(29, &["201"], &["201", &text("plain", "")], |minor| created(minor, &with("plain")));
    for (minor, path) in [(29, ""), (31, ""), (32, " including a path (/)"), (37, " including a path (/)")] {
        assert_eq!(created(minor, &with("example.com")), ["201".to_owned(), text("example.com", path)], "1.{minor}");
    }
    assert_eq!(created(37, &with("example.com/x")), ["201"]);
    assert_eq!(updated(37, &with("plain"), &with("plain"), ""), ["200"]);
}

#[test]
fn what_an_update_leaves_alone_is_ratcheted() {
    let old = object(json!({}), json!({"spec": {"short": "long"}}));
    let new = object(json!({}), json!({"spec": {"short": "long", "b": 1}}));
    let errors = |minor| updated(minor, &old, &new, "");
    assert_eq!(errors(29)[0], "spec.short: Too long: may not be longer than 1");
    changes(30, &errors(29).iter().map(String::as_str).collect::<Vec<_>>(), &["200"], errors);
    // Errors of rules are warnings, also where the update is refused for another reason.
    let old = object(json!({}), json!({"spec": {"a": 11}}));
    let relabelled = object(json!({"labels": {"a": "!"}}), json!({"spec": {"a": 11}}));
    let reply = updated(36, &old, &relabelled, "");
    assert!(reply.iter().any(|line| line == "warning: spec.a: Invalid value: too big"), "{reply:?}");
    assert!(reply[0].starts_with("metadata.labels: Invalid value: \"!\""), "{reply:?}");
}

#[test]
fn errors_about_a_status_have_the_whole_path_since_1_31_and_are_ratcheted_since_1_33() {
    let old = object(json!({}), json!({"status": {"phase": "up"}}));
    let new = object(json!({}), json!({"status": {"phase": "down"}}));
    let first = |minor: u8| updated(minor, &old, &new, "/status")[0].clone();
    let rest = r#"Unsupported value: "down": supported values: "up""#;
    assert_eq!(first(30), format!("phase: {rest}"));
    assert_eq!(first(31), format!("status.phase: {rest}"));
    let wrong = object(json!({}), json!({"status": {"phase": "down"}}));
    assert_eq!(updated(32, &wrong, &wrong, "/status")[0], format!("status.phase: {rest}"));
    assert_eq!(updated(33, &wrong, &wrong, "/status"), ["200"]);
}

#[test]
fn values_are_printed_in_json_since_1_34() {
    let repeated = object(json!({}), json!({"spec": {"maps": [{"k": "a"}, {"k": "a"}], "sets": [1e6, 1e6]}}));
    let errors = |minor| created(minor, &repeated);
    changes(
        34,
        &[r#"spec.maps[1]: Duplicate value: map[string]interface {}{"k":"a"}"#, "spec.sets[1]: Duplicate value: 1e+06"],
        &[r#"spec.maps[1]: Duplicate value: {"k":"a"}"#, "spec.sets[1]: Duplicate value: 1e+06"],
        errors,
    );
}

#[test]
fn broken_rules_show_the_value_since_1_35_and_their_own_field_since_1_30() {
    let broken = object(json!({}), json!({"spec": {"a": 11, "b": 12}}));
    let errors = |minor| created(minor, &broken);
    let object = |path: &str| format!("{path}: Invalid value: \"object\": too big");
    assert_eq!(errors(29), [object("spec.a"), object("spec.a.b")]);
    assert_eq!(errors(30), [object("spec.a"), object("spec.b")]);
    assert_eq!(errors(34), [object("spec.a"), object("spec.b")]);
    assert_eq!(errors(35), ["spec.a: Invalid value: too big", "spec.b: Invalid value: too big"]);
}

#[test]
fn numbers_have_the_range_of_their_format_since_1_36() {
    let large = object(json!({}), json!({"spec": {"small": 3_000_000_000_i64}}));
    changes(
        36,
        &["201"],
        &["<nil>: Invalid value: \"\": Checked value must be of type integer with format int32 in spec.small"],
        |minor| created(minor, &large),
    );
}

#[test]
fn bodies_that_are_not_json_are_refused_in_the_words_of_go() {
    let api = api(36);
    let message = |body: &str| {
        let reply = send(&api, &mut Store::default(), "POST", ALL, body);
        let status: Value = serde_json::from_slice(&reply.body).unwrap();
        (reply.code, status["message"].as_str().unwrap().to_owned())
    };
    let unrecognized =
        "the object provided is unrecognized (must be of type Widget): couldn't get version/kind; json parse error: ";
    for (body, expected) in [
        ("", "unexpected end of JSON input (<empty>)"),
        ("kind: Widget", "invalid character 'k' looking for beginning of value (6b696e643a20576964676574)"),
        (
            "{\"kind\": \"Widget\",}",
            "invalid character '}' looking for beginning of object key string ({\"kind\": \"Widget\",})",
        ),
        ("{\"kind\": 1}", "json: cannot unmarshal number into Go struct field .kind of type string ({\"kind\": 1})"),
    ] {
        assert_eq!(message(body), (400, format!("{unrecognized}{expected}")), "{body}");
    }
    let large =
        r#"{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}, "spec": {"a": 1e400}}"#;
    let (code, text) = message(large);
    assert_eq!(code, 400);
    assert!(text.ends_with("json: cannot unmarshal number 1e400 into Go value of type float64"), "{text}");
}

#[test]
fn an_update_names_its_object_and_drops_repeated_owners() {
    let old = object(json!({}), json!({}));
    let mut nameless = old.clone();
    nameless["metadata"].as_object_mut().unwrap().remove("name");
    let api = api(36);
    let mut store = Store::default();
    send(&api, &mut store, "POST", ALL, &old.to_string());
    let reply = send(&api, &mut store, "PUT", &format!("{ALL}/a"), &nameless.to_string());
    let status: Value = serde_json::from_slice(&reply.body).unwrap();
    assert_eq!(status["message"], "the name of the object (a based on URL) was undeterminable: name must be provided");
    let owner = json!({"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u"});
    let owned = object(json!({"ownerReferences": [owner, owner]}), json!({}));
    let told = updated(36, &old, &owned, "");
    assert_eq!(told[0], "200");
    assert!(told[1].ends_with("duplicate UID(s) observed: u"), "{told:?}");
}

#[test]
fn malformed_patches_are_refused_before_their_object_is_looked_up_since_1_37() {
    let patched = |minor: u8, content_type: &str, query: &str, body: &str| {
        let path = format!("{ALL}/missing");
        let request =
            Request { method: "PATCH", path: &path, query, content_type, body: body.as_bytes(), ..Request::default() };
        let reply = api(minor).answer(&mut Store::default(), &request, &Moment::default()).unwrap();
        let status: Value = serde_json::from_slice(&reply.body).unwrap();
        vec![format!("{} {}", reply.code, status["message"].as_str().unwrap_or_default())]
    };
    let missing = r#"404 widgets.example.com "missing" not found"#;
    for media in ["application/json-patch+json", "application/merge-patch+json"] {
        changes(37, &[missing], &["400 invalid JSON patch"], |minor| patched(minor, media, "", "{"));
        changes(37, &[missing], &[missing], |minor| patched(minor, media, "", "[]"));
    }
    let apply = "application/apply-patch+yaml";
    let object = "{apiVersion: example.com/v1, kind: Widget, metadata: {name: missing}, spec: {a: 1, a: 2}}";
    let strict = |subject: &str| {
        format!(
            "400 error strict decoding {subject}: error converting YAML to JSON: yaml: unmarshal errors:\n  \
             line 1: key \"a\" already set in map"
        )
    };
    let query = "fieldManager=ci&fieldValidation=Strict";
    changes(37, &[&strict("YAML")], &[&strict("patch")], |minor| patched(minor, apply, query, object));
}
