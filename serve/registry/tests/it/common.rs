//! The inputs of the tests.

use kubeshape_input::{Input, Limits};
use kubeshape_registry::{Object, Registry};

/// A CustomResourceDefinition of `Widget` in two versions: `v1` without subresources, `v2` with both.
pub(crate) const WIDGETS: &str = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, shortNames: [wd], categories: [all]}
  versions:
  - name: v1
    served: true
    storage: false
    schema:
      openAPIV3Schema: &schema
        type: object
        properties:
          spec: &spec
            type: object
            properties:
              replicas: {type: integer}
              names: {type: array, x-kubernetes-list-type: set, items: {type: string}}
              ports:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [number]
                items:
                  type: object
                  required: [number]
                  properties: {number: {type: integer}, name: {type: string}}
          status: {type: object, properties: {ready: {type: integer}}}
  - name: v2
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.ready}}
    additionalPrinterColumns: [{name: Replicas, type: integer, jsonPath: .spec.replicas}]
    schema: {openAPIV3Schema: *schema}
";

/// An OpenAPI document with one kind and its paths.
pub(crate) const PODS: &str = r#"{"openapi": "3.0.0", "info": {"title": "", "version": ""}, "paths": {
  "/api/v1/namespaces/{namespace}/pods/{name}": {"get": {"responses": {}, "x-kubernetes-action": "get",
    "x-kubernetes-group-version-kind": {"group": "", "version": "v1", "kind": "Pod"}}},
  "/api/v1/namespaces/{namespace}/pods/{name}/status": {"get": {"responses": {}, "x-kubernetes-action": "get",
    "x-kubernetes-group-version-kind": {"group": "", "version": "v1", "kind": "Pod"}}}},
  "components": {"schemas": {"a.Pod": {"type": "object",
    "properties": {"spec": {"type": "object", "properties": {"image": {"type": "string"}}}},
    "x-kubernetes-group-version-kind": [{"group": "", "version": "v1", "kind": "Pod"}]}}}}"#;

pub(crate) fn input(name: &str, text: &str) -> Input {
    kubeshape_input::read(name, text.as_bytes(), Limits::default())
}

pub(crate) fn registry(inputs: &[(&str, &str)]) -> Registry {
    let mut registry = Registry::default();
    for (name, text) in inputs {
        registry.set_input(*name, input(name, text));
    }
    registry
}

/// Returns a `Widget` of a version with these JSON members.
pub(crate) fn widget(version: &str, members: serde_json::Value) -> Object {
    let mut object = serde_json::json!({
        "apiVersion": format!("example.com/{version}"),
        "kind": "Widget",
        "metadata": {"name": "w", "namespace": "n"},
    });
    if let (Some(object), serde_json::Value::Object(members)) = (object.as_object_mut(), members) {
        object.extend(members);
    }
    Object::from(object)
}
