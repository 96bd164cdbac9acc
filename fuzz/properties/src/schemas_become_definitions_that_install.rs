//! A schema becomes a definition within its budget, and what a server would refuse is removed from it: every release
//! installs the result, or the remaining error is reported.

use crate::documents::with_document;
use kubeshape_check::{Check, Releases, settle};
use kubeshape_convert::crd::{Names, Options, Source, candidates, definition};
use kubeshape_structural::read::manifests;

/// The most schemas of a document that are converted.
const MOST: usize = 4;

/// Checks the property.
pub fn holds(data: &[u8]) {
    let Ok(source) = std::str::from_utf8(data) else { return };
    let mut printed = Vec::new();
    with_document(source, |root, arena| {
        for candidate in candidates(root).into_iter().take(MOST) {
            let sources = [Source { version: "v1", root, schema: candidate.node }];
            let options = Options { most_bytes: 20_000 };
            let made = definition(Names::new("example.com", "Thing", arena), &sources, options, arena);
            let Some(mut definition) = made.definition else {
                assert!(!made.notes.is_empty());
                continue;
            };
            let settled = settle(&mut definition, Releases::ALL, arena);
            let mut json = Vec::new();
            definition.print(&mut json);
            assert!(json.len() < 30_000, "{}", json.len());
            printed.push((String::from_utf8(json).expect("UTF-8"), settled.left.is_empty()));
        }
    });
    for (json, is_settled) in printed {
        with_document(&json, |root, arena| {
            let report = Check::new(Releases::ALL).definition(manifests(root).0[0], arena);
            assert_eq!(report.is_accepted(), is_settled, "{json}\n{:?}", report.problems);
        });
    }
}
