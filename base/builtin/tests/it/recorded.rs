//! Compares the types with those for which sequences of server-side apply were recorded.

use crate::types::types_of;
use flate2::read::GzDecoder;
use kubeshape_builtin::BuiltInDocuments;
use kubeshape_schema::Dialect;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write as _};
use std::path::Path;

/// Reads the records of a file, in the folder that KUBESHAPE_GOLDEN names.
fn records(golden: &Path, file: &str) -> Vec<Value> {
    let path = golden.join("smd").join(file);
    let file = File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let lines = BufReader::new(GzDecoder::new(file)).lines();
    lines.map(|line| serde_json::from_str(&line.expect("a line")).expect("JSON")).collect()
}

fn by_name(schema: &Value) -> BTreeMap<String, Value> {
    let types = schema["types"].as_array().into_iter().flatten();
    types.map(|ty| (ty["name"].as_str().unwrap_or_default().to_owned(), ty.clone())).collect()
}

/// A sequence of requests gets the recorded answers only with the types with which it was recorded. The conformance
/// program replays it with these types, from the documents of 1.31.
#[test]
fn recorded_sequences_over_built_in_kinds_have_the_types_of_the_release() {
    let Some(golden) = std::env::var_os("KUBESHAPE_GOLDEN") else {
        let _ = writeln!(
            io::stderr(),
            "not checked: recorded sequences of built-in kinds (KUBESHAPE_GOLDEN names no folder)"
        );
        return;
    };
    let golden = Path::new(&golden);
    let schemas: BTreeMap<String, Value> = records(golden, "generated-schemas.ndjson.gz")
        .into_iter()
        .map(|record| (record["id"].as_str().unwrap_or_default().to_owned(), record["schema"].clone()))
        .collect();
    let release: BuiltInDocuments = "1.31".parse().expect("a release");
    let api = release.api();
    let mut known: BTreeMap<String, Value> = BTreeMap::new();
    for (_, document) in api.openapi_v3_of(|_| true) {
        known.extend(by_name(&serde_json::from_str(&types_of(&document, Dialect::V3).0).expect("JSON")));
    }
    let (mut compared, mut different) = (0, Vec::new());
    for record in records(golden, "generated-ssa-builtin.ndjson.gz") {
        let schema = by_name(&schemas[record["schema"].as_str().unwrap_or_default()]);
        for (name, ty) in &schema {
            compared += 1;
            if known.get(name) != Some(ty) {
                different.push(format!("{name}: recorded {ty}, found {:?}", known.get(name)));
            }
        }
    }
    assert!(compared > 1000, "{compared}");
    different.dedup();
    assert!(different.is_empty(), "{} of {compared}: {:#?}", different.len(), different.first());
}
