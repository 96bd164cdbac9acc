//! The documents of releases other than 1.36.
#![allow(clippy::unwrap_used)]

use kubeshape_publish::{Base, Options, Publisher};
use kubeshape_schema::{Bump, Release};
use kubeshape_yaml::{Limits, Stream, Tape};
use serde_json::Value;

const CRD: &str = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: as.e.com}
spec:
  group: e.com
  scope: Namespaced
  names: {plural: as, kind: A}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {scale: {specReplicasPath: .spec.n, statusReplicasPath: .status.n}}
    selectableFields: [{jsonPath: .spec.a}]
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              n: {type: integer}
              a:
                type: string
                example: x
                x-kubernetes-validations: [{rule: 'self == oldSelf.orValue(self)', optionalOldSelf: true}]
";

fn document(source: &str, minor: u8) -> Value {
    let publisher = Publisher::new(Base::builtin_of(Release::nearest(minor)), Options::default());
    let (mut tape, arena, mut out) = (Tape::new(), Bump::new(), Vec::new());
    Stream::new(source.as_bytes(), Limits::default()).unwrap().next(&mut tape).unwrap().unwrap();
    let crd = kubeshape_structural::read::read(tape.document(source).root().unwrap(), &arena).value.unwrap();
    publisher.resource(&crd, &arena).versions()[0].v3(&mut out);
    serde_json::from_slice(&out).unwrap()
}

/// Returns the releases for which a condition holds.
fn releases(holds: impl Fn(&Value) -> bool) -> Vec<u8> {
    releases_of(CRD, holds)
}

fn releases_of(source: &str, holds: impl Fn(&Value) -> bool) -> Vec<u8> {
    let all = Release::all().map(Release::minor);
    all.filter(|minor| holds(&document(source, *minor))).collect()
}

fn from(minor: u8) -> Vec<u8> {
    (minor..=Release::NEWEST.minor()).collect()
}

fn own(document: &Value) -> &Value {
    &document["components"]["schemas"]["com.e.v1.A"]
}

fn meta<'d>(document: &'d Value, kind: &str) -> &'d Value {
    &document["components"]["schemas"][format!("io.k8s.apimachinery.pkg.apis.meta.v1.{kind}")]
}

#[test]
fn selectable_fields_are_published_since_1_31_and_empty_ones_in_1_32() {
    const KEY: &str = "x-kubernetes-selectable-fields";
    assert_eq!(releases(|document| own(document)[KEY] == serde_json::json!([{"fieldPath": "spec.a"}])), from(31));
    let without = CRD.replace("    selectableFields: [{jsonPath: .spec.a}]\n", "");
    assert_eq!(releases_of(&without, |document| own(document).get(KEY).is_some()), [32]);
    assert_eq!(releases_of(&without, |document| own(document)[KEY] == serde_json::json!([])), [32]);
}

#[test]
fn fields_of_schemas_are_published_since_releases_store_them() {
    const FIELD: &str = "/properties/spec/properties/a";
    let field = |document: &Value, key: &str| own(document).pointer(FIELD).unwrap().get(key).cloned();
    assert_eq!(releases(|document| field(document, "example").is_some()), from(36));
    let rules = |document: &Value| field(document, "x-kubernetes-validations").unwrap();
    assert_eq!(releases(|document| rules(document)[0].get("optionalOldSelf").is_some()), from(30));
    assert_eq!(releases(|document| rules(document)[0]["rule"].is_string()), from(28));
}

#[test]
fn bodies_are_required_since_1_29() {
    let body = |document: &Value| document["paths"]["/apis/e.com/v1/namespaces/{namespace}/as"]["post"].clone();
    assert_eq!(releases(|document| body(document)["requestBody"]["required"] == true), from(29));
}

#[test]
fn shared_definitions_are_those_of_the_release() {
    let property = |kind: &'static str, name: &'static str| move |d: &Value| meta(d, kind)["properties"][name].clone();
    let has = |kind, name, key: &'static str| releases(move |d| property(kind, name)(d).get(key).is_some());
    assert_eq!(has("ObjectMeta", "creationTimestamp", "default"), [28]);
    assert_eq!(has("ObjectMeta", "ownerReferences", "x-kubernetes-list-map-keys"), from(30));
    assert_eq!(has("Status", "details", "x-kubernetes-list-type"), [30, 31, 32, 33, 34]);
    let name = "ignoreStoreReadErrorWithClusterBreakingPotential";
    assert_eq!(has("DeleteOptions", name, "type"), from(32));
    assert_eq!(releases(|d| d.to_string().contains(&format!("\"name\":\"{name}\""))), from(32));
    assert_eq!(releases(|d| meta(d, "ShardInfo").is_object()), from(36));
    assert_eq!(releases(|d| d.to_string().contains("\"shardSelector\"")), from(36));
    let items = |d: &Value| property("ObjectMeta", "managedFields")(d)["items"].clone();
    assert_eq!(releases(|d| items(d).get("$ref").is_some() && items(d).get("default").is_none()), from(37));
    assert_eq!(releases(|d| items(d).get("allOf").is_some()), (28..=36).collect::<Vec<_>>());
    let scale = |d: &Value| d["components"]["schemas"]["io.k8s.api.autoscaling.v1.ScaleSpec"].clone();
    assert_eq!(releases(|d| scale(d)["properties"]["replicas"].get("default").is_some()), from(34));
}

#[test]
fn kinds_of_delete_options_follow_client_go() {
    const KINDS: &str = "x-kubernetes-group-version-kind";
    let count = |minor| meta(&document(CRD, minor), "DeleteOptions")[KINDS].as_array().unwrap().len();
    let counts: Vec<usize> = (28..=37).map(count).collect();
    assert_eq!(counts, [51, 51, 52, 53, 54, 55, 55, 55, 53, 55]);
    let status = |d: &Value| meta(d, "Status")[KINDS].as_array().unwrap().len();
    assert_eq!(releases(|d| status(d) == 2), [28, 29, 30]);
}
