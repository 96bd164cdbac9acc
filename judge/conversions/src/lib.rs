//! Conversion webhooks of CustomResourceDefinitions.
//!
//! - [`Review`] is what a server sends to a webhook, and what it checks in the response.
//! - [`prove`] drives a webhook with objects made from the schemas, and reports what the conversions do wrong.
//!
//! The crate does no IO: a caller implements [`Webhook`].

mod compare;
mod effort;
mod objects;
mod prove;
mod report;
mod review;

pub use effort::Effort;
pub use prove::{Webhook, prove};
pub use report::{Fault, Report, Tried};
pub use review::{MAX_BATCH, MAX_BATCH_BYTES, REVIEW_VERSIONS, Review, review_version};
