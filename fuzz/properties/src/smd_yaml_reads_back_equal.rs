//! The structured-merge-diff schema of any resource is equal when it is printed as YAML and read again.

use crate::resources::resources;
use kubeshape_yaml::{Limits, Stream, Tape};

/// Checks the property.
pub fn holds(data: &[u8]) {
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
}
