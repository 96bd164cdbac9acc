//! Prints `printed/` again, and compares.
//!
//! The source is `definitions.json`: the definitions of Kubernetes 1.36 that documents share. Descriptions of
//! parameters are our own. With `UPDATE_EXPECT=1`, the test writes the files.

#![allow(clippy::unwrap_used)]

use super::definitions;
use crate::names::META;
use crate::operations;
use crate::paths::{self, Paths};
use crate::template::Template;
use crate::texts::Texts;
use kubeshape_schema::Bump;
use kubeshape_yaml::Tape;
use serde_json::Value;
use std::fmt::Write;

/// The description of `metadata` of every built-in kind.
const OBJECT_METADATA: &str = "Standard object's metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/base/printed");

#[test]
fn the_printed_forms_are_those_of_the_definitions() {
    let json = super::builtin::DEFINITIONS;
    let texts = texts(&serde_json::from_str(json).unwrap());
    let (arena, mut tape) = (Bump::new(), Tape::new());
    let definitions = definitions::print(&definitions::read(json, &mut tape, &arena), &arena);
    for (name, text) in [
        ("texts.in", rust_texts(&texts)),
        ("definitions.in", rust_definitions(&definitions)),
        ("paths.in", rust_paths(&paths::all(&texts, false, super::release::SOURCE))),
    ] {
        let path = format!("{FOLDER}/{name}");
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(path, text).unwrap();
        } else {
            let was = std::fs::read_to_string(path).unwrap();
            assert!(was == text, "{name} is stale: run this test with UPDATE_EXPECT=1");
        }
    }
}

/// Returns the descriptions outside of definitions.
fn texts(definitions: &Value) -> Texts {
    let description = |properties: &Value, name: &str| {
        properties["properties"][name]["description"].as_str().unwrap_or_default().to_owned()
    };
    let status = &definitions[format!("{META}Status")];
    let mut texts = Texts {
        api_version: description(status, "apiVersion"),
        kind: description(status, "kind"),
        object_metadata: OBJECT_METADATA.to_owned(),
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

/// Returns a Rust expression for the strings.
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

/// Returns a Rust expression for the printed definitions.
fn rust_definitions(definitions: &[definitions::Printed]) -> String {
    let mut out = String::from("[\n");
    for definitions::Printed { name, v3, v2, v2_served } in definitions {
        writeln!(out, "Definition::of_static({name:?}, {}, {}, {}),", bytes(v3), bytes(v2), bytes(v2_served)).unwrap();
    }
    out.push_str("]\n");
    out
}

/// Returns a Rust expression for the paths.
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

/// Returns a byte string.
fn bytes(bytes: &[u8]) -> String {
    format!("b\"{}\"", bytes.escape_ascii())
}
