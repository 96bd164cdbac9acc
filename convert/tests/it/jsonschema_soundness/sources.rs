//! The structural schemas of manifests, as nodes and as JSON.

use kubeshape_convert::jsonschema::{Options, from_structural};
use kubeshape_schema::{Bump, Gvk, Schema, print};
use kubeshape_structural::{read, unfold, usable};
use kubeshape_yaml::{Limits, Stream, Tape};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A version of a CustomResourceDefinition.
pub(crate) struct Case<'a> {
    pub(crate) label: String,
    /// The schema as printed JSON.
    pub(crate) source: Value,
    schema: &'a Schema<'a>,
    gvk: Gvk<'a>,
}

impl Case<'_> {
    pub(crate) fn json_schema(&self, options: Options<'_>) -> Value {
        let result = from_structural(self.schema, self.gvk, false, &|_| None, options);
        serde_json::from_slice(&result.value).unwrap_or_else(|error| {
            panic!("{}: {error} in {}", self.label, String::from_utf8_lossy(&result.value));
        })
    }

    /// Makes a value an object of the kind for the server.
    pub(crate) fn make_resource(&self, value: &mut Value) {
        if let Value::Object(fields) = value {
            fields.insert("apiVersion".to_owned(), json!(self.gvk.api_version()));
            fields.insert("kind".to_owned(), json!(self.gvk.kind()));
            if !fields.get("metadata").is_some_and(Value::is_object) {
                fields.remove("metadata");
            }
        }
    }
}

/// Calls `check` for every version of the manifests of a stream whose schema is used.
pub(crate) fn each_version(label: &str, bytes: &[u8], mut check: impl FnMut(&Case<'_>)) {
    let Ok(mut stream) = Stream::new(bytes, Limits::default()) else { return };
    let text = stream.source();
    let mut tape = Tape::new();
    while let Some(read) = stream.next(&mut tape) {
        let Some(root) = tape.document(text).root().filter(|_| read.is_ok()) else { continue };
        for manifest in read::manifests(root).0 {
            let arena = Bump::new();
            let Some(crd) = manifest.read(&arena).value else { continue };
            for version in crd.versions {
                let Some(structural) = usable(version.schema, version.at).value else { continue };
                let schema = unfold(structural, &arena);
                let mut printed = Vec::new();
                print::schema(&mut printed, schema, print::Style::V3);
                let gvk = Gvk::from_parts(crd.group, version.name, crd.names.kind, &arena);
                let Ok(source) = serde_json::from_slice(&printed) else { continue };
                check(&Case { label: format!("{label} {}", version.name), source, schema, gvk });
            }
        }
    }
}

/// All files below a folder, sorted.
pub(crate) fn below(folder: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { out.extend(below(&path)) } else { out.push(path) }
    }
    out.sort();
    out
}
