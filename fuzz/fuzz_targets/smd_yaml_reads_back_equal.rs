//! The structured-merge-diff schema of any resource, printed as YAML, reads back as an equal schema.
#![no_main]

use kubeshape_publish::{Base, Options, Publisher, Resource};
use kubeshape_schema::Bump;
use kubeshape_structural::read::manifests;
use kubeshape_yaml::{Limits, Stream, Tape};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static PUBLISHER: LazyLock<Publisher> = LazyLock::new(|| Publisher::new(Base::builtin(), Options::default()));

/// Calls `f` for every resource that can be read from `data`.
fn resources(data: &[u8], mut f: impl FnMut(&Resource<'_>)) {
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

fuzz_target!(|data: &[u8]| {
    resources(data, |resource| {
        let Ok(schema) = resource.smd() else { return };
        let mut yaml = Vec::new();
        kubeshape_smd::schema::print_yaml(&schema, &mut yaml);
        let mut tape = Tape::new();
        let mut stream = Stream::new(&yaml, Limits { depth: 4096, ..Limits::default() }).expect("UTF-8");
        let source = stream.source();
        stream.next(&mut tape).expect("a document").expect("YAML");
        let read = kubeshape_smd::schema::read(tape.document(source).root().expect("a root")).expect("a schema");
        assert_eq!(read, schema);
    });
});
