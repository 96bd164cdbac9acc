//! Structured-merge-diff schemas of OpenAPI definitions (spec: publishing, "Documents →
//! structured-merge-diff schema"; smd, "Conversion OpenAPI → SMD").
//!
//! Upstream has two converters, and their answers differ. [`from_v3`] goes straight from schemas to
//! types; the API server uses it for its built-in types and for custom resources. [`from_v2`] does what
//! clients do with an OpenAPI v2 document: it first makes models of the definitions, which know less
//! than schemas do, and refuses what no model can say.
//!
//! Under [`Profile::Kube`] both answer as upstream does. Under [`Profile::Faithful`] both mean what the
//! document says; what that changes stands with each of them. [`losses`] reports what a
//! structured-merge-diff schema has no words for.

mod direct;
pub mod from_v2;
pub mod from_v3;
pub mod losses;
mod merging;
mod models;
mod references;
pub mod served;
#[cfg(test)]
mod tests;
mod unions;

pub use kubeshape_schema::Profile;

/// Which structured-merge-diff schemas are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum SmdCompat {
    /// Those of structured-merge-diff v6.3, as Kubernetes 1.36 has them: without `nullable`.
    #[default]
    V63,
    /// Those of v6.4, where a reference to a nullable value says so.
    V64,
}

/// How definitions are converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Options {
    /// Unknown fields are kept everywhere, not only where the definitions say so.
    pub preserve_unknown: bool,
    /// Which schemas are written.
    pub compat: SmdCompat,
    /// Whether upstream's faults are kept.
    pub profile: Profile,
}

/// Why there is no structured-merge-diff schema: in upstream's words, with a place.
///
/// Structural schemas that pass validation never fail. On a server, one that fails makes every request
/// for the resource fail.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct SmdError {
    /// The definition, how the value is nested in it, and what is wrong.
    pub text: String,
    /// Place: the schema's entry in the tape; of schemas that were not read from a document, 0.
    pub at: u32,
}

/// A schema, or everything that is wrong with the definitions; upstream joins the texts with line breaks.
pub type Built = Result<kubeshape_smd::Schema, Vec<SmdError>>;

/// The definition that is any scalar, whatever it says.
const QUANTITY: &str = "io.k8s.apimachinery.pkg.api.resource.Quantity";
/// The definition that is replaced as a whole, whatever it says.
const RAW_EXTENSION: &str = "io.k8s.apimachinery.pkg.runtime.RawExtension";

/// `text` behind as many "inlined in" as there are schemas around it.
fn nested(depth: u16, definition: &str, text: &str) -> String {
    format!("{}{definition}: {text}", "inlined in ".repeat(usize::from(depth)))
}
