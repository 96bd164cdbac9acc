//! The contents of the documents.

use kubeshape_builtin::{Api, BuiltInDocuments};
use serde_json::Value;

fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text:.100}"))
}

fn v3(api: &Api, path: &str) -> Value {
    value(&api.openapi_v3(path).unwrap_or_else(|| panic!("no {path}")))
}

#[test]
fn all_releases_take_at_most_1500_kilobytes() {
    let size: usize = BuiltInDocuments::all().map(|release| release.packed().len()).sum();
    assert!(size <= 1_500_000, "{size} bytes");
}

#[test]
fn every_document_of_every_release_is_json_without_descriptions() {
    fn check(value: &Value, at: &str) {
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    let at = format!("{at}/{name}");
                    let of_response = at.rsplit('/').nth(2) == Some("responses");
                    assert!(name != "description" || !member.is_string() || of_response, "{at}: {member}");
                    check(member, &at);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| check(item, at)),
            Value::String(text) => {
                // Operation ids are long, but have no blanks.
                let is_prose = text.len() > 60 && text.contains(' ');
                assert!(!is_prose, "{at}: {text}");
            }
            _ => {}
        }
    }
    for release in BuiltInDocuments::all() {
        let api = release.api();
        let v3 = api.openapi_v3_of(|_| true);
        assert!(v3.len() > 40, "{release}: {}", v3.len());
        for (path, document) in &v3 {
            check(&value(document), path);
        }
        check(&value(&api.openapi_v2()), "v2");
        let discovery = api.discovery();
        assert!(discovery.len() > 10, "{release}: {}", discovery.len());
        for (name, document) in &discovery {
            check(&value(document), name);
        }
    }
}

#[test]
fn a_definition_keeps_everything_but_descriptions() {
    let release: BuiltInDocuments = "1.34".parse().expect("a release");
    let pod = v3(&release.api(), "api/v1");
    let schema = |name: &str| pod["components"]["schemas"][format!("io.k8s.api.core.v1.{name}")].clone();
    assert_eq!(
        schema("ContainerPort"),
        serde_json::json!({
            "properties": {
                "containerPort": {"default": 0, "format": "int32", "type": "integer"},
                "hostIP": {"type": "string"},
                "hostPort": {"format": "int32", "type": "integer"},
                "name": {"type": "string"},
                "protocol": {"default": "TCP", "type": "string"}
            },
            "required": ["containerPort"],
            "type": "object"
        })
    );
    let ports = &schema("Container")["properties"]["ports"];
    assert_eq!(ports["x-kubernetes-list-type"], "map");
    assert_eq!(ports["x-kubernetes-list-map-keys"], serde_json::json!(["containerPort", "protocol"]));
    assert_eq!(ports["x-kubernetes-patch-merge-key"], "containerPort");
    assert_eq!(ports["x-kubernetes-patch-strategy"], "merge");
    assert_eq!(
        schema("Pod")["x-kubernetes-group-version-kind"],
        serde_json::json!([{"group": "", "kind": "Pod", "version": "v1"}])
    );
    // A property may be called description.
    let column = v3(&release.api(), "apis/apiextensions.k8s.io/v1");
    let column = &column["components"]["schemas"]["io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceColumnDefinition"];
    assert_eq!(column["properties"]["description"], serde_json::json!({"type": "string"}));
}

#[test]
fn a_path_keeps_its_verbs_parameters_and_kind() {
    let apps = v3(&BuiltInDocuments::newest().api(), "apis/apps/v1");
    let patch = &apps["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]["patch"];
    assert_eq!(patch["x-kubernetes-action"], "patch");
    let kind = serde_json::json!({"group": "apps", "kind": "Deployment", "version": "v1"});
    assert_eq!(patch["x-kubernetes-group-version-kind"], kind);
    let names: Vec<&str> =
        patch["parameters"].as_array().into_iter().flatten().filter_map(|p| p["name"].as_str()).collect();
    assert_eq!(names, ["dryRun", "fieldManager", "fieldValidation", "force"]);
    assert_eq!(patch["responses"]["200"]["description"], "OK");
}

#[test]
fn discovery_has_the_short_names_and_scopes() {
    let discovery = BuiltInDocuments::newest().api().discovery();
    let (_, apps) = discovery.iter().find(|(name, _)| name == "apis__apps__v1").expect("apps/v1");
    let apps = value(apps);
    let resources = apps["resources"].as_array().expect("resources");
    let deployments = resources.iter().find(|resource| resource["name"] == "deployments").expect("deployments");
    assert_eq!(deployments["shortNames"], serde_json::json!(["deploy"]));
    assert_eq!(deployments["categories"], serde_json::json!(["all"]));
    assert_eq!(deployments["namespaced"], true);
}

#[test]
fn an_unknown_document_gives_none() {
    assert_eq!(BuiltInDocuments::newest().api().openapi_v3("apis/apps/v9"), None);
}
