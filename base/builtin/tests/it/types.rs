//! The types of server-side apply that the documents give.

use crate::modules;
use kubeshape_builtin::BuiltInDocuments;
use kubeshape_convert::smd::{SmdCompat, served};
use kubeshape_schema::{Bump, Dialect};
use kubeshape_smd::schema::print_json;
use kubeshape_yaml::{Limits, Stream, Tape};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::path::PathBuf;

/// Returns the types of a document, printed, and the kinds that have a type.
pub(crate) fn types_of(document: &str, dialect: Dialect) -> (String, String) {
    let mut tape = Tape::new();
    let mut stream = Stream::new(document.as_bytes(), Limits::default()).expect("a text");
    stream.next(&mut tape).expect("a document").expect("JSON");
    let arena = Bump::new();
    let root = tape.document(document).root().expect("a root");
    let served = served::of_document(root, dialect, SmdCompat::V63, &arena).expect("types");
    let mut out = Vec::new();
    print_json(&served.schema, &mut out);
    let mut kinds = String::new();
    for kind in served.kinds {
        let _ = writeln!(kinds, "{} {} {}", kind.gvk, kind.type_name, kind.has_status);
    }
    (String::from_utf8(out).expect("UTF-8"), kinds)
}

fn types(document: &str, dialect: Dialect) -> String {
    let (types, kinds) = types_of(document, dialect);
    types + "\n" + &kinds
}

fn recorded() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/types.txt"))
}

/// The digests in `types.txt` are those of the types of the complete documents, with descriptions, of the modules.
#[test]
fn the_types_are_those_of_the_complete_documents() {
    let mut digests = String::new();
    for release in BuiltInDocuments::all() {
        let api = release.api();
        let folder = modules::api(release);
        let mut digest = Sha256::new();
        let mut documents = api.openapi_v3_of(|_| true);
        let v2 = api.openapi_v2();
        documents.push(("v2", v2));
        for (path, document) in documents {
            let (dialect, file) = match path {
                "v2" => (Dialect::V2, "openapi-spec/swagger.json".to_owned()),
                path => (Dialect::V3, modules::file_of(path)),
            };
            let of_facts = types(&document, dialect);
            if let Some(folder) = &folder {
                let of_document = types(&modules::read(folder, &file).0, dialect);
                for (fact, full) in of_facts.split("{\"name\"").zip(of_document.split("{\"name\"")) {
                    assert_eq!(fact, full, "{release} {path}");
                }
                assert_eq!(of_facts.len(), of_document.len(), "{release} {path}");
            }
            digest.update(of_facts);
        }
        let hex = digest.finalize().iter().fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        });
        let _ = writeln!(digests, "{} {hex}", release.version());
    }
    if std::env::var_os("KUBESHAPE_RECORD").is_some() {
        assert!(std::env::var_os("KUBESHAPE_KUBERNETES").is_some(), "what is recorded must be compared first");
        std::fs::write(recorded(), digests).expect("written");
        return;
    }
    assert_eq!(std::fs::read_to_string(recorded()).expect("recorded digests"), digests);
}
