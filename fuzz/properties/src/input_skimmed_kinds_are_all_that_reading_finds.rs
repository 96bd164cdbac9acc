//! If skimming an input finds its kinds, it finds all that reading finds.

use kubeshape_input::{Limits, read, skim};
use kubeshape_schema::Bump;
use kubeshape_structural::read::manifests;

/// Checks the property.
pub fn holds(data: &[u8]) {
    let Some(skimmed) = skim(data) else { return };
    let limits = Limits { nodes: 100_000, depth: 64, ..Limits::default() };
    for document in read("skimmed.yaml", data, limits).documents {
        let (definitions, others) = manifests(document.root());
        assert!(others.is_empty(), "something else than definitions was passed over");
        for definition in definitions {
            let arena = Bump::new();
            let Some(crd) = definition.read(&arena).value else { continue };
            let is_skimmed = skimmed.iter().any(|skimmed| skimmed.group == crd.group && skimmed.kind == crd.names.kind);
            // The other definitions cannot have objects.
            let can_have_objects = !crd.group.is_empty() && !crd.names.kind.is_empty() && !crd.versions.is_empty();
            assert!(is_skimmed || !can_have_objects, "{} of {} is missing", crd.names.kind, crd.group);
        }
    }
}
