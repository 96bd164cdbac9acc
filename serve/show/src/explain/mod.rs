//! The fields of a kind, as `kubectl explain` shows them.
//!
//! All data comes from the OpenAPI v3 document of a group and version: that of a server, or the one published for a
//! CustomResourceDefinition. [`plaintext`] prints kubectl's page, and [`fields`] lists the fields for programs.
//! [`facts`] returns what else a schema says.

mod document;
mod facts;
mod fields;
mod plaintext;
mod request;
mod wrap;

pub use document::{Gvr, MAX_DEPTH, MAX_STEPS};
pub use facts::{RULE, RULE_IN_WORDS, Rule, facts, is_about_rule, rules};
pub use fields::{Field, fields, root};
pub use plaintext::{More, Options, plaintext};
pub use request::{Candidate, Request, RequestError};

/// Why there is no page, or only its beginning. The messages are kubectl's, except where kubectl does not terminate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The document has no paths of the resource.
    #[error("error: GVR ({0}) not found in OpenAPI schema")]
    NoResource(String),
    /// The document has no schema of the kind.
    #[error("error: GVK {0} not found in OpenAPI schema")]
    NoKind(String),
    /// There is no such field.
    #[error("error: field \"{0}\" does not exist")]
    NoField(String),
    /// There is no document of the group and version.
    #[error("couldn't find resource for \"{0}\"")]
    NoDocument(String),
    /// Schemas refer to each other in a cycle, or the page visits more than [`MAX_STEPS`] schemas.
    #[error("the schemas refer to each other too often: the page would not end")]
    TooMuch,
}
