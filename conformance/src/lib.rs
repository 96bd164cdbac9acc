//! Compares kubeshape's answers with recorded answers of the originals, and prints one table per area.

pub mod crds;
pub mod golden;
pub mod input;
pub mod known;
pub mod table;

use kubeshape_publish::{Base, BaseError, Options, Publisher};
use std::path::Path;

/// A publisher over the base documents of a folder: every OpenAPI document below it, `.zst` and `.gz`
/// decompressed.
///
/// # Errors
/// A document is no OpenAPI document.
pub fn publisher(base: &Path) -> Result<Option<Publisher>, BaseError> {
    let documents = base_documents(base);
    if documents.is_empty() {
        return Ok(None);
    }
    Ok(Some(Publisher::new(Base::from_documents(&documents)?, Options::default())))
}

/// The OpenAPI documents of a folder by name.
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
