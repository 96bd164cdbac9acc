//! Conversion webhooks: every version of an object, and what is said of wrong responses.

use crate::common::Server;
use kubeshape_objects::store::Store;
use kubeshape_objects::{Api, HookCall, Hooks, Moment, Outcome, Request};
use kubeshape_registry::{Registry, Time};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

const TABS: &str = r"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tabs.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: tabs, kind: Tab}
  conversion:
    strategy: Webhook
    webhook:
      conversionReviewVersions: [v9, v1]
      clientConfig: {url: 'https://127.0.0.1:9/convert', caBundle: Cg==}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {host: {type: string}, port: {type: integer, default: 80}}}
  - name: v1beta1
    served: true
    storage: false
    schema:
      openAPIV3Schema:
        type: object
        properties: {spec: {type: object, properties: {address: {type: string}}}}
";
const V1: &str = "/apis/example.com/v1/namespaces/default/tabs";
const BETA: &str = "/apis/example.com/v1beta1/namespaces/default/tabs";
const GVK: &str = "conversion webhook for example.com/v1, Kind=Tab ";

/// How the webhook answers.
type Change = Box<dyn Fn(&mut Value) + Send + Sync>;

/// A webhook: `host` and `port` of v1 are `address` in v1beta1.
#[derive(Default)]
struct Webhook {
    /// The number of objects of each review.
    reviews: Mutex<Vec<usize>>,
    change: Mutex<Option<Change>>,
}

impl std::fmt::Debug for Webhook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Webhook")
    }
}

impl Webhook {
    fn counts(&self) -> Vec<usize> {
        std::mem::take(&mut self.reviews.lock().unwrap())
    }

    fn answers(&self, change: impl Fn(&mut Value) + Send + Sync + 'static) {
        *self.change.lock().unwrap() = Some(Box::new(change));
    }
}

fn converted(object: &Value, to: &Value) -> Value {
    let mut out = object.clone();
    out["apiVersion"] = to.clone();
    let spec = &object["spec"];
    out["spec"] = if to == "example.com/v1" {
        let (host, port) = spec["address"].as_str().unwrap_or_default().split_once(':').unwrap_or(("", "0"));
        json!({"host": host, "port": port.parse::<u16>().unwrap()})
    } else {
        json!({"address": format!("{}:{}", spec["host"].as_str().unwrap_or_default(), spec["port"]), "unknown": 1})
    };
    out
}

impl Hooks for Webhook {
    fn call(&self, call: &HookCall) -> Result<Vec<u8>, String> {
        assert_eq!(call.url.as_deref(), Some("https://127.0.0.1:9/convert"));
        assert_eq!((call.timeout.as_secs(), &call.authorities[..]), (30, &b""[..]));
        let review: Value = serde_json::from_slice(&call.body).unwrap();
        let request = &review["request"];
        let objects = request["objects"].as_array().unwrap();
        self.reviews.lock().unwrap().push(objects.len());
        let objects: Vec<Value> =
            objects.iter().map(|object| converted(object, &request["desiredAPIVersion"])).collect();
        let mut answer = json!({"apiVersion": review["apiVersion"], "kind": "ConversionReview", "response": {
            "uid": request["uid"], "convertedObjects": objects, "result": {"status": "Success"}}});
        if let Some(change) = &*self.change.lock().unwrap() {
            change(&mut answer);
        }
        if answer.is_null() { Err("Post \"https://x\": refused".to_owned()) } else { Ok(answer.to_string().into()) }
    }
}

fn server() -> (Server, Arc<Webhook>) {
    let mut registry = Registry::default();
    let limits = kubeshape_input::Limits::default();
    registry.set_input("tabs", kubeshape_input::read("tabs.yaml", TABS.as_bytes(), limits));
    let webhook = Arc::new(Webhook::default());
    let api = Api::new(registry).with_hooks(Arc::<Webhook>::clone(&webhook));
    (Server { api, store: Store::default(), ..Server::new() }, webhook)
}

fn tab(version: &str, name: &str, spec: &Value) -> String {
    let metadata = json!({"name": name, "labels": {"of": name}});
    json!({"apiVersion": format!("example.com/{version}"), "kind": "Tab", "metadata": metadata, "spec": spec})
        .to_string()
}

fn created(server: &mut Server, path: &str, body: &str) -> Value {
    let (code, object) = server.send("POST", path, "application/json", body);
    assert_eq!(code, 201, "{object}");
    object
}

