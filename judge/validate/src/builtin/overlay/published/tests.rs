//! Tests of documents with constraints.

use super::*;
use kubeshape_builtin::BuiltInDocuments;
use kubeshape_value::ToValue;
use std::collections::BTreeSet;

/// Returns the names of all documents of a release, and the documents.
fn documents(release: BuiltInDocuments) -> Vec<(String, String)> {
    let api = release.api();
    let all = api.openapi_v3_of(|_| true).into_iter();
    let all = all.filter(|(_, document)| document.contains("\"schemas\":"));
    all.map(|(path, document)| (path.to_owned(), document)).collect()
}

/// Adds the constraints to a document in JSON.
fn published(text: &str, release: Release) -> Option<Published> {
    let tape = edit::read(text)?;
    Constraints::new(release).add(tape.document(text).root()?)
}

fn parsed(text: &str) -> serde_json::Value {
    serde_json::from_str(text).expect("it is JSON")
}

#[test]
fn a_definition_gets_constraints_defaults_and_rules() {
    let document = r##"{"openapi": "3.0.0", "components": {"schemas": {
        "io.k8s.api.apps.v1.Deployment": {"type": "object", "properties": {
            "spec": {"allOf": [{"$ref": "#/components/schemas/io.k8s.api.apps.v1.DeploymentSpec"}], "default": {}}}},
        "io.k8s.api.apps.v1.DeploymentSpec": {"type": "object", "properties": {
            "replicas": {"type": "integer"},
            "selector": {"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector"}}},
        "io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector": {"type": "object", "properties": {"matchLabels": {}}},
        "io.k8s.api.core.v1.ServiceSpec": {"type": "object", "properties": {
            "selector": {"type": "object", "additionalProperties": {"type": "string", "default": ""}}}},
        "io.k8s.api.core.v1.EnvFromSource": {"type": "object", "properties": {
            "configMapRef": {"type": "object"}, "secretRef": {"type": "object"}}}}}}"##;
    let published = published(document, Release::DEFAULT).expect("it is a document");
    let schemas = &parsed(&published.document)["components"]["schemas"];
    let spec = &schemas["io.k8s.api.apps.v1.DeploymentSpec"];
    assert_eq!(spec["properties"]["replicas"].to_string(), r#"{"default":1,"minimum":0,"type":"integer"}"#);
    let rules = spec["x-kubernetes-validations"].to_string();
    assert!(
        rules.contains(r#"{"fieldPath":".selector","message":"field is immutable","rule":"has(self.selector)"#),
        "{rules}"
    );
    let labels = &schemas["io.k8s.api.core.v1.ServiceSpec"]["properties"]["selector"];
    assert_eq!(labels["additionalProperties"]["maxLength"], 63);
    let one_of = &schemas["io.k8s.api.core.v1.EnvFromSource"]["x-kubernetes-validations"];
    let expected = r#"[{"message":"must specify one of: configMapRef, secretRef","rule":"[has(self.configMapRef), has(self.secretRef)].filter(is_set, is_set).size() == 1"}]"#;
    assert_eq!(one_of.to_string(), expected);
    let unsaid: Vec<&str> = published.unsaid.iter().map(|unsaid| unsaid.detail.as_str()).collect();
    assert!(unsaid.contains(&"the rule \"workload\" is Go code"), "{unsaid:?}");
}

#[test]
fn what_is_not_a_document_with_schemas_gets_nothing() {
    for text in ["", "{", "[]", "1", "{}", r#"{"components": 1}"#, r#"{"components": {"schemas": []}}"#] {
        assert_eq!(published(text, Release::DEFAULT), None, "{text}");
    }
}

#[test]
fn every_constraint_has_a_field_in_a_release_and_a_known_keyword() {
    let mut missing: BTreeSet<String> = BTreeSet::new();
    let mut found: BTreeSet<String> = BTreeSet::new();
    let uses = BTreeMap::new();
    for release in BuiltInDocuments::all() {
        for (_, document) in documents(release) {
            let arena = Bump::new();
            let document = parsed(&document);
            let schemas = &document["components"]["schemas"];
            let schemas = Schemas::new(schemas.to_value(&arena).as_map().expect("a map"), &uses, &arena);
            read::each_of(&kubeshape_builtin::CONSTRAINTS, |file, name, node| {
                let definition = schemas.find(name);
                let mut note = |part: &str, is_there: bool| {
                    let name = format!("{file}: {name} {part}");
                    if is_there {
                        found.insert(name)
                    } else {
                        missing.insert(name)
                    };
                };
                note("", definition.is_some());
                let has = |field: &str| definition.is_some_and(|definition| schemas.has(definition, field));
                for (key, facts) in node.get("fields").into_iter().flat_map(Node::pairs) {
                    let path = super::super::check::read::split(key.text());
                    note(key.text(), path.first().is_some_and(|field| has(field)));
                    for (keyword, value) in facts.pairs() {
                        let known = match keyword.text() {
                            "form" => form::pattern(value.text(), true).is_some(),
                            "enum" => value.items().next().is_some(),
                            "required" | "since" | "until" | "minimum" | "maximum" | "minLength" | "maxLength"
                            | "minItems" | "maxItems" | "minProperties" => true,
                            _ => false,
                        };
                        assert!(known, "{file}: {name} {}: {}", key.text(), keyword.text());
                    }
                }
                for member in node.get("one of").into_iter().flat_map(Node::items) {
                    note(member.text(), has(member.text()));
                }
            });
        }
    }
    let nowhere: Vec<&String> = missing.difference(&found).collect();
    assert_eq!(nowhere, Vec::<&String>::new());
}

#[test]
fn constraints_only_add_to_a_document() {
    let constraints = Constraints::new(Release::NEWEST);
    for (path, document) in documents(BuiltInDocuments::newest()) {
        let tape = edit::read(&document).expect("it is JSON");
        let published = constraints.add(tape.document(&document).root().expect("a root")).expect("a document");
        let (before, after) = (parsed(&document), parsed(&published.document));
        assert_eq!(before["paths"], after["paths"], "{path}");
        let types = |document: &serde_json::Value| {
            let schemas = document["components"]["schemas"].as_object().expect("schemas").clone();
            let of = |schema: &serde_json::Value| {
                let properties = schema["properties"].as_object().cloned().unwrap_or_default();
                let types = properties.iter().map(|(name, schema)| (name.clone(), schema["type"].clone()));
                types.collect::<Vec<_>>()
            };
            schemas.iter().map(|(name, schema)| (name.clone(), of(schema))).collect::<Vec<_>>()
        };
        assert_eq!(types(&before), types(&after), "{path}");
    }
}
