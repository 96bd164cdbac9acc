//! A published definition that is printed and read again prints the same.
#![no_main]

mod common;

use common::resources;
use kubeshape_schema::Bump;
use kubeshape_yaml::{Limits, Stream, Tape};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    resources(data, |resource| {
        for version in resource.versions() {
            for fragment in version.v3_fragments().schemas {
                let mut tape = Tape::new();
                let mut stream = Stream::new(&fragment.json, Limits::default()).expect("UTF-8");
                let source = stream.source();
                stream.next(&mut tape).expect("a document").expect("JSON");
                let arena = Bump::new();
                let mut reader = kubeshape_schema::read::Reader::new(&arena, kubeshape_schema::read::Rules::Document(kubeshape_schema::Profile::Kube));
                let schema = reader.schema(tape.document(source).root().expect("a root"));
                assert!(!reader.failed());
                let mut again = Vec::new();
                kubeshape_schema::print::schema(&mut again, &schema, kubeshape_schema::print::Style::V3);
                assert_eq!(String::from_utf8_lossy(&again), String::from_utf8_lossy(&fragment.json));
            }
        }
    });
});