#[test]
fn objects_are_written_and_read_in_every_version() {
    let (mut server, webhook) = server();
    let object = created(&mut server, BETA, &tab("v1beta1", "a", &json!({"address": "x:8"})));
    // As it is read: unknown fields of the response are dropped.
    assert_eq!((&object["apiVersion"], &object["spec"]), (&json!("example.com/v1beta1"), &json!({"address": "x:8"})));
    assert_eq!(object["metadata"]["resourceVersion"], server.store.revision().to_string());
    // To the stored version, and back.
    assert_eq!(webhook.counts(), [1, 1]);
    let (_, v1) = server.get(&format!("{V1}/a"));
    assert_eq!(v1["spec"], json!({"host": "x", "port": 8}));
    let (_, beta) = server.get(&format!("{BETA}/a"));
    assert_eq!(beta, object);
    assert_eq!(webhook.counts(), [] as [usize; 0]);
    let patch = r#"{"spec": {"address": "y:9"}}"#;
    let (code, object) = server.send("PATCH", &format!("{BETA}/a"), "application/merge-patch+json", patch);
    assert_eq!((code, &object["spec"]), (200, &json!({"address": "y:9"})));
    let mut whole = object.clone();
    whole["spec"]["address"] = "z:10".into();
    let (code, object) = server.send("PUT", &format!("{BETA}/a"), "application/json", &whole.to_string());
    assert_eq!((code, &object["spec"]), (200, &json!({"address": "z:10"})));
    let applied = tab("v1beta1", "b", &json!({"address": "b:1"}));
    let target = format!("{BETA}/b?fieldManager=me");
    let (code, object) = server.send("PATCH", &target, "application/apply-patch+yaml", &applied);
    assert_eq!((code, &object["spec"]), (201, &json!({"address": "b:1"})));
    assert_eq!(server.get(&format!("{V1}/b")).1["spec"], json!({"host": "b", "port": 1}));
    assert_eq!(server.send("DELETE", &format!("{BETA}/b"), "", "").0, 200);
}

#[test]
fn managers_own_fields_in_their_versions() {
    let (mut server, _webhook) = server();
    let apply = |server: &mut Server, path: &str, manager: &str, body: &str| {
        server.send("PATCH", &format!("{path}/a?fieldManager={manager}"), "application/apply-patch+yaml", body)
    };
    let beta = tab("v1beta1", "a", &json!({"address": "x:8"}));
    assert_eq!(apply(&mut server, BETA, "first", &beta).0, 201);
    // The other version has the same value: nobody objects.
    let (code, answer) = apply(&mut server, V1, "second", &tab("v1", "a", &json!({"host": "x", "port": 8})));
    assert_eq!(code, 200, "{answer}");
    // In the version of the first manager, its field changes.
    let (code, answer) = apply(&mut server, V1, "second", &tab("v1", "a", &json!({"host": "y", "port": 8})));
    assert_eq!(code, 409, "{answer}");
    assert!(answer["message"].as_str().unwrap().contains(".spec.address"), "{answer}");
}

#[test]
fn lists_are_converted_in_batches_and_kept() {
    let (mut server, webhook) = server();
    for at in 0..501 {
        created(&mut server, V1, &tab("v1", &format!("a{at}"), &json!({"host": "x"})));
    }
    assert_eq!(webhook.counts(), [] as [usize; 0]);
    let (_, list) = server.get(&format!("{BETA}?labelSelector=of%3Da7"));
    assert_eq!(list["items"][0]["spec"], json!({"address": "x:80"}));
    assert_eq!(webhook.counts(), [500, 1]);
    assert_eq!(server.get(BETA).1["items"].as_array().unwrap().len(), 501);
    // Clients of the stored version do not displace what was converted.
    server.get(V1);
    server.get(BETA);
    assert_eq!(webhook.counts(), [] as [usize; 0]);
}

