//! Every release checks any definition without a panic, and with the same result the second time.

use kubeshape_schema::Bump;
use kubeshape_structural::read::manifests;
use kubeshape_validate::Release;
use kubeshape_validate::crd::{Defaults, Definition, validate, validate_update, warnings};
use kubeshape_yaml::{Limits, Stream, Tape};

/// Checks the property. The last byte selects the release.
pub fn holds(data: &[u8]) {
    let limits = Limits { nodes: 20_000, depth: 64, ..Limits::default() };
    let Ok(mut stream) = Stream::new(data, limits) else { return };
    let source = stream.source();
    let at = usize::from(data.last().copied().unwrap_or_default());
    let releases: Vec<Release> = Release::all().collect();
    let release = releases[at % releases.len()];
    let mut tape = Tape::new();
    while let Some(document) = stream.next(&mut tape) {
        let Some(root) = document.ok().and_then(|()| tape.document(source).root()) else { continue };
        for manifest in manifests(root).0 {
            let arena = Bump::new();
            let Some(definition) = Definition::read(manifest, Defaults::Set, &arena).value else { continue };
            let definition = definition.prepare_for_create(release, &arena);
            let errors = validate(&definition, release);
            assert_eq!(validate(&definition, release), errors);
            warnings(&definition, release);
            validate_update(&definition, &definition, release);
        }
    }
}
