//! Inputs for tests about objects and their owners.

/// A resource with a set, an atomic list, a list by keys, a status, and a second version.
pub(crate) const CRD: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.example.com
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
            properties:
              replicas: {type: integer}
              names: {type: array, x-kubernetes-list-type: set, items: {type: string}}
              args: {type: array, items: {type: string}}
              ports:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [port, protocol]
                items:
                  type: object
                  required: [port]
                  properties:
                    port: {type: integer}
                    protocol: {type: string, default: TCP}
                    name: {type: string}
          status:
            type: object
            properties:
              ready: {type: integer}
  - name: v2
    served: true
    storage: false
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              replicas: {type: integer}
              size: {type: integer}
";

/// An object of this resource, with owners.
pub(crate) const LIVE: &str = r#"apiVersion: example.com/v1
kind: Widget
metadata:
  name: a
  namespace: x
  uid: u
  managedFields:
  - manager: kubectl
    operation: Apply
    apiVersion: example.com/v1
    time: "2024-01-01T00:00:00Z"
    fieldsType: FieldsV1
    fieldsV1:
      f:spec:
        f:replicas: {}
        f:args: {}
        f:ports:
          k:{"port":80,"protocol":"TCP"}:
            .: {}
            f:name: {}
            f:port: {}
  - manager: operator
    operation: Update
    apiVersion: example.com/v1
    subresource: status
    time: "2024-01-02T00:00:00Z"
    fieldsType: FieldsV1
    fieldsV1:
      f:status:
        .: {}
        f:ready: {}
spec:
  replicas: 3
  args: [a, b]
  names: ["n"]
  ports:
  - {port: 80, protocol: TCP, name: web}
status:
  ready: 2
"#;

/// Returns a configuration of the object with this spec.
pub(crate) fn config(spec: &str) -> String {
    format!("apiVersion: example.com/v1\nkind: Widget\nmetadata: {{name: a, namespace: x}}\nspec:\n  {spec}\n")
}
