//! Whatever clients send, responses have the form that they declare, and every stored object can be read, has its own
//! name, and has its revision. Objects stored at a revision can be found again, and the events of a watch result in the
//! stored objects.

use kubeshape_objects::accept::Form;
use kubeshape_objects::store::Store;
use kubeshape_objects::{Api, Moment, Outcome, Request};
use kubeshape_registry::{Registry, Time};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::LazyLock;

const DEFINITION: &str = r"
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
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}
    selectableFields: [{jsonPath: .spec.color}]
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            x-kubernetes-preserve-unknown-fields: true
            properties:
              replicas: {type: integer, default: 1}
              color: {type: string}
              ports: {type: array, x-kubernetes-list-type: set, items: {type: integer}}
            x-kubernetes-validations: [{rule: 'self.replicas < 100'}]
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
    additionalPrinterColumns: [{name: Color, type: string, jsonPath: .spec.color}]
  - {name: v1beta1, served: true, storage: false, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
";
const ALL: &str = "/apis/example.com/v1/namespaces/default/widgets";

static API: LazyLock<Api> = LazyLock::new(|| {
    let mut registry = Registry::default();
    registry.set_input("w", kubeshape_input::read("w.yaml", DEFINITION.as_bytes(), kubeshape_input::Limits::default()));
    Api::new(registry)
});

/// Checks the property. Requests are separated by lines of `%%`. The first line of each is
/// `METHOD TARGET MEDIA ACCEPT`; a target that does not begin with `/apis` is below the widgets of the namespace
/// `default`. The rest is the body.
pub fn holds(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut store = Store::default();
    let start = Request { path: ALL, query: "watch=1", ..Request::default() };
    let Some(Outcome::Watch(mut watch)) = API.prepare(&store, &start, &Moment::default()) else { return };
    let mut known: BTreeMap<String, Value> = BTreeMap::new();
    for (at, part) in text.split("\n%%\n").take(16).enumerate() {
        let (head, body) = part.split_once('\n').unwrap_or((part, ""));
        let mut words = head.splitn(4, ' ');
        let mut word = || words.next().unwrap_or_default();
        let (method, target, media, accept) = (word(), word(), word(), word());
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let path = if path.starts_with("/apis") { path.to_owned() } else { format!("{ALL}{path}") };
        let uid = format!("00000000-0000-0000-0000-{at:012}");
        let moment = Moment { now: Time(i64::try_from(at).unwrap_or(0)), uid: &uid, random: data.len() as u64, ..Moment::default() };
        let request =
            Request { method, path: &path, query, accept, content_type: media, body: body.as_bytes(), ..Request::default() };
        let before = store.clone();
        let Some(reply) = API.answer(&mut store, &request, &moment) else { continue };
        assert!(store.revision() >= before.revision());
        if matches!(reply.form, Form::Json | Form::Indented) && reply.code != 200 {
            serde_json::from_slice::<Value>(&reply.body).expect("JSON");
        }
        if reply.code >= 300 {
            assert_eq!(store.revision(), before.revision(), "{head}: {}", reply.text());
        }
        let again = store.at(before.revision()).expect("it is kept");
        assert_eq!(objects(&again), objects(&before));
    }
    while !watch.is_current(&store) {
        let events = watch.next(&store, Time(0)).expect("it is kept");
        for event in serde_json::Deserializer::from_slice(&events).into_iter::<Value>() {
            let event = event.expect("an event");
            let name = event["object"]["metadata"]["name"].as_str().expect("a name").to_owned();
            if event["type"] == "DELETED" {
                known.remove(&name).expect("an event about an object that the watch has shown");
            } else {
                known.insert(name, event["object"].clone());
            }
        }
    }
    let current = objects(&store).into_iter().filter(|(path, _)| path.starts_with("default/"));
    let current = current.map(|(path, object)| (path["default/".len()..].to_owned(), object));
    assert_eq!(known, current.collect());
}

fn objects(store: &Store) -> BTreeMap<String, Value> {
    let all = store.list(&"widgets.example.com".into(), "", "");
    all.map(|(key, stored)| {
        let object: Value = serde_json::from_str(stored.text()).expect("JSON");
        assert_eq!(object["metadata"]["name"], key.name());
        assert_eq!(object["metadata"]["namespace"], key.namespace());
        assert_eq!(object["metadata"]["resourceVersion"], stored.revision.to_string());
        assert!(object["metadata"]["uid"].is_string());
        (key.path.to_string(), object)
    })
    .collect()
}
