//! The project's own corpus: needs neither Go nor a folder outside the checkout.

use kubeshape_conformance::known::Known;
use kubeshape_conformance::{BaseFolder, own, written};
use kubeshape_publish::{Base, Options, Publisher};
use serde_json::Value;

#[test]
fn every_shape_of_the_own_corpus_is_the_recorded_one() {
    let known = Known::of_checkout();
    let table = own::compare(None, known.clone()).expect("the corpus");
    assert!(table.passed(), "{}\n{}", table.differences(), table.to_text());
    let unneeded: Vec<_> = known.of_area("corpus").filter(|entry| !table.used().contains(*entry)).collect();
    assert!(unneeded.is_empty(), "entries of KNOWN.md that name no record that differs: {unneeded:?}");
}

/// Also over the definitions and documents of `KUBESHAPE_CORPUS`.
#[test]
fn results_are_as_good_as_their_source() {
    let corpus = kubeshape_corpus::folder_named_by("KUBESHAPE_CORPUS");
    let known = Known::of_checkout();
    let table = written::compare(corpus.as_deref(), known.clone()).expect("the corpus");
    assert!(table.passed(), "{}\n{}", table.differences(), table.to_text());
    if corpus.is_some() {
        let unneeded: Vec<_> = known.of_area("written").filter(|entry| !table.used().contains(*entry)).collect();
        assert!(unneeded.is_empty(), "entries of KNOWN.md that name no record that differs: {unneeded:?}");
    }
}

#[test]
fn the_own_corpus_is_the_recorded_one_with_base_documents_of_a_cluster() {
    let base = std::env::var_os("KUBESHAPE_BASE").map(std::path::PathBuf::from);
    let base =
        base.or_else(|| Some(kubeshape_corpus::folder_named_by("KUBESHAPE_GOLDEN")?.join("apiserver").join("empty")));
    let Some(base) = base.and_then(|folder| BaseFolder::read(&folder).expect("base documents")) else { return };
    let table = own::compare(Some(&base.publisher), Known::of_checkout()).expect("the corpus");
    assert!(table.passed(), "{}\n{}", table.differences(), table.to_text());
}

/// Without base documents, only strings differ, and the names of v2 parameters, which depend on strings.
#[test]
fn documents_with_the_built_in_base_differ_in_descriptions_only() {
    let builtin = Publisher::new(Base::builtin(), Options::default());
    let recorded = own::recorded_base(&kubeshape_corpus::answers().expect("the record")).expect("a base");
    let files = kubeshape_corpus::files().expect("the corpus");
    let id = "rules/operation-status-and-scale-cluster.yaml";
    for file in files.iter().filter(|file| file.id == id || file.id == "realistic/databaseclusters.yaml") {
        let documents = |publisher: &Publisher| -> Vec<Value> {
            let answers = kubeshape_conformance::input::answers(&file.bytes, publisher).into_iter();
            let versions =
                answers.filter_map(kubeshape_conformance::input::Answer::into_crd).flat_map(|crd| crd.versions);
            let documents = versions.flat_map(|version| [version.v3, version.v2]);
            documents.map(|bytes| without_texts(&serde_json::from_slice(&bytes).expect("JSON"))).collect()
        };
        let (ours, theirs) = (documents(&builtin), documents(&recorded));
        assert!(!ours.is_empty());
        for (ours, theirs) in ours.iter().zip(&theirs) {
            let difference = kubeshape_conformance::golden::first_difference(ours, theirs);
            assert_eq!(difference, None, "{}", file.id);
        }
    }
}

/// Returns the value without descriptions and without the hashes of shared v2 parameters.
fn without_texts(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let kept = members.iter().filter(|(name, value)| !(name.as_str() == "description" && value.is_string()));
            let shared = members.keys().any(|name| name.starts_with("watch-") && name.len() == "watch-".len() + 8);
            let name = |name: &str| if shared { unhashed(name).to_owned() } else { name.to_owned() };
            Value::Object(kept.map(|(key, value)| (name(key), without_texts(value))).collect())
        }
        Value::Array(items) => {
            let mut items: Vec<Value> = items.iter().map(without_texts).collect();
            // References to parameters are ordered by their names, which include hashes.
            if items.iter().all(|item| {
                item["$ref"].as_str().is_some_and(|text| text.starts_with("#/parameters/")) || item.get("in").is_some()
            }) {
                items
                    .sort_by_key(|item| item["$ref"].as_str().or(item["name"].as_str()).unwrap_or_default().to_owned());
            }
            Value::Array(items)
        }
        Value::String(text) if text.starts_with("#/parameters/") => Value::String(unhashed(text).to_owned()),
        other => other.clone(),
    }
}

fn unhashed(name: &str) -> &str {
    name.len().checked_sub(9).filter(|at| name.as_bytes()[*at] == b'-').map_or(name, |at| &name[..at])
}
