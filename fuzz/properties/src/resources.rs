//! Helpers of targets over resources.

use kubeshape_publish::{Base, Options, Publisher, Resource};
use kubeshape_schema::Bump;
use kubeshape_structural::read::manifests;
use kubeshape_yaml::{Limits, Stream, Tape};
use std::sync::LazyLock;

pub(crate) static PUBLISHER: LazyLock<Publisher> =
    LazyLock::new(|| Publisher::new(Base::builtin(), Options::default()));

/// Calls `f` for every resource that can be read from `data`.
pub(crate) fn resources(data: &[u8], mut f: impl FnMut(&Resource<'_>)) {
    let limits = Limits { nodes: 100_000, depth: 128, ..Limits::default() };
    let Ok(mut stream) = Stream::new(data, limits) else { return };
    let source = stream.source();
    let mut tape = Tape::new();
    while let Some(document) = stream.next(&mut tape) {
        let Some(root) = document.ok().and_then(|()| tape.document(source).root()) else { continue };
        let arena = Bump::new();
        for manifest in manifests(root).0 {
            if let Some(crd) = manifest.read(&arena).value {
                f(&PUBLISHER.resource(&crd, &arena));
            }
        }
    }
}
