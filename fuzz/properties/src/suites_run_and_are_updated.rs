//! For any stream of definitions and suites, reading and running end, and an updated suite passes.

use kubeshape_input::{Limits, read};
use kubeshape_registry::Location;
use kubeshape_suite::{Answer, Edit, Suite, apply_edits, expect_answer};
use std::sync::Arc;

/// Returns the suites and the definitions.
fn parts(text: &[u8]) -> (Vec<Suite>, Vec<Location>) {
    let limits = Limits { bytes: 64 << 10, ..Limits::default() };
    let documents: Vec<_> = read("stream.yaml", text, limits).documents.into_iter().map(Arc::new).collect();
    let mut definitions = Vec::new();
    let mut suites = Vec::new();
    for document in &documents {
        let location = Location::root(Arc::clone(document));
        definitions.extend(document.manifests().0.iter().map(|manifest| location.at(manifest.node)));
        if Suite::is_suite(document.root()) {
            suites.extend(Suite::read(&location).ok());
        }
    }
    (suites, definitions)
}

/// Checks the property.
pub fn holds(bytes: &[u8]) {
    let (suites, definitions) = parts(bytes);
    let (Some(definition), Some(suite)) = (definitions.first(), suites.first()) else { return };
    let Ok(outcomes) = suite.run(definition, None) else { return };
    assert_eq!(outcomes.len(), suite.cases.len());
    let mut edits: Vec<Edit> = Vec::new();
    for outcome in outcomes.iter().filter(|outcome| !outcome.has_passed() && outcome.answer != Answer::None) {
        match expect_answer(&suite.cases[outcome.case], &outcome.answer) {
            Ok(more) => edits.extend(more),
            Err(_) => return,
        }
    }
    if edits.is_empty() || outcomes.iter().any(|outcome| outcome.answer == Answer::None) {
        return;
    }
    let source = suite.location.document().source().text().to_owned();
    let (suites, definitions) = parts(apply_edits(&source, &edits).as_bytes());
    let (Some(definition), Some(suite)) = (definitions.first(), suites.first()) else {
        panic!("the updated text has no suite or no definition");
    };
    let again = suite.run(definition, None).expect("the definition is the same");
    for outcome in &again {
        assert!(outcome.has_passed(), "{:?}", outcome.failure);
    }
}
