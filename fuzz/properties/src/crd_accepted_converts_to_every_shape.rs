//! A definition that every release accepts has every shape: OpenAPI v3 and v2 without findings, types of server-side
//! apply, and a JSON Schema.

use crate::resources::PUBLISHER;
use kubeshape_convert::jsonschema::{Options, from_structural};
use kubeshape_check::{Check, Releases};
use kubeshape_schema::{Bump, Gvk, NoteKind};
use kubeshape_structural::read::manifests;
use kubeshape_yaml::{Limits, Stream, Tape};

/// Checks the property.
pub fn holds(data: &[u8]) {
    let limits = Limits { nodes: 20_000, depth: 64, ..Limits::default() };
    let Ok(mut stream) = Stream::new(data, limits) else { return };
    let source = stream.source();
    let mut tape = Tape::new();
    while let Some(document) = stream.next(&mut tape) {
        let Some(root) = document.ok().and_then(|()| tape.document(source).root()) else { continue };
        for manifest in manifests(root).0 {
            let arena = Bump::new();
            if !Check::new(Releases::ALL).definition(manifest, &arena).is_accepted() {
                continue;
            }
            let read = manifest.read(&arena);
            let crd = read.value.expect("what is accepted can be read");
            let resource = PUBLISHER.resource(&crd, &arena);
            let errors: Vec<_> = resource.findings().iter().filter(|note| note.code.kind() == NoteKind::Error).collect();
            assert!(errors.is_empty(), "{errors:?}");
            for version in resource.versions() {
                for print in [kubeshape_publish::ResourceVersion::v3, kubeshape_publish::ResourceVersion::v2] {
                    let mut out = Vec::new();
                    print(version, &mut out);
                    serde_json::from_slice::<serde_json::Value>(&out).expect("a printed document is JSON");
                }
                let schema = version.schema().expect("an accepted version has a schema");
                let gvk = Gvk::from_parts(crd.group, version.version().name, crd.names.kind, &arena);
                let result = from_structural(schema, gvk, false, &|_| None, Options::default());
                serde_json::from_slice::<serde_json::Value>(&result.value).expect("a JSON Schema is JSON");
            }
            assert!(resource.smd().is_ok(), "{:?}", resource.smd().err());
        }
    }
}
