//! Any schemas and any objects: warnings about fields are bounded, can be sent, say where their fields are, and are the same for
//! inputs that change one by one.

use kubeshape_input::{Limits, read};
use kubeshape_lifecycle::Version;
use kubeshape_lifecycle::warn::{Cluster, Inputs, MAX_WARNINGS, Schemas, headers};
use kubeshape_yaml::Node;
use std::collections::BTreeMap;

/// What separates the schemas from the objects.
const CUT: &str = "\n=====\n";

/// Everything before the first line of equal signs are documents with schemas, and the rest are objects.
pub fn holds(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (documents, objects) = text.split_once(CUT).unwrap_or((&text, &text));
    let documents = read("schemas", documents.as_bytes(), Limits::default()).documents;
    let objects = read("objects", objects.as_bytes(), Limits::default()).documents;
    let (mut schemas, mut inputs) = (Schemas::default(), Inputs::default());
    for document in &documents {
        schemas.add_annotated(document);
    }
    inputs.set("one".into(), &documents);
    let clusters = [
        Cluster::default(),
        Cluster { release: Version::parse("1.30"), ..Cluster::default() },
        Cluster { gates: BTreeMap::from([("AllAlpha".to_owned(), true)]), ..Cluster::default() },
    ];
    for object in objects.iter().flat_map(kubeshape_input::Document::objects) {
        let told = |key| object.get(key).and_then(Node::as_str).unwrap_or_default();
        for cluster in &clusters {
            let found = schemas.warnings(object, cluster);
            assert!(found.len() <= MAX_WARNINGS);
            for warning in &found {
                assert!(warning.text.contains(": ") && !warning.text.contains(char::is_control), "{}", warning.text);
            }
            let lines = headers(found.iter().map(|warning| warning.text.as_str()));
            assert!(lines.len() <= found.len());
            assert!(lines.iter().all(|line| line.starts_with("299 - \"") && !line.contains(char::is_control)));
            // A server, whose inputs change one by one, says the same.
            let served: Vec<String> = inputs.warnings(object, cluster).into_iter().map(|warning| warning.text).collect();
            assert_eq!(served, found.iter().map(|warning| warning.text.clone()).collect::<Vec<_>>());
            assert!(found.is_empty() || inputs.has(told("apiVersion"), told("kind")));
        }
    }
    inputs.set("one".into(), &[]);
    assert!(!inputs.has("", ""));
}
