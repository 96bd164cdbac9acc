//! A trimmed definition reads as expected, needs no more edits, has no other problem, accepts the same objects, and
//! differs at most cosmetically.

use crate::samples;
use kubeshape_check::trim::{Descriptions, Fit, Options, What, is_made, plan};
use kubeshape_check::{Check, Releases};
use kubeshape_diff::{Class, definitions};
use kubeshape_schema::Bump;
use kubeshape_structural::read::manifests;
use kubeshape_yaml::edit::apply;
use kubeshape_yaml::{Limits, Node, Stream, Tape};

/// Checks the property for the first document.
pub fn holds(data: &[u8]) {
    let Some((text, tape)) = read(data) else { return };
    let Some(before) = tape.document(text).root() else { return };
    let size = Fit::Bytes(0).size(before);
    for options in [
        Options { descriptions: Descriptions::None, removed: vec![What::Example, What::Title, What::Link], ..Options::default() },
        Options { descriptions: Descriptions::FirstSentence, ..Options::default() },
        Options { descriptions: Descriptions::Depth(1), longest: Some(20), ..Options::default() },
        Options { fit: Some(Fit::Bytes(size / 2)), ..Options::default() },
        Options { fit: Some(Fit::Bytes(size.saturating_sub(20))), ..Options::default() },
    ] {
        let made = plan(before, &options);
        let new = apply(text, &made.edits);
        let Some((new, tape)) = read(new.as_bytes()) else { panic!("the text cannot be read after edits:\n{new}") };
        let after = tape.document(new).root().expect("a document after the edits");
        assert!(is_made(before, after, &made), "{new}");
        let again = plan(after, &options);
        assert_eq!(again.edits, [], "{new}");
        for (was, is) in made.definitions.iter().zip(&again.definitions) {
            assert_eq!(was.after, is.before, "{new}");
        }
        assert_eq!(samples::verdicts(before), samples::verdicts(after), "{new}");
        if made.edits.is_empty() {
            continue;
        }
        assert!(is_cosmetic(before, after), "{new}");
    }
}

fn is_cosmetic(before: Node<'_>, after: Node<'_>) -> bool {
    let check = Check::new(Releases::default());
    manifests(before).0.into_iter().zip(manifests(after).0).all(|(was, is)| {
        let arena = Bump::new();
        let (Some(old), Some(new)) = (was.read(&arena).value, is.read(&arena).value) else { return true };
        // A server refuses such a definition.
        let is_refused = check.definition(was, &arena).problems.iter().any(kubeshape_check::Problem::is_error);
        is_refused || definitions(&old, &new).iter().all(|change| change.class() == Class::Cosmetic)
    })
}

fn read(data: &[u8]) -> Option<(&str, Tape)> {
    let limits = Limits { nodes: 5000, depth: 64, ..Limits::default() };
    let mut stream = Stream::new(data, limits).ok()?;
    let mut tape = Tape::new();
    stream.next(&mut tape)?.ok()?;
    Some((stream.source(), tape))
}
