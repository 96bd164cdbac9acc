//! Differences between the profiles: the media types of published operations, and the restrictions in v2.

use kubeshape_publish::{Base, Options, Profile, Publisher};
use kubeshape_schema::Bump;
use kubeshape_yaml::{Limits, Stream, Tape};
use serde_json::{Value, json};

const TABS: &str = r#"{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "tabs.example.com"},
    "spec": {"group": "example.com", "scope": "Cluster", "names": {"plural": "tabs", "kind": "Tab"}, "versions": [
    {"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}]}}"#;

/// Returns the documents of v3 and v2.
fn documents(profile: Profile) -> [Value; 2] {
    documents_of(TABS, profile)
}

fn documents_of(source: &str, profile: Profile) -> [Value; 2] {
    let publisher = Publisher::new(Base::builtin(), Options { profile, ..Options::default() });
    let (mut tape, arena) = (Tape::new(), Bump::new());
    let mut stream = Stream::new(source.as_bytes(), Limits::default()).expect("UTF-8");
    stream.next(&mut tape).expect("a document").expect("within the limits");
    let root = tape.document(source).root().expect("a root");
    let crd = kubeshape_structural::read::read(root, &arena).value.expect("a definition");
    let resource = publisher.resource(&crd, &arena);
    let (mut v3, mut v2) = (Vec::new(), Vec::new());
    resource.versions()[0].v3(&mut v3);
    resource.versions()[0].v2(&mut v2);
    [v3, v2].map(|text| serde_json::from_slice(&text).expect("JSON"))
}

#[test]
fn the_faithful_profile_has_all_representations() {
    let [v3, v2] = documents(Profile::Faithful);
    let [list, one] = ["/apis/example.com/v1/tabs", "/apis/example.com/v1/tabs/{name}"];
    let get = &v2["paths"][list]["get"];
    let expected = json!([
        "application/json",
        "application/yaml",
        "application/json;g=meta.k8s.io;v=v1;as=PartialObjectMetadataList",
        "application/json;g=meta.k8s.io;v=v1;as=Table",
        "application/json;stream=watch",
        "application/vnd.kubernetes.protobuf;g=meta.k8s.io;v=v1;as=PartialObjectMetadataList",
    ]);
    assert_eq!(get["produces"], expected);
    let description = get["description"].as_str().unwrap_or_default();
    assert!(description.starts_with("list objects of kind Tab. Alternate representations"), "{description}");
    let content = &v3["paths"][one]["get"]["responses"]["200"]["content"];
    assert_eq!(content["application/json;g=meta.k8s.io;v=v1;as=Table"], json!({}));
    assert!(content["application/json"].get("schema").is_some());
    // Writes have the representations of one object, and cannot request others.
    assert_eq!(v2["paths"][one]["put"]["produces"], json!(["application/json", "application/yaml"]));
    assert_eq!(v2["paths"][one]["put"]["description"], "replace the specified Tab");
}

#[test]
fn the_profile_of_the_server_has_the_servers_representations() {
    let [v3, v2] = documents(Profile::Kube);
    let get = &v2["paths"]["/apis/example.com/v1/tabs"]["get"];
    assert_eq!(get["produces"], json!(["application/json", "application/yaml"]));
    assert_eq!(get["description"], "list objects of kind Tab");
    let content = &v3["paths"]["/apis/example.com/v1/tabs"]["get"]["responses"]["200"]["content"];
    assert_eq!(content.as_object().map(serde_json::Map::len), Some(2));
}

/// The v2 form of a schema with the faithful profile, and with that of the server.
const FIELDS: [(&str, &str, &str); 6] = [
    (r#"{"type": "string", "nullable": true}"#, r#"{"type": "string", "x-nullable": true}"#, "{}"),
    (
        r#"{"type": "array", "nullable": true, "items": {"type": "object", "nullable": true, "properties": {"b": {"type": "string"}}}}"#,
        r#"{"type": "array", "x-nullable": true,
            "items": {"type": "object", "x-nullable": true, "properties": {"b": {"type": "string"}}}}"#,
        "{}",
    ),
    (
        r#"{"type": "object", "required": ["b"], "properties": {"b": {"type": "integer", "nullable": true}}}"#,
        r#"{"type": "object", "required": ["b"], "properties": {"b": {"type": "integer", "x-nullable": true}}}"#,
        r#"{"type": "object", "properties": {"b": {}}}"#,
    ),
    (
        r#"{"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {"b": {"type": "string"}}}"#,
        r#"{"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {"b": {"type": "string"}}}"#,
        r#"{"x-kubernetes-preserve-unknown-fields": true}"#,
    ),
    (
        r#"{"type": "string", "allOf": [{"minLength": 1}], "anyOf": [{"maxLength": 3}, {"pattern": "a"}]}"#,
        r#"{"type": "string", "allOf": [{"minLength": 1}]}"#,
        r#"{"type": "string"}"#,
    ),
    (
        r#"{"x-kubernetes-int-or-string": true, "nullable": true}"#,
        r#"{"x-kubernetes-int-or-string": true, "x-nullable": true}"#,
        r#"{"x-kubernetes-int-or-string": true}"#,
    ),
];

#[test]
fn the_faithful_profile_keeps_everything_that_v2_can_express() {
    for (source, faithful, kube) in FIELDS {
        let field = |profile| {
            let schema = format!(r#"{{"type": "object", "properties": {{"a": {source}}}}}"#);
            let [_, v2] = documents_of(&TABS.replace(r#"{"type": "object"}"#, &schema), profile);
            v2["definitions"]["com.example.v1.Tab"]["properties"]["a"].clone()
        };
        let expected = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
        assert_eq!(field(Profile::Faithful), expected(faithful), "{source}");
        assert_eq!(field(Profile::Kube), expected(kube), "{source}");
    }
    // This applies to the root, too.
    let schema =
        r#"{"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {"a": {"type": "string"}}}"#;
    let [_, v2] = documents_of(&TABS.replace(r#"{"type": "object"}"#, schema), Profile::Faithful);
    assert_eq!(v2["definitions"]["com.example.v1.Tab"]["properties"]["a"], json!({"type": "string"}));
}
