//! Kubernetes' own documents as CustomResourceDefinitions: every release installs them, and they accept the objects that
//! the documents accept.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common::Folder;
use kubeshape::Api;
use kubeshape::schema::Release;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::Path;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Returns accepted objects of built-in kinds: those that a server stored on creation (`KUBESHAPE_GOLDEN`), or samples.
fn objects() -> Vec<Value> {
    let Some(golden) = kubeshape_corpus::folder_named_by("KUBESHAPE_GOLDEN") else {
        let documents: kubeshape_builtin::BuiltInDocuments = "1.36".parse().unwrap();
        let api = Api::read_release(documents).unwrap();
        let kinds = api.kinds().filter(|kind| kind.resource().is_some());
        let all = kinds.flat_map(|kind| [false, true].map(|maximal| kind.sample(maximal, Release::nearest(36))));
        return all.flatten().filter(|sample| sample.problems.is_empty()).map(|sample| sample.object).collect();
    };
    let mut out = Vec::new();
    for entry in std::fs::read_dir(golden.join("builtins/1.36")).unwrap() {
        let mut text = String::new();
        let file = std::fs::File::open(entry.unwrap().path()).unwrap();
        flate2::read::MultiGzDecoder::new(file).read_to_string(&mut text).unwrap();
        for line in text.lines() {
            let case: Value = serde_json::from_str(line).unwrap();
            let (answer, is_new) = (&case["answer"], case["old"].is_null());
            let is_accepted = answer["code"].as_u64().is_some_and(|code| code < 300) && answer["strict"].is_null();
            if is_new && is_accepted && answer["result"].is_object() {
                out.push(answer["result"].clone());
            }
        }
    }
    out
}

/// Returns the `apiVersion` of an object as one of the definition: groups without a dot have another name there.
fn renamed(object: &Value) -> Value {
    let mut object = object.clone();
    let api_version = object["apiVersion"].as_str().unwrap();
    let (group, version) = api_version.split_once('/').unwrap_or(("core", api_version));
    let ending = if group.contains('.') { "" } else { ".k8s.io" };
    object["apiVersion"] = json!(format!("{group}{ending}/{version}"));
    object
}

fn gvk(object: &Value) -> (String, String) {
    let text = |name: &str| object[name].as_str().unwrap_or_default().to_owned();
    (text("apiVersion"), text("kind"))
}

/// The schemas of a document in OpenAPI 3.1, by `apiVersion` and kind, for a validator of JSON Schema 2020-12.
struct Source {
    components: Value,
    names: BTreeMap<(String, String), String>,
}

impl Source {
    fn new(document: &Value) -> Source {
        let mut names = BTreeMap::new();
        for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
            let kinds = schema["x-kubernetes-group-version-kind"].as_array();
            if let Some([kind]) = kinds.map(Vec::as_slice) {
                let text = |name: &str| kind[name].as_str().unwrap_or_default();
                let slash = if text("group").is_empty() { "" } else { "/" };
                let api_version = format!("{}{slash}{}", text("group"), text("version"));
                names.insert((api_version, text("kind").to_owned()), name.clone());
            }
        }
        Source { components: document["components"].clone(), names }
    }

    fn accepts(&self, object: &Value) -> bool {
        let name = &self.names[&gvk(object)];
        let schema = json!({"$ref": format!("#/components/schemas/{name}"), "components": self.components});
        jsonschema::draft202012::new(&schema).unwrap().is_valid(object)
    }
}

/// Returns whether an error is about something else than the schema: names follow the rules of custom resources, the
/// key of a list is unique because its `x-kubernetes-list-type` says so, and an older server does not know new fields.
fn is_beside(detail: &str) -> bool {
    detail.starts_with("metadata.")
        || detail.contains("Duplicate value")
        || detail.starts_with("unknown field")
        || detail.contains("some validation rules were not checked")
}

