//! Prints what documents share when no base is given: the definitions and paths of Kubernetes 1.36.
//!
//! The structure of the definitions is a table of this crate (`src/base/definitions.json`), their descriptions come
//! from the `k8s-openapi` crate. Everything is printed here, into the form in which documents hold it, so that the
//! library neither depends on `k8s-openapi` nor prints anything when it starts.

// A build script talks to Cargo on standard output, and a failure ends the build.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

// The modules that print. The library uses more of them than this script does.
#[allow(dead_code)]
#[path = "src/base/definitions.rs"]
mod definitions;
#[allow(dead_code, unreachable_pub)]
#[path = "src/names.rs"]
mod names;
#[path = "src/operations.rs"]
mod operations;
#[allow(dead_code)]
#[path = "src/paths.rs"]
mod paths;
#[allow(dead_code)]
#[path = "src/template.rs"]
mod template;
#[path = "src/texts.rs"]
mod texts;

use k8s_openapi::api::autoscaling::v1::{Scale, ScaleSpec, ScaleStatus};
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apimachinery::pkg::apis::meta::v1 as meta;
use k8s_openapi::schemars::{JsonSchema, SchemaGenerator};
use kubeshape_schema::Bump;
use kubeshape_yaml::Tape;
use names::{AUTOSCALING, META};
use paths::Paths;
use serde_json::Value;
use std::fmt::Write;
use std::path::Path;
use template::Template;
use texts::Texts;

/// Names, types, defaults and extensions of the definitions, without descriptions.
const STRUCTURE: &str = include_str!("src/base/definitions.json");

fn main() {
    for file in ["base/definitions.json", "base/definitions.rs", "names.rs", "operations.rs", "paths.rs"] {
        println!("cargo::rerun-if-changed=src/{file}");
    }
    for file in ["build.rs", "src/template.rs", "src/texts.rs"] {
        println!("cargo::rerun-if-changed={file}");
    }
    let source = definitions_with_descriptions();
    let json = source.to_string();
    let texts = texts(&source);
    let (arena, mut tape) = (Bump::new(), Tape::new());
    let definitions = definitions::print(&definitions::read(&json, &mut tape, &arena), &arena);
    let paths = paths::all(&texts, false);

    let folder = std::env::var_os("OUT_DIR").unwrap();
    let write = |name: &str, text: &str| std::fs::write(Path::new(&folder).join(name), text).unwrap();
    write("definitions.json", &json);
    write("texts.in", &rust_texts(&texts));
    write("printed.in", &rust_definitions(&definitions));
    write("paths.in", &rust_paths(&paths));
}

fn definitions_with_descriptions() -> Value {
    let mut definitions: Value = serde_json::from_str(STRUCTURE).unwrap();
    for (name, schema) in kubernetes_schemas() {
        describe(&mut definitions[name], &schema);
    }
    definitions
}

/// The schemas of `k8s-openapi` by definition name.
fn kubernetes_schemas() -> Vec<(String, Value)> {
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
fn describe(definition: &mut Value, described: &Value) {
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

/// The texts outside of definitions. `k8s-openapi` lacks those of parameters; they are our own words.
fn texts(definitions: &Value) -> Texts {
    let object = ConfigMap::json_schema(&mut SchemaGenerator::default()).to_value();
    let description = |properties: &Value, name: &str| {
        properties["properties"][name]["description"].as_str().unwrap_or_default().to_owned()
    };
    let status = &definitions[format!("{META}Status")];
    let mut texts = Texts {
        api_version: description(status, "apiVersion"),
        kind: description(status, "kind"),
        object_metadata: description(&object, "metadata"),
        list_metadata: description(status, "metadata"),
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
    let delete_options = &definitions[format!("{META}DeleteOptions")];
    for name in operations::query_parameters() {
        let text = description(delete_options, name);
        if !text.is_empty() {
            texts.query.insert(name.to_owned(), text);
        }
    }
    texts
}

/// A Rust expression for the texts.
fn rust_texts(texts: &Texts) -> String {
    let Texts { api_version, kind, object_metadata, list_metadata, namespace, query, patch_field_manager } = texts;
    let mut out = String::from("Texts {\n");
    let members = [
        ("api_version", api_version),
        ("kind", kind),
        ("object_metadata", object_metadata),
        ("list_metadata", list_metadata),
        ("namespace", namespace),
        ("patch_field_manager", patch_field_manager),
    ];
    for (member, text) in members {
        writeln!(out, "{member}: {text:?}.to_owned(),").unwrap();
    }
    out.push_str("query: [\n");
    for (name, text) in query {
        writeln!(out, "({name:?}, {text:?}),").unwrap();
    }
    out.push_str("].map(|(name, text)| (name.to_owned(), text.to_owned())).into(),\n}\n");
    out
}

/// A Rust expression for the printed definitions.
fn rust_definitions(definitions: &[definitions::Printed]) -> String {
    let mut out = String::from("[\n");
    for definitions::Printed { name, v3, v2, v2_served } in definitions {
        writeln!(out, "Definition::of_static({name:?}, {}, {}, {}),", bytes(v3), bytes(v2), bytes(v2_served)).unwrap();
    }
    out.push_str("]\n");
    out
}

/// A Rust expression for the paths.
fn rust_paths(all: &[[Paths; 2]; 3]) -> String {
    let mut out = String::from("[\n");
    for scopes in all {
        out.push_str("[\n");
        for Paths { paths, parameters } in scopes {
            out.push_str("Paths {\npaths: vec![\n");
            for path in paths {
                let (key, item) = (template(&path.key), template(&path.item));
                writeln!(out, "PathTemplate {{ place: Place::{:?}, key: {key}, item: {item} }},", path.place).unwrap();
            }
            out.push_str("],\nparameters: vec![\n");
            for (name, json) in parameters {
                writeln!(out, "({name:?}.to_owned(), {}.to_vec()),", bytes(json)).unwrap();
            }
            out.push_str("],\n},\n");
        }
        out.push_str("],\n");
    }
    out.push_str("]\n");
    out
}

fn template(template: &Template) -> String {
    let holes: Vec<String> = template.holes.iter().map(|(at, slot)| format!("({at}, Slot::{slot:?})")).collect();
    let (text, holes) = (bytes(&template.text), holes.join(", "));
    format!("Template {{ text: Cow::Borrowed({text}), holes: Cow::Borrowed(&[{holes}]) }}")
}

/// A byte string.
fn bytes(bytes: &[u8]) -> String {
    format!("b\"{}\"", bytes.escape_ascii())
}
