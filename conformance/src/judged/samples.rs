//! The output of `kubeshape sample` for a definition: the libraries accept it.

use super::objects;
use crate::table::{Table, Verdict};
use kubeshape_corpus::generate::{Draw, definition};
use kubeshape_registry::{Registry, Settings};
use kubeshape_validate::Release;
use serde_json::{Value, json};

/// Returns a generated definition with its samples.
pub(super) fn generated(release: Release, draw: &mut Draw) -> Value {
    of(release, &definition::definition(draw))
}

/// Returns a definition with the smallest and the largest sample of its first version, without samples that have
/// problems.
pub(super) fn of(release: Release, definition: &Value) -> Value {
    let mut registry = Registry::new(Settings::of(release));
    let text = definition.to_string();
    registry.set_input(
        "definition",
        kubeshape_input::read("definition", text.as_bytes(), kubeshape_input::Limits::default()),
    );
    let version = definition["spec"]["versions"][0]["name"].as_str().unwrap_or_default();
    let kind = registry.kinds().find(|kind| kind.version_name() == version);
    let samples = [false, true].map(|maximal| kind.and_then(|kind| kind.sample(maximal, release)));
    let taken = samples.iter().flatten().filter(|sample| sample.problems.is_empty());
    let mut objects: Vec<Value> = taken.map(|sample| json!(sample.object)).collect();
    // Upstream's strategies require the namespace that a request would add.
    if definition["spec"]["scope"] == "Namespaced" {
        for object in &mut objects {
            object["metadata"]["namespace"] = "default".into();
        }
    }
    json!({"definition": definition, "objects": objects})
}

/// Checks that the libraries accept a sample, as we do.
pub(super) fn compare(release: Release, id: &str, input: &Value, answer: &Value, table: &mut Table) {
    let objects = input["objects"].as_array().map(Vec::as_slice).unwrap_or_default();
    if answer["error"].is_string() || objects.is_empty() {
        // No server has objects of it, or we found no object that a server accepts.
        return;
    }
    for (object, theirs) in objects.iter().zip(answer["cases"].as_array().into_iter().flatten()) {
        if theirs["panic"].is_string() {
            continue;
        }
        let complaints: Vec<&Value> = ["decodeError", "unknown", "errors"]
            .into_iter()
            .map(|key| &theirs[key])
            .filter(|found| !found.is_null() && found.as_array().is_none_or(|found| !found.is_empty()))
            .collect();
        let verdict = match complaints.first() {
            None => Verdict::Equal,
            Some(complaint) => Verdict::Differing(format!("{complaint} about {object}")),
        };
        table.add("samples", id, verdict);
    }
    objects::compare(release, id, input, answer, table);
}
