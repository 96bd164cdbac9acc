//! Compares the documents with those of the released modules.

use crate::modules;
use kubeshape_builtin::BuiltInDocuments;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// Fails unless `facts` equals `full` without descriptions.
fn compare(full: &Value, facts: &Value, at: &str) {
    match (full, facts) {
        (Value::Object(full), Value::Object(facts)) => {
            for (name, member) in full {
                let at = format!("{at}/{name}");
                match facts.get(name) {
                    Some(fact) => compare(member, fact, &at),
                    None => assert!(name == "description" && member.is_string(), "{at} is missing"),
                }
            }
            let added: Vec<&String> = facts.keys().filter(|name| !full.contains_key(*name)).collect();
            assert!(added.is_empty(), "{at}: {added:?} are not in the module");
        }
        (Value::Array(full), Value::Array(facts)) => {
            assert_eq!(full.len(), facts.len(), "{at}");
            full.iter().zip(facts).for_each(|(full, fact)| compare(full, fact, at));
        }
        _ => assert_eq!(full, facts, "{at}"),
    }
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn the_documents_are_those_of_the_modules_without_descriptions() {
    for release in BuiltInDocuments::all() {
        let Some(folder) = modules::api(release) else { return };
        let api = release.api();
        let mut files = BTreeSet::new();
        for (path, document) in api.openapi_v3_of(|_| true) {
            let file = modules::file_of(path);
            compare(&modules::read(&folder, &file).1, &parsed(&document), &format!("{release} {path}"));
            files.insert(file);
        }
        compare(&modules::read(&folder, "openapi-spec/swagger.json").1, &parsed(&api.openapi_v2()), "v2");
        for (name, document) in api.discovery() {
            let file = format!("discovery/{name}.json");
            compare(&modules::read(&folder, &file).1, &parsed(&document), &format!("{release} {name}"));
            files.insert(file);
        }
        // Checks that no document is missing.
        for part in ["openapi-spec/v3", "discovery"] {
            for entry in std::fs::read_dir(folder.join(part)).expect("a folder") {
                let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
                let is_there = Path::new(&name).extension().is_none_or(|extension| extension != "json")
                    || files.contains(&format!("{part}/{name}"));
                assert!(is_there, "{release}: {part}/{name} is missing");
            }
        }
    }
}
