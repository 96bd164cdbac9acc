//! Definitions of other systems are read without a panic; the CustomResourceDefinitions made of them are
//! complete, bounded, and found in the same way in owned and in lent documents.

use kubeshape_input::{Limits, Reader, read};
use kubeshape_schema::Bump;

/// Checks the property for an input.
pub fn holds(data: &[u8]) {
    let limits = Limits { nodes: 5000, depth: 64, bytes: 1 << 20, ..Limits::default() };
    let input = read("a", data, limits);
    let mut reader = Reader::new();
    let mut lent = reader.documents("a".into(), data, limits);
    let mut owned = input.documents.iter();
    while let Some(document) = lent.next() {
        let Ok(document) = document else { continue };
        let (definitions, others) = document.manifests();
        let kept = owned.next().expect("as many documents");
        let (of_kept, others_of_kept) = kept.manifests();
        assert_eq!((definitions.len(), others.len()), (of_kept.len(), others_of_kept.len()));
        // At most 5000 nodes were read, and the results have a bound.
        assert!(kept.document().len() <= 5000 + 16 * 5000 + (1 << 16));
        for (definition, of_kept) in definitions.iter().zip(of_kept) {
            assert_eq!(definition.node.index(), of_kept.node.index());
            let arena = Bump::new();
            let read = definition.read(&arena);
            for note in &read.notes {
                let node = document.document().node(note.at);
                assert!(node.span().end <= document.document().source().len());
                kept.pointer(note.at);
            }
        }
    }
    assert!(owned.next().is_none());
}
