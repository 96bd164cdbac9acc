//! Conversions between the dialects of Kubernetes schemas and documents.
//!
//! A conversion is in the module of its target:
//!
//! | module | contents |
//! |---|---|
//! | [`document`] | a document of either dialect: reading, printing, converting |
//! | [`v2`], [`v3`] | the models of the dialects, and the conversions to them |
//! | [`graph`] | the references of a document: splitting, inlining, renaming |
//! | [`aggregate`] | one document from several, and the parts of resources merged into a server's document |
//! | [`proto`] | the protobuf forms of documents |
//! | [`smd`] | structured-merge-diff schemas |
//! | [`jsonschema`] | JSON Schemas of kinds |
//! | [`crd`] | CustomResourceDefinitions from schemas |
//! | [`kustomize`] | documents with merge keys for kustomize |
//! | [`model`] | the building blocks of the models of documents |

pub mod aggregate;
mod budget;
pub mod crd;
pub mod document;
pub mod graph;
pub mod jsonschema;
mod kinds;
pub mod kustomize;
pub mod model;
pub mod proto;
pub mod smd;
pub mod v2;
pub mod v3;

/// Returns the names of the definitions to which printed JSON of either dialect refers, in order of appearance.
///
/// # Example
/// ```
/// let json = br##"{"a":{"$ref":"#/definitions/A"},"b":{"$ref":"#/components/schemas/B"}}"##;
/// assert_eq!(kubeshape_convert::references(json), ["A", "B"]);
/// ```
pub fn references(json: &[u8]) -> Vec<String> {
    ["definitions", "components/schemas"].into_iter().flat_map(|section| references_to(json, section)).collect()
}

/// Returns the names to which printed JSON refers in one section of its document.
pub(crate) fn references_to(json: &[u8], section: &str) -> Vec<String> {
    let prefix = format!("\"$ref\":\"#/{section}/");
    let text = String::from_utf8_lossy(json);
    let names = text.match_indices(&prefix).map(|(at, _)| {
        let rest = &text[at + prefix.len()..];
        kubeshape_yaml::pointer::unescape(&rest[..rest.find('"').unwrap_or(rest.len())]).into_owned()
    });
    names.collect()
}
