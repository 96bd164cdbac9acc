//! Losses are complete: everything that a published schema no longer expresses is in the ledger of its version, nothing
//! else is there, and v2 accepts what v3 accepts.

mod accepts;
mod instances;
mod ledger;
mod sources;

use kubeshape_corpus::generate::{Seeded, structural_manifests};
use sources::{Case, each_version};

/// Generated manifests of one version, most of them structural.
fn generated(count: u64, seed: u64, mut check: impl FnMut(&Case<'_, '_>)) {
    let strategy = kubeshape_corpus::generate::documents_of(&structural_manifests());
    let mut used = 0;
    for n in 0..count {
        let text = Seeded::new(seed + n).next(&strategy);
        each_version(&format!("seed {}", seed + n), text.as_bytes(), |case| {
            used += 1;
            check(case);
        });
    }
    assert!(used * 2 > count, "only {used} of {count} schemas are structural");
}

fn own_corpus(mut check: impl FnMut(&Case<'_, '_>)) {
    for file in kubeshape_corpus::files().expect("the corpus") {
        each_version(&file.id, &file.bytes, &mut check);
    }
}

/// Every seventh file of a corpus of published definitions, if `KUBESHAPE_CORPUS` names one.
fn published(mut check: impl FnMut(&Case<'_, '_>)) {
    let Some(corpus) = kubeshape_corpus::folder_named_by("KUBESHAPE_CORPUS") else { return };
    for file in sources::below(&corpus.join("crds")).iter().step_by(7) {
        let Ok(bytes) = std::fs::read(file) else { continue };
        if bytes.len() < 400_000 {
            each_version(&file.display().to_string(), &bytes, &mut check);
        }
    }
}

#[test]
fn every_difference_of_a_generated_schema_has_a_note_and_every_note_a_difference() {
    generated(600, 1, ledger::check);
}

#[test]
fn every_difference_of_the_own_corpus_has_a_note_and_every_note_a_difference() {
    own_corpus(ledger::check);
}

#[test]
fn every_difference_of_published_definitions_has_a_note_and_every_note_a_difference() {
    published(ledger::check);
}

#[test]
fn what_v3_accepts_of_generated_schemas_v2_accepts() {
    let mut counts = accepts::Counts::default();
    generated(300, 5000, |case| accepts::check(case, 24, &mut counts));
    counts.assert_telling();
}

#[test]
fn what_v3_accepts_of_the_own_corpus_v2_accepts() {
    let mut counts = accepts::Counts::default();
    own_corpus(|case| accepts::check(case, 12, &mut counts));
    counts.assert_telling();
}

#[test]
fn what_v3_accepts_of_published_definitions_v2_accepts() {
    let mut counts = accepts::Counts::default();
    published(|case| accepts::check(case, 4, &mut counts));
    if counts.tried > 0 {
        counts.assert_telling();
    }
}
