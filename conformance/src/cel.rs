//! Compares answers about expressions: messages, types, costs and values, and the answers to definitions with rules.

use crate::definition::with_definition;
use crate::known::Known;
use crate::structural::{CrdName, Expected, Files, compare_errors, records};
use crate::table::{Table, Verdict};
use kubeshape_conformance_cel as cel;
use kubeshape_validate::crd::{self, Defaults};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// Compares every record of the folder `cel`.
pub fn compare(golden: &Path, corpus: &Path, known: Known) -> Table {
    let mut table = Table::new("cel", known);
    let folder = golden.join("cel");
    add(&mut table, cel::compare(&folder));
    definitions(&folder, &mut table);
    rules_of_corpus(&folder, corpus, &mut table);
    table
}

pub(crate) fn add(table: &mut Table, compared: Vec<cel::Comparison>) {
    for (row, record, verdict) in compared {
        let verdict = match verdict {
            cel::Verdict::Equal => Verdict::Equal,
            cel::Verdict::Differing(place) => Verdict::Differing(place),
            cel::Verdict::Missing(why) => Verdict::Missing(why),
        };
        table.add(&row, &record, verdict);
    }
}

/// Compares the errors for definitions with the random schemas.
fn definitions(folder: &Path, table: &mut Table) {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Line {
        id: Value,
        schema: Value,
        #[serde(default)]
        is_resource_root: bool,
        #[serde(default)]
        crd_errors: Vec<Expected>,
    }
    for line in records::<Line>(&folder.join("schemas.ndjson.gz"), table) {
        if !line.is_resource_root {
            continue;
        }
        let names = json!({"plural": "tests", "singular": "test", "kind": "Test", "listKind": "TestList"});
        let version =
            json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": line.schema}});
        let definition = json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "tests.example.com"},
            "spec": {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]},
            "status": {"storedVersions": ["v1"]},
        });
        let ours = with_definition(&definition.to_string(), Defaults::Set, |definition, arena| {
            crd::validate(&definition.prepare_for_create(crate::RECORDED, arena), crate::RECORDED)
        });
        let verdict = match ours {
            Some(ours) => compare_errors(&ours, line.crd_errors.iter().collect()),
            None => Verdict::Missing("not decoded".to_owned()),
        };
        let id = line.id.to_string();
        table.add("schemas crdErrors", &id, verdict);
        crate::doctor::add("schemas cost doctor", &id, &definition, crate::RECORDED, table);
    }
}

/// Compares the rules of the definitions of the corpus, each as those of a random schema.
fn rules_of_corpus(folder: &Path, corpus: &Path, table: &mut Table) {
    #[derive(Deserialize)]
    struct Line {
        #[serde(rename = "crd")]
        name: CrdName,
        version: String,
        nodes: Value,
    }
    let mut files = Files { corpus, read: BTreeMap::new() };
    for line in records::<Line>(&folder.join("crd-rules.ndjson.gz"), table) {
        let label = format!("{} {} {}", line.name.file, line.name.index, line.version);
        let definition = files.crd(&line.name.file, line.name.index);
        let definition: Option<Value> = definition.and_then(|source| serde_json::from_str(&source).ok());
        let versions = definition.as_ref().and_then(|definition| definition.pointer("/spec/versions")?.as_array());
        let version = versions.into_iter().flatten().find(|version| version["name"] == line.version.as_str());
        let Some(schema) = version.and_then(|version| version.pointer("/schema/openAPIV3Schema")) else {
            table.add("reading", &label, Verdict::Missing("no such version".to_owned()));
            continue;
        };
        let record = json!({"id": label, "schema": schema, "isResourceRoot": true, "compile": line.nodes});
        let mut compared = Vec::new();
        cel::rules(&mut compared, "crd-rules", &record, cel::recorded_release());
        add(table, compared);
    }
}
