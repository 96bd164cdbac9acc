//! If a release is reported to give the same result as another one, a check of that release gives the same errors and
//! warnings.

use kubeshape_schema::Bump;
use kubeshape_schema::field::Error;
use kubeshape_structural::read::manifests;
use kubeshape_validate::crd::{Defaults, Definition, Warning, validate, validate_update, warnings};
use kubeshape_validate::{AskedRelease, Release};
use kubeshape_yaml::{Limits, Stream, Tape};

/// Checks the property. The last byte selects the first release.
pub fn holds(data: &[u8]) {
    let limits = Limits { nodes: 20_000, depth: 64, ..Limits::default() };
    let Ok(mut stream) = Stream::new(data, limits) else { return };
    let source = stream.source();
    let at = usize::from(data.last().copied().unwrap_or_default());
    let releases: Vec<Release> = Release::all().collect();
    let first = releases[at % releases.len()];
    let mut tape = Tape::new();
    while let Some(document) = stream.next(&mut tape) {
        let Some(root) = document.ok().and_then(|()| tape.document(source).root()) else { continue };
        for manifest in manifests(root).0 {
            let arena = Bump::new();
            let Some(definition) = Definition::read(manifest, Defaults::Set, &arena).value else { continue };
            let asked = AskedRelease::from(first);
            let answers = ask(&definition, &asked, &arena);
            assert!(asked.same(first));
            for release in releases.iter().filter(|release| asked.same(**release)) {
                assert_eq!(ask(&definition, &(*release).into(), &arena), answers, "{release} and {first}");
            }
        }
    }
}

fn ask<'a>(
    definition: &Definition<'a>,
    release: &AskedRelease,
    arena: &'a Bump,
) -> (Vec<Error>, Vec<Warning>, Vec<Error>) {
    let new = definition.prepare_for_create(release, arena);
    let updated = definition.prepare_for_update(&new, release, arena);
    (validate(&new, release), warnings(&new, release), validate_update(&updated, &new, release))
}
