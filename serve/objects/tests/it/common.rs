//! An API with one resource, and requests to it.

use kubeshape_objects::store::Store;
use kubeshape_objects::{Api, Moment, Reply, Request};
use kubeshape_registry::{Registry, Time};
use serde_json::Value;

pub(crate) const WIDGETS: &str = r"
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
      scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas, labelSelectorPath: .status.selector}
    selectableFields: [{jsonPath: .spec.color}]
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              replicas: {type: integer, format: int32, default: 1}
              color: {type: string, enum: [red, blue]}
              list: {type: array, items: {type: string}}
            x-kubernetes-validations: [{rule: 'self.replicas < 100', message: too many}]
          status:
            type: object
            x-kubernetes-preserve-unknown-fields: true
            properties:
              replicas: {type: integer}
    additionalPrinterColumns: [{name: Color, type: string, jsonPath: .spec.color}]
  - name: v1beta1
    served: true
    storage: false
    deprecated: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
";

pub(crate) struct Server {
    pub(crate) api: Api,
    pub(crate) store: Store,
    pub(crate) uids: u64,
}

pub(crate) const ALL: &str = "/apis/example.com/v1/namespaces/default/widgets";

impl Server {
    pub(crate) fn new() -> Server {
        let mut registry = Registry::default();
        registry.set_input(
            "widgets",
            kubeshape_input::read("w.yaml", WIDGETS.as_bytes(), kubeshape_input::Limits::default()),
        );
        Server { api: Api::new(registry), store: Store::default(), uids: 0 }
    }

    pub(crate) fn ask(&mut self, request: &Request<'_>) -> Reply {
        self.uids += 1;
        let uid = format!("00000000-0000-0000-0000-{:012}", self.uids);
        let moment = Moment {
            now: Time(1_700_000_000 + self.uids.cast_signed()),
            uid: &uid,
            random: self.uids,
            ..Moment::default()
        };
        self.api.answer(&mut self.store, request, &moment).expect("a resource")
    }

    /// Sends a body to a target, which may have a query. The answer is the code and the body.
    pub(crate) fn send(&mut self, method: &str, target: &str, media: &str, body: &str) -> (u16, Value) {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let request = Request { method, path, query, content_type: media, body: body.as_bytes(), ..Request::default() };
        let reply = self.ask(&request);
        (reply.code, serde_json::from_slice(&reply.body).unwrap_or(Value::Null))
    }

    pub(crate) fn get(&mut self, target: &str) -> (u16, Value) {
        self.send("GET", target, "", "")
    }

    pub(crate) fn create(&mut self, name: &str, spec: &str) -> Value {
        let body = format!(
            r#"{{"apiVersion":"example.com/v1","kind":"Widget","metadata":{{"name":"{name}","labels":{{"name":"{name}"}}}},"spec":{spec}}}"#
        );
        let (code, object) = self.send("POST", ALL, "application/json", &body);
        assert_eq!(code, 201, "{object}");
        object
    }
}
