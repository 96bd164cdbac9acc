//! The closed set of Kubernetes 1.36: its structure from a table, its texts from the `k8s-openapi` crate.

use crate::names::{AUTOSCALING, META};
use crate::texts::Texts;
use k8s_openapi::api::autoscaling::v1::{Scale, ScaleSpec, ScaleStatus};
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apimachinery::pkg::apis::meta::v1 as meta;
use k8s_openapi::schemars::{JsonSchema, SchemaGenerator};
use serde_json::Value;

/// Names, types, defaults and extensions, without texts (spec: publishing, "Definition names and pulled-in
/// definitions").
const STRUCTURE: &str = include_str!("definitions.json");

/// The definitions by name, with descriptions.
pub(crate) fn definitions() -> Value {
    let mut definitions: Value = serde_json::from_str(STRUCTURE).unwrap_or_default();
    for (name, described) in described() {
        describe(&mut definitions[name], &described);
    }
    definitions
}

/// The library's schemas by definition name.
fn described() -> Vec<(String, Value)> {
    let mut generator = SchemaGenerator::default();
    macro_rules! schemas {
        ($($prefix:expr, $name:literal, $type:ty;)*) => {
            vec![$((format!("{}{}", $prefix, $name), <$type>::json_schema(&mut generator).to_value()),)*]
        };
    }
    schemas! {
        META, "DeleteOptions", meta::DeleteOptions;
        META, "FieldsV1", meta::FieldsV1;
        META, "ListMeta", meta::ListMeta;
        META, "ManagedFieldsEntry", meta::ManagedFieldsEntry;
        META, "ObjectMeta", meta::ObjectMeta;
        META, "OwnerReference", meta::OwnerReference;
        META, "Patch", meta::Patch;
        META, "Preconditions", meta::Preconditions;
        META, "ShardInfo", meta::ShardInfo;
        META, "Status", meta::Status;
        META, "StatusCause", meta::StatusCause;
        META, "StatusDetails", meta::StatusDetails;
        META, "Time", meta::Time;
        AUTOSCALING, "Scale", Scale;
        AUTOSCALING, "ScaleSpec", ScaleSpec;
        AUTOSCALING, "ScaleStatus", ScaleStatus;
    }
}

/// Copies the descriptions of a schema and of its properties.
pub(super) fn describe(definition: &mut Value, described: &Value) {
    let Some(target) = definition.as_object_mut() else { return };
    if let Some(text) = described["description"].as_str() {
        target.insert("description".to_owned(), text.into());
    }
    let Some(properties) = target.get_mut("properties").and_then(Value::as_object_mut) else { return };
    for (name, property) in properties {
        if let (Some(text), Some(property)) =
            (described["properties"][name]["description"].as_str(), property.as_object_mut())
        {
            property.insert("description".to_owned(), text.into());
        }
    }
}

/// The texts outside of definitions. Those of parameters that the library does not carry are our own words.
pub(crate) fn texts(definitions: &Value) -> Texts {
    let mut generator = SchemaGenerator::default();
    let object = ConfigMap::json_schema(&mut generator).to_value();
    let mut texts = Texts {
        api_version: super::text(definitions, "Status", "apiVersion"),
        kind: super::text(definitions, "Status", "kind"),
        object_metadata: object["properties"]["metadata"]["description"].as_str().unwrap_or_default().to_owned(),
        list_metadata: super::text(definitions, "Status", "metadata"),
        namespace: "The namespace of the object.".to_owned(),
        patch_field_manager:
            "Name of the actor that makes the change; an apply request must give it, other patches may.".to_owned(),
        ..Texts::default()
    };
    let own = [
        ("allowWatchBookmarks", "Whether the server may send BOOKMARK events during a watch."),
        ("continue", "The token of an earlier answer from which the list goes on."),
        ("fieldManager", "Name of the actor that makes the change."),
        ("fieldSelector", "Restricts the list to objects whose fields match."),
        ("fieldValidation", "What happens to unknown and repeated fields: Ignore, Warn or Strict."),
        ("force", "Whether an apply request takes over fields that other managers own."),
        ("labelSelector", "Restricts the list to objects whose labels match."),
        ("limit", "The largest number of objects in one answer."),
        ("pretty", "Whether the answer is indented for people."),
        ("resourceVersion", "The resource version that the answer is made from."),
        ("resourceVersionMatch", "How resourceVersion is applied to a list."),
        ("sendInitialEvents", "Whether a watch begins with events for the objects that exist."),
        ("shardSelector", "Restricts the list to a shard, by ranges of hashes."),
        ("timeoutSeconds", "How long a list or watch may take, in seconds."),
        ("watch", "Whether to send changes as they happen instead of a list."),
    ];
    texts.query.extend(own.map(|(name, text)| (name.to_owned(), text.to_owned())));
    // The parameters of DELETE are the members of its body.
    for name in crate::operations::query_parameters() {
        let text = super::text(definitions, "DeleteOptions", name);
        if !text.is_empty() {
            texts.query.insert(name.to_owned(), text);
        }
    }
    texts
}
