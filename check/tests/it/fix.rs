//! Edits that change no verdict.

use crate::{all_reports, texts};
use kubeshape_check::fix::{self, Types};
use kubeshape_check::{Check, Releases};
use kubeshape_schema::Bump;
use kubeshape_structural::read::manifests;
use kubeshape_yaml::{Limits, Stream, Tape};

/// The text of one document after edits, and the diff.
fn fixed(text: &str) -> (String, String) {
    let mut tape = Tape::new();
    let next = Stream::new(text.as_bytes(), Limits::default()).expect("a text").next(&mut tape);
    next.expect("a document").expect("YAML");
    let root = tape.document(text).root().expect("a document");
    let arena = Bump::new();
    let check = Check::new(Releases::ALL).with_advice(true);
    let problems: Vec<_> =
        manifests(root).0.into_iter().flat_map(|manifest| check.definition(manifest, &arena).problems).collect();
    let plan = fix::plan(root, &problems, Types::Written);
    let out = fix::apply(text, &plan.edits);
    let mut new = Tape::new();
    Stream::new(out.as_bytes(), Limits::default()).expect("a text").next(&mut new).expect("a document").expect("YAML");
    assert!(fix::is_made(root, new.document(&out).root().expect("a document"), &plan), "{out}");
    (out.clone(), fix::diff("a", "b", text, &plan.edits))
}
