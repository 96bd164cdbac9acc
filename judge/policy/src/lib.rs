//! Admission policies as an API server judges requests with them: ValidatingAdmissionPolicies,
//! MutatingAdmissionPolicies, and the match conditions of webhooks, without a cluster.
//!
//! [`Policies`] reads the objects, [`Policies::evaluate`] judges a [`Request`]. What a server knows otherwise is in
//! [`World`]: kinds, namespaces, parameters and who may do what.

mod answer;
mod environment;
mod evaluate;
pub mod json_patch;
mod kinds;
mod matching;
mod mutating;
mod objects;
mod params;
mod patch;
mod policies;
mod request;
mod selector;
mod validating;
mod validation;
mod warnings;

pub use answer::{Details, Status};
pub use evaluate::{Called, Decision, DeniedBy, Policies, Undecoded};
pub use kinds::{Decoded, Gvk, Gvr, Kinds, Known, MergeError};
pub use kubeshape_cel::{Access, Authorizer, DeclType, User, Verdict};
pub use mutating::Mutated;
pub use policies::Conditional;
pub use request::{Operation, Request, World};
pub use validating::{Annotation, Judged, Validated};
pub use validation::errors as creation_errors;
pub use warnings::warning_headers;
