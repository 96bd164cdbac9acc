//! Area `publish-versions`: the documents that ten releases publish for CustomResourceDefinitions.

use crate::BaseFolder;
use crate::golden;
use crate::input::{Answer, OurVersion, answers};
use crate::known::Known;
use crate::structural::{Files, Operation, apply, records};
use crate::table::{Table, Verdict};
use crate::verdict::escaped;
use kubeshape_publish::Publisher;
use kubeshape_validate::Release;
use rayon::prelude::*;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// The release whose documents are recorded in full.
const WHOLE: u32 = 36;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    file: String,
    index: usize,
    version: String,
    v3_sha: String,
    v2_sha: String,
    #[serde(default)]
    v3: Value,
    #[serde(default)]
    v2: Value,
    #[serde(default)]
    v3_patch: Vec<Operation>,
    #[serde(default)]
    v2_patch: Vec<Operation>,
}

impl Record {
    fn key(&self) -> (String, usize, String) {
        (self.file.clone(), self.index, self.version.clone())
    }
}

/// Area `publish-versions`.
pub fn compare(golden: &Path, corpus: &Path, base: Option<&BaseFolder>, known: Known) -> Table {
    let mut table = Table::new("publish-versions", known);
    let folder = golden.join("publish-versions");
    let whole: Vec<Record> = records(&folder.join(format!("1.{WHOLE}.ndjson.gz")), &mut table);
    let whole: BTreeMap<_, _> = whole.into_iter().map(|record| (record.key(), record)).collect();
    let empty = table.like();
    let of_release = |release: Release| {
        let mut table = empty.like();
        let records: Vec<Record> = records(&folder.join(format!("{release}.ndjson.gz")), &mut table);
        if records.is_empty() {
            return table;
        }
        let Some(publisher) = base.and_then(|base| base.publisher_of(release)) else {
            table.add("reading", &release.to_string(), Verdict::Missing("no base".to_owned()));
            return table;
        };
        let mut files = Files { corpus, read: BTreeMap::new() };
        for record in &records {
            let whole = whole.get(&record.key());
            compare_version(record, whole, release, &publisher, &mut files, &mut table);
        }
        table
    };
    let tables: Vec<Table> = Release::all().collect::<Vec<_>>().into_par_iter().map(of_release).collect();
    for of_release in tables {
        table.take(of_release);
    }
    table
}

fn compare_version(
    record: &Record,
    whole: Option<&Record>,
    release: Release,
    publisher: &Publisher,
    files: &mut Files<'_>,
    table: &mut Table,
) {
    let label = format!("{release} {} {} {}", record.file, record.index, record.version);
    let source = files.crd(&record.file, record.index);
    let ours = source.and_then(|source| version(&source, &record.version, publisher));
    let Some(ours) = ours else {
        return table.add("reading", &label, Verdict::Missing("no such version".to_owned()));
    };
    let (v3, v2) = (whole.map(|whole| &whole.v3), whole.map(|whole| &whole.v2));
    table.add("v3", &label, compare_document(&ours.v3, &record.v3_sha, v3, &record.v3_patch));
    table.add("v2", &label, compare_document(&ours.v2, &record.v2_sha, v2, &record.v2_patch));
}

/// Returns our document of a version.
fn version(source: &str, name: &str, publisher: &Publisher) -> Option<OurVersion> {
    let crd = answers(source.as_bytes(), publisher).into_iter().find_map(Answer::into_crd)?;
    crd.versions.into_iter().find(|version| version.name == name)
}

fn compare_document(ours: &[u8], sha: &str, whole: Option<&Value>, patch: &[Operation]) -> Verdict {
    // `json.Marshal` escapes characters that `MarshalJSON` of a v2 document does not.
    if golden::sha256(ours) == sha || golden::sha256(escaped(ours).as_bytes()) == sha {
        return Verdict::Equal;
    }
    let (Some(whole), Ok(ours)) = (whole, serde_json::from_slice::<Value>(ours)) else {
        return Verdict::Differing("another hash".to_owned());
    };
    let mut theirs = whole.clone();
    if patch.iter().any(|operation| apply(&mut theirs, operation).is_none()) {
        return Verdict::Missing("the recorded patch does not fit".to_owned());
    }
    let difference = golden::first_difference(&ours, &theirs);
    Verdict::Differing(difference.unwrap_or_else(|| "another hash, equal values".to_owned()))
}
