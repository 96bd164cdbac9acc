//! Area `corpus`: the project's own CustomResourceDefinitions, documents and scenarios with their recorded answers.
//! Needs only the checkout.
//!
//! Publishing needs Kubernetes' own definitions and strings. They are read from one of the recorded documents. With
//! them, every document must equal the recorded one byte for byte.

use crate::answers::{compare_file, compare_merged};
use crate::input::{Answer, answers};
use crate::known::Known;
use crate::openapi::compare_record;
use crate::table::Table;
use kubeshape_corpus::FileAnswer;
use kubeshape_publish::{Base, Options, Publisher};
use std::io;

/// Compares the whole corpus. Without `publisher`, the base is a recorded document.
///
/// # Errors
/// The corpus cannot be read.
pub fn compare(publisher: Option<&Publisher>, known: Known) -> io::Result<Table> {
    let mut table = Table::new("corpus", known);
    let recorded = kubeshape_corpus::answers()?;
    let own;
    #[allow(clippy::single_match_else)]
    let publisher = match publisher {
        Some(publisher) => publisher,
        None => {
            own = recorded_base(&recorded)?;
            &own
        }
    };
    let files = kubeshape_corpus::files()?;
    let mut merged = Vec::new();
    for theirs in &recorded {
        let Some(file) = files.iter().find(|file| file.id == theirs.id) else { continue };
        let ours = answers(&file.bytes, publisher);
        compare_file(theirs, &ours, &mut table);
        if file.is_merged() {
            merged.extend(ours.into_iter().filter_map(Answer::into_crd));
        }
    }
    compare_merged(&kubeshape_corpus::merged()?, merged, true, publisher, "", &mut table);
    documents(&mut table)?;
    crate::smd::scenarios(&mut table).map_err(io::Error::other)?;
    Ok(table)
}

/// Compares the OpenAPI documents.
fn documents(table: &mut Table) -> io::Result<()> {
    let files = kubeshape_corpus::openapi_files()?;
    for theirs in kubeshape_corpus::openapi_answers()? {
        if let Some(file) = files.iter().find(|file| file.id == theirs.id) {
            compare_record(&theirs, &file.bytes, &theirs.id, table);
        }
    }
    Ok(())
}

/// Returns a publisher with the definitions and strings of a recorded document. Only the document of a namespaced
/// resource with a scale subresource has all of them.
///
/// # Errors
/// There is no such document.
pub fn recorded_base(recorded: &[FileAnswer]) -> io::Result<Publisher> {
    let documents =
        recorded.iter().flat_map(|file| &file.crds).flat_map(|crd| &crd.versions).filter_map(|v| v.v3.as_deref());
    let whole = documents
        .map(serde_json::value::RawValue::get)
        .find(|document| {
            document.contains("/namespaces/{namespace}/") && document.contains("autoscaling.v1.ScaleStatus\":{")
        })
        .ok_or_else(|| io::Error::other("no recorded document has the scale definitions"))?;
    let base = Base::from_documents(&[("recorded".to_owned(), whole.as_bytes().to_vec())]).map_err(io::Error::other)?;
    Ok(Publisher::new(base, Options::default()))
}
