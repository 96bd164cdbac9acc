//! A published definition, printed, reads back and prints the same again, in both dialects.
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
        for version in resource.versions() {
            for fragment in version.v3_fragments().schemas {
                let mut tape = Tape::new();
                let mut stream = Stream::new(&fragment.json, Limits::default()).expect("UTF-8");
                let source = stream.source();
                stream.next(&mut tape).expect("a document").expect("JSON");
                let arena = Bump::new();
                let mut reader = kubeshape_schema::read::Reader::new(&arena, kubeshape_schema::read::Unknown::Keep);
                let schema = reader.schema(tape.document(source).root().expect("a root"));
                assert!(!reader.failed());
                let mut again = Vec::new();
                kubeshape_schema::print::schema(&mut again, &schema, kubeshape_schema::print::Style::V3);
                assert_eq!(String::from_utf8_lossy(&again), String::from_utf8_lossy(&fragment.json));
            }
        }
    });
});
