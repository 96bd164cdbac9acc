//! If any input is read as a CustomResourceDefinition, every note has a location in the document, and there is a value
//! if and only if no note reports that something could not be decoded.

use kubeshape_schema::{Bump, Code, NoteKind};
use kubeshape_structural::{read, usable};
use kubeshape_yaml::{Limits, Stream, Tape};

/// Checks the property.
pub fn holds(data: &[u8]) {
    let limits = Limits { nodes: 100_000, depth: 64, ..Limits::default() };
    let Ok(mut stream) = Stream::new(data, limits) else { return };
    let source = stream.source();
    let mut tape = Tape::new();
    while let Some(document) = stream.next(&mut tape) {
        let Some(root) = document.ok().and_then(|()| tape.document(source).root()) else { continue };
        let entries = tape.entries().len();
        let arena = Bump::new();
        for node in read::expand_list(root) {
            let crd = read::read(node, &arena);
            // A definition without versions is read, although there is nothing to publish for it.
            let failed = crd.notes.iter().any(|note| note.code.kind() == NoteKind::Error && note.code != Code::NoVersions);
            assert_eq!(crd.value.is_none(), failed);
            assert!(crd.notes.iter().all(|note| (note.at as usize) < entries));
            for version in crd.value.iter().flat_map(|crd| crd.versions) {
                let decision = usable(version.schema, version.at);
                assert!(decision.notes.iter().all(|note| (note.at as usize) < entries));
            }
        }
    }
}