/// Converts documents, and checks the definitions and the objects. Returns the number of definitions and of objects.
fn check(source: &str, objects: &[Value]) -> (usize, usize) {
    let folder = Folder::new();
    let run = folder.run(&format!("convert {source} --to crd -o crds"));
    assert_eq!(run.code, Some(0), "{source}: {}", run.err);
    let run = folder.run("check crds --kubernetes all -q");
    assert_eq!(run.code, Some(0), "{source}: {}", run.out);
    let run = folder.run(&format!("convert {source} --to v3.1 -o later.json -q"));
    assert_eq!(run.code, Some(0), "{source}: {}", run.err);
    let source = Source::new(&serde_json::from_str(&folder.read("later.json")).unwrap());
    let objects: Vec<&Value> = objects.iter().filter(|object| source.names.contains_key(&gvk(object))).collect();
    let lines: Vec<String> = objects.iter().map(|object| renamed(object).to_string()).collect();
    folder.write("objects.json", lines.join("\n"));
    // A file without objects is an error.
    let run = (!lines.is_empty()).then(|| folder.run("validate --schemas crds objects.json --output-format json"));
    let mut refused: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for line in run.iter().flat_map(|run| run.out.lines()) {
        let found: Value = serde_json::from_str(line).unwrap();
        if found["kind"] == "error" {
            let at = found["line"].as_u64().unwrap_or_else(|| panic!("{found}"));
            let detail = found["detail"].as_str().unwrap().to_owned();
            refused.entry(usize::try_from(at).unwrap() - 1).or_default().push(detail);
        }
    }
    let failures: Vec<String> = refused
        .iter()
        .filter(|(_, details)| !details.iter().all(|detail| is_beside(detail)))
        .filter(|(at, _)| source.accepts(objects[**at]))
        .map(|(at, details)| format!("{}: {details:?}", objects[*at]))
        .collect();
    assert!(failures.is_empty(), "{} objects are refused:\n{}", failures.len(), failures.join("\n"));
    (std::fs::read_dir(folder.path("crds")).unwrap().count(), objects.len())
}

#[test]
fn definitions_of_built_in_kinds_are_installed_and_accept_their_objects() {
    let objects = objects();
    let kinds: BTreeSet<_> = objects.iter().map(gvk).collect();
    assert!(kinds.len() > 50, "{} kinds", kinds.len());
    let (definitions, checked) = check("--kubernetes 1.36 --all-kinds", &objects);
    assert!(definitions > 70, "{definitions}");
    assert!(checked * 10 > objects.len() * 9, "{checked} of {}", objects.len());
}

#[test]
fn documents_of_servers_become_definitions_that_accept_their_objects() {
    let objects = objects();
    for name in ["kubernetes-v3.json", "kubernetes-v2.json"] {
        assert!(check(&format!("{ROOT}/corpus/openapi/realistic/{name}"), &objects).0 > 0, "{name}");
    }
    // The documents of two servers, one for each group version and one for all.
    let corpus = kubeshape_corpus::folder_named_by("KUBESHAPE_CORPUS").map(|corpus| corpus.join("openapi"));
    let golden = kubeshape_corpus::folder_named_by("KUBESHAPE_GOLDEN").map(|golden| golden.join("apiserver/empty"));
    let named = |folder: Option<&Path>, name: &str| folder.map(|folder| folder.join(name)).filter(|path| path.is_dir());
    let folders = [
        named(corpus.as_deref(), "kubernetes-openapi-v3-1.31"),
        named(corpus.as_deref(), "kubernetes-swagger-v1.34"),
        named(golden.as_deref(), "bodies/v3"),
    ];
    for folder in folders.into_iter().flatten() {
        // The folder of recorded bodies has each document as protobuf, too.
        let (definitions, checked) = check(&format!("{} --exclude *.pb.zst", folder.display()), &objects);
        assert!(
            definitions >= 70 && checked * 10 > objects.len() * 9,
            "{}: {definitions}, {checked}",
            folder.display()
        );
    }
}

/// A document without kinds is skipped if other documents have kinds.
#[test]
fn documents_of_discovery_are_skipped_with_a_note() {
    let folder = Folder::new();
    let discovery = r#"{"openapi":"3.0.0","info":{"title":"","version":""},"paths":{},"components":{"schemas":{"Info":{"type":"object"}}}}"#;
    folder.write("version.json", discovery);
    folder.write("tabs.json", include_str!("../../../corpus/openapi/realistic/kubernetes-v3.json"));
    let run = folder.run("convert version.json tabs.json --to crd -o crds --report notes.ndjson");
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(!run.err.contains("KS2317"), "{}", run.err);
    let run = folder.run("convert version.json tabs.json --to crd -o crds -v");
    assert!(run.err.contains("KS2317") && run.err.contains("Info"), "{}", run.err);
    // Alone, it is.
    let run = folder.run("convert version.json --to crd -o others");
    assert_eq!(run.code, Some(1), "{}", run.err);
    assert!(run.err.contains("KS2301"), "{}", run.err);
}