#[test]
fn watches_tell_objects_in_their_version() {
    let (mut server, _webhook) = server();
    created(&mut server, V1, &tab("v1", "a", &json!({"host": "x"})));
    let request = Request { path: BETA, query: "watch=1&labelSelector=of%3Da", ..Request::default() };
    let Some(Outcome::Watch(mut watch)) = server.api.prepare(&server.store, &request, &Moment::default()) else {
        panic!("no watch");
    };
    let mut told = |server: &Server| {
        assert!(watch.may_wait(&server.store));
        let events = watch.next(&server.store, Time(0)).unwrap();
        let events = serde_json::Deserializer::from_slice(&events).into_iter::<Value>();
        events
            .map(Result::unwrap)
            .map(|event| format!("{} {}", event["type"], event["object"]["spec"]))
            .collect::<Vec<_>>()
    };
    assert_eq!(told(&server), [r#""ADDED" {"address":"x:80"}"#]);
    let patch = |patch: &str, server: &mut Server| {
        let (code, answer) = server.send("PATCH", &format!("{V1}/a"), "application/merge-patch+json", patch);
        assert_eq!(code, 200, "{answer}");
    };
    patch(r#"{"spec": {"host": "y"}}"#, &mut server);
    patch(r#"{"metadata": {"labels": {"of": "b"}}}"#, &mut server);
    assert_eq!(told(&server), [r#""MODIFIED" {"address":"y:80"}"#, r#""DELETED" {"address":"y:80"}"#]);
}

/// Reads an object of v1 in v1beta1 with a changed response. Returns the message.
fn failure(change: impl Fn(&mut Value) + Send + Sync + 'static) -> String {
    let (mut server, webhook) = server();
    created(&mut server, V1, &tab("v1", "a", &json!({"host": "x"})));
    webhook.answers(change);
    let (code, status) = server.get(&format!("{BETA}/a"));
    assert_eq!(code, 500);
    let (_, list) = server.get(BETA);
    // Each review has its own uid.
    let without_uid = |status: &Value| status["message"].as_str().unwrap().replace("000000000001", "000000000000");
    assert_eq!(without_uid(&list), without_uid(&status));
    let message = status["message"].as_str().unwrap();
    message.strip_prefix(GVK).unwrap_or(message).to_owned()
}

#[test]
fn wrong_responses_are_refused_with_the_words_of_the_server() {
    let object =
        |change: fn(&mut Value)| move |answer: &mut Value| change(&mut answer["response"]["convertedObjects"][0]);
    let cases = [
        (failure(|answer| *answer = Value::Null), "failed: Post \"https://x\": refused"),
        (
            failure(|answer| answer["apiVersion"] = "v2".into()),
            "failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got v2, Kind=ConversionReview",
        ),
        (failure(|answer| answer["response"] = Value::Null), "failed: no response provided"),
        (failure(|answer| answer["response"]["result"] = json!({"status": "Failure", "message": "no"})), "failed: no"),
        (
            failure(|answer| answer["response"]["result"] = json!({})),
            "failed: response.result.status was '', not 'Success'",
        ),
        (failure(|answer| answer["response"]["convertedObjects"] = json!([])), "returned 0 objects, expected 1"),
        (
            failure(object(|object| object["apiVersion"] = "example.com/v1".into())),
            "returned invalid object at index 0: invalid groupVersion (expected example.com/v1beta1, received example.com/v1)",
        ),
        (
            failure(object(|object| object["kind"] = "Other".into())),
            "returned invalid object at index 0: invalid kind (expected Tab, received Other)",
        ),
        (
            failure(object(|object| object["metadata"]["name"] = "b".into())),
            "returned invalid object: must have the same name: a != b",
        ),
        (
            failure(object(|object| object["metadata"]["namespace"] = "b".into())),
            "returned invalid object: must have the same namespace: default != b",
        ),
        (
            failure(object(|object| object["metadata"] = json!([]))),
            "returned invalid object: must have the same name: a != ",
        ),
        (
            failure(object(|object| object["metadata"]["labels"] = json!({"a": 1}))),
            "returned invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object",
        ),
        (
            failure(object(|object| object["metadata"]["labels"] = json!({"a": "-"}))),
            "returned invalid metadata: metadata.labels: Invalid value: \"-\"",
        ),
        (
            failure(object(|object| object["spec"]["address"] = "x".repeat(1 << 20).into())),
            "returned an object with more than",
        ),
    ];
    for (found, expected) in cases {
        assert!(found.starts_with(expected), "{found}\n{expected}");
    }
    let uid = failure(|answer| answer["response"]["uid"] = "other".into());
    assert!(
        uid.starts_with("failed: expected response.uid=\"00000000-0000-4000-8000-") && uid.ends_with("got \"other\"")
    );
}

#[test]
fn only_labels_and_annotations_of_the_metadata_change() {
    let (mut server, webhook) = server();
    let before = created(&mut server, V1, &tab("v1", "a", &json!({"host": "x"})));
    webhook.answers(|answer| {
        let metadata = &mut answer["response"]["convertedObjects"][0]["metadata"];
        metadata["labels"] = Value::Null;
        metadata["annotations"] = json!({"kept": "1"});
        metadata["creationTimestamp"] = "2001-01-01T00:00:00Z".into();
        metadata["finalizers"] = json!(["example.com/x"]);
        metadata["resourceVersion"] = "77".into();
    });
    let (_, object) = server.get(&format!("{BETA}/a"));
    let mut expected = before["metadata"].clone();
    expected.as_object_mut().unwrap().remove("labels");
    expected["annotations"] = json!({"kept": "1"});
    assert_eq!(object["metadata"], expected);
}

#[test]
fn without_hooks_only_the_version_changes() {
    let (server, _webhook) = server();
    let mut registry = Registry::default();
    let limits = kubeshape_input::Limits::default();
    registry.set_input("tabs", kubeshape_input::read("tabs.yaml", TABS.as_bytes(), limits));
    let mut server = Server { api: Api::new(registry), ..server };
    created(&mut server, V1, &tab("v1", "a", &json!({"host": "x"})));
    let (_, object) = server.get(&format!("{BETA}/a"));
    assert_eq!(object["spec"], json!({"host": "x", "port": 80}));
}
