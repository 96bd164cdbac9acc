//! For any schemas and any objects: warnings about fields are bounded, can be sent, and have the location of their
//! fields, and they are the same for inputs that change one by one. This is also true for the findings about the
//! entries of the schemas. A check of one release reports the same about a definition's fields as a check of several
//! releases.

use kubeshape_input::{Document, Limits, read};
use kubeshape_lifecycle::{Version, entries};
use kubeshape_lifecycle::warn::{Cluster, Inputs, MAX_WARNINGS, Schemas, headers};
use kubeshape_yaml::Node;
use std::collections::BTreeMap;

/// Separates the schemas from the objects.
const CUT: &str = "\n=====\n";

/// Everything before the first line of equal signs is documents with schemas, and the rest is objects.
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
    documents.iter().for_each(entries_of);
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
            // A server whose inputs change one by one gives the same warnings.
            let served: Vec<String> = inputs.warnings(object, cluster).into_iter().map(|warning| warning.text).collect();
            assert_eq!(served, found.iter().map(|warning| warning.text.clone()).collect::<Vec<_>>());
            assert!(found.is_empty() || inputs.has(told("apiVersion"), told("kind")));
        }
    }
    inputs.set("one".into(), &[]);
    assert!(!inputs.has("", ""));
}

fn entries_of(document: &Document) {
    let nodes = u32::try_from(document.document().len()).unwrap_or(u32::MAX);
    let found = entries::faults(document);
    assert!(found.len() <= MAX_WARNINGS);
    for note in &found {
        assert!(note.at < nodes && !note.detail.contains(char::is_control), "{note:?}");
    }
    assert!(entries::findings(document).len() <= found.len());
    let cluster = Cluster::default();
    let releases: Vec<Version> = ["1.20", "1.30"].into_iter().filter_map(Version::parse).collect();
    for object in document.objects() {
        let together = entries::fields_by_release(object, &releases, &cluster);
        for release in &releases {
            let alone = entries::fields(object, &Cluster { release: Some(*release), ..cluster.clone() });
            assert!(alone.len() <= MAX_WARNINGS);
            let of_it = together.iter().filter(|(_, releases)| releases.contains(release)).count();
            assert_eq!(of_it, alone.len());
            for field in alone {
                assert!(field.at < nodes && !field.text.contains(char::is_control), "{field:?}");
                assert!(together.iter().any(|(other, releases)| *other == field && releases.contains(release)));
            }
        }
    }
}
