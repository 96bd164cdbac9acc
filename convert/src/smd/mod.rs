//! Structured-merge-diff schemas of OpenAPI definitions.
//!
//! kube-openapi's `schemaconv` has two converters, and their results differ. [`from_v3`] (`ToSchemaFromOpenAPI`)
//! converts schemas to types directly; the API server uses it for built-in types and for custom resources. [`from_v2`]
//! (`ToSchema`) does what clients do with an OpenAPI v2 document: it first converts the definitions to models. Models
//! contain less than schemas, and a definition that no model can express is rejected.
//!
//! With [`Profile::Kube`], both give upstream's results. With [`Profile::Faithful`], both follow the document; each
//! module lists the differences. [`losses`] reports what a structured-merge-diff schema cannot express.

mod direct;
pub mod from_v2;
pub mod from_v3;
pub mod losses;
mod merging;
mod models;
mod references;
pub mod served;
mod unions;

pub use kubeshape_schema::Profile;
use kubeshape_schema::Schema;
use kubeshape_smd::schema::Relationship;
pub(crate) use merging::extension;
use std::borrow::Cow;

/// The version of structured-merge-diff that reads the schemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum SmdCompat {
    /// structured-merge-diff v6.3, as in Kubernetes 1.36. It has no `nullable`.
    #[default]
    V63,
    /// structured-merge-diff v6.4, in which a reference to a nullable value has `nullable`.
    V64,
}

/// How definitions are converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Options {
    /// Keep unknown fields everywhere, not only where the definitions preserve them.
    pub preserve_unknown: bool,
    /// The version of structured-merge-diff.
    pub compat: SmdCompat,
    /// Whether upstream's faults are kept.
    pub profile: Profile,
}

/// Why there is no structured-merge-diff schema: upstream's message, with a location.
///
/// A structural schema that passes validation never fails. On a server, every request for a resource fails if its
/// schema fails.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct SmdError {
    /// The definition, how the value is nested in it, and what is wrong.
    pub text: String,
    /// Location: the schema's entry in the tape. It is 0 for schemas that were not read from a document.
    pub at: u32,
}

/// A schema, or all errors of the definitions. Upstream joins their messages with line breaks.
pub type Built = Result<kubeshape_smd::Schema, Vec<SmdError>>;

/// The definition that is always any scalar.
const QUANTITY: &str = "io.k8s.apimachinery.pkg.api.resource.Quantity";
/// The definition that is always replaced as a whole.
const RAW_EXTENSION: &str = "io.k8s.apimachinery.pkg.runtime.RawExtension";

/// Returns the keys of the items of a list that is merged, which are empty for a set; `None` if the list is replaced as
/// a whole or its extensions are wrong.
pub(crate) fn merge_keys<'s>(schema: &Schema<'s>) -> Option<Cow<'s, [&'s str]>> {
    let merge = direct::list_merge(schema);
    let is_merged = merge.relationship == Relationship::Associative && merge.error.is_none();
    is_merged.then_some(merge.keys)
}

/// Returns `text` after one "inlined in" for each surrounding schema.
fn nested(depth: u16, definition: &str, text: &str) -> String {
    format!("{}{definition}: {text}", "inlined in ".repeat(usize::from(depth)))
}
