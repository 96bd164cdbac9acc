//! After the edits, a definition reads as expected, needs no more edits, has no new problem, and accepts the same
//! objects.

use crate::samples;
use kubeshape_check::fix::{self, Plan, Types};
use kubeshape_check::{Check, Problem, Releases};
use kubeshape_schema::Bump;
use kubeshape_structural::read::manifests;
use kubeshape_yaml::{Limits, Node, Stream, Tape};

/// Checks the property for the first document.
pub fn holds(data: &[u8]) {
    let Some((text, tape)) = read(data) else { return };
    let Some(before) = tape.document(text).root() else { return };
    // Types may uncover other errors; then the command makes the edits without them.
    for types in [Types::Written, Types::Kept] {
        let (plan, problems) = planned(before, types);
        let new = fix::apply(text, &plan.edits);
        let Some((new, tape)) = read(new.as_bytes()) else { panic!("the text cannot be read after edits:\n{new}") };
        let after = tape.document(new).root().expect("a document after the edits");
        assert!(fix::is_made(before, after, &plan), "{new}");
        let (again, remaining) = planned(after, types);
        if types == Types::Kept {
            assert_eq!(again.edits, [], "{new}");
            assert!(fix::is_expected(&problems, &remaining, &plan), "{problems:?}\n{remaining:?}\n{new}");
            assert_eq!(samples::verdicts(before), samples::verdicts(after), "{new}");
        }
        fix::diff("a", "b", text, &plan.edits);
    }
}

fn read(data: &[u8]) -> Option<(&str, Tape)> {
    let limits = Limits { nodes: 5000, depth: 64, ..Limits::default() };
    let mut stream = Stream::new(data, limits).ok()?;
    let mut tape = Tape::new();
    stream.next(&mut tape)?.ok()?;
    Some((stream.source(), tape))
}

fn planned(root: Node<'_>, types: Types) -> (Plan, Vec<Problem>) {
    let check = Check::new(Releases::default()).with_advice(true);
    let mut problems = Vec::new();
    for manifest in manifests(root).0 {
        let arena = Bump::new();
        problems.extend(check.definition(manifest, &arena).problems);
    }
    (fix::plan(root, &problems, types), problems)
}
