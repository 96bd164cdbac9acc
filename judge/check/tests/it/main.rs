//! Tests of the releases' answers about definitions.
#![allow(clippy::unwrap_used)]

mod advice;
mod answers;
mod expressions;
mod fix;
mod pages;
mod releases;
mod releases_page;
mod replaced;
mod trim;
mod validate_page;
mod words;

use kubeshape_check::{Check, Releases, Report};
use kubeshape_schema::Bump;
use kubeshape_structural::read::manifests;
use kubeshape_yaml::{Limits, Stream, Tape};

/// Returns the answers of all releases about the first definition of a stream. A second document is the definition that
/// it replaces.
fn report(text: &str, advice: bool) -> Report {
    compare(text, Check::new(Releases::ALL).with_advice(advice))
}

/// Returns a check's answers about the first definition of a stream. A second document is the definition that it
/// replaces.
fn compare(text: &str, check: Check) -> Report {
    let mut tapes = Vec::new();
    let mut stream = Stream::new(text.as_bytes(), Limits::default()).expect("a text");
    loop {
        let mut tape = Tape::new();
        match stream.next(&mut tape) {
            None => break,
            Some(result) => result.unwrap_or_else(|error| panic!("{error}\n{text}")),
        }
        tapes.push(tape);
    }
    let root = |tape: usize| manifests(tapes[tape].document(text).root().expect("a document")).0[0];
    let arena = Bump::new();
    match tapes.len() {
        1 => check.definition(root(0), &arena),
        _ => check.replacement(root(1), root(0), &arena),
    }
}
