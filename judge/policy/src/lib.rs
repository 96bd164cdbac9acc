//! Admission policies without a cluster: ValidatingAdmissionPolicies, MutatingAdmissionPolicies, and the match
//! conditions of webhooks, evaluated like in an API server.
//!
//! [`Policies`] reads the objects, [`Policies::evaluate`] evaluates a [`Request`]. [`World`] has everything else that a
//! server knows: kinds, namespaces, parameters and permissions.

// A request has at most one refusal.
#![allow(clippy::result_large_err)]

mod answer;
mod costs;
mod decision;
mod environment;
mod evaluate;
mod evaluator;
mod from_rules;
pub mod json_patch;
mod kinds;
mod matching;
mod mutating;
mod objects;
mod params;
mod patch;
mod permissions;
mod policies;
mod request;
mod room;
mod to_rules;
mod typecheck;
mod validating;
mod validation;
mod warnings;

pub use answer::{Details, Status};
pub use costs::{PolicyCost, policy_costs};
pub use decision::{Annotation, Called, Decision, DeniedBy, Judged, Mutated, Validated};
pub use evaluate::{Policies, Undecoded};
pub use from_rules::{FromRules, from_rules};
pub use kinds::{Decoded, Gvk, Gvr, Kinds, Known, MergeError};
pub use kubeshape_cel::escape::escape;
pub use kubeshape_cel::{Access, Authorizer, DeclType, Type as CelType, User, Verdict};
pub use kubeshape_validate::Release;
pub use permissions::{Permission, Permissions};
pub use policies::Conditional;
pub use request::{Given, Objects, Operation, Request, World};
pub use room::MAX_MUTATED;
pub use to_rules::{NewRule, ToRules, print_with_rules, to_rules};
pub use typecheck::{TypeWarning, type_warnings};
pub use validation::{errors as creation_errors, expression_errors};
pub use warnings::warning_headers;
