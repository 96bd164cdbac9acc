//! The published forms of every version that has a usable schema.

use kubeshape_publish::{Base, Options, Publisher, ResourceVersion, Shape};
use kubeshape_schema::{Bump, Note, Schema};
use kubeshape_yaml::{Limits, Stream, Tape};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

static PUBLISHER: LazyLock<Publisher> = LazyLock::new(|| Publisher::new(Base::builtin(), Options::default()));

/// One version.
pub(crate) struct Case<'c, 'a> {
    /// Where it comes from.
    pub(crate) label: String,
    /// The schema that is used, in its normal form.
    pub(crate) schema: &'a Schema<'a>,
    /// The same as JSON.
    pub(crate) source: Value,
    /// The kind's definition in the v3 document.
    pub(crate) v3: Value,
    /// The kind's definition in the v2 document, without defaults.
    pub(crate) v2: Value,
    version: &'c ResourceVersion<'a>,
}

impl<'a> Case<'_, 'a> {
    /// Returns the ledger of the shape.
    pub(crate) fn notes(&self, shape: Shape) -> Vec<Note<'a>> {
        let mut notes = Vec::new();
        self.version.losses(shape, &mut notes);
        if shape == Shape::V2 {
            self.version.v2_default_losses(&mut notes);
        }
        notes
    }
}

/// Calls `check` for every version of the manifests of a stream whose schema is used.
pub(crate) fn each_version(label: &str, bytes: &[u8], mut check: impl FnMut(&Case<'_, '_>)) {
    let Ok(mut stream) = Stream::new(bytes, Limits::default()) else { return };
    let source = stream.source();
    let mut tape = Tape::new();
    while let Some(read) = stream.next(&mut tape) {
        let Some(root) = tape.document(source).root().filter(|_| read.is_ok()) else { continue };
        for manifest in kubeshape_structural::read::manifests(root).0 {
            let arena = Bump::new();
            let Some(crd) = manifest.read(&arena).value else { continue };
            let resource = PUBLISHER.resource(&crd, &arena);
            for version in resource.versions() {
                let Some(schema) = version.schema() else { continue };
                let (kind, list_kind) = version.definition_names();
                if kind == list_kind {
                    // The only definition is the list's.
                    continue;
                }
                check(&case(format!("{label} {}", version.version().name), version, schema));
            }
        }
    }
}

fn case<'c, 'a>(label: String, version: &'c ResourceVersion<'a>, schema: &'a Schema<'a>) -> Case<'c, 'a> {
    let parse = |bytes: Vec<u8>| -> Value { serde_json::from_slice(&bytes).expect("printed JSON") };
    let (mut source, mut v3, mut v2) = (Vec::new(), Vec::new(), Vec::new());
    version.structural(&mut source);
    version.v3(&mut v3);
    version.v2(&mut v2);
    let (kind, _) = version.definition_names();
    let v3 = parse(v3)["components"]["schemas"][&kind].take();
    let mut v2 = parse(v2)["definitions"][&kind].take();
    prune_defaults(&mut v2);
    Case { label, schema, source: parse(source), v3, v2, version }
}

/// Removes all defaults, because the merged document has none.
fn prune_defaults(schema: &mut Value) {
    let Some(members) = schema.as_object_mut() else { return };
    members.remove("default");
    for (name, value) in members {
        match name.as_str() {
            "properties" => value.as_object_mut().into_iter().flatten().for_each(|(_, inner)| prune_defaults(inner)),
            "items" | "additionalProperties" => prune_defaults(value),
            _ => {}
        }
    }
}

/// Returns all files below a folder, sorted.
pub(crate) fn below(folder: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { out.extend(below(&path)) } else { out.push(path) }
    }
    out.sort();
    out
}
