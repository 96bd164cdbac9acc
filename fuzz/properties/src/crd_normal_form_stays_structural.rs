//! The normal form of a structural schema is structural, and is its own normal form. The flags that walks rely on are
//! correct.

use kubeshape_schema::{Additional, Bump, Flags, Schema};
use kubeshape_structural::{Structural, read, unfold, usable};
use kubeshape_yaml::{Limits, Stream, Tape};

/// Checks the property.
pub fn holds(data: &[u8]) {
    let limits = Limits { nodes: 100_000, depth: 64, ..Limits::default() };
    let Ok(mut stream) = Stream::new(data, limits) else { return };
    let source = stream.source();
    let mut tape = Tape::new();
    while let Some(document) = stream.next(&mut tape) {
        let Some(root) = document.ok().and_then(|()| tape.document(source).root()) else { continue };
        let arena = Bump::new();
        for manifest in read::manifests(root).0 {
            let Some(crd) = manifest.read(&arena).value else { continue };
            for version in crd.versions {
                let decision = usable(version.schema, version.at);
                assert_eq!(decision.value.is_some(), decision.notes.is_empty());
                let Some(structural) = decision.value else { continue };
                let normal = unfold(structural, &arena);
                subtree(normal);
                let again = Structural::new(normal).expect("the normal form is structural");
                assert!(std::ptr::eq(unfold(again, &arena), normal));
            }
        }
    }
}

/// Computes the flags of a subtree again.
fn subtree(schema: &Schema<'_>) -> Flags {
    let extra = schema.extra();
    let branches = [extra.all_of, extra.any_of, extra.one_of];
    let mut children: Vec<&Schema<'_>> = branches.into_iter().flatten().collect();
    children.extend(extra.not);
    assert_eq!(schema.flags.any(Flags::JUNCTOR), !children.is_empty());
    children.extend(schema.properties.iter().map(|property| &property.schema));
    children.extend(schema.item());
    if let Some(Additional::Schema(inner)) = schema.additional {
        children.push(inner);
    }
    let united = children.into_iter().fold(schema.flags, |sum, child| sum.with(subtree(child)));
    assert_eq!(united, schema.subtree);
    united
}
