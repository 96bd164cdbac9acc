//! Validation of CustomResourceDefinitions, like `pkg/apis/apiextensions/validation` of
//! `k8s.io/apiextensions-apiserver`.
//!
//! [`Definition::read`] decodes a manifest like the server. [`validate`] returns the errors of a request to create it,
//! and [`validate_update`] those of a request that replaces another definition.

mod approval;
mod ca_bundle;
mod check;
mod coerced;
mod conversion;
mod defaults;
mod doctor;
pub(crate) mod field_path;
mod go_json;
mod kept;
mod list_items;
mod model;
mod options;
mod read;
mod rules;
mod schema;
mod subschemas;
mod to_v1;
mod unpruned;
mod warnings;

pub use approval::{Approval, approval};
pub use ca_bundle::check as check_ca_bundle;
pub use check::{deprecation_warning, stored_versions, validate, validate_update, validate_update_with, validate_with};
pub use coerced::with_coerced_defaults;
pub use doctor::{Bound, Diagnosis, Expensive, Keyword, Obstacle, Uncounted, diagnose_costs};
pub use kept::Kept;
pub use kubeshape_structural::Status;
pub use kubeshape_structural::written::{ClientConfig, Conversion, Service, Spec, Subresources, Validation, Version};
pub use model::Definition;
pub use options::{Expressions, MAX_SELECTABLE_FIELDS, Options};
pub use read::Defaults;
pub use rules::{ExpressionCost, RULE_COST_LIMIT, SCHEMA_COST_LIMIT, expression_costs};
pub use schema::validate_validation;
pub use to_v1::to_v1;
pub use warnings::{Warning, warnings, warnings_of_update};
