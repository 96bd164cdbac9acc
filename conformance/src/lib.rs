//! Compares kubeshape's answers with recorded answers of Kubernetes and its libraries, and prints one table per area.

pub mod admission;
pub mod answers;
pub mod apiserver;
pub mod builtins;
pub mod cel;
pub mod changes;
pub mod clients;
pub mod cluster;
mod constraints;
pub mod crds;
mod definition;
pub mod discovery;
mod doctor;
pub mod exchanges;
pub mod generated;
pub mod golden;
pub mod input;
pub mod judged;
pub mod known;
pub mod mutated;
pub mod objects;
pub mod openapi;
pub mod operators;
pub mod oracle;
pub mod own;
pub mod plan;
pub mod policies;
pub mod published;
pub mod released;
pub mod show;
pub mod smd;
pub mod strategic;
pub mod structural;
pub mod suites;
pub mod table;
mod typed;
pub mod types;
pub mod verdict;
pub mod written;

use apiserver::BaseDocuments;
use known::Known;
use kubeshape_publish::{Base, BaseError, Options, Publisher};
use kubeshape_registry::{Registry, Settings};
use kubeshape_validate::Release;
use std::path::Path;
use table::Table;

/// The release whose answers are recorded if a recording names none: 1.36.
pub const RECORDED: Release = Release::nearest(36);

/// Returns a registry with the rules of [`RECORDED`].
pub(crate) fn registry() -> Registry {
    Registry::new(Settings::of(RECORDED))
}

/// A publisher with base documents, and the v2 document among them.
#[derive(Clone, Debug)]
pub struct BaseFolder {
    /// The publisher.
    pub publisher: Publisher,
    documents: Vec<(String, Vec<u8>)>,
}

impl BaseFolder {
    /// Reads every OpenAPI document below a folder, with `.zst` and `.gz` decompressed. Returns `None` if there is
    /// none.
    ///
    /// # Errors
    /// A document cannot be read.
    pub fn read(folder: &Path) -> Result<Option<BaseFolder>, BaseError> {
        let documents = base_documents(folder);
        if documents.is_empty() {
            return Ok(None);
        }
        let publisher = Publisher::new(Base::from_documents(&documents)?, Options::default());
        Ok(Some(BaseFolder { publisher, documents }))
    }

    /// Returns the documents as the area `apiserver` needs them.
    pub fn documents(&self) -> BaseDocuments<'_> {
        let v2 = self.documents.iter().map(|(_, bytes)| bytes).find(|bytes| bytes.starts_with(b"{\"swagger\""));
        BaseDocuments { publisher: &self.publisher, v2: v2.map(Vec::as_slice) }
    }

    /// Returns a publisher of another release, with the descriptions of these documents.
    pub fn publisher_of(&self, release: Release) -> Option<Publisher> {
        Some(Publisher::new(Base::in_release(&self.documents, release).ok()?, Options::default()))
    }
}

/// The areas that need the folders of inputs and recorded answers.
pub const AREAS: [&str; 15] = [
    "crds",
    "apiserver",
    "openapi",
    "smd",
    "objects",
    "objects-versions",
    "publish-versions",
    "show",
    "strategic",
    "builtins",
    "structural",
    "versions",
    "cel",
    "policies",
    "suites",
];

/// Returns whether the folders of recorded answers and of inputs contain files of an area.
pub fn has_records(area: &str, golden: &Path, corpus: &Path) -> bool {
    match area {
        "suites" => suites::has_records(corpus),
        "apiserver" => apiserver::has_records(golden),
        "show" => show::has_records(golden),
        "strategic" => strategic::file(golden).is_file(),
        "objects" => golden.join("structural/cr-cases.ndjson.gz").is_file(),
        area => golden.join(area).is_dir(),
    }
}

/// Compares one of [`AREAS`]; without `base`, every answer that needs one is missing.
pub fn compare(area: &str, golden: &Path, corpus: &Path, base: Option<&BaseFolder>, known: Known) -> Table {
    match area {
        "openapi" => openapi::compare(golden, corpus, known),
        "smd" => smd::compare(golden, known),
        "objects" => objects::compare(golden, corpus, known),
        "objects-versions" => released::compare(golden, corpus, known),
        "publish-versions" => published::compare(golden, corpus, base, known),
        "suites" => suites::compare(corpus, known),
        "cel" => cel::compare(golden, corpus, known),
        "policies" => policies::compare(golden, known),
        "show" => show::compare(golden, corpus, base.map(|base| &base.publisher), known),
        "strategic" => strategic::compare(golden, known),
        "builtins" => builtins::compare(golden, known),
        "structural" => structural::compare(golden, corpus, known),
        "versions" => structural::compare_versions(golden, corpus, known),
        "apiserver" => apiserver::compare(golden, corpus, base.map(BaseFolder::documents), known),
        _ => crds::compare(golden, corpus, base.map(|base| &base.publisher), known),
    }
}

/// Returns the OpenAPI documents of a folder by name.
fn base_documents(base: &Path) -> Vec<(String, Vec<u8>)> {
    golden::files(base)
        .into_iter()
        .filter_map(|file| {
            let bytes = golden::read(&file).ok()?;
            let head = bytes.get(..200.min(bytes.len()))?;
            let head = String::from_utf8_lossy(head);
            let openapi = head.starts_with("{\"openapi\":\"3") || head.starts_with("{\"swagger\":\"2.0\"");
            openapi.then(|| (file.display().to_string(), bytes))
        })
        .collect()
}
